"""Cross-validated calibration and fusion: every trial by a map that was trained without its speakers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from deciban import _validate
from deciban.calibration.folds import folds_of, held_out
from deciban.errors import InputError
from deciban.types import AnyArray, BoolArray, CountArray, FloatArray, IntArray


class Trainable(Protocol):
    """What can be cross-validated: any calibrator, and any fusion of scores alone."""

    def fit(self, scores: ArrayLike, is_target: ArrayLike, *, sample_weight: ArrayLike | None = None) -> Self:
        """Train on labelled trials."""

    def transform(self, scores: ArrayLike) -> FloatArray:
        """Turn scores into log-likelihood ratios."""


def cross_validated(
    calibrator: Trainable,
    scores: ArrayLike,
    is_target: ArrayLike,
    *,
    groups: ArrayLike | Sequence[ArrayLike] | None = None,
    n_folds: int = 5,
    sample_weight: ArrayLike | None = None,
    seed: int = 0,
) -> FloatArray:
    """Calibrate or fuse every trial by a map that was trained on other trials only.

    Parameters
    ----------
    calibrator : Calibrator or fusion
        What to train, such as `AffineCalibrator` or `deciban.fusion.LinearFusion`; copies are, it stays as it is.
    scores : (n_trials,) array_like
        Or of more dimensions, trials first, if ``calibrator`` takes such scores: (n_trials, n_systems) for a fusion.
    is_target : (n_trials,) array_like
        True (or 1) for targets, False (or 0) for non-targets.
    groups : (n_trials,) array_like, or two of them, optional
        Who a trial belongs to, such as its speaker, as strings or numbers: trials of a group stay together. For trials
        with two sides, a pair: the speaker of the enrolment and of the test side. A name is the same speaker on both.
        Without groups every trial is by itself: too optimistic where a speaker has more than one.
    n_folds : int
        Number of parts, at least 2; at least 3 for two sides. The number of groups leaves each of them out in turn.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0. Folds have about the same weight of each class; groups and
        trials of weight 0 do not move the others.
    seed : int
        Which of the many ways to make folds is taken.

    Returns
    -------
    (n_trials,) array
        Log-likelihood ratios in nats, in the order of the trials.

    Raises
    ------
    InputError
        If lengths differ, a group has no name, there are fewer groups than folds, the trials outside of a fold
        lack a class, or training on them fails; the message names the fold.

    Notes
    -----
    Groups are spread over folds so that each fold has about the same number of targets and of non-targets (weight of
    such, if trials are weighted).

    With two sides, speakers and not trials are spread. A trial whose speakers are in folds ``i`` and ``j`` is
    calibrated by a map that was trained on all trials with no side in either of the two: no speaker of the trial was
    heard in training. That takes ``n_folds (n_folds + 1) / 2`` maps, and the more folds, the more trials each is
    trained on: about ``(1 - 2 / n_folds)**2`` of the cross-speaker trials.

    The result depends on the seed, the names of the groups and the trials, and not on the order of the trials. (Without
    groups, trials that are alike in everything may exchange their values.)

    Examples
    --------
    >>> from deciban.calibration import AffineCalibrator
    >>> scores = [3.0, 1.0, 2.0, -1.0, 1.5, 0.0, 2.5, 0.5, 2.0, 2.2]
    >>> is_target = [True, True, True, False, False, False, True, False, True, False]
    >>> speakers = ["ann", "ann", "bob", "bob", "cid", "cid", "cid", "ann", "dan", "dan"]
    >>> cross_validated(AffineCalibrator(ridge=0.1), scores, is_target, groups=speakers, n_folds=2).round(2)
    array([ 1.8 , -0.35,  0.19, -1.59, -0.1 , -1.  ,  0.49, -0.88,  0.73,  0.94])
    """
    columns = _checked_scores(scores)
    truth, weight = _validate.labels(is_target, sample_weight, len(columns))
    folds = folds_of(columns, truth.astype(np.int64), weight, groups, n_folds=n_folds, seed=seed)

    def require(name: str, outside: IntArray) -> None:
        _require_classes(name, truth[outside], None if weight is None else weight[outside])

    return held_out(calibrator, columns, truth, weight, folds, require=require)


def _checked_scores(scores: ArrayLike) -> AnyArray:
    array = _validate.array(scores, "scores")
    if array.ndim < 2:
        return _validate.scores(array, "scores")
    if array.ndim == 2:
        return _validate.score_matrix(array, "scores")
    _validate.scores(array.reshape(-1), "scores")
    return array


def _require_classes(name: str, truth: BoolArray, weight: CountArray | None) -> None:
    counted = truth if weight is None else truth[weight > 0]
    for rows, kind in ((counted, "target"), (~counted, "non-target")):
        if not rows.any():
            raise InputError(
                f"groups: without {name} no {kind} is left to train on. Take more folds or fewer, another seed, or "
                "more groups with trials of both classes; trials with two sides need at least 3 folds."
            )
