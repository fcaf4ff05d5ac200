"""Figures that depend only on the order of the scores: error rates, areas, PAV, the ROC and its hull."""

from __future__ import annotations

from numpy.typing import ArrayLike

from deciban.core.ranks.hull import Pav, Rocch
from deciban.metrics.scores import Roc, SortedScores
from deciban.types import Weights


def eer(tar: ArrayLike, non: ArrayLike, *, tar_weights: Weights = None, non_weights: Weights = None) -> float:
    """Equal error rate on the convex hull of the ROC, a fraction (BOSARIS paper eq. 26).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger favours target. Infinite scores are legal.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float
        The error rate where misses and false alarms are equally frequent, in [0, 0.5]: the maximum over all priors
        of the minimum Bayes error. Multiply by 100 for percent.

    Raises
    ------
    InputError
        If a class is empty or holds NaN.

    Notes
    -----
    Other tools interpolate the steppy ROC or take the nearest threshold and get other numbers, often larger, from
    the same scores. The hull needs no such choice, and neither ties nor the order of the trials matter. On the hull
    no system is worse than chance: if ``auc`` is below 0.5, the sign of the scores is probably flipped.

    Examples
    --------
    >>> eer([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])
    0.16666666666666666
    """
    return SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights).rocch.eer()


def uer(
    tar: ArrayLike, non: ArrayLike, *, ratio: float, tar_weights: Weights = None, non_weights: Weights = None
) -> float:
    """Unequal error rate: the false-alarm rate where it is ``ratio`` times the miss rate (BOSARIS paper eq. 28).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger favours target. Infinite scores are legal.
    ratio : float
        ``P_fa / P_miss`` at the wanted point of the convex hull, positive.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float
        ``P_fa`` there, a fraction; with ``ratio=1`` the equal error rate.

    Raises
    ------
    InputError
        If a class is empty or holds NaN, or ``ratio`` is not positive.

    Examples
    --------
    >>> round(uer([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], ratio=0.5), 4)
    0.1111
    """
    return SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights).rocch.uer(ratio)


def prbep(tar: ArrayLike, non: ArrayLike, *, tar_weights: Weights = None, non_weights: Weights = None) -> float:
    """Precision-recall break-even point: the number of misses where it equals that of false alarms.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger favours target. Infinite scores are legal.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float
        A count, interpolated on the convex hull and not rounded (BOSARIS paper eq. 29).

    Raises
    ------
    InputError
        If a class is empty or holds NaN.

    Examples
    --------
    >>> prbep([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])
    0.5
    """
    return SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights).rocch.prbep()


def auc(tar: ArrayLike, non: ArrayLike, *, tar_weights: Weights = None, non_weights: Weights = None) -> float:
    """Probability that a target scores above a non-target, ties counting half (the ML convention).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger favours target. Infinite scores are legal.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float
        ``P(tar > non) + P(tar = non) / 2``: 1 is perfect, 0.5 is chance. `roc_error_area` is 1 minus it.

    Raises
    ------
    InputError
        If a class is empty or holds NaN.

    Examples
    --------
    >>> round(auc([1.0, 2.0, 2.0], [0.0, 1.0, -1.0]), 4)
    0.9444
    """
    return SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights).table.auc()


def roc_error_area(
    tar: ArrayLike, non: ArrayLike, *, tar_weights: Weights = None, non_weights: Weights = None
) -> float:
    """Area under the ROC as miss rate over false-alarm rate (the convention of the thesis).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger favours target. Infinite scores are legal.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float
        ``P(non > tar) + P(tar = non) / 2``: 0 is perfect, 0.5 is chance. The area under the convex hull, which is
        never larger, is ``rocch(tar, non).area``.

    Raises
    ------
    InputError
        If a class is empty or holds NaN.

    Examples
    --------
    >>> round(roc_error_area([1.0, 2.0, 2.0], [0.0, 1.0, -1.0]), 4)
    0.0556
    """
    return SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights).table.error_area()


def pav(tar: ArrayLike, non: ArrayLike, *, tar_weights: Weights = None, non_weights: Weights = None) -> Pav:
    """Pool adjacent violators: the best monotone recalibration of these scores (thesis appendix C).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger favours target. Infinite scores are legal.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    Pav
        ``n_tar``, ``n_non``, ``low``, ``high``, ``llr``, one entry per block, ascending. The llrs are optimal for
        every proper scoring rule and every prior at once.

    Raises
    ------
    InputError
        If a class is empty or holds NaN.

    Examples
    --------
    >>> blocks = pav([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])
    >>> blocks.n_tar, blocks.n_non
    (array([0, 1, 2]), array([2, 1, 0]))
    >>> blocks.llr
    array([-inf,   0.,  inf])
    """
    return SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights).pav


def rocch(tar: ArrayLike, non: ArrayLike, *, tar_weights: Weights = None, non_weights: Weights = None) -> Rocch:
    """Convex hull of the ROC (BOSARIS paper section 2.6, thesis appendix C).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger favours target. Infinite scores are legal.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    Rocch
        ``p_fa`` and ``p_miss`` at the vertices from accept-all (1, 0) to reject-all (0, 1), and what can be read
        from them: ``area``, ``eer()``, ``uer(ratio)``, ``prbep()``, ``min_dcf(...)``.

    Raises
    ------
    InputError
        If a class is empty or holds NaN.

    Examples
    --------
    >>> hull = rocch([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])
    >>> hull.p_fa.round(3), hull.p_miss.round(3)
    (array([1.   , 0.333, 0.   , 0.   ]), array([0.   , 0.   , 0.333, 1.   ]))
    """
    return SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights).rocch


def roc(tar: ArrayLike, non: ArrayLike, *, tar_weights: Weights = None, non_weights: Weights = None) -> Roc:
    """The steppy ROC: error rates at every corner of the staircase.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger favours target. Infinite scores are legal.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    Roc
        ``p_fa``, ``p_miss`` and ``threshold`` from accept-all (1, 0) to reject-all (0, 1). Points on the straight
        line between two corners are left out: neighbouring scores of one class make no corner.

    Raises
    ------
    InputError
        If a class is empty or holds NaN.

    Examples
    --------
    >>> curve = roc([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])
    >>> curve.threshold
    array([-1.,  1.,  2., inf])
    """
    return SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights).roc()
