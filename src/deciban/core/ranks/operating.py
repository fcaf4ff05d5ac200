"""Operating points, costs of errors, and errors at single thresholds: crossings, limits, misleading evidence."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.special import expit, logit

from deciban._validate import arrays as _validate
from deciban.core.ranks.counts import CountTable, SortedClass, corners, splitting, thresholds_from
from deciban.errors import InputError
from deciban.types import CountArray, FloatArray, IntArray, ScoreArray


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """A detection problem: the prior of targets and the costs of both errors.

    Parameters
    ----------
    p_target : float
        Prior probability of a target, inside (0, 1).
    c_miss, c_fa : float
        Cost of a miss and of a false alarm, at least 0.

    Raises
    ------
    InputError
        If the prior is outside (0, 1), a cost is negative or not finite, or both are 0.

    Examples
    --------
    >>> point = OperatingPoint(0.01, c_miss=10, c_fa=1)
    >>> round(point.effective_prior, 5)
    0.09174
    >>> round(point.threshold, 4)
    2.2925
    """

    p_target: float
    c_miss: float = 1.0
    c_fa: float = 1.0

    def __post_init__(self) -> None:
        if _validate.prior_log_odds(self.p_target, None).ndim:
            raise InputError(f"p_target: an operating point has one prior, got {self.p_target!r}.")
        _validate.costs(self.c_miss, self.c_fa)
        for name in ("p_target", "c_miss", "c_fa"):
            object.__setattr__(self, name, np.asarray(getattr(self, name)).item())  # may be a NumPy scalar

    @property
    def log_odds(self) -> float:
        """Effective prior log odds ``logit p_eff`` in nats (BOSARIS paper eq. 10)."""
        return float(effective_log_odds(logit(self.p_target), self.c_miss, self.c_fa))

    @property
    def effective_prior(self) -> float:
        """Prior of the problem with unit costs that has the same decisions (BOSARIS paper eq. 10)."""
        miss, false_alarm = self.p_target * self.c_miss, (1 - self.p_target) * self.c_fa
        both = miss + false_alarm
        return miss / both if 0 < both < np.inf else float(expit(self.log_odds))

    @property
    def default_cost(self) -> float:
        """Cost of the better of accept-all and reject-all, the divisor of normalized costs (BOSARIS eq. 19)."""
        return min(self.p_target * self.c_miss, (1.0 - self.p_target) * self.c_fa)

    @property
    def threshold(self) -> float:
        """Bayes threshold on log-likelihood ratios in nats: accept at or above it (BOSARIS paper eq. 11)."""
        return -self.log_odds

    def __str__(self) -> str:
        costs = "" if self.c_miss == self.c_fa == 1 else f", costs {self.c_miss:g}:{self.c_fa:g}"
        prior = f"{self.p_target:g}"
        return f"p_target {prior if float(prior) == self.p_target else repr(self.p_target)}{costs}"


_FARTHEST = 700.0
"""Largest absolute prior log odds in nats at which both priors are positive floats with full precision."""

PointLike: TypeAlias = OperatingPoint | float | Sequence[float]
"""Operating points as users write them: see `as_operating_point`."""

WORSE_THAN_NONE = 1.0 + 1e-9
"""Normalized costs above this are worse than ignoring the scores, even allowing for rounding."""


def as_operating_point(point: Any) -> OperatingPoint:
    """Return an operating point with normalized costs.

    ``point`` is an `OperatingPoint`, a ``p_target``, or ``(p_target, c_miss, c_fa)``.

    Raises
    ------
    InputError
        If ``point`` has another form, if a prior or a cost is not possible, such as 0, or if double precision cannot
        distinguish the effective prior from 0 or 1.
    """
    if not isinstance(point, OperatingPoint):
        values = tuple(point) if isinstance(point, Sequence) or getattr(point, "ndim", 0) > 0 else (point,)
        if isinstance(point, str) or not 1 <= len(values) <= 3:
            raise InputError(f"operating_points: expected p_target or (p_target, c_miss, c_fa), got {point!r}.")
        try:
            point = OperatingPoint(*values)
        except InputError as error:
            raise InputError(f"operating_points: {error}") from error
    checked: OperatingPoint = point
    if checked.c_miss == 0 or checked.c_fa == 0:
        raise InputError(f"operating_points: {checked} has a cost of 0: its default decision costs nothing.")
    if abs(checked.log_odds) > _FARTHEST:
        raise InputError(
            f"operating_points: {checked} has effective prior log odds {checked.log_odds:.4g}, which is beyond "
            f"{_FARTHEST:g} nats: double precision cannot distinguish its prior from 0 or 1. Use a less extreme prior, "
            "or costs that differ less."
        )
    return checked


def effective_log_odds(
    log_odds: float | FloatArray, c_miss: float | FloatArray, c_fa: float | FloatArray
) -> FloatArray:
    """Return prior log odds of the problem with unit costs that has the same decisions (BOSARIS paper eq. 10).

    This adds logarithms: with unit costs, the log odds are unchanged, so that a score exactly at ``-prior_log_odds``
    is compared exactly. A cost of 0 gives infinite log odds.
    """
    with np.errstate(divide="ignore"):
        return np.asarray(log_odds + (np.log(c_miss) - np.log(c_fa)))


def default_error(log_odds: FloatArray) -> FloatArray:
    """Return the error rate of decisions without scores at prior log odds in nats: the smaller of both priors.

    Examples
    --------
    >>> default_error(np.array([0.0, np.log(3.0), -np.inf])).tolist()
    [0.5, 0.25, 0.0]
    """
    return np.asarray(expit(-np.abs(log_odds)))


def detection_cost(
    p_miss: FloatArray,
    p_fa: FloatArray,
    log_odds: FloatArray,
    c_miss: float | FloatArray,
    c_fa: float | FloatArray,
    *,
    normalize: bool,
) -> FloatArray:
    """Return the detection cost of error rates at prior log odds (BOSARIS paper eqs. 7 and 19).

    Parameters
    ----------
    p_miss, p_fa, log_odds : arrays of one shape
        Error rates as fractions; prior log odds in nats, finite.
    c_miss, c_fa : float or arrays of the same shape
    normalize : bool
        Divide by the cost of the better of accept-all and reject-all. The ratio is correct even if priors are so
        extreme that both costs underflow.

    Raises
    ------
    InputError
        If ``normalize`` is True and one cost is 0: then accept-all or reject-all costs nothing.
    """
    if not normalize:
        return expit(log_odds) * c_miss * p_miss + expit(-log_odds) * c_fa * p_fa
    if not (np.all(c_miss) and np.all(c_fa)):
        raise InputError("normalize: with a cost of 0 the default decision costs nothing. Pass normalize=False.")
    odds = effective_log_odds(log_odds, c_miss, c_fa)
    # Dividing by the smaller of the two weights leaves weights 1 and exp(|log odds|) >= 1.
    with np.errstate(over="ignore"):
        heavy = np.exp(np.abs(odds))
    rare, common = np.where(odds <= 0, p_miss, p_fa), np.where(odds <= 0, p_fa, p_miss)
    return rare + np.multiply(heavy, common, where=common > 0, out=np.zeros(np.broadcast(heavy, common).shape))


_LANES = 1 << 15
"""Scores in a batch: all temporaries stay in cache."""

_COMPARED = 8
"""Number of thresholds up to which comparing every score with each of them is faster than sorting."""

_SEARCHED = 1 << 13
"""Number of thresholds up to which a search in every batch is faster than sorting all scores at once."""

_CLASHES = 16
"""Number of unclear thresholds in a batch up to which direct comparisons are faster than sorting scores in float64."""


@dataclass(frozen=True, slots=True)
class UnsortedClass:
    """The scores of one class in any order, with whole weights if any: few thresholds need no full sort.

    Its methods return the same counts as `deciban.core.ranks.counts.SortedClass`; all counts are integers.
    """

    scores: ScoreArray
    weights: IntArray | None

    @property
    def total(self) -> int:
        """Number of trials, or sum of their weights."""
        return len(self.scores) if self.weights is None else int(self.weights.sum())

    def below(self, thresholds: FloatArray) -> IntArray:
        """Return the number (or weight) of trials with ``score < threshold``, for every threshold."""
        if thresholds.size > _SEARCHED:
            return SortedClass.of(self.scores, self.weights).below(thresholds)
        borders = splitting(self.scores, thresholds).ravel()
        counts, is_coarse = np.zeros(borders.shape, np.int64), False
        for first in range(0, len(self.scores), _LANES):
            block = self.scores[first : first + _LANES]
            weights = None if self.weights is None else self.weights[first : first + _LANES]
            if borders.size <= _COMPARED:
                counts += np.array([_below(block, weights, threshold) for threshold in borders], np.int64)
            elif weights is not None:
                counts += _searched(block, weights, borders)
            elif is_coarse or (positions := _rounded_positions(block, borders)) is None:
                counts += np.searchsorted(np.sort(block), borders)
                is_coarse = True  # later scores mostly are coarse, too
            else:
                counts += positions
        return counts.reshape(thresholds.shape)

    def at_or_above(self, thresholds: FloatArray) -> IntArray:
        """Return the number (or weight) of trials with ``score >= threshold``, for every threshold."""
        return self.total - self.below(thresholds)


def counted(scores: ScoreArray, weights: CountArray | None) -> SortedClass | UnsortedClass:
    """Return one class, prepared for few thresholds; fractional weights are always summed in order of score."""
    if weights is not None and weights.dtype != np.int64:
        return SortedClass.of(scores, weights)
    return UnsortedClass(scores, weights)


def _below(block: ScoreArray, weights: IntArray | None, threshold: np.floating) -> int:
    is_below = block < threshold
    return int(np.count_nonzero(is_below) if weights is None else weights[is_below].sum())


def _rounded_positions(block: ScoreArray, thresholds: ScoreArray) -> IntArray | None:
    """Count the scores below each threshold; return None if many scores are almost equal to thresholds.

    Rounding preserves the order of numbers that stay different, and sorting float32 takes half the time.
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
    """Return the weight of the scores below each threshold."""
    order = np.argsort(block)
    return np.append(0, np.cumsum(weights[order]))[np.searchsorted(block[order], thresholds)]


