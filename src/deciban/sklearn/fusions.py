"""The linear fusion of `deciban.fusion` as a scikit-learn estimator: systems are the columns of ``X``."""

from __future__ import annotations

from dataclasses import dataclass

from deciban import fusion
from deciban.sklearn.estimator import LlrEstimator
from deciban.types import AnyArray


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
