"""Two-class curves: DET and ROC, and normalized Bayes error, APE and ECE over the prior."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import NullLocator
from scipy.special import entr, expit, ndtr, ndtri

from deciban.biometrics import Cmc
from deciban.core.ranks.roc import FEW_ERRORS, default_error
from deciban.errors import InputError
from deciban.evaluation import Evaluation
from deciban.evaluation.bands import band_of, hull_bands
from deciban.metrics.classification import precision_of
from deciban.plots import axes
from deciban.plots.files import style_ticks
from deciban.types import FloatArray

LOWEST, HIGHEST = 1e-6, 0.99
"""Widest limits of an axis, as fractions."""
_EDGE = 1e-12
_TICKS = (0.1, 1, 10, 40, 5, 20, 60, 80, 2, 0.01, 0.001, 0.0001, 90)
_MORE_TICKS = (0.5, 95, 98, 99, 0.2, 0.05, 0.02, 30, 3, 15, 50, 70)
"""Percentages, the most important first."""
_SHORT = 0.02
_LEVELS = ndtr(np.linspace(-6.0, 6.0, 601))


def probit(p: FloatArray) -> FloatArray:
    """Return the normal quantile of a share ``p``; 0 and 1 become finite values far outside any limits."""
    return np.asarray(ndtri(np.clip(p, _EDGE, 1.0 - _EDGE)))


def set_probit_axes(ax: Axes, x: axes.Ends, y: axes.Ends) -> None:
    """Set probit scales with the limits ``x`` and ``y``, fractions, and tick labels in percent."""
    ax.set_xscale("function", functions=(probit, ndtr))
    ax.set_yscale("function", functions=(probit, ndtr))
    ax.set_xlim(*x)
    ax.set_ylim(*y)
    width, height = np.diff(probit(np.array([x, y])))[:, 0]
    _set_ticks(ax.xaxis, *x, 0.02)
    # Labels of the vertical axis take the same height each, about two characters.
    _set_ticks(ax.yaxis, *y, 0.02 * min(width / height, 1.5))


def limits(rates: FloatArray, other: FloatArray, marked: list[float]) -> axes.Ends:
    """Choose the limits of the axis of ``rates`` so that the curve fills it, including ``marked`` rates.

    The upper limit is the rate at which the ``other`` error rate has its smallest value above 0.
    """
    inside = (rates > 0) & (rates < 1)
    seen = np.concatenate((rates[inside], [rate for rate in marked if 0 < rate < 1]))
    low = min(0.1, float(seen.min()) / 1.5) if seen.size else 0.01
    high = max([float(rates[inside & (other > 0)].max(initial=0.05)), *(rate for rate in marked if rate < 1)])
    return max(low, LOWEST), min(float(ndtr(ndtri(min(high, HIGHEST)) + 0.1)), HIGHEST)


def bent(p_fa: FloatArray, p_miss: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Add points to a curve with straight edges on linear axes, because the edges are bent on probit axes.

    ``p_fa`` falls and ``p_miss`` rises along the curve. If all edges are horizontal, vertical or short, the curve is
    returned unchanged.
    """
    if not np.any(np.minimum(np.abs(np.diff(probit(p_fa))), np.abs(np.diff(probit(p_miss)))) > _SHORT):
        return p_fa, p_miss
    x = np.concatenate((p_fa, _LEVELS, np.interp(_LEVELS, p_miss, p_fa)))
    y = np.concatenate((p_miss, np.interp(_LEVELS, p_fa[::-1], p_miss[::-1]), _LEVELS))
    order = np.lexsort((y, -x))
    return x[order], y[order]


def _set_ticks(axis: Axis, low: float, high: float, letter: float) -> None:
    """Set as many ticks as fit; ``letter`` is the width of a character as a share of the axis."""
    ends = probit(np.array([low, high]))
    ticks: dict[float, float] = {}
    for percent in (*_TICKS, *_MORE_TICKS):
        place = float((ndtri(percent / 100) - ends[0]) / (ends[1] - ends[0]))
        gaps = (abs(place - at) - letter * (len(f"{percent:g}{tick:g}") / 2 + 1) for tick, at in ticks.items())
        if 0 <= place <= 1 and all(gap >= 0 for gap in gaps):
            ticks[percent] = place
    axis.set_ticks([tick / 100 for tick in ticks])
    axis.set_minor_locator(NullLocator())


