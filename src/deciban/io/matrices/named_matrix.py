"""Names and matrices of binary files: conversion from files to tables, and from tables to matrices."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from deciban._arrow import encode, pc, positions, to_numpy
from deciban.errors import FormatError, InputError, either
from deciban.io.formats import KIND_OF, ContentKind, Contents, InputOptions, Item, WrittenContents
from deciban.io.matrices.numpy_files import as_floats, refuse_nan
from deciban.trials import IdMap, Index, Key, Origin, Quality, Scores, SegmentQuality, Trials, TrialTable
from deciban.trials.frames import check_same_trials
from deciban.types import AnyArray, BoolArray, FloatArray


@dataclass(frozen=True, slots=True)
class Names:
    """Names in a file, and their place for messages."""

    values: pa.Array
    place: str


def full_mask(shape: tuple[int, ...]) -> BoolArray:
    """Return a mask of ones that uses no memory, whatever its shape."""
    return np.broadcast_to(np.True_, shape)


def is_full(mask: AnyArray) -> bool:
    """Return True for a mask made by `full_mask`."""
    return not any(mask.strides)


@dataclass(frozen=True, slots=True)
class Matrix:
    """Numbers in a file, and their place for messages."""

    values: AnyArray
    place: str

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the numbers."""
        return self.values.shape

    def transposed(self) -> Matrix:
        """Return the matrix with rows and columns swapped."""
        turned = self.values.T
        return replace(self, values=turned if is_full(turned) else np.ascontiguousarray(turned))

    def only(self, allowed: Sequence[int]) -> AnyArray:
        """Return the numbers; raise if one is not in ``allowed``."""
        return self.values if is_full(self.values) else only(self.values, allowed, self.place)

    def ticked(self) -> BoolArray | None:
        """Return the cells of a mask of 0 and 1 that are set; None for all cells."""
        values = self.values
        # The minimum and the maximum detect a full mask faster than a comparison of all cells.
        if is_full(values) or not values.size or values.min() == values.max() == 1:
            return None
        return np.asarray(self.only((0, 1)) == 1)


def only(values: AnyArray, allowed: Sequence[int], name: str, start: int = 0) -> AnyArray:
    """Return a block of a matrix, whose first row is ``start``; raise if a value is not in ``allowed``.

    Raises
    ------
    FormatError
        At the first other value.
    """
    known = np.logical_or.reduce([values == one for one in allowed])
    if not known.all():
        place = np.argwhere(~known)[0]
        raise FormatError(
            f"{name}: the mask contains {values[tuple(place)]} in {_cell(place, start)}, but only "
            f"{', '.join(map(str, allowed))} are valid."
        )
    return values


def _cell(place: AnyArray, start: int) -> str:
    row, *column = map(int, place)
    return f"row {start + row}" + (f", column {column[0]}" if column else "")


_CUT_LENGTH = 100
"""Length at which some tools cut names."""


_MOST_CELLS = 1 << 32
"""Largest number of trials of a full mask without stored cells."""


def contents_of_grid(
    names: tuple[pa.Array, pa.Array],
    held: BoolArray | None,
    origin: Origin,
    options: InputOptions,
    *,
    scores: AnyArray | None = None,
    is_target: BoolArray | None = None,
    notes: Sequence[str] = (),
) -> Contents:
    """Return the trials of a matrix with their scores or labels.

    Parameters
    ----------
    names : pair of pyarrow arrays
        Names of rows and of columns.
    held : (n_rows, n_columns) bool array or None
        True for cells that are trials; None for all cells.
    origin : Origin
    options : InputOptions
    scores, is_target : (n_rows, n_columns) array, optional
    notes : sequence of str

    Raises
    ------
    FormatError
        If no cell is a trial, too many trials are declared, or a name occurs twice.
    """
    n_cells = len(names[0]) * len(names[1])
    if not n_cells or (held is not None and not held.any()):
        raise FormatError(f"{origin.name}: contains no trials: no cell of the matrix is one.")
    if held is None and n_cells > _MOST_CELLS:
        raise FormatError(f"{origin.name}: declares {n_cells:,} trials without any value. Store the mask.")
    try:
        trials = Trials.of_grid(*names, held, origin=origin)
    except InputError as error:
        raise FormatError(f"{origin.name}: {error}") from error

    def items(cells: AnyArray) -> AnyArray:
        return np.ascontiguousarray(cells if trials.mask is None else cells[trials.mask]).ravel()

    key = None if is_target is None else Key(trials, items(is_target))
    systems = () if scores is None else (options.system(trials, items(scores), options.name or "system"),)
    return Contents(origin=origin, index=Index(trials), key=key, systems=systems, notes=tuple(notes))


_SIDES = (("row_ids", "modelQ", "has_row", "model_measures"), ("column_ids", "segQ", "has_column", "seg_measures"))
"""Fields of both sides of quality measures: names, measures, flags of names with measures, names of measures."""


