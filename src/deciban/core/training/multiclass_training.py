"""Training of multiclass calibrations, fusions and more general linear maps of log-likelihoods."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from deciban.core.logliks import relative, row_blocks
from deciban.core.training import moments, multiclass_objective
from deciban.core.training.batches import ClassTrialsInParts, PartsOfClassTrials
from deciban.core.training.moments import sample_of_classes
from deciban.core.training.multiclass_objective import ClassObjective, ClassTrials, CountedTrials
from deciban.core.training.sums import Ends, Sums, SumsUpTo, TrialObjective, is_at_infinity
from deciban.core.training.trust_region import (
    CLOSE,
    LARGE,
    PRECISE,
    ROUGH,
    Derivatives,
    Fit,
    LevelSearch,
    Minimum,
    pursued,
)
from deciban.errors import InputError, option
from deciban.types import FloatArray, FloatPair, IntArray, ScoreArray

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
    survey: moments.Survey | None = None,
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
        Penalty ``ridge / 2 * sum(weights**2)``, with standardized weights, added to the objective.
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
        survey = moments.Survey(trials)
    form = {"ridge": ridge, "scale": scale, "offset": offset}
    center, width = survey.standard if ridge == 0.0 else moments.standardization(trials)
    if not offset and not width.any():  # constant scores in all undecided trials: they act like offsets
        width = np.ptp(center, axis=1)
    unit = survey.typical_spreads(width) if scale and ridge == 0.0 else width  # a penalty is relative to widths
    factor = _moderate(unit) if scale else np.ones(len(width))
    if np.any(factor != 1.0):
        survey = moments.Survey(trials.scaled(factor))
        width, unit = width * factor, unit * factor
    objective, result = _searched(survey, prior, width, unit, only_value=only_value, **form)
    if not result.converged and np.any(unit != width):  # far scores are wrong, and determine the optimum
        objective, result = _searched(survey, prior, width, width, only_value=only_value, **form)
    if not has_optimum:
        result = _require_finite(objective, result)
    n_systems, n_classes = len(width), len(is_possible)
    if not only_value and ridge == 0.0 and (survey.few is not survey.trials or np.ptp(prior) > 0.0):
        width = np.where(width > 0.0, moments.widths_near(survey.trials, survey.few), 0.0)
    raw = objective.fixed + objective.basis @ result.polished
    survey.scales.append(float(raw[0]))
    with np.errstate(over="ignore"):
        scales = raw[:n_systems] * factor
    moments.require_scales(scales, "loglik")
    offsets = np.zeros(n_classes)
    offsets[is_possible] = raw[n_systems:] - raw[n_systems:].mean()
    return ClassFit(
        weights=scales,
        offsets=offsets,
        standardized=raw[:n_systems] * width,
        objective=certain + result.least - 0.5 * float(objective.penalty @ result.best**2),
        objective_at_zero=float(-(prior @ np.log(prior))),
        **result.course,
    )


def _searched(
    survey: moments.Survey, prior: FloatArray, width: FloatArray, unit: FloatArray, *, only_value: bool, **form: Any
) -> tuple[ClassObjective, Minimum]:
    """Return the objective of scores divided by their unit, and its minimum: on samples first, then on all trials.

    If there are far scores, they are clipped in the first search.
    """
    trials, reach = survey.trials, survey.reach_in_widths(unit)
    blocks = survey.leads if only_value and reach <= multiclass_objective.FAR else ()
    few, is_sample = replace(survey.few, reach=reach), survey.few is not trials
    all_of_them = replace(trials, reach=reach, **({"blocks": blocks} if blocks else {}))
    near = moments.drawn_near(few, unit) if np.any(unit != width) else None
    center = survey.center if near is None else moments.standardization(near)[0]
    objective = objective_of(all_of_them, prior, center, unit, **form)
    is_rough = not trials.has_weights and bool(np.all(trials.class_weights > _TINY))
    rough = replace(objective, dtype=np.float32) if is_rough else objective
    known = survey.scales[-1:] if objective.basis.shape[1] == 1 and form["scale"] else []
    way = LevelSearch(known / objective.basis[0] if known else np.zeros(objective.basis.shape[1]))
    is_in_parts = isinstance(trials, ClassTrialsInParts)
    if near is not None:
        way.follow(replace(rough, trials=near), ROUGH[0])
    if is_sample and not known:
        way.follow(replace(rough, trials=few), ROUGH[0])
    if is_in_parts:  # a large sample saves passes
        way.follow(replace(objective, trials=few), PRECISE)
    if trials.size < (_LARGE_FOR_VALUE if only_value else LARGE):
        return objective, way.follow(objective, PRECISE)
    result = way.follow(rough, CLOSE)
    return objective, way.follow(objective, _LAST_OF_VALUE if only_value else _LAST, after=result)


def _moderate(width: FloatArray) -> FloatArray:
    """Return powers of two that rescale extreme widths to about 1; 1 for all others."""
    extreme = (width > 0.0) & ((width < 1.0 / _EXTREME) | (width > _EXTREME))
    exponents = -np.round(np.log2(np.where(extreme, width, 1.0)))
    return np.asarray(2.0 ** np.clip(exponents, -1022.0, 1022.0), np.float64)


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


def _require_finite(objective: ClassObjective, minimum: Minimum) -> Minimum:
    """Refuse a result with infinite scales or offsets (a penalty keeps only scales finite).

    Returns the result, or its continuation.

    Raises
    ------
    InputError
        If scales or offsets are infinite.
    """
    is_penalized = bool(objective.penalty.any())
    if not objective.basis[: objective.n_systems].any():
        return minimum  # earlier checks ensure that offsets are finite
    separated = not is_penalized and (objective.is_apart(minimum.at) or _is_apart_at_last(objective, minimum))
    return refuse_infinite(objective, minimum, separated=separated, ridge_helps=not is_penalized)


def _is_apart_at_last(objective: ClassObjective, minimum: Minimum) -> bool:
    """Return True if scores alone separate the classes, for a prior that is not flat and no offsets."""
    if objective.basis[objective.n_systems :].any() or np.ptp(objective.log_prior) == 0.0:
        return False
    alone = replace(objective, log_prior=np.zeros_like(objective.log_prior))
    return alone(minimum.point, minimum.at.hessian).worst < 0.0


_BLOCK_BYTES = 1 << 22
"""Limit of bytes for products of features and posteriors in a block."""


@dataclass(frozen=True, eq=False)
class TransformObjective(TrialObjective):
    """Objective of the parameters that determine a matrix and offsets.

    Attributes
    ----------
    trials : ClassTrials
        Of one system, with class weights that sum to the prior.
    log_prior : (n_classes,) array
    center : (n_classes,) array
        Subtracted from normalized log-likelihoods.
    width : float
        Divisor after this subtraction.
    is_diagonal : bool
        True if each class has a scale for its own score only; False if it has one for the score of every class.
    basis : (n_classes * n_features, n_parameters) array
        Derivatives of each class's parameters (scales of standardized scores and an offset) in the trained parameters.
    penalty : (n_parameters,) array
        Half of its quadratic form is added to the objective.
    reach : float
        Largest absolute score; infinite if unknown.
    """

    trials: ClassTrials
    log_prior: FloatArray
    center: FloatArray
    width: float
    is_diagonal: bool
    basis: FloatArray
    penalty: FloatArray
    reach: float = np.inf

    @property
    def n_features(self) -> int:
        """Number of parameters of each class."""
        return len(self.basis) // len(self.log_prior)

    def raw(self, parameters: FloatArray) -> FloatArray:
        """Return the parameters of each class, (n_classes, n_features)."""
        return np.asarray((self.basis @ parameters).reshape(-1, self.n_features))

    def unpacked(self, sums: SumsUpTo, *, with_hessian: bool) -> tuple[float, FloatArray, FloatArray | None]:
        """Return value, gradient and Hessian; see `TrialObjective.unpacked`."""
        total, n = sums.sums.total, len(self.basis)
        hessian = self.basis.T @ total[n + 1 :].reshape(n, n) @ self.basis if with_hessian else None
        return float(total[0]), self.basis.T @ total[1 : n + 1], hessian

    def is_apart(self, at: Derivatives) -> bool:
        """Return True if the right class leads in all trials."""
        return at.worst < 0.0

    def blocks(self) -> list[slice]:
        """Batches of all trials that need little temporary memory."""
        size = max(_BLOCK_BYTES // (8 * len(self.basis)), 64)
        return [slice(i, i + size) for i in range(0, len(self.trials), size)]

    def move_bound(self, step: FloatArray) -> float:
        """Return an upper bound of the change; infinite if the reach of scores is unknown."""
        change = self.raw(step)
        far = (2.0 * self.reach + np.log(len(change)) + float(np.max(np.abs(self.center)))) / self.width
        each = far * np.abs(change[:, :-1]).sum(axis=1) + np.abs(change[:, -1])
        return 2.0 * float(each.max()) if np.isfinite(far) else np.inf

    def moved(self, parameters: FloatArray, step: FloatArray, trials: ClassTrials) -> Ends:
        """Return the largest change of a log-likelihood relative to the true class; see `TrialObjective.moved`."""
        level, raw, change = replace(self, trials=trials), self.raw(parameters), self.raw(step)
        with np.errstate(invalid="ignore"):
            parts = (level.combined(raw, rows) for rows in level.blocks())
            moves = (multiclass_objective.farthest_move(_sum(own, change), z, label) for own, z, label in parts)
            return Ends.up_to(max(moves))

    def terms(self, raw: FloatArray, with_hessian: bool, trials: ClassTrials) -> SumsUpTo:  # noqa: FBT001
        """Return derivatives by class parameters, and the largest lead; see `TrialObjective.terms`."""
        level, n = replace(self, trials=trials), len(self.basis)
        value, worst, gradient = 0.0, -np.inf, np.zeros(n)
        own = np.zeros((n, n) if with_hessian else (0, 0))
        for rows in level.blocks():
            features, z, label = level.combined(raw, rows)
            weights = trials.weight(rows)
            with np.errstate(all="ignore"):
                errors = multiclass_objective.Errors.of(z, label)
            column, pull = np.arange(len(label)), errors.posterior
            if with_hessian:
                others = 1.0 - pull
                others[label, column] = errors.p_error
                pull[label, column] = errors.p_true
                own += _products(features, pull, others, weights)
            pull[label, column] = -errors.p_error
            pull *= weights
            gradient += _slopes(features, pull).ravel()
            value += float(weights @ errors.cost)
            worst = max(worst, float(errors.lead.max()))
        return SumsUpTo(Sums.of(np.concatenate(([value], gradient, own.ravel()))), Ends.up_to(worst))

    def combined(self, raw: FloatArray, rows: slice) -> tuple[FloatArray, FloatArray, IntArray]:
        """Return features (1 or n_classes, n_features, n), the argument of softmax (n_classes, n), and labels."""
        x = normalized(self.trials.systems[:, 0], rows)
        excluded = np.isneginf(x)
        x -= self.center[:, None]
        x /= self.width
        x[excluded] = 0.0
        if self.is_diagonal:
            features = np.stack((x, np.ones_like(x)), axis=1)
        else:
            features = np.append(x, np.ones((1, x.shape[1])), axis=0)[None]
        z = _sum(features, raw)
        z += self.log_prior[:, None]
        z[excluded] = -np.inf
        return features, z, self.trials.label[rows]


def normalized(loglik: ScoreArray, rows: slice) -> FloatArray:
    """Return log-likelihoods of some trials relative to the mean likelihood of all classes, (n_classes, n)."""
    block = relative(loglik, rows)
    block -= np.log1p(np.expm1(block).mean(axis=0))  # exact even if classes have nearly equal scores
    return block


def _sum(features: FloatArray, raw: FloatArray) -> FloatArray:
    """Return scores of all classes, (n_classes, n)."""
    if len(features) == 1:  # shared by all classes
        return np.asarray(raw @ features[0])
    return np.asarray((raw[:, :, None] * features).sum(axis=1))


def _slopes(features: FloatArray, pull: FloatArray) -> FloatArray:
    """Return first derivatives, (n_classes, n_features)."""
    if len(features) == 1:
        return np.asarray(pull @ features[0].T)
    return np.asarray((pull[:, None, :] * features).sum(axis=2))


def _products(features: FloatArray, posterior: FloatArray, others: FloatArray, weights: FloatArray) -> FloatArray:
    """Return second derivatives: ``sum w F' (diag p - p p') F`` for the features F of each trial.

    ``others`` are the probabilities ``1 - p`` to full precision: for the true class they may be tiny in every trial
    that has any weight.
    """
    n_classes, n_features = len(posterior), features.shape[1]
    mean = (posterior[:, None, :] * features).reshape(n_classes * n_features, -1)
    mean *= np.sqrt(weights)
    hessian = -(mean @ mean.T)  # a product of a matrix with itself takes half the time
    own = posterior * others * weights
    blocks = hessian.reshape(n_classes, n_features, n_classes, n_features)
    each = np.arange(n_classes)
    for i in range(n_features):
        if len(features) == 1:
            blocks[each, i, each] = (own * features[0, i]) @ features[0].T
        else:
            for j in range(n_features):
                blocks[each, i, each, j] = np.einsum("cn,cn,cn->c", own, features[:, i], features[:, j])
    return hessian


_ROUGH = 1e-3
"""Required precision of the optimum of a sample, relative to its value."""


_CLEAR = 1e-9
"""Smallest lead of the right class, relative to the parameters, that rounding of a tie cannot explain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformFit(Fit):
    """Trained map; its objective is in nats.

    Attributes
    ----------
    matrix : (n_classes, n_classes) array
        Factors of the normalized log-likelihoods. Adding the same row to all rows of a full matrix changes no
        posterior. The stored matrix is the one that is a multiple of the identity for a calibration.
    offsets : (n_classes,) array
        Their mean is 0.
    """

    matrix: FloatArray
    offsets: FloatArray


