"""Costs of trials in two-class problems: one class against the rest, and pairs of classes."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.special import expit, logit

from deciban.core.expected import softplus
from deciban.core.ranks.counts import order_of
from deciban.core.ranks.roc import Pav, Rocch, default_error
from deciban.core.resampling.class_sums import CostPart, GroupedUnits, Shares, SharesBelow
from deciban.core.resampling.clusters import ClassGroups, ClassRate, ClusterDesign, correlation_of_sums
from deciban.core.resampling.intervals import ROUNDING, NothingSeen, RatePart, RateSum, Scale
from deciban.core.resampling.linearised import BestDecisions, LinearCosts, bins_of, bits_at, crossing_slopes
from deciban.core.resampling.replicates import LeftOut
from deciban.evaluation.bands import Bands
from deciban.evaluation.multiclass.class_metrics import NO_COSTS, ClassMetric, LoadedTrials, absent_of
from deciban.evaluation.multiclass.problem_sums import TargetErrors
from deciban.evaluation.two_class.linear_metrics import chosen_without, shifts_of
from deciban.evaluation.uncertainty import OF_MAPS, LinearMetric, MetricKey, crossing_of
from deciban.metrics import SortedScores
from deciban.multiclass import PairwiseAnalysis
from deciban.multiclass.tables import ByClass, Detectors, Pairs, scores_of
from deciban.types import AnyArray, FloatArray, IntArray

if TYPE_CHECKING:
    from deciban.evaluation.multiclass.result import ClassEvaluation

Held: TypeAlias = AbstractContextManager[object]
"""A lock, or a stand-in for one where nothing runs at the same time."""

Minimal: TypeAlias = tuple[FloatArray, float | None]
"""Contribution of each trial to a minimum, and the correction of the minimum for new units if known."""


def block_of(pav: Pav, scores: AnyArray) -> IntArray:
    """Return the PAV block of each score; PAV was fitted to these trials."""
    return n_reached(pav.low[1:], scores)


def n_reached(borders: FloatArray, scores: AnyArray) -> IntArray:
    """Return the number of ascending borders at or below each score, in a third of the time of a search for each.

    Examples
    --------
    >>> n_reached(np.array([0.0, 2.0]), np.array([2.0, -1.0, 1.0]))
    array([2, 0, 1])
    """
    order, result = order_of(scores), np.empty(len(scores), np.int64)
    starts = np.searchsorted(scores[order], borders)
    result[order] = np.repeat(np.arange(len(borders) + 1), np.diff(starts, prepend=0, append=len(scores)))
    return result


@dataclass(frozen=True, eq=False)
class BestOfDetector:
    """The best decisions for all trials of a detector: costs of targets and of non-targets by PAV block.

    Attributes
    ----------
    pav : Pav
    costs : tuple of (2, n_blocks) arrays
        Costs for the equal error rate, for min Cllr, and for the minimum cost at each prior.
    crossing : tuple of ClassRate
        Both error rates with the weights that give the equal error rate; empty if it is no such sum.
    slopes : (float, float)
        Slopes of false alarms (falling) and misses (rising) around the equal error rate.
    """

    pav: Pav
    costs: tuple[FloatArray, ...]
    crossing: tuple[ClassRate, ...]
    slopes: tuple[float, float]

    def rejected(self, log_odds: FloatArray) -> IntArray:
        """Return the number of PAV blocks below the best thresholds at prior log odds."""
        return np.asarray(self._decisions.positions(log_odds)[0])

    @cached_property
    def _decisions(self) -> BestDecisions:
        return BestDecisions.of(self.pav.n_tar, self.pav.n_non)

    @classmethod
    def of(cls, pav: Pav, log_odds: FloatArray, n_units: tuple[int, int]) -> BestOfDetector:
        """Create from the PAV blocks of a detector, at prior log odds of a target; ``n_units`` are for both classes."""
        best, rocch = BestDecisions.of(pav.n_tar, pav.n_non), Rocch.of(pav)
        _, own = crossing_slopes(rocch, 1.0, n_units)
        _, crossing = crossing_of(rocch, 1.0, n_units)
        return cls(pav, tuple(one.costs_by(best)[:, 0] for one in minima_of(log_odds, own)), crossing, own)


def minima_of(log_odds: FloatArray, slopes: tuple[float, float]) -> list[LinearMetric]:
    """Return EER with these slopes of rates around it, min Cllr, and minimum costs at each prior."""
    metrics = [LinearMetric("eer", 0.0, 0.0, least=lambda best: best.crossing(1.0, slopes))]
    metrics.append(
        LinearMetric("min_cllr", 0.0, 0.0, least=partial(BestDecisions.cost_of, costs=bits_at(0.0)), rate=OF_MAPS)
    )
    return metrics + [LinearMetric("min_cost", 0.0, 0.0, least=partial(_least_cost, float(x))) for x in log_odds]


def _least_cost(log_odds: float, best: BestDecisions) -> FloatArray:
    """Return detection costs at the best threshold, not normalized."""
    return np.asarray(best.dcf(log_odds) * default_error(np.array(log_odds)))


class OneDetector:
    """Costs of trials in the detection of one class against the rest.

    Parameters
    ----------
    detectors : Detectors
        Detectors of the trials.
    target : int
    log_odds : (n_points,) array
        Prior log odds of the target.
    best : BestOfDetector
        Best decisions for all trials, which can be more than these.
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
        """Return the contribution of each trial to the mean of its class, from costs (2, n_places) and places."""
        values: FloatArray = costs[1][place] * self.share
        values[self.own] = costs[0][place[self.own]]
        return values

    def cllr(self) -> FloatArray:
        """Return the contribution of each trial to Cllr."""
        values: FloatArray = softplus(np.where(self.is_target, -self.llr, self.llr)) * self.share / (2.0 * math.log(2))
        return values

    def cost(self, at: int) -> FloatArray:
        """Return the contribution of each trial to the detection cost at the Bayes threshold of one of the priors."""
        log_odds = float(self.log_odds[at])
        costs = np.array([[float(expit(log_odds)), 0.0], [0.0, float(expit(-log_odds))]])
        return self.of_trials(costs, (self.llr >= -log_odds).astype(np.int64))

    @cached_property
    def block(self) -> IntArray:
        """The PAV block of each trial."""
        return block_of(self.best.pav, self.llr)

    def minima(self) -> list[Minimal]:
        """Return the contribution of each trial to EER, min Cllr, and minimum costs at each prior."""
        return [(self.of_trials(costs, self.block), None) for costs in self.best.costs]

    def minima_without(
        self, left_out: LeftOut, scores: SortedScores, thresholds: FloatArray, n_units: int
    ) -> list[Minimal]:
        """Return EER, min Cllr, and minimum costs at each prior, by the best decisions without the group of the unit.

        Trials that are used for the choice of a threshold or map cost less than others.

        Parameters
        ----------
        left_out : LeftOut
        scores : SortedScores
            Scores of this detector on all trials.
        thresholds : (n,) array
            Additional thresholds at which trials are separated.
        n_units : int
        """
        bins = bins_of(scores.table, scores.pav, np.concatenate((-self.log_odds, thresholds)), n_units)
        linear, bin_of = LinearCosts(scores.tar, scores.non, scores.pav, scores.rocch, bins), bins.of(self.llr)
        # Targets and non-targets in bins without each group; trials have the same weights as in the scores.
        place, shape = bin_of + bins.n_bins * self.is_target, (left_out.n_groups, 2, bins.n_bins)
        tables = left_out.tables(place, 2 * bins.n_bins, self.share, makes_up=True).reshape(shape)
        kept = left_out.tables(self.is_target.astype(np.int64), 2, self.share, makes_up=False)
        totals = scores.non.total, scores.tar.total
        left = tables * (kept * totals / tables.sum(axis=2))[:, :, None]
        metrics, whole = minima_of(self.log_odds, self.best.slopes), (linear.n_tar, linear.n_non)
        shifts, costs = chosen_without(metrics, linear, whole, (left[:, 1], left[:, 0]))
        of_tar, of_non = (left_out.held_out(of_class, bin_of) for of_class in costs)
        per_trial = np.where(self.is_target[:, None], of_tar, of_non * self.share[:, None])
        return list(zip(per_trial.T, shifts.tolist(), strict=True))


