"""Influences of units on the figures of two classes: costs in cells, their sums by unit, intervals and bands."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from deciban.core.ranks.operating import effective_log_odds
from deciban.core.ranks.thresholds import beyond, evidence_bounds
from deciban.core.resampling.cells import Cells, cells_of
from deciban.core.resampling.intervals import Estimate, NothingSeen
from deciban.core.resampling.linearised import LinearCosts
from deciban.core.resampling.scales import Scale
from deciban.evaluation.bands import Bands
from deciban.evaluation.optimism import corrections
from deciban.evaluation.uncertainty import Differences, Figure, Uncertainty, looked_up
from deciban.evaluation.unit_trials import Resampling
from deciban.types import FloatArray

if TYPE_CHECKING:
    from deciban.evaluation.results import Evaluation
    from deciban.evaluation.summary import Summary

_KEPT = 1 << 24
"""Influences that are kept without being asked for."""

_KEPT_CURVES = 1 << 21
"""The same of two curves at all priors."""

_FEWEST_PLACES = 9
"""Of a curve: with fewer it says nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class LinearFigure:
    """A figure with its costs.

    Attributes
    ----------
    name : Figure
    value : float
    costs : (2, n_cells) or (n_trials,) array
        Of cells for both classes; of many classes what each trial adds to the mean of its class.
    scale : {"log", "logit", "identity"}
    nothing_seen : NothingSeen or None
        What is known if no unit moves the figure.
    is_optimistic : bool
        Whether the figure is a minimum over thresholds or maps.
    """

    name: Figure
    value: float
    costs: FloatArray
    scale: Scale = "log"
    nothing_seen: NothingSeen | None = None
    is_optimistic: bool = False


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
        """Those that are finite."""
        parts = (self._ranks, self._rules, self._points, self._errors, self._requested)
        return (one for part in parts for one in part() if math.isfinite(one.value))

    def _none(self, above: float, ceiling: float = math.inf) -> NothingSeen:
        """Of a figure that is 0 without errors."""
        return NothingSeen(min(self.n_units), above, ceiling=ceiling)

    def _rate(self, name: Figure, value: float, costs: FloatArray, kind: int) -> LinearFigure:
        nothing = NothingSeen(self.n_units[kind], above=float(value == 0.0), below=float(value == 1.0))
        return LinearFigure(name, value, costs, "logit", nothing)

    def _ranks(self) -> Iterator[LinearFigure]:
        found, costs, total = self.found, self.costs, float(self.summary.n_non)
        ratio = float(self.summary.n_tar) / total
        yield LinearFigure("eer", found.eer, costs.crossing(1.0), "logit", self._none(1.0), is_optimistic=True)
        area = NothingSeen(min(self.n_units), below=1.0)
        yield LinearFigure("auc", found.auc, costs.auc(), "logit", area)
        prbep = self._none(max(total, total * ratio))
        yield LinearFigure("prbep", found.prbep, total * costs.crossing(ratio), "log", prbep, is_optimistic=True)

    def _rules(self) -> Iterator[LinearFigure]:
        found, bits = self.found, 2.0 * self.costs.log_cost(0.0) / (2.0 * math.log(2))
        least = self.costs.log_cost(0.0, best=True) / math.log(2)
        yield LinearFigure("cllr", found.cllr, bits, "log", self._none(math.inf))
        entropy = NothingSeen(min(self.n_units), is_entropy=True)
        yield LinearFigure("min_cllr", found.min_cllr, least, "log", entropy, is_optimistic=True)
        loss = self._none(math.inf)
        yield LinearFigure("calibration_loss", found.calibration_loss, bits - least, "log", loss, is_optimistic=True)

    def _points(self) -> Iterator[LinearFigure]:
        act, least = [], []
        for k, point in enumerate(self.found.operating_points):
            log_odds = -point.threshold
            act.append(self.costs.dcf(log_odds, point.threshold))
            least.append(self.costs.dcf(log_odds, point.min_threshold))
            nothing = self._of_dcf(log_odds, point.p_miss, point.p_fa)
            yield LinearFigure(("act_dcf", k), point.act_dcf, act[-1], "log", nothing)
            nothing = replace(self._of_dcf(log_odds, point.min_p_miss, point.min_p_fa), ceiling=1.0)
            yield LinearFigure(("min_dcf", k), point.min_dcf, least[-1], "log", nothing, is_optimistic=True)
            for name, threshold in (("", point.threshold), ("min_", point.min_threshold)):
                p_miss, p_fa = getattr(point, f"{name}p_miss"), getattr(point, f"{name}p_fa")
                yield self._rate((f"{name}p_miss", k), p_miss, self.costs.rates(threshold, 1.0, 0.0), 0)
                yield self._rate((f"{name}p_fa", k), p_fa, self.costs.rates(threshold, 0.0, 1.0), 1)
        for name, value, costs in (("act", self.found.mean_act_dcf, act), ("min", self.found.mean_min_dcf, least)):
            nothing = self._none(math.inf, math.inf if name == "act" else 1.0)
            yield LinearFigure(
                f"mean_{name}_dcf", value, np.mean(costs, axis=0), "log", nothing, is_optimistic=name == "min"
            )

    def _of_dcf(self, log_odds: float, p_miss: float, p_fa: float) -> NothingSeen:
        """What is known of a normalized cost at error rates that are 0 or 1."""
        heavy, few = math.exp(min(abs(log_odds), 700.0)), min(self.n_units)
        weights = (1.0, heavy) if log_odds <= 0 else (heavy, 1.0)
        rates = [(rate, w * few / n) for rate, w, n in zip((p_miss, p_fa), weights, self.n_units, strict=True)]
        above = max([weight for rate, weight in rates if rate == 0.0], default=0.0)
        return NothingSeen(few, above, sum(weight for rate, weight in rates if rate == 1.0))

    def _errors(self) -> Iterator[LinearFigure]:
        found, rates = self.found, self.costs.rates
        yield self._rate("eer_p_miss", found.eer_p_miss, rates(found.eer_threshold, 1.0, 0.0), 0)
        yield self._rate("eer_p_fa", found.eer_p_fa, rates(found.eer_threshold, 0.0, 1.0), 1)
        bounds = evidence_bounds(np.array(self.summary.figures.factors))
        for k, (one, bound) in enumerate(zip(found.misleading, bounds.tolist(), strict=True)):
            yield self._rate(("misleading_tar", k), one.p_tar, rates(-bound, 1.0, 0.0), 0)
            yield self._rate(("misleading_non", k), one.p_non, rates(float(beyond(bounds)[k]), 0.0, 1.0), 1)

    def _requested(self) -> Iterator[LinearFigure]:
        asked, costs = self.found.requested, self.costs
        for name, value in asked.eer_conventions.items():
            # They differ by less than one trial, so their derivatives are the same.
            yield LinearFigure(("eer_conventions", name), value, costs.crossing(1.0), "logit", self._none(1.0))
        for k, limited in enumerate(asked.rates_at):
            is_miss = limited.limited == "fmr"
            place = (costs.limited_miss if is_miss else costs.limited_false_alarm)(limited.errors.threshold)
            yield self._rate(("rates_at", k), limited.rate, place, 0 if is_miss else 1)
        for k, at in enumerate(asked.at_thresholds):
            threshold = at.errors.threshold
            yield self._rate(("at_thresholds_p_miss", k), at.errors.p_miss, costs.rates(threshold, 1.0, 0.0), 0)
            yield self._rate(("at_thresholds_p_fa", k), at.errors.p_fa, costs.rates(threshold, 0.0, 1.0), 1)
            half = self._none(0.5)
            yield LinearFigure(
                ("at_thresholds_hter", k), at.errors.hter, costs.rates(threshold, 0.5, 0.5), "logit", half
            )
        for k, scores in enumerate(asked.posterior_scores):
            log_odds = math.log(scores.p_target) - math.log1p(-scores.p_target)
            for name, parts, cost in (
                ("log_loss", scores.log_loss, costs.log_cost),
                ("brier", scores.brier, costs.brier),
            ):
                nothing, total, least = self._none(math.inf), cost(log_odds), cost(log_odds, best=True)
                yield LinearFigure((name, k), parts.total, total, "log", nothing)
                yield LinearFigure(
                    (f"{name}_discrimination_loss", k),
                    parts.discrimination_loss,
                    least,
                    "log",
                    nothing,
                    is_optimistic=True,
                )
                yield LinearFigure(
                    (f"{name}_calibration_loss", k),
                    parts.calibration_loss,
                    total - least,
                    "log",
                    nothing,
                    is_optimistic=True,
                )


