"""Center and width of each column of scores, for parameters of comparable size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from deciban.core.training.linear_objective import Trials
from deciban.types import BoolArray, FloatArray

_BLOCK = 1 << 15

_ROUNDING = 4.0
"""Range of a column, in units of the rounding of its largest number, that tells of nothing but rounding."""


def moments(trials: Trials) -> tuple[FloatArray, FloatArray]:
    """Prior-weighted mean and standard deviation of each column, right for any magnitude.

    With ``p`` the prior of the objective, the mean is ``p mean_tar + (1 - p) mean_non``, and the variance is that of
    the same mixture of both classes; proportions of the data do not enter.

    Returns
    -------
    center, width : (n_columns,) arrays
        A width of 0 is that of a column that is constant, but for rounding.
    """
    if not trials.columns:
        return np.zeros(0), np.zeros(0)
    low, high = _ranges(trials)
    # Relative to the range nothing can overflow or underflow, and a common shift takes no digits.
    precision = np.array([np.finfo(np.asarray(column[:1]).dtype).eps for column in trials.columns], np.float64)
    middle, size = 0.5 * low + 0.5 * high, np.where(are_same(low, high, precision), 0.0, 0.5 * high - 0.5 * low)
    unit = np.where(size > 0.0, size, 1.0)
    center = middle + size * _means(trials, middle, unit, power=1)
    return center, size * np.sqrt(_means(trials, center, unit, power=2))


def are_same(low: Any, high: Any, precision: Any) -> BoolArray:
    """Whether finite numbers from ``low`` to ``high`` are all the same but for rounding, as 0.3 and 0.1 + 0.2 are.

    ``precision`` is the unit of rounding of their type, relative to them.
    """
    return np.asarray(0.5 * high - 0.5 * low <= 0.5 * _ROUNDING * precision * np.maximum(np.abs(low), np.abs(high)))


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
    low, high = _ranges(trials)
    return np.asarray(0.5 * high - 0.5 * low > limit)


def clipped(trials: Trials, center: FloatArray, width: FloatArray, *, at: float = 50.0) -> Trials:
    """The trials with far scores drawn near, to so many widths, where there is a width."""
    reach = np.where(width > 0.0, at * width, np.inf)
    columns = zip(trials.columns, center, reach, strict=True)
    near = tuple(np.clip(column[:], c - r, c + r) for column, c, r in columns)
    return replace(trials, columns=near, matrix=None)


def _blocks(trials: Trials) -> Iterator[tuple[slice, FloatArray]]:
    """Some trials at a time, and their scores (n_columns, n)."""
    size = max(_BLOCK // max(len(trials.columns), 1), 1)
    for i in range(0, len(trials), size):
        rows = slice(i, i + size)
        yield rows, np.array([column[rows] for column in trials.columns], np.float64)


def _ranges(trials: Trials) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest score of each column."""
    ends = [(values.min(axis=1), values.max(axis=1)) for _, values in _blocks(trials)]
    return np.min([low for low, _ in ends], axis=0), np.max([high for _, high in ends], axis=0)


def _means(trials: Trials, middle: FloatArray, size: FloatArray, *, power: int) -> FloatArray:
    """Mixture mean of a power of ``(s - middle) / size`` of each column."""
    total, amount = np.zeros(len(middle)), 0.0
    non, tar = trials.class_weights
    for rows, values in _blocks(trials):
        weight = np.where(trials.is_target[rows], tar, non)
        if trials.weights is not None:
            weight = weight * trials.weights[rows]
        apart = (values - middle[:, None]) / size[:, None]
        total += apart**power @ weight
        amount += float(weight.sum())
    return total / amount
