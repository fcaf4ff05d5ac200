"""Detectors and pairs of classes as two-class problems; posteriors, llrs and groups of classes; costs of posteriors.

Non-targets of a detector are weighted by class, and the weight of a class depends on its total number of trials. So the
scores of each batch are kept by class; count tables are computed when all batches are present.

`ScoredClasses` are the checked trials of a problem: log-likelihoods, true classes, weights and names.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban._validate import classes as _validate_classes
from deciban._validate.classes import Class, Groups, tell_of_many
from deciban.core import class_counts
from deciban.core import logliks as kernels
from deciban.core.expected import MeanCost, softplus
from deciban.core.logliks import loglik_of_posterior, prior_ratio, relative, row_blocks, soft_costs
from deciban.core.ranks.counts import SortedClass
from deciban.errors import InputError
from deciban.metrics import SortedScores
from deciban.types import BoolArray, CountArray, FloatArray, FloatPair, IntArray, Names, Priors, ScoreArray, Weights


@dataclass(frozen=True, eq=False)
class ScoredClasses:
    """Checked multiclass trials, in any order."""

    loglik: ScoreArray
    label: IntArray
    weights: CountArray | None
    classes: tuple[str, ...] | None

    @classmethod
    def of(cls, loglik: ArrayLike, label: ArrayLike, sample_weight: Weights = None, classes: Names = None) -> Self:
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
        """Check the arguments of a metric; warn if log-likelihoods look like probabilities."""
        result = cls.of(loglik, label, sample_weight, classes)
        tell_of_many(result.loglik)
        return result

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.loglik.shape[1])

    def prior(self, values: ArrayLike | None) -> FloatArray:
        """Check a prior, and that all classes of positive prior have trials."""
        prior = _validate_classes.prior(values, self.n_classes)
        self.require(prior > 0)
        return prior

    def require(self, needed: BoolArray | None = None) -> None:
        """Refuse classes without trials."""
        _validate_classes.all_classes(
            self.label, self.n_classes, weights=self.weights, needed=needed, classes=self.classes
        )

    @cached_property
    def by_class(self) -> tuple[IntArray, IntArray]:
        """Trials that count, sorted by class, and the start of each class."""
        order = class_counts.ordered_by_class(self.label, self.n_classes)
        if self.weights is not None:
            order = order[self.weights[order] > 0]
        counts = np.bincount(self.label[order], minlength=self.n_classes)
        return order, np.concatenate(([0], np.cumsum(counts)))

    def rows(self, k: int) -> IntArray:
        """Return positions of the trials of class ``k`` with positive weight."""
        order, begins = self.by_class
        return order[begins[k] : begins[k + 1]]

    def weights_of(self, rows: IntArray) -> CountArray | None:
        """Return weights of some trials."""
        return None if self.weights is None else self.weights[rows]

    def totals(self) -> CountArray:
        """Return the number of trials of every class, or the sum of their weights."""
        return class_counts.tally(self.label, self.n_classes, self.weights)


_SMALL = 1 << 14
"""Number of trials of a pair up to which processing several pairs at once is faster."""

_AT_ONCE = 1 << 15
"""Number of scores of pairs that are processed at once."""


@dataclass(frozen=True, slots=True, eq=False)
class ByClass:
    """Numbers of trials, sorted by class.

    Attributes
    ----------
    values : (n_rows, n_trials) array
    lengths : (n_classes,) int array
        Number of trials of each class, in the order of the classes.
    weights : (n_trials,) array, optional
        Positive.
    """

    values: FloatArray
    lengths: IntArray
    weights: CountArray | None

    @property
    def slices(self) -> list[slice]:
        """Slices of the trials of each class."""
        return [slice(begin, end) for begin, end in pairwise(np.append(0, np.cumsum(self.lengths)).tolist())]

    @property
    def label(self) -> IntArray:
        """Position of the class of each trial."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    @property
    def totals(self) -> CountArray:
        """Number (or weight) of trials of each class."""
        return self.lengths if self.weights is None else class_counts.tally(self.label, len(self.lengths), self.weights)

    def weights_of(self, some: slice) -> CountArray | None:
        """Return weights of some trials."""
        return None if self.weights is None else self.weights[some]


Side: TypeAlias = tuple[FloatArray, CountArray | None]
"""Scores of trials on one side of a two-class problem, in any order, and their weights."""


