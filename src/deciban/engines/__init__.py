"""Engines: they map the partitions of a source to sums and add the sums, in threads or on a cluster."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from deciban.core.ranks.counts import SortedClass
from deciban.core.ranks.loops import ValueCounts, all_in_order, block_ends, count_loops
from deciban.errors import teller
from deciban.trials.sources import Engine, SourcePartition, SourcePass, TrialFields, batches, in_threads
from deciban.types import ScoreArray, T

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
        Number of non-targets and of targets that were taken.
    rare : list of arrays
        All scores of the rarer class, in any order.
    """

    words = "counting"
    rows_per_batch = 1 << 21  # some thousand scores for each block of counts

    def __init__(self, system: int, rarer: int, most: int, room: int, n_bytes: int) -> None:
        self.system, self.rarer, self.most, self.n_bytes = system, rarer, most, n_bytes
        self.values, self.n, self.rare = ValueCounts(room), [0, 0], list[ScoreArray]()

    @property
    def has_sums(self) -> bool:
        """See `SourcePass.has_sums`."""
        return bool(self.rare)

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
            self.rare.append(whole[self.rarer])
            self.n = [n + len(own) for n, own in zip(self.n, whole, strict=True)]
        self._require_room()

    def __add__(self, other: ValueTally) -> ValueTally:
        """Return the counts of both."""
        whole = self.empty()
        whole.values = self.values + other.values
        whole.rare = [*self.rare, *other.rare]
        whole.n = [a + b for a, b in zip(self.n, other.n, strict=True)]
        whole._require_room()
        return whole

    def sample(self) -> ScoreArray:
        """Return the highest score of each block of counts, to set the borders of ranges."""
        return self.values.ends()

    def cut(self, borders: ScoreArray) -> list[ValueTally]:
        """Return the counts in each range; ranges end with blocks of counts."""
        borders = block_ends(borders)
        rare = self._in_order()
        ends = np.searchsorted(block_ends(rare), borders, side="right")
        result = []
        for values, own in zip(self.values.cut(borders), np.split(rare, ends), strict=True):
            part = self.empty()
            part.values, part.rare = values, [own]
            result.append(part)
        return result

    def classes(self) -> list[SortedClass]:
        """Return non-targets and targets in ascending order; those of the more frequent class are counted."""
        entries = [block.taken() for block in self.values.blocks()]
        scores = np.concatenate([np.zeros(0, np.float32), *(one for one, _ in entries)])
        counts = np.concatenate([np.zeros(0, np.int64), *(one for _, one in entries)])
        cumulated = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
        result = [SortedClass(scores, counts, cumulated)] * 2
        result[self.rarer] = SortedClass(self._in_order(), None, None)
        return result

    def _in_order(self) -> ScoreArray:
        """Return the scores of the rarer class in ascending order."""
        return all_in_order([np.concatenate([np.zeros(0, np.float32), *self.rare])])[0]

    def _require_room(self) -> None:
        if self.n[self.rarer] > self.most or self.values.is_full:
            raise NoRoomError


_RANGES_PER_THREAD = 8
"""Number of ranges of scores for each thread, so that all threads have work until the end."""


class Spread:
    """Sums over partitions that are divided into ranges of scores; here, in threads of this process.

    Parameters
    ----------
    values : list
        Sums; later one value for each range.
    n_threads : int
    """

    def __init__(self, values: list[Any], n_threads: int) -> None:
        self.values, self.n_threads = values, n_threads

    def n_ranges(self, n_bytes: float) -> int:  # noqa: ARG002  # other processes have less memory
        """Return the number of ranges, given the bytes that sorting all of them takes."""
        return _RANGES_PER_THREAD * self.n_threads

    def each(self, function: Callable[[Any], T]) -> list[T]:
        """Return the results of a function for each value."""
        return list(in_threads(function, self.values, self.n_threads))

    def divide(self, cut: Callable[[Any], Sequence[Any]], merge: Callable[..., object], n: int) -> None:  # noqa: ARG002  # other processes
        """Cut each value into its ``n`` ranges, and merge the parts of each range."""
        parts = list(zip(*self.each(cut), strict=True))
        self.values[:] = in_threads(lambda own: merge(*own), parts, self.n_threads)

    def results(self, function: Callable[..., T], arguments: Sequence[tuple[object, ...]]) -> Iterator[tuple[int, T]]:
        """Yield the position and result of each range, in any order."""
        calls = list(zip(self.values, arguments, strict=True))
        yield from enumerate(in_threads(lambda one: function(one[0], *one[1]), calls, self.n_threads))


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

    @contextmanager
    def spread(self, work: SourcePass, partitions: Sequence[SourcePartition]) -> Iterator[Spread]:
        """See `Engine.spread`."""
        yield Spread([self.run(work, partitions)], self._n_threads)

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
