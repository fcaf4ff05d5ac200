"""Decisions about many classes, counted: which class is chosen, and which are accepted.

Counts are integers unless trials have fractional weights; counts of two sets of trials add up.

Pairs of classes are small problems, side by side in long arrays: one pair takes a fifth of a millisecond when it is
alone, hardly any of which is arithmetic. Here one sort, one pooling of adjacent violators and one logarithm serve
hundreds of them.

Where one class is out of set, acceptance is monotone in the target prior p. With q the prior of that class, O its
likelihood, L that of the target and A the mean likelihood of the other non-targets, a trial is accepted where ``p L``
is at least ``(1 - p - q) A + q O``, that is from the critical prior ``((1 - q) A + q O) / (L + A)`` on. So one pass
over the trials serves all priors.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logit

from deciban.core.classes.loglik import critical_priors, detection_llrs, prior_ratio, relative, row_blocks
from deciban.core.ranks.hull import pool
from deciban.core.rules.proper import softplus
from deciban.types import AnyArray, BoolArray, CountArray, FloatArray, IntArray, ScoreArray

_CELLS = 1 << 22
"""Counters held at once while decisions at many thresholds are counted."""


def chosen(loglik: ScoreArray, prior: FloatArray) -> IntArray:
    """The class of greatest posterior probability for every trial; the lowest index wins a tie.

    Classes of prior 0 are never chosen.
    """
    columns = np.flatnonzero(prior > 0)
    if len(columns) == len(prior) and np.all(prior == prior[0]):
        return np.asarray(np.argmax(loglik, axis=1))  # compares the scores themselves: nothing is rounded
    weights = log_weights(prior[columns])
    decision: IntArray = np.empty(len(loglik), np.int64)
    for rows in row_blocks(*loglik.shape):
        decision[rows] = columns[np.argmax(relative(loglik, rows, columns).T + weights, axis=1)]
    return decision


def log_weights(prior: FloatArray) -> FloatArray:
    """Logarithms of a positive prior, the greatest of them exactly 0.

    Of two classes the other one is minus the absolute log odds, so that a log-likelihood ratio meets its Bayes
    threshold exactly as it does in the two-class metrics.
    """
    if len(prior) == 2:
        log_odds = float(logit(prior[0]))
        return np.array([min(log_odds, 0.0), min(-log_odds, 0.0)])
    return np.log(prior_ratio(prior))


def confusion(label: IntArray, decision: IntArray, n_classes: int, weights: CountArray | None) -> CountArray:
    """Trials (or weight) of every true class (rows) that were taken for every class (columns)."""
    return tally(label * n_classes + decision, n_classes**2, weights).reshape(n_classes, n_classes)


def in_turns(points: FloatArray, n_classes: int) -> Iterator[IntArray]:
    """Positions of points in ascending order, as many at once as counters may be held for."""
    order, at_once = np.argsort(points), max(_CELLS // n_classes**2, 1)
    for first in range(0, len(order), at_once):
        yield order[first : first + at_once]


class Passes:
    """Counters of trials by target, true class, and how many of the steps they pass, from the easiest on."""

    def __init__(self, n_targets: int, n_classes: int, n_steps: int, weights: CountArray | None) -> None:
        self._shape = (n_targets, n_classes, n_steps + 1)
        self._counts = np.zeros((n_targets, n_classes * (n_steps + 1)), count_type(weights))
        self._weights = weights

    def add(self, n_passed: Iterable[AnyArray], label: IntArray, rows: slice) -> None:
        """Count these trials, of which each target accepts those that pass so many steps."""
        true = label[rows] * self._shape[2]
        weights = None if self._weights is None else self._weights[rows]
        for target, n in enumerate(n_passed):
            self._counts[target] += tally(true + n, self._counts.shape[1], weights)

    def accepted(self) -> CountArray:
        """Trials that were accepted at each step, (n_steps, n_targets, n_classes): at all steps that they pass."""
        by_step = self._counts.reshape(self._shape)[:, :, ::-1].cumsum(axis=2)[:, :, -2::-1]
        return np.moveaxis(by_step, 2, 0)


def ordered_by_class(label: IntArray, n_classes: int) -> IntArray:
    """Positions of trials class by class, in their order within each class."""
    return np.argsort(label.astype(np.uint16) if n_classes <= 1 << 16 else label, kind="stable")  # short ones: faster


def tally(codes: IntArray, n_codes: int, weights: CountArray | None) -> CountArray:
    """How many trials (or how much weight) each code has."""
    if weights is None:
        return np.bincount(codes, minlength=n_codes)
    return np.bincount(codes, weights, minlength=n_codes).astype(count_type(weights), copy=False)


def count_type(weights: CountArray | None) -> Any:
    """Type of counters: integers, unless trials have fractional weights."""
    return np.int64 if weights is None else weights.dtype


@dataclass(frozen=True, slots=True, eq=False)
class Problems:
    """Scores of one class in each of many problems: those of the first problem, then those of the second, ...

    Attributes
    ----------
    scores : (n,) array
        Finite or infinite, in any order within a problem.
    counts : (n_problems,) array
        How many each problem has, at least 1.
    """

    scores: FloatArray
    counts: IntArray

    @property
    def places(self) -> IntArray:
        """The problem of each score."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    @property
    def begins(self) -> IntArray:
        """Where each problem begins."""
        return np.cumsum(self.counts) - self.counts