def scores_of(sides: tuple[Side, Side]) -> SortedScores:
    """Return the sorted scores of a two-class problem; ``sides`` are non-targets and targets."""
    non, tar = sides
    return SortedScores.of_sorted(SortedClass.of(*tar), SortedClass.of(*non))


def weighted_by(share: FloatArray | None, label: IntArray, weights: CountArray | None) -> CountArray | None:
    """Return weights of trials, times the share of their class; a share of None is 1."""
    if share is None:
        return weights
    return share[label] if weights is None else np.asarray(share[label] * weights)


def rival_shares(prior: FloatArray, totals: CountArray, target: int) -> FloatArray | None:
    """Return the weight of a trial of each class in the detector of a target; None if all weights are 1.

    The weights of non-target classes follow the prior, not their numbers of trials.
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
    """Detectors of each target against the rest.

    Attributes
    ----------
    prior : (n_targets,) array
        Priors of the targets, positive: relative weights of non-target classes.
    llrs : ByClass
        Log-likelihood ratio of every target (row) for every trial of the targets.
    """

    prior: FloatArray
    llrs: ByClass

    @classmethod
    def of(cls, trials: ScoredClasses, prior: FloatArray) -> Detectors:
        """Create from checked trials; classes of prior 0 are not targets, and their trials are dropped."""
        targets = np.flatnonzero(prior > 0)
        rows = [trials.rows(k) for k in targets.tolist()]
        order, lengths = np.concatenate(rows), np.array([len(one) for one in rows])
        few, ratio = None if len(targets) == trials.n_classes else targets, kernels.prior_ratio(prior[targets])
        llrs = np.empty((len(targets), len(order)))
        for part in kernels.row_blocks(len(order), len(targets)):
            llrs[:, part] = kernels.detection_llrs(kernels.relative(trials.loglik, order[part], few), ratio)
        return cls(prior[targets], ByClass(llrs, lengths, trials.weights_of(order)))

    def __iter__(self) -> Iterator[SortedScores]:
        """Yield the scores of each detector."""
        return map(self.scores, range(len(self.prior)))

    def scores(self, target: int) -> SortedScores:
        """Return the scores of one detector."""
        return scores_of(self.sides(target, rival_shares(self.prior, self.totals, target)))

    def sides(self, target: int, share: FloatArray | None) -> tuple[Side, Side]:
        """Return non-targets and targets of a detector, with weights from `rival_shares`."""
        own, scores = self.llrs.slices[target], self.llrs.values[target]
        weights = self.llrs.weights if share is None else weighted_by(share, self.llrs.label, self.llrs.weights)
        others = np.delete(scores, own), None if weights is None else np.delete(weights, own)
        return others, (scores[own], self.llrs.weights_of(own))

    @property
    def totals(self) -> CountArray:
        """Number (or weight) of trials of each class."""
        return self.llrs.totals

    def cllrs(self) -> FloatArray:
        """Return the Cllr of each detector in bits, from the mean costs of all classes."""
        cost = np.empty((len(self.prior), len(self.prior)))
        for k, own in enumerate(self.llrs.slices):
            signs = np.where(np.arange(len(cost)) == k, 1.0, -1.0)[:, None]
            cost[:, k] = class_counts.mean_log_costs(signs * self.llrs.values[:, own], self.llrs.weights_of(own))
        of_targets = cost.diagonal().copy()
        np.fill_diagonal(cost, 0.0)
        of_rivals = (cost * self.prior).sum(axis=1) / kernels.leave_one_out(self.prior[:, None])[:, 0]
        return np.asarray((of_targets + of_rivals) / (2.0 * math.log(2.0)))

    def accepted_by(self, target: int, thresholds: FloatArray) -> CountArray:
        """Return accepted trials of each class for a target at ascending thresholds, (n_thresholds, 1, n_classes)."""
        passes = class_counts.Passes(1, len(self.prior), len(thresholds), self.llrs.weights)
        passes.add([np.searchsorted(thresholds, self.llrs.values[target], side="right")], self.llrs.label, slice(None))
        return passes.accepted()


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs of classes.

    Attributes
    ----------
    leads : ByClass
        Lead of the true class of every trial over each class (row), in nats.
    """

    leads: ByClass

    @classmethod
    def of(cls, trials: ScoredClasses) -> Pairs:
        """Create from checked trials."""
        order, begins = trials.by_class
        leads = np.empty((trials.n_classes, len(order)))
        for part in kernels.row_blocks(len(order), trials.n_classes):
            block = kernels.class_major(trials.loglik, order[part])
            own = block[trials.label[order[part]], np.arange(block.shape[1])]
            leads[:, part] = kernels.difference(np.broadcast_to(own, block.shape), block)
        return cls(ByClass(leads, np.diff(begins), trials.weights_of(order)))

    def cllr(self) -> FloatPair:
        """Return Cllr of every pair in bits, and its minimum by PAV, (n_classes, n_classes); 1 on the diagonal."""
        leads, places, n_classes = self.leads, self.leads.slices, len(self.leads.lengths)
        cost = np.stack([class_counts.mean_log_costs(leads.values[:, own], leads.weights_of(own)) for own in places])
        actual, minimum = (cost + cost.T) / (2.0 * math.log(2.0)), np.ones((n_classes, n_classes))
        np.fill_diagonal(actual, 1.0)
        rows_of = [leads.values[:, own] for own in places]
        for i, j in self._portions():
            if len(i) == 1:
                least: float | FloatArray = scores_of(self.sides(int(i[0]), int(j[0]))).min_cllr()
            else:
                sides = [zip(of.tolist(), rival.tolist(), strict=True) for of, rival in ((i, j), (j, i))]
                tar, non = (np.concatenate([rows_of[own][other] for own, other in side]) for side in sides)
                own, others = (leads.lengths[of] for of in (i, j))
                least = class_counts.min_cllrs(class_counts.Problems(tar, own), class_counts.Problems(-non, others))
            minimum[i, j] = minimum[j, i] = least
        return actual, minimum

    def _portions(self) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield pairs of classes: small pairs together, if their sizes are similar, and large pairs one by one."""
        i, j = np.tril_indices(len(self.leads.lengths), -1)
        n_trials = self.leads.lengths[i] + self.leads.lengths[j]
        order = np.argsort(n_trials, kind="stable")
        sizes = n_trials[order]
        n_large = np.cumsum(sizes > (_SMALL if self.leads.weights is None else 0))
        group = n_large + np.frexp(sizes)[1] + np.cumsum(sizes) // _AT_ONCE
        for some in np.split(order, np.flatnonzero(np.diff(group)) + 1):
            yield i[some], j[some]

    def sides(self, i: int, j: int, rows: Sequence[Any] | None = None) -> tuple[Side, Side]:
        """Return the trials of two classes, of which the first is the target; all or some of each class."""
        places = self.leads.slices if rows is None else rows
        own, theirs = places[i], places[j]
        non = -self.leads.values[i, theirs], self.leads.weights_of(theirs)
        return non, (self.leads.values[j, own], self.leads.weights_of(own))


def posterior(loglik: ArrayLike, *, prior: Priors = None) -> FloatArray:
    """Return posterior probabilities of the classes (Bruemmer and van Leeuwen 2006, eq. 4).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats. Classes with ``+inf`` share all probability by their priors; classes with ``-inf`` get
        0. If all classes of positive prior have ``-inf``, the posterior is the prior.
    prior : (n_classes,) array_like, optional
        Probabilities, default: flat.

    Returns
    -------
    (n_trials, n_classes) array
        Rows sum to 1.

    Raises
    ------
    InputError
        If there is NaN, a trial excludes every class, or the prior is invalid.

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
    """Return the log-likelihood ratio of one class against the rest (Bruemmer and van Leeuwen 2006, eq. 9).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. May be infinite.
    target : int or str
        Position of the class, or its name if ``classes`` are given.
    prior : (n_classes,) array_like, optional
        Default: flat. Only the relative priors of the other classes matter.
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
        If there is NaN, a trial excludes every class, the prior is invalid, or the target is unknown or has prior 0.

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
    columns, llr = np.flatnonzero(checked > 0), np.empty(len(matrix))
    ratio, at = kernels.prior_ratio(checked[columns]), int(np.searchsorted(columns, place))
    for rows in kernels.row_blocks(*matrix.shape):
        llr[rows] = kernels.detection_llr(kernels.relative(matrix, rows, columns), ratio, at)
    return llr


def detection_llrs(loglik: ArrayLike, *, prior: Priors = None) -> FloatArray:
    """Return `detection_llr` of every class; at the flat prior, the inverse of `project_detection_llr`.

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. May be infinite.
    prior : (n_classes,) array_like, optional
        Default: flat; no entry is 0.

    Returns
    -------
    (n_trials, n_classes) array
        In nats; ``+inf`` for a class that is the only possible one.

    Raises
    ------
    InputError
        If there is NaN, a trial excludes every class, or the prior is invalid or has an entry of 0.

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
    """Convert detection log-likelihood ratios of all classes to log-likelihoods (slides part II, "projection").

    Parameters
    ----------
    detection_llr : (n_trials, n_classes) array_like
        Log-likelihood ratio of each class against the rest, in nats, at the flat prior; may be infinite.

    Returns
    -------
    (n_trials, n_classes) array
        ``ln sigma(s_k - ln(n_classes - 1))``. These are logarithms of the posteriors at the flat prior if the ratios
        come from one recognizer. Then `detection_llrs` is the inverse.

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
    """Return log-likelihood ratios of class ``i`` against class ``j`` (Bruemmer and van Leeuwen 2006, section 2.4.1).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. May be infinite.
    i, j : int or str
        Positions of the classes, or their names if ``classes`` are given.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    (n_trials,) array
        ``lam_i - lam_j`` in nats; 0 if both are the same infinity.

    Raises
    ------
    InputError
        If there is NaN, a trial excludes every class, or one of the two is unknown.

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
    """Return log-likelihoods of groups of classes (Bruemmer and van Leeuwen 2006, section 2.2).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. May be infinite.
    groups : sequence of sequences of classes, or mapping from names of groups to such sequences
        A partition: every class, by position or name, is in exactly one group, or has prior 0.
    prior : (n_classes,) array_like, optional
        Default: flat. Only the relative priors within a group matter.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    (n_trials, n_groups) array
        ``ln (sum_{i in g} prior_i exp(lam_i) / sum_{i in g} prior_i)`` in nats; for a single class, its log-likelihood.
        The prior of a group is the sum of its priors.

    Raises
    ------
    InputError
        If there is NaN, a trial excludes every class, the prior is invalid, or the groups are not a partition.

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
    """A problem of groups of classes, in the form of arguments of the functions in this module.

    Attributes
    ----------
    loglik : (n_kept, n_groups) array
        Log-likelihoods of the groups for trials of classes with positive prior.
    label : (n_kept,) int array
        True groups.
    prior : (n_groups,) array
    sample_weight : (n_kept,) array
        Weights that make the mean over a group the prior-weighted mean over its classes.
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
    """Convert a class problem to a problem of groups of classes (Bruemmer and van Leeuwen 2006, section 2.2).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. May be infinite.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    groups : sequence of sequences of classes, or mapping from names of groups to such sequences
        Every class, by position or name, is in exactly one group, or has prior 0.
    prior : (n_classes,) array_like, optional
        Probabilities of the classes, default: flat; classes of prior 0 are dropped with their trials.
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
        If there is NaN, a label is unknown, a class of positive prior has no trials, or the groups are not a partition.

    Examples
    --------
    >>> p = partition([[1.0, 0.0, 0.0], [0.0, 2.0, -1.0], [0.0, 0.0, 1.0]], [0, 1, 2], {"a": [0], "rest": [1, 2]})
    >>> p.label, p.prior.round(4), p.sample_weight, p.classes
    (array([0, 1, 1]), array([0.3333, 0.6667]), array([1., 1., 1.]), ('a', 'rest'))
    """
    trials = ScoredClasses.of_metric(loglik, label, sample_weight, classes)
    return partition_of(trials, groups, trials.prior(prior))


