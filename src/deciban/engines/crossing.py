"""Where misses become as frequent as false alarms, trial by trial: a pass keeps the scores of one gap.

Counting around the rarer class leaves open how the others are ordered between two of its neighbours. No figure asks
for that but equal error rates by the conventions of other tools, and these ask in one gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from deciban.core.ranks.counts import SortedClass, splitting
from deciban.core.ranks.gaps import GapClass
from deciban.core.ranks.thresholds import crossing
from deciban.core.ranks.weighted_gaps import spliced
from deciban.errors import InputError
from deciban.evaluation.summary import Summary
from deciban.metrics import SortedScores
from deciban.trials.passes import Engine, Locked, Work
from deciban.trials.sources import Piece, ShardSource, Wanted, changed
from deciban.types import CountArray, ScoreArray

_BYTES_PER_SCORE = 32
"""What a score takes that is kept, with its weight and what sorting needs."""


class KeepGap(Locked, Work):
    """The trials of one class in one range of scores.

    Parameters
    ----------
    system : int
    is_target : bool
    low, high : float
        Trials with ``low <= score < high``.
    kind : dtype
        Of scores.
    """

    words = "keeping the trials where errors are equally frequent"

    def __init__(self, system: int, is_target: bool, low: float, high: float, kind: Any) -> None:  # noqa: FBT001
        super().__init__()
        self._given = system, is_target, low, high, kind
        self.system, self.is_target, self.low, self.high, self.kind = self._given
        self.scores: list[ScoreArray] = []
        self.weights: list[CountArray] = []

    def empty(self) -> Self:
        """See `Work.empty`."""
        return type(self)(*self._given)

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        for piece in pieces:
            chunk = piece.read(Wanted((self.system,), truth=True, weight=True))
            assert chunk.truth is not None  # noqa: S101  # it was asked for
            scores = chunk.scores[0].astype(self.kind, copy=False)
            some = (scores >= self.low) & (scores < self.high) & (chunk.truth == self.is_target)
            with self.lock:
                self.scores.append(scores[some])
                if chunk.weight is not None:
                    self.weights.append(chunk.weight[some])

    def __add__(self, other: Self) -> Self:
        """See `Work.__add__`."""
        found = self.empty()
        found.scores, found.weights = [*self.scores, *other.scores], [*self.weights, *other.weights]
        return found

    def trials(self) -> SortedClass:
        """All of them."""
        scores = np.concatenate([np.zeros(0, self.kind), *self.scores])
        return SortedClass.of(scores, np.concatenate(self.weights) if self.weights else None)


def with_crossing(summary: Summary, source: ShardSource, engine: Engine, memory: int, system: int) -> Summary:
    """A summary of classes of which one is known by its gaps, with the trials of the gap in which errors cross.

    Parameters
    ----------
    summary : Summary
    source : ShardSource
    engine : Engine
    memory : int
        Bytes that may be taken.
    system : int

    Raises
    ------
    InputError
        If there are more trials in this gap than memory holds.
    FormatError, OSError
        As reading does; or if trials are not what they were.
    """
    tar, non = summary.ranks.tar, summary.ranks.non
    if not tar.total or not non.total:
        return summary
    before, after = crossing(tar, non)
    gapped, is_target = (tar, True) if isinstance(tar, GapClass) else (non, False)
    if not isinstance(gapped, GapClass) or not _has_gap(gapped, before.threshold, after.threshold):
        return summary
    low, high = before.threshold, after.threshold
    expected = after.n_miss - before.n_miss if is_target else before.n_fa - after.n_fa
    if not summary.is_weighted and expected > memory // _BYTES_PER_SCORE:
        raise InputError(
            f"eer_conventions: {expected:,} trials lie between two neighbouring trials of the rarer class where errors "
            "are equally frequent, more than the memory holds. Allow more (memory=, --memory), or leave it out."
        )
    work = KeepGap(system, is_target, low, high, gapped.scores.dtype)
    inside = engine.run(work, source.pieces).trials()
    if not np.isclose(inside.total, expected, rtol=1e-9, atol=0.0):
        raise changed(source.name)
    whole = spliced(gapped, low, high, inside)
    tar, non = (whole, non) if is_target else (tar, whole)
    return replace(summary, ranks=SortedScores.of_sorted(tar, non))


def _has_gap(known: GapClass, low: float, high: float) -> bool:
    first, last = np.searchsorted(known.scores, splitting(known.scores, np.array([low, high])))
    return bool(known.unsure[first:last].any())
