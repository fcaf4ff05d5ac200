"""Two classes of scores, sorted once: every figure that depends on thresholds or ranks follows from here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from deciban.core.ranks.counts import CountTable, SortedClass, corners
from deciban.core.ranks.hull import Pav, Rocch
from deciban.metrics.counted_scores import CountedScores, checked
from deciban.metrics.scored_trials import ScoredTrials
from deciban.types import FloatArray


@dataclass(frozen=True, slots=True)
class Roc:
    """The steppy ROC, from accept-all ``(p_fa, p_miss) = (1, 0)`` to reject-all ``(0, 1)``.

    Attributes
    ----------
    p_fa, p_miss : (n_corners,) float64 arrays
        Error rates at every corner of the staircase, as fractions.
    threshold : (n_corners,) float64 array
        The score at and above which trials are accepted there; the last, ``inf``, stands for rejecting all, trials
        with infinite scores too.
    """

    p_fa: FloatArray
    p_miss: FloatArray
    threshold: FloatArray


class SortedScores(CountedScores):
    """The scores of targets and non-targets in ascending order, ready for any number of questions.

    Use it where one needs several figures of the same scores: each of the functions in `deciban.metrics` sorts,
    this object has sorted already. It keeps one copy of the scores, 4 or 8 bytes per trial.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger favours target. Infinite scores are legal.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Raises
    ------
    InputError
        If a class is empty, or holds NaN or anything that is not a real number, or if weights do not fit.

    Examples
    --------
    >>> scores = SortedScores([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])
    >>> scores.rocch.eer()
    0.16666666666666666
    """

    tar: SortedClass
    non: SortedClass

    def __init__(
        self,
        tar: ArrayLike,
        non: ArrayLike,
        *,
        tar_weights: ArrayLike | None = None,
        non_weights: ArrayLike | None = None,
    ) -> None:
        self.tar, self.non = (SortedClass.of(*one) for one in checked(tar, non, tar_weights, non_weights))

    @classmethod
    def of_sorted(cls, tar: SortedClass, non: SortedClass) -> SortedScores:
        """From classes that are sorted already."""
        scores = cls.__new__(cls)
        if tar.scores.dtype != non.scores.dtype:
            tar, non = (replace(one, scores=one.scores.astype(np.float64, copy=False)) for one in (tar, non))
        scores.tar, scores.non = tar, non
        return scores

    @cached_property
    def table(self) -> CountTable:
        """Counts of both classes in ascending order of score."""
        return CountTable.of(self.tar, self.non)

    @cached_property
    def pav(self) -> Pav:
        """PAV blocks; see `deciban.metrics.pav`."""
        return Pav.of(self.table)

    @cached_property
    def rocch(self) -> Rocch:
        """Convex hull of the ROC; see `deciban.metrics.rocch`."""
        return Rocch.of(self.pav)

    @property
    def trials(self) -> ScoredTrials:
        """The scores taken as log-likelihood ratios."""
        return ScoredTrials((self.tar.scores, self.tar.weights), (self.non.scores, self.non.weights))

    @property
    def recalibrated(self) -> ScoredTrials:
        """The scores after the best monotone recalibration: what is minimal for every proper scoring rule."""
        tar, n_tar, non, n_non = self.pav.as_trials()
        return ScoredTrials((tar, n_tar), (non, n_non))

    def roc(self) -> Roc:
        """Steppy ROC; see `deciban.metrics.roc`."""
        n_fa, n_miss = corners(self.table.n_tar, self.table.n_non)
        low, _ = self.table.edges(np.arange(len(self.table.n_tar)))
        return Roc(n_fa / n_fa[0], n_miss / n_miss[-1], np.append(low, np.inf))
