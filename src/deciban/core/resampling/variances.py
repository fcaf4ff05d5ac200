"""Cluster-robust variances of metrics, by the class of the trials that they come from."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from deciban.core.resampling.intervals import Estimate, NothingSeen
from deciban.core.resampling.rates import ClassSize, Numbers, RatePart, RateSum
from deciban.core.resampling.scales import Scale
from deciban.types import FloatArray

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
    def are_enough(self) -> bool:
        """Whether both classes have enough effective clusters for intervals."""
        return all(one.is_enough for one in self.both)

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
        own = [1.0 / size.n_clusters if size.n_clusters else 0.0 for size in self.both]
        return degrees_of(np.array([tar, non]), np.array([[own[0], self.overlap], [self.overlap, own[1]]]))


def degrees_of(variances: FloatArray, overlap: FloatArray) -> float:
    """Return degrees of freedom of the sum of variances that come from several classes.

    The effective number of clusters minus 1, with clusters in proportion to what they contribute; that of the class
    with fewest if nothing varies.

    Parameters
    ----------
    variances : (n_classes,) array
    overlap : (n_classes, n_classes) array
        Sums over clusters of the products of their shares of two classes.
    """
    if not np.any(variances):
        return max(1.0 / float(np.max(np.diag(overlap))) - 1.0, 1.0)
    shares = variances / np.sum(variances)  # squares of variances themselves may be too small for a float
    return max(1.0 / float(shares @ overlap @ shares) - 1.0, 1.0)


_LEAST_DEGREES, _MANY_DEGREES = 26.0, 99.0
"""Degrees left to 99 or more, which widens intervals by at most 5 %; to fewer, the same share of them."""


def degrees_by_kurtosis(most: float, total: float, fourth: float, n_units: int) -> float:
    """Return degrees of freedom of the variance of a mean of costs, fewer where few clusters make most of it.

    A variance of n clusters whose influences have a kurtosis k varies by ``(k - 1) / n`` of its square, and that of a
    variance with d degrees of freedom by ``2 / d`` (Satterthwaite 1946, Biometrics Bulletin 2).

    Parameters
    ----------
    most : float
        Degrees of freedom of clusters that contribute alike.
    total, fourth : float
        Sums of the second and fourth powers of the influences of all clusters.
    n_units : int

    Examples
    --------
    >>> degrees_by_kurtosis(9.0, 10.0, 10.0, 10)    # ten clusters that contribute alike
    9.0
    >>> round(degrees_by_kurtosis(9.0, 10.0, 25.0, 10), 2)
    9.0
    >>> round(degrees_by_kurtosis(9.0, 10.0, 60.0, 10), 2)
    4.0
    """
    varies = fourth / total / total - 1.0 / n_units if total > 0.0 else 0.0
    if varies <= 0.0:
        return most
    least = min(most, _MANY_DEGREES) * _LEAST_DEGREES / _MANY_DEGREES
    return min(most, max(2.0 / varies, least, 1.0))


def correlation_of_sums(variances: FloatArray, total: Numbers) -> FloatArray:
    """Return the correlation, the same of any two, with which sums with these variances have a total variance.

    Parameters
    ----------
    variances : (n_sums, ...) array
    total : float or array

    Examples
    --------
    >>> float(correlation_of_sums(np.array([1.0, 4.0]), 7.0))
    0.5
    """
    squares = np.asarray(variances.sum(axis=0))
    products = np.asarray(np.square(np.sqrt(variances).sum(axis=0)) - squares)
    seen = products > _SMALL * squares
    found = np.divide(total - squares, products, out=np.zeros(products.shape), where=seen)
    return np.asarray(np.clip(found, -1.0, 1.0))


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
        self.tar, self.non, self.cross, self.total, self.fourth = np.zeros((5, len(names)))
        self.kept = None if n_kept is None else np.empty((len(names), n_kept))

    def add(
        self, part: slice, tar: FloatArray, non: FloatArray, influences: FloatArray, n_alike: FloatArray | None = None
    ) -> None:
        """Add a block of clusters.

        Parameters
        ----------
        part : slice
            Which clusters.
        tar, non : (n, n_metrics) arrays
            Influences through targets and through non-targets, with thresholds and maps held fixed.
        influences : (n, n_metrics) array
            Influences that intervals and differences rest on: of minima, by decisions made without the cluster.
        n_alike : (n,) array, optional
            For how many clusters each row stands, whose squares it adds up; one when left out.
        """
        self.tar += np.einsum("uf,uf->f", tar, tar)
        self.non += np.einsum("uf,uf->f", non, non)
        self.cross += np.einsum("uf,uf->f", tar, non)
        squares = influences * influences
        self.total += squares.sum(axis=0)
        self.fourth += np.einsum("uf,uf->f", squares, squares if n_alike is None else squares / n_alike[:, None])
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

    def degrees_of_mean(self, name: Name) -> float:
        """Return degrees of freedom of a mean, fewer where few clusters make most of its variance."""
        at = self.place[name]
        return degrees_by_kurtosis(self.degrees(name), float(self.total[at]), float(self.fourth[at]), self.n_units)

    def estimate(
        self,
        name: Name,
        value: float,
        rates: Sequence[ClassRate] = (),
        *,
        scale: Scale = "log",
        limits: tuple[float, float] = (0.0, math.inf),
        nothing_seen: NothingSeen | None = None,
        corrected: float | None = None,
        also: float | None = None,
        is_mean: bool = False,
    ) -> Estimate:
        """Return a metric with its standard error.

        Parameters
        ----------
        name : hashable
        value : float
        rates : sequence of ClassRate
            The error rates that add up to it; empty if it is no such sum.
        scale, limits, nothing_seen, corrected, also
            As in `Estimate`.
        is_mean : bool
            Whether the metric is a mean of costs that do not depend on the trials: no minimum.
        """
        sums = self.sum_of_rates(name, rates) if rates else None
        degrees = self.degrees_of_mean(name) if is_mean and sums is None else self.degrees(name)
        about = self.standard_error(name), self.n_units, scale, corrected, nothing_seen, limits
        return Estimate(value, *about, rates=sums, also=also, degrees=degrees)

    def has_clusters(self, rates: Sequence[ClassRate] = ()) -> bool:
        """Return whether there are enough clusters of the classes of these rates, or of both if there are none."""
        needed = {one.kind for one in rates if one.weight} if rates else {0, 1}
        return all(self.sizes.both[kind].is_enough for kind in needed)

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
