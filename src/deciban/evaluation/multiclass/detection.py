"""Detection of every class: average costs at the priors that are asked for, and the curves that plots draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit

from deciban import multiclass
from deciban.core.ranks.operating import OperatingPoint
from deciban.evaluation.curves import prior_axis
from deciban.evaluation.multiclass.result import ClassCurves, ClassPoint
from deciban.multiclass.detection import checked_out_of_set
from deciban.types import FloatArray, IntArray, ScoreArray

_PLACES = 141
"""Priors of a target at which C_avg is drawn."""


def detection_costs(
    loglik: ScoreArray, label: IntArray, points: Sequence[float], p_out_of_set: float | None, **trials: Any
) -> tuple[tuple[ClassPoint, ...], multiclass.DetectionAnalysis, ClassCurves]:
    """Average costs at each point, the detectors at the first one, and the curves of both.

    Detectors are sorted once for all points and curves. Where a class is out of set, the shares of the rivals depend on
    the prior of the target: curves of detectors have those of the first point, and each further point needs detectors
    of its own for its least costs.

    Parameters
    ----------
    loglik, label
        Checked trials.
    points : sequence of float
        Priors of a target, at least one.
    p_out_of_set : float or None
        Prior of the last class where it is out of set.
    **trials
        Weights and names, as metrics take them.

    Raises
    ------
    InputError
        If a prior is out of range.
    """
    thresholds = [OperatingPoint(p).threshold for p in points]  # which refuses what is no prior
    n_classes = loglik.shape[1]
    rivals = [_rivals(n_classes, p, p_out_of_set) for p in points]
    analyse = partial(multiclass.detection_analysis, loglik, label, **trials)
    axis, places = prior_axis(thresholds), _places(thresholds, p_out_of_set)
    found = _in_set(analyse(prior=rivals[0], p_target=[*points, *expit(axis)]), p_out_of_set)
    each = [found.at(k) for k in range(len(points))]
    if p_out_of_set is not None:
        more = zip(points[1:], rivals[1:], strict=True)
        each[1:] = [_in_set(analyse(prior=prior, p_target=p), p_out_of_set) for p, prior in more]
    costs = np.asarray(
        multiclass.c_avg(loglik, label, p_target=[*points, *expit(places)], p_out_of_set=p_out_of_set, **trials)
    )
    curves = ClassCurves(
        prior_log_odds=places,
        c_avg=costs[len(points) :],
        detector_log_odds=axis,
        act_error=found.cost[:, len(points) :],
        min_error=found.min_cost[:, len(points) :],
    )
    at_points = tuple(
        ClassPoint(p, cost, cost / min(p, 1.0 - p), float(one.mean_min_cost))
        for p, cost, one in zip(points, costs.tolist(), each, strict=False)
    )
    return at_points, each[0], curves


def _rivals(n_classes: int, p_target: float, p_out_of_set: float | None) -> FloatArray:
    """A prior by which non-targets share what a target leaves: evenly, but for the class that is out of set."""
    if p_out_of_set is None:
        return np.full(n_classes, 1.0 / n_classes)
    share = checked_out_of_set(p_out_of_set, np.array([p_target]), n_classes)
    prior = np.full(n_classes, (1.0 - p_target - share) / (n_classes - 2))
    prior[-1] = share
    return np.asarray(prior / prior.sum())


def _places(thresholds: Sequence[float], p_out_of_set: float | None) -> FloatArray:
    """Log odds at which C_avg is drawn: where a class that is out of set leaves something for other non-targets."""
    axis = prior_axis(thresholds, _PLACES)
    if p_out_of_set is None:
        return axis
    kept = axis[1.0 - expit(axis) > p_out_of_set]
    return kept if len(kept) else -np.array(thresholds[:1])  # a prior that is too extreme for plots


def _in_set(found: multiclass.DetectionAnalysis, p_out_of_set: float | None) -> multiclass.DetectionAnalysis:
    """The detectors of classes that are in set."""
    if p_out_of_set is None:
        return found
    names = ("target", "cost", "min_cost", "eer", "cllr", "min_cllr")
    arrays = {name: getattr(found, name)[:-1] for name in names}
    return replace(found, classes=None if found.classes is None else found.classes[:-1], **arrays)
