"""Text tables. Here, files of spreadsheet programs (.xlsx, semicolons, decimal commas) become text tables."""

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

from deciban.errors import FormatError
from deciban.io.formats import only_format_errors
from deciban.io.source import Source
from deciban.io.text.reader import is_number, mostly, split
from deciban.types import Foreign

_DECIMAL_COMMA = re.compile(r"[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?", re.ASCII)

_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+", re.ASCII)

_COMMENT = ("#", ";;")

_MOST_LINES = 50
"""Number of first lines to check for semicolons."""

_HARMLESS = 256 << 20
_RATIO = 200
"""A file in a workbook above the first number of bytes may expand at most by the second factor."""

_MOST_CELLS = 1 << 25
"""Largest number of cells of a sheet, including empty ones."""


@dataclass(frozen=True, slots=True)
class Translated:
    """A table as text with commas between the columns and decimal points, line by line.

    Attributes
    ----------
    text : bytes
    of : Source
        The original file.
    separated : str
        The original separators of columns and decimals, for messages.
    sheet : str
        The sheet that was read, and sheets that were not; empty for text.
    """

    text: bytes
    of: Source
    separated: str = ""
    sheet: str = ""

    @property
    def source(self) -> Source:
        """The text as an input with the name of the file."""
        result = Source(io.BytesIO(self.text))
        result.name = self.of.name
        return result

    def reading(self, layout: str) -> str:
        """Return the text on how the table was read, given the layout of the converted text.

        >>> Translated(b"", Source("a.csv"), "semicolons").reading("table label='y' score='s', commas")
        "table label='y' score='s', semicolons"
        """
        words = f", {self.separated}" if self.separated else ""
        return f"{self.sheet}{layout.replace(', commas', words, 1) if ', commas' in layout else layout + words}"


def has_semicolons(head: bytes) -> bool:
    """Return True if a table that begins with these bytes has semicolons between its columns.

    All lines have equal numbers of semicolons, and one column contains numbers, with decimal commas or points. Without
    a header, this is not the first column, because names may contain semicolons.

    Examples
    --------
    >>> has_semicolons(b"label;prob\\n1;0,5\\n0;0,25\\n"), has_semicolons(b"a;b 0.5\\nc;d 1.5\\n")
    (True, False)
    """
    titles, columns = _first_columns(head, ";", 2)
    return b"\t" not in head and any(map(_are_decimals, columns if titles else columns[1:]))


def has_decimal_commas(head: bytes, *, is_list: bool = False) -> bool:
    """Return True if a table that begins with these bytes has tabs or blanks between its columns, and decimal commas.

    All lines have equal numbers of fields, numbers are integers or have decimal commas, and not all commas can separate
    thousands. ``is_list`` is True for a list with one number per line, so that a line is not a name and a score.

    Examples
    --------
    >>> has_decimal_commas(b"ann 0,5\\nbob 12\\n"), has_decimal_commas(b"ann 1,500\\nbob 2,500\\n")
    (True, False)
    """
    titles, columns = _first_columns(head, "\t" if b"\t" in head else " ", 1)
    if not columns or (len(columns) == 1) != is_list:
        return False
    commas = [field for one in columns if _are_decimals(one) for field in one if "," in field]
    has_points = any("." in field and is_number(field) for one in columns for field in one)
    named = not (is_list and "," in titles[0]) if titles else is_list or not any("," in one for one in columns[0])
    return named and not has_points and any(_THOUSANDS.fullmatch(field) is None for field in commas)


