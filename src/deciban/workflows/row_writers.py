"""Tables that are written row by row, as text or Parquet, whole or not at all."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Self

import pyarrow as pa

from deciban.errors import InputError
from deciban.io.atomic import atomic_write
from deciban.io.shards.writing import TableWriter
from deciban.io.source import PathLike, display_name
from deciban.io.writing import target_name

_DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}


class RowWriter:
    """Writes tables of the same columns one after the other; text has a header.

    Parameters
    ----------
    stream : binary stream
    ending : str
        ``".parquet"``, or that of text.
    name : str
        What messages call the file.
    """

    def __init__(self, stream: IO[bytes], ending: str, name: str) -> None:
        self._stream, self._ending = stream, ending
        self._text: Any = None
        self._parquet = TableWriter(stream, name) if ending == ".parquet" else None

    @classmethod
    @contextmanager
    def of(cls, out: PathLike) -> Iterator[RowWriter]:
        """Open a file for writing that is there only when the block ends without an error.

        Parameters
        ----------
        out : path
            ``-`` is standard output, as CSV.

        Raises
        ------
        InputError
            If its ending says no format.
        """
        ending = ".csv" if str(out) == "-" else Path(out).suffix.lower()
        if ending not in {*_DELIMITERS, ".parquet"}:
            raise InputError(
                f"{display_name(out)}: ends in {ending or 'nothing'}. Tables are written as .csv, .tsv, .txt or "
                ".parquet."
            )
        if str(out) == "-":
            with cls(sys.stdout.buffer, ending, target_name(out)) as writer:
                yield writer
            return
        with atomic_write(out) as stream, cls(stream, ending, target_name(out)) as writer:
            yield writer

    def write(self, table: pa.Table, piece: str) -> None:
        """Write the rows of a table; ``piece`` is what they were made of, for messages."""
        if self._parquet is not None:
            self._parquet.write(table, piece)
            return
        from pyarrow import csv

        if self._text is None:
            options = csv.WriteOptions(delimiter=_DELIMITERS[self._ending], quoting_style="needed")
            self._text = csv.CSVWriter(self._stream, table.schema, write_options=options)
        self._text.write_table(table)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for one in (self._text, self._parquet):
            if one is not None and kind is None:
                one.close()
