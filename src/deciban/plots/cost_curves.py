"""Pictures of proper scoring rules: what they ask for a report, over its log odds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from scipy.special import expit

from deciban.errors import InputError
from deciban.plots.axes import Canvas
from deciban.rules import ScoringRule

_REACH = 8.0
_SIZE = (6.0, 4.0)
_TOP = 6.0
"""Costs above are cut off: some rules have no greatest one."""


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
    is drawn by `omega`. Source: thesis figures 2.1, 7.4, 7.6 and 7.7.

    Examples
    --------
    >>> from deciban import rules
    >>> scoring_rules({"logarithmic": rules.Logarithmic(), "Brier": rules.Beta(2, 2)}).get_ylabel()
    'Cost'
    """
    if not rules:
        raise InputError("rules: there is none to draw. Pass a mapping of names to rules of deciban.rules.")
    log_odds = np.linspace(-_REACH, _REACH, 1601)
    posterior = np.column_stack((expit(log_odds), expit(-log_odds)))
    drawn = {name: _costs(name, rule, posterior) for name, rule in rules.items()}
    canvas = Canvas(list(drawn), ax, line_kw, size=_SIZE)
    for mark, costs in zip(canvas.marks, drawn.values(), strict=True):
        canvas.ax.plot(log_odds, costs[:, 0], **mark.main)
        canvas.ax.plot(log_odds, costs[:, 1], **mark.thin())
    canvas.explain("a target", linestyle="-")
    canvas.explain("a non-target", linestyle="--")
    highest = max(float(np.max(costs[np.isfinite(costs)], initial=0.0)) for costs in drawn.values())
    canvas.keep_limits((-_REACH, _REACH), (-0.02 * min(highest, _TOP), 1.05 * min(highest, _TOP)))
    return canvas.finish("Reported log odds of a target (nats)", "Cost")


def _costs(name: str, rule: Any, posterior: Any) -> Any:
    if not isinstance(rule, ScoringRule) or rule.n_classes not in (None, 2):
        what = type(rule).__name__ if not isinstance(rule, ScoringRule) else f"a rule of {rule.n_classes} classes"
        raise InputError(f"rules: {name!r} is {what}. Pass rules of two classes of deciban.rules.")
    return rule.costs(posterior)
