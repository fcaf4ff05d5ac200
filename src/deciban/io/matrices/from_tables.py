"""From tables to the matrices of models x segments that binary score files hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban.errors import FormatError
from deciban.io.contents import KIND_OF, Contents, Item, Written
from deciban.trials import IdMap, Index, Key, Quality, Scores, SegmentQuality, Trials, TrialTable
from deciban.trials.frames.columns import check_same_trials
from deciban.trials.names.codes import encode, positions
from deciban.types import AnyArray, BoolArray, FloatArray


def item_to_write(contents: Contents, format_name: str) -> Item:
    """The one table that goes into a file with room for one: the scores if there are any, else the key, and so on.

    Raises
    ------
    FormatError
        If there is more than one system, or scores that are common logarithms.
    InputError
        If the tables speak of different trials.
    """
    check_same_trials(*(table.trials for table in contents.tables))
    if contents.systems:
        scores = contents.scores
        if scores.log10:
            raise FormatError(
                f"{format_name} has no place to say that scores are common logarithms, and its readers take them for "
                "natural ones. Turn them into natural ones first, with Scores.in_nats(), or choose parquet."
            )
        return scores
    held = (contents.key, contents.quality, contents.segment_quality, contents.id_map, contents.index)
    # There is one, or the contents would have been refused (`deciban.io.contents.require`).
    return next(item for item in held if item is not None)


def written_of(item: Item) -> Written:
    """What is in a file of matrices after one table was written to it: the trials, row by row, and no conditions."""
    kind = KIND_OF[type(item)]
    if not isinstance(item, TrialTable):
        has_trials = isinstance(item, Quality) and item.trials is not None
        return Written(frozenset((kind, "index") if has_trials else (kind,)))
    trials = item.trials
    cells = None if trials.listed is None else trials.codes_in(trials)
    return Written(frozenset((kind, "index")), reordered=cells is not None and bool(np.any(cells[1:] < cells[:-1])))


def without_nul(names: pa.Array, format_name: str) -> pa.Array:
    """The same names, none of which holds a NUL character, which would end it.

    Raises
    ------
    FormatError
        If one does.
    """
    bad = pc.match_substring(names, "\0")
    if pc.any(bad).as_py():
        name = names.filter(bad)[0].as_py()
        raise FormatError(f"{format_name} cannot hold the name {name!r}: a NUL character ends a name. Rename it.")
    return names


def matrix_of(trials: Trials, values: AnyArray) -> tuple[Trials, AnyArray]:
    """Trials as a grid, and their values as its matrix, 0 where there is no trial; no copy of a full one in order.

    Raises
    ------
    InputError
        If a trial occurs twice, or is not a pair of names.
    """
    grid, cells = trials.as_grid()
    shape = shape_of(grid)
    if grid.mask is None and cells is None:
        return grid, values.reshape(shape)
    matrix = np.zeros(shape, values.dtype)
    if cells is None:
        matrix[grid.mask] = values
    else:
        matrix.reshape(-1)[cells] = values
    return grid, matrix


def shape_of(grid: Trials) -> tuple[int, int]:
    """Number of models and of segments."""
    return len(grid.names[0]), len(grid.names[1])


@dataclass(frozen=True, slots=True)
class Mask:
    """Which cells of a matrix are trials; None for all of them."""

    cells: BoolArray | None
    shape: tuple[int, ...]

    @classmethod
    def of(cls, grid: Trials) -> Mask:
        """Which cells of a grid are trials."""
        return cls(grid.mask, shape_of(grid))

    def full(self) -> BoolArray:
        """The same as a matrix in any case."""
        return np.ones(self.shape, np.bool_) if self.cells is None else self.cells


Fields: TypeAlias = "dict[str, pa.Array | AnyArray | Mask]"
"""Names, numbers and masks, by what the HDF5 files of BOSARIS call them."""


def fields_of(item: Item, format_name: str, of_key: Callable[[Key], tuple[Trials, Fields]]) -> Fields:
    """What the files of BOSARIS hold of a table.

    Parameters
    ----------
    item : table
    format_name : str
    of_key : function
        The trials of a key as a grid, and its matrices: there are two ways to store them.

    Raises
    ------
    FormatError
        If the sides of quality measures have different numbers of them.
    InputError
        If a trial occurs twice, or is not a pair of names.
    """
    if isinstance(item, IdMap):
        return {"left_ids": item.left, "right_ids": item.right}
    if isinstance(item, SegmentQuality):
        return {"ids": item.names, "values": item.values.T} | _measures("measures", item)
    if isinstance(item, Quality):
        return _fields_of_quality(item, format_name)
    if isinstance(item, Key):
        grid, fields = of_key(item)
    elif isinstance(item, Scores):
        grid, scores = matrix_of(item.trials, item.score)
        fields = {"scores": scores, "score_mask": Mask.of(grid)}
    else:
        assert isinstance(item, Index)  # noqa: S101  # the kinds that can be written are these
        grid, _ = item.trials.as_grid()
        fields = {"trial_mask": Mask.of(grid)}
    return {"row_ids": grid.names[0], "column_ids": grid.names[1]} | fields


def _fields_of_quality(quality: Quality, format_name: str) -> Fields:
    """Names of both sides, those of the trials first, then others that have measures; which have, and the trials."""
    grid = None if quality.trials is None else quality.trials.as_grid()[0]
    tables = (quality.enroll, quality.test)
    counts = {len(table.measures) for table in tables if table is not None}
    if len(counts) != 1:
        listed = " and ".join(map(str, sorted(counts))) or "no"
        raise FormatError(f"{format_name} holds as many measures of models as of segments, but there are {listed}.")
    fields: Fields = {}
    sides = (("row_ids", "modelQ", "has_row", "model_measures"), ("column_ids", "segQ", "has_column", "seg_measures"))
    shape: tuple[int, ...] = ()
    for i, (table, (ids, values, has, measures)) in enumerate(zip(tables, sides, strict=True)):
        found = _side(table, None if grid is None else grid.names[i], *counts)
        fields |= dict(zip((ids, values, has), found, strict=True)) | _measures(measures, table)
        shape += (len(found[0]),)
    if grid is not None:
        mask = Mask.of(grid)
        if mask.shape != shape:
            cells = np.zeros(shape, np.bool_)
            cells[: mask.shape[0], : mask.shape[1]] = mask.full()
            mask = Mask(cells, shape)
        fields["score_mask"] = mask
    return fields


def _measures(field: str, quality: SegmentQuality | None) -> Fields:
    """Names of measures, unless they are those that are given to measures without any."""
    if quality is None or quality.measures == tuple(f"q{i + 1}" for i in range(len(quality.measures))):
        return {}
    return {field: pa.array(quality.measures, pa.string())}


def _side(
    table: SegmentQuality | None, trial_names: pa.Array | None, n_measures: int
) -> tuple[pa.Array, FloatArray, BoolArray]:
    """Names of one side, their measures (n_measures, n_names), 0 where there are none, and which names have some."""
    known = pa.array([], pa.string()) if table is None else table.names
    first = known if trial_names is None else trial_names
    names = encode(pa.concat_arrays([first, known]))[1]
    values = np.zeros((n_measures, len(names)))
    at = positions(known, names)
    if table is not None:
        values[:, at] = table.values.T
    has = np.zeros(len(names), np.bool_)
    has[at] = True
    return names, values, has
