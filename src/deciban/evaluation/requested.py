"""Metrics of two classes on request, and the information that scores deliver at a prior.

All of them are functions of the summary: counts at thresholds, and sums of costs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import expit, logit

from deciban.core.by_value import ByValue
from deciban.core.ranks.operating import ErrorKind, ErrorsAt, eer_readings, limited
from deciban.core.resampling.intervals import ROUNDING
from deciban.core.resampling.linearised import CellCosts
from deciban.core.rules.expected import MeanCost, cross_entropy_curve, mixed
from deciban.errors import InputError
from deciban.metrics.rules import RULES, ScoreParts, parts_of
from deciban.metrics.scores import ScoredTrials
from deciban.types import FloatArray

if TYPE_CHECKING:
    from deciban.evaluation.one_system import OneSystem
    from deciban.evaluation.summary import Summary, TwoClassFigures
    from deciban.rules import Capacity, Information, ScoringRule


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
    readings = eer_readings(summary.rocch.eer(), ranks.tar, ranks.non) if asked.eer_conventions else {}
    own: tuple[RuleFigures, ...] = ()
    if asked.rule is not None:
        own = rule_figures_of(summary)
    return Requested(readings, tuple(rates), tuple(at), tuple(scores), own)


def _limited(summary: Summary, limits: tuple[float, ...], which: ErrorKind) -> list[tuple[float, ErrorsAt]]:
    return list(zip(limits, limited(summary.table, limits, which), strict=True)) if limits else []


def errors_in_words(errors: ErrorsAt) -> dict[str, Any]:
    """Threshold, rates and counts by name."""
    rates = {"p_miss": errors.p_miss, "p_fa": errors.p_fa}
    return {"threshold": errors.threshold, **rates, "n_miss": errors.n_miss, "n_fa": errors.n_fa}


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

    def to_dict(self) -> dict[str, Any]:
        """The numbers by name."""
        return asdict(self)


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


def capacity_dict(most: Capacity) -> dict[str, Any]:
    """A capacity as JSON has it."""
    return {"bits": most.bits, "prior": most.prior}


def sentence(one: OneSystem) -> str:
    """Write the information that the scores of a system deliver, with intervals if units are known.

    Examples
    --------
    >>> from deciban import evaluate
    >>> sentence(evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], name="A"))
    'A tells 0.306 of 1 bit at prior 0.5 (0.667 if calibrated); at prior 0.01, 0.0183 of 0.0808 (0.0539 if calibrated)'
    """
    from deciban.evaluation.uncertainty import with_interval

    parts = list[str]()
    for k, at in enumerate(one.information_at):
        told = with_interval(_three_digits(at.delivered), one, ("information", k))
        unit = " bit" if at.entropy == 1.0 else " bits"
        words = f"{told} of {at.entropy:.3g}"
        words = f"at {_at(at)}, {words}" if k else f"tells {words}{unit} at {_at(at)}"
        if at.available is not None:
            words += f" ({with_interval(_three_digits(at.available), one, ('available', k))} if calibrated)"
        parts.append(words)
    most = one.capacity if one.kind == "classes" else None  # type: ignore[attr-defined]  # of two classes JSON has it
    if most is not None:
        parts.append(f"at the best prior {_three_digits(most.bits)} bits if calibrated ({_listed(one, most.prior)})")
    return f"{one.name} {'; '.join(parts)}"


_SHOWN = 5
"""Classes of greatest prior that are named."""


def _listed(one: Any, prior: FloatArray) -> str:
    """The classes of greatest prior."""
    order = np.argsort(-prior, kind="stable")
    words = [f"{one.classes[k]} {prior[k]:.2g}" for k in order[:_SHOWN].tolist()]
    return ", ".join(words) + (f", {len(order) - _SHOWN} more" if len(order) > _SHOWN else "")


def _at(one: InformationAt) -> str:
    """Name the prior; of two classes that of a target."""
    if len(one.prior) == 2:
        return f"prior {one.prior[0]:.4g}"
    return "the flat prior" if len(set(one.prior)) == 1 else "the given prior"


def _three_digits(value: float) -> str:
    return f"{value:z#.3g}".rstrip(".")


def constant_costs(entropy: float, log_odds: float, n_cells: int) -> FloatArray:
    """Costs (2, n_cells) of targets and non-targets whose means add up to an entropy, whatever the scores."""
    shares = np.array([[expit(log_odds)], [expit(-log_odds)]])
    return np.repeat(shares * entropy, n_cells, axis=1)
