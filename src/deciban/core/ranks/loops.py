"""Loops over very many scores, compiled if numba is installed (``pip install 'deciban[fast]'``), and counts with them.

Importing numba takes half a second, so that nothing is compiled before it saves more. Without numba, NumPy does the
same; the numbers are identical.

Sorting: on processors with a slow AVX-512 (Zen 4), `numpy.sort` takes five times as long as elsewhere. There, a radix
sort takes over: the bits of a float, with the sign turned, are a whole number of the same order. Three passes over 11
bits each order the leading 33 of the bits that differ, and an insertion pass orders the others.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from deciban.errors import not_none
from deciban.memory import n_processors
from deciban.types import AnyArray, CountArray, Foreign, ScoreArray, T

KeyArray = NDArray[np.uint64] | NDArray[np.uint32]

N_BYTES = 70 * 10**6
"""Memory of numba and of the compiled code."""

PLACE = 18
"""Bits of the place of a float32 score in its block; the other bits are the number of the block."""

CARRIED = 128
"""Count at which a byte is carried to a larger counter."""

_FEWEST = 1 << 16
"""Minimum number of scores for a radix sort."""

_FEWEST_IN_THREADS = 1 << 19
"""Minimum number of scores for two threads."""

_MOST = 1 << 24
"""Number of keys above which they are divided before they are sorted."""

_ENOUGH = 1 << 23
"""Number of scores sorted in this process from which it is worth loading numba on a processor that sorts slowly."""

_SLOW = 20e-9
"""Seconds that `numpy.sort` takes for a score on slow processors: 40 and more there, about 8 elsewhere."""


@dataclass(frozen=True)
class CountLoops:
    """Compiled loops that count float32 scores by value; they release the interpreter lock."""

    count_blocks: Callable[..., None]
    part: Callable[..., None]
    count: Callable[..., int]
    list_counts: Callable[..., int]


@dataclass(frozen=True)
class SortLoops:
    """Compiled loops for scores in order; they release the interpreter lock.

    The keys of scores are unsigned whole numbers in the same order.
    """

    keys: Callable[..., int]
    divide: Callable[..., int]
    sort: Callable[..., bool]
    restore: Callable[..., None]
    merge: Callable[..., int]
    pool: Callable[..., int]


@cache
def count_loops() -> CountLoops | None:
    """Return the loops, or None if they cannot be compiled here."""
    if (numba := _numba()) is None:
        return None
    t: Foreign = numba.types
    bits, n, low, high, counts = _read(t, t.uint32), t.int64, t.uint8[::1], t.uint32[::1], t.int64[::1]
    return CountLoops(
        _compiled(t.void(bits, counts), _count_blocks),
        _compiled(t.void(bits, counts, t.uint32[::1]), _part),
        _compiled(n(bits, n, low, high), _count),
        _compiled(n(low, high, n, t.uint32[::1], counts), _list_counts),
    )


@cache
def sort_loops() -> SortLoops | None:
    """Return the loops, or None if they cannot be compiled here."""
    if (numba := _numba()) is None:
        return None
    t: Foreign = numba.types
    n, counts, kinds = t.int64, t.int64[::1], (t.uint64, t.uint32)
    scores = [_read(t, kind) for kind in (t.float64, t.float32)]
    return SortLoops(
        _compiled([t.uint64(_read(t, kind), kind[::1]) for kind in kinds], _keys),
        _compiled([n(kind[::1], kind, kind[::1]) for kind in kinds], _divide),
        _compiled([t.boolean(kind[::1], kind[::1], t.uint64) for kind in kinds], _sort),
        _compiled([t.void(kind[::1]) for kind in kinds], _restore),
        _compiled([n(kind, kind, counts, counts) for kind in scores], _merge),
        _compiled(n(_read(t, n), _read(t, n), counts, counts, counts), _pool),
    )


def ready() -> SortLoops | None:
    """Return the loops if numba is loaded; otherwise None."""
    return sort_loops() if "numba" in sys.modules else None


def _numba() -> Foreign:
    """Return numba, or None if it is not installed or compiles nothing."""
    try:
        import numba
    except (ImportError, AttributeError):  # an unsupported NumPy, or a module with the same name
        return None
    config: Foreign = numba.config
    return None if config.DISABLE_JIT else numba


def _read(types: Foreign, kind: Foreign) -> Foreign:
    """Return the type of an array that is only read."""
    return types.Array(kind, 1, "C", readonly=True)


def _compiled(signature: Foreign, loop: Callable[..., T]) -> Callable[..., T]:
    import numba

    try:
        result: Callable[..., T] = numba.njit(signature, nogil=True, cache=True)(loop)
    except RuntimeError:  # no folder for a cache of compiled code
        result = numba.njit(signature, nogil=True)(loop)
    return result


@cache
def sorts_slowly() -> bool:
    """Return True if `numpy.sort` is slow on this processor; measured once, in about three milliseconds."""
    numbers = (np.arange(_FEWEST, dtype=np.uint64) * np.uint64(2654435761) % np.uint64(1 << 32)).astype(np.float64)
    begun = time.thread_time()
    np.sort(numbers)
    return time.thread_time() - begun > _SLOW * _FEWEST


@dataclass
class _SortedBefore:
    """Number of scores that this process has sorted without compiled loops."""

    n: int = 0


_SORTED = _SortedBefore()


def _loops_to_sort(n: int) -> SortLoops | None:
    """Return the loops to sort ``n`` scores, if they are faster than NumPy."""
    if n < _FEWEST or not sorts_slowly():
        return None
    _SORTED.n += n
    return sort_loops() if _SORTED.n >= _ENOUGH else ready()


def in_order(scores: ScoreArray) -> ScoreArray:
    """Return a copy of scores, which are not NaN, in ascending order.

    Examples
    --------
    >>> in_order(np.array([2.0, -np.inf, 1.0]))
    array([-inf,   1.,   2.])
    """
    if (loops := _loops_to_sort(len(scores))) is None:
        return np.sort(scores)
    keys, differing = _keys_of(scores, loops)
    result = np.empty_like(keys)
    _sort_keys(keys, result, differing, loops)
    return result.view(scores.dtype)


def all_in_order(arrays: Sequence[ScoreArray]) -> list[ScoreArray]:
    """Return copies of several arrays of scores in ascending order; large ones are sorted by two threads."""
    n = sum(map(len, arrays))
    if n < _FEWEST_IN_THREADS or n_processors() < 2:
        return [in_order(one) for one in arrays]
    loops = _loops_to_sort(n)
    with ThreadPoolExecutor(2) as threads:
        if loops is None:
            return list(threads.map(np.sort, arrays))
        items = list(threads.map(lambda one: _keys_of(one, loops), arrays))
        own = threads.map(lambda one: _halves(one[0], np.empty_like(one[0]), loops), items)
        halves = [(*half, bits) for some, (_, bits) in zip(own, items, strict=True) for half in some]
        list(threads.map(lambda half: _sort_keys(half[0], half[1], half[2], loops), halves))
    return [keys.view(scores.dtype) for (keys, _), scores in zip(items, arrays, strict=True)]


def _keys_of(scores: ScoreArray, loops: SortLoops) -> tuple[KeyArray, int]:
    """Return unsigned whole numbers in the order of the scores, and their bits that differ."""
    bits = np.ascontiguousarray(scores).view(np.uint32 if scores.dtype == np.float32 else np.uint64)
    keys = np.empty_like(bits)
    return keys, loops.keys(bits, keys)


def _halves(keys: KeyArray, copy: KeyArray, loops: SortLoops) -> list[tuple[KeyArray, KeyArray]]:
    """Copy keys, the lower half first; return the halves of the copy, and where their keys in order belong."""
    sample = np.sort(keys[:: max(len(keys) // 1024, 1)])
    n = loops.divide(keys, sample[len(sample) // 2], copy) if len(keys) else 0
    return [(copy[:n], keys[:n]), (copy[n:], keys[n:])]


def _sort_keys(keys: KeyArray, result: KeyArray, differing: int, loops: SortLoops) -> None:
    """Write the scores of these keys in ascending order; changes the keys."""
    if len(keys) > _MOST:  # quarters, which the cache can follow
        for source, target in _halves(keys, result, loops):
            for one, other in _halves(source, target, loops):
                _sort_part(one, other, differing, loops)
    else:
        _sort_part(keys, result, differing, loops)


def _sort_part(keys: KeyArray, result: KeyArray, differing: int, loops: SortLoops) -> None:
    if not loops.sort(keys, result, np.uint64(differing)):  # most keys share their leading bits
        result.sort()
    loops.restore(result)


def _count_blocks(bits: AnyArray, n: AnyArray) -> None:
    """Add the number of scores of each block."""
    for i in range(len(bits)):
        b = bits[i]
        if b == 0x80000000:  # -0.0 counts as 0.0
            b = 0
        n[b >> PLACE] += 1


def _part(bits: AnyArray, upto: AnyArray, out: AnyArray) -> None:
    """Sort scores by block; ``upto`` is the position of the next score of each block."""
    for i in range(len(bits)):
        b = bits[i]
        if b == 0x80000000:
            b = 0
        block = b >> PLACE
        out[upto[block]] = b
        upto[block] += 1


def _count(bits: AnyArray, begin: int, low: AnyArray, high: AnyArray) -> int:
    """Count scores of a block from ``begin`` on; stop if ``high`` is needed but missing."""
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


def _list_counts(low: AnyArray, high: AnyArray, first: int, bits: AnyArray, counts: AnyArray) -> int:
    """Write distinct scores of a block and their counts; return their number."""
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


def _merge(few: AnyArray, many: AnyArray, n_few: AnyArray, n_many: AnyArray) -> int:
    """Merge two ascending arrays into groups of equal scores or runs of one class; return the number of groups."""
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


def _keys(bits: AnyArray, keys: AnyArray) -> int:
    """Turn the bits of floats into keys; return the bits that differ between keys."""
    sign = np.uint64(1) << np.uint64(8 * keys.itemsize - 1)
    full = sign | (sign - np.uint64(1))
    either, both = np.uint64(0), full
    for i in range(len(bits)):
        b = np.uint64(bits[i])
        b = b ^ full if b & sign else b | sign
        keys[i] = b
        either |= b
        both &= b
    return either & ~both  # type: ignore[return-value]  # a whole number in compiled code


def _restore(keys: AnyArray) -> None:
    """Turn keys into the bits of floats."""
    sign = np.uint64(1) << np.uint64(8 * keys.itemsize - 1)
    full = sign | (sign - np.uint64(1))
    for i in range(len(keys)):
        b = np.uint64(keys[i])
        keys[i] = b ^ sign if b & sign else b ^ full


def _divide(keys: AnyArray, middle: np.uint64, out: AnyArray) -> int:
    """Copy keys, those below the middle first; return their number."""
    i, j = 0, len(keys) - 1
    for k in range(len(keys)):
        b = keys[k]
        out[i] = b  # to both ends: a branch would be mispredicted for half of the keys
        out[j] = b
        is_low = int(b < middle)
        i += is_low
        j -= 1 - is_low
    return i


def _sort(keys: AnyArray, out: AnyArray, differing: np.uint64) -> bool:  # noqa: C901  # one compiled function
    """Sort keys into another array; return False if that takes too long, with all keys in the array in any order."""
    n, mask, top = len(keys), np.uint64(2047), 0
    while top < 64 and differing >> np.uint64(top):
        top += 1
    shift = max(top - 33, 0)
    first, second, third = np.uint64(shift), np.uint64(shift + 11), np.uint64(shift + 22)
    upto = np.zeros((3, 2048), np.int64)
    for i in range(n):
        b = np.uint64(keys[i])
        upto[0, (b >> first) & mask] += 1
        upto[1, (b >> second) & mask] += 1
        upto[2, (b >> third) & mask] += 1
    for k in range(3):
        before = 0
        for digit in range(2048):
            count = upto[k, digit]
            upto[k, digit] = before
            before += count
    for i in range(n):
        d = (np.uint64(keys[i]) >> first) & mask
        out[upto[0, d]] = keys[i]
        upto[0, d] += 1
    for i in range(n):
        d = (np.uint64(out[i]) >> second) & mask
        keys[upto[1, d]] = out[i]
        upto[1, d] += 1
    for i in range(n):
        d = (np.uint64(keys[i]) >> third) & mask
        out[upto[2, d]] = keys[i]
        upto[2, d] += 1
    n_moves = 0
    for i in range(1, n if shift else 0):
        b, j = out[i], i
        while j > 0 and out[j - 1] > b:
            out[j] = out[j - 1]
            j -= 1
        out[j] = b
        n_moves += i - j
        if n_moves > 4 * n:
            return False
    return True


def _pool(n_tar: AnyArray, n_non: AnyArray, starts: AnyArray, tar: AnyArray, non: AnyArray) -> int:
    """Pool groups until the share of targets increases from block to block; return the number of blocks."""
    n = 0
    for i in range(len(n_tar)):
        start, own_tar, own_non = i, n_tar[i], n_non[i]
        while n and tar[n - 1] * own_non >= own_tar * non[n - 1]:
            n -= 1
            start, own_tar, own_non = starts[n], own_tar + tar[n], own_non + non[n]
        starts[n], tar[n], non[n] = start, own_tar, own_non
        n += 1
    return n


N_BLOCKS = 1 << (32 - PLACE)

BitArray = NDArray[np.uint32]

_N_PLACES = 1 << PLACE
"""A block has 1/32 of the scores between consecutive powers of two."""

_LEAST, _MOST_REST = 1 << 9, 1 << 22
"""Smallest number of scores of a block that are counted without a buffer, and limit of the rest that is buffered."""

_AT_FIRST, _WAITING = 1 << 8, 1 << 16
"""Initial and largest size of the buffer of a block."""

_NO_BITS, _NO_COUNTS = np.zeros(0, np.uint32), np.zeros(0, np.uint8)


class ValueCounts:
    """Counts of float32 scores; several threads may add at the same time. Supports pickle; needs `count_loops`.

    Parameters
    ----------
    most : int
        Limit of memory in bytes.
    """

    def __init__(self, most: int) -> None:
        self.most, self._lock, self._scratch = most, threading.Lock(), threading.local()
        self._blocks, self._rest = dict[int, ScoreBlock](), list[BitArray]()

    def __getstate__(self) -> tuple[int, list[ScoreBlock]]:
        return self.most, self.blocks()

    def __setstate__(self, state: tuple[int, list[ScoreBlock]]) -> None:
        self.__init__(state[0])  # type: ignore[misc]
        self._blocks = {one.number: one for one in state[1]}

    def __add__(self, other: ValueCounts) -> ValueCounts:
        """Return the counts of both."""
        whole = ValueCounts(self.most)
        for block in [*self.blocks(), *other.blocks()]:
            whole._blocks[block.number] = whole._blocks.get(block.number, ScoreBlock(block.number)) + block
        return whole

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
        loops = not_none(count_loops(), "numba")
        loops.count_blocks(bits, numbers)
        ends = np.cumsum(numbers)
        loops.part(bits, ends - numbers, room)
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
        block = self._blocks.get(number)
        if block is None:
            with self._lock:
                block = self._blocks.setdefault(number, ScoreBlock(number))
        return block

    def blocks(self) -> list[ScoreBlock]:
        """Return the blocks with trials in ascending order of scores, after all were added."""
        rest, self._rest = np.concatenate([_NO_BITS, *self._rest]), []
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
    result = np.bincount(sample.view(np.uint32) >> np.uint32(PLACE)) * (n_rows / max(len(sample), 1))
    return int(np.minimum(8 * result, _N_PLACES + 4 * _WAITING).sum())


class ScoreBlock:
    """Counts of the scores that share their leading bits.

    Parameters
    ----------
    number : int
        Leading bits.
    waiting : array
        Scores that are not counted yet.
    low, high : array
        Counts up to `CARRIED` and counts that were carried, by the other bits; empty without counts.
    """

    def __init__(
        self, number: int, waiting: BitArray = _NO_BITS, low: AnyArray = _NO_COUNTS, high: AnyArray = _NO_BITS
    ) -> None:
        self.number, self._waiting, self._low, self._high = number, waiting, low, high
        self._n, self._lock = len(waiting), threading.Lock()

    def __reduce__(self) -> tuple[type[ScoreBlock], tuple[object, ...]]:
        if len(self._low):  # fewer bytes are sent if no score waits
            self._count(self._waiting[: self._n])
            self._n = 0
        return ScoreBlock, (self.number, self._waiting[: self._n], self._low, self._high)

    def __add__(self, other: ScoreBlock) -> ScoreBlock:
        """Return the counts of both, in new arrays."""
        low = _sum_of_tables(self._low, other._low)  # below 2 * CARRIED
        carried = low >= CARRIED
        low[carried] -= CARRIED
        high = _sum_of_tables(self._high, other._high, carried if carried.any() else _NO_BITS)
        whole = ScoreBlock(self.number, low=low, high=high)
        for one in (self, other):
            whole.add(one._waiting[: one._n])
        return whole

    @property
    def n_bytes(self) -> int:
        """Memory in bytes."""
        return self._waiting.nbytes + self._high.nbytes + self._low.nbytes

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
                more = np.empty(min(max(upto, 2 * len(self._waiting), _AT_FIRST), _WAITING), np.uint32)
                more[: self._n] = self._waiting[: self._n]
                self._waiting = more
            self._waiting[self._n : upto] = bits
            self._n = upto

    def _count(self, bits: BitArray) -> NDArray[np.uint8]:
        """Count scores in any order."""
        if not len(self._low):
            self._low = np.zeros(_N_PLACES, np.uint8)
        self._low.max()  # a sequential read loads the table into cache five times as fast as random access
        loops, done = not_none(count_loops(), "numba"), 0
        while True:
            done = loops.count(bits, done, self._low, self._high)
            if done == len(bits):
                return self._low
            self._high = np.zeros(_N_PLACES, np.uint32)

    def taken(self) -> tuple[ScoreArray, CountArray]:
        """Return distinct scores in ascending order and their counts, and free the memory of the block."""
        waiting, self._waiting = self._waiting[: self._n], _NO_BITS
        if not len(self._low):
            bits, counts = np.unique(waiting, return_counts=True)
        else:
            low, bits, counts = self._count(waiting), np.empty(_N_PLACES, np.uint32), np.empty(_N_PLACES, np.int64)
            n = not_none(count_loops(), "numba").list_counts(low, self._high, self.number << PLACE, bits, counts)
            bits, counts = bits[:n].copy(), counts[:n].copy()
        self._n, self._low, self._high = 0, _NO_COUNTS, _NO_BITS
        if self.number >= N_BLOCKS // 2:  # negative scores
            bits, counts = np.ascontiguousarray(bits[::-1]), np.ascontiguousarray(counts[::-1])
        return bits.view(np.float32), counts


def _sum_of_tables(*tables: AnyArray) -> AnyArray:
    """Return the sum of tables that are not empty, in the type of the first one."""
    own = [one for one in tables if len(one)]
    return np.array(own).sum(axis=0, dtype=tables[0].dtype) if own else tables[0]
