"""Certificates that the best weights are infinite: classes that are separated, objectives that fall forever."""

from __future__ import annotations

import numpy as np

from deciban.core.training.linear_objective import LinearObjective
from deciban.core.training.trust_region import Derivatives, Minimum, pursued
from deciban.errors import InputError

_BLOCK = 1 << 14

_LARGE = 20.0
"""Standardized parameters from which on the order of all trials is looked at: where it separates, they are larger."""

_SUSPICIOUS = (0.1, 1e-3)
"""Newton's step at a minimum that lies at infinity moves some log odds by about 1, and next to large log odds by more
than this share of them; at any other minimum by next to nothing."""


def is_apart(level: LinearObjective, at: Derivatives) -> bool:
    """Whether no trial is on the wrong side at a point, which proves that its weights may grow forever.

    It proves nothing where something else than weights and offset has a share in it.
    """
    moves_all = level.intercept or level.log_odds == 0.0
    return at.worst < 0.0 and moves_all and len(level.center) > 0 and level.trials.base is None


def is_at_infinity(level: LinearObjective, found: Minimum) -> bool:
    """Whether Newton's step still moves log odds where it gains nothing any more: the minimum is at infinity."""
    if found.falls:
        return True
    step = np.linalg.lstsq(found.at.hessian, found.at.gradient, rcond=1e-14)[0]
    constant, share = _SUSPICIOUS
    n = len(level.center)
    with np.errstate(all="ignore"):
        farthest = (level.trials.reach + np.abs(level.center)) / level.width
        if np.abs(step[:n]) @ farthest + np.abs(step[n:]).sum() <= constant:
            return False
        for rows in level.blocks():
            block = level.scores(rows)
            log_odds = block.combined(found.point) + level.log_odds
            if np.any(np.abs(block.combined(step)) > constant + share * np.abs(log_odds)):
                return True
    return False


def require_finite(objective: LinearObjective, found: Minimum) -> Minimum:
    """Refuse an answer where the best weights are infinite, or all costs too large for a float.

    Returns
    -------
    Minimum
        What was found, or where that leads.

    Raises
    ------
    InputError
        If they are.
    """
    if not found.at.is_finite:
        raise InputError(
            f"scores: wherever the search looked, the expected cost by the rule ({objective.alpha:g}, "
            f"{objective.beta:g}) does not fit a float: some scores are far on the wrong side. Take a rule with alpha "
            "and beta of at least 1, train a scale as well, or bring such scores near."
        )
    if objective.penalty[: len(objective.center)].all():
        return found  # as it is without any column
    is_convex = max(objective.alpha, objective.beta) <= 1.0
    at_infinity = found.converged and is_at_infinity(objective, found)
    if at_infinity and is_convex and not found.falls:
        final = pursued(objective, found, lambda reached: is_at_infinity(objective, reached))
        found, at_infinity = (found, True) if final is None else (final, False)
    is_moderate = float(np.linalg.norm(found.point)) < _LARGE
    if is_convex and is_moderate and found.converged and not at_infinity and not is_apart(objective, found.at):
        return found  # a convex function that has a minimum does not fall forever
    separated = is_apart(objective, found.at) or _one_after_the_other(objective, found)
    # The scores of one system are in order, or a convex objective has a minimum: nothing is left to suspect.
    is_suspicious = at_infinity and not (is_convex and len(objective.center) == 1)
    if not separated and not is_suspicious:
        return found
    one = len(objective.center) == 1
    if separated:
        what = "no target scores" if one else "there is a weighted sum of the systems in which no target is"
        words = f"{what} below a non-target, so that the best scale is infinite (the classes are separated)"
    else:
        words = "the objective falls forever as the weights grow, so that the best scale is infinite"
    pav = "use PAV with a bound" if one else "leave out the system that tells the classes apart"
    ways = f"Add a penalty (ridge=1e-3, --ridge 1e-3), {pav}, or collect trials that are harder to tell"
    if not separated and not is_convex:
        words += ": with this rule some errors are given up for the sake of the other trials"
        ways = f"Take a rule with alpha and beta of at most 1. {ways}"
    raise InputError(f"scores: {words}. {ways}.")


def _one_after_the_other(objective: LinearObjective, found: Minimum) -> bool:
    """Whether the combined scores of all targets are at least those of all non-targets, and not all the same."""
    trials, weights = objective.trials, found.point[: len(objective.center)]
    without_offset = np.append(weights, np.zeros(int(objective.intercept)))
    with np.errstate(all="ignore"):
        ends = [(np.inf, -np.inf), (np.inf, -np.inf)]
        for i in range(0, len(trials), _BLOCK):
            rows = slice(i, i + _BLOCK)
            if len(weights) == 1:  # no digit of the only column may get lost next to scores that are far away
                combined = np.sign(weights[0]) * np.asarray(trials.columns[0][rows], np.float64)
            else:
                combined = objective.scores(rows).combined(without_offset)
            if trials.base is not None:
                combined = combined + trials.base[rows]
            for truth in (False, True):
                own = combined[trials.is_target[rows] == truth]
                low, high = ends[truth]
                ends[truth] = min(low, own.min(initial=np.inf)), max(high, own.max(initial=-np.inf))
    non, tar = ends
    # Combined scores that differ by rounding alone, as those of weight 0, separate nothing.
    spread = max(tar[1], non[1]) - min(tar[0], non[0])
    differ = spread > 0.0 if len(weights) == 1 else spread > 1e-9 * np.linalg.norm(weights)
    if objective.intercept:
        return bool(differ and tar[0] >= non[1])
    return bool(differ and tar[0] >= 0.0 >= non[1])
