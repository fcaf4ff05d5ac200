"""Which systems are worth fusing: greedy selection by cross-validated cost."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.analysis.data import LabelledData, copied
from deciban.analysis.fusion import system_names
from deciban.calibration.cross import SourceParts, trained_on
from deciban.core.ranks.operating import OperatingPoint, PointLike, as_operating_point
from deciban.errors import InputError
from deciban.evaluation.one_system import Jsonable, plain
from deciban.fusion import LinearFusion
from deciban.metrics import SortedScores
from deciban.models.mapped import mapped, ordered
from deciban.models.score_model import Labelled, missing_measures_are_known
from deciban.models.two_class import Fusion
from deciban.trials.passes import Engine
from deciban.trials.sources import ShardSource
from deciban.types import Progress

_SAME = 1e-12
"""Costs that differ by less than this, relative to them, are the same."""

LEAST_GAIN = 1e-6
"""Of relative cost, for which it is worth adding a system."""


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
class Untrained:
    """A system that could not be added.

    Attributes
    ----------
    system : int
        Column of the scores.
    name : str
    reason : str
        Why there is no fusion of it and the systems chosen.
    """

    system: int
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Selection(Jsonable):
    """Systems in the order in which they help most.

    Attributes
    ----------
    steps : tuple of SelectionStep
        The systems chosen, in order.
    left_out : tuple of SelectionStep
        The others, each as if it were added to those chosen; the better ones first.
    criterion : str
        What the costs are, in words.
    untrained : tuple of Untrained
        Systems of which and those chosen no fusion can be trained: separated classes, for example.
    n_trials : int
        How many trials the costs are of: those that all systems scored.
    held_out : str
        What was held out, and in how many parts; empty where only groups of trials are known.
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


