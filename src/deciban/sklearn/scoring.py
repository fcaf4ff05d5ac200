"""Metrics with the arguments ``(y_true, score)``, their scorers, and the two labels of a detection problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import make_scorer
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from deciban import metrics
from deciban._validate import arrays as _validate
from deciban._validate.arrays import Vocabulary
from deciban.errors import InputError
from deciban.trials.sources import Chunk
from deciban.types import AnyArray, Weights


def two_classes(labels: ArrayLike, name: str) -> AnyArray:
    """Return the two different labels in ascending order, as in ``classes_``.

    Raises
    ------
    InputError
        If there are more labels, or only one, or labels are NaN, infinite or of different types.
    ValueError
        From scikit-learn, if these are not class labels: fractions, or several per trial.
    """
    given = np.asarray(labels)
    if given.dtype.kind == "f" and not np.isfinite(given).all():
        raise InputError(f"{name}: {np.count_nonzero(~np.isfinite(given))} labels are NaN or infinite.")
    try:
        check_classification_targets(given)
        kind = type_of_target(given, input_name=name, raise_unknown=True)
    except TypeError as error:
        raise InputError(f"{name}: labels of different types have no order: {error}.") from error
    if kind != "binary":  # the wording that scikit-learn requires
        raise InputError(f"{name}: Only binary classification is supported. The type of the target is {kind}.")
    found = np.unique(given)
    if len(found) < 2:
        raise InputError(f"{name}: all labels are {listed(found)}, only one class. Two are needed.")
    return found


def listed(labels: AnyArray) -> str:
    """Return the labels as text."""
    return ", ".join(map(repr, labels.tolist()))


def cllr_score(y_true: ArrayLike, score: ArrayLike, *, sample_weight: Weights = None, pos_label: Any = None) -> float:
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
    y_true: ArrayLike, score: ArrayLike, *, sample_weight: Weights = None, pos_label: Any = None
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
    pos_label: Any = None,
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


def eer_score(y_true: ArrayLike, score: ArrayLike, *, sample_weight: Weights = None, pos_label: Any = None) -> float:
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
    pos_label: Any = None,
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


def scorer(metric: Callable[..., float], **options: Any) -> Any:
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

    figure: Callable[..., float]

    @property
    def __name__(self) -> str:
        return str(getattr(self.figure, "__name__", self.figure))

    def __call__(self, y_true: ArrayLike, score: ArrayLike, *, sample_weight: Any = None, **options: Any) -> float:
        if options.get("pos_label") is None:
            larger = two_classes(y_true, "y_true")[1]
            if self.figure in _OF_POINTS and target_label(y_true, None, "y_true") != larger:
                raise InputError(
                    "pos_label: costs depend on the label of the targets, and scikit-learn uses "
                    f"{larger!r}. Pass it explicitly: scorer({self.__name__}, pos_label=...)."
                )
            options["pos_label"] = larger
        return self.figure(y_true, score, sample_weight=sample_weight, **options)


_OF_POINTS = (dcf, min_dcf)
"""Metrics that change if the classes are exchanged."""


cllr_scorer = scorer(cllr_score)
"""Minus `cllr_score` of a decision function that is a log-likelihood ratio."""

min_cllr_scorer = scorer(min_cllr_score)
"""Minus `min_cllr_score` of any decision function."""

eer_scorer = scorer(eer_score)
"""Minus `eer_score` of any decision function."""


def target_label(labels: ArrayLike, pos_label: Any, name: str) -> Any:
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


def _by_class(y_true: ArrayLike, score: ArrayLike, sample_weight: Weights, pos_label: Any) -> dict[str, Any]:
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
    return Chunk((scores,), is_target, weight=weight).as_sets()
