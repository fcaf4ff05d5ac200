"""The standardized scores of a block of trials, in the form in which they are cheapest to use.

All forms give the weighted sum of the scores of each trial, and sums over trials of each score, or product of two,
times a factor. `FeatureBlock` holds standardized columns; the others use the scores of one system, or the rows of
the user's matrix, as they are and standardize the sums, which saves most of the work.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from deciban.types import AnyArray, FloatArray

_OFF_CENTER = 10.0
"""Centers beyond this many widths would cancel digits of sums that are standardized afterwards."""

_UNTHREADED = 1 << 13
"""Length of vectors whose product no BLAS spreads over threads."""

_MAGNITUDES = (1e-15, 1e15)
"""Widths whose squares, and those of the scores, float32 can hold in comfort."""


def dot(left: AnyArray, right: AnyArray) -> float:
    """Sum of the products of two long vectors, on one thread.

    A BLAS spreads long vectors over threads, which have to wait for each other. Where other work keeps the cores busy,
    that takes a thousand times as long as the sum.

    Examples
    --------
    >>> dot(np.arange(20_000.0), np.full(20_000, 0.5))
    99995000.0
    """
    n = len(left) // _UNTHREADED * _UNTHREADED
    total = float(left[n:] @ right[n:])
    if n:
        total += float(np.vecdot(left[:n].reshape(-1, _UNTHREADED), right[:n].reshape(-1, _UNTHREADED)).sum())
    return total


_LENGTH_PART = 1 << 13
"""Numbers whose length together bounds each of them; too few for a BLAS to spread them over threads."""


@np.errstate(over="ignore", invalid="ignore")
def length_bound(array: object) -> float:
    """A bound of the size of all numbers: the length of some thousand of them together, which is quickly found.

    Infinite if one is infinite or NaN, or where they do not lie together in memory.
    """
    if not isinstance(array, np.ndarray) or array.dtype.kind != "f" or not array.flags.forc or not array.size:
        return np.inf
    flat = array.ravel(order="K")
    square = float(
        np.max([flat[i : i + _LENGTH_PART] @ flat[i : i + _LENGTH_PART] for i in range(0, len(flat), _LENGTH_PART)])
    )
    lost = _LENGTH_PART * float(np.finfo(array.dtype).tiny)  # squares that are too small for a float
    return math.sqrt(square + lost) if math.isfinite(square) else math.inf


@dataclass(frozen=True, slots=True, eq=False)
class FeatureBlock:
    """Standardized columns of a block of trials, the last one of ones if there is an offset."""

    features: AnyArray

    def combined(self, parameters: AnyArray) -> AnyArray:
        """Weighted sum of the features of each trial."""
        return parameters @ self.features

    def sums(self, factor: AnyArray) -> AnyArray:
        """Sums over trials of a factor times each feature."""
        return self.features @ factor

    def products(self, factor: AnyArray) -> AnyArray:
        """Sums over trials of a factor times the product of each pair of features, as a vector."""
        weighted = self.features * factor
        if len(weighted) <= 2:  # one by one is faster than a thin matrix product
            return np.array([dot(left, right) for left in weighted for right in self.features])
        products: AnyArray = weighted @ self.features.T
        return products.ravel()


@dataclass(frozen=True, slots=True, eq=False)
class ColumnBlock:
    """The scores of one system, with what standardizes them; there is an offset."""

    column: AnyArray
    center: float
    width: float

    def combined(self, parameters: AnyArray) -> AnyArray:
        """As `FeatureBlock.combined`."""
        weight = float(parameters[0]) / self.width
        combined: AnyArray = self.column * self.column.dtype.type(weight)
        combined += self.column.dtype.type(float(parameters[1]) - weight * self.center)
        return combined

    def sums(self, factor: AnyArray) -> AnyArray:
        """As `FeatureBlock.sums`."""
        total = float(factor.sum())
        return np.array([(dot(factor, self.column) - self.center * total) / self.width, total])

    def products(self, factor: AnyArray) -> AnyArray:
        """As `FeatureBlock.products`."""
        weighted = factor * self.column
        total, first = float(factor.sum()), float(weighted.sum())
        second = dot(weighted, self.column)
        inside = (second - 2.0 * self.center * first + self.center**2 * total) / self.width**2
        border = (first - self.center * total) / self.width
        return np.array([inside, border, border, total])


@dataclass(frozen=True, slots=True, eq=False)
class MatrixBlock:
    """Rows of a matrix of scores, with what standardizes them; there is an offset."""

    rows: AnyArray
    center: FloatArray
    width: FloatArray

    def combined(self, parameters: AnyArray) -> AnyArray:
        """As `FeatureBlock.combined`."""
        weights = parameters[:-1] / self.width
        combined: AnyArray = self.rows @ weights.astype(self.rows.dtype)
        combined += self.rows.dtype.type(parameters[-1] - weights @ self.center)
        return combined

    def sums(self, factor: AnyArray) -> AnyArray:
        """As `FeatureBlock.sums`."""
        sums = np.empty(len(self.center) + 1)
        sums[-1] = total = factor.sum()
        sums[:-1] = (factor @ self.rows - self.center * total) / self.width
        return sums

    def products(self, factor: AnyArray) -> AnyArray:
        """As `FeatureBlock.products`."""
        second = ((self.rows * factor[:, None]).T @ self.rows).astype(np.float64)
        first, total = (factor @ self.rows).astype(np.float64), float(factor.sum())
        center, width = self.center[:, None], self.width[:, None]
        mixed = center * first
        inside = (second - mixed - mixed.T + total * center * self.center) / (width * self.width)
        border = (first - self.center * total) / self.width
        n = len(self.center)
        products = np.empty((n + 1, n + 1))
        products[:n, :n], products[:n, n], products[n, :n], products[n, n] = inside, border, border, total
        return products.ravel()


def suits_raw_block(center: FloatArray, width: FloatArray) -> bool:
    """Whether sums that are standardized afterwards keep their digits."""
    finite = np.isfinite(width)
    near = np.all(np.abs(center[finite]) <= _OFF_CENTER * width[finite])
    return bool(near and np.all((width[finite] > _MAGNITUDES[0]) & (width[finite] < _MAGNITUDES[1])))


Block = FeatureBlock | ColumnBlock | MatrixBlock
