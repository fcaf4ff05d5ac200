"""Proofs that the best weights, scales and offsets are infinite."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit

from deciban._validate.arrays import all_finite
from deciban.core.training.linear_objective import LinearObjective, TrainingTrials, amount
from deciban.core.training.sums import Ends, TrialObjective
from deciban.core.training.trust_region import SUSPICIOUS, Minimum, pursued
from deciban.errors import InputError, TrialError, option
from deciban.types import Additive, BoolArray, FloatArray, FloatPair

_BLOCK = 1 << 14


_LARGE = 20.0
"""Norm of standardized parameters above which the order of all trials is checked: separated classes exceed it."""


_ROUNDING = 1e-9
"""Relative difference, in units of the largest terms, below which log odds count as equal."""


def is_at_infinity(function: TrialObjective, minimum: Minimum) -> bool:
    """Return True if Newton's step still moves scores although it gains nothing: the minimum is at infinity.

    The method ``largest_move`` of the function returns the relative change of scores by a step, or an upper bound if
    this is low.
    """
    if minimum.falls:
        return True
    step = np.linalg.lstsq(minimum.at.hessian, minimum.at.gradient, rcond=1e-14)[0]
    return bool(function.largest_move(minimum.point, np.asarray(step, np.float64)) > SUSPICIOUS)


def require_finite(objective: LinearObjective, optimum: Minimum) -> Minimum:
    """Refuse a result with infinite weights, or with costs beyond double precision.

    Returns
    -------
    Minimum
        The result, or its continuation.

    Raises
    ------
    InputError
        If weights or costs are infinite.
    """
    if not optimum.at.is_finite:
        raise InputError(
            f"scores: everywhere in the search, the expected cost by the rule ({objective.alpha:g}, "
            f"{objective.beta:g}) exceeds double precision: some scores are far on the wrong side. Use a rule with "
            "alpha and beta of at least 1, train a scale as well, or clip these scores."
        )
    if objective.penalty[: len(objective.center)].all():
        return optimum  # or there is no column
    is_convex = objective.is_convex
    at_infinity = optimum.converged and is_at_infinity(objective, optimum)
    if at_infinity and is_convex and not optimum.falls:
        final = pursued(objective, optimum, lambda reached: is_at_infinity(objective, reached))
        optimum, at_infinity = (optimum, True) if final is None else (final, False)
    is_moderate = float(np.linalg.norm(optimum.point)) < _LARGE
    if is_convex and is_moderate and optimum.converged and not at_infinity and not objective.is_apart(optimum.at):
        return optimum  # a convex function with a minimum does not fall forever
    separated = objective.is_apart(optimum.at) or (
        _may_be_apart(objective, optimum) and _one_after_the_other(objective, optimum)
    )
    # The scores of one system overlap, or a convex objective has a minimum: no reason to suspect infinity.
    is_suspicious = at_infinity and not (is_convex and len(objective.center) == 1)
    if not separated and not is_suspicious:
        return optimum
    one = len(objective.center) == 1
    if separated:
        what = "no target has a score" if one else "there is a weighted sum of the systems in which no target is"
        side = "above" if one and optimum.point[0] < 0.0 else "below"  # scores are distances
        words = f"the classes are separated: {what} {side} a non-target, so the best scale would be infinite"
    else:
        words = "the objective falls forever as the weights grow, so the best scale would be infinite"
    pav = "use PAV with a bound" if one else "leave out the system that separates the classes"
    ways = f"Add a penalty ({option(ridge=1e-3)}), {pav}, or collect more difficult trials"
    if not separated and not is_convex:
        words += ": this rule accepts some errors for lower costs of the other trials"
        ways = f"Use a rule with alpha and beta of at most 1. {ways}"
    raise InputError(f"scores: {words}. {ways}.")


def _may_be_apart(objective: LinearObjective, minimum: Minimum) -> bool:
    """Return True if the log odds seen so far allow all targets to score at least as high as all non-targets."""
    with np.errstate(all="ignore"):
        farthest = (objective.trials.reach + np.abs(objective.center)) / objective.width
        size = float(np.abs(minimum.point[: len(farthest)]) @ np.where(np.isfinite(objective.width), farthest, 0.0))
    return not minimum.at.overlap > _ROUNDING * (1.0 + size)


def _one_after_the_other(objective: LinearObjective, minimum: Minimum) -> bool:
    """Return True if the combined scores of all targets are at least those of all non-targets, and not all equal."""
    weights = minimum.point[: len(objective.center)]
    ends = objective.trials.each(partial(_combined, objective.form, weights))
    (non, tar) = zip(ends.low.tolist(), ends.high.tolist(), strict=True)
    # Combined scores that differ only by rounding, such as scores of weight 0, separate nothing.
    spread = max(tar[1], non[1]) - min(tar[0], non[0])
    differ = spread > 0.0 if len(weights) == 1 else spread > 1e-9 * np.linalg.norm(weights)
    return bool(differ and tar[0] >= non[1]) if objective.intercept else bool(differ and tar[0] >= 0.0 >= non[1])


def _combined(form: LinearObjective, weights: FloatArray, trials: TrainingTrials) -> Ends:
    """Return the range of the combined scores of non-targets and of targets."""
    objective, ends = replace(form, trials=trials), [(np.inf, -np.inf), (np.inf, -np.inf)]
    without_offset = np.append(weights, np.zeros(int(objective.intercept)))
    with np.errstate(all="ignore"):
        for rows in (slice(i, i + _BLOCK) for i in range(0, len(trials), _BLOCK)):
            if len(weights) == 1:  # keep all digits of the only column next to far scores
                combined = np.sign(weights[0]) * np.asarray(trials.columns[0][rows], np.float64)
            else:
                combined = objective.scores(rows).combined(without_offset)
            for truth in (False, True):
                own = combined[trials.is_target[rows] == truth]
                low, high = ends[truth]
                ends[truth] = min(low, own.min(initial=np.inf)), max(high, own.max(initial=-np.inf))
    return Ends.of([low for low, _ in ends], [high for _, high in ends])


def refuse_infinite(function: TrialObjective, minimum: Minimum, *, separated: bool, ridge_helps: bool) -> Minimum:
    """Refuse a result with infinite scales or offsets.

    Parameters
    ----------
    function : ClassObjective or TransformObjective
        Minimized function.
    minimum : Minimum
        Result of the search.
    separated : bool
        True if scales provably may grow forever.
    ridge_helps : bool
        True if scales have no penalty, so that a penalty would keep them finite. If they have one, the offsets are
        infinite.

    Returns
    -------
    Minimum
        The result, or its continuation.

    Raises
    ------
    InputError
        If scales or offsets are infinite.
    """
    if not separated:
        if not (minimum.converged and is_at_infinity(function, minimum)):
            return minimum
        final = None if minimum.falls else pursued(function, minimum, lambda reached: is_at_infinity(function, reached))
        if final is not None:
            return final
    if not ridge_helps:
        raise InputError(
            "loglik: the objective falls forever as the offsets grow, so that the best offsets are infinite: infinite "
            "scores decide all trials of one class against another, but not the other way round. Give them finite "
            "scores, or leave one of these classes out."
        )
    if separated:
        words = (
            "some scale and offsets put the true class ahead in every trial, so that the best scale is infinite (the "
            "classes are separated)"
        )
    else:
        words = "the objective falls forever as the scales or offsets grow, so that the best ones are infinite"
    raise InputError(f"loglik: {words}. Add a penalty ({option(ridge=1e-3)}), or collect more difficult trials.")


def reachable(step: BoolArray) -> BoolArray:
    """Return True for pairs (i, j) of nodes if j can be reached from i in any number of steps, including none."""
    reach = step | np.eye(len(step), dtype=np.bool_)
    while not reach.all():
        farther = reach.astype(np.float32) @ reach.astype(np.float32) > 0.0
        if np.array_equal(farther, reach):
            break
        reach = farther
    return reach


@dataclass(frozen=True, slots=True, eq=False)
class Escape:
    """A direction of scale and offsets in which the cross-entropy of one system falls forever, or stays level.

    Along it, the lead of a rival j over the true class i in a trial falls. If ``level[i, j]`` is True and the lead is
    as large as the largest in trials of class i, it stays level. No direction makes more leads fall.

    Attributes
    ----------
    scale : float
        0 or 1; with 0, all leads of level pairs stay level, not only the largest.
    offsets : (n_classes,) array
    level : (n_classes, n_classes) bool array
    margin : (n_classes, n_classes) array
        Leads that are below the largest by no more than this count as equal to it, because of rounding.
    """

    scale: float
    offsets: FloatArray
    level: BoolArray
    margin: FloatArray

    @classmethod
    def of(cls, leads: FloatArray, *, scale: bool, offset: bool) -> Escape | None:
        """Find the direction from the largest leads alone; return None if no direction helps.

        For a scale that does not fall, only the largest lead of class j over class i in trials of class i matters.
        Offsets must satisfy ``offset_i - offset_j >= scale * leads[i, j]``, a system of difference constraints. It has
        a solution with scale 1 if no cycle of classes has a sum above 0, and equality is forced on cycles with sum 0
        (Cormen and others, Introduction to Algorithms, on difference constraints). With scale 0 it always has a
        solution, and equality is forced between classes that can be reached from each other.

        Parameters
        ----------
        leads : (n_classes, n_classes) array
            Largest lead of class j over class i in trials of class i; -inf if all exclude j, and for i itself.
        scale, offset : bool
            Parameters that may change, at least one of them. The scale may not fall.
        """
        exact, compared = np.zeros(leads.shape), leads > -np.inf
        if not compared.any():
            return None
        if not offset:
            return cls(1.0, exact[0], leads == 0.0, exact) if np.all(leads <= 0.0) else None
        ways = _greatest_ways(leads) if scale else None
        if ways is not None:
            sums, rounding = ways
            # Each column solves the constraints; pairs outside cycles of sum 0 have slack in one of them.
            return cls(1.0, sums.mean(axis=1), (leads + sums.T >= -rounding.T) & compared, rounding.T)
        reach = reachable(compared)
        level = reach & reach.T
        if not np.any(compared & ~level):
            return None
        return cls(0.0, reach.sum(axis=1).astype(np.float64), level, exact)


def _greatest_ways(leads: FloatArray) -> FloatPair | None:
    """Return the greatest sum of leads on any path from i to j, and its rounding; None if a cycle is above 0.

    Two classes are compared exactly. Sums along longer paths are rounded.
    """
    n = len(leads)
    if np.any(leads + leads.T > 0.0):
        return None
    relative = 0.0 if n == 2 else 4.0 * n * float(np.finfo(np.float64).eps)
    largest, negative = float(leads.max()), -leads[np.isfinite(leads) & (leads < 0.0)]
    # Far enough below the others that no cycle through it could return to 0; finite, so that sums keep their digits.
    floor = (n + 1.0) * abs(largest) if largest != 0.0 else float(negative.min(initial=1.0))
    sums = np.maximum(leads, -floor)
    np.fill_diagonal(sums, 0.0)
    size = np.abs(sums)
    for k in range(n):  # Floyd-Warshall algorithm
        through = sums[:, k, None] + sums[k]
        better = through > sums
        sums = np.where(better, through, sums)
        size = np.where(better, np.maximum(size[:, k, None], size[k]), size)
        if np.any(np.diag(sums) > relative * np.diag(size)):
            return None
        np.fill_diagonal(sums, 0.0)
        np.fill_diagonal(size, 0.0)
    return sums, relative * np.maximum(size, np.abs(np.maximum(leads, -floor)).T)


_FEW = 1 << 15


Pair = tuple[float, float]
"""Numbers of non-targets and of targets."""


@dataclass(frozen=True, slots=True)
class Amounts(Additive):
    """Numbers of non-targets and targets by kind; ``a + b`` merges two sets of trials.

    Attributes
    ----------
    total : (float, float)
        Number (or weight) of trials.
    wrong : (float, float)
        Number (or weight) of trials whose infinite scores contradict their class.
    left : (int, int)
        Trials that infinite scores do not decide.
    """

    total: Pair
    wrong: Pair
    left: tuple[int, int]

    def class_weights(self, log_odds: float) -> Pair:
        """Return the contribution of a non-target and of a target of weight 1."""
        return float(expit(-log_odds)) / self.total[0], float(expit(log_odds)) / self.total[1]

    def lost(self, class_weights: Pair, alpha: float, beta: float) -> float:
        """Return the cost of the wrong trials, which does not depend on the parameters."""
        limits = [_limit(own, alpha + beta) for own in (beta, alpha)]
        parts = zip(class_weights, limits, self.wrong, strict=True)
        return sum(weight * limit * wrong for weight, limit, wrong in parts if wrong)


def with_class_weights(trials: Any, alpha: float, beta: float, log_odds: float) -> tuple[Any, float]:
    """Return the trials whose cost depends on the parameters, with class weights, and the cost of the others.

    Infinite scores represent certainty: a target at +inf costs nothing at any parameters, as long as the weight of its
    system is positive.

    Parameters
    ----------
    trials : TrainingTrials or PartsOfTrials
    alpha, beta, log_odds : float

    Raises
    ------
    TrialError, InputError
        If an infinite score contradicts the true class, and the rule has no limit for this cost; if systems contradict
        each other; or if a class has no finite score.
    """
    left, amounts = undecided(trials, alpha, beta)
    if not min(amounts.left):
        raise InputError("scores: one class has no finite score. Training needs finite scores of both classes.")
    class_weights = amounts.class_weights(log_odds)
    return replace(left, class_weights=class_weights), amounts.lost(class_weights, alpha, beta)


def undecided(trials: Any, alpha: float, beta: float) -> tuple[Any, Amounts]:
    """Return the trials that count and that infinite scores do not decide, and the numbers of trials by kind.

    Raises
    ------
    TrialError
        See `with_class_weights`.
    """
    if not isinstance(trials, TrainingTrials):
        result: tuple[Any, Amounts] = trials.undecided(alpha, beta)
        return result
    if trials.weights is not None and not trials.weights.all():
        counting = np.flatnonzero(trials.weights)
        numbers = counting if trials.numbers is None else trials.numbers[counting]
        return undecided(replace(trials.take(counting), numbers=numbers), alpha, beta)
    try:
        return _undecided(trials, alpha, beta)
    except TrialError as error:
        raise error if trials.numbers is None else error.among(trials.numbers) from None


def _undecided(trials: TrainingTrials, alpha: float, beta: float) -> tuple[TrainingTrials, Amounts]:
    """Do the same as `undecided` for trials in memory that all count."""
    is_target, verdict, total = trials.is_target, _verdict(trials), trials.amounts
    if verdict is None:
        return trials, Amounts(total, (0.0, 0.0), _counts(is_target))
    wrong = ((verdict > 0) & ~is_target, (verdict < 0) & is_target)
    for rows, name, sign, own in ((wrong[1], "target", "-inf", alpha), (wrong[0], "non-target", "+inf", beta)):
        if rows.any() and math.isinf(_limit(own, alpha + beta)):
            raise TrialError(
                f"scores: {rows.sum()} {name} trials score {sign}, the first ",
                int(np.argmax(rows)),
                ": their cost is infinite at any scale and offset. Give them finite scores, or leave them out.",
            )
    non, tar = (amount(rows, trials.weights) for rows in wrong)
    left = trials.take(verdict == 0)
    return left, Amounts(total, (non, tar), _counts(left.is_target))


def _limit(own: float, both: float) -> float:
    """Return the cost of certainty of the wrong class."""
    return (both - 1.0) / (own - 1.0) if own > 1.0 else math.inf


def _counts(is_target: BoolArray) -> tuple[int, int]:
    n_tar = int(np.count_nonzero(is_target))
    return len(is_target) - n_tar, n_tar


def _verdict(trials: TrainingTrials) -> FloatArray | None:
    """Return the decision of infinite scores for each trial: +1, -1 or 0; None if there are no infinite scores."""
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
