"""What a model makes of trials in pieces is a source in pieces again: every piece is mapped when it is read."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deciban.errors import naming_trials
from deciban.io.shards.pieces import Chunk, Piece, ShardSource, Wanted
from deciban.models.told_elsewhere import missing_measures_are_known
from deciban.trials.lists import Trials
from deciban.types import AnyArray


@dataclass(frozen=True, eq=False)
class MappedPiece(Piece):
    """The trials of a piece with what a model makes of their scores."""

    piece: Piece
    model: Any
    systems: tuple[str, ...]
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
        chunk = self.piece.read(replace(wanted, systems=tuple(range(len(self.systems))), quality=quality))
        if not len(chunk.scores[0]):
            return replace(chunk, scores=(chunk.scores[0].astype(np.float64),))
        with naming_rows(chunk, self.systems, self.name), missing_measures_are_known():
            given = {} if chunk.quality is None else {name: chunk.quality[name] for name in quality}
            mapped = self.model.transform(self.model.inputs(chunk.stacked), **given)
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
    pieces = tuple(MappedPiece(one, model, source.systems, one.name, one.n_rows) for one in source.pieces)
    return source.made_of(pieces, systems=(name,), is_double=True, incomplete=False)


def naming_rows(chunk: Chunk, systems: Sequence[str], name: str) -> AbstractContextManager[None]:
    """Name the trial in what is refused for its sake: as its files do, or by its number in a piece."""
    if chunk.trials is None:
        return naming_trials(f"{{}} of {name}".format)
    return naming_scores(chunk.stacked, systems, chunk.trials)


def naming_scores(scores: AnyArray, systems: Sequence[str], trials: Trials) -> AbstractContextManager[None]:
    """Name the trial, and of several systems those that give it infinite scores, in what is refused for its sake."""

    def infinite(row: int) -> str:
        if len(systems) < 2 or scores.ndim > 2:
            return ""
        columns = np.flatnonzero(np.isinf(scores[row])).tolist()
        return ", ".join(f"{systems[k]}: {scores[row, k]:g}" for k in columns)

    return naming_trials(trials.name_of, infinite)


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
    chosen_names = tuple(source.systems[k] for k in chosen)
    return source.made_of(pieces, systems=chosen_names, classes=names, units=units)
