"""Costs of decisions: at operating points, at mixtures of thresholds such as C_primary, or of decisions that are given.

A proper scoring rule is a mixture of detection problems with a density ``Omega(t)`` over their thresholds (Bruemmer and
Doddington 2013, eq. 8). Point masses are such a density on single points. They are good for evaluation, but not for
training, because their slope is 0 nearly everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit, ndtri

from deciban._validate import arrays as _validate
from deciban._validate.arrays import several
from deciban._validate.probabilities import tell_of_two
from deciban.core.ranks.hull import FEW_ERRORS
from deciban.core.ranks.operating import OperatingPoint, PointLike, as_operating_point, detection_cost
from deciban.core.rules.proper import beta_cost_non, beta_cost_tar
from deciban.errors import InputError
from deciban.metrics.scores import CountedScores, SortedScores
from deciban.types import FloatArray, Weights


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
    """Actual detection cost: decisions at the Bayes threshold of the operating point (BOSARIS paper eqs. 9, 19).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Log-likelihood ratios of target and non-target trials, in nats. Infinite values are legal.
    p_target, prior_log_odds : float or array_like
        The prior, as a probability inside (0, 1) or as finite log odds in nats: exactly one of them. Scores are
        compared with ``-prior_log_odds`` as it stands, and a score exactly there is accepted.
    c_miss, c_fa : float
        Costs of the two errors, at least 0 and not both 0.
    normalize : bool
        Divide by the cost of the better of accept-all and reject-all (the default); a normalized cost above 1 is
        worse than no recognizer.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float, or array of the shape of the prior
        ``p Cmiss Pmiss + (1-p) Cfa Pfa``, normalized unless told otherwise; ``inf`` where a normalized cost at an
        extreme prior passes the largest float.

    Raises
    ------
    InputError
        If a class is empty or holds NaN, not exactly one prior is given or it is out of
        range, or a cost is negative.

    Warns
    -----
    DecibanWarning
        If 10 scores or more all lie in [0, 1]: these are no log-likelihood ratios, but perhaps probabilities, of which
        `deciban.decisions.llr_from_probability` makes some.

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
    """Minimum detection cost over all thresholds, accept-all and reject-all among them (BOSARIS paper eq. 15).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger favours target. Infinite scores are legal.
    p_target, prior_log_odds : float or array_like
        The prior, as a probability inside (0, 1) or as finite log odds in nats: exactly one of them.
    c_miss, c_fa : float
        Costs of the two errors, at least 0 and not both 0.
    normalize : bool
        Divide by the cost of the better of accept-all and reject-all (the default); a normalized cost above 1 is
        worse than no recognizer.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float, or array of the shape of the prior
        At most 1 when normalized, and never above the actual cost of the same scores.

    Raises
    ------
    InputError
        If a class is empty or holds NaN, not exactly one prior is given or it is out of
        range, or a cost is negative.

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
    """Bayes error rate ``p Pmiss + (1-p) Pfa`` at the Bayes threshold (BOSARIS paper eq. 13).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Log-likelihood ratios of target and non-target trials, in nats. Infinite values are legal.
    p_target, prior_log_odds : float or array_like
        The prior, as a probability inside (0, 1) or as finite log odds in nats: exactly one of them. Scores are
        compared with ``-prior_log_odds`` as it stands, and a score exactly there is accepted.
    normalize : bool
        Divide by the error rate of llr 0, ``min(p, 1-p)``.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float, or array of the shape of the prior
        A fraction; over prior log odds it is the (normalized) Bayes error-rate plot.

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
    """Minimum over all thresholds of the Bayes error rate (BOSARIS paper eq. 25).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger favours target. Infinite scores are legal.
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
        If a class is empty or holds NaN, or not exactly one prior is given or it is out of
        range.

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
    """Bayes error rate minus its minimum: what better calibration could still save (thesis 7.3.3).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Log-likelihood ratios of target and non-target trials, in nats. Infinite values are legal.
    p_target, prior_log_odds : float or array_like
        The prior, as a probability inside (0, 1) or as finite log odds in nats: exactly one of them. Scores are
        compared with ``-prior_log_odds`` as it stands, and a score exactly there is accepted.
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
        If a class is empty or holds NaN, or not exactly one prior is given or it is out of
        range.

    Warns
    -----
    DecibanWarning
        If 10 scores or more all lie in [0, 1]: these are no log-likelihood ratios, but perhaps probabilities, of which
        `deciban.decisions.llr_from_probability` makes some.

    Examples
    --------
    >>> round(calibration_loss([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], p_target=0.5), 4)
    0.1667
    """
    scores = SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights)
    tell_of_two(tar, non)
    actual = scores.act_dcf(p_target=p_target, prior_log_odds=prior_log_odds, normalize=normalize)
    minimum = scores.rocch.min_dcf(p_target=p_target, prior_log_odds=prior_log_odds, normalize=normalize)
    loss = np.maximum(actual - minimum, 0.0)  # rounding alone can put the minimum an ulp above
    return loss if np.ndim(loss) else float(loss)


def dr30(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    n_errors: float = FEW_ERRORS,
    tar_weights: Weights = None,
    non_weights: Weights = None,
) -> tuple[float, float]:
    """Where the errors run out: Doddington's rule of 30 as prior log odds (thesis appendix B).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger favours target. Infinite scores are legal.
    n_errors : float
        How many errors one wants to see at least, positive.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    (false_alarms, misses) : tuple of float
        Prior log odds in nats, read at the threshold of least cost: to the left of the first fewer than
        ``n_errors`` false alarms are left, to the right of the second fewer than ``n_errors`` misses. ``(inf, -inf)``
        where there are never that many.

    Raises
    ------
    InputError
        If a class is empty or holds NaN, or ``n_errors`` is not positive.

    Notes
    -----
    With 30 errors, and trials taken as independent, one is 90 % confident that the measured error rate is within 30 %
    of the true one.

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
    """Miss and false-alarm rate of decisions however they were made (thesis 7.11, 7.15 to 7.17).

    Parameters
    ----------
    accepted : (n_trials,) array_like
        Whether each trial was accepted as a target: booleans, or 0 and 1.
    is_target : (n_trials,) array_like
        Whether it is one.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    DecisionErrors
        ``p_miss, p_fa``.

    Raises
    ------
    InputError
        If lengths differ, values are neither true nor false, or a class has no trial.

    Examples
    --------
    >>> decision_errors([True, False, True, False], [True, True, False, False])
    DecisionErrors(p_miss=0.5, p_fa=0.5)
    """
    given = _validate.array(accepted, "accepted")
    truth, weight = _validate.labels(is_target, sample_weight, given.size)
    decided = _validate.truth(given, len(truth), "accepted")
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
    """Detection cost of decisions however they were made (thesis 7.11, BOSARIS paper eq. 7).

    Parameters
    ----------
    accepted : (n_trials,) array_like
        Whether each trial was accepted as a target: booleans, or 0 and 1.
    is_target : (n_trials,) array_like
        Whether it is one.
    p_target : float
        Prior probability of a target, inside (0, 1).
    c_miss, c_fa : float
        Cost of a miss and of a false alarm, at least 0 and not both 0.
    normalize : bool
        Divide by the cost of the better of accepting and rejecting everything.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float
        ``p_target c_miss p_miss + (1 - p_target) c_fa p_fa``, or a plain ratio if normalized.

    Raises
    ------
    InputError
        As `decision_errors`; if the operating point is out of range.

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
    """What each trial costs under a rule of the beta family (thesis 7.38; of the logarithm 7.39).

    Parameters
    ----------
    llr : (n_trials,) array_like
        Log-likelihood ratios in nats. Infinite values are legal.
    is_target : (n_trials,) array_like
        Whether each trial is a target.
    alpha, beta : float
        Parameters of the rule in [0.05, 100]; the logarithm unless told otherwise.
    p_target, prior_log_odds : float
        The prior, as a probability inside (0, 1) or as finite log odds in nats: exactly one of them.

    Returns
    -------
    (n_trials,) array
        In nats for the logarithm. The prior decides on the posterior, it does not weigh classes: the prior-weighted
        mean of class means is `scoring_rule_cost`.

    Raises
    ------
    InputError
        If there is NaN, lengths differ, or a parameter or the prior is out of range.

    Warns
    -----
    DecibanWarning
        If 10 scores or more all lie in [0, 1]: these are no log-likelihood ratios.

    Examples
    --------
    >>> trial_costs([2.0, 2.0, -1.0], [True, False, False], p_target=0.5).round(4)
    array([0.1269, 2.1269, 0.3133])
    """
    scores = _validate.scores(llr, "llr")
    truth = _validate.truth(is_target, len(scores))
    rule = _validate.rule(alpha, beta)
    log_odds = _validate.single_log_odds(p_target, prior_log_odds, way="Ask for one after the other")
    tell_of_two(scores)
    x, costs = scores.astype(np.float64) + log_odds, np.empty(len(scores))
    costs[truth], costs[~truth] = beta_cost_tar(x[truth], *rule), beta_cost_non(x[~truth], *rule)
    return costs


def errors_needed(*, within: float = 0.3, confidence: float = 0.9) -> float:
    """How many errors make an error rate known: the rule of 30 for any precision and confidence (thesis B.1 to B.3).

    Parameters
    ----------
    within : float
        The rate is to lie within so much of what was observed, as a share of it; above 0.
    confidence : float
        With this probability, inside (0, 1).

    Returns
    -------
    float
        Number of errors, not rounded: ``(z / within)^2`` with the normal quantile ``z``. Trials are taken as
        independent, and the rate as small; where trials share speakers far more are needed (`deciban.plan`). As
        ``n_errors`` of `dr30` it says where curves end that are as sure.

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
        raise InputError(f"within: {within}. A share of the rate, above 0 and finite: 0.3 is plus or minus 30 %.")
    if not 0.0 < confidence < 1.0:
        raise InputError(f"confidence: {confidence}. A probability inside (0, 1).")
    return float((ndtri((1.0 + confidence) / 2.0) / within) ** 2)


