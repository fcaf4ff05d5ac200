"""Parts of summaries of many classes: counted from shards by one pass, and made into a summary of all."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from deciban.core.classes.subsets import SubsetCounts
from deciban.core.ranks.key_cells import KeyCells, Refining, Sides
from deciban.core.rules.expected import MeanCost
from deciban.core.training.sums import Sums
from deciban.engines.class_bounds import OnePass
from deciban.engines.class_counting import ClassSums, ClassSurvey, with_problems
from deciban.engines.class_problems import (
    ODDS,
    Counting,
    Problem,
    ProblemTally,
    problems_by_class,
    problems_of,
    shared_sides,
)
from deciban.engines.summary_parts import MEMORY, require_counted
from deciban.engines.work import Engine
from deciban.errors import FormatError, InputError
from deciban.evaluation.multiclass.class_bounds import NOTE, within_class_bounds
from deciban.evaluation.multiclass.evaluate import class_evaluation_of
from deciban.evaluation.multiclass.figures import ClassFigures
from deciban.evaluation.multiclass.problem_sums import Asked, ProblemSums
from deciban.evaluation.multiclass.result import ClassEvaluation
from deciban.evaluation.multiclass.summands import Kept, ScoreChecks
from deciban.evaluation.multiclass.summary import ClassSummary, c_avg_places
from deciban.io.class_summary_parts import ClassFurther, ClassPart, ClassShard, ClassTotals
from deciban.io.shards.pieces import ShardSource
from deciban.io.summary_records import Question, ShardRecord
from deciban.types import FloatArray, IntArray

_BYTES_PER_CELL = 100_000
"""Of the memory that may be taken: there are many problems."""

_FEWEST_CELLS, _MOST_CELLS = 1 << 12, 1 << 14

_AT_ONCE = 32
"""Problems that are counted in one pass over a shard."""

_FIRST_BYTES, _FEWEST_FIRST, _MOST_FIRST = 64_000_000, 64, 1 << 11
"""What the cells of the first pass take, and how many a problem has: the same for all jobs, whatever their memory."""

_COSTS = ("surprise", "flat_surprise", "quadratic")


def counted_class_part(source: ShardSource, own: ShardRecord, question: Question, engine: Engine) -> ClassPart:
    """Count the segments of one shard; see `deciban.engines.summary_parts.counted_part`.

    Raises
    ------
    InputError
        If weights are no whole numbers.
    """
    figures = question.figures
    assert isinstance(figures, ClassFigures)  # noqa: S101  # they go with classes
    totals, numbers = list[ClassTotals | None](), list[Mapping[str, FloatArray]]()
    for system in range(len(question.systems)):
        survey = ClassSurvey(system, source.classes, figures, source.has_weights, None)
        problems = problems_by_class(survey.asked, len(source.classes), source.n_rows)
        room = _FIRST_BYTES // sum(one.bytes_per_cell for one in problems)
        counting = [Counting(one, min(max(room, _FEWEST_FIRST), _MOST_FIRST), None) for one in problems]
        about = system, source.classes, source.has_weights
        done = engine.run(OnePass(survey, ProblemTally(about, survey.asked, counting)), source.pieces)
        found = done.survey.found
        cells = {_name(one.problem): one.cells for one in done.tally.counting}
        if found is not None and found.summary.counts.dtype.kind == "f":
            raise InputError(
                f"weights: those of {source.name} are no whole numbers, and sums of fractions over many classes depend "
                "on the order in which files are merged. Use whole numbers, or evaluate the shards themselves."
            )
        totals.append(None if found is None else replace(_totals(found), cells=cells))
        numbers.append({} if found is None else _numbers(found))
    shard = ClassShard(own.name, own.n_rows, own.size, own.sha256, tuple(numbers))
    return ClassPart(question, (shard,), tuple(totals))


def _totals(found: ClassSums) -> ClassTotals:
    """Whole numbers."""
    summary, problems, subsets = found.summary, found.problems, found.subsets
    counts: dict[str, Any] = {
        "counts": summary.counts,
        "n_infinite": [summary.n_infinite],
        "confusion": summary.confusion,
        "n_wrong": [summary.checks.n_wrong],
        "in_bins": problems.in_bins,
        **{f"accepted_{at}": one for at, one in enumerate(problems.accepted)},
    }
    if summary.accepted is not None:
        counts["accepted"] = summary.accepted
    if subsets is not None:
        counts |= {name: getattr(subsets, name) for name in ("totals", "hits", "alarms")}
    checks = summary.checks
    hold = {"are_probabilities": checks.are_probabilities, "are_log_posteriors": checks.are_log_posteriors}
    whole = {name: np.asarray(one).astype(np.int64) for name, one in counts.items()}
    shown = found.shown
    if shown is not None:
        shown = replace(shown, loglik=shown.loglik.astype(np.float64) + 0.0, label=shown.label.astype(np.int64))
    return ClassTotals(whole, {name: bool(one) for name, one in hold.items()}, shown)


def _numbers(found: ClassSums) -> dict[str, FloatArray]:
    """Sums of costs, and the score of all trials where they are alike."""
    numbers: dict[str, FloatArray] = {}
    for name in _COSTS:
        numbers[name] = np.array([(one.high, one.low, one.weight) for one in getattr(found.summary, name)])
    for at, one in enumerate(found.problems.costs):
        numbers[f"costs_{at}"] = np.stack((one.high, one.low))
    if found.problems.pairs is not None:
        numbers["pairs"] = np.stack((found.problems.pairs.high, found.problems.pairs.low))
    if found.summary.checks.alike is not None:
        numbers["alike"] = np.asarray(found.summary.checks.alike, np.float64)
    return numbers


class ClassRefining:
    """A further pass over all shards of a summary: detectors, pairs and posteriors, where these are still open.

    Parameters
    ----------
    whole : ClassPart
        What was merged of all shards.
    memory : int, optional
        Bytes that may be taken, the same for all shards.

    Attributes
    ----------
    n_open : int
        Cells that may hold a vertex of a hull.

    Raises
    ------
    InputError
        If a class has no segment.
    """

    def __init__(self, whole: ClassPart, memory: int | None = None) -> None:
        self.whole, self.memory = whole, memory or MEMORY
        self.most = min(max(self.memory // _BYTES_PER_CELL, _FEWEST_CELLS), _MOST_CELLS)
        self.sums, self.counting = list[ClassSums](), list[list[Counting]]()
        self.n_open = 0
        for system in range(len(whole.question.systems)):
            sums = class_sums_of(whole, system)
            if sums is None or not sums.summary.counts.all():
                raise InputError(
                    "refine: a class has no segment in the summary. Merge the shards of all classes first."
                )
            known, own = whole.known[system] if whole.known else {}, list[Counting]()
            for one in problems_of(sums.problems.asked, sums.summary.counts, sums.summary.counts.sum()):
                found = known.get(_name(one))
                if found is None:
                    own.append(Counting(one, self.most, None))
                elif found.n_open:
                    own.append(Counting(one, max(self.most, 2 * found.n_open + 2), found.windows))
                    self.n_open += found.n_open
            self.sums.append(sums)
            self.counting.append(own)

    def part(self, source: ShardSource, own: ShardRecord, engine: Engine, memory: int) -> ClassPart:
        """Look again at the segments of one shard; see `deciban.engines.summary_parts.Refining.part`.

        Raises
        ------
        InputError
            If the shard is not among those that were counted, or is not what it was then.
        """
        require_counted(own, self.whole.shards)
        cells, sides = list[dict[str, KeyCells]](), list[dict[str, Sides]]()
        engine.make_room(source, memory // 2)
        for system, (sums, counting) in enumerate(zip(self.sums, self.counting, strict=True)):
            found: dict[str, KeyCells] = {}
            about = system, source.classes, source.has_weights
            for at in range(0, len(counting), _AT_ONCE):
                tally = ProblemTally(about, sums.problems.asked, counting[at : at + _AT_ONCE])
                done = engine.run(tally.empty(), source.pieces)
                found |= {_name(one.problem): one.cells for one in done.counting}
            cells.append(found)
            sides.append({_name(one.problem): one.problem.sides for one in counting})
        further = ClassFurther(self.most, (own.sha256,), tuple(sides), tuple(cells))
        totals = tuple(None if one is None else one.without_cells() for one in self.whole.totals)
        return replace(self.whole, totals=totals, further=further)


def _name(problem: Problem) -> str:
    return ".".join(map(str, problem.name))


def class_sums_of(part: ClassPart, system: int) -> ClassSums | None:
    """What adds up of one system; None without a segment."""
    question, totals = part.question, part.totals[system]
    figures, classes = question.figures, question.classes
    assert isinstance(figures, ClassFigures)  # noqa: S101  # they go with classes
    if totals is None:
        return None
    counts, numbers = totals.counts, [one.numbers[system] for one in part.shards if one.numbers[system]]
    costs = {name: _mean_costs([one[name] for one in numbers]) for name in _COSTS}
    alike = [one.get("alike") for one in numbers]
    first = alike[0]
    is_same = first is not None and all(one is not None and np.array_equal(one, first) for one in alike)
    same = first if is_same else None
    checks = ScoreChecks(**totals.hold, alike=same, n_wrong=int(counts["n_wrong"][0]), first_wrong=None)
    summary = ClassSummary(
        figures=figures,
        classes=classes,
        prior=figures.prior_of(classes),
        counts=counts["counts"],
        n_infinite=int(counts["n_infinite"][0]),
        confusion=counts["confusion"],
        problems=Kept((), None),
        accepted=counts.get("accepted"),
        checks=checks,
        posterior_odds=(),
        is_weighted=question.has_weights,
        **costs,  # type: ignore[arg-type]  # names of costs
    )
    asked = Asked.of(figures, classes, c_avg_places(figures))
    n = range(len(asked.rivals))
    problems = ProblemSums(
        asked,
        tuple(counts[f"accepted_{at}"] for at in n),
        tuple(_sums([one[f"costs_{at}"] for one in numbers]) for at in n),
        _sums([one["pairs"] for one in numbers]) if asked.has_pairs else None,
        counts["in_bins"],
    )
    return ClassSums(summary, problems, totals.shown, _subsets(figures, counts))


def _subsets(figures: ClassFigures, counts: Mapping[str, IntArray]) -> SubsetCounts | None:
    if "hits" not in counts:
        return None
    p_target = figures.p_target[0]
    return SubsetCounts(p_target / (1.0 - p_target), counts["totals"], counts["hits"], counts["alarms"])


def _mean_costs(parts: Sequence[FloatArray]) -> tuple[MeanCost, ...]:
    each = [[MeanCost(*row) for row in part.tolist()] for part in parts]
    return tuple(functools.reduce(MeanCost.__add__, of_class) for of_class in zip(*each, strict=True))


def _sums(parts: Sequence[FloatArray]) -> Sums:
    return functools.reduce(Sums.__add__, (Sums(one[0], one[1]) for one in parts))


def known_of(part: ClassPart, system: int, sums: ClassSums, name: str) -> dict[tuple[Any, ...], Refining]:
    """What is known of detectors, pairs and posteriors: cells of the first pass, or of further ones.

    Parameters
    ----------
    part : ClassPart
    system : int
    sums : ClassSums
        Its sums; every class has a segment.
    name : str
        What messages call the file.

    Raises
    ------
    FormatError
        If cells are missing that must be there.
    """
    asked, counts, totals = sums.problems.asked, sums.summary.counts, part.totals[system]
    assert totals is not None  # noqa: S101  # there are segments
    try:
        if part.known:
            of = part.known[system]
            return {one.name: of[_name(one)] for one in problems_of(asked, counts, int(counts.sum()))}
        problems = problems_by_class(asked, len(counts), int(counts.sum()))
        return {one.name: Refining.of(shared_sides(one, asked, counts), totals.cells[_name(one)]) for one in problems}
    except KeyError as error:
        raise FormatError(f"{name}: does not hold the cells of {error}. Summarize its shards again.") from error


def class_evaluation_of_part(sums: ClassSums, known: Mapping[tuple[Any, ...], Refining], name: str) -> ClassEvaluation:
    """The evaluation of what adds up: minima within bounds where cells are open.

    What calibration would gain over all classes needs the segments themselves, and has bounds in any case.

    Parameters
    ----------
    sums : ClassSums
        Every class has a segment.
    known : mapping of names of problems to Refining
        See `known_of`.
    name : str
        Of the system.
    """
    ranked = {problem: one for problem, one in known.items() if problem != ODDS}
    worst = with_problems(sums, known, {problem: one.pav for problem, one in ranked.items()}, None)
    best = with_problems(sums, known, {problem: one.best for problem, one in ranked.items()}, None)
    each = replace(best, posterior_odds=worst.posterior_odds)
    found = within_class_bounds(*(class_evaluation_of(one, name=name) for one in (worst, each)))
    if any(one.n_open for one in known.values()):
        return found
    return replace(found, notes=tuple(_EXACT if one == NOTE else one for one in found.notes))


_EXACT = (
    "What calibration would gain (min Cllr of all classes) needs training over all segments: it is certain to lie "
    "within the bounds in brackets. Other figures are exact."
)
