"""Center and width of each column of scores, for parameters of comparable size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deciban.core.linear_objective import Trials
from deciban.types import BoolArray, FloatArray

_BLOCK = 1 << 15


def moments(trials: Trials) -> tuple[FloatArray, FloatArray]:
    """Prior-weighted mean and standard deviation of each column, right for any magnitude.

    With ``p`` the prior of the objective, the mean is ``p mean_tar + (1 - p) mean_non``, and the variance is that of
    the same mixture of both classes; proportions of the data do not enter.

    Returns
    -------
    center, width : (n_columns,) arrays
        A width of 0 is that of a constant column.
    """
    center, width = np.zeros((2, len(trials.columns)))
    for k in range(len(trials.columns)):
        low, high = _range(trials, k)
        # Relative to the range nothing can overflow or underflow, and a common shift takes no digits.
        middle, size = 0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low
        if size > 0.0:
            mean = _mean(trials, k, middle, size, power=1)
            center[k] = middle + size * mean
            width[k] = size * np.sqrt(_mean(trials, k, center[k], size, power=2))
        else:
            center[k] = middle
    return center, width


def equal_classes(trials: Trials) -> Trials:
    """The trials at prior 0.5."""
    n_non, n_tar = trials.amounts
    return replace(trials, class_weights=(0.5 / n_non, 0.5 / n_tar))


def quartiles(trials: Trials) -> tuple[FloatArray, FloatArray]:
    """Middle and half length of the range of each column that holds the middle half of either class.

    Unlike `moments` they tell nothing of the extremes. A width of 0 is that of a column of one or two values.
    """
    center, width = np.zeros((2, len(trials.columns)))
    for k, column in enumerate(trials.columns):
        values = np.asarray(column[:], np.float64)
        ends = [_middle(np.sort(values[rows])) for rows in (~trials.is_target, trials.is_target)]
        low, high = np.min(ends), np.max(ends)
        if low == high:  # so many ties that only the values tell of a range
            low, high = _middle(np.unique(values))
        center[k], width[k] = low + (0.5 * high - 0.5 * low), 0.5 * high - 0.5 * low
    return center, width


def _middle(ordered: FloatArray) -> tuple[float, float]:
    """Ends of the middle half of numbers in order."""
    n = len(ordered)
    return float(ordered[n // 4]), float(ordered[(3 * n - 1) // 4])


def reaches(trials: Trials, limit: FloatArray) -> BoolArray:
    """Whether half the distance between the lowest and the highest score of each column is beyond a limit."""
    if trials.reach <= np.min(limit, initial=np.inf):
        return np.zeros(len(limit), np.bool_)
    ends = [_range(trials, k) for k in range(len(trials.columns))]
    return np.array([0.5 * high - 0.5 * low for low, high in ends]) > limit


def clipped(trials: Trials, center: FloatArray, width: FloatArray, *, at: float = 50.0) -> Trials:
    """The trials with far scores drawn near, to so many widths, where there is a width."""
    reach = np.where(width > 0.0, at * width, np.inf)
    columns = zip(trials.columns, center, reach, strict=True)
    near = tuple(np.clip(column[:], c - r, c + r) for column, c, r in columns)
    return replace(trials, columns=near, matrix=None)


def _range(trials: Trials, k: int) -> tuple[float, float]:
    low, high = np.inf, -np.inf
    for i in range(0, len(trials), _BLOCK):
        values = trials.columns[k][i : i + _BLOCK]
        low, high = min(low, float(np.min(values))), max(high, float(np.max(values)))
    return low, high


def _mean(trials: Trials, k: int, middle: float, size: float, *, power: int) -> float:
    """Mixture mean of a power of ``(s - middle) / size``."""
    total, amount = 0.0, 0.0
    non, tar = trials.class_weights
    for i in range(0, len(trials), _BLOCK):
        weight = np.where(trials.is_target[i : i + _BLOCK], tar, non)
        if trials.weights is not None:
            weight = weight * trials.weights[i : i + _BLOCK]
        values = (np.asarray(trials.columns[k][i : i + _BLOCK], np.float64) - middle) / size
        total += float(weight @ values**power)
        amount += float(weight.sum())
    return total / amount
