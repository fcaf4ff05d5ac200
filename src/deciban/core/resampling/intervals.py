"""Confidence intervals: Wilson limits of error rates and their sums, and bounds from standard errors.

Each rate has Wilson limits at its effective number of trials: the number of trials divided by the design effect, which
is the cluster-robust variance divided by the binomial variance, and at least 1. Distances of the limits of several
rates are combined by MOVER (Zou and Donner 2008, Statistics in Medicine 27): squares are added, with the correlation of
the rates. Quantiles are those of t with the effective number of clusters minus 1 (Carter, Schnepel and Steigerwald
2017, Review of Economics and Statistics 99).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from deciban._validate import arrays as _validate
from deciban.types import FloatArray, FloatPair

FEWEST_CLUSTERS = 5.0
"""Effective number of clusters of a class below which there are no intervals."""

Numbers: TypeAlias = float | FloatArray
"""One number, or one for each point of a curve."""

_ROUNDING = 1e-13
"""Rates this close to 0 or 1 count as 0 or 1."""

_UNSURE = 0.5
"""Share of a correction below which a calibration loss may be 0: corrections remove about 75 % of the optimism."""


Scale: TypeAlias = Literal["log", "logit", "identity", "complement", "skewed"]

_MOST = 700.0
"""Logarithm of the largest factor."""


def bounds_on_scale(value: ArrayLike, middle: ArrayLike, half_width: ArrayLike, scale: Scale) -> FloatPair:
    """Return both bounds around the middle.

    Parameters
    ----------
    value : array_like
        Values at which the half-widths were computed.
    middle : array_like
        Middle of the intervals, usually the values themselves.
    half_width : array_like
        Half-widths on the scale of the values, to first order.
    scale : {"log", "logit", "identity", "skewed"}
        If a value or its middle is at the end of the scale, bounds are computed on ``identity``.

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
    if scale == "skewed":  # the upper bound is that of the square root, but at most a quarter of the reach higher
        with np.errstate(divide="ignore", invalid="ignore"):
            below = np.clip(1.0 + centre / reach, 0.0, 1.0)  # none if the whole interval is below 0
            more = 0.25 * np.where(centre > 0.0, np.minimum(reach / centre, 1.0), np.nan_to_num(below))
        return low, high + more * reach
    usable = (at > 0.0) & (centre > 0.0) & np.isfinite(at) & (reach != 0.0)
    if scale == "logit":
        usable &= (at < 1.0) & (centre < 1.0)
    result = np.stack((low, high))
    if scale == "logit":
        steps = reach[usable] / (at[usable] * (1.0 - at[usable]))
        middles = special.logit(centre[usable])
        result[:, usable] = special.expit(np.stack((middles - steps, middles + steps)))
    else:
        steps = np.minimum(reach[usable] / at[usable], _MOST)
        with np.errstate(over="ignore"):  # a bound may be infinite
            result[:, usable] = centre[usable] * np.exp(np.stack((-steps, steps)))
    return result[0], result[1]


def t_quantile(level: float, degrees: float) -> float:
    """Return the two-sided quantile of the t distribution: a share ``level`` is within this many standard errors.

    >>> round(t_quantile(0.95, 99), 3)
    1.984
    """
    return float(special.stdtrit(degrees, (1.0 + level) / 2.0))


def effective_numbers(sums: ArrayLike, squares: ArrayLike) -> FloatArray:
    """Return effective numbers of clusters, ``(sum m)^2 / sum m^2``; 0 without clusters.

    Examples
    --------
    >>> effective_numbers([8.0, 0.0], [32.0, 0.0]).tolist()
    [2.0, 0.0]
    """
    total, own = np.asarray(sums, np.float64), np.asarray(squares, np.float64)
    return np.divide(total * total, own, out=np.zeros(np.broadcast(total, own).shape), where=own > 0.0)


def is_enough(n_clusters: float) -> bool:
    """Return True if a class has enough effective clusters for intervals, allowing for rounding."""
    return n_clusters >= FEWEST_CLUSTERS * (1.0 - 1e-9)


