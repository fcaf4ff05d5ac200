"""Costs of the beta family for any parameters, from a table of Taylor series (thesis 7.38).

In the notation of `deciban.core.rules.proper`, for non-targets, with ``p = sigma(z)`` and ``q = sigma(-z)``::

    dC/dz   = p^alpha q^(beta - 1) / B(alpha, beta)
    d2C/dz2 = dC/dz (alpha q - (beta - 1) p)

``C`` is the integral of its slope from minus infinity. The slope is never negative, so nothing cancels at any ``z``
and any parameters, whereas hypergeometric and incomplete beta functions lose digits around ``beta = 1`` and fail at
it. All Taylor coefficients of the slope follow from its value by recurrence; what is summed up is the constant term.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy import special

from deciban.types import FloatArray

EDGE = 40
"""Beyond +-40 nats a sigmoid is one exponential: what is left out is below 200 exp(-40) < 1e-15."""


_CHUNK = 8192
"""Values evaluated together: every temporary stays in cache."""


HUGE = 1e300
"""Stands for infinity where 0 * inf or inf - inf would be NaN; its products with parameters are finite."""


_TRUNCATION = 3e-13
"""The first term left out of the curvature, relative to the bound of the curvature, which is good to 1e-12.

Of slopes and costs less than a hundredth of this is left out: they are good to 2e-14 within the table.
"""


@lru_cache(maxsize=64)
def log_beta(alpha: float, beta: float) -> float:
    """Return the log of the beta function to about 1e-14; within the range of the family it is down to -138."""
    # By Gamma(x + 1) = x Gamma(x) from parameters in (0, 1]: at 100 scipy's own value is off by 1e-13.
    small_alpha, small_beta = alpha % 1.0 or 1.0, beta % 1.0 or 1.0
    value = float(special.beta(small_alpha, small_beta))
    for parameter, other in ((alpha, beta), (beta, small_alpha)):
        steps = parameter - np.arange(1.0, np.ceil(parameter))
        value *= float(np.prod(steps / (steps + other)))
    return math.log(value)


@dataclass(frozen=True, slots=True, eq=False)
class CostTable:
    """Taylor series of ``C(z | non; alpha, beta)`` around equally spaced centres on [-EDGE, EDGE].

    Attributes
    ----------
    alpha, beta : float
        Parameters of the rule.
    per_unit : float
        Centres per nat, a power of two: multiples of the spacing are exact.
    series : (n_terms, 2 * EDGE * per_unit + 1) array
        Coefficients of the powers of ``z - centre``, a column for each centre.
    """

    alpha: float
    beta: float
    per_unit: float
    series: FloatArray

    def cost(self, z: FloatArray) -> FloatArray:
        """Return the cost at ``z``, of any shape; infinite ``z`` allowed."""
        return self.piecewise(np.ravel(z).astype(np.float64, copy=False), 0, 0).reshape(np.shape(z))

    def piecewise(self, z: FloatArray, first: int, last: int) -> FloatArray:
        """Return derivatives of order ``first`` to ``last``, (n_orders, n), in the type of ``z`` (n,).

        Values beyond that type are ``inf`` or 0.
        """
        terms = np.empty((1 + last - first, len(z)), z.dtype)
        with np.errstate(over="ignore", under="ignore"):
            for i in range(0, len(z), _CHUNK):
                values = self.derivatives(z[i : i + _CHUNK].astype(np.float64, copy=False), last)
                for term, value in zip(terms, values[first:], strict=True):
                    term[i : i + _CHUNK] = value
        return terms

    def derivatives(self, z: FloatArray, order: int) -> list[FloatArray]:
        """Return cost, slope and curvature, or the first ``order + 1`` of them, as new arrays.

        ``z`` is of shape (n,); time per value is best for some thousands. Beyond float64 values are ``inf`` or 0.
        """
        with np.errstate(over="ignore", under="ignore"):
            if len(z) == 0 or (z.max() <= EDGE and z.min() >= -EDGE):
                return self._inside(z, order)
            values = self._inside(np.clip(z, -EDGE, EDGE), order)
            for side, outside in ((z < -EDGE, self._left), (z > EDGE, self._right)):
                where = np.flatnonzero(side)
                for value, beyond in zip(values, outside(z[where]), strict=False):
                    value[where] = beyond
        return values

    def _inside(self, z: FloatArray, order: int) -> list[FloatArray]:
        """Sum the series of the nearest centre and, by Horner's rule on all at once, its derivatives."""
        panel = z * self.per_unit
        np.rint(panel, out=panel)
        d = panel * (-1.0 / self.per_unit)
        d += z  # exact
        panel += EDGE * self.per_unit
        index = panel.astype(np.intp)
        coefficient = panel  # its memory is free now
        sums = [self.series[-1].take(index)]
        for column in self.series[-2::-1]:
            # A derivative starts as what the one before it was: 0 * d + sums[-1].
            started = [sums[-1].copy()] if len(sums) <= order else []
            for k in range(len(sums) - 1, 0, -1):
                sums[k] *= d
                sums[k] += sums[k - 1]
            column.take(index, out=coefficient, mode="clip")  # any mode but "raise" writes without a buffer
            sums[0] *= d
            sums[0] += coefficient
            sums += started
        if order == 2:
            sums[2] *= 2.0  # Horner's rule gives derivatives divided by factorials
        return sums

    def _left(self, z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return cost, slope and curvature left of the table, where all fall as ``exp(alpha z)``."""
        slope = np.exp(self.alpha * z - log_beta(self.alpha, self.beta))
        return slope / self.alpha, slope, slope * self.alpha

    def _right(self, z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the same right of it, where the slope is ``exp(-c z) / B``."""
        c, log_b = self.beta - 1.0, log_beta(self.alpha, self.beta)
        # What is added to the cost grows forever if c < 0, to a limit if c > 0.
        more = z - EDGE
        added = more if c == 0.0 else -np.expm1(-c * more) / c
        cost = self.series[0, -1] + np.exp(-c * EDGE - log_b) * added
        slope = np.exp(-c * np.minimum(z, HUGE) - log_b)
        return cost, slope, slope * (self.alpha * np.exp(-z) - c)


@lru_cache(maxsize=8)
def cost_table(alpha: float, beta: float) -> CostTable:
    """Return the table of a rule, ``alpha`` and ``beta`` from 0.05 to 100, at most 6 MB.

    Both the number of centres and that of terms grow with the parameters, from 64 per nat and 7.
    """
    steepest = max(alpha, abs(beta - 1.0), 1.0)  # bounds the derivative of log slope, and those of the sigmoid
    per_unit = 2.0 ** math.ceil(math.log2(64.0 * math.sqrt(steepest)))
    reach = 0.5 * steepest / per_unit
    n_terms = 7
    while reach ** (n_terms - 2) / math.factorial(n_terms - 2) > _TRUNCATION:
        n_terms += 1
    centres = np.arange(-EDGE * per_unit, EDGE * per_unit + 1.0) / per_unit
    series = np.empty((n_terms, len(centres)))
    with np.errstate(under="ignore"):
        for k, coefficient in enumerate(_slope_series(centres, alpha, beta, n_terms - 1), start=1):
            np.divide(coefficient, k, out=series[k])
        series[0] = _sums_of_panels(series[1:], 0.5 / per_unit, first=series[1, 0] / alpha)
    series.flags.writeable = False
    return CostTable(alpha, beta, per_unit, series)


def _slope_series(z: FloatArray, alpha: float, beta: float, n_terms: int) -> list[FloatArray]:
    """Return the Taylor coefficients of the slope around each ``z``.

    Series obey the same differential equations as functions: ``slope' = slope * growth``, ``growth' = -(alpha + beta
    - 1) pq``, ``(pq)' = pq * tilt`` and ``tilt' = -2 pq``, where ``tilt = q - p``.
    """
    p, q = special.expit(z), special.expit(-z)
    slope = [_slope_at_centres(z, alpha, beta)]
    growth, pq, tilt = [alpha * q - (beta - 1.0) * p], [p * q], [q - p]
    for k in range(1, n_terms):
        slope.append(_last_of_product(slope, growth) / k)
        growth.append((1.0 - alpha - beta) / k * pq[-1])
        pq.append(_last_of_product(pq, tilt) / k)
        tilt.append(-2.0 / k * pq[-2])
    return slope


def _slope_at_centres(z: FloatArray, alpha: float, beta: float) -> FloatArray:
    """Return the slope free of the rounding of its exponent, which is 1e-13 of it where the exponent is -700."""
    # Centres have at most 16 bits, so 24 bits of the rate times a centre are exact.
    rate = np.where(z < 0.0, alpha, 1.0 - beta)
    coarse = rate.astype(np.float32).astype(np.float64)
    exact = coarse * z
    rest = (rate - coarse) * z - (alpha + beta - 1.0) * np.log1p(np.exp(-np.abs(z))) - log_beta(alpha, beta)
    exponent = exact + rest
    slope: FloatArray = np.exp(exponent)
    slope += slope * (rest - (exponent - exact))  # what the sum has rounded away
    return slope


def _last_of_product(a: list[FloatArray], b: list[FloatArray]) -> FloatArray:
    """Return the highest coefficient of the product of two series that both factors determine."""
    last = a[0] * b[-1]
    for left, right in zip(a[1:], b[-2::-1], strict=True):
        last += left * right
    return last


def _sums_of_panels(powers: FloatArray, half: float, first: float) -> FloatArray:
    """Return the costs at the centres: what lies before the first, plus the integrals from centre to centre.

    Each integral is made of two halves, from the series at its two ends: costs are continuous between centres.
    """
    h = half ** np.arange(1, len(powers) + 1)
    signs = (-1.0) ** np.arange(len(powers))
    steps = np.concatenate(([first], h @ powers[:, :-1] + (signs * h) @ powers[:, 1:]))
    cost = np.cumsum(steps)
    # What each addition rounded away, exactly (Dekker 1971): thousands of equal steps all round the same way.
    cost[1:] += np.cumsum(steps[1:] - np.diff(cost))
    return cost


class Terms(NamedTuple):
    """Cost, slope and curvature of each trial; ``cost = linear - log(factor)``, or ``linear`` without factor."""

    linear: FloatArray
    factor: FloatArray | None
    """From 1/2 to 1. Left unlogged because a sum of many logarithms is one logarithm of a few products."""
    slope: FloatArray
    curvature: FloatArray | None
    """None if only one derivative was asked for, which is cheaper."""


Kernel = Callable[[FloatArray, int], Terms]
"""Terms of log odds, with one derivative or two."""


def kernel(alpha: float, beta: float) -> Kernel:
    """Return the function that evaluates ``C(z | non; alpha, beta)``, its slope and, if wanted, its curvature.

    Parameters
    ----------
    alpha, beta : float
        Parameters of the rule, from 0.05 to 100 (not checked here).

    Returns
    -------
    function of an (n,) array and the order of the last derivative, 1 or 2
        ``z`` is the posterior log odds in nats, infinite ones included, not NaN. Its arrays are new and belong to
        the caller. Where a slope leaves float64, it and the curvature are ``inf``.

    Examples
    --------
    >>> import numpy as np
    >>> linear, factor, slope, curvature = kernel(1.0, 1.0)(np.array([0.0, np.inf]), 2)
    >>> linear - np.log(factor), slope, curvature
    (array([0.69314718,        inf]), array([0.5, 1. ]), array([0.25, 0.  ]))
    """
    return _CLOSED_FORMS.get((alpha, beta)) or _general(alpha, beta)


def slope_kernel(alpha: float, beta: float) -> Callable[[FloatArray], FloatArray]:
    """Return the function that evaluates only the slope of ``C(z | non; alpha, beta)``, which may cost less.

    Examples
    --------
    >>> import numpy as np
    >>> slope_kernel(1.0, 1.0)(np.array([0.0, np.inf]))
    array([0.5, 1. ])
    """
    if (alpha, beta) == (1.0, 1.0):
        return _sigmoid
    if (alpha, beta) in _CLOSED_FORMS:
        return lambda z: _CLOSED_FORMS[alpha, beta](z, 1).slope
    table = cost_table(alpha, beta)
    return lambda z: table.piecewise(z, 1, 1)[0]


@np.errstate(over="ignore", under="ignore", invalid="ignore")
def _sigmoid(z: FloatArray) -> FloatArray:
    odds = np.exp(z)
    odds /= odds + 1.0
    return np.fmin(odds, 1.0, out=odds)  # where infinite odds divided by themselves are NaN


_quiet = np.errstate(over="ignore", under="ignore")


def _odds_below_one(z: FloatArray) -> FloatArray:
    """Return ``exp(-|z|)``, the only exponential that a kernel needs."""
    u = np.abs(z)
    np.negative(u, out=u)
    np.exp(u, out=u)
    return u


def _sigmoids(z: FloatArray, u: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return ``sigma(z)`` and ``sigma(-z)``, both to a few ulps however small, and overwrite ``u = exp(-|z|)``."""
    large = u + 1.0
    np.divide(1.0, large, out=large)
    u *= large
    negative = z < 0
    return np.where(negative, u, large), np.where(negative, large, u)


@np.errstate(over="ignore", under="ignore", invalid="ignore")
def _logarithmic(z: FloatArray, order: int) -> Terms:
    odds = np.exp(z)
    q = odds + 1.0
    np.divide(1.0, q, out=q)
    p = odds
    p *= q
    np.fmin(p, 1.0, out=p)  # where infinite odds times 0 are NaN
    factor = np.maximum(p, q)
    return Terms(np.maximum(z, 0.0), factor, p, np.multiply(p, q, out=q) if order == 2 else None)


@_quiet
def _brier(z: FloatArray, order: int) -> Terms:
    p, q = _sigmoids(z, _odds_below_one(z))
    cost = p * p
    cost *= 3.0
    slope = cost * q
    slope *= 2.0
    if order == 1:
        return Terms(cost, None, slope, None)
    q *= 2.0
    q -= p
    q *= slope
    return Terms(cost, None, slope, q)


@_quiet
def _boosting(z: FloatArray, order: int) -> Terms:
    cost = np.exp(0.5 * z)
    cost *= 2.0 / np.pi
    return Terms(cost, None, 0.5 * cost, 0.25 * cost if order == 2 else None)


@_quiet
def _two_one(z: FloatArray, order: int) -> Terms:
    # -2 log q - 2 p cancels for negative z: its error is 1e-16 of 1, not of the cost.
    u = _odds_below_one(z)
    cost = np.log1p(u)
    p, q = _sigmoids(z, u)
    cost += np.maximum(z, 0.0)
    cost -= p
    cost *= 2.0
    p *= p
    p *= 2.0
    if order == 1:
        return Terms(cost, None, p, None)
    q *= p
    q *= 2.0
    return Terms(cost, None, p, q)


@_quiet
def _one_two(z: FloatArray, order: int) -> Terms:
    p, q = _sigmoids(z, _odds_below_one(z))
    p *= 2.0
    slope = p * q
    if order == 1:
        return Terms(p, None, slope, None)
    curvature = q
    curvature -= 0.5 * p
    curvature *= slope
    return Terms(p, None, slope, curvature)


def _general(alpha: float, beta: float) -> Kernel:
    table = cost_table(alpha, beta)

    def evaluate(z: FloatArray, order: int) -> Terms:
        cost, slope, *more = table.piecewise(z, 0, order)
        return Terms(cost, None, slope, *more or (None,))

    return evaluate


_CLOSED_FORMS: dict[tuple[float, float], Kernel] = {
    (1.0, 1.0): _logarithmic,
    (2.0, 2.0): _brier,
    (0.5, 0.5): _boosting,
    (2.0, 1.0): _two_one,
    (1.0, 2.0): _one_two,
}
