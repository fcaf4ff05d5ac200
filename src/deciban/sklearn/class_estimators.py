"""Multiclass calibration, fusion, transformations and the Gaussian back-end as scikit-learn estimators."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from deciban import calibration, fusion, multiclass
from deciban._validate import arrays as _validate
from deciban._validate import classes as _validate_classes
from deciban.core.resampling.units import TrialUnits
from deciban.errors import InputError
from deciban.sklearn.calibrators import renaming_arguments
from deciban.sklearn.scoring import listed
from deciban.types import AnyArray, FloatArray


@dataclass(kw_only=True, eq=False, repr=False)
class ClassEstimator(TransformerMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Base of the estimators of many classes: classifiers by log-likelihoods, and transformers into these.

    A subclass names the model that does the work, and has the settings of that one beside ``decision_prior``:
    dataclasses write the constructor that scikit-learn looks for.

    Attributes
    ----------
    model_ : ClassModel
        The trained model of `deciban.calibration` or `deciban.fusion`; ``model_.save(path)`` writes it.
    classes_ : (n_classes,) array
        The labels in ascending order.
    n_features_in_ : int
        Number of columns of ``X``.
    feature_names_in_ : (n_features,) array
        Their names, if ``X`` had any.
    """

    model_class: ClassVar[Any]
    """What does the work."""

    takes_infinity: ClassVar[bool] = True
    """Whether infinite numbers in ``X`` mean something."""

    decision_prior: ArrayLike | None = None

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        units: ArrayLike | TrialUnits | None = None,
    ) -> Self:
        """Train on labelled trials.

        Parameters
        ----------
        X : (n_trials, n_columns) array_like
            What the class of the estimator says.
        y : (n_trials,) array_like
            Labels of at least two classes.
        sample_weight : (n_trials,) array_like, optional
            Weight of each trial within its class, at least 0; whole numbers count like copies. Proportions of the
            classes do not matter.
        units : (n_trials,) array_like or TrialUnits, optional
            Which speaker, or other unit, each trial is of: names or numbers. With them training finds out how sure it
            is, where the model can tell: ``model_.parameter_covariance_``. Like other metadata they are routed to where
            ``set_fit_request(units=True)`` asks for them.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If a number is NaN, columns and classes do not fit, a class has no weight, a setting is out of range, or
            nothing finite can be learnt, as from separated classes without ``ridge``. It is a `ValueError`.
        """
        checked: tuple[AnyArray, AnyArray] = validate_data(self, X, y, **self._finite())
        _require_numbers(checked[0])
        check_classification_targets(checked[1])
        classes, label = np.unique(checked[1], return_inverse=True)
        if len(classes) < 2:
            raise InputError(f"y: all labels are {listed(classes)}, one class. At least two different ones are needed.")
        self._prior(len(classes))  # a wrong prior is an error now, not at the first decision
        names = inspect.signature(self.model_class).parameters
        model = self.model_class(**{name: getattr(self, name) for name in names})
        with renaming_arguments(loglik="X", features="X", label="y"):
            more = {"sample_weight": sample_weight, "units": units, "classes": _names(classes)}
            model.fit(self._scores(checked[0], len(classes)), label, **more)
        self.model_ = model
        self.classes_ = classes
        return self

    def _finite(self) -> dict[str, Any]:
        return {"ensure_all_finite": False} if self.takes_infinity else {}

    def _scores(self, X: AnyArray, n_classes: int) -> AnyArray:
        """What the model works on: one column for each class."""
        if X.shape[1] != n_classes:
            raise InputError(
                f"X: {X.shape[1]} columns for {n_classes} classes. A column holds the log-likelihoods of a class, in "
                "the ascending order of labels; features become log-likelihoods by GaussianBackend."
            )
        return X

    def transform(self, X: ArrayLike) -> FloatArray:
        """Log-likelihoods of all classes, whatever the prior.

        Parameters
        ----------
        X : (n_trials, n_columns) array_like
            As in `fit`.

        Returns
        -------
        (n_trials, n_classes) array
            In nats and in the order of ``classes_``; only differences within a trial mean anything.

        Raises
        ------
        InputError
            If a number is NaN.
        NotFittedError
            Before `fit`.
        """
        check_is_fitted(self)
        checked = validate_data(self, X, reset=False, **self._finite())
        _require_numbers(checked)
        with renaming_arguments(loglik="X", features="X"):
            return np.asarray(self.model_.transform(self._scores(checked, len(self.classes_))))

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """`transform`; of two classes, the log-likelihood ratio of the second, as scikit-learn has it.

        Parameters
        ----------
        X : (n_trials, n_columns) array_like
            As in `fit`.

        Returns
        -------
        (n_trials, n_classes) or (n_trials,) array
            In nats.
        """
        loglik = self.transform(X)
        return multiclass.pairwise_llr(loglik, 1, 0) if loglik.shape[1] == 2 else loglik

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> AnyArray:  # noqa: ARG002
        """Names of the columns that `transform` returns.

        Parameters
        ----------
        input_features : array_like of str, optional
            Ignored.

        Returns
        -------
        (n_classes,) array of str
            ``loglik_`` and the label.
        """
        check_is_fitted(self)
        return np.array([f"loglik_{label}" for label in self.classes_], dtype=object)

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Posterior probabilities of all classes at ``decision_prior``.

        Parameters
        ----------
        X : (n_trials, n_columns) array_like
            As in `fit`.

        Returns
        -------
        (n_trials, n_classes) array
            In the order of ``classes_``. The proportions of the classes in the training data have no part in them.
        """
        loglik = self.transform(X)
        return multiclass.posterior(loglik, prior=self._prior(loglik.shape[1]))

    def predict(self, X: ArrayLike) -> AnyArray:
        """Bayes decisions at ``decision_prior``, for errors of equal cost.

        Parameters
        ----------
        X : (n_trials, n_columns) array_like
            As in `fit`.

        Returns
        -------
        (n_trials,) array
            The class of the largest posterior; of several, the first of ``classes_``.
        """
        posterior = self.predict_proba(X)
        return np.asarray(self.classes_[np.argmax(posterior, axis=1)])

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Minus Cllr, so that more is better: 0 is perfect, ``-log2 n_classes`` is what no information reaches.

        It is not the accuracy, which depends on the proportions of the classes.

        Parameters
        ----------
        X : (n_trials, n_columns) array_like
            As in `fit`.
        y : (n_trials,) array_like
            Labels, all of ``classes_`` among them and no others.
        sample_weight : (n_trials,) array_like, optional
            Weight of each trial within its class.

        Returns
        -------
        float
            In bits.

        Raises
        ------
        InputError
            If a number is NaN, or the labels are not those of training.
        """
        loglik = self.transform(X)
        labels, label = np.unique(np.asarray(y), return_inverse=True)
        if not np.array_equal(labels, self.classes_):
            raise InputError(f"y: the labels are {listed(labels)}, those of training were {listed(self.classes_)}.")
        return -multiclass.cllr(loglik, label, sample_weight=sample_weight)

    def _prior(self, n_classes: int) -> FloatArray:
        """Prior of posteriors and decisions."""
        given = getattr(self, "prior", None) if self.decision_prior is None else self.decision_prior
        return _validate_classes.prior(given, n_classes, "prior" if self.decision_prior is None else "decision_prior")


def _names(classes: AnyArray) -> list[str] | None:
    """Labels as names of classes in a model file, if they differ as text."""
    names = [str(label) for label in classes.tolist()]
    return names if len(set(names)) == len(names) else None


def _require_numbers(X: AnyArray) -> None:
    """Refuse NaN by its place in ``X``, which a model does not know.

    Raises
    ------
    InputError
        If there is some.
    """
    if X.dtype.kind == "f" and not _validate.all_finite(X) and len(bad := np.argwhere(np.isnan(X))):
        row, column = bad[0]
        raise InputError(
            f"X: {len(np.unique(bad[:, 0]))} of {len(X)} rows hold NaN, the first in row {row}, column {column}. "
            "Infinite scores are allowed, NaN is not: leave these trials out, or repair the scores."
        )


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
