"""Scores and truth of two named classes, read as those of targets and non-targets where a user asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from deciban._files import display_name
from deciban._validate.probabilities import like_posteriors, target_prior
from deciban.errors import InputError
from deciban.io.contents import Contents
from deciban.io.reader import Input, read_input
from deciban.io.recognition import Recognized, readable_as
from deciban.io.text.ways import in_lines, words_in_options
from deciban.io.units import logliks_of_likelihoods, logliks_of_probabilities
from deciban.messages import WARNING, Message
from deciban.trials import ClassKey, ClassScores, Key, Scores
from deciban.types import FloatArray, ScoreUnit

if TYPE_CHECKING:
    from deciban._validate.labels import Vocabulary


def read_two_columns(file: Recognized, *, unit: ScoreUnit | None, prior: object = None) -> Input | None:
    """Read a file with a score for each of two classes: that of the target class minus that of the other one.

    The difference of two log-likelihoods is the log-likelihood ratio; whatever is added to both does not change it.

    Parameters
    ----------
    file : Recognized
        Its words for target and non-target say which class is the target.
    unit : {"nats", "log10", "lr"}, optional
        The unit of the scores; likelihoods become logarithms before their difference is taken.
    prior : float, optional
        The scores are probabilities of the two classes by this prior of a target, and become their log-likelihood
        ratios: exact where one of them is too close to 1 to tell.

    Returns
    -------
    Input or None
        None if the file does not hold class scores, or could as well hold scores of two-class systems.

    Raises
    ------
    FormatError, OSError
    InputError
        If there are more classes, nothing says which of them is the target, or both scores of a segment are infinite
        alike.
    """
    held = readable_as(file, ("scores", "class-scores"))
    if held != ("class-scores",):
        return None
    found = read_input(file, need="class-scores")
    scores = found.contents.class_scores
    assert scores is not None  # noqa: S101  # it was asked for
    vocabulary = file.files[0].options.vocabulary
    target = _target(scores, vocabulary)
    names = scores.classes[target], scores.classes[1 - target]
    notes: list[str | Message] = [f"scores are those of class {names[0]} minus those of class {names[1]}"]
    if prior is not None:
        p_target = target_prior(prior, "probabilities")
        in_order = (p_target, 1.0 - p_target) if target == 0 else (1.0 - p_target, p_target)
        scores = logliks_of_probabilities(scores, in_order)
    elif unit == "lr":
        scores = logliks_of_likelihoods(scores)
    elif like_posteriors(scores.score):
        words = (
            "the scores of a segment sum to 1: probabilities? Their difference is no log-likelihood ratio; say by "
            "which prior of a target they are (--probabilities PRIOR)"
        )
        notes.append(Message(WARNING, found.contents.origin.name, words))
    made = Scores(scores.trials, _differences(scores, target), scores.name, unit == "log10", unit == "lr")
    key = found.contents.class_key
    truth = None if key is None else _key(key, vocabulary)
    changed = replace(
        found.contents,
        class_scores=None,
        class_key=None,
        systems=(made,),
        key=truth,
        notes=(*found.contents.notes, *notes),
        from_probabilities=prior is not None,
    )
    return Input(changed, found.format)


def refuse_two_columns(file: Recognized) -> None:
    """Refuse scores of two classes in two files, one of targets and one of non-targets.

    Raises
    ------
    InputError
    """
    if any(readable_as(one, ("scores", "class-scores")) == ("class-scores",) for one in file.sides or ()):
        raise InputError(
            f"{display_name(file.path)}: scores of classes, but of two files, one of targets and one of non-targets, "
            "each has one score for a trial. Name the column of the scores (--columns); or, for the difference of two "
            "(--kind two-class), name one file and its key."
        )


def read_two_classes(file: Recognized) -> Input | None:
    """Read a key that says of which of two classes segments are, as one of targets and non-targets.

    Returns
    -------
    Input or None
        None if the file holds no true classes, or could as well be a key of targets.

    Raises
    ------
    FormatError, OSError
    InputError
        If nothing says which classes are targets.
    """
    if readable_as(file, ("key", "class-key")) != ("class-key",):
        return None
    found = read_input(file, need="class-key")
    key = found.contents.class_key
    assert key is not None  # noqa: S101  # it was asked for
    made = _key(key, file.files[0].options.vocabulary)
    words = {name: bool(made.is_target[key.label == at].any()) for at, name in enumerate(key.classes)}
    changed: Contents = replace(found.contents, class_key=None, key=made, words=words)
    return replace(found, contents=changed)


def _target(scores: ClassScores, vocabulary: Vocabulary) -> int:
    """Which of two classes is the target."""
    name, classes = scores.trials.origin.name, scores.classes
    if len(classes) != 2:
        raise InputError(
            f"{name}: scores of {len(classes)} classes, but two were asked for (--kind two-class). Name the column of "
            "the scores of the target class (--columns), or evaluate all classes (--kind classes)."
        )
    known = vocabulary.within(classes)
    meanings = [known.meaning(one) for one in classes]
    if sorted(map(str, meanings)) != ["False", "True"]:
        raise InputError(_unknown(name, classes))
    return meanings.index(True)


def _unknown(name: str, classes: Sequence[str]) -> str:
    return (
        f"{name}: nothing says which class is the target, of {' and '.join(classes[:4])}. Say it (--labels "
        f"target=CLASS,nontarget=CLASS):{in_lines(words_in_options(classes))}"
    )


def _differences(scores: ClassScores, target: int) -> FloatArray:
    """The score of the target class minus that of the other one."""
    tar: FloatArray = scores.score[:, target].astype(np.float64)
    non: FloatArray = scores.score[:, 1 - target].astype(np.float64)
    alike = np.isinf(tar) & (tar == non)
    if alike.any():
        row = int(np.argmax(alike))
        raise InputError(
            f"{scores.trials.origin.where(row)}: both classes of {scores.trials.name_of(row)} have the score "
            f"{tar[row]:g}, so that neither is more likely ({np.count_nonzero(alike):,} such segments). Repair the "
            "scores, or leave these segments out."
        )
    with np.errstate(over="ignore"):
        difference: FloatArray = tar - non
    beyond = np.isinf(difference) & np.isfinite(tar) & np.isfinite(non)
    if beyond.any():
        row = int(np.argmax(beyond))
        raise InputError(
            f"{scores.trials.origin.where(row)}: the difference of its scores is beyond the largest float."
        )
    return difference


def _key(key: ClassKey, vocabulary: Vocabulary) -> Key:
    """The same truth, as targets and non-targets."""
    occurring = [name for at, name in enumerate(key.classes) if np.any(key.label == at)]
    known = vocabulary.within(occurring)
    meanings = {name: known.meaning(name) for name in occurring}
    if None in meanings.values():
        raise InputError(_unknown(key.trials.origin.name, occurring))
    means_target = np.array([bool(meanings.get(name)) for name in key.classes], np.bool_)
    return Key(key.trials, means_target[key.label])
