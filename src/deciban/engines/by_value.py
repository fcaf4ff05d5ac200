"""The fast special case of `deciban.engines.counting`: float32 scores that are counted by value in one pass.

A billion trials of float32 have some ten million different scores, so that their counts fit in memory
(`deciban.core.ranks.value_counts`). The rarer class is kept; of the other one remain its different scores.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deciban.core.ranks.counts import SortedClass
from deciban.core.ranks.loops import N_BYTES, compiled
from deciban.core.ranks.value_counts import ValueCounts, expected_bytes
from deciban.engines.sorting import Adding, Ascending, Sums
from deciban.engines.threads import in_threads
from deciban.evaluation.summary import Summary, TwoClassFigures
from deciban.memory import Cost, give_back
from deciban.trials.joining.join import require_two_classes
from deciban.trials.passes import Engine
from deciban.trials.sources import ShardSource, Wanted
from deciban.types import CountArray, ScoreArray

FEWEST_ROWS = 1 << 26
"""Of fewer trials most have a score of their own: sorting them takes less time."""

_ROWS_PER_BATCH = 1 << 21
"""So many scores are some thousand for each block of neighbouring ones."""

_STEP = 1 << 18
"""Different scores of which groups are made at once."""

_UNLIKE = 1.25
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
    assert first.truth is not None  # noqa: S101  # it was asked for
    share = np.count_nonzero(first.truth) / max(len(first.truth), 1)
    keep, most = int(share <= 0.5), _UNLIKE * min(share, 1 - share) * source.n_rows
    at_once = engine.n_at_once * max(_ROWS_PER_BATCH, *(one.n_rows for one in source.pieces))
    room = memory - N_BYTES - int(most * Cost.KEPT + at_once * Cost.READ)
    if _UNLIKE * expected_bytes(first.scores[0], source.n_rows) > room or (loops := compiled()) is None:
        return None
    values, kept, n = ValueCounts(room, loops), list[ScoreArray](), [0, 0]

    def use(found: Ascending) -> None:
        for c, scores, _ in found.parts:
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
