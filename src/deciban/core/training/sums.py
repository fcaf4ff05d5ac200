"""Sums, ranges and samples of trials that can be added over batches.

Trials in memory are processed at once. Other trials are processed in batches, in any order and on any machine, and the
results are added.
"""

from __future__ import annotations

import math
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from deciban.core.expected import two_sum
from deciban.core.training.trust_region import SUSPICIOUS, Derivatives, Minimum
from deciban.errors import not_none
from deciban.memory import Cost, rows_that_fit
from deciban.types import Additive, AnyArray, FloatArray


class Addable(Protocol):
    """Result of processing a batch."""

    def __add__(self, other: Any, /) -> Self:
        """Merge with the result of another batch."""


F = TypeVar("F", bound=Addable)


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """Sums with their rounding errors, so that the order of many batches does not matter.

    Attributes
    ----------
    high, low : arrays
        The sums, and their rounding errors.

    Examples
    --------
    >>> parts = [Sums.of([x]) for x in (1.0, 1e100, 1.0, -1e100)]
    >>> float((parts[0] + parts[1] + parts[2] + parts[3]).total[0])
    2.0
    """

    high: FloatArray
    low: FloatArray

    @classmethod
    def of(cls, numbers: ArrayLike) -> Sums:
        """Create from the numbers of one batch."""
        high = np.asarray(numbers, np.float64)
        return cls(high, np.zeros(high.shape))

    def __add__(self, other: Sums) -> Sums:
        """Add the sums of other trials."""
        with np.errstate(invalid="ignore", over="ignore"):
            high, error = two_sum(self.high, other.high)
            return Sums(high, self.low + other.low + error)

    @property
    def total(self) -> FloatArray:
        """The sums; not finite if a summand was not finite."""
        with np.errstate(invalid="ignore", over="ignore"):
            return np.where(np.isfinite(self.high), self.high + self.low, self.high)


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """Least and largest numbers.

    Examples
    --------
    >>> both = Ends.of([1.0, 2.0], [5.0, 3.0]) + Ends.of([0.0, 4.0], [2.0, 4.0])
    >>> both.low.tolist(), both.high.tolist()
    ([0.0, 2.0], [5.0, 4.0])
    """

    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, low: ArrayLike, high: ArrayLike) -> Ends:
        """Create from one batch."""
        return cls(np.asarray(low, np.float64), np.asarray(high, np.float64))

    @classmethod
    def up_to(cls, high: ArrayLike) -> Ends:
        """Create from one batch in which only the largest numbers matter."""
        return cls(np.full(np.shape(high), np.inf), np.asarray(high, np.float64))

    def __add__(self, other: Ends) -> Ends:
        """Merge with the ends of other trials."""
        return Ends(np.minimum(self.low, other.low), np.maximum(self.high, other.high))


@dataclass(frozen=True, slots=True, eq=False)
class Deviations:
    """Means and squared deviations of several columns in one class, which can be merged over batches.

    Attributes
    ----------
    amount : float
        Number (or weight) of trials.
    mean, squares : (n_columns,) arrays
        Weighted mean, and weighted sum of squared deviations from it.

    Examples
    --------
    >>> both = Deviations.of([np.array([1.0, 3.0])]) + Deviations.of([np.array([5.0])])
    >>> both.amount, both.mean.tolist(), both.squares.tolist()
    (3.0, [3.0], [8.0])
    """

    amount: float
    mean: FloatArray
    squares: FloatArray

    @classmethod
    def of(cls, columns: Sequence[FloatArray], weights: FloatArray | None = None) -> Deviations:
        """Compute from one batch."""
        total = float(len(columns[0]) if weights is None else weights.sum()) if len(columns) else 0.0
        mean, squares = np.zeros((2, len(columns)))
        with np.errstate(over="ignore", invalid="ignore"):
            for k, column in enumerate(columns if total > 0.0 else ()):
                mean[k] = np.average(column, weights=weights)
                apart = (column - mean[k]) ** 2
                squares[k] = apart.sum() if weights is None else apart @ weights
        return cls(total, mean, squares)

    def __add__(self, other: Deviations) -> Deviations:
        """Merge with another batch."""
        total = self.amount + other.amount
        share = other.amount / total if total > 0.0 else 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            apart = other.mean - self.mean
            squares = self.squares + other.squares + self.amount * share * apart**2
            return Deviations(total, self.mean + share * apart, squares)


