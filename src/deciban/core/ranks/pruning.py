"""Which cells of scores can matter to the hull of the ROC; all others are one tied group each, and nothing is lost.

Between its ends a cell can only bend the hull if its best corner, all its non-targets below all its targets, lies
strictly below the straight edge over it. That edge is the one of PAV on the cells as they are, each a tied group, and
the test is one of whole numbers. Of the cells that pass it the scores themselves are needed; with these, PAV has the
blocks that all scores would have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from deciban.core.ranks.counts import corners, splitting
from deciban.core.ranks.gaps import GapClass
from deciban.core.ranks.hull import pool
from deciban.core.ranks.score_cells import ScoreCells, bit_lengths, keys_of
from deciban.types import AnyArray, BoolArray, FloatArray, IntArray, ScoreArray

Order: TypeAlias = Literal["tied", "best", "worst"]
"""Whether trials of a cell in which both classes are not told apart count as tied, or as ordered for or against us."""

_BITS_AT_ONCE = 3
"""Bits by which the cells that are split together may differ in width."""

_LIMIT = 2**63
_MARGIN = 1e-12
"""Where products pass 2**63, cells so close to the edge count as below it: keeping more than is needed is no error."""


@dataclass(frozen=True, slots=True)
class CellClass(GapClass):
    """A class of which some trials are known one by one, and others only by their cell.

    Attributes
    ----------
    totals : (n_entries,) array
        Sum of the scores of the trials of each entry.
    tied : pair of arrays
        Lowest and highest scores of the cells of which all trials count as tied, ascending.
    """

    totals: FloatArray
    tied: tuple[FloatArray, FloatArray]

    def positions(self, thresholds: FloatArray) -> IntArray:
        """Number of entries below every threshold; those that split a cell whose trials count as tied are missed."""
        found, wanted = GapClass.positions(self, thresholds), np.atleast_1d(splitting(self.scores, thresholds))
        low, high = self.tied
        if len(low):
            at = np.searchsorted(high, wanted)
            inside = at < len(high)
            lost = wanted[inside][low[at[inside]] < wanted[inside]]
            if len(lost):
                self.missed.append(lost.astype(np.float64))
        return found

    @property
    def score_sums(self) -> FloatArray:
        """See `SortedClass.score_sums`."""
        return self.totals


def told_apart(cells: ScoreCells) -> ScoreCells:
    """The same trials, with two cells in place of each in which one class lies above all of the other."""
    low, high = cells.low, cells.high
    has_both = (cells.counts > 0).all(axis=0)
    upper = np.where(low[1] > high[0], 1, 0)  # which class is above, if one is
    split = has_both & ((low[1] > high[0]) | (low[0] > high[1]))
    if not split.any():
        return cells
    at = np.repeat(np.arange(cells.n_cells), 1 + split)
    is_second = np.zeros(len(at), np.bool_)
    is_second[1:] = at[1:] == at[:-1]
    is_split = split[at]
    gone = np.array([upper[at] == c for c in (0, 1)]) == ~is_second  # the first one has the class that is below
    gone &= is_split
    starts = cells.starts[at]
    own_low = np.where(upper[at] == 1, low[1][at], low[0][at])
    second = is_second & is_split
    starts[second] = keys_of(own_low[second])
    mantissas = cells.mantissas[:, :, at]
    mantissas[np.broadcast_to(gone[:, None, :], mantissas.shape)] = 0
    return replace(
        cells,
        starts=starts,
        counts=np.where(gone, 0, cells.counts[:, at]),
        low=np.where(gone, np.inf, low[:, at]),
        high=np.where(gone, -np.inf, high[:, at]),
        mantissas=mantissas,
    )


def are_open(cells: ScoreCells) -> BoolArray:
    """In which cells both classes occur and how they are ordered is not known."""
    has_both = (cells.counts > 0).all(axis=0)
    found: BoolArray = has_both & (cells.low.min(axis=0) < cells.high.max(axis=0))
    return found


def holding_vertices(cells: ScoreCells) -> BoolArray:
    """Which open cells can hold a vertex of the hull, or touch the end of a block."""
    n_non, n_tar = cells.counts
    is_open, starts = are_open(cells), pool(n_tar, n_non)
    block = np.zeros(cells.n_cells, np.int64)
    block[starts[1:]] = 1
    np.cumsum(block, out=block)
    (tar_before, non_upto), (tar, non) = _inside(n_tar, n_non, starts, block)
    if int(n_tar.sum()) * int(n_non.sum()) < _LIMIT:
        below = tar_before * non < tar * non_upto
    else:
        below = tar_before.astype(np.float64) * non < tar.astype(np.float64) * non_upto * (1.0 + _MARGIN)
    touches = np.zeros(cells.n_cells, np.bool_)
    touches[starts] = touches[np.append(starts[1:], cells.n_cells) - 1] = True
    found: BoolArray = is_open & (below | touches)
    return found


def _inside(
    n_tar: IntArray, n_non: IntArray, starts: IntArray, block: IntArray
) -> tuple[tuple[IntArray, IntArray], tuple[IntArray, IntArray]]:
    """Targets below and non-targets up to each cell, in its block, and those of the whole block."""
    tar_before, non_upto = np.cumsum(n_tar) - n_tar, np.cumsum(n_non)
    tar_before -= tar_before[starts][block]
    non_upto -= (non_upto - n_non)[starts][block]
    return (tar_before, non_upto), (np.add.reduceat(n_tar, starts)[block], np.add.reduceat(n_non, starts)[block])


def split_by(cells: ScoreCells, thresholds: FloatArray) -> BoolArray:
    """Which cells have trials of a class on both sides of a threshold, as far as is known."""
    found = np.zeros(cells.n_cells, np.bool_)
    for low, high in zip(cells.low, cells.high, strict=True):
        filled = np.flatnonzero(low <= high)
        at = np.searchsorted(high[filled], thresholds)
        inside = at < len(filled)
        own = filled[at[inside]]
        found[own[low[own] < thresholds[inside]]] = True
    return found


def around(cells: ScoreCells, rows: AnyArray) -> BoolArray:
    """These cells, and on both sides the next ones with trials of both classes: runs of one class end there."""
    found, both = np.zeros(cells.n_cells, np.bool_), (cells.counts > 0).all(axis=0)
    at = np.arange(cells.n_cells)
    before = np.maximum.accumulate(np.where(both, at, -1))
    after = np.minimum.accumulate(np.where(both, at, cells.n_cells)[::-1])[::-1]
    for own in (rows, before[np.maximum(rows - 1, 0)], after[np.minimum(rows + 1, cells.n_cells - 1)]):
        found[own[(own >= 0) & (own < cells.n_cells)]] = True
    return found


def crossing_rows(cells: ScoreCells) -> IntArray:
    """The cells in which misses become as frequent as false alarms, and what stands beside them."""
    n_fa, n_miss = corners(cells.counts[1], cells.counts[0])
    first = int(np.argmax(n_miss / n_miss[-1] >= n_fa / n_fa[0]))
    rows = np.arange(first - 3, first + 3)  # rates are rounded: one cell more on both sides
    return rows[(rows >= 0) & (rows < cells.n_cells)]


def ends_of_finite(cells: ScoreCells) -> IntArray:
    """The cells with the lowest and the highest finite score of each class."""
    found = list[int]()
    for low, high in zip(cells.low, cells.high, strict=True):
        filled = np.flatnonzero((low <= high) & np.isfinite(low))
        found += filled[[0, -1]].tolist() if len(filled) else []
    return np.array(found, np.int64)


def classes_of(
    cells: ScoreCells, kept: BoolArray, scores: Sequence[ScoreArray], order: Order = "tied"
) -> tuple[CellClass, CellClass]:
    """Both classes as few weighted entries.

    Parameters
    ----------
    cells : ScoreCells
        Those with one class above the other told apart.
    kept : (n_cells,) array
        Of which cells the scores are known.
    scores : (non, tar)
        These scores, ascending.
    order : {"tied", "best", "worst"}
        What is made of the other cells with both classes.

    Returns
    -------
    tar, non : CellClass
    """
    lowest, highest, is_open = cells.low.min(axis=0), cells.high.max(axis=0), are_open(cells) & ~kept
    totals, found = cells.sums(), []
    for c in (0, 1):
        place = lowest
        if order != "tied":
            place = np.where(is_open & (c == (order == "best")), highest, lowest)
        found.append(_entries(cells, c, kept, place, totals[c], scores[c]))
    return found[1], found[0]


def _entries(
    cells: ScoreCells, c: int, kept: BoolArray, place: FloatArray, totals: FloatArray, scores: ScoreArray
) -> CellClass:
    n, low, high = cells.counts[c], cells.low[c], cells.high[c]
    both = (cells.counts > 0).all(axis=0)
    alone = (n > 0) & ~both & ~kept
    tied = (n > 0) & both & ~kept
    sizes = np.where(kept, n, np.where(alone, np.minimum(n, 3), tied))
    ends = np.cumsum(sizes)
    begins = ends - sizes
    size = int(ends[-1]) if len(ends) else 0
    own, weights, sums = np.empty(size, scores.dtype), np.ones(size, np.int64), np.empty(size)
    unsure = np.zeros(size, np.bool_)
    known = np.repeat(kept, sizes)
    own[known] = sums[known] = scores
    at = begins[tied]
    own[at], weights[at], sums[at] = place[tied], n[tied], totals[tied]
    own[begins[alone]] = sums[begins[alone]] = low[alone]
    several = alone & (n > 1)
    own[ends[several] - 1] = sums[ends[several] - 1] = high[several]
    many = alone & (n > 2)
    at, inner = begins[many] + 1, n[many] - 2
    sums[at] = np.where(np.isinf(low[many]), low[many], totals[many] - _finite(low[many]) - _finite(high[many]))
    own[at], weights[at] = np.clip(sums[at] / inner, low[many], high[many]), inner
    unsure[at] = unsure[ends[many] - 1] = low[many] < high[many]
    cumulated = np.concatenate((np.zeros(1, np.int64), np.cumsum(weights)))
    hidden = tied & (low < high)
    return CellClass(own, weights, cumulated, unsure, [], sums, (low[hidden], high[hidden]))


def _finite(values: FloatArray) -> FloatArray:
    return np.where(np.isinf(values), 0.0, values)


def to_split(cells: ScoreCells, kept: BoolArray, most: int) -> BoolArray:
    """Which of these cells are counted again in finer ones: all of them, or so many of the widest where they are more.

    The widest ones are those whose scores share the fewest bits. As all that are chosen differ by few bits, as many
    more bits of each are told as there is room for.

    Parameters
    ----------
    cells : ScoreCells
    kept : (n_cells,) array
        Those that are too large.
    most : int
        For so many there is room to become a few cells each.
    """
    found, rows = kept.copy(), np.flatnonzero(kept)
    if len(rows) > most:
        ends = keys_of(cells.low[:, rows].min(axis=0)) ^ keys_of(cells.high[:, rows].max(axis=0))
        wide, n_trials = bit_lengths(ends), cells.counts[:, rows].sum(axis=0)
        wide[wide + _BITS_AT_ONCE <= wide.max()] = 0
        order = np.lexsort((-n_trials, wide == 0))
        chosen = order[: max(min(most, int(np.count_nonzero(wide))), 1)]
        found[:] = False
        found[rows[chosen]] = True
    return found


def windows_of(cells: ScoreCells, kept: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest scores of runs of neighbouring cells."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], kept, [False])).astype(np.int8)))
    first, last = edges[::2], edges[1::2] - 1
    return cells.low.min(axis=0)[first], cells.high.max(axis=0)[last]


def in_windows(scores: ScoreArray, windows: tuple[FloatArray, FloatArray]) -> ScoreArray:
    """Those of ascending scores that are in one of the windows."""
    low, high = (splitting(scores, edge) for edge in windows)
    begins, ends = np.searchsorted(scores, low, side="left"), np.searchsorted(scores, high, side="right")
    step = np.zeros(len(scores) + 1, np.int8)
    filled = ends > begins
    step[begins[filled]] += 1
    step[ends[filled]] -= 1
    found: ScoreArray = scores[np.cumsum(step[:-1], dtype=np.int8).astype(np.bool_)]
    return found
