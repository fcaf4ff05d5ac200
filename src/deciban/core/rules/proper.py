"""The beta family of binary proper scoring rules (thesis 7.38, Bruemmer & Doddington 2013 eq. 10-11).

With ``x = llr + prior log odds``, ``q = sigma(x) = 1 / (1 + exp(-x))`` and real ``alpha, beta > 0``::

    C(q | tar) = 1/B(alpha, beta) * integral from q to 1 of p^(alpha-2) (1-p)^(beta-1) dp
    C(q | non) = 1/B(alpha, beta) * integral from 0 to q of p^(alpha-1) (1-p)^(beta-2) dp

(1, 1) is the logarithmic rule in nats, (2, 2) three times the Brier rule, (1/2, 1/2) 2/pi times boosting.
Exchanging the classes exchanges signs and parameters, ``C(x | non; alpha, beta) = C(-x | tar; beta, alpha)``:
every formula is needed for one class only, the closed forms here for targets, the general rule in `proper_table`
for non-targets. Infinite ``x`` is allowed, NaN is not; costs beyond the range of float64 are ``inf`` or 0, without
warnings. Made for ``alpha`` and ``beta`` from 0.05 to 100. Nothing here checks its arguments or raises.

Shares and quantiles of the threshold weighting of a rule (Bruemmer & Doddington 2013 eq. 10) stand here, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special
from scipy.special import expit

from deciban.core.rules.tables import HUGE, cost_table, log_beta
from deciban.types import FloatArray

_NODES, _NODE_WEIGHTS = (0.5 * v for v in np.polynomial.legendre.leggauss(8))
_NODES = _NODES + 0.5
"""Gauss-Legendre on [0, 1]. Integrands change by at most exp(100/16) within a panel: 8 nodes give 1e-13."""

_ATANH_TAIL = np.array([1 / k for k in range(19, 1, -2)])
"""Coefficients of (atanh(y) / y - 1) / y^2 in powers of y^2, the highest first; used for y^2 < 0.0242."""


def softplus(x: FloatArray) -> FloatArray:
    """Return ``log(1 + exp(x))`` in nats, to about one ulp, of any shape.

    The logarithmic cost of a non-target whose posterior log odds are ``x`` (thesis 7.40); its derivative is
    ``sigma(x)``. ``+inf`` gives ``inf`` and ``-inf`` gives 0.

    Examples
    --------
    >>> import numpy as np
    >>> softplus(np.array([-np.inf, 0.0, 1000.0]))
    array([0.00000000e+00, 6.93147181e-01, 1.00000000e+03])
    """
    with np.errstate(under="ignore"):
        return np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x)))


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
        Non-negative and decreasing in ``x``: 0 at ``+inf``; at ``-inf`` the limit ``(alpha + beta - 1) /
        (alpha - 1)`` when ``alpha > 1`` and ``inf`` otherwise. Relative error below 2e-13, mostly rounding of
        the exponents.

    Examples
    --------
    >>> import numpy as np
    >>> beta_cost_tar(np.array([-1.0, 0.0, np.inf]), 2.0, 2.0)
    array([1.60333994, 0.75      , 0.        ])
    """
    with np.errstate(over="ignore", under="ignore"):
        return _CLOSED_FORMS.get((alpha, beta), _general)(x, alpha, beta)


def beta_cost_non(x: FloatArray, alpha: float, beta: float) -> FloatArray:
    """Return the cost ``C(q | non)`` of a non-target trial under the beta rule (thesis 7.38).

    Parameters and errors are those of `beta_cost_tar`; the cost increases with ``x``, from 0 at ``-inf`` to
    ``(alpha+beta-1) / (beta-1)`` (``inf`` when ``beta <= 1``) at ``+inf``.

    Examples
    --------
    >>> import numpy as np
    >>> beta_cost_non(np.array([-np.inf, 0.0, 1.0]), 2.0, 1.0)
    array([0.        , 0.38629436, 1.16440622])
    """
    return beta_cost_tar(-x, beta, alpha)


