"""Trials in pieces that are units by themselves: nothing is listed, as second moments in cells say what units say.

All trials of a class in a cell move figures alike, up to their weights. So the squares of what units do to a figure are
added up cell by cell, in each group that is left out in turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from deciban.core.resampling.cells import Cells, CellTotals
from deciban.core.resampling.linearised import LinearCosts
from deciban.core.resampling.rates import ClassSize, effective_numbers, small_sample_factors
from deciban.core.resampling.single_counts import SingleCounts
from deciban.core.resampling.unit_counts import MOST_DEALT, groups_of_keys
from deciban.core.resampling.units import Keys, TrialUnits, UnlistedUnits, independent
from deciban.core.resampling.variances import ClassSizes
from deciban.engines.speakers import counting
from deciban.engines.units import UnitsInPieces, trials_of
from deciban.engines.work import Engine, Locked, Work
from deciban.evaluation.unit_trials import N_GROUPS, TrialsInCells
from deciban.io.shards.pieces import Piece, ShardSource, Wanted
from deciban.metrics import SortedScores
from deciban.types import CountArray, FloatArray, IntArray


class TrialSurvey(Locked, Work):
    """How many trials of each class count, their weights, and their keys, if few enough to be dealt out to groups."""

    words = "looking at units"

    def __init__(self) -> None:
        super().__init__()
        self.n = [0, 0]
        """Non-targets and targets."""
        self.weights: FloatArray = np.zeros((2, 2))
        """Their weights, and squares of these, added up."""
        self.keys: list[Keys] | None = []

    def empty(self) -> Self:
        """See `Work.empty`."""
        return type(self)()

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        for piece in pieces:
            chunk = counting(piece.read(Wanted((), truth=True, units=self.keys is not None, weight=True)))
            assert chunk.truth is not None  # noqa: S101  # it was asked for
            n_tar = int(np.count_nonzero(chunk.truth))
            n = len(chunk.truth) - n_tar, n_tar
            weights = np.repeat(np.array([n], np.float64).T, 2, axis=1)
            if chunk.weight is not None:
                own = [chunk.weight[chunk.truth == is_tar].astype(np.float64) for is_tar in (False, True)]
                weights = np.array([(one.sum(), one @ one) for one in own])
            with self.lock:
                self._add(n, weights, None if chunk.units is None else [_keys(chunk.units)])

    def _add(self, n: Sequence[int], weights: FloatArray, keys: list[Keys] | None) -> None:
        self.n = [a + b for a, b in zip(self.n, n, strict=True)]
        self.weights = self.weights + weights
        is_few = sum(self.n) <= MOST_DEALT
        self.keys = [*self.keys, *keys] if is_few and self.keys is not None and keys is not None else None

    def __add__(self, other: Self) -> Self:
        """See `Work.__add__`."""
        found = self.empty()
        for one in (self, other):
            found._add(one.n, one.weights, one.keys)
        return found

    @property
    def units(self) -> UnlistedUnits:
        """The units of all trials."""
        return UnlistedUnits(
            (np.zeros(0, np.int64),), np.zeros(0, np.uint64), "trial", independent("trial"), sum(self.n)
        )

    def dealt(self) -> Keys | None:
        """The keys of all trials, ascending; None of very many."""
        return None if self.keys is None else np.sort(np.concatenate([np.zeros(0, np.uint64), *self.keys]))


def _keys(units: TrialUnits) -> Keys:
    return units.keys[units.codes[0]]


class SingleTally(Locked, Work):
    """Trials of both classes by group and cell, and the squares of their weights.

    Parameters
    ----------
    system : int
    cells : Cells
    keys : (n,) uint64 array or None
        Those of all trials, ascending, where there are few enough.
    classes : pair of (float, int)
        Weight and number of targets, and of non-targets.
    """

    words = "counting by unit"

    def __init__(self, system: int, cells: Cells, keys: Keys | None, classes: Sequence[tuple[float, int]]) -> None:
        super().__init__()
        self._given = system, cells, keys, classes
        self.system, self.cells, self.keys, self.classes = self._given
        self.totals: tuple[CellTotals, CellTotals] | None = None
        self.own, self.squares = self._tables(), self._tables()

    def _tables(self) -> list[CountArray]:
        """Of targets and of non-targets."""
        return [np.zeros((N_GROUPS, self.cells.n_cells), np.int64) for _ in range(2)]

    def empty(self) -> Self:
        """See `Work.empty`."""
        return type(self)(*self._given)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return state if self.totals is not None else {"_given": self._given}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if len(state) == 1:  # tables without a trial are not sent to every worker
            self.__init__(*self._given)  # type: ignore[misc]

    def _groups(self, keys: Keys, n_groups: int) -> IntArray:
        if self.keys is None:
            return groups_of_keys(keys, n_groups)
        return np.searchsorted(self.keys, keys) % max(min(n_groups, len(self.keys)), 1)

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        for piece in pieces:
            trials, n_cells, totals = trials_of(piece, self.system), self.cells.n_cells, list[CellTotals]()
            for c, (scores, units, weights) in enumerate(zip(trials.scores, trials.units, trials.weights, strict=True)):
                cell, keys = self.cells.of(scores).astype(np.int64, copy=False), _keys(units)
                totals.append(CellTotals.of(scores, cell, n_cells, weights))
                place = self._groups(keys, N_GROUPS) * n_cells + cell
                self._add(self.own, c, place, weights)
                self._add(self.squares, c, place, None if weights is None else self._squares(c, weights))
            with self.lock:
                mine = self.totals
                self.totals = (totals[0], totals[1]) if mine is None else (mine[0] + totals[0], mine[1] + totals[1])

    def _squares(self, c: int, weights: CountArray) -> FloatArray:
        """Squares of weights, with the factors of a jackknife: see `UnitCounts.small_sample`."""
        total, n = self.classes[c]
        own = np.asarray(weights, np.float64)
        return np.square(own * small_sample_factors(own / total, n))

    def _add(self, tables: list[CountArray], c: int, place: IntArray, weights: CountArray | None) -> None:
        """Add trials at places of a table."""
        with self.lock:
            if weights is not None and weights.dtype != tables[c].dtype:
                tables[c] = tables[c].astype(np.float64, copy=False)
            np.add.at(tables[c].reshape(-1), place, tables[c].dtype.type(1) if weights is None else weights)

    def __add__(self, other: Self) -> Self:
        """See `Work.__add__`."""
        found = self.empty()
        for name in ("own", "squares"):
            setattr(found, name, [a + b for a, b in zip(getattr(self, name), getattr(other, name), strict=True)])
        totals = [one.totals for one in (self, other) if one.totals is not None]
        found.totals = totals[0] if len(totals) == 1 else None
        if len(totals) == 2:
            found.totals = (totals[0][0] + totals[1][0], totals[0][1] + totals[1][1])
        return found

    def counts(self) -> tuple[SingleCounts, SingleCounts]:
        """What was counted of targets and of non-targets."""
        assert self.totals is not None  # noqa: S101  # there are pieces
        return SingleCounts.of_classes(self.own, self.squares, [one.counts for one in self.totals])


@dataclass(frozen=True, eq=False)
class SinglesInPieces(UnitsInPieces):
    """Trials of a source that are units by themselves.

    Attributes
    ----------
    dealt : (n,) uint64 array or None
        Keys of all trials, ascending; None of very many.
    n_seen : (int, int)
        Targets and non-targets that count.
    weights : (2, 2) array
        Of targets and of non-targets: their weights, and squares of these, added up.
    """

    dealt: Keys | None = None
    n_seen: tuple[int, int] = (0, 0)
    weights: FloatArray = field(default_factory=lambda: np.zeros((2, 2)))

    @classmethod
    def of_survey(
        cls, source: ShardSource, engine: Engine, system: int, survey: TrialSurvey, memory: int = 1 << 30
    ) -> Self:
        """From what one pass has found."""
        seen = survey.n[1], survey.n[0]
        weights = survey.weights[::-1]
        return cls(
            source, engine, system, survey.units, None, memory, dealt=survey.dealt(), n_seen=seen, weights=weights
        )

    @property
    def _table_is_enough(self) -> bool:
        return False

    def counted(self, ranks: SortedScores, wanted: FloatArray) -> TrialsInCells:
        """See `TrialsByUnit.counted`."""
        cells = self.cells(ranks, wanted)
        classes = list(zip(self.weights[:, 0].tolist(), self.n_seen, strict=True))
        work = self.engine.run(SingleTally(self.system, cells, self.dealt, classes), self.source.pieces)
        assert work.totals is not None  # noqa: S101  # there are pieces
        costs = LinearCosts.of_totals(*work.totals, ranks.pav, ranks.rocch, cells)
        tar, non = (
            ClassSize(float(total) / one, float(effective_numbers(total, squares)), n)
            for (total, squares), one, n in zip(self.weights, costs.one_trial, self.n_seen, strict=True)
        )
        return TrialsInCells(costs, *work.counts(), singles=ClassSizes(tar, non))
