"""Evaluation of many classes in pieces: the figures of segments that do not fit in memory, and what they lack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from deciban._validate import classes as _validate_classes
from deciban._validate.classes import prior_of
from deciban.core.resampling.units import TrialUnits
from deciban.engines.class_bounds import summarize_once
from deciban.engines.class_counting import ClassSums, summarize_surveyed, survey_classes
from deciban.engines.class_units import InfluencesInPieces, WhoIsIn
from deciban.engines.grouped import confusion_in, grouped, totals_of
from deciban.engines.work import Engine
from deciban.errors import InputError
from deciban.evaluation.multiclass.class_bounds import within_class_bounds
from deciban.evaluation.multiclass.evaluate import class_evaluation_of
from deciban.evaluation.multiclass.figures import ClassFigures
from deciban.evaluation.multiclass.groups import ClassTotals, GroupedProblem
from deciban.evaluation.multiclass.result import ClassEvaluation
from deciban.evaluation.multiclass.summands import ScoreChecks
from deciban.io.shards.pieces import ShardSource
from deciban.models.class_calibration import calibration_in_pieces
from deciban.types import AnyArray
from deciban.workflows.options import Options


def evaluate_class_pieces(
    source: ShardSource,
    engine: Engine,
    options: Options,
    units: TrialUnits | None = None,
    *,
    system: int,
    name: str,
    require: Callable[[AnyArray, Sequence[str]], None],
) -> ClassEvaluation:
    """Evaluate one system of a source of many classes.

    Parameters
    ----------
    source : ShardSource
    engine : Engine
        Where passes run.
    options : Options
    units : TrialUnits, optional
        All units, of no trial; without keys where every trial is one. There are no intervals without them.
    system : int
        Position of the system.
    name : str
        What it is called.
    require : callable
        Refuses classes without a segment: told of which classes some are, and the names of all.

    Returns
    -------
    ClassEvaluation

    Raises
    ------
    FormatError, OSError
        As reading does.
    InputError
        If something is asked for that needs all segments in memory, or a class has none.
    """
    figures = ClassFigures(**options.figures.given())
    _refuse(options)
    how: Any = {"system": system, "name": name}
    if figures.groups is None:
        who = None if units is None else WhoIsIn(units, np.arange(len(source.classes)))
        found, _ = _evaluated(source, engine, options, figures, who, require=require, **how)
        return found
    totals = totals_of(source, engine)
    require(np.flatnonzero(() if totals is None else totals.n_trials), source.classes)
    assert totals is not None  # noqa: S101  # without a segment there are none of any class
    _require_weight(figures, source.classes, totals)
    problem = GroupedProblem.of(figures, figures.groups, source.classes, totals)
    home = problem.grouping.home
    who = None if units is None else WhoIsIn(units, home[home >= 0])
    found, checks = _evaluated(grouped(source, problem), engine, options, problem.figures, who, require=require, **how)
    counted = found.confusion
    if problem.has_weights or totals.has_weights:
        counted = confusion_in(source, engine, problem, system=system)
    return problem.finished(found, checks, counted)


def _evaluated(
    source: ShardSource,
    engine: Engine,
    options: Options,
    figures: ClassFigures,
    who: WhoIsIn | None,
    *,
    system: int,
    name: str,
    require: Callable[[AnyArray, Sequence[str]], None],
) -> tuple[ClassEvaluation, ScoreChecks]:
    """The evaluation of classes, or of groups that are read as classes."""

    def required(found: ClassSums | None) -> ClassSums:
        require(np.flatnonzero(() if found is None else found.summary.counts), source.classes)
        assert found is not None  # noqa: S101  # without a segment there are none of any class
        return found

    memory, how = engine.bounded(options.scale.n_bytes), {"system": system, "figures": figures, "who": who}
    if options.scale.approximate:
        sums, summary, best = summarize_once(source, engine, memory, required, **how)  # type: ignore[arg-type]
        found = within_class_bounds(*(class_evaluation_of(one, name=name) for one in (summary, best)))
    else:
        sums = required(survey_classes(source, engine, **how))  # type: ignore[arg-type]
        calibration = calibration_in_pieces(sums.summary, source, engine, system=system)
        summary = summarize_surveyed(sums, source, engine, memory, system=system, calibration=calibration)
        found = class_evaluation_of(summary, name=name)
    if who is None or sums.units is None:
        return found, summary.checks
    influences = InfluencesInPieces(source, engine, memory, system, who, options.how_sure.level)
    return replace(found, uncertainty=influences.uncertainty(sums.units, summary, found)), summary.checks


def _require_weight(figures: ClassFigures, classes: tuple[str, ...], totals: ClassTotals) -> None:
    """Refuse classes of a positive prior whose segments weigh nothing."""
    needed = None if figures.prior is None else prior_of(figures.prior, classes) > 0
    there = np.arange(len(classes)), (totals.totals > 0).astype(np.int64)
    _validate_classes.all_classes(there[0], len(classes), weights=there[1], needed=needed, classes=classes)


def _refuse(options: Options) -> None:
    """Refuse what only segments in memory are asked, rather than overlook it.

    Raises
    ------
    InputError
        If there is such.
    """
    how_sure, wanted = options.how_sure, list[str]()
    if how_sure.intervals and (how_sure.bootstrap or how_sure.optimism):
        wanted.append(
            "bootstrap, optimism: replicates and corrected minima of many classes need all segments in memory"
        )
    if wanted:
        raise InputError(
            f"{'; '.join(wanted)}, and these are read in pieces. Leave it out, or allow more memory (memory=, "
            "--memory)."
        )
