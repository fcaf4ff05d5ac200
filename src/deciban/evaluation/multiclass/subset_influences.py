"""Influences of units on average costs of subsets of the classes: the extremes, and the mean for each size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logit

from deciban.core.classes.subsets import least_llr, mean_costs_of_trials
from deciban.core.resampling.intervals import NothingSeen
from deciban.evaluation.multiclass.class_figures import ClassFigure
from deciban.evaluation.multiclass.summands import InTurn
from deciban.evaluation.multiclass.target_errors import TargetErrors
from deciban.multiclass import SubsetCosts
from deciban.multiclass.tables import Detectors, ScoredClasses
from deciban.types import IntArray

if TYPE_CHECKING:
    from deciban.evaluation.multiclass.summary import ClassSummary


def subset_figures(summary: ClassSummary, seen: IntArray) -> Iterator[ClassFigure]:
    """What each trial costs in subsets of the classes, as far as tables and JSON show them.

    The hardest and the easiest are picked for what they got. Their intervals are about these classes, whichever would
    be picked among new units, and so wide that those of all subsets would hold at once.

    Parameters
    ----------
    summary : ClassSummary
        With units; nothing comes of one without subsets.
    seen : (n_classes,) int array
        Units that have trials of each class.
    """
    found, problems = None if summary.whole is None else summary.whole.subsets, summary.problems
    if found is None or len(found) == 1 or not isinstance(problems, InTurn):
        return
    trials, p_target = problems.trials, summary.figures.p_target[0]
    for word, at in (("hardest", int(np.argmax(found.value))), ("easiest", int(np.argmin(found.value)))):
        yield _extreme(word, trials, found, at, p_target, seen)
    rows = [trials.rows(k) for k in range(trials.n_classes)]
    few = int(seen.min())
    nothing = NothingSeen(few, float(np.max(few / seen)) / trials.n_classes)  # a class of which all trials are wrong
    costs = mean_costs_of_trials(trials.loglik, rows, float(np.exp(logit(p_target))))
    for (size, mean), of_size in zip(found.mean_by_size.items(), costs, strict=True):
        yield ClassFigure(("subset_mean_by_size", str(size)), mean, of_size, "log", nothing)


def _extreme(
    word: str, trials: ScoredClasses, found: SubsetCosts, at: int, p_target: float, seen: IntArray
) -> ClassFigure:
    """A subset as an evaluation of its own; trials of other classes cost nothing."""
    members = list(found.members(at))
    prior = np.zeros(trials.n_classes)
    prior[members] = 1.0 / len(members)
    threshold = least_llr(len(members), float(np.exp(logit(p_target))))
    errors = TargetErrors.of(Detectors.of(trials, prior).llrs, p_target, threshold, None)
    label = np.repeat(np.arange(trials.n_classes), [len(trials.rows(k)) for k in range(trials.n_classes)])
    costs, own = np.zeros(len(label)), seen[members]
    costs[prior[label] > 0.0] = errors.costs
    return ClassFigure(
        ("subset_c_avg", word),
        float(found.value[at]),
        costs,
        "log",
        errors.nothing_seen(own),
        n_units=int(own.min()),
        n_candidates=len(found),
    )
