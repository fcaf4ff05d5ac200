"""Influences of units on shares of trials below thresholds, where each class has a mean of its own: at all at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import numpy as np

from deciban.core.resampling.class_sums import ClassMeans
from deciban.core.resampling.unit_counts import Table, Tally, cumulated, groups_of_units
from deciban.types import FloatArray, IntArray

_SLAB = 1 << 16
"""Trials at once: temporaries stay in cache."""

_SMALL = 1 << 18
"""Entries of a table up to which it is an array, however few are filled."""

_FILLED = 0.1

Places = Callable[[slice], Sequence[IntArray]]
"""Of some trials, how many of the thresholds lie at or below each: one array, or one by the unit on each side of
a trial, which count for equal parts."""


class SharesBelow:
    """What each unit does to weighted sums of the shares of classes that lie below thresholds.

    Such a sum is one of class means of costs that are 0 or 1, see `ClassMeans`: its influences are sums over trials of
    the unit, less the means of their classes times what the unit has of these. Tables of units and places, and of units
    and classes, give them at all thresholds at once; no threshold asks for the trials again.

    Parameters
    ----------
    means : ClassMeans
    most_units : int
        More units than these are dealt out to as many groups, whose influences are those of their units, summed.

    Attributes
    ----------
    n_units : int
        Units, or groups of them.
    """

    def __init__(self, means: ClassMeans, most_units: int) -> None:
        self.means, units = means, means.units
        self.n_units = min(units.n_units, most_units)
        self._codes = units.codes
        if units.n_units > most_units:
            dealt = groups_of_units(units.keys, most_units).astype(np.min_scalar_type(most_units))
            self._codes = tuple(dealt[side] for side in units.codes)

    def squares(
        self,
        places: Places,
        n_places: int,
        weight: FloatArray,
        sides: Sequence[Sequence[slice]],
        factors: FloatArray,
        rows: IntArray,
    ) -> FloatArray:
        """Sums of squares of the influences of all units on sums of shares below thresholds: of the sum, and each side.

        Parameters
        ----------
        places, n_places, weight
            As of `influences`.
        sides : sequence of sequences of slice
            Whole classes of the trials, such as those of the targets, and all others. No class is on two sides.
        factors : (n_sides, m) array
            By which the shares of each side are multiplied.
        rows : (..., m) int array
            Positions of thresholds, one for each factor.

        Returns
        -------
        (1 + n_sides, ..., m) array
        """
        if self.means.are_single:  # no unit is in two classes: squares of both sides add up
            apart = [self._squares_of_single(places, n_places, weight, some) for some in sides]
            squares = np.array([np.square(own) * one[rows] for own, one in zip(factors, apart, strict=True)])
            return np.concatenate((squares.sum(axis=0)[None], squares))
        of_sides = [self.influences(places, n_places, weight, some) for some in sides]
        found = np.empty((1 + len(sides), *rows.shape))
        for at, row in zip(np.ndindex(rows.shape[:-1]), rows.reshape(-1, rows.shape[-1]), strict=True):
            parts = [own[:, None] * one[row] for own, one in zip(factors, of_sides, strict=True)]
            for k, one in enumerate((sum(parts), *parts)):
                found[(k, *at)] = np.einsum("pu,pu->p", one, one)
        return found

    def influences(self, places: Places, n_places: int, weight: FloatArray, some: Sequence[slice]) -> FloatArray:
        """Derivatives in the weights of units, (n_places, n_units), of the sum over classes of their weighted shares.

        Parameters
        ----------
        places : callable
            Of a slice of the trials, the number of thresholds at or below each, from 0 to ``n_places``.
        n_places : int
            Number of thresholds, in ascending order.
        weight : (n_trials,) array
            That of the share of its class in the sum.
        some : sequence of slice
            Whole classes of the trials: only these are in the sum.

        Examples
        --------
        >>> from deciban.core.resampling.units import TrialUnits
        >>> label = np.array([0, 0, 1, 1])
        >>> means = ClassMeans.of(label, label, None, TrialUnits.of(["a", "b", "a", "b"]))
        >>> below, at = np.array([0, 1, 1, 1]), [slice(0, 4)]
        >>> SharesBelow(means, 100).influences(lambda some: [below[some]], 1, np.ones(4), at)
        array([[ 0.25, -0.25]])
        """
        strata = self._strata(some)
        by_unit, by_stratum = self._tally(self.n_units, n_places), self._tally(strata.stop - strata.start, n_places)
        for part, place, own in self._trials(places, weight, some):
            by_stratum.add([self.means.stratum[part] - strata.start], place, own)
            for unit, factor in self._of_units(part):
                by_unit.add([unit], place, own * factor)
        shares = np.cumsum(by_stratum.array(), axis=1)[:, :-1] / self._sizes[strata, None]
        derivatives = cumulated(np.ascontiguousarray(by_unit.array().T))[1:-1]
        derivatives -= self._means_of_units(strata, shares)
        return derivatives

    def _means_of_units(self, strata: slice, shares: FloatArray) -> FloatArray:
        """Shares of some classes (n_classes, n_places), times what each unit has of these: (n_places, n_units)."""
        own = self._parts[strata]
        return np.asarray(shares.T @ own if isinstance(own, np.ndarray) else (own.T @ shares).T)

    def _squares_of_single(
        self, places: Places, n_places: int, weight: FloatArray, some: Sequence[slice]
    ) -> FloatArray:
        """Squares of `influences`, (n_places,), where no unit has two trials: those of trials, added up by class."""
        strata = self._strata(some)
        once, squared = (self._tally(strata.stop - strata.start, n_places) for _ in range(2))
        for part, place, own in self._trials(places, weight, some):
            stratum = self.means.stratum[part] - strata.start
            once.add([stratum], place, own)
            squared.add([stratum], place, np.square(own * self._factors[0][part]))
        below, squares = (np.cumsum(one.array(), axis=1) for one in (once, squared))
        size = below[:, -1:]
        share = np.divide(below, size, out=np.zeros(below.shape), where=size > 0.0)[:, :-1]
        rest = np.maximum(squares[:, -1:] - squares[:, :-1], 0.0)
        return np.asarray(np.sum(np.square(1.0 - share) * squares[:, :-1] + np.square(share) * rest, axis=0))

    def _strata(self, some: Sequence[slice]) -> slice:
        """Between which classes, or those of a group, some trials are: few, if they are those of one."""
        filled = [one for one in some if one.stop > one.start]
        return slice(int(self.means.stratum[filled[0].start]), int(self.means.stratum[filled[-1].stop - 1]) + 1)

    def _trials(
        self, places: Places, weight: FloatArray, some: Sequence[slice]
    ) -> Iterator[tuple[slice, IntArray, FloatArray]]:
        """Some trials after others, with their places and what each adds to the sum of shares."""
        for part in _slabs(some):
            found = places(part)
            own = self.means.share[part] * weight[part] / len(found)
            for place in found:
                yield part, place, own

    def _tally(self, n_rows: int, n_places: int) -> Tally:
        return Tally(n_rows, n_places + 1, np.float64)

    def _of_units(self, part: slice) -> Iterator[tuple[IntArray, FloatArray]]:
        """Units of some trials, side by side, with the factors of their influences; one on both sides counts once."""
        for side, factor in zip(self._codes, self._factors, strict=True):
            yield side[part], factor[part]

    @cached_property
    def _factors(self) -> list[FloatArray]:
        return [self.means.factors(side) for side in range(len(self._codes))]

    @cached_property
    def _sizes(self) -> FloatArray:
        """What the shares of all trials of each class add up to: less than 1 where a group of classes shares it."""
        return np.asarray(np.add.reduceat(self.means.share, self.means.begins))

    @cached_property
    def _parts(self) -> Table:
        """What each unit has of each class, times its factor, (n_classes, n_units); a sparse matrix if that is less."""
        tally = Tally(len(self.means.begins), self.n_units, np.float64)
        for part in _slabs([slice(0, len(self.means.share))]):
            stratum = self.means.stratum[part]
            for unit, factor in self._of_units(part):
                tally.add([stratum], unit, self.means.share[part] * factor)
        table = tally.table()
        is_full = isinstance(table, np.ndarray) and np.count_nonzero(table) >= _FILLED * table.size
        if is_full or (isinstance(table, np.ndarray) and table.size <= _SMALL):
            return np.ascontiguousarray(table)
        from scipy.sparse import csr_matrix  # few need it

        return csr_matrix(table)


def _slabs(some: Sequence[slice]) -> Iterator[slice]:
    for one in some:
        for first in range(one.start, one.stop, _SLAB):
            yield slice(first, min(first + _SLAB, one.stop))
