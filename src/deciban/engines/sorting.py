"""External sample sort of two-class trials, and exact summaries of sources of any size.

A sample of the scores sets the borders of ranges. One pass over the trials writes the scores of each class and range to
a temporary file. Then each range is sorted in memory and written to its place in one file of each class, which allows
look-ups of any threshold. Sums over trials, including groups for curves, are computed range by range.
"""

from __future__ import annotations

import functools
import operator
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from deciban._files import ScratchFolder
from deciban.core.expected import MeanCost, log_cost, log_cost_of_counts
from deciban.core.ranks.counts import SortedClass, ascending, is_whole
from deciban.core.ranks.loops import N_BYTES, ValueCounts, all_in_order, count_loops, expected_bytes
from deciban.core.ranks.roc import CoarseTable, CornerCounts, OrderedPairs, ScoreGroups, groups_of, steps
from deciban.engines import Ascending, NoRoomError, ValueTally, slices_of
from deciban.evaluation.curves import drawn_lines
from deciban.evaluation.results import Evaluation
from deciban.evaluation.two_class.evaluate import evaluation_of
from deciban.evaluation.two_class.summary import (
    PosteriorCosts,
    Summary,
    TrialsByUnit,
    TwoClassMetrics,
    posterior_costs_of,
)
from deciban.evaluation.uncertainty import Resampling
from deciban.memory import Cost, bytes_held, give_back, n_processors, rows_that_fit
from deciban.metrics import SortedScores
from deciban.metrics.scores import ScoredTrials
from deciban.trials.joining.matching import require_two_classes
from deciban.trials.sources import Engine, SourcePartition, TrialFields, TrialSource, in_threads
from deciban.types import AnyArray, CountArray, FloatArray, Foreign, ScoreArray, added

_LARGEST = 2.0**53
"""Floats represent all whole numbers up to this one."""

_MOST_RANGES = 100
"""Maximum number of ranges created at once, because up to four files of each are open. Large ranges are split again."""

_FEWEST_STEP, _MOST_STEP = 1 << 12, 1 << 18
"""Limits for the number of trials that are grouped at once."""

_AT_ONCE = 1 << 20
"""Number of scores that are read at once to split or copy a file."""


@dataclass(slots=True, eq=False)
class _File:
    """File with scores of one class in one range, in any order, and a file with their weights."""

    path: Path
    kind: DTypeLike
    has_weights: bool
    n: int = 0
    weight: float = 0.0
    is_whole: bool = True
    low: float = np.inf
    high: float = -np.inf

    def put(self, scores: ScoreArray, weights: FloatArray | None) -> None:
        """Append ascending scores."""
        for path, values, kind in zip(self._paths, (scores, weights), (self.kind, np.float64), strict=False):
            with path.open("ab") as stream:  # closed at once, because there can be thousands of files
                stream.write(np.ascontiguousarray(values, kind).data)
        self.n += len(scores)
        self.low, self.high = min(self.low, float(scores[0])), max(self.high, float(scores[-1]))
        if weights is not None:
            self.weight += float(weights.sum())
            self.is_whole &= is_whole(weights)

    @property
    def _paths(self) -> list[Path]:
        return [self.path, self.path.with_suffix(".weights")][: 2 if self.has_weights else 1]

    @property
    def arrays(self) -> list[AnyArray]:
        """Scores, and weights if any, mapped from the files."""
        if not self.n:
            return [np.zeros(0, kind) for kind in (self.kind, np.float64)][: len(self._paths)]
        kinds = (self.kind, np.float64)
        return [np.memmap(path, kind, "r") for path, kind in zip(self._paths, kinds, strict=False)]

    def sorted(self, *, is_one: bool) -> tuple[AnyArray, ...]:
        """Return the scores in ascending order, with weights if any; `is_one` if all scores are equal."""
        if is_one:
            return tuple(self.arrays)
        scores, *weights = map(np.asarray, self.arrays)
        return ascending(scores, *weights) if weights else (np.sort(scores),)

    def remove(self) -> None:
        """Delete the files."""
        for path in self._paths:
            path.unlink(missing_ok=True)

    @property
    def total(self) -> float:
        """Number of trials, or their total weight."""
        return self.weight if self.has_weights else self.n


