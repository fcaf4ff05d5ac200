"""Calibration by a straight line: scale and offset, or only one of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from deciban.errors import warn
from deciban.models.labelled import scores_alone, scores_as_they_are
from deciban.models.model import Uncertainty
from deciban.models.two_class import Calibrator, TrainedByRule, results_of
from deciban.models.uncertainty import ParameterCovariance
from deciban.types import FloatArray

if TYPE_CHECKING:
    from deciban.core.resampling.units import TrialUnits
    from deciban.core.training.linear_training import LinearFit
    from deciban.models.model import Plain

_FINITE = {"type": "number"}


class AffineCalibrator(TrainedByRule, Calibrator):
    """Log-likelihood ratio ``scale * score + offset`` (Bruemmer and Doddington 2013, eq. 16).

    Parameters
    ----------
    p_target : float
        Prior of the objective, in (0, 1): which operating points matter. Proportions of the data never do.
    alpha, beta : float
        Member of the beta family of proper scoring rules, each in [0.05, 100]. (1, 1) is the logarithmic rule, and
        training prior-weighted logistic regression; larger values look at a narrower range of thresholds.
        `suggest_rule` finds values for a range of operating points.
    ridge : float
        Half of it times the square of ``scale`` on standardized scores (divided by their prior-weighted standard
        deviation) is added to the objective. The offset is never penalized.

    Attributes
    ----------
    scale_, offset_ : float
        The map, in nats per unit of score and in nats.
    objective_ : float
        Expected cost at the optimum (Bruemmer and Doddington 2013, eq. 3), without the penalty; in nats for (1, 1).
    training_ : Training
        Counts of trials, a fingerprint of the data, and in ``results`` the objective, also relative to its value at
        llr 0, the length of the gradient, the numbers of steps and passes, and a status in words.
    parameter_covariance_ : (2, 2) array or None
        Of scale and offset by the draw of units, if ``fit`` was told them; 0 for what is not trained.

    Warns
    -----
    DecibanWarning
        If the scale is not positive, so that larger scores favour non-target; or if the optimum was not reached.

    Notes
    -----
    Separated classes have no optimum: they are refused, unless there is a penalty. So are scores that are all the same,
    but for rounding. Rules with ``alpha > 1`` or ``beta > 1`` are not convex: the search starts from the optimum of the
    logarithmic rule, from steeper and flatter ones, and from the best single threshold, and the best is taken. Where
    steeper and steeper maps are better still, none is the best: a warning and the status say so, with what these come
    down to, and the map is a local optimum.

    Examples
    --------
    >>> scores, is_target = [3.0, 1.0, 2.0, -1.0, 1.5, 0.0], [True, True, True, False, False, False]
    >>> calibrator = AffineCalibrator(p_target=0.5).fit(scores, is_target)
    >>> round(calibrator.scale_, 3), round(calibrator.offset_, 3)
    (1.977, -2.299)
    >>> calibrator.transform([2.0]).round(3)
    array([1.656])
    """

    kind: ClassVar[str] = "affine"
    parameter_schema: ClassVar[dict[str, Any]] = {"scale": _FINITE, "offset": _FINITE}

    def _fit(self, data: Any) -> Mapping[str, Plain]:
        fit = self._train(data.linear(scores_alone))
        self.scale_, self.offset_ = float(fit.weights[0]), fit.offset
        return self._results_of(fit)

    def _results_of(self, fit: LinearFit) -> Mapping[str, Plain]:
        if self.scale_ == 0.0:
            words = "the best scale is 0: the scores do not tell targets from non-targets"
        elif self.scale_ < 0.0:
            words = (
                f"the best scale is {self.scale_:.3g}: larger scores favour non-target here. If they are distances, or "
                "the labels are exchanged, negate the scores first"
            )
        else:
            return results_of(fit)
        warn(f"{self.told_as or type(self).__name__}: {words}.")
        return results_of(fit)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Scale and offset, whichever are trained."""
        return "scale", "offset"

    def _uncertainty(self, data: Any, units: TrialUnits) -> Uncertainty:
        given, weights = data.linear(scores_alone), np.array([self.scale_])
        return ParameterCovariance.of(self._influences(given, units, weights, self.offset_), units)

    def _slopes_of(self, scores: FloatArray) -> FloatArray:
        return np.column_stack((scores, np.ones(len(scores))))

    def _transform(self, scores: FloatArray) -> FloatArray:
        if self.scale_ == 0.0:
            return np.full(len(scores), self.offset_)  # infinite scores, too
        with np.errstate(over="ignore"):
            return self.scale_ * scores + self.offset_


class ShiftCalibrator(AffineCalibrator):
    """Log-likelihood ratio ``score + offset``: for scores that are right up to a constant.

    Parameters
    ----------
    p_target : float
        Prior of the objective, in (0, 1).
    alpha, beta : float
        Member of the beta family, as for `AffineCalibrator`.

    Attributes
    ----------
    scale_, offset_, objective_, training_
        As of `AffineCalibrator`, with ``scale_ = 1``.

    Examples
    --------
    >>> scores, is_target = [3.0, 1.0, 2.0, -1.0, 1.5, 0.0], [True, True, True, False, False, False]
    >>> ShiftCalibrator().fit(scores, is_target).transform([2.0]).round(3)
    array([0.888])
    """

    kind: ClassVar[str] = "shift"

    def __init__(self, *, p_target: float = 0.5, alpha: float = 1.0, beta: float = 1.0) -> None:
        super().__init__(p_target=p_target, alpha=alpha, beta=beta)

    def _fit(self, data: Any) -> Mapping[str, Plain]:
        fit = self._train(data.linear(scores_as_they_are))
        self.scale_, self.offset_ = 1.0, fit.offset
        return self._results_of(fit)

    def _uncertainty(self, data: Any, units: TrialUnits) -> Uncertainty:
        found = self._influences(data.linear(scores_as_they_are), units, np.zeros(0), self.offset_)
        changes = np.column_stack((np.zeros(len(found.values)), found.values))
        return ParameterCovariance.of(replace(found, values=changes), units)


class ScaleCalibrator(AffineCalibrator):
    """Log-likelihood ratio ``scale * score``: temperature scaling, the temperature is ``1 / scale``.

    Parameters
    ----------
    p_target : float
        Prior of the objective, in (0, 1).
    alpha, beta : float
        Member of the beta family, as for `AffineCalibrator`.
    ridge : float
        Penalty, as for `AffineCalibrator`.

    Attributes
    ----------
    scale_, offset_, objective_, training_
        As of `AffineCalibrator`, with ``offset_ = 0``.

    Examples
    --------
    >>> scores, is_target = [3.0, 1.0, 2.0, -1.0, 1.5, 0.0], [True, True, True, False, False, False]
    >>> ScaleCalibrator().fit(scores, is_target).transform([2.0]).round(3)
    array([1.652])
    """

    kind: ClassVar[str] = "scale"

    def _fit(self, data: Any) -> Mapping[str, Plain]:
        fit = self._train(data.linear(scores_alone), intercept=False)
        self.scale_, self.offset_ = float(fit.weights[0]), 0.0
        return self._results_of(fit)

    def _uncertainty(self, data: Any, units: TrialUnits) -> Uncertainty:
        given, weights = data.linear(scores_alone), np.array([self.scale_])
        found = self._influences(given, units, weights, 0.0, intercept=False)
        return ParameterCovariance.of(found, units)
