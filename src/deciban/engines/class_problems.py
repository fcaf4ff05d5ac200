"""Multiclass evaluation in passes: first all sums, then sorted scores of detectors and pairs for their hulls."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from deciban._files import ScratchFolder
from deciban.core.class_counts import ClassSample, SubsetCounts
from deciban.core.ranks.counts import SortedClass
from deciban.core.resampling.clusters import StratumWeights
from deciban.core.resampling.units import Keys, TrialUnits
from deciban.engines.sorting import N_SAMPLED, OF_EACH_SAMPLED, Ranges, SortRoom, row_size
from deciban.evaluation.curves import PooledOdds
from deciban.evaluation.multiclass import problem_sums
from deciban.evaluation.multiclass.evaluate import ClassTotals, GroupedProblem
from deciban.evaluation.multiclass.problem_sums import ClassMetrics, CountedProblem, ProblemRequest
from deciban.evaluation.multiclass.summary import ClassSummary, WholeOnly, c_avg_places, joined_trials, shown_of
from deciban.memory import give_back, rows_that_fit
from deciban.multiclass.analysis import classifier_metrics_of, confusion_of, subset_costs_of, subset_counts_of
from deciban.multiclass.recalibration import ClassCalibration
from deciban.multiclass.tables import Detectors, Grouping, Pairs, ScoredClasses, Side, rival_shares
from deciban.trials import sources
from deciban.types import Additive, AnyArray, CountArray, FloatArray, IntArray

_NUMBERS = 1 << 18
"""Number of log-likelihoods in a block, so that temporary arrays stay small."""

ODDS = ("odds",)
"""Name of the problem of posteriors; one of its sides can be empty."""

Put: TypeAlias = Callable[[int, int, AnyArray, CountArray | None], None]
"""Function of the position of a problem, class 0 or 1, ascending scores and weights; thread-safe."""


@dataclass(frozen=True, slots=True, eq=False)
class TrialBlock:
    """A block of trials.

    Attributes
    ----------
    trials : ScoredClasses
        Trials, including trials of weight 0.
    stratum : (n_trials,) int array
        Index of the set of trials with its own mean: a class, or a class within a group.
    units : TrialUnits or None
        None unless requested.
    """

    trials: ScoredClasses
    stratum: IntArray
    units: TrialUnits | None


class SystemScores(NamedTuple):
    """The multiclass scores of one system of a source, read in blocks.

    Attributes
    ----------
    system : int
        Position of the system.
    classes : tuple of str
    has_weights : bool
        Whether trials have weights.
    most : int
        Maximum number of trials in a block; blocks also have at most `_NUMBERS` numbers.
    """

    system: int
    classes: tuple[str, ...]
    has_weights: bool
    most: int = _NUMBERS

    @classmethod
    def of(cls, source: sources.TrialSource, system: int, most: int = _NUMBERS) -> SystemScores:
        """Return the scores of a system, with at most `most` trials in a block."""
        return cls(system, source.classes, source.has_weights, most)

    def blocks(self, partition: sources.SourcePartition, *, units: bool = False) -> Iterator[TrialBlock]:
        """Yield the trials of a partition in blocks, sorted by stratum within a block if strata are not classes."""
        batch = partition.read(sources.TrialFields((self.system,), truth=True, weight=self.has_weights, units=units))
        loglik, stratum = batch.scores[0], batch.stratum
        step = max(min(self.most, _NUMBERS // len(self.classes)), 1)
        for first in range(0, len(loglik), step):
            rows: IntArray | slice = slice(first, first + step)
            if stratum is not None:
                rows = first + np.argsort(stratum[rows], kind="stable")
            some = None if batch.weight is None else batch.weight[rows]
            trials = ScoredClasses(loglik[rows], batch.labels[rows], some, self.classes)
            own = None if batch.units is None else batch.units.take(rows)
            yield TrialBlock(trials, trials.label if stratum is None else stratum[rows], own)


class BlockScores:
    """Scores of a block of trials for several problems, each computed once.

    Parameters
    ----------
    trials : ScoredClasses
    request : ProblemRequest
    """

    def __init__(self, trials: ScoredClasses, request: ProblemRequest) -> None:
        self.trials, self.request = trials, request
        self._detectors: dict[int, Detectors] = {}

    def detectors(self, at: int) -> Detectors:
        """Return the detectors of each class against the rest, with one of the priors of the rivals."""
        if at not in self._detectors:
            self._detectors = {at: Detectors.of(self.trials, self.request.rivals[at])}
        return self._detectors[at]

    @cached_property
    def pairs(self) -> Pairs:
        """Each class against each other class."""
        return Pairs.of(self.trials)

    def sides(self, problem: Problem) -> tuple[Side, Side]:
        """Return the scores of a problem: non-targets and targets."""
        what, *about = problem.name
        if what == "odds":
            return problem_sums.odds_of(self.trials, self.request.prior, problem.share)
        if what == "pair":
            return self.pairs.sides(*about)
        at, target = about
        return self.detectors(at).sides(target, problem.share)


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """A two-class problem within multiclass trials.

    Attributes
    ----------
    name : tuple
        ``("odds",)``: trials whose recognized class is correct against all others. ``("detector", at, target)``:
        a class against the rest, with one of the priors of the rivals. ``("pair", i, j)``: a class against another one.
    share : (n_classes,) array or None
        Weight of the trials of each class; None if all weights are 1.
    n_trials : float
        Approximate number of trials.
    """

    name: tuple[Any, ...]
    share: FloatArray | None
    n_trials: float

    def file_size(self, *, has_weights: bool) -> float:
        """Return the size of the scores in temporary files, in bytes."""
        return self.n_trials * row_size(np.float64, has_weights=has_weights or self.share is not None)


def problems_of(request: ProblemRequest, totals: CountArray, n_trials: int) -> list[Problem]:
    """Return all problems of some trials.

    Parameters
    ----------
    request : ProblemRequest
    totals : (n_classes,) array
        Number of trials of each class, or their total weight; positive.
    n_trials : int
    """
    n, part = len(totals), np.asarray(totals / totals.sum())
    problems = [Problem(ODDS, problem_sums.odds_share(request.prior, totals), n_trials)]
    for at, prior in enumerate(request.rivals):
        shares = [rival_shares(prior, totals, target) for target in range(n)]
        problems += [Problem(("detector", at, target), share, n_trials) for target, share in enumerate(shares)]
    if request.has_pairs:
        size = [(i, j, float(part[i] + part[j]) * n_trials) for i in range(1, n) for j in range(i)]
        problems += [Problem(("pair", i, j), None, own) for i, j, own in size]
    return problems


class ProblemScores(sources.SourcePass):
    """Pass that computes the scores of problems block by block, and writes or collects them.

    Parameters
    ----------
    system : SystemScores
    request : ProblemRequest
    problems : sequence of Problem
    put : callable or None
        Writes scores, see `Put`; None to collect them for the process that writes.
    """

    words = "sorting detectors and pairs"

    def __init__(
        self, system: SystemScores, request: ProblemRequest, problems: Sequence[Problem], put: Put | None
    ) -> None:
        self.system, self.request, self.problems, self.put = system, request, problems, put
        size = sum(one.file_size(has_weights=system.has_weights) for one in problems)
        self.of_row += int(2 * size / max(one.n_trials for one in problems))

    def of(self, partitions: Sequence[sources.SourcePartition]) -> list[tuple[int, int, AnyArray, CountArray | None]]:
        """See `SourcePass.of`; the result is empty if the scores are written."""
        parts: list[Any] = []
        put = self.put or (lambda *part: parts.append(part))
        for partition in partitions:
            for block in self.system.blocks(partition):
                scores = BlockScores(block.trials, self.request)
                for at, problem in enumerate(self.problems):
                    for c, side in enumerate(scores.sides(problem)):
                        own = SortedClass.of(*side)
                        if len(own.scores):
                            put(at, c, own.scores, own.weights)
        return parts


def solved(
    problems: Sequence[Problem],
    source: sources.TrialSource,
    system: int,
    request: ProblemRequest,
    engine: sources.Engine,
    memory: int,
) -> dict[tuple[Any, ...], CountedProblem | PooledOdds]:
    """Sort the scores of problems in one pass, or in several if the disk is too small for all of them.

    Parameters
    ----------
    problems : sequence of Problem
    source : TrialSource
    system : int
    request : ProblemRequest
    engine : Engine
    memory : int
        Limit in bytes.

    Returns
    -------
    dict of tuple to CountedProblem or PooledOdds
        Results by name; PooledOdds for the problem of posteriors.
    """
    entries = dict[tuple[Any, ...], CountedProblem | PooledOdds]()
    waiting, value = list(problems), SystemScores.of(source, system)
    room = SortRoom.of(engine, memory)
    while waiting:
        folder = ScratchFolder()
        some = _that_fit(waiting, source, shutil.disk_usage(folder.path).free)
        with folder.or_nothing(_file_size(some, source)) as path:
            of_each = rows_that_fit(memory / 8, 8 * N_SAMPLED * len(some), most=OF_EACH_SAMPLED)
            samples = _samples(some, value, source.partitions, request, of_each)
            sorting = _Sorting(some, request, room, path, samples, has_weights=source.has_weights)
            work = ProblemScores(value, request, some, sorting.put if engine.shares_memory else None)
            engine.each(work, source.partitions, sorting.put_all)
            give_back()
            names = (one.name for one in some)
            entries |= zip(names, sources.in_threads(sorting.counted, range(len(some)), room.n_threads), strict=True)
        folder.remove()
        give_back()
        waiting = waiting[len(some) :]
    return entries


class _Sorting:
    """Temporary files for the scores of problems."""

    def __init__(
        self,
        problems: Sequence[Problem],
        request: ProblemRequest,
        room: SortRoom,
        path: Path,
        samples: Sequence[FloatArray],
        *,
        has_weights: bool,
    ) -> None:
        self.problems, self.request, self.room, self.files = problems, request, room, list[Ranges]()
        for at, (problem, sample) in enumerate(zip(problems, samples, strict=True)):
            folder, weighted = path / f"{at}", has_weights or problem.share is not None
            folder.mkdir()
            self.files.append(room.ranges(folder, sample, problem.n_trials, has_weights=weighted))

    def put(self, at: int, c: int, scores: AnyArray, weights: CountArray | None) -> None:
        """Write ascending scores of a class of a problem; thread-safe."""
        self.files[at].put(c, scores, weights)

    def put_all(self, scores: ProblemScores) -> None:
        """Write the scores that another process has sent."""
        for part in scores.result:
            self.put(*part)

    def counted(self, at: int) -> CountedProblem | PooledOdds:
        """Return the result of a problem from its sorted scores, and remove its files."""
        what, *about = self.problems[at].name
        summary = self.room.summary(self.files[at], None, 1)
        if what == "odds":
            problem: CountedProblem | PooledOdds = PooledOdds.of(summary.ranks)
        else:
            problem = CountedProblem(summary, self.request.thresholds[about[0]] if what == "detector" else np.zeros(0))
        shutil.rmtree(self.files[at].path.parent)
        return problem


def _samples(
    problems: Sequence[Problem],
    value: SystemScores,
    partitions: Sequence[sources.SourcePartition],
    request: ProblemRequest,
    of_each: int,
) -> list[FloatArray]:
    """Return a sample of the scores of each problem: `of_each` from the first block of some partitions."""
    values: list[list[FloatArray]] = [[np.zeros(0)] for _ in problems]
    for partition in partitions[:: max(len(partitions) // N_SAMPLED, 1)]:
        for block in islice(value.blocks(partition), 1):
            result = BlockScores(block.trials, request)
            for own, problem in zip(values, problems, strict=True):
                scores = np.concatenate([one for one, _ in result.sides(problem)])
                own.append(scores[:: -(-len(scores) // of_each) or 1].copy())  # a view would keep all scores
    return list(map(np.concatenate, values))


def _file_size(problems: Sequence[Problem], source: sources.TrialSource) -> int:
    """Return the size of the temporary files of problems while they are sorted, in bytes."""
    return int(sum(one.file_size(has_weights=source.has_weights) for one in problems) + 3 * source.n_rows * 8)


def _that_fit(waiting: Sequence[Problem], source: sources.TrialSource, free: int) -> list[Problem]:
    """Return the first problems whose files fit into half of the free disk space, at least one."""
    n = 1
    while n < len(waiting) and _file_size(waiting[: n + 1], source) <= free // 2:
        n += 1
    return list(waiting[:n])


_SOME = 16
"""Number of trials of each stratum for a first estimate of its mean cost."""


@dataclass(frozen=True, slots=True, eq=False)
class UnitsAndStrata:
    """Units and strata; each stratum has its own mean.

    Attributes
    ----------
    units : TrialUnits
        All units, without trials; no keys if every trial is a unit.
    home : (n_strata,) int array
        Class of each stratum: the classes themselves, or the group of each class.
    """

    units: TrialUnits
    home: IntArray

    @property
    def keys(self) -> Keys | None:
        """Keys of all units in ascending order; None if every trial is a unit."""
        return self.units.keys if len(self.units.keys) else None

    def of(self, block: TrialBlock) -> TrialUnits | None:
        """Return the units of the trials of a block, as positions in `keys`; None if every trial is a unit."""
        return None if self.keys is None or block.units is None else block.units.among(self.keys)


@dataclass(frozen=True, slots=True, eq=False)
class ProblemUnitSums(Additive):
    """Sums by unit after the first pass; ``a + b`` covers the trials of both.

    Attributes
    ----------
    weights : StratumWeights
    some : ClassSample
        A few trials of each stratum, chosen by hashes of their scores.
    """

    weights: StratumWeights
    some: ClassSample

    @classmethod
    def of(cls, block: TrialBlock, who: UnitsAndStrata) -> ProblemUnitSums:
        """Return the sums over the trials of a block."""
        trials, stratum = block.trials, block.stratum
        rows = trials.by_class[0]
        units = who.of(block)
        own = None if units is None else units.take(rows)
        weights = StratumWeights.of(stratum[rows], len(who.home), trials.weights_of(rows), own)
        return cls(weights, ClassSample.of(trials.loglik[rows], stratum[rows], _SOME))


@dataclass(frozen=True, slots=True, eq=False)
class ClassSums:
    """Sums over multiclass trials; ``a + b`` covers the trials of both.

    Attributes
    ----------
    summary : ClassSummary
        Sums without detectors, pairs and posteriors.
    shown : ClassSample or None
        Trials to plot, for 3 to 12 classes.
    subsets : SubsetCounts or None
    units : ProblemUnitSums or None
        Only if intervals are requested.
    held : tuple of ScoredClasses
        The trials, if metrics of classifier papers are requested, which need all of them.
    """

    summary: ClassSummary
    shown: ClassSample | None
    subsets: SubsetCounts | None
    units: ProblemUnitSums | None = None
    held: tuple[ScoredClasses, ...] = ()

    def __add__(self, other: ClassSums) -> ClassSums:
        """Add the sums of other trials."""
        return ClassSums(
            self.summary + other.summary,
            sources.both(self.shown, other.shown),
            sources.both(self.subsets, other.subsets),
            sources.both(self.units, other.units),
            self.held + other.held,
        )


class ClassSurvey(sources.SourcePass):
    """First pass, which computes all sums.

    Parameters
    ----------
    system : SystemScores
    metrics : ClassMetrics
    who : UnitsAndStrata, optional
        Units of the trials, if intervals are requested.
    has_pages : bool
        Whether to count decisions at other priors, which only pages show.
    """

    words = "counting"

    def __init__(
        self, system: SystemScores, metrics: ClassMetrics, who: UnitsAndStrata | None = None, *, has_pages: bool = True
    ) -> None:
        self.system, self.metrics, self.who, self.has_pages = system, metrics, who, has_pages
        why = problem_sums.WEIGHTED if system.has_weights else ""
        self.has_subsets = not metrics.why_no_subsets(len(system.classes), why)

    def of(self, partitions: Sequence[sources.SourcePartition]) -> ClassSums | None:
        """See `SourcePass.of`."""
        units = self.who is not None and self.who.keys is not None
        blocks = (block for partition in partitions for block in self.system.blocks(partition, units=units))
        sums: ClassSums | None = None
        for block in blocks:
            sums = sources.both(sums, self.of_block(block))
        return sums

    def of_block(self, block: TrialBlock) -> ClassSums:
        """Return the sums over the trials of a block."""
        trials = block.trials
        return ClassSums(
            ClassSummary.of(trials, self.metrics, whole=False, only_sums=True, has_pages=self.has_pages),
            shown_of(trials),
            subset_counts_of(trials, self.metrics.p_target[0]) if self.has_subsets else None,
            None if self.who is None else ProblemUnitSums.of(block, self.who),
            (trials,) if self.metrics.classifier else (),
        )


def survey_classes(
    source: sources.TrialSource,
    engine: sources.Engine,
    *,
    system: int,
    metrics: ClassMetrics,
    who: UnitsAndStrata | None = None,
    has_pages: bool = True,
) -> ClassSums | None:
    """Return the sums over all trials of one system of a multiclass source, computed in one pass.

    Parameters
    ----------
    source : TrialSource
    engine : Engine
    system : int
        Position of the system.
    metrics : ClassMetrics
        Requested metrics, without groups.
    who : UnitsAndStrata, optional
        Units of the trials, if intervals are requested.
    has_pages : bool
        Whether to count decisions at other priors, which only pages show.

    Returns
    -------
    ClassSums or None
        None if there is no trial.

    Raises
    ------
    FormatError, OSError
        As reading does.
    InputError
        If something that was requested is impossible.
    """
    work = ClassSurvey(SystemScores.of(source, system), metrics, who, has_pages=has_pages)
    sums: ClassSums | None = engine.run(work, source.partitions).result
    return sums


def summarize_surveyed(
    sums: ClassSums,
    source: sources.TrialSource,
    engine: sources.Engine,
    memory: int,
    *,
    system: int,
    calibration: ClassCalibration,
) -> ClassSummary:
    """Summarize trials from their sums; further passes count detectors, pairs and posteriors.

    Parameters
    ----------
    sums : ClassSums
        Sums over all trials, with trials of every class.
    source : TrialSource
    engine : Engine
    memory : int
        Limit in bytes.
    system : int
    calibration : ClassCalibration
        Results of the calibration analysis.

    Returns
    -------
    ClassSummary
        The same as for trials in memory: counts are identical, sums of costs agree to a relative error of 1e-15. If the
        shares of classes are fractions, so are the counts of detectors, which agree to 1e-12.

    Raises
    ------
    FormatError, OSError
        As reading does.
    """
    counts, metrics, classes = sums.summary.counts, sums.summary.metrics, sums.summary.classes
    request = ProblemRequest.of(metrics, classes, c_avg_places(metrics))
    result: Any = solved(problems_of(request, counts, source.n_rows), source, system, request, engine, memory)
    rivals = enumerate(request.rivals)
    detectors = tuple(
        problem_sums.CountedDetectors(result["detector", at, k] for k in range(len(one))) for at, one in rivals
    )
    pairs = {name[1:]: one for name, one in result.items() if name[0] == "pair"}
    subsets = None if sums.subsets is None else subset_costs_of(sums.subsets, classes)
    shown = None if sums.shown is None else (sums.shown.loglik, sums.shown.label)
    of_pairs = problem_sums.CountedPairs(len(classes), pairs) if request.has_pairs else None
    return replace(
        sums.summary,
        problems=problem_sums.CountedProblems(detectors, of_pairs, result[ODDS]),
        whole=WholeOnly(
            calibration, subsets, shown, None, classifier_metrics_of(joined_trials(sums.held)) if sums.held else None
        ),
    )


def _grouped(
    grouping: Grouping,
    has_weights: bool,  # noqa: FBT001
    partition: sources.SourcePartition,
    fields: sources.TrialFields,
) -> sources.Batch:
    """Read the trials of a partition with log-likelihoods of groups, except trials of classes in no group."""
    batch = partition.read(replace(fields, truth=True))
    indices = np.flatnonzero(grouping.prior[batch.labels] > 0)
    truth, weight = batch.labels[indices], None
    if fields.weight and has_weights:
        weight = grouping.weight[truth]
        weight = weight if batch.weight is None else weight * batch.weight[indices]
    return sources.Batch(
        tuple(grouping.logliks(one[indices]) for one in batch.scores),
        grouping.home[truth],
        None if batch.units is None else batch.units.take(indices),
        weight,
        stratum=(np.cumsum(grouping.prior > 0) - 1)[truth],  # groups without prior have no stratum
    )


def totals_of(source: sources.TrialSource, engine: sources.Engine) -> ClassTotals | None:
    """Return the number of trials and the total weight of each class, from one pass; None without trials."""
    fields = sources.TrialFields((), truth=True, weight=source.has_weights)
    totals: ClassTotals | None = sources.found_in(
        source, engine, fields, partial(_totals, len(source.classes)), "counting classes"
    )
    return totals


def grouped(source: sources.TrialSource, problem: GroupedProblem) -> sources.TrialSource:
    """Return a source of classes as a source of groups."""
    has_weights = problem.has_weights
    partitions = source.each(partial(_grouped, problem.grouping, has_weights))
    return replace(source, partitions=partitions, classes=problem.titles, has_weights=has_weights, is_double=True)


def confusion_in(
    source: sources.TrialSource, engine: sources.Engine, problem: GroupedProblem, *, system: int
) -> CountArray:
    """Return the confusion counts of groups, weighted by the weights of trials, from one pass."""
    fields = sources.TrialFields((system,), truth=True, weight=source.has_weights)
    look = partial(_confusion, problem.grouping, problem.metrics.prior_of(problem.titles))
    counts: CountArray = sources.found_in(source, engine, fields, look, "counting decisions")
    return counts


def _totals(n_classes: int, batch: sources.Batch) -> ClassTotals | None:
    return ClassTotals.of(batch.labels, batch.weight, n_classes) if len(batch.labels) else None


def _confusion(grouping: Grouping, prior: FloatArray, batch: sources.Batch) -> Any:
    if not len(batch.labels):
        return None
    indices = np.flatnonzero(grouping.prior[batch.labels] > 0)
    own = None if batch.weight is None else batch.weight[indices]
    loglik = grouping.logliks(batch.scores[0][indices])
    return confusion_of(ScoredClasses(loglik, grouping.home[batch.labels[indices]], own, None), prior)
