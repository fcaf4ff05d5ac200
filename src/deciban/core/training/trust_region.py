"""Minimize a smooth function of few parameters by a trust region with exact second derivatives.

A step minimizes the quadratic model within a ball (Moré and Sorensen 1983), by the eigenvalues of the Hessian: it
works where the Hessian is indefinite, as that of non-convex scoring rules is away from their optimum, and is Newton's
step close to it. The matrices are small, so the eigenvalues cost nothing next to one pass over the trials.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeAlias

import numpy as np
from scipy.linalg import cho_solve, lapack

from deciban.errors import InputError
from deciban.types import BoolArray, FloatArray

_FLAT = 100.0
"""Curvature, in units of rounding relative to the largest, below which a direction counts as flat: it tells nothing."""


_MANY = 64
"""Parameters from which on eigenvalues take longer than most passes over trials."""


_BENT = 1e-10
"""Least curvature, relative to the largest, of which it is certain that no direction is flat."""


@dataclass(frozen=True, slots=True)
class Spectrum:
    """The quadratic model at a point, by the eigenvalues of the Hessian."""

    eigenvalues: FloatArray
    vectors: FloatArray
    slopes: FloatArray
    """The gradient in the coordinates of the eigenvectors."""
    flat: BoolArray
    """Directions in which neither curvature nor slope can be told from rounding."""
    rounding: float

    @classmethod
    def of(cls, value: float, gradient: FloatArray, hessian: FloatArray, rounding: float) -> Spectrum:
        """From the value and the derivatives at a point."""
        eigenvalues, vectors = np.linalg.eigh(hessian)
        slopes, tiny = vectors.T @ gradient, _FLAT * rounding
        largest = float(np.max(np.abs(eigenvalues), initial=0.0))
        level = np.abs(slopes) <= tiny * max(abs(value), largest)
        return cls(eigenvalues, vectors, slopes, np.asarray(level & (np.abs(eigenvalues) <= tiny * largest)), rounding)

    @property
    def n_flat(self) -> int:
        """Number of directions that look flat."""
        return int(self.flat.sum())

    @property
    def decrement(self) -> float:
        """What Newton's step would gain; infinite where there is no minimum of the model."""
        eigenvalues, slopes = self.eigenvalues[~self.flat], self.slopes[~self.flat]
        if np.any(eigenvalues <= 0.0):
            return math.inf
        with np.errstate(over="ignore"):
            return float(0.5 * np.sum(slopes**2 / eigenvalues))

    @property
    def newton(self) -> FloatArray:
        """The step to the minimum of the model."""
        steps: FloatArray = np.where(self.flat, 0.0, -self.slopes / np.where(self.flat, 1.0, self.eigenvalues))
        return self.vectors @ steps

    def within(self, radius: float) -> tuple[FloatArray, float]:
        """The step to the minimum of the model in a ball, and what it gains by the model."""
        eigenvalues, slopes, moving = self.eigenvalues, self.slopes, ~self.flat
        step = np.zeros(len(slopes))
        step[moving] = _within(radius, eigenvalues[moving], slopes[moving], 0.1 * self.rounding)
        return self.vectors @ step, -float(slopes @ step + 0.5 * (eigenvalues * step) @ step)

    def way_back(self, point: FloatArray, limit: float) -> tuple[FloatArray, int]:
        """The step along flat directions to the point closest to 0, and how many of them look flat all the way."""
        along = self.vectors.T @ point
        loss = np.abs(self.slopes * along) + 0.5 * np.abs(self.eigenvalues) * along**2
        flat = self.flat & (loss <= limit)
        return -(self.vectors[:, flat] @ along[flat]), int(flat.sum())


@dataclass(frozen=True, slots=True)
class Bowl:
    """The quadratic model at a point whose Hessian is far from singular: Newton's step takes no eigenvalues.

    They take fifteen times as long as the triangular factor, which counts where there are many parameters.
    """

    value: float
    gradient: FloatArray
    hessian: FloatArray
    rounding: float
    newton: FloatArray
    """The step to the minimum of the model."""
    n_flat: ClassVar[int] = 0

    @classmethod
    def of(cls, value: float, gradient: FloatArray, hessian: FloatArray, rounding: float) -> Bowl | None:
        """From the value and the derivatives at a point; None if the Hessian is not clearly positive definite."""
        factor, failed = lapack.dpotrf(hessian)
        if failed:
            return None
        inverse_condition, failed = lapack.dpocon(factor, float(np.abs(hessian).sum(axis=0).max()))
        if failed or not inverse_condition > max(rounding, _BENT):
            return None
        return cls(value, gradient, hessian, rounding, -cho_solve((factor, False), gradient))

    @property
    def decrement(self) -> float:
        """What Newton's step would gain."""
        return -0.5 * float(self.gradient @ self.newton)

    def within(self, radius: float) -> tuple[FloatArray, float]:
        """The step to the minimum of the model in a ball, and what it gains by the model."""
        if np.linalg.norm(self.newton) <= radius:
            return self.newton, self.decrement
        return Spectrum.of(self.value, self.gradient, self.hessian, self.rounding).within(radius)


