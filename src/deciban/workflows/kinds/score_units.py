"""Units of scores: declared by the user, recorded in training, or suspected from the scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any

import numpy as np

from deciban._validate.classes import ROUNDING, Prior, like_probabilities, logarithms_of_ratios, prior_of
from deciban.errors import WARNING, InputError, Message
from deciban.io import units as unit_conversion
from deciban.io.columns.headers import UNIT_WORDS
from deciban.models.score_model import ScoreModel
from deciban.trials import ClassScores, Scores
from deciban.trials.classes import ScoreStatistics, ratio_messages
from deciban.types import AnyArray
from deciban.workflows.options import Reading

PROBABILITIES = "probabilities"
"""Key in the record of training for the prior in scores that were probabilities."""


NEGATE = "negate"
"""Key in the record of training for negated scores; missing if they were not negated."""


UNIT = "unit"
"""Key in the record of training for the unit of the scores."""


UNDECLARED = "undeclared"
"""Unit of scores without a declared unit: natural logarithms, or any scores."""


_WORDS = {
    "lr": "likelihood ratios (--lr, lr=True, or a column called lr)",
    "log10": "common logarithms (--log10, log10=True, or a format or column that declares them)",
    "detection-llr": "detection llrs (--detection-llr, detection_llr=True)",
    "probabilities": "probabilities (--probabilities PRIOR)",
    "log-posteriors": "log posteriors (--posterior-prior PRIOR)",
    UNDECLARED: "scores without a declared type",
}


_OPTIONS = {"lr": "--lr (lr=True)", "log10": "--log10 (log10=True)", "detection-llr": "--detection-llr"}


def unit_in_words(reading: Reading, units: Sequence[str]) -> str:
    """Return the unit of scores for the record of training.

    Parameters
    ----------
    reading : Reading
        Options with the declared unit.
    units : sequence of unit
        Units of two-class systems; empty for multiclass scores.

    Returns
    -------
    str
        One word; if systems differ, one for each system, separated by commas.

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
    """Return the units of two-class scores in files; empty for multiclass scores (declared by the user)."""
    return [one.unit for one in systems if isinstance(one, Scores)]


def read_as(scores: Any) -> str:
    """Return the unit of scores for the message about reading, unless the message contains it."""
    words = UNIT_WORDS[scores.unit] if isinstance(scores, Scores) else ""
    return "" if words in scores.trials.origin.reading else words


def record(reading: Reading, units: Sequence[str], prior: str | None) -> dict[str, Any]:
    """Return the units of training scores and the prior of probabilities for the record of training."""
    found: dict[str, Any] = {UNIT: unit_in_words(reading, units)}
    if reading.negate:
        found[NEGATE] = True
    return found if prior is None else found | {PROBABILITIES: prior}


