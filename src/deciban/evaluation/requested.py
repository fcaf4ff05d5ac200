"""Metrics of two classes on request, and the information that scores deliver at a prior.

All of them are functions of the summary: counts at thresholds, and sums of costs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, logit

from deciban.core.by_value import ByValue
from deciban.core.ranks.operating import ErrorKind, ErrorsAt, eer_readings, limited
from deciban.core.resampling.intervals import ROUNDING
from deciban.core.rules.expected import cross_entropy_curve, mixed
from deciban.evaluation.summary import CUSTOM, Summary
from deciban.metrics.rules import RULES, ScoreParts, parts_of
from deciban.metrics.scores import ScoredTrials

if TYPE_CHECKING:
    from deciban.rules.delivered import Information
    from deciban.rules.families import ThresholdRule


@dataclass(frozen=True, slots=True)
class RateAt:
    """The least rate of one error while the other one is limited; see `deciban.metrics.fnmr_at_fmr`.

    Attributes
    ----------
    limited : {"fmr", "fnmr"}
        Which rate is limited.
    limit : float
        What it may not exceed, a fraction.
    errors : ErrorsAt
        At the threshold that does it.
    """

    limited: str
    limit: float
    errors: ErrorsAt

    @property
    def rate(self) -> float:
        """The other rate: of misses (FNMR) or false alarms (FMR), a fraction."""
        return self.errors.p_miss if self.limited == "fmr" else self.errors.p_fa

    def to_dict(self) -> dict[str, Any]:
        """The numbers by name."""
        other = "fnmr" if self.limited == "fmr" else "fmr"
        return {self.limited: self.limit, other: self.rate, **errors_in_words(self.errors)}


@dataclass(frozen=True, slots=True)
class AtThreshold:
    """Errors at a threshold that was chosen elsewhere.

    Attributes
    ----------
    name : str
        Where the threshold comes from.
    errors : ErrorsAt
    """

    name: str
    errors: ErrorsAt

    def to_dict(self) -> dict[str, Any]:
        """The numbers by name."""
        return {"name": self.name, **errors_in_words(self.errors), "hter": self.errors.hter}


@dataclass(frozen=True, slots=True)
class PosteriorScores:
    """Proper scores of posteriors at one prior; see `deciban.metrics.score_parts`.

    Attributes
    ----------
    p_target : float
    log_loss : ScoreParts
        In nats.
    brier : ScoreParts
    """

    p_target: float
    log_loss: ScoreParts
    brier: ScoreParts


@dataclass(frozen=True, slots=True, eq=False)
class Requested(ByValue):
    """Figures that were asked for; empty where they were not.

    Attributes
    ----------
    eer_conventions : dict of str to float
        Equal error rates by name, as in `deciban.metrics.eer_conventions`.
    rates_at : tuple of RateAt
        FNMR at each FMR, then FMR at each FNMR.
    at_thresholds : tuple of AtThreshold
    posterior_scores : tuple of PosteriorScores
    rule_costs : tuple of RuleCosts
        By a custom rule.
    """

    eer_conventions: Mapping[str, float]
    rates_at: tuple[RateAt, ...]
    at_thresholds: tuple[AtThreshold, ...]
    posterior_scores: tuple[PosteriorScores, ...]
    rule_costs: tuple[RuleCosts, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The numbers by name, without what is empty."""
        found = {
            "eer_conventions": self.eer_conventions,
            "fnmr_at_fmr": [one for one in self.rates_at if one.limited == "fmr"],
            "fmr_at_fnmr": [one for one in self.rates_at if one.limited == "fnmr"],
            "at_thresholds": self.at_thresholds,
            "posterior_scores": self.posterior_scores,
            "rule_costs": self.rule_costs,
        }
        return {name: value for name, value in found.items() if value}


NOTHING = Requested({}, (), (), ())
"""Where nothing was asked for."""


def requested_of(summary: Summary) -> Requested:
    """Make the figures that a summary was asked for."""
    asked, ranks = summary.figures, summary.ranks
    rates = [RateAt("fmr", *row) for row in _limited(summary, asked.fnmr_at, "fa")]
    rates += [RateAt("fnmr", *row) for row in _limited(summary, asked.fmr_at, "miss")]
    scores = [
        PosteriorScores(p, *(parts_of(sums[name], summary.recalibrated, name, float(logit(p))) for name in RULES))
        for p, sums in zip(asked.posteriors_at, summary.posterior_costs, strict=False)  # then come those of a rule
    ]
    at = [AtThreshold(name, ErrorsAt.of(ranks.tar, ranks.non, place)) for name, place in asked.at_thresholds]
    readings = eer_readings(summary.rocch.eer(), ranks.tar, ranks.non) if asked.eer_conventions else {}
    return Requested(readings, tuple(rates), tuple(at), tuple(scores), _rule_costs(summary))


