"""Mergeable sums: the same numbers in memory, streamed or distributed.

Counts are integers. Real sums carry their own rounding error (two-sum, Knuth 1969), so that the result does not
depend on how the trials are split or ordered: the error of the sum is far below one unit in the last place.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deciban.core.ranks.counts import SortedClass
from deciban.core.ranks.unsorted import UnsortedClass
from deciban.types import CountArray, FloatArray, ScoreArray

_LANES = 8192
"""Trials per step: every temporary stays in cache."""

_FEW = 256
"""Trials whose costs Python adds up exactly before lanes of numpy are ready."""


@dataclass(frozen=True, slots=True)
class MeanCost:
    """A cost summed over trials of one class: ``high + low`` is the sum, ``weight`` the number of trials.

    ``a + b`` merges the sums of two sets of trials. Costs are never negative, so a sum is never NaN: one
    infinite cost, or a sum beyond the largest float, makes it infinite.
    """

    high: float
    low: float
    weight: float

    @classmethod
    def of(
        cls, scores: ScoreArray, cost: Callable[[FloatArray], FloatArray], weights: CountArray | None = None
    ) -> MeanCost:
        """Sum ``cost`` over ``scores``, weighted, in constant memory.

        Parameters
        ----------
        scores : (n,) array
        cost : function
            Maps an array of scores to numbers that add up to their costs, each cost in [0, inf]: one for each score
            if trials have weights, otherwise as many as suits it, up to two for each score.
        weights : (n,) array, optional
            Finite and positive; 1 for every trial when left out.
        """
        weight = len(scores) if weights is None else _weight(weights)
        with np.errstate(over="ignore", invalid="ignore"):
            if 0 < len(scores) <= _FEW:
                values = cost(scores.astype(np.float64, copy=False))
                return cls(*_sum(values if weights is None else values * weights), weight)
            high, low = np.zeros((2, (1 if weights is not None else 2) * min(len(scores), _LANES)))
            for first in range(0, len(scores), _LANES):
                values = cost(scores[first : first + _LANES].astype(np.float64, copy=False))
                if weights is not None:
                    values = values * weights[first : first + _LANES]
                n = len(values)
                high[:n], error = _two_sum(high[:n], values)
                low[:n] += error
        return cls(*_total(high, low), weight)

    def __add__(self, other: MeanCost) -> MeanCost:
        """Merge with the sum over other trials."""
        high, low = np.array([self.high, other.high]), np.array([self.low, other.low])
        return MeanCost(*_total(high, low), self.weight + other.weight)

    @property
    def value(self) -> float:
        """Mean cost per trial (per unit of weight)."""
        return (self.high + self.low) / self.weight


def _weight(weights: CountArray) -> float:
    if weights.dtype == np.int64:
        return float(weights.sum())
    total = MeanCost.of(weights, lambda values: values)  # as exact as math.fsum, and many times faster
    return total.high + total.low


def _two_sum(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sums rounded to nearest, and exactly what rounding took away from them."""
    total = a + b
    taken = total - a
    error = total - taken
    np.subtract(a, error, out=error)
    error += b - taken
    return total, error


def _total(high: FloatArray, low: FloatArray) -> tuple[float, float]:
    """Sum of all lanes as the nearest float and the remainder."""
    if not np.isfinite(high).all():
        return math.inf, 0.0
    while len(high) > 64:
        half = -(-len(high) // 2)
        rest = len(high) - half
        high[:rest], error = _two_sum(high[:rest], high[half:])
        low[:rest] += low[half:]
        low[:rest] += error
        high, low = high[:half], low[:half]
    return _sum(np.concatenate((high, low)))


def _sum(terms: FloatArray) -> tuple[float, float]:
    """Sum of few numbers, none of them minus infinity, as the nearest float and the remainder."""
    listed = terms.tolist()
    try:
        total = math.fsum(listed)
    except OverflowError:
        return math.inf, 0.0
    return (total, math.fsum((*listed, -total))) if math.isfinite(total) else (math.inf, 0.0)


@dataclass(frozen=True, slots=True)
class ErrorCounts:
    """Misses and false alarms at fixed thresholds; ``a + b`` merges the counts of two sets of trials."""

    thresholds: FloatArray
    n_miss: CountArray
    n_fa: CountArray
    n_tar: int | float
    n_non: int | float

    @classmethod
    def of(
        cls, tar: SortedClass | UnsortedClass, non: SortedClass | UnsortedClass, thresholds: FloatArray
    ) -> ErrorCounts:
        """Count in both classes; a score equal to a threshold is accepted."""
        return cls(thresholds, tar.below(thresholds), non.at_or_above(thresholds), tar.total, non.total)

    def __add__(self, other: ErrorCounts) -> ErrorCounts:
        """Merge with the counts of other trials at the same thresholds."""
        if not np.array_equal(self.thresholds, other.thresholds):
            raise ValueError("error counts merge only at the same thresholds")
        return ErrorCounts(
            self.thresholds,
            self.n_miss + other.n_miss,
            self.n_fa + other.n_fa,
            self.n_tar + other.n_tar,
            self.n_non + other.n_non,
        )

    @property
    def p_miss(self) -> FloatArray:
        """Miss rate at each threshold, a fraction."""
        return self.n_miss / self.n_tar

    @property
    def p_fa(self) -> FloatArray:
        """False-alarm rate at each threshold, a fraction."""
        return self.n_fa / self.n_non
