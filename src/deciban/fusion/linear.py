"""Fusion by a weighted sum of the scores of several systems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.errors import InputError
from deciban.fusion.fuser import LabelledSystems, combined, penalized, require_systems
from deciban.models.by_rule import results_of
from deciban.models.fusion import Fusion
from deciban.models.model import Training
from deciban.types import FloatArray


class LinearFusion(Fusion):
    """Log-likelihood ratio ``offset + sum_k weight_k score_k`` (BOSARIS paper, eq. 30 without quality).

    Parameters
    ----------
    p_target : float
        Prior of the objective, in (0, 1): which operating points matter. Proportions of the data never do.
    alpha, beta : float
        Member of the beta family of proper scoring rules, each in [0.05, 100]. (1, 1) is the logarithmic rule, and
        training prior-weighted logistic regression.
    ridge : float
        Half of it times the squares of the weights on standardized scores (each system divided by its prior-weighted
        standard deviation) is added to the objective. The offset is never penalized.

    Attributes
    ----------
    weights_ : (n_systems,) array
        Factor of each system's scores. May be negative: a system can tell what another one gets wrong.
    standardized_weights_ : (n_systems,) array
        The same for scores divided by their standard deviation (of many trials, that of an even sample of them): how
        much each system moves the result.
    offset_ : float
        In nats.
    objective_ : float
        Expected cost at the optimum, without the penalty.
    penalized_objective_ : float
        What training made as small as it could: the same with the penalty.
    training_ : Training
        Counts of trials, a fingerprint of the data, and in ``results`` how training went.

    Notes
    -----
    One system alone is calibrated: the result is that of `deciban.calibration.AffineCalibrator`. Systems that say the
    same share their weight, a system that is constant, but for rounding, gets weight 0, and classes that the systems
    separate together are refused unless there is a penalty. Where systems lack scores for some trials, see
    `SubsetFusion`; quality measures of both sides go into `QualityFusion`.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[3.0, 1.0], [1.0, 2.0], [2.0, -1.0], [-1.0, 1.0], [1.5, 0.0], [0.0, -2.0], [2.0, 0.5]])
    >>> is_target = np.array([True, True, True, False, False, False, False])
    >>> fusion = LinearFusion().fit(scores, is_target)
    >>> fusion.weights_.round(2), round(fusion.offset_, 2)
    (array([1.47, 0.7 ]), -2.33)
    >>> fusion.transform(scores[:2]).round(2)
    array([2.79, 0.55])
    """

    kind: ClassVar[str] = "linear-fusion"
    parameter_schema: ClassVar[dict[str, Any]] = {
        "weights": {"type": "array", "minItems": 1, "items": {"type": "number"}},
        "standardized_weights": {"type": "array", "items": {"type": "number"}},
        "offset": {"type": "number"},
    }

    weights_: FloatArray
    standardized_weights_: FloatArray
    offset_: float
    penalized_objective_: float

    def __init__(self, *, p_target: float = 0.5, alpha: float = 1.0, beta: float = 1.0, ridge: float = 0.0) -> None:
        self._set_rule(p_target=p_target, alpha=alpha, beta=beta, ridge=ridge)

    def fit(self, scores: ArrayLike, is_target: ArrayLike, *, sample_weight: ArrayLike | None = None) -> Self:
        """Train on labelled trials.

        Parameters
        ----------
        scores : (n_trials, n_systems) array_like
            Scores of all systems on the same trials; infinite ones stand for certainty.
        is_target : (n_trials,) array_like
            True (or 1) for targets, False (or 0) for non-targets.
        sample_weight : (n_trials,) array_like, optional
            Weight of each trial within its class, at least 0; whole numbers count like copies.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If a score is NaN, shapes do not fit, a class is empty, the classes are separated and there is no penalty,
            or infinite scores contradict each other or the truth.
        """
        data = LabelledSystems.of(scores, is_target, sample_weight)
        fit = self._train(data.scores, data.is_target, data.float_weight, reach=data.reach)
        self.weights_, self.standardized_weights_ = fit.weights, fit.standardized
        self.offset_ = fit.offset
        self.penalized_objective_ = penalized(fit, self.ridge)
        self.training_ = Training.on(data.scores, data.is_target, data.float_weight, results_of(fit))
        return self

    def transform(self, scores: ArrayLike) -> FloatArray:
        """Fuse the scores of trials.

        Parameters
        ----------
        scores : (n_trials, n_systems) array_like
            Systems in the order of training.

        Returns
        -------
        (n_trials,) array
            Log-likelihood ratios in nats.

        Raises
        ------
        InputError
            If the fusion was not trained, a score is NaN, the number of systems is another one, or systems contradict
            each other with infinite scores.
        """
        self.require_fitted()
        matrix = _validate.score_matrix(scores, "scores")
        require_systems(matrix, self.n_systems_)
        return combined(matrix, self.weights_, self.offset_)

    def fit_transform(
        self, scores: ArrayLike, is_target: ArrayLike, *, sample_weight: ArrayLike | None = None
    ) -> FloatArray:
        """Train on trials and fuse the same trials, which flatters the fusion; see `fit` and `transform`."""
        return self.fit(scores, is_target, sample_weight=sample_weight).transform(scores)

    @property
    def n_systems_(self) -> int:
        """How many systems it fuses."""
        return len(self.weights_)

    def parameters(self) -> dict[str, Any]:
        """Weights and offset."""
        return {
            "weights": self.weights_.tolist(),
            "standardized_weights": self.standardized_weights_.tolist(),
            "offset": self.offset_,
        }

    def set_parameters(self, parameters: Mapping[str, Any]) -> None:
        """Take weights and offset from a file."""
        self.weights_ = np.array(parameters["weights"], np.float64)
        self.standardized_weights_ = np.array(parameters["standardized_weights"], np.float64)
        if len(self.weights_) != len(self.standardized_weights_):
            raise InputError("weights and standardized_weights are not equally many.")
        self.offset_ = float(parameters["offset"])
