"""Optimism of minima: a threshold or map that is best for these trials does less well on new units.

The least cost lies below that of the population by an amount that falls with the number of units n. Leaving out
groups of units in turn shows how much it grows from all to fewer, and so how much of it is left, if the rate is known
(jackknife for a bias of any rate: Schucany, Gray and Owen 1971, Journal of the American Statistical Association 66; by
groups: Kott 2001, Journal of Official Statistics 17). Of the best monotone map the rate is ``n^(-2/3)`` (van de Geer
2000, Empirical Processes in M-Estimation). So it is of the best threshold in the limit (Kim and Pollard 1990, Annals of
Statistics 18); there the rate of smooth estimates, 1/n, takes out two thirds of the optimism, and less noise comes in.

What a unit does to a minimum is seen where the best threshold or map was chosen without it: trials that take part in a
choice cost less than others, and look more alike than they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deciban.core.resampling.linearised import BestDecisions, LinearCosts
from deciban.core.resampling.unit_counts import Table, UnitCounts, cumulated
from deciban.evaluation.linear_figures import LinearFigure
from deciban.types import BoolArray, CountArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class WithoutGroups:
    """Minima by decisions that were chosen without each group of units in turn.

    Attributes
    ----------
    shifts : (n_figures,) array
        What to add to each minimum for new units.
    group : (n_units,) int array
    costs : pair of (n_groups, n_cells, n_figures) arrays
        Of one target and one non-target by what is best without each group, less the mean of those that took no part
        in a choice, as shares of all trials of their class.
    own : pair of (n_groups, n_cells) arrays
        Targets and non-targets of each group.
    best : BestDecisions
        What is best without each group, for other trials.
    totals : (float, float)
        Trials of the classes.
    """

    shifts: FloatArray
    group: IntArray
    costs: tuple[FloatArray, FloatArray]
    own: tuple[CountArray, CountArray]
    best: BestDecisions
    totals: tuple[float, float]

    @classmethod
    def of(
        cls, figures: Sequence[LinearFigure], tar: UnitCounts, non: UnitCounts, costs: LinearCosts
    ) -> WithoutGroups | None:
        """Leave out groups of units in turn.

        None if a group has a unit in all trials of a class, or there are no two groups: then nothing can be left out.

        Parameters
        ----------
        figures : sequence of LinearFigure
            Those that are found as a minimum.
        tar, non : UnitCounts
            Of all trials, in the same cells.
        costs : LinearCosts
            Of all trials.
        """
        own = (tar.by_group(), non.by_group())
        left = (tar.without_groups(own[0]), non.without_groups(own[1]))
        n_groups = len(own[0])
        if n_groups < 2 or not all(counts.any(axis=1).all() for counts in left):
            return None
        best = BestDecisions.of(*left)
        shifts, held_out = chosen_without(figures, costs, (tar.in_cells, non.in_cells), left, best)
        means = [_sums(counts, of_class).sum(axis=0) for counts, of_class in zip(own, held_out, strict=True)]
        totals = (tar.total, non.total)
        shares = [
            (of_class - mean / counts.sum()) / total
            for of_class, mean, counts, total in zip(held_out, means, own, totals, strict=True)
        ]
        return cls(
            shifts,
            group=tar.group,
            costs=(shares[0], shares[1]),
            own=own,
            best=best.bounded(*costs.one_trial),
            totals=totals,
        )

    def influence(
        self, part: slice, of_tar: Table, of_non: Table, factors: tuple[FloatArray, FloatArray]
    ) -> FloatArray:
        """What units of a block do to each minimum, (n, n_figures), by decisions that were made without them.

        Parameters
        ----------
        part : slice
            Which units.
        of_tar, of_non : (n, n_cells) arrays or sparse matrices
            Their trials.
        factors : pair of (n_units,) arrays
            Of influences through each class: `TrialsInCells.small_sample`.
        """
        group = self.group[part]
        found = np.zeros((len(group), len(self.shifts)))
        for number in np.unique(group):
            rows = np.flatnonzero(group == number)
            for k, table in enumerate((of_tar, of_non)):
                found[rows] += factors[k][part][rows, None] * (table[rows] @ self.costs[k][number])
        return found

    def thresholds(self, log_odds: FloatArray) -> ThresholdsWithoutGroups:
        """The best thresholds at priors."""
        at = self.best.positions(log_odds)
        rejected = [
            np.take_along_axis(cumulated(counts.T), at.T, axis=0).sum(axis=1) / counts.sum() for counts in self.own
        ]
        return ThresholdsWithoutGroups(
            self.group, at, (rejected[0], rejected[1]), self.totals, self.best.block.shape[1]
        )


@dataclass(frozen=True, slots=True, eq=False)
class ThresholdsWithoutGroups:
    """The best thresholds at several priors, chosen without each group of units in turn.

    Attributes
    ----------
    group : (n_units,) int array
    at : (n_groups, n_places) int array
        How many cells lie below.
    rejected : pair of (n_places,) arrays
        Shares of targets and of non-targets below thresholds that were chosen without them.
    totals : (float, float)
        Trials of the classes.
    n_cells : int
    """

    group: IntArray
    at: IntArray
    rejected: tuple[FloatArray, FloatArray]
    totals: tuple[float, float]
    n_cells: int

    @property
    def are_inside(self) -> BoolArray:
        """At which places some lie among the scores: elsewhere all trials are decided alike, and no unit counts."""
        return np.asarray(((self.at > 0) & (self.at < self.n_cells)).any(axis=0))

    def influence(
        self,
        part: slice,
        below: tuple[FloatArray, FloatArray],
        weights: tuple[FloatArray, FloatArray],
        factors: tuple[FloatArray, FloatArray],
    ) -> FloatArray:
        """What units of a block do to weighted error rates, (n_places, n), by thresholds chosen without them.

        Parameters
        ----------
        part : slice
            Which units.
        below : pair of (n_cells + 1, n) arrays
            Their targets and non-targets in the first 0, 1, ... cells.
        weights : pair of (n_places,) arrays
            Of misses and of false alarms.
        factors : pair of (n_units,) arrays
            Of influences through each class: `TrialsInCells.small_sample`.
        """
        at, shares = self.at.T[:, self.group[part]], []
        given = zip(below, self.rejected, weights, self.totals, factors, strict=True)
        for table, mean, weight, total, factor in given:
            own = np.take_along_axis(table, at, axis=0)
            own -= np.outer(mean, table[-1])
            own *= weight[:, None] / total * factor[part]
            shares.append(own)
        return np.asarray(shares[0] - shares[1])  # false alarms are what is not rejected


def chosen_without(
    figures: Sequence[LinearFigure],
    costs: LinearCosts,
    whole: tuple[CountArray, CountArray],
    left: tuple[CountArray, CountArray],
    best: BestDecisions | None = None,
) -> tuple[FloatArray, FloatArray]:
    """What to add to minima, and what decisions cost that were made without each of at least two groups.

    Parameters
    ----------
    figures : sequence of LinearFigure
        Those that are found as a minimum.
    costs : LinearCosts
        Of all trials.
    whole : pair of (n_cells,) arrays
        All targets and non-targets in the cells.
    left : pair of (n_groups, n_cells) arrays
        Those without each group, in the same unit as the costs have them.
    best : BestDecisions, optional
        What is best for the latter, if it is known.

    Returns
    -------
    shifts : (n_figures,) array
    held_out : (2, n_groups, n_cells, n_figures) array
    """
    best = BestDecisions.of(*left) if best is None else best
    all_of_them = _minima(figures, costs.best, whole)
    rates = np.array([one.rate for one in figures])
    shifts = shifts_of(all_of_them[0], _minima(figures, best, left), rates)
    best = best.bounded(*costs.one_trial)
    return shifts, np.stack([one.costs_by(best) for one in figures], axis=-1)


def shifts_of(whole: FloatArray, parts: FloatArray, rates: FloatArray | float) -> FloatArray:
    """What to add to minima (n_figures,), or differences from minima, from those without each group, (n_groups, ...).

    A minimum is never too high, and what remains when one is taken away is never too low.

    Examples
    --------
    >>> shifts_of(np.array([0.1, -0.1]), np.array([[0.09, -0.09], [0.08, -0.08]]), 2 / 3).round(4)
    array([ 0.0255, -0.0255])
    """
    n_groups = len(parts)
    shifts: FloatArray = (whole - parts).mean(axis=0) / ((n_groups / (n_groups - 1)) ** rates - 1.0)
    return np.where(whole >= 0.0, np.maximum(shifts, 0.0), np.minimum(shifts, 0.0))


def _minima(figures: Sequence[LinearFigure], best: BestDecisions, counts: tuple[CountArray, CountArray]) -> FloatArray:
    """Mean costs of the decisions that are best for each table in the same table, (n_tables, n_figures)."""
    costs = np.stack([one.least(best) for one in figures if one.least is not None], axis=-1)
    tables = [np.atleast_2d(one) for one in counts]
    return np.asarray(sum(_sums(one, own) / one.sum(axis=1)[:, None] for one, own in zip(tables, costs, strict=True)))


def _sums(counts: CountArray, costs: FloatArray) -> FloatArray:
    """Costs of all trials of each table, (n_tables, n_figures)."""
    return np.asarray(np.matmul(counts[:, None, :].astype(np.float64), costs)[:, 0])
