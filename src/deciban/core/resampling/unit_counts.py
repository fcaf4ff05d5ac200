"""Counts of the trials of a class by unit and bin, which can be added; every influence is a product with them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from deciban.core.resampling.intervals import ClassSize, effective_numbers, small_sample_factors
from deciban.core.resampling.linearised import ScoreBins
from deciban.core.resampling.units import (
    ClassFacts,
    Keys,
    TrialUnits,
    UnitFacts,
    UnlistedUnits,
    independent,
    mixed_bits,
)
from deciban.types import AnyArray, CountArray, FloatArray, FloatPair, Foreign, IntArray, ScoreArray

Table: TypeAlias = Any
K = TypeVar("K")
"""A numpy array of units and bins, or a sparse matrix if most entries are 0."""


_DENSE, _SMALL = 1 << 22, 1 << 20
"""Number of entries up to which a table is an array, and up to which it is one although most entries are 0."""


_BLOCK = 1 << 18
"""Entries of a table that are processed at once."""


_FEW = 1 << 30
"""Number of trials with two units that can be counted in 32 bits."""


_WIDE = 256
"""Number of units above which a table is cumulated faster row by row."""


MOST_DEALT = 1 << 16
"""Limit of units that are assigned to groups of equal size."""


_FILLED = 0.1
"""Share of non-zero entries below which a large table is a sparse matrix."""


@dataclass(frozen=True, slots=True, eq=False)
class UnitCounts:
    """Trials of one class (or their weight) by unit and bin; ``a + b`` merges two sets of trials.

    A trial with two units counts for each of them; a trial with the same unit on both sides counts once.

    Attributes
    ----------
    counts : (n_units, n_bins) array or sparse matrix
    keys : (n_units,) uint64 array
        Keys of the units; the same in all summands.
    in_bins : (n_bins,) array
        Trials of all units, each counted once.
    group : (n_units,) int array
        Groups that are left out together; see `groups_of_units`.
    inside : (n_groups, n_bins) array
        Trials with two different units of one group, which count twice in the sum over its units.
    by_group : (n_groups, n_bins) array
        Trials of the units of each group; two units count for both.
    """

    counts: Table
    keys: Keys
    in_bins: CountArray
    group: IntArray
    inside: CountArray
    by_group: CountArray

    @classmethod
    def of(
        cls, scores: ScoreArray, units: TrialUnits, bins: ScoreBins, group: IntArray, weights: CountArray | None = None
    ) -> UnitCounts:
        """Count checked trials.

        Parameters
        ----------
        scores : (n,) array
        units : TrialUnits
            Units of these trials.
        bins : ScoreBins
        group : (n_units,) int array
        weights : (n,) array, optional
        """
        bin_of, first, shape = bins.of(scores), units.codes[0], (units.n_units, bins.n_bins)
        n_groups = int(group.max(initial=0)) + 1
        few, dealt = (n_groups, bins.n_bins), group.astype(np.min_scalar_type(n_groups))
        groups = [dealt.take(side) for side in units.codes]
        by_group = as_array(_table(groups[0], bin_of, weights, few))
        in_bins, inside = by_group.sum(axis=0), np.zeros_like(by_group)

        def counted(codes: IntArray, some: IntArray, shape: tuple[int, int]) -> Table:
            return _table(codes[some], bin_of[some], None if weights is None else weights[some], shape)

        if len(groups) == 1:
            return cls(_table(first, bin_of, weights, shape), units.keys, in_bins, group, inside, by_group).packed()
        other, together = units.codes[1], np.flatnonzero(groups[0] == groups[1])
        is_same = other[together] == first[together]
        twice, within = together[is_same], together[~is_same]
        inside = as_array(counted(groups[0], within, few))
        by_group = by_group + as_array(_table(groups[1], bin_of, weights, few) - counted(groups[0], twice, few))
        if weights is None and _is_sparse(shape, len(scores)) and len(scores) < _FEW:
            counts = _added(_pairs_by_bin(first, other, bin_of, shape))
        else:
            counts = _table(first, bin_of, weights, shape) + _table(other, bin_of, weights, shape)
            counts = counts - counted(first, twice, shape) if len(twice) else counts  # a unit on both sides counts once
        return cls(counts, units.keys, in_bins, group, inside, by_group).packed()

    def __add__(self, other: UnitCounts) -> UnitCounts:
        """Merge with the counts of other trials of the same units, in the same bins."""
        kind = np.result_type(self.in_bins, other.in_bins)
        names = {one.name for one in fields(self)} & {"in_bins", "inside", "by_group", "by_stratum", "spread"}
        entries: dict[str, Any] = {name: getattr(self, name) + getattr(other, name) for name in names}
        return replace(self, counts=self.counts.astype(kind) + other.counts.astype(kind), **entries)

    @property
    def n_units(self) -> int:
        """Number of units, including units without trials of this class."""
        return len(self.keys)

    @property
    def total(self) -> float:
        """Number (or weight) of trials of the class."""
        return float(self.in_bins.sum())

    @property
    def totals(self) -> FloatArray:
        """Number (or weight) of trials of each unit."""
        return sums_of_rows(self.counts)

    def small_sample(self, totals: FloatArray) -> FloatArray:
        """Return factors of influences from `totals`; see `deciban.core.resampling.intervals.small_sample_factors`."""
        return small_sample_factors(totals / self.total)

    def mean(self, costs: FloatArray) -> FloatArray:
        """Return the mean over the trials of costs of bins, (n_bins,) or (n_bins, n_metrics)."""
        return np.asarray(self.in_bins @ costs / self.total)

    @property
    def is_sparse(self) -> bool:
        """True if the table is a sparse matrix."""
        return hasattr(self.counts, "nnz")

    def packed(self) -> UnitCounts:
        """Return the same counts; arrays of whole numbers are as short as possible."""
        if hasattr(self.counts, "nnz") or self.counts.dtype.kind == "f":
            return self
        return replace(self, counts=self.counts.astype(np.min_scalar_type(self.counts.max(initial=0)), copy=False))

    def block(self, part: slice) -> FloatArray:
        """Return the counts of some units as a float array."""
        return np.asarray(as_array(self.counts[part]).astype(np.float64))

    def influence(self, costs: FloatArray, table: Table) -> FloatArray:
        """Return derivatives of mean costs, (n_bins, n_metrics), in the weights of the units of a block, at weight 1.

        The weight of a unit multiplies its trials, and the mean is over all trials: ``sum (x - mean) / total``.
        """
        return np.asarray(table @ ((costs - self.mean(costs)) / self.total))

    def products(self, part: slice, costs: FloatArray, group: IntArray, factors: FloatArray) -> FloatArray:
        """Return products of the rows of a block with the costs of their groups, times factors, (n, n_metrics).

        Parameters
        ----------
        part : slice
        costs : (n_groups, n_bins, n_metrics) array
        group : (n_units,) int array
        factors : (n_units,) array
        """
        n_groups, n_bins, n_metrics = costs.shape
        own, scale = group[part], factors[part]
        if self.is_sparse:  # one product with the costs of all groups below each other
            table = _rows(self.counts, part, own * n_bins, n_groups * n_bins)
            table.data *= scale.repeat(np.diff(table.indptr))
            return np.asarray(table @ costs.reshape(-1, n_metrics))
        table, values = self.block(part), np.empty((len(own), n_metrics))
        for number in np.unique(own):
            rows = np.flatnonzero(own == number)
            values[rows] = table[rows] @ costs[number] * scale[rows, None]
        return values

    def in_groups(self, n_groups: int) -> UnitCounts:
        """Return counts with groups of units in place of units; the influence of a group is the sum over its units."""
        dealt = groups_of_units(self.keys, n_groups)
        return replace(self, counts=self._summed(dealt, n_groups), keys=self.keys[:n_groups])

    def _summed(self, group: IntArray, n_groups: int) -> Table:
        """Return the trials of the units of each group, a row for each group."""
        counts = self.counts
        if hasattr(counts, "nnz"):
            rows = np.repeat(group, np.diff(counts.indptr))
            return _table(rows, counts.indices, counts.data, (n_groups, counts.shape[1]))
        from scipy.sparse import csr_matrix  # rarely needed

        n = len(group)
        members = csr_matrix((np.ones(n, self.in_bins.dtype), (group, np.arange(n))), shape=(n_groups, n))
        return members @ self.counts

    def between(self, places: IntArray) -> UnitCounts:
        """Return counts with fewer bins: those between two neighbours of ``places``, from 0 to ``n_bins``, are one."""
        in_bins: CountArray = np.add.reduceat(self.in_bins, places[:-1])
        old: Any = self.counts
        if not hasattr(old, "nnz"):
            counts = np.add.reduceat(old.T, places[:-1], axis=0, dtype=in_bins.dtype).T
            return replace(self, counts=counts, in_bins=in_bins)
        from scipy.sparse import csr_matrix  # rarely needed

        of_bin = np.searchsorted(places, np.arange(len(self.in_bins)), side="right") - 1
        columns = of_bin.astype(old.indices.dtype)[old.indices]
        fewer = csr_matrix((old.data.copy(), columns, old.indptr.copy()), shape=(old.shape[0], len(places) - 1))
        fewer.sum_duplicates()  # several times faster than a product
        return replace(self, counts=fewer, in_bins=in_bins)

    @property
    def without_groups(self) -> CountArray:
        """Trials in every bin without units of each group, (n_groups, n_bins)."""
        left: CountArray = self.in_bins - self.by_group + self.inside
        return left if left.dtype == np.int64 else np.where(left > 1e-9 * self.in_bins, left, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class CountedByUnit:
    """Trials of both classes by unit and bin; ``a + b`` merges two sets of trials.

    Attributes
    ----------
    tar, non : UnitCounts
    n_trials : (2,) int array
        Numbers of targets and non-targets that count.
    """

    tar: UnitCounts
    non: UnitCounts
    n_trials: IntArray

    def __add__(self, other: CountedByUnit) -> CountedByUnit:
        """Add the trials of another batch."""
        return CountedByUnit(self.tar + other.tar, self.non + other.non, self.n_trials + other.n_trials)


def _is_sparse(shape: tuple[int, int], n_trials: int) -> bool:
    """Return True if a table of so many trials is a sparse matrix."""
    size = math.prod(shape)
    return size > _DENSE or (size > _SMALL and n_trials < _FILLED * size)


def _pairs_by_bin(first: IntArray, other: IntArray, bin_of: IntArray, shape: tuple[int, int]) -> Table:
    """Return the two units of each trial by bin, for `_added`; a unit on both sides counts once."""
    from scipy.sparse import coo_matrix, csr_matrix  # rarely needed

    n_bins = shape[1]
    pairs: IntArray = np.stack((first, other), axis=1).astype(np.int32, copy=False).view(np.int64)[:, 0]
    by_bin: Foreign = coo_matrix((pairs, (bin_of, bin_of)), shape=(n_bins, n_bins))
    by_bin.has_canonical_format = True  # only to bring the pairs into the order of bins
    by_bin = by_bin.tocsr()
    pairs, starts = by_bin.data.view(np.int32), 2 * by_bin.indptr
    del by_bin  # memory that is free again need not be fetched from the system
    once = np.ones(len(pairs), np.int8)
    once[1::2] = pairs[1::2] != pairs[::2]
    return csr_matrix((once, pairs, starts), shape=(n_bins, shape[0]))


def _added(by_bin: Table) -> Table:
    """Return a sparse matrix of bins and units by unit and bin; trials of a unit in a bin meet without a sort."""
    from scipy.sparse import csr_matrix  # rarely needed

    n, by_unit = by_bin.nnz, by_bin.tocsc()
    del by_bin
    kind = np.int32 if n < _FEW else np.int64
    counts = by_unit.data.astype(kind) if by_unit.dtype == np.int8 else by_unit.data
    table = csr_matrix((counts, by_unit.indices, by_unit.indptr), shape=by_unit.shape[::-1])
    table.sum_duplicates()
    return table


def _table(unit: IntArray, bin_of: IntArray, weights: CountArray | None, shape: tuple[int, int]) -> Table:
    """Return trials, or their weight, by unit and bin; a sparse matrix if there are many of both."""
    n_units, n_bins = shape
    size = n_units * n_bins
    if _is_sparse(shape, len(bin_of)):
        from scipy.sparse import coo_matrix  # rarely needed

        own: Any = np.ones(len(bin_of), np.int8) if weights is None else weights
        by_bin: Foreign = coo_matrix((own, (bin_of, unit)), shape=(n_bins, n_units))
        by_bin.has_canonical_format = True  # nothing is added yet
        return _added(by_bin.tocsr())
    place = bin_of * np.int64(n_units)
    place += unit
    counts: CountArray = np.bincount(place, weights, size)
    kind: DTypeLike = np.int64 if weights is None else weights.dtype
    return counts.astype(kind, copy=False).reshape(n_bins, n_units).T


def in_blocks(sides: Sequence[UnitCounts], width: int) -> Iterator[tuple[slice, list[Table]]]:
    """Yield the tables of classes with the same units and bins in blocks of units, as floats.

    Parameters
    ----------
    sides : sequence of UnitCounts
    width : int
        Number of additional columns that must fit in memory.

    Yields
    ------
    slice
        Units of the block.
    list of (n, n_bins) arrays or sparse matrices
    """
    for part in parts_of(sides, width):
        yield part, [_rows(one.counts, part) if one.is_sparse else one.block(part) for one in sides]


def parts_of(sides: Sequence[UnitCounts], width: int) -> Iterator[slice]:
    """Yield the units of each block; see `in_blocks`."""
    step = max(1, _BLOCK // (width + (0 if all(one.is_sparse for one in sides) else sides[0].counts.shape[1])))
    for first in range(0, sides[0].n_units, step):
        yield slice(first, first + step)


def _rows(table: Table, part: slice, shift: IntArray | None = None, n_columns: int = 0) -> Table:
    """Return rows of a sparse matrix as floats; ``shift`` is added to the columns of each row."""
    from scipy.sparse import csr_matrix  # rarely needed

    starts = table.indptr[part.start : part.stop + 1]
    some = slice(starts[0], starts[-1])
    columns = table.indices[some]
    if shift is not None:
        columns = columns + shift.astype(columns.dtype).repeat(np.diff(starts))
    values = table.data[some].astype(np.float64), columns, starts - starts[0]
    return csr_matrix(values, shape=(len(starts) - 1, n_columns or table.shape[1]))


def as_array(table: Table) -> CountArray:
    """Return a table that fits in memory as an array; the units of a bin are contiguous."""
    return np.asarray(table.toarray(order="F") if hasattr(table, "toarray") else table)


def cumulated(table: FloatArray) -> FloatArray:
    """Return trials in the first 0, 1, ... bins, (n_bins + 1, n_units), from a table of bins and units.

    Examples
    --------
    >>> cumulated(np.array([[1.0, 0.0], [2.0, 5.0]])).tolist()
    [[0.0, 0.0], [1.0, 0.0], [3.0, 5.0]]
    """
    values = np.empty((len(table) + 1, table.shape[1]))
    values[0] = 0.0
    if table.shape[1] < _WIDE:
        np.cumsum(table, axis=0, out=values[1:])
        return values
    for below, own, sums in zip(values, table, values[1:], strict=False):
        np.add(below, own, out=sums)
    return values


def sums_of_rows(table: Table) -> FloatArray:
    """Return the sum of the trials of each unit of a table."""
    kind = np.result_type(table.dtype, np.int32)
    return np.asarray(table.sum(axis=1, dtype=kind), np.float64).ravel()


def groups_of_units(keys: Keys, n_groups: int) -> IntArray:
    """Assign units to groups of equal size by their keys, so that only names matter, not the order of units.

    With very many units, the key of a unit alone determines its group, without a list of all; sizes differ randomly
    then.

    Examples
    --------
    >>> groups_of_units(np.array([5, 3, 9, 1], np.uint64), 2).tolist()
    [0, 1, 1, 0]
    """
    if len(keys) > MOST_DEALT:
        return groups_of_keys(keys, n_groups)
    indices = np.empty(len(keys), np.int64)
    indices[np.argsort(keys, kind="stable")] = np.arange(len(keys)) % max(min(n_groups, len(keys)), 1)
    return indices


def groups_of_keys(keys: Keys, n_groups: int) -> IntArray:
    """Return the group of every unit from its key alone, for more than `MOST_DEALT` units.

    Examples
    --------
    >>> np.bincount(groups_of_keys(np.arange(1000, dtype=np.uint64), 2)).sum().item()
    1000
    """
    return (mixed_bits(keys) % np.uint64(n_groups)).astype(np.int64)


def merged_units(parts: Sequence[TrialUnits]) -> list[TrialUnits]:
    """Return the units of all parts of the data with common codes, by their keys."""
    keys, places = np.unique(np.concatenate([part.keys for part in parts]), return_inverse=True)
    units, first = [], 0
    for part in parts:
        place = places[first : first + part.n_units]
        first += part.n_units
        units.append(replace(part, codes=tuple(place[side] for side in part.codes), keys=keys))
    return units


def joined_units(parts: Sequence[TrialUnits]) -> TrialUnits:
    """Return the units of all trials of several parts, see `merged_units`; with one side, it is repeated for both."""
    n_sides = max(len(one.codes) for one in parts)
    sides = [[one.codes[min(at, len(one.codes) - 1)] for one in parts] for at in range(n_sides)]
    return replace(parts[0], codes=tuple(map(np.concatenate, sides)))


@dataclass(frozen=True, slots=True, eq=False)
class SingleCounts(UnitCounts):
    """Trials of one class by bin, if every trial is a unit.

    A row of the table represents all trials of a class and group in a bin, by the root of the sum of their squared
    weights. So squared influences have the same sum as over all trials.

    Attributes
    ----------
    by_bin : (2 n_bins, n_bins) array
        Rows that represent all trials of a class in a bin; rows of targets come first.
    n_alike : (n_rows,) array
        Number of trials of equal weight, of either class, that each row of the table represents.
    """

    by_bin: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    n_alike: FloatArray = field(default_factory=lambda: np.zeros(0))

    def in_groups(self, n_groups: int) -> UnitCounts:  # noqa: ARG002  # there are fewer bins than groups of trials
        """Return counts by class and bin, with the same squares as all trials; see `UnitCounts.in_groups`."""
        none = np.zeros(len(self.by_bin), np.int64)
        return UnitCounts(self.by_bin, none.astype(np.uint64), self.in_bins, none, self.inside, self.by_group)


@dataclass(frozen=True, slots=True, eq=False)
class RowsOfTrials:
    """Row of every trial in the tables of `SingleCounts`, and its share of the row.

    Attributes
    ----------
    row : (n_units,) int array
        Row; one more than the last row for units that do not count.
    share : (n_rows + 1,) array
        Contribution of a trial of weight 1 to an influence, as a share of the influence of its row.
    weight : (n_units,) array or None
        Weights of trials times the factors of a jackknife; None if all are 1.
    """

    row: IntArray
    share: FloatArray
    weight: CountArray | None

    def spread(self, influences: FloatArray) -> FloatArray:
        """Return the influences of all units, (..., n_units), from influences of rows, (..., n_rows)."""
        scaled = np.zeros((*influences.shape[:-1], len(self.share)))
        np.multiply(influences, self.share[:-1], out=scaled[..., :-1])
        values: FloatArray = scaled[..., self.row]
        if self.weight is not None:
            values *= self.weight
        return values


@dataclass(frozen=True, slots=True, eq=False)
class SpreadInfluences(Mapping[K, FloatArray]):
    """Influences of all units by name, computed from influences of rows on access.

    Attributes
    ----------
    of_rows : mapping of metrics to (n_rows,) arrays
    rows : RowsOfTrials
    """

    of_rows: Mapping[K, FloatArray]
    rows: RowsOfTrials

    def __getitem__(self, metric: K) -> FloatArray:
        return self.rows.spread(self.of_rows[metric])

    def __iter__(self) -> Iterator[K]:
        return iter(self.of_rows)

    def __len__(self) -> int:
        return len(self.of_rows)


@dataclass(frozen=True, slots=True, eq=False)
class SingleFacts:
    """Numbers of targets and non-targets that are units, their weights and keys; ``a + b`` merges two sets of trials.

    Attributes
    ----------
    n : (2,) int array
        Numbers of trials that count.
    weights : (2, 2) array
        Sums of their weights and of squared weights.
    keys : uint64 array or None
        None if there are too many trials to assign them to groups of equal size.
    """

    n: IntArray
    weights: FloatArray
    keys: Keys | None

    @classmethod
    def of(cls, weights: Sequence[FloatArray], keys: Keys | None) -> SingleFacts:
        """Create from the weights of both classes, all above 0."""
        return cls(np.array(list(map(len, weights))), np.array([(own.sum(), own @ own) for own in weights]), keys)

    def __add__(self, other: SingleFacts) -> SingleFacts:
        """Add the trials of another batch."""
        n, keys = self.n + other.n, None
        if self.keys is not None and other.keys is not None and n.sum() <= MOST_DEALT:
            keys = np.concatenate((self.keys, other.keys))
        return SingleFacts(n, self.weights + other.weights, keys)

    @property
    def units(self) -> UnlistedUnits:
        """Units of all trials."""
        none = (np.zeros(0, np.int64),), np.zeros(0, np.uint64)
        return UnlistedUnits(*none, "trial", independent("trial"), int(self.n.sum()))

    @property
    def of_units(self) -> UnitFacts:
        """The same facts as about trials that share units."""
        classes = {c: ClassFacts(n, are_alike=n < 2) for c, n in zip((1, 0), self.n.tolist(), strict=True)}
        return UnitFacts(classes, units=self.units)

    def dealt(self) -> Keys | None:
        """Keys of all trials, ascending; None for very many trials."""
        return None if self.keys is None or self.n.sum() > MOST_DEALT else np.sort(self.keys)

    def sizes(self, one_trial: tuple[float, float]) -> list[ClassSize]:
        """Return the sizes of both classes; ``one_trial`` is the weight of a trial of each."""
        rows = zip(self.weights.tolist(), one_trial, self.n.tolist(), strict=True)
        return [ClassSize(total / one, float(effective_numbers(total, two)), n) for (total, two), one, n in rows]


@dataclass(frozen=True, slots=True, eq=False)
class SingleSums:
    """Trials of both classes that are units, by group and bin; ``a + b`` merges two sets of trials.

    Attributes
    ----------
    own, squares, fourths : (2, n_groups, n_bins) arrays
        Trials, or their weight, and sums of the second and fourth powers of weights times jackknife factors.
    placed : tuple of (units, place, mass), or None
        For each class, if requested: the units of trials, the bin of each (counted through all groups), and these
        weights.
    """

    own: CountArray
    squares: CountArray
    fourths: CountArray
    placed: tuple[tuple[IntArray, IntArray, FloatArray | None], ...] | None = None

    @classmethod
    def of(
        cls,
        bins: Sequence[IntArray],
        units: Sequence[TrialUnits],
        weights: Sequence[CountArray | None],
        facts: SingleFacts,
        known: Keys | None,
        shape: tuple[int, int],
    ) -> SingleSums:
        """Count some trials.

        Parameters
        ----------
        bins : pair of (n,) int arrays
            Bins of targets and of non-targets.
        units : pair of TrialUnits
        weights : pair of (n,) arrays or None
        facts : SingleFacts
            Facts of all trials.
        known : (n_trials,) uint64 array or None
            See `SingleFacts.dealt`.
        shape : (int, int)
            Numbers of groups that are left out in turn, and of bins.

        Examples
        --------
        >>> units = TrialUnits.each(3)
        >>> sides = [units.take(np.array([0, 1])), units.take(np.array([2]))]
        >>> facts = SingleFacts.of([np.ones(2), np.ones(1)], units.keys)
        >>> bins = [np.array([0, 0]), np.array([1])]
        >>> found = SingleSums.of(bins, sides, (None, None), facts, facts.dealt(), (1, 2))
        >>> rows = found.rows(3)
        >>> found.own.tolist(), rows.row.tolist(), rows.share.round(3).tolist()
        ([[[2, 0]], [[0, 1]]], [0, 0, 1], [0.707, 1.0, 0.0])
        """
        (n_groups, n_bins), sums, placed = shape, [], []
        classes = zip(bins, units, weights, facts.weights[:, 0].tolist(), facts.n.tolist(), strict=True)
        for bin_of, own, weight, total, n in classes:
            keys = own.keys[own.codes[0]]
            if known is None:
                group = groups_of_keys(keys, n_groups)
            else:
                group = np.searchsorted(known, keys) % max(min(n_groups, len(known)), 1)
            place, mass = group * n_bins + bin_of, None if weight is None else jackknife_weights(weight, total, n)
            placed.append((own.codes[0], place, mass))
            sums.append(sums_of_singles(place, weight, mass, shape))
        counts, squares, fourths = (np.stack(pair) for pair in zip(*sums, strict=True))
        return cls(counts, squares, fourths, tuple(placed))

    def __add__(self, other: SingleSums) -> SingleSums:
        """Add the trials of another batch."""
        return SingleSums(self.own + other.own, self.squares + other.squares, self.fourths + other.fourths)

    def counts(self, in_bins: Sequence[CountArray]) -> tuple[SingleCounts, SingleCounts]:
        """Return targets and non-targets by row; ``in_bins`` are the numbers of each class in every bin."""
        from scipy.sparse import csr_matrix

        filled, n_bins = [np.nonzero(one) for one in self.squares], self.squares.shape[2]
        n, group = [len(rows) for rows, _ in filled], np.concatenate([rows for rows, _ in filled])
        nobody, result, begin = np.zeros(sum(n), np.uint64), list[SingleCounts](), 0
        powers = zip(self.squares, self.fourths, filled, strict=True)
        n_alike = np.concatenate([effective_numbers(two[at], four[at]) for two, four, at in powers])
        for c, (rows, columns) in enumerate(filled):
            by_bin, own = np.zeros((2 * n_bins, n_bins)), self.own[c]
            np.fill_diagonal(by_bin[c * n_bins :], np.sqrt(self.squares[c].sum(axis=0).astype(np.float64)))
            roots: FloatArray = np.sqrt(self.squares[c][rows, columns].astype(np.float64))
            places: AnyArray = np.arange(begin, begin + n[c])
            table = csr_matrix((roots, (places, columns)), shape=(sum(n), n_bins))
            begin += n[c]
            result.append(SingleCounts(table, nobody, in_bins[c], group, np.zeros_like(own), own, by_bin, n_alike))
        return result[0], result[1]

    def rows(self, n_units: int) -> RowsOfTrials | None:
        """Return the row of each of all units; None if the positions of trials are unknown."""
        if self.placed is None:
            return None
        n_rows, roots = 0, list[FloatArray]()
        row: IntArray = np.full(n_units, -1, np.int32)  # units without a row have the last share, 0
        weight = np.ones(n_units)
        for squares, (unit, place, mass) in zip(self.squares, self.placed, strict=True):
            flat = squares.ravel()
            filled, number = np.flatnonzero(flat), np.full(flat.size, -1, np.int32)
            number[filled] = np.arange(n_rows, n_rows + len(filled))
            row[unit] = number[place]
            weight[unit] = 1.0 if mass is None else mass
            roots.append(np.sqrt(flat[filled].astype(np.float64)))
            n_rows += len(filled)
        share = np.append(1.0 / np.concatenate(roots), 0.0)
        return RowsOfTrials(row, share, None if all(mass is None for *_, mass in self.placed) else weight)


def jackknife_weights(weights: CountArray, total: float, n_trials: int) -> FloatArray:
    """Return weights of trials that are units, times jackknife factors; see `small_sample_factors`."""
    own = np.asarray(weights, np.float64)
    return own * small_sample_factors(own / total, n_trials)


def sums_of_singles(
    place: IntArray, weights: CountArray | None, mass: FloatArray | None, shape: tuple[int, int]
) -> tuple[CountArray, CountArray, CountArray]:
    """Return trials that are units by group and bin, and sums of the second and fourth powers of their weights.

    Parameters
    ----------
    place : (n,) int array
        Bin of each trial, counted through all groups.
    weights, mass : (n,) arrays, optional
        Weights of trials, without and with jackknife factors.
    shape : (int, int)
        Numbers of groups and of bins.
    """

    def table(values: CountArray | None) -> CountArray:
        counts: CountArray = np.bincount(place, values, math.prod(shape))
        is_whole = values is None or values.dtype == np.int64
        return np.asarray(counts.astype(np.int64, copy=False) if is_whole else counts).reshape(shape)

    own = table(weights)
    return (own, own, own) if mass is None else (own, table(np.square(mass)), table(np.square(np.square(mass))))


def in_strata(
    stratum: IntArray, bin_of: IntArray, units: TrialUnits, weights: CountArray | None, shape: tuple[int, int]
) -> FloatPair:
    """Return the weight of trials of a class by unit and stratum, and by stratum and bin.

    Parameters
    ----------
    stratum, bin_of : (n,) int arrays
    units : TrialUnits
    weights : (n,) array, optional
    shape : (int, int)
        Numbers of strata and of bins.
    """
    n_strata, n_bins = shape
    own, (trial, codes) = np.ones(len(bin_of)) if weights is None else weights.astype(np.float64), units.entries()
    by_unit = np.bincount(codes * np.int64(n_strata) + stratum[trial], own[trial], units.n_units * n_strata)
    spread = np.bincount(stratum * np.int64(n_bins) + bin_of, own, n_strata * n_bins).astype(np.float64, copy=False)
    return by_unit.astype(np.float64, copy=False).reshape(-1, n_strata), spread.reshape(shape)


@dataclass(frozen=True, slots=True, eq=False)
class StratifiedCounts(UnitCounts):
    """Trials of one class by unit and bin, for a mean over strata of their means.

    The weight of a unit does not change the weight of a stratum: it affects only the means of its strata, by the
    difference of its trials from these means.

    Attributes
    ----------
    by_stratum : (n_units, n_strata) array
        Weight of the trials of each unit.
    spread : (n_strata, n_bins) array
        Weight of the trials of each stratum in every bin.
    """

    by_stratum: FloatArray
    spread: FloatArray

    @classmethod
    def of(cls, counts: UnitCounts, by_stratum: FloatArray, spread: FloatArray) -> StratifiedCounts:  # type: ignore[override]
        """Create from counts without strata, and the weights of `in_strata`."""
        known = {one.name: getattr(counts, one.name) for one in fields(counts)}
        return cls(**known, by_stratum=by_stratum, spread=spread)

    @property
    def is_sparse(self) -> bool:
        """Always False: a unit affects all bins of its strata."""
        return False

    def block(self, part: slice) -> FloatArray:
        """Return trials of units minus the trials of their strata in proportion."""
        values: FloatArray = as_array(self.counts[part]).astype(np.float64)
        totals = self.spread.sum(axis=1, keepdims=True)
        shares = np.divide(self.spread, totals, out=np.zeros_like(self.spread), where=totals > 0)
        values -= self.by_stratum[part] @ shares
        return values

    def between(self, places: IntArray) -> StratifiedCounts:
        """Return counts with fewer bins; see `UnitCounts.between`."""
        spread, whole = np.add.reduceat(self.spread, places[:-1], axis=1), UnitCounts.between(self, places)
        return replace(self, counts=whole.counts, in_bins=whole.in_bins, spread=spread)

    def in_groups(self, n_groups: int) -> StratifiedCounts:
        """Return counts with groups of units in place of units; see `UnitCounts.in_groups`."""
        dealt, whole = groups_of_units(self.keys, n_groups), UnitCounts.in_groups(self, n_groups)
        summed = np.zeros((n_groups, self.by_stratum.shape[1]))
        np.add.at(summed, dealt, self.by_stratum)
        return replace(self, counts=whole.counts, keys=whole.keys, by_stratum=summed)
