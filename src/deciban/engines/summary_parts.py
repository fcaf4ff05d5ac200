"""Parts of summaries: counted from shards by one pass, refined by a second, and made into a summary of everything."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from deciban.core.ranks.pruning import told_apart, windows_of
from deciban.engines.counting import Survey
from deciban.engines.pruning import Keep, bounded_summary, refined_by, rows_at_once, rows_to_keep, tally_of
from deciban.engines.work import Engine
from deciban.errors import FormatError, InputError
from deciban.evaluation.bounds import require_bounded
from deciban.evaluation.summary import Summary
from deciban.io.memory import LIBRARIES
from deciban.io.shards.pieces import ShardSource
from deciban.io.source import PathLike
from deciban.io.summary_parts import SummaryPart
from deciban.io.summary_records import Question, ShardRecord, Sums
from deciban.messages import shortened
from deciban.trials.joining.join import require_two_classes

ROOM = 1 << 18
"""Cells of a summary in a file: the same for all jobs."""

_BYTES_PER_CELL, _THRIFTY = 1200, 500
"""What a cell takes, with what merging needs: where others may wait to be merged, and where they may not."""


def identified(path: PathLike, n_rows: int, sums: Sequence[Sums] = ()) -> ShardRecord:
    """The record of a file, by its content."""
    with Path(path).open("rb") as stream:
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
    return ShardRecord(Path(path).name, n_rows, Path(path).stat().st_size, sha256, tuple(sums))


def counted_part(source: ShardSource, path: PathLike, question: Question, engine: Engine, memory: int) -> SummaryPart:
    """Count the trials of one shard.

    Parameters
    ----------
    source : ShardSource
        The shard, opened.
    path : path
        Its file.
    question : Question
    engine : Engine
    memory : int
        Bytes that may be taken.

    Raises
    ------
    InputError
        If that is too little for the cells of a summary.
    """
    cells, sums, own = [], [], _memory_of_cells(question, memory, source.name)
    engine.make_room(source, memory, beside=own)
    for system in range(len(question.systems)):
        tally = tally_of(system, question.figures, np.dtype(question.scores), question.room)
        tally.most_waiting = 3 if own > question.room * _THRIFTY else 1
        tally.rows_per_batch = rows_at_once(source, engine, memory - own)
        tally = engine.run(tally, source.pieces)
        survey = tally.survey
        cells.append(tally.merged())
        costs, finite = (survey.costs[0], survey.costs[1]), survey.finite
        sums.append(Sums((survey.n[0], survey.n[1]), costs, tuple(survey.posteriors), finite))
    return SummaryPart(question, (identified(path, source.n_rows, sums),), tuple(cells))


def _memory_of_cells(question: Question, memory: int, name: str) -> int:
    """Bytes for the cells of a summary: more of them may wait to be merged where more may be taken."""
    needed = question.room * _THRIFTY
    if needed > memory * 3 // 4:
        raise InputError(
            f"memory: a summary of {name} counts trials in up to {question.room:,} cells, whatever their number, which "
            f"takes {(needed * 4 / 3 + LIBRARIES) / 1e6:,.0f} MB with Python and its libraries. Allow that (memory=, "
            "--memory)."
        )
    roomy = question.room * _BYTES_PER_CELL
    return roomy if roomy <= memory // 2 else needed


def refined_part(source: ShardSource, path: PathLike, whole: SummaryPart, engine: Engine, memory: int) -> SummaryPart:
    """Keep the scores of one shard in the cells that can matter.

    Parameters
    ----------
    source, path
        As for `counted_part`.
    whole : SummaryPart
        The merged counts of all shards.
    engine, memory
        As for `counted_part`.

    Raises
    ------
    InputError
        If the shard is not among those that were counted, or is not what it was then.
    """
    own = identified(path, source.n_rows)
    if own.sha256 not in {one.sha256 for one in whole.shards}:
        same = [one for one in whole.shards if one.name == own.name]
        why = "has changed since it was counted" if same else "was not counted"
        raise InputError(f"{own.name}: {why}: its content is none of the summary to refine by. Summarize it first.")
    kind, kept = np.dtype(whole.question.scores), []
    beside = _memory_of_cells(whole.question, memory, source.name)
    engine.make_room(source, memory, beside=beside)
    for system, cells in enumerate(whole.cells):
        apart = told_apart(cells)
        windows = windows_of(apart, rows_to_keep(apart, survey_of(whole, system)))
        keep = Keep(system, windows, kind)
        keep.rows_per_batch = rows_at_once(source, engine, memory - beside)
        non, tar = engine.run(keep, source.pieces).scores()
        kept.append((non + kind.type(0.0), tar + kind.type(0.0)))
    return SummaryPart(whole.question, whole.shards, whole.cells, (own.sha256,), tuple(kept))


def survey_of(part: SummaryPart, system: int) -> Survey:
    """What the first pass adds up, as the engine has it."""
    sums = part.sums(system)
    asked = part.question
    survey = Survey(system, keep_tar=True, figures=asked.figures, kind=np.dtype(asked.scores), most=0)
    survey.n, survey.costs, survey.posteriors = list(sums.n), list(sums.costs), list(sums.posteriors)
    survey.finite, survey.kept = sums.finite, None
    return survey


def summary_of(part: SummaryPart, system: int, name: str) -> Summary:
    """The summary of a system: exact after two passes, within bounds after one.

    Parameters
    ----------
    part : SummaryPart
    system : int
    name : str
        What messages call the file.

    Raises
    ------
    KeyMismatchError
        If all trials are of one class.
    InputError
        If the second pass has not seen all shards, or figures were asked for that have no bounds after the first.
    FormatError
        If scores are missing that must be there.
    """
    cells, survey = told_apart(part.cells[system]), survey_of(part, system)
    require_two_classes(survey.n, name)
    if not part.refined:
        require_bounded(part.question.figures)
        return bounded_summary(cells, survey)
    if missing := part.unrefined:
        raise InputError(
            f"{name}: {len(missing)} of {len(part.shards)} shards are missing: the second pass has not seen "
            f"{shortened(', '.join(missing))}. Refine these, too, and merge all."
        )
    kept, scores = rows_to_keep(cells, survey), part.kept[system]
    if [len(one) for one in scores] != cells.counts[:, kept].sum(axis=1).tolist():
        raise FormatError(f"{name}: does not hold the scores that its counts ask for. Refine its shards again.")
    return refined_by(cells, survey, kept, scores)
