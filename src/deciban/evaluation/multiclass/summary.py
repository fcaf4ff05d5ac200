"""The summary of one system's scores for many classes: everything that tables, curves and notes are made of.

Counts, sums of costs, detectors and pairs of parts of the trials add up. What needs all trials at once (trained optima,
costs of subsets, a sample to draw) is made while they are there and is not part of what adds up: see `WholeOnly`.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from deciban.core.classes.counts import accepted_open_set
from deciban.core.classes.shown import Shown
from deciban.core.resampling.units import TrialUnits
from deciban.core.rules.expected import MeanCost
from deciban.errors import InputError
from deciban.evaluation.curves import prior_axis
from deciban.evaluation.multiclass.decided_at import DecidedAt
from deciban.evaluation.multiclass.figures import WEIGHTED, ClassFigures
from deciban.evaluation.multiclass.problem_sums import pooled_odds
from deciban.evaluation.multiclass.summands import ClassUnitTrials, InTurn, Problems, ScoreChecks, units_of_trials
from deciban.evaluation.reliability import PooledOdds
from deciban.multiclass.analysis import SubsetCosts, subset_c_avg_of
from deciban.multiclass.costs import mixed, quadratic_costs, surprises
from deciban.multiclass.decision_errors import confusion_of
from deciban.multiclass.recalibration import ClassCalibration, calibration_analysis_of
from deciban.multiclass.tables import ScoredClasses
from deciban.types import CountArray, FloatArray, IntArray, Names, ScoreArray, Units, Weights

if TYPE_CHECKING:
    from deciban.rules import Capacity

DRAWN = 1000
"""Trials of a class, at most, that a plot shows one by one."""

_PLACES = 141
"""Priors of a target at which C_avg is drawn."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class WholeOnly:
    """What needs all trials at once: it is lost when summaries are merged.

    Attributes
    ----------
    calibration : ClassCalibration or None
        The optima of calibration analysis, which are trained; None where trials are read in pieces and none is best.
    subsets : SubsetCosts or None
        Costs of all subsets.
    sample : ((n, n_classes) array, (n,) array) or None
        Log-likelihoods and classes of trials to draw, of three classes to twelve.
    capacity : Capacity or None
        The most that is told at any prior, where it was asked for.
    """

    calibration: ClassCalibration | None
    subsets: SubsetCosts | None
    sample: tuple[ScoreArray, IntArray] | None
    capacity: Capacity | None = None


