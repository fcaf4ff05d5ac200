"""Train the scales and offsets of calibration and fusion of many classes, to the optimum or to the reason why not.

The way is that of two classes (`deciban.core.descent`): samples first, then all trials in float32, then in float64.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import helmert

from deciban._validate import all_finite
from deciban.core.class_moments import reach_in_widths, standardization
from deciban.core.class_objective import ClassObjective, ClassTrials
from deciban.core.class_outliers import drawn_near, typical_spreads
from deciban.core.class_separation import refuse_infinite
from deciban.core.descent import INFORMATIVE, LARGE, ROUGH, Way, search
from deciban.core.fit import Fit
from deciban.core.samples import SAMPLE
from deciban.core.trust_region import PRECISE, Derivatives, Minimum
from deciban.errors import InputError
from deciban.types import FloatArray, IntArray, ScoreArray

_LAST = 3e-13
"""How precise, relative to its value, the optimum of many trials must be: as with two classes, to the tenth digit."""

_TINY = 1e-30
"""Class weights from which on float32 can hold them and their products."""

_EXTREME = 1e60
"""Widths beyond this, or below its inverse, are brought near 1: products of several scores must fit a float."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassFit(Fit):
    """What training of weights and an offset for each class found; its objective is in nats.

    Attributes
    ----------
    offsets : (n_classes,) array
        What is added; their mean is 0, and so is that of a class of prior 0.
    """

    offsets: FloatArray


def train_classes(
    systems: ScoreArray,
    label: IntArray,
    *,
    prior: FloatArray,
    weights: FloatArray | None = None,
    ridge: float = 0.0,
    scale: bool = True,
    offset: bool = True,
) -> ClassFit:
    """Minimize the cross-entropy of ``b + sum_k a_k lam_k``.

    Parameters
    ----------
    systems : (n_trials, n_classes) or (n_trials, n_systems, n_classes) array
        Checked log-likelihoods in nats; infinite ones stand for certainty.
    label : (n_trials,) int array
        Every class of positive prior occurs.
    prior : (n_classes,) array
        Probabilities; classes of prior 0 drop out, their trials and their scores.
    weights : (n_trials,) array, optional
    ridge : float
        Half of it times the squares of the standardized weights is added to the objective.
    scale, offset : bool
        Whether these are trained; otherwise scales are 1, and offsets 0.

    Raises
    ------
    InputError
        If the classes are separated, so that the best weights are infinite, if a system scores all classes alike, or
        if an infinite log-likelihood says the opposite of the truth.
    """
    systems = systems[:, None, :] if systems.ndim == 2 else systems
    possible = prior > 0.0
    trials, certain = _trials(systems, label, prior, weights)
    prior = prior[possible]
    few = sample(trials)
    width = standardization(trials if ridge > 0.0 else few)[1]
    unit = typical_spreads(few, width) if scale and ridge == 0.0 else width  # a penalty counts widths
    factor = _moderate(unit) if scale else np.ones(len(width))
    if np.any(factor != 1.0):
        trials = replace(trials, systems=trials.systems * factor[:, None])
        few, width, unit = sample(trials), width * factor, unit * factor
    form = {"ridge": ridge, "scale": scale, "offset": offset}
    objective, found = _searched(trials, few, prior, width, unit, **form)
    if not found.converged and np.any(unit != width):  # far scores are wrong, and decide
        objective, found = _searched(trials, few, prior, width, width, **form)
    _require_finite(objective, found)
    n_systems = systems.shape[1]
    raw = objective.fixed + objective.basis @ found.polished
    offsets = np.zeros(len(possible))
    offsets[possible] = raw[n_systems:] - raw[n_systems:].mean()
    penalized = 0.5 * float(objective.penalty @ (found.polished if found.converged else found.point) ** 2)
    return ClassFit(
        weights=raw[:n_systems] * factor,
        offsets=offsets,
        standardized=raw[:n_systems] * width,
        objective=certain + found.at.value - (found.decrement if found.converged else 0.0) - penalized,
        objective_at_zero=float(-(prior @ np.log(prior))),
        gradient_norm=float(np.linalg.norm(found.at.gradient)),
        n_steps=found.n_steps,
        n_passes=found.n_evaluations,
        converged=found.converged,
        flat=found.flat,
    )


