"""Trials of many classes that count in training, and what infinite scores decide about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from deciban._validate.arrays import all_finite, refuse_trials
from deciban._validate.classes import Names, called
from deciban.core.resampling.units import TrialUnits
from deciban.core.training.multiclass_objective import ClassTrials
from deciban.core.training.separation import reachable
from deciban.core.training.sums import F
from deciban.errors import InputError
from deciban.types import BoolArray, FloatArray, IntArray, ScoreArray


class CountedClasses:
    """The classes of positive prior among all.

    Attributes
    ----------
    prior : (n_possible,) array
        Positive.
    is_possible : (n_classes,) bool array
        Which classes have a positive prior.
    names : tuple of str or None
        Of all classes.
    """

    prior: FloatArray
    is_possible: BoolArray
    names: Names

    @property
    def possible(self) -> IntArray:
        """The classes of positive prior, (n_possible,), by the positions that the user knows."""
        return np.flatnonzero(self.is_possible)

    def called(self, k: int) -> str:
        """Return what messages call a class, given its position among those of positive prior."""
        return called(int(self.possible[k]), self.names)


@dataclass(frozen=True, eq=False)
class CountedTrials(CountedClasses):
    """Trials of positive weight of classes of positive prior, by these classes only.

    Attributes
    ----------
    trials : ClassTrials
    prior, is_possible, names
        As of `CountedClasses`.
    numbers : (n_counted,) int array, optional
        The trials, by the indices that the user knows; None if these are all.
    """

    trials: ClassTrials
    prior: FloatArray
    is_possible: BoolArray
    numbers: IntArray | None
    names: Names = None

    def __len__(self) -> int:
        return len(self.trials)

    @property
    def amounts(self) -> FloatArray:
        """How much the trials of each class count."""
        return self.trials.amounts

    @property
    def n_alike(self) -> int:
        """Number of trials if the first system scores all of them alike; else 0."""
        return len(self.trials) if self.trials.alike[0] else 0

    @property
    def may_be_infinite(self) -> bool:
        """Return True if some scores may be infinite."""
        return True

    @property
    def left(self) -> ClassTrials:
        """The trials that infinite scores do not decide."""
        is_open = ~decided(self.trials)[0]
        return self.trials if is_open.all() else self.trials.take(np.flatnonzero(is_open))

    def each(self, look: Callable[[CountedTrials], F]) -> F:
        """What a look at them finds."""
        return look(self)

    def each_by_unit(self, look: Callable[[CountedTrials, TrialUnits], F], units: TrialUnits) -> F:
        """What a look at them finds, with their units, out of those of all trials that the user knows."""
        return look(self, units if self.numbers is None else units.take(self.numbers))

    def undecided(self, *, offset: bool) -> tuple[ClassTrials, float]:
        """The trials that training decides about, and what the others cost.

        Parameters
        ----------
        called : function
            Name of a class by its position.
        offset : bool
            Whether offsets are trained.

        Raises
        ------
        InputError
            If infinite scores rule out the truth, leave nothing to train on, or leave no limit to an offset.
        """
        trials = self.trials
        if all_finite(trials.systems):
            return trials, 0.0
        left, costs = parted(self)
        require_rivals(rivals_of(left), self.called, offset=offset)
        return left, float(trials.class_weights @ costs)

    @classmethod
    def of(
        cls, systems: ScoreArray, label: IntArray, prior: FloatArray, weights: FloatArray | None, names: Names = None
    ) -> CountedTrials:
        """From checked log-likelihoods (n_trials, n_systems, n_classes); every class of positive prior occurs."""
        possible, numbers, counts = prior > 0.0, None, which_count(label, prior, weights)
        if not counts.all():
            numbers = np.flatnonzero(counts)
            systems, label = systems[numbers], label[numbers]
            weights = None if weights is None else weights[numbers]
        if not possible.all():
            systems, label, prior = systems[:, :, possible], (np.cumsum(possible) - 1)[label], prior[possible]
        trials = ClassTrials(systems, label, np.zeros(len(prior)), weights)
        with np.errstate(divide="ignore"):  # a part of all trials may lack a class
            class_weights = prior / trials.amounts
        return cls(replace(trials, class_weights=class_weights), prior, possible, numbers, names)


def which_count(label: IntArray, prior: FloatArray, weights: FloatArray | None) -> BoolArray:
    """Trials of positive weight of classes of positive prior, (n_trials,)."""
    counts: BoolArray = (prior > 0.0)[label]
    return counts if weights is None else counts & (weights > 0.0)


def decided(trials: ClassTrials) -> tuple[BoolArray, BoolArray]:
    """Which trials infinite scores decide whatever the scales and offsets, (n_trials,), and for which classes.

    +inf decides for the classes that have it. A system that excludes all classes prefers none: the prior decides among
    all of them. The classes are a matrix (n_trials, n_classes) that holds False throughout for all other trials.
    """
    certain = _any(trials.systems == np.inf, 1)
    certain[_any(_excludes_all(trials), 1)] = True
    return _any(certain, 1), certain


def _any(array: BoolArray, axis: int) -> BoolArray:
    return np.asarray(np.any(array, axis=axis))


def _excludes_all(trials: ClassTrials) -> BoolArray:
    """Which systems exclude all classes in a trial, (n_trials, n_systems)."""
    return np.asarray(np.all(np.isneginf(trials.systems), axis=2))


def ruled_out(trials: ClassTrials) -> BoolArray:
    """Trials (n_trials,) whose true class infinite scores rule out: no scale above 0 makes their cost finite."""
    is_decided, certain = decided(trials)
    rows = np.arange(len(trials))
    excluded = _any(np.isneginf(trials.systems[rows, :, trials.label]) & ~_excludes_all(trials), 1)
    return np.asarray(excluded | (is_decided & ~certain[rows, trials.label]))


def refuse_ruled_out(counted: CountedTrials) -> None:
    """Refuse trials whose true class infinite scores rule out.

    Raises
    ------
    TrialError
        If there are such.
    """
    trials = counted.trials
    if all_finite(trials.systems):
        return
    wrong = ruled_out(trials)
    words = "loglik: infinite scores rule out the true class of {n} trials, the first "
    way = (
        f", of {counted.called(int(trials.label[np.argmax(wrong)]))}: whatever the scale and offsets, their cost is "
        "infinite. Give them finite scores, or leave them out."
    )
    refuse_trials(wrong, words, way, counted.numbers)


def parted(counted: CountedTrials) -> tuple[ClassTrials, FloatArray]:
    """The trials that infinite scores do not decide, and what the others of each class cost, without class weights.

    Raises
    ------
    TrialError
        If infinite scores are wrong.
    """
    trials, prior = counted.trials, counted.prior
    refuse_ruled_out(counted)
    is_decided, certain = decided(trials)
    left, sure = (trials.take(np.flatnonzero(rows)) for rows in (~is_decided, is_decided))
    # Where several classes are certain, the prior decides between them.
    costs = np.log(certain[is_decided] @ prior) - np.log(prior[sure.label])
    weighted = costs if sure.weights is None else costs * sure.weights
    return left, np.bincount(sure.label, weighted, minlength=len(prior)).astype(np.float64)


def rivals_of(trials: ClassTrials) -> BoolArray:
    """Which classes (columns) infinite scores leave possible in some trial of which other class (rows)."""
    n = len(trials.class_weights)
    left = ~_any(np.isneginf(trials.systems), 1)
    rivals = np.array([_any(left[trials.label == k], 0) for k in range(n)])
    np.fill_diagonal(rivals, val=False)
    return rivals


def require_rivals(rivals: BoolArray, called: Callable[[int], str], *, offset: bool) -> None:
    """Refuse trials in which a class is possible only where it is true, or the other way round.

    Raises
    ------
    InputError
        If there is such a class, or if no trial leaves its class any rival.
    """
    if not rivals.any():
        raise InputError(
            "loglik: infinite scores decide all trials, and rightly, so that no finite scores are left to train on. "
            "Use them as they are, or give them finite scores."
        )
    one_way = np.argwhere(rivals & ~reachable(rivals).T) if offset else np.empty((0, 2))
    if len(one_way):
        ahead, behind = (called(int(k)) for k in one_way[0])
        raise InputError(
            f"loglik: infinite scores decide all trials of {behind} against {ahead}, but not those of {ahead} against "
            f"{behind}: the objective falls forever as the offset of {ahead} grows. Give them finite scores, leave one "
            "of these classes out, or train a scale without offsets."
        )
