"""Trials of many classes to train scales and offsets on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from deciban.core.classes.loglik import are_alike
from deciban.core.training.sums import F
from deciban.types import BoolArray, FloatArray, IntArray, ScoreArray

_FEW = 16
"""Classes that take about as much time as two."""


@dataclass(frozen=True, eq=False)
class ClassTrials:
    """Trials to train on.

    Attributes
    ----------
    systems : (n_trials, n_systems, n_classes) array
        Log-likelihoods; -inf stands for a class that is out of the question, +inf and NaN do not occur.
    label : (n_trials,) int array
    class_weights : (n_classes,) array
        What a trial of weight 1 contributes: ``prior_i / n_i``.
    weights : (n_trials,) array, optional
        Weight of each trial.
    reach : float
        No score is farther from 0, in units of the widths of systems; infinite if that is not known.
    """

    systems: ScoreArray
    label: IntArray
    class_weights: FloatArray
    weights: FloatArray | None = None
    reach: float = np.inf

    def __len__(self) -> int:
        return len(self.label)

    @property
    def n_systems(self) -> int:
        """How many systems there are."""
        return int(self.systems.shape[1])

    @property
    def alike(self) -> BoolArray:
        """Which systems score all trials in the same way, (n_systems,)."""
        return np.array([are_alike(self.systems[:, k]) for k in range(self.n_systems)], np.bool_)

    @property
    def truth(self) -> IntArray:
        """The class of each trial."""
        return self.label

    @property
    def has_weights(self) -> bool:
        """Whether trials count differently."""
        return self.weights is not None

    def each(self, look: Callable[[ClassTrials], F]) -> F:
        """What a look at all of them finds; it can be sent to where trials are that do not fit in memory."""
        return look(self)

    def scaled(self, factor: FloatArray) -> ClassTrials:
        """The same with the scores of each system multiplied, (n_systems,)."""
        return replace(self, systems=self.systems * factor[:, None])

    def joined(self, other: ClassTrials) -> ClassTrials:
        """These and others, with the same class weights."""
        own, more = self.weights, other.weights
        weights = None if own is None or more is None else np.concatenate((own, more))
        systems, label = np.concatenate((self.systems, other.systems)), np.concatenate((self.label, other.label))
        return replace(self, systems=systems, label=label, weights=weights)

    @property
    def size(self) -> int:
        """For how many trials of a few classes these count: they are as much work."""
        return len(self) * max(len(self.class_weights) // _FEW, 1)

    @property
    def amounts(self) -> FloatArray:
        """How much the trials of each class count, without class weights."""
        n = len(self.class_weights)
        return np.bincount(self.label, self.weights, minlength=n).astype(np.float64)

    def weight(self, rows: slice) -> FloatArray:
        """What each of some trials contributes."""
        weight: FloatArray = self.class_weights[self.label[rows]]
        return weight if self.weights is None else weight * self.weights[rows]

    def take(self, rows: IntArray | slice) -> ClassTrials:
        """Some of the trials, with the same class weights."""
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, systems=self.systems[rows], label=self.label[rows], weights=weights)

    def stand_ins(self, few: ClassTrials) -> FloatArray:
        """For how many of these trials each of a sample of them stands."""
        return (few.class_weights / self.class_weights)[few.label]


NO_TRIALS = ClassTrials(np.zeros((0, 1, 1)), np.zeros(0, np.int64), np.zeros(1))
"""In place of trials that are elsewhere."""
