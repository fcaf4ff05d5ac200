"""Costs: of decisions (at operating points, at mixtures of thresholds, or given ones) and of proper scoring rules.

A proper scoring rule is a mixture of detection problems with a density ``Omega(t)`` over their thresholds (Bruemmer and
Doddington 2013, eq. 8). Point masses are a density on single points. They are useful for evaluation, but not for
training, because their slope is 0 nearly everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit, ndtri

from deciban._validate import arrays as _validate
from deciban._validate.arrays import several, tell_of_two
from deciban.core.expected import MeanCost, WeightedScores, log_costs, mixed, quadratic_costs
from deciban.core.proper import beta_cost_non, beta_cost_tar, threshold_density
from deciban.core.ranks.roc import FEW_ERRORS, OperatingPoint, PointLike, as_operating_point, detection_cost
from deciban.errors import InputError
from deciban.metrics.scores import CountedScores, ScoredTrials, SortedScores, at_each
from deciban.types import FloatArray, FloatPair, Weights


def act_dcf(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    p_target: ArrayLike | None = None,
    prior_log_odds: ArrayLike | None = None,
    c_miss: float = 1.0,
    c_fa: float = 1.0,
    normalize: bool = True,
    tar_weights: Weights = None,
    non_weights: Weights = None,
) -> float | FloatArray:
    """Return the actual detection cost, at the Bayes threshold of the operating point (BOSARIS paper eqs. 9, 19).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Log-likelihood ratios of target and non-target trials, in nats; may be infinite.
    p_target, prior_log_odds : float or array_like
        The prior, as a probability inside (0, 1) or as finite log odds in nats: exactly one of them. The threshold is
        exactly ``-prior_log_odds``, and a score at the threshold is accepted.
    c_miss, c_fa : float
        Costs of the two errors, at least 0 and not both 0.
    normalize : bool
        Divide by the cost of the better of accept-all and reject-all (the default); a normalized cost above 1 is
        worse than ignoring the scores.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float, or array of the shape of the prior
        ``p Cmiss Pmiss + (1-p) Cfa Pfa``, normalized by default; ``inf`` if a normalized cost at an extreme prior
        exceeds the largest float.

    Raises
    ------
    InputError
        If a class is empty or contains NaN, not exactly one prior is passed, or a prior or cost is out of range.

    Warns
    -----
    DecibanWarning
        If at least 10 scores are all in [0, 1]: they are probably probabilities instead of log-likelihood ratios; use
        `deciban.decisions.llr_from_probability` to convert them.

    Examples
    --------
    >>> act_dcf([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], p_target=0.5)
    0.6666666666666666
    >>> act_dcf([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], prior_log_odds=[-1.0, 0.0], normalize=False).round(4)
    array([0.2437, 0.3333])
    """
    scores = CountedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights)
    tell_of_two(tar, non)
    return scores.act_dcf(
        p_target=p_target, prior_log_odds=prior_log_odds, c_miss=c_miss, c_fa=c_fa, normalize=normalize
    )


def min_dcf(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    p_target: ArrayLike | None = None,
    prior_log_odds: ArrayLike | None = None,
    c_miss: float = 1.0,
    c_fa: float = 1.0,
    normalize: bool = True,
    tar_weights: Weights = None,
    non_weights: Weights = None,
) -> float | FloatArray:
    """Return the minimum detection cost over all thresholds, including accept-all and reject-all (BOSARIS eq. 15).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger scores favour targets. May be infinite.
    p_target, prior_log_odds : float or array_like
        The prior, as a probability inside (0, 1) or as finite log odds in nats: exactly one of them.
    c_miss, c_fa : float
        Costs of the two errors, at least 0 and not both 0.
    normalize : bool
        Divide by the cost of the better of accept-all and reject-all (the default); a normalized cost above 1 is
        worse than ignoring the scores.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float, or array of the shape of the prior
        At most 1 when normalized, and never above the actual cost of the same scores.

    Raises
    ------
    InputError
        If a class is empty or contains NaN, not exactly one prior is passed, or a prior or cost is out of range.

    Examples
    --------
    >>> round(min_dcf([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], p_target=0.5), 4)
    0.3333
    """
    return SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights).rocch.min_dcf(
        p_target=p_target, prior_log_odds=prior_log_odds, c_miss=c_miss, c_fa=c_fa, normalize=normalize
    )


def bayes_error(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    p_target: ArrayLike | None = None,
    prior_log_odds: ArrayLike | None = None,
    normalize: bool = False,
    tar_weights: Weights = None,
    non_weights: Weights = None,
) -> float | FloatArray:
    """Return the Bayes error rate ``p Pmiss + (1-p) Pfa`` at the Bayes threshold (BOSARIS paper eq. 13).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Log-likelihood ratios of target and non-target trials, in nats; may be infinite.
    p_target, prior_log_odds : float or array_like
        The prior, as a probability inside (0, 1) or as finite log odds in nats: exactly one of them. The threshold is
        exactly ``-prior_log_odds``, and a score at the threshold is accepted.
    normalize : bool
        Divide by the error rate of llr 0, ``min(p, 1-p)``.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float, or array of the shape of the prior
        A fraction; as a function of prior log odds, it is the (normalized) Bayes error-rate plot.

    Raises
    ------
    InputError
        If a class is empty or contains NaN, not exactly one prior is passed, or it is out of range.

    Warns
    -----
    DecibanWarning
        If at least 10 scores are all in [0, 1]: they are probably probabilities instead of log-likelihood ratios; use
        `deciban.decisions.llr_from_probability` to convert them.

    Examples
    --------
    >>> round(bayes_error([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], p_target=0.5), 4)
    0.3333
    """
    scores = CountedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights)
    tell_of_two(tar, non)
    return scores.act_dcf(p_target=p_target, prior_log_odds=prior_log_odds, normalize=normalize)


def min_bayes_error(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    p_target: ArrayLike | None = None,
    prior_log_odds: ArrayLike | None = None,
    normalize: bool = False,
    tar_weights: Weights = None,
    non_weights: Weights = None,
) -> float | FloatArray:
    """Return the minimum over all thresholds of the Bayes error rate (BOSARIS paper eq. 25).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger scores favour targets. May be infinite.
    p_target, prior_log_odds : float or array_like
        The prior, as a probability inside (0, 1) or as finite log odds in nats: exactly one of them.
    normalize : bool
        Divide by the error rate of llr 0, ``min(p, 1-p)``.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float, or array of the shape of the prior
        A fraction; its maximum over all priors is the equal error rate.

    Raises
    ------
    InputError
        If a class is empty or contains NaN, not exactly one prior is passed, or it is out of range.

    Examples
    --------
    >>> round(min_bayes_error([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], p_target=0.5), 4)
    0.1667
    """
    return SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights).rocch.min_dcf(
        p_target=p_target, prior_log_odds=prior_log_odds, normalize=normalize
    )


def calibration_loss(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    p_target: ArrayLike | None = None,
    prior_log_odds: ArrayLike | None = None,
    normalize: bool = False,
    tar_weights: Weights = None,
    non_weights: Weights = None,
) -> float | FloatArray:
    """Return the Bayes error rate minus its minimum: the cost that better calibration could save (thesis 7.3.3).

    It is the loss at one prior. The calibration loss in tables is `cllr` minus `min_cllr`, in bits.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Log-likelihood ratios of target and non-target trials, in nats; may be infinite.
    p_target, prior_log_odds : float or array_like
        The prior, as a probability inside (0, 1) or as finite log odds in nats: exactly one of them. The threshold is
        exactly ``-prior_log_odds``, and a score at the threshold is accepted.
    normalize : bool
        Divide by the error rate of llr 0, ``min(p, 1-p)``.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float, or array of the shape of the prior
        At least 0.

    Raises
    ------
    InputError
        If a class is empty or contains NaN, not exactly one prior is passed, or it is out of range.

    Warns
    -----
    DecibanWarning
        If at least 10 scores are all in [0, 1]: they are probably probabilities instead of log-likelihood ratios; use
        `deciban.decisions.llr_from_probability` to convert them.

    Examples
    --------
    >>> round(calibration_loss([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], p_target=0.5), 4)
    0.1667
    """
    scores = SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights)
    tell_of_two(tar, non)
    actual = scores.act_dcf(p_target=p_target, prior_log_odds=prior_log_odds, normalize=normalize)
    minimum = scores.rocch.min_dcf(p_target=p_target, prior_log_odds=prior_log_odds, normalize=normalize)
    loss = np.maximum(actual - minimum, 0.0)  # rounding can raise the minimum above the actual by an ulp
    return loss if np.ndim(loss) else float(loss)


def dr30(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    n_errors: float = FEW_ERRORS,
    tar_weights: Weights = None,
    non_weights: Weights = None,
) -> tuple[float, float]:
    """Return the prior log odds beyond which too few errors remain: Doddington's rule of 30 (thesis appendix B).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger scores favour targets. May be infinite.
    n_errors : float
        Required number of errors, positive.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    (false_alarms, misses) : tuple of float
        Prior log odds in nats, at the threshold of least cost. Below the first, fewer than ``n_errors`` false alarms
        remain; above the second, fewer than ``n_errors`` misses remain. ``(inf, -inf)`` if there are never that many.

    Raises
    ------
    InputError
        If a class is empty or contains NaN, or ``n_errors`` is not positive.

    Notes
    -----
    With 30 errors and independent trials, the measured error rate is within 30 % of the true one with a confidence of
    90 %.

    Examples
    --------
    >>> dr30([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], n_errors=1)
    (0.0, 0.0)
    """
    smallest = float(np.finfo(np.float64).tiny)
    n_errors = _validate.in_range(n_errors, "n_errors", smallest, np.inf, "A number of errors is positive")
    return SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights).rocch.few_errors(n_errors)


class DecisionErrors(NamedTuple):
    """Error rates of hard decisions.

    Parameters
    ----------
    p_miss : float
        Share of targets that were rejected, a fraction.
    p_fa : float
        Share of non-targets that were accepted, a fraction.
    """

    p_miss: float
    p_fa: float


def decision_errors(accepted: ArrayLike, is_target: ArrayLike, *, sample_weight: Weights = None) -> DecisionErrors:
    """Return miss and false-alarm rate of any decisions (thesis 7.11, 7.15 to 7.17).

    Parameters
    ----------
    accepted : (n_trials,) array_like
        True for trials that were accepted as targets: booleans, or 0 and 1.
    is_target : (n_trials,) array_like
        True for targets.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    DecisionErrors
        ``p_miss, p_fa``.

    Raises
    ------
    InputError
        If lengths differ, values are neither true nor false, or a class has no trials.

    Examples
    --------
    >>> decision_errors([True, False, True, False], [True, True, False, False])
    DecisionErrors(p_miss=0.5, p_fa=0.5)
    """
    value = _validate.array(accepted, "accepted")
    truth, weight = _validate.labels(is_target, sample_weight, value.size)
    decided = _validate.truth(value, len(truth), "accepted")
    counted = np.ones(len(truth), np.int64) if weight is None else weight
    wrong = {"p_miss": truth & ~decided, "p_fa": ~truth & decided}
    totals = {"p_miss": counted[truth].sum(), "p_fa": counted[~truth].sum()}
    return DecisionErrors(**{name: float(counted[some].sum() / totals[name]) for name, some in wrong.items()})


def decision_dcf(
    accepted: ArrayLike,
    is_target: ArrayLike,
    *,
    p_target: float,
    c_miss: float = 1.0,
    c_fa: float = 1.0,
    normalize: bool = True,
    sample_weight: Weights = None,
) -> float:
    """Return the detection cost of any decisions (thesis 7.11, BOSARIS paper eq. 7).

    Parameters
    ----------
    accepted : (n_trials,) array_like
        True for trials that were accepted as targets: booleans, or 0 and 1.
    is_target : (n_trials,) array_like
        True for targets.
    p_target : float
        Prior probability of a target, inside (0, 1).
    c_miss, c_fa : float
        Cost of a miss and of a false alarm, at least 0 and not both 0.
    normalize : bool
        Divide by the cost of the better of accept-all and reject-all.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float
        ``p_target c_miss p_miss + (1 - p_target) c_fa p_fa``, or a ratio if normalized.

    Raises
    ------
    InputError
        See `decision_errors`. Also if the operating point is out of range.

    Examples
    --------
    >>> decision_dcf([True, False, True, False], [True, True, False, False], p_target=0.5)
    1.0
    """
    point = OperatingPoint(p_target, c_miss, c_fa)
    errors = decision_errors(accepted, is_target, sample_weight=sample_weight)
    p_miss, p_fa, log_odds = (np.array(one) for one in (*errors, logit(point.p_target)))
    return float(detection_cost(p_miss, p_fa, log_odds, point.c_miss, point.c_fa, normalize=normalize))


def trial_costs(
    llr: ArrayLike,
    is_target: ArrayLike,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    p_target: float | None = None,
    prior_log_odds: float | None = None,
) -> FloatArray:
    """Return the cost of each trial by a rule of the beta family (thesis 7.38; logarithmic rule: 7.39).

    Parameters
    ----------
    llr : (n_trials,) array_like
        Log-likelihood ratios in nats; may be infinite.
    is_target : (n_trials,) array_like
        True for targets.
    alpha, beta : float
        Parameters of the rule in [0.05, 100]; default: the logarithmic rule.
    p_target, prior_log_odds : float
        The prior, as a probability inside (0, 1) or as finite log odds in nats: exactly one of them.

    Returns
    -------
    (n_trials,) array
        In nats for the logarithmic rule. The prior sets the posterior, but it does not weight the classes: the
        prior-weighted mean of class means is `scoring_rule_cost`.

    Raises
    ------
    InputError
        If there is NaN, lengths differ, or a parameter or the prior is out of range.

    Warns
    -----
    DecibanWarning
        If at least 10 scores are all in [0, 1]: they are probably not log-likelihood ratios.

    Examples
    --------
    >>> trial_costs([2.0, 2.0, -1.0], [True, False, False], p_target=0.5).round(4)
    array([0.1269, 2.1269, 0.3133])
    """
    scores = _validate.scores(llr, "llr")
    truth = _validate.truth(is_target, len(scores))
    rule = _validate.rule(alpha, beta)
    log_odds = _validate.single_log_odds(p_target, prior_log_odds, way="Use each prior separately")
    tell_of_two(scores)
    x, costs = scores.astype(np.float64) + log_odds, np.empty(len(scores))
    costs[truth], costs[~truth] = beta_cost_tar(x[truth], *rule), beta_cost_non(x[~truth], *rule)
    return costs


def errors_needed(*, within: float = 0.3, confidence: float = 0.9) -> float:
    """Return the number of errors for a reliable error rate: the rule of 30 at any precision (thesis B.1 to B.3).

    Parameters
    ----------
    within : float
        Relative precision: the true rate is within this share of the observed rate; above 0.
    confidence : float
        Probability of this, inside (0, 1).

    Returns
    -------
    float
        Number of errors, not rounded: ``(z / within)^2`` with the normal quantile ``z``. This assumes independent
        trials and a small rate. If trials share speakers, far more are needed (`deciban.plan`). As ``n_errors`` of
        `dr30`, it gives the range of priors with this precision.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> round(errors_needed(), 1), round(errors_needed(within=0.1, confidence=0.95))
    (30.1, 384)
    """
    if not 0.0 < within < np.inf:
        raise InputError(f"within: {within}. It must be above 0 and finite: 0.3 means plus or minus 30 %.")
    _validate.fraction(confidence, "confidence", "It must be inside (0, 1)")
    return float((ndtri((1.0 + confidence) / 2.0) / within) ** 2)


SRE12_POINTS = (OperatingPoint(0.01), OperatingPoint(0.001))
"""The operating points of SRE 2012: effective priors 0.01 and 0.001."""


def point_masses(operating_points: Iterable[PointLike], *, weights: Weights = None) -> FloatPair:
    """Return a weighted sum of normalized detection costs as point masses (Bruemmer and Doddington 2013, eq. 17).

    Parameters
    ----------
    operating_points : iterable
        Each an `OperatingPoint`, a ``p_target``, or ``(p_target, c_miss, c_fa)``, with positive costs.
    weights : (n_points,) array_like, optional
        Weight of each normalized cost in the sum, at least 0; ``1 / n_points`` by default.

    Returns
    -------
    thresholds, masses : (n_points,) arrays
        Bayes thresholds in nats, and the masses ``weight * sigma(|threshold|)`` of ``Omega`` at these thresholds.

    Raises
    ------
    InputError
        If there is no operating point, one has a cost of 0, or the number of weights differs.

    Notes
    -----
    Eq. 17 has ``sigma(threshold)``, which is the same for thresholds above 0. Below 0, normalized costs are divided by
    the cost of reject-all, which differs from the cost of accept-all.

    Examples
    --------
    >>> thresholds, masses = point_masses([0.01, 0.001])
    >>> thresholds.round(2), masses.round(4)
    (array([4.6 , 6.91]), array([0.495 , 0.4995]))
    """
    thresholds, weight = _points(operating_points, weights)
    return thresholds, weight * expit(np.abs(thresholds))


def point_mass_cost(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    thresholds: ArrayLike,
    masses: ArrayLike | None = None,
    tar_weights: Weights = None,
    non_weights: Weights = None,
) -> float:
    """Return the cost of a proper scoring rule with a few thresholds (Bruemmer and Doddington 2013, eqs. 8 and 9).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Log-likelihood ratios of target and non-target trials, in nats; may be infinite.
    thresholds : (n_points,) array_like
        Thresholds in nats, finite; a score at a threshold is accepted.
    masses : (n_points,) array_like, optional
        Weight of each threshold, at least 0, not normalized; ``1 / n_points`` by default.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float
        ``sum_k masses_k ((1 + e^-t_k) Pmiss(t_k) + (1 + e^t_k) Pfa(t_k))``; ``inf`` if an extreme threshold makes it
        exceed the largest float.

    Raises
    ------
    InputError
        If a class is empty or contains NaN, there is no finite threshold, or the number of masses differs.

    Notes
    -----
    The parametric members of the family are limits of such sums. With the density of `threshold_weighting` on a fine
    grid as masses, the result is `scoring_rule_cost`, up to the constant factor that normalizes ``Omega``.

    Warns
    -----
    DecibanWarning
        If at least 10 scores are all in [0, 1]: they are probably probabilities instead of log-likelihood ratios; use
        `deciban.decisions.llr_from_probability` to convert them.

    Examples
    --------
    >>> round(point_mass_cost([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], thresholds=[0.0, 1.5]), 4)
    0.8705
    """
    scores = CountedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights)
    tell_of_two(tar, non)
    return _actual(scores, *_places(thresholds, masses))


def min_point_mass_cost(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    thresholds: ArrayLike,
    masses: ArrayLike | None = None,
    tar_weights: Weights = None,
    non_weights: Weights = None,
) -> float:
    """Return the cost of point masses after the best monotone recalibration of the same scores.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger scores favour targets. May be infinite.
    thresholds, masses : (n_points,) array_like
        See `point_mass_cost`.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float
        Sum with each threshold at its least cost: PAV reaches all of them (thesis theorem 5).

    Raises
    ------
    InputError
        If a class is empty or contains NaN, there is no finite threshold, or the number of masses differs.

    Examples
    --------
    >>> round(min_point_mass_cost([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], thresholds=[0.0, 1.5]), 4)
    0.5372
    """
    scores = SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights)
    return _least(scores, *_places(thresholds, masses))


def c_primary(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    operating_points: Iterable[PointLike] = SRE12_POINTS,
    weights: Weights = None,
    tar_weights: Weights = None,
    non_weights: Weights = None,
) -> float:
    """Return the mean normalized actual detection cost over operating points: the primary cost of SRE 2012.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Log-likelihood ratios of target and non-target trials, in nats; may be infinite.
    operating_points : iterable
        Each an `OperatingPoint`, a ``p_target``, or ``(p_target, c_miss, c_fa)``; effective priors 0.01 and 0.001
        by default.
    weights : (n_points,) array_like, optional
        Weight of each operating point in the sum, at least 0; ``1 / n_points``, a mean, by default.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float
        1 for a recognizer whose llrs are always 0, if the weights sum to 1.

    Raises
    ------
    InputError
        If a class is empty or contains NaN, there is no operating point, a cost is 0, or the number of weights differs.

    Warns
    -----
    DecibanWarning
        If at least 10 scores are all in [0, 1]: they are probably probabilities instead of log-likelihood ratios; use
        `deciban.decisions.llr_from_probability` to convert them.

    Examples
    --------
    >>> round(c_primary([1.0, 9.0, 2.0], [0.0, 1.0, -1.0]), 6)
    0.666667
    """
    scores = CountedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights)
    tell_of_two(tar, non)
    return _actual(scores, *_points(operating_points, weights))


def min_c_primary(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    operating_points: Iterable[PointLike] = SRE12_POINTS,
    weights: Weights = None,
    tar_weights: Weights = None,
    non_weights: Weights = None,
) -> float:
    """Return the mean normalized minimum detection cost over operating points, each at its own best threshold.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger scores favour targets. May be infinite.
    operating_points : iterable
        Each an `OperatingPoint`, a ``p_target``, or ``(p_target, c_miss, c_fa)``; effective priors 0.01 and 0.001
        by default.
    weights : (n_points,) array_like, optional
        Weight of each operating point in the sum, at least 0; ``1 / n_points``, a mean, by default.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float
        The value of `c_primary` after PAV on the same scores: never above it.

    Raises
    ------
    InputError
        If a class is empty or contains NaN, there is no operating point, a cost is 0, or the number of weights differs.

    Examples
    --------
    >>> round(min_c_primary([1.0, 9.0, 2.0], [0.0, 1.0, -1.0]), 6)
    0.333333
    """
    scores = SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights)
    return _least(scores, *_points(operating_points, weights))


def _actual(scores: CountedScores, thresholds: FloatArray, weight: FloatArray) -> float:
    errors = scores.error_counts(thresholds)
    return _sum(errors.p_miss, errors.p_fa, thresholds, weight)


def _least(scores: SortedScores, thresholds: FloatArray, weight: FloatArray) -> float:
    return _sum(*scores.rocch.best_rates(-thresholds), thresholds, weight)


def _sum(p_miss: FloatArray, p_fa: FloatArray, thresholds: FloatArray, weight: FloatArray) -> float:
    """Return the weighted sum of normalized costs.

    At thresholds of either sign they are ``(1 + e^-t) Pmiss + (1 + e^t) Pfa``, divided by ``1 + e^-|t|``.
    """
    counts = weight > 0  # 0 times an infinite cost counts as 0
    costs = detection_cost(p_miss[counts], p_fa[counts], -thresholds[counts], 1.0, 1.0, normalize=True)
    with np.errstate(over="ignore"):
        return float(np.sum(weight[counts] * costs))


def _points(operating_points: Iterable[PointLike], weights: Weights) -> FloatPair:
    """Return thresholds and weights of operating points."""
    value = several(operating_points, "operating_points", "[0.01, (0.001, 10, 1)]")
    points = [as_operating_point(point) for point in value]
    if not points:
        raise InputError("operating_points: empty. Pass at least one OperatingPoint.")
    return np.array([point.threshold for point in points]), _weights(weights, len(points), "weights")


def _places(thresholds: ArrayLike, masses: ArrayLike | None) -> FloatPair:
    """Return thresholds, and the weights of their normalized costs."""
    places = _validate.finite(thresholds, "thresholds")
    if places.ndim != 1 or len(places) == 0:
        raise InputError(
            f"thresholds: expected a vector of at least one, got shape {places.shape}. Pass [t] for a single one."
        )
    return places, _weights(masses, len(places), "masses") * (1.0 + np.exp(-np.abs(places)))


def _weights(values: ArrayLike | None, n_points: int, name: str) -> FloatArray:
    if values is None:
        return np.full(n_points, 1.0 / n_points)
    mass = _validate.finite(values, name)
    if mass.shape != (n_points,):
        raise InputError(f"{name}: shape {mass.shape} for {n_points} points. Pass one for each point.")
    if mass.min() < 0 or mass.max() == 0:
        raise InputError(f"{name}: from {mass.min():g} to {mass.max():g}. They must be at least 0, not all 0.")
    return mass


def cllr(tar: ArrayLike, non: ArrayLike, *, tar_weights: Weights = None, non_weights: Weights = None) -> float:
    """Return the cost of log-likelihood ratios in bits (BOSARIS paper eq. 18).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Log-likelihood ratios of target and non-target trials, in nats; may be infinite.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float
        ``(mean_tar log2(1 + e^-llr) + mean_non log2(1 + e^llr)) / 2``: 0 is perfect, 1 is the cost of llr 0; ``inf`` if
        a trial has infinite evidence for the wrong class.

    Raises
    ------
    InputError
        If a class is empty or contains NaN.

    Warns
    -----
    DecibanWarning
        If at least 10 scores are all in [0, 1]: they are probably probabilities instead of log-likelihood ratios; use
        `deciban.decisions.llr_from_probability` to convert them.

    Examples
    --------
    >>> round(cllr([1.0, 2.0, 2.0], [0.0, 1.0, -1.0]), 6)
    0.694126
    >>> cllr([0.0], [0.0])
    1.0
    """
    return ScoredTrials.of(tar, non, tar_weights, non_weights).cllr()


def min_cllr(tar: ArrayLike, non: ArrayLike, *, tar_weights: Weights = None, non_weights: Weights = None) -> float:
    """Return Cllr after the best monotone recalibration of the same scores, in bits: the discrimination loss.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger scores favour targets. May be infinite.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float
        At most 1, and never above ``cllr``; the difference is the calibration loss.

    Raises
    ------
    InputError
        If a class is empty or contains NaN.

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
    """Return the prior-weighted cross-entropy (thesis eq. 7.40); as a function of prior log odds, it is the ECE curve.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Log-likelihood ratios of target and non-target trials, in nats; may be infinite.
    p_target, prior_log_odds : float or array_like
        The prior, as a probability inside (0, 1) or as finite log odds in nats: exactly one of them.
    normalize : bool
        Divide by the cross-entropy of llr 0, which is the entropy of the prior.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float, or array of the shape of the prior
        In nats: ``p mean_tar ln(1 + e^-(llr+tau)) + (1-p) mean_non ln(1 + e^(llr+tau))``; a ratio if normalized.
        ``cross_entropy(..., p_target=0.5) / ln 2`` is `cllr`.

    Raises
    ------
    InputError
        If a class is empty or contains NaN, not exactly one prior is passed, or it is out of range.

    Warns
    -----
    DecibanWarning
        If at least 10 scores are all in [0, 1]: they are probably probabilities instead of log-likelihood ratios; use
        `deciban.decisions.llr_from_probability` to convert them.

    Examples
    --------
    >>> round(cross_entropy([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], p_target=0.1), 6)
    0.224617
    """
    trials = ScoredTrials.of(tar, non, tar_weights, non_weights)
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
    """Return the cross-entropy after the best monotone recalibration of the same scores.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger scores favour targets. May be infinite.
    p_target, prior_log_odds : float or array_like
        The prior, as a probability inside (0, 1) or as finite log odds in nats: exactly one of them.
    normalize : bool
        Divide by the cross-entropy of llr 0, which is the entropy of the prior.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float, or array of the shape of the prior
        In nats, or a ratio if normalized.

    Raises
    ------
    InputError
        If a class is empty or contains NaN, not exactly one prior is passed, or it is out of range.

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
    """Return the expected cost of a beta-family scoring rule (thesis eq. 7.38, Bruemmer and Doddington 2013).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Log-likelihood ratios of target and non-target trials, in nats; may be infinite.
    alpha, beta : float
        Parameters of the rule in [0.05, 100]: (1, 1) is the logarithmic rule, (2, 2) three times the Brier rule, (1/2,
        1/2) the boosting rule (times 2/pi). Larger values emphasize a narrower range of thresholds.
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
        If a class is empty or contains NaN, a parameter is out of range, or not exactly one prior is passed.

    Warns
    -----
    DecibanWarning
        If at least 10 scores are all in [0, 1]: they are probably probabilities instead of log-likelihood ratios; use
        `deciban.decisions.llr_from_probability` to convert them.

    Examples
    --------
    >>> round(scoring_rule_cost([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], alpha=2, beta=2, p_target=0.5), 6)
    0.478762
    """
    trials = ScoredTrials.of(tar, non, tar_weights, non_weights)
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
    """Return the expected cost of a beta-family rule after the best monotone recalibration of the same scores.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger scores favour targets. May be infinite.
    alpha, beta : float
        Parameters of the rule in [0.05, 100]: (1, 1) is the logarithmic rule, (2, 2) three times the Brier rule, (1/2,
        1/2) the boosting rule (times 2/pi). Larger values emphasize a narrower range of thresholds.
    p_target, prior_log_odds : float or array_like
        The prior, as a probability inside (0, 1) or as finite log odds in nats: exactly one of them.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float, or array of the shape of the prior
        The same recalibration, PAV, is the best for every rule and prior (thesis theorem 5).

    Raises
    ------
    InputError
        If a class is empty or contains NaN, a parameter is out of range, or not exactly one prior is passed.

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
    """Return the weight of each llr threshold in a beta-family objective (Bruemmer and Doddington 2013, eq. 10).

    Parameters
    ----------
    threshold : array_like
        Thresholds on log-likelihood ratios, in nats.
    alpha, beta : float
        Parameters of the rule in [0.05, 100].
    p_target, prior_log_odds : float
        The prior of the objective: exactly one of them, a single value.

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
"""Functions that return costs of targets and non-targets at prior log odds, by name of the rule."""

OwnCosts: TypeAlias = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""Function that returns the costs of targets and of non-targets with given llrs."""

