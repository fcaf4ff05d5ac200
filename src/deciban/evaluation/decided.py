"""Evaluation of hard decisions on trials of known class: error rates and costs, with intervals by units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from deciban.core.resampling.class_sums import ClassMeans
from deciban.core.resampling.clusters import ClassGroups
from deciban.core.resampling.intervals import NothingSeen
from deciban.core.resampling.units import TrialUnits
from deciban.decisions import Application
from deciban.evaluation.multiclass.class_metrics import ALL, ClassMetric, CollectedMetrics
from deciban.evaluation.multiclass.metric_groups import MEMORY, CostedMetrics, bootstrap_of, drawn_at_hand
from deciban.evaluation.one_system import plain, with_intervals
from deciban.evaluation.uncertainty import MetricKey, Resampling, Uncertainty
from deciban.types import BoolArray, ByValue, CountArray, FloatArray, IntArray

Pair: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True)
class DecisionCost:
    """Cost of decisions in one application.

    Attributes
    ----------
    name : str
    cost : float
        Means of the costs in each class, weighted by the prior.
    by_prior : float
        Cost of the best constant action.
    """

    name: str
    cost: float
    by_prior: float

    @property
    def normalized(self) -> float:
        """The cost divided by that of deciding by the prior; above 1, it is better to ignore the decisions."""
        if self.by_prior == 0.0:
            return 0.0 if self.cost == 0.0 else np.inf
        return self.cost / self.by_prior


@dataclass(frozen=True, eq=False)
class DecisionEvaluation(ByValue):
    """Results of decisions on trials of known class.

    Attributes
    ----------
    name : str
    kind : {"two-class", "classes"}
    actions, classes : tuple of str
    counts : (n_actions, n_classes) array
        Number, or total weight, of trials of each class with each action.
    rates : mapping of str to float
        Fractions. Two classes: ``p_miss`` and ``p_fa``. Multiclass: ``error_rate`` (mean over classes) and ``c_avg``.
    costs : tuple of DecisionCost
        For two classes at each operating point, then for each requested cost matrix.
    uncertainty : Uncertainty or None
        If units are known: of rates by their names, and of ``("cost", k)``.
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
        """Share of each action in the trials of each class, (n_actions, n_classes); columns sum to 1."""
        return np.asarray(self.counts / self.counts.sum(axis=0))

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain JSON types."""
        costs = [{**plain(one), "normalized": one.normalized} for one in self.costs]
        entries: dict[str, Any] = {
            "kind": self.kind,
            "name": self.name,
            "actions": self.actions,
            "classes": self.classes,
        }
        entries |= {"counts": self.counts, "rates": dict(self.rates), "costs": costs}
        return with_intervals(plain(entries), self.uncertainty)


@dataclass(frozen=True, slots=True)
class DecisionProblem:
    """Actions and classes of a decision problem.

    Attributes
    ----------
    actions, classes : tuple of str
        With two classes, the first one is the target; error rates are computed if the actions are ``accept`` and
        ``reject``. In multiclass problems, an action with the name of a class decides for that class.
    kind : {"two-class", "classes"}
    p_target : float
        Prior of a target in multiclass C_avg.
    accepts : (n_actions, n_classes) bool array, optional
        Classes that each action accepts, if an action can accept any number of classes.
    """

    actions: tuple[str, ...]
    classes: tuple[str, ...]
    kind: str
    p_target: float = 0.5
    accepts: BoolArray | None = None

    @property
    def is_detection(self) -> bool:
        """True if targets are accepted or rejected, so that all metrics are sums of two error rates."""
        return self.kind == "two-class" and self.actions == ("accept", "reject")

    @property
    def accepted(self) -> FloatArray:
        """Classes that each action accepts, 0 or 1; by default, the class with the name of the action."""
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
        Actions taken and true classes, as positions in the problem.
    problem : DecisionProblem
    name : str
    applications : mapping of str to Application
        Costs of the actions at a prior, by name.
    weights : (n_trials,) array, optional
    resampling : Resampling, optional
        With units, every metric has an interval.

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
    metrics = dict(_rates(problem))
    rates = {str(metric): float((costs * shares).sum()) for metric, costs in metrics.items()}
    result = list[DecisionCost]()
    for k, (words, one) in enumerate(applications.items()):
        metrics["cost", k] = one.costs * one.prior
        result.append(DecisionCost(words, float((metrics["cost", k] * shares).sum()), one.default_risk))
    sure = None
    if resampling is not None and resampling.units is not None:
        sure = _uncertainty(problem, metrics, counts, (action, label), weights, resampling.units, resampling=resampling)
    return DecisionEvaluation(name, problem.kind, actions, classes, counts, rates, tuple(result), sure)


def _rates(problem: DecisionProblem) -> Iterator[tuple[MetricKey, FloatArray]]:
    """Yield each error rate as costs (n_actions, n_classes): the rate is the sum of their class means."""
    classes, p_target = problem.classes, problem.p_target
    if problem.kind == "two-class":
        if problem.is_detection:
            yield "p_miss", np.array([[0.0, 0.0], [1.0, 0.0]])
            yield "p_fa", np.array([[0.0, 1.0], [0.0, 0.0]])
        return
    accepted, n = problem.accepted, len(classes)
    others = accepted.sum(axis=1, keepdims=True) - accepted
    yield "error_rate", ((accepted == 0.0) | (others > 0.0)) / n
    # A trial whose class is not accepted is a miss, and each other accepted class is a false alarm.
    yield "c_avg", ((1.0 - accepted) * p_target + others * (1.0 - p_target) / (n - 1)) / n


def _uncertainty(
    problem: DecisionProblem,
    metrics: Mapping[MetricKey, FloatArray],
    counts: CountArray,
    decided: tuple[IntArray, IntArray],
    weights: CountArray | None,
    units: TrialUnits,
    *,
    resampling: Resampling,
) -> Uncertainty | None:
    action, label = decided
    counted = np.arange(len(label)) if weights is None else np.flatnonzero(weights > 0)
    order = counted[np.argsort(label[counted], kind="stable")]
    own: TrialUnits = units.take(order)
    label, action, weights = label[order], action[order], None if weights is None else weights[order]
    means = ClassMeans.of(label, label, weights, own)
    design = means.design.clusters
    if design.n_units < 2:
        return None
    shares, groups = counts / counts.sum(axis=0), ClassGroups.apart(len(design.seen))
    few = int(design.effective.min())
    result = list[ClassMetric]()
    for name, costs in metrics.items():
        value, most = float((costs * shares).sum()), costs.max(axis=0)
        make = partial(ClassMetric, name, value, groups=groups, limits=(0.0, float(most.sum())))
        least = costs.min(axis=0)
        if problem.is_detection or isinstance(name, str) or not least.any():  # a sum of error rates
            make = partial(make, most=most - least, are_graded=not problem.is_detection)
        else:
            least = np.zeros(len(least))
            unseen = NothingSeen(few, above=float(costs.max()), ceiling=float(most.sum()))
            make = partial(make, nothing_seen=unseen)
        result.append(make((costs - least)[action, label]))
    gathered, costed = CollectedMetrics(means.design, set()), CostedMetrics.of((ALL, 0), result)
    gathered.add((ALL, 0), costed.metrics, costed.sums(means.block, means.design))
    draw = partial(drawn_at_hand, means.block, lambda _: [costed], len(design.seen), resampling.seed)
    drawn = bootstrap_of(MEMORY, draw, gathered, resampling)
    return gathered.known(own, _NAMES if problem.is_detection else problem.classes, resampling.level, drawn)


_NAMES = ("targets", "non-targets")
"""Names of the classes of a detector in messages."""
