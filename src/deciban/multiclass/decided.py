"""Decisions about many classes that were made already, and error rates as parts of the logarithmic cost."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from deciban._validate import arrays as _validate
from deciban._validate import classes as _validate_classes
from deciban._validate.probabilities import distributions
from deciban.errors import InputError
from deciban.multiclass.decision_errors import c_avg, error_rates, mean_cost
from deciban.multiclass.recalibration import calibration_analysis
from deciban.types import BoolArray, FloatArray, Names, Weights


def decision_c_avg(
    accepted: ArrayLike,
    label: ArrayLike,
    *,
    p_target: float = 0.5,
    normalize: bool = False,
    sample_weight: Weights = None,
    classes: Names = None,
) -> float:
    """C_avg of accept and reject decisions however they were made, one for each trial and class (thesis 8.3).

    Parameters
    ----------
    accepted : (n_trials, n_classes) array_like
        Whether each trial was accepted as each class: booleans, or 0 and 1. Any number of classes may be accepted.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    p_target : float
        Prior of each target class, inside (0, 1); the other classes share the rest evenly.
    normalize : bool
        Divide by the cost of the better of accepting and rejecting everything, ``min(p_target, 1 - p_target)``.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0; whole numbers count like copies of the trial.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    float
        A fraction, or a plain ratio if normalized. Of Bayes decisions it is `c_avg`.

    Raises
    ------
    InputError
        If a decision is neither true nor false, a label is no class, a class has no trial, or the prior is out of
        range.

    Examples
    --------
    >>> decision_c_avg([[1, 0], [0, 1], [1, 0], [0, 0]], [0, 1, 1, 1])
    0.25
    """
    table = _decisions(accepted)
    n, n_classes = table.shape
    names = _validate_classes.names(classes, n_classes)
    true = _validate_classes.label(label, n, n_classes, names)
    weights = _validate.weights(sample_weight, n, "sample_weight")
    _validate_classes.all_classes(true, n_classes, weights=weights, classes=names)
    log_odds = _validate.single_log_odds(p_target, None, way="Ask for one after the other")
    counted = np.ones(n, np.int64) if weights is None else weights
    is_class = true[:, None] == np.arange(n_classes)
    counts = table.T.astype(counted.dtype) @ (is_class * counted[:, None])
    totals = counted @ is_class
    others = (1.0 - np.eye(n_classes)) / (n_classes - 1)
    rates = error_rates(counts[None], totals, others)
    return float(mean_cost(*rates, np.array([log_odds]), normalize=normalize)[0])


def recalibrated_c_avg(
    loglik: ArrayLike,
    label: ArrayLike,
    *,
    p_target: ArrayLike = 0.5,
    normalize: bool = False,
    sample_weight: Weights = None,
    classes: Names = None,
) -> float | FloatArray:
    """C_avg after the scale and offsets that are best for the cross-entropy of the same trials (thesis 8.24).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. Infinite values are legal.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    p_target, normalize, sample_weight, classes
        As of `c_avg`.

    Returns
    -------
    float, or array of the shape of ``p_target``
        What decisions of a calibrated recognizer would cost; not a minimum, as another map may serve C_avg better.

    Raises
    ------
    InputError
        As `c_avg`.

    Examples
    --------
    >>> loglik = [[9, 8, 0], [5, 6, 0], [6, 7, 4], [8, 7, 7], [0, 8, 7], [7, 5, 6], [5, 5, 9], [6, 9, 9]]
    >>> label = [0, 1, 0, 2, 2, 0, 2, 1]
    >>> round(c_avg(loglik, label), 4), round(recalibrated_c_avg(loglik, label), 4)
    (0.2917, 0.2222)
    """
    found = calibration_analysis(loglik, label, sample_weight=sample_weight, classes=classes)
    scores = _validate_classes.loglik(loglik)
    with np.errstate(over="ignore"):
        mapped = scores * found.scale if found.scale > 0.0 else np.zeros(scores.shape)
    return c_avg(
        mapped + found.offset,
        label,
        p_target=p_target,
        normalize=normalize,
        sample_weight=sample_weight,
        classes=classes,
    )


def error_rate_weighting(prior: ArrayLike) -> FloatArray:
    """How much the error rate at a prior weighs in the cross-entropy at the flat one (thesis D.1, figure D.1).

    Parameters
    ----------
    prior : (n, n_classes) array_like
        Priors of the classes, rows that sum to 1, all above 0.

    Returns
    -------
    (n,) array
        The density ``w`` over ``x_k = ln(prior_k / prior_N)``, ``k < N``, with which the integral of `error_rate` at
        that prior is `cross_entropy` at the flat prior in nats.

    Raises
    ------
    InputError
        If rows are no probabilities, or one is 0.

    Notes
    -----
    Decisions whose regions meet at ``eta`` are those of the prior that is proportional to ``1 / eta``, so thesis 8.13
    becomes an integral of error rates: with ``T = sum_k 1 / prior_k``,
    ``w = (N - 2)! / N * T^(1 - N) * prod_k 1 / prior_k``. Of two classes it is 1/2 everywhere: the area under the curve
    of error rates over log odds is twice the cross-entropy.

    Examples
    --------
    >>> error_rate_weighting([[0.5, 0.5], [0.01, 0.99]])
    array([0.5, 0.5])
    >>> error_rate_weighting([[1 / 3, 1 / 3, 1 / 3]]).round(6)
    array([0.111111])
    """
    table = distributions(prior, "prior")
    if not table.all():
        row = int(np.argmin(table.all(axis=1)))
        raise InputError(f"prior: row {row} has a class of prior 0. Error rates are weighted at priors above 0.")
    n_classes = table.shape[1]
    log_total = np.log((1.0 / table).sum(axis=1))
    log_weight = gammaln(n_classes - 1) - np.log(n_classes) + (1 - n_classes) * log_total - np.log(table).sum(axis=1)
    return np.asarray(np.exp(log_weight))


def _decisions(values: ArrayLike) -> BoolArray:
    given = _validate.array(values, "accepted")
    if given.ndim != 2 or given.shape[1] < 2 or not len(given):
        raise InputError(f"accepted: shape {given.shape}. Give a row for each trial and a column for each class.")
    return _validate.truth(given.ravel(), given.size, "accepted").reshape(given.shape)
