"""Two classes of scores that count errors at thresholds: what every figure of hard decisions is made of."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.core.ranks.counts import SortedClass
from deciban.core.ranks.operating import detection_cost, effective_log_odds
from deciban.core.ranks.unsorted import UnsortedClass, counted
from deciban.core.rules.expected import WeightedScores
from deciban.core.rules.sums import ErrorCounts
from deciban.types import FloatArray


class CountedScores:
    """The scores of targets and non-targets in any order, for one question about few thresholds.

    Its subclass `deciban.metrics.SortedScores` answers any number of questions.

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
    >>> CountedScores([1.0, 2.0, 2.0], [0.0, 1.0, -1.0]).act_dcf(p_target=0.5)
    0.6666666666666666
    """

    tar: SortedClass | UnsortedClass
    non: SortedClass | UnsortedClass

    def __init__(
        self,
        tar: ArrayLike,
        non: ArrayLike,
        *,
        tar_weights: ArrayLike | None = None,
        non_weights: ArrayLike | None = None,
    ) -> None:
        self.tar, self.non = (counted(*one) for one in checked(tar, non, tar_weights, non_weights))

    def error_counts(self, thresholds: FloatArray) -> ErrorCounts:
        """Misses and false alarms at any thresholds; a score equal to a threshold is accepted."""
        return ErrorCounts.of(self.tar, self.non, np.asarray(thresholds, dtype=np.float64))

    def act_dcf(
        self,
        *,
        p_target: ArrayLike | None = None,
        prior_log_odds: ArrayLike | None = None,
        c_miss: float = 1.0,
        c_fa: float = 1.0,
        normalize: bool = True,
    ) -> float | FloatArray:
        """Actual detection cost at one or many priors; see `deciban.metrics.act_dcf`."""
        log_odds = _validate.prior_log_odds(p_target, prior_log_odds)
        c_miss, c_fa = _validate.costs(c_miss, c_fa)
        errors = self.error_counts(-effective_log_odds(log_odds, c_miss, c_fa))
        cost = detection_cost(errors.p_miss, errors.p_fa, log_odds, c_miss, c_fa, normalize=normalize)
        return cost if log_odds.ndim else float(cost)


def checked(
    tar: ArrayLike, non: ArrayLike, tar_weights: ArrayLike | None, non_weights: ArrayLike | None
) -> tuple[WeightedScores, WeightedScores]:
    """Scores and weights of both classes.

    Raises
    ------
    InputError
        If they are none.
    """
    tar, non = _validate.pair(tar, non)
    return (
        (tar, _validate.weights(tar_weights, len(tar), "tar_weights")),
        (non, _validate.weights(non_weights, len(non), "non_weights")),
    )
