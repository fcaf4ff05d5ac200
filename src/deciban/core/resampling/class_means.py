"""Influences of units on sums of class means: of costs of trials, each class with a mean of its own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deciban.core.resampling.rates import ClusterDesign, effective_numbers
from deciban.core.resampling.units import TrialUnits
from deciban.types import CountArray, FloatArray, IntArray

_TABLE = 1 << 20
"""Entries of a table of units and problems up to which it is filled; beyond, entries are sorted."""


@dataclass(frozen=True, eq=False)
class ClassMeans:
    """Trials, class by class, whose costs are averaged by class, and their units.

    The derivative of a sum of class means in the weight of a unit, which counts in all of its trials, is the sum over
    these of ``share * (cost - mean cost of the class)``: classes have as much weight as before, whatever a unit weighs.

    Sums of squares of such derivatives are too small by 1/m of what m units of a class add, as its mean is their own.
    For n units in all classes, ``n / (n - 1)`` makes up for that. Where a class has fewer, its costs are stretched, so
    that the same factor does.

    Attributes
    ----------
    share : (n_trials,) array
        What each trial contributes to the mean of its class.
    begins : (n_classes,) int array
        Where each class begins; none is empty. A group of classes is as many as have a mean of their own.
    units : TrialUnits
        Of the trials, one on each or two.
    """

    share: FloatArray
    begins: IntArray
    units: TrialUnits

    @classmethod
    def of(cls, label: IntArray, stratum: IntArray, weights: CountArray | None, units: TrialUnits) -> ClassMeans:
        """From trials that are sorted by class, and by what has a mean of its own within each.

        Parameters
        ----------
        label, stratum : (n_trials,) int arrays
            Of the class, whose shares sum to 1, and of what has a mean of its own.
        weights : (n_trials,) array, optional
            Positive.
        units : TrialUnits

        Examples
        --------
        >>> label = np.array([0, 0, 1, 1, 1, 1])
        >>> means = ClassMeans.of(label, label, None, TrialUnits.of(["a", "b", "a", "b", "b", "a"]))
        >>> means.by_unit(means.centred(np.array([[1.0, 0.0, 1.0, 0.0, 0.0, 0.0]])))
        array([[ 0.375, -0.375]])
        """
        own = np.ones(len(label)) if weights is None else weights.astype(np.float64)
        share = own / np.bincount(label, own)[label]
        return cls(share, np.flatnonzero(np.diff(stratum, prepend=-1)), units)

    @cached_property
    def lengths(self) -> IntArray:
        """Trials of each class."""
        return np.diff(self.begins, append=len(self.share))

    @cached_property
    def _entries(self) -> tuple[IntArray | None, IntArray]:
        """Positions of trials and units, an entry for each unit of a trial; no positions where each trial has one."""
        one = self.units.codes[0]
        if len(self.units.codes) == 1:
            return None, one
        other = self.units.codes[1]
        more = np.flatnonzero(one != other)
        return np.concatenate((np.arange(len(one)), more)), np.concatenate((one, other[more]))

    @cached_property
    def are_single(self) -> bool:
        """Whether no unit has two trials."""
        at, codes = self._entries
        return at is None and int(np.bincount(codes).max(initial=0)) <= 1

    @cached_property
    def n_units(self) -> int:
        """Number of units that have trials here."""
        return int(np.count_nonzero(np.bincount(self._entries[1])))

    @cached_property
    def stratum(self) -> IntArray:
        """Of each trial, the position of the class whose mean it is part of."""
        return np.repeat(np.arange(len(self.begins)), self.lengths)

    @cached_property
    def stretch(self) -> FloatArray:
        """By how much each trial counts more as its class has fewer units than there are: 1 where it has all."""
        n, own = self.n_units, self.units_in(self.stratum, len(self.begins)).astype(np.float64)
        factors = np.sqrt(np.divide(own * (n - 1), n * (own - 1), out=np.ones(len(own)), where=own > 1))
        return np.asarray(factors[self.stratum])

    def centred(self, costs: FloatArray) -> FloatArray:
        """Costs (..., n_trials), less the mean of the class, times share and stretch: derivatives in weights of trials.

        Costs that are alike throughout a class give 0 to the last digit.
        """
        return centred(costs, self.share, self.begins) * self.stretch

    def by_unit(self, centred: FloatArray) -> FloatArray:
        """Influences of all units, (n_figures, n_units), from `centred` costs (n_figures, n_trials)."""
        at, codes = self._entries
        rows = centred if at is None else centred[:, at]
        return np.array([np.bincount(codes, row, minlength=self.units.n_units) for row in rows])

    def squares(self, centred: FloatArray) -> FloatArray:
        """Sums of squares of the influences of all units, (n_figures,)."""
        if not self.are_single:
            return np.array([found @ found for row in centred for found in self.by_unit(row[None])])
        return np.asarray(np.einsum("fn,fn->f", centred, centred))

    def squares_apart(
        self, centred: FloatArray, problem: IntArray, n_problems: int, at: IntArray | None = None
    ) -> FloatArray:
        """The same of one figure for each of many problems, (n_problems,).

        Parameters
        ----------
        centred : (n,) array
        problem : (n,) int array
            Which problem each number is of.
        n_problems : int
        at : (n,) int array, optional
            Which trial each number is of; left out, all trials are in one problem each.
        """
        own = np.arange(len(centred)) if at is None else at
        unit = self.units.codes[0][own]
        if len(self.units.codes) > 1:
            other = self.units.codes[1][own]
            more = np.flatnonzero(unit != other)
            centred, problem = np.concatenate((centred, centred[more])), np.concatenate((problem, problem[more]))
            unit = np.concatenate((unit, other[more]))
        return sums_of_squares(centred, unit, problem, (self.units.n_units, n_problems), single=self.are_single)

    def units_in(self, problem: IntArray, n_problems: int) -> IntArray:
        """How many units have trials in each of the problems that trials are in, (n_problems,)."""
        at, codes = self._entries
        pairs = np.unique((problem if at is None else problem[at]).astype(np.int64) * self.units.n_units + codes)
        return np.bincount(pairs // max(self.units.n_units, 1), minlength=n_problems)

    def design(self, problem: IntArray, n_problems: int) -> ClusterDesign:
        """Return effective numbers of units of each class, (n_problems,), and of all."""
        at, codes = self._entries
        if self.are_single:
            counts = self.units_in(problem, n_problems)
            return ClusterDesign.of(self.n_units, counts.astype(np.float64), float(self.n_units))
        own, share = (problem, self.share) if at is None else (problem[at], self.share[at])
        pairs, place = np.unique(own.astype(np.int64) * self.units.n_units + codes, return_inverse=True)
        sums, of_class = np.bincount(place, share), pairs // self.units.n_units
        by_class, squares = (np.bincount(of_class, one, minlength=n_problems) for one in (sums, sums * sums))
        by_unit = np.bincount(codes, share)
        overall = float(effective_numbers(by_unit.sum(), by_unit @ by_unit))
        return ClusterDesign.of(self.n_units, effective_numbers(by_class, squares), overall)


def centred(costs: FloatArray, share: FloatArray, begins: IntArray) -> FloatArray:
    """Costs (..., n), less the mean of their run by shares, and times their shares; see `ClassMeans.centred`."""
    lengths = np.diff(begins, append=len(share))
    found = costs - np.repeat(costs[..., begins], lengths, axis=-1)
    sums = np.add.reduceat(found * share, begins, axis=-1)
    sums /= np.add.reduceat(share, begins)
    found -= np.repeat(sums, lengths, axis=-1)
    found *= share
    return np.asarray(found)


def sums_of_squares(
    values: FloatArray, unit: IntArray, problem: IntArray, shape: tuple[int, int], *, single: bool
) -> FloatArray:
    """Of each problem, the squares of the sums of the values of each unit, added up.

    Parameters
    ----------
    values : (n,) array
    unit, problem : (n,) int arrays
    shape : (int, int)
        How many units and problems there are.
    single : bool
        Whether no unit has two values in a problem.
    """
    n_units, n_problems = shape
    if single:
        return np.bincount(problem, values * values, minlength=n_problems).astype(np.float64, copy=False)
    pair = problem.astype(np.int64) * n_units + unit
    if n_units * n_problems <= _TABLE:
        sums = np.bincount(pair, values, minlength=n_units * n_problems).reshape(n_problems, n_units)
        return np.asarray(np.einsum("pu,pu->p", sums, sums))
    order = np.argsort(pair, kind="stable")
    begins = np.flatnonzero(np.diff(pair[order], prepend=-1))
    sums = np.add.reduceat(values[order], begins)
    return np.bincount(problem[order][begins], sums * sums, minlength=n_problems).astype(np.float64, copy=False)
