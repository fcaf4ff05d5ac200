"""Errors of detectors at Bayes thresholds, trial by trial: what average detection costs are made of."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

import numpy as np

from deciban.core.classes.counts import non_target_priors
from deciban.core.classes.loglik import critical_priors, relative, row_blocks
from deciban.core.resampling.intervals import NothingSeen
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
    def tally(self) -> ErrorTally:
        """How many of them there are."""
        is_target = np.arange(len(self.rivals)) < self.n_targets
        n_others = self.n_targets - is_target
        return ErrorTally(
            self.p_target,
            self.rivals,
            self.n_targets,
            np.array([np.count_nonzero(self.missed), np.count_nonzero(is_target[self.label])]),
            np.array([int(self.n_accepted.sum()), int(n_others[self.label].sum())]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class ErrorTally:
    """How many trials are missed or accepted as another class; ``a + b`` are those of both.

    Attributes
    ----------
    p_target, rivals, n_targets
        As of `TargetErrors`.
    misses : (2,) int array
        Trials that are missed, and trials that could be.
    alarms : (2,) int array
        By how many other targets trials are accepted in all, and by how many they could be.
    """

    p_target: float
    rivals: FloatArray
    n_targets: int
    misses: IntArray
    alarms: IntArray

    def __add__(self, other: ErrorTally) -> ErrorTally:
        """Those of the trials of both."""
        return replace(self, misses=self.misses + other.misses, alarms=self.alarms + other.alarms)

    def nothing_seen(self, seen: IntArray) -> NothingSeen:
        """What is known where there is no miss or no false alarm; ``seen`` are units with trials of each class."""
        is_target = np.arange(len(seen)) < self.n_targets
        n_others = self.n_targets - is_target
        rates = [float(n / max(of, 1)) for n, of in (self.misses, self.alarms)]
        misses = np.full(self.n_targets, self.p_target / self.n_targets)
        false_alarms = (1.0 - self.p_target) * self.rivals * n_others / self.n_targets
        return NothingSeen.of_sum(
            np.repeat(rates, [self.n_targets, len(seen)]).tolist(),
            np.append(misses, false_alarms).tolist(),
            np.append(seen[is_target], seen).tolist(),
        )


class Tallies(dict[Hashable, ErrorTally]):
    """Errors by what they are of: of all trials, or of those that are at hand until there are others."""

    def nothing_seen(self, of: Hashable, errors: TargetErrors, seen: IntArray) -> NothingSeen:
        """What is known by the tally that is there, or by these errors, which are kept; see `ErrorTally`."""
        if of not in self:
            self[of] = errors.tally
        return self[of].nothing_seen(seen)

    def __add__(self, other: Tallies) -> Tallies:
        """Those of the trials of both; what only one has is of all its trials."""
        both = {name: self[name] + other[name] for name in self.keys() & other.keys()}
        return Tallies({**self, **other, **both})


def critical_priors_of(trials: ScoredClasses, p_out_of_set: float) -> FloatArray:
    """Priors of a target from which trials, class by class, are accepted, (n_targets, n_trials), of an open set."""
    order = np.concatenate([trials.rows(k) for k in range(trials.n_classes)])
    found = np.empty((trials.n_classes - 1, len(order)))
    for rows in row_blocks(len(order), trials.n_classes):
        found[:, rows] = critical_priors(relative(trials.loglik, order[rows]), p_out_of_set)
    return found
