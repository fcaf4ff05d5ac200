"""Two-class metrics on request, and the information that scores deliver at a prior.

All are functions of the summary: counts at thresholds, and sums of costs.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, logit

from deciban.core.by_value import ByValue
from deciban.core.ranks.hull import CoarseTable
from deciban.core.ranks.operating import ErrorKind, ErrorsAt, eer_readings, limited
from deciban.core.resampling.intervals import ROUNDING
from deciban.core.rules.expected import cross_entropy_curve, mixed
from deciban.errors import DecibanWarning, InputError
from deciban.evaluation.summary import CUSTOM, Summary
from deciban.metrics import classification
from deciban.metrics.costs import RULES, ScoreParts, parts_of
from deciban.metrics.scores import ScoredTrials

if TYPE_CHECKING:
    from deciban.metrics.intervals import CalibrationDiscrepancy
    from deciban.rules.delivered import Information
    from deciban.rules.families import ThresholdRule


@dataclass(frozen=True, slots=True)
class RateAt:
    """The minimum rate of one error at a limit of the other; see `deciban.metrics.fnmr_at_fmr`.

    Attributes
    ----------
    limited : {"fmr", "fnmr"}
        The limited rate.
    limit : float
        Its maximum, a fraction.
    errors : ErrorsAt
        Errors at the threshold with the minimum.
    """

    limited: str
    limit: float
    errors: ErrorsAt

    @property
    def rate(self) -> float:
        """The other rate: of misses (FNMR) or false alarms (FMR), a fraction."""
        return self.errors.p_miss if self.limited == "fmr" else self.errors.p_fa

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name."""
        other = "fnmr" if self.limited == "fmr" else "fmr"
        return {self.limited: self.limit, other: self.rate, **errors_in_words(self.errors)}


@dataclass(frozen=True, slots=True)
class AtThreshold:
    """Errors at a threshold that was chosen elsewhere.

    Attributes
    ----------
    name : str
        Source of the threshold.
    errors : ErrorsAt
    """

    name: str
    errors: ErrorsAt

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name."""
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
    """Requested metrics; empty if not requested.

    Attributes
    ----------
    eer_conventions : dict of str to float
        Equal error rates by name, as in `deciban.metrics.eer_conventions`.
    rates_at : tuple of RateAt
        FNMR at each FMR, then FMR at each FNMR.
    at_thresholds : tuple of AtThreshold
    posterior_scores : tuple of PosteriorScores
    rule_costs : tuple of RuleCosts
        Costs by a custom rule.
    classifier : tuple of dict
        Metrics of classifier papers, as one entry: ``p_target``, the share of targets in the data, and metrics at it.
    discrepancies : tuple of CalibrationDiscrepancy
        For each decade of the likelihood ratio.
    """

    eer_conventions: Mapping[str, float]
    rates_at: tuple[RateAt, ...]
    at_thresholds: tuple[AtThreshold, ...]
    posterior_scores: tuple[PosteriorScores, ...]
    rule_costs: tuple[RuleCosts, ...] = ()
    classifier: tuple[Mapping[str, float], ...] = ()
    discrepancies: tuple[CalibrationDiscrepancy, ...] = ()

    @property
    def discrepancy(self) -> float:
        """Largest confirmed discrepancy in log10; 0 if calibrated llrs are compatible with the data."""
        return max((one.confirmed for one in self.discrepancies), default=0.0)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name, without empty entries."""
        found = {
            "eer_conventions": self.eer_conventions,
            "fnmr_at_fmr": [one for one in self.rates_at if one.limited == "fmr"],
            "fmr_at_fnmr": [one for one in self.rates_at if one.limited == "fnmr"],
            "at_thresholds": self.at_thresholds,
            "posterior_scores": self.posterior_scores,
            "rule_costs": self.rule_costs,
            "classifier": self.classifier,
            "calibration_discrepancies": self.discrepancies,
        }
        made = {name: value for name, value in found.items() if value}
        return made | ({"calibration_discrepancy": self.discrepancy} if self.discrepancies else {})


