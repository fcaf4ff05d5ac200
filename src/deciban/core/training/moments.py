"""Samples of trials, and centres and widths of scores, with which the search for an optimum starts.

The optimum of a sample is close to that of all trials, for a fraction of the work; its class weights, or the weights of
its trials, make it stand for all. Parameters are of comparable size if scores are standardized.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from deciban._validate.arrays import all_finite, refuse_trials
from deciban.core.training.batches import TrialsInParts
from deciban.core.training.linear_objective import LinearObjective, MatrixBlock, Trials
from deciban.core.training.multiclass_objective import ClassTrials
from deciban.core.training.sums import Ends, Sums, mixed_variance
from deciban.errors import InputError
from deciban.types import AnyArray, BoolArray, FloatArray, IntArray

AnyTrials = TypeVar("AnyTrials", Trials, TrialsInParts)

_BLOCK = 1 << 15

_LEAST_SQUARE = 1e-200
"""Squares below this may have lost digits."""

_ROUNDING = 4.0
"""Range of a column, in units of the rounding of its largest number, that tells of nothing but rounding."""


def moments(trials: Trials | TrialsInParts) -> tuple[FloatArray, FloatArray]:
    """Prior-weighted mean and standard deviation of each column, right for any magnitude.

    With ``p`` the prior of the objective, the mean is ``p mean_tar + (1 - p) mean_non``, and the variance is that of
    the same mixture of both classes; proportions of the data do not enter.

    Returns
    -------
    center, width : (n_columns,) arrays
        A width of 0 is that of a column that is constant, but for rounding.
    """
    if not trials.n_columns:
        return np.zeros(0), np.zeros(0)
    low, high = ranges(trials)
    # Relative to the range nothing can overflow or underflow, and a common shift takes no digits.
    is_constant = are_same(low, high, _precision(trials))
    middle, size = 0.5 * low + 0.5 * high, np.where(is_constant, 0.0, 0.5 * high - 0.5 * low)
    unit = np.where(size > 0.0, size, 1.0)
    center = middle + size * _means(trials, middle, unit, power=1)
    return center, size * np.sqrt(_means(trials, center, unit, power=2))


def widths(trials: Trials | TrialsInParts) -> FloatArray:
    """Return the widths of `moments`; of trials in parts, without another pass over them if numbers allow it."""
    if isinstance(trials, TrialsInParts) and trials.n_columns:
        is_constant = are_same(*ranges(trials), _precision(trials))
        variance = mixed_variance(trials.first.deviations, trials.class_weights)
        if np.all(is_constant | (np.isfinite(variance) & (variance > _LEAST_SQUARE))):
            return np.where(is_constant, 0.0, np.sqrt(variance))
    return moments(trials)[1]


def _precision(trials: Trials | TrialsInParts) -> FloatArray:
    """Unit of rounding of the numbers of each column, relative to them."""
    return np.array([np.finfo(kind).eps for kind in trials.kinds], np.float64)


def are_same(low: Any, high: Any, precision: Any) -> BoolArray:
    """Whether finite numbers from ``low`` to ``high`` are all the same but for rounding, as 0.3 and 0.1 + 0.2 are.

    ``precision`` is the unit of rounding of their type, relative to them.
    """
    return np.asarray(0.5 * high - 0.5 * low <= 0.5 * _ROUNDING * precision * np.maximum(np.abs(low), np.abs(high)))


def equal_classes(trials: AnyTrials) -> AnyTrials:
    """The trials at prior 0.5."""
    n_non, n_tar = trials.amounts
    return replace(trials, class_weights=(0.5 / n_non, 0.5 / n_tar))


def quartiles(trials: Trials) -> tuple[FloatArray, FloatArray]:
    """Middle and half length of the range of each column that holds the middle half of either class.

    Unlike `moments` they tell nothing of the extremes. A width of 0 is that of a column of one or two values.
    """
    center, width = np.zeros((2, len(trials.columns)))
    for k, column in enumerate(trials.columns):
        values = np.asarray(column[:], np.float64)
        ends = [_middle(np.sort(values[rows])) for rows in (~trials.is_target, trials.is_target)]
        low, high = np.min(ends), np.max(ends)
        if low == high:  # so many ties that only the values tell of a range
            low, high = _middle(np.unique(values))
        center[k], width[k] = low + (0.5 * high - 0.5 * low), 0.5 * high - 0.5 * low
    return center, width


def _middle(ordered: FloatArray) -> tuple[float, float]:
    """Ends of the middle half of numbers in order."""
    n = len(ordered)
    return float(ordered[n // 4]), float(ordered[(3 * n - 1) // 4])


def reaches(trials: Trials | TrialsInParts, limit: FloatArray) -> BoolArray:
    """Whether half the distance between the lowest and the highest score of each column is beyond a limit."""
    if trials.reach <= np.min(limit, initial=np.inf):
        return np.zeros(len(limit), np.bool_)
    low, high = ranges(trials)
    return np.asarray(0.5 * high - 0.5 * low > limit)


def clipped(trials: Trials, center: FloatArray, width: FloatArray, *, at: float = 50.0) -> Trials:
    """The trials with far scores drawn near, to so many widths, where there is a width."""
    with np.errstate(over="ignore"):  # what is beyond all floats is beyond all scores
        reach = np.where(width > 0.0, at * width, np.inf)
        low, high = center - reach, center + reach
    near = tuple(np.clip(column[:], *ends) for column, *ends in zip(trials.columns, low, high, strict=True))
    return replace(trials, columns=near, matrix=None)


def _blocks(trials: Trials) -> Iterator[tuple[slice, FloatArray]]:
    """Some trials at a time, and their scores (n_columns, n)."""
    size = max(_BLOCK // max(len(trials.columns), 1), 1)
    for i in range(0, len(trials), size):
        rows = slice(i, i + size)
        yield rows, np.array([column[rows] for column in trials.columns], np.float64)


def ranges(trials: Trials | TrialsInParts) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest score of each column."""
    if isinstance(trials, TrialsInParts):
        return trials.first.ends.low, trials.first.ends.high
    ends = [(values.min(axis=1), values.max(axis=1)) for _, values in _blocks(trials)]
    return np.min([low for low, _ in ends], axis=0), np.max([high for _, high in ends], axis=0)


