"""Trials with their units where every condition counts alike: what units do to means over conditions."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from deciban.core.resampling.stratified_counts import StrataAsCells, StratifiedCounts
from deciban.core.resampling.unit_counts import UnitCounts
from deciban.evaluation.unit_trials import TrialsInCells, UnitTrials
from deciban.types import FloatArray, IntArray

if TYPE_CHECKING:
    from deciban.metrics import SortedScores


@dataclass(frozen=True, slots=True, eq=False)
class StratifiedTrials(UnitTrials):
    """Trials in memory, weighted so that strata count alike.

    Attributes
    ----------
    strata : pair of (n,) int arrays
        Of targets and of non-targets.
    n_strata : int
    """

    strata: tuple[IntArray, IntArray] = (np.zeros(0, np.int64), np.zeros(0, np.int64))
    n_strata: int = 0

    @classmethod
    def within(cls, trials: UnitTrials, strata: tuple[IntArray, IntArray], n_strata: int) -> StratifiedTrials:
        """The same trials with their strata."""
        return cls(trials.scores, trials.units, trials.weights, strata, n_strata)

    @property
    def _are_singles(self) -> bool:
        """Whether trials that are units are counted together: not those of strata."""
        return False

    def counted(self, ranks: SortedScores, wanted: FloatArray) -> TrialsInCells:
        """See `TrialsByUnit.counted`."""
        found = UnitTrials.counted(self, ranks, wanted)
        tar, non = (self._stratified(own, k, found) for k, own in enumerate((found.tar, found.non)))
        return replace(found, tar=tar, non=non)

    def _stratified(self, own: UnitCounts, k: int, found: TrialsInCells) -> StratifiedCounts:
        """The counts of one class, with what its strata are."""
        stratum: Any = self.strata[k]
        as_cells: Any = StrataAsCells(self.n_strata)
        weights, cells = self.weights[k], found.cells
        by_stratum = UnitCounts.of(stratum, self.units[k], as_cells, own.group, weights)
        place = stratum * cells.n_cells + cells.of(self.scores[k])
        spread = np.bincount(place, weights, minlength=self.n_strata * cells.n_cells)
        spread = spread.reshape(self.n_strata, cells.n_cells).astype(np.float64)
        totals = spread.sum(axis=1, keepdims=True)
        shares = np.divide(spread, totals, out=np.zeros_like(spread), where=totals > 0)
        known = {one.name: getattr(own, one.name) for one in fields(own)}
        table = by_stratum.counts
        dense = table.toarray() if hasattr(table, "toarray") else table
        return StratifiedCounts(**known, by_stratum=np.asarray(dense, np.float64), shares=shares)
