"""Multiclass metrics as sums of class means of trial costs, with standard errors from sums over batches.

The best decisions (maps, thresholds) are held fixed, because a minimum has derivative zero with respect to them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy.special import expit, logit

from deciban.core.class_counts import chosen, is_among_first, least_llr, mean_costs_of_trials
from deciban.core.resampling.class_sums import CostBlock, CostSums
from deciban.core.resampling.clusters import ClassGroups, ClusterDesign, Spread, UnitDesign
from deciban.core.resampling.intervals import ROUNDING, Estimate, NothingSeen, RateSum, Scale
from deciban.core.resampling.units import TrialUnits
from deciban.errors import not_none, some_of
from deciban.evaluation.multiclass.problem_sums import TargetErrors, critical_priors_of
from deciban.evaluation.uncertainty import Bootstrap, CurveInfluences, MetricKey, Uncertainty, bounded_by_cllr
from deciban.multiclass import tables
from deciban.multiclass.analysis import f1_of
from deciban.types import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from deciban.evaluation.multiclass.result import ClassEvaluation
    from deciban.evaluation.multiclass.summary import ClassSummary
    from deciban.evaluation.uncertainty import Resampling

MOST_KEPT = 1 << 24
"""Influences that are kept by default, at most."""

NO_COSTS = np.zeros(0)
"""Placeholder for the costs of metrics whose squares were computed elsewhere."""


_ALIKE = 1e-5
"""Relative difference of costs by equal maps: the best map is found to six digits."""


@dataclass(frozen=True, slots=True, eq=False)
class ClassMetric:
    """A metric that is a sum of class means.

    Attributes
    ----------
    name : MetricKey
    value : float
    costs : (n_trials,) array
        Contribution of each trial to the mean of its class.
    groups : ClassGroups
        Classes on which the metric depends.
    scale : {"log", "logit", "identity", "complement", "skewed"}
    nothing_seen : NothingSeen or None
        Interval of the metric if no unit moves it.
    limits : (float, float)
        Bounds of the metric.
    shift : float or None
        Correction of a minimum for new units, if known.
    n_candidates : int
        Number of candidates from which this one was selected.
    most : (n_groups,) array or None
        For sums of error rates: contribution of each group if all of its trials are wrong.
    absent : (2, n_classes) array or None
        Parts of it by misses and by false alarms, or 0 for a kind of which there are errors.
    are_graded : bool
        True if trials can be partly wrong.
    fixed : (n_trials,) array or None
        For minima: costs by the best decisions, if ``costs`` are by decisions that were made without the unit.
    is_minimum : bool
        True if the metric includes the best decisions or the best map for these trials.
    is_refused : bool
        True if there is no interval: classes are perfectly separated, so that the cost of an error is unknown.
    """

    name: MetricKey
    value: float
    costs: FloatArray
    groups: ClassGroups
    scale: Scale = "log"
    nothing_seen: NothingSeen | None = None
    limits: tuple[float, float] = (0.0, math.inf)
    shift: float | None = None
    n_candidates: int = 1
    most: FloatArray | None = None
    absent: FloatArray | None = None
    are_graded: bool = False
    fixed: FloatArray | None = None
    is_minimum: bool = False
    is_refused: bool = False

    def estimate(self, spread: Spread, design: ClusterDesign, held_out: float | None = None) -> Estimate | None:
        """Return the metric with its standard error; None if there is no interval.

        Parameters
        ----------
        spread : Spread
            Spread of this metric, by the best decisions.
        design : ClusterDesign
        held_out : float, optional
            Sum of squares of the influences by decisions that were made without the unit.
        """
        if self.is_refused or not design.has_enough(self.groups, self.most):
            return None
        corrected = None if self.shift is None else min(max(self.value + self.shift, self.limits[0]), self.limits[1])
        error = design.standard_error(float(spread.total) if held_out is None else held_out)
        about = self.scale, corrected, self.nothing_seen, self.limits, self.n_candidates
        rates = None
        if self.most is not None:
            rates = design.rates(spread, self.groups, self.most, self.absent, are_graded=self.are_graded)
        degrees = design.degrees(spread, self.groups, is_mean=rates is None and not self.is_minimum)
        result = Estimate(self.value, error, design.n_units_of(self.groups), *about, rates=rates, degrees=degrees)
        return result if result.is_known else None


@dataclass(frozen=True, eq=False)
class LoadedTrials:
    """Trials in memory, all or one batch, with costs of their scores.

    Arrays contain only trials that count, sorted by class.

    Attributes
    ----------
    summary : ClassSummary
        Summary with the requested metrics.
    evaluation : ClassEvaluation
        Evaluation of all trials.
    trials : ScoredClasses
        A batch can lack classes.
    units : TrialUnits or None
        Units of the trials, in their order; None if every trial is a unit.
    stratum : (n_trials,) int array or None
        Groups of trials with separate means, ascending within each class; by default, the classes.
    """

    summary: ClassSummary
    evaluation: ClassEvaluation
    trials: tables.ScoredClasses
    units: TrialUnits | None
    stratum: IntArray | None
    _detectors: dict[int, tables.Detectors] = field(default_factory=dict)

    @cached_property
    def order(self) -> IntArray:
        """Positions of the trials that count."""
        return self.trials.by_class[0]

    @property
    def n_trials(self) -> int:
        """Number of trials that count."""
        return len(self.order)

    @cached_property
    def label(self) -> IntArray:
        """Class of each trial."""
        return self.trials.label[self.order]

    @cached_property
    def block(self) -> CostBlock:
        """The trials as a batch."""
        stratum = self.label if self.stratum is None else self.stratum[self.order]
        units = None if self.units is None else self.units.take(self.order)
        return CostBlock(stratum, self.trials.weights_of(self.order), units)

    @cached_property
    def costs(self) -> FloatArray:
        """Costs of trials, (4, n_trials), and their decisions.

        The rows are the logarithmic costs at the flat prior and at the prior, in nats, the quadratic cost, and the
        decided class.
        """
        trials, prior, n_classes = self.trials, self.summary.prior, self.trials.n_classes
        flat = np.full(n_classes, 1.0 / n_classes)
        surprise, quadratic = tables.costs_of_trials(trials, prior)
        at_flat = surprise if np.array_equal(prior, flat) else tables.costs_of_trials(trials, flat)[0]
        decided = chosen(trials.loglik, prior)[self.order].astype(np.float64)
        return np.stack((at_flat, surprise, quadratic, decided))

    @cached_property
    def least(self) -> FloatArray | None:
        """Logarithmic cost after the best scale and offsets, at the flat prior; None if these were not trained."""
        best = self.evaluation.calibration
        return tables.calibrated_surprises(self.trials, best.scale, best.offset) if math.isfinite(best.scale) else None

    def detectors(self, at: int) -> tables.Detectors:
        """Return each class against the rest, at one of the priors of the rivals."""
        if at not in self._detectors:
            self._detectors.clear()
            self._detectors[at] = tables.Detectors.of(
                self.trials, self.summary.metrics.rivals(self.trials.n_classes)[at]
            )
        return self._detectors[at]


STEP = 7
"""Step between priors of the curve with computed standard errors; others are interpolated linearly."""


MetricGroup: TypeAlias = tuple[str, int]
"""Kind and number of a group of metrics: all classes, subsets, places of the curve, rates, a detector, or the pairs of
a class with those before it."""

KINDS = ALL, SUBSETS, CURVE, RATES, DETECTOR, PAIRS = "all", "subsets", "curve", "rates", "detector", "pairs"
"""Kinds of groups, in the order of results; places of the curve have its name."""


def axis_of(summary: ClassSummary) -> FloatArray:
    """Return the log odds of the places."""
    return summary.places[::STEP]


def curve_metrics(at_hand: LoadedTrials) -> Iterator[ClassMetric]:
    """Yield the cost of each trial at each place of the curve of average costs."""
    axis, llrs, result = axis_of(at_hand.summary), at_hand.detectors(0).llrs, at_hand.evaluation
    p_out_of_set = result.p_out_of_set
    thresholds, groups = -axis, ClassGroups.apart(len(llrs.lengths))
    if p_out_of_set is not None:
        # A target is accepted at or above its critical prior, so minus this prior acts like an llr.
        llrs = replace(llrs, values=-critical_priors_of(at_hand.trials, p_out_of_set))
        thresholds = -expit(axis)
    values, rates = result.curves.c_avg[::STEP], result.curves.c_avg_rates[:, ::STEP]
    places = zip(expit(axis).tolist(), thresholds.tolist(), values.tolist(), rates.T, strict=True)
    for k, (p_target, threshold, value, own) in enumerate(places):
        errors = TargetErrors.of(llrs, p_target, threshold, p_out_of_set)
        most, absent = errors.most.sum(axis=0), absent_of(errors.most, own)
        yield ClassMetric((CURVE, k), value, errors.costs, groups, most=most, absent=absent, are_graded=True)


def absent_of(most: FloatArray, rates: FloatArray) -> FloatArray:
    """Return contributions by kind, (2, n_classes), only of kinds of errors whose mean rate is 0."""
    return np.where(rates[:, None] <= ROUNDING, most, 0.0)


_MANY = 100
"""Largest number of classes for which every rate of the confusion matrix has an interval."""


@dataclass(frozen=True, slots=True, eq=False)
class CalibratedWithout:
    """Costs of the best maps that were trained without each group of units in turn, starting from the best map of all.

    Attributes
    ----------
    shift : float
        Correction of min Cllr for new units, in bits.
    costs : (n_trials,) array
        Logarithmic costs of trials, sorted by class, in nats. The map was trained without the group of the unit; with
        two units, costs are the mean of both. Trials that are used for the choice of a map cost less.
    """

    shift: float
    costs: FloatArray


class ClassMetricCosts:
    """Multiclass metrics with the cost of each trial, except metrics of detectors and pairs.

    Parameters
    ----------
    trials : LoadedTrials
        All trials, or some.
    design : ClusterDesign
        Design of all trials.
    without : CalibratedWithout, optional
        The best maps without each group of units, if minima are corrected.
    """

    def __init__(self, trials: LoadedTrials, design: ClusterDesign, without: CalibratedWithout | None = None) -> None:
        self.without = without
        self.evaluation, self.trials, self.seen = trials.evaluation, trials, design.effective
        self.groups = ClassGroups.apart(self.evaluation.n_classes)
        self.label, self.values = trials.label, trials.costs
        self.prior = self.evaluation.prior[self.label]

    def nothing(self, heaviest: FloatArray, ceiling: float = math.inf) -> NothingSeen:
        """Return the rise of a metric that is 0 without errors if all trials of one class are wrong."""
        few = int(self.seen.min())
        return NothingSeen(few, float(np.max(heaviest * few / self.seen)), ceiling=ceiling)

    def rules(self) -> Iterator[ClassMetric]:
        """Yield means of costs of soft decisions."""
        result, n, few, groups = self.evaluation, self.evaluation.n_classes, int(self.seen.min()), self.groups
        unbounded, top, lost = NothingSeen(few, math.inf), result.reference, are_separated(result)
        bits = self.values[0] / (n * math.log(2))
        make = partial(ClassMetric, groups=groups, is_refused=lost)
        yield make("cllr", result.cllr, bits, scale="log", nothing_seen=unbounded)
        for name in ("information", ("information", 0)):
            yield make(name, result.information, -bits, scale="complement", limits=(-math.inf, top))
        if self.trials.least is not None:
            best, shift = self.trials.least / (n * math.log(2)), None
            least, fixed = best, None
            if self.without is not None:
                least, shift, fixed = self.without.costs / (n * math.log(2)), self.without.shift, best
            entropy = NothingSeen(few, is_entropy=True, ceiling=top) if result.min_cllr <= ROUNDING else None
            best_of = partial(ClassMetric, groups=groups, limits=(0.0, top), is_minimum=True)
            yield best_of(
                "min_cllr", result.min_cllr, least, scale="log", nothing_seen=entropy, shift=shift, fixed=fixed
            )
            back, available = None if shift is None else -shift, result.information_at[0].available or 0.0
            lost_by = partial(best_of, shift=back, fixed=None if fixed is None else -fixed)
            yield lost_by(("available", 0), available, -least, scale="complement")
            if math.isfinite(result.cllr):
                loss = self._loss(bits, least, back, unbounded)
                yield loss if fixed is None else replace(loss, fixed=bits - fixed)
        bits = self.prior * self.values[1] / math.log(2)
        yield make("cross_entropy", result.cross_entropy, bits, scale="log", nothing_seen=unbounded)
        for k, one in enumerate(result.information_at[1:], 1):
            limits = (-math.inf, one.entropy)
            yield make(("information", k), one.delivered, -bits, scale="complement", limits=limits)
        quadratic = self.nothing(2.0 * result.prior, 2.0)
        yield make(
            "brier", result.brier, self.prior * self.values[2], scale="log", nothing_seen=quadratic, limits=(0.0, 2.0)
        )

    def _loss(self, bits: FloatArray, least: FloatArray, shift: float | None, unbounded: NothingSeen) -> ClassMetric:
        """Return the calibration loss."""
        make = partial(ClassMetric, shift=shift, is_minimum=True, is_refused=are_separated(self.evaluation))
        loss, lost = self.evaluation.calibration_loss, bits - least
        return make("calibration_loss", loss, lost, self.groups, "skewed", unbounded)

    def decisions(self) -> Iterator[ClassMetric]:
        """Yield the rate of wrong decisions."""
        rate, wrong = self.evaluation.error_rate, self.prior * (self.values[3] != self.label)
        yield ClassMetric("error_rate", rate, wrong, self.groups, limits=(0.0, 1.0), most=self.evaluation.prior)

    def classifier(self) -> Iterator[ClassMetric]:
        """Yield metrics of classifier papers at the shares of the classes in the data, which are held fixed.

        Calibration errors in bins have no intervals.
        """
        for values in self.evaluation.requested.classifier:
            trials, order, n = self.trials.trials, self.trials.order, self.evaluation.n_classes
            share, flat = self.evaluation.counts / self.evaluation.counts.sum(), np.full(n, 1.0 / n)
            decided, of_trial = chosen(trials.loglik, share)[order], share[self.label]
            is_right = decided == self.label
            is_hit = is_among_first(trials.loglik, trials.label, int(values["k"]), share)[order]
            means = {"accuracy": (is_right, share), "top_k_accuracy": (is_hit, share)}
            for name, (right, weight) in (means | {"balanced_accuracy": (is_right, flat)}).items():
                costs = weight[self.label] * right
                yield ClassMetric((name, 0), values[name], costs, self.groups, limits=(0.0, 1.0), most=weight)
            lost = values["accuracy"] == 1.0 or are_separated(self.evaluation)
            make = partial(ClassMetric, groups=self.groups, is_refused=lost)
            name, top, f1 = "sample_macro_f1", (0.0, 1.0), self._linear_f1(share, is_right, decided)
            yield make((name, 0), values[name], f1, scale="logit", limits=top)
            name, unseen = "sample_log_loss", NothingSeen(int(self.seen.min()), math.inf)
            log_costs, quadratic = of_trial * tables.costs_of_trials(trials, share)
            yield make((name, 0), values[name], log_costs, nothing_seen=unseen)
            name, unseen = "sample_brier", self.nothing(2.0 * share, 2.0)
            yield make((name, 0), values[name], quadratic, nothing_seen=unseen, limits=(0.0, 2.0))

    def _linear_f1(self, share: FloatArray, is_right: BoolArray, decided: IntArray) -> FloatArray:
        """Return costs whose sum of class means has the value and the derivatives of macro F1."""
        confusion = not_none(self.evaluation.sample_confusion, "sample_confusion")
        f1, size = f1_of(confusion), share + confusion.sum(axis=0) / confusion.sum()
        fixed = float((f1 * (1.0 - share / size)).sum()) / len(f1)
        costs = share[self.label] * (2.0 * is_right - f1[decided]) / size[decided]
        return np.asarray((costs + fixed) / len(f1))

    def rate_rows(self) -> Iterator[FloatArray]:
        """Yield masks (0 or 1): wrong decisions, then decisions for each class unless there are many classes."""
        decided = self.values[3]
        yield (decided != self.label).astype(np.float64)
        for j in range(rows_of_rates(self.evaluation.n_classes) - 1):
            yield (decided == j).astype(np.float64)

    def rate_metrics(self) -> Iterator[list[ClassMetric]]:
        """Yield the metrics of each class for these masks: error rates, and rates of confusions."""
        result = self.evaluation
        confused = result.confusion / result.confusion.sum(axis=1, keepdims=True)
        names: list[MetricKey] = [("class_error_rates", name) for name in result.classes]
        yield [self._rate(name, k, float(result.class_error_rates[k])) for k, name in enumerate(names)]
        for j, taken in enumerate(result.classes[: rows_of_rates(result.n_classes) - 1]):
            names = [("confusion", true, taken) for true in result.classes]
            yield [self._rate(name, k, float(confused[k, j])) for k, name in enumerate(names)]

    def _rate(self, name: MetricKey, k: int, value: float) -> ClassMetric:
        groups = ClassGroups.of([k], self.evaluation.n_classes)
        return ClassMetric(name, value, NO_COSTS, groups, limits=(0.0, 1.0), most=np.ones(1))


def are_separated(evaluation: ClassEvaluation) -> bool:
    """Return True if no decision is wrong, or each class has higher detection scores than all other trials."""
    return evaluation.error_rate == 0.0 or all(one["eer"] <= ROUNDING for one in evaluation.detectors.values())


def remarks_on_classes(evaluation: ClassEvaluation) -> tuple[str, ...]:
    """Return the notes on refused intervals."""
    separated = [name for name, one in evaluation.detectors.items() if one["eer"] <= ROUNDING]
    if are_separated(evaluation):
        words = "The classes are perfectly separated: no confidence intervals for means of costs (Cllr, information, "
        return (f"{words}Brier score, calibration loss), because no error shows how much an error costs.",)
    if separated:
        words = "perfectly separated from all others, so its own Cllr and calibration loss have no intervals."
        return (f"{'Class' if len(separated) == 1 else 'Each of the classes'} {some_of(separated)}: {words}",)
    return ()


def rows_of_rates(n_classes: int) -> int:
    """Return the number of rows of `ClassMetricCosts.rate_rows`."""
    return 1 + (n_classes if n_classes <= _MANY else 0)


def subset_metrics(at_hand: LoadedTrials) -> Iterator[ClassMetric]:
    """Yield metrics of subsets of the classes with the cost of each trial, as tables and JSON have them.

    The hardest and the easiest subset are selected by their cost. Their intervals are for these subsets, even if new
    units would select others. They are so wide that intervals of all subsets would hold simultaneously.
    """
    result, trials, p_target = at_hand.evaluation.subsets, at_hand.trials, at_hand.summary.metrics.p_target[0]
    if result is None or len(result) == 1:
        return
    for word, at in (("hardest", int(np.argmax(result.value))), ("easiest", int(np.argmin(result.value)))):
        members = list(result.members(at))
        # Return errors in a subset of the classes, as a separate evaluation without trials of other classes
        prior = np.zeros(trials.n_classes)
        prior[members] = 1.0 / len(members)
        threshold = least_llr(len(members), float(np.exp(logit(p_target))))
        errors = TargetErrors.of(tables.Detectors.of(trials, prior).llrs, p_target, threshold, None)
        part, groups = np.zeros(at_hand.n_trials), ClassGroups.of(members, trials.n_classes)
        part[np.isin(at_hand.label, members)] = errors.costs
        most = errors.most.sum(axis=0)
        make = partial(ClassMetric, n_candidates=len(result), limits=(0.0, 1.0), most=most, are_graded=True)
        yield make(("subset_c_avg", word), float(result.value[at]), part, groups)
    rows = [trials.rows(k) for k in range(trials.n_classes)]
    groups, most = ClassGroups.apart(trials.n_classes), np.full(trials.n_classes, 1.0 / trials.n_classes)
    costs = mean_costs_of_trials(trials.loglik, rows, float(np.exp(logit(p_target))))
    for (size, mean), of_size in zip(result.mean_by_size.items(), costs, strict=True):
        make = partial(ClassMetric, limits=(0.0, 1.0), most=most, are_graded=True)
        yield make(("subset_mean_by_size", str(size)), mean, of_size, groups)


class CollectedMetrics:
    """Metrics with their standard errors, collected from sums of costs.

    Parameters
    ----------
    design : UnitDesign
        Design of all trials.
    kept : set of str
        Kinds of groups for which influences of units are kept.

    Attributes
    ----------
    names : mapping of MetricGroup to list of MetricKey
        Metrics in the order in which they were added.
    """

    def __init__(self, design: UnitDesign, kept: AbstractSet[str]) -> None:
        self.design, self.kept = design, kept
        self.names = defaultdict[MetricGroup, list[MetricKey]](list)
        self.estimates: dict[MetricKey, Estimate] = {}
        self.influences: dict[MetricKey, FloatArray] = {}
        self.still: set[MetricKey] = set()
        """Metrics that are 0 in every replicate."""
        self.places: list[tuple[Spread, FloatArray, FloatArray]] = []
        self.on_curve: list[FloatArray] = []
        self._largest: dict[MetricKey, float] = {}

    def add(
        self, group: MetricGroup, metrics: Sequence[ClassMetric], sums: CostSums, held_out: CostSums | None = None
    ) -> None:
        """Add metrics with the sums of their costs.

        Parameters
        ----------
        group : MetricGroup
        metrics : sequence of ClassMetric
        sums : CostSums
            Over all trials, by the best decisions: a row for each metric, or for the rates of all classes.
        held_out : CostSums, optional
            By decisions that were made without the unit.
        """
        self.names[group] += [one.name for one in metrics]
        if group[0] == RATES:
            n_classes = self.design.n_classes
            spread = sums.spread(slice(None), ClassGroups.apart(n_classes))
            for at, one in enumerate(metrics):
                self._add(one, spread[at // n_classes].only(at % n_classes))
            return
        first, keep = 0, group[0] in self.kept
        for _, run in groupby(metrics, key=lambda one: one.groups.weights.tobytes()):
            some = list(run)
            rows = slice(first, first + len(some))
            spread, most = sums.spread(rows, some[0].groups), sums.most[rows]
            influences = (held_out or sums).influences(rows) if keep or held_out is not None else None
            for at, one in enumerate(some):
                self._largest[one.name] = float(most[at])
                self._add(one, spread[at], None if influences is None else influences[at], keep=keep)
            first += len(some)

    def _add(
        self, one: ClassMetric, spread: Spread, influences: FloatArray | None = None, *, keep: bool = False
    ) -> None:
        """Add a metric with known spread."""
        if _is_curve(one):
            self.places.append((spread, not_none(one.most, "most"), not_none(one.absent, "absent")))
            self.on_curve += [influences] if keep and influences is not None else []
            return
        if one.name == "calibration_loss" and one.shift is None and self._loses_nothing:
            self.still.add(one.name)
            one, spread = ClassMetric(one.name, 0.0, NO_COSTS, one.groups, "identity"), spread.nothing()
            influences = None if influences is None else np.zeros_like(influences)
        squares = None if one.fixed is None or influences is None else float(influences @ influences)
        if (estimate := one.estimate(spread, self.design.clusters, squares)) is not None:
            self.estimates[one.name] = estimate
        if keep and influences is not None:
            self.influences[one.name] = influences

    @property
    def _loses_nothing(self) -> bool:
        """True if the scores are calibrated by the best map: no trial costs more, relative to the largest cost."""
        return self._largest["calibration_loss"] <= _ALIKE * self._largest["cllr"]

    def uncertainty(
        self,
        units: TrialUnits,
        summary: ClassSummary,
        evaluation: ClassEvaluation,
        rates: Mapping[MetricKey, tuple[FloatArray, RateSum]],
        resampling: Resampling,
        bootstrap_of: Callable[[CollectedMetrics, Resampling], Bootstrap | None],
    ) -> Uncertainty:
        """Return the uncertainty of an evaluation; ``rates`` are from the curves of detectors."""
        bootstrap = bootstrap_of(self, resampling)
        curve = self._curve(summary, evaluation) if self.places else {}
        error_rates = {**curve.pop("error_rates", {}), **rates}
        known, remarks = (
            self.known(units, evaluation.classes, resampling.level, bootstrap),
            remarks_on_classes(evaluation),
        )
        return replace(known, error_rates=error_rates, remarks=remarks, **curve)

    def _curve(self, summary: ClassSummary, evaluation: ClassEvaluation) -> dict[str, Any]:
        """Return standard errors, error rates and influences of C_avg over the priors of its curve."""
        axis, design, groups = axis_of(summary), self.design.clusters, ClassGroups.apart(self.design.n_classes)
        names = ("total", "fourth", "by_group", "means", "alone")
        spreads, *sizes = zip(*self.places, strict=True)
        spread = Spread(*(np.stack([getattr(one, name) for one in spreads], axis=-1) for name in names))
        most, absent = (np.stack(own, axis=-1) for own in sizes)
        errors = [design.standard_error(square) for square in spread.total.tolist()]
        known: dict[str, Any] = {"curves": {"c_avg": np.interp(summary.places, axis, errors)}}
        if not design.has_enough(groups):
            return known
        known["error_rates"] = {"c_avg": (axis, rates := design.rates(spread, groups, most, absent, are_graded=True))}
        if len(self.on_curve) == len(self.places):
            seen, few = design.effective[:, None], int(design.effective.min())
            heavy, rate = most * few / seen, spread.means / np.where(most > 0.0, most, 1.0)
            unseen = np.zeros((2, len(axis), 2))  # of the class with which the curve would move most
            at_ends = rate <= ROUNDING, rate >= 1.0 - ROUNDING
            unseen[:, :, 0] = [np.max(np.where(end, heavy, 0.0), axis=0) for end in at_ends]
            together = sum((one.weight * few / math.floor(one.size.n_clusters) for one in rates.absent), np.zeros(1))
            unseen[0, :, 0] = np.maximum(unseen[0, :, 0], together)
            values, influences = np.asarray(evaluation.curves.c_avg[::STEP]), np.stack(self.on_curve)
            known["curve_influences"] = {"c_avg": CurveInfluences(axis, values, influences, unseen, (few, few))}
        return known

    def known(
        self, units: TrialUnits, names: Sequence[str], level: float, bootstrap: Bootstrap | None = None
    ) -> Uncertainty:
        """Return the uncertainty of metrics without curves; ``names`` are the names of the classes."""
        about, design = (units.noun, units.source, units.keys), self.design.clusters
        in_order = chain(*(self.names[one] for one in sorted(self.names, key=lambda one: KINDS.index(one[0]))))
        estimates: dict[Any, Estimate] = bounded_by_cllr(
            {name: self.estimates[name] for name in in_order if name in self.estimates}
        )
        pairs = [name for name in estimates if isinstance(name, tuple) and str(name[0]).startswith("pairwise_")]
        estimates |= {(what, j, i): estimates[what, i, j] for what, i, j in pairs}  # in either order of the classes
        make = partial(Uncertainty, estimates=estimates, influences=self.influences, too_few=design.too_few(names))
        return make(design.n_units, *about, level=level, bootstrap=bootstrap)


def _is_curve(one: ClassMetric) -> bool:
    return isinstance(one.name, tuple) and one.name[0] == CURVE


def is_known(one: ClassMetric) -> bool:
    """Return True if a metric is finite or on a curve."""
    return math.isfinite(one.value) or _is_curve(one)
