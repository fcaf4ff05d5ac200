"""The receiver operating characteristic: operating points, errors at thresholds, costs, and the convex hull.

The hull follows from exact pooling of adjacent violators on integer counts (thesis appendix C).

Sorted trials that do not fit in memory arrive in ascending batches. Each batch keeps the corners of the ROC that can
be vertices of the hull, and the corners next to the lines that plots and limits need. All groups between two kept
corners become one group. Pairs and ties are counted before this. The result has the hull, PAV and curves of all
trials.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from deciban._validate import arrays as _validate
from deciban.core.ranks.counts import (
    FEW,
    CountTable,
    SortedClass,
    UnsortedClass,
    corners,
    thresholds_from,
    twice_ordered,
)
from deciban.core.ranks.loops import ready
from deciban.errors import InputError
from deciban.types import BoolArray, ByValue, CountArray, FloatArray, FloatPair, IntArray, ScoreArray


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


_GROUPS_PER_BATCH = 131072
"""Groups pooled in cache, before the remaining groups of all batches are pooled together."""

_Comparison: TypeAlias = Callable[[CountArray, CountArray], BoolArray]


def pool(n_tar: CountArray, n_non: CountArray, is_first: BoolArray | None = None) -> IntArray:
    """Return the start of each PAV block, as positions in the ascending groups of counts.

    Neighbours are pooled until the target fraction of every block is above that of its predecessor. Any order of
    pooling gives the same blocks, so that whole runs of violators are pooled at once, first within batches. With
    integer counts, comparisons are exact: the blocks depend on nothing but the counts.

    Parameters
    ----------
    n_tar, n_non : (n_groups,) arrays
        Trials of each class; no group may be empty in both.
    is_first : (n_groups,) array, optional
        True at the start of each table, if there are several; blocks do not cross tables.
    """
    compare = _not_increasing
    if n_tar.dtype != np.int64 or n_non.dtype != np.int64:
        compare = _not_increasing_weighted
    elif int(n_tar.sum()) * int(n_non.sum()) >= 2**63:
        compare = _not_increasing_beyond_int64
    elif is_first is None and len(n_tar) > FEW and (loops := ready()) is not None:
        starts, tar, non = np.empty((3, len(n_tar)), np.int64)
        return starts[: loops.pool(np.ascontiguousarray(n_tar), np.ascontiguousarray(n_non), starts, tar, non)].copy()
    parts = [slice(i, i + _GROUPS_PER_BATCH) for i in range(0, len(n_tar), _GROUPS_PER_BATCH)]
    apart = [None if is_first is None else is_first[part] for part in parts]
    starts = np.concatenate(
        [part.start + _pool(n_tar[part], n_non[part], compare, own) for part, own in zip(parts, apart, strict=True)]
    )
    if len(parts) > 1:
        own = None if is_first is None else is_first[starts]
        starts = starts[_pool(np.add.reduceat(n_tar, starts), np.add.reduceat(n_non, starts), compare, own)]
    return starts


def block_llr(n_tar: CountArray, n_non: CountArray) -> FloatArray:
    """Return the log-likelihood ratio of every block: ``ln(n_tar / T) - ln(n_non / N)`` in nats."""
    with np.errstate(divide="ignore"):
        llr: FloatArray = (np.log(n_tar) - np.log(n_tar.sum())) - (np.log(n_non) - np.log(n_non.sum()))
    return llr


def _pool(n_tar: CountArray, n_non: CountArray, compare: _Comparison, is_first: BoolArray | None) -> IntArray:
    starts = np.arange(len(n_tar))
    while True:
        violates = compare(n_tar, n_non)
        if is_first is not None:
            violates &= ~is_first[starts[1:]]
        values = np.flatnonzero(~violates) + 1
        if len(values) == len(violates):
            return starts
        values = np.concatenate((np.zeros(1, np.int64), values))
        n_tar, n_non, starts = np.add.reduceat(n_tar, values), np.add.reduceat(n_non, values), starts[values]


def _not_increasing(n_tar: CountArray, n_non: CountArray) -> BoolArray:
    """Return True for groups whose target fraction is at or below that of the previous group, by cross products."""
    return n_tar[:-1] * n_non[1:] >= n_tar[1:] * n_non[:-1]


def _not_increasing_weighted(n_tar: CountArray, n_non: CountArray) -> BoolArray:
    """Do the same as `_not_increasing` for fractional weights; fractions equal up to rounding count as equal."""
    return n_tar[:-1] * n_non[1:] >= n_tar[1:] * n_non[:-1] * (1 - 1e-12)


def _not_increasing_beyond_int64(n_tar: CountArray, n_non: CountArray) -> BoolArray:
    """Do the same as `_not_increasing` for products beyond 2**63: floats, then Python integers if unclear."""
    left = n_tar[:-1].astype(np.float64) * n_non[1:]
    right = n_tar[1:].astype(np.float64) * n_non[:-1]
    answer: BoolArray = left >= right
    for i in np.flatnonzero(np.abs(left - right) <= 1e-14 * np.maximum(left, right)):
        answer[i] = int(n_tar[i]) * int(n_non[i + 1]) >= int(n_tar[i + 1]) * int(n_non[i])
    return answer


FEW_ERRORS = 30
"""Doddington's rule of 30: an error rate from fewer errors is unreliable (thesis appendix B)."""


