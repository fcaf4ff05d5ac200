"""Joins by name of tables that do not fit in memory: rows with equal names meet in one part, and parts do fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from deciban._arrow import of_numpy, to_numpy
from deciban.errors import KeyMismatchError, MissingScoresError
from deciban.io.contents import RowError
from deciban.io.library_errors import only_format_errors
from deciban.io.shards.files import TableFile, open_files
from deciban.io.shards.how import HowToRead
from deciban.io.shards.layout import Layout
from deciban.io.shards.meaning import Roles
from deciban.io.shards.partitions import ROW, Partitions, partition
from deciban.io.shards.rows import Rows
from deciban.io.shards.spilling import Folder, write_batches
from deciban.io.shards.truth import LabelColumn, plain
from deciban.steps import teller
from deciban.trials import ClassKey, ClassScores, Key, Origin, Scores, Trials
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
    kept : Folder
    """

    rows: tuple[Rows, ...]
    report: JoinReport
    is_double: frozenset[str]
    kept: Folder


@dataclass(slots=True)
class Tally:
    """How trials met in the parts that were joined."""

    report: JoinReport = field(default_factory=lambda: JoinReport(0, 0, 0, 0))
    first_missing: tuple[int, str, str] | None = None
    first_copy: tuple[int, str] | None = None

    def add(self, report: JoinReport) -> None:
        """Add the counts of a part."""
        own = self.report
        copies = tuple(
            (name, n + more) for (name, n), (_, more) in zip(own.copies or report.copies, report.copies, strict=True)
        )
        self.report = JoinReport(
            own.matched + report.matched,
            own.missing + report.missing,
            own.extra + report.extra,
            own.duplicate + report.duplicate,
            copies if own.copies else report.copies,
        )


