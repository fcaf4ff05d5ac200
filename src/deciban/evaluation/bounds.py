"""Bounds of figures where the order of some trials is not known."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from deciban.evaluation.uncertainty import Figure

Bounds: TypeAlias = "Mapping[Figure, tuple[float, float]]"
"""Figures that are not known exactly, with the lowest and the highest value that they can have."""

_ULPS = 16
"""By so many steps of a float bounds that come from sums are widened: rounding must not move a figure out of them."""


def wide(low: float, high: float, most: float = math.inf) -> tuple[float, float]:
    """Bounds that come from sums, with both ends a little further out; equal ones stay as they are."""
    if low == high:
        return low, high
    low, high = min(low, high), max(low, high)
    room = _ULPS * float(np.spacing(high)) if math.isfinite(high) else 0.0
    return max(low - room, 0.0), max(min(high + room, most), high)
