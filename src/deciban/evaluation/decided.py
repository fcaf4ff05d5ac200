"""Hard decisions on trials of known truth: error rates and costs, sums of class means, with intervals by units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from deciban.core.by_value import ByValue
from deciban.core.resampling.class_sums import ClassMeans
from deciban.core.resampling.clusters import Groups
from deciban.core.resampling.intervals import NothingSeen
from deciban.core.resampling.units import TrialUnits
from deciban.decisions import Application
from deciban.evaluation.multiclass.class_figures import ALL, ClassFigure, Gathered
from deciban.evaluation.multiclass.portions import MEMORY, Told, bootstrap_of, drawn_at_hand
from deciban.evaluation.one_system import plain, with_intervals
from deciban.evaluation.summary import Resampling
from deciban.evaluation.uncertainty import Figure, Uncertainty
from deciban.types import BoolArray, CountArray, FloatArray, IntArray

Pair: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True)
class DecisionCost:
    """What decisions cost in one application.

    Attributes
    ----------
    name : str
    cost : float
        Class means of the costs, weighted by the prior.
    by_prior : float
        What the best action costs that is always taken.
    """

    name: str
    cost: float
    by_prior: float

    @property
    def normalized(self) -> float:
        """The cost divided by that of deciding by the prior; above 1 it is better not to listen."""
        if self.by_prior == 0.0:
            return 0.0 if self.cost == 0.0 else np.inf
        return self.cost / self.by_prior


@dataclass(frozen=True, eq=False)
class DecisionEvaluation(ByValue):
    """What decisions come to on trials of known truth.

    Attributes
    ----------
    name : str
    kind : {"two-class", "classes"}
    actions, classes : tuple of str
    counts : (n_actions, n_classes) array
        How often each action was taken in trials of each class; sums of weights if trials are weighted.
    rates : mapping of str to float
        Fractions: ``p_miss`` and ``p_fa`` of two classes; ``error_rate``, the mean over classes, and ``c_avg`` of many.
    costs : tuple of DecisionCost
        Of two classes at each operating point, then of the costs that were asked for.
    uncertainty : Uncertainty or None
        Where units are known: of rates by their names, and ``("cost", k)``.
    """

    name: str
    kind: str
    actions: tuple[str, ...]
    classes: tuple[str, ...]
    counts: CountArray
    rates: Mapping[str, float]
    costs: tuple[DecisionCost, ...]
    uncertainty: Uncertainty | None = field(default=None, repr=False)

    @property
    def shares(self) -> FloatArray:
        """How often each action is taken in trials of each class, (n_actions, n_classes); columns sum to 1."""
        return np.asarray(self.counts / self.counts.sum(axis=0))

    def to_dict(self) -> dict[str, Any]:
        """The numbers as plain JSON types."""
        costs = [{**plain(one), "normalized": one.normalized} for one in self.costs]
        found: dict[str, Any] = {"kind": self.kind, "name": self.name, "actions": self.actions, "classes": self.classes}
        found |= {"counts": self.counts, "rates": dict(self.rates), "costs": costs}
        return with_intervals(plain(found), self.uncertainty)


@dataclass(frozen=True, slots=True)
class DecisionProblem:
    """What may be decided about what.

    Attributes
    ----------
    actions, classes : tuple of str
        Of two classes the first one is the target; error rates are those of ``accept`` and ``reject``, if there are no
        other actions. Of many, an action with the name of a class says that class.
    kind : {"two-class", "classes"}
    p_target : float
        Prior of a target in C_avg of many classes.
    accepts : (n_actions, n_classes) bool array, optional
        Which classes an action accepts, if that may be any number of them: decisions about each class by itself.
    """

    actions: tuple[str, ...]
    classes: tuple[str, ...]
    kind: str
    p_target: float = 0.5
    accepts: BoolArray | None = None

    @property
    def is_detection(self) -> bool:
        """Whether targets are accepted or rejected, so that all metrics are sums of two error rates."""
        return self.kind == "two-class" and self.actions == ("accept", "reject")

    @property
    def accepted(self) -> FloatArray:
        """Which classes each action accepts, 0 or 1: left out, the one whose name it has."""
        if self.accepts is not None:
            return self.accepts.astype(np.float64)
        return np.array([[float(one == other) for other in self.classes] for one in self.actions])


def evaluate_decisions(
    action: IntArray,
    label: IntArray,
    problem: DecisionProblem,
    *,
    name: str = "system",
    applications: Mapping[str, Application],
    weights: CountArray | None = None,
    resampling: Resampling | None = None,
) -> DecisionEvaluation:
    """Evaluate decisions, each the position of an action, on trials of known class.

    Parameters
    ----------
    action, label : (n_trials,) int arrays
        What was done, and the true class: positions in those of the problem.
    problem : DecisionProblem
    name : str
    applications : mapping of str to Application
        Costs of the actions at a prior, by what they are called.
    weights : (n_trials,) array, optional
    resampling : Resampling, optional
        With units, every figure has an interval.

    Returns
    -------
    DecisionEvaluation

    Examples
    --------
    >>> from deciban.decisions import Application
    >>> even = {"even": Application([[0, 1], [1, 0]], [0.5, 0.5])}
    >>> problem = DecisionProblem(("accept", "reject"), ("target", "nontarget"), "two-class")
    >>> found = evaluate_decisions(np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1]), problem, applications=even)
    >>> found.rates, found.costs[0].cost, found.counts.tolist()
    ({'p_miss': 0.5, 'p_fa': 0.5}, 0.5, [[1, 1], [1, 1]])
    """
    actions, classes = problem.actions, problem.classes
    own = np.ones(len(action), np.int64) if weights is None else weights
    counts = np.zeros((len(actions), len(classes)), own.dtype)
    np.add.at(counts, (action, label), own)
    shares = counts / counts.sum(axis=0)
    figures = dict(_rates(problem))
    rates = {str(figure): float((costs * shares).sum()) for figure, costs in figures.items()}
    found = list[DecisionCost]()
    for k, (words, one) in enumerate(applications.items()):
        figures["cost", k] = one.costs * one.prior
        found.append(DecisionCost(words, float((figures["cost", k] * shares).sum()), one.default_risk))
    known = None
    if resampling is not None and resampling.units is not None:
        known = _uncertainty(problem, figures, counts, (action, label), weights, resampling)
    return DecisionEvaluation(name, problem.kind, actions, classes, counts, rates, tuple(found), known)


def _rates(problem: DecisionProblem) -> Iterator[tuple[Figure, FloatArray]]:
    """Error rates as costs (n_actions, n_classes), whose means by class add up to them."""
    classes, p_target = problem.classes, problem.p_target
    if problem.kind == "two-class":
        if problem.is_detection:
            yield "p_miss", np.array([[0.0, 0.0], [1.0, 0.0]])
            yield "p_fa", np.array([[0.0, 1.0], [0.0, 0.0]])
        return
    accepted, n = problem.accepted, len(classes)
    others = accepted.sum(axis=1, keepdims=True) - accepted
    yield "error_rate", ((accepted == 0.0) | (others > 0.0)) / n
    # A target is missed where its class is not accepted, and each other class that is accepted is a false alarm.
    yield "c_avg", ((1.0 - accepted) * p_target + others * (1.0 - p_target) / (n - 1)) / n


def _uncertainty(
    problem: DecisionProblem,
    figures: Mapping[Figure, FloatArray],
    counts: CountArray,
    decided: tuple[IntArray, IntArray],
    weights: CountArray | None,
    resampling: Resampling,
) -> Uncertainty | None:
    action, label = decided
    units = resampling.units
    assert units is not None  # noqa: S101  # who calls this knows
    counted = np.arange(len(label)) if weights is None else np.flatnonzero(weights > 0)
    order = counted[np.argsort(label[counted], kind="stable")]
    own: TrialUnits = units.take(order)
    label, action, weights = label[order], action[order], None if weights is None else weights[order]
    means = ClassMeans.of(label, label, weights, own)
    design = means.design.clusters
    if design.n_units < 2:
        return None
    shares, groups = counts / counts.sum(axis=0), Groups.apart(len(design.seen))
    few = int(design.effective.min())
    made = list[ClassFigure]()
    for name, costs in figures.items():
        value, most = float((costs * shares).sum()), costs.max(axis=0)
        how: Any = {"limits": (0.0, float(most.sum()))}
        least = costs.min(axis=0)
        if problem.is_detection or isinstance(name, str) or not least.any():  # a sum of error rates
            how |= {"most": most - least, "are_graded": not problem.is_detection}
        else:
            least = np.zeros(len(least))
            how["nothing_seen"] = NothingSeen(few, above=float(costs.max()), ceiling=float(most.sum()))
        made.append(ClassFigure(name, value, (costs - least)[action, label], groups, **how))
    gathered, told = Gathered(means.design, set()), Told.of((ALL, 0), made)
    gathered.add((ALL, 0), told.figures, told.sums(means.block, means.design))
    draw = partial(drawn_at_hand, means.block, lambda _: [told], len(design.seen), resampling.seed)
    drawn = bootstrap_of(MEMORY, draw, gathered, resampling)
    return gathered.known(own, _NAMES if problem.is_detection else problem.classes, resampling.level, drawn)


_NAMES = ("targets", "non-targets")
"""Names of the classes of a detector in messages."""
