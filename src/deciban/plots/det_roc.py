"""DET and ROC curves, and the probit axes on which the DET curve of normally distributed scores is a straight line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import NullLocator
from scipy.special import ndtr, ndtri

from deciban.core.ranks.hull import FEW_ERRORS
from deciban.evaluation.bands import hull_bands
from deciban.plots.axes import GREY, POINT_MARKERS, Drawable, Drawing, Ends, Outline, Style, System, in_percent
from deciban.types import FloatArray

LOWEST, HIGHEST = 1e-6, 0.99
"""Widest limits of an axis, as fractions."""
_EDGE = 1e-12
_TICKS = (0.1, 1, 10, 40, 5, 20, 60, 80, 2, 0.01, 0.001, 0.0001, 90)
_MORE_TICKS = (0.5, 95, 98, 99, 0.2, 0.05, 0.02, 30, 3, 15, 50, 70)
"""Percentages, the most wanted first."""
_SHORT = 0.02
_LEVELS = ndtr(np.linspace(-6.0, 6.0, 601))


def probit(p: FloatArray) -> FloatArray:
    """Return the normal deviate below which a share ``p`` lies; 0 and 1 go far outside any limits, not to infinity."""
    return np.asarray(ndtri(np.clip(p, _EDGE, 1.0 - _EDGE)))


def set_probit_axes(ax: Axes, x: Ends, y: Ends) -> None:
    """Make both axes probit axes with the limits ``x`` and ``y``, fractions, and tick marks in percent."""
    ax.set_xscale("function", functions=(probit, ndtr))
    ax.set_yscale("function", functions=(probit, ndtr))
    ax.set_xlim(*x)
    ax.set_ylim(*y)
    width, height = np.diff(probit(np.array([x, y])))[:, 0]
    _set_ticks(ax.xaxis, *x, 0.02)
    # Labels of the other axis stand one above the other: each takes the same space, about two letters.
    _set_ticks(ax.yaxis, *y, 0.02 * min(width / height, 1.5))


def limits(rates: FloatArray, other: FloatArray, marked: list[float]) -> Ends:
    """Choose the limits of the axis of ``rates`` so that the curve fills it, ``marked`` rates included.

    The highest rate shown is the one at which the ``other`` error rate is down to its smallest value above 0.
    """
    inside = (rates > 0) & (rates < 1)
    seen = np.concatenate((rates[inside], [rate for rate in marked if 0 < rate < 1]))
    low = min(0.1, float(seen.min()) / 1.5) if seen.size else 0.01
    high = max([float(rates[inside & (other > 0)].max(initial=0.05)), *(rate for rate in marked if rate < 1)])
    return max(low, LOWEST), min(float(ndtr(ndtri(min(high, HIGHEST)) + 0.1)), HIGHEST)


def bent(p_fa: FloatArray, p_miss: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Add points to a curve that is straight between its corners on linear axes: on probit axes it is bent there.

    ``p_fa`` falls and ``p_miss`` rises along the curve. A curve whose edges are all horizontal, vertical or short
    comes back as it is.
    """
    if not np.any(np.minimum(np.abs(np.diff(probit(p_fa))), np.abs(np.diff(probit(p_miss)))) > _SHORT):
        return p_fa, p_miss
    x = np.concatenate((p_fa, _LEVELS, np.interp(_LEVELS, p_miss, p_fa)))
    y = np.concatenate((p_miss, np.interp(_LEVELS, p_fa[::-1], p_miss[::-1]), _LEVELS))
    order = np.lexsort((y, -x))
    return x[order], y[order]


def _set_ticks(axis: Axis, low: float, high: float, letter: float) -> None:
    """Set as many tick marks as fit; ``letter`` is the share of the axis that a letter of a label takes."""
    ends = probit(np.array([low, high]))
    ticks: dict[float, float] = {}
    for percent in (*_TICKS, *_MORE_TICKS):
        place = float((ndtri(percent / 100) - ends[0]) / (ends[1] - ends[0]))
        gaps = (abs(place - at) - letter * (len(f"{percent:g}{tick:g}") / 2 + 1) for tick, at in ticks.items())
        if 0 <= place <= 1 and all(gap >= 0 for gap in gaps):
            ticks[percent] = place
    axis.set_ticks([tick / 100 for tick in ticks], [f"{tick:g}" for tick in ticks])
    axis.set_minor_locator(NullLocator())


