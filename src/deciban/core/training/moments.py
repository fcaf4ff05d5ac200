"""Samples of trials, properties of multiclass trials, and centers and widths of scores for the start of the search.

The optimum of a sample is close to the optimum of all trials, for a fraction of the work. Class weights, or weights of
trials, make the sample represent all trials. Standardized scores give parameters of comparable size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np

from deciban._validate.arrays import all_finite, refuse_trials
from deciban.core.class_counts import ordered_by_class
from deciban.core.training.batches import ClassTrialsInParts, TrialsInParts
from deciban.core.training.linear_objective import LinearObjective, MatrixBlock, TrainingTrials
from deciban.core.training.multiclass_objective import ClassTrials, LeadBlock
from deciban.core.training.sums import Ends, Sums, length_bound, mixed_variance
from deciban.errors import InputError
from deciban.types import AnyArray, BoolArray, FloatArray, FloatPair, IntArray

AnyTrials = TypeVar("AnyTrials", TrainingTrials, TrialsInParts)

_BLOCK = 1 << 15

_LEAST_SQUARE = 1e-200
"""Squares below this may have lost digits."""

_ROUNDING = 4.0
"""Range of a column, in units of the rounding of its largest number, that rounding alone may cause."""


def moments(trials: TrainingTrials | TrialsInParts) -> FloatPair:
    """Return the prior-weighted mean and standard deviation of each column, accurate for any magnitude.

    With ``p`` the prior of the objective, the mean is ``p mean_tar + (1 - p) mean_non``, and the variance is the
    variance of the same mixture. The class proportions of the data do not matter.
    the same mixture of both classes; proportions of the data do not enter.

    Returns
    -------
    center, width : (n_columns,) arrays
        The width is 0 for a column that is constant up to rounding.
    """
    if not trials.n_columns:
        return np.zeros(0), np.zeros(0)
    low, high = ranges(trials)
    # Relative to the range nothing overflows or underflows, and a common shift loses no digits.
    is_constant = are_same(low, high, _precision(trials))
    middle, size = 0.5 * low + 0.5 * high, np.where(is_constant, 0.0, 0.5 * high - 0.5 * low)
    unit = np.where(size > 0.0, size, 1.0)
    center = middle + size * _means(trials, middle, unit, power=1)
    return center, size * np.sqrt(_means(trials, center, unit, power=2))


def widths(trials: TrainingTrials | TrialsInParts) -> FloatArray:
    """Return the widths of `moments`; in batches, without another pass if precision allows it."""
    if isinstance(trials, TrialsInParts) and trials.n_columns:
        is_constant = are_same(*ranges(trials), _precision(trials))
        variance = mixed_variance(trials.first.deviations, trials.class_weights)
        if np.all(is_constant | (np.isfinite(variance) & (variance > _LEAST_SQUARE))):
            return np.where(is_constant, 0.0, np.sqrt(variance))
    return moments(trials)[1]


def _precision(trials: TrainingTrials | TrialsInParts) -> FloatArray:
    """Return the relative rounding unit of the numbers of each column."""
    return np.array([np.finfo(kind).eps for kind in trials.kinds], np.float64)


def are_same(low: FloatArray, high: FloatArray, precision: FloatArray | np.float64 | np.float32) -> BoolArray:
    """Return True if finite numbers from ``low`` to ``high`` are equal up to rounding, as 0.3 and 0.1 + 0.2 are.

    ``precision`` is the relative rounding unit of their type.
    """
    return np.asarray(0.5 * high - 0.5 * low <= 0.5 * _ROUNDING * precision * np.maximum(np.abs(low), np.abs(high)))


def equal_classes(trials: AnyTrials) -> AnyTrials:
    """Return the trials at prior 0.5."""
    n_non, n_tar = trials.amounts
    return replace(trials, class_weights=(0.5 / n_non, 0.5 / n_tar))


def quartiles(trials: TrainingTrials) -> FloatPair:
    """Return middle and half the length of the range of each column that contains the middle half of either class.

    Unlike `moments`, they do not depend on extremes. The width is 0 for a column of one or two values.
    """
    center, width = np.zeros((2, len(trials.columns)))
    for k, column in enumerate(trials.columns):
        values = np.asarray(column[:], np.float64)
        ends = [_middle(np.sort(values[rows])) for rows in (~trials.is_target, trials.is_target)]
        low, high = np.min(ends), np.max(ends)
        if low == high:  # many ties: use the range of the distinct values
            low, high = _middle(np.unique(values))
        center[k], width[k] = low + (0.5 * high - 0.5 * low), 0.5 * high - 0.5 * low
    return center, width


def _middle(ordered: FloatArray) -> tuple[float, float]:
    """Return the ends of the middle half of sorted numbers."""
    n = len(ordered)
    return float(ordered[n // 4]), float(ordered[(3 * n - 1) // 4])


def reaches(trials: TrainingTrials | TrialsInParts, limit: FloatArray) -> BoolArray:
    """Return True for columns in which half the range of the scores is beyond a limit."""
    if trials.reach <= np.min(limit, initial=np.inf):
        return np.zeros(len(limit), np.bool_)
    low, high = ranges(trials)
    return np.asarray(0.5 * high - 0.5 * low > limit)


def clipped(trials: TrainingTrials, center: FloatArray, width: FloatArray, *, at: float = 50.0) -> TrainingTrials:
    """Clip scores of columns with a positive width to ``at`` widths from the center."""
    with np.errstate(over="ignore"):  # an infinite limit clips nothing
        reach = np.where(width > 0.0, at * width, np.inf)
        low, high = center - reach, center + reach
    near = tuple(np.clip(column[:], *ends) for column, *ends in zip(trials.columns, low, high, strict=True))
    return replace(trials, columns=near, matrix=None)


def _blocks(trials: TrainingTrials) -> Iterator[tuple[slice, FloatArray]]:
    """Yield blocks of trials and their scores (n_columns, n)."""
    size = max(_BLOCK // max(len(trials.columns), 1), 1)
    for i in range(0, len(trials), size):
        rows = slice(i, i + size)
        yield rows, np.array([column[rows] for column in trials.columns], np.float64)


def ranges(trials: TrainingTrials | TrialsInParts) -> FloatPair:
    """Return the lowest and highest score of each column."""
    if isinstance(trials, TrialsInParts):
        return trials.first.ends.low, trials.first.ends.high
    ends = [(values.min(axis=1), values.max(axis=1)) for _, values in _blocks(trials)]
    return np.min([low for low, _ in ends], axis=0), np.max([high for _, high in ends], axis=0)


def _means(trials: TrainingTrials | TrialsInParts, middle: FloatArray, size: FloatArray, *, power: int) -> FloatArray:
    """Return the mixture mean of a power of ``(s - middle) / size`` of each column."""
    total = trials.each(partial(_powers, middle, size, power)).total
    return np.asarray(total[:-1] / total[-1])


def _powers(middle: FloatArray, size: FloatArray, power: int, trials: TrainingTrials) -> Sums:
    """Return sums of powers of ``(s - middle) / size`` of each column, and the number (or weight) of trials."""
    total, amount = np.zeros(len(middle)), 0.0
    non, tar = trials.class_weights
    for rows, values in _blocks(trials):
        weight = np.where(trials.is_target[rows], tar, non)
        if trials.weights is not None:
            weight = weight * trials.weights[rows]
        with np.errstate(over="ignore", invalid="ignore"):  # an infinite width is refused later
            apart = (values - middle[:, None]) / size[:, None]
            total += apart**power @ weight
        amount += float(weight.sum())
    return Sums.of(np.append(total, amount))


_CLASS_BLOCK = 1 << 12

_CLASS_CELLS = 1 << 17


def standardization(trials: Any) -> FloatPair:
    """Return the center of each system's classes, and its width.

    The width is the root of the mean variance of pairwise log-likelihood ratios; it is 0 for a system that gives all
    trials the same scores up to rounding. In batches, this takes three passes.

    Raises
    ------
    InputError
        If a width exceeds double precision.
    """
    n_classes = len(trials.class_weights)
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.maximum(trials.each(_sizes).high, 0.0)
        moving = np.where(size > 0.0, size, 1.0)
        mean = _class_means(trials, moving, None)
        variance = _class_means(trials, moving, mean).sum(axis=1) / (n_classes - 1)
        width = np.where(trials.alike, 0.0, size * np.sqrt(2.0 * variance))
    if not np.isfinite(width).all():
        raise InputError("loglik: their range exceeds double precision. Divide the scores by a constant first.")
    return np.asarray(size[:, None] * mean), np.asarray(width)


def widths_near(trials: Any, few: ClassTrials) -> FloatArray:
    """Return the widths of `standardization` in one pass, using approximate widths from a sample."""
    n_systems, n_classes = few.n_systems, len(few.class_weights)
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.maximum(few.each(_sizes).high, 0.0)
        size = np.where(size > 0.0, size, 1.0)
        total = trials.each(partial(_from_near, size, _class_means(few, size, None))).total.reshape(n_systems, -1)
        mean, square = total[:, :-2] / total[:, -1:], total[:, -2] / total[:, -1]
        variance = (square - (mean**2).sum(axis=1)) / (n_classes - 1)
        width = np.where(trials.alike, 0.0, size * np.sqrt(2.0 * np.maximum(variance, 0.0)))
    fits = trials.alike | (np.isfinite(width) & (variance > _LEAST_SQUARE))
    return np.asarray(width) if fits.all() else standardization(trials)[1]


def _summed(size: FloatArray, trials: ClassTrials, sums: Callable[[int, FloatArray, FloatArray], FloatArray]) -> Sums:
    """Add up ``sums`` over blocks of scores of each system, in units of its size, and the weights."""
    systems = enumerate(size)
    items = [[sums(k, scores / unit, weight) for scores, weight in _compared(trials, k)] for k, unit in systems]
    return Sums.of(np.concatenate([np.sum(parts, axis=0) for parts in items]))


def _from_near(size: FloatArray, mean: FloatArray, trials: ClassTrials) -> Sums:
    """Return sums of deviations from approximate means, of their squares, and of the weights of trials."""

    def sums(k: int, values: FloatArray, weight: FloatArray) -> FloatArray:
        values -= mean[k]
        values -= values.mean(axis=1, keepdims=True)
        return np.array([*(weight @ values), weight @ (values * values).sum(axis=1), weight.sum()])

    return _summed(size, trials, sums)


def _sizes(trials: ClassTrials) -> Ends:
    """Return the largest difference between scores of a trial, for each system."""
    systems = range(trials.n_systems)
    return Ends.up_to([max(float(np.max(np.abs(scores))) for scores, _ in _compared(trials, k)) for k in systems])


def _class_means(trials: ClassTrials, size: FloatArray, mean: FloatArray | None) -> FloatArray:
    """Return prior-weighted means of the scores of each system and class, or of their squared deviations in a trial."""
    total = trials.each(partial(_class_powers, size, mean)).total.reshape(len(size), -1)
    return np.asarray(total[:, :-1] / total[:, -1:])


def _class_powers(size: FloatArray, mean: FloatArray | None, trials: ClassTrials) -> Sums:
    """Return sums of the scores of each system, or of their squared deviations in a trial, and of the weights."""

    def sums(k: int, values: FloatArray, weight: FloatArray) -> FloatArray:
        if mean is not None:
            values -= mean[k]
            values -= values.mean(axis=1, keepdims=True)
            values *= values
        return np.append(weight @ values, weight.sum())

    return _summed(size, trials, sums)


def _class_blocks(trials: ClassTrials) -> Iterator[slice]:
    """Yield slices of trials that are small enough for their scores to stay in cache."""
    n_trials, _, n_classes = trials.systems.shape
    size = min(_CLASS_BLOCK, max(_CLASS_CELLS // n_classes, 64))
    for i in range(0, n_trials, size):
        yield slice(i, i + size)


def _compared(trials: ClassTrials, k: int) -> Iterator[FloatPair]:
    """Yield blocks of scores of a system minus the largest of each trial, 0 in place of -inf, and weights of trials."""
    for rows in _class_blocks(trials):
        scores = np.array(trials.systems[rows, k], np.float64)
        scores -= scores.max(axis=1, keepdims=True)
        scores[scores == -np.inf] = 0.0
        yield scores, trials.weight(rows)


def require_scales(scales: FloatArray, name: str) -> None:
    """Refuse scales beyond double precision; ``name`` is the user's name of the scores.

    Raises
    ------
    InputError
        If there are any.
    """
    if not np.isfinite(scales).all():
        raise InputError(
            f"{name}: scores differ so little that their scale exceeds double precision. Multiply them by a "
            "constant first."
        )


def overflown(values: AnyArray, mapped: AnyArray) -> BoolArray:
    """Return True for trials (n_trials, ...) in which a map turned a finite number into inf or NaN.

    Parameters
    ----------
    values, mapped : (n_trials, ..., n_classes) arrays
    """
    if all_finite(mapped):
        return np.zeros(mapped.shape[:-1], np.bool_)
    return np.asarray((np.isfinite(values) & ~np.isfinite(mapped)).any(axis=-1))


def refuse_overflow(far: BoolArray) -> None:
    """Refuse overflown trials, because an infinite log-likelihood means certainty.

    Raises
    ------
    TrialError
        If there are any.
    """
    words = (
        f"loglik: {{n}} of {len(far)} trials have finite log-likelihoods that exceed double precision after the scales "
        "of this model, the first "
    )
    refuse_trials(far, words, ". Were the training scores in another unit?")


_FAR = 1e3
"""Ratio of a width to the spread of most trials above which the width is due to few trials."""

_NEAR = 50.0
"""Distance, in spreads of most trials, to which far scores are clipped."""


def spreads(trials: ClassTrials) -> FloatArray:
    """Return the range of the scores of most trials in each system, (n_systems,)."""
    values = np.empty(trials.systems.shape[:2])
    for rows in _class_blocks(trials):
        systems = np.asarray(trials.systems[rows], np.float64)
        low = np.min(systems, axis=2, where=systems > -np.inf, initial=np.inf)
        with np.errstate(over="ignore"):
            values[rows] = systems.max(axis=2) - low
    return np.asarray(np.quantile(values, 0.75, axis=0, method="higher"))


def typical_spreads(spread: FloatArray, width: FloatArray) -> FloatArray:
    """Return the spread of most trials for systems whose width is due to few trials; ``width`` for the others."""
    with np.errstate(over="ignore"):
        return np.where((spread > 0.0) & (width > _FAR * spread), spread, width)


def drawn_near(trials: ClassTrials, spread: FloatArray) -> ClassTrials:
    """Clip far scores; -inf remains."""
    systems = np.asarray(trials.systems, np.float64)
    with np.errstate(over="ignore"):
        systems = systems - systems.max(axis=2, keepdims=True)
        floor = -_NEAR * np.where(spread > 0.0, spread, np.inf)[:, None]
    return replace(trials, systems=np.where(np.isneginf(systems), systems, np.maximum(systems, floor)))


SAMPLE = 1 << 13
"""Trials of the first sample, which exists if there are many times as many trials."""

_BINNED_AT_ONCE = 1 << 15

_BINS = 1 << 14
"""Number of bins of one score: the loss within bins moves the optimum by about 1e-6 or less."""


_GLANCE = 1 << 10
"""Number of trials for estimating the order of magnitude."""

_GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)

_LARGEST = {np.float64: 1e150, np.float32: 1e18}
"""Limit of factors: beyond it, or below its inverse, products with slopes could become infinite or 0."""

_EVEN = 0.1
"""Share of a sample that is drawn evenly."""


def sample(trials: TrainingTrials | TrialsInParts, size: int) -> TrainingTrials:
    """Return about ``size`` evenly spaced trials, with at least a fifth of them from each class, if available.

    Trials in batches have one sample, drawn in the first pass.
    """
    if isinstance(trials, TrialsInParts):
        return trials.few
    n, share = len(trials), size // 5
    if n < 4 * size:
        return trials
    rows: IntArray = np.arange(0, n, max(n // size, 1))
    n_tar = int(np.count_nonzero(trials.is_target[rows]))
    for few, rare in ((n_tar, trials.is_target), (len(rows) - n_tar, ~trials.is_target)):
        if few < share:
            indices = np.flatnonzero(rare)
            rows = np.concatenate((rows[~rare[rows]], indices[:: max(len(indices) // share, 1)]))
    some = trials.take(rows)
    if min(some.amounts) == 0.0:
        return trials
    shares = zip(trials.class_weights, trials.amounts, some.amounts, strict=True)
    non, tar = (weight * all_of_them / drawn for weight, all_of_them, drawn in shares)
    return replace(some, class_weights=(non, tar))


def shortened(few: TrainingTrials, level: LinearObjective) -> TrainingTrials:
    """Return a sample whose matrix is float32, if this is precise enough for an approximate search."""
    if few.matrix is None or not level.suits_rows:
        return few
    matrix = few.matrix.astype(np.float32)
    return replace(few, columns=tuple(matrix.T), matrix=matrix)


def thinned(few: TrainingTrials) -> TrainingTrials:
    """Return a subsample for an approximate search."""
    rows = slice(None, None, max(len(few) // _GLANCE, 1))
    is_target = few.is_target[rows]
    return few.take(rows) if is_target.any() and not is_target.all() else few


def informative(level: LinearObjective, point: FloatArray, few: TrainingTrials, size: int) -> TrainingTrials | None:
    """Return about ``size`` trials, preferably with steep slopes at ``point``, with weights to match.

    The probability of a trial is proportional to its slope. A tenth of the sample is drawn evenly, so that no weight
    becomes large. Good recognizers have few trials that matter: this sample is as informative as an even sample of a
    hundred times its size.

    Parameters
    ----------
    level : LinearObjective
        All trials.
    point : (n_parameters,) array
        Parameters close to the optimum.
    few : TrainingTrials
        An even sample, for estimating the distribution of slopes.
    size : int

    Returns
    -------
    TrainingTrials or None
        None if the sample was so uninformative that far more trials would be drawn.
    """
    trials, n = level.trials, len(level.trials)
    factor, limit = _factor(level, point, few, size), _LARGEST[level.dtype]
    if not 1.0 / limit < factor < limit:
        return None
    capacity, count = size + size // 10, 0
    rows: AnyArray = np.empty(capacity, np.int32 if n < 1 << 31 else np.int64)
    weights: AnyArray = np.empty(capacity, level.dtype)
    matrix = None
    if trials.matrix is not None and level.suits_rows:
        matrix = np.empty((capacity, trials.matrix.shape[1]), level.dtype)
    blocks = level.blocks(share=0.4)  # leaves memory for the sample
    even = _EVEN * size / n
    # Multiples of the golden ratio are evenly spread over [0, 1), and so is any run of them. A trial is drawn if its
    # probability is above the multiple, that is, if its slope is above the corresponding threshold.
    threshold: AnyArray = np.modf(np.arange(1, blocks[0].stop + 1) * _GOLDEN)[0].astype(level.dtype)
    threshold -= even
    threshold /= factor
    for block in blocks:
        slopes, scores = level.slopes(point, block)
        indices = np.flatnonzero(slopes > threshold[: len(slopes)])
        if count + len(indices) > capacity:
            return None
        new = slice(count, count := count + len(indices))
        rows[new] = indices + block.start
        np.divide(1.0, np.minimum(factor * slopes[indices] + even, 1.0), out=weights[new])
        if matrix is not None and isinstance(scores, MatrixBlock):
            matrix[new] = scores.rows[indices]  # copied while they are in memory, in the type of the sample
        del slopes, scores  # before the next block is loaded
    rows, weights = rows[:count], weights[:count]
    if trials.weights is not None:
        weights *= trials.weights[rows]
    if matrix is None:
        return replace(trials.take(rows), weights=weights)
    matrix = matrix[:count]
    base = None if trials.base is None else np.asarray(trials.base[rows])
    return TrainingTrials(tuple(matrix.T), trials.is_target[rows], trials.class_weights, weights, base, matrix)


def _factor(level: LinearObjective, point: FloatArray, few: TrainingTrials, size: int) -> float:
    """Return the factor of slopes that gives probabilities with about ``size`` expected trials; some are certain."""
    slopes = replace(level, trials=few).slopes(point, slice(None))[0].astype(np.float64)
    copies = level.trials.stand_ins(few)
    with np.errstate(all="ignore"):
        factor = size / slopes.sum()
        for _ in range(10):
            expected = float((copies * np.minimum(factor * slopes / copies, 1.0)).sum())
            factor *= (1.0 - _EVEN) * size / expected
    return float(factor)


def binned(objective: LinearObjective, few: TrainingTrials) -> TrainingTrials | None:
    """Return one trial for each class and bin of a single score: the mean of its trials, with their total weight.

    The optimum of the bins is close to the optimum of the trials: only squared distances within a bin are lost. Bins
    cover the standardized scores of a sample. The result is standardized, too; None if it exceeds double precision.
    """
    trials = objective.trials
    center, width = objective.center[0], objective.width[0]
    counts, sums = np.zeros(2 * _BINS, np.int64), np.zeros(2 * _BINS)
    with np.errstate(all="ignore"):
        ends = (np.array([np.min(few.columns[0][:]), np.max(few.columns[0][:])], np.float64) - center) / width
        low, per_unit = ends[0], _BINS / (ends[1] - ends[0])
        if not np.isfinite(per_unit):
            return None
        for i in range(0, len(trials), _BINNED_AT_ONCE):
            rows = slice(i, i + _BINNED_AT_ONCE)
            above = np.asarray(trials.columns[0][rows], np.float64) - center
            above /= width
            above -= low
            place = np.clip(above * per_unit, 0.0, _BINS - 1.0).astype(np.intp)
            place[trials.is_target[rows]] += _BINS
            counts += np.bincount(place, minlength=2 * _BINS)
            sums += np.bincount(place, above, minlength=2 * _BINS)
        full = np.flatnonzero(counts)
        means = low + sums[full] / counts[full]
    if not np.isfinite(means).all():
        return None
    return replace(
        trials, columns=(means,), is_target=full >= _BINS, weights=counts[full].astype(np.float64), matrix=None
    )


@dataclass(frozen=True, eq=False)
class Survey:
    """Training trials, with properties that are computed once for any number of maps.

    Attributes
    ----------
    trials : ClassTrials or ClassTrialsInParts
    scales : list of float
        Scales of the first system in the maps trained before; the search for a scale alone starts at the last one.
    """

    trials: Any
    scales: list[float] = field(default_factory=list)

    @cached_property
    def few(self) -> ClassTrials:
        """An even sample; all trials if there are few."""
        return sample_of_classes(self.trials)

    @cached_property
    def standard(self) -> FloatPair:
        """Center and width of each system, from a sample with equal classes.

        With the prior, the width could be tiny if one class is probable and its scores nearly constant.
        """
        center, width = standardization(_at_flat_prior(self.few))
        if self.few is self.trials or np.all(width > 0.0):
            return center, width
        # A system may be constant in a sample only.
        return standardization(_at_flat_prior(self.trials))

    @cached_property
    def center(self) -> FloatArray:
        """Center of each system, from a sample with class priors."""
        amounts = self.few.class_weights * self.few.amounts
        is_flat = np.ptp(amounts) <= _EQUAL * amounts.max()
        return self.standard[0] if is_flat else standardization(self.few)[0]

    @cached_property
    def leads(self) -> list[LeadBlock]:
        """The trials by class; empty if they are not in memory."""
        return self.trials.leads() if isinstance(self.trials, ClassTrials) else []

    def typical_spreads(self, width: FloatArray) -> FloatArray:
        """Return `typical_spreads` of a sample."""
        return typical_spreads(self._spreads, width)

    @cached_property
    def _spreads(self) -> FloatArray:
        return spreads(self.few)

    @cached_property
    def _length(self) -> float:
        trials = self.trials
        if isinstance(trials, ClassTrialsInParts):
            return trials.length
        return length_bound(trials.systems)

    def reach_in_widths(self, width: FloatArray) -> float:
        """Return an upper bound of all absolute scores, in units of the least width."""
        least = float(np.min(width[width > 0.0], initial=np.inf))
        return self._length / least if least < np.inf else np.inf


_EQUAL = 1e-14
"""Relative difference up to which priors of classes count as equal."""


def _at_flat_prior(trials: Any) -> Any:
    """Return the trials at the flat prior."""
    amounts = trials.amounts
    return replace(trials, class_weights=np.divide(1.0, amounts, out=np.zeros(len(amounts)), where=amounts > 0.0))


def sample_of_classes(trials: ClassTrials | ClassTrialsInParts) -> ClassTrials:
    """Return about ``SAMPLE`` evenly spaced trials of each kind, with as many of each class as possible.

    Trials in batches have one sample, drawn in the first pass.
    """
    if isinstance(trials, ClassTrialsInParts):
        return trials.few
    n, n_classes = len(trials), len(trials.class_weights)
    size = max(SAMPLE, 40 * n_classes)
    if n < 4 * size:
        return trials
    order = ordered_by_class(trials.label, n_classes)
    ends = np.cumsum(np.bincount(trials.label, minlength=n_classes))
    share = max(size // n_classes, 1)
    own = (order[begin:end] for begin, end in zip(np.append(0, ends[:-1]), ends, strict=True))
    few = trials.take(np.sort(np.concatenate([some[:: max(len(some) // share, 1)] for some in own])))
    everything, amounts = trials.amounts, few.amounts
    if np.any((amounts == 0.0) & (everything > 0.0)):
        return trials
    # Infinite scores may decide all trials of a class, so that none of them remain.
    stand_for = np.divide(everything, amounts, out=np.ones(n_classes), where=amounts > 0.0)
    return replace(few, class_weights=trials.class_weights * stand_for)
