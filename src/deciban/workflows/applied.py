"""What a trained model makes of the systems of inputs, whether these are whole files or pieces of some."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from deciban.io.reader import Input
from deciban.messages import Message
from deciban.models.score_model import ScoreModel
from deciban.models.uncertainty import Bounds
from deciban.types import AnyArray
from deciban.workflows.kinds import AnyKind, AnyScores
from deciban.workflows.kinds.base import named_apart
from deciban.workflows.kinds.trained_units import units_of
from deciban.workflows.model_files import order_of_training
from deciban.workflows.options import Reading
from deciban.workflows.system_names import known_by, renamed

Transform: TypeAlias = Callable[[Sequence[Any]], tuple[AnyArray, Bounds | None]]
"""Makes llrs, and maybe their bounds, of systems on the same trials."""


@dataclass(frozen=True, slots=True, eq=False)
class GivenSystems:
    """The systems of some inputs.

    Attributes
    ----------
    systems : list of Scores or ClassScores
        All of them, as logarithms.
    order : list of int
        Those that the model takes, in its order.
    notes : list of Message
        What is to be said about the order.
    """

    systems: list[Any]
    order: list[int]
    notes: list[Message]


def given_systems(model: ScoreModel, kind: AnyKind, inputs: Sequence[Input], reading: Reading) -> GivenSystems:
    """Find the systems that a model takes among those of some inputs.

    Raises
    ------
    FormatError, InputError
        If they are not those of the model, or not in units that are known.
    """
    given = [system for one in inputs for system in kind.systems_of(one.contents, reading)]
    systems, renaming = renamed(named_apart(given), reading.names)
    systems = kind.as_logarithms(systems, reading)
    if not model.is_fusion and len(systems) > 1:
        _ = inputs[0].contents.scores  # which says how to choose one of several
    order, notes = list(range(len(systems))), list[Message]()
    if model.is_fusion:
        trained = () if model.training_ is None else model.training_.systems
        names = known_by([system.name for system in systems], renaming, trained)
        order, notes = order_of_training(names, trained, model.n_systems_)
    return GivenSystems(systems, order, notes)


def result_of(
    model: ScoreModel, kind: AnyKind, systems: Sequence[Any], first: Any, reading: Reading, transform: Transform
) -> tuple[AnyScores, Bounds | None, list[Message]]:
    """What a model makes of systems on the same trials.

    Parameters
    ----------
    model : ScoreModel
    kind : AnyKind
    systems : sequence of Scores or ClassScores
        In the order of the model.
    first : Scores or ClassScores
        In whose place the result is written.
    reading : Reading
    transform : function

    Returns
    -------
    Scores or ClassScores
        In nats, with the classes in the order of the first.
    pair of arrays, or None
        Their bounds.
    list of Message
    """
    columns, notes = list[Any](), list[Message]()
    kind.require_model(model, reading, kind.classes_of(systems[0]), units_of(systems))
    for system in systems:
        ordered, more = kind.matched(model, kind.in_nats(system, reading))
        columns.append(ordered)
        notes += [message for message in more if message not in notes]
    values, bounds = transform(columns)
    classes, trained_classes = kind.classes_of(first), kind.classes_of(columns[0])
    if classes != trained_classes and set(classes) == set(trained_classes):
        values = values[:, [trained_classes.index(name) for name in classes]]
    return kind.with_values(first, values, "fusion" if model.is_fusion else first.name), bounds, notes
