"""Two-class and multiclass calibrators, fusions, transformations and back-ends as scikit-learn estimators.

Bounds are a step after a calibrator in a pipeline.
"""

from __future__ import annotations

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.metrics import make_scorer
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from deciban import calibration, fusion, metrics, multiclass
from deciban._validate import arrays as _validate
from deciban._validate import classes as _validate_classes
from deciban._validate.arrays import Vocabulary
from deciban.errors import InputError
from deciban.trials.sources import Batch
from deciban.types import AnyArray, FloatArray, Foreign, Priors, Units, Weights


def two_classes(labels: ArrayLike, name: str) -> AnyArray:
    """Return the two different labels in ascending order, as in ``classes_``.

    Raises
    ------
    InputError
        If there are more labels, or only one, or labels are NaN, infinite or of different types.
    ValueError
        From scikit-learn, if these are not class labels: fractions, or several per trial.
    """
    value = np.asarray(labels)
    if value.dtype.kind == "f" and not np.isfinite(value).all():
        raise InputError(f"{name}: {np.count_nonzero(~np.isfinite(value))} labels are NaN or infinite.")
    try:
        check_classification_targets(value)
        kind = type_of_target(value, input_name=name, raise_unknown=True)
    except TypeError as error:
        raise InputError(f"{name}: labels of different types have no order: {error}.") from error
    if kind != "binary":  # the wording that scikit-learn requires
        raise InputError(f"{name}: Only binary classification is supported. The type of the target is {kind}.")
    values = np.unique(value)
    if len(values) < 2:
        raise InputError(f"{name}: all labels are {listed(values)}, only one class. Two are needed.")
    return values


def listed(labels: AnyArray) -> str:
    """Return the labels as text."""
    return ", ".join(map(repr, labels.tolist()))


def cllr_score(
    y_true: ArrayLike, score: ArrayLike, *, sample_weight: Weights = None, pos_label: object = None
) -> float:
    """Return the cost of log-likelihood ratios, `deciban.metrics.cllr` in the argument order of scikit-learn.

    Parameters
    ----------
    y_true : (n_trials,) array_like
        Two different labels.
    score : (n_trials,) array_like
        Log-likelihood ratios in nats.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class.
    pos_label : int, float, bool or str, optional
        Label of targets, which have large scores. Default: the larger of two numbers, as in ``classes_``, or the word
        for targets, such as ``"target"`` or ``"bonafide"``; other words are refused.

    Returns
    -------
    float
        In bits; 0 is perfect, 1 is the value without information. The proportions of the classes do not matter.

    Raises
    ------
    InputError
        If there are not exactly two labels, or words of unknown meaning, lengths differ, or a score is NaN.

    Examples
    --------
    >>> round(cllr_score([1, 0, 1, 0], [2.0, 0.0, 1.0, -1.0]), 3)
    0.522
    """
    return metrics.cllr(**_by_class(y_true, score, sample_weight, pos_label))


def min_cllr_score(
    y_true: ArrayLike, score: ArrayLike, *, sample_weight: Weights = None, pos_label: object = None
) -> float:
    """Return Cllr after ideal recalibration, `deciban.metrics.min_cllr` in the argument order of scikit-learn.

    Parameters
    ----------
    y_true : (n_trials,) array_like
        Two different labels.
    score : (n_trials,) array_like
        Any scores that are larger for targets.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class.
    pos_label : int, float, bool or str, optional
        Label of targets, which have large scores. Default: the larger of two numbers, as in ``classes_``, or the word
        for targets, such as ``"target"`` or ``"bonafide"``; other words are refused.

    Returns
    -------
    float
        In bits, from 0 to 1.

    Raises
    ------
    InputError
        If there are not exactly two labels, or words of unknown meaning, lengths differ, or a score is NaN.

    Examples
    --------
    >>> min_cllr_score([1, 0, 1, 0], [0.2, 0.3, 0.4, 0.1])
    0.5
    """
    return metrics.min_cllr(**_by_class(y_true, score, sample_weight, pos_label))


def dcf(
    y_true: ArrayLike,
    score: ArrayLike,
    *,
    p_target: float,
    c_miss: float = 1.0,
    c_fa: float = 1.0,
    normalize: bool = True,
    sample_weight: Weights = None,
    pos_label: object = None,
) -> float:
    """Return the actual detection cost, `deciban.metrics.act_dcf` in the argument order of scikit-learn.

    Parameters
    ----------
    y_true : (n_trials,) array_like
        Two different labels.
    score : (n_trials,) array_like
        Log-likelihood ratios in nats.
    p_target : float
        Prior probability of targets, in (0, 1).
    c_miss, c_fa : float
        Costs of a miss and of a false alarm.
    normalize : bool
        Divide by the cost of the better of accept-all and reject-all.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class.
    pos_label : int, float, bool or str, optional
        Label of targets, which have large scores. Default: the larger of two numbers, as in ``classes_``, or the word
        for targets, such as ``"target"`` or ``"bonafide"``; other words are refused.

    Returns
    -------
    float
        Cost of decisions at the Bayes threshold; a normalized value above 1 is worse than ignoring the scores.

    Raises
    ------
    InputError
        If there are not exactly two labels, or words of unknown meaning, lengths differ, a score is NaN, or the
        operating point is invalid.

    Examples
    --------
    >>> dcf([1, 0, 1, 0], [2.0, 0.0, 1.0, -1.0], p_target=0.5)
    0.5
    """
    point = metrics.OperatingPoint(p_target, c_miss, c_fa)
    trials = _by_class(y_true, score, sample_weight, pos_label)
    return float(metrics.act_dcf(**trials, p_target=point.p_target, c_miss=c_miss, c_fa=c_fa, normalize=normalize))


def eer_score(y_true: ArrayLike, score: ArrayLike, *, sample_weight: Weights = None, pos_label: object = None) -> float:
    """Return the EER on the convex hull of the ROC, `deciban.metrics.eer` in the argument order of scikit-learn.

    Parameters
    ----------
    y_true, score, sample_weight, pos_label
        See `min_cllr_score`.

    Returns
    -------
    float
        A fraction, from 0 to 0.5.

    Raises
    ------
    InputError
        See `min_cllr_score`.

    Examples
    --------
    >>> eer_score([1, 0, 1, 0], [0.2, 0.3, 0.4, 0.1])
    0.25
    """
    return metrics.eer(**_by_class(y_true, score, sample_weight, pos_label))


