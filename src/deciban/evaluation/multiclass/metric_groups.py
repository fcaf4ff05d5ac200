"""Uncertainty of multiclass metrics, from costs of trials in memory or in batches.

Decisions that are the best for all trials (maps, PAV blocks) are held fixed.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from typing import Self, TypeAlias

import numpy as np
from scipy.linalg import helmert
from scipy.special import logit

from deciban.core.ranks.roc import Pav
from deciban.core.resampling.class_sums import ClassMeans, CostBlock, CostPart, CostSums, GroupedUnits, centre_of
from deciban.core.resampling.clusters import UnitDesign
from deciban.core.resampling.replicates import BLOCK, LeftOut, poisson_weights
from deciban.core.resampling.units import Keys, TrialUnits
from deciban.core.training.multiclass_objective import ClassObjective, ClassTrials
from deciban.core.training.trust_region import Minimum, minimize
from deciban.errors import not_none
from deciban.evaluation.bands import Bands
from deciban.evaluation.multiclass import class_metrics, detector_costs
from deciban.evaluation.multiclass.class_metrics import ClassMetric, LoadedTrials, MetricGroup
from deciban.evaluation.multiclass.result import ClassEvaluation
from deciban.evaluation.multiclass.summary import ClassSummary, LazyProblems
from deciban.evaluation.two_class.summary import N_GROUPS
from deciban.evaluation.uncertainty import KEPT_CURVES, Bootstrap, MetricKey, Resampling, Uncertainty
from deciban.memory import Cost, rows_that_fit
from deciban.multiclass.tables import Pairs, ScoredClasses, calibrated_surprises, scores_of
from deciban.types import BoolArray, CountArray, FloatArray, IntArray

DRAWN = (class_metrics.ALL, class_metrics.DETECTOR)
"""Groups whose metrics have replicates."""

_AT_ONCE = 1 << 18
"""Costs of trials that are processed at once: with many trials, metrics are processed one by one."""

_PAIR_SUMS = 1 << 21
"""Sums of costs by unit that are in memory at once for pairs."""


@dataclass(frozen=True, slots=True, eq=False)
class CostedMetrics:
    """Some metrics of a group, with costs of trials.

    Attributes
    ----------
    group : MetricGroup
    metrics : list of ClassMetric
    parts : list of CostPart
        Costs by the best decisions for all trials; rates of all classes share a row.
    n_rows : int
        Number of rows of the costs.
    held_out : (n_rows, n_trials) array or None
        Costs by decisions that were made without the unit, if minima are corrected.
    detector : OneDetector or None
        The detector of the metrics.
    """

    group: MetricGroup
    metrics: list[ClassMetric]
    parts: list[CostPart]
    n_rows: int
    held_out: FloatArray | None = None
    detector: detector_costs.OneDetector | None = None

    @classmethod
    def of(
        cls, group: MetricGroup, metrics: Iterable[ClassMetric], detector: detector_costs.OneDetector | None = None
    ) -> CostedMetrics:
        """Create from metrics with costs, without metrics that are not finite."""
        some = [one for one in metrics if class_metrics.is_known(one)]
        held_out = None
        if any(one.fixed is not None for one in some):
            held_out = np.stack([one.costs for one in some])
        fixed = [one.costs if one.fixed is None else one.fixed for one in some]
        parts = [_part(np.stack(fixed))] if some else []
        return cls(group, some, parts, len(some), held_out, detector)

    @classmethod
    def in_turn(cls, group: MetricGroup, metrics: Iterator[ClassMetric], at_once: int) -> Iterator[CostedMetrics]:
        """Yield ``at_once`` metrics at a time."""
        while some := list(islice(metrics, at_once)):
            yield cls.of(group, some)

    def sums(self, block: CostBlock, design: UnitDesign, costs: FloatArray | None = None) -> CostSums:
        """Add up costs over all trials; by default, the costs of the metrics."""
        parts = self.parts if costs is None else [_part(costs)]
        result = CostSums.empty(centre_of(parts, block, (self.n_rows, len(design.home))), design)
        for part in parts:
            result.add(part, block)
        return result


def _part(costs: FloatArray) -> CostPart:
    return CostPart(np.arange(len(costs)), slice(0, costs.shape[1]), costs)


@dataclass(frozen=True, eq=False)
class MetricGroups:
    """Metrics of an evaluation in groups; the object is picklable.

    Attributes
    ----------
    summary : ClassSummary
        Summary without trials; see `of`.
    evaluation : ClassEvaluation
    design : UnitDesign
        Design of all trials.
    bests : tuple of tuples of BestOfDetector
        Best decisions for each prior of the rivals and each target.
    pavs : mapping of (int, int) to Pav
        PAV of every class with those before it; empty if all trials are in memory.
    bands : DetectorBands
    left_out : LeftOut or None
        Groups of units, if minima are corrected.
    without : CalibratedWithout or None
    """

    summary: ClassSummary
    evaluation: ClassEvaluation
    design: UnitDesign
    bests: tuple[tuple[detector_costs.BestOfDetector, ...], ...]
    pavs: Mapping[tuple[int, int], Pav]
    bands: detector_costs.DetectorBands
    left_out: LeftOut | None = None
    without: class_metrics.CalibratedWithout | None = None

    @classmethod
    def of(
        cls,
        summary: ClassSummary,
        evaluation: ClassEvaluation,
        design: UnitDesign,
        units: TrialUnits,
        pavs: Mapping[tuple[int, int], Pav],
    ) -> MetricGroups:
        """Create from a summary, its evaluation, all units, and PAV blocks of pairs; see `MetricGroups`."""
        metrics, log_odds = summary.metrics, np.asarray(logit(np.array(summary.metrics.p_target)))
        places = [log_odds] if metrics.p_out_of_set is None else [log_odds[k : k + 1] for k in range(len(log_odds))]
        rivals = metrics.rivals(len(summary.classes))
        n_targets = len(summary.classes) - (metrics.p_out_of_set is not None)

        def best(at: int, target: int, pav: Pav) -> detector_costs.BestOfDetector:
            groups = detector_costs.detector_groups(rivals[at], target)
            n_units = detector_costs.effective_of(design.clusters, groups)
            return detector_costs.BestOfDetector.of(pav, places[at], n_units)

        bests = tuple(
            tuple(best(at, *one) for one in zip(range(n_targets), summary.problems.pavs(at), strict=False))
            for at in range(len(rivals))
        )
        bands = detector_costs.DetectorBands(evaluation, GroupedUnits.of(design, units, Bands.MOST_UNITS), rivals[0])
        bare = replace(summary, problems=LazyProblems.empty(summary.classes), accepted=None, whole=None)
        return cls(bare, evaluation, design, bests, pavs, bands)

    @property
    def names(self) -> list[MetricGroup]:
        """Names of all groups."""
        pairs = (
            [(class_metrics.PAIRS, i) for i in range(1, self.evaluation.n_classes)]
            if self.evaluation.pairwise is not None
            else []
        )
        detectors = [(class_metrics.DETECTOR, k) for k in range(len(self.bests[0]))]
        return [
            (class_metrics.ALL, 0),
            (class_metrics.SUBSETS, 0),
            (class_metrics.CURVE, 0),
            (class_metrics.RATES, 0),
            *detectors,
            *pairs,
        ]

    def at_hand(self, trials: ScoredClasses, units: TrialUnits | None, stratum: IntArray | None) -> LoadedTrials:
        """Return trials for the computation of costs; see `LoadedTrials`."""
        return LoadedTrials(self.summary, self.evaluation, trials, units, stratum)

    def costed(self, names: Collection[MetricGroup], at_hand: LoadedTrials) -> Iterator[CostedMetrics]:
        """Yield metrics of each group with costs, always in the same order; a group can be split."""
        clusters, at_once = self.design.clusters, max(_AT_ONCE // max(at_hand.n_trials, 1), 1)
        costs = class_metrics.ClassMetricCosts(at_hand, clusters, self.without)
        if (class_metrics.CURVE, 0) in names:
            yield from CostedMetrics.in_turn((class_metrics.CURVE, 0), class_metrics.curve_metrics(at_hand), at_once)
        detectors = detector_costs.DetectorInfluences(at_hand, clusters, self.bests, self.bands, self.left_out)
        targets = {at for what, at in names if what == class_metrics.DETECTOR}
        for one, metrics in detectors.of(targets, averages=(class_metrics.ALL, 0) in names):
            yield CostedMetrics.of((class_metrics.DETECTOR, one.target), metrics, one)
        if (class_metrics.ALL, 0) in names:
            yield CostedMetrics.of(
                (class_metrics.ALL, 0), [*costs.rules(), *costs.decisions(), *costs.classifier(), *detectors.points()]
            )
        if (class_metrics.SUBSETS, 0) in names:
            yield from CostedMetrics.in_turn((class_metrics.SUBSETS, 0), class_metrics.subset_metrics(at_hand), at_once)
        if (class_metrics.RATES, 0) in names:
            for row, metrics in zip(costs.rate_rows(), costs.rate_metrics(), strict=True):
                yield CostedMetrics((class_metrics.RATES, 0), metrics, [_part(row[None])], 1)
        if of_pairs := [at for what, at in names if what == class_metrics.PAIRS]:
            pairs = Pairs.of(at_hand.trials)
            for i in of_pairs:
                yield from self._pairs(i, pairs)

    def _pairs(self, i: int, pairs: Pairs) -> Iterator[CostedMetrics]:
        """Yield metrics of a class with those before it."""
        result, n, at_once = not_none(self.evaluation.pairwise, "pairwise"), len(detector_costs.PAIR_METRICS), i
        if self.design.weights.by_unit is not None:
            at_once = max(_PAIR_SUMS // (n * self.design.n_pairs), 1)
        for first in range(0, i, at_once):
            others = np.arange(first, min(first + at_once, i))
            names = [(i, j) for j in others.tolist()]
            pavs = {pair: self.pavs[pair] if self.pavs else scores_of(pairs.sides(*pair)).pav for pair in names}
            shifts = None
            if self.left_out is not None:
                shifts = detector_costs.shifts_of_pairs(pairs, self.left_out, result.min_cllr[i, others], i, others)
            metrics = detector_costs.pair_metrics(
                self.summary.classes, result, self.design.clusters.effective, i, others, shifts
            )
            parts = list(detector_costs.pair_parts(pairs.leads, pavs, {pair: n * k for k, pair in enumerate(names)}))
            yield CostedMetrics((class_metrics.PAIRS, i), list(metrics), parts, n * len(others))

    def kept(self, n_units: int, keep: bool | None) -> set[str]:  # noqa: FBT001  # as Resampling has it
        """Return the kinds of groups whose influences of units are kept."""
        n_points, classifier = len(self.evaluation.points) + 1, self.evaluation.requested.classifier
        n_of_all = 16 + 6 * len(classifier) + n_points * len(detector_costs.POINT_METRICS)  # upper bound
        n_of_detectors = n_of_all + len(self.bests[0]) * len(detector_costs.DETECTOR_METRICS)
        numbers, limit = {class_metrics.ALL: n_of_all, class_metrics.DETECTOR: n_of_detectors}, class_metrics.MOST_KEPT
        kinds = {what for what, n in numbers.items() if (n * n_units <= limit if keep is None else keep)}
        if keep is not False and len(class_metrics.axis_of(self.summary)) * n_units <= (limit if keep else KEPT_CURVES):
            kinds.add(class_metrics.CURVE)
        return kinds


_PRECISE = 1e-6
"""Relative gain of another step at which training stops; the result includes this gain."""


def calibrated_without(at_hand: LoadedTrials, left_out: LeftOut) -> class_metrics.CalibratedWithout | None:
    """Train without each group in turn; return None if scores are infinite, the scale is 0, or there is no training.

    Parameters
    ----------
    at_hand : LoadedTrials
        All trials, with units.
    left_out : LeftOut
        Groups of units.
    """
    result, trials, order = at_hand.evaluation, at_hand.trials, at_hand.order
    calibration, n = result.calibration, result.n_classes
    if not math.isfinite(result.min_cllr) or calibration.scale <= 0.0 or result.n_infinite:
        return None
    fixed, basis = np.append(calibration.scale, calibration.offset), np.zeros((n + 1, n))
    basis[0, 0], basis[1:, 1:] = calibration.scale, helmert(n).T
    start, costs, parts = np.zeros(n), np.zeros(len(order)), []
    whole = _objective(trials, order, left_out.share, fixed, basis)
    at = whole(start)
    if not at.is_finite:
        return None
    first = Minimum(start, start, at, math.inf, 0, 1, converged=True, flat=0)
    for number, (weights, _) in enumerate(left_out.weights()):
        own_objective = _objective(trials, order, weights, fixed, basis)
        least = minimize(own_objective, start, reuse=True, precise=_PRECISE, after=first, max_evaluations=20)
        parts.append(least.least / math.log(2))
        scale, *offsets = fixed + basis @ least.best
        for side in left_out.sides:
            own = np.flatnonzero(side == number)
            if not len(own):
                continue
            some = replace(trials, loglik=trials.loglik[order[own]], label=trials.label[order[own]], weights=None)
            found_costs = calibrated_surprises(some, float(scale), np.array(offsets))
            costs[own] += found_costs / len(left_out.sides)
    return class_metrics.CalibratedWithout(
        max((len(parts) - 1) * (result.min_cllr - float(np.mean(parts))), 0.0), costs
    )


def _objective(
    trials: ScoredClasses, order: IntArray, weights: FloatArray, fixed: FloatArray, basis: FloatArray
) -> ClassObjective:
    """Return Cllr in nats as a function of a map, with weights of trials in the means of their classes."""
    some, n = np.flatnonzero(weights), trials.n_classes
    rows, prior = order[some], np.full(n, 1.0 / n)
    few = ClassTrials(trials.loglik[rows][:, None, :], trials.label[rows], prior, weights[some])
    return ClassObjective(few, np.log(prior), fixed, basis, np.zeros(n))


@dataclass(frozen=True, slots=True, eq=False)
class EqualWeightSets:
    """Sets of trials with the same units and the same stratum, which have equal weight in every replicate.

    Attributes
    ----------
    stratum : (n_sets,) int array
        Ascending.
    codes : tuple of (n_sets,) int arrays
        Positions of their units; two arrays if trials have two units.
    place : (n_trials,) int array
        The set of each trial.
    keys : (n_units,) uint64 array
    """

    stratum: IntArray
    codes: tuple[IntArray, ...]
    place: IntArray
    keys: Keys

    @classmethod
    def of(cls, stratum: IntArray, units: TrialUnits) -> EqualWeightSets:
        """Group trials by units and stratum."""
        used = units.only_used()
        key = stratum.astype(np.int64)
        for side in used.codes:
            key = key * used.n_units + side
        _, first, place = np.unique(key, return_index=True, return_inverse=True)
        return cls(stratum[first], tuple(side[first] for side in used.codes), place, used.keys)

    def summed(self, costs: FloatArray, weights: CountArray | None) -> FloatArray:
        """Return costs (n_metrics, n_trials), times weights of the trials, summed by set: (n_sets, n_metrics)."""
        from scipy.sparse import csr_matrix  # loads on request

        own, n = np.ones(len(self.place)) if weights is None else weights.astype(np.float64), len(self.place)
        members = csr_matrix((own, (self.place, np.arange(n))), shape=(len(self.stratum), n))
        return np.asarray(members @ costs.T)

    def weights(self, seed: int, numbers: range) -> FloatArray:
        """Return the weight of each set in replicates, (n_sets, n_replicates); a unit on both sides counts once."""
        drawn = poisson_weights(self.keys, seed, np.array(numbers))
        values = drawn[self.codes[0]].astype(np.float64)
        for other in self.codes[1:]:
            values *= np.where((other == self.codes[0])[:, None], np.uint8(1), drawn[other])
        return values

    def runs(self) -> Iterator[tuple[int, slice]]:
        """Yield strata, with the range of their sets."""
        begins = np.flatnonzero(np.diff(self.stratum, prepend=-1))
        for first, last in zip(begins, np.append(begins[1:], len(self.stratum)), strict=True):
            yield int(self.stratum[first]), slice(int(first), int(last))


_WEIGHTS = 1 << 21
"""Weights of trials that are multiplied at once."""


class Replicates:
    """Metrics in some replicates: costs times the weights of units, by metric, stratum and replicate.

    Weights are a function of seed, replicate and key of a unit, so that batches share nothing. Trained maps and best
    thresholds are held fixed: a replicate is the cost of the same decisions on its trials. The weight of a class, and
    of each class of a group, is fixed.

    Parameters
    ----------
    names : mapping of MetricGroup to sequence of MetricKey
    n_strata : int
    seed : int
    numbers : range
        Numbers of the replicates.
    """

    def __init__(
        self, names: Mapping[MetricGroup, Sequence[MetricKey]], n_strata: int, seed: int, numbers: range
    ) -> None:
        self.names, self.seed, self.numbers = names, seed, numbers
        sizes = [len(some) for some in names.values()]
        self.begins = dict(zip(names, np.cumsum([0, *sizes]).tolist(), strict=False))
        # The last metric contains the weights themselves; the first replicate contains the original trials.
        self.sums = np.zeros((sum(sizes) + 1, n_strata, len(numbers) + 1))

    def __iadd__(self, other: Replicates) -> Self:
        self.sums += other.sums
        return self

    def add(self, block: CostBlock, costed: Iterable[CostedMetrics], lock: detector_costs.Held) -> None:
        """Add the trials of a batch, with the metrics that have replicates."""
        alike = EqualWeightSets.of(block.stratum, not_none(block.units, "units"))
        rows = [np.array([len(self.sums) - 1])]
        summed = [alike.summed(np.ones((1, len(block.stratum))), block.weights)]
        for one in costed:
            for part in one.parts:
                rows.append(self.begins[one.group] + part.metrics)
                summed.append(alike.summed(part.costs if one.held_out is None else one.held_out, block.weights))
        row, costs = np.concatenate(rows), np.concatenate(summed, axis=1)

        def multiply(times: FloatArray, columns: slice) -> None:
            for stratum, own in alike.runs():
                result = costs[own].T @ times[own]
                with lock:
                    self.sums[row, stratum, columns] += result

        multiply(np.ones((len(alike.stratum), 1)), slice(0, 1))
        step = max(_WEIGHTS // len(alike.stratum), 1)
        for first in range(0, len(self.numbers), step):
            some = self.numbers[first : first + step]
            multiply(alike.weights(self.seed, some), slice(1 + first, 1 + first + len(some)))

    def drawn(self, design: UnitDesign) -> tuple[dict[MetricKey, FloatArray], BoolArray]:
        """Return the metrics, with the original trials first, and a mask of replicates with trials of all strata."""
        totals, weight = design.weights.totals, self.sums[-1]
        there, shares = totals > 0.0, totals * design.share
        has_all = np.asarray((weight > 0.0)[there].all(axis=0))[1:]
        scale = np.divide(shares[:, None], weight, out=np.zeros(weight.shape), where=weight > 0.0)
        values = np.einsum("fsr,sr->fr", self.sums[:-1], scale)
        return dict(zip(chain(*self.names.values()), values, strict=True)), has_all


Draw: TypeAlias = Callable[[Mapping[MetricGroup, Sequence[MetricKey]], range], Replicates]
"""Function that adds up some metrics in some replicates over all trials."""


def bootstrap_of(
    memory: float, draw: Draw, gathered: class_metrics.CollectedMetrics, resampling: Resampling
) -> Bootstrap | None:
    """Draw replicates of sums of class means, by the best decisions for all trials; None without a bootstrap.

    Parameters
    ----------
    memory : float
        Bytes for sums of replicates.
    draw : Draw
    gathered : CollectedMetrics
        All metrics.
    resampling : Resampling
    """
    if not resampling.bootstrap:
        return None
    names = {one: some for one, some in gathered.names.items() if one[0] in DRAWN}
    of_metric, most = Cost.CLASS_REPLICATE * len(gathered.design.home), max(map(len, names.values())) + 1
    at_once = BLOCK * rows_that_fit(memory, of_metric * most * BLOCK)
    result, has_all = defaultdict[MetricKey, list[FloatArray]](list), list[BoolArray]()
    for first in range(0, resampling.bootstrap, at_once):
        numbers = range(first, min(first + at_once, resampling.bootstrap))
        room = rows_that_fit(memory, of_metric * (1 + len(numbers)))
        for some in together({one: len(own) for one, own in names.items()}, room):
            drawn, has = draw({one: names[one] for one in some}, numbers).drawn(gathered.design)
            for name, values in drawn.items():
                result[name].append(values)
        has_all.append(has)
    whole: dict[MetricKey, tuple[FloatArray, float]] = {}
    for name, parts in result.items():
        if name in gathered.estimates:
            one = np.concatenate([own[1:] for own in parts])
            whole[name] = (np.zeros(len(one)), 0.0) if name in gathered.still else (one, float(parts[0][0]))
    return Bootstrap.of(whole, np.concatenate(has_all), gathered.estimates, resampling)


def together(sizes: Mapping[MetricGroup, float], room: float) -> Iterator[list[MetricGroup]]:
    """Yield lists of groups that fit in memory together (at least one)."""
    some, taken = list[MetricGroup](), 0.0
    for name, size in sizes.items():
        if some and taken + size > room:
            yield some
            some, taken = [], 0.0
        some.append(name)
        taken += size
    yield some


_KEPT = 1 << 16
"""Trials whose costs are kept for replicates, at most; costs of more trials are computed again."""

MEMORY = 1 << 28
"""Bytes for sums of replicates if all trials are in memory."""


def drawn_at_hand(
    block: CostBlock,
    costed: Callable[[Collection[MetricGroup]], Iterable[CostedMetrics]],
    n_strata: int,
    seed: int,
    names: Mapping[MetricGroup, Sequence[MetricKey]],
    numbers: range,
) -> Replicates:
    """Return replicates of trials in memory: a `Draw` after the first four arguments are bound."""
    replicates = Replicates(names, n_strata, seed, numbers)
    replicates.add(block, costed(names), nullcontext())
    return replicates


def class_uncertainty_of(
    summary: ClassSummary, evaluation: ClassEvaluation, resampling: Resampling
) -> Uncertainty | None:
    """Return the uncertainty of a multiclass evaluation; None if no class has two units, or units are unknown.

    Parameters
    ----------
    summary : ClassSummary
        Summary of trials in memory.
    evaluation : ClassEvaluation
        Evaluation of this summary.
    resampling : Resampling
    """
    trials, units = summary.in_turn.trials, summary.in_turn.units
    if units is None:
        return None
    at_hand = LoadedTrials(summary, evaluation, trials, units, summary.in_turn.stratum)
    means = ClassMeans.of(at_hand.label, at_hand.block.stratum, at_hand.block.weights, units.take(at_hand.order))
    design, block = means.design, means.block
    if design.n_units < 2:
        return None
    metric_groups = MetricGroups.of(summary, evaluation, design, units, {})
    if resampling.optimism:  # off by default, because it takes longer than the rest
        left_out = LeftOut(means, N_GROUPS)
        if left_out.is_possible:
            without = calibrated_without(at_hand, left_out)
            metric_groups = replace(metric_groups, left_out=left_out, without=without)
    gathered, bands = (
        class_metrics.CollectedMetrics(design, metric_groups.kept(units.n_units, resampling.keep)),
        metric_groups.bands,
    )
    shares, no_lock = bands.units.shares(block), nullcontext()
    metrics = list[CostedMetrics]()
    for one in metric_groups.costed(metric_groups.names, at_hand):
        if resampling.bootstrap and one.group[0] in DRAWN and at_hand.n_trials <= _KEPT:
            metrics.append(one)
        held_out = None if one.held_out is None else one.sums(block, design, one.held_out)
        gathered.add(one.group, one.metrics, one.sums(block, design), held_out)
        if one.detector is not None:
            below = bands.empty(one.detector.target)
            bands.count(one.detector, shares, below, no_lock)
            bands.add(one.detector.target, below)

    def costed(names: Collection[MetricGroup]) -> Iterable[CostedMetrics]:
        return [one for one in metrics if one.group in names] or metric_groups.costed(names, at_hand)

    draw = partial(drawn_at_hand, block, costed, len(design.home), resampling.seed)
    return gathered.uncertainty(
        units, summary, evaluation, bands.rates, resampling, partial(bootstrap_of, MEMORY, draw)
    )
