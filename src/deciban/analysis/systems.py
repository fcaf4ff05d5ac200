"""Labelled scores of several systems on the same trials in memory, pairs of scores, and selection of systems."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.calibration.cross import SourceParts
from deciban.core.ranks.roc import OperatingPoint, PointLike, as_operating_point
from deciban.errors import InputError
from deciban.evaluation.one_system import Jsonable, plain
from deciban.fusion import LinearFusion
from deciban.fusion.linear import source_of_systems
from deciban.fusion.quality_measures import Measures
from deciban.metrics import SortedScores
from deciban.models.model import untrained, without_measure_warnings
from deciban.models.score_model import ARGUMENTS, Fusion, ScoreModel
from deciban.models.sources import mapped
from deciban.trials.sources import TrialSource, ordered, scored_by_all
from deciban.types import AnyArray, BoolArray, FloatArray, FloatPair, Names, Progress, Weights


def labelled_source(
    fusion: Fusion,
    scores: ArrayLike,
    is_target: ArrayLike,
    sample_weight: Weights,
    quality: Mapping[str, ArrayLike] | None,
) -> TrialSource:
    """Return labelled trials of several systems as a source of one batch, in which NaN represents a missing score.

    Raises
    ------
    InputError
        As in `fit` of the fusion; or if measures are given that it does not use, or required measures are missing.
    """
    entries = dict(quality or {})
    if bool(entries) != fusion.takes_quality:
        raise InputError(
            f"quality: {'given' if entries else 'none given'}, but the fusion is a {type(fusion).__name__}. Use "
            "measures with QualityFusion only."
        )
    if unknown := set(entries) - set(ARGUMENTS):
        raise InputError(f"quality: unknown key {min(unknown)!r}. Use arguments of `fit`: {', '.join(ARGUMENTS)}.")
    tables = Measures.of(len(_validate.matrix(scores, "scores", "system")), entries).arguments
    return source_of_systems(scores, is_target, sample_weight, None, tables or None, missing=fusion.of_subsets)


def system_names(names: Names, n_systems: int) -> tuple[str, ...]:
    """Return the names of the systems.

    Raises
    ------
    InputError
        If the number of names differs from the number of systems, or a name occurs twice.
    """
    if names is None:
        return tuple(f"system {k}" for k in range(n_systems))
    labels = (names,) if isinstance(names, str) else tuple(names)
    if len(labels) != n_systems or not all(isinstance(name, str) for name in labels):
        raise InputError(f"names: got {labels!r} for {n_systems} systems. Give one string for each system.")
    if len(set(labels)) < n_systems:
        raise InputError(f"names: {labels!r} has a name twice. Give each system a different name.")
    return labels


MOST_POINTS = 5000
"""Largest number of trials that are plotted separately; more are counted in cells."""

N_CELLS = 80
"""Number of cells in each direction."""

_PROBES = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [2.0, -3.0]])


@dataclass(frozen=True, slots=True)
class DecisionLine:
    """Line on which a fused score equals the Bayes threshold: ``weights[0] x + weights[1] y + offset = threshold``.

    Attributes
    ----------
    point : OperatingPoint
    weights : (float, float)
    offset, threshold : float
        In nats.
    """

    point: OperatingPoint
    weights: tuple[float, float]
    offset: float
    threshold: float

    @property
    def ends(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Two points on the line: the one nearest to the origin, and another one."""
        x, y = self.weights
        share = (self.threshold - self.offset) / (x * x + y * y)
        return (share * x, share * y), (share * x - y, share * y + x)