def model_of(value: float, gradient: FloatArray, hessian: FloatArray, rounding: float) -> Bowl | Spectrum:
    """The quadratic model at a point, of a function whose relative rounding is known."""
    bowl = Bowl.of(value, gradient, hessian, rounding) if len(gradient) >= _MANY else None
    return bowl or Spectrum.of(value, gradient, hessian, rounding)


@np.errstate(over="ignore", divide="ignore")  # where the function is nearly level, or very steep
def _within(radius: float, eigenvalues: FloatArray, slopes: FloatArray, tiny: float) -> FloatArray:
    """The step that minimizes the model in a ball, in the coordinates of the eigenvectors."""
    largest = float(np.max(np.abs(eigenvalues), initial=0.0))
    lowest = float(eigenvalues[0])
    if lowest > tiny * largest:
        step = -slopes / eigenvalues
        if np.linalg.norm(step) <= radius:
            return step
    moving = np.abs(slopes) > 0.0
    if not moving.any():  # a stationary point that is no minimum: leave it downhill
        return radius * np.eye(len(slopes))[0] if lowest < 0.0 else np.zeros(len(slopes))

    def length(shift: float) -> float:
        return float(np.linalg.norm(slopes[moving] / (eigenvalues[moving] + shift)))

    # |step| falls with the shift; it lies between these two.
    steepest = float(np.linalg.norm(slopes)) / radius
    low = max(0.0, -lowest) + tiny * max(largest, steepest)
    high = low + steepest
    if length(low) <= radius:
        shift, step = low, np.where(moving, -slopes / (eigenvalues + low), 0.0)
        missing = math.sqrt(max(radius**2 - float(step @ step), 0.0))
        if lowest < 0.0:  # the hard case: no slope along the direction of negative curvature
            step[0] -= math.copysign(missing, slopes[0])
        return step
    for _ in range(200):
        shift = math.sqrt(low * high) if low > 0.0 else 0.5 * high
        if length(shift) > radius:
            low = shift
        else:
            high = shift
        if high - low <= 1e-3 * high:
            break
    return np.where(moving, -slopes / (eigenvalues + high), 0.0)


_ALIKE = 1e-9
"""Points whose values differ by less than this, relative to them, along flat directions count as equally good."""


PRECISE = 1e-12
"""What Newton's step can still gain, relative to the value, when the minimum counts as reached."""


ROUNDING = 1e-14
"""How much a value may grow, relative to it, by rounding alone."""


_LOOSE = 300.0
"""How much farther than ``precise`` the last of several steps with the same second derivatives may start, times the
root of what the one before it could gain: they shrink what is missing by a rate, and do not square it."""


_PURSUIT = 60
"""How many of Newton's steps follow where the value has no digits left."""


_LOST = 1e-14
"""Curvature, relative to the largest, that is rounding."""


_HALVINGS = 20
"""How often a bad start is drawn nearer before the search begins at 0."""


_NEAR = 1e-3
"""What Newton's step can gain, relative to the value, where second derivatives change so little that old ones do."""


@dataclass(frozen=True, slots=True)
class Derivatives:
    """A function at a point: its value, gradient (d,) and Hessian (d, d), possibly that of a point nearby.

    ``worst`` and ``overlap`` are what an objective tells about its trials there, for whoever wants to stop the search;
    see `deciban.core.training.linear_objective`.
    """

    value: float
    gradient: FloatArray
    hessian: FloatArray
    worst: float = math.inf
    overlap: float = math.inf

    @property
    def is_finite(self) -> bool:
        """Whether a step can be made from here."""
        return math.isfinite(self.value) and bool(np.isfinite(self.gradient).all() and np.isfinite(self.hessian).all())


