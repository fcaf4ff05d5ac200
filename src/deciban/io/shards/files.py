"""Folders and patterns of Parquet and Arrow files as one table in pieces: only footers are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from deciban.errors import FormatError
from deciban.io.doubles import refuse_doubles
from deciban.io.formats import Options, bare_name
from deciban.io.formats.parquet import folder_files, group_name, opened_file, partition_of, table_schema
from deciban.io.library_errors import only_format_errors
from deciban.io.shards.rows import ArrowRows, FileRows, ParquetRows, RowTable, full_path, opened_arrow, stamp_of
from deciban.io.source import PathLike, Source, display_name, files_of
from deciban.messages import counted
from deciban.trials.frames.columns import is_text_or_bytes


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
