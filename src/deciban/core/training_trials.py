"""Trials to train on: what infinite scores mean, the weights of the classes, and samples that keep them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from scipy.special import expit

from deciban._validate import all_finite
from deciban.core.linear_objective import Trials
from deciban.errors import InputError
from deciban.types import BoolArray, FloatArray, IntArray

_BLOCK = 1 << 15

_BINS = 1 << 14
"""Bins of one score: each is then so narrow that what is lost within it moves the optimum by about 1e-6 or less."""


def with_class_weights(trials: Trials, alpha: float, beta: float, log_odds: float) -> tuple[Trials, float]:
    """The trials whose cost depends on the parameters, with their class weights, and the cost of the others.

    Infinite scores stand for certainty: a target at +inf costs nothing, whatever the parameters are, as long as the
    weight of its system is positive.

    Raises
    ------
    InputError
        If an infinite score says the opposite of the truth, and the rule punishes that without limit; if systems
        contradict each other; or if a class has no finite score.
    """
    if trials.weights is not None and not trials.weights.all():
        trials = trials.take(trials.weights > 0.0)
    is_target, weights = trials.is_target, trials.weights
    verdict = _verdict(trials)
    n_tar = _amount(is_target, weights)
    n_non = _amount(~is_target, weights)
    class_weights = float(expit(-log_odds)) / n_non, float(expit(log_odds)) / n_tar
    trials = replace(trials, class_weights=class_weights)
    if verdict is None:
        return trials, 0.0
    wrong = ((verdict < 0) & is_target, (verdict > 0) & ~is_target)
    lost = 0.0
    for rows, name, sign, weight, parameters in (
        (wrong[0], "target", "-inf", class_weights[1], (alpha, beta)),
        (wrong[1], "non-target", "+inf", class_weights[0], (beta, alpha)),
    ):
        if rows.any():
            limit = (alpha + beta - 1.0) / (parameters[0] - 1.0) if parameters[0] > 1.0 else math.inf
            if math.isinf(limit):
                raise InputError(
                    f"scores: {rows.sum()} {name} trials score {sign}, the first at index {np.flatnonzero(rows)[0]}: "
                    "whatever the scale and offset, their cost is infinite. Give them finite scores, or leave them out."
                )
            lost += weight * limit * _amount(rows, weights)
    left = verdict == 0
    if not (left & is_target).any() or not (left & ~is_target).any():
        raise InputError("scores: one class has no finite score, so that nothing says where the other one begins.")
    return trials.take(left), lost


def _verdict(trials: Trials) -> FloatArray | None:
    """Which trials are decided by an infinite score: +1, -1 or 0 for each; None if there is none."""
    verdict = None
    if trials.matrix is not None and trials.base is None and all_finite(trials.matrix):
        return None
    for k, column in enumerate(trials.columns if trials.base is None else (*trials.columns, trials.base)):
        if all(all_finite(np.asarray(column[i : i + _BLOCK])) for i in range(0, len(trials), _BLOCK)):
            continue
        values = np.asarray(column[:])
        own = np.where(np.isinf(values), np.sign(values), 0.0)
        if verdict is None:
            verdict = own
            continue
        if (against := np.flatnonzero(verdict * own < 0)).size:
            raise InputError(
                f"scores: systems contradict each other with infinite scores in {len(against)} trials, the first at "
                f"index {against[0]} (system {k}). Give them finite scores."
            )
        verdict = np.where(verdict == 0, own, verdict)
    return verdict


def _amount(rows: BoolArray, weights: FloatArray | None) -> float:
    return float(np.count_nonzero(rows)) if weights is None else float(weights[rows].sum())


def sample(trials: Trials, size: int) -> Trials:
    """About ``size`` trials, evenly spread, with at least a fifth of them from each class if there are so many."""
    n, share = len(trials), size // 5
    if n < 4 * size:
        return trials
    rows: IntArray = np.arange(0, n, max(n // size, 1))
    n_tar = int(np.count_nonzero(trials.is_target[rows]))
    for few, rare in ((n_tar, trials.is_target), (len(rows) - n_tar, ~trials.is_target)):
        if few < share:
            found = np.flatnonzero(rare)
            rows = np.concatenate((rows[~rare[rows]], found[:: max(len(found) // share, 1)]))
    weights, is_target = trials.weights, trials.is_target[rows]
    own = None if weights is None else weights[rows]
    full = [_amount(~trials.is_target, weights), _amount(trials.is_target, weights)]
    some = [_amount(~is_target, own), _amount(is_target, own)]
    if min(some) == 0.0:
        return trials
    non, tar = (weight * f / s for weight, f, s in zip(trials.class_weights, full, some, strict=True))
    return replace(trials.take(rows), class_weights=(non, tar))


def binned(trials: Trials, low: float, high: float) -> Trials:
    """One trial for each class and bin of the only score, with the mean of its trials, counting like all of them.

    The optimum of these is close to that of all trials: only the squares of the distances within a bin are lost.
    """
    counts, sums = np.zeros(2 * _BINS, np.int64), np.zeros(2 * _BINS)
    per_unit = _BINS / (high - low)
    for i in range(0, len(trials), _BLOCK):
        rows = slice(i, i + _BLOCK)
        above = np.asarray(trials.columns[0][rows], np.float64) - low
        place = np.clip(above * per_unit, 0.0, _BINS - 1.0).astype(np.intp)
        place[trials.is_target[rows]] += _BINS
        counts += np.bincount(place, minlength=2 * _BINS)
        sums += np.bincount(place, above, minlength=2 * _BINS)
    full = np.flatnonzero(counts)
    means = low + sums[full] / counts[full]
    return replace(
        trials, columns=(means,), is_target=full >= _BINS, weights=counts[full].astype(np.float64), matrix=None
    )
