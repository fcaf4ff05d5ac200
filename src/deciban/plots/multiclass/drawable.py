"""What pictures of many classes draw: the evaluations of one or several systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from deciban.errors import InputError
from deciban.evaluation.multiclass.result import ClassEvaluation, ClassResults
from deciban.evaluation.results import Results

ClassDrawable: TypeAlias = ClassEvaluation | ClassResults | Sequence[ClassEvaluation]


def class_systems_of(result: ClassDrawable, argument: str = "result") -> tuple[ClassEvaluation, ...]:
    """Return what is to be drawn, one after the other.

    Raises
    ------
    InputError
        If there is nothing, or something else, or the classes are not the same.
    """
    if isinstance(result, ClassEvaluation):
        return (result,)
    systems = result.systems if isinstance(result, Results) else tuple(result)
    if not systems:
        raise InputError(f"{argument}: there is no system to draw. Pass a ClassEvaluation, or a list of them.")
    for system in systems:
        if not isinstance(system, ClassEvaluation):
            raise InputError(
                f"{argument}: expected ClassEvaluations, got {type(system).__name__}. evaluate_classes(loglik, label) "
                "makes one."
            )
        if system.classes != systems[0].classes:
            raise InputError(
                f"{argument}: {system.name!r} has the classes {', '.join(system.classes)}, {systems[0].name!r} has "
                f"{', '.join(systems[0].classes)}. Draw systems on the same classes together."
            )
    return systems


def one_system(result: ClassDrawable, argument: str = "result") -> ClassEvaluation:
    """Return the only system.

    Raises
    ------
    InputError
        If there are several, or none.
    """
    systems = class_systems_of(result, argument)
    if len(systems) > 1:
        raise InputError(f"{argument}: {len(systems)} systems, but this plot shows one. Draw them one by one.")
    return systems[0]


def systems_before(before: ClassDrawable, after: Sequence[ClassEvaluation]) -> tuple[ClassEvaluation, ...]:
    """Return systems before calibration, one for each after it.

    Raises
    ------
    InputError
        If there are not as many, or on other classes.
    """
    systems = class_systems_of(before, "before")
    if len(systems) != len(after):
        raise InputError(f"before: {len(systems)} systems, but there are {len(after)} after calibration.")
    if systems[0].classes != after[0].classes:
        raise InputError(
            f"before: the classes are {', '.join(systems[0].classes)}, those after calibration are "
            f"{', '.join(after[0].classes)}."
        )
    return systems
