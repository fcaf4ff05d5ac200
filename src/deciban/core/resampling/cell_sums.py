"""Sums of the weights of trials by cell, for many replicates at once.

A trial of one unit counts as often as the unit, one of two units as often as the product of both (the vertex
bootstrap; where the sides share no unit, the product-weight bootstrap of Owen and Eckles 2012).
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from deciban.core.resampling.multipliers import MOST, Multipliers
from deciban.core.resampling.unit_counts import Table
from deciban.core.resampling.units import TrialUnits
from deciban.types import AnyArray, CountArray, IntArray

_RUN = 64
"""Trials of a cell that are added up together, in 16 bits: 64 products of 14 and 14 fit."""

_ROWS = 1 << 12
"""Trials whose products are in cache at once."""

_SLAB = 1 << 12
"""Runs that are added up to cells at once."""

_UNITS = 1 << 16
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
            is_dense = part.nnz > _DENSE_FROM * part.shape[0] * part.shape[1]
            self.parts.append((slice(first, first + _UNITS), part.toarray() if is_dense else part))

    def of(self, weights: Multipliers) -> CountArray:
        """Sum of the weights of trials in every cell; exact for whole numbers, as these stay far below 2**53."""
        total = np.zeros((self.n_cells, weights.shape[1]))
        for some, part in self.parts:
            total += part @ weights[some].astype(np.float64)
        return total.astype(np.int64) if self.is_whole else total


class SumsOfProducts:
    """Trials of two units each: weights of both multiplied in bytes, and added up in runs of trials of one cell.

    A unit on both sides of a trial counts once.

    Parameters
    ----------
    units : TrialUnits
    cell : (n,) int array
    n_cells : int
    weights : (n,) array, optional
        Of trials; whole or not, sums are floats then.
    """

    def __init__(self, units: TrialUnits, cell: IntArray, n_cells: int, weights: CountArray | None) -> None:
        self.n_cells = n_cells
        one, other = units.codes
        nobody, always = units.n_units, units.n_units + 1
        sizes = np.bincount(cell, minlength=n_cells)
        n_runs = -(-sizes // _RUN)
        order = np.argsort(cell.astype(np.min_scalar_type(n_cells)), kind="stable")
        gaps = np.repeat(np.cumsum(n_runs * _RUN - sizes) - (n_runs * _RUN - sizes), sizes)
        places = np.arange(len(cell)) + gaps
        self.cell = np.repeat(np.arange(n_cells), n_runs)
        filled = np.where(one == other, always, other)
        self.one, self.other = (self._laid_out(side[order], places, nobody, np.int32) for side in (one, filled))
        self.weights = None
        if weights is not None:
            self.weights = self._laid_out(weights[order], places, 0, np.float64)

    def _laid_out(self, values: AnyArray, places: IntArray, empty: int, kind: Any) -> AnyArray:
        """Runs one after the other, and in each block of runs first trials first: halves are added up."""
        found = np.full((len(self.cell), _RUN), empty, kind)
        found.reshape(-1)[places] = values
        for first in range(0, len(found), _ROWS // _RUN):
            block = found[first : first + _ROWS // _RUN]
            block.reshape(-1)[:] = block.T.ravel()
        return found.reshape(-1)

    def of(self, weights: Multipliers) -> CountArray:
        """Sum of the products in every cell; exact without weights of trials."""
        n_replicates = weights.shape[1]
        padding = n_replicates % 2  # bytes are added up in pairs
        ends = np.zeros((2, n_replicates), np.uint8)
        ends[1] = 1
        table = np.pad(np.concatenate((weights, ends)), ((0, 0), (0, padding)))
        kind = np.int64 if self.weights is None else np.float64
        total = np.zeros((self.n_cells, table.shape[1]), kind)
        runs = np.empty((_SLAB, table.shape[1]), np.uint16 if self.weights is None else np.float64)
        buffers = np.empty((2, _ROWS, table.shape[1]), np.uint8)
        in_bytes = 2 * int(table.max(initial=0)) ** 2 <= 0xFF  # sums of two products
        for first in range(0, len(self.cell), _SLAB):
            own = self.cell[first : first + _SLAB]
            for start in range(first, first + len(own), _ROWS // _RUN):
                stop = min(start + _ROWS // _RUN, first + len(own))
                trials, out = slice(start * _RUN, stop * _RUN), runs[start - first : stop - first]
                self._add_runs(table, trials, buffers, out, in_bytes=in_bytes)
            starts = np.flatnonzero(np.diff(own, prepend=-1))
            total[own[starts]] += np.add.reduceat(runs[: len(own)], starts, axis=0, dtype=kind)
        return total[:, :n_replicates]

    def _add_runs(
        self, table: Multipliers, trials: slice, buffers: Multipliers, out: AnyArray, *, in_bytes: bool
    ) -> None:
        """Sums of the products of runs of trials."""
        n_trials = trials.stop - trials.start
        product, other = buffers[0, :n_trials], buffers[1, :n_trials]
        np.take(table, self.one[trials], axis=0, out=product, mode="clip")
        np.take(table, self.other[trials], axis=0, out=other, mode="clip")
        np.multiply(product, other, out=product)
        if self.weights is not None:
            out[:] = _halved(product * self.weights[trials, None], len(out))
            return
        if in_bytes:
            product = _halved(product, n_trials // 2)
        even, odd = other[: len(product)].view(np.uint16), product.view(np.uint16)
        np.bitwise_and(odd, 0xFF, out=even)
        np.right_shift(odd, 8, out=odd)
        if not _LITTLE:
            even, odd = odd, even
        out[:, 0::2], out[:, 1::2] = _halved(even, len(out)), _halved(odd, len(out))


def _halved(values: AnyArray, n_left: int) -> AnyArray:
    """Add the second half of the rows to the first, until as many are left."""
    while len(values) > n_left:
        half = len(values) // 2
        values = np.add(values[:half], values[half:], out=values[:half])
    return values


_LITTLE = bool(np.array([1], "=u2").view(np.uint8)[0])
assert MOST**2 <= 0xFF  # noqa: S101  # products are bytes
assert MOST**2 * _RUN <= 0xFFFF  # noqa: S101  # and their sums two
