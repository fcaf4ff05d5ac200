"""Mergeable summary of the scores of one system: the source of all tables, curves and notes.

A summary contains the counts from one sort of the scores, and the sums of the requested costs. It does not depend on
the source of the scores: arrays, a condition of a key, a part of a data set, or a stream. All later steps use only the
summary.

This module also has the options of an evaluation: operating points, units and resampling. If units are known, trials
are counted by unit as soon as the thresholds of the metrics are known.
"""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logit

from deciban._validate import arrays as _validate
from deciban.core.expected import ErrorCounts, MeanCost, WeightedScores, log_cost, mixed
from deciban.core.ranks.counts import SortedClass, joined_weights
from deciban.core.ranks.roc import OperatingPoint, PointLike, as_operating_point
from deciban.core.resampling import unit_counts
from deciban.core.resampling.clusters import ClusterDesign
from deciban.core.resampling.unit_counts import UnitCounts
from deciban.core.resampling.units import Keys, TrialUnits, units_of_classes
from deciban.errors import InputError
from deciban.evaluation.uncertainty import Resampling
from deciban.metrics import SortedScores
from deciban.metrics.costs import REGISTERED, RULES, OwnCosts, own_sums
from deciban.metrics.scores import FACTORS, ScoredTrials, conventions_of, factors_of, rates_of
from deciban.types import Axis, CountArray, FloatArray, FloatPair, IntArray, ScoreArray, T, Units, Weights, added

if TYPE_CHECKING:
    from deciban.core.resampling.linearised import LinearCosts, ScoreBins
    from deciban.core.resampling.replicates import BinSums, MetricsOfTables, Multipliers, Replicated
    from deciban.core.resampling.unit_counts import RowsOfTrials
    from deciban.rules.families import ThresholdRule


Pair: TypeAlias = tuple[ArrayLike, ArrayLike]


N_GROUPS = 10
"""Groups of units for leaving one group out at a time."""


@dataclass(frozen=True, eq=False)
class BinnedTrials:
    """Trials of both classes by unit and bin.

    Attributes
    ----------
    costs : LinearCosts
        Costs of bins with borders at all requested thresholds.
    tar, non : UnitCounts
    singles : ClusterDesign, optional
        Design of single trials, if every trial is a unit and rows of the counts represent many trials.
    rows : RowsOfTrials, optional
        The row of every trial, if trials are units and in memory.
    """

    costs: LinearCosts
    tar: UnitCounts
    non: UnitCounts
    singles: ClusterDesign | None = None
    rows: RowsOfTrials | None = None

    @property
    def bins(self) -> ScoreBins:
        """The bins."""
        return self.costs.bins

    @cached_property
    def design(self) -> ClusterDesign:
        """Sizes of both classes, and overlap of their units."""
        if self.singles is not None:
            return self.singles
        n_tar, n_non = (own.total / one for own, one in zip((self.tar, self.non), self.costs.one_trial, strict=True))
        return ClusterDesign.of_units(self.totals, (n_tar, n_non))

    @cached_property
    def totals(self) -> FloatPair:
        """Numbers (or weights) of trials of each unit."""
        return self.tar.totals, self.non.totals

    @property
    def small_sample(self) -> FloatPair:
        """Factors of the influences of units through each class; see `UnitCounts.small_sample` and `stretches`."""
        of_tar, of_non = self.design.stretch.tolist()
        if self.singles is not None:  # the other factor is in the rows
            return np.full(self.tar.n_units, of_tar), np.full(self.non.n_units, of_non)
        return of_tar * self.tar.small_sample(self.totals[0]), of_non * self.non.small_sample(self.totals[1])


