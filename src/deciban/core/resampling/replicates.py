"""Replicates in blocks, in threads, with word of how far they are: the same whatever the threads do."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import pdtr

from deciban.core.resampling.class_sums import ClassMeans
from deciban.core.resampling.unit_counts import groups_of_units
from deciban.core.resampling.units import Keys, mixed_bits
from deciban.errors import InputError
from deciban.steps import teller
from deciban.types import AnyArray, BoolArray, CountArray, FloatArray, IntArray

Multipliers = NDArray[np.uint8]
"""How often units count, (n_units, n_replicates)."""


MOST = 14
"""A Poisson number of mean 1 is larger with a probability of 3e-13: no weight is. Products of two fit in a byte."""


_BITS, _TABLE_BITS = 53, 16

_AT_ONCE = 1 << 17
"""Weights that are drawn at once: temporaries stay in cache."""


def poisson_weights(keys: Keys, seed: int, replicates: AnyArray) -> Multipliers:
    """How often every unit counts in every replicate: Poisson numbers of mean and variance 1.

    Counter-based, as in Salmon and others 2011: a hash of seed, replicate and key of the unit, looked up in the
    distribution. So they depend neither on the order of units, nor on which others there are, nor on what was drawn
    before.

    Parameters
    ----------
    keys : (n_units,) uint64 array
        See `deciban.core.resampling.units.keys_of`.
    seed : int
        From 0 to 2**64 - 1.
    replicates : (n_replicates,) int array
        Numbers of the replicates.

    Returns
    -------
    (n_units, n_replicates) uint8 array

    Examples
    --------
    >>> from deciban.core.resampling.units import keys_of
    >>> some = poisson_weights(keys_of(["ann", "bob"]), 1, np.arange(1000))
    >>> bool(np.array_equal(some[1:, 500:], poisson_weights(keys_of(["bob"]), 1, np.arange(500, 1000))))
    True
    """
    with np.errstate(over="ignore"):
        streams = mixed_bits(mixed_bits(np.array([seed], np.uint64)) + np.asarray(replicates).astype(np.uint64))
    found = np.empty((len(keys), len(streams)), np.uint8)
    step = max(_AT_ONCE // max(len(streams), 1), 1)
    for first in range(0, len(keys), step):
        found[first : first + step] = _poisson(mixed_bits(keys[first : first + step, None] ^ streams))
    return found


def _poisson(bits: Keys) -> Multipliers:
    """Look up evenly spread numbers: most by their first bits, the few that these do not decide by all."""
    wide = bits >> np.uint64(64 - _BITS)
    place = (wide >> np.uint64(_BITS - _TABLE_BITS)).astype(np.intp)
    found = _LOWEST[place]
    unclear = np.flatnonzero(_IS_SPLIT[place])
    if len(unclear):
        found.reshape(-1)[unclear] = np.searchsorted(_BOUNDS, wide.reshape(-1)[unclear], side="right")
    return found


_BOUNDS = (pdtr(np.arange(MOST), 1.0) * 2.0**_BITS).astype(np.uint64)

_PLACES = np.bincount((_BOUNDS >> np.uint64(_BITS - _TABLE_BITS)).astype(np.intp), minlength=1 << _TABLE_BITS)

_LOWEST, _IS_SPLIT = (np.cumsum(_PLACES) - _PLACES).astype(np.uint8), _PLACES > 0


def checked_replicates(n_replicates: Any, seed: Any) -> tuple[int, int]:
    """A number of replicates, 0 for none, and a seed.

    Raises
    ------
    InputError
        If one of these is none. One replicate alone has no spread.

    Examples
    --------
    >>> checked_replicates(1000, 7)
    (1000, 7)
    """
    n_replicates = _whole(n_replicates, "bootstrap", "a number of replicates", 2**31 - 1)
    if n_replicates == 1:
        raise InputError("bootstrap: got 1. One replicate says nothing of a spread: take 1000, or 0 for none.")
    return n_replicates, _whole(seed, "seed", "a seed", 2**64 - 1)


def _whole(value: Any, name: str, what: str, most: int) -> int:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer) or not 0 <= value <= most:
        raise InputError(f"{name}: got {value!r}. It is {what}, a whole number from 0 to {most:,}.")
    return int(value)


BLOCK, _FEWEST = 256, 16
"""Replicates at once, and where there are very many units. Blocks are always drawn whole: what a replicate is does not
depend on how many there are."""


_WEIGHTS = 1 << 26
"""Weights of a block, as far as it does not get too small: each is a byte."""


_THREADS = 4


Replicated: TypeAlias = tuple[FloatArray, BoolArray]
"""Figures (n_replicates, n_figures), and which replicates have them: rows of others mean nothing."""


FiguresOf: TypeAlias = Callable[[Multipliers], Replicated]
"""From weights (n_units, n_replicates)."""


FiguresOfTables: TypeAlias = Callable[[CountArray, CountArray], FloatArray]
"""From tables of targets and of non-targets (n_tables, n_cells) to figures (n_tables, n_figures)."""


def of_both_classes(
    figures_of: FiguresOfTables, sums: tuple[CountArray, CountArray], whole: tuple[CountArray, CountArray]
) -> Replicated:
    """Figures of a block of replicates from the sums of weights in cells.

    Parameters
    ----------
    figures_of : function
    sums : pair of (n_cells, n_replicates) arrays
        Of targets and of non-targets.
    whole : pair of (n_cells,) arrays
        All trials, which stand in for replicates without a class: shapes stay, so that no sum depends on what else is
        in the block.
    """
    tables = [np.ascontiguousarray(one.T) for one in sums]
    has_both: BoolArray = np.logical_and.reduce([one.any(axis=1) for one in tables])
    for table, own in zip(tables, whole, strict=True):
        table[~has_both] = own
    return figures_of(tables[0], tables[1]), has_both


def block_size(n_units: int) -> int:
    """How many replicates are drawn at once."""
    return max(min(BLOCK, _WEIGHTS // max(n_units, 1)), _FEWEST)


def replicates_of(figures_of: FiguresOf, keys: Keys, *, seed: int, n_replicates: int) -> Replicated:
    """Draw replicates.

    Parameters
    ----------
    figures_of : function
        Called in several threads, with blocks of up to `BLOCK` replicates. Exceptions pass.
    keys : (n_units,) uint64 array
    seed, n_replicates : int

    Returns
    -------
    figures : (n_replicates, n_figures) array
    has_figures : (n_replicates,) array
        Where not, a class has no weight at all and figures do not exist: these rows mean nothing.
    """

    def block(first: int) -> Replicated:
        return figures_of(poisson_weights(keys, seed, np.arange(first, first + size)))

    size = block_size(len(keys))
    tell, found = teller(n_replicates, "replicates"), list[Replicated]()
    tell(0)
    with ThreadPoolExecutor(min(os.cpu_count() or 1, _THREADS)) as pool:
        try:
            for one in pool.map(block, range(0, n_replicates, size)):
                found.append(one)
                tell(min(len(found) * size, n_replicates))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    figures, has_figures = (np.concatenate(parts)[:n_replicates] for parts in zip(*found, strict=True))
    return figures, has_figures


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
        self.share, self._stratum, self.n_groups = means.share, means.block.stratum, int(group.max(initial=0)) + 1
        whole = means.design.weights.totals * means.design.share
        masses = [np.bincount(self._stratum, means.share * self.stays(k)) for k in range(self.n_groups)]
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
