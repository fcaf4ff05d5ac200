"""Pictures of what errors are made of: misses and false alarms, discrimination and calibration."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from scipy.special import expit

from deciban.core.ranks.operating import default_error
from deciban.errors import InputError
from deciban.evaluation import Evaluation
from deciban.evaluation.at_priors import AtPriors
from deciban.plots.axes import Drawable, Drawing, Style, in_percent, systems_of
from deciban.plots.prior_curves import REFERENCE, write_priors

_SIZE = (6.0, 4.0)
_TOP = 1.4
_OF_MISSES: Style = {"linestyle": "--", "linewidth": 1.2}
_OF_FALSE_ALARMS: Style = {"linestyle": ":", "linewidth": 1.4}
_LEAST: Style = {"linestyle": "-.", "linewidth": 0.9}
_WHOLE_GROUP = 0.8
"""Width of the bars of one operating point, of the distance to those of the next one."""


def error_contributions(result: Drawable, ax: Axes | None = None, **line_kw: Any) -> Axes:
    """Draw what misses and false alarms contribute to the normalized Bayes error rate over the prior log odds.

    Parameters
    ----------
    result : Evaluation, Results or sequence of Evaluation
        One or several systems, each in its own colour.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    **line_kw
        Properties of the curve of all errors of each system.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    Solid: all errors at the Bayes threshold, the sum of misses (dashed) and false alarms (dotted), each times the prior
    of its class over the lesser of both priors. Dash-dotted: the least errors. Of a system alone, both parts are
    shaded, one upon the other. At low priors false alarms decide, and scores that are too large make them many.
    Source: BOSARIS paper, figures 2 and 3.

    Examples
    --------
    >>> import deciban
    >>> error_contributions(deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])).get_ylabel()
    'Normalized Bayes error rate (1 = default)'
    """
    drawing = Drawing(result, ax, line_kw, size=_SIZE)
    alone = len(drawing.systems) == 1 and drawing.is_fresh
    for system in drawing.systems:
        at = _decided(system.evaluation)
        x, default = at.log_odds, default_error(at.log_odds)
        misses, alarms = expit(x) * at.p_miss / default, expit(-x) * at.p_fa / default
        drawing.ax.plot(x, at.act_dcf, **system.main)
        drawing.ax.plot(x, misses, **system.thin(**_OF_MISSES))
        drawing.ax.plot(x, alarms, **system.thin(**_OF_FALSE_ALARMS))
        drawing.ax.plot(x, at.min_dcf, **system.thin(**_LEAST))
        if alone:
            drawing.ax.fill_between(x, alarms, color=system.color, alpha=0.35, linewidth=0, zorder=1.4)
            drawing.ax.fill_between(x, alarms, at.act_dcf, color=system.color, alpha=0.15, linewidth=0, zorder=1.4)
    drawing.explain("misses", **_OF_MISSES)
    drawing.explain("false alarms", **_OF_FALSE_ALARMS)
    drawing.explain("least errors", **_LEAST)
    if drawing.explain("default (llr 0)", **REFERENCE):
        drawing.ax.axhline(1.0, **REFERENCE)
    drawing.mark_points({-threshold for threshold in drawing.thresholds}, "operating point")
    drawing.keep_limits((-drawing.reach, drawing.reach), (-0.01 * _TOP, _TOP))
    write_priors(drawing.ax)
    return drawing.finish("Prior log odds (nats)", "Normalized Bayes error rate (1 = default)")


def ape_bars(result: Drawable, ax: Axes | None = None, **line_kw: Any) -> Axes:
    """Draw Bayes error rates at the operating points as bars: what discrimination loses and, on top, calibration.

    Parameters
    ----------
    result : Evaluation, Results or sequence of Evaluation
        One or several systems, evaluated at the same operating points.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    **line_kw
        ``color`` of the bars; other properties of lines do nothing here.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    The full part is the least error rate at the effective prior of the operating point, the hatched one what the Bayes
    threshold loses beside; the short lines are error rates without scores. Source: thesis section 7.7.4.

    Examples
    --------
    >>> import deciban
    >>> ape_bars(deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])).get_ylabel()
    'Bayes error rate (%)'
    """
    drawing = Drawing(result, ax, line_kw, size=_SIZE)
    points = list(dict.fromkeys(str(one) for system in drawing.systems for one in system.evaluation.operating_points))
    width, tops = _WHOLE_GROUP / len(drawing.systems), [0.0]
    for k, system in enumerate(drawing.systems):
        places = []
        for one in system.evaluation.operating_points:
            log_odds = -one.threshold
            place = points.index(str(one)) + (k + 0.5) * width - _WHOLE_GROUP / 2
            at, default = _decided(system.evaluation), float(default_error(np.array(log_odds)))
            here = at.nearest(log_odds)
            whole, least = float(at.act_dcf[here]) * default, float(at.min_dcf[here]) * default
            style: Style = {"edgecolor": "black", "linewidth": 0.6}
            drawing.ax.bar(place, least, 0.9 * width, color=system.color, **style)
            drawing.ax.bar(place, whole - least, 0.9 * width, bottom=least, color="white", hatch="////", **style)
            drawing.ax.hlines(default, place - width / 2, place + width / 2, color="black", linestyle=":")
            tops += [whole, default]
            places.append(place)
        drawing.mark_bars(system, np.array(places), np.full(len(places), 0.05 * max(tops)))
    drawing.ax.set_xticks(np.arange(len(points)), points)
    drawing.ax.grid(visible=False, axis="x")
    drawing.keep_limits((-0.6, len(points) - 0.4), (0.0, 1.1 * max(tops)))
    drawing.explain("discrimination", linewidth=7)
    drawing.explain("calibration loss (hatched)", linewidth=7, linestyle=(0, (0.2, 0.2)))
    drawing.explain("default (llr 0)", **REFERENCE)
    drawing.ax.yaxis.set_major_formatter(in_percent)
    return drawing.finish("Operating point", "Bayes error rate (%)")


def dev_and_eval(dev: Drawable, result: Drawable, ax: Axes | None = None, **line_kw: Any) -> Axes:
    """Draw normalized Bayes error rates of the same systems on two sets: development dashed, evaluation solid.

    Parameters
    ----------
    dev, result : Evaluation, Results or sequence of Evaluation
        The same systems in the same order, on the set that they were made with and on another one.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    **line_kw
        Properties of the curve of actual errors on the evaluation set.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If there are not as many systems in both.

    Notes
    -----
    Thick are actual errors, thin the least ones. Where the solid curves leave the dashed ones, calibration did not
    last; where the thin ones part as well, the new set is harder. Source: BOSARIS paper, figures 2 and 3.

    Examples
    --------
    >>> import deciban
    >>> dev, new = (deciban.evaluate([1.0, 2.0, x], [0.0, 1.0, -1.0]) for x in (2.0, 0.5))
    >>> dev_and_eval(dev, new).get_xlabel()
    'Prior log odds (nats)'
    """
    drawing, known = Drawing(result, ax, line_kw, size=_SIZE), systems_of(dev, Evaluation, "dev")
    if len(known) != len(drawing.systems):
        raise InputError(
            f"dev: has {len(known)} systems, and result {len(drawing.systems)}. Pass the same ones, in the same order."
        )
    for system, before in zip(drawing.systems, known, strict=True):
        drawing.ax.plot(system.curves.prior_log_odds, system.curves.act_error, **system.main)
        drawing.ax.plot(system.curves.prior_log_odds, system.curves.min_error, **_thin(system.thin(), "-"))
        curves = before.curves
        drawing.ax.plot(curves.prior_log_odds, curves.act_error, color=system.color, linestyle="--", linewidth=1.7)
        drawing.ax.plot(curves.prior_log_odds, curves.min_error, **_thin(system.thin(), "--"))
    drawing.explain("evaluation", linestyle="-", linewidth=1.7)
    drawing.explain("development", linestyle="--", linewidth=1.7)
    drawing.explain("least errors (thin)", linestyle="-", linewidth=0.8)
    if drawing.explain("default (llr 0)", **REFERENCE):
        drawing.ax.axhline(1.0, **REFERENCE)
    drawing.keep_limits((-drawing.reach, drawing.reach), (-0.01 * _TOP, _TOP))
    write_priors(drawing.ax)
    return drawing.finish("Prior log odds (nats)", "Normalized Bayes error rate (1 = default)")


def _decided(evaluation: Evaluation) -> AtPriors:
    if evaluation.at_priors is None:
        raise InputError(
            f"result: {evaluation.name} has no decisions at priors. Evaluate its scores by deciban.evaluate."
        )
    return evaluation.at_priors


def _thin(style: Style, linestyle: str) -> Style:
    return {**style, "linestyle": linestyle, "linewidth": 0.8}
