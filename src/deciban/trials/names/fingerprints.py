"""Long columns of mostly different names: fingerprints are sorted where a hash table would miss every cache.

A fingerprint is a number made of a name. Names with different fingerprints differ, and only that is concluded from
them: names that share one are compared themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from deciban._arrow import borders, of_numpy, to_numpy, with_gaps
from deciban._arrow import compute as pc
from deciban.types import AnyArray, BoolArray, IntArray

Words = NDArray[np.uint64]

WORTHWHILE = 1 << 17
"""Number of names from which on hash tables no longer fit the caches."""

_LONGEST = 512
"""Bytes of a name, above which all is left to hash tables: every eight bytes cost one more pass."""

_CHUNK = 1 << 16
_SAMPLE = 1 << 10
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
_FIRST_BYTES = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)


def encode_distinct(names: pa.Array) -> tuple[IntArray, pa.Array] | None:
    """Encode names as positions in the list of those that differ, in the order of their first occurrence.

    Returns
    -------
    ((n,) int array, pyarrow string array) or None
        None where a hash table is the better way: few names, often repeated names, very long names.
    """
    if len(names) < WORTHWHILE or not _mostly_distinct(names) or _longest(names) > _LONGEST:
        return None
    prints = fingerprints(names)
    prints.sort()
    if not np.any(prints[1:] == prints[:-1]):
        return np.arange(len(names), dtype=np.int32), names
    bits = len(names).bit_length()
    packed = _packed(names, bits)
    shared = _shared(packed, bits)
    if np.count_nonzero(shared) > len(names) // 4:
        return None
    rows = np.sort(packed[shared] & _rows_of(bits))
    alike = to_numpy(names.take(of_numpy(rows)).dictionary_encode().indices)
    first_of = np.full(len(rows), -1)
    first_of[alike[::-1]] = rows[::-1]  # of several rows the first one stays
    is_first = np.ones(len(names), np.bool_)
    is_first[rows] = first_of[alike] == rows
    codes: AnyArray = np.cumsum(is_first, dtype=np.int32)
    codes -= 1
    codes[rows] = codes[first_of[alike]]
    return codes, names if is_first.all() else names.filter(of_numpy(is_first))


def find_names(names: pa.Array, among: pa.Array) -> IntArray | None:
    """For every name its position in a long list of distinct names, -1 where it is not there.

    None where a hash table is the better way.
    """
    if len(among) < WORTHWHILE:
        return None
    if _longest(names) > _LONGEST or _longest(among) > _LONGEST:
        return None
    found, unclear, rivals = _with_one_print(names, among)
    _forget_false_friends(found, names, among)
    if len(unclear):
        at = pc.index_in(names.take(of_numpy(unclear)), value_set=among.take(of_numpy(rivals)))
        at = with_gaps(at, -1)
        found[unclear] = np.where(at < 0, -1, rivals[at])
    return found


def _with_one_print(names: pa.Array, among: pa.Array) -> tuple[AnyArray, IntArray, IntArray]:
    """For every name one of those that share its fingerprint, -1 for none.

    Then the rows of the names for which there were several, and of all among which these several are.
    """
    bits = max(len(names), len(among)).bit_length()
    in_row = _rows_of(bits)
    mine, theirs = _packed(names, bits), _packed(among, bits)
    shared = _shared(theirs, bits)
    found: AnyArray = np.empty(len(names), np.int32)
    unclear = [np.empty(0, np.int64)]

    def look_up(start: int) -> None:
        wanted = mine[start : start + _CHUNK]
        place = np.minimum(np.searchsorted(theirs, wanted & ~in_row), len(theirs) - 1)
        candidate = theirs[place]
        hit = (candidate ^ wanted) <= in_row
        found[wanted & in_row] = np.where(hit, candidate & in_row, -1)
        unclear.append(wanted[hit & shared[place]] & in_row)

    _in_chunks(look_up, len(names))
    return found, np.sort(np.concatenate(unclear)), theirs[shared] & in_row


def _forget_false_friends(found: IntArray, names: pa.Array, among: pa.Array) -> None:
    """Take back what has the same fingerprint but is another name."""

    def check(start: int) -> None:
        part = found[start : start + _CHUNK]
        same = pc.equal(names.slice(start, len(part)), among.take(of_numpy(np.maximum(part, 0))))
        part[~to_numpy(same)] = -1

    _in_chunks(check, len(found))


def _mostly_distinct(names: pa.Array) -> bool:
    """Look at short runs all over the list: repetitions stand side by side, or are spread over it."""
    run = 16
    starts = np.linspace(0, len(names) - run, _SAMPLE, dtype=np.int64)
    sample = names.take(of_numpy((starts[:, None] + np.arange(run)).ravel()))
    return bool(len(sample) - len(pc.unique(sample)) <= len(sample) // 256)


def _rows_of(bits: int) -> int:
    """The bits of a packed integer that hold the row."""
    return (1 << bits) - 1


def _packed(names: pa.Array, bits: int) -> IntArray:
    """Sorted integers of fingerprint and row: as many bits of the one as the other leaves."""
    prints = fingerprints(names)
    prints >>= np.uint64(bits + 1)
    prints <<= np.uint64(bits)
    for start in range(0, len(prints), _CHUNK):
        part = prints[start : start + _CHUNK]
        part |= np.arange(start, start + len(part), dtype=np.uint64)
    prints.sort()
    return prints.view(np.int64)


def _shared(packed: IntArray, bits: int) -> BoolArray:
    """Whether a fingerprint is that of several names."""
    shared = np.zeros(len(packed), np.bool_)
    for start in range(0, len(packed) - 1, _CHUNK):
        part = packed[start : start + _CHUNK + 1]
        again = (part[1:] ^ part[:-1]) <= _rows_of(bits)
        shared[start : start + len(again)] |= again
        shared[start + 1 : start + 1 + len(again)] |= again
    return shared


def _longest(names: pa.Array) -> int:
    """Length of the longest name in bytes."""
    return int(pc.max(pc.binary_length(names)).as_py() or 0)


def fingerprints(names: pa.Array) -> Words:
    """Numbers of names, in their order: equal names have equal ones, on every machine.

    Examples
    --------
    >>> ann, bob, other = fingerprints(pa.array(["ann", "bob", "ann"]))
    >>> bool(ann == other), bool(ann == bob)
    (True, False)
    """
    ends, letters = borders(names), names.buffers()[2]
    data: AnyArray = np.frombuffer(letters, np.uint8) if letters is not None else np.empty(0, np.uint8)
    prints = np.empty(len(names), np.uint64)

    def fill(start: int) -> None:
        chunk = ends[start : start + _CHUNK + 1]
        prints[start : start + _CHUNK] = _prints(data[chunk[0] : chunk[-1]], chunk[:-1] - chunk[0], np.diff(chunk))

    _in_chunks(fill, len(names))
    return prints


def _prints(data: AnyArray, starts: IntArray, lengths: IntArray) -> Words:
    """Fingerprints of names, eight bytes at a time."""
    padded = np.zeros(len(data) + 8, np.uint8)
    padded[: len(data)] = data
    words: Words = np.ndarray((len(data) + 1,), "<u8", padded, strides=(1,))  # the eight bytes from each byte on
    prints = lengths.astype(np.uint64)
    _mix(prints)
    shortest, longest = int(lengths.min()), int(lengths.max())
    live: IntArray | slice = slice(None)
    for done in range(0, longest, 8):
        if done >= shortest:
            live = np.flatnonzero(lengths > done)
        word = words[starts[live] + done]
        if done + 8 > shortest:
            word &= _FIRST_BYTES[np.minimum(lengths[live] - done, 8)]
        word ^= prints[live]
        _mix(word)
        prints[live] = word
    _mix(prints)
    return prints


def _in_chunks(job: Callable[[int], None], n: int) -> None:
    """Do a job for the start of every chunk, two at a time: array operations leave the interpreter to others."""
    with ThreadPoolExecutor(2) as pool:
        for _ in pool.map(job, range(0, n, _CHUNK)):
            pass


def _mix(numbers: Words) -> None:
    """Spread every bit over all of the number, in its place."""
    numbers *= _FACTOR
    numbers ^= numbers >> _HALF