@dataclass(frozen=True, slots=True)
class Minimum:
    """Where a search ended.

    ``at`` are the derivatives at ``point``. ``decrement`` is what Newton's step from there would still gain, half of
    ``g' H^-1 g`` (infinite where the Hessian is not positive definite), in the unit of the value. ``polished`` is the
    point where that step leads, if the search converged: its distance to the minimum is of the order of the square of
    that of ``point``; where there are flat directions, the value is that of ``polished``, and nothing is left to gain.
    ``flat`` is the number of directions in which the function does not change. ``falls`` tells that it does change in
    directions that look flat where the search ended: it is higher nearer to 0, but not farther away.
    """

    point: FloatArray
    polished: FloatArray
    at: Derivatives
    decrement: float
    n_steps: int
    n_evaluations: int
    converged: bool
    flat: int
    falls: bool = False

    @property
    def best(self) -> FloatArray:
        """The best point that is known."""
        return self.polished if self.converged else self.point

    @property
    def least(self) -> float:
        """The value there: Newton's step gains the decrement."""
        return self.at.value - (self.decrement if self.converged else 0.0)

    @property
    def course(self) -> dict[str, Any]:
        """How the search went, under the names of `deciban.core.training.linear_training.Fit`."""
        with np.errstate(over="ignore"):
            gradient_norm = float(np.linalg.norm(self.at.gradient))
        return {
            "gradient_norm": gradient_norm,
            "n_steps": self.n_steps,
            "n_passes": self.n_evaluations,
            "converged": self.converged,
            "flat": self.flat,
        }


SUSPICIOUS = 0.1
"""Newton's step at a minimum that lies at infinity moves some score by about 1, relative to its size; at any other
minimum by next to nothing."""

SIZE = 1e-2
"""Share of a score that adds to 1 nat in the size by which moves are divided."""

Function: TypeAlias = Callable[[FloatArray, FloatArray | None], Derivatives]
"""What is minimized: gives the derivatives at a point, with the Hessian that is given or else its own."""


def minimize(
    function: Function,
    start: FloatArray,
    *,
    radius: float = 4.0,
    reuse: bool = False,
    precise: float = PRECISE,
    rounding: float = ROUNDING,
    max_evaluations: int = 200,
    stop: Callable[[FloatArray, Derivatives], bool] | None = None,
    after: Minimum | None = None,
    limit: float = math.inf,
) -> Minimum:
    """Search the minimum of ``function`` from ``start`` on.

    Parameters
    ----------
    function : callable
        Gives the derivatives at a point; a value that is not finite means that the point is out of bounds. A Hessian
        that it is passed is good enough, and need not be computed.
    start : (d,) array
    reuse : bool
        Near the minimum, use second derivatives again where they are still good: more steps, but cheaper ones.
    radius : float
        Length of the longest first step; parameters should be scaled so that 1 is a sensible step.
    precise : float
        The search has converged when Newton's step gains less than this, relative to the value.
    rounding : float
        Relative error of the value.
    max_evaluations : int
        When to give up.
    stop : callable, optional
        Ends the search at a new point when it returns True, for example because the minimum turned out to be infinite.
    after : Minimum, optional
        The minimum of nearly the same function, whose last step led to ``start``: its second derivatives will do there.
    limit : float
        The value at 0: where that at ``start`` is higher, or not finite, the search begins nearer to 0.

    Returns
    -------
    Minimum
    """
    point, at, n_evaluations = start, function(start, None if after is None else after.at.hessian), 1
    while not (at.is_finite and at.value <= limit) and point.any():
        point, after = 0.5 * point if n_evaluations < _HALVINGS else np.zeros(len(point)), None
        at, n_evaluations = function(point, None), n_evaluations + 1
    if not at.is_finite:
        return Minimum(point, point, at, math.inf, 0, n_evaluations, converged=False, flat=0)
    n_steps, stopped = 0, stop is not None and stop(point, at)
    before = math.inf if after is None else after.decrement
    is_own = after is None  # whether the Hessian is that of the point
    while True:
        model = model_of(at.value, at.gradient, at.hessian, rounding)
        decrement = model.decrement
        stuck = decrement >= 0.25 * before and decrement <= 100.0 * rounding * abs(at.value)
        converged = stuck or (
            decrement <= precise * abs(at.value)
            and (is_own or not decrement or (decrement / (_LOOSE * precise)) ** 2 <= abs(at.value) * before)
        )
        if stopped or converged or n_evaluations >= max_evaluations or radius < 1e-300:
            reached = converged and not stopped
            polished = point + model.newton if reached else point
            found = Minimum(point, polished, at, decrement, n_steps, n_evaluations, reached, model.n_flat)
            if not reached or not isinstance(model, Spectrum) or not model.n_flat:
                return found
            return _settled(function, found, *model.way_back(polished, _ALIKE * abs(at.value)), rounding)
        earlier, before = before, decrement
        step, predicted = model.within(radius)
        near = reuse and decrement <= min(_NEAR * abs(at.value), 0.1 * earlier)
        there = function(trial := point + step, at.hessian if near else None)
        n_evaluations += 1
        gained = at.value - there.value if there.is_finite else -math.inf
        length = float(np.linalg.norm(step))
        ratio = gained / predicted if predicted > 0 else 1.0
        if ratio < 0.25:
            radius = 0.25 * length
        elif ratio > 0.75 and length > 0.8 * radius:
            radius *= 4.0
        if near and there.is_finite:
            known = _updated(at.hessian, step, there.gradient - at.gradient)
            there = replace(there, hessian=known)
        if ratio > 1e-4 or abs(gained) <= rounding * abs(at.value):
            point, at, n_steps, is_own = trial, there, n_steps + 1, not near
            stopped = stop is not None and stop(point, at)


