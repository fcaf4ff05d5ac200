"""Checked trials of two or more classes in memory, as models are trained on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.errors import InputError
from deciban.models.score_model import LabelledTrials
from deciban.models.uncertainty import JackknifeMaps
from deciban.types import BoolArray, CountArray, FloatArray, IntArray, ScoreArray

if TYPE_CHECKING:
    from deciban._validate import classes as _validate_classes
    from deciban.core.classes.certainty import CountedTrials
    from deciban.core.classes.transforms import TransformFit
    from deciban.core.ranks.hull import Pav
    from deciban.core.resampling.units import TrialUnits
    from deciban.core.training.influences import MomentSums
    from deciban.core.training.linear_objective import Trials
    from deciban.core.training.multiclass_training import ClassFit
    from deciban.core.training.sums import UnitSums
    from deciban.trials.sources import Chunk

Form: TypeAlias = Callable[[Sequence[ScoreArray]], tuple[Sequence[ScoreArray], ScoreArray | None]]
"""What makes columns to train on, and what is added to the llr as it is, out of the scores of systems."""


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

    @classmethod
    def of_look(cls, trials: Labelled | Chunk) -> Labelled:
        """What a look is had at: these, or a piece of a source of one system, in which a class may be missing."""
        if isinstance(trials, Labelled):
            return trials
        return cls(trials.scores[0], trials.labels, trials.weight)

    @property
    def n_trials(self) -> int:
        """How many there are."""
        return len(self.score)

    @property
    def counting(self) -> Labelled:
        """Without the trials of weight 0."""
        if self.weight is None or self.weight.all():
            return self
        some = self.weight > 0
        return Labelled(self.score[some], self.is_target[some], self.weight[some])

    def linear(self, form: Form) -> Trials:
        """Trials to train weights of columns on."""
        from deciban.core.training import linear_objective

        columns, base = form([self.score])
        return linear_objective.Trials.of(columns, self.is_target, weights=self.float_weight, base=base)

    @property
    def pav(self) -> Pav:
        """PAV blocks of the scores."""
        from deciban.metrics.scores import pav

        return pav(**self.as_sets(self.score))

    def look(self, look: Callable[[Labelled], Any]) -> Any:
        """What a look at them finds."""
        return look(self)

    def moments_by_unit(self, look: MomentSums, units: TrialUnits) -> UnitSums:
        """Sums over the trials of each unit."""
        return look(self.score.astype(np.float64, copy=False), self.is_target, self.float_weight, units)

    def through(self, model: Any) -> Labelled:
        """Train a calibrator on them; the same trials with what it makes of their scores."""
        values = self.score.astype(np.float64, copy=False)
        return replace(self, score=model.fit_transform(values, self.is_target, sample_weight=self.weight))

    def jackknife(self, trained_on: Callable[[Labelled], Any], units: TrialUnits) -> JackknifeMaps:
        """Models that are trained without units in turn."""
        return JackknifeMaps.of(lambda rows: trained_on(self.take(rows)), units)

    def take(self, rows: BoolArray) -> Labelled:
        """Some of the trials.

        Raises
        ------
        InputError
            If a class is empty then.
        """
        is_target, weight = self.is_target[rows], None if self.weight is None else self.weight[rows]
        for truth, name in ((True, "target"), (False, "non-target")):
            if not (is_target == truth).any():
                raise InputError(f"is_target: no {name} is left.")
        return Labelled(self.score[rows], is_target, weight)

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
    """Checked trials of many classes.

    Attributes
    ----------
    scores : (n_trials, ...) array
        Log-likelihoods of one or more systems, or features; as they came, never copied if they are floats.
    label : (n_trials,) int array
    n_classes : int
    prior : (n_classes,) array
        Every class that it holds possible has trials.
    weight : (n_trials,) array, optional
        Whole numbers as int64, else float64.
    classes : tuple of str, optional
    """

    scores: ScoreArray
    label: IntArray
    n_classes: int
    prior: FloatArray
    weight: CountArray | None
    classes: _validate_classes.Names

    @classmethod
    def of_look(cls, trials: LabelledClasses | Chunk, prior: FloatArray) -> LabelledClasses:
        """What a look is had at: these, or a piece of a source of one system, in which classes may be missing."""
        if isinstance(trials, LabelledClasses):
            return trials
        return cls(trials.scores[0], trials.labels, len(prior), prior, trials.weight, None)

    @property
    def n_trials(self) -> int:
        """How many there are."""
        return len(self.label)

    @property
    def float_weight(self) -> FloatArray | None:
        """Weights as floats, for sums."""
        return None if self.weight is None else self.weight.astype(np.float64, copy=False)

    @property
    def amounts(self) -> FloatArray:
        """How much the trials of each class count."""
        return np.bincount(self.label, self.float_weight, minlength=self.n_classes).astype(np.float64)

    @property
    def counted(self) -> CountedTrials:
        """Those that count in training."""
        from deciban.core.classes.certainty import CountedTrials  # these are for training alone

        systems = self.scores[:, None, :] if self.scores.ndim == 2 else self.scores
        return CountedTrials.of(systems, self.label, self.prior, self.float_weight)

    def look(self, look: Callable[[LabelledClasses], Any]) -> Any:
        """What a look at them finds."""
        return look(self)

    def tell_nothing(self) -> int:
        """How many trials count, if the only system scores all of them in the same way; else 0."""
        from deciban.core.classes.loglik import are_alike

        counted = self.counted.trials
        return len(counted) if are_alike(counted.systems[:, 0]) else 0

    def train(self, **form: Any) -> ClassFit:
        """See `deciban.core.training.multiclass_training.train_classes`."""
        from deciban.core.training.multiclass_training import train_classes

        known: dict[str, Any] = {"prior": self.prior, "weights": self.float_weight, "classes": self.classes}
        return train_classes(self.scores, self.label, **known, **form)

    def train_transform(self, **form: Any) -> TransformFit:
        """See `deciban.core.classes.transforms.train_transform`."""
        from deciban.core.classes.transforms import train_transform

        known: dict[str, Any] = {"prior": self.prior, "weights": self.float_weight, "classes": self.classes}
        return train_transform(self.scores, self.label, **known, **form)

    is_held: ClassVar[bool] = True
    """Whether all trials are in memory."""

    may_be_infinite: ClassVar[bool] = True
    """Whether infinite scores have to be looked for."""

    def take(self, rows: BoolArray) -> LabelledClasses:
        """Some of the trials."""
        weight = None if self.weight is None else self.weight[rows]
        return replace(self, scores=self.scores[rows], label=self.label[rows], weight=weight)
