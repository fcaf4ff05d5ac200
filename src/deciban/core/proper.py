"""The beta family of binary proper scoring rules (thesis 7.38, Bruemmer & Doddington 2013 eq. 10-11).

With ``x = llr + prior log odds``, ``q = sigma(x) = 1 / (1 + exp(-x))`` and real ``alpha, beta > 0``::

    C(q | tar) = 1/B(alpha, beta) * integral from q to 1 of p^(alpha-2) (1-p)^(beta-1) dp
    C(q | non) = 1/B(alpha, beta) * integral from 0 to q of p^(alpha-1) (1-p)^(beta-2) dp

(1, 1) is the logarithmic rule in nats, (2, 2) three times the Brier rule, (1/2, 1/2) 2/pi times boosting.
Exchanging the classes exchanges signs and parameters, ``C(x | non; alpha, beta) = C(-x | tar; beta, alpha)``. So every
formula is needed for one class only: closed forms for targets, and the general rule, from a table of Taylor series,
for non-targets. Infinite ``x`` is allowed, NaN is not. Costs beyond the range of float64 are ``inf`` or 0, without
warnings. The range of ``alpha`` and ``beta`` is 0.05 to 100. The functions do not check their arguments and do not
raise.

The module also has expected costs by a rule, and shares and quantiles of its threshold weighting (Bruemmer &
Doddington 2013 eq. 10).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy import special
from scipy.special import expit

from deciban.core.expected import MeanCost, WeightedScores, log_costs, mixed, softplus
from deciban.types import FloatArray, FloatPair, Foreign, Tensor

EDGE = 40
"""Beyond +-40 nats, a sigmoid is one exponential, with an error below 200 exp(-40) < 1e-15."""


_BATCH = 8192
"""Values evaluated together: all temporaries stay in cache."""


HUGE = 1e300
"""Replaces infinity where 0 * inf or inf - inf would be NaN; its products with parameters are finite."""


_TRUNCATION = 3e-13
"""Limit of the first omitted term of the curvature, relative to the bound of the curvature (accurate to 1e-12).

For slopes and costs, the omitted terms are less than a hundredth of this: they are accurate to 2e-14 in the table.
"""


@lru_cache(maxsize=64)
def log_beta(alpha: float, beta: float) -> float:
    """Return the log of the beta function to about 1e-14; its lowest value in the range of the family is -138."""
    # Uses Gamma(x + 1) = x Gamma(x) from parameters in (0, 1]; at 100 scipy's own value has an error of 1e-13.
    small_alpha, small_beta = alpha % 1.0 or 1.0, beta % 1.0 or 1.0
    value = float(special.beta(small_alpha, small_beta))
    for parameter, other in ((alpha, beta), (beta, small_alpha)):
        steps = parameter - np.arange(1.0, np.ceil(parameter))
        value *= float(np.prod(steps / (steps + other)))
    return math.log(value)


@dataclass(frozen=True, slots=True, eq=False)
class CostSeries:
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

        Values beyond this type are ``inf`` or 0.
        """
        terms = np.empty((1 + last - first, len(z)), z.dtype)
        with np.errstate(over="ignore", under="ignore"):
            for i in range(0, len(z), _BATCH):
                values = self.derivatives(z[i : i + _BATCH].astype(np.float64, copy=False), last)
                for term, value in zip(terms, values[first:], strict=True):
                    term[i : i + _BATCH] = value
        return terms

    def derivatives(self, z: FloatArray, order: int) -> list[FloatArray]:
        """Return cost, slope and curvature, or the first ``order + 1`` of them, as new arrays.

        ``z`` has shape (n,); some thousands of values at a time are fastest. Values beyond float64 are ``inf`` or 0.
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
        """Sum the series of the nearest centre and, by a simultaneous Horner's rule, its derivatives."""
        panel = z * self.per_unit
        np.rint(panel, out=panel)
        d = panel * (-1.0 / self.per_unit)
        d += z  # exact
        panel += EDGE * self.per_unit
        index = panel.astype(np.intp)
        coefficient = panel  # its memory is free now
        sums = [self.series[-1].take(index)]
        for column in self.series[-2::-1]:
            # A derivative starts as the previous one: 0 * d + sums[-1].
            started = [sums[-1].copy()] if len(sums) <= order else []
            for k in range(len(sums) - 1, 0, -1):
                sums[k] *= d
                sums[k] += sums[k - 1]
            column.take(index, out=coefficient, mode="clip")  # all modes except "raise" write without a buffer
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
        """Return cost, slope and curvature right of the table, where the slope is ``exp(-c z) / B``."""
        c, log_b = self.beta - 1.0, log_beta(self.alpha, self.beta)
        # The increment of the cost grows forever if c < 0, and to a limit if c > 0.
        more = z - EDGE
        added = more if c == 0.0 else -np.expm1(-c * more) / c
        cost = self.series[0, -1] + np.exp(-c * EDGE - log_b) * added
        slope = np.exp(-c * np.minimum(z, HUGE) - log_b)
        return cost, slope, slope * (self.alpha * np.exp(-z) - c)


