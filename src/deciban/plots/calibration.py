"""Plots of calibration: histograms, PAV, Tippett, maps of calibrators, weightings, reliability diagrams."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes

from deciban.calibration import Calibrator, Chain, PavCalibrator, RuleWeighting
from deciban.core.resampling.intervals import LEVEL
from deciban.errors import InputError
from deciban.evaluation import ClassEvaluation, Evaluation
from deciban.evaluation.bands import band_of, consistency_of
from deciban.evaluation.curves import Reliability
from deciban.evaluation.one_system import OneSystem
from deciban.plots import axes
from deciban.plots.colors import MOST_WITH_BANDS
from deciban.plots.curves import REFERENCE, write_priors
from deciban.plots.files import letters
from deciban.plots.matrices import ClassDrawable, class_systems_of
from deciban.types import FloatArray

_FAR = 1e307
"""Limit of score axes: matplotlib computes differences and products of limits, which must not overflow."""


def histogram(result: axes.Drawable, ax: Axes | None = None, **line_kw: object) -> Axes:
    """Draw the densities of target and non-target scores.

    Parameters
    ----------
    result : Evaluation, Results or sequence of Evaluation
        One or several systems, each in its own colour.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    **line_kw
        Properties of the outline of the target scores of each system.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    Each class has area 1, for any number of trials. Infinite scores are left out, and the legend shows their number.

    Examples
    --------
    >>> import deciban
    >>> histogram(deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])).get_xlabel()
    'Score'
    """
    drawing = axes.Drawing(result, ax, line_kw, width_of_many=axes.THIN_WIDTH)
    ax = drawing.ax
    for system in drawing.systems:
        curves = system.curves
        tar, non = _outline(curves.bins, curves.tar_density), _outline(curves.bins, curves.non_density)
        if len(drawing.systems) == 1:
            for outline, opacity in ((tar, 0.35), (non, 0.12)):
                ax.fill_between(*outline, step="post", color=system.color, alpha=opacity, linewidth=0, zorder=1.5)
        ax.plot(*tar, drawstyle="steps-post", **system.noted(_infinite(system, "left out")))
        ax.plot(*non, drawstyle="steps-post", **system.thin(zorder=2.4))
    drawing.explain("target")
    drawing.explain("non-target", linestyle="--")
    bins = np.concatenate([curves.bins for curves in drawing.curves])
    highest = max(float(max(curves.tar_density.max(), curves.non_density.max())) for curves in drawing.curves)
    drawing.keep_limits(_with_margin(float(bins.min()), float(bins.max())), (0.0, 1.06 * highest or 1.0))
    return drawing.finish("Score", "Density (per unit of score)")


def pav(result: axes.Drawable, ax: Axes | None = None, *, bands: bool = True, **line_kw: object) -> Axes:
    """Draw the log-likelihood ratio of each score after PAV.

    Parameters
    ----------
    result : Evaluation, Results or sequence of Evaluation
        One or several systems, each in its own colour.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    bands : bool
        Shade the band around each curve, if the units of the trials are known.
    **line_kw
        Properties of the staircase of each system.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    Each step is a block of scores with one optimal log-likelihood ratio. Calibrated scores follow the dotted line
    ``y = x``. Blocks of one class have an infinite ratio: their steps are on the edge and end in an arrow. Dash-dotted
    lines: Bayes thresholds of the operating points. Source: thesis appendix C.

    Examples
    --------
    >>> import deciban
    >>> pav(deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])).get_ylabel()
    'Log-likelihood ratio after PAV (nats)'
    """
    drawing = axes.Drawing(result, ax, line_kw)
    ax = drawing.ax
    drawing.keep_limits(*pav_limits([system.evaluation for system in drawing.systems]))
    x, y = ax.get_xlim(), ax.get_ylim()
    for system in drawing.systems:
        draw_blocks(drawing, system, x, y)
        if bands:
            _shade_blocks(drawing, system, x, y)
    if drawing.explain("y = x (calibrated)", color="black", linestyle=":"):
        ax.axline((0.0, 0.0), slope=1.0, color="black", linestyle=":", linewidth=1.2, zorder=2.2)
    drawing.mark_points(drawing.thresholds, "Bayes threshold", across=True)
    return drawing.finish("Score", "Log-likelihood ratio after PAV (nats)")


def tippett(result: axes.Drawable, ax: Axes | None = None, *, bands: bool = True, **line_kw: object) -> Axes:
    """Draw the share of each class at or above each score.

    Parameters
    ----------
    result : Evaluation, Results or sequence of Evaluation
        One or several systems, each in its own colour.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    bands : bool
        Shade the band around each curve, if the units of the trials are known.
    **line_kw
        Properties of the target curve of each system.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    At the line at 0, the distance of the target curve from 100 % and the height of the non-target curve are the rates
    of misleading evidence.

    Examples
    --------
    >>> import deciban
    >>> tippett(deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])).get_ylabel()
    'Trials at or above the score (%)'
    """
    drawing = axes.Drawing(result, ax, line_kw)
    ax = drawing.ax
    levels = np.concatenate([curves.levels for curves in drawing.curves])
    low, high = _with_margin(float(levels.min()), float(levels.max()))
    drawing.keep_limits((low, high), (-0.01, 1.01))
    for system in drawing.systems:
        curves = system.curves
        ax.plot(*_prolonged(system, curves.tar_above, low, high), **system.noted(_infinite(system)))
        ax.plot(*_prolonged(system, curves.non_above, low, high), **system.thin())
        for name in ("tar_above", "non_above") if bands else ():
            share = getattr(curves, name)
            # If no trial or every trial errs, the band depends on the number of units only, not on the curve.
            seen = (share > 0.0) & (share < 1.0)
            drawing.shade(system, curves.levels, band_of(system.evaluation, name, share), system.known, where=seen)
    drawing.explain("target")
    drawing.explain("non-target", linestyle="--")
    if drawing.explain("llr 0", color="black", linestyle=":"):
        ax.axvline(0.0, color="black", linestyle=":", linewidth=1.2, zorder=1.5)
    return drawing.finish("Score (log-likelihood ratio in nats)", "Trials at or above the score (%)")


def _outline(bins: FloatArray, density: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the corners of a histogram for step plots."""
    return np.append(bins[0], bins), np.concatenate(([0.0], density, [0.0]))


