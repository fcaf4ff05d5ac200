"""Cross-validated calibration and fusion: every trial by a map that was trained without its speakers."""

from __future__ import annotations

import copy
import inspect
import numbers
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.core.ranks.exact_weights import summed_by_code, whole_or_float
from deciban.core.resampling.units import mixed_bits
from deciban.errors import InputError, TrialError
from deciban.models.score_model import ARGUMENTS, measure_table, missing_measures_are_known, tell_missing
from deciban.types import AnyArray, BoolArray, CountArray, FloatArray, IntArray, ScoreArray


def folds_of(
    scores: AnyArray,
    label: IntArray,
    weight: CountArray | None,
    groups: ArrayLike | Sequence[ArrayLike] | None,
    *,
    n_folds: Any,
    seed: Any,
) -> IntArray:
    """Fold of every trial, by its groups or (without any) by itself.

    Parameters
    ----------
    scores : (n_trials, ...) array
    label : (n_trials,) int array
        The class of each trial, from 0.
    weight : (n_trials,) array, optional
    groups : (n_trials,) array_like, or two of them, optional
    n_folds, seed : int

    Returns
    -------
    (1, n_trials) or (2, n_trials) array
        For each side of the trials.

    Raises
    ------
    InputError
        If lengths differ, a group has no name, or there are fewer groups than folds.
    """
    n_folds, seed = _whole(n_folds, "n_folds", 2), _whole(seed, "seed", 0)
    if groups is None:
        return _folds_of_trials(scores, label, weight, n_folds, seed)[np.newaxis]
    sides = _sides(groups, len(scores))
    return _folds_of_groups(sides, label, weight, n_folds, seed)[sides]


def held_out(
    model: Any,
    scores: AnyArray,
    label: AnyArray,
    weight: CountArray | None,
    folds: IntArray,
    *,
    require: Callable[[str, IntArray], None] | None = None,
    along: Mapping[str, AnyArray] | None = None,
    **fitting: Any,
) -> FloatArray:
    """What copies of a model make of every trial, each trained on the trials that share no fold with it.

    Parameters
    ----------
    model : calibrator or fusion
    scores : (n_trials, ...) array
    label : (n_trials,) array
        As ``fit`` wants it.
    weight : (n_trials,) array, optional
    folds : (n_sides, n_trials) int array
    require : function, optional
        Called with words for what is held out and the rows that are left, to refuse what cannot be trained on.
    along : mapping of str to (n_trials, ...) array, optional
        What else ``fit`` and ``transform`` take of every trial, by argument.
    **fitting
        More arguments of ``fit``.

    Returns
    -------
    (n_trials, ...) array

    Raises
    ------
    InputError
        If training fails; the message names the fold.
    """

    def of(rows: IntArray) -> dict[str, AnyArray]:
        return {argument: values[rows] for argument, values in (along or {}).items()}

    llr: FloatArray | None = None
    for name, inside, outside in splits(folds, int(folds.max()) + 1):
        if require is not None:
            require(name, outside)
        own = None if weight is None else weight[outside]
        try:
            fitted = copy.deepcopy(model).fit(
                scores[outside], label[outside], sample_weight=own, **of(outside), **fitting
            )
        except TrialError as error:
            raise error.among(outside, before=f"Training without {name}: ") from error
        except InputError as error:
            raise InputError(f"Training without {name}: {error}") from error
        try:
            part = fitted.transform(scores[inside], **of(inside))
        except TrialError as error:
            raise error.among(inside) from None
        if llr is None:
            llr = np.empty((len(scores), *part.shape[1:]))
        llr[inside] = part
    assert llr is not None  # noqa: S101  # there are trials, so there are folds with trials
    return llr


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


def _folds_of_groups(sides: IntArray, label: IntArray, weight: CountArray | None, n_folds: int, seed: int) -> IntArray:
    """Fold of each group: large ones first, each to where it makes the sums of squares of all classes grow least.

    Groups without weight come last, so that they do not move the others.
    """
    return folds_of_shares(_shares(sides, label, weight), n_folds, seed)