ErrorKind: TypeAlias = Literal["fa", "miss"]
"""Errors whose rate is limited: false alarms or misses."""


@dataclass(frozen=True, slots=True)
class ErrorsAt:
    """Misses and false alarms at one threshold.

    Attributes
    ----------
    threshold : float
        The lowest accepted score, at most the largest finite number; ``inf`` rejects all trials, even with infinite
        scores.
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
        """Half total error rate: the mean of both error rates, a fraction."""
        return (self.p_miss + self.p_fa) / 2

    @property
    def gap(self) -> int | float:
        """``p_miss - p_fa`` times the numbers of trials of both classes; exact for whole numbers."""
        return self.n_miss * self.n_non - self.n_fa * self.n_tar

    @classmethod
    def of(cls, tar: SortedClass | UnsortedClass, non: SortedClass | UnsortedClass, threshold: float) -> ErrorsAt:
        """Count errors; a score equal to the threshold is accepted, except at ``inf``, which rejects all."""
        if threshold == math.inf:
            return cls(threshold, tar.total, 0, tar.total, non.total)
        at = np.array([threshold], dtype=np.float64)
        return cls(threshold, tar.below(at).item(), non.at_or_above(at).item(), tar.total, non.total)


def crossing(tar: SortedClass, non: SortedClass) -> tuple[ErrorsAt, ErrorsAt]:
    """Return the neighbouring points of the steppy ROC between which misses become as frequent as false alarms.

    All thresholds are considered, also within runs of scores of one class; equal scores are not split.

    Returns
    -------
    before, after : ErrorsAt
        The last point with a lower miss rate than false-alarm rate, and the next one.
    """

    def has_crossed(score: float) -> bool:
        return ErrorsAt.of(tar, non, thresholds_from(np.array([score]))[0].item()).gap >= 0

    both = [one.scores for one in (tar, non)]
    firsts = [bisect_left(s, x=True, key=has_crossed) for s in both]
    items = [float(s[first]) for s, first in zip(both, firsts, strict=True) if first < len(s)]
    # The lowest score accepts all trials and has not crossed, so that there is always a point below.
    lasts = [int(np.searchsorted(s, s.dtype.type(min(items)))) if items else len(s) for s in both]
    below = max(float(s[last - 1]) for s, last in zip(both, lasts, strict=True) if last)
    places = thresholds_from(np.array([below, *([min(items)] if items else [])])).tolist()
    return ErrorsAt.of(tar, non, places[0]), ErrorsAt.of(tar, non, places[1])


def closest(before: ErrorsAt, after: ErrorsAt) -> ErrorsAt:
    """Return the side of the crossing with the smaller difference of error rates; in a tie the lower threshold."""
    return before if -before.gap <= after.gap else after


def line_crossing(
    before: tuple[float, float], after: tuple[float, float], ratio: float, n_tar: float, n_non: float
) -> float:
    """Return the false-alarm rate where a line segment crosses ``n_fa / n_non = ratio * n_miss / n_tar``.

    Parameters
    ----------
    before, after : (n_fa, n_miss)
        Ends of the segment: false alarms and misses. ``before`` is above the other line, ``after`` on or below it.
    ratio, n_tar, n_non : float
        Slope of the other line; numbers of trials.
    """
    (fa_before, miss_before), (fa, miss) = before, after
    area = fa_before * miss - fa * miss_before
    return float(ratio * area / (n_tar * (fa_before - fa) + ratio * n_non * (miss - miss_before)))


def eer_readings(on_hull: float, tar: SortedClass, non: SortedClass) -> dict[str, float]:
    """Return the equal error rate by every convention, by name; see `deciban.metrics.eer_conventions`."""
    before, after = crossing(tar, non)
    nearest = closest(before, after)
    return {
        "rocch": on_hull,
        "interpolated": line_crossing(
            (before.n_fa, before.n_miss), (after.n_fa, after.n_miss), 1.0, tar.total, non.total
        ),
        "closest_mean": nearest.hter,
        "closest_max": max(nearest.p_miss, nearest.p_fa),
        "closest_p_fa": nearest.p_fa,
        "crossed_p_miss": after.p_miss,
    }


def limited(table: CountTable, limits: Iterable[float], which: ErrorKind) -> tuple[ErrorsAt, ...]:
    """Return the least errors of one kind at which the rate of the other kind is within a limit, on the steppy ROC.

    Parameters
    ----------
    table : CountTable
        Counts of both classes.
    limits : iterable of float
        Rates, fractions.
    which : {"fa", "miss"}
        Errors whose rate is limited.

    Returns
    -------
    tuple of ErrorsAt
        For each limit, the threshold with the fewest other errors; in a tie, the one with the fewest limited errors.
    """
    n_fa, n_miss = corners(table.n_tar, table.n_non)
    n_tar, n_non, thresholds = n_miss[-1].item(), n_fa[0].item(), thresholds_from(table.corner_scores())
    items = []
    for limit in limits:
        if which == "fa":
            first = int(np.searchsorted(-(n_fa / n_non), -limit, side="left"))
            at = int(np.searchsorted(n_miss, n_miss[first], side="right")) - 1
        else:
            last = int(np.searchsorted(n_miss / n_tar, limit, side="right")) - 1
            at = int(np.searchsorted(-n_fa, -n_fa[last], side="left"))
        items.append(ErrorsAt(float(thresholds[at]), n_miss[at].item(), n_fa[at].item(), n_tar, n_non))
    return tuple(items)


def evidence_bounds(factors: FloatArray) -> FloatArray:
    """Return natural logarithms of likelihood-ratio bounds, rounded so that equal scores are not beyond a bound.

    ``ln 1000`` and ``3 ln 10`` differ by an ulp. The larger one is used, so that a score that equals the bound in
    either notation is not beyond it.
    """
    return np.maximum(np.log(factors), np.log10(factors) * math.log(10))


def beyond(bounds: FloatArray) -> FloatArray:
    """Return thresholds that accept exactly the scores above the bounds."""
    return np.nextafter(bounds, np.inf)
