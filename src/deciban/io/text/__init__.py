"""Text tables: fields of one line, recognition of their layout, reading and writing."""

from __future__ import annotations

import csv
import math
import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise

from deciban.io.source import BLANKS

DELIMITERS = {"\t": "tabs", ",": "commas", " ": "white space"}

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf|infinity|nan)", re.IGNORECASE | re.ASCII)
_HEXADECIMAL = re.compile(r"[+-]?0x[\da-f]+(\.[\da-f]*)?(p[+-]?\d+)?", re.IGNORECASE | re.ASCII)
_PLAIN = {"\u2212": "-", "\u2013": "-", "\u2010": "-", "\u2011": "-", "\u066b": ".", "\u00a0": "", "\u202f": ""}
"""Characters that word processors and spreadsheets write in numbers."""

_ODD = frozenset(_PLAIN) | {"\u2007", "\u2009", "\u200b", "\ufeff"}

_PAIR_OR_DECIMAL = re.compile(r"[+-]?\d+,\d+")

_WHITE_SPACE = re.compile(f"[{BLANKS}]+")


def split(line: str, delimiter: str, *, quoted: bool = False) -> list[str]:
    """Split one line into fields; a line with unbalanced quotes is one field."""
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
    """Return True if all titles of a header are in quotes, as R writes it; then names in the rows are quoted, too.

    Examples
    --------
    >>> is_quoted('"model" "test segment"', " "), is_quoted('"model" score', " ")
    (True, False)
    """
    title = '"(?:[^"]|"")*"'
    return re.fullmatch(f"{title}(?:{delimiter}{title})+", line.strip(BLANKS)) is not None


def shortened(line: str) -> str:
    """Return the beginning of a line for a message."""
    return line if len(line) <= 80 else line[:77] + "..."


def is_number(text: str) -> bool:
    """Return True if a field can be parsed as a number, including infinity and NaN."""
    return _NUMBER.fullmatch(text) is not None


def odd_character(text: str) -> str:
    """Return a text for the first character that is written in place of a minus, a blank or a digit, or an empty text.

    Spreadsheets and word processors write such characters.

    Examples
    --------
    >>> odd_character("m0 \u22121.5"), odd_character("-1.5")
    ('MINUS SIGN (U+2212, character 4)', '')
    """
    for at, sign in enumerate(text, start=1):
        is_odd = sign in _ODD or (sign > "\x7f" and (sign.isdigit() or unicodedata.category(sign) == "Zs"))
        if is_odd:
            return f"{unicodedata.name(sign, 'a character without a name')} (U+{ord(sign):04X}, character {at})"
    return ""


def is_odd_number(text: str) -> bool:
    """Return True for a number in an unsupported form: hexadecimal, with underscores, percent or unusual characters.

    Examples
    --------
    >>> [is_odd_number(text) for text in ("0x1p3", "1_000.5", "\u22121.5", "93.5%", "1.5", "m1")]
    [True, True, True, True, False, False]
    """
    if is_number(text) or not any(sign.isdigit() for sign in text):
        return False
    plain = "".join(_PLAIN.get(sign, str(unicodedata.decimal(sign, sign))) for sign in text)
    plain = plain.strip().removesuffix("%").strip()
    return is_number(plain) or is_number(plain.replace("_", "")) or _HEXADECIMAL.fullmatch(plain) is not None


def looks_numeric(fields: Sequence[str]) -> bool:
    """Return True if nearly all fields of a column are numbers."""
    return mostly(sum(map(is_number, fields)), len(fields))


def mostly(count: int, total: int) -> bool:
    """Return True if nearly all fields have a property; the line of the exception then gets an error."""
    return count > 0 and count >= 0.9 * total - 1


def counts_rows(values: Sequence[str]) -> bool:
    """Return True if values count rows from 0 or 1, with at most one gap (between first and last lines of a file).

    Examples
    --------
    >>> counts_rows(["0", "1", "2", "97", "98"]), counts_rows(["1", "3", "5"])
    (True, False)
    """
    if not values or not all(value.isdecimal() and value.isascii() for value in values):
        return not values
    numbers = list(map(int, values))
    steps = [after - before for before, after in pairwise(numbers)]
    return numbers[0] in (0, 1) and min(steps, default=1) > 0 and sum(step > 1 for step in steps) <= 1


def titled(rows: Sequence[Sequence[str]]) -> bool:
    """Return True if a first row has no numbers, and some column below it has.

    Examples
    --------
    >>> titled([["model", "s"], ["ann", "1.5"]]), titled([["ann", "0.5"], ["bob", "1.5"]])
    (True, False)
    """
    first, *others = rows
    regular = [row for row in others if len(row) == len(first)]
    if not regular or any(map(is_number, first)):
        return False
    return any(looks_numeric(column) for column in zip(*regular, strict=True))


def may_be_decimals(sample: Sequence[str]) -> bool:
    """Return True if pairs of integers could also be numbers with decimal commas.

    >>> may_be_decimals(["1,25", "-0,5"]), may_be_decimals(["a1,25"])
    (True, False)
    """
    return all(_PAIR_OR_DECIMAL.fullmatch(line.strip()) for line in sample)


NO_NAN = "infinite scores are allowed, NaN is not: repair the file or drop the trial"
"""End of messages on NaN scores."""


def problem_of_score(field: str, hint: str, way_out: str) -> str | None:
    """Return the problem of a score, or None.

    Parameters
    ----------
    field : str
    hint : str
        End of the message for a field that is not a number.
    way_out : str
        Advice on NaN.
    """
    if not is_number(field):
        return f"the score {field!r} is not a number{hint}"
    if math.isnan(float(field)):
        return f"the score is NaN; {way_out}"
    if math.isinf(float(field)) and "inf" not in field.casefold():
        return f"the score {field!r} exceeds the largest float, 1.8e308; write inf for infinity"
    return None
