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
