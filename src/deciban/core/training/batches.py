"""Training trials that do not fit in memory, two-class or multiclass, processed in batches.

The first pass goes through all batches. It computes class weights and the range of the scores, finds the trials that
infinite scores decide, and draws a sample. The optimum of the sample is close to the final one. Further passes belong
to the search: each returns value, gradient and Hessian of the same objective that is used in memory.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Literal, TypeAlias

import numpy as np

from deciban._validate.arrays import all_finite
from deciban._validate.classes import Names
from deciban.core.logliks import are_alike
from deciban.core.training import multiclass_objective
from deciban.core.training.linear_objective import Amounts, Pair, TrainingTrials, undecided
from deciban.core.training.sums import BatchedTraining, Deviations, Ends, Left, Parts, RandomSample, Sums, sample_size
from deciban.types import Additive, BoolArray, FloatArray, ScoreArray

DRAWN = 1 << 17
"""Limit of sampled trials of each class."""


@dataclass(eq=False)
class PartsOfTrials(Parts[TrainingTrials]):
    """Two-class trials in batches.

    Attributes
    ----------
    memory : int or None
        Limit of memory in bytes; without it, the sample has its full size.
    """

    memory: int | None = None

    _infinite: BoolArray | None = None
    _first: tuple[Pair, FirstPass] | None = None

    def undecided(self, alpha: float, beta: float) -> tuple[TrialsInParts, Amounts]:
        """Return the undecided trials after one first pass; see `deciban.core.training.linear_objective.undecided`."""
        if self._first is None or self._first[0] != (alpha, beta):
            self._first = (alpha, beta), self.each(partial(FirstPass.of, alpha, beta, self.memory))
        result = self._first[1]
        self._infinite = result.infinite
        return TrialsInParts(self, result, (0.0, 0.0), (alpha, beta)), result.amounts

    def infinite_columns(self) -> list[bool]:
        """Return True for columns with infinite scores in trials that count, after training."""
        return [] if self._infinite is None else self._infinite.tolist()


@dataclass(frozen=True, eq=False)
class TrialsInParts(BatchedTraining):
    """Training trials in batches, with the same interface as `TrainingTrials`.

    Attributes
    ----------
    trials : PartsOfTrials
    first : FirstPass
    class_weights : (float, float)
    rule : (float, float)
        ``alpha`` and ``beta`` of the rule, which determine the cost of infinite scores.
    """

    trials: PartsOfTrials
    first: FirstPass
    class_weights: Pair
    rule: Pair

    def __len__(self) -> int:
        return sum(self.first.amounts.left)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.few.n_columns

    @property
    def kinds(self) -> tuple[np.dtype[np.float64 | np.float32], ...]:
        """Data type of each column."""
        return self.few.kinds

    @property
    def has_base(self) -> bool:
        """True if a base is added to the llr."""
        return self.few.has_base

    @property
    def amounts(self) -> Pair:
        """Number (or weight) of non-targets and targets that infinite scores do not decide."""
        return self.first.undecided

    @property
    def reach(self) -> float:
        """Largest absolute score."""
        ends = self.first.ends
        return float(max(np.max(np.abs(ends.low), initial=0.0), np.max(np.abs(ends.high), initial=0.0)))

    @cached_property
    def few(self) -> TrainingTrials:
        """The sample, with class weights that make it represent all trials."""
        some = self.first.drawn.trials
        shares = zip(self.class_weights, self.amounts, some.amounts, strict=True)
        non, tar = (weight * all_of_them / drawn for weight, all_of_them, drawn in shares)
        return replace(some, class_weights=(non, tar))

    @property
    def left_of(self) -> Left:
        """See `BatchedTraining`."""
        return partial(_undecided, self.class_weights, self.rule, self.reach)


@dataclass(frozen=True, slots=True, eq=False)
class FirstPass(Additive):
    """Results of the first pass.

    Attributes
    ----------
    amounts : Amounts
    undecided : (float, float)
        Number (or weight) of trials of each class that infinite scores do not decide.
    ends : Ends
        Range of the scores of each column in the undecided trials.
    infinite : (n_columns,) bool array
        True for columns with an infinite score in a trial that counts.
    drawn : RandomSample
    deviations : pair of Deviations
        Deviations of the scores of undecided non-targets and targets.
    """

    amounts: Amounts
    undecided: Pair
    ends: Ends
    infinite: BoolArray
    drawn: RandomSample[TrainingTrials]
    deviations: tuple[Deviations, Deviations]

    @classmethod
    def of(cls, alpha: float, beta: float, memory: int | None, trials: TrainingTrials) -> FirstPass:
        """Process one batch, with a rule.

        Raises
        ------
        TrialError
            See `deciban.core.training.linear_objective.undecided`.
        """
        left, amounts = undecided(trials, alpha, beta)
        ends = [(np.min(one[:], initial=np.inf), np.max(one[:], initial=-np.inf)) for one in left.columns]
        infinite = np.array(trials.infinite_columns(), np.bool_)
        result = Ends.of([low for low, _ in ends], [high for _, high in ends])
        size = sample_size(DRAWN, memory, 2 * (1 + trials.n_columns))
        numbers = (*(left.columns if left.base is None else (left.base,)), left.is_target)  # identify each trial
        drawn = RandomSample.of(replace(left, reach=np.inf), 2, size, numbers)
        classes = [left.take(rows) for rows in (~left.is_target, left.is_target)]
        non, tar = (Deviations.of([np.asarray(x, np.float64) for x in own.columns], own.weights) for own in classes)
        return cls(amounts, left.amounts, result, infinite, drawn, (non, tar))


def _undecided(class_weights: Pair, rule: Pair, reach: float, trials: TrainingTrials) -> TrainingTrials:
    """Return the trials of a batch that are used in training."""
    left: TrainingTrials = undecided(trials, *rule)[0]
    return replace(left, class_weights=class_weights, reach=reach)


_CLASSES_DRAWN, _NUMBERS = 1 << 18, 1 << 24
"""Limits of trials of all classes, and of numbers, in the sample."""

Which: TypeAlias = Literal["undecided", "counted", "uncertain"]

_LEAST = 40
"""Minimum number of sampled trials of each class, if available."""


@dataclass(eq=False, kw_only=True)
class PartsOfClassTrials(Parts[multiclass_objective.CountedTrials], multiclass_objective.CountedClasses):
    """Multiclass trials in batches.

    Attributes
    ----------
    prior, is_possible, names
        See `CountedClasses`.
    memory : int or None
        Limit of memory in bytes; without it, the sample has its full size.
    """

    prior: FloatArray
    is_possible: BoolArray
    names: Names
    memory: int | None = None

    @property
    def amounts(self) -> FloatArray:
        """Number (or weight) of trials of each class."""
        return self.first.amounts.total

    @property
    def n_alike(self) -> int:
        """Number of trials if the first system gives all of them the same scores; else 0."""
        return self.first.n_left if self.first.alike[0] and not self.first.has_infinite else 0

    @property
    def may_be_infinite(self) -> bool:
        """True if some scores are infinite."""
        return self.first.has_infinite

    @property
    def left(self) -> ClassTrialsInParts:
        """The trials that infinite scores do not decide."""
        return self.undecided(offset=False)[0]

    @cached_property
    def first(self) -> FirstMulticlassPass:
        """Results of the first pass."""
        result: FirstMulticlassPass = self.each(partial(FirstMulticlassPass.of, self.memory))
        return result

    def undecided(self, *, offset: bool) -> tuple[ClassTrialsInParts, float]:
        """Return the undecided trials; see `deciban.core.training.multiclass_objective.CountedTrials.undecided`."""
        if self.first.has_infinite:
            multiclass_objective.require_rivals(self.first.rivals, self.called, offset=offset)
        left = self.selected("undecided")
        return left, float(left.class_weights @ self.first.costs.total)

    def selected(self, which: Which) -> ClassTrialsInParts:
        """Return some of the training trials."""
        first = self.first
        return ClassTrialsInParts(self, first, self.prior / first.amounts.total, np.ones(first.n_systems), which)


@dataclass(frozen=True, eq=False)
class ClassTrialsInParts(BatchedTraining):
    """Training trials in batches, with the same interface as `ClassTrials`.

    Attributes
    ----------
    trials : PartsOfClassTrials
    look : FirstMulticlassPass
    class_weights : (n_possible,) array
    factor : (n_systems,) array
        Factors of the scores.
    which : {"undecided", "counted", "uncertain"}
        Trials that infinite scores do not decide, all that count, or trials without a certain class.
    reach : float
        See `ClassTrials`.
    """

    trials: PartsOfClassTrials
    first: FirstMulticlassPass
    class_weights: FloatArray
    factor: FloatArray
    which: Which
    reach: float = np.inf

    def __len__(self) -> int:
        return self.first.n_left

    @property
    def n_systems(self) -> int:
        """Number of systems."""
        return self.first.n_systems

    @property
    def has_weights(self) -> bool:
        """True if trials have weights."""
        return self.few.has_weights

    @property
    def amounts(self) -> FloatArray:
        """Number (or weight) of these trials of each class."""
        return (self.first.left if self.which == "undecided" else self.first.amounts).total

    @property
    def alike(self) -> BoolArray:
        """True for systems that give all trials the same scores, (n_systems,)."""
        return self.first.alike

    @property
    def length(self) -> float:
        """Upper bound of the absolute values."""
        return float(np.max(self.first.reach * np.abs(self.factor)))

    def scaled(self, factor: FloatArray) -> ClassTrialsInParts:
        """Return the trials with the scores of each system multiplied by a factor, (n_systems,)."""
        return replace(self, factor=self.factor * factor)

    @cached_property
    def few(self) -> multiclass_objective.ClassTrials:
        """The sample, with class weights that make it represent all trials."""
        some = self.first.drawn.trials
        if np.any(self.factor != 1.0):
            some = some.scaled(self.factor)
        drawn = some.amounts
        stand_for = np.divide(self.amounts, drawn, out=np.ones(len(drawn)), where=drawn > 0.0)
        return replace(some, class_weights=self.class_weights * stand_for, reach=self.reach)

    @property
    def left_of(self) -> Left:
        """See `BatchedTraining`."""
        factor = self.factor if np.any(self.factor != 1.0) else None
        return partial(_selected, self.which, self.class_weights, factor, self.reach)


@dataclass(frozen=True, slots=True, eq=False)
class FirstMulticlassPass:
    """Results of the first pass.

    Attributes
    ----------
    amounts, left : Sums
        Number (or weight) of all trials of each class, (n_possible,), and of the undecided trials.
    costs : Sums
        Costs of the decided trials, (n_possible,), without class weights.
    n_left : int
    infinite : (n_systems,) bool array
        True for systems with infinite scores in trials that count.
    rivals : (n_possible, n_possible) bool array
        See `deciban.core.training.multiclass_objective.rivals_of`.
    reach : (n_systems,) array
        Largest absolute score of the undecided trials; may be infinite.
    row : (1, n_systems, n_possible) array
        Scores of one trial that counts.
    alike : (n_systems,) bool array
        True for systems that give all trials the scores in ``row``.
    drawn : RandomSample
    """

    amounts: Sums
    left: Sums
    costs: Sums
    n_left: int
    infinite: BoolArray
    rivals: BoolArray
    reach: FloatArray
    row: ScoreArray
    alike: BoolArray
    drawn: RandomSample[multiclass_objective.ClassTrials]

    @property
    def n_systems(self) -> int:
        """Number of systems."""
        return len(self.alike)

    @property
    def has_infinite(self) -> bool:
        """True if some system has infinite scores."""
        return bool(self.infinite.any())

    @classmethod
    def of(cls, memory: int | None, counted: multiclass_objective.CountedTrials) -> FirstMulticlassPass:
        """Process one batch.

        Raises
        ------
        TrialError
            If infinite scores rule out the true class.
        """
        trials, n = counted.trials, len(counted.prior)
        finite = np.array([all_finite(trials.systems[:, k]) for k in range(trials.n_systems)], np.bool_)
        left, costs = (trials, np.zeros(n)) if finite.all() else multiclass_objective.parted(counted)
        reach = np.max(np.abs(left.systems), axis=(0, 2), initial=0.0).astype(np.float64)
        total = sample_size(min(_CLASSES_DRAWN, _NUMBERS // (trials.n_systems * n)), memory, trials.n_systems * n)
        drawn = RandomSample.of(left, n, max(total // n, _LEAST), (left.systems, left.label))
        sums = Sums.of(trials.amounts), Sums.of(left.amounts), Sums.of(costs)
        rivals, alike = multiclass_objective.rivals_of(left), _alike(left.systems)
        return cls(*sums, len(left), ~finite, rivals, reach, left.systems[:1], alike, drawn)

    def __add__(self, other: FirstMulticlassPass) -> FirstMulticlassPass:
        """Merge with another batch."""
        rows = np.concatenate((self.row, other.row))
        return FirstMulticlassPass(
            self.amounts + other.amounts,
            self.left + other.left,
            self.costs + other.costs,
            self.n_left + other.n_left,
            self.infinite | other.infinite,
            self.rivals | other.rivals,
            np.maximum(self.reach, other.reach),
            rows[:1],
            self.alike & other.alike & _alike(rows),
            self.drawn + other.drawn,
        )


def _alike(systems: ScoreArray) -> BoolArray:
    """Return True for systems that give all of these trials the same scores."""
    return np.array([len(systems) < 2 or are_alike(systems[:, k]) for k in range(systems.shape[1])], np.bool_)


def _selected(
    which: Which,
    class_weights: FloatArray,
    factor: FloatArray | None,
    reach: float,
    counted: multiclass_objective.CountedTrials,
) -> multiclass_objective.ClassTrials:
    """Return the trials of a batch that are used in training."""
    left = counted.trials
    if which == "undecided" and not all_finite(left.systems):
        left = multiclass_objective.parted(counted)[0]
    elif which == "uncertain" and (certain := np.any(left.systems[:, 0] == np.inf, axis=1)).any():
        left = left.take(np.flatnonzero(~certain))
    left = left if factor is None else left.scaled(factor)
    return replace(left, class_weights=class_weights, reach=reach)
