"""Matrices whose rows can be read apart: their cells, their names, the mask of their trials."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from deciban.errors import FormatError
from deciban.io.formats import bare_name
from deciban.types import AnyArray, BoolArray

CELLS = 1 << 20
"""Most cells of a block, about."""

_BYTES_PER_CELL = 96
"""Bytes of memory that a score takes while its trial is counted."""


class Cells(ABC):
    """Numbers in rows that can be read apart. Can be pickled."""

    @abstractmethod
    def rows(self, start: int, stop: int, name: str) -> AnyArray:
        """Read some rows; ``name`` is what messages call them.

        Raises
        ------
        FormatError, OSError
            If they cannot be read, or are not what they were.
        """


@dataclass(frozen=True, slots=True)
class ArrayCells(Cells):
    """An array of another library, or one in memory."""

    array: Any
    name: str

    def rows(self, start: int, stop: int, name: str) -> AnyArray:
        """See `Cells.rows`."""
        found = self.array[start:stop]
        try:
            if hasattr(found, "compute"):
                found = found.compute(scheduler="synchronous")
            return np.asarray(found)
        except Exception as error:
            raise FormatError(f"{name}: cannot be read ({type(error).__name__}: {error}).") from error


@dataclass(frozen=True, eq=False)
class Matrix:
    """Numbers in a file or an object, rows and columns, or one for each trial.

    Attributes
    ----------
    name : str
    cells : Cells
    shape : tuple of int
    kind : dtype
    names : pair of pyarrow arrays, optional
        Of rows and columns, if the file says them.
    mask : Matrix, optional
        Which cells are trials, in 0 and 1; all, if left out.
    is_mask : bool, optional
        Whether these are no scores: True, False, or None if nothing says it.
    rows_per_chunk : int, optional
        Rows that are stored together.
    path : path, optional
    reading : str
        What was read, for messages.
    """

    name: str
    cells: Cells
    shape: tuple[int, ...]
    kind: np.dtype[Any]
    names: tuple[pa.Array, pa.Array] | None = None
    mask: Matrix | None = None
    is_mask: bool | None = None
    rows_per_chunk: int | None = None
    path: Any = None
    reading: str = "array"

    @property
    def system(self) -> str:
        """What a system is called."""
        return "system" if self.path is None else bare_name(Path(str(self.path)).name)


def mask_of(matrix: Matrix, start: int, stop: int, name: str) -> BoolArray | None:
    """Which cells of some rows are trials; None if nothing says so.

    Raises
    ------
    FormatError
        If the mask holds anything but 0 and 1.
    """
    if matrix.mask is None:
        return None
    return np.asarray(only(matrix.mask.cells.rows(start, stop, name), (0, 1), matrix.mask.name, start) == 1)


def blocks_of(matrix: Matrix, memory: int | None = None) -> list[tuple[str, int, int]]:
    """What blocks of rows are called, where each begins and where it ends; rows that are stored together stay so."""
    n_cells = CELLS if memory is None else min(CELLS, memory // _BYTES_PER_CELL)
    n_rows, n_columns = matrix.shape[0], matrix.shape[1] if len(matrix.shape) == 2 else 1
    step = max(1, n_cells // max(n_columns, 1))
    if matrix.rows_per_chunk:
        step = max(step // matrix.rows_per_chunk, 1) * matrix.rows_per_chunk
    stops = [(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]
    return [(f"{matrix.name}, rows {start:,} to {stop - 1:,}", start, stop) for start, stop in stops]


def only(values: AnyArray, allowed: Sequence[int], name: str, start: int) -> AnyArray:
    """The numbers of a block of a matrix, whose first row is ``start``, none of which is any but these.

    Raises
    ------
    FormatError
        At the first cell that holds anything else.
    """
    known = np.logical_or.reduce([values == one for one in allowed])
    if not known.all():
        place = np.argwhere(~known)[0]
        raise FormatError(
            f"{name}: the mask holds {values[tuple(place)]} in {_cell(place, start)}, but only "
            f"{', '.join(map(str, allowed))} mean anything."
        )
    return values


def _cell(place: AnyArray, start: int) -> str:
    row, *column = map(int, place)
    return f"row {start + row}" + (f", column {column[0]}" if column else "")
