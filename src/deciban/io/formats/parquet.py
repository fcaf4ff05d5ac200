"""Parquet: one row per trial, one column per name, score, label or condition; a file, or a folder of files.

Columns as in text tables with a header, for example ``enroll``, ``test``, ``score``, ``label``; see
`deciban.io.columns.columnar` for their names, and for the JSON object in the metadata key ``deciban`` that says what
columns with other names are. Names and labels are text (plain or dictionary) or whole numbers, scores floats or
integers::

    enroll: string   test: string   gender: string   sysA_score: double   sysB_score: float   label: string
    ann              x              f                1.5                  0.25                target

A folder is read as one table: its files in the order of their names, sub-folders ``gender=f`` (as Hive, Spark, pandas
and polars write them) become condition columns. Files that begin with ``_`` or ``.`` are passed over.

Written with zstd, names as dictionaries, floats as they are; the order of the trials is kept.

Arrow IPC, also called Feather, has the same columns and metadata. Both formats are read, the one for files
(``ARROW1``, the same as Feather version 2) and the one for streams, with the compression that Arrow itself may apply
to its buffers. The one for files is written, uncompressed, so that other programs can map it into memory; names are
dictionaries.
"""

from __future__ import annotations

import json
import os
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote

import pyarrow as pa

from deciban._files import display_name
from deciban.errors import FormatError
from deciban.io.columns.columnar import (
    SAMPLED,
    check_size,
    contents_of,
    kinds_of,
    refuse_equal_names,
    rows_of,
    table_of,
    written_of,
)
from deciban.io.contents import ContentKind, Contents, Written
from deciban.io.doubles import refuse_doubles
from deciban.io.formats import Options
from deciban.io.library_errors import only_format_errors
from deciban.io.source import Source
from deciban.trials import Origin
from deciban.trials.frames.columns import METADATA, description, is_text_or_bytes

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


def read(source: Source, options: Options) -> Contents:
    """Read a file of this format."""
    if source.is_folder:
        return _read_folder(source, options)
    with only_format_errors(source.name, "Parquet"):
        file = opened_file(source, ())
        place = row_places([source])
        read = partial(_columns_of, source)
        with only_format_errors(source.name, "Parquet", place):
            origin = Origin(source.name, "parquet", place=place)
            return contents_of(file.schema_arrow, read, options, origin, source.size)


def holds(source: Source, options: Options) -> tuple[ContentKind, ...]:
    """Which kinds of tables a file, or a folder of such files, could be read as, by its schema."""
    first = Source(folder_files(Path(source.path), source.name)[0]) if source.is_folder else source
    return kinds_of(opened_file(first, ()).schema_arrow, options, source.name, partial(sample, first))


def sample(source: Source, *columns: str) -> list[list[str]]:
    """The names of all columns, or of some, and the first rows, as text; of a folder nothing."""
    if source.is_folder:
        return []
    file = opened_file(source, ())
    check_size(min(SAMPLED, file.metadata.num_rows), len(file.schema_arrow.names), source.size, source.name)
    batch = next(file.iter_batches(batch_size=SAMPLED, columns=list(columns) or None), None)
    return [] if batch is None else rows_of(batch)


