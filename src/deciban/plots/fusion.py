"""What models do: weights of systems, scale and offsets of classes, what each system is worth, how two decide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, LogNorm, to_rgba

from deciban.analysis.fusion import Loss, SystemWorth
from deciban.analysis.systems import ScorePairs
from deciban.core.resampling.intervals import LEVEL
from deciban.errors import InputError
from deciban.models.multiclass import ClassModel, parameter_intervals, weight_intervals
from deciban.models.score_model import ScoreModel
from deciban.plots.axes import GREY, POINT_MARKERS, Canvas, Mark, Style
from deciban.plots.curves import REFERENCE
from deciban.plots.files import readable, style_ticks, wrapped
from deciban.types import FloatArray

_WIDTH, _ROW, _HEAD = 6.0, 0.32, 1.0
"""Inches: of the plot of weights, of one of its rows, and of all else in it."""

_APART = 0.4
"""Share of the height of a row over which several marks are spread."""

_CHANGES_NOTHING = {"offset": 0.0, "scale": 1.0}
"""Parameters of classes, and what they are in a map that leaves log-likelihoods as they are."""

_SQUARE = (5.6, 5.0)
_LINE_STYLES = ("-", "--", "-.", ":")


class Row(NamedTuple):
    """What a row shows: a number, and its interval if there is one."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None


def fusion_weights(model: ScoreModel, ax: Axes | None = None, *, level: float = LEVEL, **line_kw: Any) -> Axes:
    """Draw what each system weighs in a fusion, with intervals where training was told the units.

    Parameters
    ----------
    model : ScoreModel
        A trained fusion, of two classes or of many.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    level : float
        Of the intervals.
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
    Weights are those of scores that are divided by their standard deviation, so that systems can be compared: by how
    many nats a system moves the result, if its score moves by one deviation. Where an interval touches the line at 0,
    other speakers might have made the system count for nothing. Of many classes, scores are divided by the root of the
    mean variance of the differences between two classes, and all classes share the weights. See
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
    rows = [Row(one.name, one.weight, one.low, one.high) for one in weight_intervals(model, level=level)]
    per = "standard deviation" if model.scores_kind == "two-class" else "width"
    label = f"Weight (nats per {per} of the scores)"
    return _drawn_in_rows(["weight"], [rows], label, ax, line_kw, level=level)


def class_parameters(
    model: ClassModel,
    ax: Axes | None = None,
    *,
    what: str = "offset",
    classes: Sequence[str] = (),
    level: float = LEVEL,
    **line_kw: Any,
) -> Axes:
    """Draw the offset that a model adds to each class, or its scale, with intervals where it was told the units.

    Parameters
    ----------
    model : ClassModel
        A trained calibrator or fusion of many classes.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    what : str
        ``"offset"`` or, of a calibrator, ``"scale"``.
    classes : sequence of str
        What classes are called if the model does not know; by default their numbers.
    level : float
        Of the intervals.
    **line_kw
        Properties of the intervals.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the model has none of these, was not trained, or the level is not inside (0, 1).

    Notes
    -----
    The dotted line is what changes nothing: an offset of 0, a scale of 1. See
    `deciban.models.multiclass.parameter_intervals`.

    Examples
    --------
    >>> from deciban.calibration import MulticlassCalibrator
    >>> loglik = [[2.0, 0.0], [0.5, 0.0], [-0.5, 0.0], [0.2, 0.0], [-1.0, 0.0], [-2.0, 0.0]]
    >>> ax = class_parameters(MulticlassCalibrator().fit(loglik, [0, 0, 0, 1, 1, 1], classes=["cat", "dog"]))
    >>> [text.get_text() for text in ax.get_yticklabels()], ax.get_xlabel()
    (['cat', 'dog'], 'Offset (nats)')
    """
    found = [one for one in parameter_intervals(model, classes=classes, level=level) if one.what == what]
    if not found or what not in _CHANGES_NOTHING:
        raise InputError(
            f"what: a {type(model).__name__} has no {what!r} to draw. Pass a calibrator by one scale or a fusion of "
            "many classes, and 'offset' or 'scale'."
        )
    rows = [Row(one.whom or what, one.value, one.low, one.high) for one in found]
    label = "Offset (nats)" if what == "offset" else "Scale"
    return _drawn_in_rows([what], [rows], label, ax, line_kw, level=level, reference=_CHANGES_NOTHING[what])


def system_worth(
    result: Sequence[SystemWorth], ax: Axes | None = None, *, level: float = LEVEL, **line_kw: Any
) -> Axes:
    """Draw what a fusion loses without each of its systems: the rise of Cllr, with paired intervals.

    Parameters
    ----------
    result : sequence of SystemWorth
        From `deciban.analysis.fusion.worth_of_systems`, of two classes or of many.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    level : float
        Of the intervals, for the legend.
    **line_kw
        Properties of the intervals of both sets of trials.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If there is no system whose loss is known.

    Notes
    -----
    Left of the dotted line the fusion is better without the system. A row without a mark is a system without which
    nothing could be trained.

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
        raise InputError("result: there is no system whose loss is known. `worth_of_systems(...)` finds losses.")
    rows = [
        [_row_of(f"without {one.name}", loss) for one, loss in zip(result, losses, strict=True)]
        for losses in known.values()
    ]
    return _drawn_in_rows(list(known), rows, "Rise of Cllr (bits)", ax, line_kw, level=level)


