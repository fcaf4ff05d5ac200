"""One table after another, nothing compared: duplicates and conflicts are for joins and `merge` to find."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deciban.errors import InputError
from deciban.trials.classes import ClassKey, ClassScores
from deciban.trials.lists import Origin, Trials
from deciban.trials.names import encode
from deciban.trials.tables import Key, Scores, TrialTable

Table = TypeVar("Table", bound=TrialTable)


def concatenate(tables: Sequence[Table]) -> Table:
    """Put tables of one kind one after another, in this order.

    A condition that only some of them have is null for the trials of the others. The name of the first system stays.

    Raises
    ------
    InputError
        If the trials are not identified in the same way, the classes differ, or common and natural logarithms mix.

    Examples
    --------
    >>> parts = [Scores.of({"trial": ["a"]}, [1.0]), Scores.of({"trial": ["b"]}, [2.0])]
    >>> concatenate(parts).score
    array([1., 2.])
    """
    if len(tables) == 1:
        return tables[0]
    values = _values(tables)
    return replace(tables[0], trials=append_trials([table.trials for table in tables]), **values)  # type: ignore[type-var]


def _values(tables: Sequence[Any]) -> dict[str, Any]:
    """What belongs to each trial, of all tables."""
    first = tables[0]
    if isinstance(first, Key):
        return {"is_target": np.concatenate([table.is_target for table in tables])}
    if isinstance(first, Scores):
        if len({table.log10 for table in tables}) > 1:
            raise InputError(f"{_names(tables)}: common and natural logarithms cannot be put into one table.")
        return {"score": np.concatenate([table.score for table in tables])}
    return _class_values(tables) if isinstance(first, ClassScores | ClassKey) else {}


def _names(parts: Sequence[Any]) -> str:
    return ", ".join(part.trials.origin.name for part in parts)


def _class_values(parts: Sequence[Any]) -> dict[str, Any]:
    classes = parts[0].classes
    if isinstance(parts[0], ClassKey):
        union = tuple(dict.fromkeys(name for part in parts for name in part.classes))
        places = [np.array([union.index(name) for name in part.classes])[part.label] for part in parts]
        return {"classes": union, "label": np.concatenate(places)}
    if any(part.classes != classes for part in parts):
        raise InputError(f"{_names(parts)}: have different classes.")
    return {"score": np.concatenate([part.score for part in parts])}


def append_trials(parts: Sequence[Trials]) -> Trials:
    """Put lists of trials one after another.

    Raises
    ------
    InputError
        If they are not identified in the same way.
    """
    sides = parts[0].sides
    for part in parts:
        if part.sides != sides:
            raise InputError(
                f"{part.origin.name} identifies a trial by {' and '.join(part.sides)}, {parts[0].origin.name} by "
                f"{' and '.join(sides)}."
            )
    names, listed = [], []
    for at in range(len(sides)):
        recoded, distinct = encode(pa.concat_arrays([part.names[at] for part in parts]))
        starts = np.cumsum([0, *(len(part.names[at]) for part in parts)])
        listed.append(np.concatenate([recoded[a:][part.codes[at]] for a, part in zip(starts, parts, strict=False)]))
        names.append(distinct)
    return replace(
        parts[0],
        names=tuple(names),
        listed=tuple(listed),
        mask=None,
        origin=_origin(parts),
        conditions=_conditions(parts),
    ).densest()


def _origin(parts: Sequence[Trials]) -> Origin:
    """Name the file and line of a row in the part that it came from."""
    ends = np.cumsum([len(part) for part in parts])

    def where(row: int) -> str:
        at = int(np.searchsorted(ends, row, side="right"))
        return parts[at].origin.where(row - int(ends[at]) + len(parts[at]))

    name = ", ".join(dict.fromkeys(part.origin.name for part in parts))
    return Origin(name, parts[0].origin.reading, place=where)


def _conditions(parts: Sequence[Trials]) -> dict[str, pa.Array]:
    found = {}
    for name in dict.fromkeys(name for part in parts for name in part.conditions):
        kinds = {part.conditions[name].type for part in parts if name in part.conditions}
        kind = kinds.pop() if len(kinds) == 1 else pa.string()
        columns = [
            pc.cast(part.conditions[name], kind) if name in part.conditions else pa.nulls(len(part), kind)
            for part in parts
        ]
        found[name] = pa.concat_arrays(columns)
    return found
