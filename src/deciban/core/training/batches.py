"""Trials of two classes or of many that do not fit in memory: they are looked at part by part, in order or at once.

The first look goes through all of them. It finds how much each class counts, between which ends scores lie, what
infinite ones decide, and draws a sample; the sample tells nearly where the optimum is. The others are the looks of the
search itself: value, gradient and Hessian, each of a part, by the very objective of trials in memory.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal, TypeAlias

import numpy as np

from deciban._validate.arrays import all_finite
from deciban._validate.classes import Names
from deciban.core.by_value import Additive
from deciban.core.classes.certainty import CountedClasses, CountedTrials, parted, require_rivals, rivals_of
from deciban.core.classes.loglik import are_alike
from deciban.core.training.linear_objective import Trials
from deciban.core.training.multiclass_objective import ClassTrials
from deciban.core.training.separation import Amounts, Pair, undecided
from deciban.core.training.sums import Deviations, Drawn, Ends, Left, LooksAtParts, Parts, Sums, sample_size
from deciban.types import BoolArray, FloatArray, ScoreArray

DRAWN = 1 << 17
"""Trials of each class that the sample holds, if there are so many."""


@dataclass(eq=False)
class PartsOfTrials(Parts[Trials]):
    """Trials of two classes in parts.

    Attributes
    ----------
    memory : int or None
        Bytes that may be taken; left out, the sample is as large as it is good for.
    """

    memory: int | None = None

    _infinite: BoolArray | None = None
    _first: tuple[Pair, FirstLook] | None = None

    def undecided(self, alpha: float, beta: float) -> tuple[TrialsInParts, Amounts]:
        """Have a first look, once; see `deciban.core.training.separation.undecided`."""
        if self._first is None or self._first[0] != (alpha, beta):
            self._first = (alpha, beta), self.each(partial(FirstLook.of, alpha, beta, self.memory))
        found = self._first[1]
        self._infinite = found.infinite
        return TrialsInParts(self, found, (0.0, 0.0), (alpha, beta)), found.amounts

    def infinite_columns(self) -> list[bool]:
        """Which columns have infinite scores in trials that count, once trained on."""
        return [] if self._infinite is None else self._infinite.tolist()


@dataclass(frozen=True, eq=False)
class TrialsInParts(LooksAtParts):
    """Trials to train on, in parts: what is asked of `Trials` as a whole.

    Attributes
    ----------
    given : PartsOfTrials
    first : FirstLook
    class_weights : (float, float)
    rule : (float, float)
        By which infinite scores are looked at: its alpha and beta.
    """

    given: PartsOfTrials
    first: FirstLook
    class_weights: Pair
    rule: Pair

    def __len__(self) -> int:
        return sum(self.first.amounts.left)

    @property
    def n_columns(self) -> int:
        """How many columns there are."""
        return self.few.n_columns

    @property
    def kinds(self) -> tuple[Any, ...]:
        """The type of the numbers of each column."""
        return self.few.kinds

    @property
    def has_base(self) -> bool:
        """Whether something is added to the llr as it is."""
        return self.few.has_base

    @property
    def amounts(self) -> Pair:
        """How much non-targets and targets count that infinite scores do not decide."""
        return self.first.undecided

    @property
    def reach(self) -> float:
        """No score is farther from 0."""
        ends = self.first.ends
        return float(max(np.max(np.abs(ends.low), initial=0.0), np.max(np.abs(ends.high), initial=0.0)))

    @cached_property
    def few(self) -> Trials:
        """The sample, with class weights that make it stand for all."""
        some = self.first.drawn.trials
        shares = zip(self.class_weights, self.amounts, some.amounts, strict=True)
        non, tar = (weight * all_of_them / drawn for weight, all_of_them, drawn in shares)
        return replace(some, class_weights=(non, tar))

    @property
    def left_of(self) -> Left:
        """See `LooksAtParts`."""
        return partial(_undecided, self.class_weights, self.rule, self.reach)


@dataclass(frozen=True, slots=True, eq=False)
class FirstLook(Additive):
    """What a first look finds.

    Attributes
    ----------
    amounts : Amounts
    undecided : (float, float)
        How much the trials count that infinite scores do not decide.
    ends : Ends
        Of the scores of each column in these.
    infinite : (n_columns,) bool array
        Whether a trial that counts has an infinite score.
    drawn : Drawn
    deviations : pair of Deviations
        Of the scores of non-targets and of targets in these.
    """

    amounts: Amounts
    undecided: Pair
    ends: Ends
    infinite: BoolArray
    drawn: Drawn[Trials]
    deviations: tuple[Deviations, Deviations]

    @classmethod
    def of(cls, alpha: float, beta: float, memory: int | None, trials: Trials) -> FirstLook:
        """Look at one part, by a rule.

        Raises
        ------
        TrialError
            As `deciban.core.training.separation.undecided`.
        """
        left, amounts = undecided(trials, alpha, beta)
        ends = [(np.min(one[:], initial=np.inf), np.max(one[:], initial=-np.inf)) for one in left.columns]
        infinite = np.array(trials.infinite_columns(), np.bool_)
        found = Ends.of([low for low, _ in ends], [high for _, high in ends])
        size = sample_size(DRAWN, memory, 2 * (1 + trials.n_columns))
        drawn = Drawn.of(replace(left, reach=np.inf), 2, size, _numbers(left))
        non, tar = (_deviations(left, rows) for rows in (~left.is_target, left.is_target))
        return cls(amounts, left.amounts, found, infinite, drawn, (non, tar))


def _deviations(trials: Trials, rows: BoolArray) -> Deviations:
    """Those of the trials of one class."""
    weights = None if trials.weights is None else trials.weights[rows]
    return Deviations.of([np.asarray(one[:], np.float64)[rows] for one in trials.columns], weights)


def _numbers(trials: Trials) -> tuple[Any, ...]:
    """What tells these trials from others."""
    return (*trials.columns, trials.is_target) if trials.base is None else (trials.base, trials.is_target)


def _undecided(class_weights: Pair, rule: Pair, reach: float, trials: Trials) -> Trials:
    """Return those trials of a part that are trained on."""
    left: Trials = undecided(trials, *rule)[0]
    return replace(left, class_weights=class_weights, reach=reach)


_CLASSES_DRAWN, _NUMBERS = 1 << 18, 1 << 24
"""Trials of all classes that the sample holds, and how many numbers at most."""

Which: TypeAlias = Literal["undecided", "counted", "uncertain"]

_LEAST = 40
"""Trials of each class that it holds, if there are so many."""


@dataclass(eq=False, kw_only=True)
class PartsOfClassTrials(Parts[CountedTrials], CountedClasses):
    """Trials of many classes in parts.

    Attributes
    ----------
    prior, is_possible, names
        As of `CountedClasses`.
    memory : int or None
        Bytes that may be taken; left out, the sample is as large as it is good for.
    """

    prior: FloatArray
    is_possible: BoolArray
    names: Names
    memory: int | None = None

    @property
    def amounts(self) -> FloatArray:
        """How much the trials of each class count."""
        return self.first.amounts.total

    @property
    def n_alike(self) -> int:
        """Number of trials if the first system scores all of them alike; else 0."""
        return self.first.n_left if self.first.alike[0] and not self.first.has_infinite else 0

    @property
    def may_be_infinite(self) -> bool:
        """Return True if some scores are infinite."""
        return self.first.has_infinite

    @property
    def left(self) -> ClassTrialsInParts:
        """The trials that infinite scores do not decide."""
        return self.undecided(offset=False)[0]

    @cached_property
    def first(self) -> FirstClassLook:
        """What the first look finds."""
        found: FirstClassLook = self.each(partial(FirstClassLook.of, self.memory))
        return found

    def undecided(self, *, offset: bool) -> tuple[ClassTrialsInParts, float]:
        """See `deciban.core.classes.certainty.CountedTrials.undecided`."""
        if self.first.has_infinite:
            require_rivals(self.first.rivals, self.called, offset=offset)
        left = self.selected("undecided")
        return left, float(left.class_weights @ self.first.costs.total)

    def selected(self, which: Which) -> ClassTrialsInParts:
        """Return some of the trials to train on."""
        first = self.first
        return ClassTrialsInParts(self, first, self.prior / first.amounts.total, np.ones(first.n_systems), which)


@dataclass(frozen=True, eq=False)
class ClassTrialsInParts(LooksAtParts):
    """Trials to train on, in parts: what is asked of `ClassTrials` as a whole.

    Attributes
    ----------
    given : PartsOfClassTrials
    look : FirstClassLook
    class_weights : (n_possible,) array
    factor : (n_systems,) array
        By which scores are multiplied.
    which : {"undecided", "counted", "uncertain"}
        Trials that infinite scores do not decide, all that count, or those in which no class is certain.
    reach : float
        As of `ClassTrials`.
    """

    given: PartsOfClassTrials
    first: FirstClassLook
    class_weights: FloatArray
    factor: FloatArray
    which: Which
    reach: float = np.inf

    def __len__(self) -> int:
        return self.first.n_left

    @property
    def n_systems(self) -> int:
        """How many systems there are."""
        return self.first.n_systems

    @property
    def has_weights(self) -> bool:
        """Whether trials count differently."""
        return self.few.has_weights

    @property
    def amounts(self) -> FloatArray:
        """How much these trials count, class by class."""
        return (self.first.left if self.which == "undecided" else self.first.amounts).total

    @property
    def alike(self) -> BoolArray:
        """Which systems score all trials in the same way, (n_systems,)."""
        return self.first.alike

    @property
    def length(self) -> float:
        """A bound of the size of all numbers."""
        return float(np.max(self.first.reach * np.abs(self.factor)))

    def scaled(self, factor: FloatArray) -> ClassTrialsInParts:
        """The same with the scores of each system multiplied, (n_systems,)."""
        return replace(self, factor=self.factor * factor)

    @cached_property
    def few(self) -> ClassTrials:
        """The sample, with class weights that make it stand for all."""
        some = self.first.drawn.trials
        if np.any(self.factor != 1.0):
            some = some.scaled(self.factor)
        drawn = some.amounts
        stand_for = np.divide(self.amounts, drawn, out=np.ones(len(drawn)), where=drawn > 0.0)
        return replace(some, class_weights=self.class_weights * stand_for, reach=self.reach)

    @property
    def left_of(self) -> Left:
        """See `LooksAtParts`."""
        factor = self.factor if np.any(self.factor != 1.0) else None
        return partial(_selected, self.which, self.class_weights, factor, self.reach)


@dataclass(frozen=True, slots=True, eq=False)
class FirstClassLook:
    """What a first look finds.

    Attributes
    ----------
    amounts, left : Sums
        How much the trials of each class count, (n_possible,); and those that infinite scores do not decide.
    costs : Sums
        What the others cost, (n_possible,), without class weights.
    n_left : int
    infinite : (n_systems,) bool array
        Which systems have infinite scores in trials that count.
    rivals : (n_possible, n_possible) bool array
        See `deciban.core.classes.certainty.rivals_of`.
    reach : (n_systems,) array
        No score of these is farther from 0; infinite if one is.
    row : (1, n_systems, n_possible) array
        Scores of a trial that counts.
    alike : (n_systems,) bool array
        Which systems score all trials like it.
    drawn : Drawn
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
    drawn: Drawn[ClassTrials]

    @property
    def n_systems(self) -> int:
        """How many systems there are."""
        return len(self.alike)

    @property
    def has_infinite(self) -> bool:
        """Return True if some system has infinite scores."""
        return bool(self.infinite.any())

    @classmethod
    def of(cls, memory: int | None, counted: CountedTrials) -> FirstClassLook:
        """Look at one part.

        Raises
        ------
        TrialError
            If infinite scores rule out the true class.
        """
        trials, n = counted.trials, len(counted.prior)
        finite = np.array([all_finite(trials.systems[:, k]) for k in range(trials.n_systems)], np.bool_)
        left, costs = (trials, np.zeros(n)) if finite.all() else parted(counted)
        reach = np.max(np.abs(left.systems), axis=(0, 2), initial=0.0).astype(np.float64)
        total = sample_size(min(_CLASSES_DRAWN, _NUMBERS // (trials.n_systems * n)), memory, trials.n_systems * n)
        drawn = Drawn.of(left, n, max(total // n, _LEAST), (left.systems, left.label))
        sums = Sums.of(trials.amounts), Sums.of(left.amounts), Sums.of(costs)
        infinite, rivals, row, alike = ~finite, rivals_of(left), left.systems[:1], _alike(left.systems)
        return cls(*sums, len(left), infinite, rivals, reach, row, alike, drawn)

    def __add__(self, other: FirstClassLook) -> FirstClassLook:
        """Look at both."""
        rows = np.concatenate((self.row, other.row))
        return FirstClassLook(
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
    """Which systems score all of these trials in the same way."""
    return np.array([len(systems) < 2 or are_alike(systems[:, k]) for k in range(systems.shape[1])], np.bool_)


def _selected(
    which: Which, class_weights: FloatArray, factor: FloatArray | None, reach: float, counted: CountedTrials
) -> ClassTrials:
    """Return those trials of a part that are trained on."""
    left = counted.trials
    if which == "undecided" and not all_finite(left.systems):
        left = parted(counted)[0]
    elif which == "uncertain" and (certain := np.any(left.systems[:, 0] == np.inf, axis=1)).any():
        left = left.take(np.flatnonzero(~certain))
    left = left if factor is None else left.scaled(factor)
    return replace(left, class_weights=class_weights, reach=reach)
