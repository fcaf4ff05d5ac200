"""Soft decisions of two classes: every figure that is a prior-weighted mean of a cost over trials."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.core.rules import expected
from deciban.metrics.counted_scores import checked
from deciban.types import CountArray, FloatArray, ScoreArray


@dataclass(frozen=True, slots=True)
class ScoredTrials:
    """Checked log-likelihood ratios of both classes with optional weights; nothing depends on their order."""

    tar: expected.WeightedScores
    non: expected.WeightedScores

    @classmethod
    def of(
        cls, tar: ArrayLike, non: ArrayLike, tar_weights: ArrayLike | None, non_weights: ArrayLike | None
    ) -> ScoredTrials:
        """Check the arguments of a metric."""
        return cls(*(_positive(*one) for one in checked(tar, non, tar_weights, non_weights)))

    def cllr(self) -> float:
        """See `deciban.metrics.cllr`."""
        return expected.cross_entropy(self.tar, self.non, 0.0) / math.log(2)

    def cross_entropy(
        self, *, p_target: ArrayLike | None = None, prior_log_odds: ArrayLike | None = None, normalize: bool = False
    ) -> float | FloatArray:
        """See `deciban.metrics.cross_entropy`."""
        cost = expected.normalized_cross_entropy if normalize else expected.cross_entropy
        log_odds = _validate.prior_log_odds(p_target, prior_log_odds)
        return _at_each(log_odds, lambda x: cost(self.tar, self.non, x))

    def scoring_rule_cost(
        self, alpha: float, beta: float, *, p_target: ArrayLike | None = None, prior_log_odds: ArrayLike | None = None
    ) -> float | FloatArray:
        """See `deciban.metrics.scoring_rule_cost`."""
        alpha, beta = _validate.rule(alpha, beta)
        log_odds = _validate.prior_log_odds(p_target, prior_log_odds)
        return _at_each(log_odds, lambda x: expected.scoring_rule_cost(self.tar, self.non, x, alpha, beta))


def _positive(scores: ScoreArray, weights: CountArray | None) -> expected.WeightedScores:
    """Leave out trials of weight 0: nothing of an infinite cost is nothing."""
    if weights is None or weights.all():
        return scores, weights
    return scores[weights > 0], weights[weights > 0]


def _at_each(log_odds: FloatArray, cost: Callable[[float], float]) -> float | FloatArray:
    if log_odds.ndim == 0:
        return cost(float(log_odds))
    return np.array([cost(x) for x in log_odds.ravel().tolist()]).reshape(log_odds.shape)
