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
from deciban.types import AnyArray, BoolArray, CountArray, FloatArray, IntArray, ScoreArray

Order: TypeAlias = Literal["tied", "best", "worst"]
"""Whether trials of a cell in which both classes are not told apart count as tied, or as ordered for or against us."""

_BITS_AT_ONCE = 3
"""Bits by which the cells that are split together may differ in width."""

_KEY_BITS = 64

_LIMIT = 2**63
_MARGIN = 1e-12
"""Where products pass 2**63, cells so close to the edge count as below it: keeping more than is needed is no error."""

_LOST = 1e-10
"""Of a sum of fractional weights, for one that was taken away again."""


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
    mantissas, weights = cells.mantissas[:, :, at], cells.weights[..., at]
    mantissas[np.broadcast_to(gone[:, None, :], mantissas.shape)] = 0
    weights[np.broadcast_to(gone[:, None, None, :], weights.shape)] = 0
    return replace(
        cells,
        starts=starts,
        counts=np.where(gone, 0, cells.counts[:, at]),
        low=np.where(gone, np.inf, low[:, at]),
        high=np.where(gone, -np.inf, high[:, at]),
        mantissas=mantissas,
        weights=weights,
    )


def are_open(cells: ScoreCells) -> BoolArray:
    """In which cells both classes occur and how they are ordered is not known."""
    has_both = (cells.counts > 0).all(axis=0)
    found: BoolArray = has_both & (cells.low.min(axis=0) < cells.high.max(axis=0))
    return found


def holding_vertices(cells: ScoreCells) -> BoolArray:
    """Which open cells can hold a vertex of the hull, or touch the end of a block."""
    n_non, n_tar = cells.masses
    is_open, starts = are_open(cells), pool(n_tar, n_non)
    block = np.zeros(cells.n_cells, np.int64)
    block[starts[1:]] = 1
    np.cumsum(block, out=block)
    (tar_before, non_upto), (tar, non) = _inside(n_tar, n_non, starts, block)
    if n_tar.dtype != np.int64:
        lost = _LOST * (n_tar.sum() * non + n_non.sum() * tar)  # what subtracting sums may have lost
        below = tar_before * non < tar * non_upto * (1.0 + _MARGIN) + lost
    elif int(n_tar.sum()) * int(n_non.sum()) < _LIMIT:
        below = tar_before * non < tar * non_upto
    else:
        below = tar_before.astype(np.float64) * non < tar.astype(np.float64) * non_upto * (1.0 + _MARGIN)
    touches = np.zeros(cells.n_cells, np.bool_)
    touches[starts] = touches[np.append(starts[1:], cells.n_cells) - 1] = True
    found: BoolArray = is_open & (below | touches)
    return found


