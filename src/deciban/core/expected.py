"""Expected costs of soft decisions: prior-weighted class means of proper scoring rules (thesis 7.40).

Every function takes one class as ``(scores, weights)``: trials in any order, sorted trials, or PAV blocks with their
counts. PAV blocks give the minimum over all monotone recalibrations.

Sums can be merged: in memory, streamed or distributed, they are the same numbers. Counts are integers. Real sums carry
their own rounding error (two-sum, Knuth 1969), so that the result does not depend on the batches and the order of
trials: the error of the sum is far below one unit in the last place.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self, TypeAlias

import numpy as np
from scipy import special
from scipy.special import expit

from deciban.core.ranks.counts import SortedClass, UnsortedClass
from deciban.types import Additive, CountArray, FloatArray, FloatPair, ScoreArray

NARROW = 1 / 32
"""Width in nats below which neighbouring scores share one Taylor series."""


GROUP = 64
"""Scores of a group that may share a shorter series."""


_NARROW_GROUP = 1 / 2048
"""Width of such a group; the omitted terms are below ``(_NARROW_GROUP / 2)**4 / 4!`` of the whole, 2e-16."""


def softplus(x: FloatArray) -> FloatArray:
    """Return ``log(1 + exp(x))`` in nats, to about one ulp, of any shape.

    This is the logarithmic cost of a non-target whose posterior log odds are ``x`` (thesis 7.40); its derivative is
    ``sigma(x)``. ``+inf`` gives ``inf`` and ``-inf`` gives 0.

    Examples
    --------
    >>> import numpy as np
    >>> softplus(np.array([-np.inf, 0.0, 1000.0]))
    array([0.00000000e+00, 6.93147181e-01, 1.00000000e+03])
    """
    with np.errstate(under="ignore"):
        return np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x)))


def softplus_series(centre: FloatArray) -> tuple[FloatArray, ...]:
    """Return derivatives of ``ln(1 + exp(x))`` of order 0 to 6, divided by the factorial of the order."""
    s, v = expit(centre), expit(centre) * expit(-centre)
    tilt = 1 - 2 * s
    derivatives = (s, v, v * tilt, v * (1 - 6 * v), v * tilt * (1 - 12 * v), v * (1 - 30 * v + 120 * v * v))
    scales = (1, 2, 6, 24, 120, 720)
    return softplus(centre), *(f / k for f, k in zip(derivatives, scales, strict=True))


def softplus_of_neighbours(x: FloatArray, centre: float) -> FloatArray:
    """Return the terms of a Taylor series with the same sum as ``softplus(x)``, for ``x`` close to ``centre``.

    Among many sorted scores, thousands of neighbours are nearly equal and share one pair of exponentials. Each term is
    a derivative times a power sum. The omitted terms are below ``(NARROW / 2)**7 / 7!`` of the whole, 5e-17.
    """
    d = x - centre
    d2 = d * d
    d3 = d2 * d
    powers = (len(x), d.sum(), d2.sum(), d3.sum(), d2 @ d2, d2 @ d3, d3 @ d3)
    series = softplus_series(np.array([centre]))
    return np.array([f[0] * p for f, p in zip(series, powers, strict=True)])


def softplus_of_groups(x: FloatArray, weights: FloatArray) -> FloatArray:
    """Return weighted sums of ``softplus(x)`` over the rows of ``x``; each row is sorted.

    Parameters
    ----------
    x, weights : (n_groups, n) arrays

    Returns
    -------
    (n_groups,) array

    Examples
    --------
    >>> softplus_of_groups(np.array([[-1e-5, 1e-5], [0.0, np.inf]]), np.ones((2, 2))).round(12)
    array([1.38629436,        inf])
    """
    with np.errstate(invalid="ignore"):
        width = np.abs(x[:, -1] - x[:, 0])
    narrow = width <= _NARROW_GROUP
    values = np.empty(len(x))
    wide = ~narrow
    if wide.any():
        values[wide] = (softplus(x[wide]) * weights[wide]).sum(axis=1)
        x, weights = x[narrow], weights[narrow]
    if len(x):
        centre = x[:, 0] + (x[:, -1] - x[:, 0]) / 2
        d = x - centre[:, None]
        tilted = weights * d
        squares = d * d
        powers = (
            weights.sum(axis=1),
            tilted.sum(axis=1),
            np.einsum("ij,ij->i", weights, squares),
            np.einsum("ij,ij->i", tilted, squares),
        )
        values[narrow] = sum(f * p for f, p in zip(softplus_series(centre), powers, strict=False))
    return values


_LANES = 15360
"""Trials per step: temporaries stay in cache, and below the 128 KiB from which some processes request new memory from
the system every time.
"""


_FEW = 256
"""Number of trials up to which Python's exact sum is faster than setting up numpy lanes."""


