"""Plots of differences with intervals, of plans, of model parameters, and of contributions of systems."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, LogNorm, to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from deciban.analysis import Plan
from deciban.analysis.comparison import Comparison, MetricDifference, Pair, metrics_compared
from deciban.analysis.differences import CurveDifference
from deciban.analysis.fusion import SystemWorth
from deciban.analysis.systems import ScorePairs
from deciban.core.resampling.intervals import LEVEL
from deciban.errors import InputError
from deciban.evaluation.metrics import metric_of
from deciban.models.multiclass import ClassModel, parameter_intervals, weight_intervals
from deciban.models.score_model import ScoreModel
from deciban.plots import files
from deciban.plots.axes import GREY, POINT_MARKERS, Canvas, Interval, Mark, Style, in_percent
from deciban.plots.curves import REFERENCE, write_priors
from deciban.types import FloatArray

_HEAD_OF_MANY_PAIRS, _PANEL, _THIN_ROW, _LETTER = 1.0, 1.5, 0.19, 0.075
"""Inches of everything except rows; for rows of pairs: of a panel of one metric, of a row, and of a character."""


_NAME_SIZE = 8.0

_LONGEST = 13
"""Characters of each name of a pair, so that the minus sign stays visible."""


_MOST, _LEAST = 0.6, 0.001
"""Limits of half the height of a plot of curves; noise at extreme priors does not exceed the first one."""


DOTS: Style = {"linestyle": "-", "marker": "o", "markersize": 5}
"""Style of a difference with its interval."""


SHARE = "Difference in % of the larger value"

PRIORS = "Prior log odds (nats)"


def pair_label(pair: Pair) -> str:
    """Return the label of a pair, with shortened names."""
    return " \N{MINUS SIGN} ".join(files.shortened(name, _LONGEST) for name in pair.names)


def forest_of_many(
    labels: Sequence[str], metrics: Sequence[str], rows: Sequence[Sequence[MetricDifference | None]], line_kw: Style
) -> Axes:
    """Draw a row for each pair, and a panel for each metric."""
    n, beside = len(rows[0]), _LETTER * max(map(len, files.readable(labels, width=40)))
    height = _HEAD_OF_MANY_PAIRS + _THIN_ROW * len(rows)
    width, _ = files.size_for((beside + _PANEL * n, height), by_rows=True)
    n_columns = min(n, max(1, int((width - beside) / (0.6 * _PANEL))))
    n_lines = -(-n // n_columns)
    figure = Figure(figsize=files.size_for((width, n_lines * height), by_rows=True), layout="constrained")
    panels = figure.subplots(n_lines, n_columns, sharey=True, squeeze=False).ravel().tolist()
    for spare in panels[n:]:
        spare.remove()
    for k, panel in enumerate(panels[:n]):
        canvas = Canvas([labels[0]], panel, line_kw, size=(_PANEL, height), dots={**DOTS, "markersize": 3.5})
        panel.axvline(0.0, **REFERENCE)
        canvas.draw_rows([[_share(pair[k]) for pair in rows]], 0.0)
        canvas.name_rows(labels)
        panel.xaxis.set_major_formatter(in_percent)
        panel.set_title(metrics[k].replace(" at ", "\nat "), fontsize=files.letters(9))
        panel.tick_params(labelsize=files.letters(8))
    figure.supxlabel(SHARE, fontsize=files.letters(10))
    first: Axes = panels[0]
    return first


def _share(one: MetricDifference | None) -> Interval | None:
    """Return a difference as a share of the larger value."""
    return None if one is None else one.relative


def draw_curves(ax: Axes, mark: Mark, one: CurveDifference, *, share: int) -> None:
    """Draw the difference of a curve with its band, whose opacity decreases with the number of pairs."""
    style = mark.thin() if one.curve == "min_error" else mark.main
    ax.plot(one.log_odds, one.difference, **{**style, "label": mark.main["label"]})
    ax.fill_between(one.log_odds, one.low, one.high, color=mark.color, alpha=0.18 / math.sqrt(share), linewidth=0)


def highest(pairs: Sequence[Sequence[CurveDifference]]) -> tuple[float, float]:
    """Return the reach of priors, and half the height for all differences except noise at extreme priors."""
    curves = [one for pair in pairs for one in pair]
    top = max(_LEAST, 1.08 * max(float(np.abs([one.low, one.high]).max()) for one in curves))
    middle = max(float(np.median(np.abs(one.difference))) for one in curves)
    return max(float(np.abs(one.log_odds).max()) for one in curves), min(top, max(_MOST, 1.4 * middle))


def difference_of(one: CurveDifference) -> str:
    """Return the axis label of a difference of curves."""
    return f"Difference of {'C_avg' if one.curve == 'c_avg' else 'normalized Bayes error rate'}"


def curves_of_many(labels: Sequence[str], pairs: Sequence[Sequence[CurveDifference]], line_kw: Style) -> Axes:
    """Draw a panel for each pair, because many bands would overlap."""
    first = next(one for pair in pairs for one in pair)
    figure, panels = files.panels_of(len(pairs), None, PRIORS, difference_of(first))
    names = files.readable(labels, width=28)
    fonts = files.families_for(names, files.letters(_NAME_SIZE))
    mark = Canvas([""], panels[0], line_kw, size=(_PANEL, _PANEL)).marks[0]
    mark = Mark({**mark.main, "linewidth": files.line_width(1.3)})
    for panel, name, pair in zip(panels, names, pairs, strict=True):
        panel.set_title(name, loc="left", fontproperties=fonts, pad=3.0)
        panel.axhline(0.0, **REFERENCE)
        for one in pair:
            draw_curves(panel, mark, one, share=1)
    reach, top = highest(pairs)
    panels[0].set(xlim=(-reach, reach), ylim=(-top, top))
    panels[0].xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    lines = {"actual": mark.main, "at the best thresholds": mark.thin()}
    shown = ["at the best thresholds" if one.curve == "min_error" else "actual" for pair in pairs for one in pair]
    handles = [Line2D([], [], **{**lines[name], "label": name}) for name in dict.fromkeys(shown)]
    band = f"{100 * first.level:.4g} % band over all priors"
    handles.append(Line2D([], [], label=band, color=mark.color, alpha=0.25, linewidth=6))
    files.legend_above(figure, handles, None, is_long=True)
    return panels[0]


_WIDTH, _ROW, _HEAD = 6.0, 0.34, 1.0
"""Inches of the width of a forest plot, of one of its rows, and of everything else in it."""


_TOGETHER, _HIGHEST, _MOST_TOGETHER = 4, 4.0, 10
"""Pairs that fit into a row, maximum factor of its height for more pairs, and maximum number of pairs."""


_SPREAD = 0.6
"""Share of the height of a row over which several pairs are spread."""


_MOST_CURVES = 4
"""Largest number of pairs with bands in one plot."""


_LETTERS = 9.0


def forest(comparison: Comparison, ax: Axes | None = None, *, metric: str | None = None, **line_kw: object) -> Axes:
    """Draw differences with their intervals, with a row for each metric; or with a row for each pair, for one metric.

    Parameters
    ----------
    comparison : Comparison
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    metric : str, optional
        One metric by its name, such as ``"eer"`` or ``"min_dcf@2"``, drawn in its unit. By default, all metrics for
        which smaller is better are drawn, as shares of the larger value of both systems.
    **line_kw
        Properties of the intervals of each pair.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the comparison has no such metric.

    Notes
    -----
    Differences are first minus second: to the right of the line, the second system has the smaller value. Intervals
    that contain the line mean that neither system is significantly better. More than ten pairs would overlap: they get
    a row each, and metrics get a panel each; the first panel is returned.

    Examples
    --------
    >>> import numpy as np, deciban
    >>> rng = np.random.default_rng(1)
    >>> unit = np.repeat(np.arange(40), 3)
    >>> pairs = [(rng.normal(2, 1, 120), rng.normal(-2, 1, 120)), (rng.normal(1, 1, 120), rng.normal(-1, 1, 120))]
    >>> found = deciban.compare(*pairs, names=["A", "B"], tar_units=unit, non_units=unit)
    >>> forest(found).get_xlabel()
    'Difference in % of the larger value'
    """
    if metric is not None:
        return _of_one_metric(_named(comparison, metric), ax, line_kw)
    rows = _shares(comparison)
    names = [pair_label(pair) for pair in comparison.pairs]
    labels = [next(one.words for one in column if one is not None) for column in zip(*rows, strict=True)]
    if ax is None and len(rows) > _MOST_TOGETHER:
        return forest_of_many(names, labels, rows, line_kw)
    canvas = _rows(names, labels, ax, line_kw, _ROW * min(max(1.0, len(names) / _TOGETHER), _HIGHEST))
    canvas.draw_rows([list(map(_share, pair)) for pair in rows], _SPREAD)
    canvas.ax.xaxis.set_major_formatter(in_percent)
    return canvas.finish(SHARE, "")


def _of_one_metric(result: Sequence[tuple[str, MetricDifference]], ax: Axes | None, line_kw: Style) -> Axes:
    """Draw a row for each pair, in the unit of the metric."""
    labels = [name for name, _ in result]
    canvas = _rows(labels[:1], labels, ax, line_kw, _ROW)
    intervals = [one.interval for _, one in result]
    canvas.draw_rows([[(one.estimate, one.low, one.high) for one in intervals]], 0.0)
    first = result[0][1]
    label = f"Difference of {first.words}"
    if metric_of(first.metric).in_percent:
        label = f"{label} (%)"
    return canvas.finish(label, "", has_legend=False)


def _rows(
    names: Sequence[str], labels: Sequence[str], ax: Axes | None, line_kw: Style, height: float, reference: float = 0.0
) -> Canvas:
    """Return an Axes with labelled rows, and a reference line."""
    canvas = Canvas(names, ax, line_kw, size=(_WIDTH, _HEAD + height * max(len(labels), 2)), by_rows=True, dots=DOTS)
    canvas.ax.axvline(reference, **REFERENCE)
    canvas.name_rows(labels)
    return canvas


def _named(comparison: Comparison, metric: str) -> list[tuple[str, MetricDifference]]:
    """Return the pairs with a metric, and its differences; infinite metrics have none."""
    items = [
        (pair_label(pair), one)
        for pair in comparison.pairs
        for one in pair.metrics
        if metric in (one.name, one.name.removesuffix("@1"))
    ]
    if not items:
        raise _no_metric(comparison, metric)
    return items


def _shares(comparison: Comparison) -> list[list[MetricDifference | None]]:
    """Return the metrics that are drawn as shares, for each pair; None if a pair lacks one."""
    by_pair = [{one.metric: one for one in pair.metrics} for pair in comparison.pairs]
    shown = [
        metric
        for metric in metrics_compared(comparison.pairs)
        if all(known[metric].relative is not None for known in by_pair if metric in known)
    ]
    if not shown:
        raise _no_metric(comparison, "metric to draw")
    return [[known.get(metric) for metric in shown] for known in by_pair]


def _no_metric(comparison: Comparison, metric: str) -> InputError:
    known = dict.fromkeys(one.name for pair in comparison.pairs for one in pair.metrics)
    return InputError(f"metric: the comparison has no {metric}. Use one of {', '.join(known)}.")


def difference_curve(
    comparison: Comparison, ax: Axes | None = None, *, curves: Sequence[str] | None = None, **line_kw: object
) -> Axes:
    """Draw differences of Bayes error curves over the prior log odds, with bands that are simultaneous over all priors.

    Parameters
    ----------
    comparison : Comparison
        One pair or several, each in its own colour.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    curves : sequence of str, optional
        Curves to draw: ``"act_error"`` (solid), ``"min_error"`` (dashed), multiclass ``"c_avg"``; by default, all.
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
    Differences are first minus second: above 0 the second system has fewer errors. If a band excludes 0, one system is
    significantly better. Curves are cut off at the edge of the plot. More than four pairs get a panel each; the first
    panel is returned. Source of the bands: Montiel Olea and Plagborg-Møller, Simultaneous confidence bands, Journal of
    Applied Econometrics 34, 2019.

    Examples
    --------
    >>> import numpy as np, deciban
    >>> rng = np.random.default_rng(1)
    >>> unit = np.repeat(np.arange(40), 3)
    >>> pairs = [(rng.normal(2, 1, 120), rng.normal(-2, 1, 120)), (rng.normal(1, 1, 120), rng.normal(-1, 1, 120))]
    >>> difference_curve(deciban.compare(*pairs, tar_units=unit, non_units=unit)).get_xlabel()
    'Prior log odds (nats)'
    """
    items = [[one for one in pair.curves if curves is None or one.curve in curves] for pair in comparison.pairs]
    if not any(items):
        known = dict.fromkeys(one.curve for pair in comparison.pairs for one in pair.curves)
        raise InputError(f"curves: the comparison has no such curve. Use one of {', '.join(known) or 'none'}.")
    if ax is None and len(items) > _MOST_CURVES:
        return curves_of_many([pair_label(pair) for pair in comparison.pairs], items, line_kw)
    canvas = Canvas([pair_label(pair) for pair in comparison.pairs], ax, line_kw)
    canvas.ax.axhline(0.0, **REFERENCE)
    for mark, pair in zip(canvas.marks, items, strict=True):
        for one in pair:
            draw_curves(canvas.ax, mark, one, share=len(items))
            name = "at the best thresholds" if one.curve == "min_error" else "actual"
            canvas.explain(name, linestyle="--" if one.curve == "min_error" else "-")
    first = items[0][0]
    canvas.explain(f"{100 * first.level:.4g} % band over all priors", color="0.35", alpha=0.25, linewidth=6)
    reach, top = highest(items)
    canvas.keep_limits((-reach, reach), (-top, top))
    _name_better(canvas.ax, comparison)
    write_priors(canvas.ax)
    return canvas.finish(PRIORS, difference_of(first))


def _name_better(ax: Axes, comparison: Comparison) -> None:
    """Write the name of the better system above and below the line."""
    if len(comparison.pairs) > 1:
        return
    first, second = files.readable(comparison.pairs[0].names)
    for name, y, side in ((second, 0.98, "top"), (first, 0.02, "bottom")):
        text = f"{name} better"
        style = files.families_for([text], files.letters(_LETTERS))
        ax.text(0.5, y, text, transform=ax.transAxes, ha="center", va=side, fontproperties=style, color="0.35")


_TARGET: Style = {"color": "black", "linestyle": ":", "linewidth": 1.3, "zorder": 2.2}
_PILOT: Style = {"marker": "D", "linestyle": "none", "color": GREY, "markersize": 6.0, "zorder": 4}
_ENOUGH: Style = {"marker": "o", "linestyle": "none", "markersize": 6.0, "markeredgecolor": "white", "zorder": 4}


def plan(result: Plan, ax: Axes | None = None, **line_kw: object) -> Axes:
    """Draw the predictions of a plan over the number of speakers, for each number of segments per speaker.

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
        If ``result`` is not a plan.

    Notes
    -----
    Dotted: the goal; circles are the smallest designs that reach it. Grey: the pilot.

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
    canvas = Canvas(names, ax, line_kw, width_of_many=1.4)
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
    canvas.ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))  # 20, 50, 100, ... units
    canvas.ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _position: f"{value:,.0f}"))
    canvas.ax.xaxis.set_minor_formatter(NullFormatter())
    width = "Width of the interval" if result.kind == "width" else "Detectable difference"
    unit = " (%)" if result.pilot.in_percent else ""
    return canvas.finish(f"Number of {result.pilot.noun}s", f"{width}: {result.pilot.words}{unit}")


