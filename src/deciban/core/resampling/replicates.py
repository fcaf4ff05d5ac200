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
from deciban.types import BoolArray, FloatArray

BLOCK, _FEWEST = 256, 16
"""Replicates at once, and where there are very many units. Blocks are always drawn whole: what a replicate is does not
depend on how many there are."""

_WEIGHTS = 1 << 26
"""Weights of a block, as far as it does not get too small: each is a byte."""

_THREADS = 4

FiguresOf: TypeAlias = Callable[[Multipliers], tuple[FloatArray, BoolArray]]
"""From weights (n_units, n_replicates) to figures (n_replicates, n_figures), and which replicates have them."""


def replicates_of(figures_of: FiguresOf, keys: Keys, *, seed: int, n_replicates: int) -> tuple[FloatArray, BoolArray]:
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

    def block(first: int) -> tuple[FloatArray, BoolArray]:
        return figures_of(poisson_weights(keys, seed, np.arange(first, first + size)))

    size = max(min(BLOCK, _WEIGHTS // max(len(keys), 1)), _FEWEST)
    tell, found = teller(n_replicates, "replicates"), list[tuple[FloatArray, BoolArray]]()
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
