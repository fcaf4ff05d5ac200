"""Names of rows, as pandas and R write them before all other columns: with an empty title, or with no place for it."""

from __future__ import annotations

from collections.abc import Sequence

from deciban.io.columns.headers import CONDITION, IGNORED, identity_of, role_of
from deciban.io.text.one_line import is_number, mostly


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
    counted = any(all(row[0] == str(at) for at, row in enumerate(rows[1:], start)) for start in (0, 1))
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
