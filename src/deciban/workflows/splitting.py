"""Trials of a source split by what columns say: which conditions there are, and the trials of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deciban._arrow import of_numpy
from deciban.engines.conditions import ConditionFacts, ConditionWeights, Values
from deciban.errors import InputError
from deciban.messages import counted
from deciban.trials.frozen import as_text
from deciban.trials.names.codes import IdMap
from deciban.trials.sources import Chunk, ShardSource
from deciban.types import CountArray, FloatArray, IntArray
from deciban.workflows.partitions import (
    MOST,
    Partition,
    coded_values,
    crossed,
    no_column,
    no_side,
    said_of_names,
    values_in_order,
)
from deciban.workflows.split import SplitColumn


@dataclass(frozen=True, slots=True, eq=False)
class SplitByColumns:
    """Tells the conditions of the trials of a piece by what columns say.

    Attributes
    ----------
    columns : tuple of SplitColumn
    places : tuple of int
        Where each stands among the columns that pieces give.
    files : tuple of IdMap or None
        What is said of the names that stand there, if that is asked.
    argument : str
        For messages.
    """

    columns: tuple[SplitColumn, ...]
    places: tuple[int, ...]
    files: tuple[IdMap | None, ...]
    argument: str

    @classmethod
    def in_source(cls, source: ShardSource, columns: Sequence[SplitColumn], argument: str) -> SplitByColumns:
        """Find the columns in a source.

        Raises
        ------
        FormatError, InputError, OSError
            If there is no such column or file.
        """
        from deciban.io.read import read_id_map

        for one in columns:
            if one.side and one.side not in source.names:
                raise no_side(one.side, source.names, source.name, argument)
            if (one.side or one.name) not in source.conditions:
                raise no_column(one.name, source.columns, source.name, argument)
        places = tuple(source.conditions.index(one.side or one.name) for one in columns)
        files = tuple(read_id_map(one.path) if one.path else None for one in columns)
        return cls(tuple(columns), places, files, argument)

    def of(self, chunk: Chunk, name: str) -> tuple[list[Values], IntArray]:
        """See `SplitRows.of`."""
        assert chunk.conditions is not None  # noqa: S101  # they were asked for
        condition: IntArray = np.zeros(len(chunk.conditions[0][0]), np.int64)
        found: list[Values] = [()]
        for at in range(len(self.columns)):
            values, codes = self._of_column(chunk, name, at)
            used, condition = _used(condition * len(values) + codes, len(found) * len(values))
            found = [(*found[one // len(values)], values[one % len(values)]) for one in used.tolist()]
        return found, condition

    def _of_column(self, chunk: Chunk, name: str, at: int) -> tuple[list[str | None], IntArray]:
        """Values of one of the columns, and which of them every trial has."""
        assert chunk.conditions is not None  # noqa: S101  # they were asked for
        codes, known = chunk.conditions[self.places[at]]
        used, place = _used(codes, len(known) + 1)  # the last code is for nothing
        values, held = known.take(of_numpy(used, lacking=used == len(known))), self.files[at]
        if held is not None:
            values = said_of_names(held, as_text(values))
        often = np.bincount(place, minlength=len(used))

        def where(value: int) -> str:
            return name if chunk.trials is None else chunk.trials.origin.where(int(np.argmax(place == value)))

        found, own = coded_values(values, self.columns[at], self.argument, where, often)
        return found, own[place]

    def too_many(self, found: Sequence[Values]) -> InputError | None:
        """See `SplitRows.too_many`."""
        if len(found) <= MOST:
            return None
        try:
            _crossed(self, found)
        except InputError as error:
            return error
        return None


def _used(codes: IntArray, n: int) -> tuple[IntArray, IntArray]:
    """Which of so many codes are used, and the places of all among these."""
    used = np.flatnonzero(np.bincount(codes, minlength=n))
    place = np.zeros(n, np.int64)
    place[used] = np.arange(len(used))
    return used, place[codes]


def _crossed(split: SplitByColumns, found: Sequence[Values]) -> tuple[Values, ...]:
    """All conditions: every combination of the values that were found."""
    each = [values_in_order(one, (values[at] for values in found)) for at, one in enumerate(split.columns)]
    return crossed(split.columns, each, split.argument)


@dataclass(frozen=True, slots=True, eq=False)
class SourcePartition:
    """A partition of the trials of a source.

    Attributes
    ----------
    partition : Partition
    combinations : tuple of Values
        All combinations of values.
    split : SplitByColumns
    facts : mapping of Values to ConditionFacts
        Of combinations of values that trials have.
    totals : (n_conditions, n_classes) array
    """

    partition: Partition
    combinations: tuple[Values, ...]
    split: SplitByColumns
    facts: Mapping[Values, ConditionFacts]
    totals: CountArray

    @classmethod
    def of(cls, split: SplitByColumns, facts: Mapping[Values, ConditionFacts], n_classes: int) -> SourcePartition:
        """Of what was found in a pass.

        Raises
        ------
        InputError
            If there are more than 1,000 conditions, or no trial has the value that should count in all of them.
        """
        combinations = _crossed(split, [*facts])
        none = np.zeros(n_classes, np.int64)
        totals = [facts[one].totals if one in facts else none for one in combinations]
        partition = Partition.of(split.columns, combinations, split.argument)
        in_conditions = partition.in_conditions(np.array(totals).reshape(-1, n_classes))
        return cls(partition, combinations, split, facts, in_conditions)

    def sharing_own_values(self, classes: Sequence[tuple[str, int]]) -> SourcePartition:
        """See `Partition.sharing_own_values`."""
        made = self.partition.sharing_own_values(self.totals, classes, self.split.argument)
        return self if made is self.partition else replace(self, partition=made, totals=made.in_conditions(self.totals))

    def cells(self, values: Values) -> tuple[Values, ...]:
        """The combinations of values of the trials of a condition, of those that some trials have."""
        places = self.partition.cells[self.partition.values.index(values)]
        return tuple(self.combinations[at] for at in places if self.combinations[at] in self.facts)

    def require_values(self, source: ShardSource) -> None:
        """Refuse trials without a value where conditions count alike.

        Raises
        ------
        InputError
        """
        for at, column in enumerate(self.partition.columns):
            lacking = [values for values in self.facts if values[at] is None]
            if lacking:
                n = sum(self.facts[one].n_trials for one in lacking)
                raise no_value(column.name, self._where(source, lacking), n)

    def _where(self, source: ShardSource, lacking: Sequence[Values]) -> str:
        """Return the place of the first trial with some values, where trials have names; else the source."""
        batch = source.batch
        if batch is None or batch.trials is None:
            return source.name
        values, codes = self.split.of(batch, source.name)
        lacks = np.array([one in lacking for one in values], np.bool_)
        return batch.trials.origin.where(int(np.argmax(lacks[codes])))

    def rows(self, batch: Chunk, name: str) -> dict[Values, IntArray]:
        """Return the trials of each combination of values."""
        values, codes = self.split.of(batch, name)
        small = codes.astype(np.min_scalar_type(len(values)))  # which are sorted by counting
        ends = np.cumsum(np.bincount(codes, minlength=len(values)))[:-1]
        return dict(zip(values, np.split(np.argsort(small, kind="stable"), ends), strict=True))

    def is_spread(self, n_pieces: int) -> bool:
        """Whether pieces have trials of several conditions."""
        return sum(one.pieces.bit_count() for one in self.facts.values()) > n_pieces

    def weighted(
        self, weigh: Callable[[ConditionWeights], ShardSource], factors: FloatArray, *, is_classes: bool
    ) -> tuple[ShardSource, IntArray]:
        """Return trials with weights, by what gives them to a source, and the class of each of their strata."""
        n_conditions, n_classes = self.totals.shape
        if is_classes:
            strata, home = _strata(self.totals)
        else:
            strata = np.repeat(np.arange(n_conditions)[:, None], n_classes, axis=1)
            home = np.zeros(0, np.int64)
        place = {values: at for at, values in enumerate(self.partition.values)}
        weights = ConditionWeights(self.split, place, factors, strata)
        return weigh(weights), home


def _strata(totals: CountArray) -> tuple[IntArray, IntArray]:
    """Strata of conditions and classes that have trials, and the class of each: class by class."""
    there = (totals > 0).T
    home: IntArray = np.repeat(np.arange(len(there)), there.sum(axis=1))
    place = np.cumsum(there.ravel()).reshape(there.shape) - 1
    first = np.searchsorted(home, np.arange(len(there)))[:, None]
    strata: IntArray = np.maximum(place, first).T  # trials that weigh nothing may be anywhere in their class
    return strata, home


def no_value(column: str, where: str, n_trials: int) -> InputError:
    """The error of trials without a value where conditions count alike: nobody said of which they are."""
    return InputError(
        f"equalize: {where}: no value in {column!r}, and its condition must be known "
        f"({counted(n_trials, 'such trial')}). Complete it, or leave these trials out (--where)."
    )
