"""Cells of scores: few enough for a table of units and cells, fine enough that every figure is one of their counts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtr

from deciban.core.ranks.counts import CountTable, SortedClass
from deciban.core.ranks.hull import Pav
from deciban.types import CountArray, FloatArray, IntArray, ScoreArray

_BINS = 1 << 16
_FEW = 1 << 11
"""Scores up to which a search is faster than bins that have to be made."""

_STEP = 1 << 16
"""Trials at once: temporaries stay in cache."""

_LARGEST = float(np.finfo(np.float64).max)
_WIDEST = 4.5
"""On a probit scale rates beyond are not told apart."""

_ROOM = 1 << 22
"""So many cells at one unit, and fewer by the power 3/2 of their number: 4096 up to 100 units, 132 at a thousand."""

_FEWEST, _MOST = 128, 4096
"""Cells where there are many units, and where there are few."""


@dataclass(frozen=True)
class Cells:
    """The score axis in parts: cell 0 below the first border, cell k from border k - 1 up to, not with, border k.

    Attributes
    ----------
    borders : (n_cells - 1,) array
        Ascending, finite.
    """

    borders: FloatArray

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.borders) + 1

    def below(self, threshold: float) -> int:
        """Number of cells below a threshold that is a border, or infinite: those whose trials are rejected."""
        return int(self.positions(np.array([threshold]))[0])

    def positions(self, thresholds: FloatArray) -> IntArray:
        """Number of cells below each threshold, see `below`."""
        above = np.searchsorted(self.borders, thresholds, side="left") + 1
        return np.where(np.isinf(thresholds), np.where(thresholds > 0.0, self.n_cells, 0), above)

    def of(self, scores: ScoreArray) -> IntArray:
        """The cell of every score; a table of narrow bins finds most without a search."""
        if len(scores) <= _FEW:
            return np.searchsorted(self.borders, scores.astype(np.float64, copy=False), side="right")
        first, width, lowest = self._bins
        found = np.empty(len(scores), lowest.dtype)
        for start in range(0, len(scores), _STEP):
            part = slice(start, start + _STEP)
            values = scores[part].astype(np.float64, copy=False)
            bins, own = self._bin(values, first, width), found[part]
            np.take(lowest, bins, out=own, mode="wrap")  # bins are in range: the mode without a check
            unclear = np.flatnonzero(own < 0)
            own[unclear] = self._beside_borders(values[unclear], ~own[unclear])
        return found

    def _beside_borders(self, values: FloatArray, below: IntArray) -> IntArray:
        """Cells of scores whose bins have borders inside, with how many borders lie below each bin: few have two."""
        found = below + (values >= self.borders[below])
        several = np.flatnonzero(values >= np.append(self.borders, np.inf)[found])
        found[several] = np.searchsorted(self.borders, values[several], side="right")
        return found

    @cached_property
    def _bins(self) -> tuple[float, float, IntArray]:
        """Where bins begin, how many there are per unit of score, and the cell of each.

        Of bins with a border inside it is the lowest of their cells, with all bits turned over: a negative number.

        A bin is found by the same monotone arithmetic for scores and borders: in a bin without a border, all scores
        are on the same side of each border, whatever the rounding.
        """
        low, high = (self.borders[0], self.borders[-1]) if len(self.borders) else (0.0, 0.0)
        finite = self.borders[np.abs(self.borders) < _LARGEST]
        if len(finite):
            low, high = finite[0], finite[-1]
        with np.errstate(over="ignore"):
            width = (_BINS - 2) / (high - low) if high > low else 1.0
        width = float(width) if np.isfinite(width) and width > 0.0 else 1.0
        first = max(float(low) - 1.0 / width, -_LARGEST)  # bin 0 is below the lowest border
        inside = np.bincount(self._bin(self.borders, first, width), minlength=_BINS)
        below = np.cumsum(inside) - inside
        return first, width, np.where(inside > 0, ~below, below).astype(np.int32)

    @staticmethod
    def _bin(values: FloatArray, first: float, width: float) -> IntArray:
        with np.errstate(over="ignore", invalid="ignore"):
            places = (values - first) * width
        np.clip(places, 0.0, float(_BINS - 1), out=places)
        return places.astype(np.int64)


def cells_of(table: CountTable, pav: Pav, wanted: FloatArray, n_units: int) -> Cells:
    """Cells with borders at all thresholds that are wanted, at all vertices of the hull, and along both classes.

    Where there are few scores, every one has a cell of its own and nothing is rounded.

    Parameters
    ----------
    table : CountTable
    pav : Pav
    wanted : (n,) array
        Thresholds at which counts must be exact.
    n_units : int
        The more units, the fewer cells.
    """
    classes, room = (table.tar, table.non), room_for(n_units)
    is_few = sum(len(one.scores) for one in classes) <= room
    along = np.concatenate([one.scores.astype(np.float64) if is_few else _quantiles(one, room // 2) for one in classes])
    has_infinite = any(len(one.scores) and np.isinf(one.scores[[0, -1]]).any() for one in classes)
    borders = np.concatenate((along, wanted, pav.low, [-_LARGEST, _LARGEST] if has_infinite else []))
    borders = np.clip(borders[~np.isnan(borders)], -_LARGEST, _LARGEST)
    return Cells(np.unique(borders))


def room_for(n_units: int) -> int:
    """So many scores of both classes can each have a cell.

    Examples
    --------
    >>> room_for(100), room_for(1000)
    (4096, 132)
    """
    return int(np.clip(_ROOM / max(n_units, 1) ** 1.5, _FEWEST, _MOST))


def _quantiles(trials: SortedClass, n_places: int) -> FloatArray:
    """Scores of a class that are evenly spaced on an axis of a DET plot."""
    lines = ndtr(np.linspace(-_WIDEST, _WIDEST, max(n_places, 2))) * trials.total
    return trials.scores[np.clip(trials.at_weight(lines), 0, len(trials.scores) - 1)].astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class CellTotals:
    """The trials of a class in every cell; ``a + b`` are those of both.

    Attributes
    ----------
    counts : (n_cells,) array
        Trials, or their weight.
    sums : (n_cells,) array
        Of scores, by their weights.
    lowest : (n_cells,) array
        Score; inf where there is none.
    n_trials : int
        That count.
    """

    counts: CountArray
    sums: FloatArray
    lowest: FloatArray
    n_trials: int

    @classmethod
    def of(cls, scores: ScoreArray, cell: IntArray, n_cells: int, weights: CountArray | None = None) -> CellTotals:
        """Add up checked trials, all of which count.

        Examples
        --------
        >>> CellTotals.of(np.array([3.0, 1.0, 2.0]), np.array([1, 0, 1]), 3).means.tolist()
        [1.0, 2.5, 0.0]
        """
        counts: CountArray = np.bincount(cell, weights, n_cells)
        if weights is not None and weights.dtype == np.int64:
            counts = np.zeros(n_cells, np.int64)
            np.add.at(counts, cell, weights)
        doubles = scores.astype(np.float64, copy=False)
        lowest = np.full(n_cells, np.inf)
        np.minimum.at(lowest, cell, doubles)
        with np.errstate(over="ignore", invalid="ignore"):
            sums = np.bincount(cell, doubles if weights is None else doubles * weights, n_cells).astype(np.float64)
        return cls(counts, sums, lowest, len(scores))

    def __add__(self, other: CellTotals) -> CellTotals:
        """Merge with other trials in the same cells."""
        counts: CountArray = self.counts + other.counts
        lowest = np.minimum(self.lowest, other.lowest)
        with np.errstate(over="ignore", invalid="ignore"):
            sums = self.sums + other.sums
        return CellTotals(counts, sums, lowest, self.n_trials + other.n_trials)

    @property
    def means(self) -> FloatArray:
        """Mean score, see `mean_scores`; 0 where there is no trial."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            means = self.sums / self.counts
        return np.where(self.counts > 0, np.where(np.isfinite(means), means, self.lowest), 0.0)

    @property
    def mean_weight(self) -> float:
        """What a trial counts: 1 where weights are whole numbers."""
        return 1.0 if self.counts.dtype == np.int64 else float(self.counts.sum() / self.n_trials)


def in_cells(trials: SortedClass, cells: Cells) -> tuple[CountArray, FloatArray]:
    """Trials (or weight) of a sorted class in every cell, and their mean score; 0 where there is none."""
    starts = np.concatenate(([0], trials.positions(cells.borders)))
    lengths = np.diff(np.append(starts, len(trials.scores)))
    counts, filled = trials.sums(lengths), lengths > 0
    means = np.zeros(cells.n_cells)
    if filled.any():
        means[filled] = mean_scores(trials, starts[filled], counts[filled])
    return counts, means


def mean_scores(trials: SortedClass, starts: IntArray, counts: CountArray) -> FloatArray:
    """Mean of each run of sorted scores; where a sum overflows or is infinite, the first score of the run."""
    with np.errstate(over="ignore", invalid="ignore"):
        means: FloatArray = trials.score_sums(starts) / counts
    return np.where(np.isfinite(means), means, trials.scores[starts])
