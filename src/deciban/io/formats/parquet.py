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

from functools import partial
from pathlib import Path
from typing import IO

import pyarrow as pa

from deciban.errors import FormatError
from deciban.io.columns.columnar import SAMPLED, check_size, contents_of, kinds_of, rows_of, table_of, written_of
from deciban.io.contents import ContentKind, Contents, Written
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
