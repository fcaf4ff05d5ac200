"""Type aliases for arrays and options in signatures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray: TypeAlias = NDArray[np.float64]
"""Float64 numbers, the type of results of public functions."""

FloatPair: TypeAlias = tuple[FloatArray, FloatArray]
"""Arrays of targets and of non-targets, or lower and upper bounds."""

ScoreArray: TypeAlias = NDArray[np.float64 | np.float32]
"""Checked scores. Float32 stays float32: it sorts faster and contains the same values."""

IntArray: TypeAlias = NDArray[np.int64]
"""Counts and indices."""

CountArray: TypeAlias = NDArray[Any]
"""Numbers of trials (int64, exact) or sums of fractional trial weights (float64)."""

BoolArray: TypeAlias = NDArray[np.bool_]

AnyArray: TypeAlias = NDArray[Any]

Progress: TypeAlias = Callable[[str], None]

Weights: TypeAlias = ArrayLike | None
"""The weight of each trial, or None if each trial counts once."""

Units: TypeAlias = Any
"""Names or numbers of units, (n,) or (n, 2), or `TrialUnits`, or None if they are unknown."""

Priors: TypeAlias = ArrayLike | None
"""A probability for each class, or None for the default of the function."""

Names: TypeAlias = Sequence[str] | None
"""Names of the classes, or None if they are only numbered."""

Axis: TypeAlias = Literal["nats", "log10"]
"""Unit in which plots and tables write log-likelihood ratios."""

ScoreUnit: TypeAlias = Literal["nats", "log10", "lr"]
"""Unit of scores in files: natural logarithms (or undeclared), common logarithms, or likelihood ratios."""
