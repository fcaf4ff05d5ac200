"""Score files of several systems, a key and quality measures, read for a fusion."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

import numpy as np

from deciban.analysis.data import FusionData, LabelledData
from deciban.fusion.quality_measures import Kind
from deciban.io.source import PathLike
from deciban.models import Model
from deciban.trials import Scores, SegmentQuality
from deciban.types import BoolArray, FloatArray, Progress
from deciban.workflows.calibrated import is_of_training, seen_before
from deciban.workflows.fusers import data_of, named_fused
from deciban.workflows.joined import Joined, Reading, fact, read_joined
from deciban.workflows.systems import counted, order_of_training, refuse_twice
from deciban.workflows.ties import n_tied


@dataclass(frozen=True, slots=True, eq=False)
class FusionTrials:
    """What a fusion takes, with the truth.

    Attributes
    ----------
    labelled : LabelledData
        Scores, quality, truth and weights.
    systems : tuple of str
    scores : Scores
        Of the first system, for its trials.
    joined : Joined
        How the files were read and trials met.
    facts : tuple of str
        What is to be said besides.
    """

    labelled: LabelledData
    systems: tuple[str, ...]
    scores: Scores
    joined: Joined
    facts: tuple[str, ...]

    @property
    def data(self) -> FusionData:
        """Scores and quality."""
        return self.labelled.data

    @classmethod
    def read(
        cls,
        scores: Sequence[PathLike] | PathLike,
        key: PathLike | None,
        reading: Reading,
        *,
        incomplete: bool = False,
        measured: Mapping[Kind, SegmentQuality] | None = None,
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
            See `deciban.workflows.measures.measures_of`.
        progress : function, optional

        Raises
        ------
        FormatError, KeyMismatchError, InputError
            As in `deciban.workflows.read_joined` and `measures_of`, or if a file is given twice.
        """
        paths = [scores] if isinstance(scores, str | os.PathLike) else list(scores)
        refuse_twice(paths)
        joined = read_joined(paths, key, incomplete=incomplete, progress=progress, **reading)
        data, facts = data_of(joined.aligned, measured, sides)
        labelled = LabelledData(data, joined.is_target, joined.weight)
        names = tuple(system.name for system in joined.aligned)
        found = cls(labelled, names, joined.aligned[0].scores, joined, tuple(facts))
        return found._with_scores() if incomplete else found

    def _with_scores(self) -> FusionTrials:
        """Without the trials that no system scored; says how many have which scores."""
        there = ~np.isnan(self.data.scores)
        facts = [*self.facts]
        for system, scored in zip(self.systems, there.T, strict=True):
            n_missing = int(np.count_nonzero(~scored))
            if n_missing:
                facts.append(fact("note", f"{counted(n_missing, 'trial')} without a score of {system}"))
        return replace(self, facts=tuple(facts)).scored_only("any score")

    def scored_only(self, of_what: str) -> FusionTrials:
        """Without the trials that none of the systems scored; says how many these were."""
        some: BoolArray = np.zeros(len(self.data.scores), np.bool_)
        for column in self.data.scores.T:
            some |= ~np.isnan(column)
        n_none = int(np.count_nonzero(~some))
        if not n_none:
            return self
        told = fact("note", f"{counted(n_none, 'trial')} without {of_what} left out")
        return replace(self.take(some), facts=(*self.facts, told))

    def take(self, rows: BoolArray) -> FusionTrials:
        """Some of the trials."""
        if rows.all():
            return self
        numbers = np.flatnonzero(rows)
        return replace(
            self,
            labelled=self.labelled.take(numbers),
            scores=self.scores.take(numbers),
        )

    @property
    def counting(self) -> FusionTrials:
        """The trials that count: those of a weight above 0."""
        return self if self.labelled.weight is None else self.take(self.labelled.weight > 0)

    def choose(self, systems: Sequence[int]) -> FusionTrials:
        """Some of the systems, in this order, on the trials that one of them scored at least."""
        chosen = replace(self, labelled=self.labelled.choose(systems), systems=tuple(self.systems[k] for k in systems))
        return chosen.scored_only(f"a score of {' or '.join(chosen.systems)}")

    def ordered_as(self, trained: Sequence[str]) -> FusionTrials:
        """The same with the systems in the order of training.

        Raises
        ------
        InputError
            As in `order_of_training`.
        """
        order, facts = order_of_training(self.systems, trained, len(trained))
        chosen = self.choose(order)
        return replace(chosen, facts=(*chosen.facts, *facts))

    def with_scores(self, llr: FloatArray, name: str) -> Scores:
        """Log-likelihood ratios of these trials, without those that have none (NaN)."""
        known = ~np.isnan(llr)
        return replace(self.take(known).scores, score=llr[known], name=name, log10=False)

    def is_of_training(self, model: Model) -> bool | None:
        """Whether a model was trained on these trials; None if it does not know."""
        return is_of_training(model, self.data.columns, self.labelled.is_target, self.labelled.weight)

    def seen_before(self, model: Model, *, of_training: bool) -> list[str]:
        """Say whether a model was trained on these trials, where that is not what one should think."""
        truth = self.labelled.is_target, self.labelled.weight
        return seen_before(model, self.data.columns, *truth, of_training=of_training)

    def with_names(self) -> AbstractContextManager[None]:
        """Name the trial, and the systems of its infinite scores, in what is refused for its sake."""
        return named_fused(self.data, self.systems, self.scores.trials)

    def all_facts(self) -> tuple[str, ...]:
        """What was read and assumed; scores are tied, or not, as they came."""
        own = self.labelled
        ties = {}
        for name, score in zip(self.systems, self.data.scores.T, strict=True):
            scored = ~np.isnan(score)
            weight = None if own.weight is None else own.weight[scored]
            ties[name] = n_tied(score[scored], own.is_target[scored], weight)
        return (*self.joined.facts_with(ties), *self.facts)
