"""Trials of simulated speakers: designs with speakers on one side or both, and trials that weigh as they do."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Trials:
    """Scores of both classes with the units of each trial: (n,) or (n, 2)."""

    tar: np.ndarray
    non: np.ndarray
    tar_units: np.ndarray
    non_units: np.ndarray

    @property
    def arguments(self):
        return {"tar_units": self.tar_units, "non_units": self.non_units}

    def weights(self, by_unit):
        """Weights of trials where units have weights: products over the units of a trial, each once."""
        return [_product(units, by_unit) for units in (self.tar_units, self.non_units)]


def _product(units, by_unit):
    if units.ndim == 1:
        return by_unit[units]
    first, second = units.T
    return by_unit[first] * np.where(first == second, 1.0, by_unit[second])


def crossed(n_speakers=20, n_segments=3, seed=1, digits=None):
    """All models against all segments, a model for each speaker; rounded scores have ties."""
    rng = np.random.default_rng(seed)
    owner = np.repeat(np.arange(n_speakers), n_segments)
    model, test = np.broadcast_arrays(np.arange(n_speakers)[:, None], owner)
    scores = rng.normal(-1.5, 1.2, model.shape) + rng.normal(0, 0.7, n_speakers)[:, None]
    same = model == test
    scores = np.where(same, scores + 4.0, scores)
    scores = scores if digits is None else np.round(scores, digits)
    return Trials(scores[same], scores[~same], model[same], np.stack((model[~same], test[~same]), axis=1))


def one_sided(n_speakers=20, seed=1, most=6):
    """Every trial has one speaker; speakers have different numbers of trials of both classes."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, most + 1, (2, n_speakers))
    tar_units, non_units = (np.repeat(np.arange(n_speakers), one) for one in counts)
    level = rng.normal(0, 1, n_speakers)
    tar = rng.normal(1.5, 1, len(tar_units)) + level[tar_units]
    return Trials(tar, rng.normal(-1.5, 1, len(non_units)) + level[non_units], tar_units, non_units)
