"""Derivatives of the costs of the beta family from their formula, against which kernels are tested."""

import numpy as np

from deciban.core.proper import _log_weight, log_beta


def beta_cost_tar_slope(x, alpha, beta):
    """Derivative of `deciban.core.proper.beta_cost_tar` by ``x``."""
    with np.errstate(over="ignore", under="ignore"):
        return -np.exp(_log_weight(x, alpha - 1.0, beta) - log_beta(alpha, beta))


def beta_cost_non_slope(x, alpha, beta):
    """Derivative of `deciban.core.proper.beta_cost_non` by ``x``."""
    return -beta_cost_tar_slope(-x, beta, alpha)
