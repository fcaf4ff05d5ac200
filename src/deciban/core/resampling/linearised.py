"""Figures of two classes as sums of mean costs in cells: what is best stays fixed, as its derivative is zero.

A figure that is a minimum over thresholds or maps does not change, to first order, with the place of its minimum (the
envelope theorem). So each figure has one cost for every cell and class, and its derivative in the weight of a unit is
that of two means.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Self

import numpy as np

from deciban.core.ranks.counts import SortedClass
from deciban.core.ranks.hull import Pav, Rocch
from deciban.core.resampling.best import BestDecisions, beta_costs_of, brier_costs_of, dcf_weights, log_costs_of
from deciban.core.resampling.cells import Cells, CellTotals, in_cells
from deciban.types import FloatArray, IntArray


class LinearCosts:
    """Costs of cells, (2, n_cells): of targets, then of non-targets, whose means add up to a figure.

    Parameters
    ----------
    tar, non : SortedClass
    pav : Pav
    rocch : Rocch
    cells : Cells
        With borders at all thresholds that are asked for, and at those of the hull.
    """

    def __init__(self, tar: SortedClass, non: SortedClass, pav: Pav, rocch: Rocch, cells: Cells) -> None:
        self.pav, self.rocch, self.cells = pav, rocch, cells
        (self.n_tar, self.tar_means), (self.n_non, self.non_means) = (in_cells(one, cells) for one in (tar, non))
        self.one_trial = (_mean_weight(tar), _mean_weight(non))

    @classmethod
    def of_totals(cls, tar: CellTotals, non: CellTotals, pav: Pav, rocch: Rocch, cells: Cells) -> Self:
        """The same of trials that were added up in these cells."""
        found = cls.__new__(cls)
        found.pav, found.rocch, found.cells = pav, rocch, cells
        found.n_tar, found.n_non = tar.counts, non.counts
        found.tar_means, found.non_means = tar.means, non.means
        found.one_trial = (tar.mean_weight, non.mean_weight)
        return found

    @cached_property
    def best(self) -> BestDecisions:
        """What is best for these trials: one table of all."""
        return BestDecisions.of(self.n_tar, self.n_non)

    @cached_property
    def block(self) -> IntArray:
        """The PAV block of each cell."""
        lowest = np.append(-np.inf, self.cells.borders)
        return np.maximum(np.searchsorted(np.clip(self.pav.low, *_FINITE), lowest, side="right") - 1, 0)

    def rates(self, threshold: float, miss: float = 1.0, false_alarm: float = 1.0) -> FloatArray:
        """``miss`` times the miss rate at a threshold plus ``false_alarm`` times the false-alarm rate."""
        rejected = np.arange(self.cells.n_cells) < self.cells.below(threshold)
        return np.stack((miss * rejected, false_alarm * ~rejected))

    def dcf(self, log_odds: float, threshold: float) -> FloatArray:
        """Normalized detection cost at a threshold, with the prior log odds of unit costs."""
        return self.rates(threshold, *dcf_weights(log_odds))

    def auc(self) -> FloatArray:
        """Area under the ROC: each trial against all of the other class."""
        below = np.cumsum(self.n_non) - self.n_non / 2
        above = self.n_tar.sum() - np.cumsum(self.n_tar) + self.n_tar / 2
        # The figure is bilinear: either class alone gives all of it, and the derivatives of both add up.
        return np.stack((below / self.n_non.sum(), above / self.n_tar.sum()))

    def crossing_weights(self, ratio: float, n_units: tuple[int, int]) -> tuple[float, float]:
        """See `crossing_weights`."""
        return crossing_weights(self.rocch, ratio, n_units)

    def limited_miss(self, threshold: float, n_units: tuple[int, int]) -> tuple[float, float]:
        """Return what both error rates at a threshold add to the miss rate where the false-alarm rate is limited.

        The threshold moves with the false-alarm rate along the hull. How much the miss rate grows is taken from a
        chord, as between two neighbours it is mostly chance (Woodruff 1952, Journal of the American Statistical
        Association 47).

        Parameters
        ----------
        threshold : float
        n_units : (int, int)
            Units with trials of each class: the chord reaches a standard error of the limited rate to each side.
        """
        at = 1.0 - self.n_non[: self.cells.below(threshold)].sum() / self.n_non.sum()
        ends = _around(at, _spread(at, n_units[1]))
        p_miss = np.interp(ends, self.rocch.p_fa[::-1], self.rocch.p_miss[::-1])
        return 1.0, float((p_miss[0] - p_miss[1]) / (ends[1] - ends[0]))

    def limited_false_alarm(self, threshold: float, n_units: tuple[int, int]) -> tuple[float, float]:
        """Return what both error rates add to the false-alarm rate where the miss rate is limited."""
        at = self.n_tar[: self.cells.below(threshold)].sum() / self.n_tar.sum()
        ends = _around(at, _spread(at, n_units[0]))
        p_fa = np.interp(ends, self.rocch.p_miss, self.rocch.p_fa)
        return float((p_fa[0] - p_fa[1]) / (ends[1] - ends[0])), 1.0

    def log_cost(self, log_odds: float, *, best: bool = False) -> FloatArray:
        """Cross-entropy at prior log odds, in nats; of the scores, or of the llrs of PAV."""
        if best:
            return np.asarray(self.best.log_cost(log_odds)[:, 0])
        return self._seen(log_costs_of(self.tar_means, self.non_means, log_odds))

    def brier(self, log_odds: float, *, best: bool = False) -> FloatArray:
        """Brier score at prior log odds."""
        if best:
            return np.asarray(self.best.brier(log_odds)[:, 0])
        return self._seen(brier_costs_of(self.tar_means, self.non_means, log_odds))

    def beta_cost(self, alpha: float, beta: float, log_odds: float, *, best: bool = False) -> FloatArray:
        """Cost of a rule of the beta family at prior log odds."""
        if best:
            return np.asarray(self.best.beta_cost(alpha, beta, log_odds)[:, 0])
        return self._seen(beta_costs_of(self.tar_means, self.non_means, alpha, beta, log_odds))

    def of_means(self, costs: Callable[[FloatArray, FloatArray], FloatArray]) -> FloatArray:
        """Costs of the scores by a function of those of targets and of non-targets."""
        return self._seen(costs(self.tar_means, self.non_means))

    def _seen(self, costs: FloatArray) -> FloatArray:
        return np.where(self.best.seen[:, 0], costs, 0.0)


def crossing_weights(rocch: Rocch, ratio: float, n_units: tuple[int, int]) -> tuple[float, float]:
    """Return what both error rates add to ``p_fa`` where ``p_fa = ratio * p_miss``; see `crossing_slopes`."""
    _, down, up = crossing_slopes(rocch, ratio, n_units)
    scale = ratio / (down + ratio * up)
    return scale * down, scale * up


def crossing_slopes(rocch: Rocch, ratio: float, n_units: tuple[int, int]) -> tuple[float, float, float]:
    """Return ``p_fa = ratio * p_miss`` on the hull, and how much ``p_fa`` falls and ``p_miss`` rises around it.

    Slopes are those of a chord, as between two neighbours on the hull they are mostly chance. Where both rates are to
    be equal, it reaches a standard error of their difference to each side, and goes beyond what few errors show. Else
    the rarer errors would decide alone how far: then it reaches a standard error of the ratio of both rates.

    Parameters
    ----------
    rocch : Rocch
    ratio : float
    n_units : (int, int)
        Units with trials of each class.
    """

    def at(gap: FloatArray, ends: FloatArray) -> tuple[FloatArray, FloatArray]:
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
        return p_fa, float(fall[0] - fall[1]), float(rise[1] - rise[0])
    if p_fa == 0.0:  # no errors: both rates count alike
        return 0.0, 1.0, 1.0
    factor = math.exp(min(math.hypot(spreads[0] / p_miss, spreads[1] / p_fa), 1.0))
    (most_fa, least_miss), (least_fa, most_miss) = (at(off(one), nowhere) for one in (ratio * factor, ratio / factor))
    return p_fa, float(most_fa[0] - least_fa[0]), float(most_miss[0] - least_miss[0])


def _spread(rate: float, n: int) -> float:
    """Return a standard error of a rate of n units, which is not 0 where none errs."""
    return math.sqrt((max(rate * (1.0 - rate), 0.0) + 1.0 / n) / n)


def _around(rate: float, spread: float) -> tuple[float, float]:
    """Rates below and above by the same factor, inside [0, 1]."""
    return rate * rate / (rate + spread), min(rate + spread, 1.0)


def _mean_weight(trials: SortedClass) -> float:
    """What a trial counts; fractional weights have no unit of their own."""
    is_whole = trials.weights is None or trials.weights.dtype == np.int64
    return 1.0 if is_whole else trials.total / len(trials.scores)


_FINITE = (-float(np.finfo(np.float64).max), float(np.finfo(np.float64).max))
