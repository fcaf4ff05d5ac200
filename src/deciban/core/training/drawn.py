"""Samples of trials in parts: drawn by lots, so that the sample of all follows from those of the parts."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np

from deciban.types import AnyArray

_SEEN = 1 << 10
"""Numbers of a part that say where lots begin."""


_BYTES_PER_NUMBER = 128
"""What a number of a sample takes: with what is computed of it, and with samples that wait to be added."""


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
    return most if memory is None else min(most, memory // (4 * _BYTES_PER_NUMBER * n_numbers))


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


T = TypeVar("T", bound=Drawable)


@dataclass(frozen=True, slots=True, eq=False)
class Drawn(Generic[T]):
    """Trials drawn by lot, up to so many of each class: of two such draws, the one of all.

    Attributes
    ----------
    lots : (n,) uint64 array
        The lowest are drawn.
    trials : Trials or ClassTrials
    n_classes, size : int
    """

    lots: AnyArray
    trials: T
    n_classes: int
    size: int

    @classmethod
    def of(cls, trials: T, n_classes: int, size: int, numbers: Iterable[Any]) -> Drawn[T]:
        """Draw from one part, whose ``numbers`` say where the lots begin: nothing is left to chance."""
        seed = [zlib.crc32(np.ascontiguousarray(one[:_SEEN]).tobytes()) for one in numbers]
        lots = np.random.default_rng([len(trials), *seed]).integers(0, 1 << 63, len(trials), np.uint64)
        return cls(lots, trials, n_classes, size).lowest()

    def __add__(self, other: Drawn[T]) -> Drawn[T]:
        """Draw from both."""
        lots = np.concatenate((self.lots, other.lots))
        return Drawn(lots, self.trials.joined(other.trials), self.n_classes, self.size).lowest()

    def lowest(self) -> Drawn[T]:
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
