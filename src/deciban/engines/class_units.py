"""Intervals of multiclass metrics of trials that are read in batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from deciban.core.classes.shown import Shown
from deciban.core.resampling.class_sums import Block, CostSums, DealtUnits, centre_of
from deciban.core.resampling.clusters import StratumWeights, UnitDesign
from deciban.core.resampling.intervals import Estimate
from deciban.core.resampling.replicates import BLOCK, poisson_weights
from deciban.core.resampling.units import Keys, TrialUnits
from deciban.engines.class_problems import SystemScores, TrialBlock
from deciban.evaluation.bands import Bands
from deciban.evaluation.bootstrap import Bootstrap
from deciban.evaluation.multiclass.class_figures import CURVE, MOST_KEPT, AtHand, Gathered, axis_of, keeps_curve
from deciban.evaluation.multiclass.detector_costs import BestOfDetector, DetectorBands, OneDetector
from deciban.evaluation.multiclass.portions import ALL, DETECTOR, RATES, Portion, Portions
from deciban.evaluation.multiclass.problem_sums import CountedProblems
from deciban.evaluation.multiclass.result import ClassEvaluation
from deciban.evaluation.multiclass.summary import ClassSummary
from deciban.evaluation.uncertainty import Figure, Uncertainty
from deciban.evaluation.unit_trials import Resampling
from deciban.memory import Cost, memory_error, rows_that_fit
from deciban.multiclass.tables import Detectors, ScoredClasses
from deciban.trials.passes import Engine, Work
from deciban.trials.sources import Piece, ShardSource
from deciban.types import BoolArray, FloatArray, IntArray


class BandTally(Work):
    """Shares of trials below the thresholds of some detectors, by stratum and unit.

    Parameters
    ----------
    given : SystemScores
    who : WhoIsIn
    bands : DetectorBands
    bests : mapping of int to BestOfDetector
        Of the detectors of these targets.
    """

    words = "counting by unit"

    def __init__(
        self, given: SystemScores, who: WhoIsIn, bands: DetectorBands, bests: Mapping[int, BestOfDetector]
    ) -> None:
        self._given = given, who, bands, bests
        self.below = {target: bands.empty(target) for target in bests}
        self.n_bytes = sum(table.nbytes for one in self.below.values() for table in one.tables)

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        given, who, bands, bests = self._given
        has_units = bands.units.keys is not None
        for piece in pieces:
            for block in given.blocks(piece, units=has_units):
                trials = block.trials
                rows = np.concatenate([trials.rows(k) for k in range(trials.n_classes)])
                if not len(rows):
                    continue
                units = who.units_of(block.units, len(trials.label)).take(rows) if has_units else None
                own = bands.units.shares(Block(block.stratum[rows], trials.weights_of(rows), units))
                detectors = Detectors.of(trials, bands.rivals)
                for target, best in bests.items():
                    one = OneDetector(detectors, target, np.zeros(0), best)
                    for table, found in self.below[target].counted(own, one.share, bands.places(one)):
                        with self.lock:
                            np.add(table, found, out=table)

    def __add__(self, other: Self) -> Self:
        """See `Work.__add__`."""
        found = self.empty()
        for target, one in found.below.items():
            for table, a, b in zip(one.tables, self.below[target].tables, other.below[target].tables, strict=True):
                np.add(a, b, out=table)
        return found


@dataclass(frozen=True, eq=False)
class BandsInPieces:
    """What the bands of the detectors of an evaluation in pieces are made of.

    Attributes
    ----------
    source : ShardSource
    engine : Engine
        Where passes run.
    memory : int
        Bytes that may be taken.
    system : int
    portions : Portions
        Of the evaluation, with what is best for each detector.
    design : UnitDesign
        Of all trials.
    """

    source: ShardSource
    engine: Engine
    memory: int
    system: int
    portions: Portions
    design: UnitDesign

    def errors(self, summary: ClassSummary, who: WhoIsIn) -> DetectorBands:
        """Standard errors of all detectors; of least errors where these are known.

        Parameters
        ----------
        summary : ClassSummary
            Of all trials, of which detectors were counted.
        who : WhoIsIn
        """
        found, design, units = self.portions.found, self.design, who.units
        are_single = len(units.codes) < 2 and design.n_units == design.weights.n_trials.sum()
        dealt = DealtUnits(design, None if are_single else units.keys, Bands.MOST_UNITS)
        rivals, bests = summary.figures.rivals(len(design.clusters.seen))[0], self.portions.bests[0]
        bands = DetectorBands(found, dealt, rivals)
        given = SystemScores.of(self.source, self.system)
        size = 8 * (len(bands.thresholds) + 1) * (4 * dealt.n_groups + 4 * len(design.home))
        at_once = rows_that_fit(self.memory / 4, size)  # detectors in one pass
        for first in range(0, len(bests), at_once):
            some = {target: bests[target] for target in range(first, min(first + at_once, len(bests)))}
            tally = self.engine.run(BandTally(given, who, bands, some), self.source.pieces)
            for target, below in tally.below.items():
                bands.add(target, below)
        return bands


_LINEARISED = (CURVE, "subset_c_avg", "subset_mean_by_size")
"""Figures among those of all classes that have no replicates."""


_WEIGHTS = 1 << 21
"""Weights of trials that are multiplied at once."""


@dataclass(frozen=True, eq=False)
class _AskedClassReplicates:
    """What a pass over trials needs to sum up replicates.

    Attributes
    ----------
    given : SystemScores
    portions : Portions
    begins : mapping of Portion to int
        Where the figures of portions begin.
    row : (n_figures,) int array
        Which replicates are those of each figure; -1 for none.
    shape : (int, int, int)
        Of the sums: figures and one more, strata, replicates and one more.
    seed : int
    numbers : range
        Of the replicates.
    """

    given: SystemScores
    portions: Portions
    begins: Mapping[Portion, int]
    row: IntArray
    shape: tuple[int, int, int]
    seed: int
    numbers: range


class ClassReplicateTally(Work):
    """Costs of trials times the weights of their units, by figure, stratum and replicate.

    The last figure are the weights themselves; the first replicate are the trials as they are. Weights follow from
    seed, replicate and key of a unit, so that nothing is shared between batches.

    Parameters
    ----------
    asked : _AskedClassReplicates
    """

    words = "counting replicates"
    sums_in = ("sums",)

    def __init__(self, asked: _AskedClassReplicates) -> None:
        self.asked = asked
        self.sums: FloatArray = np.zeros(asked.shape)
        self.n_bytes = 2 * self.sums.nbytes

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        for piece in pieces:
            for block in self.asked.given.blocks(piece, units=True):
                assert block.units is not None  # noqa: S101  # they were asked for
                at_hand = self.asked.portions.at_hand(block.trials, block.units, block.stratum)
                if at_hand.n_trials:
                    self._add(at_hand)

    def _add(self, at_hand: AtHand) -> None:
        asked, costs = self.asked, at_hand.costs
        alike = _Alike.of(costs.stratum, costs.units)
        weights = costs.costs.weights
        parts = [(np.array([asked.shape[0] - 1]), alike.summed(np.ones((1, at_hand.n_trials)), weights))]
        for part in asked.portions.parts(asked.begins, at_hand):
            row = asked.row[part.figures]
            parts.append((row[row >= 0], alike.summed(part.costs[row >= 0], weights)))
        step = max(_WEIGHTS // len(alike.stratum), 1)
        for first in range(0, len(asked.numbers), step):
            numbers = asked.numbers[first : first + step]
            self._sum(parts, alike, alike.weights(asked.seed, numbers), slice(1 + first, 1 + first + len(numbers)))
        self._sum(parts, alike, np.ones((len(alike.stratum), 1)), slice(0, 1))

    def _sum(self, parts: Any, alike: _Alike, weights: FloatArray, columns: slice) -> None:
        for stratum, own in alike.runs():
            for rows, costs in parts:
                found = costs[own].T @ weights[own]
                with self.lock:
                    self.sums[rows, stratum, columns] += found

    @property
    def has_sums(self) -> bool:
        """See `Work.has_sums`."""
        return bool(self.sums.any())


@dataclass(frozen=True, slots=True, eq=False)
class _Alike:
    """Sets of trials that have the same units and the same stratum: they count alike in every replicate.

    Attributes
    ----------
    stratum : (n_sets,) int array
        Ascending.
    codes : tuple of (n_sets,) int arrays
        Positions of their units, or of the two of each.
    place : (n_trials,) int array
        The set of each trial.
    keys : (n_units,) uint64 array
    """

    stratum: IntArray
    codes: tuple[IntArray, ...]
    place: IntArray
    keys: Any

    @classmethod
    def of(cls, stratum: IntArray, units: TrialUnits) -> _Alike:
        """Those of some trials."""
        used = units.only_used()
        key = stratum.astype(np.int64)
        for side in used.codes:
            key = key * used.n_units + side
        _, first, place = np.unique(key, return_index=True, return_inverse=True)
        return cls(stratum[first], tuple(side[first] for side in used.codes), place, used.keys)

    def summed(self, costs: FloatArray, weights: Any) -> FloatArray:
        """Costs (n_figures, n_trials), times weights of the trials, summed up by set: (n_sets, n_figures)."""
        from scipy.sparse import csr_matrix  # few need it

        own = np.ones(len(self.place)) if weights is None else weights.astype(np.float64)
        members = csr_matrix(
            (own, (self.place, np.arange(len(self.place)))), shape=(len(self.stratum), len(self.place))
        )
        return np.asarray(members @ costs.T)

    def weights(self, seed: int, numbers: range) -> FloatArray:
        """How often each set counts in some replicates, (n_sets, n_replicates): a unit on both sides counts once."""
        drawn = poisson_weights(self.keys, seed, np.array(numbers))
        found = drawn[self.codes[0]].astype(np.float64)
        for other in self.codes[1:]:
            found *= np.where((other == self.codes[0])[:, None], np.uint8(1), drawn[other])
        return found

    def runs(self) -> Iterator[tuple[int, slice]]:
        """Strata, and which sets are in each."""
        begins = np.flatnonzero(np.diff(self.stratum, prepend=-1))
        for first, last in zip(begins, np.append(begins[1:], len(self.stratum)), strict=True):
            yield int(self.stratum[first]), slice(int(first), int(last))


@dataclass(frozen=True, eq=False)
class ReplicatesInPieces:
    """Replicates of figures that are sums of class means; see `deciban.evaluation.multiclass.influences`.

    Attributes
    ----------
    source : ShardSource
        Whose trials say their units.
    engine : Engine
        Where passes run.
    memory : int
        Bytes that may be taken.
    system : int
    resampling : Resampling
    portions : Portions
    """

    source: ShardSource
    engine: Engine
    memory: int
    system: int
    resampling: Resampling
    portions: Portions

    def bootstrap(
        self, sample: TrialBlock, design: UnitDesign, estimates: Mapping[Figure, Estimate], still: AbstractSet[Figure]
    ) -> Bootstrap:
        """Draw replicates of all figures that have some.

        Parameters
        ----------
        sample : TrialBlock
            A few trials, which show what figures there are.
        design : UnitDesign
            Of all trials.
        estimates : mapping of figure to Estimate
        still : set of figures
            Those that are 0 whatever is drawn.
        """
        units = TrialUnits.each(len(sample.stratum))
        at_hand = self.portions.at_hand(sample.trials, units, sample.stratum)
        names = {
            one: [figure.name for figure in self.portions.figures(one, at_hand)]
            for one in self.portions.names
            if one[0] in (ALL, DETECTOR)
        }
        n_strata = len(design.home)
        most = max(map(len, names.values())) + 1
        at_once = BLOCK * rows_that_fit(self.memory, Cost.CLASS_REPLICATE * n_strata * most * BLOCK)
        found: dict[Figure, list[FloatArray]] = {}
        has_all = list[BoolArray]()
        for first in range(0, self.resampling.bootstrap, at_once):
            numbers = range(first, min(first + at_once, self.resampling.bootstrap))
            room = rows_that_fit(self.memory, Cost.CLASS_REPLICATE * n_strata * (1 + len(numbers)))
            for some in _together(names, room):
                drawn, has = self._pass(some, design, numbers)
                for name, values in drawn.items():
                    found.setdefault(name, []).append(values)
            has_all.append(has)
        whole: dict[Figure, tuple[FloatArray, float]] = {}
        for name, parts in found.items():
            if name in estimates:
                one = np.concatenate([own[1:] for own in parts])
                whole[name] = (np.zeros(len(one)), 0.0) if name in still else (one, float(parts[0][0]))
        return Bootstrap.of(whole, np.concatenate(has_all), estimates, self.resampling)

    def _pass(
        self, some: Mapping[Portion, Sequence[Figure]], design: UnitDesign, numbers: range
    ) -> tuple[dict[Figure, FloatArray], BoolArray]:
        """One pass: some figures in some replicates, after those of the trials as they are; and which have them."""
        begins, names = dict[Portion, int](), list[Figure]()
        for portion, own in some.items():
            begins[portion] = len(names)
            names += own
        drawn = np.array([not (isinstance(one, tuple) and one[0] in _LINEARISED) for one in names])
        row = np.where(drawn, np.cumsum(drawn) - 1, -1)
        given = SystemScores.of(self.source, self.system)
        shape = int(drawn.sum()) + 1, len(design.home), 1 + len(numbers)
        asked = _AskedClassReplicates(given, self.portions, begins, row, shape, self.resampling.seed, numbers)
        sums = self.engine.run(ClassReplicateTally(asked), self.source.pieces).sums
        totals = design.weights.totals
        there = totals > 0.0
        shares = np.where(there, totals / np.bincount(design.home, totals)[design.home], 0.0)
        weight = sums[-1]
        has_all = np.asarray((weight > 0.0)[there].all(axis=0))[1:]
        scale = np.divide(shares[:, None], weight, out=np.zeros(weight.shape), where=weight > 0.0)
        values = np.einsum("fsr,sr->fr", sums[:-1], scale)
        return {name: values[at] for name, at in zip(names, row, strict=True) if at >= 0}, has_all


def _together(names: Mapping[Portion, Sequence[Figure]], room: int) -> Iterator[dict[Portion, Sequence[Figure]]]:
    """Portions of not more figures than there is room for, and one at least."""
    some = dict[Portion, Sequence[Figure]]()
    for one, own in names.items():
        if some and sum(map(len, some.values())) + len(own) > room:
            yield some
            some = {}
        some[one] = own
    yield some


_SOME = 16
"""Trials of each stratum about whose mean costs are summed up."""


@dataclass(frozen=True, slots=True, eq=False)
class WhoIsIn:
    """What units trials are of, and what has a mean of its own.

    Attributes
    ----------
    units : TrialUnits
        All units, of no trial; no keys where every trial is one.
    home : (n_strata,) int array
        The class of each stratum: the classes themselves, or the group of each class.
    """

    units: TrialUnits
    home: IntArray

    @property
    def keys(self) -> Keys | None:
        """Of all units, ascending; None where every trial is one."""
        return self.units.keys if len(self.units.keys) else None

    def units_of(self, own: TrialUnits | None, n_trials: int) -> TrialUnits:
        """The units of some trials, all of them known; every trial by itself where nothing is known."""
        if own is None:
            return TrialUnits((np.arange(n_trials),), np.zeros(n_trials, np.uint64))
        return own.among(self.units.keys)


@dataclass(frozen=True, slots=True, eq=False)
class UnitSums:
    """What is known of units after the first pass; ``a + b`` is what is known of the trials of both.

    Attributes
    ----------
    weights : StratumWeights
    some : Shown
        A few trials of each stratum, by the lots of their scores.
    """

    weights: StratumWeights
    some: Shown

    @classmethod
    def of(cls, block: TrialBlock, who: WhoIsIn) -> UnitSums:
        """Of the trials of a block."""
        trials, stratum = block.trials, block.stratum
        rows = np.concatenate([trials.rows(k) for k in range(trials.n_classes)])
        units = None if who.keys is None else who.units_of(block.units, len(trials.label)).take(rows)
        weights = StratumWeights.of(stratum[rows], len(who.home), trials.weights_of(rows), units)
        return cls(weights, Shown.of(trials.loglik[rows], stratum[rows], _SOME))

    def __add__(self, other: UnitSums) -> UnitSums:
        """What is known of the trials of both."""
        return UnitSums(self.weights + other.weights, self.some + other.some)


_FEWEST_ROWS = 1 << 12
"""Trials whose influences are computed at once, however little memory there is."""


@dataclass(frozen=True, eq=False)
class _Asked:
    """What a pass over trials needs to sum up influences."""

    given: SystemScores
    who: WhoIsIn
    portions: Portions
    begins: Mapping[Portion, int]
    centre: FloatArray
    design: UnitDesign


class InfluenceTally(Work):
    """Influences on the figures of some portions, summed up.

    Parameters
    ----------
    asked : _Asked
    """

    words = "summing up influences"

    def __init__(self, asked: _Asked) -> None:
        self.asked = asked
        self.sums = CostSums.empty(asked.centre, asked.design)
        self.n_bytes = _bytes_of(len(asked.centre), asked.design)

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        asked = self.asked
        for piece in pieces:
            for block in asked.given.blocks(piece, units=asked.who.keys is not None):
                at_hand = at_hand_of(block, asked.portions, asked.who)
                if not at_hand.n_trials:
                    continue
                costs = at_hand.costs
                units = None if asked.who.keys is None else costs.units
                whole = Block(costs.stratum, costs.costs.weights, units)
                for part in asked.portions.parts(asked.begins, at_hand):
                    with self.lock:
                        self.sums.add(part, whole)

    def __add__(self, other: Self) -> Self:
        """See `Work.__add__`."""
        found = self.empty()
        for one in (self, other):
            found.sums.merge(one.sums)
        return found


def at_hand_of(block: TrialBlock, portions: Portions, who: WhoIsIn) -> AtHand:
    """The trials of a block, of which costs are asked."""
    units = who.units_of(block.units, len(block.trials.label))
    return portions.at_hand(block.trials, units, block.stratum)


def _bytes_of(n_figures: int, design: UnitDesign) -> int:
    """What sums of so many figures take."""
    n_strata = len(design.home)
    return n_figures * 8 * (6 * n_strata if design.weights.by_unit is None else design.n_pairs + 3 * n_strata)


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
    who : WhoIsIn
    resampling : Resampling
        What is asked of intervals, beside the units.
    """

    source: ShardSource
    engine: Engine
    memory: int
    system: int
    who: WhoIsIn
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
        portions = Portions.of(summary, found, design.clusters, summary.problems.pair_pavs)
        keeps = keeps_curve(len(self.who.units.keys), len(axis_of(summary)), self.resampling.keep)
        gathered = Gathered(design, keeps_curve=keeps)
        for names in self._together(portions, design):
            self._pass(names, portions, sums, gathered)
        replicates = None
        if self.resampling.bootstrap:
            asked = ReplicatesInPieces(self.source, self.engine, self.memory, self.system, self.resampling, portions)
            replicates = asked.bootstrap(self._sample(sums), design, gathered.estimates, gathered.still)
        about = self.source, self.engine, self.memory, self.system
        bands = BandsInPieces(*about, portions, design).errors(summary, self.who)
        level = self.resampling.level
        return gathered.uncertainty(self.who.units, summary, found, bands.rates, level, replicates)

    def _together(self, portions: Portions, design: UnitDesign) -> Iterator[list[Portion]]:
        """Portions for which there is room in one pass."""
        some, taken, room = list[Portion](), 0, self.memory // 4
        for name in portions.names:
            size = _bytes_of(portions.size(name), design)
            if size > self.memory:
                what = f"units: there are {len(self.who.units.keys):,}, and influences are added up for each"
                way = "take every segment for a unit (leave --units out)"
                raise memory_error(what, needed=size, given=self.memory, way=way)
            if some and taken + size > room:
                yield some
                some, taken = [], 0
            some.append(name)
            taken += size
        yield some

    def _pass(self, names: Sequence[Portion], portions: Portions, sums: UnitSums, gathered: Gathered) -> None:
        """One pass, for some portions."""
        sample = self._sample(sums)
        at_hand = at_hand_of(sample, portions, self.who)
        begins, n_figures = dict[Portion, int](), 0
        for name in names:
            begins[name] = n_figures
            n_figures += len(portions.figures(name, at_hand)) // portions.each(name)
        design = gathered.design
        few = Block(at_hand.costs.stratum, None, None)
        centre = centre_of(list(portions.parts(begins, at_hand)), few, (n_figures, len(self.who.home)))
        at_once = n_figures * self.engine.n_at_once
        most = rows_that_fit(self.memory / 4, Cost.INFLUENCE, at_once=at_once, fewest=_FEWEST_ROWS)
        given = SystemScores.of(self.source, self.system, most)
        asked = _Asked(given, self.who, portions, begins, centre, design)
        tally = self.engine.run(InfluenceTally(asked), self.source.pieces)
        for name, begin in begins.items():
            figures = portions.figures(name, at_hand)
            if name[0] == RATES:
                gathered.add_rates(figures, tally.sums, begin)
                continue
            keep = name[0] in (ALL, DETECTOR) and len(figures) * len(self.who.units.keys) <= MOST_KEPT
            gathered.add(figures, tally.sums, begin, each=portions.each(name), keep=keep)

    def _sample(self, sums: UnitSums) -> TrialBlock:
        """A few trials of each stratum."""
        some, home = sums.some, self.who.home
        return TrialBlock(ScoredClasses(some.loglik, home[some.label], None, self.source.classes), some.label, None)
