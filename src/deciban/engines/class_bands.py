"""Standard errors of the Bayes error curves of detectors in pieces: units counted by place among the thresholds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from deciban.core.ranks.hull import Pav
from deciban.core.resampling.best import BestDecisions
from deciban.core.resampling.class_sums import UnitDesign, entries_of
from deciban.core.resampling.unit_counts import groups_of_units
from deciban.core.resampling.units import Keys, TrialUnits
from deciban.engines.class_problems import TrialBlock, blocks_of
from deciban.engines.work import Engine, Locked, Work
from deciban.evaluation.bands import Bands
from deciban.evaluation.multiclass.detector_bands import BandErrors
from deciban.evaluation.multiclass.detector_costs import BestOfDetector, OneDetector
from deciban.evaluation.multiclass.portions import Portions
from deciban.evaluation.multiclass.summary import ClassSummary
from deciban.io.shards.pieces import Piece, ShardSource
from deciban.multiclass.tables import Detectors
from deciban.types import FloatArray, IntArray


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
                known = range(1 if found.bounds else 2)
                squares = np.stack([self._squares(tally, at, k, bands.factors, parts) for k in known], axis=1)
                least = rejected_by(bests[target].pav, asked.positions[at][::-1])
                rates = np.stack((counted.p_miss, counted.p_fa)), np.stack((least[0], 1.0 - least[1]))
                bands.add_squares(target, squares, np.stack(rates[: len(known)]))
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
