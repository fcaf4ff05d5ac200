"""Trials of two classes in ascending order of score, whatever their number: an external sample sort.

A sample of the scores tells where to cut them into ranges. One pass over the trials writes the scores of each class and
range to a temporary file. Then each range is sorted in memory, and put where it belongs in one file of each class, in
which any threshold is looked up. What is summed up over trials, their groups included, is summed up range by range.
"""

from __future__ import annotations

import functools
import itertools
import operator
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from deciban.core.by_value import added
from deciban.core.ranks.counts import SortedClass, ascending, is_whole
from deciban.core.ranks.hull import CoarseTable, Groups, Lines, Pairs, groups_of, steps
from deciban.core.rules.expected import MeanCost, log_cost, log_cost_of_counts
from deciban.evaluation.curves import drawn_lines
from deciban.evaluation.summary import PosteriorCosts, Summary, TwoClassFigures, posterior_costs_of
from deciban.metrics import SortedScores
from deciban.metrics.scores import ScoredTrials
from deciban.trials.passes import Work, in_threads
from deciban.trials.sources import Piece, Wanted
from deciban.types import AnyArray, CountArray, FloatArray, ScoreArray

_LARGEST = 2.0**53
"""Floats hold whole numbers up to here."""

_MOST_RANGES = 100
"""Ranges that are made at once: each has up to four files, which are open together. Larger ones are split again."""

_FEWEST_STEP, _MOST_STEP = 1 << 12, 1 << 18
"""Trials of which groups are made at once."""

_AT_ONCE = 1 << 20
"""Scores that are read at once of a file that is split, or copied."""


class Ascending(Work):
    """The scores of both classes of some trials, each in ascending order.

    Parameters
    ----------
    system : int
    kind : dtype
        Of scores.
    sorts : bool
        Whether they ascend; else they are as they come.

    Attributes
    ----------
    found : list of (int, scores, weights)
        Of which class, 0 of non-targets and 1 of targets; weights are None where there are none, and else above 0.
    """

    words = "sorting"

    def __init__(self, system: int, kind: Any, *, sorts: bool = True) -> None:
        self.system, self.kind, self.sorts = system, kind, sorts

    def of(self, pieces: Sequence[Piece]) -> list[tuple[int, ScoreArray, FloatArray | None]]:
        """See `Work.of`."""
        found: tuple[list[tuple[AnyArray, ...]], ...] = ([], [])
        for piece in pieces:
            chunk = piece.read(Wanted((self.system,), truth=True, weight=True))
            scores = chunk.scores[0].astype(self.kind, copy=False)
            counting = None if chunk.weight is None else chunk.weight > 0
            for c, some in enumerate((~chunk.labels, chunk.labels)):
                if chunk.weight is None or counting is None:
                    found[c].append((scores[some],))
                else:
                    by = chunk.weight[some & counting].astype(np.float64, copy=False)
                    found[c].append((scores[some & counting], by))
        classes = []
        for c, parts in enumerate(found):
            whole = list(map(np.concatenate, zip(*parts, strict=True)))
            own = SortedClass.of(*whole) if self.sorts else SortedClass(whole[0], None, None)
            classes.append((c, own.scores, own.weights))
        return classes


@dataclass(slots=True, eq=False)
class _File:
    """Scores of one class in one range, in any order, and their weights in a file beside."""

    path: Path
    kind: Any
    has_weights: bool
    n: int = 0
    weight: float = 0.0
    is_whole: bool = True
    low: float = np.inf
    high: float = -np.inf

    def put(self, scores: ScoreArray, weights: FloatArray | None) -> None:
        """Append ascending scores."""
        for path, values, kind in zip(self._paths, (scores, weights), (self.kind, np.float64), strict=False):
            with path.open("ab") as stream:  # not kept open: there may be thousands of files
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
        """Scores, and weights where there are some, as they are on the disk."""
        if not self.n:
            return [np.zeros(0, kind) for kind in (self.kind, np.float64)][: len(self._paths)]
        kinds = (self.kind, np.float64)
        return [np.memmap(path, kind, "r") for path, kind in zip(self._paths, kinds, strict=False)]

    def remove(self) -> None:
        """Make room on the disk."""
        for path in self._paths:
            path.unlink(missing_ok=True)

    @property
    def total(self) -> float:
        """Trials, or their weight."""
        return self.weight if self.has_weights else self.n


class _Range(NamedTuple):
    """Trials of both classes whose scores lie between two borders."""

    non: _File
    tar: _File

    @property
    def n(self) -> int:
        """Trials."""
        return self.non.n + self.tar.n

    @property
    def is_one(self) -> bool:
        """Whether all have one score."""
        return min(self.non.low, self.tar.low) == max(self.non.high, self.tar.high)


