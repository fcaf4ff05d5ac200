"""Names for the arrays and choices that appear in signatures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray: TypeAlias = NDArray[np.float64]
"""Float64 numbers: what every public function returns."""

ScoreArray: TypeAlias = NDArray[np.float64 | np.float32]
"""Checked scores. Float32 stays float32: it sorts faster and holds the same values."""

IntArray: TypeAlias = NDArray[np.int64]
"""Counts and positions."""

CountArray: TypeAlias = NDArray[Any]
"""Numbers of trials (int64, exact) or sums of fractional trial weights (float64)."""

BoolArray: TypeAlias = NDArray[np.bool_]

AnyArray: TypeAlias = NDArray[Any]

Progress: TypeAlias = Callable[[str], None]

Weights: TypeAlias = ArrayLike | None
"""How often each trial counts, or None for once each."""

Units: TypeAlias = Any
"""Names or numbers of units, (n,) or (n, 2), or `TrialUnits` made of them, or None where they are not known."""

Priors: TypeAlias = ArrayLike | None
"""A probability for each class, or None for what the function says."""

Names: TypeAlias = Sequence[str] | None
"""What users call the classes, or None where they are only numbered."""

Axis: TypeAlias = Literal["nats", "log10"]
"""Unit in which plots and tables write log-likelihood ratios."""

ScoreUnit: TypeAlias = Literal["nats", "log10", "lr"]
"""Unit of scores in files: natural logarithms (or undeclared), common logarithms, or likelihood ratios."""
