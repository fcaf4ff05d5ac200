"""What fusions do: weights of their systems, and two systems' scores with the line that decides."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, LogNorm, to_rgba

from deciban.analysis.two_systems import ScorePairs
from deciban.core.resampling.intervals import LEVEL
from deciban.errors import InputError
from deciban.models.score_model import ScoreModel
from deciban.models.weight_intervals import WeightInterval, weight_intervals
from deciban.plots.axes import POINT_MARKERS, Canvas, Mark, Style
from deciban.plots.files import families_for
from deciban.plots.labels import readable
from deciban.plots.paper import letters, style_ticks, wrapped
from deciban.plots.prior_curves import REFERENCE
from deciban.types import FloatArray

_WIDTH, _ROW, _HEAD = 6.0, 0.32, 1.0
"""Inches: of the plot of weights, of one of its rows, and of all else in it."""

_LETTERS = 9.0

_SQUARE = (5.6, 5.0)
_LINE_STYLES = ("-", "--", "-.", ":")


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
    `deciban.models.weight_intervals.weight_intervals`.

    Examples
    --------
    >>> import numpy as np
    >>> from deciban.fusion import LinearFusion
    >>> scores = np.array([[3.0, 1.0], [1.0, 2.0], [2.0, -1.0], [-1.0, 1.0], [1.5, 0.0], [0.0, -2.0], [2.0, 0.5]])
    >>> ax = fusion_weights(LinearFusion().fit(scores, np.arange(7) < 3))
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['system 0', 'system 1']
    """
    weights = weight_intervals(model, level=level)
    style: Style = {"linestyle": "-", "marker": "o", "markersize": 5, **line_kw}
    canvas = Canvas(["weight"], ax, style, size=(_WIDTH, _HEAD + _ROW * max(len(weights), 2)), by_rows=True)
    canvas.ax.axvline(0.0, **REFERENCE)
    for row, one in enumerate(weights):
        _weight(canvas, row, one)
    if any(one.low is not None for one in weights):
        canvas.explain(f"{100 * level:.4g} % interval", color=canvas.marks[0].color, marker="|", markersize=7)
    canvas.ax.set_yticks(range(len(weights)), readable([one.name for one in weights], width=40))
    canvas.ax.set_ylim(len(weights) - 0.5, -0.5)
    canvas.ax.grid(visible=False, axis="y")
    per = "standard deviation" if model.scores_kind == "two-class" else "width"
    canvas.finish(f"Weight (nats per {per} of the scores)", "")
    for text in canvas.ax.get_yticklabels():
        text.set_fontproperties(families_for([text.get_text()], letters(_LETTERS)))
    return canvas.ax


def _weight(canvas: Canvas, row: int, one: WeightInterval) -> None:
    """One weight, and its interval if there is one."""
    main = canvas.marks[0].main
    if one.low is not None and one.high is not None:
        ends: Style = {**main, "marker": "|", "markersize": 7, "label": "_nolegend_"}
        canvas.ax.plot([one.low, one.high], [row, row], **ends)
    label = main["label"] if row == 0 else "_nolegend_"
    canvas.ax.plot([one.weight], [row], **{**main, "linestyle": "none", "label": label})


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
