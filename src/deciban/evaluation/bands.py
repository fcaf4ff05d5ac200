"""Standard errors and bands of curves, computed from the influences of units at each place."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, cast

import numpy as np
from scipy import special

from deciban.core.ranks.roc import default_error
from deciban.core.resampling.intervals import LEVEL, RatePart, RateSum, Scale, bounds_on_scale, t_quantile
from deciban.core.resampling.linearised import LinearCosts, bits_at
from deciban.core.resampling.unit_counts import Table, UnitCounts, as_array, cumulated, in_blocks
from deciban.evaluation.curves import Consistency, rate_bounds, spread_of_rates
from deciban.evaluation.two_class.linear_metrics import LARGEST
from deciban.evaluation.uncertainty import CurveInfluences, MetricKey, Uncertainty
from deciban.types import AnyArray, FloatArray, FloatPair, IntArray

if TYPE_CHECKING:
    from deciban.core.resampling.unit_counts import RowsOfTrials
    from deciban.evaluation.curves import Curves
    from deciban.evaluation.multiclass.result import ClassEvaluation
    from deciban.evaluation.one_system import OneSystem
    from deciban.evaluation.results import Evaluation
    from deciban.evaluation.two_class.linear_metrics import MetricInfluences


class Bands:
    """Influences of units on curves, and sums of their squares.

    Many units are added as ``MOST_UNITS`` groups: sums of independent influences have the same sum of squares.

    Parameters
    ----------
    curves : Curves
    units : MetricInfluences
        Units, with trials in bins that have borders at every ``STEP``-th prior and every ``LEVEL_STEP``-th level of the
        curves. If they have decisions made without each group of units, influences on minimum errors are held out.
    """

    STEP: ClassVar[int] = 7
    LEVEL_STEP: ClassVar[int] = 10
    ENTROPY_STEP: ClassVar[int] = 10
    MOST_BLOCKS: ClassVar[int] = 2000
    MOST_UNITS: ClassVar[int] = 1 << 12

    def __init__(self, curves: Curves, units: MetricInfluences) -> None:
        self.counts, self.design, self.factors, self.without = units.counts, units.design, units.factors, units.without
        self.curves, self.costs, bins = curves, units.of_bins, units.of_bins.bins
        costs, design, without = self.costs, self.design, self.without
        self.log_odds = curves.prior_log_odds[:: self.STEP]
        self.levels = curves.levels[:: self.LEVEL_STEP]
        self.entropy_log_odds = curves.entropy_log_odds[:: self.ENTROPY_STEP]
        thresholds = costs.pav.thresholds
        best = thresholds[costs.rocch.best_vertices(self.log_odds)]
        self.at = {
            "act_error": bins.positions(-self.log_odds),
            "min_error": bins.positions(best),
            "above": bins.positions(self.levels),
        }
        rates = self._error_rates("min_error")
        self.moved = np.any((rates > 0.0) & (rates < 1.0), axis=1)
        self.hull = np.unique(np.linspace(0, len(thresholds) - 1, min(len(thresholds), self.MOST_BLOCKS)).astype(int))
        self.at["hull"] = bins.positions(thresholds[self.hull])
        with np.errstate(over="ignore"):
            heavy = np.exp(np.abs(self.log_odds))
        self.weights = np.where(self.log_odds <= 0, 1.0, heavy), np.where(self.log_odds <= 0, heavy, 1.0)
        if without is not None:  # no unit changes an error rate if all thresholds are beyond all scores
            self.at_without = without.best.positions(self.log_odds)
            self.moved = self.moved & ((self.at_without > 0) & (self.at_without < bins.n_bins)).any(axis=0)
        entropy = {
            "act_cross_entropy": _entropy(costs, self.entropy_log_odds, best=False),
            "min_cross_entropy": _entropy(costs, self.entropy_log_odds, best=True),
        }
        self.entropy = {name: one for name, one in entropy.items() if one is not None}  # infinite: off the plot
        self.places, rows = np.unique(np.concatenate(list(self.at.values())), return_inverse=True)
        self.rows = dict(zip(self.at, np.split(rows, np.cumsum([len(at) for at in self.at.values()])), strict=False))
        self.starts = np.searchsorted(costs.block, np.arange(len(costs.pav.llr)))
        ends = np.clip(np.concatenate((costs.pav.llr[:1], costs.pav.llr, costs.pav.llr[-1:])), -300.0, 300.0)
        slope = np.exp(((ends[:-1] + ends[1:]) / 2)[self.hull])
        self.support = slope / (1.0 + slope)  # weight of false alarms where the hull touches; the rest weighs misses
        self.squares: dict[str, FloatArray] = {}
        self.sums = {name: np.zeros((3, len(self.at[name]))) for name in ("act_error", "min_error", "hull")}
        """Squares of the influences on the miss rate, squares of those on the false-alarm rate, and their products."""
        are_many = max(design.n_units, self.counts[0].n_units) > self.MOST_UNITS
        sides = [one.in_groups(self.MOST_UNITS) for one in self.counts] if are_many else self.counts
        for part, tables in in_blocks(sides, 2 * bins.n_bins):
            self._add_block(tables, design.stretch.tolist() if are_many else [own[part] for own in self.factors])

    def _kept(self, every: slice) -> dict[str, FloatArray]:
        """Return the influences of all units at some priors; only bins between their thresholds are distinguished."""
        kept: dict[str, list[FloatArray]] = {"act_error": [], "min_error": []}
        held_out, at = self.without, {name: self.at[name][every] for name in kept}
        at_without = np.zeros((0, 0), np.int64) if held_out is None else self.at_without[:, every]
        places = np.unique(np.concatenate([[0, self.costs.bins.n_bins], *at.values(), at_without.ravel()]))
        weights, moved = (self.weights[0][every], self.weights[1][every]), self.moved[every, None]
        means = None if held_out is None else held_out.means_below(at_without)
        narrow = [one.between(places) for one in self.counts]
        for part, tables in in_blocks(narrow, len(places)):
            below, factors = _below(tables), [own[part] for own in self.factors]
            for name, parts in kept.items():
                rows = np.searchsorted(places, at[name])
                misses, rejected = (
                    _rates(one, own, rows) * (weight[:, None] * factor)
                    for one, own, weight, factor in zip(narrow, below, weights, factors, strict=True)
                )
                influences = misses - rejected  # false alarms are the complement of rejected non-targets
                if name == "min_error" and held_out is not None and means is not None:
                    rows = np.searchsorted(places, at_without).T[:, held_out.group[part]]
                    by_others = held_out.influence_on_rates(rows, below, means, weights, factors)
                    influences = np.where(moved, by_others, influences)
                parts.append(influences)
        return {name: np.hstack(parts) for name, parts in kept.items()}

    def _add_block(self, tables: Sequence[Table], factors: Sequence[FloatArray | float]) -> None:
        """Add the units, or groups of units, of a block."""
        counts, below = self.counts, _below(tables)
        of_miss, of_rejected = (
            _rates(one, own, self.places) * factor for one, own, factor in zip(counts, below, factors, strict=True)
        )
        for name in self.sums:
            misses, rejected = of_miss[self.rows[name]], of_rejected[self.rows[name]]
            pairs = (misses, misses), (rejected, rejected), (misses, rejected)
            self.sums[name] += [np.einsum("gu,gu->g", one, other) for one, other in pairs]
        self._add("tar_above", of_miss[self.rows["above"]])
        self._add("non_above", of_rejected[self.rows["above"]])
        if self.entropy:  # one matrix product for all curves
            costs = np.concatenate(list(self.entropy.values()), axis=2)
            values = zip(counts, costs, tables, factors, strict=True)
            of_tar, of_non = (one.influence(cost, table).T * factor for one, cost, table, factor in values)
            influences = of_tar + of_non
            for name, own in zip(self.entropy, np.split(influences, len(self.entropy)), strict=True):
                self._add(name, own)
        starts = np.append(self.starts, self.costs.bins.n_bins)
        of_block = zip(counts, tables, below, factors, strict=True)
        of_tar, of_non = (_block_log(one, table, own, starts) * factor for one, table, own, factor in of_block)
        self._add("pav", of_tar - of_non)

    def _add(self, name: str, influences: FloatArray) -> None:
        squares = np.einsum("gu,gu->g", influences, influences)
        self.squares[name] = self.squares.get(name, 0.0) + squares

    def influences(self, every: int, rows: RowsOfTrials | None = None) -> dict[str, CurveInfluences]:
        """Return the influences of all units on Bayes errors at every ``every``-th of the priors, for comparisons.

        With ``rows``, each row of the tables represents many units.
        """
        at, entries, n_seen = slice(None, None, every), {}, tuple(self.design.effective.tolist())
        for name, own in self._kept(at).items():
            value, ceiling = getattr(self.curves, name)[:: self.STEP][at], 1.0 if name == "min_error" else math.inf
            kept = own if rows is None else rows.spread(own)
            entries[name] = CurveInfluences(self.log_odds[at], value, kept, self._unseen(name)[:, at], n_seen, ceiling)
        return entries

    def error_rates(self) -> dict[MetricKey, tuple[FloatArray, RateSum]]:
        """Return the places of cost curves, with the error rates there and their variances."""
        entries = dict[MetricKey, tuple[FloatArray, RateSum]]()
        weights = {"act_error": self.weights, "min_error": self.weights, "hull": (1.0 - self.support, self.support)}
        for name, (misses, rejected, both) in self.sums.items():
            spread = np.sqrt(misses * rejected)
            between = np.divide(-both, spread, out=np.zeros_like(both), where=spread > 0.0)
            parts = [
                (RatePart(weight, rate, squares * self._factor, size),)
                for weight, rate, squares, size in zip(
                    weights[name], self._error_rates(name).T, (misses, rejected), self.design.sizes, strict=True
                )
            ]
            places = self.hull.astype(np.float64) if name == "hull" else self.log_odds
            entries[name] = places, RateSum((parts[0], parts[1]), between=np.clip(between, -1.0, 1.0))
        return entries

    @property
    def _factor(self) -> float:
        n = max(min(self.design.n_units, self.MOST_UNITS), 2)
        return n / (n - 1)

    def _error_rates(self, name: str) -> FloatArray:
        """Return the miss and false-alarm rates at all places, (n_places, 2)."""
        classes = self.costs.n_tar, self.costs.n_non
        below = [np.append(0, np.cumsum(one))[self.at[name]] / one.sum() for one in classes]
        return np.stack((below[0], 1.0 - below[1]), axis=1)

    def _unseen(self, name: str) -> FloatArray:
        """Return the weights of error rates that are 0, and of those that are 1, (2, n_places, 2)."""
        at, n_bins, rates = self.at[name], self.costs.bins.n_bins, self._error_rates(name)
        weights = np.stack(self.weights, axis=1)
        by_choice = ((at == 0) | (at == n_bins))[:, None]  # the threshold is beyond all scores of any trials
        return np.stack([np.where((rates == rate) & ~by_choice, weights, 0.0) for rate in (0.0, 1.0)])

    def standard_errors(self) -> dict[MetricKey, FloatArray]:
        """Return standard errors at all places of the curves, interpolated linearly between computed places."""
        curves, factor = self.curves, self._factor
        entries = {name: np.sqrt(factor * squares) for name, squares in self.squares.items()}
        places: dict[str, tuple[AnyArray, AnyArray]] = {
            "tar_above": (curves.levels, self.levels),
            "non_above": (curves.levels, self.levels),
            "act_cross_entropy": (curves.entropy_log_odds, self.entropy_log_odds),
            "min_cross_entropy": (curves.entropy_log_odds, self.entropy_log_odds),
        }
        wide: dict[MetricKey, FloatArray] = {
            name: np.interp(expected, there, entries[name])
            for name, (expected, there) in places.items()
            if name in entries
        }
        rates_of = zip(("p_miss", "p_fa"), self._error_rates("act_error").T, self.sums["act_error"], strict=False)
        for name, rates, squares in rates_of:
            spread = spread_of_rates(rates, np.sqrt(factor * squares))
            wide[name] = np.interp(curves.prior_log_odds, self.log_odds, spread)
        return {**wide, "pav": entries["pav"]}


def _below(tables: Sequence[Table]) -> FloatPair:
    """Return the trials of each unit of a block in the first 0, 1, ... bins, (n_bins + 1, n), of both classes."""
    tar, non = (cumulated(np.ascontiguousarray(as_array(one).T)) for one in tables)
    return tar, non


def _rates(counts: UnitCounts, below: FloatArray, places: IntArray) -> FloatArray:
    """Return influences on the share of trials in the first ``places`` bins, (n_places, n)."""
    mean = np.append(0.0, np.cumsum(counts.in_bins))[places] / counts.total
    values = below[places]
    values -= np.outer(mean, below[-1])
    values *= 1.0 / counts.total  # faster than a division
    return values


def _block_log(counts: UnitCounts, table: Table, below: FloatArray, starts: IntArray) -> FloatArray:
    """Return influences on the logarithm of the share of trials in each PAV block, (n_blocks, n).

    Parameters
    ----------
    counts : UnitCounts
    table : (n, n_bins) array or sparse matrix
    below : (n_bins + 1, n) array
        The cumulated table. Whole numbers are differences of it; other weights are summed anew, with all digits.
    starts : (n_blocks + 1,) array
    """
    is_whole = counts.in_bins.dtype == np.int64
    own = np.diff(below[starts], axis=0) if is_whole else np.add.reduceat(as_array(table).T, starts[:-1], axis=0)
    whole = np.add.reduceat(counts.in_bins, starts[:-1])[:, None]
    shares = np.divide(own, whole, out=np.zeros(own.shape), where=whole > 0)
    shares -= below[-1] / counts.total
    return np.asarray(shares)


def _entropy(costs: LinearCosts, log_odds: FloatArray, *, best: bool) -> FloatArray | None:
    """Return the costs of bins at every prior; None if a cost is infinite, since no weight of a unit changes that."""
    columns = [costs.of_means(bits_at(float(x)), best=best) for x in log_odds]
    values = np.stack(columns, axis=2)
    return values if np.abs(values).max() <= LARGEST else None


Band: TypeAlias = FloatPair
"""Lower and upper bounds at every place."""


_RATES = {"tar_above": "p_miss", "non_above": "p_fa"}
"""Error rates of the curves that are shares of trials, or 1 minus such a share."""


def reach_of(uncertainty: Uncertainty) -> float:
    """Return the number of standard errors on both sides: the t quantile at the level."""
    return t_quantile(uncertainty.level, uncertainty.degrees)


def band_of(one: OneSystem, name: str, values: FloatArray) -> Band | None:
    """Return the band around a curve of an evaluation; None if its uncertainty is unknown.

    Parameters
    ----------
    one : Evaluation or ClassEvaluation
    name : str
        Name of the curve in `deciban.evaluation.Curves`.
    values : array
        The curve.

    Returns
    -------
    (low, high) or None

    Examples
    --------
    >>> from deciban import evaluate
    >>> units = {"tar_units": ["ann", "bob", "cid", "dan", "eve"], "non_units": ["fay", "gus", "hal", "ivy", "jim"]}
    >>> one = evaluate([1.0, 2.0, 2.0, -0.5, 3.0], [0.0, 1.0, -1.0, -2.0, -1.0], **units)
    >>> low, high = band_of(one, "tar_above", one.curves.tar_above)
    >>> bool((low <= one.curves.tar_above).all() and (one.curves.tar_above <= high).all())
    True
    """
    known, own = one.uncertainty, cast("Any", one)
    if known is None or (known.design is not None and not known.design.are_enough):
        return None
    if name in known.error_rates:
        axis = own.curves.prior_log_odds
        return _cost_band(known, name, axis, values, 1.0 if name == "min_error" else math.inf)
    errors = known.curves.get(name)
    if errors is None or len(errors) != len(values) or name == "c_avg":
        return None
    if name in _RATES:
        return rate_bounds(known, _RATES[name], values, np.square(errors))
    return _bounds(values, reach_of(known) * errors, "identity" if name == "pav" else "log")


def _cost_band(
    uncertainty: Uncertainty, name: MetricKey, axis: FloatArray, values: FloatArray, most: float | FloatArray
) -> Band | None:
    """Return the band around a cost curve from its error rates; costs are at most ``most``."""
    if len(axis) != len(values):
        return None
    places, rates = uncertainty.error_rates[name]
    below, above = (np.interp(axis, places, way) for way in rates.distances(uncertainty.level))
    return np.maximum(values - below, 0.0), np.minimum(values + above, np.maximum(most, values))


def _bounds(values: FloatArray, reach: FloatArray, scale: Scale) -> Band:
    at_end = (values == 0.0) & (scale == "log")  # no error was seen that could move it
    return bounds_on_scale(values, values, np.where(at_end, 0.0, reach), scale)


def detector_bands(one: ClassEvaluation, target: int) -> tuple[Band, Band] | None:
    """Return bands around the actual and the minimum Bayes error rates of a class against the rest.

    Parameters
    ----------
    one : ClassEvaluation
    target : int
        Row of the curves.

    Returns
    -------
    (low, high), (low, high) or None
        At every prior of the curves; None if units are unknown.

    Examples
    --------
    >>> from deciban import evaluate_classes
    >>> label = np.arange(40) % 2
    >>> loglik = np.random.default_rng(1).normal(size=(40, 2)) + np.eye(2)[label]
    >>> one = evaluate_classes(loglik, label, units=np.arange(40) % 10)
    >>> (low, high), _ = detector_bands(one, 0)
    >>> bool((low <= one.curves.act_error[0]).all() and (one.curves.act_error[0] <= high).all())
    True
    """
    known, curves, name = one.uncertainty, one.curves, one.classes[one.detection.target[target]]
    bands = list[Band | None]()
    for what, ceiling in (("act_error", math.inf), ("min_error", default_error(curves.detector_log_odds))):
        key = ("detectors", name, what)
        if known is None or key not in known.error_rates:
            return None
        bands.append(_cost_band(known, key, curves.detector_log_odds, getattr(curves, what)[target], ceiling))
    low, high = bands
    return None if low is None or high is None else (low, high)


def hull_bands(one: Evaluation) -> tuple[Band, Band] | None:
    """Return false-alarm and miss rates of the convex hull at both ends of its uncertainty.

    At each vertex, a line of equal cost touches the hull. Both error rates move with the interval of this cost, by the
    same factor on their odds.

    Returns
    -------
    (low p_fa, low p_miss), (high p_fa, high p_miss) or None
        At every vertex.
    """
    known = one.uncertainty
    if known is None or known.design is None or not known.design.are_enough:
        return None
    places, rates = known.error_rates["hull"]
    (tar,), (non,) = rates.parts
    cost = np.maximum(tar.weight * tar.rate + non.weight * non.rate, np.finfo(np.float64).tiny)
    below, above = rates.distances(known.level)
    steps = np.log(np.maximum(1.0 - below / cost, _LEAST)), np.log1p(above / cost)
    p_fa, p_miss, numbers = one.curves.hull_p_fa, one.curves.hull_p_miss, np.arange(len(one.curves.hull_p_fa))
    low, high = ((_moved(p_fa, by), _moved(p_miss, by)) for by in (np.interp(numbers, places, one) for one in steps))
    return low, high


_LEAST = 1e-6
"""The lower end of a cost as a share of it, at least."""


def _moved(rate: FloatArray, log_factor: FloatArray) -> FloatArray:
    """Return rates after multiplying their odds by a factor; 0 and 1 stay."""
    return np.asarray(special.expit(special.logit(rate) + log_factor))


def rate_intervals(one: Evaluation) -> dict[str, FloatPair]:
    """Return intervals of both error rates at every place of `AtPriors`; empty if units are unknown.

    At operating points these are the intervals of the evaluation. Between them, the design effect (the factor by which
    units increase the variance of a rate) is interpolated from the bands, at every seventh prior of the curves.

    Parameters
    ----------
    one : Evaluation

    Returns
    -------
    dict of {"p_miss", "p_fa"} to (low, high)

    Examples
    --------
    >>> from deciban import evaluate
    >>> units = {"tar_units": ["ann", "bob", "cid", "dan", "eve"], "non_units": ["fay", "gus", "hal", "ivy", "jim"]}
    >>> one = evaluate([1.0, 2.0, 2.0, -0.5, 3.0], [0.0, 1.0, -1.0, -2.0, -1.0], operating_points=[0.5], **units)
    >>> low, high = rate_intervals(one)["p_fa"]
    >>> place, exact = one.at_priors.nearest(0.0), one.interval("p_fa")
    >>> bool(low[place] == exact.low), bool(high[place] == exact.high)
    (True, True)
    """
    known, at, entries = one.uncertainty, one.at_priors, {}
    if known is None or at is None:
        return {}
    own = {-point.threshold: k for k, point in enumerate(one.operating_points)}
    for name in ("p_miss", "p_fa"):
        spread, rates = known.curves.get(name), getattr(at, name)
        if known.size_of(name) is None or spread is None:
            continue
        effect = np.square(np.interp(at.log_odds, one.curves.prior_log_odds, spread))
        low, high = rate_bounds(known, name, rates, effect * np.clip(rates * (1.0 - rates), 0.0, None))
        for k in np.flatnonzero(np.isin(at.log_odds, list(own))).tolist():
            metric = name, own[float(at.log_odds[k])]
            if metric in known.estimates:
                interval = known.interval(metric)
                low[k], high[k] = interval.low, interval.high
        entries[name] = low, high
    return entries


_NEAR = 1.0
"""Width in nats of llr over which design effects of blocks are smoothed."""


_FURTHEST = 20.0
"""Limit of llrs in nats, since blocks of one class have infinite llrs."""


def consistency_of(one: OneSystem, level: float | None = None) -> Consistency | None:
    """Return the bounds of the reliability curve under correct posteriors, by units if these are known.

    Parameters
    ----------
    one : Evaluation or ClassEvaluation
    level : float, optional
        Level at each posterior. By default, the level of the evaluation.

    Returns
    -------
    Consistency or None
        Its ``noun`` names the units. None for weighted trials and for multiclass.

    Raises
    ------
    InputError
        If the level is not inside (0, 1).

    Notes
    -----
    The design effect of a PAV block is the variance of its llr by units, divided by the variance for independent
    trials, at least 1, and smoothed over blocks within about a nat. The band assumes fewer trials by this factor.
    In simulations with 60 speakers whose trials share none, half or 80 % of the variance, bands at 90 % contain 93, 88
    and 86 % of the curve, and 91, 78 and 70 % if trials count as independent.

    Examples
    --------
    >>> from deciban import evaluate
    >>> units = {"tar_units": ["ann", "bob", "cid"], "non_units": ["dan", "eve", "fay"]}
    >>> consistency_of(evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], **units)).noun
    'unit'
    >>> consistency_of(evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])).noun
    'trial'
    """
    value: Any = one
    curve, known = value.curves.reliability, one.uncertainty
    level = (LEVEL if known is None else known.level) if level is None else level
    errors = None if known is None or known.are_independent else known.curves.get("pav")
    if known is None or errors is None or one.kind != "two-class" or len(errors) != len(curve.low):
        consistency: Consistency | None = curve.consistency(level)
    else:
        consistency = curve.consistency(level, design_effect=_design_effect(value, errors), noun=known.noun)
    return consistency


def _design_effect(one: Evaluation, errors: FloatArray) -> FloatArray:
    """Return the variance of the llr of every PAV block by units, divided by that by trials."""
    pav = one.curves.pav
    by_trial = np.zeros(len(pav.llr))
    for count in (pav.n_tar, pav.n_non):
        by_trial += np.divide(1.0, count, out=np.zeros(len(count)), where=count > 0) - (count > 0) / count.sum()
    own = np.divide(errors**2, by_trial, out=np.ones(len(errors)), where=by_trial > 0.0)
    weight, llr = pav.n_tar + pav.n_non, np.clip(pav.llr, -_FURTHEST, _FURTHEST)
    smooth = np.empty(len(own))
    for k, at in enumerate(llr):
        near = weight * np.exp(-0.5 * ((llr - at) / _NEAR) ** 2)
        smooth[k] = near @ own / near.sum()
    return np.maximum(smooth, 1.0)