def train_transform(
    counted: CountedTrials | PartsOfClassTrials,
    *,
    ridge: float = 0.0,
    toward_calibration: float = 0.0,
    is_diagonal: bool,
) -> TransformFit:
    """Minimize the cross-entropy of ``A u + b``, with ``u`` normalized log-likelihoods.

    Parameters
    ----------
    counted : CountedTrials or PartsOfClassTrials
        Log-likelihoods of one system in nats; infinite ones only with a diagonal matrix. Every class has a prior above
        0. Beyond memory, a penalty uses the width of all scores; without a penalty, the width of a sample is enough.
    ridge : float
        Penalty ``ridge / 2 * mean(scales**2)``, with the scales for standardized scores, added to the objective. For a
        full matrix the mean is its squared norm, without the part that changes no posterior, divided by
        ``n_classes - 1``. For a multiple of the identity it equals the penalty of
        `deciban.core.training.multiclass_training`.
    toward_calibration : float
        The same for the deviation of the matrix from the closest multiple of the identity.
    is_diagonal : bool
        Train only one scale for each class.

    Raises
    ------
    InputError
        If the best matrix or offsets are infinite or beyond float64, or if an infinite log-likelihood contradicts the
        true class.
    """
    trials: Any
    reach, penalties = np.inf, (ridge, toward_calibration)
    if isinstance(counted, CountedTrials):
        multiclass_objective.refuse_ruled_out(counted)
        trials = counted.trials
        width, center = _width(trials), _center(trials)
    else:
        trials, reach = counted.selected("counted"), float(np.max(counted.first.reach))
        sampled = len(trials.few) > 0 and _width(trials.few) > 0.0
        width = _width(trials.few) if sampled and penalties == (0.0, 0.0) else _width(trials)
        center = _center(trials.few) if sampled else _center(trials)
    if width == 0.0:
        raise InputError("loglik: all trials have the same scores of all classes, so that no scale can be trained.")
    prior = counted.prior
    basis, penalty = (_diagonal if is_diagonal else _full)(len(prior), *penalties)
    objective = TransformObjective(trials, np.log(prior), center, width, is_diagonal, basis, penalty, reach)
    result = _descend(objective)
    separated = _is_apart(objective, result.point, result.at)
    result = refuse_infinite(objective, result, separated=separated, ridge_helps=ridge == 0.0)
    matrix, offsets = _unpacked(objective, result.polished)
    return TransformFit(
        weights=matrix.ravel(),
        standardized=matrix.ravel() * width,
        matrix=matrix,
        offsets=offsets - offsets.mean(),
        objective=result.least - 0.5 * float(penalty @ result.best**2),
        objective_at_zero=float(-(prior @ np.log(prior))),
        **result.course,
    )


