"""Train the weights and the offset of calibration and fusion: from scores to the optimum, or to the reason why not.

The optimum of a small stratified sample comes first, with the logarithmic rule, which is convex; the wanted rule and
the other trials follow from there, so that only a few passes go through all of them. The last pass, at the point that
is returned, is always over all trials: its gradient is the one that is reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deciban.core.expected import scoring_rule_cost
from deciban.core.linear_objective import LinearObjective, Trials
from deciban.core.moments import clipped, equal_classes, moments, quartiles, reaches
from deciban.core.separation import is_apart, is_at_infinity, require_finite
from deciban.core.training_trials import binned, sample, with_class_weights
from deciban.core.trust_region import PRECISE, ROUNDING, Derivatives, Minimum, minimize
from deciban.errors import InputError
from deciban.types import BoolArray, FloatArray, ScoreArray

_SAMPLE = 1 << 13
"""Trials of the first sample; there is one if there are many times as many."""

_MILLIONS = 1 << 22
"""Between the first sample and all trials comes one of a quarter, or from here on of a sixteenth, of them."""

_LARGE = 1 << 16
"""Trials from which on it pays to come close with float32 before the passes that count."""

_ROUGH = 1e-6
"""How precise, relative to its value, the optimum of a sample must be."""

_CLOSE = 1e-8
"""The same for all trials in float32: Newton's step squares what is missing."""

_FAR = 1e8
"""Span of scores, in widths of their bulk, from which on standard deviations tell nothing of the bulk."""


@dataclass(frozen=True, slots=True)
class LinearFit:
    """What training found.

    Attributes
    ----------
    weights : (n_columns,) array
        Factor of each column.
    offset : float
        What is added, without the prior log odds.
    standardized : (n_columns,) array
        The weights of columns divided by their standard deviation.
    objective : float
        Expected cost at the optimum, without the penalty.
    objective_at_zero : float
        The same for llr 0, what a system without information reaches.
    gradient_norm : float
        Length of the gradient at the end, by standardized parameters, over all trials.
    n_steps, n_passes : int
        Accepted steps, those on samples included, and passes over all trials in full precision.
    converged : bool
    flat : int
        Number of directions in which the objective does not change: systems that say the same.
    """

    weights: FloatArray
    offset: float
    standardized: FloatArray
    objective: float
    objective_at_zero: float
    gradient_norm: float
    n_steps: int
    n_passes: int
    converged: bool
    flat: int

    @property
    def status(self) -> str:
        """What became of the search, in words."""
        if not self.converged:
            return (
                f"not converged after {self.n_passes} passes: the gradient is {self.gradient_norm:.1e} long. Likely "
                "causes are scores that hardly overlap, systems that are nearly the same, or extreme outliers; a "
                "penalty (ridge) helps against all of them"
            )
        words = f"converged in {self.n_steps} steps, gradient {self.gradient_norm:.1e}"
        if self.flat:
            words += f"; {self.flat} of the weights follow from the others (systems that say the same): the smallest"
        return words


