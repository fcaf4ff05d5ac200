"""Parts of a multiclass summary that add up, and trials with their units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.special import expit, logit, logsumexp

from deciban._validate.arrays import all_finite
from deciban._validate.probabilities import like_posteriors
from deciban.core.classes.certainty import ruled_out
from deciban.core.classes.counts import chosen
from deciban.core.classes.loglik import are_alike, relative
from deciban.core.ranks.operating import OperatingPoint
from deciban.core.resampling.class_sums import ClassMeans
from deciban.core.resampling.unit_counts import joined_units, merged_units
from deciban.core.resampling.units import TrialUnits
from deciban.core.training.multiclass_objective import ClassTrials
from deciban.errors import InputError
from deciban.evaluation.curves import prior_axis
from deciban.evaluation.multiclass.decided_at import PRIORS
from deciban.evaluation.multiclass.problem_sums import CountedProblems
from deciban.evaluation.multiclass.result import ClassCurves, ClassPoint
from deciban.evaluation.reliability import reliability_of_classes
from deciban.multiclass import DetectionAnalysis
from deciban.multiclass.analysis import detection_analysis_of
from deciban.multiclass.costs import calibrated_surprises, trial_quadratic_costs, trial_surprises
from deciban.multiclass.decision_errors import c_avg_of, open_set_cost
from deciban.multiclass.recalibration import ClassCalibration
from deciban.multiclass.tables import AnyDetectors, ByClass, Detectors, Pairs, ScoredClasses
from deciban.types import AnyArray, FloatArray, IntArray, ScoreArray, Units

if TYPE_CHECKING:
    from deciban.evaluation.multiclass.summary import ClassSummary


_LOOKED_AT = 1000
"""Trials that tell what scores look like."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoreChecks:
    """What scores look like; ``a + b`` is what holds for the trials of both.

    Attributes
    ----------
    are_probabilities, are_log_posteriors : bool
        Whether rows sum to 1, as they are or as exponentials; judged by some trials of each part.
    alike : (n_classes,) array or None
        The log-likelihoods of all trials, but for what is added to all classes of one; None if they differ.
    n_wrong : int
        Trials whose true class infinite scores rule out.
    first_wrong : (int, int) or None
        Position and class of the first of them; not known of merged trials.
    """

    are_probabilities: bool
    are_log_posteriors: bool
    alike: FloatArray | None
    n_wrong: int
    first_wrong: tuple[int, int] | None

    @classmethod
    def of(cls, trials: ScoredClasses) -> ScoreChecks:
        """Look at checked trials."""
        alike = relative(trials.loglik, slice(0, 1))[:, 0] if are_alike(trials.loglik) else None
        return cls(*_units(trials.loglik), alike, *_wrong(trials))

    def __add__(self, other: ScoreChecks) -> ScoreChecks:
        """What holds for the trials of both."""
        same = self.alike is not None and other.alike is not None and np.array_equal(self.alike, other.alike)
        return ScoreChecks(
            self.are_probabilities and other.are_probabilities,
            self.are_log_posteriors and other.are_log_posteriors,
            self.alike if same else None,
            self.n_wrong + other.n_wrong,
            None,
        )


