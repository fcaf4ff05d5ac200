"""Sums, ranges and samples of trials that add up over batches.

Trials that fit in memory are looked at once. Others come in parts: each is looked at by itself, wherever it is, and
what was found adds up, in any order.
"""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from deciban.core.by_value import Additive
from deciban.core.rules.expected import two_sum
from deciban.memory import Cost, rows_that_fit
from deciban.types import AnyArray, FloatArray


class Found(Protocol):
    """What a look finds."""

    def __add__(self, other: Any, /) -> Self:
        """What is found of both."""


F = TypeVar("F", bound=Found)


Looking = Callable[[Callable[[Any], F]], F]
"""What looks at every part of some trials, and gives the sum of what was found."""


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """Numbers that add up with their rounding errors, so that the order of many parts does not matter.

    Attributes
    ----------
    high, low : arrays
        The sums, and what rounding took away from them.

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
        """Of one part."""
        high = np.asarray(numbers, np.float64)
        return cls(high, np.zeros(high.shape))

    def __add__(self, other: Sums) -> Sums:
        """Add what is found of other trials."""
        with np.errstate(invalid="ignore", over="ignore"):
            high, error = two_sum(self.high, other.high)
            return Sums(high, self.low + other.low + error)

    @property
    def total(self) -> FloatArray:
        """The sums; where a number was not finite, neither is its sum."""
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
        """Of one part."""
        return cls(np.asarray(low, np.float64), np.asarray(high, np.float64))

    @classmethod
    def up_to(cls, high: ArrayLike) -> Ends:
        """Of one part, where only the largest numbers matter."""
        return cls.of(np.full(np.shape(high), np.inf), high)

    def __add__(self, other: Ends) -> Ends:
        """The ends of both."""
        return Ends(np.minimum(self.low, other.low), np.maximum(self.high, other.high))


@dataclass(frozen=True, slots=True, eq=False)
class Deviations:
    """Means and squared deviations of several columns in one class, which add up over parts of the trials.

    Attributes
    ----------
    amount : float
        How much the trials count.
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
        """Take one part."""
        total = float(len(columns[0]) if weights is None else weights.sum()) if len(columns) else 0.0
        mean, squares = np.zeros((2, len(columns)))
        with np.errstate(over="ignore", invalid="ignore"):
            for k, column in enumerate(columns if total > 0.0 else ()):
                mean[k] = np.average(column, weights=weights)
                apart = (column - mean[k]) ** 2
                squares[k] = apart.sum() if weights is None else apart @ weights
        return cls(total, mean, squares)

    def __add__(self, other: Deviations) -> Deviations:
        """Add another part."""
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
        How much a trial of weight 1 counts in each class.

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
    """Sums at a point, the largest of each of some numbers, and second derivatives where they are kept apart."""

    sums: Sums
    largest: Ends
    seconds: Any = None


@dataclass(frozen=True, slots=True, eq=False)
class UnitSums(Additive):
    """Sums over trials: by unit, and in all; those of more trials add up.

    Where every trial is a unit, so that there are very many, the rows of units are folded into their second moments:
    nothing else is asked of them in the end, as what is made of a row does not depend on others.

    Attributes
    ----------
    by_unit : tuple of Sums
        With a row for each unit.
    whole : tuple of Sums
        Of all trials.
    folded : Sums or None
        Second moments of the rows of ``by_unit`` together; they have none then.
    seconds : SecondDerivatives or None
        Of all trials, where they are kept apart.
    """

    by_unit: tuple[Sums, ...]
    whole: tuple[Sums, ...] = ()
    folded: Sums | None = None
    seconds: Any = None

    @property
    def is_folded(self) -> bool:
        """Whether rows do not stand for units, but have the second moments of those of all units."""
        return self.folded is not None

    def fold(self) -> UnitSums:
        """The same with second moments in place of rows."""
        rows = np.hstack([one.total for one in self.by_unit])
        with np.errstate(over="ignore", invalid="ignore"):
            product = Sums.of(rows.T @ rows)
        return replace(self, by_unit=tuple(Sums.of(one.high[:0]) for one in self.by_unit), folded=product)

    @property
    def parts(self) -> tuple[FloatArray, ...]:
        """The sums as numbers, by unit and then in all; what is folded has rows with the same second moments."""
        found = [one.total for one in self.by_unit]
        if self.folded is not None:
            found = np.split(root_of(self.folded.total), np.cumsum([one.shape[1] for one in found])[:-1], axis=1)
        return (*found, *(one.total for one in self.whole))


