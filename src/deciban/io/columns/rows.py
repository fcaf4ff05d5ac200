"""Tables whose rows are read on demand, as a whole or batch by batch."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import pyarrow as pa

from deciban.errors import DecibanError, FormatError, TrialError
from deciban.io.contents import RowError
from deciban.io.formats import Options
from deciban.trials.frames import METADATA, description, is_text_or_bytes
from deciban.types import AnyArray


class Rows(ABC):
    """Some rows of a table. Can be pickled.

    Attributes
    ----------
    name : str
        The file and the place in it, for messages.
    n_rows : int
        An upper bound for matrices, some of whose cells may be no trials.
    n_bytes : int
        Size of the file, against which the sizes that it declares are checked.
    """

    name: str
    n_rows: int
    n_bytes: int = 0

    @abstractmethod
    def table(self, columns: Sequence[str]) -> pa.Table:
        """Read columns, in this order.

        Raises
        ------
        FormatError, OSError
            If they cannot be read, or have changed since the file was opened.
        """

    def where(self, row: int | None, columns: Sequence[str] = ()) -> str:
        """Describe the place of a row, or of all rows; ``columns`` are the columns that a message is about."""
        del columns  # all columns are in one table
        return self.name if row is None else f"{self.name}, row {row}"


@dataclass(frozen=True, slots=True, eq=False)
class HeldRows(Rows):
    """Rows in memory.

    Attributes
    ----------
    name : str
    held : pyarrow.Table
    n_bytes : int
    """

    name: str
    held: pa.Table
    n_bytes: int = 0

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """See `Rows`."""
        return len(self.held)

    def table(self, columns: Sequence[str]) -> pa.Table:
        """See `Rows.table`."""
        table = self.held.select(list(columns))
        table.validate(full=True)
        return table


@dataclass(frozen=True, slots=True)
class RowsWithin(Rows):
    """Consecutive rows of others, the first of which is ``start``."""

    name: str
    n_rows: int
    rows: Rows
    start: int
    n_bytes: int = 0

    def table(self, columns: Sequence[str]) -> pa.Table:
        """See `Rows.table`."""
        return self.rows.table(columns).slice(self.start, self.n_rows)

    def where(self, row: int | None, columns: Sequence[str] = ()) -> str:
        """See `Rows.where`."""
        return self.rows.where(row if row is None else self.start + row, columns)


def table_of_all(parts: Sequence[Rows], columns: Sequence[str]) -> pa.Table:
    """Read columns of several parts as one table; types that differ are promoted."""
    tables = [one.table(columns) for one in parts]
    if len(tables) == 1:
        return tables[0]
    return pa.concat_tables(tables, promote_options="permissive").unify_dictionaries()


def place_in(parts: Sequence[Rows], row: int | None, columns: Sequence[str] = ()) -> str:
    """Describe the place of a row of several parts; for None, return the names of the parts."""
    if row is None:
        return " and ".join(one.where(None, columns) for one in parts)
    starts = [*accumulate((one.n_rows for one in parts[:-1]), initial=0)]
    at = bisect_right(starts, row) - 1
    return parts[at].where(row - starts[at], columns)


def places_in(parts: Sequence[Rows], rows: Sequence[int]) -> list[str]:
    """Describe the places of rows of several parts."""
    return [place_in(parts, row) for row in rows]


@dataclass(frozen=True, eq=False)
class RowTable:
    """A table whose rows are read on demand.

    Attributes
    ----------
    name : str
        The name of the table, for messages.
    schema : pyarrow.Schema
        With the combined metadata of all files.
    rows : tuple of Rows
    reading : str
        How the table was read, for messages.
    partitions : tuple of str
        Columns that are conditions, whatever their names.
    system : str
        The name of the system, if there is only one.
    is_double : frozenset of str
        Columns of floats that are float64 in at least one file.
    paths : tuple
        Paths that the user named.
    kept : object
        An object that must live as long as the table.
    told : bool
        Whether the roles of columns follow from the metadata alone; options about columns and words are ignored then.
    target : str, optional
        The column with the truth, where targets and non-targets came from two files.
    """

    name: str
    schema: pa.Schema
    rows: tuple[Rows, ...]
    reading: str
    partitions: tuple[str, ...] = ()
    system: str = "system"
    is_double: frozenset[str] = frozenset()
    paths: tuple[Any, ...] = ()
    kept: Any = None
    told: bool = False
    target: str | None = None

    @classmethod
    def of_table(cls, table: pa.Table, name: str, reading: str, n_bytes: int) -> RowTable:
        """Return a table that is in memory."""
        return cls(name, table.schema, (HeldRows(name, table, n_bytes),), reading)

    @property
    def n_rows(self) -> int:
        """Total number of rows."""
        return sum(one.n_rows for one in self.rows)

    def places(self, rows: Sequence[int]) -> list[str]:
        """Describe the places of rows."""
        return places_in(self.rows, rows)


@contextmanager
def placed(rows: Rows, columns: Sequence[str], taken: AnyArray | None = None) -> Iterator[None]:
    """Add the place of a fault to its message; ``taken`` are the positions of the rows, if only some were read."""

    def place(row: int | None) -> str:
        return rows.where(row if row is None or taken is None else int(taken[row]), columns)

    try:
        yield
    except RowError as error:
        raise error.kind(f"{place(error.row)}: {error}.") from error
    except TrialError as error:
        raise FormatError(f"{place(error.index)}: {error.before}here{error.after}") from error
    except DecibanError as error:
        raise type(error)(f"{rows.where(None, columns)}: {error}") from error
    except pa.ArrowInvalid as error:  # bytes that were read as text may not be valid UTF-8
        raise FormatError(
            f"{rows.where(None, columns)}: a column of {', '.join(columns)} holds what cannot be read ({error}). Write "
            "the file again, with text in UTF-8."
        ) from error


def refuse_equal_names(names: Sequence[str], name: str) -> None:
    """Refuse a table with two columns of the same name.

    Raises
    ------
    FormatError
    """
    if len(set(names)) < len(names):
        twice, _ = Counter(names).most_common(1)[0]
        raise FormatError(f"{name}: two columns are called {twice!r}. Rename one.")


def table_schema(schemas: Sequence[tuple[str, pa.Schema]], partitions: Sequence[str], options: Options) -> pa.Schema:
    """Return the schema of files that are read as one table, with a column of text for each partition.

    Parameters
    ----------
    schemas : sequence of (str, pyarrow.Schema)
        The name of each file, for messages, and its schema.
    partitions : sequence of str
        Columns whose values are in the names of folders.
    options : Options

    Raises
    ------
    FormatError
        If a file has other columns than the first one, or other metadata.
    """
    first_name, whole = schemas[0]
    refuse_equal_names(whole.names, first_name)
    for name, schema in schemas:
        require_alike(schema, whole, name, first_name)
    whole = _without_nulls(whole, [schema for _, schema in schemas])
    for name in partitions:
        if name in whole.names:
            raise FormatError(f"{first_name}: {name} is a column and a partition. Leave out one of them.")
        whole = whole.append(pa.field(name, pa.string()))
    return described_together(whole, schemas, options)


def _without_nulls(whole: pa.Schema, schemas: Sequence[pa.Schema]) -> pa.Schema:
    """Return the schema with types from other files for columns that have no value in the first one."""
    for at, field in enumerate(whole):
        if pa.types.is_null(field.type):
            kinds = (own.field(field.name).type for own in schemas)
            found = next((kind for kind in kinds if not pa.types.is_null(kind)), field.type)
            whole = whole.set(at, field.with_type(found))
    return whole


def require_alike(schema: pa.Schema, first: pa.Schema, name: str, first_name: str) -> None:
    """Refuse a file with other columns than the first one, or with one that holds something else.

    Raises
    ------
    FormatError
    """
    if sorted(schema.names) != sorted(first.names):
        raise FormatError(
            f"{name}: has the columns {', '.join(schema.names)}, the first file {', '.join(first.names)} "
            f"({first_name}). Files that are read as one table have the same columns."
        )
    for field in schema:
        there, expected = _family(field.type), _family(first.field(field.name).type)
        if there != expected and "null" not in (there, expected):
            raise FormatError(
                f"{name}: column {field.name} holds {there} ({field.type}), in {first_name} it holds {expected} "
                f"({first.field(field.name).type}). Files that are read as one table hold the same: write one again."
            )


def _family(kind: pa.DataType) -> str:
    """Return the kind of a type; the files of a table must agree in it."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if is_text_or_bytes(kind):
        return "text"
    is_number = pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind)
    return "numbers" if is_number else str(kind)