def partition_of(trials: ScoredClasses, groups: Groups, checked: FloatArray) -> Partition:
    """Return `partition` of checked trials, at a checked prior of the classes."""
    return Grouping.of(groups, checked, trials.totals(), trials.classes).of_trials(trials)


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """Groups of classes, for any trials.

    Attributes
    ----------
    members : tuple of int arrays
        Classes of positive prior in each group.
    prior : (n_classes,) array
        Priors of the classes.
    weight : (n_classes,) array
        Weight of a trial of each class, so that the mean over a group is the prior-weighted mean over its classes. The
        greatest weight is 1; dropped classes have 0.
    titles : tuple of str or None
        Names of the groups.
    """

    members: tuple[IntArray, ...]
    prior: FloatArray
    weight: FloatArray
    titles: tuple[str, ...] | None

    @classmethod
    def of(cls, groups: Groups, checked: FloatArray, totals: CountArray, classes: tuple[str, ...] | None) -> Grouping:
        """Create from the number (or weight) of trials of each class and a checked prior."""
        members, names = _validate_classes.groups(groups, checked, classes)
        with np.errstate(divide="ignore", invalid="ignore"):
            per_trial = np.where(checked > 0, checked / totals, 0.0)
        return cls(members, checked, per_trial / per_trial.max(), None if names is None else tuple(names))

    @property
    def home(self) -> IntArray:
        """Group of each class; -1 for dropped classes."""
        home = np.full(len(self.prior), -1)
        for g, some in enumerate(self.members):
            home[some] = g
        return home

    @property
    def prior_of_groups(self) -> FloatArray:
        """Sums of the priors of the classes of each group."""
        return np.array([self.prior[some].sum() for some in self.members])

    def logliks(self, loglik: ScoreArray) -> FloatArray:
        """Return log-likelihoods of the groups."""
        return _group_logliks(loglik, self.members, self.prior)

    def of_trials(self, trials: ScoredClasses) -> Partition:
        """Return the problem of these trials."""
        indices = np.flatnonzero(self.prior[trials.label] > 0)
        label, weight = trials.label[indices], self.weight[trials.label[indices]]
        if trials.weights is not None:
            weight = weight * trials.weights[indices]
        return Partition(
            self.logliks(trials.loglik[indices]), self.home[label], self.prior_of_groups, weight, self.titles
        )


