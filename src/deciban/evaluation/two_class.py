"""Evaluation of two-class scores, with notes on the results."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from deciban.core.ranks.hull import FEW_ERRORS, Rocch
from deciban.core.ranks.operating import WORSE_THAN_NONE, PointLike, detection_cost, effective_log_odds
from deciban.core.resampling.intervals import LEVEL
from deciban.errors import InputError, Note
from deciban.evaluation.curves import Curves, at_priors, draw_curves, error_steps, trials_in_cells
from deciban.evaluation.reliability import remark_on_llrs, remark_on_range
from deciban.evaluation.requested import NOTHING, information_of, requested_of
from deciban.evaluation.results import Evaluation, PointResult
from deciban.evaluation.summary import DEFAULT_POINTS, Resampling, Summary, TwoClassFigures, UnitTrials, summarize
from deciban.metrics import SortedScores
from deciban.metrics.scores import misleading_of
from deciban.types import BoolArray, CountArray, FloatArray, ScoreArray, Units, Weights

_GAP = 10
"""Places of the prior axis (a quarter of a nat): intervals of bad priors this close are merged."""

_SHOWN = 4
"""Operating points, or intervals of priors, that a note names."""


def notes_on(summary: Summary, points: Sequence[PointResult], curves: Curves) -> tuple[str, ...]:
    """Return the notes for one system, the most serious first."""
    auc, dr30, notes = summary.table.auc(), summary.rocch.few_errors(FEW_ERRORS), list[str]()
    no_llrs = ""
    if auc < 0.5:
        words = (
            f"Scores look reversed: the target has the higher score in only {auc:.1%} of target/non-target pairs. If "
            "lower scores indicate targets, as for distances, change their sign (--negate, negate=True; if you did, "
            "leave it out). Otherwise check which label means target."
        )
        notes.append(Note(words, "reversed"))
        no_llrs = remark_on_range(summary)
        notes.extend([no_llrs] if no_llrs else [])
    elif no_llrs := remark_on_llrs(summary):
        notes.append(no_llrs)
    notes.extend(_infinite(summary))
    if not no_llrs:
        notes.extend(_badly_calibrated(points, curves))
    notes.extend(_few_errors(dr30, points, are_llrs=not no_llrs))
    return tuple(notes)


def _infinite(summary: Summary) -> list[str]:
    if math.isinf(summary.cllr):
        return ["Cllr is infinite: at least one trial has (nearly) infinite evidence for the wrong class."]
    n_infinite = summary.n_infinite
    if n_infinite == 1:
        return ["One score is infinite, for the right class."]
    return [f"{n_infinite:,} scores are infinite, all for the right class."] if n_infinite else []


def _few_errors(dr30: tuple[float, float], points: Sequence[PointResult], *, are_llrs: bool) -> list[str]:
    """Return notes on errors that are few, at the actual threshold as in tables, and at the best one.

    The actual threshold is ignored if scores are not llrs. Points with the same sentence share it.
    """
    false_alarms, misses = dr30
    if false_alarms > misses:
        words = f"at no prior does the best threshold make {FEW_ERRORS} misses and {FEW_ERRORS} false alarms"
        return [Note(f"Rule of {FEW_ERRORS}: {words}, so all metrics are rough estimates.", "few-errors")]
    few, said = f"fewer than {FEW_ERRORS}", dict[str, list[str]]()
    for point in points:
        actual = _kinds(point.n_fa < FEW_ERRORS, point.n_miss < FEW_ERRORS) if are_llrs else ""
        best = _kinds(-point.threshold < false_alarms, -point.threshold > misses)
        prior = prior_name(-point.threshold)
        if actual and best and actual != best:
            words = f"at {{}}, {few} {actual} at the actual and {few} {best} at the best threshold."
        elif actual or best:
            thresholds = " and ".join(name for name, kinds in (("the actual", actual), ("the best", best)) if kinds)
            words = f"{few} {actual or best} at {{}}, at {thresholds} threshold."
        else:
            continue
        said.setdefault(words, []).append(prior)
    sentences = (f"Rule of {FEW_ERRORS}: {words.format(_priors(priors))}" for words, priors in said.items())
    return [Note(one, "few-errors") for one in sentences]


def _priors(names: Sequence[str]) -> str:
    """Name effective priors."""
    named = _first(list(dict.fromkeys(names)), "points")
    if len(named) == 1:
        return f"effective prior {named[0]}"
    return f"effective priors {', '.join(named[:-1])} and {named[-1]}"


def _kinds(few_false_alarms: bool, few_misses: bool) -> str:  # noqa: FBT001  # two answers, in the order of words
    return " and ".join(["false alarms"] * few_false_alarms + ["misses"] * few_misses)


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


def _badly_calibrated(points: Sequence[PointResult], curves: Curves) -> list[str]:
    """Return notes on decisions that cost more than ignoring the scores: at operating points, then by prior."""
    bad = curves.act_error > WORSE_THAN_NONE
    if bad.all():
        return [Note("At every prior, decisions cost more than ignoring the scores.", "calibration")]
    asked = [f"{point} (normalized cost {point.act_dcf:.4g})" for point in points if point.act_dcf > WORSE_THAN_NONE]
    intervals = _intervals(curves.prior_log_odds, bad)
    if not asked and not intervals:
        return []
    places = [", ".join(_first(asked, "points"))] if asked else []
    ranges = " or ".join(_first(intervals, "ranges"))
    places += [ranges if ranges.startswith(_NEARLY) else f"priors {ranges}"] if ranges else []
    return [Note(f"At {' and at '.join(places)}, decisions cost more than ignoring the scores.", "calibration")]


_NEARLY = "nearly every prior"


def _intervals(log_odds: FloatArray, bad: BoolArray) -> list[str]:
    """Return ranges of priors, the widest first; ranges close to each other are merged."""
    found = np.flatnonzero(bad)
    if not len(found):
        return []
    ends = np.flatnonzero(np.diff(found) > _GAP)
    first, last = found[np.append(0, ends + 1)], found[np.append(ends, len(found) - 1)]
    widest = np.argsort(first - last, kind="stable")
    return [_interval(log_odds, int(first[at]), int(last[at])) for at in widest]


def _interval(log_odds: FloatArray, first: int, last: int) -> str:
    low, high = prior_name(log_odds[first]), prior_name(log_odds[last])
    if first == 0 and last == len(log_odds) - 1:
        return _NEARLY
    if first == 0:
        return f"below {prior_name(log_odds[last + 1])}"
    if last == len(log_odds) - 1:
        return f"above {prior_name(log_odds[first - 1])}"
    return f"near {low}" if low == high else f"from {low} to {high}"


def _first(places: Sequence[str], what: str) -> list[str]:
    more = len(places) - _SHOWN
    return [*places[:_SHOWN], *([f"{more} more {what}"] if more > 0 else [])]


__all__ = ["DEFAULT_POINTS", "evaluate", "evaluate_labelled", "evaluation_of"]


def evaluate(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    name: str = "system",
    operating_points: TwoClassFigures | Iterable[PointLike] = DEFAULT_POINTS,
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
    operating_points : iterable, or TwoClassFigures
        Points at which to report detection costs: each an `OperatingPoint`, a ``p_target``, or
        ``(p_target, c_miss, c_fa)``. `deciban.evaluation.TwoClassFigures` has further requests.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.
    tar_units, non_units : (n,) or (n, 2) array_like, optional
        Speakers, sources or other units of each trial: one, or one for each side; names or whole numbers. The same
        name is the same unit, on both sides and in both classes. With units, metrics have intervals.
    level : float
        Level of the intervals.
    optimism : bool, optional
        Correct minima for the choice of thresholds on the same trials, by a jackknife over groups of units. By
        default, they are corrected.
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
        If a class is empty or contains NaN, weights or units do not fit, or an operating point has a prior outside
        (0, 1) or a cost that is not positive.

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
    figures, asked = TwoClassFigures.of(operating_points), Resampling(None, level, optimism, None, bootstrap, seed)
    scores = SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights)
    is_weighted = tar_weights is not None or non_weights is not None
    units = UnitTrials.of((tar, non), (tar_units, non_units), (tar_weights, non_weights))
    summary = Summary.of(scores, figures, is_weighted=is_weighted, units=units)
    return evaluation_of(summary, name=name, resampling=asked)


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
    >>> from deciban.evaluation.summary import summarize
    >>> one, other = summarize([1.0, 2.0], [0.0]), summarize([2.0], [1.0, -1.0])
    >>> evaluation_of(one + other).eer == evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0]).eer
    True
    """
    for total, kind in ((summary.n_tar, "target"), (summary.n_non, "non-target")):
        if not total:
            raise InputError(f"summary: no {kind} trials. Evaluation needs at least one of each class.")
    for own, _ in summary.figures.own:
        if hasattr(Evaluation, own) or own in {field.name for field in fields(Evaluation)}:
            raise InputError(f"metric {own!r}: results have another value of this name. Register it by another name.")
    rocch = summary.ranks.rocch
    vertex = rocch.eer_vertex()
    points = _at_points(summary, rocch)
    trials = trials_in_cells(summary)
    curves = draw_curves(summary, trials)
    found = Evaluation(
        name=name,
        n_tar=summary.n_tar,
        n_non=summary.n_non,
        n_tied=summary.n_tied,
        n_infinite=summary.n_infinite,
        eer=rocch.eer(),
        auc=summary.table.auc(),
        cllr=summary.cllr,
        min_cllr=summary.recalibrated.cllr(),
        prbep=rocch.prbep(),
        dr30=rocch.few_errors(FEW_ERRORS),
        operating_points=points,
        notes=notes_on(summary, points, curves),
        curves=curves,
        eer_threshold=float(summary.pav.thresholds[vertex]),
        eer_p_miss=float(rocch.p_miss[vertex]),
        eer_p_fa=float(rocch.p_fa[vertex]),
        misleading=misleading_of(summary.ranks, np.array(summary.figures.factors)),
        is_weighted=summary.is_weighted,
        requested=requested_of(summary) if summary.figures.has_requests else NOTHING,
        axis=summary.figures.axis,
        information_at=information_of(summary, trials),
        cells=trials,
        at_priors=at_priors(summary),
        error_steps=error_steps(summary),
        own=summary.own,
    )
    uncertainty = None
    if summary.units is not None:
        from deciban.evaluation.influences import uncertainty_of  # loads on request

        uncertainty = uncertainty_of(summary, found, resampling or Resampling())
    return replace(found, uncertainty=uncertainty)


