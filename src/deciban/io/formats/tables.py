"""Tables with named columns and one row per trial: Parquet, Arrow and JSON lines.

Parquet is a file or a folder of files. Columns are named as in text tables with a header, for example ``enroll``,
``test``, ``score``, ``label``; see
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

JSON lines have one object for each trial, with the same names; a file with one array of such objects is read,
too. It is held in memory as a whole::

    {"id": "utt1", "label": 1, "score": 0.93}
"""

from __future__ import annotations

import io
import json
import re
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import IO

import pyarrow as pa

from deciban.errors import FormatError
from deciban.io.columns.columnar import SAMPLED, check_size, contents_of, kinds_of, rows_of, table_of, written_of
from deciban.io.columns.rows import RowTable, refuse_equal_names
from deciban.io.contents import ContentKind, Contents, Written, only_format_errors
from deciban.io.formats import Options
from deciban.io.shards.files import folder_files, opened_arrow, opened_file, whole_table
from deciban.io.source import Source


def read(source: Source, options: Options) -> Contents:
    """Read a file of this format, or a folder of such files."""
    return contents_of(whole_table(source, options), options)


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
    return contents_of(whole_table(source, options), options)


def holds_arrow(source: Source, options: Options) -> tuple[ContentKind, ...]:
    """Which kinds of tables a file could be read as, by its schema."""
    schema = opened_arrow(source).schema
    return kinds_of(schema, options, source.name, partial(sample_arrow, source))


def sample_arrow(source: Source, *columns: str) -> list[list[str]]:
    """The names of all columns, or of some, and the first rows, as text."""
    reader = opened_arrow(source)
    batches = (
        (reader.get_batch(at) for at in range(reader.num_record_batches))
        if source.head.startswith(b"ARROW1")
        else reader
    )
    batch = next((one for one in batches if one.num_rows), None)
    return [] if batch is None else rows_of(batch.select(list(columns)) if columns else batch)


def write_arrow(contents: Contents, stream: IO[bytes]) -> Written:
    """Write a file of this format."""
    table = table_of(contents)
    with pa.ipc.new_file(stream, table.schema) as file:
        file.write_table(table)
    return written_of(contents, table)


_DEEPEST = 64
"""Levels of nesting; parsers that call themselves for each level end the process if there are too many."""

_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"')

_EXPECTED = "Expected one object on each line, or one array of objects, with a value for each name."

_LOOKED_AT = 1 << 20
"""Bytes from which the columns are known, where only they are asked for."""


def read_jsonl(source: Source, options: Options) -> Contents:
    """Read a file of this format."""
    with only_format_errors(source.name, "JSON lines"):
        table = _table(source.data, source.name)
    return contents_of(RowTable.of_table(table, source.name, "jsonl", source.size), options)


def holds_jsonl(source: Source, options: Options) -> tuple[ContentKind, ...]:
    """Which kinds of tables a file could be read as, by its first objects."""
    return kinds_of(_first(source).schema, options, source.name, partial(sample_jsonl, source))


def sample_jsonl(source: Source, *columns: str) -> list[list[str]]:
    """The names of all columns, or of some, and the first rows, as text."""
    table = _first(source)
    return rows_of(table.select(list(columns)) if columns else table)


def _first(source: Source) -> pa.Table:
    """The first objects; all of an array, which ends nowhere before."""
    data = source.data
    end = data.rfind(b"\n", 0, _LOOKED_AT)
    return _table(data if _is_array(data) or len(data) <= _LOOKED_AT or end < 0 else data[: end + 1], source.name)


def _is_array(data: bytes) -> bool:
    return data[:64].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")


def _table(data: bytes, name: str) -> pa.Table:
    """The objects as rows.

    Raises
    ------
    FormatError
        If these are no objects.
    """
    import pyarrow.json

    data = data.removeprefix(b"\xef\xbb\xbf")
    if _is_array(data):
        data = _as_lines(data, name)
    n_rows = _checked(data, name)
    how = pyarrow.json.ReadOptions(use_threads=False, block_size=max(len(data), 1))
    try:
        table = pyarrow.json.read_json(io.BytesIO(data), read_options=how)
        times = [field for field in table.schema if pa.types.is_timestamp(field.type)]
        if times:  # names that look like dates stay as they are written
            text = pa.schema([pa.field(field.name, pa.string()) for field in times])
            parse = pyarrow.json.ParseOptions(explicit_schema=text)
            table = pyarrow.json.read_json(io.BytesIO(data), read_options=how, parse_options=parse)
    except pa.ArrowInvalid as error:
        raise FormatError(
            f"{name}: {str(error).rstrip('.')}. {_EXPECTED} A name must have values of one type."
        ) from error
    refuse_equal_names(table.schema.names, name)
    if len(table) != n_rows:
        raise FormatError(f"{name}: {len(table):,} objects on {n_rows:,} lines. Write one object on each line.")
    return table


def _checked(data: bytes, name: str) -> int:
    """How many lines there are, each of one object that is not nested deeper than a parser can follow.

    Raises
    ------
    FormatError
    """
    n_rows = 0
    for number, line in enumerate(map(bytes.strip, data.split(b"\n")), start=1):
        if not line:
            continue
        n_rows += 1
        if not (line.startswith(b"{") and line.endswith(b"}")):
            raise FormatError(
                f"{name}:{number}: {line[:60].decode('utf-8', 'replace')!r} is no JSON object. {_EXPECTED}"
            )
        if line.count(b"{") + line.count(b"[") > _DEEPEST and _depth(line) > _DEEPEST:
            raise FormatError(f"{name}:{number}: an object nested more than {_DEEPEST} deep. {_EXPECTED}")
    return n_rows


def _depth(line: bytes) -> int:
    """How deep lists and objects are nested."""
    steps = (1 if one in b"{[" else -1 for one in _TEXT.sub(b"", line) if one in b"{[]}")
    return max(accumulate(steps), default=0)


def _as_lines(data: bytes, name: str) -> bytes:
    """One line for each object of an array."""
    found = json.loads(data)
    if not found or not all(isinstance(one, dict) for one in found):
        raise FormatError(
            f"{name}: a JSON array, but not of objects. Expected [{{...}}, ...] with an object per trial."
        )
    return "\n".join(map(json.dumps, found)).encode()
