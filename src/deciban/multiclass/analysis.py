"""Problems inside the problem: one class against the rest, and pairs of classes, with their PAV minima."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.core.by_value import ByValue
from deciban.core.ranks.operating import detection_cost
from deciban.errors import InputError
from deciban.multiclass.tables import Detectors, Pairs, ScoredClasses
from deciban.types import FloatArray, IntArray, Names, Priors, Weights


@dataclass(frozen=True, slots=True, eq=False)
class DetectionAnalysis(ByValue):
    """Each class against the rest: detection costs and Cllr as they are, and after the best monotone recalibration.

    Every array has one entry for each target; where costs were asked for at several priors, ``cost`` and ``min_cost``
    are curves, ``(n_targets, n_priors)``.

    Attributes
    ----------
    target : int array
        Positions of the targets: all classes that the prior holds possible.
    classes : tuple of str or None
        Names of the targets.
    p_target : float or array
        Prior of the target in the detection costs.
    cost, min_cost : arrays
        Detection cost at the Bayes threshold, and at the best one: fractions, not normalized. The mean of ``cost`` at
        a flat prior is `c_avg`.
    eer : array
        Equal error rate on the ROC convex hull, a fraction.
    cllr, min_cllr : arrays
        Cllr of the detection log-likelihood ratios in bits, and its minimum by PAV.
    """

    target: IntArray
    classes: tuple[str, ...] | None
    p_target: float | FloatArray
    cost: FloatArray
    min_cost: FloatArray
    eer: FloatArray
    cllr: FloatArray
    min_cllr: FloatArray

    def at(self, place: int) -> DetectionAnalysis:
        """Return the same with the costs at one of several priors, by its position."""
        p_target = float(np.atleast_1d(self.p_target)[place])
        return replace(self, p_target=p_target, cost=self.cost[:, place], min_cost=self.min_cost[:, place])

    @property
    def calibration_loss(self) -> FloatArray:
        """``cllr - min_cllr`` in bits, at least 0."""
        return np.maximum(self.cllr - self.min_cllr, 0.0)

    @property
    def mean_cost(self) -> float | FloatArray:
        """Mean of ``cost`` over the targets, at each prior."""
        return _mean(self.cost)

    @property
    def mean_min_cost(self) -> float | FloatArray:
        """Mean of ``min_cost``: what `c_avg` would be with the best threshold for each target."""
        return _mean(self.min_cost)

    @property
    def mean_cllr(self) -> float:
        """Mean of ``cllr`` in bits."""
        return float(self.cllr.mean())

    @property
    def mean_min_cllr(self) -> float:
        """Mean of ``min_cllr`` in bits."""
        return float(self.min_cllr.mean())


@dataclass(frozen=True, slots=True, eq=False)
class PairwiseAnalysis(ByValue):
    """Each class against each other one: Cllr as it is, and after the best monotone recalibration.

    Attributes
    ----------
    classes : tuple of str or None
    cllr, min_cllr : (n_classes, n_classes) arrays
        Cllr of the pairwise log-likelihood ratios in bits, and its minimum by PAV; symmetric. Nothing tells a class
        from itself: the diagonal is 1.
    """

    classes: tuple[str, ...] | None
    cllr: FloatArray
    min_cllr: FloatArray

    @property
    def calibration_loss(self) -> FloatArray:
        """``cllr - min_cllr`` in bits, at least 0."""
        return np.maximum(self.cllr - self.min_cllr, 0.0)


def detection_analysis(
    loglik: ArrayLike,
    label: ArrayLike,
    *,
    prior: Priors = None,
    p_target: ArrayLike = 0.5,
    sample_weight: Weights = None,
    classes: Names = None,
) -> DetectionAnalysis:
    """Analyse every class against the rest (paper 001 section 4.3).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. Infinite values are legal.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    prior : (n_classes,) array_like, optional
        Flat when left out. It says how likely the non-targets are, relative to each other, in the detection
        log-likelihood ratios and in averages over non-target trials; classes of prior 0 drop out.
    p_target : float or array_like
        Prior of the target in the detection costs. A vector of priors gives their curves, which APE plots draw.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    DetectionAnalysis

    Raises
    ------
    InputError
        If there is NaN, a label is no class, a class of positive prior has no trial, or a prior is out of range.

    Notes
    -----
    Detectors that are recalibrated one by one do not come from one recognizer: the minima are bounds, each for its own
    target. They change when the log-likelihoods are scaled and shifted (paper 001 eq. 19).

    The log-likelihood ratios of all trials and targets are held at once, as much memory as ``loglik`` in float64.

    Examples
    --------
    >>> loglik = [[2.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.5, 1.5], [1.0, 0.0, 0.5]]
    >>> found = detection_analysis(loglik, [0, 1, 2, 2])
    >>> found.cllr.round(4)
    array([0.4713, 0.4616, 0.5512])
    >>> found.min_cllr.round(4)
    array([0., 0., 0.])
    """
    trials = ScoredClasses.of(loglik, label, sample_weight, classes)
    checked = trials.prior(prior)
    log_odds = _validate.prior_log_odds(p_target, None)
    if log_odds.ndim > 1:
        raise InputError(f"p_target: expected one prior or a vector of priors, got shape {log_odds.shape}.")
    return detection_analysis_of(Detectors.of(trials, checked), p_target, log_odds, checked, trials.classes)


def detection_analysis_of(
    detectors: Detectors, p_target: ArrayLike, log_odds: FloatArray, prior: FloatArray, classes: tuple[str, ...] | None
) -> DetectionAnalysis:
    """`detection_analysis` of detectors, at checked priors of the target and of all classes."""
    target = np.flatnonzero(prior > 0)
    cost, min_cost = np.empty((2, len(target), *log_odds.shape))
    eer, cllr, min_cllr = np.empty((3, len(target)))
    for at, scores in enumerate(detectors):
        errors = scores.error_counts(-log_odds)
        cost[at] = detection_cost(errors.p_miss, errors.p_fa, log_odds, 1.0, 1.0, normalize=False)
        min_cost[at] = detection_cost(*scores.rocch.best_rates(log_odds), log_odds, 1.0, 1.0, normalize=False)
        eer[at], cllr[at], min_cllr[at] = scores.rocch.eer(), scores.trials.cllr(), scores.recalibrated.cllr()
    names = None if classes is None else tuple(classes[k] for k in target)
    prior_of_target = np.array(p_target, np.float64) if log_odds.ndim else float(np.asarray(p_target))
    return DetectionAnalysis(target, names, prior_of_target, cost, min_cost, eer, cllr, min_cllr)


def _mean(costs: FloatArray) -> float | FloatArray:
    return np.asarray(costs.mean(axis=0)) if costs.ndim > 1 else float(costs.mean())


def pairwise_analysis(
    loglik: ArrayLike, label: ArrayLike, *, sample_weight: Weights = None, classes: Names = None
) -> PairwiseAnalysis:
    """Analyse every pair of classes (paper 001 section 4.2).

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
    PairwiseAnalysis

    Raises
    ------
    InputError
        If there is NaN, a label is no class, or a class has no trial.

    Examples
    --------
    >>> loglik = [[2.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.5, 1.5], [1.0, 0.0, 0.5]]
    >>> found = pairwise_analysis(loglik, [0, 1, 2, 2])
    >>> found.cllr.round(4)
    array([[1.    , 0.3175, 0.459 ],
           [0.3175, 1.    , 0.5099],
           [0.459 , 0.5099, 1.    ]])
    >>> found.min_cllr.round(4)
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """
    trials = ScoredClasses.of(loglik, label, sample_weight, classes)
    trials.require()
    return PairwiseAnalysis(trials.classes, *Pairs.of(trials).cllr())