def evaluate_labelled(
    score: ScoreArray,
    is_target: BoolArray,
    weight: CountArray | None = None,
    *,
    name: str,
    operating_points: TwoClassFigures | Iterable[PointLike] = DEFAULT_POINTS,
    resampling: Resampling | None = None,
) -> Evaluation:
    """Evaluate trials of both classes in one array, with labels and optional weights and units; see `evaluate`."""
    (tar, tar_weights), (non, non_weights) = (
        (score[some], None if weight is None else weight[some]) for some in (is_target, ~is_target)
    )
    asked = resampling or Resampling()
    of_tar, of_non = (None if asked.units is None else asked.units.take(some) for some in (is_target, ~is_target))
    how: Any = {"tar_weights": tar_weights, "non_weights": non_weights, "tar_units": of_tar, "non_units": of_non}
    summary = summarize(tar, non, figures=TwoClassFigures.of(operating_points), **how)
    if asked.strata is not None and isinstance(summary.units, UnitTrials):
        strata, n_strata = (asked.strata[is_target], asked.strata[~is_target]), int(asked.strata.max(initial=0)) + 1
        summary = replace(summary, units=replace(summary.units, strata=strata, n_strata=n_strata))
    return evaluation_of(summary, name=name, resampling=asked)


def _at_points(summary: Summary, rocch: Rocch) -> tuple[PointResult, ...]:
    points = summary.figures.operating_points
    p_target, c_miss, c_fa = np.array([(p.p_target, p.c_miss, p.c_fa) for p in points], dtype=np.float64).T
    log_odds = effective_log_odds(logit(p_target), c_miss, c_fa)
    errors = summary.errors(-log_odds)
    act = detection_cost(errors.p_miss, errors.p_fa, log_odds, 1.0, 1.0, normalize=True)
    best = rocch.best_rates(log_odds)
    least = detection_cost(*best, log_odds, 1.0, 1.0, normalize=True)
    effective = [point.effective_prior for point in points]
    place = summary.pav.thresholds[rocch.best_vertices(log_odds)]
    found = (effective, -log_odds, act, least, errors.p_miss, errors.p_fa, errors.n_miss, errors.n_fa)
    columns = (np.asarray(one).tolist() for one in (p_target, c_miss, c_fa, *found, place, *best))
    return tuple(PointResult(*row) for row in zip(*columns, strict=True))