class TrialsByUnit(ABC):
    """Trials of both classes with their units, in memory or not, for counts by unit."""

    @property
    @abstractmethod
    def about(self) -> TrialUnits:
        """The units: their keys, noun and source."""

    @property
    @abstractmethod
    def singles(self) -> unit_counts.SingleFacts | None:
        """Facts about trials if each is a unit; None if trials share units."""

    @abstractmethod
    def look(self, look: Callable[[UnitTrials], T]) -> T:
        """Apply a function to all trials; it must be picklable, and its results for several batches must be addable."""

    @abstractmethod
    def drawn(self, metrics_of: MetricsOfTables, counted: BinnedTrials, resampling: Resampling) -> Replicated:
        """Return `replicated` for trials that are units or have two units each."""

    def bins(self, ranks: SortedScores, values: FloatArray) -> ScoreBins:
        """Return bins of scores with borders at these values: fewer for more units, unless each trial is a unit."""
        from deciban.core.resampling.linearised import AS_SINGLES, bins_of

        return bins_of(ranks.table, ranks.pav, values, self.about.n_units if self.singles is None else AS_SINGLES)

    def counted(self, ranks: SortedScores, values: FloatArray) -> BinnedTrials:
        """Count targets and non-targets by unit and bin.

        Parameters
        ----------
        ranks : SortedScores
            Sorted scores of these trials.
        values : (n,) array
            Thresholds at which counts must be exact.
        """
        from deciban.core.resampling.linearised import LinearCosts  # only intervals need it

        bins, facts = self.bins(ranks, values), self.singles
        costs = LinearCosts(ranks.tar, ranks.non, ranks.pav, ranks.rocch, bins)
        if facts is None:
            unit: unit_counts.CountedByUnit = self.look(partial(UnitTrials.by_unit, bins=bins))
            return BinnedTrials(costs.with_trials(unit.n_trials), unit.tar, unit.non)
        sums: unit_counts.SingleSums = self.look(
            partial(UnitTrials.single_sums, bins=bins, facts=facts, known=facts.dealt())
        )
        tar, non = sums.counts((costs.n_tar, costs.n_non))
        design = ClusterDesign.of_trials(facts.sizes(costs.with_trials(facts.n).one_trial))
        return BinnedTrials(costs, tar, non, design, sums.rows(self.about.n_units))

    def replicated(self, metrics_of: MetricsOfTables, counted: BinnedTrials, resampling: Resampling) -> Replicated:
        """Return metrics of the bootstrap replicates, and a mask of the replicates with trials of both classes.

        Parameters
        ----------
        metrics_of : function
            Maps tables of targets and of non-targets, (n_tables, n_bins), to metrics, (n_tables, n_metrics).
        counted : BinnedTrials
            Result of `counted`.
        resampling : Resampling
        """
        from deciban.core.resampling.replicates import SumsOfUnits  # loads on request

        if counted.singles is not None or len(self.about.codes) == 2:
            return self.drawn(metrics_of, counted, resampling)
        sums = SumsOfUnits(counted.tar.counts), SumsOfUnits(counted.non.counts)
        return replicated_by(sums, metrics_of, counted, self.about.keys, resampling)

    def in_memory(self, what: str) -> UnitTrials:
        """Return the trials themselves.

        Raises
        ------
        InputError
            If trials are read in batches, since ``what`` needs all at once.
        """
        raise InputError(f"{what}: needs all trials in memory, but this data is read in batches. Leave it out.")


