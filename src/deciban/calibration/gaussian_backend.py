"""The Gaussian back-end: multiclass log-likelihoods from vectors of features or scores, by moments of the classes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import blas, lapack

from deciban._validate import arrays as _validate
from deciban._validate import classes as _validate_classes
from deciban.core.class_counts import ordered_by_class
from deciban.core.expected import ClassCosts
from deciban.core.training.sums import Ends, Sums
from deciban.errors import InputError, either, option
from deciban.models.model import Plain
from deciban.models.multiclass import NAMES, ClassModel
from deciban.models.score_model import outcome
from deciban.multiclass.tables import ScoredClasses, entropy, mixed, surprises
from deciban.trials.sources import Batch
from deciban.types import Additive, FloatArray, FloatPair, IntArray, Json, Names, Priors, ScoreArray, Units, Weights

if TYPE_CHECKING:
    from deciban.models.sources import SourceClasses

_BLOCK = 1 << 17
"""Numbers in a block of features."""

_WIDE = 16
"""Number of rows that are combined into one long row when extremes are computed."""

_NEAR = 64.0
"""Largest squared distance of means from their middle, relative to the number of features.

Squared distances of points from their own mean are about 1 on this scale. Up to this limit, cancellation costs no more
digits than the sum of squares does.
"""

NOISE = (100.0 * float(np.finfo(np.float64).eps)) ** 2
"""Variance that rounding alone produces for a constant feature, relative to its range."""


@dataclass(frozen=True, slots=True, eq=False)
class FeatureRanges(Additive):
    """Number of trials of each class, and the range of each feature; ranges of two sets of trials can be added.

    Attributes
    ----------
    ends : Ends
        Lowest and highest value of each feature.
    counts : (n_classes,) int array
        Trials that count.
    """

    ends: Ends
    counts: IntArray

    @classmethod
    def of(cls, features: ScoreArray, label: IntArray, n_classes: int, weights: FloatArray | None) -> FeatureRanges:
        """Compute from finite features."""
        rows = None if weights is None else weights > 0.0
        counting, own = (features, label) if rows is None else (features[rows], label[rows])
        ends = [_extremes(counting, extreme).astype(np.float64) for extreme in (np.min, np.max)] if len(own) else None
        empty = np.full(features.shape[1], np.inf)
        return cls(Ends.of(*(ends or (empty, -empty))), np.bincount(own, minlength=n_classes))

    @property
    def middle_and_size(self) -> FloatPair:
        """Return the middle and half the length of the range of each feature.

        Raises
        ------
        InputError
            If a feature is the same in all trials.
        """
        low, high = self.ends.low, self.ends.high
        middle, size = 0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low
        if (constant := np.flatnonzero(size == 0.0)).size:
            raise InputError(
                f"features: {len(constant)} of {len(size)} are the same in all trials, the first is feature "
                f"{constant[0]}. Leave these features out."
            )
        return middle, size


@dataclass(frozen=True, slots=True, eq=False)
class FeatureSums:
    """A function that sums features of each class, or products of their deviations, with weights.

    Attributes
    ----------
    middle, size : (n_features,) arrays
        Features are ``middle + size * x``.
    n_classes : int
    mean : (n_classes, n_features) array, optional
        Means of x in each class; if passed, deviations from them are used instead of x.
    """

    middle: FloatArray
    size: FloatArray
    n_classes: int
    mean: FloatArray | None = None

    def __call__(self, features: ScoreArray, label: IntArray, weights: FloatArray | None) -> Sums:
        """Return the sums of each class: (n_classes, 1 + n_features) with the weight first, or (n_classes, f, f)."""
        n = len(self.size)
        total = Sums.of(np.zeros((self.n_classes, n, n) if self.mean is not None else (self.n_classes, 1 + n)))
        order = ordered_by_class(label, self.n_classes)
        order = order if weights is None else order[weights[order] > 0.0]
        ends = np.cumsum(np.bincount(label[order], minlength=self.n_classes))
        for k, own in enumerate(np.split(order, ends[:-1])):
            sums = Sums.of(np.zeros(total.high.shape[1:]))
            for part in _blocks(len(own), n):
                rows = own[part]
                sums += Sums.of(self._of(k, features[rows], np.ones(len(rows)) if weights is None else weights[rows]))
            total.high[k], total.low[k] = sums.high, sums.low
        return total

    def _of(self, k: int, features: ScoreArray, weights: FloatArray) -> FloatArray:
        points = (features - self.middle) / self.size
        if self.mean is None:
            return np.append(weights.sum(), weights @ points)
        points -= self.mean[k]
        return np.asarray((points.T * weights) @ points)


@dataclass(frozen=True, slots=True, eq=False)
class ClassMoments:
    """Means and maximum-likelihood covariances of each class, relative to the range of each feature.

    Attributes
    ----------
    middle, size : (n_features,) arrays
        Features are ``middle + size * x``. Relative to the range nothing overflows, and a shift costs no digits.
    mean : (n_classes, n_features) array
        Means of x.
    covariance : (n_classes, n_features, n_features) array
        Covariances of x. A feature that is constant in a class has exactly variance 0.
    counts : (n_classes,) int array
        Trials that count.
    """

    middle: FloatArray
    size: FloatArray
    mean: FloatArray
    covariance: FloatArray
    counts: IntArray

    @classmethod
    def of(cls, features: ScoreArray, label: IntArray, n_classes: int, weights: FloatArray | None) -> ClassMoments:
        """Compute from finite features; every class occurs.

        Raises
        ------
        InputError
            If a feature is the same in all trials.
        """
        ranges = FeatureRanges.of(features, label, n_classes, weights)
        return cls.within(ranges, lambda look: look(features, label, weights))

    @classmethod
    def within(cls, ranges: FeatureRanges, each: Callable[[FeatureSums], Sums]) -> ClassMoments:
        """Compute in two passes over the trials whose ranges are known; every class occurs.

        Parameters
        ----------
        ranges : FeatureRanges
        each : function
            Applies a function to all trials.

        Raises
        ------
        InputError
            If a feature is the same in all trials.
        """
        (middle, size), n_classes = ranges.middle_and_size, len(ranges.counts)
        sums = each(FeatureSums(middle, size, n_classes)).total
        total, mean = sums[:, :1], sums[:, 1:] / sums[:, :1]
        covariance = each(FeatureSums(middle, size, n_classes, mean)).total / total[:, :, None]
        covariance = 0.5 * (covariance + covariance.transpose(0, 2, 1))  # rounding is not symmetric
        for own in covariance:
            still = np.diag(own) <= NOISE  # even the mean of equal numbers is rounded
            own[still] = own[:, still] = 0.0
        return cls(middle, size, mean, covariance, ranges.counts)


def _extremes(features: ScoreArray, extreme: Callable[..., ScoreArray]) -> ScoreArray:
    """Return extremes of each feature; several rows are combined, because numpy is slow with short rows."""
    n, n_features = features.shape
    whole = n - n % _WIDE if features.flags.c_contiguous else 0
    result = [features[whole:]] if whole < n else []
    if whole:
        result.append(extreme(features[:whole].reshape(-1, _WIDE * n_features), axis=0).reshape(_WIDE, n_features))
    return extreme(np.concatenate(result), axis=0)


def is_singular(covariance: FloatArray) -> bool:
    """Return True if some linear combination of features has no variance, up to rounding."""
    sd = np.sqrt(np.diag(covariance))
    if not np.all(sd > 0.0):
        return True
    eigenvalues = np.linalg.eigvalsh(covariance / np.outer(sd, sd))
    return bool(eigenvalues[0] <= 10.0 * len(sd) * np.finfo(np.float64).eps * eigenvalues[-1])


def log_densities(features: ScoreArray, mean: FloatArray, covariance: FloatArray) -> FloatArray:
    """Return log densities of Gaussian models at points.

    Parameters
    ----------
    features : (n, n_features) array
        Finite.
    mean : (n_classes, n_features) array
    covariance : (n_classes or 1, n_features, n_features) array
        Positive definite; one shared matrix, or one for each class.

    Returns
    -------
    (n, n_classes) array
        In nats.
    """
    sd = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    factors = [s[:, None] * np.linalg.cholesky(one / np.outer(s, s)) for one, s in zip(covariance, sd, strict=True)]
    inverses = [np.asfortranarray(lapack.dtrtri(factor, lower=1)[0]) for factor in factors]
    with np.errstate(over="ignore", invalid="ignore"):
        answer = _by_one(features, mean, inverses[0]) if len(factors) == 1 else _by_each(features, mean, inverses)
    answer -= [np.log(np.diag(factor)).sum() + 0.5 * len(factor) * math.log(2.0 * math.pi) for factor in factors]
    return answer


def _by_each(features: ScoreArray, mean: FloatArray, inverses: list[FloatArray]) -> FloatArray:
    """Compute log densities without constants from the inverses of the Cholesky factors of the covariances."""
    answer = np.empty((len(features), len(mean)))
    for rows in _blocks(len(features), mean.shape[1]):
        for k, inverse in enumerate(inverses):
            answer[rows, k] = -0.5 * _squares(_white(features[rows] - mean[k], inverse))
    return answer


def _by_one(features: ScoreArray, mean: FloatArray, inverse: FloatArray) -> FloatArray:
    """Compute log densities without constants of models that share one covariance.

    Every point is whitened once, relative to the middle of the means, unless these are so far apart that the squared
    distances would lose digits.
    """
    middle = mean.mean(axis=0)
    steps = _white(mean - middle, inverse)
    if _squares(steps).max() > _NEAR * len(middle):
        return _by_each(features, mean, [inverse] * len(mean))
    answer = np.empty((len(features), len(mean)))
    for rows in _blocks(len(features), max(mean.shape)):
        white = _white(features[rows] - middle, inverse)
        result = white @ steps.T
        result -= 0.5 * _squares(steps)
        result -= 0.5 * _squares(white)[:, None]
        answer[rows] = result
    return answer


def _white(deviations: FloatArray, inverse: FloatArray) -> FloatArray:
    """Whiten deviations (n, n_features) in place."""
    return np.asarray(blas.dtrmm(1.0, inverse, deviations.T, lower=1, overwrite_b=1)).T


def _squares(vectors: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("nf,nf->n", vectors, vectors))


def _blocks(n: int, n_columns: int) -> Iterator[slice]:
    step = max(_BLOCK // n_columns, 1)
    return (slice(i, i + step) for i in range(0, n, step))


_ROW = {"type": "array", "items": {"type": "number"}, "minItems": 1}
_ROWS = {"type": "array", "items": _ROW, "minItems": 1}


class GaussianBackend(ClassModel):
    """Log densities of Gaussian models of the classes, for vectors of features or of scores of any kind.

    Parameters
    ----------
    covariance : {"shared", "separate", "smoothed"}
        "shared": one covariance for all classes, so that differences of log-likelihoods are linear in the features.
        "separate": one for each class. "smoothed": for each class, ``smoothing`` times the shared covariance plus ``1 -
        smoothing`` times its own.
    smoothing : float
        In [0, 1]; only used with ``covariance="smoothed"``.
    ridge : float
        This multiple of the shared variance of each feature is added to its variance in every covariance.
    prior : (n_classes,) array_like, optional
        Weights of the classes in the shared covariance, and the prior of the objective; default: flat. The proportions
        of the data do not matter. A class of prior 0 has no weight in these, but it has a model. So it needs trials to
        estimate its mean, unlike in `MulticlassCalibrator`.

    Attributes
    ----------
    mean_ : (n_classes, n_features) array
        Weighted mean of each class.
    covariance_ : (1, n_features, n_features) or (n_classes, n_features, n_features) array
        Shared by all classes, or one for each class.
    objective_ : float
        Cross-entropy at the prior of the training trials, in nats.
    classes_ : tuple of str, optional
        Names of the classes, if there are any.
    training_ : Training
        Number of trials of each class, a fingerprint of the data, and ``results`` with the objective.

    Raises
    ------
    InputError
        In training, if a covariance is singular: too few trials, or linearly dependent features.

    Notes
    -----
    Covariances are maximum-likelihood estimates: sums are divided by the number of trials. The model is generative: its
    log-likelihoods are calibrated if the features are Gaussian. Otherwise, train a `MulticlassCalibrator` on other
    trials to correct them.

    Examples
    --------
    >>> features = [[2.0, 0.1], [1.5, -0.4], [2.5, 0.6], [0.1, 2.0], [-0.4, 1.0], [0.5, 1.6], [-1, -1], [-2, -1.2]]
    >>> backend = GaussianBackend().fit(features, ["en", "en", "en", "fr", "fr", "fr", "de", "de"])
    >>> backend.classes_
    ('de', 'en', 'fr')
    >>> backend.transform([[1.0, 0.0]]).round(2)
    array([[-17.47,  -4.25, -40.32]])
    """

    kind: ClassVar[str] = "gaussian-backend"
    fit_call = "fit(features, label)"
    parameter_schema: ClassVar[Mapping[str, object]] = {
        "classes": NAMES,
        "mean": {**_ROWS, "minItems": 2},
        "covariance": {"type": "array", "items": _ROWS, "minItems": 1},
    }

    def __init__(
        self,
        *,
        covariance: Literal["shared", "separate", "smoothed"] = "shared",
        smoothing: float = 0.5,
        ridge: float = 0.0,
        prior: Priors = None,
    ) -> None:
        self.covariance, self.smoothing, self.ridge = covariance, smoothing, ridge
        self._set_prior(prior)
        self._share()

    def _share(self) -> float:
        """Return the share of the shared covariance; settings are attributes, which may have changed."""
        self._ridge()
        smoothing = _validate.in_range(self.smoothing, "smoothing", 0.0, 1.0, "A share is in [0, 1]")
        shares = {"shared": 1.0, "separate": 0.0, "smoothed": smoothing}
        _validate.one_of(self.covariance, "covariance", tuple(shares))
        return shares[self.covariance]

    def fit(
        self,
        features: ArrayLike,
        label: ArrayLike,
        *,
        sample_weight: Weights = None,
        classes: Names = None,
        units: Units = None,
    ) -> Self:
        """Train on labelled trials.

        Parameters
        ----------
        features : (n_trials, n_features) array_like
            Finite features in any unit.
        label : (n_trials,) array_like
            True class: a number from 0, or a name.
        sample_weight : (n_trials,) array_like, optional
            Weight of each trial within its class, at least 0; whole numbers count like copies.
        classes : sequence of str, optional
            Names of the classes, in the order of the log-likelihoods. If labels are names, the default is alphabetical
            order.
        units : (n_trials,) array_like or TrialUnits, optional
            Not used: a back-end has no standard errors; a warning states this.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If a feature is not finite, shapes do not match, a label is unknown, there is only one class, a covariance
            is singular, or a class has no trials (even if its prior is 0).
        """
        return super().fit(features, label, sample_weight=sample_weight, classes=classes, units=units)

    def _checked_scores(self, loglik: ArrayLike) -> ScoreArray:
        """Return a matrix of finite features, not copied if they are floats.

        Raises
        ------
        InputError
            If it is not.
        """
        table = _validate.matrix(loglik, "features", "feature")
        _require_finite(table)
        return table

    def _fit(self, data: SourceClasses) -> Mapping[str, Plain]:
        share = self._share()
        ranges: FeatureRanges = data.look(partial(_ranges, data.n_classes))
        _require_trials(ranges.counts, data.classes)
        mean, covariance = self._models(data, ranges, share)
        _require_in_range(mean, covariance)
        costs: ClassCosts = data.look(partial(_costs, data.prior, mean, covariance))
        self.mean_, self.covariance_, self.objective_ = mean, covariance, mixed(costs.of_class, data.prior)
        status = f"moments of {data.n_trials:,} trials of {data.n_classes} classes"
        return outcome(self.objective_, entropy(data.prior), status)

    def _classes_of(self, scores: ScoreArray, label: ArrayLike, classes: Names) -> tuple[int, Sequence[str] | None]:  # noqa: ARG002
        """Return the number of classes, at least the length of the prior, and their names, if labels are names.

        Raises
        ------
        InputError
            If there is only one class.
        """
        if classes is not None:
            n_classes, what = len(tuple(classes)), "classes: there is one name"
        else:
            vector = _validate_classes.numbered(_validate.array(label, "label"))
            if vector.size == 0 or vector.ndim != 1:
                return 2, None  # later checks of labels report the error
            what = f"label: all labels are {vector[:1].tolist()[0]!r}"
            if vector.dtype.kind in "UT" or all(isinstance(one, str) for one in vector):
                classes = np.unique(vector).tolist()
                n_classes = len(classes)
            elif vector.dtype.kind in "iuf" and np.isfinite(vector).all() and 0 <= vector.max() < 1 << 31:
                n_classes = max(int(vector.max()) + 1, 0 if self.prior is None else len(self.prior))
            else:
                return 2, None
        if n_classes == 1:
            raise InputError(f"{what}, so only one class. At least two classes are needed.")
        return n_classes, classes

    def _models(self, data: SourceClasses, ranges: FeatureRanges, share: float) -> FloatPair:
        """Return means and covariances in the units of the features."""
        moments = ClassMoments.within(ranges, lambda look: data.look(partial(_of_features, look)))
        shared = np.tensordot(data.prior, moments.covariance, (0, 0))
        models = shared[None] if share == 1.0 else share * shared + (1.0 - share) * moments.covariance
        models = models + self.ridge * np.diag(np.diag(shared))
        for k, model in enumerate(models):
            own, may_smooth = k if share < 1.0 else None, self.covariance == "separate"
            require_regular(model, moments.counts, data, shared=shared, own=own, may_smooth=may_smooth)
        with np.errstate(over="ignore", under="ignore"):
            return moments.middle + moments.size * moments.mean, models * np.outer(moments.size, moments.size)

    def transform(self, features: ArrayLike) -> FloatArray:
        """Map features to log-likelihoods.

        Parameters
        ----------
        features : (n_trials, n_features) array_like
            Finite features in the order of training.

        Returns
        -------
        (n_trials, n_classes) array
            Log densities in nats; only differences within a trial matter for the classes.

        Raises
        ------
        InputError
            If the back-end was not trained, a feature is not finite, the number of features differs, or features are so
            extreme that all densities are 0.
        """
        return super().transform(features)

    def _transform(self, loglik: ScoreArray) -> FloatArray:
        densities = log_densities(loglik, self.mean_, self.covariance_)
        if not _validate.all_finite(densities):
            far = np.flatnonzero(~np.isfinite(densities).all(axis=1))
            raise InputError(
                f"features: {len(far)} trials are so far from all classes that their log-likelihoods exceed double "
                f"precision, the first at index {far[0]}. Are they in the units of training?"
            )
        return densities

    def _require_same(self, scores: ScoreArray) -> None:
        if scores.shape[1] != self.mean_.shape[1]:
            raise InputError(
                f"features: {scores.shape[1]} features, but the back-end was trained on {self.mean_.shape[1]}. Pass "
                "the same features in the same order."
            )

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return len(self.mean_)

    def set_parameters(self, parameters: Mapping[str, Json]) -> None:
        """Set names, means and covariances from a file."""
        try:
            mean = np.array(parameters["mean"], np.float64)
            covariance = np.array(parameters["covariance"], np.float64)
        except ValueError as error:
            raise InputError("mean, covariance: rows have different lengths.") from error
        n_classes, n_features = mean.shape
        self._require_count(parameters, n_classes)
        n_models = 1 if self._share() == 1.0 else n_classes
        if covariance.shape != (n_models, n_features, n_features):
            raise InputError(
                f"covariance: shape {covariance.shape}, but {self.covariance} covariances of {n_features} features and "
                f"{n_classes} classes have {(n_models, n_features, n_features)}."
            )
        for k, model in enumerate(covariance):
            if len(wrong := np.flatnonzero(np.diag(model) <= 0.0)):
                j = wrong[0]
                raise InputError(f"covariance[{k}][{j}][{j}]: got {model[j, j]:g}. A variance must be above 0.")
            if not np.array_equal(model, model.T) or is_singular(model):
                raise InputError(f"covariance[{k}]: this matrix is not symmetric and positive definite.")
        _require_in_range(mean, covariance)
        self.mean_, self.covariance_ = mean, covariance
        self._set_names(parameters)


def _require_in_range(mean: FloatArray, covariance: FloatArray) -> None:
    """Refuse units whose variances exceed double precision.

    Raises
    ------
    InputError
        If a variance exceeds double precision.
    """
    variances = np.diagonal(covariance, axis1=1, axis2=2)
    if not (np.isfinite(mean).all() and np.isfinite(covariance).all() and np.all(variances > 1e-300)):
        raise InputError("features: their variances exceed double precision. Use another unit.")


def _require_trials(counts: IntArray, classes: _validate_classes.Names) -> None:
    """Refuse classes of prior 0 without trials; classes of positive prior have trials.

    Raises
    ------
    InputError
        If there are any.
    """
    missing = np.flatnonzero(counts == 0)
    if len(missing):
        first = _validate_classes.called(int(missing[0]), classes)
        more = f" (and {len(missing) - 1} more of {len(counts)} classes)" if len(missing) > 1 else ""
        raise InputError(
            f"label: {first}{more} has prior 0 and no trials, but the back-end computes a log density of "
            "every class and needs its mean: collect trials of it, or leave it out of the prior and of classes."
        )


def require_regular(
    model: FloatArray, counts: IntArray, data: SourceClasses, *, shared: FloatArray, own: int | None, may_smooth: bool
) -> None:
    """Refuse a covariance without an inverse.

    Parameters
    ----------
    model : (n_features, n_features) array
        Covariance of features relative to their ranges, with the ridge.
    counts : (n_classes,) int array
        Numbers of trials of each class.
    data : SourceClasses
        Training trials.
    shared : (n_features, n_features) array
        The shared covariance, without the ridge.
    own : int, optional
        Class of this covariance; default: shared by all classes.
    may_smooth : bool
        True if the shared covariance has no share in it.

    Raises
    ------
    InputError
        If it is singular; the message names features without variance.
    """
    constant = np.flatnonzero(np.diag(model) <= NOISE)
    if len(constant) == 0 and not is_singular(model):
        return
    n_trials, n_features = int(counts.sum() if own is None else counts[own]), len(model)
    is_seen_once = n_trials == (data.n_classes if own is None else 1)
    of_class = None if own is None else _validate_classes.called(own, data.classes)
    smooth = either('covariance="smoothed"', "--smoothing")
    ways = f"{smooth} or {option(ridge=1e-3)}" if may_smooth else option(ridge=1e-3)
    for_good = np.flatnonzero(np.diag(shared) <= NOISE)
    if len(for_good) and not is_seen_once:
        mattering = "" if data.prior.all() else " of prior above 0"
        raise InputError(
            f"features: {_listed(for_good, n_features)} the same within each class{mattering}, so its shared variance "
            "is 0, and the ridge is a multiple of it. Leave it out."
        )
    if len(constant) and not is_seen_once:
        raise InputError(
            f"features: {_listed(constant, n_features)} the same in all trials of {of_class}, so its variance is 0. "
            f"Set {ways}, or leave it out."
        )
    whose = "shared covariance" if of_class is None else f"covariance of {of_class}"
    cause = "there are too few trials, or some features depend linearly on others"
    way = "Collect more trials" if len(for_good) else f"Set {ways}, leave features out, or collect more trials"
    raise InputError(
        f"features: the {whose}, of {n_features} features from {n_trials:,} trial{'' if n_trials == 1 else 's'}, is "
        f"singular: {cause}. {way}."
    )


def _listed(features: IntArray, n_features: int) -> str:
    more = f" (and {len(features) - 1} more of {n_features})" if len(features) > 1 else ""
    return f"feature {features[0]}{more} is"


def _require_finite(features: ScoreArray) -> None:
    """Refuse features that are NaN or infinite.

    Raises
    ------
    TrialError
        If there are any.
    """
    if not _validate.all_finite(features):
        words = f"features: {{n}} of {len(features)} trials have features that are NaN or infinite, the first "
        way = ". Gaussian models need finite features: leave these trials out, or impute the features."
        _validate.refuse_trials(np.asarray(~np.isfinite(features).all(axis=1)), words, way)


def _ranges(n_classes: int, trials: Batch) -> FeatureRanges:
    """Return the ranges of the features of trials."""
    _require_finite(trials.scores[0])
    return FeatureRanges.of(trials.scores[0], trials.labels, n_classes, trials.float_weight)


def _of_features(look: FeatureSums, trials: Batch) -> Sums:
    """Apply ``look`` to the features of trials."""
    return look(trials.scores[0], trials.labels, trials.float_weight)


def _costs(prior: FloatArray, mean: FloatArray, covariance: FloatArray, trials: Batch) -> ClassCosts:
    """Return sums of logarithmic costs of the log densities of trials."""
    densities = log_densities(trials.scores[0], mean, covariance)
    return ClassCosts(surprises(ScoredClasses(densities, trials.labels, trials.weight, None), prior))
