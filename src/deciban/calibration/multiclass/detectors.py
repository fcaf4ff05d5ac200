"""Detectors of many classes, each calibrated by itself like a problem of two classes."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import classes as _validate_classes
from deciban.calibration.affine import AffineCalibrator
from deciban.calibration.pav import PavCalibrator
from deciban.core.classes.loglik import row_blocks
from deciban.core.rules.expected import ClassCosts
from deciban.core.training.sums import Sums
from deciban.errors import TrialError
from deciban.models.labelled import LabelledClasses
from deciban.models.model import Plain
from deciban.models.multiclass import NAMES, ClassMap
from deciban.models.sources import SourceClasses
from deciban.models.two_class import Calibrator
from deciban.multiclass import detection_llrs
from deciban.multiclass.costs import mixed, surprises
from deciban.multiclass.tables import ScoredClasses
from deciban.trials.sources import Chunk, Piece, Wanted
from deciban.types import FloatArray, ScoreArray


def _schema_of(calibrator: type[Calibrator]) -> dict[str, Any]:
    """Schema of parameters in a file: names of classes, and the parameters of a detector for each."""
    own = calibrator.parameter_schema
    detector = {"type": "object", "properties": own, "required": list(own), "additionalProperties": False}
    return {"classes": NAMES, "detectors": {"type": "array", "items": detector, "minItems": 2}}


class _Detectors(ClassMap):
    """Calibrates the detection log-likelihood ratio of each class by itself, and joins what comes out.

    Attributes
    ----------
    detectors_ : list of Calibrator
    """

    detectors_: list[Calibrator]

    @abstractmethod
    def _detector(self, p_target: float) -> Calibrator:
        """An untrained calibrator of one class, with its prior."""

    @abstractmethod
    def _said(self) -> str:
        """What became of the detectors, in words."""

    def _fit(self, data: Any) -> Mapping[str, Plain]:
        detectors = [self._detector(float(p)) for p in data.prior]
        for k, one in enumerate(detectors):
            one.told_as = f"{type(self).__name__}, {_validate_classes.called(k, data.classes)}"
        self.objective_ = _train(data, detectors)
        self.detectors_ = detectors
        entropy = float(-(data.prior @ np.log(data.prior)))
        return {
            "objective": self.objective_,
            "objective_relative_to_llr_0": self.objective_ / entropy,
            "status": self._said(),
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

    @property
    def detector_maps(self) -> dict[str, Calibrator]:
        """The map of each class against the rest, by its name."""
        return dict(zip(self.counted, self.detectors_, strict=True))

    def parameters(self) -> dict[str, Any]:
        """Names of the classes, and the parameters of each detector."""
        return {**super().parameters(), "detectors": [detector.parameters() for detector in self.detectors_]}

    def set_parameters(self, parameters: Mapping[str, Any]) -> None:
        """Take names and parameters from a file."""
        detectors = [self._detector(0.5) for _ in parameters["detectors"]]  # trained already: no prior is needed
        for detector, values in zip(detectors, parameters["detectors"], strict=True):
            detector.set_parameters(values)
        self.detectors_ = detectors
        self._set_names(parameters)


class DetectionPavTransformation(_Detectors):
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
    parameter_schema: ClassVar[dict[str, Any]] = _schema_of(PavCalibrator)
    detectors_: list[PavCalibrator]  # type: ignore[assignment]  # of one kind

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
        self._detector(0.5)

    def _detector(self, p_target: float) -> PavCalibrator:  # noqa: ARG002  # the best map is best at each prior
        return PavCalibrator(interpolation=self.interpolation, smoothing=self.smoothing, bound=self.bound)

    def _said(self) -> str:
        return f"{sum(len(one.llr_) for one in self.detectors_)} blocks of {self.n_classes_} detectors"


class DetectionAffineTransformation(_Detectors):
    """Logistic regression of the detection log-likelihood ratio of each class, one by one (thesis 8.3.3, figure 8.4).

    For each class, the log-likelihood ratio against all others (van Leeuwen and Bruemmer 2006, eq. 9) is calibrated by
    `AffineCalibrator` at the prior of that class. What comes out for a class is the logarithm of its posterior then,
    less that of its prior.

    Parameters
    ----------
    prior : (n_classes,) array_like, optional
        How the other classes share in "all others", and the prior of each detector; all above 0, flat if not given.
    ridge : float
        Penalty on the scale of each, for standardized scores. Without one, a class that is separated from the others is
        an error.

    Attributes
    ----------
    detectors_ : list of AffineCalibrator
        One for each class.
    objective_ : float
        Cross-entropy at the prior of the training trials, in nats.
    classes_, training_
        As of `MulticlassCalibrator`.

    Warns
    -----
    DecibanWarning
        Of `AffineCalibrator`, with the name of the class.

    Notes
    -----
    One against the rest: what many do in place of `MulticlassCalibrator`, which has one scale and calibrates all
    classes together. Each detector is best for its own question, and their posteriors are forced to sum to 1; see
    `DetectionPavTransformation`. Of two classes it is `AffineCalibrator` of the differences.

    Examples
    --------
    >>> loglik = [[2, 0, -1], [1, 0.5, 0], [0.5, 1, 0], [0, 2, 0], [1, 0.5, 0.5], [0, 0, 1], [0, 0.4, 1.5], [0, 1, 0]]
    >>> transformation = DetectionAffineTransformation(ridge=0.01).fit(loglik, [0, 0, 0, 1, 1, 2, 2, 2])
    >>> transformation.detection_llr([[1.0, 0.0, 0.0]]).round(2)
    array([[ 1.62, -0.89, -0.59]])
    """

    kind: ClassVar[str] = "detection-affine"
    parameter_schema: ClassVar[dict[str, Any]] = _schema_of(AffineCalibrator)
    detectors_: list[AffineCalibrator]  # type: ignore[assignment]  # of one kind

    def __init__(self, *, prior: ArrayLike | None = None, ridge: float = 0.0) -> None:
        self._set_prior(prior)
        self.ridge = ridge
        self._detector(0.5)

    def _detector(self, p_target: float) -> AffineCalibrator:
        return AffineCalibrator(p_target=p_target, ridge=self.ridge)

    def parameter_numbers(self, classes: Sequence[str] = ()) -> list[tuple[str, str, float]]:
        """Scale and offset of each detector, by its class; see `ClassModel.parameter_numbers`."""
        named = list(zip(self.classes_ or tuple(classes), self.detectors_, strict=False))  # or none has a name
        scales = [("scale", name, float(one.scale_)) for name, one in named]
        return [*scales, *(("offset", name, float(one.offset_)) for name, one in named)]

    def _said(self) -> str:
        scales = [one.scale_ for one in self.detectors_]
        return f"scales from {min(scales):.3g} to {max(scales):.3g} of {self.n_classes_} detectors"


def _train(data: SourceClasses, detectors: Sequence[Calibrator]) -> float:
    """Train each detector, by passes over the segments where these are many, and return the objective."""
    prior, amounts = data.prior, data.look(partial(_amounts, data.n_classes)).total
    about: dict[str, Any] = {"classes": (), "has_weights": True, "is_double": True}
    llrs = data.source.map(partial(_detection_llrs, prior), has_units=False, are_units=False)  # once, if in memory
    for k, (detector, share) in enumerate(zip(detectors, _shares(amounts, prior), strict=True)):
        about["systems"] = llrs.classes[k : k + 1]
        detector.fit_pieces(llrs.map(partial(_of_detector, k, share), **about), data.engine, data.memory)
    del llrs  # which are by far the most that is held
    costs: ClassCosts = data.look(partial(_costs, prior, tuple(detectors)))
    return mixed(costs.of_class, prior)


def _amounts(n_classes: int, chunk: Chunk) -> Sums:
    """Sum up what the trials of each class weigh."""
    return Sums.of(np.bincount(chunk.labels, chunk.float_weight, n_classes))


def _detection_llrs(prior: FloatArray, piece: Piece, wanted: Wanted) -> Chunk:
    """Read segments with detection llrs in place of log-likelihoods."""
    chunk = piece.read(wanted)
    return replace(chunk, scores=tuple(detection_llrs(one, prior=prior) if len(one) else one for one in chunk.scores))


def _of_detector(target: int, share: FloatArray, piece: Piece, wanted: Wanted) -> Chunk:
    """Read segments as trials of one detector.

    Parameters
    ----------
    target : int
        Its class.
    share : (n_classes,) array
        What a segment of each class counts among its trials.
    piece : Piece
    wanted : Wanted
    """
    chunk = piece.read(replace(wanted, systems=(0,) if wanted.systems else (), truth=True, weight=True))
    scores = tuple(one[:, target] for one in chunk.scores) * len(wanted.systems)
    own = share[chunk.labels]
    weight = own if chunk.weight is None else own * chunk.weight
    return replace(chunk, scores=scores, truth=chunk.labels == target, weight=weight, units=None)


def _costs(prior: FloatArray, detectors: Sequence[Calibrator], chunk: Chunk) -> ClassCosts:
    """Sum up logarithmic costs of what trained detectors make of log-likelihoods."""
    data = LabelledClasses.of(chunk, prior)
    mapped = _joined(_mapped(detection_llrs(data.scores, prior=prior), detectors), prior)
    return ClassCosts(surprises(ScoredClasses(mapped, data.label, data.weight, None), prior))


def _shares(amounts: FloatArray, prior: FloatArray) -> Iterator[FloatArray]:
    """By how much weights are multiplied for each detector: others share as the prior says, and weigh as many."""
    rest = _rest(prior)
    for k in range(len(prior)):
        share: FloatArray = prior / rest[k] / amounts * (amounts.sum() - amounts[k])
        share[k] = 1.0
        yield share


def _rest(prior: FloatArray) -> FloatArray:
    """What the prior leaves to all others, of each class; as a sum, which keeps small numbers."""
    return np.array([math.fsum(np.delete(prior, k)) for k in range(len(prior))])


def _mapped(llr: FloatArray, detectors: Sequence[Calibrator]) -> FloatArray:
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
