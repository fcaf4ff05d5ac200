"""The summary of one system's scores: everything that tables, curves and notes are made of, and mergeable.

It holds what one sort of the scores tells (counts of ranks) and the sums of the costs that are asked for. Where the
scores come from (arrays, a condition of a key, one part of a data set, later a stream) does not show in it, and what
stands above it sees nothing else.

What is asked of an evaluation, the operating points, stands here, too.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.core.ranks.counts import CountTable, SortedClass
from deciban.core.ranks.hull import Pav, Rocch
from deciban.core.ranks.operating import OperatingPoint, PointLike, as_operating_point
from deciban.core.rules.expected import ErrorCounts, MeanCost, log_cost, mixed
from deciban.errors import InputError
from deciban.evaluation.requested import PosteriorCosts, posterior_costs_of
from deciban.evaluation.unit_trials import TrialsByUnit, UnitTrials
from deciban.metrics import SortedScores
from deciban.metrics.scores import FACTORS, ScoredTrials, factors_of, rates_of, threshold_of
from deciban.types import Axis, FloatArray, Units, Weights

if TYPE_CHECKING:
    from deciban.evaluation.requested import OwnRule

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
    rule: OwnRule | None

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
            "rule": None if rule is None else _own_rule(rule),
        }
        for name, value in found.items():
            object.__setattr__(self, name, value)

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
    posterior_costs : tuple of PosteriorCosts
        At each prior at which posteriors are asked for.
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
        functools.reduce(MeanCost.__add__, [part.cost_tar for part in parts]),
        functools.reduce(MeanCost.__add__, [part.cost_non for part in parts]),
        any(part.is_weighted for part in parts),
        tuple(
            functools.reduce(PosteriorCosts.__add__, at) for at in zip(*(p.posterior_costs for p in parts), strict=True)
        ),
        UnitTrials.merged([p.units.in_memory("merged") for p in parts if p.units is not None])
        if True in have_units
        else None,
    )


def _own_rule(rule: Any) -> OwnRule:
    from deciban.evaluation.requested import OwnRule  # only for who has one

    return OwnRule.of(rule)


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
