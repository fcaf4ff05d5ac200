"""Which fold each of the trials in pieces is in: the one that it has in memory."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from deciban._arrow import compute as pc
from deciban._arrow import to_numpy
from deciban.calibration.cross import are_listed, folds_by_content, folds_of, folds_of_shares, shares_of
from deciban.core.ranks.exact_weights import aligned, summed_by_code
from deciban.errors import InputError
from deciban.models.score_model import ARGUMENTS
from deciban.trials.names.codes import encode
from deciban.trials.passes import Engine, Locked, Work, found_in
from deciban.trials.sources import Chunk, NumberedPiece, Piece, ShardSource, Wanted, numbered
from deciban.types import AnyArray, IntArray


class Deal(ABC):
    """Says the folds of trials, piece by piece. Can be pickled."""

    n_sides: int = 1

    @abstractmethod
    def wanted(self, wanted: Wanted) -> Wanted:
        """The same, and what says the folds."""

    @abstractmethod
    def of(self, chunk: Chunk, listed: IntArray | None) -> IntArray:
        """Folds of the trials of a piece: a row for each side; ``listed`` are those that were found before."""

    def only(self, chunk: Chunk, wanted: Wanted) -> Chunk:  # noqa: ARG002
        """What was wanted of what was read."""
        return chunk


@dataclass(frozen=True, eq=False)
class ByGroup(Deal):
    """Trials are in the fold of their group, or in those of two.

    Attributes
    ----------
    names : pyarrow string array
        Of all groups.
    folds : (n_groups,) int array
    n_sides : int
    """

    names: Any
    folds: IntArray
    n_sides: int = 1

    def wanted(self, wanted: Wanted) -> Wanted:
        """See `Deal.wanted`."""
        return replace(wanted, groups=True)

    def of(self, chunk: Chunk, listed: IntArray | None) -> IntArray:  # noqa: ARG002
        """See `Deal.of`."""
        assert chunk.groups is not None  # noqa: S101  # they were asked for
        return np.stack([self.folds[to_numpy(pc.index_in(own, self.names))][codes] for codes, own in chunk.groups])


@dataclass(frozen=True)
class Listed(Deal):
    """Every trial has its fold, found by looking at all of them together."""

    def wanted(self, wanted: Wanted) -> Wanted:
        """See `Deal.wanted`."""
        return wanted

    def of(self, chunk: Chunk, listed: IntArray | None) -> IntArray:  # noqa: ARG002
        """See `Deal.of`."""
        assert listed is not None  # noqa: S101  # it was found
        return listed[None]


@dataclass(frozen=True)
class ByContent(Deal):
    """The numbers of a trial and its class say its fold: of very many no list is made."""

    n_systems: int
    quality: tuple[str, ...]
    n_folds: int
    seed: int

    def wanted(self, wanted: Wanted) -> Wanted:
        """See `Deal.wanted`."""
        return replace(wanted, systems=tuple(range(self.n_systems)), truth=True, quality=self.quality)

    def of(self, chunk: Chunk, listed: IntArray | None) -> IntArray:  # noqa: ARG002
        """See `Deal.of`."""
        assert chunk.truth is not None  # noqa: S101  # it was asked for
        return folds_by_content(numbers_of(chunk), chunk.truth, self.n_folds, self.seed)[None]

    def only(self, chunk: Chunk, wanted: Wanted) -> Chunk:
        """See `Deal.only`."""
        quality = None if chunk.quality is None else {name: chunk.quality[name] for name in wanted.quality}
        truth = chunk.truth if wanted.truth else None
        return replace(
            chunk, scores=tuple(chunk.scores[at] for at in wanted.systems), truth=truth, quality=quality or None
        )


def numbers_of(chunk: Chunk) -> list[AnyArray]:
    """Scores and quality measures of trials, column by column, in the order in which memory has them."""
    if not chunk.scores:
        return []
    whole = np.stack(chunk.scores, axis=1)
    columns = list(whole.reshape(len(whole), math.prod(whole.shape[1:])).T)
    measures = chunk.quality or {}
    return [*columns, *(column for name in ARGUMENTS if name in measures for column in measures[name].T)]


class Gathered(Locked, Work):
    """The numbers, class and weight of every trial, piece by piece, if they are few."""

    words = "listing trials"

    def __init__(self, wanted: Wanted) -> None:
        super().__init__()
        self.wanted = wanted
        self.n_counting = 0
        self.found: dict[int, Chunk] | None = {}

    def empty(self) -> Self:
        """See `Work.empty`."""
        return type(self)(self.wanted)

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        for piece in pieces:
            assert isinstance(piece, NumberedPiece)  # noqa: S101  # these were passed
            chunk = piece.read(self.wanted)
            assert chunk.truth is not None  # noqa: S101  # it was asked for
            n = len(chunk.truth) if chunk.weight is None else int(np.count_nonzero(chunk.weight))
            with self.lock:
                self._add(n, {piece.number: chunk})

    def _add(self, n: int, found: dict[int, Chunk] | None) -> None:
        self.n_counting += n
        one = next(iter(found.values())) if found else None
        few = one is None or are_listed(self.n_counting, len(numbers_of(one)))
        self.found = None if self.found is None or found is None or not few else self.found | found

    def __add__(self, other: Self) -> Self:
        """See `Work.__add__`."""
        found = self.empty()
        for one in (self, other):
            found._add(one.n_counting, one.found)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class GroupShares:
    """How much of each class groups have; of more trials it adds up.

    Attributes
    ----------
    names : pyarrow string array
    sums, totals : (n_digits, n_groups * n_classes) and (n_digits, n_classes) int arrays, each with a place
        As of `deciban.core.ranks.exact_weights.summed_by_code`: exact, for any pieces in any order.
    """

    names: Any
    sums: tuple[IntArray, int]
    totals: tuple[IntArray, int]

    @classmethod
    def of(cls, chunk: Chunk, n_classes: int) -> Self:
        """Of the trials of a piece."""
        import pyarrow as pa

        assert chunk.groups is not None and chunk.truth is not None  # noqa: S101, PT018  # they were asked for
        merged, names = encode(pa.concat_arrays([own for _, own in chunk.groups]))
        ends = np.cumsum([len(own) for _, own in chunk.groups])[:-1]
        amount = np.ones(len(chunk.truth)) if chunk.weight is None else chunk.weight.astype(np.float64)
        truth = chunk.truth.astype(np.int64)
        parts = zip(np.split(merged, ends), chunk.groups, strict=True)
        both = [place[codes] * n_classes + truth for place, (codes, _) in parts]
        return cls(
            names, summed_by_code(amount, both, len(names) * n_classes), summed_by_code(amount, [truth], n_classes)
        )

    def __add__(self, other: GroupShares) -> GroupShares:
        """Of both."""
        import pyarrow as pa

        place, names = encode(pa.concat_arrays([self.names, other.names]))
        n_classes = self.totals[0].shape[1]
        spread = list[tuple[IntArray, int]]()
        for one, own in zip((self, other), np.split(place, [len(self.names)]), strict=True):
            sums, first = one.sums
            table = np.zeros((len(sums), len(names), n_classes), np.int64)
            table[:, own] = sums.reshape(len(sums), len(own), n_classes)
            spread.append((table.reshape(len(sums), len(names) * n_classes), first))
        return GroupShares(names, _added(spread), _added([self.totals, other.totals]))

    def dealt(self, n_folds: int, seed: int, n_sides: int) -> ByGroup:
        """The folds of all groups, as of `deciban.calibration.cross.folds_of`."""
        order = to_numpy(pc.sort_indices(self.names))
        folds = folds_of_shares(shares_of(self.sums, self.totals)[order], n_folds, seed)
        return ByGroup(self.names.take(order), folds, n_sides)


def _added(parts: Sequence[tuple[IntArray, int]]) -> tuple[IntArray, int]:
    """Sums of the digits of both."""
    (one, other), place = aligned(parts)
    return one + other, place


@dataclass(frozen=True, slots=True)
class _Shares:
    """A look at what groups have."""

    n_classes: int

    def __call__(self, chunk: Chunk) -> GroupShares | None:
        return GroupShares.of(chunk, self.n_classes) if chunk.truth is not None and len(chunk.truth) else None


@dataclass(frozen=True, eq=False)
class FoldedPiece(Piece):
    """A piece whose trials know their folds.

    Attributes
    ----------
    piece : Piece
    deal : Deal
    listed : (n_trials,) int array, optional
    """

    piece: Piece
    deal: Deal
    listed: IntArray | None
    name: str
    n_rows: int

    def with_folds(self, wanted: Wanted) -> tuple[Chunk, IntArray]:
        """Read its trials, with their folds: a row for each side."""
        chunk = self.piece.read(self.deal.wanted(wanted))
        return self.deal.only(chunk, wanted), self.deal.of(chunk, self.listed)

    def read(self, wanted: Wanted) -> Chunk:
        """See `Piece.read`."""
        return self.piece.read(wanted)


def dealt_by_group(source: ShardSource, engine: Engine, n_folds: int, seed: int) -> ByGroup:
    """Folds of groups: one pass.

    Raises
    ------
    InputError
        If there are fewer groups than folds.
    """
    wanted = Wanted((), truth=True, weight=source.has_weights, groups=True)
    look = _Shares(len(source.classes) or 2)
    shares = found_in(source, engine, wanted, look, "looking at what is held out together")
    if shares is None:
        raise InputError(f"{source.name}: holds no trial.")
    found: ByGroup = shares.dealt(n_folds, seed, len(source.groups or ()))
    return found


def dealt(source: ShardSource, engine: Engine, n_folds: int, seed: int) -> tuple[Deal, Sequence[IntArray | None]]:
    """Folds of trials by themselves, and what is listed of each piece if they are few: one pass.

    Raises
    ------
    InputError
        If there are fewer trials than folds.
    """
    systems = tuple(range(len(source.systems)))
    wanted = Wanted(systems, truth=True, weight=source.has_weights, quality=source.quality)
    pieces = numbered(source)
    found = engine.run(Gathered(wanted), pieces).found
    if found is None:
        return ByContent(len(systems), source.quality, n_folds, seed), [None] * len(pieces)
    chunks = [found[at] for at in range(len(pieces))]
    sizes = [len(one.scores[0]) for one in chunks]
    filled = [one for one in chunks if len(one.scores[0])]
    numbers = np.concatenate([np.stack(numbers_of(one), axis=1) for one in filled])
    truth = np.concatenate([np.asarray(one.truth).astype(np.int64) for one in filled])
    weight = np.concatenate([one.weight for one in filled if one.weight is not None]) if source.has_weights else None
    folds = folds_of(numbers, truth, weight, None, n_folds=n_folds, seed=seed)[0]
    return Listed(), np.split(folds, np.cumsum(sizes)[:-1])
