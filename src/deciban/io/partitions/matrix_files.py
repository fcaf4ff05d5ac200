"""Files with a matrix, read in blocks of rows: NumPy, HDF5 and Zarr."""

from __future__ import annotations

import importlib.util
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from deciban.errors import FormatError, InputError, display_name, option
from deciban.io.formats import only_format_errors
from deciban.io.matrices.hdf5 import Hdf5, matrix_of_numbers, opened, read_names, rows_of
from deciban.io.matrices.numpy_files import read_header
from deciban.io.partitions.files import Stamp, full_path, kept_open, stamp_of
from deciban.io.partitions.matrices import MatrixInput, blocks_of
from deciban.io.source import Source
from deciban.types import AnyArray, Foreign, PathLike

_ZARR = "zarr.json"


_NAMES = (
    ("/ID/row_ids", "/ID/column_ids"),
    ("/modelset", "/segset"),
    ("/enroll_ids", "/test_ids"),
    ("/train_ids", "/test_ids"),
    ("/model_names", "/test_names"),
)
"""Paths of the names of rows and columns in BOSARIS, sidekit, DCA-PLDA and PyBOSARIS files."""


_SCORES, _MASK = ("/scores", "/score_mat"), "/trial_mask"


def is_zarr(path: PathLike) -> bool:
    """Return True for a Zarr folder, version 3."""
    return (Path(path) / _ZARR).is_file()


def is_matrix_file(path: Path) -> bool:
    """Return True for an uncompressed NumPy array, or HDF5 with scores or a mask in a known place."""
    if not path.is_file():
        return False
    source = Source(path)
    if not source.is_plain or source.kind not in ("NumPy", "HDF5"):
        return False
    if source.kind == "NumPy":
        return True
    with opened(source) as file:
        return any(map(file.has, (*_SCORES, _MASK)))


def is_mask(path: object, kind: str | None = None) -> bool:
    """Return True if a key is a NumPy matrix that marks the trials in a matrix of scores.

    It is boolean, or has a -1 for a non-target; a matrix of only 0 and 1 contains labels of classes as one-hot rows.

    Parameters
    ----------
    path : path or None
    kind : {"two-class", "classes"}, optional
        The kind of scores, if the user named it.

    Raises
    ------
    InputError
        If the kind is not named and each row of a boolean matrix has one True, so that it may be a mask or one-hot.
    """
    if kind == "classes" or not isinstance(path, str | os.PathLike) or not Path(path).is_file():
        return False
    source = Source(path)
    if not source.is_plain or source.kind != "NumPy":
        return False
    with source.stream() as stream:
        shape, _, of_cells = read_header(stream, source.name)
    if len(shape) != 2 or shape[1] < 2 or of_cells.kind not in "bif":
        return False
    matrix = _numpy(source)
    blocks = (matrix.rows(start, stop, name) for name, start, stop in blocks_of(matrix))
    if of_cells.kind != "b":
        return any(bool((cells < 0).any()) for cells in blocks)
    if kind is None and all(bool((cells.sum(axis=1) == 1).all()) for cells in blocks):
        raise InputError(
            f"{source.name}: one True in each row. Is this the class of each segment, as one-hot rows (use "
            f"{option(kind='classes')}), or a mask of targets in a matrix of scores (use {option(kind='two-class')})?"
        )
    return True


def open_matrix(path: PathLike) -> MatrixInput:
    """Open a matrix; only its shape and names are read.

    Raises
    ------
    FormatError, InputError, OSError
        If the file does not contain a matrix of numbers, or is damaged.
    """
    if is_zarr(path):
        return _zarr(path)
    source = Source(path)
    return _numpy(source) if source.kind == "NumPy" else _hdf5(source)


@dataclass(frozen=True, slots=True)
class FileRowReader:
    """Rows of a file that is opened by a function and kept open.

    Attributes
    ----------
    path : str
        The file whose changes are noticed.
    stamp : Stamp
    part : str
        Name of the part of the file, if it has several.
    kind : str
        For messages.
    make : function
        Returns an object whose slices are rows. Can be pickled.
    """

    path: str
    stamp: Stamp
    part: str
    kind: str
    make: Callable[[], Foreign]

    def __call__(self, start: int, stop: int, name: str) -> AnyArray:
        """See `RowReader`."""
        with only_format_errors(name, self.kind):
            values = np.asarray(kept_open(self.path, self.stamp, name, self.make, self.part)[start:stop])
            return np.ascontiguousarray(values, values.dtype.newbyteorder("="))


