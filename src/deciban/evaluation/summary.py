"""The summary of one system's scores: everything that tables, curves and notes are made of, and mergeable.

It holds what one sort of the scores tells (counts of ranks) and the sums of the costs that are asked for. Where the
scores come from (arrays, a condition of a key, one part of a data set, later a stream) does not show in it, and what
stands above it sees nothing else.

The options of an evaluation are here, too: operating points, units, and how they are resampled. With units, trials are
counted by unit as soon as the thresholds of the metrics are known.
"""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logit

from deciban._validate import arrays as _validate
from deciban.core.by_value import added
from deciban.core.ranks.counts import CountTable, SortedClass
from deciban.core.ranks.hull import Pav, Rocch
from deciban.core.ranks.operating import OperatingPoint, PointLike, as_operating_point
from deciban.core.resampling.clusters import ClusterDesign
from deciban.core.resampling.intervals import LEVEL, checked_level
from deciban.core.resampling.unit_counts import (
    CountedByUnit,
    SingleFacts,
    SingleSums,
    StratifiedCounts,
    UnitCounts,
    groups_of_units,
    in_strata,
    joined_units,
    merged_units,
)
from deciban.core.resampling.units import Keys, TrialUnits, units_of_classes
from deciban.core.rules.expected import ErrorCounts, MeanCost, log_cost, mixed
from deciban.errors import InputError
from deciban.metrics import SortedScores
from deciban.metrics.rules import RULES
from deciban.metrics.scores import FACTORS, ScoredTrials, factors_of, rates_of, threshold_of
from deciban.types import Axis, CountArray, FloatArray, IntArray, ScoreArray, Units, Weights

if TYPE_CHECKING:
    from deciban.core.resampling.linearised import Cells, LinearCosts
    from deciban.core.resampling.replicates import CellSums, FiguresOfTables, Multipliers, Replicated
    from deciban.core.resampling.unit_counts import RowsOfTrials
    from deciban.rules.families import ThresholdRule


Pair: TypeAlias = tuple[ArrayLike, ArrayLike]


N_GROUPS = 10
"""Groups of units that are left out in turn."""


@dataclass(frozen=True, slots=True, eq=False)
class Resampling:
    """What intervals are made of, beside the scores; passed whole.

    Attributes
    ----------
    units : TrialUnits or None
        Of all trials in their order; None where the summary has them, or they are not known.
    level : float
    optimism : bool or None
        Whether minima are corrected for having been found on the same trials; None: of two classes only.
    keep : bool or None
        Whether the influences of units are kept, as comparisons need them; None: unless they are very many.
    bootstrap : int
        Number of replicates of the bootstrap; 0 for none.
    seed : int
        From which replicates are drawn.
    strata : (n_trials,) int array or None
        Conditions of all trials in their order, where weights make each count alike in its class whatever is drawn.

    Raises
    ------
    InputError
        If the level is not inside (0, 1), or there is no such number of replicates or seed.
    """

    units: TrialUnits | None = None
    level: float = LEVEL
    optimism: bool | None = None
    keep: bool | None = None
    bootstrap: int = 0
    seed: int = 0
    strata: IntArray | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        checked_level(self.level)
        if self.bootstrap or self.seed:
            from deciban.core.resampling.replicates import checked_replicates  # few ask for it

            checked_replicates(self.bootstrap, self.seed)


@dataclass(frozen=True, eq=False)
class TrialsInCells:
    """Trials of both classes by unit and cell.

    Attributes
    ----------
    costs : LinearCosts
        Of cells with borders at all thresholds that were wanted.
    tar, non : UnitCounts
    singles : ClusterDesign, optional
        Of trials, where every trial is a unit and rows of the counts stand for many of them.
    rows : RowsOfTrials, optional
        The row of every trial then, where trials are in memory.
    """

    costs: LinearCosts
    tar: UnitCounts
    non: UnitCounts
    singles: ClusterDesign | None = None
    rows: RowsOfTrials | None = None

    @property
    def cells(self) -> Cells:
        """The cells."""
        return self.costs.cells

    @cached_property
    def design(self) -> ClusterDesign:
        """Sizes of both classes, and how far they have the same units."""
        if self.singles is not None:
            return self.singles
        n_tar, n_non = (own.total / one for own, one in zip((self.tar, self.non), self.costs.one_trial, strict=True))
        return ClusterDesign.of_units((self.tar.totals, self.non.totals), (n_tar, n_non))

    @property
    def small_sample(self) -> tuple[FloatArray, FloatArray]:
        """Factors of the influences of units through each class; see `UnitCounts.small_sample` and `stretches`."""
        of_tar, of_non = self.design.stretch.tolist()
        if self.singles is not None:  # the rows have the others
            return np.full(self.tar.n_units, of_tar), np.full(self.non.n_units, of_non)
        return of_tar * self.tar.small_sample, of_non * self.non.small_sample