def folds_of_shares(shares: FloatArray, n_folds: int, seed: int) -> IntArray:
    """Fold of each group by how much of each class it has; groups are in the order of their names.

    Parameters
    ----------
    shares : (n_groups, n_classes) array
    n_folds, seed : int

    Raises
    ------
    InputError
        If there are fewer groups than folds.
    """
    counting = np.flatnonzero(shares.any(axis=1))
    if len(counting) < n_folds:
        such = "" if len(counting) == len(shares) else " with a weight above 0"
        raise InputError(
            f"n_folds: {n_folds} folds of {len(counting)} groups{such}. There cannot be more folds than groups."
        )
    order = counting[np.random.default_rng(seed).permutation(len(counting))]
    order = order[np.argsort(-shares.sum(axis=1)[order], kind="stable")]
    order = np.append(order, np.flatnonzero(~shares.any(axis=1)))
    folds = np.empty(len(shares), np.int64)
    loads, sizes_of_folds = np.zeros((n_folds, shares.shape[1])), np.zeros(n_folds, np.int64)
    for group in order.tolist():
        fold = int(np.lexsort((sizes_of_folds, (loads * shares[group]).sum(axis=1)))[0])
        folds[group] = fold
        loads[fold] += shares[group]
        sizes_of_folds[fold] += 1
    return folds


def _shares(sides: IntArray, label: IntArray, weight: CountArray | None) -> FloatArray:
    """How much of each class every group has, a row for each group."""
    n_groups, n_classes = int(sides.max()) + 1, int(label.max()) + 1
    amount = np.ones(len(label)) if weight is None else weight.astype(np.float64)
    return shares_of(
        summed_by_code(amount, [side * n_classes + label for side in sides], n_groups * n_classes),
        summed_by_code(amount, [label], n_classes),
    )


def shares_of(in_groups: tuple[IntArray, int], in_all: tuple[IntArray, int]) -> FloatArray:
    """How much of each class every group has, from exact sums, so that nothing depends on the order of trials.

    Parameters
    ----------
    in_groups, in_all : pairs as of `deciban.core.ranks.exact_weights.summed_by_code`
        Of groups, class by class, and of classes.

    Returns
    -------
    (n_groups, n_classes) array
        Of a class without weight 0.
    """
    total = whole_or_float(*in_all).astype(np.float64)
    sums = whole_or_float(*in_groups).astype(np.float64).reshape(-1, len(total))
    return np.divide(sums, total, out=np.zeros(sums.shape), where=total > 0)


def _folds_of_trials(scores: AnyArray, label: IntArray, weight: CountArray | None, n_folds: int, seed: int) -> IntArray:
    """Fold of each trial: shuffled from an order that follows from the trials themselves, then dealt by class.

    Of very many each trial is asked alone, so that no list of all is needed.
    """
    columns = list(scores.reshape(len(scores), -1).T)
    keys = [*columns, label]
    n_counting = len(label) if weight is None else int(np.count_nonzero(weight))
    if not are_listed(n_counting, len(columns)):
        return folds_by_content(columns, label, n_folds, seed)
    order = np.lexsort(keys if weight is None else [weight, *keys])
    # Trials without weight come last, so that they do not move the others.
    counting, others = (order, order[:0]) if weight is None else (order[weight[order] > 0], order[weight[order] == 0])
    if len(counting) < n_folds:
        such = " with a weight above 0" if len(others) else ""
        raise InputError(
            f"n_folds: {n_folds} folds of {len(counting)} trials{such}. There cannot be more folds than trials."
        )
    counting = np.random.default_rng(seed).permutation(counting)
    order = np.append(counting[np.argsort(label[counting], kind="stable")], others)
    folds = np.empty(len(scores), np.int64)
    folds[order] = np.arange(len(scores)) % n_folds
    return folds


_MOST_NUMBERS = 1 << 23
"""Numbers up to which trials are listed to be dealt out to folds."""


