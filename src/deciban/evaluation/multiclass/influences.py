"""Influences of units on the figures of many classes: costs of trials, averaged class by class, and their intervals.

Each figure is a sum of class means of what single trials cost. What was found as best (maps, thresholds) is held fixed,
as the derivative of a minimum with respect to its place is zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import helmert

from deciban.core.resampling.cell_sums import CellSums, cell_sums
from deciban.core.resampling.class_design import ClusterDesign, Groups
from deciban.core.resampling.class_shares import DealtUnits
from deciban.core.resampling.class_sums import ClassMeans
from deciban.core.resampling.intervals import ROUNDING, Estimate, NothingSeen
from deciban.core.resampling.replicates import LeftOut, Multipliers, replicates_of
from deciban.core.training.multiclass_objective import ClassObjective, ClassTrials
from deciban.core.training.trust_region import Minimum, minimize
from deciban.evaluation.bands import Bands
from deciban.evaluation.bootstrap import Bootstrap
from deciban.evaluation.multiclass.class_figures import NO_COSTS, ClassFigure, Collected
from deciban.evaluation.multiclass.curve_costs import STEP, AtHand, CurveSquares, SureCurve, axis_of
from deciban.evaluation.multiclass.detector_costs import DetectorBands, DetectorInfluences
from deciban.evaluation.multiclass.pair_influences import pair_squares
from deciban.evaluation.multiclass.subset_influences import subset_figures
from deciban.evaluation.multiclass.summands import InTurn
from deciban.evaluation.multiclass.unit_trials import ClassUnitTrials
from deciban.evaluation.uncertainty import KEPT_CURVES, Figure, Uncertainty
from deciban.evaluation.unit_trials import N_GROUPS, Resampling
from deciban.multiclass.costs import calibrated_surprises
from deciban.multiclass.tables import ScoredClasses
from deciban.types import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from deciban.evaluation.multiclass.result import ClassEvaluation
    from deciban.evaluation.multiclass.summary import ClassSummary

_PRECISE = 1e-6

"""What a step more would gain, relative to the value; it is taken into account."""


@dataclass(frozen=True, slots=True, eq=False)
class CalibratedWithout:
    """What the best maps cost that were trained without each group of units in turn, from the best of all on.

    Attributes
    ----------
    shift : float
        What to add to the least Cllr for new units, in bits.
    costs : (n_trials,) array
        Logarithmic costs of trials, class by class, by the map that was trained without the group of their unit, in
        nats; of two units, the mean of both. Trials that take part in the choice of a map cost less than others.
    """

    shift: float
    costs: FloatArray

    @classmethod
    def of(cls, summary: ClassSummary, found: ClassEvaluation, left_out: LeftOut) -> CalibratedWithout | None:
        """Train without each group; None where infinite scores or a scale of 0 decide, or parts of trials are gone.

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
        return cls(max((len(parts) - 1) * (found.min_cllr - float(np.mean(parts))), 0.0), costs)


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

    def bootstrap(self, estimates: Mapping[Figure, Estimate]) -> Bootstrap:
        """What was drawn, once it is known what figures are."""
        return Bootstrap.of(self.found, self.has_all, estimates, self.resampling)


_KEPT = 1 << 24

"""Influences that are kept without being asked for."""


_MANY = 100

"""Classes up to which every rate of the confusions has an interval."""


def no_loss(groups: Groups, costs: FloatArray = NO_COSTS) -> ClassFigure:
    """Return the calibration loss where calibration loses nothing, whatever is drawn."""
    return ClassFigure("calibration_loss", 0.0, costs, groups, "identity")


def lose_nothing(most_lost: float, most: float) -> bool:
    """Whether the scores are those of the best map: no trial costs more, compared with the most that one costs."""
    return most_lost <= ROUNDING * most


