"""Checked trials of many classes, as models of these take them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from deciban.types import BoolArray, CountArray, FloatArray, IntArray, ScoreArray

if TYPE_CHECKING:
    from deciban._validate import classes as _validate_classes
    from deciban.core.classes.certainty import CountedTrials
    from deciban.core.classes.transforms import TransformFit
    from deciban.core.training.multiclass_training import ClassFit
    from deciban.trials.sources import Chunk


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
        assert trials.truth is not None  # noqa: S101  # it was asked for
        return cls(trials.scores[0], trials.truth, len(prior), prior, trials.weight, None)

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
