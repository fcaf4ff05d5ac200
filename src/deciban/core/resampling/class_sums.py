"""Influences of units on sums of class means, summed up over parts of the trials: what `ClassMeans` is of all of them.

The influence of a unit is the sum over its trials of ``share * factor * (cost - mean cost of the class)``. Means are
known when all trials were there; until then costs are taken about a centre, which is the same for all parts. Costs
that are alike throughout a class are alike to the centre, and give 0 to the last digit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from deciban.core.classes.counts import tally
from deciban.core.resampling.class_design import ClusterDesign, Groups, Spread, UnitPairs, influence_factors, stretches
from deciban.core.resampling.rates import small_sample_factors
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
    are_whole : bool
        Whether weights are whole numbers, so that a trial may count as several.
    """

    n_trials: IntArray
    totals: FloatArray
    squares: FloatArray
    by_unit: FloatArray | None
    are_whole: bool = True

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
        is_whole = weights is None or weights.dtype == np.int64
        return cls(np.bincount(stratum, minlength=n_strata), totals, squares, by_unit, is_whole)

    def __add__(self, other: StratumWeights) -> StratumWeights:
        """Those of the trials of both."""
        by_unit = None if self.by_unit is None or other.by_unit is None else self.by_unit + other.by_unit
        names = ("n_trials", "totals", "squares")
        added = {name: getattr(self, name) + getattr(other, name) for name in names}
        return replace(self, by_unit=by_unit, are_whole=self.are_whole and other.are_whole, **added)


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
    def _filled(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Strata and units of which there are trials, and the weight of these."""
        by_unit = self.weights.by_unit
        assert by_unit is not None  # noqa: S101  # who asks looked
        stratum, unit = np.nonzero(by_unit)
        return stratum, unit, np.asarray(by_unit[stratum, unit])

    @cached_property
    def clusters(self) -> ClusterDesign:
        """Sizes of the classes, and how far they have the same units."""
        own, n = self.weights, self.n_classes
        n_trials = self.of_home if own.are_whole else tally(self.home, n, own.n_trials).astype(np.float64)
        if own.by_unit is not None:
            stratum, unit, weight = self._filled
            return ClusterDesign.of(self.home[stratum], unit, weight, (n, own.by_unit.shape[1]), n_trials)
        squares = np.bincount(self.home, own.squares, minlength=n) / np.square(np.maximum(self.of_home, 1e-300))
        return ClusterDesign(self.n_units, n_trials, tally(self.home, n, own.n_trials), np.diag(squares))

    @cached_property
    def of_home(self) -> FloatArray:
        """The weight of each class, (n_classes,)."""
        return np.asarray(np.bincount(self.home, self.weights.totals, minlength=self.n_classes), np.float64)

    @cached_property
    def share(self) -> FloatArray:
        """What a trial of weight 1 contributes to the mean of its class, by stratum."""
        return np.asarray(1.0 / self.of_home[self.home])

    @cached_property
    def pairs(self) -> UnitPairs:
        """Pairs of strata and units of which there are trials, with the factors of influences."""
        stratum, unit, weight = self._filled
        own = self.weights
        assert own.by_unit is not None  # noqa: S101  # who asks looked
        seen = np.bincount(stratum, minlength=len(self.home)).astype(np.float64)
        factor = influence_factors(stratum, weight / own.totals[stratum], seen, self.n_units)
        return UnitPairs(self.home[stratum], unit, factor, own.by_unit.shape[1])

    @property
    def n_pairs(self) -> int:
        """How many strata and units have trials together."""
        return len(self._filled[1])

    @property
    def stratum_of_pairs(self) -> IntArray:
        """The stratum of each pair."""
        return self._filled[0]

    def pair_of(self, stratum: IntArray, unit: IntArray) -> IntArray:
        """Return the positions of pairs of which there are trials."""
        n_units = np.int64(self.pairs.n_units)
        known = self.stratum_of_pairs * n_units + self.pairs.unit
        return np.asarray(np.searchsorted(known, stratum * n_units + unit))

    def factor_of_single(self, stratum: IntArray, weights: FloatArray) -> FloatArray:
        """Return the factors of jackknife influences where every trial is a unit, beside `stretch`."""
        own = self.weights
        return small_sample_factors(weights / own.totals[stratum], own.n_trials[stratum].astype(np.float64))

    @property
    def weight_of_pairs(self) -> FloatArray:
        """The weight of the trials of each pair."""
        return self._filled[2]

    @cached_property
    def stretch(self) -> FloatArray:
        """Of each stratum where every trial is a unit; see `stretches`."""
        return stretches(self.weights.n_trials.astype(np.float64), self.n_units)


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
    design : UnitDesign
        Of all trials.

    Attributes
    ----------
    most : (n_figures,) array
        The largest cost of a trial.
    sums, squared : (n_figures, n_strata) arrays
        Of costs about the centre, and of their squares, times the weights of trials.
    """

    def __init__(self, centre: FloatArray, design: UnitDesign) -> None:
        self.centre, self.design = centre, design
        self.most = np.zeros(len(centre))
        self.sums, self.squared = np.zeros((2, *centre.shape))

    @staticmethod
    def empty(centre: FloatArray, design: UnitDesign) -> CostSums:
        """Without a trial."""
        return (BySegment if design.weights.by_unit is None else ByUnit)(centre, design)

    def add(self, part: Part, block: Block) -> None:
        """Add what trials of a block cost."""
        np.maximum.at(self.most, part.figures, np.abs(part.costs).max(axis=1, initial=0.0))
        begins, strata = block.runs(part.trials)
        if not len(begins):
            return
        costs = np.asarray(part.costs - self.centre[part.figures[:, None], block.stratum[part.trials]])
        at = part.figures[:, None], strata
        own = np.ones(costs.shape[1]) if block.weights is None else block.weights[part.trials].astype(np.float64)
        weighted = costs * own
        self.sums[at] += np.add.reduceat(weighted, begins, axis=1)
        self.squared[at] += np.add.reduceat(weighted * costs, begins, axis=1)
        self._add(part, block, costs, own)

    @abstractmethod
    def _add(self, part: Part, block: Block, costs: FloatArray, weights: FloatArray) -> None:
        """Add costs about the centre by unit."""

    @abstractmethod
    def _sums(self) -> tuple[FloatArray, ...]:
        """What adds up, beside sums by stratum."""

    def merge(self, other: CostSums) -> None:
        """Add what the trials of another one cost, about the same centre."""
        for mine, theirs in zip(
            (self.sums, self.squared, *self._sums()), (other.sums, other.squared, *other._sums()), strict=True
        ):
            np.add(mine, theirs, out=mine)
        np.maximum(self.most, other.most, out=self.most)

    @abstractmethod
    def influences(self, rows: slice) -> FloatArray | None:
        """Of all units on some figures, (n_figures, n_units), once all trials are there; None of single trials."""

    @abstractmethod
    def squares(self, rows: slice, groups: Groups) -> tuple[FloatArray, FloatArray]:
        """Sums of squares over units of influences on some figures; see `UnitPairs.squares`."""

    def spread(self, rows: slice, groups: Groups) -> Spread:
        """Return how some figures vary, once all trials are there; see `ClassMeans.spread`."""
        design = self.design
        totals, of_home = design.weights.totals, design.of_home[design.home]
        means = (self.sums[rows] + self.centre[rows] * totals) / of_home
        left = np.maximum(self.squared[rows] - np.square(self.sums[rows]) / np.where(totals > 0.0, totals, 1.0), 0.0)
        alone = left / of_home / design.clusters.n_trials[design.home]
        group = groups.of_class[design.home]
        members = (group[:, None] == np.arange(len(groups))).astype(np.float64)
        return Spread(*self.squares(rows, groups), means @ members, alone @ members)


class ByUnit(CostSums):
    """Sums by unit and stratum, of which there are trials."""

    def __init__(self, centre: FloatArray, design: UnitDesign) -> None:
        super().__init__(centre, design)
        self.by_pair = np.zeros((len(centre), len(design.pairs.unit)))

    def _sums(self) -> tuple[FloatArray, ...]:
        return (self.by_pair,)

    def _add(self, part: Part, block: Block, costs: FloatArray, weights: FloatArray) -> None:
        from scipy.sparse import csr_matrix  # few need it

        assert block.units is not None  # noqa: S101  # else trials are units
        at, codes = entries_of(block.units.take(part.trials))
        trial = np.arange(costs.shape[1]) if at is None else at
        pair = self.design.pair_of(block.stratum[part.trials][trial], codes)
        own, place = np.unique(pair, return_inverse=True)
        members = csr_matrix((weights[trial], (place, trial)), shape=(len(own), costs.shape[1]))
        self.by_pair[part.figures[:, None], own] += np.asarray(members @ costs.T).T

    def _influences(self, rows: slice) -> FloatArray:
        """Influences of units through strata, (n_figures, n_pairs)."""
        design, pairs = self.design, self.design.pairs
        means, stratum = self.sums[rows] / design.weights.totals, design.stratum_of_pairs
        found = self.by_pair[rows] - means[:, stratum] * design.weight_of_pairs
        return np.asarray(found * (design.share[stratum] * pairs.factor))

    def influences(self, rows: slice) -> FloatArray:
        """See `CostSums.influences`."""
        return self.design.pairs.by_unit(self._influences(rows))

    def squares(self, rows: slice, groups: Groups) -> tuple[FloatArray, FloatArray]:
        """See `CostSums.squares`."""
        return self.design.pairs.squares(self._influences(rows), groups)


class BySegment(CostSums):
    """Sums of squares, where every trial is a unit by itself."""

    def __init__(self, centre: FloatArray, design: UnitDesign) -> None:
        super().__init__(centre, design)
        self.weighted, self.of_units, self.counts = np.zeros((3, *centre.shape))

    def _sums(self) -> tuple[FloatArray, ...]:
        return self.weighted, self.of_units, self.counts

    def _add(self, part: Part, block: Block, costs: FloatArray, weights: FloatArray) -> None:
        begins, strata = block.runs(part.trials)
        at, own = (part.figures[:, None], strata), block.stratum[part.trials]
        squared = np.square(weights * self.design.factor_of_single(own, weights))
        self.counts[at] += np.add.reduceat(squared, begins)
        self.weighted[at] += np.add.reduceat(costs * squared, begins, axis=1)
        self.of_units[at] += np.add.reduceat(costs * costs * squared, begins, axis=1)

    def influences(self, rows: slice) -> None:  # noqa: ARG002  # there are as many as trials
        """See `CostSums.influences`."""
        return

    def squares(self, rows: slice, groups: Groups) -> tuple[FloatArray, FloatArray]:
        """See `CostSums.squares`."""
        design = self.design
        means = self.sums[rows] / design.weights.totals
        left = self.of_units[rows] - 2.0 * means * self.weighted[rows] + means * means * self.counts[rows]
        squares = np.maximum(left, 0.0) * np.square(design.share * design.stretch)
        group = groups.of_class[design.home]
        by_group = squares @ (group[:, None] == np.arange(len(groups))).astype(np.float64)
        return by_group.sum(axis=1), by_group