def mixed_variance(classes: Sequence[Deviations], class_weights: Sequence[float]) -> FloatArray:
    """Return the variance of each column in a mixture of classes.

    Parameters
    ----------
    classes : sequence of Deviations
    class_weights : sequence of float
        Contribution of a trial of weight 1 in each class.

    Examples
    --------
    >>> non, tar = Deviations.of([np.array([-1.0, 1.0])]), Deviations.of([np.array([4.0])])
    >>> mixed_variance([non, tar], [0.25, 0.5]).tolist()
    [4.5]
    """
    shares = np.array([weight * one.amount for one, weight in zip(classes, class_weights, strict=True)])
    total = shares.sum()
    with np.errstate(over="ignore", invalid="ignore"):
        mean = sum(share * one.mean for one, share in zip(classes, shares, strict=True)) / total
        within = sum(weight * one.squares for one, weight in zip(classes, class_weights, strict=True))
        between = sum(share * (one.mean - mean) ** 2 for one, share in zip(classes, shares, strict=True))
        return np.asarray((within + between) / total)


@dataclass(frozen=True, slots=True, eq=False)
class SumsUpTo(Additive):
    """Sums at a point, the largest of some numbers, and second derivatives, if kept separately."""

    sums: Sums
    largest: Ends
    seconds: Any = None


_LARGEST = 1e150
"""Largest parameter within bounds: beyond it, log odds could not be distinguished from infinite ones."""


class TrialObjective(ABC):
    """Base of objectives: an expected cost of trials and a penalty, as a function of parameters."""

    trials: Any
    """Trials in memory or in batches; `form` has none."""
    penalty: FloatArray
    """Half of it times the square of each parameter is added to the objective, (n_parameters,)."""
    constant: float = 0.0
    """Cost of trials that no parameter can change."""

    @abstractmethod
    def raw(self, parameters: FloatArray) -> AnyArray:
        """Return the parameters of `terms`."""

    @abstractmethod
    def terms(self, raw: AnyArray, with_hessian: bool, trials: Any) -> SumsUpTo:  # noqa: FBT001  # for workers
        """Return sums of derivatives over a batch, and the largest signed log odds, or lead of a wrong class."""

    @abstractmethod
    def unpacked(self, sums: SumsUpTo, *, with_hessian: bool) -> tuple[float, FloatArray, FloatArray | None]:
        """Return value, gradient and Hessian in the parameters from these sums, without penalty and constant."""

    @abstractmethod
    def move_bound(self, step: FloatArray) -> float:
        """Return an upper bound of `moved` without a pass over the trials; it may be infinite."""

    @abstractmethod
    def moved(self, parameters: FloatArray, step: FloatArray, trials: Any) -> Ends:
        """Return the largest relative change of log odds, or of leads of classes, in a batch by a step."""

    @abstractmethod
    def is_apart(self, at: Derivatives) -> bool:
        """Return True if no trial is on the wrong side, which proves that the parameters may grow forever."""

    @property
    def n_parameters(self) -> int:
        """Number of parameters."""
        return len(self.penalty)

    @property
    def form(self) -> Self:
        """The same objective without the trials, for workers that have their own: its methods get their trials."""
        return replace(self, trials=None)  # type: ignore[type-var]  # subclasses are dataclasses

    def __call__(self, parameters: FloatArray, /, hessian: FloatArray | None = None) -> Derivatives:
        """Return the value and gradient at a point, and the Hessian unless one is passed.

        ``worst`` is the largest number of `terms`, negative if no trial is on the wrong side. ``overlap`` is the sum of
        these numbers: for two classes, the highest non-target minus the lowest target.
        """
        n = self.n_parameters
        if not np.all(np.abs(parameters) < _LARGEST):
            return Derivatives(np.inf, np.full(n, np.nan), np.full((n, n), np.nan))
        sums: SumsUpTo = self.trials.each(partial(self.form.terms, self.raw(parameters), hessian is None))
        with np.errstate(invalid="ignore", over="ignore"):  # infinite values are out of bounds
            value, gradient, own = self.unpacked(sums, with_hessian=hessian is None)
            known = not_none(hessian if own is None else own + np.diag(self.penalty), "Hessian")
            value += float(0.5 * self.penalty @ parameters**2) + self.constant
            gradient = gradient + self.penalty * parameters
        largest = sums.largest.high
        return Derivatives(value, gradient, known, float(largest.max()), float(largest.sum()))

    def largest_move(self, parameters: FloatArray, step: FloatArray) -> float:
        """Return the largest relative change by a step, or an upper bound if this is low."""
        bound = self.move_bound(step)
        if bound <= SUSPICIOUS:
            return bound
        return max(0.0, float(self.trials.each(partial(self.form.moved, parameters, step)).high))

    def has_no_minimum(self, _point: FloatArray, at: Derivatives) -> bool:
        """Return True if there is provably no minimum: parameters of separated classes grow without a penalty."""
        return not self.penalty.any() and self.is_apart(at)