def cllrs(tar: Problems, non: Problems) -> FloatArray:
    """Cllr of every problem in bits."""
    of_tar = _sums(softplus(-tar.scores), tar.begins) / tar.counts
    of_non = _sums(softplus(non.scores), non.begins) / non.counts
    return (0.5 * of_tar + 0.5 * of_non) / math.log(2.0)


def min_cllrs(tar: Problems, non: Problems) -> FloatArray:
    """The least Cllr of every problem that a monotone recalibration leaves, in bits."""
    n_tar, n_non, place = _pooled(tar, non)
    with np.errstate(divide="ignore"):
        of_tar, of_non = np.log(n_tar) - np.log(tar.counts[place]), np.log(n_non) - np.log(non.counts[place])
    begins, llr = np.flatnonzero(np.diff(place, prepend=-1)), of_tar - of_non
    least_tar = _sums(_weighted(n_tar, softplus(-llr)), begins) / tar.counts
    least_non = _sums(_weighted(n_non, softplus(llr)), begins) / non.counts
    return (0.5 * least_tar + 0.5 * least_non) / math.log(2.0)


def _pooled(tar: Problems, non: Problems) -> tuple[CountArray, CountArray, IntArray]:
    """Return targets and non-targets in the PAV blocks of all problems, and the problem of each block."""
    scores, place = np.concatenate((tar.scores, non.scores)), np.concatenate((tar.places, non.places))
    order = np.argsort(scores)
    order = order[ordered_by_class(place[order], len(tar.counts))]
    scores, place, is_tar = scores[order], place[order], order < len(tar.scores)
    is_first = np.diff(place, prepend=-1) > 0
    begins = np.flatnonzero(is_first | np.append(True, scores[1:] != scores[:-1]))
    n_tar = np.add.reduceat(is_tar, begins, dtype=np.int64)
    n_non = np.diff(begins, append=len(scores)) - n_tar
    starts = pool(n_tar, n_non, is_first[begins])
    return np.add.reduceat(n_tar, starts), np.add.reduceat(n_non, starts), place[begins[starts]]


def _weighted(counts: CountArray, costs: FloatArray) -> FloatArray:
    """Costs times counts, where no trial costs nothing."""
    return np.multiply(counts, costs, out=np.zeros(len(costs)), where=counts > 0)


