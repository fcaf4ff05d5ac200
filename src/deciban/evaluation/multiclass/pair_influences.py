"""Influences of units on pairs of classes: many small problems of two classes at once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from deciban.core.classes.counts import Problems, min_cllr_costs, min_cllrs
from deciban.core.ranks.counts import SortedClass
from deciban.core.resampling.class_design import Groups, Spread
from deciban.core.resampling.class_sums import ClassMeans, centred
from deciban.core.resampling.intervals import ROUNDING, NothingSeen
from deciban.core.resampling.replicates import LeftOut
from deciban.core.resampling.scales import Scale
from deciban.core.rules.proper import softplus
from deciban.evaluation.linear_figures import OF_MAPS
from deciban.evaluation.multiclass.class_figures import NO_COSTS, ClassFigure
from deciban.evaluation.multiclass.detector_costs import block_of
from deciban.evaluation.optimism import shifts_of
from deciban.evaluation.uncertainty import Figure
from deciban.metrics import SortedScores
from deciban.multiclass import PairwiseAnalysis
from deciban.multiclass.tables import Pairs
from deciban.types import FloatArray, IntArray

if TYPE_CHECKING:
    from deciban.evaluation.multiclass.summary import ClassSummary

PAIR_FIGURES = ("cllr", "min_cllr", "calibration_loss")

_HELD = 1 << 16
"""Scores from which no more groups are left out at once."""


def pair_squares(
    summary: ClassSummary, found: PairwiseAnalysis, means: ClassMeans, seen: IntArray, left_out: LeftOut | None
) -> Iterator[tuple[ClassFigure, Spread]]:
    """Figures of pairs with the squares of the influences of all units.

    Parameters
    ----------
    summary : ClassSummary
        With units and pairs.
    found : PairwiseAnalysis
        Of this summary.
    means : ClassMeans
    seen : (n_classes,) int array
        Units that have trials of each class.
    left_out : LeftOut or None
        Possible groups of units, where minima are corrected.
    """
    pairs = summary.problems.pairs()
    assert isinstance(pairs, Pairs)  # noqa: S101  # they were analysed, and units are known of trials in memory only
    for i, others in pairs.portions():
        powers = _powers(pairs, means, i, others)
        shifts = None if left_out is None else _shifts(pairs, left_out, found.min_cllr[i, others], i, others)
        spreads = np.repeat(powers.reshape(4, -1).T, 2, axis=0)
        for one, (both, fourth, own, theirs) in zip(
            pair_figures(summary.classes, found, seen, i, others, shifts), spreads, strict=True
        ):
            yield one, Spread(both, fourth, np.array([own, theirs]), np.zeros(2), np.zeros(2))


def pair_figures(
    classes: Sequence[str],
    found: PairwiseAnalysis,
    seen: IntArray,
    i: int,
    others: IntArray,
    shifts: FloatArray | None = None,
) -> Iterator[ClassFigure]:
    """Figures of a class and each of some others, pair by pair, each of them twice: the classes in either order."""
    values = {what: getattr(found, what) for what in PAIR_FIGURES}
    for at, j in enumerate(others.tolist()):
        groups = Groups.of([i, j], len(classes))
        few = int(min(seen[i], seen[j]))
        unbounded, entropy = NothingSeen(few, math.inf), NothingSeen(few, is_entropy=True, ceiling=1.0)
        for what in PAIR_FIGURES:
            value = float(values[what][i, j])
            nothing = (entropy if value <= ROUNDING else None) if what == "min_cllr" else unbounded
            scale: Scale = "identity" if what == "calibration_loss" else "log"
            limits = (0.0, 1.0 if what == "min_cllr" else math.inf)
            shift = None if shifts is None or what == "cllr" else float(shifts[at])
            if shift is not None and what == "calibration_loss":
                shift = -shift
            is_refused = what != "min_cllr" and values["min_cllr"][i, j] <= ROUNDING
            how: Any = {"shift": shift, "is_minimum": what != "cllr", "is_refused": is_refused}
            for pair in ((classes[j], classes[i]), (classes[i], classes[j])):
                name: Figure = (f"pairwise_{what}", *pair)
                yield ClassFigure(name, value, NO_COSTS, groups, scale, nothing, limits, **how)


def _shifts(pairs: Pairs, left_out: LeftOut, whole: FloatArray, i: int, others: IntArray) -> FloatArray:
    """What to add to the least Cllr of a class and each of some others for new units."""
    leads, parts = pairs.leads, []
    n_trials = len(others) * leads.lengths[i] + leads.lengths[others].sum()
    if leads.weights is None and (len(others) > 1 or n_trials * left_out.n_groups < _HELD):
        return shifts_of(whole, _least_without(pairs, left_out, i, others), OF_MAPS)
    for number in range(left_out.n_groups):
        own, theirs = _rows(pairs, left_out, number, (i, int(others[0])))
        scores = (leads.values[others[0], own], -leads.values[i, theirs])
        counts = [None if leads.weights is None else leads.weights[some] for some in (own, theirs)]
        both = (SortedClass.of(*one) for one in zip(scores, counts, strict=True))
        parts.append(np.array([SortedScores.of_sorted(*both).recalibrated.cllr()]))
    return shifts_of(whole, np.array(parts), OF_MAPS)


def _least_without(pairs: Pairs, left_out: LeftOut, i: int, others: IntArray) -> FloatArray:
    """The least Cllr of small pairs without each group, (n_groups, n_others): many problems at once."""
    values, classes = pairs.leads.values, (i, *others.tolist())
    scores: tuple[list[FloatArray], list[FloatArray]] = ([], [])
    counts: tuple[list[int], list[int]] = ([], [])
    found, n_held = list[FloatArray](), 0
    for number in range(left_out.n_groups):
        own, *theirs = _rows(pairs, left_out, number, classes)
        scores[0].append(values[others][:, own].ravel())
        scores[1].append(-values[i, np.concatenate(theirs)])
        counts[0].extend([len(own)] * len(others))
        counts[1].extend(map(len, theirs))
        n_held += len(scores[0][-1]) + len(scores[1][-1])
        if n_held > _HELD or number == left_out.n_groups - 1:
            tar, non = (Problems(np.concatenate(s), np.array(n)) for s, n in zip(scores, counts, strict=True))
            found.append(min_cllrs(tar, non))
            n_held = 0
            for one in (*scores, *counts):
                one.clear()
    return np.concatenate(found).reshape(-1, len(others))


def _rows(pairs: Pairs, left_out: LeftOut, number: int, classes: Sequence[int]) -> list[IntArray]:
    """Trials of some classes that have nothing to do with a group."""
    places = [pairs.leads.slices[k] for k in classes]
    stays = (np.logical_and.reduce([side[place] != number for side in left_out.sides]) for place in places)
    return [np.flatnonzero(one) + place.start for one, place in zip(stays, places, strict=True)]


def _powers(pairs: Pairs, means: ClassMeans, i: int, others: IntArray) -> FloatArray:
    """Return sums of powers for the figures of a class and each of some others, (4, n_others, n_figures).

    Squares and fourth powers through both classes, squares through the class, and squares through the other one.
    """
    leads, places, n = pairs.leads, pairs.leads.slices, len(others)
    own = np.arange(places[i].start, places[i].stop)
    theirs = np.concatenate([np.arange(places[k].start, places[k].stop) for k in others.tolist()])
    lengths = leads.lengths[others]
    tar = Problems(leads.values[others, places[i]].ravel(), np.full(n, len(own)))
    non = Problems(-leads.values[i, theirs], lengths)
    best = _best_alone(pairs, tar, non, i, int(others[0])) if n == 1 else min_cllr_costs(tar, non)
    found = []
    for at, problem, act, least in (
        (np.tile(own, n), tar.places, softplus(-tar.scores) / math.log(2), best[0]),
        (theirs, non.places, softplus(non.scores) / math.log(2), best[1]),
    ):
        begins = np.flatnonzero(
            (np.diff(problem, prepend=-1) != 0) | (np.diff(means.block.stratum[at], prepend=-1) != 0)
        )
        with np.errstate(invalid="ignore"):
            costs = 0.5 * np.stack((act, least, act - least))
        found.append(centred(np.where(np.isfinite(costs), costs, 0.0), means.share[at], begins))
    trials, problem, first = (
        np.concatenate((np.tile(own, n), theirs)),
        np.concatenate((tar.places, non.places)),
        n * len(own),
    )
    values = np.concatenate(found, axis=1)
    parts = (slice(None), slice(0, first), slice(first, None))
    both, own, other = (
        np.stack([means.powers_apart(row[some], problem[some], n, trials[some]) for row in values], axis=-1)
        for some in parts
    )
    return np.stack((*both, own[0], other[0]))


def _best_alone(pairs: Pairs, tar: Problems, non: Problems, i: int, j: int) -> tuple[FloatArray, FloatArray]:
    """Costs after the best recalibration, of two classes that are large or have weights."""
    weights = [pairs.leads.weights_of(pairs.leads.slices[k]) for k in (i, j)]
    pav = SortedScores.of_sorted(SortedClass.of(tar.scores, weights[0]), SortedClass.of(non.scores, weights[1])).pav
    of_tar, of_non = (pav.llr[block_of(pav, one)] for one in (tar.scores, non.scores))
    return softplus(-of_tar) / math.log(2), softplus(of_non) / math.log(2)
