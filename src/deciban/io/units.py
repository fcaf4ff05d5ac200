"""Tables of scores in other units: probabilities and detection llrs as log-likelihoods, and the other way round."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from deciban._validate import probabilities as _validate
from deciban._validate.classes import Prior, prior_of
from deciban.core import posteriors
from deciban.errors import FormatError, InputError, TrialError
from deciban.multiclass import detection_llrs
from deciban.trials import ClassScores, Scores, Trials
from deciban.trials.origins import Origin
from deciban.types import FloatArray

DETECTION_LLRS = (
    "taken as log-likelihoods, but submissions to the language recognition evaluations of 2017 and 2022 look like this "
    "and hold detection llrs: if this is one, all figures are wrong without --detection-llr (detection_llr=True)"
)
"""What is said of tables in the format of evaluations that ask for detection llrs."""


def is_submission(origin: Origin) -> bool:
    """Whether a table has the format of evaluations that ask for detection llrs."""
    return re.search(r"\bnist-lre\b", origin.reading) is not None


def llrs_of_probabilities(scores: Scores, prior: object) -> Scores:
    """Log-likelihood ratios of probabilities of being a target.

    Parameters
    ----------
    scores : Scores
        Probabilities.
    prior : float
        That of a target, inside (0, 1).

    Raises
    ------
    FormatError
        If one is no probability; it names the place.
    InputError
        If the prior is none, or the scores are common logarithms.

    Examples
    --------
    >>> llrs_of_probabilities(Scores.of({"trial": ["a", "b"]}, [0.2, 1.0]), 0.2).score
    array([ 0., inf])
    """
    p_target = _validate.target_prior(prior, "probabilities")
    if scores.log10:
        raise InputError(
            f"probabilities: {scores.trials.origin.name} holds common logarithms of likelihood ratios. Leave it out."
        )
    if not len(scores):
        return scores
    with _placed(scores.trials):
        return replace(scores, score=posteriors.llr(_validate.of_target(scores.score, "probabilities"), p_target))


def logliks_of_probabilities(scores: ClassScores, prior: Prior) -> ClassScores:
    """Log-likelihoods of probabilities of the classes.

    Parameters
    ----------
    scores : ClassScores
        Probabilities; those of a segment sum to 1 but for rounding (1e-3).
    prior : prior
        Of the classes, without zeros.

    Raises
    ------
    FormatError
        If some are no probabilities; it names the place.
    InputError
        If the prior is none of these classes.

    Examples
    --------
    >>> scores = ClassScores.of({"trial": ["a"]}, ["cat", "dog"], [[0.0, 1.0]])
    >>> logliks_of_probabilities(scores, "flat").score.round(3)
    array([[ -inf, 0.693]])
    """
    given = prior_above_zero(prior, scores.classes, "probabilities")
    if not len(scores.trials):
        return scores
    with _placed(scores.trials):
        return replace(scores, score=posteriors.loglik(_validate.of_classes(scores.score, "probabilities"), given))


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


def as_detection_llrs(scores: ClassScores) -> ClassScores:
    """Log-likelihood ratios of each class against the others, by a flat prior of these, of log-likelihoods.

    Examples
    --------
    >>> scores = ClassScores.of({"trial": ["a"]}, ["cat", "dog"], [[1.0, -1.0]])
    >>> as_detection_llrs(scores).score
    array([[ 2., -2.]])
    """
    return replace(scores, score=detection_llrs(scores.score))


@contextmanager
def _placed(trials: Trials) -> Iterator[None]:
    """Name the place of the trial that is refused."""
    try:
        yield
    except TrialError as error:
        where = trials.origin.where(error.index)
        raise FormatError(f"{where}: {error.before}here{error.after}") from error