def _means(trials: Trials | TrialsInParts, middle: FloatArray, size: FloatArray, *, power: int) -> FloatArray:
    """Mixture mean of a power of ``(s - middle) / size`` of each column."""
    total = trials.each(partial(_powers, middle, size, power)).total
    return np.asarray(total[:-1] / total[-1])


def _powers(middle: FloatArray, size: FloatArray, power: int, trials: Trials) -> Sums:
    """Sum up powers of ``(s - middle) / size`` of each column; and how much trials count."""
    total, amount = np.zeros(len(middle)), 0.0
    non, tar = trials.class_weights
    for rows, values in _blocks(trials):
        weight = np.where(trials.is_target[rows], tar, non)
        if trials.weights is not None:
            weight = weight * trials.weights[rows]
        with np.errstate(over="ignore", invalid="ignore"):  # a width that does not fit a float is refused
            apart = (values - middle[:, None]) / size[:, None]
            total += apart**power @ weight
        amount += float(weight.sum())
    return Sums.of(np.append(total, amount))


_CLASS_BLOCK = 1 << 12

_CLASS_CELLS = 1 << 17


def standardization(trials: Any) -> tuple[FloatArray, FloatArray]:
    """Center of each system's classes, and width: the root of the mean variance of pairwise log-likelihood ratios.

    Of `ClassTrials`, or of `ClassTrialsInParts`, which are looked at three times.

    The width of a system that gives the same scores in all trials, but for rounding, is 0.

    Raises
    ------
    InputError
        If a width does not fit a float.
    """
    n_classes = len(trials.class_weights)
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.maximum(trials.each(_sizes).high, 0.0)
        moving = np.where(size > 0.0, size, 1.0)
        mean = _class_means(trials, moving, None)
        variance = _class_means(trials, moving, mean).sum(axis=1) / (n_classes - 1)
        width = np.where(trials.alike, 0.0, size * np.sqrt(2.0 * variance))
    if not np.isfinite(width).all():
        raise InputError("loglik: their range does not fit a float. Divide them first.")
    return np.asarray(size[:, None] * mean), np.asarray(width)


