"""Minimization of a smooth function of few parameters by a trust region with exact second derivatives.

A step minimizes the quadratic model within a ball (Moré and Sorensen 1983), using the eigenvalues of the Hessian. This
also works for indefinite Hessians, which non-convex scoring rules have far from their optimum. Near the optimum, it is
Newton's step. The matrices are small, so that eigenvalues are cheap compared with one pass over the trials.

A search can go through levels: from samples and approximate objectives to all trials in full precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeAlias

import numpy as np

from deciban.errors import InputError
from deciban.types import BoolArray, FloatArray

_FLAT = 100.0
"""Curvature, in units of rounding relative to the largest, below which a direction counts as flat."""


_MANY = 64
"""Number of parameters above which eigenvalues take longer than most passes over trials."""


_BENT = 1e-10
"""Least curvature, relative to the largest, at which certainly no direction is flat."""


@dataclass(frozen=True, slots=True)
class Spectrum:
    """Quadratic model at a point, by the eigenvalues of the Hessian."""

    eigenvalues: FloatArray
    vectors: FloatArray
    slopes: FloatArray
    """The gradient in the coordinates of the eigenvectors."""
    flat: BoolArray
    """Directions in which curvature and slope cannot be distinguished from rounding."""
    rounding: float

    @classmethod
    def of(cls, value: float, gradient: FloatArray, hessian: FloatArray, rounding: float) -> Spectrum:
        """Create from the value and the derivatives at a point."""
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
        """Gain of Newton's step; infinite if the model has no minimum."""
        eigenvalues, slopes = self.eigenvalues[~self.flat], self.slopes[~self.flat]
        if np.any(eigenvalues <= 0.0):
            return math.inf
        with np.errstate(over="ignore"):
            return float(0.5 * np.sum(slopes**2 / eigenvalues))

    @property
    def newton(self) -> FloatArray:
        """Step to the minimum of the model."""
        steps: FloatArray = np.where(self.flat, 0.0, -self.slopes / np.where(self.flat, 1.0, self.eigenvalues))
        return self.vectors @ steps

    def within(self, radius: float) -> tuple[FloatArray, float]:
        """Return the step to the minimum of the model in a ball, and its gain in the model."""
        eigenvalues, slopes, moving = self.eigenvalues, self.slopes, ~self.flat
        step = np.zeros(len(slopes))
        step[moving] = _within(radius, eigenvalues[moving], slopes[moving], 0.1 * self.rounding)
        return self.vectors @ step, -float(slopes @ step + 0.5 * (eigenvalues * step) @ step)

    def way_back(self, point: FloatArray, limit: float) -> tuple[FloatArray, int]:
        """Return the step along flat directions to the point closest to 0, and the number of flat directions."""
        along = self.vectors.T @ point
        loss = np.abs(self.slopes * along) + 0.5 * np.abs(self.eigenvalues) * along**2
        flat = self.flat & (loss <= limit)
        return -(self.vectors[:, flat] @ along[flat]), int(flat.sum())


@dataclass(frozen=True, slots=True)
class Bowl:
    """Quadratic model at a point with a clearly regular Hessian, without eigenvalues.

    Eigenvalues take fifteen times as long as a triangular factor, which matters with many parameters.
    """

    value: float
    gradient: FloatArray
    hessian: FloatArray
    rounding: float
    newton: FloatArray
    """Step to the minimum of the model."""
    n_flat: ClassVar[int] = 0

    @classmethod
    def of(cls, value: float, gradient: FloatArray, hessian: FloatArray, rounding: float) -> Bowl | None:
        """Create from the value and derivatives at a point; None if the Hessian is not clearly positive definite."""
        from scipy.linalg import cho_solve, lapack  # takes as long to import as a small calibration takes

        factor, failed = lapack.dpotrf(hessian)
        if failed:
            return None
        inverse_condition, failed = lapack.dpocon(factor, float(np.abs(hessian).sum(axis=0).max()))
        if failed or not inverse_condition > max(rounding, _BENT):
            return None
        return cls(value, gradient, hessian, rounding, -cho_solve((factor, False), gradient))

    @property
    def decrement(self) -> float:
        """Gain of Newton's step."""
        return -0.5 * float(self.gradient @ self.newton)

    def within(self, radius: float) -> tuple[FloatArray, float]:
        """Return the step to the minimum of the model in a ball, and its gain in the model."""
        if np.linalg.norm(self.newton) <= radius:
            return self.newton, self.decrement
        return Spectrum.of(self.value, self.gradient, self.hessian, self.rounding).within(radius)


def model_of(value: float, gradient: FloatArray, hessian: FloatArray, rounding: float) -> Bowl | Spectrum:
    """Return the quadratic model at a point, for a function of known relative rounding."""
    bowl = Bowl.of(value, gradient, hessian, rounding) if len(gradient) >= _MANY else None
    return bowl or Spectrum.of(value, gradient, hessian, rounding)


