"""How trained scales and offsets of many classes change with the weight of each unit: their influences.

As of two classes (`deciban.core.training.influences`): each trial's gradient relative to the mean of its class.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import softmax

from deciban.core.classes.certainty import CountedTrials, decided
from deciban.core.resampling.linearised import (
    UnitChanges,
    add_by_code,
    add_by_unit,
    require_effective,
    require_several,
    sums_by_unit,
)
from deciban.core.resampling.units import TrialUnits
from deciban.core.training.batches import PartsOfClassTrials
from deciban.core.training.influences import (
    Points,
    WholeSums,
    effective_of,
    leaves_out,
    moves_without_each,
    sides_of,
    steep,
)
from deciban.core.training.moments import standardization
from deciban.core.training.multiclass_objective import NO_TRIALS, ClassObjective, Errors, SecondDerivatives
from deciban.core.training.multiclass_training import objective_of
from deciban.core.training.sums import Sums, UnitSums
from deciban.errors import InputError
from deciban.types import BoolArray, FloatArray, IntArray


def class_influences(
    given: CountedTrials | PartsOfClassTrials,
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
    given : CountedTrials or PartsOfClassTrials
        What training saw.
    units : TrialUnits
        Of the trials that these are some of; of trials in parts, which know their own, all units.
    scales : (n_systems,) array
    offsets : (n_classes,) array
        What was trained.
    ridge, scale, offset
        As in `deciban.core.training.multiclass_training.train_counted`. The widths that a penalty is measured in count
        as known.

    Returns
    -------
    UnitChanges
        0 for what is not trained, and for offsets of classes of prior 0.

    Raises
    ------
    InputError
        If a class has effectively fewer than five units, or infinite scores decide all trials.
    """
    require_several(units)
    left = given.left
    if not len(left):
        raise InputError("infinite scores decide all trials.")
    center, width = standardization(left)
    if scale and not np.any(width > 0.0):
        raise InputError("every trial scores all classes in the same way.")
    prior, possible = given.possible_prior, given.possible
    objective = objective_of(NO_TRIALS, prior, center, width, ridge=ridge, scale=scale, offset=offset)
    raw = np.append(scales, offsets[possible])
    found: _ByUnit = given.each_by_unit(_Derivatives(objective, raw, left.class_weights), units)
    sums, totals, shares, n_trials = found.sums.parts
    shares = shares / prior
    used: BoolArray = np.asarray(shares.any(axis=1) | found.sums.is_folded)
    names = tuple(f"class {k}" for k in possible.tolist())
    n_effective = require_effective(effective_of(found.sums, shares), names, units)
    penalty = np.diag(objective.penalty)
    coordinates = steep(found.seconds.along(objective.basis) + penalty)
    basis, n = objective.basis @ coordinates, coordinates.shape[1]
    centred = (sums - shares @ totals) @ basis
    leave_out = not found.sums.is_folded and leaves_out(int(used.sum()), n_trials.sum(), n)
    if leave_out:
        look = _WithoutEach(objective, raw, left.class_weights, basis)
        work = len(prior) * (n + 1) // 2
        start = Points.start(centred, shares, n_trials, work)
        hessians: Sums = given.each_by_unit(replace(look, points=start, whole=True), units)
        by_class = hessians.total.reshape(len(prior), n, n)
        whole = WholeSums(totals @ basis, by_class, coordinates.T @ penalty @ coordinates)
        moves = moves_without_each(
            lambda points: given.each_by_unit(replace(look, points=points), units), whole, start, used, units.noun
        )
    else:
        moves = -centred  # derivatives by the weights of units
    moved = moves[used] @ basis.T
    n_systems = len(scales)
    changes = np.zeros((len(moved), n_systems + len(offsets)))
    changes[:, :n_systems] = moved[:, :n_systems]
    of_possible = moved[:, n_systems:]
    changes[:, n_systems + possible] = of_possible - of_possible.mean(axis=1, keepdims=True)
    form = {"left_out": leave_out, "listed": not found.sums.is_folded, "penalized": ridge > 0.0}
    n_units = int(n_trials.sum()) if found.sums.is_folded else len(changes)
    return UnitChanges(values=changes, n_units=n_units, n_effective=n_effective, **form)


