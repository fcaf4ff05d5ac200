"""Intervals of many classes in pieces: influences of units, or of every segment, summed up in passes of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Self

import numpy as np

from deciban.core.classes.shown import Shown
from deciban.core.resampling.class_design import Groups, Spread
from deciban.core.resampling.class_sums import Block, CostSums, StratumWeights, UnitDesign, centre_of
from deciban.core.resampling.intervals import Estimate
from deciban.core.resampling.units import Keys, TrialUnits
from deciban.engines.class_bands import BandsInPieces, ReplicatesInPieces
from deciban.engines.class_problems import TrialBlock, blocks_of
from deciban.evaluation.multiclass.class_figures import ClassFigure
from deciban.evaluation.multiclass.curve_costs import CURVE, STEP, AtHand, Place, SureCurve, axis_of
from deciban.evaluation.multiclass.influences import lose_nothing, no_loss, remarks_on_classes
from deciban.evaluation.multiclass.portions import ALL, DETECTOR, PAIRS, RATES, Portion, Portions
from deciban.evaluation.multiclass.problem_sums import CountedProblems
from deciban.evaluation.multiclass.result import ClassEvaluation
from deciban.evaluation.multiclass.summary import ClassSummary
from deciban.evaluation.uncertainty import KEPT_CURVES, Figure, Uncertainty
from deciban.evaluation.unit_trials import Resampling
from deciban.memory import Cost, memory_error, rows_that_fit
from deciban.multiclass.tables import ScoredClasses
from deciban.trials.passes import Engine, Locked, Work
from deciban.trials.sources import Piece, ShardSource
from deciban.types import FloatArray, IntArray

_SOME = 16
"""Trials of each stratum about whose mean costs are summed up."""

_KEPT = 1 << 24
"""Influences that are kept."""


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
        place = np.searchsorted(self.units.keys, own.keys)
        return replace(own, codes=tuple(place[side] for side in own.codes), keys=self.units.keys)


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
    """What a pass is about."""

    about: tuple[int, tuple[str, ...], bool]
    who: WhoIsIn
    portions: Portions
    begins: Mapping[Portion, int]
    centre: FloatArray
    design: UnitDesign
    n_rows: int


class InfluenceTally(Locked, Work):
    """Influences on the figures of some portions, summed up.

    Parameters
    ----------
    asked : _Asked
    """

    words = "summing up influences"

    def __init__(self, asked: _Asked) -> None:
        super().__init__()
        self.asked = asked
        self.sums = CostSums.empty(asked.centre, asked.design)
        self.n_bytes = _bytes_of(len(asked.centre), asked.design)

    def empty(self) -> Self:
        """See `Work.empty`."""
        return type(self)(self.asked)

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        asked = self.asked
        system, classes, weight = asked.about
        with_units = asked.who.keys is not None
        for piece in pieces:
            for block in blocks_of(piece, system, classes, weight=weight, units=with_units, most=asked.n_rows):
                at_hand = at_hand_of(block, asked.portions, asked.who)
                if not at_hand.n_trials:
                    continue
                costs = at_hand.costs
                units = costs.units if with_units else None
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
        pavs = {pair: one for pair, one in summary.problems.pair_pavs.items() if one is not None}  # after all passes
        portions = Portions.of(summary, found, design.clusters, pavs)
        gathered = _Gathered(design)
        for names in self._together(portions, design):
            self._pass(names, portions, sums, gathered)
        replicates = None
        if self.resampling.bootstrap:
            asked = ReplicatesInPieces(self.source, self.engine, self.memory, self.system, self.resampling, portions)
            replicates = asked.bootstrap(self._sample(sums), design, gathered.estimates, gathered.still)
        values = np.asarray(found.curves.c_avg[::STEP])
        curve = SureCurve(axis_of(summary), values, *gathered.of_curve(len(values)), design.clusters)
        units = self.who.units
        bands = BandsInPieces(self.source, self.engine, self.memory, self.system, portions, design).errors(
            summary, units
        )
        return Uncertainty(
            n_units=design.n_units,
            noun=units.noun,
            source=units.source,
            keys=units.keys,
            estimates=gathered.estimates,
            influences=gathered.influences,
            curves=curve.errors(summary.places),
            level=self.resampling.level,
            bootstrap=replicates,
            curve_influences=curve.influences(),
            error_rates={**curve.rates(), **bands.rates},
            too_few=design.clusters.too_few(found.classes),
            remarks=remarks_on_classes(found),
        )

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

    def _pass(self, names: Sequence[Portion], portions: Portions, sums: UnitSums, gathered: _Gathered) -> None:
        """One pass, for some portions."""
        sample = self._sample(sums)
        at_hand = at_hand_of(sample, portions, self.who)
        begins, n_figures = dict[Portion, int](), 0
        for name in names:
            begins[name] = n_figures
            n_figures += len(portions.figures(name, at_hand)) // (2 if name[0] == PAIRS else 1)
        design = gathered.design
        few = Block(at_hand.costs.stratum, None, None)
        centre = centre_of(list(portions.parts(begins, at_hand)), few, (n_figures, len(self.who.home)))
        about = self.system, self.source.classes, self.source.has_weights
        threads, of_row = self.engine.n_at_once, Cost.INFLUENCE * n_figures
        n_rows = rows_that_fit(self.memory / 4, of_row, at_once=threads, fewest=_FEWEST_ROWS)
        asked = _Asked(about, self.who, portions, begins, centre, design, n_rows)
        tally = self.engine.run(InfluenceTally(asked), self.source.pieces)
        for name, begin in begins.items():
            gathered.add(name, portions.figures(name, at_hand), tally.sums, begin)

    def _sample(self, sums: UnitSums) -> TrialBlock:
        """A few trials of each stratum."""
        some, home = sums.some, self.who.home
        return TrialBlock(ScoredClasses(some.loglik, home[some.label], None, self.source.classes), some.label, None)


class _Gathered:
    """Figures with their errors, as passes find them."""

    def __init__(self, design: UnitDesign) -> None:
        self.design = design
        self.estimates: dict[Figure, Estimate] = {}
        self.influences: dict[Figure, FloatArray] = {}
        self.still: set[Figure] = set()
        """Figures that are 0 whatever is drawn."""
        self.curve: list[tuple[Place, FloatArray | None]] = []

    def add(self, name: Portion, figures: Sequence[ClassFigure], sums: CostSums, begin: int) -> None:
        """Add the figures of a portion, which begin at a position of the sums."""
        each = 2 if name[0] == PAIRS else 1
        rows = slice(begin, begin + len(figures) // each)
        influences, most = sums.influences(rows) if name[0] in (ALL, DETECTOR) else None, sums.most[rows]
        if influences is not None and influences.size > _KEPT:
            influences = None
        costs = {figure.name: at for at, figure in enumerate(figures)} if name[0] == ALL else {}
        if name[0] == RATES:
            n_classes = self.design.n_classes
            spread = sums.spread(rows, Groups.apart(n_classes))
            for at, figure in enumerate(figures):
                self._add(figure, spread[at].only(at % n_classes), None)
            return
        for first, some in _alike(figures):
            of_some = slice(begin + first // each, begin + -(-(first + len(some)) // each))
            spread = sums.spread(of_some, some[0].groups)
            for at, figure in enumerate(some, first):
                row = at // each
                own, one = None if influences is None else influences[row], figure
                if figure.name == "calibration_loss" and lose_nothing(most[row], most[costs["cllr"]]):
                    one = no_loss(figure.groups)
                    self.still.add(figure.name)
                self._add(one, spread[row + begin - of_some.start], own)

    def _add(self, figure: ClassFigure, spread: Spread, influences: FloatArray | None) -> None:
        if isinstance(figure.name, tuple) and figure.name[0] == CURVE:
            self.curve.append((Place.of(figure, spread), influences))
        elif np.isfinite(figure.value):
            held_out = 0.0 if figure.name in self.still else None
            if (estimate := figure.estimate(spread, self.design.clusters, held_out)) is not None:
                self.estimates[figure.name] = estimate
            if influences is not None:
                self.influences[figure.name] = influences

    def of_curve(self, n_places: int) -> tuple[list[Place], list[FloatArray]]:
        """Places of the curve, and influences there if they are few."""
        known = [one for _, one in self.curve if one is not None and one.size * n_places <= KEPT_CURVES]
        return [place for place, _ in self.curve], known if len(known) == len(self.curve) else []


def _alike(figures: Sequence[ClassFigure]) -> Iterator[tuple[int, list[ClassFigure]]]:
    """Figures of the same groups, one run after the other, with the position of the first of each."""
    first = 0
    for _, some in groupby(figures, key=lambda one: one.groups.weights.tobytes()):
        run = list(some)
        yield first, run
        first += len(run)