@np.errstate(over="ignore", divide="ignore")  # for a nearly level or very steep function
def _within(radius: float, eigenvalues: FloatArray, slopes: FloatArray, tiny: float) -> FloatArray:
    """Return the step that minimizes the model in a ball, in the coordinates of the eigenvectors."""
    largest = float(np.max(np.abs(eigenvalues), initial=0.0))
    lowest = float(eigenvalues[0])
    if lowest > tiny * largest:
        step = -slopes / eigenvalues
        if np.linalg.norm(step) <= radius:
            return step
    moving = np.abs(slopes) > 0.0
    if not moving.any():  # a stationary point that is no minimum: move downhill
        return radius * np.eye(len(slopes))[0] if lowest < 0.0 else np.zeros(len(slopes))

    def length(shift: float) -> float:
        return float(np.linalg.norm(slopes[moving] / (eigenvalues[moving] + shift)))

    # |step| falls with the shift; the solution is between these two.
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
"""Relative difference of values along flat directions below which points count as equally good."""


PRECISE = 1e-12
"""Gain of Newton's step, relative to the value, at which the minimum counts as reached."""


ROUNDING = 1e-14
"""Relative growth of a value that rounding alone may cause."""


_LOOSE = 300.0
"""Factor of ``precise`` for the start of the last of several steps with the same second derivatives, times the root of
the gain of the previous step. These steps converge linearly, not quadratically."""


_PURSUIT = 60
"""Limit of Newton's steps after the value has no more digits."""


_LOST = 1e-14
"""Curvature, relative to the largest, that is due to rounding."""


_HALVINGS = 20
"""Limit of halvings of a bad start before the search begins at 0."""


_NEAR = 1e-3
"""Gain of Newton's step, relative to the value, below which old second derivatives are good enough."""


@dataclass(frozen=True, slots=True)
class Derivatives:
    """A function at a point: its value, gradient (d,) and Hessian (d, d), possibly the Hessian of a nearby point.

    ``worst`` and ``overlap`` are properties of the trials at this point, for stopping the search; see
    `deciban.core.training.linear_objective`.
    """

    value: float
    gradient: FloatArray
    hessian: FloatArray
    worst: float = math.inf
    overlap: float = math.inf

    @property
    def is_finite(self) -> bool:
        """True if a step from here is possible."""
        return math.isfinite(self.value) and bool(np.isfinite(self.gradient).all() and np.isfinite(self.hessian).all())


@dataclass(frozen=True, slots=True)
class Minimum:
    """Result of a search.

    ``at`` are the derivatives at ``point``. ``decrement`` is the expected gain of Newton's step from there, half of
    ``g' H^-1 g``, in the unit of the value (infinite if the Hessian is not positive definite). ``polished`` is the
    point after this step, if the search converged: its error is of the order of the squared error of ``point``. If
    there are flat directions, ``at`` has the value at ``polished``, and nothing remains to gain. ``flat`` is the number
    of directions in which the function does not change. ``falls`` is True if the function does change in directions
    that look flat at the result: it is higher closer to 0, but not farther away.
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
        """Best known point."""
        return self.polished if self.converged else self.point

    @property
    def least(self) -> float:
        """Value at the best point: Newton's step gains the decrement."""
        return self.at.value - (self.decrement if self.converged else 0.0)

    @property
    def course(self) -> dict[str, Any]:
        """Details of the search, under the names of `Fit`."""
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
"""Relative change of a score by Newton's step above which a minimum may be at infinity. There the change is
about 1, at any other minimum nearly 0."""

SIZE = 1e-2
"""Share of a score that is added to 1 nat in the divisor of relative changes."""

