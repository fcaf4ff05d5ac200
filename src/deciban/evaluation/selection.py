"""Which systems are worth fusing: greedy selection by cross-validated cost."""

from __future__ import annotations

import copy
import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from deciban import _validate
from deciban.calibration import cross_validated
from deciban.core.operating import OperatingPoint, PointLike, as_operating_point
from deciban.errors import InputError
from deciban.evaluation.fusion_analysis import system_names
from deciban.evaluation.result import plain
from deciban.fusion import LinearFusion
from deciban.fusion.fuser import LabelledSystems
from deciban.metrics import SortedScores
from deciban.types import FloatArray, ScoreArray


@dataclass(frozen=True, slots=True)
class SelectionStep:
    """A system that was added, or could have been added, to those before.

    Attributes
    ----------
    system : int
        Column of the scores.
    name : str
    cost : float
        Cross-validated cost with this system added, relative to that of llr 0.
    same_data_cost : float
        The same by one fusion trained on all trials and evaluated on them, which flatters.
    gain : float
        By how much the cross-validated cost falls: from that of the systems before, and for the first system from 1,
        the cost of llr 0. Negative if it rises.
    """

    system: int
    name: str
    cost: float
    same_data_cost: float
    gain: float


@dataclass(frozen=True, slots=True)
class Selection:
    """Systems in the order in which they help most.

    Attributes
    ----------
    steps : tuple of SelectionStep
        The systems chosen, in order.
    left_out : tuple of SelectionStep
        The others, each as if it were added to those chosen; the better ones first.
    criterion : str
        What the costs are, in words.
    """

    steps: tuple[SelectionStep, ...]
    left_out: tuple[SelectionStep, ...]
    criterion: str

    @property
    def systems(self) -> tuple[int, ...]:
        """Columns of the scores to fuse, in order of gain."""
        return tuple(step.system for step in self.steps)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the systems chosen, in order of gain."""
        return tuple(step.name for step in self.steps)

    @property
    def cost(self) -> float:
        """Cross-validated cost of the fusion of the systems chosen."""
        return self.steps[-1].cost

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain JSON types; infinite ones are ``"inf"`` and ``"-inf"``."""
        answer: dict[str, Any] = plain(dataclasses.asdict(self))
        return answer

    def to_json(self) -> str:
        """Return `to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)


def select_systems(
    scores: ArrayLike,
    is_target: ArrayLike,
    *,
    fusion: LinearFusion | None = None,
    names: Sequence[str] | None = None,
    operating_point: PointLike | None = None,
    groups: ArrayLike | Sequence[ArrayLike] | None = None,
    n_folds: int = 5,
    sample_weight: ArrayLike | None = None,
    seed: int = 0,
    least_gain: float = 1e-6,
) -> Selection:
    """Choose systems one after the other: always the one that lowers the cross-validated cost most, until none does.

    Parameters
    ----------
    scores : (n_trials, n_systems) array_like
        Scores of all systems on the same trials.
    is_target : (n_trials,) array_like
        True (or 1) for targets, False (or 0) for non-targets.
    fusion : LinearFusion, optional
        Rule, prior and penalty of training; copies are trained, it stays as it is. The default is ``LinearFusion()``.
    names : sequence of str, optional
        Of the systems; "system 0", "system 1" and so on if left out.
    operating_point : OperatingPoint, float or (p_target, c_miss, c_fa), optional
        Cost is the actual DCF there. If left out, it is the cost by the rule and at the prior of ``fusion``: Cllr, with
        the default.
    groups : (n_trials,) array_like, or two of them, optional
        Whose trials are held out together, such as speakers; see `deciban.calibration.cross_validated`.
    n_folds : int
        Number of parts, at least 2; at least 3 for groups on two sides.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0.
    seed : int
        Which of the many ways to make folds is taken; all sets of systems are compared on the same folds.
    least_gain : float
        A system is added if the cost falls by more than this. Smaller gains than the default are rounding.

    Returns
    -------
    Selection

    Raises
    ------
    InputError
        As in `LinearFusion.fit` and `deciban.calibration.cross_validated`; the message names the systems.

    Notes
    -----
    Costs are divided by that of llr 0: normalized DCF, and for the logarithmic rule at prior 0.5 Cllr in bits. Every
    trial is fused by a model that has not seen its group. The minimum over many candidates still flatters slightly:
    evaluate what is chosen on other trials. The order of the trials does not matter; of systems with the same cost the
    first is taken. Greedy means that two systems which only help together are not found.

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
    data = LabelledSystems.of(scores, is_target, sample_weight)
    named = system_names(names, data.scores.shape[1])
    least_gain = _validate.in_range(least_gain, "least_gain", 0.0, 1e300, "A gain is finite and at least 0")
    criterion = _Criterion.of(LinearFusion() if fusion is None else fusion, operating_point)
    search = _Search(data, criterion, {"groups": groups, "n_folds": n_folds, "seed": seed}, named)
    steps: list[SelectionStep] = []
    while True:
        chosen = [step.system for step in steps]
        before = steps[-1].cost if steps else 1.0
        candidates = [search.step(chosen, k, before) for k in range(len(named)) if k not in chosen]
        candidates.sort(key=lambda step: step.cost)
        if not candidates or (steps and not candidates[0].gain > least_gain):
            return Selection(tuple(steps), tuple(candidates), criterion.words)
        steps.append(candidates[0])