def _segments(n: float | None) -> str:
    return "segments as in the pilot" if n is None else f"{n:.3g} segment{'' if n == 1 else 's'} each"


def _top(result: Plan) -> float:
    """Return an upper limit that includes the first curve from the pilot on, and the goal with a margin."""
    values: FloatArray = result.curves[0][result.curve_units >= 0.7 * result.pilot.n_units]
    return 1.15 * max(float(values.max(initial=0.0)), 2.0 * result.target)


_MODEL_ROW = 0.32
"""Inches of a row of a plot of model parameters."""

_APART = 0.4
"""Share of the height of a row over which several marks are spread."""

_CHANGES_NOTHING = {"offset": 0.0, "scale": 1.0}
"""Parameters of classes, and their values in the identity map."""

_SQUARE = (5.6, 5.0)
_LINE_STYLES = ("-", "--", "-.", ":")


def fusion_weights(model: ScoreModel, ax: Axes | None = None, *, level: float = LEVEL, **line_kw: object) -> Axes:
    """Draw the weight of each system in a fusion, with intervals if units were given in training.

    Parameters
    ----------
    model : ScoreModel
        A trained fusion, two-class or multiclass.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    level : float
        Level of the intervals.
    **line_kw
        Properties of the intervals.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the model has no weights of systems, was not trained, or the level is not inside (0, 1).

    Notes
    -----
    Weights are for scores that are divided by their standard deviation, so that systems can be compared: the change of
    the result in nats if the score of a system changes by one standard deviation. If an interval contains 0, training
    on other speakers could have given the system no weight. For multiclass fusions, scores are divided by the root of
    the mean variance of the differences between two classes, and all classes share the weights. See
    `deciban.models.multiclass.weight_intervals`.

    Examples
    --------
    >>> import numpy as np
    >>> from deciban.fusion import LinearFusion
    >>> scores = np.array([[3.0, 1.0], [1.0, 2.0], [2.0, -1.0], [-1.0, 1.0], [1.5, 0.0], [0.0, -2.0], [2.0, 0.5]])
    >>> ax = fusion_weights(LinearFusion().fit(scores, np.arange(7) < 3))
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['system 0', 'system 1']
    """
    known = weight_intervals(model, level=level)
    rows: list[Interval | None] = [(one.weight, one.low, one.high) for one in known]
    per = "standard deviation" if model.scores_kind == "two-class" else "width"
    label = f"Weight (nats per {per} of the scores)"
    return _drawn_in_rows([one.name for one in known], {"weight": rows}, label, ax, line_kw, level=level)


