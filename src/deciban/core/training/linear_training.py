"""Training of the weights and the offset of calibration and fusion, to the optimum or to an error with the reason.

The search starts on a small stratified sample with the logarithmic rule, which is convex. From its optimum it continues
with the requested rule and the other trials, so that few passes go through all trials. The last pass always covers all
trials: its gradient is reported, and one more Newton step leads to the final weights.

Rules with ``alpha > 1`` or ``beta > 1`` are not convex, and some minima are far from the scales of the first search.
The larger these parameters are, the fewer thresholds the rule emphasizes. At moderate scales, the objective then
contains little information on its value at steep scales. But the cost of the best threshold can be counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from deciban.core.proper import beta_cost_non, beta_cost_tar, scoring_rule_cost
from deciban.core.ranks.counts import CountTable, SortedClass, corners
from deciban.core.training import moments as statistics
from deciban.core.training import trust_region as search
from deciban.core.training.batches import PartsOfTrials, TrialsInParts
from deciban.core.training.linear_objective import LinearObjective, TrainingTrials, with_class_weights
from deciban.core.training.moments import SAMPLE, moments, sample
from deciban.core.training.sums import Ends, is_at_infinity
from deciban.errors import InputError, option
from deciban.types import BoolArray, FloatArray, FloatPair, ScoreArray

INFORMATIVE = 12
"""One in this many trials is in the second sample, if memory allows: preferably trials with steep slopes."""

_SAMPLE_BYTES = 2.0
"""Memory of both samples, per trial of the whole."""

_BINNED = 1e-8
"""The same for bins."""

_LAST = 1e-9
"""The same for the final passes over a large matrix: the error after the last step is a millionth of this."""

_NEAR = 4.0
"""Distance in widths from the bulk of scores beyond which scores are outliers for a bounded rule."""


def descend(objective: LinearObjective, few: TrainingTrials) -> search.Minimum:
    """Minimize on samples first, then on all trials."""
    value: Any = objective.trials
    if isinstance(value, TrialsInParts):
        # Minimize on the sample of trials in batches first, then on all trials, with one pass for every step
        near = descend(replace(objective, trials=few), sample(few, SAMPLE))
        way = search.LevelSearch(near.best)
        result = way.follow(objective, search.PRECISE)
        return replace(result, n_steps=result.n_steps + near.n_steps)
    trials, n = objective.trials, len(objective.trials)
    weights = np.abs(trials.class_weights)
    fits = trials.weights is None and np.all((weights > 1e-30) & (weights < 1e30)) and abs(objective.log_odds) < 80.0
    rough = replace(objective, dtype=np.float32 if fits else np.float64)
    way = search.LevelSearch(np.zeros(objective.n_parameters), starts=_starts)
    if few is not trials:
        way.follow(replace(rough, trials=few), search.ROUGH[0])
    if n < search.LARGE:
        return way.settle(objective, search.PRECISE, way.follow(objective, search.PRECISE))
    if len(trials.columns) == 1 and trials.base is None and trials.weights is None:
        bins, glance = statistics.binned(objective, few), None
        if bins is not None:
            glance = replace(objective, trials=bins, center=np.zeros(1), width=np.ones(1))
            way.follow(glance, _BINNED)
        return way.settle(objective, search.PRECISE, way.follow(objective, search.PRECISE), glance)
    row = 4 * len(trials.columns)
    size = max(2 * SAMPLE, min(n // INFORMATIVE, int((n * _SAMPLE_BYTES - len(few) * row) / (row + 9))))
    precise = search.PRECISE if trials.matrix is None else _LAST
    return way.settle(objective, precise, _through_all(way, objective, rough, few, size, precise), rough)


def _through_all(
    way: search.LevelSearch,
    objective: LinearObjective,
    rough: LinearObjective,
    few: TrainingTrials,
    size: int,
    precise: float,
) -> search.Minimum:
    """Minimize on a second sample of ``size`` important trials, then on all in float32, then in full precision.

    ``few`` is the first sample. Second derivatives of the second sample are good enough for all trials. Without a
    large number of trials, there is no sample.
    """
    some = None if few is rough.trials else statistics.informative(rough, way.last, few, size)
    near = None
    if some is not None:
        near = way.follow(replace(rough, trials=some), search.ROUGH[1])
        near = replace(near, decrement=np.inf)  # it belongs to another function
        del some  # free its memory for the next level
    near = way.follow(rough, search.CLOSE, after=near)
    return way.follow(objective, precise, after=near)


def _starts(level: LinearObjective, point: FloatArray) -> list[FloatArray]:
    """Return starting points; for other rules, the optimum of the logarithmic rule, also twice and half as steep."""
    if level.alpha == level.beta == 1.0:
        return [point]
    log_rule = replace(level, alpha=1.0, beta=1.0, constant=0.0)
    result = search.minimize(log_rule, point, **search.search_options(log_rule, search.ROUGH[0]))
    if log_rule.is_apart(result.at) or level.is_convex:
        return [result.point]
    near = replace(log_rule, trials=statistics.clipped(level.trials, *statistics.quartiles(level.trials), at=_NEAR))
    # A few outliers spoil the logarithmic rule, but not this starting point.
    of_bulk = search.minimize(near, point, **search.search_options(near, search.ROUGH[0]))
    shift = np.append(np.zeros(len(level.center)), np.full(int(level.intercept), level.log_odds))
    return [result.point, of_bulk.point, *((result.point + shift) * factor - shift for factor in (2.0, 0.5))]


_GLANCE = 1 << 11
"""Number of trials that are checked first if there are many times as many."""

_SCALES = 4.0 ** np.arange(0.0, 8.0)
"""Steepness of the maps that are tried, per standard deviation of the combined scores."""

_ROUGH = 1e-3
"""Required precision, relative to the value, of an optimum that only provides a direction."""

_BETTER = 1e-6
"""Relative difference below which two values are equally good."""


def with_steep_starts(
    objective: LinearObjective, few: TrainingTrials, minimum: search.Minimum
) -> tuple[search.Minimum, float | None]:
    """Search again from the best threshold if it is better than the result so far.

    Parameters
    ----------
    objective : LinearObjective
        Of all trials.
    few : TrainingTrials
        A sample of the trials, or all trials.
    minimum : Minimum
        Result of the search so far.

    Returns
    -------
    minimum : Minimum
        The better result, if finite.
    infimum : float, optional
        Limit of the objective for increasingly steep maps, if it is lower.
    """
    if objective.is_convex or not minimum.converged or objective.trials.has_base or not len(objective.center):
        return minimum, None
    level = replace(objective, trials=sample(few, _GLANCE))
    start = _best_start(level, minimum)
    if start is None:
        return minimum, None
    if level.trials is not objective.trials:
        start = search.minimize(level, start, **search.search_options(level, _ROUGH)).point
        if not _is_worth_it(objective, few, start, minimum):
            return minimum, None
    other = search.minimize(objective, start, **search.search_options(objective, search.PRECISE))
    if not (math.isfinite(other.at.value) and other.at.value < minimum.at.value * (1.0 - _BETTER)):
        return minimum, None
    if other.falls or (not objective.penalty.any() and (not other.converged or is_at_infinity(objective, other))):
        return minimum, other.at.value
    return other, None


def _is_worth_it(objective: LinearObjective, few: TrainingTrials, start: FloatArray, minimum: search.Minimum) -> bool:
    """Return True if a start is lower than the result; in batches, a large sample is tested before a pass."""
    value: Any = objective.trials
    if isinstance(value, TrialsInParts):
        level = replace(objective, trials=few)  # the result is no optimum of this level
        other, same = (
            search.minimize(level, one, **search.search_options(level, search.PRECISE))
            for one in (start, minimum.polished)
        )
        if not other.at.value < same.least * (1.0 - _BETTER):
            return False
    return _value(objective, start, minimum) < minimum.at.value * (1.0 - _BETTER)


def _best_start(level: LinearObjective, minimum: search.Minimum) -> FloatArray | None:
    """Return the best map of a sample among llr 0 and thresholds along a few directions, if it improves the result.

    The directions are the weights of the result and of the optimum of the logarithmic rule, and their opposites.
    """
    starts, points = [np.zeros(level.n_parameters)], [minimum.point]
    if len(level.center) > 1:
        log_rule = replace(level, alpha=1.0, beta=1.0, constant=0.0)
        points.append(search.minimize(log_rule, starts[0], **search.search_options(log_rule, _ROUGH)).point)
    for point in points:
        weights = point[: len(level.center)]
        if (length := float(np.linalg.norm(weights))) > 0.0:
            for sign in (1.0, -1.0):
                starts += _steep(level, sign / length * weights)
    values = [_value(level, start, minimum) for start in starts]
    best = int(np.argmin(values))
    return starts[best] if values[best] < _value(level, minimum.polished, minimum) * (1.0 - _BETTER) else None


def _steep(level: LinearObjective, direction: FloatArray) -> list[FloatArray]:
    """Return maps of increasing steepness with the best threshold along a direction."""
    if not level.intercept:
        return [scale * direction for scale in _SCALES]
    threshold = _threshold(level, direction)
    if threshold is None:
        return []
    middle = math.log(level.alpha / level.beta) - level.log_odds  # log odds that the rule emphasizes
    return [np.append(scale * direction, middle - scale * threshold) for scale in _SCALES]


def _threshold(level: LinearObjective, direction: FloatArray) -> float | None:
    """Return the best threshold of the combined scores for certain decisions; None if a constant decision is best."""
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


def _value(level: LinearObjective, point: FloatArray, minimum: search.Minimum) -> float:
    value = level(point, minimum.at.hessian).value
    return value if math.isfinite(value) else math.inf


_FAR = 1e8
"""Range of scores, in widths of their bulk, above which standard deviations do not describe the bulk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearFit(search.Fit):
    """Trained weights and offset.

    Attributes
    ----------
    offset : float
        Added to the weighted scores, without the prior log odds.
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
        Checked scores; infinite scores represent certainty. A matrix with contiguous rows is fastest.
    is_target : (n_trials,) bool array
        Both classes occur.
    weights : (n_trials,) array, optional
    alpha, beta, log_odds : float
        The rule, and the prior of the objective.
    ridge : float
        Penalty ``ridge / 2 * sum(weights**2)``, with standardized weights, added to the objective.
    intercept : bool
        Train an offset.
    base : (n_trials,) array, optional
        Added to the llr without a factor.
    reach : float, optional
        Largest absolute number of the columns; infinite if unknown.

    Raises
    ------
    InputError
        If the classes are separated, so that the best weights are infinite; if a system gives all trials the same
        score; or if an infinite score contradicts the true class.
    """
    value = TrainingTrials.of(columns, is_target, weights=weights, base=base, reach=reach)
    return train_trials(value, alpha=alpha, beta=beta, log_odds=log_odds, ridge=ridge, intercept=intercept)


