"""Problems inside the problem: one class against the rest, and pairs of classes, with their PAV minima."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from deciban import _validate
from deciban.core.loglik import difference
from deciban.metrics import SortedScores
from deciban.multiclass.scored_classes import ScoredClasses
from deciban.types import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class DetectionAnalysis:
    """Each class against the rest: detection costs and Cllr as they are, and after the best monotone recalibration.

    Every array has one entry for each target.

    Attributes
    ----------
    target : int array
        Positions of the targets: all classes that the prior holds possible.
    classes : tuple of str or None
        Names of the targets.
    p_target : float
        Prior of the target in the detection costs.
    cost, min_cost : arrays
        Detection cost at the Bayes threshold, and at the best one: fractions, not normalized. The mean of ``cost`` at
        a flat prior is `c_avg`.
    cllr, min_cllr : arrays
        Cllr of the detection log-likelihood ratios in bits, and its minimum by PAV.
    """

    target: IntArray
    classes: tuple[str, ...] | None
    p_target: float
    cost: FloatArray
    min_cost: FloatArray
    cllr: FloatArray
    min_cllr: FloatArray

    @property
    def calibration_loss(self) -> FloatArray:
        """``cllr - min_cllr`` in bits, at least 0."""
        return np.maximum(self.cllr - self.min_cllr, 0.0)

    @property
    def mean_cost(self) -> float:
        """Mean of ``cost``."""
        return float(self.cost.mean())

    @property
    def mean_min_cost(self) -> float:
        """Mean of ``min_cost``: what `c_avg` would be with the best threshold for each target."""
        return float(self.min_cost.mean())

    @property
    def mean_cllr(self) -> float:
        """Mean of ``cllr`` in bits."""
        return float(self.cllr.mean())

    @property
    def mean_min_cllr(self) -> float:
        """Mean of ``min_cllr`` in bits."""
        return float(self.min_cllr.mean())


@dataclass(frozen=True, slots=True, eq=False)
class PairwiseAnalysis:
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
    prior: ArrayLike | None = None,
    p_target: float = 0.5,
    sample_weight: ArrayLike | None = None,
    classes: Sequence[str] | None = None,
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
    p_target : float
        Prior of the target in the detection costs.
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
    log_odds = _validate.single_log_odds(p_target)
    target = np.flatnonzero(checked > 0)
    figures = np.empty((4, len(target)))
    for at, k in enumerate(target.tolist()):
        scores = _one_against_the_rest(trials, k, checked)
        figures[:, at] = (
            scores.act_dcf(prior_log_odds=log_odds, normalize=False),
            scores.rocch.min_dcf(prior_log_odds=log_odds, normalize=False),
            scores.trials.cllr(),
            scores.recalibrated.cllr(),
        )
    names = None if trials.classes is None else tuple(trials.classes[k] for k in target)
    return DetectionAnalysis(target, names, float(p_target), *figures)


def _one_against_the_rest(trials: ScoredClasses, target: int, prior: FloatArray) -> SortedScores:
    """Detection log-likelihood ratios; non-target classes weigh as the prior says, whatever their numbers of trials."""
    rivals = [k for k in np.flatnonzero(prior > 0).tolist() if k != target]
    rows = [trials.rows(k) for k in rivals]
    tar, non = trials.rows(target), np.concatenate(rows)
    weight = prior[rivals] / trials.totals()[rivals]
    if np.all(weight == weight[0]):
        non_weights = trials.weights_of(non)
    else:
        non_weights = np.repeat(weight / weight.max(), list(map(len, rows)))
        if trials.weights is not None:
            non_weights *= trials.weights[non]
    return SortedScores(
        trials.detection_llr(tar, target, prior),
        trials.detection_llr(non, target, prior),
        tar_weights=trials.weights_of(tar),
        non_weights=non_weights,
    )


def pairwise_analysis(
    loglik: ArrayLike,
    label: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    classes: Sequence[str] | None = None,
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
    n_classes = trials.n_classes
    actual, minimum = np.ones((2, n_classes, n_classes))
    for i in range(n_classes):
        for j in range(i):
            tar, non = trials.rows(i), trials.rows(j)
            scores = SortedScores(
                _pair(trials, tar, i, j),
                _pair(trials, non, i, j),
                tar_weights=trials.weights_of(tar),
                non_weights=trials.weights_of(non),
            )
            actual[i, j] = actual[j, i] = scores.trials.cllr()
            minimum[i, j] = minimum[j, i] = scores.recalibrated.cllr()
    return PairwiseAnalysis(trials.classes, actual, minimum)


def _pair(trials: ScoredClasses, rows: IntArray, i: int, j: int) -> FloatArray:
    return difference(trials.loglik[rows, i].astype(np.float64), trials.loglik[rows, j].astype(np.float64))
