"""Standard errors of the Bayes error curves of detectors, each class against the rest: at all priors from one table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit

from deciban.core.resampling.best import BestDecisions
from deciban.core.resampling.class_means import ClassMeans
from deciban.core.resampling.class_shares import SharesBelow
from deciban.core.resampling.intervals import ROUNDING, unseen_of_sum
from deciban.core.resampling.left_out import LeftOut
from deciban.evaluation.bands import Bands
from deciban.evaluation.uncertainty import Figure, UnseenErrors
from deciban.types import FloatArray, IntArray

if TYPE_CHECKING:
    from deciban.evaluation.multiclass.detector_costs import DetectorInCells
    from deciban.evaluation.multiclass.result import ClassEvaluation


class BandErrors:
    """Standard errors of actual and least error rates of detectors, from squares of influences at some priors.

    Parameters
    ----------
    found : ClassEvaluation
    seen : (n_classes,) int array
        Units that have trials of each class.
    n_units : int
        Units, or groups of them, whose influences are squared.

    Attributes
    ----------
    curves : dict of ("detectors", class, curve) to array
        At all priors of the curves; between those that were computed on a straight line.
    unseen : dict of the same to UnseenErrors
    """

    def __init__(self, found: ClassEvaluation, seen: IntArray, n_units: int) -> None:
        self.found, self.seen = found, seen
        self._axis = found.curves.detector_log_odds[:: Bands.STEP]
        p_target = expit(self._axis)
        self.weights = np.stack((p_target, 1.0 - p_target))
        self.log_odds = np.asarray(logit(p_target))  # as the curves have them, to the last digit
        self._factor = n_units / (n_units - 1)
        self.curves: dict[Figure, FloatArray] = {}
        self.unseen: dict[Figure, UnseenErrors] = {}

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
        squares : (2, n_priors) array
            Of actual and of least errors; without the second where these are not known.
        rates : (2, n_priors) array
            Misses and false alarms at the thresholds.
        """
        n_seen = np.array([self.seen[target], np.delete(self.seen, target).sum()], np.float64)
        errors = np.sqrt(self._factor * squares)
        for name, error in zip(("act_error", "min_error"), errors, strict=False):
            own = np.where(error <= ROUNDING * self.weights.max(axis=0), 0.0, error)  # of sums of weighted shares
            if name == "act_error":
                above, below = unseen_of_sum(rates, self.weights, n_seen)
            else:  # thresholds give way to errors, and where no unit moves them there is none
                above, below = unseen_of_sum(np.zeros_like(self.weights), self.weights, n_seen)
                above = np.where(own == 0.0, above, 0.0)
            key = ("detectors", self.found.classes[target], name)
            self.curves[key] = np.interp(self.found.curves.detector_log_odds, self._axis, own)
            self.unseen[key] = UnseenErrors(self._axis, above, below, int(n_seen.min()))


class DetectorBands(BandErrors):
    """The same of trials in memory, one detector after the other.

    Parameters
    ----------
    found : ClassEvaluation
    means : ClassMeans
    seen : (n_classes,) int array
        Units that have trials of each class.
    """

    def __init__(self, found: ClassEvaluation, means: ClassMeans, seen: IntArray) -> None:
        self.shares = SharesBelow(means, Bands.MOST_UNITS)
        n_units = means.n_units if means.are_single else min(means.n_units, self.shares.n_units)
        super().__init__(found, seen, n_units)

    def add(self, one: DetectorInCells, left_out: LeftOut | None) -> None:
        """Add a detector; with groups of units, its least errors are by thresholds that were chosen without them."""
        act, least = one.cells.positions(self.thresholds), one.linear.best.positions(self.log_odds)
        if left_out is None:
            squares = self._squares(one, np.concatenate((act[None], least)), None)
        else:
            without = BestDecisions.of(*one.left(left_out)).bounded(*one.linear.one_trial).positions(self.log_odds)
            squares = np.concatenate((self._squares(one, act[None], None), self._squares(one, without, left_out)))
        tar, non = (np.append(0, np.cumsum(n))[act] / n.sum() for n in (one.linear.n_tar, one.linear.n_non))
        self.add_squares(one.target, squares, np.stack((tar, 1.0 - non)))

    def _squares(self, one: DetectorInCells, at: IntArray, left_out: LeftOut | None) -> FloatArray:
        """Squares of influences at each prior, (n_curves, n_priors).

        Parameters
        ----------
        one : DetectorInCells
        at : (n_curves, n_priors) or (n_groups, n_priors) array
            How many cells are rejected.
        left_out : LeftOut or None
            Units are decided on by the row of their group, and there is one curve.
        """
        cells = np.arange(one.cells.n_cells)
        if left_out is None:
            known, rows = np.unique(at, return_inverse=True)
            rows, n_places = rows.reshape(at.shape), len(known)
            table = np.searchsorted(known, cells, side="right")

            def places(some: slice) -> Sequence[IntArray]:
                return [table[one.cell[some]]]
        else:  # the higher the prior, the fewer are rejected: the last is the first of the ascending thresholds
            rows, n_places = np.arange(at.shape[1])[None, ::-1], at.shape[1]
            table = np.concatenate([np.searchsorted(own[::-1], cells, side="right") for own in at])

            def places(some: slice) -> Sequence[IntArray]:
                return [table[side[some] * len(cells) + one.cell[some]] for side in left_out.sides]

        own, last = one.own, len(one.cell)
        sides = [[own], [slice(0, own.start), slice(own.stop, last)]]
        return self.shares.squares(places, n_places, one.share, sides, self.factors, rows)
