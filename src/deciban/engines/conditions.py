"""Conditions of trials in pieces: which there are, the trials of one of them, and all of them with new weights."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np

from deciban._files import ScratchFolder
from deciban.core.equalizing import totals_by_condition
from deciban.trials.passes import Engine, Work
from deciban.trials.sources import Chunk, MappedPiece, Piece, ShardSource, Wanted, changed, numbered
from deciban.types import AnyArray, CountArray, FloatArray, IntArray

Values: TypeAlias = tuple[str | None, ...]
"""Of a condition in each column; None where nothing is said."""


class SplitRows(Protocol):
    """Tells the conditions of trials. Can be pickled."""

    def of(self, chunk: Chunk, name: str) -> tuple[list[Values], IntArray]:
        """Conditions that trials are of, and which of them each is of; ``name`` is the piece, for messages."""

    def require_few(self, found: Sequence[Values]) -> None:
        """Refuse more conditions than are evaluated."""


@dataclass(frozen=True, slots=True, eq=False)
class ConditionFacts:
    """What is known of a condition; ``a + b`` is what is known of the trials of both.

    Attributes
    ----------
    n_trials : int
    totals : (n_classes,) array
        Trials of each class, or their weight.
    pieces : int
        Which pieces have some of its trials: a bit for each.
    """

    n_trials: int
    totals: CountArray
    pieces: int

    def __add__(self, other: ConditionFacts) -> ConditionFacts:
        """Of the trials of both."""
        return ConditionFacts(self.n_trials + other.n_trials, self.totals + other.totals, self.pieces | other.pieces)


class LookAtConditions(Work):
    """One pass: which conditions trials are of, and how many of each class.

    Parameters
    ----------
    splits : sequence of SplitRows
        Ways to split them.
    n_classes : int
    """

    words = "looking for conditions"

    def __init__(self, splits: Sequence[SplitRows], n_classes: int) -> None:
        self.splits, self.n_classes = tuple(splits), n_classes
        self.found = _Seen(self.splits, tuple({} for _ in self.splits))

    def of(self, pieces: Sequence[Piece]) -> _Seen:
        """See `Work.of`."""
        found: _Seen = self.empty().found
        for piece in pieces:
            chunk = piece.read(Wanted((), truth=True, weight=True, conditions=True))
            bit = 1 << getattr(piece, "number", 0)
            found += _Seen(self.splits, tuple(self._facts(chunk, one, piece.name, bit) for one in self.splits))
        return found

    def _facts(self, chunk: Chunk, split: SplitRows, name: str, bit: int) -> dict[Values, ConditionFacts]:
        values, codes = split.of(chunk, name)
        sizes = {"n_conditions": len(values), "n_classes": self.n_classes}
        totals = totals_by_condition(codes, chunk.labels.astype(np.int64), chunk.weight, **sizes)
        n_trials = np.bincount(codes, minlength=len(values)).tolist()
        return {one: ConditionFacts(n, row, bit) for one, n, row in zip(values, n_trials, totals, strict=True)}


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """What is known of the conditions of each way to split trials; ``a + b`` is what is known of the trials of both."""

    splits: tuple[SplitRows, ...]
    each: tuple[Mapping[Values, ConditionFacts], ...]

    def __add__(self, other: _Seen) -> _Seen:
        found = []
        for split, one, more in zip(self.splits, self.each, other.each, strict=True):
            found.append({**one, **{key: one[key] + facts if key in one else facts for key, facts in more.items()}})
            split.require_few([*found[-1]])
        return _Seen(self.splits, tuple(found))


def look_at_conditions(
    source: ShardSource, engine: Engine, splits: Sequence[SplitRows], n_classes: int
) -> list[dict[Values, ConditionFacts]]:
    """The conditions that trials of a source are of, by each way to split them: one pass.

    Raises
    ------
    FormatError, InputError, OSError
        As reading does, or if there are too many.
    """
    return [dict(one) for one in engine.run(LookAtConditions(splits, n_classes), numbered(source)).found.each]


def _of_condition(split: SplitRows, cells: tuple[Values, ...], piece: Piece, wanted: Wanted) -> Chunk:
    """Read the trials of a piece that are of one condition."""
    chunk = piece.read(replace(wanted, conditions=True))
    values, codes = split.of(chunk, piece.name)
    is_of = np.array([one in cells for one in values], np.bool_)
    return replace(chunk.take(np.flatnonzero(is_of[codes])), conditions=None)


def of_condition(source: ShardSource, split: SplitRows, cells: Sequence[Values], facts: ConditionFacts) -> ShardSource:
    """The trials of a source that have some combinations of values; pieces without any are not read."""
    pieces = source.each(partial(_of_condition, split, tuple(cells)))
    return source.made_of([one for at, one in enumerate(pieces) if facts.pieces >> at & 1])


@dataclass(frozen=True, slots=True, eq=False)
class ConditionWeights:
    """What trials weigh by condition and class, beside what they weigh by themselves.

    Attributes
    ----------
    split : SplitRows
    place : mapping of Values to int
        Positions of the conditions.
    factors : (n_conditions, n_classes) array
    strata : (n_conditions, n_classes) int array
        What has a mean of its own.
    """

    split: SplitRows
    place: Mapping[Values, int]
    factors: FloatArray
    strata: IntArray


def _weighted(known: ConditionWeights, place: int | None, piece: Piece, wanted: Wanted) -> Chunk:
    """Read the trials of a piece, which are of one condition or of several, with the weights of their conditions."""
    chunk = piece.read(replace(wanted, truth=True, weight=True, conditions=place is None))
    of_trials: Any = place
    if place is None:
        values, codes = known.split.of(chunk, piece.name)
        of_trials = np.array([known.place[one] for one in values], np.int64)[codes]
    at = of_trials, chunk.labels.astype(np.int64)
    factor = known.factors[at]
    weight = factor if chunk.weight is None else factor * chunk.weight
    return replace(chunk, weight=weight if wanted.weight else None, stratum=known.strata[at], conditions=None)


def weighted_by_condition(source: ShardSource, weights: ConditionWeights) -> ShardSource:
    """The trials of a source, each weighing what its condition says."""
    return source.map(partial(_weighted, weights, None), has_weights=True)


_Place: TypeAlias = tuple[int, int, int]
"""Trials of a piece that are of one condition: its number, where they begin in its file, and how many they are."""


class SortByCondition(Work):
    """One pass: the trials of every piece written to a file of its own, condition by condition.

    Parameters
    ----------
    split : SplitRows
    wanted : Wanted
        What is kept of them.
    folder : path
    """

    words = "sorting by condition"

    def __init__(self, split: SplitRows, wanted: Wanted, folder: Path) -> None:
        self._given = split, replace(wanted, conditions=True), folder

    def of(self, pieces: Sequence[Piece]) -> list[tuple[Values, _Place]]:
        """See `Work.of`."""
        (split, wanted, folder), found = self._given, list[tuple[Values, _Place]]()
        for piece in pieces:
            number: int = getattr(piece, "number", 0)
            chunk = piece.read(wanted)
            values, codes = split.of(chunk, piece.name)
            order, sizes = np.argsort(codes, kind="stable"), np.bincount(codes, minlength=len(values))
            ends = np.cumsum(sizes).tolist()
            with _file_of(folder, number).open("wb") as file:
                for one, end, n in zip(values, ends, sizes.tolist(), strict=True):
                    place = number, file.tell(), n
                    own = _only(chunk, order[end - n : end])
                    for part in (replace(own, units=None, names=None), (own.units, own.names)):  # passes read the first
                        pickle.dump(part, file, protocol=5)
                    found.append((one, place))
        return found


def _file_of(folder: Path, number: int) -> Path:
    return folder / f"{number:06d}"


def _only(chunk: Chunk, rows: AnyArray) -> Chunk:
    """Some of the trials, with the units that these have."""
    own = replace(chunk.take(rows), conditions=None)
    return own if own.units is None else replace(own, units=own.units.only_used())


@dataclass(frozen=True, eq=False)
class _Sorted(Piece):
    """The trials of a piece that are of one condition, as they were written.

    Attributes
    ----------
    path : path
    start : int
        Where they begin.
    """

    path: Path
    start: int
    name: str
    n_rows: int

    def read(self, wanted: Wanted) -> Chunk:
        """See `Piece.read`."""
        try:
            with self.path.open("rb") as file:
                file.seek(self.start)
                chunk: Chunk = pickle.load(file)  # noqa: S301  # this process wrote it, where nobody else may write
                is_more = wanted.units or wanted.names
                units, names = pickle.load(file) if is_more else (None, None)  # noqa: S301
        except (pickle.UnpicklingError, EOFError, FileNotFoundError) as error:
            raise changed(f"{self.path}, temporary rows of {self.name}") from error
        return replace(
            chunk,
            scores=chunk.scores * len(wanted.systems),
            truth=chunk.truth if wanted.truth else None,
            units=units if wanted.units else None,
            names=names if wanted.names else None,
            weight=chunk.weight if wanted.weight else None,
        )


@dataclass(frozen=True, slots=True, eq=False)
class SortedSource:
    """Trials of one system of a source, sorted by condition.

    Attributes
    ----------
    source : ShardSource
        Of one system, without pieces; it keeps the temporary folder.
    places : mapping of Values to sequence
        Where the trials of each condition are.
    names : tuple of str
        What messages call the pieces they are from.
    folder : path
    """

    source: ShardSource
    places: Mapping[Values, Sequence[_Place]]
    names: tuple[str, ...]
    folder: Path

    def of_condition(self, cells: Sequence[Values]) -> ShardSource:
        """The trials of a condition, which have some combinations of values."""
        return replace(self.source, pieces=tuple(piece for values in cells for piece in self._pieces(values)))

    def weighted(self, weights: ConditionWeights) -> ShardSource:
        """All trials, each weighing what its condition says."""
        pieces = [
            MappedPiece(piece, partial(_weighted, weights, weights.place[values]), piece.name)
            for values in self.places
            for piece in self._pieces(values)
        ]
        return replace(self.source, pieces=tuple(pieces), has_weights=True)

    def _pieces(self, values: Values) -> tuple[Piece, ...]:
        places = sorted(self.places[values])
        return tuple(_Sorted(_file_of(self.folder, at), start, self.names[at], n) for at, start, n in places)


def sorted_by_condition(
    source: ShardSource, engine: Engine, split: SplitRows, system: int, wanted: Wanted
) -> SortedSource:
    """Sort the trials of a system by condition: one pass, after which nothing is read from the source.

    Parameters
    ----------
    source : ShardSource
    engine : Engine
        Whose workers read files that this process can read.
    split : SplitRows
    system : int
        Its position.
    wanted : Wanted
        What is kept besides scores, truth and weights: units or names.

    Raises
    ------
    FormatError, InputError, OSError
        As reading does, or if there is no room for temporary files.
    """
    folder = ScratchFolder()
    own = replace(wanted, systems=(system,), truth=True, weight=True)
    with folder.or_nothing() as path:
        places = dict[Values, list[_Place]]()
        for values, place in engine.run(SortByCondition(split, own, path), numbered(source)).found or ():
            places.setdefault(values, []).append(place)
    kept: Any = (source.kept, folder)
    one = replace(source, pieces=(), systems=(source.systems[system],), kept=kept)
    return SortedSource(one, places, tuple(piece.name for piece in source.pieces), path)
