"""How sure scores for many classes are of the class that they recognize: posterior log odds, class by class."""

from __future__ import annotations

import numpy as np

from deciban.core.classes import loglik as kernels
from deciban.core.classes.counts import chosen, log_weights
from deciban.core.ranks.counts import SortedClass
from deciban.evaluation.reliability import PosteriorOdds
from deciban.multiclass.tables import ScoredClasses
from deciban.types import BoolArray, FloatArray, IntArray


def posterior_odds(trials: ScoredClasses, prior: FloatArray) -> tuple[PosteriorOdds, ...]:
    """Of the trials of each class, posterior log odds of the recognized class against all others together.

    Parameters
    ----------
    trials : ScoredClasses
        A part may lack classes.
    prior : (n_classes,) array
        Positive.
    """
    sure, right = trial_odds(trials, prior)
    found = []
    for k in range(trials.n_classes):
        own = trials.rows(k)
        parts = (own[right[own]], own[~right[own]])
        found.append(PosteriorOdds(*(SortedClass.of(sure[rows], trials.weights_of(rows)) for rows in parts)))
    return tuple(found)


def trial_odds(trials: ScoredClasses, prior: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Of each trial the posterior log odds of the recognized class, and whether it is the true one."""
    decision, sure = chosen(trials.loglik, prior), np.empty(len(trials.label))
    for rows in kernels.row_blocks(*trials.loglik.shape):
        sure[rows] = _log_odds(kernels.relative(trials.loglik, rows), log_weights(prior), decision[rows])
    return sure, decision == trials.label


def _log_odds(block: FloatArray, weights: FloatArray, decision: IntArray) -> FloatArray:
    """From a relative block: infinite where all others are excluded."""
    weighted = block + weights[:, None]
    columns = np.arange(block.shape[1])
    with np.errstate(under="ignore", divide="ignore"):
        others = np.exp(weighted - weighted[decision, columns])
        others[decision, columns] = 0.0
        others.sort(axis=0)  # which class is which must not show: equal posteriors stay equal
        return np.asarray(-np.log(others.sum(axis=0)))