@dataclass(frozen=True, slots=True, eq=False)
class ScorePairs:
    """Scores of two systems, as points or counted in cells.

    Attributes
    ----------
    names : (str, str)
        Names of the systems.
    n_tar, n_non : int
        Trials with finite scores and positive weight.
    n_infinite : int
        Omitted trials with an infinite score.
    tar, non : (n, 2) arrays or None
        The scores; None if they are counted.
    edges : (x, y) of (n_cells + 1,) arrays or None
        Edges of the cells.
    tar_counts, non_counts : (n_cells, n_cells) arrays or None
        Number or total weight of trials in each cell, by first and second system.
    lines : tuple of DecisionLine
    """

    names: tuple[str, str]
    n_tar: int
    n_non: int
    n_infinite: int
    tar: FloatArray | None
    non: FloatArray | None
    edges: FloatPair | None = None
    tar_counts: FloatArray | None = None
    non_counts: FloatArray | None = None
    lines: tuple[DecisionLine, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the object of ``deciban plot score-scatter --json``."""
        return {name: getattr(self, name) for name in self.__slots__} | {"lines": [asdict(one) for one in self.lines]}


def score_pairs(
    scores: ArrayLike,
    is_target: ArrayLike,
    *,
    names: Sequence[str] = ("first", "second"),
    sample_weight: Weights = None,
    model: ScoreModel | None = None,
    operating_points: Sequence[OperatingPoint] = (),
    most_points: int = MOST_POINTS,
) -> ScorePairs:
    """Return pairs of scores of two systems.

    Parameters
    ----------
    scores : (n_trials, 2) array_like
    is_target : (n_trials,) array_like
    names : sequence of two str
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial: 2 like two copies, 0 like none. Weighted trials are always counted in cells, since points
        cannot show weights.
    model : ScoreModel, optional
        A trained linear fusion of both, in this order.
    operating_points : sequence of OperatingPoint
        Operating points of the fusion, with a line for each.
    most_points : int
        Largest number of trials that are not counted in cells.

    Returns
    -------
    ScorePairs

    Raises
    ------
    InputError
        Unless there are two systems, no score is NaN, some are finite, and the model is a weighted sum of two systems.

    Examples
    --------
    >>> scores = [[3.0, 1.0], [1.0, 2.0], [2.0, -1.0], [-1.0, 1.0], [1.5, 0.0], [0.0, -2.0], [2.0, 0.5]]
    >>> pairs = score_pairs(scores, [1, 1, 1, 0, 0, 0, 0])
    >>> pairs.n_tar, pairs.non.tolist()
    (3, [[-1.0, 1.0], [1.5, 0.0], [0.0, -2.0], [2.0, 0.5]])
    """
    table = _validate.matrix(scores, "scores", "system").astype(np.float64, copy=False)
    _validate.require_no_nan(table, "scores")
    if table.shape[1] != 2 or len(names) != 2:
        raise InputError(f"scores: score-scatter needs two systems, got {table.shape[1]}.")
    truth, weight = _validate.labels(is_target, sample_weight, len(table))
    if weight is not None:
        counted = weight > 0
        table, truth, weight = table[counted], truth[counted], weight[counted]
    finite = np.isfinite(table).all(axis=1)
    if not finite.any():
        raise InputError("scores: no trial has finite scores of both systems.")
    tar, non = table[finite & truth], table[finite & ~truth]
    about = (str(names[0]), str(names[1])), len(tar), len(non), int(np.count_nonzero(~finite))
    lines = () if model is None else decision_lines(model, operating_points)
    if weight is None and len(tar) + len(non) <= most_points:
        return ScorePairs(*about, tar, non, lines=lines)
    x, y = (np.linspace(*_ends(table[finite, k]), N_CELLS + 1) for k in (0, 1))
    counts = [_counted(table, own, weight, (x, y)) for own in (finite & truth, finite & ~truth)]
    return ScorePairs(*about, None, None, (x, y), counts[0], counts[1], lines)


def _counted(table: FloatArray, own: BoolArray, weight: AnyArray | None, edges: FloatPair) -> FloatArray:
    """Return the number or total weight of trials in each cell."""
    weights = None if weight is None else weight[own]
    return np.asarray(np.histogram2d(table[own, 0], table[own, 1], bins=list(edges), weights=weights)[0])


def _ends(values: FloatArray) -> tuple[float, float]:
    """Return the lowest and highest value; equal values get some width."""
    low, high = float(values.min()), float(values.max())
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def decision_lines(model: ScoreModel, points: Sequence[OperatingPoint]) -> tuple[DecisionLine, ...]:
    """Return the lines at which a linear fusion of two systems decides, for each operating point.

    Raises
    ------
    InputError
        If the model is not a weighted sum of two systems, or both weights are 0.
    """
    rule = "Pass a linear fusion of the two systems (deciban fuse), without quality measures."
    if not model.is_fusion or model.takes_quality or model.scores_kind != "two-class":
        raise InputError(f"model: a {type(model).__name__} has no decision line. {rule}")
    model.require_fitted()
    start, first, second, other = np.asarray(model.transform(_PROBES), np.float64).tolist()
    weights = first - start, second - start
    if not np.isclose(other, start + 2.0 * weights[0] - 3.0 * weights[1], rtol=1e-9, atol=1e-9 * abs(start)):
        raise InputError(f"model: the decision line of a {type(model).__name__} is not straight. {rule}")
    if weights == (0.0, 0.0):
        raise InputError("model: both weights are 0, so there is no decision line.")
    return tuple(DecisionLine(one, weights, start, one.threshold) for one in points)


_SAME = 1e-12
"""Relative difference up to which costs are equal."""

LEAST_GAIN = 1e-6
"""Least relative decrease of the cost for which a system is added."""


@dataclass(frozen=True, slots=True)
class SelectionStep:
    """A system that was added, or could have been added, to the systems before.

    Attributes
    ----------
    system : int
        Column of the scores.
    name : str
    cost : float
        Cross-validated cost with this system added, relative to the cost of llr 0.
    same_data_cost : float
        The same for one fusion that is trained and evaluated on all trials, which is optimistic.
    gain : float
        Decrease of the cross-validated cost from that of the systems before; for the first system from 1, the cost of
        llr 0. Negative if the cost rises.
    """

    system: int
    name: str
    cost: float
    same_data_cost: float
    gain: float


@dataclass(frozen=True, slots=True)
class Untrained:
    """A system that could not be added.

    Attributes
    ----------
    system : int
        Column of the scores.
    name : str
    reason : str
        Reason why it cannot be fused with the chosen systems.
    """

    system: int
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Selection(Jsonable):
    """Systems in the order of their contributions.

    Attributes
    ----------
    steps : tuple of SelectionStep
        The chosen systems, in order.
    left_out : tuple of SelectionStep
        The others, each as if it were added to the chosen systems; the better ones first.
    criterion : str
        Name of the costs.
    untrained : tuple of Untrained
        Systems that cannot be fused with the chosen systems, for example because classes are separated.
    n_trials : int
        Number of trials with scores of all systems, on which the costs are computed.
    held_out : str
        Held-out data, and the number of folds; empty if only groups of trials are known.
    """

    steps: tuple[SelectionStep, ...]
    left_out: tuple[SelectionStep, ...]
    criterion: str
    untrained: tuple[Untrained, ...] = ()
    n_trials: int = 0
    held_out: str = ""

    @property
    def systems(self) -> tuple[int, ...]:
        """Columns of the scores to fuse, in order of gain."""
        return tuple(step.system for step in self.steps)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the chosen systems, in order of gain."""
        return tuple(step.name for step in self.steps)

    @property
    def cost(self) -> float:
        """Cross-validated cost of the fusion of the chosen systems."""
        return self.steps[-1].cost

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain JSON types; infinite ones are ``"inf"`` and ``"-inf"``."""
        return dict(plain(dataclasses.asdict(self)))


def select_systems(
    scores: ArrayLike,
    is_target: ArrayLike,
    *,
    fusion: Fusion | None = None,
    names: Names = None,
    operating_point: PointLike | None = None,
    groups: ArrayLike | Sequence[ArrayLike] | None = None,
    n_folds: int = 5,
    sample_weight: Weights = None,
    quality: Mapping[str, ArrayLike] | None = None,
    seed: int = 0,
    least_gain: float = LEAST_GAIN,
    progress: Progress | None = None,
) -> Selection:
    """Choose systems one by one: always add the one that lowers the cross-validated cost most, until none does.

    Parameters
    ----------
    scores : (n_trials, n_systems) array_like
        Scores of all systems on the same trials.
    is_target : (n_trials,) array_like
        True (or 1) for targets, False (or 0) for non-targets.
    fusion : LinearFusion, QualityFusion or SubsetFusion, optional
        Settings of training; copies of it are trained. The default is ``LinearFusion()``.
    names : sequence of str, optional
        Names of the systems; "system 0", "system 1" and so on by default.
    operating_point : OperatingPoint, float or (p_target, c_miss, c_fa), optional
        Use the actual DCF at this point as the cost. By default, the cost has the rule and the prior of ``fusion``:
        with the default fusion, Cllr.
    groups : (n_trials,) array_like, or two of them, optional
        Groups of trials that are held out together, such as speakers; see `deciban.calibration.cross_validated`.
    n_folds : int
        Number of folds, at least 2; at least 3 for groups on two sides.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0.
    quality : mapping of str to (n_trials, n_measures) array_like, optional
        The measures for ``QualityFusion.fit``, by argument, as in `analyse_fusion`.
    seed : int
        Seed of the folds; all sets of systems are compared on the same folds.
    least_gain : float
        A system is added if the cost decreases by more than this. Gains below the default are rounding errors.
    progress : function, optional
        Called with a message before every system that is tried: the numbers of trained models and of models to come.

    Returns
    -------
    Selection

    Raises
    ------
    InputError
        As in `deciban.calibration.cross_validated`, or if no system can be trained alone; then the message is about the
        first one. Later, a system that makes training impossible is left out, with the reason.

    Notes
    -----
    With a `SubsetFusion`, only the trials that all systems scored are used, so that costs can be compared.

    Costs are divided by the cost of llr 0: normalized DCF, and for the logarithmic rule at prior 0.5 Cllr in bits.
    Every trial is fused by a model without its group in training. The minimum over many candidates is still slightly
    optimistic: evaluate the chosen systems on other trials. The order of the trials has no effect; in ties, the first
    system is chosen. The search is greedy: it does not find two systems that help only together.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> is_target = np.arange(400) < 100
    >>> good = rng.normal(size=(400, 2)) + np.where(is_target, 1.0, -1.0)[:, None]
    >>> scores = np.column_stack((rng.normal(size=400), good))
    >>> found = select_systems(scores, is_target, names=["noise", "A", "B"])
    >>> for step in found.steps:
    ...     print(f"{step.name}  {step.cost:.3f}  {step.same_data_cost:.3f}  {step.gain:.3f}")
    A  0.474  0.470  0.526
    B  0.278  0.231  0.195
    >>> [step.name for step in found.left_out]
    ['noise']
    """
    prototype = LinearFusion() if fusion is None else fusion
    source = scored_by_all(labelled_source(prototype, scores, is_target, sample_weight, quality))
    named = system_names(names, len(source.systems))
    least_gain = _validate.in_range(least_gain, "least_gain", 0.0, 1e300, "A gain is finite and at least 0")
    point = None if operating_point is None else as_operating_point(operating_point)
    parts = SourceParts.in_memory(source, n_folds, groups=groups, seed=seed)
    return Search(parts, prototype, named, point, progress).selection(least_gain)


def _best_first(candidates: Sequence[SelectionStep]) -> list[SelectionStep]:
    """Sort by cost; candidates that differ by rounding only stay in the order of the systems."""
    steps: list[list[SelectionStep]] = []
    for one in sorted(candidates, key=lambda candidate: candidate.cost):
        if steps and one.cost <= steps[-1][0].cost * (1.0 + _SAME):
            steps[-1].append(one)
        else:
            steps.append([one])
    return [one for alike in steps for one in sorted(alike, key=lambda candidate: candidate.system)]


@dataclass(slots=True)
class Search:
    """Search for the systems to fuse, by the cost of trials in the fold that a fusion was not trained on.

    Attributes
    ----------
    parts : SourceParts
        Trials with their folds.
    fusion : fusion
        Fusion whose copies are trained, with the rule and prior of the cost.
    names : tuple of str
        Names of the systems.
    point : OperatingPoint, optional
        Operating point of an actual DCF, which is used as the cost instead.
    progress : function, optional
    n_trained : int
        Number of fusions that were trained for costs.
    """

    parts: SourceParts
    fusion: Fusion
    names: tuple[str, ...]
    point: OperatingPoint | None = None
    progress: Progress | None = None
    n_trained: int = 0

    @property
    def criterion(self) -> str:
        """Name of the costs in results."""
        if self.point is not None:
            return f"normalized actual DCF at {self.point}"
        alpha, beta, prior = self.fusion.alpha, self.fusion.beta, self.fusion.p_target
        if alpha == beta == 1 and prior == 0.5:
            return "Cllr in bits"
        return f"cost by the rule ({alpha:g}, {beta:g}) at prior {prior:g}, relative to llr 0"

    def selection(self, least_gain: float) -> Selection:
        """Add the system that helps most, one by one, until none helps.

        Raises
        ------
        InputError
            If no system can be trained alone.
        """
        steps: list[SelectionStep] = []
        while True:
            chosen, untrained = [one.system for one in steps], list[Untrained]()
            before = steps[-1].cost if steps else 1.0
            others = [k for k in range(len(self.names)) if k not in chosen]
            candidates = [
                # Infinite costs have no difference.
                SelectionStep(k, self.names[k], cost, math.nan, 0.0 if cost == before else before - cost)
                for k, cost in self._costs(others, chosen, self._held_out, untrained)
            ]
            finished = (
                replace(one, same_data_cost=cost)
                for one in _best_first(candidates)
                for _, cost in self._costs([one.system], chosen, self._same_data, untrained)
            )
            best = next(finished, None)
            if best is None and not steps:
                raise InputError(min(untrained, key=lambda one: one.system).reason)
            if best is None or (steps and not best.gain > least_gain):
                left_out = () if best is None else (best, *finished)
                reasons = tuple(sorted(untrained, key=lambda one: one.system))
                return Selection(tuple(steps), left_out, self.criterion, reasons, int(self.parts.counts[1].sum()))
            steps.append(best)

    def _costs(
        self, systems: Iterable[int], numbers: list[int], cost: Callable[[list[int]], float], untrained: list[Untrained]
    ) -> Iterator[tuple[int, float]]:
        """Yield systems with the cost of adding each to the chosen ones; list systems that cannot be added."""
        for k in systems:
            together = sorted((*numbers, k))
            try:
                yield k, cost(together)
            except InputError as error:
                called = " + ".join(self.names[one] for one in together)
                untrained.append(Untrained(k, self.names[k], f"{called}: {error}"))

    def _held_out(self, systems: list[int]) -> float:
        """Return the cross-validated cost of the fusion of some systems."""
        n, n_parts = len(self.names), len(self.parts)
        if self.progress is not None:
            most = n_parts * n * (n + 1) // 2
            words = f"selecting systems: {self.n_trained:,} of at most {most:,} trainings done"
            self.progress(f"{words}, {len(systems) - 1} chosen")
        self.n_trained += n_parts
        return self._cost(self.parts.crossed(untrained(self.fusion), "fusion", systems=systems))

    def _same_data(self, systems: list[int]) -> float:
        """Return the cost of a fusion that is trained and evaluated on all trials."""
        own = ordered(self.parts.source, systems=systems)
        with without_measure_warnings():
            model = untrained(self.fusion).fit_source(own, self.parts.engine, self.parts.memory)
        return self._cost(mapped(own, model, "fusion"))

    def _cost(self, llrs: TrialSource) -> float:
        """Return the cost of the llrs of labelled trials, relative to the cost of llr 0."""
        if self.point is None:
            nothing = np.zeros(1), None
            return self.fusion.cost_of_source(llrs, self.parts.engine) / self.fusion.cost_of(nothing, nothing)
        own, p = llrs.held.counting, self.point  # operating points are used with arrays only
        scores = SortedScores(**own.as_sets())
        return float(scores.act_dcf(p_target=p.p_target, c_miss=p.c_miss, c_fa=p.c_fa))
