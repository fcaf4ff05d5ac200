"""Many classes in passes: sums first, then the hulls of detectors and pairs, until nothing of them is open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from deciban.core.classes.shown import Shown
from deciban.core.classes.subsets import SubsetCounts
from deciban.core.ranks.hull import Pav
from deciban.core.ranks.key_cells import Refining
from deciban.engines.class_problems import ODDS, TrialBlock, blocks_of, problems_of, solved
from deciban.engines.class_units import UnitSums, WhoIsIn
from deciban.engines.looking import both
from deciban.engines.work import Engine, Locked, Work
from deciban.evaluation.multiclass.figures import WEIGHTED, ClassFigures
from deciban.evaluation.multiclass.problem_sums import Asked, CountedProblems, ProblemSums
from deciban.evaluation.multiclass.summary import ClassSummary, WholeOnly, c_avg_places, shown_of
from deciban.evaluation.reliability import PooledOdds
from deciban.io.shards.pieces import Piece, ShardSource
from deciban.multiclass.analysis import subset_costs_of, subset_counts_of
from deciban.multiclass.recalibration import ClassCalibration


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


class ClassSurvey(Locked, Work):
    """The first pass: all sums.

    Parameters
    ----------
    system : int
    classes : tuple of str
    figures : ClassFigures
    has_weights : bool
    who : WhoIsIn, optional
        The units of trials, where intervals are asked for.
    """

    words = "counting"

    def __init__(
        self,
        system: int,
        classes: tuple[str, ...],
        figures: ClassFigures,
        has_weights: bool,  # noqa: FBT001
        who: WhoIsIn | None = None,
    ) -> None:
        super().__init__()
        self._given = system, classes, figures, has_weights, who
        self.system, self.classes, self.figures, self.has_weights, self.who = self._given
        self.asked = Asked.of(figures, classes, c_avg_places(figures))
        self.has_subsets = not figures.why_no_subsets(len(classes), WEIGHTED if has_weights else "")
        self.found: ClassSums | None = None

    def empty(self) -> Self:
        """See `Work.empty`."""
        return type(self)(*self._given)

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        units = self.who is not None and self.who.keys is not None
        for piece in pieces:
            for block in blocks_of(piece, self.system, self.classes, weight=self.has_weights, units=units):
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

    def __add__(self, other: Self) -> Self:
        """See `Work.__add__`."""
        found = self.empty()
        found.found = both(self.found, other.found)
        return found


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
    return engine.run(ClassSurvey(system, source.classes, figures, source.has_weights, who), source.pieces).found


def summarize_surveyed(
    sums: ClassSums,
    source: ShardSource,
    engine: Engine,
    memory: int,
    *,
    system: int,
    calibration: ClassCalibration | None,
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
    calibration : ClassCalibration or None
        The optima of calibration analysis, where they are known.

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
    asked = sums.problems.asked
    problems = problems_of(asked, sums.summary.counts, source.n_rows)
    found = solved(problems, source, system, asked, engine, memory)
    return with_problems(sums, found, {name: one.pav for name, one in found.items() if name != ODDS}, calibration)


def with_problems(
    sums: ClassSums,
    found: Mapping[tuple[Any, ...], Refining],
    pavs: Mapping[tuple[Any, ...], Pav],
    calibration: ClassCalibration | None,
) -> ClassSummary:
    """The summary of trials whose sums are known, and of whose problems so much is.

    Parameters
    ----------
    sums : ClassSums
    found : mapping of names of problems to Refining
    pavs : mapping of names of problems to Pav
        PAV blocks of detectors and pairs.
    calibration : ClassCalibration or None
    """
    summary, asked = sums.summary, sums.problems.asked
    n_targets = range(len(summary.classes))
    detectors = tuple(tuple(pavs["detector", at, k] for k in n_targets) for at in range(len(asked.rivals)))
    pairs = {name[1:]: one for name, one in pavs.items() if name[0] == "pair"}
    share = asked.prior / summary.counts
    failed, happened = (np.asarray(share @ counts) for counts in sums.problems.in_bins)
    subsets = None if sums.subsets is None else subset_costs_of(sums.subsets, summary.classes)
    shown = None if sums.shown is None else (sums.shown.loglik, sums.shown.label)
    return replace(
        summary,
        problems=CountedProblems(summary.counts, sums.problems, detectors, pairs),
        posterior_odds=PooledOdds(*found[ODDS].blocks, happened, failed),
        whole=WholeOnly(calibration, subsets, shown),
    )
