"""What a model makes of trials in pieces is a source in pieces again: every piece is mapped when it is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deciban.errors import naming_trials
from deciban.io.shards.pieces import Chunk, Piece, ShardSource, Wanted
from deciban.models.told_elsewhere import missing_measures_are_known


@dataclass(frozen=True, eq=False)
class MappedPiece(Piece):
    """The trials of a piece with what a model makes of their scores."""

    piece: Piece
    model: Any
    n_systems: int
    name: str
    n_rows: int

    def read(self, wanted: Wanted) -> Chunk:
        """Read its trials; see `Piece.read`.

        Raises
        ------
        InputError
            If the model refuses a trial.
        """
        if not wanted.systems:
            return self.piece.read(wanted)
        quality = self.model.quality_arguments if self.model.takes_quality else ()
        chunk = self.piece.read(replace(wanted, systems=tuple(range(self.n_systems)), quality=quality))
        if not len(chunk.scores[0]):
            return replace(chunk, scores=(chunk.scores[0].astype(np.float64),))
        with naming_trials(f"{{}} of {self.name}".format), missing_measures_are_known():
            given = chunk.quality or {}
            mapped = self.model.transform(self.model.inputs(np.stack(chunk.scores, axis=1)), **given)
        return replace(chunk, scores=(mapped,))


def mapped(source: ShardSource, model: Any, name: str) -> ShardSource:
    """The trials of a source with what a trained model makes of them.

    Parameters
    ----------
    source : ShardSource
        Of the systems of the model, in their order.
    model : ScoreModel
    name : str
        What it is called.

    Returns
    -------
    ShardSource
        Of one system.
    """
    n = len(source.systems)
    pieces = tuple(MappedPiece(one, model, n, one.name, one.n_rows) for one in source.pieces)
    return replace(source, pieces=pieces, systems=(name,), is_double=True)


@dataclass(frozen=True, eq=False)
class OrderedPiece(Piece):
    """The trials of a piece with some of the systems, or with the classes in another order."""

    piece: Piece
    systems: tuple[int, ...]
    classes: tuple[int, ...]
    name: str
    n_rows: int

    def read(self, wanted: Wanted) -> Chunk:
        """Read its trials; see `Piece.read`."""
        chunk = self.piece.read(replace(wanted, systems=tuple(self.systems[at] for at in wanted.systems)))
        if not self.classes:
            return chunk
        order = list(self.classes)
        truth = None if chunk.truth is None else np.argsort(order)[chunk.truth]
        return replace(chunk, scores=tuple(one[:, order] for one in chunk.scores), truth=truth)


def ordered(
    source: ShardSource, *, systems: Sequence[int] | None = None, classes: Sequence[str] | None = None
) -> ShardSource:
    """The trials of a source with some of its systems, or with its classes in another order.

    Parameters
    ----------
    source : ShardSource
    systems : sequence of int, optional
        Their positions, in the order that is wanted.
    classes : sequence of str, optional
        All of them, in the order that is wanted.
    """
    chosen = tuple(range(len(source.systems)) if systems is None else systems)
    names = source.classes if classes is None else tuple(classes)
    places = () if names == source.classes else tuple(source.classes.index(name) for name in names)
    if not places and chosen == tuple(range(len(source.systems))):
        return source
    pieces = tuple(OrderedPiece(one, chosen, places, one.name, one.n_rows) for one in source.pieces)
    units = tuple(source.units[at] for at in chosen) if source.units else ()
    return replace(source, pieces=pieces, systems=tuple(source.systems[k] for k in chosen), classes=names, units=units)
