"""Two-class problems within multiclass trials, and decisions at a grid of priors.

Detectors and pairs of trials in memory are scores (`deciban.multiclass.tables`). Those of other trials are sorted one
after the other, and `CountedProblems` answers the same questions by what is counted then.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import expit, logit

from deciban.core.by_value import ByValue
from deciban.core.classes import loglik as kernels
from deciban.core.classes.counts import chosen, log_weights, non_target_priors, tally
from deciban.core.classes.loglik import critical_priors, relative, row_blocks
from deciban.core.rules.expected import ErrorCounts
from deciban.evaluation.curves import prior_axis
from deciban.evaluation.multiclass.figures import ClassFigures
from deciban.evaluation.reliability import PooledOdds
from deciban.evaluation.summary import Summary
from deciban.metrics import SortedScores
from deciban.multiclass.tables import ByClass, ScoredClasses, Side, weighted_by
from deciban.types import BoolArray, CountArray, FloatArray, IntArray


def odds_of(trials: ScoredClasses, prior: FloatArray, share: FloatArray | None) -> tuple[Side, Side]:
    """Return posterior log odds of the recognized class against all others together, of all trials that count.

    Trials that were not of the recognized class come first.

    Parameters
    ----------
    trials : ScoredClasses
    prior : (n_classes,) array
        Positive.
    share : (n_classes,) array or None
        See `odds_share`.
    """
    decision, sure = chosen(trials.loglik, prior), np.empty(len(trials.label))
    for part in kernels.row_blocks(*trials.loglik.shape):
        sure[part] = _log_odds(kernels.relative(trials.loglik, part), log_weights(prior), decision[part])
    rows = np.concatenate([trials.rows(k) for k in range(trials.n_classes)])
    weights, sure = weighted_by(share, trials.label[rows], trials.weights_of(rows)), sure[rows]
    right = decision[rows] == trials.label[rows]
    wrong, right = ((sure[some], None if weights is None else weights[some]) for some in (~right, right))
    return wrong, right


def odds_share(prior: FloatArray, totals: CountArray) -> FloatArray | None:
    """Return what a trial of each class weighs among posteriors: classes weigh as the prior says. None stands for 1."""
    share = prior / totals
    return share if np.any(share != share[0]) else None


def _log_odds(block: FloatArray, weights: FloatArray, decision: IntArray) -> FloatArray:
    """From a relative block: infinite where all others are excluded."""
    weighted = block + weights[:, None]
    columns = np.arange(block.shape[1])
    with np.errstate(under="ignore", divide="ignore"):
        others = np.exp(weighted - weighted[decision, columns])
        others[decision, columns] = 0.0
        others.sort(axis=0)  # which class is which must not show: equal posteriors stay equal
        return np.asarray(-np.log(others.sum(axis=0)))


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """What is asked of the problems of a summary.

    Attributes
    ----------
    prior : (n_classes,) array
        Of decisions about classes.
    rivals : tuple of (n_classes,) arrays
        Priors of the detectors: one for all points, or one for each where a class is out of set.
    thresholds : tuple of arrays
        Ascending, on the llrs of each of these.
    has_pairs : bool
    """

    prior: FloatArray
    rivals: tuple[FloatArray, ...]
    thresholds: tuple[FloatArray, ...]
    has_pairs: bool

    @classmethod
    def of(cls, figures: ClassFigures, classes: Sequence[str], places: FloatArray) -> Asked:
        """From the figures that are asked for, of so many classes; ``places`` are those at which C_avg is drawn."""
        points, axis = np.array(figures.p_target), expit(prior_axis(figures.thresholds))
        first = [points, axis]
        if figures.out_of_set(len(classes)) is None:
            first += [expit(places), PRIORS]
        rivals = figures.rivals(len(classes))
        priors = [np.concatenate(first), *(points[k : k + 1] for k in range(1, len(rivals)))]
        thresholds = tuple(np.unique(-np.asarray(logit(one))) for one in priors)
        return cls(figures.prior_of(classes), rivals, thresholds, not figures.why_no_pairs(len(classes)))


class CountedProblem(SortedScores):
    """Sorted scores that are no longer there: their PAV blocks, Cllr, and decisions at thresholds known before."""

    def __init__(self, summary: Summary, thresholds: FloatArray) -> None:
        self.pav = summary.pav
        self._cllr, self._errors = summary.cllr, summary.errors(thresholds)

    def cllr(self) -> float:
        """See `SortedScores.cllr`."""
        return self._cllr

    def error_counts(self, thresholds: FloatArray) -> ErrorCounts:
        """See `SortedScores.error_counts`; these are thresholds at which decisions were counted."""
        known = self._errors.thresholds
        at = np.minimum(np.searchsorted(known, thresholds), len(known) - 1)
        if not np.array_equal(known[at], thresholds):
            raise ValueError("decisions were not counted at these thresholds")
        return replace(self._errors, thresholds=thresholds, n_miss=self._errors.n_miss[at], n_fa=self._errors.n_fa[at])


@dataclass(frozen=True, slots=True, eq=False)
class CountedPairs:
    """Each class against each other one, counted.

    Attributes
    ----------
    n_classes : int
    scores : mapping of (int, int) to CountedProblem
        Of every class and those before it.
    """

    n_classes: int
    scores: Mapping[tuple[int, int], CountedProblem]

    def cllr(self) -> tuple[FloatArray, FloatArray]:
        """See `deciban.multiclass.tables.Pairs.cllr`."""
        actual, minimum = np.ones((2, self.n_classes, self.n_classes))
        for (i, j), one in self.scores.items():
            actual[i, j] = actual[j, i] = one.cllr()
            minimum[i, j] = minimum[j, i] = one.min_cllr()
        return actual, minimum


@dataclass(frozen=True, slots=True, eq=False)
class CountedProblems:
    """Problems of trials that are nowhere in memory.

    Attributes
    ----------
    of_targets : tuple of tuples of CountedProblem
        Of each target against the rest, for each prior of the rivals.
    of_pairs : CountedPairs or None
        None if pairs are not asked for.
    odds : PooledOdds
    """

    of_targets: tuple[tuple[CountedProblem, ...], ...]
    of_pairs: CountedPairs | None
    odds: PooledOdds

    def detectors(self, at: int) -> tuple[CountedProblem, ...]:
        """Each class against the rest, by one of the priors of the rivals."""
        return self.of_targets[at]

    def pairs(self) -> CountedPairs | None:
        """Each class against each other one, if that is asked for."""
        return self.of_pairs


MOST_CLASSES = 30
"""Classes up to which decisions are counted: counts grow with their third power."""


_LOW = [0.5, 0.2, 0.1, 0.01, *(float(f"{p:.3g}") for p in expit(np.arange(-20, 0) * 0.4))]


PRIORS = np.unique(np.round([*_LOW, *(1.0 - p for p in _LOW)], 10))
"""Priors of the chosen class, ascending."""


@dataclass(frozen=True, eq=False)
class DecidedAt(ByValue):
    """Decisions as the prior of one class changes and the others keep their shares of the rest; parts add up.

    Attributes
    ----------
    prior : (n_classes,) array
        The shares; positive.
    counts : (n_classes, n_priors + 1, n_classes, n_classes) array
        For each class whose prior is chosen: trials by the first of `PRIORS` at which they are taken for it, by their
        class, and by the class that they are taken for before. Whole numbers take as few bytes as hold them.
    quadratic : (n_classes, n_priors, n_classes) array
        For each class whose prior is chosen: sums of the quadratic costs of the trials of each class, by prior.

    Examples
    --------
    >>> trials = ScoredClasses.of([[2.0, 0.0], [0.0, 1.0], [0.5, 0.0]], [0, 1, 1])
    >>> found = DecidedAt.of(trials, np.array([0.5, 0.5]))
    >>> found.confusion(0, 0.5)
    array([[1, 0],
           [1, 1]])
    """

    prior: FloatArray
    counts: CountArray
    quadratic: FloatArray = field(compare=False)  # sums of rounded numbers depend on their order

    @classmethod
    def of(cls, trials: ScoredClasses, prior: FloatArray) -> DecidedAt | None:
        """Count; None for more than `MOST_CLASSES` classes or a class of prior 0.

        Parameters
        ----------
        trials : ScoredClasses
        prior : (n_classes,) array
        """
        n = trials.n_classes
        if n > MOST_CLASSES or np.any(prior <= 0.0):
            return None
        n_places = len(PRIORS) + 1
        counts: list[CountArray] = [np.zeros(n_places * n * n, np.uint8)] * n
        weights, others, places = np.log(prior), np.log1p(-prior), logit(PRIORS)
        for rows in kernels.row_blocks(*trials.loglik.shape):
            block = kernels.relative(trials.loglik, rows) + weights[:, None]
            columns = np.arange(block.shape[1])
            top = np.argmax(block, axis=0)
            best = block[top, columns]
            rest = block.copy()
            rest[top, columns] = -math.inf
            second = np.argmax(rest, axis=0)
            second = np.where(second == top, np.where(top == 0, 1, 0), second)  # all others are excluded
            beside = rest[second, columns]
            some = None if trials.weights is None else trials.weights[rows]
            for k in range(n):
                is_top = top == k
                rival, height = np.where(is_top, second, top), np.where(is_top, beside, best)
                needed = height - others[k] - (block[k] - weights[k])
                at = np.searchsorted(places, needed, side="left")
                at += (at < len(places)) & (places[np.minimum(at, len(places) - 1)] == needed) & (k > rival)
                code = (at * n + trials.label[rows]) * n + rival
                found = tally(code, n_places * n * n, some)
                counts[k] = _sum(counts[k], found)
        return cls(prior, np.stack(counts).reshape(n, n_places, n, n), _quadratic_sums(trials, prior))

    def __add__(self, other: DecidedAt) -> DecidedAt:
        """Add the trials of another part."""
        counts: CountArray = np.concatenate([_sum(*both)[None] for both in zip(self.counts, other.counts, strict=True)])
        return replace(self, counts=counts, quadratic=self.quadratic + other.quadratic)

    def prior_at(self, k: int, p: float) -> FloatArray:
        """The prior of all classes where class ``k`` has prior ``p``."""
        found = self.prior * ((1.0 - p) / (1.0 - self.prior[k]))
        found[k] = p
        return np.asarray(found)

    def confusion(self, k: int, p: float) -> CountArray:
        """Trials of each class (rows) by the class that they are taken for.

        Parameters
        ----------
        k : int
            Class whose prior is chosen.
        p : float
            One of `PRIORS`.
        """
        at = int(np.searchsorted(PRIORS, p))
        before, after = self.counts[k, : at + 1], self.counts[k, at + 1 :]
        found = after.sum(axis=0, dtype=_total(self.counts))
        found[:, k] += before.sum(axis=(0, 2), dtype=found.dtype)
        return np.asarray(found)

    def by_first(self, k: int, places: IntArray) -> CountArray:
        """Counts by the first of some of `PRIORS`, from those by the first of all.

        Parameters
        ----------
        k : int
            Class whose prior is chosen.
        places : (n_kept,) int array
            Positions in `PRIORS`, ascending.
        """
        starts = np.concatenate(([0], places + 1))
        return np.asarray(np.add.reduceat(self.counts[k], starts, axis=0, dtype=_total(self.counts)))

    def brier(self, k: int, n_trials: CountArray) -> FloatArray:
        """Brier scores at all `PRIORS` of a class, as `deciban.multiclass.brier` has them.

        Parameters
        ----------
        k : int
            Class whose prior is chosen.
        n_trials : (n_classes,) array
            Trials of each class, or sums of their weights.

        Examples
        --------
        >>> trials = ScoredClasses.of([[2.0, 0.0], [0.0, 1.0]], [0, 1])
        >>> found = DecidedAt.of(trials, np.array([0.5, 0.5])).brier(0, np.array([1, 1]))
        >>> float(found[PRIORS == 0.5][0].round(6))
        0.086539
        """
        means = self.quadratic[k] / n_trials
        priors = np.stack([self.prior_at(k, p) for p in PRIORS.tolist()])
        return np.asarray((priors * means).sum(axis=1))


def _total(counts: CountArray) -> Any:
    """Return the type of sums of counts, which are kept in fewer bytes."""
    return counts.dtype if counts.dtype.kind == "f" else np.int64


def _short(counts: CountArray) -> CountArray:
    """Return counts in as few bytes as hold them: there are many, and most are small."""
    return counts if counts.dtype.kind == "f" else counts.astype(np.min_scalar_type(int(counts.max())))


def _sum(first: CountArray, second: CountArray) -> CountArray:
    return _short(np.add(first, second, dtype=np.result_type(_total(first), _total(second))))


_AT_ONCE = 1024
"""Trials whose costs are in memory at all priors: so few stay near the processor."""


def _quadratic_sums(trials: ScoredClasses, prior: FloatArray) -> FloatArray:
    """Sums of quadratic costs by class whose prior is chosen, prior, and class."""
    n = trials.n_classes
    found = np.zeros((n, len(PRIORS), n))
    for y in range(n):
        members = np.flatnonzero(trials.label == y)
        for start in range(0, len(members), _AT_ONCE):
            rows = members[start : start + _AT_ONCE]
            weights = np.ones(len(rows)) if trials.weights is None else np.asarray(trials.weights[rows], np.float64)
            likely = np.exp(kernels.relative(trials.loglik, rows)) * prior[:, None]
            for k in range(n):
                found[k, :, y] += _quadratic_costs(likely, y, k, prior[k], weights)
    return found


def _quadratic_costs(likely: FloatArray, y: int, k: int, share: float, weights: FloatArray) -> FloatArray:
    """Sums of the quadratic costs of trials of class ``y`` at all priors of class ``k``.

    With ``c`` the posterior of all classes but ``k``, and ``r`` the shares that they have of it, a trial costs
    ``c^2 (1 + sum r^2)``, and unless ``y`` is ``k``, ``2 - 2 c (1 + r_y)`` more (paper 001 eq. 13).
    """
    others = np.delete(likely, k, axis=0)
    total = others.sum(axis=0)
    safe = np.where(total > 0, total, 1.0)
    with np.errstate(over="ignore"):
        odds = np.where(total > 0, likely[k] / safe * ((1.0 - share) / share), np.inf)
        c = np.multiply.outer(PRIORS / (1.0 - PRIORS), odds)
    c += 1.0
    np.reciprocal(c, out=c)
    more = 0.0 if y == k else 2.0 * weights.sum() - 2.0 * (c @ (weights * (1.0 + likely[y] / safe)))
    c *= c
    return np.asarray(c @ (weights * (1.0 + np.sum((others / safe) ** 2, axis=0))) + more)


@dataclass(frozen=True, slots=True, eq=False)
class TargetErrors:
    """Trials that are missed, or accepted as another class, at the Bayes thresholds of all targets.

    Attributes
    ----------
    p_target : float
    rivals : (n_classes,) array
        Of each class as a non-target: the share of each of them in what a target leaves.
    n_targets : int
        The first so many classes are targets.
    label : (n_trials,) int array
    missed : (n_trials,) bool array
    n_accepted : (n_trials,) array
        How many other targets accept each trial.
    """

    p_target: float
    rivals: FloatArray
    n_targets: int
    label: IntArray
    missed: BoolArray
    n_accepted: FloatArray

    @classmethod
    def of(cls, llrs: ByClass, p_target: float, threshold: float, p_out_of_set: float | None) -> TargetErrors:
        """Decisions at a prior of a target: accepted are those that are not below the threshold.

        Parameters
        ----------
        llrs : ByClass
            Detection llrs of targets, or whatever orders trials as these do.
        p_target, threshold : float
        p_out_of_set : float or None
            The prior of the last class, if it is out of set.
        """
        label, n, is_open = llrs.label, len(llrs.lengths), p_out_of_set is not None
        rivals = np.full(n, 1.0 / (n - 1))
        if p_out_of_set is not None:
            (rivals,) = non_target_priors(np.array([p_target]), p_out_of_set, n)
        n_accepted, missed = np.zeros(len(label)), np.zeros(len(label), np.bool_)
        for target, own in enumerate(llrs.slices[: n - is_open]):
            is_accepted = llrs.values[target] >= threshold
            missed[own] = ~is_accepted[own]
            is_accepted[own] = False
            n_accepted += is_accepted
        return cls(p_target, rivals, n - is_open, label, missed, n_accepted)

    @property
    def costs(self) -> FloatArray:
        """What each trial adds to the mean of its class in C_avg: `deciban.multiclass.c_avg` as a sum over classes."""
        misses, false_alarms = self.p_target * self.missed, (1.0 - self.p_target) * self.rivals[self.label]
        return np.asarray((misses + false_alarms * self.n_accepted) / self.n_targets)

    @property
    def most(self) -> FloatArray:
        """What each class adds to C_avg if all of its trials are missed and accepted as all others, (n_classes,)."""
        is_target = np.arange(len(self.rivals)) < self.n_targets
        false_alarms = (1.0 - self.p_target) * self.rivals * (self.n_targets - is_target)
        return np.asarray((self.p_target * is_target + false_alarms) / self.n_targets)


def critical_priors_of(trials: ScoredClasses, p_out_of_set: float) -> FloatArray:
    """Priors of a target from which trials, class by class, are accepted, (n_targets, n_trials), of an open set."""
    order = np.concatenate([trials.rows(k) for k in range(trials.n_classes)])
    found = np.empty((trials.n_classes - 1, len(order)))
    for rows in row_blocks(len(order), trials.n_classes):
        found[:, rows] = critical_priors(relative(trials.loglik, order[rows]), p_out_of_set)
    return found
