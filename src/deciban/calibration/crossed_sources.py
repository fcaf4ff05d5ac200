"""Cross-validation of trials that are read in batches: each is scored by a model that was trained without its fold."""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np

from deciban._arrow import compute as pc
from deciban._arrow import to_numpy
from deciban.calibration.cross import (
    are_listed,
    folds_by_content,
    folds_of,
    folds_of_shares,
    require_left,
    shares_of,
    words_of,
)
from deciban.core.ranks.exact_weights import aligned, summed_by_code
from deciban.errors import InputError, TrialError, naming_trials
from deciban.models.mapped import ordered
from deciban.models.score_model import ARGUMENTS, missing_measures_are_known
from deciban.trials.names import encode
from deciban.trials.passes import Engine, Work, found_in
from deciban.trials.sources import Chunk, MappedPiece, NumberedPiece, Piece, ShardSource, Wanted, numbered
from deciban.types import AnyArray, BoolArray, CountArray, FloatArray, IntArray


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
        return folds_by_content(numbers_of(chunk), chunk.labels, self.n_folds, self.seed)[None]

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


class Gathered(Work):
    """The numbers, class and weight of every trial, piece by piece, if they are few."""

    words = "listing trials"

    def __init__(self, wanted: Wanted) -> None:
        self.wanted = wanted
        self.n_counting = 0
        self.found: dict[int, Chunk] | None = {}

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        for piece in pieces:
            assert isinstance(piece, NumberedPiece)  # noqa: S101  # these were passed
            chunk = piece.read(self.wanted)
            n = len(chunk.labels) if chunk.weight is None else int(np.count_nonzero(chunk.weight))
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

        assert chunk.groups is not None  # noqa: S101  # they were asked for
        merged, names = encode(pa.concat_arrays([own for _, own in chunk.groups]))
        ends = np.cumsum([len(own) for _, own in chunk.groups])[:-1]
        amount = np.ones(len(chunk.labels)) if chunk.weight is None else chunk.weight.astype(np.float64)
        truth = chunk.labels.astype(np.int64)
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


def _shares(n_classes: int, chunk: Chunk) -> GroupShares | None:
    """Sum up what groups have."""
    return GroupShares.of(chunk, n_classes) if chunk.truth is not None and len(chunk.truth) else None


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

    def read(self, wanted: Wanted) -> Chunk:
        """See `Piece.read`."""
        if not wanted.folds:
            return self.piece.read(wanted)
        chunk = self.piece.read(self.deal.wanted(wanted))
        return replace(self.deal.only(chunk, wanted), folds=self.deal.of(chunk, self.listed).T)


def dealt_by_group(source: ShardSource, engine: Engine, n_folds: int, seed: int) -> ByGroup:
    """Folds of groups: one pass.

    Raises
    ------
    InputError
        If there are fewer groups than folds.
    """
    wanted = Wanted((), truth=True, weight=source.has_weights, groups=True)
    look = partial(_shares, len(source.classes) or 2)
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


def _left(out: tuple[int, int], piece: FoldedPiece, wanted: Wanted) -> Chunk:
    """Read the trials of a piece that share no fold with the held-out trials."""
    chunk = piece.read(replace(wanted, folds=True))
    left: BoolArray = np.logical_not(np.isin(chunk.folds, out).any(axis=1))  # type: ignore[arg-type]  # they were asked for
    return chunk.take(left)


def _crossed(
    models: Mapping[tuple[int, int], Any], systems: tuple[int, ...], piece: FoldedPiece, wanted: Wanted
) -> Chunk:
    """Read the trials of a piece with the results of models that were trained on the others.

    Parameters
    ----------
    models : mapping of (int, int) to model
        By the folds of the held-out trials.
    systems : tuple of int
    piece : FoldedPiece
    wanted : Wanted

    Raises
    ------
    InputError
        If a model refuses a trial.
    """
    if not wanted.systems:
        return piece.read(wanted)
    some = next(iter(models.values()))
    quality = some.quality_arguments if some.takes_quality else ()
    # What weighs nothing may be what a model refuses.
    chunk = piece.read(replace(wanted, systems=systems, quality=quality, weight=True, folds=True))
    low, high = _ends(chunk)
    given, found = np.stack(chunk.scores, axis=1), None
    for out, model in models.items():
        rows = np.flatnonzero((low == out[0]) & (high == out[1]))
        if not len(rows):
            continue
        own = _transformed(model, given[rows], chunk.take(rows), rows, piece.name)
        found = np.full((len(given), *own.shape[1:]), np.nan) if found is None else found
        found[rows] = own
    if found is None:
        found = np.zeros((0, *chunk.scores[0].shape[1:]))
    weight = chunk.weight if wanted.weight else None
    return replace(chunk, scores=(found,) * len(wanted.systems), quality=None, weight=weight)


def _transformed(model: Any, given: AnyArray, chunk: Chunk, rows: IntArray, name: str) -> FloatArray:
    """Apply a model to some of the trials of a piece; NaN for trials of weight 0 that it refuses."""
    measures, weight = chunk.quality or {}, chunk.weight
    with naming_trials(f"{{}} of {name}".format), missing_measures_are_known():
        try:
            return np.asarray(model.transform(model.inputs(given), **measures))
        except TrialError as error:
            if weight is None or weight.all():
                raise error.among(rows) from None
        counting = np.flatnonzero(weight)
        own = {key: values[counting] for key, values in measures.items()}
        try:
            found = np.asarray(model.transform(model.inputs(given[counting]), **own))
        except TrialError as error:
            raise error.among(rows[counting]) from None
        whole = np.full((len(given), *found.shape[1:]), np.nan)
        whole[counting] = found
        return whole