@dataclass(frozen=True, slots=True, eq=False)
class Pav(ByValue):
    """Blocks of scores that share one optimal log-likelihood ratio, in ascending order.

    Attributes
    ----------
    n_tar, n_non : (n_blocks,) arrays
        Trials of each class in the block (sums of weights if trials are weighted).
    low, high : (n_blocks,) float64 arrays
        Lowest and highest score in the block.
    llr : (n_blocks,) float64 array
        ``ln(n_tar / T) - ln(n_non / N)`` in nats, strictly ascending; the first may be -inf, the last +inf.
    """

    n_tar: CountArray
    n_non: CountArray
    low: FloatArray
    high: FloatArray
    llr: FloatArray

    @classmethod
    def of(cls, table: CountTable) -> Pav:
        """Pool the groups of a count table."""
        starts = pool(table.n_tar, table.n_non)
        n_tar, n_non = np.add.reduceat(table.n_tar, starts), np.add.reduceat(table.n_non, starts)
        low, high = table.edges(starts)
        return cls(n_tar, n_non, low, high, block_llr(n_tar, n_non))

    @property
    def thresholds(self) -> FloatArray:
        """Lowest accepted score at each vertex of the hull, (n_blocks + 1,); see `thresholds_from`.

        Every threshold above the highest rejected score, up to this one, gives the same decisions.
        """
        return thresholds_from(self.low)

    @property
    def deviation(self) -> float:
        """Mean distance of finite llrs from the scores in common logarithms; see `deciban.metrics.dev_pav`."""
        finite = np.isfinite(self.llr)
        x = np.stack((self.low[finite], self.high[finite]), axis=1).ravel() / math.log(10.0)
        if not len(x) or not np.isfinite(x).all():
            return math.inf if len(x) else math.nan
        gap = np.repeat(self.llr[finite], 2) / math.log(10.0) - x
        first, last, size = gap[:-1], gap[1:], np.abs(gap[:-1]) + np.abs(gap[1:])
        crossed = (first**2 + last**2) / (2.0 * np.where(size > 0.0, size, 1.0))
        area = np.diff(x) * np.where(first * last < 0.0, crossed, size / 2.0)
        return float(area.sum() / (x[-1] - x[0])) if x[-1] > x[0] else float(np.abs(gap).mean())

    def as_trials(self) -> tuple[FloatArray, CountArray, FloatArray, CountArray]:
        """Return recalibrated scores: llrs and trial counts of targets, then of non-targets."""
        tar, non = self.n_tar > 0, self.n_non > 0
        return self.llr[tar], self.n_tar[tar], self.llr[non], self.n_non[non]


