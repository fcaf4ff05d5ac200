"""Center and width of the log-likelihoods of each system, for parameters of comparable size."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from deciban.core.classes.loglik import are_alike
from deciban.core.training.bounds import length_bound
from deciban.core.training.multiclass_objective import ClassTrials
from deciban.errors import InputError
from deciban.types import FloatArray, ScoreArray

_BLOCK = 1 << 12


def standardization(trials: ClassTrials) -> tuple[FloatArray, FloatArray]:
    """Center of each system's classes, and width: the root of the mean variance of pairwise log-likelihood ratios.

    The width of a system that gives the same scores in all trials, but for rounding, is 0.

    Raises
    ------
    InputError
        If a width does not fit a float.
    """
    n_systems, n_classes = trials.systems.shape[1:]
    center, width = np.zeros((n_systems, n_classes)), np.zeros(n_systems)
    with np.errstate(over="ignore", invalid="ignore"):
        for k in range(n_systems):
            size = max(float(np.max(np.abs(scores))) for scores, _ in _compared(trials, k))
            if size > 0.0:
                is_constant = are_alike(trials.systems[:, k])
                mean = _mean(trials, k, lambda scores, size=size: scores / size)  # type: ignore[misc]
                center[k] = size * mean

                def squares(scores: FloatArray, size: float = size, mean: FloatArray = mean) -> FloatArray:
                    deviation = scores / size - mean
                    return np.asarray((deviation - deviation.mean(axis=1, keepdims=True)) ** 2)

                if not is_constant:
                    width[k] = size * np.sqrt(2.0 * _mean(trials, k, squares).sum() / (n_classes - 1))
    if not np.isfinite(width).all():
        raise InputError("loglik: their range does not fit a float. Divide them first.")
    return center, width


def _compared(trials: ClassTrials, k: int) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Blocks of scores of a system against the largest of each trial, 0 for what is -inf, and weights of trials."""
    for i in range(0, len(trials), _BLOCK):
        rows = slice(i, i + _BLOCK)
        scores = np.array(trials.systems[rows, k], np.float64)
        scores -= scores.max(axis=1, keepdims=True)
        scores[np.isneginf(scores)] = 0.0
        weight = trials.class_weights[trials.label[rows]]
        yield scores, weight if trials.weights is None else weight * trials.weights[rows]


def _mean(trials: ClassTrials, k: int, function: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Prior-weighted mean of a function of the scores of a system."""
    parts = [(weight @ function(scores), weight.sum()) for scores, weight in _compared(trials, k)]
    total = np.sum([part for part, _ in parts], axis=0)
    return np.asarray(total / sum(amount for _, amount in parts))


def reach_in_widths(systems: ScoreArray, width: FloatArray) -> float:
    """A bound of the size of all scores, in units of the least width."""
    least = float(np.min(width[width > 0.0], initial=np.inf))
    return length_bound(systems.reshape(len(systems), -1)) / least if least < np.inf else np.inf
