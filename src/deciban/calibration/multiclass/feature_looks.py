"""Looks at features of many classes, in memory or in pieces: ranges, sums, and what log densities cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deciban._validate import arrays as _validate
from deciban.core.classes.gaussian import FeatureRanges, FeatureSums, log_densities
from deciban.core.rules.expected import MeanCost
from deciban.core.training.sums import Sums
from deciban.errors import TrialError
from deciban.models.labelled import LabelledClasses
from deciban.multiclass.costs import mixed, surprises
from deciban.multiclass.tables import ScoredClasses
from deciban.trials.sources import Chunk
from deciban.types import FloatArray, ScoreArray


def require_finite(features: ScoreArray) -> None:
    """Refuse features that are NaN or infinite.

    Raises
    ------
    TrialError
        If there are such.
    """
    if not _validate.all_finite(features):
        bad = np.flatnonzero(~np.isfinite(features).all(axis=1))
        raise TrialError(
            f"features: {len(bad)} of {len(features)} trials have features that are NaN or infinite, the first ",
            int(bad[0]),
            ". Gaussian models need finite ones: leave these trials out, or fill them in.",
        )


@dataclass(frozen=True, slots=True, eq=False)
class Ranges:
    """A look at trials that finds the ranges of their features."""

    prior: FloatArray

    def __call__(self, trials: LabelledClasses | Chunk) -> FeatureRanges:
        """The ranges of these."""
        data = LabelledClasses.of_look(trials, self.prior)
        require_finite(data.scores)
        return FeatureRanges.of(data.scores, data.label, data.n_classes, data.float_weight)


@dataclass(frozen=True, slots=True, eq=False)
class OfFeatures:
    """A look at trials by a look at their features."""

    prior: FloatArray
    look: FeatureSums

    def __call__(self, trials: LabelledClasses | Chunk) -> Sums:
        """The sums of these."""
        data = LabelledClasses.of_look(trials, self.prior)
        return self.look(data.scores, data.label, data.float_weight)


@dataclass(frozen=True, slots=True, eq=False)
class ClassCosts:
    """Sums of the costs of each class of positive prior; those of more trials add up."""

    costs: tuple[MeanCost, ...]

    def __add__(self, other: ClassCosts) -> ClassCosts:
        return ClassCosts(tuple(a + b for a, b in zip(self.costs, other.costs, strict=True)))

    def mixed(self, prior: FloatArray) -> float:
        """Their prior-weighted mean."""
        return mixed(self.costs, prior)


@dataclass(frozen=True, slots=True, eq=False)
class Surprises:
    """A look at trials that sums up logarithmic costs of log densities."""

    prior: FloatArray
    mean: FloatArray
    covariance: FloatArray

    def __call__(self, trials: LabelledClasses | Chunk) -> ClassCosts:
        """The sums of these."""
        data = LabelledClasses.of_look(trials, self.prior)
        densities = log_densities(data.scores, self.mean, self.covariance)
        return ClassCosts(surprises(ScoredClasses(densities, data.label, data.weight, None), data.prior))
