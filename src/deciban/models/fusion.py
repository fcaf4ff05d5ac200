"""The base of all fusions of two classes: scores of several systems in, one log-likelihood ratio per trial out."""

from __future__ import annotations

from collections.abc import Sequence

from deciban.core.rules.expected import WeightedScores
from deciban.models.by_rule import TrainedByRule
from deciban.models.score_model import ParameterRow
from deciban.types import AnyArray, FloatArray


class Fusion(TrainedByRule):
    """A weighted sum of the scores of several systems, trained by a proper scoring rule at a prior."""

    is_fusion = True
    weights_: FloatArray
    standardized_weights_: FloatArray
    offset_: float
    penalized_objective_: float

    def row_name(self, systems: Sequence[str]) -> str:  # noqa: ARG002  # one name, whatever is fused
        """What tables call the result."""
        return self.table_name

    @property
    def table_name(self) -> str:
        """What tables call it."""
        return "fusion"

    @property
    def whole(self) -> Fusion:
        """What fuses the trials that all systems scored."""
        return self

    @property
    def without_quality(self) -> Fusion | None:
        """What fuses the trials that have no quality measures, if it takes some."""
        return None

    def penalized_cost(self, tar: WeightedScores, non: WeightedScores) -> float:  # noqa: ARG002
        """What training made as small as it could: the objective with the penalty.

        Parameters
        ----------
        tar, non : pairs of arrays
            Llrs of the trials of training that all systems scored, with their weights; for fusions whose objective is
            of other trials as well.
        """
        return self.penalized_objective_

    def subsets_of(self, scores: AnyArray) -> list[tuple[tuple[int, ...], int]]:  # noqa: ARG002
        """Sets of fewer than all systems that trials have scores of, with the numbers of trials; the largest first.

        Raises
        ------
        TrialError
            If there is no fusion for some of these sets.
        """
        return []

    def parameter_rows(self) -> tuple[ParameterRow, ...]:
        """Weights of the systems, and the offset."""
        return self._rows(self.trained_systems)

    def _rows(self, names: Sequence[str]) -> tuple[ParameterRow, ...]:
        """The same with the systems called otherwise."""
        rows = map(ParameterRow, names, self.weights_.tolist(), self.standardized_weights_.tolist())
        return (*rows, ParameterRow("offset", self.offset_))
