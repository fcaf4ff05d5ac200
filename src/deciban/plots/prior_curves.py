"""Plots over the prior log odds: normalized Bayes error, APE and ECE."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from scipy.special import entr, expit

from deciban.core.ranks.operating import default_error
from deciban.errors import InputError
from deciban.evaluation import Evaluation
from deciban.evaluation.bands import band_of
from deciban.plots.axes import GREY, Canvas, Drawable, Drawing, Style, in_percent, systems_of
from deciban.plots.paper import style_ticks
from deciban.types import FloatArray

_SIZE = (6.0, 4.0)
_TOP = 1.4
REFERENCE: Style = {"color": "black", "linestyle": ":", "linewidth": 1.3, "zorder": 2.2}
BEFORE: Style = {"linestyle": "-", "linewidth": 1.2, "alpha": 0.45, "zorder": 2.1}


def bayes_error(
    result: Drawable, ax: Axes | None = None, *, before: Drawable | None = None, bands: bool = True, **line_kw: Any
) -> Axes:
    """Draw the Bayes error rate, normalized by that of llr 0, over the prior log odds.

    Parameters
    ----------
    result : Evaluation, Results or sequence of Evaluation
        One or several systems, each in its own colour.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    before : Evaluation, Results or sequence of Evaluation, optional
        The same systems before calibration, in the same order: their actual errors are drawn thin and pale. Their least
        errors are not: increasing maps do not move them.
    bands : bool
        Whether the band around each curve is shaded, where it is known which units trials share.
    **line_kw
        Properties of the curve of actual errors of each system.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If there are not as many systems before as after.

    Notes
    -----
    Solid: actual errors at the Bayes threshold. Dashed: least errors at any threshold; the gap is the calibration
    loss. Above the line at 1, decisions are worse than those without a recognizer. Left of the triangle that points
    to the left fewer than 30 false alarms remain, right of the other one fewer than 30 misses. Curves that leave the
    plot at the top are cut off. Source: BOSARIS paper 2.5.4, eq. 19.

    Examples
    --------
    >>> import deciban
    >>> bayes_error(deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])).get_xlabel()
    'Prior log odds (nats)'
    """
    drawing = Drawing(result, ax, line_kw, size=_SIZE)
    if before is not None:
        _before(drawing, systems_of(before, Evaluation))
    _pairs(drawing, [(c.prior_log_odds, c.act_error, c.min_error) for c in drawing.curves], _TOP)
    if bands:
        _shade(drawing, "error")
    if drawing.explain("default (llr 0)", **REFERENCE):
        drawing.ax.axhline(1.0, **REFERENCE)
    _scarce(drawing)
    return _framed(drawing, _TOP, "Normalized Bayes error rate (1 = default)")


def ape(result: Drawable, ax: Axes | None = None, *, bands: bool = True, **line_kw: Any) -> Axes:
    """Draw the Bayes error rate over the prior log odds: the applied-probability-of-error curve.

    Parameters
    ----------
    result : Evaluation, Results or sequence of Evaluation
        One or several systems, each in its own colour.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    bands : bool
        Whether the band around each curve is shaded, where it is known which units trials share.
    **line_kw
        Properties of the curve of actual errors of each system.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    The area under the solid curve is ``2 ln 2 Cllr``, that under the dashed curve ``2 ln 2 min Cllr``; the highest
    point of the dashed curve is the EER. Source: thesis section 7.7.4.

    Examples
    --------
    >>> import deciban
    >>> ape(deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])).get_ylabel()
    'Bayes error rate (%)'
    """
    drawing = Drawing(result, ax, line_kw, size=_SIZE)
    pairs = []
    for curves in drawing.curves:
        scale = default_error(curves.prior_log_odds)
        with np.errstate(invalid="ignore", over="ignore"):
            pairs.append((curves.prior_log_odds, curves.act_error * scale, curves.min_error * scale))
    top = top_of([error for _, *errors in pairs for error in errors], peak=0.5)
    _pairs(drawing, pairs, top)
    if bands:
        _shade(drawing, "error", default_error)
    draw_reference(drawing, drawing.reach, default_error)
    drawing.ax.yaxis.set_major_formatter(in_percent)
    return _framed(drawing, top, "Bayes error rate (%)")


def ece(result: Drawable, ax: Axes | None = None, *, bands: bool = True, **line_kw: Any) -> Axes:
    """Draw the empirical cross-entropy over the prior log odds.

    Parameters
    ----------
    result : Evaluation, Results or sequence of Evaluation
        One or several systems, each in its own colour.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    bands : bool
        Whether the band around each curve is shaded, where it is known which units trials share.
    **line_kw
        Properties of the curve of actual cross-entropy of each system.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    Solid: of the scores as they are. Dashed: after PAV, the best that calibration can do. Dotted black: of llr 0, the
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
    drawing = Drawing(result, ax, line_kw, size=_SIZE)
    pairs = [(c.entropy_log_odds, c.act_cross_entropy, c.min_cross_entropy) for c in drawing.curves]
    top = top_of([entropy for _, *entropies in pairs for entropy in entropies], peak=1.0)
    _pairs(drawing, pairs, top, least="after PAV")
    if bands:
        _shade(drawing, "cross_entropy")
    draw_reference(drawing, drawing.reach, _prior_entropy)
    return _framed(drawing, top, "Empirical cross-entropy (bits)")


def _prior_entropy(log_odds: FloatArray) -> FloatArray:
    """Cross-entropy of llr 0 in bits."""
    return np.asarray((entr(expit(log_odds)) + entr(expit(-log_odds))) / math.log(2))


