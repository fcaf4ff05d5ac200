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
from typing import Any

import numpy as np

from deciban.core.expected import scoring_rule_cost
from deciban.core.proper import beta_cost_non, beta_cost_tar
from deciban.core.ranks.counts import CountTable, SortedClass, corners
from deciban.core.training import moments as statistics
from deciban.core.training.batches import PartsOfTrials, TrialsInParts
from deciban.core.training.linear_objective import LinearObjective, TrainingTrials
from deciban.core.training.moments import SAMPLE, moments, sample
from deciban.core.training.separation import is_at_infinity, require_finite, with_class_weights
from deciban.core.training.trust_region import PRECISE, ROUNDING, Minimum, minimize
from deciban.errors import InputError
from deciban.types import BoolArray, FloatArray, FloatPair, ScoreArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """Result of training; by default without a search, at a point that is known to be the optimum.

    Attributes
    ----------
    weights : (n_columns,) array
        Factor of each column of scores, or of each system's log-likelihoods.
    standardized : (n_columns,) array
        The weights of columns divided by their standard deviation in all trials.
    objective : float
        Expected cost at the optimum, without the penalty.
    objective_at_zero : float
        Expected cost without information in the scores.
    gradient_norm : float
        Norm of the gradient at the end, in standardized parameters, over all trials.
    n_steps, n_passes : int
        Accepted steps, including steps on samples, and passes over all trials in full precision.
    converged : bool
    flat : int
        Number of directions in which the objective does not change, because of redundant systems.
    infimum : float, optional
        Limit of the objective for increasingly steep maps, if it is known to be below the objective. Then there is no
        best map, and the result is a local optimum.
    """

    weights: FloatArray
    standardized: FloatArray
    objective: float
    objective_at_zero: float
    gradient_norm: float = 0.0
    n_steps: int = 0
    n_passes: int = 1
    converged: bool = True
    flat: int = 0
    infimum: float | None = None

    @property
    def status(self) -> str:
        """Description of the result of the search."""
        if self.infimum is not None:
            return (
                f"a local optimum, {self.objective:.6g}: the objective of steeper maps falls to {self.infimum:.6g}, "
                "so that the best scale is infinite. The rule has alpha or beta above 1, and accepts some errors for "
                "lower costs of the other trials; use a rule with both at most 1, or more trials"
            )
        if not self.converged:
            return (
                f"not converged after {self.n_passes} passes: the gradient has norm {self.gradient_norm:.1e}. Likely "
                "causes are scores that hardly overlap, systems that are nearly the same, or extreme outliers; a "
                "penalty (ridge) helps in all these cases"
            )
        words = f"converged in {self.n_steps} steps, gradient {self.gradient_norm:.1e}"
        if self.flat:
            which = "one weight is" if self.flat == 1 else f"{self.flat} weights are"
            words += (
                f"; {which} not determined, because systems are redundant or constant: of all equally good weights, "
                "these are the smallest"
            )
        return words


INFORMATIVE = 12
"""One in this many trials is in the second sample, if memory allows: preferably trials with steep slopes."""

_SAMPLE_BYTES = 2.0
"""Memory of both samples, per trial of the whole."""

LARGE = 1 << 16
"""Number of trials above which a search in float32 before the exact passes saves time."""

ROUGH = (1e-3, 1e-5)
"""Required precision, relative to the value, of the optima of the first and the second sample."""

CLOSE = 3e-6
"""The same for all trials in float32: after the next step, less than a thousandth of the error remains."""

_BINNED = 1e-8
"""The same for bins."""

_LAST = 1e-9
"""The same for the final passes over a large matrix: the error after the last step is a millionth of this."""

_SAME = 1e-6
"""Relative difference, in units of the value at llr 0, below which two values belong to the same minimum."""

_NEAR = 4.0
"""Distance in widths from the bulk of scores beyond which scores are outliers for a bounded rule."""

_UNCERTAIN = 1e-4
"""Curvature, relative to the largest, below which float32 is unreliable."""


SearchOptions = Callable[[Any, float], dict[str, Any]]
"""Function that returns options for minimizing a function to a precision; see `search_options`."""

Starts = Callable[[Any, FloatArray], list[FloatArray]]
"""Function that returns starting points on the first level, for functions with several minima."""


