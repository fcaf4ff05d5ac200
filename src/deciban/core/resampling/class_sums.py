"""Influences of units on sums of class means, from sums over batches of trials, and components of their variance.

The influence of a unit is the sum over its trials of ``share * factor * (cost - mean cost of the class)``. The means
are known after all batches; until then, costs are taken relative to a center that is the same for all batches. If all
costs of a class are equal, they equal the center, and the influence is exactly 0.

Components attribute a variance to speakers, segments of speakers, pairs and trials. Two trials of classes c and c' are
correlated if they share levels of factors: the same speaker, the same segment, the same pair of speakers, or if they
are the same trial. Their costs x have covariances

    Cov(x_t, x_t') = sum over factors f of kappa_f m_f(t, t'),

where ``m_f`` counts the common levels of f. Sums of squares over the levels of each factor have expectations that are
linear in the components ``kappa``, with coefficients that depend only on the design. The components solve these
equations: the method of moments for unbalanced crossed designs (Searle, Casella and McCulloch, Variance Components,
1992, chapter 5). A speaker on either side of a trial is the same level: dyadic data (Aronow, Samii and Assenova,
Political Analysis 23, 2015).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self, TypeAlias

import numpy as np

from deciban.core.resampling.clusters import ClassGroups, Spread, StratumWeights, UnitDesign, row_sums
from deciban.core.resampling.unit_counts import groups_of_units
from deciban.core.resampling.units import Keys, TrialUnits
from deciban.errors import not_none
from deciban.types import BoolArray, CountArray, FloatArray, FloatPair, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class CostPart:
    """Costs of some trials of a block.

    Attributes
    ----------
    metrics : (n_rows,) int array
        Positions of metrics.
    trials : slice
        Trials of the block.
    costs : (n_rows, n_trials) array
    """

    metrics: IntArray
    trials: slice
    costs: FloatArray


@dataclass(frozen=True, eq=False)
class CostBlock:
    """A batch of trials that count, in the order of their strata within each class.

    Attributes
    ----------
    stratum : (n_trials,) int array
    weights : (n_trials,) array or None
    units : TrialUnits or None
        None if every trial is a unit.
    """

    stratum: IntArray
    weights: CountArray | None
    units: TrialUnits | None
    _entries: dict[tuple[int, int], tuple[IntArray | slice, IntArray, IntArray]] = field(default_factory=dict)
    _single: dict[tuple[int, int], IntArray | None] = field(default_factory=dict)
    _runs: dict[tuple[int, int], tuple[IntArray, IntArray]] = field(default_factory=dict)

    @cached_property
    def counts(self) -> FloatArray:
        """Weight of each trial."""
        return np.ones(len(self.stratum)) if self.weights is None else self.weights.astype(np.float64)

    def entries(self, trials: slice, design: UnitDesign) -> tuple[IntArray | slice, IntArray, IntArray]:
        """Return an entry for each unit of some trials.

        The result is positions of trials, the occurring pairs of strata and units, and the index of each entry in these
        pairs.
        """
        key = trials.start, trials.stop
        if key not in self._entries:
            at, codes = not_none(self.units, "units").take(trials).entries()
            pair = design.pair_of(self.stratum[trials][at], codes)
            self._entries[key] = (at, *np.unique(pair, return_inverse=True))
        return self._entries[key]

    def by_pair(self, costs: FloatArray, trials: slice, design: UnitDesign) -> FloatArray:
        """Return sums of costs of some trials (n_metrics, n_trials) by the occurring pairs of `entries`."""
        at, own, place = self.entries(trials, design)
        key = trials.start, trials.stop
        if key not in self._single:
            is_single = isinstance(at, slice) and len(own) == len(place)
            self._single[key] = np.argsort(place) if is_single else None
        order = self._single[key]
        return row_sums(place, costs[:, at], len(own)) if order is None else costs.take(order, axis=1)

    def runs(self, trials: slice) -> tuple[IntArray, IntArray]:
        """Return the starts of the strata among some trials, and the strata."""
        key = trials.start, trials.stop
        if key not in self._runs:
            own = self.stratum[trials]
            begins = np.flatnonzero(np.diff(own, prepend=-1))
            self._runs[key] = begins, own[begins]
        return self._runs[key]


def centre_of(parts: list[CostPart], block: CostBlock, shape: tuple[int, int]) -> FloatArray:
    """Return mean costs of each metric and stratum, (n_metrics, n_strata), over the trials of a block."""
    values = np.zeros(shape)
    for part in parts:
        begins, strata = block.runs(part.trials)
        lengths = np.diff(begins, append=part.costs.shape[1])
        first = part.costs[:, begins]
        centered = np.repeat(first, lengths, axis=1)
        means = np.add.reduceat(np.subtract(part.costs, centered, out=centered), begins, axis=1) / lengths
        values[part.metrics[:, None], strata] = first + means
    return values


class CostSums(ABC):
    """Sums over blocks of trials that determine influences.

    Parameters
    ----------
    centre : (n_metrics, n_strata) array
        Center that is subtracted from costs.
    design : UnitDesign
        Design of all trials.

    Attributes
    ----------
    most : (n_metrics,) array
        The largest cost of a trial.
    sums, squared : (n_metrics, n_strata) arrays
        Weighted sums of centered costs, and of their squares.
    """

    def __init__(self, centre: FloatArray, design: UnitDesign) -> None:
        self.centre, self.design = centre, design
        self.most = np.zeros(len(centre))
        self.sums, self.squared = np.zeros((2, *centre.shape))

    @staticmethod
    def empty(centre: FloatArray, design: UnitDesign) -> CostSums:
        """Create sums without trials."""
        return (BySegment if design.weights.by_unit is None else ByUnit)(centre, design)

    def add(self, part: CostPart, block: CostBlock) -> None:
        """Add the costs of trials of a block."""
        largest = np.maximum(part.costs.max(axis=1, initial=0.0), -part.costs.min(axis=1, initial=0.0))
        np.maximum.at(self.most, part.metrics, largest)
        begins, strata = block.runs(part.trials)
        if not len(begins):
            return
        at = part.metrics[:, None], strata
        lengths = np.diff(begins, append=part.costs.shape[1])
        costs = np.repeat(self.centre[at], lengths, axis=1)
        np.subtract(part.costs, costs, out=costs)
        weighted = costs if block.weights is None else costs * block.counts[part.trials]
        self.sums[at] += np.add.reduceat(weighted, begins, axis=1)
        self.squared[at] += np.add.reduceat(weighted * costs, begins, axis=1)
        self._add(part, block, costs)

    @abstractmethod
    def _add(self, part: CostPart, block: CostBlock, costs: FloatArray) -> None:
        """Add centered costs by unit."""

    @abstractmethod
    def _sums(self) -> tuple[FloatArray, ...]:
        """Return the arrays that are added, besides sums by stratum."""

    def __iadd__(self, other: CostSums) -> Self:
        """Add the costs of other trials, with the same center."""
        for mine, theirs in zip(
            (self.sums, self.squared, *self._sums()), (other.sums, other.squared, *other._sums()), strict=True
        ):
            np.add(mine, theirs, out=mine)
        np.maximum(self.most, other.most, out=self.most)
        return self

    @abstractmethod
    def influences(self, rows: slice = slice(None)) -> FloatArray | None:
        """Return influences of all units on some metrics, (n_metrics, n_units); None if trials are units."""

    @abstractmethod
    def powers(self, rows: slice, groups: ClassGroups) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return sums of powers over units of influences on some metrics; see `UnitDesign.powers`."""

    def spread(self, rows: slice, groups: ClassGroups) -> Spread:
        """Return the variation of some metrics, by group of classes, after all trials."""
        design = self.design
        totals, of_home = design.weights.totals, design.of_home[design.home]
        means = (self.sums[rows] + self.centre[rows] * totals) / of_home
        left = np.maximum(self.squared[rows] - np.square(self.sums[rows]) / np.where(totals > 0.0, totals, 1.0), 0.0)
        alone = left / of_home / design.clusters.n_trials[design.home]
        group = groups.of_class[design.home]
        members = (group[:, None] == np.arange(len(groups))).astype(np.float64)
        return Spread(*self.powers(rows, groups), means @ members, alone @ members)


