"""Problems of two classes inside one of many, counted in cells: detectors, pairs, posteriors of what is recognized.

Several are counted in one pass, as many as the memory holds cells for; where cells are open, another pass counts their
trials in finer ones. What comes out are the PAV blocks of all scores (`deciban.core.ranks.key_cells`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np

from deciban.core.classes.counts import ordered_by_class
from deciban.core.ranks.key_cells import ALL_BITS, KeyCells, Refining, Sides, Windows
from deciban.core.resampling.units import TrialUnits
from deciban.evaluation.multiclass.problem_sums import Asked, rival_shares, trial_odds
from deciban.multiclass.tables import Detectors, Pairs, ScoredClasses
from deciban.trials.passes import Engine, Locked, Work
from deciban.trials.sources import Piece, ShardSource, Wanted
from deciban.types import AnyArray, CountArray, FloatArray, IntArray

_NUMBERS = 1 << 18
"""Log-likelihoods that are looked at at once, so that what is made of them stays small."""

_FEWEST_CELLS, _MOST_CELLS = 1 << 12, 1 << 20

_FINER = 64
"""Cells in place of each that is open."""

_WAITING = 1
"""Cells that wait to be merged, in cells of the room that there is."""

ODDS = ("odds",)
"""The name of the posteriors of what is recognized, of which one side may have no trial."""

Scored = tuple[AnyArray, IntArray, CountArray | None]
"""Scores of trials, their kinds and their weights."""


@dataclass(frozen=True, slots=True, eq=False)
class TrialBlock:
    """Some trials of a piece.

    Attributes
    ----------
    trials : ScoredClasses
        Those that have no weight, too.
    stratum : (n_trials,) int array
        What has a mean of its own: the class, or which of the classes of a group.
    units : TrialUnits or None
        If they were asked for.
    """

    trials: ScoredClasses
    stratum: IntArray
    units: TrialUnits | None


def blocks_of(
    piece: Piece, system: int, classes: tuple[str, ...], *, weight: bool, units: bool = False, most: int = _NUMBERS
) -> Iterator[TrialBlock]:
    """Yield at most so many trials of a piece at once, in the order of their strata if these are not the classes."""
    chunk = piece.read(Wanted((system,), truth=True, weight=weight, units=units))
    assert chunk.truth is not None  # noqa: S101  # it was asked for
    loglik, step, stratum = chunk.scores[0], max(min(_NUMBERS // len(classes), most), 1), chunk.stratum
    for first in range(0, len(loglik), step):
        rows: Any = slice(first, first + step)
        if stratum is not None:
            rows = first + np.argsort(stratum[rows], kind="stable")
        some = None if chunk.weight is None else chunk.weight[rows]
        trials = ScoredClasses(loglik[rows], chunk.truth[rows], some, classes)
        own = None if chunk.units is None else chunk.units.take(rows)
        yield TrialBlock(trials, trials.label if stratum is None else stratum[rows], own)


class Made:
    """What is made of some trials, once for all problems.

    Parameters
    ----------
    trials : ScoredClasses
    asked : Asked
    """

    def __init__(self, trials: ScoredClasses, asked: Asked) -> None:
        self.trials, self.asked = trials, asked
        self._detectors: dict[int, Detectors] = {}

    def detectors(self, at: int) -> Detectors:
        """Each class against the rest, by one of the priors of rivals."""
        if at not in self._detectors:
            self._detectors = {at: Detectors.of(self.trials, self.asked.rivals[at])}
        return self._detectors[at]

    @cached_property
    def pairs(self) -> Pairs:
        """Each class against each other one."""
        return Pairs.of(self.trials)

    @cached_property
    def odds(self) -> tuple[FloatArray, AnyArray, IntArray, CountArray | None]:
        """Posterior log odds, whether the true class was recognized, classes and weights of trials that count."""
        sure, right = trial_odds(self.trials, self.asked.prior)
        rows = ordered_by_class(self.trials.label, self.trials.n_classes)
        if self.trials.weights is not None:
            rows = rows[self.trials.weights[rows] > 0]
        return sure[rows], right[rows], self.trials.label[rows], self.trials.weights_of(rows)


@dataclass(frozen=True, slots=True, eq=False)
class Problem(ABC):
    """Two sides, for which trials count by their kind.

    Attributes
    ----------
    name : tuple
        By which it is known.
    sides : Sides
    n_trials : float
        About how many trials it has.
    """

    name: tuple[Any, ...]
    sides: Sides
    n_trials: float

    @abstractmethod
    def scores(self, made: Made) -> Scored:
        """Of some trials."""

    @property
    def n_kinds(self) -> int:
        """Kinds of trials."""
        return len(self.sides.share)

    @property
    def bytes_per_cell(self) -> int:
        """What room for a cell takes, with cells that wait and what merging them needs."""
        return 2 * (1 + _WAITING) * (24 + 8 * self.n_kinds)


@dataclass(frozen=True, slots=True, eq=False)
class Detector(Problem):
    """A class against the rest; ``name`` has the prior of the rivals and the target."""

    kind: IntArray

    def scores(self, made: Made) -> Scored:
        """See `Problem.scores`."""
        _, at, target = self.name
        llrs = made.detectors(at).llrs
        return llrs.values[target], self.kind[llrs.label], llrs.weights


@dataclass(frozen=True, slots=True, eq=False)
class Pair(Problem):
    """A class against another one; ``name`` has both."""

    def scores(self, made: Made) -> Scored:
        """See `Problem.scores`."""
        _, i, j = self.name
        leads = made.pairs.leads
        own, theirs = leads.slices[i], leads.slices[j]
        scores = np.concatenate((leads.values[j, own], -leads.values[i, theirs]))
        kind = np.repeat([0, 1], [own.stop - own.start, theirs.stop - theirs.start])
        weights = None if leads.weights is None else np.concatenate((leads.weights[own], leads.weights[theirs]))
        return scores, kind, weights


@dataclass(frozen=True, slots=True, eq=False)
class Odds(Problem):
    """Whether the recognized class is the true one."""

    kind: IntArray

    def scores(self, made: Made) -> Scored:
        """See `Problem.scores`."""
        sure, right, label, weights = made.odds
        return sure, self.kind[label] + np.where(right, 0, self.n_kinds // 2), weights


def problems_of(asked: Asked, totals: CountArray, n_trials: int) -> list[Problem]:
    """All problems of trials of which each class has so many (or so much weight).

    Parameters
    ----------
    asked : Asked
    totals : (n_classes,) array
        Positive.
    n_trials : int
        In all.
    """
    found, n, part = list[Problem](), len(totals), np.asarray(totals / totals.sum())
    for at, prior in enumerate(asked.rivals):
        for target in range(n):
            shares, own = rival_shares(prior, totals, target), np.arange(n) != target
            different, place = np.unique(shares[own], return_inverse=True)
            kind = np.zeros(n, np.int64)
            kind[own] = 1 + place
            sides = Sides(np.arange(1 + len(different)) == 0, np.append(1.0, different))
            found.append(Detector(("detector", at, target), sides, n_trials, kind))
    different, place = np.unique(asked.prior / totals, return_inverse=True)
    both = Sides(np.repeat([True, False], len(different)), np.tile(different, 2))
    found.append(Odds(ODDS, both, n_trials, place))
    if asked.has_pairs:
        even = Sides(np.array([True, False]), np.ones(2))
        share = [(i, j, float(part[i] + part[j]) * n_trials) for i in range(1, n) for j in range(i)]
        found += [Pair(("pair", i, j), even, size) for i, j, size in share]
    return found


def problems_by_class(asked: Asked, n_classes: int, n_trials: int) -> list[Problem]:
    """All problems where it is not known yet how many trials each class has: every class is a kind of its own."""
    found, every, ones = list[Problem](), np.arange(n_classes), np.ones(n_classes)
    for at in range(len(asked.rivals)):
        for target in range(n_classes):
            found.append(Detector(("detector", at, target), Sides(every == target, ones), n_trials, every))
    found.append(Odds(ODDS, Sides(np.repeat([True, False], n_classes), np.tile(ones, 2)), n_trials, every))
    if asked.has_pairs:
        even = Sides(np.array([True, False]), np.ones(2))
        found += [Pair(("pair", i, j), even, n_trials) for i in range(1, n_classes) for j in range(i)]
    return found


def shared_sides(problem: Problem, asked: Asked, totals: CountArray) -> Sides:
    """How trials count in one of `problems_by_class`, once it is known how many each class has."""
    what, *of = problem.name
    if what == "pair":
        return problem.sides
    share = np.tile(asked.prior / totals, 2) if what == "odds" else rival_shares(asked.rivals[of[0]], totals, of[1])
    return Sides(problem.sides.is_for, share)


@dataclass(eq=False)
class Counting:
    """The cells of a problem in one pass."""

    problem: Problem
    room: int
    windows: Windows | None
    level: int = ALL_BITS
    waiting: list[KeyCells] = field(default_factory=list)

    def of(self, made: Made) -> KeyCells:
        """Those of some trials."""
        problem = self.problem
        how: Any = {"n_kinds": problem.n_kinds, "room": self.room, "level": self.level, "windows": self.windows}
        return KeyCells.of(*problem.scores(made), **how)

    @property
    def cells(self) -> KeyCells:
        """All that was counted."""
        return KeyCells.merged([KeyCells.empty(self.problem.n_kinds, self.room), *self.waiting])


class ProblemTally(Locked, Work):
    """Some problems in one pass.

    Parameters
    ----------
    about : (int, tuple of str, bool)
        System, classes, and whether trials have weights.
    asked : Asked
    counting : sequence of Counting
        Empty.
    """

    words = "counting detectors and pairs"

    def __init__(self, about: tuple[int, tuple[str, ...], bool], asked: Asked, counting: Sequence[Counting]) -> None:
        super().__init__()
        self.about, self.asked, self.counting = about, asked, counting
        self.n_bytes = sum(one.room * one.problem.bytes_per_cell for one in counting)

    def empty(self) -> Self:
        """See `Work.empty`."""
        return type(self)(
            self.about, self.asked, [Counting(one.problem, one.room, one.windows) for one in self.counting]
        )

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        system, classes, weight = self.about
        for piece in pieces:
            for block in blocks_of(piece, system, classes, weight=weight):
                self.add(block.trials)

    def add(self, trials: ScoredClasses) -> None:
        """Count trials; from any thread."""
        made = Made(trials, self.asked)
        for one in self.counting:
            self._wait(one, one.of(made))

    def _wait(self, counting: Counting, found: KeyCells) -> None:
        """Merge when many cells wait, and not under the lock."""
        with self.lock:
            counting.waiting.append(found)
            if sum(one.n_cells for one in counting.waiting) <= _WAITING * counting.room:
                return
            mine, counting.waiting = counting.waiting, []
        together = KeyCells.merged(mine)
        with self.lock:
            counting.waiting.append(together)
            counting.level = min(counting.level, together.level)

    def __add__(self, other: Self) -> Self:
        """See `Work.__add__`."""
        found = self.empty()
        for both, one, more in zip(found.counting, self.counting, other.counting, strict=True):
            both.waiting = [KeyCells.merged([one.cells, more.cells])]
        return found

    def __getstate__(self) -> dict[str, Any]:
        for one in self.counting:
            one.waiting = [one.cells]
        return super().__getstate__()


def solved(
    problems: Sequence[Problem], source: ShardSource, system: int, asked: Asked, engine: Engine, memory: int
) -> Mapping[tuple[Any, ...], Refining]:
    """Count problems until the hull of each is known.

    Parameters
    ----------
    problems : sequence of Problem
    source : ShardSource
    system : int
    asked : Asked
    engine : Engine
    memory : int
        Bytes that may be taken.

    Returns
    -------
    mapping of names of problems to Refining
        Without open cells.
    """
    found: dict[tuple[Any, ...], Refining] = {}
    about = system, source.classes, source.has_weights
    waiting = [Counting(one, _room(one, memory), None) for one in problems]
    while waiting:
        some = _that_fit(waiting, memory)
        waiting = waiting[len(some) :]
        again = list[Counting]()
        for one in engine.run(ProblemTally(about, asked, some), source.pieces).counting:
            name, cells = one.problem.name, one.cells
            if name in found:
                found[name] = found[name].refined(cells)
            else:
                found[name] = Refining.of(one.problem.sides, cells)
            if n_open := found[name].n_open:
                finer = int(np.clip(_FINER * n_open, _FEWEST_CELLS, _room(one.problem, memory)))
                room = max(finer, 2 * n_open + 2)  # at least one bit more
                again.append(Counting(one.problem, room, found[name].windows))
        waiting = [*again, *waiting]
    return found


def _room(problem: Problem, memory: int) -> int:
    """Cells of which few are open: some for every stretch of the hull, whose number grows like this."""
    wanted = int(np.clip(4.0 * problem.n_trials ** (2 / 3), _FEWEST_CELLS, _MOST_CELLS))
    return max(min(wanted, memory // (8 * problem.bytes_per_cell)), _FEWEST_CELLS)  # merging takes several times that


def _that_fit(waiting: Sequence[Counting], memory: int) -> list[Counting]:
    """The first ones, as many as there is memory for, and one at least."""
    sizes = np.cumsum([one.room * one.problem.bytes_per_cell for one in waiting])
    return list(waiting[: max(int(np.count_nonzero(sizes <= memory // 4)), 1)])
