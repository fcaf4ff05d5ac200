"""Training of the scales and offsets of multiclass calibration and fusion, to the optimum or to an error.

The method is the same as with two classes (`deciban.core.training.linear_training`): samples first, then all trials in
float32, then in float64.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from deciban.core.classes.counts import ordered_by_class
from deciban.core.training import moments
from deciban.core.training.batches import ClassTrialsInParts, PartsOfClassTrials
from deciban.core.training.linear_objective import length_bound
from deciban.core.training.linear_training import CLOSE, LARGE, ROUGH, Fit, LevelSearch
from deciban.core.training.moments import SAMPLE, drawn_near, require_scales, standardization, widths_near
from deciban.core.training.multiclass_objective import ClassObjective, ClassTrials, CountedTrials
from deciban.core.training.separation import refuse_infinite
from deciban.core.training.trust_region import PRECISE, Minimum
from deciban.errors import InputError
from deciban.types import FloatArray, FloatPair


@dataclass(frozen=True, eq=False)
class Survey:
    """Training trials, with properties that are computed once for any number of maps.

    Attributes
    ----------
    trials : ClassTrials or ClassTrialsInParts
    """

    trials: Any

    @cached_property
    def few(self) -> ClassTrials:
        """An even sample; all trials if there are few."""
        return sample(self.trials)

    @cached_property
    def standard(self) -> FloatPair:
        """Center and width of each system, from a sample with equal classes.

        With the prior, the width could be tiny if one class is probable and its scores nearly constant.
        """
        center, width = moments.standardization(_equal_classes(self.few))
        if self.few is self.trials or np.all(width > 0.0):
            return center, width
        # A system may be constant in a sample only.
        return moments.standardization(_equal_classes(self.trials))

    @cached_property
    def center(self) -> FloatArray:
        """Center of each system, from a sample with class priors."""
        amounts = self.few.class_weights * self.few.amounts
        is_flat = self.few is self.trials and np.ptp(amounts) <= _ROUNDING * amounts.max()
        return self.standard[0] if is_flat else moments.standardization(self.few)[0]

    def typical_spreads(self, width: FloatArray) -> FloatArray:
        """Return `deciban.core.training.moments.typical_spreads` of a sample."""
        return moments.typical_spreads(self._spreads, width)

    @cached_property
    def _spreads(self) -> FloatArray:
        return moments.spreads(self.few)

    @cached_property
    def _length(self) -> float:
        trials = self.trials
        if isinstance(trials, ClassTrialsInParts):
            return trials.length
        return length_bound(trials.systems.reshape(len(trials), -1))

    def reach_in_widths(self, width: FloatArray) -> float:
        """Return an upper bound of all absolute scores, in units of the least width."""
        least = float(np.min(width[width > 0.0], initial=np.inf))
        return self._length / least if least < np.inf else np.inf


_ROUNDING = 1e-14
"""Relative difference up to which priors of classes count as equal."""


def _equal_classes(trials: Any) -> Any:
    """Return the trials at the flat prior."""
    amounts = trials.amounts
    return replace(trials, class_weights=np.divide(1.0, amounts, out=np.zeros(len(amounts)), where=amounts > 0.0))


def sample(trials: ClassTrials | ClassTrialsInParts) -> ClassTrials:
    """Return about ``SAMPLE`` evenly spaced trials of each kind, with as many of each class as possible.

    Trials in batches have one sample, drawn in the first pass.
    """
    if isinstance(trials, ClassTrialsInParts):
        return trials.few
    n, n_classes = len(trials), len(trials.class_weights)
    size = max(SAMPLE, 40 * n_classes)
    if n < 4 * size:
        return trials
    order = ordered_by_class(trials.label, n_classes)
    ends = np.cumsum(np.bincount(trials.label, minlength=n_classes))
    share = max(size // n_classes, 1)
    own = (order[begin:end] for begin, end in zip(np.append(0, ends[:-1]), ends, strict=True))
    rows = np.sort(np.concatenate([some[:: max(len(some) // share, 1)] for some in own]))
    few = trials.take(rows)
    everything, amounts = trials.amounts, few.amounts
    if np.any((amounts == 0.0) & (everything > 0.0)):
        return trials
    # Infinite scores may decide all trials of a class, so that none of them remain.
    stand_for = np.divide(everything, amounts, out=np.ones(n_classes), where=amounts > 0.0)
    return replace(few, class_weights=trials.class_weights * stand_for)


_LAST = 3e-13
"""Required relative precision of the optimum of many trials: as with two classes, to ten digits."""


_LAST_OF_VALUE = 1e-9
"""The same if only the value matters: its error is a thousandth of this or less, since the last step is predicted."""


_LARGE_FOR_VALUE = 1 << 12
"""Number of trials above which a search for a value begins in float32."""


_TINY = 1e-30
"""Least class weight that float32 can represent, with its products."""


_FAR = 1e4
"""Width in nats above which offsets of unscaled scores are measured in widths."""


_EXTREME = 1e60
"""Widths beyond this, or below its inverse, are rescaled to about 1, so that products of scores stay within float64."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassFit(Fit):
    """Trained weights, and an offset for each class; the objective is in nats.

    Attributes
    ----------
    offsets : (n_classes,) array
        Added to the scores; their mean is 0, and so is the offset of a class of prior 0.
    """

    offsets: FloatArray


