"""Figures of merit in the order ``(y_true, score)``, their scorers, and the two labels of a detection problem."""

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
from deciban.types import AnyArray


def two_classes(labels: ArrayLike, name: str) -> AnyArray:
    """Return the two different labels in ascending order, as ``classes_`` has them.

    Raises
    ------
    InputError
        If there are more, or only one, or some are NaN, infinite or of another kind than the rest.
    ValueError
        From scikit-learn, in its words, if these are no class labels at all: fractions, or several per trial.
    """
    given = np.asarray(labels)
    if given.dtype.kind == "f" and not np.isfinite(given).all():
        raise InputError(f"{name}: {np.count_nonzero(~np.isfinite(given))} labels are NaN or infinite.")
    try:
        check_classification_targets(given)
        kind = type_of_target(given, input_name=name, raise_unknown=True)
    except TypeError as error:
        raise InputError(f"{name}: labels of different kinds, which have no order: {error}.") from error
    if kind != "binary":  # the words are those that scikit-learn asks for
        raise InputError(f"{name}: Only binary classification is supported. The type of the target is {kind}.")
    found = np.unique(given)
    if len(found) < 2:
        raise InputError(f"{name}: all labels are {listed(found)}, one class. Two different ones are needed.")
    return found


def listed(labels: AnyArray) -> str:
    """The labels as people write them."""
    return ", ".join(map(repr, labels.tolist()))


def cllr_score(
    y_true: ArrayLike, score: ArrayLike, *, sample_weight: ArrayLike | None = None, pos_label: Any = None
) -> float:
    """Cost of log-likelihood ratios, `deciban.metrics.cllr` in the order of scikit-learn.

    Parameters
    ----------
    y_true : (n_trials,) array_like
        Two different labels.
    score : (n_trials,) array_like
        Log-likelihood ratios in nats.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class.
    pos_label : int, float, bool or str, optional
        The label of targets, which large scores favour. If not given: the larger of two numbers, as in ``classes_``;
        of words the one that means target, such as ``"target"`` or ``"bonafide"``, other words are refused.

    Returns
    -------
    float
        In bits; 0 is perfect, 1 is what no information reaches. Proportions of the classes do not matter.

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
    y_true: ArrayLike, score: ArrayLike, *, sample_weight: ArrayLike | None = None, pos_label: Any = None
) -> float:
    """Cllr after the best monotone recalibration, `deciban.metrics.min_cllr` in the order of scikit-learn.

    Parameters
    ----------
    y_true : (n_trials,) array_like
        Two different labels.
    score : (n_trials,) array_like
        Any scores that are larger for targets.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class.
    pos_label : int, float, bool or str, optional
        The label of targets, which large scores favour. If not given: the larger of two numbers, as in ``classes_``;
        of words the one that means target, such as ``"target"`` or ``"bonafide"``, other words are refused.

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
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Actual detection cost of log-likelihood ratios, `deciban.metrics.act_dcf` in the order of scikit-learn.

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
        The label of targets, which large scores favour. If not given: the larger of two numbers, as in ``classes_``;
        of words the one that means target, such as ``"target"`` or ``"bonafide"``, other words are refused.

    Returns
    -------
    float
        Of decisions at the Bayes threshold; normalized, a value above 1 is worse than no recognizer.

    Raises
    ------
    InputError
        If there are not exactly two labels, or words of unknown meaning, lengths differ, a score is NaN, or the
        operating point is none.

    Examples
    --------
    >>> dcf([1, 0, 1, 0], [2.0, 0.0, 1.0, -1.0], p_target=0.5)
    0.5
    """
    point = metrics.OperatingPoint(p_target, c_miss, c_fa)
    trials = _by_class(y_true, score, sample_weight, pos_label)
    return float(metrics.act_dcf(**trials, p_target=point.p_target, c_miss=c_miss, c_fa=c_fa, normalize=normalize))


def eer_score(
    y_true: ArrayLike, score: ArrayLike, *, sample_weight: ArrayLike | None = None, pos_label: Any = None
) -> float:
    """Equal error rate on the convex hull of the ROC, `deciban.metrics.eer` in the order of scikit-learn.

    Parameters
    ----------
    y_true, score, sample_weight, pos_label
        As in `min_cllr_score`.

    Returns
    -------
    float
        A fraction, from 0 to 0.5.

    Raises
    ------
    InputError
        As in `min_cllr_score`.

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
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Detection cost at the best threshold, `deciban.metrics.min_dcf` in the order of scikit-learn.

    Parameters
    ----------
    y_true, sample_weight, pos_label
        As in `dcf`.
    score : (n_trials,) array_like
        Any scores that are larger for targets.
    p_target, c_miss, c_fa, normalize
        As in `dcf`.

    Returns
    -------
    float
        Normalized, at most 1.

    Raises
    ------
    InputError
        As in `dcf`.

    Examples
    --------
    >>> min_dcf([1, 0, 1, 0], [0.2, 0.3, 0.4, 0.1], p_target=0.5)
    0.5
    """
    point = metrics.OperatingPoint(p_target, c_miss, c_fa)
    trials = _by_class(y_true, score, sample_weight, pos_label)
    return float(metrics.min_dcf(**trials, p_target=point.p_target, c_miss=c_miss, c_fa=c_fa, normalize=normalize))


def scorer(metric: Callable[..., float], **options: Any) -> Any:
    """A scorer for ``scoring=`` of `GridSearchCV`, `cross_validate` and the like.

    Parameters
    ----------
    metric : function
        `cllr_score`, `min_cllr_score`, `eer_score`, `dcf` or `min_dcf`, or another one of these arguments.
    **options
        Its keyword arguments, such as the operating point of `dcf`, or ``pos_label``.

    Returns
    -------
    callable
        ``scorer(estimator, X, y)`` is minus the figure of ``estimator.decision_function(X)``, so that more is better.
        ``set_score_request(sample_weight=True)`` makes it ask for weights.

    Notes
    -----
    Large values of a decision function favour ``classes_[1]``, so that scorers take the larger label for that of
    targets, even if it is a word for non-targets; ``pos_label`` turns both round.

    `cllr_score` and `dcf` take the values of ``decision_function`` for log-likelihood ratios. Those of the calibrators
    are; those of a `LogisticRegression` are log posterior odds at the proportions of its training data.

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
    """A figure of what scorers hand over: a decision function, which favours the larger label, whatever it means."""

    figure: Callable[..., float]

    @property
    def __name__(self) -> str:
        return str(getattr(self.figure, "__name__", self.figure))

    def __call__(self, y_true: ArrayLike, score: ArrayLike, *, sample_weight: Any = None, **options: Any) -> float:
        if options.get("pos_label") is None:
            larger = two_classes(y_true, "y_true")[1]
            if self.figure in _OF_POINTS and target_label(y_true, None, "y_true") != larger:
                raise InputError(
                    "pos_label: costs depend on which label is that of the targets, and scikit-learn puts "
                    f"{larger!r} there. Say it: scorer({self.__name__}, pos_label=...)."
                )
            options["pos_label"] = larger
        return self.figure(y_true, score, sample_weight=sample_weight, **options)