def _sums(values: FloatArray, begins: IntArray) -> FloatArray:
    """Sums of consecutive numbers from 0 to infinity, to about one unit in the last place.

    Every number is cut in two: the leading 26 bits of the greatest in its sum, which up to 2^26 of them add up without
    rounding, and the rest. Beyond 1e300 they are added as they are.
    """
    greatest = np.maximum.reduceat(values, begins)
    with np.errstate(over="ignore", invalid="ignore"):
        exponent = np.frexp(greatest)[1] + 26
        cutter = np.where(exponent < 1024, np.ldexp(1.5, exponent), 0.0)
        cut = np.repeat(cutter, np.diff(begins, append=len(values)))
        high = values + cut
        high -= cut
        sums = np.add.reduceat(high, begins) + np.add.reduceat(values - high, begins)
    return np.where(np.isinf(greatest), np.inf, sums)


_NEAR = 1e-8
"""Relative distance of a critical prior from a target prior within which detection llrs are compared directly."""

_ROUNDING = 64 * float(np.finfo(np.float64).eps)
_TINY = float(np.finfo(np.float64).tiny)


def accepted_open_set(
    loglik: ScoreArray, label: IntArray, weights: CountArray | None, p_target: FloatArray, p_out_of_set: float
) -> CountArray:
    """How often trials of every class were accepted as every class in set, at target priors.

    Decisions are those of detection llrs at `non_target_priors`, compared with ``-logit(p_target)`` prior by prior.

    Parameters
    ----------
    loglik, label, weights
        Checked trials; the last class is out of set.
    p_target : (n_priors,) array
        Inside (0, 1 - p_out_of_set).
    p_out_of_set : float

    Returns
    -------
    (n_priors, n_classes - 1, n_classes) array
    """
    n_classes = loglik.shape[1]
    total = np.empty((len(p_target), n_classes - 1, n_classes), count_type(weights))
    clear = _error_bound(p_target, p_out_of_set, n_classes) <= _NEAR
    for at in np.flatnonzero(~clear):
        (prior,) = non_target_priors(p_target[at : at + 1], p_out_of_set, n_classes)
        passes = Passes(n_classes - 1, n_classes, 1, weights)
        for rows in row_blocks(*loglik.shape):
            llrs = detection_llrs(relative(loglik, rows), prior_ratio(prior))[:-1]
            passes.add(llrs >= -logit(p_target[at]), label, rows)
        total[at] = passes.accepted()[0]
    places = np.flatnonzero(clear)
    for some in in_turns(p_target[places], n_classes):
        total[places[some]] = _accepted(loglik, label, weights, p_target[places[some]], p_out_of_set)
    return total


def non_target_priors(p_target: FloatArray, p_out_of_set: float, n_classes: int) -> FloatArray:
    """Shares of the classes in what a target leaves, (n_priors, n_classes): those of its rivals, whichever it is."""
    share = p_out_of_set / (1.0 - p_target)
    prior = np.repeat((1.0 - share)[:, None] / (n_classes - 2), n_classes, axis=1)
    prior[:, -1] = share
    return prior


def _error_bound(p_target: FloatArray, p_out_of_set: float, n_classes: int) -> FloatArray:
    """How far, relatively, rounding can move the target prior at which the direct comparison changes its mind.

    As a target prior approaches ``1 - p_out_of_set``, rounding takes all digits from what is left for other classes.
    """
    with np.errstate(divide="ignore"):
        lost = 1.0 / (1.0 - p_out_of_set / (1.0 - p_target))
    return np.asarray(_ROUNDING * (n_classes + np.abs(logit(p_target)) + lost))


