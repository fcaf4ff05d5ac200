"""Scores that targets and non-targets share."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from deciban.types import BoolArray, CountArray, ScoreArray


def n_tied(score: ScoreArray, is_target: BoolArray, weight: CountArray | None = None) -> int | float:
    """Number (or weight) of trials whose score is equal to that of a trial of the other class.

    Parameters
    ----------
    score : (n_trials,) array
    is_target : (n_trials,) bool array
    weight : (n_trials,) array, optional
        Trials of weight 0 are tied with nothing.

    Examples
    --------
    >>> n_tied(np.array([0.0, 1.0, 1.0, 2.0, 1.0]), np.array([True, True, False, False, False]))
    3
    """
    if weight is not None:
        counting = weight > 0
        score, is_target, weight = score[counting], is_target[counting], weight[counting]
    shared = np.intersect1d(score[is_target], score[~is_target])
    tied = np.isin(score, shared)
    return int(np.count_nonzero(tied)) if weight is None else weight[tied].sum().item()


def ties_in_words(ties: Mapping[str, int | float]) -> str:
    """Say how many scores of each system are tied across classes.

    >>> ties_in_words({"a": 0, "b": 2}), ties_in_words({"a": 0})
    ('tied across classes: 0 (a), 2 (b)', 'no score tied across classes')
    """
    if not any(ties.values()):
        return "no score tied across classes"
    return "tied across classes: " + ", ".join(f"{n:,} ({name})" for name, n in ties.items())