@dataclass(frozen=True, eq=False)
class ClassSummary:
    """What is known of the scores of one system for many classes.

    ``a + b`` gives the summary of the trials of both: counts to the bit, sums of costs to about 1e-16. It has no
    ``whole``. A part may lack a class; an evaluation needs all.

    Attributes
    ----------
    figures : ClassFigures
        What was asked for.
    classes : tuple of str
    prior : (n_classes,) array
        Of the figures that depend on one.
    counts : (n_classes,) array
        Trials of each class, or their weight.
    n_infinite : int
        Trials with an infinite score.
    surprise, flat_surprise, quadratic : tuple of MeanCost
        Costs of each class: the logarithmic one at the prior and at the flat prior, in nats, and the quadratic one.
    confusion : (n_classes, n_classes) array
        Decisions at the prior.
    problems : InTurn or CountedProblems
        Each class against the rest, and pairs; counted by passes of their own where trials do not fit in memory.
    accepted : (n_priors, n_targets, n_classes) array or None
        Trials accepted at the points and at the priors of the curve, where a class is out of set.
    checks : ScoreChecks
        What the scores look like.
    counted_odds : PooledOdds or None
        Posteriors of the recognized class at the prior, where problems are counted.
    is_weighted : bool
    whole : WholeOnly or None
    decided : DecidedAt or None
        Decisions as the prior of one class changes; None of many classes.
    """

    figures: ClassFigures
    classes: tuple[str, ...]
    prior: FloatArray
    counts: CountArray
    n_infinite: int
    surprise: tuple[MeanCost, ...]
    flat_surprise: tuple[MeanCost, ...]
    quadratic: tuple[MeanCost, ...]
    confusion: CountArray
    problems: Problems
    accepted: CountArray | None
    checks: ScoreChecks
    counted_odds: PooledOdds | None
    is_weighted: bool
    whole: WholeOnly | None = None
    decided: DecidedAt | None = None

    @classmethod
    def of(
        cls,
        trials: ScoredClasses,
        figures: ClassFigures,
        *,
        whole: bool,
        units: TrialUnits | None = None,
        stratum: IntArray | None = None,
        only_sums: bool = False,
    ) -> ClassSummary:
        """From checked trials; ``whole`` says that these are all there are.

        ``only_sums`` leaves out detectors, pairs and posteriors, which grow with the trials: who does so counts them.

        Units are those of the trials; ``stratum`` tells what has a mean of its own within each class, in which it
        ascends: the class, when it is left out.
        """
        classes = trials.classes or tuple(map(str, range(trials.n_classes)))
        prior, flat = figures.prior_of(classes), np.full(len(classes), 1.0 / len(classes))
        out_of_set, uneven = figures.out_of_set(len(classes)), "" if trials.weights is None else WEIGHTED
        lacking = figures.why_no_subsets(len(classes), uneven)  # refuses subsets that are impossible
        flat_surprise = surprises(trials, flat)
        all_at_once = None
        if whole:
            calibration = calibration_analysis_of(trials, flat, mixed(flat_surprise, flat))
            all_at_once = WholeOnly(
                calibration,
                None if lacking else subset_c_avg_of(trials, figures.p_target[0]),
                drawn_of(trials),
                _capacity(trials, calibration) if figures.capacity else None,
            )
        has_pairs = not figures.why_no_pairs(len(classes))
        in_turn = InTurn(trials, figures.rivals(len(classes)), has_pairs, units, stratum)
        return cls(
            figures=figures,
            classes=classes,
            prior=prior,
            counts=trials.totals(),
            n_infinite=int(np.count_nonzero(np.isinf(trials.loglik).any(axis=1))),
            surprise=flat_surprise if np.array_equal(prior, flat) else surprises(trials, prior),
            flat_surprise=flat_surprise,
            quadratic=quadratic_costs(trials, prior),
            confusion=confusion_of(trials, prior),
            problems=InTurn.empty(classes) if only_sums else in_turn,
            accepted=None if out_of_set is None else _accepted(trials, figures, out_of_set),
            checks=ScoreChecks.of(trials),
            counted_odds=None,
            is_weighted=trials.weights is not None,
            whole=all_at_once,
            decided=DecidedAt.of(trials, prior),
        )

    @property
    def places(self) -> FloatArray:
        """Log odds of the priors of a target at which C_avg is drawn."""
        return c_avg_places(self.figures)

    @property
    def pooled_odds(self) -> PooledOdds:
        """Posteriors of the recognized class of all trials together."""
        if self.counted_odds is not None:
            return self.counted_odds
        return pooled_odds(self.in_turn.trials, self.prior)

    @property
    def in_turn(self) -> InTurn:
        """The problems of trials in memory.

        Raises
        ------
        InputError
            If they were counted.
        """
        if isinstance(self.problems, InTurn):
            return self.problems
        raise InputError(
            "summaries: one is of trials whose detectors were counted, and no longer adds up. Merge first."
        )

    @cached_property
    def units(self) -> ClassUnitTrials | None:
        """What trials cost, with the speakers or other units that they share; None where these are not known."""
        known = self.problems
        if not isinstance(known, InTurn) or known.units is None:
            return None
        best = None if self.whole is None else self.whole.calibration
        return ClassUnitTrials.of(known.trials, self.prior, known.units, stratum=known.stratum, calibration=best)

    def __add__(self, other: object) -> ClassSummary:
        return merged_classes([self, other]) if isinstance(other, ClassSummary) else NotImplemented


def summarize_classes(
    loglik: ArrayLike,
    label: ArrayLike,
    *,
    figures: ClassFigures | None = None,
    classes: Names = None,
    sample_weight: Weights = None,
    units: Units = None,
) -> ClassSummary:
    """Summarize a part of the trials, to be merged with others.

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Natural-log likelihoods, of at least one trial.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given. A part may lack classes.
    figures : ClassFigures, optional
        What is asked for; the same for all parts. Groups and subsets are of all trials: they are refused here.
    classes : sequence of str, optional
        Names of the columns; ``0``, ``1``, ... when left out.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0.
    units : (n_trials,) or (n_trials, 2) array_like, optional
        Speakers or other units that trials share: see `deciban.evaluation.evaluate_classes`.

    Returns
    -------
    ClassSummary

    Raises
    ------
    InputError
        If there is NaN, a label is no class, or something is asked for that needs all trials.

    Examples
    --------
    >>> one, other = summarize_classes([[2.0, 0.0]], [0]), summarize_classes([[0.0, 1.0], [0.5, 0.0]], [1, 1])
    >>> (one + other).confusion
    array([[1, 0],
           [1, 1]])
    """
    asked = figures or ClassFigures()
    asked.require_parts()
    if asked.groups is not None or asked.subsets:
        what = "groups" if asked.groups is not None else "subsets"
        raise InputError(f"{what}: these need all trials at once, and parts do not have them. Leave {what} out.")
    trials = ScoredClasses.of(loglik, label, sample_weight, classes)
    return ClassSummary.of(trials, asked, whole=False, units=units_of_trials(units, len(trials.label)))


