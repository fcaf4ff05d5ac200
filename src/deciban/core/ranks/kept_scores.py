"""Scores that are kept one by one, where all others are known by their cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deciban.types import AnyArray, FloatArray, ScoreArray


@dataclass(frozen=True, slots=True, eq=False)
class KeptScores:
    """Scores that can matter, of non-targets and of targets, ascending.

    Attributes
    ----------
    scores : (non, tar)
    weights : (non, tar) or None
        Theirs; equal scores ascend by weight.

    Examples
    --------
    >>> one = KeptScores((np.array([2.0]), np.array([1.0, 3.0])))
    >>> KeptScores.merged([one, KeptScores((np.array([-1.0]), np.array([2.0])))]).scores
    (array([-1.,  2.]), array([1., 2., 3.]))
    """

    scores: tuple[ScoreArray, ScoreArray]
    weights: tuple[FloatArray, FloatArray] | None = None

    @classmethod
    def merged(cls, parts: Sequence[KeptScores]) -> KeptScores:
        """Those of all parts; at least one."""
        scores = [np.concatenate([one.scores[c] for one in parts]) for c in (0, 1)]
        if parts[0].weights is None:
            return cls((np.sort(scores[0]), np.sort(scores[1])))
        weights = [np.concatenate([one.weights[c] for one in parts if one.weights is not None]) for c in (0, 1)]
        orders = [np.lexsort((by, own)) for own, by in zip(scores, weights, strict=True)]
        first, second = orders
        return cls((scores[0][first], scores[1][second]), (weights[0][first], weights[1][second]))

    @classmethod
    def none(cls, kind: Any, *, has_weights: bool = False) -> KeptScores:
        """Without a trial."""
        weights = (np.zeros(0), np.zeros(0)) if has_weights else None
        return cls((np.zeros(0, kind), np.zeros(0, kind)), weights)

    @property
    def arrays(self) -> list[AnyArray]:
        """Scores of both classes, and their weights if there are some."""
        return [*self.scores, *(self.weights or ())]
