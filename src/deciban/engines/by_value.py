"""Two classes in one pass, exactly: all trials are counted by score, and the rarer class is kept as well.

A billion trials of float32 have some ten million different scores, so that their counts fit in memory
(`deciban.core.ranks.value_counts`). Trials around the scores of the rarer class, and what the others cost, are then
asked of different scores, each once.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any, Self

import numpy as np

from deciban.core.ranks.counts import SortedClass
from deciban.core.ranks.gaps import CutCounts, GapClass
from deciban.core.ranks.loops import N_BYTES, Loops, compiled
from deciban.core.ranks.value_counts import Block, GapList, ValueCounts, expected_bytes
from deciban.core.rules.expected import MeanCost, log_cost, log_cost_of_counts
from deciban.engines.counting import Survey, rehearsed
from deciban.evaluation.summary import Summary
from deciban.io.memory import give_back
from deciban.trials.joining.join import require_two_classes
from deciban.trials.passes import Engine
from deciban.trials.sources import Piece, ShardSource, Wanted
from deciban.types import CountArray, FloatArray, ScoreArray

FEWEST_ROWS = 1 << 26
"""Of fewer trials most have a score of their own: reading them twice takes less time."""

_ROWS_PER_BATCH = 1 << 21
"""So many sorted scores are some thousand for each block of neighbouring ones."""

_BYTES_PER_KEPT = 80
"""What a score of the rarer class takes, with the counts around it, while all scores are counted."""

_BYTES_PER_ROW = 24
"""What a row takes while it is read."""

_BYTES_SENT_PER_KEPT = 4
"""What it takes in a sum that is sent."""

_SUMS_AT_ONCE = 3
"""Sums that a worker holds while it adds one to another, in what it may take."""

_BLOCKS_AHEAD = 8
"""Blocks whose different scores are listed before they are needed: three megabytes each at most."""

_UNLIKE = 1.25
"""Pieces may need so much more than the first one lets expect."""


class SurveyByValue(Survey):
    """The only pass: the scores of one class, and counts of all scores, which threads share.

    Parameters
    ----------
    *given
        As of `Survey`. Costs and the range are left to `settled`.
    room : int
        Bytes that counts may take.
    loops : Loops, optional
        What counts faster than NumPy.
    """

    words = "counting by score"
    rows_per_batch = _ROWS_PER_BATCH

    def __init__(self, *given: Any, room: int, loops: Loops | None = None) -> None:
        super().__init__(*given)
        self.values, self.n_bytes = ValueCounts(room, loops), 0

    def empty(self) -> Self:
        """See `Work.empty`."""
        found = type(self)(*self.given, room=self.values.most, loops=self.values.loops)
        found.n_bytes = self.n_bytes
        return found

    @property
    def is_refuted(self) -> bool:
        """Whether there is more than there is room for."""
        return self.kept is None or self.values.is_full

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`; nothing more is read once there is no room."""
        found: list[ScoreArray] = []
        if self.is_refuted:
            return
        for piece in pieces:
            chunk = piece.read(Wanted((self.system,), truth=True))
            assert chunk.truth is not None  # noqa: S101  # it was asked for
            scores = chunk.scores[0].astype(self.kind, copy=False)
            self.add(scores, chunk.truth, all_at_the_end=True)
            found.append(scores)
        self.values.add(*found)

    def __add__(self, other: Self) -> Self:
        """See `Work.__add__`."""
        found = super().__add__(other)
        found.values = self.values + other.values
        return found

    def settled(self, engine: Engine, also: FloatArray | None) -> tuple[SortedClass, SortedClass]:
        """The rarer class and the other one, whose costs are added up.

        Parameters
        ----------
        engine : Engine
            Has the threads.
        also : array, optional
            More thresholds at which trials are counted.
        """
        kept = np.sort(np.concatenate([np.zeros(0, self.kind), *(self.kept or [])]))
        self.kept = None  # there need not be two
        give_back()
        self.finite = self.values.finite_range()
        more, sign = rehearsed(self, also).astype(self.kind), 1 if self.keep_tar else -1
        with ThreadPoolExecutor(engine.n_at_once if engine.shares_memory else len(os.sched_getaffinity(0))) as pool:
            own = pool.submit(log_cost, (kept, None), 0.0, sign=-sign)
            others, cost = (self._listed if self.values.loops is not None else self._counted)(kept, more, pool, sign)
        self.costs = [own.result()] * 2
        self.costs[int(not self.keep_tar)] = cost
        give_back()
        return SortedClass(kept, None, None), others

    def _counted(self, kept: ScoreArray, more: ScoreArray, pool: Executor, sign: int) -> tuple[GapClass, MeanCost]:
        """The other class and its costs."""
        self.values.take_away(kept)
        counts = CutCounts(np.concatenate((kept, more)))

        def settle(block: Block) -> MeanCost:
            scores, numbers = block.entries()
            block.forget()
            counts.add(scores, numbers)
            return log_cost_of_counts(scores, numbers, sign=sign)

        costs = list(pool.map(settle, self.values.blocks()))
        return counts.as_class(), sum(costs, MeanCost(0.0, 0.0, 0.0))

    def _listed(self, kept: ScoreArray, more: ScoreArray, pool: Executor, sign: int) -> tuple[GapClass, MeanCost]:
        """The same by loops: scores are taken in order, while others are looked up and costs are added up."""
        assert self.values.loops is not None  # noqa: S101  # it was asked
        gaps, blocks = GapList(kept, more, self.values.loops), self.values.blocks()

        def look(block: Block) -> tuple[ScoreArray, CountArray]:
            found = block.entries()
            block.forget()
            return found

        ahead = deque(pool.submit(look, one) for one in blocks[:_BLOCKS_AHEAD])
        costs = []
        for at in range(len(blocks)):
            left = gaps.add(*ahead.popleft().result())
            costs.append(pool.submit(log_cost_of_counts, *left, sign=sign))
            # After the costs, so that no more blocks are there at once than are ahead.
            ahead.extend(pool.submit(look, one) for one in blocks[at + _BLOCKS_AHEAD :][:1])
        return gaps.as_class(), sum((one.result() for one in costs), MeanCost(0.0, 0.0, 0.0))


