"""Metrics of binary classifiers that other papers report: calibration errors, precision and recall, F1, MCC, Youden."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from deciban._validate import arrays as _validate
from deciban._validate.arrays import tell_of_two
from deciban.metrics.scores import CountedScores, SortedScores, checked
from deciban.types import ByValue, FloatArray, FloatPair, Weights

Scheme: TypeAlias = Literal["width", "mass"]
"""Bins of equal width, or bins of equal weight."""


_MOST_BINS = 1_000_000


def ece(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    prior: float,
    bins: int = 15,
    scheme: Scheme = "width",
    tar_weights: Weights = None,
    non_weights: Weights = None,
) -> float:
    """Return the expected calibration error of posteriors in bins (Naeini et al., 2015).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Log-likelihood ratios of target and non-target trials, in nats.
    prior : float
        Prior of a target: it converts log-likelihood ratios to posteriors and weights the classes. With the share of
        targets in the data, the result is the ECE of classification papers.
    bins : int
        Number of bins.
    scheme : {"width", "mass"}
        Bins of posteriors of equal width, or of equal weight (adaptive calibration error, ACE).
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0.

    Returns
    -------
    float
        ``sum_b w_b |share of targets in b - mean posterior in b|``, a fraction.

    Raises
    ------
    InputError
        If a class is empty or contains NaN, the prior is not in (0, 1), or the bins or the scheme are not valid.

    Notes
    -----
    The value depends on the bins, is too high for few trials, and does not measure separation: scores without
    information (llr 0) have an ECE of 0. The calibration loss (``Evaluation.calibration_loss``) needs no bins, but is
    also too high for few trials and 0 without information.

    Examples
    --------
    >>> round(ece([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], prior=0.5, bins=5), 3)
    0.245
    """
    weight, gap = binned_gaps(*_posteriors(tar, non, tar_weights, non_weights, prior), bins, scheme)
    return math.fsum(weight * gap)


def mce(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    prior: float,
    bins: int = 15,
    scheme: Scheme = "width",
    tar_weights: Weights = None,
    non_weights: Weights = None,
) -> float:
    """Return the maximum calibration error: the largest difference of a bin.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Log-likelihood ratios of target and non-target trials, in nats.
    prior, bins, scheme
        See `ece`.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0.

    Returns
    -------
    float
        A fraction. A single trial in a bin can make it large.

    Raises
    ------
    InputError
        See `ece`.

    Examples
    --------
    >>> round(mce([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], prior=0.5, bins=5), 3)
    0.5
    """
    weight, gap = binned_gaps(*_posteriors(tar, non, tar_weights, non_weights, prior), bins, scheme)
    return float(gap[weight > 0].max())


def smooth_ece(
    tar: ArrayLike, non: ArrayLike, *, prior: float, tar_weights: Weights = None, non_weights: Weights = None
) -> float:
    """Return the smooth expected calibration error of posteriors, which has no bins (Blasiok and Nakkiran, 2024).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Log-likelihood ratios of target and non-target trials, in nats.
    prior : float
        See `ece`.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0.

    Returns
    -------
    float
        The ``s`` for which the mean absolute residual, smoothed over the posteriors by a Gaussian kernel of standard
        deviation ``s`` that is reflected at 0 and 1, equals ``s``; a fraction.

    Raises
    ------
    InputError
        If a class is empty or contains NaN, or the prior is not in (0, 1).

    Notes
    -----
    Posteriors are rounded to 2^14 points, with linear weights. Like `ece`, it does not measure separation: scores
    without information have a value of 0.

    Examples
    --------
    >>> round(smooth_ece([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], prior=0.5), 3)
    0.17
    """
    posterior, weight, target = _posteriors(tar, non, tar_weights, non_weights, prior)
    place = np.clip(posterior * _BINS - 0.5, 0.0, _BINS - 1.0)
    below = np.minimum(place.astype(np.intp), _BINS - 2)
    share, residual = place - below, target - weight * posterior
    bins = np.bincount(below, residual * (1.0 - share), _BINS) + np.bincount(below + 1, residual * share, _BINS)
    from scipy.fft import dct, idct  # slow to import

    waves, rate = dct(bins, norm="ortho"), (math.pi * np.arange(_BINS)) ** 2 / 2.0

    def excess(width: float) -> float:
        smoothed = idct(waves * np.exp(-rate * width * width), norm="ortho")
        return float(np.abs(smoothed).sum()) - width

    low, high = 0.0, 1.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if excess(middle) > 0.0 else (low, middle)
    return high if low > 0.0 else 0.0


_BINS = 1 << 14


def _posteriors(
    tar: ArrayLike, non: ArrayLike, tar_weights: Weights, non_weights: Weights, prior: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the posterior of each trial, its share of the weight, and this share of targets or 0 of others."""
    log_odds = float(logit(_validate.fraction(prior, "prior", "The prior of a target must be inside (0, 1)")))
    both = checked(tar, non, tar_weights, non_weights)
    tell_of_two(tar, non)
    shares = [np.full(len(x), 1.0 / len(x)) if w is None else np.asarray(w, np.float64) / w.sum() for x, w in both]
    share = float(expit(log_odds))
    weight = np.concatenate((share * shares[0], (1.0 - share) * shares[1]))
    posterior = expit(np.concatenate([np.asarray(x, np.float64) for x, _ in both]) + log_odds)
    return posterior, weight, np.concatenate((share * shares[0], np.zeros(len(shares[1]))))


