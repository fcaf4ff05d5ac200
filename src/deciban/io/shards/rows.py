"""Rows of tables in pieces: row groups of Parquet files and batches of Arrow files, each read by itself."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any

import pyarrow as pa

from deciban.errors import FormatError
from deciban.io.library_errors import only_format_errors
from deciban.io.shards.pieces import Stamp, changed
from deciban.io.source import PathLike

_MOST_OPEN = 8
"""Files that a thread keeps open: what it reads next is mostly in the one that it read last."""

_BUFFER = 1 << 20
"""Bytes of a column of a Parquet file that are read at once."""

_OPEN = threading.local()


def stamp_of(path: PathLike) -> Stamp:
    """By what a file will be known again."""
    known = Path(path).stat()
    return Stamp(known.st_size, known.st_mtime_ns)


def full_path(path: PathLike) -> str:
    """Where a file is, also for a process with another working directory."""
    return str(Path(path).absolute())


def kept_open(path: str, stamp: Stamp, name: str, make: Callable[[], Any], *more: object) -> Any:
    """What this thread opened before, if the file is still the same.

    Parameters
    ----------
    path : str
    stamp : Stamp
        Of the file when the source was opened.
    name : str
        What messages call the piece that is read.
    make : function
        Opens the file.
    *more : hashable
        What else belongs to how it is opened.

    Raises
    ------
    FormatError
        If the file is another one by now.
    """
    require_same(path, stamp, name)
    opened: OrderedDict[Any, Any] = _OPEN.__dict__.setdefault("files", OrderedDict())
    key = (path, stamp, *more)
    if key not in opened:
        opened[key] = make()
        while len(opened) > _MOST_OPEN:
            opened.popitem(last=False)
    opened.move_to_end(key)
    return opened[key]


def require_same(path: str, stamp: Stamp, name: str) -> None:
    """Refuse a file that is not what it was when the source was opened; ``name`` is the piece that is read.

    Raises
    ------
    FormatError
        If it is another one by now, or not there.
    """
    try:
        is_same = stamp_of(path) == stamp
    except FileNotFoundError as error:
        raise FormatError(
            f"{name}: changed while it was read: {path} is not there any more, or not on the machine that reads it. "
            "Files must lie where all workers of a cluster see them under the same path."
        ) from error
    if not is_same:
        raise changed(name)


class Rows(ABC):
    """Some rows of a table. Can be pickled.

    Attributes
    ----------
    name : str
        What messages call them: file and place in it.
    n_rows : int
        Of a matrix more than there are, if not all cells are trials.
    """

    name: str
    n_rows: int

    @abstractmethod
    def table(self, columns: Sequence[str]) -> pa.Table:
        """Read columns, in this order.

        Raises
        ------
        FormatError, OSError
            If they cannot be read, or are not what they were.
        """

    def where(self, row: int | None, columns: Sequence[str] = ()) -> str:
        """The place of a row in words, or of all of them; ``columns`` are those in question."""
        del columns  # they are all in one table
        return self.name if row is None else f"{self.name}, row {row}"


@dataclass(frozen=True, slots=True)
class FileRows(Rows):
    """Rows of a file.

    Attributes
    ----------
    path : str
    place : int
        Number of the row group or batch.
    name : str
    n_rows : int
    stamp : Stamp
    partition : tuple of (str, str or None)
        Columns with one value in the whole file, as the names of its folders say.
    start : tuple of str and int, optional
        What a user knows this file as, and the first of these rows there; left out, rows are counted in the row group
        or batch.
    bare : tuple of (str, pyarrow.DataType)
        Columns of which this file has no value, with the type that others give them.
    """

    path: str
    place: int
    name: str
    n_rows: int
    stamp: Stamp
    partition: tuple[tuple[str, str | None], ...] = ()
    start: tuple[str, int] | None = None
    bare: tuple[tuple[str, pa.DataType], ...] = ()

    kind = ""

    def where(self, row: int | None, columns: Sequence[str] = ()) -> str:
        """See `Rows.where`."""
        if row is None or self.start is None:
            return Rows.where(self, row, columns)
        name, first = self.start
        return f"{name}, row {first + row}"

    def table(self, columns: Sequence[str]) -> pa.Table:
        """See `Rows.table`; a file that changes while it is read is no damaged one, and no whole one."""
        try:
            found = self._table(columns)
        finally:
            require_same(self.path, self.stamp, self.name)
        return found

    def _table(self, columns: Sequence[str]) -> pa.Table:
        constant = dict(self.partition)
        with only_format_errors(self.name, self.kind):
            own = [name for name in columns if name not in constant]
            table = self._read(own)
            table.validate(full=True)
            for name, kind in self.bare:
                if name in own:
                    empty = pa.nulls(len(table), kind)
                    table = table.set_column(table.column_names.index(name), name, empty)
            for name in columns:
                if name in constant:
                    values = pa.repeat(pa.scalar(constant[name], pa.string()), self.n_rows).dictionary_encode()
                    table = table.append_column(name, values)
            return table.select(list(columns))

    @abstractmethod
    def _read(self, columns: list[str]) -> pa.Table:
        """Columns of the file as they are."""


@dataclass(frozen=True, slots=True)
class ParquetRows(FileRows):
    """A row group of a Parquet file.

    Attributes
    ----------
    text : tuple of str
        Columns that are read as dictionaries.
    """

    text: tuple[str, ...] = field(default=())

    kind = "Parquet"

    def _read(self, columns: list[str]) -> pa.Table:
        import pyarrow.parquet as pq

        def make() -> Any:
            how: Any = {"buffer_size": _BUFFER, "pre_buffer": False}  # else it keeps all that was ever read of it
            how["page_checksum_verification"] = True
            return pq.ParquetFile(self.path, read_dictionary=list(self.text), **how)

        opened = kept_open(self.path, self.stamp, self.name, make)
        if not columns:
            return _without_columns(self.n_rows)
        return opened.read_row_group(self.place, columns=columns, use_threads=False)


@dataclass(frozen=True, slots=True)
class ArrowRows(FileRows):
    """A batch of an Arrow file."""

    kind = "Arrow"

    def _read(self, columns: list[str]) -> pa.Table:
        def make() -> Any:
            return opened_arrow(self.path, columns)

        if not columns:
            return _without_columns(self.n_rows)
        opened = kept_open(self.path, self.stamp, self.name, make, *columns)
        return pa.Table.from_batches([opened.get_batch(self.place)])


def opened_arrow(path: str, columns: Sequence[str] | None = None) -> Any:
    """An Arrow file, of which only these columns are read."""
    stream = pa.memory_map(path)
    opened = pa.ipc.open_file(stream)
    if columns is None:
        return opened
    fields = sorted(opened.schema.get_field_index(name) for name in columns)
    return pa.ipc.open_file(pa.memory_map(path), options=pa.ipc.IpcReadOptions(included_fields=fields))


def _without_columns(n_rows: int) -> pa.Table:
    """A table of so many rows; one of no column would have none."""
    return pa.table({"": pa.nulls(n_rows)})


@dataclass(frozen=True, eq=False)
class RowTable:
    """A table in pieces.

    Attributes
    ----------
    name : str
        What messages call it.
    schema : pyarrow.Schema
        With what the metadata of all files say.
    rows : tuple of Rows
    reading : str
        How it was understood, for messages.
    partitions : tuple of str
        Columns that are conditions whatever they are called.
    system : str
        What a single system of it is called.
    is_double : frozenset of str
        Columns of floats that some file has as float64.
    paths : tuple
        What the user named.
    kept : object
        What has to live as long as it.
    told : bool
        Whether the metadata say what columns are, and nothing that a user says of columns and words counts.
    target : str, optional
        Of two files, the column that says whether a row is of that of targets.
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

    @property
    def n_rows(self) -> int:
        """Rows of all pieces."""
        return sum(one.n_rows for one in self.rows)

    def where(self, row: int) -> str:
        """The place of a row of the whole table in words."""
        starts = [0, *accumulate(one.n_rows for one in self.rows)]
        at = bisect_right(starts, row) - 1
        return self.rows[at].where(row - starts[at])
