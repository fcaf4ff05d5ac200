"""From log-likelihoods of many classes to every number of a report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import classes as _validate_classes
from deciban._validate.classes import Prior
from deciban.errors import InputError
from deciban.evaluation.multiclass.detection import detection_costs
from deciban.evaluation.multiclass.figures import IN_PARTS, P_TARGET, WEIGHTED, ClassFigures
from deciban.evaluation.multiclass.notes import class_notes
from deciban.evaluation.multiclass.result import ClassEvaluation
from deciban.evaluation.multiclass.summary import ClassSummary, merged_classes, summarize_classes
from deciban.multiclass import ClassCalibration, PairwiseAnalysis
from deciban.multiclass.costs import mixed
from deciban.multiclass.identification import rates_of
from deciban.multiclass.scored_classes import ScoredClasses

__all__ = [
    "P_TARGET",
    "class_evaluation_of",
    "evaluate_classes",
    "evaluate_trials",
    "merged_classes",
    "summarize_classes",
]


def evaluate_classes(
    loglik: ArrayLike,
    label: ArrayLike,
    *,
    classes: Sequence[str] | None = None,
    name: str = "system",
    prior: Prior | None = None,
    p_target: float | Sequence[float] = P_TARGET,
    p_out_of_set: float | None = None,
    subsets: bool | None = None,
    pairs: bool | None = None,
    sample_weight: ArrayLike | None = None,
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
        Whether to evaluate all pairs of classes; by default if there are at most 100 classes.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0; whole numbers count like copies.

    Returns
    -------
    ClassEvaluation

    Raises
    ------
    InputError
        If there is NaN, a label is no class, a class has no trial, a prior is out of range, or subsets of too many
        classes, of an open set or of weighted trials are asked for.

    Examples
    --------
    >>> loglik = [[2, 0, -1], [1, 0.5, 0], [0.5, 1, 0], [0, 2, 0], [1, 0.5, 0.5], [0, 0, 1], [0, 0.4, 1.5], [0, 1, 0]]
    >>> found = evaluate_classes(loglik, [0, 0, 0, 1, 1, 2, 2, 2], classes=["cat", "dog", "eel"])
    >>> round(found.cllr, 3), round(found.min_cllr, 3), round(found.reference, 3), round(found.error_rate, 3)
    (1.102, 1.023, 1.585, 0.389)
    >>> found.confusion
    array([[2, 1, 0],
           [1, 1, 0],
           [0, 1, 2]])
    """
    figures = ClassFigures(prior=prior, p_target=p_target, p_out_of_set=p_out_of_set, subsets=subsets, pairs=pairs)
    return evaluate_trials(ScoredClasses.of(loglik, label, sample_weight, classes), figures, name=name)


def evaluate_trials(trials: ScoredClasses, figures: ClassFigures, *, name: str) -> ClassEvaluation:
    """Evaluate checked trials; see `evaluate_classes`."""
    trials.require()
    return class_evaluation_of(ClassSummary.of(trials, figures, whole=True), name=name)


def class_evaluation_of(summary: ClassSummary, *, name: str = "system") -> ClassEvaluation:
    """Evaluate what is known of the scores of one system for many classes: every number, curve and note.

    Parameters
    ----------
    summary : ClassSummary
        Of all trials: see `summarize_classes` and `merged_classes`.
    name : str
        What tables and legends call the system.

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
    rates = rates_of(summary.confusion)
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
        pairwise=_pairwise(summary),
        subsets=None if summary.whole is None else summary.whole.subsets,
        notes=(),
        curves=curves,
        no_subsets=IN_PARTS if summary.whole is None else summary.figures.why_no_subsets(n_classes, uneven),
        no_pairs=summary.figures.why_no_pairs(n_classes),
    )
    return replace(result, notes=class_notes(result, summary.looks))


def _pairwise(summary: ClassSummary) -> PairwiseAnalysis | None:
    pairs = summary.problems.pairs()
    return None if pairs is None else PairwiseAnalysis(summary.classes, *pairs.cllr())


def _calibration(summary: ClassSummary, surprise: float) -> ClassCalibration:
    """What calibration analysis found; of merged trials only what needs no training."""
    if summary.whole is not None:
        return summary.whole.calibration
    n_classes = len(summary.classes)
    unknown = dict.fromkeys(("minimum", "after_offset_only", "after_scale_only", "scale"), math.nan)
    offset = np.full(n_classes, np.nan)
    return ClassCalibration(total=surprise / math.log(2), reference=math.log2(n_classes), offset=offset, **unknown)
