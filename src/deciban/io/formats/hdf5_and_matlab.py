"""Matrices in HDF5 (BOSARIS, hyperion, sidekit, DCA-PLDA, PyBOSARIS, Bob) and in MATLAB files (BOSARIS).

BOSARIS. One file contains one table.

===============  =====================================================================================================
index            ``/ID/row_ids`` (m models), ``/ID/column_ids`` (n segments), ``/trial_mask`` uint8 m x n: 1 for a trial
key              ``/ID/*``; ``/trial_mask`` int8 m x n: +1 target, -1 non-target, 0 no trial; ``/file_format`` = "2.0".
                 Version 1 (read only): no ``/file_format`` but ``/target_mask`` and ``/nontarget_mask`` of 0 and 1
scores           ``/ID/*``; ``/scores`` float64 or float32 m x n; ``/score_mask`` uint8 m x n: 1 for a trial
quality          ``/ID/*``; ``/modelQ`` q x m; ``/segQ`` q x n; ``/score_mask``; ``/ID/has_row``, ``/ID/has_column``:
                 1 for a model or segment that has measures (optional: all have)
segment quality  ``/ids`` (n), ``/values`` float64 q x n
id map           ``/left_ids``, ``/right_ids``
===============  =====================================================================================================

Names are strings of fixed or variable length, ASCII or UTF-8. deciban writes UTF-8, with the length of the longest name
(or with variable length, if a few long names would waste space). deciban writes contiguous matrices without
compression; a full mask has no cells but a fill value of 1, so that every HDF5 reader sees ones. Names of quality
measures are an extension of deciban, ``/measures`` (or ``/model_measures`` and ``/seg_measures``), omitted for q1, q2,
... The format cannot contain condition columns, or an order of trials other than row by row.

A file is recognized by ``/ID/row_ids`` and ``/ID/column_ids`` together with one of the matrices, by ``/ids`` and
``/values``, or by ``/left_ids`` and ``/right_ids``; hyperion's files are recognized by their conditions.

Hyperion: the layout of BOSARIS with conditions. Read only.

``/ID/row_ids``, ``/ID/column_ids`` and ``/scores`` with ``/score_mask``, or ``/trial_mask``, as above; and
any of ``model_cond`` (one value per model), ``seg_cond`` (one per segment) and ``trial_cond`` (models x segments), at
the root or in ``/ID``. A list of strings or integers becomes a condition column of the trials with that name.
Conditions of another shape or type are left out, with a note.

A file is recognized by the names and a matrix of BOSARIS together with one of the conditions.

Sidekit, DCA-PLDA and PyBOSARIS: names and matrices at the root. Read only.

=========  ===========================================================================================================
sidekit    ``modelset`` (m names) and ``segset`` (n names), bytes of fixed length; then either ``scores`` (m x n) with
           ``score_mask`` (int8, 0/1), or ``trial_mask`` (int8): in a key +1 target, -1 non-target and 0 no trial, in
           an index 1 and 0. A mask with a -1 is a key, others are an index. Datasets usually have gzip compression
           and fletcher32 sums
dca-plda   ``enroll_ids`` (in old files ``train_ids``) with m names, ``test_ids`` with n names, and ``trial_mask`` as
           above. A file with ``scores`` (m x n, and an optional ``score_mask``) instead is read as scores; that layout
           is unverified
pybosaris  ``model_names`` (m) and ``test_names`` (n), then either ``score_mat`` (m x n; all cells are trials without a
           ``score_mask`` of 0/1), or ``tar_mask`` and ``non_mask`` (m x n, 0/1)
=========  ===========================================================================================================

A file is recognized by its two lists of names.

Bob: arrays of scores, one dataset ``/array``, as its function ``save`` writes arrays.

The intermediate scores of score normalization are such files: the scores of one model, (n,), (1, n) or (n, 1). Their
trials have no names and are identified by their rows. The name of the dataset is from memory, so the format is never
guessed.

MATLAB: files with the layout of the BOSARIS toolkit, one struct variable. Read in versions 5 (``-v6``, ``-v7``), 7.3.

========  =======================================================================================================
``ndx``   ``modelset`` (m x 1 cells of text), ``segset`` (n x 1), ``trialmask`` (m x n logical)
``key``   ``modelset``, ``segset``, ``tar``, ``non`` (m x n logical)
``scr``   ``modelset``, ``segset``, ``scoremat`` (m x n double or single), ``scoremask`` (m x n logical)
``qual``  of segments: ``ids`` (n x 1 cells), ``values`` (q x n); of both sides: ``modelset``, ``segset``, ``modelQ``
          (q x m), ``segQ`` (q x n), ``hasmodel``, ``hasseg`` (1 x m, 1 x n logical), ``scoremask``. Unverified
``idmap``  ``leftids``, ``rightids`` (cells of text). Unverified
========  =======================================================================================================

Names of quality measures are an extension of deciban (``measures``; ``modelmeasures``, ``segmeasures``), omitted for
q1, q2... deciban writes version 5, whose limit is 2 GB.

A file is recognized by its header alone, and the name of its struct determines its contents.
"""

