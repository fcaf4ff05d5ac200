"""What designs promise: width of an interval, or difference that is seen, over the number of speakers."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from deciban.analysis import Plan
from deciban.errors import InputError
from deciban.plots.axes import GREY, Canvas, Style, in_percent
from deciban.types import FloatArray

_SIZE = (6.0, 4.0)
_TARGET: Style = {"color": "black", "linestyle": ":", "linewidth": 1.3, "zorder": 2.2}
_PILOT: Style = {"marker": "D", "linestyle": "none", "color": GREY, "markersize": 6.0, "zorder": 4}
_ENOUGH: Style = {"marker": "o", "linestyle": "none", "markersize": 6.0, "markeredgecolor": "white", "zorder": 4}


def plan(result: Plan, ax: Axes | None = None, **line_kw: Any) -> Axes:
    """Draw what a plan promises over the number of speakers, for every number of segments of each.

    Parameters
    ----------
    result : Plan
        From `deciban.plan` or `deciban.plan_files`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    **line_kw
        Properties of the curve of each number of segments.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If this is no plan.

    Notes
    -----
    Dotted: what is wanted; the circles are the smallest designs that reach it. Grey: the pilot.

    Examples
    --------
    >>> import deciban, numpy as np
    >>> rng, speaker = np.random.default_rng(1), np.repeat(np.arange(40), 5)
    >>> scores = rng.normal(2, 1, 200) + rng.normal(size=40)[speaker], rng.normal(-2, 1, 200)
    >>> plan(deciban.plan(*scores, tar_units=speaker, non_units=speaker, width=0.02)).get_xlabel()
    'Number of units'
    """
    if not isinstance(result, Plan):
        raise InputError(f"result: expected a Plan, got {type(result).__name__}. `deciban.plan` makes one.")
    names = [_segments(one.n_segments) for one in result.designs]
    canvas = Canvas(names, ax, line_kw, size=_SIZE, width_of_many=1.4)
    for mark, design, curve in zip(canvas.marks, result.designs, result.curves, strict=True):
        canvas.ax.plot(result.curve_units, curve, **mark.main)
        canvas.ax.plot([design.n_units], [design.reached], color=mark.color, **_ENOUGH)
    canvas.ax.axhline(result.target, **_TARGET)
    canvas.explain("wanted", **_TARGET)
    if result.pilot.n_segments == result.designs[0].n_segments:
        at_pilot = float(np.interp(result.pilot.n_units, result.curve_units, result.curves[0]))
        canvas.ax.plot([result.pilot.n_units], [at_pilot], **_PILOT)
        canvas.explain("pilot", **_PILOT)
    canvas.ax.set_xscale("log")
    canvas.keep_limits((float(result.curve_units[0]), float(result.curve_units[-1])), (0.0, _top(result)))
    _whole_numbers(canvas.ax)
    width = "Width of the interval" if result.wanted == "width" else "Difference that is seen"
    if result.pilot.in_percent:
        canvas.ax.yaxis.set_major_formatter(in_percent)
    unit = " (%)" if result.pilot.in_percent else ""
    return canvas.finish(f"Number of {result.pilot.noun}s", f"{width}: {result.pilot.words}{unit}")


def _segments(n: float | None) -> str:
    if n is None:
        return "segments as in the pilot"
    return f"{n:.3g} segment{'' if n == 1 else 's'} each"


def _top(result: Plan) -> float:
    """Everything on the first curve from the pilot on, and what is wanted with room above."""
    known: FloatArray = result.curves[0][result.curve_units >= 0.7 * result.pilot.n_units]
    return 1.15 * max(float(known.max(initial=0.0)), 2.0 * result.target)


def _whole_numbers(ax: Axes) -> None:
    """Write numbers of speakers in full: 20, 50, 100, ..."""
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _position: f"{value:,.0f}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