def weighted_cost_non(xp: Any, cost: Any, x: Any, alpha: float, beta: float, log_weight: float) -> Any:
    """Return ``exp(log_weight) * cost`` of non-targets, also where one factor leaves float64 and the product does not.

    An infinite score keeps its infinite cost, however small the weight is.

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
    if beta >= 1:  # never beyond float64 at finite scores
        return product
    with np.errstate(over="ignore", under="ignore"):
        exponent = (1.0 - beta) * x  # the integral is its upper end, (1-q)^(beta-1) / (1-beta), and a constant
        tail = xp.exp(exponent + (log_weight - float(log_beta(alpha, beta)) - math.log(1.0 - beta)))
    return xp.where(is_out | ((exponent > 40.0) & (log_weight < -700.0)), tail, product)


def beta_cost_tar_slope(x: FloatArray, alpha: float, beta: float) -> FloatArray:
    """Return the derivative of `beta_cost_tar` by ``x``.

    It is ``-sigma(x)^(alpha-1) sigma(-x)^beta / B(alpha, beta)``, thesis 7.38 differentiated through ``q``;
    never positive. Parameters, shapes and errors are those of `beta_cost_tar`; beyond float64 it is ``-inf``.

    Examples
    --------
    >>> import numpy as np
    >>> beta_cost_tar_slope(np.array([-np.inf, 0.0]), 1.0, 1.0)
    array([-1. , -0.5])
    """
    with np.errstate(over="ignore", under="ignore"):
        return -np.exp(_log_weight(x, alpha - 1.0, beta) - log_beta(alpha, beta))


def beta_cost_non_slope(x: FloatArray, alpha: float, beta: float) -> FloatArray:
    """Return the derivative of `beta_cost_non` by ``x``.

    It is ``sigma(x)^alpha sigma(-x)^(beta-1) / B(alpha, beta)``, thesis 7.38 differentiated through ``q``;
    never negative. Parameters, shapes and errors are those of `beta_cost_tar`; beyond float64 it is ``inf``.

    Examples
    --------
    >>> import numpy as np
    >>> beta_cost_non_slope(np.array([0.0, np.inf]), 1.0, 1.0)
    array([0.5, 1. ])
    """
    return -beta_cost_tar_slope(-x, beta, alpha)


def threshold_density(t: FloatArray, alpha: float, beta: float, prior_log_odds: float) -> FloatArray:
    """Return the weight of each llr threshold in a rule used at a prior (Bruemmer & Doddington 2013 eq. 10).

    ``Omega(t) = r(t) w(t + tau) / Z`` with ``tau`` the prior log odds, ``r(t) = (1 + e^(t+tau)) / ((1 + e^t)
    (1 + e^tau))`` (eq. 7), ``w(x) = sigma(x)^alpha sigma(-x)^beta / B(alpha, beta)`` (eq. 11) and ``Z`` such
    that the integral over ``t`` is 1.

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


def _general(x: FloatArray, alpha: float, beta: float) -> FloatArray:
    """`beta_cost_tar` for any parameters."""
    return cost_table(beta, alpha).cost(-x)


def _log_less_linear(x: FloatArray) -> FloatArray:
    """Return ``-log(p) - (1 - p)`` for ``p = sigma(x)``, of order ``sigma(-x)^2 / 2`` for large ``x``."""
    # As written this cancels for x > 1. With y = (1-p) / (1+p) it is 2 atanh(y) - 2 y / (1 + y), a sum of
    # positive terms: 2 y^2 / (1 + y) + 2 (y^3 / 3 + y^5 / 5 + ...).
    z = np.exp(-np.maximum(x, 1.0))
    y = z / (z + 2.0)
    series = 2.0 * y * y * (1.0 / (1.0 + y) + y * np.polyval(_ATANH_TAIL, y * y))
    return np.where(x > 1.0, series, softplus(-x) - special.expit(-x))


_CLOSED_FORMS: dict[tuple[float, float], Callable[[FloatArray, float, float], FloatArray]] = {
    (1.0, 1.0): lambda x, _a, _b: softplus(-x),
    (2.0, 2.0): lambda x, _a, _b: 3.0 * special.expit(-x) ** 2,
    (0.5, 0.5): lambda x, _a, _b: 2.0 / np.pi * np.exp(-0.5 * x),
    (2.0, 1.0): lambda x, _a, _b: 2.0 * special.expit(-x),
    (1.0, 2.0): lambda x, _a, _b: 2.0 * _log_less_linear(x),
}