def are_listed(n_trials: int, n_columns: int) -> bool:
    """Whether trials with so many numbers each are few enough to be listed: a million of up to eight.

    >>> are_listed(1_000_000, 1), are_listed(1_000_000, 10)
    (True, False)
    """
    return n_trials * max(n_columns, 8) <= _MOST_NUMBERS


def folds_by_content(columns: Sequence[AnyArray], label: AnyArray, n_folds: int, seed: int) -> IntArray:
    """Fold of each trial where there are very many: its numbers and its class decide, so that equal trials share one.

    Parameters
    ----------
    columns : sequence of (n_trials,) array
    label : (n_trials,) array
    n_folds, seed : int

    Examples
    --------
    >>> folds = folds_by_content([np.arange(1e5)], np.zeros(100_000, int), 4, 0)
    >>> bool(np.all(np.abs(np.bincount(folds) - 25_000) < 500))
    True
    """
    bits = mixed_bits(np.asarray(label).astype(np.int64) + seed)
    for column in columns:
        numbers = column.astype(np.float64) + 0.0  # so that there is one 0
        numbers[np.isnan(numbers)] = np.nan
        bits = mixed_bits(bits ^ mixed_bits(numbers.view(np.uint64)))
    return (bits % np.uint64(n_folds)).astype(np.int64)


def words_of(low: int, high: int, n_folds: int) -> str:
    """What is held out, in words: a fold, or the trials between two.

    >>> words_of(0, 0, 5), words_of(0, 2, 5)
    ('fold 1 of 5', 'folds 1 and 3 of 5')
    """
    return f"fold {low + 1} of {n_folds}" if low == high else f"folds {low + 1} and {high + 1} of {n_folds}"


def splits(folds: IntArray, n_folds: int) -> Iterator[tuple[str, IntArray, IntArray]]:
    """Words for each part, its trials, and the trials that share no fold with it."""
    low, high = folds.min(axis=0), folds.max(axis=0)
    for i in range(n_folds):
        for j in range(i, n_folds) if len(folds) > 1 else [i]:
            inside = np.flatnonzero((low == i) & (high == j))
            if len(inside):
                yield words_of(i, j, n_folds), inside, np.flatnonzero(~np.isin(folds, (i, j)).any(axis=0))


