"""Costs of non-targets with two derivatives, fused, for training with the beta family (thesis 7.38, 8.4).

For ``C(z | non; alpha, beta)`` of `deciban.core.rules.proper`, with ``p = sigma(z)`` and ``q = sigma(-z)``::

    dC/dz   = p^alpha q^(beta - 1) / B(alpha, beta)
    d2C/dz2 = dC/dz (alpha q - (beta - 1) p)

One kernel serves both classes: ``C(x | tar; alpha, beta) = C(-x | non; beta, alpha)``, whose derivative by ``x``
has the opposite sign. Nothing here checks its arguments, warns or raises.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from deciban.core.rules.tables import cost_table
from deciban.types import FloatArray


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
