"""Trials to draw: some of each class, chosen by their scores alone, so that those of the parts tell those of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from deciban.core.classes.counts import ordered_by_class
from deciban.types import AnyArray, IntArray, ScoreArray

_MIX = tuple(map(np.uint64, (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)))
"""Odd numbers by which bits are stirred (Steele, Lea and Flood: "Fast splittable pseudorandom number generators")."""


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """Trials with the lowest lots, up to so many of each class; ``a + b`` is what is shown of the trials of both.

    A lot is drawn from the scores: neither the order of the trials nor how they are cut into parts matters.

    Attributes
    ----------
    most : int
        Of a class.
    loglik : (n, n_classes) array
    label : (n,) int array

    Examples
    --------
    >>> loglik = np.arange(12.0).reshape(6, 2)
    >>> whole = Shown.of(loglik, np.array([0, 1, 0, 1, 0, 0]), 2)
    >>> parts = Shown.of(loglik[:2], np.array([0, 1]), 2) + Shown.of(loglik[2:], np.array([0, 1, 0, 0]), 2)
    >>> bool(np.all(whole.loglik == parts.loglik)), np.bincount(whole.label)
    (True, array([2, 2]))
    """

    most: int
    loglik: ScoreArray
    label: IntArray

    @classmethod
    def of(cls, loglik: ScoreArray, label: IntArray, most: int) -> Shown:
        """Choose from trials."""
        lots, chosen, n_kinds = _lots(loglik), list[AnyArray](), int(label.max(initial=0)) + 1
        order = ordered_by_class(label, n_kinds)
        ends = np.cumsum(np.bincount(label, minlength=n_kinds))
        for rows in np.split(order, ends[:-1]):
            own = rows
            if len(own) > most:
                own = own[lots[own] <= np.partition(lots[own], most - 1)[most - 1]]
            chosen.append(own[np.lexsort((*loglik[own].T, lots[own]))][:most])
        rows = np.concatenate(chosen)
        return cls(most, loglik[rows], label[rows])

    def __add__(self, other: Shown) -> Shown:
        """Choose from both."""
        loglik, label = np.concatenate((self.loglik, other.loglik)), np.concatenate((self.label, other.label))
        return Shown.of(loglik, label, self.most)


def _lots(loglik: ScoreArray) -> Any:
    """A number for each trial, which looks as if drawn."""
    found = np.zeros(len(loglik), np.uint64)
    with np.errstate(over="ignore"):
        for column in loglik.T:
            found = (found + _MIX[0]) ^ (column.astype(np.float64) + 0.0).view(np.uint64)
            found = (found ^ (found >> np.uint64(30))) * _MIX[1]
            found = (found ^ (found >> np.uint64(27))) * _MIX[2]
            found ^= found >> np.uint64(31)
    return found
