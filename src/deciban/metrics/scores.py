"""Two-class scores: rank metrics, thresholds and their errors, misleading evidence; Gaussian scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logit, ndtr, ndtri

from deciban._validate import arrays as _validate
from deciban._validate.arrays import tell_of_two
from deciban.core import expected, proper
from deciban.core.expected import ErrorCounts, WeightedScores
from deciban.core.ranks import roc as ranks
from deciban.core.ranks.counts import CountTable, SortedClass, UnsortedClass, corners, counted
from deciban.errors import InputError
from deciban.types import CountArray, FloatArray, FloatPair, ScoreArray, Weights


class CountedScores:
    """The scores of targets and non-targets in any order, for one computation with few thresholds.

    Its subclass `deciban.metrics.SortedScores` is for any number of computations.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger scores favour targets. May be infinite.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Raises
    ------
    InputError
        If a class is empty or contains NaN or non-real values, or if weights do not match.

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
        """Return misses and false alarms at any thresholds; a score equal to a threshold is accepted."""
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
        """Return the actual detection cost at one or many priors; see `deciban.metrics.act_dcf`."""
        log_odds = _validate.prior_log_odds(p_target, prior_log_odds)
        c_miss, c_fa = _validate.costs(c_miss, c_fa)
        errors = self.error_counts(-ranks.effective_log_odds(log_odds, c_miss, c_fa))
        cost = ranks.detection_cost(errors.p_miss, errors.p_fa, log_odds, c_miss, c_fa, normalize=normalize)
        return cost if log_odds.ndim else float(cost)


@dataclass(frozen=True, slots=True)
class Roc:
    """The steppy ROC, from accept-all ``(p_fa, p_miss) = (1, 0)`` to reject-all ``(0, 1)``.

    Attributes
    ----------
    p_fa, p_miss : (n_corners,) float64 arrays
        Error rates at every corner of the staircase, fractions.
    threshold : (n_corners,) float64 array
        Lowest accepted score at each corner; the last, ``inf``, rejects all trials, even with infinite scores.
    """

    p_fa: FloatArray
    p_miss: FloatArray
    threshold: FloatArray


