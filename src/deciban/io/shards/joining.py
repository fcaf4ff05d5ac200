"""Joins by name of tables that do not fit in memory: rows with equal names meet in one part, and parts do fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban._arrow import of_numpy, to_numpy
from deciban.errors import KeyMismatchError, MissingScoresError
from deciban.io.atomic import ScratchFolder
from deciban.io.columns.headers import Vocabulary
from deciban.io.contents import RowError
from deciban.io.shards.files import TableFile, open_files
from deciban.io.shards.how import HowToRead
from deciban.io.shards.layout import Layout
from deciban.io.shards.meaning import Roles
from deciban.io.shards.partitions import ROW, partition
from deciban.io.shards.rows import Rows
from deciban.io.shards.spilling import write_batches
from deciban.io.shards.truth import LabelColumn, plain
from deciban.trials import ClassKey, ClassScores, Key, Origin, Scores, Trials
from deciban.trials.joining.join import refuse_conflicts
from deciban.trials.joining.lookup import Wanted
from deciban.trials.joining.matching import JoinReport, match, picked, require_same_sides
from deciban.trials.origins import Taken
from deciban.types import AnyArray


@dataclass(frozen=True, eq=False)
class Joined:
    """Trials of a key with their scores, in a temporary folder.

    Attributes
    ----------
    rows : tuple of Rows
    report : JoinReport
    is_double : frozenset of str
        Columns of scores that are float64.
    kept : ScratchFolder
    """

    rows: tuple[Rows, ...]
    report: JoinReport
    is_double: frozenset[str]
    kept: ScratchFolder


@dataclass(slots=True)
class _Tally:
    """How trials met in the parts that were joined so far."""

    report: JoinReport = field(default_factory=lambda: JoinReport(0, 0, 0, 0))
    first_missing: tuple[int, str, str] | None = None
    """Row in the key, the trial in words, and whose score it lacks."""
    first_copy: str = ""
    """A trial that occurs more than once, in words."""

    def add(self, report: JoinReport) -> None:
        """Add the counts of a part."""
        own = self.report
        before = own.copies or tuple((name, 0) for name, _ in report.copies)
        copies = tuple((name, n + more) for (name, n), (_, more) in zip(before, report.copies, strict=True))
        matched, missing = own.matched + report.matched, own.missing + report.missing
        self.report = JoinReport(matched, missing, own.extra + report.extra, own.duplicate + report.duplicate, copies)


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """What is joined.

    Attributes
    ----------
    scores : sequence of Roles
    truth : Roles
        Of the key, or the first of scores once more.
    columns : sequence of mapping of str to str
        What columns are called afterwards and before, of each table; the key last.
    layout : Layout
        Where everything stands afterwards.
    how : HowToRead
    """

    scores: Sequence[Roles]
    truth: Roles
    columns: Sequence[Mapping[str, str]]
    layout: Layout
    how: HowToRead

    @property
    def key_columns(self) -> list[str]:
        """What of the key is needed afterwards, besides its names."""
        layout = self.layout
        found = [*layout.truth.columns, *([layout.weights] if layout.weights else [])]
        found += [*(layout.units.columns if layout.units is not None else ()), *layout.named.values()]
        return list(dict.fromkeys(found))

    def systems_of(self, at: int) -> list[tuple[str, ...]]:
        """The columns of each system of a table, as they are called afterwards."""
        return [columns for columns in self.layout.scores if columns[0] in self.columns[at]]

    def labels_beside(self) -> list[LabelColumn | None]:
        """The labels beside scores, which must not contradict those of the key."""
        found: list[LabelColumn | None] = []
        for roles in self.scores:
            column = None if roles.table is self.truth.table or self.layout.classes else roles.column("label")
            vocabulary = Vocabulary.of(None if roles.table.told else self.how.labels)
            label = None if column is None else LabelColumn(column, vocabulary).settled(roles.table.rows)
            found.append(label)
        return found


def joined_by_name(asked: Question) -> Joined:
    """Join tables by the names of their trials.

    Rows are sorted into parts by the fingerprints of their names, so that equal names are in the same one; each part
    is joined as tables in memory are.

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
    OSError
        If there is no room for the temporary files.
    """
    for roles in asked.scores:
        require_same_sides(_no_trials(roles), _no_trials(asked.truth))
        if not roles.sides:
            raise KeyMismatchError(
                f"{roles.table.name} and {asked.truth.table.name}: trials have no names, and can only be matched by "
                "their order: by_order=True (--by-order)."
            )
    folder, tally = ScratchFolder(), _Tally()
    with folder.or_nothing() as path:
        files = list(_joined_parts(asked, path, tally))
        _require_met(asked, tally)
        if not files:
            raise KeyMismatchError(f"{asked.truth.table.name}: no trial is left, and nothing to evaluate.")
        table = open_files(path, [TableFile(file) for file in files], asked.how.options(), are_ours=True)
        called = f"{asked.truth.table.name}, joined with {', '.join(one.table.name for one in asked.scores)}"
        rows = tuple(
            replace(one, name=f"{called}, part {at + 1} of {len(table.rows)}")  # type: ignore[type-var]
            for at, one in enumerate(table.rows)
        )
        return Joined(rows, tally.report, table.is_double, folder)


def _no_trials(roles: Roles) -> Trials:
    """No trials, but identified as those of a table."""
    origin = Origin(roles.table.name)
    if not roles.sides:
        return Trials.of_rows(0, origin=origin)
    return Trials.of({side: pa.array([], pa.string()) for side in roles.sides}, origin=origin)


def _joined_parts(asked: Question, path: Path, tally: _Tally) -> Iterator[Path]:
    """Join part after part, each of which is removed when it is done."""
    n_parts = asked.how.n_parts(sum(one.table.n_rows for one in (*asked.scores, asked.truth)))
    labels = asked.labels_beside()
    key = partition(asked.truth, asked.key_columns, n_parts, path / "key", asked.how.memory, chosen=asked.layout.where)
    others = [
        partition(
            roles, [*named.values(), *(label.columns if label else ())], n_parts, path / f"scores{at}", asked.how.memory
        )
        for at, (roles, named, label) in enumerate(zip(asked.scores, asked.columns, labels, strict=False))
    ]
    for at in range(n_parts):
        part = _Part(asked, key.taken(at), [one.taken(at) for one in others])
        made = part.joined(labels, tally)
        if len(made):
            target = path / f"joined{at:04d}.parquet"
            write_batches(target, made.schema, [made])
            yield target


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """A part of all tables, with all rows of equal names."""

    asked: Question
    key: pa.Table
    tables: Sequence[pa.Table]

    def joined(self, labels: Sequence[LabelColumn | None], tally: _Tally) -> pa.Table:
        """The key of this part with the scores of its trials."""
        whole = self._key()
        systems = [one for at in range(len(self.tables)) for one in self._systems(at)]
        found = match(systems, whole, 0.0, "keep-one")
        tally.add(found.report)
        tally.first_copy = tally.first_copy or _copy_in_words(found.report, [whole, *systems])
        key, kept = found.key, np.ones(len(found.key), np.bool_)
        for system, rows in zip(systems, found.rows, strict=True):
            if rows is not None and (rows < 0).any():
                self._note(tally, key.trials, int(np.argmax(rows < 0)), system)
                kept &= rows >= 0
        for at, label in enumerate(labels):
            if label is not None:
                refuse_conflicts(self._labels(at, label), key)
        chosen = np.flatnonzero(kept) if self.asked.how.missing == "drop" else np.arange(len(kept))
        place = np.arange(len(whole)) if key is whole else _rows_taken(key.trials)
        columns = {name: self.key.column(name).take(of_numpy(place[chosen])) for name in self.asked.key_columns}
        return pa.table(columns | self._scores(systems, found.rows, chosen))

    def _scores(
        self, systems: Sequence[Any], rows: Sequence[AnyArray | None], chosen: AnyArray
    ) -> dict[str, pa.ChunkedArray]:
        """The columns of scores of trials that are left."""
        missing = self.asked.how.missing
        names = [name for at in range(len(self.tables)) for name in self.asked.systems_of(at)]
        columns: dict[str, Any] = {}
        for system, found, own in zip(systems, rows, names, strict=True):
            score = picked(system.score, found, 0.0 if isinstance(missing, str) else missing)[chosen]
            matrix = score if score.ndim == 2 else score[:, None]
            columns |= {name: of_numpy(np.ascontiguousarray(matrix[:, k])) for k, name in enumerate(own)}
        return columns

    def _key(self) -> Any:
        truth, layout = self.asked.truth, self.asked.layout
        trials = _trials(self.key, truth)
        with _placed(truth, self.key):
            found = layout.truth.of(self.key)
        return ClassKey(trials, layout.classes, found) if layout.classes else Key(trials, found)

    def _systems(self, at: int) -> list[Any]:
        """The systems of one table."""
        roles, table, layout = self.asked.scores[at], self.tables[at], self.asked.layout
        trials, names = _trials(table, roles), self.asked.systems_of(at)
        before = tuple(tuple(self.asked.columns[at][name] for name in columns) for columns in names)
        own, found = replace(layout, scores=before), list[Any]()
        for k, columns in enumerate(names):
            with _placed(roles, table):
                values = own.raw_scores(table, k)
            if layout.classes:
                found.append(ClassScores(trials, layout.classes, values, columns[0]))
            else:
                found.append(Scores(trials, values, columns[0]))
        return found

    def _labels(self, at: int, label: LabelColumn) -> Key:
        roles, table = self.asked.scores[at], self.tables[at]
        with _placed(roles, table):
            return Key(_trials(table, roles), label.of(table))

    def _note(self, tally: _Tally, trials: Trials, at: int, system: Any) -> None:
        """Remember the first trial of the key that lacks a score."""
        row = int(self.key.column(ROW)[int(_rows_taken(trials)[at]) if len(trials) < len(self.key) else at].as_py())
        if tally.first_missing is None or row < tally.first_missing[0]:
            words = f"{trials.name_of(at)} ({trials.origin.where(at)})"
            tally.first_missing = row, words, system.trials.origin.name


def _copy_in_words(report: JoinReport, tables: Sequence[Any]) -> str:
    """The first trial that occurs more than once, if one does."""
    for (_, n_copies), table in zip(report.copies, tables, strict=True):
        if n_copies:
            trials = table.trials
            one, other = (int(row) for row in Wanted(trials).surplus[:, 0])
            return f"{trials.origin.where(one)} and {trials.origin.where(other)}: trial {trials.name_of(one)}"
    return ""


def _rows_taken(trials: Trials) -> AnyArray:
    """Which rows of a part are left when surplus copies were left out."""
    place = trials.origin.place
    assert isinstance(place, Taken)  # noqa: S101  # they were taken out of the part
    return place.rows


def _trials(table: pa.Table, roles: Roles) -> Trials:
    names = {side: plain(table.column(name)).combine_chunks() for side, name in roles.sides.items()}
    names = {side: pc.cast(one, pa.string()) if pa.types.is_integer(one.type) else one for side, one in names.items()}
    origin = Origin(roles.table.name, place=roles.table.where)
    return Trials.of(names, origin=origin.taken(to_numpy(table.column(ROW))))


@contextmanager
def _placed(roles: Roles, table: pa.Table) -> Iterator[None]:
    """Tell the row in the table of what is wrong in a part of it."""
    try:
        yield
    except RowError as error:
        whole = roles.table
        place = whole.name if error.row is None else whole.where(table.column(ROW)[error.row].as_py())
        raise error.kind(f"{place}: {error}.") from error


def _require_met(asked: Question, tally: _Tally) -> None:
    """Refuse what the policies do not allow, by the counts of all parts.

    Raises
    ------
    KeyMismatchError
    """
    report, how, key = tally.report, asked.how, asked.truth.table.name
    if report.duplicate and how.duplicates == "error":
        copies = ", ".join(f"{n:,} in {name}" for name, n in dict(report.copies).items() if n)
        raise KeyMismatchError(
            f'{tally.first_copy} occurs more than once ({copies}). Remove the copies, or pass duplicates="keep-one" '
            "(--duplicates keep-one) if they say the same."
        )
    if report.missing and not report.matched and isinstance(how.missing, str):
        names = ", ".join(one.table.name for one in asked.scores)
        raise KeyMismatchError(
            f"{names} and {key} share no trial. Check that both belong to one evaluation, and name the columns if they "
            "were taken wrongly."
        )
    if report.missing and how.missing == "error":
        assert tally.first_missing is not None  # noqa: S101  # some are missing
        _, words, name = tally.first_missing
        raise MissingScoresError(
            f"{report.missing:,} of {report.matched + report.missing:,} key trials have no score in {name}, the first "
            f'{words}. Pass missing="drop" (--missing drop) to leave them out, or a score to fill in (--missing '
            "fill=VALUE)."
        )
