"""Conditions of a source: finding them, reading the trials of one condition, and weighting trials by condition."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np

from deciban._files import ScratchFolder
from deciban.core.classes.counts import totals_by_condition
from deciban.trials.sources import (
    Chunk,
    Engine,
    MappedPartition,
    ShardSource,
    SourcePartition,
    SourcePass,
    TrialFields,
    changed,
    numbered,
)
from deciban.types import AnyArray, CountArray, FloatArray, IntArray

Values: TypeAlias = tuple[str | None, ...]
"""The value of each column in a condition; None if a column has no value."""


class SplitRows(Protocol):
    """Division of trials into conditions. Supports pickle."""

    def of(self, chunk: Chunk, name: str) -> tuple[list[Values], IntArray]:
        """Return the conditions, and the index of the condition of each trial; ``name`` is for messages."""

    def require_few(self, found: Sequence[Values]) -> None:
        """Refuse more conditions than deciban evaluates."""


@dataclass(frozen=True, slots=True, eq=False)
class ConditionFacts:
    """Counts of a condition; ``a + b`` covers the trials of both.

    Attributes
    ----------
    n_trials : int
    totals : (n_classes,) array
        Number of trials of each class, or their total weight.
    partitions : int
        Partitions with trials of this condition, as bits.
    """

    n_trials: int
    totals: CountArray
    partitions: int

    def __add__(self, other: ConditionFacts) -> ConditionFacts:
        """Return the counts of the trials of both."""
        return ConditionFacts(
            self.n_trials + other.n_trials, self.totals + other.totals, self.partitions | other.partitions
        )


class ConditionPass(SourcePass):
    """Pass that finds conditions and counts their trials of each class.

    Parameters
    ----------
    splits : sequence of SplitRows
        Divisions into conditions.
    n_classes : int
    """

    words = "looking for conditions"

    def __init__(self, splits: Sequence[SplitRows], n_classes: int) -> None:
        self.splits, self.n_classes = tuple(splits), n_classes
        self.found = _ConditionCounts(self.splits, tuple({} for _ in self.splits))

    def of(self, partitions: Sequence[SourcePartition]) -> _ConditionCounts:
        """See `SourcePass.of`."""
        found: _ConditionCounts = self.empty().found
        for partition in partitions:
            chunk = partition.read(TrialFields((), truth=True, weight=True, conditions=True))
            bit = 1 << getattr(partition, "number", 0)
            found += _ConditionCounts(
                self.splits, tuple(self._facts(chunk, one, partition.name, bit) for one in self.splits)
            )
        return found

    def _facts(self, chunk: Chunk, split: SplitRows, name: str, bit: int) -> dict[Values, ConditionFacts]:
        values, codes = split.of(chunk, name)
        sizes = {"n_conditions": len(values), "n_classes": self.n_classes}
        totals = totals_by_condition(codes, chunk.labels.astype(np.int64), chunk.weight, **sizes)
        n_trials = np.bincount(codes, minlength=len(values)).tolist()
        return {one: ConditionFacts(n, row, bit) for one, n, row in zip(values, n_trials, totals, strict=True)}


@dataclass(frozen=True, slots=True, eq=False)
class _ConditionCounts:
    """Counts of the conditions of each division; ``a + b`` covers the trials of both."""

    splits: tuple[SplitRows, ...]
    each: tuple[Mapping[Values, ConditionFacts], ...]

    def __add__(self, other: _ConditionCounts) -> _ConditionCounts:
        found = []
        for split, one, more in zip(self.splits, self.each, other.each, strict=True):
            found.append({**one, **{key: one[key] + facts if key in one else facts for key, facts in more.items()}})
            split.require_few([*found[-1]])
        return _ConditionCounts(self.splits, tuple(found))


def look_at_conditions(
    source: ShardSource, engine: Engine, splits: Sequence[SplitRows], n_classes: int
) -> list[dict[Values, ConditionFacts]]:
    """Return the conditions of the trials of a source and their counts, for each division, from one pass.

    Raises
    ------
    FormatError, InputError, OSError
        If reading fails, or there are too many conditions.
    """
    return [dict(one) for one in engine.run(ConditionPass(splits, n_classes), numbered(source)).found.each]


def _of_condition(
    split: SplitRows, cells: tuple[Values, ...], partition: SourcePartition, wanted: TrialFields
) -> Chunk:
    """Read the trials of one condition from a partition."""
    chunk = partition.read(replace(wanted, conditions=True))
    values, codes = split.of(chunk, partition.name)
    is_of = np.array([one in cells for one in values], np.bool_)
    return replace(chunk.take(np.flatnonzero(is_of[codes])), conditions=None)


def of_condition(source: ShardSource, split: SplitRows, cells: Sequence[Values], facts: ConditionFacts) -> ShardSource:
    """Return the trials of a source with some combinations of values, without the partitions that have none."""
    partitions = source.each(partial(_of_condition, split, tuple(cells)))
    return source.made_of([one for at, one in enumerate(partitions) if facts.partitions >> at & 1])


@dataclass(frozen=True, slots=True, eq=False)
class ConditionWeights:
    """Factors of the weights of trials, by condition and class.

    Attributes
    ----------
    split : SplitRows
    place : mapping of Values to int
        Index of each condition.
    factors : (n_conditions, n_classes) array
    strata : (n_conditions, n_classes) int array
        Index of the set of trials with its own mean.
    """

    split: SplitRows
    place: Mapping[Values, int]
    factors: FloatArray
    strata: IntArray


def _weighted(known: ConditionWeights, place: int | None, partition: SourcePartition, wanted: TrialFields) -> Chunk:
    """Read a partition, with trials of one condition or several, and weight them by condition."""
    chunk = partition.read(replace(wanted, truth=True, weight=True, conditions=place is None))
    of_trials: Any = place
    if place is None:
        values, codes = known.split.of(chunk, partition.name)
        of_trials = np.array([known.place[one] for one in values], np.int64)[codes]
    at = of_trials, chunk.labels.astype(np.int64)
    factor = known.factors[at]
    weight = factor if chunk.weight is None else factor * chunk.weight
    return replace(chunk, weight=weight if wanted.weight else None, stratum=known.strata[at], conditions=None)


def weighted_by_condition(source: ShardSource, weights: ConditionWeights) -> ShardSource:
    """Return a source with trials weighted by condition."""
    return source.map(partial(_weighted, weights, None), has_weights=True)


_Place: TypeAlias = tuple[int, int, int]
"""Trials of a condition in a partition: number of the partition, start in its file, and number of trials."""


class SortByCondition(SourcePass):
    """Pass that writes the trials of every partition to a temporary file, sorted by condition.

    Parameters
    ----------
    split : SplitRows
    wanted : TrialFields
        Columns to keep.
    folder : path
    """

    words = "sorting by condition"

    def __init__(self, split: SplitRows, wanted: TrialFields, folder: Path) -> None:
        self._given = split, replace(wanted, conditions=True), folder

    def of(self, partitions: Sequence[SourcePartition]) -> list[tuple[Values, _Place]]:
        """See `SourcePass.of`."""
        (split, wanted, folder), found = self._given, list[tuple[Values, _Place]]()
        for partition in partitions:
            number: int = getattr(partition, "number", 0)
            chunk = partition.read(wanted)
            values, codes = split.of(chunk, partition.name)
            order, sizes = np.argsort(codes, kind="stable"), np.bincount(codes, minlength=len(values))
            ends = np.cumsum(sizes).tolist()
            with _file_of(folder, number).open("wb") as file:
                for one, end, n in zip(values, ends, sizes.tolist(), strict=True):
                    place = number, file.tell(), n
                    own = _only(chunk, order[end - n : end])
                    for part in (replace(own, units=None, names=None), (own.units, own.names)):  # the first is enough
                        pickle.dump(part, file, protocol=5)
                    found.append((one, place))
        return found


def _file_of(folder: Path, number: int) -> Path:
    return folder / f"{number:06d}"


def _only(chunk: Chunk, rows: AnyArray) -> Chunk:
    """Return some trials with only their units."""
    own = replace(chunk.take(rows), conditions=None)
    return own if own.units is None else replace(own, units=own.units.only_used())


@dataclass(frozen=True, eq=False)
class _Sorted(SourcePartition):
    """Trials of one condition in a temporary file of a partition.

    Attributes
    ----------
    path : path
    start : int
        Position in the file.
    """

    path: Path
    start: int
    name: str
    n_rows: int

    def read(self, wanted: TrialFields) -> Chunk:
        """See `SourcePartition.read`."""
        try:
            with self.path.open("rb") as file:
                file.seek(self.start)
                chunk: Chunk = pickle.load(file)  # noqa: S301  # written by this process into a private folder
                is_more = wanted.units or wanted.names
                units, names = pickle.load(file) if is_more else (None, None)  # noqa: S301
        except (pickle.UnpicklingError, EOFError, FileNotFoundError) as error:
            raise changed(f"{self.path}, temporary rows of {self.name}") from error
        return replace(
            chunk,
            scores=chunk.scores * len(wanted.systems),
            truth=chunk.truth if wanted.truth else None,
            units=units if wanted.units else None,
            names=names if wanted.names else None,
            weight=chunk.weight if wanted.weight else None,
        )


@dataclass(frozen=True, slots=True, eq=False)
class SortedSource:
    """Trials of one system of a source, sorted by condition.

    Attributes
    ----------
    source : ShardSource
        Source of one system without partitions, which keeps the temporary folder.
    places : mapping of Values to sequence
        Places of the trials of each condition.
    names : tuple of str
        Names of the partitions, for messages.
    folder : path
    """

    source: ShardSource
    places: Mapping[Values, Sequence[_Place]]
    names: tuple[str, ...]
    folder: Path

    def of_condition(self, cells: Sequence[Values]) -> ShardSource:
        """Return the trials of a condition, which consists of some combinations of values."""
        return replace(
            self.source, partitions=tuple(partition for values in cells for partition in self._partitions(values))
        )

    def weighted(self, weights: ConditionWeights) -> ShardSource:
        """Return all trials, weighted by condition."""
        partitions = [
            MappedPartition(partition, partial(_weighted, weights, weights.place[values]), partition.name)
            for values in self.places
            for partition in self._partitions(values)
        ]
        return replace(self.source, partitions=tuple(partitions), has_weights=True)

    def _partitions(self, values: Values) -> tuple[SourcePartition, ...]:
        places = sorted(self.places[values])
        return tuple(_Sorted(_file_of(self.folder, at), start, self.names[at], n) for at, start, n in places)


def sorted_by_condition(
    source: ShardSource, engine: Engine, split: SplitRows, system: int, wanted: TrialFields
) -> SortedSource:
    """Sort the trials of a system by condition in one pass; the source is not read again.

    Parameters
    ----------
    source : ShardSource
    engine : Engine
        Its workers must be able to read files of this process.
    split : SplitRows
    system : int
        Index of the system.
    wanted : TrialFields
        Columns to keep besides scores, truth and weights: units or names.

    Raises
    ------
    FormatError, InputError, OSError
        If reading fails, or there is no room for temporary files.
    """
    folder = ScratchFolder()
    own = replace(wanted, systems=(system,), truth=True, weight=True)
    with folder.or_nothing() as path:
        places = dict[Values, list[_Place]]()
        for values, place in engine.run(SortByCondition(split, own, path), numbered(source)).found or ():
            places.setdefault(values, []).append(place)
    kept: Any = (source.kept, folder)
    one = replace(source, partitions=(), systems=(source.systems[system],), kept=kept)
    return SortedSource(one, places, tuple(partition.name for partition in source.partitions), path)
