"""Two-class problems inside a problem of many classes, detectors and pairs, as scores class by class: mergeable.

Non-targets of a detector weigh by class, and shares of a class depend on how many trials it has in all. So what is kept
of each part of the trials are its scores, class by class; count tables are made of them when all parts are there.

`ScoredClasses` are the trials of a problem, checked once: log-likelihoods, true classes, weights and names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban._validate import classes as _validate_classes
from deciban._validate.probabilities import tell_of_many
from deciban.core.classes import loglik as kernels
from deciban.core.classes.counts import Passes, Problems, cllrs, min_cllrs, ordered_by_class, tally
from deciban.core.ranks.counts import SortedClass
from deciban.metrics import SortedScores
from deciban.types import BoolArray, CountArray, FloatArray, IntArray, Names, ScoreArray, Weights


@dataclass(frozen=True, eq=False)
class ScoredClasses:
    """Checked trials of many classes; nothing depends on their order."""

    loglik: ScoreArray
    label: IntArray
    weights: CountArray | None
    classes: tuple[str, ...] | None

    @classmethod
    def of(
        cls, loglik: ArrayLike, label: ArrayLike, sample_weight: Weights = None, classes: Names = None
    ) -> ScoredClasses:
        """Check log-likelihoods, labels and weights of the same trials."""
        matrix = _validate_classes.loglik(loglik)
        n_trials, n_classes = matrix.shape
        names = _validate_classes.names(classes, n_classes)
        truth = _validate_classes.label(label, n_trials, n_classes, names)
        return cls(matrix, truth, _validate.weights(sample_weight, n_trials, "sample_weight"), names)

    @classmethod
    def of_metric(
        cls, loglik: ArrayLike, label: ArrayLike, sample_weight: Weights = None, classes: Names = None
    ) -> ScoredClasses:
        """Check the arguments of a metric, which has no notes: warn if log-likelihoods look like probabilities."""
        found = cls.of(loglik, label, sample_weight, classes)
        tell_of_many(found.loglik)
        return found

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.loglik.shape[1])

    def prior(self, values: ArrayLike | None) -> FloatArray:
        """Check a prior, and that there are trials of all classes that it holds possible."""
        prior = _validate_classes.prior(values, self.n_classes)
        self.require(prior > 0)
        return prior

    def require(self, needed: BoolArray | None = None) -> None:
        """Refuse classes without trials."""
        _validate_classes.all_classes(
            self.label, self.n_classes, weights=self.weights, needed=needed, classes=self.classes
        )

    @cached_property
    def _by_class(self) -> tuple[IntArray, IntArray]:
        """Trials that count, class by class, and where each class begins."""
        order = ordered_by_class(self.label, self.n_classes)
        if self.weights is not None:
            order = order[self.weights[order] > 0]
        counts = np.bincount(self.label[order], minlength=self.n_classes)
        return order, np.concatenate(([0], np.cumsum(counts)))

    def rows(self, k: int) -> IntArray:
        """Positions of the trials of class ``k``, those of weight 0 left out."""
        order, begins = self._by_class
        return order[begins[k] : begins[k + 1]]

    def weights_of(self, rows: IntArray) -> CountArray | None:
        """Weights of some trials."""
        return None if self.weights is None else self.weights[rows]

    def totals(self) -> CountArray:
        """Number of trials of every class, or the sum of their weights."""
        return tally(self.label, self.n_classes, self.weights)

    def detection_llr(self, rows: IntArray, target: int, prior: FloatArray) -> FloatArray:
        """Log-likelihood ratio of a class of positive prior against the rest, for some trials."""
        columns = np.flatnonzero(prior > 0)
        ratio, place = kernels.prior_ratio(prior[columns]), int(np.searchsorted(columns, target))
        few = None if len(columns) == self.n_classes else columns
        llr = np.empty(len(rows))
        for part in kernels.row_blocks(len(rows), self.n_classes):
            llr[part] = kernels.detection_llr(kernels.relative(self.loglik, rows[part], few), ratio, place)
        return llr


_SMALL = 1 << 12
"""Trials of a pair up to which many pairs at once are faster than one by one."""

_AT_ONCE = 1 << 16
"""Scores of pairs that are analysed at once."""


@dataclass(frozen=True, slots=True, eq=False)
class ByClass:
    """Numbers of trials, class by class.

    Attributes
    ----------
    values : (n_rows, n_trials) array
    lengths : (n_classes,) int array
        Trials of each class; those of the first come first.
    weights : (n_trials,) array, optional
        Positive.
    """

    values: FloatArray
    lengths: IntArray
    weights: CountArray | None

    @property
    def slices(self) -> list[slice]:
        """Where the trials of each class are."""
        return [slice(begin, end) for begin, end in pairwise(np.append(0, np.cumsum(self.lengths)).tolist())]

    @property
    def label(self) -> IntArray:
        """Position of the class of each trial."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    @property
    def totals(self) -> CountArray:
        """Trials of each class, or their weight."""
        return tally(self.label, len(self.lengths), self.weights)

    def weights_of(self, some: slice) -> CountArray | None:
        """Weights of some trials."""
        return None if self.weights is None else self.weights[some]

    @classmethod
    def merged(cls, parts: Sequence[ByClass]) -> ByClass:
        """The trials of all parts, class by class."""
        n_classes = len(parts[0].lengths)
        label = np.concatenate([part.label for part in parts])
        order = ordered_by_class(label, n_classes)
        weights = None
        if any(part.weights is not None for part in parts):
            ones = (np.ones(len(part.label), np.int64) if part.weights is None else part.weights for part in parts)
            weights = np.concatenate(list(ones))[order]
        values = np.concatenate([part.values for part in parts], axis=1)[:, order]
        return cls(values, np.bincount(label, minlength=n_classes), weights)


