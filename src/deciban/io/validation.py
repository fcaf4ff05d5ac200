"""Whether a submission has the trials of a list: all of them, once each, no others, in the same order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from deciban._files import PathLike
from deciban.errors import FormatError
from deciban.io.columns.headers import Columns
from deciban.io.memory import memory_for_trials, memory_of
from deciban.io.reader import read_contents, text_faults
from deciban.io.renaming import read_renaming
from deciban.io.source import require_one_stream
from deciban.messages import Message, counted
from deciban.trials import Trials
from deciban.trials.joining.lookup import Wanted
from deciban.trials.joining.renaming import IdsLike, near_names
from deciban.types import IntArray

SHOWN = 5
"""So many of the trials that have a fault are shown."""


@dataclass(frozen=True, slots=True)
class Validation:
    """What was read, and what is wrong with it: for every kind of fault how many there are, and the first of them."""

    messages: tuple[Message, ...]
    faults: tuple[str, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """What was read, a line each."""
        return tuple(map(str, self.messages))

    @property
    def is_valid(self) -> bool:
        """Whether nothing is wrong."""
        return not self.faults


def validate(
    submission: PathLike,
    trials: PathLike,
    *,
    format: str | None = None,
    columns: Columns | None = None,
    trials_format: str | None = None,
    trials_columns: Columns | None = None,
    labels: Mapping[str, str] | None = None,
    any_order: bool = False,
    ids: IdsLike | PathLike | None = None,
    memory: str | int | None = None,
) -> Validation:
    """Compare a submission with the list of trials that it should score.

    Parameters
    ----------
    submission : path
        Score file.
    trials : path
        List of trials, or a key.
    format, columns, labels : optional
        See `deciban.read_scores`, for the submission.
    trials_format, trials_columns : optional
        The same for the list.
    any_order : bool
        Whether the trials may stand in another order than in the list.
    ids : str, path, sequence of str, or IdMap, optional
        By which names trials are compared; see `deciban.io.renaming.read_renaming`.
    memory : str or int, optional
        Bytes that may be taken, as ``"2GB"`` or a number; left out, half of what is free. Text, Parquet and Arrow that
        would take more are read piece by piece.

    Returns
    -------
    Validation

    Raises
    ------
    FormatError, InputError, OSError
        If the list cannot be read. What is wrong with the submission is returned.
    """
    require_one_stream([submission, trials])
    renaming = read_renaming(ids)
    if memory_of([submission, trials]) > memory_for_trials(memory):
        from deciban.io.validation_in_pieces import validate_in_pieces  # most files fit

        given: Any = {"format": format, "columns": columns, "labels": labels}
        listing: Any = {"format": trials_format, "columns": trials_columns, "labels": labels}
        how: Any = {"any_order": any_order, "renaming": renaming, "memory": memory}
        done = validate_in_pieces(submission, trials, given, listing, **how)
        if done is not None:
            return Validation(*done)
    index = read_contents(trials, need="index", format=trials_format, columns=trials_columns, labels=labels).index
    assert index is not None  # noqa: S101  # an index was asked for
    messages = [_read("trials", index.trials, "")]
    try:
        contents = read_contents(submission, need="scores", format=format, columns=columns, labels=labels)
    except FormatError as error:
        found = islice(text_faults(submission, format=format, columns=columns, labels=labels), SHOWN)
        return Validation(tuple(messages), tuple(map(str, found)) or (str(error),))
    # The systems of one input score the same trials: what is wrong with those of one is wrong with all.
    given, names = contents.systems[0].trials, [system.name for system in contents.systems]
    several = f", {len(names)} systems: {', '.join(names)}" if len(names) > 1 else ""
    messages.append(_read("scores", given, several))
    wanted = index.trials
    if renaming is not None:
        named, listed = renaming.of_scores(given), renaming.of_key(wanted)
        for one, changed in ((given, named), (wanted, listed)):
            words = f"{renaming.words} changed {counted(changed.n_changed, 'name')} of {one.origin.name}"
            messages.append(Message("ids", "", words))
        given, wanted = named.trials, listed.trials
    faults = _faults(given, wanted, any_order=any_order, may_be_near=renaming is None)
    return Validation(tuple(messages), tuple(faults))


def _read(kind: str, trials: Trials, more: str) -> Message:
    return Message(kind, trials.origin.name, f"{trials.origin.reading}   {counted(len(trials), 'trial')}{more}")


def other_sides(given: Trials, wanted: Trials) -> str:
    """What is said where trials are not named in the same way."""
    return (
        f"{given.origin.name} identifies a trial by {' and '.join(given.sides)}, the list by "
        f"{' and '.join(wanted.sides)}. Name the columns of both files."
    )


@dataclass(frozen=True, slots=True, eq=False)
class Differences:
    """How trials differ from those of a list.

    Attributes
    ----------
    again, extra : (n,) arrays
        Rows of trials that are there more often than in the list; that the list does not have.
    lacking : (n,) array
        Rows of the list.
    most : int
        How often the list has a trial, at most.
    """

    again: IntArray
    lacking: IntArray
    extra: IntArray
    most: int

    @classmethod
    def of(cls, given: Trials, wanted: Trials) -> Differences | None:
        """Compare trials that are named in the same way; None if both are the same in the same order."""
        found, back = Wanted(wanted).find(given).rows, Wanted(given).find(wanted).rows
        if found is None or back is None:
            return None
        (given_before, given_times), (wanted_before, wanted_times) = _copies(given), _copies(wanted)
        unknown = back < 0
        again = np.flatnonzero(given_before >= np.where(unknown, 1, wanted_times[back]))
        lacking = np.flatnonzero((found < 0) | (wanted_before >= given_times[found]))
        return cls(again, lacking, np.flatnonzero(unknown), int(wanted_times.max(initial=1)))


def _faults(given: Trials, wanted: Trials, *, any_order: bool, may_be_near: bool) -> Iterator[str]:
    if given.sides != wanted.sides:
        yield other_sides(given, wanted)
        return
    found = Differences.of(given, wanted)
    if found is None:
        return
    places = _places(given, found.again, found.extra)
    yield from _fault(given, places, said_of_copies(found.most), found.again)
    yield from _fault(wanted, _places(wanted, found.lacking), LACKING, found.lacking)
    yield from _fault(given, places, EXTRA, found.extra)
    near = near_names(given, wanted) if len(found.lacking) and may_be_near else None
    if near is not None:
        yield f"of the trials of the list, {near}: --ids {near.option}"
    if any_order or len(found.again) or len(found.lacking) or len(found.extra):
        return
    moved = given.codes_in(wanted) != wanted.codes_in(wanted)
    if np.any(moved):
        row = int(np.argmax(moved))
        yield moved_in_words(given.origin.where(row), given.name_of(row), wanted.name_of(row), wanted.origin.where(row))


LACKING, EXTRA = "trial of the list without a score", "score of trials that are not in the list"
"""What is said of trials that only the list has, and of those that it does not have."""


def said_of_copies(most: int) -> str:
    """What is said of trials that are there too often, where the list has a trial so often at most."""
    return f"trial listed {'more than once' if most == 1 else 'more often than in the list'}"


def moved_in_words(where: str, name: str, wanted: str, there: str) -> str:
    """What is said of trials in another order, with the first that differs."""
    return (
        f"{where}: trial {name} stands where the list has {wanted} ({there}). All trials are there, in another order; "
        "--any-order allows that."
    )


def _copies(trials: Trials) -> tuple[IntArray, IntArray]:
    """For every row how many rows before it hold its trial, and for first rows how many rows hold it in all."""
    first, later = Wanted(trials).surplus
    before, times = np.zeros(len(trials), np.int64), np.ones(len(trials), np.int64)
    np.add.at(times, first, 1)
    order = np.argsort(first, kind="stable")
    starts = np.flatnonzero(np.diff(first[order], prepend=-1))
    before[later[order]] = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order))) + 1
    return before, times


def _places(trials: Trials, *kinds: IntArray) -> Mapping[int, str]:
    """The places of the first rows of all faults of one file, found together: to find one takes a pass over it."""
    rows = sorted({int(row) for found in kinds for row in found[:SHOWN]})
    return dict(zip(rows, trials.origin.where_all(rows), strict=True))


def _fault(trials: Trials, places: Mapping[int, str], what: str, rows: IntArray) -> Iterator[str]:
    first = [(places[int(row)], trials.name_of(int(row))) for row in rows[:SHOWN]]
    yield from fault_in_words(what, len(rows), first)


def fault_in_words(what: str, n: int, first: Sequence[tuple[str, str]]) -> Iterator[str]:
    """How many trials have a fault, and the places and names of the first; nothing if none has.

    Examples
    --------
    >>> print(*fault_in_words(LACKING, 2, [("list.txt:1", "ann x"), ("list.txt:7", "bob y")]))
    2 trials of the list without a score, the first: list.txt:1 ann x; list.txt:7 bob y
    """
    if n:
        shown = "; ".join(f"{place} {name}" for place, name in first)
        noun, rest = what.split(" ", 1)
        yield f"{counted(n, noun)} {rest}, the first: {shown}"
