"""Names and order of classes, and what their numbers are: logarithms of either base, posteriors, detection llrs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from deciban._validate.classes import prior_of
from deciban.errors import InputError, KeyMismatchError
from deciban.messages import Message
from deciban.multiclass import project_detection_llr
from deciban.trials import ClassKey, ClassScores
from deciban.types import FloatArray

if TYPE_CHECKING:
    from deciban.models.score_model import ScoreModel
    from deciban.workflows.options import Reading


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


POSTERIOR_PRIOR = "posterior_prior"
"""Where the record of training says which prior was taken out of log posteriors."""

_LOG_10 = math.log(10.0)
_SUBMISSION = "nist-lre"
"""Format of the submissions to evaluations that ask for detection llrs."""


def in_nats(scores: ClassScores, reading: Reading) -> ClassScores:
    """Turn scores into natural log-likelihoods; those that are such are left as they are.

    Raises
    ------
    InputError
        If the prior that is to be taken out of posteriors is 0 for a class, or detection llrs are infinite.
    """
    if not reading.log10 and reading.posterior_prior is None and not reading.detection_llr:
        return scores
    score = scores.score.astype(np.float64)
    if reading.log10:
        with np.errstate(over="ignore"):
            score *= _LOG_10
    if reading.posterior_prior is not None:
        prior = prior_of(reading.posterior_prior, scores.classes, "posterior_prior")
        zero = np.flatnonzero(prior == 0)
        if len(zero):
            raise InputError(
                f"posterior_prior: that of {scores.classes[int(zero[0])]!r} is 0, so that its posteriors say nothing. "
                "Leave the class out (classes, --classes)."
            )
        score -= np.log(prior)
    if reading.detection_llr:
        score = project_detection_llr(score)
    return replace(scores, score=score)


def refuse_impossible(scores: ClassScores) -> None:
    """Refuse segments that exclude every class, by name.

    Raises
    ------
    InputError
    """
    impossible = np.flatnonzero(scores.score.max(axis=1) == -np.inf)
    if len(impossible):
        row = int(impossible[0])
        raise InputError(
            f"{scores.name}: segment {scores.trials.name_of(row)} excludes every class, with -inf throughout "
            f"({len(impossible):,} such segments). At least one class must be possible: repair the scores, or leave "
            "these segments out of the key."
        )


def messages(systems: Sequence[ClassScores], reading: Reading) -> list[Message]:
    """What was done to scores, and for what those of an evaluation that asks for detection llrs were taken."""
    found = list[Message]()
    if reading.log10:
        found.append(Message("note", "", "scores are common logarithms, and were multiplied by ln 10"))
    if reading.posterior_prior is not None:
        prior = prior_of(reading.posterior_prior, systems[0].classes, "posterior_prior")
        shown = ", ".join(f"{p:.4g}" for p in prior[:20])
        words = f"scores are log posteriors: the logarithms of the prior {shown} were subtracted"
        found.append(Message("note", "", words))
    if reading.detection_llr:
        words = "scores are detection llrs, and were projected to log-likelihoods (each class against the others alike)"
        found.append(Message("note", "", words))
    elif any(_SUBMISSION in one.trials.origin.reading for one in systems):
        words = (
            "taken as log-likelihoods; submissions to the evaluations of 2017 and 2022 hold detection llrs: "
            "--detection-llr"
        )
        found.append(Message("note", systems[0].trials.origin.name, words))
    return found


def prior_text(prior: FloatArray | None, classes: Sequence[str]) -> str | None:
    """A prior as it stands in the record of training, and as the command line takes it; None for a flat one.

    >>> prior_text(np.array([0.75, 0.25]), ("eng", "fra"))
    'eng=0.75,fra=0.25'
    """
    if prior is None or np.ptp(prior) == 0.0:
        return None
    return ",".join(f"{name}={p!r}" for name, p in zip(classes, prior.tolist(), strict=True))


def require_same_posteriors(model: ScoreModel, prior: FloatArray | None, classes: Sequence[str]) -> None:
    """Refuse to apply a model to scores with another prior in them than those that it was trained on.

    Parameters
    ----------
    model : ScoreModel
    prior : (n_classes,) array, optional
        What is taken out of the scores.
    classes : sequence of str
        Whose probabilities these are; their order need not be that of training.

    Raises
    ------
    InputError
    """
    trained = None if model.training_ is None else model.training_.results.get(POSTERIOR_PRIOR)
    names: Sequence[str] = getattr(model, "classes_", None) or classes
    if prior is not None and sorted(names) == sorted(classes):
        prior = prior[[list(classes).index(name) for name in names]]
    given = prior_text(prior, names)
    if trained is None and given is not None:
        raise InputError(
            "posterior_prior: given, but the model was trained on scores from which no prior was taken out. Leave it "
            "out, or train with it."
        )
    if trained is not None and given != (trained if "=" in str(trained) else _named(str(trained), names)):
        named = "none is named" if prior is None else given or "flat"
        raise InputError(
            f"posterior_prior: {named}, but the model was trained on log posteriors. It is for scores with the same "
            f"prior in them: name it (--posterior-prior {trained}), or train on scores like these."
        )


def _named(recorded: str, classes: Sequence[str]) -> str:
    """What records of earlier versions hold, a number for each class in the order of training, with names."""
    return ",".join(f"{name}={p}" for name, p in zip(classes, recorded.split(","), strict=False))