def _row_of(name: str, loss: Loss | None) -> Row:
    return Row(name, None) if loss is None else Row(name, loss.value, loss.low, loss.high)


def _drawn_in_rows(
    names: Sequence[str],
    marked: Sequence[Sequence[Row]],
    label: str,
    ax: Axes | None,
    line_kw: Style,
    *,
    level: float,
    reference: float = 0.0,
) -> Axes:
    """A row for each name, with a dot and an interval of each kind of mark; and a line at what says nothing."""
    rows = marked[0]
    style: Style = {"linestyle": "-", "marker": "o", "markersize": 5, **line_kw}
    canvas = Canvas(names, ax, style, size=(_WIDTH, _HEAD + _ROW * max(len(rows), 2)), by_rows=True)
    canvas.ax.axvline(reference, **REFERENCE)
    for k, (mark, own) in enumerate(zip(canvas.marks, marked, strict=True)):
        shift = 0.0 if len(marked) == 1 else _APART * (k / (len(marked) - 1) - 0.5)
        for at, one in enumerate(own):
            if one.value is not None:
                canvas.draw_interval(mark, at + shift, one.value, (one.low, one.high))
    if any(one.low is not None for own in marked for one in own):
        color = canvas.marks[0].color if len(marked) == 1 else GREY
        canvas.explain(f"{100 * level:.4g} % interval", color=color, marker="|", markersize=7)
    canvas.name_rows([one.name for one in rows], width=30)
    return canvas.finish(label, "")


def score_scatter(result: ScorePairs, ax: Axes | None = None, **line_kw: Any) -> Axes:
    """Draw the scores of two systems against each other, and where their fusion decides.

    Parameters
    ----------
    result : ScorePairs
        From `deciban.analysis.score_pairs`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    **line_kw
        Properties of the dots of both classes, where trials are not counted in cells.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If this is something else.

    Notes
    -----
    Many trials are counted in cells, whose colours are logarithms of counts, with a scale for each class; targets lie
    on top, half transparent. Beyond a black line, at the upper right if both weights are positive, the fusion accepts
    at an operating point.

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
        for mark, counts, name in (
            (canvas.marks[1], result.non_counts, "Non-targets"),
            (canvas.marks[0], result.tar_counts, "Targets"),
        ):
            _counted(canvas, mark, result.edges, counts, name)
    x, y = canvas.ax.get_xlim(), canvas.ax.get_ylim()
    for linestyle, line in zip(_LINE_STYLES * len(result.lines), result.lines, strict=False):
        black: Style = {"color": "black", "linestyle": linestyle, "linewidth": 1.4, "zorder": 3}
        canvas.ax.axline(*line.ends, **black)
        canvas.explain(f"fusion decides at {line.point}", **black)
    canvas.keep_limits(x, y)
    if result.n_infinite:
        canvas.explain(f"left out as infinite: {result.n_infinite:,}", linestyle="none")
    first, second = readable(result.names)
    return canvas.finish(f"Score of {first}", f"Score of {second}")


def _counted(canvas: Canvas, mark: Mark, edges: tuple[FloatArray, FloatArray], counts: Any, name: str) -> None:
    """Cells of one class, coloured by the logarithm of their counts."""
    drawn = np.ma.masked_equal(counts.T, 0.0)
    least = min(1.0, float(np.min(counts, where=counts > 0.0, initial=1.0)))  # less than 1 where trials weigh
    norm = LogNorm(least, max(float(counts.max()), 10.0 * least))
    ends = [to_rgba(mark.color, opacity) for opacity in (0.12, 0.9)]
    look: Style = {"cmap": LinearSegmentedColormap.from_list(name, ends), "norm": norm, "linewidth": 0}
    mesh = canvas.ax.pcolormesh(*edges, drawn, **look, rasterized=True)
    figure = canvas.ax.figure
    bar = figure.colorbar(mesh, ax=canvas.ax, fraction=0.045, pad=0.02, aspect=30)
    style_ticks(bar.ax)
    bar.outline.set_visible(False)
    bar.set_label(wrapped(f"{name} in a cell ({float(counts.sum()):,.10g} in all)", canvas.ax.bbox.height / figure.dpi))
