"""Units of trials in batches: which there are, and how many trials each has in every cell, by one pass each.

Where trials are units by themselves, those of a class in a cell move metrics alike, up to their weights: squares are
added up cell by cell, in each group that is left out in turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

import numpy as np

from deciban.core.resampling.clusters import ClusterDesign
from deciban.core.resampling.intervals import ClassSize, effective_numbers
from deciban.core.resampling.linearised import Cells, CellTotals, LinearCosts, cells_of
from deciban.core.resampling.replicates import (
    BLOCK,
    FiguresOfTables,
    Replicated,
    SumsOfUnits,
    block_size,
    cell_sums,
    of_both_classes,
    poisson_weights,
)
from deciban.core.resampling.unit_counts import (
    MOST_DEALT,
    SingleCounts,
    UnitCounts,
    groups_of_keys,
    jackknife_weights,
    sums_of_singles,
)
from deciban.core.resampling.units import Keys, TrialUnits, UnlistedUnits, distinct, independent
from deciban.evaluation.summary import N_GROUPS, Resampling, TrialsByUnit, TrialsInCells, UnitTrials, replicated_by
from deciban.memory import Cost, require_room_for_units, rows_that_fit
from deciban.messages import Message
from deciban.metrics import SortedScores
from deciban.trials.passes import Engine, Looks, found_in
from deciban.trials.sources import Chunk, Piece, ShardSource, Wanted
from deciban.trials.speakers import SpeakersByName, TargetPairs
from deciban.types import AnyArray, BoolArray, CountArray, FloatArray, IntArray, ScoreArray

_SLICE = 1 << 14
"""Trials of one unit that are handled at once: they may all have different ones."""


@dataclass(frozen=True, slots=True, eq=False)
class UnitReader:
    """Reads the trials of a source with their units. Can be pickled.

    Attributes
    ----------
    system : int
    by_name : SpeakersByName, optional
        The units of names, where pieces do not say those of trials.
    n_strata : int
        How many strata count alike; 0 where trials are not weighted so.
    """

    system: int
    by_name: SpeakersByName | None = None
    n_strata: int = 0

    @property
    def wanted(self) -> Wanted:
        """The columns to read."""
        named = self.by_name is not None
        return Wanted((self.system,), truth=True, units=not named, weight=True, names=named)

    def trials(self, chunk: Chunk) -> UnitTrials:
        """Return the trials that count, with their units."""
        chunk = chunk.counting
        own = chunk.units if self.by_name is None else self.by_name.units_of(chunk)
        assert own is not None  # noqa: S101  # they were asked for
        rows, weight, stratum = (chunk.labels, ~chunk.labels), chunk.weight, chunk.stratum if self.n_strata else None
        scores, units = [chunk.scores[0][some] for some in rows], [own.take(some) for some in rows]
        weights = [None if weight is None else weight[some] for some in rows]
        strata = None if stratum is None else (stratum[rows[0]], stratum[rows[1]])
        pairs = (scores[0], scores[1]), (units[0], units[1]), (weights[0], weights[1])
        return UnitTrials(*pairs, strata, self.n_strata)


@dataclass(frozen=True, slots=True, eq=False)
class CountedByUnit:
    """Trials of both classes by unit and cell; ``a + b`` are those of both."""

    counts: tuple[UnitCounts, UnitCounts]
    totals: tuple[CellTotals, CellTotals]

    def __add__(self, other: CountedByUnit) -> CountedByUnit:
        """Add the trials of another part."""
        (tar, non), (of_tar, of_non) = self.counts, self.totals
        counts = tar + other.counts[0], non + other.counts[1]
        return CountedByUnit(counts, (of_tar + other.totals[0], of_non + other.totals[1]))


def count_by_unit(reader: UnitReader, cells: Cells, keys: Keys, chunk: Chunk) -> CountedByUnit:
    """Count the trials of a piece by unit and cell; ``keys`` are those of all units, ascending."""
    trials = reader.trials(chunk)
    trials = replace(trials, units=(trials.units[0].among(keys), trials.units[1].among(keys)))
    tar, non = (
        CellTotals.of(scores, cells.of(scores), cells.n_cells, weights)
        for scores, weights in zip(trials.scores, trials.weights, strict=True)
    )
    return CountedByUnit(trials.by_unit(cells, (tar.counts, non.counts)), (tar, non))


class ReplicateTally(Looks):
    """Sums of the weights of trials in cells, of both classes, in some replicates of the bootstrap.

    Weights follow from seed, replicate and key of a unit, so that nothing is shared between batches.

    Parameters
    ----------
    reader : UnitReader
    cells : Cells
    seed : int
    numbers : range
        Of the replicates.
    rows_per_batch : int
        More rows at once take more memory and fewer looks at all weights.
    """

    def __init__(self, reader: UnitReader, cells: Cells, seed: int, numbers: range, rows_per_batch: int) -> None:
        super().__init__(reader.wanted, reader.trials, "counting replicates")
        self.cells, self.seed, self.numbers, self.rows_per_batch = cells, seed, numbers, rows_per_batch
        self.n_bytes = 16 * cells.n_cells * len(numbers)

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        parts = [self.look(piece.read(self.wanted)) for piece in pieces]
        used = [(one.units[0].only_used(), one.units[1].only_used()) for one in parts]
        trials = UnitTrials.merged([replace(one, units=own) for one, own in zip(parts, used, strict=True)])
        for c, (scores, own, weights) in enumerate(zip(trials.scores, trials.units, trials.weights, strict=True)):
            # Products of two units are the faster the more trials share one.
            step = _SLICE if len(own.codes) == 1 else max(len(scores), 1)
            for first in range(0, len(scores), step):
                some = slice(first, first + step)
                self._add(c, scores[some], own.take(some).only_used(), None if weights is None else weights[some])

    def _add(self, c: int, scores: ScoreArray, units: TrialUnits, weights: CountArray | None) -> None:
        """Add trials of a class."""
        sums, step = cell_sums(units, self.cells.of(scores), self.cells.n_cells, weights), block_size(units.n_units)
        for first in range(0, len(self.numbers), step):
            numbers = self.numbers[first : first + step]
            found = sums.of(poisson_weights(units.keys, self.seed, np.array(numbers)))
            with self.lock:
                if self.found is None:
                    self.found = np.zeros((2, self.cells.n_cells, len(self.numbers)), found.dtype)
                self.found = self.found.astype(np.result_type(self.found, found), copy=False)
                self.found[c, :, first : first + step] += found


@dataclass(frozen=True, eq=False)
class UnitsInPieces(TrialsByUnit):
    """Trials of a source with their units: every count is a pass over it.

    Attributes
    ----------
    source : ShardSource
    engine : Engine
    system : int
    units : TrialUnits
        All units, of no trial.
    by_name : SpeakersByName, optional
        The units of names, where pieces do not say those of trials.
    memory : int
        Bytes that may be taken.
    n_strata : int
        How many strata count alike; 0 where trials are not weighted so.
    facts : TrialFacts, optional
        Of all trials, where each of them is a unit.
    """

    source: ShardSource
    engine: Engine
    system: int
    units: TrialUnits
    by_name: SpeakersByName | None = None
    memory: int = 1 << 30
    n_strata: int = 0
    facts: TrialFacts | None = None

    @property
    def reader(self) -> UnitReader:
        """The reader of trials with their units."""
        return UnitReader(self.system, self.by_name, self.n_strata)

    def __post_init__(self) -> None:
        """Refuse more units than the memory holds."""
        require_room_for_units(len(self.units.keys), self.memory)

    @property
    def about(self) -> TrialUnits:
        """See `TrialsByUnit.about`."""
        return self.units

    def counted(self, ranks: SortedScores, wanted: FloatArray) -> TrialsInCells:
        """See `TrialsByUnit.counted`."""
        cells, facts = cells_of(ranks.table, ranks.pav, wanted, self.about.n_units), self.facts
        look: Any = partial(count_by_unit, self.reader, cells, self.units.keys)
        if facts is not None:
            look = partial(count_singles, self.reader, cells, facts.dealt(), facts)
        found: Any = found_in(self.source, self.engine, self.reader.wanted, look, "counting by unit")
        of_tar, of_non = found.totals
        costs = LinearCosts.of_totals(of_tar, of_non, ranks.pav, ranks.rocch, cells)
        if facts is None:
            return TrialsInCells(costs, *found.counts)
        tar, non = (
            ClassSize(float(total) / one, float(effective_numbers(total, squares)), n)
            for (total, squares), one, n in zip(facts.weights, costs.one_trial, facts.n.tolist(), strict=True)
        )
        in_cells = [of_tar.counts, of_non.counts]
        counts = SingleCounts.of_classes(list(found.own), list(found.squares), list(found.fourths), in_cells)
        return TrialsInCells(costs, *counts, singles=ClusterDesign.of_trials((tar, non)))

    def replicated(self, figures_of: FiguresOfTables, counted: TrialsInCells, asked: Resampling) -> Replicated:
        """See `TrialsByUnit.replicated`: a pass for as many replicates as there is room for."""
        if self.facts is None and len(self.units.codes) == 1:  # counts by unit and cell are enough
            sums = SumsOfUnits(counted.tar.counts), SumsOfUnits(counted.non.counts)
            return replicated_by(sums, figures_of, counted, self.units.keys, asked)
        whole, found = (counted.costs.n_tar, counted.costs.n_non), list[Replicated]()
        of_block, threads = Cost.REPLICATE_CELL * counted.cells.n_cells * BLOCK, self.engine.n_at_once
        at_once = BLOCK * rows_that_fit(self.memory, of_block, at_once=threads)
        rows = rows_that_fit(self.memory, Cost.REPLICATED, at_once=threads, fewest=1 << 16, most=1 << 20)
        for first in range(0, asked.bootstrap, at_once):
            numbers = range(first, min(first + at_once, asked.bootstrap))
            work = ReplicateTally(self.reader, counted.cells, asked.seed, numbers, rows)
            tar, non = self.engine.run(work, self.source.pieces).found
            for start in range(0, len(numbers), BLOCK):
                some = slice(start, start + BLOCK)
                found.append(of_both_classes(figures_of, (tar[:, some], non[:, some]), whole))
        figures, has_both = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return figures, has_both


@dataclass(frozen=True, slots=True, eq=False)
class TrialFacts:
    """Numbers of trials of each class that count, their weights and keys; ``a + b`` covers both parts.

    Attributes
    ----------
    n : (2,) int array
        Targets and non-targets.
    weights : (2, 2) array
        Their weights, and squares of these, added up.
    keys : uint64 array or None
        None of more trials than are dealt out to groups.
    """

    n: IntArray
    weights: FloatArray
    keys: Keys | None

    @classmethod
    def of(cls, chunk: Chunk) -> TrialFacts:
        """From trials of a piece."""
        chunk = chunk.counting
        own = np.ones(len(chunk.labels)) if chunk.weight is None else chunk.weight.astype(np.float64)
        both = [own[chunk.labels], own[~chunk.labels]]
        keys = None if chunk.units is None else keys_of_singles(chunk.units)
        return cls(np.array(list(map(len, both))), np.array([(one.sum(), one @ one) for one in both]), keys)

    def __add__(self, other: TrialFacts) -> TrialFacts:
        """Add the trials of another part."""
        n, keys = self.n + other.n, None
        if self.keys is not None and other.keys is not None and n.sum() <= MOST_DEALT:
            keys = np.concatenate((self.keys, other.keys))
        return TrialFacts(n, self.weights + other.weights, keys)

    @property
    def units(self) -> UnlistedUnits:
        """The units of all trials."""
        none = (np.zeros(0, np.int64),), np.zeros(0, np.uint64)
        return UnlistedUnits(*none, "trial", independent("trial"), int(self.n.sum()))

    @property
    def unit_facts(self) -> UnitFacts:
        """The same as of other units."""
        return UnitFacts(
            {c: ClassFacts(n, are_alike=n < 2) for c, n in zip((1, 0), self.n.tolist(), strict=True)}, units=self.units
        )

    def dealt(self) -> Keys | None:
        """The keys of all trials, ascending; None of very many."""
        return None if self.keys is None or self.n.sum() > MOST_DEALT else np.sort(self.keys)


def survey_trials(source: ShardSource, engine: Engine) -> TrialFacts:
    """Look at the trials of a source that are units by themselves: one pass; keys of very many are not read."""
    wanted = Wanted((), truth=True, units=source.n_rows <= MOST_DEALT or source.has_weights, weight=True)
    none = TrialFacts(np.zeros(2, np.int64), np.zeros((2, 2)), np.zeros(0, np.uint64))
    found: TrialFacts | None = found_in(source, engine, wanted, TrialFacts.of, "looking at units")
    return none if found is None else found


def keys_of_singles(units: TrialUnits) -> Keys:
    """Return the key of each trial."""
    return units.keys[units.codes[0]]


@dataclass(frozen=True, slots=True, eq=False)
class CountedSingles:
    """Trials of both classes by group and cell, and the second and fourth powers of their weights; these add up.

    Attributes
    ----------
    totals : pair of CellTotals
    own, squares, fourths : (2, n_groups, n_cells) arrays
    """

    totals: tuple[CellTotals, CellTotals]
    own: CountArray
    squares: CountArray
    fourths: CountArray

    def __add__(self, other: CountedSingles) -> CountedSingles:
        """Add the trials of another part."""
        totals = self.totals[0] + other.totals[0], self.totals[1] + other.totals[1]
        sums = self.own + other.own, self.squares + other.squares, self.fourths + other.fourths
        return CountedSingles(totals, *sums)


def count_singles(
    reader: UnitReader, cells: Cells, known: Keys | None, facts: TrialFacts, chunk: Chunk
) -> CountedSingles:
    """Count the trials of a piece, each of which is a unit.

    Parameters
    ----------
    reader : UnitReader
    cells : Cells
    known : (n,) uint64 array or None
        The keys of all trials, ascending, where there are few enough.
    facts : TrialFacts
        Of all trials.
    chunk : Chunk
    """
    trials, totals, sums, shape = reader.trials(chunk), [], [], (N_GROUPS, cells.n_cells)
    classes = zip(facts.weights[:, 0].tolist(), facts.n.tolist(), strict=True)
    for scores, units, weights, (total, n) in zip(trials.scores, trials.units, trials.weights, classes, strict=True):
        keys, cell = keys_of_singles(units), cells.of(scores).astype(np.int64, copy=False)
        if known is None:
            groups = groups_of_keys(keys, N_GROUPS)
        else:
            groups = np.searchsorted(known, keys) % max(min(N_GROUPS, len(known)), 1)
        totals.append(CellTotals.of(scores, cell, shape[1], weights))
        mass = None if weights is None else jackknife_weights(weights, total, n)
        sums.append(sums_of_singles(groups * shape[1] + cell, weights, mass, shape))
    own, squares, fourths = (np.stack(pair) for pair in zip(*sums, strict=True))
    return CountedSingles((totals[0], totals[1]), own, squares, fourths)


@dataclass(slots=True)
class ClassFacts:
    """What all trials of a class share.

    Attributes
    ----------
    n_trials : int
    common : frozenset of int
        Numbers of units that every trial has, on either side.
    first : tuple of int
        The units of one trial, side by side.
    are_alike : bool
        Whether all others have the same.
    """

    n_trials: int = 0
    common: frozenset[int] = frozenset()
    first: tuple[int, ...] = ()
    are_alike: bool = True

    @classmethod
    def of(cls, units: TrialUnits, chosen: BoolArray) -> Self:
        """Of some trials. Only units of the first one that the last one has, too, can be common to all.

        Examples
        --------
        >>> units = TrialUnits.of([["ann", "bob"], ["cid", "ann"], ["cid", "bob"]])
        >>> [len(ClassFacts.of(units, np.array(some)).common) for some in ([True, True, False], [True, True, True])]
        [1, 0]
        """
        at = np.flatnonzero(chosen)
        if not len(at):
            return cls()
        first, last = ([int(side[at[place]]) for side in units.codes] for place in (0, -1))
        alike = first == last and all(
            bool(np.all(side[at] == one)) for side, one in zip(units.codes, first, strict=True)
        )
        candidates = {*first} & {*last}
        common = {one for one in candidates if np.logical_or.reduce([side[at] == one for side in units.codes]).all()}
        keys = units.keys
        return cls(len(at), frozenset(int(keys[one]) for one in common), tuple(int(keys[one]) for one in first), alike)

    def __add__(self, other: ClassFacts) -> ClassFacts:
        """Add the other set of trials."""
        if not self.n_trials or not other.n_trials:
            return self if self.n_trials else other
        alike = self.are_alike and other.are_alike and self.first == other.first
        return ClassFacts(self.n_trials + other.n_trials, self.common & other.common, self.first, alike)


@dataclass(slots=True)
class UnitFacts:
    """Units of all trials by one way to name them.

    Attributes
    ----------
    classes : dict of int to ClassFacts
        By what the truth of trials is.
    n_contradictions : int
        Trials that are no targets, with one unit on both sides.
    keys : (n_units,) uint64 array
        Of units that trials have, ascending.
    units : TrialUnits or None
        All units, of no trial; None if there is none.
    """

    classes: dict[int, ClassFacts] = field(default_factory=dict)
    n_contradictions: int = 0
    keys: Keys = field(default_factory=lambda: np.zeros(0, np.uint64))
    units: TrialUnits | None = None

    @classmethod
    def of(cls, units: TrialUnits, truth: AnyArray, counting: BoolArray | None = None) -> Self:
        """Of some trials, or of those that count; then units are those that trials have, by their keys."""
        masks = {int(c): truth == c for c in np.flatnonzero(np.bincount(truth))}
        masks = masks if counting is None else {c: mask & counting for c, mask in masks.items()}
        classes = {c: ClassFacts.of(units, mask) for c, mask in masks.items()}
        same: BoolArray = (units.codes[0] == units.codes[-1]) & masks.get(0, np.zeros(len(truth), np.bool_))
        n = int(np.count_nonzero(same)) if len(units.codes) == 2 else 0
        return cls(classes, n, units.keys, units.take(slice(0)))

    @classmethod
    def of_piece(cls, units: TrialUnits, truth: AnyArray) -> Self:
        """Look at the trials of a piece, which may have few of the units."""
        found = cls.of(units.only_used(), truth)
        keys = np.sort(found.keys)
        return replace(found, keys=keys, units=replace(units.take(slice(0)), keys=keys))

    def trials_of(self, truth: int) -> int:
        """Trials of a class."""
        return self.classes[truth].n_trials if truth in self.classes else 0

    def __add__(self, other: UnitFacts) -> UnitFacts:
        """Add the other set of trials."""
        both = {
            c: self.classes.get(c, ClassFacts()) + other.classes.get(c, ClassFacts())
            for c in sorted({*self.classes, *other.classes})
        }
        keys = distinct(np.concatenate((self.keys, other.keys)))
        units = self.units or other.units
        units = None if units is None else replace(units, keys=keys)
        return UnitFacts(both, self.n_contradictions + other.n_contradictions, keys, units)

    @property
    def n_trials(self) -> int:
        """Trials that count."""
        return sum(one.n_trials for one in self.classes.values())

    @property
    def all_alike(self) -> bool:
        """True if no class has trials of different units."""
        return all(one.are_alike for one in self.classes.values())

    def sharing(self) -> list[int]:
        """Classes of which all trials have a unit in common; none where every trial has a unit of its own."""
        if self.units is None or (len(self.units.codes) == 1 and len(self.keys) >= self.n_trials):
            return []
        return [c for c, one in self.classes.items() if one.n_trials and one.common]


class _Facts(tuple[UnitFacts, ...]):
    """Units of trials by several ways to name them; ``a + b`` covers the trials of both."""

    __slots__ = ()

    def __add__(self, other: _Facts) -> _Facts:  # type: ignore[override]
        return _Facts(a + b for a, b in zip(self, other, strict=True))


def look_at_units(
    source: ShardSource, engine: Engine, ways: Sequence[SpeakersByName | None] = (None,)
) -> tuple[UnitFacts, ...]:
    """Find out what has to be said of units: one pass.

    Parameters
    ----------
    source : ShardSource
    engine : Engine
    ways : sequence of SpeakersByName or None
        Ways to name the units of trials; None for what pieces say themselves.

    Returns
    -------
    tuple of UnitFacts
        Of each way.
    """
    by_name = any(one is not None for one in ways)
    wanted = Wanted((), truth=True, units=None in ways, weight=True, names=by_name)
    found: _Facts | None = found_in(source, engine, wanted, partial(_facts_of, ways), "looking at units")
    return tuple(UnitFacts() for _ in ways) if found is None else found


def _facts_of(ways: Sequence[SpeakersByName | None], chunk: Chunk) -> _Facts | None:
    chunk = chunk.counting
    if not len(chunk.labels):
        return None
    units: list[Any] = [chunk.units if way is None else way.units_of(chunk) for way in ways]
    return _Facts(UnitFacts.of_piece(one, chunk.labels) for one in units)


@dataclass(frozen=True, slots=True, eq=False)
class UnitsFound:
    """Units of a source.

    Attributes
    ----------
    facts : UnitFacts
        What is known of them.
    by_name : SpeakersByName or None
        The units of names, where pieces do not say those of trials.
    said : tuple of Message
        What was assumed to find them.
    """

    facts: UnitFacts
    by_name: SpeakersByName | None = None
    said: tuple[Message, ...] = ()


def speakers_in_pieces(source: ShardSource, engine: Engine) -> tuple[UnitFacts, SpeakersByName]:
    """Find speakers from target trials, as `deciban.trials.units.speakers_of` does in memory.

    Parameters
    ----------
    source : ShardSource
        With names of both sides.
    engine : Engine
    """
    pairs = engine.run(TargetPairs(), source.pieces).gathered()
    has_channels = len(source.sides) > 2
    ways = [pairs.speakers(apart=False, has_channels=has_channels)]
    if not has_channels and len(np.intersect1d(*pairs.names)):
        ways.append(pairs.speakers(apart=True, has_channels=False))
    facts = look_at_units(source, engine, ways)
    at = 1 if len(ways) > 1 and facts[0].n_contradictions and not facts[1].n_contradictions else 0
    return facts[at], ways[at]
