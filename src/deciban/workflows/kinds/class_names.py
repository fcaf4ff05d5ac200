"""Which column of class scores is which class: names and order of the classes in scores, keys and models."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from deciban.errors import InputError, KeyMismatchError
from deciban.messages import Message
from deciban.trials import ClassKey, ClassScores

if TYPE_CHECKING:
    from deciban.models.score_model import ScoreModel


def is_numbered(classes: Sequence[str]) -> bool:
    """Whether classes are not named, but counted from 0."""
    return tuple(classes) == tuple(map(str, range(len(classes))))


def called(scores: ClassScores, classes: Sequence[str] | None) -> ClassScores:
    """Scores whose classes have the names, and the order, that the user gave.

    Raises
    ------
    InputError
        If the file has no such classes, or numbers more or fewer of them.
    """
    given: object = classes
    if given is not None and (isinstance(given, str) or not isinstance(given, Iterable)):
        raise InputError(f"classes: got {given!r}. Write their names in order: ['eng', 'fra'].")
    if classes is None or tuple(classes) == scores.classes:
        return scores
    if not is_numbered(scores.classes) or set(classes) <= set(scores.classes):
        return scores.of_classes(classes)
    if len(classes) != len(scores.classes):
        raise InputError(
            f"classes: {len(classes)} names, but {scores.trials.origin.name} has {len(scores.classes)} columns. Give "
            "one name per column, in order."
        )
    return ClassScores.of(scores.trials, classes, scores.score, name=scores.name)


def key_as_scores(key: ClassKey, file: str, classes: Sequence[str] | None, scores: ClassScores) -> ClassKey:
    """A class key, its classes called as those of the scores.

    Parameters
    ----------
    key : ClassKey
    file : str
        Where it is from.
    classes : sequence of str, optional
        Names that the user gave.
    scores : ClassScores

    Raises
    ------
    KeyMismatchError
        If the key numbers classes that the scores name, and the user did not say which number is which, or named fewer.
    """
    if not is_numbered(key.classes) or is_numbered(scores.classes) or set(key.classes) <= set(scores.classes):
        return key
    if classes is None:
        raise KeyMismatchError(
            f"{file} numbers its classes, {scores.trials.origin.name} names them: "
            f"{', '.join(scores.classes)}. Say which number is which class by naming them in the order of "
            "the numbers (--classes NAME,NAME,...)."
        )
    if int(key.label.max()) >= len(classes):
        row = int(np.argmax(key.label >= len(classes)))
        raise KeyMismatchError(
            f"{key.trials.origin.where(row)}: {key.trials.name_of(row)} is of class {key.label[row]}, counted from 0, "
            f"but {len(classes)} classes are named: {', '.join(classes)}."
        )
    return ClassKey(key.trials, tuple(classes), key.label)


def in_order_of(model: ScoreModel, scores: ClassScores) -> tuple[ClassScores, list[Message]]:
    """Scores with the classes in the order of training, and what is to be said about it.

    Raises
    ------
    InputError
        If they are other classes.
    """
    trained: tuple[str, ...] | None = getattr(model, "classes_", None)
    n_classes = len(trained) if trained else int(getattr(model, "n_classes_", len(scores.classes)))
    if trained is not None and set(trained) == set(scores.classes):
        return (scores if scores.classes == trained else scores.of_classes(trained)), []
    numbered = tuple(map(str, range(n_classes)))
    if len(scores.classes) == n_classes and (trained is None or numbered in (trained, scores.classes)):
        if trained is None or trained == numbered:
            return scores, []
        return scores, [Message("note", "", f"classes in the order of training: {', '.join(trained)}")]
    known = f" ({', '.join(trained)})" if trained else ""
    raise InputError(
        f"{scores.trials.origin.name}: has scores for {', '.join(scores.classes[:20])}, but the model was trained on "
        f"{n_classes} classes{known}. Name the columns to take (--classes)."
    )
