"""Influences of units on sums of class means, summed up over parts of the trials: what `ClassMeans` is of all of them.

The influence of a unit is the sum over its trials of ``share * stretch * (cost - mean cost of the class)``. Means are
known when all trials were there; until then costs are taken about a centre, which is the same for all parts. Costs
that are alike throughout a class are alike to the centre, and give 0 to the last digit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from deciban.core.classes.counts import tally
from deciban.core.resampling.rates import ClusterDesign, effective_numbers
from deciban.core.resampling.units import TrialUnits
from deciban.types import CountArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class StratumWeights:
    """How much trials count; ``a + b`` is how much those of both do.

    Attributes
    ----------
    n_trials : (n_strata,) int array
        Trials of what has a mean of its own: a class, or one of the classes of a group.
    totals, squares : (n_strata,) arrays
        Sums of their weights, and of squares of weights.
    by_unit : (n_strata, n_units) array or None
        Sums of the weights of the trials of each unit; None where every trial is a unit by itself.
    """

    n_trials: IntArray
    totals: FloatArray
    squares: FloatArray
    by_unit: FloatArray | None

    @classmethod
    def of(
        cls, stratum: IntArray, n_strata: int, weights: CountArray | None, units: TrialUnits | None
    ) -> StratumWeights:
        """From trials that count; units are those of all trials."""
        own = np.ones(len(stratum)) if weights is None else weights.astype(np.float64)
        by_unit = None
        if units is not None:
            by_unit = np.zeros((n_strata, units.n_units))
            at, codes = entries_of(units)
            some = slice(None) if at is None else at
            np.add.at(by_unit, (stratum[some], codes), own[some])
        totals, squares = (np.bincount(stratum, w, minlength=n_strata).astype(np.float64) for w in (own, own * own))
        return cls(np.bincount(stratum, minlength=n_strata), totals, squares, by_unit)

    def __add__(self, other: StratumWeights) -> StratumWeights:
        """Those of the trials of both."""
        by_unit = None if self.by_unit is None or other.by_unit is None else self.by_unit + other.by_unit
        names = ("n_trials", "totals", "squares")
        return replace(self, by_unit=by_unit, **{name: getattr(self, name) + getattr(other, name) for name in names})


def entries_of(units: TrialUnits) -> tuple[IntArray | None, IntArray]:
    """Positions of trials and units, an entry for each unit of a trial; no positions where each trial has one."""
    one = units.codes[0]
    if len(units.codes) == 1:
        return None, one
    other = units.codes[1]
    more = np.flatnonzero(one != other)
    return np.concatenate((np.arange(len(one)), more)), np.concatenate((one, other[more]))


@dataclass(frozen=True, eq=False)
class UnitDesign:
    """Which units have trials of which classes, and what a trial contributes.

    Attributes
    ----------
    home : (n_strata,) int array
        The class of each stratum.
    n_classes : int
    weights : StratumWeights
        Of all trials.
    """

    home: IntArray
    n_classes: int
    weights: StratumWeights

    @cached_property
    def n_units(self) -> int:
        """Number of units that have trials."""
        by_unit = self.weights.by_unit
        return int(self.weights.n_trials.sum() if by_unit is None else np.count_nonzero(by_unit.any(axis=0)))

    @cached_property
    def seen(self) -> IntArray:
        """Units that have trials of each class, (n_classes,)."""
        by_unit = self.weights.by_unit
        if by_unit is None:
            return np.asarray(tally(self.home, self.n_classes, self.weights.n_trials))
        own = [by_unit[self.home == k].any(axis=0) for k in range(self.n_classes)]
        return np.array([np.count_nonzero(one) for one in own])

    @cached_property
    def clusters(self) -> ClusterDesign:
        """Effective numbers of units of each class, and of all."""
        by_unit = self.weights.by_unit
        if by_unit is None:
            return ClusterDesign.of(self.n_units, self.seen.astype(np.float64), float(self.n_units))
        of_class = np.stack([by_unit[self.home == k].sum(axis=0) for k in range(self.n_classes)])
        shares = of_class / np.maximum(of_class.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        own = shares.sum(axis=0)
        overall = float(effective_numbers(own.sum(), own @ own))
        numbers = effective_numbers(shares.sum(axis=1), np.einsum("cu,cu->c", shares, shares))
        return ClusterDesign.of(self.n_units, numbers, overall)

    @cached_property
    def factor(self) -> FloatArray:
        """Share and stretch of a trial of weight 1, by stratum: see `ClassMeans`."""
        by_unit, n = self.weights.by_unit, self.n_units
        own = (self.weights.n_trials if by_unit is None else (by_unit > 0).sum(axis=1)).astype(np.float64)
        stretch = np.sqrt(np.divide(own * (n - 1), n * (own - 1), out=np.ones(len(own)), where=own > 1))
        return np.asarray(stretch / np.bincount(self.home, self.weights.totals)[self.home])


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """What some trials of a block cost.

    Attributes
    ----------
    figures : (n_rows,) int array
        Positions of figures.
    trials : slice
        Which trials of the block.
    costs : (n_rows, n_trials) array
    """

    figures: IntArray
    trials: slice
    costs: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Trials that count, in the order of their strata within each class.

    Attributes
    ----------
    stratum : (n_trials,) int array
    weights : (n_trials,) array or None
    units : TrialUnits or None
        None where every trial is a unit.
    """

    stratum: IntArray
    weights: CountArray | None
    units: TrialUnits | None

    def runs(self, trials: slice) -> tuple[IntArray, IntArray]:
        """Where strata begin among some trials, and which they are."""
        own = self.stratum[trials]
        begins = np.flatnonzero(np.diff(own, prepend=-1))
        return begins, own[begins]


