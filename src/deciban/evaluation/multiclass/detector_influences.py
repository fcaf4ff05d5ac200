"""Influences of units on detectors, each class against the rest, and on average detection costs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit

from deciban.core.classes.counts import non_target_priors
from deciban.core.ranks.operating import OperatingPoint, detection_cost
from deciban.core.resampling.cells import cells_of
from deciban.core.resampling.class_means import ClassMeans
from deciban.core.resampling.intervals import NothingSeen
from deciban.core.resampling.left_out import LeftOut
from deciban.core.resampling.linearised import LinearCosts
from deciban.core.rules.expected import log_costs, mixed
from deciban.core.rules.proper import softplus
from deciban.evaluation.influences import LinearFigure
from deciban.evaluation.optimism import recalibrated_cells
from deciban.evaluation.uncertainty import Figure
from deciban.metrics import SortedScores
from deciban.multiclass.tables import Detectors
from deciban.types import FloatArray, IntArray

if TYPE_CHECKING:
    from deciban.evaluation.multiclass.result import ClassEvaluation
    from deciban.evaluation.multiclass.summary import ClassSummary

STEP = 7
"""Every so many priors of the curve have a standard error of their own; those between lie on straight lines."""

POINT_FIGURES = ("c_avg", "normalized", "min_c_avg", "normalized_min")
DETECTOR_FIGURES = ("eer", "cost", "min_cost", "cllr", "min_cllr", "calibration_loss")
"""Names of figures, in the order in which results have them."""


class DetectorInfluences:
    """What each trial costs in detectors, one after the other, and on average at each prior of a target.

    Iterating gives the figures of each detector; `points` and `curves` are complete afterwards.

    Parameters
    ----------
    summary : ClassSummary
        With units.
    found : ClassEvaluation
    means : ClassMeans
    seen : (n_classes,) int array
        Units that have trials of each class.
    left_out : LeftOut or None
        Groups of units, where the optimism of minima is estimated.
    """

    def __init__(
        self, summary: ClassSummary, found: ClassEvaluation, means: ClassMeans, seen: IntArray, left_out: LeftOut | None
    ) -> None:
        self.summary, self.found, self.means, self.seen = summary, found, means, seen
        self.left_out = left_out if left_out is not None and left_out.is_possible else None
        self.is_open = summary.figures.p_out_of_set is not None
        self.p_target = np.array(summary.figures.p_target)
        self.n_targets = found.n_classes - self.is_open
        n = len(means.share)
        self.actual, self.least = np.zeros((2, len(self.p_target), n))
        self.shifts: dict[Figure, float] = {}
        self.least_shift = np.zeros(len(self.p_target))
        self.squares = np.zeros(0)

    @property
    def n_points(self) -> int:
        """At most so many figures are about all classes together."""
        return 16 + (len(self.p_target) + 1) * len(POINT_FIGURES)

    @property
    def n_figures(self) -> int:
        """How many figures detectors have."""
        return self.n_targets * len(DETECTOR_FIGURES)

    def __iter__(self) -> Iterator[list[LinearFigure]]:
        """The figures of each detector with what each trial costs."""
        everywhere = list(range(len(self.p_target)))
        for first, places in enumerate([[k] for k in everywhere] if self.is_open else [everywhere]):
            detectors = self.summary.problems.detectors(first)
            self._actual(detectors, places)
            for target, scores in enumerate(detectors):
                if target < self.n_targets:
                    one = _Detector(detectors, target, scores, logit(self.p_target[places]), self.means)
                    shifts = self._least(one, places)
                    if first == 0:
                        yield self._figures(one, shifts)
            del detectors
        self.least /= self.n_targets
        self.least_shift /= self.n_targets

    def _actual(self, detectors: Detectors, places: Sequence[int]) -> None:
        """Costs at Bayes thresholds: at these points and, of the first detectors, at places of the curve."""
        for k in places:
            self.actual[k] = self._c_avg(detectors, float(self.p_target[k]))
        if places[0] == 0 and not self.is_open:
            rows = (self._c_avg(detectors, float(p)) for p in expit(self._axis))
            self.squares = np.array([self.means.squares(self.means.centred(row[None]))[0] for row in rows])

    @property
    def _axis(self) -> FloatArray:
        return self.summary.places[::STEP]

    def _c_avg(self, detectors: Detectors, p_target: float) -> FloatArray:
        """What each trial adds to the mean of its class in C_avg: `deciban.multiclass.c_avg` as a sum over classes."""
        llrs, label, threshold = detectors.llrs.values, detectors.llrs.label, -float(logit(p_target))
        if self.is_open:
            out_of_set = self.summary.figures.p_out_of_set or 0.0
            (rivals,) = non_target_priors(np.array([p_target]), out_of_set, len(llrs))
        else:
            rivals = np.full(len(llrs), 1.0 / (len(llrs) - 1))
        n_accepted, missed = np.zeros(len(label)), np.zeros(len(label), np.bool_)
        for target, own in enumerate(detectors.llrs.slices[: self.n_targets]):
            is_accepted = llrs[target] >= threshold
            missed[own] = ~is_accepted[own]
            is_accepted[own] = False
            n_accepted += is_accepted
        found: FloatArray = (p_target * missed + (1.0 - p_target) * rivals[label] * n_accepted) / self.n_targets
        return found

    def _least(self, one: _Detector, places: Sequence[int]) -> FloatArray:
        """Add the costs at the best thresholds; returns how far leaving out groups moves the minima."""
        for at, k in enumerate(places):
            self.least[k] += one.of_trials(one.cost(at, best=True))
        if self.left_out is None:
            return np.zeros(0)
        shifts = _shifts(one, self.left_out)
        self.least_shift[places] += shifts[2:]
        return shifts

    def _figures(self, one: _Detector, shifts: FloatArray) -> list[LinearFigure]:
        name, values = self.found.classes[one.target], self.found.detectors[self.found.classes[one.target]]
        n_tar, n_non = int(self.seen[one.target]), int(np.delete(self.seen, one.target).sum())
        few, p_target = min(n_tar, n_non), float(self.p_target[0])
        least = one.linear.log_cost(0.0, best=True) / math.log(2)
        act, best = one.cllr(), one.of_trials(least)
        weights = (p_target * few / n_tar, (1.0 - p_target) * few / n_non)
        unbounded = NothingSeen(few, math.inf)
        nothing = {
            "eer": NothingSeen(few, 1.0),
            "cost": NothingSeen(few, max(weights)),
            "min_cost": NothingSeen(few, max(weights), ceiling=min(p_target, 1.0 - p_target)),
            "cllr": unbounded,
            "min_cllr": NothingSeen(few, is_entropy=True, ceiling=1.0),
            "calibration_loss": unbounded,
        }
        costs = {
            "eer": one.of_trials(one.linear.crossing(1.0)),
            "cost": one.of_trials(one.cost(0)),
            "min_cost": one.of_trials(one.cost(0, best=True)),
            "cllr": act,
            "min_cllr": best,
        }
        if math.isfinite(values["cllr"]):
            costs["calibration_loss"] = act - best
        moved = dict(zip(("eer", "min_cllr", "min_cost"), shifts.tolist(), strict=False))
        moved["calibration_loss"] = -moved.get("min_cllr", 0.0)
        if len(shifts):
            self.shifts |= {("detectors", name, what): shift for what, shift in moved.items()}
        return [
            LinearFigure(
                ("detectors", name, what),
                values[what],
                cost,
                "logit" if what == "eer" else "log",
                nothing[what],
                is_optimistic=what in moved,
            )
            for what, cost in costs.items()
        ]

    def points(self) -> Iterator[LinearFigure]:
        """Average costs at each prior of a target and their means, once all detectors were there."""
        rows: dict[str, list[FloatArray]] = {name: [] for name in POINT_FIGURES}
        few = int(self.seen.min())
        heaviest = float(np.max(few / self.seen)) / self.n_targets  # a class of which all trials are wrong
        scales = [1.0 / OperatingPoint(p).default_cost for p in self.p_target.tolist()]
        for k, (point, scale) in enumerate(zip(self.found.points, scales, strict=True)):
            for name, value in point.costs.items():
                is_least, factor = "min" in name, scale if name.startswith("normalized") else 1.0
                rows[name].append(factor * (self.least if is_least else self.actual)[k])
                nothing = NothingSeen(few, factor * heaviest)
                if is_least and self.left_out is not None:
                    self.shifts[name, k] = factor * float(self.least_shift[k])
                yield LinearFigure((name, k), value, rows[name][-1], "log", nothing, is_optimistic=is_least)
        for name, value in self.found.mean_costs.items():
            is_least, factor = "min" in name, max(scales) if name.startswith("normalized") else 1.0
            if is_least and self.left_out is not None:
                self.shifts[f"mean_{name}"] = float(np.mean([self.shifts[name, k] for k in range(len(scales))]))
            costs, nothing = np.mean(rows[name], axis=0), NothingSeen(few, factor * heaviest)
            yield LinearFigure(f"mean_{name}", value, costs, "log", nothing, is_optimistic=is_least)

    def curves(self, n_units: int) -> dict[str, FloatArray]:
        """Standard errors of C_avg at the priors of its curve; none where a class is out of set."""
        if not len(self.squares):
            return {}
        errors = np.sqrt(self.squares * n_units / (n_units - 1))
        return {"c_avg": np.interp(self.summary.places, self._axis, errors)}


class _Detector:
    """One class against the rest: its costs in cells, and those of its trials.

    Parameters
    ----------
    detectors : Detectors
    target : int
    scores : SortedScores
        Of this detector.
    log_odds : (n_points,) array
        Of priors of the target.
    means : ClassMeans
    """

    def __init__(
        self, detectors: Detectors, target: int, scores: SortedScores, log_odds: FloatArray, means: ClassMeans
    ) -> None:
        self.target, self.log_odds, self.scores = target, log_odds, scores
        self.llr, self.own = detectors.llrs.values[target], detectors.llrs.slices[target]
        rivals = detectors.prior.copy()
        rivals[target] = 0.0
        self.share = (rivals / rivals.sum())[detectors.llrs.label]
        self.share[self.own] = 1.0
        self.is_target = np.zeros(len(self.llr), np.bool_)
        self.is_target[self.own] = True
        self.cells = cells_of(scores.table, scores.pav, -log_odds, means.units.n_units)
        self.linear = LinearCosts(scores.tar, scores.non, scores.pav, scores.rocch, self.cells)
        self.cell = self.cells.of(self.llr)

    def of_trials(self, costs: FloatArray) -> FloatArray:
        """What each trial adds to the mean of its class, from costs of cells (2, n_cells)."""
        found: FloatArray = costs[1][self.cell] * self.share
        found[self.own] = costs[0][self.cell[self.own]]
        return found

    def cllr(self) -> FloatArray:
        """What each trial adds to Cllr."""
        found: FloatArray = softplus(np.where(self.is_target, -self.llr, self.llr)) * self.share / (2.0 * math.log(2))
        return found

    def cost(self, at: int, *, best: bool = False) -> FloatArray:
        """Detection costs of cells at one of the priors, at its Bayes threshold or at the best one."""
        log_odds = float(self.log_odds[at])
        threshold = -log_odds
        if best:
            vertex = self.scores.rocch.best_vertices(self.log_odds[at : at + 1])[0]
            threshold = float(self.scores.pav.thresholds[vertex])
        return self.linear.rates(threshold, float(expit(log_odds)), float(expit(-log_odds)))


def _shifts(one: _Detector, left_out: LeftOut) -> FloatArray:
    """What to add to minima for new units: EER, Cllr, and costs at each prior."""
    parts = [_minima(one, weights * one.share) for weights in left_out.weights()]
    return np.asarray(left_out.shift(_minima(one, left_out.share * one.share), parts))


def _minima(one: _Detector, weights: FloatArray) -> FloatArray:
    """Least figures of trials in cells that weigh as they are told."""
    n_cells = one.cells.n_cells
    in_cells = np.bincount(one.cell + n_cells * one.is_target, weights, minlength=2 * n_cells)
    hull, of_tar, of_non = recalibrated_cells(in_cells[n_cells:], in_cells[:n_cells])
    cllr = mixed(*log_costs(of_tar, of_non, 0.0), 0.0) / math.log(2)
    rates = hull.best_rates(one.log_odds)
    costs = detection_cost(*rates, one.log_odds, 1.0, 1.0, normalize=False)
    return np.concatenate(([hull.eer(), cllr], costs))
