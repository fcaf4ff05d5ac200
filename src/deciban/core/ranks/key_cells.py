"""Cells of scores in which trials of several kinds are counted, refined where the hull of the ROC is still open.

This is for problems inside a problem of many classes, of which only the hull is asked:
trials count for or against by their kind (the class they are of), and by how much is known when all are counted. So
whole numbers of each kind are kept, and nothing else of a cell but its lowest and its highest score. Cells nest, and
those that may hold a vertex of the hull are counted again in finer ones until each holds a single score or cannot
matter: no score is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deciban.core.ranks.hull import Pav, block_llr, pool
from deciban.types import BoolArray, CountArray, FloatArray, IntArray, ScoreArray

ALL_BITS = 64
"""Of a key: cells of that many hold one score each."""

_MARGIN = 1e-9
"""Cells so close to the edge of the hull, relatively, count as below it: refining more than is needed is no error."""

KeyArray = NDArray[np.uint64]

_SIGN = np.uint64(1 << 63)

Windows = tuple[KeyArray, KeyArray]
"""Lowest and highest keys of ranges, ascending."""


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
class KeyCells:
    """How many trials of each kind are in each cell that holds one, in ascending order.

    Attributes
    ----------
    room : int
        Of how many cells there may be at most.
    level : int
        Leading bits of keys that trials of a cell share, up to 64.
    starts : (n_cells,) uint64 array
        These bits of each cell.
    counts : (n_kinds, n_cells) array
        Whole numbers, or sums of fractional weights.
    low, high : (n_cells,) uint64 arrays
        Lowest and highest key.

    Examples
    --------
    >>> cells = KeyCells.of(np.array([1.0, 2.0, 1.0]), np.array([0, 1, 1]), n_kinds=2, room=10)
    >>> scores_of(cells.low), cells.counts
    (array([1., 2.]), array([[1, 0],
           [1, 1]]))
    """

    room: int
    level: int
    starts: KeyArray
    counts: CountArray
    low: KeyArray
    high: KeyArray

    @classmethod
    def of(
        cls,
        scores: ScoreArray,
        kind: IntArray,
        weights: CountArray | None = None,
        *,
        n_kinds: int,
        room: int,
        level: int = ALL_BITS,
        windows: Windows | None = None,
    ) -> KeyCells:
        """Count trials, in cells of at most so many bits; only those in the windows, if there are any."""
        keys = keys_of(scores)
        if windows is not None:
            within = _inside(keys, windows)
            keys, kind = keys[within], kind[within]
            weights = None if weights is None else weights[within]
        order = np.argsort(keys)
        keys, kind = keys[order], kind[order]
        starts = keys >> np.uint64(ALL_BITS - level)
        first = _begins(starts)
        cell = np.repeat(np.arange(len(first)), np.diff(first, append=len(keys)))
        places, size = cell + kind * len(first), n_kinds * len(first)
        if weights is None:
            counts: CountArray = np.bincount(places, minlength=size)
        else:
            counts = np.bincount(places, weights[order], minlength=size).astype(weights.dtype, copy=False)
        high = keys[np.append(first[1:], len(keys)) - 1] if len(first) else keys[:0]
        found = cls(room, level, starts[first], counts.reshape(n_kinds, len(first)), keys[first], high)
        return found.within_room()

    @classmethod
    def empty(cls, n_kinds: int, room: int) -> KeyCells:
        """Without a trial."""
        none = np.zeros(0, np.uint64)
        return cls(room, ALL_BITS, none, np.zeros((n_kinds, 0), np.int64), none, none)

    @classmethod
    def merged(cls, parts: Sequence[KeyCells]) -> KeyCells:
        """The cells of the trials of all parts: the same for all ways to merge them."""
        level = min(one.level for one in parts)
        starts = np.concatenate([one.starts >> np.uint64(one.level - level) for one in parts])
        order = np.argsort(starts, kind="stable")
        counts, low, high = (
            np.concatenate([getattr(one, name) for one in parts], axis=-1)[..., order]
            for name in ("counts", "low", "high")
        )
        return cls(parts[0].room, level, starts[order], counts, low, high).pooled().within_room()

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.starts)

    def within_room(self) -> KeyCells:
        """The same trials in cells of so many bits as there is room for."""
        if self.n_cells <= self.room:
            return self
        shared = ALL_BITS - bit_lengths(self.low[1:] ^ self.low[:-1])
        n_apart = 1 + np.cumsum(np.bincount(shared, minlength=ALL_BITS + 1))
        level = max(int(np.count_nonzero(n_apart[: self.level] <= self.room)), 1)
        return replace(self, level=level, starts=self.starts >> np.uint64(self.level - level)).pooled()

    def pooled(self) -> KeyCells:
        """Neighbours that begin with the same bits as one cell."""
        first = _begins(self.starts)
        if len(first) == self.n_cells:
            return self
        return replace(
            self,
            starts=self.starts[first],
            counts=np.add.reduceat(self.counts, first, axis=1),
            low=np.minimum.reduceat(self.low, first),
            high=np.maximum.reduceat(self.high, first),
        )


def _begins(ascending: KeyArray) -> IntArray:
    """Positions at which another value begins."""
    return np.flatnonzero(np.append(True, ascending[1:] != ascending[:-1])) if len(ascending) else np.zeros(0, np.int64)


def _inside(keys: KeyArray, windows: Windows) -> BoolArray:
    low, high = windows
    at = np.searchsorted(low, keys, side="right") - 1
    return np.asarray((at >= 0) & (keys <= high[np.maximum(at, 0)]))


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """For what, and by how much, trials of each kind count.

    Attributes
    ----------
    is_for : (n_kinds,) bool array
        Whether as a target, else as a non-target.
    share : (n_kinds,) array
        Weight of a trial; where all of a side have one, its trials are counted as they are.
    """

    is_for: BoolArray
    share: FloatArray

    def counted(self, counts: CountArray) -> tuple[CountArray, CountArray]:
        """Targets and non-targets of each cell."""
        found = []
        for side in (self.is_for, ~self.is_for):
            own, share = counts[side], self.share[side]
            found.append(own.sum(axis=0) if np.all(share == 1.0) else share @ own)
        return found[0], found[1]


@dataclass(frozen=True, eq=False)
class Refining:
    """What is known of the hull of a problem: cells, some of which have to be counted again.

    Neighbours in one block that hold no vertex are one cell: better hulls only leave them farther behind.

    Attributes
    ----------
    sides : Sides
    low, high : (n_cells,) uint64 arrays
        Lowest and highest key of each cell, ascending.
    counts : (n_kinds, n_cells) array
    is_open : (n_cells,) bool array
        Which cells may hold a vertex of the hull.
    """

    sides: Sides
    low: KeyArray
    high: KeyArray
    counts: CountArray
    is_open: BoolArray

    @classmethod
    def of(cls, sides: Sides, cells: KeyCells) -> Refining:
        """From the cells of all trials."""
        return cls(sides, cells.low, cells.high, cells.counts, cells.low < cells.high).settled()

    @property
    def n_open(self) -> int:
        """How many cells are open."""
        return int(np.count_nonzero(self.is_open))

    @property
    def windows(self) -> Windows:
        """Where trials have to be counted again."""
        return self.low[self.is_open], self.high[self.is_open]

    def refined(self, finer: KeyCells) -> Refining:
        """With the trials of open cells in finer ones.

        A cell that is no finer than before would never end: who counts gives more room than there are open cells.
        """
        rest = ~self.is_open
        order = np.argsort(np.concatenate((self.low[rest], finer.low)), kind="stable")
        low, high = np.concatenate((self.low[rest], finer.low)), np.concatenate((self.high[rest], finer.high))
        is_open = np.concatenate((self.is_open[rest], finer.low < finer.high))
        counts = np.concatenate((self.counts[:, rest], finer.counts), axis=1)[:, order]
        return Refining(self.sides, low[order], high[order], counts, is_open[order]).settled()

    def settled(self) -> Refining:
        """The same with those cells open alone that can matter, and others of a block together."""
        n_tar, n_non = self.sides.counted(self.counts)
        if not len(self.low):
            return self
        starts = pool(n_tar, n_non)
        is_open = self.is_open & _below_edges(n_tar, n_non, starts)
        first = is_open.copy()
        first[starts] = True
        first[1:] |= is_open[:-1]
        at = np.flatnonzero(first)
        high, counts = self.high[np.append(at[1:], len(first)) - 1], np.add.reduceat(self.counts, at, axis=1)
        return Refining(self.sides, self.low[at], high, counts, is_open[at])

    @property
    def blocks(self) -> tuple[CountArray, CountArray, FloatArray, FloatArray]:
        """PAV blocks as numbers of targets and non-targets, and lowest and highest scores.

        They are those of all scores, to the bit where trials count as whole numbers.
        """
        n_tar, n_non = self.sides.counted(self.counts)
        starts = pool(n_tar, n_non)
        low, high = scores_of(self.low[starts]), scores_of(self.high[np.append(starts[1:], len(self.low)) - 1])
        return np.add.reduceat(n_tar, starts), np.add.reduceat(n_non, starts), low, high

    @property
    def pav(self) -> Pav:
        """The same with the log-likelihood ratio of each block; both classes have trials."""
        n_tar, n_non, low, high = self.blocks
        return Pav(n_tar, n_non, low, high, block_llr(n_tar, n_non))

    @property
    def best(self) -> Pav:
        """The same if in every open cell all non-targets were below all targets: no order of its trials is better."""
        own_tar, own_non = self.sides.counted(self.counts)
        at = np.repeat(np.arange(len(self.low)), 1 + self.is_open)
        is_second = np.append(False, at[1:] == at[:-1])
        n_tar = np.where(self.is_open[at] & ~is_second, 0, own_tar[at])
        n_non = np.where(is_second, 0, own_non[at])
        starts = pool(n_tar, n_non)
        low, high = scores_of(self.low[at[starts]]), scores_of(self.high[at[np.append(starts[1:], len(at)) - 1]])
        n_tar, n_non = np.add.reduceat(n_tar, starts), np.add.reduceat(n_non, starts)
        return Pav(n_tar, n_non, low, high, block_llr(n_tar, n_non))


def _below_edges(n_tar: CountArray, n_non: CountArray, starts: IntArray) -> BoolArray:
    """Cells with trials of both sides whose best corner, non-targets first, is below the edge of the hull over them."""
    block = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(n_tar)))
    tar_before, non_upto = np.cumsum(n_tar) - n_tar, np.cumsum(n_non)
    tar_before = (tar_before - tar_before[starts][block]).astype(np.float64)
    non_upto = (non_upto - (non_upto - n_non)[starts][block]).astype(np.float64)
    tar, non = (np.add.reduceat(n, starts)[block].astype(np.float64) for n in (n_tar, n_non))
    return np.asarray((n_tar > 0) & (n_non > 0) & (tar_before * non < tar * non_upto * (1.0 + _MARGIN)))


def bit_lengths(keys: KeyArray) -> IntArray:
    """How many bits each key has, leading zeros left out."""
    upper, lower = (keys >> np.uint64(32)).astype(np.float64), (keys & np.uint64(2**32 - 1)).astype(np.float64)
    return np.where(upper > 0, np.frexp(upper)[1] + 32, np.frexp(lower)[1]).astype(np.int64)