def min_dcf(
    y_true: ArrayLike,
    score: ArrayLike,
    *,
    p_target: float,
    c_miss: float = 1.0,
    c_fa: float = 1.0,
    normalize: bool = True,
    sample_weight: Weights = None,
    pos_label: object = None,
) -> float:
    """Return the detection cost at the best threshold, `deciban.metrics.min_dcf` in the argument order of scikit-learn.

    Parameters
    ----------
    y_true, sample_weight, pos_label
        See `dcf`.
    score : (n_trials,) array_like
        Any scores that are larger for targets.
    p_target, c_miss, c_fa, normalize
        See `dcf`.

    Returns
    -------
    float
        At most 1 if normalized.

    Raises
    ------
    InputError
        See `dcf`.

    Examples
    --------
    >>> min_dcf([1, 0, 1, 0], [0.2, 0.3, 0.4, 0.1], p_target=0.5)
    0.5
    """
    point = metrics.OperatingPoint(p_target, c_miss, c_fa)
    trials = _by_class(y_true, score, sample_weight, pos_label)
    return float(metrics.min_dcf(**trials, p_target=point.p_target, c_miss=c_miss, c_fa=c_fa, normalize=normalize))


def scorer(metric: Callable[..., float], **options: Any) -> Foreign:
    """Return a scorer for ``scoring=`` of `GridSearchCV`, `cross_validate` etc.

    Parameters
    ----------
    metric : function
        `cllr_score`, `min_cllr_score`, `eer_score`, `dcf` or `min_dcf`, or a function with the same arguments.
    **options
        Keyword arguments of the metric, such as the operating point of `dcf`, or ``pos_label``.

    Returns
    -------
    callable
        ``scorer(estimator, X, y)`` is minus the metric of ``estimator.decision_function(X)``, so that larger is better.
        ``set_score_request(sample_weight=True)`` requests weights.

    Notes
    -----
    Large values of a decision function favour ``classes_[1]``. So scorers use the larger label as that of targets, even
    if it is a word for non-targets; ``pos_label`` reverses both.

    `cllr_score` and `dcf` interpret the values of ``decision_function`` as log-likelihood ratios. This is correct for
    the calibrators here; a `LogisticRegression` returns log posterior odds at the proportions of its training data.

    Examples
    --------
    >>> import numpy as np
    >>> from deciban.sklearn import ShiftCalibrator
    >>> X, y = np.array([[3.0], [1.0], [2.0], [-1.0], [1.5], [0.0]]), [1, 1, 1, 0, 0, 0]
    >>> round(scorer(dcf, p_target=0.1)(ShiftCalibrator().fit(X, y), X, y), 3)
    -1.0
    """
    return make_scorer(_Metric(metric), response_method="decision_function", greater_is_better=False, **options)


@dataclass(frozen=True)
class _Metric:
    """A metric for scorers: the decision function always favours the larger label."""

    metric: Callable[..., float]

    @property
    def __name__(self) -> str:
        return str(getattr(self.metric, "__name__", self.metric))

    def __call__(self, y_true: ArrayLike, score: ArrayLike, *, sample_weight: Weights = None, **options: Any) -> float:
        if options.get("pos_label") is None:
            larger = two_classes(y_true, "y_true")[1]
            if self.metric in _OF_POINTS and target_label(y_true, None, "y_true") != larger:
                raise InputError(
                    "pos_label: costs depend on the label of the targets, and scikit-learn uses "
                    f"{larger!r}. Pass it explicitly: scorer({self.__name__}, pos_label=...)."
                )
            options["pos_label"] = larger
        return self.metric(y_true, score, sample_weight=sample_weight, **options)


_OF_POINTS = (dcf, min_dcf)
"""Metrics that change if the classes are exchanged."""


cllr_scorer = scorer(cllr_score)
"""Minus `cllr_score` of a decision function that is a log-likelihood ratio."""

min_cllr_scorer = scorer(min_cllr_score)
"""Minus `min_cllr_score` of any decision function."""

eer_scorer = scorer(eer_score)
"""Minus `eer_score` of any decision function."""


def target_label(labels: ArrayLike, pos_label: object, name: str) -> object:
    """Return the label of the targets: ``pos_label``, the larger of two numbers, or the word for targets.

    Raises
    ------
    InputError
        If there are not two labels, ``pos_label`` is not one of them, or the meaning of the words is unknown.

    Examples
    --------
    >>> target_label([0, 1, 0], None, "y"), target_label(["spoof", "bonafide"], None, "y")
    (1, 'bonafide')
    """
    known = two_classes(labels, name).tolist()
    if pos_label is not None:
        if pos_label not in known:
            raise InputError(f"pos_label: {pos_label!r} is neither of the labels {listed(np.array(known))}.")
        return pos_label
    if not isinstance(known[0], str):
        return known[1]
    means = [Vocabulary.of(None).within(known).meaning(word) for word in known]
    if sorted(means, key=str) != [False, True]:
        raise InputError(
            f"{name}: which of {listed(np.array(known))} is the label of the targets, which have large scores? "
            f"Pass it, for example pos_label={known[1]!r}."
        )
    return known[means.index(True)]


def _by_class(y_true: ArrayLike, score: ArrayLike, sample_weight: Weights, pos_label: object) -> dict[str, Any]:
    """Return the arguments of a metric of two sets."""
    label = _validate.array(y_true, "y_true")
    if label.ndim != 1:
        raise InputError(f"y_true: expected one label per trial, got shape {label.shape}.")
    scores = _validate.scores(score, "score")
    if len(label) != len(scores):
        raise InputError(f"y_true, score: {len(label)} labels for {len(scores)} scores. Pass one label per score.")
    if label.dtype.kind == "f" and len(np.unique(label)) > 2 >= len(np.unique(scores)):
        raise InputError(
            "y_true, score: the first has no labels, but the second could have. The order is that of scikit-learn: "
            "labels first, then scores."
        )
    is_target = label == target_label(label, pos_label, "y_true")
    weight = _validate.weights(sample_weight, len(scores), "sample_weight")
    return Batch((scores,), is_target, weight=weight).as_sets()


@contextmanager
def renaming_arguments(**names: str) -> Iterator[None]:
    """Rename the arguments at the start of messages."""
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
"""Infinite scores are allowed; the calibrator itself refuses NaN."""