def is_at_infinity(function: TrialObjective, minimum: Minimum) -> bool:
    """Return True if Newton's step still moves scores although it gains nothing: the minimum is at infinity.

    The method ``largest_move`` of the function returns the relative change of scores by a step, or an upper bound if
    this is low.
    """
    if minimum.falls:
        return True
    step = np.linalg.lstsq(minimum.at.hessian, minimum.at.gradient, rcond=1e-14)[0]
    return bool(function.largest_move(minimum.point, np.asarray(step, np.float64)) > SUSPICIOUS)


@dataclass(frozen=True, slots=True, eq=False)
class UnitSums(Additive):
    """Sums over trials, by unit and in total; ``a + b`` merges two sets of trials.

    If every trial is a unit, there are very many units. Then their rows are replaced by second moments, because
    variances need nothing else.

    Attributes
    ----------
    by_unit : tuple of Sums
        One row for each unit.
    whole : tuple of Sums
        Sums over all trials.
    folded : Sums or None
        Second moments of the rows of ``by_unit`` together; then ``by_unit`` has no rows.
    seconds : SecondDerivatives or None
        Second derivatives over all trials, if kept separately.
    """

    by_unit: tuple[Sums, ...]
    whole: tuple[Sums, ...] = ()
    folded: Sums | None = None
    seconds: Any = None

    @property
    def is_folded(self) -> bool:
        """True if second moments replace the rows of units."""
        return self.folded is not None

    def fold(self) -> UnitSums:
        """Return the sums with second moments in place of rows."""
        rows = np.hstack([one.total for one in self.by_unit])
        with np.errstate(over="ignore", invalid="ignore"):
            product = Sums.of(rows.T @ rows)
        return replace(self, by_unit=tuple(Sums.of(one.high[:0]) for one in self.by_unit), folded=product)

    @property
    def parts(self) -> tuple[FloatArray, ...]:
        """Sums as numbers, by unit and then in total; folded sums have rows with the same second moments."""
        items = [one.total for one in self.by_unit]
        if self.folded is not None:
            items = np.split(root_of(self.folded.total), np.cumsum([one.shape[1] for one in items])[:-1], axis=1)
        return (*items, *(one.total for one in self.whole))


def root_of(moments: FloatArray) -> FloatArray:
    """Return rows with these second moments: ``R`` with ``R' R`` equal to a positive semidefinite matrix.

    Examples
    --------
    >>> rows = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]])
    >>> root = root_of(rows.T @ rows)
    >>> bool(np.allclose(root.T @ root, rows.T @ rows))
    True
    """
    if not np.isfinite(moments).all():
        return np.full(moments.shape, np.nan)  # variances of it are refused
    size = np.sqrt(np.diag(moments))
    unit = np.where(size > 0.0, size, 1.0)
    values, vectors = np.linalg.eigh(moments / unit / unit[:, None])
    return np.asarray(np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T * unit)


T = TypeVar("T")
"""Type of a batch: `Trials` for two classes, `CountedTrials` for multiclass."""


Left = Callable[[Any], Any]
"""Function that selects the training trials of a batch; can be pickled."""


@dataclass(eq=False)
class Parts(Generic[T]):
    """Trials in batches, as a source provides them.

    Attributes
    ----------
    each : callable
        Applies a function to each batch and returns the sum of the results: one pass. Functions can be pickled, and
        return None if a batch has no result.
    each_by_unit : callable
        The same for trials that count, with their units. Its second argument is all units, without trials, because
        batches have their own.
    """

    each: Callable[..., Any]
    each_by_unit: Callable[..., Any]


class BatchedTraining(ABC):
    """Base of training trials in batches, processed in passes.

    For trials in memory, `each` calls the function once.
    """

    size = 1
    """Second derivatives are cheap compared with reading, as with few trials."""

    trials: Any
    """The `Parts`."""

    @property
    @abstractmethod
    def left_of(self) -> Left:
        """Function that selects the training trials of a batch."""

    def each(self, look: Callable[[Any], F]) -> F:
        """Apply ``look`` to all batches and return the sum: one pass."""
        f: F = self.trials.each(partial(_of_left, look, self.left_of))
        return f


def _of_left(look: Callable[[Any], Any], left_of: Left, part: Any) -> Any:
    """Apply ``look`` to the training trials of a batch."""
    left = left_of(part)
    return look(left) if len(left) else None


_SEEN = 1 << 10
"""Number of values of a batch that seed its random numbers."""