_HULL = "convex hull (ROCCH)"


def det(result: Drawable, ax: Axes | None = None, *, bands: bool = True, **line_kw: Any) -> Axes:
    """Draw miss rate over false-alarm rate on probit axes: the DET curve.

    Parameters
    ----------
    result : Evaluation, Results or sequence of Evaluation
        One or several systems, each in its own colour.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default. Both axes become probit axes; data stay fractions.
    bands : bool
        Whether the band around each curve is shaded, where it is known which units trials share.
    **line_kw
        Properties of the steppy curve of each system.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    Solid: all distinct thresholds. Thin dashed: convex hull, with the EER as a star. Other markers: actual errors at
    the Bayes threshold of each operating point. Beyond the dotted lines there are fewer than 30 errors of a kind
    (thesis appendix B). Rates of 0 or 1 lie at infinity; markers that would stand there stand at the edge.

    References
    ----------
    A. Martin et al., The DET curve in assessment of detection task performance, Eurospeech 1997.

    Examples
    --------
    >>> import deciban
    >>> ax = det(deciban.evaluate([1.0, 2.5], [0.0, 2.0]), color="black")
    >>> ax.lines[0].get_xdata().tolist(), ax.lines[0].get_ydata().tolist()
    ([1.0, 0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5, 1.0])
    """
    drawing = Drawing(result, ax, line_kw, size=(5.6, 5.2))
    ax = drawing.ax
    x, y = _det_limits(drawing)
    set_probit_axes(ax, x, y)
    width, height = np.diff(probit(np.array([x, y])))[:, 0]
    drawing.equalize(height / width)
    for system in drawing.systems:
        curves = system.curves
        note = "" if system.evaluation.eer > 0 else "no errors: outside the frame"
        ax.plot(*bent(curves.roc_p_fa, curves.roc_p_miss), **system.noted(note))
        ax.plot(*bent(curves.hull_p_fa, curves.hull_p_miss), **system.thin())
        if bands:
            _shade_hull(drawing, system, bent)
    drawing.explain(_HULL, linestyle="--")
    _few_errors(drawing, x, y)
    _markers(drawing, (x, y))
    return drawing.finish("False-alarm rate (%)", "Miss rate (%)")


def roc(result: Drawable, ax: Axes | None = None, *, bands: bool = True, **line_kw: Any) -> Axes:
    """Draw miss rate over false-alarm rate on linear axes: the ROC with its convex hull.

    Parameters
    ----------
    result : Evaluation, Results or sequence of Evaluation
        One or several systems, each in its own colour.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    bands : bool
        Whether the band around each curve is shaded, where it is known which units trials share.
    **line_kw
        Properties of the steppy curve of each system.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    The miss rate, not the detection rate, is on the vertical axis: the area under the curve is an error. Where the
    EER is small the plot shows the corner around it.

    Examples
    --------
    >>> import deciban
    >>> ax = roc(deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0]))
    >>> ax.lines[0].get_ydata().round(3).tolist()
    [0.0, 0.0, 0.333, 1.0]
    """
    drawing = Drawing(result, ax, line_kw, size=(5.6, 5.2))
    ax = drawing.ax
    top = _roc_limit(max(system.evaluation.eer for system in drawing.systems))
    drawing.keep_limits((-0.01 * top, 1.01 * top), (-0.01 * top, 1.01 * top))
    for system in drawing.systems:
        curves = system.curves
        ax.plot(curves.roc_p_fa, curves.roc_p_miss, **system.main)
        ax.plot(curves.hull_p_fa, curves.hull_p_miss, **system.thin())
        if bands:
            _shade_hull(drawing, system, lambda p_fa, p_miss: (p_fa, p_miss))
    drawing.explain(_HULL, linestyle="--")
    _markers(drawing, None)
    drawing.equalize(1.0)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(in_percent)
    return drawing.finish("False-alarm rate (%)", "Miss rate (%)")


