"""Detection of every class against the rest: one APE plot each, side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cbook import normalize_kwargs
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from deciban.errors import InputError
from deciban.evaluation import Evaluation
from deciban.plots.classes import ClassDrawable, one_system, systems_before
from deciban.plots.classes_cells import HALO, NAME_WIDTH, brief, largest
from deciban.plots.fonts import families_for
from deciban.plots.priors import BEFORE, REFERENCE, default_error
from deciban.plots.sheet import PALETTE, THIN_WIDTH, Style, in_percent, readable

_PANEL = (2.15, 1.75)
"""Inches of a panel."""
_NARROWEST = 5.8
"""Inches that the legend takes in one line."""
_NAME_SIZE, _NUMBER_SIZE = 9.0, 7.0
_HEADROOM, _LIMITS = 1.4, (0.02, 0.7)
"""Room for numbers above the curves, and how low and high the axis of errors (fractions) may end."""


def class_ape(
    result: ClassDrawable, *, before: ClassDrawable | None = None, columns: int | None = None, **line_kw: Any
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
    they leave the panels. Dotted: decisions by the
    prior alone. In the corner Cllr before and after calibration, and the least Cllr after any increasing map, in bits.
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
    detectors = system.curves.detectors
    old: Sequence[Evaluation | None] = [None] * len(detectors)
    if before is not None:
        old = systems_before(before, [system])[0].curves.detectors
        if len(old) != len(detectors):
            raise InputError(f"before: {len(old)} classes are detected, but {len(detectors)} after calibration.")
    if columns is not None and columns < 1:
        raise InputError(f"columns: at least 1 panel stands in a row, got {columns}.")
    figure, panels = _panels(len(detectors), columns)
    main: Style = {"color": PALETTE[0], "linewidth": 1.5, "zorder": 2.5, **normalize_kwargs(line_kw, Line2D)}
    names = readable([detector.name for detector in detectors], width=NAME_WIDTH)
    fonts = families_for(names, _NAME_SIZE)
    highest = [0.0, 0.0]
    for panel, name, detector, earlier in zip(panels, names, detectors, old, strict=True):
        panel.set_title(name, loc="left", fontproperties=fonts, pad=3.0)
        highest = np.maximum(highest, _draw(panel, detector, earlier, main)).tolist()
        _write(panel, detector, earlier)
    ends = [float(detector.curves.prior_log_odds[-1]) for detector in detectors]
    panels[0].set_xlim(-max(ends), max(ends))
    top = _top(*highest)
    panels[0].set_ylim(-0.01 * top, top)
    panels[0].yaxis.set_major_formatter(in_percent)
    panels[0].yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    panels[0].xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    _legend(figure, main, with_before=before is not None)
    return figure


def _panels(n: int, columns: int | None) -> tuple[Figure, list[Axes]]:
    """Make a figure of panels that share both axes; only those at the edges carry numbers."""
    n_columns = min(n, _best_columns(n) if columns is None else columns)
    n_rows = -(-n // n_columns)
    size = (max(n_columns * _PANEL[0] + 0.6, _NARROWEST), n_rows * _PANEL[1] + 1.0)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(n_rows, n_columns, sharex=True, sharey=True, squeeze=False)
    panels = list(grid.flat)
    for spare in panels[n:]:
        spare.remove()
    for at, panel in enumerate(panels[:n]):
        panel.grid(visible=True, color="0.9", linewidth=0.6)
        panel.set_axisbelow(True)
        lowest = at + n_columns >= n
        panel.tick_params(labelsize=8, labelbottom=lowest)
    figure.supxlabel("Prior log odds of the class (nats)", fontsize=10)
    figure.supylabel("Bayes error rate (%)", fontsize=10)
    return figure, panels[:n]


def _best_columns(n: int) -> int:
    """Return how many columns of 3 to 6 leave the fewest panels empty, near a square."""
    if n <= 4:
        return 2 if n == 4 else 3
    return min(range(3, 7), key=lambda columns: (-n % columns, abs(columns - math.sqrt(1.2 * n))))


def _draw(panel: Axes, detector: Evaluation, earlier: Evaluation | None, main: Style) -> tuple[float, float]:
    """Draw the curves of one class; return the highest errors after and before calibration."""
    log_odds = detector.curves.prior_log_odds
    panel.plot(log_odds, default_error(log_odds), **REFERENCE)
    before = 0.0
    if earlier is not None:
        before = _pair(
            panel, earlier, *({**BEFORE, "color": main["color"], "linestyle": shape} for shape in ("-", "--"))
        )
    return _pair(panel, detector, main, _thin(main)), before


def _pair(panel: Axes, detector: Evaluation, main: Style, thin: Style) -> float:
    """Draw actual and least errors, not normalized; return the highest that is finite."""
    curves = detector.curves
    scale = default_error(curves.prior_log_odds)
    with np.errstate(invalid="ignore", over="ignore"):
        actual, least = curves.act_error * scale, curves.min_error * scale
    panel.plot(curves.prior_log_odds, actual, **main)
    panel.plot(curves.prior_log_odds, least, **thin)
    return largest(actual, 0.0)


def _thin(main: Style) -> Style:
    return {"color": main["color"], "linewidth": THIN_WIDTH, "linestyle": "--"}


def _top(after: float, before: float) -> float:
    """Upper limit of the errors: curves before calibration may leave the panel, or those after it could not be seen."""
    highest = max(after, min(before, max(2 * after, 0.05)))
    return float(np.clip(_HEADROOM * highest, *_LIMITS))


def _write(panel: Axes, detector: Evaluation, earlier: Evaluation | None) -> None:
    """Write Cllr before and after, and its minimum, into the corner of a panel."""
    was = "" if earlier is None else f"{brief(earlier.cllr)} → "
    text = f"Cllr {was}{brief(detector.cllr)}\nmin {brief(detector.min_cllr)}"
    font = families_for(text.split("\n"), _NUMBER_SIZE)
    style: Style = {"transform": panel.transAxes, "va": "top", "fontproperties": font, "zorder": 5}
    panel.text(0.03, 0.97, text, path_effects=[HALO], **style)


def _legend(figure: Figure, main: Style, *, with_before: bool) -> None:
    """Say above all panels what the lines mean."""
    entries: list[tuple[str, Style]] = [("actual", main), ("minimum", _thin(main))]
    if with_before:
        entries.append(("before calibration", {**BEFORE, "color": main["color"]}))
    entries.append(("default (llr 0)", REFERENCE))
    handles = [Line2D([], [], label=label, **style) for label, style in entries]
    title = "Cllr in bits" + (", before → after calibration" if with_before else "")
    figure.legend(
        handles=handles,
        loc="outside upper center",
        ncols=len(handles),
        frameon=False,
        fontsize=9,
        title=title,
        title_fontsize=8,
    )