class _Estimator(TransformerMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """An estimator that has the settings of its model, with the same defaults, beside those that it declares."""

    model_class: ClassVar[Any] = None
    """Class of the model."""

    classes_: AnyArray

    def __init_subclass__(cls, **options: Any) -> None:
        """Generate the constructor that scikit-learn expects, as dataclasses do."""
        super().__init_subclass__(**options)
        settings = {} if cls.model_class is None else inspect.signature(cls.model_class).parameters
        for name, one in settings.items():
            setattr(cls, name, one.default)
        cls.__annotations__ = cls.__annotations__ | {name: one.annotation for name, one in settings.items()}
        dataclass(kw_only=True, eq=False, repr=False)(cls)

    def _model(self) -> Any:
        """Return a model with these settings, not yet trained."""
        names = inspect.signature(self.model_class).parameters
        return self.model_class(**{name: getattr(self, name) for name in names})

    def _require_same(self, labels: AnyArray) -> None:
        """Refuse labels that differ from training.

        Raises
        ------
        InputError
            If they differ.
        """
        if not np.array_equal(labels, self.classes_):
            raise InputError(f"y: the labels are {listed(labels)}, but in training they were {listed(self.classes_)}.")


class LlrEstimator(_Estimator, ABC):
    """Base of the two-class estimators: a classifier by llrs, and a transformer to llrs.

    A subclass sets the model class, and has the settings of the model, ``prior`` and ``pos_label``. Only the method
    `_scores` reads ``X``.

    Attributes
    ----------
    calibrator_ : Calibrator or Fusion
        The trained model of `deciban.calibration` or `deciban.fusion`; ``calibrator_.save(path)`` writes it.
    classes_ : (2,) array
        The two labels in ascending order.
    target_ : label
        Label of the targets, which have large scores: ``pos_label``, or the larger of two numbers, or the word for
        targets.
    n_features_in_ : int
        Number of columns of ``X``.
    feature_names_in_ : (n_features,) array
        Names of the columns, if ``X`` had names.
    """

    turns_round: ClassVar[bool] = True
    """True if the model also accepts scores that are larger for non-targets (with a warning)."""

    prior: float | None = None
    pos_label: object = None

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: Weights = None, units: Units = None) -> Self:
        """Train on labelled trials.

        Parameters
        ----------
        X : (n_trials, n_columns) array_like
            Scores: one column for a calibrator, or several and the setting ``column``; for a fusion, one column for
            each system. May be infinite, but not NaN.
        y : (n_trials,) array_like
            Two labels. The label of the targets is ``pos_label``, or the larger of two numbers, or the word for
            targets.
        sample_weight : (n_trials,) array_like, optional
            Weight of each trial within its class, at least 0; whole numbers count like copies. The proportions of the
            classes do not matter.
        units : (n_trials,) or (n_trials, 2) array_like, or TrialUnits, optional
            Speaker or other unit of each trial, or of its two sides: names or numbers. With units, training also
            estimates its uncertainty: ``calibrator_.parameter_covariance_`` and ``calibrator_.interval``. Like other
            metadata, units are routed to estimators with ``set_fit_request(units=True)``.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If a score is NaN, the number of units differs, there are not exactly two classes, a class has no weight, a
            setting is out of range, or no finite map is optimal (for example with separated classes and no ``ridge``).
            It is a `ValueError`.
        """
        checked: tuple[AnyArray, AnyArray] = validate_data(self, X, y, **_SCORES)
        labels = two_classes(checked[1], "y")
        self._log_odds()  # check the prior now, not at the first decision
        target = target_label(checked[1], self.pos_label, "y")
        more = {"sample_weight": sample_weight, "units": units}
        self.calibrator_ = self._model().fit(self._scores(checked[0]), checked[1] == target, **more)
        self.classes_, self.target_ = labels, target
        return self

    @property
    def _is_turned(self) -> bool:
        """True if the label of the targets is first in alphabetical order, unlike the convention of scikit-learn."""
        return bool(self.target_ == self.classes_[0])

    @abstractmethod
    def _scores(self, X: AnyArray) -> AnyArray:
        """Return the scores in the form of the model."""

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Return calibrated llrs, independent of the prior.

        Parameters
        ----------
        X : (n_trials, n_columns) array_like
            Scores; see `fit`.

        Returns
        -------
        (n_trials,) array
            Log-likelihood ratios in nats; positive values favour ``classes_[1]``, as in all of scikit-learn.

        Raises
        ------
        InputError
            If a score is NaN.
        NotFittedError
            Before `fit`.
        """
        llr = self._llr(X)
        result: FloatArray = -llr if self._is_turned else llr
        return result

    def _llr(self, X: ArrayLike) -> FloatArray:
        """Return log-likelihood ratios of the targets."""
        check_is_fitted(self)
        llr: FloatArray = self.calibrator_.transform(self._scores(validate_data(self, X, reset=False, **_SCORES)))
        return llr

    def transform(self, X: ArrayLike) -> FloatArray:
        """Return llrs of the targets as a column; equal to `decision_function` unless ``target_`` is ``classes_[0]``.

        Parameters
        ----------
        X : (n_trials, n_columns) array_like
            Scores; see `fit`.

        Returns
        -------
        (n_trials, 1) array
            Log-likelihood ratios in nats.
        """
        return self._llr(X)[:, np.newaxis]

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> AnyArray:  # noqa: ARG002
        """Return the name of the column that `transform` returns.

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
        """Return posterior probabilities of both classes at the setting ``prior``.

        Parameters
        ----------
        X : (n_trials, n_columns) array_like
            Scores; see `fit`.

        Returns
        -------
        (n_trials, 2) array
            In the order of ``classes_``. The proportions of the classes in the training data do not matter.
        """
        log_odds = self._llr(X) + self._log_odds()
        result = np.column_stack((expit(-log_odds), expit(log_odds)))
        return result[:, ::-1] if self._is_turned else result

    def predict(self, X: ArrayLike) -> AnyArray:
        """Return Bayes decisions at the setting ``prior``, for equal costs of errors.

        Parameters
        ----------
        X : (n_trials, n_columns) array_like
            Scores; see `fit`.

        Returns
        -------
        (n_trials,) array
            ``target_`` if the log-likelihood ratio is at or above minus the prior log odds. For different costs of
            errors, set ``prior`` to `deciban.OperatingPoint.effective_prior`.
        """
        accepted = self._llr(X) >= -self._log_odds()
        decided: AnyArray = self.classes_[(accepted != self._is_turned).astype(np.intp)]
        return decided

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: Weights = None) -> float:
        """Return minus Cllr, so that larger is better: 0 is perfect, -1 is the value without information.

        It is not the accuracy, which depends on the proportions of the classes.

        Parameters
        ----------
        X : (n_trials, n_columns) array_like
            Scores; see `fit`.
        y : (n_trials,) array_like
            Labels; both ``classes_`` occur, and no others.
        sample_weight : (n_trials,) array_like, optional
            Weight of each trial within its class.

        Returns
        -------
        float
            In bits.

        Raises
        ------
        InputError
            If a score is NaN, or the labels differ from training.
        """
        llr = self._llr(X)
        self._require_same(two_classes(y, "y"))
        return -cllr_score(y, llr, sample_weight=sample_weight, pos_label=self.target_)

    def _log_odds(self) -> float:
        """Return prior log odds of posteriors and decisions, in nats."""
        prior = getattr(self, "p_target", 0.5) if self.prior is None else self.prior
        return float(logit(_validate.fraction(prior, "prior", "A prior must be inside (0, 1)")))

    def __sklearn_tags__(self) -> Foreign:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = not self.turns_round
        return tags


