"""Parts of summaries: counted from shards by one pass, and made into a summary of all."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from deciban.core.ranks.counted import Counted
from deciban.engines.sorting import Ascending
from deciban.engines.work import Engine
from deciban.errors import InputError
from deciban.evaluation.summary import Summary
from deciban.io.class_summary_parts import ClassPart
from deciban.io.memory import LIBRARIES
from deciban.io.shards.pieces import ShardSource
from deciban.io.source import PathLike
from deciban.io.summary_parts import SummaryPart
from deciban.io.summary_records import Question, ShardRecord
from deciban.messages import shortened
from deciban.metrics import SortedScores
from deciban.trials.joining.join import require_two_classes

MEMORY = 2_000_000_000
"""Bytes that jobs may take where nothing is said: not a share of what is free, as jobs on all machines must agree."""

_TIMES_MERGED = 4
"""How often its size a table of counts takes while others are merged with it."""


def identified(source: ShardSource, path: PathLike, key: PathLike | None = None) -> ShardRecord:
    """The record of a shard, which is known by its content: of its file, and of its key if it has one."""
    found = hashlib.sha256()
    for one in (path,) if key is None else (path, key):
        own = sorted(Path(one).rglob("*.parquet")) if Path(one).is_dir() else [Path(one)]
        for file in own:
            with file.open("rb") as stream:
                found.update(hashlib.file_digest(stream, "sha256").digest())
    return ShardRecord(Path(path).name, source.n_rows, Path(path).stat().st_size, found.hexdigest())


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
        If that is too little for all different scores.
    """
    engine.make_room(source, memory, beside=memory // 2)
    tables = []
    for system in range(len(question.systems)):
        counting = _Counting(source, question, memory // 2)
        work = Ascending(system, np.dtype(question.scores), sorts=False)
        engine.each(work, source.pieces, counting.use)
        tables.append(counting.merged())
    return SummaryPart(question, (own,), tuple(tables))


class _Counting:
    """Tables of both classes, to which threads add."""

    def __init__(self, source: ShardSource, question: Question, memory: int) -> None:
        self.name, self.memory, self._lock = source.name, memory, threading.Lock()
        none = Counted.of(np.zeros(0, question.scores), np.zeros(0) if question.has_weights else None)
        self._tables, self._waiting = [none, none], list[tuple[int, Counted]]()

    def use(self, found: Ascending) -> None:
        own = [(c, Counted.of(scores, weights)) for c, scores, weights in found.parts]
        with self._lock:
            self._waiting += own
            waiting = sum(len(one.scores) for _, one in self._waiting)
            if waiting > sum(len(one.scores) for one in self._tables):
                self.merged()

    def merged(self) -> tuple[Counted, Counted]:
        non, tar = (Counted.merged([self._tables[c], *(one for at, one in self._waiting if at == c)]) for c in (0, 1))
        self._tables, self._waiting = [non, tar], []
        needed = _TIMES_MERGED * sum(array.nbytes for one in (non, tar) for array in one.arrays)
        if needed > self.memory:
            raise InputError(
                f"memory: {self.name} has more than {len(non.scores) + len(tar.scores):,} different scores, whose "
                f"counts take {(2 * needed + LIBRARIES) / 1e6:,.0f} MB or more. Allow that (memory=, --memory), make "
                "smaller shards, or evaluate the shards themselves, which works in pieces."
            )
        return non, tar


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
    """The summary of a system.

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
    """
    non, tar = part.tables[system]
    has_weights = part.question.has_weights
    require_two_classes([non.n_trials, tar.n_trials], name, has_weights=has_weights)
    scores = SortedScores.of_sorted(tar.as_class(), non.as_class())
    return Summary.of(scores, part.question.of_two_classes, is_weighted=has_weights)
