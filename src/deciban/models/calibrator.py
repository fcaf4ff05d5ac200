"""What all calibrators of two-class scores share: fit, transform, and a record of what they were trained on."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.core.rules.expected import WeightedScores, cross_entropy
from deciban.models.model import Plain, Training
from deciban.models.score_model import LabelledTrials, ScoreModel
from deciban.types import BoolArray, CountArray, FloatArray, ScoreArray


@dataclass(frozen=True, slots=True, eq=False)
class Labelled(LabelledTrials):
    """Checked scores of both classes.

    Attributes
    ----------
    score : (n_trials,) array
    is_target : (n_trials,) bool array
    weight : (n_trials,) array, optional
        Weight of each trial: whole numbers as int64, else float64.
    """

    score: ScoreArray
    is_target: BoolArray
    weight: CountArray | None = None

    @classmethod
    def of(cls, scores: ArrayLike, is_target: ArrayLike, sample_weight: ArrayLike | None = None) -> Labelled:
        """Check what a user passed.

        Raises
        ------
        InputError
            If a score is NaN, lengths differ, labels are no booleans, or a class is empty or weightless.
        """
        score = _validate.scores(scores, "scores")
        return cls(score, *_validate.labels(is_target, sample_weight, len(score)))

    @property
    def counting(self) -> Labelled:
        """Without the trials of weight 0."""
        if self.weight is None or self.weight.all():
            return self
        rows = self.weight > 0
        return Labelled(self.score[rows], self.is_target[rows], self.weight[rows])

    @property
    def tar(self) -> ScoreArray:
        """Scores of targets."""
        return self.score[self.is_target]

    @property
    def non(self) -> ScoreArray:
        """Scores of non-targets."""
        return self.score[~self.is_target]


class Calibrator(ScoreModel):
    """A map from the scores of one system to log-likelihood ratios, trained on labelled trials."""

    def fit(self, scores: ArrayLike, is_target: ArrayLike, *, sample_weight: ArrayLike | None = None) -> Self:
        """Train on labelled trials.

        Parameters
        ----------
        scores : (n_trials,) array_like
            Larger favours target.
        is_target : (n_trials,) array_like
            True (or 1) for targets, False (or 0) for non-targets.
        sample_weight : (n_trials,) array_like, optional
            Weight of each trial within its class, at least 0; whole numbers count like copies.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If a score is NaN, lengths differ, a class is empty, or nothing finite can be learnt from these scores.
        """
        data = Labelled.of(scores, is_target, sample_weight)
        results = self._fit(data)
        self.training_ = Training.on([data.score], data.is_target, data.float_weight, results)
        return self

    @abstractmethod
    def _fit(self, data: Labelled) -> Mapping[str, Plain]:
        """Set the parameters, and return what else is worth knowing."""

    def transform(self, scores: ArrayLike) -> FloatArray:
        """Turn scores into log-likelihood ratios.

        Parameters
        ----------
        scores : (n_trials,) array_like
            May be infinite.

        Returns
        -------
        (n_trials,) array
            In nats.

        Raises
        ------
        InputError
            If the calibrator was not trained, or a score is NaN.
        """
        self.require_fitted()
        values = _validate.scores(scores, "scores")
        return self._transform(values.astype(np.float64, copy=False))

    @abstractmethod
    def _transform(self, scores: FloatArray) -> FloatArray:
        """Log-likelihood ratios of checked scores."""

    def fit_transform(
        self, scores: ArrayLike, is_target: ArrayLike, *, sample_weight: ArrayLike | None = None
    ) -> FloatArray:
        """Train on trials and apply the result to the same trials.

        Parameters, errors
            As in `fit`.

        Returns
        -------
        (n_trials,) array
            Log-likelihood ratios in nats. A calibrator looks better on the trials that it was trained on than on
            others; `cross_validated` gives an honest picture.
        """
        return self.fit(scores, is_target, sample_weight=sample_weight).transform(scores)


def outcome(tar: WeightedScores, non: WeightedScores, status: str) -> dict[str, Plain]:
    """Results of training under the names that all calibrators use.

    Parameters
    ----------
    tar, non : (llr, weights)
        Log-likelihood ratios of the training trials after calibration, in nats, with optional weights.
    status : str
        What became of training, in words.

    Returns
    -------
    dict
        ``objective`` is the cross-entropy at prior 0.5 in nats, ``objective_relative_to_llr_0`` the same as Cllr in
        bits, and ``status``.
    """
    objective = cross_entropy(_counting(tar), _counting(non), 0.0)
    return {"objective": objective, "objective_relative_to_llr_0": objective / math.log(2), "status": status}


def _counting(trials: WeightedScores) -> WeightedScores:
    """Leave out trials of weight 0: nothing of an infinite cost is nothing."""
    llr, weights = trials
    return trials if weights is None else (llr[weights > 0], weights[weights > 0])