class AnyDetectors(Protocol):
    """Each target against the rest, as scores or counted already."""

    @property
    def prior(self) -> FloatArray:
        """Of the targets."""

    @property
    def totals(self) -> CountArray:
        """Trials of each class, or their weight."""

    def accepted_by(self, target: int, thresholds: FloatArray) -> CountArray:
        """Trials of each class that a target accepts at ascending thresholds, (n_thresholds, 1, n_classes)."""

    def __iter__(self) -> Iterator[SortedScores]:
        """Scores of each detector; non-target classes weigh as the prior says, whatever their numbers of trials."""


@dataclass(frozen=True, slots=True, eq=False)
class Detectors:
    """Each target against the rest.

    Attributes
    ----------
    prior : (n_targets,) array
        Of the targets, positive: how non-target classes weigh relative to each other.
    llrs : ByClass
        Log-likelihood ratio of every target (row) for every trial of the targets.
    """

    prior: FloatArray
    llrs: ByClass

    @classmethod
    def of(cls, trials: ScoredClasses, prior: FloatArray) -> Detectors:
        """From checked trials; classes of prior 0 are no targets, and their trials do not count."""
        targets = np.flatnonzero(prior > 0)
        rows = [trials.rows(k) for k in targets.tolist()]
        order, lengths = np.concatenate(rows), np.array([len(one) for one in rows])
        few, ratio = None if len(targets) == trials.n_classes else targets, kernels.prior_ratio(prior[targets])
        llrs = np.empty((len(targets), len(order)))
        for part in kernels.row_blocks(len(order), len(targets)):
            llrs[:, part] = kernels.detection_llrs(kernels.relative(trials.loglik, order[part], few), ratio)
        return cls(prior[targets], ByClass(llrs, lengths, trials.weights_of(order)))

    def __iter__(self) -> Iterator[SortedScores]:
        """Scores of each detector; non-target classes weigh as the prior says, whatever their numbers of trials."""
        llrs, weights = self.llrs.values, self.llrs.weights
        per_trial = self.prior / self.llrs.totals
        for at, tar in enumerate(self.llrs.slices):
            rivals = np.delete(per_trial, at)
            non_weights = None if weights is None else np.delete(weights, tar)
            if np.any(rivals != rivals[0]):
                shares = np.repeat(rivals / rivals.max(), np.delete(self.llrs.lengths, at))
                non_weights = shares if non_weights is None else shares * non_weights
            yield SortedScores.of_sorted(
                SortedClass.of(llrs[at, tar], self.llrs.weights_of(tar)),
                SortedClass.of(np.delete(llrs[at], tar), non_weights),
            )

    @property
    def totals(self) -> CountArray:
        """Trials of each class, or their weight."""
        return self.llrs.totals

    def accepted_by(self, target: int, thresholds: FloatArray) -> CountArray:
        """Trials of each class that a target accepts at ascending thresholds, (n_thresholds, 1, n_classes)."""
        passes = Passes(1, len(self.prior), len(thresholds), self.llrs.weights)
        passes.add([np.searchsorted(thresholds, self.llrs.values[target], side="right")], self.llrs.label, slice(None))
        return passes.accepted()

    @classmethod
    def merged(cls, parts: Sequence[Detectors]) -> Detectors:
        """The detectors for the trials of all parts."""
        return cls(parts[0].prior, ByClass.merged([part.llrs for part in parts]))


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Each class against each other one.

    Attributes
    ----------
    leads : ByClass
        By how much the true class of every trial is ahead of each class (row), in nats.
    """

    leads: ByClass

    @classmethod
    def of(cls, trials: ScoredClasses) -> Pairs:
        """From checked trials."""
        rows = [trials.rows(k) for k in range(trials.n_classes)]
        order, lengths = np.concatenate(rows), np.array([len(one) for one in rows])
        leads = ByClass(np.empty((trials.n_classes, len(order))), lengths, trials.weights_of(order))
        for k, own in enumerate(leads.slices):
            for part in kernels.row_blocks(len(rows[k]), trials.n_classes):
                block = kernels.class_major(trials.loglik, rows[k][part])
                some = slice(own.start + part.start, own.start + part.stop)
                leads.values[:, some] = kernels.difference(np.broadcast_to(block[k], block.shape), block)
        return cls(leads)

    def cllr(self) -> tuple[FloatArray, FloatArray]:
        """Cllr of every pair in bits, and its minimum by PAV, (n_classes, n_classes); 1 on the diagonal."""
        places, n_classes = self.leads.slices, len(self.leads.lengths)
        actual, minimum = np.ones((2, n_classes, n_classes))
        for i, others in self.portions():
            figures = self._alone(i, int(others[0]), places) if len(others) == 1 else self._at_once(i, others, places)
            actual[i, others], minimum[i, others] = figures
            actual[others, i], minimum[others, i] = figures
        return actual, minimum

    def portions(self) -> Iterator[tuple[int, IntArray]]:
        """Each class and some of those before it: small ones together, large ones one by one."""
        lengths = self.leads.lengths
        for i in range(1, len(lengths)):
            n_trials = lengths[:i] + lengths[i]
            is_small = n_trials <= (_SMALL if self.leads.weights is None else 0)
            small = np.flatnonzero(is_small)
            n_portions = min(-(-int(n_trials[small].sum()) // _AT_ONCE), len(small))
            for others in (*np.array_split(small, max(n_portions, 1)), *np.flatnonzero(~is_small)[:, None]):
                if len(others):
                    yield i, others

    def _at_once(self, i: int, others: IntArray, places: list[slice]) -> tuple[FloatArray, FloatArray]:
        """Figures of a class and each of some others, without weights."""
        lengths = self.leads.lengths
        theirs = np.concatenate([self.leads.values[i, places[k]] for k in others.tolist()])
        tar = Problems(self.leads.values[others, places[i]].ravel(), np.full(len(others), lengths[i]))
        non = Problems(-theirs, lengths[others])
        return cllrs(tar, non), min_cllrs(tar, non)

    def _alone(self, i: int, j: int, places: list[slice]) -> tuple[float, float]:
        """Figures of two classes."""
        own, theirs = places[i], places[j]
        tar = SortedClass.of(self.leads.values[j, own], self.leads.weights_of(own))
        non = SortedClass.of(-self.leads.values[i, theirs], self.leads.weights_of(theirs))
        scores = SortedScores.of_sorted(tar, non)
        return scores.cllr(), scores.min_cllr()

    @classmethod
    def merged(cls, parts: Sequence[Pairs]) -> Pairs:
        """The pairs for the trials of all parts."""
        return cls(ByClass.merged([part.leads for part in parts]))