def cross_entropy(
    loglik: ArrayLike, label: ArrayLike, *, prior: Priors, sample_weight: Weights = None, classes: Names = None
) -> float:
    """Return the prior-weighted cross-entropy of the true classes in nats (thesis eq. 8.14).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. ``-inf`` excludes a class, ``+inf`` excludes all
        classes with less.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    prior : (n_classes,) array_like or None
        Probabilities; classes of prior 0 are dropped with their trials. None is flat.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0; whole numbers count like copies of the trial.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    float
        ``sum_i prior_i mean_{trials of i} -ln posterior_i``; ``inf`` if a trial excludes its own class.

    Raises
    ------
    InputError
        If there is NaN, a label is unknown, a class of positive prior has no trial, or the prior is invalid.

    Examples
    --------
    >>> loglik = [[2.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.5, 1.5]]
    >>> round(cross_entropy(loglik, [0, 1, 2], prior=[0.5, 0.25, 0.25]), 6)
    0.379082
    """
    trials = ScoredClasses.of_metric(loglik, label, sample_weight, classes)
    return expected_surprise(trials, trials.prior(prior))


def entropy(prior: FloatArray) -> float:
    """Return the entropy of a prior in nats: the cross-entropy of log-likelihoods without information."""
    possible = prior[prior > 0]
    return -math.fsum(possible * np.log(possible))