def class_parameters(
    model: ClassModel,
    ax: Axes | None = None,
    *,
    what: str = "offset",
    classes: Sequence[str] = (),
    level: float = LEVEL,
    **line_kw: object,
) -> Axes:
    """Draw the offset or scale of a model for each class, with intervals if units were given in training.

    Parameters
    ----------
    model : ClassModel
        A trained multiclass calibrator or fusion.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    what : str
        ``"offset"`` or, for calibrators, ``"scale"``.
    classes : sequence of str
        Names of the classes if the model has none; by default, their numbers.
    level : float
        Level of the intervals.
    **line_kw
        Properties of the intervals.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the model has no such parameter, was not trained, or the level is not inside (0, 1).

    Notes
    -----
    The dotted line is the identity: an offset of 0, a scale of 1. See
    `deciban.models.multiclass.parameter_intervals`.

    Examples
    --------
    >>> from deciban.calibration import MulticlassCalibrator
    >>> loglik = [[2.0, 0.0], [0.5, 0.0], [-0.5, 0.0], [0.2, 0.0], [-1.0, 0.0], [-2.0, 0.0]]
    >>> ax = class_parameters(MulticlassCalibrator().fit(loglik, [0, 0, 0, 1, 1, 1], classes=["cat", "dog"]))
    >>> [text.get_text() for text in ax.get_yticklabels()], ax.get_xlabel()
    (['cat', 'dog'], 'Offset (nats)')
    """
    items = [one for one in parameter_intervals(model, classes=classes, level=level) if one.what == what]
    if not items or what not in _CHANGES_NOTHING:
        raise InputError(
            f"what: a {type(model).__name__} has no {what!r} to draw. Pass a multiclass calibrator with one scale or a "
            "multiclass fusion, and 'offset' or 'scale'."
        )
    rows: list[Interval | None] = [(one.value, one.low, one.high) for one in items]
    names, label = [one.whom or what for one in items], "Offset (nats)" if what == "offset" else "Scale"
    reference = _CHANGES_NOTHING[what]
    return _drawn_in_rows(names, {what: rows}, label, ax, line_kw, level=level, reference=reference)


