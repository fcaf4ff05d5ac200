"""Folders and patterns of Parquet and Arrow files as one table in pieces: only footers are read."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import pyarrow as pa

from deciban._files import PathLike, display_name
from deciban.errors import FormatError
from deciban.io.doubles import refuse_doubles
from deciban.io.formats import Options, bare_name
from deciban.io.formats.parquet import folder_files, group_name, opened_file, partition_of, table_schema
from deciban.io.library_errors import only_format_errors
from deciban.io.source import Source, files_of
from deciban.messages import counted
from deciban.trials.frames.columns import is_text_or_bytes
from deciban.trials.sources import Stamp, changed

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


@dataclass(frozen=True)
class TableFile:
    """A file of a table, and the columns that its folders say."""

    path: Path
    partition: tuple[tuple[str, str | None], ...] = ()


def table_files(path: PathLike) -> list[TableFile]:
    """The files of a path, a folder or a pattern.

    Raises
    ------
    FormatError, InputError
        If there is none, or files of a folder lie in different partitions.
    """
    found: list[TableFile] = []
    for one in map(Path, files_of(path)):
        if not one.is_dir():
            found.append(TableFile(one))
            continue
        own = [TableFile(file, tuple(partition_of(file, one).items())) for file in folder_files(one, display_name(one))]
        for file in own:
            if [name for name, _ in file.partition] != [name for name, _ in own[0].partition]:
                raise FormatError(
                    f"{display_name(file.path)}: lies in other partitions than {display_name(own[0].path)}. Sort the "
                    "files into one kind."
                )
        found += own
    return found


def is_columnar(path: Path) -> bool:
    """Whether a file is Parquet, or Arrow of the kind whose batches can be read one by one; not compressed."""
    source = Source(path)
    return source.is_plain and (source.kind == "Parquet" or source.head.startswith(b"ARROW1"))


def open_files(path: PathLike, files: Sequence[TableFile], options: Options, *, are_ours: bool = False) -> RowTable:
    """List the pieces of files that are one table.

    Parameters
    ----------
    path : path
        As the user named it.
    files : sequence of TableFile
    options : Options
        What the user says about columns: metadata need not agree about what they overrule.
    are_ours : bool
        Whether these were written here: then two may well hold the same.

    Raises
    ------
    FormatError, OSError
        If a file is damaged, has other columns than the first one, or is there twice.
    """
    opened = [_opened(file) for file in files]
    if not are_ours:
        refuse_doubles([file.path for file, (_, rows) in zip(files, opened, strict=True) if rows])
    schemas = [(display_name(file.path), schema) for file, (schema, _) in zip(files, opened, strict=True)]
    partitions = [name for name, _ in files[0].partition]
    whole = table_schema(schemas, partitions, options)
    rows = tuple(_typed(one, schema, whole) for schema, own in opened for one in own)
    kinds = " and ".join(dict.fromkeys(one.kind.lower() for one in rows)) or "parquet"
    reading = f"{kinds}, {counted(len(files), 'file')}, {counted(len(rows), 'piece')}"
    double = frozenset(field.name for _, schema in schemas for field in schema if _is_double(field.type))
    name, system = display_name(path), bare_name(Path(display_name(path)).name)
    return RowTable(name, whole, rows, reading, tuple(partitions), system, double, (path,))


def _typed(rows: FileRows, schema: pa.Schema, whole: pa.Schema) -> FileRows:
    """Rows whose columns without any value have the type of other files."""
    bare = [one.name for one in schema if pa.types.is_null(one.type)]
    return replace(rows, bare=tuple((name, whole.field(name).type) for name in bare)) if bare else rows


def _is_double(kind: pa.DataType) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return kind not in (pa.float16(), pa.float32(), pa.null())


def _opened(file: TableFile) -> tuple[pa.Schema, list[FileRows]]:
    source, name = Source(file.path), display_name(file.path)
    if not is_columnar(file.path):
        if not file.path.stat().st_size:
            raise FormatError(f"{name}: the file is empty (0 bytes). Write it again, or take it away.")
        raise FormatError(
            f"{name}: no Parquet file, and no Arrow file of the kind with a footer. Files that are read as one table "
            "are all of these kinds. Take it away, or name the others by a pattern ('shards/*.parquet')."
        )
    return _opened_parquet(file, source) if source.kind == "Parquet" else _opened_arrow(file, name)


def _opened_parquet(file: TableFile, source: Source) -> tuple[pa.Schema, list[FileRows]]:
    with only_format_errors(source.name, "Parquet"):
        stamp = stamp_of(file.path)
        opened = opened_file(source, ())
        schema, meta = opened.schema_arrow, opened.metadata
        text = tuple(one.name for one in schema if is_text_or_bytes(one.type))
        counts = [meta.row_group(at).num_rows for at in range(meta.num_row_groups)]
    own = source.name
    return schema, [
        ParquetRows(full_path(file.path), at, group_name(own, at), n_rows, stamp, file.partition, text=text)
        for at, n_rows in enumerate(counts)
        if n_rows
    ]


def _opened_arrow(file: TableFile, name: str) -> tuple[pa.Schema, list[FileRows]]:
    with only_format_errors(name, "Arrow"):
        stamp = stamp_of(file.path)
        schema = opened_arrow(str(file.path)).schema
        opened = opened_arrow(str(file.path), schema.names[:1])
        counts = [opened.get_batch(at).num_rows for at in range(opened.num_record_batches)]
    return schema, [
        ArrowRows(full_path(file.path), at, f"{name}, batch {at}", n_rows, stamp, file.partition)
        for at, n_rows in enumerate(counts)
        if n_rows
    ]
