"""The most misleading trials of a system, by the names that its files have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deciban.errors import InputError
from deciban.evaluation.worst_trials import WorstTrials, worst_trials
from deciban.io.shards.pieces import ShardSource
from deciban.trials import Trials
from deciban.types import AnyArray, CountArray

TWO_CLASSES = ("target", "non-target")


def number_of_worst(asked: object, files: object) -> int:
    """How many trials are asked for; 0 if nothing was said.

    Parameters
    ----------
    asked : int or None
    files : ScoreFiles, JoinedScores or ShardSource
        Where they are to be found.

    Raises
    ------
    InputError
        If that is no number of trials, or the files do not give their names.
    """
    if asked is None or (asked == 0 and not isinstance(asked, bool)):
        return 0
    if isinstance(asked, bool) or not isinstance(asked, int | np.integer) or asked < 0:
        raise InputError(f"worst: got {asked!r}. Say how many trials, a whole number from 0.")
    if isinstance(files, ShardSource):
        where = "a summary holds no names of trials" if files.is_summary else "trials are read in pieces"
        way = "Name the shards themselves" if files.is_summary else "Allow more memory (memory=, --memory)"
        raise InputError(
            f"worst: {where}, and the most misleading trials need the names of all. {way}, or leave it out."
        )
    return int(asked)


def worst_of(
    name: str,
    scores: AnyArray,
    truth: AnyArray,
    weight: CountArray | None,
    trials: Trials,
    *,
    classes: Sequence[str],
    most: int,
) -> WorstTrials:
    """Find the trials of one system with the least evidence for their own class.

    Parameters
    ----------
    name : str
        Of the system.
    scores : (n_trials,) or (n_trials, n_classes) array
        In nats; NaN is a trial without a score.
    truth : (n_trials,) array
        Whether targets, or which class.
    weight : (n_trials,) array, optional
        Trials of weight 0 do not count.
    trials : Trials
    classes : sequence of str
        Empty for targets and non-targets.
    most : int
    """
    counting = np.ones(len(truth), bool) if weight is None else weight > 0
    if scores.ndim == 1:
        counting &= ~np.isnan(scores)
        loglik = np.column_stack([np.where(counting, scores, 0.0), np.zeros(len(scores))])
        truth = np.where(truth, 0, 1)
    else:
        loglik = scores
    found = worst_trials(
        loglik, truth, most=most, classes=classes or TWO_CLASSES, names_of=trials.names_of, counting=counting
    )
    return WorstTrials(name, trials.sides, found)
