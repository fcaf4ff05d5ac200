"""Two-class metrics as costs of cells, and notes on their intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy.special import expit, logit

from deciban.core.ranks.hull import Rocch
from deciban.core.ranks.operating import beyond, evidence_bounds
from deciban.core.resampling.clusters import ClassRate, ClassVariances
from deciban.core.resampling.intervals import ROUNDING, Estimate, NothingSeen, Scale
from deciban.core.resampling.linearised import (
    BestDecisions,
    CellCosts,
    LinearCosts,
    bits_at,
    brier_costs_at,
    crossing_slopes,
    crossing_weights,
    dcf_weights,
    log_costs_at,
)
from deciban.core.resampling.unit_counts import Table, UnitCounts, cumulated
from deciban.evaluation.requested import RuleCosts
from deciban.evaluation.uncertainty import Figure, LimitedRate
from deciban.types import CountArray, FloatArray, IntArray

if TYPE_CHECKING:
    from deciban.evaluation.results import Evaluation
    from deciban.evaluation.summary import Summary
    from deciban.rules.families import ThresholdRule


LARGEST = 1e140
"""Of figures and costs whose squares can be added up: others have no intervals."""


OF_THRESHOLDS, OF_MAPS = 1.0, 2.0 / 3.0
"""Rates at which optimism falls: see `deciban.evaluation.influences`."""


Least: TypeAlias = Callable[[BestDecisions], FloatArray]
"""Costs (2, n_tables, n_cells) of decisions that are the best for some trials."""


@dataclass(frozen=True, slots=True, eq=False)
class LinearFigure:
    """A figure as costs of cells, whose means add up to it.

    Attributes
    ----------
    name : Figure
    value : float
    costs : (2, n_cells) array, or 0
        What does not depend on what is best.
    scale : {"log", "logit", "identity", "complement"}
    nothing_seen : NothingSeen or None
        What is known if no unit moves the figure.
    least : callable or None
        What is found as a minimum over thresholds or maps, from `BestDecisions`.
    limits : (float, float)
        What the figure cannot leave.
    rate : float
        Its optimism is taken to fall with the number of units n as ``n ** -rate``.
    sums : tuple of ClassRate
        The error rates that add up to the metric; empty if it is no such sum.
    also : float or None
        Another reading of the same metric, to which the rates add up.
    limited : (int, float) or None
        Of which class an error rate is limited, 0 for targets, and to what: the threshold is found there.
    """

    name: Figure
    value: float
    costs: FloatArray | float
    scale: Scale = "log"
    nothing_seen: NothingSeen | None = None
    least: Least | None = None
    limits: tuple[float, float] = (0.0, math.inf)
    rate: float = OF_THRESHOLDS
    sums: tuple[ClassRate, ...] = ()
    also: float | None = None
    limited: tuple[int, float] | None = None

    @property
    def is_mean_cost(self) -> bool:
        """Whether the metric is a mean of costs of scores, or what calibration loses: no area, rate or minimum."""
        is_mean = self.least is None and self.scale in ("log", "complement")
        return not self.sums and (is_mean or self.scale == "identity")

    def costs_by(self, best: BestDecisions) -> FloatArray:
        """Costs of cells, (2, n_tables, n_cells), if what is best is decided by the trials of each of some tables."""
        fixed = self.costs[:, None] if isinstance(self.costs, np.ndarray) else self.costs
        return np.asarray(fixed if self.least is None else fixed + self.least(best))

    def estimate(self, variance: ClassVariances[Figure], shift: float | None) -> Estimate:
        """Return the metric with its standard error, and with what to add for new units, if that is known."""
        corrected = None if shift is None else min(max(self.value + shift, self.limits[0]), self.limits[1])
        return variance.estimate(
            self.name,
            self.value,
            self.sums,
            scale=self.scale,
            limits=self.limits,
            nothing_seen=self.nothing_seen,
            corrected=corrected,
            also=self.also,
            is_mean=self.least is None,
        )

    def limited_rate(self, found: Estimate) -> LimitedRate | None:
        """Return how many independent errors the limit allows; None if it moves nothing."""
        if self.limited is None or found.rates is None:
            return None
        kind, limit = self.limited
        numbers = [float(one.size.effective(one.rate, one.variance)) for one in found.rates.parts[kind]]
        return LimitedRate(("fnmr", "fmr")[kind], limit, limit * numbers[0]) if numbers else None


class FiguresOfEvaluation:
    """All figures of an evaluation, in cells.

    Parameters
    ----------
    summary : Summary
    found : Evaluation
        Of this summary.
    costs : LinearCosts
    n_units : (int, int)
        How many units have trials of each class.
    """

    def __init__(self, summary: Summary, found: Evaluation, costs: LinearCosts, n_units: tuple[int, int]) -> None:
        self.summary, self.found, self.costs, self.n_units = summary, found, costs, n_units

    def __iter__(self) -> Iterator[LinearFigure]:
        """Those that are finite, and not so large that their squares are not."""
        parts = (self._ranks, self._rules, self._told, self._points, self._errors, self._requested)
        return (one for part in parts for one in part() if abs(one.value) <= LARGEST)

    def _rate(self, name: Figure, value: float, costs: FloatArray, kind: int) -> LinearFigure:
        return LinearFigure(name, value, costs, "logit", limits=(0.0, 1.0), sums=(ClassRate(kind, 1.0, value),))

    def _both_rates(self, miss: str, false_alarm: str, k: int, errors: Any, threshold: float) -> Iterator[LinearFigure]:
        """Yield the miss rate and the false-alarm rate at a fixed threshold."""
        yield self._rate((miss, k), errors.p_miss, self.costs.rates(threshold, 1.0, 0.0), 0)
        yield self._rate((false_alarm, k), errors.p_fa, self.costs.rates(threshold, 0.0, 1.0), 1)

    def _ranks(self) -> Iterator[LinearFigure]:
        found, total, half = self.found, float(self.summary.n_non), (0.0, 0.5)
        ratio = float(self.summary.n_tar) / total
        least, sums = self._crossing(1.0)
        yield LinearFigure("eer", found.eer, 0.0, "logit", None, least, half, sums=sums)
        area = NothingSeen(min(self.n_units), below=float(found.auc >= 1.0 - ROUNDING))
        yield LinearFigure("auc", found.auc, self.costs.auc(), "logit", area, limits=(0.0, 1.0))
        least, sums = self._crossing(ratio, total)
        yield LinearFigure("prbep", found.prbep, 0.0, "log", None, least, sums=sums)

    def _crossing(self, ratio: float, factor: float = 1.0) -> tuple[Least, tuple[ClassRate, ...]]:
        """See `crossing_of`."""
        return crossing_of(self.costs.rocch, ratio, self.n_units, factor)

    def _rules(self) -> Iterator[LinearFigure]:
        found, bits = self.found, bits_at(0.0)
        entropy = NothingSeen(min(self.n_units), is_entropy=True) if found.min_cllr <= ROUNDING else None
        values = found.cllr, found.min_cllr, found.calibration_loss
        names = "cllr", "min_cllr", "calibration_loss"
        yield from self._calibrated(names, values, self.costs.of_means(bits), bits, entropy, limits=(0.0, 1.0))

    def _calibrated(
        self,
        names: Sequence[Figure],
        values: Sequence[float],
        total: FloatArray,
        costs: CellCosts,
        nothing_seen: NothingSeen | None,
        *,
        limits: tuple[float, float] = (0.0, math.inf),
    ) -> Iterator[LinearFigure]:
        """Yield a mean cost, its minimum after calibration, and their difference."""
        unbounded, least = NothingSeen(min(self.n_units), math.inf), partial(BestDecisions.cost_of, costs=costs)
        yield LinearFigure(names[0], values[0], total, "log", unbounded)
        yield LinearFigure(names[1], values[1], 0.0, "log", nothing_seen, least, limits, OF_MAPS)
        lost = partial(_minus, least)
        yield LinearFigure(names[2], values[2], total, "identity", unbounded, lost, rate=OF_MAPS)

    def _told(self) -> Iterator[LinearFigure]:
        for k, one in enumerate(self.found.information_at):
            log_odds = math.log(one.prior[0]) - math.log(one.prior[1])
            unknown = _constant_costs(one.entropy, log_odds, self.costs.cells.n_cells)
            bits, top = bits_at(log_odds), (-math.inf, one.entropy)
            actual = unknown - self.costs.of_means(bits)
            yield LinearFigure(("information", k), one.delivered, actual, "complement", limits=top)
            if one.available is not None:
                lost = partial(_minus, partial(BestDecisions.cost_of, costs=bits))
                limits = (0.0, one.entropy)
                yield LinearFigure(("available", k), one.available, unknown, "complement", None, lost, limits, OF_MAPS)

    def _points(self) -> Iterator[LinearFigure]:
        act, points = [], self.found.operating_points
        sums: dict[str, list[ClassRate]] = {"act_dcf": [], "min_dcf": []}
        all_odds = [-point.threshold for point in points]
        for k, (point, log_odds) in enumerate(zip(points, all_odds, strict=True)):
            act.append(self.costs.dcf(log_odds, point.threshold))
            weights = dcf_weights(log_odds)
            fixed = _rates(weights, point.p_miss, point.p_fa)
            best = () if _is_chance(self.costs.rocch) else _rates(weights, point.min_p_miss, point.min_p_fa)
            for name, rates in (("act_dcf", fixed), ("min_dcf", best)):
                sums[name] += [
                    replace(one, weight=one.weight / len(points), of=(name, k), own_weight=one.weight) for one in rates
                ]
            least = partial(BestDecisions.dcf, log_odds=log_odds)
            yield LinearFigure(("act_dcf", k), point.act_dcf, act[-1], "log", sums=fixed)
            yield LinearFigure(("min_dcf", k), point.min_dcf, 0.0, "logit", None, least, (0.0, 1.0), sums=best)
            yield from self._both_rates("p_miss", "p_fa", k, point, point.threshold)
        fixed, best = (tuple(sums[name]) for name in ("act_dcf", "min_dcf"))
        yield LinearFigure("mean_act_dcf", self.found.mean_act_dcf, np.mean(act, axis=0), "log", sums=fixed)
        least = partial(_mean_dcf, all_odds)
        yield LinearFigure("mean_min_dcf", self.found.mean_min_dcf, 0.0, "logit", None, least, (0.0, 1.0), sums=best)

    def _errors(self) -> Iterator[LinearFigure]:
        found, rates = self.found, self.costs.rates
        bounds = evidence_bounds(np.array(self.summary.figures.factors))
        for k, (one, bound) in enumerate(zip(found.misleading, bounds.tolist(), strict=True)):
            yield self._rate(("misleading_tar", k), one.p_tar, rates(-bound, 1.0, 0.0), 0)
            yield self._rate(("misleading_non", k), one.p_non, rates(float(beyond(bounds)[k]), 0.0, 1.0), 1)

    def _requested(self) -> Iterator[LinearFigure]:
        asked, costs = self.found.requested, self.costs
        least, crossing = self._crossing(1.0)
        for name, value in asked.eer_conventions.items():
            # They differ by less than one trial, so their derivatives are the same.
            at = "eer_conventions", name
            yield (
                LinearFigure(at, value, 0.0, "logit", None, least, (0.0, 0.5), sums=crossing)
                if name == "rocch"
                else LinearFigure(
                    at, value, least(costs.best)[:, 0], "logit", limits=(0.0, 1.0), sums=crossing, also=self.found.eer
                )
            )
        for k, limited in enumerate(asked.rates_at):
            threshold, errors = limited.errors.threshold, limited.errors
            kind = int(limited.limited == "fmr")
            weights = costs.limited(kind, threshold, self.n_units)
            sums = _rates(weights, errors.p_miss, errors.p_fa)
            place, limit = costs.rates(threshold, *weights), (kind, limited.limit)
            yield LinearFigure(
                ("rates_at", k), limited.rate, place, "logit", limits=(0.0, 1.0), sums=sums, limited=limit
            )
        for k, at_threshold in enumerate(asked.at_thresholds):
            threshold, errors = at_threshold.errors.threshold, at_threshold.errors
            yield from self._both_rates("at_thresholds_p_miss", "at_thresholds_p_fa", k, errors, threshold)
            halves, sums = costs.rates(threshold, 0.5, 0.5), _rates((0.5, 0.5), errors.p_miss, errors.p_fa)
            yield LinearFigure(("at_thresholds_hter", k), errors.hter, halves, "logit", limits=(0.0, 1.0), sums=sums)
        for k, scores in enumerate(asked.posterior_scores):
            log_odds = math.log(scores.p_target) - math.log1p(-scores.p_target)
            for name, one, of in (("log_loss", scores.log_loss, log_costs_at), ("brier", scores.brier, brier_costs_at)):
                names = [(name, k), (f"{name}_discrimination_loss", k), (f"{name}_calibration_loss", k)]
                values, by_cell = ((one.total, one.discrimination_loss, one.calibration_loss), of(log_odds))
                unbounded = NothingSeen(min(self.n_units), math.inf)
                yield from self._calibrated(names, values, costs.of_means(by_cell), by_cell, unbounded)
        for k, by_rule in enumerate(asked.rule_costs):
            yield from self._by_rule(k, by_rule)

    def _by_rule(self, k: int, found: RuleCosts) -> Iterator[LinearFigure]:
        rule, told, log_odds = found.rule, found.to_dict(), float(logit(found.p_target))
        costs = partial(_costs_by_rule, rule, log_odds=log_odds)
        total, unknown_cost = self._total_by_rule(rule, log_odds, costs), told["default"]
        below = unknown_cost if told["minimum"] >= (1.0 - ROUNDING) * unknown_cost else 0.0  # nothing is told, or less
        # Nobody need pay more than for the prior alone.
        unseen = NothingSeen(min(self.n_units), rule.largest_cost(log_odds), below, ceiling=unknown_cost)
        parts = "cost", "minimum", "calibration_loss"
        names, values = [(f"rule_{part}", k) for part in parts], [told[part] for part in parts]
        yield from self._calibrated(names, values, total, costs, unseen, limits=(0.0, unknown_cost))
        unknown, top = _constant_costs(unknown_cost, log_odds, self.costs.cells.n_cells), (-math.inf, unknown_cost)
        yield LinearFigure(("rule_information", k), told["information"], unknown - total, "complement", limits=top)

    def _total_by_rule(self, rule: ThresholdRule, log_odds: float, costs: CellCosts) -> FloatArray:
        """Return costs of cells whose means add up to the cost: exact at the thresholds of a rule that has some."""
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


def _costs_by_rule(rule: ThresholdRule, tar: FloatArray, non: FloatArray, *, log_odds: float) -> FloatArray:
    """Costs of llrs of targets and of non-targets, weighted by the prior, (2, ...); those that are NaN cost nothing."""
    both = []
    for k, (llr, prior) in enumerate(((tar, expit(log_odds)), (non, expit(-log_odds)))):
        x = np.nan_to_num(llr, nan=0.0, posinf=math.inf, neginf=-math.inf).ravel() + log_odds
        costs = rule.costs(np.stack((expit(x), expit(-x)), axis=1))[:, k]
        both.append(np.where(np.isnan(llr), 0.0, prior * costs.reshape(llr.shape)))
    return np.stack(both)


def _constant_costs(entropy: float, log_odds: float, n_cells: int) -> FloatArray:
    """Costs (2, n_cells) of targets and non-targets whose means add up to an entropy, whatever the scores."""
    shares = np.array([[expit(log_odds)], [expit(-log_odds)]])
    return np.repeat(shares * entropy, n_cells, axis=1)


def crossing_of(
    rocch: Rocch, ratio: float, n_units: tuple[int, int], factor: float = 1.0
) -> tuple[Least, tuple[ClassRate, ...]]:
    """Return ``factor * p_fa`` where ``p_fa = ratio * p_miss``: as a minimum, and as a sum of both error rates."""
    p_fa, *slopes = crossing_slopes(rocch, ratio, n_units)
    of_tar, of_non = (factor * one for one in crossing_weights(rocch, ratio, n_units))
    sums: tuple[ClassRate, ...] = (ClassRate(0, of_tar, p_fa / ratio), ClassRate(1, of_non, p_fa))
    if _is_chance(rocch):
        sums = ()
    return lambda best: factor * best.crossing(ratio, (slopes[0], slopes[1])), sums


def _is_chance(rocch: Rocch) -> bool:
    """Return True if no threshold is better than chance: minima are then fixed, and no trial changes them."""
    return len(rocch.p_fa) == 2


def _rates(weights: tuple[float, float], p_miss: float, p_fa: float) -> tuple[ClassRate, ...]:
    """Return the miss rate and the false-alarm rate as summands."""
    return ClassRate(0, weights[0], p_miss), ClassRate(1, weights[1], p_fa)


def _mean_dcf(all_odds: Sequence[float], best: BestDecisions) -> FloatArray:
    return np.asarray(np.mean([best.dcf(log_odds) for log_odds in all_odds], axis=0))


def _minus(least: Least, best: BestDecisions) -> FloatArray:
    return -least(best)


@dataclass(frozen=True, slots=True, eq=False)
class WithoutGroups:
    """Minima by decisions that were chosen without each group of units in turn.

    Attributes
    ----------
    shifts : (n_figures,) array
        What to add to each minimum for new units.
    group : (n_units,) int array
    costs : pair of (n_groups, n_cells, n_figures) arrays
        Of one target and one non-target by what is best without each group, less the mean of those that took no part
        in a choice, as shares of all trials of their class.
    own : pair of (n_groups, n_cells) arrays
        Targets and non-targets of each group.
    best : BestDecisions
        What is best without each group, for other trials.
    totals : (float, float)
        Trials of the classes.
    """

    shifts: FloatArray
    group: IntArray
    costs: tuple[FloatArray, FloatArray]
    own: tuple[CountArray, CountArray]
    best: BestDecisions
    totals: tuple[float, float]

    @classmethod
    def of(
        cls, figures: Sequence[LinearFigure], tar: UnitCounts, non: UnitCounts, costs: LinearCosts
    ) -> WithoutGroups | None:
        """Leave out groups of units in turn.

        None if a group has a unit in all trials of a class, or there are no two groups: then nothing can be left out.

        Parameters
        ----------
        figures : sequence of LinearFigure
            Those that are found as a minimum.
        tar, non : UnitCounts
            Of all trials, in the same cells.
        costs : LinearCosts
            Of all trials.
        """
        own = (tar.by_group(), non.by_group())
        left = (tar.without_groups(own[0]), non.without_groups(own[1]))
        n_groups = len(own[0])
        if n_groups < 2 or not all(counts.any(axis=1).all() for counts in left):
            return None
        best = BestDecisions.of(*left)
        shifts, held_out = chosen_without(figures, costs, (tar.in_cells, non.in_cells), left, best)
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
        )

    def influence(
        self, part: slice, of_tar: Table, of_non: Table, factors: tuple[FloatArray, FloatArray]
    ) -> FloatArray:
        """Return influences of the units of a block on each minimum, (n, n_figures), by decisions made without them.

        Parameters
        ----------
        part : slice
            Which units.
        of_tar, of_non : (n, n_cells) arrays or sparse matrices
            Their trials.
        factors : pair of (n_units,) arrays
            Of influences through each class: `TrialsInCells.small_sample`.
        """
        group = self.group[part]
        found = np.zeros((len(group), len(self.shifts)))
        for number in np.unique(group):
            rows = np.flatnonzero(group == number)
            for k, table in enumerate((of_tar, of_non)):
                found[rows] += factors[k][part][rows, None] * (table[rows] @ self.costs[k][number])
        return found

    def influence_on_rates(
        self,
        at: IntArray,
        part: slice,
        below: tuple[FloatArray, FloatArray],
        weights: tuple[FloatArray, FloatArray],
        factors: tuple[FloatArray, FloatArray],
    ) -> FloatArray:
        """Return influences of units on weighted error rates, (n_places, n), by thresholds chosen without these units.

        Parameters
        ----------
        at : (n_groups, n_places) int array
            How many cells lie below the best thresholds without each group.
        part : slice
            Which units.
        below : pair of (n_cells + 1, n) arrays
            Their targets and non-targets in the first 0, 1, ... cells.
        weights : pair of (n_places,) arrays
            Of misses and of false alarms.
        factors : pair of (n_units,) arrays
            Of influences through each class: `TrialsInCells.small_sample`.
        """
        places, shares = at.T[:, self.group[part]], []
        given = zip(below, self.own, weights, self.totals, factors, strict=True)
        for table, counts, weight, total, factor in given:
            mean = np.take_along_axis(cumulated(counts.T), at.T, axis=0).sum(axis=1) / counts.sum()
            own = np.take_along_axis(table, places, axis=0)
            own -= np.outer(mean, table[-1])
            own *= weight[:, None] / total * factor[part]
            shares.append(own)
        return np.asarray(shares[0] - shares[1])  # false alarms are what is not rejected


def chosen_without(
    figures: Sequence[LinearFigure],
    costs: LinearCosts,
    whole: tuple[CountArray, CountArray],
    left: tuple[CountArray, CountArray],
    best: BestDecisions | None = None,
) -> tuple[FloatArray, FloatArray]:
    """What to add to minima, and what decisions cost that were made without each of at least two groups.

    Parameters
    ----------
    figures : sequence of LinearFigure
        Those that are found as a minimum.
    costs : LinearCosts
        Of all trials.
    whole : pair of (n_cells,) arrays
        All targets and non-targets in the cells.
    left : pair of (n_groups, n_cells) arrays
        Those without each group, in the same unit as the costs have them.
    best : BestDecisions, optional
        What is best for the latter, if it is known.

    Returns
    -------
    shifts : (n_figures,) array
    held_out : (2, n_groups, n_cells, n_figures) array
    """
    best = BestDecisions.of(*left) if best is None else best
    all_of_them = _minima(figures, costs.best, whole)
    rates = np.array([one.rate for one in figures])
    shifts = shifts_of(all_of_them[0], _minima(figures, best, left), rates)
    best = best.bounded(*costs.one_trial)
    return shifts, np.stack([one.costs_by(best) for one in figures], axis=-1)


def shifts_of(whole: FloatArray, parts: FloatArray, rates: FloatArray | float) -> FloatArray:
    """Return the correction of minima, (n_figures,), from the minima without each group, (n_groups, ...).

    A minimum is never too high, and what remains when one is taken away is never too low.

    Examples
    --------
    >>> shifts_of(np.array([0.1, -0.1]), np.array([[0.09, -0.09], [0.08, -0.08]]), 2 / 3).round(4)
    array([ 0.0255, -0.0255])
    """
    n_groups = len(parts)
    shifts: FloatArray = (whole - parts).mean(axis=0) / ((n_groups / (n_groups - 1)) ** rates - 1.0)
    return np.where(whole >= 0.0, np.maximum(shifts, 0.0), np.minimum(shifts, 0.0))


def _minima(figures: Sequence[LinearFigure], best: BestDecisions, counts: tuple[CountArray, CountArray]) -> FloatArray:
    """Mean costs of the decisions that are best for each table in the same table, (n_tables, n_figures)."""
    costs = np.stack([one.least(best) for one in figures if one.least is not None], axis=-1)
    tables = [np.atleast_2d(one) for one in counts]
    return np.asarray(sum(_sums(one, own) / one.sum(axis=1)[:, None] for one, own in zip(tables, costs, strict=True)))


def _sums(counts: CountArray, costs: FloatArray) -> FloatArray:
    """Costs of all trials of each table, (n_tables, n_figures)."""
    return np.asarray(np.matmul(counts[:, None, :].astype(np.float64), costs)[:, 0])
