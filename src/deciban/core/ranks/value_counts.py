"""Counts of each distinct float32 score, with the loops of `deciban.core.ranks.loops`.

A billion trials have about ten million distinct scores. The bits of a float32 are a whole number, and scores of one
sign have the order of their bits. The leading bits are the block of a score; the other bits are its place in the
block. A block with many scores is a table with a counter for every possible score; a block with few scores is a list
of these scores. The order of trials does not matter.

Moving counters between memory and processor takes most of the time. So a counter is one byte, which is carried to a
larger counter when it is full. The scores of a block are buffered until there are many of them.

Without numba (``pip install deciban[fast]``), everything is sorted; the numbers are identical.
"""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

from deciban.core.ranks.loops import PLACE, CountLoops
from deciban.types import CountArray, ScoreArray

N_BLOCKS = 1 << (32 - PLACE)

BitArray = NDArray[np.uint32]

_N_PLACES = 1 << PLACE
"""A block has 1/32 of the scores between consecutive powers of two."""

_LEAST, _MOST_REST = 1 << 9, 1 << 22
"""Smallest number of scores of a block that are counted without a buffer, and limit of the rest that is buffered."""

_FEWEST, _WAITING = 1 << 8, 1 << 16
"""Initial and largest size of the buffer of a block."""


class ValueCounts:
    """Counts of float32 scores; several threads may add at the same time.

    Parameters
    ----------
    most : int
        Limit of memory in bytes.
    loops : CountLoops
    """

    def __init__(self, most: int, loops: CountLoops) -> None:
        self.most, self.loops = most, loops
        self._blocks: dict[int, ScoreBlock] = {}
        self._lock = threading.Lock()
        self._scratch = threading.local()
        self._rest: list[BitArray] = []

    @property
    def is_full(self) -> bool:
        """True if the memory exceeds the limit."""
        return sum(one.n_bytes for one in list(self._blocks.values())) + 8 * _MOST_REST > self.most

    def add(self, scores: ScoreArray) -> None:
        """Count trials in any order, from any thread; no NaN. Batches of a million are faster than small ones."""
        rest = self._add(np.ascontiguousarray(scores).view(np.uint32), _LEAST)
        with self._lock:
            self._rest.append(rest)
            if sum(map(len, self._rest)) <= _MOST_REST:
                return
            rest, self._rest = np.concatenate(self._rest), []
        self._add(rest, 1)

    def _add(self, bits: BitArray, least: int) -> BitArray:
        """Count trials block by block; return the scores of blocks with fewer than ``least`` trials."""
        numbers, room = np.zeros(N_BLOCKS, np.int64), self._room(len(bits))
        self.loops.count_blocks(bits, numbers)
        ends = np.cumsum(numbers)
        self.loops.part(bits, ends - numbers, room)
        left = [room[:0]]
        for number in np.flatnonzero(numbers).tolist():
            own = room[ends[number] - numbers[number] : ends[number]]
            if len(own) >= least:
                self._block(number).add(own)
            else:
                left.append(own)
        return np.concatenate(left)

    def _room(self, n: int) -> BitArray:
        """Return memory of this thread, reused because new memory for every call costs as much as sorting."""
        room: BitArray | None = getattr(self._scratch, "room", None)
        if room is None or len(room) < n:
            room = self._scratch.room = np.empty(n, np.uint32)
        return room[:n]

    def _block(self, number: int) -> ScoreBlock:
        found = self._blocks.get(number)
        if found is None:
            with self._lock:
                found = self._blocks.setdefault(number, ScoreBlock(number, self.loops))
        return found

    def blocks(self) -> list[ScoreBlock]:
        """Return the blocks with trials in ascending order of scores, after all were added."""
        rest, self._rest = np.concatenate([np.zeros(0, np.uint32), *self._rest]), []
        self._add(rest, 1)
        half = N_BLOCKS // 2
        return [self._blocks[n] for n in sorted(self._blocks, key=lambda n: n if n < half else half - 1 - n)]


def expected_bytes(sample: ScoreArray, n_rows: int) -> int:
    """Estimate the memory of the counts of ``n_rows`` trials from a sample.

    Examples
    --------
    >>> expected_bytes(np.full(1000, 0.5, np.float32), 10**9), expected_bytes(np.full(1000, 0.5, np.float32), 10**3)
    (524288, 8000)
    """
    found = np.bincount(sample.view(np.uint32) >> np.uint32(PLACE)) * (n_rows / max(len(sample), 1))
    return int(np.minimum(8 * found, _N_PLACES + 4 * _WAITING).sum())


class ScoreBlock:
    """Counts of the scores that share their leading bits.

    Parameters
    ----------
    number : int
        Leading bits.
    loops : CountLoops
    """

    def __init__(self, number: int, loops: CountLoops) -> None:
        self.number, self.loops = number, loops
        self._lock = threading.Lock()
        self._waiting: BitArray = np.empty(_FEWEST, np.uint32)
        self._n = 0
        """Number of buffered scores."""
        self._low: NDArray[np.uint8] | None = None
        self._high: NDArray[np.uint32] = np.zeros(0, np.uint32)
        """Carried counts."""

    @property
    def n_bytes(self) -> int:
        """Memory in bytes."""
        return self._waiting.nbytes + self._high.nbytes + (0 if self._low is None else self._low.nbytes)

    def add(self, bits: BitArray) -> None:
        """Count scores, from any thread."""
        with self._lock:
            if self._n + len(bits) > _WAITING:
                self._count(self._waiting[: self._n])
                self._n = 0
            if len(bits) > _WAITING:
                self._count(bits)
                return
            upto = self._n + len(bits)
            if upto > len(self._waiting):
                more = np.empty(min(max(upto, 2 * len(self._waiting)), _WAITING), np.uint32)
                more[: self._n] = self._waiting[: self._n]
                self._waiting = more
            self._waiting[self._n : upto] = bits
            self._n = upto

    def _count(self, bits: BitArray) -> NDArray[np.uint8]:
        """Count scores in any order."""
        if self._low is None:
            self._low = np.zeros(_N_PLACES, np.uint8)
        self._low.max()  # a sequential read loads the table into cache five times as fast as random access
        done = 0
        while True:
            done = self.loops.count(bits, done, self._low, self._high)
            if done == len(bits):
                return self._low
            self._high = np.zeros(_N_PLACES, np.uint32)

    def taken(self) -> tuple[ScoreArray, CountArray]:
        """Return distinct scores in ascending order and their counts, and free the memory of the block."""
        waiting, self._waiting = self._waiting[: self._n], np.empty(0, np.uint32)
        if self._low is None:
            bits, counts = np.unique(waiting, return_counts=True)
        else:
            low, bits, counts = self._count(waiting), np.empty(_N_PLACES, np.uint32), np.empty(_N_PLACES, np.int64)
            n = self.loops.list_counts(low, self._high, self.number << PLACE, bits, counts)
            bits, counts = bits[:n].copy(), counts[:n].copy()
        self._n, self._low, self._high = 0, None, self._high[:0].copy()
        if self.number >= N_BLOCKS // 2:  # negative scores
            bits, counts = np.ascontiguousarray(bits[::-1]), np.ascontiguousarray(counts[::-1])
        return bits.view(np.float32), counts
