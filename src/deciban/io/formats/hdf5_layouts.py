"""HDF5 files of BOSARIS, hyperion, sidekit, DCA-PLDA, PyBOSARIS and Bob.

BOSARIS. One file holds one table.

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

Names are strings of fixed or variable length, ASCII or UTF-8; ours are UTF-8, as long as the longest (of variable
length where a few long ones among many would fill the disk). Our matrices are contiguous and not compressed; a full
mask of ours has no cells but a fill value of 1: every HDF5 reader sees ones. Names of quality measures are a list of
ours, ``/measures`` (or ``/model_measures`` and ``/seg_measures``), that is left out for q1, q2, ... Condition columns,
and an order of trials that is not row by row, have no place here.

A file is recognized by ``/ID/row_ids`` and ``/ID/column_ids`` together with one of the matrices, by ``/ids`` and
``/values``, or by ``/left_ids`` and ``/right_ids``; hyperion's files are told apart by their conditions.

Hyperion: the layout of BOSARIS with conditions. Read only.

``/ID/row_ids``, ``/ID/column_ids`` and ``/scores`` with ``/score_mask``, or ``/trial_mask``, as above; and
any of ``model_cond`` (one value per model), ``seg_cond`` (one per segment) and ``trial_cond`` (models x segments), at
the root or in ``/ID``. A list of strings or whole numbers becomes a condition column of the trials under that name;
conditions of any other shape or type are left out, which a note says.

A file is recognized by the names and a matrix of BOSARIS together with one of the conditions.

Sidekit, DCA-PLDA and PyBOSARIS: names and matrices at the root. Read only.

=========  ===========================================================================================================
sidekit    ``modelset`` (m names) and ``segset`` (n names), bytes of fixed length; then either ``scores`` (m x n) with
           ``score_mask`` (int8, 0/1), or ``trial_mask`` (int8): of a key +1 target, -1 non-target and 0 no trial, of
           an index 1 and 0. A mask with a -1 is a key, one without is an index. Datasets are usually packed with gzip
           and have fletcher32 sums
dca-plda   ``enroll_ids`` (in old files ``train_ids``) with m names, ``test_ids`` with n names, and ``trial_mask`` as
           above. A file with ``scores`` (m x n, and an optional ``score_mask``) instead is read as scores; that layout
           is unverified
pybosaris  ``model_names`` (m) and ``test_names`` (n), then either ``score_mat`` (m x n; all cells are trials unless a
           ``score_mask`` of 0/1 says otherwise), or ``tar_mask`` and ``non_mask`` (m x n, 0/1)
=========  ===========================================================================================================

A file is recognized by its two lists of names.

Bob: arrays of scores, one dataset ``/array``, as its function ``save`` writes every array.

The intermediate scores of score normalization are such files: the scores of one model, (n,), (1, n) or (n, 1). Trials
have no names there and are known by their rows. The name of the dataset is from memory, so that the format is never
guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import IO, Any
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa

from deciban.errors import FormatError
from deciban.io.contents import ContentKind, Contents, Written
from deciban.io.formats import Options
from deciban.io.matrices.hdf5 import (
    Hdf5,
    cells_of,
    created,
    opened,
    read_array,
    read_mask,
    read_matrix,
    read_names,
    write_field,
)
from deciban.io.matrices.named_matrix import (
    FieldReader,
    Fields,
    Matrix,
    fields_of,
    item_to_write,
    matrix_of,
    written_of,
)
from deciban.io.matrices.numpy_files import as_scores
from deciban.io.source import Source
from deciban.trials import Index, Key, Origin, Trials

NAME, HYPERION = "bosaris-hdf5", "hyperion"

_GRID = ("/ID/row_ids", "/ID/column_ids")
_MATRICES = ("/scores", "/trial_mask", "/target_mask", "/nontarget_mask", "/modelQ", "/segQ")
_SIGNS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    NAME: (*((*_GRID, matrix) for matrix in _MATRICES), ("/ids", "/values"), ("/left_ids", "/right_ids")),
    "sidekit": (("/modelset", "/segset"),),
    "dca-plda": (("/test_ids", "/enroll_ids"), ("/test_ids", "/train_ids")),
    "pybosaris": (("/model_names", "/test_names"),),
}
"""Datasets by which a file of each layout is recognized: all of one of these tuples."""

CONDITIONS = tuple(sorted(f"{at}/{side}_cond" for at in ("", "/ID") for side in ("model", "seg", "trial")))
"""Where hyperion keeps what else it knows."""

_PLACES = frozenset((*CONDITIONS, *(path for signs in _SIGNS.values() for sign in signs for path in sign)))
_PRESENT: WeakKeyDictionary[Source, frozenset[str]] = WeakKeyDictionary()


def _is_in(layout: str, source: Source) -> bool:
    """Return True if an HDF5 file has the datasets of a layout; one look at a file serves all layouts."""
    if source.kind != "HDF5":
        return False
    if source not in _PRESENT:
        with opened(source) as file:
            _PRESENT[source] = frozenset(filter(file.has, _PLACES))
    return any(_PRESENT[source].issuperset(sign) for sign in _SIGNS[layout])


def is_hyperion(source: Source) -> bool:
    """Whether this is a file of BOSARIS with conditions."""
    return is_in_bosaris(source) and _PRESENT[source].issuperset(_GRID) and not _PRESENT[source].isdisjoint(CONDITIONS)


def is_bosaris(source: Source) -> bool:
    """Whether this is a file of BOSARIS without conditions."""
    return is_in_bosaris(source) and not is_hyperion(source)


is_in_bosaris, is_sidekit, is_dca_plda, is_pybosaris = (partial(_is_in, layout) for layout in _SIGNS)


def _read(file: Hdf5, options: Options, name: str, paths: Mapping[str, str], otherwise: ContentKind) -> Contents:
    """Read the table of a file; ``otherwise`` is the kind that a file without any lacks."""

    def at(field: str) -> str:
        return paths.get(field, f"/{field}")

    def matrix(field: str) -> Matrix:
        if field in ("has_row", "has_column"):
            return Matrix(np.atleast_2d(read_array(file, at(field))), f"{file.name}, {at(field)}")
        is_mask = field == "score_mask" or (field == "trial_mask" and not is_key)
        return (read_mask if is_mask else read_matrix)(file, at(field))

    reader = FieldReader(
        file.name, name, lambda field: file.has(at(field)), lambda field: read_names(file, at(field)), matrix
    )
    held = [kind for kind, fields in _HELD.items() if any(map(reader.has, fields))]
    if len(held) > 1:
        raise FormatError(
            f"{file.name}: holds scores and masks of a key or an index at once, but a file of this layout holds one "
            "table. Write them to files of their own."
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


def _says_key(file: Hdf5) -> bool | None:
    """Keys have a version, index files have none; a file without one may still come from a tool that forgot it."""
    if not file.has("/file_format"):
        return None
    version = " ".join(read_names(file, "/file_format").values.to_pylist())
    if version != "2.0":
        raise FormatError(f"{file.name}, /file_format: version {version[:20]!r} of key files is not known, only 2.0.")
    return True


_BOSARIS = {field: f"/ID/{field}" for field in ("row_ids", "column_ids", "has_row", "has_column")} | {
    "tar": "/target_mask",
    "non": "/nontarget_mask",
}
"""Where fields lie that do not lie at the root under their own names."""


def read_bosaris(source: Source, options: Options) -> Contents:
    """Read a file of BOSARIS."""
    with opened(source) as file:
        return _read(file, options, NAME, _BOSARIS, "key")


def read_sidekit(source: Source, options: Options) -> Contents:
    """Read an index, a key or scores of sidekit."""
    with opened(source) as file:
        return _read(file, options, "sidekit", {"row_ids": "/modelset", "column_ids": "/segset"}, "index")


def read_dca_plda(source: Source, options: Options) -> Contents:
    """Read an index, a key or scores of DCA-PLDA."""
    with opened(source) as file:
        if file.has("/enroll_ids") and file.has("/train_ids"):
            raise FormatError(
                f"{file.name}: holds enroll_ids and train_ids, old and new names of the same. Delete one."
            )
        paths = {"row_ids": "/train_ids" if file.has("/train_ids") else "/enroll_ids", "column_ids": "/test_ids"}
        return _read(file, options, "dca-plda", paths, "index")


def read_pybosaris(source: Source, options: Options) -> Contents:
    """Read a key or scores of PyBOSARIS."""
    paths = {"row_ids": "/model_names", "column_ids": "/test_names", "scores": "/score_mat"}
    with opened(source) as file:
        return _read(file, options, "pybosaris", paths | {"tar": "/tar_mask", "non": "/non_mask"}, "scores")


def write(contents: Contents, stream: IO[bytes]) -> Written:
    """Write a file of BOSARIS."""
    item = item_to_write(contents, NAME)
    with created(stream) as file:
        for field, value in fields_of(item, NAME, _of_key).items():
            write_field(file, _BOSARIS.get(field, field), value)
    return written_of(item)


def _of_key(key: Key) -> tuple[Trials, Fields]:
    grid, matrix = matrix_of(key.trials, np.where(key.is_target, np.int8(1), np.int8(-1)))
    return grid, {"trial_mask": matrix, "file_format": np.array(b"2.0")}


def read_hyperion(source: Source, options: Options) -> Contents:
    """Read a file of BOSARIS with conditions."""
    with opened(source) as file:
        contents = _read(file, options, HYPERION, _BOSARIS, "key")
        if contents.index is None:
            return contents
        trials, notes = contents.index.trials, list[str]()
        found: dict[str, pa.Array] = {}
        for path in filter(file.has, CONDITIONS):
            column = _condition(file, path, trials)
            if column is None:
                notes.append(f"{file.name}, {path}: not one value per model, segment or trial; it was left out.")
            else:
                found[path.rpartition("/")[2]] = column
    found_too = contents.with_trials(lambda trials: replace(trials, conditions=found))
    return replace(found_too, notes=(*contents.notes, *notes))


def _condition(file: Hdf5, path: str, trials: Trials) -> pa.Array | None:
    """The values of a condition, one per trial; None if they are no list of strings or whole numbers."""
    import h5py

    dataset, where = file.dataset(path), f"{file.name}, {path}"
    shape = tuple(len(names) for names in trials.names)
    text = h5py.check_string_dtype(dataset.dtype) is not None
    if path.endswith("trial_cond"):
        if text or dataset.dtype.kind not in "biu" or dataset.shape != shape:
            return None
        cells = cells_of(file, dataset, where)
        return pa.array(cells.ravel() if trials.mask is None else cells[trials.mask])
    side = 0 if path.endswith("model_cond") else 1
    if dataset.shape != (shape[side],) or not (text or dataset.dtype.kind in "biu"):
        return None
    values: Any = read_names(file, path).values if text else pa.array(cells_of(file, dataset, where))
    return values.take(pa.array(trials.codes[side]))


def read_bob(source: Source, options: Options) -> Contents:
    """Read a file of this format."""
    if options.columns is not None:
        raise FormatError(f"{source.name}: a vector has one column, the score. Leave out --columns.")
    with opened(source) as file:
        values = read_array(file, "/array")
    if values.size == 0 or max(values.shape) != values.size:
        raise FormatError(
            f"{source.name}, /array: expected a vector with a score per trial, got shape {values.shape}. Of a matrix "
            "nothing says what its rows are: save it as .npz with enroll_names and test_names, or as .npy."
        )
    origin = Origin(source.name, f"bob-hdf5, {values.dtype} of shape {values.shape}")
    trials = Trials.of_rows(values.size, origin=origin)
    score = np.ascontiguousarray(as_scores(values.ravel(), source.name))
    system = options.system(trials, score, options.name or "system")
    return Contents(origin=origin, index=Index(trials), systems=(system,))
