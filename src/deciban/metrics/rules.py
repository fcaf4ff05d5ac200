"""Proper scoring rules: Cllr, cross-entropy and the beta family, as they stand and after the best recalibration."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban._validate.probabilities import tell_of_two
from deciban.core.rules.proper import threshold_density
from deciban.metrics.scores import ScoredTrials, SortedScores
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
