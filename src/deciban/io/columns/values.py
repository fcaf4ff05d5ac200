"""Tables whose rows are read on demand, checks of the values of columns, and tables of trials from columns."""

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

import numpy as np
import pyarrow as pa

from deciban._arrow import as_text, constant, encode, of_numpy, pc, to_numpy, with_gaps
from deciban._validate import arrays as _validate
from deciban._validate.arrays import Vocabulary
from deciban.errors import DecibanError, FormatError, TrialError, counted, option
from deciban.io.columns.headers import IDENTITY
from deciban.io.formats import InputOptions, RowError
from deciban.io.text.reader import is_number
from deciban.trials.frames import METADATA, description, is_text_or_bytes, of_strings
from deciban.types import AnyArray, BoolArray, FloatArray, IntArray


class Rows(ABC):
    """Some rows of a table. Can be pickled.

    Attributes
    ----------
    name : str
        The file and the place in it, for messages.
    n_rows : int
        An upper bound for matrices, because some cells may not be trials.
    n_bytes : int
        Size of the file, to check the sizes that it declares.
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
            If they cannot be read, or the file has changed since it was opened.
        """

    def where(self, row: int | None, columns: Sequence[str] = ()) -> str:
        """Return the place of a row, or of all rows, as text; ``columns`` are the columns that a message is about."""
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
    """Consecutive rows of other rows, from ``start`` on."""

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
    """Read columns of several parts as one table; different types are promoted."""
    tables = [one.table(columns) for one in parts]
    if len(tables) == 1:
        return tables[0]
    return pa.concat_tables(tables, promote_options="permissive").unify_dictionaries()


def place_in(parts: Sequence[Rows], row: int | None, columns: Sequence[str] = ()) -> str:
    """Return the place of a row of several parts as text; for None, the names of the parts."""
    if row is None:
        return " and ".join(one.where(None, columns) for one in parts)
    starts = [*accumulate((one.n_rows for one in parts[:-1]), initial=0)]
    at = bisect_right(starts, row) - 1
    return parts[at].where(row - starts[at], columns)


def places_in(parts: Sequence[Rows], rows: Sequence[int]) -> list[str]:
    """Return the places of rows of several parts as text."""
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
        Paths that the user gave.
    kept : object
        An object that must exist as long as the table.
    is_described : bool
        True if only the metadata determine the roles of columns; options about columns and words are ignored.
    target : str, optional
        The column with the truth, if targets and non-targets came from two files.
    """

    name: str
    schema: pa.Schema
    rows: tuple[Rows, ...]
    reading: str
    partitions: tuple[str, ...] = ()
    system: str = "system"
    is_double: frozenset[str] = frozenset()
    paths: tuple[Any, ...] = ()
    kept: object = None
    is_described: bool = False
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
        """Return the places of rows as text."""
        return places_in(self.rows, rows)


@contextmanager
def placed(rows: Rows, columns: Sequence[str], taken: AnyArray | None = None) -> Iterator[None]:
    """Add the place to errors; ``taken`` are the indices of the rows, if only some were read."""

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
            f"{rows.where(None, columns)}: a column of {', '.join(columns)} contains values that cannot be read "
            f"({error}). Write the file again, with text in UTF-8."
        ) from error


def refuse_equal_names(names: Sequence[str], name: str) -> None:
    """Raise if a table has two columns of the same name.

    Raises
    ------
    FormatError
    """
    if len(set(names)) < len(names):
        twice, _ = Counter(names).most_common(1)[0]
        raise FormatError(f"{name}: two columns are called {twice!r}. Rename one.")


def table_schema(
    schemas: Sequence[tuple[str, pa.Schema]], partitions: Sequence[str], options: InputOptions
) -> pa.Schema:
    """Return the schema of files that are read as one table, with a text column for each partition column.

    Parameters
    ----------
    schemas : sequence of (str, pyarrow.Schema)
        The name of each file, for messages, and its schema.
    partitions : sequence of str
        Columns whose values are in the names of folders.
    options : InputOptions

    Raises
    ------
    FormatError
        If a file has other columns than the first one, or different metadata.
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
    """Return the schema with types from other files for columns without values in the first file."""
    for at, field in enumerate(whole):
        if pa.types.is_null(field.type):
            kinds = (own.field(field.name).type for own in schemas)
            result = next((kind for kind in kinds if not pa.types.is_null(kind)), field.type)
            whole = whole.set(at, field.with_type(result))
    return whole