@dataclass(frozen=True, slots=True, eq=False)
class Rocch(ByValue):
    """The lower convex hull of the ROC, from accept-all ``(p_fa, p_miss) = (1, 0)`` to reject-all ``(0, 1)``.

    Attributes
    ----------
    n_fa, n_miss : (n_vertices,) arrays
        False alarms and misses at each vertex (sums of weights if trials are weighted).
    llr : (n_vertices - 1,) float64 array
        Log-likelihood ratio of the PAV block between neighbouring vertices: the slope of that edge is
        ``-exp(llr)``.
    """

    n_fa: CountArray
    n_miss: CountArray
    llr: FloatArray

    @classmethod
    def of(cls, pav: Pav) -> Rocch:
        """Cumulate the counts of PAV blocks."""
        return cls(*corners(pav.n_tar, pav.n_non), pav.llr)

    @property
    def p_fa(self) -> FloatArray:
        """False-alarm rate at each vertex, a fraction, from 1 down to 0."""
        return np.asarray(self.n_fa / self.n_fa[0])

    @property
    def p_miss(self) -> FloatArray:
        """Miss rate at each vertex, a fraction, from 0 up to 1."""
        return np.asarray(self.n_miss / self.n_miss[-1])

    @property
    def area(self) -> float:
        """Area under the hull, miss rate over false-alarm rate: 0 is perfect, 0.5 is chance."""
        p_fa, p_miss = self.p_fa, self.p_miss
        return float(np.sum((p_fa[:-1] - p_fa[1:]) * (p_miss[:-1] + p_miss[1:])) / 2)

    def eer(self) -> float:
        """Equal error rate: both error rates where they are equal on the hull, a fraction (BOSARIS eq. 26)."""
        return self.uer(1.0)

    def uer(self, ratio: float) -> float:
        """Return the unequal error rate, ``p_fa`` where ``p_fa = ratio * p_miss`` on the hull (BOSARIS eq. 28).

        Raises
        ------
        InputError
            If ``ratio`` is not a finite positive number.
        """
        limits = np.finfo(np.float64)
        ratio = _validate.in_range(ratio, "ratio", float(limits.tiny), float(limits.max), "A ratio is positive")
        return self._crossing(ratio, self.n_miss[-1].item(), self.n_fa[0].item())

    def prbep(self) -> float:
        """Precision-recall break-even point: the number of misses where it equals the number of false alarms.

        A count, interpolated on the hull and not rounded (BOSARIS paper eq. 29).
        """
        return self._crossing(1.0, 1, 1)

    def _crossing(self, ratio: float, n_tar: float, n_non: float) -> float:
        """Return ``n_fa / n_non`` where the hull crosses ``n_fa / n_non = ratio * n_miss / n_tar``, exactly."""
        # The hull begins with false alarms only, so the first vertex is always before the line.
        after = int(np.argmax(self.n_fa / n_non <= ratio * (self.n_miss / n_tar)))
        fa_before, fa = self.n_fa[after - 1].item(), self.n_fa[after].item()
        miss_before, miss = self.n_miss[after - 1].item(), self.n_miss[after].item()
        return line_crossing((fa_before, miss_before), (fa, miss), ratio, n_tar, n_non)

    def eer_vertex(self) -> int:
        """Position of the vertex that represents the equal error rate: the error rates are closest there.

        Consider the prior at which the least cost is highest. Both ends of the edge that crosses the diagonal have
        this least cost, and it equals the equal error rate. Of these two vertices, the one with the smaller difference
        of error rates is chosen; in a tie, the one that accepts more.
        """
        n_tar, n_non = self.n_miss[-1].item(), self.n_fa[0].item()
        after = int(np.argmax(self.n_fa / n_non <= self.n_miss / n_tar))
        gaps = [abs(self.n_fa[at].item() * n_tar - self.n_miss[at].item() * n_non) for at in (after - 1, after)]
        return after - 1 if gaps[0] <= gaps[1] else after

    def best_vertices(self, log_odds: FloatArray) -> IntArray:
        """Return the position of the cheapest vertex at each prior log odds (nats); in a tie the lower threshold."""
        return np.searchsorted(self.llr, -log_odds, side="left")

    def best_rates(self, log_odds: FloatArray) -> FloatPair:
        """Return miss and false-alarm rates of the cheapest vertex at each prior log odds (nats)."""
        vertex = self.best_vertices(log_odds)
        return self.p_miss[vertex], self.p_fa[vertex]

    def min_dcf(
        self,
        *,
        p_target: ArrayLike | None = None,
        prior_log_odds: ArrayLike | None = None,
        c_miss: float = 1.0,
        c_fa: float = 1.0,
        normalize: bool = True,
    ) -> float | FloatArray:
        """Return the minimum detection cost at one or many priors; see `deciban.metrics.min_dcf`."""
        log_odds = _validate.prior_log_odds(p_target, prior_log_odds)
        c_miss, c_fa = _validate.costs(c_miss, c_fa)
        p_miss, p_fa = self.best_rates(effective_log_odds(log_odds, c_miss, c_fa))
        cost = detection_cost(p_miss, p_fa, log_odds, c_miss, c_fa, normalize=normalize)
        return cost if log_odds.ndim else float(cost)

    def few_errors(self, n_errors: float) -> tuple[float, float]:
        """Return the prior log odds beyond which fewer than ``n_errors`` errors remain; see `deciban.metrics.dr30`."""
        false_alarms = np.flatnonzero(self.n_fa >= n_errors)
        misses = np.flatnonzero(self.n_miss >= n_errors)
        return (
            -float(self.llr[false_alarms[-1]]) + 0.0 if len(false_alarms) else math.inf,
            -float(self.llr[misses[0] - 1]) + 0.0 if len(misses) else -math.inf,
        )


