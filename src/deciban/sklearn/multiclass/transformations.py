"""Transformations of log-likelihoods of many classes that are no calibrations, as scikit-learn estimators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from numpy.typing import ArrayLike

from deciban import calibration
from deciban.sklearn.multiclass.estimator import ClassEstimator


@dataclass(kw_only=True, eq=False, repr=False)
class ClassScaleTransformation(ClassEstimator):
    """Normalized log-likelihoods by a scale for each class; see `deciban.calibration.ClassScaleTransformation`.

    Parameters
    ----------
    prior : (n_classes,) array_like, optional
        Prior of the training objective, all above 0, in the ascending order of labels; flat if not given.
    ridge : float
        Penalty on the scales, for standardized scores.
    toward_calibration : float
        Penalty on what differs from `MulticlassCalibrator`.
    decision_prior : (n_classes,) array_like, optional
        Prior of `predict_proba` and `predict`; ``prior`` if not given.

    Attributes
    ----------
    model_ : deciban.calibration.ClassScaleTransformation
        With ``scale_`` and ``offset_``.
    classes_, n_features_in_, feature_names_in_
        As in `ClassEstimator`.

    Notes
    -----
    ``X`` is that of `MulticlassCalibrator`. What comes out for two classes depends on the scores of all others.

    Examples
    --------
    >>> X = [[2, 0, -1], [1, 0.5, 0], [0.5, 1, 0], [0, 2, 0], [1, 0.5, 0.5], [0, 0, 1], [0, 0.4, 1.5], [0, 1, 0]]
    >>> transformation = ClassScaleTransformation(ridge=0.1).fit(X, ["de", "de", "de", "en", "en", "fr", "fr", "fr"])
    >>> transformation.model_.scale_.round(2)
    array([1.4 , 0.21, 1.61])
    """

    model_class = calibration.ClassScaleTransformation

    prior: ArrayLike | None = None
    ridge: float = 0.0
    toward_calibration: float = 0.0


@dataclass(kw_only=True, eq=False, repr=False)
class MatrixTransformation(ClassEstimator):
    """Normalized log-likelihoods by a full matrix; see `deciban.calibration.MatrixTransformation`.

    Parameters
    ----------
    prior : (n_classes,) array_like, optional
        Prior of the training objective, all above 0, in the ascending order of labels; flat if not given.
    ridge : float
        Penalty on the matrix, for standardized scores.
    toward_calibration : float
        Penalty on what differs from `MulticlassCalibrator`.
    decision_prior : (n_classes,) array_like, optional
        Prior of `predict_proba` and `predict`; ``prior`` if not given.

    Attributes
    ----------
    model_ : deciban.calibration.MatrixTransformation
        With ``matrix_`` and ``offset_``.
    classes_, n_features_in_, feature_names_in_
        As in `ClassEstimator`.

    Notes
    -----
    ``X`` is that of `MulticlassCalibrator`, but finite. What comes out for two classes depends on the scores of
    all others.

    Examples
    --------
    >>> X = [[2, 0, -1], [1, 0.5, 0], [0.5, 1, 0], [0, 2, 0], [1, 0.5, 0.5], [0, 0, 1], [0, 0.4, 1.5], [0, 1, 0]]
    >>> transformation = MatrixTransformation(ridge=0.1).fit(X, ["de", "de", "de", "en", "en", "fr", "fr", "fr"])
    >>> transformation.transform([[1.0, 0.0, 0.0]]).round(2)
    array([[ 0.54, -0.24, -0.7 ]])
    """

    model_class = calibration.MatrixTransformation
    takes_infinity = False

    prior: ArrayLike | None = None
    ridge: float = 0.0
    toward_calibration: float = 0.0


@dataclass(kw_only=True, eq=False, repr=False)
class DetectionPavTransformation(ClassEstimator):
    """PAV of each detection log-likelihood ratio; see `deciban.calibration.DetectionPavTransformation`.

    Parameters
    ----------
    prior : (n_classes,) array_like, optional
        How the other classes share in "all others", all above 0, in the ascending order of labels; flat if not given.
    interpolation, smoothing, bound
        As of `PavCalibrator`, but ``smoothing`` is 1 if not given.
    decision_prior : (n_classes,) array_like, optional
        Prior of `predict_proba` and `predict`; ``prior`` if not given.

    Attributes
    ----------
    model_ : deciban.calibration.DetectionPavTransformation
        With ``detectors_`` and ``detection_llr``.
    classes_, n_features_in_, feature_names_in_
        As in `ClassEstimator`.

    Notes
    -----
    ``X`` is that of `MulticlassCalibrator`. Each detector answers its own question; their posteriors are forced to sum
    to 1.

    Examples
    --------
    >>> X = [[2, 0, -1], [1, 0.5, 0], [0.5, 1, 0], [0, 2, 0], [1, 0.5, 0.5], [0, 0, 1], [0, 0.4, 1.5], [0, 1, 0]]
    >>> transformation = DetectionPavTransformation().fit(X, ["de", "de", "de", "en", "en", "fr", "fr", "fr"])
    >>> transformation.transform([[1.0, 0.0, 0.0]]).round(2)
    array([[ 0.59, -0.17,  0.12]])
    """

    model_class = calibration.DetectionPavTransformation

    prior: ArrayLike | None = None
    interpolation: Literal["linear", "step"] = "linear"
    smoothing: float = 1.0
    bound: float | None = None
