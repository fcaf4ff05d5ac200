"""Trials of two classes to train weights and an offset on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from deciban.core.resampling.units import TrialUnits
from deciban.core.training.blocks import length_bound
from deciban.core.training.sums import F
from deciban.types import BoolArray, FloatArray, IntArray, ScoreArray


class Column(Protocol):
    """The scores of one system, or anything else with one number per trial that comes in slices."""

    def __getitem__(self, rows: Any, /) -> Any:
        """The numbers of some trials."""


@dataclass(frozen=True, eq=False)
class Trials:
    """Trials to train on.

    Attributes
    ----------
    columns : tuple of (n_trials,) arrays
        One for each parameter but the offset; finite.
    is_target : (n_trials,) bool array
    class_weights : (float, float)
        What a non-target and a target trial of weight 1 contribute: ``(1-p) / n_non`` and ``p / n_tar``.
    weights : (n_trials,) array, optional
        Weight of each trial.
    base : (n_trials,) array, optional
        What is added to the llr as it is.
    matrix : (n_trials, n_columns) array, optional
        All columns, if the rows lie together in memory.
    reach : float
        No score is farther from 0; infinite if that is not known.
    """

    columns: tuple[Column, ...]
    is_target: BoolArray
    class_weights: tuple[float, float]
    weights: FloatArray | None = None
    base: Column | None = None
    matrix: ScoreArray | None = None
    reach: float = np.inf

    @classmethod
    def of(
        cls,
        columns: Sequence[Column] | ScoreArray,
        is_target: BoolArray,
        *,
        weights: FloatArray | None = None,
        base: Column | None = None,
        reach: float = np.inf,
    ) -> Trials:
        """Trials from columns, or from a matrix of them; without class weights yet."""
        matrix = None
        if isinstance(columns, np.ndarray):
            matrix = columns if columns.flags.c_contiguous and columns.shape[1] > 1 else None
            columns = tuple(columns.T)
        if not reach < np.inf:
            arrays = tuple(columns) if matrix is None else (matrix,)
            reach = max((length_bound(array) for array in arrays), default=np.inf)
        return cls(tuple(columns), is_target, (0.0, 0.0), weights, base, matrix, reach)

    def __len__(self) -> int:
        return len(self.is_target)

    @property
    def n_columns(self) -> int:
        """How many columns there are."""
        return len(self.columns)

    @property
    def truth(self) -> BoolArray:
        """The class of each trial."""
        return self.is_target

    def joined(self, other: Trials) -> Trials:
        """These and others, with the same class weights."""

        def both(a: Any, b: Any) -> Any:
            return None if a is None else np.concatenate((a[:], b[:]))

        columns = tuple(map(both, self.columns, other.columns))
        rest = {name: both(getattr(self, name), getattr(other, name)) for name in ("is_target", "weights", "base")}
        return replace(self, columns=columns, matrix=None, **rest)

    @property
    def size(self) -> int:
        """How many there are: what decides on the way of a search."""
        return len(self)

    @property
    def kinds(self) -> tuple[Any, ...]:
        """The type of the numbers of each column."""
        return tuple(np.asarray(column[:1]).dtype for column in self.columns)

    @property
    def has_base(self) -> bool:
        """Whether something is added to the llr as it is."""
        return self.base is not None

    @property
    def has_weights(self) -> bool:
        """Whether trials count differently."""
        return self.weights is not None

    def infinite_columns(self) -> list[bool]:
        """Which columns have infinite scores in trials that count."""
        if self.reach < np.inf:
            return [False] * self.n_columns
        counting: Any = True if self.weights is None else self.weights > 0.0
        return [bool((np.isinf(np.asarray(column[:])) & counting).any()) for column in self.columns]

    def each(self, look: Callable[[Trials], F]) -> F:
        """What a look at all of them finds; it can be sent to where trials are that do not fit in memory."""
        return look(self)

    def each_by_unit(self, look: Callable[[Trials, TrialUnits], F], units: TrialUnits) -> F:
        """What a look at all of them with their units finds."""
        return look(self, units)

    @property
    def amounts(self) -> tuple[float, float]:
        """How much non-targets and targets count, without class weights."""
        return amount(~self.is_target, self.weights), amount(self.is_target, self.weights)

    def stand_ins(self, few: Trials) -> FloatArray:
        """For how many of these trials each of a sample of them stands."""
        non, tar = (drawn / own for drawn, own in zip(few.class_weights, self.class_weights, strict=True))
        return np.where(few.is_target, tar, non)

    def take(self, rows: IntArray | BoolArray | slice) -> Trials:
        """Some of the trials, with the same class weights."""
        matrix = None if self.matrix is None else self.matrix[rows]
        return replace(
            self,
            columns=tuple(np.asarray(column[rows]) for column in self.columns) if matrix is None else tuple(matrix.T),
            is_target=self.is_target[rows],
            weights=None if self.weights is None else self.weights[rows],
            base=None if self.base is None else np.asarray(self.base[rows]),
            matrix=matrix,
        )


NO_TRIALS = Trials((), np.zeros(0, np.bool_), (0.0, 0.0))
"""In place of trials that are elsewhere."""


def amount(rows: BoolArray, weights: FloatArray | None) -> float:
    """How much some of the trials count."""
    return float(np.count_nonzero(rows)) if weights is None else float(weights[rows].sum())
