"""Cells of scores that need no borders agreed beforehand: trials whose scores share their leading bits.

A score is a whole number that keeps its order: the bits of a float64, turned round below 0. The trials whose keys share
the first bits are a cell; one bit more splits it in two. A table keeps as many bits as it has room for cells that hold
a trial, so that a few trials stay apart and billions do not take more. Cells nest: two tables are merged by going back
to the bits that both, and their union, have room for. That is the table which all trials together would have made,
whatever is merged with what, and in which order. Scores with the same sign and exponent never share a cell with others:
so the sum of the scores of a cell is a whole number, too, and is added up exactly.

Where counts must be exact at thresholds that are known before (costs at operating points), cells are cut there, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.core.ranks.counts import splitting
from deciban.core.ranks.weighted_gaps import aligned, digits_of, rounded_products, summed, whole_or_float
from deciban.types import AnyArray, BoolArray, CountArray, FloatArray, IntArray, ScoreArray

KeyArray = NDArray[np.uint64]

_ALL = 64
"""Bits of a key: cells of that many hold one score each."""

_FEWEST = 12
"""Bits that cells keep always: sign and exponent."""

_SIGN = np.uint64(1 << 63)
_MANTISSA = (1 << 52) - 1
_AT_ONCE = 1 << 16
"""Scores of which cells are made at once."""

_COLUMNS = "starts", "counts", "low", "high", "mantissas", "weights"

_HALF = 26
"""A mantissa is added up in two parts of so many bits: both sums stay whole numbers below 2**63 up to 10**11 trials."""


def keys_of(scores: ScoreArray) -> KeyArray:
    """Whole numbers in the order of the scores; both zeros are one.

    Examples
    --------
    >>> np.diff(keys_of(np.array([-np.inf, -1.0, -0.0, 0.0, 5e-324, np.inf])).astype(float)) > 0
    array([ True,  True, False, False,  True])
    """
    bits = (scores.astype(np.float64) + 0.0).view(np.uint64)
    turned = (bits.view(np.int64) >> 63).view(np.uint64)  # all bits below 0, else none
    return bits ^ (turned | _SIGN)


def scores_of(keys: KeyArray) -> FloatArray:
    """The scores that have these keys; what `keys_of` makes is undone.

    Examples
    --------
    >>> scores_of(keys_of(np.array([-2.5, 0.0, 1e300])))
    array([-2.5e+000,  0.0e+000,  1.0e+300])
    """
    positive = (keys & _SIGN) != 0
    return np.where(positive, keys ^ _SIGN, ~keys).view(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class ScoreCells:
    """How many trials of both classes are in each cell that holds one, in ascending order; see the module.

    Attributes
    ----------
    room : int
        Of how many cells there may be at most; as cuts and exponents stay apart, some thousand more are possible.
    cuts : (n_cuts,) array
        Thresholds at which cells are cut, ascending: a trial at a threshold belongs above it.
    level : int
        Leading bits of keys that trials of a cell share, 12 to 64.
    starts : (n_cells,) uint64 array
        The lowest key that could be in each cell.
    counts : (2, n_cells) array
        Non-targets and targets.
    low, high : (2, n_cells) arrays
        Lowest and highest score of each class; ``inf`` and ``-inf`` where there is none.
    mantissas : (2, 2, n_cells) int64 array
        Of each class the sums of the upper and of the lower halves of mantissas.
    weights : (2, 2, n_digits, n_cells) int64 array
        Of trials with weights, by class: the digits of the sums of weights, and of weights times mantissas; see
        `deciban.core.ranks.weighted_gaps`. No digit where every trial counts once.
    lowest_digit : int
        The place of the first of them.
    """

    room: int
    cuts: FloatArray
    level: int
    starts: KeyArray
    counts: IntArray
    low: FloatArray
    high: FloatArray
    mantissas: IntArray
    weights: IntArray
    lowest_digit: int = 0

    @classmethod
    def empty(cls, room: int, cuts: AnyArray | Sequence[float] = ()) -> ScoreCells:
        """Without a trial."""
        own = np.unique(np.asarray(cuts, np.float64) + 0.0)
        return cls(room, own[~np.isnan(own)], _ALL, **_nothing(2))

    def of_class(self, scores: ScoreArray, level: int = _ALL, weights: FloatArray | None = None) -> ScoreCells:
        """Trials of one class, whose scores ascend, in cells of at most so many bits, cut and limited as here.

        All arrays have a row for this class alone; `of_both` puts two together. Weights are above 0.

        Raises
        ------
        InputError
            If weights differ too much to be added up exactly.
        """
        at_cuts = np.searchsorted(scores, splitting(scores, self.cuts))
        places = digits_of(weights)
        parts = []
        for at in range(0, len(scores), _AT_ONCE):
            own = slice(at, at + _AT_ONCE)
            some = None if weights is None else weights[own]
            parts.append(self._of_some(scores[own], at_cuts - at, level, some, places))
        if not parts:
            return replace(self, level=level, **_nothing(1))
        found: Any = {name: np.concatenate(column, axis=-1) for name, *column in zip(_COLUMNS, *parts, strict=True)}
        found["weights"], found["lowest_digit"] = aligned([(found["weights"], places.start)])
        found["weights"] = found["weights"][0]
        return replace(self, level=level, **found)

    def _of_some(
        self, scores: ScoreArray, at_cuts: IntArray, level: int, weights: FloatArray | None, places: range
    ) -> tuple[AnyArray, ...]:
        """Columns of few scores: all that is made of them stays in cache."""
        keys = keys_of(scores)
        is_first = np.empty(len(scores), np.bool_)
        is_first[0] = True
        prefixes = keys >> np.uint64(_ALL - level)
        np.not_equal(prefixes[1:], prefixes[:-1], out=is_first[1:])
        is_first[at_cuts[(at_cuts >= 0) & (at_cuts < len(scores))]] = True
        first = np.flatnonzero(is_first)
        mantissas = np.where(keys >= _SIGN, keys, ~keys).view(np.int64) & _MANTISSA
        sums = np.zeros((1, 2, len(first)), np.int64)
        np.add.reduceat(mantissas >> _HALF, first, out=sums[0, 0])
        if scores.dtype == np.float64:
            np.add.reduceat(mantissas & ((1 << _HALF) - 1), first, out=sums[0, 1])
        ends = np.append(first[1:], len(scores))
        low, high = scores[first].astype(np.float64) + 0.0, scores[ends - 1].astype(np.float64) + 0.0
        weighed = np.zeros((1, 2, 0, len(first)), np.int64)
        if weights is not None:
            products = rounded_products(weights, mantissas.astype(np.float64) * 2.0**-52)
            weighed = np.stack([summed(one, first, places) for one in (weights, products)])[None]
        return self.begin_of(keys[first], level), (ends - first)[None], low[None], high[None], sums, weighed

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.starts)

    @property
    def is_weighted(self) -> bool:
        """Whether trials have weights."""
        return bool(self.weights.shape[2])

    @property
    def masses(self) -> CountArray:
        """Numbers of trials of each class, or their weights: whole numbers where all of these are, (2, n_cells)."""
        return whole_or_float(self.weights[:, 0], self.lowest_digit) if self.is_weighted else self.counts

    def sums(self) -> FloatArray:
        """Sum of the scores of each class in each cell, by their weights, (2, n_cells); 0 where there is none."""
        first = np.where(np.isfinite(self.low), self.low, 0.0)
        exponent = np.maximum((np.abs(first).view(np.int64) >> 52), 1)
        hidden = np.where(np.abs(first) >= np.finfo(np.float64).tiny, 2.0**52, 0.0)
        if self.is_weighted:
            products = whole_or_float(self.weights[:, 1], self.lowest_digit).astype(np.float64)
            whole = self.masses * hidden + products * 2.0**52
        else:
            whole = self.counts * hidden + self.mantissas[:, 0] * 2.0**_HALF + self.mantissas[:, 1]
        with np.errstate(over="ignore"):
            found = np.copysign(np.ldexp(whole, exponent - 1075), first)
        return np.where(np.isinf(self.low) & (self.counts > 0), self.low, found)

    def take(self, some: BoolArray) -> ScoreCells:
        """Some of the cells."""
        return replace(
            self,
            starts=self.starts[some],
            counts=self.counts[:, some],
            low=self.low[:, some],
            high=self.high[:, some],
            mantissas=self.mantissas[:, :, some],
            weights=self.weights[..., some],
        )

    def begin_of(self, keys: KeyArray, level: int) -> KeyArray:
        """Where the cells of keys begin: at the first of their bits, or at a cut above that."""
        shift = np.uint64(_ALL - level)
        starts = (keys >> shift) << shift
        if len(self.cuts):
            cuts = keys_of(self.cuts)
            before = np.searchsorted(cuts, keys, side="right")
            below = np.where(before > 0, cuts[np.maximum(before - 1, 0)], np.uint64(0))
            starts = np.maximum(starts, below)
        return starts


def _nothing(n_classes: int) -> dict[str, Any]:
    none = np.zeros((n_classes, 0))
    mantissas, weights = np.zeros((n_classes, 2, 0), np.int64), np.zeros((n_classes, 2, 0, 0), np.int64)
    empty = (np.zeros(0, np.uint64), none.astype(np.int64), none, none, mantissas, weights)
    return {**dict(zip(_COLUMNS, empty, strict=True)), "lowest_digit": 0}


def of_both(non: ScoreCells, tar: ScoreCells) -> ScoreCells:
    """Two classes in one table.

    Parameters
    ----------
    non, tar : ScoreCells
        Of one class each.
    """
    parts = []
    for c, one in enumerate((non, tar)):
        low, high = np.full_like(one.low, np.inf), np.full_like(one.high, -np.inf)
        zeros = {name: getattr(one, name) * 0 for name in ("counts", "mantissas", "weights")}
        none = replace(one, low=low, high=high, **zeros)
        both = (one, none) if c == 0 else (none, one)
        wide: Any = {name: np.concatenate([getattr(half, name) for half in both]) for name in _COLUMNS[1:]}
        parts.append(replace(one, **wide))
    return merged_cells(parts)


def merged_cells(parts: Sequence[ScoreCells]) -> ScoreCells:
    """The cells of the trials of all parts.

    Parameters
    ----------
    parts : sequence of ScoreCells
        At least one, with the same room and the same cuts.

    Returns
    -------
    ScoreCells
        To the bit the same for all ways to merge the same trials.

    Raises
    ------
    ValueError
        If room or cuts differ.
    """
    first = parts[0]
    for one in parts:
        if one.room != first.room or not np.array_equal(one.cuts, first.cuts):
            raise ValueError("cells merge only with the same room and the same cuts")
    level = min(one.level for one in parts)
    keys = np.concatenate([one.starts if one.level == level else one.begin_of(one.starts, level) for one in parts])
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    begins = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])) if len(keys) else np.zeros(0, np.int64)
    finest = _finest(keys[begins], first, level)
    if finest < level:
        level, keys = finest, first.begin_of(keys, finest)
        begins = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))

    found: dict[str, Any] = {"starts": keys[begins]}
    weights, found["lowest_digit"] = aligned([(one.weights, one.lowest_digit) for one in parts])
    for name, how in zip(_COLUMNS[1:], (np.add, np.minimum, np.maximum, np.add, np.add), strict=True):
        columns = weights if name == "weights" else [getattr(one, name) for one in parts]
        rows = np.concatenate(columns, axis=-1)
        if len(begins):
            rows = np.stack([how.reduceat(row[..., order], begins, axis=-1) for row in rows])
        found[name] = rows
    return replace(first, level=level, **found)


def with_finer(cells: ScoreCells, some: BoolArray, finer: ScoreCells) -> ScoreCells:
    """The same trials, those of some cells in finer ones, which take their places.

    Parameters
    ----------
    cells : ScoreCells
    some : (n_cells,) array
        Of which cells the trials are in ``finer``.
    finer : ScoreCells
    """
    rest = cells.take(~some)
    order = np.argsort(np.concatenate((rest.starts, finer.starts)), kind="stable")
    weights, digit = aligned([(one.weights, one.lowest_digit) for one in (rest, finer)])
    joined: Any = {
        name: np.concatenate([getattr(rest, name), getattr(finer, name)], axis=-1)[..., order] for name in _COLUMNS[:-1]
    }
    joined["weights"] = np.concatenate(weights, axis=-1)[..., order]
    return replace(finer, room=cells.room, lowest_digit=digit, **joined)


def _finest(starts: KeyArray, cells: ScoreCells, level: int) -> int:
    """The most leading bits, up to a level, of which there is room for the cells that begin there."""
    if len(starts) <= cells.room:
        return level
    shared = _ALL - bit_lengths(starts[1:] ^ starts[:-1])
    if len(cells.cuts):
        at = np.searchsorted(keys_of(cells.cuts), starts, side="right")
        shared[at[1:] != at[:-1]] = 0
    n_apart = 1 + np.cumsum(np.bincount(shared, minlength=_ALL + 1))
    """Cells at each level: neighbours are two if they share fewer bits."""
    fitting = np.flatnonzero(n_apart[:level] <= cells.room)
    return max(int(fitting[-1]) + 1 if len(fitting) else _FEWEST, _FEWEST)


def bit_lengths(keys: KeyArray) -> IntArray:
    """How many bits each key has, leading zeros left out."""
    upper, lower = (keys >> np.uint64(32)).astype(np.float64), (keys & np.uint64(2**32 - 1)).astype(np.float64)
    return np.where(upper > 0, np.frexp(upper)[1] + 32, np.frexp(lower)[1]).astype(np.int64)
