"""Unions of tables: concatenation, parts of one table, and systems as a matrix; labels that contradict a key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from deciban._arrow import encode, of_numpy, pc, to_numpy, with_gaps
from deciban.errors import InputError, KeyMismatchError, counted, option
from deciban.trials.classes import ClassKey, ClassScores
from deciban.trials.joining import Renaming, matching
from deciban.trials.joining.matching import Duplicates, JoinReport, Missing, align, align_systems
from deciban.trials.lists import Lookup, Origin, Trials
from deciban.trials.tables import IdMap, Index, Key, Scores, SegmentQuality, TrialTable
from deciban.types import BoolArray, IntArray, ScoreArray


def refuse_conflicts(labels: Key, key: Key, *, ids: Renaming | None = None) -> None:
    """Raise if labels contradict a key; trials that only one of them contains are ignored.

    Raises
    ------
    KeyMismatchError
        If a trial is target in one and non-target in the other.
    """
    matching.require_comparable(labels.trials, key.trials)
    result = contradictions(labels, key, ids)
    if result.n:
        raise other_label(result, key.trials.origin.name)


def contradictions(labels: Key, key: Key, ids: Renaming | None) -> matching.RefusedTrials:
    """Return the trials with another label than in a key."""
    theirs, ours = (labels.trials, key.trials) if ids is None else ids.both(labels.trials, key.trials)
    rows = Lookup(theirs).find(ours).rows
    rows = np.arange(len(labels)) if rows is None else rows
    indices = np.flatnonzero(rows >= 0)
    conflict = indices[labels.is_target[indices] != key.is_target[rows[indices]]]
    return matching.RefusedTrials.of(labels.trials, conflict[:1], len(conflict), len(indices))


def other_label(fault: matching.RefusedTrials, key: str) -> KeyMismatchError:
    """Return the error for labels that contradict a key."""
    trials = fault.trials
    swapped = " Are targets and non-targets of one of them swapped?" if fault.n == fault.n_of > 1 else ""
    return KeyMismatchError(
        f"{trials.origin.where(0)}: trial {trials.name_of(0)} has another label than in {key} "
        f"({counted(fault.n, 'such trial')}).{swapped} Correct one of them, or ignore the labels if they are a column "
        f"({option(columns=...)})."
    )


_NONE = np.empty(0, np.int64)


def new_rows(lists: Sequence[Trials]) -> list[IntArray]:
    """Return the rows of the union of lists: for each list, the trials that are not in an earlier list.

    Parameters
    ----------
    lists : sequence of Trials

    Returns
    -------
    list of int arrays
        One for each list, in its order, with the first row of repeated trials.

    Raises
    ------
    InputError
        If there is no list, or there are 2**63 or more possible combinations of names.
    KeyMismatchError
        If the trials have different identifiers.

    Examples
    --------
    >>> lists = [Trials.of({"trial": names}) for names in (["b", "a"], ["c", "b", "d"], ["d", "a", "e"])]
    >>> [rows.tolist() for rows in new_rows(lists)]
    [[0, 1], [0, 2], [2]]
    """
    if not lists:
        raise InputError("lists: none given. A union needs at least one list of trials.")
    for trials in lists[1:]:
        matching.require_comparable(trials, lists[0])
    known = replace(lists[0], conditions={})  # conditions do not identify trials
    indices = [np.delete(np.arange(len(known)), Lookup(known).surplus[1])]
    for trials in lists[1:]:
        rows = _unknown(replace(trials, conditions={}), known)
        indices.append(rows)
        if len(rows):
            known = append_trials([known, replace(trials, conditions={}).take(rows)])
    return indices


def _unknown(trials: Trials, known: Trials) -> IntArray:
    """Return the rows of trials that are not known yet, each trial once."""
    rows = Lookup(trials).find(known).rows
    if rows is None:
        return _NONE
    new = np.flatnonzero(rows < 0)
    return np.delete(new, Lookup(trials.take(new)).surplus[1]) if len(new) else _NONE


Table = TypeVar("Table", bound=TrialTable)

Appendable = TypeVar("Appendable", bound=TrialTable | SegmentQuality | IdMap)


def concatenate(tables: Sequence[Appendable]) -> Appendable:
    """Concatenate tables of one kind, in this order.

    A condition that some tables lack is null for their trials. The name of the first system is used. A name may occur
    in several tables of quality measures or id maps if its values are equal.

    Raises
    ------
    InputError
        If trials have different identifiers, the classes or measures differ, common and natural logarithms are mixed,
        or a name has two values.

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


