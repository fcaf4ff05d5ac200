"""What calibration does: the maps of calibrators against the best on the same trials, the weightings of objectives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from deciban.calibration import Calibrator, PavCalibrator, RuleWeighting
from deciban.core.resampling.intervals import LEVEL
from deciban.errors import InputError
from deciban.evaluation import Evaluation
from deciban.plots.axes import GREY, Canvas, Ends, Style, System
from deciban.plots.prior_curves import REFERENCE, write_priors
from deciban.plots.score_plots import draw_blocks, pav_limits
from deciban.types import FloatArray

_SIZE = (6.0, 4.0)
_GRID = 2001
_PAV: Style = {"color": "0.55", "linewidth": 1.2, "zorder": 2.2}
_WIDEST = 20.0
"""Nats on both sides of 0 beyond which the axis goes only for the mode of a weighting."""

_DECISIVE = 8.0
"""Nats of evidence on both sides, beyond which hardly any prior asks."""

_CURVE, _RANGE = "weighting", "central range"
_ROW = 0.03
_BAND = "band"
_SHADE: Style = {"alpha": 0.2, "linewidth": 0.0, "zorder": 1.8}
_BAR: Style = {"linewidth": 3.0, "solid_capstyle": "butt"}


def calibration_map(
    result: Evaluation | None,
    calibrators: Calibrator | Mapping[str, Calibrator],
    ax: Axes | None = None,
    *,
    level: float | None = LEVEL,
    **line_kw: Any,
) -> Axes:
    """Draw the log-likelihood ratios that calibrators give to scores, with the PAV reference behind them.

    Parameters
    ----------
    result : Evaluation or None
        Of the scores as they come in, before calibration, on trials of one's choice: those of training, or others. None
        where maps take log-likelihood ratios, as detectors of classes do, and no trials are at hand.
    calibrators : Calibrator or mapping of str to Calibrator
        Trained calibrators; several with their names.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    level : float, optional
        Of the bands around the lines of calibrators that were trained with units; None for no bands.
    **line_kw
        Properties of the line of each calibrator.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If there is no calibrator, one was not trained, or the level is not inside (0, 1).

    Notes
    -----
    Grey steps: the optimal log-likelihood ratios of these trials, as in `pav`. A calibrator is right where its line
    goes through them. Without trials the dotted line is what changes nothing. A band around a line: where other
    training units would have put it (`Calibrator.interval`).
    Dash-dotted lines: Bayes thresholds of the operating points. To compare systems after calibration with their PAV
    reference on one axis (Bruemmer and Doddington 2013, figure 3) evaluate the llrs and use `pav`.

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
    canvas.keep_limits(*(_reach_of_maps(named.values()) if result is None else pav_limits([result])))
    x, y = ax.get_xlim(), ax.get_ylim()
    if result is None:
        ax.axline((0.0, 0.0), slope=1.0, **REFERENCE)
    elif canvas.explain("PAV on these trials", **_PAV):
        draw_blocks(canvas, System(_PAV, result), x, y)
    scores = _scores(result, named.values(), x)
    height = y[1] - y[0]  # what is infinite leaves the frame, and is drawn no further than this away
    ends = y[0] - height, y[1] + height
    has_band = False
    for mark, calibrator in zip(canvas.marks, named.values(), strict=True):
        ax.plot(scores, np.clip(calibrator.transform(scores), *ends), **mark.main)
        if level is not None and calibrator.uncertainty_ is not None:
            low, high = (np.clip(end, *ends) for end in calibrator.interval(scores, level=level))
            ax.fill_between(scores, low, high, color=mark.color, gid=_BAND, **_SHADE)
            has_band = True
    if has_band:
        canvas.explain(f"{100.0 * float(level or 0.0):g} % interval", color=GREY, linewidth=6.0, alpha=0.3)
    points = () if result is None else result.operating_points
    canvas.mark_points({point.threshold for point in points}, "Bayes threshold", across=True)
    label = "Log-likelihood ratio before (nats)" if result is None else "Score"
    return canvas.finish(label, "Log-likelihood ratio (nats)")


def _reach_of_maps(calibrators: Iterable[Calibrator]) -> tuple[Ends, Ends]:
    """Limits that hold all finite blocks of maps of steps; others are drawn as far as evidence is of interest."""
    blocks = [(one.low_, one.high_, one.llr_) for one in calibrators if isinstance(one, PavCalibrator)]
    low, high, llr = (np.concatenate([[-_DECISIVE, _DECISIVE], *(one[k] for one in blocks)]) for k in range(3))
    ends = np.concatenate((low, high))
    ends, llr = ends[np.isfinite(ends)], llr[np.isfinite(llr)]
    reach = 1.05 * float(np.abs(llr).max())
    return (float(ends.min()), float(ends.max())), (-reach, reach)