class Trainable(Protocol):
    """What can be cross-validated: any calibrator, and any fusion. One of them takes quality measures, too."""

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
    enroll_quality: ArrayLike | None = None,
    test_quality: ArrayLike | None = None,
    trial_quality: ArrayLike | None = None,
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
    enroll_quality, test_quality, trial_quality : (n_trials, n_measures) array_like, optional
        The measures that `deciban.fusion.QualityFusion.fit` takes, of all trials: every part is trained on those of its
        own trials, and fuses others by theirs. NaN where there is none.

    Returns
    -------
    (n_trials,) array
        Log-likelihood ratios in nats, in the order of the trials.

    Raises
    ------
    InputError
        If lengths differ, a group has no name, there are fewer groups than folds, the trials outside of a fold
        lack a class, or training on them fails; the message names the fold. If measures are infinite, or the calibrator
        takes none.

    Warns
    -----
    DecibanWarning
        If trials lack a measure, once for all parts.

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

    Noise raises all scores, and a fusion with quality makes up for that:

    >>> import numpy as np
    >>> from deciban.fusion import LinearFusion, QualityFusion
    >>> from deciban.metrics import cllr
    >>> rng = np.random.default_rng(1)
    >>> is_target = np.arange(400) < 200
    >>> noise = rng.random((400, 1))
    >>> scores = np.where(is_target, 1.0, -1.0)[:, None] + 5.0 * noise + rng.normal(size=(400, 1))
    >>> llr = cross_validated(LinearFusion(), scores, is_target)
    >>> aware = cross_validated(QualityFusion(), scores, is_target, test_quality=noise)
    >>> round(cllr(llr[is_target], llr[~is_target]), 2), round(cllr(aware[is_target], aware[~is_target]), 2)
    (0.73, 0.5)
    """
    if isinstance(calibrator, type) or not (hasattr(calibrator, "fit") and hasattr(calibrator, "transform")):
        raise InputError(
            f"calibrator: got {type(calibrator).__name__}. Pass a calibrator or a fusion, such as AffineCalibrator()."
        )
    columns = _checked_scores(scores)
    given = dict(zip(ARGUMENTS, (enroll_quality, test_quality, trial_quality), strict=True))
    quality = _checked_quality(calibrator, given, len(columns))
    # Trials of the same scores are told apart by their measures, so that the order does not matter.
    each = np.column_stack((columns.reshape(len(columns), -1), *quality.values())) if quality else columns
    parts = Parts.of(each, is_target, sample_weight=sample_weight, groups=groups, n_folds=n_folds, seed=seed)
    if not quality:
        return parts.llr(calibrator, columns)
    with missing_measures_are_known():
        llr = parts.llr(calibrator, columns, quality)
    present = np.asarray(~np.isnan(np.column_stack(list(quality.values()))).any(axis=1), np.bool_)
    tell_missing(type(calibrator).__name__, present, "left out where quality is trained, and fused by scores alone")
    return llr


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Labelled trials with the folds in which they are held out, for any number of models.

    Attributes
    ----------
    is_target : (n_trials,) bool array
    weight : (n_trials,) array, optional
    folds : (n_sides, n_trials) int array
    """

    is_target: BoolArray
    weight: CountArray | None
    folds: IntArray

    @classmethod
    def of(
        cls,
        scores: AnyArray,
        is_target: ArrayLike,
        *,
        sample_weight: ArrayLike | None,
        groups: ArrayLike | Sequence[ArrayLike] | None = None,
        n_folds: int = 5,
        seed: int = 0,
    ) -> Parts:
        """Check labels, and make folds of checked scores; see `cross_validated`."""
        truth, weight = _validate.labels(is_target, sample_weight, len(scores))
        folds = folds_of(scores, truth.astype(np.int64), weight, groups, n_folds=n_folds, seed=seed)
        return cls(truth, weight, folds)

    def __iter__(self) -> Iterator[tuple[str, IntArray, IntArray]]:
        """Words for each part, its trials, and those to train on."""
        return splits(self.folds, int(self.folds.max()) + 1)

    def llr(self, calibrator: Trainable, scores: AnyArray, quality: Mapping[str, AnyArray] | None = None) -> FloatArray:
        """What copies of a calibrator or fusion make of every trial; see `cross_validated`."""

        def require(name: str, outside: IntArray) -> None:
            _require_classes(name, self.is_target[outside], None if self.weight is None else self.weight[outside])

        return held_out(calibrator, scores, self.is_target, self.weight, self.folds, require=require, along=quality)


def _checked_quality(calibrator: Trainable, given: dict[str, ArrayLike | None], n_trials: int) -> dict[str, ScoreArray]:
    """The measures that were passed, for a calibrator that takes such."""
    tables = {name: values for name, values in given.items() if values is not None}
    if not tables:
        return {}
    taken = inspect.signature(calibrator.fit).parameters
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in taken.values())
    for name in tables:
        if name not in taken and not takes_all:
            raise InputError(
                f"{name}: given, but {type(calibrator).__name__} takes no such measures. Pass them with a "
                "QualityFusion, or leave them out."
            )
    return {name: measure_table(values, name, n_trials) for name, values in tables.items()}


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
    n_tar = int(np.count_nonzero(counted))
    require_left(name, n_tar, len(counted) - n_tar)


def require_left(name: str, n_tar: int, n_non: int) -> None:
    """Refuse to train without what is held out, if then no targets or no non-targets are left.

    Raises
    ------
    InputError
    """
    for n, kind in ((n_tar, "target"), (n_non, "non-target")):
        if not n:
            raise InputError(
                f"groups: without {name} no {kind} is left to train on. Take more folds or fewer, another seed, or "
                "more groups with trials of both classes; trials with two sides need at least 3 folds."
            )
