"""Plots over the scores: histogram, PAV and Tippett."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from deciban.evaluation import Evaluation
from deciban.evaluation.curve_bands import band_of
from deciban.plots.axes import GREY, THIN_WIDTH, Canvas, Drawable, Drawing, Ends, System, in_percent
from deciban.types import FloatArray

_SIZE = (6.0, 4.0)
_FAR = 1e307
"""Limit of score axes: matplotlib takes differences and products of limits, which must not overflow."""


def histogram(result: Drawable, ax: Axes | None = None, **line_kw: Any) -> Axes:
    """Draw the densities of target and non-target scores.

    Parameters
    ----------
    result : Evaluation, Results or sequence of Evaluation
        One or several systems, each in its own colour.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    **line_kw
        Properties of the outline of the target scores of each system.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    Each class has area 1, however many trials it has. Infinite scores are left out, and the legend says how many.

    Examples
    --------
    >>> import deciban
    >>> histogram(deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])).get_xlabel()
    'Score'
    """
    drawing = Drawing(result, ax, line_kw, size=_SIZE, width_of_many=THIN_WIDTH)
    ax = drawing.ax
    for system in drawing.systems:
        curves = system.curves
        tar, non = _outline(curves.bins, curves.tar_density), _outline(curves.bins, curves.non_density)
        if len(drawing.systems) == 1:
            for outline, opacity in ((tar, 0.35), (non, 0.12)):
                ax.fill_between(*outline, step="post", color=system.color, alpha=opacity, linewidth=0, zorder=1.5)
        ax.plot(*tar, drawstyle="steps-post", **system.noted(_infinite(system, "left out")))
        ax.plot(*non, drawstyle="steps-post", **system.thin(zorder=2.4))
    drawing.explain("target")
    drawing.explain("non-target", linestyle="--")
    bins = np.concatenate([curves.bins for curves in drawing.curves])
    highest = max(float(max(curves.tar_density.max(), curves.non_density.max())) for curves in drawing.curves)
    drawing.keep_limits(_with_margin(float(bins.min()), float(bins.max())), (0.0, 1.06 * highest or 1.0))
    return drawing.finish("Score", "Density (per unit of score)")


def pav(result: Drawable, ax: Axes | None = None, *, bands: bool = True, **line_kw: Any) -> Axes:
    """Draw the log-likelihood ratio that the PAV algorithm gives to each score.

    Parameters
    ----------
    result : Evaluation, Results or sequence of Evaluation
        One or several systems, each in its own colour.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    bands : bool
        Whether the band around each curve is shaded, where it is known which units trials share.
    **line_kw
        Properties of the staircase of each system.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    Each step is a block of scores with one optimal log-likelihood ratio. Calibrated scores follow the dotted line
    ``y = x``. Blocks of one class have an infinite ratio: their steps lie on the edge and end in an arrow. Dash-dotted
    lines: Bayes thresholds of the operating points. Source: thesis appendix C.

    Examples
    --------
    >>> import deciban
    >>> pav(deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])).get_ylabel()
    'Log-likelihood ratio after PAV (nats)'
    """
    drawing = Drawing(result, ax, line_kw, size=_SIZE)
    ax = drawing.ax
    drawing.keep_limits(*pav_limits([system.evaluation for system in drawing.systems]))
    x, y = ax.get_xlim(), ax.get_ylim()
    for system in drawing.systems:
        draw_blocks(drawing, system, x, y)
        if bands:
            _shade_blocks(drawing, system, x, y)
    if drawing.explain("y = x (calibrated)", color="black", linestyle=":"):
        ax.axline((0.0, 0.0), slope=1.0, color="black", linestyle=":", linewidth=1.2, zorder=2.2)
    drawing.mark_points(drawing.thresholds, "Bayes threshold", across=True)
    return drawing.finish("Score", "Log-likelihood ratio after PAV (nats)")


def tippett(result: Drawable, ax: Axes | None = None, *, bands: bool = True, **line_kw: Any) -> Axes:
    """Draw the share of each class at or above each score.

    Parameters
    ----------
    result : Evaluation, Results or sequence of Evaluation
        One or several systems, each in its own colour.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    bands : bool
        Whether the band around each curve is shaded, where it is known which units trials share.
    **line_kw
        Properties of the target curve of each system.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    Where the curves cross the line at 0, the distance of the target curve from 100 % and the height of the
    non-target curve are the rates of misleading evidence.

    Examples
    --------
    >>> import deciban
    >>> tippett(deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])).get_ylabel()
    'Trials at or above the score (%)'
    """
    drawing = Drawing(result, ax, line_kw, size=_SIZE)
    ax = drawing.ax
    levels = np.concatenate([curves.levels for curves in drawing.curves])
    low, high = _with_margin(float(levels.min()), float(levels.max()))
    drawing.keep_limits((low, high), (-0.01, 1.01))
    for system in drawing.systems:
        curves = system.curves
        ax.plot(*_prolonged(system, curves.tar_above, low, high), **system.noted(_infinite(system)))
        ax.plot(*_prolonged(system, curves.non_above, low, high), **system.thin())
        for name in ("tar_above", "non_above") if bands else ():
            share = getattr(curves, name)
            # Where no trial errs, or all do, the band is as wide as ever units allow: true, and no part of the curve.
            seen = (share > 0.0) & (share < 1.0)
            drawing.shade(system, curves.levels, band_of(system.evaluation, name, share), system.known, where=seen)
    drawing.explain("target")
    drawing.explain("non-target", linestyle="--")
    if drawing.explain("llr 0", color="black", linestyle=":"):
        ax.axvline(0.0, color="black", linestyle=":", linewidth=1.2, zorder=1.5)
    ax.yaxis.set_major_formatter(in_percent)
    return drawing.finish("Score (log-likelihood ratio in nats)", "Trials at or above the score (%)")


def _outline(bins: FloatArray, density: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Corners of a histogram, each to be held until the next."""
    return np.append(bins[0], bins), np.concatenate(([0.0], density, [0.0]))