def _searched(
    trials: ClassTrials, few: ClassTrials, prior: FloatArray, width: FloatArray, unit: FloatArray, **form: Any
) -> tuple[ClassObjective, Minimum]:
    """The objective by scores divided by their unit, and where its search ended."""
    reach = reach_in_widths(trials.systems, unit)
    all_of_them = replace(trials, reach=reach)
    few = all_of_them if few is trials else replace(few, reach=reach)
    near = drawn_near(few, unit) if np.any(unit != width) else None
    center = standardization(few if near is None else near)[0]
    objective = _objective(all_of_them, prior, center, unit, **form)
    return objective, _descend(objective, few, near)


def _moderate(width: FloatArray) -> FloatArray:
    """Powers of two that bring extreme widths near 1, so that squares of scores fit a float; 1 for all others."""
    extreme = (width > 0.0) & ((width < 1.0 / _EXTREME) | (width > _EXTREME))
    exponents = -np.round(np.log2(np.where(extreme, width, 1.0)))
    return np.asarray(2.0 ** np.clip(exponents, -1022.0, 1022.0), np.float64)


def _trials(
    systems: ScoreArray, label: IntArray, prior: FloatArray, weights: FloatArray | None
) -> tuple[ClassTrials, float]:
    """The trials and classes that count, with class weights, and what certain trials cost.

    Raises
    ------
    InputError
        If infinite scores say the opposite of the truth.
    """
    possible, numbers = prior > 0.0, None
    counts = possible[label] if weights is None else possible[label] & (weights > 0.0)
    if not counts.all():
        numbers = np.flatnonzero(counts)
        systems, label = systems[numbers], label[numbers]
        weights = None if weights is None else weights[numbers]
    if not possible.all():
        systems, label, prior = systems[:, :, possible], (np.cumsum(possible) - 1)[label], prior[possible]
    trials = ClassTrials(systems, label, np.zeros(len(prior)), weights)
    trials = replace(trials, class_weights=prior / trials.amounts)
    return _without_certain(trials, prior, numbers)


def _without_certain(trials: ClassTrials, prior: FloatArray, numbers: IntArray | None) -> tuple[ClassTrials, float]:
    """Leave out trials that +inf decides, whose cost no scale or offset changes, and tell what they cost.

    Raises
    ------
    InputError
        If infinite scores are wrong; ``numbers`` are the indices by which the user knows the trials, if some are left
        out already.
    """
    if all_finite(trials.systems):
        return trials, 0.0
    rows = np.arange(len(trials))
    excluded = np.isneginf(trials.systems[rows, :, trials.label]).any(axis=1)
    certain = np.any(trials.systems == np.inf, axis=1)
    decided = certain.any(axis=1)
    wrong = np.flatnonzero(excluded | (decided & ~certain[rows, trials.label]))
    if len(wrong):
        first = wrong[0] if numbers is None else numbers[wrong[0]]
        raise InputError(
            f"loglik: infinite scores rule out the true class of {len(wrong)} trials, the first at index {first}: "
            "whatever the scale and offsets, their cost is infinite. Give them finite scores, or leave them out."
        )
    left = trials.take(np.flatnonzero(~decided))
    if not left.amounts.all():
        raise InputError("loglik: one class has no trial of finite scores, so that nothing says where it begins.")
    sure = trials.take(np.flatnonzero(decided))
    weight = sure.class_weights[sure.label] * (1.0 if sure.weights is None else sure.weights)
    # Where several classes are certain, the prior decides between them.
    return left, float(weight @ (np.log(certain[decided] @ prior) - np.log(prior[sure.label])))


