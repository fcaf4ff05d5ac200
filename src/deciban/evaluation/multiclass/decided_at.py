"""How decisions between many classes move with the prior of one of them: counts at a grid of priors, which add up."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, logit

from deciban.core.by_value import ByValue
from deciban.core.classes import loglik as kernels
from deciban.core.classes.counts import tally
from deciban.multiclass.tables import ScoredClasses
from deciban.types import CountArray, FloatArray

MOST_CLASSES = 12
"""Classes up to which decisions are counted: counts grow with their third power."""

_LOW = [0.5, 0.2, 0.1, 0.01, *(float(f"{p:.3g}") for p in expit(np.arange(-20, 0) * 0.4))]

PRIORS = np.unique(np.round([*_LOW, *(1.0 - p for p in _LOW)], 10))
"""Priors of the chosen class, ascending."""


@dataclass(frozen=True, eq=False)
class DecidedAt(ByValue):
    """Decisions as the prior of one class changes and the others keep their shares of the rest; parts add up.

    Attributes
    ----------
    prior : (n_classes,) array
        The shares; positive.
    counts : (n_classes, n_priors + 1, n_classes, n_classes) array
        For each class whose prior is chosen: trials by the first of `PRIORS` at which they are taken for it, by their
        class, and by the class that they are taken for before.

    Examples
    --------
    >>> trials = ScoredClasses.of([[2.0, 0.0], [0.0, 1.0], [0.5, 0.0]], [0, 1, 1])
    >>> found = DecidedAt.of(trials, np.array([0.5, 0.5]))
    >>> found.confusion(0, 0.5)
    array([[1, 0],
           [1, 1]])
    """

    prior: FloatArray
    counts: CountArray

    @classmethod
    def of(cls, trials: ScoredClasses, prior: FloatArray) -> DecidedAt | None:
        """Count; None for more than `MOST_CLASSES` classes or a class of prior 0.

        Parameters
        ----------
        trials : ScoredClasses
        prior : (n_classes,) array
        """
        n = trials.n_classes
        if n > MOST_CLASSES or np.any(prior <= 0.0):
            return None
        n_places = len(PRIORS) + 1
        counts: list[CountArray] = [np.zeros(0, np.int64)] * n
        weights, others, places = np.log(prior), np.log1p(-prior), logit(PRIORS)
        for rows in kernels.row_blocks(*trials.loglik.shape):
            block = kernels.relative(trials.loglik, rows) + weights[:, None]
            columns = np.arange(block.shape[1])
            top = np.argmax(block, axis=0)
            best = block[top, columns]
            rest = block.copy()
            rest[top, columns] = -math.inf
            second = np.argmax(rest, axis=0)
            second = np.where(second == top, np.where(top == 0, 1, 0), second)  # all others are excluded
            beside = rest[second, columns]
            some = None if trials.weights is None else trials.weights[rows]
            for k in range(n):
                is_top = top == k
                rival, height = np.where(is_top, second, top), np.where(is_top, beside, best)
                needed = height - others[k] - (block[k] - weights[k])
                at = np.searchsorted(places, needed, side="left")
                at += (at < len(places)) & (places[np.minimum(at, len(places) - 1)] == needed) & (k > rival)
                code = (at * n + trials.label[rows]) * n + rival
                found = tally(code, n_places * n * n, some)
                counts[k] = found if not len(counts[k]) else counts[k] + found
        return cls(prior, np.stack(counts).reshape(n, n_places, n, n))

    def __add__(self, other: DecidedAt) -> DecidedAt:
        """Those of the trials of both."""
        return replace(self, counts=self.counts + other.counts)

    def prior_at(self, k: int, p: float) -> FloatArray:
        """The prior of all classes where class ``k`` has prior ``p``."""
        found = self.prior * ((1.0 - p) / (1.0 - self.prior[k]))
        found[k] = p
        return np.asarray(found)

    def confusion(self, k: int, p: float) -> CountArray:
        """Trials of each class (rows) by the class that they are taken for.

        Parameters
        ----------
        k : int
            Class whose prior is chosen.
        p : float
            One of `PRIORS`.
        """
        at = int(np.searchsorted(PRIORS, p))
        before, after = self.counts[k, : at + 1], self.counts[k, at + 1 :]
        found = after.sum(axis=0)
        found[:, k] += before.sum(axis=(0, 2))
        return np.asarray(found)
