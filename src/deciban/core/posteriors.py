"""Posteriors without the prior that is in them: log-likelihood ratios, and log-likelihoods up to a constant."""

from __future__ import annotations

import numpy as np
from scipy.special import logit

from deciban.types import FloatArray


def llr(probability: FloatArray, p_target: float) -> FloatArray:
    """``logit(p) - logit(p_target)`` of checked probabilities; 0 and 1 are infinite, whatever the prior."""
    result: FloatArray = logit(probability)
    result -= float(logit(p_target))
    return result


def loglik(posterior: FloatArray, prior: FloatArray) -> FloatArray:
    """``ln p_i - ln prior_i`` of checked probabilities by a prior without zeros; 0 excludes a class."""
    with np.errstate(divide="ignore"):
        result: FloatArray = np.log(posterior)
    result -= np.log(prior)
    return result


def complements(posterior: FloatArray) -> FloatArray:
    """Return 1 less each entry of rows that sum to 1, without cancellation next to 1.

    Examples
    --------
    >>> complements(np.array([[1.0, 1e-20], [0.25, 0.75]]))
    array([[1.0e-20, 1.0e+00],
           [7.5e-01, 2.5e-01]])
    """
    return np.where(posterior > 0.5, sums_of_others(posterior), 1.0 - posterior)


def sums_of_others(values: FloatArray) -> FloatArray:
    """Return the sum of the other entries of its row for each entry, which are at least 0, without cancellation.

    Examples
    --------
    >>> sums_of_others(np.array([[1.0, 2e-20]])).tolist()
    [[2e-20, 1.0]]
    """
    found = values.sum(axis=1, keepdims=True) - values
    rows, largest = np.arange(len(values)), values.argmax(axis=1)
    others = values.copy()
    others[rows, largest] = 0.0
    found[rows, largest] = others.sum(axis=1)
    return np.asarray(found, np.float64)
