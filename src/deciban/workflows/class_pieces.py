"""Evaluation of many classes in pieces: the figures of segments that do not fit in memory, and what they lack."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from deciban.engines.class_counting import summarize_surveyed, survey_classes
from deciban.engines.work import Engine
from deciban.errors import InputError
from deciban.evaluation.multiclass.evaluate import class_evaluation_of
from deciban.evaluation.multiclass.figures import ClassFigures
from deciban.evaluation.multiclass.result import ClassEvaluation
from deciban.io.shards.pieces import ShardSource
from deciban.models.class_calibration import calibration_in_pieces
from deciban.types import AnyArray
from deciban.workflows.options import Options


def evaluate_class_pieces(
    source: ShardSource,
    engine: Engine,
    options: Options,
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
    _refuse(options, figures)
    sums = survey_classes(source, engine, system=system, figures=figures)
    require(np.flatnonzero(() if sums is None else sums.summary.counts), source.classes)
    assert sums is not None  # noqa: S101  # without a segment there are none of any class
    memory = engine.bounded(options.scale.n_bytes)
    calibration = calibration_in_pieces(sums.summary, source, engine, system=system, memory=memory)
    summary = summarize_surveyed(sums, source, engine, memory, system=system, calibration=calibration)
    return class_evaluation_of(summary, name=name)


def _refuse(options: Options, figures: ClassFigures) -> None:
    """Refuse what only segments in memory are asked, rather than overlook it.

    Raises
    ------
    InputError
        If there is such.
    """
    how_sure, wanted = options.how_sure, list[str]()
    if options.scale.approximate:
        wanted.append("approximate: bounds after one pass are those of two classes")
    if figures.groups is not None:
        wanted.append("groups: groups of classes need all segments in memory")
    if how_sure.intervals and (how_sure.units is not None or how_sure.bootstrap or how_sure.optimism):
        wanted.append("units, bootstrap, optimism: intervals of many classes need all segments in memory")
    if wanted:
        raise InputError(
            f"{'; '.join(wanted)}, and these are read in pieces. Leave it out, or allow more memory (memory=, "
            "--memory)."
        )
