"""Matrices with names as tables: a row for each trial, so that they meet tables by the names of trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from deciban._arrow import of_numpy
from deciban.errors import InputError
from deciban.io.matrices.named_matrix import refuse_nan
from deciban.io.shards.cells import Matrix, blocks_of, mask_of, only
from deciban.io.shards.rows import Rows, RowTable
from deciban.types import AnyArray

_SIDES = ("enroll", "test")


@dataclass(frozen=True, slots=True)
class MatrixRows(Rows):
    """The trials of some rows of a matrix.

    Attributes
    ----------
    name : str
    n_rows : int
        Cells; those that are no trials are left out.
    matrix : Matrix
    start, stop : int
    """

    name: str
    n_rows: int
    matrix: Matrix
    start: int
    stop: int

    def table(self, columns: Sequence[str]) -> pa.Table:
        """See `Rows.table`."""
        matrix = self.matrix
        values = matrix.cells.rows(self.start, self.stop, self.name)
        chosen = mask_of(matrix, self.start, self.stop, self.name)
        if matrix.is_mask:
            chosen = only(values, (1, 0, -1), matrix.name, self.start) != 0
        cells = np.flatnonzero(np.ones(values.size, np.bool_) if chosen is None else chosen.ravel())
        rows, places = np.divmod(cells, _width(matrix))
        found: dict[str, pa.Array] = {}
        if matrix.names is not None:
            of_side = dict(zip(_SIDES, zip((rows + self.start, places), matrix.names, strict=True), strict=True))
            found |= {side: _named(*of_side[side]) for side in _SIDES if side in columns}
        own = values.ravel()[cells]
        if "label" in columns:
            found["label"] = of_numpy(own == 1)
        if "score" in columns:
            refuse_nan(values, chosen, matrix.name, matrix.names, self.start)
            found["score"] = of_numpy(own)
        return pa.table([found[name] for name in columns], list(columns))

    def where(self, row: int | None, columns: Sequence[str] = ()) -> str:
        """See `Rows.where`."""
        return Rows.where(self, None, columns) + ("" if row is None else f", trial {row}")


def _named(codes: AnyArray, names: pa.Array) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(of_numpy(codes.astype(np.int32)), names)


def _width(matrix: Matrix) -> int:
    return matrix.shape[1] if len(matrix.shape) == 2 else 1


def as_table(matrix: Matrix, *, also_nameless: bool = False) -> RowTable:
    """A matrix as a table of its trials.

    Parameters
    ----------
    matrix : Matrix
    also_nameless : bool
        Whether one number for each trial will do, which nothing names.

    Raises
    ------
    InputError
        If its rows and columns have no names.
    """
    is_nameless = also_nameless and len(matrix.shape) == 1
    if (matrix.names is None or len(matrix.shape) != 2) and not is_nameless:
        raise InputError(
            f"{matrix.name}: rows and columns have no names, so that its trials cannot meet those of a table. Bring a "
            "matrix of the same shape, or say who is who (--speakers)."
        )
    value = pa.field("label", pa.bool_()) if matrix.is_mask else pa.field("score", pa.from_numpy_dtype(matrix.kind))
    sides = [] if is_nameless else [pa.field(side, pa.string()) for side in _SIDES]
    schema = pa.schema([*sides, value])
    rows = tuple(
        MatrixRows(name, (stop - start) * _width(matrix), matrix, start, stop)
        for name, start, stop in blocks_of(matrix)
    )
    double = frozenset() if matrix.kind == np.float32 else frozenset({"score"})
    paths = () if matrix.path is None else (matrix.path,)
    return RowTable(
        matrix.name, schema, rows, matrix.reading, system=matrix.system, is_double=double, paths=paths, told=True
    )