def train(
    columns: Sequence[ScoreArray] | ScoreArray,
    is_target: BoolArray,
    *,
    weights: FloatArray | None = None,
    alpha: float,
    beta: float,
    log_odds: float,
    ridge: float = 0.0,
    intercept: bool = True,
    base: ScoreArray | None = None,
) -> LinearFit:
    """Minimize the expected cost of a linear combination of columns.

    Parameters
    ----------
    columns : sequence of (n_trials,) arrays, or (n_trials, n_columns) array
        Checked scores; infinite ones stand for certainty. A matrix whose rows lie together in memory is fastest.
    is_target : (n_trials,) bool array
        Both classes occur.
    weights : (n_trials,) array, optional
    alpha, beta, log_odds : float
        The rule, and the prior of the objective.
    ridge : float
        Half of it times the squares of the standardized weights is added to the objective.
    intercept : bool
        Whether there is an offset.
    base : (n_trials,) array, optional
        What is added to the llr as it is.

    Raises
    ------
    InputError
        If the classes are separated, so that the best weights are infinite, if a system scores all trials alike, or
        if an infinite score says the opposite of the truth.
    """
    trials, lost = with_class_weights(Trials.of(columns, is_target, weights=weights, base=base), alpha, beta, log_odds)
    n_columns = len(trials.columns)
    nothing = np.zeros(1)
    at_zero = scoring_rule_cost((nothing, None), (nothing, None), log_odds, alpha, beta)
    unit = at_zero if at_zero > 0.0 else 1.0  # squares of the objective of a very improbable class would underflow
    trials, lost, ridge = replace(trials, class_weights=_divided(trials.class_weights, unit)), lost / unit, ridge / unit
    few = sample(trials, _SAMPLE)
    center, width = _standard(trials, few, ridge=ridge, intercept=intercept)
    penalty = np.append(np.full(n_columns, ridge), np.zeros(int(intercept)))
    objective = LinearObjective(trials, center, width, intercept, alpha, beta, log_odds, penalty, constant=lost)
    objective, found = _found(objective, few)
    require_finite(objective, found)
    center, width = objective.center, objective.width
    inside = found.polished[:n_columns]
    with np.errstate(over="ignore", under="ignore"):
        raw = inside / width
        standardized = inside if ridge > 0.0 else raw * moments(few)[1]
    if not np.isfinite(raw).all():
        raise InputError("scores: so close together that their scale does not fit a float. Multiply them first.")
    offset = float(found.polished[-1] - inside @ (center / width)) if intercept else 0.0
    # The last step, which leads to the weights, gains the decrement.
    penalized = 0.5 * float(penalty @ (found.polished if found.converged else found.point) ** 2)
    return LinearFit(
        weights=raw,
        offset=offset,
        standardized=standardized,
        objective=unit * (found.at.value - (found.decrement if found.converged else 0.0) - penalized),
        objective_at_zero=at_zero,
        gradient_norm=unit * float(np.linalg.norm(found.at.gradient)),
        n_steps=found.n_steps,
        n_passes=found.n_evaluations,
        converged=found.converged,
        flat=found.flat,
    )


def _divided(class_weights: tuple[float, float], unit: float) -> tuple[float, float]:
    return class_weights[0] / unit, class_weights[1] / unit


def _standard(trials: Trials, few: Trials, *, ridge: float, intercept: bool) -> tuple[FloatArray, FloatArray]:
    """Center and width of the columns: those that a penalty refers to, otherwise of a sample with equal classes.

    With the prior, the width could be next to nothing where one class is improbable and the other nearly constant.
    """
    few = trials if ridge > 0.0 else equal_classes(few)
    center, width = moments(few)
    if len(few) < len(trials) and not np.all(width > 0.0):
        center, width = moments(equal_classes(trials))
    if not np.isfinite(width).all():
        raise InputError("scores: their range does not fit a float. Divide them first.")
    constant = np.flatnonzero(~(width > 0.0))
    if len(constant) and (len(constant) == len(width) or not intercept):
        value = np.asarray(trials.columns[constant[0]][:1])[0]
        raise InputError(
            f"scores: all {len(trials):,} of them are {value:g}. Scores that are all the same cannot be calibrated."
        )
    width = np.where(width > 0.0, width, np.inf)  # a constant system among others gets weight 0
    return (center if intercept else np.zeros_like(center)), width


