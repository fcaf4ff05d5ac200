"""Gaussian models of the features of classes: means, covariances, and log densities."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from deciban.errors import InputError
from deciban.types import FloatArray, IntArray, ScoreArray

_BLOCK = 1 << 18
"""Numbers in a block of features."""

NOISE = (100.0 * float(np.finfo(np.float64).eps)) ** 2
"""Variance of a feature relative to its range that rounding makes where there is none."""


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
        Of x. A feature that is the same in all trials of a class has exactly no variance.
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
            parts = list(_blocks(len(own), len(size)))
            mean[k] = sum(weight[part] @ ((features[own[part]] - middle) / size) for part in parts)
            covariance[k] = 0.0
            for part in parts:
                deviation = (features[own[part]] - middle) / size - mean[k]
                covariance[k] += (deviation.T * weight[part]) @ deviation
            covariance[k] = 0.5 * (covariance[k] + covariance[k].T)  # rounding is not symmetric
            still = np.diag(covariance[k]) <= NOISE  # a mean of equal numbers is rounded, too
            covariance[k, still] = covariance[k, :, still] = 0.0
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
    sd = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    factors = [s[:, None] * np.linalg.cholesky(one / np.outer(s, s)) for one, s in zip(covariance, sd, strict=True)]
    with np.errstate(over="ignore", invalid="ignore"):
        answer = _by_one(features, mean, factors[0]) if len(factors) == 1 else _by_each(features, mean, factors)
    answer -= [np.log(np.diag(factor)).sum() + 0.5 * len(factor) * math.log(2.0 * math.pi) for factor in factors]
    return answer


def _by_each(features: ScoreArray, mean: FloatArray, factors: list[FloatArray]) -> FloatArray:
    """Log densities without constants, of models whose covariances have these Cholesky factors."""
    answer = np.empty((len(features), len(mean)))
    for rows in _blocks(len(features), mean.shape[1]):
        for k, factor in enumerate(factors):
            answer[rows, k] = -0.5 * _squares(_white(features[rows] - mean[k], factor))
    return answer


def _by_one(features: ScoreArray, mean: FloatArray, factor: FloatArray) -> FloatArray:
    """The same, of models with one covariance.

    Every point is whitened once, relative to the mean that is closest to it: then no term of the squared distance to
    another mean is much larger than that distance, and no digits cancel.
    """
    answer = np.empty((len(features), len(mean)))
    closest = _closest(features, mean, factor)
    order = np.argsort(closest, kind="stable")
    ends = np.searchsorted(closest[order], np.arange(len(mean) + 1))
    for k in np.unique(closest):
        own = order[ends[k] : ends[k + 1]]
        steps = _white(mean - mean[k], factor)
        for part in _blocks(len(own), max(mean.shape)):
            white = _white(features[own[part]] - mean[k], factor)
            answer[own[part]] = white @ steps.T - 0.5 * (_squares(steps) + _squares(white)[:, None])
    return answer


def _closest(features: ScoreArray, mean: FloatArray, factor: FloatArray) -> IntArray:
    """The mean that is closest to each point, but for rounding."""
    middle = mean.mean(axis=0)
    steps = _white(mean - middle, factor)
    directions = solve_triangular(factor, steps.T, trans="T", lower=True, check_finite=False)
    closest = np.empty(len(features), np.int64)
    for rows in _blocks(len(features), max(mean.shape)):
        closest[rows] = np.argmax((features[rows] - middle) @ directions - 0.5 * _squares(steps), axis=1)
    return closest


def _white(deviations: FloatArray, factor: FloatArray) -> FloatArray:
    """Deviations (n, n_features), which are overwritten, in directions of variance 1."""
    return np.asarray(solve_triangular(factor, deviations.T, lower=True, overwrite_b=True, check_finite=False)).T


def _squares(vectors: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("nf,nf->n", vectors, vectors))


def _blocks(n: int, n_columns: int) -> Iterator[slice]:
    step = max(_BLOCK // n_columns, 1)
    return (slice(i, i + step) for i in range(0, n, step))
