"""Objectives made of point masses: weighted sums of detection costs at a few thresholds, such as C_primary.

A proper scoring rule is a mixture of detection problems; what it weighs is a density ``Omega(t)`` over their
thresholds (Bruemmer and Doddington 2013, eq. 8). Here it stands on single points. Such costs are good for evaluation;
for training they are of no use, because their slope is 0 nearly everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from deciban._validate import arrays as _validate
from deciban._validate.arrays import several
from deciban._validate.probabilities import tell_of_two
from deciban.core.ranks.operating import OperatingPoint, PointLike, as_operating_point, detection_cost
from deciban.errors import InputError
from deciban.metrics.scores import CountedScores, SortedScores
from deciban.types import FloatArray, Weights

SRE12_POINTS = (OperatingPoint(0.01), OperatingPoint(0.001))
"""The operating points of SRE 2012: effective priors 0.01 and 0.001."""


def point_masses(
    operating_points: Iterable[PointLike], *, weights: ArrayLike | None = None
) -> tuple[FloatArray, FloatArray]:
    """Write a weighted sum of normalized detection costs as point masses (Bruemmer and Doddington 2013, eq. 17).

    Parameters
    ----------
    operating_points : iterable
        Each an `OperatingPoint`, a ``p_target``, or ``(p_target, c_miss, c_fa)``, with positive costs.
    weights : (n_points,) array_like, optional
        Weight of each normalized cost in the sum, at least 0; ``1 / n_points`` unless told otherwise.

    Returns
    -------
    thresholds, masses : (n_points,) arrays
        Bayes thresholds in nats, and the mass ``weight * sigma(|threshold|)`` that ``Omega`` has there.

    Raises
    ------
    InputError
        If there is no operating point, one has a cost of 0, or the weights do not fit.

    Notes
    -----
    Eq. 17 has ``sigma(threshold)``, which is the same for thresholds above 0; below 0, costs are normalized by
    those of reject-all, which are not those of accept-all.

    Examples
    --------
    >>> thresholds, masses = point_masses([0.01, 0.001])
    >>> thresholds.round(2), masses.round(4)
    (array([4.6 , 6.91]), array([0.495 , 0.4995]))
    """
    thresholds, weight = _points(operating_points, weights)
    return thresholds, weight * expit(np.abs(thresholds))


def point_mass_cost(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    thresholds: ArrayLike,
    masses: ArrayLike | None = None,
    tar_weights: Weights = None,
    non_weights: Weights = None,
) -> float:
    """Cost of a proper scoring rule that weighs a few thresholds (Bruemmer and Doddington 2013, eqs. 8 and 9).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Log-likelihood ratios of target and non-target trials, in nats. Infinite values are legal.
    thresholds : (n_points,) array_like
        Where decisions are made, in nats, finite; a score exactly there is accepted.
    masses : (n_points,) array_like, optional
        Weight of each threshold, at least 0, taken as it is; ``1 / n_points`` unless told otherwise.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float
        ``sum_k masses_k ((1 + e^-t_k) Pmiss(t_k) + (1 + e^t_k) Pfa(t_k))``; ``inf`` where an extreme threshold takes
        it beyond the largest float.

    Raises
    ------
    InputError
        If a class is empty or holds NaN, there is no threshold, one is not finite, or the masses do not fit.

    Notes
    -----
    The parametric members of the family are limits of such sums: with the density of `threshold_weighting` as masses
    on a fine grid, this is `scoring_rule_cost` up to the constant factor by which ``Omega`` is normalized.

    Warns
    -----
    DecibanWarning
        If 10 scores or more all lie in [0, 1]: these are no log-likelihood ratios, but perhaps probabilities, of which
        `deciban.decisions.llr_from_probability` makes some.

    Examples
    --------
    >>> round(point_mass_cost([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], thresholds=[0.0, 1.5]), 4)
    0.8705
    """
    scores = CountedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights)
    tell_of_two(tar, non)
    places, mass = _checked(thresholds, masses)
    return _actual(scores, places, mass * (1.0 + np.exp(-np.abs(places))))


def min_point_mass_cost(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    thresholds: ArrayLike,
    masses: ArrayLike | None = None,
    tar_weights: Weights = None,
    non_weights: Weights = None,
) -> float:
    """Cost of point masses after the best monotone recalibration of the same scores.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger favours target. Infinite scores are legal.
    thresholds, masses : (n_points,) array_like
        As in `point_mass_cost`.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float
        Each threshold at its least cost: PAV reaches all of them at once (thesis theorem 5).

    Raises
    ------
    InputError
        If a class is empty or holds NaN, there is no threshold, one is not finite, or the masses do not fit.

    Examples
    --------
    >>> round(min_point_mass_cost([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], thresholds=[0.0, 1.5]), 4)
    0.5372
    """
    scores = SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights)
    places, mass = _checked(thresholds, masses)
    return _least(scores, places, mass * (1.0 + np.exp(-np.abs(places))))


def c_primary(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    operating_points: Iterable[PointLike] = SRE12_POINTS,
    weights: ArrayLike | None = None,
    tar_weights: Weights = None,
    non_weights: Weights = None,
) -> float:
    """Mean of the normalized actual detection cost over operating points: the primary cost of SRE 2012.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Log-likelihood ratios of target and non-target trials, in nats. Infinite values are legal.
    operating_points : iterable
        Each an `OperatingPoint`, a ``p_target``, or ``(p_target, c_miss, c_fa)``; effective priors 0.01 and 0.001
        unless told otherwise.
    weights : (n_points,) array_like, optional
        Weight of each operating point in the sum, at least 0; ``1 / n_points``, a mean, unless told otherwise.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float
        1 for a recognizer that always says llr 0, if the weights sum to 1.

    Raises
    ------
    InputError
        If a class is empty or holds NaN, there is no operating point, one has a cost of 0, or the weights do not fit.

    Warns
    -----
    DecibanWarning
        If 10 scores or more all lie in [0, 1]: these are no log-likelihood ratios, but perhaps probabilities, of which
        `deciban.decisions.llr_from_probability` makes some.

    Examples
    --------
    >>> round(c_primary([1.0, 9.0, 2.0], [0.0, 1.0, -1.0]), 6)
    0.666667
    """
    scores = CountedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights)
    tell_of_two(tar, non)
    return _actual(scores, *_points(operating_points, weights))


def min_c_primary(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    operating_points: Iterable[PointLike] = SRE12_POINTS,
    weights: ArrayLike | None = None,
    tar_weights: Weights = None,
    non_weights: Weights = None,
) -> float:
    """Mean of the normalized minimum detection cost over operating points, each at its own best threshold.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger favours target. Infinite scores are legal.
    operating_points : iterable
        Each an `OperatingPoint`, a ``p_target``, or ``(p_target, c_miss, c_fa)``; effective priors 0.01 and 0.001
        unless told otherwise.
    weights : (n_points,) array_like, optional
        Weight of each operating point in the sum, at least 0; ``1 / n_points``, a mean, unless told otherwise.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float
        What `c_primary` is after PAV on the same scores: never above it.

    Raises
    ------
    InputError
        If a class is empty or holds NaN, there is no operating point, one has a cost of 0, or the weights do not fit.

    Examples
    --------
    >>> round(min_c_primary([1.0, 9.0, 2.0], [0.0, 1.0, -1.0]), 6)
    0.333333
    """
    scores = SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights)
    return _least(scores, *_points(operating_points, weights))


def _actual(scores: CountedScores, thresholds: FloatArray, weight: FloatArray) -> float:
    errors = scores.error_counts(thresholds)
    return _sum(errors.p_miss, errors.p_fa, thresholds, weight)


def _least(scores: SortedScores, thresholds: FloatArray, weight: FloatArray) -> float:
    return _sum(*scores.rocch.best_rates(-thresholds), thresholds, weight)


def _sum(p_miss: FloatArray, p_fa: FloatArray, thresholds: FloatArray, weight: FloatArray) -> float:
    """Weighted sum of normalized costs.

    At thresholds of either sign they are ``(1 + e^-t) Pmiss + (1 + e^t) Pfa``, divided by ``1 + e^-|t|``.
    """
    counts = weight > 0  # of a cost that is infinite, a weight of 0 takes nothing
    costs = detection_cost(p_miss[counts], p_fa[counts], -thresholds[counts], 1.0, 1.0, normalize=True)
    with np.errstate(over="ignore"):
        return float(np.sum(weight[counts] * costs))


def _points(operating_points: Iterable[PointLike], weights: ArrayLike | None) -> tuple[FloatArray, FloatArray]:
    """Thresholds and weights of operating points."""
    given = several(operating_points, "operating_points", "[0.01, (0.001, 10, 1)]")
    points = [as_operating_point(point) for point in given]
    if not points:
        raise InputError("operating_points: empty. Give at least one OperatingPoint.")
    return np.array([point.threshold for point in points]), _weights(weights, len(points), "weights")


def _checked(thresholds: ArrayLike, masses: ArrayLike | None) -> tuple[FloatArray, FloatArray]:
    places = _validate.finite(thresholds, "thresholds")
    if places.ndim != 1 or len(places) == 0:
        raise InputError(
            f"thresholds: expected a vector of at least one, got shape {places.shape}. Write [t] for a single one."
        )
    return places, _weights(masses, len(places), "masses")


def _weights(values: ArrayLike | None, n_points: int, name: str) -> FloatArray:
    if values is None:
        return np.full(n_points, 1.0 / n_points)
    mass = _validate.finite(values, name)
    if mass.shape != (n_points,):
        raise InputError(f"{name}: shape {mass.shape} for {n_points} points. Give one for each point.")
    if mass.min() < 0 or mass.max() == 0:
        raise InputError(
            f"{name}: {mass.min():g} is the least and {mass.max():g} the greatest. They are at least 0, not all 0."
        )
    return mass
