"""Names of the trials of a submission and of a list, in memory or in files, and how the two differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban._arrow import to_numpy
from deciban._files import PathLike, ScratchFolder, display_name
from deciban.errors import FormatError
from deciban.io.contents import ContentKind, Contents
from deciban.io.formats import Options
from deciban.io.reader import read_contents, text_faults
from deciban.io.shards.database import Database, database
from deciban.io.shards.files import is_columnar, open_files, table_files
from deciban.io.shards.text import (
    contents_in_batches,
    faults_in_blocks,
    is_readable_in_batches,
    lines_of_rows,
    plain_text_files,
)
from deciban.io.shards.writing import TableWriter
from deciban.memory import memory_error, memory_for_trials
from deciban.messages import Message, counted
from deciban.trials import Trials
from deciban.trials.joining.lookup import Wanted
from deciban.trials.joining.renaming import Renamed, near_names
from deciban.types import AnyArray, IntArray

SHOWN = 5
"""So many of the trials that have a fault are shown."""

_ROWS = 1 << 18
"""Rows that are compared at once where they should be the same."""


def are_readable(inputs: Sequence[tuple[PathLike, ContentKind, Mapping[str, Any]]], memory: str | int | None) -> bool:
    """Return True if inputs can be read in batches.

    Raises
    ------
    InputError
        If the user limits the memory, and an input must be read as a whole.
    """
    for path, need, how in inputs:
        if str(path) == "-" or not all(is_readable_in_batches(one.path, need, how) for one in table_files(path)):
            if memory is None:
                return False
            what = f"memory: {display_name(path)} does not fit in it, and only Parquet, Arrow and text without classes "
            raise memory_error(f"{what}are read in batches")
    return True


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


def _copies(trials: Trials) -> tuple[IntArray, IntArray]:
    """For every row how many rows before it hold its trial, and for first rows how many rows hold it in all."""
    first, later = Wanted(trials).surplus
    before, times = np.zeros(len(trials), np.int64), np.ones(len(trials), np.int64)
    np.add.at(times, first, 1)
    order = np.argsort(first, kind="stable")
    starts = np.flatnonzero(np.diff(first[order], prepend=-1))
    before[later[order]] = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order))) + 1
    return before, times


class NamesInMemory:
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

    def differences(self, listed: NamesInMemory) -> Differences | None:
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

    def near(self, listed: NamesInMemory) -> str:
        """Return the hint on names that differ in how they are written."""
        found = near_names(self.trials, listed.trials)
        return "" if found is None else f"of the trials of the list, {found}: --ids {found.option}"


@contextmanager
def folder_of_names(memory: str | int | None) -> Iterator[type[NamesOnDisk]]:
    """Yield what makes names on disk, in a temporary folder that is removed at the end."""
    folder = ScratchFolder()

    class InFolder(NamesOnDisk):
        room = folder.path, memory_for_trials(memory)

    try:
        yield InFolder
    finally:
        folder.remove()


class NamesOnDisk:
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

    room: ClassVar[tuple[Path, int]]
    """Where files are made, and the bytes of memory that comparing them may take."""

    def __init__(
        self, source: PathLike, given: Mapping[str, Any], need: ContentKind, rename: Callable[[Trials], Renamed] | None
    ) -> None:
        self._source, self._given, self._need = source, given, need
        self.name, self.path = display_name(source), self.room[0] / f"{need}.parquet"
        self._n_rows, self.n_changed = list[int](), 0
        first: Contents | None = None
        with TableWriter(self.path, self.name) as writer:
            for name, contents in contents_in_batches(source, need, self.room[1] / 2, unit=None, **given):
                assert contents.index is not None  # noqa: S101  # it was asked for
                trials = contents.index.trials
                first = first or contents
                if rename is not None:
                    named = rename(trials)
                    trials, self.n_changed = named.trials, self.n_changed + named.n_changed
                columns = {side: pc.cast(trials.column(side), pa.string()) for side in trials.sides}
                writer.write(pa.table(columns), name)
                self._n_rows.append(len(trials))
        assert first is not None  # noqa: S101  # there was a batch
        self.contents = first

    @classmethod
    def faults_of_text(cls, path: PathLike, given: Mapping[str, Any]) -> Iterator[FormatError]:
        """Yield the lines of a text file that cannot be read; nothing if it is no text."""
        files = table_files(path)
        if any(is_columnar(file.path) for file in files):
            return
        for found in plain_text_files(files, **given):
            try:
                layout = found.layout("scores")
            except FormatError:
                continue
            yield from faults_in_blocks(found, layout, found.options, cls.room[1] / 2)

    @property
    def trials(self) -> Trials:
        """Those of the first batch, for what all have in common."""
        assert self.contents.index is not None  # noqa: S101  # it was asked for
        return self.contents.index.trials

    def read_message(self, kind: str, more: str) -> Message:
        """Return the message on how the input was read."""
        reading = self.trials.origin.reading
        return Message(kind, self.name, f"{reading}   {counted(sum(self._n_rows), 'trial')}{more}")

    def places(self, rows: Sequence[int]) -> dict[int, str]:
        """What messages call the places of some rows."""
        files, name = table_files(self._source), self.name
        if all(is_columnar(file.path) for file in files):
            table = open_files(self._source, files, Options(columns=self._given["columns"]), at_once=True)
            return {row: table.where(row) for row in rows}
        found: dict[int, str] = {}
        first = at = 0
        for opened in plain_text_files(files, **self._given):
            layout = opened.layout(self._need)
            left = [row - first for row in rows if row >= first]
            lines = lines_of_rows(opened, layout, self._n_rows[at:], left, self.room[1] / 2) if left else {}
            for row, line in lines.items():
                found.setdefault(row + first, f"{opened.source.name}:{line}")
            if len(files) == 1:
                break
            first, at = self._after(opened, first, at)
        return {row: found.get(row, f"{name}, row {row}") for row in rows}

    def _after(self, opened: Any, first: int, at: int) -> tuple[int, int]:
        """The first row and piece of the next file."""
        batches = contents_in_batches(opened.source.path, self._need, self.room[1] / 2, unit=None, **self._given)
        n_blocks = sum(1 for _ in batches)
        return first + sum(self._n_rows[at : at + n_blocks]), at + n_blocks

    def differences(self, listed: NamesOnDisk) -> Differences | None:
        """Compare the trials with those of a list; None if both are the same in the same order."""
        moved = _first_difference(self.path, listed.path)
        if moved is None:
            return None
        folder, memory = self.room
        n_rows = sum(self._n_rows) + sum(listed._n_rows)
        with database(folder, memory // 2, n_rows, f"{self.name} and {listed.name}") as made:
            again, lacking, extra, most = _differences(made, self, listed)
        return Differences(again, lacking, extra, most, moved)

    def near(self, listed: NamesOnDisk) -> str:  # noqa: ARG002
        """Return the hint on names that differ in how they are written: none, which takes all names."""
        return ""


def _differences(made: Database, scored: NamesOnDisk, listed: NamesOnDisk) -> tuple[Fault, Fault, Fault, int]:
    """Trials that are there too often, lack or are extra; and how often the list has a trial at most."""
    sides = ", ".join(f'"{side}"' for side in scored.trials.sides)
    for name, one in (("scored", scored), ("listed", listed)):
        path = str(one.path).replace("'", "''")
        made.run(f"create view {name} as select {sides}, file_row_number as row from read_parquet('{path}')")
        made.run(f"create table {name}_times as select {sides}, count(*) as n from {name} group by all")
    made.run(
        f"create table odd as select {sides}, coalesce(s.n, 0) as n_scored, coalesce(l.n, 0) as n_listed "
        f"from scored_times s full join listed_times l using ({sides}) where s.n is distinct from l.n"
    )

    def fault(of: str, where: str) -> Fault:
        before = f"row_number() over (partition by {sides} order by row) - 1 as before"
        found = f"(select *, {before} from {of} join odd using ({sides})) where {where}"
        ((n,),) = made.run(f"select count(*) from {found}")
        first = made.run(f"select row, {sides} from {found} order by row limit {SHOWN}")
        return Fault(n, [(row, f"({', '.join(names)})") for row, *names in first])

    again, lacking = fault("scored", "before >= greatest(n_listed, 1)"), fault("listed", "before >= n_scored")
    ((most,),) = made.run("select max(n) from listed_times")
    return again, lacking, fault("scored", "n_listed = 0"), most or 1


def _first_difference(one: Path, other: Path) -> tuple[int, str, str] | None:
    """The first row in which two lists differ, and the names there; None if there is none."""
    first = 0
    for a, b in zip_longest(_in_chunks(one), _in_chunks(other)):
        n = 0 if a is None or b is None else min(len(a), len(b))
        found = _unequal(a.slice(0, n), b.slice(0, n)) if n else None
        if found is not None:
            return first + found[0], *found[1:]
        if a is None or b is None or len(a) != len(b):
            return first + n, "", ""
        first += n
    return None


def _unequal(a: pa.Table, b: pa.Table) -> tuple[int, str, str] | None:
    same: AnyArray = np.ones(len(a), np.bool_)
    for side in a.column_names:
        same &= to_numpy(pc.equal(a.column(side), b.column(side)))
    if same.all():
        return None
    row = int(np.argmin(same))
    return row, _name(a, row), _name(b, row)


def _name(table: pa.Table, row: int) -> str:
    return "(" + ", ".join(table.column(side)[row].as_py() for side in table.column_names) + ")"


def _in_chunks(path: Path) -> Iterator[pa.Table]:
    """The rows of a file, always as many at once but for the last ones."""
    import pyarrow.parquet as pq

    held: list[pa.Table] = []
    n_held = 0
    with pq.ParquetFile(path, page_checksum_verification=True) as file:
        for batch in file.iter_batches(batch_size=_ROWS):
            held.append(pa.Table.from_batches([batch]))
            n_held += len(batch)
            while n_held >= _ROWS:
                whole = pa.concat_tables(held)
                yield whole.slice(0, _ROWS)
                held, n_held = [whole.slice(_ROWS)], n_held - _ROWS
    if n_held:
        yield pa.concat_tables(held)
