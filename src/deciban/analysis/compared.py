"""Metrics that comparisons show, and paired differences of two systems by unit, with intervals and p-values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import special

from deciban.core.resampling.intervals import LINEARISED, ROUNDING, Estimate, Interval, t_quantile
from deciban.core.resampling.units import Keys, mixed_bits
from deciban.errors import InputError
from deciban.evaluation.metrics import METRICS, keys_of, metric_of
from deciban.evaluation.one_system import OneSystem
from deciban.evaluation.uncertainty import MetricKey, Uncertainty
from deciban.types import FloatArray, IntArray


def compared_metrics(systems: Sequence[OneSystem]) -> list[MetricKey]:
    """Return the metrics of tables that have an interval in all systems; the mean over points if there are several."""
    n_points = len(systems[0].point_names)
    shown = [one for one in METRICS if one.tables != "none" and (n_points > 1 or not one.name.startswith("mean_"))]
    keys = keys_of(shown, systems[0].kind, {"point": n_points, "rule prior": n_points})
    return [key for key in keys if all(key in one.estimates for one in systems)]


def without_interval(systems: Sequence[OneSystem]) -> list[str]:
    """Return the labels of finite two-class metrics without an interval in some system."""
    first = systems[0]
    shown = [one for one in METRICS if one.tables == "all"] if first.kind == "two-class" else []
    return [
        first.words(key)
        for key in keys_of(shown, first.kind, {"point": len(first.point_names)})
        if all(math.isfinite(one.value(key)) for one in systems) and any(key not in one.estimates for one in systems)
    ]


_CELLS = 1 << 22
"""Signs that are drawn at once."""

_ALIKE = 1e-9
"""Relative difference up to which statistics are equal, so that rounding has no effect."""

_ROUGHNESS = 0.02
"""Share of the squares of influences on AUC by which bins of scores can change them; measured: 0.007."""


@dataclass(frozen=True, slots=True)
class MeanOfEstimates:
    """The mean of a metric over several conditions, with its standard error by the units of all of them."""

    estimates: Sequence[Estimate]
    standard_error: float

    @property
    def value(self) -> float:
        """The mean."""
        return math.fsum(one.value for one in self.estimates) / len(self.estimates)

    def distances(self, level: float) -> tuple[float, float]:
        """Return the distances of both bounds; squares add, with the correlation of the standard error."""
        each, n = [one.distances(level) for one in self.estimates], len(self.estimates)
        spread = math.hypot(*(one.standard_error for one in self.estimates))
        factor = self.standard_error * n / spread if spread > 0.0 and self.standard_error > 0.0 else 1.0
        below, above = (math.hypot(*(one[way] for one in each)) / n for way in (0, 1))
        return factor * below, factor * above


@dataclass(frozen=True, slots=True)
class SignFlips:
    """A permutation test by units: in every replicate, some units exchange the two systems.

    Attributes
    ----------
    n_replicates : int
    seed : int
    """

    n_replicates: int
    seed: int = 0

    @property
    def words(self) -> str:
        """Caption of p-values."""
        return f"p-value by {self.n_replicates:,} exchanges of the systems by unit, seed {self.seed}"

    def p_value(self, difference: float, influences: FloatArray, keys: Keys) -> float:
        """Return the two-sided p-value: the share of replicates, including the data, with a t statistic as large.

        To first order a difference is the sum of contributions of units, ``d_k + difference / n``. Exchanging the
        systems of a unit changes its sign. Studentized, as in Janssen (1997), Studentized permutation tests.

        Parameters
        ----------
        difference : float
        influences : (n,) array
        keys : (n,) uint64 array
            The sign of a unit is a function of its key, the seed and the number of the replicate.
        """
        adds = influences + difference / len(influences)
        if not adds.any():
            return 1.0
        observed, at_least = _t_statistic(np.ones((1, len(adds))), adds)[0], 0
        step = max(_CELLS // len(adds), 1)
        for first in range(0, self.n_replicates, step):
            numbers = np.arange(first, min(first + step, self.n_replicates), dtype=np.uint64)
            stream = mixed_bits(numbers ^ mixed_bits(np.array([self.seed], np.uint64)))
            bits = mixed_bits(stream[:, None] ^ keys[None, :]) >> np.uint64(63)
            signs = 1.0 - 2.0 * bits.astype(np.float64)
            at_least += int(np.count_nonzero(_t_statistic(signs, adds) >= observed * (1.0 - _ALIKE)))
        return (at_least + 1) / (self.n_replicates + 1)


def _t_statistic(signs: FloatArray, adds: FloatArray) -> FloatArray:
    """Return the absolute mean divided by its standard error, up to a constant factor."""
    total, squares = np.abs(signs @ adds), float(adds @ adds)
    spread = np.maximum(squares - total**2 / len(adds), 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(total / np.sqrt(spread))


@dataclass(frozen=True, eq=False)
class PairedUnits:
    """The units of two systems; they are the same if the systems were evaluated on the same trials.

    Attributes
    ----------
    first, second : Uncertainty
        With influences.
    keys : (n,) uint64 array
        Keys of the units of either system.
    places : pair of int arrays
        Positions of the units of each system in ``keys``.
    n_shared : int
        Number of units of both systems.
    """

    first: Uncertainty
    second: Uncertainty
    keys: Keys
    places: tuple[IntArray, IntArray]
    n_shared: int

    @classmethod
    def of(cls, first: Uncertainty, second: Uncertainty) -> PairedUnits:
        """Find units with the same key."""
        keys, places = np.unique(np.concatenate((first.keys, second.keys)), return_inverse=True)
        n = len(first.keys)
        return cls(first, second, keys, (places[:n], places[n:]), n + len(second.keys) - len(keys))

    @property
    def n_units(self) -> int:
        """Number of units of the system with fewer units."""
        return min(self.first.n_units, self.second.n_units)

    def subtracted(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Return influences of all units on a difference, (..., n); units that a system lacks have influence 0 on it.

        Differences due to rounding become 0.
        """
        values = np.zeros((*first.shape[:-1], len(self.keys)))
        values[..., self.places[0]] = first
        largest = np.max(np.abs(values), axis=-1, keepdims=True, initial=0.0)
        values[..., self.places[1]] -= second
        values[np.abs(values) <= ROUNDING * largest] = 0.0
        return values

    def standard_error(self, influences: FloatArray) -> FloatArray:
        """Return the standard error by the infinitesimal jackknife, ``n / (n - 1)`` times the sum of squares."""
        squares = np.einsum("...u,...u->...", influences, influences)
        return np.asarray(np.sqrt(squares * self.n_units / (self.n_units - 1)))

    def influences(self, metric: MetricKey) -> FloatArray:
        """Return influences of all units on the difference of a metric.

        Raises
        ------
        InputError
            If they were not kept.
        """
        for one in (self.first, self.second):
            if metric not in one.influences:
                raise InputError(
                    f"metric: influences of {one.units_in_words} on {metric!r} were not kept, but a difference needs "
                    "them. Use larger units, such as speakers."
                )
        return self.subtracted(self.first.influences[metric], self.second.influences[metric])

    @cached_property
    def are_same(self) -> bool:
        """True if both systems have the same scores, according to all metrics and influences."""
        one, other = self.first, self.second
        return (
            np.array_equal(one.keys, other.keys)
            and one.influences.keys() == other.influences.keys()
            and one.estimates.keys() == other.estimates.keys()
            and all(result.value == other.estimates[name].value for name, result in one.estimates.items())
            and all(np.array_equal(kept, other.influences[name]) for name, kept in one.influences.items())
        )

    @cached_property
    def have_same_ranks(self) -> bool:
        """True if both systems rank the trials in the same order, according to all metrics and influences.

        False for two systems without errors, since new trials can have errors of one system only. Influences on AUC are
        equal up to `_ROUGHNESS`: they are computed in bins of scores, which depend on the scale.
        """
        first, second = self.first.estimates, self.second.estimates
        known = [one for one in first if metric_of(one).is_of_ranks and one in second]
        if "auc" not in known or any(first[one].value != second[one].value for one in known):
            return False
        if not any(bool(self.first.influences[one].any()) for one in known if one in self.first.influences):
            return False
        others = ((np.abs(self.influences(one)), first[one].value) for one in known if one != "auc")
        if any(bool(np.any(differences > ROUNDING * abs(value))) for differences, value in others):
            return False
        whole = np.square(self.first.influences["auc"]).sum()
        return bool(np.square(self.influences("auc")).sum() <= _ROUGHNESS * whole)

    def _replicates(self, metric: MetricKey) -> FloatArray | None:
        """Return differences of a metric in the replicates of both systems; None unless both used the same draws."""
        one, other = self.first.bootstrap, self.second.bootstrap
        if one is None or other is None or metric not in one.values or metric not in other.values:
            return None
        if one.seed != other.seed or self.n_shared < len(self.keys):
            return None
        shared, at, also = np.intersect1d(one.numbers, other.numbers, assume_unique=True, return_indices=True)
        return None if len(shared) < 2 else without_rounding(one.values[metric][at], other.values[metric][also])

    def difference(
        self,
        metric: MetricKey,
        level: float,
        flips: SignFlips | None = None,
        *,
        same_trials: bool = True,
        least_error: float = 0.0,
    ) -> Interval:
        """Return first minus second, with its interval and p-value.

        On the same trials, the interval is computed from the influences on the difference, with t quantiles, unless one
        of the metrics has no error at all, or both are areas or means of costs, which have skewed distributions. In
        these cases, and on different trials, it combines the limits of both metrics; see `interval_of_difference`.
        Error rates at fixed thresholds without errors in both systems can rise to their Wilson limits: distances add in
        squares.

        The interval is centred at the difference of the uncorrected metrics. The optimism of minima is nearly equal for
        two systems on the same trials and cancels. The difference of both corrections mostly adds noise: in
        simulations, intervals around the corrected difference had lower coverage (see ``docs/compare.md``).
        ``corrected`` is the difference of the corrected metrics. The p-value is computed with a standard error of at
        least `least_error`.
        """
        one, other = (x.estimates[metric] for x in (self.first, self.second))
        influences, same_ranks = self.influences(metric), metric_of(metric).is_of_ranks and self.have_same_ranks
        if same_ranks:
            influences[:] = 0.0
        influences[np.abs(influences) <= ROUNDING * max(abs(one.value), abs(other.value))] = 0.0
        error = float(self.standard_error(influences))
        value = float(without_rounding(one.value, other.value))
        corrected = None
        if one.corrected is not None and other.corrected is not None:
            corrected = one.corrected - other.corrected
        plain = Estimate(value, error, self.n_units, "identity", degrees=fewest_degrees((one, other)))
        drawn = self._replicates(metric)
        skewed = [x.corrected is None and not x.rates and x.scale != "identity" for x in (one, other)]
        is_skewed = error > 0.0 and all(skewed)
        if self.are_same or same_ranks:
            result = replace(plain.interval(level), p_value=1.0)
        elif drawn is not None and one.standard_error > 0.0 and other.standard_error > 0.0:
            result = _of_replicates(drawn, plain, level)  # replicates contain no errors that no unit has
        elif same_trials and self.n_shared and min(one.standard_error, other.standard_error) > 0.0 and not is_skewed:
            result = _of_influences(one, other, plain, level, are_fixed=not metric_of(metric).is_of_ranks)
        else:
            result = interval_of_difference(one, other, plain, level, least_error=least_error)
        if flips is not None:
            p_value = flips.p_value(value, influences, self.keys)
            result = replace(result, p_value=p_value, method=f"{result.method}; {flips.words}")
        return replace(result, corrected=corrected)


