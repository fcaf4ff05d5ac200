"""Combinations of the values of columns: the conditions of trials, some of which share trials that count everywhere."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TypeAlias

from deciban.errors import InputError
from deciban.messages import shortened
from deciban.workflows.split import SplitColumn

MOST = 1000
"""Conditions of a partition: more are rather a mistake."""

Value: TypeAlias = str | None
"""Of a condition in a column; None where the key says nothing."""

Values: TypeAlias = tuple[Value, ...]
"""Of a condition in each column."""


def crossed(columns: Sequence[SplitColumn], each: Sequence[Sequence[Value]], argument: str) -> tuple[Values, ...]:
    """All combinations of the values of columns.

    Raises
    ------
    InputError
        If there are more than 1,000.

    Examples
    --------
    >>> crossed([SplitColumn("gender"), SplitColumn("channel")], [["f", "m"], ["tel"]], "by")
    (('f', 'tel'), ('m', 'tel'))
    """
    n_conditions = math.prod(map(len, each))
    if n_conditions > MOST:
        sizes = ", ".join(f"{one.name} {len(values):,}" for one, values in zip(columns, each, strict=True))
        names = " and ".join(one.name for one in columns)
        how_many = f"{'make' if len(columns) > 1 else 'makes'} {n_conditions:,} conditions"
        raise InputError(
            f"{argument}: {names} {how_many} (values: {sizes}); at most {MOST:,} are "
            "evaluated. Make bins of numbers (duration:5,10,30), name fewer columns, or choose trials by their "
            "values (--where)."
        )
    return tuple(itertools.product(*each))


def with_what_counts_everywhere(
    columns: Sequence[SplitColumn], combinations: Sequence[Values], argument: str
) -> list[tuple[Values, tuple[int, ...]]]:
    """Conditions, and the combinations of values that their trials have: their own, and those that count everywhere.

    Parameters
    ----------
    columns : sequence of SplitColumn
    combinations : sequence of Values
        All of them, as `crossed` gives them.
    argument : str
        For messages.

    Raises
    ------
    InputError
        If no trial has the value that should count everywhere, or all have.

    Examples
    --------
    >>> columns = [SplitColumn("attack", everywhere="bonafide"), SplitColumn("codec")]
    >>> combinations = crossed(columns, [["A07", "bonafide"], ["c1", "c2"]], "by")
    >>> with_what_counts_everywhere(columns, combinations, "by")
    [(('A07', 'c1'), (0, 2)), (('A07', 'c2'), (1, 3))]
    """
    place = {values: at for at, values in enumerate(combinations)}
    shared = [[] if one.everywhere is None else [one.everywhere or None] for one in columns]
    for at, (column, value) in enumerate(zip(columns, shared, strict=True)):
        _require_others(column, value, list(dict.fromkeys(values[at] for values in combinations)), argument)
    own = [one for one in combinations if not any(value in those for value, those in zip(one, shared, strict=True))]
    each = (itertools.product(*([value, *those] for value, those in zip(one, shared, strict=True))) for one in own)
    return [(one, tuple(sorted(place[values] for values in those))) for one, those in zip(own, each, strict=True)]


def _require_others(column: SplitColumn, shared: Sequence[Value], there: Sequence[Value], argument: str) -> None:
    """Refuse a value that should count everywhere if no trial has it, or no trial another one."""
    for value in shared:
        if value not in there:
            known = shortened(", ".join("nothing" if one is None else one for one in there))
            what = "nothing there" if value is None else f"{value!r}"
            raise InputError(
                f"{argument}: no trial has {what} in column {column.name!r}; there are {known}. After + stands the "
                "value whose trials count in every condition. Without +, deciban looks for a value that all trials of "
                f"one class have and no others: --{argument} {column.name}."
            )
        if len(there) == 1:
            raise InputError(
                f"{argument}: all trials have {'nothing' if value is None else repr(value)} in column {column.name!r}, "
                "which should count in every condition: there is no condition left. Leave the column out."
            )
