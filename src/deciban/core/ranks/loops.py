"""Loops over single trials, which numba compiles where it is installed (``pip install deciban[fast]``).

Where it is not, everything is sorted; the numbers are equal to the bit. Nothing is compiled before it is asked for:
importing numba takes half a second.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

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
