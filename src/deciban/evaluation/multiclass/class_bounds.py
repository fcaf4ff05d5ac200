"""Bounds of metrics of many classes where the order of some trials is not known."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from deciban.evaluation.multiclass.result import ClassEvaluation, ClassPoint
from deciban.evaluation.uncertainty import Figure, wide
from deciban.multiclass import DetectionAnalysis, PairwiseAnalysis
from deciban.types import FloatArray

_MINIMA = ("eer", "min_cost", "min_cllr")
"""Figures of detectors that depend on ranks."""

NOTE = (
    "Approximate: figures in brackets are certain to lie within these bounds. Curves take scores that are nearly alike "
    "for equal ones."
)

_ROUNDING = 1e-12
"""By this fraction bounds are widened: figures in which shares of classes are fractions are no better known."""

Found = dict[Figure, tuple[float, float]]


def within_class_bounds(worst: ClassEvaluation, best: ClassEvaluation) -> ClassEvaluation:
    """An evaluation in which what is not known has bounds, and no number of its own.

    The least Cllr of many classes is not above what it is now, nor above that of scores that say nothing; and not below
    the mean of the least Cllr of all pairs: what a segment costs among all classes is at least what it costs beside any
    one of the others, and a pair does no better by a scale and an offset than by PAV.

    Parameters
    ----------
    worst, best : ClassEvaluation
        With trials whose order is not known as ties, and in the best order.
    """
    bounds: Found = {}
    detection = _detectors(worst, best, bounds)
    points = tuple(
        _point(k, one, other, bounds) for k, (one, other) in enumerate(zip(worst.points, best.points, strict=True))
    )
    for name in ("min_c_avg", "normalized_min"):
        low, high = best.mean_costs[name], worst.mean_costs[name]
        if low != high:
            bounds[f"mean_{name}"] = _wide(low, high)
    lowest, pairwise = 0.0, worst.pairwise
    if worst.pairwise is not None and best.pairwise is not None:
        apart = ~np.eye(worst.n_classes, dtype=bool)
        lowest = float(best.pairwise.min_cllr[apart].mean())
        pairwise = replace(worst.pairwise, min_cllr=_pairs(worst, best, bounds))
    _least(worst, lowest, bounds)
    notes = tuple(one for one in worst.notes if "what calibration would gain" not in one)
    made: dict[str, Any] = {"detection": detection, "points": points, "pairwise": pairwise}
    return replace(worst, bounds=bounds, notes=(*notes, NOTE), **made)


def _detectors(worst: ClassEvaluation, best: ClassEvaluation, bounds: Found) -> DetectionAnalysis:
    """The analysis of detectors without what is not known."""
    lows, highs, made = best.detectors, worst.detectors, {}
    for name in _MINIMA:
        values = getattr(worst.detection, name).astype(np.float64)
        for at, (target, figures) in enumerate(highs.items()):
            low, high = lows[target][name], figures[name]
            if low == high:
                continue
            values[at], figure = math.nan, ("detectors", target, name)
            bounds[figure] = _wide(low, high)
            if name == "min_cllr":
                least, most = bounds[figure]
                bounds["detectors", target, "calibration_loss"] = _loss(figures["cllr"], least, most)
        made[name] = values
    return replace(worst.detection, **made)


def _wide(low: float, high: float) -> tuple[float, float]:
    """Bounds with what is left to rounding."""
    return wide(min(low, high) * (1.0 - _ROUNDING), max(low, high) * (1.0 + _ROUNDING))


def _loss(actual: float, least: float, most: float) -> tuple[float, float]:
    return max(actual - most, 0.0), max(actual - least, 0.0)


def _point(k: int, worst: ClassPoint, best: ClassPoint, bounds: Found) -> ClassPoint:
    if worst.min_c_avg == best.min_c_avg:
        return worst
    for name in ("min_c_avg", "normalized_min"):
        bounds[name, k] = _wide(best.costs[name], worst.costs[name])
    return replace(worst, min_c_avg=math.nan)


def _pairs(worst: ClassEvaluation, best: ClassEvaluation, bounds: Found) -> FloatArray:
    """The least Cllr of pairs without what is not known."""
    assert worst.pairwise is not None and best.pairwise is not None  # noqa: S101, PT018  # who asks has them
    high, low, names = worst.pairwise.min_cllr, best.pairwise.min_cllr, worst.classes
    values = high.copy()
    for i, j in np.argwhere(high != low).tolist():
        values[i, j], ends = math.nan, _wide(float(low[i, j]), float(high[i, j]))
        bounds["pairwise_min_cllr", names[i], names[j]] = ends
        bounds["pairwise_calibration_loss", names[i], names[j]] = _loss(float(worst.pairwise.cllr[i, j]), *ends)
    return values


def _least(found: ClassEvaluation, lowest: float, bounds: Found) -> None:
    most = min(found.cllr, found.reference)
    bounds["min_cllr"] = _wide(min(lowest, most), most)
    bounds["calibration_loss"] = _loss(found.cllr, *bounds["min_cllr"])


def drawn_detection(found: ClassEvaluation) -> DetectionAnalysis:
    """The detectors as pictures show them: in place of bounds their middle, which no picture tells from them."""
    if not found.bounds:
        return found.detection
    targets, made = list(found.detectors), dict[str, Any]()
    for name in _MINIMA:
        middles = [found.bounds.get(("detectors", target, name)) for target in targets]
        values = zip(getattr(found.detection, name).tolist(), middles, strict=True)
        made[name] = np.array([value if ends is None else sum(ends) / 2 for value, ends in values])
    return replace(found.detection, **made)


def drawn_pairs(found: ClassEvaluation) -> PairwiseAnalysis | None:
    """The same of pairs."""
    if found.pairwise is None or not found.bounds:
        return found.pairwise
    values = found.pairwise.min_cllr.copy()
    for i, j in np.argwhere(np.isnan(values)).tolist():
        values[i, j] = sum(found.bounds["pairwise_min_cllr", found.classes[i], found.classes[j]]) / 2
    return replace(found.pairwise, min_cllr=values)