class ScoreCalibrator(LlrEstimator):
    """Base of the calibrators of the scores of one system, a column of ``X``.

    Attributes
    ----------
    calibrator_ : Calibrator
        The trained calibrator of `deciban.calibration`, with its parameters.
    classes_, target_, n_features_in_, feature_names_in_
        See `LlrEstimator`.
    """

    column: int | str | None = None

    def _scores(self, X: AnyArray) -> AnyArray:
        """Return the only column of ``X``, or the selected one."""
        n_columns = X.shape[1]
        if self.column is None:
            if n_columns != 1:
                raise InputError(
                    f"X: {n_columns} columns, but a calibrator maps the scores of one system. Select a column, "
                    "for example by column=0."
                )
            return X[:, 0]
        names = list(getattr(self, "feature_names_in_", ()))
        chosen = names.index(self.column) if self.column in names else self.column
        if isinstance(chosen, int | np.integer) and not isinstance(chosen, bool) and -n_columns <= chosen < n_columns:
            return X[:, int(chosen)]
        known = f", named {', '.join(names)}" if names else " without names"
        raise InputError(f"column: {self.column!r} is not among the {n_columns} columns of X{known}.")


class AffineCalibrator(ScoreCalibrator):
    """Log-likelihood ratio ``scale * score + offset``; see `deciban.calibration.AffineCalibrator`.

    Parameters
    ----------
    p_target : float
        Prior of the training objective, in (0, 1).
    alpha, beta : float
        Member of the beta family of proper scoring rules, each in [0.05, 100]; (1, 1) is logistic regression.
    ridge : float
        Penalty on the scale, for standardized scores. Without a penalty, separated classes are an error.
    prior : float, optional
        Prior of the target (``target_``) in `predict_proba` and `predict`; default: ``p_target``.
    column : int or str, optional
        Number or name of the column of ``X`` with the scores; required if there are several.

    Attributes
    ----------
    calibrator_ : deciban.calibration.AffineCalibrator
        With ``scale_`` and ``offset_``.
    classes_, n_features_in_, feature_names_in_
        See `ScoreCalibrator`.

    Examples
    --------
    >>> X, y = [[3.0], [1.0], [2.0], [-1.0], [1.5], [0.0]], ["tar", "tar", "tar", "non", "non", "non"]
    >>> calibrator = AffineCalibrator(prior=0.1).fit(X, y)
    >>> calibrator.decision_function([[2.0], [3.0]]).round(3)
    array([1.656, 3.633])
    >>> calibrator.predict([[2.0], [3.0]]).tolist()
    ['non', 'tar']
    """

    model_class = calibration.AffineCalibrator


class ScaleCalibrator(AffineCalibrator):
    """Log-likelihood ratio ``scale * score``, or temperature scaling; see `deciban.calibration.ScaleCalibrator`.

    Parameters
    ----------
    p_target : float
        Prior of the training objective, in (0, 1).
    alpha, beta : float
        Member of the beta family of proper scoring rules, each in [0.05, 100].
    ridge : float
        Penalty on the scale, for standardized scores. Without a penalty, separated classes are an error.
    prior : float, optional
        Prior of the target (``target_``) in `predict_proba` and `predict`; default: ``p_target``.
    column : int or str, optional
        Number or name of the column of ``X`` with the scores; required if there are several.

    Attributes
    ----------
    calibrator_ : deciban.calibration.ScaleCalibrator
        With ``scale_``.
    classes_, n_features_in_, feature_names_in_
        See `ScoreCalibrator`.

    Examples
    --------
    >>> X, y = [[3.0], [1.0], [2.0], [-1.0], [1.5], [0.0]], [1, 1, 1, 0, 0, 0]
    >>> ScaleCalibrator().fit(X, y).transform([[2.0]]).round(3)
    array([[1.652]])
    """

    model_class = calibration.ScaleCalibrator


class ShiftCalibrator(ScoreCalibrator):
    """Log-likelihood ratio ``score + offset``; see `deciban.calibration.ShiftCalibrator`.

    Parameters
    ----------
    p_target : float
        Prior of the training objective, in (0, 1).
    alpha, beta : float
        Member of the beta family of proper scoring rules, each in [0.05, 100].
    prior : float, optional
        Prior of the target (``target_``) in `predict_proba` and `predict`; default: ``p_target``.
    column : int or str, optional
        Number or name of the column of ``X`` with the scores; required if there are several.

    Attributes
    ----------
    calibrator_ : deciban.calibration.ShiftCalibrator
        With ``offset_``.
    classes_, n_features_in_, feature_names_in_
        See `ScoreCalibrator`.

    Examples
    --------
    >>> X, y = [[3.0], [1.0], [2.0], [-1.0], [1.5], [0.0]], [1, 1, 1, 0, 0, 0]
    >>> ShiftCalibrator().fit(X, y).transform([[2.0]]).round(3)
    array([[0.888]])
    """

    model_class = calibration.ShiftCalibrator
    turns_round = False


class PavCalibrator(ScoreCalibrator):
    """The optimal monotone map of the training data; see `deciban.calibration.PavCalibrator`.

    Parameters
    ----------
    interpolation : {"linear", "step"}
        Map between two blocks of training scores.
    smoothing : float
        Number of targets that are added below all scores, and of non-targets above all.
    bound : float, optional
        Log-likelihood ratios are clipped to [-bound, bound], in nats. Without smoothing or a bound, the lowest and
        highest scores have infinite llrs, and `score` is minus infinity as soon as one of them is wrong.
    prior : float, optional
        Prior of the target (``target_``) in `predict_proba` and `predict`; default: 0.5.
    column : int or str, optional
        Number or name of the column of ``X`` with the scores; required if there are several.

    Attributes
    ----------
    calibrator_ : deciban.calibration.PavCalibrator
        With ``low_``, ``high_`` and ``llr_`` of each block.
    classes_, n_features_in_, feature_names_in_
        See `ScoreCalibrator`.

    Examples
    --------
    >>> X, y = [[3.0], [1.0], [2.0], [-1.0], [1.5], [0.0]], [1, 1, 1, 0, 0, 0]
    >>> PavCalibrator(bound=4.0).fit(X, y).decision_function([[-9.0], [1.2], [9.0]])
    array([-4.,  0.,  4.])
    """

    model_class = calibration.PavCalibrator
    turns_round = False