from __future__ import annotations

import io
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Any, cast
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa

from deciban.errors import FormatError, option
from deciban.io.formats import KIND_OF, ContentKind, Contents, InputOptions, WrittenContents, only_format_errors
from deciban.io.matrices import hdf5, named_matrix
from deciban.io.matrices.numpy_files import Archive, as_scores
from deciban.io.source import Source
from deciban.trials import Index, Key, Origin, Trials
from deciban.types import AnyArray, Foreign

NAME, HYPERION = "bosaris-hdf5", "hyperion"

_GRID = ("/ID/row_ids", "/ID/column_ids")
_MATRICES = ("/scores", "/trial_mask", "/target_mask", "/nontarget_mask", "/modelQ", "/segQ")
_SIGNS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    NAME: (*((*_GRID, matrix) for matrix in _MATRICES), ("/ids", "/values"), ("/left_ids", "/right_ids")),
    "sidekit": (("/modelset", "/segset"),),
    "dca-plda": (("/test_ids", "/enroll_ids"), ("/test_ids", "/train_ids")),
    "pybosaris": (("/model_names", "/test_names"),),
}
"""For each layout, tuples of datasets: a file with all datasets of one tuple has this layout."""

CONDITIONS = tuple(sorted(f"{at}/{side}_cond" for at in ("", "/ID") for side in ("model", "seg", "trial")))
"""Datasets with the conditions of hyperion."""

_PLACES = frozenset((*CONDITIONS, *(path for signs in _SIGNS.values() for sign in signs for path in sign)))
_PRESENT: WeakKeyDictionary[Source, frozenset[str]] = WeakKeyDictionary()


def _is_in(layout: str, source: Source) -> bool:
    """Return True if an HDF5 file has the datasets of a layout; the file is inspected once for all layouts."""
    if source.kind != "HDF5":
        return False
    if source not in _PRESENT:
        with hdf5.opened(source) as file:
            _PRESENT[source] = frozenset(filter(file.has, _PLACES))
    return any(_PRESENT[source].issuperset(sign) for sign in _SIGNS[layout])


def is_hyperion(source: Source) -> bool:
    """Return True for a BOSARIS file with conditions."""
    return is_in_bosaris(source) and _PRESENT[source].issuperset(_GRID) and not _PRESENT[source].isdisjoint(CONDITIONS)


def is_bosaris(source: Source) -> bool:
    """Return True for a BOSARIS file without conditions."""
    return is_in_bosaris(source) and not is_hyperion(source)


is_in_bosaris, is_sidekit, is_dca_plda, is_pybosaris = (partial(_is_in, layout) for layout in _SIGNS)


