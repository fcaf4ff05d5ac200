"""Trials of two classes that do not fit in memory: parts of them are looked at one after the other, or side by side.

The first look goes through all of them. It finds how much each class counts, between which ends the scores of a column
lie, what infinite ones decide, and draws a sample; the sample tells nearly where the optimum is. The others are the
looks of the search itself: value, gradient and Hessian, each of a part, by the very objective of trials in memory.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from deciban.core.training.drawn import Drawn, sample_size
from deciban.core.training.linear_objective import Trials
from deciban.core.training.separation import Amounts, Pair, undecided
from deciban.core.training.sums import Deviations, Ends, LooksAtParts, Parts
from deciban.types import BoolArray

DRAWN = 1 << 17
"""Trials of each class that the sample holds, if there are so many."""


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
            self._first = (alpha, beta), self.each(_Taken(alpha, beta, self.memory))
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
    def has_weights(self) -> bool:
        """Whether trials count differently."""
        return self.few.has_weights

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
    def left_of(self) -> _Undecided:
        """See `HasParts`."""
        return _Undecided(self.class_weights, self.rule, self.reach)


@dataclass(frozen=True, slots=True, eq=False)
class FirstLook:
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
    def of(cls, trials: Trials, alpha: float, beta: float, size: int = DRAWN) -> FirstLook:
        """Look at one part.

        Raises
        ------
        TrialError
            As `deciban.core.training.separation.undecided`.
        """
        left, amounts = undecided(trials, alpha, beta)
        ends = [(np.min(one[:], initial=np.inf), np.max(one[:], initial=-np.inf)) for one in left.columns]
        infinite = np.array(trials.infinite_columns(), np.bool_)
        found = Ends.of([low for low, _ in ends], [high for _, high in ends])
        drawn = Drawn.of(replace(left, reach=np.inf), 2, size, _numbers(left))
        non, tar = (_deviations(left, rows) for rows in (~left.is_target, left.is_target))
        return cls(amounts, left.amounts, found, infinite, drawn, (non, tar))

    def __add__(self, other: FirstLook) -> FirstLook:
        """Look at both."""
        (a, b), (c, d) = self.undecided, other.undecided
        infinite = self.infinite | other.infinite
        drawn = self.drawn + other.drawn
        (non, tar), (others, more) = self.deviations, other.deviations
        apart = non + others, tar + more
        return FirstLook(self.amounts + other.amounts, (a + c, b + d), self.ends + other.ends, infinite, drawn, apart)


def _deviations(trials: Trials, rows: BoolArray) -> Deviations:
    """Those of the trials of one class."""
    weights = None if trials.weights is None else trials.weights[rows]
    return Deviations.of([np.asarray(one[:], np.float64)[rows] for one in trials.columns], weights)


def _numbers(trials: Trials) -> tuple[Any, ...]:
    """What tells these trials from others."""
    return (*trials.columns, trials.is_target) if trials.base is None else (trials.base, trials.is_target)


@dataclass(frozen=True, slots=True)
class _Taken:
    """The first look, by a rule."""

    alpha: float
    beta: float
    memory: int | None = None

    def __call__(self, trials: Trials) -> FirstLook:
        size = sample_size(DRAWN, self.memory, 2 * (1 + trials.n_columns))
        return FirstLook.of(trials, self.alpha, self.beta, size)


@dataclass(frozen=True, slots=True)
class _Undecided:
    """Makes of a part the trials that are to be trained on."""

    class_weights: Pair
    rule: Pair
    reach: float

    def __call__(self, trials: Trials) -> Trials:
        left, _ = undecided(trials, *self.rule)
        return replace(left, class_weights=self.class_weights, reach=self.reach)
