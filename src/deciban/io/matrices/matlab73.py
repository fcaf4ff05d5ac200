"""One struct in a MATLAB file of version 7.3, which is an HDF5 file with a header of MATLAB before it.

A struct is a group, its fields are datasets with rows and columns swapped; a cell array holds references to datasets;
text is UTF-16 in a dataset of 16-bit numbers. The attribute ``MATLAB_class`` says what is what to MATLAB.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import IO, Any

import numpy as np

from deciban.errors import FormatError
from deciban.io.matrices.hdf5 import Hdf5, created
from deciban.io.matrices.hdf5_arrays import cells_of, read_matrix
from deciban.io.matrices.hdf5_chunks import cells
from deciban.io.matrices.named_matrix import Matrix
from deciban.types import AnyArray

_USER_BLOCK = 512
_TOLD = b"MATLAB 7.3 MAT-file, written by deciban, HDF5 schema 1.00 ."
_BLOCK = 1 << 22
"""Cells that are swapped and written at a time."""


def read_field(file: Hdf5, path: str) -> Matrix:
    """A matrix, as rows x columns.

    Raises
    ------
    FormatError
        If it is sparse, or no matrix of numbers.
    """
    if file.has(f"{path}/jc"):
        raise FormatError(f"{file.name}, {path}: a sparse matrix, expected a full one. In MATLAB: full(...).")
    dataset = file.dataset(path)
    if _is_empty(file, dataset):
        where = f"{file.name}, {path}"
        return Matrix.of(np.empty(cells_of(file, dataset, where)), where)
    return read_matrix(file, path).transposed()


def _is_empty(file: Hdf5, dataset: Any) -> bool:
    """Whether a dataset stands for an empty array: then it holds the size of that, and one side of it is 0."""
    return dataset.shape == (2,) and dataset.dtype == np.uint64 and 0 in cells_of(file, dataset, dataset.name)


def read_cells(file: Hdf5, path: str) -> list[str]:
    """The texts of a cell array.

    Raises
    ------
    FormatError
        If it holds anything else.
    """
    import h5py

    dataset = file.dataset(path)
    if h5py.check_ref_dtype(dataset.dtype) is not h5py.Reference:
        if _is_empty(file, dataset):
            return []
        raise FormatError(f"{file.name}, {path}: expected a cell array of text, but it holds {dataset.dtype} values.")
    if dataset.chunks is not None:
        cells(file, dataset, f"{file.name}, {path}", np.dtype(np.uint64))  # so that the library finds no damaged chunk
    texts, total = [], 0
    for i, reference in enumerate(np.ravel(dataset[()])):
        if not reference:
            raise FormatError(f"{file.name}, {path}: cell {i} refers to nothing. Save the file again.")
        text = _text(file, h5py.h5r.dereference(reference, file.file.id), f"{path}, cell {i}")
        total += 2 * len(text)
        if total > 4 * file.size:
            raise FormatError(f"{file.name}, {path}: the names are longer than the file. Damaged: save it again.")
        texts.append(text)
    return texts


def _text(file: Hdf5, found: Any, path: str) -> str:
    dataset = file.checked(found, path)
    file.check_size(dataset, path)
    if _is_empty(file, dataset):
        return ""
    if dataset.dtype.kind != "u" or dataset.dtype.itemsize != 2 or dataset.size != max(dataset.shape, default=0):
        raise FormatError(f"{file.name}, {path}: expected one line of text, got {dataset.dtype} of {dataset.shape}.")
    return np.ravel(cells_of(file, dataset, path)).astype("<u2").tobytes().decode("utf-16-le")


def write_struct(stream: IO[bytes], name: str, fields: Mapping[str, list[str] | AnyArray]) -> None:
    """Write a file that holds one struct."""
    with created(stream, user_block=_USER_BLOCK) as file:
        home = file.create_group(name)
        home.attrs["MATLAB_class"] = np.bytes_("struct")
        heap = file.create_group("#refs#")
        for field, value in fields.items():
            if isinstance(value, list):
                _write_cells(home, heap, field, value)
            else:
                _write_matrix(home, field, value)
    stream.seek(0)
    stream.write(_TOLD.ljust(116) + bytes(8) + b"\x00\x02IM")


def _write_matrix(home: Any, field: str, values: AnyArray) -> None:
    if not values.size:
        _write_empty(home, field, values.shape, "double")
        return
    logical = values.dtype == np.bool_
    called = {"f8": "double", "f4": "single", "b1": "logical"}[values.dtype.str[1:]]
    dataset = home.create_dataset(field, values.shape[::-1], np.uint8 if logical else values.dtype)
    dataset.attrs["MATLAB_class"] = np.bytes_(called)
    if logical:
        dataset.attrs["MATLAB_int_decode"] = np.int32(1)
    step = max(1, _BLOCK // values.shape[0])
    for start in range(0, values.shape[1], step):  # by blocks, so that there is never a second copy of it all
        dataset[start : start + step] = values[:, start : start + step].T


def _write_cells(home: Any, heap: Any, field: str, texts: Iterable[str]) -> None:
    import h5py

    references = []
    for text in texts:
        units = np.frombuffer(text.encode("utf-16-le"), "<u2")
        called = str(len(heap))
        if len(units):
            cell = heap.create_dataset(called, data=units[:, None])
            cell.attrs["MATLAB_class"] = np.bytes_("char")
            cell.attrs["MATLAB_int_decode"] = np.int32(2)
        else:
            cell = _write_empty(heap, called, (0, 0), "char")
        references.append(cell.ref)
    if not references:
        _write_empty(home, field, (0, 1), "cell")
        return
    dataset = home.create_dataset(field, (1, len(references)), h5py.ref_dtype)
    dataset[0] = references
    dataset.attrs["MATLAB_class"] = np.bytes_("cell")


def _write_empty(home: Any, field: str, shape: tuple[int, ...], called: str) -> Any:
    """An empty array: MATLAB stores its size in place of its cells."""
    dataset = home.create_dataset(field, data=np.array(shape, np.uint64))
    dataset.attrs["MATLAB_class"] = np.bytes_(called)
    dataset.attrs["MATLAB_empty"] = np.uint8(1)
    return dataset
