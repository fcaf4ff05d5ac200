"""Parameters that training would find without each of the units, by Newton's method for all units together.

Training without unit k minimizes the objective of the other trials, whose classes are renormalized. The search starts
at the parameters of all trials. The trials of a unit are evaluated at the point of that unit alone. All other trials
have to be evaluated at the points of all units: their first and second derivatives are exact, and the remainder, which
is small, comes from an even sample if there are many trials.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from deciban.core.training.sums import Sums
from deciban.errors import InputError
from deciban.types import AnyArray, BoolArray, FloatArray, IntArray

MOST_UNITS = 1000
"""Units up to which each is left out; of more, one alone changes parameters so little that derivatives tell as much."""

MOST_PARAMETERS = 16
"""Parameters up to which each unit is left out; of more, second derivatives of each unit take too long."""

_AT_ONCE = 1 << 22
"""Numbers of log odds, for units times trials, that a sample of trials is chosen for."""

_SLAB = 1 << 16
"""Numbers that are worked on together."""

_LOOKS = 15
_PRECISE = 1e-3
"""How exact a change is, relative to itself and to the root mean square of all changes."""


def leaves_out(n_units: int, n_trials: float, n_parameters: int = 1) -> bool:
    """Return whether each unit is left out; not if there are too many, or if every trial is a unit."""
    return n_units < n_trials and n_units <= MOST_UNITS and n_parameters <= MOST_PARAMETERS


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Where a look evaluates the trials of each unit.

    Attributes
    ----------
    moves : (n_units, n_parameters) array
        Steps from the parameters of all trials.
    inverse : (n_units, n_classes) array
        How much more a trial of each class counts without a unit.
    strides : (n_classes,) int array
        One trial in so many of each class is in the sample.
    """

    moves: FloatArray
    inverse: FloatArray
    strides: IntArray

    @classmethod
    def start(cls, moves: FloatArray, shares: FloatArray, n_trials: FloatArray, work: int = 1) -> Points:
        """Return the points of the first look.

        Parameters
        ----------
        moves : (n_units, n_parameters) array
            Nearly the right ones.
        shares : (n_units, n_classes) array
            Of each class.
        n_trials : (n_classes,) array
        work : int
            Numbers for each unit and trial.
        """
        room = max(_AT_ONCE // (len(shares) * len(n_trials) * work), 1)
        strides = np.maximum(np.ceil(n_trials / room), 1.0).astype(np.int64)
        return cls(moves, 1.0 / (1.0 - shares), strides)

    def sampled(self, label: IntArray, amounts: FloatArray) -> tuple[IntArray, FloatArray]:
        """Return positions of a sample of trials, and for how much each of them stands."""
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


def sides_of(codes: tuple[IntArray, ...]) -> list[tuple[IntArray, BoolArray]]:
    """Return the units of each side, and where they count: a unit on both sides of a trial counts once."""
    first, *others = codes
    return [(first, np.ones(len(first), np.bool_)), *((side, side != first) for side in others)]


@dataclass(frozen=True, slots=True, eq=False)
class WholeSums:
    """Derivatives of the objective by class at the parameters of all trials.

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

    def at(self, points: Points, found: AnyArray) -> tuple[FloatArray, FloatArray]:
        """Return gradients and Hessians without each unit.

        Parameters
        ----------
        points : Points
        found : (n_units, ...) array
            Of each unit what other trials add to their quadratic form at its point less what its own trials add there:
            gradient, then upper triangle of the Hessian.
        """
        n = points.moves.shape[1]
        rows, columns = np.triu_indices(n)
        hessian = np.zeros((len(found), n, n))
        hessian[:, rows, columns] = hessian[:, columns, rows] = found[:, n:]
        whole = np.einsum("uc,cij->uij", points.inverse, self.hessians) + self.penalty
        gradient = found[:, :n] + points.inverse @ self.gradients - self.gradients.sum(axis=0)
        return gradient + np.einsum("uij,uj->ui", whole, points.moves), hessian + whole


def moves_without_each(
    look: Callable[[Points], Sums], whole: WholeSums, points: Points, used: BoolArray, noun: str
) -> FloatArray:
    """Return how far training without each unit ends from training on all, (n_units, n_parameters).

    Parameters
    ----------
    look : function
        What `WholeSums.at` takes, of some points.
    whole : WholeSums
        In coordinates in which the Hessian of all trials is the identity.
    points : Points
    used : (n_units,) bool array
        Units that have trials.
    noun : str
        What a unit is called.

    Raises
    ------
    InputError
        If training without some unit ends nowhere near.
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
    raise InputError(
        f"training without one of the {noun}s has no optimum, or one far from that of all: few {noun}s decide on it"
    )


def _newton(gradient: FloatArray, hessian: FloatArray) -> FloatArray:
    """Return Newton's steps; where the curvature is not clearly positive it is taken for a small one."""
    if not (np.isfinite(gradient).all() and np.isfinite(hessian).all()):
        raise InputError("the derivatives of the objective do not fit a float.")
    values, vectors = np.linalg.eigh(hessian)
    along = np.einsum("uij,ui->uj", vectors, gradient) / np.maximum(values, 1e-3)
    found: FloatArray = -np.einsum("uij,uj->ui", vectors, along)
    return found
