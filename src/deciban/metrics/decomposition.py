"""Log-loss and Brier score of posteriors at a prior, and what calibration and discrimination contribute to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban._validate.probabilities import tell_of_two
from deciban.core.rules.expected import MeanCost, WeightedScores, log_costs, mixed, quadratic_costs
from deciban.errors import InputError
from deciban.metrics.scores import ScoredTrials, SortedScores, at_each
from deciban.types import FloatArray, Weights

Rule: TypeAlias = Literal["log", "brier"]
Costs: TypeAlias = Callable[[WeightedScores, WeightedScores, float], tuple[MeanCost, MeanCost]]

RULES: dict[Rule, Costs] = {"log": log_costs, "brier": quadratic_costs}
"""Costs of targets and non-targets at prior log odds, by the name of the rule."""


@dataclass(frozen=True, slots=True)
class ScoreParts:
    """A mean proper score, taken apart: ``total = calibration_loss + discrimination_loss``.

    Attributes
    ----------
    total : float
        Of the posteriors as they are.
    discrimination_loss : float
        After PAV, the best monotone recalibration of the same scores: also called refinement.
    uncertainty : float
        Of the prior itself, without scores.
    """

    total: float
    discrimination_loss: float
    uncertainty: float

    @property
    def calibration_loss(self) -> float:
        """What recalibration saves: ``total - discrimination_loss``, also called reliability or miscalibration."""
        return max(self.total - self.discrimination_loss, 0.0)  # rounding alone can put the minimum an ulp above

    @property
    def resolution(self) -> float:
        """What recalibrated scores are better than the prior: ``uncertainty - discrimination_loss``."""
        return max(self.uncertainty - self.discrimination_loss, 0.0)

    def to_dict(self) -> dict[str, float]:
        """All parts by name."""
        names = ("total", "calibration_loss", "discrimination_loss", "uncertainty", "resolution")
        return {name: getattr(self, name) for name in names}


def brier(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    p_target: ArrayLike | None = None,
    prior_log_odds: ArrayLike | None = None,
    tar_weights: Weights = None,
    non_weights: Weights = None,
) -> float | FloatArray:
    """Brier score of the posteriors at a prior: the prior-weighted mean of ``(1 - q)^2`` (paper 001 eq. 13).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Log-likelihood ratios of target and non-target trials, in nats. Infinite values are legal.
    p_target, prior_log_odds : float or array_like
        The prior, as a probability inside (0, 1) or as finite log odds in nats: exactly one of them.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float, or array of the shape of the prior
        ``p mean_tar (1 - q)^2 + (1-p) mean_non q^2`` with the posterior ``q = sigma(llr + prior log odds)`` of a
        target: 0 is perfect, 1 the worst, ``p (1-p)`` what llr 0 gets. Half of `deciban.multiclass.brier`, which adds
        up over both classes, and a third of the (2, 2) rule of `scoring_rule_cost`.

    Raises
    ------
    InputError
        If a class is empty or holds NaN, or not exactly one prior is given or it is out of range.

    Warns
    -----
    DecibanWarning
        If 10 scores or more all lie in [0, 1]: these are no log-likelihood ratios, but perhaps probabilities, of which
        `deciban.decisions.llr_from_probability` makes some.

    Examples
    --------
    >>> round(brier([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], p_target=0.5), 6)
    0.159587
    """
    log_odds = _validate.prior_log_odds(p_target, prior_log_odds)
    trials = ScoredTrials.of(tar, non, tar_weights, non_weights)
    tell_of_two(tar, non)
    return at_each(log_odds, lambda x: mixed(*quadratic_costs(trials.tar, trials.non, x), x))


def score_parts(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    rule: Rule,
    p_target: float | None = None,
    prior_log_odds: float | None = None,
    tar_weights: Weights = None,
    non_weights: Weights = None,
) -> ScoreParts:
    """Log-loss or Brier score at a prior, with its parts due to calibration and to discrimination.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Log-likelihood ratios of target and non-target trials, in nats. Infinite values are legal.
    rule : {"log", "brier"}
        Log-loss in nats, which is `cross_entropy`, or `brier`.
    p_target, prior_log_odds : float
        The prior, as a probability inside (0, 1) or as finite log odds in nats: exactly one of them, and a single one.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    ScoreParts

    Raises
    ------
    InputError
        If the rule is none of these, a class is empty or holds NaN, or not exactly one prior is given.

    Warns
    -----
    DecibanWarning
        If 10 scores or more all lie in [0, 1]: these are no log-likelihood ratios, but perhaps probabilities, of which
        `deciban.decisions.llr_from_probability` makes some.

    Notes
    -----
    ``total = calibration_loss + discrimination_loss``, where the latter is the score after PAV on the same trials: as
    Cllr and min Cllr, at any prior, for both rules by the same recalibration (thesis theorem 5). With
    ``discrimination_loss = uncertainty - resolution`` this is the decomposition of Dimitriadis, Gneiting and Jordan
    ("Stable reliability diagrams for probabilistic classifiers", PNAS 118, 2021): miscalibration, discrimination,
    uncertainty. Murphy's (J. Applied Meteorology 12, 1973) has the same form with the relative frequencies of bins in
    place of PAV, and is the same for the Brier score if the posteriors within each PAV block are equal and blocks are
    the bins. Otherwise it depends on the bins, and its parts do not add up: posteriors within a bin differ.

    Examples
    --------
    >>> found = score_parts([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], rule="brier", p_target=0.5)
    >>> {name: round(value, 4) for name, value in found.to_dict().items()}  # doctest: +NORMALIZE_WHITESPACE
    {'total': 0.1596, 'calibration_loss': 0.0763, 'discrimination_loss': 0.0833, 'uncertainty': 0.25,
     'resolution': 0.1667}
    """
    if rule not in RULES:
        raise InputError(f"rule: got {rule!r}. It is 'log' or 'brier'.")
    tau = _validate.single_log_odds(p_target, prior_log_odds, largest=1e4)
    trials = ScoredTrials.of(tar, non, tar_weights, non_weights)
    tell_of_two(tar, non)
    costs = RULES[rule](trials.tar, trials.non, tau)
    recalibrated = SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights).recalibrated
    return parts_of(costs, recalibrated, rule, tau)


def parts_of(costs: tuple[MeanCost, MeanCost], recalibrated: ScoredTrials, rule: Rule, log_odds: float) -> ScoreParts:
    """Parts of a score whose sums are known, which may be those of merged trials."""
    least = mixed(*RULES[rule](recalibrated.tar, recalibrated.non, log_odds), log_odds)
    return ScoreParts(mixed(*costs, log_odds), least, _without_scores(rule, log_odds))


def _without_scores(rule: Rule, log_odds: float) -> float:
    """Of llr 0 for every trial."""
    neutral = ScoredTrials.of([0.0], [0.0], None, None)
    return mixed(*RULES[rule](neutral.tar, neutral.non, log_odds), log_odds)