@dataclass(frozen=True, slots=True)
class MeanCost:
    """Sum of a cost over trials of one class: ``high + low`` is the sum, ``weight`` the number of trials.

    ``a + b`` merges the sums of two sets of trials. Costs are never negative, so that a sum is never NaN. One infinite
    cost, or a sum beyond the largest float, makes it infinite.
    """

    high: float
    low: float
    weight: float

    @classmethod
    def of(
        cls, scores: ScoreArray, cost: Callable[[FloatArray], FloatArray], weights: CountArray | None = None
    ) -> Self:
        """Sum ``cost`` over ``scores``, weighted, in constant memory.

        Parameters
        ----------
        scores : (n,) array
        cost : function
            Maps an array of scores to numbers that have the same sum as their costs, each cost in [0, inf]. With
            weights, it returns one number for each score; without weights, at most two for each score.
        weights : (n,) array, optional
            Finite and positive; default 1.
        """
        weight = len(scores) if weights is None else _weight(weights)
        with np.errstate(over="ignore", invalid="ignore"):
            if 0 < len(scores) <= _FEW:
                values = cost(scores.astype(np.float64, copy=False))
                return cls(*_sum(values if weights is None else values * weights), weight)
            high, low = np.zeros((2, (1 if weights is not None else 2) * min(len(scores), _LANES)))
            used = 0
            for first in range(0, len(scores), _LANES):
                values = cost(scores[first : first + _LANES].astype(np.float64, copy=False))
                if weights is not None:
                    values = values * weights[first : first + _LANES]
                n = len(values)
                high[:n], error = two_sum(high[:n], values)
                low[:n] += error
                used = max(used, n)
            return cls(*_total(high[:used], low[:used]), weight)

    def __add__(self, other: MeanCost) -> MeanCost:
        """Merge with the sum of other trials."""
        high, low = np.array([self.high, other.high]), np.array([self.low, other.low])
        return MeanCost(*_total(high, low), self.weight + other.weight)

    @property
    def value(self) -> float:
        """Mean cost per trial (per unit of weight)."""
        return (self.high + self.low) / self.weight


@dataclass(frozen=True, slots=True)
class ClassCosts(Additive):
    """Sums of costs of both classes; ``a + b`` merges two sets of trials."""

    of_class: tuple[MeanCost, ...]


def _weight(weights: CountArray) -> float:
    if weights.dtype == np.int64:
        return float(weights.sum())
    total = MeanCost.of(weights, lambda values: values)  # as exact as math.fsum, but many times faster
    return total.high + total.low


def two_sum(a: FloatArray, b: FloatArray) -> FloatPair:
    """Return rounded sums and their exact rounding errors."""
    total = a + b
    taken = total - a
    error = total - taken
    np.subtract(a, error, out=error)
    error += b - taken
    return total, error


