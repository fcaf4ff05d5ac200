"""Trials of two classes with their units: what is counted by unit once the thresholds of figures are known."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.core.resampling.clusters import ClusterDesign
from deciban.core.resampling.intervals import LEVEL, ClassSize, checked_level
from deciban.core.resampling.unit_counts import (
    StratifiedCounts,
    UnitCounts,
    groups_of_units,
    in_strata,
    joined_units,
    merged_units,
)
from deciban.core.resampling.units import Keys, TrialUnits, together
from deciban.errors import InputError
from deciban.types import CountArray, FloatArray, IntArray, ScoreArray, Units, Weights

if TYPE_CHECKING:
    from deciban.core.resampling.linearised import Cells, LinearCosts
    from deciban.core.resampling.replicates import CellSums, FiguresOfTables, Multipliers, Replicated
    from deciban.core.resampling.unit_counts import RowsOfTrials
    from deciban.metrics import SortedScores

Pair: TypeAlias = tuple[ArrayLike, ArrayLike]


N_GROUPS = 10
"""Groups of units that are left out in turn."""


@dataclass(frozen=True, slots=True, eq=False)
class Resampling:
    """What intervals are made of, beside the scores; passed whole.

    Attributes
    ----------
    units : TrialUnits or None
        Of all trials in their order; None where the summary has them, or they are not known.
    level : float
    optimism : bool or None
        Whether minima are corrected for having been found on the same trials; None: of two classes only.
    keep : bool or None
        Whether the influences of units are kept, as comparisons need them; None: unless they are very many.
    bootstrap : int
        Number of replicates of the bootstrap; 0 for none.
    seed : int
        From which replicates are drawn.
    strata : (n_trials,) int array or None
        Conditions of all trials in their order, where weights make each count alike in its class whatever is drawn.

    Raises
    ------
    InputError
        If the level is not inside (0, 1), or there is no such number of replicates or seed.
    """

    units: TrialUnits | None = None
    level: float = LEVEL
    optimism: bool | None = None
    keep: bool | None = None
    bootstrap: int = 0
    seed: int = 0
    strata: IntArray | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        checked_level(self.level)
        if self.bootstrap or self.seed:
            from deciban.core.resampling.replicates import checked_replicates  # few ask for it

            checked_replicates(self.bootstrap, self.seed)


@dataclass(frozen=True, eq=False)
class TrialsInCells:
    """Trials of both classes by unit and cell.

    Attributes
    ----------
    costs : LinearCosts
        Of cells with borders at all thresholds that were wanted.
    tar, non : UnitCounts
    singles : ClusterDesign, optional
        Of trials, where every trial is a unit and rows of the counts stand for many of them.
    rows : RowsOfTrials, optional
        The row of every trial then, where trials are in memory.
    """

    costs: LinearCosts
    tar: UnitCounts
    non: UnitCounts
    singles: ClusterDesign | None = None
    rows: RowsOfTrials | None = None

    @property
    def cells(self) -> Cells:
        """The cells."""
        return self.costs.cells

    @cached_property
    def design(self) -> ClusterDesign:
        """Sizes of both classes, and how far they have the same units."""
        if self.singles is not None:
            return self.singles
        n_tar, n_non = (own.total / one for own, one in zip((self.tar, self.non), self.costs.one_trial, strict=True))
        return ClusterDesign.of_units((self.tar.totals, self.non.totals), (n_tar, n_non))

    @property
    def small_sample(self) -> tuple[FloatArray, FloatArray]:
        """Factors of the influences of units through each class; see `UnitCounts.small_sample` and `stretches`."""
        of_tar, of_non = self.design.stretch.tolist()
        if self.singles is not None:  # the rows have the others
            return np.full(self.tar.n_units, of_tar), np.full(self.non.n_units, of_non)
        return of_tar * self.tar.small_sample, of_non * self.non.small_sample


class TrialsByUnit(ABC):
    """Trials of both classes with their units, wherever they are: what is counted by unit once thresholds are known."""

    @property
    @abstractmethod
    def about(self) -> TrialUnits:
        """The units: their keys, what one is called, and how they were found."""

    @abstractmethod
    def counted(self, ranks: SortedScores, wanted: FloatArray) -> TrialsInCells:
        """Count targets and non-targets by unit and cell.

        Parameters
        ----------
        ranks : SortedScores
            Of these trials.
        wanted : (n,) array
            Thresholds at which counts must be exact.
        """

    @abstractmethod
    def replicated(self, figures_of: FiguresOfTables, counted: TrialsInCells, asked: Resampling) -> Replicated:
        """Figures of replicates of the bootstrap, and which replicates have trials of both classes.

        Parameters
        ----------
        figures_of : function
            From tables of targets and of non-targets, (n_tables, n_cells), to figures, (n_tables, n_figures).
        counted : TrialsInCells
            What `counted` gave.
        asked : Resampling
        """

    def in_memory(self, what: str) -> UnitTrials:
        """The trials themselves.

        Raises
        ------
        InputError
            If they are read in pieces, and ``what`` needs them all at once.
        """
        raise InputError(f"{what}: needs all trials in memory, and these are read in pieces. Leave it out.")


@dataclass(frozen=True, slots=True, eq=False)
class UnitTrials(TrialsByUnit):
    """Trials in memory, in any order.

    Attributes
    ----------
    scores, units, weights : pairs
        Of targets and of non-targets; weights may be None. All trials of both classes have the same units.
    strata : pair of (n,) int arrays, optional
        Where trials are weighted so that strata count alike: the stratum of each.
    n_strata : int
    """

    scores: tuple[ScoreArray, ScoreArray]
    units: tuple[TrialUnits, TrialUnits]
    weights: tuple[CountArray | None, CountArray | None] = (None, None)
    strata: tuple[IntArray, IntArray] | None = None
    n_strata: int = 0

    @classmethod
    def of(cls, scores: Pair, units: tuple[Units, Units], weights: tuple[Weights, Weights]) -> UnitTrials | None:
        """From arguments, of which scores and weights were checked already; None without units.

        Raises
        ------
        InputError
            If units of one class are missing, or they are not as many as trials.
        """
        if all(one is None for one in units):
            return None
        given = [np.asarray(one) for one in scores]
        given = [one if one.dtype.kind == "f" else one.astype(np.float64) for one in given]
        found = units_of_classes(*units, (len(given[0]), len(given[1])))
        if found is None:
            return None
        kept = [
            None if w is None else _validate.weights(w, len(s), "weights") for s, w in zip(given, weights, strict=True)
        ]
        return cls((given[0], given[1]), found, (kept[0], kept[1]))

    @classmethod
    def merged(cls, parts: Sequence[UnitTrials]) -> UnitTrials:
        """All trials of all parts; a unit may have trials in several."""
        if len(parts) == 1:
            return parts[0]
        units = merged_units([one for part in parts for one in part.units])
        scores, joined, weights = [], [], list[CountArray | None]()
        for k in (0, 1):
            own = units[k::2]
            scores.append(np.concatenate([part.scores[k] for part in parts]))
            joined.append(joined_units(own))
            given = [part.weights[k] for part in parts]
            full = [np.ones(len(p.scores[k]), np.int64) if w is None else w for p, w in zip(parts, given, strict=True)]
            weights.append(None if all(one is None for one in given) else np.concatenate(full))
        return cls((scores[0], scores[1]), (joined[0], joined[1]), (weights[0], weights[1]))

    @property
    def about(self) -> TrialUnits:
        """See `TrialsByUnit.about`."""
        return self.units[1]

    def in_memory(self, what: str) -> UnitTrials:  # noqa: ARG002  # they are
        """See `TrialsByUnit.in_memory`."""
        return self

    def counted(self, ranks: SortedScores, wanted: FloatArray) -> TrialsInCells:
        """See `TrialsByUnit.counted`."""
        from deciban.core.resampling.linearised import (
            LinearCosts,
            cells_of,  # who wants no intervals needs none of it
        )

        cells = cells_of(ranks.table, ranks.pav, wanted, self.about.n_units)
        costs = LinearCosts(ranks.tar, ranks.non, ranks.pav, ranks.rocch, cells)
        costs.one_trial = (_mean_weight(self.weights[0]), _mean_weight(self.weights[1]))
        if self.about.are_independent and self.strata is None:
            return self._singles(costs)
        return TrialsInCells(costs, *self.by_unit(cells, (costs.n_tar, costs.n_non)))

    def by_unit(self, cells: Cells, in_cells: Sequence[CountArray]) -> tuple[UnitCounts, UnitCounts]:
        """Return targets and non-targets by unit and cell; of how many there are in all cells is known."""
        found, group = list[UnitCounts](), groups_of_units(self.units[0].keys, N_GROUPS)
        for c, (scores, units, weights) in enumerate(zip(self.scores, self.units, self.weights, strict=True)):
            own = UnitCounts.of(scores, units, cells, group, weights, in_cells=in_cells[c])
            if self.strata is not None:
                shape = self.n_strata, cells.n_cells
                own = StratifiedCounts.of(own, *in_strata(self.strata[c], cells.of(scores), units, weights, shape))
            found.append(own)
        return found[0], found[1]

    def _singles(self, costs: LinearCosts) -> TrialsInCells:
        """Return the counts of trials that are units: those of a class and group in the same cell share a row."""
        from deciban.core.resampling.unit_counts import count_singles

        places = [costs.cells.of(scores) for scores in self.scores]
        (tar, non), rows = count_singles(places, self.units, self.weights, (costs.n_tar, costs.n_non), N_GROUPS)
        sizes = [
            ClassSize.of(np.ones(len(scores)) if own is None else own.astype(np.float64), own_total / one)
            for scores, own, own_total, one in zip(
                self.scores, self.weights, (tar.total, non.total), costs.one_trial, strict=True
            )
        ]
        return TrialsInCells(costs, tar, non, ClusterDesign.of_trials(sizes), rows)

    def replicated(self, figures_of: FiguresOfTables, counted: TrialsInCells, asked: Resampling) -> Replicated:
        """See `TrialsByUnit.replicated`."""
        from deciban.core.resampling.replicates import cell_sums  # few ask for it

        cells, counts = counted.cells, (counted.tar, counted.non)
        tar, non = (
            cell_sums(units, cells.of(scores), cells.n_cells, weights, own.counts if counted.rows is None else None)
            for scores, units, weights, own in zip(self.scores, self.units, self.weights, counts, strict=True)
        )
        return replicated_by((tar, non), figures_of, counted, self.about.keys, asked)


def replicated_by(
    sums: tuple[CellSums, CellSums], figures_of: FiguresOfTables, counted: TrialsInCells, keys: Keys, asked: Resampling
) -> Replicated:
    """See `TrialsByUnit.replicated`: of units whose weights can be drawn at once, with what adds them up in cells."""
    from deciban.core.resampling.replicates import of_both_classes, replicates_of

    whole = counted.costs.n_tar, counted.costs.n_non

    def drawn(weights: Multipliers) -> Replicated:
        return of_both_classes(figures_of, (sums[0].of(weights), sums[1].of(weights)), whole)

    return replicates_of(drawn, keys, seed=asked.seed, n_replicates=asked.bootstrap)


def _mean_weight(weights: CountArray | None) -> float:
    """What a trial counts that counts; 1 where weights are whole numbers."""
    return 1.0 if weights is None or weights.dtype == np.int64 else float(weights.sum() / np.count_nonzero(weights))


def units_of_classes(
    tar_units: Units, non_units: Units, sizes: tuple[int, int]
) -> tuple[TrialUnits, TrialUnits] | None:
    """Units of targets and of non-targets; None if there are none.

    Raises
    ------
    InputError
        If those of one class are missing, or they are not as many as trials.
    """
    given: Any = {"tar_units": tar_units, "non_units": non_units}
    missing = [name for name, one in given.items() if one is None]
    if len(missing) == 2:
        return None
    if missing:
        raise InputError(f"{missing[0]}: none given, but there are those of the other class. Name the units of both.")
    if isinstance(tar_units, TrialUnits) and isinstance(non_units, TrialUnits):
        found = [tar_units, non_units]
    else:
        found = together([(one, name) for name, one in given.items()])
    for (name, _), one, size in zip(given.items(), found, sizes, strict=True):
        if one.n_trials != size:
            raise InputError(f"{name}: units of {one.n_trials} trials for {size} scores. Give one row for each trial.")
    return found[0], found[1]
