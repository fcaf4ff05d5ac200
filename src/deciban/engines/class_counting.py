"""Multiclass evaluations in passes: sums first, then the hulls of detectors and pairs by sorting their scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from deciban.core.classes.shown import Shown
from deciban.core.classes.subsets import SubsetCounts
from deciban.core.ranks.hull import Pav, block_llr
from deciban.engines.class_problems import ODDS, SystemScores, TrialBlock, problems_of, solved
from deciban.engines.class_units import UnitSums, WhoIsIn
from deciban.evaluation.multiclass.figures import WEIGHTED, ClassFigures
from deciban.evaluation.multiclass.groups import ClassTotals, GroupedProblem
from deciban.evaluation.multiclass.problem_sums import Asked, CountedProblems, ProblemSums
from deciban.evaluation.multiclass.summary import ClassSummary, WholeOnly, c_avg_places, shown_of
from deciban.evaluation.reliability import PooledOdds
from deciban.multiclass.analysis import subset_costs_of, subset_counts_of
from deciban.multiclass.decision_errors import confusion_of
from deciban.multiclass.recalibration import ClassCalibration
from deciban.multiclass.tables import Grouping, ScoredClasses
from deciban.trials.passes import Engine, Work, both, found_in
from deciban.trials.sources import Chunk, Piece, ShardSource, Wanted
from deciban.types import CountArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class ClassSums:
    """What adds up of trials of many classes; ``a + b`` is what adds up of both.

    Attributes
    ----------
    summary : ClassSummary
        Without detectors, pairs and posteriors.
    problems : ProblemSums
    shown : Shown or None
        Trials to draw, where there are three classes to twelve.
    subsets : SubsetCounts or None
    units : UnitSums or None
        Where intervals are asked for.
    """

    summary: ClassSummary
    problems: ProblemSums
    shown: Shown | None
    subsets: SubsetCounts | None
    units: UnitSums | None = None

    def __add__(self, other: ClassSums) -> ClassSums:
        """What adds up of the trials of both."""
        return ClassSums(
            self.summary + other.summary,
            self.problems + other.problems,
            both(self.shown, other.shown),
            both(self.subsets, other.subsets),
            both(self.units, other.units),
        )


class ClassSurvey(Work):
    """The first pass: all sums.

    Parameters
    ----------
    given : SystemScores
    figures : ClassFigures
    who : WhoIsIn, optional
        The units of trials, if intervals are requested.
    """

    words = "counting"
    sums_in = ("found",)

    def __init__(self, given: SystemScores, figures: ClassFigures, who: WhoIsIn | None = None) -> None:
        self.given, self.figures, self.who = given, figures, who
        self.asked = Asked.of(figures, given.classes, c_avg_places(figures))
        self.has_subsets = not figures.why_no_subsets(len(given.classes), WEIGHTED if given.has_weights else "")
        self.found: ClassSums | None = None

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        units = self.who is not None and self.who.keys is not None
        for piece in pieces:
            for block in self.given.blocks(piece, units=units):
                self.add(block)

    def add(self, block: TrialBlock) -> None:
        """Add up over trials; from any thread."""
        found = self._sums(block)
        with self.lock:
            self.found = both(self.found, found)

    def _sums(self, block: TrialBlock) -> ClassSums:
        trials = block.trials
        return ClassSums(
            ClassSummary.of(trials, self.figures, whole=False, only_sums=True),
            ProblemSums.of(trials, self.asked),
            shown_of(trials),
            subset_counts_of(trials, self.figures.p_target[0]) if self.has_subsets else None,
            None if self.who is None else UnitSums.of(block, self.who),
        )


def survey_classes(
    source: ShardSource, engine: Engine, *, system: int, figures: ClassFigures, who: WhoIsIn | None = None
) -> ClassSums | None:
    """Add up over all trials of one system of a source of many classes: one pass.

    Parameters
    ----------
    source : ShardSource
    engine : Engine
        Where passes run.
    system : int
        Position of the system.
    figures : ClassFigures
        What is asked for, without groups.
    who : WhoIsIn, optional
        The units of trials, where intervals are asked for.

    Returns
    -------
    ClassSums or None
        None if there is no trial.

    Raises
    ------
    FormatError, OSError
        As reading does.
    InputError
        If something that is asked for is impossible.
    """
    return engine.run(ClassSurvey(SystemScores.of(source, system), figures, who), source.pieces).found


def summarize_surveyed(
    sums: ClassSums, source: ShardSource, engine: Engine, memory: int, *, system: int, calibration: ClassCalibration
) -> ClassSummary:
    """Summarize trials whose sums are known: further passes count detectors, pairs and posteriors.

    Parameters
    ----------
    sums : ClassSums
        Of all trials; every class has some.
    source : ShardSource
    engine : Engine
    memory : int
        Bytes that may be taken.
    system : int
    calibration : ClassCalibration
        The optima of calibration analysis.

    Returns
    -------
    ClassSummary
        The one that is made of the same trials in memory: counts to the bit, sums of costs to about 1e-15 of their
        value. Where shares of classes are fractions, so are counts of detectors, which agree to 1e-12.

    Raises
    ------
    FormatError, OSError
        As reading does.
    """
    asked, counts = sums.problems.asked, sums.summary.counts
    found = solved(problems_of(asked, counts, source.n_rows), source, system, asked, engine, memory)
    pavs = {name: Pav(*one, block_llr(*one[:2])) for name, one in found.items() if name != ODDS}
    detectors = tuple(tuple(pavs["detector", at, k] for k in range(len(one))) for at, one in enumerate(asked.rivals))
    pairs = {name[1:]: one for name, one in pavs.items() if name[0] == "pair"}
    failed, happened = (np.asarray((asked.prior / counts) @ own) for own in sums.problems.in_bins)
    subsets = None if sums.subsets is None else subset_costs_of(sums.subsets, sums.summary.classes)
    shown = None if sums.shown is None else (sums.shown.loglik, sums.shown.label)
    return replace(
        sums.summary,
        problems=CountedProblems(counts, sums.problems, detectors, pairs),
        posterior_odds=PooledOdds(*found[ODDS], happened, failed),
        whole=WholeOnly(calibration, subsets, shown),
    )


def _grouped(grouping: Grouping, has_weights: bool, piece: Piece, wanted: Wanted) -> Chunk:  # noqa: FBT001
    """Read the trials of a piece with log-likelihoods of groups, without those of classes that drop out."""
    chunk = piece.read(replace(wanted, truth=True))
    assert chunk.truth is not None  # noqa: S101  # it was asked for
    kept = np.flatnonzero(grouping.prior[chunk.truth] > 0)
    truth, weight = chunk.truth[kept], None
    if wanted.weight and has_weights:
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
    has_weights = problem.has_weights
    pieces = source.each(partial(_grouped, problem.grouping, has_weights))
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