def joined_by_name(
    scores: Sequence[Roles], truth: Roles, columns: Sequence[Mapping[str, str]], layout: Layout, how: HowToRead
) -> Joined:
    """Join tables by the names of their trials.

    Parameters
    ----------
    scores : sequence of Roles
    truth : Roles
        Of the key, or the first of scores once more.
    columns : sequence of mapping of str to str
        What columns are called afterwards and before, of each table; the key last.
    layout : Layout
        Where everything stands afterwards.
    how : HowToRead

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
    for roles in scores:
        require_same_sides(_trials_of_sides(roles), _trials_of_sides(truth))
        if not roles.sides:
            raise KeyMismatchError(
                f"{roles.table.name} and {truth.table.name}: trials have no names, and can only be matched by their "
                "order: by_order=True (--by-order)."
            )
    folder, tally = Folder(), Tally()
    with folder.or_nothing() as path:
        n_parts = how.n_parts(sum(one.table.n_rows for one in (*scores, truth)))
        wanted = _key_columns(truth, columns[-1], layout)
        parts = [partition(truth, wanted, n_parts, path / "key", chosen=layout.where)]
        for at, (roles, named) in enumerate(zip(scores, columns[:-1], strict=True)):
            labels = [label] if (label := _labels_beside(roles, truth)) is not None else []
            parts.append(partition(roles, [*named.values(), *labels], n_parts, path / f"scores{at}"))
        files = list(_joined_parts(path, parts, scores, truth, columns, layout, how, tally))
        _require_met(tally, scores, truth, how)
        if not files:
            raise KeyMismatchError(f"{truth.table.name}: no trial is left, and nothing to evaluate.")
        table = open_files(path, [TableFile(file) for file in files], how.options())
        return Joined(table.rows, tally.report, table.is_double, folder)


def _trials_of_sides(roles: Roles) -> Trials:
    """No trials, but identified as those of a table."""
    origin = Origin(roles.table.name)
    if not roles.sides:
        return Trials.of_rows(0, origin=origin)
    return Trials.of({side: pa.array([], pa.string()) for side in roles.sides}, origin=origin)


def _key_columns(truth: Roles, named: Mapping[str, str], layout: Layout) -> list[str]:
    """What of the key is needed afterwards."""
    found = [*layout.truth.columns, *([layout.weights] if layout.weights else [])]
    found += layout.units.columns if layout.units is not None else ()
    return [name for name in dict.fromkeys([*truth.sides.values(), *found]) if name in named]


def _labels_beside(roles: Roles, truth: Roles) -> str | None:
    """The column of labels beside scores, which must not contradict those of the key."""
    return None if roles.table is truth.table else roles.column("label")


def _joined_parts(
    path: Path,
    parts: Sequence[Partitions],
    scores: Sequence[Roles],
    truth: Roles,
    columns: Sequence[Mapping[str, str]],
    layout: Layout,
    how: HowToRead,
    tally: Tally,
) -> Iterator[Path]:
    """Join part after part, each of which is removed when it is done."""
    tell = teller(len(parts[0].files), "rows")
    beside = [
        None
        if (label := _labels_beside(roles, truth)) is None
        else LabelColumn(label, how.options().vocabulary).settled(roles.table.rows)
        for roles in scores
    ]
    for at in range(len(parts[0].files)):
        key = parts[0].read(at)
        tables = [one.read(at) for one in parts[1:]]
        for one in parts:
            one.files[at].unlink()
        made = _Part(key, tables, scores, truth, columns, layout, how).joined(beside, tally)
        if made is not None and len(made):
            target = path / f"joined{at:04d}.parquet"
            write_batches(target, made.schema, [made])
            yield target
        tell(at + 1)


@dataclass(frozen=True, eq=False)
class _Part:
    """A part of all tables, with all rows of equal names."""

    key: pa.Table
    tables: Sequence[pa.Table]
    scores: Sequence[Roles]
    truth: Roles
    columns: Sequence[Mapping[str, str]]
    layout: Layout
    how: HowToRead

    def joined(self, beside: Sequence[LabelColumn | None], tally: Tally) -> pa.Table | None:
        """The key of this part with the scores of its trials; None if it has no trial."""
        key = self._key_of()
        systems = [one for at in range(len(self.tables)) for one in self._systems(at, len(key.trials.sides))]
        found = match(systems, key, 0.0, "keep-one")
        tally.add(found.report)
        self._note(tally, found.rows, found.key, key, systems)
        if not len(key):
            return None
        for at, column in enumerate(beside):
            self._refuse_contradiction(at, column, found.key)
        kept = np.asarray(np.flatnonzero(np.ones(len(found.key), np.bool_)))
        lacking = np.logical_or.reduce(
            [np.zeros(len(found.key), np.bool_), *(one < 0 for one in found.rows if one is not None)]
        )
        if self.how.missing == "drop":
            kept = np.flatnonzero(~lacking)
        return self._written(found.key, found.rows, systems, key, kept)

    def _key_of(self) -> Any:
        trials = _trials(self.key, self.truth)
        with _placed(self.truth.table.name, self.key):
            truth = self.layout.truth.of(self.key)
        if self.layout.classes:
            return ClassKey(trials, self.layout.classes, truth)
        return Key(trials, truth)

    def _systems(self, at: int, _n_sides: int) -> list[Any]:
        """The systems of one table."""
        roles, table = self.scores[at], self.tables[at]
        trials, named = _trials(table, roles), self.columns[at]
        own = [columns for columns in self.layout.scores if columns[0] in named]
        plain_layout = Layout(
            scores=tuple(tuple(named[name] for name in columns) for columns in own),
            truth=self.layout.truth,
            classes=self.layout.classes,
        )
        found: list[Any] = []
        for k, columns in enumerate(own):
            with _placed(roles.table.name, table):
                values = plain_layout.raw_scores(table, k)
            made = (
                ClassScores(trials, self.layout.classes, values, columns[0])
                if self.layout.classes
                else Scores(trials, values, columns[0])
            )
            found.append(made)
        return found

    def _note(self, tally: Tally, rows: Sequence[AnyArray | None], kept: Any, key: Any, systems: Sequence[Any]) -> None:
        """Remember the first trial that is missing, and the first that is there twice."""
        for system, found in zip(systems, rows, strict=True):
            if found is not None and (found < 0).any():
                at = int(np.argmax(found < 0))
                row = _row_of(kept.trials, at)
                if tally.first_missing is None or row < tally.first_missing[0]:
                    words = f"{kept.trials.name_of(at)} ({kept.trials.origin.where(at)})"
                    tally.first_missing = row, words, system.trials.origin.name
        for name, n_copies in tally.report.copies:
            if n_copies and tally.first_copy is None:
                tally.first_copy = 0, name
        del key

    def _refuse_contradiction(self, at: int, column: LabelColumn | None, key: Any) -> None:
        if column is None:
            return
        from deciban.trials.joining.join import refuse_conflicts

        table, roles = self.tables[at], self.scores[at]
        with _placed(roles.table.name, table):
            labels = Key(_trials(table, roles), column.of(table))
        refuse_conflicts(labels, key)

    def _written(
        self, key: Any, rows: Sequence[AnyArray | None], systems: Sequence[Any], whole: Any, kept: AnyArray
    ) -> pa.Table:
        """The rows of the part as they are read afterwards."""
        first = _rows_in(key.trials, whole.trials)
        place = (np.arange(len(self.key)) if first is None else first)[kept]
        columns = {name: self.key.column(name).take(of_numpy(place)) for name in self.key.column_names if name != ROW}
        names = [name for at in range(len(self.tables)) for name in self.layout.scores if name[0] in self.columns[at]]
        for system, found, own in zip(systems, rows, names, strict=True):
            score = picked(system.score, found, 0.0 if isinstance(self.how.missing, str) else self.how.missing)[kept]
            if self.layout.classes:
                columns |= {name: of_numpy(np.ascontiguousarray(score[:, k])) for k, name in enumerate(own)}
            else:
                columns[own[0]] = of_numpy(score)
        return pa.table(columns)


def _rows_in(trials: Trials, whole: Trials) -> AnyArray | None:
    """Which rows of a part are left when surplus copies were left out."""
    if trials is whole:
        return None
    place = trials.origin.place
    assert isinstance(place, Taken)  # noqa: S101  # they were taken out of the part
    return place.rows


def _row_of(trials: Trials, at: int) -> int:
    """The row in the table of a trial of a part."""
    place: Any = trials.origin.place
    while isinstance(place, Taken):
        at, place = int(place.rows[at]), place.origin.place
    return at


def _trials(table: pa.Table, roles: Roles) -> Trials:
    names = {side: plain(table.column(name)).combine_chunks() for side, name in roles.sides.items()}
    origin = Origin(roles.table.name).taken(to_numpy(table.column(ROW)))
    return Trials.of({side: _text(column) for side, column in names.items()}, origin=origin)


def _text(column: pa.Array) -> pa.Array:
    """Names as text; whole numbers become the digits they are."""
    return column.cast(pa.string()) if pa.types.is_integer(column.type) else column


class _placed:  # noqa: N801  # used as a context
    """Tells the row in the table of what is wrong in a part of it."""

    def __init__(self, name: str, table: pa.Table) -> None:
        self.name, self.table = name, table

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, _trace: Any) -> None:
        if isinstance(error, RowError):
            row = None if error.row is None else int(self.table.column(ROW)[error.row].as_py())
            with only_format_errors(self.name, "a table"):
                raise RowError(str(error), row) from error


def _require_met(tally: Tally, scores: Sequence[Roles], truth: Roles, how: HowToRead) -> None:
    """Refuse what the policies do not allow, by the counts of all parts.

    Raises
    ------
    KeyMismatchError
    """
    report, key = tally.report, truth.table.name
    if report.duplicate and how.duplicates == "error":
        copies = ", ".join(f"{n:,} in {name}" for name, n in dict(report.copies).items() if n)
        raise KeyMismatchError(
            f'trials occur more than once: {copies}. Remove the copies, or pass duplicates="keep-one" (--duplicates '
            "keep-one) if they say the same."
        )
    n_key = report.matched + report.missing
    if report.missing and not report.matched and isinstance(how.missing, str):
        names = ", ".join(one.table.name for one in scores)
        raise KeyMismatchError(
            f"{names} and {key} share no trial. Check that both belong to one evaluation, and name the columns if they "
            "were taken wrongly."
        )
    if report.missing and how.missing == "error":
        assert tally.first_missing is not None  # noqa: S101  # some are missing
        _, words, name = tally.first_missing
        raise MissingScoresError(
            f"{report.missing:,} of {n_key:,} key trials have no score in {name}, the first {words}. Pass "
            'missing="drop" (--missing drop) to leave them out, or a score to fill in (--missing fill=VALUE).'
        )
