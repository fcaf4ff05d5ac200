"""The Gaussian back-end: from vectors of features or scores to log-likelihoods of many classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban._validate import classes as _validate_classes
from deciban.core.classes.gaussian import NOISE, ClassMoments, FeatureRanges, FeatureSums, is_singular, log_densities
from deciban.core.resampling.units import TrialUnits
from deciban.core.rules.expected import ClassCosts
from deciban.core.training.sums import Sums
from deciban.errors import InputError
from deciban.models.model import Plain
from deciban.models.multiclass import NAMES, ClassModel
from deciban.models.two_class import outcome
from deciban.multiclass.costs import entropy, mixed, surprises
from deciban.multiclass.tables import ScoredClasses
from deciban.trials.sources import Chunk
from deciban.types import FloatArray, IntArray, ScoreArray

_ROW = {"type": "array", "items": {"type": "number"}, "minItems": 1}
_ROWS = {"type": "array", "items": _ROW, "minItems": 1}


class GaussianBackend(ClassModel):
    """Log densities of Gaussian models of the classes at a vector of features, or of scores of any kind.

    Parameters
    ----------
    covariance : {"shared", "separate", "smoothed"}
        One covariance for all classes, so that the differences of log-likelihoods are linear in the features; one for
        each class; or one for each class that is ``smoothing`` times the shared one plus ``1 - smoothing`` times its
        own.
    smoothing : float
        In [0, 1]; only used with smoothed covariances.
    ridge : float
        So many times the shared variance of each feature is added to its variance in every covariance.
    prior : (n_classes,) array_like, optional
        How the covariances of the classes share in the shared one, and the prior of the objective; flat if not given.
        Proportions of the data never matter. A class of prior 0 has no share in these, but a model like all others: a
        density takes a mean, so there must be trials of it, unlike in `MulticlassCalibrator`.

    Attributes
    ----------
    mean_ : (n_classes, n_features) array
        Weighted mean of each class.
    covariance_ : (1, n_features, n_features) or (n_classes, n_features, n_features) array
        Shared by all classes, or of each.
    objective_ : float
        Cross-entropy at the prior of the training trials, in nats.
    classes_ : tuple of str, optional
        Names of the classes, if there are any.
    training_ : Training
        Number of trials of each class, a fingerprint of the data, and in ``results`` the objective.

    Raises
    ------
    InputError
        When training, if a covariance is singular: too few trials, or features that depend on each other.

    Notes
    -----
    Covariances are those of maximum likelihood, divided by the number of trials. The model is generative: its
    log-likelihoods are calibrated as far as the features are Gaussian. `MulticlassCalibrator`, trained on other trials,
    mends what they are not.

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
    parameter_schema: ClassVar[dict[str, Any]] = {
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
        prior: ArrayLike | None = None,
    ) -> None:
        self.covariance = covariance
        self.smoothing = smoothing
        self.ridge = ridge
        self._set_prior(prior)
        self._share()

    def _share(self) -> float:
        """Share of the shared covariance; settings are attributes and may have been changed."""
        self._ridge()
        smoothing = _validate.in_range(self.smoothing, "smoothing", 0.0, 1.0, "A share is in [0, 1]")
        shares = {"shared": 1.0, "separate": 0.0, "smoothed": smoothing}
        covariance: object = self.covariance
        if not isinstance(covariance, str) or covariance not in shares:
            raise InputError(f'covariance: got {covariance!r}. It is "shared", "separate" or "smoothed".')
        return shares[covariance]

    def fit(
        self,
        features: ArrayLike,
        label: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        classes: Sequence[str] | None = None,
        units: ArrayLike | TrialUnits | None = None,
    ) -> Self:
        """Train on labelled trials.

        Parameters
        ----------
        features : (n_trials, n_features) array_like
            Finite numbers of any unit.
        label : (n_trials,) array_like
            The true class: a number from 0, or a name.
        sample_weight : (n_trials,) array_like, optional
            Weight of each trial within its class, at least 0; whole numbers count like copies.
        classes : sequence of str, optional
            Names of the classes, in the order of the log-likelihoods. If labels are names, their alphabetical order if
            not given.
        units : (n_trials,) array_like or TrialUnits, optional
            Of no use: a back-end has no standard errors, and says so in a warning.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If a feature is not finite, shapes do not fit, a label is unknown, there is one class only, a class has no
            trial (not even one of prior 0 may lack trials), or a covariance is singular.
        """
        return super().fit(features, label, sample_weight=sample_weight, classes=classes, units=units)

    def _checked_scores(self, loglik: ArrayLike) -> ScoreArray:
        """Return a matrix of finite features, not copied if they are floats.

        Raises
        ------
        InputError
            If it is none.
        """
        table = _validate.matrix(loglik, "features", "feature")
        _require_finite(table)
        return table

    def _fit(self, data: Any) -> Mapping[str, Plain]:
        share = self._share()
        ranges: FeatureRanges = data.look(partial(_ranges, data.n_classes))
        _require_trials(ranges.counts, data.classes)
        mean, covariance = self._models(data, ranges, share)
        _require_in_range(mean, covariance)
        costs: ClassCosts = data.look(partial(_costs, data.prior, mean, covariance))
        self.mean_, self.covariance_, self.objective_ = mean, covariance, mixed(costs.of_class, data.prior)
        status = f"moments of {data.n_trials:,} trials of {data.n_classes} classes"
        return outcome(self.objective_, entropy(data.prior), status)

    def _classes_of(
        self,
        scores: ScoreArray,  # noqa: ARG002  # features do not tell
        label: ArrayLike,
        classes: Sequence[str] | None,
    ) -> tuple[int, Sequence[str] | None]:
        """How many classes there are, at least as many as the prior has, and their names, if labels are names.

        Raises
        ------
        InputError
            If there is one only.
        """
        if classes is not None:
            n_classes, what = len(tuple(classes)), "classes: there is one name"
        else:
            vector = _validate_classes.numbered(_validate.array(label, "label"))
            if vector.size == 0 or vector.ndim != 1:
                return 2, None  # whatever is wrong with them is said where labels are checked
            what = f"label: all labels are {vector[:1].tolist()[0]!r}"
            if vector.dtype.kind in "UT" or all(isinstance(one, str) for one in vector):
                classes = np.unique(vector).tolist()
                n_classes = len(classes)
            elif vector.dtype.kind in "iuf" and np.isfinite(vector).all() and 0 <= vector.max() < 1 << 31:
                n_classes = max(int(vector.max()) + 1, 0 if self.prior is None else len(self.prior))
            else:
                return 2, None
        if n_classes == 1:
            raise InputError(f"{what}, one class. At least two classes are needed.")
        return n_classes, classes

    def _models(self, data: Any, ranges: FeatureRanges, share: float) -> tuple[FloatArray, FloatArray]:
        """Means and covariances in the units of the features."""
        found = ClassMoments.within(ranges, lambda look: data.look(partial(_of_features, look)))
        shared = np.tensordot(data.prior, found.covariance, (0, 0))
        models = shared[None] if share == 1.0 else share * shared + (1.0 - share) * found.covariance
        models = models + self.ridge * np.diag(np.diag(shared))
        for k, model in enumerate(models):
            own, may_smooth = k if share < 1.0 else None, self.covariance == "separate"
            require_regular(model, found.counts, data, shared=shared, own=own, may_smooth=may_smooth)
        with np.errstate(over="ignore", under="ignore"):
            return found.middle + found.size * found.mean, models * np.outer(found.size, found.size)

    def transform(self, features: ArrayLike) -> FloatArray:
        """Turn features into log-likelihoods.

        Parameters
        ----------
        features : (n_trials, n_features) array_like
            Finite; in the order of training.

        Returns
        -------
        (n_trials, n_classes) array
            Log densities in nats, of which only differences within a trial matter for the classes.

        Raises
        ------
        InputError
            If the back-end was not trained, a feature is not finite, their number is another one, or they are so far
            away that all densities are 0.
        """
        return super().transform(features)

    def _transform(self, loglik: ScoreArray) -> FloatArray:
        densities = log_densities(loglik, self.mean_, self.covariance_)
        if not _validate.all_finite(densities):
            far = np.flatnonzero(~np.isfinite(densities).all(axis=1))
            raise InputError(
                f"features: {len(far)} trials are so far from all classes that their log-likelihoods do not fit a "
                f"float, the first at index {far[0]}. Are they in the units of training?"
            )
        return densities

    def _require_same(self, scores: ScoreArray) -> None:
        if scores.shape[1] != self.mean_.shape[1]:
            raise InputError(
                f"features: {scores.shape[1]} of them, but the back-end was trained on {self.mean_.shape[1]}. Pass "
                "the same features in the same order."
            )

    def fit_transform(
        self,
        features: ArrayLike,
        label: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        classes: Sequence[str] | None = None,
    ) -> FloatArray:
        """Train on trials and turn the same trials into log-likelihoods, which flatters them; see `fit`."""
        return self.fit(features, label, sample_weight=sample_weight, classes=classes).transform(features)

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return len(self.mean_)

    def set_parameters(self, parameters: Mapping[str, Any]) -> None:
        """Take names, means and covariances from a file."""
        try:
            mean = np.array(parameters["mean"], np.float64)
            covariance = np.array(parameters["covariance"], np.float64)
        except ValueError as error:
            raise InputError("mean, covariance: rows are not equally long.") from error
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
                raise InputError(f"covariance[{k}][{j}][{j}]: got {model[j, j]:g}. A variance is above 0.")
            if not np.array_equal(model, model.T) or is_singular(model):
                raise InputError(f"covariance[{k}]: this matrix is not symmetric and positive definite.")
        _require_in_range(mean, covariance)
        self.mean_, self.covariance_ = mean, covariance
        self._set_names(parameters)


