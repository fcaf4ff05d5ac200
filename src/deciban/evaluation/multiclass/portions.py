"""Multiclass metrics in portions, with the costs of a batch of trials.

The formulas are those of trials in memory. Here they are asked of one block of trials after the other, for the figures
of an evaluation that is known: what was best for all trials (maps, PAV blocks) stays as it is.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from scipy.special import logit

from deciban.core.ranks.hull import Pav
from deciban.core.resampling.class_sums import ClassMeans, CostSums, Part, centre_of
from deciban.core.resampling.clusters import ClusterDesign, Groups
from deciban.core.resampling.intervals import ROUNDING, NothingSeen
from deciban.core.resampling.rates import Scale
from deciban.core.resampling.replicates import LeftOut
from deciban.core.resampling.units import TrialUnits
from deciban.core.rules.proper import softplus
from deciban.evaluation.linear_figures import OF_MAPS
from deciban.evaluation.multiclass.class_figures import (
    NO_COSTS,
    AtHand,
    ClassFigure,
    ClassFigureCosts,
    Gathered,
    rows_of_rates,
    subset_figures,
)
from deciban.evaluation.multiclass.detector_costs import (
    DETECTOR_FIGURES,
    BestOfDetector,
    DetectorInfluences,
    block_of,
    detector_groups,
    effective_of,
)
from deciban.evaluation.multiclass.result import ClassEvaluation
from deciban.evaluation.multiclass.summands import ClassUnitTrials, InTurn
from deciban.evaluation.multiclass.summary import ClassSummary
from deciban.evaluation.optimism import shifts_of
from deciban.evaluation.uncertainty import Figure
from deciban.multiclass import PairwiseAnalysis
from deciban.multiclass.tables import ByClass, Detectors, Pairs, ScoredClasses
from deciban.types import FloatArray, IntArray

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
            pavs = {(i, j): pairs.scores(i, j).pav for j in others.tolist()}
            parts = list(pair_parts(leads, pavs, {pair: n * k for k, pair in enumerate(pavs)}))
            sums = CostSums.empty(centre_of(parts, means.block, (n * len(others), len(design.home))), design)
            for part in parts:
                sums.add(part, means.block)
            shifts = None if left_out is None else _shifts(pairs, left_out, found.min_cllr[i, others], i, others)
            figures = list(pair_figures(summary.classes, found, design.clusters.effective, i, others, shifts))
            gathered.add(figures, sums, each=2)


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
    """What trials of a class cost where it is told from another one, (3, n_trials)."""
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
    """Figures of a class and each of some others, pair by pair, each of them twice: the classes in either order."""
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
            for pair in ((classes[j], classes[i]), (classes[i], classes[j])):
                name: Figure = (f"pairwise_{what}", *pair)
                yield ClassFigure(name, value, NO_COSTS, groups, scale, nothing, limits, **how)


def _shifts(pairs: Pairs, left_out: LeftOut, whole: FloatArray, i: int, others: IntArray) -> FloatArray:
    """What to add to the least Cllr of a class and each of some others for new units."""
    parts = np.empty((left_out.n_groups, len(others)))
    for number in range(left_out.n_groups):
        stays = left_out.stays(number) > 0.0
        rows = [np.flatnonzero(stays[own]) + own.start for own in pairs.leads.slices]
        parts[number] = [pairs.scores(i, j, rows).recalibrated.cllr() for j in others.tolist()]
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
        bare = replace(summary, problems=InTurn.empty(summary.classes), counted_odds=None, accepted=None, whole=None)
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
        return {RATES: len(self.design.seen), PAIRS: 2}.get(name[0], 1)

    def at_hand(self, trials: ScoredClasses, units: TrialUnits, stratum: IntArray | None) -> AtHand:
        """Trials of which costs are asked, with the position of what has a mean of its own; the class if left out."""
        calibration = self.found.calibration if math.isfinite(self.found.calibration.scale) else None
        how: Any = {"stratum": stratum, "calibration": calibration}
        costs = ClassUnitTrials.of(trials, self.summary.prior, units, **how)
        rivals = self.summary.figures.rivals(len(self.design.seen))
        kept: dict[int, Detectors] = {}

        def detectors(at: int) -> Detectors:
            if at not in kept:
                kept[at] = Detectors.of(trials, rivals[at])
            return kept[at]

        return AtHand(costs, detectors, trials)

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
            yield from self._rates(begins[RATES, 0], at_hand)
        of_pairs = {at: begin for (what, at), begin in begins.items() if what == PAIRS}
        if of_pairs:
            rows = {(i, j): begin + len(PAIR_FIGURES) * j for i, begin in of_pairs.items() for j in range(i)}
            yield from pair_parts(Pairs.of(at_hand.scored).leads, self.pavs, rows)

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

    def _rates(self, begin: int, at_hand: AtHand) -> Iterator[Part]:
        rows = np.stack(list(ClassFigureCosts(self.found, at_hand.costs, self.design).rate_rows()))
        yield Part(begin + np.arange(len(rows)), slice(0, at_hand.n_trials), rows)


def _finite(figures: Sequence[ClassFigure]) -> list[ClassFigure]:
    return [one for one in figures if math.isfinite(one.value)]