class GaussianCalibrator(ScoreCalibrator):
    """Log-likelihood ratio of two Gaussian distributions of the score; see `deciban.calibration.GaussianCalibrator`.

    Parameters
    ----------
    shared_variance : bool
        Use one variance for both classes, so that the map is a straight line.
    p_target : float
        Share of the variance of targets in a shared variance, in (0, 1).
    prior : float, optional
        Prior of the target (``target_``) in `predict_proba` and `predict`; default: ``p_target``.
    column : int or str, optional
        Number or name of the column of ``X`` with the scores; required if there are several.

    Attributes
    ----------
    calibrator_ : deciban.calibration.GaussianCalibrator
        With ``mean_tar_``, ``mean_non_``, ``sd_tar_`` and ``sd_non_``.
    classes_, n_features_in_, feature_names_in_
        See `ScoreCalibrator`.

    Examples
    --------
    >>> X, y = [[3.0], [1.0], [2.0], [-1.0], [1.5], [0.0]], [1, 1, 1, 0, 0, 0]
    >>> GaussianCalibrator().fit(X, y).decision_function([[2.0], [1.0]]).round(3)
    array([ 1.952, -0.177])
    """

    model_class = calibration.GaussianCalibrator


class BetaCalibrator(ScoreCalibrator):
    """Log-likelihood ratio ``a ln p - b ln(1 - p) + c`` of probabilities; see `deciban.calibration.BetaCalibrator`.

    Parameters
    ----------
    p_target : float
        Prior of the training objective, in (0, 1).
    ridge : float
        Penalty on ``a`` and ``b``. Without a penalty, separated classes are an error.
    scores : {"probability", "log_odds"}
        Content of ``X``: probabilities in [0, 1], or ``ln(p / (1 - p))``.
    prior : float, optional
        Prior of the target (``target_``) in `predict_proba` and `predict`; default: ``p_target``.
    column : int or str, optional
        Number or name of the column of ``X`` with the scores; required if there are several.

    Attributes
    ----------
    calibrator_ : deciban.calibration.BetaCalibrator
        With ``a_``, ``b_`` and ``c_``.
    classes_, n_features_in_, feature_names_in_
        See `ScoreCalibrator`.

    Examples
    --------
    >>> X, y = [[0.9], [0.4], [0.8], [0.1], [0.6], [0.2]], [1, 1, 1, 0, 0, 0]
    >>> BetaCalibrator().fit(X, y).decision_function([[0.0], [0.7], [1.0]]).round(2)
    array([-inf, 1.21,  inf])
    """

    model_class = calibration.BetaCalibrator
    turns_round = False


class BoundCalibrator(ScoreCalibrator):
    """Log-likelihood ratios clipped to fixed bounds; see `deciban.calibration.BoundCalibrator`.

    Parameters
    ----------
    low, high : float, optional
        Lowest and highest log-likelihood ratio, in nats; None for no bound, but not both.
    prior : float, optional
        Prior of the target (``target_``) in `predict_proba` and `predict`; default: 0.5.
    column : int or str, optional
        Number or name of the column of ``X`` with the scores; required if there are several.

    Attributes
    ----------
    calibrator_ : deciban.calibration.BoundCalibrator
        Its settings are the bounds.
    classes_, n_features_in_, feature_names_in_
        See `ScoreCalibrator`.

    Examples
    --------
    >>> X, y = [[3.0], [1.0], [2.0], [-1.0], [1.5], [0.0]], [1, 1, 1, 0, 0, 0]
    >>> BoundCalibrator(low=-2.0, high=2.0).fit(X, y).decision_function([[-9.0], [1.5]])
    array([-2. ,  1.5])
    """

    model_class = calibration.BoundCalibrator
    turns_round = False


class ElubCalibrator(ScoreCalibrator):
    """Log-likelihood ratios clipped to the empirical bounds of training data; see `deciban.calibration.ElubCalibrator`.

    Parameters
    ----------
    n_misleading : float
        Number of misleading log-likelihood ratios that are added to each class, at least 1.
    prior : float, optional
        Prior of the target (``target_``) in `predict_proba` and `predict`; default: 0.5.
    column : int or str, optional
        Number or name of the column of ``X`` with the scores; required if there are several.

    Attributes
    ----------
    calibrator_ : deciban.calibration.ElubCalibrator
        With ``low_`` and ``high_``, in nats.
    classes_, n_features_in_, feature_names_in_
        See `ScoreCalibrator`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.concatenate([np.linspace(-1.0, 9.0, 100), np.linspace(-9.0, 1.0, 100)])[:, np.newaxis]
    >>> bounded = ElubCalibrator().fit(X, np.repeat([1, 0], 100))
    >>> bounded.decision_function([[-8.0], [1.5], [8.0]]).round(3)
    array([-3.932,  1.5  ,  3.932])
    """

    model_class = calibration.ElubCalibrator
    turns_round = False


