"""Two classes in two passes, exactly: the rarer class is kept, and the other one counted around its scores.

The first pass keeps the scores of the rarer class and adds up what does not depend on ranks. The second needs no
labels: it counts all trials around these scores, and those of the rarer class, which are known, are taken away again.
What comes out is the summary that sorting in memory makes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from deciban.core.ranks.counts import SortedClass
from deciban.core.ranks.gaps import CutCounts, GapClass, unknown_class
from deciban.core.rules.expected import MeanCost, log_cost, log_cost_of_others
from deciban.evaluation.requested import PosteriorCosts, posterior_costs_of
from deciban.evaluation.summary import Summary, TwoClassFigures
from deciban.io.memory import give_back
from deciban.metrics import SortedScores
from deciban.metrics.scores import ScoredTrials
from deciban.trials.joining.join import require_two_classes
from deciban.trials.passes import Engine, Locked, Work
from deciban.trials.sources import Piece, ShardSource, Wanted
from deciban.types import BoolArray, FloatArray, ScoreArray

FEWEST_ROWS = 1 << 16
"""Rows that a thread takes at once in any case, if pieces are as small."""


class Survey(Locked, Work):
    """The first pass: the scores of one class, costs, numbers, lowest and highest score.

    Parameters
    ----------
    system : int
    keep_tar : bool
        Whether the scores of targets are kept; else those of non-targets.
    figures : TwoClassFigures
    kind : dtype
        Of scores.
    most : int
        More scores than this are not kept.
    """

    words = "counting"

    def __init__(self, system: int, keep_tar: bool, figures: TwoClassFigures, kind: Any, most: int) -> None:  # noqa: FBT001
        super().__init__()
        self.given = system, keep_tar, figures, kind, most
        self.system, self.keep_tar, self.figures, self.kind, self.most = self.given
        self.kept: list[ScoreArray] | None = []
        self.n = [0, 0]
        """Non-targets and targets."""
        self.costs = [MeanCost(0.0, 0.0, 0.0)] * 2
        self.posteriors: list[PosteriorCosts] = []
        self.finite = (math.inf, -math.inf)

    def empty(self) -> Self:
        """See `Work.empty`."""
        return type(self)(*self.given)

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        for piece in pieces:
            chunk = piece.read(Wanted((self.system,), truth=True))
            assert chunk.truth is not None  # noqa: S101  # it was asked for
            self.add(chunk.scores[0].astype(self.kind, copy=False), chunk.truth)

    def add(self, scores: ScoreArray, truth: BoolArray, *, all_at_the_end: bool = False) -> None:
        """Add trials; from any thread.

        Where all scores are counted, their costs and their range can wait for the end; but not costs of posteriors.
        """
        kept = np.flatnonzero(truth if self.keep_tar else ~truth)
        some = scores[kept]
        n_kept, n_others = len(some), len(scores) - len(some)
        sign = -1 if self.keep_tar else 1
        own, other = MeanCost(0.0, 0.0, n_kept), MeanCost(0.0, 0.0, n_others)
        low, high = math.inf, -math.inf
        if not all_at_the_end:
            own, other = log_cost((some, None), 0.0, sign=sign), log_cost_of_others(scores, kept, sign=-sign)
            low, high = finite_range(scores)
        posteriors = self._posteriors(scores, truth)
        with self.lock:
            if self.kept is not None:
                self.kept.append(some)
            counts, costs = (n_others, n_kept), (other, own)
            for k in (0, 1):
                at = k if self.keep_tar else 1 - k
                self.n[at] += counts[k]
                self.costs[at] = self.costs[at] + costs[k]
            if self.kept is not None and self.n[int(self.keep_tar)] > self.most:
                self.kept = None
            self.posteriors = sum_of_posteriors(self.posteriors, posteriors)
            self.finite = min(self.finite[0], low), max(self.finite[1], high)

    def _posteriors(self, scores: ScoreArray, truth: BoolArray) -> list[PosteriorCosts]:
        """Costs of posteriors, if some are asked for: parting trials takes a sixth of a pass."""
        if not self.figures.posteriors_at and self.figures.rule is None:
            return []
        return list(posterior_costs_of(ScoredTrials((scores[truth], None), (scores[~truth], None)), self.figures))

    def unknown_classes(self) -> tuple[GapClass, GapClass]:
        """Targets and non-targets, of which nothing is known but how many there are, and within which scores."""
        non, tar = (unknown_class(n, *self.range, self.kind) for n in self.n)
        return tar, non

    @property
    def range(self) -> tuple[float, float]:
        """Lowest and highest finite score; (0, 0) if there is none."""
        return self.finite if self.finite[0] <= self.finite[1] else (0.0, 0.0)

    def summary(self, tar: SortedClass, non: SortedClass) -> Summary:
        """With the ranks that a second pass finds."""
        ranks, (cost_non, cost_tar) = SortedScores.of_sorted(tar, non), self.costs
        return Summary(self.figures, ranks, cost_tar, cost_non, posterior_costs=tuple(self.posteriors))

    def __add__(self, other: Self) -> Self:
        """See `Work.__add__`."""
        found = self.empty()
        found.kept = None if self.kept is None or other.kept is None else [*self.kept, *other.kept]
        found.n = [a + b for a, b in zip(self.n, other.n, strict=True)]
        found.costs = [a + b for a, b in zip(self.costs, other.costs, strict=True)]
        found.posteriors = sum_of_posteriors(self.posteriors, other.posteriors)
        found.finite = min(self.finite[0], other.finite[0]), max(self.finite[1], other.finite[1])
        return found


class Around(Locked, Work):
    """The second pass: all trials counted around cuts.

    Parameters
    ----------
    system : int
    cuts : CutCounts
        Empty.
    rows_per_batch : int
        More rows at once take more memory and fewer looks at all cuts.
    """

    words = "counting around the rarer class"

    def __init__(self, system: int, cuts: CutCounts, rows_per_batch: int) -> None:
        super().__init__()
        self.system, self.counts, self.rows_per_batch = system, cuts, rows_per_batch
        self.n_bytes = cuts.n_bytes

    def empty(self) -> Self:
        """See `Work.empty`."""
        return type(self)(self.system, self.counts.empty(), self.rows_per_batch)

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        n, upto = sum(one.n_rows for one in pieces), 0
        room: ScoreArray | None = getattr(self.of_thread, "scores", None)
        if room is None or len(room) < n:  # memory that is new every time takes a tenth of the pass
            room = self.of_thread.scores = np.empty(n, self.counts.cuts.dtype)
        scores = room
        for piece in pieces:
            own = piece.read(Wanted((self.system,))).scores[0]
            scores[upto : upto + len(own)] = own
            upto += len(own)
        scores = scores[:upto]
        scores.sort()
        self.counts.add(scores)

    def __add__(self, other: Self) -> Self:
        """See `Work.__add__`."""
        return type(self)(self.system, self.counts + other.counts, self.rows_per_batch)


def summarize_shards(
    source: ShardSource,
    engine: Engine,
    memory: int,
    *,
    system: int = 0,
    figures: TwoClassFigures | None = None,
    approximate: bool = False,
    also: FloatArray | None = None,
) -> Summary:
    """Summarize the trials of one system of a source of two classes, whatever their number.

    Parameters
    ----------
    source : ShardSource
    engine : Engine
        Where passes run.
    memory : int
        Bytes that may be taken.
    system : int
        Position of the system.
    figures : TwoClassFigures, optional
        What is asked for.
    approximate : bool
        Whether one pass is enough: then figures of ranks are known within bounds.
    also : array, optional
        More thresholds at which trials are counted, besides those at which an evaluation asks.

    Returns
    -------
    Summary
        The one that `deciban.evaluation.summary.summarize` makes of the same trials: counts to the bit, sums of costs
        to about 1e-16 of their value. If neither class fits, the area under the ROC is known within bounds.

    Raises
    ------
    KeyMismatchError, FormatError, OSError
        If all trials are of one class; or as reading does.
    InputError
        If one pass should be enough for figures that have no bounds; or weights differ too much to be added up.
    """
    from deciban.engines.by_value import summarize_by_value
    from deciban.engines.crossing import with_crossing
    from deciban.engines.pruning import summarize_by_cells
    from deciban.engines.weighted import summarize_weighted

    asked, kind = figures or TwoClassFigures(), np.float64 if source.is_double else np.float32
    least = FEWEST_ROWS * engine.n_at_once * source.bytes_per_row()  # of rows, beside what is kept
    most = max((memory - least) // bytes_per_cut(np.dtype(kind).itemsize), 1)
    share = _share_of_targets(source.pieces)
    keep_tar, of_rarer = share <= 0.5, min(share, 1.0 - share) * source.n_rows
    how: Any = {"system": system, "figures": asked, "also": also}
    if source.has_weights and not approximate:
        weighted = summarize_weighted(source, engine, memory, keep_tar=keep_tar, **how)
        if weighted is not None:
            return weighted
    if approximate or of_rarer > most or source.has_weights:
        return summarize_by_cells(source, engine, memory, approximate=approximate, **how)
    survey = Survey(system, keep_tar, asked, kind, most)
    found = summarize_by_value(source, engine, memory, survey, n_rarer=of_rarer, also=also)
    if found is None:
        found = _summarize_around(source, engine, memory, survey, also)
    if found is None:  # the first trials are not like the others
        return summarize_by_cells(source, engine, memory, **how)
    return with_crossing(found, source, engine, memory, system) if asked.eer_conventions else found


def _summarize_around(
    source: ShardSource, engine: Engine, memory: int, survey: Survey, also: FloatArray | None
) -> Summary | None:
    """In two passes; None if the rarer class, which may be the other one, does not fit."""
    survey = engine.run(survey, source.pieces)
    if survey.kept is None:
        return None
    require_two_classes(survey.n, source.name)
    kept = np.sort(np.concatenate([np.zeros(0, survey.kind), *survey.kept]))
    survey.kept = None  # there need not be two
    give_back()
    counts = CutCounts(np.concatenate((kept, rehearsed(survey, also).astype(survey.kind))))
    rows = (memory - counts.n_bytes) // (4 * kept.itemsize * engine.n_at_once)
    around = Around(survey.system, counts, int(np.clip(rows, FEWEST_ROWS, 1 << 26)))
    counted = engine.run(around, source.pieces).counts
    give_back()
    own, others = SortedClass(kept, None, None), counted.without(kept).as_class()
    return survey.summary(own, others) if survey.keep_tar else survey.summary(others, own)


def bytes_per_cut(itemsize: int) -> int:
    """What a score of the rarer class takes, with the counts around it and what is made of them."""
    return 104 + 9 * itemsize


def rehearsed(survey: Survey, also: FloatArray | None = None) -> FloatArray:
    """All thresholds at which an evaluation of that many trials in this range asks how many are below, and some more.

    It is made of two classes of which nothing is known but this, and they tell where they were asked and did not know.
    """
    from deciban.evaluation.two_class import evaluation_of

    tar, non = survey.unknown_classes()
    evaluation_of(survey.summary(tar, non))
    return np.concatenate([np.zeros(0) if also is None else also, *tar.missed, *non.missed])


def _share_of_targets(pieces: Sequence[Piece]) -> float:
    """Among the first trials; if the others are not like them, it takes more memory or time and is as right."""
    for piece in pieces:
        truth = piece.read(Wanted((), truth=True)).truth
        if truth is not None and len(truth):
            return float(np.count_nonzero(truth) / len(truth))
    return 0.0


def finite_range(scores: ScoreArray) -> tuple[float, float]:
    """Lowest and highest finite score; the ends of an empty range if there is none."""
    if not len(scores):
        return math.inf, -math.inf
    low, high = float(scores.min()), float(scores.max())
    if math.isinf(low) or math.isinf(high):
        finite = scores[np.isfinite(scores)]
        return finite_range(finite)
    return low, high


def sum_of_posteriors(one: list[PosteriorCosts], other: list[PosteriorCosts]) -> list[PosteriorCosts]:
    """Costs of two sets of trials at the same priors; an empty list is that of no trial."""
    return [a + b for a, b in zip(one, other, strict=True)] if one and other else one or other