REGISTERED: dict[str, OwnCosts] = {}
"""Costs of metrics that users registered: `deciban.evaluation.register_metric`."""


def own_costs(name: str, costs: OwnCosts, kind: int) -> Callable[[FloatArray], FloatArray]:
    """Return a function for the checked costs of a registered metric, of targets (``kind`` 0) or non-targets (1)."""

    def checked(llr: FloatArray) -> FloatArray:
        try:
            values = np.asarray(tuple(costs(llr.copy()))[kind], np.float64)
        except (TypeError, ValueError, IndexError) as error:
            raise InputError(f"metric {name!r}: costs must return two arrays of numbers ({error}).") from error
        if values.shape != llr.shape or not (values >= 0.0).all():
            what = "a negative cost or NaN" if values.shape == llr.shape else f"an array of shape {values.shape}"
            raise InputError(
                f"metric {name!r}: for llrs of shape {llr.shape}, costs returned {what}. Return two arrays of costs, "
                "one for each llr, of at least 0."
            )
        return values

    return checked


def own_sums(
    own: Iterable[tuple[str, OwnCosts]], trials: tuple[WeightedScores, WeightedScores]
) -> dict[str, tuple[MeanCost, MeanCost]]:
    """Add up the costs of targets and of non-targets for each registered metric."""
    entries = {}
    for name, costs in own:
        tar, non = (MeanCost.of(llr, own_costs(name, costs, k), weights) for k, (llr, weights) in enumerate(trials))
        entries[name] = (tar, non)
    return entries


