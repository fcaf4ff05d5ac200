"""Weights by which every condition counts alike, however many trials it has."""

from __future__ import annotations

import numpy as np

from deciban.types import AnyArray, CountArray, FloatArray, IntArray


def totals_by_condition(
    condition: IntArray, truth: AnyArray, weight: CountArray | None = None, *, n_conditions: int, n_classes: int
) -> CountArray:
    """How many trials of each class every condition has, or what they weigh.

    Parameters
    ----------
    condition : (n_trials,) int array
        Position of the condition that a trial is of.
    truth : (n_trials,) bool or int array
        Whether a target, or of which class.
    weight : (n_trials,) array, optional
    n_conditions, n_classes : int

    Returns
    -------
    (n_conditions, n_classes) array

    Examples
    --------
    >>> totals_by_condition(np.array([0, 1, 1]), np.array([True, False, False]), n_conditions=2, n_classes=2)
    array([[0, 1],
           [2, 0]])
    """
    at = condition * n_classes + truth
    found = np.bincount(at, weight, minlength=n_conditions * n_classes)
    is_whole = weight is None or weight.dtype.kind in "iu"
    totals: CountArray = (found.astype(np.int64) if is_whole else found).reshape(n_conditions, n_classes)
    return totals


def equalizing_factors(totals: CountArray) -> FloatArray:
    """What a trial of each condition and class weighs where all conditions that have a class count alike in it.

    In every class a trial of a condition weighs as the largest condition does over its own:

        w(c, class) = max_d n(d, class) / n(c, class),

    times its own weight where it has one. A mean over the trials of a class by these weights is the mean over
    conditions of their means; so are P_miss and P_fa at any threshold.

    Parameters
    ----------
    totals : (n_conditions, n_classes) array

    Returns
    -------
    (n_conditions, n_classes) array
        0 where there is no trial.

    Examples
    --------
    >>> equalizing_factors(np.array([[4, 0], [2, 5]]))
    array([[1., 0.],
           [2., 1.]])
    """
    found: FloatArray = np.divide(totals.max(axis=0), totals, out=np.zeros(totals.shape), where=totals > 0)
    return found


def sharing_factors(totals: CountArray, shares: FloatArray) -> FloatArray:
    """What a trial of each condition and class weighs where conditions have given shares of the trials of a class.

    In a class with shares a trial weighs

        w(c, class) = share(c) n(class) / n(c, class),

    times its own weight where it has one, so that error rates are means over conditions by these shares.

    Parameters
    ----------
    totals : (n_conditions, n_classes) array
    shares : (n_conditions, n_classes) array
        Of each class they add up to 1, or are NaN: then its trials keep their weights. Conditions with a share have
        trials of the class.

    Returns
    -------
    (n_conditions, n_classes) array

    Examples
    --------
    >>> sharing_factors(np.array([[4, 6], [2, 2]]), np.array([[np.nan, 0.5], [np.nan, 0.5]])).round(3)
    array([[1.   , 0.667],
           [1.   , 2.   ]])
    """
    found: FloatArray = np.divide(shares * totals.sum(axis=0), totals, out=np.zeros(totals.shape), where=totals > 0)
    found[:, np.isnan(shares).all(axis=0)] = 1.0
    return found
