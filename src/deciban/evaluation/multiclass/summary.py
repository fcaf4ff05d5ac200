"""Mergeable summary of the multiclass scores of one system: the source of all tables, curves and notes.

Counts, sums of costs and trials can be added. Results that need all trials at once (trained optima, costs of subsets, a
sample for plots) are computed separately and are lost in a sum: see `WholeOnly`.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit, logsumexp

from deciban._validate.arrays import all_finite
from deciban._validate.classes import like_posteriors
from deciban.core.class_counts import ClassSample, accepted_open_set
from deciban.core.expected import MeanCost
from deciban.core.logliks import are_alike, relative
from deciban.core.ranks.counts import joined_weights
from deciban.core.ranks.roc import OperatingPoint, Pav
from deciban.core.resampling.unit_counts import joined_units, merged_units
from deciban.core.resampling.units import TrialUnits
from deciban.core.training.multiclass_objective import ClassTrials, ruled_out
from deciban.errors import InputError
from deciban.evaluation.curves import PooledOdds, Reliability, prior_axis, reliability_of_classes
from deciban.evaluation.multiclass import problem_sums
from deciban.evaluation.multiclass.problem_sums import ClassMetrics, CountedProblems
from deciban.evaluation.multiclass.result import ClassCurves, ClassEvaluation, ClassPoint
from deciban.evaluation.uncertainty import defer
from deciban.metrics import SortedScores
from deciban.multiclass import DetectionAnalysis, analysis
from deciban.multiclass.recalibration import ClassCalibration, calibration_analysis_of
from deciban.multiclass.tables import Detectors, ScoredClasses, mixed, scores_of, sums_of_costs, surprises
from deciban.types import AnyArray, CountArray, FloatArray, IntArray, Names, ScoreArray, Units, Weights

if TYPE_CHECKING:
    from deciban.rules import Capacity


_LOOKED_AT = 1000
"""Trials that are checked for the scale of the scores."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoreChecks:
    """Checks of the range and scale of scores; ``a + b`` covers the trials of both.

    Attributes
    ----------
    are_probabilities, are_log_posteriors : bool
        True if rows sum to 1, directly or as exponentials; checked on some trials of each part.
    alike : (n_classes,) array or None
        The log-likelihoods of all trials, up to a constant for each trial; None if they differ.
    n_wrong : int
        Trials whose true class is excluded by infinite scores.
    first_wrong : (int, int) or None
        Position and class of the first of them; unknown for merged trials.
    """

    are_probabilities: bool
    are_log_posteriors: bool
    alike: FloatArray | None
    n_wrong: int
    first_wrong: tuple[int, int] | None

    @classmethod
    def of(cls, trials: ScoredClasses) -> ScoreChecks:
        """Check trials."""
        alike = relative(trials.loglik, slice(0, 1))[:, 0] if are_alike(trials.loglik) else None
        return cls(*_units(trials.loglik), alike, *_wrong(trials))

    def __add__(self, other: ScoreChecks) -> ScoreChecks:
        """Add the checks of other trials."""
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
class LazyProblems:
    """Problems of trials in memory, which are created on request and not stored.

    Attributes
    ----------
    trials : ScoredClasses
    rivals : tuple of (n_classes,) arrays
        Priors of the detectors: one for all points, or one for each if a class is out of set.
    has_pairs : bool
    units : TrialUnits or None
        Units of the trials, in their order.
    stratum : (n_trials,) int array or None
        Groups of trials with separate means, ascending within each class; by default, the classes.
    """

    trials: ScoredClasses
    rivals: tuple[FloatArray, ...]
    has_pairs: bool
    units: TrialUnits | None = None
    stratum: IntArray | None = None
    _pavs: dict[int, list[Pav]] = field(default_factory=dict, init=False)

    @classmethod
    def empty(cls, classes: tuple[str, ...]) -> LazyProblems:
        """Return problems without trials."""
        return cls(
            ScoredClasses(np.zeros((0, len(classes))), np.zeros(0, np.int64), None, classes), (), has_pairs=False
        )

    def detectors(self, at: int) -> Detectors:
        """Return each class against the rest, at one of the priors."""
        return Detectors.of(self.trials, self.rivals[at])

    def solved(self, at: int, detectors: Iterable[SortedScores]) -> Iterator[SortedScores]:
        """Yield these detectors at one of the priors, and keep their PAV blocks."""
        pavs = list[Pav]()
        for one in detectors:
            yield one
            pavs.append(one.pav)
        self._pavs[at] = pavs

    def pavs(self, at: int) -> list[Pav]:
        """Return the PAV blocks of each class against the rest, at one of the priors."""
        return self._pavs.get(at) or [one.pav for one in self.detectors(at)]

    @classmethod
    def merged(cls, parts: Sequence[LazyProblems]) -> LazyProblems:
        """Merge the trials of parts without strata.

        Raises
        ------
        InputError
            If only some parts have units.
        """
        known = [part.units for part in parts if part.units is not None]
        if known and len(known) < len(parts):
            raise InputError("summaries: only some parts have units. Give the units of all parts, or of none.")
        units = joined_units(merged_units(known)) if known else None
        return replace(parts[0], trials=joined_trials([part.trials for part in parts]), units=units)


