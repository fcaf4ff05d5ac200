"""Detection of every class against the rest: what it loses, as stacked bars, and one APE plot each, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cbook import normalize_kwargs
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from deciban.core.ranks.operating import default_error
from deciban.errors import InputError
from deciban.evaluation import ClassEvaluation
from deciban.evaluation.bands import Band, detector_bands
from deciban.evaluation.uncertainty import Uncertainty
from deciban.multiclass import DetectionAnalysis
from deciban.plots.axes import BAND, BAND_LINE, GREY, HALO, Canvas, Mark, Style, band_label, in_percent
from deciban.plots.files import families_for
from deciban.plots.multiclass.cells import ClassDrawable, brief, class_systems_of, one_system, systems_before
from deciban.plots.panels import NAME_WIDTH, PALETTE, legend_above, panels_of, readable
from deciban.plots.paper import letters, line_width
from deciban.plots.prior_curves import BEFORE, REFERENCE
from deciban.types import FloatArray

_NAME_SIZE, _NUMBER_SIZE = 9.0, 7.0
_HEADROOM, _LIMITS = 1.4, (0.02, 0.7)
"""Room for numbers above the curves, and how low and high the axis of errors (fractions) may end."""
_BAND_STEP = 4
"""Of so many places of a curve its band has one: in a panel more cannot be seen, and all would make files large."""
_WIDTH, _ROW, _AROUND = 6.0, 0.17, 0.13
"""Inches: of the figure, of a bar, of the space between two classes."""
_FURTHEST = 2.0
"""Bits beyond which bars are cut off: twice what a detector without information has."""
_PALE = 0.35


def class_ape(
    result: ClassDrawable,
    *,
    before: ClassDrawable | None = None,
    columns: int | None = None,
    bands: bool = True,
    **line_kw: Any,
) -> Figure:
    """Draw the Bayes error rate of detecting each class over its prior log odds, a panel for each class.

    Parameters
    ----------
    result : ClassEvaluation
        One system.
    before : ClassEvaluation, optional
        The same before calibration.
    columns : int, optional
        Panels side by side; by default 2 to 6, so that few places are left empty.
    bands : bool
        Whether the bands around the curves after calibration are shaded, where it is known which units trials share.
    **line_kw
        Properties of the curve of actual errors in each panel.

    Returns
    -------
    matplotlib.figure.Figure
        Its first Axes are the panels, which share both axes.

    Raises
    ------
    InputError
        If there are several systems, or other classes before calibration, or ``columns`` is not above 0.

    Notes
    -----
    Curves are those of `ape`. Solid: actual errors at the Bayes threshold; dashed: least errors at any threshold; the
    area between them is proportional to the calibration loss. Pale: both before calibration, which can also move the
    least errors, as calibration of many classes is no increasing map of detection scores; where they are far higher
    they leave the panels. Dotted: decisions by the prior alone. Bands are at each prior by itself the interval of the
    cost there: where no miss or no false alarm is left they widen, as those that were not seen would cost the more
    (rule of three). In the corner Cllr before and after calibration, and the least Cllr after any increasing map, in
    bits.
    Source: paper 001 figure 2 (Bruemmer and van Leeuwen 2006).

    Examples
    --------
    >>> from deciban.evaluation import evaluate_classes
    >>> loglik, label = [[2.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.5, 1.5], [1.0, 0.0, 0.5]], [0, 1, 2, 2]
    >>> figure = class_ape(evaluate_classes(loglik, label, classes=["cat", "dog", "eel"]))
    >>> [panel.get_title(loc="left") for panel in figure.axes]
    ['cat', 'dog', 'eel']
    """
    system = one_system(result)
    detectors = _detectors(system, bands=bands)
    old: Sequence[_Detector | None] = [None] * len(detectors)
    if before is not None:
        old = _detectors(systems_before(before, [system])[0], bands=False)
        if len(old) != len(detectors):
            raise InputError(f"before: {len(old)} classes are detected, but {len(detectors)} after calibration.")
    if columns is not None and columns < 1:
        raise InputError(f"columns: at least 1 panel stands in a row, got {columns}.")
    figure, panels = panels_of(len(detectors), columns, "Prior log odds of the class (nats)", "Bayes error rate (%)")
    mark = Mark({"color": PALETTE[0], "linewidth": line_width(1.5), "zorder": 2.5, **normalize_kwargs(line_kw, Line2D)})
    names = readable([detector.name for detector in detectors], width=NAME_WIDTH)
    fonts = families_for(names, letters(_NAME_SIZE))
    highest = [0.0, 0.0]
    for panel, name, detector, earlier in zip(panels, names, detectors, old, strict=True):
        panel.set_title(name, loc="left", fontproperties=fonts, pad=3.0)
        highest = np.maximum(highest, _draw(panel, detector, earlier, mark)).tolist()
        _write(panel, detector, earlier)
    end = float(detectors[0].log_odds[-1])
    panels[0].set_xlim(-end, end)
    top = _top(*highest)
    panels[0].set_ylim(-0.01 * top, top)
    panels[0].yaxis.set_major_formatter(in_percent)
    panels[0].yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    panels[0].xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    _legend(figure, mark, with_before=before is not None, known=system.uncertainty if detectors[0].bands else None)
    return figure


@dataclass(frozen=True, slots=True)
class _Detector:
    """What a panel shows: Bayes error rates over log odds, not normalized, with their bands, and Cllr in bits."""

    name: str
    log_odds: FloatArray
    actual: FloatArray
    least: FloatArray
    cllr: float
    min_cllr: float
    bands: tuple[Band, ...] = ()


def _detectors(system: ClassEvaluation, *, bands: bool) -> list[_Detector]:
    found, curves = system.detection, system.curves
    names = [system.classes[k] for k in found.target]
    rows = zip(names, curves.act_error, curves.min_error, found.cllr.tolist(), found.min_cllr.tolist(), strict=True)
    around = [(detector_bands(system, k) if bands else None) or () for k in range(len(names))]
    return [
        _Detector(name, curves.detector_log_odds, actual, least, cllr, min_cllr, own)
        for (name, actual, least, cllr, min_cllr), own in zip(rows, around, strict=True)
    ]


def _draw(panel: Axes, detector: _Detector, earlier: _Detector | None, mark: Mark) -> tuple[float, float]:
    """Draw the curves of one class; return the highest errors after and before calibration."""
    panel.plot(detector.log_odds, default_error(detector.log_odds), **REFERENCE)
    before = 0.0
    if earlier is not None:
        before = _pair(panel, earlier, *({**BEFORE, "color": mark.color, "linestyle": shape} for shape in ("-", "--")))
    for low, high in detector.bands:
        some = slice(None, None, _BAND_STEP)
        panel.fill_between(detector.log_odds[some], low[some], high[some], color=mark.color, **BAND)
    return _pair(panel, detector, mark.main, mark.thin()), before


def _pair(panel: Axes, detector: _Detector, main: Style, thin: Style) -> float:
    """Draw actual and least errors; return the highest."""
    panel.plot(detector.log_odds, detector.actual, **main)
    panel.plot(detector.log_odds, detector.least, **thin)
    return float(detector.actual.max())


def _top(after: float, before: float) -> float:
    """Upper limit of the errors: curves before calibration may leave the panel, or those after it could not be seen."""
    highest = max(after, min(before, max(2 * after, 0.05)))
    return float(np.clip(_HEADROOM * highest, *_LIMITS))


def _write(panel: Axes, detector: _Detector, earlier: _Detector | None) -> None:
    """Write Cllr before and after, and its minimum, into the corner of a panel."""
    was = "" if earlier is None else f"{brief(earlier.cllr)} → "
    text = f"Cllr {was}{brief(detector.cllr)}\nmin {brief(detector.min_cllr)}"
    font = families_for(text.split("\n"), letters(_NUMBER_SIZE))
    style: Style = {"transform": panel.transAxes, "va": "top", "fontproperties": font, "zorder": 5}
    panel.text(0.03, 0.97, text, path_effects=[HALO], **style)


def _legend(figure: Figure, mark: Mark, *, with_before: bool, known: Uncertainty | None) -> None:
    """Say above all panels what the lines mean, and bands, if there are some."""
    entries: list[tuple[str, Style]] = [("actual", mark.main), ("minimum", mark.thin())]
    if with_before:
        entries.append(("before calibration", {**BEFORE, "color": mark.color}))
    entries.append(("default (llr 0)", REFERENCE))
    if known is not None:
        entries.append((band_label(known), {**BAND_LINE, "color": mark.color}))
    handles = [Line2D([], [], label=label, **style) for label, style in entries]
    title = "Cllr in bits" + (", before → after calibration" if with_before else "")
    legend_above(figure, handles, title, is_long=known is not None)


def class_losses(result: ClassDrawable, ax: Axes | None = None, **bar_kw: Any) -> Axes:
    """Draw discrimination and calibration loss of detecting each class, one on the other: their sum is Cllr.

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
        If there is nothing to draw, or the classes are not the same.

    Notes
    -----
    Full colour: min Cllr, what is left after the best increasing map of the detection scores of that class alone.
    Pale: Cllr less min Cllr. The number behind a bar is Cllr. Dotted: 1 bit, a detector that says nothing. Bars beyond
    2 bits are cut off. Source: paper 001 section 4.3 (Bruemmer and van Leeuwen 2006).

    Examples
    --------
    >>> from deciban.evaluation import evaluate_classes
    >>> loglik, label = [[2.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.5, 1.5], [1.0, 0.0, 0.5]], [0, 1, 2, 2]
    >>> ax = class_losses(evaluate_classes(loglik, label, classes=["cat", "dog", "eel"]))
    >>> [text.get_text() for text in ax.get_yticklabels()], ax.get_xlabel()
    (['cat', 'dog', 'eel'], 'Cllr against the rest (bits)')
    """
    systems = class_systems_of(result)
    found = [system.detection for system in systems]
    classes = [systems[0].classes[k] for k in found[0].target]
    if any(not np.array_equal(losses.target, found[0].target) for losses in found):
        raise InputError("result: the systems do not detect the same classes. Draw them one by one.")
    n_bars = len(systems)
    size = (_WIDTH, len(classes) * (n_bars * _ROW + _AROUND) + 0.9)
    canvas = Canvas([system.name for system in systems], ax, {}, size=size, by_rows=True)
    ax = canvas.ax
    ax.grid(visible=False, axis="y")
    names = readable(classes, width=NAME_WIDTH)
    place = np.arange(len(classes), dtype=np.float64)
    ax.set_yticks(place, names, fontproperties=families_for(names, letters(_NAME_SIZE)))
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(classes) - 0.5, -0.5)
    height = _ROW / (n_bars * _ROW + _AROUND)
    highest = max(float(losses.cllr.max()) for losses in found)
    end = min(1.12 * highest, _FURTHEST) or 1.0  # behind the longest bar and its number
    canvas.keep_limits((0.0, end))
    for i, (mark, losses) in enumerate(zip(canvas.marks, found, strict=True)):
        at = place + (i - (n_bars - 1) / 2) * height
        _bars(ax, at, 0.92 * height, losses, mark, bar_kw)
        _write_behind(ax, at, losses.cllr, end)
        canvas.mark_bars(mark, np.full(len(at), 0.025 * end), at)
    _explain_bars(canvas)
    return canvas.finish("Cllr against the rest (bits)", "")


def _bars(ax: Axes, at: FloatArray, height: float, losses: DetectionAnalysis, mark: Mark, bar_kw: Style) -> None:
    """Draw the bars of one system; where a loss is infinite it goes far beyond the frame."""
    least, actual = (np.minimum(bits, 10 * _FURTHEST) for bits in (losses.min_cllr, losses.cllr))
    style: Style = {"height": height, "linewidth": 0, **bar_kw}
    ax.barh(at, least, **{"color": mark.color, **style})
    ax.barh(at, np.maximum(actual - least, 0.0), left=least, **{"color": pale(mark.color), **style})


def _write_behind(ax: Axes, at: FloatArray, cllr: FloatArray, end: float) -> None:
    """Write Cllr behind each bar, or at its end if it is cut off."""
    for place, bits in zip(at, cllr.tolist(), strict=True):
        outside = bits > 0.93 * end
        style: Style = {"ha": "right" if outside else "left", "xytext": (-3 if outside else 3, 0)}
        text = f"{brief(bits)} →" if bits > end else brief(bits)
        ax.annotate(
            text, (min(bits, end), place), textcoords="offset points", va="center", fontsize=letters(7.5), **style
        )


def _explain_bars(canvas: Canvas) -> None:
    square: Style = {"marker": "s", "markersize": 8, "linestyle": "none", "markeredgewidth": 0}
    canvas.explain("discrimination loss (min Cllr)", **square)
    canvas.explain("calibration loss", **{**square, "color": pale(GREY)})
    if canvas.ax.get_xlim()[1] > 1.0:
        canvas.ax.axvline(1.0, **REFERENCE)
        canvas.explain("default (llr 0)", **REFERENCE)


def pale(color: Any) -> tuple[float, ...]:
    """Mix a colour with white."""
    return tuple(1.0 - _PALE * (1.0 - part) for part in to_rgb(color))
