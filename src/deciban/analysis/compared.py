"""Metrics that comparisons show, and paired differences of two systems by unit, with intervals and p-values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from deciban.core.resampling.intervals import LINEARISED, ROUNDING, Estimate, Interval, t_quantile
from deciban.core.resampling.units import Keys, mixed_bits
from deciban.errors import InputError
from deciban.evaluation.metrics import METRICS, keys_of, metric_of
from deciban.evaluation.one_system import OneSystem
from deciban.evaluation.uncertainty import Figure, Uncertainty
from deciban.types import FloatArray, IntArray


def compared_metrics(systems: Sequence[OneSystem]) -> list[Figure]:
    """Return the metrics of tables that have an interval in all systems; the mean over points if there are several."""
    n_points = len(systems[0].point_names)
    shown = [one for one in METRICS if one.tables != "none" and (n_points > 1 or not one.name.startswith("mean_"))]
    keys = keys_of(shown, systems[0].kind, {"point": n_points, "rule prior": n_points})
    return [key for key in keys if all(key in one.estimates for one in systems)]


def without_interval(systems: Sequence[OneSystem]) -> list[str]:
    """Return the labels of finite metrics of two classes of which some system has no interval."""
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
"""Statistics that differ by no more than this share of them are the same: rounding must not decide."""


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
        """Return how far the mean may fall and rise: squares add, with the correlation of its standard error."""
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
        """What stands beside p-values."""
        return f"p-value by {self.n_replicates:,} exchanges of the systems by unit, seed {self.seed}"

    def p_value(self, difference: float, influences: FloatArray, keys: Keys) -> float:
        """Share of replicates with a t statistic that is as great, those of the data among them; two-sided.

        To first order a difference is the sum of what each unit adds, ``d_k + difference / n``; exchanging the systems
        of a unit turns its sign. Studentized, as in Janssen (1997), Studentized permutation tests.

        Parameters
        ----------
        difference : float
        influences : (n,) array
        keys : (n,) uint64 array
            Signs of a unit follow from its key, the seed and the number of the replicate alone.
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
    """Size of the mean over its standard error, up to a factor that is the same for all."""
    total, squares = np.abs(signs @ adds), float(adds @ adds)
    spread = np.maximum(squares - total**2 / len(adds), 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(total / np.sqrt(spread))


@dataclass(frozen=True, slots=True, eq=False)
class PairedUnits:
    """The units of two systems: the same ones where they were evaluated on the same trials.

    Attributes
    ----------
    first, second : Uncertainty
        With influences.
    keys : (n,) uint64 array
        Of all units that either has.
    places : pair of int arrays
        Where the units of each stand among these.
    n_shared : int
        Units that both have.
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
        """Units of that system which has fewer: all of them, where both have the same ones."""
        return min(self.first.n_units, self.second.n_units)

    def subtracted(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Influences of all units on a difference, (..., n): those that a system lacks have none on its figure.

        What rounding leaves where both are the same is none.
        """
        found = np.zeros((*first.shape[:-1], len(self.keys)))
        found[..., self.places[0]] = first
        largest = np.max(np.abs(found), axis=-1, keepdims=True, initial=0.0)
        found[..., self.places[1]] -= second
        found[np.abs(found) <= ROUNDING * largest] = 0.0
        return found

    def standard_error(self, influences: FloatArray) -> FloatArray:
        """Infinitesimal jackknife, ``n / (n - 1)`` times the sum of squares."""
        squares = np.einsum("...u,...u->...", influences, influences)
        return np.asarray(np.sqrt(squares * self.n_units / (self.n_units - 1)))

    def influences(self, figure: Figure) -> FloatArray:
        """Influences of all units on the difference of a figure.

        Raises
        ------
        InputError
            If they were not kept.
        """
        for one in (self.first, self.second):
            if figure not in one.influences:
                raise InputError(
                    f"figure: influences of {one.units_in_words} on {figure!r} were not kept, and a difference needs "
                    "them. Name units of which there are fewer, such as speakers."
                )
        return self.subtracted(self.first.influences[figure], self.second.influences[figure])

    @property
    def are_same(self) -> bool:
        """Whether both systems have the same scores, as far as any figure or unit tells."""
        one, other = self.first, self.second
        return (
            np.array_equal(one.keys, other.keys)
            and one.influences.keys() == other.influences.keys()
            and one.estimates.keys() == other.estimates.keys()
            and all(found.value == other.estimates[name].value for name, found in one.estimates.items())
            and all(np.array_equal(kept, other.influences[name]) for name, kept in one.influences.items())
        )

    @property
    def have_same_ranks(self) -> bool:
        """Whether both systems put the trials in the same order, as far as any figure or unit tells.

        Two systems without an error are not known to: one may make an error that the other does not.
        """
        known = [one for one in self.first.estimates if metric_of(one).is_of_ranks and one in self.second.estimates]
        if "auc" not in known:
            return False
        return any(bool(self.first.influences[one].any()) for one in known if one in self.first.influences) and all(
            self.first.estimates[one].value == self.second.estimates[one].value and not self.influences(one).any()
            for one in known
        )

    def _replicates(self, figure: Figure) -> FloatArray | None:
        """Differences of both figures in the replicates that both have; None unless they were drawn alike."""
        one, other = self.first.bootstrap, self.second.bootstrap
        if one is None or other is None or figure not in one.values or figure not in other.values:
            return None
        if one.seed != other.seed or self.n_shared < len(self.keys):
            return None
        shared, at, also = np.intersect1d(one.numbers, other.numbers, assume_unique=True, return_indices=True)
        if len(shared) < 2:
            return None
        return without_rounding(one.values[figure][at], other.values[figure][also])

    def difference(
        self,
        figure: Figure,
        level: float,
        flips: SignFlips | None = None,
        *,
        same_trials: bool = True,
        least_error: float = 0.0,
    ) -> Interval:
        """Return first minus second, with its interval and p-value.

        On the same trials the interval is that of the influences on the difference, with t quantiles, unless one of
        the metrics shows no error at all. Then, and for metrics of other trials, it is made of the limits of both; see
        `interval_of_difference`. Error rates at fixed thresholds of which neither system shows an error may rise to
        their Wilson limits: distances add in squares.

        The middle of the interval is the difference of the figures as they are defined. What minima promise too much
        is nearly the same for two systems on the same trials and cancels; the corrections of both, subtracted, mostly
        add their own noise: in simulations intervals around them held the true difference less often (see
        ``docs/compare.md``). ``corrected`` is the difference of the corrected figures. The p-value is
        computed with a standard error of at least `least_error`.
        """
        one, other = (x.estimates[figure] for x in (self.first, self.second))
        influences = self.influences(figure)
        influences[np.abs(influences) <= ROUNDING * max(abs(one.value), abs(other.value))] = 0.0
        error = float(self.standard_error(influences))
        value = float(without_rounding(one.value, other.value))
        corrected = None if None in (one.corrected, other.corrected) else _less(one.corrected, other.corrected)
        plain = Estimate(value, error, self.n_units, "identity", degrees=fewest_degrees((one, other)))
        drawn = self._replicates(figure)
        if self.are_same or (metric_of(figure).is_of_ranks and self.have_same_ranks):
            found = replace(plain.interval(level), p_value=1.0)
        elif drawn is not None and one.standard_error > 0.0 and other.standard_error > 0.0:
            found = _of_replicates(drawn, plain, level)  # errors that no unit shows are in no replicate
        elif same_trials and self.n_shared and min(one.standard_error, other.standard_error) > 0.0:
            found = _of_influences(one, other, plain, level, are_fixed=not metric_of(figure).is_of_ranks)
        else:
            found = interval_of_difference(one, other, plain, level, least_error=least_error)
        if flips is not None:
            p_value = flips.p_value(value, influences, self.keys)
            found = replace(found, p_value=p_value, method=f"{found.method}; {flips.words}")
        return replace(found, corrected=corrected)


def without_rounding(first: float | FloatArray, second: float | FloatArray) -> FloatArray:
    """First minus second; 0 where rounding alone tells them apart.

    Examples
    --------
    >>> without_rounding(np.array([0.1 + 0.2, 1.0]), np.array([0.3, 0.5])).tolist()
    [0.0, 0.5]
    """
    found = np.subtract(first, second)
    return np.where(np.abs(found) <= ROUNDING * np.maximum(np.abs(first), np.abs(second)), 0.0, found)


def fewest_degrees(estimates: Sequence[Estimate]) -> float:
    """Return the fewest degrees of freedom that any of several estimates has."""
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
    if standard_error == 0.0:
        return 0.0
    return float(2.0 * special.stdtr(degrees, -abs(value) / standard_error))


def _less(one: float | None, other: float | None) -> float:
    return (one or 0.0) - (other or 0.0)


def _of_replicates(drawn: FloatArray, plain: Estimate, level: float) -> Interval:
    """Percentiles of differences, and the level at which these leave out no difference."""
    low, high = np.quantile(drawn, [(1.0 - level) / 2.0, (1.0 + level) / 2.0]).tolist()
    beyond = min(np.count_nonzero(drawn <= 0.0), np.count_nonzero(drawn >= 0.0))
    p_value = min(2.0 * (beyond + 1) / (len(drawn) + 1), 1.0)
    error, method = float(np.std(drawn, ddof=1)), "bootstrap, percentile, of both systems by the same draws"
    return Interval(plain.value, low, high, error, None, level, plain.n_units, method, p_value)


def _of_influences(one: Estimate, other: Estimate, plain: Estimate, level: float, *, are_fixed: bool) -> Interval:
    """Return the interval of a difference on the same trials, by the influences of units on it.

    Parameters
    ----------
    one, other : Estimate
    plain : Estimate
        The difference with its standard error and degrees of freedom.
    level : float
    are_fixed : bool
        Whether thresholds do not depend on the trials, so that errors which no unit shows count.
    """
    found, degrees = plain.interval(level), fewest_degrees((one, other))
    unseen = [(0.0, 0.0), (0.0, 0.0)]
    if are_fixed and one.rates is not None and other.rates is not None:
        unseen = [one.rates.unseen(level, other.rates), other.rates.unseen(level, one.rates)]
    below = math.hypot(plain.value - found.low, unseen[0][0], unseen[1][1])
    above = math.hypot(found.high - plain.value, unseen[0][1], unseen[1][0])
    reach = below if plain.value > 0.0 else above
    error = reach / t_quantile(level, degrees)
    return replace(
        found, low=plain.value - below, high=plain.value + above, p_value=t_test(plain.value, error, degrees)
    )


def interval_of_difference(
    one: Estimate, other: Estimate | MeanOfEstimates, plain: Estimate, level: float, *, least_error: float = 0.0
) -> Interval:
    """Return the interval of a difference, from the distances of the limits of both metrics.

    Squares of distances add (MOVER, Zou and Donner 2008, Statistics in Medicine 27); where the same units move both
    metrics, they shrink as the standard error of the difference does. The p-value is that of t at which the limit at
    this level leaves out no difference.

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
    reach, p_value = below if plain.value > 0.0 else above, 1.0
    if plain.value != 0.0:
        if 0.0 < plain.standard_error < least_error:
            reach *= least_error / plain.standard_error
        statistic = abs(plain.value) / reach * t_quantile(level, degrees) if reach > 0.0 else math.inf
        p_value = float(2.0 * special.stdtr(degrees, -statistic))
    ends = plain.value - below, plain.value + above
    return Interval(plain.value, *ends, plain.standard_error, None, level, plain.n_units, LINEARISED, p_value)


def holm(p_values: FloatArray) -> FloatArray:
    """P-values for several hypotheses at once: below a level for any true one with no more than this probability.

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
    found = np.empty(len(p_values))
    found[order] = adjusted
    return found