def _width(trials: ClassTrials | ClassTrialsInParts) -> float:
    """Return the width of the scores; trials that are certain do not count."""
    if isinstance(trials, ClassTrialsInParts):
        return float(moments.standardization(replace(trials, which="uncertain"))[1][0])
    certain = np.any(trials.systems[:, 0] == np.inf, axis=1)
    if not certain.any():
        return float(moments.standardization(trials)[1][0])
    left = trials.take(np.flatnonzero(~certain))
    return float(moments.standardization(left)[1][0]) if len(left) else 0.0


def _center(trials: ClassTrials | ClassTrialsInParts) -> FloatArray:
    """Return the prior-weighted mean of the finite normalized log-likelihoods of each class."""
    total, amount = trials.each(_finite_sums).total
    return np.asarray(np.divide(total, amount, out=np.zeros(len(total)), where=amount > 0.0))


def _finite_sums(trials: ClassTrials) -> Sums:
    """Sum finite normalized log-likelihoods of each class and their weights."""
    n_classes = len(trials.class_weights)
    total, amount = np.zeros((2, n_classes))
    for rows in row_blocks(len(trials), n_classes):
        x = normalized(trials.systems[:, 0], rows)
        weight = trials.weight(rows)
        counts = np.isfinite(x)
        total += np.where(counts, x, 0.0) @ weight
        amount += counts @ weight
    return Sums.of(np.array([total, amount]))


