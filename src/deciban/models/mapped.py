"""What a model makes of trials in pieces is a source in pieces again: every piece is mapped when it is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from deciban.core.by_value import Additive
from deciban.errors import naming_trials
from deciban.models.score_model import missing_measures_are_known
from deciban.trials.passes import Engine, found_in
from deciban.trials.sources import Chunk, Piece, ShardSource, Wanted
from deciban.types import AnyArray, BoolArray, FloatArray, IntArray, ScoreArray

if TYPE_CHECKING:
    from deciban.trials.lists import Trials


def _mapped(model: Any, systems: tuple[str, ...], piece: Piece, wanted: Wanted) -> Chunk:
    """Read the trials of a piece with what a model makes of their scores.

    Raises
    ------
    InputError
        If the model refuses a trial.
    """
    if not wanted.systems:
        return piece.read(wanted)
    quality = model.quality_arguments if model.takes_quality else ()
    chunk = piece.read(replace(wanted, systems=tuple(range(len(systems))), quality=quality))
    if not len(chunk.scores[0]):
        return replace(chunk, scores=(chunk.scores[0].astype(np.float64),))
    with naming_rows(chunk, systems, piece.name):
        given = {} if chunk.quality is None else {name: chunk.quality[name] for name in quality}
        return replace(chunk, scores=(transformed(model, chunk.stacked, given),))


def transformed(model: Any, scores: AnyArray, quality: Mapping[str, AnyArray]) -> FloatArray:
    """Return the llrs or log-likelihoods of a model; the scores have an axis of systems after that of trials."""
    with missing_measures_are_known():
        llr: FloatArray = model.transform(model.inputs(scores), **(quality if model.takes_quality else {}))
    return llr


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
    step = partial(_mapped, model, source.systems)
    return source.map(step, systems=(name,), is_double=True, incomplete=False)


def naming_rows(chunk: Chunk, systems: Sequence[str], name: str) -> AbstractContextManager[None]:
    """Name the trial in what is refused for its sake: as its files do, or by its number in a piece."""
    if not name:  # arrays, whose trials have numbers
        return nullcontext()
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


def _ordered(systems: tuple[int, ...], classes: tuple[int, ...], piece: Piece, wanted: Wanted) -> Chunk:
    """Read the trials of a piece with some of the systems, or with the classes in another order."""
    chunk = piece.read(replace(wanted, systems=tuple(systems[at] for at in wanted.systems)))
    if not classes:
        return chunk
    order = list(classes)
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
    units = tuple(source.units[at] for at in chosen) if source.units else ()
    chosen_names = tuple(source.systems[k] for k in chosen)
    return source.map(partial(_ordered, chosen, places), systems=chosen_names, classes=names, units=units)


def _having(piece: Piece, wanted: Wanted, *, systems: tuple[int, ...], every: bool, counting: bool) -> Chunk:
    """Read the trials of a piece that have scores of some systems, of all of these or of any."""
    asked = tuple(dict.fromkeys((*wanted.systems, *systems)))
    chunk = piece.read(replace(wanted, systems=asked, weight=wanted.weight or counting))
    by_system = dict(zip(asked, chunk.scores, strict=True))
    there = [~np.isnan(by_system[at]) for at in systems]
    rules = [(np.logical_and if every else np.logical_or).reduce(there)] if there else []
    if counting and chunk.weight is not None:
        rules.append(chunk.weight > 0)
    kept: BoolArray = np.logical_and.reduce(rules)
    weight = chunk.weight if wanted.weight else None
    scores = chunk.scores if asked == wanted.systems else tuple(by_system[at] for at in wanted.systems)
    own = replace(chunk, scores=scores, weight=weight)
    return own if kept.all() else own.take(kept)


def having(source: ShardSource, systems: Sequence[int], *, every: bool = True, counting: bool = False) -> ShardSource:
    """The trials of a source that have scores of some systems.

    Parameters
    ----------
    source : ShardSource
        Of two classes.
    systems : sequence of int
        Their positions.
    every : bool
        Whether scores of all of these are needed; else one is enough.
    counting : bool
        Whether trials of weight 0 are left out.
    """
    n, is_weighed = len(source.systems), counting and source.has_weights
    step = partial(_having, systems=tuple(systems), every=every, counting=is_weighed)
    return source.map(step, incomplete=not (every and len(set(systems)) == n))


def counting(source: ShardSource) -> ShardSource:
    """The trials of a source that count: those of a weight above 0; a model may have no answer for others."""
    if not source.has_weights:
        return source
    if source.batch is not None and source.batch.weight is not None and source.batch.weight.all():
        return source
    return source.map(partial(_having, systems=(), every=True, counting=True))


@dataclass(frozen=True, slots=True)
class ScoredBy(Additive):
    """How many trials have scores of which systems; ``a + b`` are those of both.

    Attributes
    ----------
    n_without : tuple of int
        Of each system, trials that lack its score.
    n_lacking, n_none : int
        Trials that some system, or every one, did not score.
    counts : mapping of tuple of int to (int, int)
        Non-targets and targets of positive weight that have scores of just these systems.
    """

    n_without: tuple[int, ...]
    n_lacking: int
    n_none: int
    counts: dict[tuple[int, ...], tuple[int, int]]

    @classmethod
    def of(cls, chunk: Chunk) -> ScoredBy:
        """Look at the trials of a piece."""
        n, every = len(chunk.scores[0]), tuple(range(len(chunk.scores)))
        rows_of = occurring_subsets(np.stack(chunk.scores, axis=1))
        n_without = tuple(sum(len(rows) for subset, rows in rows_of.items() if k not in subset) for k in every)
        counting = {s: rows if chunk.weight is None else rows[chunk.weight[rows] > 0] for s, rows in rows_of.items()}
        counts = {subset: _of_each(chunk.labels[rows]) for subset, rows in counting.items() if len(rows)}
        return cls(n_without, n - len(rows_of.get(every, ())), len(rows_of.get((), ())), counts)


def occurring_subsets(scores: ScoreArray) -> dict[tuple[int, ...], IntArray]:
    """Sets of systems that trials have scores of, each with the trials that have these and no others."""
    incomplete = np.isnan(scores).any(axis=1)
    complete, rows = np.flatnonzero(~incomplete), np.flatnonzero(incomplete)
    found = {tuple(range(scores.shape[1])): complete} if len(complete) else {}
    if len(rows):
        patterns, which = np.unique(~np.isnan(scores[rows]), axis=0, return_inverse=True)
        order = np.argsort(which.ravel(), kind="stable")
        ends = np.cumsum(np.bincount(which.ravel()))
        for pattern, own in zip(patterns, np.split(rows[order], ends[:-1]), strict=True):
            found[tuple(np.flatnonzero(pattern).tolist())] = own
    return found


def _of_each(is_target: AnyArray) -> tuple[int, int]:
    """Count non-targets and targets."""
    n_tar = int(np.count_nonzero(is_target))
    return len(is_target) - n_tar, n_tar


def scored_by(source: ShardSource, engine: Engine | None) -> ScoredBy:
    """How many trials of a source have scores of which systems: one pass."""
    wanted = Wanted(tuple(range(len(source.systems))), truth=True, weight=source.has_weights)
    found: ScoredBy | None = found_in(source, engine, wanted, ScoredBy.of, "counting scores")
    return ScoredBy((0,) * len(source.systems), 0, 0, {}) if found is None else found
