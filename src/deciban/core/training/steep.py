"""Minima that lie beyond the scales where a search begins: one threshold, and a scale as steep as that needs.

Rules with ``alpha > 1`` or ``beta > 1`` are not convex. The larger these are, the fewer thresholds they look at, and
the less the objective tells, at moderate scales, of how low it is at steep ones. But what the best threshold costs is
a matter of counting.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from deciban.core.ranks.counts import CountTable, SortedClass, corners
from deciban.core.rules.proper import beta_cost_non, beta_cost_tar
from deciban.core.training.descent import minimized
from deciban.core.training.linear_objective import LinearObjective, Trials
from deciban.core.training.samples import sample
from deciban.core.training.separation import is_at_infinity
from deciban.core.training.trust_region import PRECISE, Minimum
from deciban.types import FloatArray

_GLANCE = 1 << 11
"""Trials that are looked at first, where there are many times as many."""

_SCALES = 4.0 ** np.arange(0.0, 8.0)
"""Steepness of the maps that are looked at, per standard deviation of the combined scores."""

_ROUGH = 1e-3
"""How precise, relative to its value, an optimum must be that only shows the way."""

_BETTER = 1e-6
"""Values that differ by less than this, relative to them, are as good as each other."""


def with_steep_starts(objective: LinearObjective, few: Trials, found: Minimum) -> tuple[Minimum, float | None]:
    """Search again from the best threshold on, where that is better than what was found.

    Parameters
    ----------
    objective : LinearObjective
        Of all trials.
    few : Trials
        A sample of them, or all.
    found : Minimum
        Where the search ended.

    Returns
    -------
    found : Minimum
        The better one, if that is finite.
    infimum : float, optional
        What steeper and steeper scales come down to, if that is less.
    """
    convex = max(objective.alpha, objective.beta) <= 1.0
    if convex or not found.converged or objective.trials.base is not None or not len(objective.center):
        return found, None
    level = replace(objective, trials=sample(few, _GLANCE))
    start = _best_start(level, found)
    if start is None:
        return found, None
    if level.trials is not objective.trials:
        near = minimized(level, start, _ROUGH)
        start = near.point
        if not _value(objective, start, found) < found.at.value * (1.0 - _BETTER):
            return found, None
    other = minimized(objective, start, PRECISE)
    if not (math.isfinite(other.at.value) and other.at.value < found.at.value * (1.0 - _BETTER)):
        return found, None
    if other.falls or (not objective.penalty.any() and (not other.converged or is_at_infinity(objective, other))):
        return found, other.at.value
    return other, None


def _best_start(level: LinearObjective, found: Minimum) -> FloatArray | None:
    """Of llr 0 and of thresholds along a few directions the best map of a sample, if it is better than what was found.

    The directions are those of what was found and of the optimum of the logarithmic rule, and their contraries.
    """
    starts, points = [np.zeros(level.n_parameters)], [found.point]
    if len(level.center) > 1:
        points.append(minimized(replace(level, alpha=1.0, beta=1.0, constant=0.0), starts[0], _ROUGH).point)
    for point in points:
        weights = point[: len(level.center)]
        if (length := float(np.linalg.norm(weights))) > 0.0:
            for sign in (1.0, -1.0):
                starts += _steep(level, sign / length * weights)
    values = [_value(level, start, found) for start in starts]
    best = int(np.argmin(values))
    return starts[best] if values[best] < _value(level, found.polished, found) * (1.0 - _BETTER) else None


def _steep(level: LinearObjective, direction: FloatArray) -> list[FloatArray]:
    """Maps of any steepness with the best threshold along a direction."""
    if not level.intercept:
        return [scale * direction for scale in _SCALES]
    threshold = _threshold(level, direction)
    if threshold is None:
        return []
    middle = math.log(level.alpha / level.beta) - level.log_odds  # where the rule looks
    return [np.append(scale * direction, middle - scale * threshold) for scale in _SCALES]


def _threshold(level: LinearObjective, direction: FloatArray) -> float | None:
    """Where to divide the combined scores if all beyond are certain; None if not to divide them costs least."""
    trials, end = level.trials, np.array([np.inf])
    with np.errstate(all="ignore"):
        combined = np.asarray(level.scores(slice(None)).combined(np.append(direction, 0.0)), np.float64)
    if not np.isfinite(combined).all():
        return None
    weights = np.ones(len(trials)) if trials.weights is None else trials.weights
    tar, non = (SortedClass.of(combined[own], weights[own]) for own in (trials.is_target, ~trials.is_target))
    table = CountTable.of(tar, non)
    n_fa, n_miss = corners(table.n_tar, table.n_non)
    per_non, per_tar = trials.class_weights
    cost = np.zeros(len(n_fa))
    for errors, each in (
        (n_miss, per_tar * float(beta_cost_tar(-end, level.alpha, level.beta)[0])),
        (n_fa, per_non * float(beta_cost_non(end, level.alpha, level.beta)[0])),
    ):
        cost += np.multiply(errors, each, out=np.zeros(len(cost)), where=errors > 0)
    best = int(np.argmin(cost))
    low, high = table.edges(np.arange(len(table.n_tar)))
    return 0.5 * float(high[best - 1]) + 0.5 * float(low[best]) if 0 < best < len(low) else None


def _value(level: LinearObjective, point: FloatArray, found: Minimum) -> float:
    value = level(point, found.at.hessian).value
    return value if math.isfinite(value) else math.inf