class _Range(NamedTuple):
    """Files of both classes for scores between two borders."""

    non: _File
    tar: _File

    @property
    def n(self) -> int:
        """Number of trials."""
        return self.non.n + self.tar.n

    @property
    def is_one(self) -> bool:
        """True if all trials have the same score."""
        return min(self.non.low, self.tar.low) == max(self.non.high, self.tar.high)


class Ranges:
    """Files of ranges; sorted scores can be added from any thread.

    Parameters
    ----------
    path : path
        Start of all file names.
    borders : (n,) array
        Highest score of each range except the last one.
    kind : dtype
        Type of the scores.
    has_weights : bool
    """

    def __init__(self, path: Path, borders: ScoreArray, kind: DTypeLike, *, has_weights: bool) -> None:
        self.path, self.borders, self.kind, self.has_weights = path, borders, kind, has_weights
        self._lock = [threading.Lock() for _ in range(len(borders) + 1)]
        result = ([_File(Path(f"{path}-{at}-{c}"), kind, has_weights) for c in (0, 1)] for at in range(len(self._lock)))
        self.ranges = [_Range(*one) for one in result]

    def put(self, c: int, scores: ScoreArray, weights: FloatArray | None) -> None:
        """Write ascending scores of class 0 or 1; missing weights are 1."""
        if weights is None and self.has_weights:
            weights = np.ones(len(scores))
        for at, part in enumerate(slices_of(scores, self.borders)):
            if part.stop > part.start:
                with self._lock[at]:
                    self.ranges[at][c].put(scores[part], None if weights is None else weights[part])

    def settled(self, most: int) -> list[_Range]:
        """Return the final ranges: larger ones are split, unless all their scores are equal."""
        return [part for one in self.ranges if one.n for part in self._split(one, most)]

    def _split(self, whole: _Range, most: int) -> list[_Range]:
        if whole.n <= most or whole.is_one:
            return [whole]
        step = max(whole.n // (1 << 16), 1)
        borders = borders_of(np.concatenate([file.arrays[0][::step] for file in whole]), -(-2 * whole.n // most))
        parts = Ranges(whole.non.path, borders, self.kind, has_weights=self.has_weights)
        for c, file in enumerate(whole):
            arrays = file.arrays
            for at in range(0, file.n, _AT_ONCE):
                own = SortedClass.of(*(np.array(one[at : at + _AT_ONCE]) for one in arrays))
                parts.put(c, own.scores, own.weights)
            file.remove()
        return parts.settled(most)


def borders_of(sample: ScoreArray, n_ranges: int, most: int = _MOST_RANGES) -> ScoreArray:
    """Return the highest score of each range except the last one, for ranges of similar sizes in a sample.

    A frequent score gets its own range.

    Examples
    --------
    >>> borders_of(np.arange(100.0), 4)
    array([25., 50., 74.])
    >>> borders_of(np.array([0.0, 1.0, 1.0, 1.0, 1.0, 2.0]), 3) < 1.0
    array([ True, False])
    """
    n = min(n_ranges, most)
    ordered = np.sort(sample)
    result = (
        ordered[np.round(np.linspace(0, len(ordered) - 1, n + 1)[1:-1]).astype(np.int64)] if len(ordered) else ordered
    )
    is_often = np.append(result[1:] == result[:-1], False)[: len(result)] | (result == ordered[-1:])
    return np.unique(np.concatenate((result, np.nextafter(result[is_often], ordered.dtype.type(-np.inf)))))


class SortedSums(NamedTuple):
    """Sums over the trials of a part in ascending order of scores."""

    groups: list[ScoreGroups]
    pairs: OrderedPairs
    costs: tuple[MeanCost, ...]
    """Costs of targets and of non-targets."""
    posteriors: tuple[PosteriorCosts, ...]

    def then(self, above: SortedSums) -> SortedSums:
        """Return the sums over this part and the next part above it."""
        return SortedSums(
            self.groups + above.groups,
            self.pairs + above.pairs,
            tuple(map(operator.add, self.costs, above.costs)),
            added(self.posteriors, above.posteriors),
        )


@dataclass(frozen=True, slots=True)
class SortedSummation:
    """Summation over sorted trials, part by part.

    Attributes
    ----------
    metrics : TwoClassMetrics
        Requested metrics.
    totals : (tar, non)
        Number of trials of each class, or their total weight.
    lines : CornerCounts
        Places where groups are always separated.
    step : int
        Number of trials that are grouped at once.
    """

    metrics: TwoClassMetrics
    totals: tuple[float, float]
    lines: CornerCounts
    step: int

    @classmethod
    def of(cls, metrics: TwoClassMetrics | None, n_tar: float, n_non: float, step: int) -> SortedSummation:
        """Return an instance with lines for plots and requested rates; without metrics, no lines for plots."""
        request, drawn = metrics or TwoClassMetrics(), np.zeros(0) if metrics is None else drawn_lines()
        of_miss, of_fa = (np.sort(np.concatenate((drawn, own))) for own in (request.fmr_at, request.fnmr_at))
        lines = CornerCounts(of_miss * n_tar, of_fa * n_non)
        return cls(request, (n_tar, n_non), lines, int(np.clip(step, _FEWEST_STEP, _MOST_STEP)))

    def __call__(self, tar: SortedClass, non: SortedClass, below: tuple[float, float]) -> SortedSums:
        """Return the sums over two classes, given the totals of targets and non-targets below them."""
        result = functools.reduce(SortedSums.then, self._steps(tar, non, below))
        return result._replace(groups=[ScoreGroups.joined(result.groups).thinned(below, self.totals, self.lines)])

    def _steps(self, tar: SortedClass, non: SortedClass, below: tuple[float, float]) -> Iterator[SortedSums]:
        for of_tar, of_non in steps(tar.scores, non.scores, self.step):
            some_tar, some_non = part_of(tar, of_tar), part_of(non, of_non)
            groups = groups_of(some_tar, some_non)
            pairs, thinned = OrderedPairs.of(groups), groups.thinned(below, self.totals, self.lines)
            trials = ScoredTrials((some_tar.scores, some_tar.weights), (some_non.scores, some_non.weights))
            costs = log_cost_ascending(*trials.tar, sign=-1), log_cost_ascending(*trials.non, sign=1)
            yield SortedSums([thinned], pairs, costs, posterior_costs_of(trials, self.metrics))
            below = below[0] + pairs.n_tar, below[1] + pairs.n_non

    def summary(self, parts: Iterable[SortedSums], tar: SortedClass, non: SortedClass, *, is_weighted: bool) -> Summary:
        """Return the summary of two classes from the sums over all their parts in ascending order."""
        whole = functools.reduce(SortedSums.then, parts)
        table = CoarseTable(*ScoreGroups.joined(whole.groups), tar, non, whole.pairs)
        ranks = SortedScores.of_sorted(tar, non, table=table)
        of_tar, of_non = whole.costs
        return Summary(self.metrics, ranks, of_tar, of_non, is_weighted, whole.posteriors)


def log_cost_ascending(scores: ScoreArray, weights: CountArray | None, *, sign: int) -> MeanCost:
    """Return the logarithmic cost of ascending scores."""
    if weights is not None and weights.dtype == np.int64:
        return log_cost_of_counts(scores, weights, sign=sign)
    return log_cost((scores, weights), 0.0, sign=sign)


class SortedFiles:
    """Sorted trials of two classes, in files of a temporary folder.

    Parameters
    ----------
    folder : path
    ranges : sequence of ranges
        Ranges in ascending order.
    metrics : TwoClassMetrics or None
        Requested metrics; None if nothing is plotted.
    step : int
        Number of trials that are grouped at once.
    """

    def __init__(self, folder: Path, ranges: Sequence[_Range], metrics: TwoClassMetrics | None, step: int) -> None:
        self.ranges = ranges
        self.has_weights = [any(one[c].has_weights for one in ranges) for c in (0, 1)]
        self.starts = [np.cumsum([0, *(one[c].n for one in ranges)]).tolist() for c in (0, 1)]
        totals = [np.cumsum([0, *(one[c].total for one in ranges)]) for c in (0, 1)]
        self.is_whole = [all(one[c].is_whole for one in ranges) and bool(totals[c][-1] <= _LARGEST) for c in (0, 1)]
        """Whether all weights of a class are whole numbers."""
        self.below = [one.astype(np.int64) if whole else one for one, whole in zip(totals, self.is_whole, strict=True)]
        """Totals of non-targets and of targets below each range, and of all: trials or weight."""
        self.adding = SortedSummation.of(metrics, self.below[1][-1].item(), self.below[0][-1].item(), step)
        names = [("scores", "weights", "cumulated")[: 3 if weighted else 1] for weighted in self.has_weights]
        self.files = [[folder / f"{name}-{c}" for name in names[c]] for c in (0, 1)]
        self.kinds = [
            (one.kind, *[np.int64 if self.is_whole[c] else np.float64] * 2) for c, one in enumerate(ranges[0])
        ]
        for path in (*self.files[0], *self.files[1]):
            path.touch()

    def sort(self, n_threads: int) -> Summary:
        """Sort every range and return the summary of all trials."""
        parts = list(in_threads(self._sorted, range(len(self.ranges)), n_threads))
        return self.summary(parts, is_weighted=self.has_weights[0])

    def summary(self, parts: Iterable[SortedSums], *, is_weighted: bool) -> Summary:
        """Return the summary from the sums of all ranges, which were placed."""
        return self.adding.summary(parts, self._mapped(1), self._mapped(0), is_weighted=is_weighted)

    def totals_below(self, at: int) -> tuple[float, float]:
        """Return the totals of targets and of non-targets below a range."""
        return self.below[1][at].item(), self.below[0][at].item()

    def _mapped(self, c: int) -> SortedClass:
        n = self.starts[c][-1]
        if not n:
            return SortedClass(np.zeros(0, self.kinds[c][0]), None, None)
        scores, *weights = (
            np.memmap(path, kind, "r", shape=size)
            for path, kind, size in zip(self.files[c], self.kinds[c], (n, n, n + 1), strict=False)
        )
        return SortedClass(scores, *weights) if weights else SortedClass(scores, None, None)

    def _sorted(self, at: int) -> SortedSums:
        own = self.ranges[at]
        non, tar = (self.place(at, c, *file.sorted(is_one=own.is_one)) for c, file in enumerate(own))
        sums = self.adding(tar, non, self.totals_below(at))
        for file in own:
            file.remove()
        return sums

    def place(self, at: int, c: int, scores: ScoreArray, weights: CountArray | None = None) -> SortedClass:
        """Write the sorted scores of a class in a range to their place, and return them."""
        start = self.starts[c][at]
        if not self.has_weights[c]:
            self._write(c, [scores], [start])
            return SortedClass(scores, None, None)
        weights = np.ones(len(scores), np.int64) if weights is None else weights
        own = np.asarray(weights).astype(self.kinds[c][1], copy=False)
        low, high = self.below[c][at : at + 2]
        cumulated = np.minimum(np.cumsum(np.append(low, own)), high)  # rounding must not exceed the next range
        if len(cumulated) > 1:
            cumulated[-1] = high
        self._write(c, [scores, own, cumulated], [start] * 3)
        return SortedClass(scores, own, cumulated)

    def _write(self, c: int, arrays: Sequence[AnyArray], starts: Sequence[int]) -> None:
        for path, array, start in zip(self.files[c], arrays, starts, strict=False):
            with path.open("r+b") as stream:
                stream.seek(start * array.itemsize)
                stream.write(np.ascontiguousarray(array).data)


def part_of(whole: SortedClass, part: slice) -> SortedClass:
    """Return consecutive entries of a class."""
    if whole.weights is None or whole.cumulated is None:
        return SortedClass(whole.scores[part], None, None)
    return SortedClass(whole.scores[part], whole.weights[part], whole.cumulated[part.start : part.stop + 1])


_TIMES_SORTED = {False: 2, True: 8}
"""Memory for sorting a range, as a multiple of its size."""

_FEWEST_ROWS, _MOST_ROWS = 1 << 16, 1 << 22
"""Limits for the number of rows that a thread reads at once."""

N_SAMPLED = 12
"""Number of partitions in the sample that sets the borders of ranges."""

OF_EACH_SAMPLED = 1 << 14
"""Number of scores from each of these partitions."""

_UNLIKE = 1.5
"""Tolerance for ranges that are larger than expected from the sample."""


def summarize_source(
    source: TrialSource, engine: Engine, memory: int, *, system: int = 0, metrics: TwoClassMetrics | None = None
) -> Summary:
    """Summarize the trials of one system of a two-class source of any size.

    Parameters
    ----------
    source : TrialSource
    engine : Engine
    memory : int
        Limit in bytes.
    system : int
        Index of the system.
    metrics : TwoClassMetrics, optional
        Requested metrics.

    Returns
    -------
    Summary
        The same as from `deciban.evaluation.summarize`: counts are identical, sums of costs agree to a relative error
        of 1e-16. Sorted scores can be in temporary files that exist as long as the summary.

    Raises
    ------
    KeyMismatchError, FormatError, OSError
        If all trials are of one class, if reading fails, or if there is no room for temporary files.
    """
    request, kind = metrics or TwoClassMetrics(), np.dtype(np.float64 if source.is_double else np.float32)
    work = Ascending(system, kind)
    work.rows_per_batch = rows_that_fit(  # all threads together use a quarter of the memory, if partitions are small
        memory / 4, source.bytes_per_row(), at_once=engine.n_at_once, fewest=_FEWEST_ROWS, most=_MOST_ROWS
    )
    result = summarize_by_value(source, engine, memory, system=system, metrics=request)
    if result is not None:
        return result
    if bytes_held(source.n_rows, is_wide=source.has_weights or source.is_double) <= memory and (
        engine.shares_memory or source.n_rows <= _MOST_ROWS
    ):
        return _held(source, engine, work, request)
    return _by_files(source, engine, memory, work, request)


def _held(source: TrialSource, engine: Engine, work: Ascending, metrics: TwoClassMetrics) -> Summary:
    """Sort trials that fit in memory."""
    non, tar = engine.run(work, source.partitions).classes()
    _require_two([len(non.scores), len(tar.scores)], source)
    return Summary.of(SortedScores.of_sorted(tar, non), metrics, is_weighted=source.has_weights)


def _sample(partitions: Sequence[SourcePartition], work: Ascending) -> ScoreArray:
    """Return a sample of the scores from some partitions."""
    items = [np.zeros(0, work.kind)]
    for partition in partitions[:: max(len(partitions) // N_SAMPLED, 1)]:
        scores = partition.read(TrialFields((work.system,))).scores[0]
        items.append(scores[:: max(len(scores) // OF_EACH_SAMPLED, 1)].copy())  # a view would keep all scores in memory
    return np.concatenate(items).astype(work.kind, copy=False)


def row_size(kind: DTypeLike, *, has_weights: bool) -> int:
    """Return the size of a trial in temporary files, in bytes."""
    return int(np.dtype(kind).itemsize) + (8 if has_weights else 0)


@dataclass(frozen=True, slots=True)
class SortRoom:
    """Memory for sorting ranges of scores.

    Attributes
    ----------
    memory : int
        Limit in bytes.
    n_threads : int
        Number of ranges that are sorted at once.
    """

    memory: int
    n_threads: int

    @classmethod
    def of(cls, engine: Engine, memory: int) -> SortRoom:
        """Return the room for an engine; with a cluster, this process sorts with all its processors."""
        return cls(memory, engine.n_at_once if engine.shares_memory else n_processors())

    def most(self, kind: DTypeLike, *, has_weights: bool) -> int:
        """Return the maximum number of trials of a range."""
        return self._rows(row_size(kind, has_weights=has_weights) * _TIMES_SORTED[has_weights])

    @property
    def step(self) -> int:
        """Number of trials that are grouped at once."""
        return self._rows(Cost.GROUPED)

    def _rows(self, size: float) -> int:
        return rows_that_fit(self.memory / 2, size, at_once=self.n_threads)

    def ranges(self, folder: Path, sample: ScoreArray, n_trials: float, *, has_weights: bool) -> Ranges:
        """Return empty files of ranges with borders from a sample of the scores."""
        kind = sample.dtype
        n_ranges = int(np.ceil(n_trials * _UNLIKE / self.most(kind, has_weights=has_weights)))
        return Ranges(folder / "range", borders_of(sample, n_ranges), kind, has_weights=has_weights)

    def summary(self, files: Ranges, metrics: TwoClassMetrics | None, n_threads: int) -> Summary:
        """Sort the scores in some files, which must not be empty, and summarize them."""
        ranges = files.settled(self.most(files.kind, has_weights=files.has_weights))
        return SortedFiles(files.path.parent, ranges, metrics, self.step).sort(n_threads)


def _require_two(n: Sequence[int], source: TrialSource) -> None:
    """Raise if there are no scores of a class; tied scores can count once in ``n``, but not in the error."""
    n = n if source.has_weights else [source.n_rows if own else 0 for own in n]
    require_two_classes(n, source.name, has_weights=source.has_weights)


def _counts(classes: Sequence[SortedClass]) -> _Range:
    """Return the numbers of both classes in a range, without files."""
    return _Range(
        *(
            _File(Path(), one.scores.dtype, one.weights is not None, len(one.scores), one.total, one.is_whole)
            for one in classes
        )
    )


def _classes_of(*parts: Ascending) -> list[SortedClass]:
    """Return both classes in a range from their parts."""
    return functools.reduce(operator.add, parts).classes()


def _added(
    classes: Sequence[SortedClass], adding: SortedSummation | None, below: tuple[float, float]
) -> tuple[list[tuple[AnyArray, AnyArray | None]], SortedSums | None]:
    """Return the scores and weights of both classes in a range, and their sums."""
    sums = None if adding is None else adding(classes[1], classes[0], below)
    return [(one.scores, one.weights) for one in classes], sums


def _by_ranges(source: TrialSource, engine: Foreign, path: Path, work: Ascending, metrics: TwoClassMetrics) -> Summary:
    """Sort ranges of scores on the workers of a cluster, and put them together in files of a folder."""
    size = row_size(work.kind, has_weights=source.has_weights) * _TIMES_SORTED[source.has_weights] * _UNLIKE
    with engine.spread(work, source.partitions) as parts:
        n_ranges = max(2 * engine.n_threads, int(source.n_rows * size / parts.memory))
        borders = borders_of(np.concatenate(parts.each(Ascending.sample)), n_ranges, n_ranges)
        parts.divide(operator.methodcaller("cut", borders), len(borders) + 1, _classes_of)
        every = parts.each(_counts)
        _require_two([sum(one[c].n for one in every) for c in (0, 1)], source)
        parts.tasks = [task for task, one in zip(parts.tasks, every, strict=True) if one.n]
        ranges = [one for one in every if one.n]
        files = SortedFiles(path, ranges, metrics, _STEP)
        adding = None if metrics.own else files.adding  # workers may not have the module of a registered metric
        below = [files.totals_below(at) for at in range(len(ranges))]
        sums = dict[int, SortedSums]()
        for at, (classes, own) in parts.results(_added, [(adding, one) for one in below]):
            non, tar = (files.place(at, c, *one) for c, one in enumerate(classes))
            sums[at] = own or files.adding(tar, non, below[at])
    return files.summary([sums[at] for at in sorted(sums)], is_weighted=source.has_weights)


def _by_files(source: TrialSource, engine: Engine, memory: int, work: Ascending, metrics: TwoClassMetrics) -> Summary:
    """Sort trials in temporary files."""
    room, folder = SortRoom.of(engine, memory), ScratchFolder()
    with folder.or_nothing(source.n_rows * row_size(work.kind, has_weights=source.has_weights)) as path:
        if engine.shares_memory:
            sample = _sample(source.partitions, work)
            files = room.ranges(path, sample, source.n_rows, has_weights=source.has_weights)

            def put(result: Ascending) -> None:
                for part in result.result:
                    files.put(*part)

            engine.each(work, source.partitions, put)
            give_back()
            _require_two([sum(one[c].n for one in files.ranges) for c in (0, 1)], source)
            result = room.summary(files, metrics, room.n_threads)
        else:
            result = _by_ranges(source, engine, path, work, metrics)
    folder.remove()  # memory-mapped files stay on disk while they are in use
    give_back()
    return result


def evaluate_system(
    source: TrialSource,
    engine: Engine,
    memory: int,
    *,
    system: int = 0,
    metrics: TwoClassMetrics | None = None,
    by_unit: tuple[TrialsByUnit | None, Resampling] | None = None,
) -> Evaluation:
    """Evaluate one system of a two-class source.

    Parameters
    ----------
    source : TrialSource
    engine : Engine
    memory : int
        Limit in bytes.
    system : int
        Index of the system.
    metrics : TwoClassMetrics, optional
        Requested metrics.
    by_unit : pair of TrialsByUnit and Resampling, optional
        The trials with their units, and options of the intervals.

    Returns
    -------
    Evaluation
        The same as for trials in memory.

    Raises
    ------
    InputError
        If a class has no trials, or the memory is too small.
    FormatError, OSError
        As reading does.
    """
    units, resampling = by_unit or (None, None)
    summary = summarize_source(source, engine, memory, system=system, metrics=metrics)
    if source.weights_are_counts:
        summary = replace(summary, is_weighted=False)
    return evaluation_of(replace(summary, units=units), name=source.systems[system], resampling=resampling)


FEWEST_ROWS = 1 << 26
"""Minimum number of rows for counting. With fewer rows, most scores are distinct and sorting is faster."""

_STEP = 1 << 18
"""Number of distinct scores that are grouped at once."""

_MORE_THAN_SEEN = 1.25
"""Tolerance for partitions that need more memory than expected from the first one."""


def summarize_by_value(
    source: TrialSource, engine: Engine, memory: int, *, system: int, metrics: TwoClassMetrics
) -> Summary | None:
    """Summarize the trials of a system by counting distinct scores, if these fit in memory.

    Parameters
    ----------
    source, engine, memory, system, metrics
        See `deciban.engines.sorting.summarize_source`.

    Returns
    -------
    Summary or None
        None if sorting is better, or no compiled loops are available.
    """
    if source.is_double or source.has_weights or source.n_rows < FEWEST_ROWS:
        return None
    first = source.partitions[0].read(TrialFields((system,), truth=True))
    share = np.count_nonzero(first.labels) / max(len(first.labels), 1)
    rarer, most = int(share <= 0.5), int(_MORE_THAN_SEEN * min(share, 1 - share) * source.n_rows)
    at_once = engine.n_at_once * max(ValueTally.rows_per_batch, *(one.n_rows for one in source.partitions))
    room = memory - N_BYTES - int(most * Cost.KEPT + at_once * Cost.READ)
    counts = int(_MORE_THAN_SEEN * expected_bytes(first.scores[0], source.n_rows))
    of_worker = 4 * (counts + 4 * most)
    if counts > room or engine.bounded(of_worker) < of_worker or count_loops() is None:
        return None
    try:
        tally = engine.run(ValueTally(system, rarer, most, room, of_worker // 4), source.partitions)
    except NoRoomError:  # the first trials were not typical
        return None
    require_two_classes(tally.n, source.name)
    adding = SortedSummation.of(metrics, tally.n[1], tally.n[0], _STEP)
    rare = all_in_order([tally.rare])[0]
    return _summary(rare, tally.values, rarer, adding)


def _summary(rare: ScoreArray, values: ValueCounts, rarer: int, adding: SortedSummation) -> Summary:
    """Return the summary from the sorted scores of the rarer class and the counts of the other class.

    Two threads would need more time: they would wait for each other at each of many short steps.
    """
    give_back()
    entries = [block.taken() for block in values.blocks()]
    scores, counts = (np.concatenate(one) for one in zip(*entries, strict=True))
    del entries
    cumulated = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=cumulated[1:])
    own, others = SortedClass(rare, None, None), SortedClass(scores, counts, cumulated)
    tar, non = (own, others) if rarer else (others, own)
    return adding.summary([adding(tar, non, (0, 0))], tar, non, is_weighted=False)
