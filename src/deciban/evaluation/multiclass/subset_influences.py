"""Influences of units on average costs of subsets of the classes: the extremes, and the mean for each size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import logit

from deciban.core.classes.subsets import least_llr, mean_costs_of_trials
from deciban.core.resampling.class_design import Groups
from deciban.evaluation.multiclass.class_figures import ClassFigure
from deciban.evaluation.multiclass.curve_costs import AtHand
from deciban.evaluation.multiclass.decided_at import TargetErrors
from deciban.multiclass import SubsetCosts
from deciban.multiclass.tables import Detectors, ScoredClasses


def subset_figures(found: SubsetCosts | None, p_target: float, at_hand: AtHand) -> Iterator[ClassFigure]:
    """What each trial costs in subsets of the classes, as far as tables and JSON show them.

    The hardest and the easiest are picked for what they got. Their intervals are about these classes, whichever would
    be picked among new units, and so wide that those of all subsets would hold at once.

    Parameters
    ----------
    found : SubsetCosts or None
        Nothing comes of none, and of merged parts.
    p_target : float
    at_hand : AtHand
        The trials.
    """
    trials = at_hand.scored
    if found is None or len(found) == 1 or trials is None:
        return
    for word, at in (("hardest", int(np.argmax(found.value))), ("easiest", int(np.argmin(found.value)))):
        members = list(found.members(at))
        errors = _errors_in(trials, members, p_target)
        label = np.repeat(np.arange(trials.n_classes), [len(trials.rows(k)) for k in range(trials.n_classes)])
        part, groups = np.zeros(len(label)), Groups.of(members, trials.n_classes)
        part[np.isin(label, members)] = errors.costs
        how: Any = {"n_candidates": len(found), "limits": (0.0, 1.0), "most": errors.most, "are_graded": True}
        yield ClassFigure(("subset_c_avg", word), float(found.value[at]), part, groups, **how)
    rows = [trials.rows(k) for k in range(trials.n_classes)]
    groups, most = Groups.apart(trials.n_classes), np.full(trials.n_classes, 1.0 / trials.n_classes)
    costs = mean_costs_of_trials(trials.loglik, rows, float(np.exp(logit(p_target))))
    for (size, mean), of_size in zip(found.mean_by_size.items(), costs, strict=True):
        how = {"limits": (0.0, 1.0), "most": most, "are_graded": True}
        yield ClassFigure(("subset_mean_by_size", str(size)), mean, of_size, groups, **how)


def _errors_in(trials: ScoredClasses, members: list[int], p_target: float) -> TargetErrors:
    """A subset as an evaluation of its own; trials of other classes are none of its."""
    prior = np.zeros(trials.n_classes)
    prior[members] = 1.0 / len(members)
    threshold = least_llr(len(members), float(np.exp(logit(p_target))))
    return TargetErrors.of(Detectors.of(trials, prior).llrs, p_target, threshold, None)