def joined_trials(parts: Sequence[ScoredClasses]) -> ScoredClasses:
    """Return the trials of all parts, which have the same classes."""
    weights = joined_weights([one.weights for one in parts], [len(one.label) for one in parts])
    loglik, label = (np.concatenate([getattr(one, name) for one in parts]) for name in ("loglik", "label"))
    return replace(parts[0], loglik=loglik, label=label, weights=weights)


Problems: TypeAlias = LazyProblems | CountedProblems
"""Problems of a summary."""


def detection_costs(summary: ClassSummary) -> tuple[tuple[ClassPoint, ...], DetectionAnalysis, ClassCurves]:
    """Return average costs at each point, the detectors at the first one, and the curves of both.

    Detectors are sorted once for all points and curves; average costs are means over them. If a class is out of set,
    the shares of the rivals depend on the prior of the target. Then curves of detectors have the shares of the first
    point, and each further point needs additional detectors for its minimum costs.
    """
    points, axis = summary.metrics.p_target, prior_axis(summary.metrics.thresholds)
    parts, c_avg_at = [np.array(points), expit(axis), expit(summary.places), problem_sums.PRIORS], None
    n, upto = len(points), np.cumsum([len(one) for one in parts])
    result = _analysis(summary, 0, np.concatenate(parts if summary.accepted is None else parts[:2]))
    each = [result.at(k) for k in range(n)]
    if summary.accepted is None or summary.metrics.p_out_of_set is None:
        costs, _, c_avg, c_avg_at = np.split(result.cost.mean(axis=0), upto[:-1])
        rates = result.rates[:, :2, upto[1] : upto[2]].mean(axis=0)
    else:
        priors = np.concatenate((parts[0], parts[2]))
        both = analysis.open_set_rates(summary.accepted, summary.counts, priors, summary.metrics.p_out_of_set)
        costs, c_avg = np.split(analysis.mean_cost(*both, logit(priors)), [n])
        rates = np.mean(both, axis=2)[:, n:]
        each[1:] = [_analysis(summary, k, np.array([p])).at(0) for k, p in enumerate(points[1:], start=1)]
    odds = summary.problems.odds if isinstance(summary.problems, CountedProblems) else None
    curves = ClassCurves(
        prior_log_odds=summary.places,
        c_avg=c_avg,
        c_avg_rates=rates,
        point_rates=np.stack([one.rates.mean(axis=0) for one in each]),
        detector_log_odds=axis,
        act_error=result.cost[:, n : upto[1]],
        min_error=result.min_cost[:, n : upto[1]],
        detector_rates=result.rates[..., n : upto[1]],
        reliability=cast("Reliability", odds and reliability_of_classes(odds, summary.prior)),  # see `completed`
        sample=None if summary.whole is None else summary.whole.sample,
        c_avg_at=c_avg_at,
    )
    at_points = tuple(
        ClassPoint(p, cost, cost / OperatingPoint(p).default_cost, float(one.mean_min_cost))
        for p, cost, one in zip(points, costs.tolist(), each, strict=True)
    )
    return at_points, each[0], curves


def _analysis(summary: ClassSummary, at: int, p_target: FloatArray) -> DetectionAnalysis:
    """Return the analysis of detectors at some priors, without an out-of-set class."""
    classes, log_odds = summary.classes, np.asarray(logit(p_target))
    problems, detectors = summary.problems, summary.problems.detectors(at)
    each = problems.solved(at, detectors) if isinstance(problems, LazyProblems) else detectors
    result = analysis.detection_analysis_of(each, detectors.cllrs(), p_target, log_odds, np.ones(len(classes)), classes)
    if summary.metrics.p_out_of_set is None:
        return result
    names = ("target", "cost", "min_cost", "eer", "cllr", "min_cllr", "rates")
    arrays = {name: getattr(result, name)[:-1] for name in names}
    return replace(result, classes=classes[:-1], **arrays)


