"""Other forms of the same information: posteriors, log-likelihood ratios of detection and pairs, groups of classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import classes as _validate_classes
from deciban._validate.classes import Class, Groups
from deciban._validate.probabilities import tell_of_many
from deciban.core.classes import loglik as kernels
from deciban.core.rules.proper import softplus
from deciban.errors import InputError
from deciban.multiclass.tables import ScoredClasses
from deciban.types import CountArray, FloatArray, IntArray, Names, Priors, ScoreArray, Weights


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
