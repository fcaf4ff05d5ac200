"""The question "which group of classes?" in place of "which class?"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from deciban import multiclass
from deciban._validate_classes import Groups
from deciban.errors import InputError
from deciban.evaluation.classes_joined import Prior, prior_of
from deciban.evaluation.classes_notes import class_notes
from deciban.evaluation.classes_result import ClassEvaluation
from deciban.evaluation.classes_single import P_TARGET, evaluate_classes
from deciban.multiclass import Partition
from deciban.types import FloatArray


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
    sample_weight: ArrayLike | None = None,
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
    p_target, p_out_of_set, subsets
        As in `evaluate_classes`, of the groups: the last group may be out of set.

    Returns
    -------
    ClassEvaluation
        Of the groups. ``counts`` are trials; in ``confusion`` they weigh as they do in every average. The first of
        ``notes`` says which classes are in which group.

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
    names = tuple(classes)
    checked = None if prior is None else prior_of(prior, names)
    part = multiclass.partition(loglik, label, groups, prior=checked, sample_weight=sample_weight, classes=names)
    members = groups.values() if isinstance(groups, Mapping) else groups
    called = [[one if isinstance(one, str) else names[one] for one in some] for some in members]
    titles = part.classes or tuple("+".join(some) for some in called)
    weight = _weights(part, is_weighted=sample_weight is not None, wants_subsets=subsets is True)
    found = evaluate_classes(
        part.loglik,
        part.label,
        classes=titles,
        name=name,
        prior=part.prior.tolist(),
        p_target=p_target,
        p_out_of_set=p_out_of_set,
        subsets=subsets,
        sample_weight=weight,
    )
    if sample_weight is None:
        found = replace(found, counts=np.bincount(part.label, minlength=len(titles)))
    words = "; ".join(f"{title} = {', '.join(some)}" for title, some in zip(titles, called, strict=True))
    note = f"Groups of classes: {words}. Within a group each class weighs as its prior says, not by its segments."
    return replace(found, notes=(note, *class_notes(found, part.loglik, part.label, part.sample_weight)))


def _weights(part: Partition, *, is_weighted: bool, wants_subsets: bool) -> FloatArray | None:
    """The weights of trials where they differ; those that only balance classes are 1 on the average.

    Raises
    ------
    InputError
        If they differ, and costs of subsets are wanted.
    """
    weight = part.sample_weight
    if np.all(weight == weight[0]):
        return None
    if wants_subsets:
        raise InputError(
            "subsets: their costs are those of trials that count alike, but in these groups trials of rare classes "
            "count more, so that each class weighs as its prior says. Leave the subsets out."
        )
    return weight if is_weighted else weight * (len(weight) / weight.sum())