def expected_surprise(trials: ScoredClasses, prior: FloatArray) -> float:
    """Return `cross_entropy` of checked trials."""
    return mixed(surprises(trials, prior), prior)


def surprises(trials: ScoredClasses, prior: FloatArray) -> tuple[MeanCost, ...]:
    """Return sums of the logarithmic costs of each class of positive prior, in nats, which can be merged."""
    return sums_of_costs(trials, prior)[0]


def calibrated_surprises(trials: ScoredClasses, scale: float, offset: FloatArray) -> FloatArray:
    """Return logarithmic costs of `costs_of_trials` for ``scale * loglik + offset``; scale 0 leaves only offsets."""
    mapped = np.zeros(trials.loglik.shape)
    if scale > 0.0:
        with np.errstate(over="ignore"):
            np.multiply(trials.loglik, scale, out=mapped, dtype=np.float64)
    mapped += offset
    flat = np.full(trials.n_classes, 1.0 / trials.n_classes)
    return np.asarray(costs_of_trials(replace(trials, loglik=mapped), flat)[0])


def mixed(sums: Sequence[MeanCost], prior: FloatArray) -> float:
    """Return the prior-weighted mean of the mean costs of classes of positive prior, in their order."""
    return math.fsum(p * cost.value for p, cost in zip(prior[prior > 0].tolist(), sums, strict=True))


