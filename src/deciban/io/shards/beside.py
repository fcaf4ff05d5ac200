"""Tables whose rows belong together in their order, however each is cut into pieces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import pyarrow as pa

from deciban.errors import KeyMismatchError
from deciban.io.shards.rows import Rows, RowTable
from deciban.messages import counted

ROW = "row"
"""Column of what was joined that says which row of a piece of the key it is."""


@dataclass(frozen=True, slots=True)
class Range:
    """Some rows of a piece."""

    rows: Rows
    start: int
    stop: int


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
                own = [names[name] for name in asked]
                parts = [one.rows.table(own).slice(one.start, one.stop - one.start) for one in ranges]
                whole = pa.concat_tables(parts, promote_options="permissive").unify_dictionaries()
                found |= dict(zip(asked, whole.columns, strict=True))
        return pa.table([found[name] for name in columns], list(columns))

    def where(self, row: int | None, columns: Sequence[str] = ()) -> str:
        """See `Rows.where`: the place in the table that has the columns."""
        for ranges, names in zip(self.parts, self.columns, strict=True):
            asked = [names[name] for name in columns if name in names]
            if asked and row is None:
                return " and ".join(one.rows.name for one in ranges)
            for one in ranges if asked else ():
                if one.start + (row or 0) < one.stop:
                    return one.rows.where(one.start + (row or 0), asked)
                row = (row or 0) - (one.stop - one.start)
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
