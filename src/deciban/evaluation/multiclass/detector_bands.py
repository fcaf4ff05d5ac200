"""Standard errors of the Bayes error curves of detectors, each class against the rest: at all priors from one table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit

from deciban.core.resampling.class_design import ClusterDesign
from deciban.core.resampling.class_means import ClassMeans
from deciban.core.resampling.class_shares import SharesBelow
from deciban.core.resampling.rates import RatePart, RateSum
from deciban.core.resampling.variances import correlation_of_sums
from deciban.evaluation.bands import Bands
from deciban.evaluation.multiclass.detector_costs import detector_groups
from deciban.evaluation.uncertainty import Figure
from deciban.types import FloatArray, IntArray

if TYPE_CHECKING:
    from deciban.evaluation.multiclass.detector_costs import DetectorInCells
    from deciban.evaluation.multiclass.result import ClassEvaluation


class BandErrors:
    """Error rates of detectors with their variances at some priors, from squares of influences.

    Parameters
    ----------
    found : ClassEvaluation
    design : ClusterDesign
    rivals : (n_classes,) array
        Prior of the classes as rivals.
    n_units : int
        Units, or groups of them, whose influences are squared.

    Attributes
    ----------
    rates : dict of ("detectors", class, curve) to (places, RateSum)
        Of detectors whose target and rivals have enough units.
    """

    def __init__(self, found: ClassEvaluation, design: ClusterDesign, rivals: FloatArray, n_units: int) -> None:
        self.found, self.design, self.rivals = found, design, rivals
        self._axis = found.curves.detector_log_odds[:: Bands.STEP]
        p_target = expit(self._axis)
        self.weights = np.stack((p_target, 1.0 - p_target))
        self.log_odds = np.asarray(logit(p_target))  # as the curves have them, to the last digit
        self._factor = n_units / (n_units - 1)
        self.rates: dict[Figure, tuple[FloatArray, RateSum]] = {}

    @property
    def thresholds(self) -> FloatArray:
        """Those at which decisions of a detector must be known."""
        return np.asarray(-self.log_odds)

    @property
    def factors(self) -> FloatArray:
        """By which shares below thresholds of targets and of others are multiplied: others cost if they are above."""
        return np.asarray(self.weights * np.array([[1.0], [-1.0]]))

    def add_squares(self, target: int, squares: FloatArray, rates: FloatArray) -> None:
        """Add a detector.

        Parameters
        ----------
        target : int
        squares : (3, n_curves, n_priors) array
            Through both classes, targets, and others; of actual and least errors, or without these if not known.
        rates : (n_curves, 2, n_priors) array
            Misses and false alarms at the thresholds.
        """
        groups = detector_groups(self.rivals, target)
        if not self.design.has_enough(groups):
            return
        sizes = [self.design.size(own) for own in groups.weights]
        for k, name in zip(range(len(rates)), ("act_error", "min_error"), strict=False):
            total, by_side = squares[0, k], squares[1:, k]
            parts = tuple(
                (RatePart(weight, rate, self._factor * own / np.square(weight), size),)
                for weight, rate, own, size in zip(self.weights, rates[k], by_side, sizes, strict=True)
            )
            key = ("detectors", self.found.classes[target], name)
            self.rates[key] = self._axis, RateSum(parts, between=correlation_of_sums(by_side, total))


class DetectorBands(BandErrors):
    """The same of trials in memory, one detector after the other.

    Parameters
    ----------
    found : ClassEvaluation
    means : ClassMeans
    rivals : (n_classes,) array
        Prior of the classes as rivals.
    """

    def __init__(self, found: ClassEvaluation, means: ClassMeans, rivals: FloatArray) -> None:
        self.shares = SharesBelow(means, Bands.MOST_UNITS)
        n_units = means.n_units if means.are_single else min(means.n_units, self.shares.n_units)
        super().__init__(found, means.design, rivals, n_units)

    def add(self, one: DetectorInCells) -> None:
        """Add a detector."""
        act, (least,) = one.cells.positions(self.thresholds), one.linear.best.positions(self.log_odds)
        at = np.stack((act, least))
        below = [np.append(0, np.cumsum(n))[at] / n.sum() for n in (one.linear.n_tar, one.linear.n_non)]
        self.add_squares(one.target, self._squares(one, at), np.stack((below[0], 1.0 - below[1]), axis=1))

    def _squares(self, one: DetectorInCells, at: IntArray) -> FloatArray:
        """Squares of influences at each prior, (3, n_curves, n_priors), where so many cells are rejected."""
        known, rows = np.unique(at, return_inverse=True)
        table = np.searchsorted(known, np.arange(one.cells.n_cells), side="right")
        own, last = one.own, len(one.cell)
        sides = [[own], [slice(0, own.start), slice(own.stop, last)]]
        return self.shares.squares(
            lambda some: [table[one.cell[some]]], len(known), one.share, sides, self.factors, rows.reshape(at.shape)
        )
