"""Names for the rows of a table, no two of them alike."""

from __future__ import annotations

from collections.abc import Sequence


def names_apart(wanted: Sequence[str], taken: Sequence[str]) -> list[str]:
    """Names for rows of a table that are none of those that are taken, nor the same as each other.

    Examples
    --------
    >>> names_apart(["without b", "fusion"], ["fusion", "b"])
    ['without b', 'fusion #2']
    """
    used, found = set(taken), []
    for name in wanted:
        free, number = name, 2
        while free in used:
            free, number = f"{name} #{number}", number + 1
        used.add(free)
        found.append(free)
    return found
