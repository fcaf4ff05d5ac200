"""Arrow IPC, also called Feather: one row per trial, one column per name, score, label or condition.

Columns and metadata as in Parquet (`deciban.io.columns.columnar`). Both formats are read, the one for files
(``ARROW1``, the same as Feather version 2) and the one for streams, with the compression that Arrow itself may apply
to its buffers. The one for files is written, uncompressed, so that other programs can map it into memory; names are
dictionaries.
"""

from __future__ import annotations

from functools import partial
from typing import IO

import pyarrow as pa

from deciban.errors import FormatError
from deciban.io.columns.columnar import contents_of, kinds_of, rows_of, table_of, written_of
from deciban.io.contents import ContentKind, Contents, Written
from deciban.io.formats import Options
from deciban.io.shards.files import opened_arrow, whole_table
from deciban.io.source import Source


def read(source: Source, options: Options) -> Contents:
    """Read a file of this format."""
    if source.head.startswith(b"FEA1"):
        raise FormatError(
            f"{source.name}: Feather version 1, which is no longer written. Save it with pyarrow.feather.write_feather."
        )
    return contents_of(whole_table(source, options), options)


def holds(source: Source, options: Options) -> tuple[ContentKind, ...]:
    """Which kinds of tables a file could be read as, by its schema."""
    schema = opened_arrow(source).schema
    return kinds_of(schema, options, source.name, partial(sample, source))


def sample(source: Source) -> list[list[str]]:
    """The names of columns and the first rows, as text."""
    reader = opened_arrow(source)
    batches = (
        (reader.get_batch(at) for at in range(reader.num_record_batches))
        if source.head.startswith(b"ARROW1")
        else reader
    )
    batch = next((one for one in batches if one.num_rows), None)
    return [] if batch is None else rows_of(batch)


def write(contents: Contents, stream: IO[bytes]) -> Written:
    """Write a file of this format."""
    table = table_of(contents)
    with pa.ipc.new_file(stream, table.schema) as file:
        file.write_table(table)
    return written_of(contents, table)
