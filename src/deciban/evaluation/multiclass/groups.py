"""The question "which group of classes?" in place of "which class?"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate.classes import Groups, Prior, prior_of
from deciban.core.classes.counts import tally
from deciban.evaluation.multiclass.evaluate import class_evaluation_of, class_notes
from deciban.evaluation.multiclass.figures import P_TARGET, UNEVEN, WEIGHTED, ClassFigures
from deciban.evaluation.multiclass.result import ClassEvaluation
from deciban.evaluation.multiclass.summary import ClassSummary
from deciban.multiclass import Partition
from deciban.multiclass.decision_errors import confusion_of
from deciban.multiclass.derived import partition_of
from deciban.multiclass.tables import ScoredClasses
from deciban.types import CountArray, FloatArray, IntArray, Weights

_ROUNDING = 1e-12
"""Shares of classes that are equal may differ by this fraction."""


def evaluate_groups(
    loglik: ArrayLike,
    label: ArrayLike,
    groups: Groups,
    *,
    classes: Sequence[str],
    name: str = "system",
    prior: Prior | None = None,
    p_target: float | Sequence[float] = P_TARGET,
    p_out_of_set: float | None = None,
    subsets: bool | None = None,
    pairs: bool | None = None,
    sample_weight: Weights = None,
) -> ClassEvaluation:
    """Evaluate how well the scores for classes tell groups of classes (paper 001 section 2.2).

    Parameters
    ----------
    loglik, label, name, sample_weight
        As in `evaluate_classes`, of the classes.
    groups : mapping from names of groups to sequences of classes, or sequence of such sequences
        A partition: every class, by name or position, is in exactly one group, or has prior 0. Groups without names
        are called by their classes.
    classes : sequence of str
        Names of the columns.
    prior : (n_classes,) array_like, or mapping of class to float, optional
        Of the classes; flat when left out. The prior of a group is the sum of those of its classes, and within a
        group each class weighs as it says, however many trials it has.
    p_target, p_out_of_set, subsets, pairs
        As in `evaluate_classes`, of the groups: the last group may be out of set.

    Returns
    -------
    ClassEvaluation
        Of the groups. ``counts`` are trials, or sums of their weights. A row of ``confusion`` has the shares of the
        decisions, in which each class weighs as its prior says, times the count of the group. The first of ``notes``
        says which classes are in which group.

    Raises
    ------
    InputError
        As in `evaluate_classes`, or if the groups are no partition.

    Examples
    --------
    >>> loglik = [[2.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.5, 1.5], [1.0, 0.0, 0.5]]
    >>> animals = {"land": ["cat", "dog"], "sea": ["eel"]}
    >>> found = evaluate_groups(loglik, [0, 1, 2, 2], animals, classes=["cat", "dog", "eel"])
    >>> found.classes, found.counts, round(found.cllr, 3)
    (('land', 'sea'), array([2, 2]), 0.551)
    """
    figures = ClassFigures(
        prior=prior, p_target=p_target, p_out_of_set=p_out_of_set, subsets=subsets, groups=groups, pairs=pairs
    )
    return evaluate_grouped(ScoredClasses.of(loglik, label, sample_weight, classes), figures, name=name)


def evaluate_grouped(trials: ScoredClasses, figures: ClassFigures, *, name: str) -> ClassEvaluation:
    """Evaluate groups of checked trials; see `evaluate_groups`."""
    names, groups = trials.classes or tuple(map(str, range(trials.n_classes))), figures.groups
    assert groups is not None  # noqa: S101  # the figures are of groups
    checked = None if figures.prior is None else prior_of(figures.prior, names)
    part = partition_of(trials, groups, trials.prior(checked))
    members = groups.values() if isinstance(groups, Mapping) else groups
    called = [[one if isinstance(one, str) else names[one] for one in some] for some in members]
    titles = part.classes or tuple("+".join(some) for some in called)
    own = trials.weights
    if checked is not None and own is not None:
        own = own[checked[trials.label] > 0]
    weight = None if _are_alike(part.sample_weight) else part.sample_weight
    uneven = "" if weight is None else _why_uneven(trials.label, checked)
    # Here, as the evaluation would say that weights make the difference, whatever does.
    figures.why_no_subsets(len(titles), uneven)
    grouped = ScoredClasses(part.loglik, part.label, weight, titles)
    summary = ClassSummary.of(grouped, figures.of_groups(part.prior), whole=True)
    found = _counted(class_evaluation_of(summary, name=name), part, own)
    if uneven and figures.p_out_of_set is None:
        found = replace(found, no_subsets=uneven)
    words = "; ".join(f"{title} = {', '.join(some)}" for title, some in zip(titles, called, strict=True))
    note = f"Groups of classes: {words}. Within a group each class weighs as its prior says, not by its segments."
    return replace(found, notes=(note, *class_notes(found, summary.looks)))


def _are_alike(values: FloatArray) -> bool:
    """Whether values are equal, but for the rounding of a prior."""
    return bool(np.ptp(values) <= _ROUNDING * values.max())


def _why_uneven(truth: IntArray, prior: FloatArray | None) -> str:
    """Why trials do not count alike: for the prior, however the user weighs them, or for these weights alone."""
    counts = np.bincount(truth)
    share = np.ones(len(counts)) if prior is None else prior[: len(counts)]  # those behind have no trials, and prior 0
    possible = share > 0
    return WEIGHTED if _are_alike(share[possible] / counts[possible]) else UNEVEN


def _counted(found: ClassEvaluation, part: Partition, own: CountArray | None) -> ClassEvaluation:
    """An evaluation with counts that are sums of the users' own weights, and confusions that add up to them.

    The weights of the partition also balance the classes of a group. Where they have nothing to balance, confusions
    are whole numbers if those of the user are.
    """
    counted = confusion_of(ScoredClasses(part.loglik, part.label, own, None), part.prior)
    counts = tally(part.label, len(found.classes), own)
    some = slice(None) if own is None else own > 0
    balance = part.sample_weight[some] / (1.0 if own is None else own[some])
    is_even = np.array([_are_alike(balance[part.label[some] == g]) for g in range(len(counts))])
    if not is_even.all():
        shares = found.confusion / found.confusion.sum(axis=1, keepdims=True)
        counted = np.where(is_even[:, None], counted, shares * counts[:, None])
    return replace(found, counts=counts, confusion=counted)
