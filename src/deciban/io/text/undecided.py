"""What is said of lines that could be read in several ways, or in none, with the options that would settle it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from deciban.errors import FormatError
from deciban.io.columns.headers import NEEDED_ROLE
from deciban.io.formats import Options, TextFormat
from deciban.io.text.one_line import is_number, is_odd_number, mostly, odd_character, shortened
from deciban.io.text.reader import Layout
from deciban.io.text.ways import ColumnsSeen, in_lines

_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")


def could_be(sample: Sequence[str], found: Sequence[Layout], name: str, options: Options) -> str:
    """Say that lines could be read in several ways."""
    readings = " or ".join(f"{layout}" for layout in found)
    ways = []
    for layout in found:
        same = [one for one in found if (one.roles, one.header) == (layout.roles, layout.header)]
        if len(same) > 1 or layout.header is not None:
            ways.append(f"{options.format_option} {layout.format.name}")
        else:
            ways.append(f"{options.columns_option} {','.join(layout.roles)}")
    return (
        f"{name}: could be {readings}, the first line is {shortened(sample[0])!r}. Say which: {ways[0]} or another "
        f"of:{in_lines(ways)}"
    )


def may_be_decimals(sample: Sequence[str]) -> bool:
    """Whether pairs of whole numbers could be numbers with decimal commas just as well.

    >>> may_be_decimals(["1,25", "-0,5"]), may_be_decimals(["a1,25"])
    (True, False)
    """
    return all(_DECIMAL_COMMA.fullmatch(line.strip()) for line in sample)


def refuse_decimal_commas(sample: Sequence[str], name: str) -> None:
    """Refuse lines that are numbers with decimal commas, or names with whole numbers.

    Raises
    ------
    FormatError
    """
    if may_be_decimals(sample):
        raise FormatError(
            f"{name}:1: cannot tell whether {shortened(sample[0])!r} is a number with a decimal comma, or a name and a "
            "whole number as its score. Write numbers with a point; or say that there are names: --columns trial,score."
        )


def refuse_odd_numbers(rows: Sequence[Sequence[str]], sample: Sequence[str], name: str) -> None:
    """Refuse a table with numbers in a form that is not read, where a column holds nothing but numbers.

    Raises
    ------
    FormatError
        With the line and the character.
    """
    regular = [(row, line) for row, line in zip(rows, sample, strict=True) if len(row) == len(rows[0])]
    for column in zip(*(row for row, _ in regular), strict=True):
        odd = [at for at, field in enumerate(column) if is_odd_number(field)]
        if not odd or not mostly(sum(map(is_number, column)) + len(odd), len(column)):
            continue
        field, line = column[odd[0]], regular[odd[0]][1]
        what = odd_character(field)
        why = f" It has {what}." if what else ""
        raise FormatError(
            f"{name}: {field!r} is not a number as it is read, in the line {shortened(line)!r}.{why} Write digits 0 to "
            "9, a point, and - for minus, as in -0.5 or 2.5e-3."
        )


def undecided(
    sample: Sequence[str],
    seen: ColumnsSeen | None,
    name: str,
    options: Options,
    format: TextFormat | None,
    swapped: Layout | None,
) -> str:
    """Say that lines could not be read as what is needed.

    Parameters
    ----------
    sample : sequence of str
        The first lines.
    seen : ColumnsSeen or None
        What stands in the columns; None where nothing cuts the lines.
    name : str
        File name.
    options : Options
        With the kind of table that is needed.
    format : TextFormat or None
        The format that the user named.
    swapped : Layout or None
        How the lines are read as a key where scores are needed, or as scores where a key is.
    """
    line, need = shortened(sample[0]), options.need or "scores"
    words = " If its words for target and non-target are not known, say them: --labels target=WORD,nontarget=WORD."
    words = words if need == "key" else ""
    ways = [] if seen is None else seen.ways(need)
    if swapped is not None and swapped.roles == ("score",):
        return (
            f"{name}:1: one number on each line, but {need} was asked for: {line!r}. If these are labels, say so "
            "(--key-columns label). Two lists of scores, one of targets and one of non-targets, are named --tar FILE "
            "--non FILE."
        )
    if swapped is not None and not (need == "scores" and seen is not None and seen.has_free_numbers):
        what = "these are scores" if need == "key" else "this is a key"
        return (
            f"{name}:1: {what} ({swapped}), but {need} was asked for: {line!r}. Are scores and key swapped? Otherwise "
            f"name the columns ({options.columns_option}).{words}"
        )
    if need == "class-scores" and format is None and not ways:
        return (
            f"{name}:1: cannot tell which columns are the scores of classes: {line!r}. Expected a header, a column "
            "of names of segments, and one of numbers for each class; or name them (--columns trial=utt,score=A|B)."
        )
    asked, in_order, by_header = "which columns name the trials", "enroll,test", "trial=utt"
    role = NEEDED_ROLE.get(need)
    if role is not None:
        asked, in_order, by_header = f"which column is the {role}", f"{in_order},{role}", f"{by_header},{role}=NAME"
    if format is not None:
        return (
            f"{name}:1: not {format.name} with {need}: {line!r}. Name the columns: {options.columns_option} {in_order}."
        )
    if seen is not None and ways:
        first = "" if seen.has_header else f" in {line!r}"
        stop = "" if seen.shown().endswith("?") else "."
        some = "the one of these that is right" if len(ways) > 1 else "if that is right"
        return f"{name}:1: cannot tell {asked}{first}. The columns are {seen.shown()}{stop} Say {some}:{in_lines(ways)}"
    odd = odd_character(sample[0])
    words = f" The line has {odd}: write plain blanks, digits and minus signs." if odd else words
    there = f" The columns are {seen.shown()}." if seen is not None and seen.has_header else ""
    return (
        f"{name}:1: cannot tell {asked}: {line!r}.{there} Name the columns in order, - for one to ignore "
        f"({options.columns_option} {in_order}), or by the header ({options.columns_option} {by_header}).{words}"
    )
