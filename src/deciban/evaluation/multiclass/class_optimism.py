"""Optimism of the least Cllr of many classes: what is best for these trials does less well on new units."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import helmert

from deciban.core.resampling.left_out import LeftOut
from deciban.core.training.class_trials import ClassTrials
from deciban.core.training.multiclass_objective import ClassObjective
from deciban.core.training.trust_region import Minimum, minimize
from deciban.evaluation.multiclass.summands import InTurn
from deciban.multiclass.costs import calibrated_surprises
from deciban.multiclass.tables import ScoredClasses
from deciban.types import FloatArray, IntArray

if TYPE_CHECKING:
    from deciban.evaluation.multiclass.result import ClassEvaluation
    from deciban.evaluation.multiclass.summary import ClassSummary

_PRECISE = 1e-6
"""What a step more would gain, relative to the value; it is taken into account."""


@dataclass(frozen=True, slots=True, eq=False)
class CalibratedWithout:
    """What the best maps cost that were trained without each group of units in turn, from the best of all on.

    Attributes
    ----------
    shift : float
        What to add to the least Cllr for new units, in bits.
    costs : (n_trials,) array
        Logarithmic costs of trials, class by class, by the map that was trained without the group of their unit, in
        nats; of two units, the mean of both. Trials that take part in the choice of a map cost less than others.
    """

    shift: float
    costs: FloatArray

    @classmethod
    def of(cls, summary: ClassSummary, found: ClassEvaluation, left_out: LeftOut) -> CalibratedWithout | None:
        """Train without each group; None where infinite scores or a scale of 0 decide, or parts of trials are gone.

        Parameters
        ----------
        summary : ClassSummary
            Of all trials, with units.
        found : ClassEvaluation
            Of this summary.
        left_out : LeftOut
            Possible groups.
        """
        problems, calibration = summary.problems, found.calibration
        is_open = math.isfinite(found.min_cllr) and calibration.scale > 0.0 and not found.n_infinite
        if not isinstance(problems, InTurn) or not is_open:
            return None
        n, trials = found.n_classes, problems.trials
        order = np.concatenate([trials.rows(k) for k in range(n)])
        fixed, basis = np.append(calibration.scale, calibration.offset), np.zeros((n + 1, n))
        basis[0, 0], basis[1:, 1:] = calibration.scale, helmert(n).T
        start, costs, parts = np.zeros(n), np.zeros(len(order)), []
        whole = _objective(trials, order, left_out.share, fixed, basis)
        at = whole(start)
        if not at.is_finite:
            return None
        first = Minimum(start, start, at, math.inf, 0, 1, converged=True, flat=0)
        for number, (weights, _) in enumerate(left_out.weights()):
            how: Any = {"reuse": True, "precise": _PRECISE, "after": first, "max_evaluations": 20}
            least = minimize(_objective(trials, order, weights, fixed, basis), start, **how)
            parts.append(least.least / math.log(2))
            scale, *offsets = fixed + basis @ least.best
            for side in left_out.sides:
                own = np.flatnonzero(side == number)
                if not len(own):
                    continue
                some = replace(trials, loglik=trials.loglik[order[own]], label=trials.label[order[own]], weights=None)
                found_costs = calibrated_surprises(some, float(scale), np.array(offsets))
                costs[own] += found_costs / len(left_out.sides)
        return cls(max((len(parts) - 1) * (found.min_cllr - float(np.mean(parts))), 0.0), costs)


def _objective(
    trials: ScoredClasses, order: IntArray, weights: FloatArray, fixed: FloatArray, basis: FloatArray
) -> ClassObjective:
    """Cllr in nats of trials in an order, with what each contributes to the mean of its class, around a map."""
    some, n = np.flatnonzero(weights), trials.n_classes
    rows, prior = order[some], np.full(n, 1.0 / n)
    few = ClassTrials(trials.loglik[rows][:, None, :], trials.label[rows], prior, weights[some])
    return ClassObjective(few, np.log(prior), fixed, basis, np.zeros(n))
