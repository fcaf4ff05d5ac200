"""Decisions to accept or reject classes where one class is out of set, counted at any number of target priors.

Acceptance is monotone in the target prior p. With q the prior of the class that is out of set, O its likelihood, L that
of the target and A the mean likelihood of the other non-targets, a trial is accepted where ``p L`` is at least
``(1 - p - q) A + q O``, that is from the critical prior ``((1 - q) A + q O) / (L + A)`` on. So one pass over the trials
serves all priors.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import logit

from deciban.core.classes.counts import Passes, accepted, count_type, in_turns, tally
from deciban.core.classes.loglik import critical_priors, detection_llrs, prior_ratio, relative, row_blocks
from deciban.types import BoolArray, CountArray, FloatArray, IntArray, ScoreArray

_NEAR = 1e-8
"""Relative distance of a critical prior from a target prior within which detection llrs are compared directly."""

_ROUNDING = 64 * float(np.finfo(np.float64).eps)
_TINY = float(np.finfo(np.float64).tiny)


def accepted_open_set(
    loglik: ScoreArray, label: IntArray, weights: CountArray | None, p_target: FloatArray, p_out_of_set: float
) -> CountArray:
    """How often trials of every class were accepted as every class in set, at target priors.

    Decisions are those of detection llrs at `non_target_priors`, compared with ``-logit(p_target)`` prior by prior.

    Parameters
    ----------
    loglik, label, weights
        Checked trials; the last class is out of set.
    p_target : (n_priors,) array
        Inside (0, 1 - p_out_of_set).
    p_out_of_set : float

    Returns
    -------
    (n_priors, n_classes - 1, n_classes) array
    """
    n_classes = loglik.shape[1]
    total = np.empty((len(p_target), n_classes - 1, n_classes), count_type(weights))
    clear = _error_bound(p_target, p_out_of_set, n_classes) <= _NEAR
    for at in np.flatnonzero(~clear):
        p = p_target[at : at + 1]
        (prior,) = non_target_priors(p, p_out_of_set, n_classes)
        total[at] = accepted(loglik, label, weights, prior, -logit(p))[0, :-1]
    places = np.flatnonzero(clear)
    for some in in_turns(p_target[places], n_classes):
        total[places[some]] = _accepted(loglik, label, weights, p_target[places[some]], p_out_of_set)
    return total


def non_target_priors(p_target: FloatArray, p_out_of_set: float, n_classes: int) -> FloatArray:
    """Shares of the classes in what a target leaves, (n_priors, n_classes): those of its rivals, whichever it is."""
    share = p_out_of_set / (1.0 - p_target)
    prior = np.repeat((1.0 - share)[:, None] / (n_classes - 2), n_classes, axis=1)
    prior[:, -1] = share
    return prior


def _error_bound(p_target: FloatArray, p_out_of_set: float, n_classes: int) -> FloatArray:
    """How far, relatively, rounding can move the target prior at which the direct comparison changes its mind.

    As a target prior approaches ``1 - p_out_of_set``, rounding takes all digits from what is left for other classes.
    """
    with np.errstate(divide="ignore"):
        lost = 1.0 / (1.0 - p_out_of_set / (1.0 - p_target))
    return np.asarray(_ROUNDING * (n_classes + np.abs(logit(p_target)) + lost))


def _accepted(
    loglik: ScoreArray, label: IntArray, weights: CountArray | None, ascending: FloatArray, p_out_of_set: float
) -> CountArray:
    n_classes, n_priors = loglik.shape[1], len(ascending)
    low, high = ascending * (1.0 - _NEAR) - _TINY, ascending * (1.0 + _NEAR) + _TINY
    last_before = np.append(-1.0, high)
    passes = Passes(n_classes - 1, n_classes, n_priors, weights)
    settled = np.zeros((n_priors, n_classes - 1, n_classes), count_type(weights))
    for rows in row_blocks(*loglik.shape):
        block = relative(loglik, rows)
        critical = critical_priors(block, p_out_of_set)
        certain = np.searchsorted(low, critical.ravel(), side="right").reshape(critical.shape)
        passes.add(n_priors - certain, label, rows)
        trials = np.flatnonzero((last_before[certain] >= critical).any(axis=0))
        if len(trials):
            possible = np.searchsorted(high, critical[:, trials].ravel()).reshape(-1, len(trials))
            true, weight = label[rows][trials], None if weights is None else weights[rows][trials]
            for at, yes in _settle(block[:, trials], possible, certain[:, trials], ascending, p_out_of_set):
                settled[at] += [tally(true[one], n_classes, None if weight is None else weight[one]) for one in yes]
    # The greatest prior is the first step, as it is the easiest to pass.
    return passes.accepted()[::-1] + settled


def _settle(
    block: FloatArray, possible: IntArray, certain: IntArray, p_target: FloatArray, p_out_of_set: float
) -> Iterator[tuple[int, BoolArray]]:
    """Priors from ``possible`` to before ``certain``, and which trials targets accept there by their detection llrs."""
    priors = non_target_priors(p_target, p_out_of_set, len(block))
    for at in range(possible.min(), certain.max()):
        near = (possible <= at) & (at < certain)
        if near.any():
            yield at, near & (detection_llrs(block, prior_ratio(priors[at]))[:-1] >= -logit(p_target[at]))