def _found(objective: LinearObjective, few: Trials) -> tuple[LinearObjective, Minimum]:
    """Where the objective is least, and the form of it with the standardization that led there.

    Next to scores that are too far away to be told from infinite ones, all others are the same in units of the
    standard deviation. Far scores that are wrong decide on the optimum, which is best sought in these units; far ones
    that are right do not matter to it, and are drawn near until its place is known.
    """
    center, width = quartiles(few)
    with np.errstate(over="ignore"):
        is_far = (width > 0.0) & reaches(objective.trials, np.where(width > 0.0, _FAR * width, np.inf))
    if not is_far.any() or objective.penalty.any():
        return objective, _descend(objective, few)
    whole = replace(objective, width=np.fmax(objective.width, moments(objective.trials)[1]))
    results = [(whole, _minimized(whole, np.zeros(whole.n_parameters), PRECISE))]
    by_quartiles = replace(
        objective,
        center=np.where(is_far & objective.intercept, center, objective.center),
        width=np.where(is_far, width, objective.width),
    )
    drawn_near = clipped(few, center, width)
    start = _descend(replace(by_quartiles, trials=drawn_near, worst=[np.inf]), drawn_near)
    if start.converged and not is_at_infinity(start):
        results.append((by_quartiles, _minimized(by_quartiles, start.polished, PRECISE)))
    return min(results, key=lambda result: result[1].at.value)


def _levels(objective: LinearObjective, few: Trials) -> Iterator[tuple[LinearObjective, float]]:
    """Samples of growing size or bins, and all trials; and how precise the optimum of each must be."""
    trials, n = objective.trials, len(objective.trials)
    # Weights of trials may be of any size, and class weights times them beyond what float32 can hold.
    rough = replace(objective, dtype=np.float64 if trials.weights is not None else np.float32)
    if few is not trials:
        yield replace(rough, trials=few, worst=[np.inf]), _ROUGH
    if n >= _LARGE and trials.weights is None:
        if len(trials.columns) == 1 and trials.base is None:
            low, high = float(np.min(few.columns[0][:])), float(np.max(few.columns[0][:]))
            if 0.0 < high - low < np.inf:
                yield replace(objective, trials=binned(trials, low, high), worst=[np.inf]), _CLOSE
        else:
            some = sample(trials, min(n // 4 if n < _MILLIONS else n // 16, n // (2 + 3 * len(trials.columns))))
            yield replace(rough, trials=some, worst=[np.inf]), _ROUGH
            del some  # its memory is wanted for the next level
            yield replace(rough, worst=[np.inf]), _CLOSE
    yield objective, PRECISE


def _descend(objective: LinearObjective, few: Trials) -> Minimum:
    """Minimize on samples first, then on all trials."""
    point, n_steps = np.zeros(objective.n_parameters), 0
    fresh = True
    for level, precise in _levels(objective, few):
        last = level is objective
        starts = _starts(level, point) if fresh else [point]
        results = [_minimized(level, start, precise) for start in starts]
        found = min(results, key=lambda result: result.at.value)
        n_steps += found.n_steps
        if last:
            return replace(found, n_steps=n_steps)
        if found.converged and not is_at_infinity(found):
            point, fresh = found.polished, False
    raise AssertionError  # the last level is always there


def _starts(level: LinearObjective, point: FloatArray) -> list[FloatArray]:
    """Where to start: for other rules at the optimum of the logarithmic one, and twice and half as steep as that."""
    if level.alpha == level.beta == 1.0:
        return [point]
    log_rule = replace(level, alpha=1.0, beta=1.0, constant=0.0)
    found = _minimized(log_rule, point, _ROUGH)
    if is_apart(log_rule) or (level.alpha <= 1.0 and level.beta <= 1.0):
        return [found.point]
    shift = np.append(np.zeros(len(level.center)), np.full(int(level.intercept), level.log_odds))
    return [found.point, *((found.point + shift) * factor - shift for factor in (2.0, 0.5))]


def _minimized(level: LinearObjective, start: FloatArray, precise: float) -> Minimum:
    """The minimum of one level, or the point at which no trial is on the wrong side any more.

    Without penalty nothing keeps the weights finite then.
    """

    def apart(_point: FloatArray, _at: Derivatives) -> bool:
        return not level.penalty.any() and is_apart(level)

    rounding = ROUNDING if level.dtype is np.float64 else 1e-6
    reuse = len(level.trials) >= _LARGE
    return minimize(level, start, reuse=reuse, precise=precise, rounding=rounding, stop=apart)
