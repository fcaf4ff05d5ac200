"""Evaluation of multiclass scores of one system, by class or by group of classes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import classes as _validate_classes
from deciban._validate.classes import Groups, Prior, posteriors_note, prior_of
from deciban.core.class_counts import tally
from deciban.core.ranks.roc import FEW_ERRORS, WORSE_THAN_NONE
from deciban.core.resampling.intervals import LEVEL
from deciban.core.resampling.units import TrialUnits
from deciban.core.training.sums import Ends
from deciban.errors import InputError, Note, counted, option, some_of
from deciban.evaluation.curves import beyond, far_off, no_log_likelihoods
from deciban.evaluation.metrics import NOTHING
from deciban.evaluation.multiclass.problem_sums import IN_PARTS, P_TARGET, UNEVEN, WEIGHTED, ClassMetrics
from deciban.evaluation.multiclass.result import ClassEvaluation
from deciban.evaluation.multiclass.summary import ClassSummary, LazyProblems, ScoreChecks, completed, detection_costs
from deciban.evaluation.uncertainty import Resampling
from deciban.multiclass import ClassCalibration, PairwiseAnalysis
from deciban.multiclass.analysis import confusion_of, rates_of
from deciban.multiclass.tables import Grouping, ScoredClasses, mixed
from deciban.types import Additive, CountArray, FloatArray, IntArray, Names, Raw, Units, Weights


def class_notes(evaluation: ClassEvaluation, checks: ScoreChecks) -> tuple[str, ...]:
    """Return the notes for one system, the most serious first."""
    says_nothing, has_more_errors = checks.alike is not None, evaluation.error_rate > evaluation.default_error_rate
    notes, no_logliks = list[str](), _no_log_likelihoods(evaluation, checks)
    if says_nothing:
        notes.append(
            "The scores carry no information: up to a constant per trial, all trials have the same scores. Check the "
            "file and its columns."
        )
    elif has_more_errors:
        notes.append(
            "More errors than with the prior alone: check that columns have the order of the classes, and that larger "
            "scores favour the class."
        )
    notes += [*no_logliks, *_infinite(evaluation, checks)]
    if not no_logliks:
        notes += _badly_calibrated(evaluation)
    if checks.are_log_posteriors:
        words = "These scores look like log posteriors. They are log-likelihoods only if their prior was flat;"
        notes.append(f"{words} otherwise give the prior ({option(posterior_prior=...)}).")
    if math.isnan(evaluation.min_cllr):
        notes.append("min Cllr and calibration loss are unknown: they need all trials at once, not merged summaries.")
    return (*notes, *_few(evaluation))


def _no_log_likelihoods(evaluation: ClassEvaluation, checks: ScoreChecks) -> list[str]:
    """Return notes on scores that are not log-likelihoods: probabilities, or scores of another scale."""
    if checks.are_probabilities:
        detection = [f"EER, minDCF and AUC of these two classes: {option(kind='two-class')}."]
        return [posteriors_note(), *(detection if evaluation.n_classes == 2 else ())]
    analysis, n_least = evaluation.calibration, evaluation.counts.min().item()
    if not (math.isfinite(analysis.total) and math.isfinite(analysis.minimum)) or evaluation.n_infinite:
        return []
    if not far_off(analysis.total, analysis.minimum, analysis.reference, n_least, evaluation.n_classes):
        return []
    why = beyond(analysis.scale)
    return [no_log_likelihoods("log-likelihoods", why)] if why else []


def _badly_calibrated(evaluation: ClassEvaluation) -> list[str]:
    notes = []
    if math.isfinite(evaluation.cllr) and evaluation.cllr > WORSE_THAN_NONE * evaluation.reference:
        notes.append(
            f"Cllr is above {evaluation.reference:.4g} bits, the Cllr of scores without information: posteriors from "
            "these scores mislead."
        )
    bad = [point for point in evaluation.points if point.normalized > WORSE_THAN_NONE]
    if bad:
        costs = ", ".join(
            f"{point.p_target:g} (C_avg {point.c_avg:.4g}, {point.default_cost:.4g} without scores)" for point in bad
        )
        notes.append(f"Using the scores for detection costs more than ignoring them at target prior {costs}.")
    return notes


def _infinite(evaluation: ClassEvaluation, checks: ScoreChecks) -> list[str]:
    """Return the note on infinite scores, with the trials in which they are wrong."""
    if checks.n_wrong:
        words = f"Cllr is infinite: infinite scores rule out the true class of {counted(checks.n_wrong, 'segment')}"
        if checks.first_wrong is not None:
            at, k = checks.first_wrong
            words = f"{words}, the first at index {at} (class {evaluation.classes[k]!r})"
        return [f"{words}. If they come from probabilities of exactly 0, use logits, or probabilities in more digits."]
    if math.isinf(evaluation.cllr):
        return ["Cllr is infinite: a true class is so far behind another that the cost does not fit a float."]
    if evaluation.n_infinite:
        have = "has" if evaluation.n_infinite == 1 else "have"
        return [f"{counted(evaluation.n_infinite, 'trial')} {have} infinite scores; none excludes its true class."]
    return []


def _few(evaluation: ClassEvaluation) -> list[str]:
    notes = []
    scarce = [name for name, n in zip(evaluation.classes, evaluation.counts.tolist(), strict=True) if n < FEW_ERRORS]
    if scarce:
        words = f"Fewer than {FEW_ERRORS} trials of {some_of(scarce)}"
        notes.append(f"{words}: metrics of such classes are rough, but have full weight.")
    n_errors = float(evaluation.confusion.sum() - np.trace(evaluation.confusion))
    if n_errors < FEW_ERRORS:
        words = f"The error rate is uncertain: only {n_errors:g} errors in total."
        notes.append(Note(words, "few-errors"))
    return notes


_ROUNDING = 1e-12
"""Relative tolerance for equal shares of classes."""


@dataclass(frozen=True, slots=True, eq=False)
class ClassTotals(Additive):
    """Numbers and weights of trials of each class; ``a + b`` covers the trials of both.

    Attributes
    ----------
    n_trials : (n_classes,) int array
        Includes trials of weight 0.
    totals : (n_classes,) array
        Sums of weights.
    ends : Ends
        Lowest and highest weight; infinite without trials.
    """

    n_trials: IntArray
    totals: CountArray
    ends: Ends

    @classmethod
    def of(cls, label: IntArray, weights: CountArray | None, n_classes: int) -> ClassTotals:
        """Count checked trials."""
        n_trials = np.bincount(label, minlength=n_classes)
        low, high = np.full(n_classes, np.inf), np.full(n_classes, -np.inf)
        for k in np.flatnonzero(n_trials):
            own = 1.0 if weights is None else weights[label == k]
            low[k], high[k] = np.min(own), np.max(own)
        return cls(n_trials, tally(label, n_classes, weights), Ends.of(low, high))


@dataclass(frozen=True, slots=True, eq=False)
class GroupedProblem:
    """An evaluation of groups of classes.

    Attributes
    ----------
    grouping : Grouping
    titles : tuple of str
        Names of the groups, by default composed of the names of their classes.
    metrics : ClassMetrics
        Requested metrics, with groups as classes.
    counts : (n_groups,) array
        Number or total weight of the trials of each group.
    has_weights : bool
        True if trials have unequal weights, also to balance the classes of a group.
    uneven : str
        Reason for missing costs of subsets, if trials have unequal weights.
    note : str
        Note with the classes of each group.
    """

    grouping: Grouping
    titles: tuple[str, ...]
    metrics: ClassMetrics
    counts: CountArray
    has_weights: bool
    uneven: str
    note: str

    @classmethod
    def of(cls, metrics: ClassMetrics, groups: Groups, names: tuple[str, ...], totals: ClassTotals) -> GroupedProblem:
        """Create from the requested metrics, and the trials of each class.

        Raises
        ------
        InputError
            If the groups are no partition, the prior is invalid, or subsets are requested but impossible.
        """
        checked = None if metrics.prior is None else prior_of(metrics.prior, names)
        prior = _validate_classes.prior(checked, len(names))
        grouping = Grouping.of(groups, prior, totals.totals, names)
        members = groups.values() if isinstance(groups, Mapping) else groups
        called = [[one if isinstance(one, str) else names[one] for one in some] for some in members]
        titles = grouping.titles or tuple("+".join(some) for some in called)
        kept = (prior > 0) & (totals.n_trials > 0)
        ends = np.concatenate([grouping.weight[kept] * one[kept] for one in (totals.ends.low, totals.ends.high)])
        has_weights = not _are_alike(ends)
        uneven = _why_uneven(totals.n_trials, checked) if has_weights else ""
        # Before the evaluation, which would always name weights as the reason.
        metrics.why_no_subsets(len(titles), uneven)
        words = "; ".join(f"{title} = {', '.join(some)}" for title, some in zip(titles, called, strict=True))
        note = f"Groups of classes: {words}. Within a group, classes are weighted by the prior, not by their segments."
        counts = np.array([totals.totals[some].sum() for some in grouping.members])
        request = metrics.of_groups(grouping.prior_of_groups)
        return cls(grouping, titles, request, counts, has_weights, uneven, note)

    def finished(self, evaluation: ClassEvaluation, checks: ScoreChecks, counted: CountArray) -> ClassEvaluation:
        """Return the evaluation with counts and confusions from the original weights of the trials.

        The weights of the groups also balance the classes of a group. Without anything to balance, confusions are whole
        numbers if the original weights are.

        Parameters
        ----------
        evaluation : ClassEvaluation
            Evaluation of the groups.
        checks : ScoreChecks
        counted : (n_groups, n_groups) array
            Confusions by the original weights of trials.
        """
        is_even = np.array([_are_alike(self.grouping.weight[some]) for some in self.grouping.members])
        if not is_even.all():
            shares = evaluation.confusion / evaluation.confusion.sum(axis=1, keepdims=True)
            counted = np.where(is_even[:, None], counted, shares * self.counts[:, None])
        # A copy of subsets and of curves has computed numbers, so that no trials are kept.
        subsets = None if evaluation.subsets is None else replace(evaluation.subsets)
        evaluation = replace(evaluation, counts=self.counts, confusion=counted, subsets=subsets, decided=None)
        if self.uneven and self.metrics.p_out_of_set is None:
            evaluation = replace(evaluation, no_subsets=self.uneven)
        return replace(
            evaluation, notes=(self.note, *class_notes(evaluation, checks)), curves=replace(evaluation.curves)
        )


def _are_alike(values: FloatArray) -> bool:
    """Return True if values are equal, up to the rounding of a prior."""
    return bool(np.ptp(values) <= _ROUNDING * values.max())


def _why_uneven(counts: IntArray, prior: FloatArray | None) -> str:
    """Return the reason for unequal weights of trials: the prior, or only the weights of the user."""
    share = np.ones(len(counts)) if prior is None else prior
    possible = (share > 0) & (counts > 0)
    return WEIGHTED if _are_alike(share[possible] / counts[possible]) else UNEVEN


def evaluate_classes(
    loglik: ArrayLike,
    label: ArrayLike,
    *,
    classes: Names = None,
    name: str = "system",
    prior: Prior | None = None,
    p_target: float | Sequence[float] = P_TARGET,
    p_out_of_set: float | None = None,
    subsets: bool | None = None,
    groups: Groups | None = None,
    pairs: bool | None = None,
    capacity: bool | None = None,
    classifier: bool | None = None,
    sample_weight: Weights = None,
    units: Units = None,
    level: float = LEVEL,
    optimism: bool | None = None,
    bootstrap: int = 0,
    seed: int = 0,
) -> ClassEvaluation:
    """Evaluate the multiclass scores of one system: all metrics and curves.

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Natural-log likelihoods, up to a constant for each trial, so that log posteriors with a flat prior are valid.
        Infinite values are allowed: ``-inf`` excludes a class.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    classes : sequence of str, optional
        Names of the columns; ``0``, ``1``, ... by default.
    name : str
        Name of the system in tables and legends.
    prior : (n_classes,) array_like, or mapping of class to float, optional
        Prior of cross-entropy, Brier cost, error rate and confusion; flat by default. No class can have prior 0: remove
        its column and trials instead.
    p_target : float or sequence of float
        Priors of a target in the average detection cost. Repeated priors count once.
    p_out_of_set : float, optional
        Prior of the last class among the non-targets, if this class is out of set. It is no target then.
    subsets : bool, optional
        Evaluate C_avg on every subset of the classes; by default if there are at most 10 classes, possible for up to
        20. Subsets need a closed set and trials without weights.
    groups : mapping or sequence, optional
        Groups of classes to evaluate instead of the classes: see `evaluate_groups`.
    pairs : bool, optional
        Evaluate all pairs of classes; by default if there are at most 100 classes.
    capacity : bool, optional
        Search for the prior with the most information after the best scale and offsets. This takes many passes.
    classifier : bool, optional
        Report metrics of classifier papers at the shares of the classes in the data; not for groups.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0; whole numbers count like copies.
    units : (n_trials,) or (n_trials, 2) array_like, optional
        Speaker, source or other unit of each trial, or two of them: names or whole numbers. With units, metrics have
        intervals.
    level : float
        Level of the intervals.
    optimism : bool, optional
        Also compute corrected minima (``interval(...).corrected``), by a jackknife over groups of units; by default
        False, because this takes longer than the evaluation.
    bootstrap : int
        Number of bootstrap replicates for the intervals, except those of pairs, of subsets and of rates of single
        classes; see `deciban.evaluation.Bootstrap`. Trained maps and best thresholds stay fixed.
    seed : int
        Seed of the replicates.

    Returns
    -------
    ClassEvaluation

    Raises
    ------
    InputError
        If a score is NaN, a label is no class, a class has no trial, a prior is out of range, units do not have the
        length of the scores, or subsets are requested for too many classes, an open set or weighted trials.

    Examples
    --------
    >>> import numpy as np
    >>> loglik = [[2, 0, -1], [1, 0.5, 0], [0.5, 1, 0], [0, 2, 0], [1, 0.5, 0.5], [0, 0, 1], [0, 0.4, 1.5], [0, 1, 0]]
    >>> found = evaluate_classes(loglik, [0, 0, 0, 1, 1, 2, 2, 2], classes=["cat", "dog", "eel"])
    >>> round(found.cllr, 3), round(found.min_cllr, 3), round(found.reference, 3), round(found.error_rate, 3)
    (1.102, 1.023, 1.585, 0.389)
    >>> found.confusion
    array([[2, 1, 0],
           [1, 1, 0],
           [0, 1, 2]])
    >>> label, speakers = np.arange(90) % 3, [f"s{trial // 3}" for trial in range(90)]
    >>> loglik = np.random.default_rng(0).normal(size=(90, 3)) + 2 * np.eye(3)[label]
    >>> found = evaluate_classes(loglik, label, units=speakers).interval("cllr")
    >>> found.n_units, found.low < found.estimate < found.high
    (30, True)
    """
    more: dict[str, Any] = {"subsets": subsets, "groups": groups, "pairs": pairs}
    more |= {"capacity": capacity, "classifier": classifier}
    metrics = ClassMetrics(prior=prior, p_target=p_target, p_out_of_set=p_out_of_set, **more)
    trials = ScoredClasses.of(loglik, label, sample_weight, classes)
    resampling = Resampling(TrialUnits.checked(units, len(trials.label)), level, optimism, None, bootstrap, seed)
    return evaluate_trials(trials, metrics, name=name, resampling=resampling)


def evaluate_trials(
    trials: ScoredClasses, metrics: ClassMetrics, *, name: str, resampling: Resampling | None = None
) -> ClassEvaluation:
    """Evaluate checked trials by class, or by the requested groups; see `evaluate_classes`."""
    request = resampling or Resampling()
    if metrics.groups is not None:
        names = trials.classes or tuple(map(str, range(trials.n_classes)))
        units = request.units
        if units is not None:  # each class has a separate mean in its group
            trials, units, _ = _ordered(trials, units, trials.label)
        trials.require(None if metrics.prior is None else prior_of(metrics.prior, names) > 0)
        problem = GroupedProblem.of(
            metrics, metrics.groups, names, ClassTotals.of(trials.label, trials.weights, trials.n_classes)
        )
        part, kept = problem.grouping.of_trials(trials), problem.grouping.prior[trials.label] > 0
        grouped = ScoredClasses(
            part.loglik, part.label, part.sample_weight if problem.has_weights else None, problem.titles
        )
        of_trials = {"units": None if units is None else units.take(kept), "stratum": trials.label[kept]}
        summary = ClassSummary.of(grouped, problem.metrics, whole=True, **of_trials)  # type: ignore[arg-type]
        own = None if trials.weights is None else trials.weights[kept]
        counted = confusion_of(ScoredClasses(part.loglik, part.label, own, None), part.prior)
        result = class_evaluation_of(summary, name=name, resampling=request)
        return problem.finished(result, summary.checks, counted)
    trials.require()
    units, stratum = request.units, None
    if request.strata is not None:
        stratum = trials.label * (int(request.strata.max(initial=0)) + 1) + request.strata
        trials, units, stratum = _ordered(trials, units, stratum)
    summary = ClassSummary.of(trials, metrics, whole=True, units=units, stratum=stratum)
    return class_evaluation_of(summary, name=name, resampling=request)


def _ordered(
    trials: ScoredClasses, units: TrialUnits | None, stratum: IntArray
) -> tuple[ScoredClasses, TrialUnits | None, IntArray]:
    """Return trials sorted by stratum, with their units and strata."""
    order = np.argsort(stratum, kind="stable")
    result = replace(trials, loglik=trials.loglik[order], label=trials.label[order], weights=trials.weights_of(order))
    return result, None if units is None else units.take(order), stratum[order]


def class_evaluation_of(
    summary: ClassSummary, *, name: str = "system", resampling: Resampling | None = None
) -> ClassEvaluation:
    """Evaluate a summary of multiclass scores of one system: all metrics, curves and notes.

    Parameters
    ----------
    summary : ClassSummary
        Summary of all trials: see `summarize_classes` and `merged_classes`.
    name : str
        Name of the system in tables and legends.
    resampling : Resampling, optional
        Options of intervals; the units are in the summary.

    Returns
    -------
    ClassEvaluation
        For merged summaries without results that need all trials at once: minima of Cllr are NaN, there are no subsets
        and no sample, and a note states this.

    Raises
    ------
    InputError
        If a class has no trial.

    Examples
    --------
    >>> loglik, label = np.array([[2.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.5, 0.0]]), np.array([0, 0, 1, 1])
    >>> from deciban.evaluation import merged_classes, summarize_classes
    >>> parts = [summarize_classes(loglik[rows], label[rows]) for rows in (slice(0, 3), slice(3, 4))]
    >>> class_evaluation_of(merged_classes(parts)).cllr == evaluate_classes(loglik, label).cllr
    True
    """
    missing = np.flatnonzero(summary.counts == 0)
    if len(missing):
        called = _validate_classes.called(int(missing[0]), summary.classes)
        raise InputError(f"summary: no trials of {called}. Every class is averaged separately and needs at least one.")
    n_classes, prior, flat = len(summary.classes), summary.prior, np.full(len(summary.counts), 1 / len(summary.counts))
    costs, detection, curves = detection_costs(summary)
    rates = rates_of(summary.confusion)
    pairs = None if isinstance(summary.problems, LazyProblems) else summary.problems.of_pairs
    uneven = WEIGHTED if summary.is_weighted else ""
    known = None if summary.whole is None else summary.whole.classifier
    result = ClassEvaluation(
        name=name,
        classes=summary.classes,
        counts=summary.counts,
        n_infinite=summary.n_infinite,
        prior=prior,
        cross_entropy=mixed(summary.surprise, prior) / math.log(2),
        prior_entropy=float(-(prior @ np.log2(prior))),
        brier=mixed(summary.quadratic, prior),
        default_brier=float(1.0 - prior @ prior),
        error_rate=float(prior @ rates),
        default_error_rate=float(1.0 - prior.max()),
        class_error_rates=rates,
        confusion=summary.confusion,
        calibration=_calibration(summary, mixed(summary.flat_surprise, flat)),
        points=costs,
        p_out_of_set=summary.metrics.p_out_of_set,
        detection=detection,
        pairwise=None if pairs is None else PairwiseAnalysis(summary.classes, *pairs.cllr()),
        subsets=None if summary.whole is None else summary.whole.subsets,
        notes=(),
        curves=curves,
        no_subsets=IN_PARTS if summary.whole is None else summary.metrics.why_no_subsets(n_classes, uneven),
        no_pairs=summary.metrics.why_no_pairs(n_classes),
        capacity=None if summary.whole is None else summary.whole.capacity,
        requested=NOTHING if known is None else replace(NOTHING, classifier=known[:1]),
        sample_confusion=None if known is None else known[1],
        decided=summary.decided,
    )
    noted = replace(result, notes=class_notes(result, summary.checks))
    if not isinstance(summary.problems, LazyProblems):
        return noted
    whole = completed(noted, summary)
    if summary.problems.units is None:
        return whole
    from deciban.evaluation.multiclass.metric_groups import class_uncertainty_of  # loads on request

    return replace(whole, uncertainty=class_uncertainty_of(summary, whole, resampling or Resampling()))


def _calibration(summary: ClassSummary, surprise: float) -> ClassCalibration:
    """Return the calibration analysis; for merged trials only the parts without training."""
    if summary.whole is not None and summary.whole.calibration is not None:
        return summary.whole.calibration
    n_classes = len(summary.classes)
    unknown = dict.fromkeys(("minimum", "after_offset_only", "after_scale_only", "scale"), math.nan)
    offset = np.full(n_classes, np.nan)
    return ClassCalibration(total=surprise / math.log(2), reference=math.log2(n_classes), offset=offset, **unknown)


def evaluate_groups(
    loglik: ArrayLike, label: ArrayLike, groups: Groups, *, classes: Sequence[str], **request: Raw
) -> ClassEvaluation:
    """Evaluate how well scores of classes distinguish groups of classes (Bruemmer and van Leeuwen 2006, section 2.2).

    Parameters
    ----------
    loglik, label
        As in `evaluate_classes`, for the classes.
    groups : mapping from names of groups to sequences of classes, or sequence of such sequences
        A partition: every class, by name or position, is in exactly one group, or has prior 0. Groups without names
        are named after their classes.
    classes : sequence of str
        Names of the columns.
    **request
        All other arguments of `evaluate_classes`. ``prior`` is for the classes. The prior of a group is the sum over
        its classes, and within a group classes are weighted by the prior, for any numbers of trials. ``p_target``,
        ``p_out_of_set``, ``subsets``, ``pairs`` and ``capacity`` are for the groups: the last group can be out of set.

    Returns
    -------
    ClassEvaluation
        Evaluation of the groups. ``counts`` are numbers or total weights of trials. A row of ``confusion`` contains the
        shares of the decisions, with classes weighted by the prior, multiplied by the count of the group. The first of
        ``notes`` lists the classes of each group.

    Raises
    ------
    InputError
        As in `evaluate_classes`, or if the groups are not a partition.

    Examples
    --------
    >>> loglik = [[2.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.5, 1.5], [1.0, 0.0, 0.5]]
    >>> animals = {"land": ["cat", "dog"], "sea": ["eel"]}
    >>> found = evaluate_groups(loglik, [0, 1, 2, 2], animals, classes=["cat", "dog", "eel"])
    >>> found.classes, found.counts, round(found.cllr, 3)
    (('land', 'sea'), array([2, 2]), 0.551)
    """
    return evaluate_classes(loglik, label, groups=groups, classes=classes, **request)
