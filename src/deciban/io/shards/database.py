"""DuckDB: joins, groups and sorts tables that do not fit in memory, in a folder of its own."""

from __future__ import annotations

import errno
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from deciban.errors import InputError
from deciban.memory import LEAST_FOR_JOINING, Cost, memory_error, rows_that_fit, threads_that_fit

_SHARE = 0.7
"""Part of the memory that DuckDB may take: the rest is for rows on their way to it and from it."""

_LIMIT = 60 * 10**6
"""Bytes that it may take however little is allowed; few rows take less."""

_TIMES = 3
"""How many times the memory rows may take that are joined at once."""

_FEW = 20 * 10**6
"""Bytes that are there in any case."""


class Database:
    """A database that goes with its folder.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
    limit : int
        Bytes that it may take.
    """

    def __init__(self, connection: Any, limit: int) -> None:
        self._connection, self._limit = connection, limit
        self.failed: list[BaseException] = []

    def n_parts(self, n_rows: int) -> int:
        """In how many parts tables are joined of which the longer one has so many rows.

        DuckDB puts on disk what does not fit, but of much more than that it gives up.
        """
        return math.ceil(max(n_rows, 1) / rows_that_fit(_TIMES * self._limit, Cost.JOINED_NAME))

    def run(self, query: str, **streams: Iterator[pa.RecordBatch]) -> list[tuple[Any, ...]]:
        """Answer a query, which may read every stream once, by its name.

        Raises
        ------
        Exception
            Whatever a stream raises.
        """
        for name, batches in streams.items():
            self._connection.register(name, _reader(batches, self.failed))
        found: list[tuple[Any, ...]] = self._connection.execute(query).fetchall()
        for name in streams:
            self._connection.unregister(name)
        return found

    def batches(self, query: str, n_rows: int) -> Iterator[pa.RecordBatch]:
        """Answer a query by batches of so many rows, of which there is at least one, that may be empty."""
        reader = self._connection.sql(query).to_arrow_reader(n_rows)
        yield pa.RecordBatch.from_pylist([], reader.schema)
        yield from reader


def _reader(batches: Iterator[pa.RecordBatch], failed: list[BaseException]) -> Any:
    """A stream that DuckDB reads; it must not know the connection, which would never be freed then."""
    first = next(batches)

    def told() -> Iterator[pa.RecordBatch]:
        yield first
        try:
            yield from batches
        except BaseException as error:  # of which DuckDB would keep the words alone
            failed.append(error)
            raise

    return pa.RecordBatchReader.from_batches(first.schema, told())


@contextmanager
def database(folder: Path, memory: int, n_rows: int, name: str) -> Iterator[Database]:
    """Open a database for one task.

    Parameters
    ----------
    folder : path
        Of temporary files.
    memory : int
        Bytes that may be taken.
    n_rows : int
        Of all tables that will be joined.
    name : str
        What messages call their rows.

    Raises
    ------
    InputError
        If DuckDB is not installed, or this is more than it can do with the memory.
    OSError
        If there is no room in the folder.
    """
    if memory < LEAST_FOR_JOINING and n_rows > rows_that_fit(max(memory, _FEW), Cost.JOINED):
        what = f"memory: {name}, which are matched by their names"
        raise memory_error(what, needed=2 * LEAST_FOR_JOINING, given=2 * memory)
    library = _library()
    limit = max(int(memory * _SHARE), _LIMIT)
    n_threads = threads_that_fit(limit, Cost.DATABASE_THREAD)
    options = {"memory_limit": f"{limit}B", "temp_directory": str(folder), "threads": n_threads}
    options |= {"preserve_insertion_order": False, "autoinstall_known_extensions": False}
    with library.connect(str(folder / "tables.duckdb"), config=options) as connection:
        made = Database(connection, limit)
        try:
            yield made
        except library.Error as error:
            if made.failed:
                raise made.failed[0] from None
            raise _told(library, error, name, folder) from error
        except RuntimeError as error:  # what it makes of Ctrl-C
            if "interrupted" in str(error):
                raise KeyboardInterrupt from error
            raise


def _library() -> Any:
    try:
        import duckdb
    except ImportError as error:
        raise InputError(
            "memory: tables that do not fit in it are joined by DuckDB, which is not installed: pip install "
            "'deciban[big]'. Or allow more memory (memory=, --memory)."
        ) from error
    return duckdb


def _told(library: Any, error: Exception, name: str, folder: Path) -> Exception:
    """The error that says what is to be done, in place of what DuckDB says of its blocks."""
    words = str(error)
    if "No space left" in words or "max_temp_directory_size" in words:
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))
    if isinstance(error, library.OutOfMemoryException):
        return memory_error(f"memory: {name} took more than is allowed")
    if isinstance(error, library.IOException):
        return OSError(errno.EIO, words, str(folder))
    return error
