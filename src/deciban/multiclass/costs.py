"""Soft decisions among many classes: prior-weighted class means of proper scoring rules, and information in bits."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import classes as _validate_classes
from deciban._validate import probabilities as _validate_probabilities
from deciban.core import posteriors
from deciban.core.classes.loglik import prior_ratio, quadratic_cost, relative, row_blocks
from deciban.core.rules.expected import MeanCost, log_cost
from deciban.core.rules.proper import softplus
from deciban.errors import InputError
from deciban.multiclass.tables import ScoredClasses
from deciban.types import FloatArray, IntArray, Names, Priors, Weights


def cross_entropy(
    loglik: ArrayLike, label: ArrayLike, *, prior: Priors, sample_weight: Weights = None, classes: Names = None
) -> float:
    """Prior-weighted cross-entropy of the true classes in nats (thesis eq. 8.14).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. ``-inf`` excludes a class, ``+inf`` all that
        have less.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    prior : (n_classes,) array_like or None
        Probabilities; classes of prior 0 drop out with their trials. None is flat.
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
        If there is NaN, a label is no class, a class of positive prior has no trial, or the prior is not one.

    Examples
    --------
    >>> loglik = [[2.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.5, 1.5]]
    >>> round(cross_entropy(loglik, [0, 1, 2], prior=[0.5, 0.25, 0.25]), 6)
    0.379082
    """
    trials = ScoredClasses.of_metric(loglik, label, sample_weight, classes)
    return expected_surprise(trials, trials.prior(prior))


def entropy(prior: FloatArray) -> float:
    """Entropy of a prior in nats: the cross-entropy of log-likelihoods that say nothing."""
    possible = prior[prior > 0]
    return -math.fsum(possible * np.log(possible))


def expected_surprise(trials: ScoredClasses, prior: FloatArray) -> float:
    """`cross_entropy` of checked trials."""
    return mixed(surprises(trials, prior), prior)


def surprises(trials: ScoredClasses, prior: FloatArray) -> tuple[MeanCost, ...]:
    """Sums of the logarithmic costs of each class of positive prior, in nats; those of other trials can be added."""
    found = _true_llrs(trials, prior)
    return tuple(log_cost((llr, trials.weights_of(rows)), shift, sign=-1) for rows, llr, shift in found)


def trial_surprises(trials: ScoredClasses, prior: FloatArray) -> FloatArray:
    """Logarithmic costs of trials that count, class by class, in nats; the prior is positive."""
    return np.concatenate([softplus(shift - llr) for _, llr, shift in _true_llrs(trials, prior)])


def calibrated_surprises(trials: ScoredClasses, scale: float, offset: FloatArray) -> FloatArray:
    """`trial_surprises` of ``scale * loglik + offset`` at the flat prior; what a scale of 0 leaves are the offsets."""
    n_classes = trials.n_classes
    flat, found = np.full(n_classes, 1.0 / n_classes), [np.zeros(0)]
    for k in range(n_classes):
        rows = trials.rows(k)
        for part in row_blocks(len(rows), n_classes):
            mapped = np.zeros((part.stop - part.start, n_classes))
            if scale > 0.0:
                with np.errstate(over="ignore"):
                    np.multiply(trials.loglik[rows[part]], scale, out=mapped, dtype=np.float64)
            some = ScoredClasses(mapped + offset, np.full(len(mapped), k), None, None)
            found.append(softplus(math.log(n_classes - 1) - some.detection_llr(np.arange(len(mapped)), k, flat)))
    return np.concatenate(found)


def _true_llrs(trials: ScoredClasses, prior: FloatArray) -> Iterator[tuple[IntArray, FloatArray, float]]:
    """Of each class of positive prior its trials, their llr against the rest, and prior log odds of the rest."""
    for k in np.flatnonzero(prior > 0).tolist():
        # The posterior of a class is that of a detection problem, so the two-class cost serves here, too.
        rest, rows = math.fsum(np.delete(prior, k)), trials.rows(k)
        yield rows, trials.detection_llr(rows, k, prior), math.log(rest) - math.log(prior[k])


def mixed(sums: Sequence[MeanCost], prior: FloatArray) -> float:
    """Prior-weighted mean of the mean costs of classes, those of positive prior in their order."""
    return math.fsum(p * cost.value for p, cost in zip(prior[prior > 0].tolist(), sums, strict=True))


def cllr(loglik: ArrayLike, label: ArrayLike, *, sample_weight: Weights = None, classes: Names = None) -> float:
    """Cost of log-likelihoods in bits, also known as Cmxe (paper 001 eq. 17).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. Infinite values are legal.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    float
        `cross_entropy` at the flat prior, in bits: 0 is perfect, ``log2 n_classes`` what a recognizer without
        information gets that knows it has none; above that it would be better not to listen to it.

    Raises
    ------
    InputError
        If there is NaN, a label is no class, or a class has no trial.

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
    """Prior-weighted mean of the quadratic scoring rule (paper 001 eq. 13).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. Infinite values are legal.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    prior : (n_classes,) array_like, optional
        Probabilities, flat when left out; classes of prior 0 drop out with their trials.
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
        If there is NaN, a label is no class, a class of positive prior has no trial, or the prior is not one.

    Examples
    --------
    >>> round(brier([[2.0, 0.0], [0.0, 1.0]], [0, 1]), 6)
    0.086539
    """
    trials = ScoredClasses.of_metric(loglik, label, sample_weight, classes)
    checked = trials.prior(prior)
    return mixed(quadratic_costs(trials, checked), checked)


