"""Comparison of the trials of a submission with a list, in memory or in temporary files."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import reduce
from itertools import accumulate, islice
from operator import add
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from deciban._arrow import pc, to_numpy
from deciban._files import ScratchFolder
from deciban.errors import FormatError, Message, counted, display_name, not_none, option
from deciban.io.columns.headers import Columns
from deciban.io.columns.values import RowTable, table_of_all
from deciban.io.formats import ContentKind, Contents, InputOptions
from deciban.io.partitions import writing
from deciban.io.partitions.files import TableFile, open_files, table_files
from deciban.io.partitions.joining import NamedRows
from deciban.io.partitions.layout import cut
from deciban.io.reader import read_contents, read_renaming, text_faults
from deciban.io.recognition import InputReading, is_stream, memory_of, readable_as, recognize
from deciban.io.source import require_one_stream
from deciban.memory import bytes_of_joined, memory_error, memory_for_trials, rows_that_fit
from deciban.trials import Index, Origin, Trials
from deciban.trials.classes import messages_on_ratios
from deciban.trials.joining import IdsLike, Renamed, near_names
from deciban.trials.joining.join import ConcatenatedRows
from deciban.trials.lists import Lookup
from deciban.types import IntArray, PathLike

SHOWN = 5
"""Number of trials that are shown for each fault."""


def are_readable(inputs: Sequence[tuple[PathLike, ContentKind, InputReading]], memory: str | int | None) -> bool:
    """Return True if inputs can be read in batches.

    Raises
    ------
    InputError
        If the user limits the memory, and an input must be read as a whole.
    """
    for path, need, how in inputs:
        if not writing.are_readable_in_batches(path, need, how):
            if memory is None:
                return False
            what = f"memory: {display_name(path)} does not fit in memory, and only Parquet, Arrow and text without "
            raise memory_error(f"{what}classes can be read in batches")
    return True


@dataclass(frozen=True, slots=True, eq=False)
class Fault:
    """Trials with the same fault: their number, and the rows and names of the first trials."""

    n: int
    first: Sequence[tuple[int, str]]

    def words(self, what: str, names: ListedNames) -> Iterator[str]:
        """Yield a text with the number of the trials and the first of them; nothing if there are none."""
        if self.n:
            places = names.places([row for row, _ in self.first])
            shown = "; ".join(f"{place} {name}" for place, (_, name) in zip(places, self.first, strict=True))
            noun, rest = what.split(" ", 1)
            yield f"{counted(self.n, noun)} {rest}, the first: {shown}"

    def __add__(self, other: Fault) -> Fault:
        """Return the trials of both parts."""
        return Fault(self.n + other.n, sorted([*self.first, *other.first])[:SHOWN])


def _fault(trials: Trials, rows: IntArray) -> Fault:
    shown = ((int(trials.origin.number(row)), trials.name_of(row)) for row in rows[:SHOWN].tolist())
    return Fault(len(rows), list(shown))


@dataclass(frozen=True, slots=True, eq=False)
class Differences:
    """Differences between trials and a list.

    Attributes
    ----------
    again, lacking, extra : Fault
        Trials that occur more often than in the list; trials only in the list; trials not in the list.
    most : int
        Largest number of occurrences of a trial in the list.
    moved : tuple of int, str, str; or None
        The first row in another order, its name, and the name in the list.
    """

    again: Fault
    lacking: Fault
    extra: Fault
    most: int
    moved: tuple[int, str, str] | None = None

    def __add__(self, other: Differences) -> Differences:
        """Return the differences of both parts."""
        faults = self.again + other.again, self.lacking + other.lacking, self.extra + other.extra
        return Differences(*faults, max(self.most, other.most))


def _copies(trials: Trials) -> tuple[IntArray, IntArray]:
    """Return, for each row, the number of earlier rows with its trial, and, for first rows, the number of all rows."""
    first, later = Lookup(trials).surplus
    before, times = np.zeros(len(trials), np.int64), np.ones(len(trials), np.int64)
    np.add.at(times, first, 1)
    order = np.argsort(first, kind="stable")
    starts = np.flatnonzero(np.diff(first[order], prepend=-1))
    before[later[order]] = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order))) + 1
    return before, times


Room: TypeAlias = tuple[Path, int] | None
"""A folder for temporary files, and the bytes of memory for comparing names; None: names are kept in memory."""


class ListedNames:
    """The names of the trials of one input, in memory or in a temporary file.

    Parameters
    ----------
        The input.
    given : mapping
        Options for reading it.
    need : str
        The kind of table to read.
    rename : function of trials to trials with other names, optional
        Changes names for the comparison.
    room : folder and bytes, optional

    Attributes
    ----------
    name : str
    contents : Contents
        The first batch.
    n_changed : int
        Number of names that were changed.

    Raises
    ------
        FormatError, OSError
            If the input cannot be read as this kind of table.
    """

    table: RowTable
    """The names to compare, a column for each side."""

    def __init__(
        self,
        source: PathLike,
        given: InputReading,
        need: ContentKind,
        rename: Callable[[Trials], Renamed] | None,
        room: Room,
    ) -> None:
        self.name, self.room, self.n_changed = display_name(source), room, 0
        self._origins, self._starts = list[Origin](), [0]
        first: Contents | None = None
        with ExitStack() as closing:
            if room is None:
                batches: Iterable[tuple[str, Contents]] = [(self.name, read_contents(source, need=need, **given))]
            else:
                path = room[0] / f"{need}.parquet"
                writer = closing.enter_context(writing.TableWriter(path, self.name))
                batches = writing.contents_in_batches(source, need, room[1] / 2, unit=None, **given)
            for name, contents in batches:
                first, trials = first or contents, not_none(contents.index, "index").trials
                named = Renamed(trials) if rename is None else rename(trials)
                self.n_changed += named.n_changed
                self._origins.append(trials.origin)
                self._starts.append(self._starts[-1] + len(trials))
                names = pa.table({side: pc.cast(named.trials.column(side), pa.string()) for side in trials.sides})
                if room is None:
                    self.table = RowTable.of_table(names, self.name, "", names.nbytes)
                else:
                    writer.write(names, name)
        if room is not None:
            self.table = open_files(path, [TableFile(path)], InputOptions(), are_ours=True)
        self.contents = not_none(first, "first batch")

    @property
    def n_rows(self) -> int:
        """Number of trials."""
        return self._starts[-1]

    @property
    def sides(self) -> tuple[str, ...]:
        """Identifiers of the trials."""
        return not_none(self.contents.index, "index").trials.sides

    def read_message(self, kind: str, more: str) -> Message:
        """Return the message on how the input was read."""
        return Message(kind, self.name, f"{self._origins[0].reading}   {counted(self.n_rows, 'trial')}{more}")

    def places(self, rows: Sequence[int]) -> list[str]:
        """Return the places of rows as text, all at once, because each search reads the file."""
        return ConcatenatedRows(tuple(self._origins), tuple(self._starts[:-1]))(rows)

    def differences(self, names: ListedNames) -> Differences | None:
        """Compare the trials with a list; return None if both contain the same trials in the same order."""
        moved = _first_difference(self.table, names.table)
        if moved is None:
            return None
        memory = None if self.room is None else self.room[1] / 2
        n_parts = math.ceil((self.n_rows + names.n_rows) / rows_that_fit(memory, bytes_of_joined()))
        items = [_compared(self.part(at, n_parts), names.part(at, n_parts)) for at in range(n_parts)]
        return replace(reduce(add, items), moved=moved)

    def part(self, part: int = 0, n_parts: int = 1) -> Trials:
        """Return the trials of one of ``n_parts`` subsets of all names, in the order of their rows."""
        rows = NamedRows(self.table, {side: side for side in self.sides}, (), lambda trials, _: [Index(trials)])
        result: Trials = rows.part(part, n_parts)[0].trials
        return result

    def near(self, names: ListedNames) -> str:
        """Return advice about names that differ only in spelling; only if all names are in memory."""
        result = near_names(self.part(), names.part()) if self.room is None else None
        return "" if result is None else f"of the trials of the list, {result}: {option(ids=result.option)}"


def _compared(value: Trials, trials: Trials) -> Differences:
    """Compare trials with a list, in any order."""
    result, back = (
        np.arange(len(some)) if rows is None else rows
        for some, rows in ((trials, Lookup(trials).find(value).rows), (value, Lookup(value).find(trials).rows))
    )
    (given_before, given_times), (wanted_before, wanted_times) = _copies(value), _copies(trials)
    # Index -1, for trials that the other side lacks, selects the last number; a subset may be empty on either side.
    again = np.flatnonzero(given_before >= np.append(wanted_times, 1)[back])
    lacking = np.flatnonzero(wanted_before >= np.append(given_times, 0)[result])
    faults = _fault(value, again), _fault(trials, lacking), _fault(value, np.flatnonzero(back < 0))
    return Differences(*faults, int(wanted_times.max(initial=1)))


def _first_difference(one: RowTable, other: RowTable) -> tuple[int, str, str] | None:
    """Return the first row in which two lists differ, and both names; None if the lists are the same."""
    first, n = 0, min(one.n_rows, other.n_rows)
    stops = sorted(
        {n, *(end for table in (one, other) for end in accumulate(rows.n_rows for rows in table.rows))} - {0}
    )
    stops = [stop for stop in stops if stop <= n]
    for stop, *parts in zip(stops, cut(one, stops), cut(other, stops), strict=True):
        a, b = (table_of_all(part, one.schema.names) for part in parts)
        sides = [[pc.cast(names, pa.string()) for names in pair] for pair in zip(a.columns, b.columns, strict=True)]
        same = np.logical_and.reduce([to_numpy(pc.equal(*pair)) for pair in sides])
        if not same.all():
            row = int(np.argmin(same))
            names = [f"({', '.join(table.slice(row, 1).to_pylist()[0].values())})" for table in (a, b)]
            return first + row, names[0], names[1]
        first = stop
    return None if one.n_rows == other.n_rows else (n, "", "")


@dataclass(frozen=True, slots=True)
class Validation:
    """Result of `validate`: messages about the inputs, and for each kind of fault their number and the first ones."""

    messages: tuple[Message, ...]
    faults: tuple[str, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """The messages as text, one line each."""
        return tuple(map(str, self.messages))

    @property
    def is_valid(self) -> bool:
        """True if there are no faults."""
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
    lr: bool = False,
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
        If True, the trials may be in another order than in the list.
    ids : str, path, sequence of str, or IdMap, optional
        Rules to compare names of trials; see `deciban.io.reader.read_renaming`.
    memory : str or int, optional
        Bytes that deciban may take, as ``"2GB"`` or a number; by default, half of the free memory. Text, Parquet and
        Arrow files that need more are read in batches.
    lr : bool
        True if the scores are likelihood ratios. Otherwise, scores that look like likelihood ratios get a note.

    Returns
    -------
    Validation

    Raises
    ------
    FormatError, InputError, OSError
        If the list cannot be read. Faults of the submission are returned, not raised.
    """
    require_one_stream([submission, trials])
    renaming = read_renaming(ids)
    reading: InputReading = {"format": format, "columns": columns, "labels": labels}
    listing: InputReading = {"format": trials_format, "columns": trials_columns, "labels": labels}
    room: Room = None
    kinds = () if is_stream(submission) else readable_as(submission, ("scores", "class-scores"), **reading)
    need: ContentKind = "class-scores" if kinds == ("class-scores",) else "scores"
    with ExitStack() as stack:
        index: ContentKind = "index"
        inputs = (trials, index, listing), (submission, need, reading)
        if memory_of([submission, trials]) > memory_for_trials(memory) and are_readable(inputs, memory):
            folder = ScratchFolder()
            stack.callback(folder.remove)
            room = folder.path, memory_for_trials(memory)
        items = ListedNames(trials, listing, "index", None if renaming is None else renaming.of_key, room)
        messages = [items.read_message("trials", "")]
        try:
            scored = ListedNames(submission, reading, need, None if renaming is None else renaming.of_scores, room)
        except FormatError as error:
            if room is None:
                result = text_faults(recognize(submission, **reading).files, need)
            else:
                result = text_faults(
                    writing.plain_text_files(table_files(submission), **reading), need, writing.block_size(room[1] / 2)
                )
            return Validation(tuple(messages), tuple(map(str, islice(result, SHOWN))) or (str(error),))
        # The systems of one input have the same trials, so faults are the same for all.
        names = [system.name for system in scored.contents.systems]
        several = f", {len(names)} systems: {', '.join(names)}" if len(names) > 1 else ""
        messages.append(scored.read_message("scores", several))
        if renaming is not None:
            for one in (scored, items):
                words = f"{renaming.words} changed {counted(one.n_changed, 'name')} of {one.name}"
                messages.append(Message("ids", "", words))
        messages += [] if lr else messages_on_ratios(scored.contents.systems)
        faults = _faults(scored, items, any_order=any_order, may_be_near=renaming is None)
        return Validation(tuple(messages), tuple(faults))


def _faults(scored: ListedNames, names: ListedNames, *, any_order: bool, may_be_near: bool) -> Iterator[str]:
    if scored.sides != names.sides:
        yield (
            f"{scored.name} identifies a trial by {' and '.join(scored.sides)}, the list by "
            f"{' and '.join(names.sides)}. Name the columns of both files."
        )
        return
    result = scored.differences(names)
    if result is None:
        return
    again, lacking, extra = result.again, result.lacking, result.extra
    often = f"trial listed {'more than once' if result.most == 1 else 'more often than in the list'}"
    yield from again.words(often, scored)
    yield from lacking.words("trial of the list without a score", names)
    yield from extra.words("score of trials that are not in the list", scored)
    if lacking.n and may_be_near and (near := scored.near(names)):
        yield near
    if not any_order and result.moved is not None and not (again.n or lacking.n or extra.n):
        row, name, expected = result.moved
        yield (
            f"{scored.places([row])[0]}: trial {name} is in the place of {expected} in the list "
            f"({names.places([row])[0]}). All trials are there, in another order; {option('any_order')} allows it."
        )
