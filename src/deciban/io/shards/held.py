"""Rows of tables that a cluster holds: who reads them is given the table, or knows how to fetch it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from deciban.errors import InputError
from deciban.io.shards.rows import Rows

_GIVEN = threading.local()

FETCH: dict[str, Callable[[], pa.Table]] = {}
"""How the process that had tables joined gets one of them, by its key, as long as it is held."""


@dataclass(frozen=True, slots=True)
class HeldRows(Rows):
    """Some rows of a table that a cluster holds.

    Attributes
    ----------
    name : str
    n_rows : int
    key : str
        Of the table.
    start : int
        The first of the rows.
    n_bytes : int
        What the table takes.
    """

    name: str
    n_rows: int
    key: str
    start: int
    n_bytes: int

    @property
    def held(self) -> Mapping[str, int]:
        """See `Rows.held`."""
        return {self.key: self.n_bytes}

    def table(self, columns: Sequence[str]) -> pa.Table:
        """See `Rows.table`.

        Raises
        ------
        InputError
            If the cluster that held it was closed.
        """
        given: Mapping[str, pa.Table] = getattr(_GIVEN, "tables", {})
        if self.key not in given and self.key not in FETCH:
            raise InputError(f"{self.name}: was held by a cluster that is closed. Open the scores again.")
        whole = given[self.key] if self.key in given else FETCH[self.key]()
        return whole.select(list(columns)).slice(self.start, self.n_rows)


@contextmanager
def holding(tables: Mapping[str, Any]) -> Iterator[None]:
    """Give tables, by their keys, to what reads rows of them in this thread.

    Examples
    --------
    >>> rows = HeldRows("part 1", 2, "key", 1, 24)
    >>> with holding({"key": pa.table({"score": [1.0, 2.0, 3.0]})}):
    ...     rows.table(["score"]).to_pydict()
    {'score': [2.0, 3.0]}
    """
    before = getattr(_GIVEN, "tables", {})
    _GIVEN.tables = tables
    try:
        yield
    finally:
        _GIVEN.tables = before
