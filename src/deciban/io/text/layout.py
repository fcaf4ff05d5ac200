"""How the lines of a text table are read, and what to say where nothing tells its columns apart."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass

from deciban.errors import FormatError
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
    """How to read a text table: one role per column, as in `deciban.io.columns.assemble`.

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


_DECIMAL = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?")


def could_be(sample: Sequence[str], found: Sequence[Layout], name: str) -> str:
    """Say that lines could be read in several ways."""
    readings = " or ".join(f"{layout}" for layout in found)
    roles = ",".join(found[0].roles)
    return (
        f"{name}: could be {readings}, the first line is {shortened(sample[0])!r}. Say which: --format NAME or "
        f"--columns {roles}."
    )


def undecided(
    sample: Sequence[str], need: ContentKind, name: str, format: TextFormat | None, swapped: Layout | None
) -> str:
    """Say that lines could not be read as what is needed.

    Parameters
    ----------
    sample : sequence of str
        The first lines.
    need : kind of table
    name : str
        File name.
    format : TextFormat or None
        The format that the user named.
    swapped : Layout or None
        How the lines are read as a key where scores are needed, or as scores where a key is.
    """
    line = shortened(sample[0])
    words = " If its words for target and non-target are not known, say them: --labels target=WORD,nontarget=WORD."
    words = words if need == "key" else ""
    if swapped is not None:
        what = "these are scores" if need == "key" else "this is a key"
        return (
            f"{name}:1: {what} ({swapped}), but {need} was asked for: {line!r}. Are scores and key swapped? Otherwise "
            f"name the columns (--columns).{words}"
        )
    if need == "class-scores" and format is None:
        return (
            f"{name}:1: cannot tell which columns are the scores of classes: {line!r}. Expected a header, a column "
            "of names of segments, and one of numbers for each class; or name them (--columns trial=utt,score=A|B)."
        )
    asked, in_order, by_header = "which columns name the trials", "enroll,test", "trial=utt"
    role = NEEDED_ROLE.get(need)
    if role is not None:
        asked, in_order, by_header = f"which column is the {role}", f"{in_order},{role}", f"{by_header},{role}=NAME"
    if format is not None:
        return f"{name}:1: not {format.name} with {need}: {line!r}. Name the columns: --columns {in_order}."
    return (
        f"{name}:1: cannot tell {asked}: {line!r}. Name the columns in order, - for one to ignore (--columns "
        f"{in_order}), or by the header (--columns {by_header}).{words}"
    )


def refuse_semicolons(sample: Sequence[str], name: str) -> None:
    """Refuse columns that semicolons separate: the commas in them may be those of decimal numbers.

    Raises
    ------
    FormatError
        If every line has as many semicolons, and a column between them is one of numbers.
    """
    rows = [line.strip().split(";") for line in sample]
    if len(rows[0]) < 2 or len({*map(len, rows)}) > 1 or any("\t" in line for line in sample):
        return
    columns = zip(*(rows[1:] or rows), strict=True)
    if any(mostly(sum(map(bool, map(_DECIMAL.fullmatch, column))), len(column)) for column in list(columns)[1:]):
        raise FormatError(
            f"{name}:1: semicolons separate the columns: {shortened(sample[0])!r}. Expected commas, tabs or white "
            "space, and decimal points. Change them, for example with sed 's/,/./g; s/;/,/g' FILE > COPY."
        )