def _shade_hull(drawing: Drawing, system: System, line: Callable[[FloatArray, FloatArray], Outline]) -> None:
    """Shade between the hulls at both ends of what is likely, each drawn as a line."""
    found, known = hull_bands(system.evaluation), system.known
    if found is not None and known is not None:
        low, high = (line(*rates) for rates in found)
        drawing.shade_between(system, low, high, known)


def _det_limits(drawing: Drawing) -> tuple[Ends, Ends]:
    results = [system.evaluation for system in drawing.systems]
    p_fa = np.concatenate([result.curves.roc_p_fa for result in results])
    p_miss = np.concatenate([result.curves.roc_p_miss for result in results])
    points = [point for result in results for point in result.operating_points]
    eers = [one.eer for one in results]
    around = [rate for eer in eers for rate in (eer, min(3 * eer, HIGHEST))]
    x = limits(p_fa, p_miss, [*around, *(point.p_fa for point in points)])
    y = limits(p_miss, p_fa, [*around, *(point.p_miss for point in points)])
    return drawing.wider(x, drawing.ax.get_xlim()), drawing.wider(y, drawing.ax.get_ylim())


def _roc_limit(eer: float) -> float:
    """Choose a round limit that leaves room around the equal error rate; everything if there is no error."""
    return next((limit for limit in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5) if 0 < 6 * eer <= limit), 1.0)


def _few_errors(drawing: Drawing, x: Ends, y: Ends) -> None:
    """Draw the rates at which 30 errors of a kind remain, in the system's colour only where systems differ."""
    sizes = {(system.evaluation.n_tar, system.evaluation.n_non) for system in drawing.systems}
    drawn = False
    for system in drawing.systems if len(sizes) > 1 else drawing.systems[:1]:
        color = system.color if len(sizes) > 1 else "0.5"
        style: Style = {"color": color, "linewidth": 1.0, "linestyle": ":", "zorder": 1.5}
        at_x, at_y = FEW_ERRORS / system.evaluation.n_non, FEW_ERRORS / system.evaluation.n_tar
        if x[0] < at_x < x[1]:
            drawing.ax.axvline(at_x, **style)
        if y[0] < at_y < y[1]:
            drawing.ax.axhline(at_y, **style)
        drawn |= x[0] < at_x < x[1] or y[0] < at_y < y[1]
    if drawn:
        drawing.explain(f"{FEW_ERRORS} errors (rule of {FEW_ERRORS})", linestyle=":")


def _markers(drawing: Drawing, edges: tuple[Ends, Ends] | None) -> None:
    """Mark the EER and the actual errors at each operating point; with ``edges`` those outside stand at the edge."""
    plain: Style = {"color": GREY, "markeredgecolor": "white", "markeredgewidth": 0.7, "linestyle": "none"}

    def mark(system: System, rates: tuple[float, float], name: str, style: Style) -> None:
        if edges is not None:
            rates = float(np.clip(rates[0], *edges[0])), float(np.clip(rates[1], *edges[1]))
        own: Style = {"zorder": 4, "color": system.color, "clip_on": edges is None}
        drawing.ax.plot([rates[0]], [rates[1]], **{**plain, **style, **own})
        drawing.explain(name, **{**plain, **style})

    for system in drawing.systems:
        mark(system, (system.evaluation.eer,) * 2, "EER", {"marker": "*", "markersize": 11})
    for system in drawing.systems:
        for i, point in enumerate(system.evaluation.operating_points):
            style = {"marker": POINT_MARKERS[i % len(POINT_MARKERS)], "markersize": 6.5}
            mark(system, (point.p_fa, point.p_miss), f"actual, {point}", style)
