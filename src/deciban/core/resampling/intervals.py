"""Confidence intervals: Wilson limits of error rates and their sums, and bounds from standard errors.

Each rate has Wilson limits at its effective number of trials: the number of trials divided by the design effect, which
is the cluster-robust variance over the binomial one, and at least 1. Distances of the limits of several rates are
combined by MOVER (Zou and Donner 2008, Statistics in Medicine 27): squares add, with the correlation of the rates.
Quantiles are those of t with the effective number of clusters minus 1 (Carter, Schnepel and Steigerwald 2017, Review of
Economics and Statistics 99).
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
from deciban.types import FloatArray

FEWEST_CLUSTERS = 5.0
"""Effective clusters of a class below which there are no intervals."""

Numbers: TypeAlias = float | FloatArray
"""One number, or one for each place of a curve."""

_ROUNDING = 1e-13
"""Rates this close to 0 or 1 are 0 or 1."""

_UNSURE = 0.5
"""Share of a correction within which a calibration loss may be 0: corrections remove about 75 % of the optimism."""


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
        """True if intervals are possible: with at least five effective clusters."""
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


ROUNDING = 1e-13
"""Share of a figure, or of the greatest influence on it, below which a difference is that of sums in another order."""

LEVEL = 0.95
"""Share of draws in which an interval should hold the true value."""

LINEARISED = "linearised by unit"
RATES = "Wilson limits by unit"
RULE_OF_THREE = "rule of three"


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure, and between which bounds its true value should lie.

    Attributes
    ----------
    estimate : float
        The figure as it is defined.
    low, high : float
        Bounds at this level.
    standard_error : float
    corrected : float or None
        The figure without its optimism, where it was found as a minimum: what new units should give.
    level : float
        Such as 0.95.
    n_units : int
    method : str
        How the interval was found, in words.
    p_value : float or None
        Of differences: of the hypothesis that there is none, two-sided.
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
    """What is known of a figure that no unit moves: no error was seen, or nothing but errors.

    Attributes
    ----------
    n_units : int
        Units that could have shown something else.
    above, below : float
        How far the figure rises, and falls, if the share of units that do is 1.
    ceiling : float
        What the figure cannot exceed.
    is_entropy : bool
        Whether the figure rises as the binary entropy of the share, in bits.
    """

    n_units: int
    above: float = 0.0
    below: float = 0.0
    ceiling: float = math.inf
    is_entropy: bool = False

    def share(self, level: float) -> float:
        """Rule of three: of n units without an error, the share is below ``1 - (1 - level)^(1/n)``, 3/n at 0.95."""
        return -math.expm1(math.log1p(-level) / max(self.n_units, 1))

    def bounds(self, value: float, level: float) -> tuple[float, float]:
        """The figure, and what it rises to or falls to with that `share`.

        A cost without a limit could rise to any height if it is 0; where all trials cost the same, it stays.
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
    """A figure with its standard error: what intervals of any level are made of.

    Attributes
    ----------
    value, standard_error : float
    n_units : int
    scale : {"log", "logit", "identity", "complement"}
        On which it is nearly normal: logit for shares, log for costs, itself for differences; complement is the log of
        what the metric lacks to its upper limit, for information.
    corrected : float or None
        Without optimism; the middle of the interval where it is known.
    nothing_seen : NothingSeen or None
        Where no unit moves the figure, or a part of it.
    limits : (float, float)
        What the figure cannot leave: neither do its bounds.
    n_candidates : int
        So many figures were there, of which this one was picked for its value. The interval holds the true value of
        what was picked: bounds are so wide that those of all candidates would hold at once (Bonferroni).
    rates : RateSum or None
        The error rates that add up to the metric, if it is such a sum.
    also : float or None
        Another reading of the same metric, to which the rates add up: bounds lie around both.
    degrees : float or None
        Degrees of freedom of the standard error; ``n_units - 1`` if None.
    at_most : Estimate or None
        Another metric that this one does not exceed in the population: neither does its upper bound.
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
        """Leave nothing of a standard error that is only rounding, as that of fractional weights may be."""
        most = self.limits[1] if math.isfinite(self.limits[1]) else 0.0
        if self.standard_error <= max(ROUNDING * abs(self.value), 1e-15 * most):
            object.__setattr__(self, "standard_error", 0.0)

    def interval(self, level: float = LEVEL, *, method: str = LINEARISED) -> Interval:
        """Return the interval at a level: around the corrected value, if there is one, and holding the metric itself.

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
        if self.scale == "identity" and self.corrected is not None:  # a calibration loss, which may be mere optimism
            lowest = 0.0 if 0.0 < lowest < _UNSURE * (self.value - self.corrected) else lowest
        if self.at_most is not None:
            highest = min(highest, max(self.at_most.interval(level).high, self.value, self.corrected or 0.0))
        ends = min(lowest, self.value), max(highest, self.value)
        return Interval(self.value, *ends, self.standard_error, self.corrected, level, self.n_units, method)

    def distances(self, level: float) -> tuple[float, float]:
        """Return how far the metric may fall and rise, without a correction for optimism."""
        found = replace(self, corrected=None).interval(level)
        return self.value - found.low, found.high - self.value

    @property
    def is_known(self) -> bool:
        """Whether there is an interval: finite, and not a point."""
        if self.rates is None and self.standard_error == 0.0 and self.nothing_seen is None:
            return False
        found = self.interval()
        can_be_infinite = self.rates is None and self.standard_error > 0.0
        return found.low < found.high and (can_be_infinite or math.isfinite(found.high - found.low))

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
    """A level, which lies inside (0, 1).

    Raises
    ------
    InputError
    """
    rule = "A level is a share inside (0, 1), such as 0.95"
    return _validate.in_range(level, "level", math.ulp(0.0), 1.0 - math.ulp(0.5), rule)
