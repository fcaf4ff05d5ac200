"""Two classes that are both too large to be kept: one pass counts in cells, another keeps the scores that can matter.

The first pass counts the trials of both classes in cells of scores (`deciban.core.ranks.score_cells`), and adds up what
does not depend on ranks. From these counts follows which cells can hold a vertex of the hull or a place that a curve
shows, and the second pass keeps the scores of these alone; while they are too many, they are counted in finer cells.
What comes out has the hull, PAV, minima, counts and curves of all scores. Two things are left within bounds: the area
under the ROC and the number of ties, which every single cell moves a little.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from deciban.core.ranks.counts import corners
from deciban.core.ranks.kept_scores import KeptScores
from deciban.core.ranks.pruning import (
    are_open,
    around,
    classes_of,
    crossing_rows,
    ends_of_finite,
    holding_vertices,
    in_windows,
    split_by,
    to_split,
    told_apart,
    windows_of,
)
from deciban.core.ranks.score_cells import ScoreCells, merged_cells, of_both, with_finer
from deciban.core.ranks.thresholds import limited_rows
from deciban.engines.by_class import ascending
from deciban.engines.counting import FEWEST_ROWS, Survey, rehearsed
from deciban.engines.weighted import WeightedSurvey
from deciban.errors import InputError
from deciban.evaluation.bounds import Unresolved, require_bounded
from deciban.evaluation.curves import corners_to_draw
from deciban.evaluation.summary import Summary, TwoClassFigures
from deciban.io.memory import LIBRARIES, give_back
from deciban.metrics import SortedScores
from deciban.trials.joining.join import require_two_classes
from deciban.trials.passes import Engine, Locked, Work
from deciban.trials.sources import Piece, ShardSource
from deciban.types import BoolArray, FloatArray, ScoreArray

BYTES_PER_CELL = 1600
"""What a cell takes, with those that wait to be merged and what merging needs."""

_BYTES_PER_KNOWN_CELL = 400
"""What a cell takes that was counted, with what is asked about it."""

FINER = 8
"""Cells in place of each that is split, where there is no room to split all of them."""

BYTES_PER_SCORE = 192
"""What a score takes that is kept, with what is made of it; half of the memory is not free again after counting."""

_FEW = 4
"""So many scores for each cell that there is room for are worth a look at some of them first."""

MOST_ROWS = 1 << 22
"""Rows that a thread sorts at once."""

FEWEST_CELLS, MOST_CELLS = 1 << 12, 1 << 20


class CellTally(Locked, Work):
    """Trials of both classes in cells, and the sums of costs.

    Parameters
    ----------
    survey : Survey
        Empty; adds up costs, and keeps no score.
    cells : ScoreCells
        Empty.
    windows : (low, high), optional
        Only trials in these ranges of scores are counted, and costs are not.

    Attributes
    ----------
    most_waiting : int
        Cells of each class that wait to be merged, in cells of the room that there is.
    """

    words = "counting in cells"
    rows_per_batch = 4_000_000
    most_waiting = 2

    def __init__(self, survey: Survey, cells: ScoreCells, windows: tuple[FloatArray, FloatArray] | None = None) -> None:
        super().__init__()
        self.survey, self.cells, self.windows = survey, cells, windows
        self.waiting: tuple[list[ScoreCells], list[ScoreCells]] = ([], [])
        self.levels = [cells.level, cells.level]

    def empty(self) -> Self:
        """See `Work.empty`."""
        found = type(self)(self.survey.empty(), ScoreCells.empty(self.cells.room, self.cells.cuts), self.windows)
        found.most_waiting = self.most_waiting
        return found

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        for c, (own, weights) in enumerate(ascending(pieces, self.survey, adding=self.windows is None)):
            some, by = own, weights
            if self.windows is not None:
                within = in_windows(own, self.windows)
                some, by = own[within], None if weights is None else weights[within]
            step = max(self.cells.room, FEWEST_CELLS) if len(some) <= _FEW * self.cells.room else len(some)
            for at in range(0, len(some), max(step, 1)):  # as many as may be cells of their own, or all in few cells
                part, its = some[at : at + step], None if by is None else by[at : at + step]
                self._wait(c, self.cells.of_class(part, self._level(c, part), its))

    def _level(self, c: int, scores: ScoreArray) -> int:
        """Bits of which there will be room for no more: of some trials where nothing is known yet."""
        if self.levels[c] == self.cells.level and len(scores) > _FEW * self.cells.room:
            some = merged_cells([self.cells.of_class(scores[:: max(len(scores) // (2 * self.cells.room), 1)])])
            with self.lock:
                self.levels[c] = min(self.levels[c], some.level)
        return self.levels[c]

    def _wait(self, c: int, found: ScoreCells) -> None:
        """Merge when many cells wait, and not under the lock."""
        if found.n_cells > self.cells.room:
            found = merged_cells([found])
        with self.lock:
            self.waiting[c].append(found)
            self.levels[c] = min(self.levels[c], found.level)
            if sum(one.n_cells for one in self.waiting[c]) <= self.most_waiting * self.cells.room:
                return
            mine = self.waiting[c].copy()
            self.waiting[c].clear()
        together = merged_cells(mine)
        with self.lock:
            self.waiting[c].append(together)
            self.levels[c] = min(self.levels[c], together.level)

    def merged(self) -> ScoreCells:
        """All that was counted."""
        with self.lock:
            if any(self.waiting):
                none = self.cells.of_class(np.zeros(0))
                self.cells = merged_cells([self.cells, of_both(*(merged_cells([none, *w]) for w in self.waiting))])
                self.waiting = ([], [])
            return self.cells

    def __add__(self, other: Self) -> Self:
        """See `Work.__add__`."""
        found = self.empty()
        found.survey, found.cells = self.survey + other.survey, merged_cells([self.merged(), other.merged()])
        found.levels = [found.cells.level] * 2
        return found

    def __getstate__(self) -> dict[str, Any]:
        self.merged()
        return super().__getstate__()


class Keep(Locked, Work):
    """The scores in some ranges, of each class.

    Parameters
    ----------
    survey : Survey
        Of which system, and whether trials have weights.
    windows : (low, high)
        Lowest and highest score of every range.
    """

    words = "keeping what can matter"
    rows_per_batch = 4_000_000

    def __init__(self, survey: Survey, windows: tuple[FloatArray, FloatArray]) -> None:
        super().__init__()
        self.survey, self.windows = survey.empty(), windows
        self.kept: list[KeptScores] = []

    def empty(self) -> Self:
        """See `Work.empty`."""
        return type(self)(self.survey, self.windows)

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        scores, weights = list[ScoreArray](), list[FloatArray]()
        for own, by in ascending(pieces, self.survey, adding=False):
            within = in_windows(own, self.windows)
            scores.append(own[within])
            if by is not None:
                weights.append(by[within])
        found = KeptScores((scores[0], scores[1]), (weights[0], weights[1]) if weights else None)
        with self.lock:
            self.kept.append(found)

    def __add__(self, other: Self) -> Self:
        """See `Work.__add__`."""
        found = self.empty()
        found.kept = [*self.kept, *other.kept]
        return found

    def found(self) -> KeptScores:
        """All that was kept."""
        none = KeptScores.none(self.survey.kind, has_weights=isinstance(self.survey, WeightedSurvey))
        return KeptScores.merged([none, *self.kept])


def survey_of_all(system: int, figures: TwoClassFigures, kind: Any, *, has_weights: bool) -> Survey:
    """What adds up costs and keeps no score, empty."""
    made = WeightedSurvey if has_weights else Survey
    return made(system, True, figures, kind, 0)  # noqa: FBT003  # which class is kept does not matter


def fixed_thresholds(figures: TwoClassFigures) -> FloatArray:
    """Thresholds at which an evaluation counts, whatever the scores are: there cells are cut, and counts are exact.

    Examples
    --------
    >>> bool(np.isin(TwoClassFigures([0.5]).operating_points[0].threshold, fixed_thresholds(TwoClassFigures([0.5]))))
    True
    """
    largest = float(np.finfo(np.float64).max)
    survey = Survey(0, keep_tar=True, figures=figures, kind=np.float64, most=0)
    survey.add(np.array([-1.0, 1.0]), np.array([False, True]))
    survey.n, survey.finite = [10**9, 10**9], (-largest, largest)
    return np.unique(rehearsed(survey))


def tally_of(
    system: int,
    figures: TwoClassFigures,
    kind: Any,
    room: int,
    also: FloatArray | None = None,
    *,
    has_weights: bool = False,
) -> CellTally:
    """The first pass, empty; ``also`` are more thresholds at which counts are exact."""
    survey = survey_of_all(system, figures, kind, has_weights=has_weights)
    cuts = np.concatenate((fixed_thresholds(figures), np.zeros(0) if also is None else also))
    return CellTally(survey, ScoreCells.empty(room, cuts))


def summarize_by_cells(
    source: ShardSource,
    engine: Engine,
    memory: int,
    *,
    system: int,
    figures: TwoClassFigures,
    approximate: bool = False,
    also: FloatArray | None = None,
) -> Summary:
    """Summarize the trials of one system, of which neither class fits in memory; see `summarize_shards`.

    Parameters
    ----------
    source : ShardSource
    engine : Engine
    memory : int
        Bytes that may be taken.
    system : int
    figures : TwoClassFigures
    approximate : bool
        Whether one pass is enough, so that figures of ranks are known within bounds.
    also : array, optional
        More thresholds at which counts are exact, besides those at which an evaluation asks.
    """
    if approximate:
        require_bounded(figures)
    kind = np.float64 if source.is_double else np.float32
    tally = tally_of(system, figures, kind, room_in(memory), also, has_weights=source.has_weights)
    survey, cells = _counted(tally, source, engine, memory)
    del tally  # the cells that were not told apart
    give_back()
    if approximate:
        return bounded_summary(cells, survey)
    return refined(cells, survey, source, engine, memory)


def _counted(tally: CellTally, source: ShardSource, engine: Engine, memory: int) -> tuple[Survey, ScoreCells]:
    """Count all trials in cells, and tell these apart.

    Raises
    ------
    KeyMismatchError
        If all trials are of one class.
    """
    tally.rows_per_batch = rows_at_once(source, engine, memory)
    found = engine.run(tally, source.pieces)
    if tally.windows is None:
        require_two_classes(found.survey.n, source.name, has_weights=source.has_weights)
    give_back()  # else allocators keep what threads freed: as much as all cells take
    return found.survey, told_apart(found.merged())


def bounded_summary(cells: ScoreCells, survey: Survey) -> Summary:
    """What is known after the first pass."""
    none, nothing = np.zeros(cells.n_cells, np.bool_), np.zeros(0, survey.kind)
    tar, non = classes_of(cells, none, (nothing, nothing))
    best = SortedScores.of_sorted(*classes_of(cells, none, (nothing, nothing), "best"))
    return replace(survey.summary(tar, non), unresolved=_unresolved(cells, none, best))


def refined(cells: ScoreCells, survey: Survey, source: ShardSource, engine: Engine, memory: int) -> Summary:
    """The summary of all trials, whose cells were counted, from further passes."""
    room = max(cells.room, FINER)  # there is no end if a cell cannot be split
    most = max(memory // BYTES_PER_SCORE, 1)
    while True:
        kept = rows_to_keep(cells, survey)
        if (n_kept := int(cells.counts[:, kept].sum())) <= most:
            break
        _require_room(cells, n_kept, source, memory)
        some = to_split(cells, kept, room // FINER)
        finer = CellTally(survey.empty(), ScoreCells.empty(room, cells.cuts), windows_of(cells, some))
        cells = with_finer(cells, some, _counted(finer, source, engine, memory)[1])
        del finer
        give_back()
    keep = Keep(survey, windows_of(cells, kept))
    keep.rows_per_batch = rows_at_once(source, engine, memory)
    return refined_by(cells, survey, kept, engine.run(keep, source.pieces).found())


def refined_by(cells: ScoreCells, survey: Survey, kept: BoolArray, scores: KeptScores) -> Summary:
    """The summary of all trials, whose cells were counted, with the scores of the cells that can matter.

    Parameters
    ----------
    cells : ScoreCells
        Told apart.
    survey : Survey
    kept : (n_cells,) array
        Which cells can matter.
    scores : KeptScores
        Theirs.
    """
    tar, non = classes_of(cells, kept, scores.scores, weights=scores.weights)
    return replace(survey.summary(tar, non), unresolved=_unresolved(cells, kept, None))


def room_in(memory: int) -> int:
    """For how many cells there is room."""
    return int(np.clip(memory // BYTES_PER_CELL, FEWEST_CELLS, MOST_CELLS))


def rows_at_once(source: ShardSource, engine: Engine, memory: int) -> int:
    """How many rows a thread sorts at once: all of them take a quarter of the memory, if pieces allow it."""
    return int(np.clip(memory // (4 * engine.n_at_once * source.bytes_per_row()), FEWEST_ROWS, MOST_ROWS))


def _require_room(cells: ScoreCells, n_kept: int, source: ShardSource, memory: int) -> None:
    """Refuse cells that are too many already, where still more are needed.

    Raises
    ------
    InputError
        With what is enough.
    """
    if cells.n_cells * _BYTES_PER_KNOWN_CELL > memory:
        enough = math.ceil((n_kept * BYTES_PER_SCORE + LIBRARIES) / 1e6)
        raise InputError(
            f"memory: neither class of {source.name} fits, and of the cells in which they were counted "
            f"{cells.n_cells:,} have to be known. That is more than what is allowed holds: {enough:,} MB are "
            "enough (memory=, --memory)."
        )


def rows_to_keep(cells: ScoreCells, survey: Survey) -> BoolArray:
    """Of which cells the scores are needed: for the hull, for thresholds and for the points that curves show."""
    n_non, n_tar = cells.masses
    found = holding_vertices(cells) | split_by(cells, rehearsed(survey))
    if not cells.n_cells or not n_tar.any() or not n_non.any():
        return found
    n_fa, n_miss = corners(n_tar, n_non)
    figures = survey.figures
    rows = [corners_to_draw(n_fa, n_miss) - 1, ends_of_finite(cells)]
    rows += [limited_rows(n_fa, n_miss, figures.fnmr_at, "fa"), limited_rows(n_fa, n_miss, figures.fmr_at, "miss")]
    found |= around(cells, np.concatenate(rows)) & are_open(cells)
    if figures.eer_conventions:
        found[crossing_rows(cells)] = True
    found &= cells.low.min(axis=0) < cells.high.max(axis=0)
    return found


def _unresolved(cells: ScoreCells, kept: BoolArray, best: SortedScores | None) -> Unresolved | None:
    some = are_open(cells) & ~kept
    if not some.any():
        return None
    n_non, n_tar = cells.masses[:, some]
    pairs = sum(a * b for a, b in zip(n_tar.tolist(), n_non.tolist(), strict=True))
    return Unresolved(pairs, (n_non.sum() + n_tar.sum()).item(), best)
