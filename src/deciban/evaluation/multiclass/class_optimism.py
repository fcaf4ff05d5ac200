"""Optimism of the least Cllr of many classes: what is best for these trials does less well on new units."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import helmert

from deciban.core.resampling.left_out import LeftOut
from deciban.core.training.multiclass_objective import ClassObjective, ClassTrials
from deciban.core.training.trust_region import Minimum, minimize
from deciban.evaluation.multiclass.summands import InTurn
from deciban.evaluation.uncertainty import Figure
from deciban.types import FloatArray

if TYPE_CHECKING:
    from deciban.evaluation.multiclass.result import ClassEvaluation
    from deciban.evaluation.multiclass.summary import ClassSummary

_PRECISE = 1e-6
"""What a step more would gain, relative to the value; it is taken into account."""


def min_cllr_shift(summary: ClassSummary, found: ClassEvaluation, left_out: LeftOut) -> dict[Figure, float]:
    """What to add to the least Cllr, and to the calibration loss, for new units.

    The map is trained again without each group of units, from the best one of all trials on. Both figures stay as they
    are where infinite scores or a scale of 0 decide.

    Parameters
    ----------
    summary : ClassSummary
        Of all trials, with units.
    found : ClassEvaluation
        Of this summary.
    left_out : LeftOut
    """
    problems, calibration = summary.problems, found.calibration
    is_open = math.isfinite(found.min_cllr) and calibration.scale > 0.0 and not found.n_infinite
    if not isinstance(problems, InTurn) or not is_open or not left_out.is_possible:
        return {}
    n, trials = found.n_classes, problems.trials
    order = np.concatenate([trials.rows(k) for k in range(n)])
    fixed, basis = np.append(calibration.scale, calibration.offset), np.zeros((n + 1, n))
    basis[0, 0], basis[1:, 1:] = calibration.scale, helmert(n).T
    everywhere = np.full(n, 1.0 / n)

    def objective(weights: FloatArray) -> ClassObjective:
        some = np.flatnonzero(weights)
        rows = order[some]
        few = ClassTrials(trials.loglik[rows][:, None, :], trials.label[rows], everywhere, weights[some])
        return ClassObjective(few, np.log(everywhere), fixed, basis, np.zeros(n))

    start = np.zeros(n)
    at = objective(left_out.share)(start)
    if not at.is_finite:
        return {}
    whole = Minimum(start, start, at, math.inf, 0, 1, converged=True, flat=0)
    parts = []
    for weights in left_out.weights():
        least = minimize(objective(weights), start, reuse=True, precise=_PRECISE, after=whole, max_evaluations=20)
        parts.append(least.least / math.log(2))
    shift = left_out.shift(found.min_cllr, parts)
    return {"min_cllr": float(shift), "calibration_loss": -float(shift)}
