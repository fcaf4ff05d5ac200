"""Units of trials in pieces: which there are, and how many trials each has in every cell, by one pass each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from deciban.core.resampling.cells import Cells
from deciban.core.resampling.unit_counts import UnitCounts, groups_of_units
from deciban.core.resampling.units import Keys, TrialUnits
from deciban.engines.speakers import SpeakersByName, counting
from deciban.engines.work import Engine, Locked, Work
from deciban.evaluation.unit_trials import N_GROUPS, TrialsByUnit
from deciban.io.shards.pieces import Chunk, Piece, ShardSource, Wanted
from deciban.types import CountArray, IntArray


class UnitNames(Locked, Work):
    """Which units there are."""

    words = "looking for units"

    def __init__(self) -> None:
        super().__init__()
        self.keys: Keys = np.zeros(0, np.uint64)
        self.about: TrialUnits | None = None

    def empty(self) -> Self:
        """See `Work.empty`."""
        return type(self)()

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        for piece in pieces:
            units = piece.read(Wanted((), units=True)).units
            if units is not None:
                own = units.only_used()
                with self.lock:
                    self.keys = np.union1d(self.keys, own.keys)
                    self.about = replace(own, codes=tuple(side[:0] for side in own.codes))

    def __add__(self, other: Self) -> Self:
        """See `Work.__add__`."""
        found = self.empty()
        found.keys, found.about = np.union1d(self.keys, other.keys), self.about or other.about
        return found

    @property
    def units(self) -> TrialUnits | None:
        """All of them, of no trial; None if there is none."""
        return None if self.about is None else replace(self.about, keys=self.keys)


@dataclass(frozen=True, eq=False)
class UnitsOfPieces:
    """Which units there are, and which of them trials are of, piece by piece. Can be pickled.

    Attributes
    ----------
    units : TrialUnits
        All units, of no trial.
    by_name : SpeakersByName, optional
        The units of names, where pieces do not say those of trials.
    """

    units: TrialUnits
    by_name: SpeakersByName | None = None

    def wanted(self, wanted: Wanted) -> Wanted:
        """The same, and what says the units."""
        named = self.by_name is not None
        return replace(wanted, units=not named, names=named)

    def of(self, chunk: Chunk) -> TrialUnits:
        """Those of trials that count, by their positions among all units."""
        own = chunk.units if self.by_name is None else self.by_name.units_of(chunk)
        assert own is not None  # noqa: S101  # they were asked for
        place = np.searchsorted(self.units.keys, own.keys)
        return replace(own, codes=tuple(place[side] for side in own.codes), keys=self.units.keys)


class UnitTally(Locked, Work):
    """Trials of both classes by unit and cell.

    Parameters
    ----------
    system : int
    cells : Cells
    keys : (n_units,) uint64 array
        Of all units, ascending.
    by_name : SpeakersByName, optional
        The units of names, where pieces do not say those of trials.
    """

    words = "counting by unit"

    def __init__(self, system: int, cells: Cells, keys: Keys, by_name: SpeakersByName | None = None) -> None:
        super().__init__()
        self.system, self.cells, self.keys, self.by_name = system, cells, keys, by_name
        self.group: IntArray = groups_of_units(keys, N_GROUPS)
        self.counts: tuple[UnitCounts, UnitCounts] | None = None

    def empty(self) -> Self:
        """See `Work.empty`."""
        return type(self)(self.system, self.cells, self.keys, self.by_name)

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        named = self.by_name is not None
        wanted = Wanted((self.system,), truth=True, units=not named, weight=True, names=named)
        for piece in pieces:
            chunk = counting(piece.read(wanted))
            own = chunk.units if self.by_name is None else self.by_name.units_of(chunk)
            assert own is not None and chunk.truth is not None  # noqa: S101, PT018  # they were asked for
            place = np.searchsorted(self.keys, own.keys)
            units = replace(own, codes=tuple(place[side] for side in own.codes), keys=self.keys)
            found = []
            for some in (chunk.truth, ~chunk.truth):
                weight = None if chunk.weight is None else chunk.weight[some]
                found.append(UnitCounts.of(chunk.scores[0][some], units.take(some), self.cells, self.group, weight))
            with self.lock:
                self.counts = _sum(self.counts, (found[0], found[1]))

    def __add__(self, other: Self) -> Self:
        """See `Work.__add__`."""
        found = self.empty()
        found.counts = self.counts if other.counts is None else _sum(self.counts, other.counts)
        return found


def _sum(one: tuple[UnitCounts, UnitCounts] | None, other: tuple[UnitCounts, UnitCounts]) -> Any:
    return other if one is None else (one[0] + other[0], one[1] + other[1])


@dataclass(frozen=True, eq=False)
class UnitsInPieces(TrialsByUnit):
    """Trials of a source with their units: every count is a pass over it.

    Attributes
    ----------
    source : ShardSource
    engine : Engine
    system : int
    units : TrialUnits
        All units, of no trial.
    by_name : SpeakersByName, optional
        The units of names, where pieces do not say those of trials.
    """

    source: ShardSource
    engine: Engine
    system: int
    units: TrialUnits
    by_name: SpeakersByName | None = None

    @classmethod
    def of(cls, source: ShardSource, engine: Engine, system: int) -> UnitsInPieces | None:
        """Find all units; None if the source knows none."""
        if not source.has_units:
            return None
        units = engine.run(UnitNames(), source.pieces).units
        return None if units is None else cls(source, engine, system, units)

    @property
    def about(self) -> TrialUnits:
        """See `TrialsByUnit.about`."""
        return self.units

    def counts(
        self,
        cells: Cells,
        in_cells: tuple[CountArray, CountArray],  # noqa: ARG002  # where gaps hide scores these are no exact numbers
    ) -> tuple[UnitCounts, UnitCounts]:
        """See `TrialsByUnit.counts`."""
        work = UnitTally(self.system, cells, self.units.keys, self.by_name)
        found = self.engine.run(work, self.source.pieces).counts
        assert found is not None  # noqa: S101  # there are pieces
        return found
