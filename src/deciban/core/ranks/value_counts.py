"""How often each float32 score occurs: a billion trials have some ten million different scores.

The bits of a float32 are a whole number, and scores of one sign have the order of their bits. Their leading bits say
the block that a score belongs to, the others its place there. A block in which many scores lie is a table with a
counter for every score that could be; where few lie, the scores themselves take less. So a pass only counts, and
nothing depends on the order of trials: what is asked of them is asked of different scores and their counts.

What takes time is moving counters between memory and processor. So a counter is a byte, whose last bit is carried to a
larger one; and scores of a block wait until they are many for their counters.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.core.ranks.gaps import GapClass
from deciban.core.ranks.loops import CARRIED, N_BLOCKS, PLACE, Loops, compiled
from deciban.types import AnyArray, CountArray, ScoreArray

BitArray = NDArray[np.uint32]


_PLACE = PLACE

"""Bits of the place in a block: 1/32 of the scores between a power of two and the next one."""


_N_PLACES = 1 << _PLACE

_MASK = np.uint32(_N_PLACES - 1)


_LEAST, _MOST_REST = 1 << 9, 1 << 22

"""Scores of a block among those that are added at once, if they are not to wait, and how many others do."""


_FEWEST, _WAITING = 1 << 8, 1 << 16

"""Scores of a block that there is room for at first, and that wait at most."""


_AT_ONCE = 1 << 13

"""Scores that are counted at once: temporaries stay in cache."""


_TIES, _PARTS = 8, 16

"""Trials of one score that one part of the trials may have, and parts that are counted before anything is carried."""


_ONE = np.uint8(1)

_CARRIED = np.uint8(CARRIED)

assert CARRIED >= _TIES * _PARTS  # noqa: S101

"""Counters are below this before the parts are added, and so below 256 afterwards."""


class ValueCounts:
    """Counts of float32 scores; threads may add at once, ``a + b`` counts the trials of both.

    Parameters
    ----------
    most : int
        Bytes that may be taken.
    loops : Loops, optional
        What counts faster than NumPy.

    Examples
    --------
    >>> found = ValueCounts(most=10**8)
    >>> found.add(np.array([2.0, -1.0, 2.0, np.inf, -0.5], np.float32))
    >>> found.take_away(np.array([2.0, -1.0], np.float32))
    >>> [(scores, counts) for scores, counts in map(Block.entries, found.blocks())][-2:]
    [(array([2.], dtype=float32), array([1])), (array([inf], dtype=float32), array([1]))]
    """

    def __init__(self, most: int, loops: Loops | None = None) -> None:
        self.most, self.loops = most, loops
        self._blocks: dict[int, Block] = {}
        self._lock = threading.Lock()
        self._scratch = threading.local()
        self._rest: list[BitArray] = []

    @property
    def is_full(self) -> bool:
        """Whether more is taken than may be."""
        return sum(one.n_bytes for one in list(self._blocks.values())) + 8 * _MOST_REST > self.most

    def add(self, *parts: ScoreArray) -> None:
        """Count trials in any order, from any thread; no NaN. A million at once take less time than a few."""
        rest = self._add_parted(parts, _LEAST) if self.loops else self._add_sorted(self._sorted_bits(parts), _LEAST)
        with self._lock:
            self._rest.append(rest)
            if sum(map(len, self._rest)) <= _MOST_REST:
                return
            rest, self._rest = np.concatenate(self._rest), []
        self._add_rest(rest)

    def _add_rest(self, rest: BitArray) -> None:
        if self.loops:
            self._add_parted([rest], 1)
        else:
            rest.sort()
            self._add_sorted(rest, 1)

    def _add_parted(self, parts: Sequence[AnyArray], least: int) -> BitArray:
        """Count trials block by block without sorting; gives back what `_add_sorted` does."""
        assert self.loops is not None  # noqa: S101  # it was asked
        numbers, room = np.zeros(N_BLOCKS, np.int64), self._room(sum(map(len, parts)))
        given = [np.ascontiguousarray(one).view(np.uint32) for one in parts]
        for one in given:
            self.loops.count_blocks(one, numbers)
        ends = np.cumsum(numbers)
        upto = ends - numbers
        for one in given:
            self.loops.part(one, upto, room)
        left = [room[:0]]
        for number in np.flatnonzero(numbers).tolist():
            own = room[ends[number] - numbers[number] : ends[number]]
            if len(own) >= least:
                self._block(number).add(own, is_tied=True)
            else:
                left.append(own)
        return np.concatenate(left)

    def _add_sorted(self, bits: BitArray, least: int) -> BitArray:
        """Count what ascends; but for blocks with few of them, which are left and given back."""
        numbers = _different(bits[::least] >> np.uint32(_PLACE))[0]
        starts = np.searchsorted(bits, numbers << np.uint32(_PLACE))
        ends = np.searchsorted(bits, (numbers << np.uint32(_PLACE)) | _MASK, side="right")
        begin, left = 0, []
        for number, start, end in zip(numbers.tolist(), starts.tolist(), ends.tolist(), strict=True):
            if end - start >= least:
                own = bits[start:end]
                self._block(number).add(own, is_tied=_may_be_tied(own))
                left.append(bits[begin:start])
                begin = end
        return np.concatenate((*left, bits[begin:]))

    def take_away(self, scores: ScoreArray) -> None:
        """Count trials no more that were counted before; after all were added."""
        bits = self._sorted_bits([scores])
        numbers, starts = _different(bits >> np.uint32(_PLACE))
        for number, start, end in zip(numbers.tolist(), starts, [*starts[1:], len(bits)], strict=True):
            self._block(number).take_away(bits[start:end])

    def _sorted_bits(self, parts: Sequence[ScoreArray]) -> BitArray:
        """Until the same thread asks again: memory that is new every time costs as much as sorting."""
        upto = 0
        found = self._room(sum(map(len, parts)))
        room = found.view(np.float32)
        for one in parts:
            np.add(one, np.float32(0.0), out=room[upto : upto + len(one)])  # both zeros are one
            upto += len(one)
        found.sort()  # faster than as floats, and the order within a sign is the same
        return found

    def _room(self, n: int) -> BitArray:
        """Memory of this thread."""
        room: BitArray | None = getattr(self._scratch, "room", None)
        if room is None or len(room) < n:
            room = self._scratch.room = np.empty(n, np.uint32)
        return room[:n]

    def _block(self, number: int) -> Block:
        found = self._blocks.get(number)
        if found is None:
            with self._lock:
                found = self._blocks.setdefault(number, Block(number, self.loops))
        return found

    def blocks(self) -> list[Block]:
        """Blocks with trials, in ascending order of their scores; when all were added."""
        rest, self._rest = np.concatenate([np.zeros(0, np.uint32), *self._rest]), []
        self._add_rest(rest)
        half = N_BLOCKS // 2
        return [self._blocks[n] for n in sorted(self._blocks, key=lambda n: n if n < half else half - 1 - n)]

    def finite_range(self) -> tuple[float, float]:
        """Lowest and highest finite score, when all were added; the ends of an empty range if there is none."""
        blocks = self.blocks()
        lows = (float(one[0]) for one in map(_finite_scores, blocks) if len(one))
        highs = (float(one[-1]) for one in map(_finite_scores, reversed(blocks)) if len(one))
        return next(lows, math.inf), next(highs, -math.inf)

    def __getstate__(self) -> dict[str, Any]:
        return {"most": self.most, "has_loops": self.loops is not None, "blocks": self.blocks()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["most"], compiled() if state["has_loops"] else None)  # type: ignore[misc]
        for block in state["blocks"]:
            block.loops, self._blocks[block.number] = self.loops, block

    def __add__(self, other: ValueCounts) -> ValueCounts:
        """Merge with the counts of other trials."""
        found = ValueCounts(self.most, self.loops)
        for part in (self, other):
            for block in part.blocks():
                found._block(block.number).merge(block)
        return found


def expected_bytes(sample: ScoreArray, n_rows: int) -> int:
    """Bytes that counts of so many trials will take, if all are like some of them.

    Examples
    --------
    >>> expected_bytes(np.full(1000, 0.5, np.float32), 10**9), expected_bytes(np.full(1000, 0.5, np.float32), 10**3)
    (524288, 8000)
    """
    found = np.bincount(sample.view(np.uint32) >> np.uint32(_PLACE)) * (n_rows / max(len(sample), 1))
    return int(np.minimum(8 * found, _N_PLACES + 4 * _WAITING).sum())


def _finite_scores(block: Block) -> ScoreArray:
    scores = block.entries()[0]
    return scores[np.isfinite(scores)]


def _different(ascending: BitArray) -> tuple[BitArray, list[int]]:
    """Different ones, and where each begins."""
    is_first = np.ones(len(ascending), np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=is_first[1:])
    starts = np.flatnonzero(is_first)
    return ascending[starts], starts.tolist()


def _may_be_tied(bits: BitArray) -> bool:
    """Whether more than so many of these, which ascend, may be the same: then two of every fourth are, too."""
    some = bits[:: _TIES // 2]
    return bool((some[1:] == some[:-1]).any())


class Block:
    """Counts of the scores that share their leading bits.

    Parameters
    ----------
    number : int
        Their leading bits.
    loops : Loops, optional
        See `ValueCounts`.
    """

    def __init__(self, number: int, loops: Loops | None = None) -> None:
        self.number, self.loops = number, loops
        self._lock = threading.Lock()
        self._waiting: BitArray = np.empty(_FEWEST, np.uint32)
        self._ends = [0]
        """Of the parts that wait."""
        self._is_tied = False
        self._low: NDArray[np.uint8] | None = None
        self._high: NDArray[np.uint32] | None = None
        """Of what was carried."""
        self._away: list[BitArray] = []

    @property
    def n_bytes(self) -> int:
        """What it takes."""
        return self._waiting.nbytes + sum(one.nbytes for one in (self._low, self._high) if one is not None)

    def add(self, bits: BitArray, *, is_tied: bool) -> None:
        """Count scores, from any thread.

        Parameters
        ----------
        bits : (n,) array
            Ascending, unless there are loops.
        is_tied : bool
            Whether one of them may be there many times.
        """
        with self._lock:
            if self._ends[-1] + len(bits) > _WAITING:
                self._count_waiting()
            if len(bits) > _WAITING:
                self._count(bits, [0, len(bits)], is_tied=is_tied)
                return
            upto = self._ends[-1] + len(bits)
            if upto > len(self._waiting):
                more = np.empty(min(max(upto, 2 * len(self._waiting)), _WAITING), np.uint32)
                more[: self._ends[-1]] = self._waiting[: self._ends[-1]]
                self._waiting = more
            self._waiting[self._ends[-1] : upto] = bits
            self._ends.append(upto)
            self._is_tied |= is_tied

    def _count_waiting(self) -> None:
        self._count(self._waiting, self._ends, is_tied=self._is_tied)
        self._ends, self._is_tied = [0], False

    def _add_counts(self, places: AnyArray, counts: CountArray) -> None:
        """Count so many trials at each of different places."""
        counts = counts + self._counters()[places]
        self._counters()[places] = counts % _CARRIED
        self._carry(places, counts // _CARRIED)

    def _counters(self) -> NDArray[np.uint8]:
        if self._low is None:
            self._low = np.zeros(_N_PLACES, np.uint8)
        return self._low

    def _count(self, bits: BitArray, ends: list[int], *, is_tied: bool) -> None:
        """Count the scores of parts that end here."""
        if self.loops is not None:
            self._count_by(self.loops, bits[: ends[-1]])
            return
        if is_tied:
            self._add_counts(*np.unique(bits[: ends[-1]] & _MASK, return_counts=True))
            return
        low = self._counters()
        for first in range(0, len(ends) - 1, _PARTS):
            begin, end = ends[first], ends[min(first + _PARTS, len(ends) - 1)]
            for at in range(begin, end, _AT_ONCE):
                places = np.bitwise_and(bits[at : min(at + _AT_ONCE, end)], _MASK, dtype=np.int64)
                np.add.at(low, places, _ONE)
            if low.max() >= _CARRIED:
                places = np.flatnonzero(low >= _CARRIED)
                low[places] -= _CARRIED
                self._carry(places, np.ones(len(places), np.int64))

    def _count_by(self, loops: Loops, bits: BitArray) -> None:
        """Count scores in any order."""
        low, done = self._counters(), 0
        low.max()  # a table that is read from front to back is in cache in a fifth of the time that its places take
        while True:
            done = loops.count(bits, done, low, np.zeros(0, np.uint32) if self._high is None else self._high)
            if done == len(bits):
                return
            self._high = np.zeros(_N_PLACES, np.uint32)

    def _carry(self, places: AnyArray, counts: CountArray) -> None:
        if counts.any():
            self._high = np.zeros(_N_PLACES, np.uint32) if self._high is None else self._high
            self._high[places] += counts.astype(np.uint32)

    def take_away(self, bits: BitArray) -> None:
        """Count scores no more; after all were added."""
        self._away.append(bits.copy())

    def __getstate__(self) -> dict[str, Any]:
        if self.loops is not None and self._low is not None:  # what waits would be sent with the table
            self._count_by(self.loops, self._waiting[: self._ends[-1]])
            self._ends = [0]
        left = {name: value for name, value in self.__dict__.items() if name not in {"_lock", "loops"}}
        return {**left, "_waiting": self._waiting[: self._ends[-1]].copy()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock, self.loops = threading.Lock(), None

    def merge(self, other: Block) -> None:
        """Count what another block counts."""
        if self._low is None and other._low is not None:
            self._low = other._low.copy()
        elif other._low is not None:
            low = self._counters()
            low += other._low
            places = np.flatnonzero(low >= _CARRIED)
            low[places] -= _CARRIED
            self._carry(places, np.ones(len(places), np.int64))
        if other._high is not None:
            self._high = other._high.copy() if self._high is None else self._high + other._high
        self._away += other._away
        self.add(other._waiting[: other._ends[-1]], is_tied=True)

    def forget(self) -> None:
        """Give its memory back."""
        self._waiting, self._ends, self._low, self._high, self._away = np.empty(0, np.uint32), [0], None, None, []

    def entries(self) -> tuple[ScoreArray, CountArray]:
        """Different scores in ascending order, and how many trials have each; both may be written to."""
        bits, counts = self._bits_and_counts()
        if self.number >= N_BLOCKS // 2:  # below zero
            bits, counts = np.ascontiguousarray(bits[::-1]), np.ascontiguousarray(counts[::-1])
        return bits.view(np.float32), counts

    def _bits_and_counts(self) -> tuple[BitArray, CountArray]:
        waiting, away = self._waiting[: self._ends[-1]], np.concatenate([np.zeros(0, np.uint32), *self._away])
        if self._low is None:
            bits, counts = np.unique(waiting, return_counts=True)
            np.subtract.at(counts, np.searchsorted(bits, away), 1)
            return bits[counts > 0], counts[counts > 0]
        if self.loops is not None:
            return self._listed_by(self.loops, waiting, away)
        table = self._low.astype(np.int64)
        if self._high is not None:
            table += self._high * np.int64(_CARRIED)
        np.add.at(table, waiting & _MASK, 1)
        np.subtract.at(table, away & _MASK, 1)
        places = np.flatnonzero(table != 0)
        return places.astype(np.uint32) | np.uint32(self.number << _PLACE), table[places]

    def _listed_by(self, loops: Loops, waiting: BitArray, away: BitArray) -> tuple[BitArray, CountArray]:
        """The same of a table, whose counters take in what waits."""
        self._count_by(loops, waiting)
        self._ends = [0]
        bits, counts = np.empty(_N_PLACES, np.uint32), np.empty(_N_PLACES, np.int64)
        high = np.zeros(0, np.uint32) if self._high is None else self._high
        n = loops.list_counts(self._counters(), high, np.sort(away), self.number << _PLACE, bits, counts)
        return bits[:n], counts[:n]


_MOST_ENTRIES = 4

"""Of a cut and the gap before it."""


class GapList:
    """What `deciban.core.ranks.gaps.CutCounts` counts around the same cuts, listed at once.

    Parameters
    ----------
    kept : (n,) array
        Scores of trials that are left out; they ascend.
    more : (m,) array
        More cuts in any order; both infinities are cuts as well.
    loops : Loops
    """

    def __init__(self, kept: ScoreArray, more: ScoreArray, loops: Loops) -> None:
        self.loops = loops
        self._cuts = kept, np.unique(np.concatenate((more, [-np.inf, np.inf])).astype(np.float32))
        self._at = np.zeros(4, np.int64)
        self._gap = np.zeros(3)
        n = _MOST_ENTRIES * (len(kept) + len(self._cuts[1]))  # what is not written to takes no memory
        self._entries = np.empty(n, np.float32), np.empty(n, np.int64), np.empty(n, np.bool_)

    def add(self, scores: ScoreArray, counts: CountArray) -> tuple[ScoreArray, CountArray]:
        """Count different scores, which ascend and are above those before; what is left of them is given back.

        Parameters
        ----------
        scores : (n,) float32 array
            Is written to.
        counts : (n,) int64 array
            Of all trials; is written to.
        """
        n = self.loops.list_gaps(scores, counts, self._cuts, (self._at, self._gap), self._entries)
        return scores[:n], counts[:n]

    def as_class(self) -> GapClass:
        """All trials that are left, as few weighted entries in ascending order; at the end."""
        self.add(np.array([np.inf], np.float32), np.zeros(1, np.int64))
        n = int(self._at[2])
        scores, weights, unsure = self._entries[0][:n], self._entries[1][:n], self._entries[2][:n]
        cumulated = np.zeros(len(scores) + 1, np.int64)
        np.cumsum(weights, out=cumulated[1:])
        return GapClass(scores, weights, cumulated, unsure, [])
