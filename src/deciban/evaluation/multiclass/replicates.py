"""Replicates of the figures of many classes: means of classes in which every trial costs what it did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from deciban.core.resampling.cell_sums import CellSums, cell_sums
from deciban.core.resampling.class_means import ClassMeans
from deciban.core.resampling.intervals import Estimate
from deciban.core.resampling.multipliers import Multipliers
from deciban.core.resampling.replicates import replicates_of
from deciban.evaluation.bootstrap import Bootstrap
from deciban.evaluation.multiclass.class_figures import ClassFigure
from deciban.evaluation.uncertainty import Figure
from deciban.evaluation.unit_trials import Resampling
from deciban.types import BoolArray, FloatArray


class ClassReplicates:
    """Replicates of sums of class means, figure by figure.

    Trained maps and best thresholds stay as they are: a replicate is what the same decisions cost on the trials that it
    draws. A class keeps its weight, and so does each class of a group.

    Parameters
    ----------
    means : ClassMeans
    resampling : Resampling
    """

    def __init__(self, means: ClassMeans, resampling: Resampling) -> None:
        self.means, self.resampling = means, resampling
        self.shares = np.add.reduceat(means.share, means.begins)
        self.found: dict[Figure, tuple[FloatArray, float]] = {}
        self.has_all = np.zeros(0, np.bool_)
        self._trials = self._sums(np.ones(len(means.share)))

    def _sums(self, costs: FloatArray) -> CellSums:
        return cell_sums(self.means.units, self.means.stratum, len(self.shares), self.means.share * costs)

    def add(self, figures: Sequence[ClassFigure]) -> None:
        """Draw replicates of figures that are finite."""
        sums = [self._sums(one.costs) for one in figures]

        def figures_of(weights: Multipliers) -> tuple[FloatArray, BoolArray]:
            total = self._trials.of(weights)
            has_all = np.asarray((total > 0.0).all(axis=0))
            scale = np.divide(self.shares[:, None], total, out=np.zeros(total.shape), where=total > 0.0)
            return np.stack([(one.of(weights) * scale).sum(axis=0) for one in sums], axis=1), has_all

        keys = self.means.units.keys
        asked = self.resampling
        drawn, self.has_all = replicates_of(figures_of, keys, seed=asked.seed, n_replicates=asked.bootstrap)
        whole, _ = figures_of(np.ones((len(keys), 1), np.uint8))
        names = [one.name for one in figures]
        self.found.update(zip(names, zip(drawn.T, whole[0].tolist(), strict=True), strict=True))

    def bootstrap(self, estimates: Mapping[Figure, Estimate]) -> Bootstrap:
        """What was drawn, once it is known what figures are."""
        return Bootstrap.of(self.found, self.has_all, estimates, self.resampling)
