"""Metrics of binary classifiers that reviewers ask for: calibration errors of bins, average precision, F1, MCC."""

from __future__ import annotations

import math
import operator
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from deciban._validate import arrays as _validate
from deciban._validate.probabilities import tell_of_two
from deciban.errors import InputError
from deciban.metrics.scores import checked
from deciban.types import FloatArray, Weights

Scheme: TypeAlias = Literal["width", "mass"]
"""Bins of equal width, or bins of equal weight."""


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
    """Expected calibration error of posteriors in bins (Naeini et al., 2015).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Log-likelihood ratios of target and non-target trials, in nats.
    prior : float
        Prior of a target: it turns log-likelihood ratios into posteriors and weights the classes. With the share of
        targets in the data, the result is the ECE that classification papers report.
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
        If a class is empty or holds NaN, the prior is not in (0, 1), or the bins or the scheme are not valid.

    Notes
    -----
    The value depends on the bins, is biased upward for few trials, and does not measure separation: scores without
    information (llr 0) have an ECE of 0. The calibration loss (``Evaluation.calibration_loss``) does not.

    Examples
    --------
    >>> round(ece([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], prior=0.5, bins=5), 3)
    0.245
    """
    weight, gap = _bins(tar, non, tar_weights, non_weights, prior=prior, bins=bins, scheme=scheme)
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
    """Maximum calibration error: the largest difference of a bin.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Log-likelihood ratios of target and non-target trials, in nats.
    prior, bins, scheme
        As in `ece`.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0.

    Returns
    -------
    float
        A fraction. A single trial in a bin can make it large.

    Raises
    ------
    InputError
        As in `ece`.

    Examples
    --------
    >>> round(mce([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], prior=0.5, bins=5), 3)
    0.5
    """
    weight, gap = _bins(tar, non, tar_weights, non_weights, prior=prior, bins=bins, scheme=scheme)
    return float(gap[weight > 0].max())


def _bins(
    tar: ArrayLike, non: ArrayLike, tar_weights: Weights, non_weights: Weights, *, prior: float, bins: int, scheme: str
) -> tuple[FloatArray, FloatArray]:
    """Return the weight of each bin, and the difference of its share of targets and its mean posterior."""
    if not 0.0 < _validate.in_range(prior, "prior", 0.0, 1.0, "It is the prior of a target, inside (0, 1)") < 1.0:
        raise InputError(f"prior: got {prior!r}. It is the prior of a target, inside (0, 1).")
    log_odds = float(logit(prior))
    if operator.index(bins) < 1:
        raise InputError(f"bins: got {bins!r}. It is a whole number, 1 or more.")
    if scheme not in ("width", "mass"):
        raise InputError(f"scheme: got {scheme!r}. Bins have equal 'width' or equal 'mass'.")
    both = checked(tar, non, tar_weights, non_weights)
    tell_of_two(tar, non)
    shares = [np.full(len(x), 1.0 / len(x)) if w is None else np.asarray(w, np.float64) / w.sum() for x, w in both]
    share = float(expit(log_odds))
    weight = np.concatenate((share * shares[0], (1.0 - share) * shares[1]))
    posterior = expit(np.concatenate([np.asarray(x, np.float64) for x, _ in both]) + log_odds)
    target = np.concatenate((share * shares[0], np.zeros(len(shares[1]))))
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


def average_precision(
    tar: ArrayLike, non: ArrayLike, *, tar_weights: Weights = None, non_weights: Weights = None
) -> float:
    """Average precision: the mean of precision over recall steps, at the share of targets in the data.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger favours target.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0.

    Returns
    -------
    float
        ``sum_k (R_k - R_k-1) P_k`` over all thresholds from the highest, as in scikit-learn; a fraction.

    Raises
    ------
    InputError
        If a class is empty or holds NaN.

    Notes
    -----
    It changes with the share of targets, so that data sets with different shares cannot be compared.

    Examples
    --------
    >>> round(average_precision([1.0, 2.0, 2.0], [0.0, 1.0, -1.0]), 3)
    0.917
    """
    (positive, weight), (negative, other) = checked(tar, non, tar_weights, non_weights)
    weights = [
        np.ones(len(x)) if w is None else np.asarray(w, np.float64) for x, w in ((positive, weight), (negative, other))
    ]
    values, place = np.unique(np.concatenate((positive, negative)), return_inverse=True)
    hits = np.bincount(place[: len(positive)], weights[0], len(values))[::-1]
    wrong = np.bincount(place[len(positive) :], weights[1], len(values))[::-1]
    true, false = np.cumsum(hits), np.cumsum(wrong)
    precision = np.divide(true, true + false, out=np.zeros(len(values)), where=true + false > 0)
    return math.fsum(hits / true[-1] * precision)


def f1_at(
    tar: ArrayLike, non: ArrayLike, threshold: float, *, tar_weights: Weights = None, non_weights: Weights = None
) -> float:
    """F1 score of decisions at a threshold: the harmonic mean of precision and recall, at the data's share of targets.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores; larger favours target.
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
        If a class is empty or holds NaN, or the threshold is NaN.

    Examples
    --------
    >>> round(f1_at([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], 1.0), 3)
    0.857
    """
    hit, miss, false, _ = _counts(tar, non, threshold, tar_weights, non_weights)
    return 2.0 * hit / (2.0 * hit + false + miss)


def matthews_at(
    tar: ArrayLike, non: ArrayLike, threshold: float, *, tar_weights: Weights = None, non_weights: Weights = None
) -> float:
    """Matthews correlation coefficient of decisions at a threshold.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores; larger favours target.
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
        As in `f1_at`.

    Examples
    --------
    >>> round(matthews_at([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], 1.0), 3)
    0.707
    """
    hit, miss, false, right = _counts(tar, non, threshold, tar_weights, non_weights)
    scale = math.sqrt(hit + false) * math.sqrt(hit + miss) * math.sqrt(right + false) * math.sqrt(right + miss)
    return 0.0 if scale == 0.0 else (hit * right - false * miss) / scale


def _counts(
    tar: ArrayLike, non: ArrayLike, threshold: float, tar_weights: Weights, non_weights: Weights
) -> tuple[float, float, float, float]:
    """Return the weights of accepted and rejected targets, accepted and rejected non-targets."""
    if math.isnan(threshold):
        raise InputError("threshold: got nan. It is a number, or inf to reject all trials.")
    found = list[float]()
    for scores, weight in checked(tar, non, tar_weights, non_weights):
        is_accepted = scores >= threshold
        each = np.ones(len(scores)) if weight is None else weight
        found += [float(each[is_accepted].sum()), float(each[~is_accepted].sum())]
    return found[0], found[1], found[2], found[3]
