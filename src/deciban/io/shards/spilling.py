"""What can be read only once, or only from its beginning: written to a temporary folder, from which pieces are read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa

from deciban.io.library_errors import only_format_errors
from deciban.io.source import display_name

ROWS = 1 << 20
"""Most rows of a row group that is written."""

_FEWEST_ROWS = 1 << 12

_BYTES_PER_ROW, _BYTES_PER_NUMBER = 250, 64
"""Bytes of memory that a row takes when rows are joined by name, and that each number of a row takes."""


def write_batches(path: Path, schema: pa.Schema, batches: Iterable[Any], *, memory: int | None = None) -> None:
    """Write batches or tables of one schema to a Parquet file, in row groups that a process can hold.

    Parameters
    ----------
    path : path
    schema : pyarrow.Schema
    batches : iterable of pyarrow.RecordBatch or pyarrow.Table
    memory : int, optional
        Bytes that one row group may take when it is read.
    """
    import pyarrow.parquet as pq

    waiting: list[pa.Table] = []
    n_waiting, most = 0, rows_of_group(schema, memory)
    with pq.ParquetWriter(
        path, schema, compression="zstd", compression_level=1, use_dictionary=_text_of(schema)
    ) as file:
        for batch in batches:
            table = pa.Table.from_batches([batch], schema) if isinstance(batch, pa.RecordBatch) else batch.cast(schema)
            waiting.append(table)
            n_waiting += len(table)
            if n_waiting >= most:
                file.write_table(pa.concat_tables(waiting).unify_dictionaries(), row_group_size=most)
                waiting, n_waiting = [], 0
        if waiting:
            file.write_table(pa.concat_tables(waiting).unify_dictionaries(), row_group_size=most)


def rows_of_group(schema: pa.Schema, memory: int | None) -> int:
    """Return how many rows of a row group fit in memory at once.

    >>> rows_of_group(pa.schema({"score": pa.float64()}), 25_000_000)
    100000
    """
    if memory is None:
        return ROWS
    n_numbers: int = sum(pa.types.is_floating(field.type) or pa.types.is_integer(field.type) for field in schema)
    return min(max(memory // max(_BYTES_PER_ROW, _BYTES_PER_NUMBER * n_numbers), _FEWEST_ROWS), ROWS)


def _text_of(schema: pa.Schema) -> list[str]:
    from deciban.trials.frames.columns import is_text_or_bytes

    kinds = {field.name: field.type for field in schema}
    return [
        name
        for name, kind in kinds.items()
        if is_text_or_bytes(kind.value_type if pa.types.is_dictionary(kind) else kind)
    ]


def cut_anew(path: Path, target: Path) -> None:
    """Write a Parquet file again with row groups of fewer rows, reading it as a stream.

    Raises
    ------
    FormatError
        If it is damaged.
    """
    import pyarrow.parquet as pq

    with only_format_errors(display_name(path), "Parquet"):
        file = pq.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False, page_checksum_verification=True)
        write_batches(target, file.schema_arrow, file.iter_batches(batch_size=1 << 17, use_threads=False))
