"""Meaning of the columns of a table in partitions, and conversion of rows to trials."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa

from deciban._arrow import encode, pc, to_numpy
from deciban._validate.arrays import Vocabulary
from deciban._validate.classes import logarithms_of_ratios
from deciban.core.resampling.units import TrialUnits
from deciban.errors import KeyMismatchError, not_none
from deciban.io.columns import values as cells
from deciban.io.formats import RowError, digits_of, same_names, scores_of, truth_of
from deciban.io.partitions.units import EachTrial, SpeakerLookup, UnitsOf, keys_of_sides
from deciban.io.source import other_file
from deciban.trials import SegmentQuality, Trials
from deciban.trials.joining.matching import require_one_length
from deciban.trials.sources import Batch, SourcePartition, TrialFields, TrialSource
from deciban.trials.tables import LOG_10, texts_alike
from deciban.types import AnyArray, BoolArray, CountArray, FloatArray, IntArray, ScoreArray, T


@dataclass(frozen=True, slots=True)
class Truth(ABC):
    """The truth of rows.

    Attributes
    ----------
    columns : tuple of str
        The columns that determine it.
    """

    columns: tuple[str, ...]

    @abstractmethod
    def of(self, table: pa.Table) -> AnyArray:
        """Return True for targets, or the index of the class, for each row.

        Raises
        ------
        RowError, KeyMismatchError
            If the truth of a row is missing or invalid.
        """


@dataclass(frozen=True, slots=True)
class LabelColumn(Truth):
    """A column of labels; ``vocabulary`` defines their words."""

    vocabulary: Vocabulary

    def of(self, table: pa.Table) -> AnyArray:
        """See `Truth.of`."""
        column = cells.plain(table.column(self.columns[0]))
        cells.refuse_missing(column, self.columns[0], "label")
        return truth_of(column, self.vocabulary)[0]


@dataclass(frozen=True, slots=True)
class TruthColumn(Truth):
    """A column of booleans or numbers of classes; labels that a file of targets contains must agree with them."""

    label: LabelColumn | None = None

    def of(self, table: pa.Table) -> AnyArray:
        """See `Truth.of`."""
        values = to_numpy(cells.plain(table.column(self.columns[0])))
        if self.label is not None:
            differs = self.label.of(table) != values
            if differs.any():
                row = int(np.argmax(differs))
                raise RowError(other_file("", is_target=bool(values[row])), row, KeyMismatchError)
        return values


@dataclass(frozen=True, slots=True)
class EqualColumns(Truth):
    """Two columns of names, which are equal in target trials only."""

    def of(self, table: pa.Table) -> AnyArray:
        """See `Truth.of`."""
        one, other = self.columns
        same = same_names(cells.plain(table.column(one)), cells.plain(table.column(other)), (one, other))
        return to_numpy(pc.cast(same, pa.bool_()))


@dataclass(frozen=True, slots=True)
class ClassColumn(Truth):
    """A column of names of classes; ``places`` are the indices of the classes among the scores."""

    places: Mapping[str, int]

    def of(self, table: pa.Table) -> AnyArray:
        """See `Truth.of`."""
        column = cells.plain(table.column(self.columns[0]))
        cells.refuse_missing(column, self.columns[0], "class")
        codes, names = encode(pc.cast(digits_of(column), pa.string()), "class")
        place: AnyArray = np.array([self.places.get(name, -1) for name in names.to_pylist()], np.int64)
        values = place[codes] if len(codes) else np.zeros(0, np.int64)
        if len(values) and values.min() < 0:
            row = int(np.argmax(values < 0))
            known = ", ".join(sorted(self.places, key=self.places.__getitem__)[:20])
            raise RowError(
                f"class {names[int(codes[row])].as_py()!r} has no scores, only {known} have. Remove these segments "
                "from the key, or use scores for all of its classes",
                row,
            )
        return values


@dataclass(frozen=True, slots=True)
class SpeakersAgree(Truth):
    """Columns with the names of both sides, whose speakers are known: they are equal in target trials only."""

    who: SpeakerLookup

    def of(self, table: pa.Table) -> AnyArray:
        """See `Truth.of`."""
        one, other = self.speakers(table)
        return np.asarray(one == other)

    def speakers(self, table: pa.Table) -> tuple[AnyArray, AnyArray]:
        """Return the speakers of both sides of each row."""
        items = []
        for at, name in enumerate(self.columns):
            codes, names = encode(pc.cast(cells.plain(table.column(name)), pa.string()), name)
            speakers = self.who.speakers_of(names, at)
            unknown = np.flatnonzero(speakers < 0)
            if len(unknown):
                row = int(np.argmax(np.isin(codes, unknown)))
                raise RowError(self.who.lacks(names[int(codes[row])].as_py(), at), row, KeyMismatchError)
            items.append(speakers[codes])
        return items[0], items[1]


@dataclass(frozen=True, slots=True)
class RowsBeside(cells.Rows):
    """The same rows in several tables.

    Attributes
    ----------
    name : str
    n_rows : int
    parts : tuple of tuple of Rows
        The rows in each table.
    columns : tuple of mapping of str to str
        For each table, new and original names of its columns.
    """

    name: str
    n_rows: int
    parts: tuple[tuple[cells.Rows, ...], ...]
    columns: tuple[Mapping[str, str], ...]

    def table(self, columns: Sequence[str]) -> pa.Table:
        """See `Rows.table`."""
        entries: dict[str, pa.ChunkedArray] = {}
        for some, names in zip(self.parts, self.columns, strict=True):
            items = [name for name in columns if name in names]
            if items:
                whole = cells.table_of_all(some, [names[name] for name in items])
                entries |= dict(zip(items, whole.columns, strict=True))
        return pa.table([entries[name] for name in columns], list(columns))

    def where(self, row: int | None, columns: Sequence[str] = ()) -> str:
        """See `Rows.where`; the place is in the table that has the columns."""
        for some, names in zip(self.parts, self.columns, strict=True):
            items = [names[name] for name in columns if name in names]
            if items:
                return cells.place_in(some, row, items)
        return cells.Rows.where(self, row, columns)


def beside(tables: Sequence[cells.RowTable], columns: Sequence[Mapping[str, str]]) -> tuple[cells.Rows, ...]:
    """Combine tables row by row.

    Parameters
    ----------
    tables : sequence of RowTable
        The key is last; messages compare the others with it.
    columns : sequence of mapping of str to str
        For each table, new and original names of its columns.

    Raises
    ------
    KeyMismatchError
        If the numbers of rows differ.
    """
    key = tables[-1]
    for table in tables:
        require_one_length(table.name, table.n_rows, key.name, key.n_rows)
    coarsest = min(tables, key=lambda table: len(table.rows))
    stops = list(accumulate(one.n_rows for one in coarsest.rows))
    parts = [cut(table, stops) for table in tables]
    return tuple(
        RowsBeside(partition.name, partition.n_rows, tuple(own[at] for own in parts), tuple(columns))
        for at, partition in enumerate(coarsest.rows)
    )


def cut(table: cells.RowTable, stops: Sequence[int]) -> list[tuple[cells.Rows, ...]]:
    """Split the rows of a table at the given stops."""
    rows: list[tuple[cells.Rows, ...]] = []
    at = start = 0
    first = 0
    for stop in stops:
        parts: list[cells.Rows] = []
        while first < stop:
            partition = table.rows[at]
            last = min(stop, start + partition.n_rows)
            whole = last - first == partition.n_rows
            part = cells.RowsWithin(partition.name, last - first, partition, first - start, partition.n_bytes)
            parts.append(partition if whole else part)
            first = last
            if last == start + partition.n_rows:
                at, start = at + 1, last
        rows.append(tuple(parts))
    return rows


Converted = Callable[[ScoreArray, tuple[str, ...]], ScoreArray]

_LARGEST = 2.0**53
"""Floats represent all integers up to this one."""


def _grouped(column: pa.ChunkedArray, name: str) -> tuple[IntArray, pa.Array]:
    return cells.names_in(column, name, "contains the groups for cross-validation")


def _coded(column: pa.ChunkedArray, _: str) -> tuple[IntArray, pa.Array]:
    return cells.coded_column(column.combine_chunks())


def _each(table: pa.Table, columns: Sequence[str], code: Callable[[pa.ChunkedArray, str], T]) -> tuple[T, ...]:
    return tuple(code(cells.plain(table.column(name)), name) for name in columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowLayout:
    """The columns of rows of trials.

    Attributes
    ----------
    scores : tuple of tuple of str
        The columns of each system: one, or one for each class.
    classes : tuple of str
        Names of the classes for multiclass; empty for two classes.
    truth : Truth
    where : mapping of str to tuple of str
        Rows without these values are dropped.
    weights : str, optional
        Column with the weights of trials.
    units : UnitsOf or EachTrial, optional
    log10 : bool
        True if two-class scores are common logarithms.
    ratios : frozenset of str
        Columns of likelihood ratios, which are converted to natural logarithms.
    sides : mapping of str to str
        Columns with the names of the sides of trials.
    quality : mapping of str to SegmentQuality, optional
        Quality measures of these names, by side, also for ``trial``.
    converted : function, optional
        Converts scores to natural logarithms; its second argument is the tuple of classes.
    named : mapping of str to str
        Columns of names that speakers are found from, and of their channel, if any.
    groups : tuple of str, optional
        Columns with the groups of trials that are held out together.
    conditions : mapping of str to str
        Columns that trials are split by, under their requested names.
    incomplete : bool
        True if NaN marks a missing score of a system.
    of_key : bool
        True for all trials of a key, of which those that were left out need no weight.
    """

    scores: tuple[tuple[str, ...], ...]
    truth: Truth
    classes: tuple[str, ...] = ()
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    weights: str | None = None
    units: UnitsOf | EachTrial | None = None
    log10: bool = False
    ratios: frozenset[str] = frozenset()
    converted: Converted | None = None
    sides: Mapping[str, str] = field(default_factory=dict)
    quality: Mapping[Any, SegmentQuality] | None = None
    named: Mapping[str, str] = field(default_factory=dict)
    groups: tuple[str, ...] | None = None
    conditions: Mapping[str, str] = field(default_factory=dict)
    incomplete: bool = False
    of_key: bool = False

    @property
    def has_units(self) -> bool:
        """True if rows contain units."""
        return self.units is not None or isinstance(self.truth, SpeakersAgree)

    @property
    def _of_units(self) -> tuple[str, ...]:
        return self.truth.columns if self.units is None else self.units.columns

    def columns(self, fields: TrialFields) -> list[str]:
        """Return the columns to read."""
        of_scores = [name for at in fields.systems for name in self.scores[at]]
        of_fields = [name for columns, _ in self._fields(fields).values() for name in columns]
        return list(dict.fromkeys([*of_scores, *self.where, *of_fields]))

    def _fields(self, fields: TrialFields) -> dict[str, tuple[Sequence[str], Callable[[pa.Table, int], Any]]]:
        """Return, for each further field of a batch, its columns, and the function of a table and its first row."""
        named, split, held_out = [*self.named.values()], [*self.conditions.values()], self.groups or ()
        is_measured = bool(fields.quality) and self.quality is not None
        entries: dict[str, tuple[object, Sequence[str], Callable[[pa.Table, int], Any]]] = {
            "truth": (fields.truth, self.truth.columns, lambda table, _: self.truth.of(table)),
            "units": (fields.units and self.has_units, self._of_units, self._units),
            "weight": (fields.weight and self.weights, [self.weights or ""], lambda table, _: self._weights(table)),
            "quality": (is_measured, [*self.sides.values()], partial(self._quality, fields.quality)),
            "names": (fields.names and named, named, lambda table, _: keys_of_sides(table, named)),
            "groups": (fields.groups and held_out, held_out, lambda table, _: _each(table, held_out, _grouped)),
            "conditions": (fields.conditions and split, split, lambda table, _: _each(table, split, _coded)),
        }
        return {field: (columns, make) for field, (is_wanted, columns, make) in entries.items() if is_wanted}

    def batch(self, table: pa.Table, expected: TrialFields, rows: cells.Rows, start: int = 0) -> Batch:
        """Return the trials of rows, given their columns; ``start`` is the index of the first row.

        Raises
        ------
        FormatError, InputError, KeyMismatchError
            If a value is not allowed in its place; the message contains the place.
        """

        def at(columns: Sequence[str], make: Callable[..., T], *argument: object) -> T:
            with cells.placed(rows, columns):
                return make(*argument)

        scores = tuple(at(self.scores[k], self._scores, table, k) for k in expected.systems)
        fields = {name: at(columns, make, table, start) for name, (columns, make) in self._fields(expected).items()}
        result = Batch(scores, **fields)
        if not self.where:
            return result
        chosen = at([*self.where], lambda: [rows_with(table.column(name), has) for name, has in self.where.items()])
        return result.take(np.logical_and.reduce(chosen))

    def raw_scores(self, table: pa.Table, at: int) -> ScoreArray:
        """Return the scores of a system in their unit, except likelihood ratios, which become natural logarithms.

        Raises
        ------
        RowError
            If a score is missing or NaN, unless NaN marks a missing score.
        TrialError
            If a likelihood ratio is negative.
        """
        entries = {name: cells.plain(table.column(name)) for name in self.scores[at]}
        for name, column in entries.items():
            cells.refuse_missing(column, name, "score")
            if pa.types.is_fixed_size_list(column.type):  # scores of all classes in one column
                entries[name] = pc.list_flatten(column)
        columns = [scores_of(column, incomplete=self.incomplete) for column in entries.values()]
        if not self.ratios.isdisjoint(self.scores[at]):
            columns = [logarithms_of_ratios(one) for one in columns]
        values: AnyArray = np.column_stack(columns) if len(columns) > 1 else columns[0]
        return values.reshape(-1, len(self.classes)) if self.classes else values

    def _scores(self, table: pa.Table, at: int) -> ScoreArray:
        values = self.raw_scores(table, at)
        if self.log10:
            values = values * values.dtype.type(LOG_10)
        if self.converted is not None:
            values = self.converted(values, self.classes)
        if self.classes and len(values) and values.max(axis=1).min() == -np.inf:
            row = int(np.argmin(values.max(axis=1)))
            raise RowError(
                "this segment excludes every class (all -inf). At least one class must be possible: repair the scores, "
                "or leave the segment out",
                row,
            )
        return values

    def _weights(self, table: pa.Table) -> CountArray:
        column = not_none(self.weights, "column of weights")
        own = cells.plain(table.column(column))
        values = cells.weights_or_zeros(own.combine_chunks()) if self.of_key else cells.weights_of(own, column)
        is_whole = values.sum() <= _LARGEST and np.array_equal(values, np.rint(values))
        return values.astype(np.int64) if is_whole else values

    def _quality(self, names: Sequence[str], table: pa.Table, _: int) -> dict[str, FloatArray]:
        """Return the measures of rows, NaN for names without measures; ``names`` are ``enroll_quality`` and so on."""
        measures = not_none(self.quality, "quality measures")
        trials = Trials.of({side: table.column(column).combine_chunks() for side, column in self.sides.items()})
        entries = dict[str, FloatArray]()
        for name in names:
            side: Any = name.removesuffix("_quality")
            entries[name], known = measures[side].align(trials, side)
            entries[name][~known] = np.nan
        return entries

    def _units(self, table: pa.Table, start: int) -> TrialUnits:
        if self.units is not None:
            return self.units.of(table, start)
        truth = not_none(self.truth if isinstance(self.truth, SpeakersAgree) else None, "speakers")
        return truth.who.units(*truth.speakers(table))


def rows_with(column: pa.ChunkedArray, values: Sequence[str]) -> BoolArray:
    """Return a mask of the rows that have one of these values, in any notation.

    Examples
    --------
    >>> rows_with(pa.chunked_array([[1.0, 2.0, None]]), ["1"])
    array([ True, False, False])
    """
    codes, known = cells.coded_column(cells.plain(column).combine_chunks())
    chosen = np.zeros(len(known) + 1, np.bool_)  # the last entry is for rows without a value
    for text in values:
        chosen[:-1] |= texts_alike(known, text)
    return chosen.take(codes)


@dataclass(frozen=True, slots=True)
class TrialRows(SourcePartition):
    """Rows of a table as trials.

    Attributes
    ----------
    rows : Rows
    layout : RowLayout
    name : str
    n_rows : int
    start : int
        Index of the first row among all rows.
    """

    rows: cells.Rows
    layout: RowLayout
    name: str
    n_rows: int
    start: int

    def read(self, fields: TrialFields) -> Batch:
        """See `SourcePartition.read`."""
        return self.layout.batch(self.rows.table(self.layout.columns(fields)), fields, self.rows, self.start)


def source_of_rows(rows: Sequence[cells.Rows], layout: RowLayout, **about: Any) -> TrialSource:
    """Return rows as a source; ``about`` are its other attributes."""
    starts = accumulate((one.n_rows for one in rows), initial=0)
    return TrialSource(
        partitions=tuple(
            TrialRows(one, layout, one.name, one.n_rows, start) for one, start in zip(rows, starts, strict=False)
        ),
        classes=layout.classes,
        has_units=layout.has_units,
        are_units=isinstance(layout.units, EachTrial),
        has_weights=layout.weights is not None,
        sides=tuple(layout.named),
        conditions=tuple(layout.conditions),
        **about,
    )
