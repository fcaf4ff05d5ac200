"""A number that tells one set of training data from another, in whatever order its trials come."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deciban.types import AnyArray, BoolArray, FloatArray

_BLOCK = 1 << 14
_MIXER = np.uint64(0xBF58476D1CE4E5B9)
"""Of the mixing function of the generator SplitMix64 (Steele, Lea and Flood 2014), of which one round is enough."""

_STEP = 0x9E3779B97F4A7C15
"""Its increment: multiples of it, made odd, are the factors of label, weight and columns."""


def fingerprint(columns: Sequence[AnyArray], is_target: BoolArray, weights: FloatArray | None) -> str:
    """Sixteen hexadecimal digits from the scores, labels and weights of all trials.

    Every trial is mixed into 64 bits, and these are added: the order does not matter, a changed score does. It finds
    mistakes; it is no protection against somebody who wants the same digits for other data.

    Examples
    --------
    >>> import numpy as np
    >>> one = fingerprint([np.array([1.0, 2.0])], np.array([True, False]), None)
    >>> one == fingerprint([np.array([2.0, 1.0])], np.array([False, True]), None)
    True
    >>> one == fingerprint([np.array([1.0, 2.0])], np.array([False, True]), None)
    False
    """
    parts = [*columns, *(() if weights is None else (weights,))]
    factors = [np.uint64((k * _STEP & (1 << 64) - 1) | 1) for k in range(1, len(parts) + 2)]
    total = np.uint64(0)
    with np.errstate(over="ignore"):
        for i in range(0, len(is_target), _BLOCK):
            rows = slice(i, i + _BLOCK)
            mixed = is_target[rows].astype(np.uint64)
            mixed *= factors[-1]
            for part, factor in zip(parts, factors, strict=False):
                values = part[rows] + np.float64(0.0)  # a copy in which both zeros have the same bits
                bits = values.view(np.uint64)
                bits *= factor
                mixed += bits
            mixed ^= mixed >> np.uint64(32)
            mixed *= _MIXER
            mixed ^= mixed >> np.uint64(29)
            total += mixed.sum(dtype=np.uint64)
    return f"{int(total):016x}"
