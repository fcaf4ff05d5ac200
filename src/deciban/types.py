"""Type aliases for arrays and options in signatures, and mixins for dataclasses of arrays: equality and sums."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any, Literal, Self, TypeAlias, TypeVar

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

Tensor: TypeAlias = Any
"""An array of NumPy or of another library with the array API: PyTorch, JAX, CuPy."""

Foreign: TypeAlias = Any
"""An object or module of a library without types: h5py, zarr, onnx, Dask, numba, scikit-learn, an array API."""

Json: TypeAlias = Any
"""A value of a JSON or TOML file: text, a number, a list or a mapping of names to values."""

Progress: TypeAlias = Callable[[str], None]

Weights: TypeAlias = ArrayLike | None
"""The weight of each trial, or None if each trial counts once."""

Units: TypeAlias = Any
"""Names or numbers of units, (n,) or (n, 2), or `TrialUnits`, or None if they are unknown."""

Priors: TypeAlias = ArrayLike | None
"""A probability for each class, or None for the default of the function."""

Names: TypeAlias = Sequence[str] | None
"""Names of the classes, or None if they are only numbered."""

Frame: TypeAlias = Any
"""A data frame of pandas, polars or Arrow, or a mapping of columns: none of these packages must be installed."""

Raw: TypeAlias = Any
"""Value of an option as it was given, for the function that checks it."""

Graphic: TypeAlias = Any
"""Value of an argument or a property that matplotlib gets as it is."""

Axis: TypeAlias = Literal["nats", "log10"]
"""Unit in which plots and tables write log-likelihood ratios."""

ScoreUnit: TypeAlias = Literal["nats", "log10", "lr"]
"""Unit of scores in files: natural logarithms (or undeclared), common logarithms, or likelihood ratios."""

KindName: TypeAlias = Literal["two-class", "classes"]
"""Name of a kind of scores."""

PathLike: TypeAlias = str | os.PathLike[str]

Readable: TypeAlias = PathLike | IO[bytes] | IO[str]
"""A file name or an open file."""

T = TypeVar("T")


class ByValue:
    """Mixin for frozen dataclasses (declared with ``eq=False``): ``==`` compares fields, arrays by shape and numbers.

    NaN equals NaN, so that a result is equal to the same result computed again. Equal objects have equal hashes: an
    array contributes only its shape. Fields with ``compare=False`` do not count.

    Examples
    --------
    >>> @dataclasses.dataclass(frozen=True, eq=False)
    ... class Line(ByValue):
    ...     name: str
    ...     y: np.ndarray
    >>> Line("a", np.arange(3)) == Line("a", np.arange(3)), Line("a", np.arange(3)) == Line("a", np.arange(4))
    (True, False)
    >>> len({Line("a", np.arange(3)), Line("a", np.arange(3))})
    1
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is not type(self):
            return NotImplemented
        return all(_are_equal(one, two) for one, two in zip(_compared(self), _compared(other), strict=True))

    def __hash__(self) -> int:
        return hash((type(self).__name__, *map(_hashed, _compared(self))))


def _compared(value: Any) -> list[Any]:
    return [getattr(value, field.name) for field in dataclasses.fields(value) if field.compare]


def _are_equal(one: object, two: object) -> bool:
    if isinstance(one, np.ndarray) or isinstance(two, np.ndarray):
        one, two = np.asarray(one), np.asarray(two)
        return np.array_equal(one, two, equal_nan=one.dtype.kind == two.dtype.kind == "f")
    if isinstance(one, tuple) and isinstance(two, tuple):
        return len(one) == len(two) and all(_are_equal(a, b) for a, b in zip(one, two, strict=True))
    if isinstance(one, Mapping) and isinstance(two, Mapping):
        return one.keys() == two.keys() and all(_are_equal(value, two[key]) for key, value in one.items())
    if isinstance(one, float) and isinstance(two, float):
        return one == two or (one != one and two != two)  # noqa: PLR0124  # NaN is what differs from itself
    return bool(one == two)


def _hashed(value: object) -> object:
    if isinstance(value, np.ndarray):
        return value.shape
    if isinstance(value, tuple):
        return tuple(map(_hashed, value))
    if isinstance(value, Mapping):
        return frozenset((key, _hashed(one)) for key, one in value.items())
    if isinstance(value, float) and value != value:  # noqa: PLR0124  # hashes of NaN are those of their objects
        return "nan"
    return value


class Additive:
    """Mixin for frozen dataclasses of sums over trials: ``a + b`` adds field by field.

    Tuples and dictionaries are added entry by entry, and truth values are joined with "or". If one side is None, the
    sum is the other side.

    Examples
    --------
    >>> @dataclasses.dataclass(frozen=True)
    ... class Counts(Additive):
    ...     n: tuple[int, int]
    ...     is_any: bool
    >>> Counts((1, 2), False) + Counts((3, 4), True)
    Counts(n=(4, 6), is_any=True)
    """

    __slots__ = ()

    def __add__(self, other: Self) -> Self:
        names = [field.name for field in dataclasses.fields(self)]  # type: ignore[arg-type]  # a dataclass has this base
        return type(self)(*(added(getattr(self, name), getattr(other, name)) for name in names))


def added(one: Any, other: Any) -> Any:
    """Return the sum of two fields of `Additive` dataclasses."""
    if one is None or other is None:
        return other if one is None else one
    if isinstance(one, tuple):
        return tuple(added(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, dict):
        return {key: added(one.get(key), other.get(key)) for key in {**one, **other}}
    return one | other if isinstance(one, bool) or getattr(one, "dtype", None) == np.bool_ else one + other
