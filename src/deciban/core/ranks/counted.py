"""Trials of one class by score and weight, in ascending order: exact, and the same whatever is merged with what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deciban.core.ranks.counts import SortedClass
from deciban.types import AnyArray, CountArray, FloatArray, IntArray, ScoreArray

_LARGEST = 2.0**53
"""Floats hold whole numbers up to here."""


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """How many trials have each score, or each pair of a score and a weight.

    Attributes
    ----------
    scores : (n,) array
        Ascending.
    counts : (n,) int64 array
    weights : (n,) float64 array or None
        Ascending where scores are equal.

    Examples
    --------
    >>> one = Counted.of(np.array([2.0, 1.0, 2.0]))
    >>> both = Counted.merged([one, Counted.of(np.array([1.0, 0.0]))])
    >>> both.scores.tolist(), both.counts.tolist()
    ([0.0, 1.0, 2.0], [1, 2, 2])
    """

    scores: ScoreArray
    counts: IntArray
    weights: FloatArray | None = None

    @classmethod
    def of(cls, scores: ScoreArray, weights: FloatArray | None = None) -> Counted:
        """Count trials, in any order."""
        return cls.merged([cls(scores, np.ones(len(scores), np.int64), weights)])

    @classmethod
    def merged(cls, parts: Sequence[Counted]) -> Counted:
        """Those of all parts, of which there is one at least."""
        scores, counts = (np.concatenate([getattr(one, name) for one in parts]) for name in ("scores", "counts"))
        scores = scores + scores.dtype.type(0.0)  # both zeros are one
        given = [one.weights for one in parts if one.weights is not None]
        weights = np.concatenate(given) if given else None
        order = np.argsort(scores, kind="stable") if weights is None else np.lexsort((weights, scores))
        begins = np.zeros(len(order), np.bool_)
        begins[:1] = True
        for values in (scores, weights):
            if values is not None:
                begins[1:] |= values[order][1:] != values[order][:-1]
        first = np.flatnonzero(begins)
        summed = np.add.reduceat(counts[order], first) if len(first) else counts[:0]
        return cls(scores[order][first], summed, None if weights is None else weights[order][first])

    @property
    def arrays(self) -> list[AnyArray]:
        """Scores, counts, and weights if there are some."""
        return [self.scores, self.counts, *([] if self.weights is None else [self.weights])]

    @property
    def n_trials(self) -> int:
        """How many there are."""
        return int(self.counts.sum())

    def as_class(self) -> SortedClass:
        """The trials, in ascending order."""
        if self.weights is None:
            upto = np.concatenate((np.zeros(1, np.int64), np.cumsum(self.counts)))
            return SortedClass(self.scores, self.counts, upto)
        return SortedClass.of(self.scores, whole_if_possible(self.weights * self.counts))


def whole_if_possible(weights: FloatArray) -> CountArray:
    """Weights as whole numbers, if all are and their sum is one that floats hold.

    Examples
    --------
    >>> whole_if_possible(np.array([1.0, 2.0])), whole_if_possible(np.array([1.0, 0.5]))
    (array([1, 2]), array([1. , 0.5]))
    """
    return weights.astype(np.int64) if is_whole(weights) else weights


def is_whole(weights: FloatArray) -> bool:
    """Whether these are whole numbers, and few enough to be added up as such."""
    return bool(np.array_equal(weights, np.rint(weights)) and weights.sum() <= _LARGEST)
