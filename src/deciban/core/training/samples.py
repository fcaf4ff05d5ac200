"""Samples of trials for training: even ones, ones of the trials that matter, and bins of a single score.

Their optimum is close to that of all trials, for a fraction of the work; their class weights, or the weights of their
trials, make them stand for all.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from deciban.core.training.blocks import MatrixBlock
from deciban.core.training.linear_objective import LinearObjective, Trials
from deciban.core.training.linear_parts import TrialsInParts
from deciban.types import AnyArray, FloatArray, IntArray

SAMPLE = 1 << 13
"""Trials of the first sample; there is one if there are many times as many."""

_BLOCK = 1 << 15

_BINS = 1 << 14
"""Bins of one score: each is then so narrow that what is lost within it moves the optimum by about 1e-6 or less."""


_GLANCE = 1 << 10
"""Trials that show the order of magnitude."""

_GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)

_LARGEST = {np.float64: 1e150, np.float32: 1e18}
"""Factors beyond this, or below its inverse, could make products with slopes infinite or 0."""

_EVEN = 0.1
"""Share of a sample that is drawn evenly."""


def sample(trials: Trials | TrialsInParts, size: int) -> Trials:
    """About ``size`` trials, evenly spread, with at least a fifth of them from each class if there are so many.

    Of trials in parts there is one sample, which was drawn at the first look.
    """
    if isinstance(trials, TrialsInParts):
        return trials.few
    n, share = len(trials), size // 5
    if n < 4 * size:
        return trials
    rows: IntArray = np.arange(0, n, max(n // size, 1))
    n_tar = int(np.count_nonzero(trials.is_target[rows]))
    for few, rare in ((n_tar, trials.is_target), (len(rows) - n_tar, ~trials.is_target)):
        if few < share:
            found = np.flatnonzero(rare)
            rows = np.concatenate((rows[~rare[rows]], found[:: max(len(found) // share, 1)]))
    some = trials.take(rows)
    if min(some.amounts) == 0.0:
        return trials
    shares = zip(trials.class_weights, trials.amounts, some.amounts, strict=True)
    non, tar = (weight * all_of_them / drawn for weight, all_of_them, drawn in shares)
    return replace(some, class_weights=(non, tar))


def shortened(few: Trials, level: LinearObjective) -> Trials:
    """A sample whose matrix is float32, if that is precise enough for a rough look."""
    if few.matrix is None or not level.suits_rows:
        return few
    matrix = few.matrix.astype(np.float32)
    return replace(few, columns=tuple(matrix.T), matrix=matrix)


def thinned(few: Trials) -> Trials:
    """A sample of a sample, for a rough look."""
    rows = slice(None, None, max(len(few) // _GLANCE, 1))
    is_target = few.is_target[rows]
    return few.take(rows) if is_target.any() and not is_target.all() else few


def informative(level: Any, point: FloatArray, few: Any, size: int) -> Any:
    """Return about ``size`` trials, more often those that pull at the parameters of ``point``, with weights to match.

    A trial comes with a probability in proportion to the size of its slope, and a tenth of the sample comes evenly so
    that no weight becomes large. Good recognizers have few trials that matter: such a sample tells as much as an even
    one of a hundred times its size.

    Parameters
    ----------
    level : LinearObjective or ClassObjective
        All trials.
    point : (n_parameters,) array
        Parameters close to the optimum.
    few : Trials or ClassTrials
        An even sample, which tells how steep slopes are.
    size : int

    Returns
    -------
    Trials, ClassTrials or None
        None if the sample told so little that far more trials would come.
    """
    trials, n = level.trials, len(level.trials)
    factor, limit = _factor(level, point, few, size), _LARGEST[level.dtype]
    if not 1.0 / limit < factor < limit:
        return None
    capacity, count = size + size // 10, 0
    rows: AnyArray = np.empty(capacity, np.int32 if n < 1 << 31 else np.int64)
    weights: AnyArray = np.empty(capacity, level.dtype)
    is_raw = isinstance(level, LinearObjective) and level.trials.matrix is not None and level.suits_rows
    matrix = np.empty((capacity, trials.matrix.shape[1]), level.dtype) if is_raw else None
    blocks = level.blocks(share=0.4)  # the sample needs memory, too
    even = _EVEN * size / n
    # Multiples of the golden ratio spread evenly over [0, 1), and so does any run of them. A trial comes if its
    # probability is above; that is, if its slope is above what has this probability.
    threshold = np.modf(np.arange(1, blocks[0].stop + 1) * _GOLDEN)[0].astype(level.dtype)
    threshold -= even
    threshold /= factor
    for block in blocks:
        slopes, scores = level.slopes(point, block)
        found = np.flatnonzero(slopes > threshold[: len(slopes)])
        if count + len(found) > capacity:
            return None
        new = slice(count, count := count + len(found))
        rows[new] = found + block.start
        np.divide(1.0, np.minimum(factor * slopes[found] + even, 1.0), out=weights[new])
        if matrix is not None and isinstance(scores, MatrixBlock):
            matrix[new] = scores.rows[found]  # while they are at hand, and as short as a matrix of them should be
        del slopes, scores  # before the next ones come
    rows, weights = rows[:count], weights[:count]
    if trials.weights is not None:
        weights *= trials.weights[rows]
    if matrix is None:
        return replace(trials.take(rows), weights=weights)
    matrix = matrix[:count]
    base = None if trials.base is None else np.asarray(trials.base[rows])
    return Trials(tuple(matrix.T), trials.is_target[rows], trials.class_weights, weights, base, matrix)


def _factor(level: Any, point: FloatArray, few: Any, size: int) -> float:
    """What makes probabilities of slopes, so that about ``size`` trials come; some of them come for certain."""
    slopes = replace(level, trials=few).slopes(point, slice(None))[0].astype(np.float64)
    copies = level.trials.stand_ins(few)
    with np.errstate(all="ignore"):
        factor = size / slopes.sum()
        for _ in range(10):
            expected = float((copies * np.minimum(factor * slopes / copies, 1.0)).sum())
            factor *= (1.0 - _EVEN) * size / expected
    return float(factor)


def binned(objective: LinearObjective, few: Trials) -> Trials | None:
    """One trial for each class and bin of the only score, with the mean of its trials, counting like all of them.

    The optimum of these is close to that of all trials: only the squares of the distances within a bin are lost. Bins
    span the scores of a sample, standardized, as are the scores that are returned; None if they do not fit a float.
    """
    trials = objective.trials
    center, width = objective.center[0], objective.width[0]
    counts, sums = np.zeros(2 * _BINS, np.int64), np.zeros(2 * _BINS)
    with np.errstate(all="ignore"):
        ends = (np.array([np.min(few.columns[0][:]), np.max(few.columns[0][:])], np.float64) - center) / width
        low, per_unit = ends[0], _BINS / (ends[1] - ends[0])
        if not np.isfinite(per_unit):
            return None
        for i in range(0, len(trials), _BLOCK):
            rows = slice(i, i + _BLOCK)
            above = np.asarray(trials.columns[0][rows], np.float64) - center
            above /= width
            above -= low
            place = np.clip(above * per_unit, 0.0, _BINS - 1.0).astype(np.intp)
            place[trials.is_target[rows]] += _BINS
            counts += np.bincount(place, minlength=2 * _BINS)
            sums += np.bincount(place, above, minlength=2 * _BINS)
        full = np.flatnonzero(counts)
        means = low + sums[full] / counts[full]
    if not np.isfinite(means).all():
        return None
    return replace(
        trials, columns=(means,), is_target=full >= _BINS, weights=counts[full].astype(np.float64), matrix=None
    )
