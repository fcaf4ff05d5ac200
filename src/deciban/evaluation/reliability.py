"""Reliability of posteriors: what they say against what PAV makes of them, which needs no bins.

The curve is that of Dimitriadis, Gneiting and Jordan ("Stable reliability diagrams for probabilistic classifiers", PNAS
118, 2021): monotone, piecewise constant, with as many pieces as the trials support. Two classes and many have the same:
of two it is about the posterior of a target, of many about that of the class that is recognized.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit

from deciban.core.by_value import ByValue
from deciban.core.ranks.counts import CountTable, SortedClass
from deciban.core.ranks.hull import pool
from deciban.types import FloatArray

if TYPE_CHECKING:
    from deciban.evaluation.summary import Summary

_BINS = 40
_EVEN = 0.5
"""Prior of a target where none is asked for."""

EDGES = np.linspace(0.0, 1.0, _BINS + 1)
"""Of the bins of posteriors: for the histogram alone."""

PLACES = logit(EDGES[1:-1])
"""The same as posterior log odds, without both ends."""


@dataclass(frozen=True, slots=True, eq=False)
class Reliability(ByValue):
    """Posterior probabilities of an event, and how often it happens.

    Attributes
    ----------
    prior : tuple of float
        Of a target, or of each class where there are many.
    low, high : (n_blocks,) arrays
        Lowest and highest posterior in each PAV block, ascending.
    observed : (n_blocks,) array
        Relative frequency of the event in the block, at the prior: strictly ascending.
    bins : (b + 1,) array
        Edges of bins of posteriors.
    happened, failed : (b,) arrays
        Share of trials in each bin with which it happened and did not, at the prior; together they add up to 1.
    """

    prior: tuple[float, ...]
    low: FloatArray
    high: FloatArray
    observed: FloatArray
    bins: FloatArray
    happened: FloatArray
    failed: FloatArray


def reliability_of(summary: Summary) -> Reliability:
    """Of the posterior of a target, at the first prior that was asked for, or at even odds."""
    prior = (*summary.figures.posteriors_at, _EVEN)[0]
    tau, pav = float(logit(prior)), summary.pav
    with np.errstate(over="ignore"):
        low, high = expit(pav.low + tau), expit(pav.high + tau)
    shares = [_in_bins(one, tau) / one.total for one in (summary.ranks.tar, summary.ranks.non)]
    return Reliability((prior,), low, high, expit(pav.llr + tau), EDGES, prior * shares[0], (1.0 - prior) * shares[1])


@dataclass(frozen=True, slots=True, eq=False)
class PosteriorOdds:
    """Posterior log odds of the recognized class, of the trials of one class; ``a + b`` merges those of two parts.

    Attributes
    ----------
    right, wrong : SortedClass
        Of the trials that were recognized as what they are, and of the others.
    """

    right: SortedClass
    wrong: SortedClass

    def __add__(self, other: PosteriorOdds) -> PosteriorOdds:
        """Those of the trials of both."""
        merged = (SortedClass.merged([getattr(one, name) for one in (self, other)]) for name in ("right", "wrong"))
        return PosteriorOdds(*merged)


@dataclass(frozen=True, slots=True, eq=False)
class PooledOdds:
    """The same of the trials of all classes, each with the weight of its class, in PAV blocks and in bins.

    Attributes
    ----------
    n_right, n_wrong : (n_blocks,) arrays
        Weight of the trials that were recognized, and of the others.
    low, high : (n_blocks,) arrays
        Lowest and highest posterior log odds.
    happened, failed : (b,) arrays
        The same weights in each bin of posteriors.
    """

    n_right: FloatArray
    n_wrong: FloatArray
    low: FloatArray
    high: FloatArray
    happened: FloatArray
    failed: FloatArray

    @classmethod
    def of(cls, found: Sequence[PosteriorOdds], prior: FloatArray) -> PooledOdds:
        """From those of each class, which weighs as the prior says."""
        weights = [p / (one.right.total + one.wrong.total) for p, one in zip(prior.tolist(), found, strict=True)]
        right = _together([one.right for one in found], weights)
        wrong = _together([one.wrong for one in found], weights)
        table = CountTable.of(right, wrong)
        starts = pool(table.n_tar, table.n_non)
        n_right, n_wrong = (np.add.reduceat(counts, starts) for counts in (table.n_tar, table.n_non))
        return cls(n_right, n_wrong, *table.edges(starts), _in_bins(right), _in_bins(wrong))


def reliability_of_classes(found: PooledOdds, prior: FloatArray) -> Reliability:
    """Of the posterior of the recognized class, by all trials."""
    observed, shares = found.n_right / (found.n_right + found.n_wrong), (found.happened, found.failed)
    return Reliability(tuple(prior.tolist()), expit(found.low), expit(found.high), observed, EDGES, *shares)


def _together(parts: Sequence[SortedClass], weights: Sequence[float]) -> SortedClass:
    """The trials of all classes, each with the weight of its class."""
    scores = np.concatenate([one.scores for one in parts])
    own = [np.ones(len(one.scores)) if one.weights is None else one.weights for one in parts]
    return SortedClass.of(scores, np.concatenate([weight * each for weight, each in zip(weights, own, strict=True)]))


def _in_bins(trials: SortedClass, shift: float = 0.0) -> FloatArray:
    """Number (or weight) of trials in each bin of posteriors; those at 1 are in the last one."""
    inner = trials.below(PLACES - shift)
    return np.diff(np.concatenate(([0], inner, [trials.total]))).astype(np.float64)
