"""Influences of units on shares of trials below thresholds, at all thresholds at once, added up over batches.

A weighted sum of such shares is one of class means of costs that are 0 or 1. Tables of units and places, and of strata
and places, give its influences at all thresholds; no threshold needs the trials again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deciban.core.resampling.class_sums import Block, UnitDesign
from deciban.core.resampling.unit_counts import groups_of_units
from deciban.core.resampling.units import Keys
from deciban.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """What trials of a batch contribute to the means of their classes.

    Attributes
    ----------
    stratum, share : (n_trials,) arrays
    factor : (n_entries,) array
        Of the influences of units, for each unit of each trial.
    trial : (n_entries,) int array or None
        The trial of each entry; None if each trial has one unit.
    group : (n_entries,) int array
        The group of the unit; empty where each trial is one.
    """

    stratum: IntArray
    share: FloatArray
    factor: FloatArray
    trial: IntArray | None
    group: IntArray


@dataclass(frozen=True, eq=False)
class DealtUnits:
    """Units of a design, in groups if there are many: the influences of a group are those of its units, summed.

    Attributes
    ----------
    design : UnitDesign
        Of all trials.
    keys : (n_units,) uint64 array or None
        Of all units; None where each trial is one.
    most : int
        Number of groups for more units than that.
    """

    design: UnitDesign
    keys: Keys | None
    most: int

    @cached_property
    def group(self) -> IntArray:
        """The group of each unit."""
        assert self.keys is not None  # noqa: S101  # who asks looked
        return groups_of_units(self.keys, self.most) if len(self.keys) > self.most else np.arange(len(self.keys))

    @property
    def n_groups(self) -> int:
        """How many groups there are; none where each trial is a unit."""
        return 0 if self.keys is None else min(len(self.keys), self.most)

    @property
    def n_units(self) -> int:
        """How many units, or groups of them, have influences."""
        return self.design.n_units if self.keys is None else min(self.design.n_units, self.n_groups)

    @cached_property
    def parts(self) -> FloatArray:
        """What each group has of each stratum, times the factors of its units, (n_strata, n_groups)."""
        design, stratum, pairs = self.design, self.design.stratum_of_pairs, self.design.pairs
        place = stratum * self.n_groups + self.group[pairs.unit]
        own = design.weight_of_pairs * pairs.factor * design.share[stratum]
        return np.bincount(place, own, minlength=len(design.home) * self.n_groups).reshape(-1, self.n_groups)

    def shares(self, block: Block) -> Shares:
        """Return what the trials of a batch contribute."""
        design, stratum, counts = self.design, block.stratum, block.counts
        share = np.asarray(design.share[stratum] * counts)
        if self.keys is None:
            factor = design.factor_of_single(stratum, counts) * design.stretch[stratum]
            return Shares(stratum, share, factor, None, np.zeros(0, np.int64))
        trial, own, place = block.entries(slice(0, len(stratum)), design)
        pair = own[place]
        return Shares(stratum, share, design.pairs.factor[pair], trial, self.group[design.pairs.unit[pair]])


class SharesBelow:
    """Trials of two sides below thresholds, by stratum and by group of units, for some curves.

    Parameters
    ----------
    units : DealtUnits
    is_target : (n_strata,) bool array
        Strata of the first side; all others are on the second one.
    n_curves, n_places : int
        Each curve has as many thresholds, in ascending order.
    """

    def __init__(self, units: DealtUnits, is_target: BoolArray, n_curves: int, n_places: int) -> None:
        self.units, self.is_target = units, is_target
        self.once = np.zeros((n_curves, len(is_target), n_places + 1))
        self.squared = np.zeros_like(self.once)
        self.by_unit = np.zeros((n_curves, 2, units.n_groups, n_places + 1))

    @property
    def tables(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """What adds up over batches."""
        return self.once, self.squared, self.by_unit

    def counted(
        self, own: Shares, weight: FloatArray, places: Sequence[IntArray]
    ) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Return tables, and what the trials of a batch add to them.

        Parameters
        ----------
        own : Shares
        weight : (n_trials,) array
            That of the share of the class of each trial in the sum.
        places : sequence of (n_trials,) int arrays
            For each curve, how many of the thresholds are at or below each trial.
        """
        share = own.share * weight
        for k, place in enumerate(places):
            yield _sums(self.once[k], own.stratum, place, share)
            if self.units.keys is None:
                yield _sums(self.squared[k], own.stratum, place, np.square(share * own.factor))
                continue
            some = slice(None) if own.trial is None else own.trial
            side = np.where(self.is_target[own.stratum], 0, self.units.n_groups)[some]
            table = self.by_unit[k].reshape(-1, self.by_unit.shape[-1])
            yield _sums(table, side + own.group, place[some], share[some] * own.factor)

    def rates(self) -> FloatArray:
        """Return the shares of the first side below thresholds, and of the second at or above: (n_curves, 2, ...)."""
        below = np.cumsum(self.once[:, self.is_target].sum(axis=1), axis=1)[:, :-1]
        above = np.cumsum(self.once[:, ~self.is_target].sum(axis=1)[:, ::-1], axis=1)[:, -2::-1]
        return np.stack((below, above), axis=1)

    def squares(self, factors: FloatArray) -> FloatArray:
        """Return sums of squares of influences of the sum of both sides and of each: (3, n_curves, n_places).

        Parameters
        ----------
        factors : (2, n_places) array
            By which the shares below thresholds of each side are multiplied.
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


def _sums(table: FloatArray, row: IntArray, place: IntArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a table, and values added up by its rows and places."""
    found = np.bincount(row * table.shape[1] + place, values, minlength=table.size)
    return table, found.astype(np.float64, copy=False).reshape(table.shape)
