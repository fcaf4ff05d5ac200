"""Expected costs of actions at posteriors, and which actions are among the best (thesis 2.4 to 2.9)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate.probabilities import distributions
from deciban.decisions.actions import TIE
from deciban.decisions.application import Application
from deciban.errors import InputError
from deciban.types import BoolArray, FloatArray


def expected_costs(posterior: ArrayLike, *, costs: ArrayLike) -> FloatArray:
    """Expected cost of each action for each posterior: ``C(a | q)`` (thesis 2.4).

    Parameters
    ----------
    posterior : (n, n_classes) array_like
        Probabilities, rows that sum to 1.
    costs : (n_actions, n_classes) array_like
        Cost of each action when each class is true, finite and at least 0.

    Returns
    -------
    (n, n_actions) array
        ``sum_i posterior_i costs[a, i]``, in the unit of the costs.

    Raises
    ------
    InputError
        If rows are no probabilities, costs are negative or not finite, or they are about other classes.

    Examples
    --------
    >>> expected_costs([[0.9, 0.1]], costs=[[0, 10], [1, 0], [0.5, 0.5]])
    array([[1. , 0.9, 0.5]])
    """
    table, application = _of_same_classes(posterior, costs)
    return np.asarray(table @ application.costs.T)


def minimizing_actions(posterior: ArrayLike, *, costs: ArrayLike) -> BoolArray:
    """Which actions have the least expected cost for each posterior: all of them, not one (thesis 2.5 to 2.8, 3.3).

    Parameters
    ----------
    posterior : (n, n_classes) array_like
        Probabilities, rows that sum to 1.
    costs : (n_actions, n_classes) array_like
        Cost of each action when each class is true, finite and at least 0.

    Returns
    -------
    (n, n_actions) bool array
        At least one in each row. `bayes_decisions` takes the first. Expected costs that agree to a relative 2^-46, but
        for what no action avoids, are equal.

    Raises
    ------
    InputError
        As `expected_costs`.

    Examples
    --------
    At the threshold of two classes both actions serve:

    >>> minimizing_actions([[0.4, 0.6], [0.5, 0.5]], costs=[[0, 1], [1, 0]])
    array([[False,  True],
           [ True,  True]])
    """
    table, application = _of_same_classes(posterior, costs)
    avoidable = application.costs - application.costs.min(axis=0)
    expected = table @ avoidable.T
    return np.asarray(expected <= expected.min(axis=1, keepdims=True) * (1.0 + TIE))


def _of_same_classes(posterior: ArrayLike, costs: ArrayLike) -> tuple[FloatArray, Application]:
    table, application = distributions(posterior, "posterior"), Application(costs)
    if table.shape[1] != application.n_classes:
        raise InputError(
            f"posterior: {table.shape[1]} classes, but costs are given for {application.n_classes}. One column of both "
            "is a class."
        )
    return table, application