@dataclass(frozen=True, slots=True, eq=False)
class ConcatenatedRows:
    """Function that returns the places of rows of concatenated tables; ``starts`` are the first rows of the tables."""

    origins: tuple[Origin, ...]
    starts: tuple[int, ...]

    def __call__(self, rows: Sequence[int]) -> list[str]:
        """Return the places of rows as text."""
        part = dict(zip(rows, (np.searchsorted(self.starts, rows, side="right") - 1).tolist(), strict=True))
        named: dict[int, str] = {}
        for at in {*part.values()}:
            mine = [row for row in rows if part[row] == at]
            named |= zip(mine, self.origins[at].where_all([row - self.starts[at] for row in mine]), strict=True)
        return [named[row] for row in rows]


def _values(tables: Sequence[Any]) -> dict[str, Any]:
    """Return the values of the concatenated table, without trials; raise if the tables cannot be concatenated."""
    first = tables[0]
    if isinstance(first, ClassKey):
        union = tuple(dict.fromkeys(name for table in tables for name in table.classes))
        places = [np.array([union.index(name) for name in table.classes])[table.label] for table in tables]
        return {"classes": union, "label": np.concatenate(places)}
    names = ", ".join(table.trials.origin.name for table in tables)
    if isinstance(first, Scores) and len({table.log10 for table in tables}) > 1:
        raise InputError(
            f"{names}: scores in common and in natural logarithms. Convert common ones with Scores.in_nats()."
        )
    if isinstance(first, ClassScores) and any(table.classes != first.classes for table in tables):
        raise InputError(f"{names}: the classes differ.")
    return {} if first.holds is None else {first.holds: np.concatenate([table.content for table in tables])}


def _one_quality(parts: Sequence[SegmentQuality]) -> SegmentQuality:
    name = _called([part.origin for part in parts])
    if any(part.measures != parts[0].measures for part in parts):
        raise InputError(f"{name}: the quality measures differ.")
    codes, names = encode(pa.concat_arrays([part.names for part in parts]))
    values = np.concatenate([part.values for part in parts])
    rows = np.empty(len(names), np.int64)
    rows[codes[::-1]] = np.arange(len(codes))[::-1]  # the first of several rows wins
    differs = np.any(values != values[rows[codes]], axis=1)
    if differs.any():
        twice = names[int(codes[np.argmax(differs)])].as_py()
        raise InputError(f"{name}: {twice!r} has two different lines of quality measures.")
    return replace(parts[0], names=names, values=values[rows], origin=Origin(name, parts[0].origin.reading))


def append_trials(parts: Sequence[Trials]) -> Trials:
    """Concatenate lists of trials.

    Raises
    ------
    InputError
        If the trials have different identifiers.
    """
    sides = parts[0].sides
    for part in parts:
        if part.sides != sides:
            raise InputError(
                f"{part.origin.name} identifies a trial by {' and '.join(part.sides)}, {parts[0].origin.name} by "
                f"{' and '.join(sides)}."
            )
    names, items = [], []
    for at in range(len(sides)):
        recoded, distinct = encode(pa.concat_arrays([part.names[at] for part in parts]))
        starts = np.cumsum([0, *(len(part.names[at]) for part in parts)])
        items.append(np.concatenate([recoded[a:][part.codes[at]] for a, part in zip(starts, parts, strict=False)]))
        names.append(distinct)
    n_rows = parts[0].n_rows if len({part.n_rows for part in parts}) == 1 else None
    begins = tuple(accumulate((len(part) for part in parts[:-1]), initial=0))
    origins = tuple(part.origin for part in parts)
    origin = Origin(_called(origins), origins[0].reading, places=ConcatenatedRows(origins, begins))
    conditions = _conditions(parts)
    return Trials(sides, tuple(names), tuple(items), origin=origin, conditions=conditions, n_rows=n_rows).densest()


def _called(origins: Sequence[Origin]) -> str:
    return ", ".join(dict.fromkeys(origin.name for origin in origins))


def _conditions(parts: Sequence[Trials]) -> dict[str, pa.Array]:
    entries = {}
    for name in dict.fromkeys(name for part in parts for name in part.conditions):
        kinds = {part.conditions[name].type for part in parts if name in part.conditions}
        kind = kinds.pop() if len(kinds) == 1 else pa.string()
        columns = [
            pc.cast(part.conditions[name], kind) if name in part.conditions else pa.nulls(len(part), kind)
            for part in parts
        ]
        entries[name] = pa.concat_arrays(columns)
    return entries


