"""What proper scoring rules of two classes cost over reported log odds, and which thresholds they weigh."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logit

from deciban.errors import InputError
from deciban.rules.families import Beta, Logarithmic
from deciban.rules.scoring import ScoringRule
from deciban.rules.weightings import ThresholdDensity, ThresholdWeights
from deciban.types import FloatArray

REACH = 8.0
"""Nats of log odds to both sides of 0."""

_GRID = np.linspace(-REACH, REACH, 1601)


@dataclass(frozen=True, slots=True, eq=False)
class RuleCurves:
    """A rule of two classes as curves.

    Attributes
    ----------
    name : str
    log_odds : (n,) array
        In nats: of the report, and of a threshold of the posterior.
    target, non_target : (n,) arrays
        Costs of the report if the trial is a target, and if it is none.
    weight : (n,) array or None
        Density of the weight of thresholds, per nat; None where the rule has none.
    point_log_odds, point_weights : (m,) arrays
        Thresholds that have a weight by themselves; empty where there are none.
    """

    name: str
    log_odds: FloatArray
    target: FloatArray
    non_target: FloatArray
    weight: FloatArray | None
    point_log_odds: FloatArray
    point_weights: FloatArray

    @property
    def has_weights(self) -> bool:
        """Whether it is known which thresholds the rule weighs."""
        return self.weight is not None or len(self.point_weights) > 0

    def to_dict(self) -> dict[str, Any]:
        """Return what ``deciban plot --json`` prints of the rule."""
        return {name: getattr(self, name) for name in self.__slots__}


def rule_curves(rules: Mapping[str, ScoringRule]) -> list[RuleCurves]:
    """Tabulate rules of two classes.

    Parameters
    ----------
    rules : mapping of str to ScoringRule
        Rules with their names.

    Returns
    -------
    list of RuleCurves

    Raises
    ------
    InputError
        If there is no rule, or one is not of two classes.

    Notes
    -----
    The weight of a threshold is that of the application with a miss at ``1 / eta`` and a false alarm at
    ``1 / (1 - eta)`` (thesis 3.24, 7.34, 7.35, 7.38); per nat of log odds it is ``density(eta) eta (1 - eta)``.

    Examples
    --------
    >>> (curves,) = rule_curves({"Brier": Beta(2, 2)})
    >>> middle = len(curves.log_odds) // 2
    >>> float(curves.target[middle]), float(curves.weight[middle])
    (0.75, 0.375)
    """
    if not rules:
        raise InputError("rules: there is none to draw. Pass a mapping of names to rules of deciban.rules.")
    return [_curves(name, rule) for name, rule in rules.items()]


def _curves(name: str, rule: Any) -> RuleCurves:
    if not isinstance(rule, ScoringRule) or rule.n_classes not in (None, 2):
        what = type(rule).__name__ if not isinstance(rule, ScoringRule) else f"a rule of {rule.n_classes} classes"
        raise InputError(f"rules: {name!r} is {what}. Pass rules of two classes of deciban.rules.")
    costs = rule.costs(np.column_stack((expit(_GRID), expit(-_GRID))))
    places, weights = np.empty(0), np.empty(0)
    if isinstance(rule, ThresholdWeights):
        places, weights = logit(rule.eta), rule.weights
    return RuleCurves(name, _GRID, costs[:, 0], costs[:, 1], _density(rule), places, weights)


def _density(rule: ScoringRule) -> FloatArray | None:
    eta = expit(_GRID)
    if isinstance(rule, ThresholdDensity):
        density = np.interp(eta, rule.eta, rule.density, left=0.0, right=0.0)
    elif isinstance(rule, Beta):
        density = rule.density(eta)
    elif isinstance(rule, Logarithmic):
        density = np.full(len(eta), 1.0 / np.log(rule.base))
    else:
        return None
    found: FloatArray = density * eta * expit(-_GRID)
    return found
