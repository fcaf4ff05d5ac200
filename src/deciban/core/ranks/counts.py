"""From two sets of scores to one table of integer counts: sort each class once, then merge.

Every rank-based figure (ROC, PAV, hull, EER, minimum costs, AUC) is a function of the counts of target and
non-target trials in ascending order of score. Scores themselves matter only where a block begins and ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deciban.core.ranks.value_counts import Loops, ready
from deciban.errors import InputError
from deciban.types import BoolArray, CountArray, FloatArray, IntArray, ScoreArray

_QUERIES_PER_SEARCH = 16384
"""Sorted queries answered against the one slice they can fall in: the slice stays in cache (measured 4 times
faster than one search of five million queries, and no slower where there are few)."""

_ENTRIES_PER_STEP = 1 << 22
"""Entries of which something is made at once: there may be more of them than memory holds."""

_GROUPS_PER_STEP = 32768
"""Groups handled at once where all groups are added up: temporaries stay in cache."""

_LARGEST = 2.0**53
"""Floats hold whole numbers up to here."""

_FINITE_FROM_TO = np.array([-np.finfo(np.float64).max, np.inf])


@dataclass(frozen=True, slots=True)
class SortedClass:
    """The scores of one class in ascending order; with weights, distinct and each with its summed weight."""

    scores: ScoreArray
    weights: CountArray | None
    cumulated: CountArray | None
    """Weight of all entries before each position, one longer than ``scores``; None when every weight is 1."""

    @classmethod
    def of(cls, scores: ScoreArray, weights: CountArray | None = None) -> SortedClass:
        """Sort a copy of ``scores``; entries of weight 0 are left out, equal scores become one entry."""
        if weights is None:
            return cls(np.sort(scores), None, None)
        counting = weights > 0
        scores, weights = ascending(scores[counting], weights[counting])
        if not len(scores):
            return cls(scores, weights, np.zeros(1, weights.dtype))
        first = np.flatnonzero(np.append(True, scores[1:] != scores[:-1]))
        summed = np.add.reduceat(weights, first)
        return cls(scores[first], summed, np.concatenate((np.zeros(1, summed.dtype), np.cumsum(summed))))

    @classmethod
    def merged(cls, parts: Sequence[SortedClass]) -> SortedClass:
        """Sort the trials of all parts into one class; parts may be empty, and need not have weights where others do.

        Whole numbers of trials come out as if all had been sorted at once, to the bit; sums of fractional weights up
        to their rounding.
        """
        parts = [part for part in parts if len(part.scores)] or parts[:1]
        if len(parts) == 1:
            return parts[0]
        scores = np.concatenate([part.scores for part in parts])
        if all(part.weights is None for part in parts):
            return cls.of(scores)
        weights = [np.ones(len(one.scores), np.int64) if one.weights is None else one.weights for one in parts]
        return cls.of(scores, np.concatenate(weights))

    @property
    def total(self) -> int | float:
        """Number of trials, or sum of their weights."""
        return len(self.scores) if self.cumulated is None else self.cumulated[-1].item()

    def positions(self, thresholds: FloatArray) -> IntArray:
        """Number of entries below every threshold."""
        wanted = splitting(self.scores, thresholds)
        return np.searchsorted(self.scores, wanted, side="left").astype(np.int64, copy=False)

    def below(self, thresholds: FloatArray) -> CountArray:
        """Number (or weight) of trials with ``score < threshold``, for every threshold."""
        positions = self.positions(thresholds)
        return positions if self.cumulated is None else self.cumulated[positions]

    def at_or_above(self, thresholds: FloatArray) -> CountArray:
        """Number (or weight) of trials with ``score >= threshold``, for every threshold."""
        positions = self.positions(thresholds)
        if self.weights is None or self.cumulated is None:
            return self.total - positions
        if self.weights.dtype == np.int64:
            return self.total - self.cumulated[positions]
        # Fractional weights are added up from the top: a light tail keeps its digits.
        found, carried = np.zeros(np.shape(positions)), 0.0
        for end in range(len(self.weights), 0, -_ENTRIES_PER_STEP):
            first = max(end - _ENTRIES_PER_STEP, 0)
            sums = np.cumsum(np.append(carried, self.weights[first:end][::-1]))[:0:-1]
            inside = (positions >= first) & (positions < end)
            found[inside], carried = sums[positions[inside] - first], float(sums[0])
        return found

    def score_sums(self, starts: IntArray) -> FloatArray:
        """Sums of the scores of trials, by their weights, over the runs of entries that begin at these positions.

        The last run ends with the last entry.
        """
        found = np.zeros(len(starts))
        for first in range(0, len(self.scores), _ENTRIES_PER_STEP):
            part = slice(first, first + _ENTRIES_PER_STEP)
            scores = self.scores[part].astype(np.float64, copy=False)
            terms = scores if self.weights is None else scores * self.weights[part]
            begun = max(int(np.searchsorted(starts, first, side="right")) - 1, 0)
            own = np.maximum(starts[begun : int(np.searchsorted(starts, first + len(scores)))] - first, 0)
            if len(own):
                found[begun : begun + len(own)] += np.add.reduceat(terms, own)
        return found

    def at_weight(self, lines: FloatArray) -> IntArray:
        """The entries with which so many trials (or weight) are passed."""
        if self.cumulated is None:
            return lines.astype(np.int64)
        return np.searchsorted(self.cumulated[1:], lines)

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
        """Trials (or weight) in each of the consecutive runs of ``lengths`` entries."""
        if self.cumulated is None or self.weights is None:
            return lengths
        if self.weights.dtype == np.int64:
            return np.diff(self.cumulated[np.concatenate(([0], np.cumsum(lengths)))])
        # reduceat and not a difference of cumulated sums: a light block keeps all its digits.
        filled = lengths > 0
        starts = (np.cumsum(lengths) - lengths)[filled]
        sums = np.zeros(len(lengths))
        sums[filled] = np.add.reduceat(self.weights, starts)
        return sums


@dataclass(frozen=True, slots=True)
class CountTable:
    """Targets and non-targets in ascending groups of score, the one input of every rank-based figure.

    A group is a set of equal scores, or a run of neighbouring scores that all belong to one class: what
    happens inside such a run can touch neither the ROC at its corners, nor its hull, nor PAV. Groups are
    never empty, and no two neighbours are pure in the same class.
    """

    n_tar: CountArray
    n_non: CountArray
    tar_entries: IntArray
    """Entries of the sorted target class in each group: equal to ``n_tar`` unless trials carry weights."""
    non_entries: IntArray
    tar: SortedClass
    non: SortedClass

    @classmethod
    def of(cls, tar: SortedClass, non: SortedClass) -> CountTable:
        """Merge two sorted classes; equal scores of both classes meet in one group."""
        if len(tar.scores) <= len(non.scores):
            tar_entries, non_entries = _merged_runs(tar.scores, non.scores)
        else:
            non_entries, tar_entries = _merged_runs(non.scores, tar.scores)
        return cls(tar.sums(tar_entries), non.sums(non_entries), tar_entries, non_entries, tar, non)

    def auc(self) -> float:
        """``P(tar > non) + P(tar = non) / 2`` over all pairs of a target and a non-target."""
        return self._share_of_pairs(self.n_non, self.n_tar)

    def error_area(self) -> float:
        """``P(non > tar) + P(tar = non) / 2``: what `auc` lacks to 1, right to all digits however small it is."""
        return self._share_of_pairs(self.n_tar, self.n_non)

    @property
    def n_tied(self) -> int | float:
        """Trials (or weight) whose score is that of a trial of the other class."""
        both = (self.n_tar > 0) & (self.n_non > 0)
        tied: int | float = (self.n_tar[both].sum() + self.n_non[both].sum()).item()
        return tied

    def _share_of_pairs(self, low: CountArray, high: CountArray) -> float:
        """Share of pairs of both classes in which ``high`` is above ``low``, ties counting half.

        Exact but for the division if counts are integers. Fractional ones are divided by their sum, lest products leave
        a float, and both kinds of pairs are added up: nothing is subtracted, and the share is within 0 and 1.
        """
        if low.dtype == high.dtype == np.int64:
            return float(twice_ordered(low, high) / (2 * self.tar.total * self.non.total))
        low, high = low / low.sum(), high / high.sum()
        right, wrong = twice_ordered(low, high), twice_ordered(high, low)
        return float(right / (right + wrong))

    def corner_scores(self) -> FloatArray:
        """For each corner of the ROC but the last, where all are rejected, the lowest score that is accepted there."""
        return self.edges(np.arange(len(self.n_tar)))[0]

    def edges(self, starts: IntArray) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest score of the blocks of groups that begin at ``starts``."""
        tar_low, tar_high = _class_edges(self.tar.scores, self.tar_entries, starts)
        non_low, non_high = _class_edges(self.non.scores, self.non_entries, starts)
        # Adding 0.0 turns -0.0 into 0.0: which of the two equal zeros came first must not show.
        return np.minimum(tar_low, non_low) + 0.0, np.maximum(tar_high, non_high) + 0.0