def select_systems(
    scores: ArrayLike,
    is_target: ArrayLike,
    *,
    fusion: Fusion | None = None,
    names: Sequence[str] | None = None,
    operating_point: PointLike | None = None,
    groups: ArrayLike | Sequence[ArrayLike] | None = None,
    n_folds: int = 5,
    sample_weight: ArrayLike | None = None,
    quality: Mapping[str, ArrayLike] | None = None,
    seed: int = 0,
    least_gain: float = LEAST_GAIN,
    progress: Progress | None = None,
) -> Selection:
    """Choose systems one after the other: always the one that lowers the cross-validated cost most, until none does.

    Parameters
    ----------
    scores : (n_trials, n_systems) array_like
        Scores of all systems on the same trials.
    is_target : (n_trials,) array_like
        True (or 1) for targets, False (or 0) for non-targets.
    fusion : LinearFusion, QualityFusion or SubsetFusion, optional
        What to train; copies are, it stays as it is. The default is ``LinearFusion()``.
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
    quality : mapping of str to (n_trials, n_measures) array_like, optional
        The measures that ``QualityFusion.fit`` takes, by argument, as in `analyse_fusion`.
    seed : int
        Which of the many ways to make folds is taken; all sets of systems are compared on the same folds.
    least_gain : float
        A system is added if the cost falls by more than this. Smaller gains than the default are rounding.
    progress : function, optional
        Called with a few words before every system that is tried: how many models were trained, and how many are ahead.

    Returns
    -------
    Selection

    Raises
    ------
    InputError
        As in `deciban.calibration.cross_validated`, or if no system can be trained alone; the message names the first.
        Later on, a system that makes training impossible is left out, with the reason.

    Notes
    -----
    With a `SubsetFusion`, only the trials that all systems scored are used, so that costs can be compared.

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
    prototype = LinearFusion() if fusion is None else fusion
    data = LabelledData.of(prototype, scores, is_target, sample_weight=sample_weight, quality=quality).complete
    named = system_names(names, len(data.source.systems))
    least_gain = _validate.in_range(least_gain, "least_gain", 0.0, 1e300, "A gain is finite and at least 0")
    criterion = Criterion(prototype, None if operating_point is None else as_operating_point(operating_point))
    parts = SourceParts.in_memory(data.source, n_folds, groups=groups, seed=seed)
    return chosen_by(Search(Tried(parts, criterion), named, progress), criterion.words, least_gain)


def chosen_by(search: Search, criterion: str, least_gain: float) -> Selection:
    """Take the system that helps most, one after the other, until none does.

    Raises
    ------
    InputError
        If no system can be trained alone.
    """
    steps: list[SelectionStep] = []
    while True:
        candidates, untrained = search.around([step.system for step in steps], steps[-1].cost if steps else 1.0)
        finished = search.finished(candidates, untrained)
        best = next(finished, None)
        if best is None and not steps:
            raise InputError(min(untrained, key=lambda one: one.system).reason)
        if best is None or (steps and not best.gain > least_gain):
            left_out = () if best is None else (best, *finished)
            reasons = tuple(sorted(untrained, key=lambda one: one.system))
            return Selection(tuple(steps), left_out, criterion, reasons, search.tried.n_trials)
        steps.append(best)


@dataclass(frozen=True, slots=True)
class Criterion:
    """What selection makes small.

    Attributes
    ----------
    fusion : fusion
        Whose rule and prior make the cost, and whose copies are trained.
    point : OperatingPoint, optional
        Where the cost is an actual DCF instead.
    """

    fusion: Fusion
    point: OperatingPoint | None

    @property
    def words(self) -> str:
        """What the costs are called in results."""
        if self.point is not None:
            return f"normalized actual DCF at {self.point}"
        alpha, beta, prior = self.fusion.alpha, self.fusion.beta, self.fusion.p_target
        if alpha == beta == 1 and prior == 0.5:
            return "Cllr in bits"
        return f"cost by the rule ({alpha:g}, {beta:g}) at prior {prior:g}, relative to llr 0"

    def __call__(self, llrs: ShardSource, engine: Engine | None) -> float:
        """Cost of the llrs of labelled trials, relative to that of llr 0."""
        if self.point is None:
            nothing = np.zeros(1), None
            return self.fusion.cost_of_pieces(llrs, engine) / self.fusion.cost_of(nothing, nothing)
        assert llrs.batch is not None  # noqa: S101  # those who name a point pass arrays
        own, p = Labelled.of(llrs.batch).counting, self.point
        scores = SortedScores(**own.as_sets())
        return float(scores.act_dcf(p_target=p.p_target, c_miss=p.c_miss, c_fa=p.c_fa))


@dataclass(frozen=True, slots=True)
class Tried:
    """Costs of sets of systems on trials with their folds."""

    parts: SourceParts
    cost: Criterion

    @property
    def n_trials(self) -> int:
        """How many trials the costs are of."""
        return int(self.parts.counts[1].sum())

    def held_out(self, systems: Sequence[int]) -> float:
        """Cross-validated cost of the fusion of some systems."""
        llrs = self.parts.crossed(copied(self.cost.fusion), "fusion", systems=systems)
        return self.cost(llrs, self.parts.engine)

    def same_data(self, systems: Sequence[int]) -> float:
        """The cost of one that is trained on all trials, of these trials."""
        own = ordered(self.parts.source, systems=systems)
        with missing_measures_are_known():
            model = trained_on(copied(self.cost.fusion), own, self.parts.engine, self.parts.memory)
        return self.cost(mapped(own, model, "fusion"), self.parts.engine)


def _best_first(candidates: Sequence[SelectionStep]) -> list[SelectionStep]:
    """In order of cost; those that differ by rounding alone stay in the order of the systems."""
    found: list[list[SelectionStep]] = []
    for one in sorted(candidates, key=lambda candidate: candidate.cost):
        if found and one.cost <= found[-1][0].cost * (1.0 + _SAME):
            found[-1].append(one)
        else:
            found.append([one])
    return [one for alike in found for one in sorted(alike, key=lambda candidate: candidate.system)]


class Search:
    """Costs of sets of systems.

    Parameters
    ----------
    tried : Tried
    names : tuple of str
        Of the systems.
    progress : function, optional
    """

    def __init__(self, tried: Tried, names: tuple[str, ...], progress: Progress | None = None) -> None:
        self.tried, self._names, self._progress = tried, names, progress
        self._chosen: list[int] = []
        self._n_parts, self._n_trained = len(tried.parts), 0

    def around(self, chosen: Sequence[int], before: float) -> tuple[list[SelectionStep], list[Untrained]]:
        """What it brings to add each of the other systems, the best one first, and which of them cannot be trained.

        Parameters
        ----------
        chosen : sequence of int
        before : float
            Their cost.
        """
        self._chosen = list(chosen)
        found: list[SelectionStep] = []
        untrained: list[Untrained] = []
        for k in range(len(self._names)):
            if k in self._chosen:
                continue
            self._tell()
            try:
                cost = self.tried.held_out(self._with(k))
            except InputError as error:
                untrained.append(self._untrained(k, error))
            else:
                gain = 0.0 if cost == before else before - cost  # infinity from infinity is no gain
                found.append(SelectionStep(k, self._names[k], cost, math.nan, gain))
            self._n_trained += self._n_parts
        return _best_first(found), untrained

    def finished(self, candidates: Sequence[SelectionStep], untrained: list[Untrained]) -> Iterator[SelectionStep]:
        """Candidates with what the choice among them does not depend on; what it cannot be found of is untrained."""
        for one in candidates:
            try:
                same = self.tried.same_data(self._with(one.system))
            except InputError as error:
                untrained.append(self._untrained(one.system, error))
            else:
                yield replace(one, same_data_cost=same)

    def _with(self, added: int) -> list[int]:
        return sorted((*self._chosen, added))

    def _untrained(self, added: int, error: InputError) -> Untrained:
        systems = " + ".join(self._names[k] for k in self._with(added))
        return Untrained(added, self._names[added], f"{systems}: {error}")

    def _tell(self) -> None:
        if self._progress is not None:
            n = len(self._names)
            most = self._n_parts * n * (n + 1) // 2
            self._progress(
                f"selecting systems: {self._n_trained:,} of at most {most:,} trainings done, {len(self._chosen)} chosen"
            )
