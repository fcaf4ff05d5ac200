"""Multiclass evaluation of sources that do not fit in memory, and the influences of their units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, Self, TypeAlias, TypeVar

import numpy as np

from deciban._validate import classes as _validate_classes
from deciban._validate.classes import prior_of
from deciban.core.resampling.class_sums import CostSums, centre_of
from deciban.core.resampling.clusters import UnitDesign
from deciban.core.resampling.units import TrialUnits
from deciban.core.training.multiclass_training import train_counted
from deciban.engines import class_problems
from deciban.errors import InputError, not_none, option
from deciban.evaluation.multiclass.class_metrics import DETECTOR, ClassMetric, CollectedMetrics, MetricGroup
from deciban.evaluation.multiclass.detector_costs import Held
from deciban.evaluation.multiclass.evaluate import ClassTotals, GroupedProblem, class_evaluation_of
from deciban.evaluation.multiclass.metric_groups import MetricGroups, Replicates, bootstrap_of, together
from deciban.evaluation.multiclass.problem_sums import ClassMetrics, CountedProblems
from deciban.evaluation.multiclass.result import ClassEvaluation
from deciban.evaluation.multiclass.summary import ClassSummary, ScoreChecks
from deciban.evaluation.uncertainty import MetricKey, Resampling, Uncertainty
from deciban.io.recognition import memory_of
from deciban.memory import CLASSIFIER, Cost, memory_error, require_room, rows_that_fit
from deciban.models.sources import SourceClasses
from deciban.multiclass import recalibration
from deciban.multiclass.tables import ScoredClasses, mixed
from deciban.trials.sources import Engine, SourcePartition, SourcePass, TrialSource, ordered
from deciban.types import AnyArray, FloatArray
from deciban.workflows.options import Options


def calibration_of_source(
    summary: ClassSummary, source: TrialSource, engine: Engine, *, system: int, memory: int | None = None
) -> recalibration.ClassCalibration:
    """Train the maps for the calibration analysis of one system of a source.

    Parameters
    ----------
    summary : ClassSummary
        Sums over all trials.
    source : TrialSource
    engine : Engine
    system : int
    memory : int, optional
        Limit in bytes, also for the sample.

    Returns
    -------
    ClassCalibration
        The result of `deciban.multiclass.calibration_analysis` at the flat prior, to about 1e-9. If a map has no
        optimum (separated classes, decisive infinite scores), further passes compute its limit.

    Raises
    ------
    FormatError, OSError
        If reading fails.
    """
    data = SourceClasses(ordered(source, systems=[system]), engine, memory)  # at a flat prior
    total, every = mixed(summary.flat_surprise, data.prior), np.arange(data.n_classes)
    is_wrong = summary.checks.n_wrong > 0  # training is impossible, and the first look at trials would refuse them
    is_finite = not is_wrong and not data.counted.first.has_infinite
    value = recalibration.CalibratedTrials(data.counted, is_finite=is_finite)
    limits = recalibration.CalibrationLimits(value, every, data.n_classes, total, is_wrong=is_wrong)
    forms = [(True, True), (True, False), (False, True)]
    both, scaled, shifted = (_least(data, limits, scale=scale, offset=offset) for scale, offset in forms)
    return recalibration.ClassCalibration.of(total, both, scaled, shifted, data.prior)


def _least(
    data: SourceClasses, limits: recalibration.CalibrationLimits, *, scale: bool, offset: bool
) -> recalibration.Best:
    """Return the result of `CalibrationLimits.least`.

    This first tries to train, because most maps have an optimum; only otherwise it looks for limits.
    """
    if limits.total == 0.0 or limits.is_wrong:
        return limits.least(scale=scale, offset=offset)
    without = recalibration.given_up(limits.total, data.prior, scale=scale)
    try:
        fit = train_counted(limits.trials.counted, limits.trials.survey, scale=scale, offset=offset)
    except InputError:
        return limits.least(scale=scale, offset=offset)
    if scale and fit.weights[0] <= 0.0:  # inverted scores: the best non-negative scale is 0
        return limits.least(scale=scale, offset=offset) if data.counted.first.has_infinite else without
    return recalibration.no_worse(
        recalibration.Best(fit.objective, float(fit.weights[0]) if scale else 1.0, fit.offsets), without
    )


def evaluate_class_batches(
    source: TrialSource,
    engine: Engine,
    options: Options,
    units: TrialUnits | class_problems.UnitsAndStrata | None = None,
    *,
    system: int,
    name: str,
    require: Callable[[AnyArray, Sequence[str]], None],
) -> ClassEvaluation:
    """Evaluate one system of a multiclass source.

    Parameters
    ----------
    source : TrialSource
    engine : Engine
    options : Options
    units : TrialUnits or UnitsAndStrata, optional
        All units, without trials; without keys if every trial is a unit. None for no intervals. With strata if the
        source contains the stratum of each trial.
    system : int
        Index of the system.
    name : str
        Name of the system.
    require : callable
        Refuses classes without segments, given the classes that have segments, and the names of all.

    Returns
    -------
    ClassEvaluation

    Raises
    ------
    FormatError, OSError
        If reading fails.
    InputError
        If a request needs all segments in memory, or a class has no segments.
    """
    metrics = ClassMetrics(**options.metrics.given())
    metrics.require_parts()
    _refuse_optimism(source, options)
    if metrics.classifier:
        needed = Cost.CLASSIFIER * source.n_rows * len(source.classes)
        require_room(CLASSIFIER, needed, engine.bounded(options.scale.n_bytes))

    def evaluated(
        source: TrialSource, metrics: ClassMetrics, who: class_problems.UnitsAndStrata | None
    ) -> tuple[ClassEvaluation, ScoreChecks]:
        """Return the evaluation of a source of classes, or of groups."""
        memory, how_sure = engine.bounded(options.scale.n_bytes), options.how_sure
        sums = class_problems.survey_classes(
            source, engine, system=system, metrics=metrics, who=who, has_pages=options.has_pages
        )
        require(np.flatnonzero(() if sums is None else sums.summary.counts), source.classes)
        sums = not_none(sums, "sums")
        calibration = calibration_of_source(sums.summary, source, engine, system=system, memory=memory)
        summary = class_problems.summarize_surveyed(
            sums, source, engine, memory, system=system, calibration=calibration
        )
        result = class_evaluation_of(summary, name=name)
        if who is None or sums.units is None:
            return result, summary.checks
        resampling = Resampling(None, how_sure.level, bootstrap=how_sure.bootstrap, seed=how_sure.seed)
        influences = BatchedInfluences(source, engine, memory, system, who, resampling)
        return replace(result, uncertainty=influences.uncertainty(sums.units, summary, result)), summary.checks

    who = (
        class_problems.UnitsAndStrata(units, np.arange(len(source.classes))) if isinstance(units, TrialUnits) else units
    )
    if metrics.groups is None:
        return evaluated(source, metrics, who)[0]
    totals = class_problems.totals_of(source, engine)
    require(np.flatnonzero(() if totals is None else totals.n_trials), source.classes)
    totals = not_none(totals, "totals")
    _require_weight(metrics, source.classes, totals)
    problem = GroupedProblem.of(metrics, metrics.groups, source.classes, totals)
    home = problem.grouping.home
    who = None if who is None else replace(who, home=home[home >= 0])
    result, checks = evaluated(class_problems.grouped(source, problem), problem.metrics, who)
    counted = result.confusion
    if problem.has_weights or source.has_weights:
        counted = class_problems.confusion_in(source, engine, problem, system=system)
    return problem.finished(result, checks, counted)


def _require_weight(metrics: ClassMetrics, classes: tuple[str, ...], totals: ClassTotals) -> None:
    """Refuse classes with a positive prior if all their segments have weight 0."""
    needed = None if metrics.prior is None else prior_of(metrics.prior, classes) > 0
    there = np.arange(len(classes)), (totals.totals > 0).astype(np.int64)
    _validate_classes.all_classes(there[0], len(classes), weights=there[1], needed=needed, classes=classes)


def _refuse_optimism(source: TrialSource, options: Options) -> None:
    """Refuse corrected minima, and report the memory that they need.

    Raises
    ------
    InputError
        If they are requested.
    """
    if not (options.how_sure.intervals and options.how_sure.optimism):
        return
    what = f"optimism: corrected minima of multiclass evaluations need all {source.n_rows:,} segments in memory"
    raise memory_error(what, needed=memory_of(source.paths) or None, way="leave it out")


_FEWEST_ROWS = 1 << 12
"""Minimum number of trials whose influences are computed at once, even with little memory."""


T = TypeVar("T", "_Sums", Replicates)

SortedSummation: TypeAlias = Callable[[T, class_problems.TrialBlock, Held], None]
"""Function that adds a block to a total while it holds a lock."""


class BlockTally(SourcePass, Generic[T]):
    """Pass over blocks of trials of a system that adds them to one total.

    Parameters
    ----------
    system : SystemScores
    words : str
        Description for progress.
    start : callable
        Returns an empty total.
    add : callable
        Adds a block to a total, given a lock for it. `start` and `add` must support pickle.
    units : bool
        Whether blocks contain the units of trials.
    n_bytes : int
        Size of the total.
    """

    def __init__(
        self,
        system: class_problems.SystemScores,
        words: str,
        start: Callable[[], T],
        add: SortedSummation[T],
        *,
        units: bool,
        n_bytes: int,
    ) -> None:
        self.system, self.words, self.units, self.n_bytes = system, words, units, n_bytes
        self.start: Callable[[], T] = start
        self.add: SortedSummation[T] = add
        self._total: T | None = None

    @property
    def total(self) -> T:
        """The total, created at first use, so that empty sums are not sent to every worker."""
        with self.lock:
            if self._total is None:
                self._total = self.start()
            return self._total

    @property
    def has_sums(self) -> bool:
        """See `SourcePass.has_sums`."""
        return self._total is not None

    def take(self, partitions: Sequence[SourcePartition]) -> None:
        """See `SourcePass.take`."""
        for partition in partitions:
            for block in self.system.blocks(partition, units=self.units):
                self.add(self.total, block, self.lock)

    def __add__(self, other: Self) -> Self:
        """See `SourcePass.__add__`."""
        values = self.empty()
        for one in (self, other):
            if one._total is not None:
                total = values.total
                total += one._total
        return values


class _Sums:
    """Costs of trials in some groups of metrics, and their shares below thresholds of detectors.

    Parameters
    ----------
    centres : mapping of MetricGroup to array
        Mean costs; see `CostSums`.
    metric_groups : MetricGroups
    """

    def __init__(self, centres: Mapping[MetricGroup, FloatArray], metric_groups: MetricGroups) -> None:
        self.costs = {name: CostSums.empty(centre, metric_groups.design) for name, centre in centres.items()}
        self.below = {at: metric_groups.bands.empty(at) for what, at in centres if what == DETECTOR}

    def __iadd__(self, other: _Sums) -> Self:
        for name in self.costs:
            self.costs[name] += other.costs[name]
        for target, below in self.below.items():
            for table, own in zip(below.tables, other.below[target].tables, strict=True):
                np.add(table, own, out=table)
        return self


def _add_costs(
    who: class_problems.UnitsAndStrata,
    metric_groups: MetricGroups,
    total: _Sums,
    block: class_problems.TrialBlock,
    lock: Held,
) -> None:
    """Add the trials of a block."""
    at_hand, begins = metric_groups.at_hand(block.trials, who.of(block), block.stratum), Counter[MetricGroup]()
    if not at_hand.n_trials:
        return
    shares = metric_groups.bands.units.shares(at_hand.block) if total.below else None
    for one in metric_groups.costed(total.costs, at_hand):
        for part in one.parts:
            with lock:
                total.costs[one.group].add(replace(part, metrics=part.metrics + begins[one.group]), at_hand.block)
        begins[one.group] += one.n_rows
        if one.detector is not None and shares is not None:
            metric_groups.bands.count(one.detector, shares, total.below[one.detector.target], lock)


def _add_replicates(
    metric_groups: MetricGroups, total: Replicates, block: class_problems.TrialBlock, lock: Held
) -> None:
    """Add the trials of a block."""
    at_hand = metric_groups.at_hand(block.trials, block.units, block.stratum)
    if at_hand.n_trials:
        total.add(at_hand.block, metric_groups.costed(total.names, at_hand), lock)


@dataclass(frozen=True, eq=False)
class BatchedInfluences:
    """Confidence intervals of an evaluation of a source that is read in batches.

    Attributes
    ----------
    source : TrialSource
    engine : Engine
        engine : Engine
        memory : int
            Limit in bytes.
    system : int
    who : UnitsAndStrata
    resampling : Resampling
        Options of the intervals.
    """

    source: TrialSource
    engine: Engine
    memory: int
    system: int
    who: class_problems.UnitsAndStrata
    resampling: Resampling

    def uncertainty(
        self, sums: class_problems.ProblemUnitSums, summary: ClassSummary, evaluation: ClassEvaluation
    ) -> Uncertainty | None:
        """Return the uncertainty of an evaluation; None if no class has two units.

        Parameters
        ----------
        sums : ProblemUnitSums
        summary : ClassSummary
            Summary of all trials, with detectors from sorted scores.
        evaluation : ClassEvaluation
            Evaluation of this summary.
        """
        design = UnitDesign(self.who.home, len(summary.classes), sums.weights)
        if design.n_units < 2:
            return None
        if not isinstance(summary.problems, CountedProblems):
            raise TypeError("summary: trials in memory, but this one must have counted problems")
        pairs, units = summary.problems.of_pairs, self.who.units
        pavs = {} if pairs is None else {name: one.pav for name, one in pairs.scores.items()}
        metric_groups = MetricGroups.of(summary, evaluation, design, units, pavs)
        gathered = CollectedMetrics(design, metric_groups.kept(len(units.keys), self.resampling.keep))
        metrics, centres = self._looked_up(metric_groups, sums)
        sizes = {name: self._size(name, len(centre), metric_groups) for name, centre in centres.items()}
        what = f"units: there are {len(units.keys):,}, and influences are summed for each of them"
        way = f"use every segment as a unit (leave {option('units')} out)"
        require_room(what, max(sizes.values()), self.memory, way=way)
        room = self.memory / 4
        for names in together(sizes, room):
            start = partial(_Sums, {name: centres[name] for name in names}, metric_groups)
            at_once = sum(len(centres[name]) for name in names) * self.engine.n_at_once
            most = rows_that_fit(room, Cost.INFLUENCE, at_once=at_once, fewest=_FEWEST_ROWS)
            n_bytes, units_kept = int(sum(sizes[name] for name in names)), self.who.keys is not None
            add: SortedSummation[_Sums] = partial(_add_costs, self.who, metric_groups)
            total = self._run("summing up influences", start, add, units=units_kept, n_bytes=n_bytes, most=most)
            for name in names:
                gathered.add(name, metrics[name], total.costs[name])
            for target, below in total.below.items():
                metric_groups.bands.add(target, below)
        rates, drawn = metric_groups.bands.rates, partial(self._drawn, metric_groups)
        replicates = partial(bootstrap_of, self.memory, drawn)
        return gathered.uncertainty(units, summary, evaluation, rates, self.resampling, replicates)

    def _looked_up(
        self, metric_groups: MetricGroups, sums: class_problems.ProblemUnitSums
    ) -> tuple[dict[MetricGroup, list[ClassMetric]], dict[MetricGroup, FloatArray]]:
        """Return all metrics and first estimates of their mean costs, from a few trials of each stratum."""
        some, home = sums.some, self.who.home
        trials = ScoredClasses(some.loglik, home[some.label], None, self.source.classes)
        at_hand = metric_groups.at_hand(trials, None, some.label)
        metrics, centres = dict[MetricGroup, list[ClassMetric]](), dict[MetricGroup, FloatArray]()
        for one in metric_groups.costed(metric_groups.names, at_hand):
            centre = centre_of(one.parts, at_hand.block, (one.n_rows, len(home)))
            metrics.setdefault(one.group, []).extend(one.metrics)
            centres[one.group] = np.concatenate([centres.get(one.group, centre[:0]), centre])
        return metrics, centres

    def _size(self, name: MetricGroup, n_metrics: int, metric_groups: MetricGroups) -> float:
        """Return the size of the sums for a group of metrics, in bytes."""
        design, bands = metric_groups.design, metric_groups.bands
        n_strata = len(design.home)
        size = n_metrics * (6 * n_strata if design.weights.by_unit is None else design.n_pairs + 3 * n_strata)
        if name[0] == DETECTOR:
            size += (len(bands.thresholds) + 1) * 4 * (bands.units.n_groups + n_strata)
        return 8.0 * size

    def _drawn(
        self, metric_groups: MetricGroups, names: Mapping[MetricGroup, Sequence[MetricKey]], numbers: range
    ) -> Replicates:
        """Return some metrics in some replicates, from one pass."""
        n_strata = len(metric_groups.design.home)
        start = partial(Replicates, names, n_strata, self.resampling.seed, numbers)
        n_bytes = 16 * (sum(map(len, names.values())) + 1) * n_strata * (1 + len(numbers))
        add: SortedSummation[Replicates] = partial(_add_replicates, metric_groups)
        return self._run("counting replicates", start, add, units=True, n_bytes=n_bytes)

    def _run(
        self, words: str, start: Callable[[], T], add: SortedSummation[T], *, units: bool, n_bytes: int, **most: int
    ) -> T:
        """Return the total of one pass."""
        scores = class_problems.SystemScores.of(self.source, self.system, **most)
        work: BlockTally[T] = BlockTally(scores, words, start, add, units=units, n_bytes=n_bytes)
        return self.engine.run(work, self.source.partitions).total
