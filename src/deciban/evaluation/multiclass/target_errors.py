"""Errors of detectors at Bayes thresholds, trial by trial: what average detection costs are made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deciban.core.classes.counts import non_target_priors
from deciban.core.classes.loglik import critical_priors, relative, row_blocks
from deciban.multiclass.tables import ByClass, ScoredClasses
from deciban.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class TargetErrors:
    """Which trials are missed or accepted as another class, at the Bayes thresholds of all targets.

    Attributes
    ----------
    p_target : float
    rivals : (n_classes,) array
        Of each class as a non-target: the share of each of them in what a target leaves.
    n_targets : int
        The first so many classes are targets.
    label : (n_trials,) int array
    missed : (n_trials,) bool array
    n_accepted : (n_trials,) array
        How many other targets accept each trial.
    """

    p_target: float
    rivals: FloatArray
    n_targets: int
    label: IntArray
    missed: BoolArray
    n_accepted: FloatArray

    @classmethod
    def of(cls, llrs: ByClass, p_target: float, threshold: float, p_out_of_set: float | None) -> TargetErrors:
        """Decisions at a prior of a target: accepted are those that are not below the threshold.

        Parameters
        ----------
        llrs : ByClass
            Detection llrs of targets, or whatever orders trials as these do.
        p_target, threshold : float
        p_out_of_set : float or None
            The prior of the last class, if it is out of set.
        """
        label, n, is_open = llrs.label, len(llrs.lengths), p_out_of_set is not None
        rivals = np.full(n, 1.0 / (n - 1))
        if p_out_of_set is not None:
            (rivals,) = non_target_priors(np.array([p_target]), p_out_of_set, n)
        n_accepted, missed = np.zeros(len(label)), np.zeros(len(label), np.bool_)
        for target, own in enumerate(llrs.slices[: n - is_open]):
            is_accepted = llrs.values[target] >= threshold
            missed[own] = ~is_accepted[own]
            is_accepted[own] = False
            n_accepted += is_accepted
        return cls(p_target, rivals, n - is_open, label, missed, n_accepted)

    @property
    def costs(self) -> FloatArray:
        """What each trial adds to the mean of its class in C_avg: `deciban.multiclass.c_avg` as a sum over classes."""
        misses, false_alarms = self.p_target * self.missed, (1.0 - self.p_target) * self.rivals[self.label]
        return np.asarray((misses + false_alarms * self.n_accepted) / self.n_targets)

    @property
    def most(self) -> FloatArray:
        """What each class adds to C_avg if all of its trials are missed and accepted as all others, (n_classes,)."""
        is_target = np.arange(len(self.rivals)) < self.n_targets
        false_alarms = (1.0 - self.p_target) * self.rivals * (self.n_targets - is_target)
        return np.asarray((self.p_target * is_target + false_alarms) / self.n_targets)


def critical_priors_of(trials: ScoredClasses, p_out_of_set: float) -> FloatArray:
    """Priors of a target from which trials, class by class, are accepted, (n_targets, n_trials), of an open set."""
    order = np.concatenate([trials.rows(k) for k in range(trials.n_classes)])
    found = np.empty((trials.n_classes - 1, len(order)))
    for rows in row_blocks(len(order), trials.n_classes):
        found[:, rows] = critical_priors(relative(trials.loglik, order[rows]), p_out_of_set)
    return found
