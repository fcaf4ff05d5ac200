"""Matrices of trials in blocks of rows; the truth is a mask, or follows from the speakers of rows and columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from deciban._arrow import of_numpy
from deciban.errors import FormatError, InputError, KeyMismatchError, Message, names_apart, not_none, option
from deciban.io.columns.values import Rows, RowTable
from deciban.io.formats import bare_name
from deciban.io.matrices.named_matrix import only
from deciban.io.matrices.numpy_files import as_labels, as_scores, refuse_nan
from deciban.io.partitions.layout import RowLayout, SpeakersAgree, Truth, TruthColumn, source_of_rows
from deciban.io.partitions.meaning import BatchReading
from deciban.io.partitions.units import EachTrial, SpeakerLookup
from deciban.memory import Cost, memory_error, rows_that_fit
from deciban.trials.lists import PAIR
from deciban.trials.sources import TrialSource
from deciban.types import AnyArray, BoolArray, Foreign, PathLike

CELLS = 1 << 20
"""Approximate largest number of cells of a block."""


RowReader: TypeAlias = Callable[[int, int, str], AnyArray]
"""Reads the rows of a matrix from one number to another; the last argument is their name for messages. Can be pickled.

It raises a FormatError or OSError if they cannot be read, or have changed.
"""


def rows_of_array(array: Foreign, start: int, stop: int, name: str) -> AnyArray:
    """Return rows of an array of another library, or of one in memory; see `RowReader`."""
    result = array[start:stop]
    try:
        if hasattr(result, "compute"):
            result = result.compute(scheduler="synchronous")
        return np.asarray(result)
    except Exception as error:
        raise FormatError(f"{name}: cannot be read ({type(error).__name__}: {error}).") from error


@dataclass(frozen=True, eq=False)
class MatrixInput:
    """A matrix of numbers, or a vector with one number per trial, in a file or an object.

    Attributes
    ----------
    name : str
    rows : RowReader
    shape : tuple of int
    kind : dtype
    names : pair of pyarrow arrays, optional
        Names of rows and columns, if the file contains them.
    mask : MatrixInput, optional
        1 for cells that are trials, else 0; by default all cells are trials.
    is_mask : bool, optional
        True for a mask, False for scores, None if unknown.
    rows_per_chunk : int, optional
        Number of rows that are stored together.
    path : path, optional
    reading : str
        The format, for messages.
    """

    name: str
    rows: RowReader
    shape: tuple[int, ...]
    kind: np.dtype[np.generic]
    names: tuple[pa.Array, pa.Array] | None = None
    mask: MatrixInput | None = None
    is_mask: bool | None = None
    rows_per_chunk: int | None = None
    path: PathLike | None = None
    reading: str = "array"

    @property
    def system(self) -> str:
        """Name of the system."""
        return "system" if self.path is None else bare_name(str(self.path))


def mask_of(matrix: MatrixInput, start: int, stop: int, name: str) -> BoolArray | None:
    """Return a mask of the cells of some rows that are trials; None without a mask.

    Raises
    ------
    FormatError
        If the mask contains values other than 0 and 1.
    """
    if matrix.mask is None:
        return None
    return np.asarray(only(matrix.mask.rows(start, stop, name), (0, 1), matrix.mask.name, start) == 1)


def blocks_of(matrix: MatrixInput, memory: int | None = None) -> list[tuple[str, int, int]]:
    """Return name, begin and end of blocks of rows; rows that are stored together are not separated."""
    n_cells = rows_that_fit(memory, Cost.MATRIX_CELL, most=CELLS)
    n_rows, n_columns = matrix.shape[0], matrix.shape[1] if len(matrix.shape) == 2 else 1
    step = max(1, n_cells // max(n_columns, 1))
    if matrix.rows_per_chunk:
        step = max(step // matrix.rows_per_chunk, 1) * matrix.rows_per_chunk
    stops = [(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]
    return [(f"{matrix.name}, rows {start:,} to {stop - 1:,}", start, stop) for start, stop in stops]


@dataclass(frozen=True, slots=True)
class MatrixRows(Rows):
    """The trials of some rows of matrices, as rows of a table.

    The columns are ``enroll`` and ``test`` (names of row and column, if there are names), ``place`` (the number of the
    cell), ``score`` and so on (`score_column`; for multiclass scores a list per row), and ``label`` (the truth).

    Attributes
    ----------
    name : str
    n_rows : int
        Number of cells; cells that are not trials are dropped.
    systems : tuple of MatrixInput
        Scores of the same trials; empty if there is only a mask.
    key : MatrixInput, optional
        The mask, or for multiclass scores the number of the class of each row.
    start, stop : int
    n_classes : int
        For multiclass scores, whose rows are trials; 0 for two classes.
    """

    name: str
    n_rows: int
    systems: tuple[MatrixInput, ...]
    key: MatrixInput | None
    start: int
    stop: int
    n_classes: int = 0

    def table(self, columns: Sequence[str]) -> pa.Table:
        """See `Rows.table`."""
        chosen = self._chosen()
        return pa.table({name: self._column(name, chosen) for name in columns})

    def where(self, row: int | None, columns: Sequence[str] = ()) -> str:
        """See `Rows.where`: the row and column of the matrix."""
        if row is None:
            return Rows.where(self, None, columns)
        at, place = (int(self._places(side, self._chosen())[row]) for side in (0, 1))
        return f"{self._first.name}, row {at}" + (f", column {place}" if self._width > 1 else "")

    def _column(self, name: str, mask: BoolArray | None) -> pa.Array:
        if name in PAIR:
            side, names = PAIR.index(name), not_none(self._first.names, "names")
            return pa.DictionaryArray.from_arrays(of_numpy(self._places(side, mask).astype(np.int32)), names[side])
        if name == PLACE:
            return of_numpy(self._places(0, mask) * self._width + self._places(1, mask))
        if name == "label":
            return of_numpy(self._truth(mask))
        at = next(at for at in range(len(self.systems)) if score_column(at) == name)
        scores = of_numpy(np.ascontiguousarray(self._scores(self.systems[at], mask)))
        return pa.FixedSizeListArray.from_arrays(scores, self.n_classes) if self.n_classes else scores

    @property
    def _first(self) -> MatrixInput:
        return self.systems[0] if self.systems else self.key  # type: ignore[return-value]

    @property
    def _width(self) -> int:
        """Number of trials of a row."""
        return 1 if self.n_classes else max(self._first.shape[1:], default=1)

    def _places(self, side: int, mask: BoolArray | None) -> AnyArray:
        """Return the row, or the column, of each trial."""
        n_rows = self.stop - self.start
        result = (
            np.tile(np.arange(self._width), n_rows) if side else np.arange(self.start, self.stop).repeat(self._width)
        )
        return result if mask is None else result[mask.ravel()]

    def _rows(self, matrix: MatrixInput) -> AnyArray:
        values = matrix.rows(self.start, self.stop, self.name)
        if len(values) != self.stop - self.start:
            raise FormatError(
                f"{self.name}: has {len(values)} rows, not {self.stop - self.start}. Copy the file again."
            )
        return values

    def _chosen(self) -> BoolArray | None:
        """Return a mask of the cells that are trials; None for all cells."""
        if self.n_classes:
            return None
        mask: BoolArray | None = None
        for at, one in enumerate(self.systems):
            own = mask_of(one, self.start, self.stop, self.name)
            if own is not None:
                if at and (mask is None or not np.array_equal(own, mask)):
                    raise KeyMismatchError(f"{self.name}: the masks of {self.systems[0].name} and {one.name} differ.")
                mask = own
        if self.key is not None and (self.key.kind != np.bool_ or not self.systems):
            labelled = only(self._rows(self.key), (1, 0, -1), self.key.name, self.start) != 0
            if mask is not None and (labelled & ~mask).any():
                row, column = (int(at) for at in np.argwhere(labelled & ~mask)[0])
                raise KeyMismatchError(
                    f"{self.name}: row {self.start + row}, column {column} is a trial in {self.key.name}, but has no "
                    f"score in {self.systems[0].name}. Clear it in the key, or complete the scores."
                )
            mask = labelled
        return None if mask is None or mask.all() else mask

    def _scores(self, matrix: MatrixInput, mask: BoolArray | None) -> AnyArray:
        values = self._rows(matrix)
        refuse_nan(values, matrix.name, mask, matrix.names, self.start)
        values = values if mask is None else values[mask]
        return as_scores(values.ravel(), f"{matrix.name}, {self.name}")

    def _truth(self, mask: BoolArray | None) -> AnyArray:
        key = not_none(self.key, "key")
        values = self._rows(key)
        if self.n_classes:
            return as_labels(values, key.name, self.n_classes, self.start)
        truth = np.asarray(values == 1)
        return truth.ravel() if mask is None else truth[mask]


def score_column(system: int) -> str:
    """Return the name of the column of a system in `MatrixRows`."""
    return f"score{system or ''}"


def table_of_matrix(matrix: MatrixInput, *, also_nameless: bool = False) -> RowTable:
    """Return a matrix as a table of its trials.

    Parameters
    ----------
    matrix : MatrixInput
    also_nameless : bool
        If True, a vector with one number per trial, without names, is accepted.

    Raises
    ------
    InputError
        If its rows and columns have no names.
    """
    is_nameless = also_nameless and len(matrix.shape) == 1
    if (matrix.names is None or len(matrix.shape) != 2) and not is_nameless:
        raise InputError(
            f"{matrix.name}: rows and columns have no names, so its trials cannot be matched with a table. Use a "
            f"matrix of the same shape as key, or name the speakers ({option(speakers=...)})."
        )
    value = pa.field("label", pa.bool_()) if matrix.is_mask else pa.field("score", pa.from_numpy_dtype(matrix.kind))
    sides = [] if is_nameless else [pa.field(side, pa.string()) for side in PAIR]
    systems, key = ((), matrix) if matrix.is_mask else ((matrix,), None)
    return RowTable(
        matrix.name,
        pa.schema([*sides, value]),
        _rows_of(systems, key),
        matrix.reading,
        system=matrix.system,
        is_double=frozenset() if matrix.kind == np.float32 else frozenset({"score"}),
        paths=() if matrix.path is None else (matrix.path,),
        is_described=True,
    )


def _rows_of(
    systems: tuple[MatrixInput, ...], key: MatrixInput | None, n_classes: int = 0, memory: int | None = None
) -> tuple[MatrixRows, ...]:
    """Return blocks of rows of matrices with the same shape."""
    first: Any = systems[0] if systems else key
    width = 1 if n_classes else max(first.shape[1:], default=1)
    return tuple(
        MatrixRows(name, (stop - start) * width, systems, key, start, stop, n_classes)
        for name, start, stop in blocks_of(first, memory)
    )


PLACE = "place"
"""Name of the column of `MatrixRows` with the number of the cell."""


def matrix_source(
    systems: Sequence[MatrixInput], key: MatrixInput | None, who: SpeakerLookup | None, how: BatchReading
) -> TrialSource:
    """Combine matrices of scores and their truth into a source.

    Parameters
    ----------
    systems : sequence of MatrixInput
    key : MatrixInput, optional
    who : SpeakerLookup, optional
    how : BatchReading

    Raises
    ------
    InputError, KeyMismatchError
        If shapes or names differ, or there is no truth.
    """
    _refuse_options(how)
    first = systems[0]
    for one in systems:
        if one.is_mask:
            raise InputError(f"{one.name}: contains a mask of trials, not scores.")
        if one.shape != first.shape or not _same_names(one, first):
            raise KeyMismatchError(f"{one.name} is {_size(one)}, {first.name} {_size(first)}, or their names differ.")
    classes = _class_names(first, key, how)
    truth = _truth(first, key, is_classes=bool(classes)) if who is None else _speakers(first, who, how)
    are_listed = len(first.shape) == 1 or first.names is not None  # cells of a row may share a speaker without a name
    named = () if classes or first.names is None else PAIR
    units = None
    if how.units is not None or (how.find_segments if classes else how.find_speakers and are_listed and who is None):
        units = EachTrial((PLACE,), are_numbers=True) if first.names is None else EachTrial(PAIR[: 1 if classes else 2])
    if who is not None and first.names is None:
        names = who.in_lines(first.shape[0], 0, "rows"), who.in_lines(first.shape[1], 1, "columns")
        systems = [replace(one, names=names) for one in systems]
    rows = _rows_of(tuple(systems), key, len(classes), how.memory // len(systems))
    if not sum(one.n_rows for one in rows):
        raise FormatError(f"{first.name}: contains no trial.")
    scores = tuple((score_column(at),) for at in range(len(systems)))
    layout = RowLayout(
        scores=scores,
        classes=classes,
        truth=truth,
        units=units,
        log10=not classes and how.unit == "log10",
        ratios=frozenset(name for own in scores for name in own if how.unit == "lr" and not classes),
        converted=how.converted,
        groups=None if how.groups is None else named,
        conditions={side: side for side in named if side in how.conditions},
        named={side: side for side in named if how.units is None and how.find_speakers and who is None},
    )
    called = [one.system for one in systems]
    single = all(one.kind.kind == "f" and one.kind.itemsize <= 4 for one in systems)
    return source_of_rows(
        rows,
        layout,
        name=", ".join(dict.fromkeys(one.name for one in systems)),
        systems=tuple(names_apart(called, ()) if len(set(called)) < len(called) else called),
        is_double=not single or how.converted is not None,
        units=() if classes else (how.unit or "nats",) * len(called),
        messages=_messages(systems, key, who),
        paths=tuple(one.path for one in systems if one.path is not None),
        groups=None if how.groups is None else named,
        columns=named,
        names=named,
        is_matrix=True,
    )


def _messages(
    systems: Sequence[MatrixInput], key: MatrixInput | None, who: SpeakerLookup | None
) -> tuple[Message, ...]:
    """Return messages about the matrices and the source of the truth."""
    words = f"target if and only if the speakers agree ({', '.join(who.called)})" if who else "a mask" if key else ""
    read = (Message("read", one.name, f"{one.reading}, {one.kind} of shape {_size(one)}") for one in systems)
    return (*read, Message("key", systems[0].name if key is None else key.name, words))


def _size(matrix: MatrixInput) -> str:
    return " x ".join(f"{length:,}" for length in matrix.shape)


def _same_names(one: MatrixInput, other: MatrixInput) -> bool:
    if one.names is None or other.names is None:
        return True
    return all(a.equals(b) for a, b in zip(one.names, other.names, strict=True))


def _refuse_options(how: BatchReading) -> None:
    for name in ("where", "weights", "columns", "key_columns", "units"):
        if getattr(how, name) is not None and not (name == "units" and how.units == "trials"):
            raise InputError(f"{name}: needs columns, and a matrix has none. Leave {name} out, or use a table.")
    if how.groups:
        raise InputError(
            "cross_validate: a matrix has no columns to name. Hold out by the names of its rows and columns, with a "
            f"number of folds ({option(cross_validate=5)}), or use a table."
        )


def _class_names(first: MatrixInput, key: MatrixInput | None, how: BatchReading) -> tuple[str, ...]:
    """Return the classes, if a matrix has a column for each class and the key has one number per row."""
    if len(first.shape) != 2 or key is None or len(key.shape) != 1 or how.kind == "two-class":
        return ()
    if first.shape[1] < 2:
        return ()
    names = tuple(map(str, range(first.shape[1]))) if how.classes is None else tuple(how.classes)
    if len(names) != first.shape[1]:
        raise InputError(f"classes: {len(names)} names, but {first.name} has {first.shape[1]} columns.")
    return names


def _truth(first: MatrixInput, key: MatrixInput | None, *, is_classes: bool) -> Truth:
    if key is None:
        raise InputError(
            f"key: none given, and {first.name} contains no labels. Pass a mask of the same shape ({option(key=...)}), "
            f"or name the speakers ({option(speakers=...)})."
        )
    if key.is_mask is False:
        raise InputError(f"{key.name}: contains scores, expected a key.")
    expected = first.shape[:1] if is_classes else first.shape
    if not is_classes and first.shape == (*key.shape, 2):
        what = f"{first.name}: two columns, one for each class, can become one score only if all trials are in memory"
        raise memory_error(what, way="save the difference of the two columns")
    if is_classes and key.shape != expected:
        raise KeyMismatchError(
            f"{key.name} is {_size(key)}, {first.name} {_size(first)}. A multiclass key must have the number of a "
            "class for each row of the scores."
        )
    if key.shape != expected or not _same_names(key, first):
        raise KeyMismatchError(
            f"{key.name} is {_size(key)}, {first.name} {_size(first)}, or the names of rows and columns differ. A mask "
            "must have one cell for each score, in the same place."
        )
    if not is_classes and key.kind != np.bool_ and key.kind.kind != "i" and key.is_mask is None:
        raise InputError(
            f"{key.name}: a mask of {key.kind}. Save it as booleans (True is target), or as int8 with 1 for targets, "
            "-1 for non-targets and 0 for cells that are not trials."
        )
    return TruthColumn(("label",))


def _speakers(first: MatrixInput, who: SpeakerLookup, how: BatchReading) -> SpeakersAgree:
    if len(first.shape) != 2:
        raise InputError(f"speakers: {first.name} has one number per trial, without names of both sides. Use a key.")
    if first.names is None and not how.by_order:
        raise InputError(
            f"speakers: rows and columns of {first.name} have no names. If they are in the order of the lines of "
            f"{' and '.join(who.called)}, add {option(by_order=True)}."
        )
    for side, names in enumerate(first.names or ()):
        own = who.speakers_of(names, side)
        if len(own) and own.min() < 0:
            row = int(np.argmax(own < 0))
            what = ("row", "column")[side]
            raise KeyMismatchError(f"{first.name}, {what} {row}: {who.lacks(names[row].as_py(), side)}.")
    return SpeakersAgree(PAIR, who)
