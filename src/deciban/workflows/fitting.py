"""Models trained on the trials of a source: on arrays where these are in memory, else by passes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from deciban.analysis.systems import LEAST_GAIN, Criterion, LabelledData, Search, Selection, Tried, chosen_by
from deciban.calibration.cross import SourceParts, trained_on
from deciban.errors import InputError
from deciban.models.mapped import counting, having, naming_rows
from deciban.models.score_model import ScoreModel, missing_measures_are_known, reasons_are_shown
from deciban.trials import Trials
from deciban.trials.lists import PAIR
from deciban.trials.passes import Engine
from deciban.trials.sources import ShardSource
from deciban.types import Progress
from deciban.workflows.kinds import kind_called
from deciban.workflows.options import HowSure, Options
from deciban.workflows.units import HoldOut, UnitsOfSource, groups_of, pairs_of


def data_of(source: ShardSource, how_sure: HowSure | None) -> LabelledData | None:
    """The trials of a source as arrays; None where they are not in memory.

    Parameters
    ----------
    source : ShardSource
    how_sure : HowSure, optional
        Says what intervals evaluations make of the units of the trials.
    """
    batch = source.batch
    if batch is None:
        return None
    return LabelledData(source, None if how_sure is None else how_sure.resampling(batch.units))


def _trials_of(source: ShardSource) -> Trials:
    """The names of the trials of a source in memory."""
    assert source.batch is not None and source.batch.trials is not None  # noqa: S101, PT018  # who asks knows
    return source.batch.trials


def sides_of(source: ShardSource) -> tuple[str, ...]:
    """The sides by whose names trials are held out together; none where each stands for itself."""
    if source.batch is not None:
        return pairs_of(_trials_of(source))
    return PAIR if source.groups else ()


def require_groups(source: ShardSource, *asked: HoldOut | None) -> None:
    """Refuse a source that was opened with other groups than those that are to be held out together.

    Raises
    ------
    InputError
    """
    for held in asked:
        fits = held is None or source.groups in ((held.groups,) if held.groups else ((), PAIR))
        if not fits and source.groups is not None:  # if it was opened with none, that is said later on
            raise InputError(
                f"cross_validate: {source.name} was opened to hold out by {' and '.join(source.groups) or 'trial'}, "
                "which is not what is asked for here. Name the files instead, or open others (open_shards, groups=)."
            )


def fit_source(model: ScoreModel, source: ShardSource, options: Options, units: UnitsOfSource | None = None) -> None:
    """Train a model in place; what is refused for the sake of a trial names it.

    Parameters
    ----------
    model : ScoreModel
    source : ShardSource
    options : Options
        Where passes run, and how much memory they may take.
    units : UnitsOfSource, optional
        With them training finds out how sure it is.
    """
    with _running(source, options) as (engine, memory), missing_measures_are_known(), reasons_are_shown():
        if engine is None:
            own = source.batch.units if source.batch is not None and units is not None else None
            trained_on(model, source, None, 0, units=own)
            return
        of_pieces = None if units is None else replace(units, source=source, engine=engine).for_training()
        model.fit_pieces(source, engine, memory, units=of_pieces)


@contextmanager
def _running(source: ShardSource, options: Options) -> Iterator[tuple[Engine | None, int]]:
    """Yield an engine and its memory; None for a batch in memory, whose trials are named in errors."""
    if source.batch is not None:
        with naming_rows(source.batch, source.systems, source.name):
            yield None, 0
        return
    with options.scale.engine() as engine:
        memory = engine.bounded(options.scale.n_bytes)
        engine.make_room(source, memory, n_systems=len(source.systems))
        yield engine, memory


def crossed(source: ShardSource, model: ScoreModel, held: HoldOut, options: Options, name: str) -> ShardSource:
    """What models make of the trials of training that had not seen the like of each.

    Raises
    ------
    InputError
        If trials cannot be held out like that, or a model cannot be trained without some of them.
    """
    with _parts(source, held, options) as parts:
        found = parts.crossed(model, name)
        batch = found.batch
    if batch is None:
        return found
    is_partial = batch.scores[0].ndim == 1 and bool(np.isnan(batch.scores[0]).any())  # of trials of weight 0
    return having(found, (0,)) if is_partial else found


@contextmanager
def _parts(source: ShardSource, held: HoldOut, options: Options) -> Iterator[SourceParts]:
    """Trials with the folds in which they are held out."""
    groups: Any = source.groups if source.batch is None else groups_of(_trials_of(source), held.by)
    if source.classes and isinstance(groups, tuple) and len(groups) > 1:
        raise InputError(_TWO_SIDES)
    with _running(source, options) as (engine, memory):
        if engine is None:
            yield SourceParts.in_memory(source, held.parts, groups=groups)
        else:
            yield SourceParts.of(source, engine, held.parts, memory=memory)


_TWO_SIDES = "cross_validate: two columns are for trials of two sides. Name one, such as speaker."


def selected(source: ShardSource | None, model: Any, held: HoldOut, options: Options, progress: Progress) -> Selection:
    """Choose systems on the trials that all of them scored; None if these are not of both classes.

    Raises
    ------
    InputError
        If the model is no fusion of two classes, or no trials of both classes have all scores.
    """
    if not model.is_fusion or not kind_called(model.scores_kind).compares_systems:
        raise InputError("select: chooses among the systems of a fusion of two classes. Leave it out (--select).")
    if source is None:
        raise InputError(
            "scores: no targets, or no non-targets, have scores of all systems, so that these cannot be compared. "
            "Leave the system out that lacks most."
        )
    whole, criterion = counting(source), Criterion(model, None)
    with _parts(whole, held, options) as parts:
        found = chosen_by(Search(Tried(parts, criterion), source.systems, progress), criterion.words, LEAST_GAIN)
    return replace(found, held_out=held.words(sides_of(whole)))
