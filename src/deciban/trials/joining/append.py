"""One table after another: nothing compared, or only the trials that no table before it has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban.errors import InputError
from deciban.trials.classes import ClassKey, ClassScores
from deciban.trials.joining.lookup import Wanted
from deciban.trials.joining.matching import require_comparable
from deciban.trials.lists import Trials
from deciban.trials.names.codes import IdMap, encode
from deciban.trials.origins import Appended, Origin
from deciban.trials.quality import SegmentQuality
from deciban.trials.tables import Scores, TrialTable
from deciban.types import IntArray

_NONE = np.empty(0, np.int64)


def new_rows(lists: Sequence[Trials]) -> list[IntArray]:
    """Find the rows that make up the union: for every list, the trials that no list before it has.

    Parameters
    ----------
    lists : sequence of Trials

    Returns
    -------
    list of int arrays
        One for each list, in its order. Of a trial that occurs twice in a list the first row counts.

    Raises
    ------
    InputError
        If there is no list, or there are 2**63 or more possible combinations of names.
    KeyMismatchError
        If the trials are not identified in the same way.

    Examples
    --------
    >>> lists = [Trials.of({"trial": names}) for names in (["b", "a"], ["c", "b", "d"], ["d", "a", "e"])]
    >>> [rows.tolist() for rows in new_rows(lists)]
    [[0, 1], [0, 2], [2]]
    """
    if not lists:
        raise InputError("lists: none given. A union is of at least one list of trials.")
    for trials in lists[1:]:
        require_comparable(trials, lists[0])
    known = replace(lists[0], conditions={})  # they say nothing about which trials are the same
    found = [np.delete(np.arange(len(known)), Wanted(known).surplus[1])]
    for trials in lists[1:]:
        rows = _unknown(replace(trials, conditions={}), known)
        found.append(rows)
        if len(rows):
            known = append_trials([known, replace(trials, conditions={}).take(rows)])
    return found


def _unknown(trials: Trials, known: Trials) -> IntArray:
    """Rows of trials that are not known yet, each trial once."""
    rows = Wanted(trials).find(known).rows
    if rows is None:
        return _NONE
    new = np.flatnonzero(rows < 0)
    return np.delete(new, Wanted(trials.take(new)).surplus[1]) if len(new) else _NONE


Table = TypeVar("Table", bound=TrialTable)
Appendable = TypeVar("Appendable", bound=TrialTable | SegmentQuality | IdMap)


def concatenate(tables: Sequence[Appendable]) -> Appendable:
    """Put tables of one kind one after another, in this order.

    A condition that only some of them have is null for the trials of the others. The name of the first system stays.
    Quality measures and id maps hold every name once: where it comes again it must come with the same.

    Raises
    ------
    InputError
        If the trials are not identified in the same way, the classes or measures differ, common and natural logarithms
        mix, or a name has two lines of quality measures or is mapped to two names.

    Examples
    --------
    >>> parts = [Scores.of({"trial": ["a"]}, [1.0]), Scores.of({"trial": ["b"]}, [2.0])]
    >>> concatenate(parts).score
    array([1., 2.])
    """
    if len(tables) == 1:
        return tables[0]
    parts: Sequence[Any] = tables
    whole: Any
    if isinstance(parts[0], SegmentQuality):
        whole = _one_quality(parts)
    elif isinstance(parts[0], IdMap):
        left, right = (pa.concat_arrays([getattr(part, side) for part in parts]) for side in ("left", "right"))
        whole = IdMap.from_columns(left, right)
    else:
        whole = replace(parts[0], trials=append_trials([part.trials for part in parts]), **_values(parts))
    appended: Appendable = whole
    return appended


def _values(tables: Sequence[Any]) -> dict[str, Any]:
    """What the table of all parts holds beside trials; the conditions on parts that can be put together."""
    first = tables[0]
    if isinstance(first, ClassKey):
        union = tuple(dict.fromkeys(name for table in tables for name in table.classes))
        places = [np.array([union.index(name) for name in table.classes])[table.label] for table in tables]
        return {"classes": union, "label": np.concatenate(places)}
    names = ", ".join(table.trials.origin.name for table in tables)
    if isinstance(first, Scores) and len({table.log10 for table in tables}) > 1:
        raise InputError(
            f"{names}: common and natural logarithms cannot be put into one table. Turn the former into "
            "the latter, with Scores.in_nats()."
        )
    if isinstance(first, ClassScores) and any(table.classes != first.classes for table in tables):
        raise InputError(f"{names}: have different classes.")
    return {} if first.holds is None else {first.holds: np.concatenate([table.content for table in tables])}


def _one_quality(parts: Sequence[SegmentQuality]) -> SegmentQuality:
    name = _called([part.origin for part in parts])
    if any(part.measures != parts[0].measures for part in parts):
        raise InputError(f"{name}: have different quality measures.")
    codes, names = encode(pa.concat_arrays([part.names for part in parts]))
    values = np.concatenate([part.values for part in parts])
    rows = np.empty(len(names), np.int64)
    rows[codes[::-1]] = np.arange(len(codes))[::-1]  # of several rows the first one stays
    differs = np.any(values != values[rows[codes]], axis=1)
    if differs.any():
        twice = names[int(codes[np.argmax(differs)])].as_py()
        raise InputError(f"{name}: {twice!r} has two different lines of quality measures.")
    return replace(parts[0], names=names, values=values[rows], origin=Origin(name, parts[0].origin.reading))


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
    n_rows = parts[0].n_rows if len({part.n_rows for part in parts}) == 1 else None
    begins = tuple(accumulate((len(part) for part in parts[:-1]), initial=0))
    origins = tuple(part.origin for part in parts)
    origin = Origin(_called(origins), origins[0].reading, place=Appended(origins, begins))
    return Trials(
        sides, tuple(names), tuple(listed), origin=origin, conditions=_conditions(parts), n_rows=n_rows
    ).densest()


def _called(origins: Sequence[Origin]) -> str:
    return ", ".join(dict.fromkeys(origin.name for origin in origins))


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