def ascending(scores: ScoreArray, weights: CountArray) -> tuple[ScoreArray, CountArray]:
    """Scores in ascending order with their weights.

    Equal scores are in the order of their weights: sums of fractional ones do not depend on the order of rows.
    """
    order = np.argsort(scores)
    scores = scores[order]
    equal = np.concatenate(([False], scores[1:] == scores[:-1], [False]))
    tied = np.flatnonzero(equal[1:] | equal[:-1])
    order[tied] = order[tied][np.lexsort((weights[order[tied]], scores[tied]))]
    return scores, weights[order]


def thresholds_from(lowest: FloatArray) -> FloatArray:
    """Thresholds at which these scores are the lowest that are accepted, and ``inf``, at which none is.

    They are the scores themselves, so that no rounding moves a trial; where only infinite scores are accepted it is the
    largest finite number, as ``inf`` stands for rejecting all, trials with infinite scores too.
    """
    return np.append(np.minimum(lowest, np.finfo(np.float64).max), np.inf)


def splitting(scores: ScoreArray, thresholds: FloatArray) -> ScoreArray:
    """Thresholds in the type of the scores, which they split as before.

    Rounded up to the next float32, a threshold splits float32 scores as it did, and these need no copy.
    """
    if scores.dtype != np.float32:
        return thresholds
    with np.errstate(over="ignore", under="ignore"):
        near = thresholds.astype(np.float32)
        return np.where(near < thresholds, np.nextafter(near, np.float32(np.inf)), near)