class Ranges:
    """Files of ranges, into which sorted scores are put from any thread.

    Parameters
    ----------
    path : path
        Of a folder; names of files begin with this.
    borders : (n,) array
        The highest score of each range but the last one.
    kind : dtype
        Of scores.
    has_weights : bool
    """

    def __init__(self, path: Path, borders: ScoreArray, kind: Any, *, has_weights: bool) -> None:
        self.path, self.borders, self.kind, self.has_weights = path, borders, kind, has_weights
        self._lock = [threading.Lock() for _ in range(len(borders) + 1)]
        made = ([_File(Path(f"{path}-{at}-{c}"), kind, has_weights) for c in (0, 1)] for at in range(len(self._lock)))
        self.ranges = [_Range(*one) for one in made]

    def put(self, c: int, scores: ScoreArray, weights: FloatArray | None) -> None:
        """Write ascending scores of class 0 or 1; where there are no weights, they are 1."""
        if weights is None and self.has_weights:
            weights = np.ones(len(scores))
        cuts = [0, *np.searchsorted(scores, self.borders, side="right").tolist(), len(scores)]
        for at, (start, end) in enumerate(itertools.pairwise(cuts)):
            if end > start:
                with self._lock[at]:
                    own = None if weights is None else weights[start:end]
                    self.ranges[at][c].put(scores[start:end], own)

    def settled(self, most: int) -> list[_Range]:
        """All ranges, when all is put; those of more trials than this are split further, but where scores are equal."""
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


def borders_of(sample: ScoreArray, n_ranges: int) -> ScoreArray:
    """The highest score of each range but the last one, so that a sample says they are alike in size.

    A score that many trials have gets a range of its own.

    Examples
    --------
    >>> borders_of(np.arange(100.0), 4)
    array([25., 50., 74.])
    >>> borders_of(np.array([0.0, 1.0, 1.0, 1.0, 1.0, 2.0]), 3) < 1.0
    array([ True, False])
    """
    n = min(n_ranges, _MOST_RANGES)
    ordered = np.sort(sample)
    found = (
        ordered[np.round(np.linspace(0, len(ordered) - 1, n + 1)[1:-1]).astype(np.int64)] if len(ordered) else ordered
    )
    is_often = np.append(found[1:] == found[:-1], False)[: len(found)] | (found == ordered[-1:])
    return np.unique(np.concatenate((found, np.nextafter(found[is_often], ordered.dtype.type(-np.inf)))))


class Sums(NamedTuple):
    """What is summed up over the trials of a part: those of a part above come after it."""

    groups: list[Groups]
    pairs: Pairs
    costs: tuple[MeanCost, ...]
    """Of targets and of non-targets."""
    posteriors: tuple[PosteriorCosts, ...]

    def then(self, above: Sums) -> Sums:
        """Together with those of a part above."""
        return Sums(
            self.groups + above.groups,
            self.pairs + above.pairs,
            tuple(map(operator.add, self.costs, above.costs)),
            added(self.posteriors, above.posteriors),
        )


@dataclass(frozen=True, slots=True)
class Adding:
    """Sums up over sorted trials, part by part.

    Attributes
    ----------
    figures : TwoClassFigures
        What is asked for.
    totals : (tar, non)
        Trials of each class, or their weight.
    lines : Lines
        Where groups are told apart in any case.
    step : int
        Trials of which groups are made at once.
    """

    figures: TwoClassFigures
    totals: tuple[float, float]
    lines: Lines
    step: int

    @classmethod
    def of(cls, figures: TwoClassFigures | None, n_tar: float, n_non: float, step: int) -> Adding:
        """With the lines of all plots and of what is asked for; without figures, nothing is drawn."""
        asked, drawn = figures or TwoClassFigures(), np.zeros(0) if figures is None else drawn_lines()
        of_miss, of_fa = (np.sort(np.concatenate((drawn, own))) for own in (asked.fmr_at, asked.fnmr_at))
        lines = Lines(of_miss * n_tar, of_fa * n_non)
        return cls(asked, (n_tar, n_non), lines, int(np.clip(step, _FEWEST_STEP, _MOST_STEP)))

    def __call__(self, tar: SortedClass, non: SortedClass, below: tuple[float, float]) -> Sums:
        """Sum up over two classes, of which so many targets and non-targets are below."""
        found = functools.reduce(Sums.then, self._steps(tar, non, below))
        return found._replace(groups=[Groups.joined(found.groups).thinned(below, self.totals, self.lines)])

    def _steps(self, tar: SortedClass, non: SortedClass, below: tuple[float, float]) -> Iterator[Sums]:
        for of_tar, of_non in steps(tar.scores, non.scores, self.step):
            some_tar, some_non = part_of(tar, of_tar), part_of(non, of_non)
            groups = groups_of(some_tar, some_non)
            pairs, thinned = Pairs.of(groups), groups.thinned(below, self.totals, self.lines)
            trials = ScoredTrials((some_tar.scores, some_tar.weights), (some_non.scores, some_non.weights))
            costs = log_cost_ascending(*trials.tar, sign=-1), log_cost_ascending(*trials.non, sign=1)
            yield Sums([thinned], pairs, costs, posterior_costs_of(trials, self.figures))
            below = below[0] + pairs.n_tar, below[1] + pairs.n_non

    def summary(self, parts: Iterable[Sums], tar: SortedClass, non: SortedClass, *, is_weighted: bool) -> Summary:
        """Of all parts, from low to high, which are these two classes."""
        whole = functools.reduce(Sums.then, parts)
        table = CoarseTable(*Groups.joined(whole.groups), tar, non, whole.pairs)
        ranks = SortedScores.of_sorted(tar, non, table=table)
        of_tar, of_non = whole.costs
        return Summary(self.figures, ranks, of_tar, of_non, is_weighted, whole.posteriors)


