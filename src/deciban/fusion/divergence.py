"""How much the posteriors of systems differ, trial by trial: systems that agree have little to give each other."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from deciban._validate import arrays as _validate
from deciban._validate.probabilities import tell_of_two
from deciban.core.rules.expected import MeanCost
from deciban.fusion.linear import LabelledSystems
from deciban.types import FloatArray


def posterior_divergence(
    llr: ArrayLike, is_target: ArrayLike, *, p_target: float = 0.5, sample_weight: ArrayLike | None = None
) -> FloatArray:
    """Mean symmetric Kullback-Leibler divergence between the posteriors of every two systems, in bits.

    Parameters
    ----------
    llr : (n_trials, n_systems) array_like
        Calibrated log-likelihood ratios of all systems on the same trials, in nats. May be infinite.
    is_target : (n_trials,) array_like
        True (or 1) for targets, False (or 0) for non-targets.
    p_target : float
        Prior of the posteriors, in (0, 1).
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0.

    Returns
    -------
    (n_systems, n_systems) array
        Symmetric, 0 on the diagonal, at least 0; infinite where a system is certain in a trial and the other one is
        not, or of the contrary.

    Raises
    ------
    InputError
        If an llr is NaN, shapes do not fit, a class is empty, or the prior is out of range.

    Warns
    -----
    DecibanWarning
        If 10 scores or more all lie in [0, 1]: these are no log-likelihood ratios, but perhaps probabilities, of which
        `deciban.decisions.llr_from_probability` makes some.

    Notes
    -----
    With posteriors ``q = sigma(llr + logit p_target)`` of two systems, the divergence in a trial is the mean of
    ``KL(q1 || q2)`` and ``KL(q2 || q1)``, the two outcomes being target and non-target. That is half of
    ``(q1 - q2) (llr1 - llr2)``, in nats. The mean over trials is taken in each class, and the two means are
    weighted by ``p_target`` and ``1 - p_target``: the proportions of classes do not enter. Two llrs that are both
    ``inf``, or both ``-inf``, do not differ.

    Examples
    --------
    >>> llr = [[2.0, 2.0, 1.0], [1.0, 1.0, -1.0], [-1.0, -1.0, 0.0], [-2.0, -2.0, -2.0]]
    >>> posterior_divergence(llr, [True, True, False, False]).round(3)
    array([[0.   , 0.   , 0.235],
           [0.   , 0.   , 0.235],
           [0.235, 0.235, 0.   ]])
    """
    data = LabelledSystems.of(llr, is_target, sample_weight)
    tell_of_two(data.scores)
    log_odds = _validate.single_log_odds(p_target)
    n_systems = data.scores.shape[1]
    answer = np.zeros((n_systems, n_systems))
    for one in range(n_systems):
        for other in range(one):
            mean = sum(prior * cost for prior, cost in _class_means(data, one, other, log_odds))
            answer[one, other] = answer[other, one] = mean / math.log(2.0)
    return answer


def _class_means(data: LabelledSystems, one: int, other: int, log_odds: float) -> Iterator[tuple[float, float]]:
    """Prior and mean divergence in nats of each class."""
    for truth, prior in ((data.is_target, expit(log_odds)), (~data.is_target, expit(-log_odds))):
        rows = truth if data.weight is None else truth & (data.weight > 0)
        weight = None if data.weight is None else data.weight[rows]
        pair = [data.scores[rows, k].astype(np.float64) for k in (one, other)]
        trials = _divergence(pair[0], pair[1], log_odds)
        yield float(prior), MeanCost.of(trials, lambda values: values, weight).value


def _divergence(one: FloatArray, other: FloatArray, log_odds: float) -> FloatArray:
    """Divergence in each trial, in nats; ``q1 - q2`` without cancellation."""
    high, low = np.maximum(one, other), np.minimum(one, other)
    with np.errstate(over="ignore", invalid="ignore"):
        gap = high - low
        difference = expit(high + log_odds) * expit(-(low + log_odds)) * -np.expm1(-gap)
        answer: FloatArray = 0.5 * gap * difference
    answer[np.isinf(high) | np.isinf(low)] = np.inf
    answer[high == low] = 0.0
    return answer