def opened_file(source: Source, text: Sequence[str]) -> Any:
    """The file, with these columns as dictionaries; what its footer promises was checked.

    Raises
    ------
    FormatError
        If its parts do not add up to it, it promises more than it can hold, or is a summary of shards.
    """
    import pyarrow.parquet as pq

    from deciban.io.summary_files import refuse_summary

    opened = source.seekable()
    path = os.fspath(opened) if isinstance(opened, Path) else opened
    file = pq.ParquetFile(path, read_dictionary=list(text), page_checksum_verification=True)
    meta, size = file.metadata, source.size
    refuse_summary(meta.metadata, source.name)
    groups = [meta.row_group(at) for at in range(meta.num_row_groups)]
    n_rows = sum(group.num_rows for group in groups)
    if n_rows != meta.num_rows or any(group.num_rows < 0 for group in groups):
        raise FormatError(
            f"{source.name}: promises {meta.num_rows:,} rows, its parts {n_rows:,}. Write the file again."
        )
    check_size(n_rows, 1, size, source.name)
    n_bytes = sum(group.total_byte_size for group in groups)
    check_size(n_bytes // 8, 1, size, source.name)
    return file


def _columns_of(source: Source, columns: Sequence[str]) -> pa.Table:
    schema = opened_file(source, ()).schema_arrow
    text = [column for column in columns if is_text_or_bytes(schema.field(column).type)]
    file = opened_file(source, text)
    check_size(file.metadata.num_rows, len(columns), source.size, source.name)
    return file.read(columns=list(columns)).select(list(columns))


def _read_folder(source: Source, options: Options) -> Contents:
    root = Path(source.path)
    paths = folder_files(root, source.name)
    parts: list[tuple[Source, dict[str, str | None]]] = [(Source(path), partition_of(path, root)) for path in paths]
    first, keys = parts[0]
    for part, found in parts:
        if part.kind != "Parquet":
            raise FormatError(f"{part.name}: no Parquet file. A folder that is read as one table holds nothing else.")
        if list(found) != list(keys):
            raise FormatError(f"{part.name}: lies in other partitions than {first.name}. Sort the files into one kind.")
    schemas, counts = list[tuple[str, pa.Schema]](), list[list[int]]()
    for part, _ in parts:
        with only_format_errors(part.name, "Parquet"):
            file = opened_file(part, ())
            schemas.append((part.name, file.schema_arrow))
            counts.append(_rows_of_groups(file))
    refuse_doubles([path for path, own in zip(paths, counts, strict=True) if any(own)])
    whole = table_schema(schemas, list(keys), options)
    place = RowInGroup.of([part.name for part, _ in parts], counts)

    def read(columns: Sequence[str]) -> pa.Table:
        tables = [_part(part, found, columns) for part, found in parts]
        # Where files differ in the type of a column, the type that has room for both.
        return pa.concat_tables(tables, promote_options="permissive").unify_dictionaries()

    with only_format_errors(source.name, "Parquet", place):
        origin = Origin(source.name, f"parquet, {len(parts)} files,", place=place)
        size = sum(part.size for part, _ in parts)
        return contents_of(whole, read, options, origin, size, kept=list(keys))


def row_places(files: Sequence[Source]) -> RowInGroup | None:
    """Return what names the rows of files that are one table; None for a file of one row group, where rows suffice."""
    counts = [_rows_of_groups(opened_file(file, ())) for file in files]
    return RowInGroup.of([file.name for file in files], counts) if sum(map(len, counts)) > 1 else None


def _rows_of_groups(file: Any) -> list[int]:
    """The number of rows in each row group."""
    return [file.metadata.row_group(at).num_rows for at in range(file.metadata.num_row_groups)]


@dataclass(frozen=True, slots=True)
class RowInGroup:
    """Name the file, the row group and the row of a row of one or several Parquet files.

    Attributes
    ----------
    groups : tuple of str
        Names of the row groups that hold rows, in order.
    starts : tuple of int
        The first row of each of them.

    Examples
    --------
    >>> place = RowInGroup.of(["a.parquet", "b.parquet"], [[2, 3], [4]])
    >>> place(4), place(5)
    ('a.parquet, row group 1, row 2', 'b.parquet, row group 0, row 0')
    """

    groups: tuple[str, ...]
    starts: tuple[int, ...]

    @classmethod
    def of(cls, names: Sequence[str], counts: Sequence[Sequence[int]]) -> RowInGroup:
        """Take the names of files and the number of rows of their row groups."""
        listed = [
            (group_name(name, at), n) for name, own in zip(names, counts, strict=True) for at, n in enumerate(own)
        ]
        filled = [(group, n) for group, n in listed if n]
        starts = accumulate((n for _, n in filled), initial=0)
        return cls(tuple(group for group, _ in filled), tuple(starts)[:-1])

    def __call__(self, row: int) -> str:
        """Name the place of a row."""
        at = bisect_right(self.starts, row) - 1
        return f"{self.groups[at]}, row {row - self.starts[at]}"


def group_name(name: str, group: int) -> str:
    """Return what messages call a row group of a file.

    >>> group_name("a.parquet", 1)
    'a.parquet, row group 1'
    """
    return f"{name}, row group {group}"


def table_schema(schemas: Sequence[tuple[str, pa.Schema]], partitions: Sequence[str], options: Options) -> pa.Schema:
    """Return the schema of files that are read as one table, with a column of text for each partition.

    Parameters
    ----------
    schemas : sequence of (str, pyarrow.Schema)
        What messages call each file, and its schema.
    partitions : sequence of str
        Names of the columns that folders name.
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
    """The same with the type that other files give a column of which the first one has no value."""
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
    """What columns hold, as far as files of one table must agree on it."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if is_text_or_bytes(kind):
        return "text"
    is_number = pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind)
    return "numbers" if is_number else str(kind)


