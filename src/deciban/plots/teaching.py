"""Pictures of where figures come from: the hull and its tangents, the least cost with the EER on top, parts of Cllr."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from deciban.core.ranks.operating import default_error
from deciban.evaluation import Evaluation
from deciban.evaluation.bands import band_of
from deciban.plots.axes import Drawable, Drawing, Style, in_percent, systems_of
from deciban.plots.paper import letters
from deciban.plots.prior_curves import draw_reference, top_of, write_priors

_LABEL: Style = {"ha": "left", "va": "center"}
_MOST_WITH_TANGENTS = 3
TANGENT: Style = {"linestyle": ":", "linewidth": 1.3, "zorder": 2.2}


def rocch(result: Drawable, ax: Axes | None = None, **line_kw: Any) -> Axes:
    """Draw how the convex hull of the ROC gives least costs: steps, hull, and the tangent of each operating point.

    Parameters
    ----------
    result : Evaluation, Results or sequence of Evaluation
        One or several systems, each in its own colour.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    **line_kw
        Properties of the steps of each system.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    All points on a dotted line cost the same, ``p_miss + exp(threshold) p_fa`` with the Bayes threshold of the
    operating point; it touches the hull where that cost is least. More than three systems are drawn without these
    lines. The hull meets the diagonal at the EER. Source: thesis section 7.2.

    Examples
    --------
    >>> import deciban
    >>> rocch(deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])).get_xlabel()
    'False-alarm rate (%)'
    """
    drawing = Drawing(result, ax, line_kw, size=(5.6, 5.2))
    ax = drawing.ax
    drawing.keep_limits((-0.01, 1.01), (-0.01, 1.01))
    has_tangents = len(drawing.systems) <= _MOST_WITH_TANGENTS
    for system in drawing.systems:
        curves = system.curves
        ax.plot(curves.roc_p_fa, curves.roc_p_miss, **system.main)
        ax.plot(curves.hull_p_fa, curves.hull_p_miss, **system.thin(marker=".", markersize=4))
        for point in system.evaluation.operating_points if has_tangents else ():
            # Beyond these the tangent is a side of the square, and exp would overflow.
            slope = math.exp(min(max(point.threshold, -30.0), 30.0))
            cost = point.min_dcf * min(1.0, slope)
            if math.isfinite(cost):
                ax.plot([0.0, cost / slope], [cost, 0.0], color=system.color, **TANGENT)
    drawing.explain("convex hull", linestyle="--", marker=".")
    if has_tangents:
        drawing.explain("equal least cost of an operating point", **TANGENT)
    if drawing.explain("equal error rates", color="0.6", linestyle="-."):
        ax.plot([0.0, 1.0], [0.0, 1.0], color="0.6", linestyle="-.", linewidth=0.9, zorder=1.5)
    drawing.equalize(1.0)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(in_percent)
    return drawing.finish("False-alarm rate (%)", "Miss rate (%)")


def minimum_cost(result: Drawable, ax: Axes | None = None, *, bands: bool = True, **line_kw: Any) -> Axes:
    """Draw the least Bayes error rate over the prior log odds, with the EER at its top.

    Parameters
    ----------
    result : Evaluation, Results or sequence of Evaluation
        One or several systems, each in its own colour.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    bands : bool
        Whether the band around each curve is shaded, where it is known which units trials share.
    **line_kw
        Properties of the curve of each system.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    No prior makes a system err more often than its EER, if thresholds are chosen well: the dash-dotted line lies on the
    curve's highest point. Source: BOSARIS paper, fig. 4.

    Examples
    --------
    >>> import deciban
    >>> minimum_cost(deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])).get_ylabel()
    'Least Bayes error rate (%)'
    """
    drawing = Drawing(result, ax, line_kw, size=(6.0, 4.0))
    least = [curves.min_error * default_error(curves.prior_log_odds) for curves in drawing.curves]
    for system, error in zip(drawing.systems, least, strict=True):
        log_odds = system.curves.prior_log_odds
        drawing.ax.plot(log_odds, error, **system.main)
        eer = system.evaluation.eer
        drawing.ax.axhline(eer, **system.thin(linestyle="-."))
        band = band_of(system.evaluation, "min_error", system.curves.min_error) if bands else None
        if band is not None:
            scale = default_error(log_odds)
            drawing.shade(system, log_odds, (band[0] * scale, band[1] * scale), system.known)
    drawing.explain("EER", linestyle="-.")
    draw_reference(drawing, drawing.reach, default_error)
    top = top_of(least, peak=0.5)
    drawing.keep_limits((-drawing.reach, drawing.reach), (-0.01 * top, top))
    write_priors(drawing.ax)
    drawing.ax.yaxis.set_major_formatter(in_percent)
    return drawing.finish("Prior log odds (nats)", "Least Bayes error rate (%)")


def cllr_bars(result: Drawable, ax: Axes | None = None, **line_kw: Any) -> Axes:
    """Draw a bar for each system: what Cllr loses to discrimination, and on top of it to calibration.

    Parameters
    ----------
    result : Evaluation, Results or sequence of Evaluation
        One or several systems, the first one at the top.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    **line_kw
        ``color`` of the bars; other properties of lines do nothing here.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    The full part is min Cllr, the hatched one the calibration loss; the whole bar is Cllr, the area under the APE curve
    over ``2 ln 2``. Hatches tell the parts in grey print. An infinite Cllr is written beside its bar, which ends at min
    Cllr. The dotted line is at 1 bit, what is lost without scores. Source: thesis section 7.7.4.

    Examples
    --------
    >>> import deciban
    >>> cllr_bars(deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])).get_xlabel()
    'Cllr (bits)'
    """
    n_systems = len(systems_of(result, Evaluation))
    drawing = Drawing(result, ax, line_kw, size=(6.0, 1.2 + 0.32 * n_systems), by_rows=True)
    ax, names, ends = drawing.ax, [], [1.0]
    first = len(ax.get_yticks()) if not drawing.is_fresh else 0
    for place, system in enumerate(drawing.systems, first):
        one = system.evaluation
        low = one.min_cllr
        whole = one.cllr if math.isfinite(one.cllr) else low
        ax.barh(place, low, 0.7, color=system.color, edgecolor="black", linewidth=0.6)
        ax.barh(place, whole - low, 0.7, left=low, color="white", edgecolor=system.color, hatch="////", linewidth=0.6)
        ax.plot([0.0], [place], color=system.color, linestyle="none", label="_bar")  # its colour counts as taken
        ax.annotate(
            f"{one.cllr:.3g}", (whole, place), (4, 0), textcoords="offset points", fontsize=letters(8), **_LABEL
        )
        names.append(str(system.main["label"]))
        ends.append(whole)
    if not drawing.is_fresh:
        names = [text.get_text() for text in ax.get_yticklabels()] + names
    ax.set_yticks(np.arange(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.grid(visible=False, axis="y")
    drawing.keep_limits((0.0, 1.12 * max(ends)))
    drawing.explain("discrimination (min Cllr)", linewidth=7)
    drawing.explain("calibration loss (hatched)", linewidth=7, linestyle=(0, (0.2, 0.2)))
    if drawing.explain("default (llr 0)", color="black", **TANGENT):
        ax.axvline(1.0, color="black", **TANGENT)
    return drawing.finish("Cllr (bits)", "")