def uncertainty_of(summary: Summary, found: Evaluation, resampling: Resampling) -> Uncertainty | None:
    """How sure the figures of an evaluation are; None if units are not known, or there are fewer than two.

    Parameters
    ----------
    summary : Summary
        With units.
    found : Evaluation
        Of this summary.
    resampling : Resampling
    """
    if summary.units is None:
        return None
    about = summary.units.units[1]
    cells = cells_of(summary.table, summary.pav, _wanted(summary, found), about.n_units)
    tar, non = summary.units.counts(cells)
    n_units = int(np.count_nonzero(tar.totals + non.totals))
    if n_units < 2:
        return None
    costs = LinearCosts(summary.ranks.tar, summary.ranks.non, summary.pav, summary.rocch, cells)
    seen = tuple(int(np.count_nonzero(one.totals)) for one in (tar, non))
    figures = list(FiguresOfEvaluation(summary, found, costs, (seen[0], seen[1])))
    stacked = np.stack([one.costs for one in figures], axis=2)
    is_kept = about.n_units * len(figures) <= _KEPT if resampling.keep is None else resampling.keep
    sums, bands = (
        Differences([one.name for one in figures], about.n_units, keep=is_kept),
        Bands(summary, found.curves, costs, keep_every=_kept_places(found, about.n_units, resampling.keep)),
    )
    width = stacked.shape[2] + bands.width
    for (part, of_tar), (_, of_non) in zip(tar.blocks(width), non.blocks(width), strict=True):
        sums.add(part, tar.influence(stacked[0], of_tar) + non.influence(stacked[1], of_non))
        bands.add(tar, of_tar, non, of_non)
    errors = sums.standard_errors(n_units)
    shifts = corrections(summary, found, tar, non) if resampling.optimism is not False else {}
    estimates = {
        one.name: Estimate(
            one.value, float(error), n_units, one.scale, corrected(one, shifts.get(one.name)), one.nothing_seen
        )
        for one, error in zip(figures, errors, strict=True)
    }
    known = Uncertainty(
        n_units=n_units,
        noun=about.noun,
        source=about.source,
        keys=about.keys,
        estimates=estimates,
        influences=sums.influences,
        curves=bands.standard_errors(n_units),
        level=resampling.level,
        curve_influences=bands.influences,
    )
    if not resampling.bootstrap:
        return known
    from deciban.evaluation.replicates import ReplicatedFigures, bootstrap_of  # few ask for it

    replicated = ReplicatedFigures(summary, found, figures)
    return replace(known, bootstrap=bootstrap_of(known, summary, replicated, cells, (tar, non), resampling))


