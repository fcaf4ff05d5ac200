"""Confidence intervals for error rates and weighted sums of them, from few errors and clusters of unequal size.

Each rate has Wilson limits at its effective number of trials: the number of trials divided by the design effect, which
is the cluster-robust variance over the binomial one, and at least 1. Distances of the limits of several rates are
combined by MOVER (Zou and Donner 2008, Statistics in Medicine 27): squares add, with the correlation of the rates.
Quantiles are those of t with the effective number of clusters minus 1 (Carter, Schnepel and Steigerwald 2017, Review of
Economics and Statistics 99).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from deciban.types import FloatArray, IntArray

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


def with_unseen(
    value: ArrayLike, bounds: tuple[ArrayLike, ArrayLike], unseen: tuple[ArrayLike, ArrayLike]
) -> tuple[FloatArray, FloatArray]:
    """Bounds that allow for what no unit shows: distances of independent parts add in squares (Zou and Donner 2008).

    Parameters
    ----------
    value : array_like
    bounds : pair of array_like
        By what units show.
    unseen : pair of array_like
        By what none shows; a side on which this is the value itself stays as it is.

    Examples
    --------
    >>> low, high = with_unseen(1.0, (0.7, 1.3), (1.0, 1.4))
    >>> float(low), float(high)
    (0.7, 1.5)
    """
    at, low, high, below, above = (np.asarray(one, np.float64) for one in (value, *bounds, *unseen))
    return (
        np.where(below < at, at - np.hypot(at - low, at - below), low),
        np.where(above > at, at + np.hypot(high - at, above - at), high),
    )


FEWEST_CLUSTERS = 5.0

"""Effective clusters of a class below which there are no intervals."""


_ROUNDING = 1e-13

"""Rates this close to 0 or 1 are 0 or 1."""


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


def small_sample_factors(share: FloatArray, n_units: int | None = None) -> FloatArray:
    """Return factors of the influences of clusters whose squares are then those of a jackknife (CR3).

    A cluster that has a share h of the trials of a class moves the mean by ``1 / (1 - h)`` times its influence when it
    is left out. Clusters of equal size have the factor 1, if each trial is of one cluster.

    Parameters
    ----------
    share : (n_units,) array
        Trials of each cluster, as a share of all trials of the class.
    n_units : int, optional
        Clusters of the class; as many as have a share when left out.

    Examples
    --------
    >>> small_sample_factors(np.array([0.5, 0.5, 0.0])).tolist()
    [1.0, 1.0, 0.5]
    """
    n = max(int(np.count_nonzero(share > 0.0)), 1) if n_units is None else n_units
    rest = 1.0 - share
    return np.divide(1.0 - 1.0 / n, rest, out=np.zeros_like(rest), where=rest > 1e-12)


@dataclass(frozen=True, slots=True)
class ClusterDesign:
    """Effective numbers of clusters of many classes.

    Attributes
    ----------
    n_units : int
        Clusters with trials of any class.
    seen : (n_classes,) int array
        Effective clusters of each class, rounded down.
    degrees : float
        Effective clusters of means over all classes, minus 1.
    """

    n_units: int
    seen: IntArray
    degrees: float

    @classmethod
    def of(cls, n_units: int, of_classes: FloatArray, overall: float) -> ClusterDesign:
        """Return the design from effective numbers of clusters of each class, and of all."""
        return cls(n_units, np.floor(of_classes * (1.0 + 1e-9)).astype(np.int64), max(overall - 1.0, 1.0))

    def too_few(self, names: Sequence[str]) -> dict[str, float]:
        """Return the effective numbers of clusters of classes that have too few for intervals."""
        pairs = zip(names, self.seen.tolist(), strict=True)
        return {name: float(n) for name, n in pairs if not is_enough(n)}

    def is_enough(self, n_clusters: int | None) -> bool:
        """Whether there are enough clusters of a class, or of each class if None, for an interval."""
        return is_enough(int(self.seen.min()) if n_clusters is None else n_clusters)


@dataclass(frozen=True, slots=True)
class ClassSize:
    """Number of trials of one class, and the number of equal independent clusters that they amount to.

    Attributes
    ----------
    n_trials : float
    n_clusters : float
        ``(sum m)^2 / sum m^2`` for clusters of m trials.
    n_units : int
        Clusters with trials of the class.
    """

    n_trials: float
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


Numbers: TypeAlias = float | FloatArray

"""One number, or one for each place of a curve."""


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
    """A weighted sum of error rates of two classes, or such a sum at each place of a curve.

    Attributes
    ----------
    parts : pair of tuples of RatePart
        Of targets, and of non-targets.
    within : (float, float)
        Correlation of the rates of the same class.
    between : float or array
        Correlation of the sums of both classes.
    """

    parts: tuple[tuple[RatePart, ...], tuple[RatePart, ...]]
    within: tuple[float, float] = (1.0, 1.0)
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
        tar, non = (
            combined([part.distances(level) for part in own], rho)
            for own, rho in zip(self.parts, self.within, strict=True)
        )
        below, above = np.sqrt(np.maximum(tar**2 + non**2 + 2.0 * self.between * tar * non, 0.0))
        return below, above


def combined(distances: Sequence[FloatArray], correlation: float) -> FloatArray:
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
    return np.asarray(np.sqrt(squares + correlation * (total * total - squares)))


Name = TypeVar("Name", bound=Hashable)


_NAMES = ("targets", "non-targets")


_SMALL = 1e-9

"""Share of a squared spread that may be rounding."""


@dataclass(frozen=True, slots=True)
class ClassRate:
    """An error rate as a summand of a metric.

    Attributes
    ----------
    kind : int
        0 for a rate of targets, 1 for one of non-targets.
    weight, rate : float
    of : hashable or None
        The metric whose influences of this class are ``own_weight`` times those of the rate; None: the metric itself.
    own_weight : float or None
        None if it is ``weight``.
    """

    kind: int
    weight: float
    rate: float
    of: Hashable | None = None
    own_weight: float | None = None


@dataclass(frozen=True, slots=True)
class ClassSizes:
    """Sizes of both classes, and how far they have the same clusters.

    Attributes
    ----------
    tar, non : ClassSize
    overlap : float
        Sum over clusters of the product of their shares of both classes.
    """

    tar: ClassSize
    non: ClassSize
    overlap: float = 0.0

    @classmethod
    def of(cls, totals: tuple[FloatArray, FloatArray], n_trials: tuple[float, float]) -> ClassSizes:
        """Return the sizes from the trials of each cluster, for targets and for non-targets."""
        sizes = [ClassSize.of(own, n) for own, n in zip(totals, n_trials, strict=True)]
        sums = [float(own.sum()) for own in totals]
        overlap = float(totals[0] @ totals[1]) / (sums[0] * sums[1]) if min(sums) > 0.0 else 0.0
        return cls(sizes[0], sizes[1], overlap)

    @property
    def both(self) -> tuple[ClassSize, ClassSize]:
        """Of targets, then of non-targets."""
        return self.tar, self.non

    @property
    def effective(self) -> tuple[int, int]:
        """Effective numbers of clusters of both classes, rounded down."""
        return max(math.floor(self.tar.n_clusters + 1e-9), 1), max(math.floor(self.non.n_clusters + 1e-9), 1)

    @property
    def too_few(self) -> dict[str, float]:
        """Effective numbers of clusters of classes that have too few for intervals."""
        return {name: one.n_clusters for name, one in zip(_NAMES, self.both, strict=True) if not one.is_enough}

    def degrees(self, tar: float, non: float) -> float:
        """Return degrees of freedom of the sum of variances that come from both classes.

        The effective number of clusters minus 1, with clusters in proportion to what they contribute.

        Examples
        --------
        >>> size = ClassSize(100.0, 20.0, 20)
        >>> ClassSizes(size, size).degrees(1.0, 1.0), round(ClassSizes(size, size, 1 / 20).degrees(1.0, 1.0), 6)
        (39.0, 19.0)
        """
        if tar + non == 0.0:
            return max(min(self.tar.n_clusters, self.non.n_clusters) - 1.0, 1.0)
        squares = 2.0 * tar * non * self.overlap
        for variance, size in ((tar, self.tar), (non, self.non)):
            squares += variance * variance / size.n_clusters if variance else 0.0
        return max((tar + non) ** 2 / squares - 1.0, 1.0)


class ClassVariances(Generic[Name]):
    """Adds up squares of influences, block by block of clusters, and keeps the influences of some metrics.

    Parameters
    ----------
    names : sequence of hashable
        Of the metrics.
    sizes : ClassSizes
    n_units : int
        Clusters with trials of any class.
    n_kept : int, optional
        Clusters whose influences are kept; none are when left out.
    """

    def __init__(self, names: Sequence[Name], sizes: ClassSizes, n_units: int, n_kept: int | None = None) -> None:
        self.names, self.sizes, self.n_units = list(names), sizes, n_units
        self.place: dict[Hashable, int] = {name: k for k, name in enumerate(names)}
        self.tar, self.non, self.cross, self.total = np.zeros((4, len(names)))
        self.kept = None if n_kept is None else np.empty((len(names), n_kept))

    def add(self, part: slice, tar: FloatArray, non: FloatArray, influences: FloatArray) -> None:
        """Add a block of clusters.

        Parameters
        ----------
        part : slice
            Which clusters.
        tar, non : (n, n_metrics) arrays
            Influences through targets and through non-targets, with thresholds and maps held fixed.
        influences : (n, n_metrics) array
            Influences that intervals and differences rest on: of minima, by decisions made without the cluster.
        """
        self.tar += np.einsum("uf,uf->f", tar, tar)
        self.non += np.einsum("uf,uf->f", non, non)
        self.cross += np.einsum("uf,uf->f", tar, non)
        self.total += np.einsum("uf,uf->f", influences, influences)
        if self.kept is not None:
            self.kept[:, part] = influences.T

    @property
    def influences(self) -> dict[Name, FloatArray]:
        """Those that were kept."""
        return {} if self.kept is None else dict(zip(self.names, self.kept, strict=True))

    def standard_error(self, name: Name) -> float:
        """Return the standard error of a metric."""
        return math.sqrt(float(self.total[self.place[name]]) * self.n_units / (self.n_units - 1))

    def degrees(self, name: Name) -> float:
        """Return degrees of freedom of the standard error; see `ClassSizes.degrees`."""
        at = self.place[name]
        return self.sizes.degrees(float(self.tar[at]), float(self.non[at]))

    def sum_of_rates(self, name: Name, rates: Sequence[ClassRate]) -> RateSum:
        """Return the rates that a metric adds up, with their variances and correlations."""
        parts, within = list[tuple[RatePart, ...]](), list[float]()
        for kind, size in enumerate(self.sizes.both):
            own = [one for one in rates if one.kind == kind and one.weight != 0.0]
            parts.append(tuple(RatePart(one.weight, one.rate, self._variance(name, one), size) for one in own))
            within.append(_correlation(parts[-1], self._of_class(name, kind)))
        at = self.place[name]
        spread = math.sqrt(float(self.tar[at] * self.non[at]))
        between = float(self.cross[at]) / spread if spread > 0.0 else 0.0
        return RateSum((parts[0], parts[1]), (within[0], within[1]), min(max(between, -1.0), 1.0))

    def _of_class(self, name: Hashable, kind: int) -> float:
        """Return the variance of a metric that comes from one class."""
        n = self.sizes.both[kind].n_units
        return float((self.tar, self.non)[kind][self.place[name]]) * n / max(n - 1, 1)

    def _variance(self, name: Name, one: ClassRate) -> float:
        weight = one.weight if one.own_weight is None else one.own_weight
        return self._of_class(name if one.of is None else one.of, one.kind) / (weight * weight)


def _correlation(parts: Sequence[RatePart], variance: float) -> float:
    """Return the correlation of all rates with which their weighted sum has a variance; 1 if that cannot be seen."""
    spreads = [float(part.weight * np.sqrt(part.variance)) for part in parts]
    squares, total = math.fsum(one * one for one in spreads), math.fsum(spreads)
    products = total * total - squares
    is_seen = products > _SMALL * total * total  # else a rate varies by rounding alone
    return min(max((variance - squares) / products, 0.0), 1.0) if is_seen else 1.0