def of_semicolons(text: bytes, source: Source, delimiter: str = ";") -> Translated:
    """Convert semicolons to commas, and decimal commas to points; other delimiters are kept.

    Raises
    ------
    FormatError
        If a column has decimal commas and points, because some of them may separate thousands.
    """
    marks: dict[int, dict[str, int]] = defaultdict(dict)
    lines = list[str]()
    for number, line in enumerate(text.decode("utf-8", "surrogateescape").split("\n"), start=1):
        if not line.strip() or line.startswith(_COMMENT):
            lines.append(line)
            continue
        fields = split(line, delimiter, quoted=delimiter == ";")
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
    """Return a sheet of a workbook as text: the first one with numbers below its first row, or the first not empty.

    Raises
    ------
    FormatError
        If openpyxl is not installed, the file is damaged or expands implausibly, or all sheets are empty.
    """
    name = source.name
    try:
        import openpyxl
    except ImportError as error:
        raise FormatError(
            f"{name}: an Excel workbook. Install openpyxl (pip install 'deciban[excel]'), or save the sheet as CSV."
        ) from error
    with only_format_errors(name, "an Excel workbook"), ExitStack() as stack:
        _refuse_bombs(source)
        opened: Foreign = source.seekable()  # openpyxl refuses a path that does not end in .xlsx
        stream = stack.enter_context(opened.open("rb")) if isinstance(opened, Path) else opened
        book = openpyxl.load_workbook(stream, read_only=True, data_only=True, keep_links=False)
        try:
            sheets = [(sheet.title, rows) for sheet in book.worksheets if (rows := _rows_of(sheet, name))]
        finally:
            book.close()
    if not sheets:
        raise FormatError(f"{name}: all sheets of this workbook are empty. Expected a table with one trial per row.")
    numeric = (one for one in sheets if any(is_number(cell.replace(",", ".")) for row in one[1][1:] for cell in row))
    title, rows = next(numeric, sheets[0])
    others = ", ".join(repr(other) for other, _ in sheets if other != title)
    more = f" (not read: {others})" if others else ""
    with_commas = of_semicolons("\n".join(_line(row, ";") for row in rows).encode(), source)
    return Translated(with_commas.text, source, "", f"sheet {title!r}{more} ")


def _rows_of(sheet: Foreign, name: str) -> list[list[str]]:
    """Return the cells of a sheet as text, without empty rows at the end and empty columns on the right."""
    sheet.reset_dimensions()  # a file may declare any number of rows
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
    """Raise if files in a workbook expand implausibly, or define XML entities."""
    with zipfile.ZipFile(source.seekable()) as archive:
        for entry in archive.infolist():
            if entry.flag_bits & 1:
                raise FormatError(f"{source.name}: the workbook is encrypted. Save it without a password.")
            if entry.file_size > max(_HARMLESS, _RATIO * entry.compress_size):
                raise FormatError(
                    f"{source.name}: {entry.filename!r} would expand from {entry.compress_size:,} to "
                    f"{entry.file_size:,} bytes, so this may be a decompression bomb. Save the sheet as CSV."
                )
            with archive.open(entry) as part:
                if b"<!" in (head := part.read(4096)) and b"<!DOCTYPE" in head:
                    raise FormatError(
                        f"{source.name}: {entry.filename!r} defines entities (DOCTYPE), which no spreadsheet program "
                        "does. Save the sheet as CSV if you trust the file."
                    )


def _first_columns(head: bytes, delimiter: str, fewest: int) -> tuple[list[str], list[Sequence[str]]]:
    """Return the titles of columns, if any, and the fields of the first lines below them, column by column.

    Both are empty if lines have different numbers of fields, or too few.
    """
    whole = head[: head.rfind(b"\n")] if head.count(b"\n") > 1 else head
    lines = [line for line in whole.decode("utf-8-sig", "replace").splitlines() if line.strip()]
    kept = (line for line in lines[:_MOST_LINES] if not line.startswith(_COMMENT))
    rows = [split(line, delimiter, quoted=delimiter == ";") for line in kept]
    if len({*map(len, rows)}) != 1 or len(rows[0]) < fewest:
        return [], []
    titles = [] if len(rows) == 1 or any(map(_is_decimal, rows[0])) else rows[0]
    return titles, list(zip(*rows[bool(titles) :], strict=True))


def _are_decimals(column: Sequence[str]) -> bool:
    return mostly(sum(map(_is_decimal, column)), len(column))


def _is_decimal(field: str) -> bool:
    return is_number(field) or _DECIMAL_COMMA.fullmatch(field) is not None


def _line(fields: Sequence[str], delimiter: str = ",") -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="").writerow(fields)
    return out.getvalue()
