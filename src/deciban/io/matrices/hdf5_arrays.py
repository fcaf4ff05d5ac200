"""Names and matrices from HDF5 files, and scores or masks at their root: read once, and without a copy."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from deciban.errors import FormatError
from deciban.io.contents import Contents
from deciban.io.matrices.hdf5 import Hdf5
from deciban.io.matrices.hdf5_chunks import cells, strings
from deciban.io.matrices.named_matrix import Grid, Matrix, Names, holds_nan
from deciban.types import AnyArray, BoolArray

Read = TypeVar("Read")

_BLOCK = 1 << 20
"""Bytes read at a time: few enough to be looked through for NaN while the processor still has them at hand."""

_LARGE = 1 << 24
"""Bytes from which on two threads read faster than one: most of the time goes into new pages of memory."""


def read_names(file: Hdf5, path: str) -> Names:
    """Names from a dataset of strings of fixed or variable length, ASCII or UTF-8.

    Raises
    ------
    FormatError
        If it holds anything else.
    """
    import h5py

    dataset = file.dataset(path)
    where = f"{file.name}, {path}"
    text = h5py.check_string_dtype(dataset.dtype)
    if text is None:
        raise FormatError(f"{where}: expected names (strings), but it holds {_type_in_words(dataset.dtype)}.")
    if dataset.ndim > 2 or dataset.size != max(dataset.shape, default=1):
        raise FormatError(f"{where}: expected a list of names, got an array of shape {dataset.shape}.")
    if text.length is None:
        raw = strings(file, dataset, where)
    else:
        raw = np.ravel(cells_of(file, dataset, where)).tolist()
        padding = dataset.id.get_type().get_strpad()
        if padding == h5py.h5t.STR_SPACEPAD:
            raw = [name.rstrip(b" ") for name in raw]
        elif padding == h5py.h5t.STR_NULLTERM:
            raw = [name.partition(b"\0")[0] for name in raw]
    return Names(decoded(raw, where), where)


def decoded(raw: Sequence[bytes], where: str) -> pa.Array:
    """Names from their bytes in UTF-8.

    Raises
    ------
    FormatError
        If one is not UTF-8, or holds a NUL character.
    """
    try:
        names = pa.array(raw, pa.binary()).cast(pa.string())
    except pa.ArrowInvalid:
        names = None
    if names is not None and b"\0" not in b"".join(raw):
        return names
    for row, name in enumerate(raw):
        try:
            rule = "holds a NUL character" if "\0" in name.decode() else None
        except UnicodeDecodeError as error:
            rule = f"is not UTF-8 ({error.reason} at byte {error.start})"
        if rule is not None:
            raise FormatError(f"{where}: name {row} {rule}: {name[:60]!r}. Write the names in UTF-8.")
    raise FormatError(f"{where}: more than 2 GB of names.")


def _type_in_words(dtype: np.dtype[Any]) -> str:
    return "references or objects" if dtype.kind == "O" else f"{dtype} values"


def read_mask(file: Hdf5, path: str) -> Matrix:
    """As `read_matrix`, for a mask, whose cells are not even made if they are ones that were never stored.

    Raises
    ------
    FormatError
        As `read_matrix`.
    """
    dataset = matrix_of_numbers(file, path)
    if dataset.size and dataset.id.get_storage_size() == 0 and dataset.fillvalue == 1:
        return Matrix(None, dataset.shape, f"{file.name}, {path}")
    return read_matrix(file, path)


def optional(read: Callable[..., Read], file: Hdf5, path: str, *more: int) -> Read | None:
    """Read what need not be there.

    Raises
    ------
    FormatError
        As the function that reads.
    """
    return read(file, path, *more) if file.has(path) else None


def read_array(file: Hdf5, path: str) -> AnyArray:
    """Numbers from a dataset of any shape, in the byte order of this machine.

    Raises
    ------
    FormatError
        As `read_matrix`.
    """
    dataset = _numbers(file, path)
    file.check_size(dataset, path)
    return cells_of(file, dataset, f"{file.name}, {path}")


def _numbers(file: Hdf5, path: str) -> Any:
    dataset = file.unsized(path)
    if dataset.dtype.kind not in "biuf" or dataset.dtype.itemsize > 8:
        found = _type_in_words(dataset.dtype)
        raise FormatError(f"{file.name}, {path}: expected numbers of up to 64 bits, but it holds {found}.")
    return dataset


def matrix_of_numbers(file: Hdf5, path: str) -> Any:
    """A two-dimensional dataset of numbers, whose size was not checked.

    Raises
    ------
    FormatError
        If it holds anything else.
    """
    dataset = _numbers(file, path)
    if dataset.shape is None or len(dataset.shape) != 2:
        raise FormatError(f"{file.name}, {path}: expected a matrix, got an array of shape {dataset.shape}.")
    return dataset


def read_matrix(file: Hdf5, path: str) -> Matrix:
    """Numbers from a two-dimensional dataset, in the byte order of this machine.

    Raises
    ------
    FormatError
        If it holds no numbers, or promises more of them than were stored.
    """
    dataset = matrix_of_numbers(file, path)
    file.check_size(dataset, path)
    bare = _read_bare(file, dataset)
    if bare is None:
        values = cells_of(file, dataset, f"{file.name}, {path}")
        has_nan = holds_nan(values)
    else:
        values, has_nan = bare
    return Matrix(values, dataset.shape, f"{file.name}, {path}", has_nan=has_nan)


def rows_of(file: Hdf5, path: str, start: int, stop: int) -> AnyArray:
    """Some rows of a matrix whose size was checked; ones that were never stored are made.

    Raises
    ------
    FormatError
        If a chunk is damaged.
    """
    dataset = matrix_of_numbers(file, path)
    return cells_of(file, dataset, f"{file.name}, {path}", (start, stop))


def cells_of(file: Hdf5, dataset: Any, where: str, rows: tuple[int, int] | None = None) -> AnyArray:
    """All cells of a dataset of numbers or strings of fixed length, in the byte order of this machine; or some rows.

    Raises
    ------
    FormatError
        If a chunk is damaged.
    """
    import h5py

    kind = dataset.dtype
    if dataset.chunks is None:
        shape = dataset.shape if rows is None else (rows[1] - rows[0], *dataset.shape[1:])
        values = np.empty(shape, kind.newbyteorder("="))
        if values.size:
            dataset.read_direct(values, None if rows is None else np.s_[rows[0] : rows[1]])
        return values
    if kind.kind != "S" and not h5py.h5t.py_create(kind, logical=True).equal(dataset.id.get_type()):
        raise FormatError(f"{where}: numbers of an unusual type. Rewrite the file with h5repack -l CONTI.")
    if kind == np.bool_:  # other bytes than 0 and 1 are no booleans, and the reader of masks will say so
        return cells(file, dataset, where, np.dtype(np.int8), lambda: int(dataset.fillvalue), rows)
    values = cells(file, dataset, where, kind, lambda: dataset.fillvalue, rows)
    return values.astype(kind.newbyteorder("="), copy=False)


def _read_bare(file: Hdf5, dataset: Any) -> tuple[AnyArray, bool] | None:
    """Read cells that lie in the file as they lie in memory, and tell whether one is NaN. None if they do not.

    This is what `numpy.load` does. HDF5 takes as long, but looking for NaN afterwards would fetch every cell again.
    """
    import h5py

    types = {"float64": h5py.h5t.IEEE_F64LE, "float32": h5py.h5t.IEEE_F32LE}
    called = dataset.dtype.name
    bare = called in types and dataset.id.get_type().equal(types[called])
    offset = dataset.id.get_offset() if bare and dataset.chunks is None else None
    if file.path is None or offset is None or sys.byteorder != "little" or not dataset.size:
        return None
    values = np.empty(dataset.shape, called)
    flat = values.reshape(-1)
    n_parts = 2 if values.nbytes >= _LARGE else 1
    cuts = [len(flat) * i // n_parts for i in range(n_parts + 1)]
    path, width = file.path, values.itemsize

    def part(i: int) -> bool | None:
        return _fill(path, offset + cuts[i] * width, flat[cuts[i] : cuts[i + 1]])

    if n_parts == 1:
        found = [part(0)]
    else:
        with ThreadPoolExecutor(n_parts) as pool:
            found = list(pool.map(part, range(n_parts)))
    if None in found:
        raise FormatError(f"{file.name}, {dataset.name}: cut off. Copy the file again.")
    return values, any(found)


def _fill(path: Path, offset: int, flat: AnyArray) -> bool | None:
    """Fill an array from a place in a file on, and tell whether a number is NaN; None if the file is too short."""
    step = _BLOCK // flat.itemsize
    has_nan = False
    with path.open("rb", buffering=0) as stream:
        stream.seek(offset)
        for start in range(0, len(flat), step):
            block = flat[start : start + step]
            left = block.data.cast("B")
            while len(left):
                n_read = stream.readinto(left)
                if not n_read:
                    return None
                left = left[n_read:]
            has_nan = has_nan or bool(np.isnan(block.max()))
    return has_nan


def read_words(file: Hdf5, path: str) -> list[str]:
    """A list of strings.

    Raises
    ------
    FormatError
        As `read_names`.
    """
    return [*read_names(file, path).values.to_pylist()]


def read_word(file: Hdf5, path: str) -> str:
    """One string.

    Raises
    ------
    FormatError
        If it is anything else.
    """
    words = read_words(file, path)
    if len(words) != 1:
        raise FormatError(f"{file.name}, {path}: expected one string, got {len(words)}.")
    return words[0]


def read_flags(file: Hdf5, path: str, n_flags: int) -> BoolArray:
    """A list of 0 and 1.

    Raises
    ------
    FormatError
        If there are not as many, or other values.
    """
    dataset = file.dataset(path)
    if dataset.dtype.kind not in "biuf" or dataset.dtype.itemsize > 8 or dataset.size != n_flags:
        raise FormatError(
            f"{file.name}, {path}: expected {n_flags:,} numbers 0 or 1, got {_type_in_words(dataset.dtype)} of shape "
            f"{dataset.shape}."
        )
    values = np.ravel(cells_of(file, dataset, f"{file.name}, {path}"))
    if not np.isin(values, (0, 1)).all():
        raise FormatError(f"{file.name}, {path}: expected 0 or 1, got {values[~np.isin(values, (0, 1))][0]}.")
    return np.asarray(values == 1)


def scores_or_mask(file: Hdf5, grid: Grid) -> Contents:
    """``/scores`` with an optional ``/score_mask``, or ``/trial_mask``.

    Raises
    ------
    FormatError
        If the file holds both, or neither.
    """
    if file.has("/scores") and file.has("/trial_mask"):
        raise FormatError(f"{file.name}: holds scores and a trial_mask at once; expected one of them.")
    if file.has("/scores"):
        return grid.scores(read_matrix(file, "/scores"), optional(read_mask, file, "/score_mask"))
    return grid.trial_mask(read_mask(file, "/trial_mask"), is_key=None)
