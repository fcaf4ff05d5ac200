"""Models trained on the trials of a source: on arrays where these are in memory, else by passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deciban.analysis.data import LabelledData, copied
from deciban.analysis.selection import LEAST_GAIN, Criterion, Search, Selection, chosen_by, select_systems
from deciban.calibration.cross import folds_of, held_out
from deciban.calibration.crossed_sources import SourceParts
from deciban.errors import InputError
from deciban.memory import require_room_for_units
from deciban.models.mapped import having, mapped, naming_rows, ordered
from deciban.models.score_model import ScoreModel, missing_measures_are_known, reasons_are_shown
from deciban.trials import Trials
from deciban.trials.lists import PAIR
from deciban.trials.passes import Engine
from deciban.trials.sources import HeldPiece, ShardSource
from deciban.types import FloatArray, Progress
from deciban.workflows.how_sure import HowSure
from deciban.workflows.key_columns import HoldOut, groups_of, pairs_of
from deciban.workflows.kinds import kind_called
from deciban.workflows.options import Options
from deciban.workflows.units_of_sources import UnitsOfSource


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
    resampling = None if how_sure is None else how_sure.resampling(batch.units)
    known: Any = {"is_target": batch.truth, "weight": batch.weight, "resampling": resampling}
    return LabelledData(batch.stacked, batch.quality or {}, **known)


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
    data, batch = data_of(source, options.how_sure), source.batch
    if data is None or batch is None:
        with options.scale.engine() as engine, missing_measures_are_known(), reasons_are_shown():
            memory = engine.bounded(options.scale.n_bytes)
            engine.make_room(source, memory, n_systems=len(source.systems))
            own = None if units is None else replace(units, source=source, engine=engine).for_training()
            require_room_for_units(0 if own is None else len(own.units.keys), memory)
            model.fit_pieces(source, engine, memory, units=own)
        return
    more: dict[str, Any] = {"classes": source.classes} if source.classes else {}
    with naming_rows(batch, source.systems, source.name), reasons_are_shown():
        data.fit(model, units=None if units is None else batch.units, **more)


def crossed(source: ShardSource, model: ScoreModel, held: HoldOut, options: Options, name: str) -> ShardSource:
    """What models make of the trials of training that had not seen the like of each.

    Raises
    ------
    InputError
        If trials cannot be held out like that, or a model cannot be trained without some of them.
    """
    data, batch = data_of(source, options.how_sure), source.batch
    several = source.groups
    if data is not None and batch is not None:
        values = _crossed_values(source, data, model, held)
        own = HeldPiece(replace(batch, scores=(values,), quality=None), name)
        found = replace(source, pieces=(own,), systems=(name,), is_double=True, quality=(), incomplete=False)
        return having(found, (0,)) if values.ndim == 1 and np.isnan(values).any() else found
    if source.classes and several is not None and len(several) > 1:
        raise InputError(_TWO_SIDES)
    with options.scale.engine() as engine:
        memory = engine.bounded(options.scale.n_bytes)
        engine.make_room(source, memory, n_systems=len(source.systems))
        return SourceParts.of(source, engine, held.parts).crossed(model, engine, memory, name)


_TWO_SIDES = "cross_validate: two columns are for trials of two sides. Name one, such as speaker."


def _crossed_values(source: ShardSource, data: LabelledData, model: ScoreModel, held: HoldOut) -> FloatArray:
    """The same of trials in memory."""
    groups = groups_of(_trials_of(source), held.by)
    assert source.batch is not None  # noqa: S101  # they are in memory
    with naming_rows(source.batch, source.systems, source.name):
        if not source.classes:
            return data.held_out(groups=groups, n_folds=held.parts).llr(model)
        if isinstance(groups, tuple):
            raise InputError(_TWO_SIDES)
        scores, truth, weight = model.inputs(data.scores), data.is_target, data.weight
        folds = folds_of(scores, truth, weight, groups, n_folds=held.parts, seed=0)
        return held_out(model, scores, truth, weight, folds, classes=source.classes)


def selected(source: ShardSource, model: Any, held: HoldOut, options: Options, progress: Progress) -> Selection:
    """Choose systems on the trials that all of them scored.

    Raises
    ------
    InputError
        If the model is no fusion of two classes, or no trials of both classes have all scores.
    """
    if not model.is_fusion or not kind_called(model.scores_kind).compares_systems:
        raise InputError("select: chooses among the systems of a fusion of two classes. Leave it out (--select).")
    every: Sequence[int] = range(len(source.systems))
    if source.batch is None:
        with options.scale.engine() as engine:
            memory = engine.bounded(options.scale.n_bytes)
            engine.make_room(source, memory, n_systems=len(source.systems))
            criterion = Criterion(model, None)
            tried = _TriedByPasses(SourceParts.of(source, engine, held.parts), criterion, engine, memory)
            found = chosen_by(Search(tried, source.systems, progress), criterion.words, LEAST_GAIN)
        return replace(found, held_out=held.words(sides_of(source)))
    whole = having(source, every, counting=True)
    data, batch = data_of(whole, None), whole.batch
    assert data is not None and batch is not None  # noqa: S101, PT018  # they are in memory
    if not data.has_both_classes:
        raise InputError(
            "scores: no targets, or no non-targets, have scores of all systems, so that these cannot be compared. "
            "Leave the system out that lacks most."
        )
    about: Any = {"fusion": model, "names": source.systems, "sample_weight": data.weight}
    about |= {"groups": groups_of(_trials_of(whole), held.by), "n_folds": held.parts}
    with naming_rows(batch, whole.systems, whole.name):
        found = select_systems(data.scores, data.is_target, quality=data.quality or None, progress=progress, **about)
    return replace(found, held_out=held.words(sides_of(whole)))


@dataclass(frozen=True, slots=True)
class _TriedByPasses:
    """Costs of sets of systems on a source with its folds; see `deciban.analysis.selection.Tried`."""

    parts: SourceParts
    cost: Criterion
    engine: Engine
    memory: int

    @property
    def n_parts(self) -> int:
        return len(self.parts)

    @property
    def n_trials(self) -> int:
        return int(self.parts.counts[1].sum())

    def held_out(self, systems: Sequence[int]) -> float:
        fusion = copied(self.cost.fusion)
        return self._cost_of(self.parts.crossed(fusion, self.engine, self.memory, "fusion", systems=systems))

    def same_data(self, systems: Sequence[int]) -> float:
        own = ordered(self.parts.source, systems=systems)
        with missing_measures_are_known():
            model = copied(self.cost.fusion).fit_pieces(own, self.engine, self.memory)
        return self._cost_of(mapped(own, model, "fusion"))

    def _cost_of(self, llrs: ShardSource) -> float:
        return self.cost.relative(self.cost.fusion.cost_of_pieces(llrs, self.engine))
