"""The convex hull of the operating points of several systems, and the decisions that its vertices stand for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deciban.core.ranks.hull import Rocch, block_llr, pool
from deciban.fusion.linear import LabelledSystems
from deciban.metrics import SortedScores
from deciban.types import BoolArray, CountArray, FloatArray, IntArray, ScoreArray

_ROUNDING = 1e-11
"""Sums of the same fractional weights in another order differ by less, relative to their size."""


@dataclass(frozen=True, slots=True)
class HullVertex:
    """One decision rule: accept if the score of ``system`` is at or above ``threshold``.

    Attributes
    ----------
    p_fa, p_miss : float
        Error rates of the training trials, fractions.
    system : int
        Column of the scores. Of systems that make the same errors, the first.
    threshold : float
        -inf accepts every trial. The last vertex rejects every trial, infinite scores too: its threshold is ``inf``.
    rejects_all : bool
        Whether this is the last vertex.
    """

    p_fa: float
    p_miss: float
    system: int
    threshold: float
    rejects_all: bool = False

    def accepts(self, scores: ScoreArray) -> BoolArray:
        """Decide on rows of checked scores."""
        if self.rejects_all:
            return np.zeros(len(scores), np.bool_)
        # float64, so that float32 scores are compared with the threshold as it is.
        return np.asarray(scores[:, self.system] >= np.float64(self.threshold))


@dataclass(frozen=True, slots=True)
class RandomizedRule:
    """Two decision rules and how often each is followed.

    Attributes
    ----------
    p_fa, p_miss : float
        Expected error rates of the training trials, fractions: a point on the edge between both.
    liberal, strict : HullVertex
        The one with more false alarms, and the one with fewer; the same where no chance is needed.
    p_liberal : float
        Probability with which a trial is decided by ``liberal``.
    """

    p_fa: float
    p_miss: float
    liberal: HullVertex
    strict: HullVertex
    p_liberal: float


def union_vertices(data: LabelledSystems) -> tuple[IntArray, FloatArray, CountArray, CountArray]:
    """System, threshold, false alarms and misses at each vertex of the hull over all systems."""
    found = []
    for k, column in enumerate(data.columns):
        one = SortedScores(**data.as_sets(column))
        threshold = np.concatenate(([-np.inf], one.pav.low[1:], [np.inf]))
        found.append((np.full(len(threshold), k), threshold, one.rocch.n_fa, one.rocch.n_miss))
    system, threshold, n_fa, n_miss = (np.concatenate(parts) for parts in zip(*found, strict=True))
    vertices = _lower_hull(system, counts(n_fa), counts(n_miss))
    return system[vertices], threshold[vertices], counts(n_fa[vertices]), counts(n_miss[vertices])


def _lower_hull(system: IntArray, n_fa: CountArray, n_miss: CountArray) -> IntArray:
    """Which of the points are vertices of their lower convex hull, from accept-all to reject-all.

    Of equal points the one of the first system stays, where they are equal up to rounding, too.
    """
    close = 0.0 if n_fa.dtype == n_miss.dtype == np.int64 else _ROUNDING
    order: IntArray = np.lexsort((system, n_miss, -n_fa))
    # Points that others beat in both rates go first: what is left falls in false alarms and rises in misses.
    least = np.minimum.accumulate(n_miss[order][::-1])[::-1]
    order = order[n_miss[order] <= least * (1 + close)]
    fewer, more = -np.diff(n_fa[order]), np.diff(n_miss[order])
    begins = np.append(True, (fewer > close * n_fa[order][:-1]) | (more > close * n_miss[order][1:]))
    order = order[np.lexsort((system[order], np.cumsum(begins)))][begins]
    order[0], order[-1] = 0, np.argmax(system > 0) - 1  # accept-all and reject-all of the first system
    while True:
        fewer, more = np.maximum(-np.diff(n_fa[order]), 0), np.maximum(np.diff(n_miss[order]), 0)
        starts = pool(more, fewer)
        if len(starts) == len(more):
            return order
        # Once more: differences of sums of fractional weights are rounded anew.
        order = order[np.append(starts, len(more))]


def rocch_of(n_fa: CountArray, n_miss: CountArray) -> Rocch:
    """The hull with these vertices."""
    return Rocch(n_fa, n_miss, block_llr(np.diff(n_miss), -np.diff(n_fa)))


def counts(values: CountArray) -> CountArray:
    """Whole numbers as integers, so that comparisons are exact."""
    whole = np.array_equal(values, np.rint(values)) and bool(np.max(values) <= 2**53)
    return values.astype(np.int64 if whole else np.float64)