def train_counted(
    counted: CountedTrials | PartsOfClassTrials,
    survey: Survey | None = None,
    *,
    ridge: float = 0.0,
    scale: bool = True,
    offset: bool = True,
    has_optimum: bool = False,
    only_value: bool = False,
) -> ClassFit:
    """Minimize the cross-entropy of ``b + sum_k a_k lam_k``.

    Parameters
    ----------
    counted : CountedTrials or PartsOfClassTrials
        Trials that count: every class of positive prior occurs, and infinite log-likelihoods represent certainty.
    survey : Survey, optional
        Shared properties of the trials, if several maps are trained.
    ridge : float
        Half of it times the squared standardized weights is added to the objective.
    scale, offset : bool
        Train scales, or offsets; otherwise scales are 1, and offsets 0.
    has_optimum : bool
        True if an optimum is known to exist: then a very distant optimum is not refused as infinite.
    only_value : bool
        Find the objective to full precision, but the map to about seven digits, and its standardized weights by a
        sample. This saves passes.

    Raises
    ------
    InputError
        If the classes are separated, so that the best weights are infinite; if a system gives all classes the same
        scores; or if infinite log-likelihoods contradict the true classes, leave no trials to train on, or leave no
        limit to an offset.
    """
    prior, is_possible = counted.prior, counted.is_possible
    trials, certain = counted.undecided(offset=offset)
    if survey is None or survey.trials is not trials:
        survey = Survey(trials)
    form = {"ridge": ridge, "scale": scale, "offset": offset}
    center, width = survey.standard if ridge == 0.0 else standardization(trials)
    if not offset and not width.any():  # constant scores in all undecided trials: they act like offsets
        width = np.ptp(center, axis=1)
    unit = survey.typical_spreads(width) if scale and ridge == 0.0 else width  # a penalty is relative to widths
    factor = _moderate(unit) if scale else np.ones(len(width))
    if np.any(factor != 1.0):
        survey = Survey(trials.scaled(factor))
        width, unit = width * factor, unit * factor
    objective, found = _searched(survey, prior, width, unit, only_value=only_value, **form)
    if not found.converged and np.any(unit != width):  # far scores are wrong, and determine the optimum
        objective, found = _searched(survey, prior, width, width, only_value=only_value, **form)
    if not has_optimum:
        found = _require_finite(objective, found)
    n_systems, n_classes = len(width), len(is_possible)
    if not only_value and ridge == 0.0 and (survey.few is not survey.trials or np.ptp(prior) > 0.0):
        width = np.where(width > 0.0, widths_near(survey.trials, survey.few), 0.0)
    raw = objective.fixed + objective.basis @ found.polished
    with np.errstate(over="ignore"):
        scales = raw[:n_systems] * factor
    require_scales(scales, "loglik")
    offsets = np.zeros(n_classes)
    offsets[is_possible] = raw[n_systems:] - raw[n_systems:].mean()
    return ClassFit(
        weights=scales,
        offsets=offsets,
        standardized=raw[:n_systems] * width,
        objective=certain + found.least - 0.5 * float(objective.penalty @ found.best**2),
        objective_at_zero=float(-(prior @ np.log(prior))),
        **found.course,
    )