class ByUnit(CostSums):
    """Sums by unit and stratum, for pairs with trials."""

    def __init__(self, centre: FloatArray, design: UnitDesign) -> None:
        super().__init__(centre, design)
        self.by_pair = np.zeros((len(centre), design.n_pairs))

    def _sums(self) -> tuple[FloatArray, ...]:
        return (self.by_pair,)

    def _add(self, part: CostPart, block: CostBlock, costs: FloatArray) -> None:
        own = block.entries(part.trials, self.design)[1]
        weighted = costs if block.weights is None else costs * block.counts[part.trials]
        sums, run = block.by_pair(weighted, part.trials, self.design), slice(own[0], own[-1] + 1)
        rows = slice(part.metrics[0], part.metrics[-1] + 1)  # views need no copies
        if run.stop - run.start != len(own):
            self.by_pair[part.metrics[:, None], own] += sums
        elif np.array_equal(part.metrics, np.arange(rows.start, rows.stop)):
            self.by_pair[rows, run] += sums
        else:
            self.by_pair[part.metrics, run] += sums

    def _influences(self, rows: slice, some: IntArray | slice = slice(None)) -> FloatArray:
        """Return influences of units through strata, (n_metrics, n_some), for all pairs or for some."""
        design = self.design
        means, stratum = self.sums[rows] / design.weights.totals, design.pairs.stratum[some]
        result = self.by_pair[rows] if len(stratum) == design.n_pairs else self.by_pair[rows][:, some]
        expected = means.take(stratum, axis=1)
        expected *= design.pairs.weight[some]
        result = np.subtract(result, expected, out=expected)
        result *= design.share[stratum] * design.factor_of_pairs[some]
        return np.asarray(result)

    def influences(self, rows: slice = slice(None)) -> FloatArray:
        """Return influences of all units; see `CostSums.influences`."""
        return self.design.by_unit(self._influences(rows))

    def powers(self, rows: slice, groups: ClassGroups) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return sums of powers of influences; see `CostSums.powers`."""
        return self.design.powers(self._influences(rows, self.design.pairs_of(groups)), groups)


class BySegment(CostSums):
    """Sums of powers, if every trial is a unit.

    Attributes
    ----------
    of_squares : (3, n_metrics, n_strata) array
        Sums over trials of the squared weight times the centered cost to the powers 0 to 2.
    of_fourths : (5, n_metrics, n_strata) array
        Sums of the fourth power of the weight, times costs to the powers 0 to 4.
    """

    def __init__(self, centre: FloatArray, design: UnitDesign) -> None:
        super().__init__(centre, design)
        self.of_squares, self.of_fourths = np.zeros((3, *centre.shape)), np.zeros((5, *centre.shape))

    def _sums(self) -> tuple[FloatArray, ...]:
        return self.of_squares, self.of_fourths

    def _add(self, part: CostPart, block: CostBlock, costs: FloatArray) -> None:
        begins, strata = block.runs(part.trials)
        at, own = (part.metrics[:, None], strata), block.stratum[part.trials]
        weights = block.counts[part.trials]
        counts = np.square(weights * self.design.factor_of_single(own, weights))
        for sums, count in ((self.of_squares, counts), (self.of_fourths, counts * counts)):
            term = np.broadcast_to(count, costs.shape)
            for one in sums:
                one[at] += np.add.reduceat(term, begins, axis=1)
                term = term * costs

    def influences(self, rows: slice = slice(None)) -> None:  # noqa: ARG002  # too many: one for each trial
        """Return None; see `CostSums.influences`."""
        return

    def powers(self, rows: slice, groups: ClassGroups) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return sums of powers of influences; see `CostSums.powers`."""
        design = self.design
        shift = -self.sums[rows] / design.weights.totals
        second, fourth = (about(sums[:, rows], shift) for sums in (self.of_squares, self.of_fourths))
        scale = np.square(design.share * design.stretch)
        members = (groups.of_class[design.home][:, None] == np.arange(len(groups))).astype(np.float64)
        by_group = (second * scale) @ members
        return by_group.sum(axis=1), (fourth * scale * scale) @ members.sum(axis=1), by_group


