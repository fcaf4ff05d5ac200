"""Cross-validated calibration and fusion: every trial by a map that was trained without its speakers."""

from __future__ import annotations

import copy
import numbers
from collections.abc import Iterator, Sequence
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from deciban import _validate
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
        Weight of each trial within its class, at least 0. Weights go into training, and not into the choice of folds.
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
    Groups are spread over folds so that each fold has about the same number of targets and of non-targets.

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
    n_folds, seed = _whole(n_folds, "n_folds", 2), _whole(seed, "seed", 0)
    if groups is None:
        folds = _folds_of_trials(columns, truth, weight, n_folds, seed)[np.newaxis]
    else:
        sides = _sides(groups, len(columns))
        folds = _folds_of_groups(sides, truth, n_folds, seed)[sides]
    llr: FloatArray | None = None
    for name, inside, outside in _splits(folds, n_folds):
        _require_classes(name, truth[outside], None if weight is None else weight[outside])
        own = None if weight is None else weight[outside]
        try:
            fitted = copy.deepcopy(calibrator).fit(columns[outside], truth[outside], sample_weight=own)
        except InputError as error:
            raise InputError(f"Training without {name}: {error}") from error
        part = fitted.transform(columns[inside])
        if llr is None:
            llr = np.empty((len(columns), *part.shape[1:]))
        llr[inside] = part
    assert llr is not None  # noqa: S101  # there are trials, so there are folds with trials
    return llr


def _checked_scores(scores: ArrayLike) -> AnyArray:
    array = _validate.array(scores, "scores")
    if array.ndim < 2:
        return _validate.scores(array, "scores")
    if array.ndim == 2:
        return _validate.score_matrix(array, "scores")
    _validate.scores(array.reshape(-1), "scores")
    return array


def _whole(value: Any, name: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise InputError(f"{name}: got {value!r}. It is a whole number of at least {least}.")
    return int(value)


def _sides(groups: ArrayLike | Sequence[ArrayLike], n_trials: int) -> IntArray:
    """Groups of each trial on one side or on two, as positions in the sorted names of all of them."""
    if isinstance(groups, tuple | list) and len(groups) == 2 and all(np.ndim(side) == 1 for side in groups):
        named = [_names(side, n_trials) for side in groups]
    else:
        named = [_names(groups, n_trials)]
    if len({names.dtype.kind == "U" for names in named}) > 1:
        raise InputError("groups: one side has strings and the other numbers. A speaker has one name on both sides.")
    codes = np.unique(np.concatenate(named), return_inverse=True)[1]
    return codes.reshape(len(named), n_trials).astype(np.int64, copy=False)


def _names(side: object, n_trials: int) -> AnyArray:
    """The groups of one side, all strings or all numbers."""
    names = _validate.array(side, "groups")  # type: ignore[arg-type]  # it checks
    if names.ndim != 1 or len(names) != n_trials:
        raise InputError(
            f"groups: shape {names.shape} for {n_trials} trials. Give one group per trial, or a pair of such arrays, "
            "for the enrolment and for the test side."
        )
    if names.dtype.kind in "biuU":
        return names
    nameless = [not isinstance(name, str | numbers.Real) or name != name for name in names.tolist()]  # noqa: PLR0124
    if (found := np.flatnonzero(nameless)).size:
        raise InputError(
            f"groups: {len(found)} of {n_trials} trials have no group that is a string or a number, the first at index "
            f"{found[0]}: {names[found[0]]!r}. Give each trial of an unknown speaker its own name, or leave it out."
        )
    if len({isinstance(name, str) for name in names.tolist()}) > 1:
        raise InputError("groups: some are strings and some numbers. A speaker has one name in all trials.")
    return np.array(names.tolist())


def _folds_of_groups(sides: IntArray, truth: BoolArray, n_folds: int, seed: int) -> IntArray:
    """Fold of each group: large ones first, each to where it makes the sums of squares of both classes grow least."""
    every = sides.ravel()
    n_groups = int(every.max()) + 1
    if n_groups < n_folds:
        raise InputError(f"n_folds: {n_folds} folds of {n_groups} groups. There cannot be more folds than groups.")
    targets = np.bincount(every, np.tile(truth, len(sides)), n_groups) / np.count_nonzero(truth)
    others = np.bincount(every, np.tile(~truth, len(sides)), n_groups) / np.count_nonzero(~truth)
    order = np.random.default_rng(seed).permutation(n_groups)
    order = order[np.argsort(-(targets + others)[order], kind="stable")]
    folds = np.empty(n_groups, np.int64)
    loads = [(0.0, 0.0, 0)] * n_folds
    for group, tar, non in zip(order.tolist(), targets[order].tolist(), others[order].tolist(), strict=True):
        costs = [(load[0] * tar + load[1] * non, load[2]) for load in loads]
        fold = costs.index(min(costs))
        folds[group] = fold
        loads[fold] = (loads[fold][0] + tar, loads[fold][1] + non, loads[fold][2] + 1)
    return folds


def _folds_of_trials(
    scores: AnyArray, truth: BoolArray, weight: CountArray | None, n_folds: int, seed: int
) -> IntArray:
    """Fold of each trial: shuffled from an order that follows from the trials themselves, then dealt by class."""
    if len(scores) < n_folds:
        raise InputError(f"n_folds: {n_folds} folds of {len(scores)} trials. There cannot be more folds than trials.")
    keys = [*scores.reshape(len(scores), -1).T, truth]
    order = np.lexsort(keys if weight is None else [weight, *keys])
    order = np.random.default_rng(seed).permutation(order)
    order = order[np.argsort(truth[order], kind="stable")]
    folds = np.empty(len(scores), np.int64)
    folds[order] = np.arange(len(scores)) % n_folds
    return folds


def _splits(folds: IntArray, n_folds: int) -> Iterator[tuple[str, IntArray, IntArray]]:
    """Words for each part, its trials, and the trials that share no fold with it."""
    low, high = folds.min(axis=0), folds.max(axis=0)
    for i in range(n_folds):
        for j in range(i, n_folds) if len(folds) > 1 else [i]:
            inside = np.flatnonzero((low == i) & (high == j))
            if len(inside):
                name = f"fold {i + 1} of {n_folds}" if i == j else f"folds {i + 1} and {j + 1} of {n_folds}"
                yield name, inside, np.flatnonzero(~np.isin(folds, (i, j)).any(axis=0))


def _require_classes(name: str, truth: BoolArray, weight: CountArray | None) -> None:
    counted = truth if weight is None else truth[weight > 0]
    for rows, kind in ((counted, "target"), (~counted, "non-target")):
        if not rows.any():
            raise InputError(
                f"groups: without {name} no {kind} is left to train on. Take more folds or fewer, another seed, or "
                "more groups with trials of both classes; trials with two sides need at least 3 folds."
            )
