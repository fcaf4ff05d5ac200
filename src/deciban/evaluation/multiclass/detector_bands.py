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
    from deciban.evaluation.multiclass.detector_influences import OneDetector
    from deciban.evaluation.multiclass.result import ClassEvaluation


class DetectorBands:
    """Standard errors of actual and least error rates of detectors, one after the other.

    Parameters
    ----------
    found : ClassEvaluation
    means : ClassMeans
    seen : (n_classes,) int array
        Units that have trials of each class.

    Attributes
    ----------
    curves : dict of ("detectors", class, curve) to array
        At all priors of the curves; between those that were computed on a straight line.
    unseen : dict of the same to UnseenErrors
    """

    def __init__(self, found: ClassEvaluation, means: ClassMeans, seen: IntArray) -> None:
        self.found, self.seen = found, seen
        self.shares = SharesBelow(means, Bands.MOST_UNITS)
        self._axis = found.curves.detector_log_odds[:: Bands.STEP]
        p_target = expit(self._axis)
        self._weights = np.stack((p_target, 1.0 - p_target))
        self._log_odds = np.asarray(logit(p_target))  # as the curves have them, to the last digit
        n = means.n_units if means.are_single else min(means.n_units, self.shares.n_units)
        self._factor = n / (n - 1)
        self.curves: dict[Figure, FloatArray] = {}
        self.unseen: dict[Figure, UnseenErrors] = {}

    @property
    def thresholds(self) -> FloatArray:
        """Those at which a detector must have borders of cells."""
        return -self._log_odds

    def add(self, one: OneDetector, left_out: LeftOut | None) -> None:
        """Add a detector; with groups of units, its least errors are by thresholds that were chosen without them."""
        act, least = one.cells.positions(self.thresholds), one.linear.best.positions(self._log_odds)
        if left_out is None:
            squares = self._squares(one, np.concatenate((act[None], least)), None)
        else:
            without = BestDecisions.of(*one.left(left_out)).bounded(*one.linear.one_trial).positions(self._log_odds)
            squares = np.concatenate((self._squares(one, act[None], None), self._squares(one, without, left_out)))
        errors = np.sqrt(self._factor * squares)
        for k, (name, unseen) in enumerate({"act_error": self._unseen(one, act), "min_error": None}.items()):
            values = getattr(self.found.curves, name)[one.target]
            own = np.where(errors[k] <= ROUNDING * values[:: Bands.STEP], 0.0, errors[k])
            above, below = self._none(one, own) if unseen is None else unseen
            key = ("detectors", self.found.classes[one.target], name)
            self.curves[key] = np.interp(self.found.curves.detector_log_odds, self._axis, own)
            self.unseen[key] = UnseenErrors(self._axis, above, below, int(self._n_seen(one).min()))

    def _squares(self, one: OneDetector, at: IntArray, left_out: LeftOut | None) -> FloatArray:
        """Squares of influences at each prior, (n_curves, n_priors).

        Parameters
        ----------
        one : OneDetector
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
        factors = self._weights * np.array([[1.0], [-1.0]])  # false alarms are what is not rejected
        return self.shares.squares(places, n_places, one.share, sides, factors, rows)

    def _n_seen(self, one: OneDetector) -> FloatArray:
        """Units with trials of the target, and with those of each other class."""
        return np.array([self.seen[one.target], np.delete(self.seen, one.target).sum()], np.float64)

    def _unseen(self, one: OneDetector, at: IntArray) -> tuple[FloatArray, FloatArray]:
        """How far actual errors rise and fall by what no unit shows, at each prior."""
        tar, non = (np.append(0, np.cumsum(n))[at] / n.sum() for n in (one.linear.n_tar, one.linear.n_non))
        return unseen_of_sum(np.stack((tar, 1.0 - non)), self._weights, self._n_seen(one))

    def _none(self, one: OneDetector, errors: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The same of least errors: thresholds give way to errors, and where no unit moves them there is none."""
        above, below = unseen_of_sum(np.zeros_like(self._weights), self._weights, self._n_seen(one))
        return np.where(errors == 0.0, above, 0.0), below