def small_sample_factors(share: FloatArray, n_units: int | FloatArray | None = None) -> FloatArray:
    """Return factors of the influences of clusters whose squares are then those of a jackknife (CR3).

    A cluster with a share h of the trials of a class moves the mean by ``1 / (1 - h)`` times its influence if it is
    left out. Clusters of equal size have the factor 1, if each trial is of one cluster.

    Parameters
    ----------
    share : (n_units,) array
        Share of each cluster in the trials of the class.
    n_units : int or (n_units,) array, optional
        Clusters of the class, or of the class of each cluster; default: the number of shares.

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
    """Number of trials of one class, and the equivalent number of equal independent clusters.

    Attributes
    ----------
    n_trials : float or array
        Limit of the effective number of trials of a rate, or of the rate at each point of a curve.
    n_clusters : float
        ``(sum m)^2 / sum m^2`` for clusters of m trials.
    n_units : int
        Number of clusters with trials of the class.
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
        """True if intervals are possible, with at least five effective clusters."""
        return is_enough(self.n_clusters)

    def effective(self, rate: ArrayLike, variance: ArrayLike) -> FloatArray:
        """Return effective numbers of trials of rates with these cluster-robust variances.

        If no trial, or every trial, is an error, each cluster counts as one observation.

        Examples
        --------
        >>> size = ClassSize(100.0, 20.0, 20)
        >>> size.effective([0.0, 0.5, 0.5], [0.0, 0.0001, 0.01]).tolist()
        [20.0, 100.0, 25.0]
        """
        p, squared = np.asarray(rate, np.float64), np.asarray(variance, np.float64)
        binomial = p * (1.0 - p)
        moved = (p > _ROUNDING) & (p < 1.0 - _ROUNDING) & (squared > 0.0)
        values = np.full(np.broadcast(p, squared).shape, self.n_clusters)
        np.divide(binomial, squared, out=values, where=moved)
        return np.asarray(np.minimum(values, self.n_trials))

    def limits(self, rate: ArrayLike, variance: ArrayLike, level: float) -> FloatPair:
        """Return Wilson limits of rates at their effective numbers of trials.

        The lower Wilson limit is too high for a few errors. Therefore, it is at most the exact one-sided limit of this
        level (Clopper and Pearson 1934, Biometrika 26), which is lower for fewer than ten errors. The upper limit is
        its mirror image. Degrees of freedom are the effective number of clusters minus 1.

        Examples
        --------
        >>> low, high = ClassSize(200.0, 50.0, 50).limits([0.0, 0.1], [0.0, 0.0009], 0.95)
        >>> low.round(3).tolist(), high.round(3).tolist()
        ([0.0, 0.054], [0.075, 0.177])
        >>> low, _ = ClassSize(100.0, 100.0, 100).limits(0.01, 0.0001, 0.95)
        >>> round(float(low), 5), round(float(wilson(0.01, 100, 1.984)[0]), 5)
        (0.0005, 0.00174)
        """
        p = np.clip(np.asarray(rate, np.float64), 0.0, 1.0)
        n = self.effective(p, variance)
        low, high = wilson(p, n, t_quantile(level, max(self.n_clusters - 1.0, 1.0)))
        return np.minimum(low, exact_limit(p, n, level)), np.maximum(high, 1.0 - exact_limit(1.0 - p, n, level))


def wilson(rate: ArrayLike, n: ArrayLike, quantile: float) -> FloatPair:
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


_FEW_ERRORS = 12.0
"""Errors from which the lower Wilson limit is below the exact one."""


def exact_limit(rate: FloatArray, n: FloatArray, level: float) -> FloatArray:
    """Return one-sided exact lower limits of rates with few errors in n trials; the rate itself with more errors.

    Examples
    --------
    >>> exact_limit(np.array([0.01, 0.5]), np.array([100.0, 100.0]), 0.95).round(5).tolist()
    [0.00051, 0.5]
    """
    p, size = np.broadcast_arrays(rate, n)
    values = np.array(p, np.float64)
    few = (p > _ROUNDING) & (p * size < _FEW_ERRORS)
    errors = p[few] * size[few]
    values[few] = special.betaincinv(errors, size[few] - errors + 1.0, 1.0 - level)
    return values


@dataclass(frozen=True, slots=True)
class RatePart:
    """One of the rates that are summed in a metric or a curve.

    Attributes
    ----------
    weight, rate : float or array
    variance : float or array
        Cluster-robust variance of the rate.
    size : ClassSize
        Size of the class of the rate.
    """

    weight: Numbers
    rate: Numbers
    variance: Numbers
    size: ClassSize

    def distances(self, level: float) -> FloatArray:
        """Return the possible decrease and increase of the metric by this rate alone: (2, ...)."""
        low, high = self.size.limits(self.rate, self.variance, level)
        ways = np.stack((self.rate - low, high - self.rate))
        return np.asarray(np.where(np.asarray(self.weight) >= 0.0, ways, ways[::-1]) * np.abs(self.weight))


