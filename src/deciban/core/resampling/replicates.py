"""Replicates in blocks, in threads, with word of how far they are: the same whatever the threads do."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

import numpy as np

from deciban.core.resampling.multipliers import Multipliers, poisson_weights
from deciban.core.resampling.units import Keys
from deciban.steps import teller
from deciban.types import BoolArray, CountArray, FloatArray

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
