"""Scores that are probabilities: what is told of them, and that a model remembers it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from deciban.errors import InputError
from deciban.messages import Message, counted
from deciban.models.score_model import ScoreModel

PROBABILITIES = "probabilities"
"""Where the record of training says by which prior scores were probabilities."""


def told(systems: Sequence[Any], prior: str, noun: str) -> list[Message]:
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
    what = "log-likelihoods" if systems[0].score.ndim > 1 else "log-likelihood ratios"
    found = [Message("note", "", f"scores are probabilities by the prior {prior}, and became {what} in nats")]
    for one in systems:
        infinite = np.isinf(one.score)
        n = int(np.count_nonzero(infinite.any(axis=1) if infinite.ndim > 1 else infinite))
        if n:
            words = f"{counted(n, noun)} with a probability of exactly 0 or 1, which is an infinite logarithm"
            found.append(Message("note", one.trials.origin.name, words))
    return found


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
