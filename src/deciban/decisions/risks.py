"""Decisions and what they cost: functions on log-likelihoods, true classes, costs and priors (thesis 2.8, 5.4, 6.1)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban._validate import classes as _validate_classes
from deciban._validate.probabilities import tell_of_many, tell_of_two
from deciban.core.classes.counts import tally
from deciban.decisions.actions import least_cost_actions
from deciban.decisions.application import Application
from deciban.errors import InputError
from deciban.types import AnyArray, CountArray, IntArray, Priors, ScoreArray, Weights


def bayes_decisions(loglik: ArrayLike, *, costs: ArrayLike, prior: Priors = None) -> IntArray:
    """Bayes decisions: for each trial the action of least expected cost (thesis eqs. 2.5 and 2.8).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; what is added to all of a trial changes nothing. Infinite ones are limits: a class of
        -inf is out of the question, one of +inf certain, and several of +inf are equally likely. With two classes
        also (n_trials,) log-likelihood ratios of class 0 to class 1.
    costs : (n_actions, n_classes) array_like
        Cost of each action when each class is true, finite and at least 0.
    prior : (n_classes,) array_like, optional
        Flat if left out. Classes of prior 0 play no part.

    Returns
    -------
    (n_trials,) int array
        Indices of actions. Of several that cost the least the lowest; expected costs, less what no action avoids,
        that agree to 2^-46 (1.4e-14) of themselves are equal, so that rounding does not decide ties.

    Notes
    -----
    Where all errors cost the same and the prior is flat, scores are compared as they are, here and in
    `deciban.multiclass.error_rate`: both make the same decisions. Otherwise costs are sums, whose rounding would break
    exact ties by chance: hence the tolerance. `deciban.multiclass.error_rate` has none at any prior. It compares single
    numbers, log posteriors, so that two classes meet the Bayes threshold to the last digit as in `deciban.metrics`,
    where a log-likelihood ratio just below it is rejected; here that is still a tie, which goes to action 0.

    Raises
    ------
    InputError
        If log-likelihoods hold NaN, costs are negative or not finite, shapes do not agree, the prior is none, or a
        trial excludes every class.

    Examples
    --------
    >>> loglik = [[2.0, 0.0, -1.0], [0.0, 0.5, 0.4], [0.0, 0.0, -3.0]]
    >>> bayes_decisions(loglik, costs=[[0, 1, 1], [1, 0, 1], [1, 1, 0], [0.4, 0.4, 0.4]])
    array([0, 3, 3])
    >>> bayes_decisions([2.0, 2.2, 2.4], costs=[[0, 1], [1, 0]], prior=[0.1, 0.9])
    array([1, 0, 0])
    """
    application = Application(costs, prior)
    return least_cost_actions(checked_loglik(loglik, application), application.costs, application.prior)


def empirical_risk(
    loglik: ArrayLike,
    label: ArrayLike,
    *,
    costs: ArrayLike,
    prior: Priors = None,
    normalize: bool = False,
    classes: Iterable[str] | None = None,
    sample_weight: Weights = None,
) -> float:
    """Mean cost of Bayes decisions, each class averaged by itself and weighted by its prior (thesis eqs. 5.4, 6.1).

    Parameters
    ----------
    loglik : (n_trials, n_classes) or, for two classes, (n_trials,) array_like
        As in `bayes_decisions`.
    label : (n_trials,) array_like
        True class of each trial: indices from 0, or names if ``classes`` is given.
    costs : (n_actions, n_classes) array_like
        Cost of each action when each class is true, finite and at least 0.
    prior : (n_classes,) array_like, optional
        Flat if left out. Decides with the costs, and weights the classes.
    normalize : bool
        Divide by `default_risk`: above 1, decisions are worse than those that the prior alone makes.
    classes : iterable of str, optional
        Names of the classes in the order of the columns.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float
        ``sum_i prior_i mean over class i of C[decision, i]``, in units of the costs, or a plain ratio.

    Raises
    ------
    InputError
        As `bayes_decisions`; if a class of prior above 0 has no trial, or the default risk to divide by is 0.

    Examples
    --------
    >>> loglik, label = [[2.0, 0.0, -1.0], [0.0, 0.5, 0.4], [0.0, 0.0, 3.0]], [0, 1, 2]
    >>> empirical_risk(loglik, label, costs=[[0, 1, 1], [1, 0, 1], [1, 1, 0], [0.3, 0.3, 0.3]])
    0.09999999999999999
    """
    application = Application(costs, prior)
    decision = least_cost_actions(checked_loglik(loglik, application), application.costs, application.prior)
    counts = _counts(decision, label, application, classes, sample_weight, needed=True)
    return _risk(counts, application, normalize=normalize)


def decision_risk(
    decision: ArrayLike,
    label: ArrayLike,
    *,
    costs: ArrayLike,
    prior: Priors = None,
    normalize: bool = False,
    classes: Iterable[str] | None = None,
    sample_weight: Weights = None,
) -> float:
    """Mean cost of decisions however they were made, classes averaged as in `empirical_risk`.

    Parameters
    ----------
    decision : (n_trials,) array_like
        Index of the action taken in each trial.
    label : (n_trials,) array_like
        True class of each trial: indices from 0, or names if ``classes`` is given.
    costs : (n_actions, n_classes) array_like
        Cost of each action when each class is true, finite and at least 0.
    prior : (n_classes,) array_like, optional
        Flat if left out.
    normalize : bool
        Divide by `default_risk`.
    classes : iterable of str, optional
        Names of the classes in the order of the columns of ``costs``.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float
        In units of the costs, or a plain ratio. The decisions of one who knows better can cost less than Bayes
        decisions from the log-likelihoods: the difference is what calibration might gain.

    Raises
    ------
    InputError
        As `empirical_risk`; if a decision is not the index of an action.

    Examples
    --------
    >>> decision_risk([0, 1, 1, 1], [0, 0, 1, 1], costs=[[0, 1], [10, 0]], prior=[0.01, 0.99])
    0.05
    """
    application = Application(costs, prior)
    counts = _counts(_actions(decision, application), label, application, classes, sample_weight, needed=True)
    return _risk(counts, application, normalize=normalize)


def counts_and_risk(
    decision: AnyArray, label: ArrayLike, application: Application, sample_weight: Weights = None
) -> tuple[CountArray, float]:
    """`decision_counts` of decisions that were made, and their `decision_risk`."""
    counts = _counts(decision, label, application, None, sample_weight, needed=True)
    return counts, _risk(counts, application, normalize=False)


def decision_counts(
    loglik: ArrayLike,
    label: ArrayLike,
    *,
    costs: ArrayLike,
    prior: Priors = None,
    classes: Iterable[str] | None = None,
    sample_weight: Weights = None,
) -> CountArray:
    """How often Bayes decisions take each action in trials of each class.

    Parameters
    ----------
    loglik : (n_trials, n_classes) or, for two classes, (n_trials,) array_like
        As in `bayes_decisions`.
    label : (n_trials,) array_like
        True class of each trial: indices from 0, or names if ``classes`` is given.
    costs : (n_actions, n_classes) array_like
        Cost of each action when each class is true, finite and at least 0.
    prior : (n_classes,) array_like, optional
        Flat if left out.
    classes : iterable of str, optional
        Names of the classes in the order of the columns.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial, at least 0.

    Returns
    -------
    (n_actions, n_classes) array
        Numbers of trials, or sums of weights if these are not whole numbers.

    Raises
    ------
    InputError
        As `bayes_decisions`, but classes may be without trials.

    Examples
    --------
    >>> decision_counts([1.0, -1.0, 0.5, -2.0], [0, 0, 1, 1], costs=[[0, 1], [1, 0]])
    array([[1, 1],
           [1, 1]])
    """
    application = Application(costs, prior)
    decision = least_cost_actions(checked_loglik(loglik, application), application.costs, application.prior)
    return _counts(decision, label, application, classes, sample_weight, needed=False)


def default_risk(*, costs: ArrayLike, prior: Priors = None) -> float:
    """Cost of the best decision without any data, ``min_a sum_i prior_i C[a, i]`` (thesis eqs. 2.11, 2.46).

    Parameters
    ----------
    costs : (n_actions, n_classes) array_like
        Cost of each action when each class is true, finite and at least 0.
    prior : (n_classes,) array_like, optional
        Flat if left out.

    Returns
    -------
    float
        In units of the costs: the entropy of the prior that belongs to these costs. What a recognizer is worth in
        this application is this minus its `empirical_risk`.

    Raises
    ------
    InputError
        If costs are negative or not finite, or the prior is none.

    Examples
    --------
    >>> default_risk(costs=[[0, 1], [10, 0]], prior=[0.01, 0.99])
    0.1
    """
    return Application(costs, prior).default_risk


def checked_loglik(loglik: ArrayLike, application: Application, *, tell: bool = True) -> ScoreArray:
    """Return checked log-likelihoods of the classes of an application; log-likelihood ratios become two columns.

    That they look like probabilities is told, unless they are a piece of something.
    """
    table = _validate.array(loglik, "loglik")
    if table.ndim == 1:
        llr = _validate.scores(table, "loglik")
        if tell:
            tell_of_two(llr)
        table = np.column_stack((llr, np.zeros_like(llr)))
    checked = _validate_classes.loglik(table)
    if checked.shape[1] != application.n_classes:
        raise InputError(
            f"loglik: {checked.shape[1]} classes, but costs are given for {application.n_classes}. One column of both "
            "is a class."
        )
    if tell:
        tell_of_many(checked)
    return checked


def _actions(decision: ArrayLike, application: Application) -> AnyArray:
    """Return decisions as indices of actions."""
    vector = _validate.array(decision, "decision")
    if vector.ndim != 1 or len(vector) == 0 or vector.dtype.kind not in "iu":
        raise InputError(
            f"decision: expected a vector of indices of actions, got {vector.dtype} of shape {vector.shape}. Give one "
            "per trial."
        )
    bad = np.flatnonzero((vector < 0) | (vector >= application.n_actions))
    if len(bad):
        raise InputError(
            f"decision: {len(bad)} of {len(vector)} are no actions, the first at index {bad[0]}: {vector[bad[0]]}. "
            f"Actions are rows of costs, 0 to {application.n_actions - 1}."
        )
    return vector


def _counts(
    decision: AnyArray,
    label: ArrayLike,
    application: Application,
    classes: Iterable[str] | None,
    sample_weight: Weights,
    *,
    needed: bool,
) -> CountArray:
    """Return trials, or their weights, by action and true class; if ``needed``, possible classes must have some."""
    n_actions, n_classes = application.costs.shape
    names = _validate_classes.names(classes, n_classes)
    true = _validate_classes.label(label, len(decision), n_classes, names)
    weights = _validate.weights(sample_weight, len(decision), "sample_weight")
    if needed:
        possible = application.prior > 0
        _validate_classes.all_classes(true, n_classes, weights=weights, needed=possible, classes=names)
    cell = decision.astype(np.int64, copy=False) * n_classes + true
    return tally(cell, n_actions * n_classes, weights).reshape(n_actions, n_classes)


def _risk(counts: CountArray, application: Application, *, normalize: bool) -> float:
    """Return the risk of counted decisions."""
    possible = application.prior > 0
    rates = counts[:, possible] / counts[:, possible].sum(axis=0)
    risk = float((application.costs[:, possible] * rates).sum(axis=0) @ application.prior[possible])
    if not normalize:
        return risk
    default = application.default_risk
    if default == 0:
        raise InputError(
            "normalize: the default decision costs nothing, there is an action that is free whatever class is true. "
            "Pass normalize=False."
        )
    return risk / default
