"""Logarithmic costs of scores that lie close together: a Taylor series around their middle serves them all."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from deciban.core.rules.proper import softplus
from deciban.types import FloatArray

NARROW = 1 / 32
"""Width in nats below which neighbouring scores share one Taylor series."""

GROUP = 64
"""Scores of a group that may share a shorter one."""

_NARROW_GROUP = 1 / 2048
"""Width of such a group: what is left out is below ``(_NARROW_GROUP / 2)**4 / 4!`` of the whole, 2e-16."""


def softplus_series(centre: FloatArray) -> tuple[FloatArray, ...]:
    """Derivatives of ``ln(1 + exp(x))`` from order 0 to 6, divided by the factorial of the order."""
    s, v = expit(centre), expit(centre) * expit(-centre)
    tilt = 1 - 2 * s
    derivatives = (s, v, v * tilt, v * (1 - 6 * v), v * tilt * (1 - 12 * v), v * (1 - 30 * v + 120 * v * v))
    scales = (1, 2, 6, 24, 120, 720)
    return softplus(centre), *(f / k for f, k in zip(derivatives, scales, strict=True))


def softplus_of_neighbours(x: FloatArray, centre: float) -> FloatArray:
    """The terms of a Taylor series with the same sum as ``softplus(x)``, for ``x`` close to ``centre``.

    In many sorted scores thousands of neighbours are alike; one pair of exponentials serves them all. Each term is
    a derivative times a power sum. What is left out is below ``(NARROW / 2)**7 / 7!`` of the whole, 5e-17.
    """
    d = x - centre
    d2 = d * d
    d3 = d2 * d
    powers = (len(x), d.sum(), d2.sum(), d3.sum(), d2 @ d2, d2 @ d3, d3 @ d3)
    series = softplus_series(np.array([centre]))
    return np.array([f[0] * p for f, p in zip(series, powers, strict=True)])


def softplus_of_groups(x: FloatArray, weights: FloatArray) -> FloatArray:
    """Weighted sums of ``softplus(x)`` over the rows of ``x``, in each of which numbers ascend or descend.

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
    found = np.empty(len(x))
    wide = ~narrow
    if wide.any():
        found[wide] = (softplus(x[wide]) * weights[wide]).sum(axis=1)
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
        found[narrow] = sum(f * p for f, p in zip(softplus_series(centre), powers, strict=False))
    return found