def system_worth(
    result: Sequence[SystemWorth], ax: Axes | None = None, *, level: float = LEVEL, **line_kw: object
) -> Axes:
    """Draw the contribution of each system: the increase of Cllr without it, with paired intervals.

    Parameters
    ----------
    result : sequence of SystemWorth
        From `deciban.analysis.fusion.worth_of_systems`, two-class or multiclass.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    level : float
        Level of the intervals, for the legend.
    **line_kw
        Properties of the intervals of both sets of trials.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If no loss is known.

    Notes
    -----
    Left of the dotted line, the fusion is better without the system. A row without a mark is a system without which
    training was impossible.

    Examples
    --------
    >>> from deciban.analysis.fusion import Loss, SystemWorth
    >>> ax = system_worth([SystemWorth("A", Loss(0.2), Loss(0.1)), SystemWorth("B", Loss(0.0), None)])
    >>> [text.get_text() for text in ax.get_yticklabels()], ax.get_xlabel()
    (['without A', 'without B'], 'Rise of Cllr (bits)')
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['training', 'test']
    """
    sets = {"training": [one.dev for one in result], "test": [one.eval for one in result]}
    known = {name: losses for name, losses in sets.items() if any(losses)}
    if not known:
        raise InputError("result: no loss is known. Pass the result of `worth_of_systems(...)`.")
    rows = {name: [None if x is None else (x.value, x.low, x.high) for x in losses] for name, losses in known.items()}
    labels = [f"without {one.name}" for one in result]
    return _drawn_in_rows(labels, rows, "Rise of Cllr (bits)", ax, line_kw, level=level)


