"""Sets of systems that have scores for a trial: which occur, are wanted or unknown, and their fusions on a source."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from deciban.errors import InputError, TrialError
from deciban.fusion.linear import LinearFusion
from deciban.models.mapped import ScoredBy, having, ordered, scored_by
from deciban.models.model import Plain, Training
from deciban.models.sources import SourceTrials
from deciban.trials.passes import Engine
from deciban.trials.sources import Chunk, ShardSource
from deciban.trials.speakers import UnitsOfPieces
from deciban.types import IntArray, ScoreArray

Subset: TypeAlias = tuple[int, ...]
"""Positions of some of the systems, in increasing order."""

MOST = 4096
"""Sets of systems that one model may have fusions for."""


def name_of(subset: Subset) -> str:
    """As it stands in results: ``0+2`` for example."""
    return "+".join(map(str, subset))


def occurring_subsets(scores: ScoreArray) -> dict[Subset, IntArray]:
    """Sets of systems that trials have scores of, each with the trials that have these and no others."""
    incomplete = np.zeros(len(scores), np.bool_)
    for column in scores.T:
        incomplete |= np.isnan(column)
    complete, rows = np.flatnonzero(~incomplete), np.flatnonzero(incomplete)
    found: dict[Subset, IntArray] = {tuple(range(scores.shape[1])): complete} if len(complete) else {}
    if len(rows):
        patterns, which = np.unique(~np.isnan(scores[rows]), axis=0, return_inverse=True)
        order = np.argsort(which.ravel(), kind="stable")
        ends = np.cumsum(np.bincount(which.ravel()))
        for pattern, own in zip(patterns, np.split(rows[order], ends[:-1]), strict=True):
            found[tuple(np.flatnonzero(pattern).tolist())] = own
    return found


def wanted_subsets(complete: Subset, occurring: Mapping[Subset, IntArray], max_missing: int) -> list[Subset]:
    """Sets of systems to train for, those of most systems first."""
    n = len(complete)
    n_lacking = range(min(max_missing, n - 1) + 1) if max_missing else range(0)
    n_sets = sum(math.comb(n, k) for k in n_lacking)
    if max(n_sets, len(occurring)) > MOST:
        raise InputError(
            f"max_missing: {max(n_sets, len(occurring)):,} fusions of {n} systems, and one model holds at most "
            f"{MOST:,}. Take a smaller max_missing, or fewer systems."
        )
    asked = {subset for k in n_lacking for subset in itertools.combinations(complete, n - k)}
    return sorted(asked | set(occurring), key=lambda subset: (-len(subset), subset))


def require_known(
    occurring: Mapping[Subset, IntArray], known: Collection[Subset], way_out: str, *, called: Callable[[Subset], str]
) -> None:
    """Refuse trials with scores of a set of systems for which there is no fusion.

    Raises
    ------
    TrialError
        If there are any.
    """
    unknown = {subset: rows for subset, rows in occurring.items() if subset not in known}
    if not unknown:
        return
    subset, rows = min(unknown.items(), key=lambda entry: entry[1][0])
    n_unknown = sum(map(len, unknown.values()))
    has = f"only of {called(subset)}" if subset else "of no system"
    there_are = ", ".join(map(called, list(known)[:8])) + (", ..." if len(known) > 8 else "")
    raise TrialError(
        f"scores: no fusion is for the systems that have a score (NaN stands for none) in {n_unknown:,} trials, the "
        "first ",
        int(rows[0]),
        f": it has scores {has}, and there are fusions of {there_are}. {way_out}.",
    )


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