def detector_groups(prior: FloatArray, target: int) -> ClassGroups:
    """Return two groups: the target, and its rivals with their weights by this prior."""
    rivals = prior.copy()
    rivals[target] = 0.0
    return ClassGroups(np.stack((np.eye(len(prior))[target], rivals / rivals.sum())))


def effective_of(design: ClusterDesign, groups: ClassGroups) -> tuple[int, int]:
    """Return the effective numbers of units of both groups, rounded down."""
    tar, non = (max(math.floor(size.n_clusters + 1e-9), 1) for size in design.group_sizes(groups))
    return tar, non


class DetectorBands:
    """Error rates of detectors with their variances at some priors, from squares of influences.

    Parameters
    ----------
    evaluation : ClassEvaluation
    units : GroupedUnits
    rivals : (n_classes,) array
        Prior of the classes as rivals.

    Attributes
    ----------
    rates : dict of ("detectors", class, curve) to (places, RateSum)
        Only detectors whose target and rivals have enough units.
    """

    def __init__(self, evaluation: ClassEvaluation, units: GroupedUnits, rivals: FloatArray) -> None:
        self.evaluation, self.units, self.rivals = evaluation, units, rivals
        self._axis = evaluation.curves.detector_log_odds[:: Bands.STEP]
        p_target = expit(self._axis)
        self.weights = np.stack((p_target, 1.0 - p_target))[:, ::-1]
        self.thresholds = -np.asarray(logit(p_target))[::-1]  # identical to the thresholds of the curves
        self.rates: dict[MetricKey, tuple[FloatArray, RateSum]] = {}

    def empty(self, target: int) -> SharesBelow:
        """Return empty counts for the shares of a detector below thresholds."""
        is_target = self.units.design.home == target
        return SharesBelow(self.units, is_target, 2, len(self.thresholds))

    def count(self, one: OneDetector, own: Shares, below: SharesBelow, lock: Held) -> None:
        """Add trials to the shares of a detector, by actual and by minimum errors."""
        actual, blocks = n_reached(self.thresholds, one.llr), np.arange(len(one.best.pav.low))
        least = np.searchsorted(one.best.rejected(-self.thresholds), blocks, side="right")[one.block]
        for table, result in below.counted(own, one.share, [actual, least]):
            with lock:
                np.add(table, result, out=table)

    def add(self, target: int, below: SharesBelow) -> None:
        """Add a detector after all of its trials were counted."""
        design, groups = self.units.design.clusters, detector_groups(self.rivals, target)
        if not design.has_enough(groups):
            return
        sizes, factor = design.group_sizes(groups), self.units.n_units / (self.units.n_units - 1)
        squares, rates = below.squares(self.weights * np.array([[1.0], [-1.0]])), below.rates()
        for k, name in enumerate(("act_error", "min_error")):
            by_side = squares[1:, k, ::-1]
            parts = tuple(
                (RatePart(weight, rate, factor * own / np.square(weight), size),)
                for weight, rate, own, size in zip(
                    self.weights[:, ::-1], rates[k, :, ::-1], by_side, sizes, strict=True
                )
            )
            key = ("detectors", self.evaluation.classes[target], name)
            self.rates[key] = self._axis, RateSum(parts, between=correlation_of_sums(by_side, squares[0, k, ::-1]))


