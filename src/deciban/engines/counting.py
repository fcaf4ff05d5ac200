"""Two classes in pieces, exactly: the summary that sorting in memory makes, of any number of trials."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from deciban._files import ScratchFolder
from deciban.core.ranks.counts import SortedClass, whole_if_possible
from deciban.engines.sorting import Ascending, Ranges, SortedFiles, borders_of
from deciban.evaluation.summary import Summary, TwoClassFigures
from deciban.memory import Cost, give_back, rows_that_fit
from deciban.metrics import SortedScores
from deciban.trials.joining.join import require_two_classes
from deciban.trials.passes import Engine
from deciban.trials.sources import Piece, ShardSource, Wanted
from deciban.types import FloatArray, ScoreArray

_TIMES_SORTED = {False: 2, True: 8}
"""How often its size a range takes while it is sorted."""

_FEWEST_ROWS, _MOST_ROWS = 1 << 16, 1 << 22
"""Rows that a thread takes at once, if pieces are as small."""

_LOOKED_AT = 12
"""Pieces whose scores say where ranges end."""

_OF_EACH = 1 << 14
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
    work.rows_per_batch = rows_at_once(source, engine, memory)
    if source.n_rows <= rows_that_fit(memory, Cost.HELD_WEIGHTED if source.has_weights else Cost.HELD):
        return _held(source, engine, work, asked)
    from deciban.engines.by_value import summarize_by_value

    found = summarize_by_value(source, engine, memory, system=system, figures=asked)
    return found if found is not None else _by_files(source, engine, memory, work, asked)


def rows_at_once(source: ShardSource, engine: Engine, memory: int) -> int:
    """How many rows a thread sorts at once: all of them take a quarter of the memory, if pieces allow it."""
    return rows_that_fit(
        memory / 4, source.bytes_per_row(), at_once=engine.n_at_once, fewest=_FEWEST_ROWS, most=_MOST_ROWS
    )


def _held(source: ShardSource, engine: Engine, work: Ascending, figures: TwoClassFigures) -> Summary:
    """Sort trials that fit in memory."""
    found: list[Ascending] = []
    engine.each(work, source.pieces, found.append)
    parts = [part for one in found for part in one.parts]
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
    for piece in pieces[:: max(len(pieces) // _LOOKED_AT, 1)]:
        scores = piece.read(Wanted((work.system,))).scores[0]
        found.append(scores[:: max(len(scores) // _OF_EACH, 1)])
    return np.concatenate(found).astype(work.kind, copy=False)


def _by_files(source: ShardSource, engine: Engine, memory: int, work: Ascending, figures: TwoClassFigures) -> Summary:
    """Sort trials in temporary files."""
    size = work.kind.itemsize + (8 if source.has_weights else 0)
    n_threads = engine.n_at_once if engine.shares_memory else len(os.sched_getaffinity(0))
    most = rows_that_fit(memory / 2, size * _TIMES_SORTED[source.has_weights], at_once=n_threads)
    n_ranges = int(np.ceil(source.n_rows * _UNLIKE / most))
    borders = borders_of(_sample(source.pieces, work), n_ranges)
    folder = ScratchFolder()
    with folder.or_nothing(source.n_rows * size) as path:
        files = Ranges(path / "range", borders, work.kind, has_weights=source.has_weights)
        engine.each(work, source.pieces, files.put)
        give_back()
        ranges = files.settled(most)
        n = [sum(one[c].n for one in ranges) for c in (0, 1)]
        require_two_classes(n, source.name, has_weights=source.has_weights)
        step = rows_that_fit(memory / 2, Cost.GROUPED, at_once=n_threads)
        found = SortedFiles(path, ranges, figures, step).sort(n_threads)
    folder.remove()  # what is mapped stays on the disk until nobody has it
    give_back()
    return found
