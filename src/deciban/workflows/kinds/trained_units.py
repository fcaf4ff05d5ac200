"""The units of the scores that a model was trained on: its record keeps them, and other scores are refused."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from deciban.errors import InputError
from deciban.io.columns.headers import UNIT_WORDS
from deciban.models.score_model import ScoreModel
from deciban.trials import Scores

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
    _require_same_sign(model, negate=negate)
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


def _require_same_sign(model: ScoreModel, *, negate: bool) -> None:
    """Refuse to apply a model to scores that are not negated, if those of training were, or the reverse.

    Raises
    ------
    InputError
    """
    trained = model.training_ is not None and model.training_.results.get(NEGATE) is True
    if trained and not negate:
        raise InputError(
            "negate: the model was trained on negated scores, of which lower ones favour target. Add --negate "
            "(negate=True) for such scores, or train on scores like these."
        )
    if negate and not trained:
        raise InputError(
            "negate: the model was trained on scores that were not negated. Leave it out, or train with it (--negate)."
        )
