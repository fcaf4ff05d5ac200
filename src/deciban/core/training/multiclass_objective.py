"""Objective of multiclass calibration and fusion: the cross-entropy of an affine map, with derivatives; its trials.

Let ``z = ln prior + b + sum_k a_k lam_k`` with the log-likelihoods ``lam_k`` (one number per class) of system k. The
objective is ``sum_i prior_i mean over class i of -ln softmax(z)_i`` (thesis 8.14, 8.16, 8.20), plus optionally half the
penalty times the squared parameters. With two classes it equals the logarithmic rule of
`deciban.core.training.linear_objective`.

Blocks have one row per class: loops over many trials are fast, loops over a few classes are not.

If the objective has no minimum, it falls forever along a direction, an `Escape`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, TypeAlias

import numpy as np

from deciban._validate.arrays import all_finite, refuse_trials
from deciban._validate.classes import Names, called
from deciban.core.class_counts import ordered_by_class
from deciban.core.logliks import are_alike, class_major, row_blocks
from deciban.core.resampling.units import TrialUnits
from deciban.core.training.sums import Ends, F, Sums, SumsUpTo, TrialObjective, dot
from deciban.core.training.trust_region import SIZE, Derivatives
from deciban.errors import InputError
from deciban.types import AnyArray, BoolArray, FloatArray, FloatPair, IntArray, ScoreArray

_FEW = 16
"""Number of classes that take about as much time as two."""


_OF_CLASS = 200
"""Mean number of trials of a class from which trials by class are faster than trials in any order."""

LeadBlock: TypeAlias = tuple[FloatArray, int, FloatArray]
"""Trials of one class, over which a pass takes half the time of a pass over trials in any order: finite scores of one
system minus the score of the true class, (1, n_classes, n), the class, and weights of trials, (n,)."""


@dataclass(frozen=True, eq=False)
class ClassTrials:
    """Multiclass training trials.

    Attributes
    ----------
    systems : (n_trials, n_systems, n_classes) array
        Log-likelihoods; -inf excludes a class, +inf and NaN do not occur.
    label : (n_trials,) int array
    class_weights : (n_classes,) array
        Contribution of a trial of weight 1: ``prior_i / n_i``.
    weights : (n_trials,) array, optional
        Weight of each trial.
    reach : float
        Largest absolute score, in units of the widths of systems; infinite if unknown.
    blocks : sequence of LeadBlock
        The same trials, if they are stored by class, too.
    """

    systems: ScoreArray
    label: IntArray
    class_weights: FloatArray
    weights: FloatArray | None = None
    reach: float = np.inf
    blocks: Sequence[LeadBlock] = ()

    def __len__(self) -> int:
        return len(self.label)

    @property
    def n_systems(self) -> int:
        """Number of systems."""
        return int(self.systems.shape[1])

    @property
    def alike(self) -> BoolArray:
        """True for systems that give all trials the same scores, (n_systems,)."""
        return np.array([are_alike(self.systems[:, k]) for k in range(self.n_systems)], np.bool_)

    @property
    def truth(self) -> IntArray:
        """Class of each trial."""
        return self.label

    @property
    def has_weights(self) -> bool:
        """True if trials have weights."""
        return self.weights is not None

    def each(self, look: Callable[[ClassTrials], F]) -> F:
        """Return ``look(self)``; for trials in batches, the function is sent to the batches."""
        return look(self)

    def scaled(self, factor: FloatArray) -> ClassTrials:
        """Return the trials with the scores of each system multiplied by a factor, (n_systems,)."""
        return replace(self, systems=self.systems * factor[:, None])

    def joined(self, other: ClassTrials) -> ClassTrials:
        """Return the union with other trials, with the same class weights."""
        own, more = self.weights, other.weights
        weights = None if own is None or more is None else np.concatenate((own, more))
        systems, label = np.concatenate((self.systems, other.systems)), np.concatenate((self.label, other.label))
        return replace(self, systems=systems, label=label, weights=weights)

    @property
    def size(self) -> int:
        """Equivalent number of trials with a few classes, by computing time."""
        return len(self) * max(len(self.class_weights) // _FEW, 1)

    @property
    def amounts(self) -> FloatArray:
        """Number (or weight) of trials of each class, without class weights."""
        return np.bincount(self.label, self.weights, minlength=len(self.class_weights)).astype(np.float64)

    def leads(self) -> list[LeadBlock]:
        """Return the trials of one system with finite scores by class; empty if classes are small."""
        n, result = len(self.class_weights), list[LeadBlock]()
        if len(self) < _OF_CLASS * n:
            return result
        ends = np.cumsum(np.bincount(self.label, minlength=n))
        for k, own in enumerate(np.split(ordered_by_class(self.label, n), ends[:-1])):
            for rows in (own[part] for part in row_blocks(len(own), n)):
                block = class_major(self.systems[:, 0], rows)
                with np.errstate(over="ignore"):
                    block -= block[k].copy()
                result.append((block[None], k, self.weight(rows)))
        return result

    def weight(self, rows: slice | IntArray) -> FloatArray:
        """Return the weight of each of some trials, including class weights."""
        weight: FloatArray = self.class_weights[self.label[rows]]
        return weight if self.weights is None else weight * self.weights[rows]

    def take(self, rows: IntArray | slice) -> ClassTrials:
        """Return some of the trials, with the same class weights."""
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, systems=self.systems[rows], label=self.label[rows], weights=weights)


NO_TRIALS = ClassTrials(np.zeros((0, 1, 1)), np.zeros(0, np.int64), np.zeros(1))
"""Placeholder for trials that are elsewhere."""


_BLOCK_BYTES = 1 << 20
"""Bytes of the scores of a block: larger blocks exceed the cache, smaller ones need many calls."""


FAR = 1e4
"""Reach in widths above which scores are first shifted by the largest of their trial."""


_SHARE = 0.02
"""Largest share of all trials in a block; temporary memory is about ten times the size of its scores."""


_LEAST_BLOCK = 1 << 16
"""Scores of a block that take too little memory for a smaller share."""


@dataclass(frozen=True, eq=False)
class ClassObjective(TrialObjective):
    """Objective as a function of the parameters that determine scales and offsets by an affine map.

    Attributes
    ----------
    trials : ClassTrials
    log_prior : (n_classes,) array
    fixed : (n_systems + n_classes,) array
        Scales, then offsets, at parameters 0.
    basis : (n_systems + n_classes, n_parameters) array
        Derivatives of scales and offsets in the parameters.
    penalty : (n_parameters,) array
        The objective includes ``sum(penalty / 2 * parameters**2)``.
    dtype : type
        Float64, or float32 for a rough search in less than half the time.
    """

    trials: ClassTrials
    log_prior: FloatArray
    fixed: FloatArray
    basis: FloatArray
    penalty: FloatArray
    dtype: type[np.float64 | np.float32] = np.float64

    value_at_zero: ClassVar[float] = np.inf
    """No bound of the value at 0 is needed."""

    def raw(self, parameters: FloatArray) -> FloatArray:
        """Return scales and offsets."""
        return np.asarray(self.fixed + self.basis @ parameters)

    def unpacked(self, sums: SumsUpTo, *, with_hessian: bool) -> tuple[float, FloatArray, FloatArray | None]:
        """Return value, gradient and Hessian; see `TrialObjective.unpacked`."""
        total = sums.sums.total
        hessian = sums.seconds.along(self.basis) if with_hessian else None
        return float(total[0]), self.basis.T @ total[1:], hessian

    def terms(self, raw: FloatArray, with_hessian: bool, trials: ClassTrials) -> SumsUpTo:  # noqa: FBT001
        """Return the largest lead of a wrong class, and derivatives in scales and offsets; see `TrialObjective`."""
        level, seconds = replace(self, trials=trials), SecondDerivatives(*self.moving, self.dtype)
        totals, leads = list[FloatArray](), list[float]()
        shifted = raw + np.append(np.zeros(len(raw) - len(self.log_prior)), self.log_prior)
        with np.errstate(all="ignore"):
            for block in trials.blocks or level.blocks():
                own: IntArray | int
                if isinstance(block, tuple):
                    features, own, amounts = block[0].astype(self.dtype, copy=False), *block[1:]
                    z = _sum(features, shifted)
                else:
                    (features, z, own), amounts = level.combined(raw, block), trials.weight(block)
                weights = amounts.astype(self.dtype)
                errors = Errors.of(z, own)
                pull = errors.posterior  # posterior of the wrong classes
                if with_hessian:
                    pull.ravel()[errors.own] = errors.p_true
                    seconds.add(features, own, pull, weights)
                pull.ravel()[errors.own] = -errors.p_error
                pull *= weights
                scales = [dot(pull.ravel(), system.ravel()) for system in features]
                totals.append(np.concatenate(([float(weights @ errors.cost)], scales, pull.sum(axis=1))))
                leads.append(float(errors.lead.max()))
        return SumsUpTo(Sums.of(np.sum(totals, axis=0)), Ends.up_to(max(leads)), seconds)

    def moved(self, parameters: FloatArray, step: FloatArray, trials: ClassTrials) -> Ends:
        """Return the largest change of a log-likelihood relative to the true class; see `TrialObjective.moved`."""
        level, raw, change = replace(self, trials=trials), self.raw(parameters), self.basis @ step
        with np.errstate(all="ignore"):
            parts = (level.combined(raw, rows) for rows in level.blocks())
            return Ends.up_to(max(farthest_move(_sum(own, change), z, label) for own, z, label in parts))

    @property
    def n_systems(self) -> int:
        """Number of systems."""
        return len(self.basis) - len(self.log_prior)

    @property
    def moving(self) -> tuple[int, int]:
        """Numbers of scales and of offsets that change with the parameters: all or none."""
        scales, offsets = self.basis[: self.n_systems], self.basis[self.n_systems :]
        return len(scales) * bool(scales.any()), len(offsets) * bool(offsets.any())

    def blocks(self) -> list[slice]:
        """Return slices of all trials that need little temporary memory."""
        _, k, n = self.trials.systems.shape
        in_cache = _BLOCK_BYTES // (np.dtype(self.dtype).itemsize * k * n)
        size = max(int(min(in_cache, max(_SHARE * len(self.trials), _LEAST_BLOCK // (k * n)))), 256)
        return [slice(i, i + size) for i in range(0, len(self.trials), size)]

    def move_bound(self, step: FloatArray) -> float:
        """Return an upper bound of `largest_move` without a pass over trials; infinite if their reach is unknown."""
        change, k = self.basis @ step, self.n_systems
        by_scales = 0.0
        if np.any(change[:k]):
            inverse = float(np.max(self.basis[:k]))  # inverse of the least width, the unit of the reach
            by_scales = 2.0 * self.trials.reach / inverse * float(np.sum(np.abs(change[:k])))
        return by_scales + float(np.ptp(change[k:]))

    def is_apart(self, at: Derivatives) -> bool:
        """Return True if the right class leads in all trials, which proves that scales may grow forever.

        It proves nothing if the prior matters and there are no offsets to compensate for it, or if there is no scale.
        """
        scales, offsets = self.basis[: self.n_systems], self.basis[self.n_systems :]
        return bool(at.worst < 0.0 and scales.any() and (offsets.any() or np.ptp(self.log_prior) == 0.0))

    def combined(self, raw: FloatArray, rows: slice) -> tuple[AnyArray, AnyArray, IntArray]:
        """Return the scores (n_systems, n_classes, n) of a block, their log posteriors (n_classes, n) and labels."""
        scores = self.trials.systems[rows]
        m, k, n = scores.shape
        # A constant of all classes of a trial carries no information, and could be so large that digits are lost.
        if not self.trials.reach <= FAR:
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


@dataclass(frozen=True, slots=True)
class Errors:
    """Posterior errors of the trials of a block."""

    posterior: AnyArray
    """Posterior of the classes (n_classes, n), 0 in place of the true class."""
    p_true: AnyArray
    p_error: AnyArray
    """Probability of error of each trial, accurate even if it is tiny."""
    cost: AnyArray
    lead: AnyArray
    """Lead of the best wrong class over the true one."""
    own: IntArray | slice
    """Positions of the true classes in the flat array; this is several times faster than two indices."""

    @classmethod
    def of(cls, z: AnyArray, label: IntArray | int) -> Errors:
        """Compute from ``z``, the log posterior up to a constant per trial, which is overwritten."""
        n = z.shape[1]
        at = slice(label * n, label * n + n) if isinstance(label, int) else label * n + np.arange(n)
        own = z.ravel()[at].copy()
        z.ravel()[at] = -np.inf
        other = z.max(axis=0)
        top = np.maximum(other, own)
        z.ravel()[at] = top  # exponentials of infinities are slow
        z -= top
        np.exp(z, out=z)
        z.ravel()[at] = 0.0
        true = np.exp(own - top)
        wrong = z.sum(axis=0)
        inverse = 1.0 / (wrong + true)
        z *= inverse
        # If the true class leads, its exponential is 1: small costs keep their digits.
        cost = (top - own) + np.log1p(wrong + (true - 1.0))
        return cls(z, true * inverse, wrong * inverse, cost, other - own, at)


def farthest_move(moved: AnyArray, z: AnyArray, label: IntArray) -> float:
    """Return the largest change (n_classes, n) of log-likelihoods ``z`` relative to their true classes.

    Changes are compared with a hundredth of the difference itself if this is large.
    """
    column = np.arange(len(label))
    relative = np.abs(moved - moved[label, column]) / (1.0 + SIZE * np.abs(z - z[label, column]))
    return float(np.max(np.where(np.isfinite(z), relative, 0.0)))


def _sum(features: AnyArray, raw: FloatArray) -> AnyArray:
    """Return the scaled sum of systems plus offsets."""
    scales, offsets = raw[: len(features)], raw[len(features) :]
    z: AnyArray = features[0] * features.dtype.type(scales[0])
    for system, scale in zip(features[1:], scales[1:], strict=True):
        z += system * features.dtype.type(scale)
    z += offsets[:, None].astype(features.dtype)
    return z


class SecondDerivatives:
    """Second derivatives in scales and offsets: ``sum w F' (diag p - p p') F`` for the features F of each trial.

    Derivatives in fixed parameters, which may be all scales or all offsets, are not computed. With a large number of
    classes, the products of offsets are most of the work. They are symmetric, so that one half is computed. They are
    added in place, because matrices of their size are larger than the blocks they come from.

    Parameters
    ----------
    n_systems, n_classes : int
        0 if scales, or offsets, are fixed.
    dtype : type
        Data type of the blocks.
    """

    def __init__(self, n_systems: int, n_classes: int, dtype: type[np.float64 | np.float32]) -> None:
        self._scales, self._mixed = np.zeros((n_systems, n_systems)), np.zeros((n_systems, n_classes))
        self._products: AnyArray = np.zeros((n_classes, n_classes), dtype, order="F")

    def __add__(self, other: SecondDerivatives) -> SecondDerivatives:
        """Add the second derivatives of other trials."""
        both = SecondDerivatives(len(self._scales), len(self._products), self._products.dtype.type)
        both._scales, both._mixed = self._scales + other._scales, self._mixed + other._mixed
        both._products = np.asfortranarray(self._products + other._products)
        return both

    def add(self, features: AnyArray, label: IntArray | int, posterior: AnyArray, weights: AnyArray) -> None:
        """Add a block: features (n_systems, n_classes, n), true classes, posterior, weights (n,)."""
        root = np.sqrt(weights)
        weighted = posterior * root
        if len(self._products):
            from scipy.linalg import get_blas_funcs  # slow to import

            self._products = get_blas_funcs("syrk", dtype=self._products.dtype)(
                1.0, weighted.T, 1.0, self._products, trans=1, overwrite_c=1
            )
        weighted *= root
        column = np.arange(len(weights))
        # Relative to the true class, so that nothing cancels if it is nearly certain.
        relative = [system - system[label, column] for system in features[: len(self._scales)]]
        for i, system in enumerate(relative):
            deviation = system - np.einsum("cn,cn->n", posterior, system)
            deviation *= weighted
            if len(self._products):
                self._mixed[i] += deviation.sum(axis=1)
            self._scales[i] += [dot(deviation.ravel(), other.ravel()) for other in relative]

    def along(self, basis: FloatArray) -> FloatArray:
        """Return second derivatives in the parameters; ``basis`` is the same as in the objective."""
        n_classes = len(self._products)
        hessian = np.zeros((len(basis), len(basis)))
        by_offset = slice(len(basis) - n_classes, None)
        hessian[: len(self._scales), : len(self._scales)] = self._scales
        if n_classes:
            half = np.triu(self._products, 1).astype(np.float64)
            half += half.T
            hessian[by_offset, by_offset] = np.diag(half.sum(axis=1)) - half  # probabilities sum to 1
            hessian[: len(self._scales), by_offset] = self._mixed
            hessian[by_offset, : len(self._scales)] = self._mixed.T
        return np.asarray(basis.T @ hessian @ basis)


class CountedClasses:
    """Classes of positive prior.

    Attributes
    ----------
    prior : (n_possible,) array
        Priors, all positive.
    is_possible : (n_classes,) bool array
        True for classes with a positive prior.
    names : tuple of str or None
        Names of all classes.
    """

    prior: FloatArray
    is_possible: BoolArray
    names: Names

    @property
    def possible(self) -> IntArray:
        """Indices of the classes of positive prior among all classes, (n_possible,)."""
        return np.flatnonzero(self.is_possible)

    def called(self, k: int) -> str:
        """Return the name of a class for messages, given its position among the classes of positive prior."""
        return called(int(self.possible[k]), self.names)


@dataclass(frozen=True, eq=False)
class CountedTrials(CountedClasses):
    """Trials of positive weight whose classes have a positive prior, restricted to these classes.

    Attributes
    ----------
    trials : ClassTrials
    prior, is_possible, names
        See `CountedClasses`.
    numbers : (n_counted,) int array, optional
        Indices of the trials among all trials of the user; None if all trials count.
    """

    trials: ClassTrials
    prior: FloatArray
    is_possible: BoolArray
    numbers: IntArray | None
    names: Names = None

    def __len__(self) -> int:
        return len(self.trials)

    @property
    def amounts(self) -> FloatArray:
        """Number (or weight) of trials of each class."""
        return self.trials.amounts

    @property
    def n_alike(self) -> int:
        """Number of trials if the first system gives all of them the same scores; else 0."""
        return len(self.trials) if self.trials.alike[0] else 0

    @property
    def may_be_infinite(self) -> bool:
        """True if some scores may be infinite."""
        return True

    @property
    def left(self) -> ClassTrials:
        """The trials that infinite scores do not decide."""
        is_open = ~decided(self.trials)[0]
        return self.trials if is_open.all() else self.trials.take(np.flatnonzero(is_open))

    def each(self, look: Callable[[CountedTrials], F]) -> F:
        """Return ``look(self)``."""
        return look(self)

    def each_by_unit(self, look: Callable[[CountedTrials, TrialUnits], F], units: TrialUnits) -> F:
        """Return ``look(self, units)`` with the units of these trials, taken from the units of all trials."""
        return look(self, units if self.numbers is None else units.take(self.numbers))

    def undecided(self, *, offset: bool) -> tuple[ClassTrials, float]:
        """Return the trials that training can affect, and the total cost of the others.

        Parameters
        ----------
        offset : bool
            Whether offsets are trained.

        Raises
        ------
        InputError
            If infinite scores rule out the truth, leave nothing to train on, or leave no limit to an offset.
        """
        trials = self.trials
        if all_finite(trials.systems):
            return trials, 0.0
        left, costs = parted(self)
        require_rivals(rivals_of(left), self.called, offset=offset)
        return left, float(trials.class_weights @ costs)

    @classmethod
    def of(
        cls, systems: ScoreArray, label: IntArray, prior: FloatArray, weights: FloatArray | None, names: Names = None
    ) -> CountedTrials:
        """Select from checked log-likelihoods (n_trials, n_systems, n_classes); each class of positive prior occurs."""
        possible, numbers, counts = prior > 0.0, None, which_count(label, prior, weights)
        if not counts.all():
            numbers = np.flatnonzero(counts)
            systems, label = systems[numbers], label[numbers]
            weights = None if weights is None else weights[numbers]
        if not possible.all():
            systems, label, prior = systems[:, :, possible], (np.cumsum(possible) - 1)[label], prior[possible]
        trials = ClassTrials(systems, label, np.zeros(len(prior)), weights)
        with np.errstate(divide="ignore"):  # one batch may lack a class
            class_weights = prior / trials.amounts
        return cls(replace(trials, class_weights=class_weights), prior, possible, numbers, names)


def which_count(label: IntArray, prior: FloatArray, weights: FloatArray | None) -> BoolArray:
    """Return True for trials of positive weight of classes of positive prior, (n_trials,)."""
    counts: BoolArray = (prior > 0.0)[label]
    return counts if weights is None else counts & (weights > 0.0)


def decided(trials: ClassTrials) -> tuple[BoolArray, BoolArray]:
    """Return a mask of the trials that infinite scores decide, (n_trials,), and their winning classes.

    The decision does not depend on scales and offsets. A class with +inf wins. If a system excludes all classes, it
    prefers none, and the prior decides among all of them. The winning classes are a matrix (n_trials, n_classes), all
    False for undecided trials.
    """
    certain = _any(trials.systems == np.inf, 1)
    certain[_any(_excludes_all(trials), 1)] = True
    return _any(certain, 1), certain


def _any(array: BoolArray, axis: int) -> BoolArray:
    return np.asarray(np.any(array, axis=axis))


def _excludes_all(trials: ClassTrials) -> BoolArray:
    """Return True for each trial and system that excludes all classes, (n_trials, n_systems)."""
    return np.asarray(np.all(np.isneginf(trials.systems), axis=2))


def ruled_out(trials: ClassTrials) -> BoolArray:
    """Return True for trials (n_trials,) whose true class has infinite cost at every scale above 0."""
    is_decided, certain = decided(trials)
    rows = np.arange(len(trials))
    excluded = _any(np.isneginf(trials.systems[rows, :, trials.label]) & ~_excludes_all(trials), 1)
    return np.asarray(excluded | (is_decided & ~certain[rows, trials.label]))


def refuse_ruled_out(counted: CountedTrials) -> None:
    """Refuse trials whose true class infinite scores rule out.

    Raises
    ------
    TrialError
        If there are any.
    """
    trials = counted.trials
    if all_finite(trials.systems):
        return
    wrong = ruled_out(trials)
    words = "loglik: infinite scores rule out the true class of {n} trials, the first "
    way = (
        f", of {counted.called(int(trials.label[np.argmax(wrong)]))}: their cost is infinite at any scale and "
        "offsets. Give them finite scores, or leave them out."
    )
    refuse_trials(wrong, words, way, counted.numbers)


def parted(counted: CountedTrials) -> tuple[ClassTrials, FloatArray]:
    """Return the trials that infinite scores do not decide, and the unweighted costs of the others by class.

    Raises
    ------
    TrialError
        If infinite scores are wrong.
    """
    trials, prior = counted.trials, counted.prior
    refuse_ruled_out(counted)
    is_decided, certain = decided(trials)
    left, sure = (trials.take(np.flatnonzero(rows)) for rows in (~is_decided, is_decided))
    # If several classes are certain, the prior decides between them.
    costs = np.log(certain[is_decided] @ prior) - np.log(prior[sure.label])
    weighted = costs if sure.weights is None else costs * sure.weights
    return left, np.bincount(sure.label, weighted, minlength=len(prior)).astype(np.float64)


def rivals_of(trials: ClassTrials) -> BoolArray:
    """Return a matrix: ``[i, j]`` is True if some trial of class i leaves class j possible (j is a rival of i)."""
    n = len(trials.class_weights)
    left = ~_any(np.isneginf(trials.systems), 1)
    rivals = np.array([_any(left[trials.label == k], 0) for k in range(n)])
    np.fill_diagonal(rivals, val=False)
    return rivals


def require_rivals(rivals: BoolArray, called: Callable[[int], str], *, offset: bool) -> None:
    """Refuse trials in which the rivalry of two classes is one-sided, because then an offset has no optimum.

    Raises
    ------
    InputError
        If there are such classes, or if no trial leaves its class any rival.
    """
    if not rivals.any():
        raise InputError(
            "loglik: infinite scores decide all trials correctly, so that no finite scores are left to train on. "
            "Use them as they are, or give them finite scores."
        )
    one_way = np.argwhere(rivals & ~reachable(rivals).T) if offset else np.empty((0, 2))
    if len(one_way):
        ahead, behind = (called(int(k)) for k in one_way[0])
        raise InputError(
            f"loglik: infinite scores decide all trials of {behind} against {ahead}, but not those of {ahead} against "
            f"{behind}: the objective falls forever as the offset of {ahead} grows. Give them finite scores, leave one "
            "of these classes out, or train a scale without offsets."
        )


def reachable(step: BoolArray) -> BoolArray:
    """Return True for pairs (i, j) of nodes if j can be reached from i in any number of steps, including none."""
    reach = step | np.eye(len(step), dtype=np.bool_)
    while not reach.all():
        farther = reach.astype(np.float32) @ reach.astype(np.float32) > 0.0
        if np.array_equal(farther, reach):
            break
        reach = farther
    return reach


@dataclass(frozen=True, slots=True, eq=False)
class Escape:
    """A direction of scale and offsets in which the cross-entropy of one system falls forever, or stays level.

    Along it, the lead of a rival j over the true class i in a trial falls. If ``level[i, j]`` is True and the lead is
    as large as the largest in trials of class i, it stays level. No direction makes more leads fall.

    Attributes
    ----------
    scale : float
        0 or 1; with 0, all leads of level pairs stay level, not only the largest.
    offsets : (n_classes,) array
    level : (n_classes, n_classes) bool array
    margin : (n_classes, n_classes) array
        Leads that are below the largest by no more than this count as equal to it, because of rounding.
    """

    scale: float
    offsets: FloatArray
    level: BoolArray
    margin: FloatArray

    @classmethod
    def of(cls, leads: FloatArray, *, scale: bool, offset: bool) -> Escape | None:
        """Find the direction from the largest leads alone; return None if no direction helps.

        For a scale that does not fall, only the largest lead of class j over class i in trials of class i matters.
        Offsets must satisfy ``offset_i - offset_j >= scale * leads[i, j]``, a system of difference constraints. It has
        a solution with scale 1 if no cycle of classes has a sum above 0, and equality is forced on cycles with sum 0
        (Cormen and others, Introduction to Algorithms, on difference constraints). With scale 0 it always has a
        solution, and equality is forced between classes that can be reached from each other.

        Parameters
        ----------
        leads : (n_classes, n_classes) array
            Largest lead of class j over class i in trials of class i; -inf if all exclude j, and for i itself.
        scale, offset : bool
            Parameters that may change, at least one of them. The scale may not fall.
        """
        exact, compared = np.zeros(leads.shape), leads > -np.inf
        if not compared.any():
            return None
        if not offset:
            return cls(1.0, exact[0], leads == 0.0, exact) if np.all(leads <= 0.0) else None
        ways = _greatest_ways(leads) if scale else None
        if ways is not None:
            sums, rounding = ways
            # Each column solves the constraints; pairs outside cycles of sum 0 have slack in one of them.
            return cls(1.0, sums.mean(axis=1), (leads + sums.T >= -rounding.T) & compared, rounding.T)
        reach = reachable(compared)
        level = reach & reach.T
        if not np.any(compared & ~level):
            return None
        return cls(0.0, reach.sum(axis=1).astype(np.float64), level, exact)


def _greatest_ways(leads: FloatArray) -> FloatPair | None:
    """Return the greatest sum of leads on any path from i to j, and its rounding; None if a cycle is above 0.

    Two classes are compared exactly. Sums along longer paths are rounded.
    """
    n = len(leads)
    if np.any(leads + leads.T > 0.0):
        return None
    relative = 0.0 if n == 2 else 4.0 * n * float(np.finfo(np.float64).eps)
    largest, negative = float(leads.max()), -leads[np.isfinite(leads) & (leads < 0.0)]
    # Far enough below the others that no cycle through it could return to 0; finite, so that sums keep their digits.
    floor = (n + 1.0) * abs(largest) if largest != 0.0 else float(negative.min(initial=1.0))
    sums = np.maximum(leads, -floor)
    np.fill_diagonal(sums, 0.0)
    size = np.abs(sums)
    for k in range(n):  # Floyd-Warshall algorithm
        through = sums[:, k, None] + sums[k]
        better = through > sums
        sums = np.where(better, through, sums)
        size = np.where(better, np.maximum(size[:, k, None], size[k]), size)
        if np.any(np.diag(sums) > relative * np.diag(size)):
            return None
        np.fill_diagonal(sums, 0.0)
        np.fill_diagonal(size, 0.0)
    return sums, relative * np.maximum(size, np.abs(np.maximum(leads, -floor)).T)