def centre_of(parts: list[Part], block: Block, shape: tuple[int, int]) -> FloatArray:
    """Means of costs of each figure and stratum, (n_figures, n_strata), over the trials of a block."""
    found = np.zeros(shape)
    for part in parts:
        begins, strata = block.runs(part.trials)
        lengths = np.diff(begins, append=part.costs.shape[1])
        first = part.costs[:, begins]
        means = np.add.reduceat(part.costs - np.repeat(first, lengths, axis=1), begins, axis=1) / lengths
        found[part.figures[:, None], strata] = first + means
    return found


class CostSums(ABC):
    """What influences are made of, summed up over blocks of trials.

    Parameters
    ----------
    centre : (n_figures, n_strata) array
        About which costs are summed up.
    factor : (n_strata,) array
        See `UnitDesign`.
    n_units : int
        Of all; 0 where every trial is a unit.

    Attributes
    ----------
    most : (n_figures,) array
        The largest cost of a trial.
    """

    def __init__(self, centre: FloatArray, factor: FloatArray, n_units: int) -> None:
        self.given = centre, factor, n_units
        self.centre, self.factor = centre, factor
        self.most = np.zeros(len(centre))

    @staticmethod
    def empty(centre: FloatArray, factor: FloatArray, n_units: int) -> CostSums:
        """Without a trial."""
        return (BySegment if n_units == 0 else ByUnit)(centre, factor, n_units)

    @abstractmethod
    def add(self, part: Part, block: Block) -> None:
        """Add what trials of a block cost."""

    @abstractmethod
    def _sums(self) -> tuple[FloatArray, ...]:
        """What adds up."""

    def merge(self, other: CostSums) -> None:
        """Add what the trials of another one cost, about the same centre."""
        for mine, theirs in zip(self._sums(), other._sums(), strict=True):
            np.add(mine, theirs, out=mine)
        np.maximum(self.most, other.most, out=self.most)

    def _about_centre(self, part: Part, block: Block) -> FloatArray:
        np.maximum.at(self.most, part.figures, np.abs(part.costs).max(axis=1, initial=0.0))
        return np.asarray(part.costs - self.centre[part.figures[:, None], block.stratum[part.trials]])

    @abstractmethod
    def influences(self, rows: slice, design: UnitDesign) -> FloatArray | None:
        """Of all units on some figures, (n_figures, n_units), once all trials are there; None of single trials."""

    @abstractmethod
    def squares(self, rows: slice, design: UnitDesign) -> FloatArray:
        """Sums of squares of the influences of all units on some figures, (n_figures,)."""


