"""Figures of two classes as sums of mean costs in cells: what is best stays fixed, as its derivative is zero.

A figure that is a minimum over thresholds or maps does not change, to first order, with the place of its minimum (the
envelope theorem). So each figure has one cost for every cell and class, and its derivative in the weight of a unit is
that of two means.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.special import expit

from deciban.core.ranks.counts import SortedClass
from deciban.core.ranks.hull import Pav, Rocch
from deciban.core.ranks.operating import detection_cost
from deciban.core.resampling.cells import Cells, in_cells
from deciban.core.rules.proper import beta_cost_non, beta_cost_tar, softplus
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
        one, none = np.ones(1), np.zeros(1)
        at = np.full(1, log_odds)
        weights = [detection_cost(*pair, at, 1.0, 1.0, normalize=True).item() for pair in ((one, none), (none, one))]
        return self.rates(threshold, *weights)

    def crossing(self, ratio: float) -> FloatArray:
        """``p_fa`` where ``p_fa = ratio * p_miss`` on the hull: the edge that meets this line, held fixed."""
        p_fa, p_miss = self.rocch.p_fa, self.rocch.p_miss
        after = int(np.argmax(p_fa <= ratio * p_miss))
        down, up = p_fa[after - 1] - p_fa[after], p_miss[after] - p_miss[after - 1]
        share = (p_fa[after - 1] - ratio * p_miss[after - 1]) / (down + ratio * up)
        scale = ratio / (down + ratio * up)
        thresholds = self.pav.thresholds[[after - 1, after]]
        ends = [self.rates(float(one), scale * down, scale * up) for one in thresholds]
        return np.asarray((1.0 - share) * ends[0] + share * ends[1])

    def auc(self) -> FloatArray:
        """Area under the ROC: each trial against all of the other class."""
        below = np.cumsum(self.n_non) - self.n_non / 2
        above = self.n_tar.sum() - np.cumsum(self.n_tar) + self.n_tar / 2
        # The figure is bilinear: either class alone gives all of it, and the derivatives of both add up.
        return np.stack((below / self.n_non.sum(), above / self.n_tar.sum()))

    def limited_miss(self, threshold: float) -> FloatArray:
        """The miss rate where the false-alarm rate is limited: the threshold moves with the latter along the hull."""
        return self.rates(threshold, 1.0, self._slope(threshold))

    def limited_false_alarm(self, threshold: float) -> FloatArray:
        """The false-alarm rate where the miss rate is limited."""
        slope = self._slope(threshold)
        return self.rates(threshold, 1.0 / slope if slope > 0.0 else 0.0, 1.0)

    def _slope(self, threshold: float) -> float:
        """How much the miss rate grows for what the false-alarm rate falls: the likelihood ratio of PAV."""
        at = min(self.cells.below(threshold), self.cells.n_cells - 1)
        llr = self.pav.llr[self.block[at]]
        return float(np.exp(llr)) if llr < 700.0 else 0.0

    def log_cost(self, log_odds: float, *, best: bool = False) -> FloatArray:
        """Cross-entropy at prior log odds, in nats; of the scores, or of the llrs of PAV."""
        tar, non = self._llrs(best=best)
        return self._mixed(softplus(-tar - log_odds), softplus(non + log_odds), log_odds)

    def brier(self, log_odds: float, *, best: bool = False) -> FloatArray:
        """Brier score at prior log odds."""
        tar, non = self._llrs(best=best)
        return self._mixed(np.square(expit(-tar - log_odds)), np.square(expit(non + log_odds)), log_odds)

    def beta_cost(self, alpha: float, beta: float, log_odds: float, *, best: bool = False) -> FloatArray:
        """Cost of a rule of the beta family at prior log odds."""
        tar, non = self._llrs(best=best)
        return self._mixed(
            beta_cost_tar(tar + log_odds, alpha, beta), beta_cost_non(non + log_odds, alpha, beta), log_odds
        )

    def _llrs(self, *, best: bool) -> tuple[FloatArray, FloatArray]:
        if best:
            llr = self.pav.llr[self.block]
            return llr, llr
        return self.tar_means, self.non_means

    def _mixed(self, tar: FloatArray, non: FloatArray, log_odds: float) -> FloatArray:
        tar, non = np.where(self.n_tar > 0, tar, 0.0), np.where(self.n_non > 0, non, 0.0)
        return np.stack((expit(log_odds) * tar, expit(-log_odds) * non))


_FINITE = (-float(np.finfo(np.float64).max), float(np.finfo(np.float64).max))