def summarize_by_value(
    source: ShardSource, engine: Engine, memory: int, survey: Survey, *, n_rarer: float, also: FloatArray | None
) -> Summary | None:
    """Summarize the trials of a system by counts of different scores, where there is room for these.

    Parameters
    ----------
    source, engine, memory, also
        See `deciban.engines.counting.summarize_shards`.
    survey : Survey
        Empty: what is asked.
    n_rarer : float
        So many trials of the rarer class are expected.

    Returns
    -------
    Summary or None
        None if two passes are better.

    Raises
    ------
    KeyMismatchError, FormatError, OSError
        If all trials are of one class; or as reading does.
    """
    room = memory - int(n_rarer * _BYTES_PER_KEPT)
    room -= engine.n_at_once * _BYTES_PER_ROW * max(_ROWS_PER_BATCH, *(one.n_rows for one in source.pieces))
    if not engine.shares_memory:
        room = min(room, memory // _SUMS_AT_ONCE - int(n_rarer * _BYTES_SENT_PER_KEPT))
    if source.is_double or source.n_rows < FEWEST_ROWS * engine.n_sums or room <= 0:
        return None
    sample = source.pieces[0].read(Wanted((survey.system,))).scores[0]
    needed = _UNLIKE * expected_bytes(sample, source.n_rows)
    if needed > room:
        return None
    loops = compiled() if needed + N_BYTES <= room else None
    room -= N_BYTES if loops is not None else 0
    empty = SurveyByValue(*survey.given, room=room, loops=loops)
    empty.n_bytes = int(needed + n_rarer * _BYTES_SENT_PER_KEPT)
    found = engine.run(empty, source.pieces)
    if found.is_refuted:  # the first trials are not like the others
        return None
    require_two_classes(found.n, source.name)
    own, others = found.settled(engine, also)
    return found.summary(own, others) if found.keep_tar else found.summary(others, own)
