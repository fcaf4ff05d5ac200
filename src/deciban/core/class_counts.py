"""Decisions about many classes, counted: which class is chosen, and which are accepted.

Counts are integers unless trials have fractional weights; counts of two sets of trials add up.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logit

from deciban.core.loglik import detection_llrs, prior_ratio, relative, row_blocks
from deciban.types import CountArray, FloatArray, IntArray, ScoreArray

_CELLS = 1 << 22
"""Counters held at once while decisions at many thresholds are counted."""


def chosen(loglik: ScoreArray, prior: FloatArray) -> IntArray:
    """The class of greatest posterior probability for every trial; the lowest index wins a tie.

    Classes of prior 0 are never chosen.
    """
    columns = np.flatnonzero(prior > 0)
    if len(columns) == len(prior) and np.all(prior == prior[0]):
        return np.asarray(np.argmax(loglik, axis=1))  # compares the scores themselves: nothing is rounded
    weights = log_weights(prior[columns])
    decision: IntArray = np.empty(len(loglik), np.int64)
    for rows in row_blocks(*loglik.shape):
        decision[rows] = columns[np.argmax(relative(loglik, rows, columns).T + weights, axis=1)]
    return decision


def log_weights(prior: FloatArray) -> FloatArray:
    """Logarithms of a positive prior, the greatest of them exactly 0.

    Of two classes the other one is minus the absolute log odds, so that a log-likelihood ratio meets its Bayes
    threshold exactly as it does in the two-class metrics.
    """
    if len(prior) == 2:
        log_odds = float(logit(prior[0]))
        return np.array([min(log_odds, 0.0), min(-log_odds, 0.0)])
    return np.log(prior_ratio(prior))


def confusion(label: IntArray, decision: IntArray, n_classes: int, weights: CountArray | None) -> CountArray:
    """Trials (or weight) of every true class (rows) that were taken for every class (columns)."""
    return tally(label * n_classes + decision, n_classes**2, weights).reshape(n_classes, n_classes)


def accepted(
    loglik: ScoreArray,
    label: IntArray,
    weights: CountArray | None,
    prior: FloatArray,
    thresholds: FloatArray,
) -> CountArray:
    """How often trials of every class were accepted as every class, at thresholds on detection llrs.

    Parameters
    ----------
    loglik, label, weights
        Checked trials.
    prior : (n_classes,) array
        Positive; only ratios between the rivals of a target matter.
    thresholds : (n_thresholds,) array
        In nats; a detection llr at or above one is accepted.

    Returns
    -------
    (n_thresholds, n_targets, n_classes) array
    """
    n_classes = loglik.shape[1]
    order = np.argsort(thresholds)
    at_once = max(_CELLS // n_classes**2, 1)
    total = np.empty((len(thresholds), n_classes, n_classes), np.int64 if _whole(weights) else np.float64)
    for first in range(0, len(order), at_once):
        some = order[first : first + at_once]
        total[some] = _accepted(loglik, label, weights, prior, thresholds[some])
    return total


def _accepted(
    loglik: ScoreArray, label: IntArray, weights: CountArray | None, prior: FloatArray, ascending: FloatArray
) -> CountArray:
    n_classes, n_steps, ratio = loglik.shape[1], len(ascending) + 1, prior_ratio(prior)
    passed = np.zeros((n_classes, n_classes * n_steps), np.int64 if _whole(weights) else np.float64)
    for rows in row_blocks(*loglik.shape):
        llrs = detection_llrs(relative(loglik, rows), ratio)
        true = label[rows] * n_steps
        weight = None if weights is None else weights[rows]
        for target, llr in enumerate(llrs):
            n_passed = np.searchsorted(ascending, llr, side="right") if n_steps > 2 else llr >= ascending[0]
            passed[target] += tally(true + n_passed, n_classes * n_steps, weight)
    # A trial that passes so many thresholds is accepted at each of them.
    by_step = passed.reshape(n_classes, n_classes, n_steps)[:, :, ::-1].cumsum(axis=2)[:, :, -2::-1]
    return np.moveaxis(by_step, 2, 0)


def tally(codes: IntArray, n_codes: int, weights: CountArray | None) -> CountArray:
    """How many trials (or how much weight) each code has."""
    if weights is None:
        return np.bincount(codes, minlength=n_codes)
    total = np.bincount(codes, weights, minlength=n_codes)
    return total.astype(np.int64) if _whole(weights) else total


def _whole(weights: CountArray | None) -> bool:
    return weights is None or weights.dtype == np.int64
