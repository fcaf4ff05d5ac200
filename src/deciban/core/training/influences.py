"""Influences of units on trained parameters: the changes of the parameters with the weight of each unit.

Let unit k have the weight ``u_k``. The weight of a trial is the product of the weights of its units, and classes are
renormalized. Training makes the gradient of its objective 0 at all weights. So at ``u = 1`` the parameters change by
``-H^-1`` times the derivative of the gradient. This derivative is the sum of the gradients of the trials of the unit,
each relative to the mean of its class (infinitesimal jackknife; Huber's sandwich is the sum of the squares).

With at most 1000 units, each unit is left out in turn instead: see `moves_without_each`. Two-class and multiclass
training differ in the computation for a block of trials and in their parameters: weights of columns and an offset by
any rule, or scales of systems and offsets of classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, softmax

from deciban.core.proper import kernel
from deciban.core.resampling import linearised
from deciban.core.resampling.intervals import effective_numbers
from deciban.core.resampling.linearised import UnitChanges
from deciban.core.resampling.units import TrialUnits
from deciban.core.training import multiclass_objective
from deciban.core.training.batches import PartsOfClassTrials, PartsOfTrials
from deciban.core.training.linear_objective import TrainingTrials, with_class_weights
from deciban.core.training.moments import SAMPLE, moments, sample, standardization
from deciban.core.training.multiclass_training import objective_of
from deciban.core.training.sums import Sums, UnitSums
from deciban.core.training.trust_region import steep
from deciban.errors import InputError, not_none
from deciban.types import AnyArray, BoolArray, FloatArray, FloatPair, IntArray

MOST_UNITS = 1000
"""Limit of units for leaving out each one; with more units, a single one changes parameters so little that derivatives
are accurate."""
MOST_PARAMETERS = 16
"""Limit of parameters for leaving out each unit; with more, second derivatives of each unit take too long."""
_AT_ONCE = 1 << 22
"""Target number of log odds (units times trials) for the size of a sample of trials."""
_SLAB = 1 << 16
"""Numbers processed together."""
_LOOKS = 15

_PRECISE = 1e-3
"""Required precision of a change, relative to itself and to the root mean square of all changes."""


def leaves_out(n_units: int, n_trials: float, n_parameters: int = 1) -> bool:
    """Return True if each unit is left out in turn: there are few enough, and units are not single trials."""
    return n_units < n_trials and n_units <= MOST_UNITS and n_parameters <= MOST_PARAMETERS


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Parameters at which the trials of each unit are evaluated.

    Attributes
    ----------
    moves : (n_units, n_parameters) array
        Steps from the parameters of the training with all trials.
    inverse : (n_units, n_classes) array
        Factor of the weight of a trial of each class without a unit.
    strides : (n_classes,) int array
        One in ``strides`` trials of each class is in the sample.
    """

    moves: FloatArray
    inverse: FloatArray
    strides: IntArray

    @classmethod
    def start(cls, moves: FloatArray, shares: FloatArray, n_trials: FloatArray, work: int = 1) -> Points:
        """Return the points of the first pass.

        Parameters
        ----------
        moves : (n_units, n_parameters) array
            First approximation of the steps.
        shares : (n_units, n_classes) array
            Shares of each unit in the trials of each class.
        n_trials : (n_classes,) array
        work : int
            Numbers for each unit and trial.
        """
        room = max(_AT_ONCE // (len(shares) * len(n_trials) * work), 1)
        return cls(moves, 1.0 / (1.0 - shares), np.maximum(np.ceil(n_trials / room), 1.0).astype(np.int64))

    def sampled(self, label: IntArray, amounts: FloatArray) -> tuple[IntArray, FloatArray]:
        """Return positions of a sample of trials, and the number of trials that each of them represents."""
        places, stand_for = list[IntArray](), list[FloatArray]()
        for k, stride in enumerate(self.strides.tolist()):
            own = np.flatnonzero(label == k)
            some = own[::stride]
            drawn, total = float(amounts[some].sum()), float(amounts[own].sum())
            places.append(some)
            stand_for.append(amounts[some] * (total / drawn if drawn > 0.0 else 0.0))
        return np.concatenate(places), np.concatenate(stand_for)

    def slabs(self, n: int, numbers: int = 1) -> list[slice]:
        """Return slices of ``n`` sampled trials that are small enough."""
        size = max(_SLAB // (len(self.moves) * numbers), 1)
        return [slice(i, i + size) for i in range(0, n, size)]


@dataclass(frozen=True, slots=True, eq=False)
class WholeSums:
    """Class sums of derivatives of the objective at the parameters of all trials.

    Attributes
    ----------
    gradients : (n_classes, n_parameters) array
    hessians : (n_classes, n_parameters, n_parameters) array
    penalty : (n_parameters, n_parameters) array
        Second derivatives of the penalty.
    """

    gradients: FloatArray
    hessians: FloatArray
    penalty: FloatArray

    def at(self, points: Points, values: AnyArray) -> FloatPair:
        """Return gradients and Hessians without each unit.

        Parameters
        ----------
        points : Points
        values : (n_units, ...) array
            For each unit, the non-quadratic part of the other trials' derivatives at its point, minus the derivatives
            of its own trials there: gradient, then upper triangle of the Hessian.
        """
        n, whole = points.moves.shape[1], np.einsum("uc,cij->uij", points.inverse, self.hessians) + self.penalty
        gradient = values[:, :n] + points.inverse @ self.gradients - self.gradients.sum(axis=0)
        return gradient + np.einsum("uij,uj->ui", whole, points.moves), _whole(values[:, n:]) + whole


def moves_without_each(
    look: Callable[[Points], Sums], whole: WholeSums, points: Points, used: BoolArray, noun: str
) -> FloatArray:
    """Return the changes of the parameters by training without each unit, (n_units, n_parameters).

    Parameters
    ----------
    look : function
        Returns the argument ``found`` of `WholeSums.at` at some points.
    whole : WholeSums
        In coordinates in which the Hessian of all trials is the identity.
    points : Points
    used : (n_units,) bool array
        True for units with trials.
    noun : str
        Name of a unit in messages.

    Raises
    ------
    InputError
        If training without some unit has no optimum nearby.
    """
    moves = points.moves
    gradient, hessian = whole.at(points, look(points).total)
    scale = np.ones(len(moves))
    for _ in range(_LOOKS):
        step = np.where(used[:, None], _newton(gradient, hessian), 0.0)
        typical = np.sqrt(np.mean((moves + step)[used] ** 2))
        exact = np.abs(scale[:, None] * step) <= _PRECISE * (np.abs(moves) + typical)
        if exact.all() and (scale == 1.0).all():
            return moves + step
        new = replace(points, moves=moves + scale[:, None] * step)
        slope, bend = whole.at(new, look(new).total)
        worse = ~(np.linalg.norm(slope, axis=1) <= np.maximum(np.linalg.norm(gradient, axis=1), 1e-12))
        better = ~worse
        moves = np.where(better[:, None], new.moves, moves)
        gradient = np.where(better[:, None], slope, gradient)
        hessian = np.where(better[:, None, None], bend, hessian)
        scale = np.where(worse, 0.25 * scale, 1.0)
    raise InputError(f"training without one of the {noun}s has no optimum, or a distant one: it depends on few {noun}s")


def _newton(gradient: FloatArray, hessian: FloatArray) -> FloatArray:
    """Return Newton steps; a curvature that is not clearly positive is replaced by a small one."""
    if not (np.isfinite(gradient).all() and np.isfinite(hessian).all()):
        raise InputError("the derivatives of the objective exceed double precision.")
    values, vectors = np.linalg.eigh(hessian)
    along = np.einsum("uij,ui->uj", vectors, gradient) / np.maximum(values, 1e-3)
    return np.asarray(-np.einsum("uij,uj->ui", vectors, along))


_BLOCK = 1 << 16
"""Trials processed together."""


@dataclass(frozen=True, slots=True, eq=False)
class _WithoutEach:
    """A function of trials and their units that returns the input of `WholeSums.at`, or the Hessians of classes.

    Attributes
    ----------
    look : _LinearDerivatives or _ClassDerivatives
        Has a basis of n coordinates and yields blocks of trials. Each block has the classes ``label`` and weights
        ``amount`` of its trials. ``at(moves)`` returns derivatives of the cost of each trial at its own point.
        ``beyond(some, moves, amount)`` returns the non-quadratic part of the derivatives of some trials at the points
        of all units: gradients (n), then upper triangles of Hessians. It uses ``numbers`` numbers for each unit and
        trial.
    n_classes : int
    points : Points or None
        If None, the upper triangles of the Hessians of the classes are returned.
    """

    look: Any
    n_classes: int = 2
    points: Points | None = None

    def __call__(self, trials: Any, units: TrialUnits) -> Sums:
        points, n = self.points, self.look.basis.shape[1]
        m = n * (n + 1) // 2
        values = np.zeros((self.n_classes, m) if points is None else (units.n_units, n + m))
        for one, own in self.look.blocks(trials, units):
            if points is None:
                bend = _times(one.amount, one.at(np.zeros((len(one.label), n)))[n:])
                values += [bend[:, one.label == k].sum(axis=1) for k in range(self.n_classes)]
                continue
            for side in own.codes:  # subtract trials at the point of their own unit, once if both sides are the same
                counts = side is own.codes[0] or side != own.codes[0]
                amount = np.where(counts, one.amount * points.inverse[side, one.label], 0.0)
                linearised.add_by_code(values, -_times(amount, one.at(points.moves[side])), side)
            if points.moves.any():  # add all others, represented by a sample
                places, stand_for = points.sampled(one.label, one.amount)
                for some in points.slabs(len(places), one.numbers):
                    at = places[some]
                    values += one.beyond(at, points.moves, stand_for[some] * points.inverse[:, one.label[at]])
        return Sums.of(values)


def _whole(triangles: FloatArray) -> FloatArray:
    """Return symmetric matrices (..., n, n) from their upper triangles (..., m)."""
    n = int(np.sqrt(2 * triangles.shape[-1]))
    rows, columns = np.triu_indices(n)
    values = np.zeros((*triangles.shape[:-1], n, n))
    values[..., rows, columns] = values[..., columns, rows] = triangles
    return values


def _moved(
    value: Any,
    units: TrialUnits,
    result: UnitSums,
    shares: FloatArray,
    without: _WithoutEach,
    whole: Callable[[], WholeSums],
) -> tuple[FloatArray, dict[str, Any]]:
    """Return the changes of the parameters with each unit that has trials, and details of the method.

    Parameters
    ----------
    value : object
        All trials.
    units : TrialUnits
    result : UnitSums
        Sums of gradients and weights of units, then gradients and weights of classes, and further sums.
    shares : (n_units, n_classes) array
    without : _WithoutEach
        Has coordinates in which the Hessian of all trials is the identity.
    whole : callable
        Returns `WholeSums`; called only if needed.
    """
    sums, _, totals, n_trials, *_ = result.parts
    basis, used = without.look.basis, np.asarray(shares.any(axis=1) | result.is_folded)
    moves = -(sums - shares @ totals) @ basis  # derivatives by the weights of units
    leave_out = not result.is_folded and leaves_out(int(used.sum()), n_trials.sum(), basis.shape[1])
    if leave_out:

        def look(points: Points) -> Sums:
            sums_at: Sums = value.each_by_unit(replace(without, points=points), units)
            return sums_at

        start = Points.start(-moves, shares, n_trials, without.look.work)
        moves = moves_without_each(look, whole(), start, used, units.noun)
    n_units = int(n_trials.sum()) if result.is_folded else int(used.sum())
    return moves[used] @ basis.T, {"left_out": leave_out, "listed": not result.is_folded, "n_units": n_units}


def linear_influences(
    trials: TrainingTrials | PartsOfTrials,
    units: TrialUnits,
    weights: FloatArray,
    offset: float,
    rule: tuple[float, float, float],
    *,
    ridge: float = 0.0,
    intercept: bool = True,
) -> UnitChanges:
    """Return the changes of the weights of columns, and of the offset, with the units.

    Parameters
    ----------
    trials : TrainingTrials or PartsOfTrials
        All training trials, without class weights; trials with decisive infinite scores affect only the classes.
    units : TrialUnits
        Units of these trials; for trials in batches, which have their own, all units.
    weights : (n_columns,) array
    offset : float
        Trained offset.
    rule : (float, float, float)
        ``alpha``, ``beta`` and the log odds of the prior.
    ridge, intercept
        See `deciban.core.training.linear_training.train`.

    Returns
    -------
    UnitChanges
        Changes for units with trials. The last column is 0 without an offset. If the data do not determine a
        combination of parameters, such as the weights of two identical systems, this combination does not change.

    Raises
    ------
    InputError
        If a class has effectively fewer than five units, or the parameters are not a minimum.
    """
    linearised.require_several(units)
    priors = expit(np.array([-rule[2], rule[2]]))
    left, _ = with_class_weights(trials, *rule)
    middle, width = moments(left if ridge > 0.0 else sample(left, SAMPLE))
    if not np.all(width > 0.0):  # a column may be constant in a sample only
        middle, width = moments(left)
    center, size = (middle if intercept else np.zeros_like(middle)), width
    width = np.where(size > 0.0, size, np.inf)
    point = np.append(weights * size, offset + float(weights @ center))
    look = _LinearDerivatives(left.class_weights, middle, center, width, point, rule, ridge)
    of_units = trials.each_by_unit(look, units)
    _, shares, totals, _, hessians = of_units.parts
    shares = shares / priors
    n_effective = linearised.require_effective(effective_of(of_units, shares), ("non-target", "target"), units)
    free = np.flatnonzero(np.append(np.isfinite(width), intercept))
    penalty = np.diag(np.append(np.full(len(weights), ridge), 0.0))
    own = steep((hessians.sum(axis=0) + penalty)[np.ix_(free, free)])
    basis = np.zeros((len(point), own.shape[1]))
    basis[free] = own

    def whole() -> WholeSums:
        return WholeSums(totals @ basis, basis.T @ hessians @ basis, basis.T @ penalty @ basis)

    result, form = _moved(trials, units, of_units, shares, _WithoutEach(replace(look, basis=basis)), whole)
    result[:, :-1] /= width
    result[:, -1] -= result[:, :-1] @ center
    return UnitChanges(values=result, n_effective=n_effective, penalized=ridge > 0.0, **form)


def effective_of(of_units: UnitSums, shares: FloatArray) -> FloatArray:
    """Return the effective number of units of each class."""
    if of_units.is_folded:  # every trial is a unit, and the shares sum to 1
        return np.asarray(1.0 / (shares**2).sum(axis=0))
    return effective_numbers(shares.sum(axis=0), (shares**2).sum(axis=0))


@dataclass(frozen=True, slots=True, eq=False)
class _LinearDerivatives:
    """Sums of gradients and weights by unit, curvatures, and gradients by class, of trials with their units."""

    class_weights: tuple[float, float]
    middle: FloatArray
    center: FloatArray
    width: FloatArray
    point: FloatArray
    rule: tuple[float, float, float]
    ridge: float
    basis: FloatArray | None = None
    work: ClassVar[int] = 4

    def __call__(self, trials: TrainingTrials, units: TrialUnits) -> UnitSums:
        n = len(self.point)
        hessians, totals, counts = np.zeros((2, n, n)), np.zeros((2, n)), np.zeros(2)
        sums, shares = np.zeros((units.n_units, n)), np.zeros((units.n_units, 2))
        for one, own in self.blocks(trials, units):
            pull, bend = slopes(one.log_odds, one.label == 1, self.rule)
            gradients = _times(one.amount, pull) * one.features + one.amount * one.of_penalty
            curved = one.features * _times(one.amount, bend)
            linearised.add_by_unit(sums, gradients, own)
            linearised.add_by_unit(shares, np.where(one.label == [[0], [1]], one.amount, 0.0), own)
            for k, some in enumerate((one.label == 0, one.label == 1)):
                hessians[k] += curved[:, some] @ one.features[:, some].T
                totals[k] += gradients[:, some].sum(axis=1)
                counts[k] += np.count_nonzero(one.amount[some])
        return UnitSums((Sums.of(sums), Sums.of(shares)), tuple(map(Sums.of, (totals, counts, hessians))))

    def blocks(self, trials: TrainingTrials, units: TrialUnits) -> Iterator[tuple[_LinearBlock, TrialUnits]]:
        """Yield blocks of trials with their units, in coordinates of the basis, if any."""
        class_weights = np.array(self.class_weights)
        for rows in (slice(i, i + _BLOCK) for i in range(0, len(trials), _BLOCK)):
            label = trials.is_target[rows].astype(np.int64)
            scores = np.array([column[rows] for column in trials.columns], np.float64).reshape(-1, len(label))
            base = np.zeros(len(label)) if trials.base is None else np.asarray(trials.base[rows], np.float64)
            features, of_penalty = self._standardized(scores, base, self.center), np.zeros((len(self.point), 1))
            if self.ridge > 0.0:  # the widths in the penalty depend on the trials, too
                of_penalty = self._standardized(scores, base, self.middle) ** 2
                of_penalty *= self.ridge * np.append(self.point[:-1], 0.0)[:, None]
            with np.errstate(all="ignore"):  # `steep` refuses values that are not finite
                log_odds = self.rule[2] + self.point @ features + np.where(np.isfinite(base), base, 0.0)
            amount = class_weights[label] * (1.0 if trials.weights is None else trials.weights[rows])
            if self.basis is not None:
                features, of_penalty = self.basis.T @ features, self.basis.T @ of_penalty
            yield _LinearBlock(features, log_odds, label, amount, of_penalty, self.rule), units.take(rows)

    def _standardized(self, scores: FloatArray, base: FloatArray, center: FloatArray) -> FloatArray:
        """Return standardized columns and a row of ones, (n_columns + 1, n); 0 for decided trials."""
        is_open = np.isfinite(scores).all(axis=0) & np.isfinite(base)
        features = np.ones((len(scores) + 1, len(base)))
        features[:-1] = (np.where(is_open, scores, center[:, None]) - center[:, None]) / self.width[:, None]
        features[:, ~is_open] = 0.0
        return features


@dataclass(frozen=True, slots=True, eq=False)
class _LinearBlock:
    """A block of two-class trials: features (n, n_trials), log odds, and slopes of the penalty (n, n_trials or 1)."""

    features: FloatArray
    log_odds: FloatArray
    label: IntArray
    amount: FloatArray
    of_penalty: FloatArray
    rule: tuple[float, float, float]
    numbers: ClassVar[int] = 1

    def at(self, moves: FloatArray) -> FloatArray:
        """Return derivatives at the points of the trials' own units; see `_WithoutEach`."""
        log_odds = self.log_odds + np.einsum("nt,tn->t", self.features, moves)
        pull, bend = slopes(log_odds, self.label == 1, self.rule)
        with np.errstate(invalid="ignore"):
            return np.vstack((pull * self.features + self.of_penalty, bend * _products(self.features)))

    def beyond(self, some: IntArray, moves: FloatArray, amount: FloatArray) -> FloatArray:
        """Return the non-quadratic part of derivatives; see `_WithoutEach`."""
        own, is_target, log_odds = self.features[:, some], self.label[some] == 1, self.log_odds[some]
        change = moves @ own
        start, bend_at_start = slopes(log_odds, is_target, self.rule)
        pull, bend = slopes(log_odds + change, is_target, self.rule)
        gradients = _times(amount, pull - start - bend_at_start * change) @ own.T
        return np.hstack((gradients, _times(amount, bend - bend_at_start) @ _products(own).T))


def _products(features: FloatArray) -> FloatArray:
    """Return products of pairs of features, for the upper triangle."""
    rows, columns = np.triu_indices(len(features))
    return np.asarray(features[rows] * features[columns])


@np.errstate(all="ignore")  # `steep` refuses values that are not finite
def slopes(z: FloatArray, is_target: BoolArray, rule: tuple[float, float, float]) -> FloatPair:
    """Return slopes and curvatures of the costs of trials in their log odds, (..., n_trials)."""
    alpha, beta, _ = rule
    pull, bend = np.empty(z.shape), np.empty(z.shape)
    for rows_of, sign, shape in ((~is_target, 1.0, (alpha, beta)), (is_target, -1.0, (beta, alpha))):
        own = z[..., rows_of]
        terms = kernel(*shape)(sign * own.ravel(), 2)
        pull[..., rows_of] = sign * terms.slope.reshape(own.shape)
        bend[..., rows_of] = not_none(terms.curvature, "curvature").reshape(own.shape)
    return pull, bend


@np.errstate(all="ignore")
def _times(amount: FloatArray, values: FloatArray) -> FloatArray:
    """Return the product, with 0 for amount 0 even if the value is infinite."""
    return np.where(amount > 0.0, amount * values, 0.0)


def class_influences(
    value: multiclass_objective.CountedTrials | PartsOfClassTrials,
    units: TrialUnits,
    scales: FloatArray,
    offsets: FloatArray,
    *,
    ridge: float = 0.0,
    scale: bool = True,
    offset: bool = True,
) -> UnitChanges:
    """Return the changes of the scales of systems and the offsets of classes with the units.

    Parameters
    ----------
    value : CountedTrials or PartsOfClassTrials
        Training trials.
    units : TrialUnits
        Units of all trials of the user; for trials in batches, which have their own, all units.
    scales : (n_systems,) array
    offsets : (n_classes,) array
        Trained offsets.
    ridge, scale, offset
        See `deciban.core.training.multiclass_training.train_counted`. The widths in a penalty count as constants.

    Returns
    -------
    UnitChanges
        Changes; 0 for untrained parameters, and for offsets of classes of prior 0.

    Raises
    ------
    InputError
        If a class has effectively fewer than five units, or infinite scores decide all trials.
    """
    linearised.require_several(units)
    left = value.left
    if not len(left):
        raise InputError("infinite scores decide all trials.")
    center, width = standardization(left)
    if scale and not np.any(width > 0.0):
        raise InputError("all trials have the same scores of all classes.")
    prior, possible = value.prior, value.possible
    objective = objective_of(
        multiclass_objective.NO_TRIALS, prior, center, width, ridge=ridge, scale=scale, offset=offset
    )
    raw = np.append(scales, offsets[possible])
    look = _ClassDerivatives(objective, raw, left.class_weights)
    sums: UnitSums = value.each_by_unit(look, units)
    _, shares, totals, _ = sums.parts
    shares = shares / prior
    names = tuple(f"class {k}" for k in possible.tolist())
    n_effective = linearised.require_effective(effective_of(sums, shares), names, units)
    penalty = np.diag(objective.penalty)
    coordinates = steep(sums.seconds.along(objective.basis) + penalty)
    basis = objective.basis @ coordinates
    without = _WithoutEach(replace(look, basis=basis), len(prior))

    def whole() -> WholeSums:
        hessians: Sums = value.each_by_unit(without, units)
        return WholeSums(totals @ basis, _whole(hessians.total), coordinates.T @ penalty @ coordinates)

    moved, form = _moved(value, units, sums, shares, without, whole)
    n_systems = len(scales)
    changes = np.zeros((len(moved), n_systems + len(offsets)))
    changes[:, :n_systems] = moved[:, :n_systems]
    of_possible = moved[:, n_systems:]
    changes[:, n_systems + possible] = of_possible - of_possible.mean(axis=1, keepdims=True)
    return UnitChanges(values=changes, n_effective=n_effective, penalized=ridge > 0.0, **form)


@dataclass(frozen=True, slots=True, eq=False)
class _ClassDerivatives:
    """Sums of gradients by unit and by class, and weights by unit and class, of trials with their units."""

    objective: multiclass_objective.ClassObjective
    raw: FloatArray
    class_weights: FloatArray
    basis: FloatArray | None = None

    @property
    def work(self) -> int:
        """Numbers for each unit and trial that are processed at once."""
        return len(self.class_weights) * ((0 if self.basis is None else self.basis.shape[1]) + 1) // 2

    def __call__(self, counted: multiclass_objective.CountedTrials, units: TrialUnits) -> UnitSums:
        trials, left, own = self._open(counted, units)
        seconds, sums, totals = _derivatives(left, self.raw, own)
        weight, n_classes = trials.weight(slice(None)), len(self.class_weights)
        shares = linearised.sums_by_unit(
            np.array([np.where(trials.label == k, weight, 0.0) for k in range(n_classes)]), units
        )
        counts = np.bincount(trials.label, minlength=n_classes)
        return UnitSums((Sums.of(sums), Sums.of(shares)), (Sums.of(totals), Sums.of(counts)), seconds=seconds)

    def _open(
        self, counted: multiclass_objective.CountedTrials, units: TrialUnits
    ) -> tuple[multiclass_objective.ClassTrials, multiclass_objective.ClassObjective, TrialUnits]:
        """Return all trials, and the objective of the undecided trials with their units."""
        trials = replace(counted.trials, class_weights=self.class_weights)
        is_open = ~multiclass_objective.decided(trials)[0]
        left = trials if is_open.all() else trials.take(np.flatnonzero(is_open))
        return trials, replace(self.objective, trials=left), units.take(is_open)

    def blocks(
        self, counted: multiclass_objective.CountedTrials, units: TrialUnits
    ) -> Iterator[tuple[_ClassBlock, TrialUnits]]:
        """Yield blocks of undecided trials with their units."""
        basis, (_, objective, own) = not_none(self.basis, "basis"), self._open(counted, units)
        for rows in objective.blocks():
            features, z, label = objective.combined(self.raw, rows)
            k = len(features)
            slopes_of_z = np.einsum("kct,kn->cnt", features, basis[:k]) + basis[k:][:, :, None]
            yield _ClassBlock(slopes_of_z, z, label, objective.trials.weight(rows)), own.take(rows)


def _derivatives(
    objective: multiclass_objective.ClassObjective, raw: FloatArray, units: TrialUnits
) -> tuple[multiclass_objective.SecondDerivatives, FloatArray, FloatArray]:
    """Return second derivatives in scales and offsets, and sums of gradients by unit and by class."""
    trials, n_raw = objective.trials, len(raw)
    n_classes = trials.systems.shape[2]
    seconds = multiclass_objective.SecondDerivatives(*objective.moving, np.float64)
    sums, totals = np.zeros((units.n_units, n_raw)), np.zeros((n_classes, n_raw))
    for rows in objective.blocks():
        with np.errstate(all="ignore"):
            features, z, label = objective.combined(raw, rows)
            weights = trials.weight(rows)
            errors = multiclass_objective.Errors.of(z, label)
            column, pull = np.arange(len(label)), errors.posterior
            pull[label, column] = errors.p_true
            seconds.add(features, label, pull, weights)
            pull[label, column] = -errors.p_error
            pull *= weights
            gradients = np.vstack((np.einsum("kcn,cn->kn", features, pull), pull))
            linearised.add_by_unit(sums, gradients, units.take(rows))
            np.add.at(totals, label, gradients.T)
    return seconds, sums, totals


@dataclass(frozen=True, slots=True, eq=False)
class _ClassBlock:
    """A block of trials: derivatives of log-likelihoods (n_classes, n, n_trials), and log-likelihoods with prior."""

    slopes: FloatArray
    z: FloatArray
    label: IntArray
    amount: FloatArray

    @property
    def numbers(self) -> int:
        """Numbers for each unit and trial; see `_WithoutEach`."""
        return int(self.slopes.shape[0] * self.slopes.shape[1])

    def at(self, moves: FloatArray) -> FloatArray:
        """Return derivatives at the points of the trials' own units; see `_WithoutEach`."""
        moved = self.z + np.einsum("cnt,tn->ct", self.slopes, moves)
        return np.vstack([one[0] for one in self._derivatives(moved[None])])

    def beyond(self, some: IntArray, moves: FloatArray, amount: FloatArray) -> FloatArray:
        """Return the non-quadratic part of derivatives; see `_WithoutEach`."""
        own = _ClassBlock(self.slopes[:, :, some], self.z[:, some], self.label[some], self.amount[some])
        (gradient,), (bend,) = own._derivatives(own.z[None])
        pull, curve = own._derivatives(own.z + np.tensordot(moves, own.slopes, axes=(1, 1)))
        pull -= gradient + np.einsum("tij,uj->uit", _whole(bend.T), moves)
        return np.hstack([np.einsum("uit,ut->ui", one, amount) for one in (pull, curve - bend)])

    def _derivatives(self, z: FloatArray) -> FloatPair:
        """Return gradients and upper triangles of Hessians at log-likelihoods (n_units, n_classes, n_trials)."""
        posterior = softmax(z, axis=1)
        rows, columns = np.triu_indices(self.slopes.shape[1])
        mean = np.einsum("uct,cnt->unt", posterior, self.slopes)
        true = np.take_along_axis(self.slopes, self.label[None, None], axis=0)[0]
        products = self.slopes[:, rows] * self.slopes[:, columns]
        bend = np.einsum("uct,cnt->unt", posterior, products) - mean[:, rows] * mean[:, columns]
        return mean - true, bend
