"""What fusions do: weights of their systems, and two systems' scores with the line that decides."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from deciban.core.resampling.intervals import LEVEL
from deciban.models.score_model import ScoreModel
from deciban.models.weight_intervals import WeightInterval, weight_intervals
from deciban.plots.axes import Canvas, Style, readable
from deciban.plots.files import families_for
from deciban.plots.prior_curves import REFERENCE

_WIDTH, _ROW, _HEAD = 6.0, 0.32, 1.0
"""Inches: of the plot of weights, of one of its rows, and of all else in it."""

_LETTERS = 9.0


def fusion_weights(model: ScoreModel, ax: Axes | None = None, *, level: float = LEVEL, **line_kw: Any) -> Axes:
    """Draw what each system weighs in a fusion, with intervals where training was told the units.

    Parameters
    ----------
    model : ScoreModel
        A trained fusion of two classes.
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
    other speakers might have made the system count for nothing. See `deciban.models.weight_intervals.weight_intervals`.

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
    canvas = Canvas(["weight"], ax, style, size=(_WIDTH, _HEAD + _ROW * max(len(weights), 2)))
    canvas.ax.axvline(0.0, **REFERENCE)
    for row, one in enumerate(weights):
        _weight(canvas, row, one)
    if any(one.low is not None for one in weights):
        canvas.explain(f"{100 * level:.4g} % interval", color=canvas.marks[0].color, marker="|", markersize=7)
    canvas.ax.set_yticks(range(len(weights)), readable([one.name for one in weights], width=40))
    canvas.ax.set_ylim(len(weights) - 0.5, -0.5)
    canvas.ax.grid(visible=False, axis="y")
    canvas.finish("Weight (nats per standard deviation of the scores)", "")
    for text in canvas.ax.get_yticklabels():
        text.set_fontproperties(families_for([text.get_text()], _LETTERS))
    return canvas.ax


def _weight(canvas: Canvas, row: int, one: WeightInterval) -> None:
    """One weight, and its interval if there is one."""
    main = canvas.marks[0].main
    if one.low is not None and one.high is not None:
        ends: Style = {**main, "marker": "|", "markersize": 7, "label": "_nolegend_"}
        canvas.ax.plot([one.low, one.high], [row, row], **ends)
    label = main["label"] if row == 0 else "_nolegend_"
    canvas.ax.plot([one.weight], [row], **{**main, "linestyle": "none", "label": label})
