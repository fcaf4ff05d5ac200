"""Two-class metrics as costs of cells, and notes on their intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy.special import logit

from deciban.core.ranks.hull import Rocch
from deciban.core.ranks.operating import beyond, evidence_bounds
from deciban.core.resampling.clusters import ClassRate, ClassVariances, ClusterDesign
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
from deciban.evaluation.requested import RuleFigures, actual_costs, cell_costs, constant_costs
from deciban.evaluation.uncertainty import Figure
from deciban.messages import counted
from deciban.types import FloatArray

if TYPE_CHECKING:
    from deciban.evaluation.results import Evaluation
    from deciban.evaluation.summary import Summary
    from deciban.evaluation.uncertainty import Figure


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
            unknown = constant_costs(one.entropy, log_odds, self.costs.cells.n_cells)
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

    def _by_rule(self, k: int, found: RuleFigures) -> Iterator[LinearFigure]:
        own, told, log_odds = self.summary.figures.rule, found.to_dict(), float(logit(found.p_target))
        assert own is not None  # noqa: S101  # there are figures of it
        total, unknown_cost = actual_costs(own, self.costs.rates, self.costs.of_means, log_odds), told["default"]
        below = unknown_cost if told["minimum"] >= (1.0 - ROUNDING) * unknown_cost else 0.0  # nothing is told, or less
        # Nobody need pay more than for the prior alone.
        unseen = NothingSeen(min(self.n_units), own.dearest(log_odds), below, ceiling=unknown_cost)
        parts = "cost", "minimum", "calibration_loss"
        names, values = [(f"rule_{part}", k) for part in parts], [told[part] for part in parts]
        costs = partial(cell_costs, own, log_odds=log_odds)
        yield from self._calibrated(names, values, total, costs, unseen, limits=(0.0, unknown_cost))
        unknown, top = constant_costs(unknown_cost, log_odds, self.costs.cells.n_cells), (-math.inf, unknown_cost)
        yield LinearFigure(("rule_information", k), told["information"], unknown - total, "complement", limits=top)


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


FEWEST_EXPECTED = 10.0
"""Independent errors that a limit must allow: with fewer, the threshold that it sets is chance."""

FEW_ERRORS = 30.0
"""The rule of 30: with fewer independent errors at a limit, the interval of the other rate is rough."""

_FEW_ERRORS, _LOW_EER = 5, 0.03
_UNEQUAL = 0.65
"""Effective units of a class, as a share of all that have trials of it."""


@dataclass(frozen=True, slots=True)
class LimitedRate:
    """An error rate where that of the other class is limited.

    Attributes
    ----------
    limited : {"fmr", "fnmr"}
    limit : float
    expected : float
        How many of the independent trials of the limited class may be errors.
    """

    limited: str
    limit: float
    expected: float

    @property
    def is_enough(self) -> bool:
        """Whether the trials show where the limit lies."""
        return self.expected >= FEWEST_EXPECTED

    @property
    def is_rough(self) -> bool:
        """Whether there are so few errors that intervals are too short in simulations, or refused."""
        return self.expected < FEW_ERRORS

    def __str__(self) -> str:
        """Write why there is no interval, or a rough one, and what to do.

        Examples
        --------
        >>> str(LimitedRate("fmr", 0.001, 2.6))[:70]
        'No confidence interval for FNMR at FMR 0.001: the limit allows 2.6 ind'
        """
        other, errors = ("FNMR", "false matches") if self.limited == "fmr" else ("FMR", "false non-matches")
        rate = f"{other} at {self.limited.upper()} {self.limit:g}"
        shown = round(self.expected, 1)
        if shown in (FEWEST_EXPECTED, FEW_ERRORS) and self.expected < shown:
            shown -= 0.1  # 29.97 are fewer than 30
        allowed = f"the limit allows {shown:.1f} independent {errors}"
        if self.is_enough:
            return f"The interval of {rate} may be too narrow: {allowed}, fewer than {FEW_ERRORS:g}."
        return (
            f"No confidence interval for {rate}: {allowed}, and at least {FEWEST_EXPECTED:g} are needed to find its "
            f"threshold. Limit the {self.limited.upper()} to more, or ask for rates at a fixed threshold."
        )


def is_separated(auc: float) -> bool:
    """Return whether no target scores below a non-target, so that costs say nothing of errors."""
    return auc >= 1.0 - ROUNDING


def notes_on_intervals(
    auc: float, eer: float, rates: tuple[float, float], design: ClusterDesign, noun: str, limited: Sequence[LimitedRate]
) -> tuple[str, ...]:
    """Return the notes.

    Parameters
    ----------
    auc, eer : float
    rates : (float, float)
        Misses and false alarms at the threshold of the EER.
    design : ClusterDesign
    noun : str
        What a unit is called.
    limited : sequence of LimitedRate
    """
    found = [str(one) for one in limited if one.is_rough]
    if not design.too_few():
        found += _few_errors(auc, eer, rates, design)
        found += _unequal(design, noun)
    return tuple(found)


def few_errors(eer: float, rates: tuple[float, float], design: ClusterDesign) -> list[str]:
    """Return how many errors there are of each kind of which nearly separated classes show too few to know their cost.

    Parameters
    ----------
    eer : float
    rates : (float, float)
        Misses and false alarms at the threshold of the EER.
    design : ClusterDesign
    """
    numbers = [round(float(rate * size.n_trials)) for rate, size in zip(rates, design.sizes, strict=True)]
    named = zip(numbers, (("miss", "misses"), ("false alarm", "false alarms")), strict=True)
    few = [f"{n} {one if n == 1 else many}" for n, (one, many) in named if n < _FEW_ERRORS]
    return few if eer < _LOW_EER else []


def _few_errors(auc: float, eer: float, rates: tuple[float, float], design: ClusterDesign) -> Iterator[str]:
    if is_separated(auc):
        yield (
            "Targets and non-targets are perfectly separated: no confidence intervals for means of costs (Cllr, "
            "information, log loss, Brier score, calibration loss), as no error was seen that could show how costly "
            "one would be."
        )
        return
    if few := few_errors(eer, rates, design):
        yield (
            f"Only {' and '.join(few)} at the threshold of the EER: intervals of Cllr, information, log loss, Brier "
            "score and AUC may be too narrow, as rare costly errors were hardly seen."
        )


def _unequal(design: ClusterDesign, noun: str) -> Iterator[str]:
    said = [
        f"the {name} of {counted(one.n_units, noun)} count as those of {one.n_clusters:.1f} {noun}s of equal size"
        for name, one in zip(("targets", "non-targets"), design.sizes, strict=True)
        if one.n_clusters < _UNEQUAL * one.n_units
    ]
    if said:
        words = ", and ".join(said)
        yield f"Numbers of trials are unequal: {words}. Intervals may be too narrow."
