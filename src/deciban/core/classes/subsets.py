"""Average detection cost of every subset of the classes: 2^N problems from one set of log-likelihoods.

In a subset ``A`` with flat prior a class ``k`` of it is accepted if ``c E_k >= sum of E_j over A``, with likelihoods
``E = exp(loglik)``, ``c = 1 + (|A| - 1) odds`` and the odds of the target prior (thesis 8.8 at odds 1). Everything
but these sums is a comparison of whole arrays: trials in one direction, subsets in the other.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from deciban.core.classes.loglik import class_major
from deciban.types import AnyArray, BoolArray, FloatArray, IntArray, ScoreArray

_LOW = 7
"""Classes whose subsets stand in one array; for each subset of the others it is gone through again."""

_TRIALS = 512
"""Trials at once: with 2^7 subsets all arrays are in cache."""

_SORTED = 1 << 16
"""Trials that are put into an order in which neighbours are alike."""

_RANGE = 700.0
"""Exponentials of numbers in [-700, 0] are normal floats."""

_ROUNDING = 1e-14
"""Sums of likelihoods are this precise, relative to their value; a class within it of the threshold is accepted."""


@dataclass(frozen=True, slots=True, eq=False)
class SubsetCounts:
    """Decisions in every subset, counted; ``a + b`` counts those about the trials of both.

    Attributes
    ----------
    odds : float
        Of the target prior.
    totals : (n_classes,) int array
        Trials of each class.
    hits, alarms : (n_classes, 2 ** (n_classes - 1)) int arrays
        Trials of each class that are accepted by it, and by how many others, in the subsets that hold it.
    """

    odds: float
    totals: IntArray
    hits: IntArray
    alarms: IntArray

    @classmethod
    def of(cls, loglik: ScoreArray, rows_of: list[IntArray], odds: float) -> SubsetCounts:
        """Count trials; ``rows_of`` are those of each class."""
        n_classes, counts = loglik.shape[1], list[IntArray]()
        for own, rows in enumerate(rows_of):
            found, n_sure = np.zeros((2, *_masks_with(own, n_classes).shape), np.int64), len(rows)
            for trials, decisions in _doubtful_decisions(loglik, rows, own, odds):
                n_sure -= len(trials)
                for kind, at, table in decisions:
                    found[kind, at] += table.sum(axis=1, dtype=np.uint32)
            found[0] += n_sure  # they are hits in all subsets, without a false alarm
            counts.append(found.reshape(2, -1))
        hits, alarms = (np.array(some) for some in zip(*counts, strict=True))
        return cls(odds, np.array([len(rows) for rows in rows_of]), hits, alarms)

    def __add__(self, other: SubsetCounts) -> SubsetCounts:
        """Decisions about the trials of both."""
        names = ("totals", "hits", "alarms")
        return replace(self, **{name: getattr(self, name) + getattr(other, name) for name in names})

    def costs(self) -> FloatArray:
        """Average detection cost for every subset, in the order of bit masks; class ``k`` is bit ``k``.

        Returns
        -------
        (2 ** n_classes,) array
            Fractions; 0 for subsets of less than two classes.
        """
        n_classes = len(self.totals)
        n_members = np.bitwise_count(np.arange(1 << n_classes)).astype(np.int64)
        p_target = self.odds / (1.0 + self.odds)
        rivals = np.maximum(n_members - 1, 1)
        total = np.zeros(1 << n_classes)
        for own, n_trials in enumerate(self.totals.tolist()):
            subsets = _masks_with(own, n_classes).ravel()
            cost = p_target * (n_trials - self.hits[own]) + (1.0 - p_target) * self.alarms[own] / rivals[subsets]
            total[subsets] += cost / n_trials
        total[n_members < 2] = 0.0
        return np.asarray(total / np.maximum(n_members, 1))


def mean_costs_of_trials(loglik: ScoreArray, rows_of: list[IntArray], odds: float) -> FloatArray:
    """What each trial adds to the mean of its class in the mean of `SubsetCounts.costs` over all subsets of a size.

    Parameters
    ----------
    loglik, rows_of, odds
        As in `SubsetCounts.of`.

    Returns
    -------
    (n_classes - 1, n_trials) array
        Of subsets of 2, 3, ... classes; trials class by class.
    """
    n_classes = loglik.shape[1]
    p_target, size = odds / (1.0 + odds), np.arange(2, n_classes + 1)
    n_with = np.array([math.comb(n_classes - 1, k - 1) for k in size], np.float64)[:, None]
    n_subsets, size = np.array([math.comb(n_classes, k) for k in size], np.float64)[:, None], size[:, None]
    parts = []
    for own, rows in enumerate(rows_of):
        n_members = np.bitwise_count(_masks_with(own, n_classes)).astype(np.int64)
        n_high, n_low = n_members[:, 0] - 1, n_members[0]  # in either the class itself, which is once in a subset
        misses, alarms = np.zeros((2, len(size), len(rows)))
        for trials, decisions in _doubtful_decisions(loglik, rows, own, odds):
            # Sizes are told apart after all decisions; of 20 classes at most 924 tables of numbers up to 19 add up.
            sums = np.zeros((2, int(n_high.max()) + 1, len(n_low), len(trials)), np.uint16)
            for kind, at, table in decisions:
                sums[kind, n_high[at]] += table
            misses[:, trials] = n_with
            for high, low in itertools.product(range(sums.shape[1]), np.unique(n_low).tolist()):
                if high + low >= 2:
                    hits, wrong = sums[:, high, n_low == low].sum(axis=1, dtype=np.int64)
                    misses[high + low - 2, trials] -= hits
                    alarms[high + low - 2, trials] += wrong
        parts.append((p_target * misses + (1.0 - p_target) * alarms / (size - 1)) / (size * n_subsets))
    return np.concatenate(parts, axis=1)


def least_llr(n_members: int, odds: float) -> float:
    """The detection llr from which a class is accepted in a subset, with what is left to rounding of sums."""
    return math.log((1.0 - _ROUNDING) / (odds + _ROUNDING / (n_members - 1)))


def _masks_with(own: int, n_classes: int) -> IntArray:
    """Bit masks of the subsets that hold a class, (n_high, n_low)."""
    others = np.delete(np.arange(n_classes), own)
    return np.asarray(_masks(others[_LOW:])[:, None] + _masks(others[:_LOW]) + (1 << own))


def _doubtful_decisions(
    loglik: ScoreArray, rows: IntArray, own: int, odds: float
) -> Iterator[tuple[IntArray, Iterator[tuple[int, int, AnyArray]]]]:
    """Yield trials of class ``own`` about which subsets that hold it decide differently, with all decisions about them.

    Decisions are tables (n_low, n_trials), each with its high part of the mask: of kind 0 if ``own`` is accepted, of
    kind 1 how many other classes are. A table must be used before the next one is made.
    """
    n_classes = loglik.shape[1]
    others, masks = np.delete(np.arange(n_classes), own), _masks_with(own, n_classes)
    factor = (1.0 - _ROUNDING) / (1.0 + (np.bitwise_count(masks).astype(np.float64) - 1.0) * odds)
    for start in range(0, len(rows), _SORTED):
        block = class_major(loglik, rows[start : start + _SORTED])
        doubtful = _doubtful(block, own, odds)
        n_sure = int(np.count_nonzero(~doubtful.any(axis=0)))
        # Trials with the same doubts side by side: most blocks of trials then need few comparisons.
        order = np.lexsort(doubtful)[n_sure:]
        for first in range(0, len(order), _TRIALS):
            some = order[first : first + _TRIALS]
            likelihood = np.exp(_squeezed(block[:, some]))
            unsure = np.atleast_1d(doubtful[:, some].any(axis=1))
            yield start + some, _decisions(likelihood, unsure, (own, others[:_LOW], others[_LOW:]), factor)


def _masks(classes: IntArray) -> IntArray:
    """Bit masks of all subsets of some classes; bit ``j`` of the position says whether the ``j``-th is in it."""
    masks = np.zeros(1, np.int64)
    for k in classes.tolist():
        masks = np.concatenate((masks, masks + (1 << k)))
    return masks


def _doubtful(block: FloatArray, own: int, odds: float) -> BoolArray:
    """Which decisions about trials of class ``own`` differ between subsets that hold it, (n_classes, n_trials).

    For ``own`` itself the sure decision is to accept: no rival has more than ``odds`` times its likelihood. For the
    others it is to reject: so far behind ``own`` they are below the threshold even in the largest subset.
    """
    slack = 1e-9
    with np.errstate(invalid="ignore", over="ignore"):
        lead = block[own] - block  # equal infinities, NaN, are no lead
    doubtful: BoolArray = ~(lead > math.log((len(block) - 1) * odds) + slack)
    doubtful[own] = False
    doubtful[own] = ~np.all(np.delete(lead, own, axis=0) > slack - math.log(odds), axis=0)
    return doubtful


def _squeezed(block: FloatArray) -> FloatArray:
    """Log-likelihoods from -700 to 0 that lead to the same decisions in every subset.

    Where neighbours in rank are so far apart that the lower one adds nothing to the higher one, they may as well be
    a little less far apart. So infinite gaps end as finite ones, and equal infinities stay equal.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        shifted: FloatArray = block - block.max(axis=0)
    if shifted.min() >= -_RANGE:  # False if there is NaN
        return shifted
    order = np.argsort(block, axis=0)
    ascending = np.take_along_axis(block, order, axis=0)
    with np.errstate(invalid="ignore", over="ignore"):
        gaps = np.diff(ascending, axis=0)
    gaps[np.isnan(gaps)] = 0.0
    np.minimum(gaps, _RANGE / len(gaps), out=gaps)
    below_top = np.zeros_like(block)
    below_top[:-1] = -np.cumsum(gaps[::-1], axis=0)[::-1]
    squeezed = np.empty_like(block)
    np.put_along_axis(squeezed, order, below_top, axis=0)
    return squeezed