def _infinite(system: axes.System, what: str = "") -> str:
    n_infinite = system.evaluation.n_infinite
    shown = f"{n_infinite:,}" if isinstance(n_infinite, int) else f"{n_infinite:,.1f}"
    return f"{shown} infinite {what}".strip() if n_infinite else ""


def _with_margin(low: float, high: float) -> axes.Ends:
    margin = 0.04 * high - 0.04 * low or 0.5 * max(1.0, abs(high))
    return max(low - margin, -_FAR), min(high + margin, _FAR)


def _prolonged(system: axes.System, above: FloatArray, low: float, high: float) -> tuple[FloatArray, FloatArray]:
    """Extend the curve to the limits at both ends if it is known to be flat there."""
    levels = system.curves.levels
    x, y = np.append(low, levels), np.append(above[0], above)
    if system.evaluation.n_infinite:
        return x, y
    return np.concatenate((x, [levels[-1], high])), np.concatenate((y, [0.0, 0.0]))


def pav_limits(evaluations: Sequence[Evaluation]) -> tuple[axes.Ends, axes.Ends]:
    """Return limits that include all finite scores, all finite PAV llrs and all Bayes thresholds."""
    blocks = [evaluation.curves.pav for evaluation in evaluations]
    scores = np.concatenate([edge for block in blocks for edge in (block.low, block.high)])
    llrs = np.concatenate([block.llr for block in blocks])
    thresholds = [point.threshold for evaluation in evaluations for point in evaluation.operating_points]
    scores = scores[np.isfinite(scores)]
    llrs = np.concatenate((llrs[np.isfinite(llrs)], thresholds, [-1.0, 1.0]))
    x = _with_margin(float(scores.min()), float(scores.max())) if len(scores) else (-1.0, 1.0)
    reach = 1.15 * float(np.abs(llrs).max())
    return x, (-reach, reach)


