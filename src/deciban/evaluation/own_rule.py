"""A user's own rule, thresholds or a density of them: what it costs at a prior, and how much it says was told."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from scipy.special import expit, logit

from deciban.core.rules.expected import MeanCost, mixed
from deciban.errors import InputError
from deciban.types import FloatArray

if TYPE_CHECKING:
    from deciban.evaluation.summary import Summary
    from deciban.metrics.scores import ScoredTrials
    from deciban.rules import Information, ScoringRule

OWN = "own"
"""What its costs are called among those of posteriors."""


@dataclass(frozen=True, slots=True)
class OwnRule:
    """A weighting of thresholds of the posterior, as numbers that can be compared and sent elsewhere.

    Attributes
    ----------
    what : {"weights", "density"}
        Whether ``values`` are weights of single thresholds, or a density that is straight between its points.
    eta, values : tuple of float
        Thresholds of the posterior of a target, and what each of them weighs.
    """

    what: Literal["weights", "density"]
    eta: tuple[float, ...]
    values: tuple[float, ...]

    @classmethod
    def of(cls, rule: Any) -> OwnRule:
        """From a rule of `deciban.rules`, or what was made of one already.

        Raises
        ------
        InputError
            If it is another one.

        Examples
        --------
        >>> from deciban.rules import ThresholdWeights
        >>> OwnRule.of(ThresholdWeights([0.9, 0.5], [0.3, 0.7]))
        OwnRule(what='weights', eta=(0.5, 0.9), values=(0.7, 0.3))
        """
        from deciban.rules import ThresholdDensity, ThresholdWeights  # only for who has one

        if isinstance(rule, OwnRule):
            return rule
        if isinstance(rule, ThresholdWeights):
            return cls("weights", tuple(rule.eta.tolist()), tuple(rule.weights.tolist()))
        if isinstance(rule, ThresholdDensity):
            return cls("density", tuple(rule.eta.tolist()), tuple(rule.density.tolist()))
        raise InputError(
            f"rule: got {type(rule).__name__}. It is a ThresholdWeights or ThresholdDensity of deciban.rules; "
            "deciban.io.read_rule makes one of a file."
        )

    @property
    def rule(self) -> ScoringRule:
        """The rule itself."""
        from deciban.rules import ThresholdDensity, ThresholdWeights

        made: Any = ThresholdWeights if self.what == "weights" else ThresholdDensity
        rule: ScoringRule = made(self.eta, self.values)
        return rule

    def costs(self, trials: ScoredTrials, log_odds: float) -> tuple[MeanCost, MeanCost]:
        """Sums of what targets and non-targets cost at prior log odds."""
        from deciban.rules.delivered import costs_of_llrs

        return costs_of_llrs(trials, self.rule, log_odds)

    def dearest(self, log_odds: float) -> float:
        """The more that all targets, or all non-targets, can cost at prior log odds; infinite for some densities."""
        costs = self.rule.costs([[0.0, 1.0], [1.0, 0.0]])
        return float(max(expit(log_odds) * costs[0, 0], expit(-log_odds) * costs[1, 1]))

    def thresholds(self, log_odds: float) -> FloatArray:
        """Thresholds of llrs at which costs jump; a density has none."""
        return np.asarray(logit(np.array(self.eta)) - log_odds) if self.what == "weights" else np.zeros(0)


@dataclass(frozen=True, slots=True)
class RuleFigures:
    """What a user's own rule says of posteriors at one prior, in its units of cost.

    Attributes
    ----------
    p_target : float
        The prior.
    told : Information
        Default, actual and least cost.
    own : OwnRule
        The rule, so that figures of other rules are not taken for the same.
    """

    p_target: float
    told: Information
    own: OwnRule

    def to_dict(self) -> dict[str, float]:
        """The numbers by name."""
        loss = self.told.lost_by_calibration
        assert self.told.minimum is not None and loss is not None  # noqa: S101, PT018  # two classes have a minimum
        return {
            "p_target": self.p_target,
            "cost": self.told.cost,
            "minimum": self.told.minimum,
            "calibration_loss": loss,
            "default": self.told.entropy,
            "information": self.told.delivered,
        }


def rule_figures_of(summary: Summary) -> tuple[RuleFigures, ...]:
    """Make them of the sums of a summary: at the prior of each operating point, each once."""
    from deciban.rules import Information

    own = summary.figures.rule
    if own is None:
        return ()
    found = []
    for p, sums in zip(
        summary.figures.rule_priors, summary.posterior_costs[len(summary.figures.posteriors_at) :], strict=True
    ):
        entropy = float(own.rule.entropy([p, 1.0 - p]))
        cost = mixed(*sums.costs[OWN], sums.log_odds)
        least = mixed(*own.costs(summary.recalibrated, sums.log_odds), sums.log_odds)
        found.append(RuleFigures(p, Information(entropy, cost, min(cost, least), own.rule.unit), own))
    return tuple(found)


CellCosts: TypeAlias = Callable[[FloatArray, FloatArray], FloatArray]


def cell_costs(own: OwnRule, tar: FloatArray, non: FloatArray, *, log_odds: float) -> FloatArray:
    """Costs of llrs of targets and of non-targets, weighted by the prior, (2, ...); those that are NaN cost nothing."""
    rule, both = own.rule, []
    for k, (llr, prior) in enumerate(((tar, expit(log_odds)), (non, expit(-log_odds)))):
        x = np.nan_to_num(llr, nan=0.0, posinf=math.inf, neginf=-math.inf).ravel() + log_odds
        costs = rule.costs(np.stack((expit(x), expit(-x)), axis=1))[:, k]
        both.append(np.where(np.isnan(llr), 0.0, prior * costs.reshape(llr.shape)))
    return np.stack(both)


def actual_costs(
    own: OwnRule, rates: Callable[..., FloatArray], of_means: Callable[[CellCosts], FloatArray], log_odds: float
) -> FloatArray:
    """Costs of cells whose means add up to the cost: at thresholds by counts, of a density by the means of cells."""
    if own.what == "density":
        return of_means(partial(cell_costs, own, log_odds=log_odds))
    found: Iterator[FloatArray] = (
        rates(at, weight * float(expit(log_odds)) / eta, weight * float(expit(-log_odds)) / (1.0 - eta))
        for at, eta, weight in zip(own.thresholds(log_odds).tolist(), own.eta, own.values, strict=True)
    )
    return np.asarray(sum(found))
