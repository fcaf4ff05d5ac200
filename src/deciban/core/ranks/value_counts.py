"""Numbers of trials of each float32 score, with loops that numba compiles where it is installed.

A billion trials have some ten million different scores. The bits of a float32 are a whole number, and scores of one
sign have the order of their bits. The leading bits are the block of a score, the others its place there. A block with
many scores is a table with a counter for every possible score; a block with few scores keeps the scores themselves.
Nothing depends on the order of trials.

Moving counters between memory and processor takes most of the time. So a counter is a byte, whose last bit is carried
to a larger one, and the scores of a block wait until they are many for their counters.

Without numba (``pip install deciban[fast]``), everything is sorted; the numbers are equal to the bit. Nothing is
compiled before it is needed: importing numba takes half a second.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.types import CountArray, ScoreArray

N_BYTES = 70 * 10**6
"""What numba takes, and what it compiles."""

PLACE = 18
"""Bits of the place of a score in its block; the other ones are the number of the block."""

N_BLOCKS = 1 << (32 - PLACE)

CARRIED = 128
"""What a byte counts until it is carried to a larger counter."""


@dataclass(frozen=True)
class Loops:
    """The compiled loops; they release the lock of the interpreter."""

    count_blocks: Callable[..., None]
    part: Callable[..., None]
    count: Callable[..., int]
    list_counts: Callable[..., int]
    merge: Callable[..., int]


@cache
def compiled() -> Loops | None:
    """The loops, or None if they cannot be compiled here."""
    try:
        import numba
    except (ImportError, AttributeError):  # beside a NumPy that it does not know, or a module that hides one of its own
        return None
    config: Any = numba.config
    if config.DISABLE_JIT:
        return None
    t: Any = numba.types
    bits, scores = (t.Array(kind, 1, "C", readonly=True) for kind in (t.uint32, t.float32))
    n, low, high, counts = t.int64, t.uint8[::1], t.uint32[::1], t.int64[::1]
    return Loops(
        _compiled(t.void(bits, counts), _count_blocks),
        _compiled(t.void(bits, counts, t.uint32[::1]), _part),
        _compiled(n(bits, n, low, high), _count),
        _compiled(n(low, high, n, t.uint32[::1], counts), _list_counts),
        _compiled(n(scores, scores, counts, counts), _merge),
    )


def ready() -> Loops | None:
    """The loops, if something that needs them more was there before: they are not compiled for this alone."""
    return compiled() if compiled.cache_info().currsize else None


def _compiled(signature: Any, loop: Callable[..., Any]) -> Callable[..., Any]:
    import numba

    try:
        found: Callable[..., Any] = numba.njit(signature, nogil=True, cache=True)(loop)
    except RuntimeError:  # there is no folder in which what was compiled could be kept
        found = numba.njit(signature, nogil=True)(loop)
    return found


def _count_blocks(bits: Any, n: Any) -> None:
    """Add up how many scores each block has."""
    for i in range(len(bits)):
        b = bits[i]
        if b == 0x80000000:  # both zeros are one
            b = 0
        n[b >> PLACE] += 1


def _part(bits: Any, upto: Any, out: Any) -> None:
    """Put scores into the order of their blocks; ``upto`` says where the next one of each goes."""
    for i in range(len(bits)):
        b = bits[i]
        if b == 0x80000000:
            b = 0
        block = b >> PLACE
        out[upto[block]] = b
        upto[block] += 1


def _count(bits: Any, begin: Any, low: Any, high: Any) -> Any:
    """Count scores of a block from one of them on, up to where ``high`` is needed and is not there."""
    for i in range(begin, len(bits)):
        place = bits[i] & ((1 << PLACE) - 1)
        count = low[place] + 1
        if count == CARRIED:
            if len(high) == 0:
                return i
            high[place] += 1
            count = 0
        low[place] = count
    return len(bits)


def _list_counts(low: Any, high: Any, first: Any, bits: Any, counts: Any) -> Any:
    """Different scores of a block and their counts; returns how many there are."""
    n = 0
    for place in range(len(low)):
        count = 0
        count += low[place]
        if len(high):
            count += CARRIED * high[place]
        if count != 0:
            bits[n] = first + place
            counts[n] = count
            n += 1
    return n


def _merge(few: Any, many: Any, n_few: Any, n_many: Any) -> Any:
    """Put into groups what ascends, equal scores of both or a run of one; returns how many groups there are."""
    i = j = n = 0
    while i < len(few) or j < len(many):
        begun, before = i, j
        if i < len(few) and j < len(many) and few[i] == many[j]:
            score = few[i]
            while i < len(few) and few[i] == score:
                i += 1
            while j < len(many) and many[j] == score:
                j += 1
        elif j == len(many):
            i = len(few)
        elif i == len(few):
            j = len(many)
        elif few[i] < many[j]:
            while i < len(few) and few[i] < many[j]:
                i += 1
        else:
            while j < len(many) and many[j] < few[i]:
                j += 1
        n_few[n], n_many[n] = i - begun, j - before
        n += 1
    return n


BitArray = NDArray[np.uint32]

_N_PLACES = 1 << PLACE
"""A block has 1/32 of the scores between a power of two and the next one."""

_LEAST, _MOST_REST = 1 << 9, 1 << 22
"""Scores of a block among those that are added at once, if they are not to wait, and how many others do."""

_FEWEST, _WAITING = 1 << 8, 1 << 16
"""Scores of a block that there is room for at first, and that wait at most."""


class ValueCounts:
    """Counts of float32 scores; threads may add at once.

    Parameters
    ----------
    most : int
        Bytes that may be taken.
    loops : Loops
    """

    def __init__(self, most: int, loops: Loops) -> None:
        self.most, self.loops = most, loops
        self._blocks: dict[int, Block] = {}
        self._lock = threading.Lock()
        self._scratch = threading.local()
        self._rest: list[BitArray] = []

    @property
    def is_full(self) -> bool:
        """Whether more is taken than may be."""
        return sum(one.n_bytes for one in list(self._blocks.values())) + 8 * _MOST_REST > self.most

    def add(self, scores: ScoreArray) -> None:
        """Count trials in any order, from any thread; no NaN. A million at once take less time than a few."""
        rest = self._add(np.ascontiguousarray(scores).view(np.uint32), _LEAST)
        with self._lock:
            self._rest.append(rest)
            if sum(map(len, self._rest)) <= _MOST_REST:
                return
            rest, self._rest = np.concatenate(self._rest), []
        self._add(rest, 1)

    def _add(self, bits: BitArray, least: int) -> BitArray:
        """Count trials block by block; but for blocks with few of them, which are left and given back."""
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
        """Memory of this thread: what is new every time costs as much as sorting."""
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
        self._add(rest, 1)
        half = N_BLOCKS // 2
        return [self._blocks[n] for n in sorted(self._blocks, key=lambda n: n if n < half else half - 1 - n)]


def expected_bytes(sample: ScoreArray, n_rows: int) -> int:
    """Bytes that counts of so many trials will take, if all are like some of them.

    Examples
    --------
    >>> expected_bytes(np.full(1000, 0.5, np.float32), 10**9), expected_bytes(np.full(1000, 0.5, np.float32), 10**3)
    (524288, 8000)
    """
    found = np.bincount(sample.view(np.uint32) >> np.uint32(PLACE)) * (n_rows / max(len(sample), 1))
    return int(np.minimum(8 * found, _N_PLACES + 4 * _WAITING).sum())


class Block:
    """Counts of the scores that share their leading bits.

    Parameters
    ----------
    number : int
        Their leading bits.
    loops : Loops
    """

    def __init__(self, number: int, loops: Loops) -> None:
        self.number, self.loops = number, loops
        self._lock = threading.Lock()
        self._waiting: BitArray = np.empty(_FEWEST, np.uint32)
        self._n = 0
        """Of those that wait."""
        self._low: NDArray[np.uint8] | None = None
        self._high: NDArray[np.uint32] = np.zeros(0, np.uint32)
        """Of what was carried."""

    @property
    def n_bytes(self) -> int:
        """What it takes."""
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
        self._low.max()  # a table that is read from front to back is in cache in a fifth of the time its places take
        done = 0
        while True:
            done = self.loops.count(bits, done, self._low, self._high)
            if done == len(bits):
                return self._low
            self._high = np.zeros(_N_PLACES, np.uint32)

    def taken(self) -> tuple[ScoreArray, CountArray]:
        """Different scores in ascending order, and how many trials have each; the block gives its memory back."""
        waiting, self._waiting = self._waiting[: self._n], np.empty(0, np.uint32)
        if self._low is None:
            bits, counts = np.unique(waiting, return_counts=True)
        else:
            low, bits, counts = self._count(waiting), np.empty(_N_PLACES, np.uint32), np.empty(_N_PLACES, np.int64)
            n = self.loops.list_counts(low, self._high, self.number << PLACE, bits, counts)
            bits, counts = bits[:n].copy(), counts[:n].copy()
        self._n, self._low, self._high = 0, None, self._high[:0].copy()
        if self.number >= N_BLOCKS // 2:  # below zero
            bits, counts = np.ascontiguousarray(bits[::-1]), np.ascontiguousarray(counts[::-1])
        return bits.view(np.float32), counts