def _require_in_range(mean: FloatArray, covariance: FloatArray) -> None:
    """Refuse units in which variances do not fit a float.

    Raises
    ------
    InputError
        If they are such.
    """
    variances = np.diagonal(covariance, axis1=1, axis2=2)
    if not (np.isfinite(mean).all() and np.isfinite(covariance).all() and np.all(variances > 1e-300)):
        raise InputError("features: their variances do not fit a float. Take another unit.")


def _require_trials(counts: IntArray, classes: _validate_classes.Names) -> None:
    """Refuse classes of prior 0 without trials; those of positive prior have some.

    Raises
    ------
    InputError
        If there is such a class.
    """
    missing = np.flatnonzero(counts == 0)
    if len(missing):
        first = _validate_classes.called(int(missing[0]), classes)
        more = f" (and {len(missing) - 1} more of {len(counts)} classes)" if len(missing) > 1 else ""
        raise InputError(
            f"label: {first}{more} has prior 0 and no trial that counts, but the back-end gives a log density of "
            "every class, which takes its mean: collect trials of it, or leave it out of the prior and of classes."
        )


def require_regular(
    model: FloatArray, counts: IntArray, data: Any, *, shared: FloatArray, own: int | None, may_smooth: bool
) -> None:
    """Refuse a covariance without an inverse.

    Parameters
    ----------
    model : (n_features, n_features) array
        Of features relative to their ranges, with the ridge.
    counts : (n_classes,) int array
        Trials that count.
    data : SourceClasses
        What it was estimated from.
    shared : (n_features, n_features) array
        The shared covariance, without the ridge.
    own : int, optional
        The class of which it is; shared by all if not given.
    may_smooth : bool
        Whether no part of the shared one is in it.

    Raises
    ------
    InputError
        If it is singular; the message names the features that have no variance.
    """
    constant = np.flatnonzero(np.diag(model) <= NOISE)
    if len(constant) == 0 and not is_singular(model):
        return
    n_trials, n_features = int(counts.sum() if own is None else counts[own]), len(model)
    is_seen_once = n_trials == (data.n_classes if own is None else 1)
    of_class = None if own is None else _validate_classes.called(own, data.classes)
    ways = 'covariance="smoothed" or ridge=1e-3' if may_smooth else "ridge=1e-3"
    for_good = np.flatnonzero(np.diag(shared) <= NOISE)
    if len(for_good) and not is_seen_once:
        mattering = "" if data.prior.all() else " of prior above 0"
        raise InputError(
            f"features: {_listed(for_good, n_features)} the same within each class{mattering}, so its shared variance "
            "is 0, and so is any ridge, which is a multiple of that. Leave it out."
        )
    if len(constant) and not is_seen_once:
        raise InputError(
            f"features: {_listed(constant, n_features)} the same in all trials of {of_class}, so its variance is 0. "
            f"Set {ways}, or leave it out."
        )
    whose = "shared covariance" if of_class is None else f"covariance of {of_class}"
    cause = "there are too few trials, or some features follow from others"
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
        If there are such.
    """
    if not _validate.all_finite(features):
        words = f"features: {{n}} of {len(features)} trials have features that are NaN or infinite, the first "
        way = ". Gaussian models need finite ones: leave these trials out, or fill them in."
        _validate.refuse_trials(np.asarray(~np.isfinite(features).all(axis=1)), words, way)


def _ranges(n_classes: int, trials: Chunk) -> FeatureRanges:
    """Find the ranges of the features of trials."""
    _require_finite(trials.scores[0])
    return FeatureRanges.of(trials.scores[0], trials.labels, n_classes, trials.float_weight)


def _of_features(look: FeatureSums, trials: Chunk) -> Sums:
    """Look at the features of trials."""
    return look(trials.scores[0], trials.labels, trials.float_weight)


def _costs(prior: FloatArray, mean: FloatArray, covariance: FloatArray, trials: Chunk) -> ClassCosts:
    """Sum up logarithmic costs of the log densities of trials."""
    densities = log_densities(trials.scores[0], mean, covariance)
    return ClassCosts(surprises(ScoredClasses(densities, trials.labels, trials.weight, None), prior))
