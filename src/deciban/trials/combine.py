"""Several tables become one: parts one after another, systems side by side, an index with gaps that are filled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban._arrow import of_numpy, to_numpy, with_gaps
from deciban.errors import InputError, KeyMismatchError
from deciban.trials.classes import ClassKey, ClassScores
from deciban.trials.joining.join import Table, align, align_systems, concatenate
from deciban.trials.joining.lookup import Wanted
from deciban.trials.joining.matching import (
    Duplicates,
    JoinReport,
    Missing,
    check_duplicates,
    conflict_of,
    copies_in,
    copies_of,
    require_same_sides,
    such_trials,
)
from deciban.trials.lists import Trials
from deciban.trials.tables import Index, Key, Scores
from deciban.types import BoolArray, IntArray, ScoreArray


def merge(tables: Sequence[Table], *, duplicates: Duplicates = "error") -> Table:
    """Put parts of one table together, in the order given.

    Parameters
    ----------
    tables : sequence of tables of one kind
        Index, Key, Scores (of one system: same name, same logarithm), ClassScores or ClassKey (the same classes, in
        any order: that of the first part stays).
    duplicates : {"error", "keep-one"}
        What to do about a trial that occurs twice with the same content: refuse it, or keep it once, where it comes
        first. Different content is always an error. Conditions are content, but a condition that is not known of
        one copy is taken from the other.

    Returns
    -------
    The same kind of table.
        A condition that only some of the parts have is null for the trials of the others.

    Raises
    ------
    InputError
        If the parts are not of one kind, of one system or of the same classes.
    KeyMismatchError
        If a trial occurs twice: the message names both places.

    Examples
    --------
    >>> men = Scores.of({"trial": ["a"]}, [1.0], conditions={"gender": ["m"]})
    >>> women = Scores.of({"trial": ["b"]}, [2.0], conditions={"gender": ["f"]})
    >>> both = merge([men, women])
    >>> both.score.tolist(), both.trials.condition("gender").to_pylist()
    ([1.0, 2.0], ['m', 'f'])
    """
    check_duplicates(duplicates)
    if not tables:
        raise InputError("tables: none given. There must be at least one to merge.")
    merged = concatenate(_alike(tables))
    copies = Wanted(merged.trials).surplus
    if not copies.shape[1]:
        return merged
    conflict, again = copies_in(merged, copies)
    if conflict.n:
        raise conflict_of(conflict, merged.conflict)
    known = _shared_conditions(merged.trials, copies)
    if duplicates == "error":
        raise copies_of(again)
    merged = merged._with(replace(merged.trials, conditions=known), slice(None))  # noqa: SLF001  # tables are one family
    return merged.take(np.delete(np.arange(len(merged)), copies[1]))


def _alike(tables: Sequence[Table]) -> list[Table]:
    """Parts that may be put together, classes in one order."""
    first: Any = tables[0]
    parts: list[Any] = []
    for part in tables:
        other: Any = part
        names = f"{first.trials.origin.name} and {other.trials.origin.name}"
        if type(other) is not type(first):
            raise InputError(f"{names}: a {type(first).__name__} and a {type(other).__name__} cannot be merged.")
        require_same_sides(other.trials, first.trials)
        if isinstance(other, Scores | ClassScores) and other.name != first.name:
            raise InputError(
                f"{names}: scores of two systems, {first.name!r} and {other.name!r}. Only parts of one system can be "
                "merged: give them one name, or put the systems side by side with stack."
            )
        if isinstance(other, Scores) and other.log10 != first.log10:
            raise InputError(
                f"{names}: scores in common and in natural logarithms. Turn the former into the latter, with "
                "Scores.in_nats()."
            )
        parts.append(
            _in_class_order(other, first.classes, names) if isinstance(other, ClassScores | ClassKey) else other
        )
    return parts


def _in_class_order(table: ClassScores | ClassKey, classes: tuple[str, ...], names: str) -> ClassScores | ClassKey:
    if table.classes == classes:
        return table
    if set(table.classes) != set(classes):
        odd = sorted(set(table.classes) ^ set(classes))
        raise InputError(f"{names}: not the same classes; {', '.join(odd)} only in one of them.")
    if isinstance(table, ClassKey):
        place = np.array([classes.index(name) for name in table.classes])
        return replace(table, classes=classes, label=place[table.label])
    return table.of_classes(classes)


def _shared_conditions(trials: Trials, copies: IntArray) -> dict[str, pa.Array]:
    """What is known of either copy; refused where both are known and differ."""
    first, second = (of_numpy(rows) for rows in copies)
    known = {}
    for name, column in trials.conditions.items():
        unknown = to_numpy(pc.and_(column.take(first).is_null(), column.take(second).is_valid()))
        source = np.arange(len(trials))
        source[copies[0][unknown][::-1]] = copies[1][unknown][::-1]  # of several copies the first one is asked
        known[name] = column.take(of_numpy(source)) if unknown.any() else column
        differs = pc.not_equal(known[name].take(first), column.take(second))
        differs = with_gaps(differs, False)  # noqa: FBT003  # a value to fill in, no option
        if pa.types.is_floating(column.type):  # two NaN say the same
            both = pc.and_(pc.is_nan(known[name].take(first)), pc.is_nan(column.take(second)))
            differs = differs & ~with_gaps(both, False)  # noqa: FBT003  # as above
        if differs.any():
            at = int(np.argmax(differs))
            one, other = int(source[copies[0][at]]), int(copies[1][at])
            raise KeyMismatchError(
                f"{trials.origin.where(one)} and {trials.origin.where(other)}: trial {trials.name_of(one)} has two "
                f"values of {name}, {column[one].as_py()!r} and {column[other].as_py()!r}"
                f"{such_trials(len(np.unique(copies[0][differs])))}. Correct one of them."
            )
    return known


@dataclass(frozen=True, slots=True, eq=False)
class Stack:
    """The scores of several systems on common trials, side by side.

    Attributes
    ----------
    trials : Trials
    names : tuple of str
        What the systems are called.
    score : (n_trials, n_systems) float array
        One column per system. Common logarithms are turned into natural ones.
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
    """Put the scores of several systems on common trials side by side.

    Parameters
    ----------
    systems : sequence of Scores
    key : Key or Index, optional
        The trials, in its order. Left out, they are those of the first system.
    missing : {"error", "drop"} or float
        What to do about trials that a system did not score: refuse, leave them out for all, or fill in this score.
        Without a key, trials that only a later system scored are missing too: they are refused, or left out and
        counted as extra; a score can be filled in only where a key says which trials there are.
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
        raise InputError("systems: none given. There must be at least one to stack.")
    if key is None and not isinstance(missing, str):
        raise InputError(
            f"missing: {missing!r} cannot be filled in: nothing says which trials there are. Pass a key or index."
        )
    aligned = align_systems(systems, systems[0].index if key is None else key, missing, duplicates=duplicates)
    report = aligned[0].report
    if key is None and missing == "error" and report.extra:
        raise KeyMismatchError(_extra_message(systems))
    score = np.stack([system.score for system in aligned], axis=1)
    return Stack(aligned[0].trials, tuple(system.name for system in aligned), score, aligned[0].is_target, report)


def _extra_message(systems: Sequence[Scores]) -> str:
    """Name the first trial that only a later system scored."""
    first = systems[0].trials
    found = ((system.trials, Wanted(system.trials).find(first).rows) for system in systems[1:])
    trials, lacking = next((t, np.flatnonzero(r < 0)) for t, r in found if r is not None and np.any(r < 0))
    return (
        f"{len(lacking):,} of {len(trials):,} trials of {trials.origin.name} have no score in {first.origin.name}, the "
        f'first {trials.name_of(int(lacking[0]))} ({trials.origin.where(int(lacking[0]))}). Pass missing="drop" to '
        "leave them out, or a key or index that says which trials count."
    )


def set_missing(scores: Scores, index: Index | Key, value: float, *, duplicates: Duplicates = "error") -> Scores:
    """Scores for every trial of an index, in its order: a given one for the trials that have none.

    Scores of trials that are not in the index are left out; `align` counts them.

    Parameters
    ----------
    scores : Scores
    index : Index or Key
    value : float
        Of the same kind as the scores (a common logarithm where they are).
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
    policy: Any = value
    if isinstance(policy, str):
        raise InputError(f"value: expected a score to fill in, got {value!r}.")
    return align(scores, Index(index.trials), value, duplicates=duplicates).scores
