"""The quadratic model of a function at a point, and the step to its minimum within a ball.

By the eigenvalues of the Hessian, which tell flat directions and negative curvature; or by its triangular factor, where
there are many parameters and it proves that there are none of either.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import cho_solve, lapack

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
