"""A count table that is coarse where nobody looks: what remains of sorted trials that do not fit in memory.

Trials in ascending order come part by part. Of each part remain the corners of the ROC at which its hull can have a
vertex, and those next to the lines that plots and limits ask for; all groups between two of these become one. Pairs and
ties are counted before. The result has the hull, PAV and curves of all trials, and few groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from deciban.core.ranks.counts import CountTable, SortedClass, twice_ordered
from deciban.core.ranks.hull import pool
from deciban.types import CountArray, FloatArray, IntArray, ScoreArray

_BESIDE = np.arange(-2, 3)
"""Corners beside a line that are kept: a line that rounding moves by one corner finds its own all the same."""


class Lines(NamedTuple):
    """Counts at which somebody looks, ascending: of misses, and of false alarms."""

    miss: FloatArray
    fa: FloatArray


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of a target and a non-target by their order; ``low + high`` are those of two parts, one above the other.

    Attributes
    ----------
    n_tar, n_non : int or float
        Trials, or their weight.
    right, wrong : int or float
        Twice the pairs with the target on top, and with the non-target; ties count once in both.
    n_tied : int or float
        Trials with the score of a trial of the other class.

    Examples
    --------
    >>> Pairs(1, 1, 1, 1, 2) + Pairs(2, 0, 0, 0, 0)
    Pairs(n_tar=3, n_non=1, right=5, wrong=1, n_tied=2)
    """

    n_tar: int | float
    n_non: int | float
    right: int | float
    wrong: int | float
    n_tied: int | float

    @classmethod
    def of(cls, groups: Groups) -> Pairs:
        """Count those of groups."""
        tar, non = groups.n_tar, groups.n_non
        if not tar.dtype == non.dtype == np.int64:
            tar, non = tar.astype(np.float64), non.astype(np.float64)
        tied = (tar[(tar > 0) & (non > 0)].sum() + non[(tar > 0) & (non > 0)].sum()).item()
        return cls(tar.sum().item(), non.sum().item(), twice_ordered(non, tar), twice_ordered(tar, non), tied)

    def __add__(self, high: Pairs) -> Pairs:
        """Together with those of trials above."""
        return Pairs(
            self.n_tar + high.n_tar,
            self.n_non + high.n_non,
            self.right + high.right + 2 * self.n_non * high.n_tar,
            self.wrong + high.wrong + 2 * self.n_tar * high.n_non,
            self.n_tied + high.n_tied,
        )


class Groups(NamedTuple):
    """Trials (or weight) and entries of both classes in ascending groups, as in `CountTable`."""

    n_tar: CountArray
    n_non: CountArray
    tar_entries: IntArray
    non_entries: IntArray

    @classmethod
    def joined(cls, parts: Sequence[Groups]) -> Groups:
        """Those of consecutive parts; a run of one class that goes on from one part to the next is one group.

        Examples
        --------
        >>> one = np.array([0]), np.array([2]), np.array([0]), np.array([2])
        >>> Groups.joined([Groups(*one), Groups(*one)]).n_non.tolist()
        [4]
        """
        whole = cls(*map(np.concatenate, zip(*parts, strict=True)))
        kind = np.where(whole.n_tar == 0, 1, np.where(whole.n_non == 0, 2, 0))
        begins = np.ones(len(kind), np.bool_)
        begins[1:] = (kind[1:] != kind[:-1]) | (kind[1:] == 0)
        return whole.together(np.flatnonzero(begins))

    def together(self, starts: IntArray) -> Groups:
        """One group in place of all from each of these positions to the next."""
        return Groups(*(np.add.reduceat(one, starts) if len(starts) else one for one in self))

    def thinned(self, below: tuple[float, float], totals: tuple[float, float], lines: Lines) -> Groups:
        """Leave those corners alone at which a hull can have a vertex, or next to which somebody looks.

        Parameters
        ----------
        below, totals : (tar, non)
            Trials (or weight) below these groups, and all there are.
        lines : Lines
        """
        last = len(self.n_tar)
        n_miss = below[0] + np.concatenate(([0], np.cumsum(self.n_tar)))
        n_fa = totals[1] - below[1] - np.concatenate(([0], np.cumsum(self.n_non)))
        at = _next_to(lines.miss, n_miss), last + 1 - _next_to(lines.fa, n_fa[::-1])
        beside = (np.concatenate(at)[:, None] + _BESIDE).ravel()
        kept = np.concatenate((pool(self.n_tar, self.n_non), beside, [0, 1, 2, last - 2, last - 1]))
        return self.together(np.unique(kept[(kept >= 0) & (kept < last)]))


def _next_to(lines: FloatArray, ascending: CountArray) -> IntArray:
    """Positions of the first number at each line, of the lines that these numbers reach."""
    first, last = np.searchsorted(lines, ascending[[0, -1]], side="right")
    return np.searchsorted(ascending, lines[first:last])


@dataclass(frozen=True, slots=True)
class CoarseTable(CountTable):
    """A table of groups that hold several others; pairs and ties were counted before.

    Attributes
    ----------
    pairs : Pairs
    """

    pairs: Pairs

    def auc(self) -> float:
        """See `CountTable.auc`."""
        return self._share(self.pairs.right)

    def error_area(self) -> float:
        """See `CountTable.error_area`."""
        return self._share(self.pairs.wrong)

    @property
    def n_tied(self) -> int | float:
        """See `CountTable.n_tied`."""
        return self.pairs.n_tied

    def _share(self, some: float) -> float:
        return some / (self.pairs.right + self.pairs.wrong)


def steps(tar: ScoreArray, non: ScoreArray, n: int) -> Iterator[tuple[slice, slice]]:
    """Parts of two ascending arrays with about ``n`` entries of the longer one; equal scores stay together.

    Examples
    --------
    >>> found = steps(np.array([1.0, 2.0, 2.0, 2.0]), np.array([0.0, 2.0, 3.0]), 2)
    >>> [(one.stop, other.stop) for one, other in found]
    [(1, 1), (4, 2), (4, 3)]
    """
    long = tar if len(tar) >= len(non) else non
    at, done = 0, (0, 0)
    while done != (len(tar), len(non)):
        upto = (len(tar), len(non))
        if at + n < len(long):
            side = "left" if long[at + n] > long[at] else "right"
            upto = tuple(int(np.searchsorted(one, long[at + n], side=side)) for one in (tar, non))  # type: ignore[call-overload,assignment]
        yield slice(done[0], upto[0]), slice(done[1], upto[1])
        at, done = upto[0] if long is tar else upto[1], upto


def groups_of(tar: SortedClass, non: SortedClass) -> Groups:
    """The groups of two sorted classes, of which one may be empty."""
    table = CountTable.of(tar, non)
    return Groups(table.n_tar, table.n_non, table.tar_entries, table.non_entries)