class TrialsByUnit(ABC):
    """Trials of both classes with their units, wherever they are: what is counted by unit once thresholds are known."""

    @property
    @abstractmethod
    def about(self) -> TrialUnits:
        """The units: their keys, what one is called, and how they were found."""

    @property
    @abstractmethod
    def singles(self) -> SingleFacts | None:
        """What is known of trials each of which is a unit; None where they share units."""

    @abstractmethod
    def look(self, look: Callable[[UnitTrials], Any]) -> Any:
        """Return what a look at all trials finds; it can be pickled, and what it finds of several batches adds up."""

    @abstractmethod
    def drawn(self, figures_of: FiguresOfTables, counted: TrialsInCells, asked: Resampling) -> Replicated:
        """See `replicated`: of trials that are units, or have two units each."""

    def counted(self, ranks: SortedScores, wanted: FloatArray) -> TrialsInCells:
        """Count targets and non-targets by unit and cell.

        Parameters
        ----------
        ranks : SortedScores
            Of these trials.
        wanted : (n,) array
            Thresholds at which counts must be exact.
        """
        from deciban.core.resampling.linearised import (
            LinearCosts,
            cells_of,  # who wants no intervals needs none of it
        )

        cells, facts = cells_of(ranks.table, ranks.pav, wanted, self.about.n_units), self.singles
        costs = LinearCosts(ranks.tar, ranks.non, ranks.pav, ranks.rocch, cells)
        if facts is None:
            found: CountedByUnit = self.look(partial(UnitTrials.by_unit, cells=cells))
            return TrialsInCells(costs.with_trials(found.n_trials), found.tar, found.non)
        sums: SingleSums = self.look(partial(UnitTrials.single_sums, cells=cells, facts=facts, known=facts.dealt()))
        tar, non = sums.counts((costs.n_tar, costs.n_non))
        design = ClusterDesign.of_trials(facts.sizes(costs.with_trials(facts.n).one_trial))
        return TrialsInCells(costs, tar, non, design, sums.rows(self.about.n_units))

    def replicated(self, figures_of: FiguresOfTables, counted: TrialsInCells, asked: Resampling) -> Replicated:
        """Figures of replicates of the bootstrap, and which replicates have trials of both classes.

        Parameters
        ----------
        figures_of : function
            From tables of targets and of non-targets, (n_tables, n_cells), to figures, (n_tables, n_figures).
        counted : TrialsInCells
            What `counted` gave.
        asked : Resampling
        """
        from deciban.core.resampling.replicates import SumsOfUnits  # few ask for it

        if counted.singles is not None or len(self.about.codes) == 2:
            return self.drawn(figures_of, counted, asked)
        sums = SumsOfUnits(counted.tar.counts), SumsOfUnits(counted.non.counts)
        return replicated_by(sums, figures_of, counted, self.about.keys, asked)

    def in_memory(self, what: str) -> UnitTrials:
        """The trials themselves.

        Raises
        ------
        InputError
            If they are read in pieces, and ``what`` needs them all at once.
        """
        raise InputError(f"{what}: needs all trials in memory, and these are read in pieces. Leave it out.")


