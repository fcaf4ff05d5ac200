"""Designs of clusters: sizes of classes, overlap of their units, and variances of sums of class means."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, NamedTuple, Self, TypeVar

import numpy as np

from deciban.core.class_counts import tally
from deciban.core.resampling import intervals
from deciban.core.resampling.intervals import ClassSize, RatePart, RateSum
from deciban.core.resampling.units import TrialUnits
from deciban.types import Additive, CountArray, FloatArray, IntArray

Name = TypeVar("Name", bound=Hashable)

_NAMES = ("targets", "non-targets")

_SMALL = 1e-9
"""Share of a squared spread that may be due to rounding."""


@dataclass(frozen=True, eq=False)
class ClassGroups:
    """Groups of classes whose means are summed in a metric, such as a target and its rivals.

    Attributes
    ----------
    weights : (n_groups, n_classes) array
        Weights of class means in the mean of each group, which sum to 1; no class is in two groups.
    """

    weights: FloatArray

    @classmethod
    def apart(cls, n_classes: int) -> ClassGroups:
        """Return a separate group for each class."""
        return cls(np.eye(n_classes))

    @classmethod
    def of(cls, members: Sequence[int], n_classes: int) -> ClassGroups:
        """Return a separate group for each of some classes.

        Examples
        --------
        >>> ClassGroups.of([2, 0], 3).of_class.tolist()
        [1, -1, 0]
        """
        return cls(np.eye(n_classes)[list(members)])

    @cached_property
    def of_class(self) -> IntArray:
        """Group of each class; -1 for classes without a group."""
        return np.where(self.weights.any(axis=0), np.argmax(self.weights > 0.0, axis=0), -1)

    def __len__(self) -> int:
        return len(self.weights)


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """Variation of sums of class means with units: sums of squared influences of some metrics.

    Attributes
    ----------
    total : (n_metrics,) array
        Sums of squared influences through all groups.
    fourth : (n_metrics,) array
        Sums of the fourth powers of influences.
    by_group : (n_metrics, n_groups) array
        Sums of squared influences through each group.
    means : (n_metrics, n_groups) array
        Contribution of each group to the metrics.
    alone : (n_metrics, n_groups) array
        Variances of these contributions for independent trials.
    """

    total: FloatArray
    fourth: FloatArray
    by_group: FloatArray
    means: FloatArray
    alone: FloatArray

    def __getitem__(self, at: int) -> Spread:
        """Return the spread of one metric."""
        return Spread(*(getattr(self, name)[at] for name in ("total", "fourth", "by_group", "means", "alone")))

    def nothing(self) -> Spread:
        """Return the spread of metrics without any variation."""
        return Spread(*(np.zeros_like(one) for one in (self.total, self.fourth, self.by_group, self.means, self.alone)))

    def only(self, group: int) -> Spread:
        """Return the spread of one metric, an error rate, through one group, without fourth powers."""
        own = slice(group, group + 1)
        return Spread(self.by_group[group], np.zeros(()), self.by_group[own], self.means[own], self.alone[own])


def stretches(seen: FloatArray, n_units: int) -> FloatArray:
    """Return factors of influences through strata, which correct for strata with fewer units.

    For m units in a stratum, sums of squares are too small by 1/m, because the mean comes from the same units. For n
    units in total, ``n / (n - 1)`` corrects this, and these factors correct it for strata with fewer units.

    Examples
    --------
    >>> stretches(np.array([4.0, 2.0]), 4).round(4).tolist()
    [1.0, 1.2247]
    """
    ratio = np.divide(seen * (n_units - 1), n_units * (seen - 1), out=np.ones(len(seen)), where=seen > 1)
    return np.asarray(np.sqrt(ratio))


def influence_factors(stratum: IntArray, share: FloatArray, seen: FloatArray, n_units: int) -> FloatArray:
    """Return factors of the influences of units through strata: jackknife factors times `stretches`.

    Parameters
    ----------
    stratum : (n_pairs,) int array
    share : (n_pairs,) array
        Share of the unit in the stratum.
    seen : (n_strata,) array
        Number of units of each stratum.
    n_units : int
        Number of units with trials.
    """
    return intervals.small_sample_factors(share, seen[stratum]) * stretches(seen, n_units)[stratum]


@dataclass(frozen=True, eq=False)
class ClusterDesign:
    """Sizes of classes, and the overlap of their units.

    Attributes
    ----------
    n_units : int
        Number of units with trials of any class.
    n_trials : (n_classes,) array
    seen : (n_classes,) int array
        Number of units with trials of each class.
    overlap : (n_classes, n_classes) array
        Sums over units of the products of their shares of two classes.
    """

    n_units: int
    n_trials: FloatArray
    seen: IntArray
    overlap: FloatArray
    _sizes: list[tuple[ClassGroups, FloatArray, list[ClassSize]]] = field(default_factory=list, init=False)

    @classmethod
    def of(
        cls, home: IntArray, unit: IntArray, weight: FloatArray, shape: tuple[int, int], n_trials: FloatArray
    ) -> Self:
        """Create from the number (or weight) of trials for pairs of a class and a unit.

        Parameters
        ----------
        home, unit : (n_pairs,) int arrays
            Class and unit of each pair; a pair may be repeated.
        weight : (n_pairs,) array
        shape : (int, int)
            Numbers of classes and of units.
        n_trials : (n_classes,) array
        """
        from scipy.sparse import csr_matrix  # rarely needed

        table = csr_matrix((weight, (home, unit)), shape=shape)
        sums = np.asarray(table.sum(axis=1)).ravel()
        scale = 1.0 / np.where(sums > 0.0, sums, 1.0)
        overlap = np.asarray((table @ table.T).toarray()) * scale * scale[:, None]
        return cls(n_different(unit), n_trials, np.diff(table.indptr), overlap)

    @classmethod
    def of_units(cls, totals: Sequence[FloatArray], n_trials: Sequence[float]) -> ClusterDesign:
        """Create from the trials of every unit, by class."""
        table = np.stack(totals)
        sums = table.sum(axis=1)
        scale = 1.0 / np.where(sums > 0.0, sums, 1.0)
        seen = table > 0.0
        overlap = (table @ table.T) * scale * scale[:, None]
        return cls(int(seen.any(axis=0).sum()), np.asarray(n_trials, np.float64), seen.sum(axis=1), overlap)

    @classmethod
    def of_trials(cls, sizes: Sequence[ClassSize]) -> ClusterDesign:
        """Create for classes whose trials are units."""
        n_units = np.array([one.n_units for one in sizes])
        own = np.array([1.0 / one.n_clusters if one.n_clusters else 0.0 for one in sizes])
        return cls(int(n_units.sum()), np.array([one.n_trials for one in sizes]), n_units, np.diag(own))

    @cached_property
    def sizes(self) -> tuple[ClassSize, ...]:
        """Size of each class."""
        return tuple(map(ClassSize, self.n_trials.tolist(), self.n_clusters.tolist(), self.seen.tolist()))

    @property
    def are_enough(self) -> bool:
        """True if each class has enough effective units for intervals."""
        return all(one.is_enough for one in self.sizes)

    @cached_property
    def stretch(self) -> FloatArray:
        """Factors of influences through each class; see `stretches`."""
        return stretches(self.seen.astype(np.float64), self.n_units)

    @property
    def n_clusters(self) -> FloatArray:
        """Effective numbers of units of each class; 0 for classes without units."""
        own = np.diag(self.overlap)
        return np.divide(1.0, own, out=np.zeros(len(own)), where=own > 0.0)

    @property
    def effective(self) -> IntArray:
        """Effective numbers of units, rounded down, but at least 1."""
        return np.maximum(np.floor(self.n_clusters * (1.0 + 1e-9)).astype(np.int64), 1)

    @cached_property
    def _is_diagonal(self) -> bool:
        """True if no two classes share a unit."""
        return bool(np.count_nonzero(self.overlap) == np.count_nonzero(np.diag(self.overlap)))

    def _overlap_and_sizes(self, groups: ClassGroups) -> tuple[ClassGroups, FloatArray, list[ClassSize]]:
        """Return overlap and sizes of groups, cached for all metrics of a detector, which share the groups."""
        if not self._sizes or self._sizes[0][0] is not groups:
            weights = groups.weights
            left = weights * np.diag(self.overlap) if self._is_diagonal else weights @ self.overlap
            overlap = left @ weights.T
            self._sizes[:] = [
                (groups, overlap, [self._size(*one) for one in zip(weights, np.diag(overlap), strict=True)])
            ]
        return self._sizes[0]

    def _size(self, weights: FloatArray, overlap: float) -> ClassSize:
        own = weights > 0.0
        n_trials = float(weights.sum() ** 2 / np.sum(weights[own] ** 2 / self.n_trials[own]))
        n_clusters = float(weights.sum()) ** 2 / float(overlap) if overlap > 0.0 else 0.0
        return ClassSize(n_trials, n_clusters, min(int(self.seen[own].sum()), self.n_units))

    def group_sizes(self, groups: ClassGroups) -> list[ClassSize]:
        """Return the size of each group of classes."""
        return self._overlap_and_sizes(groups)[2]

    def too_few(self, names: Sequence[str] = _NAMES) -> dict[str, float]:
        """Return the effective numbers of units of classes with too few for intervals."""
        pairs = zip(names, self.n_clusters.tolist(), strict=True)
        return {name: n for name, n in pairs if not intervals.is_enough(n)}

    def has_enough(self, groups: ClassGroups, most: FloatArray | None = None) -> bool:
        """Return True if all groups (or all with a non-zero maximum) have enough effective units for intervals."""
        sizes = self.group_sizes(groups)
        if most is not None and not np.all(most):
            sizes = [size for size, one in zip(sizes, most, strict=True) if np.any(one)]
        return all(size.is_enough for size in sizes)

    def n_units_of(self, groups: ClassGroups) -> int:
        """Return the number of units with trials of these classes; for several classes, an upper bound."""
        return min(int(self.seen[groups.of_class >= 0].sum()), self.n_units)

    def standard_error(self, square: float) -> float:
        """Return the standard error of a metric from the sum of squares of its influences."""
        return float(np.sqrt(square * self.n_units / (self.n_units - 1)))

    def degrees(self, spread: Spread, groups: ClassGroups, *, is_mean: bool = False) -> float:
        """Return degrees of freedom of the standard error of a metric.

        See `degrees_of`, and `degrees_by_kurtosis` for a mean of costs.
        """
        most = degrees_of(spread.by_group, self._overlap_and_sizes(groups)[1])
        if not is_mean:
            return most
        return degrees_by_kurtosis(most, float(spread.total), float(spread.fourth), self.n_units)

    def rates(
        self,
        spread: Spread,
        groups: ClassGroups,
        most: FloatArray,
        absent: FloatArray | None = None,
        *,
        are_graded: bool,
    ) -> RateSum:
        """Return a metric as a sum of means of groups; each mean is a rate times its maximum.

        Parameters
        ----------
        spread : Spread
            Spread of one metric, or of a curve with its points along the last axis.
        groups : ClassGroups
        most : (n_groups, ...) array
        absent : (n_kinds, n_classes, ...) array or None
            Contribution of each class if all of its trials had this kind of error; 0 if any trial of any class has it.
            The rate of a class without any error contains all kinds.
        are_graded : bool
            True if costs of trials may be between 0 and the maximum: then an equivalent number of binary decisions is
            used, whose means have the same variance.
        """
        factor, parts = self.n_units / (self.n_units - 1), list[tuple[RatePart, ...]]()
        for k, size in enumerate(self.group_sizes(groups)):
            top = most[k]
            rate = np.clip(np.divide(spread.means[k], top, out=np.zeros(np.shape(top)), where=top > 0.0), 0.0, 1.0)
            squared = np.divide(1.0, top * top, out=np.zeros(np.shape(top)), where=top > 0.0)
            alone, n_trials = spread.alone[k] * squared, np.full(np.shape(top), size.n_trials)
            if are_graded:
                np.divide(rate * (1.0 - rate), alone, out=n_trials, where=(alone > 0.0) & (rate > 0.0) & (rate < 1.0))
            some = ClassSize(np.maximum(n_trials, size.n_trials), size.n_clusters, size.n_units)
            parts.append((RatePart(top, rate, spread.by_group[k] * factor * squared, some),))
        between = correlation_of_sums(spread.by_group, spread.total)
        kinds = () if absent is None else self._absent(absent * (spread.means > 0.0))
        return RateSum(tuple(parts), (1.0,) * len(parts), between, kinds)

    def _absent(self, kinds: FloatArray) -> tuple[RatePart, ...]:
        """Return rates of 0 of all classes together, for each kind of errors and each point of a curve; () if none."""
        parts, shape = list[RatePart](), kinds.shape[2:]
        for kind, *at in np.ndindex(len(kinds), *shape) if kinds.any() else ():
            own, weight, nothing = kinds[(kind, slice(None), *at)], np.zeros(shape), np.zeros(shape)
            weight[*at] = own.sum()
            size = self._size(own, float(own @ self.overlap @ own)) if own.any() else self.sizes[0]
            parts.append(RatePart(weight, nothing, nothing, size))
        return tuple(parts)


def degrees_of(variances: FloatArray, overlap: FloatArray) -> float:
    """Return degrees of freedom of the sum of variances of several classes.

    It is the effective number of clusters minus 1, with clusters weighted by their contributions. If nothing varies, it
    is the number for the class with fewest clusters.

    Parameters
    ----------
    variances : (n_classes,) array
    overlap : (n_classes, n_classes) array
        Sums over clusters of the products of their shares of two classes.
    """
    if not np.any(variances):
        return max(1.0 / float(np.max(np.diag(overlap))) - 1.0, 1.0)
    shares = variances / np.sum(variances)  # squares of variances may underflow
    return max(1.0 / float(shares @ overlap @ shares) - 1.0, 1.0)


_LEAST_DEGREES, _MANY_DEGREES = 26.0, 99.0
"""At least 26 of 99 or more degrees are kept, which widens intervals by at most 5 %; of fewer, the same share."""


def degrees_by_kurtosis(most: float, total: float, fourth: float, n_units: int) -> float:
    """Return degrees of freedom of the variance of a mean of costs, fewer if a few clusters dominate it.

    The variance of n clusters whose influences have a kurtosis k has a relative variance of ``(k - 1) / n``. A variance
    with d degrees of freedom has ``2 / d`` (Satterthwaite 1946, Biometrics Bulletin 2).

    Parameters
    ----------
    most : float
        Degrees of freedom for equal contributions of clusters.
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


