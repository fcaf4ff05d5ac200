"""A few log-likelihoods that are so far away that all others look the same next to them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deciban.core.training.multiclass_objective import ClassTrials
from deciban.types import FloatArray

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
