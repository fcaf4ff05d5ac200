"""Whether a submission has the trials of a list, where both do not fit in memory; see `deciban.io.validation`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban._arrow import to_numpy
from deciban._files import PathLike, ScratchFolder, display_name
from deciban.errors import FormatError, InputError
from deciban.io.contents import ContentKind, Contents
from deciban.io.formats.parquet import row_places
from deciban.io.memory import memory_for_trials
from deciban.io.shards.contents import contents_in_pieces, is_readable_in_pieces, plain_text_files
from deciban.io.shards.database import Database, database
from deciban.io.shards.files import is_columnar, table_files
from deciban.io.shards.text import faults_in_blocks, lines_of_rows
from deciban.io.shards.writing import TableWriter
from deciban.io.source import Source
from deciban.io.validation import EXTRA, LACKING, SHOWN, fault_in_words, moved_in_words, other_sides, said_of_copies
from deciban.messages import Message, counted
from deciban.trials import Trials
from deciban.trials.joining.renaming import Renamed, Renaming
from deciban.types import AnyArray

_ROWS = 1 << 18
"""Rows that are compared at once where they should be the same."""


@dataclass
class _Names:
    """The names of the trials of one input, in a file of their own.

    Attributes
    ----------
    source : path
    given : mapping
        How it is read.
    need : str
    path : path
        The file.
    first : Contents or None
        Of the first piece.
    n_rows : list of int
        Of every piece.
    n_changed : int
        Names that were written in another way.
    """

    source: PathLike
    given: Mapping[str, Any]
    need: ContentKind
    path: Path
    first: Contents | None = None
    n_rows: list[int] = field(default_factory=list)
    n_changed: int = 0

    def write(self, rename: Callable[[Trials], Renamed] | None) -> None:
        """Read the input, and write the names."""
        with TableWriter(self.path, display_name(self.source)) as writer:
            for name, contents in contents_in_pieces(self.source, self.need, unit=None, **self.given):
                assert contents.index is not None  # noqa: S101  # it was asked for
                trials = contents.index.trials
                self.first = self.first or contents
                if rename is not None:
                    named = rename(trials)
                    trials, self.n_changed = named.trials, self.n_changed + named.n_changed
                columns = {side: pc.cast(trials.column(side), pa.string()) for side in trials.sides}
                writer.write(pa.table(columns), name)
                self.n_rows.append(len(trials))

    @property
    def trials(self) -> Trials:
        """Those of the first piece, for what all have in common."""
        assert self.first is not None  # noqa: S101  # there was a piece
        assert self.first.index is not None  # noqa: S101  # it was asked for
        found = self.first.index.trials
        return replace(found, origin=replace(found.origin, name=display_name(self.source)))

    def read_message(self, kind: str, more: str) -> Message:
        """Say how it was read."""
        origin = self.trials.origin
        return Message(kind, origin.name, f"{origin.reading}   {counted(sum(self.n_rows), 'trial')}{more}")

    def places(self, rows: Sequence[int]) -> dict[int, str]:
        """What messages call the places of some rows."""
        files, name = table_files(self.source), display_name(self.source)
        if all(is_columnar(file.path) for file in files):
            sources = [Source(file.path) for file in files]
            place = row_places(sources) if all(one.kind == "Parquet" for one in sources) else None
            return {row: f"{name}, row {row}" if place is None else place(row) for row in rows}
        found: dict[int, str] = {}
        first = at = 0
        for opened in plain_text_files(files, **self.given):
            layout = opened.layout(self.need)
            left = [row - first for row in rows if row >= first]
            lines = lines_of_rows(opened, layout, self.n_rows[at:], left) if left else {}
            for row, line in lines.items():
                found.setdefault(row + first, f"{opened.source.name}:{line}")
            if len(files) == 1:
                break
            first, at = self._after(opened, first, at)
        return {row: found.get(row, f"{name}, row {row}") for row in rows}

    def _after(self, opened: Any, first: int, at: int) -> tuple[int, int]:
        """The first row and piece of the next file."""
        n_blocks = sum(1 for _ in contents_in_pieces(opened.source.path, self.need, unit=None, **self.given))
        return first + sum(self.n_rows[at : at + n_blocks]), at + n_blocks


def validate_in_pieces(
    submission: PathLike,
    trials: PathLike,
    given: Mapping[str, Any],
    listing: Mapping[str, Any],
    *,
    any_order: bool,
    renaming: Renaming | None,
    memory: str | int | None,
) -> tuple[tuple[Message, ...], tuple[str, ...]] | None:
    """Compare a submission with the list of trials that it should score.

    Parameters
    ----------
    submission, trials : path
    given, listing : mapping
        ``format``, ``columns`` and ``labels`` of both.
    any_order, renaming, memory
        As of `deciban.io.validation.validate`.

    Returns
    -------
    tuple of Message, tuple of str; or None
        What was read, and what is wrong. None where this cannot be done in pieces, and the user said nothing of memory.

    Raises
    ------
    FormatError, OSError
        If the list cannot be read.
    InputError
        If the user said how much memory may be taken, and this cannot be done in pieces.
    """
    for path, need, how in ((trials, "index", listing), (submission, "scores", given)):
        kind: Any = need
        if str(path) == "-" or not all(is_readable_in_pieces(one.path, kind, how) for one in table_files(path)):
            if memory is None:
                return None
            raise InputError(
                f"memory: {display_name(path)} does not fit in it, and only Parquet, Arrow and text without classes "
                "are read in pieces. Allow more memory (memory=, --memory)."
            )
    folder = ScratchFolder()
    try:
        listed = _Names(trials, listing, "index", folder.path / "listed.parquet")
        listed.write(None if renaming is None else renaming.of_key)
        messages = [listed.read_message("trials", "")]
        scored = _Names(submission, given, "scores", folder.path / "scored.parquet")
        try:
            scored.write(None if renaming is None else renaming.of_scores)
        except FormatError as error:
            return tuple(messages), tuple(map(str, islice(_faults_of_text(submission, given), SHOWN))) or (str(error),)
        assert scored.first is not None  # noqa: S101  # there was a piece
        names = [system.name for system in scored.first.systems]
        several = f", {len(names)} systems: {', '.join(names)}" if len(names) > 1 else ""
        messages.append(scored.read_message("scores", several))
        if renaming is not None:
            for one in (scored, listed):
                words = f"{renaming.words} changed {counted(one.n_changed, 'name')} of {display_name(one.source)}"
                messages.append(Message("ids", "", words))
        faults = _faults(scored, listed, folder.path, any_order=any_order, memory=memory_for_trials(memory))
        return tuple(messages), tuple(faults)
    finally:
        folder.remove()


def _faults_of_text(path: PathLike, given: Mapping[str, Any]) -> Iterator[FormatError]:
    """All lines of a text file that cannot be read; nothing if it is no text."""
    files = table_files(path)
    if any(is_columnar(file.path) for file in files):
        return
    for found in plain_text_files(files, **given):
        try:
            layout = found.layout("scores")
        except FormatError:
            continue
        yield from faults_in_blocks(found, layout, found.options)


def _faults(scored: _Names, listed: _Names, folder: Path, *, any_order: bool, memory: int) -> Iterator[str]:
    if scored.trials.sides != listed.trials.sides:
        yield other_sides(scored.trials, listed.trials)
        return
    differs = _first_difference(scored, listed)
    if differs is None:
        return
    n_rows = sum(scored.n_rows) + sum(listed.n_rows)
    name = f"{display_name(scored.source)} and {display_name(listed.source)}"
    with database(folder, memory // 2, n_rows, name) as made:
        again, lacking, extra, most = _differences(made, scored, listed)
    places = scored.places([*again.rows, *extra.rows])
    yield from fault_in_words(said_of_copies(most), again.n, again.shown(places))
    yield from fault_in_words(LACKING, lacking.n, lacking.shown(listed.places(lacking.rows)))
    yield from fault_in_words(EXTRA, extra.n, extra.shown(places))
    if not any_order and not (again.n or lacking.n or extra.n):
        row, name, wanted = differs
        yield moved_in_words(scored.places([row])[row], name, wanted, listed.places([row])[row])


def _differences(made: Database, scored: _Names, listed: _Names) -> tuple[_Fault, _Fault, _Fault, int]:
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

    def fault(of: str, where: str) -> _Fault:
        before = f"row_number() over (partition by {sides} order by row) - 1 as before"
        found = f"(select *, {before} from {of} join odd using ({sides})) where {where}"
        ((n,),) = made.run(f"select count(*) from {found}")
        first = made.run(f"select row, {sides} from {found} order by row limit {SHOWN}")
        return _Fault(n, [(row, f"({', '.join(names)})") for row, *names in first])

    again, lacking = fault("scored", "before >= greatest(n_listed, 1)"), fault("listed", "before >= n_scored")
    ((most,),) = made.run("select max(n) from listed_times")
    return again, lacking, fault("scored", "n_listed = 0"), most or 1


def _first_difference(one: _Names, other: _Names) -> tuple[int, str, str] | None:
    """The first row in which two lists differ, and the names there; None if there is none."""
    first = 0
    for a, b in zip_longest(_in_chunks(one.path), _in_chunks(other.path)):
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


@dataclass(frozen=True)
class _Fault:
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
