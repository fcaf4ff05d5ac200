"""How trained scales and offsets of many classes change with the weight of each unit: their influences.

As of two classes (`deciban.core.training.influences`): each trial's gradient relative to the mean of its class.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from deciban.core.classes.certainty import CountedTrials, decided
from deciban.core.resampling.covariance import add_by_unit, require_several, sums_by_unit
from deciban.core.resampling.units import TrialUnits
from deciban.core.training.class_parts import PartsOfClassTrials
from deciban.core.training.class_trials import NO_TRIALS
from deciban.core.training.influences import UnitSums, solved
from deciban.core.training.moments import standardization
from deciban.core.training.multiclass_objective import ClassObjective, Errors, SecondDerivatives
from deciban.core.training.multiclass_training import objective_of
from deciban.core.training.sums import Sums
from deciban.errors import InputError
from deciban.types import FloatArray


def class_influences(
    given: CountedTrials | PartsOfClassTrials,
    units: TrialUnits,
    scales: FloatArray,
    offsets: FloatArray,
    *,
    ridge: float = 0.0,
    scale: bool = True,
    offset: bool = True,
) -> FloatArray:
    """Influence of each unit on the scales of systems and the offsets of classes.

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
        As in `deciban.core.training.multiclass_training.train_classes`. The widths that a penalty is measured in count
        as known.

    Returns
    -------
    (n_units, n_systems + n_classes) array
        0 for what is not trained, and for offsets of classes of prior 0.

    Raises
    ------
    InputError
        If there is one unit, or infinite scores decide all trials.
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
    sums, totals, shares = found.sums.parts
    shares = shares / prior
    hessian, sums, totals = found.seconds.along(objective.basis), sums @ objective.basis, totals @ objective.basis
    moved = solved(hessian + np.diag(objective.penalty), sums - shares @ totals) @ objective.basis.T
    n_systems = len(scales)
    influences = np.zeros((len(sums), n_systems + len(offsets)))
    influences[:, :n_systems] = moved[:, :n_systems]
    of_possible = moved[:, n_systems:]
    influences[:, n_systems + possible] = of_possible - of_possible.mean(axis=1, keepdims=True)
    return influences


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
        return _ByUnit(seconds, UnitSums(tuple(map(Sums.of, (sums, totals, shares))), by_unit=(0, 2)))


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
