"""Cross-validated calibration and fusion: every trial by a map that was trained without its speakers."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.calibration.folds import folds_of, held_out, splits
from deciban.errors import InputError
from deciban.models.score_model import ARGUMENTS, measure_table, tell_missing
from deciban.models.told_elsewhere import missing_measures_are_known
from deciban.types import AnyArray, BoolArray, CountArray, FloatArray, IntArray, ScoreArray


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
