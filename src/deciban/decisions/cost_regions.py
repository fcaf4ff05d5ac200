"""What costs amount to: thresholds between the actions of two classes, actions that never pay, canonical form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logit

from deciban.decisions.actions import TIE
from deciban.decisions.application import Application
from deciban.errors import InputError
from deciban.types import FloatArray

_MARGIN = 1e-12
"""Shares of the largest cost by which an action has to be better."""


@dataclass(frozen=True, slots=True)
class Region:
    """Where an action of two classes is best.

    Attributes
    ----------
    action : int
    low, high : float
        Posteriors of class 0, the target, between which it is best.
    """

    action: int
    low: float
    high: float

    def llrs(self, p_target: float) -> tuple[float, float]:
        """The same as log-likelihood ratios in nats at a prior."""
        shift = float(logit(p_target))
        low, high = (float(logit(one)) - shift for one in (self.low, self.high))
        return low, high


def regions(application: Application) -> list[Region]:
    """Posteriors for which each action of two classes is best, from low to high; actions that never pay are not there.

    Parameters
    ----------
    application : Application
        Of two classes; its prior plays no part.

    Returns
    -------
    list of Region

    Raises
    ------
    InputError
        If there are more classes.

    Notes
    -----
    Expected costs are straight lines in the posterior (thesis 2.4), and the least of them is their lower envelope.
    Where lines cross, the action with the lower index is taken, as in Bayes decisions.

    Examples
    --------
    >>> for one in regions(Application([[0, 10], [1, 0], [0.5, 0.5], [3, 3]])):
    ...     print(one)
    Region(action=1, low=0.0, high=0.5)
    Region(action=2, low=0.5, high=0.95)
    Region(action=0, low=0.95, high=1.0)
    """
    if application.n_classes != 2:
        raise InputError(f"costs: thresholds are of two classes, here are {application.n_classes}.")
    scaled = application.costs / (application.costs.max() or 1.0)  # differences of large ones stay finite
    at_zero, at_one = scaled[:, 1], scaled[:, 0]
    slope = at_one - at_zero
    low, found = 0.0, list[Region]()
    current = int(np.lexsort((np.arange(len(slope)), slope, at_zero))[0])
    while True:
        # The next action is one that falls more steeply, and is the first to cross.
        gain = slope[current] - slope
        here = at_zero[current] - at_zero
        with np.errstate(divide="ignore", invalid="ignore"):
            crossing = np.where(gain > 0, -here / gain, np.inf)
        crossing = np.maximum(crossing, low)
        place = float(crossing.min())
        if not place < 1.0:
            found.append(Region(current, low, 1.0))
            return found
        # Where several meet, rounding would leave slivers between them.
        ties = np.flatnonzero(crossing - place <= TIE * min(place, 1.0 - place))
        best = int(ties[np.lexsort((ties, slope[ties]))[0]])
        if place > low:
            found.append(Region(current, low, place))
        low, current = place, best


def explained(application: Application, actions: Sequence[str], classes: Sequence[str]) -> list[str]:
    """What a cost matrix and a prior amount to, in sentences.

    Parameters
    ----------
    application : Application
    actions, classes : sequence of str
        What its rows and columns are called.

    Returns
    -------
    list of str
        The default action and its risk; thresholds of two classes, or the canonical costs of more; actions that are
        never best.

    Examples
    --------
    >>> for line in explained(Application([[0, 1], [10, 0]], [0.01, 0.99]), ["accept", "reject"], ["target", "other"]):
    ...     print(line)
    By the prior alone: reject, which costs 0.1 on average.
    reject up to llr 2.29253 (posterior of target 0.0909091), accept from there on.
    Like unit costs at the effective prior 0.0917431 (canonical costs: accept 0 1.98; reject 0.2 0).
    """
    default = actions[application.default_action]
    lines = [f"By the prior alone: {default}, which costs {application.default_risk:.6g} on average."]
    if application.n_classes == 2:
        lines += _two(application, actions, classes)
    else:
        lines.append(f"Canonical costs at the flat prior: {_rows(application.canonical().costs, actions)}.")
    never = [name for name, is_best in zip(actions, ever_best(application), strict=True) if not is_best]
    lines += [f"{name} is never best, whatever the scores." for name in never]
    return lines


def _two(application: Application, actions: Sequence[str], classes: Sequence[str]) -> list[str]:
    p_target, found = float(application.prior[0]), regions(application)
    words = []
    for one in found:
        _, high = one.llrs(p_target)
        if one.high < 1.0:
            words.append(f"{actions[one.action]} up to llr {high:.6g} (posterior of {classes[0]} {one.high:.6g})")
        else:
            words.append(f"{actions[one.action]} from there on" if len(found) > 1 else f"{actions[one.action]} always")
    lines = [", ".join(words) + "."]
    canonical = _rows(application.canonical().costs, actions)
    try:
        prior = application.operating_point().effective_prior
        lines.append(f"Like unit costs at the effective prior {prior:.6g} (canonical costs: {canonical}).")
    except InputError:
        lines.append(f"Canonical costs at the flat prior: {canonical}.")
    return lines


def _rows(costs: FloatArray, actions: Sequence[str]) -> str:
    rows = [f"{name} {' '.join(f'{cost:.6g}' for cost in row)}" for name, row in zip(actions, costs, strict=True)]
    return "; ".join(rows)


def ever_best(application: Application) -> list[bool]:
    """Whether there is a posterior at which each action is strictly best, or first among equals.

    Parameters
    ----------
    application : Application

    Returns
    -------
    list of bool
        One for each action; by linear programming where there are more than two classes.

    Examples
    --------
    >>> ever_best(Application([[0, 1, 1], [1, 0, 1], [1, 1, 0], [0.7, 0.7, 0.7]]))
    [True, True, True, False]
    """
    if application.n_classes == 2:
        used = {one.action for one in regions(application)}
        return [k in used for k in range(application.n_actions)]
    from scipy.optimize import linprog  # few need it

    costs = application.costs / (application.costs.max() or 1.0)
    found = []
    for k, row in enumerate(costs):
        others = np.delete(costs, k, axis=0)
        if not len(others):
            found.append(True)
            continue
        # The widest margin t by which action k is better than all others at some posterior.
        rows = np.column_stack((row - others, np.ones(len(others))))
        equal = np.append(np.ones(application.n_classes), 0.0)[None]
        objective = np.append(np.zeros(application.n_classes), -1.0)
        bounds = [(0, None)] * application.n_classes + [(None, None)]
        best = linprog(objective, A_ub=rows, b_ub=np.zeros(len(others)), A_eq=equal, b_eq=[1.0], bounds=bounds)
        margin = float(np.asarray(best.x)[-1])
        alike = [at for at, other in enumerate(costs) if at != k and np.array_equal(row, other)]
        found.append(margin > _MARGIN or bool(alike and k < min(alike)))
    return found