POINT_METRICS = ("c_avg", "normalized", "min_c_avg", "normalized_min")

DETECTOR_METRICS = ("eer", "cost", "min_cost", "cllr", "min_cllr", "calibration_loss")
"""Names of metrics, in the order of results."""


class DetectorInfluences:
    """Costs of trials in all detectors, and average costs at each prior of a target.

    Parameters
    ----------
    trials : LoadedTrials
        All trials, or some of them.
    design : ClusterDesign
        Design of all trials.
    bests : sequence of sequences of BestOfDetector
        Best decisions for all trials, for each prior of the rivals and each detector.
    bands : DetectorBands
        Bands of these detectors.
    left_out : LeftOut, optional
        Groups of units, if minima are corrected.
    """

    def __init__(
        self,
        trials: LoadedTrials,
        design: ClusterDesign,
        bests: Sequence[Sequence[BestOfDetector]],
        bands: DetectorBands,
        left_out: LeftOut | None = None,
    ) -> None:
        self.evaluation, self.trials, self.design = trials.evaluation, trials, design
        self.bests, self.bands, self.left_out = bests, bands, left_out
        self.p_target = np.array(trials.summary.metrics.p_target)
        self.n_targets = len(bests[0])
        self.actual, self.least, self.held_out = np.zeros((3, len(self.p_target), trials.n_trials))
        self.most: dict[int, FloatArray] = {}
        self.least_shift = np.zeros(len(self.p_target))
        self._values = self.evaluation.detectors

    def of(self, targets: AbstractSet[int], *, averages: bool) -> Iterator[tuple[OneDetector, list[ClassMetric]]]:
        """Yield some detectors with their metrics; `points` is complete afterwards if averages are requested."""
        p_out_of_set = self.evaluation.p_out_of_set
        # Points that use each of the priors of rivals.
        everywhere = list(range(len(self.p_target)))
        for first, places in enumerate([everywhere] if p_out_of_set is None else [[k] for k in everywhere]):
            detectors, log_odds = self.trials.detectors(first), logit(self.p_target[places])
            for k in places if averages else ():
                p_target = float(self.p_target[k])
                errors = TargetErrors.of(detectors.llrs, p_target, -float(logit(p_target)), p_out_of_set)
                self.actual[k], self.most[k] = errors.costs, errors.most
            for target, best in enumerate(self.bests[first]):
                is_wanted = first == 0 and target in targets
                if not (is_wanted or averages):
                    continue
                one = OneDetector(detectors, target, log_odds, best)
                least = fixed = one.minima()
                if self.left_out is not None:
                    thresholds = self.bands.thresholds if first == 0 else np.zeros(0)
                    n_units = len(self.left_out.keys)
                    least = one.minima_without(self.left_out, detectors.scores(target), thresholds, n_units)
                for k, (costs, shift), (best_costs, _) in zip(places, least[2:], fixed[2:], strict=True):
                    self.least[k] += best_costs / self.n_targets
                    self.held_out[k] += costs / self.n_targets
                    self.least_shift[k] += (shift or 0.0) / self.n_targets
                if is_wanted:
                    yield one, self._metrics(one, least, fixed)

    def _metrics(self, one: OneDetector, least: Sequence[Minimal], fixed: Sequence[Minimal]) -> list[ClassMetric]:
        target = one.target
        name, values = self.evaluation.classes[target], self._values[self.evaluation.classes[target]]
        groups = detector_groups(one.prior, target)
        few, p_target = min(effective_of(self.design, groups)), float(self.p_target[0])
        unbounded = NothingSeen(few, math.inf)
        entropy = NothingSeen(few, is_entropy=True, ceiling=1.0) if values["min_cllr"] <= ROUNDING else None
        is_lost = values["eer"] <= ROUNDING
        weights, default = np.array([p_target, 1.0 - p_target]), min(p_target, 1.0 - p_target)
        crossing = np.array([rate.weight for rate in one.best.crossing]) if one.best.crossing else None
        act, (eer, min_cllr, cost) = one.cllr(), least[:3]
        best: list[FloatArray | None] = [None if self.left_out is None else one for one, _ in fixed]
        make = partial(ClassMetric, "", 0.0, groups=groups)
        entries = {
            "eer": make(eer[0], scale="logit", limits=(0.0, 0.5), shift=eer[1], most=crossing, fixed=best[0]),
            "cost": make(one.cost(0), limits=(0.0, 1.0), most=weights),
            "min_cost": make(cost[0], limits=(0.0, default), shift=cost[1], most=weights, fixed=best[2]),
            "cllr": make(act, nothing_seen=unbounded, is_refused=is_lost),
            "min_cllr": partial(make, limits=(0.0, 1.0), is_minimum=True)(
                min_cllr[0], nothing_seen=entropy, shift=min_cllr[1], fixed=best[1]
            ),
        }
        if math.isfinite(values["cllr"]):
            back, lost = None if min_cllr[1] is None else -min_cllr[1], None if best[1] is None else act - best[1]
            entries["calibration_loss"] = make(
                act - min_cllr[0],
                scale="identity",
                nothing_seen=unbounded,
                shift=back,
                fixed=lost,
                is_refused=is_lost,
                is_minimum=True,
            )
        return [replace(metric, name=("detectors", name, what), value=values[what]) for what, metric in entries.items()]

    def points(self) -> Iterator[ClassMetric]:
        """Yield average costs at each prior of a target and their means, after all detectors."""
        kept: dict[str, list[ClassMetric]] = {name: [] for name in POINT_METRICS}
        groups, is_corrected = ClassGroups.apart(self.evaluation.n_classes), self.left_out is not None
        for k, point in enumerate(self.evaluation.points):
            for name, value in point.costs.items():
                is_least, factor = "min" in name, 1.0 / point.default_cost if name.startswith("normalized") else 1.0
                most, rates = factor * self.most[k], self.evaluation.curves.point_rates[k].reshape(2, 2)[int(is_least)]
                shift = factor * float(self.least_shift[k]) if is_least and is_corrected else None
                costs = factor * (self.held_out if is_least else self.actual)[k]
                fixed = factor * self.least[k] if is_least and is_corrected else None
                limits = (0.0, factor * (point.default_cost if is_least else 1.0))
                make = partial(ClassMetric, limits=limits, most=most.sum(axis=0), absent=absent_of(most, rates))
                kept[name].append(make((name, k), value, costs, groups, shift=shift, fixed=fixed, are_graded=True))
        for name, value in self.evaluation.mean_costs.items():
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
                absent=np.mean([one.absent for one in some if one.absent is not None], axis=0),
                fixed=np.mean(fixed_costs, axis=0) if fixed_costs else None,
            )