def pursued(function: Function, found: Minimum, is_far: Callable[[Minimum], bool]) -> Minimum | None:
    """Where a search leads of which the value has no digits left to tell: its minimum, or None if there is none.

    Where few trials that hardly count have yet to come to rest, Newton's steps go on without a look at the value, until
    they move nothing any more, or the second derivatives have no digits left either.

    Parameters
    ----------
    function : callable
        Convex.
    found : Minimum
    is_far : callable
        Whether Newton's step from a point still moves something.
    """
    point = found.polished
    for n in range(1, _PURSUIT + 1):
        at = function(point, None)
        if not at.is_finite:
            return None
        eigenvalues, vectors = np.linalg.eigh(at.hessian)
        if eigenvalues[0] <= _LOST * eigenvalues[-1]:
            return None
        slopes = vectors.T @ at.gradient
        there = point - vectors @ (slopes / eigenvalues)
        gain = float(0.5 * np.sum(slopes**2 / eigenvalues))
        here = replace(found, point=point, polished=there, at=at, decrement=gain, n_steps=found.n_steps + n)
        if not is_far(here):
            return replace(here, n_evaluations=found.n_evaluations + n)
        point = there
    return None


def _updated(hessian: FloatArray, step: FloatArray, change: FloatArray) -> FloatArray:
    """Second derivatives that explain how the gradient changed along a step (the formula of Broyden and others)."""
    along, seen = hessian @ step, float(step @ change)
    expected = float(step @ along)
    if not 0.5 * expected < seen < 2.0 * expected:
        return hessian
    return hessian - np.outer(along, along) / expected + np.outer(change, change) / seen


def _settled(function: Function, found: Minimum, back: FloatArray, flat: int, rounding: float) -> Minimum:
    """Of points that differ along flat directions the one closest to 0, if the function is as low there.

    Far out, all directions are flat in which the costs of all trials are as good as constant. Where that is so only far
    out, the function is higher nearer to 0; and it falls forever unless it is higher farther away, too.
    """
    if flat == 0:
        return replace(found, flat=0)

    def value(point: FloatArray) -> float:
        there = function(point, found.at.hessian).value
        return there if math.isfinite(there) else math.inf

    near = value(found.polished + back)
    n_evaluations, size = found.n_evaluations + 1, abs(found.at.value)
    if near <= found.at.value + max(_ALIKE, 10.0 * rounding) * size:
        at = replace(found.at, value=near)
        return replace(
            found, polished=found.polished + back, at=at, decrement=0.0, n_evaluations=n_evaluations, flat=flat
        )
    falls = value(found.polished - back) <= found.at.value + 10.0 * rounding * size
    return replace(found, n_evaluations=n_evaluations + 1, flat=0, falls=falls)


_LEVEL = 1e-12
"""Curvature, relative to the largest, below which a direction counts as flat: the data say nothing of it."""


def steep(hessian: FloatArray) -> FloatArray:
    """Return coordinates in which a Hessian is the identity, as columns, for all directions that are not flat.

    Raises
    ------
    InputError
        If the curvature is negative in some direction, or derivatives are no numbers.
    """
    if not np.isfinite(hessian).all():
        raise InputError("the derivatives of the objective do not fit a float.")
    values, vectors = np.linalg.eigh(0.5 * hessian + 0.5 * hessian.T)
    largest = float(np.max(np.abs(values), initial=0.0))
    if np.any(values < -_LEVEL * largest):
        raise InputError("the parameters are no minimum of the objective, but a saddle.")
    is_steep = values > _LEVEL * largest
    return np.asarray(vectors[:, is_steep] / np.sqrt(values[is_steep]))