def require_alike(schema: pa.Schema, first: pa.Schema, name: str, first_name: str) -> None:
    """Raise if a file has other columns than the first one, or another kind of values in a column.

    Raises
    ------
    FormatError
    """
    if sorted(schema.names) != sorted(first.names):
        raise FormatError(
            f"{name}: has the columns {', '.join(schema.names)}, the first file {', '.join(first.names)} "
            f"({first_name}). Files that are read as one table must have the same columns."
        )
    for field in schema:
        there, expected = _family(field.type), _family(first.field(field.name).type)
        if there != expected and "null" not in (there, expected):
            raise FormatError(
                f"{name}: column {field.name} contains {there} ({field.type}), in {first_name} it contains {expected} "
                f"({first.field(field.name).type}). Files that are read as one table must agree: write one again."
            )


def _family(kind: pa.DataType) -> str:
    """Return the kind of a type, in which the files of a table must agree."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if is_text_or_bytes(kind):
        return "text"
    return "numbers" if is_numeric(kind) else str(kind)


def is_numeric(kind: pa.DataType) -> bool:
    """Return True for types of floats, integers and decimals."""
    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind))


def described_together(whole: pa.Schema, parts: Sequence[tuple[str, pa.Schema]], options: InputOptions) -> pa.Schema:
    """Return a schema with the combined metadata of files that are read as one table.

    Parameters
    ----------
    whole : pyarrow.Schema
    parts : sequence of (str, pyarrow.Schema)
        The name of each file, for messages, and its schema.
    options : InputOptions

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
                    f"{name}: its metadata contain {word} = {other.get(word)}, but {first_name} {first.get(word)}. "
                    "Files that are read as one table must agree: write one of them again."
                )
        if ("classes" in first) != ("classes" in other):
            with_list, without = (name, first_name) if "classes" in other else (first_name, name)
            raise FormatError(f"{with_list} lists all classes, {without} does not. Write one of them again.")
    items = [one["classes"] for one in described if isinstance(one.get("classes"), list)]
    if not items:
        return whole
    classes = list(dict.fromkeys(str(name) for names in items for name in names))
    return whole.with_metadata({**(whole.metadata or {}), METADATA: json.dumps(first | {"classes": classes}).encode()})


def plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column without dictionaries of numbers, with bytes as text."""
    if pa.types.is_dictionary(column.type):
        if is_text_or_bytes(column.type.value_type):
            return of_strings(column)
        return pc.cast(column, column.type.value_type)
    return pc.cast(column, pa.string()) if is_text_or_bytes(column.type) else column


def refuse_missing(column: pa.ChunkedArray, header: str, role: str) -> None:
    """Raise if a column lacks a value in some row.

    Raises
    ------
    RowError
    """
    if column.null_count:
        what = f"the name of the {role}" if role in IDENTITY else f"the {role}"
        row = int(np.argmax(to_numpy(column.is_null())))
        raise RowError(f"{what} is missing (column {header}). Every trial needs one", row)


_PAIRED = frozenset(("1", "-1", "1.0", "0.0", "-1.0", "t", "f", "ss", "ds"))
"""Words that have a meaning only together with another word."""


def settled(vocabulary: Vocabulary, label: str, batches: Sequence[Rows]) -> Vocabulary:
    """Return the vocabulary for all batches, in which some words have a meaning only together with others.

    Batches are read until the meaning is certain: a batch may contain only ``-1``, which means non-target if ``1`` also
    occurs.

    Parameters
    ----------
    vocabulary : Vocabulary
    label : str
        The column of labels.
    batches : sequence of Rows
    """
    if not vocabulary.folded:
        return vocabulary
    seen: set[str] = set()
    for batch in batches:
        column = plain(batch.table([label]).column(label))
        if pa.types.is_boolean(column.type):
            return vocabulary
        seen |= {str(word).casefold() for word in _words(column)}
        if not seen <= _PAIRED:
            return vocabulary
        within = vocabulary.within(seen)
        if within is not vocabulary:  # both words of a pair occur, so no other word may follow
            known = {word: meaning for word in seen if (meaning := within.meaning(word)) is not None}
            return Vocabulary(known, folded=True)
    return vocabulary


def _words(column: pa.ChunkedArray) -> list[str]:
    """Return the labels that occur, as `truth_of` reads them; an empty label if it would refuse them."""
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        try:
            column = pc.cast(column, pa.int64()).cast(pa.string())
        except pa.ArrowInvalid:
            return [""]
    lines: list[str] = pc.unique(pc.cast(column, pa.string())).drop_null().to_pylist()
    return lines


def names_in(column: pa.Array | pa.ChunkedArray, name: str, role: str) -> tuple[IntArray, pa.Array]:
    """Return a code for each row of a column, and the distinct values as text.

    Parameters
    ----------
    column : pyarrow array
    name : str
    role : str
        Contents of the column, for messages: "contains the weights of trials".

    Raises
    ------
    RowError
        If a row has no value.
    """
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    is_coded = pa.types.is_dictionary(array.type) and array.type.value_type == pa.string()
    array = array if is_coded and not array.dictionary.null_count else as_text(array)
    if array.null_count:
        refuse_gaps(to_numpy(array.is_null()), name, role)
    codes, names = encode(array)
    occurs = np.zeros(len(names), np.bool_)
    occurs[codes] = True
    if not occurs.all():
        codes, names = (np.cumsum(occurs, dtype=codes.dtype) - 1)[codes], names.filter(of_numpy(occurs))
    refuse_gaps(codes == pc.index(names, constant("")).as_py(), name, role)
    return codes, names


def coded_column(values: pa.Array) -> tuple[IntArray, pa.Array]:
    """Return a code for each row of a column, and the distinct values; the next code means a missing value."""
    coded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
    return with_gaps(coded.indices, len(coded.dictionary)), coded.dictionary


def refuse_gaps(bad: BoolArray, name: str, role: str) -> None:
    """Raise if some rows of a column have no value.

    Raises
    ------
    RowError
    """
    advice = f". Complete it, or leave these trials out ({option(where=...)})"
    _refuse(bad, f"no value in column {name!r}, which {role}", advice)


def _refuse(bad: BoolArray, words: str, advice: str = "") -> None:
    if bad.any():
        n = counted(int(np.count_nonzero(bad)), "such trial")
        raise RowError(f"{words} ({n}){advice}", int(np.argmax(bad)))


_WEIGHS = "contains the weights of trials"


def weights_of(column: pa.Array | pa.ChunkedArray, name: str) -> FloatArray:
    """Return weights of trials from a column of numbers, or of text that can be parsed as numbers.

    Raises
    ------
    RowError
        If a value is missing, not a number, or not a valid weight.

    Examples
    --------
    >>> weights_of(pa.chunked_array([["0.5", "2"]]), "w")
    array([0.5, 2. ])
    """
    if is_numeric(column.type):
        if column.null_count:
            refuse_gaps(to_numpy(column.is_null()), name, _WEIGHS)
        weight: FloatArray = to_numpy(pc.cast(column, pa.float64(), safe=False))
    else:  # parse each distinct text once
        codes, texts = names_in(column, name, _WEIGHS)
        words: list[str] = texts.to_pylist()
        bad = np.array([not is_number(text) for text in words], np.bool_)[codes]
        shown = words[int(codes[np.argmax(bad)])][:40] if bad.any() else ""
        _refuse(bad, f"{shown!r} in column {name!r}, which {_WEIGHS}, is not a number")
        weight = np.array([float(text) for text in words], np.float64)[codes]
    for bad, rule in _validate.weight_rules(weight):
        if bad.any():
            _refuse(bad, f"{weight[np.argmax(bad)]:g} in column {name!r}, but {rule}")
    return weight


def weights_or_zeros(column: pa.Array) -> FloatArray:
    """Return weights like `weights_of`, but 0 for trials without a valid one.

    Examples
    --------
    >>> weights_or_zeros(pa.array(["0.5", None, "many", "2"]))
    array([0.5, 0. , 0. , 2. ])
    """
    codes, known = coded_column(column)
    weight = np.array([*(float(one) if is_number(one) else 0.0 for one in as_text(known).to_pylist()), 0.0])
    return np.where(np.isfinite(weight) & (weight > 0), weight, 0.0)[codes]
