"""What all sets of labelled trials have in common, whatever their scores are."""

from __future__ import annotations

import numpy as np

from deciban.core.rules.expected import WeightedScores
from deciban.types import BoolArray, CountArray, FloatArray, ScoreArray


class LabelledTrials:
    """Truth and weights of trials; the base of records that hold their scores as well.

    Attributes
    ----------
    is_target : (n_trials,) bool array
    weight : (n_trials,) array, optional
        Weight of each trial: whole numbers as int64, else float64.
    """

    __slots__ = ()

    is_target: BoolArray
    weight: CountArray | None

    @property
    def float_weight(self) -> FloatArray | None:
        """Weights as floats, for sums."""
        return None if self.weight is None else self.weight.astype(np.float64, copy=False)

    def by_class(self, score: ScoreArray) -> tuple[WeightedScores, WeightedScores]:
        """Scores of these trials with their weights: of targets and of non-targets."""
        is_target = self.is_target
        return (score[is_target], self.tar_weight), (score[~is_target], self.non_weight)

    @property
    def tar_weight(self) -> CountArray | None:
        """Weights of targets."""
        return None if self.weight is None else self.weight[self.is_target]

    @property
    def non_weight(self) -> CountArray | None:
        """Weights of non-targets."""
        return None if self.weight is None else self.weight[~self.is_target]
