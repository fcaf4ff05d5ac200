"""Confidence intervals of single metrics by units (clusters of trials, such as speakers), without replicates."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logit

from deciban._validate import arrays as _validate
from deciban.core.expected import WeightedScores
from deciban.core.ranks.roc import effective_log_odds
from deciban.core.resampling import linearised
from deciban.core.resampling.clusters import ClassRate, ClassVariances, ClusterDesign
from deciban.core.resampling.intervals import FEWEST_CLUSTERS, LEVEL, Interval, Scale, checked_level
from deciban.core.resampling.unit_counts import UnitCounts, in_blocks
from deciban.core.resampling.units import TrialUnits, together
from deciban.errors import InputError
from deciban.metrics import costs as metrics
from deciban.metrics.scores import SortedScores, auc, checked, eer, uer
from deciban.types import ByValue, CountArray, FloatArray, ScoreArray, Units, Weights


@dataclass(frozen=True, slots=True)
class _MeanMetric:
    metric: Callable[..., float | FloatArray]
    costs: Callable[..., FloatArray]
    """Function of `LinearCosts`, the effective numbers of units, and arguments of the metric; returns costs of score
    bins."""
    scale: Scale = "log"
    limits: tuple[float, float] = (0.0, math.inf)
    weights: Callable[..., tuple[float, float]] | None = None
    """Function that returns the weights of the miss and false-alarm rates in the metric, if it is a sum of both."""


def _odds(p_target: float, c_miss: float = 1.0, c_fa: float = 1.0) -> float:
    return float(effective_log_odds(logit(np.float64(p_target)), c_miss, c_fa))


def _crossing(of: linearised.LinearCosts, n_units: tuple[int, int], ratio: float = 1.0) -> FloatArray:
    return np.asarray(of.best.crossing(ratio, linearised.crossing_slopes(of.rocch, ratio, n_units)[1])[:, 0])


def _crossing_weights(of: linearised.LinearCosts, n_units: tuple[int, int], ratio: float = 1.0) -> tuple[float, float]:
    return linearised.crossing_weights(ratio, linearised.crossing_slopes(of.rocch, ratio, n_units)[1])


def _dcf_weights(_: linearised.LinearCosts, __: object, **point: float) -> tuple[float, float]:
    return linearised.dcf_weights(_odds(**point))


def _mean(costs: Callable[..., linearised.BinCosts], *, best: bool = False) -> Callable[..., FloatArray]:
    """Return the costs of score bins by a rule at a prior; prior 0.5 for metrics without a prior."""
    return lambda of, _, p_target=0.5, **rule: of.of_means(costs(**rule, log_odds=_odds(p_target)), best=best)


_METRICS: Mapping[str, _MeanMetric] = {
    "eer": _MeanMetric(eer, _crossing, "logit", (0.0, 0.5), _crossing_weights),
    "uer": _MeanMetric(uer, _crossing, "logit", (0.0, 1.0), _crossing_weights),
    "auc": _MeanMetric(auc, lambda of, _: of.auc(), "logit", (0.0, 1.0)),
    "act_dcf": _MeanMetric(
        metrics.act_dcf, lambda of, _, **at: of.dcf(_odds(**at), -_odds(**at)), weights=_dcf_weights
    ),
    "min_dcf": _MeanMetric(
        metrics.min_dcf, lambda of, _, **at: of.best.dcf(_odds(**at))[:, 0], "logit", (0.0, 1.0), weights=_dcf_weights
    ),
    "cllr": _MeanMetric(metrics.cllr, _mean(linearised.bits_at)),
    "min_cllr": _MeanMetric(metrics.min_cllr, _mean(linearised.bits_at, best=True), limits=(0.0, 1.0)),
    "cross_entropy": _MeanMetric(metrics.cross_entropy, _mean(linearised.log_costs_at)),
    "min_cross_entropy": _MeanMetric(metrics.min_cross_entropy, _mean(linearised.log_costs_at, best=True)),
    "scoring_rule_cost": _MeanMetric(metrics.scoring_rule_cost, _mean(linearised.beta_costs_at)),
    "min_scoring_rule_cost": _MeanMetric(metrics.min_scoring_rule_cost, _mean(linearised.beta_costs_at, best=True)),
}
"""Metrics by name."""


def interval(
    metric: str,
    tar: ArrayLike,
    non: ArrayLike,
    *,
    tar_units: Units,
    non_units: Units,
    tar_weights: Weights = None,
    non_weights: Weights = None,
    level: float = LEVEL,
    **at: float,
) -> Interval:
    """Return the confidence interval of a metric by units (clusters of trials, such as speakers).

    Error rates and their sums have Wilson limits at their effective numbers of trials. Other metrics have ``t``
    quantiles on the scale of log odds (areas) or logarithms (costs), with the jackknife variance. Degrees of freedom
    are the effective number of units minus 1. Minima are not corrected for optimism here: `deciban.evaluate` does.

    Parameters
    ----------
    metric : str
        Name of the metric: ``"eer"``, ``"uer"``, ``"auc"``, ``"act_dcf"``, ``"min_dcf"``, ``"cllr"``, ``"min_cllr"``,
        ``"cross_entropy"``, ``"min_cross_entropy"``, ``"scoring_rule_cost"``, ``"min_scoring_rule_cost"``.
    tar, non : (n_tar,) and (n_non,) array_like
        Scores; log-likelihood ratios in nats if the metric requires them.
    tar_units, non_units : (n,) or (n, 2) array_like
        Speakers or other units of each trial, by name or whole number: one, or one for each side.
    tar_weights, non_weights : array_like, optional
        Weight of each trial.
    level : float
        Share of samples whose interval should contain the true value.
    **at : float
        Further arguments of the metric: ``ratio``, ``p_target``, ``c_miss``, ``c_fa``, ``alpha``, ``beta``.

    Returns
    -------
    Interval

    Raises
    ------
    InputError
        If the metric is unknown or infinite, its arguments are missing or wrong, units do not match or are too few (two
        in total, five effective units of each class), or the level is not inside (0, 1).

    Examples
    --------
    >>> tar, non = [1.0, 2.0, -1.0, 3.0, 0.5], [-2.0, 1.0, -1.0, -3.0, -0.5]
    >>> found = interval("act_dcf", tar, non, tar_units=range(5), non_units=range(5), p_target=0.5)
    >>> round(found.estimate, 4), round(found.low, 4), round(found.high, 4)
    (0.4, 0.1616, 1.1072)
    """
    level, known = checked_level(level), _known(metric, at)
    value = float(known.metric(tar, non, tar_weights=tar_weights, non_weights=non_weights, **at))
    if not math.isfinite(value):
        raise InputError(f"metric: {metric} is {value}; it has no interval.")
    ranks = SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights)
    names = ("tar_units", "non_units")
    units = together(list(zip((tar_units, non_units), names, strict=True)))
    of_point = {name: at[name] for name in ("p_target", "c_miss", "c_fa") if name in at}
    thresholds = [-_odds(**of_point)] if "p_target" in at else []
    bins = linearised.bins_of(ranks.table, ranks.pav, np.array(thresholds, np.float64), units[0].n_units)
    costs = linearised.LinearCosts(ranks.tar, ranks.non, ranks.pav, ranks.rocch, bins)
    values = zip((tar, non), units, (tar_weights, non_weights), names, strict=True)
    counts = [
        _counts_of(np.asarray(scores, np.float64), own, weight, bins, name) for scores, own, weight, name in values
    ]
    if units[0].n_units < 2:
        raise InputError("tar_units, non_units: all trials are of one unit. An interval needs at least two.")
    n_trials = [own.total / one for own, one in zip(counts, costs.one_trial, strict=True)]
    design = ClusterDesign.of_units([own.totals for own in counts], n_trials)
    for name, size in zip(names, design.sizes, strict=True):
        if not size.is_enough:
            raise InputError(
                f"{name}: {size.n_clusters:.3g} effective units. An interval needs at least {FEWEST_CLUSTERS:g} of "
                "each class."
            )
    n_units = tuple(design.effective.tolist())
    of_bins = known.costs(costs, n_units, **at)
    each = zip(counts, of_bins, design.stretch.tolist(), strict=True)
    of_tar, of_non = (_influences(*one) for one in each)
    variances = ClassVariances([metric], design)
    variances.add(of_tar, of_non, of_tar + of_non)
    rates = list[ClassRate]()
    for kind, weight in enumerate(() if known.weights is None else known.weights(costs, n_units, **at)):
        mean = float(counts[kind].mean(of_bins[kind]))
        rates.append(ClassRate(kind, weight, min(mean / weight, 1.0) if weight else 0.0))
    estimate = partial(variances.estimate, is_mean=not metric.startswith("min_"))
    return estimate(metric, value, rates, scale=known.scale, limits=known.limits).interval(level)


def _influences(counts: UnitCounts, costs: FloatArray, stretch: float) -> FloatArray:
    """Return the influence of each unit on the mean cost of a class, (n_units, 1), with its small-sample factor."""
    own = np.concatenate([counts.influence(costs[:, None], part) for _, (part,) in in_blocks([counts], 1)])
    return np.asarray(own * (counts.small_sample(counts.totals) * stretch)[:, None])


def _counts_of(
    scores: FloatArray, units: TrialUnits, weights: Weights, bins: linearised.ScoreBins, name: str
) -> UnitCounts:
    if units.n_trials != len(scores):
        raise InputError(f"{name}: {units.n_trials} units for {len(scores)} scores. Pass one for each trial.")
    own = None if weights is None else np.asarray(weights)
    return UnitCounts.of(scores, units, bins, np.zeros(units.n_units, np.int64), own)


def _known(metric: str, at: Mapping[str, float]) -> _MeanMetric:
    result = _METRICS.get(metric)
    if result is None:
        raise InputError(f"metric: got {metric!r}. Known metrics: {', '.join(_METRICS)}.")
    value = inspect.signature(result.metric).parameters
    own = [name for name in ("ratio", "p_target", "alpha", "beta", "c_miss", "c_fa") if name in value]
    missing = [name for name in own if name not in at and name not in ("c_miss", "c_fa")]
    unknown = [name for name in at if name not in own]
    if missing or unknown:
        words = f"requires {', '.join(missing)}" if missing else f"takes no {', '.join(unknown)}"
        raise InputError(f"metric: {metric} {words}. Its arguments are {', '.join(own) or 'none'}.")
    return result


@dataclass(frozen=True, slots=True, eq=False)
class CalibrationDiscrepancy(ByValue):
    """Discrepancy of reported likelihood ratios from the data in one interval, with fiducial limits.

    Attributes
    ----------
    low_edge, high_edge : float
        Borders of the interval in log10 LR; it contains the first one.
    n_tar, n_non : int or float
        Trials in the interval (sums of weights).
    value : float
        log10 of the reported LR over the LR that the data show; positive if the reported LR is too large. ``inf``
        without targets in the interval, ``-inf`` without non-targets, NaN without both.
    low, high : float
        Fiducial limits for this interval; infinite on the side on which trials are lacking.
    confirmed : float
        Distance from 0 to the nearer limit, with limits for all intervals together (Bonferroni); 0 if they contain 0.
    """

    low_edge: float
    high_edge: float
    n_tar: int | float
    n_non: int | float
    value: float
    low: float
    high: float
    confirmed: float


def calibration_discrepancy(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    edges: ArrayLike | None = None,
    level: float = LEVEL,
    seed: int = 0,
    tar_weights: Weights = None,
    non_weights: Weights = None,
) -> tuple[CalibrationDiscrepancy, ...]:
    """Return the fiducial calibration discrepancy of likelihood ratios in intervals of their strength.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Log-likelihood ratios in nats of independent trials.
    edges : (n,) array_like, optional
        Ascending borders in log10 LR. By default whole decades from -12 to 12, as far as there are likelihood ratios.
    level : float
        Level of the limits.
    seed : int
        Seed of the random draws.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    tuple of CalibrationDiscrepancy
        One for each interval.

    Raises
    ------
    InputError
        If a class is empty or contains NaN, borders do not ascend, or the level is not inside (0, 1).

    Notes
    -----
    The likelihood ratio of a likelihood ratio is this ratio itself. So the share of targets in an interval is the
    integral of the LR over the distribution of non-targets there. The discrepancy is log10 of this integral over this
    share. Limits are quantiles of it under the fiducial distributions of both distribution functions: the spacings
    between sorted trials have a Dirichlet distribution. Each limit uses the spacing at the border of an interval in the
    direction that widens the limits, as Clopper and Pearson do for one share.

    The idea is due to Hannig and Iyer (JRSS A 185, 2022). This definition was derived here from the property above.
    Their own computation was not available for comparison, so numbers can differ.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> tar, non = 2 * rng.normal(2, 2, 500), 2 * rng.normal(-2, 2, 500)  # twice as strong as they should be
    >>> for one in calibration_discrepancy(tar, non, edges=[-2, 0, 2]):
    ...     print(f"{one.value:.2f} [{one.low:.2f}, {one.high:.2f}]")
    -0.20 [-0.33, -0.06]
    0.54 [0.36, 0.77]
    """
    result = checked(tar, non, tar_weights, non_weights)
    borders = None if edges is None else np.atleast_1d(_validate.finite(edges, "edges"))
    if borders is not None and (borders.ndim != 1 or len(borders) < 2 or (np.diff(borders) <= 0.0).any()):
        raise InputError("edges: pass at least two borders in ascending order, in log10 LR.")
    return discrepancies_of(*result, borders, checked_level(level), seed)


_DECADES, _PARTS, _DRAWS = 12, 16, 4000
"""Reach of the default intervals in decades, parts of an interval with one mean LR, and number of random draws."""


def discrepancies_of(
    tar: WeightedScores, non: WeightedScores, edges: FloatArray | None = None, level: float = LEVEL, seed: int = 0
) -> tuple[CalibrationDiscrepancy, ...]:
    """Return discrepancies of checked llrs; see `calibration_discrepancy`."""
    (of_tar, by_tar), (of_non, by_non) = ((llr / math.log(10.0), _as_trials(weights)) for llr, weights in (tar, non))
    if edges is None:
        near = np.concatenate([one[np.abs(one) < _DECADES] for one in (of_tar, of_non)])
        edges = np.arange(*((math.floor(near.min()), math.floor(near.max()) + 2.0) if len(near) else (0.0, 2.0)))
    rng, n = np.random.default_rng(seed), len(edges) - 1
    parts = np.append(np.linspace(edges[:-1], edges[1:], _PARTS, endpoint=False, axis=1).ravel(), edges[-1])
    ratios = 10.0 ** np.clip(of_non, edges[0], edges[-1])
    summed = _in_intervals(of_non, ratios if by_non is None else ratios * by_non, parts)
    of_parts, n_tar = _in_intervals(of_non, by_non, parts), _in_intervals(of_tar, by_tar, edges)
    n_non, means = of_parts.reshape(n, _PARTS).sum(axis=1), summed / np.maximum(of_parts, np.finfo(np.float64).tiny)
    all_tar, all_non = (len(one) if by is None else by.sum() for one, by in ((of_tar, by_tar), (of_non, by_non)))

    def spacings(shape: FloatArray) -> FloatArray:
        return rng.standard_gamma(shape, (_DRAWS, len(shape)))

    masses = spacings(of_parts)
    reported, drawn = ((one * masses).reshape(_DRAWS, n, _PARTS).sum(axis=2) for one in (means, 1.0))
    hits, one_hit, one_non = spacings(n_tar), spacings(np.ones(n)), spacings(np.ones(n))
    every_tar = hits + one_hit + spacings(np.maximum(all_tar - n_tar, 0.0))  # rounding of fractional weights
    every_non = drawn + one_non + spacings(np.maximum(all_non - n_non, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.log10(summed.reshape(n, _PARTS).sum(axis=1) / all_non / (n_tar / all_tar))
        low = np.log10(reported / every_non / ((hits + one_hit) / every_tar))
        high = np.log10((reported + one_non * 10.0 ** edges[1:]) / every_non / (hits / every_tar))
    there = n_tar + n_non > 0
    tails = 0.5 * (1.0 - level) / np.array([1, max(there.sum(), 1)])
    lows, highs = (np.quantile(x, q, 0, method="inverted_cdf") for x, q in ((low, tails), (high, 1.0 - tails)))
    confirmed = np.where(there, np.maximum(np.maximum(lows[1], -highs[1]), 0.0), 0.0)
    limits = (np.where(there, one[0], np.nan) for one in (lows, highs))
    columns = (edges[:-1], edges[1:], n_tar, n_non, value, *limits, confirmed)
    return tuple(CalibrationDiscrepancy(*row) for row in zip(*(one.tolist() for one in columns), strict=True))


def _as_trials(weights: CountArray | None) -> CountArray | None:
    """Return whole weights, which count like copies, unchanged; fractional ones add up to the effective number."""
    if weights is None or weights.dtype.kind != "f":
        return weights
    return np.asarray(weights * (weights.sum() / np.square(weights).sum()))


def _in_intervals(values: ScoreArray, weights: CountArray | None, borders: FloatArray) -> CountArray:
    """Return the number of values in each interval between borders, or the sum of their weights."""
    at = np.searchsorted(borders, values, side="right") - 1
    inside = (at >= 0) & (at < len(borders) - 1)
    return np.asarray(np.bincount(at[inside], None if weights is None else weights[inside], len(borders) - 1))
