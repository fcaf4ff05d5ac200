"""Roles of the columns of text tables with a header, by what stands in the rows below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from deciban.io.columns.headers import CONDITION, IGNORED
from deciban.io.columns.meanings import with_classes_of_label, with_only_score, without_other_numbers
from deciban.io.contents import ContentKind
from deciban.io.formats import TextFormat
from deciban.io.text.one_line import looks_numeric
from deciban.io.text.row_names import with_names_of_rows

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
