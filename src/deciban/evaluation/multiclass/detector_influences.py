"""Influences of units on detectors, each class against the rest, and on average detection costs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.special import expit, logit

from deciban.core.ranks.operating import default_error
from deciban.core.resampling.best import BestDecisions
from deciban.core.resampling.cells import cells_of
from deciban.core.resampling.class_means import ClassMeans
from deciban.core.resampling.intervals import NothingSeen
from deciban.core.resampling.left_out import LeftOut
from deciban.core.resampling.linearised import LinearCosts
from deciban.core.rules.proper import softplus
from deciban.evaluation.linear_figures import OF_MAPS, LinearFigure
from deciban.evaluation.multiclass.class_figures import ClassFigure
from deciban.evaluation.multiclass.detector_bands import DetectorBands
from deciban.evaluation.multiclass.summands import InTurn
from deciban.evaluation.multiclass.target_errors import TargetErrors, critical_priors_of
from deciban.evaluation.optimism import chosen_without
from deciban.evaluation.uncertainty import CurveInfluences, Figure, UnseenErrors
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

    Iterating gives the figures of each detector; `points`, `curves` and what goes with these are complete afterwards.

    Parameters
    ----------
    summary : ClassSummary
        With units.
    found : ClassEvaluation
    means : ClassMeans
    seen : (n_classes,) int array
        Units that have trials of each class.
    left_out : LeftOut or None
        Possible groups of units, where minima are corrected.
    """

    def __init__(
        self, summary: ClassSummary, found: ClassEvaluation, means: ClassMeans, seen: IntArray, left_out: LeftOut | None
    ) -> None:
        self.summary, self.found, self.means, self.seen = summary, found, means, seen
        self.left_out = left_out
        self.p_out_of_set = summary.figures.p_out_of_set
        self.is_open = self.p_out_of_set is not None
        self.p_target = np.array(summary.figures.p_target)
        self.n_targets = found.n_classes - self.is_open
        n = len(means.share)
        self.actual, self.least = np.zeros((2, len(self.p_target), n))
        self.unseen: dict[int, NothingSeen] = {}
        self.least_shift = np.zeros(len(self.p_target))
        self.squares = np.zeros(0)
        self._bands = DetectorBands(found, means, seen)
        self.keeps_curve, self.kept_curve, self.curve_unseen = False, np.zeros((0, 0)), np.zeros((2, 0, 2))

    @property
    def n_places(self) -> int:
        """At so many priors of the curve there is an influence of every unit."""
        return len(self._axis)

    @property
    def n_points(self) -> int:
        """At most so many figures are about all classes together."""
        return 16 + (len(self.p_target) + 1) * len(POINT_FIGURES)

    @property
    def n_figures(self) -> int:
        """How many figures detectors have."""
        return self.n_targets * len(DETECTOR_FIGURES)

    def __iter__(self) -> Iterator[list[ClassFigure]]:
        """The figures of each detector with what each trial costs."""
        everywhere = list(range(len(self.p_target)))
        for first, places in enumerate([[k] for k in everywhere] if self.is_open else [everywhere]):
            detectors = self.summary.problems.detectors(first)
            assert isinstance(detectors, Detectors)  # noqa: S101  # units are known of trials in memory only
            self._actual(detectors, places)
            for target, scores in enumerate(detectors):
                if target < self.n_targets:
                    log_odds, thresholds = (
                        logit(self.p_target[places]),
                        self._bands.thresholds[: None if first == 0 else 0],
                    )
                    one = OneDetector(detectors, target, scores, log_odds, thresholds, self.means)
                    least = one.minima(self.left_out)
                    for k, (costs, shift) in zip(places, least[2:], strict=True):
                        self.least[k] += costs / self.n_targets
                        self.least_shift[k] += (shift or 0.0) / self.n_targets
                    if first == 0:
                        self._bands.add(one, self.left_out)
                        yield self._figures(one, least)
            del detectors

    def _actual(self, detectors: Detectors, places: Sequence[int]) -> None:
        """Costs at Bayes thresholds: at these points and, of the first detectors, at places of the curve."""
        for k in places:
            p_target = float(self.p_target[k])
            errors = TargetErrors.of(detectors.llrs, p_target, -float(logit(p_target)), self.p_out_of_set)
            self.actual[k], self.unseen[k] = errors.costs, errors.nothing_seen(self.seen)
        if places[0] == 0:
            self._curve(detectors)

    def _curve(self, detectors: Detectors) -> None:
        """Squares at places of the curve; where a class is out of set, from trials, which merged parts do not have."""
        llrs, thresholds = detectors.llrs, -self._axis
        if self.is_open:
            if not isinstance(self.summary.problems, InTurn):
                return
            # A target is accepted from its critical prior on: at each place as if its negative were an llr.
            llrs = replace(llrs, values=-critical_priors_of(self.summary.problems.trials, self.p_out_of_set or 0.0))
            thresholds = -expit(self._axis)
        squares = np.zeros(self.n_places)
        kept = np.zeros((self.n_places if self.keeps_curve else 0, self.means.units.n_units))
        self.curve_unseen = np.zeros((2, self.n_places, 2))
        for k, (p_target, threshold) in enumerate(zip(expit(self._axis).tolist(), thresholds.tolist(), strict=True)):
            errors = TargetErrors.of(llrs, p_target, threshold, self.p_out_of_set)
            nothing = errors.nothing_seen(self.seen)
            self.curve_unseen[:, k, 0] = nothing.above, nothing.below
            centred = self.means.centred(errors.costs[None])
            if self.keeps_curve:
                (kept[k],) = self.means.by_unit(centred)
                squares[k] = kept[k] @ kept[k]
            else:
                (squares[k],) = self.means.squares(centred)
        self.squares, self.kept_curve = squares, kept

    @property
    def _axis(self) -> FloatArray:
        return self.summary.places[::STEP]

    def _figures(self, one: OneDetector, least: Sequence[Minimal]) -> list[ClassFigure]:
        target = one.target
        name, values = self.found.classes[target], self.found.detectors[self.found.classes[target]]
        n_tar, n_non = int(self.seen[target]), int(np.delete(self.seen, target).sum())
        few, p_target = min(n_tar, n_non), float(self.p_target[0])
        unbounded, entropy = NothingSeen(few, math.inf), NothingSeen(few, is_entropy=True, ceiling=1.0)
        weights, default = (p_target, 1.0 - p_target), min(p_target, 1.0 - p_target)
        errors = NothingSeen.of_sum(one.rates(0), weights, (n_tar, n_non))
        none = replace(NothingSeen.of_sum((0.0, 0.0), weights, (n_tar, n_non)), ceiling=default, is_part=False)
        act, (eer, min_cllr, cost) = one.cllr(), least[:3]
        found = {
            "eer": ClassFigure("", 0.0, eer[0], "logit", NothingSeen(few, 1.0), (0.0, 0.5), eer[1]),
            "cost": ClassFigure("", 0.0, one.of_trials(one.cost(0)), "log", errors),
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
                limits = (0.0, factor * point.default_cost if is_least else math.inf)
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

    def curves(self, n_units: int) -> dict[Figure, FloatArray]:
        """Standard errors of the curves of detectors, and of C_avg, but for an open set in merged parts."""
        if not len(self.squares):
            return self._bands.curves
        errors = np.sqrt(self.squares * n_units / (n_units - 1))
        return {"c_avg": np.interp(self.summary.places, self._axis, errors), **self._bands.curves}

    @property
    def unseen_on_curves(self) -> dict[Figure, UnseenErrors]:
        """What the curves of detectors could become by errors that no unit shows."""
        return self._bands.unseen

    @property
    def curve_influences(self) -> dict[str, CurveInfluences]:
        """C_avg at places of its curve with the influences of units, if they were to be kept."""
        if not len(self.kept_curve):
            return {}
        value, few = np.asarray(self.found.curves.c_avg[::STEP]), int(self.seen.min())
        return {"c_avg": CurveInfluences(self._axis, value, self.kept_curve, self.curve_unseen, (few, few))}


Minimal: TypeAlias = tuple[FloatArray, float | None]
"""What each trial adds to a minimum, and what to add to that for new units if it is known."""


class OneDetector:
    """One class against the rest: its costs in cells, and those of its trials.

    Parameters
    ----------
    detectors : Detectors
    target : int
    scores : SortedScores
        Of this detector.
    log_odds : (n_points,) array
        Of priors of the target.
    thresholds : (n,) array
        Others at which trials must be told apart.
    means : ClassMeans
    """

    def __init__(
        self,
        detectors: Detectors,
        target: int,
        scores: SortedScores,
        log_odds: FloatArray,
        thresholds: FloatArray,
        means: ClassMeans,
    ) -> None:
        self.target, self.log_odds, self.scores = target, log_odds, scores
        self.llr, self.own = detectors.llrs.values[target], detectors.llrs.slices[target]
        rivals = detectors.prior.copy()
        rivals[target] = 0.0
        self.share = (rivals / rivals.sum())[detectors.llrs.label]
        self.share[self.own] = 1.0
        self.is_target = np.zeros(len(self.llr), np.bool_)
        self.is_target[self.own] = True
        wanted = np.concatenate((-log_odds, thresholds))
        self.cells = cells_of(scores.table, scores.pav, wanted, means.units.n_units)
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

    def cost(self, at: int) -> FloatArray:
        """Detection costs of cells at the Bayes threshold of one of the priors."""
        log_odds = float(self.log_odds[at])
        return self.linear.rates(-log_odds, float(expit(log_odds)), float(expit(-log_odds)))

    def rates(self, at: int) -> tuple[float, float]:
        """Misses and false alarms at the same threshold."""
        of_tar, of_non = self.linear.rates(-float(self.log_odds[at]))
        n_tar, n_non = self.linear.n_tar, self.linear.n_non
        return float(of_tar @ n_tar / n_tar.sum()), float(of_non @ n_non / n_non.sum())

    def minima(self, left_out: LeftOut | None) -> list[Minimal]:
        """EER, least Cllr, and least costs at each prior: by what is best without the group of the unit, if there are.

        Trials that take part in the choice of a threshold or map cost less than others.
        """
        figures = [LinearFigure("eer", 0.0, 0.0, least=lambda best: best.crossing(1.0))]
        figures.append(
            LinearFigure("min_cllr", 0.0, 0.0, least=lambda best: best.log_cost(0.0) / math.log(2), rate=OF_MAPS)
        )
        figures += [LinearFigure("min_cost", 0.0, 0.0, least=partial(_least_cost, float(x))) for x in self.log_odds]
        if left_out is None:
            return [(self.of_trials(one.costs_by(self.linear.best)[:, 0]), None) for one in figures]
        whole = (self.linear.n_tar, self.linear.n_non)
        shifts, costs = chosen_without(figures, self.linear, whole, self.left(left_out))
        found = [left_out.held_out(of_class, self.cell) for of_class in costs]
        per_trial = np.where(self.is_target[:, None], found[0], found[1] * self.share[:, None])
        return list(zip(per_trial.T, shifts.tolist(), strict=True))

    def left(self, left_out: LeftOut) -> tuple[FloatArray, FloatArray]:
        """Targets and non-targets in cells without each group; trials count as they do in the scores."""
        n_cells, totals = self.cells.n_cells, (self.scores.non.total, self.scores.tar.total)
        place, n_groups = self.cell + n_cells * self.is_target, left_out.n_groups
        tables = left_out.tables(place, 2 * n_cells, self.share, makes_up=True).reshape(n_groups, 2, n_cells)
        kept = left_out.tables(self.is_target.astype(np.int64), 2, self.share, makes_up=False)
        found = tables * (kept * totals / tables.sum(axis=2))[:, :, None]
        return found[:, 1], found[:, 0]


def _least_cost(log_odds: float, best: BestDecisions) -> FloatArray:
    """Detection costs at the best threshold, not normalized."""
    return np.asarray(best.dcf(log_odds) * default_error(np.array(log_odds)))
