"""How large numbers can be, at a glance."""

from __future__ import annotations

import numpy as np

_PART = 1 << 15
"""Numbers whose length together bounds each of them."""


@np.errstate(over="ignore", invalid="ignore")
def length_bound(array: object) -> float:
    """A bound of the size of all numbers: the length of some thousand of them together, which is quickly found.

    Infinite if one is infinite or NaN, or where they do not lie together in memory.
    """
    if not isinstance(array, np.ndarray) or not array.flags.forc or not array.size:
        return np.inf
    flat = array.ravel(order="K")
    square = np.max([flat[i : i + _PART] @ flat[i : i + _PART] for i in range(0, len(flat), _PART)])
    return float(np.sqrt(square)) if np.isfinite(square) else np.inf
