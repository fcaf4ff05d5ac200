"""Two-class metrics as costs of bins, and notes on their intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy.special import expit, logit

from deciban.core.ranks.roc import ErrorsAt, beyond, evidence_bounds
from deciban.core.resampling import linearised
from deciban.core.resampling.clusters import ClassRate
from deciban.core.resampling.intervals import ROUNDING, NothingSeen, Scale
from deciban.core.resampling.linearised import BestDecisions, LinearCosts
from deciban.core.resampling.unit_counts import cumulated, parts_of
from deciban.evaluation.metrics import RuleCosts, decision_metrics
from deciban.evaluation.uncertainty import OF_MAPS, Least, LinearMetric, MetricKey, crossing_of, is_chance
from deciban.metrics.costs import own_costs
from deciban.types import CountArray, FloatArray, FloatPair, IntArray

if TYPE_CHECKING:
    from deciban.evaluation.results import Evaluation, PointResult
    from deciban.evaluation.two_class.summary import BinnedTrials, Summary
    from deciban.rules.families import ThresholdRule


LARGEST = 1e140
"""Largest metrics and costs that have intervals: squares of larger ones cannot be added up."""


class MetricsOfEvaluation:
    """All metrics of an evaluation, as costs of bins.

    Parameters
    ----------
    summary : Summary
    evaluation : Evaluation
        Evaluation of this summary.
    costs : LinearCosts
    n_units : (int, int)
        Number of units with trials of each class.
    """

    def __init__(self, summary: Summary, evaluation: Evaluation, costs: LinearCosts, n_units: tuple[int, int]) -> None:
        self.summary, self.evaluation, self.costs, self.n_units = summary, evaluation, costs, n_units

    def __iter__(self) -> Iterator[LinearMetric]:
        """Iterate over the metrics that are finite and have finite squares."""
        parts = (self._ranks, self._rules, self._told, self._points, self._errors, self._requested)
        return (one for part in parts for one in part() if abs(one.value) <= LARGEST)

    def _rate(self, name: MetricKey, value: float, costs: FloatArray, kind: int) -> LinearMetric:
        return LinearMetric(name, value, costs, "logit", limits=(0.0, 1.0), sums=(ClassRate(kind, 1.0, value),))

    def _both_rates(self, miss: str, false_alarm: str, k: int, at: PointResult | ErrorsAt) -> Iterator[LinearMetric]:
        """Yield the miss rate and the false-alarm rate at a fixed threshold."""
        yield self._rate((miss, k), at.p_miss, self.costs.rates(at.threshold, 1.0, 0.0), 0)
        yield self._rate((false_alarm, k), at.p_fa, self.costs.rates(at.threshold, 0.0, 1.0), 1)

    def _ranks(self) -> Iterator[LinearMetric]:
        result, total, half = self.evaluation, float(self.summary.n_non), (0.0, 0.5)
        ratio = float(self.summary.n_tar) / total
        least, sums = crossing_of(self.costs.rocch, 1.0, self.n_units)
        yield LinearMetric("eer", result.eer, 0.0, "logit", None, least, half, sums=sums)
        area = NothingSeen(min(self.n_units), below=float(result.auc >= 1.0 - ROUNDING))
        yield LinearMetric("auc", result.auc, self.costs.auc(), "logit", area, limits=(0.0, 1.0))
        least, sums = crossing_of(self.costs.rocch, ratio, self.n_units, total)
        yield LinearMetric("prbep", result.prbep, 0.0, "log", None, least, sums=sums)

    @property
    def _unbounded(self) -> NothingSeen:
        """Information on costs that may be infinite."""
        return NothingSeen(min(self.n_units), math.inf)

    def _rules(self) -> Iterator[LinearMetric]:
        result, bits = self.evaluation, linearised.bits_at(0.0)
        entropy = NothingSeen(min(self.n_units), is_entropy=True) if result.min_cllr <= ROUNDING else None
        values = result.cllr, result.min_cllr, result.calibration_loss
        names = "cllr", "min_cllr", "calibration_loss"
        yield from self._calibrated(names, values, self.costs.of_means(bits), bits, entropy, limits=(0.0, 1.0))

    def _calibrated(
        self,
        names: Sequence[MetricKey],
        values: Sequence[float],
        total: FloatArray,
        costs: linearised.BinCosts,
        nothing_seen: NothingSeen | None,
        *,
        limits: tuple[float, float] = (0.0, math.inf),
    ) -> Iterator[LinearMetric]:
        """Yield a mean cost, its minimum after calibration, and their difference."""
        unbounded, least = self._unbounded, partial(BestDecisions.cost_of, costs=costs)
        yield LinearMetric(names[0], values[0], total, "log", unbounded)
        yield LinearMetric(names[1], values[1], 0.0, "log", nothing_seen, least, limits, OF_MAPS)
        lost = partial(_minus, least)
        yield LinearMetric(names[2], values[2], total, "identity", unbounded, lost, rate=OF_MAPS)

    def _told(self) -> Iterator[LinearMetric]:
        for k, one in enumerate(self.evaluation.information_at):
            log_odds = math.log(one.prior[0]) - math.log(one.prior[1])
            unknown = _constant_costs(one.entropy, log_odds, self.costs.bins.n_bins)
            bits, top = linearised.bits_at(log_odds), (-math.inf, one.entropy)
            actual = unknown - self.costs.of_means(bits)
            yield LinearMetric(("information", k), one.delivered, actual, "complement", limits=top)
            if one.available is not None:
                lost = partial(_minus, partial(BestDecisions.cost_of, costs=bits))
                limits = (0.0, one.entropy)
                yield LinearMetric(("available", k), one.available, unknown, "complement", None, lost, limits, OF_MAPS)

    def _points(self) -> Iterator[LinearMetric]:
        act, points = [], self.evaluation.operating_points
        sums: dict[str, list[ClassRate]] = {"act_dcf": [], "min_dcf": []}
        all_odds = [-point.threshold for point in points]
        for k, (point, log_odds) in enumerate(zip(points, all_odds, strict=True)):
            act.append(self.costs.dcf(log_odds, point.threshold))
            weights = linearised.dcf_weights(log_odds)
            fixed = _rates(weights, point.p_miss, point.p_fa)
            best = () if is_chance(self.costs.rocch) else _rates(weights, point.min_p_miss, point.min_p_fa)
            for name, rates in (("act_dcf", fixed), ("min_dcf", best)):
                sums[name] += [
                    replace(one, weight=one.weight / len(points), of=(name, k), own_weight=one.weight) for one in rates
                ]
            least = partial(BestDecisions.dcf, log_odds=log_odds)
            yield LinearMetric(("act_dcf", k), point.act_dcf, act[-1], "log", sums=fixed)
            yield LinearMetric(("min_dcf", k), point.min_dcf, 0.0, "logit", None, least, (0.0, 1.0), sums=best)
            yield from self._both_rates("p_miss", "p_fa", k, point)
        fixed, best = (tuple(sums[name]) for name in ("act_dcf", "min_dcf"))
        yield LinearMetric("mean_act_dcf", self.evaluation.mean_act_dcf, np.mean(act, axis=0), "log", sums=fixed)
        mean = LinearMetric("mean_min_dcf", self.evaluation.mean_min_dcf, 0.0, "logit", limits=(0.0, 1.0), sums=best)
        yield replace(mean, least=lambda best: np.mean([best.dcf(log_odds) for log_odds in all_odds], axis=0))

    def _errors(self) -> Iterator[LinearMetric]:
        result, rates = self.evaluation, self.costs.rates
        bounds = evidence_bounds(np.array(self.summary.metrics.factors))
        for k, (one, bound) in enumerate(zip(result.misleading, bounds.tolist(), strict=True)):
            yield self._rate(("misleading_tar", k), one.p_tar, rates(-bound, 1.0, 0.0), 0)
            yield self._rate(("misleading_non", k), one.p_non, rates(float(beyond(bounds)[k]), 0.0, 1.0), 1)

    def _requested(self) -> Iterator[LinearMetric]:
        request, costs = self.evaluation.requested, self.costs
        least, crossing = crossing_of(self.costs.rocch, 1.0, self.n_units)
        for name, value in request.eer_conventions.items():
            # Conventions differ by less than one trial, so their derivatives are the same.
            at = "eer_conventions", name
            yield (
                LinearMetric(at, value, 0.0, "logit", None, least, (0.0, 0.5), sums=crossing)
                if name == "rocch"
                else LinearMetric(
                    at,
                    value,
                    least(costs.best)[:, 0],
                    "logit",
                    limits=(0.0, 1.0),
                    sums=crossing,
                    also=self.evaluation.eer,
                )
            )
        for k, limited in enumerate(request.rates_at):
            threshold, errors = limited.errors.threshold, limited.errors
            kind = int(limited.limited == "fmr")
            weights = costs.limited(kind, threshold, self.n_units)
            sums = _rates(weights, errors.p_miss, errors.p_fa)
            place, limit = costs.rates(threshold, *weights), (kind, limited.limit)
            yield LinearMetric(
                ("rates_at", k), limited.rate, place, "logit", limits=(0.0, 1.0), sums=sums, limited=limit
            )
        for k, at_threshold in enumerate(request.at_thresholds):
            threshold, errors = at_threshold.errors.threshold, at_threshold.errors
            yield from self._both_rates("at_thresholds_p_miss", "at_thresholds_p_fa", k, errors)
            halves, sums = costs.rates(threshold, 0.5, 0.5), _rates((0.5, 0.5), errors.p_miss, errors.p_fa)
            yield LinearMetric(("at_thresholds_hter", k), errors.hter, halves, "logit", limits=(0.0, 1.0), sums=sums)
        for k, scores in enumerate(request.posterior_scores):
            log_odds = math.log(scores.p_target) - math.log1p(-scores.p_target)
            for name, one, of in (
                ("log_loss", scores.log_loss, linearised.log_costs_at),
                ("brier", scores.brier, linearised.brier_costs_at),
            ):
                names = [(name, k), (f"{name}_discrimination_loss", k), (f"{name}_calibration_loss", k)]
                values, by_bin = ((one.total, one.discrimination_loss, one.calibration_loss), of(log_odds))
                yield from self._calibrated(names, values, costs.of_means(by_bin), by_bin, self._unbounded)
        for k, by_rule in enumerate(request.rule_costs):
            yield from self._by_rule(k, by_rule)
        for of_classifier in request.classifier:
            yield from self._classifier(of_classifier)
        for (name, value), (_, own) in zip(self.evaluation.own, self.summary.metrics.own, strict=True):
            by_bin = partial(_own_costs, [own_costs(name, own, k) for k in (0, 1)])
            yield LinearMetric(name, value, costs.of_means(by_bin), "log", self._unbounded)

    def _classifier(self, entries: Mapping[str, float]) -> Iterator[LinearMetric]:
        """Yield metrics of classifier papers, at the given share of targets; binned errors have no intervals."""
        share, step = entries["p_target"], 1e-6
        log_odds = float(logit(share))
        errors = ErrorsAt.of(self.summary.ranks.tar, self.summary.ranks.non, -log_odds)
        around = ((step, 0.0), (-step, 0.0), (0.0, step), (0.0, -step))
        ends = [decision_metrics(share, errors.p_miss + a, errors.p_fa + b) for a, b in around]
        has_errors = 0.0 < errors.p_miss < 1.0 and 0.0 < errors.p_fa < 1.0  # otherwise a class seems to be certain
        for name in ends[0] if has_errors else ():
            slopes = [(ends[k][name] - ends[k + 1][name]) / (2.0 * step) for k in (0, 2)]
            is_signed = name in ("matthews", "youden")
            scale: Scale = "identity" if is_signed else "logit"
            limits = (-1.0, 1.0) if is_signed else (0.0, 1.0)
            yield LinearMetric((name, 0), entries[name], self.costs.rates(-log_odds, *slopes), scale, limits=limits)
        precision = self.costs.average_precision()
        yield LinearMetric(
            ("average_precision", 0), entries["average_precision"], precision, "logit", limits=(0.0, 1.0)
        )
        for name, of in (("sample_log_loss", linearised.log_costs_at), ("sample_brier", linearised.brier_costs_at)):
            yield LinearMetric((name, 0), entries[name], self.costs.of_means(of(log_odds)), "log", self._unbounded)

    def _by_rule(self, k: int, result: RuleCosts) -> Iterator[LinearMetric]:
        rule, named, log_odds = result.rule, result.to_dict(), float(logit(result.p_target))
        costs = partial(_costs_by_rule, rule, log_odds=log_odds)
        total, unknown_cost = self._total_by_rule(rule, log_odds, costs), named["default"]
        below = unknown_cost if named["minimum"] >= (1.0 - ROUNDING) * unknown_cost else 0.0  # at most no information
        # Decisions by the prior alone limit the minimum.
        unseen = NothingSeen(min(self.n_units), rule.largest_cost(log_odds), below, ceiling=unknown_cost)
        parts = "cost", "minimum", "calibration_loss"
        names, values = [(f"rule_{part}", k) for part in parts], [named[part] for part in parts]
        yield from self._calibrated(names, values, total, costs, unseen, limits=(0.0, unknown_cost))
        unknown, top = _constant_costs(unknown_cost, log_odds, self.costs.bins.n_bins), (-math.inf, unknown_cost)
        yield LinearMetric(("rule_information", k), named["information"], unknown - total, "complement", limits=top)

    def _total_by_rule(self, rule: ThresholdRule, log_odds: float, costs: linearised.BinCosts) -> FloatArray:
        """Return costs of bins whose class means add up to the cost; exact at the thresholds of a rule."""
        if not len(rule.jumps(log_odds)):
            return self.costs.of_means(costs)
        p, eta, weights = float(expit(log_odds)), rule.eta, rule.values
        places = zip(rule.jumps(log_odds).tolist(), eta.tolist(), weights.tolist(), strict=True)
        rates = self.costs.rates
        return np.asarray(
            sum(
                rates(at, weight * p / share, weight * float(expit(-log_odds)) / (1.0 - share))
                for at, share, weight in places
            )
        )


def _own_costs(costs: Sequence[Callable[[FloatArray], FloatArray]], tar: FloatArray, non: FloatArray) -> FloatArray:
    return np.stack((costs[0](tar), costs[1](non)))


def _costs_by_rule(rule: ThresholdRule, tar: FloatArray, non: FloatArray, *, log_odds: float) -> FloatArray:
    """Return costs of target and non-target llrs, weighted by the prior, (2, ...); NaN costs nothing."""
    both = []
    for k, (llr, prior) in enumerate(((tar, expit(log_odds)), (non, expit(-log_odds)))):
        x = np.nan_to_num(llr, nan=0.0, posinf=math.inf, neginf=-math.inf).ravel() + log_odds
        costs = rule.costs(np.stack((expit(x), expit(-x)), axis=1))[:, k]
        both.append(np.where(np.isnan(llr), 0.0, prior * costs.reshape(llr.shape)))
    return np.stack(both)


def _constant_costs(entropy: float, log_odds: float, n_bins: int) -> FloatArray:
    """Return costs (2, n_bins) of targets and non-targets whose means add up to an entropy for any scores."""
    shares = np.array([[expit(log_odds)], [expit(-log_odds)]])
    return np.repeat(shares * entropy, n_bins, axis=1)


def _rates(weights: tuple[float, float], p_miss: float, p_fa: float) -> tuple[ClassRate, ...]:
    """Return the miss rate and the false-alarm rate as terms of a sum."""
    return ClassRate(0, weights[0], p_miss), ClassRate(1, weights[1], p_fa)


def _minus(least: Least, best: BestDecisions) -> FloatArray:
    return -least(best)


@dataclass(frozen=True, slots=True, eq=False)
class WithoutGroups:
    """Minima by decisions that were chosen without each group of units in turn.

    Attributes
    ----------
    shifts : (n_metrics,) array
        Correction of each minimum for new units.
    group : (n_units,) int array
    costs : pair of (n_groups, n_bins, n_metrics) arrays
        Costs of one target and one non-target by the best decisions without each group, minus the mean over the
        held-out trials, as shares of all trials of their class.
    own : pair of (n_groups, n_bins) arrays
        Targets and non-targets of each group.
    best : BestDecisions
        Best decisions without each group, for other trials.
    totals : (float, float)
        Trials of the classes.
    minima : list of int
        Positions of the minima among all metrics.
    """

    shifts: FloatArray
    group: IntArray
    costs: FloatPair
    own: tuple[CountArray, CountArray]
    best: BestDecisions
    totals: tuple[float, float]
    minima: list[int]

    @classmethod
    def of(cls, metrics: Sequence[LinearMetric], minima: list[int], counted: BinnedTrials) -> Self | None:
        """Leave out groups of units in turn.

        Return None if a group has all trials of a class, or if there are fewer than two groups.

        Parameters
        ----------
        metrics : sequence of LinearMetric
            All metrics.
        minima : list of int
            Positions of those that are minima.
        counted : BinnedTrials
        """
        tar, non, costs = counted.tar, counted.non, counted.costs
        own, left = (tar.by_group, non.by_group), (tar.without_groups, non.without_groups)
        n_groups = len(own[0])
        if n_groups < 2 or not all(counts.any(axis=1).all() for counts in left):
            return None
        best = BestDecisions.in_groups(*left, costs.bins.starts)
        some = [metrics[k] for k in minima]
        shifts, held_out = chosen_without(some, costs, (tar.in_bins, non.in_bins), left, best)
        means = [_sums(counts, of_class).sum(axis=0) for counts, of_class in zip(own, held_out, strict=True)]
        totals = (tar.total, non.total)
        shares = [
            (of_class - mean / counts.sum()) / total
            for of_class, mean, counts, total in zip(held_out, means, own, totals, strict=True)
        ]
        return cls(
            shifts,
            group=tar.group,
            costs=(shares[0], shares[1]),
            own=own,
            best=best.bounded(*costs.one_trial),
            totals=totals,
            minima=minima,
        )

    def means_below(self, at: IntArray) -> FloatPair:
        """Return the shares of both classes below the thresholds that were chosen without them, (n_places,) each.

        ``at`` is the number of bins below the best thresholds without each group, (n_groups, n_places).
        """
        tar, non = (
            np.take_along_axis(cumulated(counts.T), at.T, axis=0).sum(axis=1) / counts.sum() for counts in self.own
        )
        return tar, non

    def influence_on_rates(
        self, rows: IntArray, below: FloatPair, means: FloatPair, weights: FloatPair, factors: Sequence[FloatArray]
    ) -> FloatArray:
        """Return influences of units on weighted error rates, (n_places, n), by thresholds chosen without these units.

        Parameters
        ----------
        rows : (n_places, n) int array
            Rows of ``below`` for the thresholds of each unit.
        below : pair of (n_rows, n) arrays
            Targets and non-targets of the units below places in ascending order; the last row is all of them.
        means : pair of (n_places,) arrays
            See `means_below`.
        weights : pair of (n_places,) arrays
            Weights of misses and of false alarms.
        factors : pair of (n,) arrays
            Small-sample factors of influences through each class: `BinnedTrials.small_sample`.
        """
        shares = []
        for table, mean, weight, total, factor in zip(below, means, weights, self.totals, factors, strict=True):
            own = np.take_along_axis(table, rows, axis=0)
            own -= np.outer(mean, table[-1])
            own *= weight[:, None] / total * factor
            shares.append(own)
        return np.asarray(shares[0] - shares[1])  # false alarms are the complement of rejected non-targets


class MetricInfluences:
    """Influences of units on metrics.

    Parameters
    ----------
    metrics : sequence of LinearMetric
    costs : (2, n_bins, n_metrics) array
        Costs of targets and of non-targets.
    counted : BinnedTrials
    without : WithoutGroups or None
        Decisions made without each group of units.
    """

    def __init__(
        self, metrics: Sequence[LinearMetric], costs: FloatArray, counted: BinnedTrials, without: WithoutGroups | None
    ) -> None:
        self.names, self.minima = [one.name for one in metrics], [] if without is None else without.minima
        self.maps = [k for k in self.minima if not metrics[k].sums]
        self.counts, self.factors, self.without = (counted.tar, counted.non), counted.small_sample, without
        self.of_bins, self.design = counted.costs, counted.design
        self.rows, self.are_listed = counted.rows, counted.singles is None or counted.rows is not None
        self.group, self.costs = np.zeros(counted.tar.n_units, np.int64), list[FloatArray]()
        for k, (own, cost) in enumerate(zip(self.counts, costs, strict=True)):
            fixed = ((cost - own.mean(cost)) / own.total)[None]
            if without is not None:
                held_out, self.group = without.costs[k], without.group
                fixed = np.concatenate((np.repeat(fixed, len(held_out), axis=0), held_out), axis=2)
            self.costs.append(fixed)

    def blocks(self) -> Iterator[tuple[slice, FloatArray, FloatArray, FloatArray]]:
        """Yield blocks of units, with influences through targets, through non-targets, and for intervals."""
        n = len(self.names)
        for part in parts_of(self.counts, self.costs[0].shape[2]):
            items = zip(self.counts, self.costs, self.factors, strict=True)
            tar, non = (own.products(part, costs, self.group, factors) for own, costs, factors in items)
            influences = tar[:, :n] + non[:, :n]
            if self.without is not None:
                influences[:, self.minima] = tar[:, n:] + non[:, n:]
            yield part, tar[:, :n], non[:, :n], influences

    def listed(self) -> dict[MetricKey, FloatArray]:
        """Return the influences of all units, for differences.

        Minima over maps have the mean of both kinds of influences. Their squared influences by decisions without the
        unit are too large for uncorrected minima, and with fixed decisions too small, as squares of held-out and of
        plain residuals are (HC3, HC0; between them: HC2).
        """
        values = np.empty((len(self.names), self.counts[0].n_units))
        for part, tar, non, influences in self.blocks():
            influences[:, self.maps] = (influences + tar + non)[:, self.maps] / 2.0
            values[:, part] = influences.T
        return dict(zip(self.names, values, strict=True))


def chosen_without(
    metrics: Sequence[LinearMetric],
    costs: LinearCosts,
    whole: tuple[CountArray, CountArray],
    left: tuple[CountArray, CountArray],
    best: BestDecisions | None = None,
) -> FloatPair:
    """Return corrections of minima, and costs of decisions that were made without each of at least two groups.

    Parameters
    ----------
    metrics : sequence of LinearMetric
        The metrics that are minima.
    costs : LinearCosts
        Costs of all trials.
    whole : pair of (n_bins,) arrays
        All targets and non-targets in the bins.
    left : pair of (n_groups, n_bins) arrays
        Targets and non-targets without each group, in the unit of the costs.
    best : BestDecisions, optional
        Best decisions for ``left``, if known.

    Returns
    -------
    shifts : (n_metrics,) array
    held_out : (2, n_groups, n_bins, n_metrics) array
    """
    best = BestDecisions.in_groups(*left, costs.bins.starts) if best is None else best
    all_of_them = _minima(metrics, costs.best, whole)
    rates = np.array([one.rate for one in metrics])
    shifts = shifts_of(all_of_them[0], _minima(metrics, best, left), rates)
    best = best.bounded(*costs.one_trial)
    return shifts, np.stack([one.costs_by(best) for one in metrics], axis=-1)


def shifts_of(whole: FloatArray, parts: FloatArray, rates: FloatArray | float) -> FloatArray:
    """Return the correction of minima, (n_metrics,), from the minima without each group, (n_groups, ...).

    A minimum is never too high, and the rest after its removal is never too low.

    Examples
    --------
    >>> shifts_of(np.array([0.1, -0.1]), np.array([[0.09, -0.09], [0.08, -0.08]]), 2 / 3).round(4)
    array([ 0.0255, -0.0255])
    """
    n_groups = len(parts)
    shifts: FloatArray = (whole - parts).mean(axis=0) / ((n_groups / (n_groups - 1)) ** rates - 1.0)
    return np.where(whole >= 0.0, np.maximum(shifts, 0.0), np.minimum(shifts, 0.0))


def _minima(metrics: Sequence[LinearMetric], best: BestDecisions, counts: tuple[CountArray, CountArray]) -> FloatArray:
    """Return mean costs of the best decisions for each table, in the same table, (n_tables, n_metrics)."""
    costs = np.stack([one.least(best) for one in metrics if one.least is not None], axis=-1)
    tables = [np.atleast_2d(one) for one in counts]
    return np.asarray(sum(_sums(one, own) / one.sum(axis=1)[:, None] for one, own in zip(tables, costs, strict=True)))


def _sums(counts: CountArray, costs: FloatArray) -> FloatArray:
    """Return the total cost of the trials of each table, (n_tables, n_metrics)."""
    return np.asarray(np.matmul(counts[:, None, :].astype(np.float64), costs)[:, 0])
