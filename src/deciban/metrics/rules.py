"""Proper scoring rules: Cllr, cross-entropy and the beta family, as they stand and after the best recalibration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban._validate.probabilities import tell_of_two
from deciban.core.rules.expected import MeanCost, WeightedScores, log_costs, mixed, quadratic_costs
from deciban.core.rules.proper import threshold_density
from deciban.errors import InputError
from deciban.metrics.scores import ScoredTrials, SortedScores, at_each
from deciban.types import FloatArray, Weights


def cllr(tar: ArrayLike, non: ArrayLike, *, tar_weights: Weights = None, non_weights: Weights = None) -> float:
    """Cost of log-likelihood ratios in bits (BOSARIS paper eq. 18).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Log-likelihood ratios of target and non-target trials, in nats. Infinite values are legal.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float
        ``(mean_tar log2(1 + e^-llr) + mean_non log2(1 + e^llr)) / 2``: 0 is perfect, 1 what llr 0 gets; ``inf`` if a
        trial has infinite evidence for the wrong class.

    Raises
    ------
    InputError
        If a class is empty or holds NaN.

    Warns
    -----
    DecibanWarning
        If 10 scores or more all lie in [0, 1]: these are no log-likelihood ratios, but perhaps probabilities, of which
        `deciban.decisions.llr_from_probability` makes some.

    Examples
    --------
    >>> round(cllr([1.0, 2.0, 2.0], [0.0, 1.0, -1.0]), 6)
    0.694126
    >>> cllr([0.0], [0.0])
    1.0
    """
    trials = ScoredTrials.of(tar, non, tar_weights, non_weights)
    tell_of_two(tar, non)
    return trials.cllr()


def min_cllr(tar: ArrayLike, non: ArrayLike, *, tar_weights: Weights = None, non_weights: Weights = None) -> float:
    """Cllr after the best monotone recalibration of the same scores, in bits: the discrimination loss.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger favours target. Infinite scores are legal.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float
        At most 1, and never above ``cllr``; the difference is the calibration loss.

    Raises
    ------
    InputError
        If a class is empty or holds NaN.

    Examples
    --------
    >>> round(min_cllr([1.0, 2.0, 2.0], [0.0, 1.0, -1.0]), 6)
    0.333333
    """
    return SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights).recalibrated.cllr()


def cross_entropy(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    p_target: ArrayLike | None = None,
    prior_log_odds: ArrayLike | None = None,
    normalize: bool = False,
    tar_weights: Weights = None,
    non_weights: Weights = None,
) -> float | FloatArray:
    """Prior-weighted cross-entropy (thesis eq. 7.40); over prior log odds it is the ECE curve.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Log-likelihood ratios of target and non-target trials, in nats. Infinite values are legal.
    p_target, prior_log_odds : float or array_like
        The prior, as a probability inside (0, 1) or as finite log odds in nats: exactly one of them.
    normalize : bool
        Divide by the cross-entropy of llr 0, which is the entropy of the prior.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float, or array of the shape of the prior
        In nats: ``p mean_tar ln(1 + e^-(llr+tau)) + (1-p) mean_non ln(1 + e^(llr+tau))``; a plain ratio if
        normalized. ``cross_entropy(..., p_target=0.5) / ln 2`` is `cllr`.

    Raises
    ------
    InputError
        If a class is empty or holds NaN, or not exactly one prior is given or it is out of
        range.

    Warns
    -----
    DecibanWarning
        If 10 scores or more all lie in [0, 1]: these are no log-likelihood ratios, but perhaps probabilities, of which
        `deciban.decisions.llr_from_probability` makes some.

    Examples
    --------
    >>> round(cross_entropy([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], p_target=0.1), 6)
    0.224617
    """
    trials = ScoredTrials.of(tar, non, tar_weights, non_weights)
    tell_of_two(tar, non)
    return trials.cross_entropy(p_target=p_target, prior_log_odds=prior_log_odds, normalize=normalize)


def min_cross_entropy(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    p_target: ArrayLike | None = None,
    prior_log_odds: ArrayLike | None = None,
    normalize: bool = False,
    tar_weights: Weights = None,
    non_weights: Weights = None,
) -> float | FloatArray:
    """Cross-entropy after the best monotone recalibration of the same scores.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger favours target. Infinite scores are legal.
    p_target, prior_log_odds : float or array_like
        The prior, as a probability inside (0, 1) or as finite log odds in nats: exactly one of them.
    normalize : bool
        Divide by the cross-entropy of llr 0, which is the entropy of the prior.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float, or array of the shape of the prior
        In nats, or a plain ratio if normalized.

    Raises
    ------
    InputError
        If a class is empty or holds NaN, or not exactly one prior is given or it is out of
        range.

    Examples
    --------
    >>> round(min_cross_entropy([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], p_target=0.1), 6)
    0.108361
    """
    recalibrated = SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights).recalibrated
    return recalibrated.cross_entropy(p_target=p_target, prior_log_odds=prior_log_odds, normalize=normalize)


def scoring_rule_cost(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    alpha: float,
    beta: float,
    p_target: ArrayLike | None = None,
    prior_log_odds: ArrayLike | None = None,
    tar_weights: Weights = None,
    non_weights: Weights = None,
) -> float | FloatArray:
    """Expected cost of a proper scoring rule of the beta family (thesis eq. 7.38, Bruemmer and Doddington 2013).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Log-likelihood ratios of target and non-target trials, in nats. Infinite values are legal.
    alpha, beta : float
        Parameters of the rule in [0.05, 100]: (1, 1) is the logarithmic, (2, 2) three times the Brier, (1/2, 1/2) the
        boosting rule (up to the factor 2/pi). Larger values look at a narrower range of thresholds.
    p_target, prior_log_odds : float or array_like
        The prior, as a probability inside (0, 1) or as finite log odds in nats: exactly one of them.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float, or array of the shape of the prior
        ``p mean_tar C(q|tar) + (1-p) mean_non C(q|non)`` with posterior ``q = sigma(llr + prior log odds)`` and
        ``C(q|tar) = 1/B(a,b) int_q^1 x^(a-2) (1-x)^(b-1) dx``,
        ``C(q|non) = 1/B(a,b) int_0^q x^(a-1) (1-x)^(b-2) dx``; in nats for (1, 1).

    Raises
    ------
    InputError
        If a class is empty or holds NaN, a parameter is out of range, or not exactly one prior
        is given.

    Warns
    -----
    DecibanWarning
        If 10 scores or more all lie in [0, 1]: these are no log-likelihood ratios, but perhaps probabilities, of which
        `deciban.decisions.llr_from_probability` makes some.

    Examples
    --------
    >>> round(scoring_rule_cost([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], alpha=2, beta=2, p_target=0.5), 6)
    0.478762
    """
    trials = ScoredTrials.of(tar, non, tar_weights, non_weights)
    tell_of_two(tar, non)
    return trials.scoring_rule_cost(alpha, beta, p_target=p_target, prior_log_odds=prior_log_odds)


def min_scoring_rule_cost(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    alpha: float,
    beta: float,
    p_target: ArrayLike | None = None,
    prior_log_odds: ArrayLike | None = None,
    tar_weights: Weights = None,
    non_weights: Weights = None,
) -> float | FloatArray:
    """Expected cost of a beta-family rule after the best monotone recalibration of the same scores.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger favours target. Infinite scores are legal.
    alpha, beta : float
        Parameters of the rule in [0.05, 100]: (1, 1) is the logarithmic, (2, 2) three times the Brier, (1/2, 1/2) the
        boosting rule (up to the factor 2/pi). Larger values look at a narrower range of thresholds.
    p_target, prior_log_odds : float or array_like
        The prior, as a probability inside (0, 1) or as finite log odds in nats: exactly one of them.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float, or array of the shape of the prior
        One and the same recalibration, PAV, is the best for every rule and prior (thesis theorem 5).

    Raises
    ------
    InputError
        If a class is empty or holds NaN, a parameter is out of range, or not exactly one prior
        is given.

    Examples
    --------
    >>> min_scoring_rule_cost([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], alpha=2, beta=2, p_target=0.5)
    0.25
    """
    recalibrated = SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights).recalibrated
    return recalibrated.scoring_rule_cost(alpha, beta, p_target=p_target, prior_log_odds=prior_log_odds)


def threshold_weighting(
    threshold: ArrayLike,
    *,
    alpha: float,
    beta: float,
    p_target: float | None = None,
    prior_log_odds: float | None = None,
) -> FloatArray:
    """How much a beta-family objective cares for each llr threshold (Bruemmer and Doddington 2013, eq. 10).

    Parameters
    ----------
    threshold : array_like
        Thresholds on log-likelihood ratios, in nats.
    alpha, beta : float
        Parameters of the rule in [0.05, 100].
    p_target, prior_log_odds : float
        The prior of the objective: exactly one of them, and a single one.

    Returns
    -------
    array of the shape of ``threshold``
        A density over thresholds, per nat; it integrates to 1.

    Raises
    ------
    InputError
        If a parameter or the prior is out of range, or a threshold is NaN or infinite.

    Examples
    --------
    >>> threshold_weighting([0.0, 5.0], alpha=1, beta=1, p_target=0.5).round(4)
    array([0.25  , 0.0066])
    """
    alpha, beta = _validate.rule(alpha, beta)
    tau = _validate.single_log_odds(p_target, prior_log_odds, largest=700.0)
    thresholds = _validate.finite(threshold, "threshold")
    return np.asarray(threshold_density(thresholds, alpha, beta, tau))


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
    neutral = ScoredTrials.of([0.0], [0.0], None, None)  # llr 0 for every trial
    without_scores = mixed(*RULES[rule](neutral.tar, neutral.non, log_odds), log_odds)
    return ScoreParts(mixed(*costs, log_odds), least, without_scores)
