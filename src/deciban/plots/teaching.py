"""Plots that explain metrics: tangents of the hull, the minimum cost, parts of Cllr, scoring rules, kinds of error."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from scipy.special import expit

from deciban.core.ranks.roc import default_error
from deciban.errors import InputError
from deciban.evaluation import Evaluation
from deciban.evaluation.curves import AtPriors
from deciban.plots.axes import Canvas, Drawable, Drawing, Style, systems_of
from deciban.plots.curves import REFERENCE, draw_reference, framed, normalized, shade_curves, top_of, write_priors
from deciban.plots.files import letters
from deciban.rules import ScoringRule
from deciban.rules.families import REACH, rule_curves

_MOST_WITH_TANGENTS = 3
TANGENT: Style = {"linestyle": ":", "linewidth": 1.3, "zorder": 2.2}


def rocch(result: Drawable, ax: Axes | None = None, **line_kw: object) -> Axes:
    """Draw the minimum cost on the ROC convex hull: steps, hull, and the tangent of each operating point.

    Parameters
    ----------
    result : Evaluation, Results or sequence of Evaluation
        One or several systems, each in its own colour.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    **line_kw
        Properties of the steps of each system.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    All points on a dotted line have the same cost, ``p_miss + exp(threshold) p_fa`` with the Bayes threshold of the
    operating point; the line touches the hull at the minimum cost. With more than three systems, these lines are
    omitted. The hull crosses the diagonal at the EER. Source: thesis section 7.2.

    Examples
    --------
    >>> import deciban
    >>> rocch(deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])).get_xlabel()
    'False-alarm rate (%)'
    """
    drawing = Drawing(result, ax, line_kw, size=(5.6, 5.2))
    ax = drawing.ax
    drawing.keep_limits((-0.01, 1.01), (-0.01, 1.01))
    has_tangents = len(drawing.systems) <= _MOST_WITH_TANGENTS
    for system in drawing.systems:
        curves = system.curves
        ax.plot(curves.roc_p_fa, curves.roc_p_miss, **system.main)
        ax.plot(curves.hull_p_fa, curves.hull_p_miss, **system.thin(marker=".", markersize=4))
        for point in system.evaluation.operating_points if has_tangents else ():
            # For larger slopes the tangent is a side of the square, and exp would overflow.
            slope = math.exp(min(max(point.threshold, -30.0), 30.0))
            cost = point.min_dcf * min(1.0, slope)
            if math.isfinite(cost):
                ax.plot([0.0, cost / slope], [cost, 0.0], color=system.color, **TANGENT)
    drawing.explain("convex hull", linestyle="--", marker=".")
    if has_tangents:
        drawing.explain("equal least cost of an operating point", **TANGENT)
    if drawing.explain("equal error rates", color="0.6", linestyle="-."):
        ax.plot([0.0, 1.0], [0.0, 1.0], color="0.6", linestyle="-.", linewidth=0.9, zorder=1.5)
    drawing.equalize(1.0)
    return drawing.finish("False-alarm rate (%)", "Miss rate (%)")


def minimum_cost(result: Drawable, ax: Axes | None = None, *, bands: bool = True, **line_kw: object) -> Axes:
    """Draw the minimum Bayes error rate over the prior log odds, with the EER at its top.

    Parameters
    ----------
    result : Evaluation, Results or sequence of Evaluation
        One or several systems, each in its own colour.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    bands : bool
        Shade the band around each curve, if the units of the trials are known.
    **line_kw
        Properties of the curve of each system.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    With optimal thresholds, the error rate of a system is at most its EER at every prior: the dash-dotted line touches
    the highest point of the curve. Source: BOSARIS paper, fig. 4.

    Examples
    --------
    >>> import deciban
    >>> minimum_cost(deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])).get_ylabel()
    'Minimum Bayes error rate (%)'
    """
    drawing = Drawing(result, ax, line_kw)
    least = [curves.min_error * default_error(curves.prior_log_odds) for curves in drawing.curves]
    for system, error in zip(drawing.systems, least, strict=True):
        drawing.ax.plot(system.curves.prior_log_odds, error, **system.main)
        drawing.ax.axhline(system.evaluation.eer, **system.thin(linestyle="-."))
    if bands:
        shade_curves(drawing, "error", default_error, which=["min"])
    drawing.explain("EER", linestyle="-.")
    draw_reference(drawing, drawing.reach, default_error)
    top = top_of(least, peak=0.5)
    return framed(drawing, top, "Minimum Bayes error rate (%)", has_points=False)


def cllr_bars(result: Drawable, ax: Axes | None = None, **line_kw: object) -> Axes:
    """Draw a bar for each system: the discrimination loss in Cllr, and the calibration loss on top of it.

    Parameters
    ----------
    result : Evaluation, Results or sequence of Evaluation
        One or several systems, the first one at the top.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    **line_kw
        ``color`` of the bars; other line properties are ignored.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    The full part is min Cllr, the hatched part is the calibration loss; the whole bar is Cllr, the area under the APE
    curve divided by ``2 ln 2``. Hatches distinguish the parts in grey print. An infinite Cllr is written next to its
    bar, which ends at min Cllr. The dotted line is at 1 bit, the loss without scores. Source: thesis section 7.7.4.

    Examples
    --------
    >>> import deciban
    >>> cllr_bars(deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])).get_xlabel()
    'Cllr (bits)'
    """
    n_systems = len(systems_of(result, Evaluation))
    drawing = Drawing(result, ax, line_kw, size=(6.0, 1.2 + 0.32 * n_systems), by_rows=True)
    ax, names, ends = drawing.ax, [], [1.0]
    for place, system in enumerate(drawing.systems, 0 if drawing.is_fresh else len(ax.get_yticks())):
        one = system.evaluation
        low = one.min_cllr
        whole = one.cllr if math.isfinite(one.cllr) else low
        ax.barh(place, low, 0.7, color=system.color, edgecolor="black", linewidth=0.6)
        ax.barh(place, whole - low, 0.7, left=low, color="white", edgecolor=system.color, hatch="////", linewidth=0.6)
        ax.plot([0.0], [place], color=system.color, linestyle="none", label="_bar")  # marks its colour as used
        style: Style = {"textcoords": "offset points", "fontsize": letters(8), "ha": "left", "va": "center"}
        ax.annotate(f"{one.cllr:.3g}", (whole, place), (4, 0), **style)
        names.append(str(system.main["label"]))
        ends.append(whole)
    if not drawing.is_fresh:
        names = [text.get_text() for text in ax.get_yticklabels()] + names
    ax.set_yticks(np.arange(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.grid(visible=False, axis="y")
    drawing.keep_limits((0.0, 1.12 * max(ends)))
    drawing.explain("discrimination (min Cllr)", linewidth=7)
    drawing.explain("calibration loss (hatched)", linewidth=7, linestyle=(0, (0.2, 0.2)))
    if drawing.explain("without scores (llr 0)", color="black", **TANGENT):
        ax.axvline(1.0, color="black", **TANGENT)
    return drawing.finish("Cllr (bits)", "")


_RULE_TOP = 6.0
"""Upper limit of costs, since some rules are unbounded."""
_POINTS: Style = {"marker": "o", "markersize": 5, "linestyle": "none"}


def scoring_rules(rules: Mapping[str, ScoringRule], ax: Axes | None = None, **line_kw: object) -> Axes:
    """Draw the costs of two-class proper scoring rules over the reported log odds.

    Parameters
    ----------
    rules : mapping of str to ScoringRule
        Rules with their names.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    **line_kw
        Properties of the line of each rule for a true target.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If there is no rule, or a rule is not two-class.

    Notes
    -----
    Solid: the cost if the trial is a target; dashed: if it is a non-target. The curves of bounded rules are bounded;
    the logarithmic rule grows with every nat of wrong certainty. `rule_weights` draws the weights of thresholds, and
    `omega` draws them for training objectives. Source: thesis figures 2.1, 7.4, 7.6 and 7.7.

    Examples
    --------
    >>> from deciban import rules
    >>> scoring_rules({"logarithmic": rules.Logarithmic(), "Brier": rules.Beta(2, 2)}).get_ylabel()
    'Cost'
    """
    drawn = rule_curves(rules)
    canvas = Canvas([one.name for one in drawn], ax, line_kw)
    for mark, one in zip(canvas.marks, drawn, strict=True):
        canvas.ax.plot(one.log_odds, one.target, **mark.main)
        canvas.ax.plot(one.log_odds, one.non_target, **mark.thin())
    canvas.explain("a target", linestyle="-")
    canvas.explain("a non-target", linestyle="--")
    costs = np.concatenate([side for one in drawn for side in (one.target, one.non_target)])
    top = min(float(np.max(costs, where=np.isfinite(costs), initial=0.0)), _RULE_TOP)
    canvas.keep_limits((-REACH, REACH), (-0.02 * top, 1.05 * top))
    return canvas.finish("Reported log odds of a target (nats)", "Cost")


def rule_weights(rules: Mapping[str, ScoringRule], ax: Axes | None = None, **line_kw: object) -> Axes:
    """Draw the weights of two-class proper scoring rules over the threshold of the posterior, in log odds.

    Parameters
    ----------
    rules : mapping of str to ScoringRule
        Rules with their names: of the beta family, the logarithmic rule, or custom weights.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    **line_kw
        Properties of the line of each rule.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If there is no rule, or the weights of a rule are unknown.

    Notes
    -----
    A curve is a density per nat. Discrete thresholds are dots on stems, with the height of their weights. The upper
    axis shows posteriors. Source: thesis 7.38, figure 7.5.

    Examples
    --------
    >>> from deciban import rules
    >>> rule_weights({"logarithmic": rules.Beta(1, 1), "Brier": rules.Beta(2, 2)}).get_ylabel()
    'Weight (per nat)'
    """
    drawn = rule_curves(rules)
    for one in drawn:
        if not one.has_weights:
            raise InputError(
                f"rules: the weights of thresholds of {one.name!r} are unknown. Pass Beta, Logarithmic, "
                "ThresholdWeights or ThresholdDensity of deciban.rules."
            )
    canvas = Canvas([one.name for one in drawn], ax, line_kw)
    top = [0.0]
    for mark, one in zip(canvas.marks, drawn, strict=True):
        if one.weight is not None:
            canvas.ax.plot(one.log_odds, one.weight, **mark.main)
            top.append(float(one.weight.max()))
            continue
        canvas.ax.plot(one.point_log_odds, one.point_weights, **{**_POINTS, "color": mark.color})
        corners = np.repeat(one.point_log_odds, 3), np.outer(one.point_weights, (0.0, 1.0, 0.0)).ravel()
        canvas.ax.plot(*corners, **mark.main)
        top.append(float(one.point_weights.max()))
    reach = max(REACH, *(float(np.abs(one.point_log_odds).max(initial=0.0)) + 0.5 for one in drawn))
    canvas.keep_limits((-reach, reach), (0.0, 1.06 * max(top) or 1.0))
    write_priors(canvas.ax)
    canvas.ax.child_axes[-1].set_xlabel("Threshold of the posterior")
    return canvas.finish("Threshold, in log odds of a target (nats)", "Weight (per nat)")


_OF_MISSES: Style = {"linestyle": "--", "linewidth": 1.2}
_OF_FALSE_ALARMS: Style = {"linestyle": ":", "linewidth": 1.4}
_LEAST: Style = {"linestyle": "-.", "linewidth": 0.9}
_WHOLE_GROUP = 0.8
"""Width of the bars of one operating point, relative to the distance between operating points."""


def error_contributions(result: Drawable, ax: Axes | None = None, **line_kw: object) -> Axes:
    """Draw contributions of misses and false alarms to the normalized Bayes error rate over the prior log odds.

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
    Solid: all errors at the Bayes threshold, the sum of misses (dashed) and false alarms (dotted), each multiplied by
    the prior of its class and divided by the smaller prior. Dash-dotted: the minimum errors. For a single system, both
    parts are shaded as a stack. At low priors false alarms dominate, and scores that are too large increase them.
    Source: BOSARIS paper, figures 2 and 3.

    Examples
    --------
    >>> import deciban
    >>> error_contributions(deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])).get_ylabel()
    'Normalized Bayes error rate (1 = without scores)'
    """
    drawing = Drawing(result, ax, line_kw)
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
    drawing.explain("minimum", **_LEAST)
    return normalized(drawing)


def ape_bars(result: Drawable, ax: Axes | None = None, **line_kw: object) -> Axes:
    """Draw Bayes error rates at the operating points as bars: discrimination loss, and calibration loss on top of it.

    Parameters
    ----------
    result : Evaluation, Results or sequence of Evaluation
        One or several systems, evaluated at the same operating points.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    **line_kw
        ``color`` of the bars; other line properties are ignored.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    The full part is the minimum error rate at the effective prior of the operating point, the hatched part is the
    additional error rate at the Bayes threshold; short lines are error rates without scores. Source: thesis section
    7.7.4.

    Examples
    --------
    >>> import deciban
    >>> ape_bars(deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])).get_ylabel()
    'Bayes error rate (%)'
    """
    drawing = Drawing(result, ax, line_kw)
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
    drawing.explain("without scores (llr 0)", **REFERENCE)
    return drawing.finish("Operating point", "Bayes error rate (%)")


def dev_and_eval(dev: Drawable, result: Drawable, ax: Axes | None = None, **line_kw: object) -> Axes:
    """Draw normalized Bayes error rates of the same systems on two sets: development dashed, evaluation solid.

    Parameters
    ----------
    dev, result : Evaluation, Results or sequence of Evaluation
        The same systems in the same order, on the development set and on another one.
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
        If the numbers of systems differ.

    Notes
    -----
    Thick lines are actual errors, thin lines minimum errors. If the solid curves differ from the dashed ones,
    calibration does not generalize; if the thin ones also differ, the new set is harder. Source: BOSARIS paper, figures
    2 and 3.

    Examples
    --------
    >>> import deciban
    >>> dev, new = (deciban.evaluate([1.0, 2.0, x], [0.0, 1.0, -1.0]) for x in (2.0, 0.5))
    >>> dev_and_eval(dev, new).get_xlabel()
    'Prior log odds (nats)'
    """
    drawing, known = Drawing(result, ax, line_kw), systems_of(dev, Evaluation, "dev")
    if len(known) != len(drawing.systems):
        raise InputError(
            f"dev: {len(known)} systems, but result has {len(drawing.systems)}. Pass the same ones, in the same order."
        )
    for system, before in zip(drawing.systems, known, strict=True):
        drawing.ax.plot(system.curves.prior_log_odds, system.curves.act_error, **system.main)
        drawing.ax.plot(system.curves.prior_log_odds, system.curves.min_error, **_thin(system.thin(), "-"))
        curves = before.curves
        drawing.ax.plot(curves.prior_log_odds, curves.act_error, color=system.color, linestyle="--", linewidth=1.7)
        drawing.ax.plot(curves.prior_log_odds, curves.min_error, **_thin(system.thin(), "--"))
    drawing.explain("evaluation", linestyle="-", linewidth=1.7)
    drawing.explain("development", linestyle="--", linewidth=1.7)
    drawing.explain("minimum (thin)", linestyle="-", linewidth=0.8)
    return normalized(drawing, has_points=False)


def _decided(evaluation: Evaluation) -> AtPriors:
    if evaluation.at_priors is None:
        raise InputError(
            f"result: {evaluation.name} has no decisions at priors. Evaluate its scores with deciban.evaluate."
        )
    return evaluation.at_priors


def _thin(style: Style, linestyle: str) -> Style:
    return {**style, "linestyle": linestyle, "linewidth": 0.8}
