"""Counting around cuts: a class too large for memory as few weighted entries, of which every rank figure is exact.

Between two neighbouring scores of the rarer class lie only trials of the other one. Their order there can touch neither
the ROC at its corners nor its hull nor PAV: their number matters, their lowest and highest score, where blocks and
thresholds end, and their sum, for means. So cuts at all scores of the rarer class, and at every threshold that is asked
for, make a few numbers of a billion trials; they add up over parts of the data in any order.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from deciban.core.ranks.counts import SortedClass, splitting
from deciban.types import BoolArray, CountArray, FloatArray, IntArray, ScoreArray

_CUTS_PER_STEP = 4096
"""Cuts that are looked up at once: what they are looked up in stays in cache."""

_FEW_TRIALS = 1024
"""Trials up to which more cuts are taken at once, as steps cost something, too."""

_MOST_TRIALS = 1 << 17
"""Trials that are added at once."""

_MOST_CUTS_PER_STEP = 1 << 18

_SPARSE = 4
"""So many cuts for a trial, and the trials are looked up among the cuts."""

_CUTS_PER_BLOCK = 1 << 20
"""Cuts of which entries are made at once."""


class CutCounts:
    """Trials at every cut and between neighbours; ``a + b`` counts those of both.

    Parameters
    ----------
    cuts : (n,) array
        Scores in any order, of the type of the trials' scores; both infinities are cuts as well.
    """

    def __init__(self, cuts: ScoreArray) -> None:
        ends = np.array([-np.inf, np.inf], cuts.dtype)
        self.cuts: ScoreArray = np.unique(np.concatenate((cuts, ends)) + cuts.dtype.type(0.0))
        self._count_from_zero()
        self._lock = threading.Lock()

    def _count_from_zero(self) -> None:
        n, kind = len(self.cuts), self.cuts.dtype
        self.at: IntArray = np.zeros(n, np.int64)
        self.between: IntArray = np.zeros(n, np.int64)
        """Trials below each cut and above the one before."""
        self.low: ScoreArray = np.full(n, np.inf, kind)
        self.high: ScoreArray = np.full(n, -np.inf, kind)
        self.sums: FloatArray = np.zeros(n)

    def __getstate__(self) -> dict[str, Any]:
        if not (self.at.any() or self.between.any()):  # cuts alone are a tenth of it: they go to every worker
            return {"cuts": self.cuts}
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if len(state) == 1:
            self._count_from_zero()
        self._lock = threading.Lock()

    @property
    def n_bytes(self) -> int:
        """What the counts take."""
        return len(self.cuts) * (3 * self.cuts.itemsize + 24)

    def empty(self) -> CutCounts:
        """The same cuts without a trial."""
        found = CutCounts.__new__(CutCounts)
        found.__setstate__({"cuts": self.cuts})
        return found

    def add(self, scores: ScoreArray, counts: CountArray | None = None) -> None:
        """Count trials, whose scores ascend, or so many with each of different scores; from any thread."""
        begun = 0
        first = int(np.searchsorted(self.cuts, scores[0])) if len(scores) else 0
        while begun < len(scores) and first < len(self.cuts):
            step, end = _CUTS_PER_STEP, begun
            while True:
                cuts = self.cuts[first : first + step]
                end = begun + int(np.searchsorted(scores[begun:], cuts[-1], side="right"))
                if end - begun > _FEW_TRIALS or step >= _MOST_CUTS_PER_STEP or first + step >= len(self.cuts):
                    break
                step *= 4
            near = scores[begun : min(end, begun + _MOST_TRIALS)]
            if len(near):
                with np.errstate(over="ignore", invalid="ignore"):  # sums of huge scores; see `_entries`
                    n = None if counts is None else counts[begun : begun + len(near)]
                    (self._add_sparse if _SPARSE * len(near) < len(cuts) else self._add_dense)(first, cuts, near, n)
            begun += len(near)
            first += step if begun == end else 0

    def _add_dense(self, first: int, cuts: ScoreArray, near: ScoreArray, counts: CountArray | None) -> None:
        """Count trials between the cut before ``first`` and the last of ``cuts``, or at these: cuts are looked up."""
        left = np.searchsorted(near, cuts, side="left")
        right = left.copy()
        tied = np.flatnonzero(near[np.minimum(left, len(near) - 1)] == cuts)
        right[tied] = left[tied] + 1 if counts is not None else np.searchsorted(near, cuts[tied], side="right")
        start = np.concatenate((np.zeros(1, np.int64), right[:-1]))
        filled = np.flatnonzero(left > start)
        start, end = start[filled], left[filled]
        # Between the end of a gap and the next one may lie trials at a cut: they are a sum that is left out.
        ends = np.stack((start, end), axis=1).ravel()
        doubles = near.astype(np.float64, copy=False)  # reduceat takes ten times as long to convert them itself
        doubles = doubles if counts is None else doubles * counts
        sums = np.add.reduceat(doubles, ends[:-1])[::2] if len(ends) else np.zeros(0)
        if len(ends) and end[-1] < len(near):
            sums[-1] = doubles[start[-1] : end[-1]].sum()
        edges = near[start], near[end - 1]
        at, n = right[tied] - left[tied], end - start
        if counts is not None:
            upto = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
            at, n = counts[left[tied]], upto[end] - upto[start]
        with self._lock:
            self.at[tied + first] += at
            self._fill(filled + first, n, edges, sums)

    def _add_sparse(self, first: int, cuts: ScoreArray, near: ScoreArray, counts: CountArray | None) -> None:
        """The same where most gaps stay empty: the trials are looked up."""
        place = np.searchsorted(cuts, near, side="left")
        is_tied = cuts[place] == near
        between, tied = np.flatnonzero(~is_tied), np.flatnonzero(is_tied)
        numbers = np.ones(len(near), np.int64) if counts is None else counts
        at = _begins(place[tied])
        if len(between):
            some, own, begins = near[between], numbers[between], _begins(place[between])
            last = np.append(begins[1:], len(between)) - 1
            sums = np.add.reduceat(some * own.astype(np.float64), begins)
        with self._lock:
            if len(tied):
                self.at[place[tied][at] + first] += np.add.reduceat(numbers[tied], at)
            if len(between):
                gaps = place[between][begins] + first
                self._fill(gaps, np.add.reduceat(own, begins), (some[begins], some[last]), sums)

    def _fill(self, gaps: IntArray, n: IntArray, ends: tuple[ScoreArray, ScoreArray], sums: FloatArray) -> None:
        """Add so many trials to gaps, with the lowest and the highest of them and their sums."""
        self.between[gaps] += n
        self.low[gaps] = np.minimum(self.low[gaps], ends[0])
        self.high[gaps] = np.maximum(self.high[gaps], ends[1])
        self.sums[gaps] += sums

    def __add__(self, other: CutCounts) -> CutCounts:
        """Merge with the counts of other trials around the same cuts."""
        if not np.array_equal(self.cuts, other.cuts):
            raise ValueError("counts add up only around the same cuts")
        found = self.empty()
        found.at, found.between = self.at + other.at, self.between + other.between
        found.low, found.high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        with np.errstate(over="ignore", invalid="ignore"):
            found.sums = self.sums + other.sums
        return found

    def without(self, some: ScoreArray) -> CutCounts:
        """The counts of all but some trials, all of whose scores are cuts; they ascend."""
        found = CutCounts.__new__(CutCounts)
        found.__dict__.update(self.__dict__)
        found.at = self.at.copy()
        for first in range(0, len(some), _CUTS_PER_BLOCK):
            np.subtract.at(found.at, np.searchsorted(self.cuts, some[first : first + _CUTS_PER_BLOCK]), 1)
        return found

    def as_class(self) -> GapClass:
        """All trials as few weighted entries in ascending order."""
        n = sum(np.count_nonzero(self.between > k) for k in range(3)) + np.count_nonzero(self.at)
        scores, weights, unsure = np.empty(n, self.cuts.dtype), np.empty(n, np.int64), np.empty(n, np.bool_)
        upto = 0  # what is put together at the end would be there twice
        for first in range(0, len(self.cuts), _CUTS_PER_BLOCK):
            entries = self._entries(first)
            for whole, part in zip((scores, weights, unsure), entries, strict=True):
                whole[upto : upto + len(part)] = part
            upto += len(entries[0])
        cumulated = np.zeros(n + 1, np.int64)
        np.cumsum(weights, out=cumulated[1:])
        return GapClass(scores, weights, cumulated, unsure, [])

    def _entries(self, first: int) -> tuple[ScoreArray, CountArray, BoolArray]:
        """Scores, weights and whether thresholds between them and the entry before split trials that are not told."""
        part = slice(first, first + _CUTS_PER_BLOCK)
        n, low, high, at = self.between[part], self.low[part], self.high[part], self.at[part]
        inner = n > 2
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            middle = (self.sums[part] - low - high) / (n - 2)
        # A mean that overflowed is any score in between; rounding must not carry it beyond them.
        middle = np.clip(np.where(np.isfinite(middle), middle, low), low, high).astype(low.dtype)
        scores = np.stack((low, middle, high, self.cuts[part]), axis=1)
        weights = np.stack((n > 0, np.maximum(n - 2, 0), n > 1, at), axis=1).astype(np.int64)
        unsure = np.stack((np.zeros_like(inner), inner, inner, np.zeros_like(inner)), axis=1)
        kept = np.flatnonzero(weights)
        return scores.ravel()[kept], weights.ravel()[kept], unsure.ravel()[kept]


def _begins(ascending: IntArray) -> IntArray:
    """Where runs of equal numbers begin."""
    return np.flatnonzero(np.concatenate((np.ones(min(len(ascending), 1), np.bool_), ascending[1:] != ascending[:-1])))


@dataclass(frozen=True, slots=True)
class GapClass(SortedClass):
    """A class of which only the trials at cuts, and the ends of the gaps between them, are known one by one.

    Attributes
    ----------
    unsure : (n_entries,) bool array
        Whether a threshold above the entry before, up to this one, splits trials that are not told apart.
    missed : list
        Thresholds that did so: cuts at which a second count makes exact what was asked.
    """

    unsure: BoolArray
    missed: list[FloatArray]

    @property
    def certain_scores(self) -> ScoreArray:
        """See `SortedClass.certain_scores`: not those in and at the end of gaps."""
        return self.scores[~self.unsure]

    def positions(self, thresholds: FloatArray) -> IntArray:
        """Number of entries below every threshold."""
        wanted = splitting(self.scores, thresholds)
        found = np.searchsorted(self.scores, wanted, side="left").astype(np.int64, copy=False)
        lost = np.append(self.unsure, False)[found]  # nothing is above all entries
        if lost.any():
            self.missed.append(np.atleast_1d(wanted)[np.atleast_1d(lost)].astype(np.float64))
        return found


def unknown_class(n: int, low: float, high: float, kind: Any) -> GapClass:
    """A class of ``n`` trials of which only the lowest and the highest score are known."""
    counts = CutCounts(np.zeros(0, kind))
    with np.errstate(over="ignore", invalid="ignore"):  # sums of huge scores; see `_entries`
        counts.between[-1], counts.low[-1], counts.high[-1], counts.sums[-1] = n, low, high, n * (low / 2 + high / 2)
    return counts.as_class()