@dataclass(frozen=True, slots=True, eq=False)
class UnitTrials(TrialsByUnit):
    """Trials in memory, in any order.

    Attributes
    ----------
    scores, units, weights : pairs
        Of targets and of non-targets; weights can be None. All trials of both classes have the same units.
    strata : pair of (n,) int arrays, optional
        Stratum of each trial, if weights give each stratum the same weight.
    n_strata : int
    """

    scores: tuple[ScoreArray, ScoreArray]
    units: tuple[TrialUnits, TrialUnits]
    weights: tuple[CountArray | None, CountArray | None] = (None, None)
    strata: tuple[IntArray, IntArray] | None = None
    n_strata: int = 0

    @classmethod
    def of(cls, scores: Pair, units: tuple[Units, Units], weights: tuple[Weights, Weights]) -> UnitTrials | None:
        """Create from arguments with checked scores and weights; None without units.

        Raises
        ------
        InputError
            If units of one class are missing, or their number differs from the number of trials.
        """
        if all(one is None for one in units):
            return None
        values = [np.asarray(one) for one in scores]
        values = [one if one.dtype.kind == "f" else one.astype(np.float64) for one in values]
        result = units_of_classes(*units, (len(values[0]), len(values[1])))
        if result is None:
            return None
        kept = [_validate.weights(w, len(s), "weights") for s, w in zip(values, weights, strict=True)]
        return cls((values[0], values[1]), result, (kept[0], kept[1]))

    @classmethod
    def merged(cls, parts: Sequence[UnitTrials]) -> UnitTrials:
        """Merge trials; units can have trials in several parts."""
        if len(parts) == 1:
            return parts[0]
        units = unit_counts.merged_units([one for part in parts for one in part.units])
        scores, joined, weights = [], [], list[CountArray | None]()
        for k in (0, 1):
            joined.append(unit_counts.joined_units(units[k::2]))
            own = [part.scores[k] for part in parts]
            scores.append(np.concatenate(own))
            weights.append(joined_weights([part.weights[k] for part in parts], list(map(len, own))))
        return cls((scores[0], scores[1]), (joined[0], joined[1]), (weights[0], weights[1]))

    @property
    def about(self) -> TrialUnits:
        """Units of the trials; see `TrialsByUnit.about`."""
        return self.units[1]

    def in_memory(self, what: str) -> UnitTrials:  # noqa: ARG002  # they are
        """Return the trials; see `TrialsByUnit.in_memory`."""
        return self

    @property
    def singles(self) -> unit_counts.SingleFacts | None:
        """Facts about trials if each is a unit; see `TrialsByUnit.singles`."""
        if not self.about.are_independent or self.strata is not None:
            return None
        pairs = zip(self.scores, self.weights, strict=True)
        own = [np.ones(len(x)) if w is None else w[w > 0].astype(np.float64) for x, w in pairs]
        return unit_counts.SingleFacts.of(own, self.about.keys)

    def look(self, look: Callable[[UnitTrials], T]) -> T:
        """Apply a function to all trials; see `TrialsByUnit.look`."""
        return look(self)

    def by_unit(self, bins: ScoreBins) -> unit_counts.CountedByUnit:
        """Return targets and non-targets by unit and bin."""
        result, group = list[UnitCounts](), unit_counts.groups_of_units(self.units[0].keys, N_GROUPS)
        for c, (scores, units, weights) in enumerate(zip(self.scores, self.units, self.weights, strict=True)):
            own = UnitCounts.of(scores, units, bins, group, weights)
            if self.strata is not None:
                shape = self.n_strata, bins.n_bins
                own = unit_counts.StratifiedCounts.of(
                    own, *unit_counts.in_strata(self.strata[c], bins.of(scores), units, weights, shape)
                )
            result.append(own)
        pairs = zip(self.scores, self.weights, strict=True)
        n_trials = np.array([len(x) if w is None else np.count_nonzero(w) for x, w in pairs])
        return unit_counts.CountedByUnit(result[0], result[1], n_trials)

    def single_sums(
        self, bins: ScoreBins, facts: unit_counts.SingleFacts, known: Keys | None
    ) -> unit_counts.SingleSums:
        """Return trials that are units by group and bin; ``facts`` and ``known`` are about all trials."""
        places = [bins.of(scores).astype(np.int64, copy=False) for scores in self.scores]
        return unit_counts.SingleSums.of(places, self.units, self.weights, facts, known, (N_GROUPS, bins.n_bins))

    def drawn(self, metrics_of: MetricsOfTables, counted: BinnedTrials, resampling: Resampling) -> Replicated:
        """Return replicates; see `TrialsByUnit.drawn`."""
        from deciban.core.resampling.replicates import bin_sums  # loads on request

        bins = counted.bins
        tar, non = (
            bin_sums(units, bins.of(scores), bins.n_bins, weights)
            for scores, units, weights in zip(self.scores, self.units, self.weights, strict=True)
        )
        return replicated_by((tar, non), metrics_of, counted, self.about.keys, resampling)


