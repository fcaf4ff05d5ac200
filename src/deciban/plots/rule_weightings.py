"""The threshold weighting of training objectives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from deciban.calibration import RuleWeighting
from deciban.errors import InputError
from deciban.plots.axes import GREY, Canvas, Style
from deciban.plots.prior_curves import write_priors

_SIZE = (6.0, 3.6)
_WIDEST = 20.0
"""Nats on both sides of 0 beyond which the axis goes only for the mode of a weighting."""

_CURVE, _RANGE = "weighting", "central range"
_ROW = 0.03
_BAR: Style = {"linewidth": 3.0, "solid_capstyle": "butt"}


def omega(weighting: RuleWeighting | Sequence[RuleWeighting], ax: Axes | None = None, **line_kw: Any) -> Axes:
    """Draw how much training objectives care for each threshold (Bruemmer and Doddington 2013, figure 1).

    Parameters
    ----------
    weighting : RuleWeighting or sequence of RuleWeighting
        From `deciban.calibration.rule_weighting`, or `Rule.weighting`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    **line_kw
        Properties of the curve of each weighting.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If there is no weighting.

    Notes
    -----
    Each curve has area 1. The bar below it is the central range with 90 % of the weight. Dash-dotted lines: Bayes
    thresholds of the operating points of the weightings; those further than 20 nats from 0 may lie outside.

    Examples
    --------
    >>> from deciban.calibration import rule_weighting
    >>> log, brier = (rule_weighting(alpha=a, beta=a, p_target=0.01, operating_points=[0.01]) for a in (1, 2))
    >>> omega([log, brier]).get_legend().get_texts()[1].get_text()
    '(2, 2) at prior 0.01'
    """
    weightings = [weighting] if isinstance(weighting, RuleWeighting) else list(weighting)
    if not weightings:
        raise InputError("weighting: there is none to draw. Pass what rule_weighting(...) returns.")
    for one in weightings:
        if not isinstance(one, RuleWeighting):
            raise InputError(
                f"weighting: expected RuleWeightings, got {type(one).__name__}; rule_weighting(...) makes one."
            )
    drawing = Canvas([one.name for one in weightings], ax, line_kw, size=_SIZE)
    ax = drawing.ax
    for one, mark in zip(weightings, drawing.marks, strict=True):
        ax.plot(one.threshold, one.density, gid=_CURVE, **mark.main)
    _ranges(ax, weightings, [mark.color for mark in drawing.marks])
    drawing.keep_limits(_reach(weightings))
    drawing.explain("90 % of the weight", color=GREY, **_BAR)
    drawing.mark_points({weight.threshold for one in weightings for weight in one.points}, "operating point")
    write_priors(ax, sign=-1)
    return drawing.finish("Threshold on the log-likelihood ratio (nats)", "Weight (per nat)")


def _reach(weightings: Sequence[RuleWeighting]) -> tuple[float, float]:
    """The central ranges with room on both sides, no further than is useful, and operating points."""
    margin = 0.3 * max(one.most[1] - one.most[0] for one in weightings)
    low, high = min(one.most[0] for one in weightings) - margin, max(one.most[1] for one in weightings) + margin
    thresholds = [weight.threshold for one in weightings for weight in one.points]
    points = [threshold for threshold in thresholds if abs(threshold) <= _WIDEST]
    modes = [one.mode for one in weightings]
    low = min([max(low, -_WIDEST), *(place - 1.0 for place in (*points, *modes))])
    high = max([min(high, _WIDEST), *(place + 1.0 for place in (*points, *modes))])
    return low, high


def _ranges(ax: Axes, weightings: Sequence[RuleWeighting], colors: Sequence[Any]) -> None:
    """Draw a bar for each central range under the curves, and make room for them."""
    for one, color in zip(weightings, colors, strict=True):
        ax.plot(one.most, [0.0, 0.0], color=color, transform=ax.get_xaxis_transform(), gid=_RANGE, **_BAR)
    bars = [line for line in ax.lines if line.get_gid() == _RANGE]
    for row, line in enumerate(reversed(bars), start=1):
        line.set_ydata([row * _ROW] * 2)
    top = 1.06 * max(float(np.max(line.get_ydata())) for line in ax.lines if line.get_gid() == _CURVE)
    share = (len(bars) + 1) * _ROW
    ax.set_ylim(-top * share / (1.0 - share), top)
    ax.yaxis.set_major_formatter(lambda value, _position: f"{value:.4g}" if value >= 0 else "")