class SortedScores(CountedScores):
    """The scores of targets and non-targets in ascending order, for any number of computations.

    Use it to compute several metrics of the same scores: each function in `deciban.metrics` sorts the scores, but this
    object sorts them only once. It stores one copy of the scores, 4 or 8 bytes per trial.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger scores favour targets. May be infinite.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Raises
    ------
    InputError
        If a class is empty or contains NaN or non-real values, or if weights do not match.

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
        self.tar, self.non = SortedClass.of_both(*checked(tar, non, tar_weights, non_weights))

    @classmethod
    def of_sorted(cls, tar: SortedClass, non: SortedClass, *, table: CountTable | None = None) -> SortedScores:
        """Create from sorted classes, optionally with their count table."""
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
    def pav(self) -> ranks.Pav:
        """PAV blocks; see `deciban.metrics.pav`."""
        return ranks.Pav.of(self.table)

    @cached_property
    def rocch(self) -> ranks.Rocch:
        """Convex hull of the ROC; see `deciban.metrics.rocch`."""
        return ranks.Rocch.of(self.pav)

    @property
    def trials(self) -> ScoredTrials:
        """The scores as log-likelihood ratios."""
        return ScoredTrials((self.tar.scores, self.tar.weights), (self.non.scores, self.non.weights))

    @property
    def recalibrated(self) -> ScoredTrials:
        """The scores after the best monotone recalibration, which minimizes every proper scoring rule."""
        tar, n_tar, non, n_non = self.pav.as_trials()
        return ScoredTrials((tar, n_tar), (non, n_non))

    def cllr(self) -> float:
        """Return Cllr of the scores as log-likelihood ratios, in bits; see `deciban.metrics.cllr`."""
        return self.trials.cllr()

    def min_cllr(self) -> float:
        """Return Cllr after the best monotone recalibration; see `deciban.metrics.min_cllr`."""
        return self.recalibrated.cllr()

    def roc(self) -> Roc:
        """Return the steppy ROC; see `deciban.metrics.roc`."""
        n_fa, n_miss = corners(self.table.n_tar, self.table.n_non)
        return Roc(n_fa / n_fa[0], n_miss / n_miss[-1], np.append(self.table.corner_scores(), np.inf))


def checked(
    tar: ArrayLike, non: ArrayLike, tar_weights: Weights, non_weights: Weights
) -> tuple[WeightedScores, WeightedScores]:
    """Return checked scores and weights of both classes.

    Raises
    ------
    InputError
        If scores or weights are invalid.
    """
    tar, non = _validate.pair(tar, non)
    return (
        (tar, _validate.weights(tar_weights, len(tar), "tar_weights")),
        (non, _validate.weights(non_weights, len(non), "non_weights")),
    )


@dataclass(frozen=True, slots=True)
class ScoredTrials:
    """Checked log-likelihood ratios of both classes with optional weights, in any order."""

    tar: expected.WeightedScores
    non: expected.WeightedScores

    @classmethod
    def of(cls, tar: ArrayLike, non: ArrayLike, tar_weights: Weights, non_weights: Weights) -> ScoredTrials:
        """Check the arguments of a metric, with a warning if they look like probabilities."""
        trials = cls(*(_positive(*one) for one in checked(tar, non, tar_weights, non_weights)))
        tell_of_two(tar, non)
        return trials

    def cllr(self) -> float:
        """Return Cllr; see `deciban.metrics.cllr`."""
        return expected.cross_entropy(self.tar, self.non, 0.0) / math.log(2)

    def cross_entropy(
        self, *, p_target: ArrayLike | None = None, prior_log_odds: ArrayLike | None = None, normalize: bool = False
    ) -> float | FloatArray:
        """Return the cross-entropy; see `deciban.metrics.cross_entropy`."""
        cost = expected.normalized_cross_entropy if normalize else expected.cross_entropy
        log_odds = _validate.prior_log_odds(p_target, prior_log_odds)
        return at_each(log_odds, lambda x: cost(self.tar, self.non, x))

    def scoring_rule_cost(
        self, alpha: float, beta: float, *, p_target: ArrayLike | None = None, prior_log_odds: ArrayLike | None = None
    ) -> float | FloatArray:
        """Return the expected cost by a beta-family rule; see `deciban.metrics.scoring_rule_cost`."""
        alpha, beta = _validate.rule(alpha, beta)
        log_odds = _validate.prior_log_odds(p_target, prior_log_odds)
        return at_each(log_odds, lambda x: proper.scoring_rule_cost(self.tar, self.non, x, alpha, beta))


def _positive(scores: ScoreArray, weights: CountArray | None) -> expected.WeightedScores:
    """Drop trials of weight 0, so that 0 times an infinite cost does not occur."""
    return (scores, weights) if weights is None or weights.all() else (scores[weights > 0], weights[weights > 0])


def at_each(log_odds: FloatArray, cost: Callable[[float], float]) -> float | FloatArray:
    """Return the cost at each prior: a number for one prior, an array of the same shape for several."""
    if log_odds.ndim == 0:
        return cost(float(log_odds))
    return np.array([cost(x) for x in log_odds.ravel().tolist()]).reshape(log_odds.shape)


def eer(tar: ArrayLike, non: ArrayLike, *, tar_weights: Weights = None, non_weights: Weights = None) -> float:
    """Return the equal error rate on the convex hull of the ROC, a fraction (BOSARIS paper eq. 26).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger scores favour targets. May be infinite.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float
        The error rate where miss and false-alarm rate are equal, in [0, 0.5]: the maximum over all priors of the
        minimum Bayes error. Multiply by 100 for percent.

    Raises
    ------
    InputError
        If a class is empty or contains NaN.

    Notes
    -----
    Other tools interpolate the steppy ROC or use the nearest threshold and get other numbers, often larger, from the
    same scores. The hull needs no such convention, and neither ties nor the order of the trials matter. On the hull, no
    system is worse than chance: if ``auc`` is below 0.5, the sign of the scores is probably wrong.

    Examples
    --------
    >>> eer([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])
    0.16666666666666666
    """
    return SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights).rocch.eer()


def uer(
    tar: ArrayLike, non: ArrayLike, *, ratio: float, tar_weights: Weights = None, non_weights: Weights = None
) -> float:
    """Return the unequal error rate: the false-alarm rate that is ``ratio`` times the miss rate (BOSARIS paper eq. 28).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger scores favour targets. May be infinite.
    ratio : float
        ``P_fa / P_miss`` at the requested point of the convex hull, positive.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float
        ``P_fa`` at this point, a fraction; with ``ratio=1`` the equal error rate.

    Raises
    ------
    InputError
        If a class is empty or contains NaN, or ``ratio`` is not positive.

    Examples
    --------
    >>> round(uer([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], ratio=0.5), 4)
    0.1111
    """
    return SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights).rocch.uer(ratio)


def prbep(tar: ArrayLike, non: ArrayLike, *, tar_weights: Weights = None, non_weights: Weights = None) -> float:
    """Return the precision-recall break-even point: the number of misses where it equals the number of false alarms.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger scores favour targets. May be infinite.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float
        A count, interpolated on the convex hull and not rounded (BOSARIS paper eq. 29).

    Raises
    ------
    InputError
        If a class is empty or contains NaN.

    Examples
    --------
    >>> prbep([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])
    0.5
    """
    return SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights).rocch.prbep()


def auc(tar: ArrayLike, non: ArrayLike, *, tar_weights: Weights = None, non_weights: Weights = None) -> float:
    """Return the probability that a target scores above a non-target; ties count half (the ML convention).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger scores favour targets. May be infinite.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float
        ``P(tar > non) + P(tar = non) / 2``: 1 is perfect, 0.5 is chance. It equals ``1 - roc_error_area``.

    Raises
    ------
    InputError
        If a class is empty or contains NaN.

    Examples
    --------
    >>> round(auc([1.0, 2.0, 2.0], [0.0, 1.0, -1.0]), 4)
    0.9444
    """
    return SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights).table.auc()


def roc_error_area(
    tar: ArrayLike, non: ArrayLike, *, tar_weights: Weights = None, non_weights: Weights = None
) -> float:
    """Return the area under the ROC as miss rate over false-alarm rate (the convention of the thesis).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger scores favour targets. May be infinite.
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
        If a class is empty or contains NaN.

    Examples
    --------
    >>> round(roc_error_area([1.0, 2.0, 2.0], [0.0, 1.0, -1.0]), 4)
    0.0556
    """
    return SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights).table.error_area()


def pav(tar: ArrayLike, non: ArrayLike, *, tar_weights: Weights = None, non_weights: Weights = None) -> ranks.Pav:
    """Pool adjacent violators: return the best monotone recalibration of these scores (thesis appendix C).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger scores favour targets. May be infinite.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    Pav
        ``n_tar``, ``n_non``, ``low``, ``high``, ``llr``, one entry per block, ascending. The llrs are optimal for every
        proper scoring rule and every prior.

    Raises
    ------
    InputError
        If a class is empty or contains NaN.

    Examples
    --------
    >>> blocks = pav([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])
    >>> blocks.n_tar, blocks.n_non
    (array([0, 1, 2]), array([2, 1, 0]))
    >>> blocks.llr
    array([-inf,   0.,  inf])
    """
    return SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights).pav


def dev_pav(tar: ArrayLike, non: ArrayLike, *, tar_weights: Weights = None, non_weights: Weights = None) -> float:
    """Return devPAV: the mean distance between log10 LRs and their values after PAV (Vergeer et al., 2021).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Log-likelihood ratios in nats.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float
        In decades: the area between the PAV curve, with straight lines between its points, and the line of
        calibrated LRs, divided by the range of LRs with a finite value after PAV. NaN without finite values, inf for an
        infinite llr with a finite value.

    Raises
    ------
    InputError
        If a class is empty or contains NaN.

    Examples
    --------
    >>> round(dev_pav([1.0, 3.0, 0.0], [0.0, -1.0, 2.0]), 3)
    0.434
    """
    return pav(tar, non, tar_weights=tar_weights, non_weights=non_weights).deviation


def rocch(tar: ArrayLike, non: ArrayLike, *, tar_weights: Weights = None, non_weights: Weights = None) -> ranks.Rocch:
    """Return the convex hull of the ROC (BOSARIS paper section 2.6, thesis appendix C).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger scores favour targets. May be infinite.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    Rocch
        ``p_fa`` and ``p_miss`` at the vertices from accept-all (1, 0) to reject-all (0, 1), and methods ``area``,
        ``eer()``, ``uer(ratio)``, ``prbep()``, ``min_dcf(...)``.

    Raises
    ------
    InputError
        If a class is empty or contains NaN.

    Examples
    --------
    >>> hull = rocch([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])
    >>> hull.p_fa.round(3), hull.p_miss.round(3)
    (array([1.   , 0.333, 0.   , 0.   ]), array([0.   , 0.   , 0.333, 1.   ]))
    """
    return SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights).rocch


def roc(tar: ArrayLike, non: ArrayLike, *, tar_weights: Weights = None, non_weights: Weights = None) -> Roc:
    """Return the steppy ROC: error rates at every corner of the staircase.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger scores favour targets. May be infinite.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    Roc
        ``p_fa``, ``p_miss`` and ``threshold`` from accept-all (1, 0) to reject-all (0, 1). Points on a straight line
        between two corners are omitted: neighbouring scores of one class make no corner.

    Raises
    ------
    InputError
        If a class is empty or contains NaN.

    Examples
    --------
    >>> curve = roc([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])
    >>> curve.threshold
    array([-1.,  1.,  2., inf])
    """
    return SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights).roc()


def eer_threshold(tar: ArrayLike, non: ArrayLike, *, tar_weights: Weights = None, non_weights: Weights = None) -> float:
    """Return a threshold for the equal error rate on the convex hull of the ROC (BOSARIS paper section 2.6).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger scores favour targets. May be infinite.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float
        The lowest accepted score, in the unit of the scores, or the largest finite number if this is infinite; ``inf``
        if all trials are rejected, even with infinite scores.

    Raises
    ------
    InputError
        If a class is empty or contains NaN.

    Notes
    -----
    `eer` is usually on an edge of the hull, between two vertices: no single threshold has this rate for both errors. At
    the prior with the highest minimum Bayes error, both vertices have this minimum, which equals the EER (BOSARIS paper
    eq. 26). Of these two vertices, the one with the smaller difference of error rates is used; in a tie, the one that
    accepts more. So ``p P_miss + (1 - p) P_fa`` at this threshold and this prior is ``eer``.

    Examples
    --------
    >>> eer_threshold([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])
    1.0
    """
    scores = SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights)
    return float(scores.pav.thresholds[scores.rocch.eer_vertex()])


def min_dcf_threshold(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    p_target: ArrayLike | None = None,
    prior_log_odds: ArrayLike | None = None,
    c_miss: float = 1.0,
    c_fa: float = 1.0,
    tar_weights: Weights = None,
    non_weights: Weights = None,
) -> float | FloatArray:
    """Return the threshold with the minimum detection cost (BOSARIS paper eqs. 15 and 25).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger scores favour targets. May be infinite.
    p_target, prior_log_odds : float or array_like
        The prior, as a probability inside (0, 1) or as finite log odds in nats: exactly one of them.
    c_miss, c_fa : float
        Costs of the two errors, at least 0 and not both 0.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float, or array of the shape of the prior
        The lowest accepted score, in the unit of the scores, or the largest finite number if this is infinite; ``inf``
        if rejecting all trials, even with infinite scores, has the least cost. In a tie, the threshold that accepts
        more.

    Raises
    ------
    InputError
        If a class is empty or contains NaN, not exactly one prior is passed, or a prior or cost is out of range.

    Notes
    -----
    The optimum is an interval: all thresholds above the highest rejected score, up to the lowest accepted one, give the
    same decisions. The result is its upper end, because this is a score itself: no rounding can move a trial, and the
    errors are exactly those of `min_dcf`.

    Examples
    --------
    >>> min_dcf_threshold([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], p_target=[0.5, 0.1, 1e-6])
    array([1., 2., 2.])
    >>> min_dcf_threshold([1.0, 2.0], [0.0, 2.0], p_target=0.1)
    inf
    """
    log_odds = _validate.prior_log_odds(p_target, prior_log_odds)
    effective = ranks.effective_log_odds(log_odds, *_validate.costs(c_miss, c_fa))
    scores = SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights)
    thresholds = scores.pav.thresholds[scores.rocch.best_vertices(effective)]
    return thresholds if log_odds.ndim else float(thresholds)


def hter(
    tar: ArrayLike, non: ArrayLike, *, threshold: float, tar_weights: Weights = None, non_weights: Weights = None
) -> float:
    """Return the half total error rate: the mean of miss and false-alarm rate at a threshold from other trials.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger scores favour targets. May be infinite.
    threshold : float
        In the unit of the scores; a score equal to it is accepted, except that ``inf`` rejects all.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float
        ``(P_miss + P_fa) / 2``, a fraction.

    Raises
    ------
    InputError
        If a class is empty or contains NaN, or the threshold is not a number.

    Notes
    -----
    Choose the threshold on other trials, such as a development set: ``hter(*test, threshold=eer_threshold(*dev))``
    (Bengio, Keller and Mariethoz, "The Expected Performance Curve", ROC Analysis in Machine Learning, 2004). If
    rejecting all is best on the development set, the threshold is ``inf`` and the HTER is 0.5.

    Examples
    --------
    >>> hter([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], threshold=1.0)
    0.16666666666666666
    """
    place = _validate.threshold(threshold)
    scores = CountedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights)
    return ranks.ErrorsAt.of(scores.tar, scores.non, place).hter


def fnmr_at_fmr(
    tar: ArrayLike, non: ArrayLike, *, fmr: ArrayLike, tar_weights: Weights = None, non_weights: Weights = None
) -> float | FloatArray:
    """Return the lowest false non-match rate at a limit of the false match rate (ISO/IEC 19795-1).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of mated and non-mated comparisons; larger scores favour a match. May be infinite.
    fmr : float or array_like
        Limits of the false match rate, fractions in [0, 1].
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float, or array of the shape of ``fmr``
        The smallest ``P_miss`` of all thresholds with ``P_fa <= fmr``, a fraction.

    Raises
    ------
    InputError
        If a class is empty or contains NaN, or a rate is outside [0, 1].

    Notes
    -----
    There is no interpolation: a threshold with these errors exists, and equal scores are not split. A limit below one
    false alarm among all non-mated comparisons means no false alarms.

    Examples
    --------
    >>> fnmr_at_fmr([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], fmr=[0.0, 0.3, 0.4]).round(3)
    array([0.333, 0.333, 0.   ])
    """
    limits = rates_of(fmr, "fmr")
    return _least_rates(SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights), limits, "fa")


def fmr_at_fnmr(
    tar: ArrayLike, non: ArrayLike, *, fnmr: ArrayLike, tar_weights: Weights = None, non_weights: Weights = None
) -> float | FloatArray:
    """Return the lowest false match rate at a limit of the false non-match rate (ISO/IEC 19795-1).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of mated and non-mated comparisons; larger scores favour a match. May be infinite.
    fnmr : float or array_like
        Limits of the false non-match rate, fractions in [0, 1].
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float, or array of the shape of ``fnmr``
        The smallest ``P_fa`` of all thresholds with ``P_miss <= fnmr``, a fraction, without interpolation.

    Raises
    ------
    InputError
        If a class is empty or contains NaN, or a rate is outside [0, 1].

    Examples
    --------
    >>> round(fmr_at_fnmr([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], fnmr=0.1), 3)
    0.333
    """
    limits = rates_of(fnmr, "fnmr")
    return _least_rates(SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights), limits, "miss")


def _least_rates(scores: SortedScores, limits: FloatArray, which: ranks.ErrorKind) -> float | FloatArray:
    """Return the least rates of the errors without limit, in the shape of the limits."""
    errors = ranks.limited(scores.table, limits.ravel().tolist(), which)
    result = np.array([one.p_miss if which == "fa" else one.p_fa for one in errors]).reshape(limits.shape)
    return result if limits.ndim else float(result)


@dataclass(frozen=True, slots=True)
class EerConvention:
    """Definition of an equal error rate.

    Attributes
    ----------
    definition : str
        Definition in words.
    tools : str
        Programs that use it.
    """

    definition: str
    tools: str


EER_CONVENTIONS: Mapping[str, EerConvention] = {
    "rocch": EerConvention(
        "misses = false alarms on the convex hull of the ROC", "deciban, BOSARIS, eer_rocch of bob.measure, ROC (R)"
    ),
    "interpolated": EerConvention(
        "misses = false alarms on straight lines between the points of the ROC", "scikit-learn roc_curve with brentq"
    ),
    "closest_mean": EerConvention(
        "mean of both rates at their smallest difference", "SpeechBrain, ASVspoof 2019 and 5, torchmetrics"
    ),
    "closest_max": EerConvention("the larger rate at their smallest difference", "voxceleb_trainer"),
    "closest_p_fa": EerConvention(
        "false-alarm rate at the smallest difference of both", "scikit-learn roc_curve with nanargmin"
    ),
    "crossed_p_miss": EerConvention(
        "miss rate at the first threshold where it is not below the false-alarm rate", "Kaldi compute-eer"
    ),
}
"""Conventions of the equal error rate, by name in `eer_conventions`."""


def eer_conventions(
    tar: ArrayLike, non: ArrayLike, *, tar_weights: Weights = None, non_weights: Weights = None
) -> dict[str, float]:
    """Return equal error rates of the same scores by the conventions of deciban and other tools.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger scores favour targets. May be infinite.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    dict
        Fractions by name. Consider all scores and reject-all as thresholds. Let ``a`` be the last threshold with a
        lower miss rate than false-alarm rate, ``b`` the next one, and ``c`` the one of both with the smaller difference
        of the rates (in a tie ``a``):

        - ``rocch``: `eer`, on the convex hull; never larger than ``interpolated``.
        - ``interpolated``: on the straight line from ``a`` to ``b``.
        - ``closest_mean``, ``closest_max``, ``closest_p_fa``: the mean of both rates at ``c``, the larger rate, and the
          false-alarm rate.
        - ``crossed_p_miss``: the miss rate at ``b``.

        `EER_CONVENTIONS` lists the tools that use each convention.

    Raises
    ------
    InputError
        If a class is empty or contains NaN.

    Notes
    -----
    Tools with the same convention still differ for tied scores: Equal scores are never split. Kaldi's compute-eer
    counts tied targets one by one, and ASVspoof's scripts sort tied trials by class. Without ties they agree with
    ``crossed_p_miss`` and ``closest_mean``. If ``a`` and ``b`` are equally close, programs that go through thresholds
    from above use ``b``.

    Examples
    --------
    >>> found = eer_conventions([1.0, 2.0, 2.5, 3.0], [0.0, 1.5, 2.2, -1.0, 0.5])
    >>> {name: round(rate, 3) for name, rate in found.items()}  # doctest: +NORMALIZE_WHITESPACE
    {'rocch': 0.222, 'interpolated': 0.25, 'closest_mean': 0.225, 'closest_max': 0.25, 'closest_p_fa': 0.2,
     'crossed_p_miss': 0.25}
    """
    scores = SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights)
    return ranks.eer_readings(scores.rocch.eer(), scores.tar, scores.non)


def conventions_of(request: bool | str | Iterable[str]) -> tuple[str, ...]:  # noqa: FBT001  # an option
    """Return the names of conventions of the EER, all if True.

    Raises
    ------
    InputError
        If there is no such convention.
    """
    every = tuple(EER_CONVENTIONS if request else ())
    names = (request,) if isinstance(request, str) else tuple(request) if isinstance(request, Iterable) else every
    for name in names:
        if name not in EER_CONVENTIONS:
            raise InputError(f"eer_conventions: got {name!r}. There are {', '.join(EER_CONVENTIONS)}.")
    return names


def rates_of(values: ArrayLike, name: str) -> FloatArray:
    """Return rates as a float64 array of any shape.

    Raises
    ------
    InputError
        If one is outside [0, 1].
    """
    rates = _validate.finite(values, name)
    wrong = rates[(rates < 0.0) | (rates > 1.0)]
    if len(wrong):
        raise InputError(f"{name}: got {wrong[0]:g}. A rate is a fraction in [0, 1]; 0.1 % is 0.001.")
    return rates


FACTORS = (1.0, 10.0, 100.0, 1000.0)
"""Default factors for counting misleading evidence: any, and three degrees of strength."""


@dataclass(frozen=True, slots=True)
class MisleadingEvidence:
    """Trials whose likelihood ratio favours the wrong hypothesis by more than a factor.

    Attributes
    ----------
    factor : float
        1 for any misleading evidence.
    n_tar, n_non : int or float
        Targets with a ratio below ``1 / factor``, and non-targets with a ratio above ``factor`` (sums of weights if
        trials are weighted).
    p_tar, p_non : float
        The same as fractions of the class.
    """

    factor: float
    n_tar: int | float
    n_non: int | float
    p_tar: float
    p_non: float


def misleading_evidence(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    factors: ArrayLike = FACTORS,
    tar_weights: Weights = None,
    non_weights: Weights = None,
) -> tuple[MisleadingEvidence, ...]:
    """Return rates of misleading evidence: likelihood ratios that favour the wrong hypothesis by more than a factor.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Log-likelihood ratios of target and non-target trials, in nats; may be infinite.
    factors : array_like
        Likelihood ratios, at least 1: evidence is misleading if it exceeds them for the wrong hypothesis.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    tuple of MisleadingEvidence
        For each factor ``k``: ``P(llr < -ln k)`` of targets and ``P(llr > ln k)`` of non-targets, with counts. A ratio
        of exactly ``k`` or ``1 / k`` is not beyond the factor; llr 0 favours neither hypothesis.

    Raises
    ------
    InputError
        If a class is empty or contains NaN, or a factor is below 1.

    Warns
    -----
    DecibanWarning
        If at least 10 scores are all in [0, 1]: they are probably probabilities instead of log-likelihood ratios; use
        `deciban.decisions.llr_from_probability` to convert them.

    Notes
    -----
    For true likelihood ratios, ``P(llr > ln k) <= 1 / k`` among non-targets, and similarly among targets (Royall,
    *Statistical Evidence: A Likelihood Paradigm*, 1997, section 1.4; "On the probability of observing misleading
    statistical evidence", JASA 95, 2000): higher rates indicate bad calibration.

    Examples
    --------
    >>> found = misleading_evidence([3.0, 0.0, -0.5, 4.0], [-2.0, 2.5, -1.0, 0.1])
    >>> [(one.factor, one.n_tar, one.n_non) for one in found[:3]]
    [(1.0, 1, 2), (10.0, 0, 1), (100.0, 0, 0)]
    """
    scores = CountedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights)
    tell_of_two(tar, non)
    return misleading_of(scores, factors_of(factors))


def misleading_of(scores: CountedScores, factors: FloatArray) -> tuple[MisleadingEvidence, ...]:
    """Count misleading evidence in checked scores; see `misleading_evidence`."""
    bounds = ranks.evidence_bounds(factors)
    errors = scores.error_counts(np.concatenate((-bounds, ranks.beyond(bounds))))
    n = len(bounds)
    columns = (factors, errors.n_miss[:n], errors.n_fa[n:], errors.p_miss[:n], errors.p_fa[n:])
    return tuple(MisleadingEvidence(*row) for row in zip(*(one.tolist() for one in columns), strict=True))


def factors_of(values: ArrayLike) -> FloatArray:
    """Return factors of evidence as an array.

    Raises
    ------
    InputError
        If there are no factors, or one is below 1.
    """
    factors = np.atleast_1d(_validate.finite(values, "factors"))
    if factors.ndim != 1 or not len(factors):
        raise InputError(f"factors: shape {factors.shape}. Pass one likelihood ratio, or a list.")
    if factors.min() < 1.0:
        raise InputError(f"factors: got {factors.min():g}. A factor is a likelihood ratio of at least 1.")
    return factors


_WIDEST = 12.0
"""Range of integrals in standard deviations, on either side."""


_FALLEN = 90.0
"""Range of integrals in nats of llr: there, costs have fallen by e^45."""


@dataclass(frozen=True, slots=True)
class GaussianScores:
    """Gaussian populations of target and non-target scores with known metrics and a common standard deviation.

    Parameters
    ----------
    mean_tar, mean_non : float
        Mean target and non-target scores; the former is larger.
    sd : float
        Standard deviation of both, above 0.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    Log-likelihood ratios are a linear function of the score (thesis 7.1). So metrics after calibration are those of
    ``llr(score)``, which is also Gaussian, with means ``+- d^2 / 2`` and variance ``d^2``. With different variances,
    the ratio would not increase everywhere, and thresholds on scores would not be optimal.

    Examples
    --------
    >>> scores = GaussianScores(2.0, 0.0)
    >>> round(scores.eer(), 4), round(scores.min_cllr(), 4), scores.llr([1.0, 2.0]).tolist()
    (0.1587, 0.5141, [0.0, 2.0])
    """

    mean_tar: float
    mean_non: float
    sd: float = 1.0

    def __post_init__(self) -> None:
        numbers = _validate.finite([self.mean_tar, self.mean_non, self.sd], "mean_tar, mean_non, sd")
        if numbers[0] <= numbers[1] or numbers[2] <= 0:
            raise InputError(
                f"mean_tar, mean_non, sd: {numbers.tolist()}. mean_tar must be above mean_non, and sd above 0."
            )

    @classmethod
    def of_eer(cls, eer: float) -> GaussianScores:
        """Return calibrated log-likelihood ratios with an equal error rate inside (0, 0.5).

        Raises
        ------
        InputError
            If ``eer`` is out of range.

        Examples
        --------
        >>> round(GaussianScores.of_eer(0.05).separation, 3)
        3.29
        """
        if not 0.0 < eer < 0.5:
            raise InputError(f"eer: {eer}. It must be inside (0, 0.5).")
        d = -2.0 * float(ndtri(eer))
        return cls(d * d / 2, -d * d / 2, d)

    @property
    def separation(self) -> float:
        """Distance of the means in standard deviations, ``d'``."""
        return (self.mean_tar - self.mean_non) / self.sd

    def llr(self, score: ArrayLike) -> FloatArray:
        """Return the log-likelihood ratios of scores in nats (thesis 7.1).

        Raises
        ------
        InputError
            If there is NaN.
        """
        scores = _validate.scores(np.atleast_1d(score), "score").astype(np.float64)
        return (scores - (self.mean_tar + self.mean_non) / 2) * (self.mean_tar - self.mean_non) / self.sd**2

    def p_miss(self, threshold: ArrayLike) -> FloatArray:
        """Return miss rates at thresholds on the score (thesis 7.2)."""
        return np.asarray(ndtr((np.asarray(threshold, np.float64) - self.mean_tar) / self.sd))

    def p_fa(self, threshold: ArrayLike) -> FloatArray:
        """Return false-alarm rates at thresholds on the score (thesis 7.3)."""
        return np.asarray(ndtr((self.mean_non - np.asarray(threshold, np.float64)) / self.sd))

    def best_threshold(self, p_target: float, c_miss: float = 1.0, c_fa: float = 1.0) -> float:
        """Return the threshold on the score with the least expected cost (thesis 7.5).

        Raises
        ------
        InputError
            If the operating point is out of range.
        """
        point = ranks.OperatingPoint(p_target, c_miss, c_fa)
        middle = (self.mean_tar + self.mean_non) / 2
        return middle + point.threshold * self.sd**2 / (self.mean_tar - self.mean_non)

    def min_dcf(self, p_target: float, c_miss: float = 1.0, c_fa: float = 1.0, *, normalize: bool = True) -> float:
        """Return the minimum detection cost over all thresholds (thesis 7.6).

        Raises
        ------
        InputError
            If the operating point is out of range, or ``normalize`` is True and a cost is 0.

        Examples
        --------
        >>> round(GaussianScores(2.0, 0.0).min_dcf(0.5, normalize=False), 4)
        0.1587
        """
        threshold, log_odds = self.best_threshold(p_target, c_miss, c_fa), np.asarray(logit(p_target))
        rates = self.p_miss(threshold), self.p_fa(threshold)
        return float(ranks.detection_cost(*rates, log_odds, c_miss, c_fa, normalize=normalize))

    def eer(self) -> float:
        """Return the equal error rate, ``Phi(-d' / 2)``."""
        return float(ndtr(-self.separation / 2))

    def auc(self) -> float:
        """Return the probability that a target scores above a non-target, ``Phi(d' / sqrt 2)``."""
        return float(ndtr(self.separation / math.sqrt(2)))

    def min_cllr(self) -> float:
        """Return the Cllr of calibrated log-likelihood ratios, in bits, integrated to a relative precision of 1e-10."""
        from scipy.integrate import quad  # rarely needed

        d = self.separation

        def cost(u: float) -> float:
            # From where both densities are equal, up by u standard deviations of the targets: the cost relative to its
            # size there.
            half = math.exp(-abs(d * u) / 2)
            far = math.log1p(half * half)
            return (far / half if u > 0.0 else (far - d * u) * half) * math.exp(-u * u / 2)

        reach = min(_WIDEST, _FALLEN / d)
        result = quad(cost, -reach, reach, epsabs=0.0, epsrel=1e-12, limit=200, points=[0.0])[0]
        return float(result) * math.exp(-d * d / 8) / math.sqrt(2 * math.pi) / math.log(2)

    def draw(self, n_tar: int, n_non: int, *, seed: int) -> FloatPair:
        """Draw target and non-target scores.

        Parameters
        ----------
        n_tar, n_non : int
        seed : int

        Returns
        -------
        (n_tar,) and (n_non,) arrays
        """
        rng = np.random.default_rng(seed)
        return rng.normal(self.mean_tar, self.sd, n_tar), rng.normal(self.mean_non, self.sd, n_non)