NOTHING = Requested({}, (), (), ())
"""Result without requests."""


def requested_of(summary: Summary) -> Requested:
    """Compute the requested metrics of a summary."""
    asked, ranks = summary.figures, summary.ranks
    rates = [RateAt("fmr", *row) for row in _limited(summary, asked.fnmr_at, "fa")]
    rates += [RateAt("fnmr", *row) for row in _limited(summary, asked.fmr_at, "miss")]
    scores = [
        PosteriorScores(p, *(parts_of(sums[name], summary.recalibrated, name, float(logit(p))) for name in RULES))
        for p, sums in zip(asked.posteriors_at, summary.posterior_costs, strict=False)  # the rest is for a custom rule
    ]
    at = [AtThreshold(name, ErrorsAt.of(ranks.tar, ranks.non, place)) for name, place in asked.at_thresholds]
    every = eer_readings(summary.rocch.eer(), ranks.tar, ranks.non) if asked.eer_conventions else {}
    readings = {name: every[name] for name in asked.eer_conventions}
    found = _classifier_metrics(summary) if asked.classifier else ()
    levels = _discrepancies(summary) if asked.discrepancy else ()
    return Requested(readings, tuple(rates), tuple(at), tuple(scores), _rule_costs(summary), found, levels)


def _discrepancies(summary: Summary) -> tuple[CalibrationDiscrepancy, ...]:
    from deciban.metrics.intervals import discrepancies_of  # loads on request

    trials = summary.ranks.trials
    return discrepancies_of(trials.tar, trials.non)


def _classifier_metrics(summary: Summary) -> tuple[Mapping[str, float], ...]:
    """Return the metrics of classifier papers at the share of targets in the data.

    Raises
    ------
    InputError
        If the scores are not in memory.
    """
    if isinstance(summary.table, CoarseTable):
        raise InputError("classifier: these metrics need all scores in memory. Leave them out, or allow more memory.")
    tar, non = summary.ranks.tar, summary.ranks.non
    scores = tar.scores, non.scores
    weights: dict[str, Any] = {"tar_weights": tar.weights, "non_weights": non.weights}
    share = float(summary.n_tar / (summary.n_tar + summary.n_non))
    errors = ErrorsAt.of(tar, non, -float(logit(share)))
    found = {"p_target": share, **decision_metrics(share, errors.p_miss, errors.p_fa)}
    found["best_f1"] = classification.best_decision_of(summary.ranks, "f1").value
    found["average_precision"] = classification.precision_recall_of(summary.ranks).average
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DecibanWarning)  # notes state that scores look like probabilities
        found["ece"] = classification.ece(*scores, prior=share, **weights)
        found["ace"] = classification.ece(*scores, prior=share, scheme="mass", **weights)
        found["smooth_ece"] = classification.smooth_ece(*scores, prior=share, **weights)
    trials, log_odds = summary.ranks.trials, float(logit(share))
    for name, rule in zip(("sample_log_loss", "sample_brier"), RULES, strict=True):
        found[name] = mixed(*RULES[rule](trials.tar, trials.non, log_odds), log_odds)
    return (found,)


def decision_metrics(share: float, p_miss: float, p_fa: float) -> dict[str, float]:
    """Return metrics of decisions from their error rates, at a share of targets.

    Examples
    --------
    >>> {name: round(value, 3) for name, value in decision_metrics(0.5, 0.1, 0.2).items()}
    {'accuracy': 0.85, 'balanced_accuracy': 0.85, 'f1': 0.857, 'matthews': 0.704}
    """
    counts = share * (1.0 - p_miss), share * p_miss, (1.0 - share) * p_fa, (1.0 - share) * (1.0 - p_fa)
    means = {"accuracy": counts[0] + counts[3], "balanced_accuracy": 1.0 - 0.5 * (p_miss + p_fa)}
    return means | {name: float(classification.OF_COUNTS[name](*counts)) for name in ("f1", "matthews")}