@dataclass(frozen=True, slots=True)
class ScoreParts:
    """Parts of a mean proper score: ``total = calibration_loss + discrimination_loss``.

    Attributes
    ----------
    total : float
        Score of the posteriors.
    discrimination_loss : float
        Score after PAV, the best monotone recalibration of the same scores; also called refinement.
    uncertainty : float
        Score of the prior itself, without scores.
    """

    total: float
    discrimination_loss: float
    uncertainty: float

    @property
    def calibration_loss(self) -> float:
        """Loss that recalibration removes: ``total - discrimination_loss``; also called miscalibration."""
        return max(self.total - self.discrimination_loss, 0.0)  # rounding can make the difference negative

    @property
    def resolution(self) -> float:
        """Gain of recalibrated scores over the prior: ``uncertainty - discrimination_loss``."""
        return max(self.uncertainty - self.discrimination_loss, 0.0)

    def to_dict(self) -> dict[str, float]:
        """Return all parts by name."""
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
    """Return the Brier score of the posteriors at a prior (Bruemmer and van Leeuwen 2006, eq. 13).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Log-likelihood ratios of target and non-target trials, in nats; may be infinite.
    p_target, prior_log_odds : float or array_like
        The prior, as a probability inside (0, 1) or as finite log odds in nats: exactly one of them.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float, or array of the shape of the prior
        ``p mean_tar (1 - q)^2 + (1-p) mean_non q^2`` with the posterior ``q = sigma(llr + prior log odds)`` of a
        target. 0 is perfect, 1 the worst, ``p (1-p)`` the score of llr 0 if both classes have their prior. It is half
        of `deciban.multiclass.brier`, which sums over both classes, and a third of the (2, 2) rule of
        `scoring_rule_cost`.

    Raises
    ------
    InputError
        If a class is empty or contains NaN, or not exactly one prior is passed or it is out of range.

    Warns
    -----
    DecibanWarning
        If at least 10 scores are all in [0, 1]: they are probably probabilities instead of log-likelihood ratios; use
        `deciban.decisions.llr_from_probability` to convert them.

    Examples
    --------
    >>> round(brier([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], p_target=0.5), 6)
    0.159587
    """
    log_odds = _validate.prior_log_odds(p_target, prior_log_odds)
    trials = ScoredTrials.of(tar, non, tar_weights, non_weights)
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
    """Return log loss or Brier score at a prior, with its parts due to calibration and to discrimination.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Log-likelihood ratios of target and non-target trials, in nats; may be infinite.
    rule : {"log", "brier"}
        Log loss in nats, which is `cross_entropy`, or `brier`.
    p_target, prior_log_odds : float
        The prior, as a probability inside (0, 1) or as finite log odds in nats: exactly one of them, a single value.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    ScoreParts

    Raises
    ------
    InputError
        If the rule is unknown, a class is empty or contains NaN, or not exactly one prior is passed.

    Warns
    -----
    DecibanWarning
        If at least 10 scores are all in [0, 1]: they are probably probabilities instead of log-likelihood ratios; use
        `deciban.decisions.llr_from_probability` to convert them.

    Notes
    -----
    ``total = calibration_loss + discrimination_loss``, where the latter is the score after PAV on the same trials. This
    generalizes Cllr and min Cllr to any prior; both rules have the same recalibration (thesis theorem 5). With
    ``discrimination_loss = uncertainty - resolution``, this is the decomposition into miscalibration, discrimination
    and uncertainty of Dimitriadis, Gneiting and Jordan ("Stable reliability diagrams for probabilistic classifiers",
    PNAS 118, 2021). Murphy's decomposition (J. Applied Meteorology 12, 1973) has the same form with the relative
    frequencies of bins in place of PAV. For the Brier score, both agree if the bins are the PAV blocks and the
    posteriors in each block are equal. Otherwise Murphy's parts depend on the bins and do not sum to the total.

    Examples
    --------
    >>> found = score_parts([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], rule="brier", p_target=0.5)
    >>> {name: round(value, 4) for name, value in found.to_dict().items()}  # doctest: +NORMALIZE_WHITESPACE
    {'total': 0.1596, 'calibration_loss': 0.0763, 'discrimination_loss': 0.0833, 'uncertainty': 0.25,
     'resolution': 0.1667}
    """
    _validate.one_of(rule, "rule", tuple(RULES))
    tau = _validate.single_log_odds(p_target, prior_log_odds, largest=1e4)
    trials = ScoredTrials.of(tar, non, tar_weights, non_weights)
    costs = RULES[rule](trials.tar, trials.non, tau)
    recalibrated = SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights).recalibrated
    return parts_of(costs, recalibrated, rule, tau)


def parts_of(costs: tuple[MeanCost, MeanCost], recalibrated: ScoredTrials, rule: Rule, log_odds: float) -> ScoreParts:
    """Return the parts of a score from its sums, which may come from merged trials."""
    least = mixed(*RULES[rule](recalibrated.tar, recalibrated.non, log_odds), log_odds)
    neutral = ScoredTrials.of([0.0], [0.0], None, None)  # llr 0 for every trial
    without_scores = mixed(*RULES[rule](neutral.tar, neutral.non, log_odds), log_odds)
    return ScoreParts(mixed(*costs, log_odds), least, without_scores)
