"""Units of scores: those that a user declares, those that a model was trained on, and what scores look like."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from deciban._validate.classes import Prior, prior_of
from deciban._validate.probabilities import ROUNDING, like_probabilities, logarithms_of_ratios
from deciban.errors import InputError
from deciban.io.columns.headers import UNIT_WORDS
from deciban.io.units import (
    DETECTION_LLRS,
    LIKELIHOODS,
    PROJECTED,
    is_submission,
    logliks_of_detection_llrs,
    prior_above_zero,
)
from deciban.messages import WARNING, Message
from deciban.models.score_model import ScoreModel
from deciban.trials import ClassScores, Scores
from deciban.trials.classes import Looks, ratio_messages
from deciban.types import AnyArray

if TYPE_CHECKING:
    from deciban.workflows.options import Reading

PROBABILITIES = "probabilities"
"""Where the record of training says by which prior scores were probabilities."""


NEGATE = "negate"
"""Where the record of training has that scores were negated; absent if they were not."""


UNIT = "unit"
"""The key of the unit of the training scores in the record of training."""


UNDECLARED = "undeclared"
"""The unit of scores of which the user and the files declared none: natural logarithms, or any scores."""


_WORDS = {
    "lr": "likelihood ratios (--lr, lr=True, or a column called lr)",
    "log10": "common logarithms (--log10, log10=True, or a format or column that declares them)",
    "detection-llr": "detection llrs (--detection-llr, detection_llr=True)",
    "probabilities": "probabilities (--probabilities PRIOR)",
    "log-posteriors": "log posteriors (--posterior-prior PRIOR)",
    UNDECLARED: "scores without a declared unit",
}


_OPTIONS = {"lr": "--lr (lr=True)", "log10": "--log10 (log10=True)", "detection-llr": "--detection-llr"}


def unit_in_words(reading: Reading, units: Sequence[str]) -> str:
    """Return the unit of scores as the record of training has it.

    Parameters
    ----------
    reading : Reading
        What the user declared.
    units : sequence of unit
        Of each system of two classes; empty for many classes.

    Returns
    -------
    str
        One word, or one for each system, separated by commas, if these differ.

    Examples
    --------
    >>> from deciban.workflows import Reading
    >>> unit_in_words(Reading(), ["lr", "nats"]), unit_in_words(Reading(log10=True), ())
    ('lr,undeclared', 'log10')
    """
    if reading.probabilities is not None:
        return "probabilities"
    if reading.posterior_prior is not None:
        return "log-posteriors"
    if reading.detection_llr:
        return "detection-llr"
    found = [UNDECLARED if one == "nats" else one for one in units or (reading.unit or "nats",)]
    return found[0] if len(set(found)) == 1 else ",".join(found)


def units_of(systems: Iterable[Any]) -> list[str]:
    """Return the units that scores of two-class systems had in files; none of many classes: the user declares them."""
    return [one.unit for one in systems if isinstance(one, Scores)]


def read_as(scores: Any) -> str:
    """Return the end of the message on what was read: the unit of the scores, unless the rest of it has it."""
    words = UNIT_WORDS[scores.unit] if isinstance(scores, Scores) else ""
    return "" if words in scores.trials.origin.reading else words


def record(reading: Reading, units: Sequence[str], prior: str | None) -> dict[str, Any]:
    """Return the units of training scores as the record of training has them; with the prior of probabilities."""
    found: dict[str, Any] = {UNIT: unit_in_words(reading, units)}
    if reading.negate:
        found[NEGATE] = True
    return found if prior is None else found | {PROBABILITIES: prior}


def require_same_unit(model: ScoreModel, reading: Reading, units: Sequence[str]) -> None:
    """Refuse to apply a model to scores in another unit than those of training.

    Parameters
    ----------
    model : ScoreModel
        Models of earlier versions have no unit in their record; they take all scores.
    reading : Reading
    units : sequence of unit
        Of each system, as of `unit_in_words`.

    Raises
    ------
    InputError
    """
    trained = None if model.training_ is None else model.training_.results.get(UNIT)
    given = unit_in_words(reading, units)
    if not isinstance(trained, str) or trained == given:
        return
    own, others = (" and ".join(_WORDS.get(one, one) for one in names.split(",")) for names in (trained, given))
    if trained in _OPTIONS and given == UNDECLARED:
        way = f"Add {_OPTIONS[trained]} if these scores are such, too"
    elif given in _OPTIONS and trained == UNDECLARED:
        way = f"Leave {_OPTIONS[given]} out if these scores are like those of training"
    else:
        way = f"Declare the unit of training ({_OPTIONS.get(trained, trained)})"
    raise InputError(f"The model was trained on {own}, but these are {others}. {way}, or train on scores like these.")


def require_same(model: ScoreModel, given: str | None, *, negate: bool = False) -> None:
    """Refuse to apply a model to probabilities or negated scores, if those of training were none, or the reverse.

    Parameters
    ----------
    model : ScoreModel
    given : str or None
        The prior of these scores as `require_same` finds it in the record of training.
    negate : bool
        Whether these scores are negated.

    Raises
    ------
    InputError
    """
    negated = model.training_ is not None and model.training_.results.get(NEGATE) is True
    if negated and not negate:
        raise InputError(
            "negate: the model was trained on negated scores, of which lower ones favour target. Add --negate "
            "(negate=True) for such scores, or train on scores like these."
        )
    if negate and not negated:
        raise InputError(
            "negate: the model was trained on scores that were not negated. Leave it out, or train with it (--negate)."
        )
    trained = None if model.training_ is None else model.training_.results.get(PROBABILITIES)
    if trained == given:
        return
    if trained is None:
        raise InputError(
            "probabilities: given, but the model was trained on scores that are not said to be probabilities. Leave it "
            "out, or train with it."
        )
    now = "these scores are not said to be such" if given is None else f"these are by the prior {given}"
    raise InputError(
        f"probabilities: the model was trained on probabilities by the prior {trained}, and {now}. It is for scores "
        f"like those of training: name their prior (--probabilities {trained}), or train on scores like these."
    )


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


_APPLIED = (
    "look like probabilities, and the model takes them as they are: right if it was trained on such. "
    "--probabilities PRIOR in training and here makes logarithms of them"
)

_NO_RATIOS = (
    "all likelihood ratios lie in [0, 1], as probabilities do: if they are probabilities, use --probabilities PRIOR in "
    "place of --lr"
)

_NO_DECISIONS = "decisions by thresholds on log-likelihood ratios mean nothing for them"

_DECIDED = {
    "probabilities": (
        f"look like probabilities, so {_NO_DECISIONS}. If they are probabilities, add --probabilities PRIOR; otherwise "
        "calibrate them first (deciban calibrate)"
    ),
    "cosines": (
        f"all lie in [-1, 1], as cosine scores do. If they are not log-likelihood ratios, {_NO_DECISIONS}: calibrate "
        "them first (deciban calibrate)"
    ),
    "ratios": f"{{ratios}} Otherwise {_NO_DECISIONS}: calibrate them first (deciban calibrate)",
}


def application_messages(names: Sequence[str], looks: Sequence[Looks]) -> list[Message]:
    """Return what to tell about scores to which a model is applied, by the names of their files."""
    pairs = list(zip(names, looks, strict=False))
    files = dict.fromkeys(name for name, one in pairs if one.like == "probabilities")
    found = [Message(WARNING, ", ".join(files), _APPLIED)] if files else []
    return found + list(dict.fromkeys(ratio_messages(pairs)))


def messages_on_declared_ratios(systems: Iterable[Scores], *, negated: bool) -> list[Message]:
    """Return what to tell about scores that were declared likelihood ratios, but look like probabilities.

    Parameters
    ----------
    systems : iterable of Scores
    negated : bool
        Whether the signs of these logarithms were changed after reading.
    """
    found = []
    for one in systems:
        if one.unit != "lr" or not len(one.score):
            continue
        logarithms = -one.score if negated else one.score
        low, high = float(np.exp(min(logarithms.min(), 1.0))), float(np.exp(min(logarithms.max(), 1.0)))
        if like_probabilities(low, high, len(one.score)):
            found.append(Message(WARNING, one.name, _NO_RATIOS))
    return found


def decision_messages(name: str, looks: Looks) -> list[Message]:
    """Return what to tell about scores that are decided as they are."""
    if not looks.like:
        return []
    return [Message(WARNING, name, _DECIDED[looks.like].format(ratios=looks.note_on_ratios))]