def _read(
    file: hdf5.Hdf5, options: InputOptions, name: str, paths: Mapping[str, str], otherwise: ContentKind
) -> Contents:
    """Read the table of a file; ``otherwise`` is the kind for the error about an empty file."""

    def at(field: str) -> str:
        return paths.get(field, f"/{field}")

    def matrix(field: str) -> named_matrix.Matrix:
        if field in ("has_row", "has_column"):
            return named_matrix.Matrix(np.atleast_2d(hdf5.read_array(file, at(field))), f"{file.name}, {at(field)}")
        is_mask = field == "score_mask" or (field == "trial_mask" and not is_key)
        return (hdf5.read_mask if is_mask else hdf5.read_matrix)(file, at(field))

    reader = named_matrix.FieldReader(
        file.name, name, lambda field: file.has(at(field)), lambda field: hdf5.read_names(file, at(field)), matrix
    )
    held = [kind for kind, fields in _HELD.items() if any(map(reader.has, fields))]
    if len(held) > 1:
        raise FormatError(
            f"{file.name}: contains scores and masks of a key or an index, but a file with this layout must contain "
            "one table. Write them to separate files."
        )
    kind: ContentKind = held[0] if held else otherwise
    if "scores" not in held and (reader.has("modelQ") or reader.has("segQ")):
        kind = "quality"
    if not reader.has("row_ids"):
        kind = next((kind for kind, field in _LISTED.items() if reader.has(field)), kind)
    is_key = _says_key(file) if kind == "index" and paths is _BOSARIS else None
    return reader.contents(kind, options, is_key=is_key)


_HELD: Mapping[ContentKind, tuple[str, ...]] = {"scores": ("scores",), "index": ("trial_mask",), "key": ("tar", "non")}
_LISTED: Mapping[ContentKind, str] = {"segment-quality": "ids", "id-map": "left_ids"}


def _says_key(file: hdf5.Hdf5) -> bool | None:
    """Return True for a key with a version; None without a version, because a tool may have omitted it."""
    if not file.has("/file_format"):
        return None
    version = " ".join(hdf5.read_names(file, "/file_format").values.to_pylist())
    if version != "2.0":
        raise FormatError(
            f"{file.name}, /file_format: version {version[:20]!r} of key files is unknown. Only 2.0 is read."
        )
    return True


_BOSARIS = {field: f"/ID/{field}" for field in ("row_ids", "column_ids", "has_row", "has_column")} | {
    "tar": "/target_mask",
    "non": "/nontarget_mask",
}
"""Paths of fields that are not at the root under their own names."""


_SIDEKIT = {"row_ids": "/modelset", "column_ids": "/segset"}
_PYBOSARIS = {"row_ids": "/model_names", "column_ids": "/test_names", "scores": "/score_mat"}
_PYBOSARIS |= {"tar": "/tar_mask", "non": "/non_mask"}


def _read_layout(
    name: str, paths: Mapping[str, str], otherwise: ContentKind, source: Source, options: InputOptions
) -> Contents:
    """Read an index, a key or scores with one layout."""
    with hdf5.opened(source) as file:
        return _read(file, options, name, paths, otherwise)


read_bosaris = partial(_read_layout, NAME, _BOSARIS, "key")
read_sidekit = partial(_read_layout, "sidekit", _SIDEKIT, "index")
read_pybosaris = partial(_read_layout, "pybosaris", _PYBOSARIS, "scores")


def read_dca_plda(source: Source, options: InputOptions) -> Contents:
    """Read an index, a key or scores of DCA-PLDA."""
    with hdf5.opened(source) as file:
        if file.has("/enroll_ids") and file.has("/train_ids"):
            raise FormatError(
                f"{file.name}: contains enroll_ids and train_ids, old and new names of the same data. Delete one."
            )
        paths = {"row_ids": "/train_ids" if file.has("/train_ids") else "/enroll_ids", "column_ids": "/test_ids"}
        return _read(file, options, "dca-plda", paths, "index")


def write(contents: Contents, stream: IO[bytes]) -> WrittenContents:
    """Write a BOSARIS file."""
    item = named_matrix.item_to_write(contents, NAME)
    with hdf5.created(stream) as file:
        for field, value in named_matrix.fields_of(item, NAME, _of_key).items():
            hdf5.write_field(file, _BOSARIS.get(field, field), value)
    return named_matrix.written_of(item)


def _of_key(key: Key) -> tuple[Trials, named_matrix.Fields]:
    grid, matrix = named_matrix.matrix_of(key.trials, np.where(key.is_target, np.int8(1), np.int8(-1)))
    return grid, {"trial_mask": matrix, "file_format": np.array(b"2.0")}


