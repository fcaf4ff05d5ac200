"""Tables of spreadsheets as text tables: workbooks (.xlsx), and text with semicolons or decimal commas."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deciban.errors import FormatError
from deciban.io.contents import only_format_errors
from deciban.io.source import Source
from deciban.io.text.one_line import is_number, mostly

_DECIMAL_COMMA = re.compile(r"[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?", re.ASCII)

_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+", re.ASCII)

_COMMENT = ("#", ";;")

_MOST_LINES = 50
"""Lines of the beginning that show whether semicolons separate columns."""

_HARMLESS = 256 << 20
_RATIO = 200
"""A part of a workbook of more bytes than the former may be this many times longer than its compressed form."""

_MOST_CELLS = 1 << 25
"""Cells of a sheet, empty ones among them."""


@dataclass(frozen=True, slots=True)
class Translated:
    """A table as text with commas between the columns and decimal points, line by line.

    Attributes
    ----------
    text : bytes
    of : Source
        The file of which this is the table.
    separated : str
        What separated the columns, and that there were decimal commas, for messages.
    sheet : str
        The sheet that was read, and others that were not; empty for text.
    """

    text: bytes
    of: Source
    separated: str = ""
    sheet: str = ""

    @property
    def source(self) -> Source:
        """The text as an input, called like the file."""
        found = Source(io.BytesIO(self.text))
        found.name = self.of.name
        return found

    def reading(self, layout: str) -> str:
        """Return how the table was read, given how its translation was.

        >>> Translated(b"", Source("a.csv"), "semicolons").reading("table label='y' score='s', commas")
        "table label='y' score='s', semicolons"
        """
        words = f", {self.separated}" if self.separated else ""
        return f"{self.sheet}{layout.replace(', commas', words, 1) if ', commas' in layout else layout + words}"


def has_semicolons(head: bytes) -> bool:
    """Return True if semicolons separate the columns of a table that begins with these bytes.

    Every line has as many of them, and one column holds numbers, with decimal commas or points. Without a header, this
    is not the first column: names may hold semicolons.

    Examples
    --------
    >>> has_semicolons(b"label;prob\\n1;0,5\\n0;0,25\\n"), has_semicolons(b"a;b 0.5\\nc;d 1.5\\n")
    (True, False)
    """
    if b";" not in head:
        return False
    titles, columns = _first_columns(head, ";", 2)
    return b"\t" not in head and any(map(_are_decimals, columns if titles else columns[1:]))


def has_decimal_commas(head: bytes, *, is_list: bool = False) -> bool:
    """Return True if tabs or blanks separate the columns of a table that begins with these bytes, with decimal commas.

    All its lines have as many fields, its numbers are whole or have decimal commas, and not all commas can separate
    thousands. Of a list with one number on each line, ``is_list`` tells that no line is a name and a score.

    Examples
    --------
    >>> has_decimal_commas(b"ann 0,5\\nbob 12\\n"), has_decimal_commas(b"ann 1,500\\nbob 2,500\\n")
    (True, False)
    """
    if b"," not in head:
        return False
    titles, columns = _first_columns(head, "\t" if b"\t" in head else " ", 1)
    if not columns or (len(columns) == 1) != is_list:
        return False
    commas = [field for one in columns if _are_decimals(one) for field in one if "," in field]
    has_points = any("." in field and is_number(field) for one in columns for field in one)
    named = not (is_list and "," in titles[0]) if titles else is_list or not any("," in one for one in columns[0])
    return named and not has_points and any(_THOUSANDS.fullmatch(field) is None for field in commas)


def of_semicolons(text: bytes, source: Source, delimiter: str = ";") -> Translated:
    """Return a table with semicolons as one with commas, its decimal commas as points; others keep their delimiter.

    Raises
    ------
    FormatError
        If a column mixes decimal commas and points: some of them may separate thousands.
    """
    marks: dict[int, dict[str, int]] = defaultdict(dict)
    lines = list[str]()
    for number, line in enumerate(text.decode("utf-8", "surrogateescape").split("\n"), start=1):
        if not line.strip() or line.startswith(_COMMENT):
            lines.append(line)
            continue
        fields = _fields(line, delimiter)
        for at, field in enumerate(fields):
            if _DECIMAL_COMMA.fullmatch(field):
                marks[at].setdefault("comma", number)
                fields[at] = field.replace(",", ".")
            elif "." in field and is_number(field):
                marks[at].setdefault("point", number)
        lines.append(_line(fields) if delimiter == ";" else delimiter.join(fields))
    for at, seen in marks.items():
        if len(seen) > 1:
            raise FormatError(
                f"{source.name}:{max(seen.values())}: column {at + 1} has decimal commas (line {seen['comma']}) and "
                f"points (line {seen['point']}). Write all its numbers in one way."
            )
    has_commas = any("comma" in seen for seen in marks.values())
    words = ", ".join(["semicolons"] * (delimiter == ";") + ["decimal commas"] * has_commas)
    return Translated("\n".join(lines).encode("utf-8", "surrogateescape"), source, words)


def of_workbook(source: Source) -> Translated:
    """Return the first sheet of a workbook that is not empty, as text.

    Raises
    ------
    FormatError
        If openpyxl is not there, the file is damaged or a bomb, or all its sheets are empty.
    """
    name = source.name
    try:
        import openpyxl
    except ImportError as error:
        raise FormatError(
            f"{name}: an Excel workbook, which openpyxl reads: pip install 'deciban[excel]'. Or save the sheet as CSV."
        ) from error
    with only_format_errors(name, "an Excel workbook"), ExitStack() as stack:
        _refuse_bombs(source)
        opened: Any = source.seekable()  # openpyxl refuses a path that does not end in .xlsx
        stream = stack.enter_context(opened.open("rb")) if isinstance(opened, Path) else opened
        book = openpyxl.load_workbook(stream, read_only=True, data_only=True, keep_links=False)
        try:
            sheets = [(sheet.title, rows) for sheet in book.worksheets if (rows := _rows_of(sheet, name))]
        finally:
            book.close()
    if not sheets:
        raise FormatError(f"{name}: all sheets of this workbook are empty. Expected a table with one trial per row.")
    (title, rows), *others = sheets
    more = f" (not read: {', '.join(repr(other) for other, _ in others)})" if others else ""
    with_commas = of_semicolons("\n".join(_line(row, ";") for row in rows).encode(), source)
    return Translated(with_commas.text, source, "", f"sheet {title!r}{more} ")


def _rows_of(sheet: Any, name: str) -> list[list[str]]:
    """The cells of a sheet as text, without empty rows at the end and empty columns on the right; blank rows stay."""
    sheet.reset_dimensions()  # a file may promise any number of rows
    rows, n_cells = list[list[str]](), 0
    for row in sheet.iter_rows(values_only=True):
        n_cells += len(row) + 1
        if n_cells > _MOST_CELLS:
            raise FormatError(f"{name}: sheet {sheet.title!r} has more than {_MOST_CELLS:,} cells. Save it as CSV.")
        texts = ["" if value is None else " ".join(str(value).split()) for value in row]
        while texts and not texts[-1]:
            del texts[-1]
        rows.append(texts)
    while rows and not rows[-1]:
        del rows[-1]
    width = max(map(len, rows), default=0)
    return [row + [""] * (width - len(row)) if row else row for row in rows]


def _refuse_bombs(source: Source) -> None:
    """Refuse workbooks whose parts become much longer than they are, or define words of their own."""
    with zipfile.ZipFile(source.seekable()) as archive:
        for entry in archive.infolist():
            if entry.flag_bits & 1:
                raise FormatError(f"{source.name}: the workbook is encrypted. Save it without a password.")
            if entry.file_size > max(_HARMLESS, _RATIO * entry.compress_size):
                raise FormatError(
                    f"{source.name}: {entry.filename!r} would be {entry.file_size:,} bytes out of "
                    f"{entry.compress_size:,}, so this may be a bomb. Save the sheet as CSV if you trust the file."
                )
            with archive.open(entry) as part:
                if b"<!" in (head := part.read(4096)) and b"<!DOCTYPE" in head:
                    raise FormatError(
                        f"{source.name}: {entry.filename!r} defines words of its own (DOCTYPE), which no "
                        "spreadsheet program writes. Save the sheet as CSV if you trust the file."
                    )


def _first_columns(head: bytes, delimiter: str, fewest: int) -> tuple[list[str], list[Sequence[str]]]:
    """The titles of columns, if there are some, and the fields of the first lines below them, column by column.

    There are no columns if lines have different numbers of fields, or too few.
    """
    whole = head[: head.rfind(b"\n")] if head.count(b"\n") > 1 else head
    lines = [line for line in whole.decode("utf-8-sig", "replace").splitlines() if line.strip()]
    rows = [_fields(line, delimiter) for line in lines[:_MOST_LINES] if not line.startswith(_COMMENT)]
    if len({*map(len, rows)}) != 1 or len(rows[0]) < fewest:
        return [], []
    titles = [] if len(rows) == 1 or any(map(_is_decimal, rows[0])) else rows[0]
    return titles, list(zip(*rows[bool(titles) :], strict=True))


def _are_decimals(column: Sequence[str]) -> bool:
    return mostly(sum(map(_is_decimal, column)), len(column))


def _is_decimal(field: str) -> bool:
    return is_number(field) or _DECIMAL_COMMA.fullmatch(field) is not None


def _fields(line: str, delimiter: str = ";") -> list[str]:
    if delimiter != ";" or '"' not in line:
        return [field.strip() for field in (line.split() if delimiter == " " else line.split(delimiter))]
    try:
        return [field.strip() for field in next(csv.reader([line], delimiter=";", strict=True))]
    except csv.Error:
        return [line]


def _line(fields: Sequence[str], delimiter: str = ",") -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="").writerow(fields)
    return out.getvalue()
