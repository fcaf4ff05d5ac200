"""Parts of summaries of many classes: counted from shards by one pass, and made into a summary of all."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from deciban.core.classes.subsets import SubsetCounts
from deciban.core.ranks.key_cells import KeyCells, Refining, Sides
from deciban.core.rules.expected import MeanCost
from deciban.core.training.sums import Sums
from deciban.engines.class_counting import ClassSums, survey_classes
from deciban.engines.class_problems import Counting, Problem, ProblemTally, problems_of
from deciban.engines.summary_parts import MEMORY, require_counted
from deciban.engines.work import Engine
from deciban.errors import InputError
from deciban.evaluation.multiclass.evaluate import class_evaluation_of
from deciban.evaluation.multiclass.figures import ClassFigures
from deciban.evaluation.multiclass.problem_sums import Asked, CountedProblems, ProblemSums
from deciban.evaluation.multiclass.result import ClassEvaluation
from deciban.evaluation.multiclass.summands import Kept, ScoreChecks
from deciban.evaluation.multiclass.summary import ClassSummary, WholeOnly, c_avg_places
from deciban.evaluation.reliability import PooledOdds
from deciban.io.class_summary_parts import ClassFurther, ClassPart, ClassShard, ClassTotals
from deciban.io.shards.pieces import ShardSource
from deciban.io.summary_records import Question, ShardRecord
from deciban.multiclass.analysis import subset_costs_of
from deciban.multiclass.costs import mixed
from deciban.multiclass.recalibration import ClassCalibration
from deciban.types import FloatArray, IntArray

_BYTES_PER_CELL = 100_000
"""Of the memory that may be taken: there are many problems."""

_FEWEST_CELLS, _MOST_CELLS = 1 << 12, 1 << 14

_AT_ONCE = 32
"""Problems that are counted in one pass over a shard."""

_COSTS = ("surprise", "flat_surprise", "quadratic")


def counted_class_part(source: ShardSource, own: ShardRecord, question: Question, engine: Engine) -> ClassPart:
    """Count the segments of one shard; see `deciban.engines.summary_parts.counted_part`."""
    assert isinstance(question.figures, ClassFigures)  # noqa: S101  # they go with classes
    totals, numbers = list[ClassTotals | None](), list[Mapping[str, FloatArray]]()
    for system in range(len(question.systems)):
        found = survey_classes(source, engine, system=system, figures=question.figures)
        totals.append(None if found is None else _totals(found))
        numbers.append({} if found is None else _numbers(found))
    shard = ClassShard(own.name, own.n_rows, own.size, own.sha256, (), tuple(numbers))
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
            about = system, source.classes, False
            for at in range(0, len(counting), _AT_ONCE):
                tally = ProblemTally(about, sums.problems.asked, counting[at : at + _AT_ONCE])
                done = engine.run(tally.empty(), source.pieces)
                found |= {_name(one.problem): one.cells for one in done.counting}
            cells.append(found)
            sides.append({_name(one.problem): one.problem.sides for one in counting})
        further = ClassFurther(self.most, (own.sha256,), tuple(sides), tuple(cells))
        return replace(self.whole, further=further)


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
        is_weighted=False,
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


def class_evaluation_of_part(sums: ClassSums, known: Mapping[str, Refining], name: str) -> ClassEvaluation:
    """The evaluation of what adds up: what needs the segments themselves is not known.

    Parameters
    ----------
    sums : ClassSums
        Every class has a segment.
    known : mapping of str to Refining
        What is known of detectors, pairs and posteriors.
    name : str
        Of the system.
    """
    pavs = {problem: one.pav for problem, one in known.items() if not one.n_open}
    summary, asked, n = sums.summary, sums.problems.asked, len(sums.summary.classes)
    detectors = tuple(tuple(pavs.get(f"detector.{at}.{k}") for k in range(n)) for at in range(len(asked.rivals)))
    both = [(i, j) for i in range(1, n) for j in range(i)] if asked.has_pairs else []
    pairs = {(i, j): pavs.get(f"pair.{i}.{j}") for i, j in both}
    failed, happened = (np.asarray(asked.prior / summary.counts @ counts) for counts in sums.problems.in_bins)
    none = np.zeros(0)
    right, wrong, low, high = known["odds"].blocks if "odds" in pavs else (none, none, none, none)
    flat = np.full(n, 1.0 / n)
    unknown = dict.fromkeys(("minimum", "after_offset_only", "after_scale_only", "scale"), math.nan)
    total = mixed(summary.flat_surprise, flat) / math.log(2)
    calibration = ClassCalibration(total=total, reference=math.log2(n), offset=np.full(n, np.nan), **unknown)
    subsets = None if sums.subsets is None else subset_costs_of(sums.subsets, summary.classes)
    shown = None if sums.shown is None else (sums.shown.loglik, sums.shown.label)
    whole = replace(
        summary,
        problems=CountedProblems(summary.counts, sums.problems, detectors, pairs),
        posterior_odds=PooledOdds(np.asarray(right), np.asarray(wrong), low, high, happened, failed),
        whole=WholeOnly(calibration, subsets, shown),
    )
    found = class_evaluation_of(whole, name=name)
    if len(pavs) == len(asked.rivals) * n + len(both) + 1:
        return found
    note = (
        "Minima of detectors and pairs (by PAV) are not known yet: further passes over the shards find them (--refine)."
    )
    return replace(found, notes=(*found.notes, note))
