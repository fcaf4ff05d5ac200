"""Fields of one line: how they are cut, and which are numbers."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

from deciban.io.source import BLANKS

DELIMITERS = {"\t": "tabs", ",": "commas", " ": "white space"}

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf|infinity|nan)", re.IGNORECASE | re.ASCII)
_WHITE_SPACE = re.compile(f"[{BLANKS}]+")


def split(line: str, delimiter: str, *, quoted: bool = False) -> list[str]:
    """Split one line into fields; a line whose quotes do not match is one field."""
    if delimiter == " ":
        line = line.strip(BLANKS)
        if not quoted:
            return _WHITE_SPACE.split(line)
    fields = line.split(delimiter)
    if (delimiter == "," or quoted) and '"' in line:
        try:
            fields = next(csv.reader([line], delimiter=delimiter, strict=True))
        except csv.Error:
            return [line]
    return [field.strip(BLANKS) for field in fields]


def is_quoted(line: str, delimiter: str) -> bool:
    """Whether a first line is a header with every title in quotes, as R writes it; then so are the names below.

    Examples
    --------
    >>> is_quoted('"model" "test segment"', " "), is_quoted('"model" score', " ")
    (True, False)
    """
    title = '"(?:[^"]|"")*"'
    return re.fullmatch(f"{title}(?:{delimiter}{title})+", line.strip(BLANKS)) is not None


def shortened(line: str) -> str:
    """As much of a line as a message shows."""
    return line if len(line) <= 80 else line[:77] + "..."


def is_number(text: str) -> bool:
    """Whether a field reads as a number (infinite and NaN ones among them)."""
    return _NUMBER.fullmatch(text) is not None


def looks_numeric(fields: Sequence[str]) -> bool:
    """Whether nearly all fields of a column are numbers."""
    return mostly(sum(map(is_number, fields)), len(fields))


def mostly(count: int, total: int) -> bool:
    """A column means what nearly all its fields say: the odd one out gets an error with its line, not a guess."""
    return count > 0 and count >= 0.9 * total - 1
