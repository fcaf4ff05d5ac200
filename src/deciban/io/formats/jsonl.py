"""JSON lines: one object per trial, as data sets and evaluation scripts of machine learning write them.

Names in the objects are names of columns, which mean what they mean in text tables and in Parquet
(`deciban.io.columns.columnar`)::

    {"id": "utt1", "label": 1, "score": 0.93}
    {"id": "utt2", "label": 0, "score": 0.12}

A file with a single array of such objects is read, too. It is held in memory as a whole.
"""

from __future__ import annotations

import io
import json
import re
from functools import partial
from itertools import accumulate

import pyarrow as pa

from deciban.errors import FormatError
from deciban.io.columns.columnar import contents_of, kinds_of, rows_of
from deciban.io.columns.rows import RowTable, refuse_equal_names
from deciban.io.contents import ContentKind, Contents
from deciban.io.formats import Options
from deciban.io.library_errors import only_format_errors
from deciban.io.source import Source

_DEEPEST = 64
"""Levels of nesting; parsers that call themselves for each level end the process if there are too many."""

_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"')

_EXPECTED = "Expected one object on each line, or one array of objects, with a value for each name."

_LOOKED_AT = 1 << 20
"""Bytes from which the columns are known, where only they are asked for."""


def read(source: Source, options: Options) -> Contents:
    """Read a file of this format."""
    with only_format_errors(source.name, "JSON lines"):
        table = _table(source.data, source.name)
    return contents_of(RowTable.of_table(table, source.name, "jsonl", source.size), options)


def holds(source: Source, options: Options) -> tuple[ContentKind, ...]:
    """Which kinds of tables a file could be read as, by its first objects."""
    return kinds_of(_first(source).schema, options, source.name, partial(sample, source))


def sample(source: Source, *columns: str) -> list[list[str]]:
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
