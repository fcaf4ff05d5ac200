"""Arrow IPC, also called Feather: one row per trial, one column per name, score, label or condition.

Columns and metadata as in Parquet (`deciban.io.columns.columnar`). Both formats are read, the one for files
(``ARROW1``, the same as Feather version 2) and the one for streams, with the compression that Arrow itself may apply
to its buffers. The one for files is written, uncompressed, so that other programs can map it into memory; names are
dictionaries.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from deciban.errors import FormatError
from deciban.io.columns.columnar import contents_of, kinds_of, rows_of, table_of, written_of
from deciban.io.contents import ContentKind, Contents, Written
from deciban.io.formats import Options
from deciban.io.library_errors import only_format_errors
from deciban.io.source import Source
from deciban.trials import Origin


def read(source: Source, options: Options) -> Contents:
    """Read a file of this format."""
    if source.head.startswith(b"FEA1"):
        raise FormatError(
            f"{source.name}: Feather version 1, which is no longer written. Save it with pyarrow.feather.write_feather."
        )
    with only_format_errors(source.name, "Arrow"):
        schema = _opened(source, None).schema

        def read(columns: Sequence[str]) -> pa.Table:
            fields = sorted(schema.get_field_index(column) for column in columns)
            return _opened(source, fields).read_all().select(list(columns))

        return contents_of(schema, read, options, Origin(source.name, "arrow"), source.size)


def holds(source: Source, options: Options) -> tuple[ContentKind, ...]:
    """Which kinds of tables a file could be read as, by its schema."""
    schema = _opened(source, None).schema
    return kinds_of(schema, options, source.name, partial(sample, source))


def sample(source: Source, *columns: str) -> list[list[str]]:
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


def write(contents: Contents, stream: IO[bytes]) -> Written:
    """Write a file of this format."""
    table = table_of(contents)
    with pa.ipc.new_file(stream, table.schema) as file:
        file.write_table(table)
    return written_of(contents, table)
