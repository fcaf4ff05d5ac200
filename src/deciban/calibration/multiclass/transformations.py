"""Transformations of log-likelihoods of many classes that are more than a calibration: a scale per class, a matrix."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban._validate import classes as _validate_classes
from deciban.core.classes.loglik import row_blocks
from deciban.core.classes.transforms import TransformFit, normalized
from deciban.core.training.moments import overflown, refuse_overflow
from deciban.errors import InputError, TrialError
from deciban.models.labelled import LabelledClasses
from deciban.models.model import Plain
from deciban.models.multiclass import MATRIX, NAMES, VECTOR, ClassMap, require_square
from deciban.trials.sources import Chunk
from deciban.types import CountArray, FloatArray, ScoreArray

_MOST_CLASSES = 30


class _Transformation(ClassMap):
    """What both have in common: they normalize first, and may be pulled toward a calibration."""

    toward_calibration: float
    ridge: float

    def __init__(self, *, prior: ArrayLike | None = None, ridge: float = 0.0, toward_calibration: float = 0.0) -> None:
        self._set_prior(prior)
        self.ridge = ridge
        self.toward_calibration = toward_calibration
        self._penalties()

    def _penalties(self) -> tuple[float, float]:
        """Both penalties, checked; they are attributes and may have been changed."""
        words = "A penalty is finite and at least 0"
        return self._ridge(), _validate.in_range(self.toward_calibration, "toward_calibration", 0.0, 1e300, words)

    fits_pieces = True

    def _trained(self, data: Any, *, is_diagonal: bool) -> TransformFit:
        ridge, toward_calibration = self._penalties()
        how: dict[str, Any] = {"ridge": ridge, "toward_calibration": toward_calibration, "is_diagonal": is_diagonal}
        if not data.prior.all():
            raise InputError(
                f"prior: class {int(np.argmin(data.prior))} has prior 0, but a transformation of each class needs them "
                "all. Leave its column out, or give it a prior above 0."
            )
        found: TransformFit = data.train_transform(**how)
        return found


class ClassScaleTransformation(_Transformation):
    """Log-likelihoods ``scale_i * loglik_i + offset_i`` of normalized ones: a scale for each class (thesis 8.4.1).

    Parameters
    ----------
    prior : (n_classes,) array_like, optional
        Prior of the objective, all above 0; flat if not given. Proportions of the data never matter.
    ridge : float
        Half of it times the mean square of the scales on standardized scores (divided by their width, see
        `MulticlassCalibrator`) is added to the objective.
    toward_calibration : float
        The same for the differences of the scales from their mean: large values lead to `MulticlassCalibrator`. Alone,
        it keeps the scales finite where no calibration separates the classes.

    Attributes
    ----------
    scale_ : (n_classes,) array
        Of any sign, in nats per unit of score.
    offset_ : (n_classes,) array
        In nats; their mean is 0.
    objective_ : float
        Cross-entropy at the prior at the optimum, in nats, without the penalties.
    classes_, training_
        As of `MulticlassCalibrator`.

    Notes
    -----
    This is no calibration: what it makes of two classes depends on the scores of all others. A constant added to the
    log-likelihoods of a trial would not drop out either, so each trial is normalized first: the logarithm of the mean
    likelihood of its classes is subtracted. Of two classes, this is `BetaCalibrator` of the posteriors at the flat
    prior, as long as both scales are positive. Infinite log-likelihoods stay certainty: a class that is excluded
    remains so, for which its scale must be positive. Otherwise `fit` and `transform` refuse the trial.

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
    parameter_schema: ClassVar[dict[str, Any]] = {"classes": NAMES, "scale": VECTOR, "offset": VECTOR}

    def _fit(self, data: Any) -> Mapping[str, Plain]:
        fit = self._trained(data, is_diagonal=True)
        scale = np.diag(fit.matrix).copy()
        if np.any(scale <= 0.0):
            data.look(partial(_checked, data.prior, partial(_require_positive, scale=scale, classes=data.classes)))
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

    def set_parameters(self, parameters: Mapping[str, Any]) -> None:
        """Take names, scales and offsets from a file."""
        if len(parameters["scale"]) != len(parameters["offset"]):
            raise InputError("scale and offset are not equally many.")
        super().set_parameters(parameters)


