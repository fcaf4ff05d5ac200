"""Two classes of weighted trials in two passes, exactly: as in `deciban.engines.counting`, but by class.

Weights are no whole numbers in general, and of sums of these nothing can be taken away again to the last digit: so the
second pass reads labels, too, and counts one class alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from deciban.core.ranks.counts import SortedClass
from deciban.core.ranks.gaps import GapClass
from deciban.core.ranks.weighted_gaps import WeightedCutCounts, unknown_weighted_class
from deciban.core.rules.expected import log_cost
from deciban.engines.counting import Survey, finite_range, rehearsed, sum_of_posteriors
from deciban.engines.crossing import with_crossing
from deciban.evaluation.requested import posterior_costs_of
from deciban.evaluation.summary import Summary, TwoClassFigures
from deciban.metrics.scores import ScoredTrials
from deciban.trials.joining.join import require_two_classes
from deciban.trials.passes import Engine, Work
from deciban.trials.sources import Chunk, Piece, ShardSource, Wanted
from deciban.types import AnyArray, BoolArray, CountArray, FloatArray, ScoreArray

_LARGEST = 2.0**53
"""Floats hold whole numbers up to here."""

_BYTES_PER_CUT = 240
"""What a score of the class that is kept takes, with its weight, the counts around it and what is made of them."""


class WeightedSurvey(Survey):
    """The first pass over trials that have weights; see `Survey`. Numbers of trials are those that count."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.kept_weights: list[CountArray] = []
        self.whole = [True, True]
        """Whether all weights of non-targets, and of targets, are whole numbers."""

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        for piece in pieces:
            self.add_weighted(*weighted_trials(piece, self.system, self.kind))

    def add_weighted(self, scores: ScoreArray, truth: BoolArray, weights: CountArray) -> None:
        """Add trials with weights above 0; from any thread."""
        found = [(scores[some], weights[some]) for some in (~truth, truth)]
        costs = [log_cost(own, 0.0, sign=sign) for own, sign in zip(found, (1, -1), strict=True)]
        posteriors = list(posterior_costs_of(ScoredTrials(found[1], found[0]), self.figures))
        low, high = finite_range(scores)
        whole = [bool(np.array_equal(own, np.rint(own))) for _, own in found]
        with self.lock:
            for k, (own, by) in enumerate(found):
                self.n[k] += len(own)
                self.costs[k] = self.costs[k] + costs[k]
                self.whole[k] &= whole[k]
                if self.kept is not None and k == int(self.keep_tar):
                    self.kept.append(own)
                    self.kept_weights.append(by)
            if self.n[int(self.keep_tar)] > self.most:
                self.kept, self.kept_weights = None, []
            self.posteriors = sum_of_posteriors(self.posteriors, posteriors)
            self.finite = min(self.finite[0], low), max(self.finite[1], high)

    def __add__(self, other: Self) -> Self:
        """See `Work.__add__`."""
        found = super().__add__(other)
        found.kept_weights = [] if found.kept is None else [*self.kept_weights, *other.kept_weights]
        found.whole = [a and b for a, b in zip(self.whole, other.whole, strict=True)]
        return found

    def kept_class(self) -> SortedClass:
        """The trials that are kept, as a class."""
        scores = np.concatenate([np.zeros(0, self.kind), *(self.kept or [])])
        weights: AnyArray = np.concatenate([np.zeros(0), *self.kept_weights]).astype(np.float64, copy=False)
        if self.whole[int(self.keep_tar)] and weights.sum() <= _LARGEST:
            weights = weights.astype(np.int64)
        return SortedClass.of(scores, weights)

    def unknown_classes(self) -> tuple[GapClass, GapClass]:
        """See `Survey.unknown_classes`."""
        non, tar = (unknown_weighted_class(one.weight, *self.range, self.kind) for one in self.costs)
        return tar, non

    def summary(self, tar: SortedClass, non: SortedClass) -> Summary:
        """See `Survey.summary`."""
        return replace(super().summary(tar, non), is_weighted=True)


class WeightedAround(Work):
    """The second pass: the trials of one class counted around cuts.

    Parameters
    ----------
    system : int
    is_target : bool
        Which class.
    counts : WeightedCutCounts
        Empty.
    """

    words = "counting around the rarer class"

    def __init__(self, system: int, is_target: bool, counts: WeightedCutCounts) -> None:  # noqa: FBT001
        self.system, self.is_target, self.counts = system, is_target, counts
        self.n_bytes = counts.n_bytes

    def empty(self) -> Self:
        """See `Work.empty`."""
        return type(self)(self.system, self.is_target, self.counts.empty())

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        for piece in pieces:
            scores, truth, weights = weighted_trials(piece, self.system, self.counts.cuts.dtype)
            some = truth == self.is_target
            self.counts.add(scores[some], weights[some])

    def __add__(self, other: Self) -> Self:
        """See `Work.__add__`."""
        return type(self)(self.system, self.is_target, self.counts + other.counts)


def summarize_weighted(
    source: ShardSource,
    engine: Engine,
    memory: int,
    *,
    system: int,
    figures: TwoClassFigures,
    keep_tar: bool,
    also: FloatArray | None = None,
) -> Summary | None:
    """Summarize the weighted trials of one system around the scores of the rarer class.

    Parameters
    ----------
    source : ShardSource
        That has weights.
    engine : Engine
    memory : int
        Bytes that may be taken.
    system : int
    figures : TwoClassFigures
    keep_tar : bool
        Whether the scores of targets are kept; else those of non-targets.
    also : array, optional
        More thresholds at which trials are counted.

    Returns
    -------
    Summary or None
        See `deciban.engines.counting.summarize_shards`; None if neither class fits in memory.

    Raises
    ------
    KeyMismatchError
        If all trials that count are of one class.
    """
    kind, most = np.float64 if source.is_double else np.float32, max(memory // _BYTES_PER_CUT, 1)
    survey = engine.run(WeightedSurvey(system, keep_tar, figures, kind, most), source.pieces)
    if survey.kept is None:
        return None
    require_two_classes(survey.n, source.name, has_weights=True)
    own = survey.kept_class()
    cuts = np.concatenate((own.scores, rehearsed(survey, also).astype(kind)))
    counts = engine.run(WeightedAround(system, not keep_tar, WeightedCutCounts(cuts)), source.pieces).counts
    others = counts.as_class()
    found = survey.summary(own, others) if keep_tar else survey.summary(others, own)
    return with_crossing(found, source, engine, memory, system) if figures.eer_conventions else found


def weighted_trials(piece: Piece, system: int, kind: Any) -> tuple[ScoreArray, BoolArray, CountArray]:
    """Scores, truth and weights of the trials of a piece that count."""
    chunk: Chunk = piece.read(Wanted((system,), truth=True, weight=True))
    assert chunk.truth is not None and chunk.weight is not None  # noqa: S101, PT018  # they were asked for
    scores, counting = chunk.scores[0].astype(kind, copy=False), chunk.weight > 0
    if counting.all():
        return scores, chunk.truth, chunk.weight
    return scores[counting], chunk.truth[counting], chunk.weight[counting]
