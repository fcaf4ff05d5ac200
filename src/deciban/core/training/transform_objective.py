"""The objective of linear maps of log-likelihoods of many classes that are more than a calibration.

They are not calibrations (thesis 8.4.1): a constant added to all log-likelihoods of a trial would not drop out. So each
trial is normalized first, by the mean likelihood of all classes: ``u = lam - ln mean exp lam`` are, but for a constant,
the logarithms of its posteriors at the flat prior. With ``x = (u - center) / width``
and ``z = ln prior + A x + b`` the objective is the cross-entropy, as in `deciban.core.training.multiclass_objective`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deciban.core.classes.loglik import relative
from deciban.core.training.multiclass_objective import ClassTrials, Errors, farthest_move
from deciban.core.training.trust_region import Derivatives
from deciban.types import FloatArray, IntArray, ScoreArray

_BLOCK_BYTES = 1 << 22
"""Bytes of the products of features and posteriors in a block."""

_LARGEST = 1e150
"""Standardized parameters beyond this are out of bounds."""


@dataclass(frozen=True, eq=False)
class TransformObjective:
    """A function of parameters that decide on a matrix and offsets.

    Attributes
    ----------
    trials : ClassTrials
        Of one system, with class weights that sum to the prior.
    log_prior : (n_classes,) array
    center : (n_classes,) array
        What is subtracted from normalized log-likelihoods.
    width : float
        What they are divided by then.
    is_diagonal : bool
        Whether a class has a scale for its own score only, or one for that of each class.
    basis : (n_classes * n_features, n_parameters) array
        How the parameters of each class, scales of standardized scores and an offset, change with what is trained.
    penalty : (n_parameters, n_parameters) array
        Half of its quadratic form is added to the value.
    """

    trials: ClassTrials
    log_prior: FloatArray
    center: FloatArray
    width: float
    is_diagonal: bool
    basis: FloatArray
    penalty: FloatArray

    @property
    def n_features(self) -> int:
        """Number of parameters of each class."""
        return len(self.basis) // len(self.log_prior)

    def __call__(self, parameters: FloatArray, /, hessian: FloatArray | None = None) -> Derivatives:
        """Value and gradient at a point, and the Hessian if none is given.

        ``worst`` is the largest lead of a wrong class in a trial, negative if the right class always leads.
        """
        size, known = self.basis.shape[1], hessian
        if not np.all(np.abs(parameters) < _LARGEST):
            return Derivatives(np.inf, np.full(size, np.nan), np.full((size, size), np.nan))
        raw = (self.basis @ parameters).reshape(-1, self.n_features)
        value, worst, gradient = 0.0, -np.inf, np.zeros(len(self.basis))
        own = np.zeros((len(self.basis), len(self.basis)) if known is None else (0, 0))
        for rows in self.blocks():
            features, z, label = self._combined(raw, rows)
            weights = self.trials.weight(rows)
            with np.errstate(all="ignore"):
                errors = Errors.of(z, label)
            column, pull = np.arange(len(label)), errors.posterior
            if known is None:
                others = 1.0 - pull
                others[label, column] = errors.p_error
                pull[label, column] = errors.p_true
                own += _products(features, pull, others, weights)
            pull[label, column] = -errors.p_error
            pull *= weights
            gradient += _slopes(features, pull).ravel()
            value += float(weights @ errors.cost)
            worst = max(worst, float(errors.lead.max()))
        if known is None:
            known = self.basis.T @ own @ self.basis + self.penalty
        pushed = self.penalty @ parameters
        value += 0.5 * float(parameters @ pushed)
        return Derivatives(value, self.basis.T @ gradient + pushed, known, worst)

    def blocks(self) -> list[slice]:
        """All trials, cut into pieces whose temporaries are small."""
        size = max(_BLOCK_BYTES // (8 * len(self.basis)), 64)
        return [slice(i, i + size) for i in range(0, len(self.trials), size)]

    def largest_move(self, parameters: FloatArray, step: FloatArray) -> float:
        """How far a step moves the log-likelihood of a class against that of the true one, at most in any trial."""
        raw, change = ((self.basis @ each).reshape(-1, self.n_features) for each in (parameters, step))
        with np.errstate(invalid="ignore"):
            parts = (self._combined(raw, rows) for rows in self.blocks())
            return max(0.0, *(farthest_move(_sum(features, change), z, label) for features, z, label in parts))

    def _combined(self, raw: FloatArray, rows: slice) -> tuple[FloatArray, FloatArray, IntArray]:
        """Features (1 or n_classes, n_features, n), argument of softmax (n_classes, n), and labels."""
        x = normalized(self.trials.systems[:, 0], rows)
        excluded = np.isneginf(x)
        x -= self.center[:, None]
        x /= self.width
        x[excluded] = 0.0
        if self.is_diagonal:
            features = np.stack((x, np.ones_like(x)), axis=1)
        else:
            features = np.append(x, np.ones((1, x.shape[1])), axis=0)[None]
        z = _sum(features, raw)
        z += self.log_prior[:, None]
        z[excluded] = -np.inf
        return features, z, self.trials.label[rows]


def normalized(loglik: ScoreArray, rows: slice) -> FloatArray:
    """Log-likelihoods of some trials against the mean likelihood of all classes, (n_classes, n)."""
    block = relative(loglik, rows)
    block -= np.log1p(np.expm1(block).mean(axis=0))  # to the last digit, even if the classes are nearly alike
    return block


def _sum(features: FloatArray, raw: FloatArray) -> FloatArray:
    """Scores of all classes (n_classes, n)."""
    if len(features) == 1:  # shared by all classes
        return np.asarray(raw @ features[0])
    return np.asarray((raw[:, :, None] * features).sum(axis=1))


def _slopes(features: FloatArray, pull: FloatArray) -> FloatArray:
    """First derivatives (n_classes, n_features)."""
    if len(features) == 1:
        return np.asarray(pull @ features[0].T)
    return np.asarray((pull[:, None, :] * features).sum(axis=2))


def _products(features: FloatArray, posterior: FloatArray, others: FloatArray, weights: FloatArray) -> FloatArray:
    """Second derivatives: ``sum w F' (diag p - p p') F`` for the features F of each trial.

    ``others`` are the probabilities ``1 - p`` to all digits: of the true class they may be next to nothing in every
    trial that has any weight.
    """
    n_classes, n_features = len(posterior), features.shape[1]
    mean = (posterior[:, None, :] * features).reshape(n_classes * n_features, -1)
    hessian = -((mean * weights) @ mean.T)
    for i, weight in enumerate(posterior * others * weights):
        own = features[0 if len(features) == 1 else i]
        place = slice(i * n_features, (i + 1) * n_features)
        hessian[place, place] = (own * weight) @ own.T
    return hessian
