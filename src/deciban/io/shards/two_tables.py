"""Scores of targets in one table and of non-targets in another, as one in pieces that knows which is which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from deciban._arrow import of_numpy
from deciban.io.formats.parquet import require_alike
from deciban.io.shards.rows import Rows, RowTable
from deciban.io.source import TwoFiles
from deciban.io.two_files import name_of_both

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
