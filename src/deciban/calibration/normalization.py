"""Score normalization by cohorts: z-norm, t-norm, s-norm, and their adaptive forms with the highest cohort scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.errors import InputError, counted
from deciban.types import AnyArray, ByValue, FloatArray

if TYPE_CHECKING:
    from deciban.trials import Scores

PAIR = ("enroll", "test")


@dataclass(frozen=True, slots=True, eq=False)
class CohortStatistics(ByValue):
    """Mean and standard deviation of the cohort scores of each model or segment.

    Attributes
    ----------
    mean, deviation : (n,) arrays
        The deviation has the divisor ``n_cohort - 1``, as in SpeechBrain.
    """

    mean: FloatArray
    deviation: FloatArray

    def normalized(self, scores: FloatArray, index: Any) -> FloatArray:
        """Return the scores minus mean, divided by the deviation, of the models or segments with this index."""
        return np.asarray((scores - self.mean[index]) / self.deviation[index])


def cohort_statistics(scores: Any, *, top: int | None = None, batch: int = 1024) -> CohortStatistics:
    """Return mean and standard deviation of each row of a matrix of cohort scores.

    Parameters
    ----------
    scores : (n, n_cohort) array_like
        Scores of each model or segment (row) against each segment of the cohort (column). Rows are read in batches, so
        a memory map or an HDF5 dataset can be larger than memory.
    top : int, optional
        Use only this number of highest scores of each row (adaptive normalization); by default all.
    batch : int
        Number of rows in a batch.

    Returns
    -------
    CohortStatistics

    Raises
    ------
    InputError
        If a row has fewer than two scores, or fewer than ``top``, or if all scores of a row are equal up to rounding,
        not finite or not numbers.

    References
    ----------
    S. Cumani and others, Comparison of speaker recognition approaches for real applications, Interspeech 2011; P.
    Matejka and others, Analysis of score normalization in multilingual speaker recognition, Interspeech 2017.

    Examples
    --------
    >>> cohort_statistics([[0.0, 1.0, 2.0, 5.0]], top=2).mean
    array([3.5])
    """
    table: AnyArray = scores if len(getattr(scores, "shape", ())) == 2 else _validate.array(scores, "scores")
    if table.ndim != 2:
        raise InputError(f"scores: got {table.ndim} dimensions. Pass a matrix: a row for each model or segment.")
    n_rows, n_cohort = table.shape
    _validate.whole(batch, "batch", 1, np.inf, "It is a number of rows, at least 1")
    least = _least(top)
    if n_cohort < least:
        raise InputError(f"top: {counted(n_cohort, 'cohort score')} in each row, but {least} are needed.")
    start = 0 if top is None else n_cohort - top
    statistics, rounding = CohortStatistics(np.empty(n_rows), np.empty(n_rows)), np.empty(n_rows)
    for first in range(0, n_rows, batch):
        rows = np.asarray(_validate.matrix(table[first : first + batch], "scores", "cohort score"), np.float64)
        rows = np.partition(rows, start, axis=1)[:, start:] if start else rows
        with np.errstate(invalid="ignore"):
            statistics.mean[first : first + batch] = rows.mean(axis=1)
            statistics.deviation[first : first + batch] = rows.std(axis=1, ddof=1)
            rounding[first : first + batch] = _rounding(rows.min(axis=1), rows.max(axis=1))
    _require_spread(statistics.deviation, rounding, lambda at: f"row {at}")
    return statistics


def normalize_scores(
    scores: ArrayLike,
    *,
    enroll: CohortStatistics | None = None,
    test: CohortStatistics | None = None,
    index: tuple[ArrayLike, ArrayLike] | None = None,
) -> FloatArray:
    """Return normalized scores: z-norm with ``enroll``, t-norm with ``test``, s-norm (their mean) with both.

    Parameters
    ----------
    scores : (n_enroll, n_test) or (n_trials,) array_like
        A matrix of scores, or scores of single trials.
    enroll, test : CohortStatistics, optional
        Statistics of enrolled models (rows) and of test segments (columns). With `cohort_statistics` of the highest
        scores, the result is adaptive.
    index : pair of (n_trials,) integer array_like, optional
        For single trials: indices of model and segment in the statistics.

    Returns
    -------
    array of the shape of the scores

    Raises
    ------
    InputError
        If statistics or indices are missing or do not match the scores, or a score is NaN or not a number.

    Notes
    -----
    Normalized scores are not log-likelihood ratios: calibrate them.

    Examples
    --------
    >>> statistics = cohort_statistics([[0.0, 1.0, 2.0], [2.0, 4.0, 6.0]])
    >>> normalize_scores([[3.0], [6.0]], enroll=statistics).ravel().tolist()
    [2.0, 1.0]
    """
    values = _validate.array(scores, "scores")
    if enroll is None and test is None:
        raise InputError("enroll: no cohort. Pass statistics of the enrolled models, the test segments or both.")
    if values.ndim != (2 if index is None else 1):
        raise InputError(f"scores: got {values.ndim} dimensions. Pass a matrix, or scores of trials with index=.")
    table = np.asarray(_validate.scores(values.ravel(), "scores"), np.float64).reshape(values.shape)
    sides = (enroll, test)
    places = (np.arange(len(table))[:, np.newaxis], np.arange(values.shape[-1])) if index is None else _pair(index)
    parts = list[FloatArray]()
    for name, one, place in zip(PAIR, sides, places, strict=True):
        if one is None:
            continue
        if index is not None and (place.dtype.kind not in "iu" or place.shape != table.shape):
            raise InputError(_INDEX)
        is_outside = place.min() < 0 or place.max() >= len(one.mean)
        if is_outside or (index is None and place.size != len(one.mean)):
            raise InputError(f"{name}: the statistics of {counted(len(one.mean), 'row')} do not match the scores.")
        parts.append(one.normalized(table, place))
    return parts[0] if len(parts) == 1 else 0.5 * (parts[0] + parts[1])


_INDEX = (
    "index: pass a pair of arrays of whole numbers, with an element for each trial: the row of its model in enroll, "
    "and the row of its segment in test."
)


def _pair(index: Any) -> tuple[AnyArray, AnyArray]:
    """Return both indices as arrays."""
    if not isinstance(index, list | tuple) or len(index) != len(PAIR):
        raise InputError(_INDEX)
    return _validate.array(index[0], "index"), _validate.array(index[1], "index")


def normalize(
    scores: Scores, *, enroll_cohort: Scores | None = None, test_cohort: Scores | None = None, top: int | None = None
) -> Scores:
    """Return the normalized scores of trials by the names in cohort scores.

    Parameters
    ----------
    scores : Scores
        Trials of enrolled models and test segments.
    enroll_cohort : Scores, optional
        Scores of the enrolled models against cohort segments, for z-norm.
    test_cohort : Scores, optional
        Scores of the test segments against cohort segments or models, for t-norm. Both cohorts: s-norm.
    top : int, optional
        Number of highest cohort scores of each model or segment; by default all.

    Returns
    -------
    Scores

    Raises
    ------
    InputError
        If both cohorts are missing, a model or segment has too few cohort scores, trials do not have the names of two
        sides, or a cohort has another unit than the scores.

    Examples
    --------
    >>> from deciban.trials import Scores
    >>> trials = Scores.of({"enroll": ["ann"], "test": ["x"]}, [5.0])
    >>> cohort = Scores.of({"enroll": ["ann"] * 3, "test": ["c1", "c2", "c3"]}, [0.0, 1.0, 2.0])
    >>> normalize(trials, enroll_cohort=cohort).score
    array([4.])
    """
    if scores.trials.sides[:2] != PAIR:
        raise InputError("scores: normalization needs the names of enrolled models and test segments.")
    cohorts = (enroll_cohort, test_cohort)
    if enroll_cohort is None and test_cohort is None:
        raise InputError("enroll_cohort, test_cohort: name at least one.")
    known = [None if one is None else _by_name(scores, one, side, top) for side, one in enumerate(cohorts)]
    codes = scores.trials.codes
    score = normalize_scores(scores.score, enroll=known[0], test=known[1], index=(codes[0], codes[1]))
    return replace(scores, score=score, log10=False, is_from_lr=False)


def _by_name(scores: Scores, cohort: Scores, side: int, top: int | None) -> CohortStatistics:
    """Return the statistics of each name of a side of trials; names without trials get NaN."""
    from deciban._arrow import positions

    if cohort.unit != scores.unit:
        raise InputError(
            f"{PAIR[side]}_cohort: {cohort.name} has the unit {cohort.unit}, but the scores {scores.unit}. "
            "Normalization needs the same unit: name the column of scores alike in both files (score, log10_lr or lr)."
        )
    names, trials = scores.trials.names[side], cohort.trials
    used = np.zeros(len(names), bool)
    used[scores.trials.codes[side]] = True
    places = [positions(names, among) for among in trials.names[:2]]
    place = min(places if side == 0 else places[::-1], key=lambda one: int((one[used] < 0).sum()))
    among = next(k for k, one in enumerate(places) if one is place)
    if (lacking := used & (place < 0)).any():
        name = names[int(np.argmax(lacking))].as_py()
        others = scores.trials.names[1 - side]
        is_swapped = any(bool((positions(others, among) >= 0).any()) for among in trials.names[:2])
        way = f" It has scores of {('models', 'segments')[1 - side]}: did you swap both cohorts?" * is_swapped
        raise InputError(
            f"{PAIR[side]}_cohort: {cohort.name} has no scores of {counted(int(lacking.sum()), 'name')} of the trials, "
            f"for example {name}.{way}"
        )
    code_of = np.full(len(trials.names[among]), -1)
    code_of[place[place >= 0]] = np.flatnonzero(place >= 0)
    code, score = code_of[trials.codes[among]], np.asarray(cohort.score, np.float64)
    order = np.lexsort((-score, code))
    order = order[code[order] >= 0]
    code, score = code[order], score[order]
    counts = np.bincount(code, minlength=len(names))
    if (few := used & (counts < (least := _least(top)))).any():
        at = int(np.argmax(few))
        raise InputError(f"top: {names[at].as_py()} has {counts[at]} cohort scores, but {least} are needed.")
    if top is not None:
        rank = np.arange(len(code)) - (np.cumsum(counts) - counts)[code]
        code, score = code[rank < top], score[rank < top]
        counts = np.minimum(counts, top)
    start = np.minimum(np.cumsum(counts) - counts, len(score) - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(code, score, len(names)) / counts
        deviation = np.sqrt(np.bincount(code, (score - mean[code]) ** 2, len(names)) / (counts - 1))
    rounding = _rounding(score[start + counts - 1], score[start])  # in descending order
    _require_spread(np.where(used, deviation, np.inf), rounding, lambda at: str(names[at].as_py()))
    return CohortStatistics(mean, deviation)


def _least(top: int | None) -> int:
    """Return the number of cohort scores that are needed."""
    return 2 if top is None else _validate.whole(top, "top", 2, np.inf, "It is a number of cohort scores, at least 2")


def _rounding(lowest: FloatArray, highest: FloatArray) -> FloatArray:
    """Return the largest deviation that equal scores can have by rounding."""
    return 4.0 * float(np.finfo(np.float64).eps) * np.maximum(np.abs(lowest), np.abs(highest))


def _require_spread(deviation: FloatArray, rounding: FloatArray, name_of: Callable[[int], str]) -> None:
    wrong = ~((deviation > rounding) & np.isfinite(deviation))
    if wrong.any():
        raise InputError(
            f"cohort: the scores of {name_of(int(np.argmax(wrong)))} are equal up to rounding, infinite or NaN. "
            "Normalization divides by their standard deviation."
        )
