"""Influences of units on two-class metrics: costs in cells, their sums by unit, intervals and bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logit

from deciban.core.ranks.operating import beyond, effective_log_odds, evidence_bounds
from deciban.core.resampling.clusters import ClassVariances
from deciban.core.resampling.intervals import Estimate
from deciban.core.resampling.linearised import BestDecisions, LinearCosts, cells_of
from deciban.core.resampling.unit_counts import SingleCounts, SpreadInfluences, in_blocks
from deciban.evaluation import uncertainty
from deciban.evaluation.bands import Bands
from deciban.evaluation.linear_figures import FiguresOfEvaluation, LinearFigure, WithoutGroups
from deciban.evaluation.summary import Resampling, TrialsByUnit, TrialsInCells
from deciban.types import CountArray, FloatArray, FloatPair

if TYPE_CHECKING:
    from deciban.evaluation.results import Evaluation
    from deciban.evaluation.summary import Summary


_KEPT = 1 << 24
"""Influences that are kept by default, at most."""

_FEWEST_PLACES = 9
"""Fewest places of a curve for which influences are kept."""


def uncertainty_of(summary: Summary, found: Evaluation, resampling: Resampling) -> uncertainty.Uncertainty | None:
    """Return the uncertainty of the metrics of an evaluation; None if units are unknown, or no class has two.

    Parameters
    ----------
    summary : Summary
        With units.
    found : Evaluation
        Evaluation of this summary.
    resampling : Resampling
    """
    if summary.units is None:
        return None
    about = summary.units.about
    counted = summary.units.counted(summary.ranks, _wanted(summary, found))
    costs, tar, non, design = counted.costs, counted.tar, counted.non, counted.design
    factors, rows = counted.small_sample, counted.rows
    if max(design.seen) < 2:
        return None
    n_units, (n_tar, n_non) = design.n_units, design.effective.tolist()
    figures = list(FiguresOfEvaluation(summary, found, costs, (n_tar, n_non)))
    stacked = np.stack([one.costs_by(costs.best) for one in figures], axis=-1)[:, 0]
    minima = _moving_minima(figures, stacked, costs)
    is_wanted = minima and resampling.optimism is not False
    without = WithoutGroups.of([figures[k] for k in minima], tar, non, costs) if is_wanted else None
    keep, is_kept = _are_kept(counted, about.n_units, len(figures), resampling.keep)
    of_maps = [k for k in minima if not figures[k].sums]
    sums = ClassVariances([one.name for one in figures], design, tar.n_units if is_kept else None, of_maps)
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
    estimates, limited = _estimates(figures, sums, shifts, has_errors=not uncertainty.is_separated(found.auc))
    at_eer = found.eer_p_miss, found.eer_p_fa
    known = uncertainty.Uncertainty(
        n_units=n_units,
        noun=about.noun,
        source=about.source,
        keys=about.keys,
        estimates=estimates
        if uncertainty.few_errors(found.eer, at_eer, design)
        else uncertainty.bounded_by_cllr(estimates),
        influences=sums.influences if rows is None else SpreadInfluences(sums.influences, rows),
        design=design,
        too_few=design.too_few(),
        curves=bands.standard_errors(n_units),
        level=resampling.level,
        curve_influences=bands.influences((n_tar, n_non), rows),
        error_rates=bands.error_rates(),
        remarks=uncertainty.notes_on_intervals(found.auc, found.eer, at_eer, design, about.noun, limited),
    )
    return with_bootstrap(known, summary.units, figures, counted, resampling)


def _are_kept(counted: TrialsInCells, n_units: int, n_figures: int, keep: bool | None) -> tuple[bool | None, bool]:  # noqa: FBT001
    """Return whether influences of units are requested, and whether they are kept; rows of tables are not units."""
    if counted.singles is not None and counted.rows is None:
        return False, False
    n_kept = n_units * (n_figures if counted.rows is None else 1)
    return keep, n_kept <= _KEPT if keep is None else keep


def _estimates(
    figures: Sequence[LinearFigure],
    sums: ClassVariances[uncertainty.Figure],
    shifts: Mapping[int, float],
    *,
    has_errors: bool,
) -> tuple[dict[uncertainty.Figure, Estimate], list[uncertainty.LimitedRate]]:
    """Return the metrics that have an interval, with corrections of minima for new units; and limited rates."""
    found, limited = dict[uncertainty.Figure, Estimate](), list[uncertainty.LimitedRate]()
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
    """Return the step between priors at which influences on curves are kept: larger for very many units, 0 for none."""
    n_places, room = len(found.curves.prior_log_odds[:: Bands.STEP]), _KEPT if keep else uncertainty.KEPT_CURVES
    every = max(-(-2 * n_places * n_units // room), 1)
    return every if keep is not False and n_places // every >= _FEWEST_PLACES else 0


def _moving_minima(figures: Sequence[LinearFigure], costs: FloatArray, of: LinearCosts) -> list[int]:
    """Return the positions of minima, except minima that no unit moves because all trials of a class cost the same."""
    moves = np.any(
        [np.ptp(one[seen > 0], axis=0) > 0 for one, seen in zip(costs, (of.n_tar, of.n_non), strict=True)], 0
    )
    return [k for k, one in enumerate(figures) if one.least is not None and moves[k]]


def _wanted(summary: Summary, found: Evaluation) -> FloatArray:
    """Return thresholds at which counts must be exact."""
    bounds = evidence_bounds(np.array(summary.figures.factors))
    at = [one.errors.threshold for one in found.requested.rates_at]
    at += [one.errors.threshold for one in found.requested.at_thresholds]
    at += [-float(logit(one["p_target"])) for one in found.requested.classifier]
    points = [place for point in found.operating_points for place in (point.threshold, point.min_threshold)]
    if (rule := summary.figures.rule) is not None:
        at += [x for p in summary.figures.rule_priors for x in rule.jumps(float(logit(p))).tolist()]
    log_odds = effective_log_odds(found.curves.prior_log_odds[:: Bands.STEP], 1.0, 1.0)
    levels = found.curves.levels[:: Bands.LEVEL_STEP]
    wanted = np.concatenate((-bounds, beyond(bounds), at, points, [found.eer_threshold], -log_odds, levels))
    return wanted[np.isfinite(wanted)]


def costs_of_trials(summary: Summary, found: Evaluation, figure: uncertainty.Figure) -> FloatPair:
    """Return the contribution of every trial to a metric, with fixed thresholds and maps, in the order of units.

    Parameters
    ----------
    summary : Summary
        With units.
    found : Evaluation
        Evaluation of this summary.
    figure : str, or (str, place)

    Raises
    ------
    InputError
        If there is no such metric, or it is infinite.
    """
    assert summary.units is not None  # noqa: S101  # see the parameters
    trials = summary.units.in_memory("influences of trials")
    n_units = trials.about.n_units
    cells = cells_of(summary.table, summary.pav, _wanted(summary, found), n_units)
    costs = LinearCosts(summary.ranks.tar, summary.ranks.non, summary.pav, summary.rocch, cells)
    known = {one.name: one for one in FiguresOfEvaluation(summary, found, costs, (n_units, n_units))}
    tar, non = uncertainty.looked_up(known, figure).costs_by(costs.best)[:, 0]
    of_tar, of_non = (cells.of(scores) for scores in trials.scores)
    return tar[of_tar], non[of_non]


class ReplicatedFigures:
    """Two-class metrics from counts in cells, for many tables at once.

    The metrics are means of costs of cells, as in linearised intervals, but minima over thresholds and maps are found
    anew in each table.

    Parameters
    ----------
    figures : sequence of LinearFigure
    """

    def __init__(self, figures: Sequence[LinearFigure]) -> None:
        self.figures = figures
        self.fixed = [k for k, one in enumerate(figures) if isinstance(one.costs, np.ndarray)]
        self.costs = np.stack([figures[k].costs for k in self.fixed], axis=1)

    @property
    def names(self) -> list[uncertainty.Figure]:
        """Names of the metrics."""
        return [one.name for one in self.figures]

    def of(self, n_tar: CountArray, n_non: CountArray) -> FloatArray:
        """Return the metrics of each table, (n_tables, n_figures).

        Parameters
        ----------
        n_tar, n_non : (n_tables, n_cells) arrays
            At least one trial of each class in each table.
        """
        shares = [counts / counts.sum(axis=1)[:, None] for counts in (n_tar, n_non)]
        values, best = np.zeros((len(n_tar), len(self.figures))), BestDecisions.of(n_tar, n_non).by_block()
        for own, costs in zip(shares, self.costs, strict=True):
            values[:, self.fixed] += np.einsum("rc,fc->rf", own, costs)  # unlike BLAS, always adds in the same order
        for k, one in enumerate(self.figures):
            if one.least is not None:
                values[:, k] += best.means(one.least(best))
                np.clip(values[:, k], *one.limits, out=values[:, k])  # removes rounding errors beyond the limits
            elif one.name == "auc":
                below = np.cumsum(shares[1], axis=1) - shares[1] / 2
                values[:, k] = np.einsum("rc,rc->r", shares[0], below)  # for each class a mean over the other
        return values


def with_bootstrap(
    known: uncertainty.Uncertainty,
    trials: TrialsByUnit,
    figures: Sequence[LinearFigure],
    counted: TrialsInCells,
    resampling: Resampling,
) -> uncertainty.Uncertainty:
    """Return the uncertainty of an evaluation, with a bootstrap if requested.

    Parameters
    ----------
    known : Uncertainty
        Linearised uncertainty.
    trials : TrialsByUnit
    figures : sequence of LinearFigure
        All metrics of the evaluation, in cells.
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
    return replace(known, bootstrap=uncertainty.Bootstrap.of(replicates, has_both, known.estimates, resampling, minima))
