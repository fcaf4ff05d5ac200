"""From log-likelihoods of many classes to every number of a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deciban import _validate, multiclass
from deciban._validate import classes as _validate_classes
from deciban._validate.classes import Prior, prior_of
from deciban.core.classes.counts import tally
from deciban.errors import InputError
from deciban.evaluation.multiclass.detection import detection_costs
from deciban.evaluation.multiclass.notes import class_notes
from deciban.evaluation.multiclass.result import ClassEvaluation
from deciban.evaluation.multiclass.subsets import WEIGHTED, why_no_subsets
from deciban.types import CountArray, FloatArray, IntArray, ScoreArray

P_TARGET = 0.5
"""Prior of a target in C_avg where none is given: that of the language recognition evaluations."""

_DRAWN = 1000
"""Trials of a class, at most, that a plot shows one by one."""


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
    matrix = _validate_classes.loglik(loglik)
    n_classes = matrix.shape[1]
    names = _validate_classes.names(classes, n_classes) or tuple(map(str, range(n_classes)))
    truth = _validate_classes.label(label, len(matrix), n_classes, names if classes is not None else None)
    weight = _validate.weights(sample_weight, len(matrix), "sample_weight")
    _validate_classes.all_classes(truth, n_classes, weights=weight, classes=names)
    checked = _checked_prior(prior, names)
    given = np.atleast_1d(np.asarray(p_target, np.float64)).tolist()
    points = [p for i, p in enumerate(given) if p not in given[:i]]
    if not points:
        raise InputError("p_target: none given. Name at least one prior of a target, such as 0.5.")
    uneven = "" if weight is None else WEIGHTED
    lacking = why_no_subsets(n_classes, wanted=subsets, p_out_of_set=p_out_of_set, uneven=uneven)
    trials: Any = {"sample_weight": weight, "classes": names}
    costs, detection, curves = detection_costs(matrix, truth, points, p_out_of_set, **trials)
    result = ClassEvaluation(
        name=name,
        classes=names,
        counts=tally(truth, n_classes, weight),
        n_infinite=int(np.count_nonzero(np.isinf(matrix).any(axis=1))),
        prior=checked,
        cross_entropy=multiclass.cross_entropy(matrix, truth, prior=checked, **trials) / np.log(2.0),
        prior_entropy=float(-(checked @ np.log2(checked))),
        brier=multiclass.brier(matrix, truth, prior=checked, **trials),
        default_brier=float(1.0 - checked @ checked),
        error_rate=multiclass.error_rate(matrix, truth, prior=checked, **trials),
        default_error_rate=float(1.0 - checked.max()),
        class_error_rates=multiclass.class_error_rates(matrix, truth, prior=checked, **trials),
        confusion=multiclass.confusion(matrix, truth, prior=checked, **trials),
        calibration=multiclass.calibration_analysis(matrix, truth, **trials),
        points=costs,
        p_out_of_set=p_out_of_set,
        detection=detection,
        pairwise=multiclass.pairwise_analysis(matrix, truth, **trials),
        subsets=None if lacking else multiclass.subset_c_avg(matrix, truth, p_target=points[0], classes=names),
        notes=(),
        curves=replace(curves, sample=_drawn(matrix, truth, weight) if n_classes == 3 else None),
        no_subsets=lacking,
    )
    return replace(result, notes=class_notes(result, matrix, truth, weight))


def _checked_prior(prior: Prior | None, classes: Sequence[str]) -> FloatArray:
    """A prior that holds every class possible."""
    checked = prior_of("flat" if prior is None else prior, classes)
    zero = np.flatnonzero(checked == 0.0)
    if len(zero):
        raise InputError(
            f"prior: that of {_validate_classes.called(int(zero[0]), tuple(classes))} is 0. An evaluation is of all "
            "classes: leave its column and its trials out, or give it a small prior."
        )
    return checked


def _drawn(loglik: ScoreArray, label: IntArray, weight: CountArray | None) -> tuple[ScoreArray, IntArray]:
    """Trials of all kinds that a plot has room for, whatever the order in which they came."""
    chosen = []
    for k in range(loglik.shape[1]):
        rows = np.flatnonzero(label == k if weight is None else (label == k) & (weight > 0))
        rows = rows[np.lexsort(loglik[rows].T)]
        chosen.append(rows[:: -(-len(rows) // _DRAWN)])
    rows = np.concatenate(chosen)
    return loglik[rows], label[rows]
