"""Conversion of scores: probabilities, likelihoods and detection llrs to log-likelihoods, and back."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar

import numpy as np

from deciban._validate import classes as _validate
from deciban._validate.classes import Prior, logarithms_of_ratios, prior_of
from deciban.core.logliks import llr_of_probability, loglik_of_posterior
from deciban.errors import FormatError, InputError, Message, TrialError, counted, negation_note, option
from deciban.io.formats import Contents
from deciban.trials import ClassScores, Scores, Trials
from deciban.types import AnyArray, FloatArray

PROJECTED = "scores are detection llrs; they were projected to log-likelihoods (each class against the others alike)"
"""The note on detection llrs that were read."""

LIKELIHOODS = "scores are likelihoods; their natural logarithms were taken"
"""The note on multiclass likelihoods."""

LOGARITHMS_OF_RATIOS = "scores are likelihood ratios; they are written as their natural logarithms"
"""The note on two-class likelihood ratios that are converted."""


def submission_note() -> str:
    """Return the note on tables in the format of evaluations with detection llrs."""
    ways = f"{option(detection_llr=True)}, or {option(format='nist-lre17')}"
    return (
        "read as log-likelihoods, but submissions to the language recognition evaluations of 2017 and 2022 look like "
        f"this and contain detection llrs: if this is one, all results are wrong without {ways}"
    )


SUBMISSION = "nist-lre"
"""The format of evaluations with detection llrs."""

AnyPrior: TypeAlias = Prior | float
AnyScores = TypeVar("AnyScores", bound=Scores | ClassScores)


def logliks_of_detection_llrs(score: AnyArray) -> FloatArray:
    """Return log-likelihoods with the closest detection llrs for a flat prior: log posteriors without that prior.

    Examples
    --------
    >>> logliks_of_detection_llrs(np.array([[2.0, -2.0]])).round(3)
    array([[ 0.566, -1.434]])
    """
    from deciban.multiclass import project_detection_llr  # not needed for most scores

    loglik: FloatArray = project_detection_llr(score)
    loglik += math.log(score.shape[1])
    return loglik


def of_detection_llrs(contents: Contents) -> Contents:
    """Convert detection llrs in contents to log-likelihoods, and add a note.

    Raises
    ------
    InputError
        If the scores of a segment exclude every class.
    """
    if (scores := contents.class_scores) is None:
        return contents
    scores = replace(scores, score=logliks_of_detection_llrs(scores.score))
    return replace(contents, class_scores=scores, notes=(*contents.notes, PROJECTED))


def logs_of_probabilities(scores: AnyScores, prior: AnyPrior) -> AnyScores:
    """Convert probabilities of targets to log-likelihood ratios, or of classes to log-likelihoods.

    Parameters
    ----------
    scores : Scores or ClassScores
        Probabilities; those of the classes of a segment sum to 1 up to rounding (1e-3).
    prior : float or prior
        Prior of a target, inside (0, 1); or of the classes, without zeros.

    Raises
    ------
    FormatError
        If a score is not a probability; the message contains its place.
    InputError
        If the prior is invalid, or the scores are logarithms or likelihood ratios.

    Examples
    --------
    >>> logs_of_probabilities(Scores.of({"trial": ["a", "b"]}, [0.2, 1.0]), 0.2).score
    array([ 0., inf])
    >>> scores = ClassScores.of({"trial": ["a"]}, ["cat", "dog"], [[0.0, 1.0]])
    >>> logs_of_probabilities(scores, "flat").score.round(3)
    array([[ -inf, 0.693]])
    """
    value: Scores | ClassScores = scores
    classes = value.classes if isinstance(value, ClassScores) else ()
    if isinstance(value, Scores) and value.unit != "nats":
        what = "common logarithms of likelihood ratios" if value.log10 else "likelihood ratios, by the name of a column"
        raise InputError(f"probabilities: {scores.trials.origin.name} contains {what}. Leave probabilities out.")
    with placed(scores.trials):
        return replace(scores, score=logarithms_of_probabilities(scores.score, classes, prior))


def logliks_of_likelihoods(scores: ClassScores) -> ClassScores:
    """Return the natural logarithms of likelihoods of the classes.

    Raises
    ------
    FormatError
        If a likelihood is negative or NaN; the message contains its place.

    Examples
    --------
    >>> scores = ClassScores.of({"trial": ["a"]}, ["cat", "dog"], [[0.0, 1.0]])
    >>> logliks_of_likelihoods(scores).score
    array([[-inf,   0.]])
    """
    with placed(scores.trials):
        return replace(scores, score=logarithms_of_ratios(scores.score))


def logarithms_of_probabilities(values: AnyArray, classes: Sequence[str], prior: Any) -> FloatArray:
    """Convert arrays of probabilities of targets to log-likelihood ratios, or of classes to log-likelihoods.

    Parameters
    ----------
    values : (n,) or (n, n_classes) array
    classes : sequence of str
        Empty for two classes.
    prior : float or prior
        Prior of a target, or of the classes.

    Raises
    ------
    TrialError
        If a value is not a probability.
    InputError
        If the prior is invalid.

    Examples
    --------
    >>> logarithms_of_probabilities(np.array([0.5, 0.0]), (), 0.5)
    array([  0., -inf])
    """
    name = "probabilities"
    if classes:
        checked_prior = prior_above_zero(prior, classes, name)
        return loglik_of_posterior(_validate.of_classes(values, name), checked_prior) if len(values) else values
    p_target = _validate.target_prior(prior, name)
    return llr_of_probability(_validate.of_target(values, name), p_target) if len(values) else values


def of_probabilities(systems: Sequence[Scores | ClassScores], prior: str, noun: str) -> list[Message]:
    """Return messages that scores were probabilities, and how many were 0 or 1.

    Parameters
    ----------
    systems : sequence of Scores or ClassScores
        The logarithms.
    prior : str
        Text for the prior.
    noun : str
        Noun for a trial.
    """
    messages = [became_logarithms(prior, is_classes=systems[0].score.ndim > 1)]
    for one in systems:
        messages += certain(n_infinite(one.score), noun, one.trials.origin.name)
    return messages


def n_infinite(score: AnyArray) -> int:
    """Return the number of trials with an infinite score, of any class.

    >>> n_infinite(np.array([[0.0, np.inf], [1.0, 2.0]]))
    1
    """
    infinite = np.isinf(score)
    return int(np.count_nonzero(infinite.any(axis=1) if infinite.ndim > 1 else infinite))


def became_logarithms(prior: str, *, is_classes: bool) -> Message:
    """Return the message that scores were probabilities."""
    what = "log-likelihoods" if is_classes else "log-likelihood ratios"
    return Message("note", "", f"scores are probabilities with prior {prior}; they were converted to {what} in nats")


def certain(n: int, noun: str, name: str) -> list[Message]:
    """Return a message about probabilities of exactly 0 or 1 in a file, if there are any."""
    words = f"{counted(n, noun)} with a probability of exactly 0 or 1, which is an infinite logarithm"
    return [Message("note", name, words)] if n else []


def prior_above_zero(prior: Prior, classes: Sequence[str], name: str) -> FloatArray:
    """Return a prior of classes, in their order.

    Raises
    ------
    InputError
        If the prior is invalid, or a class has prior 0.
    """
    values = prior_of(prior, classes, name)
    zero = np.flatnonzero(values == 0)
    if len(zero):
        raise InputError(
            f"{name}: the prior of {classes[int(zero[0])]!r} is 0, so its posteriors contain no information. "
            f"Leave the class out ({option('classes')})."
        )
    return values


def require_class_units(write_as: str) -> None:
    """Raise if the unit for multiclass scores is unknown.

    Raises
    ------
    InputError
    """
    if write_as not in ("loglik", "detection-llr"):
        raise InputError(f"write_as: got {write_as!r}. Use 'loglik' or 'detection-llr'.")


def written_as(scores: ClassScores, write_as: str) -> tuple[ClassScores, list[Message]]:
    """Convert log-likelihoods to the unit to write, and return messages about it.

    Examples
    --------
    >>> scores = ClassScores.of({"trial": ["a"]}, ["cat", "dog"], [[1.0, -1.0]])
    >>> written_as(scores, "detection-llr")[0].score
    array([[ 2., -2.]])
    """
    if write_as == "loglik":
        return scores, []
    from deciban.multiclass import detection_llrs  # not needed for most scores

    words = "written as detection llrs: of each class against the others, with a flat prior"
    return replace(scores, score=detection_llrs(scores.score)), [Message("note", "", words)]


def notes_on_submissions(messages: Sequence[Message], write_as: str) -> list[Message]:
    """Return a note if log-likelihoods were written in the format of evaluations with detection llrs."""
    words = (
        "contains log-likelihoods, but the language recognition evaluations of 2017 and 2022 expect detection llrs: "
        f"use {option(write_as='detection-llr')}"
    )
    as_submission = [one for one in messages if one.kind == "wrote" and one.text == f"as {SUBMISSION}"]
    return [Message("note", one.origin, words) for one in as_submission if write_as == "loglik"]


def in_other_units(
    contents: Contents, probabilities: AnyPrior | None, *, detection_llr: bool, write_as: str, lr: bool, negate: bool
) -> tuple[Contents, list[Message]]:
    """Convert the scores of contents to logarithms or detection llrs, and return messages about it.

    Parameters
    ----------
    contents : Contents
    probabilities : float or prior, optional
        The prior of the scores, if they are probabilities.
    detection_llr : bool
        True if class scores are detection llrs.
    write_as : {"loglik", "detection-llr"}
    lr : bool
        True if class scores are likelihoods. (Readers convert likelihood ratios of two classes.)
    negate : bool
        True to change the sign of two-class scores.

    Raises
    ------
    FormatError, InputError
        If scores are not probabilities, or an option does not apply to the contents.
    """
    messages = [Message("note", "", negation_note())] if negate else []
    if any(one.unit == "lr" for one in contents.systems):
        messages.append(Message("note", "", LOGARITHMS_OF_RATIOS))
    contents = negated(contents) if negate else contents
    systems, classes = contents.systems, contents.class_scores
    declared = {"lr": lr, "probabilities": probabilities is not None, "detection_llr": detection_llr}
    names = [name for name, is_given in declared.items() if is_given]
    if len(names) > 1:
        raise InputError(f"{names[0]}, {names[-1]}: scores can be only one of them. Leave one out.")
    if classes is None and (detection_llr or write_as == "detection-llr"):
        name = "detection_llr" if detection_llr else "write_as"
        raise InputError(f"{name}: {contents.origin.name} contains no multiclass scores. Leave {name} out.")
    if lr and classes is not None:
        classes = logliks_of_likelihoods(classes)
        messages.append(Message("note", "", LIKELIHOODS))
    elif probabilities is not None and classes is not None:
        classes = logs_of_probabilities(classes, probabilities)
        messages += of_probabilities([classes], str(probabilities), "segment")
    elif probabilities is not None:
        if not systems:
            raise InputError(f"probabilities: {contents.origin.name} contains no scores. Leave probabilities out.")
        systems = tuple(logs_of_probabilities(one, probabilities) for one in systems)
        messages += of_probabilities(systems, repr(_validate.target_prior(probabilities, "probabilities")), "trial")
    elif detection_llr and classes is not None:
        classes = replace(classes, score=logliks_of_detection_llrs(classes.score))
        messages.append(Message("note", "", PROJECTED))
    if classes is not None:
        classes, more = written_as(classes, write_as)
        messages += more
    return replace(contents, systems=systems, class_scores=classes), messages


def refuse_negated_probabilities(probabilities: object) -> None:
    """Raise if scores that are probabilities would be negated.

    Raises
    ------
    InputError
    """
    if probabilities is not None:
        raise InputError(
            f"negate, probabilities: a negated probability is not a probability. Leave {option('negate')} out and, if "
            f"these are probabilities of non-targets, exchange the label words ({option(labels=...)})."
        )


def negated(contents: Contents) -> Contents:
    """Return contents with the opposite sign of the scores of all systems.

    Raises
    ------
    InputError
        If there are no two-class scores.
    """
    if not contents.systems:
        raise InputError(f"negate: {contents.origin.name} contains no two-class scores. Leave it out.")
    return replace(contents, systems=tuple(one.negated() for one in contents.systems))


@contextmanager
def placed(trials: Trials) -> Iterator[None]:
    """Add the place of the trial to errors in this block."""
    try:
        yield
    except TrialError as error:
        where = trials.origin.where(error.index)
        raise FormatError(f"{where}: {error.before}here{error.after}") from error
