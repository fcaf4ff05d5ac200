"""Folders and patterns of Parquet and Arrow files as one table in pieces: only footers are read."""

from __future__ import annotations

import filecmp
import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from deciban.errors import FormatError
from deciban.io.columns.columnar import refuse_equal_names
from deciban.io.formats import Options, bare_name
from deciban.io.formats.parquet import described_together, folder_files, opened_file, partition_of
from deciban.io.library_errors import only_format_errors
from deciban.io.shards.rows import ArrowRows, FileRows, ParquetRows, RowTable, full_path, opened_arrow, stamp_of
from deciban.io.source import PathLike, Source, display_name, files_of
from deciban.messages import counted
from deciban.trials.frames.columns import is_text_or_bytes

_SAMPLE = 1 << 13
"""Bytes at the beginning, in the middle and at the end that tell files apart before they are compared whole."""


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
    first_name, whole = schemas[0]
    refuse_equal_names(whole.names, first_name)
    for name, schema in schemas:
        require_alike(schema, whole, name, first_name)
    whole = _without_nulls(whole, [schema for _, schema in schemas])
    for name in partitions:
        if name in whole.names:
            raise FormatError(f"{first_name}: {name} is a column and a partition. Leave out one of them.")
        whole = whole.append(pa.field(name, pa.string()))
    whole = described_together(whole, schemas, options)
    rows = tuple(_typed(one, schema, whole) for schema, own in opened for one in own)
    kinds = " and ".join(dict.fromkeys(one.kind.lower() for one in rows)) or "parquet"
    reading = f"{kinds}, {counted(len(files), 'file')}, {counted(len(rows), 'piece')}"
    double = frozenset(field.name for _, schema in schemas for field in schema if _is_double(field.type))
    name, system = display_name(path), bare_name(Path(display_name(path)).name)
    return RowTable(name, whole, rows, reading, tuple(partitions), system, double, (path,))


def _without_nulls(whole: pa.Schema, schemas: Sequence[pa.Schema]) -> pa.Schema:
    """The same with the type that other files give a column of which the first one has no value."""
    for at, field in enumerate(whole):
        if pa.types.is_null(field.type):
            kinds = (own.field(field.name).type for own in schemas)
            found = next((kind for kind in kinds if not pa.types.is_null(kind)), field.type)
            whole = whole.set(at, field.with_type(found))
    return whole


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
        ParquetRows(full_path(file.path), at, f"{own}, row group {at}", n_rows, stamp, file.partition, text=text)
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
    """What columns hold, as far as files of one table must agree on it."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if is_text_or_bytes(kind):
        return "text"
    is_number = pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind)
    return "numbers" if is_number else str(kind)


def refuse_doubles(paths: Sequence[Path]) -> None:
    """Refuse a file that is named twice, or another one with the same content: its trials would count twice.

    Raises
    ------
    FormatError

    Examples
    --------
    >>> refuse_doubles([Path("a.parquet"), Path("./a.parquet")])
    Traceback (most recent call last):
    deciban.errors.FormatError: a.parquet is read twice, as a.parquet and as a.parquet. Name each file once.
    """
    known: dict[Path, Path] = {}
    for path in paths:
        first = known.setdefault(path.resolve(), path)
        if first is not path:
            names = display_name(first), display_name(path)
            raise FormatError(f"{names[1]} is read twice, as {names[0]} and as {names[1]}. Name each file once.")
    for one, other in _alike(paths):
        if filecmp.cmp(one, other, shallow=False):
            raise FormatError(
                f"{display_name(other)}: the same content as {display_name(one)}, so that its trials would count "
                "twice. Remove one of the two; if these are other trials, put both into one file."
            )


def _alike(paths: Sequence[Path]) -> Iterator[tuple[Path, Path]]:
    """Files of one size that begin, go on and end alike."""
    by_size = defaultdict[int, list[Path]](list)
    for path in paths:
        by_size[path.stat().st_size].append(path)
    for size, same in by_size.items():
        known: dict[bytes, Path] = {}
        for path in same if len(same) > 1 else []:
            first = known.setdefault(_digest(path, size), path)
            if first is not path:
                yield first, path


def _digest(path: Path, size: int) -> bytes:
    found = hashlib.sha256()
    with path.open("rb") as stream:
        for start in (0, size // 2, max(size - _SAMPLE, 0)):
            stream.seek(start)
            found.update(stream.read(_SAMPLE))
    return found.digest()
