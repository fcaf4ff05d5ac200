"""Groups of units that are left out in turn, where classes of trials have means of their own."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from deciban.core.resampling.class_means import ClassMeans
from deciban.core.resampling.unit_counts import groups_of_units
from deciban.types import FloatArray, IntArray


class LeftOut:
    """What trials contribute to the means of classes without each group of units: classes count as much as ever.

    Parameters
    ----------
    means : ClassMeans
    n_groups : int

    Attributes
    ----------
    sides : list of (n_trials,) int arrays
        The groups of the units of each trial.
    is_possible : bool
        Whether there are groups, and none has all trials of a class.
    share : (n_trials,) array
        What trials contribute when all are there.
    """

    def __init__(self, means: ClassMeans, n_groups: int) -> None:
        group = groups_of_units(means.units.keys, n_groups)
        self.sides: list[IntArray] = [group[codes] for codes in means.units.codes]
        self.share, self._stratum, self.n_groups = means.share, means.stratum, int(group.max(initial=0)) + 1
        whole = np.add.reduceat(means.share, means.begins)
        masses = [np.add.reduceat(means.share * self.stays(k), means.begins) for k in range(self.n_groups)]
        self.is_possible = self.n_groups > 1 and all(bool((mass > 0.0).all()) for mass in masses)
        self._factors = [whole / np.where(mass > 0.0, mass, 1.0) for mass in masses]

    def stays(self, number: int) -> FloatArray:
        """Which trials have nothing to do with a group: 1, others 0."""
        found = np.ones(len(self.share))
        for side in self.sides:
            found *= side != number
        return found

    def weights(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """What trials contribute without each group, 0 for its own; and which trials stay."""
        for number, factor in enumerate(self._factors):
            stays = self.stays(number)
            yield self.share * factor[self._stratum] * stays, stays

    def tables(self, place: IntArray, n_places: int, weight: FloatArray, *, makes_up: bool) -> FloatArray:
        """Sums of what trials contribute at each place without each group, (n_groups, n_places).

        All are counted once, and those of each group are taken away.

        Parameters
        ----------
        place : (n_trials,) int array
        n_places : int
        weight : (n_trials,) array
            By which the contributions are multiplied.
        makes_up : bool
            Whether what is left of a class makes up for what is gone, as in `weights`.
        """
        factors, own, n = np.array(self._factors), self.share * weight, self.n_groups * n_places
        if not makes_up:
            factors = np.ones_like(factors)
        n_strata = factors.shape[1]
        everything = np.bincount(self._stratum * n_places + place, own, minlength=n_strata * n_places)
        found = factors @ everything.reshape(n_strata, n_places)
        n_left = np.tile(np.bincount(place, minlength=n_places), (self.n_groups, 1))
        for side in self.sides:  # a trial of two groups goes with each; of one group on both sides once
            some = slice(None) if side is self.sides[0] else np.flatnonzero(side != self.sides[0])
            group, at = side[some], side[some] * n_places + place[some]
            gone = np.bincount(at, own[some] * factors[group, self._stratum[some]], minlength=n)
            found -= gone.reshape(found.shape)
            n_left -= np.bincount(at, minlength=n).reshape(found.shape)
        return np.where(n_left > 0, np.maximum(found, 0.0), 0.0)  # nothing is left of what is all gone

    def held_out(self, costs: FloatArray, cell: IntArray) -> FloatArray:
        """What each trial costs by decisions without the group of its unit; of two units, the mean of both.

        Parameters
        ----------
        costs : (n_groups, n_cells, ...) array
            By decisions that were made without each group.
        cell : (n_trials,) int array
        """
        return np.asarray(np.mean([costs[side, cell] for side in self.sides], axis=0))
