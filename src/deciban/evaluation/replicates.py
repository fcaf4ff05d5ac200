"""Replicates of the figures of two classes: weights of units, sums in cells, hulls and means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from deciban.core.resampling.cell_sums import cell_sums
from deciban.core.resampling.cells import Cells
from deciban.core.resampling.minima import Hulls, areas, log_cost, quadratic_cost
from deciban.core.resampling.multipliers import Multipliers
from deciban.core.resampling.replicates import replicates_of
from deciban.core.resampling.unit_counts import UnitCounts
from deciban.evaluation.bootstrap import Bootstrap
from deciban.evaluation.uncertainty import Figure, Uncertainty
from deciban.types import BoolArray, CountArray, FloatArray

if TYPE_CHECKING:
    from deciban.evaluation.influences import LinearFigure
    from deciban.evaluation.results import Evaluation
    from deciban.evaluation.summary import Summary
    from deciban.evaluation.unit_trials import Resampling, UnitTrials


class ReplicatedFigures:
    """Figures of two classes from counts in cells, of many tables at once.

    Minima over thresholds and maps are found anew in each table. All else are means of the costs of cells that
    linearised intervals have, at the same thresholds.

    Parameters
    ----------
    summary : Summary
    found : Evaluation
        Of this summary.
    figures : sequence of LinearFigure
    """

    def __init__(self, summary: Summary, found: Evaluation, figures: Sequence[LinearFigure]) -> None:
        self.summary, self.found = summary, found
        self.names: list[Figure] = [one.name for one in figures]
        self.place = {name: k for k, name in enumerate(self.names)}
        self.costs = np.stack([one.costs for one in figures], axis=2)
        self.log_odds = -np.array([point.threshold for point in found.operating_points])

    def of(self, n_tar: CountArray, n_non: CountArray) -> FloatArray:
        """Figures of each table, (n_tables, n_figures).

        Parameters
        ----------
        n_tar, n_non : (n_tables, n_cells) arrays
        """
        values = np.zeros((len(n_tar), len(self.names)))
        for counts, costs in ((n_tar, self.costs[0]), (n_non, self.costs[1])):
            shares = counts / counts.sum(axis=1)[:, None]
            values += np.einsum("rc,cf->rf", shares, costs)  # unlike BLAS, adds in one order
        found = self._minima(Hulls(n_tar, n_non))
        found["auc"] = areas(n_tar, n_non)
        for total, least, loss in self._losses():
            if loss in self.place:
                found[loss] = np.maximum(values[:, self.place[total]] - found[least], 0.0)
        for name, column in found.items():
            if name in self.place:
                values[:, self.place[name]] = column
        return values

    def _minima(self, hulls: Hulls) -> dict[Figure, FloatArray]:
        """Figures that are found anew."""
        total = float(self.summary.n_non)
        found: dict[Figure, FloatArray] = {
            "eer": hulls.crossing(1.0),
            "prbep": total * hulls.crossing(float(self.summary.n_tar) / total),
            "min_cllr": hulls.least_cost(log_cost, 0.0) / math.log(2),
        }
        least = hulls.least_dcf(self.log_odds)
        found |= {("min_dcf", k): column for k, column in enumerate(least.T)}
        found["mean_min_dcf"] = least.mean(axis=1)
        found |= {("eer_conventions", name): found["eer"] for name in self.found.requested.eer_conventions}
        for k, scores in enumerate(self.found.requested.posterior_scores):
            log_odds = math.log(scores.p_target) - math.log1p(-scores.p_target)
            for rule, cost in (("log_loss", log_cost), ("brier", quadratic_cost)):
                found[f"{rule}_discrimination_loss", k] = hulls.least_cost(cost, log_odds)
        return found

    def _losses(self) -> list[tuple[Figure, Figure, Figure]]:
        """Names of an actual figure, its minimum, and their difference."""
        found: list[tuple[Figure, Figure, Figure]] = [("cllr", "min_cllr", "calibration_loss")]
        for k in range(len(self.found.requested.posterior_scores)):
            for rule in ("log_loss", "brier"):
                found += [((rule, k), (f"{rule}_discrimination_loss", k), (f"{rule}_calibration_loss", k))]
        return found


class _Draws:
    """Figures of a block of replicates from the weights of units."""

    def __init__(
        self, figures: ReplicatedFigures, trials: UnitTrials, cells: Cells, counts: tuple[UnitCounts, UnitCounts]
    ) -> None:
        self.figures = figures
        self.whole = [one.in_cells for one in counts]
        self.sums = [
            cell_sums(units, cells.of(scores), cells.n_cells, weights, own.counts)
            for units, own, scores, weights in zip(trials.units, counts, trials.scores, trials.weights, strict=True)
        ]

    def __call__(self, weights: Multipliers) -> tuple[FloatArray, BoolArray]:
        tables = [np.ascontiguousarray(one.of(weights).T) for one in self.sums]
        has_both = np.logical_and.reduce([one.any(axis=1) for one in tables])
        for table, whole in zip(tables, self.whole, strict=True):
            table[~has_both] = whole  # shapes stay, so that no sum depends on what else is in the block
        return self.figures.of(*tables), has_both


def bootstrap_of(
    known: Uncertainty,
    summary: Summary,
    figures: ReplicatedFigures,
    cells: Cells,
    counts: tuple[UnitCounts, UnitCounts],
    resampling: Resampling,
) -> Bootstrap:
    """Replicates of all figures of an evaluation.

    Parameters
    ----------
    known : Uncertainty
        Of the same evaluation, linearised.
    summary : Summary
        With units.
    figures : ReplicatedFigures
    cells : Cells
    counts : (UnitCounts, UnitCounts)
        Of both classes, in these cells.
    resampling : Resampling
    """
    trials = summary.units
    assert trials is not None  # noqa: S101  # something is known
    found, has_both = replicates_of(
        _Draws(figures, trials, cells, counts),
        trials.units[0].keys,
        seed=resampling.seed,
        n_replicates=resampling.bootstrap,
    )
    whole = figures.of(*(one.in_cells[None] for one in counts))[0]
    replicates = dict(zip(figures.names, zip(found.T, whole.tolist(), strict=True), strict=True))
    return Bootstrap.of(replicates, has_both, known.estimates, resampling)