@dataclass(frozen=True, slots=True)
class _Criterion:
    """What selection makes small."""

    fusion: LinearFusion
    point: OperatingPoint | None

    @classmethod
    def of(cls, fusion: LinearFusion, point: PointLike | None) -> _Criterion:
        return cls(fusion, None if point is None else as_operating_point(point))

    @property
    def words(self) -> str:
        if self.point is not None:
            return f"normalized actual DCF at {self.point}"
        alpha, beta, prior = self.fusion.alpha, self.fusion.beta, self.fusion.p_target
        if alpha == beta == 1 and prior == 0.5:
            return "Cllr in bits"
        return f"cost by the rule ({alpha:g}, {beta:g}) at prior {prior:g}, relative to llr 0"

    def __call__(self, llr: FloatArray, data: LabelledSystems) -> float:
        tar, non = data.is_target, ~data.is_target
        weights = (None, None) if data.weight is None else (data.weight[tar], data.weight[non])
        scores = SortedScores(llr[tar], llr[non], tar_weights=weights[0], non_weights=weights[1])
        if self.point is not None:
            p = self.point
            return float(scores.act_dcf(p_target=p.p_target, c_miss=p.c_miss, c_fa=p.c_fa))
        rule, p_target = (self.fusion.alpha, self.fusion.beta), self.fusion.p_target
        nothing = SortedScores([0.0], [0.0]).trials.scoring_rule_cost(*rule, p_target=p_target)
        return float(scores.trials.scoring_rule_cost(*rule, p_target=p_target) / nothing)


class _Search:
    """Costs of sets of systems, all on the same folds."""

    def __init__(self, data: LabelledSystems, cost: _Criterion, folds: dict[str, Any], names: tuple[str, ...]) -> None:
        self.data, self.cost, self.folds, self.names = data, cost, folds, names
        keys = [*data.columns, data.is_target]
        self.order = np.lexsort(keys if data.weight is None else [data.weight, *keys])
        self.rank = np.empty(len(self.order))
        self.rank[self.order] = np.arange(len(self.order))

    def step(self, chosen: list[int], added: int, before: float) -> SelectionStep:
        """What it brings to add a system to those chosen."""
        systems = sorted((*chosen, added))
        data, weight = self.data, self.data.float_weight
        columns = data.scores[:, systems]
        by_rank = _ByRank(copy.deepcopy(self.cost.fusion), columns[self.order])
        try:
            crossed = cross_validated(by_rank, self.rank, data.is_target, sample_weight=weight, **self.folds)
            same = copy.deepcopy(self.cost.fusion).fit(columns, data.is_target, sample_weight=weight)
        except InputError as error:
            raise InputError(f"{' + '.join(self.names[k] for k in systems)}: {error}") from error
        cost = self.cost(crossed, data)
        gain = 0.0 if cost == before else before - cost  # infinity from infinity is no gain
        return SelectionStep(added, self.names[added], cost, self.cost(same.transform(columns), data), gain)


class _ByRank:
    """A fusion that takes ranks of trials for scores, so that folds do not depend on the systems that are chosen."""

    def __init__(self, fusion: LinearFusion, ordered: ScoreArray) -> None:
        self.fusion, self.ordered = fusion, ordered

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return type(self)(copy.deepcopy(self.fusion, memo), self.ordered)

    def fit(self, scores: ArrayLike, is_target: ArrayLike, *, sample_weight: ArrayLike | None = None) -> Self:
        self.fusion.fit(self._rows(scores), is_target, sample_weight=sample_weight)
        return self

    def transform(self, scores: ArrayLike) -> FloatArray:
        return self.fusion.transform(self._rows(scores))

    def _rows(self, rank: ArrayLike) -> ScoreArray:
        return self.ordered[np.asarray(rank, np.int64)]