_HULL = "convex hull (ROCCH)"


def det(result: axes.Drawable, ax: Axes | None = None, *, bands: bool = True, **line_kw: object) -> Axes:
    """Draw miss rate over false-alarm rate on probit axes: the DET curve.

    Parameters
    ----------
    result : Evaluation, Results or sequence of Evaluation
        One or several systems, each in its own colour.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default. Both axes become probit axes; data stay fractions.
    bands : bool
        Shade the band around each curve, if the units of the trials are known.
    **line_kw
        Properties of the steppy curve of each system.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    Solid: all distinct thresholds. Thin dashed: convex hull, with the EER as a star. Other markers: actual errors at
    the Bayes threshold of each operating point. Beyond the dotted lines there are fewer than 30 errors of a kind
    (thesis appendix B). Rates of 0 or 1 are at infinity; their markers are drawn at the edge.

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
    drawing = axes.Drawing(result, ax, line_kw, size=(5.6, 5.2))
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


def roc(result: axes.Drawable, ax: Axes | None = None, *, bands: bool = True, **line_kw: object) -> Axes:
    """Draw miss rate over false-alarm rate on linear axes: the ROC with its convex hull.

    Parameters
    ----------
    result : Evaluation, Results or sequence of Evaluation
        One or several systems, each in its own colour.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    bands : bool
        Shade the band around each curve, if the units of the trials are known.
    **line_kw
        Properties of the steppy curve of each system.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    The vertical axis is the miss rate, not the detection rate, so the area under the curve is an error. For a small
    EER, the plot shows the corner around it.

    Examples
    --------
    >>> import deciban
    >>> ax = roc(deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0]))
    >>> ax.lines[0].get_ydata().round(3).tolist()
    [0.0, 0.0, 0.333, 1.0]
    """
    drawing = axes.Drawing(result, ax, line_kw, size=(5.6, 5.2))
    ax = drawing.ax
    eer = max(system.evaluation.eer for system in drawing.systems)
    top = next((limit for limit in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5) if 0 < 6 * eer <= limit), 1.0)
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
    return drawing.finish("False-alarm rate (%)", "Miss rate (%)")


_BETWEEN = 8
"""Number of points on each edge of the ROC, which is bent in the precision-recall curve."""


def precision_recall(result: axes.Drawable, ax: Axes | None = None, **line_kw: object) -> Axes:
    """Draw precision over recall, at the share of targets in the data.

    Parameters
    ----------
    result : Evaluation, Results or sequence of Evaluation
        One or several systems, each in its own colour.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    **line_kw
        Properties of the curve of each system.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    Between thresholds, the curve follows the straight edges of the ROC (Davis and Goadrich 2006). The dotted line is
    the share of targets: the precision if all trials are accepted. The curve changes with this share.

    Examples
    --------
    >>> import deciban
    >>> ax = precision_recall(deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0]))
    >>> ax.lines[0].get_xydata()[[0, -1]].tolist()  # all accepted, none accepted
    [[1.0, 0.5], [0.0, 1.0]]
    """
    drawing = axes.Drawing(result, ax, line_kw, size=(5.6, 5.2))
    drawing.keep_limits((-0.01, 1.01), (-0.01, 1.01))
    for system in drawing.systems:
        one, corners = system.evaluation, np.arange(len(system.curves.roc_p_fa))
        at = np.linspace(0.0, corners[-1], corners[-1] * _BETWEEN + 1)
        true = (1.0 - np.interp(at, corners, system.curves.roc_p_miss)) * one.n_tar
        precision = precision_of(true, np.interp(at, corners, system.curves.roc_p_fa) * one.n_non)
        precision[-1] = precision[-2]  # nothing is accepted
        drawing.ax.plot(true / one.n_tar, precision, **system.main)
    for share in {one.evaluation.n_tar / (one.evaluation.n_tar + one.evaluation.n_non) for one in drawing.systems}:
        drawing.ax.axhline(share, **REFERENCE)
    drawing.explain("all accepted", **REFERENCE)
    return drawing.finish("Recall (%)", "Precision (%)")


def cmc(result: Mapping[str, Cmc], ax: Axes | None = None, **line_kw: object) -> Axes:
    """Draw the identification rate over the rank: cumulative match characteristics (CMC).

    Parameters
    ----------
    result : mapping of str to Cmc
        For each system, the result of `deciban.biometrics.cmc`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    **line_kw
        Properties of the curve of each system.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    Shaded: intervals by subject, if there are enough subjects.

    Examples
    --------
    >>> from deciban.biometrics import cmc as identify
    >>> ax = cmc({"a": identify([[0.9, 0.1], [0.6, 0.2]], ["x", "y"], ["x", "y"])})
    >>> ax.lines[0].get_xydata().tolist()
    [[1.0, 0.5], [2.0, 1.0]]
    """
    value: object = result
    if not (isinstance(value, Mapping) and value and all(isinstance(one, Cmc) for one in value.values())):
        raise InputError("result: pass a mapping of names to results of `deciban.biometrics.cmc`.")
    canvas = axes.Canvas(list(result), ax, line_kw, size=(5.6, 4.4))
    for mark, one in zip(canvas.marks, result.values(), strict=True):
        rates, steps = one.rates, np.arange(1, len(one) + 1)
        canvas.ax.plot(steps, rates.value, **{"drawstyle": "steps-post", **mark.main})
        if not np.isnan(rates.low).all():
            canvas.ax.fill_between(steps, rates.low, rates.high, step="post", color=mark.color, **axes.BAND)
            canvas.explain(f"{100 * one.level:.4g} % intervals by subject", **axes.BAND_LINE)
    canvas.ax.set_xscale("log")
    canvas.ax.xaxis.set_major_formatter("{x:,.0f}")
    return canvas.finish("Rank", "Identification rate (%)")


def _shade_hull(
    drawing: axes.Drawing, system: axes.System, line: Callable[[FloatArray, FloatArray], axes.Outline]
) -> None:
    """Shade the area between the hulls at both ends of the uncertainty, each drawn as a line."""
    result, known = hull_bands(system.evaluation), system.known
    if result is not None and known is not None:
        low, high = (line(*rates) for rates in result)
        drawing.shade_between(system, low, high, known)


def _det_limits(drawing: axes.Drawing) -> tuple[axes.Ends, axes.Ends]:
    results = [system.evaluation for system in drawing.systems]
    p_fa = np.concatenate([result.curves.roc_p_fa for result in results])
    p_miss = np.concatenate([result.curves.roc_p_miss for result in results])
    points = [point for result in results for point in result.operating_points]
    around = [rate for one in results for rate in (one.eer, min(3 * one.eer, HIGHEST))]
    x = limits(p_fa, p_miss, [*around, *(point.p_fa for point in points)])
    y = limits(p_miss, p_fa, [*around, *(point.p_miss for point in points)])
    return drawing.wider(x, drawing.ax.get_xlim()), drawing.wider(y, drawing.ax.get_ylim())


def _few_errors(drawing: axes.Drawing, x: axes.Ends, y: axes.Ends) -> None:
    """Draw the rates with 30 errors of a kind, in the colour of the system if systems differ."""
    sizes = {(system.evaluation.n_tar, system.evaluation.n_non) for system in drawing.systems}
    drawn = False
    for system in drawing.systems if len(sizes) > 1 else drawing.systems[:1]:
        color = system.color if len(sizes) > 1 else "0.5"
        style: axes.Style = {"color": color, "linewidth": 1.0, "linestyle": ":", "zorder": 1.5}
        at_x, at_y = FEW_ERRORS / system.evaluation.n_non, FEW_ERRORS / system.evaluation.n_tar
        if x[0] < at_x < x[1]:
            drawing.ax.axvline(at_x, **style)
        if y[0] < at_y < y[1]:
            drawing.ax.axhline(at_y, **style)
        drawn |= x[0] < at_x < x[1] or y[0] < at_y < y[1]
    if drawn:
        drawing.explain(f"{FEW_ERRORS} errors (rule of {FEW_ERRORS})", linestyle=":")


def _markers(drawing: axes.Drawing, edges: tuple[axes.Ends, axes.Ends] | None) -> None:
    """Mark the EER and the actual errors at each operating point; with ``edges``, outside markers move to the edge."""
    plain: axes.Style = {"color": axes.GREY, "markeredgecolor": "white", "markeredgewidth": 0.7, "linestyle": "none"}

    def mark(system: axes.System, rates: tuple[float, float], name: str, style: axes.Style) -> None:
        if edges is not None:
            rates = float(np.clip(rates[0], *edges[0])), float(np.clip(rates[1], *edges[1]))
        own: axes.Style = {"zorder": 4, "color": system.color, "clip_on": edges is None}
        drawing.ax.plot([rates[0]], [rates[1]], **{**plain, **style, **own})
        drawing.explain(name, **{**plain, **style})

    for system in drawing.systems:
        mark(system, (system.evaluation.eer,) * 2, "EER", {"marker": "*", "markersize": 11})
    for system in drawing.systems:
        for i, point in enumerate(system.evaluation.operating_points):
            style = {"marker": axes.POINT_MARKERS[i % len(axes.POINT_MARKERS)], "markersize": 6.5}
            mark(system, (point.p_fa, point.p_miss), f"actual, {point}", style)


_TOP = 1.4
_NORMALIZED = "Normalized Bayes error rate (1 = without scores)"
REFERENCE: axes.Style = {"color": "black", "linestyle": ":", "linewidth": 1.3, "zorder": 2.2}
BEFORE: axes.Style = {"linestyle": "-", "linewidth": 1.2, "alpha": 0.45, "zorder": 2.1}


def bayes_error(
    result: axes.Drawable,
    ax: Axes | None = None,
    *,
    before: axes.Drawable | None = None,
    bands: bool = True,
    **line_kw: object,
) -> Axes:
    """Draw the Bayes error rate, normalized by that of llr 0, over the prior log odds.

    Parameters
    ----------
    result : Evaluation, Results or sequence of Evaluation
        One or several systems, each in its own colour.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    before : Evaluation, Results or sequence of Evaluation, optional
        The same systems before calibration, in the same order: their actual errors are drawn thin and pale. Their
        minimum errors are equal, since increasing maps do not change them.
    bands : bool
        Shade the band around each curve, if the units of the trials are known.
    **line_kw
        Properties of the curve of actual errors of each system.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the numbers of systems before and after calibration differ.

    Notes
    -----
    Solid: actual errors at the Bayes threshold. Dashed: minimum errors at any threshold; the gap is the calibration
    loss. Above the line at 1, decisions cost more than ignoring the scores. Left of the left-pointing triangle there
    are fewer than 30 false alarms, right of the other one fewer than 30 misses. Curves are cut off at the top of the
    plot. Source: BOSARIS paper 2.5.4, eq. 19.

    Examples
    --------
    >>> import deciban
    >>> bayes_error(deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])).get_xlabel()
    'Prior log odds (nats)'
    """
    drawing = axes.Drawing(result, ax, line_kw)
    if before is not None:
        _before(drawing, axes.systems_of(before, Evaluation))
    _pairs(drawing, [(c.prior_log_odds, c.act_error, c.min_error) for c in drawing.curves], _TOP)
    if bands:
        shade_curves(drawing, "error")
    if drawing.explain("without scores (llr 0)", **REFERENCE):
        drawing.ax.axhline(1.0, **REFERENCE)
    _scarce(drawing)
    return framed(drawing, _TOP, _NORMALIZED)


def ape(result: axes.Drawable, ax: Axes | None = None, *, bands: bool = True, **line_kw: object) -> Axes:
    """Draw the Bayes error rate over the prior log odds: the applied-probability-of-error curve.

    Parameters
    ----------
    result : Evaluation, Results or sequence of Evaluation
        One or several systems, each in its own colour.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    bands : bool
        Shade the band around each curve, if the units of the trials are known.
    **line_kw
        Properties of the curve of actual errors of each system.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    The area under the solid curve is ``2 ln 2 Cllr``, the area under the dashed curve ``2 ln 2 min Cllr``; the highest
    point of the dashed curve is the EER. Source: thesis section 7.7.4.

    Examples
    --------
    >>> import deciban
    >>> ape(deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])).get_ylabel()
    'Bayes error rate (%)'
    """
    drawing = axes.Drawing(result, ax, line_kw)
    pairs = []
    for curves in drawing.curves:
        scale = default_error(curves.prior_log_odds)
        with np.errstate(invalid="ignore", over="ignore"):
            pairs.append((curves.prior_log_odds, curves.act_error * scale, curves.min_error * scale))
    top = top_of([error for _, *errors in pairs for error in errors], peak=0.5)
    _pairs(drawing, pairs, top)
    if bands:
        shade_curves(drawing, "error", default_error)
    draw_reference(drawing, drawing.reach, default_error)
    return framed(drawing, top, "Bayes error rate (%)")


def ece(result: axes.Drawable, ax: Axes | None = None, *, bands: bool = True, **line_kw: object) -> Axes:
    """Draw the empirical cross-entropy over the prior log odds.

    Parameters
    ----------
    result : Evaluation, Results or sequence of Evaluation
        One or several systems, each in its own colour.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    bands : bool
        Shade the band around each curve, if the units of the trials are known.
    **line_kw
        Properties of the curve of actual cross-entropy of each system.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    Solid: the scores without changes. Dashed: after PAV, the best possible calibration. Dotted black: llr 0, the
    entropy of the prior. At log odds 0 the curves pass through Cllr, min Cllr and 1.

    References
    ----------
    D. Ramos, Forensic evaluation of the evidence using automatic speaker recognition systems, PhD thesis, Universidad
    Autónoma de Madrid, 2007.

    Examples
    --------
    >>> import deciban
    >>> ece(deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])).get_ylabel()
    'Empirical cross-entropy (bits)'
    """
    drawing = axes.Drawing(result, ax, line_kw)
    pairs = [(c.entropy_log_odds, c.act_cross_entropy, c.min_cross_entropy) for c in drawing.curves]
    top = top_of([entropy for _, *entropies in pairs for entropy in entropies], peak=1.0)
    _pairs(drawing, pairs, top, least="after PAV")
    if bands:
        shade_curves(drawing, "cross_entropy")
    draw_reference(drawing, drawing.reach, lambda x: (entr(expit(x)) + entr(expit(-x))) / math.log(2))  # of llr 0
    return framed(drawing, top, "Empirical cross-entropy (bits)")


def _pairs(
    drawing: axes.Drawing, pairs: Sequence[tuple[FloatArray, ...]], top: float, *, least: str = "minimum"
) -> None:
    """Draw actual curves and their minima, with a note in the legend if an actual curve is completely above ``top``."""
    for system, (log_odds, actual, lowest) in zip(drawing.systems, pairs, strict=True):
        note = "" if np.any(actual < top) else "actual: above the frame"
        drawing.ax.plot(log_odds, actual, **system.noted(note))
        drawing.ax.plot(log_odds, lowest, **system.thin())
    drawing.explain("actual")
    drawing.explain(least, linestyle="--")


def shade_curves(
    drawing: axes.Drawing,
    what: str,
    scale: Callable[[FloatArray], FloatArray] | None = None,
    *,
    which: Sequence[str] = ("act", "min"),
) -> None:
    """Shade the bands around actual curves and their minima, optionally on another scale."""
    for system in drawing.systems:
        curves = system.curves
        log_odds = curves.entropy_log_odds if what == "cross_entropy" else curves.prior_log_odds
        factor = np.ones(1) if scale is None else scale(log_odds)
        for name in (f"{one}_{what}" for one in which):
            band = band_of(system.evaluation, name, getattr(curves, name))
            if band is not None:
                with np.errstate(invalid="ignore", over="ignore"):
                    band = band[0] * factor, band[1] * factor
            drawing.shade(system, log_odds, band, system.known)


def _before(drawing: axes.Drawing, evaluations: Sequence[Evaluation]) -> None:
    """Draw the actual errors before calibration in a pale shade of the colour of each system."""
    if len(evaluations) != len(drawing.systems):
        raise InputError(f"before: {len(evaluations)} systems, but {len(drawing.systems)} after calibration.")
    hidden = 0
    for system, old in zip(drawing.systems, evaluations, strict=True):
        curves = old.curves
        drawing.ax.plot(curves.prior_log_odds, curves.act_error, color=system.color, **BEFORE)
        hidden += not np.any(curves.act_error < _TOP)
    note = f" ({hidden} above the frame)" if hidden else ""
    drawing.explain(f"before calibration{note}", **BEFORE)


def draw_reference(
    canvas: axes.Canvas, end: float, curve: Callable[[FloatArray], FloatArray], label: str = "without scores (llr 0)"
) -> None:
    """Draw the cost without scores, a function of the prior log odds, unless it was drawn before."""
    if canvas.explain(label, **REFERENCE):
        log_odds = np.linspace(-end, end, 1001)
        canvas.ax.plot(log_odds, curve(log_odds), **REFERENCE)


def _scarce(drawing: axes.Drawing) -> None:
    """Mark the places on the minimum curves beyond which there are fewer than 30 errors."""
    style: axes.Style = {"linestyle": "none", "markersize": 7.5, "markeredgecolor": "white", "markeredgewidth": 0.7}
    style["zorder"] = 4
    sides = ("<", "< 30 false alarms to the left"), (">", "< 30 misses to the right")
    for which, (marker, name) in enumerate(sides):
        for system in drawing.systems:
            at, curves = system.evaluation.dr30[which], system.curves
            if abs(at) <= curves.prior_log_odds[-1]:
                height = float(np.interp(at, curves.prior_log_odds, curves.min_error))
                drawing.ax.plot([at], [height], marker=marker, color=system.color, **style)
                drawing.explain(name, marker=marker, **{**style, "color": axes.GREY})


def top_of(curves: list[FloatArray], *, peak: float) -> float:
    """Return an upper limit: up to ``peak`` of the reference, higher for bad curves, lower if all are far below."""
    highest = float(np.concatenate([curve[np.isfinite(curve)] for curve in curves]).max(initial=0.0))
    if highest > 0.3 * peak:
        return min(max(1.1 * peak, 1.05 * highest), 1.3 * peak)
    return max(1.3 * highest, 0.03 * peak)


def framed(drawing: axes.Drawing, top: float, label: str, *, has_points: bool = True) -> Axes:
    """Set limits, mark the operating points, write priors at the upper edge and finish."""
    drawing.keep_limits((-drawing.reach, drawing.reach), (-0.01 * top, top))
    if has_points:
        drawing.mark_points({-threshold for threshold in drawing.thresholds}, "operating point")
    write_priors(drawing.ax)
    return drawing.finish("Prior log odds (nats)", label)


def normalized(drawing: axes.Drawing, *, has_points: bool = True) -> Axes:
    """Finish a plot of normalized error rates, with a line at the cost without scores."""
    if drawing.explain("without scores (llr 0)", **REFERENCE):
        drawing.ax.axhline(1.0, **REFERENCE)
    return framed(drawing, _TOP, _NORMALIZED, has_points=has_points)


def write_priors(ax: Axes, *, sign: float = 1.0) -> None:
    """Write priors at the upper edge of an axis of log odds, or of Bayes thresholds with sign -1."""
    for old in list(ax.child_axes):
        old.remove()
    top_axis = ax.secondary_xaxis("top")
    ticks = _prior_ticks(max(abs(end) for end in ax.get_xlim()))
    top_axis.set_xticks([sign * place for place in ticks], list(ticks.values()))
    style_ticks(top_axis)
    top_axis.set_xlabel("Prior probability of a target")


def _prior_ticks(reach: float) -> dict[float, str]:
    """Return log odds up to ``reach`` with labels of their priors: 0.5, and powers of 10 on both sides."""
    n_decades = int(reach / math.log(10))
    step = 1 if n_decades <= 3 else -(-n_decades // 2)
    ticks = {0.0: "0.5"}
    for k in range(step, n_decades + 1, step):
        ticks[-k * math.log(10)] = f"{10.0**-k:g}" if k <= 4 else f"$10^{{-{k}}}$"
        ticks[k * math.log(10)] = f"{1 - 10.0**-k:.{k}f}" if k <= 4 else f"$1-10^{{-{k}}}$"
    return ticks