DRAWN = 1000
"""Maximum number of trials of a class in a plot."""

_PLACES = 141
"""Number of priors of a target on the curve of C_avg."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class WholeOnly:
    """Results that need all trials at once, and are lost if summaries are merged.

    Attributes
    ----------
    calibration : ClassCalibration or None
        The trained optima of calibration analysis; None if trials are read in batches and there is no optimum.
    subsets : SubsetCosts or None
        Costs of all subsets; for trials in memory only if intervals need them.
    sample : ((n, n_classes) array, (n,) array) or None
        Log-likelihoods and classes of trials for plots of 3 to 12 classes, unless trials are in memory.
    capacity : Capacity or None
        Maximum information over priors, if requested.
    classifier : (dict of str to float, (n_classes, n_classes) array) or None
        Metrics of classifier papers and the decisions that they count, if requested.
    """

    calibration: ClassCalibration | None
    subsets: analysis.SubsetCosts | None
    sample: tuple[ScoreArray, IntArray] | None
    capacity: Capacity | None = None
    classifier: tuple[dict[str, float], CountArray] | None = None


@dataclass(frozen=True, eq=False)
class ClassSummary:
    """Summary of the multiclass scores of one system.

    ``a + b`` returns the summary of the trials of both: counts are identical to the bit, sums of costs to about 1e-16.
    It has no ``whole``. A part can lack a class; an evaluation needs all.

    Attributes
    ----------
    metrics : ClassMetrics
        Requested metrics.
    classes : tuple of str
    prior : (n_classes,) array
        Prior of the metrics that depend on one.
    counts : (n_classes,) array
        Number or total weight of trials of each class.
    n_infinite : int
        Trials with an infinite score.
    surprise, flat_surprise, quadratic : tuple of MeanCost
        Costs of each class: logarithmic at the prior and at the flat prior, in nats, and quadratic.
    confusion : (n_classes, n_classes) array
        Decisions at the prior.
    problems : LazyProblems or CountedProblems
        Each class against the rest, and pairs; counted in separate passes if trials do not fit in memory.
    accepted : (n_priors, n_targets, n_classes) array or None
        Trials accepted at the points and at the priors of the curve, if a class is out of set.
    checks : ScoreChecks
        Checks of the range and scale of scores.
    is_weighted : bool
    whole : WholeOnly or None
    decided : DecidedAt or None
        Decisions as the prior of one class changes; None for many classes, and for trials in memory, which are counted
        on request.
    """

    metrics: ClassMetrics
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
    is_weighted: bool
    whole: WholeOnly | None = None
    decided: problem_sums.DecidedAt | None = None

    @classmethod
    def of(
        cls,
        trials: ScoredClasses,
        metrics: ClassMetrics,
        *,
        whole: bool,
        units: TrialUnits | None = None,
        stratum: IntArray | None = None,
        only_sums: bool = False,
        has_pages: bool = True,
    ) -> ClassSummary:
        """Summarize checked trials; ``whole`` is True if these are all trials.

        ``only_sums`` leaves out detectors, pairs and posteriors, which grow with the trials and are counted elsewhere.
        Decisions at other priors are only counted then, and only if there may be pages.

        ``stratum`` defines groups of trials with separate means, ascending within each class; by default, the classes.
        """
        classes = trials.classes or tuple(map(str, range(trials.n_classes)))
        prior, flat = metrics.prior_of(classes), np.full(len(classes), 1.0 / len(classes))
        out_of_set, uneven = metrics.out_of_set(len(classes)), "" if trials.weights is None else problem_sums.WEIGHTED
        lacking = metrics.why_no_subsets(len(classes), uneven)  # raises if requested subsets are impossible
        surprise, quadratic = sums_of_costs(trials, prior)
        flat_surprise = surprise if np.array_equal(prior, flat) else surprises(trials, flat)
        all_at_once = None
        if whole:
            calibration = calibration_analysis_of(trials, flat, mixed(flat_surprise, flat))
            all_at_once = WholeOnly(
                calibration,
                None if lacking or units is None else analysis.subset_c_avg_of(trials, metrics.p_target[0]),
                None,
                _capacity(trials, calibration) if metrics.capacity else None,
                analysis.classifier_metrics_of(trials) if metrics.classifier else None,
            )
        has_pairs = not metrics.why_no_pairs(len(classes))
        in_turn = LazyProblems(trials, metrics.rivals(len(classes)), has_pairs, units, stratum)
        return cls(
            metrics=metrics,
            classes=classes,
            prior=prior,
            counts=trials.totals(),
            n_infinite=0 if all_finite(trials.loglik) else int(np.isinf(trials.loglik).any(axis=1).sum()),
            surprise=surprise,
            flat_surprise=flat_surprise,
            quadratic=quadratic,
            confusion=analysis.confusion_of(trials, prior),
            problems=LazyProblems.empty(classes) if only_sums else in_turn,
            accepted=None if out_of_set is None else _accepted(trials, metrics, out_of_set),
            checks=ScoreChecks.of(trials),
            is_weighted=trials.weights is not None,
            whole=all_at_once,
            decided=problem_sums.DecidedAt.of(trials, prior) if only_sums and has_pages else None,
        )

    @property
    def places(self) -> FloatArray:
        """Log odds of the priors of a target on the curve of C_avg."""
        return c_avg_places(self.metrics)

    @property
    def in_turn(self) -> LazyProblems:
        """Problems of trials in memory.

        Raises
        ------
        InputError
            If they were counted.
        """
        if isinstance(self.problems, LazyProblems):
            return self.problems
        raise InputError("summaries: the detectors of one summary were counted, so it cannot be merged. Merge first.")

    def __add__(self, other: object) -> ClassSummary:
        return merged_classes([self, other]) if isinstance(other, ClassSummary) else NotImplemented


def summarize_classes(
    loglik: ArrayLike,
    label: ArrayLike,
    *,
    metrics: ClassMetrics | None = None,
    classes: Names = None,
    sample_weight: Weights = None,
    units: Units = None,
) -> ClassSummary:
    """Summarize a part of the trials, for `merged_classes`.

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Natural-log likelihoods, of at least one trial.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given. A part may lack classes.
    metrics : ClassMetrics, optional
        Requested metrics; the same for all parts. Groups and subsets need all trials and are refused here.
    classes : sequence of str, optional
        Names of the columns; ``0``, ``1``, ... by default.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0.
    units : (n_trials,) or (n_trials, 2) array_like, optional
        Speakers or other units of the trials: see `deciban.evaluation.evaluate_classes`.

    Returns
    -------
    ClassSummary

    Raises
    ------
    InputError
        If a score is NaN, a label is no class, or a request needs all trials.

    Examples
    --------
    >>> one, other = summarize_classes([[2.0, 0.0]], [0]), summarize_classes([[0.0, 1.0], [0.5, 0.0]], [1, 1])
    >>> (one + other).confusion
    array([[1, 0],
           [1, 1]])
    """
    metrics = metrics or ClassMetrics()
    metrics.require_parts()
    if metrics.groups is not None or metrics.subsets or metrics.classifier:
        what = "groups" if metrics.groups is not None else "subsets" if metrics.subsets else "classifier"
        raise InputError(f"{what}: need all trials at once, not a part of them. Leave out {what}.")
    trials = ScoredClasses.of(loglik, label, sample_weight, classes)
    return ClassSummary.of(trials, metrics, whole=False, units=TrialUnits.checked(units, len(trials.label)))


def merged_classes(summaries: Iterable[ClassSummary]) -> ClassSummary:
    """Summarize the trials of all parts, without results that need all trials at once.

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
        If there is no summary, they have different classes or requests, or only some have units.

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
        for what in ("classes", "metrics"):
            one, other = getattr(first, what), getattr(part, what)
            if one != other:
                raise InputError(
                    f"summaries: the {what} of the first one are {one}, those at index {at} are {other}. Use the same "
                    f"{what} for all parts."
                )

    return replace(
        first,
        counts=functools.reduce(np.add, [part.counts for part in parts]),
        n_infinite=sum(part.n_infinite for part in parts),
        surprise=_sums([part.surprise for part in parts]),
        flat_surprise=_sums([part.flat_surprise for part in parts]),
        quadratic=_sums([part.quadratic for part in parts]),
        confusion=functools.reduce(np.add, [part.confusion for part in parts]),
        problems=LazyProblems.merged([part.in_turn for part in parts]),
        accepted=_known([part.accepted for part in parts]),
        checks=functools.reduce(ScoreChecks.__add__, [part.checks for part in parts]),
        is_weighted=any(part.is_weighted for part in parts),
        whole=None,
        decided=_known([part.decided for part in parts]),
    )


