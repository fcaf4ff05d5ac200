"""Training on files that do not fit in memory: a source in pieces to a trained model, with what it is worth."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from deciban.analysis import FigureRow
from deciban.analysis.selection import Selection
from deciban.analysis.selection_in_pieces import select_in_pieces
from deciban.calibration.cross_in_pieces import PartsInPieces
from deciban.errors import InputError
from deciban.io.shards.pieces import ShardSource
from deciban.messages import Message, counted, names_apart
from deciban.models.mapped import ordered
from deciban.models.score_model import ScoreModel
from deciban.models.told_elsewhere import missing_measures_are_known, reasons_are_shown
from deciban.trials import JoinReport
from deciban.trials.lists import PAIR
from deciban.types import Progress
from deciban.workflows.incomplete_in_pieces import Scored
from deciban.workflows.key_columns import HoldOut
from deciban.workflows.kinds import AnyKind, kind_called
from deciban.workflows.model_files import order_of_training
from deciban.workflows.options import Options
from deciban.workflows.others_in_pieces import others_compared
from deciban.workflows.rows_in_pieces import Compared, RowsInPieces
from deciban.workflows.streaming import evaluate_in_pieces
from deciban.workflows.trained import Trained
from deciban.workflows.units_in_pieces import UnitsOfSource, units_of_source

_KINDS = {"classes": "many classes", "two-class": "two classes"}

Others = tuple[ShardSource, Options]
"""Other trials, and by which options they are evaluated."""


def train_in_pieces(
    source: ShardSource,
    model: ScoreModel,
    options: Options,
    progress: Progress,
    *,
    others: Others | None = None,
    held: HoldOut | None = None,
    select: HoldOut | None = None,
) -> Trained:
    """Train a model on a source, and evaluate its systems and what the model makes of them.

    Parameters
    ----------
    source : ShardSource
    model : ScoreModel
        What to train, which is done in place.
    options : Options
    progress : function
        Called with a few words at every step.
    others : pair of ShardSource and Options, optional
        Other trials of these systems, on which everything is evaluated as well.
    held : HoldOut, optional
        What is held out to see what models make of trials that they have not seen.
    select : HoldOut, optional
        What is held out to find the systems that help; all are fused if it is left out.

    Returns
    -------
    Trained

    Raises
    ------
    InputError
        As ``fit`` of the model; or if the trials are of another kind than the model.
    FormatError, OSError
        As reading does.
    """
    kind = "classes" if source.classes else "two-class"
    if model.scores_kind != kind:
        raise InputError(
            f"{type(model).__name__}: is a model of {_KINDS[model.scores_kind]}, and {source.name} holds scores of "
            f"{_KINDS[kind]}. Take a model of these."
        )
    _require_groups(source, held, select)
    scored = Scored.of(source, options)
    for what, asked in (("cross_validate", held), ("select", select), ("test_scores", others)):
        if asked is not None:
            scored.require_all(what)
    source = scored.source
    selection, every = None, source
    if select is not None:
        selection = _selected(source, model, select, options, progress)
        source = ordered(source, systems=sorted(selection.systems))
    untrained = copy.deepcopy(model)
    units = _train(model, source, options, progress)
    progress("evaluating")
    compared = source if scored.seen is None else scored.complete
    rows, messages = list[FigureRow](), list[Message]()
    if compared is not None:
        dev = Compared(compared, options, units if scored.seen is None else None)
        tested = None if others is None else others_compared(model, *_same_systems(others, every, source))
        rows, messages = RowsInPieces(model, untrained, source, dev, tested, progress).rows()
        if selection is not None:
            sets = Compared(every, options, units), None if others is None else _others_of(others, every)
            rows = _with_left_out(rows, selection, RowsInPieces(model, untrained, every, *sets, progress))
    if scored.seen is not None:
        messages += scored.messages
        rows = [*rows, scored.row(model, options, progress, [row.name for row in rows])]
    crossed = None
    if held is not None:
        progress("cross-validating")
        name = f"{model.table_name if model.is_fusion else source.systems[0]}, cross-validated"
        (name,) = names_apart([name], [row.name for row in rows])
        untrained.system_names = source.systems
        own = crossed_in_pieces(source, untrained, held, options, name)
        found_there = evaluate_in_pieces(own, options, progress, units=units)
        crossed = FigureRow(name=name, role="cross-validated", dev=found_there.systems[0])
        messages.append(held.message(_sides_of(source), "fuses" if model.is_fusion else "calibrates"))
    rows = [*rows, *([] if crossed is None else [crossed])]
    assert model.training_ is not None  # noqa: S101  # it has just been trained
    if n_lacking := model.training_.results.get("n_without_quality"):
        n = sum(model.training_.counts.values())
        words = f"{n_lacking:,} of {counted(n, 'trial')} without quality measures are fused by scores alone"
        messages.append(Message("note", "", words))
    report = source.report or JoinReport(source.n_rows, 0, 0, 0)
    chosen = tuple(every.systems.index(name) for name in source.systems)
    return Trained(model, chosen, tuple(rows), None, selection, None, report, tuple(messages))


def _train(model: ScoreModel, source: ShardSource, options: Options, progress: Progress) -> UnitsOfSource:
    """Train a model, and add to its record what numbers do not know: names of systems, columns.

    Returns the units of the trials, by which it knows how sure it is.
    """
    model.system_names = source.systems
    with options.scale.engine() as engine, missing_measures_are_known(), reasons_are_shown():
        memory = engine.bounded(options.scale.n_bytes)
        engine.make_room(source, memory, n_systems=len(source.systems))
        units = units_of_source(source, engine, options.how_sure, kind_called(model.scores_kind))
        progress(f"training on {', '.join(source.systems)}")
        model.fit_pieces(source, engine, memory, units=units.for_training())
    training, reading = model.training_, options.reading
    assert training is not None  # noqa: S101  # it has just been trained
    more = {} if reading.weights is None else {"weights_from": reading.weights}
    more |= kind_called(model.scores_kind).record(reading, source.classes, source.units)
    model.training_ = replace(training, systems=source.systems, results={**training.results, **more})
    return units


def _with_left_out(rows: Sequence[FigureRow], selection: Selection, work: RowsInPieces) -> list[FigureRow]:
    """The same with a row, below the single systems, for each system that was read and not chosen."""
    left = [(k, system) for k, system in enumerate(work.source.systems) if k not in selection.systems]
    names = names_apart([f"{system}, left out" for _, system in left], [row.name for row in rows])
    more = [work.anew("left out", [k], name) for (k, _), name in zip(left, names, strict=True)]
    n = sum(row.role == "single" for row in rows)
    return [*rows[:n], *more, *rows[n:]]


def _sides_of(source: ShardSource) -> tuple[str, ...]:
    """The sides by whose names trials are held out together; none where each stands for itself."""
    return PAIR if source.groups else ()


def crossed_in_pieces(
    source: ShardSource, model: ScoreModel, held: HoldOut, options: Options, name: str
) -> ShardSource:
    """What models make of the trials of training that had not seen the like of each.

    Raises
    ------
    InputError
        If trials cannot be held out like that, or a model cannot be trained without some of them.
    """
    if source.classes and source.groups is not None and len(source.groups) > 1:
        raise InputError("cross_validate: two columns are for trials of two sides. Name one, such as speaker.")
    with options.scale.engine() as engine:
        memory = engine.bounded(options.scale.n_bytes)
        engine.make_room(source, memory, n_systems=len(source.systems))
        return PartsInPieces.of(source, engine, held.parts).crossed(model, engine, memory, name)


def _require_groups(source: ShardSource, *asked: HoldOut | None) -> None:
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


def require_selectable(model: ScoreModel, kind: AnyKind) -> None:
    """Refuse to select systems where there is no choice.

    Raises
    ------
    InputError
    """
    if not model.is_fusion or not kind.compares_systems:
        raise InputError("select: chooses among the systems of a fusion of two classes. Leave it out (--select).")


def _selected(source: ShardSource, model: ScoreModel, held: HoldOut, options: Options, progress: Progress) -> Selection:
    """Choose systems, as `deciban.workflows.train.selection_of` does in memory."""
    require_selectable(model, kind_called(model.scores_kind))
    fusion: Any = model
    with options.scale.engine() as engine:
        memory = engine.bounded(options.scale.n_bytes)
        engine.make_room(source, memory, n_systems=len(source.systems))
        found = select_in_pieces(source, engine, memory, fusion, held.parts, progress)
    return replace(found, held_out=held.words(_sides_of(source)))


def _same_systems(others: Others, every: ShardSource, chosen: ShardSource) -> Others:
    """Other trials with the systems that were chosen."""
    if len(chosen.systems) == len(every.systems):
        return others
    found = _others_of(others, every)
    return ordered(found.source, systems=[every.systems.index(name) for name in chosen.systems]), found.options


def _others_of(others: Others, every: ShardSource) -> Compared:
    """Other trials with all systems that were read, in the order of these."""
    source, options = others
    order, _ = order_of_training(source.systems, every.systems, len(every.systems))
    return Compared(ordered(source, systems=order), options)
