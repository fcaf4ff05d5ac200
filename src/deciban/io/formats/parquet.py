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
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import IO

import pyarrow as pa

from deciban.io.columns.columnar import SAMPLED, check_size, contents_of, kinds_of, rows_of, table_of, written_of
from deciban.io.contents import ContentKind, Contents, Written
from deciban.io.formats import Options
from deciban.io.shards.files import folder_files, opened_file, whole_table
from deciban.io.source import Source


def read(source: Source, options: Options) -> Contents:
    """Read a file of this format, or a folder of such files."""
    return contents_of(whole_table(source, options), options)


def holds(source: Source, options: Options) -> tuple[ContentKind, ...]:
    """Which kinds of tables a file, or a folder of such files, could be read as, by its schema."""
    first = Source(folder_files(Path(source.path), source.name)[0]) if source.is_folder else source
    return kinds_of(opened_file(first, ()).schema_arrow, options, source.name, partial(sample, first))


def sample(source: Source) -> list[list[str]]:
    """The names of columns and the first rows, as text; of a folder nothing."""
    if source.is_folder:
        return []
    file = opened_file(source, ())
    check_size(min(SAMPLED, file.metadata.num_rows), len(file.schema_arrow.names), source.size, source.name)
    batch = next(file.iter_batches(batch_size=SAMPLED), None)
    return [] if batch is None else rows_of(batch)


def write(contents: Contents, stream: IO[bytes]) -> Written:
    """Write a file of this format."""
    import pyarrow.parquet as pq

    table = table_of(contents)
    names = [field.name for field in table.schema if pa.types.is_dictionary(field.type)]
    pq.write_table(table, stream, compression="zstd", use_dictionary=names or False)
    return written_of(contents, table)
