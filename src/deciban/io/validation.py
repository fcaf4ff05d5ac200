"""Whether a submission has the trials of a list: all of them, once each, no others, in the same order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from deciban._files import PathLike
from deciban.errors import FormatError
from deciban.io.columns.headers import Columns
from deciban.io.contents import ContentKind
from deciban.io.reader import read_contents, text_faults
from deciban.io.recognition import memory_of
from deciban.io.renaming import read_renaming
from deciban.io.source import require_one_stream
from deciban.memory import memory_for_trials
from deciban.messages import Message, counted
from deciban.trials import Trials
from deciban.trials.joining.lookup import Wanted
from deciban.trials.joining.renaming import IdsLike, Renamed, near_names
from deciban.types import IntArray

if TYPE_CHECKING:
    from deciban.io.names_on_disk import NamesOnDisk

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
        would take more are read in batches.

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
    given: Any = {"format": format, "columns": columns, "labels": labels}
    listing: Any = {"format": trials_format, "columns": trials_columns, "labels": labels}
    make: Callable[..., _InMemory | NamesOnDisk] = _InMemory
    with ExitStack() as stack:
        if memory_of([submission, trials]) > memory_for_trials(memory):
            from deciban.io import names_on_disk  # most files fit

            if names_on_disk.are_readable([(trials, "index", listing), (submission, "scores", given)], memory):
                make = stack.enter_context(names_on_disk.folder_of_names(memory))
        listed = make(trials, listing, "index", None if renaming is None else renaming.of_key)
        messages = [listed.read_message("trials", "")]
        try:
            scored = make(submission, given, "scores", None if renaming is None else renaming.of_scores)
        except FormatError as error:
            found = islice(make.faults_of_text(submission, given), SHOWN)  # type: ignore[attr-defined]
            return Validation(tuple(messages), tuple(map(str, found)) or (str(error),))
        # The systems of one input score the same trials: what is wrong with those of one is wrong with all.
        names = [system.name for system in scored.contents.systems]
        several = f", {len(names)} systems: {', '.join(names)}" if len(names) > 1 else ""
        messages.append(scored.read_message("scores", several))
        if renaming is not None:
            for one in (scored, listed):
                words = f"{renaming.words} changed {counted(one.n_changed, 'name')} of {one.name}"
                messages.append(Message("ids", "", words))
        faults = _faults(scored, listed, any_order=any_order, may_be_near=renaming is None)
        return Validation(tuple(messages), tuple(faults))


class _InMemory:
    """The names of the trials of one input.

    Parameters
    ----------
    source : path
    given : mapping
        How it is read.
    need : {"index", "scores"}
    rename : function, optional
        Gives trials the names by which they are compared.

    Raises
    ------
    FormatError, OSError
    """

    def __init__(
        self, source: PathLike, given: Mapping[str, Any], need: ContentKind, rename: Callable[[Trials], Renamed] | None
    ) -> None:
        self.contents = read_contents(source, need=need, **given)
        assert self.contents.index is not None  # noqa: S101  # it was asked for
        read = self.contents.systems[0].trials if need == "scores" else self.contents.index.trials
        named = Renamed(read) if rename is None else rename(read)
        self.trials, self.n_changed = named.trials, named.n_changed
        self._read = read

    @staticmethod
    def faults_of_text(path: PathLike, given: Mapping[str, Any]) -> Iterator[FormatError]:
        """Yield the lines of a text file that cannot be read."""
        return text_faults(path, **given)

    @property
    def name(self) -> str:
        """What messages call the input."""
        return self.trials.origin.name

    def read_message(self, kind: str, more: str) -> Message:
        """Return the message on how the input was read."""
        origin = self._read.origin
        return Message(kind, origin.name, f"{origin.reading}   {counted(len(self._read), 'trial')}{more}")

    def places(self, rows: Sequence[int]) -> dict[int, str]:
        """Return the places of rows in words, found together: to find one takes a pass over the file."""
        own = sorted(set(rows))
        return dict(zip(own, self.trials.origin.where_all(own), strict=True))

    def differences(self, listed: _InMemory) -> Differences | None:
        """Compare the trials with those of a list; None if both are the same in the same order."""
        given, wanted = self.trials, listed.trials
        found, back = Wanted(wanted).find(given).rows, Wanted(given).find(wanted).rows
        if found is None or back is None:
            return None
        (given_before, given_times), (wanted_before, wanted_times) = _copies(given), _copies(wanted)
        unknown = back < 0
        again = np.flatnonzero(given_before >= np.where(unknown, 1, wanted_times[back]))
        lacking = np.flatnonzero((found < 0) | (wanted_before >= given_times[found]))
        extra = np.flatnonzero(unknown)
        faults = _fault(given, again), _fault(wanted, lacking), _fault(given, extra)
        if any(one.n for one in faults):
            return Differences(*faults, int(wanted_times.max(initial=1)))
        moved = given.codes_in(wanted) != wanted.codes_in(wanted)
        row = int(np.argmax(moved))
        names = (row, given.name_of(row), wanted.name_of(row)) if np.any(moved) else None
        return Differences(*faults, int(wanted_times.max(initial=1)), names)

    def near(self, listed: _InMemory) -> str:
        """Return the hint on names that differ in how they are written."""
        found = near_names(self.trials, listed.trials)
        return "" if found is None else f"of the trials of the list, {found}: --ids {found.option}"


@dataclass(frozen=True, slots=True, eq=False)
class Fault:
    """Trials with one fault: how many, and the rows and names of the first of them."""

    n: int
    first: Sequence[tuple[int, str]]

    @property
    def rows(self) -> list[int]:
        """Rows of the first."""
        return [row for row, _ in self.first]

    def shown(self, places: Mapping[int, str]) -> list[tuple[str, str]]:
        """Places and names of the first."""
        return [(places[row], name) for row, name in self.first]


def _fault(trials: Trials, rows: IntArray) -> Fault:
    return Fault(len(rows), [(int(row), trials.name_of(int(row))) for row in rows[:SHOWN]])


@dataclass(frozen=True, slots=True, eq=False)
class Differences:
    """How trials differ from those of a list.

    Attributes
    ----------
    again, lacking, extra : Fault
        Trials that are there more often than in the list; trials that only the list has; trials that it does not have.
    most : int
        How often the list has a trial, at most.
    moved : tuple of int, str, str; or None
        The first row in another order, its name, and the name that the list has there.
    """

    again: Fault
    lacking: Fault
    extra: Fault
    most: int
    moved: tuple[int, str, str] | None = None


def _faults(scored: Any, listed: Any, *, any_order: bool, may_be_near: bool) -> Iterator[str]:
    if scored.trials.sides != listed.trials.sides:
        yield (
            f"{scored.name} identifies a trial by {' and '.join(scored.trials.sides)}, the list by "
            f"{' and '.join(listed.trials.sides)}. Name the columns of both files."
        )
        return
    found = scored.differences(listed)
    if found is None:
        return
    again, lacking, extra = found.again, found.lacking, found.extra
    places = scored.places([*again.rows, *extra.rows])
    often = f"trial listed {'more than once' if found.most == 1 else 'more often than in the list'}"
    yield from fault_in_words(often, again.n, again.shown(places))
    yield from fault_in_words(LACKING, lacking.n, lacking.shown(listed.places(lacking.rows)))
    yield from fault_in_words("score of trials that are not in the list", extra.n, extra.shown(places))
    if lacking.n and may_be_near and (near := scored.near(listed)):
        yield near
    if not any_order and found.moved is not None and not (again.n or lacking.n or extra.n):
        row, name, wanted = found.moved
        yield (
            f"{scored.places([row])[row]}: trial {name} stands where the list has {wanted} "
            f"({listed.places([row])[row]}). All trials are there, in another order; --any-order allows that."
        )


LACKING = "trial of the list without a score"
"""What is said of trials that only the list has."""


def _copies(trials: Trials) -> tuple[IntArray, IntArray]:
    """For every row how many rows before it hold its trial, and for first rows how many rows hold it in all."""
    first, later = Wanted(trials).surplus
    before, times = np.zeros(len(trials), np.int64), np.ones(len(trials), np.int64)
    np.add.at(times, first, 1)
    order = np.argsort(first, kind="stable")
    starts = np.flatnonzero(np.diff(first[order], prepend=-1))
    before[later[order]] = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order))) + 1
    return before, times


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
