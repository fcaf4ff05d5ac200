"""Rows of a table sorted into files by the fingerprints of their names: equal names come into one file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from deciban._arrow import of_numpy, to_numpy
from deciban.core.resampling.units import mixed_bits
from deciban.io.contents import RowError
from deciban.io.shards.layout import placed, rows_with
from deciban.io.shards.meaning import Roles
from deciban.io.shards.truth import plain
from deciban.steps import teller
from deciban.trials.names.codes import encode
from deciban.trials.names.fingerprints import fingerprints
from deciban.types import AnyArray

ROW = "\0row"
"""Column with the number of a row in its table, where pieces have as many as they say."""

_BYTES_PER_ROW = 250
"""What a row takes that waits until it is written, about, so that what is written at once is not too small."""


@dataclass(frozen=True, slots=True)
class Partitions:
    """The parts of a table.

    Attributes
    ----------
    files : tuple of path
        One for each part; some may not exist.
    schema : pyarrow.Schema
    """

    files: tuple[Path, ...]
    schema: pa.Schema

    def taken(self, at: int) -> pa.Table:
        """All rows of a part, whose file goes."""
        import pyarrow.parquet as pq

        with pq.ParquetFile(self.files[at]) as file:
            found = file.read()
        self.files[at].unlink()
        return found


def partition(
    roles: Roles,
    columns: Sequence[str],
    n_parts: int,
    target: Path,
    memory: int,
    chosen: Mapping[str, tuple[str, ...]] | None = None,
) -> Partitions:
    """Sort rows of a table into parts.

    Parameters
    ----------
    roles : Roles
        Of a table whose trials have names.
    columns : sequence of str
        What is kept besides the names.
    n_parts : int
    target : path
        How the names of the files begin.
    memory : int
        Bytes that rows may take that wait until they are written.
    chosen : mapping of str to tuple of str, optional
        Only rows with such values.

    Raises
    ------
    FormatError, OSError
        If something cannot be read, or a name is missing, with its place; or if there is no room.
    """
    import pyarrow.parquet as pq

    sides, where = list(roles.sides.values()), dict(chosen or {})
    kept = list(dict.fromkeys([*sides, *columns]))
    schema = pa.schema([*(_stored(roles.table.schema.field(name), roles) for name in kept), pa.field(ROW, pa.int64())])
    files = tuple(target.with_name(f"{target.name}-{at:04d}.parquet") for at in range(n_parts))
    tell, first = teller(roles.table.n_rows, "rows"), 0
    writers = [pq.ParquetWriter(file, schema, compression="zstd", compression_level=1) for file in files]
    waiting: list[list[pa.Table]] = [[] for _ in files]
    n_waiting = 0
    try:
        for piece in roles.table.rows:
            table = piece.table(list(dict.fromkeys([*kept, *where])))
            rows: AnyArray = np.arange(first, first + len(table))
            first += piece.n_rows
            with placed(piece, sides):
                part = _hashes([table.column(name) for name in sides], sides) % np.uint64(n_parts)
            made = pa.table(
                [*(plain(table.column(name)).cast(schema.field(name).type) for name in kept), of_numpy(rows)], schema
            )
            if where:
                met = np.logical_and.reduce([rows_with(table.column(name), values) for name, values in where.items()])
                made, part = made.filter(of_numpy(met)), part[met]
            _sort_in(made, part, waiting)
            n_waiting += len(made)
            if n_waiting * _BYTES_PER_ROW >= memory:
                _flush(waiting, writers)
                n_waiting = 0
            tell(first)
        _flush(waiting, writers)
    finally:
        for one in writers:
            one.close()
    return Partitions(files, schema)


def _stored(field: pa.Field, roles: Roles) -> pa.Field:
    """How a column is kept: text plain, numbers as they are in the first file, but floats wide enough for all."""
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    if (
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
    ):
        return pa.field(field.name, pa.string())
    if pa.types.is_floating(kind):
        return pa.field(field.name, pa.float64() if field.name in roles.table.is_double else pa.float32())
    return pa.field(field.name, kind)


def _sort_in(table: pa.Table, part: AnyArray, waiting: list[list[pa.Table]]) -> None:
    order = np.argsort(part, kind="stable")
    table = table.take(of_numpy(order))
    borders = np.searchsorted(part[order], np.arange(len(waiting) + 1, dtype=np.uint64))
    for at, held in enumerate(waiting):
        if borders[at] < borders[at + 1]:
            held.append(table.slice(borders[at], borders[at + 1] - borders[at]))


def _flush(waiting: list[list[pa.Table]], writers: Sequence[object]) -> None:
    for held, writer in zip(waiting, writers, strict=True):
        if held:
            writer.write_table(pa.concat_tables(held).combine_chunks())  # type: ignore[attr-defined]
            held.clear()


def _hashes(columns: Sequence[pa.ChunkedArray], sides: Sequence[str]) -> AnyArray:
    """A number for the names of each row."""
    found: AnyArray | None = None
    for column, side in zip(columns, sides, strict=True):
        if column.null_count:
            row = int(np.argmax(to_numpy(column.is_null())))
            raise RowError(f"the name of a trial is missing (column {side}). Every trial needs one", row)
        own = plain(column)
        own = own.cast(pa.string()) if pa.types.is_integer(own.type) else own
        codes, names = encode(own, side)
        prints: AnyArray = fingerprints(names)[codes] if len(names) else np.zeros(0, np.uint64)
        found = prints if found is None else mixed_bits(found) ^ prints
    assert found is not None  # noqa: S101  # trials have names
    return mixed_bits(found)