class LinearFusion(LlrEstimator):
    """Log-likelihood ratio ``sum_k weight_k score_k + offset``; see `deciban.fusion.LinearFusion`.

    Parameters
    ----------
    p_target : float
        Prior of the training objective, in (0, 1).
    alpha, beta : float
        Member of the beta family of proper scoring rules, each in [0.05, 100]; (1, 1) is logistic regression.
    ridge : float
        Penalty on the weights, for standardized scores. Without a penalty, separated classes are an error.
    prior : float, optional
        Prior of a target in `predict_proba` and `predict`; default: ``p_target``.
    pos_label : int, float, bool or str, optional
        Label of targets; see `LlrEstimator`.

    Attributes
    ----------
    calibrator_ : deciban.fusion.LinearFusion
        With ``weights_`` and ``offset_``.
    classes_, target_, n_features_in_, feature_names_in_
        See `LlrEstimator`.

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

    model_class = fusion.LinearFusion

    def _scores(self, X: AnyArray) -> AnyArray:
        """Return all columns."""
        return X


class ClassEstimator(_Estimator):
    """Base of the multiclass estimators: classifiers by log-likelihoods, and transformers to log-likelihoods.

    A subclass sets the model class, and has the settings of the model and ``decision_prior``. Dataclasses generate the
    constructor that scikit-learn expects.

    Attributes
    ----------
    model_ : ClassModel
        The trained model of `deciban.calibration` or `deciban.fusion`; ``model_.save(path)`` writes it.
    classes_ : (n_classes,) array
        The labels in ascending order.
    n_features_in_ : int
        Number of columns of ``X``.
    feature_names_in_ : (n_features,) array
        Names of the columns, if ``X`` had names.
    """

    takes_infinity: ClassVar[bool] = True
    """True if infinite numbers in ``X`` are allowed."""

    decision_prior: Priors = None

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: Weights = None, units: Units = None) -> Self:
        """Train on labelled trials.

        Parameters
        ----------
        X : (n_trials, n_columns) array_like
            Input; see the class of the estimator.
        y : (n_trials,) array_like
            Labels of at least two classes.
        sample_weight : (n_trials,) array_like, optional
            Weight of each trial within its class, at least 0; whole numbers count like copies. The proportions of the
            classes do not matter.
        units : (n_trials,) array_like or TrialUnits, optional
            Speaker or other unit of each trial: names or numbers. With units, training also estimates its uncertainty,
            if the model supports this: ``model_.parameter_covariance_``. Like other metadata, units are routed to
            estimators with ``set_fit_request(units=True)``.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If a number is NaN, columns and classes do not match, a class has no weight, a setting is out of range, or
            no finite map is optimal (for example with separated classes and no ``ridge``). It is a `ValueError`.
        """
        checked: tuple[AnyArray, AnyArray] = validate_data(self, X, y, **self._finite())
        _require_numbers(checked[0])
        check_classification_targets(checked[1])
        classes, label = np.unique(checked[1], return_inverse=True)
        if len(classes) < 2:
            raise InputError(f"y: all labels are {listed(classes)}, only one class. At least two are needed.")
        self._prior(len(classes))  # check the prior now, not at the first decision
        with renaming_arguments(loglik="X", features="X", label="y"):
            more = {"sample_weight": sample_weight, "units": units, "classes": _names(classes)}
            self.model_ = self._model().fit(self._scores(checked[0], len(classes)), label, **more)
        self.classes_ = classes
        return self

    def _finite(self) -> dict[str, Any]:
        return {"ensure_all_finite": False} if self.takes_infinity else {}

    def _scores(self, X: AnyArray, n_classes: int) -> AnyArray:
        """Return the input of the model: one column for each class."""
        if X.shape[1] != n_classes:
            raise InputError(
                f"X: {X.shape[1]} columns for {n_classes} classes. Columns are the log-likelihoods of the classes, in "
                "ascending order of labels; use GaussianBackend to convert features to log-likelihoods."
            )
        return X

    def transform(self, X: ArrayLike) -> FloatArray:
        """Return log-likelihoods of all classes, independent of the prior.

        Parameters
        ----------
        X : (n_trials, n_columns) array_like
            See `fit`.

        Returns
        -------
        (n_trials, n_classes) array
            In nats and in the order of ``classes_``; only differences within a trial matter.

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
        """Return `transform`; for two classes, the log-likelihood ratio of the second class, as scikit-learn expects.

        Parameters
        ----------
        X : (n_trials, n_columns) array_like
            See `fit`.

        Returns
        -------
        (n_trials, n_classes) or (n_trials,) array
            In nats.
        """
        loglik = self.transform(X)
        return multiclass.pairwise_llr(loglik, 1, 0) if loglik.shape[1] == 2 else loglik

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> AnyArray:  # noqa: ARG002
        """Return the names of the columns that `transform` returns.

        Parameters
        ----------
        input_features : array_like of str, optional
            Ignored.

        Returns
        -------
        (n_classes,) array of str
            ``loglik_`` followed by the label.
        """
        check_is_fitted(self)
        return np.array([f"loglik_{label}" for label in self.classes_], dtype=object)

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Return posterior probabilities of all classes at ``decision_prior``.

        Parameters
        ----------
        X : (n_trials, n_columns) array_like
            See `fit`.

        Returns
        -------
        (n_trials, n_classes) array
            In the order of ``classes_``. The proportions of the classes in the training data do not matter.
        """
        loglik = self.transform(X)
        return multiclass.posterior(loglik, prior=self._prior(loglik.shape[1]))

    def predict(self, X: ArrayLike) -> AnyArray:
        """Return Bayes decisions at ``decision_prior``, for equal costs of errors.

        Parameters
        ----------
        X : (n_trials, n_columns) array_like
            See `fit`.

        Returns
        -------
        (n_trials,) array
            The class of the largest posterior; in a tie, the first in ``classes_``.
        """
        posterior = self.predict_proba(X)  # refuses an estimator that was not trained
        return np.asarray(self.classes_[np.argmax(posterior, axis=1)])

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: Weights = None) -> float:
        """Return minus Cllr, so that larger is better: 0 is perfect, ``-log2 n_classes`` means no information.

        It is not the accuracy, which depends on the proportions of the classes.

        Parameters
        ----------
        X : (n_trials, n_columns) array_like
            See `fit`.
        y : (n_trials,) array_like
            Labels; all ``classes_`` occur, and no others.
        sample_weight : (n_trials,) array_like, optional
            Weight of each trial within its class.

        Returns
        -------
        float
            In bits.

        Raises
        ------
        InputError
            If a number is NaN, or the labels differ from training.
        """
        loglik = self.transform(X)
        labels, label = np.unique(np.asarray(y), return_inverse=True)
        self._require_same(labels)
        return -multiclass.cllr(loglik, label, sample_weight=sample_weight)

    def _prior(self, n_classes: int) -> FloatArray:
        """Return the prior of posteriors and decisions."""
        value = getattr(self, "prior", None) if self.decision_prior is None else self.decision_prior
        return _validate_classes.prior(value, n_classes, "prior" if self.decision_prior is None else "decision_prior")


def _names(classes: AnyArray) -> list[str] | None:
    """Return labels as names of classes in a model file, if they differ as text."""
    names = [str(label) for label in classes.tolist()]
    return names if len(set(names)) == len(names) else None


def _require_numbers(X: AnyArray) -> None:
    """Refuse NaN, with its position in ``X``, which a model does not know.

    Raises
    ------
    InputError
        If there is NaN.
    """
    if X.dtype.kind == "f" and not _validate.all_finite(X) and len(bad := np.argwhere(np.isnan(X))):
        row, column = bad[0]
        raise InputError(
            f"X: {len(np.unique(bad[:, 0]))} of {len(X)} rows contain NaN, the first in row {row}, column {column}. "
            "Infinite scores are allowed, NaN is not: drop these trials, or correct the scores."
        )


class MulticlassCalibrator(ClassEstimator):
    """Log-likelihoods ``scale * loglik + offset``; see `deciban.calibration.MulticlassCalibrator`.

    Parameters
    ----------
    prior : (n_classes,) array_like, optional
        Prior of the training objective, in the ascending order of labels; default: flat.
    ridge : float
        Penalty on the scale, for standardized scores. Without a penalty, separated classes are an error.
    decision_prior : (n_classes,) array_like, optional
        Prior of `predict_proba` and `predict`; default: ``prior``.

    Attributes
    ----------
    model_ : deciban.calibration.MulticlassCalibrator
        With ``scale_`` and ``offset_``.
    classes_, n_features_in_, feature_names_in_
        See `ClassEstimator`.

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


