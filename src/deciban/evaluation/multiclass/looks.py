"""Whether scores of many classes look like probabilities, are all alike or rule out the truth, which notes speak of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from deciban._validate.arrays import all_finite
from deciban.core.classes.certainty import ruled_out
from deciban.core.classes.loglik import are_alike, relative
from deciban.core.training.multiclass_objective import ClassTrials
from deciban.multiclass.tables import ScoredClasses
from deciban.types import AnyArray, FloatArray, ScoreArray

"""How a summary has them."""


_LOOKED_AT = 1000
"""Trials that tell what scores look like."""


@dataclass(frozen=True, slots=True, eq=False)
class Looks:
    """What scores look like; ``a + b`` is what holds for the trials of both.

    Attributes
    ----------
    are_probabilities, are_log_posteriors : bool
        Whether rows sum to 1, as they are or as exponentials; judged by some trials of each part.
    alike : (n_classes,) array or None
        The log-likelihoods of all trials, but for what is added to all classes of one; None if they differ.
    n_wrong : int
        Trials whose true class infinite scores rule out.
    first_wrong : (int, int) or None
        Position and class of the first of them; not known of merged trials.
    """

    are_probabilities: bool
    are_log_posteriors: bool
    alike: FloatArray | None
    n_wrong: int
    first_wrong: tuple[int, int] | None

    @classmethod
    def of(cls, trials: ScoredClasses) -> Looks:
        """Look at checked trials."""
        alike = relative(trials.loglik, slice(0, 1))[:, 0] if are_alike(trials.loglik) else None
        return cls(*_units(trials.loglik), alike, *_wrong(trials))

    def __add__(self, other: Looks) -> Looks:
        """What holds for the trials of both."""
        same = self.alike is not None and other.alike is not None and np.array_equal(self.alike, other.alike)
        return Looks(
            self.are_probabilities and other.are_probabilities,
            self.are_log_posteriors and other.are_log_posteriors,
            self.alike if same else None,
            self.n_wrong + other.n_wrong,
            None,
        )


def _units(loglik: ScoreArray) -> tuple[bool, bool]:
    some: AnyArray = loglik[:: max(len(loglik) // _LOOKED_AT, 1)].astype(np.float64)
    if some.min() >= 0.0 and some.max() <= 1.0 and np.allclose(some.sum(axis=1), 1.0, atol=1e-3):
        return True, False
    return False, bool(np.all(some <= 1e-6) and np.allclose(logsumexp(some, axis=1), 0.0, atol=1e-3))


def _wrong(trials: ScoredClasses) -> tuple[int, tuple[int, int] | None]:
    if all_finite(trials.loglik):
        return 0, None
    infinite = np.isinf(trials.loglik).any(axis=1)
    rows = np.flatnonzero(infinite if trials.weights is None else infinite & (trials.weights > 0))
    no_weights = np.zeros(trials.n_classes)
    wrong = rows[ruled_out(ClassTrials(trials.loglik[rows][:, None, :], trials.label[rows], no_weights, None))]
    return len(wrong), (int(wrong[0]), int(trials.label[wrong[0]])) if len(wrong) else None
