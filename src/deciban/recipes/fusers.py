"""What recipes need to know of a fusion, and the data of one: scores of systems and quality measures, row by row."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from deciban.calibration import cross_validated
from deciban.errors import DecibanWarning, InputError
from deciban.fusion import LinearFusion, QualityFusion, SubsetFusion
from deciban.io.source import PathLike, display_name
from deciban.models import Model, load_model
from deciban.recipes.groups import Groups
from deciban.recipes.measures import Side, measures_of
from deciban.recipes.systems import score_matrix
from deciban.trials import SegmentQuality
from deciban.trials.join import Aligned
from deciban.types import AnyArray, BoolArray, FloatArray, IntArray

Fuser: TypeAlias = LinearFusion | QualityFusion | SubsetFusion
"""The models that make one log-likelihood ratio of the scores of several systems."""


def n_systems(fusion: Fuser) -> int:
    """How many systems a trained fusion takes."""
    return fusion.n_systems_ if isinstance(fusion, SubsetFusion) else len(fusion.weights_)


def linear_like(fusion: Fuser) -> LinearFusion:
    """A linear fusion with the same rule, prior and penalty, not trained."""
    return LinearFusion(p_target=fusion.p_target, alpha=fusion.alpha, beta=fusion.beta, ridge=fusion.ridge)


def measures_needed(fusion: Fuser) -> tuple[str, ...]:
    """The arguments for quality measures that a trained fusion takes."""
    if not isinstance(fusion, QualityFusion):
        return ()
    of_trial = ("trial",) if len(fusion.trial_quality_weights_) else ()
    return tuple(f"{side}_quality" for side in (*fusion.quality_sides_, *of_trial))


def require_quality(fusion: Fuser, *, is_given: bool) -> None:
    """Refuse to go on without the quality measures that a fusion needs, or with some that it would overlook.

    Raises
    ------
    InputError
    """
    needed = measures_needed(fusion)
    if needed and not is_given:
        sides = " and ".join(name.removesuffix("_quality") for name in needed)
        raise InputError(
            f"quality: none given, but the fusion was trained with {sides} measures. Name their file (--quality FILE)."
        )
    if is_given and not needed:
        raise InputError("quality: given, but the fusion was trained without. Leave it out, or train with it.")


def takes_incomplete(fusion: Fuser) -> bool:
    """Whether a fusion knows what to do about trials that some of its systems did not score."""
    return isinstance(fusion, SubsetFusion) and fusion.missing == "subset"


def fuser_of(model: PathLike | Model) -> tuple[Fuser, str]:
    """A trained fusion, given or from its file, and what messages call it.

    Raises
    ------
    FormatError, InputError, OSError
        As in `deciban.load_model`, or if the model is no fusion of scores, or not trained.
    """
    loaded = model if isinstance(model, Model) else load_model(model)
    shown = type(model).__name__ if isinstance(model, Model) else display_name(model)
    if not isinstance(loaded, Fuser):
        raise InputError(f"{shown}: a model of kind {loaded.kind!r} does not fuse the scores of several systems.")
    loaded.require_fitted()
    return loaded, shown


@dataclass(frozen=True, slots=True, eq=False)
class FusionData:
    """What a fusion takes for a set of trials.

    Attributes
    ----------
    scores : (n_trials, n_systems) array
        NaN where a system did not score a trial.
    quality : mapping of str to (n_trials, n_measures) array
        By argument: ``enroll_quality``, ``test_quality``, ``trial_quality``; NaN where there are no measures.
    """

    scores: AnyArray
    quality: Mapping[str, FloatArray]

    @classmethod
    def of(
        cls,
        aligned: Sequence[Aligned],
        measured: Mapping[Side, SegmentQuality] | None,
        sides: tuple[str, ...] | None = None,
    ) -> tuple[FusionData, list[str]]:
        """Put together systems on the same trials and the quality of these trials; and what is to be said about it.

        Raises
        ------
        InputError
            As in `measures_of`.
        """
        quality, facts = ({}, []) if measured is None else measures_of(measured, aligned[0].trials, sides=sides)
        return cls(score_matrix(aligned), quality), facts

    def choose(self, systems: Sequence[int]) -> FusionData:
        """The same trials with some of the systems."""
        return FusionData(self.scores[:, list(systems)], self.quality)

    def take(self, rows: IntArray | BoolArray) -> FusionData:
        """The data of some trials."""
        return FusionData(self.scores[rows], {name: values[rows] for name, values in self.quality.items()})

    def fit(self, fusion: Any, is_target: BoolArray, *, sample_weight: ArrayLike | None = None) -> Any:
        """Train a fusion on these trials."""
        with _missing_measures_are_known():
            return fusion.fit(self.scores, is_target, sample_weight=sample_weight, **self.quality)

    def transform(self, fusion: Any) -> FloatArray:
        """Fuse these trials."""
        with _missing_measures_are_known():
            llr: FloatArray = fusion.transform(self.scores, **self.quality)
        return llr

    def cross_validated(self, fusion: Any, is_target: BoolArray, groups: Groups, n_folds: int) -> FloatArray:
        """Fuse every trial by a model that was trained without its group; see `deciban.calibration.cross_validated`."""
        order = np.lexsort([*self.scores.T, *(column for values in self.quality.values() for column in values.T)])
        rank = np.empty(len(order))
        rank[order] = np.arange(len(order))
        by_rank: Any = _ByRank(fusion, self, order)
        return cross_validated(by_rank, rank, is_target, groups=groups, n_folds=n_folds)


@contextmanager
def _missing_measures_are_known() -> Iterator[None]:
    """Without the warning about trials that lack measures: their number is among the facts."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r".* trials lack quality measures", DecibanWarning)
        yield


class _ByRank:
    """A fusion whose scores are the numbers of trials: quality and missing scores come along with them."""

    def __init__(self, fusion: Any, data: FusionData, order: IntArray) -> None:
        self.fusion, self.data, self.order = fusion, data, order

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return type(self)(copy.deepcopy(self.fusion, memo), self.data, self.order)

    def fit(self, rank: ArrayLike, is_target: BoolArray, *, sample_weight: ArrayLike | None = None) -> Self:
        self._of(rank).fit(self.fusion, is_target, sample_weight=sample_weight)
        return self

    def transform(self, rank: ArrayLike) -> FloatArray:
        return self._of(rank).transform(self.fusion)

    def _of(self, rank: ArrayLike) -> FusionData:
        return self.data.take(self.order[np.asarray(rank, np.int64)])