def require_same_unit(model: ScoreModel, reading: Reading, units: Sequence[str]) -> None:
    """Refuse to apply a model to scores with another unit than in training.

    Parameters
    ----------
    model : ScoreModel
        Models of earlier versions have no unit in their record, and accept all scores.
    reading : Reading
    units : sequence of unit
        Units of the systems, as in `unit_in_words`.

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
        way = f"Add {_OPTIONS[trained]} if these scores have the same type"
    elif given in _OPTIONS and trained == UNDECLARED:
        way = f"Leave {_OPTIONS[given]} out if these scores have the type of the training scores"
    else:
        way = f"Declare the type of the training scores ({_OPTIONS.get(trained, trained)})"
    raise InputError(f"The model was trained on {own}, but these are {others}. {way}, or train another model.")


def require_same(model: ScoreModel, given: str | None, *, negate: bool = False) -> None:
    """Refuse to apply a model to probabilities or negated scores if the training scores were not, or the reverse.

    Parameters
    ----------
    model : ScoreModel
    given : str or None
        Prior of these scores, in the form of the record of training.
    negate : bool
        Whether these scores are negated.

    Raises
    ------
    InputError
    """
    negated = model.training_ is not None and model.training_.results.get(NEGATE) is True
    if negated and not negate:
        raise InputError(
            "negate: the model was trained on negated scores, for which lower scores favour targets. Add --negate "
            "(negate=True), or train another model."
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
            "probabilities: given, but the model was trained on scores that were not declared as probabilities. Leave "
            "it out, or train with it."
        )
    now = "these scores are not declared as such" if given is None else f"these have the prior {given}"
    raise InputError(
        f"probabilities: the model was trained on probabilities with the prior {trained}, and {now}. Apply it to "
        f"scores like the training scores: name their prior (--probabilities {trained}), or train another model."
    )


POSTERIOR_PRIOR = "posterior_prior"
"""Key in the record of training for the prior that was removed from log posteriors."""

_LOG_10 = math.log(10.0)


def in_nats(score: AnyArray, classes: Sequence[str], reading: Reading) -> AnyArray:
    """Convert scores to natural log-likelihoods; return natural log-likelihoods unchanged.

    Raises
    ------
    InputError
        If the prior in posteriors is 0 for a class, detection llrs are infinite, or likelihoods are negative.
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
        score -= np.log(unit_conversion.prior_above_zero(reading.posterior_prior, classes, "posterior_prior"))
    return unit_conversion.logliks_of_detection_llrs(score) if reading.detection_llr else score


def unit_messages(systems: Sequence[ClassScores], reading: Reading) -> list[Message]:
    """Return messages about conversions of scores, and a warning about scores from submissions of detection llrs."""
    found = list[Message]()
    if reading.lr:
        found.append(Message("note", "", unit_conversion.LIKELIHOODS))
    if reading.log10:
        found.append(Message("note", "", "scores are common logarithms, and were multiplied by ln 10"))
    if reading.posterior_prior is not None:
        prior = prior_of(reading.posterior_prior, systems[0].classes, "posterior_prior")
        shown = ", ".join(f"{p:.4g}" for p in prior[:20])
        words = f"scores are log posteriors: the logarithms of the prior {shown} were subtracted"
        found.append(Message("note", "", words))
    if reading.detection_llr:
        found.append(Message("note", "", unit_conversion.PROJECTED))
        found += [note for one in systems for note in _of_many_recognizers(one)]
    elif reading.probabilities is None:
        submitted = [one.trials.origin.name for one in systems if unit_conversion.is_submission(one.trials.origin)]
        found += [Message(WARNING, ", ".join(submitted), unit_conversion.DETECTION_LLRS)] if submitted else []
    return found


def _of_many_recognizers(scores: ClassScores) -> list[Message]:
    """Return a message if detection llrs contradict each other, so that no log-likelihoods have exactly these llrs."""
    sums = np.exp(scores.score).mean(axis=1)  # of posterior / flat prior
    if not len(sums) or np.abs(sums - 1.0).max() < ROUNDING:
        return []
    words = (
        f"detectors of different classes contradict each other: their posteriors sum to {sums.min():.3g} to "
        f"{sums.max():.3g}, not to 1. An evaluation of each detector separately gives another value of C_avg"
    )
    return [Message(WARNING, scores.trials.origin.name, words)]


def prior_of_classes(reading: Reading) -> Prior:
    """Return the prior in scores that are probabilities; refuse a single number, which would be the prior of a target.

    Raises
    ------
    InputError
    """
    given: Any = reading.probabilities
    if isinstance(given, Real):
        raise InputError(
            f"probabilities: got {given!r}, but multiclass scores need the prior of each class: 'flat', "
            "[0.2, 0.3, 0.5] in the order of the classes, or a mapping by name."
        )
    prior: Prior = given
    return prior