def widths_near(trials: Any, few: ClassTrials) -> FloatArray:
    """Return the widths of `standardization` after one look at the trials; a sample tells nearly where they lie."""
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
    """Add up what ``sums`` finds of each system in blocks of its scores, in units of its size, and their weights."""
    systems = enumerate(size)
    found = [[sums(k, scores / unit, weight) for scores, weight in _compared(trials, k)] for k, unit in systems]
    return Sums.of(np.concatenate([np.sum(parts, axis=0) for parts in found]))


def _from_near(size: FloatArray, mean: FloatArray, trials: ClassTrials) -> Sums:
    """Sum up deviations from near means, squares of these, and how much trials count."""

    def sums(k: int, values: FloatArray, weight: FloatArray) -> FloatArray:
        values -= mean[k]
        values -= values.mean(axis=1, keepdims=True)
        return np.array([*(weight @ values), weight @ (values * values).sum(axis=1), weight.sum()])

    return _summed(size, trials, sums)


def _sizes(trials: ClassTrials) -> Ends:
    """A look at trials that finds how far the scores of each system are apart, at most."""
    systems = range(trials.n_systems)
    return Ends.up_to([max(float(np.max(np.abs(scores))) for scores, _ in _compared(trials, k)) for k in systems])


def _class_means(trials: ClassTrials, size: FloatArray, mean: FloatArray | None) -> FloatArray:
    """Prior-weighted means of the scores of each system and class, or of squares of their deviation within a trial."""
    total = trials.each(partial(_class_powers, size, mean)).total.reshape(len(size), -1)
    return np.asarray(total[:, :-1] / total[:, -1:])


def _class_powers(size: FloatArray, mean: FloatArray | None, trials: ClassTrials) -> Sums:
    """Sum up scores of each system, or squares of their deviation within a trial; and how much trials count."""

    def sums(k: int, values: FloatArray, weight: FloatArray) -> FloatArray:
        if mean is not None:
            values -= mean[k]
            values -= values.mean(axis=1, keepdims=True)
            values *= values
        return np.append(weight @ values, weight.sum())

    return _summed(size, trials, sums)