@dataclass(slots=True)
class MatrixTable:
    """Rows and columns of a matrix file, for conversion to tables.

    Attributes
    ----------
    source : str
        Name of the file for messages.
    format : str
    models, segments : Names
    options : InputOptions
    notes : list of str
    """

    source: str
    format: str
    models: Names
    segments: Names
    options: InputOptions
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        for names in (self.models, self.segments):
            _refuse_copies(names)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of models and of segments."""
        return len(self.models.values), len(self.segments.values)

    def upright(self, *matrices: Matrix) -> tuple[Matrix, ...]:
        """Return the matrices as models x segments.

        Raises
        ------
        FormatError
            If they differ in shape, or match the names in neither direction.
        """
        first = matrices[0]
        for other in matrices[1:]:
            if other.shape != first.shape:
                raise FormatError(
                    f"{first.place} has shape {first.shape}, {other.place} has {other.shape}: the shapes must be "
                    "equal. Write the file again."
                )
        if first.shape == self.shape:
            return matrices
        if first.shape == self.shape[::-1]:
            self.notes.append(f"{first.place} is segments x models; it was transposed.")
            return tuple(matrix.transposed() for matrix in matrices)
        raise FormatError(
            f"{first.place} has shape {first.shape}, but there are {self.shape[0]:,} models ({self.models.place}) and "
            f"{self.shape[1]:,} segments ({self.segments.place}). Write the file again."
        )

    def contents(self, mask: BoolArray | None, kind: str, **values: Any) -> Contents:
        """Return the trials of a mask, with their scores or labels."""
        origin = Origin(self.source, f"{self.format} {kind}")
        names = self.models.values, self.segments.values
        return contents_of_grid(names, mask, origin, self.options, notes=self.notes, **values)

    def scores(self, matrix: Matrix, mask: Matrix | None) -> Contents:
        """Return the tables for a matrix of scores and the mask of its trials.

        Raises
        ------
        FormatError
            If the shapes do not match, or the score of a trial is NaN.
        """
        if mask is None:
            self.notes.append(f"{self.source}: there is no mask of trials, so each cell is a trial.")
        matrix, *rest = self.upright(*((matrix,) if mask is None else (matrix, mask)))
        chosen = rest[0].ticked() if rest else None
        values = as_floats(matrix.values, matrix.place)
        refuse_nan(values, matrix.place, chosen, (self.models.values, self.segments.values))
        return self.contents(chosen, "scores", scores=values)

    def key(self, tar: Matrix, non: Matrix) -> Contents:
        """Return the tables for masks of targets and of non-targets.

        Raises
        ------
        FormatError
            If the shapes do not match, or a cell is in both.
        """
        tar, non = self.upright(tar, non)
        targets, nontargets = tar.only((0, 1)) == 1, non.only((0, 1)) == 1
        both = targets & nontargets
        if both.any():
            row, column = np.unravel_index(int(np.argmax(both)), both.shape)
            raise FormatError(
                f"{tar.place} and {non.place}: {np.count_nonzero(both):,} trials are target and non-target at once, the"
                f" first in row {row}, column {column}."
            )
        return self.contents(targets | nontargets, "key", is_target=targets)

    def trial_mask(self, mask: Matrix, *, is_key: bool | None) -> Contents:
        """Return the tables for a mask of +1 (target), -1 (non-target) and 0 (no trial), or of 1 (trial) and 0.

        Parameters
        ----------
        mask : Matrix
        is_key : bool or None
            True if 1 means target; None: only if some cell is -1.

        Raises
        ------
        FormatError
            If there are other values, or the shape does not match.
        """
        (mask,) = self.upright(mask)
        if is_key or (is_key is None and not is_full(mask.values) and np.any(mask.values < 0)):
            values = mask.only((1, 0, -1))
            return self.contents(values != 0, "key", is_target=values == 1)
        if is_key is None and self.options.need == "key":
            self.notes.append(f"{mask.place}: no cell is -1, so this is a list of trials, not a key.")
        return self.contents(mask.ticked(), "index")


@dataclass(frozen=True, slots=True)
class FieldReader:
    """Reader of the fields of a file of matrices, by their names in HDF5 files of BOSARIS.

    Attributes
    ----------
    source : str
        Name of the file for messages.
    format : str
    has : function
        Returns True if a field exists.
    names, matrix : function
        Read a field.
    """

    source: str
    format: str
    has: Callable[[str], bool]
    names: Callable[[str], Names]
    matrix: Callable[[str], Matrix]

    def contents(self, kind: ContentKind, options: InputOptions, *, is_key: bool | None = None) -> Contents:
        """Read the table of one kind; ``is_key`` as in `MatrixTable.trial_mask`.

        Raises
        ------
        FormatError
            If a field is missing, or does not match the others.
        """
        if kind == "id-map":
            left, right = self.names("left_ids").values, self.names("right_ids").values
            id_map = IdMap.from_columns(left, right, source=self.source)
            return Contents(origin=Origin(self.source, f"{self.format} id map"), id_map=id_map)
        if kind == "segment-quality":
            table, notes = measures_of(self.names("ids"), self.matrix("values"), self._words("measures"), self.source)
            origin = Origin(self.source, f"{self.format} segment quality")
            return Contents(origin=origin, segment_quality=table, notes=notes)
        grid = MatrixTable(self.source, self.format, self.names("row_ids"), self.names("column_ids"), options)
        if kind == "scores":
            return grid.scores(self.matrix("scores"), self._optional("score_mask"))
        if kind == "key":
            return grid.key(self.matrix("tar"), self.matrix("non"))
        return grid.trial_mask(self.matrix("trial_mask"), is_key=is_key) if kind == "index" else self._quality(grid)

    def _quality(self, grid: MatrixTable) -> Contents:
        """Read quality measures (measures x models and measures x segments), of both sides or of one."""
        mask = self._optional("score_mask")
        index = None if mask is None else grid.contents(grid.upright(mask)[0].ticked(), "quality").index
        tables: list[SegmentQuality | None] = []
        for names, (_, values, has, called) in zip((grid.models, grid.segments), _SIDES, strict=True):
            matrix, known, table = self._optional(values), self._flags(has, len(names.values)), None
            if matrix is not None and (known is None or known.any()):
                table, turned = measures_of(names, matrix, self._words(called), self.source, known)
                grid.notes += turned
            tables.append(table)
        result = Quality(tables[0], tables[1], None if index is None else index.trials)
        return Contents(origin=Origin(self.source, f"{self.format} quality"), quality=result, notes=tuple(grid.notes))

    def _optional(self, field: str) -> Matrix | None:
        return self.matrix(field) if self.has(field) else None

    def _flags(self, field: str, n_flags: int) -> BoolArray | None:
        flags = self._optional(field)
        if flags is not None and math.prod(flags.shape) != n_flags:
            raise FormatError(f"{flags.place}: expected {n_flags:,} numbers 0 or 1, got an array of {flags.shape}.")
        return None if flags is None else np.ravel(flags.only((0, 1)) == 1)

    def _words(self, field: str) -> list[str] | None:
        return [*self.names(field).values.to_pylist()] if self.has(field) else None


def _refuse_copies(names: Names) -> None:
    distinct = pc.unique(names.values)
    if len(distinct) == len(names.values):
        return
    codes = to_numpy(names.values.dictionary_encode().indices)
    twice = distinct[int(np.argmax(np.bincount(codes) > 1))].as_py()
    why = f"Rows and columns need distinct names. Were the names cut off at {_CUT_LENGTH} characters?"
    if len(twice.encode()) == _CUT_LENGTH:
        why = f"It has {_CUT_LENGTH} characters, and some tools cut names off at this length"
    raise FormatError(
        f"{names.place}: {len(codes) - len(distinct):,} of {len(codes):,} names repeat another one, the first "
        f"{twice!r}. {why}. Write the file with longer or other names."
    )


def measures_of(
    names: Names, matrix: Matrix, called: Sequence[str] | None, source: str, mask: BoolArray | None = None
) -> tuple[SegmentQuality, tuple[str, ...]]:
    """Return a table of quality measures from a matrix of measures x names, and notes about it.

    Raises
    ------
    FormatError
        If names and matrix do not match.
    """
    notes: tuple[str, ...] = ()
    n_names = len(names.values)
    values = as_floats(matrix.values, matrix.place).astype(np.float64)
    if values.shape[1] != n_names and values.shape[0] == n_names:
        values, notes = values.T, (f"{matrix.place} is names x measures; it was transposed.",)
    if values.shape[1] != n_names:
        raise FormatError(
            f"{matrix.place} has shape {matrix.shape}, but there are {n_names:,} names ({names.place}). Write the file "
            "again."
        )
    items, rows = names.values, np.ascontiguousarray(values.T)
    if mask is not None and not mask.all():
        items, rows = items.filter(pa.array(mask)), rows[mask]
    return SegmentQuality.of(items, rows, measures=called, origin=Origin(source)), notes


def item_to_write(contents: Contents, format_name: str) -> Item:
    """Return the table to write to a file with one table: the scores if there are any, else the key, and so on.

    Raises
    ------
    FormatError
        If there is more than one system, or scores are common logarithms.
    InputError
        If the tables contain different trials.
    """
    check_same_trials(*(table.trials for table in contents.tables))
    if contents.systems:
        scores = contents.scores
        if scores.log10:
            raise FormatError(
                f"{format_name} cannot declare common logarithms, and its readers expect natural ones. "
                f"{either('Convert them first with Scores.in_nats(), or choose', 'Choose')} parquet."
            )
        return scores
    held = (contents.key, contents.quality, contents.segment_quality, contents.id_map, contents.index)
    # `deciban.io.formats.require` ensures that there is one.
    return next(item for item in held if item is not None)


def written_of(item: Item) -> WrittenContents:
    """Return what a file of matrices contains of one table: the trials, row by row, without conditions."""
    kind = KIND_OF[type(item)]
    if not isinstance(item, TrialTable):
        has_trials = isinstance(item, Quality) and item.trials is not None
        return WrittenContents(frozenset((kind, "index") if has_trials else (kind,)))
    trials = item.trials
    cells = None if trials.listed is None else trials.codes_in(trials)
    reordered = cells is not None and bool(np.any(cells[1:] < cells[:-1]))
    return WrittenContents(frozenset((kind, "index")), reordered=reordered)


def without_nul(names: pa.Array, format_name: str) -> pa.Array:
    """Return the names; raise if one contains a NUL character.

    Raises
    ------
    FormatError
    """
    bad = pc.match_substring(names, "\0")
    if pc.any(bad).as_py():
        name = names.filter(bad)[0].as_py()
        raise FormatError(f"{format_name} cannot contain the name {name!r}: a NUL character ends a name. Rename it.")
    return names


def matrix_of(trials: Trials, values: AnyArray) -> tuple[Trials, AnyArray]:
    """Return trials as a grid, and values as its matrix, 0 for no trial; full matrices in order are not copied.

    Raises
    ------
    InputError
        If a trial occurs twice, or is not a pair of names.
    """
    grid, cells = trials.as_grid()
    shape = mask_of(grid).shape
    if grid.mask is None and cells is None:
        return grid, values.reshape(shape)
    matrix = np.zeros(shape, values.dtype)
    if cells is None:
        matrix[grid.mask] = values
    else:
        matrix.reshape(-1)[cells] = values
    return grid, matrix


def mask_of(grid: Trials) -> BoolArray:
    """Return the mask of the cells of a grid that are trials."""
    return full_mask(tuple(map(len, grid.names))) if grid.mask is None else grid.mask


Fields: TypeAlias = "dict[str, pa.Array | AnyArray]"
"""Names, numbers and masks, with their names in HDF5 files of BOSARIS."""


def fields_of(item: Item, format_name: str, of_key: Callable[[Key], tuple[Trials, Fields]]) -> Fields:
    """Return the fields of BOSARIS files for a table.

    Parameters
    ----------
    item : table
    format_name : str
    of_key : function
        Returns the trials of a key as a grid, and its matrices: there are two ways to store them.

    Raises
    ------
    FormatError
        If the two sides have different numbers of quality measures.
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
        fields = {"scores": scores, "score_mask": mask_of(grid)}
    else:
        grid, _ = item.trials.as_grid()  # an index
        fields = {"trial_mask": mask_of(grid)}
    return {"row_ids": grid.names[0], "column_ids": grid.names[1]} | fields


