"""Train the weights and the offset of calibration and fusion: from scores to the optimum, or to the reason why not.

The optimum of a small stratified sample comes first, with the logarithmic rule, which is convex; the wanted rule and
the other trials follow from there, so that only a few passes go through all of them. The last pass is always over all
trials: its gradient is the one that is reported, and one more step of Newton leads from there to the weights.

Some minima lie beyond the scales where a search begins. Rules with ``alpha > 1`` or ``beta > 1`` are not convex. The
larger these are, the fewer thresholds they look at, and the less the objective tells, at moderate scales, of how low it
is at steep ones. But what the best threshold costs is a matter of counting.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deciban.core.ranks.counts import CountTable, SortedClass, corners
from deciban.core.rules.expected import scoring_rule_cost
from deciban.core.rules.proper import beta_cost_non, beta_cost_tar
from deciban.core.training.batches import PartsOfTrials, TrialsInParts
from deciban.core.training.descent import Fit, descend, search_options
from deciban.core.training.linear_objective import LinearObjective, Trials
from deciban.core.training.moments import (
    SAMPLE,
    clipped,
    equal_classes,
    moments,
    quartiles,
    reaches,
    require_scales,
    sample,
    shortened,
    thinned,
    widths,
)
from deciban.core.training.separation import is_at_infinity, require_finite, with_class_weights
from deciban.core.training.trust_region import PRECISE, Minimum, minimize
from deciban.errors import InputError
from deciban.types import BoolArray, FloatArray, ScoreArray

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
    if objective.is_convex or not found.converged or objective.trials.has_base or not len(objective.center):
        return found, None
    level = replace(objective, trials=sample(few, _GLANCE))
    start = _best_start(level, found)
    if start is None:
        return found, None
    if level.trials is not objective.trials:
        start = minimize(level, start, **search_options(level, _ROUGH)).point
        if not _is_worth_it(objective, few, start, found):
            return found, None
    other = minimize(objective, start, **search_options(objective, PRECISE))
    if not (math.isfinite(other.at.value) and other.at.value < found.at.value * (1.0 - _BETTER)):
        return found, None
    if other.falls or (not objective.penalty.any() and (not other.converged or is_at_infinity(objective, other))):
        return found, other.at.value
    return other, None


def _is_worth_it(objective: LinearObjective, few: Trials, start: FloatArray, found: Minimum) -> bool:
    """Whether a start is lower than what was found; of trials in parts a large sample spares the pass that tells."""
    given: Any = objective.trials
    if isinstance(given, TrialsInParts) and not _is_better(replace(objective, trials=few), start, found):
        return False
    return _value(objective, start, found) < found.at.value * (1.0 - _BETTER)


def _is_better(level: LinearObjective, start: FloatArray, found: Minimum) -> bool:
    """Whether a search from a start ends lower than what was found, which is no optimum here."""
    other, same = (minimize(level, one, **search_options(level, PRECISE)) for one in (start, found.polished))
    return other.at.value < same.least * (1.0 - _BETTER)


def _best_start(level: LinearObjective, found: Minimum) -> FloatArray | None:
    """Of llr 0 and of thresholds along a few directions the best map of a sample, if it is better than what was found.

    The directions are those of what was found and of the optimum of the logarithmic rule, and their contraries.
    """
    starts, points = [np.zeros(level.n_parameters)], [found.point]
    if len(level.center) > 1:
        log_rule = replace(level, alpha=1.0, beta=1.0, constant=0.0)
        points.append(minimize(log_rule, starts[0], **search_options(log_rule, _ROUGH)).point)
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


_FAR = 1e8
"""Span of scores, in widths of their bulk, from which on standard deviations tell nothing of the bulk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearFit(Fit):
    """What training of weights and an offset found.

    Attributes
    ----------
    offset : float
        What is added, without the prior log odds.
    """

    offset: float


def train(
    columns: Sequence[ScoreArray] | ScoreArray,
    is_target: BoolArray,
    *,
    weights: FloatArray | None = None,
    alpha: float,
    beta: float,
    log_odds: float,
    ridge: float = 0.0,
    intercept: bool = True,
    base: ScoreArray | None = None,
    reach: float = np.inf,
) -> LinearFit:
    """Minimize the expected cost of a linear combination of columns.

    Parameters
    ----------
    columns : sequence of (n_trials,) arrays, or (n_trials, n_columns) array
        Checked scores; infinite ones stand for certainty. A matrix whose rows lie together in memory is fastest.
    is_target : (n_trials,) bool array
        Both classes occur.
    weights : (n_trials,) array, optional
    alpha, beta, log_odds : float
        The rule, and the prior of the objective.
    ridge : float
        Half of it times the squares of the standardized weights is added to the objective.
    intercept : bool
        Whether there is an offset.
    base : (n_trials,) array, optional
        What is added to the llr as it is.
    reach : float, optional
        No number of the columns is farther from 0; infinite if that is not known yet.

    Raises
    ------
    InputError
        If the classes are separated, so that the best weights are infinite, if a system scores all trials alike, or
        if an infinite score says the opposite of the truth.
    """
    given = Trials.of(columns, is_target, weights=weights, base=base, reach=reach)
    return train_trials(given, alpha=alpha, beta=beta, log_odds=log_odds, ridge=ridge, intercept=intercept)


