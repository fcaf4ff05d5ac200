"""Evaluation of many classes, or of groups of them: log-likelihoods in, results out, with what must be said of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import classes as _validate_classes
from deciban._validate.classes import Groups, Prior, prior_of
from deciban.core.resampling.intervals import LEVEL
from deciban.core.resampling.units import TrialUnits
from deciban.errors import InputError
from deciban.evaluation.multiclass.figures import IN_PARTS, P_TARGET, WEIGHTED, ClassFigures
from deciban.evaluation.multiclass.groups import ClassTotals, GroupedProblem, class_notes
from deciban.evaluation.multiclass.result import ClassEvaluation
from deciban.evaluation.multiclass.summands import detection_costs, units_of_trials
from deciban.evaluation.multiclass.summary import ClassSummary
from deciban.evaluation.unit_trials import Resampling
from deciban.multiclass import ClassCalibration, PairwiseAnalysis
from deciban.multiclass.costs import mixed
from deciban.multiclass.decision_errors import confusion_of, rates_of
from deciban.multiclass.tables import ScoredClasses
from deciban.types import IntArray, Names, Units, Weights


def evaluate_classes(
    loglik: ArrayLike,
    label: ArrayLike,
    *,
    classes: Names = None,
    name: str = "system",
    prior: Prior | None = None,
    p_target: float | Sequence[float] = P_TARGET,
    p_out_of_set: float | None = None,
    subsets: bool | None = None,
    pairs: bool | None = None,
    capacity: bool | None = None,
    sample_weight: Weights = None,
    units: Units = None,
    level: float = LEVEL,
    optimism: bool | None = None,
    bootstrap: int = 0,
    seed: int = 0,
) -> ClassEvaluation:
    """Evaluate the scores of one system for many classes: every number and curve of a report.

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Natural-log likelihoods; what is added to all of a trial changes nothing, so log posteriors by a flat prior will
        do as well. Infinite values are legal: ``-inf`` excludes a class.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    classes : sequence of str, optional
        Names of the columns; ``0``, ``1``, ... when left out.
    name : str
        What tables and legends call the system.
    prior : (n_classes,) array_like, or mapping of class to float, optional
        Prior of cross-entropy, Brier cost, error rate and confusion; flat when left out. No class has prior 0: leave
        out its column and trials instead.
    p_target : float or sequence of float
        Priors of a target in the average detection cost. One that is given twice is one point.
    p_out_of_set : float, optional
        The last class is out of set: no target, and with this prior among the non-targets.
    subsets : bool, optional
        Whether to evaluate C_avg on every subset of the classes; by default if there are at most 10 of them, and
        possible for up to 20. Subsets are of the closed set, and of trials without weights.
    pairs : bool, optional
        Whether to evaluate all pairs of classes; by default if there are at most 20 classes.
    capacity : bool, optional
        Whether to look for the prior at which most is told after the best scale and offsets, by many passes.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0; whole numbers count like copies.
    units : (n_trials,) or (n_trials, 2) array_like, optional
        Which speaker, source or other unit each trial is of, or which two: names or whole numbers. With them every
        figure has an interval.
    level : float
        Of these intervals.
    optimism : bool, optional
        Whether minima are corrected for having been found on the same trials, by a jackknife over groups of units. Left
        out, they are not, as this takes longer than the evaluation.
    bootstrap : int
        Number of replicates by units, from which intervals are taken then, but for those of pairs, of subsets and of
        rates of single classes; see `deciban.evaluation.Bootstrap`. Trained maps and best thresholds stay as they are.
    seed : int
        From which replicates are drawn; the same seed draws the same.

    Returns
    -------
    ClassEvaluation

    Raises
    ------
    InputError
        If there is NaN, a label is no class, a class has no trial, a prior is out of range, subsets of too many
        classes, of an open set or of weighted trials are asked for, or units do not fit.

    Examples
    --------
    >>> import numpy as np
    >>> loglik = [[2, 0, -1], [1, 0.5, 0], [0.5, 1, 0], [0, 2, 0], [1, 0.5, 0.5], [0, 0, 1], [0, 0.4, 1.5], [0, 1, 0]]
    >>> found = evaluate_classes(loglik, [0, 0, 0, 1, 1, 2, 2, 2], classes=["cat", "dog", "eel"])
    >>> round(found.cllr, 3), round(found.min_cllr, 3), round(found.reference, 3), round(found.error_rate, 3)
    (1.102, 1.023, 1.585, 0.389)
    >>> found.confusion
    array([[2, 1, 0],
           [1, 1, 0],
           [0, 1, 2]])
    >>> label, speakers = np.arange(90) % 3, [f"s{trial // 3}" for trial in range(90)]
    >>> loglik = np.random.default_rng(0).normal(size=(90, 3)) + 2 * np.eye(3)[label]
    >>> found = evaluate_classes(loglik, label, units=speakers).interval("cllr")
    >>> found.n_units, found.low < found.estimate < found.high
    (30, True)
    """
    more: dict[str, Any] = {"subsets": subsets, "pairs": pairs, "capacity": capacity}
    figures = ClassFigures(prior=prior, p_target=p_target, p_out_of_set=p_out_of_set, **more)
    trials = ScoredClasses.of(loglik, label, sample_weight, classes)
    resampling = Resampling(units_of_trials(units, len(trials.label)), level, optimism, None, bootstrap, seed)
    return evaluate_trials(trials, figures, name=name, resampling=resampling)


def evaluate_trials(
    trials: ScoredClasses, figures: ClassFigures, *, name: str, resampling: Resampling | None = None
) -> ClassEvaluation:
    """Evaluate checked trials: which class, or which of the groups that are asked for; see `evaluate_classes`."""
    asked = resampling or Resampling()
    if figures.groups is not None:
        return _evaluate_grouped(trials, figures, figures.groups, name=name, resampling=asked)
    trials.require()
    if asked.strata is None:
        summary = ClassSummary.of(trials, figures, whole=True, units=asked.units)
    else:
        summary = _stratified(trials, figures, asked.units, asked.strata)
    return class_evaluation_of(summary, name=name, resampling=asked)


def _stratified(
    trials: ScoredClasses, figures: ClassFigures, units: TrialUnits | None, strata: IntArray
) -> ClassSummary:
    """Summarize trials of which each class has means by stratum, whatever units are drawn."""
    within = trials.label * (int(strata.max(initial=0)) + 1) + strata
    order = np.argsort(within, kind="stable")
    weights = None if trials.weights is None else trials.weights[order]
    ordered = replace(trials, loglik=trials.loglik[order], label=trials.label[order], weights=weights)
    own = None if units is None else units.take(order)
    return ClassSummary.of(ordered, figures, whole=True, units=own, stratum=within[order])


def class_evaluation_of(
    summary: ClassSummary, *, name: str = "system", resampling: Resampling | None = None
) -> ClassEvaluation:
    """Evaluate what is known of the scores of one system for many classes: every number, curve and note.

    Parameters
    ----------
    summary : ClassSummary
        Of all trials: see `summarize_classes` and `merged_classes`.
    name : str
        What tables and legends call the system.
    resampling : Resampling, optional
        What is asked of intervals, beside the units that the summary has.

    Returns
    -------
    ClassEvaluation
        Of merged summaries without what needs all trials at once: minima of Cllr are NaN, there are no subsets and
        no sample, and a note says so.

    Raises
    ------
    InputError
        If a class has no trial.

    Examples
    --------
    >>> loglik, label = np.array([[2.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.5, 0.0]]), np.array([0, 0, 1, 1])
    >>> from deciban.evaluation import merged_classes, summarize_classes
    >>> parts = [summarize_classes(loglik[rows], label[rows]) for rows in (slice(0, 3), slice(3, 4))]
    >>> class_evaluation_of(merged_classes(parts)).cllr == evaluate_classes(loglik, label).cllr
    True
    """
    missing = np.flatnonzero(summary.counts == 0)
    if len(missing):
        called = _validate_classes.called(int(missing[0]), summary.classes)
        raise InputError(f"summary: holds no trial of {called}. Every class is averaged by itself and needs one.")
    n_classes, prior, flat = len(summary.classes), summary.prior, np.full(len(summary.counts), 1 / len(summary.counts))
    costs, detection, curves = detection_costs(summary)
    rates, pairs = rates_of(summary.confusion), summary.problems.pairs()
    uneven = WEIGHTED if summary.is_weighted else ""
    result = ClassEvaluation(
        name=name,
        classes=summary.classes,
        counts=summary.counts,
        n_infinite=summary.n_infinite,
        prior=prior,
        cross_entropy=mixed(summary.surprise, prior) / math.log(2),
        prior_entropy=float(-(prior @ np.log2(prior))),
        brier=mixed(summary.quadratic, prior),
        default_brier=float(1.0 - prior @ prior),
        error_rate=float(prior @ rates),
        default_error_rate=float(1.0 - prior.max()),
        class_error_rates=rates,
        confusion=summary.confusion,
        calibration=_calibration(summary, mixed(summary.flat_surprise, flat)),
        points=costs,
        p_out_of_set=summary.figures.p_out_of_set,
        detection=detection,
        pairwise=None if pairs is None else PairwiseAnalysis(summary.classes, *pairs.cllr()),
        subsets=None if summary.whole is None else summary.whole.subsets,
        notes=(),
        curves=curves,
        no_subsets=IN_PARTS if summary.whole is None else summary.figures.why_no_subsets(n_classes, uneven),
        no_pairs=summary.figures.why_no_pairs(n_classes),
        capacity=None if summary.whole is None else summary.whole.capacity,
        decided=summary.decided,
    )
    noted = replace(result, notes=class_notes(result, summary.checks))
    if summary.units is None:
        return noted
    from deciban.evaluation.multiclass.influences import class_uncertainty_of  # most evaluations of arrays do without

    return replace(noted, uncertainty=class_uncertainty_of(summary, noted, resampling or Resampling()))


def _calibration(summary: ClassSummary, surprise: float) -> ClassCalibration:
    """What calibration analysis found; of merged trials only what needs no training."""
    if summary.whole is not None and summary.whole.calibration is not None:
        return summary.whole.calibration
    n_classes = len(summary.classes)
    unknown = dict.fromkeys(("minimum", "after_offset_only", "after_scale_only", "scale"), math.nan)
    offset = np.full(n_classes, np.nan)
    return ClassCalibration(total=surprise / math.log(2), reference=math.log2(n_classes), offset=offset, **unknown)


def evaluate_groups(
    loglik: ArrayLike,
    label: ArrayLike,
    groups: Groups,
    *,
    classes: Sequence[str],
    name: str = "system",
    prior: Prior | None = None,
    p_target: float | Sequence[float] = P_TARGET,
    p_out_of_set: float | None = None,
    subsets: bool | None = None,
    pairs: bool | None = None,
    capacity: bool | None = None,
    sample_weight: Weights = None,
    units: Units = None,
    level: float = LEVEL,
    optimism: bool | None = None,
    bootstrap: int = 0,
    seed: int = 0,
) -> ClassEvaluation:
    """Evaluate how well the scores for classes tell groups of classes (paper 001 section 2.2).

    Parameters
    ----------
    loglik, label, name, sample_weight
        As in `evaluate_classes`, of the classes.
    groups : mapping from names of groups to sequences of classes, or sequence of such sequences
        A partition: every class, by name or position, is in exactly one group, or has prior 0. Groups without names
        are called by their classes.
    classes : sequence of str
        Names of the columns.
    prior : (n_classes,) array_like, or mapping of class to float, optional
        Of the classes; flat when left out. The prior of a group is the sum of those of its classes, and within a
        group each class weighs as it says, however many trials it has.
    p_target, p_out_of_set, subsets, pairs, capacity
        As in `evaluate_classes`, of the groups: the last group may be out of set.
    units, level, optimism, bootstrap, seed
        As in `evaluate_classes`.

    Returns
    -------
    ClassEvaluation
        Of the groups. ``counts`` are trials, or sums of their weights. A row of ``confusion`` has the shares of the
        decisions, in which each class weighs as its prior says, times the count of the group. The first of ``notes``
        says which classes are in which group.

    Raises
    ------
    InputError
        As in `evaluate_classes`, or if the groups are no partition.

    Examples
    --------
    >>> loglik = [[2.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.5, 1.5], [1.0, 0.0, 0.5]]
    >>> animals = {"land": ["cat", "dog"], "sea": ["eel"]}
    >>> found = evaluate_groups(loglik, [0, 1, 2, 2], animals, classes=["cat", "dog", "eel"])
    >>> found.classes, found.counts, round(found.cllr, 3)
    (('land', 'sea'), array([2, 2]), 0.551)
    """
    more: dict[str, Any] = {"subsets": subsets, "groups": groups, "pairs": pairs, "capacity": capacity}
    figures = ClassFigures(prior=prior, p_target=p_target, p_out_of_set=p_out_of_set, **more)
    trials = ScoredClasses.of(loglik, label, sample_weight, classes)
    resampling = Resampling(units_of_trials(units, len(trials.label)), level, optimism, None, bootstrap, seed)
    return evaluate_trials(trials, figures, name=name, resampling=resampling)


def _evaluate_grouped(
    trials: ScoredClasses, figures: ClassFigures, groups: Groups, *, name: str, resampling: Resampling
) -> ClassEvaluation:
    names = trials.classes or tuple(map(str, range(trials.n_classes)))
    trials, units = _by_class(trials, resampling.units)
    trials.require(None if figures.prior is None else prior_of(figures.prior, names) > 0)
    problem = GroupedProblem.of(figures, groups, names, ClassTotals.of(trials.label, trials.weights, trials.n_classes))
    part, kept = problem.grouping.of_trials(trials), problem.grouping.prior[trials.label] > 0
    grouped = ScoredClasses(
        part.loglik, part.label, part.sample_weight if problem.has_weights else None, problem.titles
    )
    of_trials = {"units": None if units is None else units.take(kept), "stratum": trials.label[kept]}
    summary = ClassSummary.of(grouped, problem.figures, whole=True, **of_trials)  # type: ignore[arg-type]
    own = None if trials.weights is None else trials.weights[kept]
    counted = confusion_of(ScoredClasses(part.loglik, part.label, own, None), part.prior)
    found = class_evaluation_of(summary, name=name, resampling=resampling)
    return problem.finished(found, summary.checks, counted)


def _by_class(trials: ScoredClasses, units: TrialUnits | None) -> tuple[ScoredClasses, TrialUnits | None]:
    """Trials with their units in the order of their classes, each of which has a mean of its own in its group."""
    if units is None:
        return trials, None
    order = np.argsort(trials.label, kind="stable")
    weights = None if trials.weights is None else trials.weights[order]
    return replace(trials, loglik=trials.loglik[order], label=trials.label[order], weights=weights), units.take(order)
