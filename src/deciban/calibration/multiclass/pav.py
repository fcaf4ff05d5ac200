"""Detectors of many classes, each calibrated by itself like a problem of two classes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import classes as _validate_classes
from deciban.calibration.pav import PavCalibrator
from deciban.core.classes.loglik import row_blocks
from deciban.errors import TrialError
from deciban.models.labelled_classes import LabelledClasses
from deciban.models.model import Plain
from deciban.models.multiclass import NAMES, ClassMap
from deciban.multiclass import cross_entropy, detection_llrs
from deciban.types import FloatArray, ScoreArray

_DETECTOR = {
    "type": "object",
    "properties": PavCalibrator.parameter_schema,
    "required": list(PavCalibrator.parameter_schema),
    "additionalProperties": False,
}


class DetectionPavTransformation(ClassMap):
    """The best monotone map of the detection log-likelihood ratio of each class, one by one.

    For each class, the log-likelihood ratio against all others (van Leeuwen and Bruemmer 2006, eq. 9) is calibrated by
    `PavCalibrator`. What comes out for a class is the logarithm of its posterior then, less that of its prior.

    Parameters
    ----------
    prior : (n_classes,) array_like, optional
        How the other classes share in "all others", and the prior of the posteriors; all above 0, flat if not given.
    interpolation, smoothing, bound
        As of `PavCalibrator`, but ``smoothing`` is 1 if not given: a trial that all detectors reject for certain would
        have no class left.

    Attributes
    ----------
    detectors_ : list of PavCalibrator
        One for each class.
    objective_ : float
        Cross-entropy at the prior of the training trials, in nats.
    classes_, training_
        As of `MulticlassCalibrator`.

    Warns
    -----
    DecibanWarning
        Of `PavCalibrator`, with the name of the class.

    Notes
    -----
    This is what many did for language recognition, and no calibration of many classes (thesis 8.3.3, 8.5). The
    posteriors of the detectors do not sum to 1, they are forced to; each is best for its own question, alone. A
    threshold on a detection log-likelihood ratio mixes two things, discrimination and the calibration of the
    log-likelihoods that went into it, so PAV cannot tell one from the other as it does with two classes. On the
    language evaluation of 2007, one `MulticlassCalibrator` was better than detectors calibrated one by one in all four
    systems of the thesis. Of two classes, it is `PavCalibrator` of the differences where nothing is smoothed.

    Examples
    --------
    >>> loglik = [[2, 0, -1], [1, 0.5, 0], [0.5, 1, 0], [0, 2, 0], [1, 0.5, 0.5], [0, 0, 1], [0, 0.4, 1.5], [0, 1, 0]]
    >>> transformation = DetectionPavTransformation().fit(loglik, [0, 0, 0, 1, 1, 2, 2, 2])
    >>> transformation.detection_llr([[1.0, 0.0, 0.0]]).round(2)
    array([[ 1.1 , -0.25,  0.18]])
    >>> transformation.transform([[1.0, 0.0, 0.0]]).round(2)
    array([[ 0.59, -0.17,  0.12]])
    """

    kind: ClassVar[str] = "detection-pav"
    parameter_schema: ClassVar[dict[str, Any]] = {
        "classes": NAMES,
        "detectors": {"type": "array", "items": _DETECTOR, "minItems": 2},
    }

    def __init__(
        self,
        *,
        prior: ArrayLike | None = None,
        interpolation: Literal["linear", "step"] = "linear",
        smoothing: float = 1.0,
        bound: float | None = None,
    ) -> None:
        self._set_prior(prior)
        self.interpolation = interpolation
        self.smoothing = smoothing
        self.bound = bound
        self._detector()

    def _detector(self) -> PavCalibrator:
        return PavCalibrator(interpolation=self.interpolation, smoothing=self.smoothing, bound=self.bound)

    def _fit(self, data: LabelledClasses) -> Mapping[str, Plain]:
        llr, detectors = detection_llrs(data.scores, prior=data.prior), []
        for k, weight in enumerate(_weights(data)):
            detectors.append(self._detector())
            detectors[k].told_as = f"{type(self).__name__}, {_validate_classes.called(k, data.classes)}"
            detectors[k].fit(llr[:, k], data.label == k, sample_weight=weight)
        mapped = _joined(_mapped(llr, detectors), data.prior)  # in place: they are by far the most that is held
        objective = cross_entropy(mapped, data.label, prior=data.prior, sample_weight=data.weight)
        self.detectors_, self.objective_ = detectors, objective
        entropy = float(-(data.prior @ np.log(data.prior)))
        return {
            "objective": self.objective_,
            "objective_relative_to_llr_0": self.objective_ / entropy,
            "status": f"{sum(len(one.llr_) for one in detectors)} blocks of {data.n_classes} detectors",
        }

    def detection_llr(self, loglik: ArrayLike) -> FloatArray:
        """Calibrated log-likelihood ratio of each class against all others.

        Parameters
        ----------
        loglik : (n_trials, n_classes) array_like
            Classes in the order of training; may be infinite.

        Returns
        -------
        (n_trials, n_classes) array
            In nats.

        Raises
        ------
        InputError
            If it was not trained, a log-likelihood is NaN, or the number of classes is another one.
        """
        self.require_fitted()
        checked = self._checked_scores(loglik)
        self._require_same(checked)
        return _mapped(detection_llrs(checked, prior=self.prior), self.detectors_)

    def _transform(self, loglik: ScoreArray) -> FloatArray:
        llr = _mapped(detection_llrs(loglik, prior=self.prior), self.detectors_)
        return _joined(llr, _validate_classes.prior(self.prior, self.n_classes_))

    @property
    def n_classes_(self) -> int:
        """How many classes it maps."""
        return len(self.detectors_)

    def parameters(self) -> dict[str, Any]:
        """Names of the classes, and the blocks of each detector."""
        return {**super().parameters(), "detectors": [detector.parameters() for detector in self.detectors_]}

    def set_parameters(self, parameters: Mapping[str, Any]) -> None:
        """Take names and blocks from a file."""
        detectors = [self._detector() for _ in parameters["detectors"]]
        for detector, blocks in zip(detectors, parameters["detectors"], strict=True):
            detector.set_parameters(blocks)
        self.detectors_ = detectors
        self._set_names(parameters)


def _weights(data: LabelledClasses) -> Iterator[FloatArray]:
    """Weights of trials for each detector: the others share as the prior says, and weigh as much as they are many."""
    weight = np.ones(len(data.label)) if data.weight is None else data.weight.astype(np.float64)
    amounts, rest = np.bincount(data.label, weight, minlength=data.n_classes), _rest(data.prior)
    for k in range(data.n_classes):
        share = data.prior / rest[k] / amounts * (amounts.sum() - amounts[k])
        share[k] = 1.0
        yield weight * share[data.label]


def _rest(prior: FloatArray) -> FloatArray:
    """What the prior leaves to all others, of each class; as a sum, which keeps small numbers."""
    return np.array([math.fsum(np.delete(prior, k)) for k in range(len(prior))])


def _mapped(llr: FloatArray, detectors: Sequence[PavCalibrator]) -> FloatArray:
    """Calibrated detection log-likelihood ratios in place of the others."""
    for k, detector in enumerate(detectors):
        llr[:, k] = detector.transform(llr[:, k])
    return llr


def _joined(llr: FloatArray, prior: FloatArray) -> FloatArray:
    """Log-likelihoods made of calibrated detection log-likelihood ratios, in their place.

    Raises
    ------
    TrialError
        If a trial is rejected by all detectors for certain.
    """
    log_prior, log_rest = np.log(prior), np.log(_rest(prior))
    lost = np.zeros(len(llr), np.bool_)
    for rows in row_blocks(*llr.shape):
        log_posterior = -np.logaddexp(0.0, log_rest - log_prior - llr[rows])
        lost[rows] = np.isneginf(log_posterior).all(axis=1)
        llr[rows] = log_posterior - log_prior
    if lost.any():
        raise TrialError(
            f"loglik: all detectors reject {np.count_nonzero(lost)} trials for certain, the first ",
            int(np.argmax(lost)),
            ", so that no class is left. Train with smoothing=1 or a bound.",
        )
    return llr
