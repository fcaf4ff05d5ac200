"""Joins by name of tables that do not fit in memory: DuckDB says which rows belong together, and counts the others."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from deciban._arrow import of_numpy, to_numpy
from deciban._files import ScratchFolder
from deciban.errors import InputError, KeyMismatchError, MissingScoresError
from deciban.io.columns.columnar import Roles
from deciban.io.columns.rows import Rows
from deciban.io.shards.database import Database, database
from deciban.io.shards.files import TableFile, open_files
from deciban.io.shards.named_rows import NamedRows, Question
from deciban.io.shards.truth import ROW, JoinedRows
from deciban.io.shards.writing import TableWriter
from deciban.messages import counted
from deciban.trials import ClassKey, ClassScores, Key, Origin, Scores, Trials
from deciban.trials.joining.join import other_label
from deciban.trials.joining.matching import (
    JoinReport,
    conflict_of,
    copies_of,
    none_shared,
    require_same_sides,
    some_missing,
)

_BATCH = 1 << 16


@dataclass(frozen=True, eq=False)
class Joined:
    """Trials of a key with their scores, where they were joined.

    Attributes
    ----------
    rows : tuple of Rows
    report : JoinReport
    is_double : frozenset of str
        Columns of scores that are float64.
    kept : object
        What has to live as long as they.
    """

    rows: tuple[Rows, ...]
    report: JoinReport
    is_double: frozenset[str]
    kept: Any


def joined_by_name(asked: Question) -> Joined:
    """Join tables by the names of their trials.

    Rows of the key stay where they are; only the scores of their trials are written, in the order of the key.

    Parameters
    ----------
    asked : Question

    Returns
    -------
    Joined
        With the same counts as a join in memory.

    Raises
    ------
    KeyMismatchError
        If trials are missing, duplicate or conflicting.
    InputError
        If DuckDB is not installed, or there is too little memory.
    OSError
        If there is no room for the temporary files.
    """
    for roles in asked.scores:
        require_same_sides(_no_trials(roles), _no_trials(asked.truth))
        if not roles.sides:
            if asked.how.ids is not None:
                raise InputError(f"ids: {roles.table.name} has no names that could be changed. Leave it out.")
            raise KeyMismatchError(
                f"{roles.table.name} and {asked.truth.table.name}: trials have no names, and can only be matched by "
                "their order: by_order=True (--by-order)."
            )
    folder = ScratchFolder()
    with folder.or_nothing() as path:
        tables = [one.table for one in (*asked.scores, asked.truth)]
        shown = sum({one.name: one.n_rows for one in tables}.values())  # the first scores may be the key, too
        rows_of = f"{counted(shown, 'row')} of {asked.name}"
        with database(path, asked.how.memory, sum(one.n_rows for one in tables), rows_of) as made:
            meeting = Meeting(asked, made)
            report = meeting.report()
            target = path / "joined.parquet"
            pieces = meeting.write(target)
        if not pieces:
            raise KeyMismatchError(f"{asked.truth.table.name}: no trial is left, and nothing to evaluate.")
        table = open_files(path, [TableFile(target)], asked.how.options(), are_ours=True)
        key, columns = asked.truth.table.rows, frozenset(table.schema.names) - {ROW}
        rows = [
            JoinedRows(key[at].name, one.n_rows, key[at], one, columns)
            for at, one in zip(pieces, table.rows, strict=True)
        ]
        return Joined(tuple(rows), report, table.is_double, folder)


@dataclass(frozen=True, slots=True)
class _Met:
    """How a table of scores met the key: rows of trials that are not in it, and whether either has trials twice."""

    n_extra: int
    has_copies: bool
    has_copies_of_key: bool


class Meeting:
    """The rows of a key beside those of each table of scores, in a database.

    Parameters
    ----------
    asked : Question
    made : Database
    """

    def __init__(self, asked: Question, made: Database) -> None:
        self.asked, self.made = asked, made
        self.tables = [asked.table(at) for at in range(len(asked.scores))]
        self.renamed = [self._n_renamed(at, one) for at, one in enumerate([asked.key, *self.tables])]
        self.met = [self._join(at, one) for at, one in enumerate(self.tables)]

    def _n_renamed(self, at: int, rows: NamedRows) -> int:
        """How many names of a table are compared by others, none of which two may share."""
        if rows.renaming is None:
            return 0
        sides = range(len(rows.names))
        pairs = ", ".join(
            f"unnest([{', '.join(f'{what}{side}' for side in sides)}]) as {what}" for what in ("name", "own")
        )
        self.made.run(
            f"create table names{at} as select distinct unnest({[*sides]}) as side, {pairs} from given",
            given=rows.batches(with_own=True, with_content=False),
        )
        self.made.run(
            f"create table alike{at} as select side, name from names{at} group by side, name having count(*) > 1"
        )
        if self._one(f"select count(*) from alike{at}"):
            own = ", ".join(f"own{side}" for side in sides)
            some = " or ".join(f"name{side} in (select name from alike{at} where side = {side})" for side in sides)
            self.made.run(
                f"create table suspects as select row, {own} from given where {some}",
                given=rows.batches(with_own=True, with_content=False),
            )
            found = pa.Table.from_batches(self.made.batches("select * from suspects order by row", _BATCH))
            names = dict(zip(rows.roles.sides, found.columns[1:], strict=True))
            trials = rows.trials_of(names, to_numpy(found.column("row")))
            (rows.renaming.of_key if rows.is_key else rows.renaming.of_scores)(trials)
        return self._one(f"select count(*) from names{at} where name <> own")

    def _join(self, at: int, rows: NamedRows) -> _Met:
        """Join a table of scores with the key, in parts of names."""
        names, key, n_rows = ", ".join(rows.names), self.asked.key, [0, 0]
        n_parts = self.made.n_parts(max(rows.roles.table.n_rows, key.roles.table.n_rows))

        def counted(table: NamedRows, which: int) -> Iterator[pa.RecordBatch]:
            for batch in table.batches():
                n_rows[which] += len(batch)
                yield batch

        for part in range(n_parts):
            verb = f"insert into joined{at}" if part else f"create table joined{at} as"
            own = f"where hash({names}) % {n_parts} = {part}"
            self.made.run(
                f"{verb} select key.row, truth, scores.row as hit, scores.* exclude (row, {names}) "
                f"from (from key {own}) as key left join (from scores {own}) as scores using ({names})",
                key=counted(key, 0),
                scores=counted(rows, 1),
            )
        n_key, n_scores = (n // n_parts for n in n_rows)
        ((n, n_hit, n_distinct),) = self.made.run(f"select count(*), count(hit), count(distinct hit) from joined{at}")
        return _Met(n_scores - n_distinct, has_copies=n > n_key, has_copies_of_key=n_hit > n_distinct)

    def _one(self, query: str) -> int:
        return int(self.made.run(query)[0][0] or 0)

    def report(self) -> JoinReport:
        """How trials met, if the policies allow it.

        Raises
        ------
        KeyMismatchError
        """
        asked, key = self.asked, self.asked.key
        n_extra, names = 0, [key.roles.table.name]
        copies, renamed = [self._copies_of_key()], [self.renamed[0]]
        for at, rows in enumerate(self.tables):
            n_copies = self._copies_of_scores(at) if self.met[at].has_copies else 0
            for _ in asked.systems_of(at):
                n_extra += self.met[at].n_extra
                copies.append(n_copies)
                renamed.append(self.renamed[at + 1])
                names.append(rows.roles.table.name)
        for at in range(len(self.tables)):
            self._require_labels(at)
        lacking = [f"select row from joined{at} where hit is null" for at in range(len(self.tables))]
        n_missing = self._one(f"select count(*) from ({' union '.join(lacking)})")
        n_key = self._one("select count(*) from joined0")
        changed = tuple(zip(names, renamed, strict=True)) if asked.how.ids is not None else ()
        report = JoinReport(
            n_key - n_missing, n_missing, n_extra, sum(copies), tuple(zip(names, copies, strict=True)), changed
        )
        self._require_met(report)
        return report

    def _copies_of_key(self) -> int:
        """Leave out copies of trials of the key, and return their number."""
        self.made.run("create table again (row bigint, first bigint)")
        for at in (at for at, met in enumerate(self.met) if met.has_copies_of_key):
            several = (
                f"select hit, min(row) as first from joined{at} where hit is not null group by hit having count(*) > 1"
            )
            self.made.run(
                f"insert into again select distinct row, first from joined{at} join ({several}) using (hit) "
                "where row <> first and row not in (select row from again)"
            )
        if self._one("select count(*) from joined0 where hit is null"):
            names = ", ".join(self.asked.key.names)
            self.made.run(
                f"insert into again select row, first from (select row, min(row) over (partition by {names}) as first "
                "from key where row in (select row from joined0 where hit is null)) "
                "where row <> first and row not in (select row from again)",
                key=self.asked.key.batches(with_content=False),
            )
        n = self._one("select count(*) from again")
        if not n:
            return 0
        words = ClassKey.conflict if self.asked.layout.classes else Key.conflict
        of_row = "(select distinct row, truth from joined0)"
        self._refuse(
            self.asked.key,
            words,
            f"select first, row as other from again join {of_row} one using (row) join {of_row} two on two.row = first "
            "where one.truth <> two.truth",
        )
        self._refuse_copies(self.asked.key, "select first, row as other from again")
        for at in range(len(self.tables)):
            self.made.run(f"delete from joined{at} where row in (select row from again)")
        return n

    def _copies_of_scores(self, at: int) -> int:
        """Leave out copies of scores of trials of the key, and return their number."""
        several = f"(select row, min(hit) as first from joined{at} group by row having count(*) > 1)"
        surplus = f"from joined{at} one join {several} using (row) where hit <> first"
        n = self._one(f"select count(*) {surplus}")
        if not n:  # copies were of trials that the key has twice
            return 0
        rows = self.tables[at]
        place, classes = 0, bool(self.asked.layout.classes)
        for columns in self.asked.systems_of(at):
            own = [f"score{place + k}" for k in range(len(columns))]
            place += len(own)
            differs = " or ".join(f"one.{name} <> two.{name} or isnan(one.{name})" for name in own)
            self._refuse(
                rows,
                ClassScores.conflict if classes else Scores.conflict,
                f"select first, one.hit as other from joined{at} one join {several} using (row) join joined{at} two on "
                f"two.row = one.row and two.hit = first where one.hit <> first and ({differs})",
            )
        self._refuse_copies(rows, f"select first, hit as other {surplus}")
        self.made.run(f"delete from joined{at} where (row, hit) in (select (row, hit) {surplus})")
        return n

    def _refuse(self, rows: NamedRows, conflict: str, query: str) -> None:
        """Refuse copies that differ: the rows of the query, as ``first`` and ``other``."""
        for trials, n_trials in self._first_of(rows, query):
            raise conflict_of(trials, (0, 1), conflict, n_trials)

    def _refuse_copies(self, rows: NamedRows, query: str) -> None:
        """Refuse copies, unless one of each may stay."""
        for trials, n_trials in self._first_of(rows, query) if self.asked.how.duplicates == "error" else ():
            raise copies_of(trials, (0, 1), n_trials)

    def _first_of(self, rows: NamedRows, query: str) -> Iterator[tuple[Trials, int]]:
        """Yield the first trial with a copy, in its two rows, and how many such trials there are; nothing without."""
        found = self.made.run(
            f"select first, other, (select count(distinct first) from ({query})) from ({query}) order by other limit 1"
        )
        yield from ((rows.trials([first, other]), n_trials) for first, other, n_trials in found)

    def _require_labels(self, at: int) -> None:
        """Refuse labels beside scores that contradict those of the key."""
        if self.asked.labels_of(at) is None:
            return
        query = f"from joined{at} where label <> truth"
        for (row,) in self.made.run(f"select hit {query} order by hit limit 1"):
            n_known, n = (self._one(f"select count(distinct hit) {of}") for of in (f"from joined{at}", query))
            raise other_label(self.tables[at].trials([row]), 0, self.asked.truth.table.name, n, n_known)

    def _require_met(self, report: JoinReport) -> None:
        """Refuse what the policies do not allow.

        Raises
        ------
        KeyMismatchError
        """
        how, key = self.asked.how, self.asked.truth.table.name
        if how.incomplete or not report.missing:  # what lacks which scores is looked at by whoever asked for these
            return
        if not report.matched and isinstance(how.missing, str):
            raise KeyMismatchError(none_shared(", ".join(one.table.name for one in self.asked.scores), key))
        if how.missing == "error":
            lacking = [f"select row, {at} as of from joined{at} where hit is null" for at in range(len(self.tables))]
            ((row, at),) = self.made.run(f"{' union all '.join(lacking)} order by row, of limit 1")
            name, counts = self.asked.scores[at].table.name, (report.missing, report.matched + report.missing)
            words = some_missing(name, self.asked.key.trials([row]), [0], counts, "key trials")
            raise MissingScoresError(f"{words}.")

    def write(self, target: Any) -> list[int]:
        """Write the scores of trials that are left, a row group for each piece of the key that has any: those."""
        found = list[int]()
        names = [name for at in range(len(self.tables)) for one in self.asked.systems_of(at) for name in one]
        with TableWriter(target, self.asked.name) as writer:
            for at, table in self._by_piece():
                start = self.asked.key.starts[at]
                rows = of_numpy((to_numpy(table.column(0)) - start).astype(np.int32))
                writer.write(pa.table([rows, *table.columns[1:]], [ROW, *names]), self.asked.truth.table.rows[at].name)
                found.append(at)
        return found

    def _by_piece(self) -> Iterator[tuple[int, pa.Table]]:
        """What was joined, in the order of the key, cut into its pieces."""
        ends, at, held = self.asked.key.starts[1:], 0, list[pa.RecordBatch]()
        for batch in self.made.batches(self._wanted(), _BATCH):
            left = batch
            while len(left):
                cut = int(np.searchsorted(to_numpy(left.column(0)), ends[at]))
                if cut:
                    held.append(left.slice(0, cut))
                left = left.slice(cut)
                if len(left):
                    if held:
                        yield at, pa.Table.from_batches(held)
                    at, held = at + 1, []
        if held:
            yield at, pa.Table.from_batches(held)

    def _wanted(self) -> str:
        """The query for the scores of trials that are left."""
        how, tables = self.asked.how, range(len(self.tables))
        fill = math.nan if how.incomplete else 0.0 if isinstance(how.missing, str) else float(how.missing)
        columns = ["joined0.row", *(self._filled(at, k, fill) for at in tables for k in range(self._n_scores(at)))]
        more = " ".join(f"join joined{at} using (row)" for at in tables[1:])
        is_drop = how.missing == "drop" and not how.incomplete
        there = " and ".join(f"joined{at}.hit is not null" for at in tables) if is_drop else "true"
        return f"select {', '.join(columns)} from joined0 {more} where {there} order by joined0.row"

    def _n_scores(self, at: int) -> int:
        return sum(map(len, self.asked.systems_of(at)))

    def _filled(self, at: int, k: int, fill: float) -> str:
        """A column of scores, with a score for trials that have none; float32 stays where it can hold that."""
        name = f"joined{at}.score{k}"
        with np.errstate(over="ignore"):
            fits = math.isnan(fill) or float(np.float32(fill)) == fill
        if fits or not self._one(f"select count(*) from joined{at} where hit is null"):
            return f"coalesce({name}, '{fill!r}') as s{at}_{k}" if fits else f"{name} as s{at}_{k}"
        return f"coalesce({name}::double, '{fill!r}'::double) as s{at}_{k}"


def _no_trials(roles: Roles) -> Trials:
    """No trials, but identified as those of a table."""
    origin = Origin(roles.table.name)
    if not roles.sides:
        return Trials.of_rows(0, origin=origin)
    return Trials.of({side: pa.nulls(0, pa.string()) for side in roles.sides}, origin=origin)