def replicated_by(
    sums: tuple[BinSums, BinSums],
    metrics_of: MetricsOfTables,
    counted: BinnedTrials,
    keys: Keys,
    resampling: Resampling,
) -> Replicated:
    """Return `TrialsByUnit.replicated` for units whose weights can be drawn at once, from their sums in bins."""
    from deciban.core.resampling.replicates import of_both_classes, replicates_of

    whole = counted.costs.n_tar, counted.costs.n_non

    def drawn(weights: Multipliers) -> Replicated:
        return of_both_classes(metrics_of, (sums[0].of(weights), sums[1].of(weights)), whole)

    return replicates_of(drawn, keys, seed=resampling.seed, n_replicates=resampling.bootstrap)


DEFAULT_POINTS = (OperatingPoint(0.01),)
"""Default operating points of detection costs."""


@dataclass(frozen=True, slots=True, init=False)
class TwoClassMetrics:
    """Requested two-class metrics, checked at creation and passed as one object.

    Parameters
    ----------
    operating_points : iterable
        Points at which to report detection costs: each an `OperatingPoint`, a ``p_target``, or
        ``(p_target, c_miss, c_fa)``.
    eer_conventions : bool, or names
        Report equal error rates by the conventions of other tools, or only by these; `deciban.metrics.eer_conventions`.
    classifier : bool
        Report metrics of classifier papers at the share of targets in the data: `deciban.evaluation.results`.
    fnmr_at, fmr_at : float or sequence of float
        False match rates at which to report the false non-match rate, and the reverse; `deciban.metrics.fnmr_at_fmr`.
    at_thresholds : mapping of str to float
        Thresholds from other data, by name, at which to report errors and the half total error rate.
    posteriors_at : float or sequence of float
        Priors of a target at which to report log loss and Brier score. The reliability plot shows posteriors at the
        first of them, or at 0.5.
    factors : float or sequence of float
        Likelihood ratios beyond which to count misleading evidence; `deciban.metrics.misleading_evidence`.
    rule : ThresholdWeights or ThresholdDensity, optional
        A custom scoring rule of `deciban.rules`; its costs are reported at the prior of each operating point.
    axis : {"nats", "log10"}
        Unit of log-likelihood ratios in plots and tables. All numbers of results are in nats.

    Raises
    ------
    InputError
        If there is no operating point, or one has a prior outside (0, 1) or a cost that is not positive; if a rate is
        outside [0, 1], a factor is below 1, a threshold is not a number, or the axis is unknown.

    Examples
    --------
    >>> TwoClassMetrics([0.01, (0.05, 10, 1)]).operating_points[1]
    OperatingPoint(p_target=0.05, c_miss=10, c_fa=1)
    >>> TwoClassMetrics([0.01]) == TwoClassMetrics()
    True
    """

    operating_points: tuple[OperatingPoint, ...]
    eer_conventions: tuple[str, ...]
    classifier: bool
    discrepancy: bool
    fnmr_at: tuple[float, ...]
    fmr_at: tuple[float, ...]
    at_thresholds: tuple[tuple[str, float], ...]
    posteriors_at: tuple[float, ...]
    factors: tuple[float, ...]
    axis: Axis
    rule: ThresholdRule | None
    own: tuple[tuple[str, OwnCosts], ...]

    def __init__(
        self,
        operating_points: Iterable[PointLike] = DEFAULT_POINTS,
        *,
        eer_conventions: bool | str | Iterable[str] = False,
        classifier: bool = False,
        discrepancy: bool = False,
        fnmr_at: ArrayLike = (),
        fmr_at: ArrayLike = (),
        at_thresholds: Mapping[str, float] | None = None,
        posteriors_at: ArrayLike = (),
        factors: ArrayLike = FACTORS,
        axis: Axis = "nats",
        rule: object = None,
    ) -> None:
        argument: object = operating_points
        if not isinstance(argument, Iterable) or getattr(argument, "ndim", 1) == 0:
            raise InputError(
                f"operating_points: expected several, got {operating_points!r}. Write [{operating_points!r}]."
            )
        points = tuple(as_operating_point(point) for point in operating_points)
        if not points:
            raise InputError("operating_points: none given. Detection costs need at least one.")
        if axis not in ("nats", "log10"):
            raise InputError(f"axis: got {axis!r}. It is 'nats' or 'log10'.")
        entries = {
            "operating_points": points,
            "eer_conventions": conventions_of(eer_conventions),
            "classifier": bool(classifier),
            "discrepancy": bool(discrepancy),
            "fnmr_at": _listed(rates_of(fnmr_at, "fnmr_at")),
            "fmr_at": _listed(rates_of(fmr_at, "fmr_at")),
            "at_thresholds": tuple(
                (k, _validate.threshold(t, "at_thresholds")) for k, t in (at_thresholds or {}).items()
            ),
            "posteriors_at": _listed(_priors(posteriors_at)),
            "factors": _listed(factors_of(factors)),
            "axis": axis,
            "rule": None if rule is None else _threshold_rule(rule),
            "own": tuple(REGISTERED.items()),
        }
        for name, value in entries.items():
            object.__setattr__(self, name, value)

    @property
    def thresholds(self) -> list[float]:
        """Bayes thresholds of the operating points."""
        return [point.threshold for point in self.operating_points]

    @property
    def has_requests(self) -> bool:
        """True if metrics are requested that evaluations do not have by default."""
        items = self.eer_conventions, self.classifier, self.discrepancy, self.fnmr_at, self.fmr_at, self.at_thresholds
        return any(map(bool, (*items, self.posteriors_at, self.rule)))

    @property
    def rule_priors(self) -> tuple[float, ...]:
        """Distinct priors of the operating points, for the costs of the rule."""
        return tuple(dict.fromkeys(point.p_target for point in self.operating_points)) if self.rule else ()

    @classmethod
    def of(cls, request: TwoClassMetrics | Iterable[PointLike]) -> TwoClassMetrics:
        """Return requests from operating points; requests are returned unchanged."""
        return request if isinstance(request, TwoClassMetrics) else cls(request)

    def __str__(self) -> str:
        own = f" and metrics {', '.join(name for name, _ in self.own)}" if self.own else ""
        return f"operating points {'; '.join(map(str, self.operating_points))}{own}"


