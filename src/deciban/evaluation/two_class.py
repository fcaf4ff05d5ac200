"""From two sets of scores to every number of a report, with one sort."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logit

from deciban.core.ranks.hull import FEW_ERRORS
from deciban.core.ranks.operating import PointLike, detection_cost, effective_log_odds
from deciban.errors import InputError
from deciban.evaluation.curves import draw_curves
from deciban.evaluation.figures import DEFAULT_POINTS, TwoClassFigures
from deciban.evaluation.notes import notes_on
from deciban.evaluation.results import Evaluation, PointResult
from deciban.evaluation.summary import Summary
from deciban.metrics import SortedScores
from deciban.types import BoolArray, CountArray, ScoreArray

__all__ = ["DEFAULT_POINTS", "evaluate", "evaluate_labelled", "evaluation_of"]


def evaluate(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    name: str = "system",
    operating_points: TwoClassFigures | Iterable[PointLike] = DEFAULT_POINTS,
    tar_weights: ArrayLike | None = None,
    non_weights: ArrayLike | None = None,
) -> Evaluation:
    """Evaluate the scores of one system: every number and curve of a report, from one sort.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger favours target. Cllr, actual costs and everything else that
        needs calibrated scores takes them as natural-log likelihood ratios. Infinite scores are legal.
    name : str
        What tables and legends call the system.
    operating_points : iterable
        Where detection costs are wanted: each an `OperatingPoint`, a ``p_target``, or ``(p_target, c_miss, c_fa)``.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    Evaluation

    Raises
    ------
    InputError
        If a class is empty or holds NaN, weights do not fit, or an operating point has a prior outside (0, 1) or a
        cost that is not positive.

    Examples
    --------
    >>> result = evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], operating_points=[0.5, (0.01, 10, 1)])
    >>> round(result.eer, 4), round(result.cllr, 4), round(result.min_cllr, 4)
    (0.1667, 0.6941, 0.3333)
    >>> [round(point.min_dcf, 4) for point in result.operating_points]
    [0.3333, 0.3333]
    """
    figures = TwoClassFigures.of(operating_points)
    scores = SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights)
    is_weighted = tar_weights is not None or non_weights is not None
    return evaluation_of(Summary.of(scores, figures, is_weighted=is_weighted), name=name)


def evaluation_of(summary: Summary, *, name: str = "system") -> Evaluation:
    """Evaluate what is known of the scores of one system: every number, curve and note.

    Parameters
    ----------
    summary : Summary
        Of all trials: see `summarize` and `merged`.
    name : str
        What tables and legends call the system.

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
            raise InputError(f"summary: holds no {kind} trial. Evaluation needs at least one of each class.")
    points = _at_points(summary)
    curves = draw_curves(summary)
    return Evaluation(
        name=name,
        n_tar=summary.n_tar,
        n_non=summary.n_non,
        n_tied=summary.n_tied,
        n_infinite=summary.n_infinite,
        eer=summary.rocch.eer(),
        auc=summary.table.auc(),
        cllr=summary.cllr,
        min_cllr=summary.recalibrated.cllr(),
        prbep=summary.rocch.prbep(),
        dr30=summary.rocch.few_errors(FEW_ERRORS),
        operating_points=points,
        notes=notes_on(summary, points, curves),
        curves=curves,
        is_weighted=summary.is_weighted,
    )


def evaluate_labelled(
    score: ScoreArray,
    is_target: BoolArray,
    weight: CountArray | None = None,
    *,
    name: str,
    operating_points: TwoClassFigures | Iterable[PointLike] = DEFAULT_POINTS,
) -> Evaluation:
    """Evaluate trials of both classes in one array, with their labels and maybe weights; see `evaluate`."""
    tar, non = is_target, ~is_target
    return evaluate(
        score[tar],
        score[non],
        name=name,
        operating_points=operating_points,
        tar_weights=None if weight is None else weight[tar],
        non_weights=None if weight is None else weight[non],
    )


def _at_points(summary: Summary) -> tuple[PointResult, ...]:
    points = summary.figures.operating_points
    p_target, c_miss, c_fa = np.array([(p.p_target, p.c_miss, p.c_fa) for p in points], dtype=np.float64).T
    log_odds = effective_log_odds(logit(p_target), c_miss, c_fa)
    errors = summary.errors(-log_odds)
    act = detection_cost(errors.p_miss, errors.p_fa, log_odds, 1.0, 1.0, normalize=True)
    least = detection_cost(*summary.rocch.best_rates(log_odds), log_odds, 1.0, 1.0, normalize=True)
    effective = [point.effective_prior for point in points]
    columns = (-log_odds, act, least, errors.p_miss, errors.p_fa, errors.n_miss, errors.n_fa)
    given = (p_target, c_miss, c_fa)
    rows = zip(*(c.tolist() for c in given), effective, *(c.tolist() for c in columns), strict=True)
    return tuple(PointResult(*row) for row in rows)