class ByUnit(CostSums):
    """Sums by unit."""

    def __init__(self, centre: FloatArray, factor: FloatArray, n_units: int) -> None:
        super().__init__(centre, factor, n_units)
        self.by_unit, self.sums = np.zeros((len(centre), n_units)), np.zeros(centre.shape)

    def _sums(self) -> tuple[FloatArray, ...]:
        return self.by_unit, self.sums

    def add(self, part: Part, block: Block) -> None:
        """See `CostSums.add`."""
        from scipy.sparse import csr_matrix  # few need it

        assert block.units is not None  # noqa: S101  # else trials are units
        costs = self._about_centre(part, block)
        if block.weights is not None:
            costs *= block.weights[part.trials]
        begins, strata = block.runs(part.trials)
        if not len(begins):
            return
        self.sums[part.figures[:, None], strata] += np.add.reduceat(costs, begins, axis=1)
        costs *= self.factor[block.stratum[part.trials]]
        at, codes = entries_of(block.units.take(part.trials))
        own, place = np.unique(codes, return_inverse=True)
        trial = np.arange(costs.shape[1]) if at is None else at
        members = csr_matrix((np.ones(len(place)), (place, trial)), shape=(len(own), costs.shape[1]))
        self.by_unit[part.figures[:, None], own] += np.asarray(members @ costs.T).T

    def influences(self, rows: slice, design: UnitDesign) -> FloatArray:
        """See `CostSums.influences`."""
        weights = design.weights
        assert weights.by_unit is not None  # noqa: S101  # there are units
        means = self.sums[rows] / weights.totals
        return np.asarray(self.by_unit[rows] - means @ (weights.by_unit * self.factor[:, None]))

    def squares(self, rows: slice, design: UnitDesign) -> FloatArray:
        """See `CostSums.squares`."""
        found = self.influences(rows, design)
        return np.asarray(np.einsum("fu,fu->f", found, found))


class BySegment(CostSums):
    """Sums of squares, where every trial is a unit by itself."""

    def __init__(self, centre: FloatArray, factor: FloatArray, n_units: int) -> None:
        super().__init__(centre, factor, n_units)
        self.sums, self.weighted, self.squared = np.zeros((3, *centre.shape))

    def _sums(self) -> tuple[FloatArray, ...]:
        return self.sums, self.weighted, self.squared

    def add(self, part: Part, block: Block) -> None:
        """See `CostSums.add`."""
        costs = self._about_centre(part, block)
        begins, strata = block.runs(part.trials)
        if not len(begins):
            return
        own = np.ones(costs.shape[1]) if block.weights is None else block.weights[part.trials].astype(np.float64)
        at = part.figures[:, None], strata
        costs *= own
        self.sums[at] += np.add.reduceat(costs, begins, axis=1)
        self.squared[at] += np.add.reduceat(costs * costs, begins, axis=1)
        self.weighted[at] += np.add.reduceat(costs * own, begins, axis=1)

    def influences(self, rows: slice, design: UnitDesign) -> None:  # noqa: ARG002  # there are as many as trials
        """See `CostSums.influences`."""
        return

    def squares(self, rows: slice, design: UnitDesign) -> FloatArray:
        """See `CostSums.squares`."""
        means = self.sums[rows] / design.weights.totals
        left = self.squared[rows] - 2.0 * means * self.weighted[rows] + means * means * design.weights.squares
        return np.asarray(np.maximum(left, 0.0) @ (self.factor * self.factor))


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
