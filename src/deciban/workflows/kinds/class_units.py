"""What the numbers of classes are: logarithms of either base, posteriors, detection llrs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from deciban._validate.classes import Prior, prior_of
from deciban._validate.probabilities import ROUNDING, logarithms_of_ratios
from deciban.errors import InputError
from deciban.io.units import (
    DETECTION_LLRS,
    LIKELIHOODS,
    PROJECTED,
    is_submission,
    logliks_of_detection_llrs,
    prior_above_zero,
)
from deciban.messages import WARNING, Message
from deciban.trials import ClassScores
from deciban.types import AnyArray

if TYPE_CHECKING:
    from deciban.models.score_model import ScoreModel
    from deciban.workflows.options import Reading

POSTERIOR_PRIOR = "posterior_prior"
"""Where the record of training says which prior was taken out of log posteriors."""

_LOG_10 = math.log(10.0)


def in_nats(score: AnyArray, classes: Sequence[str], reading: Reading) -> AnyArray:
    """Turn scores into natural log-likelihoods; those that are such are left as they are.

    Raises
    ------
    InputError
        If the prior that is to be taken out of posteriors is 0 for a class, detection llrs are infinite, or likelihoods
        are negative.
    """
    if reading.lr:
        return np.asarray(logarithms_of_ratios(score))
    if not reading.log10 and reading.posterior_prior is None and not reading.detection_llr:
        return score
    score = score.astype(np.float64)
    if reading.log10:
        with np.errstate(over="ignore"):
            score *= _LOG_10
    if reading.posterior_prior is not None:
        score -= np.log(prior_above_zero(reading.posterior_prior, classes, "posterior_prior"))
    return logliks_of_detection_llrs(score) if reading.detection_llr else score


def unit_messages(systems: Sequence[ClassScores], reading: Reading) -> list[Message]:
    """What was done to scores, and for what those of an evaluation that asks for detection llrs were taken."""
    found = list[Message]()
    if reading.lr:
        found.append(Message("note", "", LIKELIHOODS))
    if reading.log10:
        found.append(Message("note", "", "scores are common logarithms, and were multiplied by ln 10"))
    if reading.posterior_prior is not None:
        prior = prior_of(reading.posterior_prior, systems[0].classes, "posterior_prior")
        shown = ", ".join(f"{p:.4g}" for p in prior[:20])
        words = f"scores are log posteriors: the logarithms of the prior {shown} were subtracted"
        found.append(Message("note", "", words))
    if reading.detection_llr:
        found.append(Message("note", "", PROJECTED))
        found += [note for one in systems for note in _of_many_recognizers(one)]
    elif reading.probabilities is None:
        submitted = [one.trials.origin.name for one in systems if is_submission(one.trials.origin)]
        found += [Message(WARNING, ", ".join(submitted), DETECTION_LLRS)] if submitted else []
    return found


def _of_many_recognizers(scores: ClassScores) -> list[Message]:
    """Say that projected detection llrs contradict each other, so that no log-likelihoods have them."""
    sums = np.exp(scores.score).mean(axis=1)  # of ratios of posterior and flat prior
    if not len(sums) or np.abs(sums - 1.0).max() < ROUNDING:
        return []
    words = (
        f"detectors of different classes contradict each other: their posteriors sum to {sums.min():.3g} up to "
        f"{sums.max():.3g}, not to 1. An evaluation that judges each detector by itself gives C_avg another value"
    )
    return [Message(WARNING, scores.trials.origin.name, words)]


def prior_of_classes(reading: Reading) -> Prior:
    """The prior by which scores are probabilities; a number, which is that of a target, says nothing of classes.

    Raises
    ------
    InputError
    """
    given: Any = reading.probabilities
    if isinstance(given, Real):
        raise InputError(
            f"probabilities: got {given!r}, but of many classes the prior has a probability for each of them: 'flat', "
            "[0.2, 0.3, 0.5] in the order of the classes, or by their names."
        )
    prior: Prior = given
    return prior


def prior_text(reading: Reading, classes: Sequence[str], order: Sequence[str] = ()) -> str | None:
    """The prior in posteriors as it stands in the record of training, and as the command line takes it.

    Parameters
    ----------
    reading : Reading
    classes : sequence of str
        Whose probabilities these are.
    order : sequence of str, optional
        The order in which the text has them. If these are other names, they are those of the classes in their order.

    Returns
    -------
    str or None
        None for a flat prior, or if there is none.

    Examples
    --------
    >>> from deciban.workflows import Reading
    >>> prior_text(Reading(posterior_prior=[0.75, 0.25]), ["eng", "fra"])
    'eng=0.75,fra=0.25'
    """
    if reading.posterior_prior is None:
        return None
    return named_prior(reading.posterior_prior, classes, order)


def named_prior(given: Prior, classes: Sequence[str], order: Sequence[str] = ()) -> str | None:
    """A prior by names, None if it is flat; see `prior_text`."""
    prior = prior_of(given, classes)
    if np.ptp(prior) == 0.0:
        return None
    names = order or classes
    shown = dict(zip(classes if set(names) == set(classes) else names, prior.tolist(), strict=False))
    return ",".join(f"{name}={shown[name]!r}" for name in names if name in shown)


def require_same_posteriors(model: ScoreModel, reading: Reading, classes: Sequence[str]) -> None:
    """Refuse to apply a model to scores with another prior in them than those that it was trained on.

    Parameters
    ----------
    model : ScoreModel
    reading : Reading
        Says what is taken out of the scores.
    classes : sequence of str
        Whose probabilities these are; their order need not be that of training.

    Raises
    ------
    InputError
    """
    trained = None if model.training_ is None else model.training_.results.get(POSTERIOR_PRIOR)
    names: Sequence[str] = getattr(model, "classes_", None) or classes
    given = prior_text(reading, classes, names)
    if trained is None and given is not None:
        raise InputError(
            "posterior_prior: given, but the model was trained on scores from which no prior was taken out. Leave it "
            "out, or train with it."
        )
    if trained is not None and given != (trained if "=" in str(trained) else _named(str(trained), names)):
        named = "none is named" if reading.posterior_prior is None else given or "flat"
        raise InputError(
            f"posterior_prior: {named}, but the model was trained on log posteriors. It is for scores with the same "
            f"prior in them: name it (--posterior-prior {trained}), or train on scores like these."
        )


def _named(recorded: str, classes: Sequence[str]) -> str:
    """What records of earlier versions hold, a number for each class in the order of training, with names."""
    return ",".join(f"{name}={p}" for name, p in zip(classes, recorded.split(","), strict=False))