def _steps(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return four coordinates of each block: the riser before it, its ends, the riser after it."""
    risers = high[:-1] + (low[1:] - high[:-1]) / 2
    left, right = np.append(low[0], risers), np.append(risers, high[-1])
    return np.stack((left, low, high, right), axis=1).ravel()


def _shade_blocks(drawing: axes.Canvas, system: axes.System, x: axes.Ends, y: axes.Ends) -> None:
    """Shade the band around blocks of finite llr."""
    blocks = system.curves.pav
    band = band_of(system.evaluation, "pav", np.clip(blocks.llr, *y))
    if band is not None:
        low, high = (np.repeat(np.where(np.isfinite(blocks.llr), one, np.nan), 4) for one in band)
        places = _steps(np.clip(blocks.low, *x), np.clip(blocks.high, *x))
        drawing.shade(system, places, (low, high), system.known)


def draw_blocks(drawing: axes.Canvas, system: axes.System, x: axes.Ends, y: axes.Ends) -> None:
    """Draw blocks ``low..high`` at their llr, with risers halfway between them, and infinite llrs on the edge."""
    blocks = system.curves.pav
    low, high = np.clip(blocks.low, *x), np.clip(blocks.high, *x)
    llr = np.clip(blocks.llr, *y)
    drawing.ax.plot(_steps(low, high), np.repeat(llr, 4), **system.main)
    single = (low == high) & np.isfinite(blocks.llr)
    dots = {"color": system.color, "marker": ".", "linestyle": "none", "zorder": 3}
    drawing.ax.plot(low[single], llr[single], **dots)
    for end, marker, edge in ((0, "v", y[0]), (-1, "^", y[1])):
        if np.isinf(blocks.llr[end]):
            place = float((low, high)[end][end])
            style = {"color": system.color, "markersize": 7, "clip_on": False, "zorder": 4}
            drawing.ax.plot([place], [edge], marker=marker, linestyle="none", **style)
            drawing.explain("infinite", marker="^", linestyle="none", color=axes.GREY)


_GRID = 2001

_PAV: axes.Style = {"color": "0.55", "linewidth": 1.2, "zorder": 2.2}

_WIDEST = 20.0
"""Reach of the axis in nats on both sides of 0; only the mode of a weighting can extend it."""


_DECISIVE = 8.0
"""Reach of evidence in nats on both sides that is relevant for practically all priors."""


_CURVE, _RANGE = "weighting", "central range"

_ROW = 0.03

_SHADE: axes.Style = {"alpha": 0.2, "linewidth": 0.0, "zorder": 1.8}

_BAR: axes.Style = {"linewidth": 3.0, "solid_capstyle": "butt"}


def calibration_map(
    result: Evaluation | None,
    calibrators: Calibrator | Mapping[str, Calibrator],
    ax: Axes | None = None,
    *,
    level: float | None = LEVEL,
    **line_kw: object,
) -> Axes:
    """Draw the log-likelihood ratios of calibrators as functions of scores, with PAV as a reference.

    Parameters
    ----------
    result : Evaluation or None
        Evaluation of the scores before calibration, on training trials or others. None without trials, for maps of
        log-likelihood ratios, such as those of class detectors.
    calibrators : Calibrator or mapping of str to Calibrator
        Trained calibrators; several with their names.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    level : float, optional
        Level of the bands around calibrators that were trained with units; None for no bands.
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
    Grey steps: the optimal log-likelihood ratios of these trials, as in `pav`. The line of a good calibrator passes
    through them. Without trials, the dotted line is the identity. Bands show the uncertainty from the training units
    (`Calibrator.interval`). Dash-dotted lines: Bayes thresholds of the operating points. To compare systems after
    calibration with their PAV reference on one axis (Bruemmer and Doddington 2013, figure 3), evaluate the llrs and use
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
        raise InputError("calibrators: none given. Pass at least one.")
    chains = [one for one in named.values() if isinstance(one, Chain)]
    if len(named) == len(chains) == 1 and {*named} <= {"chain", "Chain"}:  # no name of its own
        named = {", ".join(step.kind for step in chains[0].steps): chains[0]}
    canvas = axes.Canvas(list(named), ax, line_kw)
    ax = canvas.ax
    across, up = _reach_of_maps(named.values()) if result is None else pav_limits([result])
    flat = np.ravel([up, *(1.05 * one.transform(np.array(across)) for one in chains)])
    flat = flat[np.abs(flat) < 2.0 * max(map(abs, up))]  # bounds of chains are inside the frame
    canvas.keep_limits(across, (float(flat.min()), float(flat.max())))
    x, y = ax.get_xlim(), ax.get_ylim()
    if result is None:
        ax.axline((0.0, 0.0), slope=1.0, **REFERENCE)
    elif canvas.explain("PAV on these trials", **_PAV):
        draw_blocks(canvas, axes.System(_PAV, result), x, y)
    scores = _scores(result, named.values(), x)
    height = y[1] - y[0]  # infinite values are drawn this far outside the frame
    ends = y[0] - height, y[1] + height
    has_band = False
    for mark, calibrator in zip(canvas.marks, named.values(), strict=True):
        ax.plot(scores, np.clip(calibrator.transform(scores), *ends), **mark.main)
        if level is not None and calibrator.uncertainty_ is not None:
            low, high = (np.clip(end, *ends) for end in calibrator.interval(scores, level=level))
            ax.fill_between(scores, low, high, color=mark.color, gid="band", **_SHADE)
            has_band = True
    if has_band:
        canvas.explain(f"{100.0 * float(level or 0.0):g} % interval", color=axes.GREY, linewidth=6.0, alpha=0.3)
    points = () if result is None else result.operating_points
    canvas.mark_points({point.threshold for point in points}, "Bayes threshold", across=True)
    label = "Log-likelihood ratio before (nats)" if result is None else "Score"
    canvas.finish(label, "Log-likelihood ratio (nats)")
    if result is not None and result.axis == "log10":
        axes.write_in_log10(ax.yaxis, "Log-likelihood ratio (nats)")
    return ax


def _reach_of_maps(calibrators: Iterable[Calibrator]) -> tuple[axes.Ends, axes.Ends]:
    """Return limits that include all finite blocks of step maps, or the relevant range of evidence for other maps."""
    blocks = [(one.low_, one.high_, one.llr_) for one in calibrators if isinstance(one, PavCalibrator)]
    low, high, llr = (np.concatenate([[-_DECISIVE, _DECISIVE], *(one[k] for one in blocks)]) for k in range(3))
    ends = np.concatenate((low, high))
    ends, llr = ends[np.isfinite(ends)], llr[np.isfinite(llr)]
    reach = 1.05 * float(np.abs(llr).max())
    return (float(ends.min()), float(ends.max())), (-reach, reach)


def _scores(result: Evaluation | None, calibrators: Iterable[Calibrator], x: axes.Ends) -> FloatArray:
    """Return scores for drawing: evenly spaced, and at the ends of blocks, where step maps jump."""
    known = [] if result is None else [result.curves.pav.low, result.curves.pav.high]
    own = [end for one in calibrators if isinstance(one, PavCalibrator) for end in (one.low_, one.high_)]
    ends = np.concatenate([[], *(known or own)])
    return np.union1d(np.linspace(*x, _GRID), ends[(ends >= x[0]) & (ends <= x[1])])


def omega(weighting: RuleWeighting | Sequence[RuleWeighting], ax: Axes | None = None, **line_kw: object) -> Axes:
    """Draw the weights of training objectives over the threshold (Bruemmer and Doddington 2013, figure 1).

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
    thresholds of the operating points of the weightings; those further than 20 nats from 0 can be outside.

    Examples
    --------
    >>> from deciban.calibration import rule_weighting
    >>> log, brier = (rule_weighting(alpha=a, beta=a, p_target=0.01, operating_points=[0.01]) for a in (1, 2))
    >>> omega([log, brier]).get_legend().get_texts()[1].get_text()
    '(2, 2) at prior 0.01'
    """
    weightings = [weighting] if isinstance(weighting, RuleWeighting) else list(weighting)
    if not weightings:
        raise InputError("weighting: none given. Pass the result of rule_weighting(...).")
    for one in weightings:
        if not isinstance(one, RuleWeighting):
            raise InputError(
                f"weighting: expected RuleWeightings, got {type(one).__name__}; rule_weighting(...) makes one."
            )
    drawing = axes.Canvas([one.name for one in weightings], ax, line_kw, size=(6.0, 3.6))
    ax = drawing.ax
    for one, mark in zip(weightings, drawing.marks, strict=True):
        ax.plot(one.threshold, one.density, gid=_CURVE, **mark.main)
    _ranges(ax, weightings, [mark.color for mark in drawing.marks])
    drawing.keep_limits(_reach(weightings))
    drawing.explain("90 % of the weight", color=axes.GREY, **_BAR)
    drawing.mark_points({weight.threshold for one in weightings for weight in one.points}, "operating point")
    write_priors(ax, sign=-1)
    return drawing.finish("Threshold on the log-likelihood ratio (nats)", "Weight (per nat)")


def _reach(weightings: Sequence[RuleWeighting]) -> axes.Ends:
    """Return limits with the central ranges, margins on both sides up to a maximum, and operating points."""
    margin = 0.3 * max(one.most[1] - one.most[0] for one in weightings)
    low, high = min(one.most[0] for one in weightings) - margin, max(one.most[1] for one in weightings) + margin
    thresholds = [weight.threshold for one in weightings for weight in one.points]
    points = [threshold for threshold in thresholds if abs(threshold) <= _WIDEST]
    modes = [one.mode for one in weightings]
    low = min([max(low, -_WIDEST), *(place - 1.0 for place in (*points, *modes))])
    high = max([min(high, _WIDEST), *(place + 1.0 for place in (*points, *modes))])
    return low, high


def _ranges(ax: Axes, weightings: Sequence[RuleWeighting], colors: Sequence[Any]) -> None:
    """Draw a bar for each central range below the curves, and make room for them."""
    for one, color in zip(weightings, colors, strict=True):
        ax.plot(one.most, [0.0, 0.0], color=color, transform=ax.get_xaxis_transform(), gid=_RANGE, **_BAR)
    bars = [line for line in ax.lines if line.get_gid() == _RANGE]
    for row, line in enumerate(reversed(bars), start=1):
        line.set_ydata([row * _ROW] * 2)
    top = 1.06 * max(float(np.max(line.get_ydata())) for line in ax.lines if line.get_gid() == _CURVE)
    share = (len(bars) + 1) * _ROW
    ax.set_ylim(-top * share / (1.0 - share), top)
    ax.yaxis.set_major_formatter(lambda value, _position: f"{value:.4g}" if value >= 0 else "")


_FLOOR, _HIGHEST = -0.30, 0.24
"""Lower end of the axis, and height of the highest bin of the histogram, in units of the frequency above it."""

AnyDrawable: TypeAlias = axes.Drawable | ClassDrawable


def reliability(result: AnyDrawable, ax: Axes | None = None, *, bands: bool = True, **line_kw: object) -> Axes:
    """Draw the reliability diagram: observed frequency over posterior, with a histogram of the posteriors below.

    Parameters
    ----------
    result : Evaluation, ClassEvaluation, Results or sequence of either
        One or several systems, each in its own colour.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    bands : bool
        Shade the range of the curve under correct posteriors, for up to three systems.
    **line_kw
        Properties of the curve of each system.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If there is nothing to draw, or the classes of systems differ.

    Notes
    -----
    Two classes: the posterior of a target at the requested prior (``posteriors_at`` of
    `deciban.evaluation.TwoClassMetrics`, --posteriors-at), by default 0.5. Multiclass: the posterior of the recognized
    class, at the prior of the evaluation, and the frequency with which this class is right; classes are weighted by the
    prior.

    The curve is PAV of the posteriors, so that no bins have to be chosen (Dimitriadis, Gneiting and Jordan, PNAS 118,
    2021); its flat parts are the PAV blocks. Calibrated posteriors follow the dotted diagonal: below it they are too
    high, above it too low. Shaded, for two classes and trials of equal weight: the pointwise range of calibrated
    posteriors by chance, at the level in the legend (`deciban.evaluation.bands.consistency_of`). The range uses the
    units of trials if these are known, as the legend shows; "by trial" means independent trials. The histogram below
    has bins of equal width: solid for targets (or correctly recognized segments), dashed for the others. Its highest
    bin has the height of the strip.

    Examples
    --------
    >>> import deciban
    >>> reliability(deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])).get_xlabel()
    'Posterior probability of a target, at prior 0.5'
    """
    systems = _systems(result)
    curves = [system.curves.reliability for system in systems]
    canvas = axes.Canvas([system.name for system in systems], ax, line_kw, size=(5.6, 5.6))
    canvas.keep_limits((-0.01, 1.01), (_FLOOR, 1.02))
    for mark, system, one in zip(canvas.marks, systems, curves, strict=True):
        ends = np.stack((one.low, one.high), axis=1).ravel()  # flat within a block, straight between blocks
        canvas.ax.plot(ends, np.repeat(one.observed, 2), **mark.main)
        _histogram(canvas, one, mark, is_alone=len(systems) == 1)
        if bands and len(systems) <= MOST_WITH_BANDS:
            _band(canvas, system, mark)
    if len(systems) == 1 and curves[0].n_trials:
        one = curves[0]
        words = f"{one.n_tar:,} + {one.n_trials - one.n_tar:,} trials"
        style: axes.Style = {"fontsize": letters(8), "color": axes.GREY, "path_effects": [axes.HALO], "zorder": 5}
        canvas.ax.text(0.99, -0.02, words, ha="right", va="top", **style)
    if canvas.explain("calibrated", color="black", linestyle=":"):
        canvas.ax.plot([0.0, 1.0], [0.0, 1.0], color="black", linestyle=":", linewidth=1.2, zorder=2.2)
        canvas.ax.axhline(0.0, color="0.6", linewidth=0.8, zorder=1.6)
    many = isinstance(systems[0], ClassEvaluation)
    canvas.explain("recognized rightly" if many else "target", linewidth=axes.THIN_WIDTH)
    canvas.explain("recognized wrongly" if many else "non-target", linestyle="--")
    canvas.ax.set_yticks(np.linspace(0.0, 1.0, 6))
    canvas.ax.set_xticks(np.linspace(0.0, 1.0, 6))
    label, what = _labels(systems[0], curves[0])
    return canvas.finish(label, what)


def _systems(result: AnyDrawable) -> tuple[Evaluation, ...] | tuple[ClassEvaluation, ...]:
    """Return systems of one kind, two-class or multiclass."""
    value: Any = result
    single = isinstance(value, Evaluation | ClassEvaluation)
    members = [value] if single else list(getattr(value, "systems", value))
    if members and isinstance(members[0], ClassEvaluation):
        return class_systems_of(members)
    if members and not isinstance(members[0], Evaluation):
        raise InputError(
            f"result: expected ClassEvaluations or Evaluations, got {type(members[0]).__name__}. "
            "`deciban.evaluate(tar, non)` and `deciban.evaluate_classes(loglik, label)` make them."
        )
    return axes.systems_of(members, Evaluation)


def _labels(system: Evaluation | ClassEvaluation, curve: Reliability) -> tuple[str, str]:
    if isinstance(system, ClassEvaluation):
        prior = "flat prior" if system.has_flat_prior else "the given prior"
        return f"Posterior probability of the recognized class, at {prior}", "Share of segments recognized rightly"
    return f"Posterior probability of a target, at prior {curve.prior[0]:g}", "Share of targets (after PAV)"


def _band(canvas: axes.Canvas, one: OneSystem, mark: axes.Mark) -> None:
    """Shade the range of the curve under correct posteriors, and explain it once in the legend."""
    band = consistency_of(one)
    if band is None:
        return
    shade: axes.Style = {**axes.BAND, "color": mark.color, "alpha": 0.15}
    canvas.ax.fill_between(band.posterior, band.low, band.high, **shade)
    canvas.explain(f"{100 * band.level:g} % band if calibrated, by {band.noun}", **axes.BAND_LINE)


def _histogram(canvas: axes.Canvas, one: Reliability, mark: axes.Mark, *, is_alone: bool) -> None:
    """Draw both outlines in the strip below the curve."""
    scale = _HIGHEST / max(float(one.happened.max()), float(one.failed.max()))
    thin: axes.Style = {"drawstyle": "steps-post", "zorder": 2.0, "linewidth": axes.THIN_WIDTH, "color": mark.color}
    for shares, style, opacity in ((one.happened, "-", 0.35), (one.failed, "--", 0.12)):
        x, height = _outline(one.bins, scale * shares)
        height += _FLOOR + 0.02
        if is_alone:
            filled: axes.Style = {"step": "post", "color": mark.color, "alpha": opacity, "linewidth": 0, "zorder": 1.5}
            canvas.ax.fill_between(x, _FLOOR + 0.02, height, **filled)
        canvas.ax.plot(x, height, linestyle=style, **thin)
