"""Standard errors of the Bayes error curves of detectors in pieces: units counted by place among the thresholds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from deciban.core.ranks.hull import Pav
from deciban.core.resampling.class_sums import UnitDesign, entries_of
from deciban.core.resampling.intervals import Estimate
from deciban.core.resampling.linearised import BestDecisions
from deciban.core.resampling.replicates import BLOCK, poisson_weights
from deciban.core.resampling.unit_counts import groups_of_units
from deciban.core.resampling.units import Keys, TrialUnits
from deciban.engines.class_problems import TrialBlock, blocks_of
from deciban.evaluation.bands import Bands
from deciban.evaluation.bootstrap import Bootstrap
from deciban.evaluation.multiclass.curve_costs import CURVE, AtHand
from deciban.evaluation.multiclass.detector_costs import BandErrors, BestOfDetector, OneDetector
from deciban.evaluation.multiclass.portions import ALL, DETECTOR, Portion, Portions
from deciban.evaluation.multiclass.summary import ClassSummary
from deciban.evaluation.uncertainty import Figure
from deciban.evaluation.unit_trials import Resampling
from deciban.multiclass.tables import Detectors
from deciban.trials.passes import Engine, Locked, Work
from deciban.trials.sources import Piece, ShardSource
from deciban.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class _Asked:
    """What a pass is about.

    Attributes
    ----------
    about : (int, tuple of str, bool)
        System, classes, and whether trials have weights.
    rivals : (n_classes,) array
        Prior of the rivals of targets.
    bests : tuple of BestOfDetector
        Of all detectors.
    targets : range
        Those of which units are counted.
    log_odds : (n_priors,) array
        Ascending.
    design : UnitDesign
        Of all trials.
    keys : (n_units,) uint64 array or None
        Of all units, ascending; None where each trial is one.
    """

    about: tuple[int, tuple[str, ...], bool]
    rivals: FloatArray
    bests: tuple[BestOfDetector, ...]
    targets: range
    log_odds: FloatArray
    design: UnitDesign
    keys: Keys | None

    @cached_property
    def group(self) -> IntArray | None:
        """The group of each unit; None where each trial is one."""
        return None if self.keys is None else dealt(self.keys)

    @cached_property
    def positions(self) -> list[IntArray]:
        """How many PAV blocks the best threshold of each detector rejects, ascending."""
        found = []
        for target in self.targets:
            pav = self.bests[target].pav
            (own,) = BestDecisions.of(pav.n_tar, pav.n_non).positions(self.log_odds)
            found.append(own[::-1])
        return found

    def places(self, at: int, one: OneDetector) -> tuple[IntArray, IntArray]:
        """How many of the thresholds, and of the best ones, lie at or below each trial."""
        act = np.searchsorted(-self.log_odds[::-1], one.llr, side="right")
        return act, np.searchsorted(self.positions[at], one.block, side="right")


def dealt(keys: Keys) -> IntArray:
    """The group of each unit: many share one."""
    return groups_of_units(keys, Bands.MOST_UNITS) if len(keys) > Bands.MOST_UNITS else np.arange(len(keys))


class BandTally(Locked, Work):
    """Contributions of trials by place among the thresholds of some detectors, and by stratum and unit.

    Parameters
    ----------
    asked : _Asked
    """

    words = "counting by unit"

    def __init__(self, asked: _Asked) -> None:
        super().__init__()
        self.asked = asked
        n, places, strata = len(asked.targets), len(asked.log_odds) + 1, len(asked.design.home)
        self.once: FloatArray = np.zeros((n, 2, strata, places))
        """Of each detector, and of actual and least errors."""
        self.squared = np.zeros_like(self.once)
        n_units = 0 if asked.group is None else int(asked.group.max(initial=0)) + 1
        self.by_unit: FloatArray = np.zeros((n, 2, 2, n_units, places))
        """Of targets and of others."""
        self.n_bytes = self.by_unit.nbytes + 2 * self.once.nbytes

    def empty(self) -> Self:
        """See `Work.empty`."""
        return type(self)(self.asked)

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        system, classes, weight = self.asked.about
        for piece in pieces:
            for block in blocks_of(piece, system, classes, weight=weight, units=self.asked.keys is not None):
                self._add(block)

    def _add(self, block: TrialBlock) -> None:
        asked, trials = self.asked, block.trials
        rows = np.concatenate([trials.rows(k) for k in range(trials.n_classes)])
        if not len(rows):
            return
        detectors, stratum, weights = Detectors.of(trials, asked.rivals), block.stratum[rows], trials.weights_of(rows)
        counts, design = np.ones(len(stratum)) if weights is None else weights.astype(np.float64), asked.design
        share = design.share[stratum] * counts
        if block.units is None:
            factor = design.factor_of_single(stratum, counts) * design.stretch[stratum]
        else:
            trial, unit, group = self._units(block.units.take(rows))
            factor = design.pairs.factor[design.pair_of(stratum[trial], unit)]
        for at, target in enumerate(asked.targets):
            one = OneDetector(detectors, target, asked.log_odds, asked.bests[target])
            own = share * one.share
            for k, place in enumerate(asked.places(at, one)):
                self._count(self.once[at, k], stratum, place, own)
                if block.units is None:
                    self._count(self.squared[at, k], stratum, place, np.square(own * factor))
                    continue
                side = (~one.is_target[trial]).astype(np.int64)
                both = self.by_unit[at, k].reshape(-1, self.by_unit.shape[-1])
                self._count(both, side * self.by_unit.shape[3] + group, place[trial], own[trial] * factor)

    def _units(self, units: TrialUnits) -> tuple[IntArray, IntArray, IntArray]:
        """Positions of trials, of units, and of their groups, an entry for each unit of a trial."""
        assert self.asked.keys is not None and self.asked.group is not None  # noqa: S101, PT018  # there are units
        trial, code = entries_of(units)
        unit = np.searchsorted(self.asked.keys, units.keys)[code]
        return (np.arange(len(code)) if trial is None else trial), unit, self.asked.group[unit]

    def _count(self, table: FloatArray, row: IntArray, place: IntArray, values: FloatArray) -> None:
        """Add values to a table by row and place."""
        found = np.bincount(row * table.shape[1] + place, values, minlength=table.size).reshape(table.shape)
        with self.lock:
            table += found

    def __add__(self, other: Self) -> Self:
        """See `Work.__add__`."""
        found = self.empty()
        for name in ("once", "squared", "by_unit"):
            setattr(found, name, getattr(self, name) + getattr(other, name))
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

    def errors(self, summary: ClassSummary, units: TrialUnits) -> BandErrors:
        """Standard errors of all detectors; of least errors where these are known.

        Parameters
        ----------
        summary : ClassSummary
            Of all trials, of which detectors were counted.
        units : TrialUnits
            All units, of no trial; no keys where each trial is one.
        """
        found, design = self.portions.found, self.design
        are_single = len(units.codes) < 2 and design.n_units == design.weights.n_trials.sum()
        parts = None if are_single else self._parts(units.keys)
        n_units = design.n_units if parts is None else min(design.n_units, parts.shape[1])
        rivals, bests = summary.figures.rivals(len(design.clusters.seen))[0], self.portions.bests[0]
        bands = BandErrors(found, design.clusters, rivals, n_units)
        about = self.system, self.source.classes, self.source.has_weights
        detectors = list(zip(range(len(bests)), summary.problems.detectors(0), strict=False))
        for targets in self._together(len(bests), len(bands.log_odds) + 1, 0 if parts is None else parts.shape[1]):
            keys = None if parts is None else units.keys
            asked = _Asked(about, rivals, bests, targets, bands.log_odds, design, keys)
            tally = self.engine.run(BandTally(asked), self.source.pieces)
            for at, (target, detector) in enumerate(detectors[targets.start : targets.stop]):
                counted = detector.error_counts(bands.thresholds)
                squares = np.stack([self._squares(tally, at, k, bands.factors, parts) for k in range(2)], axis=1)
                least = rejected_by(bests[target].pav, asked.positions[at][::-1])
                rates = np.stack((counted.p_miss, counted.p_fa)), np.stack((least[0], 1.0 - least[1]))
                bands.add_squares(target, squares, np.stack(rates))
        return bands

    def _parts(self, keys: Keys) -> FloatArray:
        """What each group of units has of each stratum, times the factors of units, (n_strata, n_groups)."""
        design, group = self.design, dealt(keys)
        stratum, pairs = design.stratum_of_pairs, design.pairs
        found = np.zeros((len(design.home), int(group.max(initial=0)) + 1))
        np.add.at(found, (stratum, group[pairs.unit]), design.weight_of_pairs * pairs.factor * design.share[stratum])
        return found

    def _together(self, n_targets: int, n_places: int, n_units: int) -> Iterator[range]:
        """Detectors for which there is room in one pass, and one at least."""
        size = 8 * n_places * (4 * n_units + 4 * len(self.design.home))
        at_once = max(self.memory // 4 // size, 1)
        for first in range(0, n_targets, at_once):
            yield range(first, min(first + at_once, n_targets))

    def _squares(
        self, tally: BandTally, at: int, curve: int, factors: FloatArray, parts: FloatArray | None
    ) -> FloatArray:
        """Squares of influences at each prior, (3, n_priors), of actual or least errors of a detector.

        Through both classes, targets, and others.
        """
        strata, once = self.design.home, tally.once[at, curve]
        below, sides = np.cumsum(once, axis=1), (strata == tally.asked.targets[at], strata != tally.asked.targets[at])
        if parts is None:
            total = np.cumsum(tally.squared[at, curve], axis=1)
            size = below[:, -1:]
            share = np.divide(below, size, out=np.zeros(below.shape), where=size > 0.0)
            rest = np.maximum(total[:, -1:] - total, 0.0)
            squares = np.square(1.0 - share) * total + np.square(share) * rest
            apart = [squares[some].sum(axis=0)[:-1][::-1] for some in sides]
            of_sides = [np.square(own) * one for own, one in zip(factors, apart, strict=True)]
            return np.stack((sum(of_sides), *of_sides))
        sizes = self.design.weights.totals * self.design.share
        shares, both = below / sizes[:, None], list[FloatArray]()
        for some, own, by_unit in zip(sides, factors, tally.by_unit[at, curve], strict=True):
            influences = np.cumsum(by_unit, axis=1) - parts[some].T @ shares[some]
            both.append(own * influences[:, :-1][:, ::-1])
        return np.stack([np.einsum("up,up->p", one, one) for one in (sum(both), *both)])


def rejected_by(pav: Pav, n_blocks: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the shares of targets and of others in so many of the first PAV blocks."""
    tar, non = (np.append(0, np.cumsum(own))[n_blocks] / own.sum() for own in (pav.n_tar, pav.n_non))
    return tar, non


