"""Counts of multiclass decisions (chosen and accepted classes, in subsets of classes, too) and of conditions.

Counts are integers unless trials have fractional weights. Counts of two sets of trials can be added.

Pairs of classes are small problems, concatenated in long arrays. A single pair takes 0.2 ms, and hardly any of it is
arithmetic. So one sort, one pooling of adjacent violators and one logarithm process hundreds of pairs.

If one class is out of set, acceptance is monotone in the target prior p. Let q be the prior of the out-of-set class, O
its likelihood, L the likelihood of the target and A the mean likelihood of the other non-targets. A trial is accepted
if ``p L`` is at least ``(1 - p - q) A + q O``, that is, from the critical prior ``((1 - q) A + q O) / (L + A)`` on. So
one pass over the trials covers all priors.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike
from scipy.special import logit

from deciban.core.expected import softplus
from deciban.core.logliks import class_major, critical_priors, detection_llrs, prior_ratio, relative, row_blocks
from deciban.core.ranks.roc import pool
from deciban.types import AnyArray, BoolArray, CountArray, FloatArray, IntArray, ScoreArray

_CELLS = 1 << 22
"""Largest number of counters at once when decisions are counted at many thresholds."""


def chosen(loglik: ScoreArray, prior: FloatArray) -> IntArray:
    """Return the class of greatest posterior probability for every trial; the lowest index wins a tie.

    Classes of prior 0 are never chosen.
    """
    columns = np.flatnonzero(prior > 0)
    if len(columns) == len(prior) and np.all(prior == prior[0]):
        return np.asarray(np.argmax(loglik, axis=1))  # compares the scores directly, without rounding
    weights = log_weights(prior[columns])
    decision: IntArray = np.empty(len(loglik), np.int64)
    for rows in row_blocks(*loglik.shape):
        decision[rows] = columns[np.argmax(relative(loglik, rows, columns).T + weights, axis=1)]
    return decision


def is_among_first(loglik: ScoreArray, label: IntArray, k: int, prior: FloatArray | None = None) -> BoolArray:
    """Return True for trials whose class is among the ``k`` of greatest posterior; as in `chosen`, for ``k = 1``.

    By default, at the flat prior; otherwise the prior is positive.
    """
    mask, position = np.empty(len(label), np.bool_), np.arange(loglik.shape[1])
    is_flat = prior is None or bool(np.all(prior == prior[0]))
    weights = None if prior is None or is_flat else log_weights(prior)
    for rows in row_blocks(*loglik.shape):
        block = loglik[rows] if weights is None else relative(loglik, rows).T + weights
        true = label[rows, None]
        own = np.take_along_axis(block, true, axis=1)
        mask[rows] = ((block > own) | ((block == own) & (position < true))).sum(axis=1) < k
    return mask


def log_weights(prior: FloatArray) -> FloatArray:
    """Return logarithms of a positive prior, shifted so that the greatest is exactly 0.

    With two classes, the other entry is minus the absolute log odds. Then a log-likelihood ratio is compared with its
    Bayes threshold exactly as in the two-class metrics.
    """
    if len(prior) == 2:
        log_odds = float(logit(prior[0]))
        return np.array([min(log_odds, 0.0), min(-log_odds, 0.0)])
    return np.log(prior_ratio(prior))


def confusion(label: IntArray, decision: IntArray, n_classes: int, weights: CountArray | None) -> CountArray:
    """Count trials (or weight) by true class (rows) and decision (columns)."""
    return tally(label * n_classes + decision, n_classes**2, weights).reshape(n_classes, n_classes)


def in_turns(points: FloatArray, n_classes: int) -> Iterator[IntArray]:
    """Yield positions of points in ascending order of the points, in batches that fit the limit of counters."""
    order, at_once = np.argsort(points), max(_CELLS // n_classes**2, 1)
    for first in range(0, len(order), at_once):
        yield order[first : first + at_once]


class Passes:
    """Counts of trials by target, true class, and number of passed steps; the first step is the easiest."""

    def __init__(self, n_targets: int, n_classes: int, n_steps: int, weights: CountArray | None) -> None:
        self._shape = (n_targets, n_classes, n_steps + 1)
        self._counts = np.zeros((n_targets, n_classes * (n_steps + 1)), count_type(weights))
        self._weights = weights

    def add(self, n_passed: Iterable[AnyArray], label: IntArray, rows: slice) -> None:
        """Count trials; ``n_passed`` is the number of steps at which each target accepts them."""
        true = label[rows] * self._shape[2]
        weights = None if self._weights is None else self._weights[rows]
        for target, n in enumerate(n_passed):
            self._counts[target] += tally(true + n, self._counts.shape[1], weights)

    def accepted(self) -> CountArray:
        """Return the trials that each target accepts at each step, (n_steps, n_targets, n_classes)."""
        by_step = self._counts.reshape(self._shape)[:, :, ::-1].cumsum(axis=2)[:, :, -2::-1]
        return np.moveaxis(by_step, 2, 0)


def ordered_by_class(label: IntArray, n_classes: int) -> IntArray:
    """Return positions of trials sorted by class, in their original order within each class."""
    return np.argsort(label.astype(np.uint16) if n_classes <= 1 << 16 else label, kind="stable")  # 16 bits are faster


def tally(codes: IntArray, n_codes: int, weights: CountArray | None) -> CountArray:
    """Return the number of trials (or the weight) of each code."""
    if weights is None:
        return np.bincount(codes, minlength=n_codes)
    return np.bincount(codes, weights, minlength=n_codes).astype(count_type(weights), copy=False)


def count_type(weights: CountArray | None) -> DTypeLike:
    """Return the type of counters: integer, unless trials have fractional weights."""
    return np.int64 if weights is None else weights.dtype


_AT_ONCE = 1 << 15
"""Number of costs that are computed and summed at once."""


class Problems(NamedTuple):
    """Scores of one class in each of many problems, concatenated.

    Attributes
    ----------
    scores : (n,) array
        Finite or infinite, in any order within a problem.
    counts : (n_problems,) array
        Number of scores of each problem, at least 1.
    """

    scores: FloatArray
    counts: IntArray


def mean_log_costs(leads: FloatArray, weights: CountArray | None) -> FloatArray:
    """Return the mean of ``ln(1 + exp(-lead))`` of every row of leads (n_rows, n_trials), in nats."""
    n, result = leads.shape[1], []
    for part in np.array_split(leads, min(-(-leads.size // _AT_ONCE), len(leads))):
        costs = softplus(-part) if weights is None else softplus(-part) * weights
        result.append(_sums(costs.ravel(), np.arange(len(part)) * n))
    total = n if weights is None else _sums(weights.astype(np.float64), np.zeros(1, np.int64))
    return np.asarray(np.concatenate(result) / total)


def min_cllrs(tar: Problems, non: Problems) -> FloatArray:
    """Return the minimum Cllr of every problem over all monotone recalibrations, in bits."""
    n_tar, n_non, place = _pooled(tar, non)
    with np.errstate(divide="ignore"):
        of_tar, of_non = np.log(n_tar) - np.log(tar.counts[place]), np.log(n_non) - np.log(non.counts[place])
    begins, llr = np.flatnonzero(np.diff(place, prepend=-1)), of_tar - of_non
    least_tar = _sums(_weighted(n_tar, softplus(-llr)), begins) / tar.counts
    least_non = _sums(_weighted(n_non, softplus(llr)), begins) / non.counts
    return (0.5 * least_tar + 0.5 * least_non) / math.log(2.0)


def _pooled(tar: Problems, non: Problems) -> tuple[CountArray, CountArray, IntArray]:
    """Return targets and non-targets in the PAV blocks of all problems, and the problem of each block."""
    sizes = np.stack((tar.counts, non.counts), axis=1)
    is_tar = np.repeat(np.tile([True, False], len(sizes)), sizes.ravel())
    scores, place = np.empty(len(is_tar)), np.repeat(np.arange(len(sizes)), sizes.sum(axis=1))
    scores[is_tar], scores[~is_tar] = tar.scores, non.scores
    keys = (scores + 0.0).view(np.int64)  # -0.0 becomes 0.0
    keys ^= keys >> 63 & np.iinfo(np.int64).max  # in the order of the scores
    # In place of the last bit, the class is sorted together with the score, in a third of the time of argsort.
    both, is_first = keys & -2 | is_tar, np.append(True, place[1:] != place[:-1])
    bounds = [slice(i, j) for i, j in pairwise((*np.flatnonzero(is_first).tolist(), len(keys)))]
    for own in bounds:
        both[own].sort()
    if np.bitwise_or.reduce(keys) & 1 and np.any(both[1:] >> 1 == both[:-1] >> 1):  # perhaps the bit matters
        order = np.concatenate([own.start + np.argsort(keys[own]) for own in bounds])
        keys, is_tar = keys[order], is_tar[order]
    else:
        keys, is_tar = both >> 1, (both & 1).astype(np.bool_)
    differs = is_first | np.append(True, keys[1:] != keys[:-1])
    alone = differs & np.append(differs[1:], True)
    # Without ties, a block begins at targets after non-targets: all other neighbours are violators.
    pooled = alone[1:] & alone[:-1] & (is_tar[:-1] | ~is_tar[1:])
    begins = np.flatnonzero(is_first | (differs & ~np.append(False, pooled)))
    of_tar = np.add.reduceat(is_tar, begins, dtype=np.int64)
    of_non = np.diff(begins, append=len(keys)) - of_tar
    starts = pool(of_tar, of_non, is_first[begins])
    return np.add.reduceat(of_tar, starts), np.add.reduceat(of_non, starts), place[begins[starts]]


def _weighted(counts: CountArray, costs: FloatArray) -> FloatArray:
    """Return costs times counts; 0 if the count is 0."""
    return np.multiply(counts, costs, out=np.zeros(len(costs)), where=counts > 0)


def _sums(values: FloatArray, begins: IntArray) -> FloatArray:
    """Sum runs of numbers from 0 to infinity, to about one unit in the last place.

    Every number is split into its leading 26 bits, relative to the greatest number of its sum, and the rest. Up to
    2^26 leading parts are added without rounding. Beyond 1e300, numbers are added without a split.
    """
    greatest = np.maximum.reduceat(values, begins)
    with np.errstate(over="ignore", invalid="ignore"):
        exponent = np.frexp(greatest)[1] + 26
        cutter = np.where(exponent < 1024, np.ldexp(1.5, exponent), 0.0)
        cut = np.repeat(cutter, np.append(begins[1:], len(values)) - begins) if len(begins) > 1 else cutter
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
    """Count how often trials of every class are accepted as every in-set class, at each target prior.

    Decisions compare detection llrs at `non_target_priors` with ``-logit(p_target)``, separately for each prior.

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
    """Return the class priors given that the target is not true, (n_priors, n_classes), for rivals of any target."""
    share = p_out_of_set / (1.0 - p_target)
    prior = np.repeat((1.0 - share)[:, None] / (n_classes - 2), n_classes, axis=1)
    prior[:, -1] = share
    return prior