_TAIL = 40.0
"""Nats beyond both bends (at ``t = 0`` and ``t = -tau``) from where on the density is one exponential."""

_PANEL = 1 / 16


class ThresholdMass:
    """How the weight of a beta-family objective is spread over thresholds on log-likelihood ratios.

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
        self._log_total = float(self._log_density(self._edges).max())  # about the peak, against underflow
        panels = self.density(self._edges[:-1, None] + _PANEL * _NODES) @ _NODE_WEIGHTS * _PANEL
        below, above = (float(end) for end in self.density(self._edges[[0, -1]]))
        below_edge = below / alpha + np.concatenate(([0.0], np.cumsum(panels)))
        total = float(below_edge[-1]) + above / beta
        self._log_total += np.log(total)
        self._below_edge = below_edge / total
        self._tails = below / alpha / total, above / beta / total

    def _log_density(self, t: FloatArray) -> FloatArray:
        """Log of the density, without the factors that ``Z`` cancels; 1 + e^x takes one from the exponent beta."""
        return _log_weight(t + self.log_odds, self.alpha, self.beta - 1.0) - softplus(t) - self._log_total

    def density(self, t: FloatArray) -> FloatArray:
        """Density per nat at thresholds ``t``."""
        with np.errstate(under="ignore"):
            return np.exp(self._log_density(t))

    def below(self, t: float) -> float:
        """Share of the weight on thresholds below ``t``."""
        first, last = self._edges[[0, -1]]
        if t <= first:
            return float(self._tails[0] * np.exp(self.alpha * (t - first)))
        if t >= last:
            return float(1.0 - self._tails[1] * np.exp(-self.beta * (t - last)))
        panel = int((t - first) / _PANEL)
        start = self._edges[panel]
        return float(
            self._below_edge[panel] + (t - start) * (self.density(start + (t - start) * _NODES) @ _NODE_WEIGHTS)
        )

    def quantile(self, share: float) -> float:
        """The threshold below which there is this share of the weight, which lies inside (0, 1)."""
        below, above = self._tails
        if share <= below:
            return float(self._edges[0] + np.log(share / below) / self.alpha)
        if 1.0 - share <= above:
            return float(self._edges[-1] - np.log((1.0 - share) / above) / self.beta)
        # The sums of neighbouring panels differ from `below` by rounding: one panel more on both sides.
        panel = int(np.searchsorted(self._below_edge, share))
        low, high = self._edges[max(panel - 2, 0)], self._edges[min(panel + 1, len(self._edges) - 1)]
        return _zero(lambda t: self.below(t) - share, low, high)

    def mode(self) -> float:
        """The threshold of greatest density; there is one, because the density rises and then falls."""
        # Where the logarithm of the density is level.
        first, last = self._edges[[0, -1]]

        def slope(t: float) -> float:
            return float(self.alpha - (self.alpha + self.beta - 1.0) * expit(t + self.log_odds) - expit(t))

        return _zero(slope, first, last)

    def outline(self, n: int) -> FloatArray:
        """Thresholds at which to draw the density: dense where it is large, and out to where it is nothing."""
        level = 1e-5 * float(self.density(np.array([self.mode()]))[0])
        ends = self.density(self._edges[[0, -1]])
        start = self._edges[0] - np.log(ends[0] / level) / self.alpha if ends[0] > level else self.quantile(1e-5)
        end = self._edges[-1] + np.log(ends[1] / level) / self.beta if ends[1] > level else self.quantile(1.0 - 1e-5)
        shares = np.interp(np.linspace(1e-4, 1.0 - 1e-4, n), self._below_edge, self._edges)
        return np.union1d(np.linspace(start, end, n), shares)


def _zero(function: Callable[[float], float], low: float, high: float) -> float:
    from scipy.optimize import brentq  # as long to import as all else of a small evaluation

    return float(brentq(function, low, high, xtol=1e-13))
