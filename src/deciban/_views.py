"""Registration of views of results and of model classes, for lower packages that show or load them.

``import deciban`` runs this module, whatever package is imported first. It imports nothing until a view is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deciban._lazy import register

if TYPE_CHECKING:
    from types import ModuleType

    from deciban.models.model import Model

_CALIBRATION = {
    "affine": "AffineCalibrator",
    "beta": "BetaCalibrator",
    "bound": "BoundCalibrator",
    "chain": "Chain",
    "class-matrix": "MatrixTransformation",
    "class-scale": "ClassScaleTransformation",
    "detection-affine": "DetectionAffineTransformation",
    "detection-pav": "DetectionPavTransformation",
    "elub": "ElubCalibrator",
    "gaussian": "GaussianCalibrator",
    "gaussian-backend": "GaussianBackend",
    "multiclass-affine": "MulticlassCalibrator",
    "multiclass-scale": "MulticlassScaleCalibrator",
    "multiclass-shift": "MulticlassShiftCalibrator",
    "pav": "PavCalibrator",
    "scale": "ScaleCalibrator",
    "shift": "ShiftCalibrator",
}
_FUSION = {
    "linear-fusion": "LinearFusion",
    "multiclass-fusion": "MulticlassFusion",
    "quality-fusion": "QualityFusion",
    "spoofing-fusion": "SpoofingFusion",
    "subset-fusion": "SubsetFusion",
    "union-hull": "UnionHull",
}


def _table(result: Any, style: str, **how: Any) -> str:
    from deciban.tables.text import as_text

    return as_text(result, style, **how)


def _arrow(result: Any, by: str) -> Any:
    from deciban.tables.frames import arrow_of

    return arrow_of(result, by)


def _frame(result: Any, by: str) -> Any:
    from deciban.tables.frames import frame_of

    return frame_of(result, by)


def _metrics(result: Any) -> Any:
    from deciban.tables.frames import metric_table

    return metric_table(result)


def _plots() -> ModuleType:
    from deciban import plots

    return plots


def _page(result: Any, **how: Any) -> Any:
    from deciban.report.files import explore

    return explore(result, **how)


def _log(result: Any, run: Any, **how: Any) -> None:
    from deciban.report.trackers import log_to

    log_to(result, run, **how)


def _html(result: Any) -> str:
    from deciban.report.files import shown

    return shown(result)


def _model_kinds() -> tuple[str, ...]:
    """Return the kinds of models that can be loaded. Files cannot add kinds."""
    return tuple(sorted((*_CALIBRATION, *_FUSION)))


def _model_class(kind: str) -> type[Model]:
    """Return the class for a kind of models."""
    from deciban import calibration, fusion

    found: type[Model] = getattr(fusion, _FUSION[kind]) if kind in _FUSION else getattr(calibration, _CALIBRATION[kind])
    return found


register(table=_table, arrow=_arrow, frame=_frame, metrics=_metrics, plots=_plots, page=_page, html=_html, log=_log)
register(model_kinds=_model_kinds, model_class=_model_class)
