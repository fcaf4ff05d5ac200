"""MATLAB files of the BOSARIS toolkit's layout: one struct variable. Read in versions 5 (``-v6``, ``-v7``) and 7.3.

========  =======================================================================================================
``ndx``   ``modelset`` (m x 1 cells of text), ``segset`` (n x 1), ``trialmask`` (m x n logical)
``key``   ``modelset``, ``segset``, ``tar``, ``non`` (m x n logical)
``scr``   ``modelset``, ``segset``, ``scoremat`` (m x n double or single), ``scoremask`` (m x n logical)
``qual``  of segments: ``ids`` (n x 1 cells), ``values`` (q x n); of both sides: ``modelset``, ``segset``, ``modelQ``
          (q x m), ``segQ`` (q x n), ``hasmodel``, ``hasseg`` (1 x m, 1 x n logical), ``scoremask``. Unverified
``idmap``  ``leftids``, ``rightids`` (cells of text). Unverified
========  =======================================================================================================

Names of quality measures are a list of ours (``measures``; ``modelmeasures``, ``segmeasures``), left out for q1, q2...
Version 5 is written, which ends at 2 GB.

A file is recognized by its header alone, and the name of its struct tells what it holds.
"""

from __future__ import annotations

import io
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import pyarrow as pa

from deciban.errors import FormatError
from deciban.io.contents import KIND_OF, ContentKind, Contents, Item, Written, only_format_errors
from deciban.io.formats import Options
from deciban.io.matrices.hdf5 import Hdf5, cells, cells_of, opened, read_matrix
from deciban.io.matrices.named_matrix import (
    FieldReader,
    Fields,
    Matrix,
    Names,
    fields_of,
    item_to_write,
    mask_of,
    matrix_of,
    without_nul,
    written_of,
)
from deciban.io.matrices.numpy_files import Archive
from deciban.io.source import Source
from deciban.trials import Key, Trials
from deciban.types import AnyArray

NAME = "bosaris-mat"
_LARGEST = 2**31 - 1
"""Bytes that a variable of version 5 may have."""

_MOST_UNPACKED, _RATIO = 1 << 28, 200
"""A file that unpacks to more than both, in bytes and times its size, is taken for a bomb."""

_MOST_SECONDS = 30.0
"""Processor time for the former; four times as long by the clock."""


def is_version_5(source: Source) -> bool:
    """Whether the header is that of version 5."""
    return source.head.startswith(b"MATLAB 5.0 MAT-file")


def read(source: Source, options: Options) -> Contents:
    """Read a file of this format."""
    wanted = _VARIABLE_OF.get(options.need)
    if is_version_5(source):
        with only_format_errors(source.name, "a MATLAB file"):
            names, fields = _read_version_5(source, wanted)
            variable = _chosen(source, names, wanted)
            return _contents(variable, _of_version_5(source, variable, fields), options)
    with opened(source) as file:
        variable = _chosen(source, [one for one in _VARIABLES if file.has(f"/{one}")], wanted)
        return _contents(variable, _of_version_73(file, variable), options)


def _contents(variable: str, reader: FieldReader, options: Options) -> Contents:
    kind: ContentKind = "segment-quality" if variable == "qual" and reader.has("ids") else _VARIABLES[variable]
    return reader.contents(kind, options, is_key=False)


def _chosen(source: Source, found: list[str], wanted: str | None) -> str:
    """The variable to read: the only one whose name is known, or the one that holds what is needed."""
    known = [one for one in _VARIABLES if one in found]
    if wanted is not None and wanted in known:
        return wanted
    if len(known) == 1:
        return known[0]
    if known:
        raise FormatError(f"{source.name}: holds {' and '.join(known)}. Save the one that is meant to its own file.")
    there = f"; there are {', '.join(sorted(found)[:20])}" if found else ""
    raise FormatError(f"{source.name}: no variable {', '.join(_VARIABLES)} of the BOSARIS layout{there}.")


def _read_version_5(source: Source, wanted: str | None) -> tuple[list[str], Mapping[str, Any]]:
    """Return the names of all variables and the fields of the struct to read; a process of its own reads them."""
    most = max(_MOST_UNPACKED, _RATIO * source.size)
    seconds = _MOST_SECONDS * most / _MOST_UNPACKED
    with tempfile.TemporaryDirectory() as folder:
        path, archive = source.seekable(), Path(folder) / "struct.npz"
        if isinstance(path, io.BytesIO):
            path = Path(folder) / "file.mat"
            path.write_bytes(source.data)
        program = Path(__file__).parents[1] / "matrices" / "matlab5_process.py"
        words = (program, path, archive, most, math.ceil(seconds), wanted or "", *_VARIABLES)
        command = [sys.executable, "-P", *map(str, words)]
        try:
            done = subprocess.run(command, capture_output=True, check=False, timeout=4 * seconds)  # noqa: S603
        except subprocess.TimeoutExpired as error:
            raise FormatError(f"{source.name}: takes too long. Damaged, or made to do harm.") from error
        if done.returncode:
            reason = done.stderr.decode(errors="replace").strip()[-300:] or f"scipy ended with {done.returncode}"
            raise FormatError(f"{source.name}: damaged, or no sound MATLAB file ({reason}). Save it again.")
        with Archive(Source(archive)) as arrays:
            texts = json.loads(arrays.read("").tobytes())
            fields = texts | {name: arrays.read(name) for name in arrays.names if name}
    return texts[""], fields


