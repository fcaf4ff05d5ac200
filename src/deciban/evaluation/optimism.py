"""Optimism of minima: a threshold or map that is best for these trials does less well on new units.

The bias of a minimum falls with the number of units. Leaving out groups of units in turn shows how much it falls from
fewer units to all, and so what is left of it (delete-a-group jackknife, Quenouille 1956, Kott 2001).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from deciban.core.ranks.counts import corners
from deciban.core.ranks.hull import Rocch, block_llr, pool
from deciban.core.resampling.unit_counts import UnitCounts
from deciban.core.rules.expected import WeightedScores, log_costs, mixed, quadratic_costs
from deciban.evaluation.uncertainty import Figure
from deciban.types import CountArray, FloatArray

if TYPE_CHECKING:
    from deciban.evaluation.results import Evaluation
    from deciban.evaluation.summary import Summary


def corrections(summary: Summary, found: Evaluation, tar: UnitCounts, non: UnitCounts) -> dict[Figure, float]:
    """What to add to each minimum for new units.

    Parameters
    ----------
    summary : Summary
    found : Evaluation
    tar, non : UnitCounts
        Of all trials, in the same cells.

    Returns
    -------
    dict of figure to float
        ``(g - 1) (theta - mean of theta without each of g groups)``; empty if a group has all trials of a class.
    """
    n_groups = len(tar.inside)
    whole = _minima(summary, found, tar.in_cells, non.in_cells)
    parts = []
    for left_tar, left_non in zip(tar.without_groups(), non.without_groups(), strict=True):
        if not (left_tar.any() and left_non.any()):
            return {}
        parts.append(_minima(summary, found, left_tar, left_non))
    shift = (n_groups - 1) * (whole - np.mean(parts, axis=0))
    found_shifts: dict[Figure, float] = dict(zip(_names(found), shift.tolist(), strict=True))
    return found_shifts


def _names(found: Evaluation) -> list[Figure]:
    points = range(len(found.operating_points))
    posteriors = [
        (f"{rule}_{what}_loss", k)
        for k in range(len(found.requested.posterior_scores))
        for rule in ("log_loss", "brier")
        for what in ("discrimination", "calibration")
    ]
    return ["eer", "min_cllr", "calibration_loss", *(("min_dcf", k) for k in points), "mean_min_dcf", *posteriors]


def _minima(summary: Summary, found: Evaluation, n_tar: CountArray, n_non: CountArray) -> FloatArray:
    """Minima of trials in cells, in the order of `_names`."""
    hull, of_tar, of_non = recalibrated_cells(n_tar, n_non)
    log_odds = -np.array([point.threshold for point in found.operating_points])
    least = np.atleast_1d(hull.min_dcf(prior_log_odds=log_odds))
    cllr = mixed(*log_costs(of_tar, of_non, 0.0), 0.0) / math.log(2)
    posteriors = []
    for one in found.requested.posterior_scores:
        tau = math.log(one.p_target) - math.log1p(-one.p_target)
        for rule in (log_costs, quadratic_costs):
            value = mixed(*rule(of_tar, of_non, tau), tau)
            posteriors += [value, -value]
    del summary
    return np.array([hull.eer(), cllr, -cllr, *least, least.mean(), *posteriors])


def recalibrated_cells(n_tar: CountArray, n_non: CountArray) -> tuple[Rocch, WeightedScores, WeightedScores]:
    """The convex hull of trials in cells, and llrs with counts of both classes after PAV."""
    filled = (n_tar > 0) | (n_non > 0)
    n_tar, n_non = n_tar[filled], n_non[filled]
    starts = pool(n_tar, n_non)
    n_tar, n_non = np.add.reduceat(n_tar, starts), np.add.reduceat(n_non, starts)
    llr = block_llr(n_tar, n_non)
    of_tar, of_non = (llr[n_tar > 0], n_tar[n_tar > 0]), (llr[n_non > 0], n_non[n_non > 0])
    return Rocch(*corners(n_tar, n_non), llr), of_tar, of_non