def _limited(summary: Summary, limits: tuple[float, ...], which: ErrorKind) -> list[tuple[float, ErrorsAt]]:
    return list(zip(limits, limited(summary.table, limits, which), strict=True)) if limits else []


def errors_in_words(errors: ErrorsAt) -> dict[str, Any]:
    """Return threshold, rates and counts by name."""
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
        Default, actual and minimum cost.
    rule : ThresholdWeights or ThresholdDensity
        The rule, to distinguish costs by different rules.
    """

    p_target: float
    told: Information
    rule: ThresholdRule

    def to_dict(self) -> dict[str, float]:
        """Return the numbers by name."""
        loss = self.told.lost_by_calibration
        assert self.told.minimum is not None and loss is not None  # noqa: S101, PT018  # always known for two classes
        return {
            "p_target": self.p_target,
            "cost": self.told.cost,
            "minimum": self.told.minimum,
            "calibration_loss": loss,
            "default": self.told.entropy,
            "information": self.told.delivered,
        }


def _rule_costs(summary: Summary) -> tuple[RuleCosts, ...]:
    """Return the costs by a custom rule at each distinct prior of the operating points."""
    asked = summary.figures
    if asked.rule is None:
        return ()
    from deciban.rules.delivered import Information, costs_of_llrs

    found, rule = list[RuleCosts](), asked.rule
    for p, sums in zip(asked.rule_priors, summary.posterior_costs[len(asked.posteriors_at) :], strict=False):
        log_odds, entropy = float(logit(p)), float(rule.entropy([p, 1.0 - p]))
        cost = mixed(*sums[CUSTOM], log_odds)
        least = mixed(*costs_of_llrs(summary.recalibrated, rule, log_odds), log_odds)
        found.append(RuleCosts(p, Information(entropy, cost, min(cost, least), rule.unit), rule))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class InformationAt:
    """Information that scores deliver at one prior, in bits.

    Attributes
    ----------
    prior : tuple of float
        Probabilities of the classes; with two classes target, then non-target.
    entropy : float
        Entropy of the prior, the maximum.
    delivered : float
        Entropy minus cross-entropy. Negative if the scores are worse than the prior alone; ``-inf`` if a trial has
        infinite evidence for a wrong class.
    available : float or None
        Information after the best recalibration on the same trials; None if unknown.
    """

    prior: tuple[float, ...]
    entropy: float
    delivered: float
    available: float | None


EVEN = 0.0
"""Log odds of the prior at which Cllr is a cross-entropy."""


def information_priors(thresholds: Sequence[float]) -> list[float]:
    """Return prior log odds at which information is shown: even odds, and the first operating point.

    Examples
    --------
    >>> information_priors([4.5, 2.0]), information_priors([0.0])
    ([0.0, -4.5], [0.0])
    """
    return list(dict.fromkeys([EVEN, *(-threshold + 0.0 for threshold in thresholds[:1])]))


def information_of(summary: Summary, trials: ScoredTrials) -> tuple[InformationAt, ...]:
    """Return the information of two-class scores, at even odds and at the effective prior of the first operating point.

    Parameters
    ----------
    summary : Summary
    trials : ScoredTrials
        The trials; if many, in narrow cells, which changes a cross-entropy by less than 2e-5 bits.
    """
    log_odds, nothing = np.array(information_priors(summary.figures.thresholds)), (np.zeros(1), None)
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
    available = np.maximum(entropy - least, 0.0)  # rounding can be negative
    delivered = entropy - actual
    delivered[np.abs(delivered) <= ROUNDING * entropy] = 0.0
    delivered[1:] = np.minimum(delivered, available)[1:]  # cells can exceed the maximum slightly
    return tuple(
        InformationAt((float(expit(at)), float(expit(-at))), *numbers)
        for at, *numbers in zip(
            log_odds.tolist(), entropy.tolist(), delivered.tolist(), available.tolist(), strict=True
        )
    )
