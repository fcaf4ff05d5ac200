"""What adds up of the problems of two classes inside one of many: decisions at thresholds, and costs of soft ones.

Detectors and pairs of trials that are in memory are scores (`deciban.multiclass.tables`). Of others, what is known here
is counted in one pass, and their PAV blocks in others: `CountedProblems` answers the same questions by both.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, logit

from deciban.core.classes import loglik as kernels
from deciban.core.classes.counts import chosen, log_weights, tally
from deciban.core.ranks.counts import SortedClass
from deciban.core.ranks.hull import Pav
from deciban.core.rules.expected import ErrorCounts
from deciban.core.rules.proper import softplus
from deciban.core.training.sums import Sums
from deciban.evaluation.curves import prior_axis
from deciban.evaluation.multiclass.figures import ClassFigures
from deciban.evaluation.reliability import PLACES, PooledOdds
from deciban.metrics import SortedScores
from deciban.multiclass.tables import ByClass, Detectors, Pairs, ScoredClasses
from deciban.types import BoolArray, CountArray, FloatArray, IntArray


def pooled_odds(trials: ScoredClasses, prior: FloatArray) -> PooledOdds:
    """Return posterior log odds of the recognized class against all others together, of all trials that count.

    Parameters
    ----------
    trials : ScoredClasses
        Each class has some, and weighs as the prior has it.
    prior : (n_classes,) array
        Positive.
    """
    sure, right = trial_odds(trials, prior)
    rows = np.concatenate([trials.rows(k) for k in range(trials.n_classes)])
    weight, own = (prior / trials.totals())[trials.label[rows]], trials.weights_of(rows)
    weight = weight if own is None else weight * own
    parts = (np.flatnonzero(some) for some in (right[rows], ~right[rows]))
    return PooledOdds.of(*(SortedClass.of(sure[rows[some]], weight[some]) for some in parts))


def trial_odds(trials: ScoredClasses, prior: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Of each trial the posterior log odds of the recognized class, and whether it is the true one."""
    decision, sure = chosen(trials.loglik, prior), np.empty(len(trials.label))
    for rows in kernels.row_blocks(*trials.loglik.shape):
        sure[rows] = _log_odds(kernels.relative(trials.loglik, rows), log_weights(prior), decision[rows])
    return sure, decision == trials.label


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
        first = [points, axis] if figures.out_of_set(len(classes)) is not None else [points, axis, expit(places)]
        rivals = figures.rivals(len(classes))
        priors = [np.concatenate(first), *(points[k : k + 1] for k in range(1, len(rivals)))]
        thresholds = tuple(np.unique(-np.asarray(logit(one))) for one in priors)
        return cls(figures.prior_of(classes), rivals, thresholds, not figures.why_no_pairs(len(classes)))


@dataclass(frozen=True, slots=True, eq=False)
class ProblemSums:
    """Sums over trials; ``a + b`` are those over the trials of both.

    Attributes
    ----------
    asked : Asked
    accepted : tuple of (n_targets, n_thresholds, n_classes) arrays
        Trials of each class that detectors accept.
    costs : tuple of Sums
        Logarithmic costs of the detectors, (n_targets, n_classes), in nats.
    pairs : Sums or None
        Logarithmic costs of the trials of each class (column) against each other class (row).
    in_bins : (2, n_classes, n_bins) array
        Trials by the posterior of the class that they were taken for: those that were not of it, and those that were.
    """

    asked: Asked
    accepted: tuple[CountArray, ...]
    costs: tuple[Sums, ...]
    pairs: Sums | None
    in_bins: CountArray

    @classmethod
    def of(cls, trials: ScoredClasses, asked: Asked) -> ProblemSums:
        """Add up over checked trials."""
        accepted, costs = list[CountArray](), list[Sums]()
        for prior, thresholds in zip(asked.rivals, asked.thresholds, strict=True):
            detectors = Detectors.of(trials, prior)
            n = range(len(prior))
            accepted.append(np.concatenate([np.moveaxis(detectors.accepted_by(k, thresholds), 1, 0) for k in n]))
            costs.append(_costs_by_class(detectors.llrs, 1.0 - 2.0 * np.eye(len(prior))))
        pairs = None
        if asked.has_pairs:
            leads = Pairs.of(trials).leads
            pairs = _costs_by_class(leads, -np.ones((len(leads.values), len(leads.lengths))))
        return cls(asked, tuple(accepted), tuple(costs), pairs, _in_bins(trials, asked.prior))

    def __add__(self, other: ProblemSums) -> ProblemSums:
        """Those over the trials of both."""
        pairs = None if self.pairs is None or other.pairs is None else self.pairs + other.pairs
        return replace(
            self,
            accepted=tuple(a + b for a, b in zip(self.accepted, other.accepted, strict=True)),
            costs=tuple(a + b for a, b in zip(self.costs, other.costs, strict=True)),
            pairs=pairs,
            in_bins=self.in_bins + other.in_bins,
        )


def _costs_by_class(values: ByClass, sign: FloatArray) -> Sums:
    """Sums of ``softplus(sign * value)`` over the trials of each class, (n_rows, n_classes)."""
    sums = np.zeros(sign.shape)
    for k, own in enumerate(values.slices):
        weights = values.weights_of(own)
        for row, value in enumerate(values.values[:, own]):
            costs = softplus(sign[row, k] * value)
            sums[row, k] = np.sum(costs if weights is None else costs * weights)
    return Sums.of(sums)


def _in_bins(trials: ScoredClasses, prior: FloatArray) -> CountArray:
    sure, right = trial_odds(trials, prior)
    n_bins = len(PLACES) + 1
    code = (right * trials.n_classes + trials.label) * n_bins + np.searchsorted(PLACES, sure, side="right")
    return tally(code, 2 * trials.n_classes * n_bins, trials.weights).reshape(2, trials.n_classes, n_bins)