def _diagonal(n: int, ridge: float, toward: float) -> FloatPair:
    """Return basis and penalty of a scale and an offset for each class; offsets have mean 0."""
    from scipy.linalg import helmert  # slow to import

    basis = np.zeros((2 * n, 2 * n - 1))
    basis[0::2, 0] = 1.0 / np.sqrt(n)
    basis[0::2, 1:n] = basis[1::2, n:] = helmert(n).T
    return _shrunk(basis, np.repeat([ridge / n, (ridge + toward) / n, 0.0], [1, n - 1, n - 1]))


def _full(n: int, ridge: float, toward: float) -> FloatPair:
    """Return basis and penalty of a matrix and offsets whose columns have mean 0; others give the same posteriors."""
    from scipy.linalg import helmert, null_space  # slow to import

    contrasts, size = helmert(n), n + 1
    basis = np.asarray(np.kron(contrasts.T, np.eye(size)), np.float64)
    penalized = np.tile(np.arange(size) < n, n - 1)
    identity = np.append(contrasts, np.zeros((n - 1, 1)), axis=1).ravel() / np.sqrt(n - 1)
    others = np.zeros((len(penalized), np.count_nonzero(penalized) - 1))
    others[penalized] = null_space(identity[penalized][None])
    directions = np.column_stack((identity, others, np.eye(len(penalized))[:, ~penalized]))
    counts = [1, others.shape[1], n - 1]
    penalty = np.repeat([ridge / (n - 1), (ridge + toward) / (n - 1), 0.0], counts)
    return _shrunk(basis @ directions, penalty)


