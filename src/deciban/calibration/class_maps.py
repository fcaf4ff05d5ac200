"""Multiclass calibration by scale and offsets, transformations, and separate calibration of detectors."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from deciban import multiclass
from deciban._validate import arrays as _validate
from deciban._validate import classes as _validate_classes
from deciban.calibration.nonparametric import PavCalibrator
from deciban.calibration.parametric import AffineCalibrator
from deciban.core.expected import ClassCosts
from deciban.core.logliks import relative, row_blocks
from deciban.core.training.moments import overflown, refuse_overflow
from deciban.core.training.multiclass_training import ClassFit, TransformFit, normalized, train_counted, train_transform
from deciban.core.training.sums import Sums
from deciban.errors import InputError, TrialError, option, warn
from deciban.models.model import Plain
from deciban.models.multiclass import MATRIX, NAMES, VECTOR, ClassMap, require_square
from deciban.models.score_model import Calibrator, outcome, results_of
from deciban.models.sources import SourceClasses
from deciban.trials.sources import Batch, SourcePartition, TrialFields
from deciban.types import CountArray, FloatArray, Json, Priors, ScoreArray

_SAYS_NOTHING = (
    "loglik: all {:,} trials have the same scores, up to a constant per trial. Constant scores "
    "cannot be calibrated. Is this the right file, and are these the right columns?"
)
_FAVOURS_OTHERS = (
    "the scores do not favour the true class, so the output has no information. If they are distances, negate them; or "
    "check that the columns are in the order of the labels"
)


class MulticlassCalibrator(ClassMap):
    """Calibrated log-likelihoods ``scale * loglik + offset`` (thesis 8.20; van Leeuwen and Bruemmer 2006, eq. 18).

    Parameters
    ----------
    prior : (n_classes,) array_like, optional
        Prior of the objective, with sum 1; default: flat. The proportions of the data do not matter. A class of prior 0
        is not used in training, and its offset is 0.
    ridge : float
        Penalty ``ridge / 2 * scale**2``, with the scale for standardized scores, added to the objective. Standardized
        scores are divided by their width: the root of the mean variance of the differences between two classes. Offsets
        are never penalized.

    Attributes
    ----------
    scale_ : float
        At least 0, in nats per unit of score.
    offset_ : (n_classes,) array
        In nats; their mean is 0.
    objective_ : float
        Cross-entropy at the prior (thesis 8.17) at the optimum, in nats, without the penalty.
    classes_ : tuple of str, optional
        Names of the classes, if there are any.
    training_ : Training
        Number of trials of each class, a fingerprint of the data, and ``results``: the objective, also relative to the
        entropy of the prior, the norm of the gradient, the numbers of steps and passes, and a status in words.

    Warns
    -----
    DecibanWarning
        If the best scale is not positive, because the scores do not favour the true class. Then the scale is 0, with
        the best offsets for it. Also if the optimum was not reached.

    Notes
    -----
    One scale for all classes is the most general map with two properties: the evidence for one class against another
    depends only on the scores of these two classes, and it increases with their difference (thesis 8.4.1). Training is
    prior-weighted multi-class logistic regression. Separated classes have no optimum: they are refused, unless there is
    a penalty. Scores that are constant, up to a constant per trial, are also refused. For two classes, the map is
    equivalent to `AffineCalibrator` of the differences, if that has a positive scale.

    Examples
    --------
    >>> loglik = [[2, 0, -1], [1, 0.5, 0], [0.5, 1, 0], [0, 2, 0], [1, 0.5, 0.5], [0, 0, 1], [0, 0.4, 1.5], [0, 1, 0]]
    >>> calibrator = MulticlassCalibrator().fit(loglik, [0, 0, 0, 1, 1, 2, 2, 2])
    >>> round(calibrator.scale_, 3), calibrator.offset_.round(3)
    (1.604, array([-0.043, -0.362,  0.405]))
    >>> calibrator.transform([[1.0, 0.0, 0.0]]).round(3)
    array([[ 1.561, -0.362,  0.405]])
    """

    kind: ClassVar[str] = "multiclass-affine"
    effect = "calibrated"
    no_errors = ""
    _has_scale: ClassVar[bool] = True
    _has_offset: ClassVar[bool] = True
    parameter_schema: ClassVar[Mapping[str, object]] = {
        "classes": NAMES,
        "scale": {"type": "number", "minimum": 0},
        "offset": VECTOR,
    }

    def __init__(self, *, prior: Priors = None, ridge: float = 0.0) -> None:
        self._set_prior(prior)
        self.ridge = ridge
        self._ridge()

    def _fit(self, data: SourceClasses) -> Mapping[str, Plain]:
        ridge, scale, offset = self._ridge(), self._has_scale, self._has_offset
        if scale and (n_alike := data.counted.n_alike):
            raise InputError(_SAYS_NOTHING.format(n_alike))
        try:
            fit = train_counted(data.counted, ridge=ridge, scale=scale, offset=offset)
        except InputError:
            if scale and not _falls(data):  # separated in the wrong direction, or nothing to learn
                return self._without_scale(data, _FAVOURS_OTHERS)
            raise
        if fit.weights[0] <= 0.0:
            if fit.converged or not _falls(data):
                return self._without_scale(data, _FAVOURS_OTHERS)
            raise InputError(f"loglik: training found no scale above 0, although one exists: {fit.status}.")
        return self._take(fit, self._results_of(fit))

    def _linear_form(self) -> tuple[FloatArray, dict[str, bool]]:
        if self.scale_ == 0.0:
            raise InputError("the scale is 0, its lower limit.")
        return np.array([self.scale_]), {"scale": self._has_scale, "offset": self._has_offset}

    def _take(self, fit: ClassFit, results: Mapping[str, Plain]) -> Mapping[str, Plain]:
        self.scale_, self.offset_, self.objective_ = float(fit.weights[0]), fit.offsets, fit.objective
        return results

    def _without_scale(self, data: SourceClasses, reason: str) -> Mapping[str, Plain]:
        """Set the optimum for a scale at its limit 0: posteriors equal the prior, so no offset helps."""
        warn(f"{type(self).__name__}: the best non-negative scale is 0: {reason}.")
        possible = data.prior[data.prior > 0.0]
        entropy = float(-(possible @ np.log(possible)))
        at_limit = ClassFit(
            weights=np.zeros(1),
            offsets=np.zeros(data.n_classes),
            standardized=np.zeros(1),
            objective=entropy,
            objective_at_zero=entropy,
        )
        return self._take(at_limit, {**results_of(at_limit), "status": "the scale is at its limit, 0"})

    def _transform(self, loglik: ScoreArray) -> FloatArray:
        if self.scale_ == 0.0:
            return np.tile(self.offset_, (len(loglik), 1))  # also for infinite scores
        with np.errstate(over="ignore"):
            mapped: FloatArray = np.multiply(loglik, self.scale_, dtype=np.float64)
            mapped += self.offset_
        refuse_overflow(overflown(loglik, mapped))
        return mapped


class MulticlassScaleCalibrator(MulticlassCalibrator):
    """Calibrated log-likelihoods ``scale * loglik``: temperature scaling with temperature ``1 / scale``.

    Parameters
    ----------
    prior : (n_classes,) array_like, optional
        Prior of the objective; default: flat.
    ridge : float
        Penalty on the scale; see `MulticlassCalibrator`.

    Attributes
    ----------
    scale_, offset_, objective_, classes_, training_
        See `MulticlassCalibrator`; offsets are 0.

    Examples
    --------
    >>> loglik = [[2, 0, -1], [1, 0.5, 0], [0.5, 1, 0], [0, 2, 0], [1, 0.5, 0.5], [0, 0, 1], [0, 0.4, 1.5], [0, 1, 0]]
    >>> calibrator = MulticlassScaleCalibrator().fit(loglik, [0, 0, 0, 1, 1, 2, 2, 2])
    >>> calibrator.transform([[1.0, 0.0, 0.0]]).round(3)
    array([[1.475, 0.   , 0.   ]])
    """

    kind: ClassVar[str] = "multiclass-scale"
    _has_offset: ClassVar[bool] = False
    parameter_schema: ClassVar[Mapping[str, object]] = {
        **MulticlassCalibrator.parameter_schema,
        "offset": {**VECTOR, "items": {"const": 0}},
    }


class MulticlassShiftCalibrator(MulticlassCalibrator):
    """Calibrated log-likelihoods ``loglik + offset``, for scores that are correct up to a constant per class.

    Parameters
    ----------
    prior : (n_classes,) array_like, optional
        Prior of the objective; default: flat.

    Attributes
    ----------
    scale_, offset_, objective_, classes_, training_
        See `MulticlassCalibrator`; ``scale_`` is 1.

    Examples
    --------
    >>> loglik = [[2, 0, -1], [1, 0.5, 0], [0.5, 1, 0], [0, 2, 0], [1, 0.5, 0.5], [0, 0, 1], [0, 0.4, 1.5], [0, 1, 0]]
    >>> calibrator = MulticlassShiftCalibrator().fit(loglik, [0, 0, 0, 1, 1, 2, 2, 2])
    >>> calibrator.transform([[1.0, 0.0, 0.0]]).round(3)
    array([[ 0.96 , -0.214,  0.254]])
    """

    kind: ClassVar[str] = "multiclass-shift"
    _has_scale: ClassVar[bool] = False
    parameter_schema: ClassVar[Mapping[str, object]] = {**MulticlassCalibrator.parameter_schema, "scale": {"const": 1}}

    def __init__(self, *, prior: Priors = None) -> None:
        super().__init__(prior=prior)


def _falls(data: SourceClasses) -> bool:
    """Return True if the objective falls with the scale at 0; it is convex, so otherwise scale 0 is best."""
    sums, prior = data.look(partial(_slopes, data.prior)).total, data.prior
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = float(np.where(prior > 0.0, prior / data.amounts * sums, 0.0).sum())
    return not slope >= 0.0  # infinite scores of the true class: the slope is -inf


def _slopes(prior: FloatArray, trials: Batch) -> Sums:
    """Return sums of slopes of the cost in the scale, at scale 0, of the trials of each class."""
    total, labels = np.zeros(len(prior)), trials.labels
    with np.errstate(invalid="ignore"):
        for rows in row_blocks(len(labels), len(prior)):
            block, label = relative(trials.scores[0], rows), labels[rows]
            slopes = prior @ block - block[label, np.arange(len(label))]
            own = slopes if trials.weight is None else slopes * trials.weight[rows]
            total += np.bincount(label, own, minlength=len(prior))
    return Sums.of(total)


_MOST_CLASSES = 30


class _Transformation(ClassMap):
    """Base of transformations: normalization of trials, and optional shrinkage toward a calibration."""

    toward_calibration: float
    ridge: float

    def __init__(self, *, prior: Priors = None, ridge: float = 0.0, toward_calibration: float = 0.0) -> None:
        self._set_prior(prior)
        self.ridge, self.toward_calibration = ridge, toward_calibration
        self._penalties()

    def _penalties(self) -> tuple[float, float]:
        """Return both penalties, checked; they are attributes, which may have changed."""
        words = "A penalty is finite and at least 0"
        return self._ridge(), _validate.in_range(self.toward_calibration, "toward_calibration", 0.0, 1e300, words)

    def _transformed(self, data: SourceClasses, *, is_diagonal: bool) -> TransformFit:
        ridge, toward = self._penalties()
        if not data.prior.all():
            raise InputError(
                f"prior: class {int(np.argmin(data.prior))} has prior 0, but this transformation needs positive priors "
                "of all classes. Leave its column out, or give it a prior above 0."
            )
        return train_transform(data.counted, ridge=ridge, toward_calibration=toward, is_diagonal=is_diagonal)


class ClassScaleTransformation(_Transformation):
    """Log-likelihoods ``scale_i * loglik_i + offset_i`` with a scale for each class (thesis 8.4.1).

    Parameters
    ----------
    prior : (n_classes,) array_like, optional
        Prior of the objective, all above 0; default: flat. The proportions of the data do not matter.
    ridge : float
        Penalty ``ridge / 2 * mean(scales**2)``, with the scales for standardized scores (see `MulticlassCalibrator`),
        added to the objective.
    toward_calibration : float
        The same for the differences of the scales from their mean: large values lead to `MulticlassCalibrator`. On its
        own, it keeps the scales finite if no calibration separates the classes.

    Attributes
    ----------
    scale_ : (n_classes,) array
        In nats per unit of score; may be negative.
    offset_ : (n_classes,) array
        In nats; their mean is 0.
    objective_ : float
        Cross-entropy at the prior at the optimum, in nats, without the penalties.
    classes_, training_
        See `MulticlassCalibrator`.

    Notes
    -----
    This is not a calibration: its result for two classes depends on the scores of all others. A constant added to the
    log-likelihoods of a trial would change the result. So each trial is normalized first: the logarithm of the mean
    likelihood of its classes is subtracted. For two classes, this is `BetaCalibrator` of the posteriors at the flat
    prior, if both scales are positive. Infinite log-likelihoods remain certain: an excluded class stays excluded, which
    requires a positive scale. Otherwise `fit` and `transform` refuse the trial.

    Examples
    --------
    >>> loglik = [[2, 0, -1], [1, 0.5, 0], [0.5, 1, 0], [0, 2, 0], [1, 0.5, 0.5], [0, 0, 1], [0, 0.4, 1.5], [0, 1, 0]]
    >>> transformation = ClassScaleTransformation(ridge=0.1).fit(loglik, [0, 0, 0, 1, 1, 2, 2, 2])
    >>> transformation.scale_.round(2)
    array([1.4 , 0.21, 1.61])
    >>> transformation.transform([[1.0, 0.0, 0.0], [101.0, 100.0, 100.0]]).round(2)
    array([[ 0.67, -0.31, -0.41],
           [ 0.67, -0.31, -0.41]])
    """

    kind: ClassVar[str] = "class-scale"
    parameter_schema: ClassVar[Mapping[str, object]] = {"classes": NAMES, "scale": VECTOR, "offset": VECTOR}

    def _fit(self, data: SourceClasses) -> Mapping[str, Plain]:
        fit = self._transformed(data, is_diagonal=True)
        scale = np.diag(fit.matrix).copy()
        if np.any(scale <= 0.0):
            data.look(partial(_checked, partial(_require_positive, scale=scale, classes=data.classes)))
        results = self._results_of(fit)
        self.scale_, self.offset_, self.objective_ = scale, fit.offsets, fit.objective
        return results

    def _transform(self, loglik: ScoreArray) -> FloatArray:
        _require_positive(loglik, scale=self.scale_, classes=self.classes_)
        mapped, far = np.empty(loglik.shape), np.zeros(len(loglik), np.bool_)
        for rows in row_blocks(*loglik.shape):
            block = normalized(loglik, rows).T
            with np.errstate(over="ignore"):
                mapped[rows] = block * self.scale_ + self.offset_
            far[rows] = overflown(block, mapped[rows])
        refuse_overflow(far)
        return mapped

    def set_parameters(self, parameters: Mapping[str, Json]) -> None:
        """Set names, scales and offsets from a file."""
        if len(parameters["scale"]) != len(parameters["offset"]):
            raise InputError("scale and offset have different lengths.")
        super().set_parameters(parameters)


class MatrixTransformation(_Transformation):
    """Log-likelihoods ``matrix @ loglik + offset`` of normalized log-likelihoods (thesis 8.19).

    Parameters
    ----------
    prior : (n_classes,) array_like, optional
        Prior of the objective, all above 0; default: flat. The proportions of the data do not matter.
    ridge : float
        Penalty on the whole matrix, on standardized scores: for ``scale`` times the identity it is the penalty of
        `MulticlassCalibrator`. A matrix has many parameters, and without a penalty it overfits a small number of
        trials.
    toward_calibration : float
        Penalty on the difference between the matrix and the closest multiple of the identity: large values lead to
        `MulticlassCalibrator`. On its own, it keeps the matrix finite if no calibration separates the classes.

    Attributes
    ----------
    matrix_ : (n_classes, n_classes) array
        Adding the same row to all rows changes no posterior. This matrix is the one that is a multiple of the identity
        for a calibration.
    offset_ : (n_classes,) array
        In nats; their mean is 0.
    objective_ : float
        Cross-entropy at the prior at the optimum, in nats, without the penalties.
    classes_, training_
        See `MulticlassCalibrator`.

    Notes
    -----
    This is not a calibration, but a fusion of the scores of all classes (thesis 8.4.1): the decision between two
    classes depends on the scores of a third, and discrimination may improve. A constant added to the log-likelihoods of
    a trial would change the result. So each trial is normalized first: the logarithm of the mean likelihood of its
    classes is subtracted. The result is the Dirichlet calibration of Kull and others (2019). Infinite log-likelihoods
    are refused, because a sum over classes is not defined for them. More than 30 classes are also refused, because the
    search uses exact second derivatives.

    References
    ----------
    M. Kull et al., "Beyond temperature scaling: Obtaining well-calibrated multiclass probabilities with Dirichlet
    calibration", NeurIPS 2019.

    Examples
    --------
    >>> loglik = [[2, 0, -1], [1, 0.5, 0], [0.5, 1, 0], [0, 2, 0], [1, 0.5, 0.5], [0, 0, 1], [0, 0.4, 1.5], [0, 1, 0]]
    >>> transformation = MatrixTransformation(ridge=0.1).fit(loglik, [0, 0, 0, 1, 1, 2, 2, 2])
    >>> transformation.matrix_.round(2)
    array([[ 1.29,  0.27, -0.38],
           [ 0.16,  0.62,  0.05],
           [-0.33,  0.24,  1.46]])
    >>> transformation.transform([[1.0, 0.0, 0.0], [101.0, 100.0, 100.0]]).round(2)
    array([[ 0.54, -0.24, -0.7 ],
           [ 0.54, -0.24, -0.7 ]])
    """

    kind: ClassVar[str] = "class-matrix"
    parameter_schema: ClassVar[Mapping[str, object]] = {"classes": NAMES, "matrix": MATRIX, "offset": VECTOR}

    def _fit(self, data: SourceClasses) -> Mapping[str, Plain]:
        if data.n_classes > _MOST_CLASSES:
            raise InputError(
                f"loglik: {data.n_classes} classes; a full matrix is trained for at most {_MOST_CLASSES}. Use "
                "ClassScaleTransformation or MulticlassCalibrator, or train on groups of classes."
            )
        if data.counted.may_be_infinite:
            data.look(partial(_checked, _require_finite))
        fit = self._transformed(data, is_diagonal=False)
        results = self._results_of(fit)
        self.matrix_, self.offset_, self.objective_ = fit.matrix, fit.offsets, fit.objective
        return results

    def _transform(self, loglik: ScoreArray) -> FloatArray:
        _require_finite(loglik)
        mapped = np.empty(loglik.shape)
        for rows in row_blocks(*loglik.shape):
            with np.errstate(over="ignore", invalid="ignore"):
                mapped[rows] = (self.matrix_ @ normalized(loglik, rows) + self.offset_[:, None]).T
        refuse_overflow(overflown(loglik, mapped))
        return mapped

    def set_parameters(self, parameters: Mapping[str, Json]) -> None:
        """Set names, matrix and offsets from a file."""
        require_square(parameters["matrix"], len(parameters["offset"]), "matrix")
        super().set_parameters(parameters)


def _checked(check: Callable[[ScoreArray, CountArray | None], None], trials: Batch) -> None:
    """Check some trials."""
    check(trials.scores[0], trials.weight)


def _require_positive(
    loglik: ScoreArray, weight: CountArray | None = None, *, scale: FloatArray, classes: _validate_classes.Names
) -> None:
    """Refuse scales that invert or remove the effect of infinite scores in trials that count.

    Raises
    ------
    TrialError
        If an infinite log-likelihood excludes a class whose scale is not positive.
    """
    wrong = np.flatnonzero(scale <= 0.0)
    if not len(wrong):
        return
    blocks = [np.isneginf(normalized(loglik, rows)[wrong]) for rows in row_blocks(*loglik.shape)]
    excluded = np.concatenate(blocks, axis=1)
    if weight is not None:
        excluded &= weight > 0
    trials = np.flatnonzero(excluded.any(axis=0))
    if len(trials):
        k = int(wrong[np.argmax(excluded[:, trials[0]])])
        raise TrialError(
            f"loglik: the scale of {_validate_classes.called(k, classes)} is {scale[k]:.3g}, but infinite "
            f"log-likelihoods exclude a class of such a scale in {len(trials)} of {len(loglik)} trials, the first ",
            int(trials[0]),
            ": they would become certainty of the opposite. Make infinite scores finite.",
        )


def _require_finite(loglik: ScoreArray, weight: CountArray | None = None) -> None:
    """Refuse infinite log-likelihoods of trials that count.

    Raises
    ------
    InputError
        If there are any.
    """
    if _validate.all_finite(loglik):
        return
    infinite = np.isinf(loglik).any(axis=1)
    words = f"loglik: {{n}} of {len(loglik)} trials have infinite log-likelihoods, the first "
    way = (
        ". A matrix needs finite log-likelihoods: clip them, or use MulticlassCalibrator or "
        "ClassScaleTransformation, which accept them."
    )
    _validate.refuse_trials(np.asarray(infinite if weight is None else infinite & (weight > 0)), words, way)


def _schema_of(calibrator: type[Calibrator]) -> dict[str, Json]:
    """Return the schema of parameters in a file: names of classes, and the parameters of each detector."""
    own = calibrator.parameter_schema
    detector = {"type": "object", "properties": own, "required": list(own), "additionalProperties": False}
    return {"classes": NAMES, "detectors": {"type": "array", "items": detector, "minItems": 2}}


class _Detectors(ClassMap):
    """Separate calibration of the detection log-likelihood ratio of each class.

    Attributes
    ----------
    detectors_ : list of Calibrator
    """

    detectors_: list[Calibrator]

    @abstractmethod
    def _detector(self, p_target: float) -> Calibrator:
        """Return an untrained calibrator of one class, with its prior."""

    @abstractmethod
    def _said(self) -> str:
        """Return the result of training, in words."""

    def _fit(self, data: SourceClasses) -> Mapping[str, Plain]:
        detectors = [self._detector(float(p)) for p in data.prior]
        for k, one in enumerate(detectors):
            one.warning_name = f"{type(self).__name__}, {_validate_classes.called(k, data.classes)}"
        self.objective_ = _train(data, detectors)
        self.detectors_ = detectors
        return outcome(self.objective_, float(-(data.prior @ np.log(data.prior))), self._said())

    def detection_llr(self, loglik: ArrayLike) -> FloatArray:
        """Return the calibrated log-likelihood ratio of each class against all others.

        Parameters
        ----------
        loglik : (n_trials, n_classes) array_like
            Classes in the order of training; may be infinite.

        Returns
        -------
        (n_trials, n_classes) array
            In nats.

        Raises
        ------
        InputError
            If the map was not trained, a log-likelihood is NaN, or the number of classes differs.
        """
        self.require_fitted()
        checked = self._checked_scores(loglik)
        self._require_same(checked)
        return _mapped(multiclass.detection_llrs(checked, prior=self.prior), self.detectors_)

    def _transform(self, loglik: ScoreArray) -> FloatArray:
        llr = _mapped(multiclass.detection_llrs(loglik, prior=self.prior), self.detectors_)
        return _joined(llr, _validate_classes.prior(self.prior, self.n_classes_))

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return len(self.detectors_)

    @property
    def detector_maps(self) -> dict[str, Calibrator]:
        """Calibrators of each class against the rest, by class name."""
        return dict(zip(self.counted, self.detectors_, strict=True))

    def parameters(self) -> dict[str, Json]:
        """Return names of the classes, and the parameters of each detector."""
        return {**super().parameters(), "detectors": [detector.parameters() for detector in self.detectors_]}

    def set_parameters(self, parameters: Mapping[str, Json]) -> None:
        """Set names and parameters from a file."""
        detectors = [self._detector(0.5) for _ in parameters["detectors"]]  # already trained: the prior is not needed
        for detector, values in zip(detectors, parameters["detectors"], strict=True):
            detector.set_parameters(values)
        self.detectors_ = detectors
        self._set_names(parameters)


class DetectionPavTransformation(_Detectors):
    """The optimal monotone map of the detection log-likelihood ratio of each class, separately.

    For each class, the log-likelihood ratio against all others (van Leeuwen and Bruemmer 2006, eq. 9) is calibrated by
    `PavCalibrator`. The output for a class is the logarithm of its posterior minus the logarithm of its prior.

    Parameters
    ----------
    prior : (n_classes,) array_like, optional
        Weights of the other classes in "all others", and the prior of the posteriors; all above 0, default: flat.
    interpolation, smoothing, bound
        See `PavCalibrator`. The default of ``smoothing`` is 1, because a trial that all detectors reject with certainty
        would have no class left.

    Attributes
    ----------
    detectors_ : list of PavCalibrator
        One for each class.
    objective_ : float
        Cross-entropy at the prior of the training trials, in nats.
    classes_, training_
        See `MulticlassCalibrator`.

    Warns
    -----
    DecibanWarning
        Warnings of `PavCalibrator`, with the name of the class.

    Notes
    -----
    This method is common in language recognition, but it is not a multiclass calibration (thesis 8.3.3, 8.5). The
    posteriors of the detectors do not sum to 1 and are normalized; each detector is optimal only for its own decision.
    A threshold on a detection log-likelihood ratio depends on discrimination and on the calibration of the input
    log-likelihoods. So PAV cannot separate the two, as it does with two classes. On the language evaluation of 2007,
    one `MulticlassCalibrator` was better than separately calibrated detectors in all four systems of the thesis. For
    two classes, this is `PavCalibrator` of the differences if there is no smoothing.

    Examples
    --------
    >>> loglik = [[2, 0, -1], [1, 0.5, 0], [0.5, 1, 0], [0, 2, 0], [1, 0.5, 0.5], [0, 0, 1], [0, 0.4, 1.5], [0, 1, 0]]
    >>> transformation = DetectionPavTransformation().fit(loglik, [0, 0, 0, 1, 1, 2, 2, 2])
    >>> transformation.detection_llr([[1.0, 0.0, 0.0]]).round(2)
    array([[ 1.1 , -0.25,  0.18]])
    >>> transformation.transform([[1.0, 0.0, 0.0]]).round(2)
    array([[ 0.59, -0.17,  0.12]])
    """

    kind: ClassVar[str] = "detection-pav"
    parameter_schema: ClassVar[Mapping[str, object]] = _schema_of(PavCalibrator)
    detectors_: list[PavCalibrator]  # type: ignore[assignment]  # of one kind

    def __init__(
        self,
        *,
        prior: Priors = None,
        interpolation: Literal["linear", "step"] = "linear",
        smoothing: float = 1.0,
        bound: float | None = None,
    ) -> None:
        self._set_prior(prior)
        self.interpolation, self.smoothing, self.bound = interpolation, smoothing, bound
        self._detector(0.5)

    def _detector(self, p_target: float) -> PavCalibrator:  # noqa: ARG002  # the optimal map does not depend on the prior
        return PavCalibrator(interpolation=self.interpolation, smoothing=self.smoothing, bound=self.bound)

    def _said(self) -> str:
        return f"{sum(len(one.llr_) for one in self.detectors_)} blocks of {self.n_classes_} detectors"


class DetectionAffineTransformation(_Detectors):
    """Logistic regression of the detection log-likelihood ratio of each class, separately (thesis 8.3.3, figure 8.4).

    For each class, the log-likelihood ratio against all others (van Leeuwen and Bruemmer 2006, eq. 9) is calibrated by
    `AffineCalibrator` at the prior of that class. The output for a class is the logarithm of its posterior minus the
    logarithm of its prior.

    Parameters
    ----------
    prior : (n_classes,) array_like, optional
        Weights of the other classes in "all others", and the prior of each detector; all above 0, default: flat.
    ridge : float
        Penalty on the scale of each detector, for standardized scores. Without a penalty, a class that is separated
        from the others is an error.

    Attributes
    ----------
    detectors_ : list of AffineCalibrator
        One for each class.
    objective_ : float
        Cross-entropy at the prior of the training trials, in nats.
    classes_, training_
        See `MulticlassCalibrator`.

    Warns
    -----
    DecibanWarning
        Warnings of `AffineCalibrator`, with the name of the class.

    Notes
    -----
    One-versus-rest calibration, a common alternative to `MulticlassCalibrator`, which has one scale and calibrates all
    classes together. Each detector is optimal for its own decision, and the posteriors are normalized to sum 1; see
    `DetectionPavTransformation`. For two classes, this is `AffineCalibrator` of the differences.

    Examples
    --------
    >>> loglik = [[2, 0, -1], [1, 0.5, 0], [0.5, 1, 0], [0, 2, 0], [1, 0.5, 0.5], [0, 0, 1], [0, 0.4, 1.5], [0, 1, 0]]
    >>> transformation = DetectionAffineTransformation(ridge=0.01).fit(loglik, [0, 0, 0, 1, 1, 2, 2, 2])
    >>> transformation.detection_llr([[1.0, 0.0, 0.0]]).round(2)
    array([[ 1.62, -0.89, -0.59]])
    """

    kind: ClassVar[str] = "detection-affine"
    parameter_schema: ClassVar[Mapping[str, object]] = _schema_of(AffineCalibrator)
    detectors_: list[AffineCalibrator]  # type: ignore[assignment]  # of one kind

    def __init__(self, *, prior: Priors = None, ridge: float = 0.0) -> None:
        self._set_prior(prior)
        self.ridge = ridge
        self._detector(0.5)

    def _detector(self, p_target: float) -> AffineCalibrator:
        return AffineCalibrator(p_target=p_target, ridge=self.ridge)

    def parameter_numbers(self, classes: Sequence[str] = ()) -> list[tuple[str, str, float]]:
        """Return scale and offset of each detector, by class; see `ClassModel.parameter_numbers`."""
        named = list(zip(self.classes_ or tuple(classes), self.detectors_, strict=False))  # empty without names
        scales = [("scale", name, float(one.scale_)) for name, one in named]
        return [*scales, *(("offset", name, float(one.offset_)) for name, one in named)]

    def _said(self) -> str:
        scales = [one.scale_ for one in self.detectors_]
        return f"scales from {min(scales):.3g} to {max(scales):.3g} of {self.n_classes_} detectors"


def _train(data: SourceClasses, detectors: Sequence[Calibrator]) -> float:
    """Train each detector, by passes over the segments if they are many, and return the objective."""
    from deciban.multiclass.tables import mixed  # only needed here

    prior, amounts = data.prior, data.look(partial(_amounts, data.n_classes)).total
    llrs = data.source.map(partial(_detection_llrs, prior), has_units=False, are_units=False)  # computed once in memory
    of_one = partial(llrs.map, classes=(), has_weights=True, is_double=True)
    for k, (detector, share) in enumerate(zip(detectors, _shares(amounts, prior), strict=True)):
        own = of_one(partial(_of_detector, k, share), systems=llrs.classes[k : k + 1])
        detector.fit_source(own, data.engine, data.memory or 0)
    del llrs, of_one, own  # frees most of the memory
    costs: ClassCosts = data.look(partial(_costs, prior, tuple(detectors)))
    return mixed(costs.of_class, prior)


def _amounts(n_classes: int, batch: Batch) -> Sums:
    """Return the number (or weight) of trials of each class."""
    return Sums.of(np.bincount(batch.labels, batch.float_weight, n_classes))


def _detection_llrs(prior: FloatArray, partition: SourcePartition, fields: TrialFields) -> Batch:
    """Read segments with detection llrs in place of log-likelihoods."""
    batch = partition.read(fields)
    llrs = (multiclass.detection_llrs(one, prior=prior) if len(one) else one for one in batch.scores)
    return replace(batch, scores=tuple(llrs))


def _of_detector(target: int, share: FloatArray, partition: SourcePartition, fields: TrialFields) -> Batch:
    """Read segments as trials of one detector.

    Parameters
    ----------
    target : int
        Class of the detector.
    share : (n_classes,) array
        Factor of the weight of a segment of each class.
    partition : SourcePartition
    fields : TrialFields
    """
    batch = partition.read(replace(fields, systems=(0,) if fields.systems else (), truth=True, weight=True))
    scores = tuple(one[:, target] for one in batch.scores) * len(fields.systems)
    own = share[batch.labels]
    weight = own if batch.weight is None else own * batch.weight
    return replace(batch, scores=scores, truth=batch.labels == target, weight=weight, units=None)


def _costs(prior: FloatArray, detectors: Sequence[Calibrator], batch: Batch) -> ClassCosts:
    """Return sums of logarithmic costs of the calibrated log-likelihoods."""
    from deciban.multiclass.tables import ScoredClasses, surprises

    mapped = _joined(_mapped(multiclass.detection_llrs(batch.scores[0], prior=prior), detectors), prior)
    return ClassCosts(surprises(ScoredClasses(mapped, batch.labels, batch.weight, None), prior))


def _shares(amounts: FloatArray, prior: FloatArray) -> Iterator[FloatArray]:
    """Yield factors of weights for each detector: other classes share by the prior, with an equal total weight."""
    rest = _rest(prior)
    for k in range(len(prior)):
        share: FloatArray = prior / rest[k] / amounts * (amounts.sum() - amounts[k])
        share[k] = 1.0
        yield share


def _rest(prior: FloatArray) -> FloatArray:
    """Return the prior of all other classes, for each class; as a sum, which keeps small numbers."""
    return np.array([math.fsum(np.delete(prior, k)) for k in range(len(prior))])


def _mapped(llr: FloatArray, detectors: Sequence[Calibrator]) -> FloatArray:
    """Replace detection log-likelihood ratios by calibrated ones."""
    for k, detector in enumerate(detectors):
        llr[:, k] = detector.transform(llr[:, k])
    return llr


def _joined(llr: FloatArray, prior: FloatArray) -> FloatArray:
    """Replace calibrated detection log-likelihood ratios by log-likelihoods.

    Raises
    ------
    TrialError
        If all detectors reject a trial with certainty.
    """
    log_prior, log_rest = np.log(prior), np.log(_rest(prior))
    lost = np.zeros(len(llr), np.bool_)
    for rows in row_blocks(*llr.shape):
        log_posterior = -np.logaddexp(0.0, log_rest - log_prior - llr[rows])
        lost[rows] = np.isneginf(log_posterior).all(axis=1)
        llr[rows] = log_posterior - log_prior
    words = "loglik: all detectors reject {n} trials with certainty, the first "
    _validate.refuse_trials(lost, words, f", so that no class is left. Train with {option(smoothing=1)} or a bound.")
    return llr
