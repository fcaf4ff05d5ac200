"""Units and conditions of trials that are read in batches: finding them, and counting or weighting their trials.

If every trial is a unit, the trials of a class in a bin have the same influence, up to their weights. So sums of
squares are computed bin by bin, in each group of the jackknife.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np

from deciban._files import ScratchFolder
from deciban.core.class_counts import totals_by_condition
from deciban.core.resampling import replicates
from deciban.core.resampling.linearised import ScoreBins
from deciban.core.resampling.replicates import BLOCK
from deciban.core.resampling.unit_counts import MOST_DEALT, CountedByUnit, SingleFacts, SingleSums
from deciban.core.resampling.units import Keys, SpeakersByName, TrialUnits, UnitFacts
from deciban.errors import Message
from deciban.evaluation.two_class.summary import BinnedTrials, TrialsByUnit, UnitTrials
from deciban.evaluation.uncertainty import Resampling
from deciban.memory import Cost, require_room_for_units, rows_that_fit
from deciban.trials import sources
from deciban.trials.speakers import TargetPairs
from deciban.types import AnyArray, CountArray, FloatArray, IntArray, ScoreArray

_SLICE = 1 << 14
"""Number of trials of one side that are handled at once, because all can have different units."""


@dataclass(frozen=True, slots=True, eq=False)
class UnitReader:
    """Reader of trials with their units. Supports pickle.

    Attributes
    ----------
    system : int
    by_name : SpeakersByName, optional
        Units by name, if the source has no units.
    n_strata : int
        Number of strata with equal weight; 0 without equal weights.
    """

    system: int
    by_name: SpeakersByName | None = None
    n_strata: int = 0

    @property
    def fields(self) -> sources.TrialFields:
        """The columns to read."""
        named = self.by_name is not None
        return sources.TrialFields((self.system,), truth=True, units=not named, weight=True, names=named)

    def trials(self, batch: sources.Batch) -> UnitTrials:
        """Return the trials of positive weight with their units."""
        batch = batch.counting
        own = batch.units_by(self.by_name)
        rows, weight, stratum = (batch.labels, ~batch.labels), batch.weight, batch.stratum if self.n_strata else None
        scores, units = [batch.scores[0][some] for some in rows], [own.take(some) for some in rows]
        weights = [None if weight is None else weight[some] for some in rows]
        strata = None if stratum is None else (stratum[rows[0]], stratum[rows[1]])
        pairs = (scores[0], scores[1]), (units[0], units[1]), (weights[0], weights[1])
        return UnitTrials(*pairs, strata, self.n_strata)


def looked_at(
    reader: UnitReader, keys: Keys | None, look: Callable[[UnitTrials], Any], batch: sources.Batch
) -> CountedByUnit | SingleSums:
    """Apply `look` to the trials of a partition; ``keys`` are those of all units in order, if trials share units."""
    trials = reader.trials(batch)
    if keys is not None:
        trials = replace(trials, units=(trials.units[0].among(keys), trials.units[1].among(keys)))
    result: CountedByUnit | SingleSums = look(trials)
    return replace(result, placed=None) if isinstance(result, SingleSums) else result


class ReplicateTally(sources.MapPass):
    """Sums of the weights of trials by class, bin and bootstrap replicate.

    The weights are a function of seed, replicate and key of a unit, so that batches share no state.

    Parameters
    ----------
    reader : UnitReader
    bins : ScoreBins
    seed : int
    numbers : range
        Numbers of the replicates.
    rows_per_batch : int
        More rows need more memory, but fewer computations of all weights.
    """

    def __init__(self, reader: UnitReader, bins: ScoreBins, seed: int, numbers: range, rows_per_batch: int) -> None:
        super().__init__(reader.fields, reader.trials, "counting replicates")
        self.bins, self.seed, self.numbers, self.rows_per_batch = bins, seed, numbers, rows_per_batch
        self.n_bytes = 16 * bins.n_bins * len(numbers)

    def take(self, partitions: Sequence[sources.SourcePartition]) -> None:
        """See `SourcePass.take`."""
        parts = [self.look(partition.read(self.fields)) for partition in partitions]
        used = [(one.units[0].only_used(), one.units[1].only_used()) for one in parts]
        trials = UnitTrials.merged([replace(one, units=own) for one, own in zip(parts, used, strict=True)])
        for c, (scores, own, weights) in enumerate(zip(trials.scores, trials.units, trials.weights, strict=True)):
            # Products of two units are faster if more trials share one.
            step = _SLICE if len(own.codes) == 1 else max(len(scores), 1)
            for first in range(0, len(scores), step):
                some = slice(first, first + step)
                self._add(c, scores[some], own.take(some).only_used(), None if weights is None else weights[some])

    def _add(self, c: int, scores: ScoreArray, units: TrialUnits, weights: CountArray | None) -> None:
        """Add trials of a class."""
        sums, step = (
            replicates.bin_sums(units, self.bins.of(scores), self.bins.n_bins, weights),
            replicates.block_size(units.n_units),
        )
        for first in range(0, len(self.numbers), step):
            numbers = self.numbers[first : first + step]
            result = sums.of(replicates.poisson_weights(units.keys, self.seed, np.array(numbers)))
            with self.lock:
                if self.result is None:
                    self.result = np.zeros((2, self.bins.n_bins, len(self.numbers)), result.dtype)
                self.result = self.result.astype(np.result_type(self.result, result), copy=False)
                self.result[c, :, first : first + step] += result


@dataclass(frozen=True, eq=False)
class SourceUnits(TrialsByUnit):
    """Trials of a source with their units; every count is a pass over the source.

    Attributes
    ----------
    source : TrialSource
    engine : Engine
    system : int
    units : TrialUnits
        All units, without trials.
    by_name : SpeakersByName, optional
        Units by name, if the source has no units.
    memory : int
        Limit in bytes.
    n_strata : int
        Number of strata with equal weight; 0 without equal weights.
    facts : SingleFacts, optional
        Facts about all trials, if every trial is a unit.
    """

    source: sources.TrialSource
    engine: sources.Engine
    system: int
    units: TrialUnits
    by_name: SpeakersByName | None = None
    memory: int = 1 << 30
    n_strata: int = 0
    facts: SingleFacts | None = None

    @property
    def reader(self) -> UnitReader:
        """The reader of trials with their units."""
        return UnitReader(self.system, self.by_name, self.n_strata)

    def __post_init__(self) -> None:
        """Refuse more units than fit in memory."""
        require_room_for_units(len(self.units.keys), self.memory)

    @property
    def about(self) -> TrialUnits:
        """See `TrialsByUnit.about`."""
        return self.units

    @property
    def singles(self) -> SingleFacts | None:
        """See `TrialsByUnit.singles`."""
        return self.facts

    def look(self, look: Callable[[UnitTrials], Any]) -> Any:
        """See `TrialsByUnit.look`; one pass."""
        keys = self.units.keys if self.facts is None else None
        looking = partial(looked_at, self.reader, keys, look)
        return sources.found_in(self.source, self.engine, self.reader.fields, looking, "counting by unit")

    def drawn(
        self, metrics_of: replicates.MetricsOfTables, counted: BinnedTrials, resampling: Resampling
    ) -> replicates.Replicated:
        """See `TrialsByUnit.drawn`; each pass computes as many replicates as fit in memory."""
        whole, result = (counted.costs.n_tar, counted.costs.n_non), list[replicates.Replicated]()
        of_block, threads = Cost.REPLICATE_BIN * counted.bins.n_bins * BLOCK, self.engine.n_at_once
        at_once = BLOCK * rows_that_fit(self.memory, of_block, at_once=threads)
        rows = rows_that_fit(self.memory, Cost.REPLICATED, at_once=threads, fewest=1 << 16, most=1 << 20)
        for first in range(0, resampling.bootstrap, at_once):
            numbers = range(first, min(first + at_once, resampling.bootstrap))
            work = ReplicateTally(self.reader, counted.bins, resampling.seed, numbers, rows)
            tar, non = self.engine.run(work, self.source.partitions).result
            for start in range(0, len(numbers), BLOCK):
                some = slice(start, start + BLOCK)
                result.append(replicates.of_both_classes(metrics_of, (tar[:, some], non[:, some]), whole))
        metrics, has_both = (np.concatenate(parts) for parts in zip(*result, strict=True))
        return metrics, has_both


def survey_trials(source: sources.TrialSource, engine: sources.Engine) -> SingleFacts:
    """Return facts about a source in which every trial is a unit; keys are not read if there are very many."""
    fields = sources.TrialFields((), truth=True, units=source.n_rows <= MOST_DEALT or source.has_weights, weight=True)
    facts: SingleFacts | None = sources.found_in(source, engine, fields, _single_facts, "looking at units")
    return SingleFacts.of([np.zeros(0)] * 2, np.zeros(0, np.uint64)) if facts is None else facts


def _single_facts(batch: sources.Batch) -> SingleFacts:
    batch = batch.counting
    own = np.ones(len(batch.labels)) if batch.weight is None else batch.weight.astype(np.float64)
    keys = None if batch.units is None else batch.units.keys[batch.units.codes[0]]
    return SingleFacts.of([own[batch.labels], own[~batch.labels]], keys)


class _Facts(tuple[UnitFacts, ...]):
    """Facts about units for several namings; ``a + b`` covers the trials of both."""

    __slots__ = ()

    def __add__(self, other: _Facts) -> _Facts:  # type: ignore[override]
        return _Facts(a + b for a, b in zip(self, other, strict=True))


def look_at_units(
    source: sources.TrialSource, engine: sources.Engine, ways: Sequence[SpeakersByName | None] = (None,)
) -> tuple[UnitFacts, ...]:
    """Return facts about the units of a source, from one pass.

    Parameters
    ----------
    source : TrialSource
    engine : Engine
    ways : sequence of SpeakersByName or None
        Units by name, for each naming; None for the units in the source.

    Returns
    -------
    tuple of UnitFacts
        The facts for each naming.
    """
    by_name = any(one is not None for one in ways)
    fields = sources.TrialFields((), truth=True, units=None in ways, weight=True, names=by_name)
    result: _Facts | None = sources.found_in(source, engine, fields, partial(_facts_of, ways), "looking at units")
    return tuple(UnitFacts() for _ in ways) if result is None else result


def _facts_of(ways: Sequence[SpeakersByName | None], batch: sources.Batch) -> _Facts | None:
    batch = batch.counting
    if not len(batch.labels):
        return None
    return _Facts(UnitFacts.of_partition(batch.units_by(way), batch.labels) for way in ways)


@dataclass(frozen=True, slots=True, eq=False)
class UnitsFound:
    """Units of a source, and how they were found.

    Attributes
    ----------
    facts : UnitFacts
    by_name : SpeakersByName or None
        Units by name, if the source has no units.
    said : tuple of Message
        Assumptions that were made.
    """

    facts: UnitFacts
    by_name: SpeakersByName | None = None
    said: tuple[Message, ...] = ()


def speakers_by_batch(source: sources.TrialSource, engine: sources.Engine) -> tuple[UnitFacts, SpeakersByName]:
    """Find speakers from target trials, as `deciban.trials.units.speakers_of` does in memory.

    Parameters
    ----------
    source : TrialSource
        With names of both sides.
    engine : Engine
    """
    pairs = engine.run(TargetPairs(), source.partitions).gathered()
    has_channels = len(source.sides) > 2
    ways = [pairs.speakers(apart=False, has_channels=has_channels)]
    if not has_channels and len(np.intersect1d(*pairs.names)):
        ways.append(pairs.speakers(apart=True, has_channels=False))
    facts = look_at_units(source, engine, ways)
    at = 1 if len(ways) > 1 and facts[0].n_contradictions and not facts[1].n_contradictions else 0
    return facts[at], ways[at]


Values: TypeAlias = tuple[str | None, ...]
"""The value of each column in a condition; None if a column has no value."""


class SplitRows(Protocol):
    """Division of trials into conditions. Supports pickle."""

    def of(self, batch: sources.Batch, name: str) -> tuple[list[Values], IntArray]:
        """Return the conditions, and the index of the condition of each trial; ``name`` is for messages."""

    def require_few(self, values: Sequence[Values]) -> None:
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


class ConditionPass(sources.SourcePass):
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
        self.result = _ConditionCounts(self.splits, tuple({} for _ in self.splits))

    def of(self, partitions: Sequence[sources.SourcePartition]) -> _ConditionCounts:
        """See `SourcePass.of`."""
        counts: _ConditionCounts = self.empty().result
        for partition in partitions:
            batch = partition.read(sources.TrialFields((), truth=True, weight=True, conditions=True))
            bit = 1 << getattr(partition, "number", 0)
            counts += _ConditionCounts(
                self.splits, tuple(self._facts(batch, one, partition.name, bit) for one in self.splits)
            )
        return counts

    def _facts(self, batch: sources.Batch, split: SplitRows, name: str, bit: int) -> dict[Values, ConditionFacts]:
        values, codes = split.of(batch, name)
        sizes = {"n_conditions": len(values), "n_classes": self.n_classes}
        totals = totals_by_condition(codes, batch.labels.astype(np.int64), batch.weight, **sizes)
        n_trials = np.bincount(codes, minlength=len(values)).tolist()
        return {one: ConditionFacts(n, row, bit) for one, n, row in zip(values, n_trials, totals, strict=True)}


@dataclass(frozen=True, slots=True, eq=False)
class _ConditionCounts:
    """Counts of the conditions of each division; ``a + b`` covers the trials of both."""

    splits: tuple[SplitRows, ...]
    each: tuple[Mapping[Values, ConditionFacts], ...]

    def __add__(self, other: _ConditionCounts) -> _ConditionCounts:
        items = []
        for split, one, more in zip(self.splits, self.each, other.each, strict=True):
            items.append({**one, **{key: one[key] + facts if key in one else facts for key, facts in more.items()}})
            split.require_few([*items[-1]])
        return _ConditionCounts(self.splits, tuple(items))


def look_at_conditions(
    source: sources.TrialSource, engine: sources.Engine, splits: Sequence[SplitRows], n_classes: int
) -> list[dict[Values, ConditionFacts]]:
    """Return the conditions of the trials of a source and their counts, for each division, from one pass.

    Raises
    ------
    FormatError, InputError, OSError
        If reading fails, or there are too many conditions.
    """
    return [dict(one) for one in engine.run(ConditionPass(splits, n_classes), sources.numbered(source)).result.each]


def _of_condition(
    split: SplitRows, bins: tuple[Values, ...], partition: sources.SourcePartition, fields: sources.TrialFields
) -> sources.Batch:
    """Read the trials of one condition from a partition."""
    batch = partition.read(replace(fields, conditions=True))
    values, codes = split.of(batch, partition.name)
    is_of = np.array([one in bins for one in values], np.bool_)
    return replace(batch.take(np.flatnonzero(is_of[codes])), conditions=None)


def of_condition(
    source: sources.TrialSource, split: SplitRows, bins: Sequence[Values], facts: ConditionFacts
) -> sources.TrialSource:
    """Return the trials of a source with some combinations of values, without the partitions that have none."""
    partitions = source.each(partial(_of_condition, split, tuple(bins)))
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


def _weighted(
    weights: ConditionWeights, place: int | None, partition: sources.SourcePartition, fields: sources.TrialFields
) -> sources.Batch:
    """Read a partition, with trials of one condition or several, and weight them by condition."""
    batch = partition.read(replace(fields, truth=True, weight=True, conditions=place is None))
    of_trials: Any = place
    if place is None:
        values, codes = weights.split.of(batch, partition.name)
        of_trials = np.array([weights.place[one] for one in values], np.int64)[codes]
    at = of_trials, batch.labels.astype(np.int64)
    factor = weights.factors[at]
    weight = factor if batch.weight is None else factor * batch.weight
    return replace(batch, weight=weight if fields.weight else None, stratum=weights.strata[at], conditions=None)


def weighted_by_condition(source: sources.TrialSource, weights: ConditionWeights) -> sources.TrialSource:
    """Return a source with trials weighted by condition."""
    return source.map(partial(_weighted, weights, None), has_weights=True)


_Place: TypeAlias = tuple[int, int, int]
"""Trials of a condition in a partition: number of the partition, start in its file, and number of trials."""


class SortByCondition(sources.SourcePass):
    """Pass that writes the trials of every partition to a temporary file, sorted by condition.

    Parameters
    ----------
    split : SplitRows
    fields : TrialFields
        Columns to keep.
    folder : path
    """

    words = "sorting by condition"

    def __init__(self, split: SplitRows, fields: sources.TrialFields, folder: Path) -> None:
        self._task = split, replace(fields, conditions=True), folder

    def of(self, partitions: Sequence[sources.SourcePartition]) -> list[tuple[Values, _Place]]:
        """See `SourcePass.of`."""
        (split, expected, folder), result = self._task, list[tuple[Values, _Place]]()
        for partition in partitions:
            number: int = getattr(partition, "number", 0)
            batch = partition.read(expected)
            values, codes = split.of(batch, partition.name)
            order, sizes = np.argsort(codes, kind="stable"), np.bincount(codes, minlength=len(values))
            ends = np.cumsum(sizes).tolist()
            with _file_of(folder, number).open("wb") as file:
                for one, end, n in zip(values, ends, sizes.tolist(), strict=True):
                    place = number, file.tell(), n
                    own = _only(batch, order[end - n : end])
                    for part in (replace(own, units=None, names=None), (own.units, own.names)):  # the first is enough
                        pickle.dump(part, file, protocol=5)
                    result.append((one, place))
        return result


def _file_of(folder: Path, number: int) -> Path:
    return folder / f"{number:06d}"


def _only(batch: sources.Batch, rows: AnyArray) -> sources.Batch:
    """Return some trials with only their units."""
    own = replace(batch.take(rows), conditions=None)
    return own if own.units is None else replace(own, units=own.units.only_used())


@dataclass(frozen=True, eq=False)
class _Sorted(sources.SourcePartition):
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

    def read(self, fields: sources.TrialFields) -> sources.Batch:
        """See `SourcePartition.read`."""
        try:
            with self.path.open("rb") as file:
                file.seek(self.start)
                batch: sources.Batch = pickle.load(file)  # noqa: S301  # written by this process into a private folder
                is_more = fields.units or fields.names
                units, names = pickle.load(file) if is_more else (None, None)  # noqa: S301
        except (pickle.UnpicklingError, EOFError, FileNotFoundError) as error:
            raise sources.changed(f"{self.path}, temporary rows of {self.name}") from error
        return replace(
            batch,
            scores=batch.scores * len(fields.systems),
            truth=batch.truth if fields.truth else None,
            units=units if fields.units else None,
            names=names if fields.names else None,
            weight=batch.weight if fields.weight else None,
        )


@dataclass(frozen=True, slots=True, eq=False)
class SortedSource:
    """Trials of one system of a source, sorted by condition.

    Attributes
    ----------
    source : TrialSource
        Source of one system without partitions, which keeps the temporary folder.
    places : mapping of Values to sequence
        Places of the trials of each condition.
    names : tuple of str
        Names of the partitions, for messages.
    folder : path
    """

    source: sources.TrialSource
    places: Mapping[Values, Sequence[_Place]]
    names: tuple[str, ...]
    folder: Path

    def of_condition(self, bins: Sequence[Values]) -> sources.TrialSource:
        """Return the trials of a condition, which consists of some combinations of values."""
        return replace(
            self.source, partitions=tuple(partition for values in bins for partition in self._partitions(values))
        )

    def weighted(self, weights: ConditionWeights) -> sources.TrialSource:
        """Return all trials, weighted by condition."""
        partitions = [
            sources.MappedPartition(partition, partial(_weighted, weights, weights.place[values]), partition.name)
            for values in self.places
            for partition in self._partitions(values)
        ]
        return replace(self.source, partitions=tuple(partitions), has_weights=True)

    def _partitions(self, values: Values) -> tuple[sources.SourcePartition, ...]:
        places = sorted(self.places[values])
        return tuple(_Sorted(_file_of(self.folder, at), start, self.names[at], n) for at, start, n in places)


def sorted_by_condition(
    source: sources.TrialSource, engine: sources.Engine, split: SplitRows, system: int, fields: sources.TrialFields
) -> SortedSource:
    """Sort the trials of a system by condition in one pass; the source is not read again.

    Parameters
    ----------
    source : TrialSource
    engine : Engine
        Its workers must be able to read files of this process.
    split : SplitRows
    system : int
        Index of the system.
    fields : TrialFields
        Columns to keep besides scores, truth and weights: units or names.

    Raises
    ------
    FormatError, InputError, OSError
        If reading fails, or there is no room for temporary files.
    """
    folder = ScratchFolder()
    own = replace(fields, systems=(system,), truth=True, weight=True)
    with folder.or_nothing() as path:
        places = dict[Values, list[_Place]]()
        for values, place in engine.run(SortByCondition(split, own, path), sources.numbered(source)).result or ():
            places.setdefault(values, []).append(place)
    kept: object = (source.kept, folder)
    one = replace(source, partitions=(), systems=(source.systems[system],), kept=kept)
    return SortedSource(one, places, tuple(partition.name for partition in source.partitions), path)
