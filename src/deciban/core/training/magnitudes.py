"""Numbers that are too large: bounds of an array, scales beyond a float, scores far from all others."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from deciban._validate.arrays import all_finite
from deciban.core.training.multiclass_objective import ClassTrials
from deciban.errors import InputError, TrialError
from deciban.types import AnyArray, BoolArray, FloatArray

_PART = 1 << 13
"""Numbers whose length together bounds each of them; too few for a BLAS to spread them over threads."""


@np.errstate(over="ignore", invalid="ignore")
def length_bound(array: object) -> float:
    """A bound of the size of all numbers: the length of some thousand of them together, which is quickly found.

    Infinite if one is infinite or NaN, or where they do not lie together in memory.
    """
    if not isinstance(array, np.ndarray) or array.dtype.kind != "f" or not array.flags.forc or not array.size:
        return np.inf
    flat = array.ravel(order="K")
    square = float(np.max([flat[i : i + _PART] @ flat[i : i + _PART] for i in range(0, len(flat), _PART)]))
    lost = _PART * float(np.finfo(array.dtype).tiny)  # squares that are too small for a float
    return math.sqrt(square + lost) if math.isfinite(square) else math.inf


def require_scales(scales: FloatArray, name: str) -> None:
    """Refuse scales that do not fit a float; ``name`` is what the user calls the scores.

    Raises
    ------
    InputError
        If there are such.
    """
    if not np.isfinite(scales).all():
        raise InputError(f"{name}: so close together that their scale does not fit a float. Multiply them first.")


def overflown(given: AnyArray, mapped: AnyArray) -> BoolArray:
    """Trials (n_trials, ...) of which a map turned a finite number into an infinite one, or into none.

    Parameters
    ----------
    given, mapped : (n_trials, ..., n_classes) arrays
    """
    if all_finite(mapped):
        return np.zeros(mapped.shape[:-1], np.bool_)
    return np.asarray((np.isfinite(given) & ~np.isfinite(mapped)).any(axis=-1))


def refuse_overflow(far: BoolArray) -> None:
    """Refuse trials that are `overflown`: an infinite log-likelihood is certainty, which finite ones never are.

    Raises
    ------
    TrialError
        If there are such.
    """
    found = np.flatnonzero(far)
    if len(found):
        raise TrialError(
            f"loglik: {len(found)} of {len(far)} trials have finite log-likelihoods that the scales of this model make "
            "too large for a float, the first ",
            int(found[0]),
            ". Were those of training in another unit?",
        )


_FAR = 1e3
"""Times the spread of most trials that make a width one of few."""

_NEAR = 50.0
"""Spreads of most trials to which far scores are drawn near."""


def typical_spreads(trials: ClassTrials, width: FloatArray) -> FloatArray:
    """The range of the scores of most trials in each system whose width is that of a few; ``width`` in all others."""
    systems = np.asarray(trials.systems, np.float64)
    low = np.where(np.isneginf(systems), np.inf, systems).min(axis=2)
    with np.errstate(over="ignore"):
        spread = np.quantile(systems.max(axis=2) - low, 0.75, axis=0, method="higher")
        return np.where((spread > 0.0) & (width > _FAR * spread), spread, width)


def drawn_near(trials: ClassTrials, spread: FloatArray) -> ClassTrials:
    """The trials with far scores drawn near; -inf stays what it is."""
    systems = np.asarray(trials.systems, np.float64)
    with np.errstate(over="ignore"):
        systems = systems - systems.max(axis=2, keepdims=True)
        floor = -_NEAR * np.where(spread > 0.0, spread, np.inf)[:, None]
    return replace(trials, systems=np.where(np.isneginf(systems), systems, np.maximum(systems, floor)))
