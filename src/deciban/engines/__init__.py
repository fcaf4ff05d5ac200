"""Engines: they map the partitions of a source to sums and add the sums, in threads or on a cluster."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from deciban.core.ranks.loops import ValueCounts, count_loops
from deciban.errors import teller
from deciban.trials.sources import Engine, SourcePartition, SourcePass, TrialFields, batches, in_threads
from deciban.types import ScoreArray

W = TypeVar("W", bound=SourcePass)


class NoRoomError(Exception):
    """There is not enough memory for the counts of a pass, or a worker has no compiled loops."""


class ValueTally(SourcePass):
    """Pass that counts the scores of one class by value and collects the scores of the rarer class.

    Parameters
    ----------
    system : int
    rarer : int
        Class whose scores are collected: 0 for non-targets, 1 for targets.
    most : int
        Maximum number of scores of the rarer class.
    room : int
        Maximum number of bytes of all counts.
    n_bytes : int
        Expected size of the result.

    Attributes
    ----------
    n : list of int
        Number of non-targets and of targets.
    """

    words = "counting"
    rows_per_batch = 1 << 21  # some thousand scores for each block of counts

    def __init__(self, system: int, rarer: int, most: int, room: int, n_bytes: int) -> None:
        self.system, self.rarer, self.most, self.n_bytes = system, rarer, most, n_bytes
        self.values, self.n, self._rare = ValueCounts(room), [0, 0], list[ScoreArray]()

    @property
    def has_sums(self) -> bool:
        """See `SourcePass.has_sums`."""
        return any(self.n)

    @property
    def rare(self) -> ScoreArray:
        """All scores of the rarer class, in any order."""
        return np.concatenate([np.zeros(0, np.float32), *self._rare])

    def take(self, partitions: Sequence[SourcePartition]) -> None:
        """See `SourcePass.take`."""
        if count_loops() is None:
            raise NoRoomError
        parts: tuple[list[ScoreArray], list[ScoreArray]] = ([], [])
        for partition in partitions:
            batch = partition.read(TrialFields((self.system,), truth=True))
            for c, some in enumerate((~batch.labels, batch.labels)):
                parts[c].append(batch.scores[0][some].astype(np.float32, copy=False))
        whole = [np.concatenate(own) for own in parts]
        self.values.add(whole[1 - self.rarer])
        with self.lock:
            self._rare.append(whole[self.rarer])
            self.n = [n + len(own) for n, own in zip(self.n, whole, strict=True)]
        self._require_room()

    def __add__(self, other: ValueTally) -> ValueTally:
        """Return the counts of both."""
        whole = self.empty()
        whole.values = self.values + other.values
        whole._rare = [*self._rare, *other._rare]
        whole.n = [a + b for a, b in zip(self.n, other.n, strict=True)]
        whole._require_room()
        return whole

    def _require_room(self) -> None:
        if self.n[self.rarer] > self.most or self.values.is_full:
            raise NoRoomError


class Threads(Engine):
    """Engine that runs passes in threads of this process.

    Parameters
    ----------
    n_threads : int, optional
        Number of processors by default.
    """

    shares_memory = True

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
