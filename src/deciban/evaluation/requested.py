"""Figures of two classes that one may ask for beside those of every evaluation: what they hold, and how they are made.

All of them are functions of the summary: counts at thresholds, and sums of costs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from scipy.special import logit

from deciban.core.by_value import ByValue
from deciban.core.ranks.thresholds import ErrorKind, ErrorsAt, eer_readings, limited
from deciban.core.rules.expected import MeanCost
from deciban.metrics.decomposition import RULES, ScoreParts, parts_of
from deciban.metrics.evidence import MisleadingEvidence
from deciban.metrics.scores import ScoredTrials

if TYPE_CHECKING:
    from deciban.evaluation.own_rule import RuleFigures
    from deciban.evaluation.summary import Summary, TwoClassFigures


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

    def to_dict(self) -> dict[str, Any]:
        """The numbers by name."""
        return {"p_target": self.p_target, "log_loss": self.log_loss.to_dict(), "brier": self.brier.to_dict()}


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
    rule_costs : tuple of RuleFigures
        By a rule of the user's own.
    """

    eer_conventions: Mapping[str, float]
    rates_at: tuple[RateAt, ...]
    at_thresholds: tuple[AtThreshold, ...]
    posterior_scores: tuple[PosteriorScores, ...]
    rule_costs: tuple[RuleFigures, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The numbers by name, without what is empty."""
        found: dict[str, Any] = {"eer_conventions": dict(self.eer_conventions)}
        for name, which in (("fnmr_at_fmr", "fmr"), ("fmr_at_fnmr", "fnmr")):
            found[name] = [one.to_dict() for one in self.rates_at if one.limited == which]
        for name in ("at_thresholds", "posterior_scores", "rule_costs"):
            found[name] = [one.to_dict() for one in getattr(self, name)]
        return {name: value for name, value in found.items() if value}


NOTHING = Requested({}, (), (), ())
"""Where nothing was asked for."""


@dataclass(frozen=True, slots=True)
class PosteriorCosts:
    """Sums of the costs of posteriors at one prior; ``a + b`` merges those of two sets of trials.

    Attributes
    ----------
    log_odds : float
        Of the prior, in nats.
    costs : dict of rule, by name, to (MeanCost, MeanCost)
        Of targets and non-targets.
    """

    log_odds: float
    costs: Mapping[str, tuple[MeanCost, MeanCost]]

    @classmethod
    def of(cls, trials: ScoredTrials, p_target: float) -> PosteriorCosts:
        """Add up what checked trials cost."""
        tau = float(logit(p_target))
        return cls(tau, {rule: costs(trials.tar, trials.non, tau) for rule, costs in RULES.items()})

    def __add__(self, other: PosteriorCosts) -> PosteriorCosts:
        """Merge with the costs of other trials at the same prior."""
        merged: dict[str, tuple[MeanCost, MeanCost]] = {}
        for rule, (tar, non) in self.costs.items():
            merged[rule] = tar + other.costs[rule][0], non + other.costs[rule][1]
        return PosteriorCosts(self.log_odds, merged)


def posterior_costs_of(trials: ScoredTrials, figures: TwoClassFigures) -> tuple[PosteriorCosts, ...]:
    """Costs of posteriors at each prior that was asked for; then those of a rule of the user's own."""
    found = [PosteriorCosts.of(trials, p) for p in figures.posteriors_at]
    if (own := figures.rule) is not None:
        from deciban.evaluation.own_rule import OWN  # only for who has one

        all_odds = [float(logit(p)) for p in figures.rule_priors]
        found += [PosteriorCosts(log_odds, {OWN: own.costs(trials, log_odds)}) for log_odds in all_odds]
    return tuple(found)


def requested_of(summary: Summary) -> Requested:
    """Make the figures that a summary was asked for."""
    asked, ranks = summary.figures, summary.ranks
    rates = [RateAt("fmr", *row) for row in _limited(summary, asked.fnmr_at, "fa")]
    rates += [RateAt("fnmr", *row) for row in _limited(summary, asked.fmr_at, "miss")]
    scores = [
        PosteriorScores(p, *(parts_of(one.costs[rule], summary.recalibrated, rule, one.log_odds) for rule in RULES))
        for p, one in zip(asked.posteriors_at, summary.posterior_costs, strict=False)  # then come those of a rule
    ]
    at = [AtThreshold(name, ErrorsAt.of(ranks.tar, ranks.non, place)) for name, place in asked.at_thresholds]
    readings = eer_readings(summary.rocch, ranks.tar, ranks.non) if asked.eer_conventions else {}
    own: tuple[RuleFigures, ...] = ()
    if asked.rule is not None:
        from deciban.evaluation.own_rule import rule_figures_of  # only for who has one

        own = rule_figures_of(summary)
    return Requested(readings, tuple(rates), tuple(at), tuple(scores), own)


def _limited(summary: Summary, limits: tuple[float, ...], which: ErrorKind) -> list[tuple[float, ErrorsAt]]:
    return list(zip(limits, limited(summary.table, limits, which), strict=True)) if limits else []


def errors_in_words(errors: ErrorsAt) -> dict[str, Any]:
    """Threshold, rates and counts by name."""
    rates = {"p_miss": errors.p_miss, "p_fa": errors.p_fa}
    return {"threshold": errors.threshold, **rates, "n_miss": errors.n_miss, "n_fa": errors.n_fa}


def misleading_dicts(found: tuple[MisleadingEvidence, ...]) -> list[dict[str, Any]]:
    """Rates and counts of each factor by name."""
    return [asdict(one) for one in found]
