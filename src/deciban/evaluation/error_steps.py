"""Errors at any threshold: counts between neighbouring scores or, of many trials, at thresholds of a narrow grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deciban.core.by_value import ByValue
from deciban.types import CountArray, FloatArray

if TYPE_CHECKING:
    from deciban.evaluation.summary import Summary

REACH = 30.0
"""Nats on both sides of 0 in which thresholds lie: priors down to 1e-13."""

_MOST = 1 << 16
"""Scores that are kept."""

_REACH_OF_GRID, _STEP = 16.0, 2.0**-8


@dataclass(frozen=True, slots=True, eq=False)
class ErrorSteps(ByValue):
    """Misses and false alarms as functions of the threshold.

    Attributes
    ----------
    thresholds : (n,) array
        Ascending, in nats: all different scores, or a grid.
    n_miss, n_fa : (n + 1,) arrays
        Errors at every threshold, and at one above the last.
    is_exact : bool
        True if a threshold between two neighbours makes the errors of the upper one: they are scores. Otherwise its
        errors lie between those of both.
    """

    thresholds: FloatArray
    n_miss: CountArray
    n_fa: CountArray
    is_exact: bool

    @property
    def reach(self) -> float:
        """Thresholds up to which errors are known, on both sides of 0."""
        return REACH if self.is_exact else _REACH_OF_GRID

    def thinned(self, every: int) -> ErrorSteps:
        """Return the errors at one of so many thresholds.

        Examples
        --------
        >>> steps = ErrorSteps(np.array([-1.0, 0.0, 1.0]), np.arange(4), np.arange(3, -1, -1), is_exact=True)
        >>> thin = steps.thinned(2)
        >>> thin.thresholds.tolist(), thin.n_fa.tolist(), thin.is_exact
        ([-1.0, 1.0], [3, 1, 0], False)
        """
        kept = np.arange(0, len(self.thresholds), every)
        ends = np.append(kept, len(self.thresholds))
        return ErrorSteps(self.thresholds[kept], self.n_miss[ends], self.n_fa[ends], is_exact=False)


def grid_of_thresholds() -> FloatArray:
    """Thresholds at which errors of many trials are counted; the last one ends the grid.

    Examples
    --------
    >>> grid = grid_of_thresholds()
    >>> len(grid), float(grid[0]), float(grid[-1])
    (8193, -16.0, 16.0)
    """
    n = round(_REACH_OF_GRID / _STEP)
    return np.asarray(_STEP * np.arange(-n, n + 1))


def error_steps(summary: Summary) -> ErrorSteps:
    """Return the errors at all thresholds.

    Parameters
    ----------
    summary : Summary

    Examples
    --------
    >>> from deciban.evaluation.summary import summarize
    >>> steps = error_steps(summarize([1.0, 2.0, 2.0], [0.0, 1.0, -1.0]))
    >>> steps.thresholds.tolist(), steps.n_miss.tolist(), steps.n_fa.tolist()
    ([-1.0, 0.0, 1.0, 2.0], [0, 0, 0, 1, 3], [3, 2, 1, 0, 0])
    """
    classes = summary.ranks.tar, summary.ranks.non
    ends = np.array([-REACH, REACH])
    inside = [one.scores[slice(*one.positions(ends).tolist())] for one in classes]
    if sum(map(len, inside)) <= _MOST:
        thresholds, is_exact = np.union1d(*inside).astype(np.float64), True
        last = np.append(thresholds, REACH)
    else:
        last = grid_of_thresholds()
        thresholds, is_exact = last[:-1], False
    errors = summary.errors(last)
    return ErrorSteps(thresholds, errors.n_miss, errors.n_fa, is_exact)
