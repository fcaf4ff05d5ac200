"""Looks at trials of two classes that sum up what llrs cost, in memory or in pieces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deciban.core.rules.expected import MeanCost, WeightedScores, log_costs, scoring_rule_costs
from deciban.io.shards.pieces import Chunk
from deciban.models.labelled import Labelled
from deciban.types import FloatArray


@dataclass(frozen=True, slots=True)
class CostsOfLlrs:
    """Sums of the costs of targets and of non-targets; those of more trials add up."""

    tar: MeanCost
    non: MeanCost

    def __add__(self, other: CostsOfLlrs) -> CostsOfLlrs:
        return CostsOfLlrs(self.tar + other.tar, self.non + other.non)


@dataclass(frozen=True, slots=True)
class CostsOfMapped:
    """A look at trials that sums up logarithmic costs of what a map makes of their scores."""

    transform: Callable[[FloatArray], FloatArray]

    def __call__(self, trials: Labelled | Chunk) -> CostsOfLlrs:
        """The sums of these."""
        data = Labelled.of_look(trials)
        tar, non = data.by_class(self.transform(data.score.astype(np.float64, copy=False)))
        return CostsOfLlrs(*log_costs(counting_llrs(tar), counting_llrs(non), 0.0))


@dataclass(frozen=True, slots=True)
class CostsByRule:
    """A look at llrs that sums up their costs by a member of the beta family at prior log odds."""

    log_odds: float
    alpha: float
    beta: float

    def __call__(self, llrs: Chunk) -> CostsOfLlrs | None:
        """The sums of these; None of no trial."""
        if llrs.truth is None or not len(llrs.truth):
            return None
        tar, non = map(counting_llrs, Labelled.of_look(llrs).by_class(llrs.scores[0]))
        return CostsOfLlrs(*scoring_rule_costs(tar, non, self.log_odds, self.alpha, self.beta))


def counting_llrs(trials: WeightedScores) -> WeightedScores:
    """Leave out trials of weight 0: nothing of an infinite cost is nothing."""
    llr, weights = trials
    return trials if weights is None else (llr[weights > 0], weights[weights > 0])
