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

from dataclasses import replace
from typing import IO, Any

import numpy as np
import pyarrow as pa

from deciban.errors import FormatError
from deciban.io.contents import Contents, Written
from deciban.io.formats import Options
from deciban.io.matrices.hdf5 import (
    Hdf5,
    cells_of,
    created,
    opened,
    optional,
    places,
    present,
    read_array,
    read_flags,
    read_mask,
    read_matrix,
    read_names,
    read_word,
    read_words,
    scores_or_mask,
    write_field,
)
from deciban.io.matrices.named_matrix import Fields, Grid, fields_of, item_to_write, matrix_of, measures_of, written_of
from deciban.io.matrices.numpy_files import as_scores
from deciban.io.source import Source
from deciban.trials import IdMap, Index, Key, Origin, Trials

NAME = "bosaris-hdf5"

_GRID = places("/ID/row_ids", "/ID/column_ids")
_MATRICES = places("/scores", "/trial_mask", "/target_mask", "/nontarget_mask", "/modelQ", "/segQ")
_LISTS = places("/ids", "/values"), places("/left_ids", "/right_ids")
CONDITIONS = tuple(sorted(places(*(f"{at}/{side}_cond" for at in ("", "/ID") for side in ("model", "seg", "trial")))))
"""Where hyperion keeps what else it knows."""


def is_grid(there: frozenset[str]) -> bool:
    """Whether names and a matrix lie where BOSARIS keeps them."""
    return there >= _GRID and bool(there & _MATRICES)


def is_bosaris(source: Source) -> bool:
    """Whether the names lie where this format keeps them."""
    there = present(source)
    return (is_grid(there) and not there.intersection(CONDITIONS)) or any(there >= one for one in _LISTS)


def read_bosaris(source: Source, options: Options) -> Contents:
    """Read a file of this format."""
    with opened(source) as file:
        if file.has("/ids") and not file.has("/ID/row_ids"):
            return _read_segment_quality(file)
        if file.has("/left_ids") and not file.has("/ID/row_ids"):
            left, right = read_names(file, "/left_ids"), read_names(file, "/right_ids")
            id_map = IdMap.from_columns(left.values, right.values, source=file.name)
            return Contents(origin=Origin(file.name, f"{NAME} id map"), id_map=id_map)
        return read_grid(file, options, NAME)


def read_grid(file: Hdf5, options: Options, name: str) -> Contents:
    """Read a file of models x segments.

    Raises
    ------
    FormatError
        If it holds none, or more than one.
    """
    models, segments = read_names(file, "/ID/row_ids"), read_names(file, "/ID/column_ids")
    grid = Grid(file.name, name, models, segments, options)
    if file.has("/scores") + file.has("/trial_mask") + (file.has("/target_mask") or file.has("/nontarget_mask")) > 1:
        raise FormatError(
            f"{file.name}: holds scores and masks of a key or an index at once, but a file of this layout holds one "
            "table. Write them to files of their own."
        )
    if file.has("/scores"):
        return grid.scores(read_matrix(file, "/scores"), optional(read_mask, file, "/score_mask"))
    if file.has("/modelQ") or file.has("/segQ"):
        return _read_quality(file, grid)
    if file.has("/trial_mask"):
        is_key = _says_key(file)
        return grid.trial_mask((read_matrix if is_key else read_mask)(file, "/trial_mask"), is_key=is_key)
    return grid.key(read_matrix(file, "/target_mask"), read_matrix(file, "/nontarget_mask"))


def _says_key(file: Hdf5) -> bool | None:
    """Keys have a version, index files have none; a file without one may still come from a tool that forgot it."""
    if not file.has("/file_format"):
        return None
    version = read_word(file, "/file_format")
    if version != "2.0":
        raise FormatError(f"{file.name}, /file_format: version {version[:20]!r} of key files is not known, only 2.0.")
    return True


def _read_segment_quality(file: Hdf5) -> Contents:
    table, notes = measures_of(
        read_names(file, "/ids"), read_matrix(file, "/values"), optional(read_words, file, "/measures"), file.name
    )
    return Contents(origin=Origin(file.name, f"{NAME} segment quality"), segment_quality=table, notes=notes)


