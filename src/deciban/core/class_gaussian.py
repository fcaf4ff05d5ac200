"""Gaussian models of the features of classes: means, covariances, and log densities."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from deciban.errors import InputError
from deciban.types import FloatArray, IntArray, ScoreArray

_BLOCK = 1 << 16
"""Numbers in a block of features."""


@dataclass(frozen=True, slots=True, eq=False)
class ClassMoments:
    """Means and covariances (of maximum likelihood) of each class, relative to the range of each feature.

    Attributes
    ----------
    middle, size : (n_features,) arrays
        Features are ``middle + size * x``: relative to their range nothing overflows, and a shift takes no digits.
    mean : (n_classes, n_features) array
        Of x.
    covariance : (n_classes, n_features, n_features) array
        Of x.
    """

    middle: FloatArray
    size: FloatArray
    mean: FloatArray
    covariance: FloatArray

    @classmethod
    def of(cls, features: ScoreArray, label: IntArray, n_classes: int, weights: FloatArray | None) -> ClassMoments:
        """Two passes over finite features; every class occurs.

        Raises
        ------
        InputError
            If a feature is the same in all trials.
        """
        counting = np.ones(len(label), np.bool_) if weights is None else weights > 0.0
        low, high = (extreme(features[counting], axis=0).astype(np.float64) for extreme in (np.min, np.max))
        middle, size = 0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low
        if (constant := np.flatnonzero(size == 0.0)).size:
            raise InputError(
                f"features: {len(constant)} of {len(size)} are the same in all trials, the first is feature "
                f"{constant[0]}. They tell nothing: leave them out."
            )
        mean = np.empty((n_classes, len(size)))
        covariance = np.empty((n_classes, len(size), len(size)))
        order = np.argsort(label, kind="stable")
        ends = np.searchsorted(label[order], np.arange(n_classes + 1))
        for k in range(n_classes):
            own = order[ends[k] : ends[k + 1]]
            own = own[counting[own]]
            weight = np.ones(len(own)) if weights is None else weights[own]
            weight = weight / weight.sum()
            step = max(_BLOCK // len(size), 1)
            parts = [slice(i, i + step) for i in range(0, len(own), step)]
            mean[k] = sum(weight[part] @ ((features[own[part]] - middle) / size) for part in parts)
            covariance[k] = 0.0
            for part in parts:
                deviation = (features[own[part]] - middle) / size - mean[k]
                covariance[k] += (deviation.T * weight[part]) @ deviation
            covariance[k] = 0.5 * (covariance[k] + covariance[k].T)  # rounding is not symmetric
        return cls(middle, size, mean, covariance)


def is_singular(covariance: FloatArray) -> bool:
    """Whether some sum of features has no variance, but for rounding."""
    sd = np.sqrt(np.diag(covariance))
    if not np.all(sd > 0.0):
        return True
    eigenvalues = np.linalg.eigvalsh(covariance / np.outer(sd, sd))
    return bool(eigenvalues[0] <= 10.0 * len(sd) * np.finfo(np.float64).eps * eigenvalues[-1])


def log_densities(features: ScoreArray, mean: FloatArray, covariance: FloatArray) -> FloatArray:
    """Log densities of Gaussian models at points.

    Parameters
    ----------
    features : (n, n_features) array
        Finite.
    mean : (n_classes, n_features) array
    covariance : (n_classes or 1, n_features, n_features) array
        Positive definite; one for all, or one for each.

    Returns
    -------
    (n, n_classes) array
        In nats.
    """
    n_features = mean.shape[1]
    sd = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    factors = [np.linalg.cholesky(one / np.outer(s, s)) for one, s in zip(covariance, sd, strict=True)]
    answer = np.empty((len(features), len(mean)))
    step = max(_BLOCK // n_features, 1)
    with np.errstate(over="ignore", invalid="ignore"):
        for i in range(0, len(features), step):
            rows = slice(i, i + step)
            for k, own in enumerate(mean):
                which = k if len(covariance) > 1 else 0
                white = solve_triangular(
                    factors[which], ((features[rows] - own) / sd[which]).T, lower=True, check_finite=False
                )
                answer[rows, k] = -0.5 * np.einsum("fn,fn->n", white, white)
    constants = [
        np.log(np.diag(factor)).sum() + np.log(s).sum() + 0.5 * n_features * math.log(2.0 * math.pi)
        for factor, s in zip(factors, sd, strict=True)
    ]
    answer -= constants
    return answer
