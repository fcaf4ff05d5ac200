"""Minima over thresholds and maps of many tables of counts at once: what replicates have of the hull."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from scipy.special import expit

from deciban.core.ranks.hull import block_llr, line_crossings, pool
from deciban.core.ranks.operating import detection_cost
from deciban.core.rules.proper import softplus
from deciban.types import CountArray, FloatArray

Cost: TypeAlias = Callable[[FloatArray], FloatArray]
"""Of a non-target, by its posterior log odds; that of a target is the same with another sign."""


class Hulls:
    """The hull of each of several tables with the same cells.

    Parameters
    ----------
    n_tar, n_non : (n_tables, n_cells) arrays
        Trials of each class in every cell, in ascending order of scores. Each table has some of both classes.
    """

    def __init__(self, n_tar: CountArray, n_non: CountArray) -> None:
        table, cell = np.nonzero((n_tar > 0) | (n_non > 0))
        of_tar, of_non = n_tar[table, cell], n_non[table, cell]
        is_first = np.diff(table, prepend=-1) != 0
        starts = pool(of_tar, of_non, is_first)
        self.n_tar, self.n_non = np.add.reduceat(of_tar, starts), np.add.reduceat(of_non, starts)
        self.table, self.first = table[starts], np.flatnonzero(is_first[starts])
        self.all_tar, self.all_non = n_tar.sum(axis=1), n_non.sum(axis=1)
        self.n_miss = _before(self.n_tar, self.first, self.table)
        self.n_fa = self.all_non[self.table] - _before(self.n_non, self.first, self.table)

    def crossing(self, ratio: float) -> FloatArray:
        """``p_fa`` where ``p_fa = ratio * p_miss``, of each table; see `deciban.core.ranks.hull.Rocch.uer`."""
        p_fa, p_miss = self._rates()
        edge = self.first + np.add.reduceat((p_fa > ratio * p_miss).astype(np.int64), self.first) - 1
        before = self.n_fa[edge].astype(np.float64), self.n_miss[edge].astype(np.float64)
        after = before[0] - self.n_non[edge], before[1] + self.n_tar[edge]
        return np.asarray(line_crossings(before, after, ratio, self.all_tar, self.all_non))

    def least_dcf(self, log_odds: FloatArray) -> FloatArray:
        """Least normalized detection costs at effective prior log odds, (n_tables, n_points)."""
        p_fa, p_miss = self._rates()
        found = np.empty((len(self.first), len(log_odds)))
        for k, tau in enumerate(log_odds):
            one = np.full(1, tau)
            costs = detection_cost(p_miss, p_fa, np.full(len(p_fa), tau), 1.0, 1.0, normalize=True)
            none_accepted = detection_cost(np.ones(1), np.zeros(1), one, 1.0, 1.0, normalize=True)
            found[:, k] = np.minimum(np.minimum.reduceat(costs, self.first), none_accepted)
        return found

    def least_cost(self, cost: Cost, log_odds: float) -> FloatArray:
        """Prior-weighted mean cost of the llrs of PAV at prior log odds, of each table: least over monotone maps."""
        totals = self.all_tar[self.table], self.all_non[self.table]
        llr = block_llr(self.n_tar, self.n_non, totals) + log_odds
        found = np.zeros(len(self.first))
        for counts, total, shifted, prior in (
            (self.n_tar, self.all_tar, -llr, expit(log_odds)),
            (self.n_non, self.all_non, llr, expit(-log_odds)),
        ):
            filled = counts > 0
            costs = np.zeros(len(counts))
            costs[filled] = cost(shifted[filled]) * counts[filled]
            found += prior * np.add.reduceat(costs, self.first) / total
        return found

    def _rates(self) -> tuple[FloatArray, FloatArray]:
        """False-alarm and miss rates of the vertices, without the last one of each table, (0, 1)."""
        return self.n_fa / self.all_non[self.table], self.n_miss / self.all_tar[self.table]


def log_cost(x: FloatArray) -> FloatArray:
    """Logarithmic cost, in nats."""
    return softplus(x)


def quadratic_cost(x: FloatArray) -> FloatArray:
    """Of the Brier score."""
    return np.asarray(np.square(expit(x)))


def areas(n_tar: CountArray, n_non: CountArray) -> FloatArray:
    """Area under the ROC of each of several tables, (n_tables, n_cells), equal cells counting half."""
    below = np.cumsum(n_non, axis=1) - n_non / 2
    return np.asarray(np.einsum("rc,rc->r", n_tar, below) / (n_tar.sum(axis=1) * n_non.sum(axis=1)))


def _before(counts: CountArray, first: CountArray, table: CountArray) -> CountArray:
    """Sum of the counts before each block in its table."""
    before = np.cumsum(counts) - counts
    return np.asarray(before - before[first][table])
