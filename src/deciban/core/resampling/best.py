"""What is best for trials that are counted in cells: thresholds, the crossing of the hull, and the map of PAV.

Several tables of counts, such as those without each group of units in turn, are handled at once, row by row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from deciban.core.ranks.hull import pool
from deciban.core.ranks.operating import detection_cost
from deciban.core.rules.proper import beta_cost_non, beta_cost_tar, softplus
from deciban.types import BoolArray, CountArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class BestDecisions:
    """The PAV blocks of each of several tables, and costs of cells if decisions are the best for a table.

    Costs are (2, n_tables, n_cells): of targets, then of non-targets. Their means over the trials of the same table
    add up to the minimum; over other trials, to what the same decisions cost there.

    Attributes
    ----------
    block : (n_tables, n_cells) int array
        The block of each cell, counted through all tables; empty cells belong to the block below.
    first : (n_tables,) int array
        The first block of each table.
    n_tar, n_non : (n_blocks,) arrays
        Trials in each block.
    table : (n_blocks,) int array
        The table of each block.
    llr : (n_blocks,) array
        In nats, ascending in each table.
    seen : (2, n_tables, n_cells) array
        Where there are targets, and non-targets: cells without any cost nothing.
    """

    block: IntArray
    first: IntArray
    table: IntArray
    n_tar: CountArray
    n_non: CountArray
    llr: FloatArray
    seen: BoolArray

    @classmethod
    def of(cls, n_tar: CountArray, n_non: CountArray) -> BestDecisions:
        """From trials (or weight) in cells, (n_cells,) or (n_tables, n_cells); each table has some of each class."""
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
        """The same with finite llrs, for other trials: a block of one class counts one trial of the other, too.

        Parameters
        ----------
        one_tar, one_non : float
            What a trial of each class counts.
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
        """The same with one cell for each block: all that means over the same trials need; see `means`."""
        n_blocks = np.diff(self.first, append=len(self.llr))
        place = np.arange(int(n_blocks.max()))
        block = self.first[:, None] + np.minimum(place, n_blocks[:, None] - 1)
        seen = np.stack([(counts > 0)[block] & (place < n_blocks[:, None]) for counts in (self.n_tar, self.n_non)])
        return replace(self, block=block, seen=seen)

    def means(self, costs: FloatArray) -> FloatArray:
        """Mean costs of the trials of each table, both classes added, (n_tables,), from those of cells by block.

        Every table is added up by itself, so that no sum depends on which others there are.
        """
        place = np.arange(len(self.table)) - self.first[self.table]
        own = costs.reshape(2, -1).take(self.table * costs.shape[-1] + place, axis=1)
        tar, non = (np.add.reduceat(n * one, self.first) for n, one in zip((self.n_tar, self.n_non), own, strict=True))
        return np.asarray(tar / self._of_table(self.n_tar) + non / self._of_table(self.n_non))

    def positions(self, log_odds: FloatArray) -> IntArray:
        """Number of cells below the best threshold at prior log odds of unit costs, (n_tables, n_priors)."""
        return np.stack([np.searchsorted(of_cells, -log_odds, side="left") for of_cells in self.llr[self.block]])

    def _of_table(self, counts: CountArray) -> CountArray:
        """Sum of blocks in each table."""
        return np.asarray(np.add.reduceat(counts, self.first))

    def dcf(self, log_odds: float) -> FloatArray:
        """Normalized detection cost at the best threshold, at the prior log odds of unit costs."""
        rejected = self.llr[self.block] < -log_odds
        miss, false_alarm = dcf_weights(log_odds)
        return np.stack((miss * rejected, false_alarm * ~rejected))

    def crossing(self, ratio: float, slopes: tuple[float, float] | None = None) -> FloatArray:
        """``p_fa`` where ``p_fa = ratio * p_miss`` on the hull: the edge that meets this line, held fixed.

        The costs of both ends of the edge are the same; they are mixed so that the rates meet the line.

        Parameters
        ----------
        ratio : float
        slopes : (float, float), optional
            How much ``p_fa`` falls where ``p_miss`` rises by how much; that of the edge when left out.
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
        """Sum of the blocks of the same table that lie below each block."""
        below = np.cumsum(counts) - counts
        return np.asarray(below - below[self.first][self.table])

    def log_cost(self, log_odds: float) -> FloatArray:
        """Cross-entropy of the llrs of PAV at prior log odds, in nats."""
        llr = self.llr[self.block]
        return np.where(self.seen, log_costs_of(llr, llr, log_odds), 0.0)

    def brier(self, log_odds: float) -> FloatArray:
        """Brier score of the llrs of PAV at prior log odds."""
        llr = self.llr[self.block]
        return np.where(self.seen, brier_costs_of(llr, llr, log_odds), 0.0)

    def cost_of(self, costs: Callable[[FloatArray, FloatArray], FloatArray]) -> FloatArray:
        """Costs of the llrs of PAV, by a function of those of targets and of non-targets."""
        llr = self.llr[self.block]
        return np.where(self.seen, costs(llr, llr), 0.0)

    def beta_cost(self, alpha: float, beta: float, log_odds: float) -> FloatArray:
        """Cost of the llrs of PAV by a rule of the beta family at prior log odds."""
        llr = self.llr[self.block]
        return np.where(self.seen, beta_costs_of(llr, llr, alpha, beta, log_odds), 0.0)


def _llr(
    n_tar: CountArray,
    n_non: CountArray,
    first: IntArray,
    table: IntArray,
    totals: tuple[CountArray, CountArray] | None = None,
) -> FloatArray:
    """Log-likelihood ratio of each block."""
    of_tar, of_non = totals or (np.add.reduceat(n_tar, first), np.add.reduceat(n_non, first))
    with np.errstate(divide="ignore"):
        found: FloatArray = (np.log(n_tar) - np.log(of_tar)[table]) - (np.log(n_non) - np.log(of_non)[table])
    return found


def dcf_weights(log_odds: float) -> tuple[float, float]:
    """What a miss and a false alarm cost, normalized by the better of accept-all and reject-all."""
    one, none, at = np.ones(1), np.zeros(1), np.full(1, log_odds)
    miss, false_alarm = (
        detection_cost(*pair, at, 1.0, 1.0, normalize=True).item() for pair in ((one, none), (none, one))
    )
    return miss, false_alarm


def log_costs_of(tar: FloatArray, non: FloatArray, log_odds: float) -> FloatArray:
    """Logarithmic costs of llrs of targets and of non-targets, weighted by the prior, in nats."""
    return _mixed(softplus(-tar - log_odds), softplus(non + log_odds), log_odds)


def brier_costs_of(tar: FloatArray, non: FloatArray, log_odds: float) -> FloatArray:
    """Squared errors of posteriors, weighted by the prior."""
    return _mixed(np.square(expit(-tar - log_odds)), np.square(expit(non + log_odds)), log_odds)


def beta_costs_of(tar: FloatArray, non: FloatArray, alpha: float, beta: float, log_odds: float) -> FloatArray:
    """Costs by a rule of the beta family, weighted by the prior."""
    return _mixed(beta_cost_tar(tar + log_odds, alpha, beta), beta_cost_non(non + log_odds, alpha, beta), log_odds)


def _mixed(tar: FloatArray, non: FloatArray, log_odds: float) -> FloatArray:
    return np.stack((expit(log_odds) * tar, expit(-log_odds) * non))