def described_together(whole: pa.Schema, parts: Sequence[tuple[str, pa.Schema]], options: Options) -> pa.Schema:
    """Return a schema with the combined metadata of files that are read as one table.

    Parameters
    ----------
    whole : pyarrow.Schema
    parts : sequence of (str, pyarrow.Schema)
        The name of each file, for messages, and its schema.
    options : Options

    Raises
    ------
    FormatError
        If the metadata contradict each other.
    """
    described = [description(schema) for _, schema in parts]
    first, first_name = described[0], parts[0][0]
    for (name, _), other in zip(parts, described, strict=True):
        for word in ("roles", "log10", "is_from_lr", "class_scores"):
            overruled = options.columns is not None if word == "roles" else word == "log10" == options.unit
            if not overruled and (first.get(word) or None) != (other.get(word) or None):
                raise FormatError(
                    f"{name}: its metadata say {word} = {other.get(word)}, those of {first_name} "
                    f"{first.get(word)}. Files that are read as one table must mean the same: write one of them again."
                )
        if ("classes" in first) != ("classes" in other):
            with_list, without = (name, first_name) if "classes" in other else (first_name, name)
            raise FormatError(f"{with_list} lists all classes, {without} does not. Write one of them again.")
    listed = [one["classes"] for one in described if isinstance(one.get("classes"), list)]
    if not listed:
        return whole
    classes = list(dict.fromkeys(str(name) for names in listed for name in names))
    return whole.with_metadata({**(whole.metadata or {}), METADATA: json.dumps(first | {"classes": classes}).encode()})