PosteriorCosts: TypeAlias = Mapping[str, tuple[MeanCost, MeanCost]]
"""Sums of the costs of targets and of non-targets at one prior, by the name of the scoring rule."""

CUSTOM = "custom"
"""Name of a custom rule among the rules of posterior costs."""


def posterior_costs_of(trials: ScoredTrials, metrics: TwoClassMetrics) -> tuple[PosteriorCosts, ...]:
    """Add up costs of posteriors at each requested prior, of a custom rule at each of its priors, then own costs."""
    result: list[PosteriorCosts] = [
        {name: costs(trials.tar, trials.non, float(logit(p))) for name, costs in RULES.items()}
        for p in metrics.posteriors_at
    ]
    if (rule := metrics.rule) is not None:
        from deciban.rules.delivered import costs_of_llrs

        result += [{CUSTOM: costs_of_llrs(trials, rule, float(logit(p)))} for p in metrics.rule_priors]
    if metrics.own:
        result.append(own_sums(metrics.own, (trials.tar, trials.non)))
    return tuple(result)


@dataclass(frozen=True, eq=False)
class Summary:
    """Summary of the two-class scores of one system.

    ``a + b`` (and `merged` of many) is the summary of the trials of both, as if all had been sorted at once. Counts and
    rank metrics are identical to the bit, sums of costs to about 1e-16 (with fractional weights, all numbers up to
    rounding of the sums). A part can lack a class; an evaluation needs both.

    Attributes
    ----------
    metrics : TwoClassMetrics
        Requested metrics.
    ranks : SortedScores
        The count table and derived results.
    cost_tar, cost_non : MeanCost
        Logarithmic costs of the two classes at even odds, in nats; Cllr is their mean.
    is_weighted : bool
        True if trials had weights; then numbers of trials are sums of weights.
    posterior_costs : tuple of dict
        Sums of costs of both classes by the name of their rule: at each requested prior of posteriors, for a custom
        rule at each of its priors, then those of registered metrics.
    units : TrialsByUnit or None
        The trials with their speakers or other units, if these are known.
    """

    metrics: TwoClassMetrics
    ranks: SortedScores
    cost_tar: MeanCost
    cost_non: MeanCost
    is_weighted: bool = False
    posterior_costs: tuple[PosteriorCosts, ...] = ()
    units: TrialsByUnit | None = None

    @classmethod
    def of(
        cls,
        scores: SortedScores,
        metrics: TwoClassMetrics,
        *,
        is_weighted: bool = False,
        units: UnitTrials | None = None,
    ) -> Summary:
        """Summarize sorted scores."""
        trials = scores.trials
        costs = (log_cost(trials.tar, 0.0, sign=-1), log_cost(trials.non, 0.0, sign=1))
        posterior_costs = posterior_costs_of(trials, metrics)
        return cls(metrics, scores, *costs, is_weighted, posterior_costs, units)

    @property
    def n_tar(self) -> int | float:
        """Target trials, or their weight."""
        return self.ranks.tar.total

    @property
    def n_non(self) -> int | float:
        """Non-target trials, or their weight."""
        return self.ranks.non.total

    @property
    def n_tied(self) -> int | float:
        """Trials (or weight) whose score equals the score of a trial of the other class."""
        return self.ranks.table.n_tied

    @property
    def n_infinite(self) -> int | float:
        """Trials (or weight) with an infinite score."""
        return self.ranks.tar.infinite + self.ranks.non.infinite

    @property
    def cllr(self) -> float:
        """Cllr in bits."""
        return mixed(self.cost_tar, self.cost_non, 0.0) / math.log(2)

    @property
    def own(self) -> tuple[tuple[str, float], ...]:
        """Names and values of registered metrics."""
        sums = self.posterior_costs[-1].items() if self.metrics.own else ()
        return tuple((name, tar.value + non.value) for name, (tar, non) in sums)

    @cached_property
    def recalibrated(self) -> ScoredTrials:
        """PAV blocks as trials, which have the minimum costs."""
        return self.ranks.recalibrated

    @cached_property
    def finite_range(self) -> tuple[float, float] | None:
        """Lowest and highest finite score; None if there is none."""
        ends = [end for c in (self.ranks.tar, self.ranks.non) if c.finite_range for end in c.finite_range]
        return (min(ends), max(ends)) if ends else None

    def errors(self, thresholds: FloatArray) -> ErrorCounts:
        """Return misses and false alarms at any thresholds; a score equal to a threshold is accepted."""
        return self.ranks.error_counts(thresholds)

    def __add__(self, other: object) -> Summary:
        return merged([self, other]) if isinstance(other, Summary) else NotImplemented


