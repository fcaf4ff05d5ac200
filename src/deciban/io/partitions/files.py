"""Parquet and Arrow files (single files, folders, patterns) as one table; only footers are read at first."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote

import pyarrow as pa

from deciban.errors import FormatError, counted, display_name
from deciban.io.columns.columnar import check_size, plain_type
from deciban.io.columns.values import Rows, RowTable, table_schema
from deciban.io.formats import SUMMARY, InputOptions, bare_name, only_format_errors
from deciban.io.source import Source, files_inside, files_of, refuse_doubles
from deciban.trials import Origin
from deciban.trials.frames import is_text_or_bytes
from deciban.trials.sources import changed
from deciban.types import Foreign, PathLike

_MOST_OPEN = 8
"""Largest number of files that a thread keeps open; successive reads are mostly from the same file."""


_OF_CODE = 8
"""Bytes per name in a Parquet column above which names are mostly distinct, so that it is not read as a dictionary."""

_BUFFER = 1 << 20
"""Number of bytes of a Parquet column that are read at once."""


_OPEN = threading.local()

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_SINGLE = (pa.float16(), pa.float32(), pa.null())


Stamp: TypeAlias = tuple[int, int]
"""Size and time of a file, to detect changes between two passes."""


def stamp_of(path: PathLike) -> Stamp:
    """Return the size and time of a file, to detect changes."""
    known = Path(path).stat()
    return known.st_size, known.st_mtime_ns


def full_path(path: PathLike) -> str:
    """Return the absolute path of a file, for processes with another working directory."""
    return str(Path(path).absolute())


def kept_open(path: str, stamp: Stamp, name: str, make: Callable[[], Foreign], *more: object) -> Foreign:
    """Return a file that this thread has already opened, or open it; raise if the file has changed.

    Parameters
    ----------
    path : str
    stamp : Stamp
        The stamp of the file when the source was opened.
    name : str
        Name of the partition for messages.
    make : function
        Opens the file.
    *more : hashable
        Other arguments on which the opened file depends.

    Raises
    ------
    FormatError
        If the file has changed.
    """
    require_same(path, stamp, name)
    opened: OrderedDict[object, Foreign] = _OPEN.__dict__.setdefault("files", OrderedDict())
    key = (path, stamp, *more)
    if key not in opened:
        opened[key] = make()
        while len(opened) > _MOST_OPEN:
            opened.popitem(last=False)
    opened.move_to_end(key)
    return opened[key]


def require_same(path: str, stamp: Stamp, name: str) -> None:
    """Raise if a file has changed since the source was opened; ``name`` is the partition that is read.

    Raises
    ------
    FormatError
        If the file has changed or was removed.
    """
    try:
        is_same = stamp_of(path) == stamp
    except FileNotFoundError as error:
        raise FormatError(
            f"{name}: changed while it was read: {path} does not exist any more, or not on the machine that reads it. "
            "All workers of a cluster need access to files under the same path."
        ) from error
    if not is_same:
        raise changed(name)


@dataclass(frozen=True, slots=True)
class FileRows(Rows):
    """Rows of a Parquet or Arrow file: a row group, a batch, or all rows of a file that is not plain.

    Attributes
    ----------
    path : str
    place : int
        Index of the row group or batch.
    name : str
    n_rows : int
    stamp : Stamp or None
        None for a stream and for compressed files, whose bytes are in memory.
    kind : {"Parquet", "Arrow"}
    n_bytes : int
        Share of the size of the file.
    partition : tuple of (str, str or None)
        Columns with one value for the whole file, from the names of its folders.
    text : tuple of str
        Columns that are read as dictionaries.
    opened : Source, optional
        The bytes of a file that is not plain.
    is_mapped : bool
        True if an Arrow file is mapped into memory.
    start : tuple of Origin and int, optional
        The file of the user, and the index of the first of these rows in it; by default, rows are counted in the row
        group or batch.
    bare : tuple of (str, pyarrow.DataType)
        Columns without values in this file, with their types in other files.
    """

    path: str
    place: int
    name: str
    n_rows: int
    stamp: Stamp | None
    kind: str = "Parquet"
    n_bytes: int = 0
    partition: tuple[tuple[str, str | None], ...] = ()
    text: tuple[str, ...] = ()
    opened: Source | None = None
    is_mapped: bool = False
    start: tuple[Origin, int] | None = None
    bare: tuple[tuple[str, pa.DataType], ...] = ()

    def where(self, row: int | None, columns: Sequence[str] = ()) -> str:
        """See `Rows.where`."""
        if row is None or self.start is None:
            return Rows.where(self, row, columns)
        origin, first = self.start
        return origin.where(first + row)

    def table(self, columns: Sequence[str]) -> pa.Table:
        """See `Rows.table`; a file that changed during reading is reported as changed, not as damaged."""
        try:
            with only_format_errors(self.name, self.kind):
                return self._table(columns)
        finally:
            if self.stamp is not None:
                require_same(self.path, self.stamp, self.name)

    def _table(self, columns: Sequence[str]) -> pa.Table:
        constant = dict(self.partition)
        own = [name for name in columns if name not in constant]
        check_size(self.n_rows, len(own), max(self.n_bytes, 1), self.name)
        table = self._read(own) if own else pa.table({"": pa.nulls(self.n_rows)})  # otherwise it would have no rows
        table.validate(full=True)
        for name, kind in self.bare:
            if name in own:
                table = table.set_column(table.column_names.index(name), name, pa.nulls(len(table), kind))
        for name in columns:
            if name in constant:
                values = pa.repeat(pa.scalar(constant[name], pa.string()), self.n_rows).dictionary_encode()
                table = table.append_column(name, values)
        return table.select(list(columns))

    def _read(self, columns: list[str]) -> pa.Table:
        """Read columns, from a file that is kept open or from bytes in memory."""
        value = self.path if self.opened is None else self.opened
        if self.kind == "Parquet":
            make, key = partial(opened_parquet, value, self.text), self.text
        else:
            make, key = partial(opened_arrow, value, columns, mapped=self.is_mapped), tuple(columns)
        stamp = None if self.opened is not None else self.stamp  # a stream can be read once
        opened = make() if stamp is None else kept_open(self.path, stamp, self.name, make, *key)
        if self.opened is not None:
            return opened.read(columns=columns) if self.kind == "Parquet" else opened.read_all()
        if self.kind == "Parquet":
            return opened.read_row_group(self.place, columns=columns, use_threads=False)
        return pa.Table.from_batches([opened.get_batch(self.place)])


def opened_parquet(value: str | Source, text: Sequence[str] = ()) -> Foreign:
    """Open a Parquet file, with some columns as dictionaries."""
    import pyarrow.parquet as pq

    opened = value if isinstance(value, str) else value.seekable()
    path = os.fspath(opened) if isinstance(opened, Path) else opened
    opens = partial(pq.ParquetFile, buffer_size=_BUFFER, pre_buffer=False)  # otherwise all data stay in memory
    return opens(path, read_dictionary=list(text), page_checksum_verification=True)


def opened_arrow(value: str | Source, columns: Sequence[str] | None = None, *, mapped: bool = False) -> Foreign:
    """Open an Arrow file or stream to read some columns, perhaps mapped into memory."""
    source = Source(value) if isinstance(value, str) else value
    if source.head.startswith(b"FEA1"):
        raise FormatError(
            f"{source.name}: Feather version 1, which is obsolete. Save it with pyarrow.feather.write_feather."
        )
    opened, is_file = source.seekable(), source.head.startswith(b"ARROW1")

    def reader(numbers: Sequence[int] | None) -> Foreign:
        if isinstance(opened, Path):
            stream = pa.memory_map(str(opened)) if mapped else pa.OSFile(str(opened))
        else:
            stream = pa.BufferReader(opened.getbuffer())
        how = pa.ipc.IpcReadOptions(included_fields=None if numbers is None else list(numbers))
        return pa.ipc.open_file(stream, options=how) if is_file else pa.ipc.open_stream(stream, options=how)

    if columns is None:
        return reader(None)
    return reader(sorted(map(reader(None).schema.get_field_index, columns)))


def checked_parquet(source: Source) -> Foreign:
    """Open a Parquet file, and check its footer.

    Raises
    ------
    FormatError
        If the row counts are inconsistent or implausible, or the file is a summary file.
    """
    file = opened_parquet(source)
    meta, size = file.metadata, source.size
    if SUMMARY in (meta.metadata or {}):
        raise FormatError(
            f"{source.name}: is a summary file, not a table of trials. deciban eval, report, plot, calibrate and fuse "
            "read it, without other files than summaries and without a key; for other commands, name the original "
            "files."
        )
    groups = [meta.row_group(at) for at in range(meta.num_row_groups)]
    n_rows = sum(group.num_rows for group in groups)
    if n_rows != meta.num_rows or any(group.num_rows < 0 for group in groups):
        raise FormatError(
            f"{source.name}: declares {meta.num_rows:,} rows, but its row groups {n_rows:,}. Write the file again."
        )
    check_size(n_rows, 1, size, source.name)
    n_bytes = sum(group.total_byte_size for group in groups)
    check_size(n_bytes // 8, 1, size, source.name)
    return file


def folder_files(root: Path, name: str) -> list[Path]:
    """Return the files of a folder in order, without hidden files.

    Raises
    ------
    FormatError
        If there are none, or one is a broken link.
    """
    paths = files_inside(root)
    for path in paths:
        if not path.exists():
            raise FormatError(f"{display_name(path)}: a broken link. Restore its file, or remove the link.")
    if not paths:
        raise FormatError(f"{name}: a folder without files. Expected Parquet files.")
    return paths


def partition_of(path: Path, root: Path) -> dict[str, str | None]:
    """Return names and values of the folders ``name=value`` above a file."""
    entries: dict[str, str | None] = {}
    for folder in path.relative_to(root).parts[:-1]:
        key, sign, value = folder.partition("=")
        if sign:
            entries[unquote(key)] = None if value == _NO_VALUE else unquote(value)
    return entries


@dataclass(frozen=True)
class TableFile:
    """A file of a table, columns from its folders, and its bytes if it was already opened."""

    path: Path
    partition: tuple[tuple[str, str | None], ...] = ()
    opened: Source | None = None

    @property
    def source(self) -> Source:
        """The bytes of the file."""
        return Source(self.path) if self.opened is None else self.opened


def table_files(path: PathLike) -> list[TableFile]:
    """Return the files of a path, a folder or a pattern.

    Raises
    ------
    FormatError, InputError
        If there are none, or files of a folder have different partition columns.
    """
    result: list[TableFile] = []
    for one in map(Path, files_of(path)):
        if not one.is_dir():
            result.append(TableFile(one))
            continue
        own = [TableFile(file, tuple(partition_of(file, one).items())) for file in folder_files(one, display_name(one))]
        for file in own:
            if [name for name, _ in file.partition] != [name for name, _ in own[0].partition]:
                raise FormatError(
                    f"{display_name(file.path)}: has other partition columns than {display_name(own[0].path)}. Use the "
                    "same kind of folders for all files."
                )
        result += own
    return result


def is_columnar(path: Path) -> bool:
    """Return True for an uncompressed Parquet file, or an Arrow file with a footer, whose batches can be read alone."""
    source = Source(path)
    return source.is_plain and (source.kind == "Parquet" or source.head.startswith(b"ARROW1"))


def open_files(
    path: PathLike, files: Sequence[TableFile], options: InputOptions, *, are_ours: bool = False, at_once: bool = False
) -> RowTable:
    """List the rows of files that are one table.

    Parameters
    ----------
    path : path
        The argument of the user.
    files : sequence of TableFile
    options : InputOptions
        Options on columns; metadata may differ in what these override.
    are_ours : bool
        True for files that deciban wrote; then two may have the same content.
    at_once : bool
        True to read all rows, also of compressed files; otherwise each row group or batch is a partition.

    Raises
    ------
    FormatError, OSError
        If a file is damaged, has other columns than the first one, or occurs twice.
    """
    opened = [_opened(file, at_once=at_once) for file in files]
    if not are_ours and len(files) > 1:
        refuse_doubles([file.path for file, (_, rows) in zip(files, opened, strict=True) if rows])
    schemas = [(file.source.name, schema) for file, (schema, _) in zip(files, opened, strict=True)]
    partitions = [name for name, _ in files[0].partition]
    whole = table_schema(schemas, partitions, options)
    coded = [set(own[0].text) for _, own in opened if own]
    text = tuple(name for name in whole.names if all(name in one for one in coded))
    groups = [[_typed(one, schema, whole, text) for one in own] for schema, own in opened]
    kinds = " and ".join(dict.fromkeys(one.kind.lower() for own in groups for one in own)) or "parquet"
    rows = tuple(one for own in groups for one in own)
    rows = rows if len(rows) > 1 else tuple(replace(one, name=files[0].source.name) for one in rows)
    several = f"{kinds}, {counted(len(files), 'file')}, {counted(len(rows), 'partition')}"
    whole_reading = f"{kinds}, {len(files)} files," if len(files) > 1 else kinds
    double = frozenset(field.name for _, schema in schemas for field in schema if plain_type(field) not in _SINGLE)
    name, system = display_name(path), bare_name(display_name(path))
    reading = whole_reading if at_once else several
    return RowTable(name, whole, rows, reading, tuple(partitions), system, double, (path,))


def whole_table(source: Source, options: InputOptions) -> RowTable:
    """Return a file, compressed or not, or the files of a folder as a table that is read at once.

    Raises
    ------
    FormatError, OSError
        As in `open_files`.
    """
    files = table_files(source.path) if source.is_folder else [TableFile(Path(source.path), opened=source)]
    return replace(open_files(source.path, files, options, at_once=True), name=source.name)


def _typed(rows: FileRows, schema: pa.Schema, whole: pa.Schema, text: tuple[str, ...]) -> FileRows:
    """Set the types of columns without values from other files, and the columns to read as dictionaries."""
    bare = [one.name for one in schema if pa.types.is_null(one.type)]
    return replace(rows, bare=tuple((name, whole.field(name).type) for name in bare), text=text)


def _opened(file: TableFile, *, at_once: bool) -> tuple[pa.Schema, list[FileRows]]:
    source = file.source
    if source.kind not in ("Parquet", "Arrow") if at_once else not is_columnar(file.path):
        if not source.size:
            raise FormatError(f"{source.name}: the file is empty (0 bytes). Write it again, or remove it.")
        folder = Path(file.path).parent
        ending = ".parquet" if any(folder.glob("*.parquet")) else "".join(Path(file.path).suffixes)
        raise FormatError(
            f"{source.name}: not a Parquet file, nor an Arrow file with a footer. Files that are read as one table "
            f"must be of these kinds. Remove it, or name the files by a pattern: '{folder}/*{ending}'."
        )
    stamp = stamp_of(file.path) if source.is_plain else None
    with only_format_errors(source.name, source.kind):
        schema, counts, text = (_of_parquet if source.kind == "Parquet" else _of_arrow)(source)
    size, value = source.size // max(len(counts), 1), None if source.is_plain else source
    if value is not None or (source.kind == "Arrow" and not source.head.startswith(b"ARROW1")):
        counts, value, size = [sum(counts)], source, source.size
    part = "row group" if source.kind == "Parquet" else "batch"
    about = source.kind, size, file.partition, text, value, not at_once
    return schema, [
        FileRows(full_path(file.path), at, f"{source.name}, {part} {at}", n_rows, stamp, *about)
        for at, n_rows in enumerate(counts)
        if n_rows
    ]


def _of_parquet(source: Source) -> tuple[pa.Schema, list[int], tuple[str, ...]]:
    """Return the schema, the number of rows of each row group, and the columns to read as dictionaries."""
    opened = checked_parquet(source)
    schema, meta = opened.schema_arrow, opened.metadata
    counts = [meta.row_group(at).num_rows for at in range(meta.num_row_groups)]
    first = [meta.row_group(0).column(at) for at in range(meta.num_columns)] if counts else []
    plain = {one.path_in_schema for one in first if one.total_uncompressed_size > _OF_CODE * one.num_values}
    return schema, counts, tuple(one.name for one in schema if is_text_or_bytes(one.type) and one.name not in plain)


def _of_arrow(source: Source) -> tuple[pa.Schema, list[int], tuple[str, ...]]:
    """Return the schema, and the number of rows of each batch."""
    schema = opened_arrow(source).schema
    opened = opened_arrow(source, schema.names[:1], mapped=True)
    if not source.head.startswith(b"ARROW1"):
        return schema, [opened.read_all().num_rows], ()
    return schema, [opened.get_batch(at).num_rows for at in range(opened.num_record_batches)], ()