_OF_POINTS = (dcf, min_dcf)
"""Figures that change if the classes change places."""


cllr_scorer = scorer(cllr_score)
"""Minus `cllr_score` of a decision function that is a log-likelihood ratio."""

min_cllr_scorer = scorer(min_cllr_score)
"""Minus `min_cllr_score` of any decision function."""

eer_scorer = scorer(eer_score)
"""Minus `eer_score` of any decision function."""


def target_label(labels: ArrayLike, pos_label: Any, name: str) -> Any:
    """The label of the targets: the one that was named, the larger of two numbers, or the word that means it.

    Raises
    ------
    InputError
        If there are not two labels, the one that was named is none of them, or nobody knows what the words mean.

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
            f"{name}: which of the words {listed(np.array(known))} is that of the targets, which large scores favour? "
            f"Say it: pos_label={known[1]!r}, for example."
        )
    return known[means.index(True)]


def _by_class(y_true: ArrayLike, score: ArrayLike, sample_weight: ArrayLike | None, pos_label: Any) -> dict[str, Any]:
    """The arguments of a metric of two sets."""
    label = _validate.array(y_true, "y_true")
    if label.ndim != 1:
        raise InputError(f"y_true: expected one label per trial, got shape {label.shape}.")
    scores = _validate.scores(score, "score")
    if len(label) != len(scores):
        raise InputError(f"y_true, score: {len(label)} labels for {len(scores)} scores. Give one label per score.")
    if label.dtype.kind == "f" and len(np.unique(label)) > 2 >= len(np.unique(scores)):
        raise InputError(
            "y_true, score: the first is no labels, but the second could be. The order is that of scikit-learn: "
            "labels first, then scores."
        )
    is_target = label == target_label(label, pos_label, "y_true")
    weight = _validate.weights(sample_weight, len(scores), "sample_weight")
    return Chunk((scores,), is_target, weight=weight).as_sets()
