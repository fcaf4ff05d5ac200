"""Fusions of sets of systems trained on trials in pieces, which may lack scores of some systems."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deciban.engines.units import UnitsOfPieces
from deciban.engines.work import Engine
from deciban.errors import InputError
from deciban.fusion.linear import LinearFusion
from deciban.fusion.subsets import Subset, name_of
from deciban.io.shards.pieces import Chunk, ShardSource
from deciban.models.having import ScoredBy, having, scored_by
from deciban.models.mapped import ordered
from deciban.models.model import Plain, Training
from deciban.models.sources import SourceTrials
from deciban.types import IntArray


@dataclass(frozen=True, slots=True, eq=False)
class ScoredSource:
    """The trials that fusions are trained on, and which systems scored them.

    Attributes
    ----------
    source : ShardSource
        Without those that are dropped.
    seen : ScoredBy or None
        Which scores they have; None where they have all.
    n_dropped : int
    """

    source: ShardSource
    seen: ScoredBy | None
    n_dropped: int

    @classmethod
    def of(
        cls, source: ShardSource, engine: Engine, missing: str, called: Callable[[Sequence[int]], str]
    ) -> ScoredSource:
        """Look which systems scored which trials, and leave out those that ``missing`` says: one pass.

        Raises
        ------
        InputError
            If scores are missing and that is to be an error, a system has none, or a class is left without trials.
        """
        if not source.incomplete:
            return cls(source, None, 0)
        seen, every = scored_by(source, engine), tuple(range(len(source.systems)))
        if missing == "error" and any(seen.n_without):
            raise InputError(
                f"scores: {max(seen.n_without):,} trials lack a score of {called([int(np.argmax(seen.n_without))])}. "
                "Pass missing='drop' or missing='subset', or leave these trials out."
            )
        silent = [k for k in every if not any(k in subset for subset in seen.counts)]
        if silent:
            raise InputError(f"scores: {called(silent)}: no score in any trial. Leave such systems out.")
        kept = having(source, every, every=missing == "drop")
        if missing != "drop":
            return cls(kept, seen, seen.n_none)
        counts = {subset: own for subset, own in seen.counts.items() if subset == every}
        for at, name in ((1, "target"), (0, "non-target")):
            if not counts or not counts[every][at]:
                raise InputError(
                    f"scores: {seen.n_lacking:,} trials were dropped for scores that are missing, and no {name} is "
                    "left. Pass missing='subset', or leave out the system that lacks most."
                )
        return cls(kept, replace(seen, counts=counts), seen.n_lacking)

    @property
    def occurring(self) -> dict[Subset, IntArray]:
        """Sets of systems that trials have scores of."""
        every = tuple(range(len(self.source.systems)))
        subsets = [every] if self.seen is None else [subset for subset in self.seen.counts if subset]
        return {subset: np.zeros(0, np.int64) for subset in subsets}

    @property
    def counting(self) -> ShardSource:
        """The trials of positive weight."""
        return having(self.source, range(len(self.source.systems)), every=False, counting=True)

    def results(self, fusions: Mapping[Subset, LinearFusion], training: Training) -> dict[str, Plain]:
        """What a model file tells of all fusions, and of how many trials have just their scores."""
        every = {tuple(range(len(self.source.systems))): tuple(training.counts.values())}
        counts = every if self.seen is None else self.seen.counts
        found: dict[str, Plain] = {}
        for subset, fusion in fusions.items():
            found |= results_of_subset(subset, fusion, sum(counts.get(subset, ())))
        return found

    def trained_on(self, subset: Subset) -> ShardSource:
        """The trials that have scores of some systems, and these scores."""
        if self.seen is None:
            return ordered(self.source, systems=subset)
        return replace(ordered(having(self.source, subset, counting=True), systems=subset), incomplete=False)

    def training(self, whole: LinearFusion, engine: Engine, memory: int) -> Training:
        """The record of all trials; that of the fusion of all systems if all of them have all scores."""
        if self.seen is None:
            assert whole.training_ is not None  # noqa: S101  # it has just been trained
            return whole.training_
        data = SourceTrials(self.source, engine, memory)
        data.look(_nothing)
        return data.training({})


def _nothing(chunk: Chunk) -> None:
    """A look that only notes what is recorded."""


def fusions_of_subsets(
    wanted: Sequence[Subset],
    fusion_of: Callable[[Subset], LinearFusion],
    trials: ScoredSource,
    engine: Engine,
    memory: int,
    units: UnitsOfPieces | None,
) -> dict[Subset, LinearFusion]:
    """Train a fusion of every set of systems on all trials that have scores of these.

    Parameters
    ----------
    wanted : sequence of tuple of int
        Positions of systems.
    fusion_of : function
        Makes the fusion of some systems, which is not trained yet.
    trials : ScoredSource
    engine, memory, units
        As of `deciban.models.score_model.ScoreModel.fit_pieces`.

    Raises
    ------
    InputError
        As `LinearFusion.fit_pieces`; the message names the systems.
    """
    found: dict[Subset, LinearFusion] = {}
    for subset in wanted:
        fusion = fusion_of(subset)
        try:
            found[subset] = fusion.fit_pieces(trials.trained_on(subset), engine, memory, units=units)
        except InputError as error:
            names = " + ".join(trials.source.systems[k] for k in subset)
            which = "all trials" if trials.seen is None else "the trials that have all of their scores"
            words = f"Fusion of {names}, trained on {which}: {error}"
            raise InputError(f"{words} Or leave out one of these systems.") from error
    if trials.seen is None:
        whole = found[max(found, key=len)].training_
        for fusion in found.values():  # whose record is that of the trials, whatever systems it takes
            assert fusion.training_ is not None and whole is not None  # noqa: S101, PT018  # it has just been trained
            fusion.training_ = replace(fusion.training_, counts=whole.counts)
    return found


def results_of_subset(subset: Subset, fusion: LinearFusion, n_exactly: int) -> dict[str, Plain]:
    """What a model file tells of the fusion of one set of systems."""
    name, training = name_of(subset), fusion.training_
    assert training is not None  # noqa: S101  # it was trained a moment ago
    return {
        f"n_exactly_{name}": n_exactly,
        f"n_trained_{name}": sum(training.counts.values()),
        f"status_{name}": training.results["status"],
    }
