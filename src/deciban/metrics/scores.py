"""Two classes of scores: sorted for any number of questions, counted for a few, or taken as soft decisions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.core.ranks.counts import CountTable, SortedClass, corners
from deciban.core.ranks.hull import Pav, Rocch
from deciban.core.ranks.operating import detection_cost, effective_log_odds
from deciban.core.ranks.thresholds import UnsortedClass, counted
from deciban.core.rules import expected
from deciban.core.rules.expected import ErrorCounts, WeightedScores
from deciban.types import CountArray, FloatArray, ScoreArray, Weights


class CountedScores:
    """The scores of targets and non-targets in any order, for one question about few thresholds.

    Its subclass `deciban.metrics.SortedScores` answers any number of questions.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger favours target. Infinite scores are legal.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Raises
    ------
    InputError
        If a class is empty, or holds NaN or anything that is not a real number, or if weights do not fit.

    Examples
    --------
    >>> CountedScores([1.0, 2.0, 2.0], [0.0, 1.0, -1.0]).act_dcf(p_target=0.5)
    0.6666666666666666
    """

    tar: SortedClass | UnsortedClass
    non: SortedClass | UnsortedClass

    def __init__(
        self, tar: ArrayLike, non: ArrayLike, *, tar_weights: Weights = None, non_weights: Weights = None
    ) -> None:
        self.tar, self.non = (counted(*one) for one in checked(tar, non, tar_weights, non_weights))

    def error_counts(self, thresholds: FloatArray) -> ErrorCounts:
        """Misses and false alarms at any thresholds; a score equal to a threshold is accepted."""
        return ErrorCounts.of(self.tar, self.non, np.asarray(thresholds, dtype=np.float64))

    def act_dcf(
        self,
        *,
        p_target: ArrayLike | None = None,
        prior_log_odds: ArrayLike | None = None,
        c_miss: float = 1.0,
        c_fa: float = 1.0,
        normalize: bool = True,
    ) -> float | FloatArray:
        """Actual detection cost at one or many priors; see `deciban.metrics.act_dcf`."""
        log_odds = _validate.prior_log_odds(p_target, prior_log_odds)
        c_miss, c_fa = _validate.costs(c_miss, c_fa)
        errors = self.error_counts(-effective_log_odds(log_odds, c_miss, c_fa))
        cost = detection_cost(errors.p_miss, errors.p_fa, log_odds, c_miss, c_fa, normalize=normalize)
        return cost if log_odds.ndim else float(cost)


@dataclass(frozen=True, slots=True)
class Roc:
    """The steppy ROC, from accept-all ``(p_fa, p_miss) = (1, 0)`` to reject-all ``(0, 1)``.

    Attributes
    ----------
    p_fa, p_miss : (n_corners,) float64 arrays
        Error rates at every corner of the staircase, as fractions.
    threshold : (n_corners,) float64 array
        The score at and above which trials are accepted there; the last, ``inf``, stands for rejecting all, trials
        with infinite scores too.
    """

    p_fa: FloatArray
    p_miss: FloatArray
    threshold: FloatArray


class SortedScores(CountedScores):
    """The scores of targets and non-targets in ascending order, ready for any number of questions.

    Use it where one needs several figures of the same scores: each of the functions in `deciban.metrics` sorts,
    this object has sorted already. It keeps one copy of the scores, 4 or 8 bytes per trial.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger favours target. Infinite scores are legal.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Raises
    ------
    InputError
        If a class is empty, or holds NaN or anything that is not a real number, or if weights do not fit.

    Examples
    --------
    >>> scores = SortedScores([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])
    >>> scores.rocch.eer()
    0.16666666666666666
    """

    tar: SortedClass
    non: SortedClass

    def __init__(
        self, tar: ArrayLike, non: ArrayLike, *, tar_weights: Weights = None, non_weights: Weights = None
    ) -> None:
        self.tar, self.non = (SortedClass.of(*one) for one in checked(tar, non, tar_weights, non_weights))

    @classmethod
    def of_sorted(cls, tar: SortedClass, non: SortedClass, *, table: CountTable | None = None) -> SortedScores:
        """From classes that are sorted already, and perhaps counted."""
        scores = cls.__new__(cls)
        if tar.scores.dtype != non.scores.dtype:
            tar, non = (replace(one, scores=one.scores.astype(np.float64, copy=False)) for one in (tar, non))
        scores.tar, scores.non = tar, non
        if table is not None:
            scores.__dict__["table"] = table
        return scores

    @cached_property
    def table(self) -> CountTable:
        """Counts of both classes in ascending order of score."""
        return CountTable.of(self.tar, self.non)

    @cached_property
    def pav(self) -> Pav:
        """PAV blocks; see `deciban.metrics.pav`."""
        return Pav.of(self.table)

    @cached_property
    def rocch(self) -> Rocch:
        """Convex hull of the ROC; see `deciban.metrics.rocch`."""
        return Rocch.of(self.pav)

    @property
    def trials(self) -> ScoredTrials:
        """The scores taken as log-likelihood ratios."""
        return ScoredTrials((self.tar.scores, self.tar.weights), (self.non.scores, self.non.weights))

    @property
    def recalibrated(self) -> ScoredTrials:
        """The scores after the best monotone recalibration: what is minimal for every proper scoring rule."""
        tar, n_tar, non, n_non = self.pav.as_trials()
        return ScoredTrials((tar, n_tar), (non, n_non))

    def cllr(self) -> float:
        """Cllr of the scores taken as log-likelihood ratios, in bits; see `deciban.metrics.cllr`."""
        return self.trials.cllr()

    def min_cllr(self) -> float:
        """What the best monotone recalibration leaves of it; see `deciban.metrics.min_cllr`."""
        return self.recalibrated.cllr()

    def roc(self) -> Roc:
        """Steppy ROC; see `deciban.metrics.roc`."""
        n_fa, n_miss = corners(self.table.n_tar, self.table.n_non)
        return Roc(n_fa / n_fa[0], n_miss / n_miss[-1], np.append(self.table.corner_scores(), np.inf))


def checked(
    tar: ArrayLike, non: ArrayLike, tar_weights: Weights, non_weights: Weights
) -> tuple[WeightedScores, WeightedScores]:
    """Scores and weights of both classes.

    Raises
    ------
    InputError
        If they are none.
    """
    tar, non = _validate.pair(tar, non)
    return (
        (tar, _validate.weights(tar_weights, len(tar), "tar_weights")),
        (non, _validate.weights(non_weights, len(non), "non_weights")),
    )


@dataclass(frozen=True, slots=True)
class ScoredTrials:
    """Checked log-likelihood ratios of both classes with optional weights; nothing depends on their order."""

    tar: expected.WeightedScores
    non: expected.WeightedScores

    @classmethod
    def of(cls, tar: ArrayLike, non: ArrayLike, tar_weights: Weights, non_weights: Weights) -> ScoredTrials:
        """Check the arguments of a metric."""
        return cls(*(_positive(*one) for one in checked(tar, non, tar_weights, non_weights)))

    def cllr(self) -> float:
        """See `deciban.metrics.cllr`."""
        return expected.cross_entropy(self.tar, self.non, 0.0) / math.log(2)

    def cross_entropy(
        self, *, p_target: ArrayLike | None = None, prior_log_odds: ArrayLike | None = None, normalize: bool = False
    ) -> float | FloatArray:
        """See `deciban.metrics.cross_entropy`."""
        cost = expected.normalized_cross_entropy if normalize else expected.cross_entropy
        log_odds = _validate.prior_log_odds(p_target, prior_log_odds)
        return at_each(log_odds, lambda x: cost(self.tar, self.non, x))

    def scoring_rule_cost(
        self, alpha: float, beta: float, *, p_target: ArrayLike | None = None, prior_log_odds: ArrayLike | None = None
    ) -> float | FloatArray:
        """See `deciban.metrics.scoring_rule_cost`."""
        alpha, beta = _validate.rule(alpha, beta)
        log_odds = _validate.prior_log_odds(p_target, prior_log_odds)
        return at_each(log_odds, lambda x: expected.scoring_rule_cost(self.tar, self.non, x, alpha, beta))


def _positive(scores: ScoreArray, weights: CountArray | None) -> expected.WeightedScores:
    """Leave out trials of weight 0: nothing of an infinite cost is nothing."""
    if weights is None or weights.all():
        return scores, weights
    return scores[weights > 0], weights[weights > 0]


def at_each(log_odds: FloatArray, cost: Callable[[float], float]) -> float | FloatArray:
    """A cost at each prior: a number for one, an array of the same shape for several."""
    if log_odds.ndim == 0:
        return cost(float(log_odds))
    return np.array([cost(x) for x in log_odds.ravel().tolist()]).reshape(log_odds.shape)


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
