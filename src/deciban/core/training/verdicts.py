"""What infinite scores of two classes decide: which trials there are to train on, and how much each class counts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit

from deciban._validate.arrays import all_finite
from deciban.core.training.linear_trials import Trials, amount
from deciban.errors import InputError, TrialError
from deciban.types import BoolArray, FloatArray

_FEW = 1 << 15

Pair = tuple[float, float]
"""Of non-targets and of targets."""


@dataclass(frozen=True, slots=True)
class Amounts:
    """How much trials count, of non-targets and of targets; amounts of more trials add up.

    Attributes
    ----------
    total : (float, float)
        With their weights.
    wrong : (float, float)
        Of those that infinite scores say the opposite of.
    left : (int, int)
        Trials that infinite scores do not decide.
    """

    total: Pair
    wrong: Pair
    left: tuple[int, int]

    def __add__(self, other: Amounts) -> Amounts:
        """Of both."""
        total, wrong = _both(self.total, other.total), _both(self.wrong, other.wrong)
        return Amounts(total, wrong, (self.left[0] + other.left[0], self.left[1] + other.left[1]))

    def class_weights(self, log_odds: float) -> Pair:
        """What a non-target and a target of weight 1 contribute."""
        return float(expit(-log_odds)) / self.total[0], float(expit(log_odds)) / self.total[1]

    def lost(self, class_weights: Pair, alpha: float, beta: float) -> float:
        """What the wrong ones cost, whatever the parameters are."""
        limits = [_limit(own, alpha + beta) for own in (beta, alpha)]
        parts = zip(class_weights, limits, self.wrong, strict=True)
        return sum(weight * limit * wrong for weight, limit, wrong in parts if wrong)


def with_class_weights(trials: Any, alpha: float, beta: float, log_odds: float) -> tuple[Any, float]:
    """The trials whose cost depends on the parameters, with their class weights, and the cost of the others.

    Infinite scores stand for certainty: a target at +inf costs nothing, whatever the parameters are, as long as the
    weight of its system is positive.

    Parameters
    ----------
    trials : Trials or PartsOfTrials
    alpha, beta, log_odds : float

    Raises
    ------
    TrialError, InputError
        If an infinite score says the opposite of the truth, and the rule punishes that without limit; if systems
        contradict each other; or if a class has no finite score.
    """
    left, amounts = undecided(trials, alpha, beta) if isinstance(trials, Trials) else trials.undecided(alpha, beta)
    if not min(amounts.left):
        raise InputError("scores: one class has no finite score, so that nothing says where the other one begins.")
    class_weights = amounts.class_weights(log_odds)
    return replace(left, class_weights=class_weights), amounts.lost(class_weights, alpha, beta)


def undecided(trials: Trials, alpha: float, beta: float) -> tuple[Trials, Amounts]:
    """The trials that count and that infinite scores do not decide, and how many there are of which kind.

    Raises
    ------
    TrialError
        As `with_class_weights`.
    """
    if trials.weights is not None and not trials.weights.all():
        counting = np.flatnonzero(trials.weights)
        try:
            return undecided(trials.take(counting), alpha, beta)
        except TrialError as error:
            raise error.among(counting) from None
    is_target, verdict, total = trials.is_target, _verdict(trials), trials.amounts
    if verdict is None:
        return trials, Amounts(total, (0.0, 0.0), _counts(is_target))
    wrong = ((verdict > 0) & ~is_target, (verdict < 0) & is_target)
    for rows, name, sign, own in ((wrong[1], "target", "-inf", alpha), (wrong[0], "non-target", "+inf", beta)):
        if rows.any() and math.isinf(_limit(own, alpha + beta)):
            raise TrialError(
                f"scores: {rows.sum()} {name} trials score {sign}, the first ",
                int(np.argmax(rows)),
                ": whatever the scale and offset, their cost is infinite. Give them finite scores, or leave them out.",
            )
    non, tar = (amount(rows, trials.weights) for rows in wrong)
    left = trials.take(verdict == 0)
    return left, Amounts(total, (non, tar), _counts(left.is_target))


def _limit(own: float, both: float) -> float:
    """What certainty of the wrong class costs."""
    return (both - 1.0) / (own - 1.0) if own > 1.0 else math.inf


def _counts(is_target: BoolArray) -> tuple[int, int]:
    n_tar = int(np.count_nonzero(is_target))
    return len(is_target) - n_tar, n_tar


def _both(one: Pair, other: Pair) -> Pair:
    return one[0] + other[0], one[1] + other[1]


def _verdict(trials: Trials) -> FloatArray | None:
    """Which trials are decided by an infinite score: +1, -1 or 0 for each; None if there is none."""
    verdict = None
    if trials.base is None and trials.reach < math.inf:
        return None
    for k, column in enumerate(trials.columns if trials.base is None else (*trials.columns, trials.base)):
        if all(all_finite(np.asarray(column[i : i + _FEW])) for i in range(0, len(trials), _FEW)):
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
