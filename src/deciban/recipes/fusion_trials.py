"""Score files of several systems, a key and quality measures, read for a fusion."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deciban.evaluation.joined import Joined, Progress, Reading, fact, read_joined
from deciban.evaluation.result import Evaluation
from deciban.io.source import PathLike
from deciban.recipes.fusers import FusionData
from deciban.recipes.measures import Side
from deciban.recipes.systems import counted, order_of_training, refuse_twice
from deciban.trials import Scores, SegmentQuality
from deciban.types import BoolArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class FusionTrials:
    """What a fusion takes, with the truth.

    Attributes
    ----------
    data : FusionData
    is_target : (n_trials,) bool array
    systems : tuple of str
    scores : Scores
        Of the first system, for its trials.
    joined : Joined
        How the files were read and trials met.
    facts : tuple of str
        What is to be said besides.
    """

    data: FusionData
    is_target: BoolArray
    systems: tuple[str, ...]
    scores: Scores
    joined: Joined
    facts: tuple[str, ...]

    @classmethod
    def read(
        cls,
        scores: Sequence[PathLike] | PathLike,
        key: PathLike | None,
        reading: Reading,
        *,
        incomplete: bool = False,
        measured: Mapping[Side, SegmentQuality] | None = None,
        sides: tuple[str, ...] | None = None,
        progress: Progress | None = None,
    ) -> FusionTrials:
        """Read and join them.

        Parameters
        ----------
        scores, key
            As in `deciban.fuse_files`.
        reading : Reading
            How files are read and joined.
        incomplete : bool
            Whether trials stay that some system, but not all of them, did not score.
        measured : mapping of side to SegmentQuality, optional
        sides : tuple of str, optional
            See `deciban.recipes.measures.measures_of`.
        progress : function, optional

        Raises
        ------
        FormatError, KeyMismatchError, InputError
            As in `deciban.evaluation.read_joined` and `measures_of`, or if a file is given twice.
        """
        paths = [scores] if isinstance(scores, str | os.PathLike) else list(scores)
        refuse_twice(paths)
        joined = read_joined(paths, key, incomplete=incomplete, progress=progress, **reading)
        data, facts = FusionData.of(joined.aligned, measured, sides)
        truth = joined.aligned[0].is_target
        assert truth is not None  # noqa: S101  # it was aligned to a key
        names = tuple(system.name for system in joined.aligned)
        found = cls(data, truth, names, joined.aligned[0].scores, joined, tuple(facts))
        return found._with_scores() if incomplete else found

    def _with_scores(self) -> FusionTrials:
        """Without the trials that no system scored; says how many have which scores."""
        there = ~np.isnan(self.data.scores)
        some: BoolArray = np.asarray(there.any(axis=1))
        facts = [*self.facts]
        for system, scored in zip(self.systems, there.T, strict=True):
            n_missing = int(np.count_nonzero(~scored))
            if n_missing:
                facts.append(fact("note", f"{counted(n_missing, 'trial')} without a score of {system}"))
        n_none = int(np.count_nonzero(~some))
        if not n_none:
            return replace(self, facts=tuple(facts))
        facts.append(fact("note", f"{counted(n_none, 'trial')} without any score left out"))
        return replace(self.take(some), facts=tuple(facts))

    def take(self, rows: BoolArray) -> FusionTrials:
        """Some of the trials."""
        if rows.all():
            return self
        numbers = np.flatnonzero(rows)
        return replace(
            self, data=self.data.take(numbers), is_target=self.is_target[numbers], scores=self.scores.take(numbers)
        )

    def choose(self, systems: Sequence[int]) -> FusionTrials:
        """Some of the systems, in this order."""
        return replace(self, data=self.data.choose(systems), systems=tuple(self.systems[k] for k in systems))

    def ordered_as(self, trained: Sequence[str]) -> FusionTrials:
        """The same with the systems in the order of training.

        Raises
        ------
        InputError
            As in `order_of_training`.
        """
        order, facts = order_of_training(self.systems, trained, len(trained))
        return replace(self.choose(order), facts=(*self.facts, *facts))

    def with_scores(self, llr: FloatArray, name: str) -> Scores:
        """Log-likelihood ratios of these trials."""
        return replace(self.scores, score=llr, name=name, log10=False)

    @property
    def complete(self) -> BoolArray:
        """Which trials all systems scored."""
        return np.asarray(~np.isnan(self.data.scores).any(axis=1), np.bool_)

    @property
    def has_both_classes(self) -> bool:
        """Whether there are targets and non-targets."""
        return bool(self.is_target.any() and not self.is_target.all())

    def all_facts(self, evaluations: Sequence[Evaluation]) -> tuple[str, ...]:
        """What was read and assumed."""
        return (*self.joined.all_facts(evaluations), *self.facts)
