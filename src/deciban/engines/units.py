"""Units of trials in pieces: which there are, and how many trials each has in every cell, by one pass each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
from deciban.core.resampling.unit_counts import StratifiedCounts, UnitCounts, groups_of_units, in_strata
from deciban.core.resampling.units import Keys, TrialUnits
from deciban.evaluation.unit_trials import N_GROUPS, Resampling, TrialsByUnit, TrialsInCells, UnitTrials, replicated_by
from deciban.memory import Cost, require_room_for_units, rows_that_fit
from deciban.metrics import SortedScores
from deciban.trials.passes import Engine, Work, added
from deciban.trials.sources import Piece, ShardSource, Wanted
from deciban.trials.speakers import SpeakersByName, UnitsOfPieces, counting
from deciban.types import CountArray, FloatArray, IntArray, ScoreArray

_SLICE = 1 << 14
"""Trials of one unit that are handled at once: they may all have different ones."""


def trials_of(piece: Piece, system: int, by_name: SpeakersByName | None = None) -> UnitTrials:
    """The trials of a piece that count, with their units.

    Parameters
    ----------
    piece : Piece
    system : int
    by_name : SpeakersByName, optional
        The units of names, where pieces do not say those of trials.
    """
    named = by_name is not None
    chunk = counting(piece.read(Wanted((system,), truth=True, units=not named, weight=True, names=named)))
    own = chunk.units if by_name is None else by_name.units_of(chunk)
    assert own is not None and chunk.truth is not None  # noqa: S101, PT018  # they were asked for
    scores, weight = chunk.scores[0], chunk.weight
    (tar, of_tar, w_tar), (non, of_non, w_non) = (
        (scores[some], own.take(some), None if weight is None else weight[some]) for some in (chunk.truth, ~chunk.truth)
    )
    return UnitTrials((tar, non), (of_tar, of_non), (w_tar, w_non))


class UnitTally(Work):
    """Trials of both classes by unit and cell.

    Parameters
    ----------
    system : int
    cells : Cells
    keys : (n_units,) uint64 array
        Of all units, ascending.
    by_name : SpeakersByName, optional
        The units of names, where pieces do not say those of trials.
    """

    words = "counting by unit"
    sums_in = ("counts", "totals")

    def __init__(self, system: int, cells: Cells, keys: Keys, by_name: SpeakersByName | None = None) -> None:
        self.system, self.cells, self.keys, self.by_name = system, cells, keys, by_name
        self.group: IntArray = groups_of_units(keys, N_GROUPS)
        self.counts: tuple[UnitCounts, UnitCounts] | None = None
        self.totals: tuple[CellTotals, CellTotals] | None = None

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        for piece in pieces:
            trials, found, totals = trials_of(piece, self.system, self.by_name), [], []
            for scores, own, weights in zip(trials.scores, trials.units, trials.weights, strict=True):
                units = own.among(self.keys)
                totals.append(CellTotals.of(scores, self.cells.of(scores), self.cells.n_cells, weights))
                found.append(UnitCounts.of(scores, units, self.cells, self.group, weights, in_cells=totals[-1].counts))
            with self.lock:
                self.counts = added(self.counts, (found[0], found[1]))
                self.totals = added(self.totals, (totals[0], totals[1]))


class ReplicateTally(Work):
    """Sums of the weights of trials in cells, of both classes, in some replicates of the bootstrap.

    Weights follow from seed, replicate and key of a unit, so that nothing is shared between batches.

    Parameters
    ----------
    system : int
    cells : Cells
    seed : int
    numbers : range
        Of the replicates.
    rows_per_batch : int
        More rows at once take more memory and fewer looks at all weights.
    by_name : SpeakersByName, optional
        The units of names, where pieces do not say those of trials.
    """

    words = "counting replicates"
    sums_in = ("sums",)

    def __init__(
        self,
        system: int,
        cells: Cells,
        seed: int,
        numbers: range,
        rows_per_batch: int,
        by_name: SpeakersByName | None = None,
    ) -> None:
        self.system, self.cells, self.seed, self.numbers = system, cells, seed, numbers
        self.rows_per_batch, self.by_name = rows_per_batch, by_name
        self.sums: list[CountArray] = [np.zeros((cells.n_cells, len(numbers)), np.int64) for _ in range(2)]
        self.n_bytes = 2 * self.sums[0].nbytes

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        parts = [trials_of(one, self.system, self.by_name) for one in pieces]
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
                if found.dtype != np.int64:
                    self.sums[c] = self.sums[c].astype(np.float64, copy=False)
                self.sums[c][:, first : first + step] += found

    @property
    def has_sums(self) -> bool:
        """See `Work.has_sums`."""
        return any(one.any() for one in self.sums)


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
    """

    source: ShardSource
    engine: Engine
    system: int
    units: TrialUnits
    by_name: SpeakersByName | None = None
    memory: int = 1 << 30

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
        found = self.engine.run(UnitTally(self.system, cells, self.units.keys, self.by_name), self.source.pieces)
        assert found.counts is not None and found.totals is not None  # noqa: S101, PT018  # there are pieces
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
            work = ReplicateTally(self.system, counted.cells, asked.seed, numbers, rows, self.by_name)
            tar, non = self.engine.run(work, self.source.pieces).sums
            for start in range(0, len(numbers), BLOCK):
                some = slice(start, start + BLOCK)
                found.append(of_both_classes(figures_of, (tar[:, some], non[:, some]), whole))
        figures, has_both = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return figures, has_both


