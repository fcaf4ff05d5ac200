"""Labelled trials of several systems in memory, on which fusions are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deciban.errors import InputError
from deciban.evaluation import Evaluation, TwoClassFigures
from deciban.evaluation.summary import Resampling
from deciban.evaluation.two_class import evaluate_labelled
from deciban.fusion.linear import LabelledSystems
from deciban.fusion.quality_measures import QUALITY_SIDES, Measures
from deciban.models.labelled import Labelled
from deciban.models.mapped import having, mapped, ordered
from deciban.models.score_model import ARGUMENTS
from deciban.models.two_class import Fusion
from deciban.trials.sources import Chunk, ShardSource
from deciban.types import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class LabelledData:
    """Labelled trials of several systems.

    Attributes
    ----------
    source : ShardSource
        Of one batch; NaN stands for a score that is not there.
    resampling : Resampling, optional
        What intervals of evaluations are made of, with the units of the batch.
    """

    source: ShardSource
    resampling: Resampling | None = None

    @classmethod
    def of(
        cls,
        fusion: Fusion,
        scores: ArrayLike,
        is_target: ArrayLike,
        *,
        sample_weight: ArrayLike | None,
        quality: Mapping[str, ArrayLike] | None,
    ) -> LabelledData:
        """Check what a user passed.

        Raises
        ------
        InputError
            As `fit` of the fusion; or if there are measures that it does not take, or none that it needs.
        """
        checked = LabelledSystems.of(scores, is_target, sample_weight, missing=fusion.of_subsets)
        given = dict(quality or {})
        if bool(given) != fusion.takes_quality:
            raise InputError(
                f"quality: {'given' if given else 'none given'}, but the fusion is a {type(fusion).__name__}. Measures "
                "belong to QualityFusion, and it needs some."
            )
        if unknown := set(given) - set(ARGUMENTS):
            raise InputError(f"quality: {min(unknown)!r} is none of {', '.join(ARGUMENTS)}, as `fit` calls them.")
        measures = Measures.of(len(checked.scores), **{kind: given.get(f"{kind}_quality") for kind in QUALITY_SIDES})
        tables: Any = {f"{side}_quality": table for side, table in measures.tables.items()}
        return cls(checked.source(None, tables or None, incomplete=fusion.of_subsets))

    @property
    def chunk(self) -> Chunk:
        """All trials."""
        assert self.source.batch is not None  # noqa: S101  # they are in memory
        return self.source.batch

    @property
    def complete(self) -> LabelledData:
        """Return the trials that all systems scored and that have a weight above 0."""
        return replace(self, source=having(self.source, range(len(self.source.systems)), counting=True))

    @property
    def has_both_classes(self) -> bool:
        """True if there are targets and non-targets."""
        labels = self.chunk.labels
        return bool(labels.any() and not labels.all())

    def choose(self, systems: Sequence[int]) -> LabelledData:
        """Return the same trials with the scores of some systems, in this order."""
        return replace(self, source=ordered(self.source, systems=systems))

    def labelled(self, llr: FloatArray) -> Labelled:
        """Return llrs of these trials with their labels and weights."""
        return Labelled(llr, self.chunk.labels, self.chunk.weight)

    def transform(self, model: Any) -> FloatArray:
        """Return the llrs of a trained model, without warnings about missing quality measures."""
        found = mapped(self.source, model, "fusion").batch
        assert found is not None  # noqa: S101  # they are in memory
        return np.asarray(found.scores[0], np.float64)

    def evaluated(self, llr: FloatArray, name: str, figures: TwoClassFigures) -> Evaluation:
        """Evaluate llrs of these trials."""
        chunk, resampling = self.chunk, self.resampling
        if resampling is not None and resampling.units is not None:
            resampling = replace(resampling, units=chunk.units)
        about: Any = {"operating_points": figures, "resampling": resampling}
        return evaluate_labelled(llr, chunk.labels, chunk.weight, name=name, **about)


def copied(fusion: Fusion) -> Fusion:
    """A fusion of the same settings that is not trained."""
    return type(fusion)(**fusion.settings)
