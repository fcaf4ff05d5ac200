"""Whether trials are those that a model was trained on."""

from __future__ import annotations

import numpy as np

from deciban.analysis.data import SystemsData
from deciban.messages import Message
from deciban.models.fingerprint import fingerprint
from deciban.models.score_model import ScoreModel
from deciban.types import AnyArray, CountArray


def is_of_training(model: ScoreModel, data: SystemsData, truth: AnyArray, weight: CountArray | None) -> bool | None:
    """Whether a model was trained on these trials, by their fingerprint; None if it does not know.

    With or without the weights: a column of them may be named that training did not have.
    """
    training = model.training_
    if training is None:
        return None
    seen = model.seen(data.scores, data.tables)
    weights = [None] if weight is None else [weight.astype(np.float64), None]
    return any(fingerprint(seen, truth, one) == training.fingerprint for one in weights)


def seen_before(
    model: ScoreModel, data: SystemsData, truth: AnyArray, weight: CountArray | None, *, of_training: bool
) -> list[Message]:
    """Say whether trials are those of training, where that is not what one should think.

    Parameters
    ----------
    model : ScoreModel
    data : SystemsData
        All that training records of trials: scores, and quality measures.
    truth : (n_trials,) array
    weight : (n_trials,) array, optional
    of_training : bool
        Whether these should be the trials of training.
    """
    training, same = model.training_, is_of_training(model, data, truth, weight)
    if training is None or same is None or same == of_training:
        return []
    column = training.results.get("weights_from")
    if column is not None and weight is None:
        words = (
            f"the model was trained with the weights of a column {column!r}: name it (--weights) to compare the trials"
        )
    elif same:
        words = "the model was trained on these very trials, which flatters it"
    else:
        words = "these are not the trials that the model was trained on (their fingerprint is another one)"
    return [Message("note", "", words)]