def twice_ordered(low: CountArray, high: CountArray) -> int | float:
    """Twice the number of pairs in which ``high`` is above ``low``, ties counting once; exact for integers."""
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
    """False alarms and misses between ascending groups, from accept-all to reject-all: the corners of the ROC."""
    n_fa = np.append(np.cumsum(n_non[::-1])[::-1], n_non.dtype.type(0))
    return n_fa, np.insert(np.cumsum(n_tar), 0, n_tar.dtype.type(0))


def _class_edges(scores: ScoreArray, entries: IntArray, starts: IntArray) -> tuple[FloatArray, FloatArray]:
    lengths = np.add.reduceat(entries, starts)
    ends = np.cumsum(lengths)
    filled = lengths > 0
    low, high = np.full(len(starts), np.inf), np.full(len(starts), -np.inf)
    low[filled] = scores[(ends - lengths)[filled]]
    high[filled] = scores[ends[filled] - 1]
    return low, high


def _merged_runs(few: ScoreArray, many: ScoreArray) -> tuple[IntArray, IntArray]:
    """Lengths of the groups in ``few`` and ``many``, two ascending arrays, the first the shorter one.

    Between two neighbours of ``few`` lie only entries of ``many``: one gap. So the groups follow from one
    search for each entry of ``few``.
    """
    if not len(few):
        return np.zeros(min(len(many), 1), np.int64), np.full(min(len(many), 1), len(many))
    loops = ready()
    if loops is not None and few.dtype == many.dtype == np.float32:
        return _merged_by(loops, few, many)
    below, tied = np.empty(len(few), np.int64), np.empty(len(few), np.bool_)
    lowest = 0
    for first in range(0, len(few), _QUERIES_PER_SEARCH):
        part = slice(first, first + _QUERIES_PER_SEARCH)
        nearby = many[lowest : int(np.searchsorted(many, few[part][-1], side="right")) + 1]
        found = np.searchsorted(nearby, few[part], side="left")
        tied[part] = nearby[np.minimum(found, len(nearby) - 1)] == few[part]
        below[part] = found + lowest
        lowest = min(int(below[part][-1]), len(many) - 1)
    begins = np.ones(len(few), np.bool_)
    np.not_equal(below[1:], below[:-1], out=begins[1:])
    begins[1:] |= tied[1:] != tied[:-1]
    start = np.flatnonzero(begins)
    before, tied = below[start], tied[start]
    after = before.copy()
    after[tied] = np.searchsorted(many, few[start[tied]], side="right")
    # Groups of the many alone stand before, between and after the runs of the few.
    n_few, n_many = np.zeros((2, 2 * len(start) + 1), np.int64)
    n_few[1::2], n_many[1::2] = np.diff(start, append=len(few)), after - before
    n_many[::2] = np.append(before, len(many)) - np.append(0, after)
    filled = (n_few > 0) | (n_many > 0)
    return n_few[filled], n_many[filled]


