"""What says which trials are targets, or of which class they are: a column, two columns, or who is who."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban._arrow import to_numpy
from deciban._validate.arrays import Vocabulary
from deciban.errors import KeyMismatchError
from deciban.io.columns.rows import Range, Rows, RowTable, place_in, table_of_ranges
from deciban.io.columns.values import plain, refuse_missing, same_names, truth_of
from deciban.io.contents import RowError
from deciban.io.shards.units import WhoIsWho
from deciban.io.source import other_file
from deciban.messages import counted
from deciban.trials.names import encode
from deciban.types import AnyArray


class Truth(ABC):
    """Tells the truth of rows.

    Attributes
    ----------
    columns : tuple of str
        What it is made of.
    """

    columns: tuple[str, ...]

    @abstractmethod
    def of(self, table: pa.Table) -> AnyArray:
        """Whether each row is a target, or which class it is of.

        Raises
        ------
        RowError, KeyMismatchError
            If a row does not say it.
        """


@dataclass(frozen=True, slots=True)
class LabelColumn(Truth):
    """A column of labels.

    Attributes
    ----------
    column : str
    vocabulary : Vocabulary
        What words mean.
    """

    column: str
    vocabulary: Vocabulary

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        """See `Truth`."""
        return (self.column,)

    def of(self, table: pa.Table) -> AnyArray:
        """See `Truth.of`."""
        column = plain(table.column(self.column))
        refuse_missing(column, self.column, "label")
        return truth_of(column, self.vocabulary)[0]


@dataclass(frozen=True, slots=True)
class OfTwoFiles(Truth):
    """A column that says of which of two files a row is, of targets or of non-targets.

    Attributes
    ----------
    column : str
    label : LabelColumn, optional
        Labels in these files, which must say the same.
    """

    column: str
    label: LabelColumn | None = None

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        """See `Truth`."""
        return (self.column,) if self.label is None else (self.column, *self.label.columns)

    def of(self, table: pa.Table) -> AnyArray:
        """See `Truth.of`."""
        found = to_numpy(plain(table.column(self.column)))
        if self.label is not None:
            differs = self.label.of(table) != found
            if differs.any():
                row = int(np.argmax(differs))
                raise RowError(other_file("", is_target=bool(found[row])), row, KeyMismatchError)
        return found


@dataclass(frozen=True, slots=True)
class EqualColumns(Truth):
    """Two columns of names, which are equal in target trials."""

    columns: tuple[str, str]

    def of(self, table: pa.Table) -> AnyArray:
        """See `Truth.of`."""
        one, other = (plain(table.column(name)) for name in self.columns)
        return to_numpy(pc.cast(same_names(one, other, self.columns), pa.bool_()))


@dataclass(frozen=True, slots=True)
class ClassColumn(Truth):
    """A column of names of classes.

    Attributes
    ----------
    column : str
    places : mapping of str to int
        Position of every class among the scores.
    """

    column: str
    places: Mapping[str, int]

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        """See `Truth`."""
        return (self.column,)

    def of(self, table: pa.Table) -> AnyArray:
        """See `Truth.of`."""
        column = plain(table.column(self.column))
        refuse_missing(column, self.column, "class")
        codes, names = encode(pc.cast(column, pa.string()), "class")
        place: AnyArray = np.array([self.places.get(name, -1) for name in names.to_pylist()], np.int64)
        found = place[codes] if len(codes) else np.zeros(0, np.int64)
        if len(found) and found.min() < 0:
            row = int(np.argmax(found < 0))
            known = ", ".join(sorted(self.places, key=self.places.__getitem__)[:20])
            raise RowError(
                f"class {names[int(codes[row])].as_py()!r} has no scores, there are scores for {known}. Take these "
                "segments out of the key, or use scores for all of its classes",
                row,
            )
        return found


@dataclass(frozen=True, slots=True)
class SpeakersAgree(Truth):
    """Trials of two sides, whose speakers are known: targets are those with one speaker on both.

    Attributes
    ----------
    columns : pair of str
        With the names of enrolment and of test.
    who : WhoIsWho
    """

    columns: tuple[str, str]
    who: WhoIsWho

    def of(self, table: pa.Table) -> AnyArray:
        """See `Truth.of`."""
        one, other = self.speakers(table)
        return np.asarray(one == other)

    def speakers(self, table: pa.Table) -> tuple[AnyArray, AnyArray]:
        """The speaker of each side of every row."""
        found = []
        for at, name in enumerate(self.columns):
            codes, names = encode(pc.cast(plain(table.column(name)), pa.string()), name)
            speakers = self.who.speakers_of(names, at)
            unknown = np.flatnonzero(speakers < 0)
            if len(unknown):
                row = int(np.argmax(np.isin(codes, unknown)))
                raise RowError(self.who.lacks(names[int(codes[row])].as_py(), at), row, KeyMismatchError)
            found.append(speakers[codes])
        return found[0], found[1]


ROW = "row"
"""Column of what was joined that says which row of a piece of the key it is."""


@dataclass(frozen=True, slots=True)
class RowsBeside(Rows):
    """The same rows of several tables.

    Attributes
    ----------
    name : str
    n_rows : int
    parts : tuple of tuple of Range
        Of each table.
    columns : tuple of mapping of str to str
        Of each table, what its columns are called there.
    """

    name: str
    n_rows: int
    parts: tuple[tuple[Range, ...], ...]
    columns: tuple[Mapping[str, str], ...]

    def table(self, columns: Sequence[str]) -> pa.Table:
        """See `Rows.table`."""
        found: dict[str, pa.ChunkedArray] = {}
        for ranges, names in zip(self.parts, self.columns, strict=True):
            asked = [name for name in columns if name in names]
            if asked:
                whole = table_of_ranges(ranges, [names[name] for name in asked])
                found |= dict(zip(asked, whole.columns, strict=True))
        return pa.table([found[name] for name in columns], list(columns))

    def where(self, row: int | None, columns: Sequence[str] = ()) -> str:
        """See `Rows.where`: the place in the table that has the columns."""
        for ranges, names in zip(self.parts, self.columns, strict=True):
            asked = [names[name] for name in columns if name in names]
            if asked:
                return place_in(ranges, row, asked)
        return Rows.where(self, row, columns)


@dataclass(frozen=True, slots=True)
class JoinedRows(Rows):
    """Rows of a key with the scores that were found for them.

    Attributes
    ----------
    name : str
    n_rows : int
    key : Rows
        A piece of the key, of which some rows may have been left out.
    scores : Rows
        The scores of the others, and which rows these are.
    columns : frozenset of str
        Of scores.
    """

    name: str
    n_rows: int
    key: Rows
    scores: Rows
    columns: frozenset[str]

    def table(self, columns: Sequence[str]) -> pa.Table:
        """See `Rows.table`."""
        found = self.scores.table([ROW, *(name for name in columns if name in self.columns)])
        others = [name for name in columns if name not in self.columns]
        if others:
            key = self.key.table(others)
            key = key if len(key) == len(found) else key.take(found.column(ROW))
            for name in others:
                found = found.append_column(key.schema.field(name), key.column(name))
        return found.select(list(columns))

    def where(self, row: int | None, columns: Sequence[str] = ()) -> str:
        """See `Rows.where`: the place in the key."""
        if row is None:
            return self.key.where(None, columns)
        return self.key.where(self.scores.table([ROW]).column(ROW)[row].as_py(), columns)


def beside(tables: Sequence[RowTable], columns: Sequence[Mapping[str, str]]) -> tuple[Rows, ...]:
    """Put tables beside each other.

    Parameters
    ----------
    tables : sequence of RowTable
        The key last: messages compare the others with it.
    columns : sequence of mapping of str to str
        What columns are called afterwards, and what they are called in each table.

    Raises
    ------
    KeyMismatchError
        If one has more rows than another.
    """
    key = tables[-1]
    for table in tables:
        if table.n_rows != key.n_rows:
            raise KeyMismatchError(
                f"{table.name} holds {counted(table.n_rows, 'score')}, {key.name} {counted(key.n_rows, 'trial')}. "
                "Matching by order needs as many of one as of the other."
            )
    coarsest = min(tables, key=lambda table: len(table.rows))
    stops = list(accumulate(one.n_rows for one in coarsest.rows))
    ranges = [cut(table, stops) for table in tables]
    return tuple(
        RowsBeside(piece.name, piece.n_rows, tuple(own[at] for own in ranges), tuple(columns))
        for at, piece in enumerate(coarsest.rows)
    )


def cut(table: RowTable, stops: Sequence[int]) -> list[tuple[Range, ...]]:
    """The ranges of a table that end where they should."""
    found: list[tuple[Range, ...]] = []
    at = start = 0
    first = 0
    for stop in stops:
        ranges: list[Range] = []
        while first < stop:
            piece = table.rows[at]
            last = min(stop, start + piece.n_rows)
            ranges.append(Range(piece, first - start, last - start))
            first = last
            if last == start + piece.n_rows:
                at, start = at + 1, last
        found.append(tuple(ranges))
    return found