def read_hyperion(source: Source, options: InputOptions) -> Contents:
    """Read a BOSARIS file with conditions."""
    with hdf5.opened(source) as file:
        contents = _read(file, options, HYPERION, _BOSARIS, "key")
        if contents.index is None:
            return contents
        trials, notes = contents.index.trials, list[str]()
        entries: dict[str, pa.Array] = {}
        for path in filter(file.has, CONDITIONS):
            column = _condition(file, path, trials)
            if column is None:
                notes.append(f"{file.name}, {path}: not one value per model, segment or trial; it was left out.")
            else:
                entries[path.rpartition("/")[2]] = column
    found_too = contents.with_trials(lambda trials: replace(trials, conditions=entries))
    return replace(found_too, notes=(*contents.notes, *notes))


def _condition(file: hdf5.Hdf5, path: str, trials: Trials) -> pa.Array | None:
    """Return the values of a condition, one per trial; None if they are not a list of strings or integers."""
    import h5py

    dataset, where = file.dataset(path), f"{file.name}, {path}"
    shape = tuple(len(names) for names in trials.names)
    text = h5py.check_string_dtype(dataset.dtype) is not None
    if path.endswith("trial_cond"):
        if text or dataset.dtype.kind not in "biu" or dataset.shape != shape:
            return None
        values = hdf5.cells_of(file, dataset, where)
        return pa.array(values.ravel() if trials.mask is None else values[trials.mask])
    side = 0 if path.endswith("model_cond") else 1
    if dataset.shape != (shape[side],) or not (text or dataset.dtype.kind in "biu"):
        return None
    names: Foreign = hdf5.read_names(file, path).values if text else pa.array(hdf5.cells_of(file, dataset, where))
    return names.take(pa.array(trials.codes[side]))


def read_bob(source: Source, options: InputOptions) -> Contents:
    """Read a vector of scores of Bob."""
    if options.columns is not None:
        raise FormatError(f"{source.name}: a vector has one column, the score. Leave out {option('columns')}.")
    with hdf5.opened(source) as file:
        values = hdf5.read_array(file, "/array")
    if values.size == 0 or max(values.shape) != values.size:
        raise FormatError(
            f"{source.name}, /array: expected a vector with a score per trial, got shape {values.shape}. The meaning "
            "of the rows of a matrix is unknown: save it as .npz with enroll_names and test_names, or as .npy."
        )
    origin = Origin(source.name, f"bob-hdf5, {values.dtype} of shape {values.shape}")
    trials = Trials.of_rows(values.size, origin=origin)
    score = np.ascontiguousarray(as_scores(values.ravel(), source.name))
    system = options.system(trials, score, options.name or "system")
    return Contents(origin=origin, index=Index(trials), systems=(system,))


MAT = "bosaris-mat"
_LARGEST = 2**31 - 1
"""Largest number of bytes of a variable in version 5."""

_MOST_UNPACKED, _RATIO = 1 << 28, 200
"""A file that expands to more than both, in bytes and times its size, is refused."""

_MOST_SECONDS = 30.0
"""Processor time for the smaller limit; the limit of wall time is four times as long."""


def read_mat(source: Source, options: InputOptions) -> Contents:
    """Read a MATLAB file of BOSARIS."""
    name = _VARIABLE_OF.get(options.need)
    if source.head.startswith(b"MATLAB 5.0 MAT-file"):
        with only_format_errors(source.name, "a MATLAB file"):
            names, fields = _read_version_5(source, name)
            variable = _chosen(source, names, name)
            return _contents(variable, _of_version_5(source, variable, fields), options)
    with hdf5.opened(source) as file:
        variable = _chosen(source, [one for one in _VARIABLES if file.has(f"/{one}")], name)
        return _contents(variable, _of_version_73(file, variable), options)


def _contents(variable: str, reader: named_matrix.FieldReader, options: InputOptions) -> Contents:
    kind: ContentKind = "segment-quality" if variable == "qual" and reader.has("ids") else _VARIABLES[variable]
    return reader.contents(kind, options, is_key=False)