def binned_gaps(posterior: FloatArray, weight: FloatArray, target: FloatArray, bins: int, scheme: str) -> FloatPair:
    """Return the weight of each bin of posteriors, and the difference of its share of targets and its mean posterior.

    Parameters
    ----------
    posterior, weight, target : (n_trials,) arrays
        ``target`` is the weight of a target, and 0 for other trials.
    bins : int
    scheme : {"width", "mass"}

    Raises
    ------
    InputError
        If the bins or the scheme are not valid.
    """
    bins = _validate.whole(bins, "bins", 1, _MOST_BINS, f"It is a whole number from 1 to {_MOST_BINS:,}")
    _validate.one_of(scheme, "scheme", get_args(Scheme))
    if scheme == "width":
        at = np.minimum((posterior * bins).astype(np.intp), bins - 1)
    else:
        values, place = np.unique(posterior, return_inverse=True)
        each = np.bincount(place, weight, len(values))
        before = np.cumsum(each) - each
        at = np.minimum(((before + each / 2) * bins).astype(np.intp), bins - 1)[place]
    total = np.bincount(at, weight, bins).astype(np.float64)
    targets, means = np.bincount(at, target, bins), np.bincount(at, weight * posterior, bins)
    gap: FloatArray = np.divide(np.abs(targets - means), total, out=np.zeros(bins), where=total > 0)
    return total, gap


@dataclass(frozen=True, slots=True, eq=False)
class PrecisionRecall(ByValue):
    """Precision and recall at each threshold, with gain and lift; all change with the share of targets.

    Attributes
    ----------
    threshold : (n,) array
        The distinct scores, from the highest; trials with scores at or above it are accepted.
    precision : (n,) array
        Share of targets among accepted trials.
    recall : (n,) array
        Share of targets that are accepted, the cumulative gain. With few targets its steps are large.
    accepted : (n,) array
        Share of trials that are accepted.
    """

    threshold: FloatArray
    precision: FloatArray
    recall: FloatArray
    accepted: FloatArray

    @property
    def average(self) -> float:
        """Average precision; see `average_precision`."""
        return math.fsum(np.diff(self.recall, prepend=0.0) * self.precision)

    @property
    def lift(self) -> FloatArray:
        """Recall divided by the share of accepted trials; at most 1 / share of targets, so it cannot be compared."""
        return np.asarray(np.divide(self.recall, self.accepted, out=np.ones(len(self.recall)), where=self.accepted > 0))


def precision_recall(
    tar: ArrayLike, non: ArrayLike, *, tar_weights: Weights = None, non_weights: Weights = None
) -> PrecisionRecall:
    """Return the precision-recall curve, with cumulative gain and lift.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger scores favour targets.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0.

    Returns
    -------
    PrecisionRecall

    Raises
    ------
    InputError
        If a class is empty or contains NaN.

    Examples
    --------
    >>> found = precision_recall([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])
    >>> found.threshold.tolist(), found.recall.round(2).tolist(), found.lift.round(2).tolist()
    ([2.0, 1.0, 0.0, -1.0], [0.67, 1.0, 1.0, 1.0], [2.0, 1.5, 1.2, 1.0])
    """
    return precision_recall_of(SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights))


