"""The evaluation of one system in pieces, in which nothing was asked that was not counted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deciban.core.ranks.gaps import GapClass
from deciban.engines.counting import summarize_shards
from deciban.errors import InputError
from deciban.evaluation.results import Evaluation
from deciban.evaluation.summary import Summary, TwoClassFigures, summarize
from deciban.evaluation.two_class import evaluation_of
from deciban.evaluation.unit_trials import Resampling, TrialsByUnit
from deciban.trials.joining.join import require_two_classes
from deciban.trials.passes import Engine, found_in
from deciban.trials.sources import Chunk, ShardSource, Wanted
from deciban.trials.speakers import counting
from deciban.types import FloatArray

_BYTES_PER_ROW = 150
"""What a row of a summary takes in memory, with what is made of it."""

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
    if source.is_summary and source.n_rows * _BYTES_PER_ROW <= memory and not approximate:
        summary = replace(_summarized_at_once(source, engine, system, figures), units=units)
        return evaluation_of(summary, name=source.systems[system], resampling=resampling)
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


def _summarized_at_once(source: ShardSource, engine: Engine, system: int, figures: TwoClassFigures | None) -> Summary:
    """Sort the rows of summaries of shards in memory."""
    wanted = Wanted((system,), truth=True, weight=source.has_weights)
    parts: list[Chunk] = found_in(source, engine, wanted, _counting_alone, "counting") or []
    scores, truth = np.concatenate([one.scores[0] for one in parts]), np.concatenate([one.truth for one in parts])
    require_two_classes(
        [int(np.count_nonzero(truth == c)) for c in (0, 1)], source.name, has_weights=source.has_weights
    )
    weights = np.concatenate([one.weight for one in parts]) if source.has_weights else None
    tar, non = ((scores[some], None if weights is None else weights[some]) for some in (truth, ~truth))
    found = summarize(tar[0], non[0], figures=figures, tar_weights=tar[1], non_weights=non[1])
    return replace(found, is_weighted=found.is_weighted and not source.weights_are_counts)


def _counting_alone(chunk: Chunk) -> list[Chunk]:
    return [counting(chunk)]


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