def sample(trials: ClassTrials) -> ClassTrials:
    """About ``SAMPLE`` trials of each kind, evenly spread, with as many of each class as there may be."""
    n, n_classes = len(trials), len(trials.class_weights)
    size = max(SAMPLE, 40 * n_classes)
    if n < 4 * size:
        return trials
    order = np.argsort(trials.label, kind="stable")
    ends = np.cumsum(np.bincount(trials.label, minlength=n_classes))
    share = max(size // n_classes, 1)
    own = (order[begin:end] for begin, end in zip(np.append(0, ends[:-1]), ends, strict=True))
    rows = np.sort(np.concatenate([some[:: max(len(some) // share, 1)] for some in own]))
    few = trials.take(rows)
    if not few.amounts.all():
        return trials
    return replace(few, class_weights=trials.class_weights * trials.amounts / few.amounts)


def _objective(
    trials: ClassTrials,
    prior: FloatArray,
    center: FloatArray,
    width: FloatArray,
    *,
    ridge: float,
    scale: bool,
    offset: bool,
) -> ClassObjective:
    """The objective by standardized parameters: the weights of systems, then offsets that have mean 0."""
    n_systems, n_classes = center.shape
    fixed, basis = np.zeros(n_systems + n_classes), np.zeros((n_systems + n_classes, 0))
    if scale:
        if not np.any(width > 0.0):
            raise InputError("loglik: every trial scores all classes in the same way, so that no scale can be trained.")
        inverse = np.where(width > 0.0, 1.0 / np.where(width > 0.0, width, 1.0), 0.0)
        scales = np.vstack((np.diag(inverse), -(center * inverse[:, None]).T if offset else np.zeros(center.T.shape)))
        basis = np.hstack((basis, scales))
    else:
        fixed[:n_systems] = 1.0
    if offset:
        basis = np.hstack((basis, np.vstack((np.zeros((n_systems, n_classes - 1)), helmert(n_classes).T))))
    penalty = np.zeros(basis.shape[1])
    penalty[: n_systems * scale] = ridge
    return ClassObjective(trials, np.log(prior), fixed, basis, penalty)


def _descend(objective: ClassObjective, few: ClassTrials, near: ClassTrials | None) -> Minimum:
    """Minimize on samples first, where far scores are drawn near if there are such, then on all trials."""
    trials, n = objective.trials, len(objective.trials)
    is_rough = trials.weights is None and bool(np.all(trials.class_weights > _TINY))
    rough = replace(objective, dtype=np.float32) if is_rough else objective
    way = Way(np.zeros(objective.basis.shape[1]), _minimized)
    if near is not None:
        way.follow(replace(rough, trials=near), ROUGH[0])
    if few is not trials:
        way.follow(replace(rough, trials=few), ROUGH[0])
    if n < LARGE:
        return way.follow(objective, PRECISE)
    return way.through_all(objective, rough, few, max(SAMPLE, n // INFORMATIVE), _LAST)


def _minimized(level: ClassObjective, start: FloatArray, precise: float, after: Minimum | None) -> Minimum:
    """The minimum of one level, or the point at which no wrong class leads any more."""
    has_end = bool(level.penalty.any())

    def apart(_point: FloatArray, at: Derivatives) -> bool:
        return not has_end and _is_apart(level, at)

    return search(level, start, precise, after, apart)


def _is_apart(level: ClassObjective, at: Derivatives) -> bool:
    """Whether the right class leads in all trials, which proves that scales may grow forever.

    It proves nothing where the prior decides, and offsets cannot make up for it; nor where there is no scale.
    """
    n_systems = level.trials.systems.shape[1]
    has_scale = level.basis[:n_systems].any()
    return bool(at.worst < 0.0 and has_scale and (level.basis[n_systems:].any() or np.ptp(level.log_prior) == 0.0))


def _require_finite(objective: ClassObjective, found: Minimum) -> None:
    """Refuse an answer where the best scales or offsets are infinite; a penalty keeps them finite.

    Raises
    ------
    InputError
        If they are.
    """
    if not objective.penalty.any():
        refuse_infinite(found, objective.largest_move, separated=_is_apart(objective, found.at))
