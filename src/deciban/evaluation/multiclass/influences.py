"""Uncertainty of the metrics of many classes whose trials are in memory, with replicates and corrected minima."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import helmert

from deciban.core.resampling.cell_sums import CellSums, cell_sums
from deciban.core.resampling.class_sums import ClassMeans, DealtUnits
from deciban.core.resampling.intervals import Estimate
from deciban.core.resampling.replicates import LeftOut, Multipliers, replicates_of
from deciban.core.training.multiclass_objective import ClassObjective, ClassTrials
from deciban.core.training.trust_region import Minimum, minimize
from deciban.evaluation.bands import Bands
from deciban.evaluation.bootstrap import Bootstrap
from deciban.evaluation.multiclass.class_figures import (
    MOST_KEPT,
    AtHand,
    CalibratedWithout,
    ClassFigure,
    ClassFigureCosts,
    Gathered,
    axis_of,
    keeps_curve,
    subset_figures,
)
from deciban.evaluation.multiclass.detector_costs import DetectorBands, DetectorInfluences
from deciban.evaluation.multiclass.portions import add_pairs
from deciban.evaluation.multiclass.summands import InTurn
from deciban.evaluation.uncertainty import Figure, Uncertainty
from deciban.evaluation.unit_trials import N_GROUPS, Resampling
from deciban.multiclass.costs import calibrated_surprises
from deciban.multiclass.tables import ScoredClasses
from deciban.types import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from deciban.evaluation.multiclass.result import ClassEvaluation
    from deciban.evaluation.multiclass.summary import ClassSummary

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
    """How sure the figures of an evaluation of many classes are; None if no class has two units.

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
    of_all, of_classes = (
        n * n_units <= MOST_KEPT if keep is None else keep
        for n in (detectors.n_points, detectors.n_points + detectors.n_figures)
    )

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
