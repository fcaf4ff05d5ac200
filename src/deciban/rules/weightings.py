"""Rules of two classes by a weighting of thresholds of one's own: points or a density (thesis 3.24, 7.34, 7.35)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, xlogy

from deciban._validate import arrays as _validate
from deciban.errors import InputError
from deciban.rules.scoring import ScoringRule
from deciban.types import FloatArray, IntArray

_FURTHEST = 30.0
"""Log odds up to which a function is tabulated."""


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
        self._of_miss = _Integral(at, self.density)
        self._of_alarm = _Integral(1.0 - at[::-1], self.density[::-1])

    @classmethod
    def of_function(cls, function: Callable[[FloatArray], ArrayLike], *, n_points: int = 4001) -> ThresholdDensity:
        """Tabulate a density that is given as a function of thresholds in (0, 1).

        Parameters
        ----------
        function : callable
            Takes an array of thresholds, returns as many densities.
        n_points : int
            So many places, evenly spaced in log odds from -30 to 30; between them the density is straight.

        Returns
        -------
        ThresholdDensity

        Raises
        ------
        InputError
            As the class.

        Examples
        --------
        >>> ThresholdDensity.of_function(lambda eta: 6 * eta * (1 - eta)).costs([0.5, 0.5]).round(4)
        array([0.75, 0.75])
        """
        at = np.unique(expit(np.linspace(-_FURTHEST, _FURTHEST, n_points)))
        at = at[at < 1.0]
        return cls(at, function(at))

    @property
    def mass(self) -> float:
        """Integral of the density: 1 for a normalized one."""
        return float(np.trapezoid(self.density, self.eta))

    def _costs(self, posterior: FloatArray) -> FloatArray:
        return np.stack((self._of_miss.above(posterior[:, 0]), self._of_alarm.above(posterior[:, 1])), axis=1)


class _Integral:
    """``int_q^1 density(h) / h dh`` of a density that is straight between points."""

    def __init__(self, at: FloatArray, density: FloatArray) -> None:
        self.at = at
        self.slope = np.diff(density) / np.diff(at)
        self.level = density[:-1] - self.slope * at[:-1]
        pieces = self._piece(np.arange(len(at) - 1), at[:-1])
        self.beyond = np.append(np.cumsum(pieces[::-1])[::-1], 0.0)

    def above(self, q: FloatArray) -> FloatArray:
        """The integral from each of these to 1."""
        k = np.clip(np.searchsorted(self.at, q, side="right") - 1, 0, len(self.level) - 1)
        low = np.clip(q, self.at[k], self.at[k + 1])
        return np.asarray(self._piece(k, low) + self.beyond[k + 1])

    def _piece(self, k: IntArray, low: FloatArray) -> FloatArray:
        high = self.at[k + 1]
        with np.errstate(divide="ignore"):
            return np.asarray(xlogy(self.level[k], high) - xlogy(self.level[k], low) + self.slope[k] * (high - low))


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
