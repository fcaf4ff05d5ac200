"""Two classes in pieces, exactly: the summary that sorting in memory makes, of any number of trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from deciban._files import ScratchFolder
from deciban.core.ranks.counts import SortedClass, whole_if_possible
from deciban.core.ranks.value_counts import N_BYTES, ValueCounts, compiled, expected_bytes
from deciban.engines.sorting import Adding, Ascending, Ranges, SortedFiles, Sums, borders_of
from deciban.evaluation.results import Evaluation
from deciban.evaluation.summary import Resampling, Summary, TrialsByUnit, TwoClassFigures
from deciban.evaluation.two_class import evaluation_of
from deciban.memory import Cost, give_back, n_processors, rows_that_fit
from deciban.metrics import SortedScores
from deciban.trials.joining.join import require_two_classes
from deciban.trials.passes import Engine, in_threads
from deciban.trials.sources import Piece, ShardSource, Wanted
from deciban.types import CountArray, FloatArray, ScoreArray

_TIMES_SORTED = {False: 2, True: 8}
"""How often its size a range takes while it is sorted."""

_FEWEST_ROWS, _MOST_ROWS = 1 << 16, 1 << 22
"""Rows that a thread takes at once, if pieces are as small."""

N_SAMPLED = 12
"""Pieces whose scores say where ranges end."""

OF_EACH_SAMPLED = 1 << 14
"""Scores of each of these."""

_UNLIKE = 1.5
"""Ranges may be so much larger than the sample says."""


def summarize_shards(
    source: ShardSource, engine: Engine, memory: int, *, system: int = 0, figures: TwoClassFigures | None = None
) -> Summary:
    """Summarize the trials of one system of a source of two classes, whatever their number.

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

    Returns
    -------
    Summary
        The one that `deciban.evaluation.summary.summarize` makes of the same trials: counts to the bit, sums of costs
        to about 1e-16 of their value. Sorted scores may lie in temporary files, as long as the summary exists.

    Raises
    ------
    KeyMismatchError, FormatError, OSError
        If all trials are of one class; as reading does; or if there is no room for temporary files.
    """
    asked, kind = figures or TwoClassFigures(), np.dtype(np.float64 if source.is_double else np.float32)
    work = Ascending(system, kind)
    work.rows_per_batch = rows_that_fit(  # all threads take a quarter of the memory, if pieces allow it
        memory / 4, source.bytes_per_row(), at_once=engine.n_at_once, fewest=_FEWEST_ROWS, most=_MOST_ROWS
    )
    if source.n_rows <= rows_that_fit(memory, Cost.HELD_WEIGHTED if source.has_weights else Cost.HELD):
        return _held(source, engine, work, asked)

    found = summarize_by_value(source, engine, memory, system=system, figures=asked)
    return found if found is not None else _by_files(source, engine, memory, work, asked)


def _held(source: ShardSource, engine: Engine, work: Ascending, figures: TwoClassFigures) -> Summary:
    """Sort trials that fit in memory."""
    found: list[Ascending] = []
    engine.each(work, source.pieces, found.append)
    parts = [part for one in found for part in one.found]
    non, tar = (
        _merged(
            [scores for at, scores, _ in parts if at == c], [by for at, _, by in parts if at == c and by is not None]
        )
        for c in (0, 1)
    )
    require_two_classes([len(non.scores), len(tar.scores)], source.name, has_weights=source.has_weights)
    return Summary.of(SortedScores.of_sorted(tar, non), figures, is_weighted=source.has_weights)


def _merged(scores: Sequence[ScoreArray], weights: Sequence[FloatArray]) -> SortedClass:
    """All trials of a class."""
    whole = np.concatenate([np.zeros(0), *weights])
    found = np.concatenate(scores) if scores else np.zeros(0)
    return SortedClass.of(found, whole_if_possible(whole) if weights else None)


def _sample(pieces: Sequence[Piece], work: Ascending) -> ScoreArray:
    """Some scores of some pieces."""
    found = [np.zeros(0, work.kind)]
    for piece in pieces[:: max(len(pieces) // N_SAMPLED, 1)]:
        scores = piece.read(Wanted((work.system,))).scores[0]
        found.append(scores[:: max(len(scores) // OF_EACH_SAMPLED, 1)].copy())  # a view would keep all of them
    return np.concatenate(found).astype(work.kind, copy=False)


def row_size(kind: Any, *, has_weights: bool) -> int:
    """Bytes that a trial takes in temporary files."""
    return int(np.dtype(kind).itemsize) + (8 if has_weights else 0)


@dataclass(frozen=True, slots=True)
class SortRoom:
    """Memory for sorting ranges of scores.

    Attributes
    ----------
    memory : int
        Bytes that may be taken.
    n_threads : int
        So many ranges are sorted at once.
    """

    memory: int
    n_threads: int

    @classmethod
    def of(cls, engine: Engine, memory: int) -> SortRoom:
        """Where passes run on a cluster, this process sorts with all of its processors."""
        return cls(memory, engine.n_at_once if engine.shares_memory else n_processors())

    def most(self, kind: Any, *, has_weights: bool) -> int:
        """Trials that a range may have."""
        return self._rows(row_size(kind, has_weights=has_weights) * _TIMES_SORTED[has_weights])

    @property
    def step(self) -> int:
        """Trials of which groups are made at once."""
        return self._rows(Cost.GROUPED)

    def _rows(self, size: float) -> int:
        return rows_that_fit(self.memory / 2, size, at_once=self.n_threads)

    def ranges(self, folder: Path, sample: ScoreArray, n_trials: float, *, has_weights: bool) -> Ranges:
        """Return empty files of ranges that a sample of the scores separates."""
        kind = sample.dtype
        n_ranges = int(np.ceil(n_trials * _UNLIKE / self.most(kind, has_weights=has_weights)))
        return Ranges(folder / "range", borders_of(sample, n_ranges), kind, has_weights=has_weights)

    def summary(self, files: Ranges, figures: TwoClassFigures | None, n_threads: int) -> Summary:
        """Sort scores that are all there, of which there are some."""
        ranges = files.settled(self.most(files.kind, has_weights=files.has_weights))
        return SortedFiles(files.path.parent, ranges, figures, self.step).sort(n_threads)


def _by_files(source: ShardSource, engine: Engine, memory: int, work: Ascending, figures: TwoClassFigures) -> Summary:
    """Sort trials in temporary files."""
    room, folder = SortRoom.of(engine, memory), ScratchFolder()
    with folder.or_nothing(source.n_rows * row_size(work.kind, has_weights=source.has_weights)) as path:
        sample = _sample(source.pieces, work)
        files = room.ranges(path, sample, source.n_rows, has_weights=source.has_weights)

        def put(found: Ascending) -> None:
            for part in found.found:
                files.put(*part)

        engine.each(work, source.pieces, put)
        give_back()
        n = [sum(one[c].n for one in files.ranges) for c in (0, 1)]
        require_two_classes(n, source.name, has_weights=source.has_weights)
        found = room.summary(files, figures, room.n_threads)
    folder.remove()  # what is mapped stays on the disk until nobody has it
    give_back()
    return found


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


FEWEST_ROWS = 1 << 26
"""Of fewer trials most have a score of their own: sorting them takes less time."""

_ROWS_PER_BATCH = 1 << 21
"""So many scores are some thousand for each block of neighbouring ones."""

_STEP = 1 << 18
"""Different scores of which groups are made at once."""

_MORE_THAN_SEEN = 1.25
"""Pieces may need so much more than the first one lets expect."""


class _NoRoomError(Exception):
    """There is no room for what a pass has found."""


def summarize_by_value(
    source: ShardSource, engine: Engine, memory: int, *, system: int, figures: TwoClassFigures
) -> Summary | None:
    """Summarize the trials of a system by counts of different scores, where there is room for these.

    Parameters
    ----------
    source, engine, memory, system, figures
        See `deciban.engines.counting.summarize_shards`.

    Returns
    -------
    Summary or None
        None if sorting is better, or nothing here counts fast.
    """
    if source.is_double or source.has_weights or source.n_rows < FEWEST_ROWS or not engine.shares_memory:
        return None
    first = source.pieces[0].read(Wanted((system,), truth=True))
    share = np.count_nonzero(first.labels) / max(len(first.labels), 1)
    keep, most = int(share <= 0.5), _MORE_THAN_SEEN * min(share, 1 - share) * source.n_rows
    at_once = engine.n_at_once * max(_ROWS_PER_BATCH, *(one.n_rows for one in source.pieces))
    room = memory - N_BYTES - int(most * Cost.KEPT + at_once * Cost.READ)
    if _MORE_THAN_SEEN * expected_bytes(first.scores[0], source.n_rows) > room or (loops := compiled()) is None:
        return None
    values, kept, n = ValueCounts(room, loops), list[ScoreArray](), [0, 0]

    def use(found: Ascending) -> None:
        for c, scores, _ in found.found:
            n[c] += len(scores)
            if c == keep:
                kept.append(scores)
            else:
                values.add(scores)
        if n[keep] > most or values.is_full:
            raise _NoRoomError

    work = Ascending(system, np.float32, sorts=False)
    work.rows_per_batch = _ROWS_PER_BATCH
    try:
        engine.each(work, source.pieces, use)
    except _NoRoomError:  # the first trials are not like the others
        return None
    require_two_classes(n, source.name)
    return _summary(np.sort(np.concatenate(kept)), values, keep, engine, Adding.of(figures, n[1], n[0], _STEP))


def _summary(kept: ScoreArray, values: ValueCounts, keep: int, engine: Engine, adding: Adding) -> Summary:
    """From the scores of the rarer class, sorted, and the counts of the other one."""
    give_back()
    entries = list(in_threads(lambda block: block.taken(), values.blocks(), engine.n_at_once))
    ends: Any = [scores[-1] for scores, _ in entries]
    cuts = [0, *np.searchsorted(kept, ends[:-1], side="right").tolist(), len(kept)]
    below = np.concatenate(([0], np.cumsum([counts.sum() for _, counts in entries]))).tolist()

    def added(at: int) -> Sums:
        own, (scores, counts) = SortedClass(kept[cuts[at] : cuts[at + 1]], None, None), entries[at]
        other, before = counted(scores, counts), (cuts[at], below[at])
        return adding(own, other, before) if keep else adding(other, own, (below[at], cuts[at]))

    parts = list(in_threads(added, range(len(entries)), engine.n_at_once))
    scores, counts = (np.concatenate(one) for one in zip(*entries, strict=True))
    del entries[:]
    own, others = SortedClass(kept, None, None), counted(scores, counts)
    tar, non = (own, others) if keep else (others, own)
    return adding.summary(parts, tar, non, is_weighted=False)


def counted(scores: ScoreArray, counts: CountArray) -> SortedClass:
    """A class of different scores in ascending order, of which so many trials have each."""
    return SortedClass(scores, counts, np.concatenate((np.zeros(1, np.int64), np.cumsum(counts))))
