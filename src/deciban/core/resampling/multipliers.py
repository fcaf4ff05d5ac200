"""Weights of units in replicates of the bootstrap: each depends on seed, replicate and unit, and on nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import pdtr

from deciban.core.resampling.units import Keys, mixed_bits
from deciban.errors import InputError
from deciban.types import AnyArray

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
