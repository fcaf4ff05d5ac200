"""Hard decisions among many classes: which one is chosen, and how often that is wrong."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from deciban.core.classes.counts import chosen
from deciban.core.classes.counts import confusion as _confusion
from deciban.multiclass.tables import ScoredClasses
from deciban.types import CountArray, FloatArray, Names, Priors, Weights


def error_rate(
    loglik: ArrayLike, label: ArrayLike, *, prior: Priors = None, sample_weight: Weights = None, classes: Names = None
) -> float:
    """Rate of wrong Bayes decisions with unit costs, each class averaged by itself.

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. Infinite values are legal.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    prior : (n_classes,) array_like, optional
        Probabilities, flat when left out: of the decisions and of the average. Classes of prior 0 drop out.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0; whole numbers count like copies of the trial.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    float
        ``sum_i prior_i P(decision is not i | i)``, a fraction. The decision is the class of greatest posterior
        probability, the first of them in a tie.

    Raises
    ------
    InputError
        If there is NaN, a label is no class, a class of positive prior has no trial, or the prior is not one.

    Notes
    -----
    Posteriors are compared exactly, without tolerance: at a flat prior the log-likelihoods as they are, of two classes
    their difference with the Bayes threshold, as in `deciban.metrics`. `deciban.decisions` compares sums of costs, and
    takes those that agree to 2^-46 for a tie; it decides alike at a flat prior, and can differ at others where a trial
    is that close to a tie.

    Examples
    --------
    >>> error_rate([[2.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.5, 0.4], [0.0, 0.5, 1.0]], [0, 1, 2, 2], prior=None)
    0.16666666666666666
    """
    trials = ScoredClasses.of(loglik, label, sample_weight, classes)
    checked = trials.prior(prior)
    possible = checked > 0
    return float(checked[possible] @ rates_of(confusion_of(trials, checked))[possible])


def class_error_rates(
    loglik: ArrayLike, label: ArrayLike, *, prior: Priors = None, sample_weight: Weights = None, classes: Names = None
) -> FloatArray:
    """Rate of wrong Bayes decisions with unit costs for every class; their prior-weighted mean is `error_rate`.

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. Infinite values are legal.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    prior : (n_classes,) array_like, optional
        Probabilities that decisions are made with, flat when left out; a class of prior 0 is never chosen.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0; whole numbers count like copies of the trial.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    (n_classes,) array
        Fractions; 0 for a class of prior 0 that has no trial.

    Raises
    ------
    InputError
        If there is NaN, a label is no class, a class of positive prior has no trial, or the prior is not one.

    Examples
    --------
    >>> class_error_rates([[2.0, 0.0], [0.0, 1.0], [0.5, 0.0]], [0, 1, 1])
    array([0. , 0.5])
    """
    trials = ScoredClasses.of(loglik, label, sample_weight, classes)
    return rates_of(confusion_of(trials, trials.prior(prior)))


def confusion(
    loglik: ArrayLike, label: ArrayLike, *, prior: Priors = None, sample_weight: Weights = None, classes: Names = None
) -> CountArray:
    """Confusion matrix of Bayes decisions with unit costs.

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. Infinite values are legal.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    prior : (n_classes,) array_like, optional
        Probabilities that decisions are made with, flat when left out; a class of prior 0 is never chosen.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    (n_classes, n_classes) array
        Number of trials (or their weight) of the true class of the row that were taken for the class of the column.

    Raises
    ------
    InputError
        If there is NaN, a label is no class, a class of positive prior has no trial, or the prior is not one.

    Notes
    -----
    Posteriors are compared exactly, without tolerance: at a flat prior the log-likelihoods as they are, of two classes
    their difference with the Bayes threshold, as in `deciban.metrics`. `deciban.decisions` compares sums of costs, and
    takes those that agree to 2^-46 for a tie; it decides alike at a flat prior, and can differ at others where a trial
    is that close to a tie.

    Examples
    --------
    >>> confusion([[2.0, 0.0], [0.0, 1.0], [0.5, 0.0]], [0, 1, 1])
    array([[1, 0],
           [1, 1]])
    """
    trials = ScoredClasses.of(loglik, label, sample_weight, classes)
    return confusion_of(trials, trials.prior(prior))


def confusion_of(trials: ScoredClasses, prior: FloatArray) -> CountArray:
    """`confusion` of checked trials; those of other trials can be added."""
    return _confusion(trials.label, chosen(trials.loglik, prior), trials.n_classes, trials.weights)


def rates_of(confusion: CountArray) -> FloatArray:
    """Rate of wrong decisions for every class; 0 for a class without trials."""
    totals = confusion.sum(axis=1)
    wrong = (confusion * (1 - np.eye(len(confusion), dtype=confusion.dtype))).sum(axis=1)
    return np.asarray(np.divide(wrong, totals, out=np.zeros(len(confusion)), where=totals > 0))
