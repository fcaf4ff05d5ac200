"""Confidence intervals for error rates and weighted sums of them, from few errors and clusters of unequal size.

Each rate has Wilson limits at its effective number of trials: the number of trials divided by the design effect, which
is the cluster-robust variance over the binomial one, and at least 1. Distances of the limits of several rates are
combined by MOVER (Zou and Donner 2008, Statistics in Medicine 27): squares add, with the correlation of the rates.
Quantiles are those of t with the effective number of clusters minus 1 (Carter, Schnepel and Steigerwald 2017, Review of
Economics and Statistics 99).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from deciban.types import FloatArray

FEWEST_CLUSTERS = 5.0
"""Effective clusters of a class below which there are no intervals."""

Numbers: TypeAlias = float | FloatArray
"""One number, or one for each place of a curve."""

_ROUNDING = 1e-13
"""Rates this close to 0 or 1 are 0 or 1."""


Scale: TypeAlias = Literal["log", "logit", "identity", "complement"]

_MOST = 700.0
"""Logarithm of the largest factor."""


def bounds_on_scale(
    value: ArrayLike, middle: ArrayLike, half_width: ArrayLike, scale: Scale
) -> tuple[FloatArray, FloatArray]:
    """Return both bounds around the middle.

    Parameters
    ----------
    value : array_like
        Where the half-widths were found.
    middle : array_like
        Around what the intervals lie; mostly the values themselves.
    half_width : array_like
        On the scale of the values, to first order.
    scale : {"log", "logit", "identity"}
        Where it cannot be used, as a value or its middle is at the end of it, bounds are those of ``identity``.

    Examples
    --------
    >>> low, high = bounds_on_scale([0.1, 0.0], [0.1, 0.0], [0.05, 0.05], "logit")
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.0599, -0.05], [0.1622, 0.05])
    """
    at, centre, reach = (np.asarray(one, np.float64) for one in np.broadcast_arrays(value, middle, half_width))
    low, high = centre - reach, centre + reach
    if scale == "identity":
        return low, high
    usable = (at > 0.0) & (centre > 0.0) & np.isfinite(at) & (reach != 0.0)
    if scale == "logit":
        usable &= (at < 1.0) & (centre < 1.0)
    found = np.stack((low, high))
    if scale == "logit":
        steps = reach[usable] / (at[usable] * (1.0 - at[usable]))
        middles = special.logit(centre[usable])
        found[:, usable] = special.expit(np.stack((middles - steps, middles + steps)))
    else:
        steps = np.minimum(reach[usable] / at[usable], _MOST)
        with np.errstate(over="ignore"):  # a bound may be infinite
            found[:, usable] = centre[usable] * np.exp(np.stack((-steps, steps)))
    return found[0], found[1]


def t_quantile(level: float, degrees: float) -> float:
    """Standard errors on both sides that hold a share ``level`` of draws, by the t distribution.

    >>> round(t_quantile(0.95, 99), 3)
    1.984
    """
    return float(special.stdtrit(degrees, (1.0 + level) / 2.0))


def effective_numbers(sums: ArrayLike, squares: ArrayLike) -> FloatArray:
    """Return effective numbers of clusters, ``(sum m)^2 / sum m^2``; 0 where there is none.

    Examples
    --------
    >>> effective_numbers([8.0, 0.0], [32.0, 0.0]).tolist()
    [2.0, 0.0]
    """
    total, own = np.asarray(sums, np.float64), np.asarray(squares, np.float64)
    return np.divide(total * total, own, out=np.zeros(np.broadcast(total, own).shape), where=own > 0.0)


def is_enough(n_clusters: float) -> bool:
    """Return whether a class has enough effective clusters for intervals; rounding of their number does not matter."""
    return n_clusters >= FEWEST_CLUSTERS * (1.0 - 1e-9)


def small_sample_factors(share: FloatArray, n_units: int | FloatArray | None = None) -> FloatArray:
    """Return factors of the influences of clusters whose squares are then those of a jackknife (CR3).

    A cluster that has a share h of the trials of a class moves the mean by ``1 / (1 - h)`` times its influence when it
    is left out. Clusters of equal size have the factor 1, if each trial is of one cluster.

    Parameters
    ----------
    share : (n_units,) array
        Trials of each cluster, as a share of all trials of the class.
    n_units : int or (n_units,) array, optional
        Clusters of the class, or of the class of each; as many as have a share when left out.

    Examples
    --------
    >>> small_sample_factors(np.array([0.5, 0.5, 0.0])).tolist()
    [1.0, 1.0, 0.5]
    """
    n = max(int(np.count_nonzero(share > 0.0)), 1) if n_units is None else n_units
    rest = 1.0 - share
    return np.divide(1.0 - 1.0 / np.asarray(n), rest, out=np.zeros_like(rest), where=rest > 1e-12)


@dataclass(frozen=True, slots=True)
class ClassSize:
    """Number of trials of one class, and the number of equal independent clusters that they amount to.

    Attributes
    ----------
    n_trials : float or array
        At most so many are the effective trials of a rate, or of the rate at each place of a curve.
    n_clusters : float
        ``(sum m)^2 / sum m^2`` for clusters of m trials.
    n_units : int
        Clusters with trials of the class.
    """

    n_trials: Numbers
    n_clusters: float
    n_units: int

    @classmethod
    def of(cls, totals: FloatArray, n_trials: float) -> ClassSize:
        """Return the size of a class from the trials of each cluster.

        Examples
        --------
        >>> ClassSize.of(np.array([4.0, 4.0, 0.0]), 8.0)
        ClassSize(n_trials=8.0, n_clusters=2.0, n_units=2)
        """
        n_clusters = float(effective_numbers(totals.sum(), totals @ totals))
        return cls(n_trials, n_clusters, int(np.count_nonzero(totals > 0.0)))

    @property
    def is_enough(self) -> bool:
        """Whether intervals are possible: at least five effective clusters."""
        return is_enough(self.n_clusters)

    def quantile(self, level: float) -> float:
        """Return the t quantile at a level, with the effective number of clusters minus 1 as degrees of freedom."""
        return t_quantile(level, max(self.n_clusters - 1.0, 1.0))

    def effective(self, rate: ArrayLike, variance: ArrayLike) -> FloatArray:
        """Return effective numbers of trials of rates with these cluster-robust variances.

        Where no trial, or every trial, is an error, each cluster counts as one observation.

        Examples
        --------
        >>> size = ClassSize(100.0, 20.0, 20)
        >>> size.effective([0.0, 0.5, 0.5], [0.0, 0.0001, 0.01]).tolist()
        [20.0, 100.0, 25.0]
        """
        p, squared = np.asarray(rate, np.float64), np.asarray(variance, np.float64)
        binomial = p * (1.0 - p)
        moved = (p > _ROUNDING) & (p < 1.0 - _ROUNDING) & (squared > 0.0)
        found = np.full(np.broadcast(p, squared).shape, self.n_clusters)
        np.divide(binomial, squared, out=found, where=moved)
        return np.asarray(np.minimum(found, self.n_trials))

    def limits(self, rate: ArrayLike, variance: ArrayLike, level: float) -> tuple[FloatArray, FloatArray]:
        """Return Wilson limits of rates at their effective numbers of trials.

        Examples
        --------
        >>> low, high = ClassSize(200.0, 50.0, 50).limits([0.0, 0.1], [0.0, 0.0009], 0.95)
        >>> low.round(3).tolist(), high.round(3).tolist()
        ([0.0, 0.054], [0.075, 0.177])
        """
        p = np.clip(np.asarray(rate, np.float64), 0.0, 1.0)
        return wilson(p, self.effective(p, variance), self.quantile(level))


def wilson(rate: ArrayLike, n: ArrayLike, quantile: float) -> tuple[FloatArray, FloatArray]:
    """Return Wilson limits of rates from n trials each.

    Examples
    --------
    >>> [round(float(limit), 4) for limit in wilson(0.1, 100, 1.96)]
    [0.0552, 0.1744]
    """
    p, size = np.asarray(rate, np.float64), np.asarray(n, np.float64)
    extra = quantile * quantile / size
    centre = (p + extra / 2.0) / (1.0 + extra)
    reach = np.sqrt(extra * (p * (1.0 - p) + extra / 4.0)) / (1.0 + extra)
    low = np.where(p <= _ROUNDING, 0.0, np.maximum(centre - reach, 0.0))
    return np.minimum(low, p), np.maximum(np.where(p >= 1.0 - _ROUNDING, 1.0, np.minimum(centre + reach, 1.0)), p)


@dataclass(frozen=True, slots=True)
class RatePart:
    """One of the rates that a metric, or a curve, adds up.

    Attributes
    ----------
    weight, rate : float or array
    variance : float or array
        Cluster-robust, of the rate.
    size : ClassSize
        Of the class of the rate.
    """

    weight: Numbers
    rate: Numbers
    variance: Numbers
    size: ClassSize

    def distances(self, level: float) -> FloatArray:
        """Return how far the metric may fall, and rise, by this rate alone: (2, ...)."""
        low, high = self.size.limits(self.rate, self.variance, level)
        ways = np.stack((self.rate - low, high - self.rate))
        return np.asarray(np.where(np.asarray(self.weight) >= 0.0, ways, ways[::-1]) * np.abs(self.weight))


@dataclass(frozen=True, slots=True)
class RateSum:
    """A weighted sum of error rates of some classes, or such a sum at each place of a curve.

    Attributes
    ----------
    parts : tuple of tuples of RatePart
        Of targets, and of non-targets; or of each of many classes.
    within : tuple of float
        Correlation of the rates of the same class.
    between : float or array
        Correlation of the sums of any two classes.
    """

    parts: tuple[tuple[RatePart, ...], ...]
    within: tuple[float, ...] = (1.0, 1.0)
    between: Numbers = 0.0

    def distances(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Return how far the sum may fall, and rise.

        Examples
        --------
        >>> size = ClassSize(100.0, 100.0, 100)
        >>> one = RatePart(1.0, 0.1, 0.0009, size)
        >>> [round(float(x), 4) for x in RateSum(((one,), ())).distances(0.95)]
        [0.0452, 0.0755]
        >>> [round(float(x), 4) for x in RateSum(((one,), (one,))).distances(0.95)]
        [0.0639, 0.1067]
        """
        sums = [
            combined([part.distances(level) for part in own], rho)
            for own, rho in zip(self.parts, self.within, strict=True)
            if own
        ]
        below, above = combined(sums, self.between)
        return below, above

    def unseen(self, level: float, beside: RateSum | None = None) -> tuple[float, float]:
        """Return how far the sum may fall, and rise, by those rates alone that no cluster moves: no error was seen.

        Parameters
        ----------
        level : float
        beside : RateSum, optional
            The same sum of another system: then rates count of which neither system shows an error.

        Examples
        --------
        >>> size = ClassSize(100.0, 100.0, 100)
        >>> one, none = RatePart(1.0, 0.1, 0.0009, size), RatePart(2.0, 0.0, 0.0, size)
        >>> [round(x, 4) for x in RateSum(((one,), (none,))).unseen(0.95)]
        [0.0, 0.0758]
        """
        mine = [part for own in self.parts for part in own]
        theirs = mine if beside is None else [part for own in beside.parts for part in own]
        pairs = zip(mine, theirs, strict=False)
        still = [one.distances(level) for one, other in pairs if not (np.any(one.variance) or np.any(other.variance))]
        below, above = combined(still, 0.0).tolist()
        return below, above


def combined(distances: Sequence[FloatArray], correlation: Numbers) -> FloatArray:
    """Return the distances of a sum, (2, ...), from those of its parts, which have one correlation.

    Examples
    --------
    >>> parts = np.array([3.0, 3.0]), np.array([4.0, 4.0])
    >>> combined(parts, 0.0).tolist(), combined(parts, 1.0).tolist()
    ([5.0, 5.0], [7.0, 7.0])
    """
    if not distances:
        return np.zeros(2)
    squares, total = sum(one * one for one in distances), sum(distances)
    return np.asarray(np.sqrt(np.maximum(squares + correlation * (total * total - squares), 0.0)))
