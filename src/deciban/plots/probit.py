"""Probit axes, on which the DET curve of normally distributed scores is a straight line."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import NullLocator
from scipy.special import ndtr, ndtri

from deciban.types import FloatArray

LOWEST, HIGHEST = 1e-6, 0.99
"""Widest limits of an axis, as fractions."""
_EDGE = 1e-12
_TICKS = (
    0.1,
    1,
    10,
    40,
    5,
    20,
    60,
    80,
    2,
    0.01,
    0.001,
    0.0001,
    90,
    0.5,
    95,
    98,
    99,
    0.2,
    0.05,
    0.02,
    30,
    3,
    15,
    50,
    70,
)
"""Percentages, the most wanted first."""
_MIN_GAP = 0.055
"""Smallest distance of two tick marks as a share of the axis."""


def probit(p: FloatArray) -> FloatArray:
    """Return the normal deviate below which a share ``p`` lies; 0 and 1 go far outside any limits, not to infinity."""
    return np.asarray(ndtri(np.clip(p, _EDGE, 1.0 - _EDGE)))


def set_probit_axes(ax: Axes, x: tuple[float, float], y: tuple[float, float]) -> None:
    """Make both axes probit axes with the limits ``x`` and ``y``, fractions, and tick marks in percent.

    A unit is equally long on both axes, so that slopes can be compared between plots.
    """
    ax.set_xscale("function", functions=(probit, ndtr))
    ax.set_yscale("function", functions=(probit, ndtr))
    ax.set_xlim(*x)
    ax.set_ylim(*y)
    ax.set_aspect("equal")
    _set_ticks(ax.xaxis, *x)
    _set_ticks(ax.yaxis, *y)


def limits(rates: FloatArray, other: FloatArray, marked: list[float]) -> tuple[float, float]:
    """Choose the limits of the axis of ``rates`` so that the curve fills it, ``marked`` rates included.

    The highest rate shown is the one at which the ``other`` error rate is down to its smallest value above 0.
    """
    inside = (rates > 0) & (rates < 1)
    low = min([0.1, *(rates[inside] / 1.5), *(p / 1.5 for p in marked if p > 0)])
    high = max([0.4, *rates[inside & (other > 0)], *(p for p in marked if p < 1)])
    return max(low, LOWEST), min(float(ndtr(ndtri(high) + 0.1)), HIGHEST)


def _set_ticks(axis: Axis, low: float, high: float) -> None:
    ends: Any = probit(np.array([low, high]))
    gap = _MIN_GAP * (ends[1] - ends[0])
    ticks: list[float] = []
    for percent in _TICKS:
        place = float(ndtri(percent / 100))
        if ends[0] <= place <= ends[1] and all(abs(place - float(ndtri(tick / 100))) >= gap for tick in ticks):
            ticks.append(percent)
    axis.set_ticks([tick / 100 for tick in ticks], [f"{tick:g}" for tick in ticks])
    axis.set_minor_locator(NullLocator())