def without_rounding(first: float | FloatArray, second: float | FloatArray) -> FloatArray:
    """Return first minus second; 0 if they differ by rounding only.

    Examples
    --------
    >>> without_rounding(np.array([0.1 + 0.2, 1.0]), np.array([0.3, 0.5])).tolist()
    [0.0, 0.5]
    """
    result = np.subtract(first, second)
    return np.where(np.abs(result) <= ROUNDING * np.maximum(np.abs(first), np.abs(second)), 0.0, result)


def fewest_degrees(estimates: Sequence[Estimate]) -> float:
    """Return the smallest degrees of freedom of several estimates."""
    return min(one.n_units - 1.0 if one.degrees is None else one.degrees for one in estimates)


def t_test(value: float, standard_error: float, degrees: float) -> float:
    """Return the two-sided p-value of no difference.

    Examples
    --------
    >>> round(t_test(2.0, 1.0, 30), 4), t_test(0.0, 0.0, 30)
    (0.0546, 1.0)
    """
    if value == 0.0:
        return 1.0
    return 0.0 if standard_error == 0.0 else float(2.0 * special.stdtr(degrees, -abs(value) / standard_error))


def _of_replicates(drawn: FloatArray, plain: Estimate, level: float) -> Interval:
    """Return percentiles of differences, with the p-value at which these just exclude 0."""
    low, high = np.quantile(drawn, [(1.0 - level) / 2.0, (1.0 + level) / 2.0]).tolist()
    beyond = min(np.count_nonzero(drawn <= 0.0), np.count_nonzero(drawn >= 0.0))
    p_value = min(2.0 * (beyond + 1) / (len(drawn) + 1), 1.0)
    error, method = float(np.std(drawn, ddof=1)), "bootstrap, percentile, of both systems by the same draws"
    return Interval(plain.value, low, high, error, None, level, plain.n_units, method, p_value)


