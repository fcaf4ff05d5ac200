"""Scores that are probabilities, or lower for targets: a model remembers it."""

from __future__ import annotations

from deciban.errors import InputError
from deciban.models.score_model import ScoreModel

PROBABILITIES = "probabilities"
"""Where the record of training says by which prior scores were probabilities."""


NEGATE = "negate"
"""Where the record of training has that scores were negated; absent if they were not."""

NEGATED = "signs of all scores changed: lower scores favour target (--negate)"
"""Message about scores that were negated."""


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
