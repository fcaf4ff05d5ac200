"""Trials to train on: what infinite scores mean, and the weights of the classes."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from scipy.special import expit

from deciban._validate.arrays import all_finite
from deciban.core.training.linear_objective import Trials, amount
from deciban.errors import InputError, TrialError
from deciban.types import FloatArray

_BLOCK = 1 << 15


def with_class_weights(trials: Trials, alpha: float, beta: float, log_odds: float) -> tuple[Trials, float]:
    """The trials whose cost depends on the parameters, with their class weights, and the cost of the others.

    Infinite scores stand for certainty: a target at +inf costs nothing, whatever the parameters are, as long as the
    weight of its system is positive.

    Raises
    ------
    TrialError, InputError
        If an infinite score says the opposite of the truth, and the rule punishes that without limit; if systems
        contradict each other; or if a class has no finite score.
    """
    if trials.weights is not None and not trials.weights.all():
        counting = np.flatnonzero(trials.weights)
        try:
            return with_class_weights(trials.take(counting), alpha, beta, log_odds)
        except TrialError as error:
            raise error.among(counting) from None
    is_target, weights = trials.is_target, trials.weights
    verdict = _verdict(trials)
    n_non, n_tar = trials.amounts
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
                raise TrialError(
                    f"scores: {rows.sum()} {name} trials score {sign}, the first ",
                    int(np.argmax(rows)),
                    ": whatever the scale and offset, their cost is infinite. Give them finite scores, or leave them "
                    "out.",
                )
            lost += weight * limit * amount(rows, weights)
    left = verdict == 0
    if not (left & is_target).any() or not (left & ~is_target).any():
        raise InputError("scores: one class has no finite score, so that nothing says where the other one begins.")
    return trials.take(left), lost


def _verdict(trials: Trials) -> FloatArray | None:
    """Which trials are decided by an infinite score: +1, -1 or 0 for each; None if there is none."""
    verdict = None
    if trials.base is None and trials.reach < math.inf:
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
            raise TrialError(
                f"scores: systems contradict each other with infinite scores in {len(against)} trials, the first ",
                int(against[0]),
                f" (system {k}). Give them finite scores.",
            )
        verdict = np.where(verdict == 0, own, verdict)
    return verdict