def _searched(
    survey: Survey, prior: FloatArray, width: FloatArray, unit: FloatArray, *, only_value: bool, **form: Any
) -> tuple[ClassObjective, Minimum]:
    """Return the objective of scores divided by their unit, and its minimum: on samples first, then on all trials.

    If there are far scores, they are clipped in the first search.
    """
    trials, reach = survey.trials, survey.reach_in_widths(unit)
    all_of_them = replace(trials, reach=reach)
    few = all_of_them if survey.few is trials else replace(survey.few, reach=reach)
    near = drawn_near(few, unit) if np.any(unit != width) else None
    center = survey.center if near is None else standardization(near)[0]
    objective = objective_of(all_of_them, prior, center, unit, **form)
    is_rough = not trials.has_weights and bool(np.all(trials.class_weights > _TINY))
    rough = replace(objective, dtype=np.float32) if is_rough else objective
    way = LevelSearch(np.zeros(objective.basis.shape[1]))
    is_in_parts = isinstance(trials, ClassTrialsInParts)
    if near is not None:
        way.follow(replace(rough, trials=near), ROUGH[0])
    if few is not all_of_them:
        way.follow(replace(rough, trials=few), ROUGH[0])
    if is_in_parts:  # a large sample saves passes
        way.follow(replace(objective, trials=few), PRECISE)
    if trials.size < (_LARGE_FOR_VALUE if only_value else LARGE):
        return objective, way.follow(objective, PRECISE)
    found = way.follow(rough, CLOSE)
    return objective, way.follow(objective, _LAST_OF_VALUE if only_value else _LAST, after=found)


def _moderate(width: FloatArray) -> FloatArray:
    """Return powers of two that rescale extreme widths to about 1; 1 for all others."""
    extreme = (width > 0.0) & ((width < 1.0 / _EXTREME) | (width > _EXTREME))
    exponents = -np.round(np.log2(np.where(extreme, width, 1.0)))
    return np.asarray(2.0 ** np.clip(exponents, -1022.0, 1022.0), np.float64)


def objective_of(
    trials: ClassTrials,
    prior: FloatArray,
    center: FloatArray,
    width: FloatArray,
    *,
    ridge: float,
    scale: bool,
    offset: bool,
) -> ClassObjective:
    """Return the objective in standardized parameters: the weights of systems, then offsets of mean 0."""
    n_systems, n_classes = center.shape
    fixed, basis = np.zeros(n_systems + n_classes), np.zeros((n_systems + n_classes, 0))
    if scale:
        if not np.any(width > 0.0):
            raise InputError("loglik: all trials have the same scores of all classes, so that no scale can be trained.")
        inverse = np.where(width > 0.0, 1.0 / np.where(width > 0.0, width, 1.0), 0.0)
        scales = np.vstack((np.diag(inverse), -(center * inverse[:, None]).T if offset else np.zeros(center.T.shape)))
        basis = np.hstack((basis, scales))
    else:
        fixed[:n_systems] = 1.0
    if offset:
        # Next to unscaled scores with large differences, a step of 1 nat would be invisible.
        stretch = 1.0 if scale else max(1.0, float(np.max(width)) / _FAR)
        from scipy.linalg import helmert  # slow to import

        basis = np.hstack((basis, np.vstack((np.zeros((n_systems, n_classes - 1)), stretch * helmert(n_classes).T))))
    penalty = np.zeros(basis.shape[1])
    penalty[: n_systems * scale] = ridge
    shrunk = 1.0 / np.sqrt(1.0 + penalty)  # next to a large penalty, all else would look flat
    return ClassObjective(trials, np.log(prior), fixed, basis * shrunk, penalty * shrunk**2)


def _require_finite(objective: ClassObjective, found: Minimum) -> Minimum:
    """Refuse a result with infinite scales or offsets (a penalty keeps only scales finite).

    Returns the result, or its continuation.

    Raises
    ------
    InputError
        If scales or offsets are infinite.
    """
    is_penalized = bool(objective.penalty.any())
    if not objective.basis[: objective.n_systems].any():
        return found  # earlier checks ensure that offsets are finite
    separated = not is_penalized and (objective.is_apart(found.at) or _is_apart_at_last(objective, found))
    return refuse_infinite(objective, found, separated=separated, ridge_helps=not is_penalized)


def _is_apart_at_last(objective: ClassObjective, found: Minimum) -> bool:
    """Return True if scores alone separate the classes, for a prior that is not flat and no offsets."""
    if objective.basis[objective.n_systems :].any() or np.ptp(objective.log_prior) == 0.0:
        return False
    alone = replace(objective, log_prior=np.zeros_like(objective.log_prior))
    return alone(found.point, found.at.hessian).worst < 0.0