@dataclass(frozen=True, slots=True)
class RateSum:
    """A weighted sum of error rates of some classes, or a sum at each point of a curve.

    Attributes
    ----------
    parts : tuple of tuples of RatePart
        Rates of targets, and of non-targets; for multiclass, rates of each class.
    within : tuple of float
        Correlation of the rates of the same class.
    between : float or array
        Correlation of the sums of any two classes.
    absent : tuple of RatePart
        Kinds of errors that no trial of any class has, if the rates of classes mix kinds; independent of the rest. The
        weight is 0 where a kind has errors.
    """

    parts: tuple[tuple[RatePart, ...], ...]
    within: tuple[float, ...] = (1.0, 1.0)
    between: Numbers = 0.0
    absent: tuple[RatePart, ...] = ()

    def distances(self, level: float) -> FloatPair:
        """Return the possible decrease and increase of the sum.

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
        if self.absent:
            above = np.sqrt(sum((part.distances(level)[1] ** 2 for part in self.absent), above * above))
        return below, above

    def unseen(self, level: float, beside: RateSum | None = None) -> tuple[float, float]:
        """Return the possible decrease and increase of the sum by rates without variation between clusters (no errors).

        Parameters
        ----------
        level : float
        beside : RateSum, optional
            The same sum of another system: then only rates without errors in both systems count.

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
        both = zip(self.absent, (beside or self).absent, strict=False)
        for one, other in both:  # of a kind that neither has, in any class that has errors in one of them
            wider = one if np.sum(one.weight) >= np.sum(other.weight) else other
            are_both = np.minimum(one.weight, other.weight) > 0.0
            still.append(replace(wider, weight=np.where(are_both, wider.weight, 0.0)).distances(level))
        below, above = combined(still, 0.0).tolist()
        return below, above


