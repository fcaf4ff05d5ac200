"""Probit axes, on which the DET curve of normally distributed scores is a straight line."""

from __future__ import annotations

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
_SHORT = 0.02
_LEVELS = ndtr(np.linspace(-6.0, 6.0, 601))


def probit(p: FloatArray) -> FloatArray:
    """Return the normal deviate below which a share ``p`` lies; 0 and 1 go far outside any limits, not to infinity."""
    return np.asarray(ndtri(np.clip(p, _EDGE, 1.0 - _EDGE)))


def set_probit_axes(ax: Axes, x: tuple[float, float], y: tuple[float, float]) -> None:
    """Make both axes probit axes with the limits ``x`` and ``y``, fractions, and tick marks in percent."""
    ax.set_xscale("function", functions=(probit, ndtr))
    ax.set_yscale("function", functions=(probit, ndtr))
    ax.set_xlim(*x)
    ax.set_ylim(*y)
    width, height = np.diff(probit(np.array([x, y])))[:, 0]
    _set_ticks(ax.xaxis, *x, 0.02)
    # Labels of the other axis stand one above the other: each takes the same space, about two letters.
    _set_ticks(ax.yaxis, *y, 0.02 * min(width / height, 1.5))


def limits(rates: FloatArray, other: FloatArray, marked: list[float]) -> tuple[float, float]:
    """Choose the limits of the axis of ``rates`` so that the curve fills it, ``marked`` rates included.

    The highest rate shown is the one at which the ``other`` error rate is down to its smallest value above 0.
    """
    inside = (rates > 0) & (rates < 1)
    seen = [float(rate) for rate in (*rates[inside], *(rate for rate in marked if 0 < rate < 1))]
    low = min([0.1, *(rate / 1.5 for rate in seen)]) if seen else 0.01
    high = max([0.05, *rates[inside & (other > 0)], *(rate for rate in marked if rate < 1)])
    return max(low, LOWEST), min(float(ndtr(ndtri(min(high, HIGHEST)) + 0.1)), HIGHEST)


def bent(p_fa: FloatArray, p_miss: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Add points to a curve that is straight between its corners on linear axes: on probit axes it is bent there.

    ``p_fa`` falls and ``p_miss`` rises along the curve. A curve whose edges are all horizontal, vertical or short
    comes back as it is.
    """
    if not np.any(np.minimum(np.abs(np.diff(probit(p_fa))), np.abs(np.diff(probit(p_miss)))) > _SHORT):
        return p_fa, p_miss
    x = np.concatenate((p_fa, _LEVELS, np.interp(_LEVELS, p_miss, p_fa)))
    y = np.concatenate((p_miss, np.interp(_LEVELS, p_fa[::-1], p_miss[::-1]), _LEVELS))
    order = np.lexsort((y, -x))
    return x[order], y[order]


def _set_ticks(axis: Axis, low: float, high: float, letter: float) -> None:
    """Set as many tick marks as fit; ``letter`` is the share of the axis that a letter of a label takes."""
    ends = probit(np.array([low, high]))
    ticks: dict[float, float] = {}
    for percent in _TICKS:
        place = float((ndtri(percent / 100) - ends[0]) / (ends[1] - ends[0]))
        gaps = (abs(place - at) - letter * (len(f"{percent:g}{tick:g}") / 2 + 1) for tick, at in ticks.items())
        if 0 <= place <= 1 and all(gap >= 0 for gap in gaps):
            ticks[percent] = place
    axis.set_ticks([tick / 100 for tick in ticks], [f"{tick:g}" for tick in ticks])
    axis.set_minor_locator(NullLocator())