@dataclass(frozen=True, slots=True, eq=False)
class UnitTrials(TrialsByUnit):
    """Trials in memory, in any order.

    Attributes
    ----------
    scores, units, weights : pairs
        Of targets and of non-targets; weights may be None. All trials of both classes have the same units.
    strata : pair of (n,) int arrays, optional
        Where trials are weighted so that strata count alike: the stratum of each.
    n_strata : int
    """

    scores: tuple[ScoreArray, ScoreArray]
    units: tuple[TrialUnits, TrialUnits]
    weights: tuple[CountArray | None, CountArray | None] = (None, None)
    strata: tuple[IntArray, IntArray] | None = None
    n_strata: int = 0

    @classmethod
    def of(cls, scores: Pair, units: tuple[Units, Units], weights: tuple[Weights, Weights]) -> UnitTrials | None:
        """From arguments, of which scores and weights were checked already; None without units.

        Raises
        ------
        InputError
            If units of one class are missing, or they are not as many as trials.
        """
        if all(one is None for one in units):
            return None
        given = [np.asarray(one) for one in scores]
        given = [one if one.dtype.kind == "f" else one.astype(np.float64) for one in given]
        found = units_of_classes(*units, (len(given[0]), len(given[1])))
        if found is None:
            return None
        kept = [_validate.weights(w, len(s), "weights") for s, w in zip(given, weights, strict=True)]
        return cls((given[0], given[1]), found, (kept[0], kept[1]))

    @classmethod
    def merged(cls, parts: Sequence[UnitTrials]) -> UnitTrials:
        """All trials of all parts; a unit may have trials in several."""
        if len(parts) == 1:
            return parts[0]
        units = merged_units([one for part in parts for one in part.units])
        scores, joined, weights = [], [], list[CountArray | None]()
        for k in (0, 1):
            own = units[k::2]
            scores.append(np.concatenate([part.scores[k] for part in parts]))
            joined.append(joined_units(own))
            given = [part.weights[k] for part in parts]
            full = [np.ones(len(p.scores[k]), np.int64) if w is None else w for p, w in zip(parts, given, strict=True)]
            weights.append(None if all(one is None for one in given) else np.concatenate(full))
        return cls((scores[0], scores[1]), (joined[0], joined[1]), (weights[0], weights[1]))

    @property
    def about(self) -> TrialUnits:
        """See `TrialsByUnit.about`."""
        return self.units[1]

    def in_memory(self, what: str) -> UnitTrials:  # noqa: ARG002  # they are
        """See `TrialsByUnit.in_memory`."""
        return self

    @property
    def singles(self) -> SingleFacts | None:
        """See `TrialsByUnit.singles`."""
        if not self.about.are_independent or self.strata is not None:
            return None
        pairs = zip(self.scores, self.weights, strict=True)
        own = [np.ones(len(x)) if w is None else w[w > 0].astype(np.float64) for x, w in pairs]
        return SingleFacts.of(own, self.about.keys)

    def look(self, look: Callable[[UnitTrials], Any]) -> Any:
        """See `TrialsByUnit.look`."""
        return look(self)

    def by_unit(self, cells: Cells) -> CountedByUnit:
        """Return targets and non-targets by unit and cell."""
        found, group = list[UnitCounts](), groups_of_units(self.units[0].keys, N_GROUPS)
        for c, (scores, units, weights) in enumerate(zip(self.scores, self.units, self.weights, strict=True)):
            own = UnitCounts.of(scores, units, cells, group, weights)
            if self.strata is not None:
                shape = self.n_strata, cells.n_cells
                own = StratifiedCounts.of(own, *in_strata(self.strata[c], cells.of(scores), units, weights, shape))
            found.append(own)
        pairs = zip(self.scores, self.weights, strict=True)
        n_trials = np.array([len(x) if w is None else np.count_nonzero(w) for x, w in pairs])
        return CountedByUnit(found[0], found[1], n_trials)

    def single_sums(self, cells: Cells, facts: SingleFacts, known: Keys | None) -> SingleSums:
        """Return the trials, each of which is a unit, by group and cell; facts and known keys are of all trials."""
        places = [cells.of(scores).astype(np.int64, copy=False) for scores in self.scores]
        return SingleSums.of(places, self.units, self.weights, facts, known, (N_GROUPS, cells.n_cells))

    def drawn(self, figures_of: FiguresOfTables, counted: TrialsInCells, asked: Resampling) -> Replicated:
        """See `TrialsByUnit.drawn`."""
        from deciban.core.resampling.replicates import cell_sums  # few ask for it

        cells = counted.cells
        tar, non = (
            cell_sums(units, cells.of(scores), cells.n_cells, weights)
            for scores, units, weights in zip(self.scores, self.units, self.weights, strict=True)
        )
        return replicated_by((tar, non), figures_of, counted, self.about.keys, asked)


def replicated_by(
    sums: tuple[CellSums, CellSums], figures_of: FiguresOfTables, counted: TrialsInCells, keys: Keys, asked: Resampling
) -> Replicated:
    """See `TrialsByUnit.replicated`: of units whose weights can be drawn at once, with what adds them up in cells."""
    from deciban.core.resampling.replicates import of_both_classes, replicates_of

    whole = counted.costs.n_tar, counted.costs.n_non

    def drawn(weights: Multipliers) -> Replicated:
        return of_both_classes(figures_of, (sums[0].of(weights), sums[1].of(weights)), whole)

    return replicates_of(drawn, keys, seed=asked.seed, n_replicates=asked.bootstrap)


