"""The reliability diagram, of two classes and of many."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes

from deciban.errors import InputError
from deciban.evaluation import ClassEvaluation, Evaluation
from deciban.evaluation.consistency import consistency_of
from deciban.evaluation.reliability import Reliability
from deciban.plots.axes import BAND, BAND_LINE, GREY, HALO, THIN_WIDTH, Canvas, Drawable, Mark, Style, systems_of
from deciban.plots.multiclass.cells import ClassDrawable, class_systems_of
from deciban.plots.paper import letters
from deciban.types import FloatArray

_SIZE = (5.6, 5.6)
_FLOOR, _HIGHEST = -0.30, 0.24
"""Lower end of the axis, and height of the highest bin of the histogram, in units of the frequency above."""

MOST_WITH_BANDS = 3
"""Systems whose bands can be told apart."""

AnyDrawable: TypeAlias = Drawable | ClassDrawable


def reliability(result: AnyDrawable, ax: Axes | None = None, *, bands: bool = True, **line_kw: Any) -> Axes:
    """Draw how often what has a posterior probability happens: the reliability diagram, with the posteriors below.

    Parameters
    ----------
    result : Evaluation, ClassEvaluation, Results or sequence of either
        One or several systems, each in its own colour.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    bands : bool
        Whether it is shaded where the curve of up to three systems would lie if posteriors were right.
    **line_kw
        Properties of the curve of each system.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If there is nothing to draw, or the classes of systems are not the same.

    Notes
    -----
    Two classes: the posterior of a target at the prior that was asked for (``posteriors_at`` of
    `deciban.evaluation.TwoClassFigures`, --posteriors-at), else at 0.5. Many classes: the posterior of the class that
    is recognized, at the prior of the evaluation, against how often it is the right one; each class weighs as its prior
    says.

    The curve is PAV of the posteriors, so that no bins have to be chosen (Dimitriadis, Gneiting and Jordan, PNAS 118,
    2021); flat pieces are its blocks. Calibrated posteriors follow the dotted diagonal: below it they are too high,
    above it too low. Shaded, of two classes and of trials that count alike: where chance alone leads calibrated
    posteriors, at the level of the legend and at each posterior by itself
    (`deciban.evaluation.consistency.consistency_of`), by the units that trials share where these are known: the legend
    says which; "by trial" takes trials for independent. The histogram below, of bins of equal width, shows where the
    posteriors are: solid those of targets (of segments that are recognized rightly), dashed the others; its highest bin
    has the height of the strip.

    Examples
    --------
    >>> import deciban
    >>> reliability(deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])).get_xlabel()
    'Posterior probability of a target, at prior 0.5'
    """
    systems = _systems(result)
    curves = [system.curves.reliability for system in systems]
    canvas = Canvas([system.name for system in systems], ax, line_kw, size=_SIZE)
    canvas.keep_limits((-0.01, 1.01), (_FLOOR, 1.02))
    for mark, system, one in zip(canvas.marks, systems, curves, strict=True):
        canvas.ax.plot(*_corners(one), **mark.main)
        _histogram(canvas, one, mark, is_alone=len(systems) == 1)
        if bands and len(systems) <= MOST_WITH_BANDS:
            _band(canvas, system, mark)
    if len(systems) == 1 and curves[0].n_trials:
        one = curves[0]
        words = f"{one.n_tar:,} + {one.n_trials - one.n_tar:,} trials"
        style: Style = {
            "ha": "right",
            "va": "top",
            "fontsize": letters(8),
            "color": GREY,
            "path_effects": [HALO],
            "zorder": 5,
        }
        canvas.ax.text(0.99, -0.02, words, **style)
    if canvas.explain("calibrated", color="black", linestyle=":"):
        canvas.ax.plot([0.0, 1.0], [0.0, 1.0], color="black", linestyle=":", linewidth=1.2, zorder=2.2)
        canvas.ax.axhline(0.0, color="0.6", linewidth=0.8, zorder=1.6)
    many = isinstance(systems[0], ClassEvaluation)
    canvas.explain("recognized rightly" if many else "target", linewidth=THIN_WIDTH)
    canvas.explain("recognized wrongly" if many else "non-target", linestyle="--")
    canvas.ax.set_yticks(np.linspace(0.0, 1.0, 6))
    canvas.ax.set_xticks(np.linspace(0.0, 1.0, 6))
    label, what = _labels(systems[0], curves[0])
    return canvas.finish(label, what)


def _systems(result: AnyDrawable) -> tuple[Evaluation, ...] | tuple[ClassEvaluation, ...]:
    """Of one kind, whichever it is."""
    given: Any = result
    single = isinstance(given, Evaluation | ClassEvaluation)
    members = [given] if single else list(getattr(given, "systems", given))
    if members and isinstance(members[0], ClassEvaluation):
        return class_systems_of(members)
    if members and not isinstance(members[0], Evaluation):
        raise InputError(
            f"result: expected ClassEvaluations or Evaluations, got {type(members[0]).__name__}. "
            "`deciban.evaluate(tar, non)` and `deciban.evaluate_classes(loglik, label)` make them."
        )
    return systems_of(members, Evaluation)


def _labels(system: Evaluation | ClassEvaluation, curve: Reliability) -> tuple[str, str]:
    if isinstance(system, ClassEvaluation):
        prior = "flat prior" if system.has_flat_prior else "the given prior"
        return f"Posterior probability of the recognized class, at {prior}", "Share of segments recognized rightly"
    return f"Posterior probability of a target, at prior {curve.prior[0]:g}", "Share of targets (after PAV)"


def _corners(one: Reliability) -> tuple[FloatArray, FloatArray]:
    """Both ends of every block: flat within a block, straight from one to the next."""
    return np.stack((one.low, one.high), axis=1).ravel(), np.repeat(one.observed, 2)


def _band(canvas: Canvas, one: Any, mark: Mark) -> None:
    """Shade where the curve would lie if posteriors were right, and say once what that is."""
    band = consistency_of(one)
    if band is None:
        return
    shade: Style = {**BAND, "color": mark.color, "alpha": 0.15}
    canvas.ax.fill_between(band.posterior, band.low, band.high, **shade)
    canvas.explain(f"{100 * band.level:g} % band if calibrated, by {band.noun}", **BAND_LINE)


def _histogram(canvas: Canvas, one: Reliability, mark: Mark, *, is_alone: bool) -> None:
    """Draw both outlines in the strip below."""
    scale = _HIGHEST / max(float(one.happened.max()), float(one.failed.max()))
    thin: Style = {"drawstyle": "steps-post", "zorder": 2.0, "linewidth": THIN_WIDTH, "color": mark.color}
    for shares, style, opacity in ((one.happened, "-", 0.35), (one.failed, "--", 0.12)):
        x, height = np.append(one.bins[0], one.bins), np.concatenate(([0.0], scale * shares, [0.0])) + _FLOOR + 0.02
        if is_alone:
            filled: Style = {"step": "post", "color": mark.color, "alpha": opacity, "linewidth": 0, "zorder": 1.5}
            canvas.ax.fill_between(x, _FLOOR + 0.02, height, **filled)
        canvas.ax.plot(x, height, linestyle=style, **thin)