def _limited(summary: Summary, limits: tuple[float, ...], which: ErrorKind) -> list[tuple[float, ErrorsAt]]:
    return list(zip(limits, limited(summary.table, limits, which), strict=True)) if limits else []


def errors_in_words(errors: ErrorsAt) -> dict[str, Any]:
    """Threshold, rates and counts by name."""
    rates = {"p_miss": errors.p_miss, "p_fa": errors.p_fa}
    return {"threshold": errors.threshold, **rates, "n_miss": errors.n_miss, "n_fa": errors.n_fa}


@dataclass(frozen=True, slots=True)
class RuleCosts:
    """Costs of posteriors at one prior by a custom rule, in its units of cost.

    Attributes
    ----------
    p_target : float
        The prior.
    told : Information
        Default, actual and least cost.
    rule : ThresholdWeights or ThresholdDensity
        The rule, so that costs by other rules are not taken for the same.
    """

    p_target: float
    told: Information
    rule: ThresholdRule

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


def _rule_costs(summary: Summary) -> tuple[RuleCosts, ...]:
    """Return the costs by a custom rule at the prior of each operating point, each once."""
    asked = summary.figures
    if asked.rule is None:
        return ()
    from deciban.rules.delivered import Information, costs_of_llrs

    found, rule = list[RuleCosts](), asked.rule
    for p, sums in zip(asked.rule_priors, summary.posterior_costs[len(asked.posteriors_at) :], strict=True):
        log_odds, entropy = float(logit(p)), float(rule.entropy([p, 1.0 - p]))
        cost = mixed(*sums[CUSTOM], log_odds)
        least = mixed(*costs_of_llrs(summary.recalibrated, rule, log_odds), log_odds)
        found.append(RuleCosts(p, Information(entropy, cost, min(cost, least), rule.unit), rule))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class InformationAt:
    """How much scores tell at one prior, in bits.

    Attributes
    ----------
    prior : tuple of float
        Probabilities of the classes; of two classes target, then non-target.
    entropy : float
        Of the prior: what there is to tell.
    delivered : float
        What the scores tell, the entropy less the cross-entropy; below 0 where the prior alone is better, ``-inf``
        where a trial has infinite evidence for a wrong class.
    available : float or None
        What they would tell after the best recalibration on the same trials; None where that is not known.
    """

    prior: tuple[float, ...]
    entropy: float
    delivered: float
    available: float | None


EVEN = 0.0
"""Log odds of the prior at which Cllr is a cross-entropy."""


def priors_told(thresholds: Sequence[float]) -> list[float]:
    """Prior log odds at which information is shown: even odds, and the first operating point.

    Examples
    --------
    >>> priors_told([4.5, 2.0]), priors_told([0.0])
    ([0.0, -4.5], [0.0])
    """
    return list(dict.fromkeys([EVEN, *(-threshold + 0.0 for threshold in thresholds[:1])]))


def information_of(summary: Summary, trials: ScoredTrials) -> tuple[InformationAt, ...]:
    """How much the scores of two classes tell: at even odds, and at the effective prior of the first operating point.

    Parameters
    ----------
    summary : Summary
    trials : ScoredTrials
        The trials, many of them in narrow cells, which moves a cross-entropy by less than 2e-5 bits.
    """
    log_odds, nothing = np.array(priors_told(summary.figures.thresholds)), (np.zeros(1), None)
    with np.errstate(over="ignore"):
        entropy, actual, least = (
            cross_entropy_curve(tar, non, log_odds) / math.log(2)
            for tar, non in (
                (nothing, nothing),
                (trials.tar, trials.non),
                (summary.recalibrated.tar, summary.recalibrated.non),
            )
        )
    actual[0], least[0] = summary.cllr, summary.recalibrated.cllr()
    available = np.maximum(entropy - least, 0.0)  # what rounding leaves below
    delivered = entropy - actual
    delivered[np.abs(delivered) <= ROUNDING * entropy] = 0.0
    delivered[1:] = np.minimum(delivered, available)[1:]  # the same, of cells
    return tuple(
        InformationAt((float(expit(at)), float(expit(-at))), *numbers)
        for at, *numbers in zip(
            log_odds.tolist(), entropy.tolist(), delivered.tolist(), available.tolist(), strict=True
        )
    )