def _decisions(
    likelihood: FloatArray, doubtful: BoolArray, classes: tuple[int, IntArray, IntArray], factor: FloatArray
) -> Iterator[tuple[int, int, AnyArray]]:
    """Yield the decisions about some trials; classes without doubt are not compared."""
    own, low, high = classes
    sums = likelihood[own][None]
    for k in low:
        sums = np.concatenate((sums, sums + likelihood[k]))
    threshold, accepts = np.empty_like(sums), np.empty(sums.shape, np.bool_)
    n_alarms = np.empty(sums.shape, np.uint8)
    for at in range(len(factor)):
        inside = [k for j, k in enumerate(high) if at >> j & 1]
        np.add(sums, likelihood[inside].sum(axis=0), out=threshold)
        threshold *= factor[at][:, None]
        if doubtful[own]:
            np.greater_equal(likelihood[own], threshold, out=accepts)
        else:
            accepts[:] = True
        yield 0, at, accepts
        n_alarms[:] = 0
        for k in inside:
            if doubtful[k]:
                np.greater_equal(likelihood[k], threshold, out=accepts)
                n_alarms += accepts.view(np.uint8)
        for j, k in enumerate(low):
            if doubtful[k]:
                n = _holding(n_alarms, j)
                n += (likelihood[k] >= _holding(threshold, j)).view(np.uint8)
        yield 1, at, n_alarms


def _holding(table: AnyArray, j: int) -> AnyArray:
    """View of the rows whose subset holds the ``j``-th of the low classes."""
    return table.reshape(-1, 2, 1 << j, table.shape[1])[:, 1]
