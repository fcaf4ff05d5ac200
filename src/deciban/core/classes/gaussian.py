"""Gaussian models of the features of classes: means, covariances, and log densities."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas, lapack

from deciban.core.classes.counts import ordered_by_class
from deciban.core.training.sums import Ends, Sums
from deciban.errors import InputError
from deciban.types import FloatArray, IntArray, ScoreArray

_BLOCK = 1 << 17
"""Numbers in a block of features."""

_ROWS = 16
"""Rows that are one long row while extremes are looked for."""

_NEAR = 64.0
"""Squared distances of means from their middle, relative to the number of features, which is what those of points to
their own mean are: up to here, what cancels takes no more digits than the sum of squares does."""

NOISE = (100.0 * float(np.finfo(np.float64).eps)) ** 2
"""Variance of a feature relative to its range that rounding makes where there is none."""


@dataclass(frozen=True, slots=True, eq=False)
class FeatureRanges:
    """How many trials each class has, and between which ends features lie; those of more trials are the sum.

    Attributes
    ----------
    ends : Ends
        Of each feature in the trials that count.
    counts : (n_classes,) int array
        Trials that count.
    """

    ends: Ends
    counts: IntArray

    @classmethod
    def of(cls, features: ScoreArray, label: IntArray, n_classes: int, weights: FloatArray | None) -> FeatureRanges:
        """Of finite features."""
        rows = None if weights is None else weights > 0.0
        counting, own = (features, label) if rows is None else (features[rows], label[rows])
        ends = [_extremes(counting, extreme).astype(np.float64) for extreme in (np.min, np.max)] if len(own) else None
        empty = np.full(features.shape[1], np.inf)
        return cls(Ends.of(*(ends or (empty, -empty))), np.bincount(own, minlength=n_classes))

    def __add__(self, other: FeatureRanges) -> FeatureRanges:
        """Add another part."""
        return FeatureRanges(self.ends + other.ends, self.counts + other.counts)

    @property
    def middle_and_size(self) -> tuple[FloatArray, FloatArray]:
        """Middle and half length of the range of each feature.

        Raises
        ------
        InputError
            If a feature is the same in all trials.
        """
        low, high = self.ends.low, self.ends.high
        middle, size = 0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low
        if (constant := np.flatnonzero(size == 0.0)).size:
            raise InputError(
                f"features: {len(constant)} of {len(size)} are the same in all trials, the first is feature "
                f"{constant[0]}. They tell nothing: leave them out."
            )
        return middle, size


@dataclass(frozen=True, slots=True, eq=False)
class FeatureSums:
    """A look at trials that sums up features of each class, or the products of their deviations, with weights.

    Attributes
    ----------
    middle, size : (n_features,) arrays
        Features are ``middle + size * x``.
    n_classes : int
    mean : (n_classes, n_features) array, optional
        Of x in each class, from which deviations are; without it, x is summed up.
    """

    middle: FloatArray
    size: FloatArray
    n_classes: int
    mean: FloatArray | None = None

    def __call__(self, features: ScoreArray, label: IntArray, weights: FloatArray | None) -> Sums:
        """The sums of each class: (n_classes, 1 + n_features) with the weight first, or (n_classes, f, f)."""
        n = len(self.size)
        total = Sums.of(np.zeros((self.n_classes, n, n) if self.mean is not None else (self.n_classes, 1 + n)))
        order = ordered_by_class(label, self.n_classes)
        order = order if weights is None else order[weights[order] > 0.0]
        ends = np.cumsum(np.bincount(label[order], minlength=self.n_classes))
        for k, own in enumerate(np.split(order, ends[:-1])):
            found = Sums.of(np.zeros(total.high.shape[1:]))
            for part in _blocks(len(own), n):
                rows = own[part]
                found += Sums.of(self._of(k, features[rows], np.ones(len(rows)) if weights is None else weights[rows]))
            total.high[k], total.low[k] = found.high, found.low
        return total

    def _of(self, k: int, features: ScoreArray, weights: FloatArray) -> FloatArray:
        points = (features - self.middle) / self.size
        if self.mean is None:
            return np.append(weights.sum(), weights @ points)
        points -= self.mean[k]
        return np.asarray((points.T * weights) @ points)


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
    counts : (n_classes,) int array
        Trials that count.
    """

    middle: FloatArray
    size: FloatArray
    mean: FloatArray
    covariance: FloatArray
    counts: IntArray

    @classmethod
    def of(cls, features: ScoreArray, label: IntArray, n_classes: int, weights: FloatArray | None) -> ClassMoments:
        """Of finite features; every class occurs.

        Raises
        ------
        InputError
            If a feature is the same in all trials.
        """
        ranges = FeatureRanges.of(features, label, n_classes, weights)
        return cls.within(ranges, lambda look: look(features, label, weights))

    @classmethod
    def within(cls, ranges: FeatureRanges, each: Callable[[FeatureSums], Sums]) -> ClassMoments:
        """Two passes over the trials of some ranges, in which every class occurs.

        Parameters
        ----------
        ranges : FeatureRanges
        each : function
            Has a look at all trials.

        Raises
        ------
        InputError
            If a feature is the same in all trials.
        """
        (middle, size), n_classes = ranges.middle_and_size, len(ranges.counts)
        sums = each(FeatureSums(middle, size, n_classes)).total
        total, mean = sums[:, :1], sums[:, 1:] / sums[:, :1]
        covariance = each(FeatureSums(middle, size, n_classes, mean)).total / total[:, :, None]
        covariance = 0.5 * (covariance + covariance.transpose(0, 2, 1))  # rounding is not symmetric
        for own in covariance:
            still = np.diag(own) <= NOISE  # a mean of equal numbers is rounded, too
            own[still] = own[:, still] = 0.0
        return cls(middle, size, mean, covariance, ranges.counts)


