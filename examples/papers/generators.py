"""Scores with stated parameters, where those of the papers are not public.

Scores of two classes are quantiles of their distributions if nothing is said of a seed: curves then differ because
systems do, and not by luck. Everything else has a fixed seed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

Array = NDArray[np.float64]
Labels = NDArray[np.intp]
Pair = tuple[Array, Array]


def normal_quantiles(mean: float, sd: float, n: int) -> Array:
    """``n`` scores that divide a normal distribution into equal shares."""
    return np.asarray(mean + sd * ndtri((np.arange(n) + 0.5) / n))


def unequal_gaussians(n: int, seed: int = 1) -> Pair:
    """Scores of figure 1 of the BOSARIS paper: targets N(3, sd 2), non-targets N(0, sd 1)."""
    rng = np.random.default_rng(seed)
    return rng.normal(3.0, 2.0, n), rng.normal(0.0, 1.0, n)


def unequal_gaussian_llr(score: Array) -> Array:
    """The true log-likelihood ratio of these: a parabola whose lowest point is -2.193, at score -1."""
    return np.asarray(-np.log(2.0) - (score - 3.0) ** 2 / 8.0 + score**2 / 2.0)


def speaker_scores(n: int, *, shift: float = 0.0, stretch: float = 1.0) -> Pair:
    """Scores of a speaker detector, targets N(5, sd 2), and ten non-targets for each, N(0, sd 1.3).

    ``shift`` and ``stretch`` are what new recordings do to the scores of non-targets: they move and scatter more.
    """
    return normal_quantiles(5.0, 2.0, n), normal_quantiles(shift, 1.3 * stretch, 10 * n)


def subsystems(n: int, seed: int = 3, n_systems: int = 4) -> tuple[Array, Labels]:
    """Scores of systems whose errors are partly their own: (2 n, n_systems) scores and whether trials are targets."""
    rng = np.random.default_rng(seed)
    is_target = np.arange(2 * n) < n
    shared = rng.normal(size=(2 * n, 1))
    separation = np.linspace(1.9, 2.4, n_systems)
    scores = separation * is_target[:, None] + 0.5 * shared + np.sqrt(0.75) * rng.normal(size=(2 * n, n_systems))
    return scores, is_target.astype(np.intp)


def languages(
    n: int, seed: int, *, n_classes: int, confidence: float = 1.0, lean: float = 0.0, spread: float = 1.2
) -> tuple[Array, Labels]:
    """Log-likelihoods of classes that are points in space, ``n`` segments of each class, and the true classes.

    The recognizer knows the classes, but takes its evidence ``confidence`` times as seriously as it is, and prefers
    some classes by up to ``lean`` nats. The second class lies near to the first.
    """
    means = spread * np.random.default_rng(5).normal(size=(n_classes, 5))
    means[1] = means[0] + 0.4 * (means[1] - means[0])
    label = np.repeat(np.arange(n_classes), n)
    points = means[label] + np.random.default_rng(seed).normal(size=(len(label), 5))
    loglik = -0.5 * ((points[:, None] - means) ** 2).sum(axis=2)
    return confidence * loglik + lean * np.cos(2.0 * np.arange(n_classes)), label
