"""The evaluation of one system in pieces, in which nothing was asked that was not counted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deciban.core.ranks.gaps import GapClass
from deciban.engines.counting import summarize_shards
from deciban.engines.work import Engine
from deciban.errors import InputError
from deciban.evaluation.results import Evaluation
from deciban.evaluation.summary import Summary, TwoClassFigures
from deciban.evaluation.two_class import evaluation_of
from deciban.evaluation.unit_trials import Resampling, TrialsByUnit
from deciban.io.shards.pieces import ShardSource
from deciban.types import FloatArray

_MOST_ROUNDS = 4
"""Counts of all trials, each with the thresholds that the one before did not know."""


def evaluate_system(
    source: ShardSource,
    engine: Engine,
    memory: int,
    *,
    system: int = 0,
    figures: TwoClassFigures | None = None,
    approximate: bool = False,
    by_unit: tuple[TrialsByUnit | None, Resampling] | None = None,
) -> Evaluation:
    """Evaluate one system of a source of two classes.

    Thresholds at which figures ask how many trials are below are counted beforehand. If one was not, everything is
    counted again with it, so that no number is a guess.

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
    approximate : bool
        Whether one pass is enough: then figures of ranks have bounds.
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
    also, (units, resampling) = np.zeros(0), by_unit or (None, None)
    for _ in range(_MOST_ROUNDS):
        how = {"system": system, "figures": figures, "approximate": approximate, "also": also}
        summary = summarize_shards(source, engine, memory, **how)  # type: ignore[arg-type]
        if source.weights_are_counts:
            summary = replace(summary, is_weighted=False)
        found = evaluation_of(replace(summary, units=units), name=source.systems[system], resampling=resampling)
        unknown = unknown_thresholds(summary)
        if approximate or not len(unknown):
            return found
        also = np.union1d(also, unknown)
    raise InputError(
        f"{source.name}: after {_MOST_ROUNDS} counts of all trials figures still ask at {len(unknown):,} thresholds "
        f"that were not counted, such as {unknown[0]:g}. Allow enough memory to read the trials as a whole (memory=, "
        "--memory)."
    )


def unknown_thresholds(summary: Summary) -> FloatArray:
    """Thresholds at which the classes of a summary were asked how many trials are below, and did not know.

    Examples
    --------
    >>> from deciban.evaluation.summary import summarize
    >>> unknown_thresholds(summarize([1.0], [0.0])).tolist()
    []
    """
    classes = (summary.ranks.tar, summary.ranks.non)
    missed = [one for c in classes if isinstance(c, GapClass) for one in c.missed]
    return np.unique(np.concatenate([np.zeros(0), *missed]))
