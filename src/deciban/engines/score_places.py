"""Scores at given places of the sorted trials of a class, found by passes: where cells of units have their borders.

Trials in pieces are known around cuts. A place between two cuts is looked for among the trials there, which one more
pass keeps if they are few; if they are not, a pass counts them around many finer cuts first.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from deciban.core.ranks.counts import SortedClass
from deciban.core.ranks.gaps import GapClass
from deciban.core.ranks.pruning import CellClass
from deciban.core.ranks.score_cells import keys_of, scores_of
from deciban.core.resampling.cells import places_along, room_for
from deciban.metrics import SortedScores
from deciban.trials.passes import Engine, Locked, Work
from deciban.trials.sources import Piece, ShardSource, Wanted, changed
from deciban.trials.speakers import counting
from deciban.types import BoolArray, CountArray, FloatArray, IntArray, ScoreArray

_BYTES_PER_SCORE = 64
"""What a score takes that is kept, with its weight and what sorting needs."""

_FEWEST_KEPT = 1 << 12
"""Scores for which there is always room."""

_CUTS = 1 << 18
"""Cuts around which a pass counts, of both classes."""

_FEWEST_CUTS = 8

Ranges = tuple[ScoreArray, ScoreArray]
"""Where ranges of scores begin, and where they end: ``low <= score < high``, all scores if that is infinite."""


class _ByClass(Locked, Work):
    """One pass over trials that count, class by class: non-targets, then targets."""

    def __init__(self, system: int, kind: Any) -> None:
        super().__init__()
        self.system, self.kind = system, kind

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        for piece in pieces:
            chunk = counting(piece.read(Wanted((self.system,), truth=True, weight=True)))
            assert chunk.truth is not None  # noqa: S101  # it was asked for
            scores = chunk.scores[0].astype(self.kind, copy=False)
            for c, some in enumerate((~chunk.truth, chunk.truth)):
                self.add(c, scores[some], None if chunk.weight is None else chunk.weight[some])

    @abstractmethod
    def add(self, c: int, scores: ScoreArray, weights: CountArray | None) -> None:
        """Add trials of a class; from any thread."""


class KeepWithin(_ByClass):
    """The distinct scores of both classes in some ranges, with how many trials have them.

    Parameters
    ----------
    system : int
    kind : dtype
        Of scores.
    ranges : pair of Ranges
        Of non-targets and of targets: ascending, apart from each other.
    most : int
        If there are more scores than this, nothing is kept.
    """

    words = "keeping scores where cells of units end"

    def __init__(self, system: int, kind: Any, ranges: tuple[Ranges, Ranges], most: int) -> None:
        super().__init__(system, kind)
        self.ranges, self.most = ranges, most
        self.classes: list[SortedClass] | None = [SortedClass.of(np.zeros(0, kind), np.zeros(0, np.int64))] * 2
        self._waiting: list[list[SortedClass]] = [[], []]

    def empty(self) -> Self:
        """See `Work.empty`."""
        return type(self)(self.system, self.kind, self.ranges, self.most)

    def add(self, c: int, scores: ScoreArray, weights: CountArray | None) -> None:
        """See `_ByClass.add`."""
        low, high = (ends.astype(np.float64) for ends in self.ranges[c])
        if not len(low):
            return
        whole = SortedClass.of(scores, weights)
        begins, ends = whole.positions(low), np.where(high == np.inf, len(whole.scores), whole.positions(high))
        at = np.concatenate([np.arange(*pair) for pair in zip(begins.tolist(), ends.tolist(), strict=True)])
        own = np.ones(len(at), np.int64) if whole.weights is None else whole.weights[at]
        some = SortedClass.of(whole.scores[at], own)
        with self.lock:
            if self.classes is not None and len(some.scores):
                self._waiting[c].append(some)
                if sum(len(one.scores) for one in self._waiting[c]) > self.most:
                    self.gathered()

    def gathered(self) -> list[SortedClass] | None:
        """What was kept, of non-targets and of targets; None if it was too much."""
        if self.classes is not None:
            self.classes = [
                SortedClass.merged([one, *more]) for one, more in zip(self.classes, self._waiting, strict=True)
            ]
            if sum(len(one.scores) for one in self.classes) > self.most:
                self.classes = None
        self._waiting = [[], []]
        return self.classes

    def __getstate__(self) -> dict[str, Any]:
        self.gathered()
        return super().__getstate__()

    def __add__(self, other: Self) -> Self:
        """See `Work.__add__`."""
        found, mine, theirs = self.empty(), self.gathered(), other.gathered()
        if mine is None or theirs is None:
            found.classes = None
        else:
            found._waiting = [[a, b] for a, b in zip(mine, theirs, strict=True)]
            found.gathered()
        return found


class CountBelow(_ByClass):
    """How many trials (or weight) of non-targets and of targets lie below many scores.

    Parameters
    ----------
    system : int
    kind : dtype
        Of scores.
    cuts : pair of arrays
        Ascending.
    """

    words = "counting where cells of units end"

    def __init__(self, system: int, kind: Any, cuts: tuple[ScoreArray, ScoreArray]) -> None:
        super().__init__(system, kind)
        self.cuts = cuts
        self.below: list[CountArray] = [np.zeros(len(one), np.int64) for one in cuts]

    def empty(self) -> Self:
        """See `Work.empty`."""
        return type(self)(self.system, self.kind, self.cuts)

    def add(self, c: int, scores: ScoreArray, weights: CountArray | None) -> None:
        """See `_ByClass.add`."""
        if not (len(self.cuts[c]) and len(scores)):
            return
        found = SortedClass.of(scores, weights).below(self.cuts[c].astype(np.float64))
        with self.lock:
            self.below[c] = self.below[c] + found

    def __add__(self, other: Self) -> Self:
        """See `Work.__add__`."""
        found = self.empty()
        found.below = [a + b for a, b in zip(self.below, other.below, strict=True)]
        return found


class _Search:
    """Looks for the lowest score up to which so many trials of a class lie.

    Parameters
    ----------
    known : SortedClass
        What is known of the class.
    goals : (n,) array
        How many trials (or weight).
    """

    def __init__(self, known: SortedClass, goals: FloatArray) -> None:
        self.goals = np.minimum(goals, known.total)
        self.found: FloatArray = np.full(len(goals), np.nan)
        cumulated = np.arange(len(known.scores) + 1) if known.cumulated is None else known.cumulated
        at = np.minimum(np.searchsorted(cumulated[1:], self.goals), len(known.scores) - 1)
        unsure = known.unsure if isinstance(known, GapClass) else np.zeros(len(known.scores), np.bool_)
        sure = np.flatnonzero(~unsure)
        place = np.searchsorted(sure, at, side="right") - 1
        first, after = sure[place], np.append(sure, len(unsure))[place + 1]
        self.low = known.scores[first]
        self.high = np.append(known.scores, known.scores.dtype.type(np.inf))[after]
        self.before, self.upto = cumulated[first], cumulated[after]
        """Trials below the range in which a score lies, and below its end."""
        is_told = np.full(len(at), not isinstance(known, CellClass)) & (after == first + 1)
        self._settle(is_told | (self.low == np.inf))

    def _settle(self, known: BoolArray) -> None:
        """Take scores at which ranges begin, where no other is left in them."""
        known |= np.nextafter(self.low, self.high) >= self.high
        self.found[known & np.isnan(self.found)] = self.low[known & np.isnan(self.found)]

    @property
    def open(self) -> IntArray:
        """What was not found yet, one goal for each range."""
        left = np.flatnonzero(np.isnan(self.found))
        return left[np.unique(self.low[left], return_index=True)[1]]

    @property
    def n_inside(self) -> float:
        """Trials (or weight) in ranges."""
        return float((self.upto - self.before)[self.open].sum())

    @property
    def ranges(self) -> Ranges:
        """Where scores are looked for."""
        return self.low[self.open], self.high[self.open]

    def cuts(self, n: int) -> ScoreArray:
        """Scores inside of ranges, about ``n`` in each."""
        low, high = self.ranges
        if not len(low):
            return low
        kind, largest = low.dtype, float(np.finfo(low.dtype).max)
        ends = np.clip(low.astype(np.float64), -largest, largest), np.clip(high.astype(np.float64), -largest, largest)
        share = np.linspace(0.0, 1.0, n // 2 + 2)[1:-1, None]
        even = ends[0] * (1.0 - share) + ends[1] * share
        first, last = keys_of(ends[0]), keys_of(ends[1])
        by_key = scores_of(first + (share * (last - first).astype(np.float64)).astype(np.uint64))
        found = np.concatenate((even, by_key)).astype(kind)
        found = np.vstack((found, np.nextafter(low, high), high[None]))  # many trials may have one score
        found = found[(found > low) & (found <= high)]
        return np.unique(found[np.isfinite(found)])

    def narrow(self, cuts: ScoreArray, below: CountArray) -> None:
        """Take the part of every range in which the score is, by what is below cuts."""
        if not len(cuts):
            return
        at = np.searchsorted(below, self.goals, side="left")  # the first cut with enough below
        for side, place, inside in (("low", at - 1, at > 0), ("high", at, at < len(cuts))):
            score, n = cuts[np.clip(place, 0, len(cuts) - 1)], below[np.clip(place, 0, len(cuts) - 1)]
            mine, count = (self.low, self.before) if side == "low" else (self.high, self.upto)
            better = inside & ((score > mine) if side == "low" else (score < mine))
            mine[better] = score[better]
            count[better] = n[better]
        self._settle(np.zeros(len(self.found), np.bool_))

    def pick(self, kept: SortedClass, name: str) -> None:
        """Find the rest among the trials of all ranges.

        Raises
        ------
        FormatError
            If they are not what they were.
        """
        assert kept.cumulated is not None  # noqa: S101  # entries have weights
        for at in np.flatnonzero(np.isnan(self.found)):
            first, end = np.searchsorted(kept.scores, [self.low[at], self.high[at]])
            if self.high[at] == np.inf:
                end = len(kept.scores)
            if first == end:
                raise changed(name)
            upto = kept.cumulated[first + 1 : end + 1] - kept.cumulated[first] + self.before[at]
            self.found[at] = kept.scores[first + min(int(np.searchsorted(upto, self.goals[at])), end - first - 1)]


def scores_along(
    source: ShardSource, engine: Engine, memory: int, system: int, ranks: SortedScores, n_units: int
) -> FloatArray:
    """Borders along both classes, see `deciban.core.resampling.cells.cells_of`: those of the same trials in memory.

    Parameters
    ----------
    source : ShardSource
    engine : Engine
    memory : int
        Bytes that may be taken.
    system : int
    ranks : SortedScores
        Of all trials, as far as they are known.
    n_units : int

    Raises
    ------
    FormatError, OSError
        As reading does; or if trials are not what they were.
    """
    room, classes = room_for(n_units), (ranks.non, ranks.tar)
    kind, most = np.float64 if source.is_double else np.float32, max(memory // _BYTES_PER_SCORE, _FEWEST_KEPT)
    is_weighted = source.has_weights
    if sum(len(one.scores) if is_weighted else one.total for one in classes) <= room:
        if not any(isinstance(one, GapClass) for one in classes):  # all scores are known
            return np.concatenate([one.scores.astype(np.float64) for one in classes])
        whole: Ranges = (np.array([-np.inf], kind), np.array([np.inf], kind))
        found = engine.run(KeepWithin(system, kind, (whole, whole), room), source.pieces).gathered()
        if found is not None:
            return np.concatenate([one.scores.astype(np.float64) for one in found])
    searches = [_Search(one, _goals(one.total, room // 2, is_weighted=is_weighted)) for one in classes]
    while any(len(one.open) for one in searches):
        if is_weighted or sum(one.n_inside for one in searches) <= most:
            keep = KeepWithin(system, kind, (searches[0].ranges, searches[1].ranges), most)
            kept = engine.run(keep, source.pieces).gathered()
            if kept is not None:
                for one, own in zip(searches, kept, strict=True):
                    one.pick(own, source.name)
                break
        n_ranges = sum(len(one.open) for one in searches)
        cuts = [one.cuts(max(_CUTS // n_ranges, _FEWEST_CUTS)) for one in searches]
        below = engine.run(CountBelow(system, kind, (cuts[0], cuts[1])), source.pieces).below
        for one, at, n in zip(searches, cuts, below, strict=True):
            one.narrow(at, n)
    return np.concatenate([one.found for one in searches])


def _goals(total: float, n_places: int, *, is_weighted: bool) -> FloatArray:
    """How many trials (or weight) lie up to scores that stand at places along a class."""
    lines = places_along(total, n_places)
    return lines if is_weighted else np.floor(lines) + 1.0
