"""An upper bound of the numbers in an array, found quickly: where it is small, nothing needs a closer look."""

from __future__ import annotations

import math

import numpy as np

_PART = 1 << 13
"""Numbers whose length together bounds each of them; too few for a BLAS to spread them over threads."""


@np.errstate(over="ignore", invalid="ignore")
def length_bound(array: object) -> float:
    """A bound of the size of all numbers: the length of some thousand of them together, which is quickly found.

    Infinite if one is infinite or NaN, or where they do not lie together in memory.
    """
    if not isinstance(array, np.ndarray) or array.dtype.kind != "f" or not array.flags.forc or not array.size:
        return np.inf
    flat = array.ravel(order="K")
    square = float(np.max([flat[i : i + _PART] @ flat[i : i + _PART] for i in range(0, len(flat), _PART)]))
    lost = _PART * float(np.finfo(array.dtype).tiny)  # squares that are too small for a float
    return math.sqrt(square + lost) if math.isfinite(square) else math.inf
