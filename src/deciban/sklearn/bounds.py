"""Bounds on log-likelihood ratios as scikit-learn estimators: the step after a calibrator in a pipeline."""

from __future__ import annotations

from deciban import calibration
from deciban.sklearn.estimator import ScoreCalibrator


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

    def __init__(
        self,
        *,
        low: float | None = None,
        high: float | None = None,
        prior: float | None = None,
        column: int | str | None = None,
    ) -> None:
        self.low = low
        self.high = high
        self.prior = prior
        self.column = column


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

    def __init__(
        self, *, n_misleading: float = 1.0, prior: float | None = None, column: int | str | None = None
    ) -> None:
        self.n_misleading = n_misleading
        self.prior = prior
        self.column = column