def _chosen(source: Source, lines: list[str], variable: str | None) -> str:
    """Return the variable to read: the only one with a known name, or the one with the needed table."""
    known = [one for one in _VARIABLES if one in lines]
    if variable is not None and variable in known:
        return variable
    if len(known) == 1:
        return known[0]
    if known:
        raise FormatError(f"{source.name}: contains {' and '.join(known)}. Save one of them to its own file.")
    there = f"; it contains {', '.join(sorted(lines)[:20])}" if lines else ""
    raise FormatError(f"{source.name}: no variable {', '.join(_VARIABLES)} with the BOSARIS layout{there}.")


def _read_version_5(source: Source, variable: str | None) -> tuple[list[str], Mapping[str, Foreign]]:
    """Return the names of all variables and the fields of the struct to read, with a separate process."""
    most = max(_MOST_UNPACKED, _RATIO * source.size)
    seconds = _MOST_SECONDS * most / _MOST_UNPACKED
    with tempfile.TemporaryDirectory() as folder:
        path, archive = source.seekable(), Path(folder) / "struct.npz"
        if isinstance(path, io.BytesIO):
            path = Path(folder) / "file.mat"
            path.write_bytes(source.data)
        program = Path(__file__).parents[1] / "matrices" / "matlab5_process.py"
        words = (program, path, archive, most, math.ceil(seconds), variable or "", *_VARIABLES)
        command = [sys.executable, "-P", *map(str, words)]
        try:
            done = subprocess.run(command, capture_output=True, check=False, timeout=4 * seconds)  # noqa: S603
        except subprocess.TimeoutExpired as error:
            raise FormatError(f"{source.name}: takes too long. Damaged, or made to do harm.") from error
        if done.returncode:
            reason = done.stderr.decode(errors="replace").strip()[-300:] or f"scipy ended with {done.returncode}"
            raise FormatError(f"{source.name}: damaged, or not a valid MATLAB file ({reason}). Save it again.")
        with Archive(Source(archive)) as arrays:
            texts = json.loads(arrays.read("").tobytes())
            fields = texts | {name: arrays.read(name) for name in arrays.names if name}
    return texts[""], fields


def _of_version_5(source: Source, variable: str, fields: Mapping[str, Foreign]) -> named_matrix.FieldReader:
    def look_up(field: str) -> tuple[Foreign, str]:
        called = _CALLED.get(field, field)
        place = f"{source.name}, {variable}.{called}"
        if called not in fields:
            raise FormatError(f"{place}: this field does not exist. Save the struct again.")
        return fields[called], place

    def names(field: str) -> named_matrix.Names:
        value, place = look_up(field)
        if not isinstance(value, list) and (isinstance(value, str) or value.size):
            fault = value if isinstance(value, str) else "expected a cell array of text. In MATLAB: cellstr(...)"
            raise FormatError(f"{place}: {fault}.")
        return named_matrix.Names(pa.array(value if isinstance(value, list) else [], pa.string()), place)

    def matrix(field: str) -> named_matrix.Matrix:
        value, place = look_up(field)
        if isinstance(value, np.ndarray) and value.ndim == 2:
            return named_matrix.Matrix(value, place)
        fault = f", but it contains {value}" if isinstance(value, str) else ""
        raise FormatError(f"{place}: expected a matrix of numbers{fault}.")

    return named_matrix.FieldReader(source.name, MAT, lambda field: _CALLED.get(field, field) in fields, names, matrix)


def _of_version_73(file: hdf5.Hdf5, variable: str) -> named_matrix.FieldReader:
    def at(field: str) -> str:
        return f"/{variable}/{_CALLED.get(field, field)}"

    def names(field: str) -> named_matrix.Names:
        return named_matrix.Names(pa.array(read_cells(file, at(field)), pa.string()), f"{file.name}, {at(field)}")

    return named_matrix.FieldReader(
        file.name, MAT, lambda field: file.has(at(field)), names, lambda field: read_field(file, at(field))
    )


