"""Trials that are units by themselves and are read in batches: counted by second moments in cells.

All trials of a class in a cell move figures alike, up to their weights. So the squares of what units do to a figure are
added up cell by cell, in each group that is left out in turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from deciban.core.resampling.cells import Cells, CellTotals
from deciban.core.resampling.clusters import ClusterDesign
from deciban.core.resampling.linearised import LinearCosts
from deciban.core.resampling.rates import ClassSize, effective_numbers
from deciban.core.resampling.unit_counts import (
    MOST_DEALT,
    SingleCounts,
    groups_of_keys,
    jackknife_weights,
    sums_of_singles,
)
from deciban.core.resampling.units import Keys, TrialUnits, UnlistedUnits, distinct, independent
from deciban.engines.units import UnitsInPieces, trials_of
from deciban.evaluation.unit_trials import N_GROUPS, TrialsInCells
from deciban.messages import Message
from deciban.metrics import SortedScores
from deciban.trials.passes import Engine, Work, added
from deciban.trials.sources import Piece, ShardSource, Wanted
from deciban.trials.speakers import SpeakersByName, TargetPairs, counting
from deciban.types import AnyArray, BoolArray, CountArray, FloatArray, IntArray


class TrialSurvey(Work):
    """How many trials of each class count, their weights, and their keys, if few enough to be dealt out to groups."""

    words = "looking at units"

    def __init__(self) -> None:
        self.n = [0, 0]
        """Non-targets and targets."""
        self.weights: FloatArray = np.zeros((2, 2))
        """Their weights, and squares of these, added up."""
        self.keys: list[Keys] | None = []

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        for piece in pieces:
            chunk = counting(piece.read(Wanted((), truth=True, units=self.keys is not None, weight=True)))
            assert chunk.truth is not None  # noqa: S101  # it was asked for
            n_tar = int(np.count_nonzero(chunk.truth))
            n = len(chunk.truth) - n_tar, n_tar
            weights = np.repeat(np.array([n], np.float64).T, 2, axis=1)
            if chunk.weight is not None:
                own = [chunk.weight[chunk.truth == is_tar].astype(np.float64) for is_tar in (False, True)]
                weights = np.array([(one.sum(), one @ one) for one in own])
            with self.lock:
                self._add(n, weights, None if chunk.units is None else [_keys(chunk.units)])

    def _add(self, n: Sequence[int], weights: FloatArray, keys: list[Keys] | None) -> None:
        self.n = [a + b for a, b in zip(self.n, n, strict=True)]
        self.weights = self.weights + weights
        is_few = sum(self.n) <= MOST_DEALT
        self.keys = [*self.keys, *keys] if is_few and self.keys is not None and keys is not None else None

    def __add__(self, other: Self) -> Self:
        """See `Work.__add__`."""
        found = self.empty()
        for one in (self, other):
            found._add(one.n, one.weights, one.keys)
        return found

    @property
    def units(self) -> UnlistedUnits:
        """The units of all trials."""
        return UnlistedUnits(
            (np.zeros(0, np.int64),), np.zeros(0, np.uint64), "trial", independent("trial"), sum(self.n)
        )

    def dealt(self) -> Keys | None:
        """The keys of all trials, ascending; None of very many."""
        return None if self.keys is None else np.sort(np.concatenate([np.zeros(0, np.uint64), *self.keys]))


def _keys(units: TrialUnits) -> Keys:
    return units.keys[units.codes[0]]


class SingleTally(Work):
    """Trials of both classes by group and cell, and the second and fourth powers of their weights.

    Parameters
    ----------
    system : int
    cells : Cells
    keys : (n,) uint64 array or None
        Those of all trials, ascending, where there are few enough.
    classes : pair of (float, int)
        Weight and number of targets, and of non-targets.
    """

    words = "counting by unit"
    sums_in = ("own", "squares", "fourths", "totals")

    def __init__(self, system: int, cells: Cells, keys: Keys | None, classes: Sequence[tuple[float, int]]) -> None:
        self.system, self.cells, self.keys, self.classes = system, cells, keys, classes
        self.totals: tuple[CellTotals, CellTotals] | None = None
        self.own, self.squares, self.fourths = self._tables(), self._tables(), self._tables()

    def _tables(self) -> list[CountArray]:
        """Of targets and of non-targets."""
        return [np.zeros((N_GROUPS, self.cells.n_cells), np.int64) for _ in range(2)]

    @property
    def has_sums(self) -> bool:
        """See `Work.has_sums`."""
        return self.totals is not None

    def _groups(self, keys: Keys, n_groups: int) -> IntArray:
        if self.keys is None:
            return groups_of_keys(keys, n_groups)
        return np.searchsorted(self.keys, keys) % max(min(n_groups, len(self.keys)), 1)

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        shape = N_GROUPS, self.cells.n_cells
        for piece in pieces:
            trials, totals, sums = trials_of(piece, self.system), list[CellTotals](), list[tuple[CountArray, ...]]()
            of_classes = zip(trials.scores, trials.units, trials.weights, self.classes, strict=True)
            for scores, units, weights, (total, n) in of_classes:
                cell = self.cells.of(scores).astype(np.int64, copy=False)
                totals.append(CellTotals.of(scores, cell, shape[1], weights))
                place = self._groups(_keys(units), N_GROUPS) * shape[1] + cell
                mass = None if weights is None else jackknife_weights(weights, total, n)
                sums.append(sums_of_singles(place, weights, mass, shape))
            with self.lock:
                self.totals = added(self.totals, (totals[0], totals[1]))
                for tables, *more in zip((self.own, self.squares, self.fourths), *sums, strict=True):
                    tables[:] = [a + b for a, b in zip(tables, more, strict=True)]

    def counts(self) -> tuple[SingleCounts, SingleCounts]:
        """What was counted of targets and of non-targets."""
        assert self.totals is not None  # noqa: S101  # there are pieces
        return SingleCounts.of_classes(self.own, self.squares, self.fourths, [one.counts for one in self.totals])


@dataclass(frozen=True, eq=False)
class SinglesInPieces(UnitsInPieces):
    """Trials of a source that are units by themselves.

    Attributes
    ----------
    dealt : (n,) uint64 array or None
        Keys of all trials, ascending; None of very many.
    n_seen : (int, int)
        Targets and non-targets that count.
    weights : (2, 2) array
        Of targets and of non-targets: their weights, and squares of these, added up.
    """

    dealt: Keys | None = None
    n_seen: tuple[int, int] = (0, 0)
    weights: FloatArray = field(default_factory=lambda: np.zeros((2, 2)))

    @classmethod
    def of_survey(
        cls, source: ShardSource, engine: Engine, system: int, survey: TrialSurvey, memory: int = 1 << 30
    ) -> Self:
        """From what one pass has found."""
        seen = survey.n[1], survey.n[0]
        weights = survey.weights[::-1]
        return cls(
            source, engine, system, survey.units, None, memory, dealt=survey.dealt(), n_seen=seen, weights=weights
        )

    @property
    def _table_is_enough(self) -> bool:
        return False

    def counted(self, ranks: SortedScores, wanted: FloatArray) -> TrialsInCells:
        """See `TrialsByUnit.counted`."""
        cells = self.cells(ranks, wanted)
        classes = list(zip(self.weights[:, 0].tolist(), self.n_seen, strict=True))
        work = self.engine.run(SingleTally(self.system, cells, self.dealt, classes), self.source.pieces)
        assert work.totals is not None  # noqa: S101  # there are pieces
        costs = LinearCosts.of_totals(*work.totals, ranks.pav, ranks.rocch, cells)
        tar, non = (
            ClassSize(float(total) / one, float(effective_numbers(total, squares)), n)
            for (total, squares), one, n in zip(self.weights, costs.one_trial, self.n_seen, strict=True)
        )
        return TrialsInCells(costs, *work.counts(), singles=ClusterDesign.of_trials((tar, non)))


@dataclass(slots=True)
class ClassFacts:
    """What all trials of a class share.

    Attributes
    ----------
    n_trials : int
    common : frozenset of int
        Numbers of units that every trial has, on either side.
    first : tuple of int
        The units of one trial, side by side.
    are_alike : bool
        Whether all others have the same.
    """

    n_trials: int = 0
    common: frozenset[int] = frozenset()
    first: tuple[int, ...] = ()
    are_alike: bool = True

    @classmethod
    def of(cls, sides: Sequence[Keys]) -> Self:
        """Of trials whose units have these numbers."""
        if not len(sides[0]):
            return cls()
        first = tuple(int(side[0]) for side in sides)
        alike = all(bool(np.all(side == side[0])) for side in sides)
        common = [one for one in {*first} if np.logical_or.reduce([side == np.uint64(one) for side in sides]).all()]
        return cls(len(sides[0]), frozenset(common), first, alike)

    def __add__(self, other: ClassFacts) -> ClassFacts:
        """Of both sets of trials."""
        if not self.n_trials or not other.n_trials:
            return self if self.n_trials else other
        alike = self.are_alike and other.are_alike and self.first == other.first
        return ClassFacts(self.n_trials + other.n_trials, self.common & other.common, self.first, alike)


@dataclass(slots=True)
class UnitFacts:
    """What one way to name units says of all trials.

    Attributes
    ----------
    classes : dict of int to ClassFacts
        By what the truth of trials is.
    n_contradictions : int
        Trials that are no targets, with one unit on both sides.
    keys : (n_units,) uint64 array
        Of units that trials have, ascending.
    about : TrialUnits or None
        Of no trial: what units are called, and how they were found.
    """

    classes: dict[int, ClassFacts] = field(default_factory=dict)
    n_contradictions: int = 0
    keys: Keys = field(default_factory=lambda: np.zeros(0, np.uint64))
    about: TrialUnits | None = None

    @classmethod
    def of(cls, units: TrialUnits, truth: AnyArray) -> Self:
        """Of some trials."""
        sides = [units.keys[side] for side in units.codes]
        classes = {int(c): ClassFacts.of([side[truth == c] for side in sides]) for c in np.unique(truth)}
        same: BoolArray = (units.codes[0] == units.codes[-1]) & (truth == 0)
        n = int(np.count_nonzero(same)) if len(units.codes) == 2 else 0
        used = distinct(np.concatenate(sides))
        about = replace(units, codes=tuple(side[:0] for side in units.codes), keys=used)
        return cls(classes, n, used, about)

    def trials_of(self, truth: int) -> int:
        """Trials of a class."""
        return self.classes[truth].n_trials if truth in self.classes else 0

    def __add__(self, other: UnitFacts) -> UnitFacts:
        """Of both sets of trials."""
        both = {
            c: self.classes.get(c, ClassFacts()) + other.classes.get(c, ClassFacts())
            for c in sorted({*self.classes, *other.classes})
        }
        keys = distinct(np.concatenate((self.keys, other.keys)))
        about = self.about or other.about
        about = None if about is None else replace(about, keys=keys)
        return UnitFacts(both, self.n_contradictions + other.n_contradictions, keys, about)

    @property
    def units(self) -> TrialUnits | None:
        """All units, of no trial; None if there is none."""
        return self.about

    @property
    def n_trials(self) -> int:
        """Trials that count."""
        return sum(one.n_trials for one in self.classes.values())

    @property
    def all_alike(self) -> bool:
        """Whether no class has trials of different units."""
        return all(one.are_alike for one in self.classes.values())

    def sharing(self) -> list[int]:
        """Classes of which all trials have a unit in common; none where every trial has a unit of its own."""
        if self.about is None or (len(self.about.codes) == 1 and len(self.keys) >= self.n_trials):
            return []
        return [c for c, one in self.classes.items() if one.n_trials and one.common]


class LookAtUnits(Work):
    """One pass: what has to be said of units.

    Parameters
    ----------
    ways : sequence of SpeakersByName or None
        Ways to name the units of trials; None for what pieces say themselves.
    """

    words = "looking at units"

    def __init__(self, ways: Sequence[SpeakersByName | None] = (None,)) -> None:
        self.ways = tuple(ways)
        self.facts = [UnitFacts() for _ in self.ways]

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        by_name = any(one is not None for one in self.ways)
        wanted = Wanted((), truth=True, units=None in self.ways, weight=True, names=by_name)
        for piece in pieces:
            chunk = counting(piece.read(wanted))
            assert chunk.truth is not None  # noqa: S101  # it was asked for
            if not len(chunk.truth):
                continue
            found: list[Any] = [chunk.units if way is None else way.units_of(chunk) for way in self.ways]
            facts = [UnitFacts.of(one, chunk.truth) for one in found]
            with self.lock:
                self.facts = [a + b for a, b in zip(self.facts, facts, strict=True)]

    def __add__(self, other: Self) -> Self:
        """See `Work.__add__`."""
        found = self.empty()
        found.facts = [a + b for a, b in zip(self.facts, other.facts, strict=True)]
        return found


@dataclass(frozen=True, slots=True, eq=False)
class UnitsFound:
    """Units of a source.

    Attributes
    ----------
    facts : UnitFacts or None
        What is known of them; None if there are none.
    by_name : SpeakersByName or None
        The units of names, where pieces do not say those of trials.
    said : tuple of Message
        What was assumed to find them.
    each : TrialUnits or None
        What a trial is called, where every one is a unit by itself: without keys, as there are so many.
    """

    facts: UnitFacts | None
    by_name: SpeakersByName | None = None
    said: tuple[Message, ...] = ()
    each: TrialUnits | None = None

    @classmethod
    def of_trials(cls, noun: str) -> Self:
        """Return every trial as a unit, where ``noun`` is what a trial is called."""
        return cls(None, each=TrialUnits((), np.zeros(0, np.uint64), noun, independent(noun)))


def speakers_in_pieces(source: ShardSource, engine: Engine) -> tuple[UnitFacts, SpeakersByName]:
    """Find speakers from target trials, as `deciban.trials.units.speakers_of` does in memory.

    Parameters
    ----------
    source : ShardSource
        With names of both sides.
    engine : Engine
    """
    pairs = engine.run(TargetPairs(), source.pieces).gathered()
    has_channels = len(source.sides) > 2
    ways = [SpeakersByName.of(pairs, apart=False, has_channels=has_channels)]
    if not has_channels and len(np.intersect1d(*pairs.names)):
        ways.append(SpeakersByName.of(pairs, apart=True, has_channels=False))
    facts = engine.run(LookAtUnits(ways), source.pieces).facts
    at = 1 if len(ways) > 1 and facts[0].n_contradictions and not facts[1].n_contradictions else 0
    return facts[at], ways[at]
