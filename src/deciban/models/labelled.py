"""Batches of labelled trials of two classes or of many, as models look at them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from deciban.models.score_model import LabelledTrials
from deciban.trials.sources import Chunk
from deciban.types import BoolArray, CountArray, FloatArray, IntArray, ScoreArray

Form: TypeAlias = Callable[[Sequence[ScoreArray]], tuple[Sequence[ScoreArray], ScoreArray | None]]
"""What makes columns to train on, and what is added to the llr as it is, out of the scores of systems."""


@dataclass(frozen=True, slots=True, eq=False)
class Labelled(LabelledTrials):
    """Checked scores of one system; a class may be missing in a batch.

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
    def of(cls, trials: Chunk) -> Labelled:
        """The first system of a batch."""
        return cls(trials.scores[0], trials.labels, trials.weight)

    @property
    def counting(self) -> Labelled:
        """Without the trials of weight 0."""
        if self.weight is None or self.weight.all():
            return self
        some = self.weight > 0
        return Labelled(self.score[some], self.is_target[some], self.weight[some])

    @property
    def tar(self) -> ScoreArray:
        """Scores of targets."""
        return self.score[self.is_target]

    @property
    def non(self) -> ScoreArray:
        """Scores of non-targets."""
        return self.score[~self.is_target]


def scores_alone(scores: Sequence[ScoreArray]) -> tuple[Sequence[ScoreArray], ScoreArray | None]:
    """A column for each system."""
    return scores, None


def scores_as_they_are(scores: Sequence[ScoreArray]) -> tuple[Sequence[ScoreArray], ScoreArray | None]:
    """No column: the score of the only system is added to the llr as it is."""
    return (), scores[0]


@dataclass(frozen=True, slots=True, eq=False)
class LabelledClasses:
    """Checked scores of many classes by one system; classes may be missing in a batch.

    Attributes
    ----------
    scores : (n_trials, n_classes) array
        Log-likelihoods, or features; as they came, never copied if they are floats.
    label : (n_trials,) int array
    prior : (n_classes,) array
    weight : (n_trials,) array, optional
        Whole numbers as int64, else float64.
    """

    scores: ScoreArray
    label: IntArray
    prior: FloatArray
    weight: CountArray | None

    @classmethod
    def of(cls, trials: Chunk, prior: FloatArray) -> LabelledClasses:
        """The first system of a batch."""
        return cls(trials.scores[0], trials.labels, prior, trials.weight)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.prior)

    @property
    def float_weight(self) -> FloatArray | None:
        """Weights as floats, for sums."""
        return None if self.weight is None else self.weight.astype(np.float64, copy=False)