def _numpy(source: Source) -> MatrixInput:
    with only_format_errors(source.name, "a NumPy array"):
        stamp = stamp_of(source.path)
        with source.stream() as stream:
            shape, is_fortran, kind = read_header(stream, source.name)
            offset = stream.tell()
        if kind.kind not in "biuf" or kind.hasobject or len(shape) not in (1, 2):
            raise FormatError(f"{source.name}: {kind} of shape {shape}. Expected numbers of rows and columns.")
        shape = shape[:1] if len(shape) == 2 and shape[1] == 1 else shape
        if offset + math.prod(shape) * kind.itemsize != source.size:
            raise FormatError(f"{source.name}: the length does not agree with the header. Copy the file again.")
    order: Any = "F" if is_fortran else "C"
    path = full_path(source.path)
    make = partial(np.memmap, path, kind, "r", offset, shape, order)
    rows = FileRowReader(path, stamp, "", "a NumPy array", make)
    return MatrixInput(source.name, rows, shape, kind, path=source.path, reading="npy")


@dataclass(frozen=True, slots=True)
class _Dataset:
    """Rows of an HDF5 dataset; the file is opened for each slice."""

    path: str
    dataset: str

    def __getitem__(self, rows: slice) -> AnyArray:
        with opened(Source(self.path)) as file:
            return rows_of(file, self.dataset, rows.start, rows.stop)


def _hdf5(source: Source) -> MatrixInput:
    """Return scores with the mask of their trials, or the mask of a key, from their known places."""
    stamp = stamp_of(source.path)
    with opened(source) as file:
        result = (pair for pair in _NAMES if all(map(file.has, pair)))
        sides = next(result, None)
        names = None if sides is None else (read_names(file, sides[0]).values, read_names(file, sides[1]).values)
        scores = next(filter(file.has, _SCORES), None)
        if scores is None:
            return _dataset(file, source, _MASK, stamp, names, is_mask=True)
        mask = _dataset(file, source, "/score_mask", stamp, names) if file.has("/score_mask") else None
        return _dataset(file, source, scores, stamp, names, mask, is_mask=False)


def _dataset(
    file: Hdf5,
    source: Source,
    path: str,
    stamp: Stamp,
    names: tuple[pa.Array, pa.Array] | None,
    mask: MatrixInput | None = None,
    *,
    is_mask: bool | None = True,
) -> MatrixInput:
    dataset = matrix_of_numbers(file, path)
    if path not in _SCORES and not dataset.id.get_storage_size() and dataset.fillvalue == 1:
        pass  # ones that are not stored
    else:
        file.check_size(dataset, path)
    shape = tuple(map(int, dataset.shape))
    if names is not None and shape != (len(names[0]), len(names[1])):
        raise FormatError(
            f"{source.name}, {path}: has shape {shape}, but there are {len(names[0]):,} models and {len(names[1]):,} "
            "segments. Write the file again, as models x segments."
        )
    step, whole = dataset.chunks[0] if dataset.chunks else None, full_path(source.path)
    rows = FileRowReader(whole, stamp, path, "HDF5", partial(_Dataset, whole, path))
    called = source.name if path in _SCORES else f"{source.name}, {path}"
    kind = np.dtype(dataset.dtype)
    return MatrixInput(called, rows, shape, kind, names, mask, is_mask, step, source.path, "hdf5")


_OF_ZARR = {"scores": False, "trial_mask": True}
"""Arrays of a Zarr group, and whether they are masks."""


def _opened_zarr(path: str, array: str) -> Foreign:
    import zarr

    result: Foreign = zarr.open(store=path, mode="r")
    return result[array] if array else result


def _zarr(path: PathLike) -> MatrixInput:
    name = display_name(path)
    if importlib.util.find_spec("zarr") is None:
        raise InputError("a Zarr folder needs the package zarr, which is not installed: pip install 'deciban[zarr]'.")
    with only_format_errors(name, "Zarr"):
        array, own = _opened_zarr(str(path), ""), ""
        if not hasattr(array, "shape"):
            own = next(filter(array.__contains__, _OF_ZARR), "")
            if not own:
                raise FormatError(
                    f"{name}: a group without arrays scores and trial_mask. Name the folder of the array itself."
                )
            array = _opened_zarr(str(path), own)
        kind, shape = np.dtype(array.dtype), tuple(map(int, array.shape))
        if kind.kind not in "biuf" or len(shape) not in (1, 2):
            raise FormatError(f"{name}: {kind} of shape {shape}. Expected numbers of rows and columns.")
        described, make = Path(path) / own / _ZARR, partial(_opened_zarr, full_path(path), own)
        rows = FileRowReader(full_path(described), stamp_of(described), own, "Zarr", make)
        step = int(array.chunks[0])
    return MatrixInput(name, rows, shape, kind, None, None, _OF_ZARR.get(own), step, str(path), "zarr")