def _inside(
    n_tar: CountArray, n_non: CountArray, starts: IntArray, block: IntArray
) -> tuple[tuple[CountArray, CountArray], tuple[CountArray, CountArray]]:
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
    n_fa, n_miss = corners(*cells.masses[::-1])
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
    cells: ScoreCells,
    kept: BoolArray,
    scores: Sequence[ScoreArray],
    order: Order = "tied",
    weights: Sequence[FloatArray] | None = None,
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
    weights : (non, tar), optional
        Theirs, where trials have weights.
    order : {"tied", "best", "worst"}
        What is made of the other cells with both classes.

    Returns
    -------
    tar, non : CellClass
    """
    lowest, highest, is_open = cells.low.min(axis=0), cells.high.max(axis=0), are_open(cells) & ~kept
    totals, masses, found = cells.sums(), cells.masses, []
    for c in (0, 1):
        place = lowest
        if order != "tied":
            place = np.where(is_open & (c == (order == "best")), highest, lowest)
        known = None if weights is None else weights[c]
        found.append(_entries(cells, c, kept, place, (masses[c], totals[c]), (scores[c], known)))
    return found[1], found[0]


def _entries(
    cells: ScoreCells,
    c: int,
    kept: BoolArray,
    place: FloatArray,
    held: tuple[CountArray, FloatArray],
    known: tuple[ScoreArray, FloatArray | None],
) -> CellClass:
    """Trials that are known, one by one, and of all other cells one entry, or three where only one class is in it."""
    n, low, high, (mass, totals), (scores, by) = cells.counts[c], cells.low[c], cells.high[c], held, known
    both = (cells.counts > 0).all(axis=0)
    alone, tied = (n > 0) & ~both & ~kept, (n > 0) & both & ~kept
    ends = np.cumsum(np.where(kept, n, np.where(alone, np.minimum(n, 3), tied)))
    begins = np.concatenate((np.zeros(1, np.int64), ends[:-1])) if len(ends) else ends
    size = int(ends[-1]) if len(ends) else 0
    own, weights, sums = np.empty(size, scores.dtype), np.ones(size, mass.dtype), np.empty(size)
    unsure, at = np.zeros(size, np.bool_), np.repeat(kept, ends - begins)
    own[at] = scores
    weights[at] = 1 if by is None else by
    sums[at] = scores * weights[at]
    own[begins[tied]], weights[begins[tied]], sums[begins[tied]] = place[tied], mass[tied], totals[tied]
    several, many = alone & (n > 1), alone & (n > 2)
    end = np.where(several, 1, 0) if mass.dtype == np.int64 else mass / 4  # of one class, any shares are right
    first = np.where(many, end, mass - np.where(several, end, 0))
    for some, at, score, share in ((alone, begins, low, first), (several, ends - 1, high, end)):
        own[at[some]], weights[at[some]], sums[at[some]] = score[some], share[some], score[some] * share[some]
    hidden_weights = several & (mass != n)  # how much each of two trials weighs is not known
    at, inner = begins[many] + 1, (mass - 2 * end)[many]
    rest = totals[many] - _finite(low[many]) * end[many] - _finite(high[many]) * end[many]
    sums[at] = np.where(np.isinf(low[many]), low[many], rest)
    own[at], weights[at] = np.clip(sums[at] / inner, low[many], high[many]), inner
    unsure[at] = (low < high)[many]
    unsure[ends[several] - 1] = ((low < high) & (many | hidden_weights))[several]
    cumulated = np.concatenate((np.zeros(1, weights.dtype), np.cumsum(weights)))
    hidden = tied & (low < high)
    return CellClass(own, weights, cumulated, unsure, [], sums, (low[hidden], high[hidden]))


def _finite(values: FloatArray) -> FloatArray:
    return np.where(np.isinf(values), 0.0, values)


def to_split(cells: ScoreCells, kept: BoolArray, most: int) -> BoolArray:
    """Which of these cells are counted again in finer ones: all of them, or so many that are about as wide.

    Width is how many bits scores do not share. As all that are chosen differ by few bits, more bits of each are told,
    and no cell is put together again. Of all widths those are chosen at which most trials are.

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
        upto = np.cumsum(np.bincount(wide, n_trials, minlength=_KEY_BITS + 1))
        in_band = upto - np.concatenate((np.zeros(_BITS_AT_ONCE), upto[:-_BITS_AT_ONCE]))
        widest = int(np.argmax(in_band))
        chosen = np.flatnonzero((wide <= widest) & (wide > widest - _BITS_AT_ONCE))
        chosen = chosen[np.argsort(-n_trials[chosen], kind="stable")][: max(most, 1)]
        found[:] = False
        found[rows[chosen]] = True
    return found


def windows_of(cells: ScoreCells, kept: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest scores of runs of neighbouring cells."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], kept, [False])).astype(np.int8)))
    first, last = edges[::2], edges[1::2] - 1
    return cells.low.min(axis=0)[first], cells.high.max(axis=0)[last]


def in_windows(scores: ScoreArray, windows: tuple[FloatArray, FloatArray]) -> BoolArray:
    """Which of ascending scores are in one of the windows."""
    low, high = (splitting(scores, edge) for edge in windows)
    begins, ends = np.searchsorted(scores, low, side="left"), np.searchsorted(scores, high, side="right")
    step = np.zeros(len(scores) + 1, np.int8)
    filled = ends > begins
    step[begins[filled]] += 1
    step[ends[filled]] -= 1
    return np.cumsum(step[:-1], dtype=np.int8).astype(np.bool_)
