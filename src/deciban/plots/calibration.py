"""What calibrators make of scores, against what would be best on the same trials."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from deciban.calibration import Calibrator
from deciban.errors import InputError
from deciban.evaluation import Evaluation
from deciban.plots.axes import Canvas, Style, System
from deciban.plots.score_plots import draw_blocks, pav_limits
from deciban.types import FloatArray

_SIZE = (6.0, 4.0)
_GRID = 2001
_PAV: Style = {"color": "0.55", "linewidth": 1.2, "zorder": 2.2}


def calibration_map(
    result: Evaluation, calibrators: Calibrator | Mapping[str, Calibrator], ax: Axes | None = None, **line_kw: Any
) -> Axes:
    """Draw the log-likelihood ratios that calibrators give to scores, with the PAV reference behind them.

    Parameters
    ----------
    result : Evaluation
        Of the scores as they come in, before calibration, on trials of one's choice: those of training, or others.
    calibrators : Calibrator or mapping of str to Calibrator
        Trained calibrators; several with their names.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    **line_kw
        Properties of the line of each calibrator.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If there is no calibrator, or one was not trained.

    Notes
    -----
    Grey steps: the optimal log-likelihood ratios of these trials, as in `pav`. A calibrator is right where its line
    goes through them. Dash-dotted lines: Bayes thresholds of the operating points. To compare systems after
    calibration with their PAV reference on one axis (Bruemmer and Doddington 2013, figure 3) evaluate the llrs and use
    `pav`.

    Examples
    --------
    >>> import deciban
    >>> scores, is_target = [3.0, 1.0, 2.0, -1.0, 1.5, 0.0], [True, True, True, False, False, False]
    >>> calibrator = deciban.calibration.AffineCalibrator().fit(scores, is_target)
    >>> ax = calibration_map(deciban.evaluate(scores[:3], scores[3:]), {"logistic": calibrator})
    >>> [text.get_text() for text in ax.get_legend().get_texts()][:2]
    ['logistic', 'PAV on these trials']
    """
    named = {type(calibrators).__name__: calibrators} if isinstance(calibrators, Calibrator) else dict(calibrators)
    if not named:
        raise InputError("calibrators: there is none to draw.")
    canvas = Canvas(list(named), ax, line_kw, size=_SIZE)
    ax = canvas.ax
    reference = System(_PAV, result)
    canvas.keep_limits(*pav_limits([result]))
    x, y = ax.get_xlim(), ax.get_ylim()
    if canvas.explain("PAV on these trials", **_PAV):
        draw_blocks(canvas, reference, x, y)
    scores = _scores(result, x)
    for mark, calibrator in zip(canvas.marks, named.values(), strict=True):
        ax.plot(scores, np.clip(calibrator.transform(scores), *_beyond(y)), **mark.main)
    canvas.mark_points({point.threshold for point in result.operating_points}, "Bayes threshold", across=True)
    return canvas.finish("Score", "Log-likelihood ratio (nats)")


def _scores(result: Evaluation, x: tuple[float, float]) -> FloatArray:
    """Scores to draw at: evenly spaced, and at the ends of blocks, where maps of steps jump."""
    blocks = result.curves.pav
    ends = np.concatenate((blocks.low, blocks.high))
    inside = ends[(ends >= x[0]) & (ends <= x[1])]
    grid: FloatArray = np.union1d(np.linspace(*x, _GRID), inside)
    return grid


def _beyond(y: tuple[float, float]) -> tuple[float, float]:
    """What is infinite leaves the frame, and is drawn no further than its own height away."""
    height = y[1] - y[0]
    return y[0] - height, y[1] + height