def _of_influences(one: Estimate, other: Estimate, plain: Estimate, level: float, *, are_fixed: bool) -> Interval:
    """Return the interval of a difference on the same trials, from the influences of units on it.

    Parameters
    ----------
    one, other : Estimate
    plain : Estimate
        The difference with its standard error and degrees of freedom.
    level : float
    are_fixed : bool
        True if thresholds do not depend on the trials, so that errors that no unit has are added.
    """
    result, degrees = plain.interval(level), fewest_degrees((one, other))
    unseen = [(0.0, 0.0), (0.0, 0.0)]
    if are_fixed and one.rates is not None and other.rates is not None:
        each = (one, one.rates.unseen(level, other.rates)), (other, other.rates.unseen(level, one.rates))
        unseen = [(fall, min(rise, x.limits[1] - x.value)) for x, (fall, rise) in each]
    below = math.hypot(plain.value - result.low, unseen[0][0], unseen[1][1])
    above = math.hypot(result.high - plain.value, unseen[0][1], unseen[1][0])
    reach = below if plain.value > 0.0 else above
    error = reach / t_quantile(level, degrees)
    return replace(
        result, low=plain.value - below, high=plain.value + above, p_value=t_test(plain.value, error, degrees)
    )


def interval_of_difference(
    one: Estimate, other: Estimate | MeanOfEstimates, plain: Estimate, level: float, *, least_error: float = 0.0
) -> Interval:
    """Return the interval of a difference, from the distances of the limits of both metrics.

    Squares of distances add (MOVER, Zou and Donner 2008, Statistics in Medicine 27). If units affect both metrics, the
    distances are scaled by the standard error of the difference. The p-value is 1 minus the level at which the limit
    just excludes 0, with quantiles of t.

    Parameters
    ----------
    one, other : Estimate or MeanOfEstimates
    plain : Estimate
        The difference with its standard error and degrees of freedom.
    level : float
    least_error : float
        The p-value is computed with a standard error of at least this size.
    """
    spread = math.hypot(one.standard_error, other.standard_error)
    (fall, rise), (other_fall, other_rise) = (x.distances(level) for x in (one, other))
    factor = plain.standard_error / spread if spread > 0.0 and plain.standard_error > 0.0 else 1.0
    below, above = factor * math.hypot(fall, other_rise), factor * math.hypot(rise, other_fall)
    degrees = plain.n_units - 1.0 if plain.degrees is None else plain.degrees
    reach = below if plain.value > 0.0 else above
    if 0.0 < plain.standard_error < least_error:
        reach *= least_error / plain.standard_error
    p_value = t_test(plain.value, reach / t_quantile(level, degrees), degrees)
    ends = plain.value - below, plain.value + above
    return Interval(plain.value, *ends, plain.standard_error, None, level, plain.n_units, LINEARISED, p_value)


def holm(p_values: FloatArray) -> FloatArray:
    """Return p-values with Holm's correction: under true hypotheses, the smallest is below a level at most this often.

    Parameters
    ----------
    p_values : (n,) array

    References
    ----------
    S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6, 1979.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03])).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    steps = np.arange(len(p_values), 0, -1)
    adjusted = np.minimum(np.maximum.accumulate(steps * p_values[order]), 1.0)
    values = np.empty(len(p_values))
    values[order] = adjusted
    return values