def sample_size(most: int, memory: int | None, n_numbers: int) -> int:
    """Return the sample size: up to ``most``, within a quarter of the memory.

    Parameters
    ----------
    most : int
    memory : int or None
        Limit of total memory in bytes; None for no limit.
    n_numbers : int
        Number of values of a trial.

    Examples
    --------
    >>> sample_size(1 << 17, None, 10), sample_size(1 << 17, 2_000_000_000, 10), sample_size(1 << 17, 50_000_000, 10)
    (131072, 131072, 9765)
    """
    return rows_that_fit(memory, 4 * Cost.SAMPLED * n_numbers, most=most)


class Drawable(Protocol):
    """Trials that can be sampled, two-class or multiclass."""

    @property
    def truth(self) -> AnyArray:
        """Class of each trial."""

    def __len__(self) -> int: ...

    def take(self, rows: Any) -> Self:
        """Return some of the trials."""

    def joined(self, other: Any) -> Self:
        """Return the union with other trials."""


D = TypeVar("D", bound=Drawable)


@dataclass(frozen=True, slots=True, eq=False)
class RandomSample(Generic[D]):
    """Random sample with up to ``size`` trials of each class; ``a + b`` is the sample of both sets of trials.

    Attributes
    ----------
    lots : (n,) uint64 array
        Random numbers; trials with the lowest are in the sample.
    trials : Trials or ClassTrials
    n_classes, size : int
    """

    lots: AnyArray
    trials: D
    n_classes: int
    size: int

    @classmethod
    def of(cls, trials: D, n_classes: int, size: int, numbers: Iterable[Any]) -> RandomSample[D]:
        """Draw from one batch; its ``numbers`` seed the random numbers, so that the result is reproducible."""
        seed = [zlib.crc32(np.ascontiguousarray(one[:_SEEN]).tobytes()) for one in numbers]
        lots = np.random.default_rng([len(trials), *seed]).integers(0, 1 << 63, len(trials), np.uint64)
        return cls(lots, trials, n_classes, size).lowest()

    def __add__(self, other: RandomSample[D]) -> RandomSample[D]:
        """Draw from both."""
        lots = np.concatenate((self.lots, other.lots))
        return RandomSample(lots, self.trials.joined(other.trials), self.n_classes, self.size).lowest()

    def lowest(self) -> RandomSample[D]:
        """Return the trials of each class with the lowest random numbers, up to the limit."""
        truth, result = self.trials.truth, []
        counts = np.bincount(truth, minlength=self.n_classes)
        for k in range(self.n_classes):
            rows = np.flatnonzero(truth == k) if counts[k] else np.zeros(0, np.intp)
            if len(rows) > self.size:
                rows = rows[np.argpartition(self.lots[rows], self.size)[: self.size]]
            result.append(rows)
        rows = np.concatenate(result)
        rows = rows[np.argsort(self.lots[rows])]
        return RandomSample(self.lots[rows], self.trials.take(rows), self.n_classes, self.size)


UNTHREADED = 1 << 13
"""Length of vectors up to which no BLAS uses several threads for a dot product."""


def dot(left: AnyArray, right: AnyArray) -> float:
    """Return the dot product of two long vectors, on one thread.

    A BLAS distributes long vectors over threads that wait for each other. If other work keeps the cores busy, this
    takes a thousand times as long as the sum.

    Examples
    --------
    >>> dot(np.arange(20_000.0), np.full(20_000, 0.5))
    99995000.0
    """
    n = len(left) // UNTHREADED * UNTHREADED
    total = float(left[n:] @ right[n:])
    if n:
        total += float(np.vecdot(left[:n].reshape(-1, UNTHREADED), right[:n].reshape(-1, UNTHREADED)).sum())
    return total


@np.errstate(over="ignore", invalid="ignore")
def length_bound(array: object) -> float:
    """Return an upper bound of the absolute values: the largest norm of parts of a few thousand numbers, which is fast.

    The bound is infinite if a number is infinite or NaN. An array with gaps is copied part by part.
    """
    if not isinstance(array, np.ndarray) or array.dtype.kind != "f" or not array.size:
        return np.inf
    flat = array.ravel(order="K") if array.flags.forc else array
    step = max(UNTHREADED * len(flat) // flat.size, 1)
    parts = (flat[i : i + step].ravel() for i in range(0, len(flat), step))
    square = float(np.max([part @ part for part in parts]))
    lost = UNTHREADED * float(np.finfo(array.dtype).tiny)  # squares that underflow
    return math.sqrt(square + lost) if math.isfinite(square) else math.inf