def about(sums: FloatArray, shift: FloatArray) -> FloatArray:
    """Return sums of ``(x + shift)^n`` from sums of the powers 0 to n of x; n is even, so that no sum is below 0.

    Examples
    --------
    >>> x = np.array([1.0, 2.0, 4.0])
    >>> float(about(np.array([np.sum(x**k) for k in range(5)]), np.array(-2.0)))
    17.0
    """
    n = len(sums) - 1
    terms = (math.comb(n, k) * shift ** (n - k) * one for k, one in enumerate(sums))
    return np.maximum(sum(terms, np.zeros(np.shape(shift))), 0.0)


@dataclass(frozen=True, eq=False)
class ClassMeans:
    """Trials in one batch, sorted by class, with their units.

    A unit's weight applies to all of its trials. The derivative of a sum of class means in the weight of a unit is the
    sum over its trials of ``share * (cost - mean cost of the class)``: the weights of classes do not depend on the
    weights of units. Influences are these derivatives times the factors of
    `deciban.core.resampling.clusters.influence_factors`.

    Attributes
    ----------
    design : UnitDesign
    block : CostBlock
        The trials.
    units : TrialUnits
        Units of the trials, one or two for each.
    """

    design: UnitDesign
    block: CostBlock
    units: TrialUnits

    @classmethod
    def of(cls, label: IntArray, stratum: IntArray, weights: CountArray | None, units: TrialUnits) -> ClassMeans:
        """Create from trials that are sorted by class, and by stratum within each class.

        Parameters
        ----------
        label, stratum : (n_trials,) int arrays
            Class of each trial, whose shares sum to 1, and its stratum, which has its own mean.
        weights : (n_trials,) array, optional
            Positive.
        units : TrialUnits

        Examples
        --------
        >>> label = np.array([0, 0, 1, 1, 1, 1])
        >>> means = ClassMeans.of(label, label, None, TrialUnits.of(["a", "b", "a", "b", "b", "a"]))
        >>> means.sums(np.array([[1.0, 0.0, 1.0, 0.0, 0.0, 0.0]])).influences()
        array([[ 0.375, -0.375]])
        """
        begins = np.flatnonzero(np.diff(stratum, prepend=-1))
        own = np.repeat(np.arange(len(begins)), np.diff(begins, append=len(stratum)))
        weighing = StratumWeights.of(own, len(begins), weights, units)
        return cls(UnitDesign(label[begins], int(label[-1]) + 1, weighing), CostBlock(own, weights, units), units)

    @property
    def n_trials(self) -> int:
        """Number of trials."""
        return len(self.block.stratum)

    @cached_property
    def share(self) -> FloatArray:
        """Contribution of each trial to the mean of its class."""
        return np.asarray(self.block.counts * self.design.share[self.block.stratum])

    def sums(self, costs: FloatArray) -> CostSums:
        """Return the sums of costs (n_metrics, n_trials)."""
        begins, _ = self.block.runs(slice(0, self.n_trials))
        result = CostSums.empty(costs[:, begins], self.design)
        result.add(CostPart(np.arange(len(costs)), slice(0, self.n_trials), costs), self.block)
        return result


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """Contributions of trials of a batch to the means of their classes.

    Attributes
    ----------
    stratum, share : (n_trials,) arrays
    factor : (n_entries,) array
        Factor of influences, for each unit of each trial.
    trial : (n_entries,) int array or slice
        Trial of each entry.
    group : (n_entries,) int array
        Group of the unit; empty if each trial is a unit.
    """

    stratum: IntArray
    share: FloatArray
    factor: FloatArray
    trial: IntArray | slice
    group: IntArray