def correlation_of_sums(variances: FloatArray, total: intervals.Numbers) -> FloatArray:
    """Return the common correlation of sums with these variances that gives a total variance.

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
    result = np.divide(total - squares, products, out=np.zeros(products.shape), where=seen)
    return np.asarray(np.clip(result, -1.0, 1.0))


@dataclass(frozen=True, slots=True)
class ClassRate:
    """An error rate in a sum.

    Attributes
    ----------
    kind : int
        0 for a rate of targets, 1 for a rate of non-targets.
    weight, rate : float
    of : hashable or None
        Metric whose influences of this class are ``own_weight`` times those of the rate; None: the metric itself.
    own_weight : float or None
        None if it equals ``weight``.
    """

    kind: int
    weight: float
    rate: float
    of: Hashable | None = None
    own_weight: float | None = None


class ClassVariances(Generic[Name]):
    """Sums of squared influences, block by block of clusters.

    Parameters
    ----------
    names : sequence of hashable
        Names of the metrics.
    design : ClusterDesign
        Design of targets and non-targets.
    """

    def __init__(self, names: Sequence[Name], design: ClusterDesign) -> None:
        self.design, self.n_units = design, design.n_units
        self.place: dict[Hashable, int] = {name: k for k, name in enumerate(names)}
        self.tar, self.non, self.cross, self.total, self.fourth = np.zeros((5, len(names)))

    def add(self, tar: FloatArray, non: FloatArray, influences: FloatArray, n_alike: FloatArray | None = None) -> None:
        """Add a block of clusters.

        Parameters
        ----------
        tar, non : (n, n_metrics) arrays
            Influences through targets and through non-targets, with fixed thresholds and maps, and stretched.
        influences : (n, n_metrics) array
            Influences for intervals and differences; for minima, from decisions made without the cluster.
        n_alike : (n,) array, optional
            Number of clusters that each row represents with the sum of their squares; default: 1.
        """
        self.tar += np.einsum("uf,uf->f", tar, tar)
        self.non += np.einsum("uf,uf->f", non, non)
        self.cross += np.einsum("uf,uf->f", tar, non)
        squares = influences * influences
        self.total += squares.sum(axis=0)
        self.fourth += np.einsum("uf,uf->f", squares, squares if n_alike is None else squares / n_alike[:, None])

    def standard_error(self, name: Name) -> float:
        """Return the standard error of a metric."""
        return math.sqrt(float(self.total[self.place[name]]) * self.n_units / (self.n_units - 1))

    def degrees(self, name: Name) -> float:
        """Return degrees of freedom of the standard error; see `degrees_of`."""
        at = self.place[name]
        return degrees_of(np.array([self.tar[at], self.non[at]]), self.design.overlap)

    def degrees_of_mean(self, name: Name) -> float:
        """Return degrees of freedom of a mean, fewer if a few clusters dominate its variance."""
        at = self.place[name]
        return degrees_by_kurtosis(self.degrees(name), float(self.total[at]), float(self.fourth[at]), self.n_units)

    def estimate(
        self, name: Name, value: float, rates: Sequence[ClassRate] = (), *, is_mean: bool = False, **arguments: Any
    ) -> intervals.Estimate:
        """Return a metric with its standard error.

        Parameters
        ----------
        name : hashable
        value : float
        rates : sequence of ClassRate
            Error rates that sum to the metric; empty if it is no such sum.
        is_mean : bool
            True if the metric is a mean of costs that do not depend on the trials, not a minimum.
        **known
            See `Estimate`.
        """
        sums = self.sum_of_rates(name, rates) if rates else None
        degrees = self.degrees_of_mean(name) if is_mean and sums is None else self.degrees(name)
        return intervals.Estimate(
            value, self.standard_error(name), self.n_units, rates=sums, degrees=degrees, **arguments
        )

    def has_clusters(self, rates: Sequence[ClassRate] = ()) -> bool:
        """Return True if there are enough clusters of the classes of these rates, or of both classes without rates."""
        needed = {one.kind for one in rates if one.weight} if rates else {0, 1}
        return all(self.design.sizes[kind].is_enough for kind in needed)

    def sum_of_rates(self, name: Name, rates: Sequence[ClassRate]) -> RateSum:
        """Return the rates in a metric, with their variances and correlations."""
        parts, within = list[tuple[RatePart, ...]](), list[float]()
        for kind, size in enumerate(self.design.sizes):
            own = [one for one in rates if one.kind == kind and one.weight != 0.0]
            parts.append(tuple(RatePart(one.weight, one.rate, self._variance(name, one), size) for one in own))
            within.append(_correlation(parts[-1], self._of_class(name, kind)))
        at = self.place[name]
        spread = math.sqrt(float(self.tar[at] * self.non[at]))
        between = float(self.cross[at]) / spread if spread > 0.0 else 0.0
        return RateSum((parts[0], parts[1]), (within[0], within[1]), min(max(between, -1.0), 1.0))

    def _of_class(self, name: Hashable, kind: int) -> float:
        """Return the variance of a metric due to one class."""
        return float((self.tar, self.non)[kind][self.place[name]]) * self.n_units / (self.n_units - 1)

    def _variance(self, name: Name, one: ClassRate) -> float:
        weight = one.weight if one.own_weight is None else one.own_weight
        return self._of_class(name if one.of is None else one.of, one.kind) / (weight * weight)


def _correlation(parts: Sequence[RatePart], variance: float) -> float:
    """Return the correlation of rates that gives their weighted sum this variance; 1 if it cannot be determined."""
    spreads = [float(part.weight * np.sqrt(part.variance)) for part in parts]
    squares, total = math.fsum(one * one for one in spreads), math.fsum(spreads)
    products = total * total - squares
    is_seen = products > _SMALL * total * total  # otherwise a rate varies only by rounding
    return min(max((variance - squares) / products, 0.0), 1.0) if is_seen else 1.0


@dataclass(frozen=True, slots=True, eq=False)
class StratumWeights(Additive):
    """Weights of trials by stratum; ``a + b`` merges two sets of trials.

    Attributes
    ----------
    n_trials : (n_strata,) int array
        Number of trials of each stratum (with its own mean): a class, or one of the classes of a group.
    totals, squares : (n_strata,) arrays
        Sums of their weights, and of squared weights.
    by_unit : (n_strata, n_units) sparse matrix or None
        Sums of the weights of the trials of each unit; None if every trial is a unit, without a list of units.
    are_fractions : bool
        True if weights are not whole numbers, so that no trial counts as several.
    """

    n_trials: IntArray
    totals: FloatArray
    squares: FloatArray
    by_unit: Any
    are_fractions: bool = False

    @classmethod
    def of(cls, stratum: IntArray, n_strata: int, weights: CountArray | None, units: TrialUnits | None) -> Self:
        """Create from trials that count; ``units`` are the units of all trials."""
        own = np.ones(len(stratum)) if weights is None else weights.astype(np.float64)
        by_unit = None
        if units is not None:
            from scipy.sparse import csr_matrix  # rarely needed

            some, codes = units.entries()
            by_unit = csr_matrix((own[some], (stratum[some], codes)), shape=(n_strata, units.n_units))
        totals, squares = (np.bincount(stratum, w, minlength=n_strata).astype(np.float64) for w in (own, own * own))
        are_fractions = weights is not None and weights.dtype != np.int64
        return cls(np.bincount(stratum, minlength=n_strata), totals, squares, by_unit, are_fractions)


def n_different(codes: IntArray) -> int:
    """Return how many different numbers there are, from 0; a set of many numbers would take a hundred times as long."""
    return int(np.count_nonzero(np.bincount(codes)))


def row_sums(place: IntArray, values: FloatArray, n_places: int) -> FloatArray:
    """Return sums of the values at each position, row by row: (n_rows, n_places), from (n_rows, n).

    Examples
    --------
    >>> row_sums(np.array([1, 1, 0]), np.array([[1.0, 2.0, 4.0], [0.5, 0.5, 0.0]]), 3).tolist()
    [[4.0, 3.0, 0.0], [0.0, 1.0, 0.0]]
    """
    at = place + n_places * np.arange(len(values))[:, None]
    counts = np.bincount(at.ravel(), np.ravel(values), minlength=n_places * len(values))
    return counts.astype(np.float64, copy=False).reshape(len(values), n_places)


class StratumUnitPairs(NamedTuple):
    """Pairs of a stratum and a unit, with the weight of their trials."""

    stratum: IntArray
    unit: IntArray
    weight: FloatArray


@dataclass(frozen=True, eq=False)
class UnitDesign:
    """Units and classes of trials, and the contribution of each trial.

    Attributes
    ----------
    home : (n_strata,) int array
        Class of each stratum.
    n_classes : int
    weights : StratumWeights
        Weights of all trials.
    """

    home: IntArray
    n_classes: int
    weights: StratumWeights
    _codes: dict[bytes, tuple[IntArray, IntArray, IntArray, IntArray]] = field(default_factory=dict, init=False)

    @cached_property
    def n_units(self) -> int:
        """Number of units with trials."""
        return int(self.weights.n_trials.sum()) if self.weights.by_unit is None else n_different(self.pairs.unit)

    @cached_property
    def pairs(self) -> StratumUnitPairs:
        """Occurring pairs of a stratum and a unit, in their order."""
        table = self.weights.by_unit.tocoo()
        return StratumUnitPairs(table.row.astype(np.int64), table.col.astype(np.int64), table.data)

    @cached_property
    def clusters(self) -> ClusterDesign:
        """Sizes of the classes, and the overlap of their units."""
        own, n = self.weights, self.n_classes
        n_trials = tally(self.home, n, own.n_trials).astype(np.float64) if own.are_fractions else self.of_home
        if own.by_unit is not None:
            stratum, unit, weight = self.pairs
            return ClusterDesign.of(self.home[stratum], unit, weight, (n, own.by_unit.shape[1]), n_trials)
        squares = np.bincount(self.home, own.squares, minlength=n) / np.square(np.maximum(self.of_home, 1e-300))
        return ClusterDesign(self.n_units, n_trials, tally(self.home, n, own.n_trials), np.diag(squares))

    @cached_property
    def of_home(self) -> FloatArray:
        """Weight of each class, (n_classes,)."""
        return np.asarray(np.bincount(self.home, self.weights.totals, minlength=self.n_classes), np.float64)

    @cached_property
    def share(self) -> FloatArray:
        """Contribution of a trial of weight 1 to the mean of its class, by stratum."""
        return np.asarray(1.0 / self.of_home[self.home])

    @property
    def n_listed(self) -> int:
        """Number of all units, including units without trials."""
        return int(self.weights.by_unit.shape[1])

    @cached_property
    def home_of_pairs(self) -> IntArray:
        """Class of each pair."""
        return np.asarray(self.home[self.pairs.stratum])

    @cached_property
    def factor_of_pairs(self) -> FloatArray:
        """Factors of the influences of each pair; see `influence_factors`."""
        stratum, _, weight = self.pairs
        seen = np.bincount(stratum, minlength=len(self.home)).astype(np.float64)
        return influence_factors(stratum, weight / self.weights.totals[stratum], seen, self.n_units)

    @cached_property
    def are_single(self) -> bool:
        """True if no unit is in two pairs."""
        return n_different(self.pairs.unit) == len(self.pairs.unit)

    def by_unit(self, values: FloatArray) -> FloatArray:
        """Return sums over the pairs of each unit, (n_metrics, n_units), from (n_metrics, n_pairs)."""
        return row_sums(self.pairs.unit, values, self.n_listed)

    def powers(self, values: FloatArray, groups: ClassGroups) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return sums of powers over units of the influences on some metrics.

        Parameters
        ----------
        values : (n_metrics, n_some) array
            Influences of the pairs of these groups; see `pairs_of`.
        groups : ClassGroups

        Returns
        -------
        total, fourth : (n_metrics,) arrays
            Sums of second and of fourth powers, through all groups.
        by_group : (n_metrics, n_groups) array
            Sums of second powers, through each group.
        """
        n_groups = len(groups)
        _, place, group, unit = self._grouped(groups)
        if self.are_single:
            squares = np.square(values)
            by_group = row_sums(group[place], squares, n_groups)
            return by_group.sum(axis=1), np.einsum("mp,mp->m", squares, squares), by_group
        sums = row_sums(place, values, len(group))
        squares = np.square(row_sums(unit, sums, self.n_listed))
        return squares.sum(axis=1), np.einsum("mu,mu->m", squares, squares), row_sums(group, sums * sums, n_groups)

    def pairs_of(self, groups: ClassGroups) -> IntArray:
        """Return the positions of pairs whose class is in a group."""
        return self._grouped(groups)[0]

    def _grouped(self, groups: ClassGroups) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Return pairs in any group, the group-unit pair of each, and group and unit of these pairs."""
        key = groups.of_class.tobytes()
        if key not in self._codes:
            group = groups.of_class[self.home_of_pairs]
            some = np.flatnonzero(group >= 0)
            known, place = np.arange(len(groups)) * self.n_listed, group[some]
            if not self.are_single:  # otherwise only the groups matter
                known, place = np.arange(len(groups) * self.n_listed), place * self.n_listed + self.pairs.unit[some]
                if len(known) > 4 * len(some):  # otherwise empty sums are cheaper than a search
                    known, place = np.unique(place, return_inverse=True)
            self._codes.clear()
            self._codes[key] = some, place, known // self.n_listed, known % self.n_listed
        return self._codes[key]

    @property
    def n_pairs(self) -> int:
        """Number of pairs of a stratum and a unit with trials."""
        return len(self.pairs.unit)

    def pair_of(self, stratum: IntArray, unit: IntArray) -> IntArray:
        """Return the positions of pairs with trials."""
        return np.asarray(np.searchsorted(self._known, stratum * np.int64(self.n_listed) + unit))

    @cached_property
    def _known(self) -> IntArray:
        """Numbers of the pairs, ascending."""
        return self.pairs.stratum * self.n_listed + self.pairs.unit

    def factor_of_single(self, stratum: IntArray, weights: FloatArray) -> FloatArray:
        """Return the jackknife factors of influences if every trial is a unit, without `stretch`."""
        own = self.weights
        return intervals.small_sample_factors(weights / own.totals[stratum], own.n_trials[stratum].astype(np.float64))

    @cached_property
    def stretch(self) -> FloatArray:
        """Factors of each stratum if every trial is a unit; see `stretches`."""
        return stretches(self.weights.n_trials.astype(np.float64), self.n_units)