def root_of(moments: FloatArray) -> FloatArray:
    """Rows with these second moments: ``R`` with ``R' R`` equal to a symmetric matrix that is not negative.

    Examples
    --------
    >>> rows = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]])
    >>> root = root_of(rows.T @ rows)
    >>> bool(np.allclose(root.T @ root, rows.T @ rows))
    True
    """
    if not np.isfinite(moments).all():
        return np.full(moments.shape, np.nan)  # which is refused where variances are made of it
    size = np.sqrt(np.diag(moments))
    unit = np.where(size > 0.0, size, 1.0)
    values, vectors = np.linalg.eigh(moments / unit / unit[:, None])
    found: FloatArray = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T * unit
    return found


T = TypeVar("T")
"""What a part is: `Trials` of two classes, `CountedTrials` of many."""


Left = Callable[[Any], Any]
"""Makes of a part the trials that are trained on; can be pickled."""


@dataclass(eq=False)
class Parts(Generic[T]):
    """Trials in parts, as a source gives them.

    Attributes
    ----------
    each : callable
        Returns what a look at each part finds, added up: one pass. Looks can be pickled, and find None where there is
        nothing.
    each_by_unit : callable
        The same of the trials that count, with their units; its second argument are all units, of no trial, as parts
        know their own.
    """

    each: Callable[..., Any]
    each_by_unit: Callable[..., Any]


class LooksAtParts(ABC):
    """Looks at trials to train on, part by part; base of what stands for all of them.

    Of trials as a whole `each` calls the look once.
    """

    size = 1
    """Second derivatives cost next to nothing beside reading, as with few trials."""

    given: Any
    """The `Parts`."""

    @property
    @abstractmethod
    def left_of(self) -> Left:
        """Makes of a part the trials that are trained on."""

    def each(self, look: Callable[[Any], F]) -> F:
        """What a look at all of them finds: one pass."""
        found: F = self.given.each(partial(_of_left, look, self.left_of))
        return found


def _of_left(look: Callable[[Any], Any], left_of: Left, part: Any) -> Any:
    """Look at the trials of a part that are trained on."""
    left = left_of(part)
    return look(left) if len(left) else None


_SEEN = 1 << 10
"""Numbers of a part that say where lots begin."""


def sample_size(most: int, memory: int | None, n_numbers: int) -> int:
    """How many trials are drawn: as many as a sample is good for, or as a quarter of the memory holds.

    Parameters
    ----------
    most : int
    memory : int or None
        Bytes that may be taken in all; None for any number.
    n_numbers : int
        What a trial has.

    Examples
    --------
    >>> sample_size(1 << 17, None, 10), sample_size(1 << 17, 2_000_000_000, 10), sample_size(1 << 17, 50_000_000, 10)
    (131072, 131072, 9765)
    """
    return most if memory is None else rows_that_fit(memory / 4, Cost.SAMPLED * n_numbers, most=most)


class Drawable(Protocol):
    """Trials of two classes or of many."""

    @property
    def truth(self) -> AnyArray:
        """The class of each."""

    def __len__(self) -> int: ...

    def take(self, rows: Any) -> Self:
        """Some of them."""

    def joined(self, other: Any) -> Self:
        """These and others."""


D = TypeVar("D", bound=Drawable)


@dataclass(frozen=True, slots=True, eq=False)
class Drawn(Generic[D]):
    """Trials drawn by lot, up to so many of each class: of two such draws, the one of all.

    Attributes
    ----------
    lots : (n,) uint64 array
        The lowest are drawn.
    trials : Trials or ClassTrials
    n_classes, size : int
    """

    lots: AnyArray
    trials: D
    n_classes: int
    size: int

    @classmethod
    def of(cls, trials: D, n_classes: int, size: int, numbers: Iterable[Any]) -> Drawn[D]:
        """Draw from one part, whose ``numbers`` say where the lots begin: nothing is left to chance."""
        seed = [zlib.crc32(np.ascontiguousarray(one[:_SEEN]).tobytes()) for one in numbers]
        lots = np.random.default_rng([len(trials), *seed]).integers(0, 1 << 63, len(trials), np.uint64)
        return cls(lots, trials, n_classes, size).lowest()

    def __add__(self, other: Drawn[D]) -> Drawn[D]:
        """Draw from both."""
        lots = np.concatenate((self.lots, other.lots))
        return Drawn(lots, self.trials.joined(other.trials), self.n_classes, self.size).lowest()

    def lowest(self) -> Drawn[D]:
        """Those of each class with the lowest lots, no more than there may be."""
        truth, found = self.trials.truth, []
        counts = np.bincount(truth, minlength=self.n_classes)
        for k in range(self.n_classes):
            rows = np.flatnonzero(truth == k) if counts[k] else np.zeros(0, np.intp)
            if len(rows) > self.size:
                rows = rows[np.argpartition(self.lots[rows], self.size)[: self.size]]
            found.append(rows)
        rows = np.concatenate(found)
        rows = rows[np.argsort(self.lots[rows])]
        return Drawn(self.lots[rows], self.trials.take(rows), self.n_classes, self.size)
