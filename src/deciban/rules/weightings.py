"""Rules of two classes by a weighting of thresholds of one's own: points or a density (thesis 3.24, 7.34, 7.35)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.errors import InputError
from deciban.rules.scoring import ScoringRule
from deciban.rules.smooth_densities import Panels, SmoothIntegral
from deciban.types import FloatArray


class _TwoClasses(ScoringRule):
    @property
    def n_classes(self) -> int:
        """Two: target, then non-target."""
        return 2


class ThresholdWeights(_TwoClasses):
    """A weighted sum of detection problems, each with its threshold of the posterior (thesis 7.34 with point masses).

    Parameters
    ----------
    eta : (n_points,) array_like
        Thresholds inside (0, 1): a trial is accepted at ``posterior >= eta``; a miss costs ``1 / eta``, a false alarm
        ``1 / (1 - eta)``.
    weights : (n_points,) array_like, optional
        At least 0, taken as they are; ``1 / n_points`` if left out.

    Raises
    ------
    InputError
        If a threshold or weight is out of range.

    Examples
    --------
    >>> ThresholdWeights([0.5, 0.9]).costs([[0.7, 0.3]]).round(4)
    array([[0.5556, 1.    ]])
    """

    def __init__(self, eta: ArrayLike, weights: ArrayLike | None = None) -> None:
        at = _thresholds(eta)
        given = _weights(np.full(len(at), 1.0 / len(at)) if weights is None else weights, len(at))
        order = np.argsort(at, kind="stable")
        self.eta, self.weights = at[order], given[order]

    def _costs(self, posterior: FloatArray) -> FloatArray:
        n_below = np.searchsorted(self.eta, posterior[:, 0], side="right")
        missed = np.append(np.cumsum((self.weights / self.eta)[::-1])[::-1], 0.0)
        alarms = np.append(0.0, np.cumsum(self.weights / (1.0 - self.eta)))
        return np.stack((missed[n_below], alarms[n_below]), axis=1)


class ThresholdDensity(_TwoClasses):
    """A density over thresholds of the posterior, by a table that is straight between its points (thesis 7.35).

    Parameters
    ----------
    eta : (n_points,) array_like
        Ascending, in [0, 1], two or more. Outside of them the density is 0.
    density : (n_points,) array_like
        At least 0, taken as it is; see `mass`.

    Attributes
    ----------
    mass : float
        Integral of the density: 1 for a normalized one.

    Raises
    ------
    InputError
        If they do not fit, thresholds do not ascend, or a density is negative.

    Notes
    -----
    ``C(q | target) = int_q^1 density / eta`` and ``C(q | non-target) = int_0^q density / (1 - eta)`` in closed form on
    each piece. The rule is strictly proper where the density is positive.

    Examples
    --------
    The uniform density is the logarithm:

    >>> ThresholdDensity([0.0, 1.0], [1.0, 1.0]).costs([0.25, 0.75]).round(6)
    array([1.386294, 0.287682])
    """

    def __init__(self, eta: ArrayLike, density: ArrayLike) -> None:
        at = _validate.finite(eta, "eta")
        if at.ndim != 1 or len(at) < 2 or (np.diff(at) <= 0).any() or at[0] < 0 or at[-1] > 1:
            raise InputError("eta: expected two or more thresholds that ascend from 0 at least to 1 at most.")
        self.eta, self.density = at, _weights(density, len(at), "density")
        self.mass = float(np.trapezoid(self.density, self.eta))
        self._of_miss: _Integral | SmoothIntegral = _Integral(at, 1.0 - at, self.density)
        self._of_alarm: _Integral | SmoothIntegral = _Integral(1.0 - at[::-1], at[::-1], self.density[::-1])

    @classmethod
    def of_function(cls, function: Callable[[FloatArray], ArrayLike]) -> ThresholdDensity:
        """Return the rule of a density that is given as a function of thresholds in (0, 1).

        Parameters
        ----------
        function : callable
            Takes an array of thresholds, returns as many densities.

        Returns
        -------
        ThresholdDensity
            ``eta`` and ``density`` hold the places at which the function was called, closer where it changes fast.

        Raises
        ------
        InputError
            If a density is negative or not finite, or if there are not as many as thresholds.

        Notes
        -----
        Between log odds of -20 and 20, polynomials of degree 16 follow the density on panels that are halved until they
        hold it; beyond, the density continues as a power of ``eta`` or ``1 - eta``. At posteriors with log odds from
        -10 to 10, costs of the beta family with parameters from 0.5 to 200 have a relative error below 1e-8 (most of
        them below 1e-11). Jumps are found to 1e-12 of log odds. A peak narrower than about 0.02 nats may be missed: use
        `ThresholdWeights` for points.

        Examples
        --------
        >>> ThresholdDensity.of_function(lambda eta: 6 * eta * (1 - eta)).costs([0.5, 0.5]).round(12)
        array([0.75, 0.75])
        """
        panels = Panels.of(function)
        made = cls(*panels.table)
        made.mass = panels.mass
        made._of_miss, made._of_alarm = SmoothIntegral(panels), SmoothIntegral(panels.mirrored())
        return made

    def _costs(self, posterior: FloatArray) -> FloatArray:
        target, other = posterior.T
        return np.stack((self._of_miss.above(target, other), self._of_alarm.above(other, target)), axis=1)


class _Integral:
    """``int_q^1 density(h) / h dh`` of a density that is straight between points, to rounding.

    Parameters
    ----------
    at, rest : (n,) array
        The points, and 1 less each of them: next to 1, where differences of `at` have no digits left.
    density : (n,) array
    """

    def __init__(self, at: FloatArray, rest: FloatArray, density: FloatArray) -> None:
        self.at, self.rest, self.density = at, rest, density
        self.width = _distance(at[:-1], rest[:-1], at[1:], rest[1:])
        pieces = _straight(at[:-1], self.width, density[:-1], density[1:])
        self.beyond = np.append(np.cumsum(pieces[::-1])[::-1], 0.0)

    def above(self, q: FloatArray, rest: FloatArray) -> FloatArray:
        """Return the integral from each q to 1; ``rest`` is 1 less q."""
        k = np.clip(np.searchsorted(self.at, q, side="right") - 1, 0, len(self.width) - 1)
        width = np.clip(_distance(q, rest, self.at[k + 1], self.rest[k + 1]), 0.0, self.width[k])
        share = width / self.width[k]  # of the piece
        low = np.maximum(q, self.at[k])
        density = share * self.density[k] + (1.0 - share) * self.density[k + 1]
        return np.asarray(_straight(low, width, density, self.density[k + 1]) + self.beyond[k + 1])


def _distance(low: FloatArray, rest_of_low: FloatArray, high: FloatArray, rest_of_high: FloatArray) -> FloatArray:
    """Return ``high - low``, by their distances from 1 if these are smaller."""
    return np.where(low > 0.5, rest_of_low - rest_of_high, high - low)


_NODES, _NODE_WEIGHTS = (0.5 * v for v in np.polynomial.legendre.leggauss(8))
_NODES = _NODES + 0.5
"""Gauss-Legendre on [0, 1]: right to rounding for `_straight` where ``width <= low / 2``."""


def _straight(low: FloatArray, width: FloatArray, first: FloatArray, last: FloatArray) -> FloatArray:
    """Return ``int density(h) / h dh`` from low to low + width, of a density that goes straight from first to last."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        u = width / low
        of_last = 1.0 - np.log1p(u) / u
        of_first = np.log1p(u) - of_last
    is_small = u <= 0.5
    t = _NODES[:, None]
    small = u[is_small] / (1.0 + t * u[is_small])
    of_last[is_small] = _NODE_WEIGHTS @ (t * small)
    of_first[is_small] = _NODE_WEIGHTS @ ((1.0 - t) * small)
    of_last[np.isinf(u)], of_first[np.isinf(u)] = 1.0, np.inf
    is_some = (width > 0.0) & (first > 0.0)
    return np.where(is_some, first, 0.0) * np.where(is_some, of_first, 0.0) + last * np.where(width > 0.0, of_last, 0.0)


def _thresholds(eta: ArrayLike) -> FloatArray:
    at = _validate.finite(eta, "eta")
    if at.ndim != 1 or not len(at) or ((at <= 0) | (at >= 1)).any():
        raise InputError("eta: expected a vector of thresholds of a posterior, each inside (0, 1).")
    return at


def _weights(values: ArrayLike, n: int, name: str = "weights") -> FloatArray:
    given = _validate.finite(values, name)
    if given.shape != (n,) or (given < 0).any():
        raise InputError(f"{name}: expected {n} numbers of at least 0, got shape {given.shape}.")
    return given
