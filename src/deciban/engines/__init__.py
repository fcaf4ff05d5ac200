"""Engines: they map the partitions of a source to sums and add the sums, in threads or on a cluster."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import TypeVar

from deciban.errors import teller
from deciban.memory import Cost, n_processors, require_room, rows_that_fit
from deciban.metrics import SortedScores
from deciban.trials.sources import Engine, SourcePartition, SourcePass, TrialSource, batches, in_threads

W = TypeVar("W", bound=SourcePass)


class CountingEngine(Engine):
    """Engine that computes ranks by sorting or counting."""

    def ranks(self, source: TrialSource, memory: int) -> SortedScores:
        """See `Engine.ranks`."""
        from deciban.engines.sorting import summarize_source  # slow import, and most passes need no ranks

        return summarize_source(source, self, memory).ranks


class Threads(CountingEngine):
    """Engine that runs passes in this process.

    Parameters
    ----------
    n_threads : int, optional
        Number of processors by default.
    """

    shares_memory = True

    def __init__(self, n_threads: int | None = None) -> None:
        self.n_threads = self.n_at_once = n_threads or n_processors()

    def make_room(self, source: TrialSource, memory: int, *, n_systems: int = 1) -> None:
        """See `Engine.make_room`; rows take at most half of the memory."""
        if not source.partitions or source.batch is not None:
            return
        largest = max(source.partitions, key=lambda one: one.n_rows)
        needed = largest.n_rows * source.bytes_per_row(n_systems)
        what = f"memory: {largest.name} has {largest.n_rows:,} rows in one row group, which is read at once"
        require_room(what, 2 * needed, memory, way="write smaller row groups")
        further = rows_that_fit(memory / 2 - needed, needed + Cost.THREAD, fewest=0)
        self.n_at_once = min(self.n_threads, 1 + further)

    def run(self, work: W, partitions: Sequence[SourcePartition]) -> W:
        """See `Engine.run`."""
        self._in_threads(work.take, batches(partitions, work.rows_per_batch))
        return work

    def each(self, work: W, partitions: Sequence[SourcePartition], use: Callable[[W], None]) -> None:
        """See `Engine.each`."""

        def take(batch: Sequence[SourcePartition]) -> None:
            own = work.empty()
            own.take(batch)
            use(own)

        self._in_threads(take, batches(partitions, work.rows_per_batch))

    def _in_threads(
        self, take: Callable[[Sequence[SourcePartition]], None], parts: Sequence[Sequence[SourcePartition]]
    ) -> None:
        self.n_passes += 1
        tell = teller(sum(one.n_rows for batch in parts for one in batch), "rows")
        done, lock = 0, threading.Lock()

        def taken(batch: Sequence[SourcePartition]) -> None:
            nonlocal done
            take(batch)
            with lock:
                done += sum(one.n_rows for one in batch)
                tell(done)

        deque(in_threads(taken, parts, self.n_at_once), maxlen=0)
