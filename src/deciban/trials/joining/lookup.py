"""Finding the row of every wanted trial: by its cell, through a table of all possible trials, or by sorting."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from deciban.trials.lists import Trials
from deciban.types import AnyArray, BoolArray, IntArray

_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class Ordered:
    """Codes in ascending order.

    Attributes
    ----------
    codes : (n,) int array
    rows : (n,) int array
        Where each of them stands in the list that was sorted; equal codes in the order of their rows.
    """

    codes: IntArray
    rows: IntArray

    @property
    def repeats(self) -> BoolArray:
        """Whether a code is the same as the one before it."""
        again = np.zeros(len(self.codes), np.bool_)
        np.equal(self.codes[1:], self.codes[:-1], out=again[1:])
        return again


def in_order(codes: IntArray, n_possible: int) -> Ordered:
    """Sort codes from -1 to ``n_possible - 1``.

    Where code and row fit one integer, sorting these integers takes a fraction of the time of an ``argsort``.
    """
    bits = len(codes).bit_length()
    if n_possible > 1 << (63 - bits):
        rows = np.argsort(codes, kind="stable")
        return Ordered(codes[rows], rows)
    packed = np.left_shift(codes, bits, dtype=np.int64)
    first_rows = np.arange(min(len(codes), _CHUNK))
    for start in range(0, len(codes), _CHUNK):
        packed[start : start + _CHUNK] |= first_rows[: len(codes) - start] + start
    packed.sort()
    rows = packed & ((1 << bits) - 1)
    packed >>= bits
    return Ordered(packed, rows)


def place_in(wanted: IntArray, among: IntArray) -> IntArray:
    """For every wanted code its place in other codes, the first of several; -1 for none. Both are sorted."""
    if not len(among):
        return np.full(len(wanted), -1)
    if np.array_equal(wanted, among):
        # Equal codes side by side have one first place.
        return np.arange(len(wanted)) if np.all(among[1:] > among[:-1]) else np.searchsorted(among, wanted)
    place: IntArray = np.searchsorted(among, wanted)
    absent = among[np.minimum(place, len(among) - 1)] != wanted
    place[absent] = -1
    return place


_SPARSEST = 4
"""Possible trials per trial, up to which a table of all of them is faster than sorting."""

_NO_COPIES = np.empty((2, 0), np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class FoundRows:
    """Where wanted trials stand in a table.

    Attributes
    ----------
    rows : (n_wanted,) int array, or None
        Row of every wanted trial, the first of several; -1 for none. None if the table holds the wanted trials and no
        others in the same order.
    n_extra : int
        Rows of trials that are not wanted.
    copies : (2, n) int array
        For every surplus row of a wanted trial: the first row of that trial, and the surplus row, in the order of the
        latter.
    """

    rows: IntArray | None
    n_extra: int = 0
    copies: IntArray = field(default_factory=lambda: _NO_COPIES)


@dataclass(frozen=True, eq=False)
class Lookup:
    """Trials to be looked up in any number of tables; what can be prepared is prepared once.

    If some occur more than once they are found as well, but counted as extra or copies they are not told apart.
    """

    trials: Trials

    @cached_property
    def _codes(self) -> IntArray:
        return self.trials.codes_in(self.trials)

    @cached_property
    def _ordered(self) -> Ordered:
        return in_order(self._codes, self.trials.n_possible)

    @cached_property
    def surplus(self) -> IntArray:
        """Pairs of rows that hold one trial: its first row, and every later one, in the order of the latter."""
        trials = self.trials
        if trials.listed is None:
            return _NO_COPIES
        if trials.n_possible <= _SPARSEST * len(trials):
            seen = np.zeros(trials.n_possible, np.bool_)
            seen[self._codes] = True
            if np.count_nonzero(seen) == len(trials):
                return _NO_COPIES
        return _pairs(self._ordered)

    def find(self, among: Trials) -> FoundRows:
        """Find the wanted trials among others."""
        if _same(self.trials, among):
            return FoundRows(None)
        if among.listed is None:
            return self._in_grid(among)
        codes = among.codes_in(self.trials)
        if self.trials.n_possible <= _SPARSEST * len(codes):
            return self._in_table(codes)
        return self._in_ordered(codes)

    def _in_grid(self, among: Trials) -> FoundRows:
        """In a grid the row of a trial is its cell, less the cells before it that are no trials."""
        rows = self.trials.codes_in(among)
        if among.mask is not None:
            row_of_cell: AnyArray = np.cumsum(among.mask, dtype=np.int32 if among.mask.size < 2**31 else np.int64)
            row_of_cell -= 1
            row_of_cell[~among.mask.ravel()] = -1
            rows = np.where(rows < 0, -1, row_of_cell[rows])
        return FoundRows(rows, len(among) - int(np.count_nonzero(rows >= 0)))

    def _in_table(self, codes: IntArray) -> FoundRows:
        kind = np.int32 if len(codes) < 2**31 else np.int64
        table: AnyArray = np.full(
            self.trials.n_possible + 1, -1, kind
        )  # the last entry takes the rows of unknown trials
        table[codes[::-1]] = np.arange(len(codes), dtype=kind)[::-1]  # of several rows the first one stays
        table[-1] = -1
        is_full = self.trials.listed is None and self.trials.mask is None
        rows = table[:-1] if is_full else table[self._codes]
        n_hit = int(np.count_nonzero(rows >= 0))
        n_known = len(codes) - int(np.count_nonzero(codes < 0))
        if int(np.count_nonzero(table >= 0)) == n_known:  # no trial occurs twice
            return FoundRows(rows, len(codes) - n_hit)
        first = table[codes]
        surplus = np.flatnonzero((first >= 0) & (first != np.arange(len(codes))))
        is_wanted = np.zeros(self.trials.n_possible, np.bool_)
        is_wanted[self._codes] = True
        surplus = surplus[is_wanted[codes[surplus]]]
        copies = np.stack((first[surplus].astype(np.int64), surplus))
        return FoundRows(rows, len(codes) - n_hit - len(surplus), copies)

    def _in_ordered(self, codes: IntArray) -> FoundRows:
        wanted, among = self._ordered, in_order(codes, self.trials.n_possible)
        place = place_in(wanted.codes, among.codes)
        rows = np.empty(len(wanted.rows), np.int64)
        rows[wanted.rows] = np.where(place < 0, -1, among.rows[place]) if len(codes) else -1
        n_hit = int(np.count_nonzero(place >= 0))
        again = among.repeats
        if not again.any():
            return FoundRows(rows, len(codes) - n_hit)
        pairs = _pairs(among, (place_in(among.codes, wanted.codes) >= 0) & again)
        return FoundRows(rows, len(codes) - n_hit - pairs.shape[1], pairs)


def _same(one: Trials, other: Trials) -> bool:
    """Whether two lists are seen to hold the same trials in the same order, without encoding any."""
    names = zip(one.names, other.names, strict=True)
    if len(one) != len(other) or not all(mine is theirs or mine.equals(theirs) for mine, theirs in names):
        return False
    if one.listed is None or other.listed is None:
        if one.listed is not other.listed or one.mask is None or other.mask is None:
            return one.listed is other.listed and one.mask is other.mask
        return np.array_equal(one.mask, other.mask)
    return all(a is b or np.array_equal(a, b) for a, b in zip(one.listed, other.listed, strict=True))


def _pairs(ordered: Ordered, again: AnyArray | None = None) -> IntArray:
    """First and later row of every code that occurs again, in the order of the latter."""
    starts = ~ordered.repeats
    again = ~starts if again is None else again
    if not again.any():
        return _NO_COPIES
    first = ordered.rows[starts][(np.cumsum(starts) - 1)[again]]
    later = ordered.rows[again]
    return np.stack((first, later))[:, np.argsort(later)]
