"""Errors at single thresholds, of sorted scores or counted in scores as they come: crossings, limits, evidence."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from deciban.core.ranks.counts import CountTable, SortedClass, corners, splitting, thresholds_from
from deciban.core.ranks.hull import Rocch, line_crossing
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
    """Count the scores below each threshold; return None if many scores are almost equal to thresholds.

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


ErrorKind: TypeAlias = Literal["fa", "miss"]
"""Which errors are limited: false alarms or misses."""


@dataclass(frozen=True, slots=True)
class ErrorsAt:
    """Misses and false alarms at one threshold.

    Attributes
    ----------
    threshold : float
        The lowest score that is accepted, at most the largest finite number; ``inf`` stands for rejecting all, trials
        with infinite scores too.
    n_miss, n_fa, n_tar, n_non : int or float
        Misses, false alarms, and trials of each class (sums of weights if trials are weighted).
    """

    threshold: float
    n_miss: int | float
    n_fa: int | float
    n_tar: int | float
    n_non: int | float

    @property
    def p_miss(self) -> float:
        """Miss rate, a fraction."""
        return self.n_miss / self.n_tar

    @property
    def p_fa(self) -> float:
        """False-alarm rate, a fraction."""
        return self.n_fa / self.n_non

    @property
    def hter(self) -> float:
        """Half total error rate: the mean of both rates, a fraction."""
        return (self.p_miss + self.p_fa) / 2

    @property
    def gap(self) -> int | float:
        """``p_miss - p_fa`` times the numbers of trials of both classes: exact where these are whole numbers."""
        return self.n_miss * self.n_non - self.n_fa * self.n_tar

    @classmethod
    def of(cls, tar: SortedClass | UnsortedClass, non: SortedClass | UnsortedClass, threshold: float) -> ErrorsAt:
        """Count errors; a score equal to the threshold is accepted, but for ``inf``, which rejects all."""
        if threshold == math.inf:
            return cls(threshold, tar.total, 0, tar.total, non.total)
        at = np.array([threshold], dtype=np.float64)
        return cls(threshold, tar.below(at).item(), non.at_or_above(at).item(), tar.total, non.total)


def crossing(tar: SortedClass, non: SortedClass) -> tuple[ErrorsAt, ErrorsAt]:
    """The neighbouring points of the steppy ROC between which misses become as frequent as false alarms.

    All thresholds are looked at, also those within runs of scores of one class; equal scores are not split.

    Returns
    -------
    before, after : ErrorsAt
        The last point with fewer misses than false alarms, as rates, and the next one.
    """

    def has_crossed(score: float) -> bool:
        return ErrorsAt.of(tar, non, thresholds_from(np.array([score]))[0].item()).gap >= 0

    both = [one.scores for one in (tar, non)]
    firsts = [bisect_left(s, x=True, key=has_crossed) for s in both]
    found = [float(s[first]) for s, first in zip(both, firsts, strict=True) if first < len(s)]
    # The lowest score of all accepts everything, and has not crossed: there is always one below.
    lasts = [int(np.searchsorted(s, s.dtype.type(min(found)))) if found else len(s) for s in both]
    below = max(float(s[last - 1]) for s, last in zip(both, lasts, strict=True) if last)
    places = thresholds_from(np.array([below, *([min(found)] if found else [])])).tolist()
    return ErrorsAt.of(tar, non, places[0]), ErrorsAt.of(tar, non, places[1])


def closest(before: ErrorsAt, after: ErrorsAt) -> ErrorsAt:
    """That of both sides of the crossing where the error rates differ least; in a tie the lower threshold."""
    return before if -before.gap <= after.gap else after


def eer_readings(rocch: Rocch, tar: SortedClass, non: SortedClass) -> dict[str, float]:
    """Equal error rate by every convention that is in use, by name; see `deciban.metrics.eer_conventions`."""
    before, after = crossing(tar, non)
    nearest = closest(before, after)
    return {
        "rocch": rocch.eer(),
        "interpolated": line_crossing(
            (before.n_fa, before.n_miss), (after.n_fa, after.n_miss), 1.0, tar.total, non.total
        ),
        "closest_mean": nearest.hter,
        "closest_max": max(nearest.p_miss, nearest.p_fa),
        "closest_p_fa": nearest.p_fa,
        "crossed_p_miss": after.p_miss,
    }


def limited(table: CountTable, limits: Iterable[float], which: ErrorKind) -> tuple[ErrorsAt, ...]:
    """Least errors of one kind while the rate of the other kind is at most a limit, on the steppy ROC.

    Parameters
    ----------
    table : CountTable
        Of both classes.
    limits : iterable of float
        Rates, fractions.
    which : {"fa", "miss"}
        Which errors are limited.

    Returns
    -------
    tuple of ErrorsAt
        Of the thresholds with the least errors of the other kind that with the fewest limited errors.
    """
    n_fa, n_miss = corners(table.n_tar, table.n_non)
    n_tar, n_non, thresholds = n_miss[-1].item(), n_fa[0].item(), thresholds_from(table.corner_scores())
    found = []
    for limit in limits:
        if which == "fa":
            first = int(np.searchsorted(-(n_fa / n_non), -limit, side="left"))
            at = int(np.searchsorted(n_miss, n_miss[first], side="right")) - 1
        else:
            last = int(np.searchsorted(n_miss / n_tar, limit, side="right")) - 1
            at = int(np.searchsorted(-n_fa, -n_fa[last], side="left"))
        found.append(ErrorsAt(float(thresholds[at]), n_miss[at].item(), n_fa[at].item(), n_tar, n_non))
    return tuple(found)


def evidence_bounds(factors: FloatArray) -> FloatArray:
    """Natural logarithms of likelihood ratios; a ratio that is written as common logarithm is never beyond its own.

    ``ln 1000`` and ``3 ln 10`` differ by an ulp: the larger one is taken, so that a score that is equal to the bound,
    whichever way it was written, is not beyond it.
    """
    return np.maximum(np.log(factors), np.log10(factors) * math.log(10))


def beyond(bounds: FloatArray) -> FloatArray:
    """Thresholds at which exactly the scores above the bounds are accepted."""
    return np.nextafter(bounds, np.inf)