def _total(high: FloatArray, low: FloatArray) -> tuple[float, float]:
    """Return the sum of all lanes as the nearest float and the remainder."""
    if not np.isfinite(high).all():
        return math.inf, 0.0
    while len(high) > 64:
        half = -(-len(high) // 2)
        rest = len(high) - half
        high[:rest], error = two_sum(high[:rest], high[half:])
        low[:rest] += low[half:]
        low[:rest] += error
        high, low = high[:half], low[:half]
    return _sum(np.concatenate((high, low)))


def _sum(terms: FloatArray) -> tuple[float, float]:
    """Return the sum of few numbers, none of them -inf, as the nearest float and the remainder."""
    items = terms.tolist()
    try:
        total = math.fsum(items)
    except OverflowError:
        return math.inf, 0.0
    return (total, math.fsum((*items, -total))) if math.isfinite(total) else (math.inf, 0.0)


@dataclass(frozen=True, slots=True)
class ErrorCounts:
    """Misses and false alarms at fixed thresholds; ``a + b`` merges two sets of trials."""

    thresholds: FloatArray
    n_miss: CountArray
    n_fa: CountArray
    n_tar: int | float
    n_non: int | float

    @classmethod
    def of(cls, tar: SortedClass | UnsortedClass, non: SortedClass | UnsortedClass, thresholds: FloatArray) -> Self:
        """Count in both classes; a score equal to a threshold is accepted."""
        return cls(thresholds, tar.below(thresholds), non.at_or_above(thresholds), tar.total, non.total)

    def __add__(self, other: ErrorCounts) -> ErrorCounts:
        """Merge with the counts of other trials at the same thresholds."""
        if not np.array_equal(self.thresholds, other.thresholds):
            raise ValueError("error counts merge only at the same thresholds")
        names = ("n_miss", "n_fa", "n_tar", "n_non")
        return replace(self, **{name: getattr(self, name) + getattr(other, name) for name in names})

    @property
    def p_miss(self) -> FloatArray:
        """Miss rate at each threshold, a fraction."""
        return self.n_miss / self.n_tar

    @property
    def p_fa(self) -> FloatArray:
        """False-alarm rate at each threshold, a fraction."""
        return self.n_fa / self.n_non


_MANY = 256
"""Number of scores above which products, or a series for neighbours, are faster."""


_LONGEST_PRODUCT = 8192
"""Longest product that BLAS computes in one thread; our threads are busy already."""


_TINY = float(np.finfo(np.float64).tiny)


_IN_CACHE = 1 << 14
"""Numbers in a block of trials and priors."""


WeightedScores: TypeAlias = tuple[ScoreArray, CountArray | None]


def cross_entropy(tar: WeightedScores, non: WeightedScores, log_odds: float) -> float:
    """Return the prior-weighted cross-entropy in nats (thesis 7.40); infinite if the cost of a trial is infinite."""
    return mixed(log_cost(tar, -log_odds, sign=-1), log_cost(non, log_odds, sign=1), log_odds)


def log_costs(tar: WeightedScores, non: WeightedScores, log_odds: float) -> tuple[MeanCost, MeanCost]:
    """Return logarithmic costs of both classes in nats at prior log odds."""
    return log_cost(tar, -log_odds, sign=-1), log_cost(non, log_odds, sign=1)


def quadratic_costs(tar: WeightedScores, non: WeightedScores, log_odds: float) -> tuple[MeanCost, MeanCost]:
    """Return Brier costs of both classes at prior log odds: ``(1 - q)^2`` and ``q^2``."""
    return (
        MeanCost.of(tar[0], lambda s: np.square(expit(-(s + log_odds))), tar[1]),
        MeanCost.of(non[0], lambda s: np.square(expit(s + log_odds)), non[1]),
    )


def mixed(cost_tar: MeanCost, cost_non: MeanCost, log_odds: float) -> float:
    """Return the prior-weighted mean of the costs of both classes."""
    return _weighted(log_odds, cost_tar.value) + _weighted(-log_odds, cost_non.value)


def cross_entropy_curve(tar: WeightedScores, non: WeightedScores, log_odds: FloatArray) -> FloatArray:
    """Return `cross_entropy` at many priors for few trials: plain sums, accurate to some ulps, for plots.

    Parameters
    ----------
    tar, non : (scores, weights)
        Weights are positive.
    log_odds : (n_priors,) array
    """
    return expit(log_odds) * _mean_curve(tar, -log_odds, -1.0) + expit(-log_odds) * _mean_curve(non, log_odds, 1.0)


def _mean_curve(trials: WeightedScores, shifts: FloatArray, sign: float) -> FloatArray:
    """Return the mean of ``ln(1 + exp(sign * score + shift))`` for every shift."""
    scores, weights = sign * trials[0].astype(np.float64), trials[1]
    totals, step = np.zeros(len(shifts)), max(_IN_CACHE // len(shifts), 1)
    for first in range(0, len(scores), step):
        some = slice(first, first + step)
        costs = softplus(scores[some] + shifts[:, None])
        totals += costs.sum(axis=1) if weights is None else costs @ weights[some]
    return totals / (len(scores) if weights is None else weights.sum())


def normalized_cross_entropy(tar: WeightedScores, non: WeightedScores, log_odds: float) -> float:
    """Return cross-entropy divided by the prior entropy; accurate even if both underflow."""
    # After division by the smaller prior, the class with the larger prior has weight exp(|log odds|).
    if log_odds < 0:
        likely, rare, sign = non, tar, -1
    else:
        likely, rare, sign = tar, non, 1
    size = abs(log_odds)

    def scaled(scores: FloatArray) -> FloatArray:
        return _scaled_softplus(sign * scores, size)

    cost = MeanCost.of(likely[0], scaled, likely[1]).value + log_cost(rare, size, sign=sign).value
    return cost / float(_scaled_softplus(np.zeros(1), size)[0] + softplus(np.array([size]))[0])


def log_cost(trials: WeightedScores, shift: float, *, sign: int) -> MeanCost:
    """Return the sum of ``ln(1 + exp(sign * score + shift))`` in nats; sums of two sets of trials can be added."""
    scores, weights = trials
    function = softplus if weights is not None or len(scores) < _MANY else _softplus_parts

    def cost(values: FloatArray) -> FloatArray:
        x = values if sign > 0 else -values
        return function(x + shift if shift else x)

    return MeanCost.of(scores, cost, weights)


def log_cost_of_counts(scores: ScoreArray, counts: CountArray, *, sign: int) -> MeanCost:
    """Return the sum of ``ln(1 + exp(sign * score))`` from distinct scores and their counts.

    Parameters
    ----------
    scores : (n,) array
        Ascending, so that neighbours share exponentials.
    counts : (n,) int64 array
        Trials with each score.
    sign : int
    """
    upto = len(scores) // GROUP * GROUP
    totals = np.empty(upto // GROUP)
    for first in range(0, upto, _LANES):
        some = slice(first, min(first + _LANES, upto))
        x = np.multiply(scores[some], float(sign), dtype=np.float64).reshape(-1, GROUP)
        groups = slice(first // GROUP, some.stop // GROUP)
        totals[groups] = softplus_of_groups(x, counts[some].astype(np.float64).reshape(-1, GROUP))
    result = replace(MeanCost.of(totals, lambda values: values), weight=float(counts[:upto].sum()))
    return result + log_cost((scores[upto:], counts[upto:]), 0.0, sign=sign)


def _weighted(log_odds: float, cost: float) -> float:
    """Return a cost times the prior of its class; the prior may underflow if the product does not.

    Prior log odds are finite, so that the prior is never 0, and an infinite cost stays infinite.
    """
    if math.isinf(cost):
        return cost
    prior = float(expit(log_odds))
    if prior >= _TINY:
        return prior * cost
    root = math.exp(0.5 * log_odds)  # of the odds, which equal the prior here
    return root * cost * root


def _softplus_parts(x: FloatArray) -> FloatArray:
    """Return fewer numbers with the same sum as ``softplus(x)``: one logarithm for up to 16 trials.

    ``sum ln(1 + u)`` is the logarithm of one product. Stored as product - 1, small ``u`` lose no digits. Each step
    halves the array.
    """
    if len(x) < _MANY:
        return softplus(x)
    low, high = x.min(), x.max()
    if high - low <= NARROW:
        parts = range(0, len(x), _LONGEST_PRODUCT)
        centre = low + (high - low) / 2
        return np.concatenate([softplus_of_neighbours(x[at : at + _LONGEST_PRODUCT], centre) for at in parts])
    product = np.abs(x)
    np.negative(product, out=product)
    np.exp(product, out=product)
    for _ in range(4):
        half = len(product) // 2
        if half == 0:
            break
        left, right = product[:half], product[half : 2 * half]
        joined = left * right
        joined += left
        joined += right
        product = np.append(joined, product[-1]) if len(product) % 2 else joined
    np.log1p(product, out=product)
    return np.concatenate((product, *_fewer(np.maximum(x, 0.0)))) if high > 0 else product


def _fewer(costs: FloatArray) -> FloatPair:
    """Return a sixteenth as many numbers with the same sum, up to one rounding each, and the remaining numbers."""
    n = len(costs) // 16
    return costs[: 16 * n].reshape(16, n).sum(axis=0), costs[16 * n :]


def _scaled_softplus(scores: FloatArray, shift: float) -> FloatArray:
    """Return ``exp(shift) * ln(1 + exp(-(scores + shift)))`` for ``shift >= 0``, without intermediate overflow."""
    z = scores + shift
    with np.errstate(over="ignore"):
        u = np.exp(-np.maximum(z, 0.0))
        ratio = np.divide(np.log1p(u), u, out=np.ones_like(u), where=u > 0)
        return np.where(
            z > 0, np.exp(-np.maximum(scores, -shift)) * ratio, np.exp(shift) * softplus(np.maximum(-z, 0.0))
        )


_DEPTH = 40.0
"""Integrands are evaluated down to exp(-40) of their height."""

_AGREEMENT = 1e-7
"""Largest relative difference of two sums with steps h and h/2; the better one is then accurate to about 1e-13."""

_MOST_HALVINGS = 8

_LARGEST = 700.0
"""Limit of exponents: beyond it, their factor is 0 or negligible."""

_CELLS = 1 << 15
"""Numbers per step: every temporary stays in cache."""


def dirichlet_cost(log_ratio: FloatArray, own: float, others: FloatArray, scale: float) -> FloatArray:
    """Return the cost of each trial of one class.

    Parameters
    ----------
    log_ratio : (n_classes - 1, n_trials) array
        ``ln(q_j / q_i)`` of the other classes; -inf for excluded classes, +inf if class ``i`` itself is excluded.
    own : float
        ``a_i`` of the class, from 0.05 to 100.
    others : (n_classes - 1,) array
        ``a_j`` of the other classes; each plus ``own`` is at least 1.1.
    scale : float
        ``(A - 1) / (N - 1)`` of all classes, including classes that are not in ``others``.

    Returns
    -------
    (n_trials,) array
        Relative error below 1e-12 (larger for costs below 1e-200). At ``q_i = 0``, the limit: ``scale / (own - 1)`` if
        ``own > 1``, else ``inf``. Costs beyond float64 are ``inf``.
    """
    nearest = log_ratio.max(axis=0)
    cost = np.zeros(log_ratio.shape[1])
    lost = nearest == np.inf
    cost[lost] = 1.0 / (own - 1.0) if own > 1.0 else np.inf
    rest = np.flatnonzero(~lost & (nearest > -np.inf))
    if len(rest):
        ratio = log_ratio[:, rest]
        if np.all(others == 1.0):
            with np.errstate(under="ignore"):
                others_together = nearest[rest] + np.log(np.exp(ratio - nearest[rest]).sum(axis=0))
            cost[rest] = _power_cost(others_together, own)
        else:
            cost[rest] = _integrals(ratio, own, others)
    with np.errstate(over="ignore"):
        cost *= scale
    return cost


def _power_cost(x: FloatArray, own: float) -> FloatArray:
    """Return ``(1 - q^(own - 1)) / (own - 1)`` for ``q = sigma(-x)``: the integral for one rival of ``a = 1``."""
    surprise = softplus(x)
    if own == 1.0:
        return surprise
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.expm1((1.0 - own) * surprise) / (1.0 - own))


def _integrals(log_ratio: FloatArray, own: float, others: FloatArray) -> FloatArray:
    """Return the integral of the module's docstring for each trial."""
    rise = (log_ratio - np.log(np.maximum(others, 1.0))[:, None]).max(axis=0)
    shift = np.maximum(rise, 0.0)
    # If F is near 1 from exp(-shift) on, which may be far, subtract the F of a rival with a = 1 and add its known
    # integral. A factor exp(max(1 - own, 0) shift), which may be beyond float64, is applied at the end.
    with np.errstate(over="ignore", under="ignore"):
        values = np.where(rise > 0.0, _scaled_power_cost(shift, own), 0.0)
        # The remaining integral; halve the step until two sums agree, relative to the whole integral
        left = -np.log(_DEPTH / min(own - 1.0 + others.min(), own, 1.0))
        largest = own + others.max()  # if class i is almost certain, the integrand is g ~ Gamma(a_i + a_j)
        right = np.log(largest + 10.0 * np.sqrt(largest) + _DEPTH)
        step = min(0.5, 2.0 / np.sqrt(max(own, others.max())))
        remainder: FloatArray = _sums(log_ratio, shift, own, others, np.arange(left, right + step, step)) * step
        pending = np.arange(len(remainder))
        for _ in range(_MOST_HALVINGS):
            between = np.arange(left + 0.5 * step, right + step, step)
            before = remainder[pending]
            remainder[pending] += _sums(log_ratio[:, pending], shift[pending], own, others, between) * step
            remainder[pending] *= 0.5
            step *= 0.5
            change = np.abs(remainder[pending] - before)
            pending = pending[change > _AGREEMENT * np.abs(values[pending] + remainder[pending])]
            if len(pending) == 0:
                break
        return np.asarray(np.exp(max(1.0 - own, 0.0) * shift) * (values + remainder))


def _scaled_power_cost(x: FloatArray, own: float) -> FloatArray:
    """Return `_power_cost` times ``exp(-max(1 - own, 0) x)``, which is finite for all ``x >= 0``."""
    if own >= 1.0:
        return _power_cost(x, own)
    surprise, power = softplus(x), 1.0 - own
    return np.asarray(-np.exp(power * softplus(-x)) * np.expm1(-power * surprise) / power)


def _sums(log_ratio: FloatArray, shift: FloatArray, own: float, others: FloatArray, nodes: FloatArray) -> FloatArray:
    """Return for each trial the sum of the integrand over the nodes ``v``."""
    stretch = np.exp(-nodes)
    s = nodes - stretch
    log_jacobian = np.log1p(stretch) - special.gammaln(own)
    total = np.empty(len(shift))
    step = max(_CELLS // len(nodes), 1)
    with np.errstate(over="ignore", under="ignore"):
        for first in range(0, len(shift), step):
            part = slice(first, first + step)
            u = s - shift[part, None]
            hazard = np.zeros(u.shape)
            for row, shape in zip(log_ratio, others.tolist(), strict=True):
                hazard += _cumulative_hazard(np.exp(s + (row[part] - shift[part])[:, None]), shape)
            missed = -np.expm1(-hazard)
            missed += np.where(shift[part, None] > 0.0, np.expm1(-np.exp(s)), 0.0)
            power = (own - 1.0) * (s if own < 1.0 else u) + log_jacobian - np.exp(u)
            total[part] = (np.exp(np.minimum(power, _LARGEST)) * missed).sum(axis=1)
    return total


def _cumulative_hazard(x: FloatArray, shape: float) -> FloatArray:
    """Return ``-ln Q(shape, x)`` for a gamma variable; ``inf`` where ``Q`` underflows."""
    if shape == 1.0:
        return x
    below = special.gammainc(shape, x)
    hazard = -np.log1p(-np.minimum(below, 0.5))
    large = below > 0.5
    with np.errstate(divide="ignore"):
        hazard[large] = -np.log(special.gammaincc(shape, x[large]))
    return hazard
