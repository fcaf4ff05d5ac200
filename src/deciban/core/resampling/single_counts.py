"""Counts of trials that are units by themselves: trials of a class and group in the same cell share one row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from deciban.core.resampling.rates import small_sample_factors
from deciban.core.resampling.unit_counts import UnitCounts, groups_of_units
from deciban.core.resampling.units import TrialUnits
from deciban.types import AnyArray, CountArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class SingleCounts(UnitCounts):
    """Trials of one class that are units by themselves, by cell.

    Rows of the table stand for all trials of a class and group in a cell: the root of the sum of their squared weights,
    so that squares of influences add up to those of all trials.

    Attributes
    ----------
    own : (n_groups, n_cells) array
        Trials of each group that is left out.
    by_cell : (2 n_cells, n_cells) array
        Rows that stand for all trials of a class in a cell: those of targets first.
    """

    own: CountArray = field(default_factory=lambda: np.zeros((0, 0)))
    by_cell: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))

    def by_group(self) -> CountArray:
        """See `UnitCounts.by_group`."""
        return self.own

    def in_groups(self, n_groups: int) -> UnitCounts:  # noqa: ARG002  # cells are fewer than groups of trials
        """See `UnitCounts.in_groups`: trials of a class in the same cell, so that squares are those of all trials."""
        none = np.zeros(len(self.by_cell), np.int64)
        return UnitCounts(self.by_cell, none.astype(np.uint64), self.in_cells, none, self.inside)

    @classmethod
    def of_classes(
        cls, own: Sequence[CountArray], squares: Sequence[CountArray], in_cells: Sequence[CountArray]
    ) -> tuple[SingleCounts, SingleCounts]:
        """Return the counts of targets and of non-targets.

        Parameters
        ----------
        own, squares : pair of (n_groups, n_cells) arrays
            Trials by group and cell, and sums of their squared weights.
        in_cells : pair of (n_cells,) arrays
        """
        from scipy.sparse import csr_matrix

        filled = [np.nonzero(one) for one in squares]
        n, group = [len(rows) for rows, _ in filled], np.concatenate([rows for rows, _ in filled])
        nobody, found, begin = np.zeros(sum(n), np.uint64), list[SingleCounts](), 0
        for c, (rows, columns) in enumerate(filled):
            n_cells = squares[c].shape[1]
            by_cell = np.zeros((2 * n_cells, n_cells))
            np.fill_diagonal(by_cell[c * n_cells :], np.sqrt(squares[c].sum(axis=0).astype(np.float64)))
            roots: FloatArray = np.sqrt(squares[c][rows, columns].astype(np.float64))
            places: AnyArray = np.arange(begin, begin + n[c])
            table = csr_matrix((roots, (places, columns)), shape=(sum(n), n_cells))
            begin += n[c]
            found.append(cls(table, nobody, in_cells[c], group, np.zeros_like(own[c]), own[c], by_cell))
        return found[0], found[1]


@dataclass(frozen=True, slots=True, eq=False)
class RowsOfTrials:
    """The row of every trial in the tables of `SingleCounts`, and its share of the row.

    Attributes
    ----------
    row : (n_units,) int array
        One more than the last row for units that do not count.
    share : (n_rows + 1,) array
        What a trial of weight 1 adds to an influence, as a share of that of its row.
    weight : (n_units,) array or None
        Weights of trials, times the factors of a jackknife; None where all weigh 1.
    """

    row: IntArray
    share: FloatArray
    weight: CountArray | None

    def spread(self, influences: FloatArray) -> FloatArray:
        """Return the influences of all units, (..., n_units), from those of rows, (..., n_rows)."""
        scaled = np.zeros((*influences.shape[:-1], len(self.share)))
        np.multiply(influences, self.share[:-1], out=scaled[..., :-1])
        found: FloatArray = scaled[..., self.row]
        if self.weight is not None:
            found *= self.weight
        return found


@dataclass(frozen=True, slots=True, eq=False)
class SpreadInfluences(Mapping[Any, FloatArray]):
    """Influences of all units by name, made from those of rows when they are needed.

    Attributes
    ----------
    of_rows : mapping of figures to (n_rows,) arrays
    rows : RowsOfTrials
    """

    of_rows: Mapping[Any, FloatArray]
    rows: RowsOfTrials

    def __getitem__(self, figure: Any) -> FloatArray:
        return self.rows.spread(self.of_rows[figure])

    def __iter__(self) -> Iterator[Any]:
        return iter(self.of_rows)

    def __len__(self) -> int:
        return len(self.of_rows)


def count_singles(
    cells: Sequence[IntArray],
    units: Sequence[TrialUnits],
    weights: Sequence[CountArray | None],
    in_cells: tuple[CountArray, CountArray],
    n_groups: int,
) -> tuple[tuple[SingleCounts, SingleCounts], RowsOfTrials]:
    """Count trials in memory, each of which is a unit.

    Parameters
    ----------
    cells : pair of (n,) int arrays
        Of targets and of non-targets.
    units : pair of TrialUnits
    weights : pair of (n,) arrays or None
    in_cells : pair of (n_cells,) arrays
        Trials (or weight) of each class in every cell.
    n_groups : int
        Groups that are left out in turn.

    Examples
    --------
    >>> units = TrialUnits.each(3)
    >>> sides = [units.take(np.array([0, 1])), units.take(np.array([2]))]
    >>> totals = np.array([2, 0]), np.array([0, 1])
    >>> (tar, non), rows = count_singles([np.array([0, 0]), np.array([1])], sides, (None, None), totals, 1)
    >>> tar.own.tolist(), non.own.tolist(), rows.row.tolist(), rows.share.round(3).tolist()
    ([[2, 0]], [[0, 1]], [0, 0, 1], [0.707, 1.0, 0.0])
    """
    n_cells, keys = len(in_cells[0]), units[0].keys
    group, places = groups_of_units(keys, n_groups), list[IntArray]()
    owned, squares, masses = list[CountArray](), list[CountArray](), list[FloatArray | float]()
    for cell, own, weight in zip(cells, units, weights, strict=True):
        place = group[own.codes[0]] * n_cells + cell
        places.append(place)
        owned.append(_sums(place, weight, n_groups, n_cells))
        mass: FloatArray | float = 1.0
        if weight is not None:  # with the factors of a jackknife
            own_mass = np.asarray(weight, np.float64)
            mass = own_mass * small_sample_factors(own_mass / own_mass.sum())
        masses.append(mass)
        squares.append(owned[-1] if weight is None else _sums(place, np.square(mass), n_groups, n_cells))
    counts = SingleCounts.of_classes(owned, squares, in_cells)
    n_rows = counts[0].n_units
    row: IntArray = np.full(len(keys), n_rows, np.int32)
    begin = 0
    for own, place, square in zip(units, places, squares, strict=True):
        filled = np.flatnonzero(square.ravel())
        number = np.full(square.size, n_rows, np.int32)
        number[filled] = np.arange(begin, begin + len(filled))
        row[own.codes[0]] = number[place]
        begin += len(filled)
    roots = np.sqrt(np.concatenate([one[one > 0] for one in (square.ravel() for square in squares)]).astype(np.float64))
    weight = None
    if any(one is not None for one in weights):
        weight = np.zeros(len(keys))
        for own, mass in zip(units, masses, strict=True):
            weight[own.codes[0]] = mass
    return counts, RowsOfTrials(row, np.append(1.0 / roots, 0.0), weight)


def _sums(place: IntArray, weight: CountArray | None, n_groups: int, n_cells: int) -> CountArray:
    """Return trials, or the sums of their weights, by group and cell; of whole numbers whole numbers."""
    found: CountArray = np.bincount(place, weight, n_groups * n_cells).reshape(n_groups, n_cells)
    return found if weight is None or weight.dtype != np.int64 else found.astype(np.int64)
