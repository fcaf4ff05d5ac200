"""Integer count tables from two sets of scores: sort each class once, then merge.

Every rank-based metric (ROC, PAV, hull, EER, minimum costs, AUC) is a function of the counts of target and non-target
trials in ascending order of score. The score values matter only at the ends of blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deciban.core.ranks.loops import all_in_order, ready, sorts_slowly
from deciban.errors import InputError
from deciban.types import BoolArray, CountArray, FloatArray, FloatPair, IntArray, ScoreArray

_QUERIES_PER_SEARCH = 16384
"""Sorted queries are answered in batches of this size, each within one slice of the scores that stays in cache. This
was 4 times faster than one search of five million queries, and no slower for few queries."""

_ENTRIES_PER_STEP = 1 << 22
"""Limit of entries that are processed at once, to bound temporary memory."""

_GROUPS_PER_STEP = 32768
"""Groups per step of a sum over all groups: temporaries stay in cache."""

FEW = 1 << 10
"""Number of scores up to which NumPy takes no longer than the search for compiled loops."""

_LARGEST = 2.0**53
"""Limit up to which floats represent all whole numbers."""

_FINITE_FROM_TO = np.array([-np.finfo(np.float64).max, np.inf])


@dataclass(frozen=True, slots=True)
class SortedClass:
    """The scores of one class in ascending order; with weights, distinct scores, each with its total weight."""

    scores: ScoreArray
    weights: CountArray | None
    cumulated: CountArray | None
    """Weight of all entries before each position, one longer than ``scores``; None if every weight is 1."""

    @classmethod
    def of(cls, scores: ScoreArray, weights: CountArray | None = None) -> SortedClass:
        """Sort a copy of ``scores``; entries of weight 0 are dropped, and equal scores are combined."""
        if weights is None:
            return cls(_in_order([scores])[0], None, None)
        counting = weights > 0
        if not counting.all():
            scores, weights = scores[counting], weights[counting]
        scores, weights = ascending(scores, weights)
        if not len(scores):
            return cls(scores, weights, np.zeros(1, weights.dtype))
        is_new = np.append(True, scores[1:] != scores[:-1])
        if not is_new.all():
            scores, weights = scores[is_new], np.add.reduceat(weights, np.flatnonzero(is_new))
        return cls(scores, weights, np.concatenate((np.zeros(1, weights.dtype), np.cumsum(weights))))

    @classmethod
    def of_both(
        cls, tar: tuple[ScoreArray, CountArray | None], non: tuple[ScoreArray, CountArray | None]
    ) -> tuple[SortedClass, SortedClass]:
        """Sort copies of the scores of targets and of non-targets, each with weights or None."""
        if tar[1] is not None or non[1] is not None:
            return cls.of(*tar), cls.of(*non)
        one, other = _in_order([tar[0], non[0]])
        return cls(one, None, None), cls(other, None, None)

    @classmethod
    def merged(cls, parts: Sequence[SortedClass]) -> SortedClass:
        """Merge the trials of several parts into one class; parts may be empty, and only some may have weights.

        For whole numbers of trials, the result is identical to sorting all trials at once. Sums of fractional weights
        differ by rounding only.
        """
        parts = [part for part in parts if len(part.scores)] or parts[:1]
        if len(parts) == 1:
            return parts[0]
        weights = joined_weights([part.weights for part in parts], [len(part.scores) for part in parts])
        return cls.of(np.concatenate([part.scores for part in parts]), weights)

    @property
    def total(self) -> int | float:
        """Number of trials, or sum of their weights."""
        return len(self.scores) if self.cumulated is None else self.cumulated[-1].item()

    @property
    def is_whole(self) -> bool:
        """True if all weights are whole numbers."""
        return self.weights is None or self.weights.dtype == np.int64

    def positions(self, thresholds: FloatArray) -> IntArray:
        """Return the number of entries below every threshold."""
        borders = splitting(self.scores, thresholds)
        return np.searchsorted(self.scores, borders, side="left").astype(np.int64, copy=False)

    def below(self, thresholds: FloatArray) -> CountArray:
        """Return the number (or weight) of trials with ``score < threshold``, for every threshold."""
        positions = self.positions(thresholds)
        return positions if self.cumulated is None else self.cumulated[positions]

    def at_or_above(self, thresholds: FloatArray) -> CountArray:
        """Return the number (or weight) of trials with ``score >= threshold``, for every threshold."""
        positions = self.positions(thresholds)
        if self.weights is None or self.cumulated is None:
            return self.total - positions
        if self.weights.dtype == np.int64:
            return self.total - self.cumulated[positions]
        # Fractional weights are summed from the top, so that a light tail keeps its digits.
        counts, carried = np.zeros(np.shape(positions)), 0.0
        for end in range(len(self.weights), 0, -_ENTRIES_PER_STEP):
            first = max(end - _ENTRIES_PER_STEP, 0)
            sums = np.cumsum(np.append(carried, self.weights[first:end][::-1]))[:0:-1]
            inside = (positions >= first) & (positions < end)
            counts[inside], carried = sums[positions[inside] - first], float(sums[0])
        return counts

    def score_sums(self, starts: IntArray) -> FloatArray:
        """Return weighted sums of the scores over the runs of entries that begin at these positions.

        The last run ends with the last entry.
        """
        values = np.zeros(len(starts))
        for first in range(0, len(self.scores), _ENTRIES_PER_STEP):
            part = slice(first, first + _ENTRIES_PER_STEP)
            scores = self.scores[part].astype(np.float64, copy=False)
            terms = scores if self.weights is None else scores * self.weights[part]
            begun = max(int(np.searchsorted(starts, first, side="right")) - 1, 0)
            own = np.maximum(starts[begun : int(np.searchsorted(starts, first + len(scores)))] - first, 0)
            if len(own):
                values[begun : begun + len(own)] += np.add.reduceat(terms, own)
        return values

    def at_weight(self, lines: FloatArray) -> IntArray:
        """Return the positions of the entries at which these numbers (or weights) of trials are reached."""
        return lines.astype(np.int64) if self.cumulated is None else np.searchsorted(self.cumulated[1:], lines)

    @property
    def infinite(self) -> int | float:
        """Number (or weight) of trials with an infinite score."""
        finite = self.below(_FINITE_FROM_TO)
        total: int | float = self.total - (finite[1] - finite[0]).item()
        return total

    @property
    def finite_range(self) -> tuple[float, float] | None:
        """Lowest and highest finite score."""
        first, last = self.positions(_FINITE_FROM_TO)
        return (float(self.scores[first]), float(self.scores[last - 1])) if last > first else None

    def sums(self, lengths: IntArray) -> CountArray:
        """Return the number (or weight) of trials in each of the consecutive runs of ``lengths`` entries."""
        if self.cumulated is None or self.weights is None:
            return lengths
        if self.weights.dtype == np.int64:
            return np.diff(self.cumulated[np.concatenate(([0], np.cumsum(lengths)))])
        # With reduceat instead of differences of cumulated sums, a light block keeps all its digits.
        filled = lengths > 0
        starts = (np.cumsum(lengths) - lengths)[filled]
        sums = np.zeros(len(lengths))
        sums[filled] = np.add.reduceat(self.weights, starts)
        return sums


@dataclass(frozen=True, slots=True)
class CountTable:
    """Targets and non-targets in ascending groups of scores, the input of every rank-based metric.

    A group is a set of equal scores, or a run of neighbouring scores of one class. The order within a run affects
    neither the corners of the ROC, nor its hull, nor PAV. Groups are never empty, and no two neighbours are pure in
    the same class.
    """

    n_tar: CountArray
    n_non: CountArray
    tar_entries: IntArray
    """Entries of the sorted target class in each group; equal to ``n_tar`` unless trials have weights."""
    non_entries: IntArray
    tar: SortedClass
    non: SortedClass

    @classmethod
    def of(cls, tar: SortedClass, non: SortedClass) -> CountTable:
        """Merge two sorted classes; equal scores of both classes share one group."""
        if len(tar.scores) <= len(non.scores):
            tar_entries, non_entries = _merged_runs(tar.scores, non.scores)
        else:
            non_entries, tar_entries = _merged_runs(non.scores, tar.scores)
        return cls(tar.sums(tar_entries), non.sums(non_entries), tar_entries, non_entries, tar, non)

    def auc(self) -> float:
        """Return ``P(tar > non) + P(tar = non) / 2`` over all pairs of a target and a non-target."""
        return self._share_of_pairs(self.n_non, self.n_tar)

    def error_area(self) -> float:
        """Return ``1 - auc``, that is ``P(non > tar) + P(tar = non) / 2``, accurate even if it is tiny."""
        return self._share_of_pairs(self.n_tar, self.n_non)

    @property
    def n_tied(self) -> int | float:
        """Number (or weight) of trials whose score also occurs in the other class."""
        both = (self.n_tar > 0) & (self.n_non > 0)
        tied: int | float = (self.n_tar[both].sum() + self.n_non[both].sum()).item()
        return tied

    def _share_of_pairs(self, low: CountArray, high: CountArray) -> float:
        """Return the share of pairs in which ``high`` is above ``low``; ties count half.

        With integer counts, the result is exact before the division. Fractional counts are first divided by their sum,
        so that products do not overflow. Both kinds of pairs are added, without subtraction, so that the share is
        within 0 and 1.
        """
        if low.dtype == high.dtype == np.int64:
            return float(twice_ordered(low, high) / (2 * self.tar.total * self.non.total))
        low, high = low / low.sum(), high / high.sum()
        right, wrong = twice_ordered(low, high), twice_ordered(high, low)
        return float(right / (right + wrong))

    def corner_scores(self) -> FloatArray:
        """Lowest accepted score at each corner of the ROC, except the last, which rejects all."""
        return self.edges(np.arange(len(self.n_tar)))[0]

    def edges(self, starts: IntArray) -> FloatPair:
        """Return the lowest and highest score of the blocks of groups that begin at ``starts``."""
        tar_low, tar_high = _class_edges(self.tar.scores, self.tar_entries, starts)
        non_low, non_high = _class_edges(self.non.scores, self.non_entries, starts)
        # Adding 0.0 turns -0.0 into 0.0, so that the order of the two equal zeros is not visible.
        return np.minimum(tar_low, non_low) + 0.0, np.maximum(tar_high, non_high) + 0.0


def ascending(scores: ScoreArray, weights: CountArray) -> tuple[ScoreArray, CountArray]:
    """Return scores in ascending order with their weights.

    Equal scores are sorted by weight, so that sums of fractional weights do not depend on the order of rows.
    """
    order = order_of(scores)
    scores = scores[order]
    equal = np.concatenate(([False], scores[1:] == scores[:-1], [False]))
    if equal.any():
        tied = np.flatnonzero(equal[1:] | equal[:-1])
        order[tied] = order[tied][np.lexsort((weights[order[tied]], scores[tied]))]
    return scores, weights[order]


_BY_HALVES, _MOST_CODES = range(1 << 12, 1 << 17), 2.0**32 - 1.0
"""Numbers of scores that are sorted faster as halves of whole numbers, and the largest of these."""


def order_of(scores: ScoreArray) -> IntArray:
    """Return positions of scores, which are not NaN, in ascending order; equal scores are in any order.

    NumPy sorts numbers of 16 bits in a tenth of the time of floats. So scores become whole numbers of 32 bits, at equal
    distances, whose halves are sorted one after the other; scores with the same number are sorted separately.

    Examples
    --------
    >>> order_of(np.array([2.0, -np.inf, 1.0]))
    array([1, 2, 0])
    """
    with np.errstate(all="ignore"):
        low, high = np.float64(scores.min(initial=0.0)), np.float64(scores.max(initial=0.0))
        step = _MOST_CODES / (high - low)
    if len(scores) not in _BY_HALVES or not 0.0 < step < np.inf:
        return np.argsort(scores)
    codes = ((scores - low) * step).astype(np.int64)
    order = np.argsort(codes.astype(np.uint16), kind="stable")
    order = order[np.argsort((codes >> 16).astype(np.uint16)[order], kind="stable")]
    if np.any(np.diff(scores[order]) < 0.0):
        differs = np.concatenate(([True], np.diff(codes[order]) > 0, [True]))
        tied = order[~(differs[1:] & differs[:-1])]
        order[~(differs[1:] & differs[:-1])] = tied[np.lexsort((scores[tied], codes[tied]))]
    return order


def joined_weights(weights: Sequence[CountArray | None], lengths: Sequence[int]) -> CountArray | None:
    """Return the weights of the trials of several parts; those of a part without weights are 1."""
    if all(own is None for own in weights):
        return None
    pairs = zip(weights, lengths, strict=True)
    return np.concatenate([np.ones(n, np.int64) if own is None else own for own, n in pairs])


def thresholds_from(lowest: FloatArray) -> FloatArray:
    """Return thresholds whose lowest accepted scores are ``lowest``, followed by ``inf``, which rejects all.

    Thresholds are the scores themselves, so that no rounding moves a trial. If only infinite scores are accepted, the
    threshold is the largest finite number, because ``inf`` rejects all trials, even with infinite scores.
    """
    return np.append(np.minimum(lowest, np.finfo(np.float64).max), np.inf)


def splitting(scores: ScoreArray, thresholds: FloatArray) -> ScoreArray:
    """Return thresholds in the type of the scores, with the same decisions.

    Rounded up to the next float32, a threshold splits float32 scores as before, and the scores need no conversion.
    """
    if scores.dtype != np.float32:
        return thresholds
    with np.errstate(over="ignore", under="ignore"):
        near = thresholds.astype(np.float32)
        return np.where(near < thresholds, np.nextafter(near, np.float32(np.inf)), near)


def twice_ordered(low: CountArray, high: CountArray) -> int | float:
    """Return twice the number of pairs in which ``high`` is above ``low``; ties count once; exact for integers."""
    wide: Any = low.dtype
    if wide == np.int64 and 2 * int(low.sum()) * int(high.sum()) >= 2**63:
        wide = np.object_
    ordered: int | float = 0
    below: int | float = 0
    for first in range(0, len(low), _GROUPS_PER_STEP):
        own, above = (counts[first : first + _GROUPS_PER_STEP].astype(wide, copy=False) for counts in (low, high))
        upto = np.cumsum(own)
        products = above * (2 * (below + upto) - own)
        ordered += products.sum() if wide is np.object_ else products.sum().item()
        below += upto[-1]
    return ordered


def corners(n_tar: CountArray, n_non: CountArray) -> tuple[CountArray, CountArray]:
    """Return false alarms and misses at the corners of the ROC, from accept-all to reject-all."""
    n_fa = np.append(np.cumsum(n_non[::-1])[::-1], n_non.dtype.type(0))
    return n_fa, np.insert(np.cumsum(n_tar), 0, n_tar.dtype.type(0))


def _class_edges(scores: ScoreArray, entries: IntArray, starts: IntArray) -> FloatPair:
    lengths = np.add.reduceat(entries, starts)
    ends = np.cumsum(lengths)
    filled = lengths > 0
    low, high = np.full(len(starts), np.inf), np.full(len(starts), -np.inf)
    low[filled] = scores[(ends - lengths)[filled]]
    high[filled] = scores[ends[filled] - 1]
    return low, high


def _in_order(arrays: Sequence[ScoreArray]) -> list[ScoreArray]:
    """Return copies of arrays of scores in ascending order."""
    if sum(map(len, arrays)) in _BY_HALVES and sorts_slowly():
        return [one[order_of(one)] for one in arrays]
    return [np.sort(one) for one in arrays] if sum(map(len, arrays)) <= FEW else all_in_order(arrays)


def _merged_runs(few: ScoreArray, many: ScoreArray) -> tuple[IntArray, IntArray]:
    """Return the lengths of the groups in two ascending arrays; ``few`` is the shorter one.

    All entries between two neighbours of ``few`` come from ``many`` and form one gap. So the groups follow from one
    search for each entry of ``few``.
    """
    if not len(few):
        return np.zeros(min(len(many), 1), np.int64), np.full(min(len(many), 1), len(many))
    if len(few) > FEW and few.dtype == many.dtype and (loops := ready()) is not None:
        n_few, n_many = np.empty((2, 2 * len(few) + 1), np.int64)  # unused entries take no memory
        n = loops.merge(np.ascontiguousarray(few), np.ascontiguousarray(many), n_few, n_many)
        return n_few[:n], n_many[:n]
    below, tied = np.empty(len(few), np.int64), np.empty(len(few), np.bool_)
    lowest = 0
    for first in range(0, len(few), _QUERIES_PER_SEARCH):
        part = slice(first, first + _QUERIES_PER_SEARCH)
        nearby = many[lowest : int(np.searchsorted(many, few[part][-1], side="right")) + 1]
        indices = np.searchsorted(nearby, few[part], side="left")
        tied[part] = nearby[np.minimum(indices, len(nearby) - 1)] == few[part]
        below[part] = indices + lowest
        lowest = min(int(below[part][-1]), len(many) - 1)
    begins = np.ones(len(few), np.bool_)
    np.not_equal(below[1:], below[:-1], out=begins[1:])
    begins[1:] |= tied[1:] != tied[:-1]
    start = np.flatnonzero(begins)
    before, tied = below[start], tied[start]
    after = before.copy()
    after[tied] = np.searchsorted(many, few[start[tied]], side="right")
    # Groups of ``many`` only are before, between and after the runs of ``few``.
    n_few, n_many = np.zeros((2, 2 * len(start) + 1), np.int64)
    n_few[1::2], n_many[1::2] = np.diff(start, append=len(few)), after - before
    n_many[::2] = np.append(before, len(many)) - np.append(0, after)
    filled = (n_few > 0) | (n_many > 0)
    return n_few[filled], n_many[filled]


_LANES = 1 << 15
"""Scores in a batch: all temporaries stay in cache."""

_COMPARED = 8
"""Number of thresholds up to which comparing every score with each of them is faster than sorting."""

_SEARCHED = 1 << 13
"""Number of thresholds up to which a search in every batch is faster than sorting all scores at once."""

_CLASHES = 16
"""Number of unclear thresholds in a batch up to which direct comparisons are faster than sorting scores in float64."""


@dataclass(frozen=True, slots=True)
class UnsortedClass:
    """The scores of one class in any order, with whole weights if any: few thresholds need no full sort.

    Its methods return the same counts as `SortedClass`; all counts are integers.
    """

    scores: ScoreArray
    weights: IntArray | None

    @property
    def total(self) -> int:
        """Number of trials, or sum of their weights."""
        return len(self.scores) if self.weights is None else int(self.weights.sum())

    def below(self, thresholds: FloatArray) -> IntArray:
        """Return the number (or weight) of trials with ``score < threshold``, for every threshold."""
        if thresholds.size > _SEARCHED:
            return SortedClass.of(self.scores, self.weights).below(thresholds)
        borders = splitting(self.scores, thresholds).ravel()
        counts, is_coarse = np.zeros(borders.shape, np.int64), False
        for first in range(0, len(self.scores), _LANES):
            block = self.scores[first : first + _LANES]
            weights = None if self.weights is None else self.weights[first : first + _LANES]
            if borders.size <= _COMPARED:
                counts += np.array([_below(block, weights, threshold) for threshold in borders], np.int64)
            elif weights is not None:
                counts += _searched(block, weights, borders)
            elif is_coarse or (positions := _rounded_positions(block, borders)) is None:
                counts += np.searchsorted(np.sort(block), borders)
                is_coarse = True  # later scores mostly are coarse, too
            else:
                counts += positions
        return counts.reshape(thresholds.shape)

    def at_or_above(self, thresholds: FloatArray) -> IntArray:
        """Return the number (or weight) of trials with ``score >= threshold``, for every threshold."""
        return self.total - self.below(thresholds)


def counted(scores: ScoreArray, weights: CountArray | None) -> SortedClass | UnsortedClass:
    """Return one class, prepared for few thresholds; fractional weights are always summed in order of score."""
    if weights is not None and weights.dtype != np.int64:
        return SortedClass.of(scores, weights)
    return UnsortedClass(scores, weights)


def _below(block: ScoreArray, weights: IntArray | None, threshold: np.floating) -> int:
    is_below = block < threshold
    return int(np.count_nonzero(is_below) if weights is None else weights[is_below].sum())


def _rounded_positions(block: ScoreArray, thresholds: ScoreArray) -> IntArray | None:
    """Count the scores below each threshold; return None if many scores are almost equal to thresholds.

    Rounding preserves the order of numbers that stay different, and sorting float32 takes half the time.
    """
    with np.errstate(over="ignore", under="ignore"):
        rounded, near = block.astype(np.float32), thresholds.astype(np.float32)
    rounded.sort()
    positions: IntArray = np.searchsorted(rounded, near)
    if block.dtype != np.float32:
        clashes = np.flatnonzero(rounded[np.minimum(positions, len(rounded) - 1)] == near)
        if len(clashes) > _CLASHES:
            return None
        positions[clashes] = [_below(block, None, threshold) for threshold in thresholds[clashes]]
    return positions


def _searched(block: ScoreArray, weights: IntArray, thresholds: ScoreArray) -> IntArray:
    """Return the weight of the scores below each threshold."""
    order = np.argsort(block)
    return np.append(0, np.cumsum(weights[order]))[np.searchsorted(block[order], thresholds)]


def n_tied(score: ScoreArray, is_target: BoolArray, weight: CountArray | None = None) -> int | float:
    """Return the number (or weight) of trials whose score also occurs in the other class.

    Parameters
    ----------
    score : (n_trials,) array
    is_target : (n_trials,) bool array
    weight : (n_trials,) array, optional
        Trials of weight 0 do not count.

    Examples
    --------
    >>> n_tied(np.array([0.0, 1.0, 1.0, 2.0, 1.0]), np.array([True, True, False, False, False]))
    3
    """
    if weight is not None:
        counting = weight > 0
        score, is_target, weight = score[counting], is_target[counting], weight[counting]
    shared = np.intersect1d(score[is_target], score[~is_target])
    tied = np.isin(score, shared)
    return int(np.count_nonzero(tied)) if weight is None else weight[tied].sum().item()


def whole_if_possible(weights: FloatArray) -> CountArray:
    """Return weights as integers if all are whole numbers and float64 represents their sum.

    Examples
    --------
    >>> whole_if_possible(np.array([1.0, 2.0])), whole_if_possible(np.array([1.0, 0.5]))
    (array([1, 2]), array([1. , 0.5]))
    """
    return weights.astype(np.int64) if is_whole(weights) else weights


def is_whole(weights: FloatArray) -> bool:
    """Return True if all weights are whole numbers with a sum that float64 represents."""
    return bool(np.array_equal(weights, np.rint(weights)) and weights.sum() <= _LARGEST)


_BITS = 26
"""Bits of a digit."""


_MANTISSA = 53
"""Bits of a float64."""


_MOST_DIGITS = 16
"""Limit of digits."""


def digits_of(weights: FloatArray | None) -> range:
    """Return the places of all digits that positive weights can have.

    Raises
    ------
    InputError
        If there are too many digits.

    Examples
    --------
    >>> digits_of(np.array([1.0, 3.0])), digits_of(None)
    (range(-2, 1), range(0, 0))
    """
    if weights is None or not len(weights):
        return range(0)
    low, high = float(weights.min()), float(weights.max())
    lowest, highest = (int(np.frexp(one)[1]) for one in (low, high))
    places = range((lowest - _MANTISSA) // _BITS, (highest - 1) // _BITS + 1)
    if len(places) > _MOST_DIGITS:
        raise InputError(
            f"weights: between {low:g} and {high:g}. They differ too much for exact sums. Leave out "
            "trials with tiny weights, or give them weight 0."
        )
    return places


def summed_by_code(weights: FloatArray, codes: Sequence[IntArray], size: int) -> tuple[IntArray, int]:
    """Return sums of the digits of weights by code, (n_digits, size), and the place of the first digit.

    Parameters
    ----------
    weights : (n,) array
        At least 0.
    codes : sequence of (n,) int arrays
        Below ``size``; each weight counts once in every array.
    size : int

    Raises
    ------
    InputError
        See `digits_of`.

    Examples
    --------
    >>> sums = summed_by_code(np.array([0.1, 0.2, 0.3, 0.3, 0.2, 0.1]), [np.array([0, 0, 0, 1, 1, 1])], 2)
    >>> whole_or_float(*sums)
    array([0.6, 0.6])
    """
    places = digits_of(weights[weights > 0])
    values = np.zeros((len(places), size), np.int64)
    for row, digit in _digits(weights, places):
        for own in codes:
            values[row] += np.bincount(own, digit, size).astype(np.int64)  # exact: below 2**53 up to 2**27 trials
    return values, places.start


def _digits(weights: FloatArray, places: range) -> Iterator[tuple[int, FloatArray]]:
    """Yield the index of each place, and the digits of all weights there, from the highest place on."""
    rest = weights.astype(np.float64)
    for row, place in reversed(list(enumerate(places))):
        digit = np.floor(np.ldexp(rest, -_BITS * place))
        rest = rest - np.ldexp(digit, _BITS * place)
        yield row, digit


def aligned(parts: Sequence[tuple[IntArray, int]]) -> tuple[list[IntArray], int]:
    """Return sums with the same digits, without leading and trailing zero digits, and the place of the first.

    Parameters
    ----------
    parts : sequence of ((..., n_digits, n) array, int)
        Sums, and the place of the first digit of each.

    Examples
    --------
    >>> some, place = aligned([(np.array([[0], [5]]), 0), (np.array([[7]]), 2)])
    >>> [one.tolist() for one in some], place
    ([[[5], [0]], [[0], [7]]], 1)
    """
    ends = list[int]()
    for sums, first in parts:
        own = np.flatnonzero(sums.any(axis=(*range(sums.ndim - 2), sums.ndim - 1)))
        ends += [first + int(own[0]), first + int(own[-1]) + 1] if len(own) else []
    low, high = (min(ends), max(ends)) if ends else (0, 0)
    items = []
    for sums, first in parts:
        wide = np.zeros((*sums.shape[:-2], high - low, sums.shape[-1]), np.int64)
        begin, end = max(first, low), min(first + sums.shape[-2], high)
        if begin < end:
            wide[..., begin - low : end - low, :] = sums[..., begin - first : end - first, :]
        items.append(wide)
    return items, low


def whole_or_float(sums: IntArray, place: int) -> CountArray:
    """Return the value of digits: int64 if all values are whole and float64 represents their sum, else float64.

    Parameters
    ----------
    sums : (..., n_digits, n) array
    place : int
        Place of the first digit.

    Returns
    -------
    (..., n) array

    Examples
    --------
    >>> whole_or_float(np.array([[3], [1]]), 0), whole_or_float(np.array([[1 << 25], [1]]), -1)
    (array([67108867]), array([1.5]))
    """
    total = np.zeros((*sums.shape[:-2], sums.shape[-1]))
    for row in range(sums.shape[-2]):
        total += np.ldexp(sums[..., row, :].astype(np.float64), _BITS * (place + row))
    is_whole = not sums[..., : max(-place, 0), :].any() and float(total.sum()) <= _LARGEST
    return total.astype(np.int64) if is_whole else total