def _infinite(system: System, what: str = "") -> str:
    n_infinite = system.evaluation.n_infinite
    shown = f"{n_infinite:,}" if isinstance(n_infinite, int) else f"{n_infinite:,.1f}"
    return f"{shown} infinite {what}".strip() if n_infinite else ""


def _with_margin(low: float, high: float) -> Ends:
    margin = 0.04 * high - 0.04 * low or 0.5 * max(1.0, abs(high))
    return max(low - margin, -_FAR), min(high + margin, _FAR)


def _prolonged(system: System, above: FloatArray, low: float, high: float) -> tuple[FloatArray, FloatArray]:
    """Add the flat ends left of the lowest and right of the highest finite score, where that is known to be flat."""
    levels = system.curves.levels
    x, y = np.append(low, levels), np.append(above[0], above)
    if system.evaluation.n_infinite:
        return x, y
    return np.concatenate((x, [levels[-1], high])), np.concatenate((y, [0.0, 0.0]))


def pav_limits(evaluations: Sequence[Evaluation]) -> tuple[Ends, Ends]:
    """Return limits that hold all finite scores, all finite PAV llrs and all Bayes thresholds."""
    blocks = [evaluation.curves.pav for evaluation in evaluations]
    scores = np.concatenate([edge for block in blocks for edge in (block.low, block.high)])
    llrs = np.concatenate([block.llr for block in blocks])
    thresholds = [point.threshold for evaluation in evaluations for point in evaluation.operating_points]
    scores = scores[np.isfinite(scores)]
    llrs = np.concatenate((llrs[np.isfinite(llrs)], thresholds, [-1.0, 1.0]))
    x = _with_margin(float(scores.min()), float(scores.max())) if len(scores) else (-1.0, 1.0)
    reach = 1.15 * float(np.abs(llrs).max())
    return x, (-reach, reach)


def _steps(low: FloatArray, high: FloatArray) -> FloatArray:
    """Four places of each block: the riser before it, its ends, the riser behind it."""
    risers = high[:-1] + (low[1:] - high[:-1]) / 2
    left, right = np.append(low[0], risers), np.append(risers, high[-1])
    return np.stack((left, low, high, right), axis=1).ravel()


def _shade_blocks(drawing: Canvas, system: System, x: Ends, y: Ends) -> None:
    """Shade the band around blocks of finite llr."""
    blocks = system.curves.pav
    band = band_of(system.evaluation, "pav", np.clip(blocks.llr, *y))
    if band is not None:
        low, high = (np.repeat(np.where(np.isfinite(blocks.llr), one, np.nan), 4) for one in band)
        places = _steps(np.clip(blocks.low, *x), np.clip(blocks.high, *x))
        drawing.shade(system, places, (low, high), system.known)


def draw_blocks(drawing: Canvas, system: System, x: Ends, y: Ends) -> None:
    """Draw blocks ``low..high`` at their llr, with risers halfway between them; what is infinite lies on the edge."""
    blocks = system.curves.pav
    low, high = np.clip(blocks.low, *x), np.clip(blocks.high, *x)
    llr = np.clip(blocks.llr, *y)
    drawing.ax.plot(_steps(low, high), np.repeat(llr, 4), **system.main)
    single = (low == high) & np.isfinite(blocks.llr)
    dots = {"color": system.color, "marker": ".", "linestyle": "none", "zorder": 3}
    drawing.ax.plot(low[single], llr[single], **dots)
    for end, marker, edge in ((0, "v", y[0]), (-1, "^", y[1])):
        if np.isinf(blocks.llr[end]):
            place = float((low, high)[end][end])
            style = {"color": system.color, "markersize": 7, "clip_on": False, "zorder": 4}
            drawing.ax.plot([place], [edge], marker=marker, linestyle="none", **style)
            drawing.explain("infinite", marker="^", linestyle="none", color=GREY)