def _known(parts: Sequence[T | None]) -> T | None:
    """Return the sum over all parts; None if they have none."""
    known = [part for part in parts if part is not None]
    return functools.reduce(operator.add, known) if known else None


def _sums(parts: Sequence[tuple[T, ...]]) -> tuple[T, ...]:
    """Return the sum over all parts, for each class."""
    return tuple(functools.reduce(operator.add, of_class) for of_class in zip(*parts, strict=True))


def c_avg_places(metrics: ClassMetrics) -> FloatArray:
    """Return log odds for C_avg, at which an out-of-set class leaves a positive prior for other non-targets."""
    axis = prior_axis(metrics.thresholds, _PLACES)
    if metrics.p_out_of_set is None:
        return axis
    kept = axis[1.0 - expit(axis) > metrics.p_out_of_set]
    return kept if len(kept) else -np.array(metrics.thresholds[:1])  # the prior is too extreme for plots


def _capacity(trials: ScoredClasses, calibration: ClassCalibration) -> Capacity:
    from deciban.rules.delivered import calibrated_capacity_of  # searches, so only on request

    return calibrated_capacity_of(trials, calibration.scale, calibration.offset)


def _accepted(trials: ScoredClasses, metrics: ClassMetrics, p_out_of_set: float) -> CountArray:
    priors = np.concatenate((metrics.p_target, expit(c_avg_places(metrics))))
    return accepted_open_set(trials.loglik, trials.label, trials.weights, priors, p_out_of_set)


