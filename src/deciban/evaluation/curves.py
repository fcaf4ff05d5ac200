"""The points that plots draw, taken from a summary: borders of cells and levels follow from what it holds."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr

from deciban.core.ranks.counts import CountTable, SortedClass, corners
from deciban.core.ranks.operating import detection_cost
from deciban.core.resampling.cells import Cells, in_cells
from deciban.core.rules.expected import cross_entropy_curve
from deciban.evaluation.reliability import reliability_of
from deciban.evaluation.results import Curves
from deciban.evaluation.summary import Summary
from deciban.metrics.scores import ScoredTrials
from deciban.types import CountArray, FloatArray, IntArray

_HALF_WIDTH = 7.0
"""Prior log odds on both sides of 0 that plots show: priors from 0.0009 to 0.9991."""
_GRID = 561
_ENTROPY_GRID = 101
_WIDEST = 25.0
"""An operating point further out does not stretch the axis of all plots; its costs are in the tables."""
_LEVELS = 1001
_MANY = 8192
_CELLS_PER_NAT = 64
_LINEAR_BEYOND = 40.0
"""Log odds beyond which ln(1 + e^x) is x or 0 to the last digit: no cells are needed there."""


def draw_curves(summary: Summary, trials: ScoredTrials) -> Curves:
    """Return the points of every plot; the prior axis reaches every operating point that is not extreme.

    Parameters
    ----------
    summary : Summary
    trials : ScoredTrials
        Of the summary, as `trials_in_cells` has them.
    """
    log_odds = _axis_of(summary)
    half_width = float(log_odds[-1])
    entropy_log_odds = np.linspace(-half_width, half_width, _ENTROPY_GRID)
    errors = summary.errors(-log_odds)
    roc_p_fa, roc_p_miss = _thinned_roc(summary.table)
    bins, tar_density, non_density = _histogram(summary)
    levels = np.linspace(*_score_range(summary), _LEVELS)
    above = summary.errors(levels)
    return Curves(
        roc_p_fa=roc_p_fa,
        roc_p_miss=roc_p_miss,
        hull_p_fa=summary.rocch.p_fa,
        hull_p_miss=summary.rocch.p_miss,
        prior_log_odds=log_odds,
        act_error=detection_cost(errors.p_miss, errors.p_fa, log_odds, 1.0, 1.0, normalize=True),
        min_error=np.asarray(summary.rocch.min_dcf(prior_log_odds=log_odds)),
        entropy_log_odds=entropy_log_odds,
        act_cross_entropy=_bits(trials, entropy_log_odds),
        min_cross_entropy=_bits(summary.recalibrated, entropy_log_odds),
        pav=summary.pav,
        bins=bins,
        tar_density=tar_density,
        non_density=non_density,
        levels=levels,
        tar_above=1.0 - above.p_miss,
        non_above=above.p_fa,
        reliability=reliability_of(summary),
    )


def _axis_of(summary: Summary) -> FloatArray:
    return prior_axis([point.threshold for point in summary.figures.operating_points])


def prior_axis(thresholds: Sequence[float], n_places: int = _GRID) -> FloatArray:
    """Prior log odds of a plot, both sides of 0, that reach the Bayes thresholds that are not extreme."""
    half_width = min(max([_HALF_WIDTH, *(math.ceil(abs(threshold)) + 1.0 for threshold in thresholds)]), _WIDEST)
    return np.linspace(-half_width, half_width, n_places)


def _bits(trials: ScoredTrials, log_odds: FloatArray) -> FloatArray:
    with np.errstate(over="ignore"):  # nats near the largest float
        return cross_entropy_curve(trials.tar, trials.non, log_odds) / math.log(2)


def _thinned_roc(table: CountTable) -> tuple[FloatArray, FloatArray]:
    """The corners next to each of 4096 lines on either probit axis: what lies between is smaller than a pixel."""
    n_fa, n_miss = corners(table.n_tar, table.n_non)
    crossed = corners_to_draw(n_fa, n_miss)
    kept = np.unique(np.clip(np.concatenate((crossed - 1, crossed, [0, len(n_fa) - 1])), 0, len(n_fa) - 1))
    return n_fa[kept] / n_fa[0], n_miss[kept] / n_miss[-1]


def drawn_lines() -> FloatArray:
    """Rates beside which the corners of the ROC are drawn, ascending."""
    found: FloatArray = ndtr(np.linspace(-6.0, 6.0, 4097))
    return found


def corners_to_draw(n_fa: CountArray, n_miss: CountArray) -> IntArray:
    """The first corner of the ROC beyond each line of either axis; the one before it is drawn, too.

    Parameters
    ----------
    n_fa, n_miss : (n_corners,) arrays
        From accept-all to reject-all.
    """
    lines = drawn_lines()
    return np.concatenate(
        (np.searchsorted(n_miss, lines * n_miss[-1]), len(n_fa) - np.searchsorted(n_fa[::-1], lines * n_fa[0]))
    )


def _score_range(summary: Summary) -> tuple[float, float]:
    """Lowest and highest finite score, halved where their difference would overflow; (0, 0) if there is none."""
    low, high = summary.finite_range or (0.0, 0.0)
    return (low, high) if math.isfinite(high - low) else (low / 2, high / 2)


def _histogram(summary: Summary) -> tuple[FloatArray, FloatArray, FloatArray]:
    low, high = _score_range(summary)
    if high - low <= max(1e-9 * max(abs(low), abs(high)), 1e-300):
        margin = 0.5 * max(1.0, abs(high))
        low, high = low - margin, high + margin
    classes = (summary.ranks.tar, summary.ranks.non)
    n_bins = np.clip(4 * min(one.total for one in classes) ** (1 / 3), 20, 100)
    bins = np.linspace(low, high, int(n_bins) + 1)
    edges = np.append(bins[:-1], np.nextafter(high, np.inf))
    tar, non = (np.diff(c.below(edges)) / c.total / (bins[1] - bins[0]) for c in classes)
    return bins, tar, non


def trials_in_cells(summary: Summary) -> ScoredTrials:
    """Many trials as few weighted ones: all trials of a narrow cell of scores become their mean.

    The logarithmic cost bends by at most 1/4 per nat squared, so a cell of width h moves a mean by less than
    h^2 / 32 nats; where the cost is a straight line or 0, beyond ``_LINEAR_BEYOND``, cells may be wide.
    """
    if summary.n_tar + summary.n_non <= _MANY:
        return summary.ranks.trials
    reach = float(_axis_of(summary)[-1]) + _LINEAR_BEYOND
    edges = np.linspace(-reach, reach, 2 * round(reach * _CELLS_PER_NAT) + 1)
    return ScoredTrials(_class_in_cells(summary.ranks.tar, edges), _class_in_cells(summary.ranks.non, edges))


def _class_in_cells(trials: SortedClass, edges: FloatArray) -> tuple[FloatArray, CountArray]:
    """Mean scores and trials of the cells that are filled; infinite scores have cells of their own."""
    largest = np.finfo(np.float64).max
    counts, means = in_cells(trials, Cells(np.concatenate(([-largest], edges, [np.inf]))))
    return means[counts > 0], counts[counts > 0]
