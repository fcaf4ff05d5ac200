"""Units of trials in pieces: which there are, and how many trials each has in every cell, by one pass each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from deciban.core.resampling.cell_sums import SumsOfUnits, cell_sums
from deciban.core.resampling.cells import Cells, CellTotals, cells_of
from deciban.core.resampling.linearised import LinearCosts
from deciban.core.resampling.replicates import (
    BLOCK,
    FiguresOfTables,
    Replicated,
    block_size,
    of_both_classes,
    poisson_weights,
)
from deciban.core.resampling.unit_counts import UnitCounts
from deciban.core.resampling.units import Keys, TrialUnits
from deciban.evaluation.unit_trials import Resampling, TrialsByUnit, TrialsInCells, UnitTrials, replicated_by
from deciban.memory import Cost, require_room_for_units, rows_that_fit
from deciban.metrics import SortedScores
from deciban.trials.passes import Engine, Looks, found_in
from deciban.trials.sources import Chunk, Piece, ShardSource, Wanted
from deciban.trials.speakers import SpeakersByName, counting
from deciban.types import CountArray, FloatArray, ScoreArray

_SLICE = 1 << 14
"""Trials of one unit that are handled at once: they may all have different ones."""


@dataclass(frozen=True, slots=True, eq=False)
class UnitReader:
    """Which trials of a source are read, and what tells their units. Can be pickled.

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
        """What is read of pieces."""
        named = self.by_name is not None
        return Wanted((self.system,), truth=True, units=not named, weight=True, names=named)

    def trials(self, chunk: Chunk) -> UnitTrials:
        """Return the trials that count, with their units."""
        chunk = counting(chunk)
        own = chunk.units if self.by_name is None else self.by_name.units_of(chunk)
        assert own is not None and chunk.truth is not None  # noqa: S101, PT018  # they were asked for
        rows, weight, stratum = (chunk.truth, ~chunk.truth), chunk.weight, chunk.stratum if self.n_strata else None
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
        """Those of the trials of both."""
        (tar, non), (of_tar, of_non) = self.counts, self.totals
        counts = tar + other.counts[0], non + other.counts[1]
        return CountedByUnit(counts, (of_tar + other.totals[0], of_non + other.totals[1]))


@dataclass(frozen=True, slots=True, eq=False)
class CountByUnit:
    """Counts the trials of a piece by unit and cell. Can be pickled.

    Attributes
    ----------
    reader : UnitReader
    cells : Cells
    keys : (n_units,) uint64 array
        Of all units, ascending.
    """

    reader: UnitReader
    cells: Cells
    keys: Keys

    def __call__(self, chunk: Chunk) -> CountedByUnit:
        """Count the trials of a piece."""
        trials = self.reader.trials(chunk)
        trials = replace(trials, units=(trials.units[0].among(self.keys), trials.units[1].among(self.keys)))
        tar, non = (
            CellTotals.of(scores, self.cells.of(scores), self.cells.n_cells, weights)
            for scores, weights in zip(trials.scores, trials.weights, strict=True)
        )
        return CountedByUnit(trials.by_unit(self.cells, (tar.counts, non.counts)), (tar, non))


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
        trials = UnitTrials.merged([replace(one, units=_only_used(one.units)) for one in parts])
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


def _only_used(units: tuple[TrialUnits, TrialUnits]) -> tuple[TrialUnits, TrialUnits]:
    """The units of both classes without those that no trial has."""
    used = np.zeros(units[0].n_units, np.bool_)
    for own in units:
        for side in own.codes:
            used[side] = True
    place = np.cumsum(used) - 1
    tar, non = (replace(one, codes=tuple(place[side] for side in one.codes), keys=one.keys[used]) for one in units)
    return tar, non


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
    """

    source: ShardSource
    engine: Engine
    system: int
    units: TrialUnits
    by_name: SpeakersByName | None = None
    memory: int = 1 << 30
    n_strata: int = 0

    @property
    def reader(self) -> UnitReader:
        """Which trials are read."""
        return UnitReader(self.system, self.by_name, self.n_strata)

    def __post_init__(self) -> None:
        """Refuse more units than the memory holds."""
        require_room_for_units(len(self.units.keys), self.memory)

    @property
    def about(self) -> TrialUnits:
        """See `TrialsByUnit.about`."""
        return self.units

    def cells(self, ranks: SortedScores, wanted: FloatArray) -> Cells:
        """Cells of the same trials in memory."""
        return cells_of(ranks.table, ranks.pav, wanted, self.about.n_units)

    def counted(self, ranks: SortedScores, wanted: FloatArray) -> TrialsInCells:
        """See `TrialsByUnit.counted`."""
        cells = self.cells(ranks, wanted)
        look = CountByUnit(self.reader, cells, self.units.keys)
        found: CountedByUnit = found_in(self.source, self.engine, self.reader.wanted, look, "counting by unit")
        costs = LinearCosts.of_totals(*found.totals, ranks.pav, ranks.rocch, cells)
        return TrialsInCells(costs, *found.counts)

    @property
    def _table_is_enough(self) -> bool:
        """Whether counts by unit and cell say all that replicates need."""
        return len(self.units.codes) == 1

    def replicated(self, figures_of: FiguresOfTables, counted: TrialsInCells, asked: Resampling) -> Replicated:
        """See `TrialsByUnit.replicated`: a pass for as many replicates as there is room for."""
        if self._table_is_enough:
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
