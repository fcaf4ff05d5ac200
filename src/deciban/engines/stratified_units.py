"""Units of trials in pieces where every condition counts alike: what units do to means over conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np

from deciban.core.resampling.cells import Cells
from deciban.core.resampling.stratified_counts import StrataAsCells, StratifiedCounts
from deciban.core.resampling.unit_counts import UnitCounts, as_array
from deciban.engines.speakers import counting
from deciban.engines.units import UnitsInPieces, UnitsOfPieces
from deciban.engines.work import Locked, Work
from deciban.evaluation.unit_trials import TrialsInCells
from deciban.io.shards.pieces import Piece, Wanted
from deciban.metrics import SortedScores
from deciban.types import FloatArray, IntArray


class StratumTally(Locked, Work):
    """Weights of trials of both classes by unit and stratum, and by stratum and cell.

    Parameters
    ----------
    system : int
    cells : Cells
    who : UnitsOfPieces
    n_strata : int
    """

    words = "counting by unit and condition"

    def __init__(self, system: int, cells: Cells, who: UnitsOfPieces, n_strata: int) -> None:
        super().__init__()
        self._given = system, cells, who, n_strata
        self.system, self.cells, self.who, self.n_strata = self._given
        n_units = who.units.n_units
        self.by_unit: list[FloatArray] = [np.zeros((n_units, n_strata)) for _ in range(2)]
        self.spread: list[FloatArray] = [np.zeros((n_strata, cells.n_cells)) for _ in range(2)]
        self.n_bytes = 2 * (self.by_unit[0].nbytes + self.spread[0].nbytes)

    def empty(self) -> Self:
        """See `Work.empty`."""
        return type(self)(*self._given)

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        n, wanted = self.n_strata, self.who.wanted(Wanted((self.system,), truth=True, weight=True))
        for piece in pieces:
            chunk = counting(piece.read(wanted))
            assert chunk.truth is not None and chunk.stratum is not None  # noqa: S101, PT018  # pieces say both
            own, as_cells = self.who.of(chunk), StrataAsCells(n)
            for k, some in enumerate((chunk.truth, ~chunk.truth)):
                stratum: Any = chunk.stratum[some]
                weight = None if chunk.weight is None else chunk.weight[some]
                none: IntArray = np.zeros(own.n_units, np.int64)
                counts = UnitCounts.of(stratum, own.take(some), as_cells, none, weight).counts  # type: ignore[arg-type]
                place = stratum * self.cells.n_cells + self.cells.of(chunk.scores[0][some])
                spread = np.bincount(place, weight, minlength=n * self.cells.n_cells).reshape(n, -1)
                with self.lock:
                    self.by_unit[k] += as_array(counts)
                    self.spread[k] += spread

    def __add__(self, other: Self) -> Self:
        """See `Work.__add__`."""
        found = self.empty()
        found.by_unit = [a + b for a, b in zip(self.by_unit, other.by_unit, strict=True)]
        found.spread = [a + b for a, b in zip(self.spread, other.spread, strict=True)]
        return found


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
        tar, non = (self._stratified(own, tally, k) for k, own in enumerate((found.tar, found.non)))
        return replace(found, tar=tar, non=non)

    def _stratified(self, own: UnitCounts, tally: StratumTally, k: int) -> StratifiedCounts:
        """The counts of one class, with what its strata are."""
        spread = tally.spread[k]
        totals = spread.sum(axis=1, keepdims=True)
        shares = np.divide(spread, totals, out=np.zeros_like(spread), where=totals > 0)
        known = {one.name: getattr(own, one.name) for one in fields(own)}
        return StratifiedCounts(**known, by_stratum=tally.by_unit[k], shares=shares)
