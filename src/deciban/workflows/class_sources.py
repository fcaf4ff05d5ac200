"""Evaluation of many classes in pieces: the figures of segments that do not fit in memory, and what they lack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deciban._validate import classes as _validate_classes
from deciban._validate.classes import prior_of
from deciban.core.resampling.units import TrialUnits
from deciban.engines.class_counting import (
    ClassSums,
    confusion_in,
    grouped,
    summarize_once,
    summarize_surveyed,
    survey_classes,
    totals_of,
)
from deciban.engines.class_units import InfluencesInPieces, WhoIsIn
from deciban.evaluation.multiclass.class_bounds import within_class_bounds
from deciban.evaluation.multiclass.evaluate import class_evaluation_of
from deciban.evaluation.multiclass.figures import ClassFigures
from deciban.evaluation.multiclass.groups import ClassTotals, GroupedProblem
from deciban.evaluation.multiclass.result import ClassEvaluation
from deciban.evaluation.multiclass.summands import ScoreChecks
from deciban.evaluation.unit_trials import Resampling
from deciban.memory import memory_error
from deciban.models.class_limits import calibration_in_pieces
from deciban.trials.passes import Engine
from deciban.trials.sources import ShardSource
from deciban.types import AnyArray
from deciban.workflows.options import Options


def evaluate_class_pieces(
    source: ShardSource,
    engine: Engine,
    options: Options,
    units: TrialUnits | WhoIsIn | None = None,
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
    units : TrialUnits or WhoIsIn, optional
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
    _refuse(options)
    asked = _Asked(engine, options, system, name, require)
    who = WhoIsIn(units, np.arange(len(source.classes))) if isinstance(units, TrialUnits) else units
    if figures.groups is None:
        return asked.evaluated(source, figures, who)[0]
    totals = totals_of(source, engine)
    require(np.flatnonzero(() if totals is None else totals.n_trials), source.classes)
    assert totals is not None  # noqa: S101  # without a segment there are none of any class
    _require_weight(figures, source.classes, totals)
    problem = GroupedProblem.of(figures, figures.groups, source.classes, totals)
    home = problem.grouping.home
    who = None if who is None else replace(who, home=home[home >= 0])
    found, checks = asked.evaluated(grouped(source, problem), problem.figures, who)
    counted = found.confusion
    if problem.has_weights or totals.has_weights:
        counted = confusion_in(source, engine, problem, system=system)
    return problem.finished(found, checks, counted)


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """What is asked of a system, be it of classes or of groups."""

    engine: Engine
    options: Options
    system: int
    name: str
    require: Callable[[AnyArray, Sequence[str]], None]

    def evaluated(
        self, source: ShardSource, figures: ClassFigures, who: WhoIsIn | None
    ) -> tuple[ClassEvaluation, ScoreChecks]:
        """The evaluation of classes, or of groups that are read as classes."""
        engine, options = self.engine, self.options

        def required(found: ClassSums | None) -> ClassSums:
            self.require(np.flatnonzero(() if found is None else found.summary.counts), source.classes)
            assert found is not None  # noqa: S101  # without a segment there are none of any class
            return found

        memory, how = engine.bounded(options.scale.n_bytes), {"system": self.system, "figures": figures, "who": who}
        if options.scale.approximate:
            sums, summary, best = summarize_once(source, engine, memory, required, **how)  # type: ignore[arg-type]
            found = within_class_bounds(*(class_evaluation_of(one, name=self.name) for one in (summary, best)))
        else:
            sums = required(survey_classes(source, engine, **how))  # type: ignore[arg-type]
            calibration = calibration_in_pieces(sums.summary, source, engine, system=self.system, memory=memory)
            summary = summarize_surveyed(sums, source, engine, memory, system=self.system, calibration=calibration)
            found = class_evaluation_of(summary, name=self.name)
        if who is None or sums.units is None:
            return found, summary.checks
        how_sure = options.how_sure
        resampling = Resampling(None, how_sure.level, bootstrap=how_sure.bootstrap, seed=how_sure.seed)
        influences = InfluencesInPieces(source, engine, memory, self.system, who, resampling)
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
    if options.how_sure.intervals and options.how_sure.optimism:
        what = "optimism: corrected minima of many classes need all segments in memory, and these are read in pieces"
        raise memory_error(what, way="leave it out")