def train_trials(
    value: TrainingTrials | PartsOfTrials,
    alpha: float,
    beta: float,
    log_odds: float,
    ridge: float = 0.0,
    *,
    intercept: bool = True,
    called: Callable[[Sequence[int]], str] | None = None,
) -> LinearFit:
    """Minimize the expected cost on trials, in memory or in batches, without class weights; see `train`.

    Parameters
    ----------
    called : function, optional
        Returns the names of columns. If passed, weights that invert infinite scores raise an error.
    """
    trials: Any
    trials, lost = with_class_weights(value, alpha, beta, log_odds)
    n_columns = trials.n_columns
    nothing = np.zeros(1)
    at_zero = scoring_rule_cost((nothing, None), (nothing, None), log_odds, alpha, beta)
    unit = at_zero if at_zero > 0.0 else 1.0  # with a very improbable class, squares of the objective would underflow
    per_non, per_tar = trials.class_weights
    trials, lost, ridge = replace(trials, class_weights=(per_non / unit, per_tar / unit)), lost / unit, ridge / unit
    few = sample(trials, SAMPLE)
    center, width = _standard(trials, few, ridge=ridge, intercept=intercept)
    stretch = np.sqrt(1.0 + ridge)  # scales parameters: next to a large penalty, all else would look flat
    width = width * stretch
    own = 1.0 / (1.0 + 1.0 / ridge) if ridge > 0.0 else 0.0
    penalty = np.append(np.full(n_columns, own), np.zeros(int(intercept)))
    objective = LinearObjective(trials, center, width, intercept, alpha, beta, log_odds, penalty, constant=lost)
    if len(few) < len(trials):
        few = statistics.shortened(few, objective)
    is_far = not penalty.any() and _far(trials, statistics.quartiles(statistics.thinned(few))[1]).any()
    objective, result = _next_to_far(objective, few) if is_far else (objective, descend(objective, few))
    result, infimum = with_steep_starts(objective, few, require_finite(objective, result))
    center, width = objective.center, objective.width
    inside = np.where(np.isfinite(width), result.polished[:n_columns], 0.0)
    with np.errstate(over="ignore", under="ignore"):
        raw = inside / width
        standardized = inside / stretch if ridge > 0.0 else raw * statistics.widths(trials)
    statistics.require_scales(raw, "scores")
    if called is not None and np.any(raw <= 0.0):
        _require_positive(raw, value.infinite_columns(), called)
    offset = float(result.polished[-1] - inside @ (center / width)) if intercept else 0.0
    course = result.course
    course["gradient_norm"] *= unit
    course["converged"] &= infimum is None
    return LinearFit(
        weights=raw,
        offset=offset,
        standardized=standardized,
        objective=unit * (result.least - 0.5 * float(penalty @ result.best**2)),
        objective_at_zero=at_zero,
        infimum=None if infimum is None else unit * infimum,
        **course,
    )


