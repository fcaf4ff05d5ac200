"""Bootstrap replicates in blocks and threads, and weighted counts of trials by bin for many replicates.

The weight of a trial with one unit is the weight of the unit; with two units, it is the product (the vertex bootstrap;
if the sides share no units, the product-weight bootstrap of Owen and Eckles 2012). Replicates do not depend on threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import pdtr

from deciban._validate import arrays as _validate
from deciban.core.resampling.unit_counts import Table, groups_of_units, sums_of_rows
from deciban.core.resampling.units import Keys, TrialUnits, mixed_bits
from deciban.errors import InputError, teller
from deciban.types import AnyArray, BoolArray, CountArray, FloatArray, FloatPair, IntArray

if TYPE_CHECKING:
    from deciban.core.resampling.class_sums import ClassMeans

Multipliers = NDArray[np.uint8]
"""Weights of units, (n_units, n_replicates)."""


MOST = 14
"""Limit of weights. A Poisson number of mean 1 exceeds it with probability 3e-13. Products of two fit in a byte."""


_BITS, _TABLE_BITS = 53, 16

_AT_ONCE = 1 << 17
"""Weights that are drawn at once: temporaries stay in cache."""


def poisson_weights(keys: Keys, seed: int, replicates: AnyArray) -> Multipliers:
    """Return the weight of every unit in every replicate: Poisson numbers of mean and variance 1.

    The method is counter-based, as in Salmon and others 2011: a hash of seed, replicate and key of the unit is looked
    up in the distribution. So weights do not depend on the order of units, on other units, or on previous draws.

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
    multipliers = np.empty((len(keys), len(streams)), np.uint8)
    step = max(_AT_ONCE // max(len(streams), 1), 1)
    for first in range(0, len(keys), step):
        multipliers[first : first + step] = _poisson(mixed_bits(keys[first : first + step, None] ^ streams))
    return multipliers


def _poisson(bits: Keys) -> Multipliers:
    """Look up uniform numbers: most by their first bits, the few unclear ones by all bits."""
    wide = bits >> np.uint64(64 - _BITS)
    place = (wide >> np.uint64(_BITS - _TABLE_BITS)).astype(np.intp)
    multipliers = _LOWEST[place]
    unclear = np.flatnonzero(_IS_SPLIT[place])
    if len(unclear):
        multipliers.reshape(-1)[unclear] = np.searchsorted(_BOUNDS, wide.reshape(-1)[unclear], side="right")
    return multipliers


_BOUNDS = (pdtr(np.arange(MOST), 1.0) * 2.0**_BITS).astype(np.uint64)

_PLACES = np.bincount((_BOUNDS >> np.uint64(_BITS - _TABLE_BITS)).astype(np.intp), minlength=1 << _TABLE_BITS)

_LOWEST, _IS_SPLIT = (np.cumsum(_PLACES) - _PLACES).astype(np.uint8), _PLACES > 0


def checked_replicates(n_replicates: object, seed: object) -> tuple[int, int]:
    """Return a checked number of replicates, 0 for none, and a seed.

    Raises
    ------
    InputError
        If an argument is invalid. A single replicate has no spread.

    Examples
    --------
    >>> checked_replicates(1000, 7)
    (1000, 7)
    """
    n_replicates = _whole(n_replicates, "bootstrap", "a number of replicates", 2**31 - 1)
    if n_replicates == 1:
        raise InputError("bootstrap: got 1. A single replicate has no spread: use 1000, or 0 for none.")
    return n_replicates, _whole(seed, "seed", "a seed", 2**64 - 1)


def _whole(value: object, name: str, what: str, most: int) -> int:
    return _validate.whole(value, name, 0, most, f"It must be {what}, a whole number from 0 to {most:,}")


BLOCK, _FEWEST = 256, 16
"""Number of replicates at once, and with very many units. Blocks are always drawn whole, so that a replicate does not
depend on their number."""


_WEIGHTS = 1 << 26
"""Limit of weights in a block, unless it gets too small; each weight is one byte."""


_THREADS = 4


Replicated: TypeAlias = tuple[FloatArray, BoolArray]
"""Metrics (n_replicates, n_metrics), and True for replicates with metrics; other rows are undefined."""


MetricsOf: TypeAlias = Callable[[Multipliers], Replicated]
"""Function of weights (n_units, n_replicates)."""


MetricsOfTables: TypeAlias = Callable[[CountArray, CountArray], FloatArray]
"""Function from tables of targets and of non-targets (n_tables, n_bins) to metrics (n_tables, n_metrics)."""


def of_both_classes(
    metrics_of: MetricsOfTables, sums: tuple[CountArray, CountArray], whole: tuple[CountArray, CountArray]
) -> Replicated:
    """Return metrics of a block of replicates from the sums of weights in bins.

    Parameters
    ----------
    metrics_of : function
    sums : pair of (n_bins, n_replicates) arrays
        Sums of targets and of non-targets.
    whole : pair of (n_bins,) arrays
        All trials, which replace replicates without a class: shapes do not change, so that no sum depends on the rest
        of the block.
    """
    tables = [np.ascontiguousarray(one.T) for one in sums]
    has_both: BoolArray = np.logical_and.reduce([one.any(axis=1) for one in tables])
    for table, own in zip(tables, whole, strict=True):
        table[~has_both] = own
    return metrics_of(tables[0], tables[1]), has_both


def block_size(n_units: int) -> int:
    """Return the number of replicates that are drawn at once."""
    return max(min(BLOCK, _WEIGHTS // max(n_units, 1)), _FEWEST)


def replicates_of(metrics_of: MetricsOf, keys: Keys, *, seed: int, n_replicates: int) -> Replicated:
    """Draw replicates.

    Parameters
    ----------
    metrics_of : function
        Called in several threads, with blocks of up to `BLOCK` replicates. Exceptions are passed on.
    keys : (n_units,) uint64 array
    seed, n_replicates : int

    Returns
    -------
    metrics : (n_replicates, n_metrics) array
    has_metrics : (n_replicates,) array
        False if a class has no weight, so that metrics do not exist: these rows are undefined.
    """

    def block(first: int) -> Replicated:
        return metrics_of(poisson_weights(keys, seed, np.arange(first, first + size)))

    size = block_size(len(keys))
    tell, result = teller(n_replicates, "replicates"), list[Replicated]()
    tell(0)
    with ThreadPoolExecutor(min(os.cpu_count() or 1, _THREADS)) as pool:
        try:
            for one in pool.map(block, range(0, n_replicates, size)):
                result.append(one)
                tell(min(len(result) * size, n_replicates))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    metrics, has_metrics = (np.concatenate(parts)[:n_replicates] for parts in zip(*result, strict=True))
    return metrics, has_metrics


class LeftOut:
    """Contributions of trials to the means of classes without each group of units; class weights do not change.

    Parameters
    ----------
    means : ClassMeans
    n_groups : int

    Attributes
    ----------
    keys : (n_units,) uint64 array
        Keys of the units.
    sides : list of (n_trials,) int arrays
        Groups of the units of each trial.
    is_possible : bool
        True if there are groups, and no group has all trials of a class.
    share : (n_trials,) array
        Contributions of trials with all groups.
    """

    def __init__(self, means: ClassMeans, n_groups: int) -> None:
        self.keys = means.units.keys
        group = groups_of_units(self.keys, n_groups)
        self.sides: list[IntArray] = [group[codes] for codes in means.units.codes]
        self.share, self._stratum, self.n_groups = means.share, means.block.stratum, int(group.max(initial=0)) + 1
        whole = means.design.weights.totals * means.design.share
        masses = [np.bincount(self._stratum, means.share * self.stays(k)) for k in range(self.n_groups)]
        self.is_possible = self.n_groups > 1 and all(bool((mass > 0.0).all()) for mass in masses)
        self._factors = [whole / np.where(mass > 0.0, mass, 1.0) for mass in masses]

    def stays(self, number: int) -> FloatArray:
        """Return 1 for trials without units of a group, 0 for others."""
        values = np.ones(len(self.share))
        for side in self.sides:
            values *= side != number
        return values

    def weights(self) -> Iterator[FloatPair]:
        """Yield the contributions of trials without each group (0 for its trials), and the remaining trials."""
        for number, factor in enumerate(self._factors):
            stays = self.stays(number)
            yield self.share * factor[self._stratum] * stays, stays

    def tables(self, place: IntArray, n_places: int, weight: FloatArray, *, makes_up: bool) -> FloatArray:
        """Return sums of contributions at each position without each group, (n_groups, n_places).

        All trials are counted once, and the trials of each group are subtracted.

        Parameters
        ----------
        place : (n_trials,) int array
        n_places : int
        weight : (n_trials,) array
            Factors of the contributions.
        makes_up : bool
            Rescale the remaining trials of a class to its full weight, as in `weights`.
        """
        factors, own, n = np.array(self._factors), self.share * weight, self.n_groups * n_places
        if not makes_up:
            factors = np.ones_like(factors)
        n_strata = factors.shape[1]
        everything = np.bincount(self._stratum * n_places + place, own, minlength=n_strata * n_places)
        result = factors @ everything.reshape(n_strata, n_places)
        n_left = np.tile(np.bincount(place, minlength=n_places), (self.n_groups, 1))
        for side in self.sides:  # subtract a trial from both of its groups, once if they are equal
            some = slice(None) if side is self.sides[0] else np.flatnonzero(side != self.sides[0])
            group, at = side[some], side[some] * n_places + place[some]
            gone = np.bincount(at, own[some] * factors[group, self._stratum[some]], minlength=n)
            result -= gone.reshape(result.shape)
            n_left -= np.bincount(at, minlength=n).reshape(result.shape)
        return np.where(n_left > 0, np.maximum(result, 0.0), 0.0)  # exactly 0 without remaining trials

    def held_out(self, costs: FloatArray, bin_of: IntArray) -> FloatArray:
        """Return the cost of each trial by decisions without the group of its unit; with two units, the mean of both.

        Parameters
        ----------
        costs : (n_groups, n_bins, ...) array
            Costs by decisions without each group.
        bin_of : (n_trials,) int array
        """
        return np.asarray(np.mean([costs[side, bin_of] for side in self.sides], axis=0))


_GROUP = 18
"""Number of trials whose weights of one unit are summed in a byte: 18 times 14 fits."""

_RUN = 334
"""Number of trials whose products are summed in 16 bits: 334 products of 14 and 14 fit."""

_GROUPS, _WEIGHTED = 1 << 12, 1 << 10
"""Groups at once, for trials without and with weights: enough for long calls, few enough for cache."""

_TABLE = 1 << 26
"""Bytes of weights of units at once, for at least two replicates."""

_SAMPLED = 8
"""One in this many trials is checked for frequent units; this affects only speed."""

_UNITS = 1 << 16
_EXACT = 1 << 24
"""Below this, whole numbers are exact in 32 bits, which are multiplied twice as fast."""

_DENSE_FROM = 0.1
"""Share of non-zero entries above which a table of units and bins is multiplied as an array."""


class BinSums(Protocol):
    """Weighted counts of one class of trials."""

    def of(self, weights: Multipliers) -> CountArray:
        """Return the sum of the weights of trials in every bin, (n_bins, n_replicates), for weights of units."""
        ...


def bin_sums(units: TrialUnits, bin_of: IntArray, n_bins: int, weights: CountArray | None = None) -> BinSums:
    """Prepare the sums for trials of one class.

    Parameters
    ----------
    units : TrialUnits
        Units of these trials.
    bin_of : (n,) int array
        Bin of each trial.
    n_bins : int
    weights : (n,) array, optional
        Weights of trials.
    """
    if len(units.codes) == 2 and not np.array_equal(*units.codes):
        return SumsOfProducts(units, bin_of, n_bins, weights)
    from scipy.sparse import coo_matrix  # only needed for resampling

    values = np.ones(len(bin_of), np.int64) if weights is None else weights
    return SumsOfUnits(coo_matrix((values, (units.codes[0], bin_of)), shape=(units.n_units, n_bins)).tocsr())


class SumsOfUnits:
    """Trials with one unit each: products with a table.

    Parameters
    ----------
    counts : (n_units, n_bins) array or sparse matrix
    """

    def __init__(self, counts: Table) -> None:
        from scipy.sparse import csr_matrix

        self.n_bins, self.parts = counts.shape[1], []
        self.is_whole = counts.dtype.kind in "iu"
        for first in range(0, counts.shape[0], _UNITS):
            part = csr_matrix(counts[first : first + _UNITS].T, dtype=np.float64)
            if self.is_whole and sums_of_rows(abs(part)).max(initial=0.0) * MOST < _EXACT:
                part = part.astype(np.float32)
            is_dense = part.nnz > _DENSE_FROM * part.shape[0] * part.shape[1]
            self.parts.append((slice(first, first + _UNITS), part.toarray() if is_dense else part))

    def of(self, weights: Multipliers) -> CountArray:
        """Return the sum of the weights of trials in every bin; exact for whole numbers, which stay far below 2**53."""
        total = np.zeros((self.n_bins, weights.shape[1]))
        for some, part in self.parts:
            total += part @ weights[some].astype(part.dtype)
        return total.astype(np.int64) if self.is_whole else total


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """Trials of some bins in groups that share a unit, their hub.

    Attributes
    ----------
    others : (n_groups, n_units + 1) sparse matrix
        Multiplicity of each unit besides the hub in the groups; the last unit always counts once.
    hubs : (n_groups,) int array
    runs : (n_runs, n_groups) sparse matrix
        Groups that are summed together.
    starts, bins : (n_filled,) int arrays
        First run of each non-empty bin, and the bin.
    """

    others: Table
    hubs: IntArray
    runs: Table
    starts: IntArray
    bins: IntArray


class SumsOfProducts:
    """Trials with two units each; in each bin, trials with a common unit are summed before multiplying by its weight.

    ``sum u_i u_j`` over the trials of a bin is the sum over i of ``u_i`` times the sum of ``u_j``: a unit is looked up
    once for all its trials in the bin. Of the two units of a trial, the hub is the one with more trials. A unit on both
    sides of a trial counts once.

    Parameters
    ----------
    units : TrialUnits
    bin_of : (n,) int array
    n_bins : int
    weights : (n,) array, optional
        Weights of trials; with weights, sums are floats.
    """

    def __init__(self, units: TrialUnits, bin_of: IntArray, n_bins: int, weights: CountArray | None) -> None:
        self.n_bins, self.is_whole = n_bins, weights is None
        n_units, n_trials = units.n_units, len(bin_of)
        n_own = sum(np.bincount(side[::_SAMPLED], minlength=n_units) for side in units.codes)
        self.by_size = np.argsort(-n_own, kind="stable")
        place = np.empty(n_units, np.int32)
        place[self.by_size] = np.arange(n_units)
        one, other = (place[side] for side in units.codes)
        hub, beside = np.minimum(one, other), np.maximum(one, other)
        beside[one == other] = n_units
        hub, beside, values = _sorted(bin_of, hub, beside, weights)
        sizes = np.bincount(bin_of, minlength=n_bins)
        filled = np.flatnonzero(sizes)
        first_trials = np.cumsum(sizes[filled]) - sizes[filled]
        runs = _cut(first_trials, n_trials, _RUN)
        bins = filled[np.searchsorted(first_trials, runs, side="right") - 1]
        is_first = np.ones(n_trials, np.bool_)
        np.not_equal(hub[1:], hub[:-1], out=is_first[1:])
        is_first[runs] = True
        groups = _cut(np.flatnonzero(is_first), n_trials, _GROUP)
        self.parts = list(_parts_of(groups, runs, bins, (hub, beside, values), n_units))

    def of(self, weights: Multipliers) -> CountArray:
        """Return the sum of the products in every bin; exact without weights of trials."""
        n_units, n_replicates = weights.shape
        step = max(_TABLE // ((1 if self.is_whole else 8) * (n_units + 1)) // 2, 1) * 2
        return np.hstack([self._of(weights[:, first : first + step]) for first in range(0, n_replicates, step)])

    def _of(self, weights: Multipliers) -> CountArray:
        """Return the sums for as many replicates as fit in memory."""
        n_units, n_replicates = weights.shape
        width = n_replicates + n_replicates % 2
        table = np.ones((n_units + 1, width), np.uint8)
        table[:-1, :n_replicates] = weights[self.by_size]
        if self.is_whole:
            total, known = np.zeros((self.n_bins, width), np.int64), _packed(table)
        else:
            total, known = np.zeros((self.n_bins, width)), table.astype(np.float64)
        for part in self.parts:
            sums, of_hubs = part.others @ known, known.take(part.hubs, axis=0)
            pairs = zip(_unpacked(sums), _unpacked(of_hubs), strict=True) if self.is_whole else [(sums, of_hubs)]
            for own, columns in zip(pairs, np.hsplit(total, 2) if self.is_whole else [total], strict=True):
                product = np.multiply(*own, out=own[0])
                columns[part.bins] += np.add.reduceat(part.runs @ product, part.starts, axis=0, dtype=total.dtype)
        return total[:, :n_replicates]


def _packed(table: Multipliers) -> AnyArray:
    """Pack two replicates in one number, (n, n_replicates / 2), so that bytes are summed for both at once."""
    first, second = np.hsplit(table, 2)
    return np.asarray(first | second.astype(np.uint16) << 8)


def _unpacked(sums: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Return the first half of the replicates, and the second."""
    return sums & 0xFF, sums >> 8


def _sorted(
    bin_of: IntArray, hub: IntArray, beside: IntArray, weights: CountArray | None
) -> tuple[IntArray, IntArray, FloatArray | None]:
    """Return hubs, their partner units, and weights of trials, sorted by bin and hub."""
    bits = int(beside.max(initial=0)).bit_length()
    key = bin_of.astype(np.int64)
    key <<= bits
    key |= hub
    if weights is None and int(bin_of.max(initial=0)).bit_length() + 2 * bits < 64:
        key <<= bits
        key |= beside
        key.sort()  # sorting numbers is faster than sorting positions
        mask = (1 << bits) - 1
        beside = (key & mask).astype(np.int32)
        key >>= bits
        return (key & mask).astype(np.int32), beside, None
    order = np.argsort(key, kind="stable")
    return hub[order], beside[order], None if weights is None else weights[order].astype(np.float64)


def _cut(starts: IntArray, stop: int, most: int) -> IntArray:
    """Return starts of stretches, up to ``stop``; stretches longer than ``most`` are cut."""
    n_partitions = -(-np.diff(starts, append=stop) // most)
    before = np.cumsum(n_partitions) - n_partitions
    return np.asarray(np.repeat(starts - before * most, n_partitions) + np.arange(n_partitions.sum()) * most)


def _parts_of(
    groups: IntArray, runs: IntArray, bins: IntArray, trials: tuple[IntArray, IntArray, FloatArray | None], n_units: int
) -> Iterator[_Part]:
    """Yield whole runs with about the requested number of groups at once.

    Parameters
    ----------
    groups, runs : int arrays
        First trial of each.
    bins : (n_runs,) int array
    trials : (hub, beside, weights)
        Arrays of all trials, sorted by bin and hub.
    n_units : int
    """
    from scipy.sparse import csr_matrix

    hub, beside, weights = trials
    size = _GROUPS if weights is None else _WEIGHTED
    ones: AnyArray = np.ones(len(beside), np.uint16) if weights is None else np.ones(len(groups))
    values: AnyArray = ones if weights is None else weights
    group_ends, run_ends = np.append(groups, len(hub)), np.append(np.searchsorted(groups, runs), len(groups))
    cuts = np.searchsorted(run_ends, np.arange(0, len(groups), size))
    for first, last in pairwise(np.unique(np.append(cuts, len(runs))).tolist()):
        own, of_runs = slice(run_ends[first], run_ends[last]), run_ends[first : last + 1] - run_ends[first]
        of_groups = group_ends[own.start : own.stop + 1] - group_ends[own.start]
        n_groups, some = len(of_groups) - 1, slice(group_ends[own.start], group_ends[own.stop])
        others = csr_matrix((values[some], beside[some], of_groups), shape=(n_groups, n_units + 1))
        together = csr_matrix((ones[:n_groups], np.arange(n_groups), of_runs), shape=(len(of_runs) - 1, n_groups))
        starts = np.flatnonzero(np.diff(bins[first:last], prepend=-1))
        yield _Part(others, hub[groups[own]], together, starts, bins[first:last][starts])
