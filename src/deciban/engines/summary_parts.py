"""Parts of summaries: counted from shards by one pass, refined by further ones, and made into a summary of all."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from deciban.core.ranks.kept_scores import KeptScores
from deciban.core.ranks.pruning import to_split, told_apart, windows_of
from deciban.core.ranks.score_cells import ScoreCells
from deciban.engines.counting import Survey
from deciban.engines.pruning import (
    BYTES_PER_SCORE,
    FINER,
    CellTally,
    Keep,
    bounded_summary,
    refined_by,
    room_in,
    rows_at_once,
    rows_to_keep,
    survey_of_all,
    tally_of,
)
from deciban.engines.work import Engine
from deciban.errors import FormatError, InputError
from deciban.evaluation.bounds import require_bounded
from deciban.evaluation.summary import Summary
from deciban.io.class_summary_parts import ClassPart
from deciban.io.memory import LIBRARIES
from deciban.io.shards.pieces import ShardSource
from deciban.io.source import PathLike
from deciban.io.summary_parts import Further, SummaryPart
from deciban.io.summary_records import Question, ShardRecord, Sums
from deciban.messages import shortened
from deciban.trials.joining.join import require_two_classes

ROOM = 1 << 18
"""Cells of a summary in a file, where nothing is said about memory: the same for all jobs."""

MOST_ROOM = 1 << 19
"""Finer cells of a further pass, at most."""

MEMORY = 2_000_000_000
"""Bytes that jobs may take where nothing is said: not a share of what is free, as jobs on all machines must agree."""

_BYTES_PER_CELL, _THRIFTY = 1200, 500
"""What a cell takes, with what merging needs: where others may wait to be merged, and where they may not."""


def room_within(memory: int | None) -> int:
    """Cells of which there is room within so many bytes; None where nothing is said.

    Examples
    --------
    >>> room_within(None), room_within(100_000_000)
    (262144, 62500)
    """
    return ROOM if memory is None else min(room_in(memory), ROOM)


def identified(source: ShardSource, path: PathLike, key: PathLike | None = None) -> ShardRecord:
    """The record of a shard, which is known by its content: of its file, and of its key if it has one."""
    found = hashlib.sha256()
    for one in (path,) if key is None else (path, key):
        own = sorted(Path(one).rglob("*.parquet")) if Path(one).is_dir() else [Path(one)]
        for file in own:
            with file.open("rb") as stream:
                found.update(hashlib.file_digest(stream, "sha256").digest())
    return ShardRecord(Path(path).name, source.n_rows, Path(path).stat().st_size, found.hexdigest(), ())


def counted_part(source: ShardSource, own: ShardRecord, question: Question, engine: Engine, memory: int) -> SummaryPart:
    """Count the trials of one shard.

    Parameters
    ----------
    source : ShardSource
        The shard, opened.
    own : ShardRecord
        By what it is known: made before it is read, so that a change in between is seen.
    question : Question
    engine : Engine
    memory : int
        Bytes that may be taken.

    Raises
    ------
    InputError
        If that is too little for the cells of a summary.
    """
    cells, sums = [], []
    kind, taken = np.dtype(question.scores), _memory_of_cells(question.room, memory, source.name)
    engine.make_room(source, memory, beside=taken)
    for system in range(len(question.systems)):
        tally = tally_of(system, question.of_two_classes, kind, question.room, has_weights=question.has_weights)
        tally.most_waiting = 3 if taken > question.room * _THRIFTY else 1
        tally.rows_per_batch = rows_at_once(source, engine, memory - taken)
        tally = engine.run(tally, source.pieces)
        survey = tally.survey
        cells.append(tally.merged())
        costs, finite = (survey.costs[0], survey.costs[1]), survey.finite
        sums.append(Sums((survey.n[0], survey.n[1]), costs, tuple(survey.posteriors), finite))
    return SummaryPart(question, (replace(own, sums=tuple(sums)),), tuple(cells))


def _memory_of_cells(room: int, memory: int, name: str) -> int:
    """Bytes for the cells of a summary: more of them may wait to be merged where more may be taken."""
    needed = room * _THRIFTY
    if needed > memory * 3 // 4:
        raise InputError(
            f"memory: a summary of {name} counts trials in up to {room:,} cells, whatever their number, which "
            f"takes {(needed * 4 / 3 + LIBRARIES) / 1e6:,.0f} MB with Python and its libraries. Allow that (memory=, "
            "--memory)."
        )
    roomy = room * _BYTES_PER_CELL
    return roomy if roomy <= memory // 2 else needed


def require_counted(own: ShardRecord, shards: Sequence[ShardRecord]) -> None:
    """Refuse to refine a shard that was not counted, or is not what it was then.

    Raises
    ------
    InputError
    """
    if own.sha256 not in {one.sha256 for one in shards}:
        same = [one for one in shards if one.name == own.name]
        why = "has changed since it was counted" if same else "was not counted"
        raise InputError(f"{own.name}: {why}: its content is none of the summary to refine by. Summarize it first.")


class Refining:
    """A further pass over all shards of a summary: which cells can matter, and what is done about them.

    Their scores are kept if they are few enough in all shards, and else counted in finer cells.

    Parameters
    ----------
    whole : SummaryPart
        The merged counts of all shards.
    memory : int, optional
        Bytes that may be taken, the same for all shards.

    Attributes
    ----------
    keeps : bool
        Whether scores are kept.
    n_scores : int
        How many there are in cells that can matter, of the system that has most.
    """

    def __init__(self, whole: SummaryPart, memory: int | None = None) -> None:
        self.whole, self.memory = whole, memory or MEMORY
        self.most = max(self.memory // BYTES_PER_SCORE, 1)
        self.cells = tuple(map(told_apart, whole.cells))
        self.surveys = [survey_of(whole, system) for system in range(len(self.cells))]
        again = tuple(map(rows_to_keep, self.cells, self.surveys))
        sizes = [int(cells.counts[:, some].sum()) for cells, some in zip(self.cells, again, strict=True)]
        self.n_scores = max(sizes, default=0)
        self.keeps, self.room = self.n_scores <= self.most, min(room_in(self.memory), MOST_ROOM)
        if not self.keeps:
            again = tuple(
                to_split(cells, some, self.room // FINER) for cells, some in zip(self.cells, again, strict=True)
            )
        self.again = again

    def part(self, source: ShardSource, own: ShardRecord, engine: Engine, memory: int) -> SummaryPart:
        """Look again at the trials of one shard.

        Parameters
        ----------
        source : ShardSource
        own : ShardRecord
        engine : Engine
        memory : int
            Bytes that may be taken here.

        Raises
        ------
        InputError
            If the shard is not among those that were counted, or is not what it was then.
        """
        whole = self.whole
        require_counted(own, whole.shards)
        kept, finer = list[KeptScores](), list[ScoreCells]()
        taken = _memory_of_cells(whole.question.room if self.keeps else self.room, memory, source.name)
        engine.make_room(source, memory, beside=taken)
        for cells, some, survey in zip(self.cells, self.again, self.surveys, strict=True):
            windows = windows_of(cells, some)
            work: Any = Keep(survey, windows)
            if not self.keeps:
                work = CellTally(survey.empty(), ScoreCells.empty(self.room, cells.cuts), windows)
                work.most_waiting = 3 if taken > self.room * _THRIFTY else 1
            work.rows_per_batch = rows_at_once(source, engine, memory - taken)
            work = engine.run(work, source.pieces) if some.any() else work
            if self.keeps:
                kept.append(work.found())
            else:
                finer.append(work.merged())
        further = Further(self.most, self.again, (own.sha256,), tuple(kept), tuple(finer))
        return SummaryPart(whole.question, whole.shards, self.cells, whole.n_passes, further)


def survey_of(part: SummaryPart, system: int) -> Survey:
    """What the first pass adds up, as the engine has it."""
    sums, asked = part.sums(system), part.question
    survey = survey_of_all(system, asked.of_two_classes, np.dtype(asked.scores), has_weights=asked.has_weights)
    survey.n, survey.costs, survey.posteriors = list(sums.n), list(sums.costs), list(sums.posteriors)
    survey.finite, survey.kept = sums.finite, None
    return survey


def require_seen(part: SummaryPart | ClassPart, name: str) -> None:
    """Refuse what a further pass found in some of the shards.

    Raises
    ------
    InputError
        That names the others.
    """
    if missing := part.unseen:
        raise InputError(
            f"{name}: {len(missing)} of {len(part.shards)} shards are missing: pass {part.n_passes + 1} has not seen "
            f"{shortened(', '.join(missing))}. Refine these, too, and merge all."
        )


def summary_of(part: SummaryPart, system: int, name: str) -> Summary:
    """The summary of a system: exact once the scores that can matter are kept, within bounds before.

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
        If figures were asked for that have no bounds yet.
    FormatError
        If scores are missing that must be there.
    """
    cells, survey = told_apart(part.cells[system]), survey_of(part, system)
    require_two_classes(survey.n, name, has_weights=cells.is_weighted)
    if part.further is None or not part.is_refined:
        require_bounded(part.question.of_two_classes)
        return bounded_summary(cells, survey)
    again, kept = part.further.again[system], part.further.kept[system]
    if kept.n_of_classes != cells.counts[:, again].sum(axis=1).tolist():
        raise FormatError(f"{name}: does not hold the scores that its counts ask for. Refine its shards again.")
    return refined_by(cells, survey, again, kept)