class ClassFigureCosts:
    """Figures of an evaluation of many classes, but for detectors and pairs, with what each trial costs.

    Parameters
    ----------
    found : ClassEvaluation
        Of all trials.
    trials : ClassUnitTrials
        All of them, or some.
    design : ClusterDesign
        Of all trials.
    without : CalibratedWithout, optional
        The best maps without each group of units, if minima are corrected.
    is_whole : bool
        Whether these are all trials: who asks for some of them looks himself whether calibration loses anything.
    """

    def __init__(
        self,
        found: ClassEvaluation,
        trials: ClassUnitTrials,
        design: ClusterDesign,
        without: CalibratedWithout | None = None,
        *,
        is_whole: bool = True,
    ) -> None:
        self.without, self.is_whole = without, is_whole
        self.found, self.trials, self.seen = found, trials, design.effective
        self.groups = Groups.apart(found.n_classes)
        self.label, self.values = trials.costs.label, trials.costs.values
        self.prior = found.prior[self.label]

    def nothing(self, heaviest: FloatArray, ceiling: float = math.inf) -> NothingSeen:
        """Of a figure that is 0 without errors: what it rises by if all trials of a class are wrong, class by class."""
        few = int(self.seen.min())
        return NothingSeen(few, float(np.max(heaviest * few / self.seen)), ceiling=ceiling)

    def rules(self) -> Iterator[ClassFigure]:
        """Means of soft decisions."""
        found, n, few, groups = self.found, self.found.n_classes, int(self.seen.min()), self.groups
        unbounded, top, lost = NothingSeen(few, math.inf), found.reference, are_separated(found)
        bits = self.values[0] / (n * math.log(2))
        make = partial(ClassFigure, groups=groups, is_refused=lost)
        yield make("cllr", found.cllr, bits, scale="log", nothing_seen=unbounded)
        for name in ("information", ("information", 0)):
            yield make(name, found.information, -bits, scale="complement", limits=(-math.inf, top))
        if self.trials.least is not None:
            best, shift = self.trials.least / (n * math.log(2)), None
            least, fixed = best, None
            if self.without is not None:
                least, shift, fixed = self.without.costs / (n * math.log(2)), self.without.shift, best
            entropy = NothingSeen(few, is_entropy=True, ceiling=top) if found.min_cllr <= ROUNDING else None
            how: Any = {"shift": shift, "fixed": fixed, "is_minimum": True}
            yield ClassFigure("min_cllr", found.min_cllr, least, groups, "log", entropy, (0.0, top), **how)
            back, told = None if shift is None else -shift, found.information_at[0].available or 0.0
            how |= {"shift": back, "fixed": None if fixed is None else -fixed}
            yield ClassFigure(("available", 0), told, -least, groups, "complement", None, (0.0, top), **how)
            if math.isfinite(found.cllr):
                loss = self._loss(bits, least, back, unbounded)
                yield loss if fixed is None else replace(loss, fixed=bits - fixed)
        bits = self.prior * self.values[1] / math.log(2)
        yield make("cross_entropy", found.cross_entropy, bits, scale="log", nothing_seen=unbounded)
        for k, one in enumerate(found.information_at[1:], 1):
            limits = (-math.inf, one.entropy)
            yield make(("information", k), one.delivered, -bits, scale="complement", limits=limits)
        quadratic = self.nothing(2.0 * found.prior, 2.0)
        yield make(
            "brier", found.brier, self.prior * self.values[2], scale="log", nothing_seen=quadratic, limits=(0.0, 2.0)
        )

    def _loss(self, bits: FloatArray, least: FloatArray, shift: float | None, unbounded: NothingSeen) -> ClassFigure:
        """What calibration loses; nothing, whatever is drawn, where the scores are those of the best map."""
        lost, value = bits - least, self.found.calibration_loss
        if self.is_whole and shift is None and lose_nothing(float(np.abs(lost).max()), float(np.abs(bits).max())):
            return no_loss(self.groups, np.zeros_like(lost))
        how: Any = {"shift": shift, "is_minimum": True, "is_refused": are_separated(self.found)}
        return ClassFigure("calibration_loss", value, lost, self.groups, "identity", unbounded, **how)

    def decisions(self) -> Iterator[ClassFigure]:
        """The rate of wrong decisions."""
        rate, wrong = self.found.error_rate, self.prior * (self.values[3] != self.label)
        yield ClassFigure("error_rate", rate, wrong, self.groups, limits=(0.0, 1.0), most=self.found.prior)

    def rate_rows(self) -> Iterator[FloatArray]:
        """Which trials are wrong and, where there are not many classes, which were taken for each of these: 0 or 1."""
        decided = self.values[3]
        yield (decided != self.label).astype(np.float64)
        for j in range(rows_of_rates(self.found.n_classes) - 1):
            yield (decided == j).astype(np.float64)

    def rate_figures(self) -> Iterator[list[ClassFigure]]:
        """For each of these and each class what its trials make of it: error rates, and rates of confusions."""
        found = self.found
        confused = found.confusion / found.confusion.sum(axis=1, keepdims=True)
        names: list[Figure] = [("class_error_rates", name) for name in found.classes]
        yield [self._rate(name, k, float(found.class_error_rates[k])) for k, name in enumerate(names)]
        for j, taken in enumerate(found.classes[: rows_of_rates(found.n_classes) - 1]):
            names = [("confusion", true, taken) for true in found.classes]
            yield [self._rate(name, k, float(confused[k, j])) for k, name in enumerate(names)]

    def _rate(self, name: Figure, k: int, value: float) -> ClassFigure:
        groups = Groups.of([k], self.found.n_classes)
        return ClassFigure(name, value, NO_COSTS, groups, limits=(0.0, 1.0), most=np.ones(1))


