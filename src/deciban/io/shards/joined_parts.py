"""A part of several tables, with all rows of equal names: joined as tables in memory are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban._arrow import of_numpy, to_numpy
from deciban.errors import FormatError, TrialError
from deciban.io.columns.headers import Vocabulary
from deciban.io.contents import RowError
from deciban.io.shards.how import HowToRead
from deciban.io.shards.layout import Layout
from deciban.io.shards.meaning import Roles
from deciban.io.shards.partitions import ROW, Sorting
from deciban.io.shards.truth import LabelColumn, OfTwoFiles, Truth, plain
from deciban.trials import ClassKey, ClassScores, Key, Origin, Scores, Trials
from deciban.trials.joining.join import refuse_conflicts
from deciban.trials.joining.lookup import Wanted
from deciban.trials.joining.matching import JoinReport, match, picked
from deciban.trials.joining.renaming import Renaming
from deciban.trials.origins import Taken
from deciban.types import AnyArray

Missing = tuple[int, str, str]
"""Row in the key, the trial in words, and whose score it lacks."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How trials met in parts that were joined.

    Attributes
    ----------
    report : JoinReport
    first_missing : tuple of int, str and str, optional
        Row in the key, the trial in words, and whose score it lacks.
    first_copy : str
        A trial that occurs more than once, in words.

    Examples
    --------
    >>> one, other = Tally(JoinReport(3, 1, 0, 0), (7, "a (row 7)", "s")), Tally(JoinReport(2, 1, 0, 0), (4, "b", "s"))
    >>> (one + other).report.matched, (one + other).first_missing
    (5, (4, 'b', 's'))
    """

    report: JoinReport = field(default_factory=lambda: JoinReport(0, 0, 0, 0))
    first_missing: Missing | None = None
    first_copy: str = ""

    def __add__(self, other: Tally) -> Tally:
        """Both parts together."""
        one, two = self.report, other.report
        counts = {name: n + two.to_dict()[name] for name, n in one.to_dict().items()}
        report = JoinReport(**counts, copies=_sums(one.copies, two.copies), renamed=_sums(one.renamed, two.renamed))
        first = min((found for found in (self.first_missing, other.first_missing) if found is not None), default=None)
        return Tally(report, first, self.first_copy or other.first_copy)


def _sums(one: tuple[tuple[str, int], ...], other: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
    if not one or not other:
        return one or other
    return tuple((name, n + more) for (name, n), (_, more) in zip(one, other, strict=True))


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
    def n_rows(self) -> int:
        """Rows of all tables."""
        return sum(one.table.n_rows for one in (*self.scores, self.truth))

    @property
    def key_columns(self) -> list[str]:
        """What of the key is needed afterwards, besides its names."""
        layout = self.layout
        found = [*layout.truth.columns, *([layout.weights] if layout.weights else [])]
        found += [*(layout.units.columns if layout.units is not None else ()), *layout.named.values()]
        found += [*(layout.groups or ()), *layout.conditions.values()]
        found += layout.sides.values()  # of which quality measures may be asked
        return list(dict.fromkeys(found))

    def systems_of(self, at: int) -> list[tuple[str, ...]]:
        """The columns of each system of a table, as they are called afterwards."""
        return [columns for columns in self.layout.scores if columns[0] in self.columns[at]]

    def labels_beside(self) -> list[Truth | None]:
        """The labels beside scores, which must not contradict those of the key."""
        return [self._labels_of(roles) for roles in self.scores]

    def _labels_of(self, roles: Roles) -> Truth | None:
        if roles.table is self.truth.table or self.layout.classes:
            return None
        column, vocabulary = roles.column("label"), Vocabulary.of(None if roles.table.told else self.how.labels)
        label = None if column is None else LabelColumn(column, vocabulary).settled(roles.table.rows)
        return label if roles.table.target is None else OfTwoFiles(roles.table.target, label)

    def sortings(self, labels: Sequence[Truth | None], n_parts: int) -> list[Sorting]:
        """How the tables of scores and, last, the key are sorted into parts."""
        found = list[Sorting]()
        for roles, named, label in zip(self.scores, self.columns, labels, strict=False):
            columns = (*named.values(), *(label.columns if label else ()))
            found.append(Sorting(roles, columns, n_parts, renaming=self.how.ids))
        about: Any = {"where": self.layout.where, "renaming": self.how.ids, "is_key": True}
        return [*found, Sorting(self.truth, tuple(self.key_columns), n_parts, **about)]

    def alone(self) -> Question:
        """The same without what cannot be sent to another process."""
        tables = {id(one.table): replace(one.table, kept=None, paths=()) for one in (*self.scores, self.truth)}
        *scores, truth = (replace(one, table=tables[id(one.table)]) for one in (*self.scores, self.truth))
        return replace(self, scores=scores, truth=truth, how=replace(self.how, join=None))


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A part of all tables, with all rows of equal names.

    Attributes
    ----------
    asked : Question
    key : pyarrow.Table
    tables : sequence of pyarrow.Table
        Of scores.
    """

    asked: Question
    key: pa.Table
    tables: Sequence[pa.Table]

    def joined(self, labels: Sequence[Truth | None]) -> tuple[pa.Table, Tally]:
        """The key of this part with the scores of its trials, and how they met.

        Parameters
        ----------
        labels : sequence of Truth or None
            Of each table of scores, as `Question.labels_beside` finds them.

        Raises
        ------
        KeyMismatchError, FormatError
            If trials are conflicting, or something cannot stand where it stands.
        """
        whole, ids = self._key(), self.asked.how.ids
        systems = [one for at in range(len(self.tables)) for one in self._systems(at)]
        found = match(systems, whole, 0.0, "keep-one", ids=ids)
        key, kept, first = found.key, np.ones(len(found.key), np.bool_), None
        for system, rows in zip(systems, found.rows, strict=True):
            if rows is not None and (rows < 0).any():
                missing = self._missing(key.trials, int(np.argmax(rows < 0)), system)
                first = missing if first is None or missing < first else first
                kept &= rows >= 0
        for at, label in enumerate(labels):
            if label is not None:
                refuse_conflicts(self._labels(at, label), key, ids=ids)
        how = self.asked.how
        chosen = np.flatnonzero(kept) if how.missing == "drop" and not how.incomplete else np.arange(len(kept))
        place = np.arange(len(whole)) if key is whole else _rows_taken(key.trials)
        columns = {name: self.key.column(name).take(of_numpy(place[chosen])) for name in self.asked.key_columns}
        tally = Tally(found.report, first, _copy_in_words(found.report, [whole, *systems], ids))
        return pa.table(columns | self._scores(systems, found.rows, chosen)), tally

    def _scores(
        self, systems: Sequence[Any], rows: Sequence[AnyArray | None], chosen: AnyArray
    ) -> dict[str, pa.ChunkedArray]:
        """The columns of scores of trials that are left."""
        how = self.asked.how
        fill = math.nan if how.incomplete else 0.0 if isinstance(how.missing, str) else how.missing
        names = [name for at in range(len(self.tables)) for name in self.asked.systems_of(at)]
        columns: dict[str, Any] = {}
        for system, found, own in zip(systems, rows, names, strict=True):
            score = picked(system.score, found, fill)[chosen]
            matrix = score if score.ndim == 2 else score[:, None]
            columns |= {name: of_numpy(np.ascontiguousarray(matrix[:, k])) for k, name in enumerate(own)}
        return columns

    def _key(self) -> Any:
        truth, layout = self.asked.truth, self.asked.layout
        trials = trials_of(self.key, truth)
        with _placed(truth, self.key):
            found = layout.truth.of(self.key)
        return ClassKey(trials, layout.classes, found) if layout.classes else Key(trials, found)

    def _systems(self, at: int) -> list[Any]:
        """The systems of one table."""
        roles, table, layout = self.asked.scores[at], self.tables[at], self.asked.layout
        trials, names = trials_of(table, roles), self.asked.systems_of(at)
        before = tuple(tuple(self.asked.columns[at][name] for name in columns) for columns in names)
        own, found = replace(layout, scores=before, ratios=roles.ratios), list[Any]()
        for k, columns in enumerate(names):
            with _placed(roles, table):
                values = own.raw_scores(table, k)
                if layout.converted is not None:  # before scores are filled in, which are logarithms
                    values = layout.converted(values, layout.classes)
            if layout.classes:
                found.append(ClassScores(trials, layout.classes, values, columns[0]))
            else:
                found.append(Scores(trials, values, columns[0]))
        return found

    def _labels(self, at: int, label: Truth) -> Key:
        roles, table = self.asked.scores[at], self.tables[at]
        with _placed(roles, table):
            return Key(trials_of(table, roles), label.of(table))

    def _missing(self, trials: Trials, at: int, system: Any) -> Missing:
        """The first trial of the key that lacks a score."""
        row = int(self.key.column(ROW)[int(_rows_taken(trials)[at]) if len(trials) < len(self.key) else at].as_py())
        return row, f"{trials.name_of(at)} ({trials.origin.where(at)})", system.trials.origin.name


def _copy_in_words(report: JoinReport, tables: Sequence[Any], ids: Renaming | None) -> str:
    """The first trial that occurs more than once, if one does."""
    for at, ((_, n_copies), table) in enumerate(zip(report.copies, tables, strict=True)):
        if n_copies:
            trials = table.trials
            compared = trials if ids is None else (ids.of_scores if at else ids.of_key)(trials).trials
            one, other = (int(row) for row in Wanted(compared).surplus[:, 0])
            return f"{trials.origin.where(one)} and {trials.origin.where(other)}: trial {trials.name_of(one)}"
    return ""


def _rows_taken(trials: Trials) -> AnyArray:
    """Which rows of a part are left when surplus copies were left out."""
    place = trials.origin.place
    assert isinstance(place, Taken)  # noqa: S101  # they were taken out of the part
    return place.rows


def trials_of(table: pa.Table, roles: Roles) -> Trials:
    """The trials of a part of a table, placed in the whole."""
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
    except TrialError as error:
        place = roles.table.where(table.column(ROW)[error.index].as_py())
        raise FormatError(f"{place}: {error.before}here{error.after}") from error
