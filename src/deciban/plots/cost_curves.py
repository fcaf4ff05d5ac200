"""Pictures of proper scoring rules: what they ask for a report, and which thresholds they weigh, over log odds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from deciban.errors import InputError
from deciban.plots.axes import Canvas, Style
from deciban.plots.prior_curves import write_priors
from deciban.rules import ScoringRule
from deciban.rules.families import REACH, rule_curves

_SIZE = (6.0, 4.0)
_TOP = 6.0
"""Costs above are cut off: some rules have no greatest one."""
_POINTS: Style = {"marker": "o", "markersize": 5, "linestyle": "none"}


def scoring_rules(rules: Mapping[str, ScoringRule], ax: Axes | None = None, **line_kw: Any) -> Axes:
    """Draw what proper scoring rules of two classes cost over the log odds that were reported.

    Parameters
    ----------
    rules : mapping of str to ScoringRule
        Rules with their names.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    **line_kw
        Properties of the line of each rule where the target is true.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If there is no rule, or one is not of two classes.

    Notes
    -----
    Solid: the cost if the trial is a target, dashed if it is none. A rule is bounded where its curves are; the
    logarithmic one grows with every nat of certainty that is wrong. How much each threshold counts for a rule
    is drawn by `rule_weights`, for an objective of training by `omega`. Source: thesis figures 2.1, 7.4, 7.6 and 7.7.

    Examples
    --------
    >>> from deciban import rules
    >>> scoring_rules({"logarithmic": rules.Logarithmic(), "Brier": rules.Beta(2, 2)}).get_ylabel()
    'Cost'
    """
    drawn = rule_curves(rules)
    canvas = Canvas([one.name for one in drawn], ax, line_kw, size=_SIZE)
    for mark, one in zip(canvas.marks, drawn, strict=True):
        canvas.ax.plot(one.log_odds, one.target, **mark.main)
        canvas.ax.plot(one.log_odds, one.non_target, **mark.thin())
    canvas.explain("a target", linestyle="-")
    canvas.explain("a non-target", linestyle="--")
    costs = np.concatenate([side for one in drawn for side in (one.target, one.non_target)])
    top = min(float(np.max(costs, where=np.isfinite(costs), initial=0.0)), _TOP)
    canvas.keep_limits((-REACH, REACH), (-0.02 * top, 1.05 * top))
    return canvas.finish("Reported log odds of a target (nats)", "Cost")


def rule_weights(rules: Mapping[str, ScoringRule], ax: Axes | None = None, **line_kw: Any) -> Axes:
    """Draw how much proper scoring rules of two classes weigh each threshold of the posterior, in log odds.

    Parameters
    ----------
    rules : mapping of str to ScoringRule
        Rules with their names: of the beta family, the logarithmic one, or weightings of one's own.
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
        If there is no rule, or it is not known of one how it weighs thresholds.

    Notes
    -----
    A curve is a density per nat. Thresholds that count by themselves are dots on stems, as high as their weights. Above
    stand the posteriors. Source: thesis 7.38, figure 7.5.

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
                f"rules: how {one.name!r} weighs thresholds is not known. Pass Beta, Logarithmic, ThresholdWeights or "
                "ThresholdDensity of deciban.rules."
            )
    canvas = Canvas([one.name for one in drawn], ax, line_kw, size=_SIZE)
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