def quadratic_costs(trials: ScoredClasses, prior: FloatArray) -> tuple[MeanCost, ...]:
    """Sums of the quadratic costs of each class of positive prior; those of other trials can be added."""
    columns = np.flatnonzero(prior > 0)
    ratio = prior_ratio(prior[columns])
    return class_costs(trials, columns, lambda block, place: quadratic_cost(block, ratio, place))


def class_costs(
    trials: ScoredClasses, columns: IntArray, cost: Callable[[FloatArray, int], FloatArray]
) -> tuple[MeanCost, ...]:
    """Sums of the costs of each of these classes, which are a function of log-likelihoods and the place of the truth.

    Parameters
    ----------
    trials : ScoredClasses
    columns : int array
        The classes.
    cost : callable
        Takes log-likelihoods, (n_columns, n), less their maximum, and the place of the true class among ``columns``.
    """
    found = _trial_costs(trials, columns, cost)
    return tuple(MeanCost.of(costs, lambda values: values, trials.weights_of(rows)) for rows, costs in found)


def trial_quadratic_costs(trials: ScoredClasses, prior: FloatArray) -> FloatArray:
    """Quadratic costs of trials that count, class by class; the prior is positive."""
    ratio, columns = prior_ratio(prior), np.arange(len(prior))
    found = _trial_costs(trials, columns, lambda block, place: quadratic_cost(block, ratio, place))
    return np.concatenate([costs for _, costs in found])


def _trial_costs(
    trials: ScoredClasses, columns: IntArray, cost: Callable[[FloatArray, int], FloatArray]
) -> Iterator[tuple[IntArray, FloatArray]]:
    """The trials of each of these classes and what they cost; see `class_costs`."""
    for place, k in enumerate(columns.tolist()):
        rows = trials.rows(k)
        costs = np.empty(len(rows))
        for part in row_blocks(len(rows), trials.n_classes):
            costs[part] = cost(relative(trials.loglik, rows[part], columns), place)
        yield rows, costs


def information_delivered(
    loglik: ArrayLike, label: ArrayLike, *, prior: Priors = None, sample_weight: Weights = None, classes: Names = None
) -> float:
    """Information that log-likelihoods deliver about the class, in bits (thesis section 2.4).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. Infinite values are legal.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    prior : (n_classes,) array_like, optional
        Probabilities, flat when left out; classes of prior 0 drop out with their trials.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    float
        Entropy of the prior minus `cross_entropy`: at most the entropy of the prior (``log2 n_classes`` if flat), 0
        without information, negative if it would be better to know the prior only.

    Raises
    ------
    InputError
        If there is NaN, a label is no class, a class of positive prior has no trial, or the prior is not one.

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
    """Log-likelihoods from posteriors of the classes, such as the output of a softmax (paper 001 eq. 4).

    Parameters
    ----------
    posterior : (n_trials, n_classes) array_like
        In [0, 1]; rows sum to 1 but for rounding (1e-3). A class of posterior 0 is excluded.
    prior : (n_classes,) array_like or None
        The probabilities of the classes that they were made with, above 0: for a classifier mostly the shares of the
        classes that it was trained on. None is flat; it has to be said.

    Returns
    -------
    (n_trials, n_classes) array
        ``ln posterior_i - ln prior_i`` in nats: log-likelihoods up to a constant of each trial. The inverse of
        `posterior`, up to that.

    Raises
    ------
    InputError
        If a posterior is outside [0, 1] or NaN, rows do not sum to 1, or the prior is none or has a 0.

    Examples
    --------
    >>> loglik_from_posterior([[0.5, 0.25, 0.25], [0.8, 0.2, 0.0]], prior=[0.5, 0.25, 0.25]).round(3)
    array([[ 0.   ,  0.   ,  0.   ],
           [ 0.47 , -0.223,   -inf]])
    """
    table = _validate_classes.loglik(posterior, "posterior")
    checked = _validate_probabilities.of_classes(table, "posterior")
    given = _validate_classes.prior(prior, table.shape[1])
    if not given.all():
        raise InputError(f"prior: 0 for class {int(np.argmin(given))}, so that its posteriors say nothing of it.")
    return posteriors.loglik(checked, given)


def top_k_accuracy(
    loglik: ArrayLike, label: ArrayLike, *, k: int = 5, sample_weight: Weights = None, classes: Names = None
) -> float:
    """Share of trials whose true class is among the ``k`` classes with the largest log-likelihoods.

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
        If there are no trials, there is NaN, a label is not a class, or ``k`` is not valid.

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
    if not 1 <= operator.index(k) < trials.n_classes:
        raise InputError(f"k: got {k}. It is at least 1 and less than the number of classes, {trials.n_classes}.")
    if not len(trials.label):
        raise InputError("loglik: there are no trials.")
    weight = np.ones(len(trials.label)) if trials.weights is None else np.asarray(trials.weights, np.float64)
    if not weight.any():
        raise InputError("sample_weight: all weights are 0.")
    is_hit = np.empty(len(trials.label), bool)
    position = np.arange(trials.n_classes)
    for rows in row_blocks(*trials.loglik.shape):
        block, true = trials.loglik[rows], trials.label[rows]
        own = np.take_along_axis(block, true[:, None], axis=1)
        ahead = (block > own) | ((block == own) & (position < true[:, None]))
        is_hit[rows] = ahead.sum(axis=1) < k
    return float(weight[is_hit].sum() / weight.sum())