def _accepted(
    loglik: ScoreArray, label: IntArray, weights: CountArray | None, ascending: FloatArray, p_out_of_set: float
) -> CountArray:
    n_classes, n_priors = loglik.shape[1], len(ascending)
    low, high = ascending * (1.0 - _NEAR) - _TINY, ascending * (1.0 + _NEAR) + _TINY
    last_before = np.append(-1.0, high)
    passes = Passes(n_classes - 1, n_classes, n_priors, weights)
    settled = np.zeros((n_priors, n_classes - 1, n_classes), count_type(weights))
    for rows in row_blocks(*loglik.shape):
        block = relative(loglik, rows)
        critical = critical_priors(block, p_out_of_set)
        certain = np.searchsorted(low, critical.ravel(), side="right").reshape(critical.shape)
        passes.add(n_priors - certain, label, rows)
        trials = np.flatnonzero((last_before[certain] >= critical).any(axis=0))
        if len(trials):
            possible = np.searchsorted(high, critical[:, trials].ravel()).reshape(-1, len(trials))
            true, weight = label[rows][trials], None if weights is None else weights[rows][trials]
            for at, yes in _settle(block[:, trials], possible, certain[:, trials], ascending, p_out_of_set):
                settled[at] += [tally(true[one], n_classes, None if weight is None else weight[one]) for one in yes]
    # The greatest prior is the first step, as it is the easiest to pass.
    return passes.accepted()[::-1] + settled


def _settle(
    block: FloatArray, possible: IntArray, certain: IntArray, p_target: FloatArray, p_out_of_set: float
) -> Iterator[tuple[int, BoolArray]]:
    """Priors from ``possible`` to before ``certain``, and which trials targets accept there by their detection llrs."""
    priors = non_target_priors(p_target, p_out_of_set, len(block))
    for at in range(possible.min(), certain.max()):
        near = (possible <= at) & (at < certain)
        if near.any():
            yield at, near & (detection_llrs(block, prior_ratio(priors[at]))[:-1] >= -logit(p_target[at]))


_MIX = tuple(map(np.uint64, (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)))
"""Odd numbers by which bits are stirred (Steele, Lea and Flood: "Fast splittable pseudorandom number generators")."""


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """Trials with the lowest lots, up to so many of each class; ``a + b`` is what is shown of the trials of both.

    A lot is drawn from the scores: neither the order of the trials nor how they are cut into parts matters.

    Attributes
    ----------
    most : int
        Of a class.
    loglik : (n, n_classes) array
    label : (n,) int array

    Examples
    --------
    >>> loglik = np.arange(12.0).reshape(6, 2)
    >>> whole = Shown.of(loglik, np.array([0, 1, 0, 1, 0, 0]), 2)
    >>> parts = Shown.of(loglik[:2], np.array([0, 1]), 2) + Shown.of(loglik[2:], np.array([0, 1, 0, 0]), 2)
    >>> bool(np.all(whole.loglik == parts.loglik)), np.bincount(whole.label)
    (True, array([2, 2]))
    """

    most: int
    loglik: ScoreArray
    label: IntArray

    @classmethod
    def of(cls, loglik: ScoreArray, label: IntArray, most: int) -> Shown:
        """Choose from trials."""
        lots, chosen, n_kinds = _lots(loglik), list[AnyArray](), int(label.max(initial=0)) + 1
        order = ordered_by_class(label, n_kinds)
        ends = np.cumsum(np.bincount(label, minlength=n_kinds))
        for rows in np.split(order, ends[:-1]):
            own = rows
            if len(own) > most:
                own = own[lots[own] <= np.partition(lots[own], most - 1)[most - 1]]
            chosen.append(own[np.lexsort((*loglik[own].T, lots[own]))][:most])
        rows = np.concatenate(chosen)
        return cls(most, loglik[rows], label[rows])

    def __add__(self, other: Shown) -> Shown:
        """Choose from both."""
        loglik, label = np.concatenate((self.loglik, other.loglik)), np.concatenate((self.label, other.label))
        return Shown.of(loglik, label, self.most)


def _lots(loglik: ScoreArray) -> Any:
    """A number for each trial, which looks as if drawn."""
    found = np.zeros(len(loglik), np.uint64)
    with np.errstate(over="ignore"):
        for column in loglik.T:
            found = (found + _MIX[0]) ^ (column.astype(np.float64) + 0.0).view(np.uint64)
            found = (found ^ (found >> np.uint64(30))) * _MIX[1]
            found = (found ^ (found >> np.uint64(27))) * _MIX[2]
            found ^= found >> np.uint64(31)
    return found
