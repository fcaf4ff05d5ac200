"""Influences of units on detectors, each class against the rest, and on average detection costs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logit

from deciban.core.resampling.intervals import NothingSeen
from deciban.core.resampling.left_out import LeftOut
from deciban.evaluation.multiclass.at_hand import AtHand
from deciban.evaluation.multiclass.class_figures import ClassFigure
from deciban.evaluation.multiclass.curve_costs import CurveTaker, axis_of, curve_figures
from deciban.evaluation.multiclass.detector_bands import DetectorBands
from deciban.evaluation.multiclass.detector_costs import BestOfDetector, DetectorInCells, Minimal, OneDetector
from deciban.evaluation.multiclass.target_errors import TargetErrors
from deciban.metrics import SortedScores
from deciban.multiclass.tables import Detectors
from deciban.types import FloatArray, IntArray

if TYPE_CHECKING:
    from deciban.evaluation.multiclass.result import ClassEvaluation
    from deciban.evaluation.multiclass.summary import ClassSummary

POINT_FIGURES = ("c_avg", "normalized", "min_c_avg", "normalized_min")
DETECTOR_FIGURES = ("eer", "cost", "min_cost", "cllr", "min_cllr", "calibration_loss")
"""Names of figures, in the order in which results have them."""


class DetectorInfluences:
    """What each trial costs in detectors, one after the other, and on average at each prior of a target.

    Iterating gives the figures of each detector; `points` are complete afterwards, and the curve was taken.

    Parameters
    ----------
    summary : ClassSummary
    found : ClassEvaluation
        Of this summary.
    trials : AtHand
        All trials, or some of them.
    seen : (n_classes,) int array
        Units that have trials of each class.
    left_out : LeftOut, optional
        Possible groups of units, where minima are corrected.
    bests : sequence of sequences of BestOfDetector, optional
        What is best for all trials, detector by detector at each prior of the rivals; found where they are all at hand.
    take_curve : callable, optional
        Takes what trials cost at places of the curve of average costs.
    bands : DetectorBands, optional
        Is given all detectors, where all trials are at hand.
    """

    def __init__(
        self,
        summary: ClassSummary,
        found: ClassEvaluation,
        trials: AtHand,
        seen: IntArray,
        *,
        left_out: LeftOut | None = None,
        bests: Sequence[Sequence[BestOfDetector]] | None = None,
        take_curve: CurveTaker | None = None,
        bands: DetectorBands | None = None,
    ) -> None:
        self.summary, self.found, self.trials, self.seen = summary, found, trials, seen
        self.left_out, self.bests, self.take_curve, self.bands = left_out, bests, take_curve, bands
        self.p_out_of_set = summary.figures.p_out_of_set
        self.is_open = self.p_out_of_set is not None
        self.p_target = np.array(summary.figures.p_target)
        self.n_targets = found.n_classes - self.is_open
        self.actual, self.least = np.zeros((2, len(self.p_target), trials.n_trials))
        self.unseen: dict[int, NothingSeen] = {}
        self.least_shift = np.zeros(len(self.p_target))
        self._values = found.detectors

    @property
    def n_points(self) -> int:
        """At most so many figures are about all classes together."""
        return 16 + (len(self.p_target) + 1) * len(POINT_FIGURES)

    @property
    def n_figures(self) -> int:
        """How many figures detectors have."""
        return self.n_targets * len(DETECTOR_FIGURES)

    @property
    def _places(self) -> list[list[int]]:
        """For each of the priors of rivals, at which points it is used."""
        everywhere = list(range(len(self.p_target)))
        return [[k] for k in everywhere] if self.is_open else [everywhere]

    def __iter__(self) -> Iterator[list[ClassFigure]]:
        """The figures of each detector with what each trial costs."""
        for first, places in enumerate(self._places):
            detectors, log_odds = self.trials.detectors(first), logit(self.p_target[places])
            self._actual(detectors, places)
            for target, (best, scores) in enumerate(self._bests(first, detectors, log_odds)):
                one = OneDetector(detectors, target, log_odds, best)
                least = one.minima() if scores is None else self._in_cells(one, scores, is_first=first == 0)
                for k, (costs, shift) in zip(places, least[2:], strict=True):
                    self.least[k] += costs / self.n_targets
                    self.least_shift[k] += (shift or 0.0) / self.n_targets
                if first == 0:
                    yield self._figures(one, least)
            del detectors

    def _bests(
        self, first: int, detectors: Detectors, log_odds: FloatArray
    ) -> Iterator[tuple[BestOfDetector, SortedScores | None]]:
        """What is best for each detector of a target, with its scores where all are at hand."""
        if self.bests is not None:
            yield from ((best, None) for best in self.bests[first])
            return
        for _, scores in zip(range(self.n_targets), detectors, strict=False):
            yield BestOfDetector.of(scores, log_odds), scores

    def _in_cells(self, one: OneDetector, scores: SortedScores, *, is_first: bool) -> list[Minimal]:
        """Minima of all trials, by what is best without the group of the unit if there are groups; curves are told."""
        bands = self.bands if is_first else None
        if bands is None and self.left_out is None:
            return one.minima()
        thresholds = np.zeros(0) if bands is None else bands.thresholds
        counted = DetectorInCells(one, scores, thresholds, self.trials.costs.units.n_units)
        if bands is not None:
            bands.add(counted, self.left_out)
        return one.minima() if self.left_out is None else counted.minima(self.left_out)

    def _actual(self, detectors: Detectors, places: Sequence[int]) -> None:
        """Costs at Bayes thresholds: at these points and, of the first detectors, at places of the curve."""
        for k in places:
            p_target = float(self.p_target[k])
            errors = TargetErrors.of(detectors.llrs, p_target, -float(logit(p_target)), self.p_out_of_set)
            nothing = self.trials.tallies.nothing_seen(("point", k), errors, self.seen)
            self.actual[k], self.unseen[k] = errors.costs, nothing
        if places[0] == 0 and self.take_curve is not None:
            value = np.asarray(self.found.curves.c_avg)
            self.take_curve(
                curve_figures(detectors.llrs, axis_of(self.summary), value, self.trials, self.seen, self.p_out_of_set)
            )

    def _figures(self, one: OneDetector, least: Sequence[Minimal]) -> list[ClassFigure]:
        target = one.target
        name, values = self.found.classes[target], self._values[self.found.classes[target]]
        n_tar, n_non = int(self.seen[target]), int(np.delete(self.seen, target).sum())
        few, p_target = min(n_tar, n_non), float(self.p_target[0])
        unbounded, entropy = NothingSeen(few, math.inf), NothingSeen(few, is_entropy=True, ceiling=1.0)
        weights, default = (p_target, 1.0 - p_target), min(p_target, 1.0 - p_target)
        errors = NothingSeen.of_sum(one.best.rates, weights, (n_tar, n_non))
        none = replace(NothingSeen.of_sum((0.0, 0.0), weights, (n_tar, n_non)), ceiling=default, is_part=False)
        act, (eer, min_cllr, cost) = one.cllr(), least[:3]
        found = {
            "eer": ClassFigure("", 0.0, eer[0], "logit", NothingSeen(few, 1.0), (0.0, 0.5), eer[1]),
            "cost": ClassFigure("", 0.0, one.cost(0), "log", errors, (0.0, 1.0)),
            "min_cost": ClassFigure("", 0.0, cost[0], "log", none, (0.0, default), cost[1]),
            "cllr": ClassFigure("", 0.0, act, "log", unbounded),
            "min_cllr": ClassFigure("", 0.0, min_cllr[0], "log", entropy, (0.0, 1.0), min_cllr[1]),
        }
        if math.isfinite(values["cllr"]):
            back = None if min_cllr[1] is None else -min_cllr[1]
            found["calibration_loss"] = ClassFigure("", 0.0, act - min_cllr[0], "identity", unbounded, shift=back)
        return [
            replace(figure, name=("detectors", name, what), value=values[what], n_units=few)
            for what, figure in found.items()
        ]

    def points(self) -> Iterator[ClassFigure]:
        """Average costs at each prior of a target and their means, once all detectors were there."""
        kept: dict[str, list[ClassFigure]] = {name: [] for name in POINT_FIGURES}
        few = int(self.seen.min())
        heaviest = float(np.max(few / self.seen)) / self.n_targets  # a class of which all trials are wrong
        for k, point in enumerate(self.found.points):
            for name, value in point.costs.items():
                is_least, factor = "min" in name, 1.0 / point.default_cost if name.startswith("normalized") else 1.0
                shift = factor * float(self.least_shift[k]) if is_least and self.left_out is not None else None
                limits = (0.0, factor * (point.default_cost if is_least else 1.0))
                costs = factor * (self.least if is_least else self.actual)[k]
                nothing = NothingSeen(few, factor * heaviest) if is_least else self.unseen[k].times(factor)
                kept[name].append(ClassFigure((name, k), value, costs, "log", nothing, limits, shift))
        for name, value in self.found.mean_costs.items():
            some = kept[name]
            yield from some
            shifts = [one.shift for one in some if one.shift is not None]
            yield replace(
                some[0],
                name=f"mean_{name}",
                value=value,
                costs=np.mean([one.costs for one in some], axis=0),
                nothing_seen=NothingSeen.mean([one.nothing_seen for one in some if one.nothing_seen is not None]),
                limits=(0.0, float(np.mean([one.limits[1] for one in some]))),
                shift=float(np.mean(shifts)) if shifts else None,
            )
