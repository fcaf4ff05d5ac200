"""Multiclass plots of detectors, each class against the rest: losses, APE curves, and C_avg over prior and subsets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cbook import normalize_kwargs
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from deciban.core.ranks.roc import default_error
from deciban.errors import InputError
from deciban.evaluation import ClassEvaluation
from deciban.evaluation.bands import band_of, detector_bands
from deciban.evaluation.uncertainty import Uncertainty
from deciban.multiclass import DetectionAnalysis, SubsetCosts
from deciban.plots.axes import BAND, BAND_LINE, GREY, HALO, Canvas, Mark, Style, band_label, in_percent
from deciban.plots.colors import PALETTE
from deciban.plots.curves import BEFORE, REFERENCE, draw_reference, top_of, write_priors
from deciban.plots.files import NAME_WIDTH, families_for, legend_above, letters, line_width, panels_of, paper, readable
from deciban.plots.matrices import ClassDrawable, brief, class_systems_of, one_system, systems_before
from deciban.types import FloatArray, Graphic

_NAME_SIZE, _NUMBER_SIZE = 9.0, 7.0
_HEADROOM, _LIMITS = 1.4, (0.02, 0.7)
"""Room for numbers above the curves, and limits of the upper end of the axis of errors (fractions)."""
_BAND_STEP = 4
"""Step between places of a curve with a band: panels cannot show more, and files stay small."""
_WIDTH, _ROW, _AROUND = 6.0, 0.17, 0.13
"""Inches of the width of the figure, of a bar, and of the space between two classes."""
_FURTHEST = 2.0
"""Bits beyond which bars are cut off: twice the Cllr of a detector without information."""
_PALE = 0.35


def class_ape(
    result: ClassDrawable,
    *,
    before: ClassDrawable | None = None,
    columns: int | None = None,
    bands: bool = True,
    **line_kw: object,
) -> Figure:
    """Draw the Bayes error rate of detecting each class over its prior log odds, a panel for each class.

    Parameters
    ----------
    result : ClassEvaluation
        One system.
    before : ClassEvaluation, optional
        The same before calibration.
    columns : int, optional
        Panels side by side; by default 2 to 6, to leave few places empty.
    bands : bool
        Shade the bands around the curves after calibration, if the units of the trials are known.
    **line_kw
        Properties of the curve of actual errors in each panel.

    Returns
    -------
    matplotlib.figure.Figure
        The first Axes are the panels, which share both axes.

    Raises
    ------
    InputError
        If there are several systems, or different classes before calibration, or ``columns`` is not above 0.

    Notes
    -----
    Curves are as in `ape`. Solid: actual errors at the Bayes threshold; dashed: minimum errors at any threshold; the
    area between them is proportional to the calibration loss. Pale: both before calibration. Multiclass calibration is
    no increasing map of detection scores, so it can also change the minimum errors. Much higher curves before
    calibration are cut off. Dotted: decisions by the prior alone. Bands are pointwise intervals of the cost: without
    misses or false alarms they are wider, to allow for unseen errors (rule of three). The corners show Cllr before and
    after calibration, and Cllr after the best increasing map, in bits. Source: Bruemmer and van Leeuwen 2006, figure 2.

    Examples
    --------
    >>> from deciban.evaluation import evaluate_classes
    >>> loglik, label = [[2.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.5, 1.5], [1.0, 0.0, 0.5]], [0, 1, 2, 2]
    >>> figure = class_ape(evaluate_classes(loglik, label, classes=["cat", "dog", "eel"]))
    >>> [panel.get_title(loc="left") for panel in figure.axes]
    ['cat', 'dog', 'eel']
    """
    system = one_system(result)
    old = None if before is None else systems_before(before, [system])[0]
    n = len(system.detection.target)
    if old is not None and len(old.detection.target) != n:
        raise InputError(f"before: {len(old.detection.target)} classes are detected, but {n} after calibration.")
    if columns is not None and columns < 1:
        raise InputError(f"columns: got {columns}. Use at least 1.")
    figure, panels = panels_of(n, columns, "Prior log odds of the class (nats)", "Bayes error rate (%)")
    mark = Mark({"color": PALETTE[0], "linewidth": line_width(1.5), "zorder": 2.5, **normalize_kwargs(line_kw, Line2D)})
    names = readable([system.classes[k] for k in system.detection.target], width=NAME_WIDTH)
    fonts = families_for(names, letters(_NAME_SIZE))
    around = [(detector_bands(system, k) if bands else None) or () for k in range(n)]
    pale = [{**BEFORE, "color": mark.color, "linestyle": shape} for shape in ("-", "--")]
    for k, (panel, name) in enumerate(zip(panels, names, strict=True)):
        panel.set_title(name, loc="left", fontproperties=fonts, pad=3.0)
        log_odds = system.curves.detector_log_odds
        panel.plot(log_odds, default_error(log_odds), **REFERENCE)
        if old is not None:
            _pair(panel, old, k, *pale)
        for low, high in around[k]:
            some = slice(None, None, _BAND_STEP)
            panel.fill_between(log_odds[some], low[some], high[some], color=mark.color, **BAND)
        _pair(panel, system, k, mark.main, mark.thin())
        _write(panel, system, old, k)
    end = float(system.curves.detector_log_odds[-1])
    panels[0].set_xlim(-end, end)
    top = _top(_highest(system), 0.0 if old is None else _highest(old))
    panels[0].set_ylim(-0.01 * top, top)
    panels[0].yaxis.set_major_formatter(in_percent)
    panels[0].yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    panels[0].xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    _legend(figure, mark, with_before=old is not None, known=system.uncertainty if around[0] else None)
    return figure


def _pair(panel: Axes, system: ClassEvaluation, k: int, main: Style, thin: Style) -> None:
    """Draw actual and minimum errors of detecting a class."""
    curves = system.curves
    panel.plot(curves.detector_log_odds, curves.act_error[k], **main)
    panel.plot(curves.detector_log_odds, curves.min_error[k], **thin)


def _highest(system: ClassEvaluation) -> float:
    return float(max(one.max() for one in system.curves.act_error))


def _top(after: float, before: float) -> float:
    """Return the upper limit of errors; curves before calibration can be cut off so that the others are visible."""
    return float(np.clip(_HEADROOM * max(after, min(before, max(2 * after, 0.05))), *_LIMITS))


def _write(panel: Axes, system: ClassEvaluation, old: ClassEvaluation | None, k: int) -> None:
    """Write Cllr before and after calibration, and its minimum, into the corner of a panel."""
    result = system.detection
    was = "" if old is None else f"{brief(float(old.detection.cllr[k]))} → "
    text = f"Cllr {was}{brief(float(result.cllr[k]))}\nmin {brief(float(result.min_cllr[k]))}"
    font = families_for(text.split("\n"), letters(_NUMBER_SIZE))
    style: Style = {"transform": panel.transAxes, "va": "top", "fontproperties": font, "zorder": 5}
    panel.text(0.03, 0.97, text, path_effects=[HALO], **style)


def _legend(figure: Figure, mark: Mark, *, with_before: bool, known: Uncertainty | None) -> None:
    """Add a legend above all panels."""
    entries: list[tuple[str, Style]] = [("actual", mark.main), ("minimum", mark.thin())]
    if with_before:
        entries.append(("before calibration", {**BEFORE, "color": mark.color}))
    entries.append(("without scores (llr 0)", REFERENCE))
    if known is not None:
        entries.append((band_label(known), {**BAND_LINE, "color": mark.color}))
    handles = [Line2D([], [], label=label, **style) for label, style in entries]
    title = "Cllr in bits" + (", before → after calibration" if with_before else "")
    legend_above(figure, handles, title, is_long=known is not None)


def class_losses(result: ClassDrawable, ax: Axes | None = None, **bar_kw: object) -> Axes:
    """Draw stacked bars of discrimination and calibration loss of detecting each class; their sum is Cllr.

    Parameters
    ----------
    result : ClassEvaluation, ClassResults or sequence of ClassEvaluation
        One or several systems, each in its own colour; or one before and after calibration.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, as high as the bars need.
    **bar_kw
        Properties of all bars.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If there is nothing to draw, or the classes differ.

    Notes
    -----
    Full colour: min Cllr, the loss after the best increasing map of the detection scores of that class. Pale: Cllr
    minus min Cllr. The number behind a bar is Cllr. Dotted: 1 bit, a detector without information. Bars are cut off at
    2 bits. Source: Bruemmer and van Leeuwen 2006, section 4.3.

    Examples
    --------
    >>> from deciban.evaluation import evaluate_classes
    >>> loglik, label = [[2.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.5, 1.5], [1.0, 0.0, 0.5]], [0, 1, 2, 2]
    >>> ax = class_losses(evaluate_classes(loglik, label, classes=["cat", "dog", "eel"]))
    >>> [text.get_text() for text in ax.get_yticklabels()], ax.get_xlabel()
    (['cat', 'dog', 'eel'], 'Cllr against the rest (bits)')
    """
    systems = class_systems_of(result)
    items = [system.detection for system in systems]
    classes = [systems[0].classes[k] for k in items[0].target]
    if any(not np.array_equal(losses.target, items[0].target) for losses in items):
        raise InputError("result: the systems do not detect the same classes. Draw them one by one.")
    n_bars = len(systems)
    size = (_WIDTH, len(classes) * (n_bars * _ROW + _AROUND) + 0.9)
    canvas = Canvas([system.name for system in systems], ax, {}, size=size, by_rows=True)
    ax = canvas.ax
    canvas.name_rows(classes, width=NAME_WIDTH)
    place = np.arange(len(classes), dtype=np.float64)
    ax.tick_params(axis="y", length=0)
    height = _ROW / (n_bars * _ROW + _AROUND)
    highest = max(float(losses.cllr.max()) for losses in items)
    end = min(1.12 * highest, _FURTHEST) or 1.0  # behind the longest bar and its number
    canvas.keep_limits((0.0, end))
    for i, (mark, losses) in enumerate(zip(canvas.marks, items, strict=True)):
        at = place + (i - (n_bars - 1) / 2) * height
        _bars(ax, at, 0.92 * height, losses, mark, bar_kw)
        _write_behind(ax, at, losses.cllr, end)
        canvas.mark_bars(mark, np.full(len(at), 0.025 * end), at)
    _explain_bars(canvas)
    return canvas.finish("Cllr against the rest (bits)", "")


def _bars(ax: Axes, at: FloatArray, height: float, losses: DetectionAnalysis, mark: Mark, bar_kw: Style) -> None:
    """Draw the bars of one system; infinite bars end far outside the frame."""
    least, actual = (np.minimum(bits, 10 * _FURTHEST) for bits in (losses.min_cllr, losses.cllr))
    style: Style = {"height": height, "linewidth": 0, **bar_kw}
    ax.barh(at, least, **{"color": mark.color, **style})
    ax.barh(at, np.maximum(actual - least, 0.0), left=least, **{"color": pale(mark.color), **style})


def _write_behind(ax: Axes, at: FloatArray, cllr: FloatArray, end: float) -> None:
    """Write Cllr behind each bar, or at the edge if the bar is cut off."""
    for place, bits in zip(at, cllr.tolist(), strict=True):
        outside = bits > 0.93 * end
        style: Style = {"ha": "right" if outside else "left", "xytext": (-3 if outside else 3, 0)}
        text = f"{brief(bits)} →" if bits > end else brief(bits)
        style |= {"textcoords": "offset points", "va": "center", "fontsize": letters(7.5)}
        ax.annotate(text, (min(bits, end), place), **style)


def _explain_bars(canvas: Canvas) -> None:
    square: Style = {"marker": "s", "markersize": 8, "linestyle": "none", "markeredgewidth": 0}
    canvas.explain("discrimination loss (min Cllr)", **square)
    canvas.explain("calibration loss", **{**square, "color": pale(GREY)})
    if canvas.ax.get_xlim()[1] > 1.0:
        canvas.ax.axvline(1.0, **REFERENCE)
        canvas.explain("without scores (llr 0)", **REFERENCE)


def pale(color: Graphic) -> tuple[float, ...]:
    """Return the colour mixed with white."""
    return tuple(1.0 - _PALE * (1.0 - part) for part in to_rgb(color))


_SLOT = 0.86
"""Share of the distance between two sizes that dots take."""
_LEVELS = 60
_GOLDEN = 0.6180339887498949
_MANY = 2000
"""Number of dots above which they become one image in vector files."""
_MEAN: Style = {"color": "black", "linewidth": 1.2, "solid_capstyle": "butt", "zorder": 4}
_ALL: Style = {"marker": "*", "markersize": 13, "linestyle": "none", "markeredgecolor": "black", "zorder": 5}


def c_avg_curve(
    result: ClassDrawable,
    ax: Axes | None = None,
    *,
    before: ClassDrawable | None = None,
    bands: bool = True,
    **line_kw: object,
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
        Shade the band around each curve, if the units of the trials are known.
    **line_kw
        Properties of the curve of each system.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If there is nothing to draw, or the numbers of systems before and after calibration differ.

    Notes
    -----
    Dotted: ``min(p, 1 - p)``, the cost of accepting or rejecting everything, whichever is less. Above it, decisions
    cost more than ignoring the scores. Source: thesis 8.5.1, eq. 8.28.

    If the last class is out of set, the legend shows its prior, which is the same at each prior of the target. The
    curve ends where the two priors leave nothing for the other non-targets.

    Examples
    --------
    >>> from deciban.evaluation import evaluate_classes
    >>> loglik, label = [[2.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.5, 1.5], [1.0, 0.0, 0.5]], [0, 1, 2, 2]
    >>> c_avg_curve(evaluate_classes(loglik, label)).get_xlabel()
    'Prior log odds of the target (nats)'
    """
    systems = class_systems_of(result)
    old = () if before is None else systems_before(before, systems)
    canvas = Canvas([system.name for system in systems], ax, line_kw)
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
    write_priors(ax)
    return canvas.finish("Prior log odds of the target (nats)", r"$C_\mathrm{avg}$ (%)")


