"""Influences of units on the figures of two classes: costs in cells, their sums by unit, intervals and bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logit

from deciban.core.ranks.operating import beyond, effective_log_odds, evidence_bounds
from deciban.core.resampling.clusters import ClassVariances
from deciban.core.resampling.intervals import Estimate
from deciban.core.resampling.linearised import BestDecisions, LinearCosts, cells_of
from deciban.core.resampling.unit_counts import SingleCounts, SpreadInfluences, Table, UnitCounts, cumulated, in_blocks
from deciban.evaluation.bands import Bands
from deciban.evaluation.linear_figures import (
    FiguresOfEvaluation,
    LimitedRate,
    LinearFigure,
    few_errors,
    is_separated,
    notes_on_intervals,
)
from deciban.evaluation.summary import Resampling, TrialsByUnit, TrialsInCells
from deciban.evaluation.uncertainty import KEPT_CURVES, Bootstrap, Figure, Uncertainty, bounded_by_cllr, looked_up
from deciban.types import CountArray, FloatArray, IntArray

if TYPE_CHECKING:
    from deciban.evaluation.results import Evaluation
    from deciban.evaluation.summary import Summary


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
        """Return influences of the units of a block on each minimum, (n, n_figures), by decisions made without them.

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

    def influence_on_rates(
        self,
        at: IntArray,
        part: slice,
        below: tuple[FloatArray, FloatArray],
        weights: tuple[FloatArray, FloatArray],
        factors: tuple[FloatArray, FloatArray],
    ) -> FloatArray:
        """Return influences of units on weighted error rates, (n_places, n), by thresholds chosen without these units.

        Parameters
        ----------
        at : (n_groups, n_places) int array
            How many cells lie below the best thresholds without each group.
        part : slice
            Which units.
        below : pair of (n_cells + 1, n) arrays
            Their targets and non-targets in the first 0, 1, ... cells.
        weights : pair of (n_places,) arrays
            Of misses and of false alarms.
        factors : pair of (n_units,) arrays
            Of influences through each class: `TrialsInCells.small_sample`.
        """
        places, shares = at.T[:, self.group[part]], []
        given = zip(below, self.own, weights, self.totals, factors, strict=True)
        for table, counts, weight, total, factor in given:
            mean = np.take_along_axis(cumulated(counts.T), at.T, axis=0).sum(axis=1) / counts.sum()
            own = np.take_along_axis(table, places, axis=0)
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
    """Return the correction of minima, (n_figures,), from the minima without each group, (n_groups, ...).

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


_KEPT = 1 << 24
"""Influences that are kept without being asked for."""

_FEWEST_PLACES = 9
"""Of a curve: with fewer it says nothing."""


def uncertainty_of(summary: Summary, found: Evaluation, resampling: Resampling) -> Uncertainty | None:
    """How sure the figures of an evaluation are; None if units are not known, or no class has two.

    Parameters
    ----------
    summary : Summary
        With units.
    found : Evaluation
        Of this summary.
    resampling : Resampling
    """
    if summary.units is None:
        return None
    about = summary.units.about
    counted = summary.units.counted(summary.ranks, _wanted(summary, found))
    costs, tar, non = counted.costs, counted.tar, counted.non
    design, factors = counted.design, counted.small_sample
    if max(design.seen) < 2:
        return None
    n_units, (n_tar, n_non) = design.n_units, design.effective.tolist()
    figures = list(FiguresOfEvaluation(summary, found, costs, (n_tar, n_non)))
    stacked = np.stack([one.costs_by(costs.best) for one in figures], axis=-1)[:, 0]
    minima = _moving_minima(figures, stacked, costs)
    is_wanted = minima and resampling.optimism is not False
    without = WithoutGroups.of([figures[k] for k in minima], tar, non, costs) if is_wanted else None
    rows = counted.rows
    keep, is_kept = _are_kept(counted, about.n_units, len(figures), resampling.keep)
    sums = ClassVariances([one.name for one in figures], design, tar.n_units if is_kept else None)
    n_alike = tar.n_alike if isinstance(tar, SingleCounts) else None
    keep_every = _kept_places(found, about.n_units, keep)
    bands = Bands(summary, found.curves, costs, keep_every=keep_every, without=without, design=design, factors=factors)
    for part, (of_tar, of_non) in in_blocks((tar, non), stacked.shape[2]):
        through_tar, through_non = tar.influence(stacked[0], of_tar), non.influence(stacked[1], of_non)
        through_tar *= factors[0][part, None]
        through_non *= factors[1][part, None]
        influences = through_tar + through_non
        if without is not None:
            influences[:, minima] = without.influence(part, of_tar, of_non, factors)
        sums.add(part, through_tar, through_non, influences, None if n_alike is None else n_alike[part])
    bands.add_units(tar, non, are_many=about.n_units > Bands.MOST_UNITS)
    shifts = dict(zip(minima, without.shifts.tolist(), strict=True)) if without is not None else {}
    estimates, limited = _estimates(figures, sums, shifts, has_errors=not is_separated(found.auc))
    at_eer = found.eer_p_miss, found.eer_p_fa
    known = Uncertainty(
        n_units=n_units,
        noun=about.noun,
        source=about.source,
        keys=about.keys,
        estimates=estimates if few_errors(found.eer, at_eer, design) else bounded_by_cllr(estimates),
        influences=sums.influences if rows is None else SpreadInfluences(sums.influences, rows),
        design=design,
        too_few=design.too_few(),
        curves=bands.standard_errors(n_units),
        level=resampling.level,
        curve_influences=bands.influences((n_tar, n_non), rows),
        error_rates=bands.error_rates(),
        remarks=notes_on_intervals(found.auc, found.eer, at_eer, design, about.noun, limited),
    )
    return with_bootstrap(known, summary.units, figures, counted, resampling)


def _are_kept(counted: TrialsInCells, n_units: int, n_figures: int, keep: bool | None) -> tuple[bool | None, bool]:  # noqa: FBT001
    """Return whether the influences of units are asked for, and whether they are kept; rows of tables are no units."""
    if counted.singles is not None and counted.rows is None:
        return False, False
    n_kept = n_units * (n_figures if counted.rows is None else 1)
    return keep, n_kept <= _KEPT if keep is None else keep


def _estimates(
    figures: Sequence[LinearFigure], sums: ClassVariances[Figure], shifts: Mapping[int, float], *, has_errors: bool
) -> tuple[dict[Figure, Estimate], list[LimitedRate]]:
    """Return the metrics that have an interval, with what is to be added to minima for new units; and limited rates."""
    found, limited = dict[Figure, Estimate](), list[LimitedRate]()
    for k, one in enumerate(figures):
        if not sums.has_clusters(one.sums) or (one.is_mean_cost and not has_errors):
            continue
        estimate = one.estimate(sums, shifts.get(k))
        rate = one.limited_rate(estimate)
        limited += [rate] if rate is not None else []
        if estimate.is_known and (rate is None or rate.is_enough):
            found[one.name] = estimate
    return found, limited


def _kept_places(found: Evaluation, n_units: int, keep: bool | None) -> int:  # noqa: FBT001  # as Resampling has it
    """At which of the priors of bands influences on curves are kept: fewer of very many units; 0 for none."""
    n_places, room = len(found.curves.prior_log_odds[:: Bands.STEP]), _KEPT if keep else KEPT_CURVES
    every = max(-(-2 * n_places * n_units // room), 1)
    return every if keep is not False and n_places // every >= _FEWEST_PLACES else 0


def _moving_minima(figures: Sequence[LinearFigure], costs: FloatArray, of: LinearCosts) -> list[int]:
    """Positions of minima, but for those that no unit moves, as all trials of a class cost the same."""
    moves = np.any(
        [np.ptp(one[seen > 0], axis=0) > 0 for one, seen in zip(costs, (of.n_tar, of.n_non), strict=True)], 0
    )
    return [k for k, one in enumerate(figures) if one.least is not None and moves[k]]


def _wanted(summary: Summary, found: Evaluation) -> FloatArray:
    """Thresholds at which counts must be exact."""
    bounds = evidence_bounds(np.array(summary.figures.factors))
    at = [one.errors.threshold for one in found.requested.rates_at]
    at += [one.errors.threshold for one in found.requested.at_thresholds]
    points = [place for point in found.operating_points for place in (point.threshold, point.min_threshold)]
    if (own := summary.figures.rule) is not None:
        at += [x for p in summary.figures.rule_priors for x in own.thresholds(float(logit(p))).tolist()]
    log_odds = effective_log_odds(found.curves.prior_log_odds[:: Bands.STEP], 1.0, 1.0)
    levels = found.curves.levels[:: Bands.LEVEL_STEP]
    wanted = np.concatenate((-bounds, beyond(bounds), at, points, [found.eer_threshold], -log_odds, levels))
    return wanted[np.isfinite(wanted)]


def costs_of_trials(summary: Summary, found: Evaluation, figure: Figure) -> tuple[FloatArray, FloatArray]:
    """What every trial adds to a figure, what is best held fixed, for trials in the order of the units of the summary.

    Parameters
    ----------
    summary : Summary
        With units.
    found : Evaluation
        Of this summary.
    figure : str, or (str, place)

    Raises
    ------
    InputError
        If there is no such figure, or it is infinite.
    """
    assert summary.units is not None  # noqa: S101  # as it says above
    trials = summary.units.in_memory("influences of trials")
    n_units = trials.about.n_units
    cells = cells_of(summary.table, summary.pav, _wanted(summary, found), n_units)
    costs = LinearCosts(summary.ranks.tar, summary.ranks.non, summary.pav, summary.rocch, cells)
    known = {one.name: one for one in FiguresOfEvaluation(summary, found, costs, (n_units, n_units))}
    tar, non = looked_up(known, figure).costs_by(costs.best)[:, 0]
    of_tar, of_non = (cells.of(scores) for scores in trials.scores)
    return tar[of_tar], non[of_non]


class ReplicatedFigures:
    """Figures of two classes from counts in cells, of many tables at once.

    They are means of costs of cells: of those that linearised intervals have, but minima over thresholds and maps are
    found anew in each table.

    Parameters
    ----------
    figures : sequence of LinearFigure
    """

    def __init__(self, figures: Sequence[LinearFigure]) -> None:
        self.figures = figures
        self.fixed = [k for k, one in enumerate(figures) if isinstance(one.costs, np.ndarray)]
        self.costs = np.stack([figures[k].costs for k in self.fixed], axis=1)

    @property
    def names(self) -> list[Figure]:
        """Of the figures."""
        return [one.name for one in self.figures]

    def of(self, n_tar: CountArray, n_non: CountArray) -> FloatArray:
        """Figures of each table, (n_tables, n_figures).

        Parameters
        ----------
        n_tar, n_non : (n_tables, n_cells) arrays
            Some of each class in each table.
        """
        shares = [counts / counts.sum(axis=1)[:, None] for counts in (n_tar, n_non)]
        values, best = np.zeros((len(n_tar), len(self.figures))), BestDecisions.of(n_tar, n_non).by_block()
        for own, costs in zip(shares, self.costs, strict=True):
            values[:, self.fixed] += np.einsum("rc,fc->rf", own, costs)  # unlike BLAS, adds in one order
        for k, one in enumerate(self.figures):
            if one.least is not None:
                values[:, k] += best.means(one.least(best))
                np.clip(values[:, k], *one.limits, out=values[:, k])  # what rounding leaves beyond
            elif one.name == "auc":
                below = np.cumsum(shares[1], axis=1) - shares[1] / 2
                values[:, k] = np.einsum("rc,rc->r", shares[0], below)  # in each class a mean over the other
        return values


def with_bootstrap(
    known: Uncertainty,
    trials: TrialsByUnit,
    figures: Sequence[LinearFigure],
    counted: TrialsInCells,
    resampling: Resampling,
) -> Uncertainty:
    """What is known of the figures of an evaluation, with a bootstrap if one is asked for.

    Parameters
    ----------
    known : Uncertainty
        Linearised.
    trials : TrialsByUnit
    figures : sequence of LinearFigure
        All figures of the evaluation, in cells.
    counted : TrialsInCells
        The trials in these cells.
    resampling : Resampling
    """
    if not resampling.bootstrap:
        return known
    replicated = ReplicatedFigures(figures)
    found, has_both = trials.replicated(replicated.of, counted, resampling)
    whole = replicated.of(counted.costs.n_tar[None], counted.costs.n_non[None])[0]
    replicates = dict(zip(replicated.names, zip(found.T, whole.tolist(), strict=True), strict=True))
    minima = [one.name for one in figures if one.least is not None]
    return replace(known, bootstrap=Bootstrap.of(replicates, has_both, known.estimates, resampling, minima))
