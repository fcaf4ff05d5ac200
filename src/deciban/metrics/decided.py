"""Decisions that were made already, and what single trials cost: no thresholds, no sorting."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logit, ndtri

from deciban._validate import arrays as _validate
from deciban._validate.probabilities import tell_of_two
from deciban.core.ranks.operating import OperatingPoint, detection_cost
from deciban.core.rules.proper import beta_cost_non, beta_cost_tar
from deciban.errors import InputError
from deciban.types import FloatArray, Weights


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
