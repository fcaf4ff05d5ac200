"""Plots of comparisons: differences of figures with their intervals, and of curves with their bands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes

from deciban.analysis.comparison import Comparison
from deciban.analysis.pairs import FigureDifference
from deciban.errors import InputError
from deciban.plots.axes import Canvas, in_percent
from deciban.plots.files import families_for
from deciban.plots.labels import readable
from deciban.plots.many_pairs import (
    DOTS,
    PRIORS,
    SHARE,
    curves_of_many,
    difference_of,
    draw_curves,
    draw_interval,
    forest_of_many,
    highest,
)
from deciban.plots.paper import letters
from deciban.plots.prior_curves import REFERENCE, write_priors

_WIDTH, _ROW, _HEAD = 6.0, 0.34, 1.0
"""Inches: of a forest plot, of one of its rows, and of all else in it."""

_TOGETHER, _HIGHEST, _MOST_TOGETHER = 4, 4.0, 10
"""Pairs that a row has room for, how many times as high it may be for more, and so many pairs at most."""

_SPREAD = 0.6
"""Share of the height of a row over which several pairs are spread."""

_SIZE = (6.0, 4.0)
_MOST_CURVES = 4
"""Pairs whose bands can be told apart in one plot."""

_LETTERS = 9.0


def forest(comparison: Comparison, ax: Axes | None = None, *, figure: str | None = None, **line_kw: Any) -> Axes:
    """Draw differences with their intervals, a row for each figure; or for each pair of systems, of one figure.

    Parameters
    ----------
    comparison : Comparison
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    figure : str, optional
        One figure by its name, such as ``"eer"`` or ``"min_dcf@2"``: its differences stand in its own unit then.
        Left out, all that are the smaller the better are shown, as shares of the greater of both systems.
    **line_kw
        Properties of the intervals of each pair.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the comparison has no such figure.

    Notes
    -----
    Differences are first minus second: to the right of the line the second system has the smaller figure. Intervals
    that touch the line leave open whether there is a difference. More than ten pairs would cover each other: they have
    a row each, and figures a panel each, the first of which is returned.

    Examples
    --------
    >>> import deciban
    >>> rng = np.random.default_rng(1)
    >>> unit = np.repeat(np.arange(40), 3)
    >>> pairs = [(rng.normal(2, 1, 120), rng.normal(-2, 1, 120)), (rng.normal(1, 1, 120), rng.normal(-1, 1, 120))]
    >>> found = deciban.compare(*pairs, names=["A", "B"], tar_units=unit, non_units=unit)
    >>> forest(found).get_xlabel()
    'Difference, share of the greater one (%)'
    """
    rows = _rows_of(comparison, figure)
    by_pair = figure is not None
    if ax is None and not by_pair and len(rows) > _MOST_TOGETHER:
        return forest_of_many([str(pair) for pair in comparison.pairs], rows, line_kw)
    labels = [str(pair) for pair in comparison.pairs] if by_pair else [one.words for one in rows[0]]
    names = [labels[0]] if by_pair else [str(pair) for pair in comparison.pairs]
    row = _ROW * min(max(1.0, len(names) / _TOGETHER), _HIGHEST)
    size = (_WIDTH, _HEAD + row * max(len(labels), 2))
    canvas = Canvas(names, ax, line_kw, size=size, by_rows=True, dots=DOTS)
    canvas.ax.axvline(0.0, **REFERENCE)
    marks = canvas.marks * len(comparison.pairs) if by_pair else canvas.marks
    for k, (mark, pair) in enumerate(zip(marks, rows, strict=True)):
        places = [float(k)] if by_pair else _places(k, len(rows), len(labels))
        for number, (place, one) in enumerate(zip(places, pair, strict=True)):
            draw_interval(canvas.ax, mark, place, one, own_unit=by_pair, is_first=number == 0)
    canvas.ax.set_yticks(range(len(labels)), readable(labels, width=40))
    canvas.ax.set_ylim(len(labels) - 0.5, -0.5)
    canvas.ax.grid(visible=False, axis="y")
    shown = rows[0][0]
    if by_pair and not _is_share(shown):
        label = f"Difference of {shown.words}"
    else:
        canvas.ax.xaxis.set_major_formatter(in_percent)
        label = f"Difference of {shown.words} (%)" if by_pair else SHARE
    return _finished(canvas, label, "", with_legend=not by_pair)


def _rows_of(comparison: Comparison, figure: str | None) -> list[list[FigureDifference]]:
    """For each pair the figures that are shown."""
    if figure is None:
        known = [one.figure for one in comparison.pairs[0].figures]
        shown = [f for f in known if all(_of(pair, f).relative is not None for pair in comparison.pairs)]
    else:
        named = [one for one in comparison.pairs[0].figures if figure in (one.name, one.name.removesuffix("@1"))]
        shown = [one.figure for one in named]
    if not shown:
        names = ", ".join(one.name for one in comparison.pairs[0].figures)
        raise InputError(f"figure: the comparison has no {figure or 'figure to draw'}. There are {names}.")
    return [[_of(pair, one) for one in shown] for pair in comparison.pairs]


def _of(pair: Any, figure: Any) -> FigureDifference:
    found: FigureDifference = next(one for one in pair.figures if one.figure == figure)
    return found


def _is_share(one: FigureDifference) -> bool:
    from deciban.analysis.compared_figures import shown

    return shown(one.figure).in_percent


def _places(k: int, n_pairs: int, n_rows: int) -> list[float]:
    """Heights of the rows of a pair: several pairs stand below one another in each."""
    shift = 0.0 if n_pairs == 1 else _SPREAD * (k / (n_pairs - 1) - 0.5)
    return [row + shift for row in range(n_rows)]


def _finished(canvas: Canvas, x: str, y: str, *, with_legend: bool) -> Axes:
    ax = canvas.finish(x, y)
    legend = ax.get_legend()
    if not with_legend and legend is not None:
        legend.remove()
    for text in ax.get_yticklabels():
        text.set_fontproperties(families_for([text.get_text()], letters(_LETTERS)))
    return ax


def difference_curve(
    comparison: Comparison, ax: Axes | None = None, *, curves: Sequence[str] | None = None, **line_kw: Any
) -> Axes:
    """Draw differences of Bayes error curves over the prior log odds, with bands that hold at all priors at once.

    Parameters
    ----------
    comparison : Comparison
        One pair or several, each in its own colour.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    curves : sequence of str, optional
        Which ones: ``"act_error"`` (solid), ``"min_error"`` (dashed), ``"c_avg"`` of many classes; all when left out.
    **line_kw
        Properties of the curve of actual errors of each pair.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the comparison has no such curve.

    Notes
    -----
    Differences are first minus second: above 0 the second system errs less. Where a band leaves out 0, one system is
    better beyond doubt. Curves that leave the plot are cut off. More than four pairs have a panel each, the first of
    which is returned. Source of the bands: Montiel Olea and Plagborg-Møller,
    Simultaneous confidence bands, Journal of Applied Econometrics 34, 2019.

    Examples
    --------
    >>> import deciban
    >>> rng = np.random.default_rng(1)
    >>> unit = np.repeat(np.arange(40), 3)
    >>> pairs = [(rng.normal(2, 1, 120), rng.normal(-2, 1, 120)), (rng.normal(1, 1, 120), rng.normal(-1, 1, 120))]
    >>> difference_curve(deciban.compare(*pairs, tar_units=unit, non_units=unit)).get_xlabel()
    'Prior log odds (nats)'
    """
    wanted = [[one for one in pair.curves if curves is None or one.curve in curves] for pair in comparison.pairs]
    if not any(wanted):
        known = dict.fromkeys(one.curve for pair in comparison.pairs for one in pair.curves)
        raise InputError(f"curves: the comparison has no such curve. There are {', '.join(known) or 'none'}.")
    if ax is None and len(wanted) > _MOST_CURVES:
        return curves_of_many(list(map(str, comparison.pairs)), wanted, line_kw)
    canvas = Canvas([str(pair) for pair in comparison.pairs], ax, line_kw, size=_SIZE)
    canvas.ax.axhline(0.0, **REFERENCE)
    for mark, pair in zip(canvas.marks, wanted, strict=True):
        for k, one in enumerate(pair):
            draw_curves(canvas.ax, mark, one, share=len(wanted), label=mark.main["label"] if k == 0 else "_nolegend_")
            name = "at the best thresholds" if one.curve == "min_error" else "actual"
            canvas.explain(name, linestyle="--" if one.curve == "min_error" else "-")
    first = wanted[0][0]
    canvas.explain(f"{100 * first.level:.4g} % band over all priors", color="0.35", alpha=0.25, linewidth=6)
    reach, top = highest(wanted)
    canvas.keep_limits((-reach, reach), (-top, top))
    _say_who(canvas.ax, comparison)
    write_priors(canvas.ax)
    return canvas.finish(PRIORS, difference_of(first))


def _say_who(ax: Axes, comparison: Comparison) -> None:
    """Write above and below the line which system is better there."""
    if len(comparison.pairs) > 1:
        return
    first, second = readable(comparison.pairs[0].names)
    for name, y, side in ((second, 0.98, "top"), (first, 0.02, "bottom")):
        text = f"{name} better"
        style = families_for([text], letters(_LETTERS))
        ax.text(0.5, y, text, transform=ax.transAxes, ha="center", va=side, fontproperties=style, color="0.35")
