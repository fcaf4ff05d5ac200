"""Counts of the trials of a class by unit and cell: they add up, and every influence is a product with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from deciban.core.resampling.cells import Cells
from deciban.core.resampling.units import Keys, TrialUnits
from deciban.types import AnyArray, CountArray, FloatArray, IntArray, ScoreArray

Table: TypeAlias = Any
"""A numpy array of units and cells, or a sparse matrix where most entries are 0."""

_DENSE = 1 << 22
"""Entries up to which a table is an array."""

_SLAB = 1 << 20
_BLOCK = 1 << 18
"""Entries of a table that are handled at once."""


@dataclass(frozen=True, slots=True, eq=False)
class UnitCounts:
    """Trials of one class (or their weight) by unit and cell; ``a + b`` counts those of both.

    A trial with two units counts for each of them, one with the same unit on both sides once.

    Attributes
    ----------
    counts : (n_units, n_cells) array or sparse matrix
    keys : (n_units,) uint64 array
        Of the units; the same in all summands.
    in_cells : (n_cells,) array
        Trials of all units, each once.
    group : (n_units,) int array
        Groups that are left out together, see `groups_of_units`.
    inside : (n_groups, n_cells) array
        Trials with two different units of one group: they count twice in the sum over its units.
    """

    counts: Table
    keys: Keys
    in_cells: CountArray
    group: IntArray
    inside: CountArray

    @classmethod
    def of(
        cls, scores: ScoreArray, units: TrialUnits, cells: Cells, group: IntArray, weights: CountArray | None = None
    ) -> UnitCounts:
        """Count checked trials.

        Parameters
        ----------
        scores : (n,) array
        units : TrialUnits
            Of these trials.
        cells : Cells
        group : (n_units,) int array
        weights : (n,) array, optional
        """
        shape, n_groups = (units.n_units, cells.n_cells), int(group.max(initial=0)) + 1
        tally = _Tally(shape, np.int64 if weights is None or weights.dtype == np.int64 else np.float64)
        once = np.zeros(shape[1], tally.type)
        inside = np.zeros((n_groups, shape[1]), tally.type)
        at = np.empty(min(len(scores), _SLAB), np.int64)
        for first in range(0, len(scores), _SLAB):
            slab = slice(first, first + _SLAB)
            cell = at[: len(scores[slab])]
            for part, found in cells.of(scores[slab]):
                cell[part] = found
            weight = None if weights is None else weights[slab]
            once += _counted(cell, weight, shape[1], tally.type)
            sides = [side[slab] for side in units.codes]
            tally.add(sides[0], cell, weight)
            if len(sides) == 2:
                other = np.flatnonzero(sides[0] != sides[1])
                is_all = len(other) == len(cell)
                second, cell_there, weight_there = (
                    one if is_all or one is None else one[other] for one in (sides[1], cell, weight)
                )
                tally.add(second, cell_there, weight_there)
                groups = group[sides[0] if is_all else sides[0][other]]
                both = np.flatnonzero(groups == group[second])
                index = groups[both] * shape[1] + cell_there[both]
                kept = None if weight_there is None else weight_there[both]
                inside += _counted(index, kept, inside.size, tally.type).reshape(inside.shape)
        return cls(tally.table(), units.keys, once, group, inside)

    def __add__(self, other: UnitCounts) -> UnitCounts:
        """Merge with the counts of other trials of the same units, in the same cells."""
        found = {name: getattr(self, name) + getattr(other, name) for name in ("counts", "in_cells", "inside")}
        return replace(self, **found)

    @property
    def n_units(self) -> int:
        """Number of units, also of those without a trial of this class."""
        return len(self.keys)

    @property
    def total(self) -> float:
        """Trials of the class, or their weight."""
        return float(self.in_cells.sum())

    @property
    def totals(self) -> FloatArray:
        """Trials of each unit."""
        return np.asarray(self.counts.sum(axis=1), np.float64).ravel()

    def mean(self, costs: FloatArray) -> FloatArray:
        """Mean of costs of cells, (n_cells,) or (n_cells, n_figures), over the trials."""
        return np.asarray(self.in_cells @ costs / self.total)

    def blocks(self, width: int) -> Iterator[tuple[slice, FloatArray]]:
        """The table in blocks of units, as floats, of which ``width`` more columns fit in memory."""
        step = max(1, _BLOCK // (width + self.counts.shape[1]))
        for first in range(0, self.n_units, step):
            part = self.counts[first : first + step]
            yield (
                slice(first, first + step),
                np.asarray(part.toarray() if hasattr(part, "toarray") else part, np.float64),
            )

    def influence(self, costs: FloatArray, table: FloatArray) -> FloatArray:
        """Derivatives of mean costs, (n_cells, n_figures), in the weights of the units of a block, at weights of 1.

        Trials of a unit count as often as the unit does, and the mean is over all: ``sum (x - mean) / total``.
        """
        return (table @ costs - np.outer(table.sum(axis=1), self.mean(costs))) / self.total

    def without_groups(self) -> Iterator[CountArray]:
        """Trials in every cell that have nothing to do with a group, for each group in turn."""
        for number in range(len(self.inside)):
            chosen = np.flatnonzero(self.group == number)
            own = np.asarray(self.counts[chosen].sum(axis=0)).ravel()
            left = self.in_cells - own + self.inside[number]
            yield left if left.dtype == np.int64 else np.where(left > 1e-9 * self.in_cells, left, 0.0)


class _Tally:
    """Adds up trials by unit and cell."""

    def __init__(self, shape: tuple[int, int], kind: Any) -> None:
        self.shape, self.type = shape, kind
        self.is_dense = shape[0] * shape[1] <= _DENSE
        self.counts: Table = np.zeros(shape[0] * shape[1], np.int32 if kind == np.int64 else kind)
        if not self.is_dense:
            from scipy.sparse import csr_matrix

            self.counts = csr_matrix(shape, dtype=kind)

    def add(self, unit: IntArray, cell: IntArray, weight: CountArray | None) -> None:
        if self.is_dense:
            index = unit.astype(np.int64)
            index *= self.shape[1]
            index += cell
            self.counts = self.counts + _counted(index, weight, len(self.counts), self.type)
            return
        from scipy.sparse import coo_matrix

        values = np.ones(len(cell), self.type) if weight is None else weight
        self.counts = self.counts + coo_matrix((values, (unit, cell)), shape=self.shape).tocsr()

    def table(self) -> Table:
        return self.counts.reshape(self.shape) if self.is_dense else self.counts


def _counted(index: IntArray, weight: CountArray | None, n: int, kind: Any) -> AnyArray:
    found = np.bincount(index, weight, minlength=n)
    return found.astype(kind, copy=False) if weight is None or kind == np.float64 else np.rint(found).astype(kind)


def groups_of_units(keys: Keys, n_groups: int) -> IntArray:
    """Deal units out to groups of equal size, in the order of their keys: names alone decide, not their order.

    Examples
    --------
    >>> groups_of_units(np.array([5, 3, 9, 1], np.uint64), 2).tolist()
    [0, 1, 1, 0]
    """
    found = np.empty(len(keys), np.int64)
    found[np.argsort(keys, kind="stable")] = np.arange(len(keys)) % max(min(n_groups, len(keys)), 1)
    return found


def merged_units(parts: Sequence[TrialUnits]) -> list[TrialUnits]:
    """The same units under the same codes in all parts of the data, by their keys."""
    keys, places = np.unique(np.concatenate([part.keys for part in parts]), return_inverse=True)
    found, first = [], 0
    for part in parts:
        place = places[first : first + part.n_units]
        first += part.n_units
        found.append(replace(part, codes=tuple(place[side] for side in part.codes), keys=keys))
    return found
