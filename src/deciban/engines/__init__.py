"""Engines: they map the partitions of a source to sums and add the sums, in threads or on a cluster."""

from __future__ import annotations

import operator
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, starmap
from typing import TypeVar

import numpy as np
from numpy.typing import DTypeLike

from deciban.core.ranks.counts import SortedClass, joined_weights, whole_if_possible
from deciban.core.ranks.loops import ValueCounts, count_loops
from deciban.errors import teller
from deciban.trials.sources import Engine, SourcePartition, SourcePass, TrialFields, batches, in_threads
from deciban.types import AnyArray, CountArray, FloatArray, Foreign, ScoreArray, T

W = TypeVar("W", bound=SourcePass)


_EACH_OF = 1 << 10
"""Number of sorted scores for each score of a sample."""


class NoRoomError(Exception):
    """There is not enough memory for the counts of a pass, or a worker has no compiled loops."""


def _by_class(partitions: Sequence[SourcePartition], system: int, kind: DTypeLike) -> list[list[AnyArray]]:
    """Return the scores of non-targets and of targets, followed by the positive weights if trials have weights."""
    result: tuple[list[tuple[AnyArray, ...]], ...] = ([], [])
    for partition in partitions:
        batch = partition.read(TrialFields((system,), truth=True, weight=True)).counting
        scores = batch.scores[0].astype(kind, copy=False)
        for c, some in enumerate((~batch.labels, batch.labels)):
            weight = batch.float_weight
            result[c].append((scores[some],) if weight is None else (scores[some], weight[some]))
    return [[np.concatenate(one) for one in zip(*parts, strict=True)] for parts in result]


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
        whole = [own[0] for own in _by_class(partitions, self.system, np.float32)]
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


class Ascending(SourcePass):
    """Pass that collects the scores of both classes in ascending order.

    Parameters
    ----------
    system : int
    kind : dtype
        Type of the scores.

    Attributes
    ----------
    result : list of (int, scores, weights)
        Class (0 for non-targets, 1 for targets), scores, and positive weights or None.
    """

    words = "sorting"

    def __init__(self, system: int, kind: DTypeLike) -> None:
        self.system, self.kind = system, kind

    def of(self, partitions: Sequence[SourcePartition]) -> list[tuple[int, ScoreArray, FloatArray | None]]:
        """See `SourcePass.of`."""
        sorted_classes = (SortedClass.of(*own) for own in _by_class(partitions, self.system, self.kind))
        return [(c, own.scores, own.weights) for c, own in enumerate(sorted_classes)]

    def sample(self) -> ScoreArray:
        """Return every thousandth score, to set the borders of ranges."""
        return np.concatenate([np.zeros(0, self.kind), *(scores[::_EACH_OF] for _, scores, _ in self.result)])

    def cut(self, borders: ScoreArray) -> list[Ascending]:
        """Return the scores in each range, with their numbers if most of them are tied."""
        ranges = [self.empty() for _ in range(len(borders) + 1)]
        for c, scores, weights in self.result:
            for one, part in zip(ranges, slices_of(scores, borders), strict=True):
                own = counted_ties(scores[part]) if weights is None else (scores[part], weights[part])
                one.result = [*(one.result or ()), (c, *own)]
        return ranges

    def classes(self) -> list[SortedClass]:
        """Return all non-targets and all targets in ascending order."""
        result = []
        for c in (0, 1):
            parts = [(scores, weights) for at, scores, weights in self.result or () if at == c]
            scores = np.concatenate([np.zeros(0, self.kind), *(one for one, _ in parts)])
            weights = joined_weights([own for _, own in parts], [len(own) for own, _ in parts])
            result.append(SortedClass.of(scores, None if weights is None else whole_if_possible(weights)))
        return result


def slices_of(scores: ScoreArray, borders: ScoreArray) -> list[slice]:
    """Return the part of ascending scores in each range; ``borders`` are the highest scores of all but the last."""
    cuts = [0, *np.searchsorted(scores, borders, side="right").tolist(), len(scores)]
    return list(starmap(slice, pairwise(cuts)))


def counted_ties(scores: ScoreArray) -> tuple[ScoreArray, CountArray | None]:
    """Return distinct scores with their numbers if most of these ascending scores are tied.

    Examples
    --------
    >>> counted_ties(np.array([1.0, 1.0, 1.0, 2.0]))
    (array([1., 2.]), array([3, 1]))
    """
    starts = np.flatnonzero(np.append(len(scores) > 0, scores[1:] != scores[:-1]))
    return (scores, None) if 2 * len(starts) > len(scores) else (scores[starts], np.diff(starts, append=len(scores)))


class RemoteSums:
    """Tasks on a cluster whose results stay there.

    Parameters
    ----------
    engine : DaskEngine
    tasks : list of Future
        One for each part of the data, later for each range.
    memory : float
        Bytes for sorting a range.
    """

    def __init__(self, engine: Foreign, tasks: list[Foreign], memory: float) -> None:
        self.engine, self.tasks, self.memory = engine, tasks, memory
        self._needed = list[Foreign]()

    def each(self, function: Callable[..., T]) -> list[T]:
        """Return the results of a function for the result of each task."""
        result: list[T] = self.engine.client.gather([self.engine.submitted(function, one) for one in self.tasks])
        self._needed.clear()
        return result

    def divide(self, cut: Callable[..., object], n: int, merge: Callable[..., object]) -> None:
        """Cut each result into ``n`` ranges, and merge the parts of each range, which workers send each other."""
        submitted, whole = self.engine.submitted, [self.engine.submitted(cut, one) for one in self.tasks]
        parts = [[submitted(operator.getitem, one, at, priority=1) for one in whole] for at in range(n)]
        # The scheduler may hear that a result is no longer needed before it knows the tasks that need it.
        self._needed = [self.tasks, whole, parts]
        self.tasks = [submitted(merge, *own, priority=2) for own in parts]

    def results(self, function: Callable[..., object], arguments: Sequence[tuple[object, ...]]) -> Iterator[Foreign]:
        """Yield the number and result of each range, in any order; then its memory is free."""
        for at, result in self.engine.as_done((function, self.tasks[at], *own) for at, own in enumerate(arguments)):
            self.tasks[at] = None
            yield at, result


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
