"""Matrices of trials in pieces: blocks of rows, whose truth is a mask or follows from who is who."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa

from deciban._validate.probabilities import logarithms_of_ratios
from deciban.core.resampling.units import Keys, TrialUnits, independent, keys_of, mixed_bits
from deciban.errors import FormatError, InputError, KeyMismatchError, TrialError
from deciban.io.arrays.checked import as_scores
from deciban.io.formats import bare_name
from deciban.io.matrices.named_matrix import refuse_nan
from deciban.io.shards.how import HowToRead
from deciban.io.shards.names import keys_of_names
from deciban.io.shards.speakers import WhoIsWho
from deciban.memory import Cost, memory_error, rows_that_fit
from deciban.messages import Message
from deciban.trials.lists import PAIR
from deciban.trials.sources import Chunk, Piece, ShardSource, Wanted
from deciban.trials.tables import LOG_10
from deciban.trials.units import keys_of_trials
from deciban.types import AnyArray, BoolArray, ScoreUnit

CELLS = 1 << 20

"""Most cells of a block, about."""


class Cells(ABC):
    """Numbers in rows that can be read apart. Can be pickled."""

    @abstractmethod
    def rows(self, start: int, stop: int, name: str) -> AnyArray:
        """Read some rows; ``name`` is what messages call them.

        Raises
        ------
        FormatError, OSError
            If they cannot be read, or are not what they were.
        """


@dataclass(frozen=True, slots=True)
class ArrayCells(Cells):
    """An array of another library, or one in memory."""

    array: Any
    name: str

    def rows(self, start: int, stop: int, name: str) -> AnyArray:
        """See `Cells.rows`."""
        found = self.array[start:stop]
        try:
            if hasattr(found, "compute"):
                found = found.compute(scheduler="synchronous")
            return np.asarray(found)
        except Exception as error:
            raise FormatError(f"{name}: cannot be read ({type(error).__name__}: {error}).") from error


@dataclass(frozen=True, eq=False)
class Matrix:
    """Numbers in a file or an object, rows and columns, or one for each trial.

    Attributes
    ----------
    name : str
    cells : Cells
    shape : tuple of int
    kind : dtype
    names : pair of pyarrow arrays, optional
        Of rows and columns, if the file says them.
    mask : Matrix, optional
        Which cells are trials, in 0 and 1; all, if left out.
    is_mask : bool, optional
        Whether these are no scores: True, False, or None if nothing says it.
    rows_per_chunk : int, optional
        Rows that are stored together.
    path : path, optional
    reading : str
        What was read, for messages.
    """

    name: str
    cells: Cells
    shape: tuple[int, ...]
    kind: np.dtype[Any]
    names: tuple[pa.Array, pa.Array] | None = None
    mask: Matrix | None = None
    is_mask: bool | None = None
    rows_per_chunk: int | None = None
    path: Any = None
    reading: str = "array"

    @property
    def system(self) -> str:
        """What a system is called."""
        return "system" if self.path is None else bare_name(Path(str(self.path)).name)


def mask_of(matrix: Matrix, start: int, stop: int, name: str) -> BoolArray | None:
    """Which cells of some rows are trials; None if nothing says so.

    Raises
    ------
    FormatError
        If the mask holds anything but 0 and 1.
    """
    if matrix.mask is None:
        return None
    return np.asarray(only(matrix.mask.cells.rows(start, stop, name), (0, 1), matrix.mask.name, start) == 1)


def blocks_of(matrix: Matrix, memory: int | None = None) -> list[tuple[str, int, int]]:
    """What blocks of rows are called, where each begins and where it ends; rows that are stored together stay so."""
    n_cells = CELLS if memory is None else rows_that_fit(memory, Cost.MATRIX_CELL, most=CELLS)
    n_rows, n_columns = matrix.shape[0], matrix.shape[1] if len(matrix.shape) == 2 else 1
    step = max(1, n_cells // max(n_columns, 1))
    if matrix.rows_per_chunk:
        step = max(step // matrix.rows_per_chunk, 1) * matrix.rows_per_chunk
    stops = [(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]
    return [(f"{matrix.name}, rows {start:,} to {stop - 1:,}", start, stop) for start, stop in stops]


def only(values: AnyArray, allowed: Sequence[int], name: str, start: int) -> AnyArray:
    """The numbers of a block of a matrix, whose first row is ``start``, none of which is any but these.

    Raises
    ------
    FormatError
        At the first cell that holds anything else.
    """
    known = np.logical_or.reduce([values == one for one in allowed])
    if not known.all():
        place = np.argwhere(~known)[0]
        raise FormatError(
            f"{name}: the mask holds {values[tuple(place)]} in {_cell(place, start)}, but only "
            f"{', '.join(map(str, allowed))} mean anything."
        )
    return values


def _cell(place: AnyArray, start: int) -> str:
    row, *column = map(int, place)
    return f"row {start + row}" + (f", column {column[0]}" if column else "")


@dataclass(frozen=True, eq=False)
class Speakers:
    """The speaker of every row and every column, as numbers.

    Attributes
    ----------
    who : WhoIsWho
    enroll, test : int arrays
    """

    who: WhoIsWho
    enroll: AnyArray
    test: AnyArray


@dataclass(frozen=True, slots=True)
class EachCell:
    """Every trial is a unit, known by the names of its row and column; where there are none, by its place.

    Attributes
    ----------
    names : tuple of uint64 arrays
        Numbers of the names of rows, and of columns where each cell is a trial; empty where there are none.
    """

    names: tuple[Keys, ...]

    @classmethod
    def of_matrix(cls, matrix: Matrix, *, is_classes: bool) -> Self:
        """Of the cells of a matrix, or of its rows where columns are classes."""
        names = () if matrix.names is None else matrix.names[: 1 if is_classes else 2]
        return cls(tuple(keys_of(np.array(one.to_pylist(), np.object_)) for one in names))

    def of(self, start: int, stop: int, n_columns: int) -> TrialUnits:
        """The units of all cells of some rows."""
        if self.names:
            rows, columns = np.repeat(self.names[0][start:stop], n_columns), self.names[1:]
            keys = keys_of_trials([rows, *(np.tile(one, stop - start) for one in columns)])
        else:
            keys = mixed_bits(np.arange(start * n_columns, stop * n_columns))
        return TrialUnits((np.arange(len(keys)),), keys, "trial", independent("trial"))


@dataclass(frozen=True, eq=False)
class Block(Piece):
    """Some rows of matrices.

    Attributes
    ----------
    name : str
    n_rows : int
        Cells; not all need be trials.
    start, stop : int
        Rows.
    systems : tuple of Matrix
    truth : Matrix or Speakers
    unit : {"nats", "log10", "lr"}, optional
        The declared unit of the scores.
    classes : tuple of str
        Of many classes, a row is a trial.
    converted : function, optional
        As of `deciban.io.shards.layout.Layout`.
    names : pair of uint64 arrays, optional
        Numbers of the names of all rows and all columns.
    trials : EachCell or None
        Where every trial is a unit.
    grouped : bool
        Whether the names of its row and column say with which others a trial is held out.
    conditions : tuple of str
        By which sides trials are split: by the names of rows, or columns.
    """

    name: str
    n_rows: int
    start: int
    stop: int
    systems: tuple[Matrix, ...]
    truth: Matrix | Speakers
    unit: ScoreUnit | None
    classes: tuple[str, ...] = ()
    converted: Any = None
    names: tuple[Keys, Keys] | None = None
    trials: EachCell | None = None
    grouped: bool = False
    conditions: tuple[str, ...] = ()

    def read(self, wanted: Wanted) -> Chunk:
        """See `Piece.read`."""
        chosen = self._chosen()
        scores = tuple(self._scores(self.systems[at], chosen) for at in wanted.systems)
        truth = self._truth(chosen) if wanted.truth else None
        units = self._units(chosen) if wanted.units else None
        names = self._pairs(*self.names, chosen) if wanted.names and self.names is not None else None
        groups = self._by_name(PAIR, chosen) if wanted.groups and self.grouped else None
        split = self._by_name(self.conditions, chosen) if wanted.conditions and self.conditions else None
        return Chunk(scores, truth, units, names=names, groups=groups, conditions=split)

    def _by_name(self, sides: Sequence[str], chosen: BoolArray | None) -> tuple[tuple[AnyArray, Any], ...] | None:
        """The names of rows, columns or both that trials have."""
        named = self.systems[0].names
        if named is None:
            return None
        codes = self._pairs(np.arange(len(named[0])), np.arange(len(named[1])), chosen)
        places = [PAIR.index(side) for side in sides]
        return tuple((codes[at], named[at]) for at in places)

    def _rows(self, matrix: Matrix) -> AnyArray:
        found = matrix.cells.rows(self.start, self.stop, self.name)
        if len(found) != self.stop - self.start:
            raise FormatError(f"{self.name}: has {len(found)} rows, not {self.stop - self.start}. Copy the file again.")
        return found

    def _chosen(self) -> BoolArray | None:
        """Which cells are trials; None for all."""
        if self.classes:
            return None
        chosen: BoolArray | None = None
        for at, one in enumerate(self.systems):
            own = mask_of(one, self.start, self.stop, self.name)
            if own is not None:
                if at and (chosen is None or not np.array_equal(own, chosen)):
                    raise KeyMismatchError(f"{self.name}: the masks of {self.systems[0].name} and {one.name} differ.")
                chosen = own
        if isinstance(self.truth, Matrix) and self.truth.kind != np.bool_:
            labelled = only(self._rows(self.truth), (1, 0, -1), self.truth.name, self.start) != 0
            if chosen is not None and (labelled & ~chosen).any():
                row, column = (int(at) for at in np.argwhere(labelled & ~chosen)[0])
                raise KeyMismatchError(
                    f"{self.name}: row {self.start + row}, column {column} is a trial of {self.truth.name}, and has no "
                    f"score in {self.systems[0].name}. Clear it in the key, or complete the scores."
                )
            chosen = labelled
        return None if chosen is None or chosen.all() else chosen

    def _scores(self, matrix: Matrix, chosen: BoolArray | None) -> AnyArray:
        values = self._rows(matrix)
        refuse_nan(values, chosen, matrix.name, matrix.names, self.start)
        if not self.classes:
            values = values.ravel() if chosen is None else values[chosen]
        found = as_scores(values, f"{matrix.name}, {self.name}")
        if self.unit == "log10" and not self.classes:
            found = found * found.dtype.type(LOG_10)
        try:
            found = logarithms_of_ratios(found) if self.unit == "lr" and not self.classes else found
            return found if self.converted is None else self.converted(found, self.classes)
        except TrialError as error:
            row = error.index if chosen is None else int(np.flatnonzero(chosen.ravel())[error.index])
            place = self.start + row // (1 if self.classes else max(matrix.shape[1:], default=1))
            raise FormatError(f"{self.name}: {error.before}in row {place}{error.after}") from error

    def _truth(self, chosen: BoolArray | None) -> AnyArray:
        if isinstance(self.truth, Speakers):
            same = self.truth.enroll[self.start : self.stop, None] == self.truth.test
            return np.asarray(same.ravel() if chosen is None else same[chosen])
        values = self._rows(self.truth)
        if self.classes:
            return _classes(values, len(self.classes), self.truth.name, self.start)
        if len(self.truth.shape) == 1 and self.truth.kind != np.bool_:
            labels = only(values, (1, -1, 0), self.truth.name, self.start)
            return np.asarray(labels[slice(None) if chosen is None else chosen] == 1)
        truth = values.astype(np.bool_) if self.truth.kind == np.bool_ else values == 1
        return truth.ravel() if chosen is None else truth[chosen]

    def _units(self, chosen: BoolArray | None) -> TrialUnits | None:
        if self.trials is not None:
            n_columns = self.n_rows // max(self.stop - self.start, 1)
            found = self.trials.of(self.start, self.stop, n_columns)
            return found if chosen is None else found.take(chosen.ravel()).only_used()
        if not isinstance(self.truth, Speakers):
            return None
        return self.truth.who.units(*self._pairs(self.truth.enroll, self.truth.test, chosen))

    def _pairs(self, of_rows: AnyArray, of_columns: AnyArray, chosen: BoolArray | None) -> tuple[AnyArray, AnyArray]:
        """What belongs to the row and to the column of each trial."""
        enroll = np.repeat(of_rows[self.start : self.stop], len(of_columns))
        test = np.tile(of_columns, self.stop - self.start)
        return (enroll, test) if chosen is None else (enroll[chosen.ravel()], test[chosen.ravel()])


def _classes(values: AnyArray, n_classes: int, name: str, start: int) -> AnyArray:
    """The numbers of the classes of rows, the first of which is ``start``."""
    found: AnyArray = values.astype(np.int64)
    wrong = np.flatnonzero((found != values) | (found < 0) | (found >= n_classes))
    if len(wrong):
        raise FormatError(
            f"{name}, row {start + wrong[0]}: the class is {values[wrong[0]]}. Classes are whole numbers from 0 to "
            f"{n_classes - 1}."
        )
    return found


def matrix_source(systems: Sequence[Matrix], key: Matrix | None, who: WhoIsWho | None, how: HowToRead) -> ShardSource:
    """Put matrices of scores and what says their truth together.

    Parameters
    ----------
    systems : sequence of Matrix
    key : Matrix, optional
    who : WhoIsWho, optional
    how : HowToRead

    Raises
    ------
    InputError, KeyMismatchError
        If they do not fit, or nothing says the truth.
    """
    _refuse_options(how)
    first = systems[0]
    for one in systems:
        if one.is_mask:
            raise InputError(f"{one.name}: holds a mask of trials, not scores.")
        if one.shape != first.shape or not _same_names(one, first):
            raise KeyMismatchError(f"{one.name} is {_size(one)}, {first.name} {_size(first)}, or of other names.")
    classes = _class_names(first, key, how)
    truth = _truth(first, key, who, how, is_classes=bool(classes))
    per_row = 1 if classes or len(first.shape) == 1 else first.shape[1]
    about: Any = {"converted": how.converted}
    are_listed = len(first.shape) == 1 or first.names is not None  # cells of a row share what nothing names
    each = how.units is not None or (how.find_segments if classes else how.find_speakers and are_listed and who is None)
    if each:
        about["trials"] = EachCell.of_matrix(first, is_classes=bool(classes))
    if how.units is None and how.find_speakers and first.names is not None and who is None and not classes:
        about["names"] = keys_of_names(first.names[0]), keys_of_names(first.names[1])
    about["grouped"] = how.groups is not None and first.names is not None and not classes
    sides = () if first.names is None or classes else PAIR
    about["conditions"] = tuple(one for one in sides if one in how.conditions)
    pieces = tuple(
        Block(name, (stop - start) * per_row, start, stop, tuple(systems), truth, how.unit, classes, **about)
        for name, start, stop in blocks_of(first, how.memory // len(systems))
    )
    if not sum(one.n_rows for one in pieces):
        raise FormatError(f"{first.name}: holds no trial.")
    return _source(systems, key, who, how, pieces, classes, are_units=each)


def _source(
    systems: Sequence[Matrix],
    key: Matrix | None,
    who: WhoIsWho | None,
    how: HowToRead,
    pieces: tuple[Block, ...],
    classes: tuple[str, ...],
    *,
    are_units: bool,
) -> ShardSource:
    words = f"target if and only if the speakers agree ({', '.join(who.called)})" if who else "a mask" if key else ""
    messages = [Message("read", one.name, f"{one.reading}, {one.kind} of shape {_size(one)}") for one in systems]
    messages.append(Message("key", systems[0].name if key is None else key.name, words))
    names = [one.system for one in systems]
    if len(set(names)) < len(names):
        from deciban.messages import names_apart

        names = list(names_apart(names, ()))
    single = all(one.kind.kind == "f" and one.kind.itemsize <= 4 for one in systems)
    named = () if classes or systems[0].names is None else PAIR
    return ShardSource(
        name=", ".join(dict.fromkeys(one.name for one in systems)),
        pieces=pieces,
        systems=tuple(names),
        classes=classes,
        is_double=not single or how.converted is not None,
        has_units=who is not None or are_units,
        are_units=are_units,
        sides=() if pieces[0].names is None else ("enroll", "test"),
        units=() if classes else (how.unit or "nats",) * len(names),
        messages=tuple(messages),
        paths=tuple(one.path for one in systems if one.path is not None),
        groups=None if how.groups is None else PAIR if pieces[0].grouped else (),
        conditions=pieces[0].conditions,
        columns=named,
        names=named,
        is_matrix=True,
    )


def _size(matrix: Matrix) -> str:
    return " x ".join(f"{length:,}" for length in matrix.shape)


def _same_names(one: Matrix, other: Matrix) -> bool:
    if one.names is None or other.names is None:
        return True
    return all(a.equals(b) for a, b in zip(one.names, other.names, strict=True))


def _refuse_options(how: HowToRead) -> None:
    for name in ("where", "weights", "columns", "key_columns", "units"):
        if getattr(how, name) is not None and not (name == "units" and how.units == "trials"):
            raise InputError(f"{name}: is about columns, and a matrix has none. Leave it out, or bring a table.")
    if how.groups:
        raise InputError(
            "cross_validate: names columns, and a matrix has none. Hold out by the names of its rows and columns, by a "
            "number of folds (cross_validate=5, --cross-validate 5), or bring a table."
        )


def _class_names(first: Matrix, key: Matrix | None, how: HowToRead) -> tuple[str, ...]:
    """The classes, if a matrix has a column for each: with a key of one number per row."""
    if len(first.shape) != 2 or key is None or len(key.shape) != 1 or how.kind == "two-class":
        return ()
    if first.shape[1] < 2:
        return ()
    names = tuple(map(str, range(first.shape[1]))) if how.classes is None else tuple(how.classes)
    if len(names) != first.shape[1]:
        raise InputError(f"classes: {len(names)} names, but {first.name} has {first.shape[1]} columns. Give one each.")
    return names


def _truth(
    first: Matrix, key: Matrix | None, who: WhoIsWho | None, how: HowToRead, *, is_classes: bool
) -> Matrix | Speakers:
    if who is not None:
        return _speakers(first, who, how)
    if key is None:
        raise InputError(
            f"key: none given, and {first.name} holds no labels. Pass a mask of the same shape (--key), or say who is "
            "who (--speakers)."
        )
    if key.is_mask is False:
        raise InputError(f"{key.name}: holds scores, expected a key.")
    expected = first.shape[:1] if is_classes else first.shape
    if not is_classes and first.shape == (*key.shape, 2):
        what = f"{first.name}: two columns, one for each class, become one score only where all trials are in memory"
        raise memory_error(what, way="save the difference of the two")
    if is_classes and key.shape != expected:
        raise KeyMismatchError(
            f"{key.name} is {_size(key)}, {first.name} {_size(first)}. A key of many classes has the number of a class "
            "for each row of the scores."
        )
    if key.shape != expected or not _same_names(key, first):
        raise KeyMismatchError(
            f"{key.name} is {_size(key)}, {first.name} {_size(first)}, or their rows and columns have other names. A "
            "mask has a cell for each score, at the same place."
        )
    if is_classes:
        return key
    if key.kind != np.bool_ and key.kind.kind != "i" and key.is_mask is None:
        raise InputError(
            f"{key.name}: a mask of {key.kind}. Save it as booleans (True is target), or as int8 with 1 for targets, "
            "-1 for non-targets and 0 for what is no trial."
        )
    return key


def _speakers(first: Matrix, who: WhoIsWho, how: HowToRead) -> Speakers:
    if len(first.shape) != 2:
        raise InputError(
            f"speakers: {first.name} has one number per trial, and nothing says between whom. Bring a key."
        )
    if first.names is None and not how.by_order:
        raise InputError(
            f"speakers: rows and columns of {first.name} have no names. If they stand in the order of the lines of "
            f"{' and '.join(who.called)}, say so (by_order=True, --by-order)."
        )
    found = []
    for side, what in enumerate(("rows", "columns")):
        if first.names is None:
            found.append(who.in_lines(first.shape[side], side, what))
            continue
        own = who.speakers_of(first.names[side], side)
        if len(own) and own.min() < 0:
            row = int(np.argmax(own < 0))
            raise KeyMismatchError(
                f"{first.name}, {what[:-1]} {row}: {who.lacks(first.names[side][row].as_py(), side)}."
            )
        found.append(own)
    return Speakers(who, found[0], found[1])
