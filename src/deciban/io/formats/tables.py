"""Tables with named columns and one row per trial: Parquet, Arrow and JSON lines.

Parquet is a file or a folder of files. Columns are named as in text tables with a header, for example ``enroll``,
``test``, ``score``, ``label``. `deciban.io.columns.columnar` describes their names, and the JSON object in the metadata
key ``deciban`` for columns with other names. Names and labels are text (plain or dictionary) or integers, scores are
floats or integers::

    enroll: string   test: string   gender: string   sysA_score: double   sysB_score: float   label: string
    ann              x              f                1.5                  0.25                target

A folder is read as one table, its files sorted by name. Sub-folders ``gender=f`` (from Hive, Spark, pandas and polars)
become condition columns. Files that begin with ``_`` or ``.`` are skipped.

Written with zstd, names as dictionaries, floats unchanged; the order of the trials is kept.

Arrow IPC, also called Feather, has the same columns and metadata. Both variants are read: the file format (``ARROW1``,
the same as Feather version 2) and the stream format, with the buffer compression of Arrow. The file format is written
without compression, so that other programs can map it into memory; names are dictionaries.

JSON lines have one object for each trial, with the same names. A file with one array of objects is read, too, as a
whole::

    {"id": "utt1", "label": 1, "score": 0.93}
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import IO

import pyarrow as pa

from deciban.errors import FormatError
from deciban.io.columns import columnar
from deciban.io.columns.values import HeldRows, RowTable, refuse_equal_names
from deciban.io.formats import ContentKind, Contents, InputOptions, WrittenContents, only_format_errors
from deciban.io.partitions.files import TableFile, is_columnar, open_files, table_files, whole_table
from deciban.io.source import Source


def read(source: Source, options: InputOptions) -> Contents:
    """Read a Parquet or Arrow file, or a folder of Parquet files."""
    return columnar.contents_of(whole_table(source, options), options)


def write(contents: Contents, stream: IO[bytes]) -> WrittenContents:
    """Write a Parquet file."""
    import pyarrow.parquet as pq

    table = columnar.table_of(contents)
    names = [field.name for field in table.schema if pa.types.is_dictionary(field.type)]
    pq.write_table(table, stream, compression="zstd", use_dictionary=names or False)
    return columnar.written_of(contents, table)


def write_arrow(contents: Contents, stream: IO[bytes]) -> WrittenContents:
    """Write an Arrow file."""
    table = columnar.table_of(contents)
    with pa.ipc.new_file(stream, table.schema) as file:
        file.write_table(table)
    return columnar.written_of(contents, table)


_DEEPEST = 64
"""Largest depth of nesting: recursive parsers crash if it is too large."""

_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"')

_EXPECTED = "Expected one object on each line, or one array of objects, each with a value for each name."

_LOOKED_AT = 1 << 20
"""Number of bytes that determine the columns, if only the columns are needed."""


def read_jsonl(source: Source, options: InputOptions) -> Contents:
    """Read a file with JSON lines."""
    with only_format_errors(source.name, "JSON lines"):
        table = _table(source.data, source.name)
    return columnar.contents_of(RowTable.of_table(table, source.name, "jsonl", source.size), options)


def write_jsonl(contents: Contents, stream: IO[bytes]) -> WrittenContents:
    """Write JSON lines; infinite scores are ``Infinity`` and ``-Infinity``, as Python writes and reads them."""
    table = columnar.table_of(contents)
    for batch in table.to_batches(max_chunksize=1 << 16):
        rows = (json.dumps(row, ensure_ascii=False, default=str) for row in batch.to_pylist())
        stream.write("".join(f"{row}\n" for row in rows).encode())
    return columnar.written_of(contents, table)


def _ends(source: Source) -> RowTable:
    """Return a table that reads only the begin and the end of a file, or of the first file of a folder."""
    one = table_files(source.path)[0] if source.is_folder else TableFile(Path(source.path), opened=source)
    is_whole = not one.source.is_plain or not is_columnar(one.path)
    return replace(open_files(source.path, [one], InputOptions(), at_once=is_whole), name=source.name)


def _ends_of_jsonl(source: Source) -> RowTable:
    """Return the first and the last objects of a file; for an array, all objects."""
    data = source.data
    end, start = data.rfind(b"\n", 0, _LOOKED_AT) + 1, data.find(b"\n", len(data) - _LOOKED_AT) + 1
    if _is_array(data) or len(data) <= _LOOKED_AT or not end:
        return RowTable.of_table(_table(data, source.name), source.name, "jsonl", len(data))
    first = RowTable.of_table(_table(data[:end], source.name), source.name, "jsonl", len(data))
    last = _table(data[start:], source.name)
    more = (HeldRows(source.name, last),) if {*first.schema.names} <= {*last.column_names} else ()
    return replace(first, rows=(*first.rows, *more))


def _holds(ends: Callable[[Source], RowTable], source: Source, options: InputOptions) -> tuple[ContentKind, ...]:
    """Return the kinds of tables as which a file or folder can be read, by its columns and some of its rows."""
    return columnar.kinds_of(ends(source), options)


def _sample(ends: Callable[[Source], RowTable], source: Source) -> list[list[str]]:
    """Return titles and first rows as text; empty for a folder."""
    table = None if source.is_folder else ends(source)
    return [] if table is None or not table.rows else columnar.rows_of(table.rows[0].table(table.schema.names))


holds, holds_jsonl = (partial(_holds, one) for one in (_ends, _ends_of_jsonl))
sample, sample_jsonl = (partial(_sample, one) for one in (_ends, _ends_of_jsonl))


def _is_array(data: bytes) -> bool:
    return data[:64].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")


def _table(data: bytes, name: str) -> pa.Table:
    """Return JSON objects as the rows of a table.

    Raises
    ------
    FormatError
        If the data are not objects.
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
        if times:  # keep names that look like dates as text
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
    """Return the number of lines; each must be one object that is not nested too deeply.

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
                f"{name}:{number}: {line[:60].decode('utf-8', 'replace')!r} is not a JSON object. {_EXPECTED}"
            )
        if line.count(b"{") + line.count(b"[") > _DEEPEST and _depth(line) > _DEEPEST:
            raise FormatError(f"{name}:{number}: an object with more than {_DEEPEST} levels of nesting. {_EXPECTED}")
    return n_rows


def _depth(line: bytes) -> int:
    """Return the depth of nested lists and objects."""
    steps = (1 if one in b"{[" else -1 for one in _TEXT.sub(b"", line) if one in b"{[]}")
    return max(accumulate(steps), default=0)


def _as_lines(data: bytes, name: str) -> bytes:
    """Return an array of objects as one line per object."""
    result = json.loads(data)
    if not result or not all(isinstance(one, dict) for one in result):
        raise FormatError(
            f"{name}: a JSON array, but not of objects. Expected [{{...}}, ...] with an object per trial."
        )
    return "\n".join(map(json.dumps, result)).encode()
