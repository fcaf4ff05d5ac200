"""The objective of linear maps of log-likelihoods of many classes that are more than a calibration.

They are not calibrations (thesis 8.4.1): a constant added to all log-likelihoods of a trial would not drop out. So each
trial is normalized first, by the mean likelihood of all classes: ``u = lam - ln mean exp lam`` are, but for a constant,
the logarithms of its posteriors at the flat prior. With ``x = (u - center) / width``
and ``z = ln prior + A x + b`` the objective is the cross-entropy, as in `deciban.core.training.multiclass_objective`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from deciban.core.classes.loglik import relative
from deciban.core.training.class_trials import NO_TRIALS, ClassTrials
from deciban.core.training.multiclass_objective import Errors, farthest_move
from deciban.core.training.separation import SUSPICIOUS
from deciban.core.training.sums import Ends, Sums, SumsUpTo
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
    reach : float
        No score is farther from 0; infinite if that is not known.
    """

    trials: ClassTrials
    log_prior: FloatArray
    center: FloatArray
    width: float
    is_diagonal: bool
    basis: FloatArray
    penalty: FloatArray
    reach: float = np.inf

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
        raw, n = (self.basis @ parameters).reshape(-1, self.n_features), len(self.basis)
        found = self.trials.each(_Terms(self.form, raw, known is None))
        total = found.sums.total
        value, gradient = float(total[0]), total[1 : n + 1]
        if known is None:
            known = self.basis.T @ total[n + 1 :].reshape(n, n) @ self.basis + self.penalty
        pushed = self.penalty @ parameters
        value += 0.5 * float(parameters @ pushed)
        return Derivatives(value, self.basis.T @ gradient + pushed, known, float(found.largest))

    @property
    def form(self) -> TransformObjective:
        """The same without the trials: what is sent to where they are."""
        return replace(self, trials=NO_TRIALS)

    def terms(self, raw: FloatArray, *, with_hessian: bool) -> SumsUpTo:
        """Value, then derivatives by parameters of each class, then perhaps second ones; and the largest lead."""
        n = len(self.basis)
        value, worst, gradient = 0.0, -np.inf, np.zeros(n)
        own = np.zeros((n, n) if with_hessian else (0, 0))
        for rows in self.blocks():
            features, z, label = self._combined(raw, rows)
            weights = self.trials.weight(rows)
            with np.errstate(all="ignore"):
                errors = Errors.of(z, label)
            column, pull = np.arange(len(label)), errors.posterior
            if with_hessian:
                others = 1.0 - pull
                others[label, column] = errors.p_error
                pull[label, column] = errors.p_true
                own += _products(features, pull, others, weights)
            pull[label, column] = -errors.p_error
            pull *= weights
            gradient += _slopes(features, pull).ravel()
            value += float(weights @ errors.cost)
            worst = max(worst, float(errors.lead.max()))
        return SumsUpTo(Sums.of(np.concatenate(([value], gradient, own.ravel()))), np.array(worst))

    def blocks(self) -> list[slice]:
        """All trials, cut into pieces whose temporaries are small."""
        size = max(_BLOCK_BYTES // (8 * len(self.basis)), 64)
        return [slice(i, i + size) for i in range(0, len(self.trials), size)]

    def largest_move(self, parameters: FloatArray, step: FloatArray) -> float:
        """How far a step moves the log-likelihood of a class against that of the true one, at most in any trial.

        Where a bound that needs no look at the trials is low enough, it is that.
        """
        raw, change = ((self.basis @ each).reshape(-1, self.n_features) for each in (parameters, step))
        bound = self._move_bound(change)
        if bound < SUSPICIOUS:
            return bound
        return max(0.0, float(self.trials.each(_Moved(self.form, raw, change)).high))

    def _move_bound(self, change: FloatArray) -> float:
        """No log-likelihood moves farther; infinite if the reach of scores is not known."""
        far = (2.0 * self.reach + np.log(len(change)) + float(np.max(np.abs(self.center)))) / self.width
        each = far * np.abs(change[:, :-1]).sum(axis=1) + np.abs(change[:, -1])
        return 2.0 * float(each.max()) if np.isfinite(far) else np.inf

    def moved(self, raw: FloatArray, change: FloatArray) -> float:
        """The same of the trials that are here, exactly."""
        with np.errstate(invalid="ignore"):
            parts = (self._combined(raw, rows) for rows in self.blocks())
            return max(farthest_move(_sum(features, change), z, label) for features, z, label in parts)

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


@dataclass(frozen=True, slots=True, eq=False)
class _Terms:
    """A look at trials that sums up what they add to value and derivatives."""

    form: TransformObjective
    raw: FloatArray
    with_hessian: bool

    def __call__(self, trials: ClassTrials) -> SumsUpTo:
        return replace(self.form, trials=trials).terms(self.raw, with_hessian=self.with_hessian)


@dataclass(frozen=True, slots=True, eq=False)
class _Moved:
    """A look at trials that finds how far a step moves a log-likelihood against that of the true class, at most."""

    form: TransformObjective
    raw: FloatArray
    change: FloatArray

    def __call__(self, trials: ClassTrials) -> Ends:
        return Ends.up_to(replace(self.form, trials=trials).moved(self.raw, self.change))


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
    mean *= np.sqrt(weights)
    hessian = -(mean @ mean.T)  # of a matrix and itself, for half the work
    own = posterior * others * weights
    blocks = hessian.reshape(n_classes, n_features, n_classes, n_features)
    each = np.arange(n_classes)
    for i in range(n_features):
        if len(features) == 1:
            blocks[each, i, each] = (own * features[0, i]) @ features[0].T
        else:
            for j in range(n_features):
                blocks[each, i, each, j] = np.einsum("cn,cn,cn->c", own, features[:, i], features[:, j])
    return hessian
