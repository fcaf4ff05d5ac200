"""Groups of classes in an evaluation: what is asked of them, and what becomes of figures when they are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from deciban._validate import classes as _validate_classes
from deciban._validate.classes import Groups, prior_of
from deciban.core.classes.counts import tally
from deciban.evaluation.multiclass.class_notes import class_notes
from deciban.evaluation.multiclass.figures import UNEVEN, WEIGHTED, ClassFigures
from deciban.evaluation.multiclass.result import ClassEvaluation
from deciban.evaluation.multiclass.summands import ScoreChecks
from deciban.multiclass.derived import Grouping
from deciban.types import CountArray, FloatArray, IntArray

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