class CountedDetector(SortedScores):
    """One of the detectors: its PAV blocks, its Cllr, and its decisions at thresholds that were known before."""

    def __init__(self, pav: Pav, cllr: float, errors: ErrorCounts) -> None:
        self.pav = pav
        self._cllr, self._errors = cllr, errors

    def cllr(self) -> float:
        """See `SortedScores.cllr`."""
        return self._cllr

    def error_counts(self, thresholds: FloatArray) -> ErrorCounts:
        """See `SortedScores.error_counts`; these are thresholds at which decisions were counted."""
        at = _found(thresholds, self._errors.thresholds)
        return replace(self._errors, thresholds=thresholds, n_miss=self._errors.n_miss[at], n_fa=self._errors.n_fa[at])


_NOTHING = ErrorCounts(np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int64), 0, 0)


def _found(thresholds: FloatArray, known: FloatArray) -> IntArray:
    at = np.minimum(np.searchsorted(known, thresholds), len(known) - 1)
    if not np.array_equal(known[at], thresholds):
        raise ValueError("decisions were not counted at these thresholds")
    return np.asarray(at)


@dataclass(frozen=True, slots=True, eq=False)
class CountedDetectors:
    """Each target against the rest, counted.

    Attributes
    ----------
    prior : (n_targets,) array
    totals : (n_targets,) array
        Trials of each class, or their weight.
    thresholds : (n_thresholds,) array
    accepted : (n_targets, n_thresholds, n_classes) array
    costs : (n_targets, n_classes) array
    pavs : tuple of Pav
    """

    prior: FloatArray
    totals: CountArray
    thresholds: FloatArray
    accepted: CountArray
    costs: FloatArray
    pavs: tuple[Pav, ...]

    def accepted_by(self, target: int, thresholds: FloatArray) -> CountArray:
        """See `Detectors.accepted_by`."""
        return np.asarray(self.accepted[target][_found(thresholds, self.thresholds)][:, None, :])

    def __iter__(self) -> Iterator[CountedDetector]:
        """Each detector; non-target classes weigh as the prior says."""
        for at, pav in enumerate(self.pavs):
            share = rival_shares(self.prior, self.totals, at)
            others = np.arange(len(share)) != at
            n_fa, n_non = self.accepted[at][:, others], self.totals[others]
            if np.all(share[others] == 1.0):
                n_fa, n_non = n_fa.sum(axis=1), n_non.sum()
            else:
                n_fa, n_non = n_fa @ share[others], n_non @ share[others]
            n_tar = self.totals[at].item()
            errors = ErrorCounts(self.thresholds, n_tar - self.accepted[at][:, at], n_fa, n_tar, n_non.item())
            of_non = math.fsum(share[others] * self.costs[at, others]) / math.fsum(share[others] * self.totals[others])
            cllr = (0.5 * (self.costs[at, at] / n_tar) + 0.5 * of_non) / math.log(2)
            yield CountedDetector(pav, float(cllr), errors)


def rival_shares(prior: FloatArray, totals: CountArray, target: int) -> FloatArray:
    """What a trial of each class weighs in the detector of a target: 1 where all of its rivals weigh alike."""
    share = prior / totals
    rivals = np.delete(share, target)
    share = share / rivals.max() if np.any(rivals != rivals[0]) else np.ones(len(share))
    share[target] = 1.0
    return np.asarray(share)


@dataclass(frozen=True, slots=True, eq=False)
class CountedPairs:
    """Each class against each other one, counted.

    Attributes
    ----------
    totals : (n_classes,) array
    costs : (n_classes, n_classes) array
        As of `ProblemSums`.
    pavs : mapping of (int, int) to Pav
        Of every class and those before it.
    """

    totals: CountArray
    costs: FloatArray
    pavs: Mapping[tuple[int, int], Pav]

    def cllr(self) -> tuple[FloatArray, FloatArray]:
        """See `deciban.multiclass.tables.Pairs.cllr`."""
        n_classes, means = len(self.totals), self.costs / self.totals
        actual, minimum = np.ones((2, n_classes, n_classes))
        for (i, j), pav in self.pavs.items():
            cllr = float(0.5 * means[j, i] + 0.5 * means[i, j]) / math.log(2)
            actual[i, j] = actual[j, i] = cllr
            minimum[i, j] = minimum[j, i] = CountedDetector(pav, cllr, _NOTHING).min_cllr()
        return actual, minimum


@dataclass(frozen=True, slots=True, eq=False)
class CountedProblems:
    """Problems of trials that are nowhere in memory.

    Attributes
    ----------
    totals : (n_classes,) array
        Trials of each class, or their weight.
    sums : ProblemSums
    detector_pavs : tuple of tuples of Pav
        Of each target, for each prior of the rivals.
    pair_pavs : mapping of (int, int) to Pav
    """

    totals: CountArray
    sums: ProblemSums
    detector_pavs: tuple[tuple[Pav, ...], ...]
    pair_pavs: Mapping[tuple[int, int], Pav]

    def detectors(self, at: int) -> CountedDetectors:
        """Each class against the rest, by one of the priors."""
        asked = self.sums.asked
        found = self.sums.accepted[at], self.sums.costs[at].total, self.detector_pavs[at]
        return CountedDetectors(asked.rivals[at], self.totals, asked.thresholds[at], *found)

    def pairs(self) -> CountedPairs | None:
        """Each class against each other one, if that is asked for."""
        sums = self.sums.pairs
        return None if sums is None else CountedPairs(self.totals, sums.total, self.pair_pavs)
