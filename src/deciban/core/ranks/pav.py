"""Pool adjacent violators on integer counts, exactly (thesis appendix C)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from deciban.types import BoolArray, CountArray, FloatArray, IntArray

_GROUPS_PER_CHUNK = 131072
"""Groups pooled while they are in cache, before what is left of all chunks is pooled together."""

_Comparison: TypeAlias = Callable[[CountArray, CountArray], BoolArray]


def pool(n_tar: CountArray, n_non: CountArray, is_first: BoolArray | None = None) -> IntArray:
    """Return where each PAV block begins, as positions in the ascending groups of counts.

    Neighbours whose target fraction does not increase are pooled until every block's fraction is above its
    predecessor's. Any order of pooling ends in the same blocks, so whole runs of violators go at once, chunk
    by chunk first. With integer counts the comparison is exact: the blocks depend on nothing but the counts.

    Parameters
    ----------
    n_tar, n_non : (n_groups,) arrays
        Trials of each class; no group may be empty in both.
    is_first : (n_groups,) array, optional
        Where a table of its own begins, if there are several: nothing is pooled across.
    """
    compare = _not_increasing
    if n_tar.dtype != np.int64 or n_non.dtype != np.int64:
        compare = _not_increasing_weighted
    elif int(n_tar.sum()) * int(n_non.sum()) >= 2**63:
        compare = _not_increasing_beyond_int64
    parts = [slice(i, i + _GROUPS_PER_CHUNK) for i in range(0, len(n_tar), _GROUPS_PER_CHUNK)]
    apart = [None if is_first is None else is_first[part] for part in parts]
    starts = np.concatenate(
        [part.start + _pool(n_tar[part], n_non[part], compare, own) for part, own in zip(parts, apart, strict=True)]
    )
    if len(parts) > 1:
        own = None if is_first is None else is_first[starts]
        starts = starts[_pool(np.add.reduceat(n_tar, starts), np.add.reduceat(n_non, starts), compare, own)]
    return starts


def block_llr(n_tar: CountArray, n_non: CountArray) -> FloatArray:
    """Log-likelihood ratio of every block: ``ln(n_tar / T) - ln(n_non / N)`` in nats."""
    with np.errstate(divide="ignore"):
        llr: FloatArray = (np.log(n_tar) - np.log(n_tar.sum())) - (np.log(n_non) - np.log(n_non.sum()))
    return llr


def _pool(n_tar: CountArray, n_non: CountArray, compare: _Comparison, is_first: BoolArray | None) -> IntArray:
    starts = np.arange(len(n_tar))
    while True:
        violates = compare(n_tar, n_non)
        if is_first is not None:
            violates &= ~is_first[starts[1:]]
        kept = np.flatnonzero(~violates) + 1
        if len(kept) == len(violates):
            return starts
        kept = np.concatenate((np.zeros(1, np.int64), kept))
        n_tar, n_non, starts = np.add.reduceat(n_tar, kept), np.add.reduceat(n_non, kept), starts[kept]


def _not_increasing(n_tar: CountArray, n_non: CountArray) -> BoolArray:
    """Whether each group's target fraction is at or below that of the group before, by cross products."""
    return n_tar[:-1] * n_non[1:] >= n_tar[1:] * n_non[:-1]


def _not_increasing_weighted(n_tar: CountArray, n_non: CountArray) -> BoolArray:
    """As `_not_increasing` for sums of fractional weights: equal up to rounding counts as equal."""
    return n_tar[:-1] * n_non[1:] >= n_tar[1:] * n_non[:-1] * (1 - 1e-12)


def _not_increasing_beyond_int64(n_tar: CountArray, n_non: CountArray) -> BoolArray:
    """As `_not_increasing` where products pass 2**63: floats decide, Python integers where floats cannot."""
    left = n_tar[:-1].astype(np.float64) * n_non[1:]
    right = n_tar[1:].astype(np.float64) * n_non[:-1]
    answer: BoolArray = left >= right
    for i in np.flatnonzero(np.abs(left - right) <= 1e-14 * np.maximum(left, right)):
        answer[i] = int(n_tar[i]) * int(n_non[i + 1]) >= int(n_tar[i + 1]) * int(n_non[i])
    return answer
