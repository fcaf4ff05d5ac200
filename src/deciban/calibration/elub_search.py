"""Where evidence stops being worth its weight: empirical bounds of llrs, of trials in memory or in pieces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from deciban.core.ranks.counts import SortedClass
from deciban.core.training.sums import Ends, Sums
from deciban.errors import InputError
from deciban.io.shards.pieces import Chunk
from deciban.models.labelled import Labelled
from deciban.models.sources import SourceTrials
from deciban.types import CountArray, FloatArray

_CUTS = np.arange((1 << 16) + 1) / (1 << 10)
"""From 0 to 64: beyond that no bound lies, as not even 10^27 trials would allow it."""

_BYTES_PER_SCORE = 64
"""What a score takes that is kept, with its weight and what sorting needs."""


def upper_bound(tar: SortedClass, non: SortedClass, amount: float) -> float:
    """Where above 0 the normalized Bayes error rate first exceeds 1, with so many misleading llrs in each class."""
    both = np.concatenate((tar.scores, non.scores)).astype(np.float64, copy=False)
    ends = np.append(np.unique(both[(both > 0.0) & (both < np.inf)]), np.inf)
    begins = np.insert(ends[:-1], 0, 0.0)
    rates = Rates(float(tar.total), float(non.total), amount)
    crossing = rates.crossing(tar.at_or_above(ends), non.at_or_above(ends))
    first = int(np.argmax(crossing < ends))  # at the last end, infinity, it is always so
    return float(max(crossing[first], begins[first]))


@dataclass(frozen=True, slots=True)
class Rates:
    """How error rates follow from counts: trials of both classes, and misleading llrs in each of them."""

    n_tar: float
    n_non: float
    amount: float

    def crossing(self, n_hit: Any, n_fa: Any) -> FloatArray:
        """Where the rate passes 1 between neighbouring llrs.

        Errors are constant there and the rate increases with the threshold: it passes 1 where
        ``exp(t) (n_fa + k) / (N + k) = 1 - (n_miss + k) / (T + k) = (T - n_miss) / (T + k)``.
        """
        with np.errstate(divide="ignore"):
            hits: FloatArray = np.log(n_hit / (self.n_tar + self.amount))
            alarms: FloatArray = np.log((n_fa + self.amount) / (self.n_non + self.amount))
        return hits - alarms


def upper_bound_of_source(data: SourceTrials, amount: float, *, sign: int) -> float:
    """The same of trials in pieces: of one cell of llrs after the other in which it may lie, these are kept.

    Parameters
    ----------
    data : SourceTrials
    amount : float
    sign : {1, -1}
        -1 for llrs of the opposite sign and classes in each other's place.

    Raises
    ------
    InputError
        If too many llrs lie within a thousandth of each other.
    """
    table: _Table = data.look(_Count(sign))
    counts, high = table.counts.total, table.ends.high
    n_tar, n_non = counts.sum(axis=1).tolist()
    rates, above = Rates(n_tar, n_non, amount), counts.sum(axis=1)[:, None] - np.cumsum(counts, axis=1)
    is_there = counts[:, 1:-1].any(axis=0)
    least = rates.crossing(above[0, 1:-1], above[1, :-2])
    for at in np.flatnonzero(is_there & (least < _CUTS[1:])).tolist():
        kept: _Kept = data.look(_Keep(sign, at, _most(data)))
        begin = float(np.max(high[:at], initial=0.0))
        found = _first_in(kept, rates, above[:, at + 1], begin)
        if found is not None:
            return found
    # No bound lies beyond the last cut, so that the next llr is beyond it, too.
    rest = rates.crossing(above[0, -2], above[1, -2])
    return max(float(rest), float(np.max(high, initial=0.0)))


def _most(data: SourceTrials) -> int:
    return max(data.memory // _BYTES_PER_SCORE, 1)


def _first_in(kept: _Kept, rates: Rates, above: FloatArray, begin: float) -> float | None:
    """The bound, if it lies before one of these llrs; ``above`` counts the trials of both classes beyond them."""
    classes = [SortedClass.of(np.concatenate(scores), weights) for scores, weights in kept.classes]
    ends = np.unique(np.concatenate([one.scores for one in classes])).astype(np.float64)
    n_hit, n_fa = (beyond + one.at_or_above(ends) for beyond, one in zip(above, classes, strict=True))
    crossing = rates.crossing(n_hit, n_fa)
    found = np.flatnonzero(crossing < ends)
    if not len(found):
        return None
    first = int(found[0])
    return float(max(crossing[first], ends[first - 1] if first else begin))


def _by_class(trials: Labelled | Chunk, sign: int) -> list[tuple[FloatArray, CountArray | None]]:
    """Llrs and weights of targets and of non-targets, or the other way round and with the opposite sign."""
    data = Labelled.of_look(trials).counting
    both = [(data.tar, data.tar_weight), (data.non, data.non_weight)]
    return [(sign * scores.astype(np.float64, copy=False), weights) for scores, weights in both[::sign]]


@dataclass(frozen=True, slots=True)
class _Table:
    """Trials of both classes in cells between cuts, and the highest llr in each; of more trials they add up."""

    counts: Sums
    ends: Ends

    def __add__(self, other: _Table) -> _Table:
        return _Table(self.counts + other.counts, self.ends + other.ends)


@dataclass(frozen=True, slots=True)
class _Count:
    """A look at trials that counts them in cells; the first is that of llrs up to 0."""

    sign: int

    def __call__(self, trials: Labelled | Chunk) -> _Table:
        n = len(_CUTS)
        counts, high = np.zeros((2, n + 1)), np.full(n + 1, -np.inf)
        for k, (llr, weights) in enumerate(_by_class(trials, self.sign)):
            cell = np.searchsorted(_CUTS, llr, side="left")
            counts[k] = np.bincount(cell, weights, minlength=n + 1)
            finite = llr < np.inf
            np.maximum.at(high, cell[finite], llr[finite])
        return _Table(Sums.of(counts), Ends.up_to(high[1:-1]))


@dataclass(frozen=True, slots=True)
class _Kept:
    """Llrs of both classes in a cell, in arrays that more are added to, with their weights."""

    llrs: tuple[tuple[FloatArray, ...], tuple[FloatArray, ...]]
    weights: tuple[tuple[CountArray, ...], tuple[CountArray, ...]]
    most: int

    @property
    def classes(self) -> list[tuple[tuple[FloatArray, ...], CountArray | None]]:
        """Of each class llrs, and weights if there are some."""
        pairs = zip(self.llrs, self.weights, strict=True)
        return [(llrs, np.concatenate(weights) if weights else None) for llrs, weights in pairs]

    def __add__(self, other: _Kept) -> _Kept:
        tar, non = ((*a, *b) for a, b in zip(self.llrs, other.llrs, strict=True))
        of_tar, of_non = ((*a, *b) for a, b in zip(self.weights, other.weights, strict=True))
        n = sum(len(one) for one in (*tar, *non))
        if n > self.most:
            raise InputError(
                f"scores: {n:,} llrs and more lie within a thousandth of each other where the bound may be, more than "
                "the memory holds. Allow more (memory=, --memory)."
            )
        return _Kept((tar, non), (of_tar, of_non), self.most)


@dataclass(frozen=True, slots=True)
class _Keep:
    """A look at trials that keeps those of a cell, counted from 0."""

    sign: int
    at: int
    most: int

    def __call__(self, trials: Labelled | Chunk) -> _Kept:
        low, high = _CUTS[self.at], _CUTS[self.at + 1]
        llrs, weights = [], []
        for llr, weight in _by_class(trials, self.sign):
            some = (llr > low) & (llr <= high)
            llrs.append((llr[some],))
            weights.append(() if weight is None else (weight[some],))
        return _Kept((llrs[0], llrs[1]), (weights[0], weights[1]), self.most)