defer(analysis.SubsetCosts, "value")
defer(analysis.PairwiseAnalysis, "cllr", "min_cllr")


def completed(result: ClassEvaluation, summary: ClassSummary) -> ClassEvaluation:
    """Return the evaluation with results that few users read: with few trials, they are computed when they are read."""
    trials, prior, subsets = summary.in_turn.trials, summary.prior, result.subsets
    call: Callable[..., Any] = operator.call
    if trials.n_classes <= problem_sums.MOST_DECIDED and trials.loglik.size <= problem_sums.MOST_KEPT:
        trials, call = deepcopy(trials), functools.partial  # users may change their arrays
    sample = None if summary.whole is None else call(functools.partial(_sample_of, trials))
    curves = replace(result.curves, reliability=call(functools.partial(_reliability_of, trials, prior)), sample=sample)
    if summary.whole is not None and subsets is None and not result.no_subsets:
        subsets = analysis.subset_c_avg_of(trials, summary.metrics.p_target[0], call)
    named = replace(trials, classes=summary.classes)
    pairs = analysis.pairwise_analysis_of(named, call) if summary.in_turn.has_pairs else None
    decided = problem_sums.DecidedAt.of(trials, prior, call)
    return replace(result, pairwise=pairs, subsets=subsets, curves=curves, decided=decided)


def _reliability_of(trials: ScoredClasses, prior: FloatArray) -> Reliability:
    """Return the reliability of the posteriors of the recognized classes of all trials."""
    sides = problem_sums.odds_of(trials, prior, problem_sums.odds_share(prior, trials.totals()))
    return reliability_of_classes(PooledOdds.of(scores_of(sides)), prior)


def _sample_of(trials: ScoredClasses) -> tuple[ScoreArray, IntArray] | None:
    """Return `shown_of` as arrays."""
    shown = shown_of(trials)
    return None if shown is None else (shown.loglik, shown.label)


_MOST_SHOWN = 12
"""Largest number of classes whose trials are kept for plots of three classes."""


def shown_of(trials: ScoredClasses) -> ClassSample | None:
    """Return trials of all kinds for plots, for any order of the trials; results of parts can be added.

    Return None for two classes, and for more than `_MOST_SHOWN`.
    """
    if not 3 <= trials.n_classes <= _MOST_SHOWN:
        return None
    rows = trials.by_class[0]
    return ClassSample.of(trials.loglik[rows], trials.label[rows], 3 * DRAWN // trials.n_classes)
