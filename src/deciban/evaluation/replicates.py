"""Replicates of the figures of two classes from sums in cells: hulls and means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from deciban.core.resampling.best import BestDecisions
from deciban.evaluation.bootstrap import Bootstrap
from deciban.evaluation.uncertainty import Figure, Uncertainty
from deciban.types import CountArray, FloatArray

if TYPE_CHECKING:
    from deciban.evaluation.linear_figures import LinearFigure
    from deciban.evaluation.unit_trials import Resampling, TrialsByUnit, TrialsInCells


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
                values[:, k] = _areas(*shares)  # in each class a mean over the other
        return values


def _areas(tar: FloatArray, non: FloatArray) -> FloatArray:
    """Area under the ROC of each of several tables of shares, equal cells counting half."""
    return np.asarray(np.einsum("rc,rc->r", tar, np.cumsum(non, axis=1) - non / 2))


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