PAIR_METRICS = ("cllr", "min_cllr", "calibration_loss")


_FEWEST_OF_PAIR = 50
"""Least effective units of each class of a pair for an interval of min Cllr: with 6 to 30, it held 79 to 90 %."""


def pair_parts(
    leads: ByClass, pavs: Mapping[tuple[int, int], Pav], rows: Mapping[tuple[int, int], int]
) -> Iterator[CostPart]:
    """Yield costs of the trials of each class in pairs; the metrics of each pair begin at its row."""
    of_class = defaultdict[int, list[tuple[int, int]]](list)
    for (i, j), row in rows.items():
        of_class[i].append((j, row))
        of_class[j].append((i, row))
    for k, own in enumerate(leads.slices):
        if own.stop > own.start and of_class[k]:
            first = np.array([row for _, row in of_class[k]])
            places = (first[:, None] + np.arange(len(PAIR_METRICS))).ravel()
            costs = [_pair_costs(leads, k, j, pavs[max(k, j), min(k, j)]) for j, _ in of_class[k]]
            yield CostPart(places, own, np.concatenate(costs))


def _pair_costs(leads: ByClass, k: int, j: int, pav: Pav) -> FloatArray:
    """Return costs of the trials of a class in comparison with another one, (3, n_trials)."""
    lead = leads.values[j, leads.slices[k]]
    llr = pav.llr[block_of(pav, lead)] if k > j else -pav.llr[block_of(pav, -lead)]
    act, least = softplus(-lead) / math.log(2), softplus(-llr) / math.log(2)
    with np.errstate(invalid="ignore"):
        costs = 0.5 * np.stack((act, least, act - least))
    return np.asarray(np.where(np.isfinite(costs), costs, 0.0))


