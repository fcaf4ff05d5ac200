"""The pictures of a model on pages of either kind: weights, scale and offsets, and what each system is worth."""

from __future__ import annotations

from collections.abc import Sequence

from deciban import plots
from deciban.analysis.losses_without import SystemWorth
from deciban.core.resampling.intervals import LEVEL
from deciban.models import Model
from deciban.models.multiclass import ClassModel, parameter_intervals
from deciban.models.score_model import ScoreModel
from deciban.report.page import picture
from deciban.report.text import TEXTS

_MOST_ROWS = 60
"""Classes or systems that a picture has rows for: of more there is the table alone."""


_MOST_LINES = 10
"""Classes whose maps are told apart in one picture."""


def parameter_pictures(model: Model, level: float | None, classes: Sequence[str] = ()) -> list[dict[str, str]]:
    """Weights of a fusion; of a map of many classes its scale and the offset of each class, or the map of each class.

    Parameters
    ----------
    model : Model
        Trained; others than these have no such pictures.
    level : float or None
        Of intervals.
    classes : sequence of str
        What classes are called if the model does not know.

    Returns
    -------
    list of dict
        What a template needs of each.
    """
    if not isinstance(model, ScoreModel):
        return []
    level, texts, found = LEVEL if level is None else level, TEXTS[model.scores_kind], []
    if _has_weights(model):
        found.append(picture(plots.fusion_weights(model, level=level), texts["fusion_weights"], "", "of the fusion"))
    if not isinstance(model, ClassModel):
        return found
    maps = dict(zip(model.classes_ or tuple(classes) or model.counted, model.detector_maps.values(), strict=False))
    if 0 < len(maps) <= _MOST_LINES:
        return [*found, picture(plots.calibration_map(None, maps), texts["of_each"]["map"], "", "of the model")]
    known = parameter_intervals(model, classes=classes, level=level)
    each = has_own_scales(model)
    texts = texts["of_each"] if each else texts
    for what in ("scale", "offset"):
        rows = [one for one in known if one.what == what]
        is_told = each or any(one.low is not None if what == "scale" else one.value for one in rows)
        if is_told and len(rows) <= _MOST_ROWS:
            drawing = plots.class_parameters(model, what=what, classes=classes, level=level)
            found.append(picture(drawing, texts[what], "", "of the model"))
    return found


def has_own_scales(model: ClassModel) -> bool:
    """Whether each class has a scale of its own, as each is calibrated against the rest."""
    return any(what == "scale" and whom for what, whom, _ in model.parameter_numbers(model.counted))


def _has_weights(model: ScoreModel) -> bool:
    """Whether it is a fusion of so many systems as a picture has rows for."""
    if not model.is_fusion or len(model.trained_systems) > _MOST_ROWS:
        return False
    return isinstance(model, ClassModel) or any(row.standardized is not None for row in model.parameter_rows())


def worth_pictures(losses: Sequence[SystemWorth], kind: str, level: float | None) -> list[dict[str, str]]:
    """What a fusion loses without each of its systems; none where nothing is known of that.

    Parameters
    ----------
    losses : sequence of SystemWorth
    kind : str
        Of the results.
    level : float or None
        Of intervals.
    """
    if not any(one.dev or one.eval for one in losses) or len(losses) > _MOST_ROWS:
        return []
    drawing = plots.system_worth(losses, level=LEVEL if level is None else level)
    return [picture(drawing, TEXTS[kind]["system_worth"], "", "of the fusion")]