def log_cost_ascending(scores: ScoreArray, weights: CountArray | None, *, sign: int) -> MeanCost:
    """The logarithmic cost of scores that ascend."""
    if weights is not None and weights.dtype == np.int64:
        return log_cost_of_counts(scores, weights, sign=sign)
    return log_cost((scores, weights), 0.0, sign=sign)


class SortedFiles:
    """The sorted trials of two classes, in files of a temporary folder.

    Parameters
    ----------
    folder : path
    ranges : sequence of ranges
        From low to high.
    figures : TwoClassFigures or None
        What is asked for; None where nothing is drawn.
    step : int
        Trials of which groups are made at once.
    """

    def __init__(self, folder: Path, ranges: Sequence[_Range], figures: TwoClassFigures | None, step: int) -> None:
        self.folder, self.ranges = folder, ranges
        self.has_weights = ranges[0].non.has_weights
        self.starts = [np.cumsum([0, *(one[c].n for one in ranges)]).tolist() for c in (0, 1)]
        self.is_whole = [all(one[c].is_whole for one in ranges) for c in (0, 1)]
        """Whether weights of a class are whole numbers."""
        totals = [np.cumsum([0, *(one[c].total for one in ranges)]) for c in (0, 1)]
        for c in (0, 1):
            self.is_whole[c] &= bool(totals[c][-1] <= _LARGEST)
        self.below = [one.astype(np.int64) if whole else one for one, whole in zip(totals, self.is_whole, strict=True)]
        """Trials (or weight) of non-targets, and of targets, below each range, and of all."""
        self.adding = Adding.of(figures, self.below[1][-1].item(), self.below[0][-1].item(), step)
        self.files = [[folder / f"{name}-{c}" for name in ("scores", "weights", "cumulated")] for c in (0, 1)]
        self.kinds = [
            (one.kind, *[np.int64 if self.is_whole[c] else np.float64] * 2) for c, one in enumerate(ranges[0])
        ]
        for path in (path for own in self.files for path in own[: 3 if self.has_weights else 1]):
            path.touch()

    def sort(self, n_threads: int) -> Summary:
        """Sort every range, and summarize all."""
        parts = list(in_threads(self._sorted, range(len(self.ranges)), n_threads))
        return self.adding.summary(parts, self._mapped(1), self._mapped(0), is_weighted=self.has_weights)

    def _mapped(self, c: int) -> SortedClass:
        n = self.starts[c][-1]
        if not n:
            return SortedClass(np.zeros(0, self.kinds[c][0]), None, None)
        sizes = (n, n, n + 1)[: 3 if self.has_weights else 1]
        scores, *weights = (
            np.memmap(path, kind, "r", shape=size)
            for path, kind, size in zip(self.files[c], self.kinds[c], sizes, strict=False)
        )
        return SortedClass(scores, *weights) if weights else SortedClass(scores, None, None)

    def _sorted(self, at: int) -> Sums:
        own = self.ranges[at]
        non, tar = (self._class(at, c) for c in (0, 1))
        found = self.adding(tar, non, (self.below[1][at].item(), self.below[0][at].item()))
        for file in own:
            file.remove()
        return found

    def _class(self, at: int, c: int) -> SortedClass:
        """Sort the scores of a class in a range, and write them where they belong."""
        file, start = self.ranges[at][c], self.starts[c][at]
        scores, *weights = file.arrays if self.ranges[at].is_one else [np.array(one) for one in file.arrays]
        if not self.has_weights:
            if not self.ranges[at].is_one:
                scores.sort()
            self._write(c, [scores], [start])
            return SortedClass(scores, None, None)
        if not self.ranges[at].is_one:
            scores, *weights = ascending(scores, *weights)
        own = np.asarray(weights[0]).astype(self.kinds[c][1], copy=False)
        low, high = self.below[c][at : at + 2]
        cumulated = np.minimum(np.cumsum(np.append(low, own)), high)  # rounding must not carry it beyond the next range
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
    """Consecutive entries of a class."""
    if whole.weights is None or whole.cumulated is None:
        return SortedClass(whole.scores[part], None, None)
    return SortedClass(whole.scores[part], whole.weights[part], whole.cumulated[part.start : part.stop + 1])
