"""What a model takes, row by row: scores of systems and quality measures, with or without the truth."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from deciban.calibration.cross import Parts
from deciban.core.ranks.operating import PointLike
from deciban.errors import InputError, TrialError
from deciban.evaluation.results import Evaluation
from deciban.evaluation.two_class import evaluate_labelled
from deciban.fusion.linear import LabelledSystems
from deciban.fusion.quality_measures import QUALITY_SIDES, Measures
from deciban.models.by_rule import Fusion
from deciban.models.score_model import ARGUMENTS, LabelledTrials, missing_measures_are_known
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

    def choose(self, systems: Sequence[int]) -> SystemsData:
        """The same trials with some of the systems; neighbours are not copied."""
        chosen = list(systems)
        first, last = chosen[0], chosen[-1] + 1
        columns = slice(first, last) if chosen == list(range(first, last)) else chosen
        return SystemsData(self.scores[:, columns], self.quality)

    def take(self, rows: IntArray | BoolArray) -> SystemsData:
        """The data of some trials."""
        return SystemsData(self.scores[rows], {name: values[rows] for name, values in self.quality.items()})

    def of_classes(self, order: Sequence[int]) -> SystemsData:
        """The same with the classes in another order."""
        return SystemsData(self.scores[:, :, list(order)], self.quality)

    @property
    def complete(self) -> BoolArray:
        """Which trials all systems scored."""
        return np.asarray(~np.isnan(self.scores).any(axis=1), np.bool_)

    @property
    def columns(self) -> list[AnyArray]:
        """All numbers of the trials of two classes, as training records them."""
        return [*self.scores.T, *(column for table in self.tables for column in table.T)]

    @property
    def tables(self) -> list[AnyArray]:
        """The quality measures, in the order in which training records them."""
        return [self.quality[name] for name in ARGUMENTS if name in self.quality]

    def fit(self, model: Any, truth: AnyArray, *, sample_weight: ArrayLike | None = None, **more: Any) -> Any:
        """Train a model on these trials; ``more`` are names of classes, where there are many."""
        with missing_measures_are_known():
            return model.fit(model.inputs(self.scores), truth, sample_weight=sample_weight, **self.quality, **more)

    def transform(self, model: Any) -> FloatArray:
        """What a trained model makes of these trials."""
        with missing_measures_are_known():
            quality = self.quality if model.takes_quality else {}
            llr: FloatArray = model.transform(model.inputs(self.scores), **quality)
        return llr


@dataclass(frozen=True, slots=True, eq=False)
class LabelledData(LabelledTrials):
    """The same with the truth, to train and to evaluate.

    Attributes
    ----------
    data : SystemsData
    is_target : (n_trials,) bool array
    weight : (n_trials,) array, optional
        How much each trial counts.
    """

    data: SystemsData
    is_target: BoolArray
    weight: CountArray | None = None

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
        return cls(SystemsData(checked.scores, tables), checked.is_target, checked.weight)

    def choose(self, systems: Sequence[int]) -> LabelledData:
        """The same trials with some of the systems."""
        return replace(self, data=self.data.choose(systems))

    def take(self, rows: IntArray | BoolArray) -> LabelledData:
        """Some of the trials."""
        weight = None if self.weight is None else self.weight[rows]
        return LabelledData(self.data.take(rows), self.is_target[rows], weight)

    @property
    def complete(self) -> LabelledData:
        """The trials that all systems scored."""
        rows = self.data.complete
        return self if rows.all() else self.take(rows)

    @property
    def counting(self) -> LabelledData:
        """The trials that count: those of a weight above 0."""
        return self if self.weight is None or self.weight.all() else self.take(np.flatnonzero(self.weight))

    @property
    def has_both_classes(self) -> bool:
        """Whether there are targets and non-targets that count."""
        counting = self.is_target if self.weight is None else self.is_target[self.weight > 0]
        return bool(counting.any() and not counting.all())

    def fit(self, fusion: Any) -> Any:
        """Train a fusion on these trials."""
        return self.data.fit(fusion, self.is_target, sample_weight=self.weight)

    def evaluated(self, score: AnyArray, name: str, points: Iterable[PointLike]) -> Evaluation:
        """Evaluate scores or llrs of these trials; those that have none (NaN) are left out."""
        rows = ~np.isnan(score)
        own = self if rows.all() else self.take(rows)
        return evaluate_labelled(score[rows], own.is_target, own.weight, name=name, operating_points=points)

    def fused(self, fusion: Fusion, name: str, points: Iterable[PointLike]) -> Evaluation:
        """Evaluate what a trained fusion makes of the trials that count; it may have no answer for others."""
        own = self.counting
        return own.evaluated(own.data.transform(fusion), name, points)

    def cross_validated(self, fusion: Any, systems: Sequence[int] | None = None, **folds: Any) -> FloatArray:
        """Fuse every trial by a model that was trained without its group.

        Parameters
        ----------
        fusion : fusion
        systems : sequence of int, optional
            Those to fuse. The folds do not depend on them: they follow from the scores of all systems.
        **folds
            ``groups``, ``n_folds`` and ``seed`` of `deciban.calibration.cross_validated`.

        Returns
        -------
        (n_trials,) array
            In nats. NaN for trials of weight 0 in folds where a fusion refuses one of these.
        """
        return self.held_out(**folds).llr(fusion, systems)

    def held_out(self, **folds: Any) -> HeldOut:
        """Make the folds of `cross_validated` once, for any number of fusions."""
        keys = [*self.data.columns, self.is_target]
        order = np.lexsort(keys if self.weight is None else [self.weight, *keys])
        rank = np.empty(len(order))
        rank[order] = np.arange(len(order))
        parts = Parts.of(rank, self.is_target, sample_weight=self.weight, **folds)
        return HeldOut(self, order, rank, parts)


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """Trials with their folds.

    Attributes
    ----------
    trials : LabelledData
    order : (n_trials,) int array
        The trials in an order that follows from their data alone.
    rank : (n_trials,) array
        The place of each trial in it.
    parts : Parts
    """

    trials: LabelledData
    order: IntArray
    rank: FloatArray
    parts: Parts

    def llr(self, fusion: Any, systems: Sequence[int] | None = None) -> FloatArray:
        """Fuse every trial by a model that was trained without its group; see `LabelledData.cross_validated`."""
        data, weight = self.trials.data, self.trials.weight
        counts = np.ones(len(self.order), np.bool_) if weight is None else weight > 0
        by_rank: Any = _ByRank(fusion, data if systems is None else data.choose(systems), self.order, counts)
        return self.parts.llr(by_rank, self.rank)


def copied(fusion: Fusion) -> Fusion:
    """A fusion with the same settings, not trained."""
    return type(fusion)(**fusion.settings)


class _ByRank:
    """A fusion whose scores are the numbers of trials: quality and missing scores come along with them."""

    def __init__(self, fusion: Any, data: SystemsData, order: IntArray, counts: BoolArray) -> None:
        self.fusion, self.data, self.order, self.counts = fusion, data, order, counts

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return type(self)(copy.deepcopy(self.fusion, memo), self.data, self.order, self.counts)

    def fit(self, rank: ArrayLike, is_target: BoolArray, *, sample_weight: ArrayLike | None = None) -> Self:
        self._of(rank).fit(self.fusion, is_target, sample_weight=sample_weight)
        return self

    def transform(self, rank: ArrayLike) -> FloatArray:
        try:
            return self._of(rank).transform(self.fusion)
        except TrialError:
            counting = np.flatnonzero(self.counts[self._rows(rank)])
            if len(counting) == np.size(rank):
                raise
        llr = np.full(np.size(rank), np.nan)
        try:
            llr[counting] = self._of(np.asarray(rank)[counting]).transform(self.fusion)
        except TrialError as error:
            raise error.among(counting) from None
        return llr

    def _of(self, rank: ArrayLike) -> SystemsData:
        return self.data.take(self._rows(rank))

    def _rows(self, rank: ArrayLike) -> IntArray:
        rows: IntArray = self.order[np.asarray(rank, np.int64)]
        return rows