def _extremes(features: ScoreArray, extreme: Callable[..., ScoreArray]) -> ScoreArray:
    """Of every feature; rows of a matrix are taken many at once, for numpy is slow with short ones."""
    n, n_features = features.shape
    whole = n - n % _ROWS if features.flags.c_contiguous else 0
    found = [features[whole:]] if whole < n else []
    if whole:
        found.append(extreme(features[:whole].reshape(-1, _ROWS * n_features), axis=0).reshape(_ROWS, n_features))
    return extreme(np.concatenate(found), axis=0)


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
    inverses = [np.asfortranarray(lapack.dtrtri(factor, lower=1)[0]) for factor in factors]
    with np.errstate(over="ignore", invalid="ignore"):
        answer = _by_one(features, mean, inverses[0]) if len(factors) == 1 else _by_each(features, mean, inverses)
    answer -= [np.log(np.diag(factor)).sum() + 0.5 * len(factor) * math.log(2.0 * math.pi) for factor in factors]
    return answer


def _by_each(features: ScoreArray, mean: FloatArray, inverses: list[FloatArray]) -> FloatArray:
    """Log densities without constants, of models whose covariances have Cholesky factors with these inverses."""
    answer = np.empty((len(features), len(mean)))
    for rows in _blocks(len(features), mean.shape[1]):
        for k, inverse in enumerate(inverses):
            answer[rows, k] = -0.5 * _squares(_white(features[rows] - mean[k], inverse))
    return answer


def _by_one(features: ScoreArray, mean: FloatArray, inverse: FloatArray) -> FloatArray:
    """The same, of models with one covariance.

    Every point is whitened once, relative to a place that is not much farther from it than the means are: then no
    term of the squared distance to a mean is much larger than that distance, and no digits cancel.
    """
    answer = np.empty((len(features), len(mean)))
    middle = mean.mean(axis=0)
    if _squares(_white(mean - middle, inverse)).max() <= _NEAR * len(middle):
        places: Iterable[tuple[FloatArray, Iterable[slice | IntArray]]] = [
            (middle, _blocks(len(features), max(mean.shape)))
        ]
    else:
        places = _around_closest(features, mean, inverse)
    for place, parts in places:
        steps = _white(mean - place, inverse)
        for rows in parts:
            white = _white(features[rows] - place, inverse)
            found = white @ steps.T
            found -= 0.5 * _squares(steps)
            found -= 0.5 * _squares(white)[:, None]
            answer[rows] = found
    return answer


def _around_closest(
    features: ScoreArray, mean: FloatArray, inverse: FloatArray
) -> Iterator[tuple[FloatArray, Iterator[IntArray]]]:
    """Each mean, and in blocks the points to which it is the closest."""
    closest = _closest(features, mean, inverse)
    order = ordered_by_class(closest, len(mean))
    ends = np.cumsum(np.bincount(closest, minlength=len(mean)))
    for k, own in enumerate(np.split(order, ends[:-1])):
        yield mean[k], (own[part] for part in _blocks(len(own), max(mean.shape)))


def _closest(features: ScoreArray, mean: FloatArray, inverse: FloatArray) -> IntArray:
    """The mean that is closest to each point, but for rounding."""
    middle = mean.mean(axis=0)
    steps = _white(mean - middle, inverse)
    directions = inverse.T @ steps.T
    closest = np.empty(len(features), np.int64)
    for rows in _blocks(len(features), max(mean.shape)):
        closest[rows] = np.argmax((features[rows] - middle) @ directions - 0.5 * _squares(steps), axis=1)
    return closest


def _white(deviations: FloatArray, inverse: FloatArray) -> FloatArray:
    """Deviations (n, n_features), which are overwritten, in directions of variance 1."""
    return np.asarray(blas.dtrmm(1.0, inverse, deviations.T, lower=1, overwrite_b=1)).T


def _squares(vectors: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("nf,nf->n", vectors, vectors))


def _blocks(n: int, n_columns: int) -> Iterator[slice]:
    step = max(_BLOCK // n_columns, 1)
    return (slice(i, i + step) for i in range(0, n, step))
