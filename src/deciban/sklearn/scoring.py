"""Figures of merit in the order ``(y_true, score)``, their scorers, and the two labels of a detection problem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import make_scorer
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from deciban import metrics
from deciban._validate import arrays as _validate
from deciban.errors import InputError
from deciban.models.two_class import Labelled
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
        The label of targets, which large scores favour. Left out, it is the larger number, or the larger word if that
        is known for targets and the other one for non-targets (``"non"``, ``"tar"``).

    Returns
    -------
    float
        In bits; 0 is perfect, 1 is what no information reaches. Proportions of the classes do not matter.

    Raises
    ------
    InputError
        If there are not exactly two labels, words do not say which is that of targets, lengths differ, or a score is
        NaN.

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
        The label of targets, which large scores favour. Left out, it is the larger number, or the larger word if that
        is known for targets and the other one for non-targets (``"non"``, ``"tar"``).

    Returns
    -------
    float
        In bits, from 0 to 1.

    Raises
    ------
    InputError
        If there are not exactly two labels, words do not say which is that of targets, lengths differ, or a score is
        NaN.

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
        The label of targets, which large scores favour. Left out, it is the larger number, or the larger word if that
        is known for targets and the other one for non-targets (``"non"``, ``"tar"``).

    Returns
    -------
    float
        Of decisions at the Bayes threshold; normalized, a value above 1 is worse than no recognizer.

    Raises
    ------
    InputError
        If there are not exactly two labels, words do not say which is that of targets, lengths differ, a score is
        NaN, or the operating point is none.

    Examples
    --------
    >>> dcf([1, 0, 1, 0], [2.0, 0.0, 1.0, -1.0], p_target=0.5)
    0.5
    """
    point = metrics.OperatingPoint(p_target, c_miss, c_fa)
    trials = _by_class(y_true, score, sample_weight, pos_label)
    return float(metrics.act_dcf(**trials, p_target=point.p_target, c_miss=c_miss, c_fa=c_fa, normalize=normalize))


def scorer(metric: Callable[..., float], **options: Any) -> Any:
    """A scorer for ``scoring=`` of `GridSearchCV`, `cross_validate` and the like.

    Parameters
    ----------
    metric : function
        `cllr_score`, `min_cllr_score` or `dcf`.
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
    of_scores = _OfDecisionFunction(metric)
    return make_scorer(of_scores, response_method="decision_function", greater_is_better=False, **options)


def _by_class(y_true: ArrayLike, score: ArrayLike, sample_weight: ArrayLike | None, pos_label: Any) -> dict[str, Any]:
    """The arguments of a metric of two sets."""
    label = _validate.array(y_true, "y_true")
    if label.ndim != 1:
        raise InputError(f"y_true: expected one label per trial, got shape {label.shape}.")
    scores = _validate.scores(score, "score")
    if len(label) != len(scores):
        raise InputError(f"y_true, score: {len(label)} labels for {len(scores)} scores. Give one label per score.")
    known = two_classes(label, "y_true")
    if pos_label is not None and pos_label not in known:
        raise InputError(f"pos_label: {pos_label!r} is neither of the labels {listed(known)}.")
    if pos_label is None and known.dtype.kind not in "biuf":
        _require_known_words(known)
    is_target = label == (known[1] if pos_label is None else pos_label)
    weight = _validate.weights(sample_weight, len(scores), "sample_weight")
    return Labelled(scores, is_target, weight).as_sets(scores)


def _require_known_words(known: AnyArray) -> None:
    """Refuse to take the larger one of two words for that of targets, unless it is known to be.

    Raises
    ------
    InputError
    """
    from deciban.io.columns.headers import Vocabulary

    listed_words = [str(word) for word in known.tolist()]
    words = Vocabulary.of(None).within(listed_words)
    meant = [words.meaning(word) for word in listed_words]
    if meant != [False, True]:
        smaller, larger = known.tolist()
        why = (
            f"{smaller!r} is that of targets, but in the order of scikit-learn {larger!r} is"
            if meant == [True, False]
            else "nothing says which of them is that of targets"
        )
        raise InputError(
            f"y_true: the labels are {smaller!r} and {larger!r}, and {why}. Name the label that large scores favour: "
            f"pos_label={smaller!r}, or pos_label={larger!r}."
        )


class _OfDecisionFunction:
    """A metric for scorers: large values of a decision function favour the larger label, whatever it is called."""

    def __init__(self, metric: Callable[..., float]) -> None:
        self.metric = metric
        self.__name__ = metric.__name__

    def __call__(self, y_true: ArrayLike, score: ArrayLike, *, pos_label: Any = None, **options: Any) -> float:
        """The figure of a decision function, by default for ``classes_[1]``."""
        positive = two_classes(y_true, "y_true")[1] if pos_label is None else pos_label
        return self.metric(y_true, score, pos_label=positive, **options)


cllr_scorer = scorer(cllr_score)
"""Minus `cllr_score` of a decision function that is a log-likelihood ratio."""

min_cllr_scorer = scorer(min_cllr_score)
"""Minus `min_cllr_score` of any decision function."""
