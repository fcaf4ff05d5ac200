"""Sums of the weights of trials by cell, for many replicates at once.

A trial of one unit counts as often as the unit, one of two units as often as the product of both (the vertex
bootstrap; where the sides share no unit, the product-weight bootstrap of Owen and Eckles 2012).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np

from deciban.core.resampling.replicates import MOST, Multipliers
from deciban.core.resampling.unit_counts import Table, sums_of_rows
from deciban.core.resampling.units import TrialUnits
from deciban.types import AnyArray, CountArray, FloatArray, IntArray

_GROUP = 18
"""Trials whose weights of one unit are added up together in a byte: 18 times 14 fits."""

_RUN = 334
"""Trials whose products are added up together in 16 bits: 334 products of 14 and 14 fit."""

_GROUPS, _WEIGHTED = 1 << 12, 1 << 10
"""Groups at once, of trials without and with weights of their own: many enough for long calls, few enough for cache."""

_TABLE = 1 << 26
"""Bytes of weights of units at once, as far as there are two replicates."""

_SAMPLED = 8
"""Of so many trials one is looked at for which units have many: on that only speed depends."""

_UNITS = 1 << 16
_EXACT = 1 << 24
"""Below, whole numbers are exact in 32 bits, which are multiplied twice as fast."""

_DENSE_FROM = 0.1
"""Share of entries that are not 0 from which a table of units and cells is multiplied as an array."""


class CellSums(Protocol):
    """Sums for one class of trials."""

    def of(self, weights: Multipliers) -> CountArray:
        """Sum of the weights of trials in every cell, (n_cells, n_replicates), for weights of units."""
        ...


def cell_sums(
    units: TrialUnits, cell: IntArray, n_cells: int, weights: CountArray | None = None, table: Table | None = None
) -> CellSums:
    """Prepare the sums for trials of one class.

    Parameters
    ----------
    units : TrialUnits
        Of these trials.
    cell : (n,) int array
        The cell of each trial.
    n_cells : int
    weights : (n,) array, optional
        Of trials, of any sign: what they cost, where costs are added up.
    table : (n_units, n_cells) array or sparse matrix, optional
        The same trials by unit and cell, if somebody has counted them.
    """
    if len(units.codes) == 2 and not np.array_equal(*units.codes):
        return SumsOfProducts(units, cell, n_cells, weights)
    if table is None:
        from scipy.sparse import coo_matrix  # only who resamples needs it

        values = np.ones(len(cell), np.int64) if weights is None else weights
        table = coo_matrix((values, (units.codes[0], cell)), shape=(units.n_units, n_cells)).tocsr()
    return SumsOfUnits(table)


class SumsOfUnits:
    """Trials of one unit each: products with a table.

    Parameters
    ----------
    counts : (n_units, n_cells) array or sparse matrix
    """

    def __init__(self, counts: Table) -> None:
        from scipy.sparse import csr_matrix

        self.n_cells, self.parts = counts.shape[1], []
        self.is_whole = counts.dtype.kind in "iu"
        for first in range(0, counts.shape[0], _UNITS):
            part = csr_matrix(counts[first : first + _UNITS].T, dtype=np.float64)
            if self.is_whole and sums_of_rows(abs(part)).max(initial=0.0) * MOST < _EXACT:
                part = part.astype(np.float32)
            is_dense = part.nnz > _DENSE_FROM * part.shape[0] * part.shape[1]
            self.parts.append((slice(first, first + _UNITS), part.toarray() if is_dense else part))

    def of(self, weights: Multipliers) -> CountArray:
        """Sum of the weights of trials in every cell; exact for whole numbers, as these stay far below 2**53."""
        total = np.zeros((self.n_cells, weights.shape[1]))
        for some, part in self.parts:
            total += part @ weights[some].astype(part.dtype)
        return total.astype(np.int64) if self.is_whole else total


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """Trials of some cells in groups that share a unit, their hub.

    Attributes
    ----------
    others : (n_groups, n_units + 1) sparse matrix
        How often the groups have each unit beside the hub; the last one always counts once.
    hubs : (n_groups,) int array
    runs : (n_runs, n_groups) sparse matrix
        Which groups are added up together.
    starts, cells : (n_filled,) int arrays
        The first run of each cell that has some, and which cell that is.
    """

    others: Table
    hubs: IntArray
    runs: Table
    starts: IntArray
    cells: IntArray


class SumsOfProducts:
    """Trials of two units each: in each cell, those that share a unit are added up before they are multiplied with it.

    ``sum u_i u_j`` over the trials of a cell is the sum over i of ``u_i`` times the sum of ``u_j``: a unit is looked up
    once for all its trials in the cell. Of the two units of a trial the hub is the one with more trials. A unit on both
    sides of a trial counts once.

    Parameters
    ----------
    units : TrialUnits
    cell : (n,) int array
    n_cells : int
    weights : (n,) array, optional
        Of trials; whole or not, sums are floats then.
    """

    def __init__(self, units: TrialUnits, cell: IntArray, n_cells: int, weights: CountArray | None) -> None:
        self.n_cells, self.is_whole = n_cells, weights is None
        n_units, n_trials = units.n_units, len(cell)
        n_own = sum(np.bincount(side[::_SAMPLED], minlength=n_units) for side in units.codes)
        self.by_size = np.argsort(-n_own, kind="stable")
        place = np.empty(n_units, np.int32)
        place[self.by_size] = np.arange(n_units)
        one, other = (place[side] for side in units.codes)
        hub, beside = np.minimum(one, other), np.maximum(one, other)
        beside[one == other] = n_units
        hub, beside, values = _sorted(cell, hub, beside, weights)
        sizes = np.bincount(cell, minlength=n_cells)
        filled = np.flatnonzero(sizes)
        first_trials = np.cumsum(sizes[filled]) - sizes[filled]
        runs = _cut(first_trials, n_trials, _RUN)
        cells = filled[np.searchsorted(first_trials, runs, side="right") - 1]
        is_first = np.ones(n_trials, np.bool_)
        np.not_equal(hub[1:], hub[:-1], out=is_first[1:])
        is_first[runs] = True
        groups = _cut(np.flatnonzero(is_first), n_trials, _GROUP)
        self.parts = list(_parts_of(groups, runs, cells, (hub, beside, values), n_units))

    def of(self, weights: Multipliers) -> CountArray:
        """Sum of the products in every cell; exact without weights of trials."""
        n_units, n_replicates = weights.shape
        step = max(_TABLE // ((1 if self.is_whole else 8) * (n_units + 1)) // 2, 1) * 2
        return np.hstack([self._of(weights[:, first : first + step]) for first in range(0, n_replicates, step)])

    def _of(self, weights: Multipliers) -> CountArray:
        """The same for as many replicates as have room."""
        n_units, n_replicates = weights.shape
        width = n_replicates + n_replicates % 2
        table = np.ones((n_units + 1, width), np.uint8)
        table[:-1, :n_replicates] = weights[self.by_size]
        if self.is_whole:
            total, known = np.zeros((self.n_cells, width), np.int64), _packed(table)
        else:
            total, known = np.zeros((self.n_cells, width)), table.astype(np.float64)
        for part in self.parts:
            sums, of_hubs = part.others @ known, known.take(part.hubs, axis=0)
            pairs = zip(_unpacked(sums), _unpacked(of_hubs), strict=True) if self.is_whole else [(sums, of_hubs)]
            for own, columns in zip(pairs, np.hsplit(total, 2) if self.is_whole else [total], strict=True):
                product = np.multiply(*own, out=own[0])
                columns[part.cells] += np.add.reduceat(part.runs @ product, part.starts, axis=0, dtype=total.dtype)
        return total[:, :n_replicates]


def _packed(table: Multipliers) -> AnyArray:
    """Two replicates in one number, (n, n_replicates / 2): their sums are those of both while they are bytes."""
    first, second = np.hsplit(table, 2)
    return np.asarray(first | second.astype(np.uint16) << 8)


def _unpacked(sums: AnyArray) -> tuple[AnyArray, AnyArray]:
    """The first half of the replicates, and the second."""
    return sums & 0xFF, sums >> 8


def _sorted(
    cell: IntArray, hub: IntArray, beside: IntArray, weights: CountArray | None
) -> tuple[IntArray, IntArray, FloatArray | None]:
    """Hubs, the units beside them, and weights of trials, by cell and hub."""
    bits = int(beside.max(initial=0)).bit_length()
    key = cell.astype(np.int64)
    key <<= bits
    key |= hub
    if weights is None and int(cell.max(initial=0)).bit_length() + 2 * bits < 64:
        key <<= bits
        key |= beside
        key.sort()  # numbers are sorted faster than their positions
        mask = (1 << bits) - 1
        beside = (key & mask).astype(np.int32)
        key >>= bits
        return (key & mask).astype(np.int32), beside, None
    order = np.argsort(key, kind="stable")
    return hub[order], beside[order], None if weights is None else weights[order].astype(np.float64)


def _cut(starts: IntArray, stop: int, most: int) -> IntArray:
    """Where stretches begin, up to ``stop``, if those of more than so many are cut into pieces."""
    n_pieces = -(-np.diff(starts, append=stop) // most)
    before = np.cumsum(n_pieces) - n_pieces
    found: IntArray = np.repeat(starts - before * most, n_pieces) + np.arange(n_pieces.sum()) * most
    return found


def _parts_of(
    groups: IntArray,
    runs: IntArray,
    cells: IntArray,
    trials: tuple[IntArray, IntArray, FloatArray | None],
    n_units: int,
) -> Iterator[_Part]:
    """Whole runs, of not many more groups than are wanted at once.

    Parameters
    ----------
    groups, runs : int arrays
        The first trial of each.
    cells : (n_runs,) int array
    trials : (hub, beside, weights)
        Of all trials, by cell and hub.
    n_units : int
    """
    from scipy.sparse import csr_matrix

    hub, beside, weights = trials
    wanted = _GROUPS if weights is None else _WEIGHTED
    ones: AnyArray = np.ones(len(beside), np.uint16) if weights is None else np.ones(len(groups))
    values: AnyArray = ones if weights is None else weights
    group_ends, run_ends = np.append(groups, len(hub)), np.append(np.searchsorted(groups, runs), len(groups))
    cuts = np.searchsorted(run_ends, np.arange(0, len(groups), wanted))
    for first, last in pairwise(np.unique(np.append(cuts, len(runs))).tolist()):
        own, of_runs = slice(run_ends[first], run_ends[last]), run_ends[first : last + 1] - run_ends[first]
        of_groups = group_ends[own.start : own.stop + 1] - group_ends[own.start]
        n_groups, some = len(of_groups) - 1, slice(group_ends[own.start], group_ends[own.stop])
        others = csr_matrix((values[some], beside[some], of_groups), shape=(n_groups, n_units + 1))
        together = csr_matrix((ones[:n_groups], np.arange(n_groups), of_runs), shape=(len(of_runs) - 1, n_groups))
        starts = np.flatnonzero(np.diff(cells[first:last], prepend=-1))
        yield _Part(others, hub[groups[own]], together, starts, cells[first:last][starts])


assert MOST * _GROUP <= 0xFF  # noqa: S101  # sums of groups are bytes
assert MOST**2 * _RUN <= 0xFFFF  # noqa: S101  # and those of their products two