def merge(tables: Sequence[Table], *, duplicates: Duplicates = "error") -> Table:
    """Merge parts of one table, in the given order.

    Parameters
    ----------
    tables : sequence of tables of one kind
        Index, Key, Scores (of one system: same name, same logarithm), ClassScores or ClassKey (with the same classes,
        in any order; the first table determines the order).
    duplicates : {"error", "keep-one"}
        Treatment of trials that occur twice with the same content: raise, or keep the first. Different content is
        always an error. Conditions are content, but a missing condition of one copy is taken from the other.

    Returns
    -------
    The same kind of table.
        A condition that some parts lack is null for their trials.

    Raises
    ------
    InputError
        If the parts differ in kind, system or classes.
    KeyMismatchError
        If a trial occurs twice; the message contains both places.

    Examples
    --------
    >>> men = Scores.of({"trial": ["a"]}, [1.0], conditions={"gender": ["m"]})
    >>> women = Scores.of({"trial": ["b"]}, [2.0], conditions={"gender": ["f"]})
    >>> both = merge([men, women])
    >>> both.score.tolist(), both.trials.condition("gender").to_pylist()
    ([1.0, 2.0], ['m', 'f'])
    """
    matching.check_duplicates(duplicates)
    if not tables:
        raise InputError("tables: none given. merge needs at least one.")
    merged = concatenate(_alike(tables))
    copies = Lookup(merged.trials).surplus
    if not copies.shape[1]:
        return merged
    conflict, again = matching.copies_in(merged, copies)
    if conflict.n:
        raise matching.conflict_of(conflict, merged.conflict)
    known = _shared_conditions(merged.trials, copies)
    if duplicates == "error":
        raise matching.copies_of(again)
    merged = merged._with(replace(merged.trials, conditions=known), slice(None))  # noqa: SLF001  # tables are one family
    return merged.take(np.delete(np.arange(len(merged)), copies[1]))


def _alike(tables: Sequence[Table]) -> list[Table]:
    """Return the parts with classes in one order; raise if they cannot be merged."""
    first: Any = tables[0]
    parts: list[Any] = []
    for part in tables:
        other: Any = part
        names = f"{first.trials.origin.name} and {other.trials.origin.name}"
        if type(other) is not type(first):
            raise InputError(f"{names}: a {type(first).__name__} and a {type(other).__name__} cannot be merged.")
        matching.require_same_sides(
            other.trials.sides, other.trials.origin.name, first.trials.sides, first.trials.origin.name
        )
        if isinstance(other, Scores | ClassScores) and other.name != first.name:
            raise InputError(
                f"{names}: scores of two systems, {first.name!r} and {other.name!r}. Only parts of one system can be "
                "merged: give both the same name, or combine the systems with stack."
            )
        is_of_classes = isinstance(other, ClassScores | ClassKey)
        parts.append(_in_class_order(other, first.classes, names) if is_of_classes else other)
    return parts


def _in_class_order(table: ClassScores | ClassKey, classes: tuple[str, ...], names: str) -> ClassScores | ClassKey:
    if table.classes == classes:
        return table
    if set(table.classes) != set(classes):
        odd = sorted(set(table.classes) ^ set(classes))
        raise InputError(f"{names}: different classes; {', '.join(odd)} only in one of them.")
    if isinstance(table, ClassKey):
        place = np.array([classes.index(name) for name in table.classes])
        return replace(table, classes=classes, label=place[table.label])
    return table.of_classes(classes)


def _shared_conditions(trials: Trials, copies: IntArray) -> dict[str, pa.Array]:
    """Return conditions in which missing values are taken from other copies; raise if copies differ."""
    first, second = (of_numpy(rows) for rows in copies)
    known = {}
    for name, column in trials.conditions.items():
        unknown = to_numpy(pc.and_(column.take(first).is_null(), column.take(second).is_valid()))
        source = np.arange(len(trials))
        source[copies[0][unknown][::-1]] = copies[1][unknown][::-1]  # the first of several copies wins
        known[name] = column.take(of_numpy(source)) if unknown.any() else column
        differs = pc.not_equal(known[name].take(first), column.take(second))
        differs = with_gaps(differs, False)  # noqa: FBT003  # a value to fill in, not an option
        if pa.types.is_floating(column.type):  # NaN equals NaN here
            both = pc.and_(pc.is_nan(known[name].take(first)), pc.is_nan(column.take(second)))
            differs = differs & ~with_gaps(both, False)  # noqa: FBT003  # as above
        if differs.any():
            at = int(np.argmax(differs))
            one, other = int(source[copies[0][at]]), int(copies[1][at])
            raise KeyMismatchError(
                f"{trials.origin.where(one)} and {trials.origin.where(other)}: trial {trials.name_of(one)} has two "
                f"values of {name}, {column[one].as_py()!r} and {column[other].as_py()!r}"
                f"{matching.such_trials(len(np.unique(copies[0][differs])))}. Correct one of them."
            )
    return known