_LINEARISED = (CURVE, "subset_c_avg", "subset_mean_by_size")

"""Figures among those of all classes that have no replicates."""


_WEIGHTS = 1 << 21

"""Weights of trials that are multiplied at once."""


@dataclass(frozen=True, eq=False)
class _AskedClassReplicates:
    """What a pass is about.

    Attributes
    ----------
    about : (int, tuple of str, bool)
        System, classes, and whether trials have weights.
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

    about: tuple[int, tuple[str, ...], bool]
    portions: Portions
    begins: Mapping[Portion, int]
    row: IntArray
    shape: tuple[int, int, int]
    seed: int
    numbers: range


class ClassReplicateTally(Locked, Work):
    """Costs of trials times the weights of their units, by figure, stratum and replicate.

    The last figure are the weights themselves; the first replicate are the trials as they are. Weights follow from
    seed, replicate and key of a unit, so that nothing is shared between batches.

    Parameters
    ----------
    asked : _AskedClassReplicates
    """

    words = "counting replicates"

    def __init__(self, asked: _AskedClassReplicates) -> None:
        super().__init__()
        self.asked = asked
        self.sums: FloatArray = np.zeros(asked.shape)
        self.n_bytes = 2 * self.sums.nbytes

    def empty(self) -> Self:
        """See `Work.empty`."""
        return type(self)(self.asked)

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        system, classes, weight = self.asked.about
        for piece in pieces:
            for block in blocks_of(piece, system, classes, weight=weight, units=True):
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

    def __getstate__(self) -> dict[str, Any]:
        """Sums of nothing are not sent to every worker."""
        return super().__getstate__() if self.sums.any() else {"asked": self.asked}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if len(state) == 1:
            self.__init__(self.asked)  # type: ignore[misc]

    def __add__(self, other: Self) -> Self:
        """See `Work.__add__`."""
        found = self.empty()
        found.sums = self.sums + other.sums
        return found


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
        at_once = max(self.memory // (32 * n_strata * most) // BLOCK, 1) * BLOCK
        found: dict[Figure, list[FloatArray]] = {}
        has_all = list[BoolArray]()
        for first in range(0, self.resampling.bootstrap, at_once):
            numbers = range(first, min(first + at_once, self.resampling.bootstrap))
            room = self.memory // (32 * n_strata * (1 + len(numbers)))
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
        about = self.system, self.source.classes, self.source.has_weights
        shape = int(drawn.sum()) + 1, len(design.home), 1 + len(numbers)
        asked = _AskedClassReplicates(about, self.portions, begins, row, shape, self.resampling.seed, numbers)
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