def _merged_by(loops: Loops, few: ScoreArray, many: ScoreArray) -> tuple[IntArray, IntArray]:
    """The same by a loop, which takes a tenth of the time where groups are as many as scores."""
    n_few, n_many = np.empty((2, 2 * len(few) + 1), np.int64)  # what is not written to takes no memory
    n = loops.merge(np.ascontiguousarray(few), np.ascontiguousarray(many), n_few, n_many)
    return n_few[:n], n_many[:n]


def n_tied(score: ScoreArray, is_target: BoolArray, weight: CountArray | None = None) -> int | float:
    """Number (or weight) of trials whose score is equal to that of a trial of the other class.

    Parameters
    ----------
    score : (n_trials,) array
    is_target : (n_trials,) bool array
    weight : (n_trials,) array, optional
        Trials of weight 0 are tied with nothing.

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
    """Weights as whole numbers, if all are and their sum is one that floats hold.

    Examples
    --------
    >>> whole_if_possible(np.array([1.0, 2.0])), whole_if_possible(np.array([1.0, 0.5]))
    (array([1, 2]), array([1. , 0.5]))
    """
    return weights.astype(np.int64) if is_whole(weights) else weights


def is_whole(weights: FloatArray) -> bool:
    """Whether these are whole numbers, and few enough to be added up as such."""
    return bool(np.array_equal(weights, np.rint(weights)) and weights.sum() <= _LARGEST)


_BITS = 26
"""Of a digit."""


_MANTISSA = 53
"""Bits of a float64."""


_MOST_DIGITS = 16
"""Floats hold whole numbers up to here."""


def digits_of(weights: FloatArray | None) -> range:
    """Places of all digits that positive weights can have.

    Raises
    ------
    InputError
        If these are too many.

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
            f"weights: these are between {low:g} and {high:g}, and differ too much to be added up exactly. Leave out "
            "trials that count for nothing (weight 0)."
        )
    return places


def summed_by_code(weights: FloatArray, codes: Sequence[IntArray], size: int) -> tuple[IntArray, int]:
    """Sums of the digits of weights by code, (n_digits, size), and the place of the first digit.

    Parameters
    ----------
    weights : (n,) array
        At least 0.
    codes : sequence of (n,) int arrays
        Below ``size``; each weight counts once for every one of these.
    size : int

    Raises
    ------
    InputError
        As `digits_of`.

    Examples
    --------
    >>> sums = summed_by_code(np.array([0.1, 0.2, 0.3, 0.3, 0.2, 0.1]), [np.array([0, 0, 0, 1, 1, 1])], 2)
    >>> whole_or_float(*sums)
    array([0.6, 0.6])
    """
    places = digits_of(weights[weights > 0])
    found = np.zeros((len(places), size), np.int64)
    for row, digit in _digits(weights, places):
        for own in codes:
            found[row] += np.bincount(own, digit, size).astype(np.int64)  # exact: below 2**53 up to 2**27 trials
    return found, places.start


def _digits(weights: FloatArray, places: range) -> Iterator[tuple[int, FloatArray]]:
    """The number of each place, and the digits of all weights there, from the highest place on."""
    rest = weights.astype(np.float64)
    for row, place in reversed(list(enumerate(places))):
        digit = np.floor(np.ldexp(rest, -_BITS * place))
        rest = rest - np.ldexp(digit, _BITS * place)
        yield row, digit


def aligned(parts: Sequence[tuple[IntArray, int]]) -> tuple[list[IntArray], int]:
    """Sums with the same digits, without those at the ends that are nowhere, and the place of the first.

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
    found = []
    for sums, first in parts:
        wide = np.zeros((*sums.shape[:-2], high - low, sums.shape[-1]), np.int64)
        begin, end = max(first, low), min(first + sums.shape[-2], high)
        if begin < end:
            wide[..., begin - low : end - low, :] = sums[..., begin - first : end - first, :]
        found.append(wide)
    return found, low


def whole_or_float(sums: IntArray, place: int) -> CountArray:
    """What digits add up to: whole numbers (int64) where all are and float64 would hold their sum, else float64.

    Parameters
    ----------
    sums : (..., n_digits, n) array
    place : int
        Of the first digit.

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