def are_separated(found: ClassEvaluation) -> bool:
    """Return whether no decision is wrong, or each class scores higher as a target than any other trial."""
    return found.error_rate == 0.0 or all(one["eer"] <= ROUNDING for one in found.detectors.values())


def remarks_on_classes(found: ClassEvaluation) -> tuple[str, ...]:
    """Return the notes on intervals that are refused."""
    separated = [name for name, one in found.detectors.items() if one["eer"] <= ROUNDING]
    if are_separated(found):
        words = "The classes are perfectly separated: no confidence intervals for means of costs (Cllr, information, "
        return (
            f"{words}Brier score, calibration loss), as no error was seen that could show how costly one would be.",
        )
    if separated:
        names = ", ".join(separated[:_NAMED]) + (
            "" if len(separated) <= _NAMED else f" and {len(separated) - _NAMED} more"
        )
        words = f"Perfectly separated from all other classes: {names}. Their Cllr and calibration loss have no "
        return (f"{words}confidence intervals.",)
    return ()


_NAMED = 3
"""Classes that a note names."""


def rows_of_rates(n_classes: int) -> int:
    """How many rows there are of `ClassFigureCosts.rate_rows`."""
    return 1 + (n_classes if n_classes <= _MANY else 0)


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
    means = trials.means()
    design = means.design.clusters
    if design.n_units < 2:
        return None
    replicates = ClassReplicates(means, resampling) if resampling.bootstrap else None
    left_out = LeftOut(means, N_GROUPS) if resampling.optimism else None  # unasked not: it takes longer than the rest
    left_out = left_out if left_out is not None and left_out.is_possible else None
    without = None if left_out is None else CalibratedWithout.of(summary, found, left_out)
    collected, costs = Collected(means, replicates), ClassFigureCosts(found, trials, design, without)
    at_hand, axis = AtHand.of_summary(summary), axis_of(summary)
    room = _KEPT if resampling.keep else KEPT_CURVES
    curve = CurveSquares(means, keeps=resampling.keep is not False and len(axis) * trials.units.n_units <= room)
    dealt = DealtUnits(means.design, None if means.are_single else means.units.keys, Bands.MOST_UNITS)
    bands = DetectorBands(found, dealt, summary.figures.rivals(found.n_classes)[0], block=means.block)
    detectors = DetectorInfluences(summary, found, at_hand, design, left_out=left_out, take_curve=curve, bands=bands)
    of_all, of_classes = (
        n * trials.units.n_units <= _KEPT if resampling.keep is None else resampling.keep
        for n in (detectors.n_points, detectors.n_points + detectors.n_figures)
    )
    collected.add([*costs.rules(), *costs.decisions()], keep=of_all)
    for row, figures in zip(costs.rate_rows(), costs.rate_figures(), strict=True):
        spread = means.sums(row[None]).spread(slice(None), costs.groups)[0]
        for k, one in enumerate(figures):
            collected.add_known(one, spread.only(k))
    for some in detectors:
        collected.add(some, keep=of_classes)
    collected.add(detectors.points(), keep=of_all)
    collected.add_fixed(subset_figures(found.subsets, summary.figures.p_target[0], at_hand))
    if found.pairwise is not None:
        for one, squares in pair_squares(summary, found.pairwise, means, design.effective, left_out):
            collected.add_known(one, squares)
    known = SureCurve(axis, np.asarray(found.curves.c_avg[::STEP]), curve.places, curve.kept, design)
    estimates = collected.found
    return Uncertainty(
        n_units=design.n_units,
        noun=trials.units.noun,
        source=trials.units.source,
        keys=trials.units.keys,
        estimates=estimates,
        influences=collected.influences,
        curves=known.errors(summary.places),
        level=resampling.level,
        bootstrap=None if replicates is None else replicates.bootstrap(estimates),
        curve_influences=known.influences(),
        error_rates={**known.rates(), **bands.rates},
        too_few=design.too_few(found.classes),
        remarks=remarks_on_classes(found),
    )
