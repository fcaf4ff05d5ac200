"""Results as an Excel workbook: all metrics with bounds, and one sheet for each table."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import astuple, fields
from typing import IO, Any

from deciban.errors import InputError, one_line
from deciban.tables.frames import MetricRow
from deciban.tables.results import TableConsole
from deciban.tables.writers import Table, bare

_MOST_ROWS, _WIDEST = 1_048_575, 60
"""Rows of a sheet below its headings, and the width of the widest column."""

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_FORBIDDEN = re.compile(r"[\[\]:*?/\\']")
"""Characters that names of sheets must not contain."""


class WorkbookConsole(TableConsole):
    """Console that keeps tables and texts for an Excel workbook instead of printing them."""

    def __init__(self) -> None:
        super().__init__("csv", file=io.StringIO())
        self._tables, self._texts = list[Table](), list[str]()

    def print(self, *objects: Any, **_how: Any) -> None:
        """Keep tables, or a text."""
        for one in objects:
            if isinstance(one, Table):
                self._tables.append(one)
            elif str(one).strip():
                self._texts.append(str(one))

    def save(self, stream: IO[bytes], metrics: Iterable[MetricRow] = ()) -> None:
        """Write the workbook: metrics, tables, and notes.

        Parameters
        ----------
        stream : binary stream
        metrics : iterable of MetricRow

        Raises
        ------
        InputError
            If openpyxl is not installed, or a table has too many rows for Excel.
        """
        try:
            import openpyxl
        except ImportError as error:
            raise InputError("table: xlsx needs openpyxl: pip install 'deciban[excel]'.") from error
        book = openpyxl.Workbook()
        book.remove(book.active)
        rows = [astuple(row) for row in metrics]
        if rows:
            _fill(book.create_sheet("metrics"), [one.name for one in fields(MetricRow)], rows)
        for k, table in enumerate(self._tables, 1):
            made = bare(table, bounds_apart=True)
            named = _FORBIDDEN.sub(" ", one_line(next(filter(None, (table.headings[0], *table.headings[1:])), "table")))
            sheet = book.create_sheet(f"{k} {named}"[:31])
            cells = [
                [one if at < made.n_left else _as_number(one) for at, one in enumerate(made.cells(row))]
                for row in made.rows
            ]
            _fill(sheet, made.headings, cells, made.caption.splitlines())
        if self._texts:
            _fill(book.create_sheet("notes"), ["notes"], [[text] for text in self._texts])
        book.save(stream)


def _as_number(text: str) -> str | float:
    """Return the number that a cell contains, otherwise its text."""
    return float(text) if _NUMBER.fullmatch(text) else text


def _fill(sheet: Any, headings: Sequence[str], rows: Sequence[Sequence[Any]], below: Sequence[str] = ()) -> None:
    """Write headings, rows and lines below them; text is never a formula."""
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter

    if len(rows) > _MOST_ROWS:
        raise InputError(f"table: {len(rows):,} rows, but a sheet has {_MOST_ROWS:,}. Use --json.")
    for at, row in enumerate([headings, *rows, *([[], *([line] for line in below)] if below else [])], 1):
        for k, value in enumerate(row, 1):
            if value is None or (isinstance(value, float) and math.isnan(value)):
                continue
            cell = sheet.cell(at, k)
            is_number = isinstance(value, int | float) and math.isfinite(value)
            cell.value = value if is_number else one_line(str(value))
            if not is_number:
                cell.data_type = "s"
            if at == 1:
                cell.font = Font(bold=True)
    sheet.freeze_panes = "A2"
    for k in range(len(headings)):
        longest = max((len(str(row[k])) for row in [headings, *rows[:1000]] if k < len(row)), default=8)
        sheet.column_dimensions[get_column_letter(k + 1)].width = min(longest + 2, _WIDEST)