_VARIABLES: dict[str, ContentKind] = {
    "ndx": "index",
    "key": "key",
    "scr": "scores",
    "qual": "quality",
    "idmap": "id-map",
}
_VARIABLE_OF: dict[ContentKind | None, str] = {kind: name for name, kind in _VARIABLES.items()}
_VARIABLE_OF["segment-quality"] = "qual"

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
"""MATLAB names of fields that have other names in HDF5 files."""


def _mat_of_key(key: Key) -> tuple[Trials, named_matrix.Fields]:
    grid, targets = named_matrix.matrix_of(key.trials, key.is_target)
    return grid, {"tar": targets, "non": named_matrix.mask_of(grid) & ~targets}


def _value(value: pa.Array | AnyArray) -> list[str] | AnyArray:
    if isinstance(value, np.ndarray):
        return value if value.ndim == 2 else value[None, :]
    return list(named_matrix.without_nul(value, "MATLAB").to_pylist())


def write_mat(contents: Contents, stream: IO[bytes]) -> WrittenContents:
    """Write a MATLAB file of BOSARIS."""
    import scipy.io

    item = named_matrix.item_to_write(contents, MAT)
    fields = {
        _CALLED.get(field, field): _value(value)
        for field, value in named_matrix.fields_of(item, MAT, _mat_of_key).items()
    }
    n_bytes = sum(value.nbytes if isinstance(value, np.ndarray) else 0 for value in fields.values())
    if n_bytes > _LARGEST:
        raise FormatError(
            f"{MAT}: {n_bytes:,} bytes exceed 2 GB, the limit of MATLAB files of version 5. Choose bosaris-hdf5."
        )
    struct = {
        field: np.array(value, object)[:, None] if isinstance(value, list) else value for field, value in fields.items()
    }
    scipy.io.savemat(cast("Any", stream), {_VARIABLE_OF[KIND_OF[type(item)]]: struct})
    return named_matrix.written_of(item)


def read_field(file: hdf5.Hdf5, path: str) -> named_matrix.Matrix:
    """Return a matrix, as rows x columns.

    Raises
    ------
    FormatError
        If it is sparse, or not a matrix of numbers.
    """
    if file.has(f"{path}/jc"):
        raise FormatError(f"{file.name}, {path}: a sparse matrix, expected a full one. In MATLAB: full(...).")
    dataset = file.dataset(path)
    if _is_empty(file, dataset):
        where = f"{file.name}, {path}"
        return named_matrix.Matrix(np.empty(hdf5.cells_of(file, dataset, where)), where)
    return hdf5.read_matrix(file, path).transposed()


def _is_empty(file: hdf5.Hdf5, dataset: Foreign) -> bool:
    """Return True if a dataset represents an empty array: it contains the size of the array, with a 0."""
    return dataset.shape == (2,) and dataset.dtype == np.uint64 and 0 in hdf5.cells_of(file, dataset, dataset.name)


def read_cells(file: hdf5.Hdf5, path: str) -> list[str]:
    """Return the texts of a cell array.

    Raises
    ------
    FormatError
        If it contains anything else.
    """
    import h5py

    dataset = file.dataset(path)
    if h5py.check_ref_dtype(dataset.dtype) is not h5py.Reference:
        if _is_empty(file, dataset):
            return []
        raise FormatError(f"{file.name}, {path}: expected a cell array of text, got {dataset.dtype} values.")
    if dataset.chunks is not None:
        # Check all chunks, before h5py reads them.
        hdf5.cells(file, dataset, f"{file.name}, {path}", np.dtype(np.uint64))
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


def _text_of_matlab73(file: hdf5.Hdf5, foreign: Foreign, path: str) -> str:
    dataset = file.checked(foreign, path)
    file.check_size(dataset, path)
    if _is_empty(file, dataset):
        return ""
    if dataset.dtype.kind != "u" or dataset.dtype.itemsize != 2 or dataset.size != max(dataset.shape, default=0):
        raise FormatError(f"{file.name}, {path}: expected one line of text, got {dataset.dtype} of {dataset.shape}.")
    return np.ravel(hdf5.cells_of(file, dataset, path)).astype("<u2").tobytes().decode("utf-16-le")
