"""Cells of scores that need no borders agreed beforehand: trials whose scores share their leading bits.

A score is a whole number that keeps its order: the bits of a float64, turned round below 0. The trials whose keys share
the first bits are a cell; one bit more splits it in two. A table keeps as many bits as it has room for cells that hold
a trial, so that a few trials stay apart and billions do not take more. Cells nest: two tables are merged by going back
to the bits that both, and their union, have room for. That is the table which all trials together would have made,
whatever is merged with what, and in which order. Scores with the same sign and exponent never share a cell with others:
so the sum of the scores of a cell is a whole number, too, and is added up exactly.

Where counts must be exact at thresholds that are known before (costs at operating points), cells are cut there, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.core.ranks.counts import splitting
from deciban.types import AnyArray, BoolArray, FloatArray, IntArray, ScoreArray

KeyArray = NDArray[np.uint64]

_ALL = 64
"""Bits of a key: cells of that many hold one score each."""

_FEWEST = 12
"""Bits that cells keep always: sign and exponent."""

_SIGN = np.uint64(1 << 63)
_MANTISSA = (1 << 52) - 1
_HALF = 26
"""A mantissa is added up in two parts of so many bits: both sums stay whole numbers below 2**63 up to 10**11 trials."""


def keys_of(scores: ScoreArray) -> KeyArray:
    """Whole numbers in the order of the scores; both zeros are one.

    Examples
    --------
    >>> np.diff(keys_of(np.array([-np.inf, -1.0, -0.0, 0.0, 5e-324, np.inf])).astype(float)) > 0
    array([ True,  True, False, False,  True])
    """
    bits = (scores.astype(np.float64) + 0.0).view(np.uint64)
    turned = (bits.view(np.int64) >> 63).view(np.uint64)  # all bits below 0, else none
    return bits ^ (turned | _SIGN)


def scores_of(keys: KeyArray) -> FloatArray:
    """The scores that have these keys; what `keys_of` makes is undone.

    Examples
    --------
    >>> scores_of(keys_of(np.array([-2.5, 0.0, 1e300])))
    array([-2.5e+000,  0.0e+000,  1.0e+300])
    """
    positive = (keys & _SIGN) != 0
    return np.where(positive, keys ^ _SIGN, ~keys).view(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class ScoreCells:
    """How many trials of both classes are in each cell that holds one, in ascending order; see the module.

    Attributes
    ----------
    room : int
        Of how many cells there may be at most; as cuts and exponents stay apart, some thousand more are possible.
    cuts : (n_cuts,) array
        Thresholds at which cells are cut, ascending: a trial at a threshold belongs above it.
    level : int
        Leading bits of keys that trials of a cell share, 12 to 64.
    starts : (n_cells,) uint64 array
        The lowest key that could be in each cell.
    counts : (2, n_cells) array
        Non-targets and targets.
    low, high : (2, n_cells) arrays
        Lowest and highest score of each class; ``inf`` and ``-inf`` where there is none.
    mantissas : (2, 2, n_cells) int64 array
        Of each class the sums of the upper and of the lower halves of mantissas.
    """

    room: int
    cuts: FloatArray
    level: int
    starts: KeyArray
    counts: IntArray
    low: FloatArray
    high: FloatArray
    mantissas: IntArray

    @classmethod
    def empty(cls, room: int, cuts: AnyArray | Sequence[float] = ()) -> ScoreCells:
        """Without a trial."""
        own = np.unique(np.asarray(cuts, np.float64) + 0.0)
        none = np.zeros((2, 0))
        return cls(
            room, own[~np.isnan(own)], _ALL, np.zeros(0, np.uint64), none.astype(np.int64), none, none, _none()
        )

    def of_class(self, scores: ScoreArray, *, is_target: bool, level: int = _ALL) -> ScoreCells:
        """Trials of one class, whose scores ascend, in cells of at most so many bits, cut and limited as here."""
        if not len(scores):
            return replace(self, level=level, **_EMPTY)
        keys = keys_of(scores)
        shift = np.uint64(_ALL - level)
        is_first = np.empty(len(scores), np.bool_)
        is_first[0] = True
        prefixes = keys >> shift
        np.not_equal(prefixes[1:], prefixes[:-1], out=is_first[1:])
        at_cuts = np.searchsorted(scores, splitting(scores, self.cuts))
        is_first[at_cuts[at_cuts < len(scores)]] = True
        first = np.flatnonzero(is_first)
        starts = self._begin(keys[first], level)
        mantissas = np.where(keys >= _SIGN, keys, ~keys).view(np.int64) & _MANTISSA
        sums = np.zeros((2, 2, len(first)), np.int64)
        c = int(is_target)
        np.add.reduceat(mantissas >> _HALF, first, out=sums[c, 0])
        if scores.dtype == np.float64:
            np.add.reduceat(mantissas & ((1 << _HALF) - 1), first, out=sums[c, 1])
        counts = np.zeros((2, len(first)), np.int64)
        counts[c] = np.diff(np.append(first, len(scores)))
        low, high = np.full((2, len(first)), np.inf), np.full((2, len(first)), -np.inf)
        low[c], high[c] = scores[first] + 0.0, scores[np.append(first[1:], len(scores)) - 1] + 0.0
        return replace(self, level=level, starts=starts, counts=counts, low=low, high=high, mantissas=sums)

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.starts)

    def sums(self) -> FloatArray:
        """Sum of the scores of each class in each cell, (2, n_cells); 0 where there is none."""
        first = np.where(np.isfinite(self.low), self.low, 0.0)
        exponent = np.maximum((np.abs(first).view(np.int64) >> 52), 1)
        hidden = np.where(np.abs(first) >= np.finfo(np.float64).tiny, 2.0**52, 0.0)
        whole = self.counts * hidden + self.mantissas[:, 0] * 2.0**_HALF + self.mantissas[:, 1]
        with np.errstate(over="ignore"):
            found = np.copysign(np.ldexp(whole, exponent - 1075), first)
        return np.where(np.isinf(self.low) & (self.counts > 0), self.low, found)

    def take(self, some: BoolArray) -> ScoreCells:
        """Some of the cells."""
        return replace(
            self,
            starts=self.starts[some],
            counts=self.counts[:, some],
            low=self.low[:, some],
            high=self.high[:, some],
            mantissas=self.mantissas[:, :, some],
        )

    def _begin(self, keys: KeyArray, level: int) -> KeyArray:
        """Where the cells of keys begin: at the first of their bits, or at a cut above that."""
        shift = np.uint64(_ALL - level)
        starts = (keys >> shift) << shift
        if len(self.cuts):
            cuts = keys_of(self.cuts)
            before = np.searchsorted(cuts, keys, side="right")
            below = np.where(before > 0, cuts[np.maximum(before - 1, 0)], np.uint64(0))
            starts = np.maximum(starts, below)
        return starts


def _none() -> IntArray:
    return np.zeros((2, 2, 0), np.int64)


_EMPTY: dict[str, Any] = {
    "starts": np.zeros(0, np.uint64),
    "counts": np.zeros((2, 0), np.int64),
    "low": np.zeros((2, 0)),
    "high": np.zeros((2, 0)),
    "mantissas": _none(),
}


def merged_cells(parts: Sequence[ScoreCells]) -> ScoreCells:
    """The cells of the trials of all parts.

    Parameters
    ----------
    parts : sequence of ScoreCells
        At least one, with the same room and the same cuts.

    Returns
    -------
    ScoreCells
        To the bit the same for all ways to merge the same trials.

    Raises
    ------
    ValueError
        If room or cuts differ.
    """
    first = parts[0]
    for one in parts:
        if one.room != first.room or not np.array_equal(one.cuts, first.cuts):
            raise ValueError("cells merge only with the same room and the same cuts")
    level = min(one.level for one in parts)
    keys = np.concatenate([one._begin(one.starts, level) for one in parts])
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    begins = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])) if len(keys) else np.zeros(0, np.int64)
    finest = _finest(keys[begins], first, level)
    if finest < level:
        level, keys = finest, first._begin(keys, finest)
        begins = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))

    def pooled(name: str, how: np.ufunc) -> Any:
        joined = np.concatenate([getattr(one, name) for one in parts], axis=-1)
        if not len(begins):
            return joined
        return how.reduceat(joined[..., order], begins, axis=-1)

    return replace(
        first,
        level=level,
        starts=keys[begins],
        counts=pooled("counts", np.add),
        low=pooled("low", np.minimum),
        high=pooled("high", np.maximum),
        mantissas=pooled("mantissas", np.add),
    )


def _finest(starts: KeyArray, cells: ScoreCells, level: int) -> int:
    """The most leading bits, up to a level, of which there is room for the cells that begin there."""
    if len(starts) <= cells.room:
        return level
    shared = _ALL - _bit_lengths(starts[1:] ^ starts[:-1])
    if len(cells.cuts):
        at = np.searchsorted(keys_of(cells.cuts), starts, side="right")
        shared[at[1:] != at[:-1]] = 0
    n_apart = 1 + np.cumsum(np.bincount(shared, minlength=_ALL + 1))
    """Cells at each level: neighbours are two if they share fewer bits."""
    fitting = np.flatnonzero(n_apart[: level] <= cells.room)
    return max(int(fitting[-1]) + 1 if len(fitting) else _FEWEST, _FEWEST)


def _bit_lengths(keys: KeyArray) -> IntArray:
    upper, lower = (keys >> np.uint64(32)).astype(np.float64), (keys & np.uint64(2**32 - 1)).astype(np.float64)
    return np.where(upper > 0, np.frexp(upper)[1] + 32, np.frexp(lower)[1]).astype(np.int64)