@lru_cache(maxsize=8)
def cost_table(alpha: float, beta: float) -> CostSeries:
    """Return the table of a rule, ``alpha`` and ``beta`` from 0.05 to 100, at most 6 MB.

    The number of centres grows with the parameters from 64 per nat, the number of terms from 7.
    """
    steepest = max(alpha, abs(beta - 1.0), 1.0)  # bounds the derivatives of the log slope and of the sigmoid
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
    return CostSeries(alpha, beta, per_unit, series)


def _slope_series(z: FloatArray, alpha: float, beta: float, n_terms: int) -> list[FloatArray]:
    """Return the Taylor coefficients of the slope around each ``z``.

    Series obey the same differential equations as functions: ``slope' = slope * growth``, ``growth' = -(alpha + beta -
    1) pq``, ``(pq)' = pq * tilt`` and ``tilt' = -2 pq``, where ``tilt = q - p``.
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
    """Return the slope without the rounding error of its exponent, which is 1e-13 of it at an exponent of -700."""
    # Centres have at most 16 bits, so that 24 bits of the rate times a centre are exact.
    rate = np.where(z < 0.0, alpha, 1.0 - beta)
    coarse = rate.astype(np.float32).astype(np.float64)
    exact = coarse * z
    rest = (rate - coarse) * z - (alpha + beta - 1.0) * np.log1p(np.exp(-np.abs(z))) - log_beta(alpha, beta)
    exponent = exact + rest
    slope: FloatArray = np.exp(exponent)
    slope += slope * (rest - (exponent - exact))  # rounding error of the sum
    return slope


def _last_of_product(a: list[FloatArray], b: list[FloatArray]) -> FloatArray:
    """Return the highest coefficient of the product of two series that both series determine."""
    last = a[0] * b[-1]
    for left, right in zip(a[1:], b[-2::-1], strict=True):
        last += left * right
    return last


def _sums_of_panels(powers: FloatArray, half: float, first: float) -> FloatArray:
    """Return the costs at the centres: the cost at the first, plus the integrals from centre to centre.

    Each integral has two halves, from the series at its two ends, so that costs are continuous between centres.
    """
    h = half ** np.arange(1, len(powers) + 1)
    signs = (-1.0) ** np.arange(len(powers))
    steps = np.concatenate(([first], h @ powers[:, :-1] + (signs * h) @ powers[:, 1:]))
    cost = np.cumsum(steps)
    # Exact rounding errors of each addition (Dekker 1971): thousands of equal steps all round the same way.
    cost[1:] += np.cumsum(steps[1:] - np.diff(cost))
    return cost


class Terms(NamedTuple):
    """Cost, slope and curvature of each trial; ``cost = linear - log(factor)``, or ``linear`` without factor."""

    linear: FloatArray
    factor: FloatArray | None
    """From 1/2 to 1. Its logarithm is left to the caller, because a sum of many logarithms is one logarithm of a
    product."""
    slope: FloatArray
    curvature: FloatArray | None
    """None if only one derivative was requested, which is cheaper."""


Kernel = Callable[[FloatArray, int], Terms]
"""Function that returns `Terms` at log odds, with one derivative or two."""


def kernel(alpha: float, beta: float) -> Kernel:
    """Return a function that evaluates ``C(z | non; alpha, beta)``, its slope and optionally its curvature.

    Parameters
    ----------
    alpha, beta : float
        Parameters of the rule, from 0.05 to 100 (not checked here).

    Returns
    -------
    function of an (n,) array and the order of the last derivative, 1 or 2
        ``z`` contains posterior log odds in nats; infinite values are allowed, NaN is not. Its arrays are new and may
        be overwritten. If a slope exceeds float64, slope and curvature are ``inf``.

    Examples
    --------
    >>> import numpy as np
    >>> linear, factor, slope, curvature = kernel(1.0, 1.0)(np.array([0.0, np.inf]), 2)
    >>> linear - np.log(factor), slope, curvature
    (array([0.69314718,        inf]), array([0.5, 1. ]), array([0.25, 0.  ]))
    """
    return _KERNELS.get((alpha, beta)) or _general_kernel(alpha, beta)


def slope_kernel(alpha: float, beta: float) -> Callable[[FloatArray], FloatArray]:
    """Return a function that evaluates only the slope of ``C(z | non; alpha, beta)``, possibly faster.

    Examples
    --------
    >>> import numpy as np
    >>> slope_kernel(1.0, 1.0)(np.array([0.0, np.inf]))
    array([0.5, 1. ])
    """
    if (alpha, beta) == (1.0, 1.0):
        return _sigmoid
    if (alpha, beta) in _KERNELS:
        return lambda z: _KERNELS[alpha, beta](z, 1).slope
    table = cost_table(alpha, beta)
    return lambda z: table.piecewise(z, 1, 1)[0]


@np.errstate(over="ignore", under="ignore", invalid="ignore")
def _sigmoid(z: FloatArray) -> FloatArray:
    odds = np.exp(z)
    odds /= odds + 1.0
    return np.fmin(odds, 1.0, out=odds)  # infinite odds divided by themselves are NaN


_quiet = np.errstate(over="ignore", under="ignore")


def _odds_below_one(z: FloatArray) -> FloatArray:
    """Return ``exp(-|z|)``, the only exponential that a kernel needs."""
    u = np.abs(z)
    np.negative(u, out=u)
    np.exp(u, out=u)
    return u


def _sigmoids(z: FloatArray, u: FloatArray) -> FloatPair:
    """Return ``sigma(z)`` and ``sigma(-z)``, both to a few ulps even if tiny; overwrite ``u = exp(-|z|)``."""
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
    np.fmin(p, 1.0, out=p)  # infinite odds times 0 are NaN
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
    # For negative z, -2 log q - 2 p cancels: its absolute error is 1e-16, not its relative error.
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


def _general_kernel(alpha: float, beta: float) -> Kernel:
    table = cost_table(alpha, beta)

    def evaluate(z: FloatArray, order: int) -> Terms:
        cost, slope, *more = table.piecewise(z, 0, order)
        return Terms(cost, None, slope, *more or (None,))

    return evaluate


_KERNELS: dict[tuple[float, float], Kernel] = {
    (1.0, 1.0): _logarithmic,
    (2.0, 2.0): _brier,
    (0.5, 0.5): _boosting,
    (2.0, 1.0): _two_one,
    (1.0, 2.0): _one_two,
}


NODES, NODE_WEIGHTS = (0.5 * v for v in np.polynomial.legendre.leggauss(8))
NODES = NODES + 0.5
"""Gauss-Legendre nodes on [0, 1]. Integrands change by at most exp(100/16) within a panel: 8 nodes give 1e-13."""


def beta_cost_tar(x: FloatArray, alpha: float, beta: float) -> FloatArray:
    """Return the cost ``C(q | tar)`` of a target trial under the beta rule (thesis 7.38).

    Parameters
    ----------
    x : array of any shape
        Log-likelihood-ratio plus prior log odds, in nats; ``q = sigma(x)``. May be infinite.
    alpha, beta : float
        Parameters of the rule, from 0.05 to 100 (not checked here).

    Returns
    -------
    array of the shape of ``x``
        Non-negative and decreasing in ``x``: 0 at ``+inf``. At ``-inf`` it is the limit ``(alpha + beta - 1) / (alpha
        - 1)`` if ``alpha > 1``, else ``inf``. Relative error below 2e-13, mostly from rounding of the exponents.

    Examples
    --------
    >>> import numpy as np
    >>> beta_cost_tar(np.array([-1.0, 0.0, np.inf]), 2.0, 2.0)
    array([1.60333994, 0.75      , 0.        ])
    """
    with np.errstate(over="ignore", under="ignore"):
        closed_form = _CLOSED_FORMS.get((alpha, beta))
        return cost_table(beta, alpha).cost(-x) if closed_form is None else closed_form(x)


def beta_cost_non(x: FloatArray, alpha: float, beta: float) -> FloatArray:
    """Return the cost ``C(q | non)`` of a non-target trial under the beta rule (thesis 7.38).

    Parameters and errors are the same as in `beta_cost_tar`. The cost increases with ``x``, from 0 at ``-inf`` to
    ``(alpha+beta-1) / (beta-1)`` (``inf`` if ``beta <= 1``) at ``+inf``.

    Examples
    --------
    >>> import numpy as np
    >>> beta_cost_non(np.array([-np.inf, 0.0, 1.0]), 2.0, 1.0)
    array([0.        , 0.38629436, 1.16440622])
    """
    return beta_cost_tar(-x, beta, alpha)


def weighted_cost_non(xp: Foreign, cost: Tensor, x: Tensor, alpha: float, beta: float, log_weight: float) -> Tensor:
    """Return ``exp(log_weight) * cost`` of non-targets; a factor may exceed float64 if the product does not.

    An infinite score keeps its infinite cost at any weight.

    Parameters
    ----------
    xp : module
        NumPy, or the array API namespace of the arrays.
    cost, x : arrays of one shape
        `beta_cost_non` of posterior log odds ``x``.
    alpha, beta : float
    log_weight : float
        At most 0.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([1000.0, np.inf])
    >>> weighted_cost_non(np, beta_cost_non(x, 0.5, 0.5), x, 0.5, 0.5, -500.0)
    array([0.63661977,        inf])
    """
    is_out, weight = xp.isinf(cost), float(np.exp(log_weight))
    product = xp.where(is_out, cost, weight * xp.where(is_out, xp.zeros_like(cost), cost))
    if beta >= 1:  # within float64 at finite scores
        return product
    with np.errstate(over="ignore", under="ignore"):
        exponent = (1.0 - beta) * x  # the integral is its upper end, (1-q)^(beta-1) / (1-beta), plus a constant
        tail = xp.exp(exponent + (log_weight - float(log_beta(alpha, beta)) - math.log(1.0 - beta)))
    return xp.where(is_out | ((exponent > 40.0) & (log_weight < -700.0)), tail, product)


def scoring_rule_cost(tar: WeightedScores, non: WeightedScores, log_odds: float, alpha: float, beta: float) -> float:
    """Return the expected cost by a beta-family rule at prior log odds (thesis 7.38)."""
    total = mixed(*scoring_rule_costs(tar, non, log_odds, alpha, beta), log_odds)
    if math.isfinite(total) or alpha == beta == 1:
        return total

    def weighted(trials: WeightedScores, sign: float, rule: tuple[float, float]) -> float:
        def cost(scores: FloatArray) -> FloatArray:
            x = sign * (scores + log_odds)
            return np.asarray(weighted_cost_non(np, beta_cost_non(x, *rule), x, *rule, log_weight))

        log_weight = -float(np.logaddexp(0.0, sign * log_odds))
        return MeanCost.of(trials[0], cost, trials[1]).value

    return weighted(tar, -1.0, (beta, alpha)) + weighted(non, 1.0, (alpha, beta))


def scoring_rule_costs(
    tar: WeightedScores, non: WeightedScores, log_odds: float, alpha: float, beta: float
) -> tuple[MeanCost, MeanCost]:
    """Return costs of both classes by a beta-family rule at prior log odds."""
    if alpha == beta == 1:
        return log_costs(tar, non, log_odds)
    return (
        MeanCost.of(tar[0], lambda s: beta_cost_tar(s + log_odds, alpha, beta), tar[1]),
        MeanCost.of(non[0], lambda s: beta_cost_non(s + log_odds, alpha, beta), non[1]),
    )


def threshold_density(t: FloatArray, alpha: float, beta: float, prior_log_odds: float) -> FloatArray:
    """Return the weight density of llr thresholds in a rule used at a prior (Bruemmer & Doddington 2013 eq. 10).

    ``Omega(t) = r(t) w(t + tau) / Z`` with ``tau`` the prior log odds, ``r(t) = (1 + e^(t+tau)) / ((1 + e^t) (1 +
    e^tau))`` (eq. 7), ``w(x) = sigma(x)^alpha sigma(-x)^beta / B(alpha, beta)`` (eq. 11), and ``Z`` such that the
    integral over ``t`` is 1.

    Parameters
    ----------
    t : array of any shape
        Thresholds on the log-likelihood-ratio, in nats. May be infinite.
    alpha, beta : float
        Parameters of the rule, from 0.05 to 100 (not checked here).
    prior_log_odds : float
        Finite, in nats. Time grows with its magnitude.

    Returns
    -------
    array of the shape of ``t``
        Density per nat; relative error below 1e-12.

    Examples
    --------
    >>> import numpy as np
    >>> threshold_density(np.array([0.0, np.inf]), 1.0, 1.0, 0.0)
    array([0.25, 0.  ])
    """
    return ThresholdMass(alpha, beta, prior_log_odds).density(t)


def _log_weight(x: FloatArray, a: float, b: float) -> FloatArray:
    """Return the log of ``sigma(x)^a sigma(-x)^b``, finite for infinite ``x``."""
    x = np.clip(x, -HUGE, HUGE)
    return a * np.minimum(x, 0.0) - b * np.maximum(x, 0.0) - (a + b) * np.log1p(np.exp(-np.abs(x)))


def log_less_linear(xp: Foreign, x: Tensor, direct: Tensor) -> Tensor:
    """Return ``-log(1 - p) - p`` for ``p = sigma(x)``, which is about ``p^2 / 2`` for small ``p``.

    The direct formula loses all digits there. With ``y = p / (2 - p)`` it is ``2 atanh(y) - 2 y / (1 + y)``, a sum of
    positive terms: ``2 y^2 / (1 + y) + 2 (y^3 / 3 + y^5 / 5 + ...)``.

    Parameters
    ----------
    xp : module
        NumPy, or the array API namespace of the arrays.
    x, direct : arrays of one shape
        Posterior log odds, and the result of the direct formula.

    Examples
    --------
    >>> x = np.array([-800.0, -20.0, 0.0])
    >>> log_less_linear(np, x, softplus(x) - expit(x)).round(25)
    array([0.00000000e+00, 2.12417710e-18, 1.93147181e-01])
    """
    z = xp.exp(xp.clip(x, max=-1.0))
    y = z / (z + 2.0)
    tail = xp.zeros_like(y)
    for k in range(19, 1, -2):  # y^2 < 0.0242: the omitted terms are below one ulp
        tail = tail * (y * y) + 1.0 / k
    return xp.where(x < -1.0, 2.0 * y * y * (1.0 / (1.0 + y) + y * tail), direct)


_CLOSED_FORMS: dict[tuple[float, float], Callable[[FloatArray], FloatArray]] = {
    (1.0, 1.0): lambda x: softplus(-x),
    (2.0, 2.0): lambda x: 3.0 * special.expit(-x) ** 2,
    (0.5, 0.5): lambda x: 2.0 / np.pi * np.exp(-0.5 * x),
    (2.0, 1.0): lambda x: 2.0 * special.expit(-x),
    (1.0, 2.0): lambda x: 2.0 * log_less_linear(np, -x, softplus(-x) - special.expit(-x)),
}


_TAIL = 40.0
"""Distance in nats beyond both bends (at ``t = 0`` and ``t = -tau``) where the density becomes one exponential."""

_PANEL = 1 / 16


class ThresholdMass:
    """Distribution of the weight of a beta-family objective over thresholds on log-likelihood ratios.

    Parameters
    ----------
    alpha, beta : float
        Parameters of the rule, from 0.05 to 100 (not checked here).
    log_odds : float
        Prior log odds of the objective in nats, at most a few hundred.

    Examples
    --------
    >>> logistic = ThresholdMass(1.0, 1.0, 0.0)
    >>> round(logistic.quantile(0.95), 12), round(logistic.below(0.0), 12)
    (2.944438979166, 0.5)
    """

    @np.errstate(under="ignore")
    def __init__(self, alpha: float, beta: float, log_odds: float) -> None:
        self.alpha, self.beta, self.log_odds = alpha, beta, log_odds
        first, last = min(0.0, -log_odds) - _TAIL, max(0.0, -log_odds) + _TAIL
        steps = np.arange(int(np.ceil((last - first) / _PANEL)) + 1, dtype=np.float64)
        self._edges: FloatArray = first + _PANEL * steps
        self._log_total = 0.0
        self._log_total = float(self._log_density(self._edges).max())  # near the peak, to avoid underflow
        panels = self.density(self._edges[:-1, None] + _PANEL * NODES) @ NODE_WEIGHTS * _PANEL
        below, above = (float(end) for end in self.density(self._edges[[0, -1]]))
        below_edge = below / alpha + np.concatenate(([0.0], np.cumsum(panels)))
        total = float(below_edge[-1]) + above / beta
        self._log_total += np.log(total)
        self._below_edge = below_edge / total
        self._tails = below / alpha / total, above / beta / total

    def _log_density(self, t: FloatArray) -> FloatArray:
        """Return the log density without the factors that ``Z`` cancels; 1 + e^x takes one from the exponent beta."""
        return _log_weight(t + self.log_odds, self.alpha, self.beta - 1.0) - softplus(t) - self._log_total

    def density(self, t: FloatArray) -> FloatArray:
        """Return the density per nat at thresholds ``t``."""
        with np.errstate(under="ignore"):
            return np.exp(self._log_density(t))

    def below(self, t: float) -> float:
        """Return the share of the weight on thresholds below ``t``."""
        first, last = self._edges[[0, -1]]
        if t <= first:
            return float(self._tails[0] * np.exp(self.alpha * (t - first)))
        if t >= last:
            return float(1.0 - self._tails[1] * np.exp(-self.beta * (t - last)))
        panel = int((t - first) / _PANEL)
        start = self._edges[panel]
        return float(self._below_edge[panel] + (t - start) * (self.density(start + (t - start) * NODES) @ NODE_WEIGHTS))

    def quantile(self, share: float) -> float:
        """Return the threshold below which the weight has this share, inside (0, 1)."""
        below, above = self._tails
        if share <= below:
            return float(self._edges[0] + np.log(share / below) / self.alpha)
        if 1.0 - share <= above:
            return float(self._edges[-1] - np.log((1.0 - share) / above) / self.beta)
        # Sums of neighbouring panels differ from `below` by rounding, so one more panel is included on both sides.
        panel = int(np.searchsorted(self._below_edge, share))
        low, high = self._edges[max(panel - 2, 0)], self._edges[min(panel + 1, len(self._edges) - 1)]
        return _zero(lambda t: self.below(t) - share, low, high)

    def mode(self) -> float:
        """Return the threshold of greatest density, which is unique, because the density rises and then falls."""
        # Zero of the derivative of the log density.
        first, last = self._edges[[0, -1]]

        def slope(t: float) -> float:
            return float(self.alpha - (self.alpha + self.beta - 1.0) * expit(t + self.log_odds) - expit(t))

        return _zero(slope, first, last)

    def outline(self, n: int) -> FloatArray:
        """Return thresholds for drawing the density: dense near the peak, over its visible range."""
        level = 1e-5 * float(self.density(np.array([self.mode()]))[0])
        ends = self.density(self._edges[[0, -1]])
        start = self._edges[0] - np.log(ends[0] / level) / self.alpha if ends[0] > level else self.quantile(1e-5)
        end = self._edges[-1] + np.log(ends[1] / level) / self.beta if ends[1] > level else self.quantile(1.0 - 1e-5)
        shares = np.interp(np.linspace(1e-4, 1.0 - 1e-4, n), self._below_edge, self._edges)
        return np.union1d(np.linspace(start, end, n), shares)


def _zero(function: Callable[[float], float], low: float, high: float) -> float:
    from scipy.optimize import brentq  # its import takes as long as a whole small evaluation

    return float(brentq(function, low, high, xtol=1e-13))