def _of_version_5(source: Source, variable: str, fields: Mapping[str, Any]) -> FieldReader:
    def look_up(field: str) -> tuple[Any, str]:
        called = _CALLED.get(field, field)
        place = f"{source.name}, {variable}.{called}"
        if called not in fields:
            raise FormatError(f"{place}: there is no such field. Save the struct again.")
        return fields[called], place

    def names(field: str) -> Names:
        value, place = look_up(field)
        if not isinstance(value, list) and (isinstance(value, str) or value.size):
            fault = value if isinstance(value, str) else "expected a cell array of text. In MATLAB: cellstr(...)"
            raise FormatError(f"{place}: {fault}.")
        return Names(pa.array(value if isinstance(value, list) else [], pa.string()), place)

    def matrix(field: str) -> Matrix:
        value, place = look_up(field)
        if isinstance(value, np.ndarray) and value.ndim == 2:
            return Matrix(value, place)
        fault = f", but it holds {value}" if isinstance(value, str) else ""
        raise FormatError(f"{place}: expected a matrix of numbers{fault}.")

    return FieldReader(source.name, NAME, lambda field: _CALLED.get(field, field) in fields, names, matrix)


def _of_version_73(file: Hdf5, variable: str) -> FieldReader:
    def at(field: str) -> str:
        return f"/{variable}/{_CALLED.get(field, field)}"

    def names(field: str) -> Names:
        return Names(pa.array(read_cells(file, at(field)), pa.string()), f"{file.name}, {at(field)}")

    return FieldReader(
        file.name, NAME, lambda field: file.has(at(field)), names, lambda field: read_field(file, at(field))
    )


_VARIABLES: dict[str, ContentKind] = {
    "ndx": "index",
    "key": "key",
    "scr": "scores",
    "qual": "quality",
    "idmap": "id-map",
}
_VARIABLE_OF: dict[ContentKind | None, str] = {
    "index": "ndx",
    "key": "key",
    "scores": "scr",
    "quality": "qual",
    "segment-quality": "qual",
    "id-map": "idmap",
}


_CALLED = {
    "row_ids": "modelset",
    "column_ids": "segset",
    "scores": "scoremat",
    "score_mask": "scoremask",
    "trial_mask": "trialmask",
    "has_row": "hasmodel",
    "has_column": "hasseg",
    "model_measures": "modelmeasures",
    "seg_measures": "segmeasures",
    "left_ids": "leftids",
    "right_ids": "rightids",
}
"""What MATLAB calls fields that have other names in HDF5 files."""


def _fields_of(item: Item) -> dict[str, list[str] | AnyArray]:
    """The struct of a table."""
    return {_CALLED.get(field, field): _value(value) for field, value in fields_of(item, NAME, _of_key).items()}


def _of_key(key: Key) -> tuple[Trials, Fields]:
    grid, targets = matrix_of(key.trials, key.is_target)
    return grid, {"tar": targets, "non": mask_of(grid) & ~targets}


def _value(value: pa.Array | AnyArray) -> list[str] | AnyArray:
    if isinstance(value, np.ndarray):
        return value if value.ndim == 2 else value[None, :]
    return list(without_nul(value, "MATLAB").to_pylist())


def write(contents: Contents, stream: IO[bytes]) -> Written:
    """Write a file of this format."""
    import scipy.io

    item = item_to_write(contents, NAME)
    fields = _fields_of(item)
    n_bytes = sum(value.nbytes if isinstance(value, np.ndarray) else 0 for value in fields.values())
    if n_bytes > _LARGEST:
        raise FormatError(
            f"{NAME}: {n_bytes:,} bytes do not fit a MATLAB file of version 5, which ends at 2 GB. Choose bosaris-hdf5."
        )
    struct = {
        field: np.array(value, object)[:, None] if isinstance(value, list) else value for field, value in fields.items()
    }
    scipy.io.savemat(cast("Any", stream), {_VARIABLE_OF[KIND_OF[type(item)]]: struct})
    return written_of(item)


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
        return Matrix(np.empty(cells_of(file, dataset, where)), where)
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
        text = _text_of_matlab73(file, h5py.h5r.dereference(reference, file.file.id), f"{path}, cell {i}")
        total += 2 * len(text)
        if total > 4 * file.size:
            raise FormatError(f"{file.name}, {path}: the names are longer than the file. Damaged: save it again.")
        texts.append(text)
    return texts


def _text_of_matlab73(file: Hdf5, found: Any, path: str) -> str:
    dataset = file.checked(found, path)
    file.check_size(dataset, path)
    if _is_empty(file, dataset):
        return ""
    if dataset.dtype.kind != "u" or dataset.dtype.itemsize != 2 or dataset.size != max(dataset.shape, default=0):
        raise FormatError(f"{file.name}, {path}: expected one line of text, got {dataset.dtype} of {dataset.shape}.")
    return np.ravel(cells_of(file, dataset, path)).astype("<u2").tobytes().decode("utf-16-le")
