"""Differences of pairs of systems, drawn one by one, and of so many pairs that each needs a place of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from deciban.analysis.curve_differences import CurveDifference
from deciban.analysis.pairs import FigureDifference, Pair
from deciban.plots.axes import Canvas, Mark, Style, in_percent
from deciban.plots.files import families_for
from deciban.plots.labels import readable, shortened
from deciban.plots.panels import legend_above, panels_of
from deciban.plots.paper import letters, line_width, size_for
from deciban.plots.prior_curves import REFERENCE

_HEAD, _PANEL, _THIN_ROW, _LETTER = 1.0, 1.5, 0.19, 0.075
"""Inches: all but the rows; where each pair has a row, a panel of one figure, this row, and a letter beside it."""

_NAME_SIZE = 8.0
_LONGEST = 13
"""Letters of each name of a pair, so that the sign between them is seen."""

_MOST, _LEAST = 0.6, 0.001
"""Half the height of a plot of curves: so much is enough for noise at its ends, and so much there is."""

DOTS: Style = {"linestyle": "-", "marker": "o", "markersize": 5}
"""Of a difference with its interval."""

SHARE = "Difference, share of the greater one (%)"
PRIORS = "Prior log odds (nats)"


def pair_label(pair: Pair) -> str:
    """Which difference it is, of long names what is left of each."""
    return " \N{MINUS SIGN} ".join(shortened(name, _LONGEST) for name in pair.names)


def forest_of_many(
    labels: Sequence[str], figures: Sequence[str], rows: Sequence[Sequence[FigureDifference | None]], line_kw: Style
) -> Axes:
    """A row for each pair, and beside each other a panel for each figure."""
    names = readable(labels, width=40)
    n, beside = len(rows[0]), _LETTER * max(map(len, names))
    height = _HEAD + _THIN_ROW * len(rows)
    width, _ = size_for((beside + _PANEL * n, height), by_rows=True)
    n_columns = min(n, max(1, int((width - beside) / (0.6 * _PANEL))))
    n_lines = -(-n // n_columns)
    figure = Figure(figsize=size_for((width, n_lines * height), by_rows=True), layout="constrained")
    panels = figure.subplots(n_lines, n_columns, sharey=True, squeeze=False).ravel().tolist()
    for spare in panels[n:]:
        spare.remove()
    for k, panel in enumerate(panels[:n]):
        canvas = Canvas([labels[0]], panel, line_kw, size=(_PANEL, height), dots={**DOTS, "markersize": 3.5})
        panel.axvline(0.0, **REFERENCE)
        for place, one in enumerate(pair[k] for pair in rows):
            if one is not None:
                draw_interval(panel, canvas.marks[0], place, one, own_unit=False, is_first=False, tip=4.0)
        panel.set_yticks(range(len(rows)), names)
        panel.set_ylim(len(rows) - 0.5, -0.5)
        panel.grid(visible=False, axis="y")
        panel.xaxis.set_major_formatter(in_percent)
        panel.set_title(figures[k].replace(" at ", "\nat "), fontsize=letters(9))
        panel.tick_params(labelsize=letters(8))
        for text in panel.get_yticklabels():
            text.set_fontproperties(families_for([text.get_text()], letters(8)))
    figure.supxlabel(SHARE, fontsize=letters(10))
    first: Axes = panels[0]
    return first


def draw_interval(
    ax: Axes, mark: Mark, place: float, one: FigureDifference, *, own_unit: bool, is_first: bool, tip: float = 7.0
) -> None:
    """Draw a difference with its interval, whose ends are so many points high."""
    relative = one.relative
    if own_unit or relative is None:
        middle, low, high = one.interval.estimate, one.interval.low, one.interval.high
    else:
        middle, low, high = relative
    style = {**mark.main, "label": mark.main["label"] if is_first else "_nolegend_"}
    ax.plot([low, middle, high], [place, place, place], **{**style, "markevery": [1]})
    ax.plot([low, high], [place, place], linestyle="none", marker="|", markersize=tip, color=mark.color)


def draw_curves(ax: Axes, mark: Mark, one: CurveDifference, *, share: int, label: str) -> None:
    """Draw the difference of a curve with its band, the paler the more of them share the plot."""
    style = mark.thin() if one.curve == "min_error" else mark.main
    ax.plot(one.log_odds, one.difference, **{**style, "label": label})
    ax.fill_between(one.log_odds, one.low, one.high, color=mark.color, alpha=0.18 / math.sqrt(share), linewidth=0)


def highest(pairs: Sequence[Sequence[CurveDifference]]) -> tuple[float, float]:
    """How far priors reach, and half the height that shows all differences but for noise at extreme priors."""
    curves = [one for pair in pairs for one in pair]
    top = max(_LEAST, 1.08 * max(float(np.abs([one.low, one.high]).max()) for one in curves))
    middle = max(float(np.median(np.abs(one.difference))) for one in curves)
    return max(float(np.abs(one.log_odds).max()) for one in curves), min(top, max(_MOST, 1.4 * middle))


def difference_of(one: CurveDifference) -> str:
    """Of what a curve is the difference."""
    return f"Difference of {'C_avg' if one.curve == 'c_avg' else 'normalized Bayes error rate'}"


def curves_of_many(labels: Sequence[str], pairs: Sequence[Sequence[CurveDifference]], line_kw: Style) -> Axes:
    """A panel for each pair: bands of so many would cover each other."""
    first = next(one for pair in pairs for one in pair)
    figure, panels = panels_of(len(pairs), None, PRIORS, difference_of(first))
    names = readable(labels, width=28)
    fonts = families_for(names, letters(_NAME_SIZE))
    mark = Canvas([""], panels[0], line_kw, size=(_PANEL, _PANEL)).marks[0]
    mark = Mark({**mark.main, "linewidth": line_width(1.3)})
    for panel, name, pair in zip(panels, names, pairs, strict=True):
        panel.set_title(name, loc="left", fontproperties=fonts, pad=3.0)
        panel.axhline(0.0, **REFERENCE)
        for one in pair:
            draw_curves(panel, mark, one, share=1, label="_nolegend_")
    reach, top = highest(pairs)
    panels[0].set(xlim=(-reach, reach), ylim=(-top, top))
    panels[0].xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    lines = {"actual": mark.main, "at the best thresholds": mark.thin()}
    shown = ["at the best thresholds" if one.curve == "min_error" else "actual" for pair in pairs for one in pair]
    handles = [Line2D([], [], **{**lines[name], "label": name}) for name in dict.fromkeys(shown)]
    band = f"{100 * first.level:.4g} % band over all priors"
    handles.append(Line2D([], [], label=band, color=mark.color, alpha=0.25, linewidth=6))
    legend_above(figure, handles, None, is_long=True)
    return panels[0]