def _fields_of_quality(quality: Quality, format_name: str) -> Fields:
    """Return names of both sides (trials first), measures, flags of names with measures, and the mask of trials."""
    grid = None if quality.trials is None else quality.trials.as_grid()[0]
    tables = (quality.enroll, quality.test)
    counts = {len(table.measures) for table in tables if table is not None}
    if len(counts) != 1:
        items = " and ".join(map(str, sorted(counts))) or "no"
        raise FormatError(f"{format_name} needs equal numbers of measures of models and segments, there are {items}.")
    fields: Fields = {}
    shape: tuple[int, ...] = ()
    for i, (table, (ids, values, has, measures)) in enumerate(zip(tables, _SIDES, strict=True)):
        result = _side(table, None if grid is None else grid.names[i], *counts)
        fields |= dict(zip((ids, values, has), result, strict=True)) | _measures(measures, table)
        shape += (len(result[0]),)
    if grid is not None:
        mask = mask_of(grid)
        if mask.shape != shape:
            mask = np.pad(mask, [(0, all_ - own) for own, all_ in zip(mask.shape, shape, strict=True)])
        fields["score_mask"] = mask
    return fields


def _measures(field: str, quality: SegmentQuality | None) -> Fields:
    """Return the names of measures, unless they are the default names."""
    if quality is None or quality.measures == tuple(f"q{i + 1}" for i in range(len(quality.measures))):
        return {}
    return {field: pa.array(quality.measures, pa.string())}


def _side(
    table: SegmentQuality | None, trial_names: pa.Array | None, n_measures: int
) -> tuple[pa.Array, FloatArray, BoolArray]:
    """Return names of one side, their measures (n_measures, n_names) or 0, and flags of names with measures."""
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
