"""Multiclass evaluation of trials that do not fit in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from deciban._validate import classes as _validate_classes
from deciban._validate.classes import prior_of
from deciban.core.resampling.units import TrialUnits
from deciban.core.training.multiclass_training import ClassFit
from deciban.engines.class_problems import (
    UnitsAndStrata,
    confusion_in,
    grouped,
    summarize_surveyed,
    survey_classes,
    totals_of,
)
from deciban.engines.class_units import InfluencesInPieces
from deciban.errors import InputError
from deciban.evaluation.multiclass.evaluate import ClassTotals, GroupedProblem, class_evaluation_of
from deciban.evaluation.multiclass.figures import ClassFigures
from deciban.evaluation.multiclass.result import ClassEvaluation
from deciban.evaluation.multiclass.summary import ClassSummary, ScoreChecks
from deciban.evaluation.summary import Resampling
from deciban.io.recognition import memory_of
from deciban.memory import memory_error
from deciban.models.mapped import ordered
from deciban.models.sources import SourceClasses
from deciban.multiclass.costs import mixed
from deciban.multiclass.recalibration import (
    Best,
    CalibratedTrials,
    CalibrationLimits,
    ClassCalibration,
    given_up,
    no_worse,
)
from deciban.trials.passes import Engine
from deciban.trials.sources import ShardSource
from deciban.types import AnyArray
from deciban.workflows.options import Options


def calibration_in_pieces(
    summary: ClassSummary, source: ShardSource, engine: Engine, *, system: int, memory: int | None = None
) -> ClassCalibration:
    """Train the maps of calibration analysis on one system of a source.

    Parameters
    ----------
    summary : ClassSummary
        Sums over all trials.
    source : ShardSource
    engine : Engine
        Where passes run.
    system : int
    memory : int, optional
        Bytes that may be taken, which limit the sample.

    Returns
    -------
    ClassCalibration
        As `deciban.multiclass.calibration_analysis` finds at the flat prior, to about 1e-9. Where a map has no optimum
        (classes are separated, infinite scores decide), its limit takes some more passes.

    Raises
    ------
    FormatError, OSError
        As reading does.
    """
    data = SourceClasses(ordered(source, systems=[system]), engine, memory)  # at a flat prior
    total, every = mixed(summary.flat_surprise, data.prior), np.arange(data.n_classes)
    is_wrong = summary.checks.n_wrong > 0  # then nothing can be trained, and the first look at trials refuses them
    is_finite = not is_wrong and not data.counted.first.has_infinite
    given = CalibratedTrials(data.counted, is_finite=is_finite)
    limits = CalibrationLimits(given, every, data.n_classes, total, is_wrong=is_wrong)
    forms = [(True, True), (True, False), (False, True)]
    both, scaled, shifted = (_least(data, limits, scale=scale, offset=offset) for scale, offset in forms)
    return ClassCalibration.of(total, both, scaled, shifted, data.prior)


def _least(data: SourceClasses, limits: CalibrationLimits, *, scale: bool, offset: bool) -> Best:
    """Return what `CalibrationLimits.least` finds.

    Most maps have an optimum, which is found without looking for directions in which the cost falls forever.
    """
    if limits.total == 0.0 or limits.is_wrong:
        return limits.least(scale=scale, offset=offset)
    without = given_up(limits.total, data.prior, scale=scale)
    try:
        fit: ClassFit = limits.given.train(scale=scale, offset=offset)
    except InputError:
        return limits.least(scale=scale, offset=offset)
    if scale and fit.weights[0] <= 0.0:  # scores that say the opposite: of scales of at least 0, 0 is best
        return limits.least(scale=scale, offset=offset) if data.counted.first.has_infinite else without
    return no_worse(Best(fit.objective, float(fit.weights[0]) if scale else 1.0, fit.offsets), without)


def evaluate_class_pieces(
    source: ShardSource,
    engine: Engine,
    options: Options,
    units: TrialUnits | UnitsAndStrata | None = None,
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
    units : TrialUnits or UnitsAndStrata, optional
        All units, of no trial; without keys where every trial is one. There are no intervals without them. With
        strata where pieces tell of which stratum trials are.
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
    figures.require_parts()
    _refuse_optimism(source, options)

    def evaluated(
        source: ShardSource, figures: ClassFigures, who: UnitsAndStrata | None
    ) -> tuple[ClassEvaluation, ScoreChecks]:
        """Return the evaluation of classes, or of groups that are read as classes."""
        memory, how_sure = engine.bounded(options.scale.n_bytes), options.how_sure
        sums = survey_classes(source, engine, system=system, figures=figures, who=who)
        require(np.flatnonzero(() if sums is None else sums.summary.counts), source.classes)
        assert sums is not None  # noqa: S101  # without a segment there are none of any class
        calibration = calibration_in_pieces(sums.summary, source, engine, system=system, memory=memory)
        summary = summarize_surveyed(sums, source, engine, memory, system=system, calibration=calibration)
        found = class_evaluation_of(summary, name=name)
        if who is None or sums.units is None:
            return found, summary.checks
        resampling = Resampling(None, how_sure.level, bootstrap=how_sure.bootstrap, seed=how_sure.seed)
        influences = InfluencesInPieces(source, engine, memory, system, who, resampling)
        return replace(found, uncertainty=influences.uncertainty(sums.units, summary, found)), summary.checks

    who = UnitsAndStrata(units, np.arange(len(source.classes))) if isinstance(units, TrialUnits) else units
    if figures.groups is None:
        return evaluated(source, figures, who)[0]
    totals = totals_of(source, engine)
    require(np.flatnonzero(() if totals is None else totals.n_trials), source.classes)
    assert totals is not None  # noqa: S101  # without a segment there are none of any class
    _require_weight(figures, source.classes, totals)
    problem = GroupedProblem.of(figures, figures.groups, source.classes, totals)
    home = problem.grouping.home
    who = None if who is None else replace(who, home=home[home >= 0])
    found, checks = evaluated(grouped(source, problem), problem.figures, who)
    counted = found.confusion
    if problem.has_weights or totals.has_weights:
        counted = confusion_in(source, engine, problem, system=system)
    return problem.finished(found, checks, counted)


def _require_weight(figures: ClassFigures, classes: tuple[str, ...], totals: ClassTotals) -> None:
    """Refuse classes of a positive prior whose segments weigh nothing."""
    needed = None if figures.prior is None else prior_of(figures.prior, classes) > 0
    there = np.arange(len(classes)), (totals.totals > 0).astype(np.int64)
    _validate_classes.all_classes(there[0], len(classes), weights=there[1], needed=needed, classes=classes)


def _refuse_optimism(source: ShardSource, options: Options) -> None:
    """Refuse corrected minima, with the memory that they take.

    Raises
    ------
    InputError
        If they are asked for.
    """
    if not (options.how_sure.intervals and options.how_sure.optimism):
        return
    what = f"optimism: corrected minima of multiclass evaluations need all {source.n_rows:,} segments in memory"
    raise memory_error(what, needed=memory_of(source.paths) or None, way="leave it out")