def _require_positive(weights: FloatArray, infinite: Sequence[bool], called: Callable[[Sequence[int]], str]) -> None:
    """Refuse weights that invert infinite scores."""
    for k in np.flatnonzero((weights <= 0.0) & np.array(infinite)).tolist():
        raise InputError(
            f"scores: the best weight of {called([k])} is {weights[k]:.3g}, but some of its scores are infinite: they "
            "would become certainty of the wrong class. Negate the scores if larger scores favour non-targets, or "
            "make infinite ones finite."
        )


def _standard(trials: Any, few: TrainingTrials, *, ridge: float, intercept: bool) -> FloatPair:
    """Return center and width of the columns, from all trials for a penalty, else from a sample with equal classes.

    With the prior, the width could be tiny if one class is improbable and the other nearly constant.
    """
    center, width = moments(trials) if ridge > 0.0 else moments(statistics.equal_classes(few))
    if len(few) < len(trials) and not np.all(width > 0.0):
        center, width = moments(statistics.equal_classes(trials))
    if not np.isfinite(width).all():
        raise InputError("scores: their range exceeds double precision. Divide the scores by a constant first.")
    constant = np.flatnonzero(~(width > 0.0))
    if len(constant) and (len(constant) == len(width) or not intercept):
        value = few.columns[constant[0]][:1][0]
        raise InputError(f"scores: all {len(trials):,} are {value:g}. Constant scores cannot be calibrated.")
    width = np.where(width > 0.0, width, np.inf)  # a constant system gets weight 0
    return (center if intercept else np.zeros_like(center)), width


