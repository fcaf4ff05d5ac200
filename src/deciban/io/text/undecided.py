"""What is said of lines that could be read in several ways, or in none, with the options that would settle it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import TypeAlias

from deciban.errors import FormatError
from deciban.io.columns.headers import CONDITION, IGNORED, NEEDED_ROLE, identity_of, role_of
from deciban.io.columns.meanings import with_classes_of_label, with_only_score, without_other_numbers
from deciban.io.contents import ContentKind
from deciban.io.formats import Options, TextFormat
from deciban.io.text.one_line import (
    counts_rows,
    is_number,
    is_odd_number,
    looks_numeric,
    mostly,
    odd_character,
    shortened,
)
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
            f"{name}:1: cannot tell whether {shortened(sample[0])!r} is a number with a decimal comma, one with a "
            "comma between thousands, or a name and a whole number. Write numbers with a point, for example by "
            f"tr , . < {shlex.quote(name)}; or put a tab between a name and its score."
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
        why = f" It has {what}." if what else " Divide percentages by 100." if field.strip().endswith("%") else ""
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
    return _fault(sample, seen, name, need) or (
        f"{name}:1: cannot tell {asked}: {line!r}.{there} Name the columns in order, - for one to ignore "
        f"({options.columns_option} {in_order}), or by the header ({options.columns_option} {by_header}).{words}"
    )


def _fault(sample: Sequence[str], seen: ColumnsSeen | None, name: str, need: str) -> str:
    """Return what is wrong with lines that no name of a column mends; empty if nothing is known."""
    line = shortened(sample[0])
    if seen is not None and seen.has_header and len(sample) == 1:
        return f"{name}:1: holds a header, {line!r}, and no row. Expected one trial per line below it."
    if "|" in sample[0] and (seen is None or len(seen.rows[0]) == 1):
        return f"{name}:1: columns are separated by '|' in {line!r}. Separate them by commas, tabs or blanks."
    wrong = seen.no_number() if seen is not None and need == "scores" else ""
    return wrong and f"{name}:1: {wrong}, in the table with the header {line!r}. Write numbers as in -0.5 or 2.5e-3."


def with_row_names(rows: Sequence[Sequence[str]], header: str) -> Sequence[Sequence[str]]:
    """Rows below a header that lacks one name, that of the first column: so R writes tables with names of rows.

    The titles are in quotes, or the names of rows are numbers, each another one: else any title could be lacking.

    Examples
    --------
    >>> with_row_names([["trial", "score"], ["1", "a", "0.5"]], "trial score")[0]
    ['', 'trial', 'score']
    """
    n_fields = len(rows[0]) + 1
    n_longer, n_rows = sum(len(row) == n_fields for row in rows[1:]), len(rows) - 1
    lacks_one = n_fields > 2 and n_rows > 0 and (n_longer == n_rows or (n_longer > 1 and mostly(n_longer, n_rows)))
    names = [row[0] for row in rows[1:] if len(row) == n_fields]
    of_r = header.lstrip().startswith('"') or (all(map(str.isdigit, names)) and len({*names}) == len(names))
    lacks_one = lacks_one and of_r
    if not lacks_one or any(map(is_number, rows[0])) or not any(role_of(field)[0] != CONDITION for field in rows[0]):
        return rows
    return [["", *rows[0]], *rows[1:]]


def without_row_numbers(roles: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Roles without a first column that has no name and counts the rows, as pandas (from 0) and R (from 1) write it.

    Names of rows that do not count them are left out, too, where others name the trials.

    Examples
    --------
    >>> without_row_numbers(["=", "label", "score"], [["", "y", "s"], ["0", "1", "2.5"], ["1", "0", "-1"]])
    ('-', 'label', 'score')
    """
    if roles[0] != CONDITION:
        return tuple(roles)
    counted = counts_rows([row[0] for row in rows[1:]])
    return (IGNORED, *roles[1:]) if counted or identity_of(roles) else tuple(roles)


def with_names_of_rows(roles: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Roles in which a first column without a name identifies trials, where all others hold scores of classes.

    So pandas writes such a table with its index. It has to hold names: no numbers, and each another one.

    Examples
    --------
    >>> with_names_of_rows(["=", "score", "score"], [["", "eng", "fra"], ["s7", "1", "2.5"], ["s9", "0", "-1"]])
    ('trial', 'score', 'score')
    """
    names = [row[0] for row in rows[1:]]
    are_names = all(names) and len({*names}) == len(names) and not any(map(is_number, names))
    only_classes = roles[0] == CONDITION and len(roles) > 2 and {*roles[1:]} == {"score"}
    return ("trial", *roles[1:]) if only_classes and are_names else tuple(roles)


Rows: TypeAlias = Sequence[Sequence[str]]


def meant_roles(roles: tuple[str, ...], rows: Rows, need: ContentKind) -> tuple[str, ...]:
    """Roles of the columns of a plain table, where it holds what is needed."""
    if need == "scores":
        return with_only_score(roles, rows[0], numeric_columns(rows))
    if need not in ("class-scores", "class-key"):
        return roles
    labelled = with_classes_of_label(roles)
    if need == "class-key":
        return labelled
    found = with_names_of_rows(_with_classes(labelled, rows), rows)
    return found if labelled == roles else without_other_numbers(found, rows[0])


def titled_roles(format: TextFormat, line: str, rows: Rows) -> tuple[str, ...] | None:
    """The roles of columns if the first row is the header of this line of the format; else None."""
    expected, fields = line.split(), rows[0]
    if format.titled:
        return tuple(expected) if len(expected) == len(fields) else None
    lowered = [field.casefold() for field in fields]
    roles = [CONDITION + field if field else IGNORED for field in fields]
    named = []
    for role in (role for role in expected if role in format.header):
        titles = format.header[role].split("|")  # of all systems, or of anything else the first that is there
        there = titles if role == "score" else [one for one in titles if one.casefold() in lowered][:1] or titles[:1]
        named += [(role, one) for one in there]
    for role, header in named:
        if header.casefold() not in lowered:
            return None
        roles[lowered.index(header.casefold())] = role
    if "classes" in expected:
        return _with_classes(roles, rows)
    return tuple(roles) if "*" in expected or len(named) == sum(map(bool, fields)) else None


def _with_classes(roles: Sequence[str], rows: Rows) -> tuple[str, ...]:
    """Roles where every column of numbers that has no other meaning holds the scores of one class."""
    headers = rows[0]
    named = [role.startswith(CONDITION) and role != CONDITION for role in roles]
    numeric = [is_named and is_number for is_named, is_number in zip(named, numeric_columns(rows), strict=True)]
    if sum(numeric) < 2:
        return tuple(roles) if roles.count("score") > 1 else tuple(CONDITION + header for header in headers)
    kept = (CONDITION + header if role == "score" else role for role, header in zip(roles, headers, strict=True))
    return tuple("score" if is_class else role for role, is_class in zip(kept, numeric, strict=True))


def numeric_columns(rows: Rows) -> list[bool]:
    """Whether the column below each title is one of numbers."""
    regular = [row for row in rows[1:] if len(row) == len(rows[0])]
    return [bool(regular) and looks_numeric([row[at] for row in regular]) for at in range(len(rows[0]))]
