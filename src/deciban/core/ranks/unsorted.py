"""Errors at a few thresholds, counted in scores as they come: by comparing them, or by short sorts in cache."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deciban.core.ranks.counts import SortedClass, splitting
from deciban.types import CountArray, FloatArray, IntArray, ScoreArray

_LANES = 1 << 15
"""Scores at once: everything that is made of them stays in cache."""

_COMPARED = 8
"""Thresholds up to which comparing every score with each of them is faster than sorting."""

_SEARCHED = 1 << 13
"""Thresholds up to which searching for all of them in every block is faster than sorting all scores at once."""

_CLASHES = 16
"""Thresholds in a block that are better compared with all scores than with all scores sorted in float64."""


@dataclass(frozen=True, slots=True)
class UnsortedClass:
    """The scores of one class in any order, with whole weights if any: few thresholds need no sort of all scores.

    It answers as `deciban.core.ranks.counts.SortedClass` does; counts are integers and so the same.
    """

    scores: ScoreArray
    weights: IntArray | None

    @property
    def total(self) -> int:
        """Number of trials, or sum of their weights."""
        return len(self.scores) if self.weights is None else int(self.weights.sum())

    def below(self, thresholds: FloatArray) -> IntArray:
        """Number (or weight) of trials with ``score < threshold``, for every threshold."""
        if thresholds.size > _SEARCHED:
            return SortedClass.of(self.scores, self.weights).below(thresholds)
        wanted = splitting(self.scores, thresholds).ravel()
        counts, is_coarse = np.zeros(wanted.shape, np.int64), False
        for first in range(0, len(self.scores), _LANES):
            block = self.scores[first : first + _LANES]
            weights = None if self.weights is None else self.weights[first : first + _LANES]
            if wanted.size <= _COMPARED:
                counts += np.array([_below(block, weights, threshold) for threshold in wanted], np.int64)
            elif weights is not None:
                counts += _searched(block, weights, wanted)
            elif is_coarse or (positions := _rounded_positions(block, wanted)) is None:
                counts += np.searchsorted(np.sort(block), wanted)
                is_coarse = True  # and the scores to come mostly are, too
            else:
                counts += positions
        return counts.reshape(thresholds.shape)

    def at_or_above(self, thresholds: FloatArray) -> IntArray:
        """Number (or weight) of trials with ``score >= threshold``, for every threshold."""
        return self.total - self.below(thresholds)


def counted(scores: ScoreArray, weights: CountArray | None) -> SortedClass | UnsortedClass:
    """One class for questions about few thresholds; fractional weights are added up in order of score, always."""
    if weights is not None and weights.dtype != np.int64:
        return SortedClass.of(scores, weights)
    return UnsortedClass(scores, weights)


def _below(block: ScoreArray, weights: IntArray | None, threshold: np.floating) -> int:
    is_below = block < threshold
    return int(np.count_nonzero(is_below) if weights is None else weights[is_below].sum())


def _rounded_positions(block: ScoreArray, thresholds: ScoreArray) -> IntArray | None:
    """How many scores are below each threshold; nothing if many scores are as good as equal to thresholds.

    Rounding keeps the order of numbers that it does not make equal, and float32 sorts in half the time.
    """
    with np.errstate(over="ignore", under="ignore"):
        rounded, near = block.astype(np.float32), thresholds.astype(np.float32)
    rounded.sort()
    positions: IntArray = np.searchsorted(rounded, near)
    if block.dtype != np.float32:
        clashes = np.flatnonzero(rounded[np.minimum(positions, len(rounded) - 1)] == near)
        if len(clashes) > _CLASHES:
            return None
        positions[clashes] = [_below(block, None, threshold) for threshold in thresholds[clashes]]
    return positions


def _searched(block: ScoreArray, weights: IntArray, thresholds: ScoreArray) -> IntArray:
    """What the scores below each threshold weigh."""
    order = np.argsort(block)
    return np.append(0, np.cumsum(weights[order]))[np.searchsorted(block[order], thresholds)]
