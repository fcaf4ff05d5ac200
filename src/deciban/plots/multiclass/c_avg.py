"""Average detection cost: over the target prior, and of every subset of the classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from deciban.core.ranks.operating import default_error
from deciban.errors import InputError
from deciban.evaluation.bands import band_of
from deciban.evaluation.multiclass.result import ClassEvaluation
from deciban.multiclass import SubsetCosts
from deciban.plots.axes import GREY, HALO, Canvas, Mark, Style, in_percent
from deciban.plots.files import families_for
from deciban.plots.multiclass.cells import ClassDrawable, class_systems_of, systems_before
from deciban.plots.panels import NAME_WIDTH, readable
from deciban.plots.paper import letters, paper
from deciban.plots.prior_curves import BEFORE, draw_reference, top_of, write_priors
from deciban.types import FloatArray

_SIZE = (6.0, 4.0)
_SLOT = 0.86
"""Share of the width between two sizes that points take."""
_LEVELS = 60
_NAME_SIZE, _LINE = 8.0, 0.045
"""Points of letters, and the height of a line as a share of the axis."""
_MARGIN, _MOST_ROOM = 0.07, 0.6
"""Shares of the axis that stay free above the dots: without names, and with however many."""
_MOST_OF_PRINT = 0.4
"""Names that took a greater share of the axis are left out in print."""
_HARDEST = "hardest pair"
_GOLDEN = 0.6180339887498949
_MANY = 2000
"""More points than this become one image inside a vector file."""
_MEAN: Style = {"color": "black", "linewidth": 1.2, "solid_capstyle": "butt", "zorder": 4}
_ALL: Style = {"marker": "*", "markersize": 13, "linestyle": "none", "markeredgecolor": "black", "zorder": 5}


def c_avg_curve(
    result: ClassDrawable,
    ax: Axes | None = None,
    *,
    before: ClassDrawable | None = None,
    bands: bool = True,
    **line_kw: Any,
) -> Axes:
    """Draw the average detection cost over the prior of the target.

    Parameters
    ----------
    result : ClassEvaluation, ClassResults or sequence of ClassEvaluation
        One or several systems, each in its own colour.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    before : ClassEvaluation, ClassResults or sequence of ClassEvaluation, optional
        The same systems before calibration, in the same order: thin and pale.
    bands : bool
        Whether the band around each curve is shaded, where it is known which units trials share.
    **line_kw
        Properties of the curve of each system.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If there is nothing to draw, or there are not as many systems before as after.

    Notes
    -----
    Dotted: ``min(p, 1 - p)``, the cost of accepting or rejecting everything, whichever is less. Above it a recognizer
    does worse than none. Source: thesis 8.5.1, eq. 8.28.

    Where the last class is out of set, it is so at each prior, and the legend says so with its prior. The curve ends
    where the prior of the target and that one leave nothing for the other non-targets.

    Examples
    --------
    >>> from deciban.evaluation import evaluate_classes
    >>> loglik, label = [[2.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.5, 1.5], [1.0, 0.0, 0.5]], [0, 1, 2, 2]
    >>> c_avg_curve(evaluate_classes(loglik, label)).get_xlabel()
    'Prior log odds of the target (nats)'
    """
    systems = class_systems_of(result)
    old = () if before is None else systems_before(before, systems)
    canvas = Canvas([system.name for system in systems], ax, line_kw, size=_SIZE)
    ax = canvas.ax
    for mark, system in zip(canvas.marks, old, strict=bool(old)):
        ax.plot(system.curves.prior_log_odds, system.curves.c_avg, **{**BEFORE, "color": mark.color})
    for mark, system in zip(canvas.marks, systems, strict=True):
        note = "" if system.p_out_of_set is None else f"open set, {system.p_out_of_set:g} out of set"
        ax.plot(system.curves.prior_log_odds, system.curves.c_avg, **mark.noted(note))
        if bands:
            band = band_of(system, "c_avg", system.curves.c_avg)
            canvas.shade(mark, system.curves.prior_log_odds, band, system.uncertainty)
    if old:
        canvas.explain("before calibration", **BEFORE)
    end = max(float(np.abs(system.curves.prior_log_odds).max()) for system in systems)
    draw_reference(canvas, end, default_error, "default (no information)")
    top = top_of([system.curves.c_avg for system in (*systems, *old)], peak=0.5)
    canvas.keep_limits((-end, end), (-0.01 * top, top))
    ax.yaxis.set_major_formatter(in_percent)
    write_priors(ax)
    return canvas.finish("Prior log odds of the target (nats)", r"$C_\mathrm{avg}$ (%)")


def subset_c_avg(result: ClassDrawable, ax: Axes | None = None, **line_kw: Any) -> Axes:
    """Draw the average detection cost of every subset of the classes, by the size of the subset.

    Parameters
    ----------
    result : ClassEvaluation, ClassResults or sequence of ClassEvaluation
        One or several systems, each in its own colour.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    **line_kw
        Properties of the dots of each system.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If there is nothing to draw, the classes differ, or subsets were not evaluated.

    Notes
    -----
    A dot is a subset. Within a size, dots lie side by side, the wider the more subsets have that cost. Black lines:
    mean of each size. Star: all classes. Above the dots the hardest pair of each system, grey if several share it.
    Source: thesis 8.3.3 and figure 8.3.

    Examples
    --------
    >>> from deciban.evaluation import evaluate_classes
    >>> loglik, label = [[2.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.5, 1.5], [1.0, 0.0, 0.5]], [0, 1, 2, 2]
    >>> ax = subset_c_avg(evaluate_classes(loglik, label, classes=["cat", "dog", "eel"]))
    >>> [text.get_text() for text in ax.texts]
    ['hardest pair: cat, eel']
    """
    systems = class_systems_of(result)
    found = [_subsets(system) for system in systems]
    n_classes = systems[0].n_classes
    dots: Style = {"linestyle": "none", "marker": "o", "markeredgewidth": 0.0, "alpha": 0.75}
    canvas = Canvas([system.name for system in systems], ax, line_kw, size=_SIZE, dots=dots)
    ax = canvas.ax
    named = _hardest(canvas.marks, found, systems[0].classes) if n_classes > 2 else {}
    if paper() is not None and _line(ax) * len(named) > _MOST_OF_PRINT:
        named = {}
    highest = max(ax.dataLim.y1, *(float(costs.value.max()) for costs in found)) or 0.01
    top = highest / (1.0 - min(_MARGIN + _line(ax) * (_n_named(ax) + len(named)), _MOST_ROOM))
    canvas.keep_limits((1.5, n_classes + 0.5), (-0.02 * top, top))
    ax.grid(visible=False, axis="x")
    width = _SLOT / len(systems)
    for i, (mark, costs) in enumerate(zip(canvas.marks, found, strict=True)):
        shift = (i - (len(systems) - 1) / 2) * width
        _dots(ax, costs, mark, shift, 0.95 * width, highest)
    if n_classes > 2:
        canvas.explain("mean of a size", **_MEAN)
        _name_hardest(ax, named)
    canvas.explain("all classes", **{**_ALL, "markersize": 10})
    ax.set_xticks(range(2, n_classes + 1))
    ax.yaxis.set_major_formatter(in_percent)
    return canvas.finish("Number of classes in the subset", r"$C_\mathrm{avg}$ (%)")


def _subsets(system: ClassEvaluation) -> SubsetCosts:
    if system.subsets is None:
        raise InputError(f"result: subsets of classes were not evaluated for {system.name!r}: {system.no_subsets}")
    return system.subsets


def _dots(ax: Axes, costs: SubsetCosts, mark: Mark, shift: float, width: float, highest: float) -> None:
    """Draw the subsets of one system, their means and the full set."""
    full = costs.size == costs.size.max()
    place = costs.size + shift + width * _sideways(costs, highest)
    n = len(costs.value)
    size = float(np.clip(12.0 * n**-0.24, 1.0, 5.0))
    plain: Style = (
        {} if paper() is None else {"markersize": size, "markeredgewidth": 0.0, "markerfacecolor": mark.color}
    )
    one: Style = {"markersize": size, "rasterized": n > _MANY, **mark.main, **plain, "label": None}
    ax.plot(place[~full], costs.value[~full], **one)
    ax.plot([], [], **{"markersize": 5.0, **mark.main})  # a legend entry that can be seen
    for size, mean in list(costs.mean_by_size.items())[:-1]:
        ax.plot([size + shift - width / 2, size + shift + width / 2], [mean, mean], gid="mean", **_MEAN)
    star = {**_ALL, "color": mark.color, "clip_on": False}
    ax.plot(costs.size[full] + shift, costs.value[full], gid="all classes", **star)


def _sideways(costs: SubsetCosts, highest: float) -> FloatArray:
    """Spread dots over (-1/2, 1/2), the wider the more dots of that size are near; evenly, and not by chance."""
    level = np.minimum((costs.value / highest * _LEVELS).astype(np.int64), _LEVELS - 1)
    cell = costs.size * _LEVELS + level
    n_near = np.bincount(cell)[cell]
    most = np.zeros(int(costs.size.max()) + 1)
    np.maximum.at(most, costs.size, n_near)
    # The multiples of the golden ratio fill an interval as evenly as can be, however many there are.
    order = np.lexsort((costs.value, costs.size))
    even = np.empty(len(order))
    even[order] = (_GOLDEN * np.arange(1, len(order) + 1)) % 1.0 - 0.5
    spread: FloatArray = even * np.where(n_near == 1, 0.0, np.sqrt(n_near / most[costs.size]))
    return spread


def _hardest(marks: Sequence[Mark], found: Sequence[SubsetCosts], classes: Sequence[str]) -> dict[str, Any]:
    """Return the names of the pair that each system tells apart worst, with its colour; grey where several share it."""
    named: dict[str, Any] = {}
    for mark, costs in zip(marks, found, strict=True):
        pairs = np.flatnonzero(costs.size == 2)
        hardest = int(pairs[np.argmax(costs.value[pairs])])
        text = ", ".join(readable([classes[k] for k in costs.members(hardest)], width=NAME_WIDTH))
        named[text] = GREY if text in named else mark.color
    return named


def _n_named(ax: Axes) -> int:
    """How many pairs are named on an Axes already."""
    return sum(text.get_gid() == _HARDEST for text in ax.texts)


def _line(ax: Axes) -> float:
    """The height of a line of names as a share of the axis."""
    return _LINE if paper() is None else 1.25 * letters(_NAME_SIZE) * ax.figure.dpi / 72 / ax.bbox.height


def _name_hardest(ax: Axes, named: Mapping[str, Any]) -> None:
    """Write the names of pairs above all dots, where nothing else is: one below the other, in their colours."""
    for line, (text, color) in enumerate(named.items(), _n_named(ax)):
        style: Style = {
            "fontproperties": families_for([text], letters(_NAME_SIZE)),
            "color": color,
            "path_effects": [HALO],
        }
        style |= {"transform": ax.transAxes, "va": "top", "zorder": 6, "gid": _HARDEST}
        ax.text(0.015, 0.98 - _line(ax) * line, f"{_HARDEST}: {text}", **style)