def summarize(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    metrics: TwoClassMetrics | None = None,
    tar_weights: Weights = None,
    non_weights: Weights = None,
    tar_units: Units = None,
    non_units: Units = None,
) -> Summary:
    """Sort and summarize the scores of all trials, or of a part.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger favours targets. Infinite scores are allowed. A part can have
        no trials of a class, or no trials at all.
    metrics : TwoClassMetrics, optional
        Requested metrics; the same for all parts.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.
    tar_units, non_units : (n,) or (n, 2) array_like, optional
        Speakers or other units of the trials: see `deciban.evaluation.evaluate`.

    Returns
    -------
    Summary

    Raises
    ------
    InputError
        If a score is NaN or not a number, or weights do not fit.

    Examples
    --------
    >>> from deciban.evaluation.two_class.evaluate import evaluate, evaluation_of
    >>> parts = [summarize([1.0, 2.0], []), summarize([2.0], [0.0, 1.0, -1.0])]
    >>> evaluation_of(merged(parts)) == evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])
    True
    """
    classes = _checked(tar, tar_weights, "tar"), _checked(non, non_weights, "non")
    scores = SortedScores.of_sorted(*SortedClass.of_both(*classes))
    is_weighted = tar_weights is not None or non_weights is not None
    chosen = TwoClassMetrics() if metrics is None else metrics
    if not isinstance(chosen, TwoClassMetrics):
        raise InputError(f"metrics: got {type(chosen).__name__}. Pass TwoClassMetrics([0.01]), or leave it out.")
    units = UnitTrials.of((tar, non), (tar_units, non_units), (tar_weights, non_weights))
    return Summary.of(scores, chosen, is_weighted=is_weighted, units=units)


