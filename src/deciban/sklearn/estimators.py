"""The calibrators, fusions, transformations and back-ends of two or more classes as scikit-learn estimators.

Bounds are the step after a calibrator in a pipeline.
"""

from __future__ import annotations

import inspect
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from deciban import calibration, fusion, multiclass
from deciban._validate import arrays as _validate
from deciban._validate import classes as _validate_classes
from deciban.calibration import Calibrator
from deciban.core.resampling.units import TrialUnits
from deciban.errors import InputError
from deciban.sklearn.scoring import cllr_score, listed, target_label, two_classes
from deciban.types import AnyArray, FloatArray


@contextmanager
def renaming_arguments(**names: str) -> Iterator[None]:
    """Rename the arguments with which messages begin."""
    try:
        yield
    except InputError as error:
        words = str(error)
        named = re.match(r"(\w+)(?:\[:, (\d+)\])?(?=[:,])", words)
        if named is None or named[1] not in names:
            raise
        system = "" if named[2] is None else f", system {named[2]}"
        raise InputError(names[named[1]] + system + words[named.end() :]) from error


_SCORES: dict[str, Any] = {"ensure_all_finite": False}
"""Infinite scores are legal; the calibrator itself refuses NaN."""


@dataclass(kw_only=True, eq=False, repr=False)
class LlrEstimator(TransformerMixin, ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn is untyped
    """Base of the estimators of two classes: a classifier whose evidence is an llr, and a transformer into it.

    A subclass names the model that does the work, and has the settings of that one beside ``prior`` and ``pos_label``:
    dataclasses write the constructor that scikit-learn looks for. `_scores` is the only method that looks into ``X``.

    Attributes
    ----------
    calibrator_ : Calibrator or Fusion
        The trained model of `deciban.calibration` or `deciban.fusion`; ``calibrator_.save(path)`` writes it.
    classes_ : (2,) array
        The two labels in ascending order.
    target_ : label
        That of the targets, which large scores favour: ``pos_label``, or the larger of two numbers, or the word that
        means target.
    n_features_in_ : int
        Number of columns of ``X``.
    feature_names_in_ : (n_features,) array
        Their names, if ``X`` had any.
    """

    calibrator_class: ClassVar[Any]
    """What does the work."""

    turns_round: ClassVar[bool] = True
    """Whether it also learns from scores that are larger for non-targets (with a warning)."""

    prior: float | None = None
    pos_label: Any = None

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
            Scores: one column of a calibrator, or several and the setting ``column``; of a fusion one for each system.
            May be infinite, but not NaN.
        y : (n_trials,) array_like
            Two labels; that of the targets is ``pos_label``, or the larger of two numbers, or the word that means it.
        sample_weight : (n_trials,) array_like, optional
            Weight of each trial within its class, at least 0; whole numbers count like copies. Proportions of the
            classes do not matter.
        units : (n_trials,) or (n_trials, 2) array_like, or TrialUnits, optional
            Which speaker, or other unit, each trial is of, or its two sides are: names or numbers. With them training
            finds out how sure it is: ``calibrator_.parameter_covariance_`` and ``calibrator_.interval``. Like other
            metadata they are routed to where ``set_fit_request(units=True)`` asks for them.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If a score is NaN, units are of more or fewer trials, there are not exactly two classes or a class has no
            weight, a setting is out of range, or nothing finite can be learnt, as from separated classes without
            ``ridge``. It is a `ValueError`.
        """
        checked: tuple[AnyArray, AnyArray] = validate_data(self, X, y, **_SCORES)
        labels = two_classes(checked[1], "y")
        self._log_odds()  # a wrong prior is an error now, not at the first decision
        calibrator = self.calibrator_class(
            **{name: getattr(self, name) for name in inspect.signature(self.calibrator_class).parameters}
        )
        target = target_label(checked[1], self.pos_label, "y")
        more = {"sample_weight": sample_weight, "units": units}
        self.calibrator_ = calibrator.fit(self._scores(checked[0]), checked[1] == target, **more)
        self.classes_, self.target_ = labels, target
        return self

    @property
    def _is_turned(self) -> bool:
        """Whether the alphabet puts the label of the targets first, against the habit of scikit-learn."""
        return bool(self.target_ == self.classes_[0])

    @abstractmethod
    def _scores(self, X: AnyArray) -> AnyArray:
        """What the model works on."""

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Calibrated evidence, whatever the prior.

        Parameters
        ----------
        X : (n_trials, n_columns) array_like
            Scores, as in `fit`.

        Returns
        -------
        (n_trials,) array
            Log-likelihood ratios in nats; positive ones favour ``classes_[1]``, as everywhere in scikit-learn.

        Raises
        ------
        InputError
            If a score is NaN.
        NotFittedError
            Before `fit`.
        """
        llr = self._llr(X)
        found: FloatArray = -llr if self._is_turned else llr
        return found

    def _llr(self, X: ArrayLike) -> FloatArray:
        """Log-likelihood ratios of the targets."""
        check_is_fitted(self)
        llr: FloatArray = self.calibrator_.transform(self._scores(validate_data(self, X, reset=False, **_SCORES)))
        return llr

    def transform(self, X: ArrayLike) -> FloatArray:
        """Log-likelihood ratios of the targets as a column; `decision_function` unless ``target_`` is ``classes_[0]``.

        Parameters
        ----------
        X : (n_trials, n_columns) array_like
            Scores, as in `fit`.

        Returns
        -------
        (n_trials, 1) array
            Log-likelihood ratios in nats.
        """
        return self._llr(X)[:, np.newaxis]

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> AnyArray:  # noqa: ARG002
        """Name of the column that `transform` returns.

        Parameters
        ----------
        input_features : array_like of str, optional
            Ignored.

        Returns
        -------
        (1,) array of str
            ``llr``.
        """
        check_is_fitted(self)
        return np.array(["llr"], dtype=object)

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Posterior probabilities of both classes at the setting ``prior``.

        Parameters
        ----------
        X : (n_trials, n_columns) array_like
            Scores, as in `fit`.

        Returns
        -------
        (n_trials, 2) array
            In the order of ``classes_``. The proportions of the classes in the training data have no part in them.
        """
        log_odds = self._llr(X) + self._log_odds()
        found = np.column_stack((expit(-log_odds), expit(log_odds)))
        return found[:, ::-1] if self._is_turned else found

    def predict(self, X: ArrayLike) -> AnyArray:
        """Bayes decisions at the setting ``prior``, for errors of equal cost.

        Parameters
        ----------
        X : (n_trials, n_columns) array_like
            Scores, as in `fit`.

        Returns
        -------
        (n_trials,) array
            ``target_`` where the log-likelihood ratio is at or above minus the prior log odds. Where errors differ
            in cost, the prior to set is `deciban.OperatingPoint.effective_prior`.
        """
        accepted = self._llr(X) >= -self._log_odds()
        decided: AnyArray = self.classes_[(accepted != self._is_turned).astype(np.intp)]
        return decided

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Minus Cllr, so that more is better: 0 is perfect, -1 is what no information reaches.

        It is not the accuracy, which depends on the proportions of the classes.

        Parameters
        ----------
        X : (n_trials, n_columns) array_like
            Scores, as in `fit`.
        y : (n_trials,) array_like
            Labels, both of ``classes_`` among them and no others.
        sample_weight : (n_trials,) array_like, optional
            Weight of each trial within its class.

        Returns
        -------
        float
            In bits.

        Raises
        ------
        InputError
            If a score is NaN, or the labels are not those of training.
        """
        llr = self._llr(X)
        labels = two_classes(y, "y")
        if not np.array_equal(labels, self.classes_):
            raise InputError(f"y: the labels are {listed(labels)}, those of training were {listed(self.classes_)}.")
        return -cllr_score(y, llr, sample_weight=sample_weight, pos_label=self.target_)

    def _log_odds(self) -> float:
        """Prior log odds of posteriors and decisions, in nats."""
        prior = getattr(self, "p_target", 0.5) if self.prior is None else self.prior
        inside = math.nextafter(0.0, 1.0), math.nextafter(1.0, 0.0)
        return float(logit(_validate.in_range(prior, "prior", *inside, "A prior lies inside (0, 1)")))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = not self.turns_round
        return tags


@dataclass(kw_only=True, eq=False, repr=False)
class ScoreCalibrator(LlrEstimator):
    """Base of the calibrators, which map the scores of one system: one column of ``X``.

    Attributes
    ----------
    calibrator_ : Calibrator
        The trained calibrator of `deciban.calibration`, with its parameters.
    classes_, target_, n_features_in_, feature_names_in_
        As in `LlrEstimator`.
    """

    calibrator_class: ClassVar[type[Calibrator]]
    column: int | str | None = None

    def _scores(self, X: AnyArray) -> AnyArray:
        """What the calibrator works on: the one column of ``X``, or the chosen one."""
        n_columns = X.shape[1]
        if self.column is None:
            if n_columns != 1:
                raise InputError(
                    f"X: {n_columns} columns, but a calibrator maps the scores of one system. Choose one of them with "
                    "column=0, for example."
                )
            return X[:, 0]
        names = list(getattr(self, "feature_names_in_", ()))
        chosen = names.index(self.column) if self.column in names else self.column
        if isinstance(chosen, int | np.integer) and not isinstance(chosen, bool) and -n_columns <= chosen < n_columns:
            return X[:, int(chosen)]
        known = f", named {', '.join(names)}" if names else " without names"
        raise InputError(f"column: {self.column!r} is none of the {n_columns} columns of X{known}.")


@dataclass(kw_only=True, eq=False, repr=False)
class AffineCalibrator(ScoreCalibrator):
    """Log-likelihood ratio ``scale * score + offset``; see `deciban.calibration.AffineCalibrator`.

    Parameters
    ----------
    p_target : float
        Prior of the training objective, in (0, 1).
    alpha, beta : float
        Member of the beta family of proper scoring rules, each in [0.05, 100]; (1, 1) is logistic regression.
    ridge : float
        Penalty on the scale, for standardized scores. Without one, separated classes are an error.
    prior : float, optional
        Prior of ``classes_[1]`` in `predict_proba` and `predict`; ``p_target`` if not given.
    column : int or str, optional
        Number or name of the column of ``X`` that holds the scores; needed if there are several.

    Attributes
    ----------
    calibrator_ : deciban.calibration.AffineCalibrator
        With ``scale_`` and ``offset_``.
    classes_, n_features_in_, feature_names_in_
        As in `ScoreCalibrator`.

    Examples
    --------
    >>> X, y = [[3.0], [1.0], [2.0], [-1.0], [1.5], [0.0]], ["tar", "tar", "tar", "non", "non", "non"]
    >>> calibrator = AffineCalibrator(prior=0.1).fit(X, y)
    >>> calibrator.decision_function([[2.0], [3.0]]).round(3)
    array([1.656, 3.633])
    >>> calibrator.predict([[2.0], [3.0]]).tolist()
    ['non', 'tar']
    """

    calibrator_class = calibration.AffineCalibrator

    p_target: float = 0.5
    alpha: float = 1.0
    beta: float = 1.0
    ridge: float = 0.0


@dataclass(kw_only=True, eq=False, repr=False)
class ScaleCalibrator(AffineCalibrator):
    """Log-likelihood ratio ``scale * score``, or temperature scaling; see `deciban.calibration.ScaleCalibrator`.

    Parameters
    ----------
    p_target : float
        Prior of the training objective, in (0, 1).
    alpha, beta : float
        Member of the beta family of proper scoring rules, each in [0.05, 100].
    ridge : float
        Penalty on the scale, for standardized scores. Without one, separated classes are an error.
    prior : float, optional
        Prior of ``classes_[1]`` in `predict_proba` and `predict`; ``p_target`` if not given.
    column : int or str, optional
        Number or name of the column of ``X`` that holds the scores; needed if there are several.

    Attributes
    ----------
    calibrator_ : deciban.calibration.ScaleCalibrator
        With ``scale_``.
    classes_, n_features_in_, feature_names_in_
        As in `ScoreCalibrator`.

    Examples
    --------
    >>> X, y = [[3.0], [1.0], [2.0], [-1.0], [1.5], [0.0]], [1, 1, 1, 0, 0, 0]
    >>> ScaleCalibrator().fit(X, y).transform([[2.0]]).round(3)
    array([[1.652]])
    """

    calibrator_class = calibration.ScaleCalibrator


@dataclass(kw_only=True, eq=False, repr=False)
class ShiftCalibrator(ScoreCalibrator):
    """Log-likelihood ratio ``score + offset``; see `deciban.calibration.ShiftCalibrator`.

    Parameters
    ----------
    p_target : float
        Prior of the training objective, in (0, 1).
    alpha, beta : float
        Member of the beta family of proper scoring rules, each in [0.05, 100].
    prior : float, optional
        Prior of ``classes_[1]`` in `predict_proba` and `predict`; ``p_target`` if not given.
    column : int or str, optional
        Number or name of the column of ``X`` that holds the scores; needed if there are several.

    Attributes
    ----------
    calibrator_ : deciban.calibration.ShiftCalibrator
        With ``offset_``.
    classes_, n_features_in_, feature_names_in_
        As in `ScoreCalibrator`.

    Examples
    --------
    >>> X, y = [[3.0], [1.0], [2.0], [-1.0], [1.5], [0.0]], [1, 1, 1, 0, 0, 0]
    >>> ShiftCalibrator().fit(X, y).transform([[2.0]]).round(3)
    array([[0.888]])
    """

    calibrator_class = calibration.ShiftCalibrator
    turns_round = False

    p_target: float = 0.5
    alpha: float = 1.0
    beta: float = 1.0


@dataclass(kw_only=True, eq=False, repr=False)
class PavCalibrator(ScoreCalibrator):
    """The best monotone map of the training data; see `deciban.calibration.PavCalibrator`.

    Parameters
    ----------
    interpolation : {"linear", "step"}
        What happens between two blocks of training scores.
    smoothing : float
        Number of targets added below all scores, and of non-targets above all.
    bound : float, optional
        Log-likelihood ratios are clipped to [-bound, bound], in nats. Without smoothing or a bound those of the lowest
        and the highest scores are infinite, and `score` is minus infinity as soon as one of them is wrong.
    prior : float, optional
        Prior of ``classes_[1]`` in `predict_proba` and `predict`; 0.5 if not given.
    column : int or str, optional
        Number or name of the column of ``X`` that holds the scores; needed if there are several.

    Attributes
    ----------
    calibrator_ : deciban.calibration.PavCalibrator
        With ``low_``, ``high_`` and ``llr_`` of each block.
    classes_, n_features_in_, feature_names_in_
        As in `ScoreCalibrator`.

    Examples
    --------
    >>> X, y = [[3.0], [1.0], [2.0], [-1.0], [1.5], [0.0]], [1, 1, 1, 0, 0, 0]
    >>> PavCalibrator(bound=4.0).fit(X, y).decision_function([[-9.0], [1.2], [9.0]])
    array([-4.,  0.,  4.])
    """

    calibrator_class = calibration.PavCalibrator
    turns_round = False

    interpolation: Literal["linear", "step"] = "linear"
    smoothing: float = 0.0
    bound: float | None = None


@dataclass(kw_only=True, eq=False, repr=False)
class GaussianCalibrator(ScoreCalibrator):
    """Log-likelihood ratio of two Gaussian distributions of the score; see `deciban.calibration.GaussianCalibrator`.

    Parameters
    ----------
    shared_variance : bool
        Whether both classes have one variance, so that the map is a straight line.
    p_target : float
        Share of the variance of targets in a shared variance, in (0, 1).
    prior : float, optional
        Prior of ``classes_[1]`` in `predict_proba` and `predict`; ``p_target`` if not given.
    column : int or str, optional
        Number or name of the column of ``X`` that holds the scores; needed if there are several.

    Attributes
    ----------
    calibrator_ : deciban.calibration.GaussianCalibrator
        With ``mean_tar_``, ``mean_non_``, ``sd_tar_`` and ``sd_non_``.
    classes_, n_features_in_, feature_names_in_
        As in `ScoreCalibrator`.

    Examples
    --------
    >>> X, y = [[3.0], [1.0], [2.0], [-1.0], [1.5], [0.0]], [1, 1, 1, 0, 0, 0]
    >>> GaussianCalibrator().fit(X, y).decision_function([[2.0], [1.0]]).round(3)
    array([ 1.952, -0.177])
    """

    calibrator_class = calibration.GaussianCalibrator

    shared_variance: bool = True
    p_target: float = 0.5


@dataclass(kw_only=True, eq=False, repr=False)
class BetaCalibrator(ScoreCalibrator):
    """Log-likelihood ratio ``a ln p - b ln(1 - p) + c`` of probabilities; see `deciban.calibration.BetaCalibrator`.

    Parameters
    ----------
    p_target : float
        Prior of the training objective, in (0, 1).
    ridge : float
        Penalty on ``a`` and ``b``. Without one, separated classes are an error.
    scores : {"probability", "log_odds"}
        What is in ``X``: probabilities in [0, 1], or ``ln(p / (1 - p))``.
    prior : float, optional
        Prior of ``classes_[1]`` in `predict_proba` and `predict`; ``p_target`` if not given.
    column : int or str, optional
        Number or name of the column of ``X`` that holds the scores; needed if there are several.

    Attributes
    ----------
    calibrator_ : deciban.calibration.BetaCalibrator
        With ``a_``, ``b_`` and ``c_``.
    classes_, n_features_in_, feature_names_in_
        As in `ScoreCalibrator`.

    Examples
    --------
    >>> X, y = [[0.9], [0.4], [0.8], [0.1], [0.6], [0.2]], [1, 1, 1, 0, 0, 0]
    >>> BetaCalibrator().fit(X, y).decision_function([[0.0], [0.7], [1.0]]).round(2)
    array([-inf, 1.21,  inf])
    """

    calibrator_class = calibration.BetaCalibrator
    turns_round = False

    p_target: float = 0.5
    ridge: float = 0.0
    scores: Literal["probability", "log_odds"] = "probability"


@dataclass(kw_only=True, eq=False, repr=False)
class BoundCalibrator(ScoreCalibrator):
    """Log-likelihood ratios clipped to fixed bounds; see `deciban.calibration.BoundCalibrator`.

    Parameters
    ----------
    low, high : float, optional
        Lowest and highest log-likelihood ratio, in nats; None leaves that side open, but not both.
    prior : float, optional
        Prior of ``classes_[1]`` in `predict_proba` and `predict`; 0.5 if not given.
    column : int or str, optional
        Number or name of the column of ``X`` that holds the scores; needed if there are several.

    Attributes
    ----------
    calibrator_ : deciban.calibration.BoundCalibrator
        With the bounds as settings.
    classes_, n_features_in_, feature_names_in_
        As in `ScoreCalibrator`.

    Examples
    --------
    >>> X, y = [[3.0], [1.0], [2.0], [-1.0], [1.5], [0.0]], [1, 1, 1, 0, 0, 0]
    >>> BoundCalibrator(low=-2.0, high=2.0).fit(X, y).decision_function([[-9.0], [1.5]])
    array([-2. ,  1.5])
    """

    calibrator_class = calibration.BoundCalibrator
    turns_round = False

    low: float | None = None
    high: float | None = None


@dataclass(kw_only=True, eq=False, repr=False)
class ElubCalibrator(ScoreCalibrator):
    """Log-likelihood ratios within the empirical bounds of training data; see `deciban.calibration.ElubCalibrator`.

    Parameters
    ----------
    n_misleading : float
        Number of misleading log-likelihood ratios that are added to each class, at least 1.
    prior : float, optional
        Prior of ``classes_[1]`` in `predict_proba` and `predict`; 0.5 if not given.
    column : int or str, optional
        Number or name of the column of ``X`` that holds the scores; needed if there are several.

    Attributes
    ----------
    calibrator_ : deciban.calibration.ElubCalibrator
        With ``low_`` and ``high_``, in nats.
    classes_, n_features_in_, feature_names_in_
        As in `ScoreCalibrator`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.concatenate([np.linspace(-1.0, 9.0, 100), np.linspace(-9.0, 1.0, 100)])[:, np.newaxis]
    >>> bounded = ElubCalibrator().fit(X, np.repeat([1, 0], 100))
    >>> bounded.decision_function([[-8.0], [1.5], [8.0]]).round(3)
    array([-3.932,  1.5  ,  3.932])
    """

    calibrator_class = calibration.ElubCalibrator
    turns_round = False

    n_misleading: float = 1.0


@dataclass(kw_only=True, eq=False, repr=False)
class LinearFusion(LlrEstimator):
    """Log-likelihood ratio ``sum_k weight_k score_k + offset``; see `deciban.fusion.LinearFusion`.

    Parameters
    ----------
    p_target : float
        Prior of the training objective, in (0, 1).
    alpha, beta : float
        Member of the beta family of proper scoring rules, each in [0.05, 100]; (1, 1) is logistic regression.
    ridge : float
        Penalty on the weights, for standardized scores. Without one, separated classes are an error.
    prior : float, optional
        Prior of a target in `predict_proba` and `predict`; ``p_target`` if not given.
    pos_label : int, float, bool or str, optional
        The label of targets; see `LlrEstimator`.

    Attributes
    ----------
    calibrator_ : deciban.fusion.LinearFusion
        With ``weights_`` and ``offset_``.
    classes_, target_, n_features_in_, feature_names_in_
        As in `LlrEstimator`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[3.0, 1.0], [1.0, 2.0], [2.0, -1.0], [-1.0, 1.0], [1.5, 0.0], [0.0, -2.0], [2.0, 0.5]])
    >>> fusion = LinearFusion(prior=0.1).fit(X, ["bonafide"] * 3 + ["spoof"] * 4)
    >>> fusion.calibrator_.weights_.round(2), fusion.transform(X[:2]).round(2).tolist()
    (array([1.47, 0.7 ]), [[2.79], [0.55]])
    >>> fusion.predict(X[:2]).tolist()
    ['bonafide', 'spoof']
    """

    calibrator_class = fusion.LinearFusion

    p_target: float = 0.5
    alpha: float = 1.0
    beta: float = 1.0
    ridge: float = 0.0

    def _scores(self, X: AnyArray) -> AnyArray:
        """All columns."""
        return X


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
