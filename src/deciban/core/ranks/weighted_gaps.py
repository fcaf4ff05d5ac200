"""Counting around cuts with weights: a class of weighted trials as few entries, of which every rank figure is exact.

As in `deciban.core.ranks.gaps`, but the lowest and the highest score of a gap have weights of their own, and nothing
is ever subtracted: whole weights are counted to the bit, fractional ones up to the rounding of their sums.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from deciban.core.ranks.counts import SortedClass
from deciban.core.ranks.gaps import GapClass
from deciban.errors import InputError
from deciban.types import BoolArray, CountArray, FloatArray, IntArray, ScoreArray

_LARGEST = 2.0**53

"""Floats hold whole numbers up to here."""


@dataclass(frozen=True, slots=True)
class _Gaps:
    """What lies in gaps: the lowest and the highest score with their weights, and the weight of what is between."""

    low: ScoreArray
    high: ScoreArray
    at_low: FloatArray
    at_high: FloatArray
    """0 where all trials have one score."""
    inner: FloatArray
    sums: FloatArray
    """Of the scores of what is between, by their weights."""

    @classmethod
    def empty(cls, n: int, kind: Any) -> _Gaps:
        zeros = [np.zeros(n) for _ in range(4)]
        return cls(np.full(n, np.inf, kind), np.full(n, -np.inf, kind), *zeros)

    @classmethod
    def of(cls, scores: ScoreArray, weights: FloatArray, begins: IntArray, ends: IntArray) -> _Gaps:
        """Runs of ascending distinct scores."""
        last, several = ends - 1, ends > begins + 1
        left = weights.copy()
        left[begins] = left[last] = 0.0
        at = np.stack((begins, ends), axis=1).ravel()[:-1]
        inner, sums = (np.add.reduceat(one, at)[::2] if len(at) else np.zeros(0) for one in (left, left * scores))
        if len(at) and ends[-1] < len(scores):  # what comes after the last run is no part of it
            some = slice(begins[-1], ends[-1])
            inner[-1], sums[-1] = left[some].sum(), (left * scores)[some].sum()
        return cls(scores[begins], scores[last], weights[begins], np.where(several, weights[last], 0.0), inner, sums)

    def take(self, at: IntArray) -> _Gaps:
        return _Gaps(*(getattr(self, one.name)[at] for one in fields(self)))

    def put(self, at: IntArray, other: _Gaps) -> None:
        for one in fields(self):
            getattr(self, one.name)[at] = getattr(other, one.name)

    def __add__(self, other: _Gaps) -> _Gaps:
        """Both in one: an end of the one that lies within the other is between the ends of both."""
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        at_low, at_high = np.zeros((2, len(low)))
        inner, sums = self.inner + other.inner, self.sums + other.sums
        for own in (self, other):
            for place, weight in ((own.low, own.at_low), (own.high, own.at_high)):
                filled = weight > 0
                is_low = filled & (place == low)
                is_high = filled & (place == high) & ~is_low
                rest = filled & ~is_low & ~is_high
                at_low[is_low] += weight[is_low]
                at_high[is_high] += weight[is_high]
                inner[rest] += weight[rest]
                sums[rest] += weight[rest] * place[rest]
        return _Gaps(low, high, at_low, at_high, inner, sums)


class WeightedCutCounts:
    """Weighted trials of one class at every cut and between neighbours; ``a + b`` counts those of both.

    Parameters
    ----------
    cuts : (n,) array
        Scores in any order, of the type of the trials' scores; both infinities are cuts as well.

    Examples
    --------
    >>> counts = WeightedCutCounts(np.array([0.0]))
    >>> counts.add(np.array([2.0, 0.0, 1.0, 1.5]), np.array([1.0, 5.0, 2.0, 4.0]))
    >>> found = counts.as_class()
    >>> found.scores.tolist(), found.weights.tolist()
    ([0.0, 1.0, 1.5, 2.0], [5, 2, 4, 1])
    """

    def __init__(self, cuts: ScoreArray) -> None:
        ends = np.array([-np.inf, np.inf], cuts.dtype)
        self.cuts: ScoreArray = np.unique(np.concatenate((cuts, ends)) + cuts.dtype.type(0.0))
        self._start()

    def _start(self) -> None:
        self.at: FloatArray = np.zeros(len(self.cuts))
        self.gaps = _Gaps.empty(len(self.cuts), self.cuts.dtype)
        self.is_whole = True
        """Whether all weights were whole numbers."""
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        if not self.total:  # cuts alone go to every worker
            return {"cuts": self.cuts}
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.cuts = state["cuts"]
        self._start()
        self.__dict__.update(state)

    @property
    def n_bytes(self) -> int:
        """What the counts take."""
        return len(self.cuts) * (3 * self.cuts.itemsize + 40)

    @property
    def total(self) -> float:
        """Weight of all trials."""
        gaps = self.gaps
        return float(self.at.sum() + gaps.at_low.sum() + gaps.at_high.sum() + gaps.inner.sum())

    def empty(self) -> WeightedCutCounts:
        """The same cuts without a trial."""
        found = WeightedCutCounts.__new__(WeightedCutCounts)
        found.__setstate__({"cuts": self.cuts})
        return found

    def add(self, scores: ScoreArray, weights: CountArray) -> None:
        """Count trials in any order; those of weight 0 count for nothing. From any thread.

        Parameters
        ----------
        scores : (n,) array
        weights : (n,) array
        """
        own = SortedClass.of(scores, weights.astype(np.float64, copy=False))
        assert own.weights is not None  # noqa: S101  # they were given
        place = np.searchsorted(self.cuts, own.scores, side="left")
        is_tied = self.cuts[np.minimum(place, len(self.cuts) - 1)] == own.scores
        some, tied = np.flatnonzero(~is_tied), np.flatnonzero(is_tied)
        gap, rest, by = place[some], own.scores[some], own.weights[some].astype(np.float64, copy=False)
        begins = np.flatnonzero(np.concatenate((np.ones(min(len(gap), 1), np.bool_), gap[1:] != gap[:-1])))
        ends = np.append(begins[1:], len(gap)).astype(np.int64) if len(begins) else begins
        found, at = _Gaps.of(rest, by, begins, ends), gap[begins]
        with self._lock:
            self.at[place[tied]] += own.weights[tied]
            self.gaps.put(at, self.gaps.take(at) + found)
            self.is_whole &= bool(np.array_equal(weights, np.rint(weights)))

    def __add__(self, other: WeightedCutCounts) -> WeightedCutCounts:
        """Merge with the counts of other trials around the same cuts."""
        if not np.array_equal(self.cuts, other.cuts):
            raise ValueError("counts add up only around the same cuts")
        found = self.empty()
        found.at, found.gaps = self.at + other.at, self.gaps + other.gaps
        found.is_whole = self.is_whole and other.is_whole
        return found

    def as_class(self) -> GapClass:
        """All trials as few weighted entries in ascending order; weights are whole numbers if all of them were."""
        gaps = self.gaps
        with np.errstate(invalid="ignore", divide="ignore"):
            middle = gaps.sums / gaps.inner
        middle = np.clip(np.where(np.isfinite(middle), middle, gaps.low), gaps.low, gaps.high).astype(self.cuts.dtype)
        several = gaps.inner > 0
        scores = np.stack((gaps.low, middle, gaps.high, self.cuts), axis=1)
        weights = np.stack((gaps.at_low, gaps.inner, gaps.at_high, self.at), axis=1)
        none = np.zeros_like(several)
        unsure = np.stack((none, several, several, none), axis=1)
        kept = weights > 0
        return entries(scores[kept], weights[kept], unsure[kept], is_whole=self.is_whole)


def entries(scores: ScoreArray, weights: CountArray, unsure: BoolArray, *, is_whole: bool) -> GapClass:
    """A class of ascending weighted entries, with whole numbers where these are exact."""
    if is_whole and weights.sum() <= _LARGEST:
        weights = weights.astype(np.int64)
    cumulated = np.concatenate((np.zeros(1, weights.dtype), np.cumsum(weights)))
    return GapClass(scores, weights, cumulated, unsure, [])


def unknown_weighted_class(total: float, low: float, high: float, kind: Any) -> GapClass:
    """A class of this weight of which only the lowest and the highest score are known."""
    scores = np.array([low, low / 2 + high / 2, high], kind)
    return entries(scores, total * np.array([0.25, 0.5, 0.25]), np.array([False, True, True]), is_whole=False)


def spliced(known: GapClass, low: float, high: float, inside: SortedClass) -> GapClass:
    """A class with what is known of the trials from one score up to below another in place of its entries there.

    Parameters
    ----------
    known : GapClass
    low, high : float
        Both are scores at which it is known how many trials lie below.
    inside : SortedClass
        All trials with ``low <= score < high``.

    Examples
    --------
    >>> counts = WeightedCutCounts(np.array([0.0]))
    >>> counts.add(np.array([1.0, 2.0, 3.0, 4.0]), np.ones(4))
    >>> known = counts.as_class()
    >>> known.scores.tolist(), spliced(known, 0.0, np.inf, SortedClass.of(np.arange(1.0, 5.0))).scores.tolist()
    ([1.0, 2.5, 4.0], [1.0, 2.0, 3.0, 4.0])
    """
    first, last = np.searchsorted(known.scores, np.array([low, high], known.scores.dtype))
    assert known.weights is not None  # noqa: S101  # entries have weights
    own = np.ones(len(inside.scores), known.weights.dtype) if inside.weights is None else inside.weights
    columns = []
    sure = np.zeros(len(inside.scores), np.bool_)
    for whole, part in ((known.scores, inside.scores), (known.weights, own), (known.unsure, sure)):
        columns.append(np.concatenate((whole[:first], part, whole[last:])))
    scores, weights, unsure = columns
    cumulated = np.concatenate((np.zeros(1, weights.dtype), np.cumsum(weights)))
    return replace(known, scores=scores, weights=weights, cumulated=cumulated, unsure=unsure, missed=[])


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


def summed(weights: FloatArray, begins: IntArray, places: range) -> IntArray:
    """Sums of the digits of weights over runs that begin at these positions, (n_digits, n_runs).

    Examples
    --------
    >>> summed(np.array([1.0, 0.5, 2.0**26]), np.array([0, 2]), range(-1, 2)).tolist()
    [[33554432, 0], [1, 0], [0, 1]]
    """
    found = np.zeros((len(places), len(begins)), np.int64)
    for row, digit in _digits(weights, places):
        found[row] = np.add.reduceat(digit.astype(np.int64), begins)
    return found


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


def rounded_products(weights: FloatArray, shares: FloatArray) -> FloatArray:
    """Weights times numbers from 0 to 1, rounded so that they have the digits of the weights and no further ones."""
    mantissa, exponent = np.frexp(weights)
    unit = np.ldexp(mantissa, _MANTISSA)
    found: FloatArray = np.ldexp(np.rint(unit * shares), exponent - _MANTISSA)
    return found


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