Function: TypeAlias = Callable[[FloatArray, FloatArray | None], Derivatives]
"""Minimized function: returns the derivatives at a point, with the passed Hessian or its own."""


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
    """Minimize ``function``, starting at ``start``.

    Parameters
    ----------
    function : callable
        Returns the derivatives at a point; a value that is not finite means that the point is out of bounds. If a
        Hessian is passed, it is good enough and need not be computed.
    start : (d,) array
    reuse : bool
        Near the minimum, reuse second derivatives as long as they are good: more steps, but cheaper ones.
    radius : float
        Length of the longest first step; parameters should be scaled so that 1 is a sensible step.
    precise : float
        The search converges when the gain of Newton's step is below this, relative to the value.
    rounding : float
        Relative error of the value.
    max_evaluations : int
        Limit of evaluations.
    stop : callable, optional
        Stops the search at a new point if it returns True, for example because the minimum is at infinity.
    after : Minimum, optional
        Minimum of nearly the same function whose last step led to ``start``; its second derivatives are used there.
    limit : float
        Value at 0. If the value at ``start`` is higher or not finite, the search begins closer to 0.

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
    is_own = after is None  # True if the Hessian belongs to this point
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
            optimum = Minimum(point, polished, at, decrement, n_steps, n_evaluations, reached, model.n_flat)
            if not reached or not isinstance(model, Spectrum) or not model.n_flat:
                return optimum
            return _settled(function, optimum, *model.way_back(polished, _ALIKE * abs(at.value)), rounding)
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


def pursued(function: Function, minimum: Minimum, is_far: Callable[[Minimum], bool]) -> Minimum | None:
    """Continue a search after the value has lost its digits; return its minimum, or None if there is none.

    If a few trials of low weight have not settled, Newton's steps continue without checking the value. They stop when
    nothing moves any more, or when the second derivatives have lost their digits, too.

    Parameters
    ----------
    function : callable
        Convex function.
    minimum : Minimum
    is_far : callable
        Returns True if Newton's step from a point still moves something.
    """
    point = minimum.polished
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
        here = replace(minimum, point=point, polished=there, at=at, decrement=gain, n_steps=minimum.n_steps + n)
        if not is_far(here):
            return replace(here, n_evaluations=minimum.n_evaluations + n)
        point = there
    return None


def _updated(hessian: FloatArray, step: FloatArray, change: FloatArray) -> FloatArray:
    """Return second derivatives that match the change of the gradient along a step (the BFGS formula)."""
    along, seen = hessian @ step, float(step @ change)
    expected = float(step @ along)
    if not 0.5 * expected < seen < 2.0 * expected:
        return hessian
    return hessian - np.outer(along, along) / expected + np.outer(change, change) / seen


def _settled(function: Function, minimum: Minimum, back: FloatArray, flat: int, rounding: float) -> Minimum:
    """Return the point closest to 0 among points that differ in flat directions, if the function is as low there.

    Far out, all directions look flat in which the costs of all trials are nearly constant. If a direction is flat only
    far out, the function is higher closer to 0; and it falls forever unless it is also higher farther away.
    """
    if flat == 0:
        return replace(minimum, flat=0)

    def value(point: FloatArray) -> float:
        there = function(point, minimum.at.hessian).value
        return there if math.isfinite(there) else math.inf

    near = value(minimum.polished + back)
    n_evaluations, size = minimum.n_evaluations + 1, abs(minimum.at.value)
    if near <= minimum.at.value + max(_ALIKE, 10.0 * rounding) * size:
        at = replace(minimum.at, value=near)
        return replace(
            minimum, polished=minimum.polished + back, at=at, decrement=0.0, n_evaluations=n_evaluations, flat=flat
        )
    falls = value(minimum.polished - back) <= minimum.at.value + 10.0 * rounding * size
    return replace(minimum, n_evaluations=n_evaluations + 1, flat=0, falls=falls)


_LEVEL = 1e-12
"""Curvature, relative to the largest, below which a direction counts as flat: the data do not determine it."""


def steep(hessian: FloatArray) -> FloatArray:
    """Return coordinates, as columns, in which a Hessian is the identity, for all directions that are not flat.

    Raises
    ------
    InputError
        If the curvature is negative in some direction, or derivatives are not finite.
    """
    if not np.isfinite(hessian).all():
        raise InputError("the derivatives of the objective exceed double precision.")
    values, vectors = np.linalg.eigh(0.5 * hessian + 0.5 * hessian.T)
    largest = float(np.max(np.abs(values), initial=0.0))
    if np.any(values < -_LEVEL * largest):
        raise InputError("the parameters are a saddle of the objective, not a minimum.")
    is_steep = values > _LEVEL * largest
    return np.asarray(vectors[:, is_steep] / np.sqrt(values[is_steep]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """Result of training; by default without a search, at a point that is known to be the optimum.

    Attributes
    ----------
    weights : (n_columns,) array
        Factor of each column of scores, or of each system's log-likelihoods.
    standardized : (n_columns,) array
        The weights of columns divided by their standard deviation in all trials.
    objective : float
        Expected cost at the optimum, without the penalty.
    objective_at_zero : float
        Expected cost without information in the scores.
    gradient_norm : float
        Norm of the gradient at the end, in standardized parameters, over all trials.
    n_steps, n_passes : int
        Accepted steps, including steps on samples, and passes over all trials in full precision.
    converged : bool
    flat : int
        Number of directions in which the objective does not change, because of redundant systems.
    infimum : float, optional
        Limit of the objective for increasingly steep maps, if it is known to be below the objective. Then there is no
        best map, and the result is a local optimum.
    """

    weights: FloatArray
    standardized: FloatArray
    objective: float
    objective_at_zero: float
    gradient_norm: float = 0.0
    n_steps: int = 0
    n_passes: int = 1
    converged: bool = True
    flat: int = 0
    infimum: float | None = None

    @property
    def status(self) -> str:
        """Description of the result of the search."""
        if self.infimum is not None:
            return (
                f"a local optimum, {self.objective:.6g}: the objective of steeper maps falls to {self.infimum:.6g}, "
                "so that the best scale is infinite. The rule has alpha or beta above 1, and accepts some errors for "
                "lower costs of the other trials; use a rule with both at most 1, or more trials"
            )
        if not self.converged:
            return (
                f"not converged after {self.n_passes} passes: the gradient has norm {self.gradient_norm:.1e}. Likely "
                "causes are scores that hardly overlap, systems that are nearly the same, or extreme outliers; a "
                "penalty (ridge) helps in all these cases"
            )
        words = f"converged in {self.n_steps} steps, gradient {self.gradient_norm:.1e}"
        if self.flat:
            which = "one weight is" if self.flat == 1 else f"{self.flat} weights are"
            words += (
                f"; {which} not determined, because systems are redundant or constant: of all equally good weights, "
                "these are the smallest after scaling all systems to the same standard deviation"
            )
        return words


LARGE = 1 << 16
"""Number of trials above which a search in float32 before the exact passes saves time."""

ROUGH = (1e-3, 1e-5)
"""Required precision, relative to the value, of the optima of the first and the second sample."""

CLOSE = 3e-6
"""The same for all trials in float32: after the next step, less than a thousandth of the error remains."""

SAME = 1e-6
"""Relative difference, in units of the value at llr 0, below which two values belong to the same minimum."""

_UNCERTAIN = 1e-4
"""Curvature, relative to the largest, below which float32 is unreliable."""


SearchOptions = Callable[[Any, float], dict[str, Any]]
"""Function that returns options for minimizing a function to a precision; see `search_options`."""

Starts = Callable[[Any, FloatArray], list[FloatArray]]
"""Function that returns starting points on the first level, for functions with several minima."""


def search_options(level: Any, precise: float) -> dict[str, Any]:
    """Return arguments of `minimize`: full precision for the type of a level, and a stop if there is no minimum.

    Second derivatives are reused if they are expensive.
    """
    return {
        "reuse": level.trials.size >= LARGE and precise not in ROUGH,
        "precise": precise,
        "rounding": ROUNDING if level.dtype is np.float64 else 1e-6,
        "stop": level.has_no_minimum,
        "limit": level.value_at_zero + SAME,
        "radius": max(4.0, math.sqrt(level.n_parameters)),
    }


class LevelSearch:
    """State of a search through levels: samples, approximate objectives of all trials, and all trials.

    Attributes
    ----------
    point : (n_parameters,) array
        Last optimum.
    last : (n_parameters,) array
        End of the last search, even if its sample was separated.
    rivals : list of (n_parameters,) arrays
        Starting points of the first search, if there were several.
    """

    def __init__(
        self, start: FloatArray, options: SearchOptions = search_options, starts: Starts | None = None
    ) -> None:
        self.point = self.last = start
        self._search_options, self._starts = options, starts
        self.rivals: list[FloatArray] = []
        self._is_fresh = True
        self._n_steps = 0

    def follow(self, level: Any, precise: float, after: Minimum | None = None) -> Minimum:
        """Minimize another function, from the last optimum on, which the minimum ``after`` led to."""
        starts = self._starts(level, self.point) if self._is_fresh and self._starts else [self.point]
        self.rivals = self.rivals or (starts if len(starts) > 1 else [])
        known = None
        if after is not None and after.converged:
            eigenvalues = np.linalg.eigvalsh(after.at.hessian)
            known = after if eigenvalues[0] > _UNCERTAIN * eigenvalues[-1] else None
        options = self._search_options(level, precise)
        results = [minimize(level, start, after=known, **options) for start in starts]
        optimum = min(results, key=lambda result: result.at.value)
        self._n_steps += optimum.n_steps
        self.last = optimum.point
        if optimum.converged:
            self.point = self.last = optimum.polished
            self._is_fresh = False
        return replace(optimum, n_steps=self._n_steps)

    def settle(self, level: Any, precise: float, optimum: Minimum, glance: Any = None) -> Minimum:
        """Search all trials again from the rejected starting points of the first sample, if the result is better.

        With a rule that is not convex, the best minimum of a sample may not be the best of all trials. A ``glance`` at
        fewer trials detects this faster.
        """
        for rival in self.rivals[:2]:
            there = (glance or level)(rival, optimum.at.hessian)
            if math.isfinite(there.value) and there.value < optimum.at.value * (1.0 - SAME):
                other = minimize(level, rival, **self._search_options(level, precise))
                optimum = min(optimum, other, key=lambda result: result.at.value)
        return replace(optimum, n_steps=self._n_steps)
