"""What all models of many classes share as scikit-learn estimators."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from deciban import multiclass
from deciban._validate import arrays as _validate
from deciban._validate import classes as _validate_classes
from deciban.core.resampling.units import TrialUnits
from deciban.errors import InputError
from deciban.sklearn.estimator import renaming_arguments
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
