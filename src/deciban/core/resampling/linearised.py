"""Two-class metrics as sums of mean costs in bins of scores.

The bins are few enough for a table of units and bins, and fine enough that every metric is a function of their counts.
If a metric is a minimum over thresholds or maps, its change by moving the minimum is of second order (the envelope
theorem). So each metric has one cost for every bin and class, and its derivative in the weight of a unit is that of two
means.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self, TypeAlias

import numpy as np
from scipy.special import expit, ndtr

from deciban.core.expected import softplus
from deciban.core.proper import beta_cost_non, beta_cost_tar
from deciban.core.ranks.counts import CountTable, SortedClass
from deciban.core.ranks.roc import Pav, Rocch, detection_cost, pool
from deciban.core.resampling.intervals import FEWEST_CLUSTERS, is_enough
from deciban.core.resampling.units import TrialUnits
from deciban.errors import InputError
from deciban.types import AnyArray, BoolArray, CountArray, FloatArray, FloatPair, IntArray, ScoreArray

_BINS = 1 << 16
_FEW = 1 << 11
"""Number of scores up to which a search is faster than building bins."""

_STEP = 1 << 16
"""Trials per step: temporaries stay in cache."""

_LARGEST = float(np.finfo(np.float64).max)
_WIDEST = 4.5
"""Limit of rates on a probit scale; more extreme rates are not distinguished."""

_ROOM = 1 << 22
"""Number of bins with one unit. It falls with the power 3/2 of the number of units: 4096 up to 100, 132 at 1000."""

_FEWEST, _MOST = 128, 4096
"""Numbers of bins with many units, and with few."""

AS_SINGLES = 256
"""Number of units that gives 1024 bins, for trials that are units: they are counted by group of units, not by unit."""


@dataclass(frozen=True)
class ScoreBins:
    """Bins of the score axis: bin 0 is below the first border, bin k from border k - 1 up to (excluding) border k.

    Attributes
    ----------
    borders : (n_bins - 1,) array
        Ascending, finite.
    starts : (n_groups,) int array
        First of the bins between borders that follow from ranks, if some do not. Decisions for other trials are the
        same in all of them, so that increasing maps of the scores do not change these decisions.
    """

    borders: FloatArray
    starts: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))

    @property
    def n_bins(self) -> int:
        """Number of bins."""
        return len(self.borders) + 1

    def below(self, threshold: float) -> int:
        """Return the number of bins below a threshold that is a border or infinite: bins with rejected trials."""
        return int(self.positions(np.array([threshold]))[0])

    def positions(self, thresholds: FloatArray) -> IntArray:
        """Return the number of bins below each threshold; see `below`."""
        above = np.searchsorted(self.borders, thresholds, side="left") + 1
        return np.where(np.isinf(thresholds), np.where(thresholds > 0.0, self.n_bins, 0), above)

    def of(self, scores: ScoreArray) -> IntArray:
        """Return the bin of every score; a table of narrow intervals finds most without a search."""
        if len(scores) <= _FEW:
            return np.searchsorted(self.borders, scores.astype(np.float64, copy=False), side="right")
        first, width, lowest = self._bins
        indices = np.empty(len(scores), lowest.dtype)
        for start in range(0, len(scores), _STEP):
            part = slice(start, start + _STEP)
            values = scores[part].astype(np.float64, copy=False)
            bins, own = self._bin(values, first, width), indices[part]
            np.take(lowest, bins, out=own, mode="wrap")  # bins are in range: mode without a check
            unclear = np.flatnonzero(own < 0)
            own[unclear] = self._beside_borders(values[unclear], ~own[unclear])
        return indices

    def _beside_borders(self, values: FloatArray, below: IntArray) -> IntArray:
        """Return bins of scores in intervals with borders, given the number of borders below; few have two."""
        indices = below + (values >= self.borders[below])
        several = np.flatnonzero(values >= np.append(self.borders, np.inf)[indices])
        indices[several] = np.searchsorted(self.borders, values[several], side="right")
        return indices

    @cached_property
    def _bins(self) -> tuple[float, float, IntArray]:
        """Start of the narrow intervals, their number per unit of score, and the bin of each.

        For an interval with a border inside, the entry is the lowest bin with inverted bits: a negative number.

        Scores and borders are assigned to intervals by the same monotone arithmetic. So in an interval without a
        border, all scores are on the same side of each border, for any rounding.
        """
        low, high = (self.borders[0], self.borders[-1]) if len(self.borders) else (0.0, 0.0)
        finite = self.borders[np.abs(self.borders) < _LARGEST]
        if len(finite):
            low, high = finite[0], finite[-1]
        with np.errstate(over="ignore"):
            width = (_BINS - 2) / (high - low) if high > low else 1.0
        width = float(width) if np.isfinite(width) and width > 0.0 else 1.0
        first = max(float(low) - 1.0 / width, -_LARGEST)  # bin 0 is below the lowest border
        inside = np.bincount(self._bin(self.borders, first, width), minlength=_BINS)
        below = np.cumsum(inside) - inside
        return first, width, np.where(inside > 0, ~below, below).astype(np.int32)

    @staticmethod
    def _bin(values: FloatArray, first: float, width: float) -> IntArray:
        with np.errstate(over="ignore", invalid="ignore"):
            places = (values - first) * width
        np.clip(places, 0.0, float(_BINS - 1), out=places)
        return places.astype(np.int64)


def bins_of(table: CountTable, pav: Pav, values: FloatArray, n_units: int) -> ScoreBins:
    """Return bins with borders at all required thresholds, at all vertices of the hull, and along both classes.

    If there are few scores, each has its own bin and nothing is rounded.

    Parameters
    ----------
    table : CountTable
    pav : Pav
    values : (n,) array
        Thresholds with exact counts.
    n_units : int
        Number of units; more units mean fewer bins.
    """
    classes, room = (table.tar, table.non), room_for(n_units)
    is_few = sum(len(one.scores) for one in classes) <= room
    along = np.concatenate([one.scores.astype(np.float64) if is_few else _quantiles(one, room // 2) for one in classes])
    has_infinite = any(len(one.scores) and np.isinf(one.scores[[0, -1]]).any() for one in classes)
    ranked = np.concatenate((along, pav.low, [-_LARGEST, _LARGEST] if has_infinite else []))
    ranked, borders = (
        np.unique(np.clip(one[~np.isnan(one)], -_LARGEST, _LARGEST)) for one in (ranked, np.append(ranked, values))
    )
    return ScoreBins(borders, np.append(0, 1 + np.flatnonzero(np.isin(borders, ranked))))


def room_for(n_units: int) -> int:
    """Return the number of scores of both classes up to which each can have its own bin.

    Examples
    --------
    >>> room_for(100), room_for(1000)
    (4096, 132)
    """
    return int(np.clip(_ROOM / max(n_units, 1) ** 1.5, _FEWEST, _MOST))


def _quantiles(trials: SortedClass, n_places: int) -> FloatArray:
    """Return scores of a class that are evenly spaced on the axis of a DET plot."""
    lines = ndtr(np.linspace(-_WIDEST, _WIDEST, max(n_places, 2))) * trials.total
    return trials.scores[np.clip(trials.at_weight(lines), 0, len(trials.scores) - 1)].astype(np.float64)


def in_bins(trials: SortedClass, bins: ScoreBins) -> tuple[CountArray, FloatArray]:
    """Return number (or weight) and mean score of the trials of a sorted class in every bin; 0 for empty bins."""
    starts = np.concatenate(([0], trials.positions(bins.borders)))
    lengths = np.diff(np.append(starts, len(trials.scores)))
    counts, filled = trials.sums(lengths), lengths > 0
    means = np.zeros(bins.n_bins)
    if filled.any():
        means[filled] = mean_scores(trials, starts[filled], counts[filled])
    return counts, means


def mean_scores(trials: SortedClass, starts: IntArray, counts: CountArray) -> FloatArray:
    """Return the mean of each run of sorted scores; if a sum overflows or is infinite, the first score of the run."""
    with np.errstate(over="ignore", invalid="ignore"):
        means: FloatArray = trials.score_sums(starts) / counts
    return np.where(np.isfinite(means), means, trials.scores[starts])


@dataclass(frozen=True, slots=True, eq=False)
class BestDecisions:
    """PAV blocks of each of several tables, and costs of bins for decisions that are optimal for a table.

    Costs are (2, n_tables, n_bins): of targets, then of non-targets. Their means over the trials of the same table sum
    to the minimum. Over other trials, they sum to the cost of the same decisions on these trials.

    Attributes
    ----------
    block : (n_tables, n_bins) int array
        Block of each bin, counted through all tables; empty bins belong to the block below.
    first : (n_tables,) int array
        First block of each table.
    n_tar, n_non : (n_blocks,) arrays
        Trials in each block.
    table : (n_blocks,) int array
        Table of each block.
    llr : (n_blocks,) array
        In nats, ascending in each table.
    seen : (2, n_tables, n_bins) array
        True for bins with targets, and with non-targets: empty bins cost nothing.
    """

    block: IntArray
    first: IntArray
    table: IntArray
    n_tar: CountArray
    n_non: CountArray
    llr: FloatArray
    seen: BoolArray

    @classmethod
    def in_groups(cls, n_tar: CountArray, n_non: CountArray, starts: IntArray) -> BestDecisions:
        """Create from trials in bins, (n_tables, n_bins), with the same decisions in groups of bins."""
        result = cls.of(*(np.add.reduceat(counts, starts, axis=1) for counts in (n_tar, n_non)))
        block = np.repeat(result.block, np.diff(starts, append=n_tar.shape[1]), axis=1)
        return replace(result, block=block, seen=np.stack((n_tar > 0, n_non > 0)))

    @classmethod
    def of(cls, n_tar: CountArray, n_non: CountArray) -> BestDecisions:
        """Create from trials (or weight) in bins, (n_bins,) or (n_tables, n_bins); each table has both classes."""
        n_tar, n_non = np.atleast_2d(n_tar), np.atleast_2d(n_non)
        filled = (n_tar > 0) | (n_non > 0)
        rows, columns = np.nonzero(filled)
        own_tar, own_non = n_tar[filled], n_non[filled]
        starts = pool(own_tar, own_non, np.diff(rows, prepend=-1) > 0)
        table, columns = rows[starts], columns[starts]
        first = np.searchsorted(table, np.arange(len(n_tar)))
        columns[first] = 0
        begins = np.zeros(n_tar.shape, np.int64)
        begins[table, columns] = 1
        block = np.cumsum(begins.ravel()).reshape(n_tar.shape) - 1
        own_tar, own_non = np.add.reduceat(own_tar, starts), np.add.reduceat(own_non, starts)
        seen = np.stack((n_tar > 0, n_non > 0))
        return cls(block, first, table, own_tar, own_non, _llr(own_tar, own_non, first, table), seen)

    def bounded(self, one_tar: float = 1.0, one_non: float = 1.0) -> BestDecisions:
        """Return decisions with finite llrs, for other trials: a block of one class also gets one trial of the other.

        Parameters
        ----------
        one_tar, one_non : float
            Weight of a trial of each class.
        """
        llr = _llr(
            np.where(self.n_tar > 0, self.n_tar, one_tar),
            np.where(self.n_non > 0, self.n_non, one_non),
            self.first,
            self.table,
            (self._of_table(self.n_tar), self._of_table(self.n_non)),
        )
        last = np.append(self.first[1:], len(llr)) - 1
        several = last > self.first
        low, high = self.first[several], last[several]
        llr[low], llr[high] = np.minimum(llr[low], self.llr[low + 1]), np.maximum(llr[high], self.llr[high - 1])
        return replace(self, llr=llr, seen=np.ones_like(self.seen))

    def by_block(self) -> BestDecisions:
        """Decisions with one bin for each block, enough for means over the same trials; see `means`."""
        n_blocks = np.diff(self.first, append=len(self.llr))
        place = np.arange(int(n_blocks.max()))
        block = self.first[:, None] + np.minimum(place, n_blocks[:, None] - 1)
        seen = np.stack([(counts > 0)[block] & (place < n_blocks[:, None]) for counts in (self.n_tar, self.n_non)])
        return replace(self, block=block, seen=seen)

    def means(self, costs: FloatArray) -> FloatArray:
        """Return mean costs of the trials of each table, both classes added, (n_tables,), from costs of bins by block.

        Every table is summed separately, so that no sum depends on the other tables.
        """
        place = np.arange(len(self.table)) - self.first[self.table]
        own = costs.reshape(2, -1).take(self.table * costs.shape[-1] + place, axis=1)
        tar, non = (np.add.reduceat(n * one, self.first) for n, one in zip((self.n_tar, self.n_non), own, strict=True))
        return np.asarray(tar / self._of_table(self.n_tar) + non / self._of_table(self.n_non))

    def positions(self, log_odds: FloatArray) -> IntArray:
        """Return the number of bins below the best threshold at prior log odds, unit costs, (n_tables, n_priors)."""
        return np.stack([np.searchsorted(of_bins, -log_odds, side="left") for of_bins in self.llr[self.block]])

    def _of_table(self, counts: CountArray) -> CountArray:
        """Return the sum of blocks in each table."""
        return np.asarray(np.add.reduceat(counts, self.first))

    def dcf(self, log_odds: float) -> FloatArray:
        """Return the normalized detection cost at the best threshold, at the prior log odds with unit costs."""
        rejected = self.llr[self.block] < -log_odds
        miss, false_alarm = dcf_weights(log_odds)
        return np.stack((miss * rejected, false_alarm * ~rejected))

    def crossing(self, ratio: float, slopes: tuple[float, float] | None = None) -> FloatArray:
        """Return costs of ``p_fa`` where ``p_fa = ratio * p_miss`` on the hull, with a fixed crossing edge.

        The costs of both ends of the edge are equal; they are mixed so that the rates are on the line.

        Parameters
        ----------
        ratio : float
        slopes : (float, float), optional
            Decrease of ``p_fa`` and the corresponding increase of ``p_miss``; default: the changes along the edge.
        """
        tar, non = self._of_table(self.n_tar), self._of_table(self.n_non)
        p_miss = self._before(self.n_tar) / tar[self.table]
        p_fa = (non[self.table] - self._before(self.n_non)) / non[self.table]
        is_before = (p_fa > ratio * p_miss).astype(np.int64)
        at = self.first + np.add.reduceat(is_before, self.first) - 1
        down, up = self.n_non[at] / non, self.n_tar[at] / tar
        share = (p_fa[at] - ratio * p_miss[at]) / (down + ratio * up)
        if slopes is not None:
            down, up = (np.full(len(self.first), slope) for slope in slopes)
        scale = ratio / (down + ratio * up)
        rejected = (self.block < at[:, None]) + share[:, None] * (self.block == at[:, None])
        return np.stack(((scale * down)[:, None] * rejected, (scale * up)[:, None] * (1.0 - rejected)))

    def _before(self, counts: CountArray) -> CountArray:
        """Return the sum of the blocks of the same table below each block."""
        below = np.cumsum(counts) - counts
        return np.asarray(below - below[self.first][self.table])

    def cost_of(self, costs: BinCosts) -> FloatArray:
        """Return costs of the PAV llrs, by a function of the llrs of targets and of non-targets."""
        llr = self.llr[self.block]
        return np.where(self.seen, costs(llr, llr), 0.0)


def _llr(
    n_tar: CountArray,
    n_non: CountArray,
    first: IntArray,
    table: IntArray,
    totals: tuple[CountArray, CountArray] | None = None,
) -> FloatArray:
    """Return the log-likelihood ratio of each block."""
    of_tar, of_non = totals or (np.add.reduceat(n_tar, first), np.add.reduceat(n_non, first))
    with np.errstate(divide="ignore"):
        values: FloatArray = (np.log(n_tar) - np.log(of_tar)[table]) - (np.log(n_non) - np.log(of_non)[table])
    return values


def dcf_weights(log_odds: float) -> tuple[float, float]:
    """Return the costs of a miss and a false alarm, normalized by the better of accept-all and reject-all."""
    at = np.full(2, log_odds)
    miss, false_alarm = detection_cost(np.array([1.0, 0.0]), np.array([0.0, 1.0]), at, 1.0, 1.0, normalize=True)
    return float(miss), float(false_alarm)


BinCosts: TypeAlias = Callable[[FloatArray, FloatArray], FloatArray]
"""Function that returns costs (2, ...) of llrs of targets and of non-targets, weighted by the prior."""


def log_costs_at(log_odds: float) -> BinCosts:
    """Return logarithmic costs of posteriors in nats."""
    return lambda tar, non: _mixed(softplus(-tar - log_odds), softplus(non + log_odds), log_odds)


def bits_at(log_odds: float) -> BinCosts:
    """Return logarithmic costs of posteriors in bits."""
    costs = log_costs_at(log_odds)
    return lambda tar, non: costs(tar, non) / math.log(2)


def brier_costs_at(log_odds: float) -> BinCosts:
    """Return squared errors of posteriors."""
    return lambda tar, non: _mixed(np.square(expit(-tar - log_odds)), np.square(expit(non + log_odds)), log_odds)


def beta_costs_at(alpha: float, beta: float, log_odds: float) -> BinCosts:
    """Return costs of posteriors by a rule of the beta family."""
    return lambda tar, non: _mixed(
        beta_cost_tar(tar + log_odds, alpha, beta), beta_cost_non(non + log_odds, alpha, beta), log_odds
    )


def _mixed(tar: FloatArray, non: FloatArray, log_odds: float) -> FloatArray:
    return np.stack((expit(log_odds) * tar, expit(-log_odds) * non))


class LinearCosts:
    """Costs of bins, (2, n_bins): of targets, then of non-targets, whose means sum to a metric.

    Parameters
    ----------
    tar, non : SortedClass
    pav : Pav
    rocch : Rocch
    bins : ScoreBins
        Bins with borders at all required thresholds, and at the thresholds of the hull.
    """

    def __init__(self, tar: SortedClass, non: SortedClass, pav: Pav, rocch: Rocch, bins: ScoreBins) -> None:
        self.pav, self.rocch, self.bins = pav, rocch, bins
        (self.n_tar, self.tar_means), (self.n_non, self.non_means) = (in_bins(one, bins) for one in (tar, non))
        self.one_trial = (_mean_weight(tar), _mean_weight(non))

    def with_trials(self, n_trials: IntArray) -> Self:
        """Set the numbers of targets and non-targets, because sorted classes combine equal scores."""
        pairs = zip((self.n_tar, self.n_non), n_trials.tolist(), strict=True)
        tar, non = (1.0 if own.dtype == np.int64 else float(own.sum()) / n for own, n in pairs)
        self.one_trial = (tar, non)
        return self

    @cached_property
    def best(self) -> BestDecisions:
        """Optimal decisions for these trials, with one table of all trials."""
        return BestDecisions.of(self.n_tar, self.n_non)

    @cached_property
    def block(self) -> IntArray:
        """PAV block of each bin."""
        lowest = np.append(-np.inf, self.bins.borders)
        return np.maximum(np.searchsorted(np.clip(self.pav.low, *_FINITE), lowest, side="right") - 1, 0)

    def rates(self, threshold: float, miss: float = 1.0, false_alarm: float = 1.0) -> FloatArray:
        """Return costs of ``miss`` times the miss rate plus ``false_alarm`` times the false-alarm rate."""
        rejected = np.arange(self.bins.n_bins) < self.bins.below(threshold)
        return np.stack((miss * rejected, false_alarm * ~rejected))

    def dcf(self, log_odds: float, threshold: float) -> FloatArray:
        """Return the costs of the normalized DCF at a threshold, with the prior log odds of unit costs."""
        return self.rates(threshold, *dcf_weights(log_odds))

    def auc(self) -> FloatArray:
        """Return the costs of the area under the ROC: each trial compared with all of the other class."""
        below = np.cumsum(self.n_non) - self.n_non / 2
        above = self.n_tar.sum() - np.cumsum(self.n_tar) + self.n_tar / 2
        # The metric is bilinear: either class alone gives all of it, and the derivatives of both are added.
        return np.stack((below / self.n_non.sum(), above / self.n_tar.sum()))

    def average_precision(self) -> FloatArray:
        """Return the derivatives of the average precision in the shares of trials of each class."""
        hits, false = (np.cumsum(one[::-1])[::-1] for one in (self.n_tar, self.n_non))
        accepted = np.maximum(hits + false, np.finfo(np.float64).tiny)
        precision, steps = hits / accepted, self.n_tar / accepted
        of_tar = precision + np.cumsum(steps * (1.0 - precision))
        return np.stack((of_tar, -np.cumsum(steps * precision) * self.n_non.sum() / self.n_tar.sum()))

    def limited(self, kind: int, threshold: float, n_units: tuple[int, int]) -> tuple[float, float]:
        """Return the weights of both error rates in the rate of one class at a limit of the other.

        The threshold moves with the limited rate along the hull. The growth of the other rate comes from a chord,
        because between two neighbours it is mostly random (Woodruff 1952, Journal of the American Statistical
        Association 47).

        Parameters
        ----------
        kind : int
            0 if the miss rate is limited, 1 if the false-alarm rate is limited.
        threshold : float
        n_units : (int, int)
            Units with trials of each class: the chord extends one standard error of the limited rate on each side.
        """
        own = (self.n_tar, self.n_non)[kind]
        share = float(own[: self.bins.below(threshold)].sum() / own.sum())
        at = 1.0 - share if kind else share
        ends = _around(at, _spread(at, n_units[kind]))
        limited, other = (self.rocch.p_miss, self.rocch.p_fa)[:: -1 if kind else 1]
        order = slice(None, None, -1 if kind else 1)  # interpolation needs ascending rates
        rates = np.interp(ends, limited[order], other[order])
        slope = float((rates[0] - rates[1]) / (ends[1] - ends[0]))
        return (1.0, slope) if kind else (slope, 1.0)

    def of_means(self, costs: BinCosts, *, best: bool = False) -> FloatArray:
        """Return costs by a function of the scores, or of the PAV llrs, of targets and of non-targets."""
        if best:
            return np.asarray(self.best.cost_of(costs)[:, 0])
        return np.where(self.best.seen[:, 0], costs(self.tar_means, self.non_means), 0.0)


def crossing_weights(ratio: float, slopes: tuple[float, float]) -> tuple[float, float]:
    """Return the weights of both error rates in ``p_fa`` where ``p_fa = ratio * p_miss``, by `crossing_slopes`."""
    down, up = slopes
    scale = ratio / (down + ratio * up)
    return scale * down, scale * up


def crossing_slopes(rocch: Rocch, ratio: float, n_units: tuple[int, int]) -> tuple[float, tuple[float, float]]:
    """Return ``p_fa = ratio * p_miss`` on the hull, and the changes of ``p_fa`` and ``p_miss`` around it.

    Slopes are slopes of a chord, because between two neighbours on the hull they are mostly random. If both rates must
    be equal, the chord extends one standard error of their difference on each side, beyond the range of few errors.
    Otherwise the rarer errors alone would determine its length: then it extends one standard error of the ratio of both
    rates.

    Parameters
    ----------
    rocch : Rocch
    ratio : float
    n_units : (int, int)
        Units with trials of each class.
    """

    def at(gap: FloatArray, ends: FloatArray) -> FloatPair:
        p_fa, p_miss = (np.interp(ends, gap[::-1], rate[::-1]) for rate in (rocch.p_fa, rocch.p_miss))
        return p_fa, p_miss

    def off(factor: float) -> FloatArray:
        return np.asarray(rocch.p_fa - factor * rocch.p_miss)

    nowhere = np.zeros(1)
    p_fa = float(at(off(ratio), nowhere)[0][0])
    p_miss = p_fa / ratio
    spreads = [_spread(p, n) for p, n in zip((p_miss, p_fa), n_units, strict=True)]
    if ratio == 1.0:
        gap, reach = off(1.0), math.hypot(*spreads)
        fall, rise = at(gap, np.clip([reach, -reach], gap[-1], gap[0]))
        return p_fa, (float(fall[0] - fall[1]), float(rise[1] - rise[0]))
    if p_fa == 0.0:  # no errors: equal weights of both rates
        return 0.0, (1.0, 1.0)
    factor = math.exp(min(math.hypot(spreads[0] / p_miss, spreads[1] / p_fa), 1.0))
    (most_fa, least_miss), (least_fa, most_miss) = (at(off(one), nowhere) for one in (ratio * factor, ratio / factor))
    return p_fa, (float(most_fa[0] - least_fa[0]), float(most_miss[0] - least_miss[0]))


def _spread(rate: float, n: int) -> float:
    """Return a standard error of a rate of n units, which is positive even without errors."""
    return math.sqrt((max(rate * (1.0 - rate), 0.0) + 1.0 / n) / n)


def _around(rate: float, spread: float) -> tuple[float, float]:
    """Return rates below and above by the same factor, inside [0, 1]."""
    return rate * rate / (rate + spread), min(rate + spread, 1.0)


def _mean_weight(trials: SortedClass) -> float:
    """Return the weight of a trial; fractional weights have no natural unit."""
    is_whole = trials.weights is None or trials.weights.dtype == np.int64
    return 1.0 if is_whole else trials.total / len(trials.scores)


_FINITE = (-float(np.finfo(np.float64).max), float(np.finfo(np.float64).max))


def sums_by_unit(values: AnyArray, units: TrialUnits) -> FloatArray:
    """Return sums over the trials of each unit; a unit on both sides of a trial counts once.

    Parameters
    ----------
    values : (n_columns, n_trials) array
    units : TrialUnits

    Returns
    -------
    (n_units, n_columns) array

    Examples
    --------
    >>> units = TrialUnits.of([["ann", "ann"], ["ann", "bob"], ["bob", "cid"]])
    >>> sums_by_unit(np.array([[1.0, 2.0, 4.0]]), units).ravel()
    array([3., 6., 4.])
    """
    total = np.zeros((units.n_units, len(values)))
    add_by_unit(total, values, units)
    return total


def add_by_unit(total: FloatArray, values: AnyArray, units: TrialUnits) -> None:
    """Add the sums over more trials to ``total``, (n_units, n_columns); see `sums_by_unit`."""
    first, *others = units.codes
    add_by_code(total, values, first)
    for side in others:
        add_by_code(total, np.where(side == first, 0.0, values), side)


def add_by_code(total: FloatArray, values: AnyArray, codes: IntArray) -> None:
    """Add values of trials, (n_columns, n_trials), to the rows of ``total`` given by ``codes``."""
    if len(total) <= len(codes):
        for k, column in enumerate(values):
            total[:, k] += np.bincount(codes, column, minlength=len(total))
        return
    used, places = np.unique(codes, return_inverse=True)  # most units may have no trials here
    for k, column in enumerate(values):
        total[used, k] += np.bincount(places, column, minlength=len(used))


def covariance_of(influences: FloatArray, n_units: int | None = None) -> FloatArray:
    """Return the covariance of parameters by the infinitesimal jackknife: ``n / (n - 1) sum_k d_k d_k'``.

    Parameters
    ----------
    influences : (n_units, n_parameters) array
        ``d_k``: the derivative of the parameters in the weight of unit k, at weight 1.
    n_units : int, optional
        Number of units if rows are not units, but have the same second moments.

    Returns
    -------
    (n_parameters, n_parameters) array

    Examples
    --------
    >>> covariance_of(np.array([[1.0], [-2.0], [1.0]]) / 3.0)   # of a mean of 3: its variance, 3, divided by 3
    array([[1.]])
    """
    n = len(influences) if n_units is None else n_units
    product: FloatArray = influences.T @ influences
    return n / (n - 1.0) * (0.5 * product + 0.5 * product.T)


_FADING = 40.0
"""Effective number of units up to which unequal influences reduce the degrees of freedom fully."""


@dataclass(frozen=True, eq=False, kw_only=True)
class UnitChanges:
    """Changes of parameters with the units that they were trained on.

    Attributes
    ----------
    values : (n_units, n_parameters) array
        Change of the parameters without a unit (``left_out``), or the derivative in its weight. If not ``listed``, rows
        with the same second moments as the rows of all units.
    n_units : int
    n_effective : float
        Effective number of units of the class with the fewest; see `deciban.core.resampling.intervals`.
    left_out, listed : bool
    penalized : bool
        True if a penalty shrinks the parameters: then their bias is intended and not corrected.

    Examples
    --------
    >>> changes = UnitChanges(values=np.array([[1.0], [-2.0], [1.0]]) / 3.0, n_units=3, n_effective=3.0)
    >>> changes.covariance, changes.degrees
    (array([[1.]]), 2.0)
    """

    values: FloatArray
    n_units: int
    n_effective: float
    left_out: bool = False
    listed: bool = True
    penalized: bool = False

    @property
    def covariance(self) -> FloatArray:
        """Covariance of the parameters, (n_parameters, n_parameters): sandwich, or delete-one-unit jackknife."""
        shrink = (1.0 - 1.0 / self.n_units) ** 2 if self.left_out else 1.0
        return shrink * covariance_of(self.values, self.n_units)

    @property
    def bias(self) -> FloatArray:
        """Jackknife bias of the parameters, (n_parameters,); 0 if no unit was left out, or with a penalty."""
        if self.penalized or not self.left_out:
            return np.zeros(self.values.shape[1])
        return (self.n_units - 1.0) / self.n_units * np.asarray(self.values.sum(axis=0), np.float64)

    @cached_property
    def degrees(self) -> float:
        """Degrees of freedom of the variances.

        At most the effective number of units minus 1. If a few units dominate, the variance is uncertain:
        Satterthwaite's degrees follow from the fourth moments of the contributions of units, averaged over all
        directions of the parameters. They are used fully up to 40 effective units, and less beyond.
        """
        most = self.n_effective - 1.0
        if not (self.left_out and self.listed):
            return most
        size = np.sqrt((self.values**2).sum(axis=0))
        unit = self.values[:, size > 0.0] / size[size > 0.0]
        vectors, sizes, _ = np.linalg.svd(unit, full_matrices=False)
        rank = int(np.count_nonzero(sizes > _FLAT * np.max(sizes, initial=0.0)))
        if not rank:
            return most
        shares = (vectors[:, :rank] ** 2).sum(axis=1) / rank
        excess = float((shares**2).sum()) - 1.0 / self.n_units
        own = min(2.0 / (rank * excess), most) if most * rank * excess > 2.0 else most
        weight = min(1.0, _FADING / self.n_effective)
        return max(float(own**weight * most ** (1.0 - weight)), 1.0)


_FLAT = 1e-9


def require_effective(n_effective: FloatArray, names: tuple[str, ...], units: TrialUnits) -> float:
    """Return the smallest effective number of units of any class; refuse fewer than five.

    Raises
    ------
    InputError
    """
    worst = int(np.argmin(n_effective))
    if not is_enough(n_effective[worst]):
        raise InputError(
            f"{names[worst]} trials come from effectively {n_effective[worst]:.2g} {units.noun}s, but intervals need "
            f"at least {FEWEST_CLUSTERS:.0f}: train on more {units.noun}s"
        )
    return float(n_effective[worst])


def require_several(units: TrialUnits) -> None:
    """Refuse a single unit.

    Raises
    ------
    InputError
    """
    if units.n_units < 2:
        raise InputError(f"units: all trials are of one {units.noun}. At least two {units.noun}s are needed.")