class StratumTally(Work):
    """Weights of trials of both classes by unit and stratum, and by stratum and cell.

    Parameters
    ----------
    system : int
    cells : Cells
    who : UnitsOfPieces
    n_strata : int
    """

    words = "counting by unit and condition"
    sums_in = ("by_unit", "spread")

    def __init__(self, system: int, cells: Cells, who: UnitsOfPieces, n_strata: int) -> None:
        self.system, self.cells, self.who, self.n_strata = system, cells, who, n_strata
        n_units = who.units.n_units
        self.by_unit: list[FloatArray] = [np.zeros((n_units, n_strata)) for _ in range(2)]
        self.spread: list[FloatArray] = [np.zeros((n_strata, cells.n_cells)) for _ in range(2)]
        self.n_bytes = 2 * (self.by_unit[0].nbytes + self.spread[0].nbytes)

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        wanted = self.who.wanted(Wanted((self.system,), truth=True, weight=True))
        for piece in pieces:
            chunk = counting(piece.read(wanted))
            assert chunk.truth is not None and chunk.stratum is not None  # noqa: S101, PT018  # pieces say both
            own = self.who.of(chunk)
            for k, some in enumerate((chunk.truth, ~chunk.truth)):
                weight = None if chunk.weight is None else chunk.weight[some]
                cell: IntArray = self.cells.of(chunk.scores[0][some])
                shape = self.n_strata, self.cells.n_cells
                by_unit, spread = in_strata(chunk.stratum[some], cell, own.take(some), weight, shape)
                with self.lock:
                    self.by_unit[k] += by_unit
                    self.spread[k] += spread


@dataclass(frozen=True, eq=False)
class StratifiedUnitsInPieces(UnitsInPieces):
    """Trials of a source with their units, weighted so that strata count alike.

    Attributes
    ----------
    n_strata : int
    """

    n_strata: int = 0

    def counted(self, ranks: SortedScores, wanted: FloatArray) -> TrialsInCells:
        """See `TrialsByUnit.counted`."""
        found = super().counted(ranks, wanted)
        who = UnitsOfPieces(self.units, self.by_name)
        tally = self.engine.run(StratumTally(self.system, found.cells, who, self.n_strata), self.source.pieces)
        of_classes = zip((found.tar, found.non), tally.by_unit, tally.spread, strict=True)
        tar, non = (StratifiedCounts.of(*one) for one in of_classes)
        return replace(found, tar=tar, non=non)
