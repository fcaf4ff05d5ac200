"""The evaluation of one system in pieces."""

from __future__ import annotations

from dataclasses import replace

from deciban.engines.counting import summarize_shards
from deciban.evaluation.results import Evaluation
from deciban.evaluation.summary import TwoClassFigures
from deciban.evaluation.two_class import evaluation_of
from deciban.evaluation.unit_trials import Resampling, TrialsByUnit
from deciban.trials.passes import Engine
from deciban.trials.sources import ShardSource


def evaluate_system(
    source: ShardSource,
    engine: Engine,
    memory: int,
    *,
    system: int = 0,
    figures: TwoClassFigures | None = None,
    by_unit: tuple[TrialsByUnit | None, Resampling] | None = None,
) -> Evaluation:
    """Evaluate one system of a source of two classes.

    Parameters
    ----------
    source : ShardSource
    engine : Engine
        Where passes run.
    memory : int
        Bytes that may be taken.
    system : int
        Position of the system.
    figures : TwoClassFigures, optional
        What is asked for.
    by_unit : pair of TrialsByUnit and Resampling, optional
        The trials with their units, and what intervals are wanted.

    Returns
    -------
    Evaluation
        That of the same trials in memory.

    Raises
    ------
    InputError
        If a class has no trial, or memory is too small for what is asked.
    FormatError, OSError
        As reading does.
    """
    units, resampling = by_unit or (None, None)
    summary = summarize_shards(source, engine, memory, system=system, figures=figures)
    if source.weights_are_counts:
        summary = replace(summary, is_weighted=False)
    return evaluation_of(replace(summary, units=units), name=source.systems[system], resampling=resampling)
