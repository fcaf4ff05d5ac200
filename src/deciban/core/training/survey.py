"""What maps of the same trials of many classes share: a sample of them, its center and width, the reach of scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from deciban.core.classes.counts import ordered_by_class
from deciban.core.training import moments
from deciban.core.training.blocks import length_bound
from deciban.core.training.class_parts import ClassTrialsInParts
from deciban.core.training.class_trials import ClassTrials
from deciban.core.training.samples import SAMPLE
from deciban.types import FloatArray


@dataclass(frozen=True, eq=False)
class Survey:
    """Trials to train on, and what is found out about them once, however many maps are trained.

    Attributes
    ----------
    trials : ClassTrials or ClassTrialsInParts
    """

    trials: Any

    @cached_property
    def few(self) -> ClassTrials:
        """An even sample, which are all trials where there are not many."""
        return sample(self.trials)

    @cached_property
    def standard(self) -> tuple[FloatArray, FloatArray]:
        """Center and width of each system, of a sample with equal classes.

        With the prior, the width could be next to nothing where one class is probable and nearly always scored the
        same.
        """
        center, width = moments.standardization(_equal_classes(self.few))
        if self.few is self.trials or np.all(width > 0.0):
            return center, width
        # What is constant in a sample need not be so in all trials.
        return moments.standardization(_equal_classes(self.trials))

    @cached_property
    def center(self) -> FloatArray:
        """Center of each system, of a sample with classes as the prior says."""
        amounts = self.few.class_weights * self.few.amounts
        is_flat = self.few is self.trials and np.ptp(amounts) <= _ROUNDING * amounts.max()
        return self.standard[0] if is_flat else moments.standardization(self.few)[0]

    def typical_spreads(self, width: FloatArray) -> FloatArray:
        """`deciban.core.training.moments.typical_spreads` of a sample."""
        return moments.typical_spreads(self._spreads, width)

    @cached_property
    def _spreads(self) -> FloatArray:
        return moments.spreads(self.few)

    @cached_property
    def _length(self) -> float:
        trials = self.trials
        if isinstance(trials, ClassTrialsInParts):
            return trials.length
        return length_bound(trials.systems.reshape(len(trials), -1))

    def reach_in_widths(self, width: FloatArray) -> float:
        """A bound of the size of all scores, in units of the least width."""
        least = float(np.min(width[width > 0.0], initial=np.inf))
        return self._length / least if least < np.inf else np.inf


_ROUNDING = 1e-14
"""Priors of classes that are equal may differ by this fraction."""


def _equal_classes(trials: Any) -> Any:
    """The trials at the flat prior."""
    amounts = trials.amounts
    return replace(trials, class_weights=np.divide(1.0, amounts, out=np.zeros(len(amounts)), where=amounts > 0.0))


def sample(trials: ClassTrials | ClassTrialsInParts) -> ClassTrials:
    """About ``SAMPLE`` trials of each kind, evenly spread, with as many of each class as there may be.

    Of trials in parts there is one sample, which was drawn at the first look.
    """
    if isinstance(trials, ClassTrialsInParts):
        return trials.few
    n, n_classes = len(trials), len(trials.class_weights)
    size = max(SAMPLE, 40 * n_classes)
    if n < 4 * size:
        return trials
    order = ordered_by_class(trials.label, n_classes)
    ends = np.cumsum(np.bincount(trials.label, minlength=n_classes))
    share = max(size // n_classes, 1)
    own = (order[begin:end] for begin, end in zip(np.append(0, ends[:-1]), ends, strict=True))
    rows = np.sort(np.concatenate([some[:: max(len(some) // share, 1)] for some in own]))
    few = trials.take(rows)
    everything, amounts = trials.amounts, few.amounts
    if np.any((amounts == 0.0) & (everything > 0.0)):
        return trials
    # Infinite scores may decide all trials of a class, so that none are left of it.
    stand_for = np.divide(everything, amounts, out=np.ones(n_classes), where=amounts > 0.0)
    return replace(few, class_weights=trials.class_weights * stand_for)
