"""Influences of units on sums of class means: of costs of trials, each class with a mean of its own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deciban.core.resampling.class_design import ClusterDesign, Groups, Spread, UnitPairs, influence_factors
from deciban.core.resampling.units import TrialUnits
from deciban.types import CountArray, FloatArray, IntArray

_TABLE = 1 << 20
"""Entries of a table of units and problems up to which it is filled; beyond, entries are sorted."""


@dataclass(frozen=True, eq=False)
class ClassMeans:
    """Trials, class by class, whose costs are averaged by class, and their units.

    The derivative of a sum of class means in the weight of a unit, which counts in all of its trials, is the sum over
    these of ``share * (cost - mean cost of the class)``: classes have as much weight as before, whatever a unit weighs.
    Influences are these derivatives with the factors of `deciban.core.resampling.class_design.influence_factors`.

    Attributes
    ----------
    share : (n_trials,) array
        What each trial contributes to the mean of its class.
    begins : (n_classes,) int array
        Where each class begins; none is empty. A group of classes is as many as have a mean of their own.
    units : TrialUnits
        Of the trials, one on each or two.
    label : (n_trials,) int array
        The class of each.
    n_trials : (n_classes,) array
        How many there are; whole weights count several.
    """

    share: FloatArray
    begins: IntArray
    units: TrialUnits
    label: IntArray
    n_trials: FloatArray

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
        totals = np.bincount(label, own)
        is_whole = weights is not None and weights.dtype == np.int64
        n_trials = np.asarray(totals if is_whole else np.bincount(label), np.float64)
        return cls(own / totals[label], np.flatnonzero(np.diff(stratum, prepend=-1)), units, label, n_trials)

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
    def pairs(self) -> UnitPairs:
        """Pairs of strata and units of which there are trials; where each trial is a unit by itself, the trials."""
        return self._pairs[0]

    @cached_property
    def _pairs(self) -> tuple[UnitPairs, IntArray | None]:
        """The pairs, and that of each entry; None where entries are pairs."""
        at, codes = self._entries
        stratum, label = (own if at is None else own[at] for own in (self.stratum, self.label))
        share = self.share if at is None else self.share[at]
        place = None
        if not self.are_single:
            key = stratum.astype(np.int64) * self.units.n_units + codes
            known, first, place = np.unique(key, return_index=True, return_inverse=True)
            share = np.asarray(np.bincount(place, share), np.float64)
            stratum = stratum[first]
            label, codes = label[first], known % self.units.n_units
        whole = np.add.reduceat(self.share, self.begins)
        seen = np.bincount(stratum, minlength=len(self.begins)).astype(np.float64)
        factor = influence_factors(stratum, share / whole[stratum], seen, self.n_units)
        return UnitPairs(label, codes, factor, self.units.n_units), place

    def factors(self, side: int) -> FloatArray:
        """Return the factors of the influences of the units on a side of the trials, (n_trials,)."""
        pairs, place = self._pairs
        if place is None:
            return pairs.factor
        n, found = len(self.share), np.zeros(len(self.share))
        if side == 0:
            return np.asarray(pairs.factor[place[:n]])
        more = np.flatnonzero(self.units.codes[0] != self.units.codes[1])
        found[more] = pairs.factor[place[n:]]
        return found

    def centred(self, costs: FloatArray) -> FloatArray:
        """Costs (..., n_trials), less the mean of the class, times share: derivatives in weights of trials.

        Costs that are alike throughout a class give 0 to the last digit.
        """
        return centred(costs, self.share, self.begins)

    def sums_by_unit(self, values: FloatArray) -> FloatArray:
        """Sums over the trials of each unit, (n_rows, n_units), of values (n_rows, n_trials); without factors."""
        at, codes = self._entries
        rows = values if at is None else values[:, at]
        return np.array([np.bincount(codes, row, minlength=self.units.n_units) for row in rows])

    def by_pair(self, centred: FloatArray) -> FloatArray:
        """Influences of units through strata, (n_figures, n_pairs), from `centred` costs (n_figures, n_trials)."""
        pairs, place = self._pairs
        at = self._entries[0]
        if place is None:
            return centred * pairs.factor
        rows = centred if at is None else centred[:, at]
        n = len(pairs.unit)
        return np.array([np.bincount(place, row, minlength=n) for row in rows]) * pairs.factor

    def by_unit(self, centred: FloatArray) -> FloatArray:
        """Influences of all units, (n_figures, n_units), from `centred` costs (n_figures, n_trials)."""
        return self.pairs.by_unit(self.by_pair(centred))

    def squares(self, centred: FloatArray) -> FloatArray:
        """Sums of squares of the influences of all units, (n_figures,)."""
        return self.pairs.squares(self.by_pair(centred), self.apart)[0]

    @property
    def apart(self) -> Groups:
        """Each class by itself."""
        return Groups.apart(len(self.n_trials))

    def spread(self, costs: FloatArray, groups: Groups) -> Spread:
        """Return how sums of means of costs (n_figures, n_trials) vary, group by group of classes."""
        own, n_groups = self.centred(costs), len(groups)
        total, by_group = self.pairs.squares(self.by_pair(own), groups)
        group = groups.of_class[self.label]
        some = np.flatnonzero(group >= 0)
        at, share, n = group[some], self.share[some], self.n_trials[self.label[some]]
        means = [np.bincount(at, share * row[some], minlength=n_groups) for row in costs]
        alone = [np.bincount(at, row[some] ** 2 / (share * n), minlength=n_groups) for row in own]
        return Spread(total, by_group, np.array(means), np.array(alone))

    def squares_apart(self, centred: FloatArray, problem: IntArray, n_problems: int, at: IntArray) -> FloatArray:
        """Squares of the influences of all units on one figure for each of many problems, (n_problems,).

        Parameters
        ----------
        centred : (n,) array
        problem : (n,) int array
            Which problem each number is of.
        n_problems : int
        at : (n,) int array
            Which trial each number is of.
        """
        unit, values = self.units.codes[0][at], centred * self.factors(0)[at]
        if len(self.units.codes) > 1:
            other = self.units.codes[1][at]
            more = np.flatnonzero(unit != other)
            values = np.concatenate((values, centred[more] * self.factors(1)[at[more]]))
            problem, unit = np.concatenate((problem, problem[more])), np.concatenate((unit, other[more]))
        return sums_of_squares(values, unit, problem, (self.units.n_units, n_problems), single=self.are_single)

    @cached_property
    def design(self) -> ClusterDesign:
        """Sizes of the classes, and how far they have the same units."""
        at, codes = self._entries
        label, share = (self.label, self.share) if at is None else (self.label[at], self.share[at])
        shape = len(self.n_trials), self.units.n_units
        return ClusterDesign.of(label, codes, share, shape, self.n_trials)


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
