"""Trials that fit in memory, as a source of one batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from deciban._arrow import compute as pc
from deciban.io.shards.pieces import Chunk, HeldPiece, ShardSource
from deciban.trials import Trials
from deciban.types import Progress
from deciban.workflows.inputs import JoinedScores, ScoreFiles, read_joined
from deciban.workflows.options import Options
from deciban.workflows.partitions import sides_with_names
from deciban.workflows.sources import condition_columns

if TYPE_CHECKING:
    from deciban.workflows.evaluating import OpenedFiles


def loaded(files: OpenedFiles, options: Options, progress: Progress | None = None) -> Any:
    """Return opened files as a source; those that fit in memory are read and joined into one batch.

    Raises
    ------
    FormatError, KeyMismatchError, InputError
        As in `read_joined`.
    """
    if not isinstance(files, ScoreFiles):
        return files
    joined = read_joined(files, None, options, incomplete=options.incomplete, progress=progress)
    return replace(source_of(joined, options), incomplete=options.incomplete)


def source_of(joined: JoinedScores, options: Options) -> ShardSource:
    """Return the trials of a join as a source of one batch.

    Parameters
    ----------
    joined : JoinedScores
    options : Options
        By which columns trials are split.
    """
    first = joined.aligned[0]
    asked = dict(_conditions(first.trials, options))
    chunk = Chunk(
        tuple(one.score for one in joined.aligned),
        joined.truth,
        weight=joined.weight,
        conditions=tuple(asked.values()),
        trials=first.trials,
    )
    name = joined.key.trials.origin.name
    sides = sides_with_names(first.trials)
    aliases = [side for side in asked if first.trials.origin.side_called(side) in sides]
    return ShardSource(
        name,
        (HeldPiece(chunk, name),),
        joined.names,
        tuple(joined.classes or ()),
        is_double=any(one.dtype == np.float64 for one in chunk.scores),
        has_weights=joined.weight is not None,
        sides=sides,
        messages=joined.all_messages(),
        paths=tuple(one.origin.name for one in joined.contents),
        units=tuple(getattr(one.scores, "unit", "nats") for one in joined.aligned) if not joined.classes else (),
        report=joined.report,
        conditions=tuple(asked),
        columns=(*sides, *first.trials.conditions),
        names=(*sides, *aliases),
        renamed=joined.renamed,
    )


def _conditions(trials: Trials, options: Options) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Yield what every column says by which trials are split: codes, and the values that they stand for."""
    for name in condition_columns(options):
        side = trials.origin.side_called(name)
        if name in trials.conditions:
            values = trials.condition(name)
        elif side in sides_with_names(trials):
            at = trials.sides.index(side)
            yield name, (np.asarray(trials.codes[at], np.int64), trials.names[at])
            continue
        else:
            continue
        coded = values.dictionary_encode()
        codes = np.asarray(pc.fill_null(coded.indices, len(coded.dictionary)), np.int64)
        yield name, (codes, coded.dictionary)
