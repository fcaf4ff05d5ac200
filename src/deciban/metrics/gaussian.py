"""What figures ought to be: scores that are Gaussian in both classes with one variance (thesis 7.2, example 1)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import quad
from scipy.special import logit, ndtr, ndtri

from deciban._validate import arrays as _validate
from deciban.core.ranks.operating import OperatingPoint, detection_cost
from deciban.errors import InputError
from deciban.types import FloatArray

_WIDEST = 12.0
"""Standard deviations that integrals reach to either side."""

_FALLEN = 90.0
"""Nats of llr at which costs have fallen by e^45, and integrals need not reach farther."""


@dataclass(frozen=True, slots=True)
class GaussianScores:
    """Populations of scores whose figures are known: targets and non-targets with one standard deviation.

    Parameters
    ----------
    mean_tar, mean_non : float
        Of target and non-target scores, the former above the latter.
    sd : float
        Standard deviation of both, above 0.

    Raises
    ------
    InputError
        If they are out of range.

    Notes
    -----
    Log-likelihood ratios are a line of the score (thesis 7.1), so figures after calibration are those of
    ``llr(score)``: Gaussian too, with means ``+- d^2 / 2`` and variance ``d^2``. With other variances the ratio would
    not rise everywhere, and thresholds on scores would not be best.

    Examples
    --------
    >>> scores = GaussianScores(2.0, 0.0)
    >>> round(scores.eer(), 4), round(scores.min_cllr(), 4), scores.llr([1.0, 2.0]).tolist()
    (0.1587, 0.5141, [0.0, 2.0])
    """

    mean_tar: float
    mean_non: float
    sd: float = 1.0

    def __post_init__(self) -> None:
        numbers = _validate.finite([self.mean_tar, self.mean_non, self.sd], "mean_tar, mean_non, sd")
        if numbers[0] <= numbers[1] or numbers[2] <= 0:
            raise InputError(
                f"mean_tar, mean_non, sd: {numbers.tolist()}. Targets lie above non-targets, and sd is above 0."
            )

    @classmethod
    def of_eer(cls, eer: float) -> GaussianScores:
        """Calibrated log-likelihood ratios with an equal error rate inside (0, 0.5).

        Raises
        ------
        InputError
            If it is out of range.

        Examples
        --------
        >>> round(GaussianScores.of_eer(0.05).separation, 3)
        3.29
        """
        if not 0.0 < eer < 0.5:
            raise InputError(f"eer: {eer}. Targets lie above non-targets if it is inside (0, 0.5).")
        d = -2.0 * float(ndtri(eer))
        return cls(d * d / 2, -d * d / 2, d)

    @property
    def separation(self) -> float:
        """Distance of the means in standard deviations, ``d'``."""
        return (self.mean_tar - self.mean_non) / self.sd

    def llr(self, score: ArrayLike) -> FloatArray:
        """Log-likelihood ratios of scores in nats (thesis 7.1).

        Raises
        ------
        InputError
            If there is NaN.
        """
        scores = _validate.scores(np.atleast_1d(score), "score").astype(np.float64)
        return (scores - (self.mean_tar + self.mean_non) / 2) * (self.mean_tar - self.mean_non) / self.sd**2

    def p_miss(self, threshold: ArrayLike) -> FloatArray:
        """Miss rates at thresholds on the score (thesis 7.2)."""
        return np.asarray(ndtr((np.asarray(threshold, np.float64) - self.mean_tar) / self.sd))

    def p_fa(self, threshold: ArrayLike) -> FloatArray:
        """False-alarm rates at thresholds on the score (thesis 7.3)."""
        return np.asarray(ndtr((self.mean_non - np.asarray(threshold, np.float64)) / self.sd))

    def best_threshold(self, p_target: float, c_miss: float = 1.0, c_fa: float = 1.0) -> float:
        """Threshold on the score of least expected cost (thesis 7.5).

        Raises
        ------
        InputError
            If the operating point is out of range.
        """
        point = OperatingPoint(p_target, c_miss, c_fa)
        middle = (self.mean_tar + self.mean_non) / 2
        return middle + point.threshold * self.sd**2 / (self.mean_tar - self.mean_non)

    def min_dcf(self, p_target: float, c_miss: float = 1.0, c_fa: float = 1.0, *, normalize: bool = True) -> float:
        """Least detection cost at any threshold (thesis 7.6).

        Raises
        ------
        InputError
            If the operating point is out of range, or normalized where a cost is 0.

        Examples
        --------
        >>> round(GaussianScores(2.0, 0.0).min_dcf(0.5, normalize=False), 4)
        0.1587
        """
        threshold, log_odds = self.best_threshold(p_target, c_miss, c_fa), np.asarray(logit(p_target))
        rates = self.p_miss(threshold), self.p_fa(threshold)
        return float(detection_cost(*rates, log_odds, c_miss, c_fa, normalize=normalize))

    def eer(self) -> float:
        """Equal error rate, ``Phi(-d' / 2)``."""
        return float(ndtr(-self.separation / 2))

    def auc(self) -> float:
        """Chance that a target scores above a non-target, ``Phi(d' / sqrt 2)``."""
        return float(ndtr(self.separation / math.sqrt(2)))

    def min_cllr(self) -> float:
        """Cllr of the calibrated log-likelihood ratios, in bits, by numerical integration to a relative 1e-10."""
        d = self.separation

        def cost(u: float) -> float:
            # From where both densities agree, u standard deviations of the targets up: the cost by its size there.
            half = math.exp(-abs(d * u) / 2)
            far = math.log1p(half * half)
            return (far / half if u > 0.0 else (far - d * u) * half) * math.exp(-u * u / 2)

        reach = min(_WIDEST, _FALLEN / d)
        found = quad(cost, -reach, reach, epsabs=0.0, epsrel=1e-12, limit=200, points=[0.0])[0]
        return float(found) * math.exp(-d * d / 8) / math.sqrt(2 * math.pi) / math.log(2)

    def draw(self, n_tar: int, n_non: int, *, seed: int) -> tuple[FloatArray, FloatArray]:
        """Draw target and non-target scores.

        Parameters
        ----------
        n_tar, n_non : int
        seed : int

        Returns
        -------
        (n_tar,) and (n_non,) arrays
        """
        rng = np.random.default_rng(seed)
        return rng.normal(self.mean_tar, self.sd, n_tar), rng.normal(self.mean_non, self.sd, n_non)
