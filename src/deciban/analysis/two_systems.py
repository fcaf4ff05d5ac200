"""Scores of two systems on the same trials, beside each other, and the line that decides where they are fused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.core.ranks.operating import OperatingPoint
from deciban.errors import InputError
from deciban.models.score_model import ScoreModel
from deciban.types import AnyArray, BoolArray, FloatArray

MOST_POINTS = 5000
"""Trials that are told apart; more are counted in cells."""

N_CELLS = 80
"""In each direction."""

_PROBES = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [2.0, -3.0]])


@dataclass(frozen=True, slots=True)
class DecisionLine:
    """Where a fused score is at the Bayes threshold: ``weights[0] x + weights[1] y + offset = threshold``.

    Attributes
    ----------
    point : OperatingPoint
    weights : (float, float)
    offset, threshold : float
        In nats.
    """

    point: OperatingPoint
    weights: tuple[float, float]
    offset: float
    threshold: float

    @property
    def ends(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Two places on the line: the one next to the origin, and another one."""
        x, y = self.weights
        share = (self.threshold - self.offset) / (x * x + y * y)
        return (share * x, share * y), (share * x - y, share * y + x)


@dataclass(frozen=True, slots=True, eq=False)
class ScorePairs:
    """Scores of two systems, as they are or counted in cells.

    Attributes
    ----------
    names : (str, str)
        Of the systems.
    n_tar, n_non : int
        Trials with finite scores that count.
    n_infinite : int
        Trials that are left out, as a score is infinite.
    tar, non : (n, 2) arrays or None
        The scores; None where they are counted.
    edges : (x, y) of (n_cells + 1,) arrays or None
        Of the cells.
    tar_counts, non_counts : (n_cells, n_cells) arrays or None
        Number of trials in each cell, by first and second system; sums of weights where trials weigh.
    lines : tuple of DecisionLine
    """

    names: tuple[str, str]
    n_tar: int
    n_non: int
    n_infinite: int
    tar: FloatArray | None
    non: FloatArray | None
    edges: tuple[FloatArray, FloatArray] | None = None
    tar_counts: FloatArray | None = None
    non_counts: FloatArray | None = None
    lines: tuple[DecisionLine, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return what ``deciban plot score-scatter --json`` prints."""
        return {name: getattr(self, name) for name in self.__slots__} | {"lines": [asdict(one) for one in self.lines]}


def score_pairs(
    scores: ArrayLike,
    is_target: ArrayLike,
    *,
    names: Sequence[str] = ("first", "second"),
    sample_weight: ArrayLike | None = None,
    model: ScoreModel | None = None,
    operating_points: Sequence[OperatingPoint] = (),
    most_points: int = MOST_POINTS,
) -> ScorePairs:
    """Put the scores of two systems beside each other.

    Parameters
    ----------
    scores : (n_trials, 2) array_like
    is_target : (n_trials,) array_like
    names : sequence of two str
    sample_weight : (n_trials,) array_like, optional
        How much each trial counts: 2 like two copies, 0 like none. Trials that weigh are always counted in cells, as
        dots are alike.
    model : ScoreModel, optional
        A trained linear fusion of both, in this order.
    operating_points : sequence of OperatingPoint
        Where decisions of the fusion are made, a line for each.
    most_points : int
        More trials are counted in cells.

    Returns
    -------
    ScorePairs

    Raises
    ------
    InputError
        If there are not two systems, a score is NaN, none is finite, or the model is no weighted sum of two systems.

    Examples
    --------
    >>> scores = [[3.0, 1.0], [1.0, 2.0], [2.0, -1.0], [-1.0, 1.0], [1.5, 0.0], [0.0, -2.0], [2.0, 0.5]]
    >>> pairs = score_pairs(scores, [1, 1, 1, 0, 0, 0, 0])
    >>> pairs.n_tar, pairs.non.tolist()
    (3, [[-1.0, 1.0], [1.5, 0.0], [0.0, -2.0], [2.0, 0.5]])
    """
    table = _validate.matrix(scores, "scores", "system").astype(np.float64, copy=False)
    _validate.require_no_nan(table, "scores")
    if table.shape[1] != 2 or len(names) != 2:
        raise InputError(f"scores: {table.shape[1]} systems. Two are drawn against each other.")
    truth, weight = _validate.labels(is_target, sample_weight, len(table))
    if weight is not None:
        counted = weight > 0
        table, truth, weight = table[counted], truth[counted], weight[counted]
    finite = np.isfinite(table).all(axis=1)
    if not finite.any():
        raise InputError("scores: no trial has finite scores of both systems.")
    tar, non = table[finite & truth], table[finite & ~truth]
    about = (str(names[0]), str(names[1])), len(tar), len(non), int(np.count_nonzero(~finite))
    lines = () if model is None else decision_lines(model, operating_points)
    if weight is None and len(tar) + len(non) <= most_points:
        return ScorePairs(*about, tar, non, lines=lines)
    x, y = (np.linspace(*_ends(table[finite, k]), N_CELLS + 1) for k in (0, 1))
    counts = [_counted(table, own, weight, (x, y)) for own in (finite & truth, finite & ~truth)]
    return ScorePairs(*about, None, None, (x, y), counts[0], counts[1], lines)


def _counted(
    table: FloatArray, own: BoolArray, weight: AnyArray | None, edges: tuple[FloatArray, FloatArray]
) -> FloatArray:
    """How many of these trials there are in each cell, or what they weigh."""
    found: FloatArray = np.histogram2d(
        table[own, 0], table[own, 1], bins=list(edges), weights=None if weight is None else weight[own]
    )[0]
    return found


def _ends(values: FloatArray) -> tuple[float, float]:
    """Lowest and highest; cells of equal values get some width."""
    low, high = float(values.min()), float(values.max())
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def decision_lines(model: ScoreModel, points: Sequence[OperatingPoint]) -> tuple[DecisionLine, ...]:
    """Where a linear fusion of two systems decides, at each operating point.

    Raises
    ------
    InputError
        If the model is no weighted sum of two systems, or both have no weight.
    """
    rule = "Pass a linear fusion of the two systems (deciban fuse), without quality measures."
    if not model.is_fusion or model.takes_quality or model.scores_kind != "two-class":
        raise InputError(f"model: a {type(model).__name__} has no line that decides. {rule}")
    model.require_fitted()
    start, first, second, other = np.asarray(model.transform(_PROBES), np.float64).tolist()
    weights = first - start, second - start
    if not np.isclose(other, start + 2.0 * weights[0] - 3.0 * weights[1], rtol=1e-9, atol=1e-9 * abs(start)):
        raise InputError(f"model: a {type(model).__name__} decides by no straight line. {rule}")
    if weights == (0.0, 0.0):
        raise InputError("model: neither system has a weight, so that it decides by no line.")
    return tuple(DecisionLine(one, weights, start, one.threshold) for one in points)
