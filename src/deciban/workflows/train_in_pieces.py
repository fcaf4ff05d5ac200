"""Training on files that do not fit in memory: a source in pieces to a trained model, with what it is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from deciban.analysis import FigureRow
from deciban.analysis.fused_systems import Role
from deciban.errors import InputError
from deciban.evaluation.results import names_apart
from deciban.io.shards.pieces import ShardSource
from deciban.messages import Message, counted
from deciban.models.mapped import mapped
from deciban.models.score_model import ScoreModel, missing_measures_are_known
from deciban.trials import JoinReport
from deciban.types import Progress
from deciban.workflows.kinds import kind_called
from deciban.workflows.options import Options
from deciban.workflows.streaming import evaluate_in_pieces
from deciban.workflows.trained import Trained

_KINDS = {"classes": "many classes", "two-class": "two classes"}


def train_in_pieces(
    source: ShardSource, model: ScoreModel, options: Options, progress: Progress, *, asked: Mapping[str, Any]
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
    asked : mapping of str to value
        What else was asked for that needs all trials in memory.

    Returns
    -------
    Trained

    Raises
    ------
    InputError
        As ``fit`` of the model; if something is asked for that needs all trials in memory, or the trials are of
        another kind than the model.
    FormatError, OSError
        As reading does.
    """
    _refuse(source, asked)
    kind = "classes" if source.classes else "two-class"
    if model.scores_kind != kind:
        raise InputError(
            f"{type(model).__name__}: is a model of {_KINDS[model.scores_kind]}, and {source.name} holds scores of "
            f"{_KINDS[kind]}. Take a model of these."
        )
    model.system_names = source.systems
    progress(f"training on {', '.join(source.systems)}")
    with options.scale.engine() as engine, missing_measures_are_known():
        memory = engine.bounded(options.scale.n_bytes)
        engine.make_room(source, memory, n_systems=len(source.systems))
        model.fit_pieces(source, engine, memory)
    training = model.training_
    assert training is not None  # noqa: S101  # it has just been trained
    more = kind_called(kind).record(model, options.reading, source.classes)
    model.training_ = replace(training, systems=source.systems, results=dict(training.results) | more)
    rows, messages = _rows(source, model, options, progress)
    if n_lacking := training.results.get("n_without_quality"):
        n = sum(training.counts.values())
        words = f"{n_lacking:,} of {counted(n, 'trial')} without quality measures are fused by scores alone"
        messages = (*messages, Message("note", "", words))
    if options.how_sure.units is not None:
        model.no_errors = "the trials are read in pieces, and standard errors need all of them in memory"
    report = JoinReport(source.n_rows, 0, 0, 0)
    chosen = tuple(range(len(source.systems)))
    return Trained(model, chosen, rows, None, None, None, report, messages)


def _rows(
    source: ShardSource, model: ScoreModel, options: Options, progress: Progress
) -> tuple[tuple[FigureRow, ...], tuple[Any, ...]]:
    """The systems as they are, and what the model makes of them, on the trials of training."""
    if source.classes:
        words = "not evaluated: many classes in pieces are trained on and not evaluated yet"
        return (), (*source.messages, Message("note", source.name, words))
    before = evaluate_in_pieces(source, options, progress)
    (name,) = names_apart([model.row_name(source.systems)], source.systems)
    after = evaluate_in_pieces(mapped(source, model, name), options, progress)
    role: Role = "fusion" if model.is_fusion else "calibration"
    rows = [FigureRow(name=one.name, role="before", dev=one) for one in before.systems]
    return (*rows, FigureRow(name=name, role=role, dev=after.systems[0])), before.messages


def _refuse(source: ShardSource, asked: Mapping[str, Any]) -> None:
    """Refuse what needs all trials in memory."""
    for name, value in asked.items():
        if value:
            raise InputError(
                f"{name}: needs all trials in memory, and {source.name} is read in pieces. Allow more memory (memory=, "
                "--memory), or leave it out."
            )
