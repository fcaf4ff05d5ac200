"""HDF5 files of the BOSARIS toolkit's layout. One file holds one table.

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
"""

from __future__ import annotations

from typing import IO

import numpy as np

from deciban.errors import FormatError
from deciban.io.contents import Contents, Written
from deciban.io.formats import Options
from deciban.io.matrices.from_tables import Fields, fields_of, item_to_write, matrix_of, written_of
from deciban.io.matrices.hdf5 import Hdf5, created, opened, places, present, write_field
from deciban.io.matrices.hdf5_arrays import (
    optional,
    read_flags,
    read_mask,
    read_matrix,
    read_names,
    read_word,
    read_words,
)
from deciban.io.matrices.named_matrix import Grid, measures_of
from deciban.io.source import Source
from deciban.trials import IdMap, Key, Origin, Trials

NAME = "bosaris-hdf5"

_GRID = places("/ID/row_ids", "/ID/column_ids")
_MATRICES = places("/scores", "/trial_mask", "/target_mask", "/nontarget_mask", "/modelQ", "/segQ")
_LISTS = places("/ids", "/values"), places("/left_ids", "/right_ids")
CONDITIONS = tuple(sorted(places(*(f"{at}/{side}_cond" for at in ("", "/ID") for side in ("model", "seg", "trial")))))
"""Where hyperion keeps what else it knows."""


def is_grid(there: frozenset[str]) -> bool:
    """Whether names and a matrix lie where BOSARIS keeps them."""
    return there >= _GRID and bool(there & _MATRICES)


def signs(source: Source) -> bool:
    """Whether the names lie where this format keeps them."""
    there = present(source)
    return (is_grid(there) and not there.intersection(CONDITIONS)) or any(there >= one for one in _LISTS)


def read(source: Source, options: Options) -> Contents:
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
