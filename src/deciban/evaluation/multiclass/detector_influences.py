"""Influences of units on detectors, each class against the rest, and on average detection costs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import logit

from deciban.core.resampling.class_design import ClusterDesign, Groups
from deciban.core.resampling.intervals import ROUNDING, NothingSeen
from deciban.core.resampling.left_out import LeftOut
from deciban.evaluation.multiclass.at_hand import AtHand
from deciban.evaluation.multiclass.class_figures import ClassFigure
from deciban.evaluation.multiclass.curve_costs import CurveTaker, axis_of, curve_figures
from deciban.evaluation.multiclass.detector_bands import DetectorBands
from deciban.evaluation.multiclass.detector_costs import (
    BestOfDetector,
    DetectorInCells,
    Minimal,
    OneDetector,
    detector_groups,
    effective_of,
)
from deciban.evaluation.multiclass.target_errors import TargetErrors
from deciban.metrics import SortedScores
from deciban.multiclass.tables import Detectors
from deciban.types import FloatArray

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
    design : ClusterDesign
        Of all trials.
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
        design: ClusterDesign,
        *,
        left_out: LeftOut | None = None,
        bests: Sequence[Sequence[BestOfDetector]] | None = None,
        take_curve: CurveTaker | None = None,
        bands: DetectorBands | None = None,
    ) -> None:
        self.summary, self.found, self.trials, self.design = summary, found, trials, design
        self.left_out, self.bests, self.take_curve, self.bands = left_out, bests, take_curve, bands
        self.p_out_of_set = summary.figures.p_out_of_set
        self.is_open = self.p_out_of_set is not None
        self.p_target = np.array(summary.figures.p_target)
        self.n_targets = found.n_classes - self.is_open
        self.actual, self.least, self.held_out = np.zeros((3, len(self.p_target), trials.n_trials))
        self.most: dict[int, FloatArray] = {}
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
                fixed = one.minima()
                least = fixed if scores is None else self._in_cells(one, scores, fixed, is_first=first == 0)
                for k, (costs, shift), (best_costs, _) in zip(places, least[2:], fixed[2:], strict=True):
                    self.least[k] += best_costs / self.n_targets
                    self.held_out[k] += costs / self.n_targets
                    self.least_shift[k] += (shift or 0.0) / self.n_targets
                if first == 0:
                    yield self._figures(one, least, fixed)
            del detectors

    def _bests(
        self, first: int, detectors: Detectors, log_odds: FloatArray
    ) -> Iterator[tuple[BestOfDetector, SortedScores | None]]:
        """What is best for each detector of a target, with its scores where all are at hand."""
        if self.bests is not None:
            yield from ((best, None) for best in self.bests[first])
            return
        for target, scores in zip(range(self.n_targets), detectors, strict=False):
            n_units = effective_of(self.design, detector_groups(detectors.prior, target))
            yield BestOfDetector.of(scores, log_odds, n_units), scores

    def _in_cells(
        self, one: OneDetector, scores: SortedScores, fixed: list[Minimal], *, is_first: bool
    ) -> list[Minimal]:
        """Minima of all trials, by what is best without the group of the unit if there are groups; curves are told."""
        bands = self.bands if is_first else None
        if bands is None and self.left_out is None:
            return fixed
        thresholds = np.zeros(0) if bands is None else bands.thresholds
        counted = DetectorInCells(one, scores, thresholds, self.trials.costs.units.n_units)
        if bands is not None:
            bands.add(counted)
        return fixed if self.left_out is None else counted.minima(self.left_out)

    def _actual(self, detectors: Detectors, places: Sequence[int]) -> None:
        """Costs at Bayes thresholds: at these points and, of the first detectors, at places of the curve."""
        for k in places:
            p_target = float(self.p_target[k])
            errors = TargetErrors.of(detectors.llrs, p_target, -float(logit(p_target)), self.p_out_of_set)
            self.actual[k], self.most[k] = errors.costs, errors.most
        if places[0] == 0 and self.take_curve is not None:
            value = np.asarray(self.found.curves.c_avg)
            self.take_curve(curve_figures(detectors.llrs, axis_of(self.summary), value, self.trials, self.p_out_of_set))

    def _figures(self, one: OneDetector, least: Sequence[Minimal], fixed: Sequence[Minimal]) -> list[ClassFigure]:
        target = one.target
        name, values = self.found.classes[target], self._values[self.found.classes[target]]
        groups = detector_groups(one.prior, target)
        few, p_target = min(effective_of(self.design, groups)), float(self.p_target[0])
        unbounded = NothingSeen(few, math.inf)
        entropy = NothingSeen(few, is_entropy=True, ceiling=1.0) if values["min_cllr"] <= ROUNDING else None
        weights, default = np.array([p_target, 1.0 - p_target]), min(p_target, 1.0 - p_target)
        crossing = np.array([rate.weight for rate in one.best.crossing]) if one.best.crossing else None
        act, (eer, min_cllr, cost) = one.cllr(), least[:3]
        best: list[FloatArray | None] = [None if self.left_out is None else one for one, _ in fixed]
        make = partial(ClassFigure, "", 0.0, groups=groups)
        found = {
            "eer": make(eer[0], scale="logit", limits=(0.0, 0.5), shift=eer[1], most=crossing, fixed=best[0]),
            "cost": make(one.cost(0), limits=(0.0, 1.0), most=weights),
            "min_cost": make(cost[0], limits=(0.0, default), shift=cost[1], most=weights, fixed=best[2]),
            "cllr": make(act, nothing_seen=unbounded),
            "min_cllr": make(min_cllr[0], nothing_seen=entropy, limits=(0.0, 1.0), shift=min_cllr[1], fixed=best[1]),
        }
        if math.isfinite(values["cllr"]):
            back, lost = None if min_cllr[1] is None else -min_cllr[1], None if best[1] is None else act - best[1]
            found["calibration_loss"] = make(
                act - min_cllr[0], scale="identity", nothing_seen=unbounded, shift=back, fixed=lost
            )
        return [replace(figure, name=("detectors", name, what), value=values[what]) for what, figure in found.items()]

    def points(self) -> Iterator[ClassFigure]:
        """Average costs at each prior of a target and their means, once all detectors were there."""
        kept: dict[str, list[ClassFigure]] = {name: [] for name in POINT_FIGURES}
        groups, is_corrected = Groups.apart(self.found.n_classes), self.left_out is not None
        for k, point in enumerate(self.found.points):
            for name, value in point.costs.items():
                is_least, factor = "min" in name, 1.0 / point.default_cost if name.startswith("normalized") else 1.0
                shift = factor * float(self.least_shift[k]) if is_least and is_corrected else None
                costs = factor * (self.held_out if is_least else self.actual)[k]
                fixed = factor * self.least[k] if is_least and is_corrected else None
                limits = (0.0, factor * (point.default_cost if is_least else 1.0))
                how: Any = {"limits": limits, "shift": shift, "fixed": fixed, "most": factor * self.most[k]}
                kept[name].append(ClassFigure((name, k), value, costs, groups, are_graded=True, **how))
        for name, value in self.found.mean_costs.items():
            some = kept[name]
            yield from some
            shifts = [one.shift for one in some if one.shift is not None]
            fixed_costs = [one.fixed for one in some if one.fixed is not None]
            yield replace(
                some[0],
                name=f"mean_{name}",
                value=value,
                costs=np.mean([one.costs for one in some], axis=0),
                limits=(0.0, float(np.mean([one.limits[1] for one in some]))),
                shift=float(np.mean(shifts)) if shifts else None,
                most=np.mean([one.most for one in some if one.most is not None], axis=0),
                fixed=np.mean(fixed_costs, axis=0) if fixed_costs else None,
            )
