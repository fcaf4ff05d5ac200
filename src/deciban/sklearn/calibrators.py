"""The calibrators of `deciban.calibration` as scikit-learn estimators: the same settings, and what decisions need.

Bounds are the step after a calibrator in a pipeline.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from deciban import calibration, fusion
from deciban.sklearn.estimator import LlrEstimator, ScoreCalibrator
from deciban.types import AnyArray


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
