"""Scores in other units: probabilities, likelihoods and detection llrs as log-likelihoods, and the reverse."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from deciban._validate import probabilities as _validate
from deciban._validate.classes import Prior, prior_of
from deciban._validate.probabilities import logarithms_of_ratios
from deciban.core import posteriors
from deciban.errors import FormatError, InputError, TrialError
from deciban.io.contents import Contents
from deciban.messages import NEGATED, Message, counted
from deciban.trials import ClassScores, Scores, Trials
from deciban.trials.lists import Origin
from deciban.types import AnyArray, FloatArray

DETECTION_LLRS = (
    "taken as log-likelihoods, but submissions to the language recognition evaluations of 2017 and 2022 look like this "
    "and hold detection llrs: if this is one, all figures are wrong without --detection-llr (detection_llr=True), or "
    "--format nist-lre17"
)
"""What is said of tables in the format of evaluations that ask for detection llrs."""


PROJECTED = "scores are detection llrs, and were projected to log-likelihoods (each class against the others alike)"
"""What is said of detection llrs that were read."""

LIKELIHOODS = "scores are likelihoods, and their natural logarithms were taken"
"""The note on likelihoods of many classes."""

LOGARITHMS_OF_RATIOS = "scores are likelihood ratios, and are written as their natural logarithms"
"""The note on likelihood ratios of two classes that are converted."""

_SUBMISSION = "nist-lre"

AnyScores = TypeVar("AnyScores", bound=Scores | ClassScores)


def logliks_of_detection_llrs(score: AnyArray) -> FloatArray:
    """Log-likelihoods whose detection llrs by a flat prior are closest: log posteriors without that prior.

    Examples
    --------
    >>> logliks_of_detection_llrs(np.array([[2.0, -2.0]])).round(3)
    array([[ 0.566, -1.434]])
    """
    from deciban.multiclass import project_detection_llr  # most scores are in no need of it

    loglik: FloatArray = project_detection_llr(score)
    loglik += math.log(score.shape[1])
    return loglik


def of_detection_llrs(contents: Contents) -> Contents:
    """Contents of a format that has detection llrs, with log-likelihoods, and a note that says so.

    Raises
    ------
    InputError
        If those of a segment exclude every class.
    """
    if (scores := contents.class_scores) is None:
        return contents
    scores = replace(scores, score=logliks_of_detection_llrs(scores.score))
    return replace(contents, class_scores=scores, notes=(*contents.notes, PROJECTED))


def as_detection_llrs(contents: Contents) -> Contents:
    """Contents with detection llrs by a flat prior in place of log-likelihoods, for a format that has these."""
    if contents.class_scores is None:
        return contents
    return replace(contents, class_scores=written_as(contents.class_scores, "detection-llr")[0])


def is_submission(origin: Origin) -> bool:
    """Whether a table has the format of evaluations that ask for detection llrs."""
    return re.search(rf"\b{_SUBMISSION}\b", origin.reading) is not None


def logs_of_probabilities(scores: AnyScores, prior: Any) -> AnyScores:
    """Return log-likelihood ratios of probabilities of being a target; of many classes, log-likelihoods of theirs.

    Parameters
    ----------
    scores : Scores or ClassScores
        Probabilities; those of the classes of a segment sum to 1 but for rounding (1e-3).
    prior : float or prior
        That of a target, inside (0, 1); or of the classes, without zeros.

    Raises
    ------
    FormatError
        If one is no probability; it names the place.
    InputError
        If the prior is none, or the scores are logarithms or likelihood ratios.

    Examples
    --------
    >>> logs_of_probabilities(Scores.of({"trial": ["a", "b"]}, [0.2, 1.0]), 0.2).score
    array([ 0., inf])
    >>> scores = ClassScores.of({"trial": ["a"]}, ["cat", "dog"], [[0.0, 1.0]])
    >>> logs_of_probabilities(scores, "flat").score.round(3)
    array([[ -inf, 0.693]])
    """
    given: Scores | ClassScores = scores
    classes = given.classes if isinstance(given, ClassScores) else ()
    if isinstance(given, Scores) and given.unit != "nats":
        what = "common logarithms of likelihood ratios" if given.log10 else "likelihood ratios by the name of a column"
        raise InputError(f"probabilities: {scores.trials.origin.name} holds {what}. Leave it out.")
    with placed(scores.trials):
        return replace(scores, score=logarithms_of_probabilities(scores.score, classes, prior))


def logliks_of_likelihoods(scores: ClassScores) -> ClassScores:
    """Return the natural logarithms of likelihoods of the classes.

    Raises
    ------
    FormatError
        If a likelihood is negative or NaN; it names the place.

    Examples
    --------
    >>> scores = ClassScores.of({"trial": ["a"]}, ["cat", "dog"], [[0.0, 1.0]])
    >>> logliks_of_likelihoods(scores).score
    array([[-inf,   0.]])
    """
    with placed(scores.trials):
        return replace(scores, score=logarithms_of_ratios(scores.score))


def logarithms_of_probabilities(values: AnyArray, classes: Sequence[str], prior: Any) -> FloatArray:
    """Log-likelihood ratios of probabilities of being a target; of many classes, log-likelihoods of theirs.

    Parameters
    ----------
    values : (n,) or (n, n_classes) array
    classes : sequence of str
        Empty of two classes.
    prior : float or prior
        That of a target, or of the classes.

    Raises
    ------
    TrialError
        If one is no probability.
    InputError
        If the prior is none.

    Examples
    --------
    >>> logarithms_of_probabilities(np.array([0.5, 0.0]), (), 0.5)
    array([  0., -inf])
    """
    name = "probabilities"
    if classes:
        given = prior_above_zero(prior, classes, name)
        return posteriors.loglik(_validate.of_classes(values, name), given) if len(values) else values
    p_target = _validate.target_prior(prior, name)
    return posteriors.llr(_validate.of_target(values, name), p_target) if len(values) else values


def of_probabilities(systems: Sequence[Scores | ClassScores], prior: str, noun: str) -> list[Message]:
    """Say that scores were probabilities, and how many of them were certain.

    Parameters
    ----------
    systems : sequence of Scores or ClassScores
        As logarithms.
    prior : str
        In words.
    noun : str
        What a trial is called.
    """
    found = [became_logarithms(prior, is_classes=systems[0].score.ndim > 1)]
    for one in systems:
        found += certain(n_infinite(one.score), noun, one.trials.origin.name)
    return found


def n_infinite(score: AnyArray) -> int:
    """Return the number of trials with an infinite score, of any class.

    >>> n_infinite(np.array([[0.0, np.inf], [1.0, 2.0]]))
    1
    """
    infinite = np.isinf(score)
    return int(np.count_nonzero(infinite.any(axis=1) if infinite.ndim > 1 else infinite))


def became_logarithms(prior: str, *, is_classes: bool) -> Message:
    """Say that scores were probabilities."""
    what = "log-likelihoods" if is_classes else "log-likelihood ratios"
    return Message("note", "", f"scores are probabilities by the prior {prior}, and became {what} in nats")


def certain(n: int, noun: str, name: str) -> list[Message]:
    """Say how many probabilities of a file were certain, if some were."""
    words = f"{counted(n, noun)} with a probability of exactly 0 or 1, which is an infinite logarithm"
    return [Message("note", name, words)] if n else []


def prior_above_zero(prior: Prior, classes: Sequence[str], name: str) -> FloatArray:
    """A prior of classes, in their order.

    Raises
    ------
    InputError
        If it is none, or has a 0.
    """
    given = prior_of(prior, classes, name)
    zero = np.flatnonzero(given == 0)
    if len(zero):
        raise InputError(
            f"{name}: that of {classes[int(zero[0])]!r} is 0, so that its posteriors say nothing. "
            "Leave the class out (classes, --classes)."
        )
    return given


def require_class_units(write_as: str) -> None:
    """Refuse what scores of many classes are not written as.

    Raises
    ------
    InputError
    """
    if write_as not in ("loglik", "detection-llr"):
        raise InputError(f"write_as: got {write_as!r}. It is 'loglik' or 'detection-llr'.")


def written_as(scores: ClassScores, write_as: str) -> tuple[ClassScores, list[Message]]:
    """Log-likelihoods as they are to be written, and what is to be said about it.

    Examples
    --------
    >>> scores = ClassScores.of({"trial": ["a"]}, ["cat", "dog"], [[1.0, -1.0]])
    >>> written_as(scores, "detection-llr")[0].score
    array([[ 2., -2.]])
    """
    if write_as == "loglik":
        return scores, []
    from deciban.multiclass import detection_llrs  # most scores are in no need of it

    words = "written as detection llrs: of each class against the others, by a flat prior"
    return replace(scores, score=detection_llrs(scores.score)), [Message("note", "", words)]


def notes_on_submissions(told: Sequence[Message], write_as: str) -> list[Message]:
    """Say that log-likelihoods were written in the format of evaluations that ask for detection llrs."""
    words = (
        "holds log-likelihoods; the language recognition evaluations of 2017 and 2022 take detection llrs, which "
        '--as detection-llr writes (write_as="detection-llr")'
    )
    as_submission = [one for one in told if one.kind == "wrote" and one.text == f"as {_SUBMISSION}"]
    return [Message("note", one.origin, words) for one in as_submission if write_as == "loglik"]


def in_other_units(
    contents: Contents, probabilities: Any, *, detection_llr: bool, write_as: str, lr: bool, negate: bool
) -> tuple[Contents, list[Message]]:
    """Contents with their scores as logarithms or as detection llrs, and what is to be said about it.

    Parameters
    ----------
    contents : Contents
    probabilities : float or prior, optional
        The prior that scores are probabilities by.
    detection_llr : bool
        Whether class scores are detection llrs.
    write_as : {"loglik", "detection-llr"}
    lr : bool
        Whether class scores are likelihoods; readers take the logarithms of likelihood ratios of two classes.
    negate : bool
        Whether scores of two classes get the other sign.

    Raises
    ------
    FormatError, InputError
        If scores are no probabilities, or there are none that this could be said of.
    """
    told = [Message("note", "", NEGATED)] if negate else []
    if any(one.unit == "lr" for one in contents.systems):
        told.append(Message("note", "", LOGARITHMS_OF_RATIOS))
    contents = negated(contents) if negate else contents
    systems, classes = contents.systems, contents.class_scores
    declared = {"lr": lr, "probabilities": probabilities is not None, "detection_llr": detection_llr}
    names = [name for name, is_given in declared.items() if is_given]
    if len(names) > 1:
        raise InputError(f"{names[0]}, {names[-1]}: scores are one of them, not both. Leave one out.")
    if classes is None and (detection_llr or write_as == "detection-llr"):
        name = "detection_llr" if detection_llr else "write_as"
        raise InputError(f"{name}: {contents.origin.name} holds no scores of many classes. Leave it out.")
    if lr and classes is not None:
        classes = logliks_of_likelihoods(classes)
        told.append(Message("note", "", LIKELIHOODS))
    elif probabilities is not None and classes is not None:
        classes = logs_of_probabilities(classes, probabilities)
        told += of_probabilities([classes], str(probabilities), "segment")
    elif probabilities is not None:
        if not systems:
            raise InputError(f"probabilities: {contents.origin.name} holds no scores. Leave it out.")
        systems = tuple(logs_of_probabilities(one, probabilities) for one in systems)
        told += of_probabilities(systems, repr(_validate.target_prior(probabilities, "probabilities")), "trial")
    elif detection_llr and classes is not None:
        classes = replace(classes, score=logliks_of_detection_llrs(classes.score))
        told.append(Message("note", "", PROJECTED))
    if classes is not None:
        classes, more = written_as(classes, write_as)
        told += more
    return replace(contents, systems=systems, class_scores=classes), told


def refuse_negated_probabilities(probabilities: object) -> None:
    """Refuse to negate scores that are declared probabilities.

    Raises
    ------
    InputError
    """
    if probabilities is not None:
        raise InputError(
            "negate, probabilities: a negated probability is none. Leave negate out (--negate) and, if these are "
            "probabilities of non-targets, exchange the label words (--labels)."
        )


def negated(contents: Contents) -> Contents:
    """Return contents in which the scores of all systems have the opposite sign.

    Raises
    ------
    InputError
        If there are no scores of two classes.
    """
    if not contents.systems:
        raise InputError(f"negate: {contents.origin.name} holds no scores of two classes. Leave it out (--negate).")
    return replace(contents, systems=tuple(one.negated() for one in contents.systems))


@contextmanager
def placed(trials: Trials) -> Iterator[None]:
    """Name the place of the trial that is refused."""
    try:
        yield
    except TrialError as error:
        where = trials.origin.where(error.index)
        raise FormatError(f"{where}: {error.before}here{error.after}") from error
