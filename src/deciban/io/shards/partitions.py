"""Rows of a table sorted into parts by the fingerprints of their names: equal names come into one part."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa

from deciban._arrow import of_numpy, to_numpy
from deciban.core.resampling.units import mixed_bits
from deciban.io.contents import RowError
from deciban.io.shards.layout import placed, rows_with
from deciban.io.shards.meaning import Roles
from deciban.io.shards.other_names import NamesSeen
from deciban.io.shards.rows import Rows
from deciban.io.shards.truth import plain
from deciban.steps import teller
from deciban.trials.frames.columns import is_text_or_bytes
from deciban.trials.joining.renaming import Renaming
from deciban.trials.names.codes import encode
from deciban.trials.names.fingerprints import fingerprints
from deciban.types import AnyArray

ROW = "\0row"
"""Column with the number of a row in its table, where pieces have as many as they say."""

BYTES_PER_ROW = 250
"""What a row takes that waits until it is written, about, so that what is written at once is not too small."""


@dataclass(frozen=True, eq=False)
class Sorting:
    """How rows of a table are sorted into parts. Can be pickled.

    Attributes
    ----------
    roles : Roles
        Of a table whose trials have names.
    columns : tuple of str
        What is kept besides the names.
    n_parts : int
    where : mapping of str to tuple of str
        Only rows with such values.
    renaming : Renaming, optional
        By which names trials are compared.
    is_key : bool
        Whether this is the key, which an id map leaves as it is.
    """

    roles: Roles
    columns: tuple[str, ...]
    n_parts: int
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    renaming: Renaming | None = None
    is_key: bool = False

    @property
    def sides(self) -> list[str]:
        """Columns of names."""
        return list(self.roles.sides.values())

    @cached_property
    def kept(self) -> list[str]:
        """Columns that parts have, besides the number of the row."""
        return list(dict.fromkeys([*self.sides, *self.columns]))

    @cached_property
    def schema(self) -> pa.Schema:
        """Of the parts."""
        fields = [_stored(self.roles.table.schema.field(name), self.roles) for name in self.kept]
        return pa.schema([*fields, pa.field(ROW, pa.int64())])

    @property
    def starts(self) -> list[int]:
        """The number of the first row of every piece."""
        return [0, *accumulate(one.n_rows for one in self.roles.table.rows)][:-1]

    def parts_of(self, piece: Rows, first: int) -> tuple[list[pa.Table], NamesSeen]:
        """The rows of a piece, each in its part; and which of their names are compared by others.

        Parameters
        ----------
        piece : Rows
        first : int
            Number of its first row.

        Raises
        ------
        FormatError, OSError
            If something cannot be read, or a name is missing, with its place.
        """
        table = piece.table(list(dict.fromkeys([*self.kept, *self.where])))
        rows: AnyArray = np.arange(first, first + len(table))
        with placed(piece, self.sides):
            columns = [self._encoded(table.column(name), name) for name in self.sides]
        with placed(piece, self.kept):
            made = pa.table(
                [*(plain(table.column(name)).cast(self.schema.field(name).type) for name in self.kept), of_numpy(rows)],
                self.schema,
            )
        met: AnyArray = np.ones(len(table), np.bool_)
        for name, values in self.where.items():
            met &= rows_with(table.column(name), values)
        chosen = np.flatnonzero(met)
        columns = [(codes[chosen], names) for codes, names in columns]
        seen, prints = NamesSeen(), list[AnyArray]()
        for codes, names in columns:
            compared = names if self.renaming is None else self.renaming.compared(names, of_key=self.is_key)
            prints.append(fingerprints(compared) if len(names) else np.zeros(0, np.uint64))
            if self.renaming is not None and len(columns) > 1:  # of one name, all copies meet in one part
                seen = seen.with_side(names, prints[-1], codes)
        part = _together(prints, [codes for codes, _ in columns]) % np.uint64(self.n_parts)
        order = np.argsort(part, kind="stable")
        borders = np.searchsorted(part[order], np.arange(self.n_parts + 1, dtype=np.uint64))
        some = (order[borders[at] : borders[at + 1]] for at in range(self.n_parts))
        return [made.take(of_numpy(chosen[own])) for own in some], seen

    def _encoded(self, column: pa.ChunkedArray, side: str) -> tuple[AnyArray, pa.Array]:
        if column.null_count:
            row = int(np.argmax(to_numpy(column.is_null())))
            raise RowError(f"the name of a trial is missing (column {side}). Every trial needs one", row)
        own = plain(column)
        return encode(own.cast(pa.string()) if pa.types.is_integer(own.type) else own, side)


def _together(prints: Sequence[AnyArray], codes: Sequence[AnyArray]) -> AnyArray:
    """A number for the names of each row."""
    found = prints[0][codes[0]]
    for own, side in zip(prints[1:], codes[1:], strict=True):
        found = mixed_bits(found) ^ own[side]
    return mixed_bits(found)


def _stored(field: pa.Field, roles: Roles) -> pa.Field:
    """How a column is kept: text plain, numbers as they are in the first file, but floats wide enough for all."""
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    if is_text_or_bytes(kind):
        return pa.field(field.name, pa.string())
    if pa.types.is_floating(kind):
        return pa.field(field.name, pa.float64() if field.name in roles.table.is_double else pa.float32())
    return pa.field(field.name, kind)


class Partitions:
    """The parts of a table: in memory as long as there is room, else in files.

    Parameters
    ----------
    sorting : Sorting
    target : path
        How the names of the files begin.
    memory : int
        Bytes that rows may take that wait until they are written.
    """

    def __init__(self, sorting: Sorting, target: Path, memory: int) -> None:
        self.sorting, self.memory = sorting, memory
        self.seen = NamesSeen()
        self._files = [target.with_name(f"{target.name}-{at:04d}.arrows") for at in range(sorting.n_parts)]
        self._writers: list[Any] | None = None
        self._waiting: list[list[pa.Table]] = [[] for _ in self._files]
        self._n_waiting = 0

    def fill(self, n_threads: int = 1) -> Self:
        """Sort all pieces of the table, at most so many at once; what comes of them is taken in their order.

        Raises
        ------
        FormatError, OSError
            If something cannot be read, or a name is missing, with its place; or if there is no room.
        """
        table, done = self.sorting.roles.table, 0
        largest = max((one.n_rows for one in table.rows), default=1)
        n_threads = max(min(n_threads, self.memory // (largest * BYTES_PER_ROW)), 1)
        tell = teller(table.n_rows, "rows")
        running: deque[Future[tuple[list[pa.Table], NamesSeen]]] = deque()
        pool = ThreadPoolExecutor(n_threads)
        try:
            for at, (piece, first) in enumerate(zip(table.rows, self.sorting.starts, strict=True)):
                running.append(pool.submit(self.sorting.parts_of, piece, first))
                if len(running) > n_threads:
                    self._take(*running.popleft().result())
                    done += table.rows[at - n_threads].n_rows
                    tell(done)
            while running:
                self._take(*running.popleft().result())
            tell(table.n_rows)
            if self._writers is not None:
                self._write()
        finally:
            pool.shutdown(cancel_futures=True)
            for writer in self._writers or ():
                writer.close()
        return self

    def _take(self, parts: Sequence[pa.Table], seen: NamesSeen) -> None:
        self.seen += seen
        for held, own in zip(self._waiting, parts, strict=True):
            if len(own):
                held.append(own)
                self._n_waiting += len(own)
        if self._n_waiting * BYTES_PER_ROW >= self.memory:
            self._write()

    def _write(self) -> None:
        schema = self.sorting.schema
        if self._writers is None:  # streams: a writer of Parquet remembers every row group, and there are many
            how = pa.ipc.IpcWriteOptions(compression="lz4")
            self._writers = [pa.ipc.new_stream(str(file), schema, options=how) for file in self._files]
        for held, writer in zip(self._waiting, self._writers, strict=True):
            if held:
                writer.write_table(pa.concat_tables(held).combine_chunks())
                held.clear()
        self._n_waiting = 0

    def taken(self, at: int) -> pa.Table:
        """All rows of a part in their order; what kept them is given back."""
        if self._writers is None:
            held, self._waiting[at] = self._waiting[at], []
            found = pa.concat_tables([self.sorting.schema.empty_table(), *held])
        else:
            with pa.OSFile(str(self._files[at])) as file, pa.ipc.open_stream(file) as stream:
                found = stream.read_all()
            self._files[at].unlink()
        return found.combine_chunks()


def all_of(futures: Sequence[Any]) -> list[Any]:
    """What all of them gave; if one fails, none goes on."""
    try:
        return [one.result() for one in futures]
    except BaseException:
        for one in futures:
            one.cancel()
        raise