def _ends(chunk: Chunk) -> tuple[IntArray, IntArray]:
    """The lower and the higher fold of each trial."""
    assert chunk.folds is not None  # noqa: S101  # they were asked for
    return chunk.folds.min(axis=1), chunk.folds.max(axis=1)


def _counts(n_folds: int, n_classes: int, chunk: Chunk) -> CountArray | None:
    """Count the trials of each part, of each class: all of them, and those that count; None of no trial."""
    if chunk.truth is None or not len(chunk.truth):
        return None
    low, high = _ends(chunk)
    place, size = (low * n_folds + high) * n_classes + chunk.truth, n_folds * n_folds * n_classes
    counting = slice(None) if chunk.weight is None else chunk.weight > 0
    table = np.stack([np.bincount(place, minlength=size), np.bincount(place[counting], minlength=size)])
    return table.reshape(2, n_folds, n_folds, n_classes)


@dataclass(frozen=True, eq=False)
class SourceParts:
    """Trials of a source with the folds in which they are held out, for any number of models.

    Attributes
    ----------
    source : ShardSource
    pieces : tuple of FoldedPiece
    counts : (2, n_folds, n_folds, n_classes) int array
        Trials by their folds, the lower first, and by class: all, and those that count.
    """

    source: ShardSource
    pieces: tuple[FoldedPiece, ...]
    counts: IntArray

    @classmethod
    def of(cls, source: ShardSource, engine: Engine, n_folds: int, *, seed: int = 0) -> Self:
        """Make folds, as `deciban.calibration.cross_validated` does in memory: two passes.

        Parameters
        ----------
        source : ShardSource
            Which knows its groups.
        engine : Engine
        n_folds : int
        seed : int

        Raises
        ------
        InputError
            If there are fewer groups or trials than folds, or the source was not asked for groups.
        """
        n_classes = len(source.classes) or 2
        if source.groups is None:
            raise InputError(
                f"cross_validate: {source.name} was opened without what is held out together. Name the files instead, "
                "or open them with groups=() for the names of both sides, or groups=[column] (open_shards)."
            )
        deal: Deal
        listed: Sequence[IntArray | None] = [None] * len(source.pieces)
        if source.groups:
            deal = dealt_by_group(source, engine, n_folds, seed)
        else:
            deal, listed = dealt(source, engine, n_folds, seed)
        pieces = tuple(
            FoldedPiece(one, deal, own, one.name, one.n_rows) for one, own in zip(source.pieces, listed, strict=True)
        )
        folded, wanted = replace(source, pieces=pieces), Wanted((), truth=True, weight=True, folds=True)
        counts = found_in(folded, engine, wanted, partial(_counts, n_folds, n_classes), "counting folds")
        return cls(source, pieces, counts)

    @property
    def n_folds(self) -> int:
        """How many folds there are."""
        return int(self.counts.shape[1])

    def __len__(self) -> int:
        """How many models are trained."""
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[tuple[str, tuple[int, int], ShardSource]]:
        """Words for each part, its folds, and the trials to train on."""
        for low, high in np.argwhere(self.counts[0].sum(axis=2) > 0).tolist():
            step = partial(_left, (low, high))
            left = tuple(MappedPiece(one, step, f"what is left of {one.name}") for one in self.pieces)
            yield words_of(low, high, self.n_folds), (low, high), replace(self.source, pieces=left)

    def _require(self, name: str, out: tuple[int, int]) -> None:
        """Refuse to train without a part, if a class of two has no trial then."""
        others = [k for k in range(self.n_folds) if k not in out]
        n_non, n_tar = self.counts[1][np.ix_(others, others)].sum(axis=(0, 1)).tolist()
        require_left(name, n_tar, n_non)

    def crossed(
        self, model: Any, engine: Engine, memory: int, name: str, *, systems: Sequence[int] | None = None
    ) -> ShardSource:
        """Train a copy of a model for every part, on the trials that share no fold with it.

        Parameters
        ----------
        model : ScoreModel
            It stays as it is.
        engine : Engine
        memory : int
        name : str
            What its scores are called.
        systems : sequence of int, optional
            Those to train on; all if left out.

        Returns
        -------
        ShardSource
            The same trials with what the model makes of each that was trained without it.

        Raises
        ------
        InputError
            If training fails; the message names the fold.
        """
        chosen = tuple(range(len(self.source.systems)) if systems is None else systems)
        models: dict[tuple[int, int], Any] = {}
        for words, out, left in self:
            if not self.source.classes:
                self._require(words, out)
            try:
                with missing_measures_are_known():
                    own = ordered(left, systems=chosen)
                    models[out] = copy.deepcopy(model).fit_pieces(own, engine, memory)
            except InputError as error:
                raise InputError(f"Training without {words}: {error}") from error
        step = partial(_crossed, models, chosen)
        pieces = tuple(MappedPiece(one, step, one.name) for one in self.pieces)
        return replace(self.source, pieces=pieces, systems=(name,), is_double=True, quality=())
