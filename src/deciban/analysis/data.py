"""What a model takes, row by row: scores of systems and quality measures, with or without the truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from deciban.errors import InputError
from deciban.evaluation import Evaluation, TwoClassFigures
from deciban.evaluation.two_class import evaluate_labelled
from deciban.evaluation.unit_trials import Resampling
from deciban.fusion.linear import LabelledSystems
from deciban.fusion.quality_measures import QUALITY_SIDES, Measures
from deciban.models.score_model import ARGUMENTS, LabelledTrials, missing_measures_are_known
from deciban.models.two_class import Fusion
from deciban.models.uncertainty import Bounds
from deciban.trials.sources import Chunk, Columns, ShardSource, in_memory
from deciban.types import AnyArray, BoolArray, CountArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class SystemsData:
    """What a model takes for a set of trials.

    Attributes
    ----------
    scores : (n_trials, n_systems) array
        NaN where a system did not score a trial. Of many classes, (n_trials, n_systems, n_classes).
    quality : mapping of str to (n_trials, n_measures) array
        By argument: ``enroll_quality``, ``test_quality``, ``trial_quality``; NaN where there are no measures.
    """

    scores: AnyArray
    quality: Mapping[str, AnyArray] = field(default_factory=dict)

    def choose(self, systems: Sequence[int]) -> Self:
        """The same trials with some of the systems; neighbours are not copied."""
        chosen = list(systems)
        first, last = chosen[0], chosen[-1] + 1
        columns = slice(first, last) if chosen == list(range(first, last)) else chosen
        return replace(self, scores=self.scores[:, columns])

    def take(self, rows: IntArray | BoolArray) -> Self:
        """The data of some trials."""
        return replace(self, **{one.name: _rows_of(getattr(self, one.name), rows) for one in fields(self)})

    @property
    def complete(self) -> Self:
        """The trials that all systems scored."""
        complete: BoolArray = np.asarray(~np.isnan(self.scores).any(axis=1))
        return self if complete.all() else self.take(complete)

    @property
    def tables(self) -> list[AnyArray]:
        """The quality measures, in the order in which training records them."""
        return [self.quality[name] for name in ARGUMENTS if name in self.quality]

    def transform(self, model: Any) -> FloatArray:
        """What a trained model makes of these trials."""
        with missing_measures_are_known():
            quality = self.quality if model.takes_quality else {}
            llr: FloatArray = model.transform(model.inputs(self.scores), **quality)
        return llr

    def interval(self, model: Any, level: float) -> Bounds:
        """Between which bounds a trained model knows its llrs of these trials; see `ScoreModel.interval`."""
        with missing_measures_are_known():
            quality = self.quality if model.takes_quality else {}
            bounds: Bounds = model.interval(model.inputs(self.scores), level=level, **quality)
        return bounds


def _rows_of(values: Any, rows: IntArray | BoolArray) -> Any:
    """What belongs to some of the trials: of an array, of several by name, of units, or of nothing."""
    if isinstance(values, Resampling):
        return values if values.units is None else replace(values, units=values.units.take(rows))
    if isinstance(values, Mapping):
        return {name: table[rows] for name, table in values.items()}
    return None if values is None else values[rows]


@dataclass(frozen=True, slots=True, eq=False)
class LabelledData(SystemsData, LabelledTrials):
    """The same with the truth, to train and to evaluate.

    Attributes
    ----------
    scores, quality
        See `SystemsData`.
    is_target : (n_trials,) array
        Whether targets; of many classes, which class.
    weight : (n_trials,) array, optional
        How much each trial counts.
    resampling : Resampling, optional
        The units of the trials, and what intervals evaluations make of them.
    """

    is_target: AnyArray = field(kw_only=True)
    weight: CountArray | None = field(default=None, kw_only=True)
    resampling: Resampling | None = field(default=None, kw_only=True)

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
        """Check what a user passed for a fusion of this kind.

        Raises
        ------
        InputError
            If scores, labels, weights or measures are none, do not fit each other, or are not what the fusion takes.
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
        tables = {name: table for name in given if (table := measures.tables.get(name.partition("_")[0])) is not None}
        return cls(checked.scores, tables, is_target=checked.is_target, weight=checked.weight)

    @property
    def counting(self) -> LabelledData:
        """The trials that count: those of a weight above 0."""
        return self if self.weight is None or self.weight.all() else self.take(np.flatnonzero(self.weight))

    @property
    def has_both_classes(self) -> bool:
        """Whether there are targets and non-targets that count."""
        counting = self.is_target if self.weight is None else self.is_target[self.weight > 0]
        return bool(counting.any() and not counting.all())

    def fit(self, model: Any, **more: Any) -> Any:
        """Train a model on these trials; ``more`` are names of classes, where there are many."""
        with missing_measures_are_known():
            scores, how = model.inputs(self.scores), {**self.quality, **more}
            return model.fit(scores, self.is_target, sample_weight=self.weight, **how)

    @property
    def source(self) -> ShardSource:
        """The same trials as a source of one batch."""
        return in_memory(Chunk(Columns.of(self.scores), self.is_target, None, self.weight, self.quality or None))

    def known(self, score: AnyArray) -> tuple[AnyArray, AnyArray, CountArray | None]:
        """Scores of these trials, without those that there are none of (NaN), with their truth and weights."""
        there: BoolArray = ~np.isnan(score)
        if score.ndim > 1 or there.all():
            return score, self.is_target, self.weight
        return score[there], self.is_target[there], _rows_of(self.weight, there)

    def known_resampling(self, score: AnyArray) -> Resampling | None:
        """The units of the trials that have a score."""
        there: BoolArray = ~np.isnan(score)
        if score.ndim > 1 or there.all():
            return self.resampling
        return cast("Resampling | None", _rows_of(self.resampling, np.flatnonzero(there)))

    def evaluated(self, score: AnyArray, name: str, figures: TwoClassFigures) -> Evaluation:
        """Evaluate scores or llrs of these trials; those that have none (NaN) are left out."""
        known: Any = {"operating_points": figures, "resampling": self.known_resampling(score)}
        return evaluate_labelled(*self.known(score), name=name, **known)


def copied(fusion: Fusion) -> Fusion:
    """A fusion with the same settings, not trained."""
    return type(fusion)(**fusion.settings)
