"""The objective of calibration and fusion of many classes: the cross-entropy of an affine map, with derivatives.

With ``z = ln prior + b + sum_k a_k lam_k`` for the log-likelihoods ``lam_k`` (one number per class) of system k, it is
``sum_i prior_i mean over class i of -ln softmax(z)_i`` (thesis 8.14, 8.16, 8.20), and optionally half the penalty times
the squares of the parameters. With two classes it is the logarithmic rule of `deciban.core.training.linear_objective`.

Blocks hold one row per class: loops over many trials are fast, loops over a few classes are not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
from scipy.linalg import get_blas_funcs

from deciban.core.classes.loglik import are_alike
from deciban.core.training.linear_objective import dot
from deciban.core.training.sums import Ends, F, Sums, SumsUpTo
from deciban.core.training.trust_region import SIZE, SUSPICIOUS, Derivatives
from deciban.types import AnyArray, BoolArray, FloatArray, IntArray, ScoreArray

_FEW = 16
"""Classes that take about as much time as two."""


@dataclass(frozen=True, eq=False)
class ClassTrials:
    """Trials to train on.

    Attributes
    ----------
    systems : (n_trials, n_systems, n_classes) array
        Log-likelihoods; -inf stands for a class that is out of the question, +inf and NaN do not occur.
    label : (n_trials,) int array
    class_weights : (n_classes,) array
        What a trial of weight 1 contributes: ``prior_i / n_i``.
    weights : (n_trials,) array, optional
        Weight of each trial.
    reach : float
        No score is farther from 0, in units of the widths of systems; infinite if that is not known.
    """

    systems: ScoreArray
    label: IntArray
    class_weights: FloatArray
    weights: FloatArray | None = None
    reach: float = np.inf

    def __len__(self) -> int:
        return len(self.label)

    @property
    def n_systems(self) -> int:
        """How many systems there are."""
        return int(self.systems.shape[1])

    @property
    def alike(self) -> BoolArray:
        """Which systems score all trials in the same way, (n_systems,)."""
        return np.array([are_alike(self.systems[:, k]) for k in range(self.n_systems)], np.bool_)

    @property
    def truth(self) -> IntArray:
        """The class of each trial."""
        return self.label

    @property
    def has_weights(self) -> bool:
        """Whether trials count differently."""
        return self.weights is not None

    def each(self, look: Callable[[ClassTrials], F]) -> F:
        """What a look at all of them finds; it can be sent to where trials are that do not fit in memory."""
        return look(self)

    def scaled(self, factor: FloatArray) -> ClassTrials:
        """The same with the scores of each system multiplied, (n_systems,)."""
        return replace(self, systems=self.systems * factor[:, None])

    def joined(self, other: ClassTrials) -> ClassTrials:
        """These and others, with the same class weights."""
        own, more = self.weights, other.weights
        weights = None if own is None or more is None else np.concatenate((own, more))
        systems, label = np.concatenate((self.systems, other.systems)), np.concatenate((self.label, other.label))
        return replace(self, systems=systems, label=label, weights=weights)

    @property
    def size(self) -> int:
        """For how many trials of a few classes these count: they are as much work."""
        return len(self) * max(len(self.class_weights) // _FEW, 1)

    @property
    def amounts(self) -> FloatArray:
        """How much the trials of each class count, without class weights."""
        n = len(self.class_weights)
        return np.bincount(self.label, self.weights, minlength=n).astype(np.float64)

    def weight(self, rows: slice) -> FloatArray:
        """What each of some trials contributes."""
        weight: FloatArray = self.class_weights[self.label[rows]]
        return weight if self.weights is None else weight * self.weights[rows]

    def take(self, rows: IntArray | slice) -> ClassTrials:
        """Some of the trials, with the same class weights."""
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, systems=self.systems[rows], label=self.label[rows], weights=weights)

    def stand_ins(self, few: ClassTrials) -> FloatArray:
        """For how many of these trials each of a sample of them stands."""
        return (few.class_weights / self.class_weights)[few.label]


NO_TRIALS = ClassTrials(np.zeros((0, 1, 1)), np.zeros(0, np.int64), np.zeros(1))
"""In place of trials that are elsewhere."""


_BLOCK_BYTES = 1 << 20
"""Bytes of the scores of a block: larger ones leave the cache, smaller ones make many calls."""


_FAR = 1e4
"""Scores that reach farther than so many widths are compared with the largest of their trial."""


_SHARE = 0.02
"""Largest share of all trials in a block: temporary memory is about ten times as much as its scores."""


_LARGEST = 1e150
"""Parameters beyond this are out of bounds: log-likelihoods could not be told from infinite ones."""


@dataclass(frozen=True, eq=False)
class ClassObjective:
    """A function of parameters that decide on scales and offsets by an affine map.

    Attributes
    ----------
    trials : ClassTrials
    log_prior : (n_classes,) array
    fixed : (n_systems + n_classes,) array
        Scales, then offsets, of parameters 0.
    basis : (n_systems + n_classes, n_parameters) array
        How they change with the parameters.
    penalty : (n_parameters,) array
        Half of it times the square of each parameter is added to the value.
    dtype : type
        Float64, or float32 for a rough look at less than half the price.
    """

    trials: ClassTrials
    log_prior: FloatArray
    fixed: FloatArray
    basis: FloatArray
    penalty: FloatArray
    dtype: type[np.float64 | np.float32] = np.float64

    value_at_zero: ClassVar[float] = np.inf
    """No bound of the value at 0 is needed."""

    def __call__(self, parameters: FloatArray, /, hessian: FloatArray | None = None) -> Derivatives:
        """Value and gradient at a point, and the Hessian if none is given.

        ``worst`` is the largest lead of a wrong class in a trial, negative if the right class always leads.
        """
        n = self.basis.shape[1]
        if not np.all(np.abs(parameters) < _LARGEST):
            return Derivatives(np.inf, np.full(n, np.nan), np.full((n, n), np.nan))
        raw = self.fixed + self.basis @ parameters
        look = partial(_terms, self.form, raw, hessian is None)
        found = self.trials.each(look)
        total = found.sums.total
        value, gradient = float(total[0]), self.basis.T @ total[1:]
        if hessian is None:
            with np.errstate(invalid="ignore", over="ignore"):  # what is infinite then is out of bounds
                hessian = found.seconds.along(self.basis) + np.diag(self.penalty)
        value += float(0.5 * self.penalty @ parameters**2)
        return Derivatives(value, gradient + self.penalty * parameters, hessian, float(found.largest.high))

    @property
    def form(self) -> ClassObjective:
        """The same without the trials: what is sent to where they are."""
        return replace(self, trials=NO_TRIALS)

    @property
    def n_systems(self) -> int:
        """How many systems there are."""
        return len(self.basis) - len(self.log_prior)

    @property
    def n_parameters(self) -> int:
        """Number of parameters."""
        return int(self.basis.shape[1])

    @property
    def _moving(self) -> tuple[int, int]:
        """How many scales and offsets change with the parameters: all or none."""
        scales, offsets = self.basis[: self.n_systems], self.basis[self.n_systems :]
        return len(scales) * bool(scales.any()), len(offsets) * bool(offsets.any())

    def blocks(self, *, share: float = 1.0) -> list[slice]:
        """All trials, cut into pieces whose temporaries are small."""
        _, k, n = self.trials.systems.shape
        in_cache = _BLOCK_BYTES // (np.dtype(self.dtype).itemsize * k * n)
        size = max(int(min(in_cache, share * _SHARE * len(self.trials))), 256)
        return [slice(i, i + size) for i in range(0, len(self.trials), size)]

    def slopes(self, parameters: FloatArray, rows: slice) -> tuple[AnyArray, None]:
        """How much each trial of a block pulls at its log-likelihoods: its weight times the probability of an error."""
        with np.errstate(all="ignore"):
            _, z, label = self.combined(self.fixed + self.basis @ parameters, rows)
            wrong = Errors.of(z, label).p_error
            wrong *= self.trials.weight(rows).astype(self.dtype)
            return wrong, None

    def move_bound(self, step: FloatArray) -> float:
        """A bound of `largest_move` that needs no look at the trials; infinite if their reach is not known."""
        change, k = self.basis @ step, self.n_systems
        by_scales = 0.0
        if np.any(change[:k]):
            inverse = float(np.max(self.basis[:k]))  # of the least width, in which the reach is
            by_scales = 2.0 * self.trials.reach / inverse * float(np.sum(np.abs(change[:k])))
        return by_scales + float(np.ptp(change[k:]))

    def largest_move(self, parameters: FloatArray, step: FloatArray) -> float:
        """How far a step moves the log-likelihood of a class against that of the true one, at most in any trial.

        Where a bound that needs no look at the trials is low enough, it is that.
        """
        if (bound := self.move_bound(step)) < SUSPICIOUS:
            return bound
        raw, change = self.fixed + self.basis @ parameters, self.basis @ step
        return max(0.0, float(self.trials.each(partial(_moved, self.form, raw, change)).high))

    def is_apart(self, at: Derivatives) -> bool:
        """Whether the right class leads in all trials, which proves that scales may grow forever.

        It proves nothing where the prior decides, and offsets cannot make up for it; nor where there is no scale.
        """
        scales, offsets = self.basis[: self.n_systems], self.basis[self.n_systems :]
        return bool(at.worst < 0.0 and scales.any() and (offsets.any() or np.ptp(self.log_prior) == 0.0))

    def has_no_minimum(self, _point: FloatArray, at: Derivatives) -> bool:
        """Whether a point proves that there is none: without penalty nothing keeps the scales finite then."""
        return not self.penalty.any() and self.is_apart(at)

    def combined(self, raw: FloatArray, rows: slice) -> tuple[AnyArray, AnyArray, IntArray]:
        """The scores (n_systems, n_classes, n) of a block, their sum with prior and offsets (n_classes, n), labels."""
        scores = self.trials.systems[rows]
        m, k, n = scores.shape
        # A number that all classes of a trial share says nothing, and could be so large that digits get lost.
        if not self.trials.reach <= _FAR:
            scores = scores - np.max(scores, axis=2, keepdims=True)
        flat = scores.reshape(m, k * n).astype(self.dtype, copy=False)
        features: AnyArray = np.ascontiguousarray(flat.T).reshape(k, n, m)
        excluded = None if self.trials.reach < np.inf else np.isneginf(features).any(axis=0)
        if excluded is not None:
            features[:, excluded] = 0.0
        shifted = raw.copy()
        shifted[k:] += self.log_prior
        z = _sum(features, shifted)
        if excluded is not None:
            z[excluded] = -np.inf
        return features, z, self.trials.label[rows]

    def _block(self, raw: FloatArray, rows: slice, seconds: SecondDerivatives | None) -> FloatArray:
        """The largest lead of a wrong class in a block, and its share of value and gradient; adds its second ones."""
        with np.errstate(all="ignore"):
            features, z, label = self.combined(raw, rows)
            weights = self.trials.weight(rows).astype(self.dtype)
            errors = Errors.of(z, label)
            column = np.arange(len(label))
            pull = errors.posterior  # of the wrong classes
            if seconds is not None:
                pull[label, column] = errors.p_true
                seconds.add(features, label, pull, weights)
            pull[label, column] = -errors.p_error
            pull *= weights
            scales = [dot(pull.ravel(), system.ravel()) for system in features]
            value = float(weights @ errors.cost)
            return np.concatenate(([float(errors.lead.max()), value], scales, pull.sum(axis=1)))


def _terms(form: ClassObjective, raw: FloatArray, with_hessian: bool, trials: ClassTrials) -> SumsUpTo:  # noqa: FBT001
    """The largest lead of a wrong class, value and gradient, and second derivatives of raw parameters."""
    level = replace(form, trials=trials)
    seconds = SecondDerivatives(*level._moving, level.dtype)  # noqa: SLF001
    sums = [level._block(raw, rows, seconds if with_hessian else None) for rows in level.blocks()]  # noqa: SLF001
    total = np.sum([block[1:] for block in sums], axis=0)
    return SumsUpTo(Sums.of(total), Ends.up_to(max(float(block[0]) for block in sums)), seconds)


def _moved(form: ClassObjective, raw: FloatArray, change: FloatArray, trials: ClassTrials) -> Ends:
    """Find how far a step moves a log-likelihood against that of the true class, at most."""
    level = replace(form, trials=trials)
    with np.errstate(all="ignore"):
        parts = (level.combined(raw, rows) for rows in level.blocks())
        return Ends.up_to(max(farthest_move(_sum(own, change), z, label) for own, z, label in parts))


@dataclass(frozen=True, slots=True)
class Errors:
    """What there is to know of the posterior of each trial of a block."""

    posterior: AnyArray
    """Of the classes (n_classes, n), 0 in place of the true one."""
    p_true: AnyArray
    p_error: AnyArray
    """Small ones, too, to all digits."""
    cost: AnyArray
    lead: AnyArray
    """Of the best wrong class over the true one."""

    @classmethod
    def of(cls, z: AnyArray, label: IntArray) -> Errors:
        """Overwrites ``z``, the log posterior but for a constant per trial."""
        column = np.arange(len(label))
        own = z[label, column]
        z[label, column] = -np.inf
        other = z.max(axis=0)
        top = np.maximum(other, own)
        z -= top
        np.exp(z, out=z)
        true = np.exp(own - top)
        wrong = z.sum(axis=0)
        inverse = 1.0 / (wrong + true)
        z *= inverse
        # Where the true class leads, its exponential is 1: small costs keep their digits.
        cost = np.where(own >= other, np.log1p(wrong), (top - own) - np.log(inverse))
        return cls(z, true * inverse, wrong * inverse, cost, other - own)


def farthest_move(moved: AnyArray, z: AnyArray, label: IntArray) -> float:
    """The largest of moves (n_classes, n) of the log-likelihoods ``z`` of trials against those of their true classes.

    Moves are compared with a hundredth of the difference itself where that is large.
    """
    column = np.arange(len(label))
    relative = np.abs(moved - moved[label, column]) / (1.0 + SIZE * np.abs(z - z[label, column]))
    return float(np.max(np.where(np.isfinite(z), relative, 0.0)))


def _sum(features: AnyArray, raw: FloatArray) -> AnyArray:
    """Scaled sum of systems, and offsets."""
    scales, offsets = raw[: len(features)], raw[len(features) :]
    z: AnyArray = features[0] * features.dtype.type(scales[0])
    for system, scale in zip(features[1:], scales[1:], strict=True):
        z += system * features.dtype.type(scale)
    z += offsets[:, None].astype(features.dtype)
    return z


class SecondDerivatives:
    """Second derivatives by scales and offsets: ``sum w F' (diag p - p p') F`` for the features F of each trial.

    Those by parameters that stay what they are, which may be all scales or all offsets, are not computed. The products
    of offsets are most of the work where there are many classes: they are symmetric, half of them is enough, and they
    are added up where they are, as matrices of their size are larger than the blocks that they come from.

    Parameters
    ----------
    n_systems, n_classes : int
        0 where scales, or offsets, stay what they are.
    dtype : type
        Of the blocks.
    """

    def __init__(self, n_systems: int, n_classes: int, dtype: type[np.float64 | np.float32]) -> None:
        self._scales, self._mixed = np.zeros((n_systems, n_systems)), np.zeros((n_systems, n_classes))
        self._products: AnyArray = np.zeros((n_classes, n_classes), dtype, order="F")

    def __add__(self, other: SecondDerivatives) -> SecondDerivatives:
        """Those of both."""
        both = SecondDerivatives(len(self._scales), len(self._products), self._products.dtype.type)
        both._scales, both._mixed = self._scales + other._scales, self._mixed + other._mixed
        both._products = np.asfortranarray(self._products + other._products)
        return both

    def add(self, features: AnyArray, label: IntArray, posterior: AnyArray, weights: AnyArray) -> None:
        """Add those of a block: features (n_systems, n_classes, n), true classes (n,), posterior, weights (n,)."""
        root = np.sqrt(weights)
        weighted = posterior * root
        if len(self._products):
            self._products = get_blas_funcs("syrk", dtype=self._products.dtype)(
                1.0, weighted.T, 1.0, self._products, trans=1, overwrite_c=1
            )
        weighted *= root
        column = np.arange(len(label))
        # Relative to the true class, so that nothing cancels where that is nearly certain.
        relative = [system - system[label, column] for system in features[: len(self._scales)]]
        for i, system in enumerate(relative):
            deviation = system - np.einsum("cn,cn->n", posterior, system)
            deviation *= weighted
            if len(self._products):
                self._mixed[i] += deviation.sum(axis=1)
            self._scales[i] += [dot(deviation.ravel(), other.ravel()) for other in relative]

    def along(self, basis: FloatArray) -> FloatArray:
        """By parameters: ``basis`` (n_systems + n_classes, n_parameters) is how scales and offsets change with them."""
        n_classes = len(self._products)
        hessian = np.zeros((len(basis), len(basis)))
        by_offset = slice(len(basis) - n_classes, None)
        hessian[: len(self._scales), : len(self._scales)] = self._scales
        if n_classes:
            half = np.triu(self._products, 1).astype(np.float64)
            half += half.T
            hessian[by_offset, by_offset] = np.diag(half.sum(axis=1)) - half  # probabilities add up to 1
            hessian[: len(self._scales), by_offset] = self._mixed
            hessian[by_offset, : len(self._scales)] = self._mixed.T
        return np.asarray(basis.T @ hessian @ basis)