@dataclass(frozen=True, slots=True, eq=False)
class _ByUnit:
    """Second derivatives of trials, with sums by unit; those of more trials add up."""

    seconds: SecondDerivatives
    sums: UnitSums

    def __add__(self, other: _ByUnit) -> _ByUnit:
        return _ByUnit(self.seconds + other.seconds, self.sums + other.sums)

    def fold(self) -> _ByUnit:
        """See `UnitSums.fold`."""
        return _ByUnit(self.seconds, self.sums.fold())


@dataclass(frozen=True, slots=True, eq=False)
class _Derivatives:
    """A look at trials with their units: sums of gradients by unit and by class, amounts by unit and class."""

    objective: ClassObjective
    raw: FloatArray
    class_weights: FloatArray

    def __call__(self, counted: CountedTrials, units: TrialUnits) -> _ByUnit:
        trials = replace(counted.trials, class_weights=self.class_weights)
        is_open = ~decided(trials)[0]
        left = trials if is_open.all() else trials.take(np.flatnonzero(is_open))
        seconds, sums, totals = _derivatives(replace(self.objective, trials=left), self.raw, units.take(is_open))
        weight, n_classes = trials.weight(slice(None)), len(self.class_weights)
        shares = sums_by_unit(np.array([np.where(trials.label == k, weight, 0.0) for k in range(n_classes)]), units)
        counts = np.bincount(trials.label, minlength=n_classes)
        return _ByUnit(seconds, UnitSums(tuple(map(Sums.of, (sums, totals, shares, counts))), by_unit=(0, 2)))


def _derivatives(
    objective: ClassObjective, raw: FloatArray, units: TrialUnits
) -> tuple[SecondDerivatives, FloatArray, FloatArray]:
    """Second derivatives by scales and offsets, and sums of gradients of the trials of each unit and of each class."""
    trials, n_raw = objective.trials, len(raw)
    n_systems, n_classes = trials.systems.shape[1:]
    scales_move, offsets_move = objective.basis[:n_systems].any(), objective.basis[n_systems:].any()
    seconds = SecondDerivatives(n_systems * bool(scales_move), n_classes * bool(offsets_move), np.float64)
    sums, totals = np.zeros((units.n_units, n_raw)), np.zeros((n_classes, n_raw))
    for rows in objective.blocks():
        with np.errstate(all="ignore"):
            features, z, label = objective.combined(raw, rows)
            weights = trials.weight(rows)
            errors = Errors.of(z, label)
            column, pull = np.arange(len(label)), errors.posterior
            pull[label, column] = errors.p_true
            seconds.add(features, label, pull, weights)
            pull[label, column] = -errors.p_error
            pull *= weights
            gradients = np.vstack((np.einsum("kcn,cn->kn", features, pull), pull))
            add_by_unit(sums, gradients, units.take(rows))
            np.add.at(totals, label, gradients.T)
    return seconds, sums, totals


