"""What all fusions of two-class scores share: a matrix of scores in, one log-likelihood ratio per trial out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.core.training.bounds import length_bound
from deciban.core.training.fit import Fit
from deciban.errors import InputError, TrialError
from deciban.models.weighted_scores import LabelledTrials
from deciban.types import BoolArray, CountArray, FloatArray, IntArray, ScoreArray


@dataclass(frozen=True, slots=True, eq=False)
class LabelledSystems(LabelledTrials):
    """Checked scores of several systems on the same trials.

    Attributes
    ----------
    scores : (n_trials, n_systems) array
        As it came: never copied if it is an array of floats.
    is_target : (n_trials,) bool array
    weight : (n_trials,) array, optional
    reach : float
        No score is farther from 0; infinite if that is not known.
    """

    scores: ScoreArray
    is_target: BoolArray
    weight: CountArray | None = None
    reach: float = np.inf

    @classmethod
    def of(
        cls, scores: ArrayLike, is_target: ArrayLike, sample_weight: ArrayLike | None = None, *, missing: bool = False
    ) -> LabelledSystems:
        """Check what a user passed; with ``missing``, NaN stands for a score that is not there.

        Raises
        ------
        InputError
            If a score is NaN, shapes do not fit, labels are no booleans, or a class is empty or weightless.
        """
        matrix = _validate.matrix(scores, "scores", "system")
        reach = length_bound(matrix)
        if missing:
            matrix = with_one_nan(matrix)
        elif not reach < np.inf:
            _validate.require_no_nan(matrix, "scores")
        return cls(matrix, *_validate.labels(is_target, sample_weight, len(matrix)), reach)

    def take(self, rows: BoolArray | IntArray) -> LabelledSystems:
        """Some of the trials."""
        weight = None if self.weight is None else self.weight[rows]
        return LabelledSystems(self.scores[rows], self.is_target[rows], weight)

    @property
    def columns(self) -> list[ScoreArray]:
        """The scores of each system; views, not copies."""
        return list(self.scores.T)


def with_one_nan(table: ScoreArray) -> ScoreArray:
    """The same numbers; NaN has many forms, with signs and payloads, of which a fingerprint should see one."""
    missing = np.isnan(table)
    return np.where(missing, table.dtype.type(np.nan), table) if missing.any() else table


def require_systems(scores: ScoreArray, n_systems: int, what: str = "fusion") -> None:
    """Refuse scores of more or fewer systems than those of training.

    Raises
    ------
    InputError
        If they are.
    """
    if scores.shape[1] != n_systems:
        raise InputError(
            f"scores: {scores.shape[1]} systems, but the {what} was trained on {n_systems}. Pass the same systems in "
            "the same order."
        )


def penalized(fit: Fit, ridge: float) -> float:
    """What training made as small as it could: the objective with the penalty, which is in its units."""
    return fit.objective + (0.5 * ridge * float(fit.standardized @ fit.standardized) if ridge > 0.0 else 0.0)


def combined(scores: ScoreArray, weights: FloatArray, offset: float, *, numbers: IntArray | None = None) -> FloatArray:
    """Weighted sum of systems; a system of weight 0 does not count, even where it is infinite.

    Parameters
    ----------
    scores : (n_trials, n_systems) array
    weights : (n_systems,) array
    offset : float
    numbers : (n_trials,) array, optional
        The index by which the user knows each trial, if these are a part of what was passed.

    Raises
    ------
    TrialError
        If systems contradict each other with infinite scores.
    """
    total = np.full(len(scores), offset)
    with np.errstate(over="ignore", invalid="ignore"):
        for k in np.flatnonzero(weights):
            total += weights[k] * scores[:, k]
    if np.isnan(total).any():
        wrong = np.flatnonzero(np.isnan(total))
        first = wrong[0] if numbers is None else numbers[wrong[0]]
        raise TrialError(
            f"scores: in {len(wrong)} trials systems contradict each other with infinite scores, the first ",
            int(first),
            f": {scores[wrong[0]].tolist()}. Give them finite scores.",
        )
    return total