def descend(objective: LinearObjective, few: TrainingTrials) -> Minimum:
    """Minimize on samples first, then on all trials."""
    value: Any = objective.trials
    if isinstance(value, TrialsInParts):
        # Minimize on the sample of trials in batches first, then on all trials, with one pass for every step
        near = descend(replace(objective, trials=few), sample(few, SAMPLE))
        way = LevelSearch(near.best)
        result = way.follow(objective, PRECISE)
        return replace(result, n_steps=result.n_steps + near.n_steps)
    trials, n = objective.trials, len(objective.trials)
    weights = np.abs(trials.class_weights)
    fits = trials.weights is None and np.all((weights > 1e-30) & (weights < 1e30)) and abs(objective.log_odds) < 80.0
    rough = replace(objective, dtype=np.float32 if fits else np.float64)
    way = LevelSearch(np.zeros(objective.n_parameters), starts=_starts)
    if few is not trials:
        way.follow(replace(rough, trials=few), ROUGH[0])
    if n < LARGE:
        return way.settle(objective, PRECISE, way.follow(objective, PRECISE))
    if len(trials.columns) == 1 and trials.base is None and trials.weights is None:
        bins, glance = statistics.binned(objective, few), None
        if bins is not None:
            glance = replace(objective, trials=bins, center=np.zeros(1), width=np.ones(1))
            way.follow(glance, _BINNED)
        return way.settle(objective, PRECISE, way.follow(objective, PRECISE), glance)
    row = 4 * len(trials.columns)
    size = max(2 * SAMPLE, min(n // INFORMATIVE, int((n * _SAMPLE_BYTES - len(few) * row) / (row + 9))))
    precise = PRECISE if trials.matrix is None else _LAST
    return way.settle(objective, precise, way.through_all(objective, rough, few, size, precise), rough)


def search_options(level: Any, precise: float) -> dict[str, Any]:
    """Return arguments of `minimize`: full precision for the type of a level, and a stop if there is no minimum.

    Second derivatives are reused if they are expensive.
    """
    return {
        "reuse": level.trials.size >= LARGE and precise not in ROUGH,
        "precise": precise,
        "rounding": ROUNDING if level.dtype is np.float64 else 1e-6,
        "stop": level.has_no_minimum,
        "limit": level.value_at_zero + _SAME,
        "radius": max(4.0, math.sqrt(level.n_parameters)),
    }


class LevelSearch:
    """State of a search through levels: samples, approximate objectives of all trials, and all trials.

    Attributes
    ----------
    point : (n_parameters,) array
        Last optimum.
    last : (n_parameters,) array
        End of the last search, even if its sample was separated.
    rivals : list of (n_parameters,) arrays
        Starting points of the first search, if there were several.
    """

    def __init__(
        self, start: FloatArray, options: SearchOptions = search_options, starts: Starts | None = None
    ) -> None:
        self.point = self.last = start
        self._search_options, self._starts = options, starts
        self.rivals: list[FloatArray] = []
        self._is_fresh = True
        self._n_steps = 0

    def follow(self, level: Any, precise: float, after: Minimum | None = None) -> Minimum:
        """Minimize another function, from the last optimum on, which the minimum ``after`` led to."""
        starts = self._starts(level, self.point) if self._is_fresh and self._starts else [self.point]
        self.rivals = self.rivals or (starts if len(starts) > 1 else [])
        known = None
        if after is not None and after.converged:
            eigenvalues = np.linalg.eigvalsh(after.at.hessian)
            known = after if eigenvalues[0] > _UNCERTAIN * eigenvalues[-1] else None
        options = self._search_options(level, precise)
        results = [minimize(level, start, after=known, **options) for start in starts]
        optimum = min(results, key=lambda result: result.at.value)
        self._n_steps += optimum.n_steps
        self.last = optimum.point
        if optimum.converged:
            self.point = self.last = optimum.polished
            self._is_fresh = False
        return replace(optimum, n_steps=self._n_steps)

    def through_all(self, objective: Any, rough: Any, few: Any, size: int, precise: float) -> Minimum:
        """Minimize on a second sample of ``size`` important trials, then on all in float32, then in full precision.

        ``few`` is the first sample. Second derivatives of the second sample are good enough for all trials. Without a
        large number of trials, there is no sample.
        """
        some = None if few is rough.trials else statistics.informative(rough, self.last, few, size)
        near = None
        if some is not None:
            near = self.follow(replace(rough, trials=some), ROUGH[1])
            near = replace(near, decrement=np.inf)  # it belongs to another function
            del some  # free its memory for the next level
        near = self.follow(rough, CLOSE, after=near)
        return self.follow(objective, precise, after=near)

    def settle(self, level: Any, precise: float, optimum: Minimum, glance: Any = None) -> Minimum:
        """Search all trials again from the rejected starting points of the first sample, if the result is better.

        With a rule that is not convex, the best minimum of a sample may not be the best of all trials. A ``glance`` at
        fewer trials detects this faster.
        """
        for rival in self.rivals[:2]:
            there = (glance or level)(rival, optimum.at.hessian)
            if math.isfinite(there.value) and there.value < optimum.at.value * (1.0 - _SAME):
                other = minimize(level, rival, **self._search_options(level, precise))
                optimum = min(optimum, other, key=lambda result: result.at.value)
        return replace(optimum, n_steps=self._n_steps)


def _starts(level: LinearObjective, point: FloatArray) -> list[FloatArray]:
    """Return starting points; for other rules, the optimum of the logarithmic rule, also twice and half as steep."""
    if level.alpha == level.beta == 1.0:
        return [point]
    log_rule = replace(level, alpha=1.0, beta=1.0, constant=0.0)
    result = minimize(log_rule, point, **search_options(log_rule, ROUGH[0]))
    if log_rule.is_apart(result.at) or level.is_convex:
        return [result.point]
    near = replace(log_rule, trials=statistics.clipped(level.trials, *statistics.quartiles(level.trials), at=_NEAR))
    # A few outliers spoil the logarithmic rule, but not this starting point.
    of_bulk = minimize(near, point, **search_options(near, ROUGH[0]))
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
    objective: LinearObjective, few: TrainingTrials, minimum: Minimum
) -> tuple[Minimum, float | None]:
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
        start = minimize(level, start, **search_options(level, _ROUGH)).point
        if not _is_worth_it(objective, few, start, minimum):
            return minimum, None
    other = minimize(objective, start, **search_options(objective, PRECISE))
    if not (math.isfinite(other.at.value) and other.at.value < minimum.at.value * (1.0 - _BETTER)):
        return minimum, None
    if other.falls or (not objective.penalty.any() and (not other.converged or is_at_infinity(objective, other))):
        return minimum, other.at.value
    return other, None


def _is_worth_it(objective: LinearObjective, few: TrainingTrials, start: FloatArray, minimum: Minimum) -> bool:
    """Return True if a start is lower than the result; in batches, a large sample is tested before a pass."""
    value: Any = objective.trials
    if isinstance(value, TrialsInParts):
        level = replace(objective, trials=few)  # the result is no optimum of this level
        other, same = (minimize(level, one, **search_options(level, PRECISE)) for one in (start, minimum.polished))
        if not other.at.value < same.least * (1.0 - _BETTER):
            return False
    return _value(objective, start, minimum) < minimum.at.value * (1.0 - _BETTER)


def _best_start(level: LinearObjective, minimum: Minimum) -> FloatArray | None:
    """Return the best map of a sample among llr 0 and thresholds along a few directions, if it improves the result.

    The directions are the weights of the result and of the optimum of the logarithmic rule, and their opposites.
    """
    starts, points = [np.zeros(level.n_parameters)], [minimum.point]
    if len(level.center) > 1:
        log_rule = replace(level, alpha=1.0, beta=1.0, constant=0.0)
        points.append(minimize(log_rule, starts[0], **search_options(log_rule, _ROUGH)).point)
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


def _value(level: LinearObjective, point: FloatArray, minimum: Minimum) -> float:
    value = level(point, minimum.at.hessian).value
    return value if math.isfinite(value) else math.inf


_FAR = 1e8
"""Range of scores, in widths of their bulk, above which standard deviations do not describe the bulk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearFit(Fit):
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


def _next_to_far(objective: LinearObjective, few: TrainingTrials) -> tuple[LinearObjective, Minimum]:
    """Return the standardized objective and its minimum, for scores that may have extreme outliers.

    Relative to the standard deviation, extreme outliers make all other scores look equal. If outliers are on the wrong
    side, they determine the optimum, which is best searched in these units. If they are on the right side, they do not
    matter; they are clipped until the optimum is located.
    """
    center, width = statistics.quartiles(few)
    is_far = _far(objective.trials, width)
    whole = replace(objective, width=np.fmax(objective.width, moments(objective.trials)[1]))
    results = [(whole, minimize(whole, np.zeros(whole.n_parameters), **search_options(whole, PRECISE)))]
    by_quartiles = replace(
        objective,
        center=np.where(is_far & objective.intercept, center, objective.center),
        width=np.where(is_far, width, objective.width),
    )
    drawn_near = statistics.clipped(few, center, width)
    near = replace(by_quartiles, trials=drawn_near)
    start = descend(near, drawn_near)
    if start.converged and not is_at_infinity(near, start):
        optimum = minimize(by_quartiles, start.polished, **search_options(by_quartiles, PRECISE))
        results.append((by_quartiles, optimum))
    return min(results, key=lambda result: result[1].at.value)


def _far(trials: TrainingTrials | TrialsInParts, width: FloatArray) -> BoolArray:
    """Return True for columns that extend far beyond their bulk."""
    with np.errstate(over="ignore"):
        return (width > 0.0) & statistics.reaches(trials, np.where(width > 0.0, _FAR * width, np.inf))