def cllr(loglik: ArrayLike, label: ArrayLike, *, sample_weight: Weights = None, classes: Names = None) -> float:
    """Return the cost of log-likelihoods in bits, also known as Cmxe (Bruemmer and van Leeuwen 2006, eq. 17).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. May be infinite.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    float
        `cross_entropy` at the flat prior, in bits: 0 is perfect. ``log2 n_classes`` is the cost without information;
        above this, ignoring the scores would be better.

    Raises
    ------
    InputError
        If there is NaN, a label is unknown, or a class has no trial.

    Examples
    --------
    >>> loglik = [[2.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.5, 1.5]]
    >>> round(cllr(loglik, [0, 1, 2]), 6)
    0.570182
    """
    trials = ScoredClasses.of_metric(loglik, label, sample_weight, classes)
    return expected_surprise(trials, trials.prior(None)) / math.log(2)


def brier(
    loglik: ArrayLike, label: ArrayLike, *, prior: Priors = None, sample_weight: Weights = None, classes: Names = None
) -> float:
    """Return the prior-weighted mean of the quadratic scoring rule (Bruemmer and van Leeuwen 2006, eq. 13).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. May be infinite.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    prior : (n_classes,) array_like, optional
        Probabilities, default: flat; classes of prior 0 are dropped with their trials.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    float
        ``sum_i prior_i mean_{trials of i} (1 - 2 q_i + sum_j q_j^2)`` with posterior ``q``: 0 is perfect, 2 the
        worst. For two classes ``2 (1 - q_i)^2``: two thirds of the (2, 2) rule of `deciban.metrics`.

    Raises
    ------
    InputError
        If there is NaN, a label is unknown, a class of positive prior has no trial, or the prior is invalid.

    Examples
    --------
    >>> round(brier([[2.0, 0.0], [0.0, 1.0]], [0, 1]), 6)
    0.086539
    """
    trials = ScoredClasses.of_metric(loglik, label, sample_weight, classes)
    checked = trials.prior(prior)
    return mixed(sums_of_costs(trials, checked)[1], checked)


def sums_of_costs(trials: ScoredClasses, prior: FloatArray) -> tuple[tuple[MeanCost, ...], tuple[MeanCost, ...]]:
    """Return sums of the logarithmic costs in nats and of the quadratic costs of each class of positive prior."""
    both = [(costs, trials.weights_of(rows)) for rows, costs in _soft_costs(trials, prior)]
    one, two = (tuple(MeanCost.of(costs[k], lambda values: values, own) for costs, own in both) for k in (0, 1))
    return one, two


def costs_of_trials(trials: ScoredClasses, prior: FloatArray) -> FloatArray:
    """Return logarithmic costs in nats and quadratic costs of trials that count, sorted by class, (2, n_trials)."""
    return np.hstack([costs for _, costs in _soft_costs(trials, prior)])


def _soft_costs(trials: ScoredClasses, prior: FloatArray) -> Iterator[tuple[IntArray, FloatArray]]:
    columns = np.flatnonzero(prior > 0)
    ratio = prior_ratio(prior[columns])
    return _trial_costs(trials, columns, lambda block, place: soft_costs(block, ratio, place))


def class_costs(
    trials: ScoredClasses, columns: IntArray, cost: Callable[[FloatArray, int], FloatArray]
) -> tuple[MeanCost, ...]:
    """Return sums of a cost for each of these classes; the cost is a function of log-likelihoods and the true class.

    Parameters
    ----------
    trials : ScoredClasses
    columns : int array
        Indices of the classes.
    cost : callable
        Receives log-likelihoods (n_columns, n) minus their maximum, and the position of the true class in ``columns``.
    """
    result = _trial_costs(trials, columns, cost)
    return tuple(MeanCost.of(costs, lambda values: values, trials.weights_of(rows)) for rows, costs in result)


def _trial_costs(
    trials: ScoredClasses, columns: IntArray, cost: Callable[[FloatArray, int], FloatArray]
) -> Iterator[tuple[IntArray, FloatArray]]:
    """Yield the trials of each of these classes with their costs; see `class_costs`."""
    for place, k in enumerate(columns.tolist()):
        rows = trials.rows(k)
        parts = row_blocks(len(rows), trials.n_classes)
        costs = [cost(relative(trials.loglik, rows[part], columns), place) for part in parts]
        yield rows, np.concatenate(costs, axis=-1) if costs else np.zeros((2, 0))


