"""Evaluation of two-class scores: metrics, intervals and bands by influences of units, and notes on the results."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import fields, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from deciban.core.ranks import roc
from deciban.core.resampling.clusters import ClassVariances
from deciban.core.resampling.intervals import LEVEL, Estimate
from deciban.core.resampling.linearised import BestDecisions, LinearCosts
from deciban.core.resampling.unit_counts import SingleCounts, SpreadInfluences
from deciban.errors import InputError, Note, listed, not_none, option
from deciban.evaluation import uncertainty
from deciban.evaluation.bands import Bands
from deciban.evaluation.curves import (
    AtPriors,
    Curves,
    binned_trials,
    draw_curves,
    error_steps,
    priors_of,
    remark_on_llrs,
    remark_on_range,
)
from deciban.evaluation.metrics import NOTHING, information_of, requested_of
from deciban.evaluation.results import Evaluation, PointResult
from deciban.evaluation.two_class import linear_metrics as linear
from deciban.evaluation.two_class.summary import DEFAULT_POINTS, Summary, TwoClassMetrics, UnitTrials, summarize
from deciban.evaluation.uncertainty import Resampling
from deciban.metrics import SortedScores
from deciban.metrics.scores import misleading_of
from deciban.types import BoolArray, CountArray, FloatArray, FloatPair, ScoreArray, Units, Weights

if TYPE_CHECKING:
    from deciban.evaluation.two_class.summary import BinnedTrials, TrialsByUnit

_GAP = 10
"""Places of the prior axis (a quarter of a nat): intervals of bad priors this close are merged."""

_BEYOND_CHANCE = 1.5
"""Standard errors by which the AUC must be below 0.5 to count as reversed."""

_SURE = 2.0
"""Standard errors by which a cost must be too high."""

_SHOWN = 4
"""Operating points, or intervals of priors, that a note names."""


def notes_on(summary: Summary, points: Sequence[PointResult], curves: Curves) -> tuple[str, ...]:
    """Return the notes for one system, the most serious first."""
    auc, notes = summary.ranks.table.auc(), list[str]()
    no_llrs = ""
    margin = _BEYOND_CHANCE * chance_error_of_auc(summary.n_tar, summary.n_non) if _is_counted(summary) else 0.0
    if auc < 0.5 - margin:
        words = (
            f"Scores look reversed: the target has the higher score in only {100 * auc:.1f} % of target/non-target "
            f"pairs. If lower scores indicate targets, as for distances, change their sign ({option(negate=True)}), "
            "unless you already did. Otherwise check which label means target."
        )
        notes.append(Note(words, "reversed"))
        no_llrs = remark_on_range(summary)
        notes.extend([no_llrs] if no_llrs else [])
    elif no_llrs := remark_on_llrs(summary):
        notes.append(no_llrs)
    notes.extend(_infinite(summary))
    if not no_llrs:
        notes.extend(_badly_calibrated(summary, points, curves))
    notes.extend(_few_errors(summary, points, are_llrs=not no_llrs))
    return tuple(notes)


def chance_error_of_auc(n_tar: float, n_non: float) -> float:
    """Return the standard error of the AUC of scores without information and with few ties (Mann and Whitney 1947)."""
    return math.sqrt((n_tar + n_non + 1) / (12 * n_tar * n_non))


def _is_counted(summary: Summary) -> bool:
    """Return False for fractional weights, whose sums do not tell how many trials there are."""
    return isinstance(summary.n_tar + summary.n_non, int)


def _infinite(summary: Summary) -> list[str]:
    if math.isinf(summary.cllr):
        return ["Cllr is infinite: at least one trial has (nearly) infinite evidence for the wrong class."]
    n_infinite = summary.n_infinite
    if n_infinite == 1:
        return ["One score is infinite, for the right class."]
    return [f"{n_infinite:,} scores are infinite, all for the right class."] if n_infinite else []


_MINOR = 0.05
"""Share of the actual cost up to which a kind of errors can be rare without a note."""


def _few_errors(summary: Summary, points: Sequence[PointResult], *, are_llrs: bool) -> list[str]:
    """Return notes on errors that are few, at the actual threshold as in tables, and at the best one.

    The actual threshold is ignored if scores are not llrs. Points with the same sentence share it.
    """
    false_alarms, misses = summary.ranks.rocch.few_errors(roc.FEW_ERRORS)
    notes, entries = list[str](), dict[tuple[str, str], list[str]]()
    is_rough = false_alarms >= misses
    if is_rough:
        few = f"fewer than {roc.FEW_ERRORS}"
        words = f"whatever the prior, the best threshold gives {few} misses or {few} false alarms"
        notes.append(Note(f"EER, minDCF, min Cllr and AUC are uncertain: {words}.", "few-errors"))
    for point in points:
        actual = _few(*_few_and_costly(summary, point)) if are_llrs else ""
        best = "" if is_rough else _few(-point.threshold < false_alarms, -point.threshold > misses)
        alike = {"actDCF and minDCF": best} if actual == best else {"actDCF": actual, "minDCF": best}
        for costs, errors in alike.items():
            if errors:
                entries.setdefault((costs, errors), []).append(str(point))
    for (costs, errors), names in entries.items():
        which = f"{costs} at {_points(names)}"
        notes.append(Note(f"{which} {'rest' if ' and ' in which else 'rests'} on {errors}.", "few-errors"))
    return notes


def _few_and_costly(summary: Summary, point: PointResult) -> tuple[bool, bool]:
    """Return whether false alarms, and misses, are few, and three more of them would matter for the actual cost."""
    numbers = (point.n_fa, summary.n_non), (point.n_miss, summary.n_tar)
    weights = math.exp(max(point.threshold, 0.0)), math.exp(max(-point.threshold, 0.0))
    first, second = (
        n < roc.FEW_ERRORS and weight * (n + 3.0) / total > _MINOR * point.act_dcf
        for weight, (n, total) in zip(weights, numbers, strict=True)
    )
    return first, second


def _points(names: Sequence[str]) -> str:
    """Join the names of operating points: ``p_target 0.01 and 0.02``."""
    shown = [f"{name.replace(', ', ' (')})" if "," in name else name for name in dict.fromkeys(names)]
    first, *others = _first(shown, "point")
    return listed([first, *(name.removeprefix("p_target ") for name in others)])


def _few(few_false_alarms: bool, few_misses: bool) -> str:  # noqa: FBT001  # two answers, in the order of words
    kinds = ["false alarms"] * few_false_alarms + ["misses"] * few_misses
    return " and ".join(f"fewer than {roc.FEW_ERRORS} {kind}" for kind in kinds)


_MOST_DIGITS = 7
"""Decimals of a prior near 1; beyond these, the difference to 1 is written."""


def prior_name(log_odds: float) -> str:
    """Write the prior with these log odds: two digits of it, or of its difference to 1.

    Examples
    --------
    >>> prior_name(-7.2), prior_name(0.0), prior_name(9.0), prior_name(-800.0)
    ('0.00075', '0.5', '0.99988', 'of log odds −800')
    """
    if abs(log_odds) > 700:
        return f"of log odds {log_odds:.4g}".replace("-", "\N{MINUS SIGN}")
    share = float(expit(log_odds))
    if share < 0.99:
        return f"{share:.2g}"
    lacking = float(expit(-log_odds))
    n_digits = 1 - math.floor(math.log10(lacking))
    return (
        f"{1.0 - lacking:.{n_digits}f}".rstrip("0") if n_digits <= _MOST_DIGITS else f"1 \N{MINUS SIGN} {lacking:.2g}"
    )


def _badly_calibrated(summary: Summary, points: Sequence[PointResult], curves: Curves) -> list[str]:
    """Return a note on the priors, or else on the operating points, at which using the scores costs more.

    Priors are left out if the cost depends on so few errors that it is not clearly higher. Points outside of the
    ranges of priors have a note of their own.
    """
    log_odds = curves.prior_log_odds
    errors, are_misses = summary.errors(-log_odds), log_odds > 0.0
    rate = np.where(are_misses, errors.p_miss, errors.p_fa)
    error = np.exp(np.abs(log_odds)) * np.sqrt(rate / np.where(are_misses, summary.n_tar, summary.n_non))
    bad = curves.act_error > roc.WORSE_THAN_NONE + (_SURE * error if _is_counted(summary) else 0.0)
    if bad.all():
        return [Note("At every prior, using the scores clearly costs more than ignoring them.", "calibration")]
    intervals = _intervals(curves.prior_log_odds, bad)
    places = np.searchsorted(log_odds, [-point.threshold for point in points]).clip(1, len(log_odds) - 1)
    is_named = bad[places] | bad[places - 1]
    others = [
        str(one) for one, named in zip(points, is_named, strict=True) if one.act_dcf > roc.WORSE_THAN_NONE and not named
    ]
    where = listed(_first(intervals, "range")) if intervals else ""
    where = f"effective priors {where}" if where and not where.startswith(_NEARLY) else where
    notes = [f"At {where}, using the scores clearly costs more than ignoring them."] if where else []
    not_clearly = ", but not clearly" if others and where else ""
    notes += [f"At {_points(others)}, using the scores costs more than ignoring them{not_clearly}."] if others else []
    return [Note(one, "calibration") for one in notes]


_NEARLY = "nearly every prior"


def _intervals(log_odds: FloatArray, bad: BoolArray) -> list[str]:
    """Return ranges of priors, the widest first, in ascending order; ranges close to each other are merged."""
    indices = np.flatnonzero(bad)
    if not len(indices):
        return []
    ends = np.flatnonzero(np.diff(indices) > _GAP)
    first, last = indices[np.append(0, ends + 1)], indices[np.append(ends, len(indices) - 1)]
    widest = np.argsort(first - last, kind="stable").tolist()
    shown = [*sorted(widest[:_SHOWN]), *widest[_SHOWN:]]
    return [_interval(log_odds, int(first[at]), int(last[at])) for at in shown]


def _interval(log_odds: FloatArray, first: int, last: int) -> str:
    low, high, end = prior_name(log_odds[first]), prior_name(log_odds[last]), len(log_odds) - 1
    if (first, last) == (0, end):
        return _NEARLY
    return f"near {low}" if low == high else f"from {low} to {high}"


def _first(places: Sequence[str], what: str) -> list[str]:
    more = len(places) - _SHOWN
    return [*places[:_SHOWN], *([f"{more} more {what}{'s' * (more > 1)}"] if more > 0 else [])]


__all__ = ["DEFAULT_POINTS", "evaluate", "evaluation_of", "summary_of_labelled"]


def evaluate(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    name: str = "system",
    operating_points: TwoClassMetrics | Iterable[roc.PointLike] = DEFAULT_POINTS,
    tar_weights: Weights = None,
    non_weights: Weights = None,
    tar_units: Units = None,
    non_units: Units = None,
    level: float = LEVEL,
    optimism: bool | None = None,
    bootstrap: int = 0,
    seed: int = 0,
) -> Evaluation:
    """Evaluate the scores of one system: all metrics and curves, from one sort.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger ones favour targets. Cllr, actual costs and other metrics that
        need calibrated scores treat them as natural-log likelihood ratios. Infinite scores are allowed.
    name : str
        Name of the system in tables and legends.
    operating_points : iterable, or TwoClassMetrics
        Points at which to report detection costs: each an `OperatingPoint`, a ``p_target``, or
        ``(p_target, c_miss, c_fa)``. `deciban.evaluation.TwoClassMetrics` takes further metrics.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.
    tar_units, non_units : (n,) or (n, 2) array_like, optional
        Speakers, sources or other units of each trial: one, or one for each side; names or whole numbers. The same
        name is the same unit, on both sides and in both classes. With units, metrics have intervals.
    level : float
        Level of the intervals.
    optimism : bool, optional
        Also compute corrected minima (``interval(...).corrected``), by a jackknife over groups of units; by default
        True.
    bootstrap : int
        Number of bootstrap replicates for the intervals; see `deciban.evaluation.Bootstrap`.
    seed : int
        Seed of the replicates.

    Returns
    -------
    Evaluation

    Raises
    ------
    InputError
        If a class is empty or contains NaN, weights or units do not have the length of the scores, or an
        operating point has a prior outside (0, 1) or a cost that is not positive.

    Examples
    --------
    >>> result = evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], operating_points=[0.5, (0.01, 10, 1)])
    >>> round(result.eer, 4), round(result.cllr, 4), round(result.min_cllr, 4)
    (0.1667, 0.6941, 0.3333)
    >>> [round(point.min_dcf, 4) for point in result.operating_points]
    [0.3333, 0.3333]
    >>> names = ["ann", "bob", "cid", "dan", "eve"]
    >>> speakers = {"tar_units": names, "non_units": [(names[k - 1], names[k]) for k in range(5)]}
    >>> found = evaluate([1.0, 2.0, 2.0, 3.0, 0.0], [0.0, 1.0, -1.0, -3.0, -2.0], **speakers).interval("cllr")
    >>> found.low < found.estimate < found.high, found.n_units
    (True, 5)
    """
    metrics, request = TwoClassMetrics.of(operating_points), Resampling(None, level, optimism, None, bootstrap, seed)
    scores = SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights)
    is_weighted = tar_weights is not None or non_weights is not None
    units = UnitTrials.of((tar, non), (tar_units, non_units), (tar_weights, non_weights))
    summary = Summary.of(scores, metrics, is_weighted=is_weighted, units=units)
    return evaluation_of(summary, name=name, resampling=request)


def evaluation_of(summary: Summary, *, name: str = "system", resampling: Resampling | None = None) -> Evaluation:
    """Evaluate a summary of the scores of one system: all metrics, curves and notes.

    Parameters
    ----------
    summary : Summary
        Summary of all trials: see `summarize` and `merged`.
    name : str
        Name of the system in tables and legends.
    resampling : Resampling, optional
        Options of intervals, if the summary has units.

    Returns
    -------
    Evaluation

    Raises
    ------
    InputError
        If a class has no trial.

    Examples
    --------
    >>> from deciban.evaluation.two_class.summary import summarize
    >>> one, other = summarize([1.0, 2.0], [0.0]), summarize([2.0], [1.0, -1.0])
    >>> evaluation_of(one + other).eer == evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0]).eer
    True
    """
    for total, kind in ((summary.n_tar, "target"), (summary.n_non, "non-target")):
        if not total:
            raise InputError(f"summary: no {kind} trials. Evaluation needs at least one of each class.")
    for own, _ in summary.metrics.own:
        if hasattr(Evaluation, own) or own in {field.name for field in fields(Evaluation)}:
            raise InputError(f"metric {own!r}: results have another value of this name. Register it by another name.")
    rocch = summary.ranks.rocch
    vertex = rocch.eer_vertex()
    points = _at_points(summary, rocch)
    trials = binned_trials(summary)
    curves = draw_curves(summary, trials)
    evaluation = Evaluation(
        name=name,
        n_tar=summary.n_tar,
        n_non=summary.n_non,
        n_tied=summary.n_tied,
        n_infinite=summary.n_infinite,
        eer=rocch.eer(),
        auc=summary.ranks.table.auc(),
        cllr=summary.cllr,
        min_cllr=summary.recalibrated.cllr(),
        prbep=rocch.prbep(),
        dr30=rocch.few_errors(roc.FEW_ERRORS),
        operating_points=points,
        notes=notes_on(summary, points, curves),
        curves=curves,
        eer_threshold=float(summary.ranks.pav.thresholds[vertex]),
        eer_p_miss=float(rocch.p_miss[vertex]),
        eer_p_fa=float(rocch.p_fa[vertex]),
        misleading=misleading_of(summary.ranks, np.array(summary.metrics.factors)),
        is_weighted=summary.is_weighted,
        requested=requested_of(summary, (resampling or Resampling()).level)
        if summary.metrics.has_requests
        else NOTHING,
        axis=summary.metrics.axis,
        information_at=information_of(summary, trials),
        bins=trials,
        at_priors=AtPriors.of(summary, priors_of(summary.metrics.thresholds)),
        error_steps=error_steps(summary),
        own=summary.own,
    )
    uncertainty = None
    if summary.units is not None:
        uncertainty = uncertainty_of(summary, evaluation, resampling or Resampling())
    return replace(evaluation, uncertainty=uncertainty)


def summary_of_labelled(
    score: ScoreArray,
    is_target: BoolArray,
    weight: CountArray | None = None,
    *,
    metrics: TwoClassMetrics | Iterable[roc.PointLike] = DEFAULT_POINTS,
    resampling: Resampling | None = None,
) -> Summary:
    """Return the summary of trials of both classes in one array, with labels and optional weights and units."""
    (tar, tar_weights), (non, non_weights) = (
        (score[some], None if weight is None else weight[some]) for some in (is_target, ~is_target)
    )
    request = resampling or Resampling()
    of_tar, of_non = (None if request.units is None else request.units.take(some) for some in (is_target, ~is_target))
    make = partial(summarize, tar, non, tar_weights=tar_weights, non_weights=non_weights)
    summary = make(metrics=TwoClassMetrics.of(metrics), tar_units=of_tar, non_units=of_non)
    if request.strata is not None and isinstance(summary.units, UnitTrials):
        strata, n_strata = (
            (request.strata[is_target], request.strata[~is_target]),
            int(request.strata.max(initial=0)) + 1,
        )
        summary = replace(summary, units=replace(summary.units, strata=strata, n_strata=n_strata))
    return summary


def _at_points(summary: Summary, rocch: roc.Rocch) -> tuple[PointResult, ...]:
    points = summary.metrics.operating_points
    p_target, c_miss, c_fa = np.array([(p.p_target, p.c_miss, p.c_fa) for p in points], dtype=np.float64).T
    log_odds = roc.effective_log_odds(logit(p_target), c_miss, c_fa)
    errors = summary.errors(-log_odds)
    act = roc.detection_cost(errors.p_miss, errors.p_fa, log_odds, 1.0, 1.0, normalize=True)
    best = rocch.best_rates(log_odds)
    least = roc.detection_cost(*best, log_odds, 1.0, 1.0, normalize=True)
    effective = [point.effective_prior for point in points]
    place = summary.ranks.pav.thresholds[rocch.best_vertices(log_odds)]
    items = (effective, -log_odds, act, least, errors.p_miss, errors.p_fa, errors.n_miss, errors.n_fa)
    columns = (np.asarray(one).tolist() for one in (p_target, c_miss, c_fa, *items, place, *best))
    return tuple(PointResult(*row) for row in zip(*columns, strict=True))


def uncertainty_of(summary: Summary, evaluation: Evaluation, resampling: Resampling) -> uncertainty.Uncertainty | None:
    """Return the uncertainty of the metrics of an evaluation; None if units are unknown, or no class has two.

    Parameters
    ----------
    summary : Summary
        With units.
    evaluation : Evaluation
        Evaluation of this summary.
    resampling : Resampling
    """
    if summary.units is None:
        return None
    about = summary.units.about
    counted = summary.units.counted(summary.ranks, _wanted(summary, evaluation))
    costs, tar, design = counted.costs, counted.tar, counted.design
    if max(design.seen) < 2:
        return None
    n_units, (n_tar, n_non) = design.n_units, design.effective.tolist()
    metrics = list(linear.MetricsOfEvaluation(summary, evaluation, costs, (n_tar, n_non)))
    stacked = np.stack([one.costs_by(costs.best) for one in metrics], axis=-1)[:, 0]
    minima = _moving_minima(metrics, stacked, costs)
    without = linear.WithoutGroups.of(metrics, minima, counted) if minima and resampling.optimism is not False else None
    influences = linear.MetricInfluences(metrics, stacked, counted, without)
    sums = ClassVariances(influences.names, design)
    for part, through_tar, through_non, through_both in influences.blocks():
        n_alike = tar.n_alike[part] if isinstance(tar, SingleCounts) else None
        sums.add(through_tar, through_non, through_both, n_alike)
    shifts = dict(zip(minima, without.shifts.tolist(), strict=True)) if without is not None else {}
    estimates, limited = _estimates(metrics, sums, shifts, has_errors=not uncertainty.is_separated(evaluation.auc))
    at_eer, factors_of_lr = (evaluation.eer_p_miss, evaluation.eer_p_fa), [one.factor for one in evaluation.misleading]
    if not uncertainty.few_errors(evaluation.eer, at_eer, design):
        estimates = uncertainty.bounded_by_cllr(estimates)
    estimates = uncertainty.within_weaker(estimates, factors_of_lr)
    return uncertainty.Uncertainty(
        n_units=n_units,
        noun=about.noun,
        source=about.source,
        keys=about.keys,
        estimates=estimates,
        design=design,
        too_few=design.too_few(),
        level=resampling.level,
        remarks=uncertainty.notes_on_intervals(evaluation.auc, evaluation.eer, at_eer, design, about.noun, limited),
        bootstrap=bootstrap_of(estimates, summary.units, metrics, counted, resampling),
        **_deferred(evaluation.curves, influences, about.n_units, resampling.keep),
    )


_KEPT = 1 << 24
"""Influences, or counts for them, that are kept by default, at most."""

_FEWEST_PLACES = 9
"""Fewest places of a curve for which influences are kept."""


def _deferred(curves: Curves, influences: linear.MetricInfluences, n_units: int, keep: bool | None) -> dict[str, Any]:  # noqa: FBT001
    """Return standard errors of curves, and influences on metrics and curves, which are computed when they are read.

    Until then, the tables of trials by unit and bin are in memory, unless they are large.
    """
    own, rows, (tar, non) = copy(influences), influences.rows, (one.packed() for one in influences.counts)
    curves = deepcopy(curves)  # users may change the axes of a result
    own.counts, bands = (tar, non), cache(partial(Bands, curves, own))
    calls: dict[str, Callable[[], Any]] = {"curves": lambda: bands().standard_errors()}
    calls["error_rates"] = lambda: bands().error_rates()
    if keep is not False and own.are_listed:  # otherwise rows of tables are not units
        if keep or n_units * (len(own.names) if rows is None else 1) <= _KEPT:
            calls["influences"] = own.listed if rows is None else lambda: SpreadInfluences(own.listed(), rows)
        n_places = len(curves.prior_log_odds[:: Bands.STEP])
        most = _KEPT if keep else uncertainty.KEPT_CURVES
        every = max(-(-2 * n_places * n_units // most), 1)  # more for very many units
        if n_places // every >= _FEWEST_PLACES:
            calls["curve_influences"] = lambda: bands().influences(every, rows)
    is_late = tar.counts.size + non.counts.size <= _KEPT
    return {name: partial(call) if is_late else call() for name, call in calls.items()}


def _estimates(
    metrics: Sequence[uncertainty.LinearMetric],
    sums: ClassVariances[uncertainty.MetricKey],
    shifts: Mapping[int, float],
    *,
    has_errors: bool,
) -> tuple[dict[uncertainty.MetricKey, Estimate], list[uncertainty.LimitedRate]]:
    """Return the metrics that have an interval, with corrections of minima for new units; and limited rates."""
    result, limited = dict[uncertainty.MetricKey, Estimate](), list[uncertainty.LimitedRate]()
    for k, one in enumerate(metrics):
        if not sums.has_clusters(one.sums) or (one.is_mean_cost and not has_errors):
            continue
        estimate = one.estimate(sums, shifts.get(k))
        rate = one.limited_rate(estimate)
        limited += [rate] if rate is not None else []
        if estimate.is_known and (rate is None or rate.is_enough):
            result[one.name] = estimate
    return result, limited


def _moving_minima(metrics: Sequence[uncertainty.LinearMetric], costs: FloatArray, of: LinearCosts) -> list[int]:
    """Return the positions of minima, except minima that no unit moves because all trials of a class cost the same."""
    moves = np.any(
        [np.ptp(one[seen > 0], axis=0) > 0 for one, seen in zip(costs, (of.n_tar, of.n_non), strict=True)], 0
    )
    return [k for k, one in enumerate(metrics) if one.least is not None and moves[k]]


def _wanted(summary: Summary, evaluation: Evaluation) -> FloatArray:
    """Return thresholds at which counts must be exact."""
    bounds = roc.evidence_bounds(np.array(summary.metrics.factors))
    at = [one.errors.threshold for one in evaluation.requested.rates_at]
    at += [one.errors.threshold for one in evaluation.requested.at_thresholds]
    at += [-float(logit(one["p_target"])) for one in evaluation.requested.classifier]
    points = [place for point in evaluation.operating_points for place in (point.threshold, point.min_threshold)]
    if (rule := summary.metrics.rule) is not None:
        at += [x for p in summary.metrics.rule_priors for x in rule.jumps(float(logit(p))).tolist()]
    log_odds = roc.effective_log_odds(evaluation.curves.prior_log_odds[:: Bands.STEP], 1.0, 1.0)
    levels = evaluation.curves.levels[:: Bands.LEVEL_STEP]
    values = np.concatenate((-bounds, roc.beyond(bounds), at, points, [evaluation.eer_threshold], -log_odds, levels))
    return values[np.isfinite(values)]


def costs_of_trials(summary: Summary, evaluation: Evaluation, metric: uncertainty.MetricKey) -> FloatPair:
    """Return the contribution of every trial to a metric, with fixed thresholds and maps, in the order of units.

    Parameters
    ----------
    summary : Summary
        With units.
    evaluation : Evaluation
        Evaluation of this summary.
    metric : str, or (str, place)

    Raises
    ------
    InputError
        If there is no such metric, or it is infinite.
    """
    trials = not_none(summary.units, "units").in_memory("influences of trials")
    n_units = trials.about.n_units
    bins = trials.bins(summary.ranks, _wanted(summary, evaluation))
    costs = LinearCosts(summary.ranks.tar, summary.ranks.non, summary.ranks.pav, summary.ranks.rocch, bins)
    known = {one.name: one for one in linear.MetricsOfEvaluation(summary, evaluation, costs, (n_units, n_units))}
    tar, non = uncertainty.looked_up(known, metric).costs_by(costs.best)[:, 0]
    of_tar, of_non = (bins.of(scores) for scores in trials.scores)
    return tar[of_tar], non[of_non]


class ReplicatedMetrics:
    """Two-class metrics from counts in bins, for many tables at once.

    The metrics are means of costs of bins, as in linearised intervals, but minima over thresholds and maps are found
    anew in each table.

    Parameters
    ----------
    metrics : sequence of LinearMetric
    """

    def __init__(self, metrics: Sequence[uncertainty.LinearMetric]) -> None:
        self.metrics = metrics
        self.fixed = [k for k, one in enumerate(metrics) if isinstance(one.costs, np.ndarray)]
        self.costs = np.stack([metrics[k].costs for k in self.fixed], axis=1)

    @property
    def names(self) -> list[uncertainty.MetricKey]:
        """Names of the metrics."""
        return [one.name for one in self.metrics]

    def of(self, n_tar: CountArray, n_non: CountArray) -> FloatArray:
        """Return the metrics of each table, (n_tables, n_metrics).

        Parameters
        ----------
        n_tar, n_non : (n_tables, n_bins) arrays
            At least one trial of each class in each table.
        """
        shares = [counts / counts.sum(axis=1)[:, None] for counts in (n_tar, n_non)]
        values, best = np.zeros((len(n_tar), len(self.metrics))), BestDecisions.of(n_tar, n_non).by_block()
        for own, costs in zip(shares, self.costs, strict=True):
            values[:, self.fixed] += np.einsum("rc,fc->rf", own, costs)  # unlike BLAS, always adds in the same order
        for k, one in enumerate(self.metrics):
            if one.least is not None:
                values[:, k] += best.means(one.least(best))
                np.clip(values[:, k], *one.limits, out=values[:, k])  # removes rounding errors beyond the limits
            elif one.name == "auc":
                below = np.cumsum(shares[1], axis=1) - shares[1] / 2
                values[:, k] = np.einsum("rc,rc->r", shares[0], below)  # for each class a mean over the other
        return values


def bootstrap_of(
    estimates: Mapping[uncertainty.MetricKey, Estimate],
    trials: TrialsByUnit,
    metrics: Sequence[uncertainty.LinearMetric],
    counted: BinnedTrials,
    resampling: Resampling,
) -> uncertainty.Bootstrap | None:
    """Return the bootstrap of an evaluation, if requested.

    Parameters
    ----------
    estimates : mapping of metric to Estimate
        Linearised.
    trials : TrialsByUnit
    metrics : sequence of LinearMetric
        All metrics of the evaluation, in bins.
    counted : BinnedTrials
        The trials in these bins.
    resampling : Resampling
    """
    if not resampling.bootstrap:
        return None
    replicated = ReplicatedMetrics(metrics)
    result, has_both = trials.replicated(replicated.of, counted, resampling)
    whole = replicated.of(counted.costs.n_tar[None], counted.costs.n_non[None])[0]
    replicates = dict(zip(replicated.names, zip(result.T, whole.tolist(), strict=True), strict=True))
    minima = [one.name for one in metrics if one.least is not None]
    return uncertainty.Bootstrap.of(replicates, has_both, estimates, resampling, minima)
