"""Many classes in one pass: all sums, and detectors and pairs in cells that stay as coarse as they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self

from deciban.core.ranks.key_cells import Refining
from deciban.engines.class_counting import ClassSums, ClassSurvey, with_problems
from deciban.engines.class_problems import (
    ODDS,
    Counting,
    Problem,
    ProblemTally,
    blocks_of,
    problems_by_class,
    shared_sides,
)
from deciban.engines.class_units import WhoIsIn
from deciban.engines.work import Engine, Work
from deciban.evaluation.multiclass.figures import ClassFigures
from deciban.evaluation.multiclass.summary import ClassSummary
from deciban.io.shards.pieces import Piece, ShardSource

_FEWEST = 64
"""Cells of a problem, however many problems there are."""

_MOST = 1 << 18


class OnePass(Work):
    """Sums and cells together.

    Parameters
    ----------
    survey : ClassSurvey
    tally : ProblemTally
    """

    words = "counting"

    def __init__(self, survey: ClassSurvey, tally: ProblemTally) -> None:
        self.survey, self.tally = survey, tally
        self.n_bytes = tally.n_bytes

    def empty(self) -> Self:
        """See `Work.empty`."""
        return type(self)(self.survey.empty(), self.tally.empty())

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        survey = self.survey
        units = survey.who is not None and survey.who.keys is not None
        for piece in pieces:
            for block in blocks_of(piece, survey.system, survey.classes, weight=survey.has_weights, units=units):
                survey.add(block)
                self.tally.add(block.trials)

    def __add__(self, other: Self) -> Self:
        """See `Work.__add__`."""
        return type(self)(self.survey + other.survey, self.tally + other.tally)


def summarize_once(
    source: ShardSource,
    engine: Engine,
    memory: int,
    require: Callable[[ClassSums | None], ClassSums],
    *,
    system: int,
    figures: ClassFigures,
    who: WhoIsIn | None = None,
) -> tuple[ClassSums, ClassSummary, ClassSummary]:
    """Summarize trials of many classes in one pass.

    Parameters
    ----------
    source : ShardSource
    engine : Engine
        Where the pass runs.
    memory : int
        Bytes that may be taken: the more, the finer are cells.
    require : callable
        Refuses classes without a trial.
    system : int
    figures : ClassFigures
        What is asked for, without groups.
    who : WhoIsIn, optional
        The units of trials, where intervals are asked for.

    Returns
    -------
    ClassSums
    ClassSummary, ClassSummary
        With trials of one cell as ties, and in the best order: what depends on ranks is between both.

    Raises
    ------
    FormatError, OSError
        As reading does.
    InputError
        If something that is asked for is impossible, or a class has no trial.
    """
    survey = ClassSurvey(system, source.classes, figures, source.has_weights, who)
    problems = problems_by_class(survey.asked, len(source.classes), source.n_rows)
    room = _room(problems, memory)
    about = system, source.classes, source.has_weights
    tally = ProblemTally(about, survey.asked, [Counting(one, room, None) for one in problems])
    found = engine.run(OnePass(survey, tally), source.pieces)
    sums = require(found.survey.found)
    cells: dict[tuple[Any, ...], Refining] = {}
    for one in found.tally.counting:
        sides = shared_sides(one.problem, survey.asked, sums.summary.counts)
        cells[one.problem.name] = Refining.of(sides, one.cells)
    ranked = {name: one for name, one in cells.items() if name != ODDS}
    worst = with_problems(sums, cells, {name: one.pav for name, one in ranked.items()}, None)
    best = with_problems(sums, cells, {name: one.best for name, one in ranked.items()}, None)
    return sums, worst, replace(best, posterior_odds=worst.posterior_odds)


def _room(problems: Sequence[Problem], memory: int) -> int:
    """Cells of each problem."""
    return min(max(memory // (4 * sum(one.bytes_per_cell for one in problems)), _FEWEST), _MOST)
