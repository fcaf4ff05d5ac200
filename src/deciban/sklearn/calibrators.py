"""The calibrators of `deciban.calibration` as scikit-learn estimators: the same settings, and what decisions need."""

from __future__ import annotations

from typing import Literal

from deciban import calibration
from deciban.sklearn.estimator import ScoreCalibrator


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

    def __init__(
        self,
        *,
        p_target: float = 0.5,
        alpha: float = 1.0,
        beta: float = 1.0,
        ridge: float = 0.0,
        prior: float | None = None,
        column: int | str | None = None,
    ) -> None:
        self.p_target = p_target
        self.alpha = alpha
        self.beta = beta
        self.ridge = ridge
        self.prior = prior
        self.column = column


class ScaleCalibrator(ScoreCalibrator):
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

    def __init__(
        self,
        *,
        p_target: float = 0.5,
        alpha: float = 1.0,
        beta: float = 1.0,
        ridge: float = 0.0,
        prior: float | None = None,
        column: int | str | None = None,
    ) -> None:
        self.p_target = p_target
        self.alpha = alpha
        self.beta = beta
        self.ridge = ridge
        self.prior = prior
        self.column = column


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

    def __init__(
        self,
        *,
        p_target: float = 0.5,
        alpha: float = 1.0,
        beta: float = 1.0,
        prior: float | None = None,
        column: int | str | None = None,
    ) -> None:
        self.p_target = p_target
        self.alpha = alpha
        self.beta = beta
        self.prior = prior
        self.column = column


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

    def __init__(
        self,
        *,
        interpolation: Literal["linear", "step"] = "linear",
        smoothing: float = 0.0,
        bound: float | None = None,
        prior: float | None = None,
        column: int | str | None = None,
    ) -> None:
        self.interpolation = interpolation
        self.smoothing = smoothing
        self.bound = bound
        self.prior = prior
        self.column = column


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

    def __init__(
        self,
        *,
        shared_variance: bool = True,
        p_target: float = 0.5,
        prior: float | None = None,
        column: int | str | None = None,
    ) -> None:
        self.shared_variance = shared_variance
        self.p_target = p_target
        self.prior = prior
        self.column = column


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

    def __init__(
        self,
        *,
        p_target: float = 0.5,
        ridge: float = 0.0,
        scores: Literal["probability", "log_odds"] = "probability",
        prior: float | None = None,
        column: int | str | None = None,
    ) -> None:
        self.p_target = p_target
        self.ridge = ridge
        self.scores = scores
        self.prior = prior
        self.column = column