class MulticlassScaleCalibrator(MulticlassCalibrator):
    """Log-likelihoods ``scale * loglik``; see `deciban.calibration.MulticlassScaleCalibrator`.

    Parameters
    ----------
    prior : (n_classes,) array_like, optional
        Prior of the training objective, in the ascending order of labels; default: flat.
    ridge : float
        Penalty on the scale, for standardized scores. Without a penalty, separated classes are an error.
    decision_prior : (n_classes,) array_like, optional
        Prior of `predict_proba` and `predict`; default: ``prior``.

    Attributes
    ----------
    model_ : deciban.calibration.MulticlassScaleCalibrator
        With ``scale_``.
    classes_, n_features_in_, feature_names_in_
        See `ClassEstimator`.

    Notes
    -----
    ``X`` is the same as in `MulticlassCalibrator`.

    Examples
    --------
    >>> X = [[2, 0, -1], [1, 0.5, 0], [0.5, 1, 0], [0, 2, 0], [1, 0.5, 0.5], [0, 0, 1], [0, 0.4, 1.5], [0, 1, 0]]
    >>> calibrator = MulticlassScaleCalibrator().fit(X, ["de", "de", "de", "en", "en", "fr", "fr", "fr"])
    >>> calibrator.transform([[1.0, 0.0, 0.0]]).round(3)
    array([[1.475, 0.   , 0.   ]])
    """

    model_class = calibration.MulticlassScaleCalibrator


class MulticlassShiftCalibrator(ClassEstimator):
    """Log-likelihoods ``loglik + offset``; see `deciban.calibration.MulticlassShiftCalibrator`.

    Parameters
    ----------
    prior : (n_classes,) array_like, optional
        Prior of the training objective, in the ascending order of labels; default: flat.
    decision_prior : (n_classes,) array_like, optional
        Prior of `predict_proba` and `predict`; default: ``prior``.

    Attributes
    ----------
    model_ : deciban.calibration.MulticlassShiftCalibrator
        With ``offset_``.
    classes_, n_features_in_, feature_names_in_
        See `ClassEstimator`.

    Notes
    -----
    ``X`` is the same as in `MulticlassCalibrator`.

    Examples
    --------
    >>> X = [[2, 0, -1], [1, 0.5, 0], [0.5, 1, 0], [0, 2, 0], [1, 0.5, 0.5], [0, 0, 1], [0, 0.4, 1.5], [0, 1, 0]]
    >>> calibrator = MulticlassShiftCalibrator().fit(X, ["de", "de", "de", "en", "en", "fr", "fr", "fr"])
    >>> calibrator.transform([[1.0, 0.0, 0.0]]).round(3)
    array([[ 0.96 , -0.214,  0.254]])
    """

    model_class = calibration.MulticlassShiftCalibrator


