"""What trials cost in a detector, one class against the rest, and what its decisions cost where they are the best."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TypeAlias

import numpy as np
from scipy.special import expit

from deciban.core.ranks.hull import Pav
from deciban.core.ranks.operating import default_error
from deciban.core.resampling.best import BestDecisions
from deciban.core.resampling.cells import cells_of
from deciban.core.resampling.class_design import ClusterDesign, Groups
from deciban.core.resampling.left_out import LeftOut
from deciban.core.resampling.linearised import LinearCosts, crossing_slopes
from deciban.core.resampling.variances import ClassRate
from deciban.core.rules.proper import softplus
from deciban.evaluation.linear_figures import OF_MAPS, LinearFigure, crossing_of
from deciban.evaluation.optimism import chosen_without
from deciban.metrics import SortedScores
from deciban.multiclass.tables import Detectors
from deciban.types import AnyArray, FloatArray, IntArray

Minimal: TypeAlias = tuple[FloatArray, float | None]
"""What each trial adds to a minimum, and what to add to that for new units if it is known."""


def block_of(pav: Pav, scores: AnyArray) -> IntArray:
    """The PAV block of each score of the trials that it was made of."""
    return np.maximum(np.searchsorted(pav.low, scores, side="right") - 1, 0)


@dataclass(frozen=True, slots=True, eq=False)
class BestOfDetector:
    """What is best for all trials of a detector: costs of targets and of non-targets by the PAV block of their score.

    Attributes
    ----------
    pav : Pav
    costs : tuple of (2, n_blocks) arrays
        Of the equal error rate, of the least Cllr, and of the least cost at each prior.
    crossing : tuple of ClassRate
        Both error rates, as they add up to the equal error rate; empty if they do not.
    slopes : (float, float)
        How much false alarms fall and misses rise around it.
    """

    pav: Pav
    costs: tuple[FloatArray, ...]
    crossing: tuple[ClassRate, ...]
    slopes: tuple[float, float]

    @classmethod
    def of(cls, scores: SortedScores, log_odds: FloatArray, n_units: tuple[int, int]) -> BestOfDetector:
        """From the scores of a detector, at prior log odds of a target; ``n_units`` are those of both classes."""
        best, pav = BestDecisions.of(scores.pav.n_tar, scores.pav.n_non), scores.pav
        _, *slopes = crossing_slopes(scores.rocch, 1.0, n_units)
        _, crossing = crossing_of(scores.rocch, 1.0, n_units)
        own = slopes[0], slopes[1]
        return cls(pav, tuple(one.costs_by(best)[:, 0] for one in minima_of(log_odds, own)), crossing, own)


def minima_of(log_odds: FloatArray, slopes: tuple[float, float]) -> list[LinearFigure]:
    """EER, around which rates have these slopes, least Cllr, and least costs at each prior."""
    figures = [LinearFigure("eer", 0.0, 0.0, least=lambda best: best.crossing(1.0, slopes))]
    figures.append(
        LinearFigure("min_cllr", 0.0, 0.0, least=lambda best: best.log_cost(0.0) / math.log(2), rate=OF_MAPS)
    )
    return figures + [LinearFigure("min_cost", 0.0, 0.0, least=partial(_least_cost, float(x))) for x in log_odds]


def _least_cost(log_odds: float, best: BestDecisions) -> FloatArray:
    """Detection costs at the best threshold, not normalized."""
    return np.asarray(best.dcf(log_odds) * default_error(np.array(log_odds)))


class OneDetector:
    """One class against the rest: what trials cost.

    Parameters
    ----------
    detectors : Detectors
        Of the trials.
    target : int
    log_odds : (n_points,) array
        Of priors of the target.
    best : BestOfDetector
        Of all trials, of which these may be some.
    """

    def __init__(self, detectors: Detectors, target: int, log_odds: FloatArray, best: BestOfDetector) -> None:
        self.target, self.log_odds, self.best, self.prior = target, log_odds, best, detectors.prior
        self.llr, self.own = detectors.llrs.values[target], detectors.llrs.slices[target]
        rivals = detectors.prior.copy()
        rivals[target] = 0.0
        self.share = (rivals / rivals.sum())[detectors.llrs.label]
        self.share[self.own] = 1.0
        self.is_target = np.zeros(len(self.llr), np.bool_)
        self.is_target[self.own] = True

    def of_trials(self, costs: FloatArray, place: IntArray) -> FloatArray:
        """What each trial adds to the mean of its class, from costs (2, n_places) and the place of each trial."""
        found: FloatArray = costs[1][place] * self.share
        found[self.own] = costs[0][place[self.own]]
        return found

    def cllr(self) -> FloatArray:
        """What each trial adds to Cllr."""
        found: FloatArray = softplus(np.where(self.is_target, -self.llr, self.llr)) * self.share / (2.0 * math.log(2))
        return found

    def cost(self, at: int) -> FloatArray:
        """What each trial adds to the detection cost at the Bayes threshold of one of the priors."""
        log_odds = float(self.log_odds[at])
        costs = np.array([[float(expit(log_odds)), 0.0], [0.0, float(expit(-log_odds))]])
        return self.of_trials(costs, (self.llr >= -log_odds).astype(np.int64))

    @cached_property
    def block(self) -> IntArray:
        """The PAV block of each trial."""
        return block_of(self.best.pav, self.llr)

    def minima(self) -> list[Minimal]:
        """EER, least Cllr, and least costs at each prior: what is best for all trials costs so much."""
        return [(self.of_trials(costs, self.block), None) for costs in self.best.costs]


class DetectorInCells:
    """The same where all trials are at hand, counted in cells of scores.

    Parameters
    ----------
    one : OneDetector
    scores : SortedScores
        Of this detector.
    thresholds : (n,) array
        Others than those of its priors at which trials must be told apart.
    n_units : int
    """

    def __init__(self, one: OneDetector, scores: SortedScores, thresholds: FloatArray, n_units: int) -> None:
        self.scores, self.log_odds, self.slopes = scores, one.log_odds, one.best.slopes
        self.target, self.own, self.share, self.is_target = one.target, one.own, one.share, one.is_target
        self.cells = cells_of(scores.table, scores.pav, np.concatenate((-one.log_odds, thresholds)), n_units)
        self.linear = LinearCosts(scores.tar, scores.non, scores.pav, scores.rocch, self.cells)
        self.cell = self.cells.of(one.llr)

    def minima(self, left_out: LeftOut) -> list[Minimal]:
        """EER, least Cllr, and least costs at each prior: by what is best without the group of the unit.

        Trials that take part in the choice of a threshold or map cost less than others.
        """
        figures, whole = minima_of(self.log_odds, self.slopes), (self.linear.n_tar, self.linear.n_non)
        shifts, costs = chosen_without(figures, self.linear, whole, self.left(left_out))
        found = [left_out.held_out(of_class, self.cell) for of_class in costs]
        per_trial = np.where(self.is_target[:, None], found[0], found[1] * self.share[:, None])
        return list(zip(per_trial.T, shifts.tolist(), strict=True))

    def left(self, left_out: LeftOut) -> tuple[FloatArray, FloatArray]:
        """Targets and non-targets in cells without each group; trials count as they do in the scores."""
        n_cells, totals = self.cells.n_cells, (self.scores.non.total, self.scores.tar.total)
        place, n_groups = self.cell + n_cells * self.is_target, left_out.n_groups
        tables = left_out.tables(place, 2 * n_cells, self.share, makes_up=True).reshape(n_groups, 2, n_cells)
        kept = left_out.tables(self.is_target.astype(np.int64), 2, self.share, makes_up=False)
        found = tables * (kept * totals / tables.sum(axis=2))[:, :, None]
        return found[:, 1], found[:, 0]


def detector_groups(prior: FloatArray, target: int) -> Groups:
    """Return a target, and its rivals as this prior weighs them."""
    rivals = prior.copy()
    rivals[target] = 0.0
    return Groups(np.stack((np.eye(len(prior))[target], rivals / rivals.sum())))


def effective_of(design: ClusterDesign, groups: Groups) -> tuple[int, int]:
    """Return the effective numbers of units of both groups, rounded down."""
    tar, non = (max(math.floor(design.size(own).n_clusters + 1e-9), 1) for own in groups.weights)
    return tar, non
