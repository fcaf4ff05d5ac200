"""The candidates of a greedy selection: what every system would bring, all on the same folds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from deciban.analysis.data import HeldOut, LabelledData, copied
from deciban.core.ranks.operating import OperatingPoint, PointLike, as_operating_point
from deciban.errors import InputError
from deciban.metrics import SortedScores
from deciban.models.by_rule import Fusion
from deciban.types import FloatArray, Progress

_SAME = 1e-12
"""Costs that differ by less than this, relative to them, are the same."""


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

    @classmethod
    def of(cls, fusion: Fusion, point: PointLike | None) -> Criterion:
        """What a user asked for: a cost at a point, or else that of the fusion."""
        return cls(fusion, None if point is None else as_operating_point(point))

    @property
    def words(self) -> str:
        """What the costs are called in results."""
        if self.point is not None:
            return f"normalized actual DCF at {self.point}"
        alpha, beta, prior = self.fusion.alpha, self.fusion.beta, self.fusion.p_target
        if alpha == beta == 1 and prior == 0.5:
            return "Cllr in bits"
        return f"cost by the rule ({alpha:g}, {beta:g}) at prior {prior:g}, relative to llr 0"

    def __call__(self, llr: FloatArray, data: LabelledData) -> float:
        """Cost of the llrs of labelled trials, relative to that of llr 0."""
        if data.weight is not None:  # those of weight 0 may have no llr
            llr, data = llr[data.weight > 0], data.counting
        tar, non = data.is_target, ~data.is_target
        scores = SortedScores(llr[tar], llr[non], tar_weights=data.tar_weight, non_weights=data.non_weight)
        if self.point is not None:
            p = self.point
            return float(scores.act_dcf(p_target=p.p_target, c_miss=p.c_miss, c_fa=p.c_fa))
        rule, p_target = (self.fusion.alpha, self.fusion.beta), self.fusion.p_target
        nothing = SortedScores([0.0], [0.0]).trials.scoring_rule_cost(*rule, p_target=p_target)
        return float(scores.trials.scoring_rule_cost(*rule, p_target=p_target) / nothing)


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
    """Costs of sets of systems."""

    def __init__(
        self, held: HeldOut, cost: Criterion, names: tuple[str, ...], progress: Progress | None = None
    ) -> None:
        self._held, self._data, self._cost, self._names, self._progress = held, held.trials, cost, names, progress
        self._chosen: list[int] = []
        self._n_parts, self._n_trained = len(list(held.parts)), 0

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
                cost = self._crossed_cost(k)
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
                same = self._same_data_cost(one.system)
            except InputError as error:
                untrained.append(self._untrained(one.system, error))
            else:
                yield replace(one, same_data_cost=same)

    def _crossed_cost(self, added: int) -> float:
        return self._cost(self._held.llr(self._cost.fusion, self._with(added)), self._data)

    def _same_data_cost(self, added: int) -> float:
        own = self._data.choose(self._with(added))
        return self._cost(own.transform(own.fit(copied(self._cost.fusion))), self._data)

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