def train_trials(
    given: Trials | PartsOfTrials,
    *,
    alpha: float,
    beta: float,
    log_odds: float,
    ridge: float = 0.0,
    intercept: bool = True,
) -> LinearFit:
    """`train` on trials, in memory or in parts, that have no class weights yet."""
    trials: Any
    trials, lost = with_class_weights(given, alpha, beta, log_odds)
    n_columns = trials.n_columns
    nothing = np.zeros(1)
    at_zero = scoring_rule_cost((nothing, None), (nothing, None), log_odds, alpha, beta)
    unit = at_zero if at_zero > 0.0 else 1.0  # squares of the objective of a very improbable class would underflow
    per_non, per_tar = trials.class_weights
    trials, lost, ridge = replace(trials, class_weights=(per_non / unit, per_tar / unit)), lost / unit, ridge / unit
    few = sample(trials, SAMPLE)
    center, width = _standard(trials, few, ridge=ridge, intercept=intercept)
    stretch = np.sqrt(1.0 + ridge)  # of the parameters, or a large penalty would make all else look flat
    width = width * stretch
    own = 1.0 / (1.0 + 1.0 / ridge) if ridge > 0.0 else 0.0
    penalty = np.append(np.full(n_columns, own), np.zeros(int(intercept)))
    objective = LinearObjective(trials, center, width, intercept, alpha, beta, log_odds, penalty, constant=lost)
    if len(few) < len(trials):
        few = shortened(few, objective)
    is_far = not penalty.any() and _far(trials, quartiles(thinned(few))[1]).any()
    objective, found = _next_to_far(objective, few) if is_far else (objective, descend(objective, few))
    found, infimum = with_steep_starts(objective, few, require_finite(objective, found))
    center, width = objective.center, objective.width
    inside = np.where(np.isfinite(width), found.polished[:n_columns], 0.0)
    with np.errstate(over="ignore", under="ignore"):
        raw = inside / width
        standardized = inside / stretch if ridge > 0.0 else raw * widths(trials)
    require_scales(raw, "scores")
    offset = float(found.polished[-1] - inside @ (center / width)) if intercept else 0.0
    course = found.course
    course["gradient_norm"] *= unit
    course["converged"] &= infimum is None
    return LinearFit(
        weights=raw,
        offset=offset,
        standardized=standardized,
        objective=unit * (found.least - 0.5 * float(penalty @ found.best**2)),
        objective_at_zero=at_zero,
        infimum=None if infimum is None else unit * infimum,
        **course,
    )


def _standard(trials: Any, few: Trials, *, ridge: float, intercept: bool) -> tuple[FloatArray, FloatArray]:
    """Center and width of the columns: those that a penalty refers to, otherwise of a sample with equal classes.

    With the prior, the width could be next to nothing where one class is improbable and the other nearly constant.
    """
    center, width = moments(trials) if ridge > 0.0 else moments(equal_classes(few))
    if len(few) < len(trials) and not np.all(width > 0.0):
        center, width = moments(equal_classes(trials))
    if not np.isfinite(width).all():
        raise InputError("scores: their range does not fit a float. Divide them first.")
    constant = np.flatnonzero(~(width > 0.0))
    if len(constant) and (len(constant) == len(width) or not intercept):
        value = few.columns[constant[0]][:1][0]
        raise InputError(
            f"scores: all {len(trials):,} of them are {value:g}. Scores that are all the same cannot be calibrated."
        )
    width = np.where(width > 0.0, width, np.inf)  # a constant system among others gets weight 0
    return (center if intercept else np.zeros_like(center)), width


def _next_to_far(objective: LinearObjective, few: Trials) -> tuple[LinearObjective, Minimum]:
    """Where the objective is least, and the form of it with the standardization that led there.

    Next to scores that are too far away to be told from infinite ones, all others are the same in units of the
    standard deviation. Far scores that are wrong decide on the optimum, which is best sought in these units; far ones
    that are right do not matter to it, and are drawn near until its place is known.
    """
    center, width = quartiles(few)
    is_far = _far(objective.trials, width)
    whole = replace(objective, width=np.fmax(objective.width, moments(objective.trials)[1]))
    results = [(whole, minimize(whole, np.zeros(whole.n_parameters), **search_options(whole, PRECISE)))]
    by_quartiles = replace(
        objective,
        center=np.where(is_far & objective.intercept, center, objective.center),
        width=np.where(is_far, width, objective.width),
    )
    drawn_near = clipped(few, center, width)
    near = replace(by_quartiles, trials=drawn_near)
    start = descend(near, drawn_near)
    if start.converged and not is_at_infinity(near, start):
        found = minimize(by_quartiles, start.polished, **search_options(by_quartiles, PRECISE))
        results.append((by_quartiles, found))
    return min(results, key=lambda result: result[1].at.value)


def _far(trials: Trials | TrialsInParts, width: FloatArray) -> BoolArray:
    """Which columns reach far beyond their bulk."""
    with np.errstate(over="ignore"):
        return (width > 0.0) & reaches(trials, np.where(width > 0.0, _FAR * width, np.inf))
