"""The most misleading trials of a system, by the names that its files have."""

from __future__ import annotations

import numpy as np

from deciban.errors import InputError
from deciban.evaluation.worst_trials import WorstTrials, worst_trials
from deciban.io.shards.pieces import ShardSource

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
    if isinstance(files, ShardSource) and files.batch is None:
        where = "a summary holds no names of trials" if files.is_summary else "trials are read in pieces"
        way = "Name the shards themselves" if files.is_summary else "Allow more memory (memory=, --memory)"
        raise InputError(
            f"worst: {where}, and the most misleading trials need the names of all. {way}, or leave it out."
        )
    return int(asked)


def worst_of(source: ShardSource, system: int, most: int) -> WorstTrials:
    """Find the trials of one system with the least evidence for their own class; those of weight 0 do not count.

    Parameters
    ----------
    source : ShardSource
        In memory.
    system : int
        Its position.
    most : int
    """
    batch = source.batch
    assert batch is not None and batch.trials is not None and batch.truth is not None  # noqa: S101, PT018  # else it was refused
    scores, truth, trials = batch.scores[system], batch.truth, batch.trials
    counting = np.ones(len(truth), bool) if batch.weight is None else batch.weight > 0
    if scores.ndim == 1:
        counting &= ~np.isnan(scores)
        loglik = np.column_stack([np.where(counting, scores, 0.0), np.zeros(len(scores))])
        truth = np.where(truth, 0, 1)
    else:
        loglik = scores
    found = worst_trials(
        loglik, truth, most=most, classes=source.classes or TWO_CLASSES, names_of=trials.names_of, counting=counting
    )
    return WorstTrials(source.systems[system], trials.sides, found)