def pair_metrics(
    classes: Sequence[str],
    analysis: PairwiseAnalysis,
    seen: IntArray,
    i: int,
    others: IntArray,
    shifts: FloatArray | None = None,
) -> Iterator[ClassMetric]:
    """Yield metrics of a class with each of some others."""
    values = {what: getattr(analysis, what) for what in PAIR_METRICS}
    for at, j in enumerate(others.tolist()):
        groups = ClassGroups.of([i, j], len(classes))
        few = int(min(seen[i], seen[j]))
        unbounded, entropy = NothingSeen(few, math.inf), NothingSeen(few, is_entropy=True, ceiling=1.0)
        for what in PAIR_METRICS:
            value = float(values[what][i, j])
            nothing = (entropy if value <= ROUNDING else None) if what == "min_cllr" else unbounded
            scale: Scale = "identity" if what == "calibration_loss" else "log"
            limits = (0.0, 1.0 if what == "min_cllr" else math.inf)
            shift = None if shifts is None or what == "cllr" else float(shifts[at])
            if shift is not None and what == "calibration_loss":
                shift = -shift
            is_separated = values["min_cllr"][i, j] <= ROUNDING
            is_refused = few < _FEWEST_OF_PAIR if what == "min_cllr" else is_separated
            make = partial(ClassMetric, shift=shift, is_minimum=what != "cllr", is_refused=is_refused)
            name = (f"pairwise_{what}", classes[j], classes[i])
            yield make(name, value, NO_COSTS, groups, scale, nothing, limits)


def shifts_of_pairs(pairs: Pairs, left_out: LeftOut, whole: FloatArray, i: int, others: IntArray) -> FloatArray:
    """Return corrections of min Cllr of a class with each of some others, for new units."""
    parts = np.empty((left_out.n_groups, len(others)))
    for number in range(left_out.n_groups):
        stays = left_out.stays(number) > 0.0
        rows = [np.flatnonzero(stays[own]) + own.start for own in pairs.leads.slices]
        parts[number] = [scores_of(pairs.sides(i, j, rows)).recalibrated.cllr() for j in others.tolist()]
    return shifts_of(whole, parts, OF_MAPS)