@dataclass(frozen=True, slots=True, eq=False)
class Stack:
    """The scores of several systems on common trials, as a matrix.

    Attributes
    ----------
    trials : Trials
    names : tuple of str
        Names of the systems.
    score : (n_trials, n_systems) float array
        One column per system; common logarithms are converted to natural ones.
    is_target : (n_trials,) bool array or None
        None if there was no key.
    report : JoinReport
    """

    trials: Trials
    names: tuple[str, ...]
    score: ScoreArray
    is_target: BoolArray | None
    report: JoinReport


def stack(
    systems: Sequence[Scores],
    key: Key | Index | None = None,
    missing: Missing = "error",
    *,
    duplicates: Duplicates = "error",
) -> Stack:
    """Return the scores of several systems on common trials as a matrix.

    Parameters
    ----------
    systems : sequence of Scores
    key : Key or Index, optional
        The trials, in its order. By default, the trials of the first system.
    missing : {"error", "drop"} or float
        Treatment of trials that a system did not score: raise, drop them for all systems, or use this score. Without a
        key, trials that only a later system scored also count as missing: they are refused, or dropped and counted as
        extra. A score to fill in needs a key.
    duplicates : {"error", "keep-one"}
        As in `align`.

    Returns
    -------
    Stack

    Raises
    ------
    KeyMismatchError, InputError
        As in `align`.

    Examples
    --------
    >>> one = Scores.of({"trial": ["a", "b", "c"]}, [1.0, 2.0, 3.0], name="one")
    >>> other = Scores.of({"trial": ["c", "b"]}, [30.0, 20.0], name="other")
    >>> stack([one, other], missing="drop").score.tolist()
    [[2.0, 20.0], [3.0, 30.0]]
    """
    if not systems:
        raise InputError("systems: none given. stack needs at least one.")
    if key is None and not isinstance(missing, str):
        raise InputError(
            f"missing: {missing!r} cannot be filled in, because the list of trials is unknown. Pass a key or index."
        )
    aligned = align_systems(systems, systems[0].index if key is None else key, missing, duplicates=duplicates)
    report = aligned[0].report
    if key is None and missing == "error" and report.extra:
        raise KeyMismatchError(_extra_message(systems))
    score = np.stack([system.score for system in aligned], axis=1)
    return Stack(aligned[0].trials, tuple(system.name for system in aligned), score, aligned[0].is_target, report)


def _extra_message(systems: Sequence[Scores]) -> str:
    """Return the message about the first trial that only a later system scored."""
    first = systems[0].trials
    result = ((system.trials, Lookup(system.trials).find(first).rows) for system in systems[1:])
    trials, lacking = next((t, np.flatnonzero(r < 0)) for t, r in result if r is not None and np.any(r < 0))
    return (
        f"{len(lacking):,} of {len(trials):,} trials of {trials.origin.name} have no score in {first.origin.name}, for "
        f"example {trials.name_of(int(lacking[0]))} ({trials.origin.where(int(lacking[0]))}). Pass "
        f"{option(missing='drop')} to leave them out, or a key or index with the trials to use."
    )


def set_missing(scores: Scores, index: Index | Key, value: float, *, duplicates: Duplicates = "error") -> Scores:
    """Return scores for all trials of an index, in its order, with a given score for trials without one.

    Scores of trials that are not in the index are dropped; `align` counts them.

    Parameters
    ----------
    scores : Scores
    index : Index or Key
    value : float
        The score to fill in, in the unit of the scores (a common logarithm if they are).
    duplicates : {"error", "keep-one"}
        As in `align`.

    Returns
    -------
    Scores

    Raises
    ------
    InputError
        If the value is not a number.
    KeyMismatchError
        As in `align`.

    Examples
    --------
    >>> index = Index.of({"trial": ["a", "b"]})
    >>> set_missing(Scores.of({"trial": ["b"]}, [1.0]), index, -5.0).score
    array([-5.,  1.])
    """
    policy: object = value
    if isinstance(policy, str):
        raise InputError(f"value: expected a score to fill in, got {value!r}.")
    return align(scores, Index(index.trials), value, duplicates=duplicates).scores
