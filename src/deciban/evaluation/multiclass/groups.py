"""Groups of classes in an evaluation: what is asked of them, and what becomes of figures when they are known."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from deciban._validate import classes as _validate_classes
from deciban._validate.classes import Groups, prior_of
from deciban._validate.probabilities import LIKE_POSTERIORS
from deciban.core.classes.counts import tally
from deciban.core.ranks.hull import FEW_ERRORS
from deciban.core.ranks.operating import WORSE_THAN_NONE
from deciban.evaluation.multiclass.figures import UNEVEN, WEIGHTED, ClassFigures
from deciban.evaluation.multiclass.result import ClassEvaluation
from deciban.evaluation.multiclass.summands import ScoreChecks
from deciban.evaluation.units import beyond, far_off, no_log_likelihoods
from deciban.messages import Note, counted
from deciban.multiclass.tables import Grouping
from deciban.types import CountArray, FloatArray, IntArray


def class_notes(found: ClassEvaluation, checks: ScoreChecks) -> tuple[str, ...]:
    """Return the notes for one system, the most serious first."""
    says_nothing, has_more_errors = checks.alike is not None, found.error_rate > found.default_error_rate
    notes, no_logliks = list[str](), _no_log_likelihoods(found, checks)
    if says_nothing:
        notes.append(
            "All trials have the same scores, but for what is added to all classes of a trial: they say nothing of the "
            "class. Is this the right file, and are these the right columns?"
        )
    elif has_more_errors:
        notes.append(
            "More errors than the prior alone makes: is the order of the classes that of the columns, and do larger "
            "scores favour the class?"
        )
    notes += [*no_logliks, *_infinite(found, checks)]
    if not no_logliks:
        notes += _badly_calibrated(found)
    if checks.are_log_posteriors:
        words = "These look like log posteriors. They are log-likelihoods only if the prior that is in them was flat:"
        notes.append(f"{words} otherwise name it (--posterior-prior, posterior_prior).")
    if math.isnan(found.min_cllr):
        notes.append("Trials were summed up in parts: what calibration would gain is not known, it needs all at once.")
    return (*notes, *_few(found))


def _no_log_likelihoods(found: ClassEvaluation, checks: ScoreChecks) -> list[str]:
    """What is to be said of scores that are no log-likelihoods: probabilities, or of quite another scale."""
    if checks.are_probabilities:
        return [Note(LIKE_POSTERIORS, "no-llrs")]
    analysis, n_least = found.calibration, found.counts.min().item()
    if not (math.isfinite(analysis.total) and math.isfinite(analysis.minimum)) or found.n_infinite:
        return []
    if not far_off(analysis.total, analysis.minimum, analysis.reference, n_least, found.n_classes):
        return []
    why = beyond(analysis.scale)
    return [no_log_likelihoods("log-likelihoods", why)] if why else []


def _badly_calibrated(found: ClassEvaluation) -> list[str]:
    notes = []
    if math.isfinite(found.cllr) and found.cllr > WORSE_THAN_NONE * found.reference:
        notes.append(
            f"Badly calibrated: Cllr is above {found.reference:.4g} bits, that of scores that say nothing. Whoever "
            "takes these posteriors at their word is better off without."
        )
    bad = [point for point in found.points if point.normalized > WORSE_THAN_NONE]
    if bad:
        costs = ", ".join(
            f"{point.p_target:g} (C_avg {point.c_avg:.4g}, {point.default_cost:.4g} without scores)" for point in bad
        )
        notes.append(f"Actual detection decisions are worse than none at target prior {costs}.")
    return notes


def _infinite(found: ClassEvaluation, checks: ScoreChecks) -> list[str]:
    """What infinite scores do, and in which trials they are wrong."""
    if checks.n_wrong:
        words = f"Cllr is infinite: infinite scores rule out the true class of {counted(checks.n_wrong, 'trial')}"
        if checks.first_wrong is None:
            return [f"{words}."]
        at, k = checks.first_wrong
        return [f"{words}, the first at index {at} (class {found.classes[k]!r})."]
    if math.isinf(found.cllr):
        return ["Cllr is infinite: a true class is so far behind another that the cost does not fit a float."]
    if found.n_infinite:
        have = "has" if found.n_infinite == 1 else "have"
        return [f"{counted(found.n_infinite, 'trial')} {have} infinite scores; none excludes its true class."]
    return []


def _few(found: ClassEvaluation) -> list[str]:
    notes = []
    scarce = [name for name, n in zip(found.classes, found.counts.tolist(), strict=True) if n < FEW_ERRORS]
    if scarce:
        shown = ", ".join(scarce[:5]) + (f" and {len(scarce) - 5} more" if len(scarce) > 5 else "")
        notes.append(
            f"Fewer than {FEW_ERRORS} trials of {shown}: figures of such a class are rough, and weigh like others."
        )
    n_errors = float(found.confusion.sum() - np.trace(found.confusion))
    if n_errors < FEW_ERRORS:
        notes.append(f"Rule of {FEW_ERRORS}: all in all {n_errors:g} errors; the error rate is rough.")
    return notes


_ROUNDING = 1e-12
"""Shares of classes that are equal may differ by this fraction."""


@dataclass(frozen=True, slots=True, eq=False)
class ClassTotals:
    """How many trials each class has, and what they weigh; ``a + b`` is that of the trials of both.

    Attributes
    ----------
    n_trials : (n_classes,) int array
        Those of weight 0, too.
    totals : (n_classes,) array
        Sums of weights.
    low, high : (n_classes,) arrays
        Lowest and highest weight; infinite of no trial.
    has_weights : bool
    """

    n_trials: IntArray
    totals: CountArray
    low: FloatArray
    high: FloatArray
    has_weights: bool

    @classmethod
    def of(cls, label: IntArray, weights: CountArray | None, n_classes: int) -> ClassTotals:
        """From checked trials."""
        n_trials = np.bincount(label, minlength=n_classes)
        low, high = np.full(n_classes, np.inf), np.full(n_classes, -np.inf)
        for k in np.flatnonzero(n_trials):
            own = 1.0 if weights is None else weights[label == k]
            low[k], high[k] = np.min(own), np.max(own)
        return cls(n_trials, tally(label, n_classes, weights), low, high, weights is not None)

    def __add__(self, other: ClassTotals) -> ClassTotals:
        """That of the trials of both."""
        return ClassTotals(
            self.n_trials + other.n_trials,
            self.totals + other.totals,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            self.has_weights or other.has_weights,
        )


@dataclass(frozen=True, slots=True, eq=False)
class GroupedProblem:
    """Which group: what is asked in place of which class.

    Attributes
    ----------
    grouping : Grouping
    titles : tuple of str
        Names of the groups, or what they are called by their classes.
    figures : ClassFigures
        Asked of the groups as if they were classes.
    counts : (n_groups,) array
        Trials of each, or the sums of their own weights.
    has_weights : bool
        Whether trials count differently, be it to balance the classes of a group.
    uneven : str
        Why there are no costs of subsets, if trials do not count alike.
    note : str
        Which classes are in which group.
    """

    grouping: Grouping
    titles: tuple[str, ...]
    figures: ClassFigures
    counts: CountArray
    has_weights: bool
    uneven: str
    note: str

    @classmethod
    def of(cls, figures: ClassFigures, groups: Groups, names: tuple[str, ...], totals: ClassTotals) -> GroupedProblem:
        """From what is asked, and the trials of each class.

        Raises
        ------
        InputError
            If the groups are no partition, the prior is none, or subsets are asked for and impossible.
        """
        checked = None if figures.prior is None else prior_of(figures.prior, names)
        prior = _validate_classes.prior(checked, len(names))
        grouping = Grouping.of(groups, prior, totals.totals, names)
        members = groups.values() if isinstance(groups, Mapping) else groups
        called = [[one if isinstance(one, str) else names[one] for one in some] for some in members]
        titles = grouping.titles or tuple("+".join(some) for some in called)
        kept = (prior > 0) & (totals.n_trials > 0)
        ends = np.concatenate([grouping.weight[kept] * one[kept] for one in (totals.low, totals.high)])
        has_weights = not _are_alike(ends)
        uneven = _why_uneven(totals.n_trials, checked) if has_weights else ""
        # Here, as the evaluation would say that weights make the difference, whatever does.
        figures.why_no_subsets(len(titles), uneven)
        words = "; ".join(f"{title} = {', '.join(some)}" for title, some in zip(titles, called, strict=True))
        note = f"Groups of classes: {words}. Within a group each class weighs as its prior says, not by its segments."
        counts = np.array([totals.totals[some].sum() for some in grouping.members])
        asked = figures.of_groups(grouping.prior_of_groups)
        return cls(grouping, titles, asked, counts, has_weights, uneven, note)

    def finished(self, found: ClassEvaluation, checks: ScoreChecks, counted: CountArray) -> ClassEvaluation:
        """An evaluation with counts that are sums of the users' own weights, and confusions that add up to them.

        The weights of the partition also balance the classes of a group. Where they have nothing to balance, confusions
        are whole numbers if those of the user are.

        Parameters
        ----------
        found : ClassEvaluation
            Of the groups.
        checks : ScoreChecks
        counted : (n_groups, n_groups) array
            Confusions by the own weights of trials.
        """
        is_even = np.array([_are_alike(self.grouping.weight[some]) for some in self.grouping.members])
        if not is_even.all():
            shares = found.confusion / found.confusion.sum(axis=1, keepdims=True)
            counted = np.where(is_even[:, None], counted, shares * self.counts[:, None])
        found = replace(found, counts=self.counts, confusion=counted, decided=None)
        if self.uneven and self.figures.p_out_of_set is None:
            found = replace(found, no_subsets=self.uneven)
        return replace(found, notes=(self.note, *class_notes(found, checks)))


def _are_alike(values: FloatArray) -> bool:
    """Whether values are equal, but for the rounding of a prior."""
    return bool(np.ptp(values) <= _ROUNDING * values.max())


def _why_uneven(counts: IntArray, prior: FloatArray | None) -> str:
    """Why trials do not count alike: for the prior, however the user weighs them, or for these weights alone."""
    share = np.ones(len(counts)) if prior is None else prior
    possible = (share > 0) & (counts > 0)
    return WEIGHTED if _are_alike(share[possible] / counts[possible]) else UNEVEN
