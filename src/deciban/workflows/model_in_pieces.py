"""What a trained model makes of trials that do not fit in memory, and the systems as they are, evaluated in pieces."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deciban.engines.looking import found_in
from deciban.errors import InputError
from deciban.evaluation.results import Results
from deciban.io.shards.pieces import ShardSource, Wanted
from deciban.messages import Message
from deciban.models.in_pieces import Record
from deciban.models.mapped import mapped, ordered
from deciban.models.model import in_digits
from deciban.models.score_model import ScoreModel
from deciban.trials import ClassScores, Origin, Scores
from deciban.types import Progress
from deciban.workflows.kinds import kind_called
from deciban.workflows.model_files import order_of_training, seen_message
from deciban.workflows.options import Options
from deciban.workflows.quality import combination_messages
from deciban.workflows.streaming import evaluate_in_pieces


def evaluate_model_in_pieces(
    model: ScoreModel,
    source: ShardSource,
    options: Options,
    *,
    of_training: bool = False,
    progress: Progress | None = None,
) -> Results[Any]:
    """Evaluate systems as they are, and what a trained model makes of them; see `deciban.evaluate_files`.

    Parameters
    ----------
    model : ScoreModel
        Trained.
    source : ShardSource
    options, of_training, progress
        As in `deciban.evaluate_files`.

    Returns
    -------
    Results
        Of what the model makes; ``before`` holds those of the systems, in the order of training.

    Raises
    ------
    FormatError, OSError
        As reading does.
    InputError
        If systems or classes are not those of training, or the model refuses a trial.
    """
    known = made_of(model, source, options)
    before = evaluate_in_pieces(known.source, options, progress)
    after = evaluate_in_pieces(known.result, options, progress)
    kind = kind_called(model.scores_kind)
    (name,) = known.result.systems
    words = f"{name}: the {kind.output} that the model ({model.kind}) makes of the scores"
    told = [*known.messages, Message("note", "", words + (" of all systems" if model.is_fusion else ""))]
    told += _seen(model, known.trained, before, options, of_training=of_training)
    found = (*before.messages, *told)
    own, made = (_besides(one) for one in (before, after))
    untouched = Results(before.systems, before.join, found, **own)
    return Results(after.systems, before.join, found, before=untouched, **made)


def _besides(found: Results[Any]) -> dict[str, Any]:
    """What there is of systems beside their evaluations."""
    return {"conditions": found.conditions, "primaries": found.primaries}


@dataclass(frozen=True, slots=True, eq=False)
class MadeOf:
    """What a trained model makes of a source.

    Attributes
    ----------
    source : ShardSource
        Its systems in the order of training.
    trained : ShardSource
        The same with the classes in that order, too.
    result : ShardSource
        What the model makes of it.
    messages : tuple of Message
    """

    source: ShardSource
    trained: ShardSource
    result: ShardSource
    messages: tuple[Message, ...]


def made_of(model: ScoreModel, source: ShardSource, options: Options) -> MadeOf:
    """Find the systems of a trained model in a source, and have it map them as they are read.

    Raises
    ------
    InputError
        If systems or classes are not those of training.
    """
    kind = kind_called("classes" if source.classes else "two-class")
    if model.scores_kind != kind.name:
        wanted = kind_called(model.scores_kind)
        raise InputError(
            f"{source.name}: scores of {kind.about}, but a model of kind {model.kind!r} ({type(model).__name__}) is "
            f"for {wanted.about}.{wanted.way_out}"
        )
    messages = list[Message]()
    if model.is_fusion:
        order, told = order_of_training(source.systems, _names(model), model.n_systems_)
        source = ordered(source, systems=order)
        messages += told
    elif len(source.systems) > 1:
        raise InputError(
            f"scores: {len(source.systems)} systems ({', '.join(source.systems)}), but a model of kind {model.kind!r} "
            "is for one. Give one, or fuse them (deciban fuse)."
        )
    kind.require_model(model, options.reading, source.classes, source.units)
    template, told = kind.matched(model, _template(source))
    messages += [*told, *combination_messages(model, None)]
    trained = ordered(source, classes=kind.classes_of(template) or None)
    name = kind.name_after(model, source.systems)
    result = ordered(mapped(trained, model, name), classes=source.classes or None)
    return MadeOf(source, trained, result, tuple(messages))


def _names(model: ScoreModel) -> tuple[str, ...]:
    return () if model.training_ is None else model.training_.systems


def _template(source: ShardSource) -> Any:
    """Scores of one trial, of these classes: for those who ask which they are."""
    if not source.classes:
        return Scores.of({"trial": ["any"]}, [0.0])
    scores = ClassScores.of({"trial": ["any"]}, source.classes, np.zeros((1, len(source.classes))))
    return replace(scores, trials=replace(scores.trials, origin=Origin(source.name)))


def _seen(
    model: ScoreModel, source: ShardSource, before: Results[Any], options: Options, *, of_training: bool
) -> list[Message]:
    """Say whether these are the trials of training, where that is not what one should think."""
    training = model.training_
    if training is None:
        return []
    first = before.systems[0]
    same = not hasattr(first, "n_tar") or training.counts == {"n_tar": first.n_tar, "n_non": first.n_non}
    if same:  # as many of each class: only then it takes another pass to find out
        wanted = Wanted(tuple(range(len(source.systems))), truth=True, weight=source.has_weights)
        with options.scale.engine() as engine:
            record = found_in(source, engine, wanted, Record.of, "comparing with the trials of training")
        same = record is not None and in_digits(record.digits) == training.fingerprint
    return seen_message(model, same=same, is_weighted=source.has_weights, of_training=of_training)
