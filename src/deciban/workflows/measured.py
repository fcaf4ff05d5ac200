"""Quality measures from files for the trials of a source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deciban.core.training.sums import Sums
from deciban.errors import InputError
from deciban.fusion.quality_measures import QUALITY_SIDES
from deciban.io.shards.layout import QualityOf, TrialRows
from deciban.messages import Message, counted
from deciban.trials.passes import found_in
from deciban.trials.sources import Chunk, HeldPiece, Piece, ShardSource, Wanted
from deciban.workflows.quality import Measured, measures_of
from deciban.workflows.scale import Scale


def with_quality(
    source: ShardSource, measured: Measured, scale: Scale, *, sides: tuple[str, ...] | None = None
) -> ShardSource:
    """The same trials with the quality measures of the names of their sides; one pass finds which sides have some.

    Parameters
    ----------
    source : ShardSource
        Tables that name the sides of trials.
    measured : mapping of side to SegmentQuality
    scale : Scale
        Says where the pass runs.
    sides : tuple of str, optional
        Arguments that there must be, and no others: those of training.

    Raises
    ------
    InputError
        If trials have no names, or no name of any side has measures, or of a side that was named.
    """
    batch = source.batch
    if batch is not None and batch.trials is not None:
        tables, messages = measures_of(measured, batch.trials, sides=sides)
        own = HeldPiece(replace(batch, quality=tables), source.pieces[0].name)
        return replace(source, pieces=(own,), quality=tuple(tables), messages=(*source.messages, *messages))
    wanted = tuple(f"{side}_quality" for side in QUALITY_SIDES if side in measured and side in _sides_of(source))
    pieces = tuple(_measured(one, measured) for one in source.pieces)
    able = replace(source, pieces=pieces, quality=wanted)
    counts = np.zeros(0)
    if wanted:
        with scale.engine() as engine:
            counts = found_in(able, engine, Wanted((), quality=wanted), _Known(wanted), "looking for quality").total
    chosen = tuple(name for name, n in zip(wanted, counts, strict=False) if n)
    is_for_any = set(measured) == set(QUALITY_SIDES)  # one list of names, not said of which side
    missing = [] if is_for_any else [side for side in measured if f"{side}_quality" not in chosen]
    if missing or not chosen:
        origins = ", ".join(dict.fromkeys(one.origin.name for one in measured.values()))
        raise InputError(
            f"{origins}: no quality measures of {' or '.join(missing or measured)} for any trial of {source.name}. "
            "Check that the names are the same, and which side the measures belong to."
        )
    return replace(able, quality=chosen, messages=(*source.messages, *_messages(source, measured, chosen)))


def _messages(source: ShardSource, measured: Measured, chosen: tuple[str, ...]) -> list[Message]:
    found = []
    for name in chosen:
        side: Any = name.removesuffix("_quality")
        own = measured[side]
        words = f"{side}: {', '.join(own.measures)}   {counted(len(own), 'name')}"
        found.append(Message("qual", own.origin.name or source.name, words))
    return found


def _sides_of(source: ShardSource) -> Mapping[str, str]:
    """The columns of names of a source.

    Raises
    ------
    InputError
        If it is no table with such columns.
    """
    first = source.pieces[0] if source.pieces else None
    if not isinstance(first, TrialRows) or not first.layout.sides:
        raise InputError(
            f"quality: measures belong to the names of the sides of trials, and {source.name} has none. Add columns "
            "with these names."
        )
    return first.layout.sides


def _measured(piece: Piece, measured: Measured) -> Piece:
    assert isinstance(piece, TrialRows)  # noqa: S101  # the first one is
    return replace(piece, layout=replace(piece.layout, quality=QualityOf(dict(measured))))


@dataclass(frozen=True, slots=True)
class _Known:
    """A look at a piece that counts trials with measures of each side."""

    wanted: tuple[str, ...]

    def __call__(self, chunk: Chunk) -> Sums:
        tables = chunk.quality or {}
        return Sums.of([float(np.count_nonzero(~np.isnan(tables[name][:, 0]))) for name in self.wanted])
