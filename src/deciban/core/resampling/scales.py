"""Bounds on the scale on which a figure is nearly normal, for single figures and for whole curves."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from deciban.types import FloatArray

Scale: TypeAlias = Literal["log", "logit", "identity", "complement"]

_MOST = 700.0
"""Logarithm of the largest factor."""


def bounds_on_scale(
    value: ArrayLike, middle: ArrayLike, half_width: ArrayLike, scale: Scale
) -> tuple[FloatArray, FloatArray]:
    """Return both bounds around the middle.

    Parameters
    ----------
    value : array_like
        Where the half-widths were found.
    middle : array_like
        Around what the intervals lie; mostly the values themselves.
    half_width : array_like
        On the scale of the values, to first order.
    scale : {"log", "logit", "identity"}
        Where it cannot be used, as a value or its middle is at the end of it, bounds are those of ``identity``.

    Examples
    --------
    >>> low, high = bounds_on_scale([0.1, 0.0], [0.1, 0.0], [0.05, 0.05], "logit")
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.0599, -0.05], [0.1622, 0.05])
    """
    at, centre, reach = (np.asarray(one, np.float64) for one in np.broadcast_arrays(value, middle, half_width))
    low, high = centre - reach, centre + reach
    if scale == "identity":
        return low, high
    usable = (at > 0.0) & (centre > 0.0) & np.isfinite(at) & (reach != 0.0)
    if scale == "logit":
        usable &= (at < 1.0) & (centre < 1.0)
    found = np.stack((low, high))
    if scale == "logit":
        steps = reach[usable] / (at[usable] * (1.0 - at[usable]))
        middles = special.logit(centre[usable])
        found[:, usable] = special.expit(np.stack((middles - steps, middles + steps)))
    else:
        steps = np.minimum(reach[usable] / at[usable], _MOST)
        with np.errstate(over="ignore"):  # a bound may be infinite
            found[:, usable] = centre[usable] * np.exp(np.stack((-steps, steps)))
    return found[0], found[1]


def t_quantile(level: float, degrees: float) -> float:
    """Standard errors on both sides that hold a share ``level`` of draws, by the t distribution.

    >>> round(t_quantile(0.95, 99), 3)
    1.984
    """
    return float(special.stdtrit(degrees, (1.0 + level) / 2.0))
