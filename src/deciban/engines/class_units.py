"""Intervals of multiclass metrics of trials that are read in batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self, TypeAlias

import numpy as np

from deciban.core.resampling.class_sums import CostSums, centre_of
from deciban.core.resampling.clusters import UnitDesign
from deciban.engines.class_problems import SystemScores, TrialBlock, UnitsAndStrata, UnitSums
from deciban.evaluation.multiclass.class_figures import DETECTOR, ClassFigure, Gathered, Portion
from deciban.evaluation.multiclass.portions import Portions, Replicates, bootstrap_of, together
from deciban.evaluation.multiclass.problem_sums import CountedProblems
from deciban.evaluation.multiclass.result import ClassEvaluation
from deciban.evaluation.multiclass.summary import ClassSummary
from deciban.evaluation.summary import Resampling
from deciban.evaluation.uncertainty import Figure, Uncertainty
from deciban.memory import Cost, memory_error, rows_that_fit
from deciban.multiclass.tables import ScoredClasses
from deciban.trials.passes import Engine, Work
from deciban.trials.sources import Piece, ShardSource
from deciban.types import FloatArray

_FEWEST_ROWS = 1 << 12
"""Trials whose influences are computed at once, however little memory there is."""


Adding: TypeAlias = Callable[[Any, TrialBlock, Any], None]
"""Adds a block to a total, with the lock for that."""


class BlockTally(Work):
    """One pass over blocks of trials of a system, which are added to one total.

    Parameters
    ----------
    given : SystemScores
    words : str
        What goes on, for progress.
    start : callable
        Returns the total of no trial, to which others can be added in place.
    add : callable
        Adds a block to a total; the third argument is the lock for that. Both can be pickled.
    units : bool
        Whether blocks have the units of trials.
    n_bytes : int
        Of the total.
    """

    def __init__(
        self, given: SystemScores, words: str, start: Callable[[], Any], add: Adding, *, units: bool, n_bytes: int
    ) -> None:
        self.given, self.words, self.start, self.add = given, words, start, add
        self.units, self.n_bytes = units, n_bytes
        self._total: Any = None

    @property
    def total(self) -> Any:
        """The total: sums of nothing are not made until they are needed, nor sent to every worker."""
        with self.lock:
            if self._total is None:
                self._total = self.start()
            return self._total

    @property
    def has_sums(self) -> bool:
        """See `Work.has_sums`."""
        return self._total is not None

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        for piece in pieces:
            for block in self.given.blocks(piece, units=self.units):
                self.add(self.total, block, self.lock)

    def __add__(self, other: Self) -> Self:
        """See `Work.__add__`."""
        found = self.empty()
        for one in (self, other):
            if one._total is not None:
                total = found.total
                total += one._total
        return found


class _Sums:
    """What trials cost in the figures of some portions, and their shares below thresholds of detectors.

    Parameters
    ----------
    centres : mapping of Portion to (n_figures, n_strata) array
        See `CostSums`.
    portions : Portions
    """

    def __init__(self, centres: Mapping[Portion, FloatArray], portions: Portions) -> None:
        self.costs = {name: CostSums.empty(centre, portions.design) for name, centre in centres.items()}
        self.below = {at: portions.bands.empty(at) for what, at in centres if what == DETECTOR}

    def __iadd__(self, other: _Sums) -> Self:
        for name in self.costs:
            self.costs[name] += other.costs[name]
        for target, below in self.below.items():
            for table, own in zip(below.tables, other.below[target].tables, strict=True):
                np.add(table, own, out=table)
        return self


def _add_costs(who: UnitsAndStrata, portions: Portions, total: _Sums, block: TrialBlock, lock: Any) -> None:
    """Add the trials of a block."""
    at_hand, begins = portions.at_hand(block.trials, who.of(block), block.stratum), Counter[Portion]()
    if not at_hand.n_trials:
        return
    shares = portions.bands.units.shares(at_hand.block) if total.below else None
    for one in portions.told(total.costs, at_hand):
        for part in one.parts:
            with lock:
                total.costs[one.portion].add(replace(part, figures=part.figures + begins[one.portion]), at_hand.block)
        begins[one.portion] += one.n_rows
        if one.detector is not None and shares is not None:
            portions.bands.count(one.detector, shares, total.below[one.detector.target], lock)


def _add_replicates(portions: Portions, total: Replicates, block: TrialBlock, lock: Any) -> None:
    """Add the trials of a block."""
    at_hand = portions.at_hand(block.trials, block.units, block.stratum)
    if at_hand.n_trials:
        total.add(at_hand.block, portions.told(total.names, at_hand), lock)


@dataclass(frozen=True, eq=False)
class InfluencesInPieces:
    """What the intervals of an evaluation in pieces are made of.

    Attributes
    ----------
    source : ShardSource
    engine : Engine
        Where passes run.
    memory : int
        Bytes that may be taken.
    system : int
    who : UnitsAndStrata
    resampling : Resampling
        What is asked of intervals, beside the units.
    """

    source: ShardSource
    engine: Engine
    memory: int
    system: int
    who: UnitsAndStrata
    resampling: Resampling

    def uncertainty(self, sums: UnitSums, summary: ClassSummary, found: ClassEvaluation) -> Uncertainty | None:
        """How sure the figures of an evaluation are; None if no class has two units.

        Parameters
        ----------
        sums : UnitSums
        summary : ClassSummary
            Of all trials, of which detectors were counted.
        found : ClassEvaluation
            Of this summary.
        """
        design = UnitDesign(self.who.home, len(summary.classes), sums.weights)
        if design.n_units < 2:
            return None
        assert isinstance(summary.problems, CountedProblems)  # noqa: S101  # they are read in pieces
        pairs, units = summary.problems.pairs(), self.who.units
        pavs = {} if pairs is None else {name: one.pav for name, one in pairs.scores.items()}
        portions = Portions.of(summary, found, design, units, summary.problems.detectors, pavs)
        gathered = Gathered(design, portions.kept(len(units.keys), self.resampling.keep))
        figures, centres = self._looked_up(portions, sums)
        sizes = {name: self._size(name, len(centre), portions) for name, centre in centres.items()}
        if (most := max(sizes.values())) > self.memory:
            what = f"units: there are {len(units.keys):,}, and influences are added up for each"
            way = "take every segment for a unit (leave --units out)"
            raise memory_error(what, needed=most, given=self.memory, way=way)
        room = self.memory / 4
        for names in together(sizes, room):
            start = partial(_Sums, {name: centres[name] for name in names}, portions)
            at_once = sum(len(centres[name]) for name in names) * self.engine.n_at_once
            most = rows_that_fit(room, Cost.INFLUENCE, at_once=at_once, fewest=_FEWEST_ROWS)
            how: Any = {"units": self.who.keys is not None, "n_bytes": int(sum(sizes[name] for name in names))}
            add = partial(_add_costs, self.who, portions)
            total: _Sums = self._run("summing up influences", start, add, most=most, **how)
            for name in names:
                gathered.add(name, figures[name], total.costs[name])
            for target, below in total.below.items():
                portions.bands.add(target, below)
        rates, replicates = portions.bands.rates, partial(bootstrap_of, self.memory, partial(self._drawn, portions))
        return gathered.uncertainty(units, summary, found, rates, self.resampling, replicates)

    def _looked_up(
        self, portions: Portions, sums: UnitSums
    ) -> tuple[dict[Portion, list[ClassFigure]], dict[Portion, FloatArray]]:
        """Return all figures, and about what their costs are summed up, by a few trials of each stratum."""
        some, home = sums.some, self.who.home
        trials = ScoredClasses(some.loglik, home[some.label], None, self.source.classes)
        at_hand = portions.at_hand(trials, None, some.label)
        figures, centres = dict[Portion, list[ClassFigure]](), dict[Portion, FloatArray]()
        for one in portions.told(portions.names, at_hand):
            centre = centre_of(one.parts, at_hand.block, (one.n_rows, len(home)))
            figures.setdefault(one.portion, []).extend(one.figures)
            centres[one.portion] = np.concatenate([centres.get(one.portion, centre[:0]), centre])
        return figures, centres

    def _size(self, name: Portion, n_figures: int, portions: Portions) -> float:
        """Return the bytes that sums for a portion take."""
        design, bands = portions.design, portions.bands
        n_strata = len(design.home)
        size = n_figures * (6 * n_strata if design.weights.by_unit is None else design.n_pairs + 3 * n_strata)
        if name[0] == DETECTOR:
            size += (len(bands.thresholds) + 1) * 4 * (bands.units.n_groups + n_strata)
        return 8.0 * size

    def _drawn(self, portions: Portions, names: Mapping[Portion, Sequence[Figure]], numbers: range) -> Replicates:
        """One pass: some figures in some replicates."""
        n_strata = len(portions.design.home)
        start = partial(Replicates, names, n_strata, self.resampling.seed, numbers)
        n_bytes = 16 * (sum(map(len, names.values())) + 1) * n_strata * (1 + len(numbers))
        how: Any = {"units": True, "n_bytes": n_bytes}
        found: Replicates = self._run("counting replicates", start, partial(_add_replicates, portions), **how)
        return found

    def _run(self, words: str, start: Callable[[], Any], add: Adding, *, units: bool, n_bytes: int, **most: int) -> Any:
        """Return the total of one pass."""
        given = SystemScores.of(self.source, self.system, **most)
        work = BlockTally(given, words, start, add, units=units, n_bytes=n_bytes)
        return self.engine.run(work, self.source.pieces).total
