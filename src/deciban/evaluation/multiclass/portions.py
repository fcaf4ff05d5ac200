"""Uncertainty of multiclass metrics: their portions with the costs of trials, all in memory or block by block.

What was best for all trials (maps, PAV blocks) stays as it is.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from scipy.linalg import helmert
from scipy.special import logit

from deciban.core.ranks.hull import Pav
from deciban.core.resampling.class_sums import ClassMeans, CostSums, DealtUnits, Part, centre_of
from deciban.core.resampling.clusters import ClusterDesign, Groups
from deciban.core.resampling.intervals import ROUNDING, Estimate, NothingSeen, Scale
from deciban.core.resampling.replicates import CellSums, LeftOut, Multipliers, cell_sums, replicates_of
from deciban.core.resampling.units import TrialUnits
from deciban.core.rules.proper import softplus
from deciban.core.training.multiclass_objective import ClassObjective, ClassTrials
from deciban.core.training.trust_region import Minimum, minimize
from deciban.evaluation.bands import Bands
from deciban.evaluation.influences import shifts_of
from deciban.evaluation.linear_figures import OF_MAPS
from deciban.evaluation.multiclass.class_figures import (
    MOST_KEPT,
    NO_COSTS,
    AtHand,
    CalibratedWithout,
    ClassFigure,
    ClassFigureCosts,
    Gathered,
    axis_of,
    keeps_curve,
    rows_of_rates,
    subset_figures,
)
from deciban.evaluation.multiclass.detector_costs import (
    DETECTOR_FIGURES,
    POINT_FIGURES,
    BestOfDetector,
    DetectorBands,
    DetectorInfluences,
    block_of,
    detector_groups,
    effective_of,
)
from deciban.evaluation.multiclass.result import ClassEvaluation
from deciban.evaluation.multiclass.summary import ClassSummary, ClassUnitTrials, InTurn
from deciban.evaluation.summary import N_GROUPS, Resampling
from deciban.evaluation.uncertainty import Bootstrap, Figure, Uncertainty
from deciban.multiclass import PairwiseAnalysis
from deciban.multiclass.costs import calibrated_surprises
from deciban.multiclass.tables import ByClass, Pairs, ScoredClasses, scores_of
from deciban.types import BoolArray, FloatArray, IntArray

PAIR_FIGURES = ("cllr", "min_cllr", "calibration_loss")


_PAIR_SUMS = 1 << 21
"""Sums of costs by unit that pairs take at once."""


def add_pairs(
    gathered: Gathered, summary: ClassSummary, found: PairwiseAnalysis, means: ClassMeans, left_out: LeftOut | None
) -> None:
    """Add the figures of pairs of trials in memory.

    Parameters
    ----------
    gathered : Gathered
    summary : ClassSummary
        With units and pairs.
    found : PairwiseAnalysis
        Of this summary.
    means : ClassMeans
    left_out : LeftOut or None
        Possible groups of units, where minima are corrected.
    """
    pairs, design, n = summary.problems.pairs(), means.design, len(PAIR_FIGURES)
    assert isinstance(pairs, Pairs)  # noqa: S101  # they were analysed, and units are known of trials in memory only
    leads, at_once = pairs.leads, max(_PAIR_SUMS // (n * design.n_pairs), 1)
    for i in range(1, len(leads.lengths)):
        for first in range(0, i, at_once):
            others = np.arange(first, min(first + at_once, i))
            pavs = {(i, j): scores_of(pairs.sides(i, j)).pav for j in others.tolist()}
            parts = list(pair_parts(leads, pavs, {pair: n * k for k, pair in enumerate(pavs)}))
            sums = CostSums.empty(centre_of(parts, means.block, (n * len(others), len(design.home))), design)
            for part in parts:
                sums.add(part, means.block)
            shifts = None if left_out is None else _shifts(pairs, left_out, found.min_cllr[i, others], i, others)
            figures = list(pair_figures(summary.classes, found, design.clusters.effective, i, others, shifts))
            gathered.add(figures, sums)


def pair_parts(
    leads: ByClass, pavs: Mapping[tuple[int, int], Pav], rows: Mapping[tuple[int, int], int]
) -> Iterator[Part]:
    """Yield what the trials of each class cost in pairs, whose figures begin at these rows."""
    of_class = defaultdict[int, list[tuple[int, int]]](list)
    for (i, j), row in rows.items():
        of_class[i].append((j, row))
        of_class[j].append((i, row))
    for k, own in enumerate(leads.slices):
        if own.stop > own.start and of_class[k]:
            first = np.array([row for _, row in of_class[k]])
            places = (first[:, None] + np.arange(len(PAIR_FIGURES))).ravel()
            costs = [_pair_costs(leads, k, j, pavs[max(k, j), min(k, j)]) for j, _ in of_class[k]]
            yield Part(places, own, np.concatenate(costs))


def _pair_costs(leads: ByClass, k: int, j: int, pav: Pav) -> FloatArray:
    """Return costs of the trials of a class when it is compared with another one, (3, n_trials)."""
    lead = leads.values[j, leads.slices[k]]
    llr = pav.llr[block_of(pav, lead)] if k > j else -pav.llr[block_of(pav, -lead)]
    act, least = softplus(-lead) / math.log(2), softplus(-llr) / math.log(2)
    with np.errstate(invalid="ignore"):
        costs = 0.5 * np.stack((act, least, act - least))
    return np.asarray(np.where(np.isfinite(costs), costs, 0.0))


def pair_figures(
    classes: Sequence[str],
    found: PairwiseAnalysis,
    seen: IntArray,
    i: int,
    others: IntArray,
    shifts: FloatArray | None = None,
) -> Iterator[ClassFigure]:
    """Figures of a class and each of some others, pair by pair."""
    values = {what: getattr(found, what) for what in PAIR_FIGURES}
    for at, j in enumerate(others.tolist()):
        groups = Groups.of([i, j], len(classes))
        few = int(min(seen[i], seen[j]))
        unbounded, entropy = NothingSeen(few, math.inf), NothingSeen(few, is_entropy=True, ceiling=1.0)
        for what in PAIR_FIGURES:
            value = float(values[what][i, j])
            nothing = (entropy if value <= ROUNDING else None) if what == "min_cllr" else unbounded
            scale: Scale = "identity" if what == "calibration_loss" else "log"
            limits = (0.0, 1.0 if what == "min_cllr" else math.inf)
            shift = None if shifts is None or what == "cllr" else float(shifts[at])
            if shift is not None and what == "calibration_loss":
                shift = -shift
            is_refused = what != "min_cllr" and values["min_cllr"][i, j] <= ROUNDING
            how: Any = {"shift": shift, "is_minimum": what != "cllr", "is_refused": is_refused}
            name = (f"pairwise_{what}", classes[j], classes[i])
            yield ClassFigure(name, value, NO_COSTS, groups, scale, nothing, limits, **how)


def _shifts(pairs: Pairs, left_out: LeftOut, whole: FloatArray, i: int, others: IntArray) -> FloatArray:
    """What to add to the least Cllr of a class and each of some others for new units."""
    parts = np.empty((left_out.n_groups, len(others)))
    for number in range(left_out.n_groups):
        stays = left_out.stays(number) > 0.0
        rows = [np.flatnonzero(stays[own]) + own.start for own in pairs.leads.slices]
        parts[number] = [scores_of(pairs.sides(i, j, rows)).recalibrated.cllr() for j in others.tolist()]
    return shifts_of(whole, parts, OF_MAPS)


Portion: TypeAlias = tuple[str, int]
"""Figures of all classes, rates, those of a detector, or of a class and those before it."""

ALL, RATES, DETECTOR, PAIRS = "all", "rates", "detector", "pairs"


@dataclass(frozen=True, eq=False)
class Portions:
    """Figures of an evaluation, portion by portion. Can be pickled.

    Attributes
    ----------
    summary : ClassSummary
        What was asked for; see `of`.
    found : ClassEvaluation
    design : ClusterDesign
        Of all trials.
    bests : tuple of tuples of BestOfDetector
        Of each target, for each prior of the rivals.
    pavs : mapping of (int, int) to Pav
        Of every class and those before it.
    """

    summary: ClassSummary
    found: ClassEvaluation
    design: ClusterDesign
    bests: tuple[tuple[BestOfDetector, ...], ...]
    pavs: Mapping[tuple[int, int], Pav]

    @classmethod
    def of(
        cls, summary: ClassSummary, found: ClassEvaluation, design: ClusterDesign, pavs: Mapping[Any, Pav]
    ) -> Portions:
        """From a summary of which detectors were counted, and its evaluation."""
        figures, log_odds = summary.figures, np.asarray(logit(np.array(summary.figures.p_target)))
        places = [log_odds] if figures.p_out_of_set is None else [log_odds[k : k + 1] for k in range(len(log_odds))]
        n_targets = len(summary.classes) - (figures.p_out_of_set is not None)
        bests = tuple(
            tuple(
                BestOfDetector.of(one, own, effective_of(design, detector_groups(rivals, target)))
                for target, one in zip(range(n_targets), detectors, strict=False)
            )
            for own, rivals, detectors in (
                (own, rivals, summary.problems.detectors(at))
                for at, (own, rivals) in enumerate(zip(places, figures.rivals(len(summary.classes)), strict=True))
            )
        )
        bare = replace(summary, problems=InTurn.empty(summary.classes), accepted=None, whole=None)
        return cls(bare, found, design, bests, pavs if found.pairwise is not None else {})

    @property
    def names(self) -> list[Portion]:
        """All of them."""
        n = len(self.design.seen)
        pairs = [(PAIRS, i) for i in range(1, n)] if self.found.pairwise is not None else []
        return [(ALL, 0), (RATES, 0), *((DETECTOR, k) for k in range(len(self.bests[0]))), *pairs]

    def size(self, name: Portion) -> int:
        """About how many figures a portion has."""
        what, at = name
        n = len(self.design.seen)
        n_of_all = 2 * n + 60 + 5 * len(self.summary.figures.p_target)
        sizes = {ALL: n_of_all, RATES: rows_of_rates(n), DETECTOR: len(DETECTOR_FIGURES), PAIRS: 3 * at}
        return sizes[what]

    def each(self, name: Portion) -> int:
        """How many figures of a portion share a row of sums: pairs in both orders, and rates of all classes."""
        return len(self.design.seen) if name[0] == RATES else 1

    def at_hand(self, trials: ScoredClasses, units: TrialUnits, stratum: IntArray | None) -> AtHand:
        """Trials of which costs are asked, with the position of what has a mean of its own; the class if left out."""
        calibration = self.found.calibration if math.isfinite(self.found.calibration.scale) else None
        how: Any = {"stratum": stratum, "calibration": calibration}
        costs = ClassUnitTrials.of(trials, self.summary.prior, units, **how)
        return AtHand(costs, InTurn(trials, self.summary.figures.rivals(len(self.design.seen)), has_pairs=True))

    def figures(self, name: Portion, at_hand: AtHand) -> list[ClassFigure]:
        """The figures of a portion in the order of their positions; of pairs each of them twice."""
        what, at = name
        if what == RATES:
            return [
                one for row in ClassFigureCosts(self.found, at_hand.costs, self.design).rate_figures() for one in row
            ]
        if what == PAIRS:
            assert self.found.pairwise is not None  # noqa: S101  # it is a portion
            return list(
                pair_figures(self.summary.classes, self.found.pairwise, self.design.effective, at, np.arange(at))
            )
        return self._with_costs([name], at_hand)[name]

    def parts(self, begins: Mapping[Portion, int], at_hand: AtHand) -> Iterator[Part]:
        """What the trials cost in the figures of some portions, which begin at these positions."""
        chosen = [name for name in begins if name[0] in (ALL, DETECTOR)]
        for name, figures in self._with_costs(chosen, at_hand).items():
            if figures:
                own = begins[name] + np.arange(len(figures))
                yield Part(own, slice(0, at_hand.n_trials), np.stack([one.costs for one in figures]))
        if (RATES, 0) in begins:
            rates = np.stack(list(ClassFigureCosts(self.found, at_hand.costs, self.design).rate_rows()))
            yield Part(begins[RATES, 0] + np.arange(len(rates)), slice(0, at_hand.n_trials), rates)
        of_pairs = {at: begin for (what, at), begin in begins.items() if what == PAIRS}
        if of_pairs:
            rows = {(i, j): begin + len(PAIR_FIGURES) * j for i, begin in of_pairs.items() for j in range(i)}
            yield from pair_parts(Pairs.of(at_hand.problems.trials).leads, self.pavs, rows)

    def _with_costs(self, names: Sequence[Portion], at_hand: AtHand) -> dict[Portion, list[ClassFigure]]:
        """The finite figures of all classes, and of detectors, with their costs."""
        found: dict[Portion, list[ClassFigure]] = {}
        if not names:
            return found
        curve = list[ClassFigure]()
        of_all = (ALL, 0) in names
        how: Any = {"bests": self.bests, "take_curve": curve.extend if of_all else None}
        detectors = DetectorInfluences(self.summary, self.found, at_hand, self.design, **how)
        for target, figures in enumerate(detectors):
            if (DETECTOR, target) in names:
                found[DETECTOR, target] = _finite(figures)
        if of_all:
            costs = ClassFigureCosts(self.found, at_hand.costs, self.design)
            subsets = subset_figures(self.found.subsets, self.summary.figures.p_target[0], at_hand)
            some = [*costs.rules(), *costs.decisions(), *detectors.points(), *subsets]
            found[ALL, 0] = [*_finite(some), *curve]
        return found


def _finite(figures: Sequence[ClassFigure]) -> list[ClassFigure]:
    return [one for one in figures if math.isfinite(one.value)]


_PRECISE = 1e-6
"""What a step more would gain, relative to the value; it is taken into account."""


def calibrated_without(summary: ClassSummary, found: ClassEvaluation, left_out: LeftOut) -> CalibratedWithout | None:
    """Train without each group; None where infinite scores or a scale of 0 decide, or nothing was trained.

    Parameters
    ----------
    summary : ClassSummary
        Of all trials, with units.
    found : ClassEvaluation
        Of this summary.
    left_out : LeftOut
        Possible groups.
    """
    problems, calibration = summary.problems, found.calibration
    is_open = math.isfinite(found.min_cllr) and calibration.scale > 0.0 and not found.n_infinite
    if not isinstance(problems, InTurn) or not is_open:
        return None
    n, trials = found.n_classes, problems.trials
    order = np.concatenate([trials.rows(k) for k in range(n)])
    fixed, basis = np.append(calibration.scale, calibration.offset), np.zeros((n + 1, n))
    basis[0, 0], basis[1:, 1:] = calibration.scale, helmert(n).T
    start, costs, parts = np.zeros(n), np.zeros(len(order)), []
    whole = _objective(trials, order, left_out.share, fixed, basis)
    at = whole(start)
    if not at.is_finite:
        return None
    first = Minimum(start, start, at, math.inf, 0, 1, converged=True, flat=0)
    for number, (weights, _) in enumerate(left_out.weights()):
        how: Any = {"reuse": True, "precise": _PRECISE, "after": first, "max_evaluations": 20}
        least = minimize(_objective(trials, order, weights, fixed, basis), start, **how)
        parts.append(least.least / math.log(2))
        scale, *offsets = fixed + basis @ least.best
        for side in left_out.sides:
            own = np.flatnonzero(side == number)
            if not len(own):
                continue
            some = replace(trials, loglik=trials.loglik[order[own]], label=trials.label[order[own]], weights=None)
            found_costs = calibrated_surprises(some, float(scale), np.array(offsets))
            costs[own] += found_costs / len(left_out.sides)
    return CalibratedWithout(max((len(parts) - 1) * (found.min_cllr - float(np.mean(parts))), 0.0), costs)


def _objective(
    trials: ScoredClasses, order: IntArray, weights: FloatArray, fixed: FloatArray, basis: FloatArray
) -> ClassObjective:
    """Cllr in nats of trials in an order, with what each contributes to the mean of its class, around a map."""
    some, n = np.flatnonzero(weights), trials.n_classes
    rows, prior = order[some], np.full(n, 1.0 / n)
    few = ClassTrials(trials.loglik[rows][:, None, :], trials.label[rows], prior, weights[some])
    return ClassObjective(few, np.log(prior), fixed, basis, np.zeros(n))


class ClassReplicates:
    """Replicates of sums of class means, figure by figure.

    Trained maps and best thresholds stay as they are: a replicate is what the same decisions cost on the trials that it
    draws. A class keeps its weight, and so does each class of a group.

    Parameters
    ----------
    means : ClassMeans
    resampling : Resampling
    """

    def __init__(self, means: ClassMeans, resampling: Resampling) -> None:
        self.means, self.resampling = means, resampling
        self.shares = means.design.weights.totals * means.design.share
        self.found: dict[Figure, tuple[FloatArray, float]] = {}
        self.has_all = np.zeros(0, np.bool_)
        self._trials = self._sums(np.ones(means.n_trials))

    def _sums(self, costs: FloatArray) -> CellSums:
        return cell_sums(self.means.units, self.means.block.stratum, len(self.shares), self.means.share * costs)

    def add(self, figures: Sequence[ClassFigure]) -> None:
        """Draw replicates of figures that are finite."""
        if not figures:
            return
        sums = [self._sums(one.costs) for one in figures]

        def figures_of(weights: Multipliers) -> tuple[FloatArray, BoolArray]:
            total = self._trials.of(weights)
            has_all = np.asarray((total > 0.0).all(axis=0))
            scale = np.divide(self.shares[:, None], total, out=np.zeros(total.shape), where=total > 0.0)
            return np.stack([(one.of(weights) * scale).sum(axis=0) for one in sums], axis=1), has_all

        keys = self.means.units.keys
        asked = self.resampling
        drawn, self.has_all = replicates_of(figures_of, keys, seed=asked.seed, n_replicates=asked.bootstrap)
        whole, _ = figures_of(np.ones((len(keys), 1), np.uint8))
        names = [one.name for one in figures]
        self.found.update(zip(names, zip(drawn.T, whole[0].tolist(), strict=True), strict=True))

    def bootstrap(self, estimates: Mapping[Figure, Estimate], still: AbstractSet[Figure] = frozenset()) -> Bootstrap:
        """What was drawn, once it is known what figures are, and which are 0 whatever is drawn."""
        zeros = {name: (np.zeros_like(self.found[name][0]), 0.0) for name in still}
        return Bootstrap.of(self.found | zeros, self.has_all, estimates, self.resampling)


def class_uncertainty_of(summary: ClassSummary, found: ClassEvaluation, resampling: Resampling) -> Uncertainty | None:
    """Return the uncertainty of a multiclass evaluation; None if no class has two units.

    Parameters
    ----------
    summary : ClassSummary
        With units.
    found : ClassEvaluation
        Of this summary.
    resampling : Resampling
    """
    trials = summary.units
    if trials is None:
        return None
    means, n_units, keep = trials.means(), trials.units.n_units, resampling.keep
    design = means.design.clusters
    if design.n_units < 2:
        return None
    replicates = ClassReplicates(means, resampling) if resampling.bootstrap else None
    left_out = LeftOut(means, N_GROUPS) if resampling.optimism else None  # unasked not: it takes longer than the rest
    left_out = left_out if left_out is not None and left_out.is_possible else None
    without = None if left_out is None else calibrated_without(summary, found, left_out)
    at_hand, keeps = AtHand.of_summary(summary), keeps_curve(n_units, len(axis_of(summary)), keep)
    gathered, costs = Gathered(means.design, keeps_curve=keeps), ClassFigureCosts(found, trials, design, without)
    dealt = DealtUnits(means.design, None if means.are_single else means.units.keys, Bands.MOST_UNITS)
    bands = DetectorBands(found, dealt, summary.figures.rivals(found.n_classes)[0], block=means.block)
    how: Any = {"left_out": left_out, "bands": bands}
    take_curve = partial(gathered.add_costs, means=means, keep=keeps)
    detectors = DetectorInfluences(summary, found, at_hand, design, take_curve=take_curve, **how)
    n_of_all = 16 + (len(found.points) + 1) * len(POINT_FIGURES)  # at most so many are about all classes together
    numbers = n_of_all, n_of_all + detectors.n_targets * len(DETECTOR_FIGURES)
    of_all, of_classes = (n * n_units <= MOST_KEPT if keep is None else keep for n in numbers)

    def add(figures: Iterable[ClassFigure], *, keep: bool) -> None:
        some = [one for one in figures if math.isfinite(one.value)]
        if replicates is not None:
            replicates.add(some)
        gathered.add_costs(some, means, keep=keep)

    add([*costs.rules(), *costs.decisions()], keep=of_all)
    for row, figures in zip(costs.rate_rows(), costs.rate_figures(), strict=True):
        gathered.add_rates(figures, means.sums(row[None]))
    for some in detectors:
        add(some, keep=of_classes)
    add(detectors.points(), keep=of_all)
    gathered.add_costs(subset_figures(found.subsets, summary.figures.p_target[0], at_hand), means)
    if found.pairwise is not None:
        add_pairs(gathered, summary, found.pairwise, means, left_out)
    drawn = None if replicates is None else replicates.bootstrap(gathered.estimates, gathered.still)
    return gathered.uncertainty(trials.units, summary, found, bands.rates, resampling.level, drawn)