def prior_text(reading: Reading, classes: Sequence[str], order: Sequence[str] = ()) -> str | None:
    """Return the prior in posteriors for the record of training, in the syntax of the command line.

    Parameters
    ----------
    reading : Reading
    classes : sequence of str
        Classes of the posteriors.
    order : sequence of str, optional
        Order of the classes in the text. Other names are names of the classes in their order.

    Returns
    -------
    str or None
        None for a flat prior, or without a prior.

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
    """Return a prior by class name, None if it is flat; see `prior_text`."""
    prior = prior_of(given, classes)
    if np.ptp(prior) == 0.0:
        return None
    names = order or classes
    shown = dict(zip(classes if set(names) == set(classes) else names, prior.tolist(), strict=False))
    return ",".join(f"{name}={shown[name]!r}" for name in names if name in shown)


def require_same_posteriors(model: ScoreModel, reading: Reading, classes: Sequence[str]) -> None:
    """Refuse to apply a model to scores with another prior in them than in training.

    Parameters
    ----------
    model : ScoreModel
    reading : Reading
        Options with the prior that is removed from the scores.
    classes : sequence of str
        Classes of the scores, possibly in another order than in training.

    Raises
    ------
    InputError
    """
    trained = None if model.training_ is None else model.training_.results.get(POSTERIOR_PRIOR)
    names: Sequence[str] = getattr(model, "classes_", None) or classes
    given = prior_text(reading, classes, names)
    if trained is None and given is not None:
        raise InputError(
            "posterior_prior: given, but the model was trained on scores without it. Leave it out, or train with it."
        )
    if trained is not None and given != (trained if "=" in str(trained) else _named(str(trained), names)):
        named = "not given" if reading.posterior_prior is None else given or "flat"
        raise InputError(
            f"posterior_prior: {named}, but the model was trained on log posteriors. Apply it to scores with the same "
            f"prior in them: name it (--posterior-prior {trained}), or train another model."
        )


def _named(recorded: str, classes: Sequence[str]) -> str:
    """Return a recorded prior of an earlier version, one number for each class in the order of training, with names."""
    return ",".join(f"{name}={p}" for name, p in zip(classes, recorded.split(","), strict=False))


_APPLIED = (
    "look like probabilities, and the model is applied to them directly: this is right if it was trained like this. "
    "Use --probabilities PRIOR in training and here to convert them to logarithms"
)

_NO_RATIOS = (
    "all likelihood ratios are in [0, 1], like probabilities. If they are probabilities, use --probabilities PRIOR "
    "instead of --lr"
)

_NO_DECISIONS = "decisions by thresholds on log-likelihood ratios are meaningless for them"

_DECIDED = {
    "probabilities": (
        f"look like probabilities, so {_NO_DECISIONS}. If they are probabilities, add --probabilities PRIOR; otherwise "
        "calibrate them first (deciban calibrate)"
    ),
    "cosines": (
        f"all are in [-1, 1], like cosine scores. If they are not log-likelihood ratios, {_NO_DECISIONS}: calibrate "
        "them first (deciban calibrate)"
    ),
    "ratios": f"{{ratios}} Otherwise {_NO_DECISIONS}: calibrate them first (deciban calibrate)",
}


def application_messages(names: Sequence[str], looks: Sequence[ScoreStatistics]) -> list[Message]:
    """Return the messages about scores to which a model is applied, by the names of their files."""
    pairs = list(zip(names, looks, strict=False))
    files = dict.fromkeys(name for name, one in pairs if one.like == "probabilities")
    found = [Message(WARNING, ", ".join(files), _APPLIED)] if files else []
    return found + list(dict.fromkeys(ratio_messages(pairs)))


def messages_on_declared_ratios(systems: Iterable[Scores], *, negated: bool) -> list[Message]:
    """Return warnings about declared likelihood ratios that look like probabilities.

    Parameters
    ----------
    systems : iterable of Scores
    negated : bool
        Whether the signs of the logarithms were changed after reading.
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


def decision_messages(name: str, looks: ScoreStatistics) -> list[Message]:
    """Return the messages about scores that are decided without a model."""
    if not looks.like:
        return []
    return [Message(WARNING, name, _DECIDED[looks.like].format(ratios=looks.note_on_ratios))]