def _read_quality(file: Hdf5, grid: Grid) -> Contents:
    n_models, n_segments = grid.shape
    return grid.quality(
        (optional(read_matrix, file, "/modelQ"), optional(read_matrix, file, "/segQ")),
        (optional(read_flags, file, "/ID/has_row", n_models), optional(read_flags, file, "/ID/has_column", n_segments)),
        (optional(read_words, file, "/model_measures"), optional(read_words, file, "/seg_measures")),
        optional(read_mask, file, "/score_mask"),
    )


def write(contents: Contents, stream: IO[bytes]) -> Written:
    """Write a file of this format."""
    item = item_to_write(contents, NAME)
    with created(stream) as file:
        for field, value in fields_of(item, NAME, _of_key).items():
            write_field(file, f"ID/{field}" if field in _IN_ID else field, value)
    return written_of(item)


_IN_ID = {"row_ids", "column_ids", "has_row", "has_column"}


def _of_key(key: Key) -> tuple[Trials, Fields]:
    grid, matrix = matrix_of(key.trials, np.where(key.is_target, np.int8(1), np.int8(-1)))
    return grid, {"trial_mask": matrix, "file_format": np.array(b"2.0")}


HYPERION = "hyperion"


def is_hyperion(source: Source) -> bool:
    """Whether the names lie where this format keeps them."""
    there = present(source)
    return is_grid(there) and bool(there.intersection(CONDITIONS))


def read_hyperion(source: Source, options: Options) -> Contents:
    """Read a file of this format."""
    with opened(source) as file:
        contents = read_grid(file, options, HYPERION)
        if contents.index is None:
            return contents
        trials = contents.index.trials
        found: dict[str, pa.Array] = {}
        notes = []
        for path in CONDITIONS:
            if file.has(path):
                column = _condition(file, path, trials)
                if column is None:
                    notes.append(f"{file.name}, {path}: not one value per model, segment or trial; it was left out.")
                else:
                    found[path.rpartition("/")[2]] = column
    trials = replace(trials, conditions=found)
    key = None if contents.key is None else replace(contents.key, trials=trials)
    systems = tuple(replace(one, trials=trials) for one in contents.systems)
    return replace(contents, index=Index(trials), key=key, systems=systems, notes=(*contents.notes, *notes))


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


_SIDEKIT = places("/modelset", "/segset")
_TEST, _ENROLL = places("/test_ids"), places("/enroll_ids", "/train_ids")
_PYBOSARIS = places("/model_names", "/test_names")


def is_sidekit(source: Source) -> bool:
    """Whether the names lie where sidekit keeps them."""
    return present(source) >= _SIDEKIT


def read_sidekit(source: Source, options: Options) -> Contents:
    """Read an index, a key or scores of sidekit."""
    with opened(source) as file:
        models, segments = read_names(file, "/modelset"), read_names(file, "/segset")
        return scores_or_mask(file, Grid(file.name, "sidekit", models, segments, options))


def is_dca_plda(source: Source) -> bool:
    """Whether the names lie where DCA-PLDA keeps them."""
    there = present(source)
    return there >= _TEST and bool(there & _ENROLL)


def read_dca_plda(source: Source, options: Options) -> Contents:
    """Read an index, a key or scores of DCA-PLDA."""
    with opened(source) as file:
        if file.has("/enroll_ids") and file.has("/train_ids"):
            raise FormatError(
                f"{file.name}: holds enroll_ids and train_ids, old and new names of the same. Delete one."
            )
        models = read_names(file, "/train_ids" if file.has("/train_ids") else "/enroll_ids")
        return scores_or_mask(file, Grid(file.name, "dca-plda", models, read_names(file, "/test_ids"), options))


def is_pybosaris(source: Source) -> bool:
    """Whether the names lie where PyBOSARIS keeps them."""
    return present(source) >= _PYBOSARIS


def read_pybosaris(source: Source, options: Options) -> Contents:
    """Read a key or scores of PyBOSARIS."""
    with opened(source) as file:
        models, segments = read_names(file, "/model_names"), read_names(file, "/test_names")
        grid = Grid(file.name, "pybosaris", models, segments, options)
        is_key = file.has("/tar_mask") or file.has("/non_mask")
        if file.has("/score_mat") and is_key:
            raise FormatError(f"{file.name}: holds scores and masks of a key at once; expected one of them.")
        if is_key:
            return grid.key(read_matrix(file, "/tar_mask"), read_matrix(file, "/non_mask"))
        return grid.scores(read_matrix(file, "/score_mat"), optional(read_mask, file, "/score_mask"))


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
