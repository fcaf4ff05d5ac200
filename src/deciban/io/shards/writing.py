"""Parquet that is written table by table, or cut into row groups that a process can hold."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, Self, TypeVar

import numpy as np
import pyarrow as pa

from deciban._arrow import of_numpy
from deciban._files import display_name
from deciban.errors import FormatError
from deciban.io.columns.rows import Rows, RowTable, require_alike
from deciban.io.contents import only_format_errors
from deciban.io.reader import name_of_both
from deciban.io.source import TwoFiles
from deciban.memory import Cost, bytes_of_row, give_back_at_once, rows_that_fit, threads_that_fit
from deciban.trials.frames import is_text_or_bytes

A = TypeVar("A")

B = TypeVar("B")


class TableWriter:
    """Writes tables of one schema one after the other.

    Parameters
    ----------
    target : path or binary stream
    name : str
        What messages call the file that it will be.
    delimiter : str, optional
        Between the columns of text with a header; left out, Parquet is written.
    """

    def __init__(self, target: str | os.PathLike[str] | IO[bytes], name: str, *, delimiter: str = "") -> None:
        self._target, self.name, self._delimiter = target, name, delimiter
        self._writer: Any = None
        self.schema: pa.Schema | None = None

    def write(self, table: pa.Table, piece: str) -> None:
        """Write a table as a row group.

        Parameters
        ----------
        table : pyarrow.Table
        piece : str
            What it was made of, for messages.

        Raises
        ------
        FormatError
            If it has other columns than the first one.
        OSError
            If there is no room, with the name of the file and the piece.
        """
        with _saying(self.name, piece):
            if self._writer is None:
                self.schema = table.schema
                self._writer = self._opened(table.schema)
            assert self.schema is not None  # noqa: S101  # there was a first table
            if table.schema.names != self.schema.names:
                raise FormatError(
                    f"{piece}: has the columns {', '.join(table.schema.names)}, what was written before "
                    f"{', '.join(self.schema.names)}. Pieces of one table have the same columns."
                )
            how = {} if self._delimiter else {"row_group_size": max(len(table), 1)}
            self._writer.write_table(table.cast(self.schema), **how)

    def _opened(self, schema: pa.Schema) -> Any:
        if self._delimiter:
            from pyarrow import csv

            options = csv.WriteOptions(delimiter=self._delimiter, quoting_style="needed")
            return csv.CSVWriter(self._target, schema, write_options=options)
        import pyarrow.parquet as pq

        names = [one.name for one in schema if pa.types.is_dictionary(one.type)]
        return pq.ParquetWriter(self._target, schema, compression="zstd", use_dictionary=names or False)

    def close(self) -> None:
        """Write what a reader needs to begin with.

        Raises
        ------
        OSError
            If there is no room.
        """
        if self._writer is not None:
            with _saying(self.name, "the end"):
                self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        elif self._writer is not None:
            with contextlib.suppress(Exception):  # what is written is removed anyway
                self._writer.close()


_NUMBER = re.compile(r"\[[Ee]rrno (\d+)\]")


@contextmanager
def _saying(name: str, piece: str) -> Iterator[None]:
    """Let an error such as a full disk say which file it befell, and where."""
    try:
        yield
    except OSError as error:
        found = _NUMBER.search(str(error))
        number = error.errno or (int(found[1]) if found else errno.EIO)
        words = f"{os.strerror(number)} (when {piece} was written)"
        raise OSError(number, words, name) from error


def in_order(make: Callable[[A], B], given: Iterable[A], n_rows: int, memory: int) -> Iterator[tuple[A, B]]:
    """What a function makes of each of these, in their order, made in threads that are not far ahead.

    Parameters
    ----------
    make : function
    given : iterable
        Of batches of rows.
    n_rows : int
        Of the largest batch.
    memory : int
        Bytes that batches at work may take.

    Yields
    ------
    tuple
        What was given, and what became of it.

    Examples
    --------
    >>> list(in_order(abs, [-1, 2, -3], 1, 10**6))
    [(-1, 1), (2, 2), (-3, 3)]
    """
    waiting: deque[tuple[A, Future[B]]] = deque()
    n_threads = threads_that_fit(memory, Cost.WRITTEN * n_rows)
    give_back_at_once(memory)
    pool = ThreadPoolExecutor(n_threads)
    try:
        for one in given:
            waiting.append((one, pool.submit(make, one)))
            if len(waiting) > n_threads:
                first, future = waiting.popleft()
                yield first, future.result()
        for first, future in waiting:
            yield first, future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


ROWS = 1 << 20
"""Most rows of a row group that is written."""


_FEWEST_NUMBERS = 1 << 12


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
    of_row = max(Cost.JOINED, bytes_of_row(n_numbers, 8, weighted=n_numbers > 1))
    return rows_that_fit(memory, of_row, fewest=max(_FEWEST_NUMBERS // max(n_numbers, 1), 1), most=ROWS)


def _text_of(schema: pa.Schema) -> list[str]:
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


TARGET = "\0target"
"""Column that says of which of both tables a row is."""


@dataclass(frozen=True, slots=True)
class SideRows(Rows):
    """Rows of one of both tables.

    Attributes
    ----------
    rows : Rows
    is_target : bool
    column : str
        One that is there, by which rows are counted.
    """

    rows: Rows
    is_target: bool
    column: str

    @property
    def name(self) -> str:  # type: ignore[override]
        """See `Rows`."""
        return self.rows.name

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """See `Rows`."""
        return self.rows.n_rows

    def table(self, columns: Sequence[str]) -> pa.Table:
        """See `Rows.table`."""
        table = self.rows.table([name for name in columns if name != TARGET] or [self.column])
        if TARGET in columns:
            table = table.append_column(TARGET, of_numpy(np.full(len(table), self.is_target)))
        return table.select(list(columns))

    def where(self, row: int | None, columns: Sequence[str] = ()) -> str:
        """See `Rows.where`."""
        return self.rows.where(row, [name for name in columns if name != TARGET])


def of_both(tar: RowTable, non: RowTable, files: TwoFiles) -> RowTable:
    """Put the scores of targets and those of non-targets together, targets first.

    Parameters
    ----------
    tar, non : RowTable
    files : TwoFiles
        As the user named them.

    Raises
    ------
    FormatError
        If one has other columns than the other.
    """
    require_alike(non.schema, tar.schema, non.name, tar.name)
    sides = [(one, side) for side in (tar, non) for one in side.rows]
    rows = tuple(SideRows(one, side is tar, tar.schema.names[0]) for one, side in sides)
    return replace(
        tar,
        name=str(files),
        schema=tar.schema.append(pa.field(TARGET, pa.bool_())),
        rows=rows,
        reading=" and ".join(dict.fromkeys((tar.reading, non.reading))),
        system=name_of_both(files),
        is_double=tar.is_double | non.is_double,
        paths=(files,),
        kept=(tar.kept, non.kept),
        told=tar.told and non.told,
        target=TARGET,
    )


def n_of_both(table: RowTable) -> tuple[int, int]:
    """How many rows are targets, and how many are not."""
    n_tar = sum(one.n_rows for one in table.rows if isinstance(one, SideRows) and one.is_target)
    return n_tar, table.n_rows - n_tar