def precision_recall_of(ranks: SortedScores) -> PrecisionRecall:
    """Return `precision_recall` of sorted scores."""
    values, true, false = _accepted(ranks)
    share = (true + false) / (true[-1] + false[-1])
    return PrecisionRecall(values, precision_of(true, false), true / true[-1], share)


def precision_of(true: FloatArray, false: FloatArray) -> FloatArray:
    """Return the share of targets among accepted trials, from weights of both classes; 0 if none are accepted."""
    return np.divide(true, true + false, out=np.zeros(len(true)), where=true + false > 0)


def _accepted(ranks: SortedScores) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the distinct scores from the highest, with the weights of targets and non-targets at or above each."""
    values = np.union1d(ranks.tar.scores, ranks.non.scores)[::-1].astype(np.float64)
    return values, ranks.tar.at_or_above(values).astype(np.float64), ranks.non.at_or_above(values).astype(np.float64)


def average_precision(
    tar: ArrayLike, non: ArrayLike, *, tar_weights: Weights = None, non_weights: Weights = None
) -> float:
    """Return the average precision: the mean of precision over recall steps, at the share of targets in the data.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger scores favour targets.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0.

    Returns
    -------
    float
        ``sum_k (R_k - R_k-1) P_k`` over all thresholds from the highest, as in scikit-learn; a fraction.

    Raises
    ------
    InputError
        If a class is empty or contains NaN.

    Notes
    -----
    It changes with the share of targets: data sets with different shares cannot be compared.

    Examples
    --------
    >>> round(average_precision([1.0, 2.0, 2.0], [0.0, 1.0, -1.0]), 3)
    0.917
    """
    return precision_recall(tar, non, tar_weights=tar_weights, non_weights=non_weights).average


def f1_at(
    tar: ArrayLike, non: ArrayLike, threshold: float, *, tar_weights: Weights = None, non_weights: Weights = None
) -> float:
    """Return the F1 score of decisions at a threshold: the harmonic mean of precision and recall.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores; larger scores favour targets.
    threshold : float
        Trials with scores at or above it are accepted.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0.

    Returns
    -------
    float
        ``2 TP / (2 TP + FP + FN)``, a fraction. It ignores rejected non-targets and changes with the share of targets.

    Raises
    ------
    InputError
        If a class is empty or contains NaN, or the threshold is NaN.

    Examples
    --------
    >>> round(f1_at([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], 1.0), 3)
    0.857
    """
    return float(_f1(*_counts(tar, non, threshold, tar_weights, non_weights)))


def matthews_at(
    tar: ArrayLike, non: ArrayLike, threshold: float, *, tar_weights: Weights = None, non_weights: Weights = None
) -> float:
    """Return the Matthews correlation coefficient of decisions at a threshold.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores; larger scores favour targets.
    threshold : float
        Trials with scores at or above it are accepted.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0.

    Returns
    -------
    float
        Between -1 and 1; 0 if all trials are accepted or all are rejected. It changes with the share of targets.

    Raises
    ------
    InputError
        See `f1_at`.

    Examples
    --------
    >>> round(matthews_at([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], 1.0), 3)
    0.707
    """
    return float(_matthews(*_counts(tar, non, threshold, tar_weights, non_weights)))


def youden_at(
    tar: ArrayLike, non: ArrayLike, threshold: float, *, tar_weights: Weights = None, non_weights: Weights = None
) -> float:
    """Return Youden's index of decisions at a threshold: 1 minus both error rates.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores; larger scores favour targets.
    threshold : float
        Trials with scores at or above it are accepted.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0.

    Returns
    -------
    float
        ``recall - p_fa``, between -1 and 1; the balanced accuracy is ``(1 + index) / 2``. Both give misses and false
        alarms the weights of equal priors and costs, whatever the application needs.

    Raises
    ------
    InputError
        See `f1_at`.

    Examples
    --------
    >>> round(youden_at([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], 1.0), 3)
    0.667
    """
    return float(_youden(*_counts(tar, non, threshold, tar_weights, non_weights)))


def balanced_accuracy_at(
    tar: ArrayLike, non: ArrayLike, threshold: float, *, tar_weights: Weights = None, non_weights: Weights = None
) -> float:
    """Return the balanced accuracy of decisions at a threshold: 1 minus the mean of both error rates (`hter`).

    Parameters
    ----------
    tar, non, threshold, tar_weights, non_weights
        See `youden_at`.

    Returns
    -------
    float
        A fraction; 0.5 without information.

    Raises
    ------
    InputError
        See `f1_at`.

    Examples
    --------
    >>> round(balanced_accuracy_at([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], 1.0), 3)
    0.833
    """
    index = youden_at(tar, non, threshold, tar_weights=tar_weights, non_weights=non_weights)
    return 0.5 + 0.5 * index


class BestDecision(NamedTuple):
    """The best value of a metric of decisions, and its threshold.

    Parameters
    ----------
    value : float
    threshold : float
        The highest of equally good thresholds.
    """

    value: float
    threshold: float


def best_decision(
    tar: ArrayLike,
    non: ArrayLike,
    metric: Literal["f1", "matthews", "youden"],
    *,
    tar_weights: Weights = None,
    non_weights: Weights = None,
) -> BestDecision:
    """Return the largest F1, Matthews correlation or Youden's index over all thresholds.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores; larger scores favour targets.
    metric : {"f1", "matthews", "youden"}
        See `f1_at`, `matthews_at` and `youden_at`.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0.

    Returns
    -------
    BestDecision
        The value is optimistic, because its threshold was chosen on the same trials.

    Raises
    ------
    InputError
        If a class is empty or contains NaN, or the metric is unknown.

    Examples
    --------
    >>> best_decision([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], "f1")
    BestDecision(value=0.8571428571428571, threshold=1.0)
    """
    _validate.one_of(metric, "metric", tuple(OF_COUNTS))
    return best_decision_of(SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights), metric)


def best_decision_of(ranks: SortedScores, metric: str) -> BestDecision:
    """Return `best_decision` of sorted scores."""
    values, hit, false = _accepted(ranks)
    counts = OF_COUNTS[metric](hit, hit[-1] - hit, false, false[-1] - false)
    at = int(np.argmax(counts >= counts.max() - _ROUNDING))
    return BestDecision(float(counts[at]), float(values[at]))


_ROUNDING = 4e-15
"""Largest difference between equal values by rounding."""


Amount: TypeAlias = FloatArray | float


def _f1(hit: Amount, miss: Amount, false: Amount, _right: Amount) -> FloatArray:
    return np.asarray(2.0 * hit / (2.0 * hit + false + miss))


def _matthews(hit: Amount, miss: Amount, false: Amount, right: Amount) -> FloatArray:
    scale = np.sqrt(hit + false) * np.sqrt(hit + miss) * np.sqrt(right + false) * np.sqrt(right + miss)
    top = np.asarray(hit * right - false * miss, np.float64)
    return np.asarray(np.divide(top, scale, out=np.zeros_like(top), where=np.asarray(scale > 0.0)))


def _youden(hit: Amount, miss: Amount, false: Amount, right: Amount) -> FloatArray:
    return np.asarray(hit / (hit + miss) - false / (false + right))


OF_COUNTS = {"f1": _f1, "matthews": _matthews, "youden": _youden}
"""Metrics of decisions, from the weights of hits, misses, false alarms and correct rejections."""


def _counts(
    tar: ArrayLike, non: ArrayLike, threshold: float, tar_weights: Weights, non_weights: Weights
) -> tuple[float, float, float, float]:
    """Return the weights of accepted and rejected targets, accepted and rejected non-targets."""
    scores = CountedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights)
    errors = scores.error_counts(np.array([_validate.threshold(threshold)]))
    miss, false = float(errors.n_miss[0]), float(errors.n_fa[0])
    return scores.tar.total - miss, miss, false, scores.non.total - false
