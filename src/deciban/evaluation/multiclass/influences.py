"""Influences of units on the figures of many classes: costs of trials, averaged class by class, and their intervals.

Each figure is a sum of class means of what single trials cost. What was found as best (maps, thresholds) is held fixed,
as the derivative of a minimum with respect to its place is zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from deciban.core.resampling.class_means import ClassMeans
from deciban.core.resampling.intervals import ROUNDING, NothingSeen
from deciban.core.resampling.left_out import LeftOut
from deciban.evaluation.multiclass.class_figures import NO_COSTS, ClassFigure, Collected
from deciban.evaluation.multiclass.class_optimism import CalibratedWithout
from deciban.evaluation.multiclass.detector_influences import DetectorInfluences
from deciban.evaluation.multiclass.pair_influences import pair_squares
from deciban.evaluation.multiclass.replicates import ClassReplicates
from deciban.evaluation.multiclass.subset_influences import subset_figures
from deciban.evaluation.uncertainty import KEPT_CURVES, Figure, Uncertainty
from deciban.evaluation.unit_trials import N_GROUPS, Resampling
from deciban.types import FloatArray, IntArray

if TYPE_CHECKING:
    from deciban.evaluation.multiclass.result import ClassEvaluation
    from deciban.evaluation.multiclass.summary import ClassSummary

_KEPT = 1 << 24
"""Influences that are kept without being asked for."""

_MANY = 100
"""Classes up to which every rate of the confusions has an interval."""


class ClassFigureCosts:
    """Figures of an evaluation of many classes, but for detectors and pairs, with what each trial costs.

    Parameters
    ----------
    summary : ClassSummary
        With units.
    found : ClassEvaluation
        Of this summary.
    seen : (n_classes,) int array
        Units that have trials of each class.
    without : CalibratedWithout or None
        The best maps without each group of units, if minima are corrected.
    """

    def __init__(
        self, summary: ClassSummary, found: ClassEvaluation, seen: IntArray, without: CalibratedWithout | None
    ) -> None:
        assert summary.units is not None  # noqa: S101  # who asks has them
        self.without = without
        self.found, self.trials, self.seen = found, summary.units, seen
        self.label, self.values = summary.units.costs.label, summary.units.costs.values
        self.prior = summary.prior[self.label]

    def nothing(self, heaviest: FloatArray, ceiling: float = math.inf) -> NothingSeen:
        """Of a figure that is 0 without errors: what it rises by if all trials of a class are wrong, class by class."""
        few = int(self.seen.min())
        return NothingSeen(few, float(np.max(heaviest * few / self.seen)), ceiling=ceiling)

    def rules(self) -> Iterator[ClassFigure]:
        """Means of soft decisions."""
        found, n, few = self.found, self.found.n_classes, int(self.seen.min())
        unbounded, top = NothingSeen(few, math.inf), found.reference
        bits = self.values[0] / (n * math.log(2))
        yield ClassFigure("cllr", found.cllr, bits, "log", unbounded)
        yield ClassFigure("information", found.information, -bits, "identity", limits=(-math.inf, top))
        if self.trials.least is not None:
            least, shift = self.trials.least, None
            if self.without is not None:
                least, shift = self.without.costs, self.without.shift
            least = least / (n * math.log(2))
            entropy = NothingSeen(few, is_entropy=True, ceiling=top)
            yield ClassFigure("min_cllr", found.min_cllr, least, "log", entropy, (0.0, top), shift)
            if math.isfinite(found.cllr):
                back = None if shift is None else -shift
                yield self._loss(bits, least, back, unbounded)
        bits = self.prior * self.values[1] / math.log(2)
        yield ClassFigure("cross_entropy", found.cross_entropy, bits, "log", unbounded)
        quadratic = self.nothing(2.0 * found.prior, 2.0)
        yield ClassFigure("brier", found.brier, self.prior * self.values[2], "log", quadratic, (0.0, 2.0))

    def _loss(self, bits: FloatArray, least: FloatArray, shift: float | None, unbounded: NothingSeen) -> ClassFigure:
        """What calibration loses; nothing, whatever is drawn, where the scores are those of the best map."""
        lost, value = bits - least, self.found.calibration_loss
        if shift is None and np.abs(lost).max() <= ROUNDING * np.abs(bits).max():
            return ClassFigure("calibration_loss", 0.0, np.zeros_like(lost), "identity")
        return ClassFigure("calibration_loss", value, lost, "identity", unbounded, shift=shift)

    def decisions(self) -> Iterator[ClassFigure]:
        """The rate of wrong decisions."""
        rate, wrong = self.found.error_rate, self.prior * (self.values[3] != self.label)
        nothing = NothingSeen.of_rate(rate, int(self.seen.min()))
        nothing = replace(nothing, above=nothing.above * self.nothing(self.found.prior).above)
        yield ClassFigure("error_rate", rate, wrong, "logit", nothing, (0.0, 1.0))

    def rates(self, means: ClassMeans) -> Iterator[tuple[ClassFigure, float]]:
        """Error rates of the classes and, where there are not many, all rates of confusions, with their squares."""
        found, n = self.found, self.found.n_classes
        confused = found.confusion / found.confusion.sum(axis=1, keepdims=True)
        decided = self.values[3]

        def squares(is_counted: FloatArray) -> list[float]:
            found: list[float] = means.squares_apart(means.centred(is_counted), self.label, n).tolist()
            return found

        def rate(name: Figure, k: int, value: float) -> ClassFigure:
            nothing = NothingSeen.of_rate(value, int(self.seen[k]))
            return ClassFigure(name, value, NO_COSTS, "logit", nothing, (0.0, 1.0), n_units=int(self.seen[k]))

        wrong = squares((decided != self.label).astype(np.float64))
        for k, (name, value) in enumerate(zip(found.classes, found.class_error_rates.tolist(), strict=True)):
            yield rate(("class_error_rates", name), k, value), wrong[k]
        for j, taken in enumerate(found.classes if n <= _MANY else ()):
            own = squares((decided == j).astype(np.float64))
            for k, true in enumerate(found.classes):
                yield rate(("confusion", true, taken), k, float(confused[k, j])), own[k]


def class_uncertainty_of(summary: ClassSummary, found: ClassEvaluation, resampling: Resampling) -> Uncertainty | None:
    """How sure the figures of an evaluation of many classes are; None if no class has two units.

    Parameters
    ----------
    summary : ClassSummary
        With units.
    found : ClassEvaluation
        Of this summary.
    resampling : Resampling
    """
    trials = summary.units
    if trials is None:
        return None
    means = trials.means()
    n_units, seen = means.n_units, means.units_in(trials.costs.label, found.n_classes)
    if max(seen) < 2:
        return None
    replicates = ClassReplicates(means, resampling) if resampling.bootstrap else None
    left_out = LeftOut(means, N_GROUPS) if resampling.optimism else None  # unasked not: it takes longer than the rest
    left_out = left_out if left_out is not None and left_out.is_possible else None
    without = None if left_out is None else CalibratedWithout.of(summary, found, left_out)
    collected, costs = Collected(means, replicates), ClassFigureCosts(summary, found, seen, without)
    detectors = DetectorInfluences(summary, found, means, seen, left_out)
    of_all, of_classes = (
        n * trials.units.n_units <= _KEPT if resampling.keep is None else resampling.keep
        for n in (detectors.n_points, detectors.n_points + detectors.n_figures)
    )
    room = _KEPT if resampling.keep else KEPT_CURVES
    detectors.keeps_curve = resampling.keep is not False and detectors.n_places * trials.units.n_units <= room
    collected.add([*costs.rules(), *costs.decisions()], keep=of_all)
    collected.add_squares(*zip(*costs.rates(means), strict=True))
    for some in detectors:
        collected.add(some, keep=of_classes)
    collected.add(detectors.points(), keep=of_all)
    collected.add_fixed(subset_figures(summary, seen))
    if found.pairwise is not None:
        for names, squares in pair_squares(summary, found.pairwise, means, seen, left_out):
            collected.add_squares(names, squares)
    estimates = collected.estimates(n_units)
    return Uncertainty(
        n_units=n_units,
        noun=trials.units.noun,
        source=trials.units.source,
        keys=trials.units.keys,
        estimates=estimates,
        influences=collected.influences,
        curves=detectors.curves(n_units),
        level=resampling.level,
        bootstrap=None if replicates is None else replicates.bootstrap(estimates),
        curve_influences=detectors.curve_influences,
        unseen=detectors.unseen_on_curves,
    )
