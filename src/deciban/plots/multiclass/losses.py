"""What detection of each class loses, as stacked bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb

from deciban.errors import InputError
from deciban.multiclass import DetectionAnalysis
from deciban.plots.axes import GREY, Canvas, Mark, Style, readable
from deciban.plots.files import families_for
from deciban.plots.multiclass.cells import NAME_WIDTH, ClassDrawable, brief, class_systems_of
from deciban.plots.prior_curves import REFERENCE
from deciban.types import FloatArray

_WIDTH, _ROW, _AROUND = 6.0, 0.17, 0.13
"""Inches: of the figure, of a bar, of the space between two classes."""
_FURTHEST = 2.0
"""Bits beyond which bars are cut off: twice what a detector without information has."""
_NAME_SIZE, _NUMBER_SIZE = 9.0, 7.5
_PALE = 0.35


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
    _same_targets(found)
    n_bars = len(systems)
    size = (_WIDTH, len(classes) * (n_bars * _ROW + _AROUND) + 0.9)
    canvas = Canvas([system.name for system in systems], ax, {}, size=size)
    ax = canvas.ax
    ax.grid(visible=False, axis="y")
    names = readable(classes, width=NAME_WIDTH)
    place = np.arange(len(classes), dtype=np.float64)
    ax.set_yticks(place, names, fontproperties=families_for(names, _NAME_SIZE))
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(classes) - 0.5, -0.5)
    height = _ROW / (n_bars * _ROW + _AROUND)
    end = _end(found)
    canvas.keep_limits((0.0, end))
    for i, (mark, losses) in enumerate(zip(canvas.marks, found, strict=True)):
        at = place + (i - (n_bars - 1) / 2) * height
        _bars(ax, at, 0.92 * height, losses, mark, bar_kw)
        _write(ax, at, losses.cllr, end)
    _legend(canvas)
    return canvas.finish("Cllr against the rest (bits)", "")


def _same_targets(found: Sequence[DetectionAnalysis]) -> None:
    """Refuse systems of which one was evaluated with a class that is out of set, and another was not."""
    if any(not np.array_equal(losses.target, found[0].target) for losses in found):
        raise InputError("result: the systems do not detect the same classes. Draw them one by one.")


def _bars(ax: Axes, at: FloatArray, height: float, losses: DetectionAnalysis, mark: Mark, bar_kw: Style) -> None:
    """Draw the bars of one system; where a loss is infinite it goes far beyond the frame."""
    least, actual = (np.minimum(bits, 10 * _FURTHEST) for bits in (losses.min_cllr, losses.cllr))
    style: Style = {"height": height, "linewidth": 0, **bar_kw}
    ax.barh(at, least, **{"color": mark.color, "label": mark.main["label"], **style})
    ax.barh(at, np.maximum(actual - least, 0.0), left=least, **{"color": pale(mark.color), **style})


def _write(ax: Axes, at: FloatArray, cllr: FloatArray, end: float) -> None:
    """Write Cllr behind each bar, or at its end if it is cut off."""
    for place, bits in zip(at, cllr.tolist(), strict=True):
        outside = bits > 0.93 * end
        style: Style = {"ha": "right" if outside else "left", "xytext": (-3 if outside else 3, 0)}
        text = f"{brief(bits)} →" if bits > end else brief(bits)
        ax.annotate(
            text, (min(bits, end), place), textcoords="offset points", va="center", fontsize=_NUMBER_SIZE, **style
        )


def _end(found: Sequence[DetectionAnalysis]) -> float:
    """Where the axis ends: behind the longest bar and its number, at 2 bits if that is longer."""
    cllr = np.concatenate([losses.cllr for losses in found])
    highest = float(cllr.max())
    return min(1.12 * highest, _FURTHEST) or 1.0


def _legend(canvas: Canvas) -> None:
    square: Style = {"marker": "s", "markersize": 8, "linestyle": "none", "markeredgewidth": 0}
    canvas.explain("discrimination loss (min Cllr)", **square)
    canvas.explain("calibration loss", **{**square, "color": pale(GREY)})
    if canvas.ax.get_xlim()[1] > 1.0:
        canvas.ax.axvline(1.0, **REFERENCE)
        canvas.explain("default (llr 0)", **REFERENCE)


def pale(color: Any) -> tuple[float, ...]:
    """Mix a colour with white."""
    return tuple(1.0 - _PALE * (1.0 - part) for part in to_rgb(color))