def _error_bound(p_target: FloatArray, p_out_of_set: float, n_classes: int) -> FloatArray:
    """Bound the relative error, by rounding, of the target prior at which the direct comparison changes.

    As a target prior approaches ``1 - p_out_of_set``, the remaining prior of other classes loses all digits.
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
    # The greatest prior is the first step, because it is the easiest to pass.
    return passes.accepted()[::-1] + settled


def _settle(
    block: FloatArray, possible: IntArray, certain: IntArray, p_target: FloatArray, p_out_of_set: float
) -> Iterator[tuple[int, BoolArray]]:
    """Yield priors from ``possible`` to before ``certain``, and the trials accepted there by detection llrs."""
    priors = non_target_priors(p_target, p_out_of_set, len(block))
    for at in range(possible.min(), certain.max()):
        near = (possible <= at) & (at < certain)
        if near.any():
            yield at, near & (detection_llrs(block, prior_ratio(priors[at]))[:-1] >= -logit(p_target[at]))


_MIX = tuple(map(np.uint64, (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)))
"""Odd multipliers for mixing bits (Steele, Lea and Flood: "Fast splittable pseudorandom number generators")."""


@dataclass(frozen=True, slots=True, eq=False)
class ClassSample:
    """A random sample with up to ``most`` trials of each class; ``a + b`` is the sample of both sets of trials.

    The trials with the lowest hashes of their scores are chosen, so that the order and the batches of trials do not
    matter.

    Attributes
    ----------
    most : int
        Limit for each class.
    loglik : (n, n_classes) array
    label : (n,) int array

    Examples
    --------
    >>> loglik = np.arange(12.0).reshape(6, 2)
    >>> whole = ClassSample.of(loglik, np.array([0, 1, 0, 1, 0, 0]), 2)
    >>> parts = ClassSample.of(loglik[:2], np.array([0, 1]), 2) + ClassSample.of(loglik[2:], np.array([0, 1, 0, 0]), 2)
    >>> bool(np.all(whole.loglik == parts.loglik)), np.bincount(whole.label)
    (True, array([2, 2]))
    """

    most: int
    loglik: ScoreArray
    label: IntArray

    @classmethod
    def of(cls, loglik: ScoreArray, label: IntArray, most: int) -> ClassSample:
        """Sample from trials."""
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

    def __add__(self, other: ClassSample) -> ClassSample:
        """Sample from both."""
        loglik, label = np.concatenate((self.loglik, other.loglik)), np.concatenate((self.label, other.label))
        return ClassSample.of(loglik, label, self.most)


def _lots(loglik: ScoreArray) -> AnyArray:
    """Return a pseudorandom number for each trial, computed from its scores."""
    values = np.zeros(len(loglik), np.uint64)
    with np.errstate(over="ignore"):
        for column in loglik.T:
            values = (values + _MIX[0]) ^ (column.astype(np.float64) + 0.0).view(np.uint64)
            values = (values ^ (values >> np.uint64(30))) * _MIX[1]
            values = (values ^ (values >> np.uint64(27))) * _MIX[2]
            values ^= values >> np.uint64(31)
    return values


def totals_by_condition(
    condition: IntArray, truth: AnyArray, weight: CountArray | None = None, *, n_conditions: int, n_classes: int
) -> CountArray:
    """Return the number (or weight) of trials of each condition and class.

    Parameters
    ----------
    condition : (n_trials,) int array
        Condition of each trial.
    truth : (n_trials,) bool or int array
        True for targets, or the class of each trial.
    weight : (n_trials,) array, optional
    n_conditions, n_classes : int

    Returns
    -------
    (n_conditions, n_classes) array

    Examples
    --------
    >>> totals_by_condition(np.array([0, 1, 1]), np.array([True, False, False]), n_conditions=2, n_classes=2)
    array([[0, 1],
           [2, 0]])
    """
    return tally(condition * n_classes + truth, n_conditions * n_classes, weight).reshape(n_conditions, n_classes)


def equalizing_factors(totals: CountArray) -> FloatArray:
    """Return the weights of trials that give all conditions of a class equal weight.

    In every class, the weight of a trial is the size of the largest condition divided by the size of its own
    condition:

        w(c, class) = max_d n(d, class) / n(c, class),

    times its own weight, if any. With these weights, a mean over the trials of a class is the mean of the means of its
    conditions; so are P_miss and P_fa at any threshold.

    Parameters
    ----------
    totals : (n_conditions, n_classes) array

    Returns
    -------
    (n_conditions, n_classes) array
        0 for conditions without trials.

    Examples
    --------
    >>> equalizing_factors(np.array([[4, 0], [2, 5]]))
    array([[1., 0.],
           [2., 1.]])
    """
    return np.asarray(np.divide(totals.max(axis=0), totals, out=np.zeros(totals.shape), where=totals > 0))


def sharing_factors(totals: CountArray, shares: FloatArray) -> FloatArray:
    """Return the weights of trials that give each condition a specified share of a class.

    In a class with specified shares, the weight of a trial is

        w(c, class) = share(c) n(class) / n(c, class),

    times its own weight, if any. Then error rates are means over conditions with these shares as weights.

    Parameters
    ----------
    totals : (n_conditions, n_classes) array
    shares : (n_conditions, n_classes) array
        Shares of a class sum to 1, or are NaN: then its trials keep their weights. Every condition with a share has
        trials of the class.

    Returns
    -------
    (n_conditions, n_classes) array

    Examples
    --------
    >>> sharing_factors(np.array([[4, 6], [2, 2]]), np.array([[np.nan, 0.5], [np.nan, 0.5]])).round(3)
    array([[1.   , 0.667],
           [1.   , 2.   ]])
    """
    values: FloatArray = np.divide(shares * totals.sum(axis=0), totals, out=np.zeros(totals.shape), where=totals > 0)
    values[:, np.isnan(shares).all(axis=0)] = 1.0
    return values


_CELLS_AT_ONCE = 1 << 16
"""Decisions in a table, which stays in cache: of some trials, in subsets that differ in the first classes."""

_TRIALS = 2040
"""Largest number of trials in a table, a multiple of 8; counters of 8 bits are enough for an eighth of them."""

_READ = 1 << 14
"""Trials whose likelihoods are computed together."""

_RANGE = 700.0
"""Exponentials of numbers in [-700, 0] are normal floats."""

_SUBSET_ROUNDING = 1e-14
"""Relative precision of sums of likelihoods; a class that is below the threshold by less is accepted."""


@dataclass(frozen=True, slots=True, eq=False)
class SubsetCounts:
    """Counts of decisions in every subset; ``a + b`` counts the trials of both.

    Attributes
    ----------
    odds : float
        Odds of the target prior.
    totals : (n_classes,) int array
        Trials of each class.
    hits, alarms : (n_classes, 2 ** (n_classes - 1)) int arrays
        Trials of each class that are accepted by this class, and by how many other classes, in each subset with the
        class.
    """

    odds: float
    totals: IntArray
    hits: IntArray
    alarms: IntArray

    @classmethod
    def of(cls, loglik: ScoreArray, rows_of: list[IntArray], odds: float) -> SubsetCounts:
        """Count trials; ``rows_of`` contains the rows of each class."""
        n_classes = loglik.shape[1]
        accepted = np.zeros((2, n_classes, 1 << (n_classes - 1)), np.int64)
        for target, _, label, tables in _subset_decisions(loglik, rows_of, odds):
            sizes = np.bincount(label)
            classes = np.flatnonzero(sizes)
            starts = (np.cumsum(sizes) - sizes)[classes]
            of_class = sizes[classes] if tables is None else _by_class(tables, starts)
            for own, counts in zip(classes.tolist(), of_class, strict=True):
                if own == target:
                    accepted[0, own] += counts
                else:
                    both = accepted[1, own].reshape(-1, 2, 1 << (target - (target > own)))[:, 1]
                    both += counts if tables is None else counts.reshape(both.shape)
        return cls(odds, np.array([len(rows) for rows in rows_of]), *accepted)

    def __add__(self, other: SubsetCounts) -> SubsetCounts:
        """Add the counts of other trials."""
        names = ("totals", "hits", "alarms")
        return replace(self, **{name: getattr(self, name) + getattr(other, name) for name in names})

    def costs(self) -> FloatArray:
        """Return the average detection cost of every subset, in the order of bit masks; class ``k`` is bit ``k``.

        Returns
        -------
        (2 ** n_classes,) array
            Fractions; 0 for subsets with fewer than two classes.
        """
        n_classes = len(self.totals)
        n_members = np.bitwise_count(np.arange(1 << n_classes)).astype(np.int64)
        p_target = self.odds / (1.0 + self.odds)
        rivals = np.maximum(n_members - 1, 1)
        total = np.zeros(1 << n_classes)
        for own, n_trials in enumerate(self.totals.tolist()):
            others = np.arange(1 << (n_classes - 1))
            subsets = others + (others >> own << own) + (1 << own)  # the bit of the class is inserted
            cost = p_target * (n_trials - self.hits[own]) + (1.0 - p_target) * self.alarms[own] / rivals[subsets]
            total[subsets] += cost / n_trials
        total[n_members < 2] = 0.0
        return np.asarray(total / np.maximum(n_members, 1))


def mean_costs_of_trials(loglik: ScoreArray, rows_of: list[IntArray], odds: float) -> FloatArray:
    """Return the contribution of each trial to the mean of `SubsetCounts.costs` over all subsets of each size.

    Parameters
    ----------
    loglik, rows_of, odds
        See `SubsetCounts.of`.

    Returns
    -------
    (n_classes - 1, n_trials) array
        Rows for subsets of 2, 3, ... classes; columns for trials, sorted by class.
    """
    n_classes = loglik.shape[1]
    p_target, size = odds / (1.0 + odds), np.arange(2, n_classes + 1)
    n_with, n_with_both, n_subsets = (
        np.array([math.comb(n_classes - n, k - n) for k in size], np.float64)[:, None] for n in (1, 2, 0)
    )
    size, accepted = size[:, None], np.zeros((2, n_classes - 1, sum(map(len, rows_of))))
    for target, trials, label, tables in _subset_decisions(loglik, rows_of, odds):
        hit, kept = int(label[0] == target), trials >= 0
        in_all = (n_with_both, n_with)[hit]
        counts = _by_size(tables, kept, n_classes - 1 + hit)[hit:] if tables else in_all
        accepted[hit][:, trials[kept]] += counts
    alarms, hits = accepted
    return np.asarray((p_target * (n_with - hits) + (1.0 - p_target) * alarms / (size - 1)) / (size * n_subsets))


def least_llr(n_members: int, odds: float) -> float:
    """Return the lowest accepted detection llr of a class in a subset, minus the tolerance for rounding of sums."""
    return math.log((1.0 - _SUBSET_ROUNDING) / (odds + _SUBSET_ROUNDING / (n_members - 1)))


def _subset_decisions(
    loglik: ScoreArray, rows_of: list[IntArray], odds: float
) -> Iterator[tuple[int, IntArray, IntArray, Iterator[BoolArray] | None]]:
    """Yield targets, trials that they accept in some subsets, the class of each trial, and decisions in subsets.

    Trials are numbered by class. Their classes ascend, and are all the target or all others. Decisions are None if the
    trials are accepted in all subsets that contain their class and the target. Otherwise they are `_tables` of these
    subsets, and each class has a multiple of 8 trials: the number of those that are added is -1.
    """
    n_classes, counts = loglik.shape[1], [len(rows) for rows in rows_of]
    rows, label = np.concatenate(rows_of), np.repeat(np.arange(n_classes), counts)
    for first in range(0, len(rows), _READ):
        truth = label[first : first + _READ]
        likelihood = np.exp(_squeezed(class_major(loglik, rows[first : first + _READ])))
        for target, sure, unsure in _accepted_in_some(likelihood, truth, odds):
            if len(sure):
                yield target, first + sure, truth[sure], None
            places, of_eights = _in_eights(truth[unsure])
            number, trials = np.full(len(of_eights), -1), np.zeros(len(of_eights), np.int64)
            number[places], trials[places] = first + unsure, unsure
            gains, start = _gains(likelihood.take(trials, axis=1), of_eights, target, odds)
            start[number < 0] = np.inf  # never accepted
            for at in range(0, len(trials), _TRIALS):
                some = slice(at, at + _TRIALS)
                yield target, number[some], of_eights[some], _tables(gains[:, some], start[some])


def _accepted_in_some(likelihood: FloatArray, truth: IntArray, odds: float) -> Iterator[tuple[int, IntArray, IntArray]]:
    """Yield targets, trials that they accept in all subsets, and in some or none: first their own, then others.

    They accept if the mean likelihood of the others in the subset is at most ``odds`` times their own. Classes above
    this limit raise the mean: it is farthest above the limit with all of them, and farthest below it with none of them.
    """
    n_others, columns, total = len(likelihood) - 1, np.arange(len(truth)), likelihood.sum(axis=0)
    own, others, slack = likelihood[truth, columns], likelihood.copy(), 1e-9 * odds
    others[truth, columns] = 0.0
    rival = others.max(axis=0)
    for target, value in enumerate(likelihood):
        limit, its = odds * value, slice(*np.searchsorted(truth, [target, target + 1]).tolist())
        is_sure = rival[its] <= limit[its]
        yield target, its.start + np.flatnonzero(is_sure), its.start + np.flatnonzero(~is_sure)
        high = np.minimum(own, limit) - np.minimum(likelihood, limit).sum(axis=0)
        is_sure = total + high < value * (max(odds, 1.0) - slack)
        is_unsure = ~is_sure & ~(own - high > value * (n_others * odds + min(odds, 1.0) + slack))
        is_sure[its] = is_unsure[its] = False
        yield target, np.flatnonzero(is_sure), np.flatnonzero(is_unsure)


def _gains(likelihood: FloatArray, truth: IntArray, target: int, odds: float) -> tuple[FloatArray, FloatArray]:
    """Return the gains of the other classes over a target, and the gain of the class of each trial, less a tolerance.

    The target is accepted if the gains of all others in the subset sum to at most 0.
    """
    gains = np.delete(likelihood / likelihood[target] - odds * (1.0 + _SUBSET_ROUNDING), target, axis=0)
    if not np.any(truth != target):
        return gains, np.full(len(truth), -_SUBSET_ROUNDING)
    own = truth - (truth > target)
    is_before = np.arange(len(gains) - 1)[:, None] < own
    return np.where(is_before, gains[:-1], gains[1:]), gains[own, np.arange(len(own))] - _SUBSET_ROUNDING


def _in_eights(label: IntArray) -> tuple[IntArray, IntArray]:
    """Return new places of ascending labels, and the labels after each has been repeated to a multiple of 8."""
    counts = np.bincount(label)
    n_added = -counts % 8
    places = np.arange(len(label)) + (np.cumsum(n_added) - n_added)[label]
    return places, np.repeat(np.arange(len(counts)), counts + n_added)


def _tables(gains: FloatArray, start: FloatArray) -> Iterator[BoolArray]:
    """Yield decisions in each subset of the other classes: True if ``start`` plus the sum of their gains is at most 0.

    Each table (n_low, n_trials) has the subsets with the same classes in their high bits; the next one overwrites it.
    """
    n_low = (_CELLS_AT_ONCE // len(start)).bit_length() - 1
    sums, limits = _sums_of_subsets(start, gains[:n_low]), _sums_of_subsets(np.zeros(len(start)), -gains[n_low:])
    table = np.empty(sums.shape, np.bool_)
    for limit in limits:
        yield np.less_equal(sums, limit, out=table)


def _sums_of_subsets(start: FloatArray, gains: FloatArray) -> FloatArray:
    """Return ``start`` plus the sum of every subset of gains; bit ``k`` of the row includes the ``k``-th of them."""
    sums = np.empty((1 << len(gains), len(start)))
    sums[0] = start
    for k, gain in enumerate(gains):
        np.add(sums[: 1 << k], gain, out=sums[1 << k : 2 << k])
    return sums


def _by_class(tables: Iterator[BoolArray], starts: IntArray) -> IntArray:
    """Return the number of accepted trials of each class in each subset; eight numbers of 8 bits are added as one."""
    eights = np.array([np.add.reduceat(table.view(np.uint64), starts // 8, axis=1) for table in tables])
    return np.asarray(eights.view(np.uint8).reshape(-1, len(starts), 8).sum(axis=2, dtype=np.int64).T)


def _by_size(tables: Iterator[BoolArray], kept: BoolArray, n_sizes: int) -> FloatArray:
    """Return the number of decisions that accept each trial, by the number of others in the subset."""
    result = np.zeros((n_sizes, len(kept)))
    for at, table in enumerate(tables):
        size, n_low = np.bitwise_count(np.arange(len(table))), len(table).bit_length()
        is_of_size = (size == np.arange(n_low)[:, None]).astype(np.float32)
        result[at.bit_count() :][:n_low] += is_of_size @ table.astype(np.float32)
    return result[:, kept]


def _squeezed(block: FloatArray) -> FloatArray:
    """Return log-likelihoods from -700 to 0 that lead to the same decisions in every subset.

    If neighbours in rank are so far apart that the lower one adds nothing to the higher one, their gap is reduced. So
    infinite gaps become finite, and equal infinities stay equal.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        shifted: FloatArray = block - block.max(axis=0)
    far = np.flatnonzero(~(shifted.min(axis=0) >= -_RANGE))  # with NaN, too
    if not len(far):
        return shifted
    block = block[:, far]
    order = np.argsort(block, axis=0)
    ascending = np.take_along_axis(block, order, axis=0)
    with np.errstate(invalid="ignore", over="ignore"):
        gaps = np.diff(ascending, axis=0)
    gaps[np.isnan(gaps)] = 0.0
    np.minimum(gaps, _RANGE / len(gaps), out=gaps)
    below_top = np.zeros_like(block)
    below_top[:-1] = -np.cumsum(gaps[::-1], axis=0)[::-1]
    np.put_along_axis(block, order, below_top, axis=0)
    shifted[:, far] = block
    return shifted
