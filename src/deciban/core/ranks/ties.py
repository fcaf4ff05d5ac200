"""Scores that targets and non-targets share."""

from __future__ import annotations

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
