"""Shares and quantiles of the threshold weighting of a rule (Bruemmer & Doddington 2013 eq. 10)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import expit

from deciban.core.rules.proper import log_threshold_density
from deciban.types import FloatArray

_TAIL = 40.0
"""Nats beyond both bends (at ``t = 0`` and ``t = -tau``) from where on the density is one exponential."""

_PANEL = 1 / 16
_NODES, _NODE_WEIGHTS = (0.5 * v for v in np.polynomial.legendre.leggauss(8))
_NODES = _NODES + 0.5


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

    def __init__(self, alpha: float, beta: float, log_odds: float) -> None:
        self.alpha, self.beta, self.log_odds = alpha, beta, log_odds
        first, last = min(0.0, -log_odds) - _TAIL, max(0.0, -log_odds) + _TAIL
        steps = np.arange(int(np.ceil((last - first) / _PANEL)) + 1, dtype=np.float64)
        self._edges: FloatArray = first + _PANEL * steps
        self._log_total = 0.0
        self._log_total = float(self._log_density(np.array([self.mode()]))[0])  # the peak, against underflow
        panels = self.density(self._edges[:-1, None] + _PANEL * _NODES) @ _NODE_WEIGHTS * _PANEL
        below, above = (float(end) for end in self.density(self._edges[[0, -1]]))
        below_edge = below / alpha + np.concatenate(([0.0], np.cumsum(panels)))
        total = float(below_edge[-1]) + above / beta
        self._log_total += np.log(total)
        self._below_edge = below_edge / total
        self._tails = below / alpha / total, above / beta / total

    def _log_density(self, t: FloatArray) -> FloatArray:
        return log_threshold_density(t + self.log_odds, self.alpha, self.beta, self.log_odds) - self._log_total

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
        grid: FloatArray = np.union1d(np.linspace(start, end, n), shares)
        return grid


def _zero(function: Callable[[float], float], low: float, high: float) -> float:
    from scipy.optimize import brentq  # as long to import as all else of a small evaluation

    return float(brentq(function, low, high, xtol=1e-13))