def combined(distances: Sequence[FloatArray], correlation: Numbers) -> FloatArray:
    """Return the distances of a sum, (2, ...), from the distances of its parts, which have a common correlation.

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


ROUNDING = 1e-13
"""Share of a metric, or of its largest influence, below which a difference may come from the order of sums."""

LEVEL = 0.95
"""Share of samples in which an interval should contain the true value."""

LINEARISED = "linearised by unit"
RATES = "Wilson limits by unit"
RULE_OF_THREE = "rule of three"


@dataclass(frozen=True, slots=True)
class Interval:
    """A metric, with bounds that should contain its true value.

    Attributes
    ----------
    estimate : float
        Value of the metric by its definition.
    low, high : float
        Bounds at this level.
    standard_error : float
    corrected : float or None
        Value corrected for optimism, if the metric was minimized on the trials: the expected value for new units.
    level : float
        Confidence level, such as 0.95.
    n_units : int
    method : str
        Method of the interval, in words.
    p_value : float or None
        For differences: two-sided p-value of the hypothesis of no difference.
    """

    estimate: float
    low: float
    high: float
    standard_error: float
    corrected: float | None
    level: float
    n_units: int
    method: str
    p_value: float | None = None


@dataclass(frozen=True, slots=True)
class NothingSeen:
    """Information on a metric without variation between units: no errors were seen, or only errors.

    Attributes
    ----------
    n_units : int
        Number of units without variation.
    above, below : float
        Increase and decrease of the metric if the share of deviating units is 1.
    ceiling : float
        Upper limit of the metric.
    is_entropy : bool
        True if the metric increases as the binary entropy of the share, in bits.
    """

    n_units: int
    above: float = 0.0
    below: float = 0.0
    ceiling: float = math.inf
    is_entropy: bool = False

    def share(self, level: float) -> float:
        """Return the limit of the share of n units without errors, ``1 - (1 - level)^(1/n)``: 3/n at level 0.95."""
        return -math.expm1(math.log1p(-level) / max(self.n_units, 1))

    def bounds(self, value: float, level: float) -> tuple[float, float]:
        """Return the metric with its increase or decrease at that `share`.

        A cost without a limit has an infinite upper bound if it is 0; if all trials cost the same, it stays.
        """
        share = self.share(level)
        rise = min(share, 0.5)
        if self.is_entropy:
            rise = float(special.entr(rise) + special.entr(1.0 - rise)) / math.log(2)
        else:
            known = self.above > 0.0 and (value == 0.0 or math.isfinite(self.above))
            rise = self.above * share if known else 0.0
        return max(value - self.below * share, 0.0), min(value + rise, self.ceiling)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A metric with its standard error, for intervals of any level.

    Attributes
    ----------
    value, standard_error : float
    n_units : int
    scale : {"log", "logit", "identity", "complement", "skewed"}
        Scale on which it is nearly normal: logit for shares, log for costs, identity for differences; complement is the
        log of the difference from the upper limit, for information; skewed is for losses that are often near 0.
    corrected : float or None
        Value without optimism; the middle of the interval, if known.
    nothing_seen : NothingSeen or None
        Information if the metric, or a part of it, does not vary between units.
    limits : (float, float)
        Limits of the metric and of its bounds.
    n_candidates : int
        Number of candidates from which this metric was chosen by its value. The interval contains the true value of the
        chosen metric: bounds are wide enough to hold for all candidates at once (Bonferroni).
    rates : RateSum or None
        Error rates that sum to the metric, if it is a sum of rates.
    also : float or None
        Another value of the same metric that equals the sum of the rates: bounds include both.
    degrees : float or None
        Degrees of freedom of the standard error; ``n_units - 1`` if None.
    at_most : Estimate or None
        Another metric that this one does not exceed in the population: its upper bound is also a limit.
    """

    value: float
    standard_error: float
    n_units: int
    scale: Scale = "log"
    corrected: float | None = None
    nothing_seen: NothingSeen | None = None
    limits: tuple[float, float] = (-math.inf, math.inf)
    n_candidates: int = 1
    rates: RateSum | None = None
    also: float | None = None
    degrees: float | None = None
    at_most: Estimate | None = None

    def __post_init__(self) -> None:
        """Set a standard error that is only rounding to 0, for example with fractional weights."""
        most = self.limits[1] if math.isfinite(self.limits[1]) else 0.0
        if self.standard_error <= max(ROUNDING * abs(self.value), 1e-15 * most):
            object.__setattr__(self, "standard_error", 0.0)

    def interval(self, level: float = LEVEL, *, method: str = LINEARISED) -> Interval:
        """Return the interval at a level: around the corrected value, if there is one, and including the metric itself.

        Raises
        ------
        InputError
            If the level is not inside (0, 1).

        Examples
        --------
        >>> found = Estimate(0.05, 0.01, 100, "logit").interval()
        >>> round(found.low, 4), round(found.high, 4)
        (0.0335, 0.074)
        >>> Estimate(0.0, 0.0, 100, "logit", nothing_seen=NothingSeen(100, 1.0)).interval().high
        0.029513049607039925
        """
        level = checked_level(level)
        of_each = 1.0 - (1.0 - level) / self.n_candidates if self.n_candidates > 1 else level
        if self.rates is not None:
            below, above = map(float, self.rates.distances(of_each))
            middles = [one for one in (self.value, self.corrected, self.also) if one is not None]
            bounds = min(middles) - below, max(middles) + above
            method = RATES if method == LINEARISED else method
        elif self.nothing_seen is not None and self.standard_error == 0.0:
            bounds, method = self.nothing_seen.bounds(self.value, of_each), RULE_OF_THREE
        else:
            degrees = self.n_units - 1 if self.degrees is None else self.degrees
            bounds = self._bounds(t_quantile(of_each, degrees) * self.standard_error)
        lowest, highest = (min(max(bound, self.limits[0]), self.limits[1]) for bound in bounds)
        if (
            self.scale in ("identity", "skewed") and self.corrected is not None
        ):  # a calibration loss may be optimism only
            lowest = 0.0 if 0.0 < lowest < _UNSURE * (self.value - self.corrected) else lowest
        if self.at_most is not None:
            highest = min(highest, max(self.at_most.interval(level).high, self.value, self.corrected or 0.0))
        ends = min(lowest, self.value), max(highest, self.value)
        return Interval(self.value, *ends, self.standard_error, self.corrected, level, self.n_units, method)

    def distances(self, level: float) -> tuple[float, float]:
        """Return the possible decrease and increase of the metric, without a correction for optimism."""
        result = replace(self, corrected=None).interval(level)
        return self.value - result.low, result.high - self.value

    @property
    def is_known(self) -> bool:
        """True if there is a finite interval that is not a single point."""
        if self.rates is None and self.standard_error == 0.0 and self.nothing_seen is None:
            return False
        result = self.interval()
        can_be_infinite = self.rates is None and self.standard_error > 0.0
        return result.low < result.high and (can_be_infinite or math.isfinite(result.high - result.low))

    def _bounds(self, half_width: float) -> tuple[float, float]:
        middle = self.value if self.corrected is None else self.corrected
        if half_width == 0.0:
            return middle, middle
        if self.scale == "complement":
            top = self.limits[1]
            low, high = bounds_on_scale(top - middle, top - middle, half_width, "log")
            return top - float(high), top - float(low)
        low, high = bounds_on_scale(middle, middle, half_width, self.scale)
        return float(low), float(high)


def checked_level(level: float) -> float:
    """Return a level inside (0, 1).

    Raises
    ------
    InputError
    """
    return _validate.fraction(level, "level", "A level must be inside (0, 1), such as 0.95")
