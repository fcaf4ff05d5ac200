"""What calibration loses: cross-entropy now, and after the best scale and offsets (thesis section 8.4.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike

from deciban.core.by_value import ByValue
from deciban.multiclass.costs import entropy, expected_surprise
from deciban.multiclass.infimum import Best, CalibrationLimits
from deciban.multiclass.tables import ScoredClasses
from deciban.types import FloatArray, Names, Priors, Weights


@dataclass(frozen=True, slots=True, eq=False)
class ClassCalibration(ByValue):
    """Cross-entropy of log-likelihoods as they are, and after the best maps ``scale * loglik + offset``, in bits.

    Attributes
    ----------
    total : float
        As they are: at the flat prior `cllr`.
    minimum : float
        After the best map, ``scale`` at least 0: the discrimination loss. Never above ``reference``. An infimum: the
        limit of cross-entropies of finite maps, whether or not one of them has it.
    after_offset_only, after_scale_only : float
        After the best offsets with scale 1, and after the best scale without offsets.
    reference : float
        Entropy of the prior: what a recognizer without information gets.
    scale : float
        Of the best map. Where none is best because the cost falls forever on the way to the infimum, that of a map that
        is all but there.
    offset : (n_classes,) array
        In nats; their mean is 0.
    """

    total: float
    minimum: float
    after_offset_only: float
    after_scale_only: float
    reference: float
    scale: float
    offset: FloatArray

    @classmethod
    def of(cls, total: float, both: Best, scaled: Best, shifted: Best, prior: FloatArray) -> ClassCalibration:
        """From cross-entropies in nats: as they are, with scale and offsets, and with one of these."""
        return cls(
            total=total / math.log(2),
            minimum=both.cost / math.log(2),
            after_offset_only=shifted.cost / math.log(2),
            after_scale_only=scaled.cost / math.log(2),
            reference=entropy(prior) / math.log(2),
            scale=both.scale,
            offset=both.offset,
        )

    @property
    def loss(self) -> float:
        """Calibration loss: what the best scale and offsets together save, at least 0."""
        return _saved(self.total, self.minimum)

    @property
    def offset_loss(self) -> float:
        """What offsets alone save."""
        return _saved(self.total, self.after_offset_only)

    @property
    def scale_loss(self) -> float:
        """What a scale alone saves. Both alone may save more or less than both together."""
        return _saved(self.total, self.after_scale_only)

    @property
    def loss_after_offset_only(self) -> float:
        """Calibration loss that offsets alone leave."""
        return _saved(self.after_offset_only, self.minimum)

    @property
    def loss_after_scale_only(self) -> float:
        """Calibration loss that a scale alone leaves."""
        return _saved(self.after_scale_only, self.minimum)


def _saved(before: float, after: float) -> float:
    return 0.0 if before == after else max(before - after, 0.0)  # inf less inf is nothing saved


def min_cllr(loglik: ArrayLike, label: ArrayLike, *, sample_weight: Weights = None, classes: Names = None) -> float:
    """`cllr` after the best scale and offsets on the same trials, in bits (paper 001 section 4.1).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. Infinite values are legal.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    float
        At most ``log2 n_classes``, and never above `cllr`. Two classes have less freedom here than in
        `deciban.metrics.min_cllr`, where any increasing map is allowed.

    Raises
    ------
    InputError
        If there is NaN, a label is no class, or a class has no trial.

    Examples
    --------
    >>> loglik = [[2.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.5, 1.5], [1.0, 1.5, 0.0]]
    >>> round(min_cllr(loglik, [0, 1, 2, 2]), 4)
    0.7201
    """
    trials = ScoredClasses.of_metric(loglik, label, sample_weight, classes)
    prior = trials.prior(None)
    return CalibrationLimits.of(trials, prior, expected_surprise(trials, prior)).least().cost / math.log(2)


def calibration_analysis(
    loglik: ArrayLike, label: ArrayLike, *, prior: Priors = None, sample_weight: Weights = None, classes: Names = None
) -> ClassCalibration:
    """Split cross-entropy into what discrimination and what calibration loses (thesis eqs. 8.22 to 8.25).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. Infinite values are legal: scales above 0 leave
        them infinite, however small they are. Scale 0 throws everything away, which is best where an infinite one says
        the opposite of the truth.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    prior : (n_classes,) array_like, optional
        Probabilities, flat when left out; classes of prior 0 drop out with their trials.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    ClassCalibration

    Raises
    ------
    InputError
        If there is NaN, a label is no class, a class of positive prior has no trial, or the prior is not one.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> label = rng.integers(0, 3, 1000)
    >>> calibrated = 3.0 * np.eye(3)[label] + rng.normal(size=(1000, 3)) * np.sqrt(3.0)
    >>> found = calibration_analysis(2.0 * calibrated + [1.0, 0.0, -1.0], label)
    >>> round(found.scale, 1), found.loss > found.scale_loss > found.offset_loss > 0
    (0.5, True)
    """
    trials = ScoredClasses.of_metric(loglik, label, sample_weight, classes)
    checked = trials.prior(prior)
    return calibration_analysis_of(trials, checked, expected_surprise(trials, checked))


def calibration_analysis_of(trials: ScoredClasses, prior: FloatArray, total: float) -> ClassCalibration:
    """`calibration_analysis` of checked trials, with their cross-entropy in nats."""
    limits = CalibrationLimits.of(trials, prior, total)
    return ClassCalibration.of(total, limits.least(), limits.least(offset=False), limits.least(scale=False), prior)
