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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deciban.core.ranks.counts import CountTable, SortedClass, corners
from deciban.core.rules.expected import scoring_rule_cost
from deciban.core.rules.proper import beta_cost_non, beta_cost_tar
from deciban.core.training.batches import PartsOfTrials, TrialsInParts
from deciban.core.training.linear_objective import LinearObjective, Trials
from deciban.core.training.moments import (
    SAMPLE,
    binned,
    clipped,
    equal_classes,
    informative,
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
from deciban.core.training.trust_region import PRECISE, ROUNDING, Minimum, minimize
from deciban.errors import InputError
from deciban.types import BoolArray, FloatArray, ScoreArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """What training found; by default without a search, at a point that is known to be the optimum.

    Attributes
    ----------
    weights : (n_columns,) array
        Factor of each column of scores, or of each system's log-likelihoods.
    standardized : (n_columns,) array
        The weights of columns divided by their standard deviation in all trials.
    objective : float
        Expected cost at the optimum, without the penalty.
    objective_at_zero : float
        The same for a system without information.
    gradient_norm : float
        Length of the gradient at the end, by standardized parameters, over all trials.
    n_steps, n_passes : int
        Accepted steps, those on samples included, and passes over all trials in full precision.
    converged : bool
    flat : int
        Number of directions in which the objective does not change: systems that say the same.
    infimum : float, optional
        What steeper and steeper maps come down to, if that is known to be less than the objective. There is no best
        map then, and what was found is a local optimum.
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
        """What became of the search, in words."""
        if self.infimum is not None:
            return (
                f"a local optimum, of {self.objective:.6g}: steeper and steeper maps come down to {self.infimum:.6g}, "
                "so that the best scale is infinite. The rule has alpha or beta above 1, and gives some errors up for "
                "the sake of the other trials; take one with both at most 1, or more trials"
            )
        if not self.converged:
            return (
                f"not converged after {self.n_passes} passes: the gradient is {self.gradient_norm:.1e} long. Likely "
                "causes are scores that hardly overlap, systems that are nearly the same, or extreme outliers; a "
                "penalty (ridge) helps against all of them"
            )
        words = f"converged in {self.n_steps} steps, gradient {self.gradient_norm:.1e}"
        if self.flat:
            which = "one weight is" if self.flat == 1 else f"{self.flat} weights are"
            words += (
                f"; {which} not determined, because systems say the same or always the same: of all that fit equally "
                "well, these are the smallest"
            )
        return words


INFORMATIVE = 12
"""One of so many trials is in the second sample, if memory allows: those that pull most at the first optimum."""

_SAMPLE_BYTES = 2.0
"""Memory of both samples together, per trial of all."""

LARGE = 1 << 16
"""Trials from which on it pays to come close with float32 before the passes that count."""

ROUGH = (1e-3, 1e-5)
"""How precise, relative to its value, the optima of the first and the second sample must be."""

_CLOSE = 3e-6
"""The same for all trials in float32: the next step leaves less than a thousandth of what is missing."""

_BINNED = 1e-8
"""The same for bins."""

_LAST = 1e-9
"""The same for the rows of a large matrix in the end: what the last step leaves is a thousandth of a thousandth."""

_SAME = 1e-6
"""Values that differ by less than this, relative to that of llr 0, belong to the same minimum."""

_NEAR = 4.0
"""Widths of the bulk of scores beyond which they are outliers to a rule that does not punish them without limit."""

_UNCERTAIN = 1e-4
"""Curvature, relative to the largest, below which float32 does not tell much of it."""


SearchOptions = Callable[[Any, float], dict[str, Any]]
"""How to minimize a function to a precision; see `search_options`."""

Starts = Callable[[Any, FloatArray], list[FloatArray]]
"""Where to start on the first level, for functions with several minima."""


def descend(objective: LinearObjective, few: Trials) -> Minimum:
    """Minimize on samples first, then on all trials."""
    given: Any = objective.trials
    if isinstance(given, TrialsInParts):
        return _descend_in_parts(objective, few)
    trials, n = objective.trials, len(objective.trials)
    rough = replace(objective, dtype=np.float32 if _fits_float32(objective) else np.float64)
    way = Way(np.zeros(objective.n_parameters), starts=_starts)
    if few is not trials:
        way.follow(replace(rough, trials=few), ROUGH[0])
    if n < LARGE:
        return way.settle(objective, PRECISE, way.follow(objective, PRECISE))
    if len(trials.columns) == 1 and trials.base is None and trials.weights is None:
        bins, glance = binned(objective, few), None
        if bins is not None:
            glance = replace(objective, trials=bins, center=np.zeros(1), width=np.ones(1))
            way.follow(glance, _BINNED)
        return way.settle(objective, PRECISE, way.follow(objective, PRECISE), glance)
    row = 4 * len(trials.columns)
    size = max(2 * SAMPLE, min(n // INFORMATIVE, int((n * _SAMPLE_BYTES - len(few) * row) / (row + 9))))
    precise = PRECISE if trials.matrix is None else _LAST
    return way.settle(objective, precise, way.through_all(objective, rough, few, size, precise), rough)


def _descend_in_parts(objective: LinearObjective, few: Trials) -> Minimum:
    """Minimize on the sample of trials in parts, as if there were no others, and then on all: a pass for every step."""
    near = descend(replace(objective, trials=few), sample(few, SAMPLE))
    way = Way(near.best)
    found = way.follow(objective, PRECISE)
    return replace(found, n_steps=found.n_steps + near.n_steps)


def search_options(level: Any, precise: float) -> dict[str, Any]:
    """Arguments of `minimize`: as precise as the type of a level allows, to the minimum or a proof that there is none.

    Second derivatives are used again where they cost more than next to nothing.
    """
    return {
        "reuse": level.trials.size >= LARGE and precise not in ROUGH,
        "precise": precise,
        "rounding": ROUNDING if level.dtype is np.float64 else 1e-6,
        "stop": level.has_no_minimum,
        "limit": level.value_at_zero + _SAME,
        "radius": max(4.0, math.sqrt(level.n_parameters)),
    }


def _fits_float32(objective: LinearObjective) -> bool:
    """Whether costs stay within float32; weights of trials may be of any size."""
    weights = np.abs(objective.trials.class_weights)
    moderate = np.all((weights > 1e-30) & (weights < 1e30)) and abs(objective.log_odds) < 80.0
    return objective.trials.weights is None and bool(moderate)


def _is_well_known(near: Minimum) -> bool:
    """Whether second derivatives of float32 tell all directions from flat ones."""
    eigenvalues = np.linalg.eigvalsh(near.at.hessian)
    return bool(eigenvalues[0] > _UNCERTAIN * eigenvalues[-1])


class Way:
    """How far a search has come through levels: samples, rough looks at all trials, and all trials.

    Attributes
    ----------
    point : (n_parameters,) array
        The last optimum.
    last : (n_parameters,) array
        Where the last search ended, if only by finding that its sample is separated.
    rivals : list of (n_parameters,) arrays
        Where the first search began, if there was a choice.
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
        """Minimize one more function, from the last optimum on, which is where the minimum ``after`` led."""
        starts = self._starts(level, self.point) if self._is_fresh and self._starts else [self.point]
        self.rivals = self.rivals or (starts if len(starts) > 1 else [])
        known = after if after is not None and after.converged and _is_well_known(after) else None
        options = self._search_options(level, precise)
        results = [minimize(level, start, after=known, **options) for start in starts]
        found = min(results, key=lambda result: result.at.value)
        self._n_steps += found.n_steps
        self.last = found.point
        if found.converged:
            self.point = self.last = found.polished
            self._is_fresh = False
        return replace(found, n_steps=self._n_steps)

    def through_all(self, objective: Any, rough: Any, few: Any, size: int, precise: float) -> Minimum:
        """Minimize on a second sample, of ``size`` trials that matter, then on all in float32, then in full precision.

        ``few`` is the first sample. Second derivatives of the second one are good enough for all trials. There is no
        sample where all trials are too few for one.
        """
        some = None if few is rough.trials else informative(rough, self.last, few, size)
        near = None
        if some is not None:
            near = self.follow(replace(rough, trials=some), ROUGH[1])
            near = replace(near, decrement=np.inf)  # of another function
            del some  # its memory is wanted for the next level
        near = self.follow(rough, _CLOSE, after=near)
        return self.follow(objective, precise, after=near)

    def settle(self, level: Any, precise: float, found: Minimum, glance: Any = None) -> Minimum:
        """Search all trials again from where the first sample did not lead, if that is better for them.

        What a sample of a rule that is not convex takes for its best minimum need not be that of all trials. A
        ``glance`` tells it for less.
        """
        for rival in self.rivals[:2]:
            there = (glance or level)(rival, found.at.hessian)
            if math.isfinite(there.value) and there.value < found.at.value * (1.0 - _SAME):
                other = minimize(level, rival, **self._search_options(level, precise))
                found = min(found, other, key=lambda result: result.at.value)
        return replace(found, n_steps=self._n_steps)


def _starts(level: LinearObjective, point: FloatArray) -> list[FloatArray]:
    """Where to start: for other rules at the optimum of the logarithmic one, and twice and half as steep as that."""
    if level.alpha == level.beta == 1.0:
        return [point]
    log_rule = replace(level, alpha=1.0, beta=1.0, constant=0.0)
    found = minimize(log_rule, point, **search_options(log_rule, ROUGH[0]))
    if log_rule.is_apart(found.at) or level.is_convex:
        return [found.point]
    near = replace(log_rule, trials=clipped(level.trials, *quartiles(level.trials), at=_NEAR))
    # A few outliers spoil the logarithmic rule, but not these.
    of_bulk = minimize(near, point, **search_options(near, ROUGH[0]))
    shift = np.append(np.zeros(len(level.center)), np.full(int(level.intercept), level.log_odds))
    return [found.point, of_bulk.point, *((found.point + shift) * factor - shift for factor in (2.0, 0.5))]


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
    alpha: float,
    beta: float,
    log_odds: float,
    ridge: float = 0.0,
    *,
    intercept: bool = True,
    called: Callable[[Sequence[int]], str] | None = None,
) -> LinearFit:
    """`train` on trials, in memory or in parts, that have no class weights yet.

    Parameters
    ----------
    called : function, optional
        Gives the names of columns. With it, weights are refused that turn infinite scores into their contrary.
    """
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
    if called is not None and np.any(raw <= 0.0):
        _require_positive(raw, given.infinite_columns(), called)
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


def _require_positive(weights: FloatArray, infinite: Sequence[bool], called: Callable[[Sequence[int]], str]) -> None:
    """Refuse weights that turn infinite scores into their contrary."""
    for k in np.flatnonzero((weights <= 0.0) & np.array(infinite)).tolist():
        raise InputError(
            f"scores: the best weight of {called([k])} is {weights[k]:.3g}, but some of its scores are infinite: they "
            "would be taken for certainty of the wrong class. Negate the scores if larger ones favour non-target, or "
            "make infinite ones finite."
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