class MulticlassFusion(ClassEstimator):
    """Log-likelihoods ``offset + sum_k weight_k loglik_k``; see `deciban.fusion.MulticlassFusion`.

    Parameters
    ----------
    prior : (n_classes,) array_like, optional
        Prior of the training objective, in the ascending order of labels; default: flat.
    ridge : float
        Penalty on the weights, for standardized scores. Without a penalty, separated classes are an error.
    offsets : bool
        Train an offset for each class.
    decision_prior : (n_classes,) array_like, optional
        Prior of `predict_proba` and `predict`; default: ``prior``.

    Attributes
    ----------
    model_ : deciban.fusion.MulticlassFusion
        With ``weights_`` and ``offset_``.
    classes_, n_features_in_, feature_names_in_
        See `ClassEstimator`.

    Notes
    -----
    ``X`` contains the log-likelihoods of the first system, then of the next, with one column for each class in
    ascending order of labels. `StackingClassifier` passes this form to its final estimator if there are more than two
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

    def _scores(self, X: AnyArray, n_classes: int) -> AnyArray:
        """Return the columns by system."""
        if X.shape[1] % n_classes:
            raise InputError(
                f"X: {X.shape[1]} columns for {n_classes} classes. Each system needs one column for each class, in "
                "ascending order of labels, and the columns of a system must be adjacent."
            )
        return X.reshape(len(X), -1, n_classes)


class GaussianBackend(ClassEstimator):
    """Log densities of Gaussian models of the classes; see `deciban.calibration.GaussianBackend`.

    Parameters
    ----------
    covariance : {"shared", "separate", "smoothed"}
        One covariance for all classes, one for each class, or a weighted mean of both.
    smoothing : float
        Weight of the shared covariance in the smoothed one, in [0, 1].
    ridge : float
        Added to each variance, in units of the shared variance of the feature.
    prior : (n_classes,) array_like, optional
        Weights of the classes in the shared covariance, in the ascending order of labels; default: flat.
    decision_prior : (n_classes,) array_like, optional
        Prior of `predict_proba` and `predict`; default: ``prior``.

    Attributes
    ----------
    model_ : deciban.calibration.GaussianBackend
        With ``mean_`` and ``covariance_``.
    classes_, n_features_in_, feature_names_in_
        See `ClassEstimator`.

    Notes
    -----
    ``X`` contains finite features of any kind. In a pipeline, `MulticlassCalibrator` can process the output directly.

    Examples
    --------
    >>> X = [[2.0, 0.1], [1.5, -0.4], [2.5, 0.6], [0.1, 2.0], [-0.4, 1.0], [0.5, 1.6], [-1, -1], [-2, -1.2]]
    >>> backend = GaussianBackend().fit(X, ["en", "en", "en", "fr", "fr", "fr", "de", "de"])
    >>> backend.predict([[1.0, 0.0], [-1.0, 0.0]])
    array(['en', 'de'], dtype='<U2')
    """

    model_class = calibration.GaussianBackend
    takes_infinity = False

    def _scores(self, X: AnyArray, n_classes: int) -> AnyArray:  # noqa: ARG002
        """Return all features."""
        return X


class ClassScaleTransformation(ClassEstimator):
    """Normalized log-likelihoods by a scale for each class; see `deciban.calibration.ClassScaleTransformation`.

    Parameters
    ----------
    prior : (n_classes,) array_like, optional
        Prior of the training objective, all above 0, in the ascending order of labels; default: flat.
    ridge : float
        Penalty on the scales, for standardized scores.
    toward_calibration : float
        Penalty on the difference from `MulticlassCalibrator`.
    decision_prior : (n_classes,) array_like, optional
        Prior of `predict_proba` and `predict`; default: ``prior``.

    Attributes
    ----------
    model_ : deciban.calibration.ClassScaleTransformation
        With ``scale_`` and ``offset_``.
    classes_, n_features_in_, feature_names_in_
        See `ClassEstimator`.

    Notes
    -----
    ``X`` is the same as in `MulticlassCalibrator`. The output for two classes depends on the scores of all others.

    Examples
    --------
    >>> X = [[2, 0, -1], [1, 0.5, 0], [0.5, 1, 0], [0, 2, 0], [1, 0.5, 0.5], [0, 0, 1], [0, 0.4, 1.5], [0, 1, 0]]
    >>> transformation = ClassScaleTransformation(ridge=0.1).fit(X, ["de", "de", "de", "en", "en", "fr", "fr", "fr"])
    >>> transformation.model_.scale_.round(2)
    array([1.4 , 0.21, 1.61])
    """

    model_class = calibration.ClassScaleTransformation


class MatrixTransformation(ClassEstimator):
    """Normalized log-likelihoods by a full matrix; see `deciban.calibration.MatrixTransformation`.

    Parameters
    ----------
    prior : (n_classes,) array_like, optional
        Prior of the training objective, all above 0, in the ascending order of labels; default: flat.
    ridge : float
        Penalty on the matrix, for standardized scores.
    toward_calibration : float
        Penalty on the difference from `MulticlassCalibrator`.
    decision_prior : (n_classes,) array_like, optional
        Prior of `predict_proba` and `predict`; default: ``prior``.

    Attributes
    ----------
    model_ : deciban.calibration.MatrixTransformation
        With ``matrix_`` and ``offset_``.
    classes_, n_features_in_, feature_names_in_
        See `ClassEstimator`.

    Notes
    -----
    ``X`` is the same as in `MulticlassCalibrator`, but finite. The output for two classes depends on the scores of all
    others.

    Examples
    --------
    >>> X = [[2, 0, -1], [1, 0.5, 0], [0.5, 1, 0], [0, 2, 0], [1, 0.5, 0.5], [0, 0, 1], [0, 0.4, 1.5], [0, 1, 0]]
    >>> transformation = MatrixTransformation(ridge=0.1).fit(X, ["de", "de", "de", "en", "en", "fr", "fr", "fr"])
    >>> transformation.transform([[1.0, 0.0, 0.0]]).round(2)
    array([[ 0.54, -0.24, -0.7 ]])
    """

    model_class = calibration.MatrixTransformation
    takes_infinity = False


class DetectionAffineTransformation(ClassEstimator):
    """Logistic regression of one class against the rest; see `deciban.calibration.DetectionAffineTransformation`.

    Parameters
    ----------
    prior : (n_classes,) array_like, optional
        Weights of the other classes in "all others", all above 0, in the ascending order of labels; default: flat.
    ridge : float
        Penalty on the scale of each detector, for standardized scores.
    decision_prior : (n_classes,) array_like, optional
        Prior of `predict_proba` and `predict`; default: ``prior``.

    Attributes
    ----------
    model_ : deciban.calibration.DetectionAffineTransformation
        With ``detectors_`` and ``detection_llr``.
    classes_, n_features_in_, feature_names_in_
        See `ClassEstimator`.

    Notes
    -----
    ``X`` is the same as in `MulticlassCalibrator`. Each detector is optimal for its own decision; the posteriors are
    normalized to sum 1.

    Examples
    --------
    >>> X = [[2, 0, -1], [1, 0.5, 0], [0.5, 1, 0], [0, 2, 0], [1, 0.5, 0.5], [0, 0, 1], [0, 0.4, 1.5], [0, 1, 0]]
    >>> transformation = DetectionAffineTransformation(ridge=0.01)
    >>> transformation = transformation.fit(X, ["de", "de", "de", "en", "en", "fr", "fr", "fr"])
    >>> transformation.predict([[1.0, 0.0, 0.0]])
    array(['de'], dtype='<U2')
    """

    model_class = calibration.DetectionAffineTransformation


class DetectionPavTransformation(ClassEstimator):
    """PAV of each detection log-likelihood ratio; see `deciban.calibration.DetectionPavTransformation`.

    Parameters
    ----------
    prior : (n_classes,) array_like, optional
        Weights of the other classes in "all others", all above 0, in the ascending order of labels; default: flat.
    interpolation, smoothing, bound
        See `PavCalibrator`; the default of ``smoothing`` is 1.
    decision_prior : (n_classes,) array_like, optional
        Prior of `predict_proba` and `predict`; default: ``prior``.

    Attributes
    ----------
    model_ : deciban.calibration.DetectionPavTransformation
        With ``detectors_`` and ``detection_llr``.
    classes_, n_features_in_, feature_names_in_
        See `ClassEstimator`.

    Notes
    -----
    ``X`` is the same as in `MulticlassCalibrator`. Each detector is optimal for its own decision; the posteriors are
    normalized to sum 1.

    Examples
    --------
    >>> X = [[2, 0, -1], [1, 0.5, 0], [0.5, 1, 0], [0, 2, 0], [1, 0.5, 0.5], [0, 0, 1], [0, 0.4, 1.5], [0, 1, 0]]
    >>> transformation = DetectionPavTransformation().fit(X, ["de", "de", "de", "en", "en", "fr", "fr", "fr"])
    >>> transformation.transform([[1.0, 0.0, 0.0]]).round(2)
    array([[ 0.59, -0.17,  0.12]])
    """

    model_class = calibration.DetectionPavTransformation
