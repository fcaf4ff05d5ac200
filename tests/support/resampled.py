"""Trials of speakers on both sides, and covariances by refits with perturbed weights of units."""

from dataclasses import dataclass

import numpy as np


@dataclass
class RandomSample:
    score: np.ndarray
    second: np.ndarray
    is_target: np.ndarray
    speakers: np.ndarray
    weight: np.ndarray


def all_by_all(n_speakers, seed, n_segments=2):
    """Every pair of segments once, with effects of both speakers; a second system that knows less; weights."""
    rng = np.random.default_rng(seed)
    spoken, effect = np.repeat(np.arange(n_speakers), n_segments), 0.7 * rng.normal(size=n_speakers)
    one, other = (spoken[side] for side in np.triu_indices(len(spoken), 1))
    is_target = one == other
    score = np.where(is_target, 2.0, -1.0) + effect[one] + effect[other] + 1.5 * rng.normal(size=len(one))
    second = 0.5 * score + rng.normal(size=len(one))
    return RandomSample(
        score, second, is_target, np.column_stack((one, other)), rng.integers(1, 4, len(one)).astype(float)
    )


def refitted_covariance(refit, weight, units, step=1e-3):
    """``n / (n - 1)`` times the sum over units of the squared derivatives of parameters by the weight of the unit.

    A trial counts as much as the product of the weights of its units, each once; derivatives are numeric.
    """
    units = units if units.ndim == 2 else units[:, None]
    found = []
    for unit in np.unique(units):
        of_unit = (units == unit).any(axis=1)
        up, down = (np.array(refit(np.where(of_unit, weight * (1.0 + h), weight))) for h in (step, -step))
        found.append((up - down) / (2.0 * step))
    n, moved = len(found), np.array(found)
    return n / (n - 1) * moved.T @ moved
