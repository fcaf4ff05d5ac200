"""Figures of many classes in portions, with what trials of a part of the data cost in them.

The formulas are those of trials in memory. Here they are asked of one block of trials after the other, for the figures
of an evaluation that is known: what was best for all trials (maps, PAV blocks) stays as it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from scipy.special import logit

from deciban.core.ranks.hull import Pav
from deciban.core.resampling.class_sums import Part
from deciban.core.resampling.clusters import ClusterDesign
from deciban.core.resampling.units import TrialUnits
from deciban.core.rules.proper import softplus
from deciban.evaluation.multiclass.class_figures import (
    AtHand,
    ClassFigure,
    ClassFigureCosts,
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
from deciban.evaluation.multiclass.pair_influences import PAIR_FIGURES, pair_figures
from deciban.evaluation.multiclass.result import ClassEvaluation
from deciban.evaluation.multiclass.summands import Kept
from deciban.evaluation.multiclass.summary import ClassSummary
from deciban.evaluation.multiclass.unit_trials import ClassUnitTrials
from deciban.multiclass.tables import ByClass, Detectors, Pairs, ScoredClasses
from deciban.types import FloatArray, IntArray

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
        bare = replace(summary, problems=Kept((), None), posterior_odds=(), accepted=None, whole=None)
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
            yield from self._pairs(of_pairs, at_hand)

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

    def _pairs(self, begins: Mapping[int, int], at_hand: AtHand) -> Iterator[Part]:
        assert at_hand.scored is not None  # noqa: S101  # blocks have their scores
        leads = Pairs.of(at_hand.scored).leads
        for k, own in enumerate(leads.slices):
            if own.stop == own.start:
                continue
            others = [j for j in range(k) if k in begins] + [i for i in begins if i > k]
            if others:
                first = [begins[max(k, j)] + min(k, j) * len(PAIR_FIGURES) for j in others]
                places = (np.array(first)[:, None] + np.arange(len(PAIR_FIGURES))).ravel()
                yield Part(places, own, np.concatenate([self._pair(leads, k, j, own) for j in others]))

    def _pair(self, leads: ByClass, k: int, j: int, own: slice) -> FloatArray:
        """What trials of a class cost where it is told from another one, (3, n_trials)."""
        lead, pav = leads.values[j, own], self.pavs[max(k, j), min(k, j)]
        llr = pav.llr[block_of(pav, lead)] if k > j else -pav.llr[block_of(pav, -lead)]
        act, least = softplus(-lead) / math.log(2), softplus(-llr) / math.log(2)
        with np.errstate(invalid="ignore"):
            costs = 0.5 * np.stack((act, least, act - least))
        return np.asarray(np.where(np.isfinite(costs), costs, 0.0))


def _finite(figures: Sequence[ClassFigure]) -> list[ClassFigure]:
    return [one for one in figures if math.isfinite(one.value)]