def information_delivered(
    loglik: ArrayLike, label: ArrayLike, *, prior: Priors = None, sample_weight: Weights = None, classes: Names = None
) -> float:
    """Return the information that log-likelihoods deliver about the class, in bits (thesis section 2.4).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. May be infinite.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    prior : (n_classes,) array_like, optional
        Probabilities, default: flat; classes of prior 0 are dropped with their trials.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    float
        Entropy of the prior minus `cross_entropy`: at most the entropy of the prior (``log2 n_classes`` if flat), 0
        without information, negative if using only the prior would be better.

    Raises
    ------
    InputError
        If there is NaN, a label is unknown, a class of positive prior has no trial, or the prior is invalid.

    Examples
    --------
    >>> loglik = [[2.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.5, 1.5]]
    >>> round(information_delivered(loglik, [0, 1, 2]), 6)
    1.014781
    """
    trials = ScoredClasses.of_metric(loglik, label, sample_weight, classes)
    checked = trials.prior(prior)
    return (entropy(checked) - expected_surprise(trials, checked)) / math.log(2)


def loglik_from_posterior(posterior: ArrayLike, *, prior: Priors) -> FloatArray:
    """Return log-likelihoods from posteriors of the classes, such as a softmax (Bruemmer and van Leeuwen 2006, eq. 4).

    Parameters
    ----------
    posterior : (n_trials, n_classes) array_like
        In [0, 1]; rows sum to 1 up to rounding (1e-3). A class of posterior 0 is excluded.
    prior : (n_classes,) array_like or None
        Prior of the posteriors, above 0: for a classifier, usually the shares of the classes in its training data. None
        is flat; there is no default.

    Returns
    -------
    (n_trials, n_classes) array
        ``ln posterior_i - ln prior_i`` in nats: log-likelihoods up to a constant of each trial. This is the inverse of
        `posterior`, up to the constant.

    Raises
    ------
    InputError
        If a posterior is outside [0, 1] or NaN, rows do not sum to 1, or the prior is invalid or contains 0.

    Examples
    --------
    >>> loglik_from_posterior([[0.5, 0.25, 0.25], [0.8, 0.2, 0.0]], prior=[0.5, 0.25, 0.25]).round(3)
    array([[ 0.   ,  0.   ,  0.   ],
           [ 0.47 , -0.223,   -inf]])
    """
    table = _validate_classes.loglik(posterior, "posterior")
    checked = _validate_classes.of_classes(table, "posterior")
    value = _validate_classes.prior(prior, table.shape[1])
    if not value.all():
        raise InputError(f"prior: 0 for class {int(np.argmin(value))}, so that its posteriors carry no information.")
    return loglik_of_posterior(checked, value)


def top_k_accuracy(
    loglik: ArrayLike, label: ArrayLike, *, k: int = 5, sample_weight: Weights = None, classes: Names = None
) -> float:
    """Return the share of trials whose true class is among the ``k`` classes with the largest log-likelihoods.

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods, or log posteriors.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    k : int
        At least 1, and less than the number of classes.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial, at least 0.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    float
        A fraction. Equal log-likelihoods are ranked by the position of the class.

    Raises
    ------
    InputError
        If there are no trials, there is NaN, a label is not a class, or ``k`` is invalid.

    Notes
    -----
    All trials have the same weight, so that the value changes with the shares of the classes in the data; `error_rate`
    does not.

    Examples
    --------
    >>> loglik = [[2.0, 0.0, -1.0], [0.0, 1.0, 0.5], [0.0, 0.5, 0.2], [3.0, 1.0, 2.0]]
    >>> top_k_accuracy(loglik, [0, 1, 2, 1], k=1), top_k_accuracy(loglik, [0, 1, 2, 1], k=2)
    (0.5, 0.75)
    """
    trials = ScoredClasses.of_metric(loglik, label, sample_weight, classes)
    rule = f"It is a whole number, at least 1 and less than the number of classes, {trials.n_classes}"
    k = _validate.whole(k, "k", 1, trials.n_classes - 1, rule)
    if not len(trials.label):
        raise InputError("loglik: there are no trials.")
    weight = np.ones(len(trials.label)) if trials.weights is None else np.asarray(trials.weights, np.float64)
    if not weight.any():
        raise InputError("sample_weight: all weights are 0.")
    return float(weight[class_counts.is_among_first(trials.loglik, trials.label, k)].sum() / weight.sum())
