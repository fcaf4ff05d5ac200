"""Parts of summaries of many classes: counted from shards by one pass, and made into a summary of all."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from deciban.core.classes.subsets import SubsetCounts
from deciban.core.rules.expected import MeanCost
from deciban.core.training.sums import Sums
from deciban.engines.class_counting import ClassSums, survey_classes
from deciban.engines.work import Engine
from deciban.evaluation.multiclass.evaluate import class_evaluation_of
from deciban.evaluation.multiclass.figures import ClassFigures
from deciban.evaluation.multiclass.problem_sums import Asked, CountedProblems, ProblemSums
from deciban.evaluation.multiclass.result import ClassEvaluation
from deciban.evaluation.multiclass.summands import Kept, ScoreChecks
from deciban.evaluation.multiclass.summary import ClassSummary, WholeOnly, c_avg_places
from deciban.evaluation.reliability import PooledOdds
from deciban.io.class_summary_parts import ClassPart, ClassShard, ClassTotals
from deciban.io.shards.pieces import ShardSource
from deciban.io.summary_records import Question, ShardRecord
from deciban.multiclass.analysis import subset_costs_of
from deciban.multiclass.costs import mixed
from deciban.multiclass.recalibration import ClassCalibration
from deciban.types import FloatArray, IntArray

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
    same = alike[0] if all(one is not None and np.array_equal(one, alike[0]) for one in alike) else None
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


def class_evaluation_of_part(sums: ClassSums, name: str) -> ClassEvaluation:
    """The evaluation of what adds up: what needs the segments themselves is not known.

    Parameters
    ----------
    sums : ClassSums
        Every class has a segment.
    name : str
        Of the system.
    """
    summary, asked, n = sums.summary, sums.problems.asked, len(sums.summary.classes)
    unknown = tuple((None,) * n for _ in asked.rivals)
    pairs = {(i, j): None for i in range(1, n) for j in range(i)} if asked.has_pairs else {}
    failed, happened = (np.asarray(asked.prior / summary.counts @ counts) for counts in sums.problems.in_bins)
    nothing = np.zeros(0)
    flat = np.full(n, 1.0 / n)
    none = dict.fromkeys(("minimum", "after_offset_only", "after_scale_only", "scale"), math.nan)
    total = mixed(summary.flat_surprise, flat) / math.log(2)
    calibration = ClassCalibration(total=total, reference=math.log2(n), offset=np.full(n, np.nan), **none)
    subsets = None if sums.subsets is None else subset_costs_of(sums.subsets, summary.classes)
    shown = None if sums.shown is None else (sums.shown.loglik, sums.shown.label)
    whole = replace(
        summary,
        problems=CountedProblems(summary.counts, sums.problems, unknown, pairs),
        posterior_odds=PooledOdds(*[nothing] * 4, happened, failed),
        whole=WholeOnly(calibration, subsets, shown),
    )
    found = class_evaluation_of(whole, name=name)
    note = "Minima of detectors and pairs (by PAV) are not known of a summary: they need the segments themselves."
    return replace(found, notes=(*found.notes, note))