_BESIDE = np.arange(-2, 3)
"""Offsets of the corners that are kept near a line, in case rounding moves the line by one corner."""


class CornerCounts(NamedTuple):
    """Counts near which all corners are needed, ascending: misses, and false alarms."""

    miss: FloatArray
    fa: FloatArray


@dataclass(frozen=True, slots=True)
class OrderedPairs:
    """Counts of target and non-target pairs by order; ``low + high`` merges two parts, one above the other.

    Attributes
    ----------
    n_tar, n_non : int or float
        Trials, or their weight.
    right, wrong : int or float
        Twice the number of pairs with the target or the non-target on top; ties count once in both.
    n_tied : int or float
        Trials whose score also occurs in the other class.

    Examples
    --------
    >>> OrderedPairs(1, 1, 1, 1, 2) + OrderedPairs(2, 0, 0, 0, 0)
    OrderedPairs(n_tar=3, n_non=1, right=5, wrong=1, n_tied=2)
    """

    n_tar: int | float
    n_non: int | float
    right: int | float
    wrong: int | float
    n_tied: int | float

    @classmethod
    def of(cls, groups: ScoreGroups) -> OrderedPairs:
        """Count pairs of groups."""
        tar, non = groups.n_tar, groups.n_non
        if not tar.dtype == non.dtype == np.int64:
            tar, non = tar.astype(np.float64), non.astype(np.float64)
        tied = (tar[(tar > 0) & (non > 0)].sum() + non[(tar > 0) & (non > 0)].sum()).item()
        return cls(tar.sum().item(), non.sum().item(), twice_ordered(non, tar), twice_ordered(tar, non), tied)

    def __add__(self, high: OrderedPairs) -> OrderedPairs:
        """Merge with the trials above."""
        return OrderedPairs(
            self.n_tar + high.n_tar,
            self.n_non + high.n_non,
            self.right + high.right + 2 * self.n_non * high.n_tar,
            self.wrong + high.wrong + 2 * self.n_tar * high.n_non,
            self.n_tied + high.n_tied,
        )


