"""How the lines of a text table are read: what separates the columns, and one role for each of them."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass

from deciban.io.columns.headers import CONDITION, IGNORED, identity_of, some_of
from deciban.io.contents import ContentKind
from deciban.io.format import TextFormat
from deciban.io.source import BLANKS

DELIMITERS = {"\t": "tabs", ",": "commas", " ": "white space"}

NEEDED_ROLE: dict[ContentKind | None, str] = {
    "scores": "score",
    "class-scores": "score",
    "key": "label",
    "class-key": "class",
}
"""The column without which a table does not hold what it should; for an index the names are enough."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf|infinity|nan)", re.IGNORECASE | re.ASCII)
_WHITE_SPACE = re.compile(f"[{BLANKS}]+")


@dataclass(frozen=True, slots=True)
class Layout:
    """How to read a text table: one role per column, as in `deciban.io.columns.headers`.

    ``quoted`` says that quotes enclose fields though no commas separate them.
    """

    format: TextFormat
    roles: tuple[str, ...]
    delimiter: str
    header: tuple[str, ...] | None = None
    holds: ContentKind | None = None
    quoted: bool = False

    @property
    def sides(self) -> tuple[str, ...]:
        """The columns that identify a trial; none where only its row does."""
        return identity_of(self.roles)

    def __str__(self) -> str:
        separated = "" if self.delimiter == " " else f", {DELIMITERS[self.delimiter]}"
        unit = ", log10" if self.format.log10 else ""
        if self.header is None:
            return f"{self.format.name} '{' '.join(self.roles)}'{separated}{unit}"
        pairs = list(zip(self.roles, self.header, strict=True))
        others = [name for role, name in pairs if role.startswith(CONDITION)]
        columns = some_of([f"{role}={name!r}" for role, name in pairs if role[0] not in (IGNORED, CONDITION)])
        kept = f", other columns: {some_of(others)}" if others else ""
        return f"{self.format.name} {columns}{separated}{unit}{kept}"


def split(line: str, delimiter: str, *, quoted: bool = False) -> list[str]:
    """Split one line into fields; a line whose quotes do not match is one field."""
    if delimiter == " ":
        return _WHITE_SPACE.split(line.strip(BLANKS))
    fields = line.split(delimiter)
    if (delimiter == "," or quoted) and '"' in line:
        try:
            fields = next(csv.reader([line], delimiter=delimiter, strict=True))
        except csv.Error:
            return [line]
    return [field.strip(BLANKS) for field in fields]


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