def _next_to_far(objective: LinearObjective, few: TrainingTrials) -> tuple[LinearObjective, search.Minimum]:
    """Return the standardized objective and its minimum, for scores that may have extreme outliers.

    Relative to the standard deviation, extreme outliers make all other scores look equal. If outliers are on the wrong
    side, they determine the optimum, which is best searched in these units. If they are on the right side, they do not
    matter; they are clipped until the optimum is located.
    """
    center, width = statistics.quartiles(few)
    is_far = _far(objective.trials, width)
    whole = replace(objective, width=np.fmax(objective.width, moments(objective.trials)[1]))
    results = [
        (whole, search.minimize(whole, np.zeros(whole.n_parameters), **search.search_options(whole, search.PRECISE)))
    ]
    by_quartiles = replace(
        objective,
        center=np.where(is_far & objective.intercept, center, objective.center),
        width=np.where(is_far, width, objective.width),
    )
    drawn_near = statistics.clipped(few, center, width)
    near = replace(by_quartiles, trials=drawn_near)
    start = descend(near, drawn_near)
    if start.converged and not is_at_infinity(near, start):
        optimum = search.minimize(by_quartiles, start.polished, **search.search_options(by_quartiles, search.PRECISE))
        results.append((by_quartiles, optimum))
    return min(results, key=lambda result: result[1].at.value)


def _far(trials: TrainingTrials | TrialsInParts, width: FloatArray) -> BoolArray:
    """Return True for columns that extend far beyond their bulk."""
    with np.errstate(over="ignore"):
        return (width > 0.0) & statistics.reaches(trials, np.where(width > 0.0, _FAR * width, np.inf))


_BLOCK = 1 << 14


_LARGE = 20.0
"""Norm of standardized parameters above which the order of all trials is checked: separated classes exceed it."""


_ROUNDING = 1e-9
"""Relative difference, in units of the largest terms, below which log odds count as equal."""


