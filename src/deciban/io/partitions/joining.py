"""Joins by name of tables that do not fit in memory: subsets of the names are joined in memory, one after the other."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import accumulate
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from deciban._arrow import fingerprints, of_numpy, pc, to_numpy
from deciban._files import ScratchFolder
from deciban.core.resampling.units import Keys
from deciban.errors import InputError, KeyMismatchError, option, teller
from deciban.io.columns.columnar import Roles
from deciban.io.columns.values import Rows, RowTable, names_in, placed, plain, refuse_missing
from deciban.io.partitions.layout import RowLayout, TrialRows, Truth, rows_with
from deciban.io.partitions.meaning import BatchReading, labels_in
from deciban.memory import bytes_of_joined, bytes_of_row, rows_that_fit
from deciban.trials import ClassKey, ClassScores, Index, Key, Origin, Scores, Trials
from deciban.trials.joining import Renaming
from deciban.trials.joining.join import concatenate, contradictions, other_label
from deciban.trials.joining.matching import JoinReport, JoinTally, RefusedTrials, look_up, picked, require_same_sides
from deciban.trials.lists import ROW
from deciban.trials.tables import TrialTable
from deciban.trials.units import keys_of_trials
from deciban.types import AnyArray, BoolArray, IntArray

_MANY = 1 << 20
"""Smallest number of rows, of all tables, for which the lengths of names are measured."""

_BLOCK = 1 << 20
"""Number of rows of a temporary file that are written at once when it is created."""

_LISTED, _SCORED = 1, 2
"""Marks of trials of the key that were left out for lack of a score, and of trials with scores."""


@dataclass(frozen=True, slots=True, eq=False)
class JoinedTables:
    """Tables of scores and a key as one table.

    Attributes
    ----------
    rows : sequence of Rows
    layout : RowLayout
        The columns of the rows.
    is_double : bool
        True if scores are float64.
    report : JoinReport, optional
        Counts of the join by name.
    kept : object
        An object that must exist as long as the rows.
    of_key : tuple of TrialRows
        All rows of the key, without scores, if some were left out and speakers are found from target trials.
    """

    rows: Sequence[Rows]
    layout: RowLayout
    is_double: bool
    report: JoinReport | None = None
    kept: object = None
    of_key: tuple[TrialRows, ...] = ()


@dataclass(frozen=True, eq=False)
class NamedRows:
    """The rows of a table whose trials have names.

    Attributes
    ----------
    table : RowTable
    sides : mapping of str to str
        Columns with the names of trials, by side.
    columns : tuple of str
        Columns for ``content``.
    content : function
        Returns tables of some trials, given their columns.
    where : mapping of str to tuple of str
        Only rows with these values are used.
    ids : Renaming, optional
        Rules that change names before they are compared.
    is_key : bool
        True for the key, which an id map does not change.
    """

    table: RowTable
    sides: Mapping[str, str]
    columns: tuple[str, ...]
    content: Callable[[Trials, pa.Table], Sequence[TrialTable]]
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ids: Renaming | None = None
    is_key: bool = False

    def n_changed(self, ids: Renaming, n_parts: int) -> int:
        """Return the number of names that change for the comparison; raise if two names become equal."""
        renamed, n = ids.of_key if self.is_key else ids.of_scores, 0
        for side, name in self.sides.items():
            alone = replace(self, sides={"trial": name}, columns=(), content=lambda trials, _: [Index(trials)])
            for part in range(n_parts):
                (own,) = alone.part(part, n_parts)
                n += renamed(replace(own.trials, sides=(side,))).n_changed
        return n

    def part(self, part: int, n_parts: int) -> list[Any]:
        """Return tables of the trials of one of ``n_parts`` subsets of the names, in the order of their rows.

        Raises
        ------
        FormatError, OSError
            If something cannot be read, or a name is missing, with its place.
        """
        table, result, rows, first = self.table, list[Sequence[TrialTable]](), list[IntArray](), 0
        tell = teller(table.n_rows, "rows")
        for partition in table.rows:
            own = self._tables_of(partition, first, part, n_parts)
            if len(own[0]) or not result:
                result.append(own)
                rows.append(own[0].trials.origin.number(np.arange(len(own[0]))))
            first += partition.n_rows
            tell(first)
        origin = Origin(table.name, places=table.places).taken(np.concatenate(rows))
        tables: list[Any] = [concatenate(some) for some in zip(*result, strict=True)]
        trials = replace(tables[0].trials, origin=origin)
        return [replace(one, trials=trials) for one in tables]

    def _tables_of(self, partition: Rows, first: int, part: int, n_parts: int) -> Sequence[TrialTable]:
        """Return tables of the trials of a partition, whose first row has the index ``first``."""
        table = partition.table(list(dict.fromkeys([*self.sides.values(), *self.columns, *self.where])))
        names = {side: self._names(partition, table, name) for side, name in self.sides.items()}
        rows = np.flatnonzero(self._is_chosen(table, list(names.values()), part, n_parts))
        some, sides = of_numpy(rows), dict[str, pa.Array]()
        for side, name in self.sides.items():
            with placed(partition, [name], rows):
                codes, own = names_in(names[side].take(some), name, "names a side of trials")
            sides[side] = pa.DictionaryArray.from_arrays(of_numpy(codes), own)
        trials = Trials.of(sides, origin=Origin(self.table.name, places=self.table.places).taken(rows + first))
        with placed(partition, self.columns, rows):
            return self.content(trials, table.select(list(self.columns)).take(some))

    def _names(self, partition: Rows, table: pa.Table, name: str) -> pa.ChunkedArray:
        """Return the names of one side; raise if one is missing."""
        with placed(partition, [name]):
            names = plain(table.column(name))
            refuse_missing(names, name, "trial")
            return names

    def _is_chosen(self, table: pa.Table, names: Sequence[pa.ChunkedArray], part: int, n_parts: int) -> BoolArray:
        """Return a mask of the rows in a subset that have the values of ``where``."""
        mask: BoolArray = np.ones(len(table), np.bool_)
        if n_parts > 1:
            mask = keys_of_trials(list(map(self._prints, names))) % np.uint64(n_parts) == part
        for name, values in self.where.items():
            mask &= rows_with(table.column(name), values)
        return mask

    def _prints(self, column: pa.ChunkedArray) -> Keys:
        """Return a number for each name, as it is compared."""
        is_coded = pa.types.is_dictionary(column.type)
        array = (column.unify_dictionaries() if is_coded else column).combine_chunks()
        names = pc.cast(array.dictionary if is_coded else array, pa.string())
        names = names if self.ids is None else self.ids.compared(names, of_key=self.is_key)
        return fingerprints(names)[to_numpy(array.indices)] if is_coded else fingerprints(names)


@dataclass(frozen=True, eq=False)
class JoinRequest:
    """The tables of a join by name, and how to join them.

    Attributes
    ----------
    scores : sequence of Roles
    truth : Roles
        Roles of the key, or of the first table of scores again.
    columns : sequence of mapping of str to str
        For each table, new and old names of columns; the key is last.
    layout : RowLayout
        Columns of the joined table.
    how : BatchReading
    """

    scores: Sequence[Roles]
    truth: Roles
    columns: Sequence[Mapping[str, str]]
    layout: RowLayout
    how: BatchReading

    @cached_property
    def key(self) -> NamedRows:
        """The rows of the key, with its truth."""
        truth, classes, own = self.layout.truth, self.layout.classes, self.truth

        def content(trials: Trials, table: pa.Table) -> Sequence[TrialTable]:
            labels = truth.of(table)
            return [ClassKey(trials, classes, labels) if classes else Key(trials, labels)]

        where, ids = self.layout.where, self.how.ids
        return NamedRows(own.table, own.sides, truth.columns, content, where, ids, is_key=True)

    def systems_of(self, at: int) -> list[tuple[str, ...]]:
        """Return the columns of each system of a table, with their new names."""
        return [columns for columns in self.layout.scores if columns[0] in self.columns[at]]

    def table(self, at: int) -> NamedRows:
        """Return the rows of a table of scores: tables of its systems, and of labels besides scores."""
        roles, names, label = self.scores[at], self.systems_of(at), self.labels_of(at)
        before = tuple(tuple(self.columns[at][name] for name in columns) for columns in names)
        own, classes = replace(self.layout, scores=before, ratios=roles.ratios), self.layout.classes

        def content(trials: Trials, table: pa.Table) -> Sequence[TrialTable]:
            tables: list[TrialTable] = []
            for system in range(len(names)):
                values = own.raw_scores(table, system)
                if own.converted is not None:  # before fill values, which are logarithms
                    values = own.converted(values, classes)
                if not roles.table.is_double.isdisjoint(before[system]):
                    values = values.astype(np.float64, copy=False)
                tables.append(ClassScores(trials, classes, values) if classes else Scores(trials, values))
            return tables if label is None else [*tables, Key(trials, label.of(table))]

        columns = [*(name for one in before for name in one), *(() if label is None else label.columns)]
        return NamedRows(roles.table, roles.sides, tuple(columns), content, ids=self.how.ids)

    def labels_of(self, at: int) -> Truth | None:
        """Return the labels besides scores, which must not contradict the key."""
        roles = self.scores[at]
        return None if roles.table is self.truth.table or self.layout.classes else labels_in(roles, self.how)


def joined_by_name(request: JoinRequest) -> JoinedTables:
    """Join tables by the names of their trials.

    The rows of the key are not copied; only the scores of their trials are written, in the order of the key.

    Raises
    ------
    KeyMismatchError
        If trials are missing, duplicate or conflicting.
    OSError
        If there is no space for the temporary files.
    """
    for roles in request.scores:
        sides = [tuple(one.sides) or ROW for one in (roles, request.truth)]
        require_same_sides(sides[0], roles.table.name, sides[1], request.truth.table.name)
        if not roles.sides:
            if request.how.ids is not None:
                raise InputError(f"ids: {roles.table.name} has no names that could be changed. Leave ids out.")
            raise KeyMismatchError(
                f"{roles.table.name} and {request.truth.table.name}: trials have no names, and can only be matched by "
                f"their order: {option(by_order=True)}."
            )
    tables, key = [*request.scores, request.truth], request.truth.table
    n_rows = sum(one.table.n_rows for one in tables)
    n_parts = math.ceil(n_rows / rows_that_fit(request.how.memory, _bytes_of_names(tables, n_rows)))
    folder = ScratchFolder()
    with folder.or_nothing(key.n_rows * (1 + 8 * sum(map(len, request.layout.scores)))) as path:
        files = ScratchScores(path, key.n_rows, request.layout.scores)
        report = _match_parts(request, n_parts, files)
    most = rows_that_fit(request.how.memory, 4 * bytes_of_row(len(files.columns), 8, weighted=True))

    def joined(least: int) -> Iterator[JoinedRows]:
        starts = accumulate((one.n_rows for one in key.rows), initial=0)
        for one, start in zip(key.rows, starts, strict=False):
            for rows in (range(first, min(first + most, one.n_rows)) for first in range(0, one.n_rows, most)):
                n = int(np.count_nonzero(files.there(start + rows.start, len(rows), least)))
                if n:
                    yield JoinedRows(one.name, n, one, files, start + rows.start, rows, least)

    partitions, incomplete = [*joined(_SCORED)], request.how.incomplete
    if not partitions:
        raise KeyMismatchError(f"{key.name}: no trial is left to evaluate.")
    layout = replace(request.layout, where={}, converted=None, ratios=frozenset(), incomplete=incomplete)
    is_partial = sum(one.n_rows for one in partitions) < report.matched + report.missing and request.layout.named
    own = replace(layout, of_key=True)
    of_key = tuple(TrialRows(one, own, one.name, one.n_rows, 0) for one in (joined(_LISTED) if is_partial else ()))
    return JoinedTables(partitions, layout, np.float64 in files.kinds.values() or incomplete, report, folder, of_key)


def _bytes_of_names(tables: Sequence[Roles], n_rows: int) -> float:
    """Return the bytes per row for matching several tables; with many rows, names are measured."""
    measured = (roles.table.rows[0].table(list(roles.sides.values())) for roles in tables if n_rows > _MANY)
    return bytes_of_joined(max((one.nbytes / max(len(one), 1) for one in measured), default=0.0))


def _match_parts(request: JoinRequest, n_parts: int, files: ScratchScores) -> JoinReport:
    """Match one subset of the names after the other, and write the scores of their trials."""
    how, sides = request.how, [request.table(at) for at in range(len(request.scores))]
    labelled = [request.labels_of(at) is not None for at in range(len(sides))]
    missing = math.nan if how.incomplete else how.missing
    tallies, wrong = list[JoinTally](), [RefusedTrials() for _ in sides]
    for part in range(n_parts):
        (own,) = request.key.part(part, n_parts)
        tables = [one.part(part, n_parts) for one in sides]
        labels = [some.pop() if has else None for some, has in zip(tables, labelled, strict=True)]
        systems = [one for some in tables for one in some]
        known, rows, tally = look_up(systems, own, how.ids)
        tallies.append(tally)
        items = zip(wrong, labels, strict=True)
        wrong = [some if one is None else some + contradictions(one, known, how.ids) for some, one in items]
        lacks = np.zeros(len(known), np.bool_)
        for hits in rows if missing == "drop" else ():
            lacks |= False if hits is None else hits < 0
        scores = [picked(one.content, at, missing) for one, at in zip(systems, rows, strict=True)]
        files.put(known.trials.origin.number(np.arange(len(known))), scores, ~lacks)
    whole: JoinTally = reduce(add, tallies)
    if how.ids is not None and n_parts > 1:  # a name may be in several subsets
        of_each = [(one.n_changed(how.ids, n_parts), len(request.systems_of(at))) for at, one in enumerate(sides)]
        of_systems = [n for n, n_systems in of_each for _ in range(n_systems)]
        whole = replace(whole, n_changed=(request.key.n_changed(how.ids, n_parts), *of_systems))
    report = whole.report("drop" if how.incomplete else how.missing, how.duplicates)
    for some in wrong:
        if some.n:
            raise other_label(some, request.truth.table.name)
    return report


class ScratchScores:
    """Temporary files with the scores of the trials of a key, one for each column, in the order of the key.

    Parameters
    ----------
    folder : path
    n_rows : int
        Number of rows of the key.
    columns : sequence of tuple of str
        The columns of each system.
    """

    def __init__(self, folder: Path, n_rows: int, columns: Sequence[tuple[str, ...]]) -> None:
        self.folder, self.n_rows = folder, n_rows
        self.columns = [name for own in columns for name in own]
        self.kinds = dict[str, np.dtype[np.generic]]()
        self._make("there", np.dtype(np.uint8))

    def put(self, rows: IntArray, scores: Sequence[AnyArray], there: BoolArray) -> None:
        """Write the scores of each system for some rows of the key; only those that are ``there`` are not left out."""
        self._mapped("there", np.dtype(np.uint8), "r+")[rows] = np.where(there, _SCORED, _LISTED)
        columns = [column for one in scores for column in (one.T if one.ndim == 2 else [one])]
        for at, (name, values) in enumerate(zip(self.columns, columns, strict=True)):
            if name not in self.kinds or (values.dtype == np.float64 and self.kinds[name] != np.float64):
                before = None if name not in self.kinds else self._mapped(str(at), self.kinds[name])
                self.kinds[name] = values.dtype
                self._make(str(at), values.dtype, before)
            self._mapped(str(at), self.kinds[name], "r+")[rows[there]] = values[there]

    def _make(self, name: str, kind: np.dtype[np.generic], before: AnyArray | None = None) -> None:
        """Write a file of zeros, or of former values; a full disk then raises here, not in the memory map."""
        target = self.folder / f"{name}.new"
        with target.open("wb") as stream:
            for start in range(0, self.n_rows, _BLOCK):
                n = min(_BLOCK, self.n_rows - start)
                stream.write((np.zeros(n) if before is None else before[start : start + n]).astype(kind).data)
        target.replace(self.folder / name)

    def _mapped(self, name: str, kind: np.dtype[np.generic], mode: Any = "r") -> AnyArray:
        return np.memmap(self.folder / name, kind, mode, shape=(self.n_rows,))

    def there(self, start: int, n_rows: int, least: int) -> BoolArray:
        """Return a mask of the rows of the key, from ``start`` on, that have scores, or also of those left out."""
        return np.asarray(self._mapped("there", np.dtype(np.uint8))[start : start + n_rows] >= least)

    def column(self, name: str, start: int, mask: BoolArray) -> AnyArray:
        """Return the scores of chosen rows, from ``start`` on."""
        return self._mapped(str(self.columns.index(name)), self.kinds[name])[start : start + len(mask)][mask]


@dataclass(frozen=True, slots=True)
class JoinedRows(Rows):
    """Rows of a key with their matched scores.

    Attributes
    ----------
    name : str
    n_rows : int
    key : Rows
        A partition of the key. Its rows without scores may be dropped.
    scores : ScratchScores
    start : int
        Index of the first of these rows in the key.
    rows : range
        These rows in their partition: with many classes or systems, all at once can take too much memory.
    least : int
        `_SCORED` for the trials with scores, `_LISTED` also for those that were left out.
    """

    name: str
    n_rows: int
    key: Rows
    scores: ScratchScores
    start: int
    rows: range
    least: int

    def table(self, columns: Sequence[str]) -> pa.Table:
        """See `Rows.table`."""
        chosen, own = self.scores.there(self.start, len(self.rows), self.least), self.scores.kinds
        entries: dict[str, Any] = {
            name: of_numpy(self.scores.column(name, self.start, chosen)) for name in columns if name in own
        }
        if others := [name for name in columns if name not in own]:
            table = self.key.table(others)[self.rows.start : self.rows.stop]  # some rows of matrices may not be trials
            table = table if len(table) == self.n_rows else table.filter(of_numpy(chosen[: len(table)]))
            entries |= dict(zip(others, table.columns, strict=True))
        return pa.table([entries[name] for name in columns], list(columns))

    def where(self, row: int | None, columns: Sequence[str] = ()) -> str:
        """See `Rows.where`; the place is in the key."""
        if row is not None:
            there = self.scores.there(self.start, len(self.rows), self.least)
            row = self.rows.start + int(np.flatnonzero(there)[row])
        return self.key.where(row, columns)
