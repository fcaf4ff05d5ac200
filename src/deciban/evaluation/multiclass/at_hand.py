"""Trials of which it is asked what they cost: all that there are, or those of a piece."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deciban.evaluation.multiclass.summands import InTurn
from deciban.evaluation.multiclass.unit_trials import ClassUnitTrials
from deciban.multiclass.tables import Detectors, ScoredClasses

if TYPE_CHECKING:
    from deciban.evaluation.multiclass.summary import ClassSummary


@dataclass(frozen=True, slots=True, eq=False)
class AtHand:
    """Trials, class by class, with what is asked of their scores.

    Attributes
    ----------
    costs : ClassUnitTrials
    detectors : callable
        Each class against the rest, by the position of a prior of the rivals: log-likelihood ratios of these trials.
    scored : ScoredClasses or None
        The scores themselves; merged parts do not have them.
    """

    costs: ClassUnitTrials
    detectors: Callable[[int], Detectors]
    scored: ScoredClasses | None

    @classmethod
    def of_summary(cls, summary: ClassSummary) -> AtHand:
        """All trials of a summary with units."""
        problems = summary.problems
        assert summary.units is not None  # noqa: S101  # who asks has them

        def detectors(at: int) -> Detectors:
            found = problems.detectors(at)
            assert isinstance(found, Detectors)  # noqa: S101  # a summary of counted problems has no units
            return found

        return cls(summary.units, detectors, problems.trials if isinstance(problems, InTurn) else None)

    @property
    def n_trials(self) -> int:
        """How many trials there are."""
        return len(self.costs.stratum)