class MatrixTransformation(_Transformation):
    """Log-likelihoods ``matrix @ loglik + offset`` of normalized ones (thesis 8.19).

    Parameters
    ----------
    prior : (n_classes,) array_like, optional
        Prior of the objective, all above 0; flat if not given. Proportions of the data never matter.
    ridge : float
        Penalty on the whole matrix, on standardized scores: of ``scale`` times the identity it is that of
        `MulticlassCalibrator`. A matrix has many parameters, and without a penalty it learns the errors of few trials
        by heart.
    toward_calibration : float
        Penalty on what the matrix differs by from the closest multiple of the identity: large values lead to
        `MulticlassCalibrator`. Alone, it keeps the matrix finite where no calibration separates the classes.

    Attributes
    ----------
    matrix_ : (n_classes, n_classes) array
        A row that is added to all rows changes no posterior: it is the one of all these matrices that makes a
        calibration a multiple of the identity.
    offset_ : (n_classes,) array
        In nats; their mean is 0.
    objective_ : float
        Cross-entropy at the prior at the optimum, in nats, without the penalties.
    classes_, training_
        As of `MulticlassCalibrator`.

    Notes
    -----
    This is no calibration, but a fusion of the scores of all classes (thesis 8.4.1): it decides between two of them by
    the scores of a third, and may improve discrimination. A constant added to the log-likelihoods of a trial would not
    drop out either, so each trial is normalized first: the logarithm of the mean likelihood of its classes is
    subtracted. With that, it is the Dirichlet calibration of Kull and others (2019). Infinite log-likelihoods are
    refused: a sum over classes does not know what to make of them. So are more than 30 classes, whose matrix would have
    more parameters than this search, by exact second derivatives, can handle.

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
    parameter_schema: ClassVar[dict[str, Any]] = {"classes": NAMES, "matrix": MATRIX, "offset": VECTOR}

    def _fit(self, data: Any) -> Mapping[str, Plain]:
        if data.n_classes > _MOST_CLASSES:
            raise InputError(
                f"loglik: {data.n_classes} classes; a full matrix is trained for at most {_MOST_CLASSES}. Use "
                "ClassScaleTransformation or MulticlassCalibrator, or train on groups of classes."
            )
        if data.may_be_infinite:
            data.look(partial(_checked, data.prior, _require_finite))
        fit = self._trained(data, is_diagonal=False)
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

    def set_parameters(self, parameters: Mapping[str, Any]) -> None:
        """Take names, matrix and offsets from a file."""
        require_square(parameters["matrix"], len(parameters["offset"]), "matrix")
        super().set_parameters(parameters)


def _checked(
    prior: FloatArray, check: Callable[[ScoreArray, CountArray | None], None], trials: LabelledClasses | Chunk
) -> None:
    """Refuse some trials, and find nothing."""
    data = LabelledClasses.of_look(trials, prior)
    check(data.scores, data.weight)


def _require_positive(
    loglik: ScoreArray, weight: CountArray | None = None, *, scale: FloatArray, classes: _validate_classes.Names
) -> None:
    """Refuse scales that turn certainty into its contrary, or into nothing, in trials that count.

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
            ": they would be taken for certainty of the contrary. Make infinite ones finite.",
        )


def _require_finite(loglik: ScoreArray, weight: CountArray | None = None) -> None:
    """Refuse infinite log-likelihoods of trials that count.

    Raises
    ------
    InputError
        If there are such.
    """
    if _validate.all_finite(loglik):
        return
    infinite = np.isinf(loglik).any(axis=1)
    found = np.flatnonzero(infinite if weight is None else infinite & (weight > 0))
    if len(found):
        raise TrialError(
            f"loglik: {len(found)} of {len(loglik)} trials have infinite log-likelihoods, the first ",
            int(found[0]),
            ". A matrix needs finite ones: bound them, or use MulticlassCalibrator or "
            "ClassScaleTransformation, which take them.",
        )
