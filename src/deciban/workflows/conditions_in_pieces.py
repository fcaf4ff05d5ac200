"""Conditions of trials in pieces: which there are takes one pass, then each is a source of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pyarrow as pa

from deciban._arrow import of_numpy
from deciban.core.equalizing import equalizing_shares, totals_by_condition
from deciban.engines.trial_units import TrialSurvey
from deciban.engines.unit_survey import LookAtUnits
from deciban.engines.work import Engine, Locked, Work
from deciban.errors import InputError
from deciban.evaluation.conditions import Condition, SystemConditions
from deciban.io.shards.pieces import Chunk, Piece, PieceOf, ShardSource, Wanted
from deciban.messages import Message
from deciban.trials.frozen import as_text
from deciban.trials.names.codes import positions
from deciban.types import AnyArray, BoolArray, CountArray, FloatArray, IntArray
from deciban.workflows.conditions import by_conditions, conditions_of, equalized, split_message
from deciban.workflows.kinds import AnyKind
from deciban.workflows.options import Options
from deciban.workflows.partitions import Partition, Value, coded_values, crossed, in_order, require_few
from deciban.workflows.split import Split, SplitColumn
from deciban.workflows.units_in_pieces import UnitsOfSource

NO_INTERVALS = "Figures in which conditions count alike have no intervals where trials are read in pieces (--memory)."


@dataclass(frozen=True, slots=True)
class ColumnOfPieces:
    """A column by which the trials of pieces are split.

    Attributes
    ----------
    column : SplitColumn
    held : pair of pyarrow arrays, optional
        What a file says of the names of a side: names, and what is said of them.
    """

    column: SplitColumn
    held: tuple[pa.Array, pa.Array] | None = None

    @classmethod
    def of(cls, column: SplitColumn) -> Self:
        """Read the file, if there is one."""
        if not column.path:
            return cls(column)
        from deciban.io.read import read_id_map

        found = read_id_map(column.path)
        return cls(column, (found.left, found.right))

    def coded(self, chunk: Chunk, name: str, argument: str) -> tuple[list[Value], IntArray]:
        """Values and which of them every trial has; see `deciban.workflows.partitions.coded_values`."""
        assert chunk.conditions is not None  # noqa: S101  # they were asked for
        values = chunk.conditions[self.column.asked]
        if self.held is not None:
            place = positions(as_text(values), self.held[0])
            values = self.held[1].take(of_numpy(place, lacking=place < 0))
        return coded_values(values, self.column, lambda row: f"{name}, trial {row:,} of it", argument)


@dataclass(frozen=True, slots=True)
class SplitOfPieces:
    """One partition of the trials of pieces.

    Attributes
    ----------
    columns : tuple of ColumnOfPieces
    argument : str
        For messages.
    """

    columns: tuple[ColumnOfPieces, ...]
    argument: str

    def coded(self, chunk: Chunk, name: str) -> tuple[tuple[tuple[Value, ...], ...], IntArray]:
        """Conditions that could be in a piece, and which of them every trial is of."""
        each = [one.coded(chunk, name, self.argument) for one in self.columns]
        self.require_few([len(values) for values, _ in each])
        condition = np.zeros(0 if chunk.truth is None else len(chunk.truth), np.int64)
        for values, codes in each:
            condition = condition * len(values) + codes
        return crossed([values for values, _ in each]), condition

    def require_few(self, sizes: Sequence[int]) -> None:
        """See `deciban.workflows.partitions.require_few`."""
        require_few([one.column for one in self.columns], sizes, self.argument)


class LookAtConditions(Locked, Work):
    """One pass: which conditions there are, how many trials of each class they have, and in which pieces.

    Parameters
    ----------
    splits : sequence of SplitOfPieces
    n_classes : int
    """

    words = "looking at conditions"

    def __init__(self, splits: Sequence[SplitOfPieces], n_classes: int) -> None:
        super().__init__()
        self.splits, self.n_classes = tuple(splits), n_classes
        self.totals: list[dict[tuple[Value, ...], CountArray]] = [{} for _ in self.splits]
        self.places: list[dict[tuple[Value, ...], set[str]]] = [{} for _ in self.splits]

    def empty(self) -> Self:
        """See `Work.empty`."""
        return type(self)(self.splits, self.n_classes)

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        for piece in pieces:
            chunk = piece.read(Wanted((), truth=True, weight=True, conditions=True))
            assert chunk.truth is not None  # noqa: S101  # it was asked for
            found = [self._of(split, chunk, piece.name) for split in self.splits]
            with self.lock:
                for at, own in enumerate(found):
                    self._add(at, own, {called: {piece.name} for called in own})

    def _of(self, split: SplitOfPieces, chunk: Chunk, name: str) -> dict[tuple[Value, ...], CountArray]:
        values, condition = split.coded(chunk, name)
        sizes = {"n_conditions": len(values), "n_classes": self.n_classes}
        truth: Any = chunk.truth
        totals = totals_by_condition(condition, truth, chunk.weight, **sizes)
        there = np.bincount(condition, minlength=len(values)) > 0  # with weight 0, too
        return {called: own for called, own, is_there in zip(values, totals, there.tolist(), strict=True) if is_there}

    def _add(self, at: int, totals: Any, places: Any) -> None:
        for called, own in totals.items():
            self.totals[at][called] = self.totals[at].get(called, 0) + own
            self.places[at].setdefault(called, set()).update(places[called])
        self.splits[at].require_few([len({one[k] for one in self.totals[at]}) for k in range(self._width(at))])

    def _width(self, at: int) -> int:
        return len(self.splits[at].columns)

    def __add__(self, other: Self) -> Self:
        """See `Work.__add__`."""
        both = self.empty()
        for one in (self, other):
            for at in range(len(self.splits)):
                both._add(at, one.totals[at], one.places[at])
        return both

    def parts(self) -> list[PartOfPieces]:
        """The partitions, as of trials in memory."""
        return [self._part(at) for at in range(len(self.splits))]

    def _part(self, at: int) -> PartOfPieces:
        split, known = self.splits[at], self.totals[at]
        columns = tuple(one.column for one in split.columns)
        values = crossed([in_order((one[k] for one in known), column) for k, column in enumerate(columns)])
        nothing = np.zeros(self.n_classes, np.int64)
        totals = np.array([known.get(called, nothing) for called in values]).reshape(len(values), self.n_classes)
        places = tuple(frozenset(self.places[at].get(called, ())) for called in values)
        return PartOfPieces(split, Partition(columns, values, np.zeros(0, np.int64)), totals, places)


@dataclass(frozen=True, slots=True, eq=False)
class PartOfPieces:
    """A partition of the trials of pieces.

    Attributes
    ----------
    split : SplitOfPieces
    partition : Partition
        Of no trial.
    totals : (n_conditions, n_classes) array
    places : tuple of frozenset of str
        Names of the pieces in which there are trials of each condition.
    """

    split: SplitOfPieces
    partition: Partition
    totals: CountArray
    places: tuple[frozenset[str], ...]

    def source(self, whole: ShardSource, at: int) -> ShardSource:
        """The trials of one condition."""
        pieces = tuple(
            OfCondition(one, self.split, self.partition.values[at], one.name, one.n_rows)
            for one in whole.pieces
            if one.name in self.places[at]
        )
        return replace(whole, pieces=pieces)

    def equal(self, whole: ShardSource) -> ShardSource:
        """All trials, with every condition counting alike.

        Raises
        ------
        InputError
            If trials have no value.
        """
        for k, one in enumerate(self.split.columns):
            lacks = [at for at, values in enumerate(self.partition.values) if values[k] is None]
            n = self.totals[lacks].sum()
            if n:
                raise InputError(
                    f"equalize: {whole.name}: no value in {one.column.name!r}, and its condition must be known "
                    f"({n:,g} such trials). Complete it, or leave these trials out (--where)."
                )
        shares = dict(zip(self.partition.values, equalizing_shares(self.totals), strict=True))
        pieces = tuple(Equalized(one, self.split, shares, one.name, one.n_rows) for one in whole.pieces)
        return replace(whole, pieces=pieces, has_weights=True)


@dataclass(frozen=True, eq=False)
class OfCondition(PieceOf):
    """The trials of a piece that are of one condition."""

    piece: Piece
    split: SplitOfPieces
    values: tuple[Value, ...]
    name: str
    n_rows: int

    def read(self, wanted: Wanted) -> Chunk:
        """See `Piece.read`."""
        chunk = self.piece.read(replace(wanted, truth=True, conditions=True))
        known, condition = self.split.coded(chunk, self.name)
        chosen: BoolArray = np.zeros(len(condition), np.bool_)
        if self.values in known:
            chosen = condition == known.index(self.values)
        return replace(chunk.take(chosen), conditions=None)


@dataclass(frozen=True, eq=False)
class Equalized(PieceOf):
    """The trials of a piece with weights by which every condition counts alike."""

    piece: Piece
    split: SplitOfPieces
    shares: dict[tuple[Value, ...], FloatArray]
    name: str
    n_rows: int

    def read(self, wanted: Wanted) -> Chunk:
        """See `Piece.read`."""
        if not wanted.weight:
            return self.piece.read(wanted)
        chunk = self.piece.read(replace(wanted, truth=True, conditions=True))
        known, condition = self.split.coded(chunk, self.name)
        truth: AnyArray = np.asarray(chunk.truth)
        nothing = np.zeros(len(next(iter(self.shares.values()))))
        shares = np.array([self.shares.get(values, nothing) for values in known])
        weight = shares[condition, truth.astype(np.int64)]
        return replace(chunk, weight=weight if chunk.weight is None else weight * chunk.weight, conditions=None)


@dataclass(frozen=True, slots=True, eq=False)
class ConditionsOfPieces:
    """All systems of a source by condition; see `deciban.workflows.conditions.Conditions`.

    Attributes
    ----------
    source : ShardSource
    engine : Engine
    kind : AnyKind
    units : UnitsOfSource
        Of all trials.
    partitions, equalized : tuple of PartOfPieces
    """

    source: ShardSource
    engine: Engine
    kind: AnyKind
    units: UnitsOfSource
    partitions: tuple[PartOfPieces, ...]
    equalized: tuple[PartOfPieces, ...]

    @classmethod
    def of(
        cls, split: Split, source: ShardSource, engine: Engine, kind: AnyKind, units: UnitsOfSource
    ) -> ConditionsOfPieces:
        """Look at all trials once.

        Raises
        ------
        FormatError, InputError, OSError
            As reading does, or if there are too many conditions.
        """
        named = {"by": split.partitions, "equalize": split.equalized}
        splits = dict[Any, SplitOfPieces]()
        for argument, each in named.items():
            for columns in each:
                splits.setdefault(columns, SplitOfPieces(tuple(map(ColumnOfPieces.of, columns)), argument))
        n_classes = len(kind.classes_by_truth(source.classes))
        looked = engine.run(LookAtConditions(tuple(splits.values()), n_classes), source.pieces)
        found = dict(zip(splits, looked.parts(), strict=True))
        parts = [tuple(found[columns] for columns in several) for several in named.values()]
        return cls(source, engine, kind, units, parts[0], parts[1])

    @property
    def messages(self) -> tuple[Message, ...]:
        """Into how many conditions trials were split."""
        every = {id(one): one for one in (*self.partitions, *self.equalized)}
        return tuple(split_message(one.partition, one.totals) for one in every.values())

    def evaluated(self, system: int, pooled: Any, options: Options) -> SystemConditions:
        """Evaluate a system in all conditions.

        Parameters
        ----------
        system : int
            Its position.
        pooled : Evaluation or ClassEvaluation
            Of all its trials.
        options : Options
            With its figures.
        """
        parts = [self._by(one, system, options) for one in self.partitions]
        return SystemConditions(
            pooled, tuple(parts), tuple(self._equal(one, system, options) for one in self.equalized)
        )

    def _conditions(self, part: PartOfPieces) -> list[Condition]:
        return conditions_of(part.partition, part.totals, self.kind.classes_by_truth(self.source.classes))

    def _by(self, part: PartOfPieces, system: int, options: Options) -> Any:
        found = list[Condition]()
        for at, one in enumerate(self._conditions(part)):
            if one.lacking:
                found.append(one)
                continue
            source = part.source(self.source, at)
            how: Any = {"system": system, "name": one.name, "units": self._units_of(source)}
            found.append(replace(one, found=self.kind.evaluate_pieces(source, self.engine, options, **how)))
        level = None if self.units.units is None else options.how_sure.level
        return by_conditions(part.partition, found, level)

    def _equal(self, part: PartOfPieces, system: int, options: Options) -> Any:
        source = part.equal(self.source)
        own = replace(options, figures=replace(options.figures, subsets=None))
        none = UnitsOfSource(source, self.engine, None, None, ())
        name = f"equalized over {part.partition.title}"
        found = self.kind.evaluate_pieces(source, self.engine, own, system=system, name=name, units=none)
        notes = (NO_INTERVALS,) if self.units.units is not None else ()
        return equalized(part.partition, self._conditions(part), replace(found, notes=(*found.notes, *notes)))

    def _units_of(self, source: ShardSource) -> UnitsOfSource:
        """The units of some of the trials: those of all that these have."""
        whole = self.units
        if whole.units is None:
            return replace(whole, source=source)
        if whole.singles is not None:
            survey = self.engine.run(TrialSurvey(), source.pieces)
            return replace(whole, source=source, units=survey.units, singles=survey)
        if whole.are_trials:
            return replace(whole, source=source)
        own = self.engine.run(LookAtUnits((whole.by_name,)), source.pieces).facts[0].units
        own = None if own is None or own.n_units < 2 else replace(whole.units, keys=own.keys)
        return replace(whole, source=source, units=own)
