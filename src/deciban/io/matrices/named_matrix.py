"""Names and matrices as they come from binary files, with the place that messages call them by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from deciban.errors import FormatError
from deciban.types import AnyArray, BoolArray, FloatArray, ScoreArray

_LARGEST_EXACT_INTEGER = 2**53


@dataclass(frozen=True, slots=True)
class Names:
    """Names of a file, and what messages call them."""

    values: pa.Array
    place: str


@dataclass(frozen=True, slots=True)
class Matrix:
    """Numbers of a file.

    Attributes
    ----------
    values : array or None
        None for ones that were never stored: a full mask.
    shape : tuple of int
    place : str
        What messages call it.
    has_nan : bool
    """

    values: AnyArray | None
    shape: tuple[int, ...]
    place: str
    has_nan: bool = False

    @classmethod
    def of(cls, values: AnyArray, place: str) -> Matrix:
        """Numbers that are in memory."""
        return cls(values, values.shape, place, has_nan=holds_nan(values))

    def transposed(self) -> Matrix:
        """The same with rows and columns swapped."""
        values = None if self.values is None else np.ascontiguousarray(self.values.T)
        return replace(self, values=values, shape=self.shape[::-1])

    def only(self, allowed: Sequence[int]) -> AnyArray:
        """The numbers, none of which is any but these.

        Raises
        ------
        FormatError
            At the first cell that holds anything else.
        """
        if self.values is None:
            return np.ones(self.shape, np.int8)
        known = np.logical_or.reduce([self.values == value for value in allowed])
        if not known.all():
            row, column = np.unravel_index(int(np.argmin(known)), known.shape)
            found, rule = self.values[row, column], ", ".join(map(str, allowed))
            raise FormatError(
                f"{self.place}: the mask holds {found} in row {row}, column {column}, but only {rule} mean anything."
            )
        return self.values

    def ticked(self) -> BoolArray | None:
        """Which cells of a mask of 0 and 1 are set; None for all of them.

        Raises
        ------
        FormatError
            If it holds anything else.
        """
        values = self.values
        # Two extremes tell a full mask in a fraction of the time that comparing every cell takes.
        if values is None or not values.size or values.min() == values.max() == 1:
            return None
        return np.asarray(self.only((0, 1)) == 1)


def holds_nan(values: AnyArray) -> bool:
    """Whether one of the numbers is NaN."""
    return bool(values.dtype.kind == "f" and values.size and np.isnan(np.max(values)))


def refuse_nan(
    values: AnyArray,
    chosen: BoolArray | None,
    place: str,
    names: tuple[pa.Array, pa.Array] | None = None,
    start: int = 0,
) -> None:
    """Refuse scores of a matrix, or of some of its rows, of which that of a trial is NaN.

    Parameters
    ----------
    values : array
        Of rows and columns, or one number for each trial.
    chosen : bool array, optional
        Which cells are trials; all, if left out.
    place : str
        What messages call the matrix.
    names : pair of pyarrow arrays, optional
        Of all rows and columns.
    start : int
        The first of the rows.

    Raises
    ------
    FormatError
        At the first one.
    """
    if not holds_nan(values):
        return
    bad = np.isnan(values) if chosen is None else np.isnan(values) & chosen
    if not bad.any():
        return
    row, *column = (int(at) for at in np.unravel_index(int(np.argmax(bad)), bad.shape))
    where = f"row {start + row}" + (f", column {column[0]}" if column else "")
    if names is not None:
        where += f" ({names[0][start + row].as_py()}, {names[1][column[0]].as_py()})"
    raise FormatError(
        f"{place}: the scores of {np.count_nonzero(bad):,} trials are NaN, the first in {where}. Infinite scores are "
        "allowed, NaN is not: repair the file, or clear the mask there."
    )


def floats(matrix: Matrix) -> ScoreArray:
    """Numbers as float64 or float32, exactly as they are.

    Raises
    ------
    FormatError
        If one fits neither.
    """
    values = matrix.values
    if values is None:
        return np.ones(matrix.shape)
    if values.dtype.kind == "f":
        return values.astype(np.float32) if values.itemsize < 4 else values
    return whole(values, matrix.place)


def whole(values: AnyArray, place: str) -> FloatArray:
    """Integers as float64.

    Raises
    ------
    FormatError
        If one does not fit exactly.
    """
    if values.dtype.kind in "iu" and values.itemsize == 8 and values.size:
        extreme = max(int(values.max()), -int(values.min()))
        if extreme > _LARGEST_EXACT_INTEGER:
            raise FormatError(f"{place}: holds an integer beyond 2**53 ({extreme}), which no float is equal to.")
    return values.astype(np.float64)