def _scores(result: Evaluation | None, calibrators: Iterable[Calibrator], x: Ends) -> FloatArray:
    """Scores to draw at: evenly spaced, and at the ends of blocks, where maps of steps jump."""
    known = [] if result is None else [result.curves.pav.low, result.curves.pav.high]
    own = [end for one in calibrators if isinstance(one, PavCalibrator) for end in (one.low_, one.high_)]
    ends = np.concatenate([[], *(known or own)])
    inside = ends[(ends >= x[0]) & (ends <= x[1])]
    grid: FloatArray = np.union1d(np.linspace(*x, _GRID), inside)
    return grid


def omega(weighting: RuleWeighting | Sequence[RuleWeighting], ax: Axes | None = None, **line_kw: Any) -> Axes:
    """Draw how much training objectives care for each threshold (Bruemmer and Doddington 2013, figure 1).

    Parameters
    ----------
    weighting : RuleWeighting or sequence of RuleWeighting
        From `deciban.calibration.rule_weighting`, or `Rule.weighting`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    **line_kw
        Properties of the curve of each weighting.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If there is no weighting.

    Notes
    -----
    Each curve has area 1. The bar below it is the central range with 90 % of the weight. Dash-dotted lines: Bayes
    thresholds of the operating points of the weightings; those further than 20 nats from 0 may lie outside.

    Examples
    --------
    >>> from deciban.calibration import rule_weighting
    >>> log, brier = (rule_weighting(alpha=a, beta=a, p_target=0.01, operating_points=[0.01]) for a in (1, 2))
    >>> omega([log, brier]).get_legend().get_texts()[1].get_text()
    '(2, 2) at prior 0.01'
    """
    weightings = [weighting] if isinstance(weighting, RuleWeighting) else list(weighting)
    if not weightings:
        raise InputError("weighting: there is none to draw. Pass what rule_weighting(...) returns.")
    for one in weightings:
        if not isinstance(one, RuleWeighting):
            raise InputError(
                f"weighting: expected RuleWeightings, got {type(one).__name__}; rule_weighting(...) makes one."
            )
    drawing = Canvas([one.name for one in weightings], ax, line_kw, size=(6.0, 3.6))
    ax = drawing.ax
    for one, mark in zip(weightings, drawing.marks, strict=True):
        ax.plot(one.threshold, one.density, gid=_CURVE, **mark.main)
    _ranges(ax, weightings, [mark.color for mark in drawing.marks])
    drawing.keep_limits(_reach(weightings))
    drawing.explain("90 % of the weight", color=GREY, **_BAR)
    drawing.mark_points({weight.threshold for one in weightings for weight in one.points}, "operating point")
    write_priors(ax, sign=-1)
    return drawing.finish("Threshold on the log-likelihood ratio (nats)", "Weight (per nat)")


def _reach(weightings: Sequence[RuleWeighting]) -> Ends:
    """The central ranges with room on both sides, no further than is useful, and operating points."""
    margin = 0.3 * max(one.most[1] - one.most[0] for one in weightings)
    low, high = min(one.most[0] for one in weightings) - margin, max(one.most[1] for one in weightings) + margin
    thresholds = [weight.threshold for one in weightings for weight in one.points]
    points = [threshold for threshold in thresholds if abs(threshold) <= _WIDEST]
    modes = [one.mode for one in weightings]
    low = min([max(low, -_WIDEST), *(place - 1.0 for place in (*points, *modes))])
    high = max([min(high, _WIDEST), *(place + 1.0 for place in (*points, *modes))])
    return low, high


def _ranges(ax: Axes, weightings: Sequence[RuleWeighting], colors: Sequence[Any]) -> None:
    """Draw a bar for each central range under the curves, and make room for them."""
    for one, color in zip(weightings, colors, strict=True):
        ax.plot(one.most, [0.0, 0.0], color=color, transform=ax.get_xaxis_transform(), gid=_RANGE, **_BAR)
    bars = [line for line in ax.lines if line.get_gid() == _RANGE]
    for row, line in enumerate(reversed(bars), start=1):
        line.set_ydata([row * _ROW] * 2)
    top = 1.06 * max(float(np.max(line.get_ydata())) for line in ax.lines if line.get_gid() == _CURVE)
    share = (len(bars) + 1) * _ROW
    ax.set_ylim(-top * share / (1.0 - share), top)
    ax.yaxis.set_major_formatter(lambda value, _position: f"{value:.4g}" if value >= 0 else "")