def merged_classes(summaries: Iterable[ClassSummary]) -> ClassSummary:
    """Summarize the trials of all parts, without what needs all of them at once.

    Parameters
    ----------
    summaries : iterable of ClassSummary
        At least one; no trial is in two of them.

    Returns
    -------
    ClassSummary

    Raises
    ------
    InputError
        If there is none, or they have other classes, were asked for different things, or only some have units.

    Examples
    --------
    >>> parts = [summarize_classes([[2.0, 0.0]], [0]), summarize_classes([[0.0, 1.0]], [1])]
    >>> merged_classes(parts).counts
    array([1, 1])
    """
    parts = list(summaries)
    if not parts:
        raise InputError("summaries: none given. Merge at least one.")
    first = parts[0]
    for at, part in enumerate(parts):
        for what in ("classes", "figures"):
            one, other = getattr(first, what), getattr(part, what)
            if one != other:
                raise InputError(
                    f"summaries: the {what} of the first are {one}, those at index {at} are {other}. Sums of different "
                    "things do not add up: make all parts alike."
                )

    def all_of(get: Callable[[ClassSummary], T]) -> list[T]:
        return [get(part) for part in parts]

    return replace(
        first,
        counts=_total(all_of(lambda part: part.counts)),
        n_infinite=sum(part.n_infinite for part in parts),
        surprise=_sums(all_of(lambda part: part.surprise)),
        flat_surprise=_sums(all_of(lambda part: part.flat_surprise)),
        quadratic=_sums(all_of(lambda part: part.quadratic)),
        confusion=_total(all_of(lambda part: part.confusion)),
        problems=InTurn.merged(all_of(lambda part: part.in_turn)),
        accepted=None if first.accepted is None else _total([x for x in all_of(lambda p: p.accepted) if x is not None]),
        checks=functools.reduce(ScoreChecks.__add__, all_of(lambda part: part.checks)),
        is_weighted=any(part.is_weighted for part in parts),
        whole=None,
        decided=_decided(all_of(lambda part: part.decided)),
    )


def _decided(parts: Sequence[DecidedAt | None]) -> DecidedAt | None:
    """Of all parts together, unless one does not know."""
    known = [part for part in parts if part is not None]
    return functools.reduce(DecidedAt.__add__, known) if len(known) == len(parts) else None


def _total(counts: Sequence[CountArray]) -> CountArray:
    return functools.reduce(np.add, counts)


def _sums(parts: Sequence[tuple[T, ...]]) -> tuple[T, ...]:
    """Of each class, what all parts add up to."""
    return tuple(functools.reduce(operator.add, of_class) for of_class in zip(*parts, strict=True))


def c_avg_places(figures: ClassFigures) -> FloatArray:
    """Log odds at which C_avg is drawn: where a class that is out of set leaves something for other non-targets."""
    axis = prior_axis(figures.thresholds, _PLACES)
    if figures.p_out_of_set is None:
        return axis
    kept = axis[1.0 - expit(axis) > figures.p_out_of_set]
    return kept if len(kept) else -np.array(figures.thresholds[:1])  # a prior that is too extreme for plots


def _capacity(trials: ScoredClasses, calibration: ClassCalibration) -> Capacity:
    from deciban.rules.delivered import calibrated_capacity_of  # which searches: only for who asks

    return calibrated_capacity_of(trials, calibration.scale, calibration.offset)


def _accepted(trials: ScoredClasses, figures: ClassFigures, p_out_of_set: float) -> CountArray:
    priors = np.concatenate((figures.p_target, expit(c_avg_places(figures))))
    return accepted_open_set(trials.loglik, trials.label, trials.weights, priors, p_out_of_set)


_MOST_SHOWN = 12
"""Classes of which trials are kept for pictures of three of them."""


def shown_of(trials: ScoredClasses) -> Shown | None:
    """Trials of all kinds that a plot has room for, whatever the order in which they came; those of parts add up.

    None for two classes, and for more than `_MOST_SHOWN`.
    """
    if not 3 <= trials.n_classes <= _MOST_SHOWN:
        return None
    rows = np.concatenate([trials.rows(k) for k in range(trials.n_classes)])
    return Shown.of(trials.loglik[rows], trials.label[rows], 3 * DRAWN // trials.n_classes)


def drawn_of(trials: ScoredClasses) -> tuple[ScoreArray, IntArray] | None:
    """The same as log-likelihoods and classes."""
    shown = shown_of(trials)
    return None if shown is None else (shown.loglik, shown.label)