@dataclass(frozen=True, eq=False)
class GroupedUnits:
    """Units of a design, in groups if there are many; the influence of a group is the sum over its units.

    Attributes
    ----------
    design : UnitDesign
        Design of all trials.
    keys : (n_units,) uint64 array or None
        Keys of all units; None if each trial is a unit.
    most : int
        Limit of units without groups, and the number of groups above it.
    """

    design: UnitDesign
    keys: Keys | None
    most: int

    @classmethod
    def of(cls, design: UnitDesign, units: TrialUnits, most: int) -> GroupedUnits:
        """Create from all units; if each trial is a unit, keys are not needed."""
        are_single = len(units.codes) < 2 and design.n_units == design.weights.n_trials.sum()
        return cls(design, None if are_single else units.keys, most)

    @cached_property
    def group(self) -> IntArray:
        """Group of each unit."""
        keys = not_none(self.keys, "keys")
        return groups_of_units(keys, self.most) if len(keys) > self.most else np.arange(len(keys))

    @property
    def n_groups(self) -> int:
        """Number of groups; 0 if each trial is a unit."""
        return 0 if self.keys is None else min(len(self.keys), self.most)

    @property
    def n_units(self) -> int:
        """Number of units, or groups of units, with influences."""
        return self.design.n_units if self.keys is None else min(self.design.n_units, self.n_groups)

    @cached_property
    def parts(self) -> FloatArray:
        """Share of each group in each stratum, times the factors of its units, (n_strata, n_groups)."""
        design, stratum = self.design, self.design.pairs.stratum
        place = stratum * self.n_groups + self.group[design.pairs.unit]
        own = design.pairs.weight * design.factor_of_pairs * design.share[stratum]
        result = np.bincount(place, own, minlength=len(design.home) * self.n_groups).astype(np.float64, copy=False)
        return result.reshape(-1, self.n_groups)

    def shares(self, block: CostBlock) -> Shares:
        """Return the contributions of the trials of a batch."""
        design, stratum, counts = self.design, block.stratum, block.counts
        share = np.asarray(design.share[stratum] * counts)
        if self.keys is None:
            factor = design.factor_of_single(stratum, counts) * design.stretch[stratum]
            return Shares(stratum, share, factor, slice(None), np.zeros(0, np.int64))
        trial, own, place = block.entries(slice(0, len(stratum)), design)
        pair = own[place]
        return Shares(stratum, share, design.factor_of_pairs[pair], trial, self.group[design.pairs.unit[pair]])


