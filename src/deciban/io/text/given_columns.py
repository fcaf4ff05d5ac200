"""Which column of a text table means what, where the user has said so (``--columns``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from deciban.errors import FormatError, InputError
from deciban.io.columns.headers import CONDITION, IGNORED, ROLES, Vocabulary, named_roles, parse_columns, role_of
from deciban.io.format import Options, TextFormat
from deciban.io.formats import by_name
from deciban.io.text.layout import NEEDED_ROLE, Layout, is_number


def layout_of_given(
    sample: Sequence[str],
    rows_by: Mapping[str, Sequence[Sequence[str]]],
    delimiters: Sequence[str],
    name: str,
    options: Options,
    format: TextFormat | None,  # noqa: A002
) -> Layout:
    """The layout of columns that the user named.

    Parameters
    ----------
    sample : sequence of str
        The first lines.
    rows_by : mapping of str to rows
        Their fields, by what separates them.
    delimiters : sequence of str
        What may separate the columns, the likeliest first.
    name : str
        File name for messages.
    options : Options
    format : TextFormat or None

    Raises
    ------
    InputError
        If the columns make no sense.
    FormatError
        If the lines do not have them.
    """
    assert options.columns is not None  # noqa: S101  # the caller looked
    wanted = parse_columns(options.columns)
    table = format or by_name("table")
    assert isinstance(table, TextFormat)  # noqa: S101  # the plain table is text
    if not delimiters and not (isinstance(wanted, list) and len(wanted) == 1):
        raise FormatError(f"{name}:1: expected at least 2 columns, got {sample[0][:80]!r}.")
    delimiter = delimiters[0] if delimiters else " "
    fields = tuple(rows_by[delimiter][0])
    roles = named_roles(wanted, fields, f"{name}:1") if isinstance(wanted, dict) else tuple(wanted)
    if len(fields) != len(roles):
        raise FormatError(
            f"{name}:1: expected {len(roles)} columns ({' '.join(roles)}), got {len(fields)}: {sample[0][:80]!r}."
        )
    by_header = isinstance(wanted, dict) and not all(set(column) <= set("0123456789|") for column in wanted.values())
    titled = by_header or table.titled or _is_header_of(roles, fields, options.vocabulary)
    _check_named(roles, NEEDED_ROLE.get(options.need))
    return Layout(table, roles, delimiter, fields if titled else None)


def _is_header_of(roles: Sequence[str], fields: Sequence[str], vocabulary: Vocabulary) -> bool:
    """Whether a first line names columns of these roles, and cannot be a trial."""
    for role, field in zip(roles, fields, strict=True):
        if (role == "score" and is_number(field)) or (role == "label" and vocabulary.meaning(field) is not None):
            return False
    named = [role_of(field) == role for role, field in zip(roles, fields, strict=True) if role in ROLES]
    return any(named) if {"score", "label"} & set(roles) else all(named)


def _check_named(roles: Sequence[str], needed: str | None) -> None:
    named = {"enroll", "test"} if {"enroll", "test", "side"} & set(roles) else {"trial"}
    values = {role for role in roles if role != IGNORED and role[0] != CONDITION}
    if values <= {"score", "label", "class"} and values and (needed is None or needed in values):
        return  # values without names: trials are known by their rows
    for role in named | ({needed} if needed else set()):
        if role not in roles:
            more = f", and the {needed}" if needed else ""
            raise InputError(f"columns: no column is the {role}. Name enroll and test, or trial{more}.")