DEFAULT_POINTS = (OperatingPoint(0.01),)
"""Where detection costs are reported if nothing is said."""


@dataclass(frozen=True, slots=True, init=False)
class TwoClassFigures:
    """What is asked of the scores of two classes; checked when it is made, and passed whole.

    Parameters
    ----------
    operating_points : iterable
        Where detection costs are wanted: each an `OperatingPoint`, a ``p_target``, or ``(p_target, c_miss, c_fa)``.
    eer_conventions : bool
        Whether equal error rates by the conventions of other tools are wanted; `deciban.metrics.eer_conventions`.
    fnmr_at, fmr_at : float or sequence of float
        False match rates to give the false non-match rate at, and the reverse; `deciban.metrics.fnmr_at_fmr`.
    at_thresholds : mapping of str to float
        Thresholds that were chosen elsewhere, by name: errors and half total error rate are wanted there.
    posteriors_at : float or sequence of float
        Priors of a target at which log-loss and Brier score are wanted; the plot of reliability shows posteriors at the
        first of them, or at 0.5.
    factors : float or sequence of float
        Likelihood ratios beyond which misleading evidence is counted; `deciban.metrics.misleading_evidence`.
    rule : ThresholdWeights or ThresholdDensity, optional
        A rule of your own of `deciban.rules`; its costs are wanted at the prior of each operating point.
    axis : {"nats", "log10"}
        Unit in which plots and tables write log-likelihood ratios. All numbers of results are in nats.

    Raises
    ------
    InputError
        If no operating point is given, or one has a prior outside (0, 1) or a cost that is not positive; if a rate is
        outside [0, 1], a factor is below 1, a threshold is no number, or there is no such axis.

    Examples
    --------
    >>> TwoClassFigures([0.01, (0.05, 10, 1)]).operating_points[1]
    OperatingPoint(p_target=0.05, c_miss=10, c_fa=1)
    >>> TwoClassFigures([0.01]) == TwoClassFigures()
    True
    """

    operating_points: tuple[OperatingPoint, ...]
    eer_conventions: bool
    fnmr_at: tuple[float, ...]
    fmr_at: tuple[float, ...]
    at_thresholds: tuple[tuple[str, float], ...]
    posteriors_at: tuple[float, ...]
    factors: tuple[float, ...]
    axis: Axis
    rule: ThresholdRule | None

    def __init__(
        self,
        operating_points: Iterable[PointLike] = DEFAULT_POINTS,
        *,
        eer_conventions: bool = False,
        fnmr_at: ArrayLike = (),
        fmr_at: ArrayLike = (),
        at_thresholds: Mapping[str, float] | None = None,
        posteriors_at: ArrayLike = (),
        factors: ArrayLike = FACTORS,
        axis: Axis = "nats",
        rule: Any = None,
    ) -> None:
        given: Any = operating_points
        if not isinstance(given, Iterable) or getattr(given, "ndim", 1) == 0:
            raise InputError(
                f"operating_points: expected several, got {operating_points!r}. Write [{operating_points!r}]."
            )
        points = tuple(as_operating_point(point) for point in operating_points)
        if not points:
            raise InputError("operating_points: none given. Detection costs need at least one.")
        if axis not in ("nats", "log10"):
            raise InputError(f"axis: got {axis!r}. It is 'nats' or 'log10'.")
        places = (at_thresholds or {}).items()
        found = {
            "operating_points": points,
            "eer_conventions": bool(eer_conventions),
            "fnmr_at": _listed(rates_of(fnmr_at, "fnmr_at")),
            "fmr_at": _listed(rates_of(fmr_at, "fmr_at")),
            "at_thresholds": tuple((name, threshold_of(place, "at_thresholds")) for name, place in places),
            "posteriors_at": _listed(_priors(posteriors_at)),
            "factors": _listed(factors_of(factors)),
            "axis": axis,
            "rule": None if rule is None else _threshold_rule(rule),
        }
        for name, value in found.items():
            object.__setattr__(self, name, value)

    @property
    def thresholds(self) -> list[float]:
        """Bayes thresholds of the operating points."""
        return [point.threshold for point in self.operating_points]

    @property
    def has_requests(self) -> bool:
        """Whether figures are wanted that evaluations do without."""
        asked = self.eer_conventions, self.fnmr_at, self.fmr_at, self.at_thresholds, self.posteriors_at, self.rule
        return any(map(bool, asked))

    @property
    def rule_priors(self) -> tuple[float, ...]:
        """Where the costs of the rule are wanted: the prior of each operating point, each once."""
        return tuple(dict.fromkeys(point.p_target for point in self.operating_points)) if self.rule else ()

    @classmethod
    def of(cls, asked: TwoClassFigures | Iterable[PointLike]) -> TwoClassFigures:
        """From operating points, or what was made of some already."""
        return asked if isinstance(asked, TwoClassFigures) else cls(asked)

    def __str__(self) -> str:
        return f"operating points {'; '.join(map(str, self.operating_points))}"