def described_together(whole: pa.Schema, parts: Sequence[tuple[str, pa.Schema]], options: Options) -> pa.Schema:
    """A schema with what the metadata of all files say that are read as one table.

    Parameters
    ----------
    whole : pyarrow.Schema
    parts : sequence of (str, pyarrow.Schema)
        What messages call each file, and its schema.
    options : Options

    Raises
    ------
    FormatError
        If they say different things.
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


def folder_files(root: Path, name: str) -> list[Path]:
    """The files of a folder in order, without those that are hidden.

    Raises
    ------
    FormatError
        If there is none, or a link that leads nowhere.
    """
    found = (path for path in root.rglob("*") if not path.is_dir())
    paths = sorted(path for path in found if not any(part[0] in "_." for part in path.relative_to(root).parts))
    for path in paths:
        if not path.exists():
            raise FormatError(f"{display_name(path)}: a link that leads nowhere. Bring its file, or remove the link.")
    if not paths:
        raise FormatError(f"{name}: a folder without files. Expected Parquet files.")
    return paths


def partition_of(path: Path, root: Path) -> dict[str, str | None]:
    """Names and values of the folders ``name=value`` above a file."""
    found: dict[str, str | None] = {}
    for folder in path.relative_to(root).parts[:-1]:
        key, sign, value = folder.partition("=")
        if sign:
            found[unquote(key)] = None if value == _NO_VALUE else unquote(value)
    return found


def _part(source: Source, partition: Mapping[str, str | None], columns: Sequence[str]) -> pa.Table:
    with only_format_errors(source.name, "Parquet"):
        table = _columns_of(source, [column for column in columns if column not in partition])
        for key, value in partition.items():
            if key in columns:
                table = table.append_column(key, pa.repeat(pa.scalar(value, pa.string()), len(table)))
        return table.select(list(columns))


def write(contents: Contents, stream: IO[bytes]) -> Written:
    """Write a file of this format."""
    import pyarrow.parquet as pq

    table = table_of(contents)
    names = [field.name for field in table.schema if pa.types.is_dictionary(field.type)]
    pq.write_table(table, stream, compression="zstd", use_dictionary=names or False)
    return written_of(contents, table)


def read_arrow(source: Source, options: Options) -> Contents:
    """Read a file of this format."""
    if source.head.startswith(b"FEA1"):
        raise FormatError(
            f"{source.name}: Feather version 1, which is no longer written. Save it with pyarrow.feather.write_feather."
        )
    with only_format_errors(source.name, "Arrow"):
        schema = _opened(source, None).schema

        def columns_of(columns: Sequence[str]) -> pa.Table:
            fields = sorted(schema.get_field_index(column) for column in columns)
            return _opened(source, fields).read_all().select(list(columns))

        return contents_of(schema, columns_of, options, Origin(source.name, "arrow"), source.size)


def holds_arrow(source: Source, options: Options) -> tuple[ContentKind, ...]:
    """Which kinds of tables a file could be read as, by its schema."""
    schema = _opened(source, None).schema
    return kinds_of(schema, options, source.name, partial(sample_arrow, source))


def sample_arrow(source: Source, *columns: str) -> list[list[str]]:
    """The names of all columns, or of some, and the first rows, as text."""
    reader = _opened(source, None)
    batches = (
        (reader.get_batch(at) for at in range(reader.num_record_batches))
        if source.head.startswith(b"ARROW1")
        else reader
    )
    batch = next((one for one in batches if one.num_rows), None)
    return [] if batch is None else rows_of(batch.select(list(columns)) if columns else batch)


def _opened(source: Source, fields: Sequence[int] | None) -> Any:
    """A reader of these fields of a file or stream."""
    opened = source.seekable()
    stream = pa.OSFile(str(opened)) if isinstance(opened, Path) else pa.BufferReader(opened.getbuffer())
    chosen = pa.ipc.IpcReadOptions(included_fields=None if fields is None else list(fields))
    is_file = source.head.startswith(b"ARROW1")
    return pa.ipc.open_file(stream, options=chosen) if is_file else pa.ipc.open_stream(stream, options=chosen)


def write_arrow(contents: Contents, stream: IO[bytes]) -> Written:
    """Write a file of this format."""
    table = table_of(contents)
    with pa.ipc.new_file(stream, table.schema) as file:
        file.write_table(table)
    return written_of(contents, table)