def require_finite(objective: LinearObjective, optimum: search.Minimum) -> search.Minimum:
    """Refuse a result with infinite weights, or with costs beyond double precision.

    Returns
    -------
    Minimum
        The result, or its continuation.

    Raises
    ------
    InputError
        If weights or costs are infinite.
    """
    if not optimum.at.is_finite:
        raise InputError(
            f"scores: everywhere in the search, the expected cost by the rule ({objective.alpha:g}, "
            f"{objective.beta:g}) exceeds double precision: some scores are far on the wrong side. Use a rule with "
            "alpha and beta of at least 1, train a scale as well, or clip these scores."
        )
    if objective.penalty[: len(objective.center)].all():
        return optimum  # or there is no column
    is_convex = objective.is_convex
    at_infinity = optimum.converged and is_at_infinity(objective, optimum)
    if at_infinity and is_convex and not optimum.falls:
        final = search.pursued(objective, optimum, lambda reached: is_at_infinity(objective, reached))
        optimum, at_infinity = (optimum, True) if final is None else (final, False)
    is_moderate = float(np.linalg.norm(optimum.point)) < _LARGE
    if is_convex and is_moderate and optimum.converged and not at_infinity and not objective.is_apart(optimum.at):
        return optimum  # a convex function with a minimum does not fall forever
    separated = objective.is_apart(optimum.at) or (
        _may_be_apart(objective, optimum) and _one_after_the_other(objective, optimum)
    )
    # The scores of one system overlap, or a convex objective has a minimum: no reason to suspect infinity.
    is_suspicious = at_infinity and not (is_convex and len(objective.center) == 1)
    if not separated and not is_suspicious:
        return optimum
    one = len(objective.center) == 1
    if separated:
        what = "no target has a score" if one else "in a weighted sum of the systems, no target is"
        side = "above" if one and optimum.point[0] < 0.0 else "below"  # scores are distances
        words = f"the classes are separated ({what} {side} a non-target), so the best scale would be infinite"
    else:
        words = "the objective falls forever as the weights grow, so the best scale would be infinite"
    pav = "use PAV with a bound" if one else "use fewer systems"
    ways = f"Add a penalty ({option(ridge=1e-3)}), {pav}, or collect more difficult trials"
    if not separated and not is_convex:
        words += ": this rule accepts some errors for lower costs of the other trials"
        ways = f"Use a rule with alpha and beta of at most 1. {ways}"
    raise InputError(f"scores: {words}. {ways}.")


def _may_be_apart(objective: LinearObjective, minimum: search.Minimum) -> bool:
    """Return True if the log odds seen so far allow all targets to score at least as high as all non-targets."""
    with np.errstate(all="ignore"):
        farthest = (objective.trials.reach + np.abs(objective.center)) / objective.width
        size = float(np.abs(minimum.point[: len(farthest)]) @ np.where(np.isfinite(objective.width), farthest, 0.0))
    return not minimum.at.overlap > _ROUNDING * (1.0 + size)


def _one_after_the_other(objective: LinearObjective, minimum: search.Minimum) -> bool:
    """Return True if the combined scores of all targets are at least those of all non-targets, and not all equal."""
    weights = minimum.point[: len(objective.center)]
    ends = objective.trials.each(partial(_combined, objective.form, weights))
    (non, tar) = zip(ends.low.tolist(), ends.high.tolist(), strict=True)
    # Combined scores that differ only by rounding, such as scores of weight 0, separate nothing.
    spread = max(tar[1], non[1]) - min(tar[0], non[0])
    differ = spread > 0.0 if len(weights) == 1 else spread > 1e-9 * np.linalg.norm(weights)
    return bool(differ and tar[0] >= non[1]) if objective.intercept else bool(differ and tar[0] >= 0.0 >= non[1])


def _combined(form: LinearObjective, weights: FloatArray, trials: TrainingTrials) -> Ends:
    """Return the range of the combined scores of non-targets and of targets."""
    objective, ends = replace(form, trials=trials), [(np.inf, -np.inf), (np.inf, -np.inf)]
    without_offset = np.append(weights, np.zeros(int(objective.intercept)))
    with np.errstate(all="ignore"):
        for rows in (slice(i, i + _BLOCK) for i in range(0, len(trials), _BLOCK)):
            if len(weights) == 1:  # keep all digits of the only column next to far scores
                combined = np.sign(weights[0]) * np.asarray(trials.columns[0][rows], np.float64)
            else:
                combined = objective.scores(rows).combined(without_offset)
            for truth in (False, True):
                own = combined[trials.is_target[rows] == truth]
                low, high = ends[truth]
                ends[truth] = min(low, own.min(initial=np.inf)), max(high, own.max(initial=-np.inf))
    return Ends.of([low for low, _ in ends], [high for _, high in ends])