SRE12_POINTS = (OperatingPoint(0.01), OperatingPoint(0.001))
"""The operating points of SRE 2012: effective priors 0.01 and 0.001."""


def point_masses(
    operating_points: Iterable[PointLike], *, weights: ArrayLike | None = None
) -> tuple[FloatArray, FloatArray]:
    """Write a weighted sum of normalized detection costs as point masses (Bruemmer and Doddington 2013, eq. 17).

    Parameters
    ----------
    operating_points : iterable
        Each an `OperatingPoint`, a ``p_target``, or ``(p_target, c_miss, c_fa)``, with positive costs.
    weights : (n_points,) array_like, optional
        Weight of each normalized cost in the sum, at least 0; ``1 / n_points`` unless told otherwise.

    Returns
    -------
    thresholds, masses : (n_points,) arrays
        Bayes thresholds in nats, and the mass ``weight * sigma(|threshold|)`` that ``Omega`` has there.

    Raises
    ------
    InputError
        If there is no operating point, one has a cost of 0, or the weights do not fit.

    Notes
    -----
    Eq. 17 has ``sigma(threshold)``, which is the same for thresholds above 0; below 0, costs are normalized by
    those of reject-all, which are not those of accept-all.

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
    """Cost of a proper scoring rule that weighs a few thresholds (Bruemmer and Doddington 2013, eqs. 8 and 9).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Log-likelihood ratios of target and non-target trials, in nats. Infinite values are legal.
    thresholds : (n_points,) array_like
        Where decisions are made, in nats, finite; a score exactly there is accepted.
    masses : (n_points,) array_like, optional
        Weight of each threshold, at least 0, taken as it is; ``1 / n_points`` unless told otherwise.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float
        ``sum_k masses_k ((1 + e^-t_k) Pmiss(t_k) + (1 + e^t_k) Pfa(t_k))``; ``inf`` where an extreme threshold takes
        it beyond the largest float.

    Raises
    ------
    InputError
        If a class is empty or holds NaN, there is no threshold, one is not finite, or the masses do not fit.

    Notes
    -----
    The parametric members of the family are limits of such sums: with the density of `threshold_weighting` as masses
    on a fine grid, this is `scoring_rule_cost` up to the constant factor by which ``Omega`` is normalized.

    Warns
    -----
    DecibanWarning
        If 10 scores or more all lie in [0, 1]: these are no log-likelihood ratios, but perhaps probabilities, of which
        `deciban.decisions.llr_from_probability` makes some.

    Examples
    --------
    >>> round(point_mass_cost([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], thresholds=[0.0, 1.5]), 4)
    0.8705
    """
    scores = CountedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights)
    tell_of_two(tar, non)
    places, mass = _checked(thresholds, masses)
    return _actual(scores, places, mass * (1.0 + np.exp(-np.abs(places))))


def min_point_mass_cost(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    thresholds: ArrayLike,
    masses: ArrayLike | None = None,
    tar_weights: Weights = None,
    non_weights: Weights = None,
) -> float:
    """Cost of point masses after the best monotone recalibration of the same scores.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger favours target. Infinite scores are legal.
    thresholds, masses : (n_points,) array_like
        As in `point_mass_cost`.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float
        Each threshold at its least cost: PAV reaches all of them at once (thesis theorem 5).

    Raises
    ------
    InputError
        If a class is empty or holds NaN, there is no threshold, one is not finite, or the masses do not fit.

    Examples
    --------
    >>> round(min_point_mass_cost([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], thresholds=[0.0, 1.5]), 4)
    0.5372
    """
    scores = SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights)
    places, mass = _checked(thresholds, masses)
    return _least(scores, places, mass * (1.0 + np.exp(-np.abs(places))))


def c_primary(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    operating_points: Iterable[PointLike] = SRE12_POINTS,
    weights: ArrayLike | None = None,
    tar_weights: Weights = None,
    non_weights: Weights = None,
) -> float:
    """Mean of the normalized actual detection cost over operating points: the primary cost of SRE 2012.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Log-likelihood ratios of target and non-target trials, in nats. Infinite values are legal.
    operating_points : iterable
        Each an `OperatingPoint`, a ``p_target``, or ``(p_target, c_miss, c_fa)``; effective priors 0.01 and 0.001
        unless told otherwise.
    weights : (n_points,) array_like, optional
        Weight of each operating point in the sum, at least 0; ``1 / n_points``, a mean, unless told otherwise.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float
        1 for a recognizer that always says llr 0, if the weights sum to 1.

    Raises
    ------
    InputError
        If a class is empty or holds NaN, there is no operating point, one has a cost of 0, or the weights do not fit.

    Warns
    -----
    DecibanWarning
        If 10 scores or more all lie in [0, 1]: these are no log-likelihood ratios, but perhaps probabilities, of which
        `deciban.decisions.llr_from_probability` makes some.

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
    weights: ArrayLike | None = None,
    tar_weights: Weights = None,
    non_weights: Weights = None,
) -> float:
    """Mean of the normalized minimum detection cost over operating points, each at its own best threshold.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger favours target. Infinite scores are legal.
    operating_points : iterable
        Each an `OperatingPoint`, a ``p_target``, or ``(p_target, c_miss, c_fa)``; effective priors 0.01 and 0.001
        unless told otherwise.
    weights : (n_points,) array_like, optional
        Weight of each operating point in the sum, at least 0; ``1 / n_points``, a mean, unless told otherwise.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float
        What `c_primary` is after PAV on the same scores: never above it.

    Raises
    ------
    InputError
        If a class is empty or holds NaN, there is no operating point, one has a cost of 0, or the weights do not fit.

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
    """Weighted sum of normalized costs.

    At thresholds of either sign they are ``(1 + e^-t) Pmiss + (1 + e^t) Pfa``, divided by ``1 + e^-|t|``.
    """
    counts = weight > 0  # of a cost that is infinite, a weight of 0 takes nothing
    costs = detection_cost(p_miss[counts], p_fa[counts], -thresholds[counts], 1.0, 1.0, normalize=True)
    with np.errstate(over="ignore"):
        return float(np.sum(weight[counts] * costs))


def _points(operating_points: Iterable[PointLike], weights: ArrayLike | None) -> tuple[FloatArray, FloatArray]:
    """Thresholds and weights of operating points."""
    given = several(operating_points, "operating_points", "[0.01, (0.001, 10, 1)]")
    points = [as_operating_point(point) for point in given]
    if not points:
        raise InputError("operating_points: empty. Give at least one OperatingPoint.")
    return np.array([point.threshold for point in points]), _weights(weights, len(points), "weights")


def _checked(thresholds: ArrayLike, masses: ArrayLike | None) -> tuple[FloatArray, FloatArray]:
    places = _validate.finite(thresholds, "thresholds")
    if places.ndim != 1 or len(places) == 0:
        raise InputError(
            f"thresholds: expected a vector of at least one, got shape {places.shape}. Write [t] for a single one."
        )
    return places, _weights(masses, len(places), "masses")


def _weights(values: ArrayLike | None, n_points: int, name: str) -> FloatArray:
    if values is None:
        return np.full(n_points, 1.0 / n_points)
    mass = _validate.finite(values, name)
    if mass.shape != (n_points,):
        raise InputError(f"{name}: shape {mass.shape} for {n_points} points. Give one for each point.")
    if mass.min() < 0 or mass.max() == 0:
        raise InputError(
            f"{name}: {mass.min():g} is the least and {mass.max():g} the greatest. They are at least 0, not all 0."
        )
    return mass
