"""What trials cost in a detector, one class against the rest, and what its decisions cost where they are the best."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy.special import expit, logit

from deciban.core.ranks.hull import Pav
from deciban.core.ranks.operating import default_error
from deciban.core.resampling.class_sums import Block, DealtUnits, SharesBelow
from deciban.core.resampling.clusters import ClassRate, ClusterDesign, Groups, correlation_of_sums
from deciban.core.resampling.intervals import ROUNDING, NothingSeen, RatePart, RateSum
from deciban.core.resampling.linearised import BestDecisions, LinearCosts, bits_at, cells_of, crossing_slopes
from deciban.core.resampling.replicates import LeftOut
from deciban.core.rules.proper import softplus
from deciban.evaluation.bands import Bands
from deciban.evaluation.linear_figures import OF_MAPS, LinearFigure, chosen_without, crossing_of
from deciban.evaluation.multiclass.class_figures import AtHand, ClassFigure, CurveTaker, axis_of, curve_figures
from deciban.evaluation.multiclass.problem_sums import TargetErrors
from deciban.evaluation.uncertainty import Figure
from deciban.metrics import SortedScores
from deciban.multiclass.tables import Detectors
from deciban.types import AnyArray, FloatArray, IntArray

if TYPE_CHECKING:
    from deciban.evaluation.multiclass.result import ClassEvaluation
    from deciban.evaluation.multiclass.summary import ClassSummary

Minimal: TypeAlias = tuple[FloatArray, float | None]
"""What each trial adds to a minimum, and what to add to that for new units if it is known."""


def block_of(pav: Pav, scores: AnyArray) -> IntArray:
    """The PAV block of each score of the trials that it was made of."""
    return np.maximum(np.searchsorted(pav.low, scores, side="right") - 1, 0)


@dataclass(frozen=True, eq=False)
class BestOfDetector:
    """What is best for all trials of a detector: costs of targets and of non-targets by the PAV block of their score.

    Attributes
    ----------
    pav : Pav
    costs : tuple of (2, n_blocks) arrays
        Of the equal error rate, of the least Cllr, and of the least cost at each prior.
    crossing : tuple of ClassRate
        Both error rates, as they add up to the equal error rate; empty if they do not.
    slopes : (float, float)
        How much false alarms fall and misses rise around it.
    """

    pav: Pav
    costs: tuple[FloatArray, ...]
    crossing: tuple[ClassRate, ...]
    slopes: tuple[float, float]

    def rejected(self, log_odds: FloatArray) -> IntArray:
        """Return how many PAV blocks the best thresholds at prior log odds reject."""
        return np.asarray(self._decisions.positions(log_odds)[0])

    @cached_property
    def _decisions(self) -> BestDecisions:
        return BestDecisions.of(self.pav.n_tar, self.pav.n_non)

    @classmethod
    def of(cls, scores: SortedScores, log_odds: FloatArray, n_units: tuple[int, int]) -> BestOfDetector:
        """From the scores of a detector, at prior log odds of a target; ``n_units`` are those of both classes."""
        best, pav = BestDecisions.of(scores.pav.n_tar, scores.pav.n_non), scores.pav
        _, *slopes = crossing_slopes(scores.rocch, 1.0, n_units)
        _, crossing = crossing_of(scores.rocch, 1.0, n_units)
        own = slopes[0], slopes[1]
        return cls(pav, tuple(one.costs_by(best)[:, 0] for one in minima_of(log_odds, own)), crossing, own)


def minima_of(log_odds: FloatArray, slopes: tuple[float, float]) -> list[LinearFigure]:
    """EER, around which rates have these slopes, least Cllr, and least costs at each prior."""
    figures = [LinearFigure("eer", 0.0, 0.0, least=lambda best: best.crossing(1.0, slopes))]
    figures.append(
        LinearFigure("min_cllr", 0.0, 0.0, least=partial(BestDecisions.cost_of, costs=bits_at(0.0)), rate=OF_MAPS)
    )
    return figures + [LinearFigure("min_cost", 0.0, 0.0, least=partial(_least_cost, float(x))) for x in log_odds]


def _least_cost(log_odds: float, best: BestDecisions) -> FloatArray:
    """Detection costs at the best threshold, not normalized."""
    return np.asarray(best.dcf(log_odds) * default_error(np.array(log_odds)))


class OneDetector:
    """One class against the rest: what trials cost.

    Parameters
    ----------
    detectors : Detectors
        Of the trials.
    target : int
    log_odds : (n_points,) array
        Of priors of the target.
    best : BestOfDetector
        Of all trials, of which these may be some.
    """

    def __init__(self, detectors: Detectors, target: int, log_odds: FloatArray, best: BestOfDetector) -> None:
        self.target, self.log_odds, self.best, self.prior = target, log_odds, best, detectors.prior
        self.llr, self.own = detectors.llrs.values[target], detectors.llrs.slices[target]
        rivals = detectors.prior.copy()
        rivals[target] = 0.0
        self.share = (rivals / rivals.sum())[detectors.llrs.label]
        self.share[self.own] = 1.0
        self.is_target = np.zeros(len(self.llr), np.bool_)
        self.is_target[self.own] = True

    def of_trials(self, costs: FloatArray, place: IntArray) -> FloatArray:
        """What each trial adds to the mean of its class, from costs (2, n_places) and the place of each trial."""
        found: FloatArray = costs[1][place] * self.share
        found[self.own] = costs[0][place[self.own]]
        return found

    def cllr(self) -> FloatArray:
        """What each trial adds to Cllr."""
        found: FloatArray = softplus(np.where(self.is_target, -self.llr, self.llr)) * self.share / (2.0 * math.log(2))
        return found

    def cost(self, at: int) -> FloatArray:
        """What each trial adds to the detection cost at the Bayes threshold of one of the priors."""
        log_odds = float(self.log_odds[at])
        costs = np.array([[float(expit(log_odds)), 0.0], [0.0, float(expit(-log_odds))]])
        return self.of_trials(costs, (self.llr >= -log_odds).astype(np.int64))

    @cached_property
    def block(self) -> IntArray:
        """The PAV block of each trial."""
        return block_of(self.best.pav, self.llr)

    def minima(self) -> list[Minimal]:
        """EER, least Cllr, and least costs at each prior: what is best for all trials costs so much."""
        return [(self.of_trials(costs, self.block), None) for costs in self.best.costs]

    def minima_without(
        self, left_out: LeftOut, scores: SortedScores, thresholds: FloatArray, n_units: int
    ) -> list[Minimal]:
        """Return EER, least Cllr, and least costs at each prior, by what is best without the group of the unit.

        Trials that take part in the choice of a threshold or map cost less than others.

        Parameters
        ----------
        left_out : LeftOut
        scores : SortedScores
            Of this detector, on all trials.
        thresholds : (n,) array
            Further thresholds, beside those of its priors, at which trials are separated.
        n_units : int
        """
        cells = cells_of(scores.table, scores.pav, np.concatenate((-self.log_odds, thresholds)), n_units)
        linear, cell = LinearCosts(scores.tar, scores.non, scores.pav, scores.rocch, cells), cells.of(self.llr)
        # Targets and non-targets in cells without each group; trials count as they do in the scores.
        place, shape = cell + cells.n_cells * self.is_target, (left_out.n_groups, 2, cells.n_cells)
        tables = left_out.tables(place, 2 * cells.n_cells, self.share, makes_up=True).reshape(shape)
        kept = left_out.tables(self.is_target.astype(np.int64), 2, self.share, makes_up=False)
        totals = scores.non.total, scores.tar.total
        left = tables * (kept * totals / tables.sum(axis=2))[:, :, None]
        figures, whole = minima_of(self.log_odds, self.best.slopes), (linear.n_tar, linear.n_non)
        shifts, costs = chosen_without(figures, linear, whole, (left[:, 1], left[:, 0]))
        of_tar, of_non = (left_out.held_out(of_class, cell) for of_class in costs)
        per_trial = np.where(self.is_target[:, None], of_tar, of_non * self.share[:, None])
        return list(zip(per_trial.T, shifts.tolist(), strict=True))


def detector_groups(prior: FloatArray, target: int) -> Groups:
    """Return a target, and its rivals as this prior weighs them."""
    rivals = prior.copy()
    rivals[target] = 0.0
    return Groups(np.stack((np.eye(len(prior))[target], rivals / rivals.sum())))


def effective_of(design: ClusterDesign, groups: Groups) -> tuple[int, int]:
    """Return the effective numbers of units of both groups, rounded down."""
    tar, non = (max(math.floor(size.n_clusters + 1e-9), 1) for size in design.group_sizes(groups))
    return tar, non


class DetectorBands:
    """Error rates of detectors with their variances at some priors, from squares of influences.

    Parameters
    ----------
    found : ClassEvaluation
    units : DealtUnits
    rivals : (n_classes,) array
        Prior of the classes as rivals.
    n_curves : int
        2 for actual and least errors, 1 where the least are not known.
    block : Block, optional
        All trials, where they are in memory.

    Attributes
    ----------
    rates : dict of ("detectors", class, curve) to (places, RateSum)
        Of detectors whose target and rivals have enough units.
    """

    def __init__(
        self,
        found: ClassEvaluation,
        units: DealtUnits,
        rivals: FloatArray,
        n_curves: int = 2,
        *,
        block: Block | None = None,
    ) -> None:
        self.found, self.units, self.rivals, self.n_curves = found, units, rivals, n_curves
        self._shares = None if block is None else units.shares(block)
        self._axis = found.curves.detector_log_odds[:: Bands.STEP]
        p_target = expit(self._axis)
        self.weights = np.stack((p_target, 1.0 - p_target))[:, ::-1]
        self.thresholds = -np.asarray(logit(p_target))[::-1]  # as the curves have them, to the last digit
        self.rates: dict[Figure, tuple[FloatArray, RateSum]] = {}

    def empty(self, target: int) -> SharesBelow:
        """Return the shares of a detector below thresholds, without a trial."""
        is_target = self.units.design.home == target
        return SharesBelow(self.units, is_target, self.n_curves, len(self.thresholds))

    def places(self, one: OneDetector) -> list[IntArray]:
        """Return how many thresholds, and how many best ones, are at or below each trial."""
        found = [np.searchsorted(self.thresholds, one.llr, side="right")]
        if self.n_curves > 1:
            found.append(np.searchsorted(one.best.rejected(-self.thresholds), one.block, side="right"))
        return found

    def take(self, one: OneDetector) -> None:
        """Add a detector all of whose trials are in memory."""
        assert self._shares is not None  # noqa: S101  # then there are all trials
        below = self.empty(one.target)
        for table, found in below.counted(self._shares, one.share, self.places(one)):
            np.add(table, found, out=table)
        self.add(one.target, below)

    def add(self, target: int, below: SharesBelow) -> None:
        """Add a detector whose trials were all counted."""
        design, groups = self.units.design.clusters, detector_groups(self.rivals, target)
        if not design.has_enough(groups):
            return
        sizes, factor = design.group_sizes(groups), self.units.n_units / (self.units.n_units - 1)
        squares, rates = below.squares(self.weights * np.array([[1.0], [-1.0]])), below.rates()
        for k, name in zip(range(self.n_curves), ("act_error", "min_error"), strict=False):
            by_side = squares[1:, k, ::-1]
            parts = tuple(
                (RatePart(weight, rate, factor * own / np.square(weight), size),)
                for weight, rate, own, size in zip(
                    self.weights[:, ::-1], rates[k, :, ::-1], by_side, sizes, strict=True
                )
            )
            key = ("detectors", self.found.classes[target], name)
            self.rates[key] = self._axis, RateSum(parts, between=correlation_of_sums(by_side, squares[0, k, ::-1]))


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
        Takes all detectors, where all trials are in memory.
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
        self.left_out, self.bests = left_out, bests
        self.take_curve, self.bands = take_curve, bands
        self.p_out_of_set = summary.figures.p_out_of_set
        self.is_open = self.p_out_of_set is not None
        self.p_target = np.array(summary.figures.p_target)
        self.n_targets = found.n_classes - self.is_open
        self.actual, self.least, self.held_out = np.zeros((3, len(self.p_target), trials.n_trials))
        self.most: dict[int, FloatArray] = {}
        self.least_shift = np.zeros(len(self.p_target))
        self._values = found.detectors

    def __iter__(self) -> Iterator[list[ClassFigure]]:
        """The figures of each detector with what each trial costs."""
        # For each of the priors of rivals, the points at which it is used.
        everywhere = list(range(len(self.p_target)))
        for first, places in enumerate([[k] for k in everywhere] if self.is_open else [everywhere]):
            detectors, log_odds = self.trials.problems.detectors(first), logit(self.p_target[places])
            self._actual(detectors, places)
            for target, (best, scores) in enumerate(self._bests(first, detectors, log_odds)):
                one = OneDetector(detectors, target, log_odds, best)
                fixed = one.minima()
                least = fixed
                bands = self.bands if first == 0 else None
                if scores is not None and self.left_out is not None:
                    thresholds = np.zeros(0) if bands is None else bands.thresholds
                    n_units = self.trials.costs.units.n_units
                    least = one.minima_without(self.left_out, scores, thresholds, n_units)
                if bands is not None:
                    bands.take(one)
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
        mean: Any = {"is_refused": values["eer"] <= ROUNDING}
        of_map: Any = {"nothing_seen": entropy, "limits": (0.0, 1.0), "is_minimum": True}
        weights, default = np.array([p_target, 1.0 - p_target]), min(p_target, 1.0 - p_target)
        crossing = np.array([rate.weight for rate in one.best.crossing]) if one.best.crossing else None
        act, (eer, min_cllr, cost) = one.cllr(), least[:3]
        best: list[FloatArray | None] = [None if self.left_out is None else one for one, _ in fixed]
        make = partial(ClassFigure, "", 0.0, groups=groups)
        found = {
            "eer": make(eer[0], scale="logit", limits=(0.0, 0.5), shift=eer[1], most=crossing, fixed=best[0]),
            "cost": make(one.cost(0), limits=(0.0, 1.0), most=weights),
            "min_cost": make(cost[0], limits=(0.0, default), shift=cost[1], most=weights, fixed=best[2]),
            "cllr": make(act, nothing_seen=unbounded, **mean),
            "min_cllr": make(min_cllr[0], shift=min_cllr[1], fixed=best[1], **of_map),
        }
        if math.isfinite(values["cllr"]):
            back, lost = None if min_cllr[1] is None else -min_cllr[1], None if best[1] is None else act - best[1]
            found["calibration_loss"] = make(
                act - min_cllr[0],
                scale="identity",
                nothing_seen=unbounded,
                shift=back,
                fixed=lost,
                **mean,
                is_minimum=True,
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
