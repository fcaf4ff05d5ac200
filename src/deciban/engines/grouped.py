"""Groups of classes in pieces: every piece is grouped when it is read, and trials count as their class says."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deciban.engines.looking import found_in
from deciban.engines.work import Engine
from deciban.evaluation.multiclass.groups import ClassTotals, GroupedProblem
from deciban.io.shards.pieces import Chunk, Piece, ShardSource, Wanted
from deciban.multiclass.decision_errors import confusion_of
from deciban.multiclass.derived import Grouping
from deciban.multiclass.tables import ScoredClasses
from deciban.types import CountArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class GroupedPiece(Piece):
    """The trials of a piece with log-likelihoods of groups; those of classes that drop out are left out."""

    piece: Piece
    grouping: Grouping
    has_weights: bool
    name: str
    n_rows: int

    def read(self, wanted: Wanted) -> Chunk:
        """Read its trials; see `Piece.read`."""
        chunk = self.piece.read(replace(wanted, truth=True))
        assert chunk.truth is not None  # noqa: S101  # it was asked for
        grouping, kept = self.grouping, np.flatnonzero(self.grouping.prior[chunk.truth] > 0)
        truth, weight = chunk.truth[kept], None
        if wanted.weight and self.has_weights:
            weight = grouping.weight[truth]
            weight = weight if chunk.weight is None else weight * chunk.weight[kept]
        return Chunk(
            tuple(grouping.logliks(one[kept]) for one in chunk.scores),
            grouping.home[truth],
            None if chunk.units is None else chunk.units.take(kept),
            weight,
            stratum=strata_of(grouping)[truth],
        )


def strata_of(grouping: Grouping) -> IntArray:
    """Positions of the classes among those that do not drop out."""
    return np.asarray(np.cumsum(grouping.prior > 0) - 1)


def totals_of(source: ShardSource, engine: Engine) -> ClassTotals | None:
    """How many trials each class of a source has, and what they weigh: one pass; None of no trial."""
    wanted = Wanted((), truth=True, weight=source.has_weights)
    found: ClassTotals | None = found_in(source, engine, wanted, _Totals(len(source.classes)), "counting classes")
    return found


def grouped(source: ShardSource, problem: GroupedProblem) -> ShardSource:
    """The trials of a source of classes as those of groups."""
    grouping, has_weights = problem.grouping, problem.has_weights
    pieces = tuple(GroupedPiece(one, grouping, has_weights, one.name, one.n_rows) for one in source.pieces)
    return replace(source, pieces=pieces, classes=problem.titles, has_weights=has_weights, is_double=True)


def confusion_in(source: ShardSource, engine: Engine, problem: GroupedProblem, *, system: int) -> CountArray:
    """Confusions of groups by the own weights of trials: one pass over a source of classes."""
    wanted = Wanted((system,), truth=True, weight=source.has_weights)
    look = _Confusion(problem.grouping, problem.figures.prior_of(problem.titles))
    found: CountArray = found_in(source, engine, wanted, look, "counting decisions")
    return found


@dataclass(frozen=True, slots=True)
class _Totals:
    n_classes: int

    def __call__(self, chunk: Chunk) -> ClassTotals | None:
        assert chunk.truth is not None  # noqa: S101  # it was asked for
        return ClassTotals.of(chunk.truth, chunk.weight, self.n_classes) if len(chunk.truth) else None


@dataclass(frozen=True, slots=True, eq=False)
class _Confusion:
    grouping: Grouping
    prior: FloatArray

    def __call__(self, chunk: Chunk) -> Any:
        assert chunk.truth is not None  # noqa: S101  # it was asked for
        if not len(chunk.truth):
            return None
        kept = np.flatnonzero(self.grouping.prior[chunk.truth] > 0)
        own = None if chunk.weight is None else chunk.weight[kept]
        loglik = self.grouping.logliks(chunk.scores[0][kept])
        return confusion_of(ScoredClasses(loglik, self.grouping.home[chunk.truth[kept]], own, None), self.prior)
