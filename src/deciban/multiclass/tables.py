"""Detectors and pairs of classes as two-class problems, and posteriors, log-likelihood ratios and groups of classes.

Non-targets of a detector weigh by class, and shares of a class depend on how many trials it has in all. So what is kept
of each part of the trials are its scores, class by class; count tables are made of them when all parts are there.

`ScoredClasses` are the trials of a problem, checked once: log-likelihoods, true classes, weights and names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban._validate import classes as _validate_classes
from deciban._validate.classes import Class, Groups
from deciban._validate.probabilities import tell_of_many
from deciban.core.classes import loglik as kernels
from deciban.core.classes.counts import Passes, Problems, cllrs, min_cllrs, ordered_by_class, tally
from deciban.core.ranks.counts import SortedClass
from deciban.core.rules.proper import softplus
from deciban.errors import InputError
from deciban.metrics import SortedScores
from deciban.types import BoolArray, CountArray, FloatArray, IntArray, Names, Priors, ScoreArray, Weights


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


Side: TypeAlias = tuple[FloatArray, CountArray | None]
"""Scores of trials on one side of a two-class problem, in any order, and their weights."""


def scores_of(sides: tuple[Side, Side]) -> SortedScores:
    """Return the sorted scores of a two-class problem, of which non-targets come first."""
    non, tar = sides
    return SortedScores.of_sorted(SortedClass.of(*tar), SortedClass.of(*non))


def weighted_by(share: FloatArray | None, label: IntArray, weights: CountArray | None) -> CountArray | None:
    """Return weights of trials, times the share of their class; a share of None is 1."""
    if share is None:
        return weights
    return share[label] if weights is None else np.asarray(share[label] * weights)


def rival_shares(prior: FloatArray, totals: CountArray, target: int) -> FloatArray | None:
    """Return what a trial of each class weighs in the detector of a target; None where all weigh 1.

    Non-target classes weigh as the prior says, whatever their numbers of trials.
    """
    share = prior / totals
    rivals = np.delete(share, target)
    if np.all(rivals == rivals[0]):
        return None
    share = share / rivals.max()
    share[target] = 1.0
    return np.asarray(share)


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
        """Scores of each detector."""
        return map(self.scores, range(len(self.prior)))

    def scores(self, target: int) -> SortedScores:
        """Scores of one detector."""
        return scores_of(self.sides(target, rival_shares(self.prior, self.totals, target)))

    def sides(self, target: int, share: FloatArray | None) -> tuple[Side, Side]:
        """Return non-targets and targets of a detector, which weigh as `rival_shares` says."""
        own, scores = self.llrs.slices[target], self.llrs.values[target]
        weights = weighted_by(share, self.llrs.label, self.llrs.weights)
        others = np.delete(scores, own), None if weights is None else np.delete(weights, own)
        return others, (scores[own], self.llrs.weights_of(own))

    @property
    def totals(self) -> CountArray:
        """Trials of each class, or their weight."""
        return self.llrs.totals

    def accepted_by(self, target: int, thresholds: FloatArray) -> CountArray:
        """Trials of each class that a target accepts at ascending thresholds, (n_thresholds, 1, n_classes)."""
        passes = Passes(1, len(self.prior), len(thresholds), self.llrs.weights)
        passes.add([np.searchsorted(thresholds, self.llrs.values[target], side="right")], self.llrs.label, slice(None))
        return passes.accepted()


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
            if len(others) == 1:
                one = scores_of(self.sides(i, int(others[0])))
                figures: tuple[Any, Any] = one.cllr(), one.min_cllr()
            else:
                figures = self._at_once(i, others, places)
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

    def sides(self, i: int, j: int, rows: Sequence[Any] | None = None) -> tuple[Side, Side]:
        """Return the trials of two classes, of which the first is the target; all or some of each class."""
        places = self.leads.slices if rows is None else rows
        own, theirs = places[i], places[j]
        non = -self.leads.values[i, theirs], self.leads.weights_of(theirs)
        return non, (self.leads.values[j, own], self.leads.weights_of(own))


def posterior(loglik: ArrayLike, *, prior: Priors = None) -> FloatArray:
    """Posterior probabilities of the classes (paper 001 eq. 4).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats. Classes with ``+inf`` share everything as the prior says, those with ``-inf`` get
        nothing (unless only such classes are possible by the prior: then the posterior is the prior).
    prior : (n_classes,) array_like, optional
        Probabilities, flat when left out.

    Returns
    -------
    (n_trials, n_classes) array
        Rows sum to 1.

    Raises
    ------
    InputError
        If there is NaN, a trial excludes every class, or the prior is not one.

    Examples
    --------
    >>> posterior([[0.0, 0.0], [1000.0, 0.0]], prior=[0.25, 0.75])
    array([[0.25, 0.75],
           [1.  , 0.  ]])
    """
    matrix = _logliks(loglik)
    checked = _validate_classes.prior(prior, matrix.shape[1])
    columns = np.flatnonzero(checked > 0)
    ratio = kernels.prior_ratio(checked[columns])
    result = np.zeros(matrix.shape)
    for rows in kernels.row_blocks(*matrix.shape):
        result[rows, columns] = kernels.posterior(kernels.relative(matrix, rows, columns), ratio).T
    return result


def detection_llr(loglik: ArrayLike, *, target: Class, prior: Priors = None, classes: Names = None) -> FloatArray:
    """Log-likelihood ratio of one class against the rest (paper 001 eq. 9).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. Infinite values are legal.
    target : int or str
        Position of the class, or its name if ``classes`` are given.
    prior : (n_classes,) array_like, optional
        Flat when left out. Only how likely the other classes are, relative to each other, matters.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    (n_trials,) array
        ``-ln sum_{i != t} prior_i / (1 - prior_t) exp(lam_i - lam_t)`` in nats; for two classes the difference of
        their log-likelihoods.

    Raises
    ------
    InputError
        If there is NaN, a trial excludes every class, the prior is not one, or the target is no class or has prior 0.

    Examples
    --------
    >>> detection_llr([[1.0, 0.0, 0.0], [0.0, 2.0, -1.0]], target=0).round(4)
    array([ 1.    , -1.3554])
    """
    matrix = _logliks(loglik)
    names = _validate_classes.names(classes, matrix.shape[1])
    place = _validate_classes.class_index(target, matrix.shape[1], names, "target")
    checked = _validate_classes.prior(prior, matrix.shape[1])
    if checked[place] == 0:
        raise InputError(f"target: {_validate_classes.called(place, names)} has prior 0.")
    return ScoredClasses(matrix, np.zeros(len(matrix), np.int64), None, names).detection_llr(
        np.arange(len(matrix)), place, checked
    )


def detection_llrs(loglik: ArrayLike, *, prior: Priors = None) -> FloatArray:
    """`detection_llr` of every class; at the flat prior the inverse of `project_detection_llr`.

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. Infinite values are legal.
    prior : (n_classes,) array_like, optional
        Flat when left out; no entry is 0.

    Returns
    -------
    (n_trials, n_classes) array
        In nats; ``+inf`` for a class that is the only one possible.

    Raises
    ------
    InputError
        If there is NaN, a trial excludes every class, or the prior is not one or has an entry of 0.

    Examples
    --------
    >>> detection_llrs([[1.0, 0.0, 0.0]]).round(4)
    array([[ 1.    , -0.6201, -0.6201]])
    """
    matrix = _logliks(loglik)
    checked = _validate_classes.prior(prior, matrix.shape[1])
    if not checked.all():
        raise InputError(
            f"prior: class {int(np.argmin(checked))} has prior 0 and cannot be detected. Leave its column out."
        )
    ratio = kernels.prior_ratio(checked)
    result = np.empty(matrix.shape)
    for rows in kernels.row_blocks(*matrix.shape):
        result[rows] = kernels.detection_llrs(kernels.relative(matrix, rows), ratio).T
    return result


def project_detection_llr(detection_llr: ArrayLike) -> FloatArray:
    """Turn detection log-likelihood ratios of all classes into log-likelihoods (slides part II, "projection").

    Parameters
    ----------
    detection_llr : (n_trials, n_classes) array_like
        For each class its log-likelihood ratio against the rest, in nats, at the flat prior. Infinite values are
        legal.

    Returns
    -------
    (n_trials, n_classes) array
        ``ln sigma(s_k - ln(n_classes - 1))``: logarithms of the posteriors at the flat prior if the ratios come from
        one recognizer. Then `detection_llrs` gives them back.

    Raises
    ------
    InputError
        If there is NaN, or a trial excludes every class.

    Examples
    --------
    >>> project_detection_llr(detection_llrs([[1.0, 0.0, 0.0]])).round(4)
    array([[-0.5514, -1.5514, -1.5514]])
    """
    matrix = _validate_classes.loglik(detection_llr, "detection_llr")
    log_rivals = np.log(matrix.shape[1] - 1)
    result = np.empty(matrix.shape)
    for rows in kernels.row_blocks(*matrix.shape):
        result[rows] = -softplus(log_rivals - matrix[rows].astype(np.float64))
    return result


def pairwise_llr(loglik: ArrayLike, i: Class, j: Class, *, classes: Names = None) -> FloatArray:
    """Log-likelihood ratio of class ``i`` against class ``j`` (paper 001 section 2.4.1).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. Infinite values are legal.
    i, j : int or str
        Positions of the classes, or their names if ``classes`` are given.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    (n_trials,) array
        ``lam_i - lam_j`` in nats; 0 where both are the same infinity.

    Raises
    ------
    InputError
        If there is NaN, a trial excludes every class, or one of the two is no class.

    Examples
    --------
    >>> pairwise_llr([[1.0, 0.0, 0.5], [0.0, 2.0, -1.0]], 0, 2)
    array([0.5, 1. ])
    """
    matrix = _logliks(loglik)
    names = _validate_classes.names(classes, matrix.shape[1])
    one, other = (
        matrix[:, _validate_classes.class_index(k, matrix.shape[1], names, name)].astype(np.float64)
        for k, name in ((i, "i"), (j, "j"))
    )
    return kernels.difference(one, other)


def group_loglik(loglik: ArrayLike, groups: Groups, *, prior: Priors = None, classes: Names = None) -> FloatArray:
    """Log-likelihoods of groups of classes (paper 001 section 2.2).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. Infinite values are legal.
    groups : sequence of sequences of classes, or mapping from names of groups to such sequences
        A partition: every class, by position or name, is in exactly one group, or has prior 0.
    prior : (n_classes,) array_like, optional
        Flat when left out. Only how likely classes of a group are, relative to each other, matters.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    (n_trials, n_groups) array
        ``ln (sum_{i in g} prior_i exp(lam_i) / sum_{i in g} prior_i)`` in nats; of a single class its log-likelihood.
        The prior of a group is the sum of its priors.

    Raises
    ------
    InputError
        If there is NaN, a trial excludes every class, the prior is not one, or the groups are no partition.

    Examples
    --------
    >>> group_loglik([[1.0, 0.0, 0.0], [0.0, 2.0, -1.0]], [[0], [1, 2]]).round(4)
    array([[1.    , 0.    ],
           [0.    , 1.3554]])
    """
    matrix = _logliks(loglik)
    checked = _validate_classes.prior(prior, matrix.shape[1])
    members, _ = _validate_classes.groups(groups, checked, _validate_classes.names(classes, matrix.shape[1]))
    return _group_logliks(matrix, members, checked)


def _logliks(loglik: ArrayLike) -> ScoreArray:
    """Return checked log-likelihoods; warn if they look like probabilities."""
    matrix = _validate_classes.loglik(loglik)
    tell_of_many(matrix)
    return matrix


def _group_logliks(matrix: ScoreArray, members: Sequence[IntArray], prior: FloatArray) -> FloatArray:
    columns = np.flatnonzero(prior > 0)
    ratio = kernels.prior_ratio(prior[columns])
    places = [np.searchsorted(columns, some) for some in members]
    result = np.empty((len(matrix), len(members)))
    for rows in kernels.row_blocks(*matrix.shape):
        result[rows] = kernels.group_logliks(kernels.class_major(matrix, rows, columns), ratio, places).T
    return result


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """A problem of groups of classes, ready for every function of this module.

    Attributes
    ----------
    loglik : (n_kept, n_groups) array
        Log-likelihoods of the groups for trials of classes with positive prior.
    label : (n_kept,) int array
        True groups.
    prior : (n_groups,) array
    sample_weight : (n_kept,) array
        Makes the mean over a group the prior-weighted mean over its classes.
    classes : tuple of str or None
        Names of the groups.
    """

    loglik: FloatArray
    label: IntArray
    prior: FloatArray
    sample_weight: FloatArray
    classes: tuple[str, ...] | None


def partition(
    loglik: ArrayLike,
    label: ArrayLike,
    groups: Groups,
    *,
    prior: Priors = None,
    sample_weight: Weights = None,
    classes: Names = None,
) -> Partition:
    """Make the problem "which group?" of the problem "which class?" (paper 001 section 2.2).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. Infinite values are legal.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    groups : sequence of sequences of classes, or mapping from names of groups to such sequences
        Every class, by position or name, is in exactly one group, or has prior 0.
    prior : (n_classes,) array_like, optional
        Probabilities of the classes, flat when left out; classes of prior 0 drop out with their trials.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    Partition
        Its fields are arguments of metrics: ``cross_entropy(p.loglik, p.label, prior=p.prior,
        sample_weight=p.sample_weight)``.

    Raises
    ------
    InputError
        If there is NaN, a label is no class, a class of positive prior has no trial, or the groups are no partition.

    Examples
    --------
    >>> p = partition([[1.0, 0.0, 0.0], [0.0, 2.0, -1.0], [0.0, 0.0, 1.0]], [0, 1, 2], {"a": [0], "rest": [1, 2]})
    >>> p.label, p.prior.round(4), p.sample_weight, p.classes
    (array([0, 1, 1]), array([0.3333, 0.6667]), array([1., 1., 1.]), ('a', 'rest'))
    """
    trials = ScoredClasses.of_metric(loglik, label, sample_weight, classes)
    return partition_of(trials, groups, trials.prior(prior))


def partition_of(trials: ScoredClasses, groups: Groups, checked: FloatArray) -> Partition:
    """`partition` of checked trials, at a checked prior of the classes."""
    return Grouping.of(groups, checked, trials.totals(), trials.classes).of_trials(trials)


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """Groups of classes, for any trials of these.

    Attributes
    ----------
    members : tuple of int arrays
        Classes of positive prior in each group.
    prior : (n_classes,) array
        Of the classes.
    weight : (n_classes,) array
        Of a trial of each class: makes the mean over a group the prior-weighted mean over its classes; the greatest
        one is 1, and 0 stands for classes that drop out.
    titles : tuple of str or None
        Names of the groups.
    """

    members: tuple[IntArray, ...]
    prior: FloatArray
    weight: FloatArray
    titles: tuple[str, ...] | None

    @classmethod
    def of(cls, groups: Groups, checked: FloatArray, totals: CountArray, classes: tuple[str, ...] | None) -> Grouping:
        """From the trials of each class (or their weight) and a checked prior."""
        members, names = _validate_classes.groups(groups, checked, classes)
        with np.errstate(divide="ignore", invalid="ignore"):
            per_trial = np.where(checked > 0, checked / totals, 0.0)
        return cls(members, checked, per_trial / per_trial.max(), None if names is None else tuple(names))

    @property
    def home(self) -> IntArray:
        """The group of each class; -1 of those that drop out."""
        home = np.full(len(self.prior), -1)
        for g, some in enumerate(self.members):
            home[some] = g
        return home

    @property
    def prior_of_groups(self) -> FloatArray:
        """Sums of those of their classes."""
        return np.array([self.prior[some].sum() for some in self.members])

    def logliks(self, loglik: ScoreArray) -> FloatArray:
        """Log-likelihoods of the groups."""
        return _group_logliks(loglik, self.members, self.prior)

    def of_trials(self, trials: ScoredClasses) -> Partition:
        """The problem of these trials."""
        kept = np.flatnonzero(self.prior[trials.label] > 0)
        label, weight = trials.label[kept], self.weight[trials.label[kept]]
        if trials.weights is not None:
            weight = weight * trials.weights[kept]
        return Partition(self.logliks(trials.loglik[kept]), self.home[label], self.prior_of_groups, weight, self.titles)
