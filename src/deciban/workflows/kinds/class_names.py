"""What classes are called: in files, by the user, and where they are only numbered."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from deciban._arrow import of_numpy
from deciban.errors import InputError
from deciban.io.columns.meanings import plain_word, words_of_columns
from deciban.io.contents import Contents
from deciban.messages import Message
from deciban.trials import ClassKey, ClassScores

_NUMBER = re.compile("0|[1-9][0-9]{0,8}")


def named_as(old: ClassScores, scores: ClassScores) -> tuple[ClassScores, list[Message]]:
    """Scores whose classes are called as in the file that they are written to in place of others."""
    if len(old.classes) == len(scores.classes) and set(old.classes) != set(scores.classes):
        return replace(scores, classes=old.classes), []  # they were numbered, and named by the user
    left = [name for name in old.classes if name not in scores.classes]
    if len(old.classes) <= len(scores.classes):
        return scores, []
    return scores, [Message("note", "", f"not among the classes, and left out: {', '.join(left[:10])}")]


def are_numbers(classes: Sequence[str]) -> bool:
    """Whether classes are not named, but counted from 0."""
    return tuple(classes) == tuple(map(str, range(len(classes))))


def are_counted(classes: Sequence[str]) -> bool:
    """Whether classes are not named, but counted from 0, in whatever order, and perhaps not all there."""
    return "0" in classes and all(_NUMBER.fullmatch(name) for name in classes)


def with_names(scores: ClassScores, classes: Sequence[str] | None) -> ClassScores:
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
    if not are_numbers(scores.classes) or set(classes) <= set(scores.classes):
        return scores.of_classes(classes)
    if len(classes) != len(scores.classes):
        raise InputError(
            f"classes: {len(classes)} names, but {scores.trials.origin.name} has {len(scores.classes)} columns. Give "
            "one name per column, in order."
        )
    return ClassScores.of(scores.trials, classes, scores.score, name=scores.name)


def with_other_columns(key: ClassKey, scores: ClassScores, classes: Sequence[str]) -> ClassKey:
    """A key that knows the columns of numbers beside it that are no class, as a user has named all classes.

    Parameters
    ----------
    key : ClassKey
    scores : ClassScores
        Of the same rows of one table; else nothing is added.
    classes : sequence of str
    """
    if key.trials is not scores.trials or not set(classes) < set(scores.classes):
        return key
    known = key.trials.conditions
    more = {
        name: of_numpy(np.ascontiguousarray(scores.score[:, at]))
        for at, name in enumerate(scores.classes)
        if name not in classes and name not in known
    }
    return replace(key, trials=replace(key.trials, conditions={**known, **more}))


def as_columns(key: ClassKey, columns: Sequence[str], *, in_order: bool = False) -> ClassKey:
    """Return a key whose classes are called as the columns of their scores, if all of them name such a column.

    Parameters
    ----------
    key : ClassKey
    columns : sequence of str
    in_order : bool
        Whether numbers from 0 stand for the columns in order (`deciban.io.columns.meanings.words_of_columns`).
    """
    if set(key.classes) <= set(columns):
        return key
    places = words_of_columns(columns, in_order=in_order)
    words = [plain_word(name) for name in key.classes]
    if not set(words) <= places.keys():
        return key
    at = np.array([places[word] for word in words], key.label.dtype)
    return ClassKey(key.trials, tuple(columns), at[key.label])


def with_labels_of_columns(contents: Contents, classes: Sequence[str] | None) -> Contents:
    """Return contents whose labels are called as the columns of scores beside them, with a note if numbers were.

    Where a user names the classes, numbers are positions among these, and stay.
    """
    scores, key = contents.class_scores, contents.class_key
    if scores is None or key is None:
        return contents
    in_order = classes is None and set(map(plain_word, key.classes)) <= set(map(str, range(len(scores.classes))))
    changed = as_columns(key, scores.classes, in_order=in_order)
    if changed is key:
        return contents
    note = ""
    if are_counted(key.classes) and not set(key.classes) <= words_of_columns(scores.classes, in_order=False).keys():
        note = f"label 0 is the column {scores.classes[0]}, label 1 {scores.classes[1]}, and so on"
    return replace(contents, class_key=changed, notes=(*contents.notes, *([note] if note else [])))


def refuse_some_detectors(scores: ClassScores, named: ClassScores) -> None:
    """Refuse detection llrs of some classes, which are against all others.

    Raises
    ------
    InputError
    """
    if len(named.classes) == len(scores.classes):
        return
    left_out = ", ".join([name for name in scores.classes if name not in named.classes][:10])
    raise InputError(
        f"classes, detection_llr: in {scores.trials.origin.name}, detection llrs are of each class against all others, "
        f"and {left_out} would be left out. Turn all of them into log-likelihoods first (deciban convert IN OUT "
        "--detection-llr), and choose classes of these. If a column is no class, name those that are: --columns "
        f"trial=SEGMENT,score={'|'.join(named.classes[:10])}."
    )
