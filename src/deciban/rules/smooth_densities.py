"""Integrals of smooth densities of thresholds, by Chebyshev polynomials on panels of log odds that adapt to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import ArrayLike
from scipy.special import expit

from deciban._validate import arrays as _validate
from deciban.errors import InputError
from deciban.types import BoolArray, FloatArray

REACH = 20.0
"""Log odds up to which a density is sampled: farther out, 1 - eta has less than eight digits in double precision."""

_DEGREE = 16
_WIDTH, _NARROWEST = 0.25, 2.0**-40
"""Widths of panels at first, and at least: next to a jump of the density."""

_MOST_PANELS = 16_384
_STEEPEST = 32.0
"""Most that a density may change on a panel: what lies at its low end keeps its digits."""

_PRECISION, _NOTHING = 1e-12, 1e-290

_X = chebyshev.chebpts1(_DEGREE + 1)
_TO_COEFFICIENTS = np.linalg.inv(chebyshev.chebvander(_X, _DEGREE))


@dataclass(frozen=True, slots=True)
class Panels:
    """Consecutive intervals of log odds, and a density at the Chebyshev nodes of each.

    Attributes
    ----------
    ends : (n_panels + 1,) array
        From `-REACH` to `REACH`.
    values : (n_panels, n_nodes) array
    """

    ends: FloatArray
    values: FloatArray

    @classmethod
    def of(cls, function: Callable[[FloatArray], ArrayLike]) -> Panels:
        """Halve panels until polynomials hold the density of thresholds to about twelve digits.

        Raises
        ------
        InputError
            If the function returns another number of densities, or one that is negative or not finite.

        Examples
        --------
        >>> smooth, jump = Panels.of(np.ones_like), Panels.of(lambda eta: 1.0 * (eta > 0.3))
        >>> len(smooth.values), float(np.diff(jump.ends).min()) < 1e-11
        (160, True)
        """
        n = round(2 * REACH / _WIDTH)
        low, width = np.linspace(-REACH, REACH, n + 1)[:-1], np.full(n, _WIDTH)
        done: list[tuple[FloatArray, FloatArray]] = []
        n_done = 0
        while len(low):
            values = _sampled(function, _nodes(low, width))
            is_last = (width <= _NARROWEST) | (n_done + 2 * len(low) > _MOST_PANELS)
            held = is_last | _is_held(values, low, width)
            done.append((low[held], values[held]))
            n_done += int(held.sum())
            half = width[~held] / 2
            low, width = np.concatenate((low[~held], low[~held] + half)), np.tile(half, 2)
        starts, found = (np.concatenate([one[k] for one in done]) for k in (0, 1))
        order = np.argsort(starts)
        return cls(np.append(starts[order], REACH), found[order])

    @property
    def table(self) -> tuple[FloatArray, FloatArray]:
        """All thresholds that double precision tells apart, ascending, and the density there."""
        eta, first = np.unique(expit(_nodes(self.ends[:-1], np.diff(self.ends))), return_index=True)
        return eta, self.values.ravel()[first]

    @property
    def mass(self) -> float:
        """Integral of the density over thresholds from 0 to 1."""
        eta = expit(_nodes(self.ends[:-1], np.diff(self.ends)))
        whole = SmoothIntegral(Panels(self.ends, self.values * eta)).above(np.zeros(1), np.ones(1))
        return float(whole[0])

    def mirrored(self) -> Panels:
        """Return the density of 1 less the threshold."""
        return Panels(-self.ends[::-1], self.values[::-1, ::-1])


class SmoothIntegral:
    """``int_q^1 density(h) / h dh`` of a density on panels; beyond them it goes on as a power of h or of 1 - h.

    Parameters
    ----------
    panels : Panels

    Examples
    --------
    >>> whole = SmoothIntegral(Panels.of(np.ones_like)).above(np.array([0.25]), np.array([0.75]))
    >>> round(float(whole[0]), 10)  # log(4)
    1.3862943611
    """

    def __init__(self, panels: Panels) -> None:
        self._ends, width = panels.ends, np.diff(panels.ends)
        other = expit(-_nodes(panels.ends[:-1], width))  # 1 - h: dh / h is (1 - h) du of log odds u
        self._integrals = _integrals(panels.values * other, width)
        first, last = _Tail.of(panels.mirrored()), _Tail.of(panels)
        self._first, self._last = first, last
        whole = _evaluated(self._integrals, np.ones(len(width)))
        beyond = last.integral(0.0, np.inf, 1.0) * np.exp(-REACH)
        self._beyond = np.append(np.cumsum(whole[::-1])[::-1], 0.0) + beyond

    def above(self, q: FloatArray, rest: FloatArray) -> FloatArray:
        """Return the integral from each q to 1; ``rest`` is 1 less q."""
        with np.errstate(divide="ignore"):
            u = np.log(q) - np.log(rest)
        inside = np.clip(u, -REACH, REACH)
        k = np.clip(np.searchsorted(self._ends, inside, side="right") - 1, 0, len(self._ends) - 2)
        # From the high end of a panel down: what is left there is small, and keeps its digits.
        x = np.clip(2 * (self._ends[k + 1] - inside) / (self._ends[k + 1] - self._ends[k]) - 1, -1.0, 1.0)
        found = _evaluated(self._integrals[k], x) + self._beyond[k + 1]
        low, high = u < -REACH, u > REACH
        found[low] += self._first.integral(0.0, -u[low] - REACH, 0.0)
        found[high] = self._last.integral(u[high] - REACH, np.inf, 1.0) * np.exp(-REACH)
        return np.asarray(found)


@dataclass(frozen=True, slots=True)
class _Tail:
    """A density beyond the last panel: ``value * exp(-power * v)``, v nats farther out."""

    value: float
    power: float

    @classmethod
    def of(cls, panels: Panels) -> _Tail:
        """From the last nat of log odds."""
        middle = np.searchsorted(panels.ends, REACH - 1.0) - 1
        nodes = _nodes(panels.ends[:-1], np.diff(panels.ends))
        u = nodes[middle, 0], nodes[-1, -1]
        one, other = panels.values[middle, 0], panels.values[-1, -1]
        if one < _NOTHING or other < _NOTHING:
            return cls(0.0, 0.0)
        power = float(np.log(one / other) / (u[1] - u[0]))
        return cls(float(other * np.exp(-power * (REACH - u[1]))), power)

    def integral(self, low: ArrayLike, high: ArrayLike, more: float) -> FloatArray:
        """Return the integral of the density times ``exp(-more * v)`` from low to high."""
        first, last, rate = np.asarray(low, np.float64), np.asarray(high, np.float64), self.power + more
        if self.value == 0.0:
            return np.zeros(np.broadcast(first, last).shape)
        with np.errstate(over="ignore", invalid="ignore"):
            if abs(rate) < 1e-12:
                return self.value * (last - first)
            return np.where(
                last > first, self.value * np.exp(-rate * first) * -np.expm1(-rate * (last - first)) / rate, 0
            )


def _nodes(low: FloatArray, width: FloatArray) -> FloatArray:
    """Chebyshev nodes of panels, a row for each."""
    return low[:, None] + width[:, None] * (0.5 * _X + 0.5)


def _sampled(function: Callable[[FloatArray], ArrayLike], log_odds: FloatArray) -> FloatArray:
    at = expit(log_odds.ravel())
    found = _validate.finite(function(at), "function")
    if found.shape != at.shape or (found < 0).any():
        raise InputError(
            f"function: expected {len(at)} densities of at least 0 for as many thresholds, got shape {found.shape}"
            f"{' with negative ones' if (found < 0).any() else ''}."
        )
    return found.reshape(log_odds.shape)


def _is_held(values: FloatArray, low: FloatArray, width: FloatArray) -> BoolArray:
    """Return True for panels on which a polynomial holds the density, up to the rounding of thresholds near 1."""
    least, most = values.min(axis=1), values.max(axis=1)
    rest = np.abs(values @ _TO_COEFFICIENTS[-2:].T).max(axis=1)
    with np.errstate(divide="ignore", over="ignore"):
        slope = np.clip(np.log(most / np.maximum(least, _NOTHING)) / width, 0.0, 1e3)
    rounding = np.finfo(np.float64).eps * np.exp(low + width) * (1.0 + slope)
    is_even = most <= _STEEPEST * least
    return cast("BoolArray", (most < _NOTHING) | (is_even & (rest <= (_PRECISION + rounding) * most)))


def _integrals(values: FloatArray, width: FloatArray) -> FloatArray:
    """Chebyshev coefficients of integrals from the high end of each panel down, by place from -1 (high end) to 1."""
    coefficients = values[:, ::-1] @ _TO_COEFFICIENTS.T
    return chebyshev.chebint(coefficients, lbnd=-1, axis=1) * (width / 2)[:, None]


def _evaluated(coefficients: FloatArray, x: FloatArray) -> FloatArray:
    """Return the value of each row of coefficients at its place."""
    return cast("FloatArray", chebyshev.chebval(x, coefficients.T, tensor=False))