class SharesBelow:
    """Shares of trials of two sides below thresholds, by stratum and by group of units, for some curves.

    Parameters
    ----------
    units : GroupedUnits
    is_target : (n_strata,) bool array
        Strata of the first side; all others are on the second side.
    n_curves, n_places : int
        Number of curves, and number of ascending thresholds of each curve.
    """

    def __init__(self, units: GroupedUnits, is_target: BoolArray, n_curves: int, n_places: int) -> None:
        self.units, self.is_target = units, is_target
        self.once = np.zeros((n_curves, len(is_target), n_places + 1))
        self.squared = np.zeros_like(self.once)
        self.by_unit = np.zeros((n_curves, 2, units.n_groups, n_places + 1))

    @property
    def tables(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Tables that are added over batches."""
        return self.once, self.squared, self.by_unit

    def counted(self, own: Shares, weight: FloatArray, places: Sequence[IntArray]) -> Iterator[FloatPair]:
        """Yield tables with the contributions of the trials of a batch.

        Parameters
        ----------
        own : Shares
        weight : (n_trials,) array
            Weight of the class share of each trial in the sum.
        places : sequence of (n_trials,) int arrays
            For each curve, the number of thresholds at or below each trial.
        """
        share = own.share * weight
        for k, place in enumerate(places):
            yield _sums(self.once[k], own.stratum, place, share)
            if self.units.keys is None:
                yield _sums(self.squared[k], own.stratum, place, np.square(share * own.factor))
                continue
            some = own.trial
            side = np.where(self.is_target[own.stratum], 0, self.units.n_groups)[some]
            table = self.by_unit[k].reshape(-1, self.by_unit.shape[-1])
            yield _sums(table, side + own.group, place[some], share[some] * own.factor)

    def rates(self) -> FloatArray:
        """Return the shares of the first side below thresholds, and of the second at or above: (n_curves, 2, ...)."""
        below = np.cumsum(self.once[:, self.is_target].sum(axis=1), axis=1)[:, :-1]
        above = np.cumsum(self.once[:, ~self.is_target].sum(axis=1)[:, ::-1], axis=1)[:, -2::-1]
        return np.stack((below, above), axis=1)

    def squares(self, factors: FloatArray) -> FloatArray:
        """Return sums of squared influences of the sum of both sides and of each: (3, n_curves, n_places).

        Parameters
        ----------
        factors : (2, n_places) array
            Factors of the shares below thresholds of each side.
        """
        below, sides = np.cumsum(self.once, axis=2), (self.is_target, ~self.is_target)
        if self.units.keys is None:
            total, size = np.cumsum(self.squared, axis=2), below[:, :, -1:]
            share = np.divide(below, size, out=np.zeros(below.shape), where=size > 0.0)
            rest = np.maximum(total[:, :, -1:] - total, 0.0)
            squares = (np.square(1.0 - share) * total + np.square(share) * rest)[:, :, :-1]
            of_sides = [np.square(own) * squares[:, some].sum(axis=1) for own, some in zip(factors, sides, strict=True)]
            return np.stack((sum(of_sides), *of_sides))
        design, both = self.units.design, list[FloatArray]()
        shares = below / (design.weights.totals * design.share)[:, None]
        for k, (some, own) in enumerate(zip(sides, factors, strict=True)):
            influences = np.cumsum(self.by_unit[:, k], axis=2) - self.units.parts[some].T @ shares[:, some]
            both.append(own * influences[:, :, :-1])
        return np.stack([np.einsum("cup,cup->cp", one, one) for one in (both[0] + both[1], *both)])


def _sums(table: FloatArray, row: IntArray, place: IntArray, values: FloatArray) -> FloatPair:
    """Return a table, and values summed by its rows and columns."""
    counts = np.bincount(row * table.shape[1] + place, values, minlength=table.size)
    return table, counts.astype(np.float64, copy=False).reshape(table.shape)


Members: TypeAlias = tuple[IntArray, ...]
"""Codes of the levels of trials of one class: one array, or two if a trial may have two levels."""

_NEW = 0.02
"""A factor is kept if previous factors do not explain more than this share of it."""


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """A property that trials may share.

    Attributes
    ----------
    name : str
    members : (Members, Members)
        Levels of the trials of both classes, with the same codes.
    n_levels : int
    """

    name: str
    members: tuple[Members, Members]
    n_levels: int


@dataclass(frozen=True, slots=True)
class Component:
    """A component of the variance of a metric.

    Attributes
    ----------
    name : str
        Name of the factor.
    pair : (int, int)
        Classes of the two trials: 0 for targets, 1 for non-targets.
    size : float
        ``kappa``: the covariance of two trials due to a common level.
    share : float
        Sum over levels of the product of the shares of both classes in the level: the factor of ``size`` in the
        covariance of two means.
    """

    name: str
    pair: tuple[int, int]
    size: float
    share: float

    @property
    def variance(self) -> float:
        """Contribution to the variance of the metric; covariances of targets with non-targets count twice."""
        return self.size * self.share * (1.0 if self.pair[0] == self.pair[1] else 2.0)


def components_of(
    costs: FloatPair, factors: Sequence[Factor], weights: tuple[CountArray | None, CountArray | None] = (None, None)
) -> tuple[Component, ...]:
    """Return unbiased components of the variance of the mean cost of targets plus that of non-targets.

    Parameters
    ----------
    costs : (n_tar,) and (n_non,) arrays
    factors : sequence of Factor
        From coarse to fine: if the design cannot separate a factor from previous factors, it is counted with them.
    weights : (n_tar,) and (n_non,) arrays, optional

    Returns
    -------
    tuple of Component
        Some may be negative, because unbiased estimates of 0 are sometimes negative.

    Examples
    --------
    One class has three speakers with two trials each; the other class is constant. The variance between the means of
    speakers is 100. Half of the variance within speakers, 2, contributes to it.

    >>> speaker = Factor("speaker", ((np.array([0, 0, 1, 1, 2, 2]),), (np.zeros(2, int),)), 3)
    >>> trial = Factor("trial", ((np.arange(6),), (np.arange(6, 8),)), 8)
    >>> costs = np.array([9.0, 11.0, 19.0, 21.0, 29.0, 31.0]), np.zeros(2)
    >>> found = components_of(costs, [speaker, trial])
    >>> [(one.name, one.size.__round__(6), one.variance.__round__(6)) for one in found if one.pair == (0, 0)]
    [('speaker', 99.0, 33.0), ('trial', 2.0, 0.333333)]
    """
    sides = [_Side(costs[k], weights[k], factors, k) for k in (0, 1)]
    components = list[Component]()
    for pair in ((0, 0), (0, 1), (1, 1)):
        one, other = (sides[k] for k in pair)
        squares = np.array([own @ others for own, others in zip(one.sums, other.sums, strict=True)])
        expected = _expected(one, other)
        kept = _telling(expected)
        sizes = np.linalg.solve(expected[np.ix_(kept, kept)], squares[kept])
        for f, size in zip(kept, sizes.tolist(), strict=True):
            components.append(Component(factors[f].name, pair, size, float(one.shares[f] @ other.shares[f])))
    return tuple(components)


def sums_of_levels(
    costs: FloatPair, factor: Factor, weights: tuple[CountArray | None, CountArray | None] = (None, None)
) -> FloatArray:
    """Return the contribution of each level of a factor to the mean costs of both classes, centered, (n_levels,).

    For units, the contributions are influences.
    """
    one, other = (_Side(costs[k], weights[k], [factor], k).sums[0] for k in (0, 1))
    return np.asarray(one + other)


class _Side:
    """Trials of one class: for every level of each factor, their share and the sum of their centered costs."""

    def __init__(self, costs: FloatArray, weights: CountArray | None, factors: Sequence[Factor], k: int) -> None:
        n = len(costs)
        share = np.full(n, 1.0 / n) if weights is None else weights / weights.sum()
        centred = share * (costs - share @ costs)
        self.levels = [_incidence(factor.members[k], n, factor.n_levels) for factor in factors]
        self.shares = [one.T @ share for one in self.levels]
        self.sums = [one.T @ centred for one in self.levels]
        self.weighted = [one.multiply(share[:, None]).tocsr() for one in self.levels]


def _incidence(members: Members, n: int, n_levels: int) -> Any:
    """Return the levels of trials, (n, n_levels), sparse; a repeated level of a trial counts once."""
    from scipy.sparse import csr_matrix  # rarely needed

    rows, levels = np.arange(n), members[0]
    for codes in members[1:]:
        other = np.flatnonzero(codes != members[0])
        rows, levels = np.concatenate((rows, other)), np.concatenate((levels, codes[other]))
    return csr_matrix((np.ones(len(rows)), (rows, levels)), shape=(n, n_levels))


def _expected(one: _Side, other: _Side) -> FloatArray:
    """Return coefficients of the components in the expected sums of squares about means, (n_factors, n_factors).

    ``W[g, h]`` is the share of trials of a class with the levels g and h of two factors, and ``s`` are the shares:
    ``sum_gh W_gh W'_gh - s'_f W s'_g - s_f W' s_g + (s_f s'_f) (s_g s'_g)``.
    """
    n_factors = len(one.levels)
    values = np.empty((n_factors, n_factors))
    for f in range(n_factors):
        for g in range(f, n_factors):
            own, others = one.levels[f].T @ one.weighted[g], other.levels[f].T @ other.weighted[g]
            products = (one.shares[f] @ other.shares[f]) * (one.shares[g] @ other.shares[g])
            means = other.shares[f] @ (own @ other.shares[g]) + one.shares[f] @ (others @ one.shares[g])
            values[f, g] = values[g, f] = own.multiply(others).sum() - means + products
    return values


def _telling(expected: FloatArray) -> list[int]:
    """Return factors that previous factors do not explain: rows with a large pivot in a Cholesky decomposition."""
    numbers = list[int]()
    for f, own in enumerate(np.diag(expected)):
        left = own
        if numbers:
            left -= expected[f, numbers] @ np.linalg.solve(expected[np.ix_(numbers, numbers)], expected[numbers, f])
        if own > 0.0 and left > _NEW * own:
            numbers.append(f)
    return numbers