PosteriorCosts: TypeAlias = Mapping[str, tuple[MeanCost, MeanCost]]
"""Sums of the costs of targets and of non-targets at one prior, by the name of the scoring rule."""

CUSTOM = "custom"
"""Name of a custom rule among those of posteriors."""


def posterior_costs_of(trials: ScoredTrials, figures: TwoClassFigures) -> tuple[PosteriorCosts, ...]:
    """Add up costs of posteriors at each requested prior, then those of a custom rule at each of its priors."""
    found: list[PosteriorCosts] = [
        {name: costs(trials.tar, trials.non, float(logit(p))) for name, costs in RULES.items()}
        for p in figures.posteriors_at
    ]
    if (rule := figures.rule) is not None:
        from deciban.rules.delivered import costs_of_llrs

        found += [{CUSTOM: costs_of_llrs(trials, rule, float(logit(p)))} for p in figures.rule_priors]
    return tuple(found)


@dataclass(frozen=True, eq=False)
class Summary:
    """What is known of the scores of one system for two classes.

    ``a + b`` (and `merged` of many) is the summary of the trials of both, as if all had been sorted at once: counts and
    all figures of ranks to the bit, sums of costs to about 1e-16 (and with fractional weights everything up to the
    rounding of their sums). A part may lack a class; an evaluation needs both.

    Attributes
    ----------
    figures : TwoClassFigures
        What was asked for.
    ranks : SortedScores
        The count table, and what follows from it.
    cost_tar, cost_non : MeanCost
        Logarithmic costs of the two classes at even odds, in nats: what Cllr is made of.
    is_weighted : bool
        Whether trials had weights: numbers of trials are sums of weights then.
    posterior_costs : tuple of dict
        Sums of costs of both classes by the name of their rule: at each prior at which posteriors are requested, then
        those of a custom rule at each of its priors.
    units : TrialsByUnit or None
        The trials with the speakers or other units that they share, where these are known.
    """

    figures: TwoClassFigures
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
        figures: TwoClassFigures,
        *,
        is_weighted: bool = False,
        units: UnitTrials | None = None,
    ) -> Summary:
        """From sorted scores."""
        trials = scores.trials
        costs = (log_cost(trials.tar, 0.0, sign=-1), log_cost(trials.non, 0.0, sign=1))
        posterior_costs = posterior_costs_of(trials, figures)
        return cls(figures, scores, *costs, is_weighted, posterior_costs, units)

    @property
    def table(self) -> CountTable:
        """Trials of both classes in ascending order of score."""
        return self.ranks.table

    @property
    def pav(self) -> Pav:
        """PAV blocks."""
        return self.ranks.pav

    @property
    def rocch(self) -> Rocch:
        """Convex hull of the ROC."""
        return self.ranks.rocch

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
        """Trials (or weight) whose score is that of a trial of the other class."""
        return self.table.n_tied

    @property
    def n_infinite(self) -> int | float:
        """Trials (or weight) with an infinite score."""
        return self.ranks.tar.infinite + self.ranks.non.infinite

    @property
    def cllr(self) -> float:
        """In bits."""
        return mixed(self.cost_tar, self.cost_non, 0.0) / math.log(2)

    @cached_property
    def recalibrated(self) -> ScoredTrials:
        """The blocks of PAV as trials: their costs are the least that there are."""
        return self.ranks.recalibrated

    @cached_property
    def finite_range(self) -> tuple[float, float] | None:
        """Lowest and highest finite score; None if there is none."""
        ends = [end for c in (self.ranks.tar, self.ranks.non) if c.finite_range for end in c.finite_range]
        return (min(ends), max(ends)) if ends else None

    def errors(self, thresholds: FloatArray) -> ErrorCounts:
        """Misses and false alarms at any thresholds; a score equal to a threshold is accepted."""
        return self.ranks.error_counts(thresholds)

    def __add__(self, other: object) -> Summary:
        return merged([self, other]) if isinstance(other, Summary) else NotImplemented