@dataclass(frozen=True, slots=True, eq=False)
class _WithoutEach:
    """A look at trials with their units that finds what `WholeSums.at` needs.

    With ``whole`` it finds the Hessians of the classes, instead.
    """

    objective: ClassObjective
    raw: FloatArray
    class_weights: FloatArray
    basis: FloatArray
    points: Points | None = None
    whole: bool = False

    def __call__(self, counted: CountedTrials, units: TrialUnits) -> Sums:
        assert self.points is not None  # noqa: S101  # it was set
        trials = replace(counted.trials, class_weights=self.class_weights)
        is_open = ~decided(trials)[0]
        left = trials if is_open.all() else trials.take(np.flatnonzero(is_open))
        n, own = self.basis.shape[1], units.take(is_open)
        found = np.zeros((len(self.class_weights), n * n) if self.whole else (units.n_units, n + n * (n + 1) // 2))
        objective = replace(self.objective, trials=left)
        for rows in objective.blocks():
            features, z, label = objective.combined(self.raw, rows)
            one = _Block(self._slopes(features), z, label, left.weight(rows))
            if self.whole:
                self._add_hessians(found, one)
            else:
                self._take_away(found, one, own.take(rows), self.points)
                self._add_others(found, one, self.points)
        return Sums.of(found)

    def _slopes(self, features: FloatArray) -> FloatArray:
        """Return derivatives of log-likelihoods by the coordinates, (n_classes, n, n_trials)."""
        k = len(features)
        found = np.einsum("kct,kn->cnt", features, self.basis[:k])
        return np.asarray(found + self.basis[k:][:, :, None])

    def _add_hessians(self, found: FloatArray, one: _Block) -> None:
        n = self.basis.shape[1]
        rows, columns = np.triu_indices(n)
        _, bend = one.derivatives(one.z)
        for k in range(len(found)):
            matrix = np.zeros((n, n))
            own = one.label == k
            matrix[rows, columns] = matrix[columns, rows] = bend[:, own] @ one.weight[own]
            found[k] += matrix.ravel()

    def _take_away(self, found: FloatArray, one: _Block, units: TrialUnits, points: Points) -> None:
        """Subtract what the trials of each unit contribute at its own point."""
        for side, counts in sides_of(units.codes):
            z = one.z + np.einsum("cnt,tn->ct", one.slopes, points.moves[side])
            amount = np.where(counts, one.weight * points.inverse[side, one.label], 0.0)
            add_by_code(found, -amount * np.vstack(one.derivatives(z)), side)

    def _add_others(self, found: FloatArray, one: _Block, points: Points) -> None:
        """Add what trials contribute at the points of all units, beyond their quadratic form: of a sample of them."""
        if not points.moves.any():
            return
        places, stand_for = points.sampled(one.label, one.weight)
        n_classes, n, _ = one.slopes.shape
        rows, columns = np.triu_indices(n)
        for some in points.slabs(len(places), n_classes * n):
            at = places[some]
            own = _Block(one.slopes[:, :, at], one.z[:, at], one.label[at], one.weight[at])
            amount = stand_for[some] * points.inverse[:, own.label]
            gradient, bend = own.derivatives(own.z)
            hessian = np.zeros((n, n, len(at)))
            hessian[rows, columns] = hessian[columns, rows] = bend
            z = own.z + np.tensordot(points.moves, own.slopes, axes=(1, 1))
            pull, curve = own.derivatives_of_units(z)
            pull -= gradient + np.einsum("ijt,uj->uit", hessian, points.moves)
            found[:, :n] += np.einsum("uit,ut->ui", pull, amount)
            found[:, n:] += np.einsum("uit,ut->ui", curve - bend, amount)


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """Some trials: derivatives of log-likelihoods (n_classes, n, n_trials), these with prior, classes, weights."""

    slopes: FloatArray
    z: FloatArray
    label: IntArray
    weight: FloatArray

    def derivatives(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return gradients (n, n_trials) of costs, and the upper triangles of their Hessians, without weights."""
        gradient, bend = self.derivatives_of_units(z[None])
        return gradient[0], bend[0]

    def derivatives_of_units(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the same for several points, (n_units, ..., n_trials)."""
        posterior = softmax(z, axis=1)
        rows, columns = np.triu_indices(self.slopes.shape[1])
        mean = np.einsum("uct,cnt->unt", posterior, self.slopes)
        true = np.take_along_axis(self.slopes, self.label[None, None], axis=0)[0]
        products = self.slopes[:, rows] * self.slopes[:, columns]
        bend = np.einsum("uct,cnt->unt", posterior, products) - mean[:, rows] * mean[:, columns]
        return mean - true, bend