def _pairs(drawing: Drawing, pairs: Sequence[tuple[FloatArray, ...]], top: float, *, least: str = "minimum") -> None:
    """Draw actual curves and their minima; the legend says so if nothing of an actual one is below ``top``."""
    for system, (log_odds, actual, lowest) in zip(drawing.systems, pairs, strict=True):
        note = "" if np.any(actual < top) else "actual: above the frame"
        drawing.ax.plot(log_odds, actual, **system.noted(note))
        drawing.ax.plot(log_odds, lowest, **system.thin())
    drawing.explain("actual")
    drawing.explain(least, linestyle="--")


def _shade(drawing: Drawing, what: str, scale: Callable[[FloatArray], FloatArray] | None = None) -> None:
    """Shade the bands around actual curves and their minima, maybe on another scale."""
    for system in drawing.systems:
        curves = system.curves
        log_odds = curves.entropy_log_odds if what == "cross_entropy" else curves.prior_log_odds
        factor = np.ones(1) if scale is None else scale(log_odds)
        for name in (f"act_{what}", f"min_{what}"):
            band = band_of(system.evaluation, name, getattr(curves, name))
            if band is not None:
                with np.errstate(invalid="ignore", over="ignore"):
                    band = band[0] * factor, band[1] * factor
            drawing.shade(system, log_odds, band, system.known)


def _before(drawing: Drawing, evaluations: Sequence[Evaluation]) -> None:
    """Draw the actual errors before calibration in a pale shade of the colour of each system."""
    if len(evaluations) != len(drawing.systems):
        raise InputError(f"before: {len(evaluations)} systems, but there are {len(drawing.systems)} after calibration.")
    hidden = 0
    for system, old in zip(drawing.systems, evaluations, strict=True):
        curves = old.curves
        drawing.ax.plot(curves.prior_log_odds, curves.act_error, color=system.color, **BEFORE)
        hidden += not np.any(curves.act_error < _TOP)
    note = f" ({hidden} above the frame)" if hidden else ""
    drawing.explain(f"before calibration{note}", **BEFORE)


def draw_reference(
    canvas: Canvas, end: float, curve: Callable[[FloatArray], FloatArray], label: str = "default (llr 0)"
) -> None:
    """Draw what is reached without scores, a function of the prior log odds, where it was not drawn before."""
    if canvas.explain(label, **REFERENCE):
        log_odds = np.linspace(-end, end, 1001)
        canvas.ax.plot(log_odds, curve(log_odds), **REFERENCE)


def _scarce(drawing: Drawing) -> None:
    """Mark on the minimum curves where fewer than 30 errors begin."""
    style: Style = {"linestyle": "none", "markersize": 7.5, "markeredgecolor": "white", "markeredgewidth": 0.7}
    style["zorder"] = 4
    sides = ("<", "< 30 false alarms to the left"), (">", "< 30 misses to the right")
    for which, (marker, name) in enumerate(sides):
        for system in drawing.systems:
            at, curves = system.evaluation.dr30[which], system.curves
            if abs(at) <= curves.prior_log_odds[-1]:
                height = float(np.interp(at, curves.prior_log_odds, curves.min_error))
                drawing.ax.plot([at], [height], marker=marker, color=system.color, **style)
                drawing.explain(name, marker=marker, **{**style, "color": GREY})


def top_of(curves: list[FloatArray], *, peak: float) -> float:
    """Upper limit: everything up to ``peak`` of the reference, more for bad curves, less where all are far below."""
    values = np.concatenate([curve[np.isfinite(curve)] for curve in curves])
    highest = float(values.max(initial=0.0))
    if highest > 0.3 * peak:
        return min(max(1.1 * peak, 1.05 * highest), 1.3 * peak)
    return max(1.3 * highest, 0.03 * peak)


def _framed(drawing: Drawing, top: float, label: str) -> Axes:
    """Set limits, mark the operating points, write priors at the upper edge and finish."""
    drawing.keep_limits((-drawing.reach, drawing.reach), (-0.01 * top, top))
    drawing.mark_points({-threshold for threshold in drawing.thresholds}, "operating point")
    write_priors(drawing.ax)
    return drawing.finish("Prior log odds (nats)", label)


def write_priors(ax: Axes, *, sign: float = 1.0) -> None:
    """Write priors at the upper edge of an axis of log odds, or with sign -1 of Bayes thresholds."""
    for old in list(ax.child_axes):
        old.remove()
    top_axis = ax.secondary_xaxis("top")
    ticks = _prior_ticks(max(abs(end) for end in ax.get_xlim()))
    top_axis.set_xticks([sign * place for place in ticks], list(ticks.values()))
    style_ticks(top_axis)
    top_axis.set_xlabel("Prior probability of a target")


def _prior_ticks(reach: float) -> dict[float, str]:
    """Return log odds up to ``reach`` and how their priors are written: 0.5, and powers of 10 to both sides."""
    n_decades = int(reach / math.log(10))
    step = 1 if n_decades <= 3 else -(-n_decades // 2)
    ticks = {0.0: "0.5"}
    for k in range(step, n_decades + 1, step):
        ticks[-k * math.log(10)] = f"{10.0**-k:g}" if k <= 4 else f"$10^{{-{k}}}$"
        ticks[k * math.log(10)] = f"{1 - 10.0**-k:.{k}f}" if k <= 4 else f"$1-10^{{-{k}}}$"
    return ticks
