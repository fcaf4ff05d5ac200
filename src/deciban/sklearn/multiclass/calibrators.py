"""Calibration, fusion, transformations and the Gaussian back-end of many classes as scikit-learn estimators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from numpy.typing import ArrayLike

from deciban import calibration, fusion
from deciban.errors import InputError
from deciban.sklearn.multiclass.estimator import ClassEstimator
from deciban.types import AnyArray


@dataclass(kw_only=True, eq=False, repr=False)
class MulticlassCalibrator(ClassEstimator):
    """Log-likelihoods ``scale * loglik + offset``; see `deciban.calibration.MulticlassCalibrator`.

    Parameters
    ----------
    prior : (n_classes,) array_like, optional
        Prior of the training objective, in the ascending order of labels; flat if not given.
    ridge : float
        Penalty on the scale, for standardized scores. Without one, separated classes are an error.
    decision_prior : (n_classes,) array_like, optional
        Prior of `predict_proba` and `predict`; ``prior`` if not given.

    Attributes
    ----------
    model_ : deciban.calibration.MulticlassCalibrator
        With ``scale_`` and ``offset_``.
    classes_, n_features_in_, feature_names_in_
        As in `ClassEstimator`.

    Notes
    -----
    ``X`` has one column of log-likelihoods for each class, in the ascending order of labels.

    Examples
    --------
    >>> X = [[2, 0, -1], [1, 0.5, 0], [0.5, 1, 0], [0, 2, 0], [1, 0.5, 0.5], [0, 0, 1], [0, 0.4, 1.5], [0, 1, 0]]
    >>> calibrator = MulticlassCalibrator().fit(X, ["de", "de", "de", "en", "en", "fr", "fr", "fr"])
    >>> calibrator.predict_proba([[1.0, 0.0, 0.0]]).round(2)
    array([[0.68, 0.1 , 0.22]])
    >>> calibrator.set_params(decision_prior=[0.1, 0.8, 0.1]).predict([[1.0, 0.0, 0.0]])
    array(['en'], dtype='<U2')
    """

    model_class = calibration.MulticlassCalibrator

    prior: ArrayLike | None = None
    ridge: float = 0.0


@dataclass(kw_only=True, eq=False, repr=False)
class MulticlassScaleCalibrator(MulticlassCalibrator):
    """Log-likelihoods ``scale * loglik``; see `deciban.calibration.MulticlassScaleCalibrator`.

    Parameters
    ----------
    prior : (n_classes,) array_like, optional
        Prior of the training objective, in the ascending order of labels; flat if not given.
    ridge : float
        Penalty on the scale, for standardized scores. Without one, separated classes are an error.
    decision_prior : (n_classes,) array_like, optional
        Prior of `predict_proba` and `predict`; ``prior`` if not given.

    Attributes
    ----------
    model_ : deciban.calibration.MulticlassScaleCalibrator
        With ``scale_``.
    classes_, n_features_in_, feature_names_in_
        As in `ClassEstimator`.

    Notes
    -----
    ``X`` is that of `MulticlassCalibrator`.

    Examples
    --------
    >>> X = [[2, 0, -1], [1, 0.5, 0], [0.5, 1, 0], [0, 2, 0], [1, 0.5, 0.5], [0, 0, 1], [0, 0.4, 1.5], [0, 1, 0]]
    >>> calibrator = MulticlassScaleCalibrator().fit(X, ["de", "de", "de", "en", "en", "fr", "fr", "fr"])
    >>> calibrator.transform([[1.0, 0.0, 0.0]]).round(3)
    array([[1.475, 0.   , 0.   ]])
    """

    model_class = calibration.MulticlassScaleCalibrator


@dataclass(kw_only=True, eq=False, repr=False)
class MulticlassShiftCalibrator(ClassEstimator):
    """Log-likelihoods ``loglik + offset``; see `deciban.calibration.MulticlassShiftCalibrator`.

    Parameters
    ----------
    prior : (n_classes,) array_like, optional
        Prior of the training objective, in the ascending order of labels; flat if not given.
    decision_prior : (n_classes,) array_like, optional
        Prior of `predict_proba` and `predict`; ``prior`` if not given.

    Attributes
    ----------
    model_ : deciban.calibration.MulticlassShiftCalibrator
        With ``offset_``.
    classes_, n_features_in_, feature_names_in_
        As in `ClassEstimator`.

    Notes
    -----
    ``X`` is that of `MulticlassCalibrator`.

    Examples
    --------
    >>> X = [[2, 0, -1], [1, 0.5, 0], [0.5, 1, 0], [0, 2, 0], [1, 0.5, 0.5], [0, 0, 1], [0, 0.4, 1.5], [0, 1, 0]]
    >>> calibrator = MulticlassShiftCalibrator().fit(X, ["de", "de", "de", "en", "en", "fr", "fr", "fr"])
    >>> calibrator.transform([[1.0, 0.0, 0.0]]).round(3)
    array([[ 0.96 , -0.214,  0.254]])
    """

    model_class = calibration.MulticlassShiftCalibrator

    prior: ArrayLike | None = None


@dataclass(kw_only=True, eq=False, repr=False)
class MulticlassFusion(ClassEstimator):
    """Log-likelihoods ``offset + sum_k weight_k loglik_k``; see `deciban.fusion.MulticlassFusion`.

    Parameters
    ----------
    prior : (n_classes,) array_like, optional
        Prior of the training objective, in the ascending order of labels; flat if not given.
    ridge : float
        Penalty on the weights, for standardized scores. Without one, separated classes are an error.
    offsets : bool
        Whether there is an offset for each class.
    decision_prior : (n_classes,) array_like, optional
        Prior of `predict_proba` and `predict`; ``prior`` if not given.

    Attributes
    ----------
    model_ : deciban.fusion.MulticlassFusion
        With ``weights_`` and ``offset_``.
    classes_, n_features_in_, feature_names_in_
        As in `ClassEstimator`.

    Notes
    -----
    ``X`` has the log-likelihoods of one system beside those of the next, each with one column for each class in the
    ascending order of labels: what `StackingClassifier` hands to its last estimator, if there are more than two
    classes and ``stack_method="decision_function"``.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.array([[2, 0, 0], [1, 0, 0], [0, 1, 0], [0, 2, 0], [1, 0, 0], [0, 0, 1], [0, 0.4, 1], [0, 1, 0]])
    >>> two = np.array([[1, 1, 0], [0, 1, 0], [1, 0.5, 1], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 0, 2], [0, 1, 1]])
    >>> fusion = MulticlassFusion().fit(np.hstack([one, two]), [0, 0, 0, 1, 1, 2, 2, 2])
    >>> fusion.model_.weights_.round(2)
    array([0.99, 0.85])
    """

    model_class = fusion.MulticlassFusion

    prior: ArrayLike | None = None
    ridge: float = 0.0
    offsets: bool = True

    def _scores(self, X: AnyArray, n_classes: int) -> AnyArray:
        """The columns system by system."""
        if X.shape[1] % n_classes:
            raise InputError(
                f"X: {X.shape[1]} columns for {n_classes} classes. Each system has one for each class, in the "
                "ascending order of labels, and those of one system stand beside each other."
            )
        return X.reshape(len(X), -1, n_classes)


@dataclass(kw_only=True, eq=False, repr=False)
class GaussianBackend(ClassEstimator):
    """Log densities of Gaussian models of the classes; see `deciban.calibration.GaussianBackend`.

    Parameters
    ----------
    covariance : {"shared", "separate", "smoothed"}
        One covariance for all classes, one for each, or one between the two.
    smoothing : float
        Share of the shared covariance in a smoothed one, in [0, 1].
    ridge : float
        Added to each variance, in units of the shared variance of that feature.
    prior : (n_classes,) array_like, optional
        How classes share in the shared covariance, in the ascending order of labels; flat if not given.
    decision_prior : (n_classes,) array_like, optional
        Prior of `predict_proba` and `predict`; ``prior`` if not given.

    Attributes
    ----------
    model_ : deciban.calibration.GaussianBackend
        With ``mean_`` and ``covariance_``.
    classes_, n_features_in_, feature_names_in_
        As in `ClassEstimator`.

    Notes
    -----
    ``X`` has finite features of any kind. `MulticlassCalibrator` takes what comes out as it is, in a pipeline, too.

    Examples
    --------
    >>> X = [[2.0, 0.1], [1.5, -0.4], [2.5, 0.6], [0.1, 2.0], [-0.4, 1.0], [0.5, 1.6], [-1, -1], [-2, -1.2]]
    >>> backend = GaussianBackend().fit(X, ["en", "en", "en", "fr", "fr", "fr", "de", "de"])
    >>> backend.predict([[1.0, 0.0], [-1.0, 0.0]])
    array(['en', 'de'], dtype='<U2')
    """

    model_class = calibration.GaussianBackend
    takes_infinity = False

    covariance: Literal["shared", "separate", "smoothed"] = "shared"
    smoothing: float = 0.5
    ridge: float = 0.0
    prior: ArrayLike | None = None

    def _scores(self, X: AnyArray, n_classes: int) -> AnyArray:  # noqa: ARG002
        """All features, however many."""
        return X


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
class DetectionAffineTransformation(ClassEstimator):
    """Logistic regression of one class against the rest; see `deciban.calibration.DetectionAffineTransformation`.

    Parameters
    ----------
    prior : (n_classes,) array_like, optional
        How the other classes share in "all others", all above 0, in the ascending order of labels; flat if not given.
    ridge : float
        Penalty on the scale of each detector, for standardized scores.
    decision_prior : (n_classes,) array_like, optional
        Prior of `predict_proba` and `predict`; ``prior`` if not given.

    Attributes
    ----------
    model_ : deciban.calibration.DetectionAffineTransformation
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
    >>> transformation = DetectionAffineTransformation(ridge=0.01)
    >>> transformation = transformation.fit(X, ["de", "de", "de", "en", "en", "fr", "fr", "fr"])
    >>> transformation.predict([[1.0, 0.0, 0.0]])
    array(['de'], dtype='<U2')
    """

    model_class = calibration.DetectionAffineTransformation

    prior: ArrayLike | None = None
    ridge: float = 0.0


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