def _kept_places(found: Evaluation, n_units: int, keep: bool | None) -> int:  # noqa: FBT001  # as Resampling has it
    """At which of the priors of bands influences on curves are kept: fewer of very many units; 0 for none."""
    n_places, room = len(found.curves.prior_log_odds[:: Bands.STEP]), _KEPT if keep else _KEPT_CURVES
    every = max(-(-2 * n_places * n_units // room), 1)
    return every if keep is not False and n_places // every >= _FEWEST_PLACES else 0


def corrected(one: LinearFigure, shift: float | None) -> float | None:
    """A minimum without its optimism, if that is known."""
    return None if shift is None or not one.is_optimistic else max(one.value + shift, 0.0)


def _wanted(summary: Summary, found: Evaluation) -> FloatArray:
    """Thresholds at which counts must be exact."""
    bounds = evidence_bounds(np.array(summary.figures.factors))
    at = [one.errors.threshold for one in found.requested.rates_at]
    at += [one.errors.threshold for one in found.requested.at_thresholds]
    points = [place for point in found.operating_points for place in (point.threshold, point.min_threshold)]
    log_odds = effective_log_odds(found.curves.prior_log_odds[:: Bands.STEP], 1.0, 1.0)
    levels = found.curves.levels[:: Bands.LEVEL_STEP]
    wanted = np.concatenate((-bounds, beyond(bounds), at, points, [found.eer_threshold], -log_odds, levels))
    return wanted[np.isfinite(wanted)]


def figure_in_cells(summary: Summary, found: Evaluation, figure: Figure, n_units: int) -> tuple[Cells, LinearFigure]:
    """One figure of an evaluation as costs of cells: what each trial adds to it.

    Raises
    ------
    InputError
        If there is no such figure, or it is infinite.
    """
    cells = cells_of(summary.table, summary.pav, _wanted(summary, found), n_units)
    costs = LinearCosts(summary.ranks.tar, summary.ranks.non, summary.pav, summary.rocch, cells)
    known = {one.name: one for one in FiguresOfEvaluation(summary, found, costs, (n_units, n_units))}
    return cells, looked_up(known, figure)
