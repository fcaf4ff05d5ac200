"""Cross-validation of trials in pieces: what models make of each that were trained without it, as it is read."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np

from deciban.calibration.cross import require_left, words_of
from deciban.calibration.folds_of_sources import Deal, FoldedPiece, dealt, dealt_by_group
from deciban.errors import InputError, TrialError, naming_trials
from deciban.models.mapped import ordered
from deciban.models.score_model import missing_measures_are_known
from deciban.trials.passes import Engine, Locked, Work
from deciban.trials.sources import Chunk, MappedPiece, Piece, ShardSource, Wanted
from deciban.types import AnyArray, BoolArray, CountArray, FloatArray, IntArray


def _left(out: tuple[int, int], piece: FoldedPiece, wanted: Wanted) -> Chunk:
    """Read the trials of a piece that share no fold with the held-out trials."""
    chunk, folds = piece.with_folds(wanted)
    left: BoolArray = np.logical_not(np.isin(folds, out).any(axis=0))
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
    chunk, folds = piece.with_folds(replace(wanted, systems=systems, quality=quality, weight=True))
    low, high = folds.min(axis=0, initial=len(models)), folds.max(axis=0, initial=-1)
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


@dataclass(frozen=True, slots=True)
class _Counts:
    """A look at how many trials each part has, of each class: all of them, and those that count."""

    deal: Deal
    n_folds: int
    n_classes: int

    def __call__(self, part: tuple[Chunk, IntArray]) -> CountArray:
        chunk, folds = part
        assert chunk.truth is not None  # noqa: S101  # it was asked for
        place = (folds.min(axis=0) * self.n_folds + folds.max(axis=0)) * self.n_classes + chunk.truth
        size = self.n_folds * self.n_folds * self.n_classes
        counting = slice(None) if chunk.weight is None else chunk.weight > 0
        table = np.stack([np.bincount(place, minlength=size), np.bincount(place[counting], minlength=size)])
        return table.reshape(2, self.n_folds, self.n_folds, self.n_classes)


class PartCounts(Locked, Work):
    """How many trials each part has, of each class."""

    words = "counting folds"

    def __init__(self, look: _Counts) -> None:
        super().__init__()
        self.look, self.found = look, np.zeros((2, look.n_folds, look.n_folds, look.n_classes), np.int64)

    def empty(self) -> Self:
        """See `Work.empty`."""
        return type(self)(self.look)

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        for piece in pieces:
            assert isinstance(piece, FoldedPiece)  # noqa: S101  # these were passed
            own = piece.with_folds(Wanted((), truth=True, weight=True))
            if own[1].size:
                found = self.look(own)
                with self.lock:
                    self.found = self.found + found

    def __add__(self, other: Self) -> Self:
        """See `Work.__add__`."""
        found = self.empty()
        found.found = self.found + other.found
        return found


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
        counts = engine.run(PartCounts(_Counts(deal, n_folds, n_classes)), pieces).found
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