def merged(summaries: Iterable[Summary]) -> Summary:
    """Summarize the trials of all parts.

    Parameters
    ----------
    summaries : iterable of Summary
        At least one; no trial is in two of them.

    Returns
    -------
    Summary

    Raises
    ------
    InputError
        If there is no summary, or they have different requests.

    Examples
    --------
    >>> merged([summarize([1.0], [0.0]), summarize([2.0], [])]).n_tar
    2
    """
    parts = list(summaries)
    if not parts:
        raise InputError("summaries: none given. Merge at least one.")
    first = parts[0].metrics
    for at, part in enumerate(parts):
        if part.metrics != first:
            raise InputError(
                f"summaries: the first one has {first}, the one at index {at} has {part.metrics}. "
                "Use the same metrics for all parts."
            )
    have_units = {part.units is not None for part in parts}
    if len(have_units) > 1:
        raise InputError("summaries: only some parts have units. Give the units of all parts, or of none.")
    tar = SortedClass.merged([part.ranks.tar for part in parts])
    non = SortedClass.merged([part.ranks.non for part in parts])
    return Summary(
        first,
        SortedScores.of_sorted(tar, non),
        functools.reduce(added, [part.cost_tar for part in parts]),
        functools.reduce(added, [part.cost_non for part in parts]),
        any(part.is_weighted for part in parts),
        functools.reduce(added, [part.posterior_costs for part in parts]),
        UnitTrials.merged([p.units.in_memory("merged") for p in parts if p.units is not None])
        if True in have_units
        else None,
    )


def _threshold_rule(rule: object) -> ThresholdRule:
    from deciban.rules.families import ThresholdRule  # loads on request

    if not isinstance(rule, ThresholdRule):
        raise InputError(
            f"rule: got {type(rule).__name__}. Pass a ThresholdWeights or ThresholdDensity of deciban.rules; "
            "deciban.io.read_rule reads one from a file."
        )
    return rule


def _listed(values: FloatArray) -> tuple[float, ...]:
    return tuple(np.atleast_1d(values).ravel().tolist())


def _priors(values: ArrayLike) -> FloatArray:
    """Return checked priors; there can be none."""
    priors = _validate.finite(values, "posteriors_at")
    wrong = priors[(priors <= 0.0) | (priors >= 1.0)]
    if len(wrong):
        raise InputError(f"posteriors_at: got {wrong[0]:g}. A prior is a probability inside (0, 1).")
    return priors


def _checked(scores: ArrayLike, weights: Weights, name: str) -> WeightedScores:
    """Return the scores and weights of a class that can be empty, or have only weights of 0."""
    values = _validate.array(scores, name)
    if values.shape != (0,):
        checked = _validate.scores(values, name)
        kept = None if weights is None else _validate.array(weights, f"{name}_weights")
        if kept is None or kept.dtype.kind not in "biuf" or kept.any():
            return checked, _validate.weights(kept, len(checked), f"{name}_weights")
    if weights is not None and np.shape(weights) != values.shape:
        raise InputError(
            f"{name}_weights: {np.size(weights)} weights for {values.size} trials. Give one weight per trial."
        )
    return np.zeros(0), None if weights is None else np.zeros(0, np.int64)
