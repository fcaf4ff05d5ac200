"""A number that tells one set of training data from another, in whatever order its trials come."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deciban.types import AnyArray, BoolArray, FloatArray, IntArray, ScoreArray

_BLOCK = 1 << 16
_MIXER = np.uint64(0xBF58476D1CE4E5B9)
"""Of the mixing function of the generator SplitMix64 (Steele, Lea and Flood 2014), of which one round is enough."""

_STEP = 0x9E3779B97F4A7C15
"""Its increment: multiples of it, made odd, are the factors of label, weight and columns."""


def fingerprint(
    columns: Sequence[AnyArray] | ScoreArray, is_target: BoolArray | IntArray, weights: FloatArray | None
) -> str:
    """Sixteen hexadecimal digits from the scores (columns, or a matrix of them), labels and weights of all trials.

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
    n_columns = columns.shape[1] if isinstance(columns, np.ndarray) else len(columns)
    of_label, of_weight, *of_columns = [np.uint64((k * _STEP & (1 << 64) - 1) | 1) for k in range(1, n_columns + 3)]
    factors = np.array(of_columns, np.uint64)
    total = np.uint64(0)
    with np.errstate(over="ignore"):
        size = max(_BLOCK // n_columns, 1)
        for i in range(0, len(is_target), size):
            rows = slice(i, i + size)
            mixed = is_target[rows].astype(np.uint64)
            mixed *= of_label
            if isinstance(columns, np.ndarray):
                mixed += factors @ _bits(columns[rows]).T  # half as long as the other way round
            else:
                for column, factor in zip(columns, factors, strict=True):
                    mixed += _bits(column[rows]) * factor
            if weights is not None:
                mixed += _bits(weights[rows]) * of_weight
            mixed ^= mixed >> np.uint64(32)  # the bits of small whole numbers are all above the middle
            mixed *= _MIXER
            mixed ^= mixed >> np.uint64(29)  # otherwise trials could exchange scores unnoticed
            total += mixed.sum(dtype=np.uint64)
    return f"{int(total):016x}"


def _bits(values: AnyArray) -> NDArray[np.uint64]:
    """The bits of each number as a float64."""
    return np.ascontiguousarray(values, np.float64).view(np.uint64)