def summarize(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    figures: TwoClassFigures | None = None,
    tar_weights: Weights = None,
    non_weights: Weights = None,
    tar_units: Units = None,
    non_units: Units = None,
) -> Summary:
    """Sort the scores of one part of the trials, or of all, once.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger favours target. Infinite scores are legal. A part of the trials
        may have none of a class, or no trial at all.
    figures : TwoClassFigures, optional
        What is asked for; the same for all parts.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.
    tar_units, non_units : (n,) or (n, 2) array_like, optional
        Speakers or other units that trials share: see `deciban.evaluation.evaluate`.

    Returns
    -------
    Summary

    Raises
    ------
    InputError
        If a score is NaN or no number, or weights do not fit.

    Examples
    --------
    >>> from deciban.evaluation.two_class import evaluate, evaluation_of
    >>> parts = [summarize([1.0, 2.0], []), summarize([2.0], [0.0, 1.0, -1.0])]
    >>> evaluation_of(merged(parts)) == evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])
    True
    """
    tar_class = _sorted(tar, tar_weights, "tar")
    scores = SortedScores.of_sorted(tar_class, _sorted(non, non_weights, "non"))
    is_weighted = tar_weights is not None or non_weights is not None
    chosen = TwoClassFigures() if figures is None else figures
    if not isinstance(chosen, TwoClassFigures):
        raise InputError(f"figures: got {type(chosen).__name__}. Pass TwoClassFigures([0.01]), or leave it out.")
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
        If there is none, or they were asked for different things.

    Examples
    --------
    >>> merged([summarize([1.0], [0.0]), summarize([2.0], [])]).n_tar
    2
    """
    parts = list(summaries)
    if not parts:
        raise InputError("summaries: none given. Merge at least one.")
    first = parts[0].figures
    for at, part in enumerate(parts):
        if part.figures != first:
            raise InputError(
                f"summaries: the first was asked for {first}, that at index {at} for {part.figures}. Sums of different "
                "things do not add up: make all parts with the same figures."
            )
    have_units = {part.units is not None for part in parts}
    if len(have_units) > 1:
        raise InputError("summaries: units are known of some, not of others. Name the units of all parts, or of none.")
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


def _threshold_rule(rule: Any) -> ThresholdRule:
    from deciban.rules.families import ThresholdRule  # few have a custom rule

    if not isinstance(rule, ThresholdRule):
        raise InputError(
            f"rule: got {type(rule).__name__}. It is a ThresholdWeights or ThresholdDensity of deciban.rules; "
            "deciban.io.read_rule makes one of a file."
        )
    return rule


def _listed(values: FloatArray) -> tuple[float, ...]:
    return tuple(np.atleast_1d(values).ravel().tolist())


def _priors(values: ArrayLike) -> FloatArray:
    """Priors as probabilities; none is possible, unlike where one is needed."""
    priors = _validate.finite(values, "posteriors_at")
    wrong = priors[(priors <= 0.0) | (priors >= 1.0)]
    if len(wrong):
        raise InputError(f"posteriors_at: got {wrong[0]:g}. A prior is a probability inside (0, 1).")
    return priors


def _sorted(scores: ArrayLike, weights: ArrayLike | None, name: str) -> SortedClass:
    """Sort a class that may be empty, or have nothing but weights of 0."""
    given = _validate.array(scores, name)
    if given.shape != (0,):
        checked = _validate.scores(given, name)
        kept = None if weights is None else _validate.array(weights, f"{name}_weights")
        if kept is None or kept.dtype.kind not in "biuf" or kept.any():
            return SortedClass.of(checked, _validate.weights(kept, len(checked), f"{name}_weights"))
    if weights is not None and np.shape(weights) != given.shape:
        raise InputError(
            f"{name}_weights: {np.size(weights)} weights for {given.size} trials. Give one weight per trial."
        )
    return SortedClass.of(np.zeros(0), None if weights is None else np.zeros(0, np.int64))
