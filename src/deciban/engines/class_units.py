"""Intervals of multiclass metrics of trials that are read in batches."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self, TypeAlias

import numpy as np

from deciban.core.resampling.class_sums import Block, CostSums, DealtUnits, SharesBelow, centre_of
from deciban.core.resampling.clusters import UnitDesign
from deciban.core.resampling.replicates import BLOCK, poisson_weights
from deciban.core.resampling.units import TrialUnits
from deciban.engines.class_problems import SystemScores, TrialBlock, UnitsAndStrata, UnitSums
from deciban.evaluation.bands import Bands
from deciban.evaluation.multiclass.class_figures import CURVE, MOST_KEPT, AtHand, Gathered, axis_of, keeps_curve
from deciban.evaluation.multiclass.detector_costs import BestOfDetector, DetectorBands, OneDetector
from deciban.evaluation.multiclass.portions import ALL, DETECTOR, RATES, Portion, Portions
from deciban.evaluation.multiclass.problem_sums import CountedProblems
from deciban.evaluation.multiclass.result import ClassEvaluation
from deciban.evaluation.multiclass.summary import ClassSummary
from deciban.evaluation.summary import Resampling
from deciban.evaluation.uncertainty import Bootstrap, Figure, Uncertainty
from deciban.memory import Cost, memory_error, rows_that_fit
from deciban.multiclass.tables import Detectors, ScoredClasses
from deciban.trials.passes import Engine, Work
from deciban.trials.sources import Piece, ShardSource
from deciban.types import BoolArray, FloatArray, IntArray

_LINEARISED = (CURVE, "subset_c_avg", "subset_mean_by_size")
"""Figures among those of all classes that have no replicates."""


_WEIGHTS = 1 << 21
"""Weights of trials that are multiplied at once."""


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


class _Below(dict[int, SharesBelow]):
    """Shares of trials below the thresholds of some detectors, by target."""

    @classmethod
    def of(cls, bands: DetectorBands, targets: Sequence[int]) -> _Below:
        """Return empty tables."""
        return cls({target: bands.empty(target) for target in targets})

    def __iadd__(self, other: _Below) -> Self:
        for target, one in self.items():
            for table, own in zip(one.tables, other[target].tables, strict=True):
                np.add(table, own, out=table)
        return self


def _count_below(
    who: UnitsAndStrata,
    bands: DetectorBands,
    bests: Mapping[int, BestOfDetector],
    total: _Below,
    block: TrialBlock,
    lock: Any,
) -> None:
    """Add the shares of the trials of a block below the thresholds of detectors, by stratum and unit."""
    trials = block.trials
    rows = np.concatenate([trials.rows(k) for k in range(trials.n_classes)])
    if not len(rows):
        return
    units = None if bands.units.keys is None else who.units_of(block.units, len(trials.label)).take(rows)
    own = bands.units.shares(Block(block.stratum[rows], trials.weights_of(rows), units))
    detectors = Detectors.of(trials, bands.rivals)
    for target, best in bests.items():
        one = OneDetector(detectors, target, np.zeros(0), best)
        for table, found in total[target].counted(own, one.share, bands.places(one)):
            with lock:
                np.add(table, found, out=table)


def _count_replicates(
    portions: Portions,
    begins: Mapping[Portion, int],
    drawn: tuple[IntArray, int, range],
    total: FloatArray,
    block: TrialBlock,
    lock: Any,
) -> None:
    """Add costs of trials times the weights of their units, by figure, stratum and replicate.

    The last figure are the weights themselves; the first replicate are the trials as they are. Weights follow from
    seed, replicate and key of a unit, so that nothing is shared between batches.

    Parameters
    ----------
    portions : Portions
    begins : mapping of Portion to int
        Where the figures of portions begin.
    drawn : ((n_figures,) int array, int, range)
        Which row of the total is that of each figure, -1 for none; the seed, and the numbers of the replicates.
    total : (n_figures + 1, n_strata, n_replicates + 1) array
    block : TrialBlock
    lock : Lock
    """
    assert block.units is not None  # noqa: S101  # they were asked for
    at_hand = portions.at_hand(block.trials, block.units, block.stratum)
    if not at_hand.n_trials:
        return
    row, seed, numbers = drawn
    alike, weights = _Alike.of(at_hand.costs.stratum, at_hand.costs.units), at_hand.costs.costs.weights
    parts = [(np.array([len(total) - 1]), alike.summed(np.ones((1, at_hand.n_trials)), weights))]
    for part in portions.parts(begins, at_hand):
        own = row[part.figures]
        parts.append((own[own >= 0], alike.summed(part.costs[own >= 0], weights)))
    step = max(_WEIGHTS // len(alike.stratum), 1)

    def add(times: FloatArray, columns: slice) -> None:
        for stratum, own in alike.runs():
            for rows, costs in parts:
                found = costs[own].T @ times[own]
                with lock:
                    total[rows, stratum, columns] += found

    add(np.ones((len(alike.stratum), 1)), slice(0, 1))
    for first in range(0, len(numbers), step):
        some = numbers[first : first + step]
        add(alike.weights(seed, some), slice(1 + first, 1 + first + len(some)))


def _add_influences(
    who: UnitsAndStrata,
    portions: Portions,
    begins: Mapping[Portion, int],
    total: CostSums,
    block: TrialBlock,
    lock: Any,
) -> None:
    """Add what the trials of a block cost in the figures of some portions."""
    at_hand = at_hand_of(block, portions, who)
    if not at_hand.n_trials:
        return
    costs = at_hand.costs
    whole = Block(costs.stratum, costs.costs.weights, None if who.keys is None else costs.units)
    for part in portions.parts(begins, at_hand):
        with lock:
            total.add(part, whole)


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


def at_hand_of(block: TrialBlock, portions: Portions, who: UnitsAndStrata) -> AtHand:
    """The trials of a block, of which costs are asked."""
    units = who.units_of(block.units, len(block.trials.label))
    return portions.at_hand(block.trials, units, block.stratum)


def _bytes_of(n_figures: int, design: UnitDesign) -> int:
    """What sums of so many figures take."""
    n_strata = len(design.home)
    return n_figures * 8 * (6 * n_strata if design.weights.by_unit is None else design.n_pairs + 3 * n_strata)


Sizes: TypeAlias = Mapping[Portion, float]
"""Size of each portion in a pass."""


def _together(sizes: Sizes, room: float) -> Iterator[list[Portion]]:
    """Portions for which there is room in one pass, and one at least."""
    some, taken = list[Portion](), 0.0
    for name, size in sizes.items():
        if some and taken + size > room:
            yield some
            some, taken = [], 0.0
        some.append(name)
        taken += size
    yield some


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
        pairs = summary.problems.pairs()
        pavs = {} if pairs is None else {name: one.pav for name, one in pairs.scores.items()}
        portions = Portions.of(summary, found, design.clusters, pavs)
        keeps = keeps_curve(len(self.who.units.keys), len(axis_of(summary)), self.resampling.keep)
        gathered, sample = Gathered(design, keeps_curve=keeps), self._sample(sums)
        sizes = {name: _bytes_of(portions.size(name), design) for name in portions.names}
        if (most := max(sizes.values())) > self.memory:
            what = f"units: there are {len(self.who.units.keys):,}, and influences are added up for each"
            way = "take every segment for a unit (leave --units out)"
            raise memory_error(what, needed=most, given=self.memory, way=way)
        for names in _together(sizes, self.memory // 4):
            self._add(names, portions, sample, gathered)
        replicates = self._bootstrap(portions, sample, gathered) if self.resampling.bootstrap else None
        bands = self._bands(portions, design, summary)
        level = self.resampling.level
        return gathered.uncertainty(self.who.units, summary, found, bands.rates, level, replicates)

    def _run(self, words: str, start: Callable[[], Any], add: Adding, *, units: bool, n_bytes: int, **most: int) -> Any:
        """Return the total of one pass."""
        given = SystemScores.of(self.source, self.system, **most)
        work = BlockTally(given, words, start, add, units=units, n_bytes=n_bytes)
        return self.engine.run(work, self.source.pieces).total

    def _add(self, names: Sequence[Portion], portions: Portions, sample: TrialBlock, gathered: Gathered) -> None:
        """One pass, for the influences on some portions."""
        at_hand, design = at_hand_of(sample, portions, self.who), gathered.design
        begins, n_figures = dict[Portion, int](), 0
        for name in names:
            begins[name] = n_figures
            n_figures += len(portions.figures(name, at_hand)) // portions.each(name)
        few = Block(at_hand.costs.stratum, None, None)
        centre = centre_of(list(portions.parts(begins, at_hand)), few, (n_figures, len(self.who.home)))
        start, add = partial(CostSums.empty, centre, design), partial(_add_influences, self.who, portions, begins)
        how: Any = {"units": self.who.keys is not None, "n_bytes": _bytes_of(n_figures, design)}
        at_once = n_figures * self.engine.n_at_once
        most = rows_that_fit(self.memory / 4, Cost.INFLUENCE, at_once=at_once, fewest=_FEWEST_ROWS)
        sums: CostSums = self._run("summing up influences", start, add, most=most, **how)
        for name, begin in begins.items():
            figures = portions.figures(name, at_hand)
            if name[0] == RATES:
                gathered.add_rates(figures, sums, begin)
                continue
            keep = name[0] in (ALL, DETECTOR) and len(figures) * len(self.who.units.keys) <= MOST_KEPT
            gathered.add(figures, sums, begin, keep=keep)

    def _sample(self, sums: UnitSums) -> TrialBlock:
        """A few trials of each stratum."""
        some, home = sums.some, self.who.home
        return TrialBlock(ScoredClasses(some.loglik, home[some.label], None, self.source.classes), some.label, None)

    def _bands(self, portions: Portions, design: UnitDesign, summary: ClassSummary) -> DetectorBands:
        """Standard errors of all detectors."""
        units = self.who.units
        are_single = len(units.codes) < 2 and design.n_units == design.weights.n_trials.sum()
        dealt = DealtUnits(design, None if are_single else units.keys, Bands.MOST_UNITS)
        rivals, bests = summary.figures.rivals(len(design.clusters.seen))[0], portions.bests[0]
        bands = DetectorBands(portions.found, dealt, rivals)
        size = 8 * (len(bands.thresholds) + 1) * (4 * dealt.n_groups + 4 * len(design.home))
        at_once = rows_that_fit(self.memory / 4, size)  # detectors in one pass
        for first in range(0, len(bests), at_once):
            some = {target: bests[target] for target in range(first, min(first + at_once, len(bests)))}
            start, add = partial(_Below.of, bands, list(some)), partial(_count_below, self.who, bands, some)
            how: Any = {"units": not are_single, "n_bytes": size * len(some)}
            for target, below in self._run("counting by unit", start, add, **how).items():
                bands.add(target, below)
        return bands

    def _bootstrap(self, portions: Portions, sample: TrialBlock, gathered: Gathered) -> Bootstrap:
        """Draw replicates of sums of class means, by decisions that are the best for all trials."""
        at_hand = portions.at_hand(sample.trials, TrialUnits.each(len(sample.stratum)), sample.stratum)
        names = {
            one: [figure.name for figure in portions.figures(one, at_hand)]
            for one in portions.names
            if one[0] in (ALL, DETECTOR)
        }
        n_strata, n_replicates = len(gathered.design.home), self.resampling.bootstrap
        most = max(map(len, names.values())) + 1
        at_once = BLOCK * rows_that_fit(self.memory, Cost.CLASS_REPLICATE * n_strata * most * BLOCK)
        found: dict[Figure, list[FloatArray]] = {}
        has_all = list[BoolArray]()
        for first in range(0, n_replicates, at_once):
            numbers = range(first, min(first + at_once, n_replicates))
            room = rows_that_fit(self.memory, Cost.CLASS_REPLICATE * n_strata * (1 + len(numbers)))
            for some in _together({one: len(own) for one, own in names.items()}, room):
                own = {one: names[one] for one in some}
                drawn, has = self._replicates(portions, own, gathered.design, numbers)
                for name, values in drawn.items():
                    found.setdefault(name, []).append(values)
            has_all.append(has)
        whole: dict[Figure, tuple[FloatArray, float]] = {}
        for name, parts in found.items():
            if name in gathered.estimates:
                one = np.concatenate([own[1:] for own in parts])
                whole[name] = (np.zeros(len(one)), 0.0) if name in gathered.still else (one, float(parts[0][0]))
        return Bootstrap.of(whole, np.concatenate(has_all), gathered.estimates, self.resampling)

    def _replicates(
        self, portions: Portions, some: Mapping[Portion, Sequence[Figure]], design: UnitDesign, numbers: range
    ) -> tuple[dict[Figure, FloatArray], BoolArray]:
        """One pass: some figures in some replicates, after those of the trials as they are; and which have them."""
        begins, names = dict[Portion, int](), list[Figure]()
        for portion, own in some.items():
            begins[portion] = len(names)
            names += own
        drawn = np.array([not (isinstance(one, tuple) and one[0] in _LINEARISED) for one in names])
        row = np.where(drawn, np.cumsum(drawn) - 1, -1)
        shape = int(drawn.sum()) + 1, len(design.home), 1 + len(numbers)
        add = partial(_count_replicates, portions, begins, (row, self.resampling.seed, numbers))
        how: Any = {"units": True, "n_bytes": 16 * math.prod(shape)}
        sums: FloatArray = self._run("counting replicates", partial(np.zeros, shape), add, **how)
        totals = design.weights.totals
        there, weight = totals > 0.0, sums[-1]
        shares = np.where(there, totals / np.bincount(design.home, totals)[design.home], 0.0)
        has_all = np.asarray((weight > 0.0)[there].all(axis=0))[1:]
        scale = np.divide(shares[:, None], weight, out=np.zeros(weight.shape), where=weight > 0.0)
        values = np.einsum("fsr,sr->fr", sums[:-1], scale)
        return {name: values[at] for name, at in zip(names, row, strict=True) if at >= 0}, has_all