def _drawn_in_rows(
    names: Sequence[str],
    marked: Mapping[str, Sequence[Interval | None]],
    label: str,
    ax: Axes | None,
    line_kw: Style,
    *,
    level: float,
    reference: float = 0.0,
) -> Axes:
    """Draw a row for each name, with a dot and an interval for each kind of mark, and a reference line."""
    canvas = _rows(list(marked), names, ax, line_kw, _MODEL_ROW, reference)
    canvas.draw_rows(list(marked.values()), _APART)
    if any(one is not None and one[1] is not None for own in marked.values() for one in own):
        color = canvas.marks[0].color if len(marked) == 1 else GREY
        canvas.explain(f"{100 * level:.4g} % interval", color=color, marker="|", markersize=7)
    return canvas.finish(label, "")


def score_scatter(result: ScorePairs, ax: Axes | None = None, **line_kw: object) -> Axes:
    """Draw the scores of two systems against each other, with the decision lines of their fusion.

    Parameters
    ----------
    result : ScorePairs
        From `deciban.analysis.score_pairs`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    **line_kw
        Properties of the dots of both classes, unless trials are counted in cells.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If ``result`` has another type.

    Notes
    -----
    Many trials are counted in cells, whose colours are logarithms of counts, with a scale for each class; targets are
    on top, half transparent. On one side of a black line, the upper right if both weights are positive, the fusion
    accepts at an operating point.

    Examples
    --------
    >>> from deciban.analysis import score_pairs
    >>> scores = [[3.0, 1.0], [1.0, 2.0], [2.0, -1.0], [-1.0, 1.0], [1.5, 0.0], [0.0, -2.0], [2.0, 0.5]]
    >>> ax = score_scatter(score_pairs(scores, [1, 1, 1, 0, 0, 0, 0], names=["A", "B"]))
    >>> ax.get_xlabel(), [text.get_text() for text in ax.get_legend().get_texts()]
    ('Score of A', ['target', 'non-target'])
    """
    if not isinstance(result, ScorePairs):
        raise InputError(f"result: expected ScorePairs, got {type(result).__name__}. `score_pairs(...)` makes them.")
    style: Style = {"linestyle": "none", "markersize": 4, "alpha": 0.6, "markeredgewidth": 0, **line_kw}
    canvas = Canvas(["target", "non-target"], ax, style, size=_SQUARE)
    if result.tar is not None and result.non is not None:
        for mark, scores, marker in zip(canvas.marks, (result.tar, result.non), POINT_MARKERS, strict=False):
            canvas.ax.plot(*scores.T, **{"marker": marker, **mark.main})
    elif result.edges is not None:
        _counted(canvas, canvas.marks[1], result.edges, result.non_counts, "Non-targets")
        _counted(canvas, canvas.marks[0], result.edges, result.tar_counts, "Targets")
    x, y = canvas.ax.get_xlim(), canvas.ax.get_ylim()
    for linestyle, line in zip(_LINE_STYLES * len(result.lines), result.lines, strict=False):
        black: Style = {"color": "black", "linestyle": linestyle, "linewidth": 1.4, "zorder": 3}
        canvas.ax.axline(*line.ends, **black)
        canvas.explain(f"fusion decides at {line.point}", **black)
    canvas.keep_limits(x, y)
    if result.n_infinite:
        canvas.explain(f"left out as infinite: {result.n_infinite:,}", linestyle="none")
    first, second = files.readable(result.names)
    return canvas.finish(f"Score of {first}", f"Score of {second}")


def _counted(canvas: Canvas, mark: Mark, edges: tuple[FloatArray, FloatArray], counts: Any, name: str) -> None:
    """Draw the cells of one class, coloured by the logarithm of their counts."""
    drawn = np.ma.masked_equal(counts.T, 0.0)
    least = min(1.0, float(np.min(counts, where=counts > 0.0, initial=1.0)))  # weights can be less than 1
    norm = LogNorm(least, max(float(counts.max()), 10.0 * least))
    ends = [to_rgba(mark.color, opacity) for opacity in (0.12, 0.9)]
    look: Style = {"cmap": LinearSegmentedColormap.from_list(name, ends), "norm": norm, "linewidth": 0}
    mesh = canvas.ax.pcolormesh(*edges, drawn, **look, rasterized=True)
    figure = canvas.ax.figure
    bar = figure.colorbar(mesh, ax=canvas.ax, fraction=0.045, pad=0.02, aspect=30)
    files.style_ticks(bar.ax)
    bar.outline.set_visible(False)
    words = f"{name} in a cell ({float(counts.sum()):,.10g} in all)"
    bar.set_label(files.wrapped(words, canvas.ax.bbox.height / figure.dpi))