def subset_c_avg(result: ClassDrawable, ax: Axes | None = None, **line_kw: object) -> Axes:
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
    A dot is a subset. Within a size, dots are side by side, wider if more subsets have similar costs. Black lines: mean
    of each size. Star: all classes. The legend names the hardest pair of each system, in grey if several systems share
    it. Source: thesis 8.3.3 and figure 8.3.

    Examples
    --------
    >>> from deciban.evaluation import evaluate_classes
    >>> loglik, label = [[2.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.5, 1.5], [1.0, 0.0, 0.5]], [0, 1, 2, 2]
    >>> ax = subset_c_avg(evaluate_classes(loglik, label, classes=["cat", "dog", "eel"]))
    >>> ax.get_legend().get_texts()[-1].get_text()
    'hardest pair: cat, eel'
    """
    systems = class_systems_of(result)
    items = [_subsets(system) for system in systems]
    n_classes = systems[0].n_classes
    dots: Style = {"linestyle": "none", "marker": "o", "markeredgewidth": 0.0, "alpha": 0.75}
    canvas = Canvas([system.name for system in systems], ax, line_kw, dots=dots)
    ax = canvas.ax
    highest = max(ax.dataLim.y1, *(float(costs.value.max()) for costs in items)) or 0.01
    top = 1.07 * highest
    canvas.keep_limits((1.5, n_classes + 0.5), (-0.02 * top, top))
    ax.grid(visible=False, axis="x")
    width = _SLOT / len(systems)
    for i, (mark, costs) in enumerate(zip(canvas.marks, items, strict=True)):
        _dots(ax, costs, mark, (i - (len(systems) - 1) / 2) * width, 0.95 * width, highest)
    if n_classes > 2:
        canvas.explain("mean of a size", **_MEAN)
    canvas.explain("all classes", **{**_ALL, "markersize": 10})
    for pair, color in _hardest(canvas.marks, items, systems[0].classes).items() if n_classes > 2 else ():
        canvas.explain(f"hardest pair: {pair}", color=color, linestyle="none")
    ax.set_xticks(range(2, n_classes + 1))
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
    one: Style = {"markersize": size, "rasterized": n > _MANY, **mark.main, "label": None}
    if paper() is not None:
        one |= {"markersize": size, "markeredgewidth": 0.0, "markerfacecolor": mark.color}
    ax.plot(place[~full], costs.value[~full], **one)
    ax.plot([], [], **{"markersize": 5.0, **mark.main})  # a visible legend entry
    for size, mean in list(costs.mean_by_size.items())[:-1]:
        ax.plot([size + shift - width / 2, size + shift + width / 2], [mean, mean], gid="mean", **_MEAN)
    star = {**_ALL, "color": mark.color, "clip_on": False}
    ax.plot(costs.size[full] + shift, costs.value[full], gid="all classes", **star)


def _sideways(costs: SubsetCosts, highest: float) -> FloatArray:
    """Spread dots over (-1/2, 1/2), wider if more dots of that size are near; evenly, not randomly."""
    level = np.minimum((costs.value / highest * _LEVELS).astype(np.int64), _LEVELS - 1)
    cell = costs.size * _LEVELS + level
    n_near = np.bincount(cell)[cell]
    most = np.zeros(int(costs.size.max()) + 1)
    np.maximum.at(most, costs.size, n_near)
    # The multiples of the golden ratio fill an interval evenly for any number of dots.
    order = np.lexsort((costs.value, costs.size))
    even = np.empty(len(order))
    even[order] = (_GOLDEN * np.arange(1, len(order) + 1)) % 1.0 - 0.5
    return even * np.where(n_near == 1, 0.0, np.sqrt(n_near / most[costs.size]))


def _hardest(marks: Sequence[Mark], result: Sequence[SubsetCosts], classes: Sequence[str]) -> dict[str, Any]:
    """Return the hardest pair of each system with its colour, grey if several systems share it."""
    named: dict[str, Any] = {}
    for mark, costs in zip(marks, result, strict=True):
        pairs = np.flatnonzero(costs.size == 2)
        hardest = int(pairs[np.argmax(costs.value[pairs])])
        text = ", ".join(readable([classes[k] for k in costs.members(hardest)], width=NAME_WIDTH))
        named[text] = GREY if text in named else mark.color
    return named
