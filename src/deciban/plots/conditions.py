"""Plots of results by condition: metrics with intervals, a map of several metrics, and a zoo of speakers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from deciban.analysis.compared import figure_among, in_words, shown
from deciban.errors import InputError
from deciban.evaluation.conditions import ByConditions, SystemConditions
from deciban.evaluation.results import Results
from deciban.evaluation.uncertainty import Figure, shown_interval
from deciban.evaluation.worst_trials import ANIMALS, Menagerie
from deciban.plots.axes import HALO, Canvas, Style, in_percent
from deciban.plots.curves import REFERENCE
from deciban.plots.files import letters
from deciban.plots.multiclass.matrices import BLUES, Grid, brief, largest

_WIDTH, _ROW, _HEAD = 6.0, 0.3, 1.1
"""Inches: of the plot, of one of its rows, and of all else in it."""

_TOGETHER = 4
"""Systems that a row has room for."""

_SPREAD = 0.5
"""Share of the height of a row over which several systems are spread."""
_WIDER = 0.75
"""The same of many systems."""


def by_condition(
    results: Results[Any], ax: Axes | None = None, *, figure: str | None = None, partition: int = 0, **line_kw: Any
) -> Axes:
    """Draw a figure of every condition with its interval, a row for each, and that of all trials as a line.

    Parameters
    ----------
    results : Results
        Of one system or several, with conditions: ``evaluate(..., by="channel")``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    figure : str, optional
        A figure by its name, such as ``"eer"`` or ``"act_dcf@2"``; the equal error rate when left out, of many classes
        Cllr.
    partition : int
        Which of several partitions, from 0 in the order in which they were asked for.
    **line_kw
        Properties of the intervals of each system.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the results have no conditions, no such partition or no such figure.

    Notes
    -----
    A condition that lacks trials of a class has no mark; figures without intervals, where units are not known, are
    dots. Below the conditions stands what equal conditions give, where that was asked for.

    Examples
    --------
    >>> import deciban
    >>> frame = {"score": [2.0, 1.0, -1.0, 0.5, 3.0, -2.0], "label": [1, 1, 0, 0, 1, 0], "sex": list("ffmfmm")}
    >>> ax = by_condition(deciban.evaluate(frame, score=["score"], by="sex"), figure="cllr")
    >>> [text.get_text() for text in ax.get_yticklabels()], ax.get_xlabel()
    (['pooled', 'sex f', 'sex m'], 'Cllr')
    """
    systems = _systems(results, partition)
    pooled: Any = systems[0].pooled
    wanted = figure or ("cllr" if pooled.kind == "classes" else "eer")
    chosen = figure_among(_known(pooled), wanted, "these results")
    parts = [one.partitions[partition] for one in systems]
    labels, equal = ["pooled", *(one.name for one in parts[0].conditions)], _equalized(systems[0], parts[0])
    labels += ["equalized"] if equal else []
    dots: Style = {"linestyle": "-", "marker": "o", "markersize": 4.5}
    names, row = [str(one.pooled.name) for one in systems], _ROW * max(1.0, len(systems) / _TOGETHER)
    size = (_WIDTH, _HEAD + row * max(len(labels), 3))
    canvas = Canvas(names, ax, line_kw, size=size, by_rows=True, dots=dots)
    spread = _SPREAD if len(systems) <= _TOGETHER else _WIDER
    for k, (mark, one, part) in enumerate(zip(canvas.marks, systems, parts, strict=True)):
        shift = 0.0 if len(systems) == 1 else spread * (k / (len(systems) - 1) - 0.5)
        rows = [one.pooled, *(condition.found for condition in part.conditions)]
        rows += [same.found for same in _equalized(one, part)]
        canvas.ax.axvline(_value(one.pooled, chosen), **{**REFERENCE, "color": mark.color})
        for row, found in enumerate(rows):
            if found is not None:
                sure = shown_interval(found, chosen)
                ends = () if sure is None else (sure.low, sure.high)
                canvas.draw_interval(mark, row + shift, _value(found, chosen), ends)
    canvas.name_rows(labels)
    words = in_words(chosen, pooled)
    if _is_share(chosen):
        canvas.ax.xaxis.set_major_formatter(in_percent)
        words += " (%)"
    return canvas.finish(words, "", has_legend=len(systems) > 1)


def condition_map(
    results: Results[Any],
    ax: Axes | None = None,
    *,
    figures: str | Sequence[str] | None = None,
    partition: int = 0,
    **mesh_kw: Any,
) -> Axes:
    """Draw a map of conditions: a row for each, a column for each figure of a system, or for each system.

    Parameters
    ----------
    results : Results
        Of one system or several, with conditions: ``evaluate(..., by="channel")``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, as large as the cells need.
    figures : str or sequence of str, optional
        Figures by their names, such as ``"eer"`` or ``"act_dcf@2"``; one where there are several systems. Left out,
        several systems show the equal error rate, of many classes Cllr, and one system these and costs.
    partition : int
        Which of several partitions, from 0 in the order in which they were asked for.
    **mesh_kw
        Properties of the mesh of cells.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the results have no conditions, no such partition or no such figure, or several systems are to show several
        figures.

    Notes
    -----
    Colours go from 0 to the largest finite value of a figure: systems share one scale, each of several figures has its
    own. A condition that lacks trials of a class has a dash; what is infinite is nearly black.

    Examples
    --------
    >>> import deciban
    >>> frame = {"score": [2.0, 1.0, -1.0, 0.5, 3.0, -2.0], "label": [1, 1, 0, 0, 1, 0], "sex": list("ffmfmm")}
    >>> ax = condition_map(deciban.evaluate(frame, score=["score"], by="sex"), figures=["eer", "cllr"])
    >>> [text.get_text() for text in ax.get_yticklabels()], [text.get_text() for text in ax.get_xticklabels()]
    (['pooled', 'sex f', 'sex m'], ['EER (ROCCH) (%)', 'Cllr'])
    """
    systems = _systems(results, partition)
    pooled: Any = systems[0].pooled
    wanted = [figures] if isinstance(figures, str) else list(figures or _default_figures(systems))
    chosen = [figure_among(_known(pooled), one, "these results", "figures") for one in wanted]
    if len(systems) > 1 and len(chosen) != 1:
        raise InputError(f"figures: {len(chosen)} figures of {len(systems)} systems. Ask for one figure, or system.")
    several = len(systems) > 1
    columns = [str(one.pooled.name) for one in systems] if several else [_heading(one, pooled) for one in chosen]
    parts = [one.partitions[partition] for one in systems]
    rows = ["pooled", *(condition.name for condition in parts[0].conditions)]
    found = [
        [one.pooled, *(condition.found for condition in part.conditions)]
        for one, part in zip(systems, parts, strict=True)
    ]
    cells = [(one, chosen[0]) for one in found] if several else [(found[0], one) for one in chosen]
    values = np.array([[np.nan if c[k] is None else _value(c[k], f) for c, f in cells] for k in range(len(rows))])
    tops = [largest(values if several else values[:, k], 1.0) for k in range(len(columns))]
    grid = Grid(rows, columns, ax, n_scales=int(several))
    empty = np.isnan(values)
    mesh = grid.shade(np.ma.masked_array(np.maximum(values, 0.0) / tops, empty), BLUES, 1.0, **mesh_kw)
    texts = [[_cell(x, f) for x, (_, f) in zip(row, cells, strict=True)] for row in values.tolist()]
    grid.write(texts, [mesh])
    for row, column in zip(*np.nonzero(empty), strict=True):
        grid.ax.text(column, row, "-", ha="center", va="center", color="0.6", fontsize=letters(9))
    if several:
        top = tops[0] * (100.0 if _is_share(chosen[0]) else 1.0)
        grid.explain(mesh, _heading(chosen[0], pooled), format=lambda share, _position: brief(share * top))
    return grid.ax


def _systems(results: Any, partition: int) -> tuple[SystemConditions, ...]:
    """Those of results, if they have such a partition."""
    systems: tuple[SystemConditions, ...] = getattr(results, "conditions", ())
    if not systems or not 0 <= partition < len(systems[0].partitions):
        n_known = len(systems[0].partitions) if systems else 0
        raise InputError(f"partition: got {partition}; the results have {n_known}. Evaluate by conditions first (by=).")
    return systems


def _default_figures(systems: Sequence[SystemConditions]) -> list[str]:
    of_classes = systems[0].pooled.kind == "classes"
    names = ["cllr", "min_cllr", "error_rate"] if of_classes else ["eer", "min_dcf", "act_dcf", "min_cllr", "cllr"]
    return names if len(systems) == 1 else names[:1]


def _is_share(figure: Figure) -> bool:
    return shown(figure).in_percent or (not isinstance(figure, str) and figure[0] in ("p_miss", "p_fa"))


def _heading(figure: Figure, pooled: Any) -> str:
    return in_words(figure, pooled).replace(" at p_target ", " at ") + (" (%)" if _is_share(figure) else "")


def _cell(value: float, figure: Figure) -> str:
    """What is written into a cell; figures are costs and shares, but calibration may lose less than nothing."""
    size = abs(value) * (100.0 if _is_share(figure) else 1.0)
    return "" if np.isnan(value) else ("\N{MINUS SIGN}" if value < 0 and brief(size) != "0" else "") + brief(size)


def _equalized(one: SystemConditions, part: ByConditions) -> list[Any]:
    return [same for same in one.equalized if same.title == part.title][:1]


def _known(one: Any) -> list[Figure]:
    """Figures that can be drawn, with intervals or without."""
    if one.kind == "classes":
        names = ["cllr", "min_cllr", "calibration_loss", "error_rate", "brier"]
        return [*names, *((name, k) for name in ("c_avg", "min_c_avg") for k in range(len(one.points)))]
    names = ["eer", "cllr", "min_cllr", "calibration_loss", "auc", "mean_min_dcf", "mean_act_dcf"]
    at_points = ("min_dcf", "act_dcf", "p_miss", "p_fa")
    return [*names, *((name, k) for name in at_points for k in range(len(one.operating_points)))]


def _value(one: Any, figure: Figure) -> float:
    if isinstance(figure, str):
        return float(getattr(one, figure))
    points = one.points if one.kind == "classes" else one.operating_points
    return float(getattr(points[int(figure[1])], figure[0]))


_SIZE = (5.6, 5.0)
_LIMIT: Style = {"linestyle": ":", "linewidth": 1.0, "zorder": 1.8}
_CORNERS = {"doves": (1, 0), "chameleons": (1, 1), "phantoms": (0, 0), "worms": (0, 1)}
"""Where their box is: at the right end, at the top."""

_MOST_WITH_BOXES = 3


def zoo(result: Menagerie | Sequence[Menagerie], ax: Axes | None = None, **line_kw: Any) -> Axes:
    """Draw each speaker's mean non-target score over the mean target score, and the corners of the extreme quarters.

    Parameters
    ----------
    result : Menagerie or sequence of Menagerie
        One system or several; `deciban.evaluation.menagerie` makes one.
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
        If there is no system, or something else.

    Notes
    -----
    Each corner holds speakers that are in an extreme quarter by both means, and says how many: doves are recognized
    and taken for nobody, worms are neither, chameleons match everybody, phantoms nobody. Were both means independent,
    one speaker of 16 would be in each corner. Several systems are seen best if their scores are on one scale, as llrs
    are; more than three are drawn without corners. Source: Yager and Dunstone, The biometric menagerie, IEEE
    Transactions on Pattern Analysis and Machine Intelligence 32, 2010.

    Examples
    --------
    >>> from deciban.evaluation import menagerie
    >>> pairs = [[i, j] for i in range(4) for j in range(i, 4)]
    >>> ax = zoo(menagerie([9, 2, 2, 4, 8, 2, 4, 3, 4, 1], [i == j for i, j in pairs], pairs))
    >>> sorted(text.get_text() for text in ax.texts)
    ['chameleons: 0', 'doves: 1', 'phantoms: 0', 'worms: 1']
    """
    given = [result] if isinstance(result, Menagerie) else list(result)
    for one in given:
        if not isinstance(one, Menagerie):
            raise InputError(f"result: expected Menageries, got {type(one).__name__}. `menagerie(...)` makes one.")
    if not given:
        raise InputError("result: there is no system to draw.")
    dots: Style = {"linestyle": "none", "marker": "o", "markersize": 4, "alpha": 0.6, "markeredgewidth": 0}
    canvas = Canvas([one.name for one in given], ax, line_kw, size=_SIZE, dots=dots)
    for mark, one in zip(canvas.marks, given, strict=True):
        canvas.ax.plot(one.tar_mean, one.non_mean, **mark.main)
    if len(given) <= _MOST_WITH_BOXES:
        for mark, one in zip(canvas.marks, given, strict=True):
            _corners(canvas, mark.color, one, is_alone=len(given) == 1)
        canvas.explain("quartiles", **_LIMIT)
    noun = given[0].noun
    return canvas.finish(f"Mean target score of each {noun}", f"Mean non-target score of each {noun}")


def _corners(canvas: Canvas, color: Any, one: Menagerie, *, is_alone: bool) -> None:
    """Draw the limits, and where there is one system name what lies in their corners."""
    ax = canvas.ax
    for limit in one.tar_limits:
        ax.axvline(limit, color=color, **_LIMIT)
    for limit in one.non_limits:
        ax.axhline(limit, color=color, **_LIMIT)
    for animal in ANIMALS if is_alone else ():
        right, top = _CORNERS[animal]
        place: Style = {"ha": "right" if right else "left", "va": "top" if top else "bottom", "fontsize": letters(9)}
        text = f"{animal}: {int(one.members(animal).sum())}"
        at = (0.985 if right else 0.015, 0.985 if top else 0.015)
        ax.text(*at, text, transform=ax.transAxes, path_effects=[HALO], zorder=5, **place)