class ScoreGroups(NamedTuple):
    """Trials (or weight) and entries of both classes in ascending groups, as in `CountTable`."""

    n_tar: CountArray
    n_non: CountArray
    tar_entries: IntArray
    non_entries: IntArray

    @classmethod
    def joined(cls, parts: Sequence[ScoreGroups]) -> ScoreGroups:
        """Join consecutive parts; a run of one class that continues in the next part becomes one group.

        Examples
        --------
        >>> one = np.array([0]), np.array([2]), np.array([0]), np.array([2])
        >>> ScoreGroups.joined([ScoreGroups(*one), ScoreGroups(*one)]).n_non.tolist()
        [4]
        """
        whole = cls(*map(np.concatenate, zip(*parts, strict=True)))
        kind = np.where(whole.n_tar == 0, 1, np.where(whole.n_non == 0, 2, 0))
        begins = np.ones(len(kind), np.bool_)
        begins[1:] = (kind[1:] != kind[:-1]) | (kind[1:] == 0)
        return whole.together(np.flatnonzero(begins))

    def together(self, starts: IntArray) -> ScoreGroups:
        """Merge all groups from each of these positions to the next."""
        return ScoreGroups(*(np.add.reduceat(one, starts) if len(starts) else one for one in self))

    def thinned(self, below: tuple[float, float], totals: tuple[float, float], lines: CornerCounts) -> ScoreGroups:
        """Keep only the corners that can be vertices of a hull or are next to a line.

        Parameters
        ----------
        below, totals : (tar, non)
            Trials (or weight) below these groups, and in total.
        lines : CornerCounts
        """
        last = len(self.n_tar)
        n_miss = below[0] + np.concatenate(([0], np.cumsum(self.n_tar)))
        n_fa = totals[1] - below[1] - np.concatenate(([0], np.cumsum(self.n_non)))
        at = _next_to(lines.miss, n_miss), last + 1 - _next_to(lines.fa, n_fa[::-1])
        beside = (np.concatenate(at)[:, None] + _BESIDE).ravel()
        values = np.concatenate((pool(self.n_tar, self.n_non), beside, [0, 1, 2, last - 2, last - 1]))
        return self.together(np.unique(values[(values >= 0) & (values < last)]))


def _next_to(lines: FloatArray, ascending: CountArray) -> IntArray:
    """Return the positions of the first number at each line, for the lines within the range of the numbers."""
    first, last = np.searchsorted(lines, ascending[[0, -1]], side="right")
    return np.searchsorted(ascending, lines[first:last])


@dataclass(frozen=True, slots=True)
class CoarseTable(CountTable):
    """Count table of merged groups; pairs and ties were counted before the merge.

    Attributes
    ----------
    pairs : OrderedPairs
    """

    pairs: OrderedPairs

    def auc(self) -> float:
        """Return the AUC; see `CountTable.auc`."""
        return self._share(self.pairs.right)

    def error_area(self) -> float:
        """Return ``1 - auc``; see `CountTable.error_area`."""
        return self._share(self.pairs.wrong)

    @property
    def n_tied(self) -> int | float:
        """Number of tied trials; see `CountTable.n_tied`."""
        return self.pairs.n_tied

    def _share(self, some: float) -> float:
        return some / (self.pairs.right + self.pairs.wrong)


def steps(tar: ScoreArray, non: ScoreArray, n: int) -> Iterator[tuple[slice, slice]]:
    """Yield slices of two ascending arrays with about ``n`` entries of the longer one; equal scores stay together.

    Examples
    --------
    >>> found = steps(np.array([1.0, 2.0, 2.0, 2.0]), np.array([0.0, 2.0, 3.0]), 2)
    >>> [(one.stop, other.stop) for one, other in found]
    [(1, 1), (4, 2), (4, 3)]
    """
    long = tar if len(tar) >= len(non) else non
    at, done = 0, (0, 0)
    while done != (len(tar), len(non)):
        upto = (len(tar), len(non))
        if at + n < len(long):
            side = "left" if long[at + n] > long[at] else "right"
            upto = tuple(int(np.searchsorted(one, long[at + n], side=side)) for one in (tar, non))  # type: ignore[call-overload,assignment]
        yield slice(done[0], upto[0]), slice(done[1], upto[1])
        at, done = upto[0] if long is tar else upto[1], upto


def groups_of(tar: SortedClass, non: SortedClass) -> ScoreGroups:
    """Return the groups of two sorted classes; one may be empty."""
    table = CountTable.of(tar, non)
    return ScoreGroups(table.n_tar, table.n_non, table.tar_entries, table.non_entries)