def _shrunk(basis: FloatArray, penalty: FloatArray) -> FloatPair:
    """Scale parameters to comparable size: next to a large penalty, all else would look flat."""
    shrunk = 1.0 / np.sqrt(1.0 + penalty)
    return basis * shrunk, penalty * shrunk**2


def _unpacked(objective: TransformObjective, parameters: FloatArray) -> FloatPair:
    """Return matrix and offsets for scores before standardization."""
    raw = (objective.basis @ parameters).reshape(len(objective.log_prior), -1)
    with np.errstate(over="ignore"):
        scales = raw[:, :-1] / objective.width
    moments.require_scales(scales, "loglik")
    if objective.is_diagonal:
        matrix = np.diag(scales[:, 0])
    else:
        n = len(scales)
        matrix = scales + np.trace(scales) / (n * (n - 1))  # a calibration becomes a multiple of the identity
    return np.asarray(matrix, np.float64), raw[:, -1] - matrix @ objective.center


def _is_apart(level: TransformObjective, point: FloatArray, at: Derivatives) -> bool:
    """Return True if unpenalized parameters let the right class lead in all trials, so that they may grow forever.

    If transformations are only pulled toward calibrations, these parameters are a scale and offsets. If they separate
    the classes, the search approaches them and this test succeeds. A separating matrix proves nothing.
    """
    if at.worst >= 0.0 or not level.penalty.any():
        return at.worst < 0.0
    part = np.where(level.penalty == 0.0, point, 0.0)
    return level(part, at.hessian).worst < -_CLEAR * float(np.linalg.norm(part))


def _descend(objective: TransformObjective) -> Minimum:
    """Minimize on a sample first if there are many trials, then on all trials."""
    trials: Any = objective.trials
    is_in_parts = isinstance(trials, ClassTrialsInParts)

    def search_options(level: TransformObjective, precise: float) -> dict[str, Any]:
        # Second derivatives cost far more than the gradient, except if trials must be read from files.
        is_long = few is not level.trials or level.trials.size >= LARGE
        reuse = level.trials is few and precise is PRECISE if is_in_parts else level is objective and is_long
        radius = max(4.0, math.sqrt(level.basis.shape[1]))
        return {"reuse": reuse, "precise": precise, "stop": partial(_is_apart, level), "radius": radius}

    way, few = LevelSearch(np.zeros(objective.basis.shape[1]), search_options), sample_of_classes(trials)
    if few is not trials and len(few):
        way.follow(replace(objective, trials=few), _ROUGH)
        if is_in_parts:  # large data: fewer passes
            way.follow(replace(objective, trials=few), PRECISE)
    return way.follow(objective, PRECISE)