def _units(loglik: ScoreArray) -> tuple[bool, bool]:
    some: AnyArray = loglik[:: max(len(loglik) // _LOOKED_AT, 1)].astype(np.float64)
    if like_posteriors(some):
        return True, False
    return False, bool(np.all(some <= 1e-6) and np.allclose(logsumexp(some, axis=1), 0.0, atol=1e-3))


def _wrong(trials: ScoredClasses) -> tuple[int, tuple[int, int] | None]:
    if all_finite(trials.loglik):
        return 0, None
    infinite = np.isinf(trials.loglik).any(axis=1)
    rows = np.flatnonzero(infinite if trials.weights is None else infinite & (trials.weights > 0))
    no_weights = np.zeros(trials.n_classes)
    wrong = rows[ruled_out(ClassTrials(trials.loglik[rows][:, None, :], trials.label[rows], no_weights, None))]
    return len(wrong), (int(wrong[0]), int(trials.label[wrong[0]])) if len(wrong) else None


@dataclass(frozen=True, slots=True, eq=False)
class InTurn:
    """Problems of trials in memory: each is made when it is asked for and goes when it has been used.

    Attributes
    ----------
    trials : ScoredClasses
    rivals : tuple of (n_classes,) arrays
        Priors of the detectors: one for all points, or one for each where a class is out of set.
    has_pairs : bool
    units : TrialUnits or None
        Of the trials in their order.
    stratum : (n_trials,) int array or None
        What has a mean of its own, ascending within each class; None if this is the class.
    """

    trials: ScoredClasses
    rivals: tuple[FloatArray, ...]
    has_pairs: bool
    units: TrialUnits | None = None
    stratum: IntArray | None = None

    @classmethod
    def empty(cls, classes: tuple[str, ...]) -> InTurn:
        """Return those of no trial."""
        return cls(
            ScoredClasses(np.zeros((0, len(classes))), np.zeros(0, np.int64), None, classes), (), has_pairs=False
        )

    def detectors(self, at: int) -> Detectors:
        """Each class against the rest, by one of the priors."""
        return Detectors.of(self.trials, self.rivals[at])

    def pairs(self) -> Pairs | None:
        """Each class against each other one, if that is asked for."""
        return Pairs.of(self.trials) if self.has_pairs else None

    @classmethod
    def merged(cls, parts: Sequence[InTurn]) -> InTurn:
        """The problems of the trials of all parts, of which none has strata.

        Raises
        ------
        InputError
            If units are known of some parts only.
        """
        all_trials, known = [part.trials for part in parts], [part.units for part in parts if part.units is not None]
        if known and len(known) < len(parts):
            raise InputError(
                "summaries: units are known of some, not of others. Name the units of all parts, or of none."
            )
        weights = None
        if any(one.weights is not None for one in all_trials):
            own = (np.ones(len(one.label), np.int64) if one.weights is None else one.weights for one in all_trials)
            weights = np.concatenate(list(own))
        loglik, label = (np.concatenate([getattr(one, name) for one in all_trials]) for name in ("loglik", "label"))
        units = joined_units(merged_units(known)) if known else None
        return replace(
            parts[0], trials=replace(all_trials[0], loglik=loglik, label=label, weights=weights), units=units
        )


Problems: TypeAlias = InTurn | CountedProblems
"""How a summary has them."""


def detection_costs(summary: ClassSummary) -> tuple[tuple[ClassPoint, ...], DetectionAnalysis, ClassCurves]:
    """Average costs at each point, the detectors at the first one, and the curves of both.

    Detectors are sorted once for all points and curves. Where a class is out of set, the shares of the rivals depend on
    the prior of the target: curves of detectors have those of the first point, and each further point needs detectors
    of its own for its least costs.
    """
    points = summary.figures.p_target
    axis = prior_axis(summary.figures.thresholds)
    found, costs = _first(summary, axis)
    each = [found.at(k) for k in range(len(points))]
    if summary.accepted is not None:
        more = enumerate(points[1:], start=1)
        each[1:] = [_analysis(summary, summary.problems.detectors(k), np.array([p])).at(0) for k, p in more]
    curves = ClassCurves(
        prior_log_odds=summary.places,
        c_avg=costs[len(points) :],
        detector_log_odds=axis,
        act_error=found.cost[:, len(points) :],
        min_error=found.min_cost[:, len(points) :],
        reliability=reliability_of_classes(summary.pooled_odds, summary.prior),
        sample=None if summary.whole is None else summary.whole.sample,
        c_avg_at=_costs_at_priors(summary),
    )
    at_points = tuple(
        ClassPoint(p, cost, cost / OperatingPoint(p).default_cost, float(one.mean_min_cost))
        for p, cost, one in zip(points, costs.tolist(), each, strict=False)
    )
    return at_points, each[0], curves


def _first(summary: ClassSummary, axis: FloatArray) -> tuple[DetectionAnalysis, FloatArray]:
    """What the detectors at the first point say, which are gone when the next ones are made.

    An analysis at the points and at the places of the curves of detectors, and average detection costs at the points
    and at the places of their own curve.
    """
    points, detectors = summary.figures.p_target, summary.problems.detectors(0)
    priors = np.append(points, expit(summary.places))
    if summary.accepted is None:
        costs = c_avg_of(detectors, np.asarray(logit(priors)))
    else:
        assert summary.figures.p_out_of_set is not None  # noqa: S101  # then decisions were counted
        costs = open_set_cost(summary.accepted, summary.counts, priors, summary.figures.p_out_of_set)
    return _analysis(summary, detectors, np.append(points, expit(axis))), costs


def _costs_at_priors(summary: ClassSummary) -> FloatArray | None:
    """Average detection costs at the priors that decisions are counted at; None where detectors cannot tell."""
    if summary.accepted is not None or isinstance(summary.problems, CountedProblems):
        return None
    return c_avg_of(summary.problems.detectors(0), np.asarray(logit(PRIORS)))


def _analysis(summary: ClassSummary, detectors: AnyDetectors, p_target: FloatArray) -> DetectionAnalysis:
    """One set of detectors, without that of a class that is out of set."""
    n_classes = len(summary.classes)
    log_odds = np.asarray(logit(p_target))
    found = detection_analysis_of(detectors, p_target, log_odds, np.ones(n_classes), summary.classes)
    if summary.figures.p_out_of_set is None:
        return found
    names = ("target", "cost", "min_cost", "eer", "cllr", "min_cllr")
    arrays = {name: getattr(found, name)[:-1] for name in names}
    return replace(found, classes=summary.classes[:-1], **arrays)


@dataclass(frozen=True, slots=True, eq=False)
class ClassUnitTrials:
    """Trials that count, class by class.

    Attributes
    ----------
    costs : ByClass
        Rows are the logarithmic cost at the flat prior and at the prior, in nats, the quadratic cost, and the position
        of the class that was decided for.
    stratum : (n_trials,) int array
        Position of what has a mean of its own: the class, or of a group of classes each of these.
    units : TrialUnits
    least : (n_trials,) array or None
        Logarithmic cost after the best scale and offsets, at the flat prior; None where these were not trained.
    """

    costs: ByClass
    stratum: IntArray
    units: TrialUnits
    least: FloatArray | None = None

    @classmethod
    def of(
        cls,
        trials: ScoredClasses,
        prior: FloatArray,
        units: TrialUnits,
        *,
        stratum: IntArray | None = None,
        calibration: ClassCalibration | None = None,
    ) -> ClassUnitTrials:
        """From checked trials with their units; a part may lack classes.

        Parameters
        ----------
        trials : ScoredClasses
        prior : (n_classes,) array
            Positive.
        units : TrialUnits
            In the order of the trials.
        stratum : (n_trials,) int array, optional
            Ascending within each class; the class when left out.
        calibration : ClassCalibration, optional
            At the flat prior.
        """
        n_classes = trials.n_classes
        rows = [trials.rows(k) for k in range(n_classes)]
        order, flat = np.concatenate(rows), np.full(n_classes, 1.0 / n_classes)
        surprise = trial_surprises(trials, flat)
        costs: FloatArray = np.stack(
            (
                surprise,
                surprise if np.array_equal(prior, flat) else trial_surprises(trials, prior),
                trial_quadratic_costs(trials, prior),
                chosen(trials.loglik, prior)[order].astype(np.float64),
            )
        )
        least = None if calibration is None else calibrated_surprises(trials, calibration.scale, calibration.offset)
        by_class = ByClass(costs, np.array([len(one) for one in rows]), trials.weights_of(order))
        own = by_class.label if stratum is None else stratum[order]
        return cls(by_class, own, units.take(order), least)

    def means(self) -> ClassMeans:
        """What the influences of units are made of."""
        return ClassMeans.of(self.costs.label, self.stratum, self.costs.weights, self.units)


def units_of_trials(units: Units, n_trials: int) -> TrialUnits | None:
    """Units as they were given, for so many trials; None if there are none.

    Raises
    ------
    InputError
        If they are not as many as trials, or no units.
    """
    if units is None:
        return None
    found = units if isinstance(units, TrialUnits) else TrialUnits.of(units)
    if found.n_trials != n_trials:
        raise InputError(
            f"units: of {found.n_trials} trials for {n_trials} rows of loglik. Give one row for each trial."
        )
    return found
