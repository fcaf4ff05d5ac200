"""Scores that are probabilities: a model remembers it."""

from __future__ import annotations

from deciban.errors import InputError
from deciban.models.score_model import ScoreModel

PROBABILITIES = "probabilities"
"""Where the record of training says by which prior scores were probabilities."""


def require_same(model: ScoreModel, given: str | None) -> None:
    """Refuse to apply a model to scores that are probabilities, if those of training were none, or the reverse.

    Parameters
    ----------
    model : ScoreModel
    given : str or None
        The prior of these scores as `require_same` finds it in the record of training.

    Raises
    ------
    InputError
    """
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