def _class_blocks(trials: ClassTrials) -> Iterator[slice]:
    """Some trials at a time: so few that their scores for many classes stay in cache."""
    n_classes = trials.systems.shape[2]
    size = min(_CLASS_BLOCK, max(_CLASS_CELLS // n_classes, 64))
    for i in range(0, len(trials), size):
        yield slice(i, i + size)


def _compared(trials: ClassTrials, k: int) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Blocks of scores of a system against the largest of each trial, 0 for what is -inf, and weights of trials."""
    for rows in _class_blocks(trials):
        scores = np.array(trials.systems[rows, k], np.float64)
        scores -= scores.max(axis=1, keepdims=True)
        scores[scores == -np.inf] = 0.0
        yield scores, trials.weight(rows)


def require_scales(scales: FloatArray, name: str) -> None:
    """Refuse scales that do not fit a float; ``name`` is what the user calls the scores.

    Raises
    ------
    InputError
        If there are such.
    """
    if not np.isfinite(scales).all():
        raise InputError(f"{name}: so close together that their scale does not fit a float. Multiply them first.")


def overflown(given: AnyArray, mapped: AnyArray) -> BoolArray:
    """Trials (n_trials, ...) of which a map turned a finite number into an infinite one, or into none.

    Parameters
    ----------
    given, mapped : (n_trials, ..., n_classes) arrays
    """
    if all_finite(mapped):
        return np.zeros(mapped.shape[:-1], np.bool_)
    return np.asarray((np.isfinite(given) & ~np.isfinite(mapped)).any(axis=-1))


def refuse_overflow(far: BoolArray) -> None:
    """Refuse trials that are `overflown`: an infinite log-likelihood is certainty, which finite ones never are.

    Raises
    ------
    TrialError
        If there are such.
    """
    words = (
        f"loglik: {{n}} of {len(far)} trials have finite log-likelihoods that the scales of this model make too large "
        "for a float, the first "
    )
    refuse_trials(far, words, ". Were those of training in another unit?")


_FAR = 1e3
"""Times the spread of most trials that make a width one of few."""

_NEAR = 50.0
"""Spreads of most trials to which far scores are drawn near."""


def spreads(trials: ClassTrials) -> FloatArray:
    """The range of the scores of most trials in each system, (n_systems,)."""
    found = np.empty(trials.systems.shape[:2])
    for rows in _class_blocks(trials):
        systems = np.asarray(trials.systems[rows], np.float64)
        low = np.min(systems, axis=2, where=systems > -np.inf, initial=np.inf)
        with np.errstate(over="ignore"):
            found[rows] = systems.max(axis=2) - low
    return np.asarray(np.quantile(found, 0.75, axis=0, method="higher"))


def typical_spreads(spread: FloatArray, width: FloatArray) -> FloatArray:
    """The spread of most trials in each system whose width is that of a few; ``width`` in all others."""
    with np.errstate(over="ignore"):
        return np.where((spread > 0.0) & (width > _FAR * spread), spread, width)


def drawn_near(trials: ClassTrials, spread: FloatArray) -> ClassTrials:
    """The trials with far scores drawn near; -inf stays what it is."""
    systems = np.asarray(trials.systems, np.float64)
    with np.errstate(over="ignore"):
        systems = systems - systems.max(axis=2, keepdims=True)
        floor = -_NEAR * np.where(spread > 0.0, spread, np.inf)[:, None]
    return replace(trials, systems=np.where(np.isneginf(systems), systems, np.maximum(systems, floor)))


SAMPLE = 1 << 13
"""Trials of the first sample; there is one if there are many times as many."""

_BINNED_AT_ONCE = 1 << 15

_BINS = 1 << 14
"""Bins of one score: each is then so narrow that what is lost within it moves the optimum by about 1e-6 or less."""


_GLANCE = 1 << 10
"""Trials that show the order of magnitude."""

_GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)

_LARGEST = {np.float64: 1e150, np.float32: 1e18}
"""Factors beyond this, or below its inverse, could make products with slopes infinite or 0."""

_EVEN = 0.1
"""Share of a sample that is drawn evenly."""


def sample(trials: Trials | TrialsInParts, size: int) -> Trials:
    """About ``size`` trials, evenly spread, with at least a fifth of them from each class if there are so many.

    Of trials in parts there is one sample, which was drawn at the first look.
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
            found = np.flatnonzero(rare)
            rows = np.concatenate((rows[~rare[rows]], found[:: max(len(found) // share, 1)]))
    some = trials.take(rows)
    if min(some.amounts) == 0.0:
        return trials
    shares = zip(trials.class_weights, trials.amounts, some.amounts, strict=True)
    non, tar = (weight * all_of_them / drawn for weight, all_of_them, drawn in shares)
    return replace(some, class_weights=(non, tar))


def shortened(few: Trials, level: LinearObjective) -> Trials:
    """A sample whose matrix is float32, if that is precise enough for a rough look."""
    if few.matrix is None or not level.suits_rows:
        return few
    matrix = few.matrix.astype(np.float32)
    return replace(few, columns=tuple(matrix.T), matrix=matrix)


def thinned(few: Trials) -> Trials:
    """A sample of a sample, for a rough look."""
    rows = slice(None, None, max(len(few) // _GLANCE, 1))
    is_target = few.is_target[rows]
    return few.take(rows) if is_target.any() and not is_target.all() else few


def informative(level: Any, point: FloatArray, few: Any, size: int) -> Any:
    """Return about ``size`` trials, more often those that pull at the parameters of ``point``, with weights to match.

    A trial comes with a probability in proportion to the size of its slope, and a tenth of the sample comes evenly so
    that no weight becomes large. Good recognizers have few trials that matter: such a sample tells as much as an even
    one of a hundred times its size.

    Parameters
    ----------
    level : LinearObjective or ClassObjective
        All trials.
    point : (n_parameters,) array
        Parameters close to the optimum.
    few : Trials or ClassTrials
        An even sample, which tells how steep slopes are.
    size : int

    Returns
    -------
    Trials, ClassTrials or None
        None if the sample told so little that far more trials would come.
    """
    trials, n = level.trials, len(level.trials)
    factor, limit = _factor(level, point, few, size), _LARGEST[level.dtype]
    if not 1.0 / limit < factor < limit:
        return None
    capacity, count = size + size // 10, 0
    rows: AnyArray = np.empty(capacity, np.int32 if n < 1 << 31 else np.int64)
    weights: AnyArray = np.empty(capacity, level.dtype)
    is_raw = isinstance(level, LinearObjective) and level.trials.matrix is not None and level.suits_rows
    matrix = np.empty((capacity, trials.matrix.shape[1]), level.dtype) if is_raw else None
    blocks = level.blocks(share=0.4)  # the sample needs memory, too
    even = _EVEN * size / n
    # Multiples of the golden ratio spread evenly over [0, 1), and so does any run of them. A trial comes if its
    # probability is above; that is, if its slope is above what has this probability.
    threshold = np.modf(np.arange(1, blocks[0].stop + 1) * _GOLDEN)[0].astype(level.dtype)
    threshold -= even
    threshold /= factor
    for block in blocks:
        slopes, scores = level.slopes(point, block)
        found = np.flatnonzero(slopes > threshold[: len(slopes)])
        if count + len(found) > capacity:
            return None
        new = slice(count, count := count + len(found))
        rows[new] = found + block.start
        np.divide(1.0, np.minimum(factor * slopes[found] + even, 1.0), out=weights[new])
        if matrix is not None and isinstance(scores, MatrixBlock):
            matrix[new] = scores.rows[found]  # while they are at hand, and as short as a matrix of them should be
        del slopes, scores  # before the next ones come
    rows, weights = rows[:count], weights[:count]
    if trials.weights is not None:
        weights *= trials.weights[rows]
    if matrix is None:
        return replace(trials.take(rows), weights=weights)
    matrix = matrix[:count]
    base = None if trials.base is None else np.asarray(trials.base[rows])
    return Trials(tuple(matrix.T), trials.is_target[rows], trials.class_weights, weights, base, matrix)


def _factor(level: Any, point: FloatArray, few: Any, size: int) -> float:
    """What makes probabilities of slopes, so that about ``size`` trials come; some of them come for certain."""
    slopes = replace(level, trials=few).slopes(point, slice(None))[0].astype(np.float64)
    copies = level.trials.stand_ins(few)
    with np.errstate(all="ignore"):
        factor = size / slopes.sum()
        for _ in range(10):
            expected = float((copies * np.minimum(factor * slopes / copies, 1.0)).sum())
            factor *= (1.0 - _EVEN) * size / expected
    return float(factor)


def binned(objective: LinearObjective, few: Trials) -> Trials | None:
    """One trial for each class and bin of the only score, with the mean of its trials, counting like all of them.

    The optimum of these is close to that of all trials: only the squares of the distances within a bin are lost. Bins
    span the scores of a sample, standardized, as are the scores that are returned; None if they do not fit a float.
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
