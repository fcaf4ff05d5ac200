"""Sentences that must stand beside the numbers of many classes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp

from deciban.core.classes.certainty import CountedTrials, ruled_out
from deciban.core.classes.loglik import are_alike
from deciban.types import AnyArray, CountArray, IntArray, ScoreArray

if TYPE_CHECKING:
    from deciban.evaluation.multiclass.result import ClassEvaluation

_FEW = 30
_LOOKED_AT = 1000
"""Trials that tell what scores look like."""


def class_notes(
    found: ClassEvaluation, loglik: ScoreArray, label: IntArray, weights: CountArray | None
) -> tuple[str, ...]:
    """Return the notes for one system, the most serious first, from its evaluation and its checked trials."""
    says_nothing = are_alike(loglik)
    notes = [*_units(loglik), *_infinite(found, loglik, label, weights)]
    if says_nothing:
        notes.append(
            "All trials have the same scores, but for what is added to all classes of a trial: they say nothing of the "
            "class. Is this the right file, and are these the right columns?"
        )
    if math.isfinite(found.cllr) and found.cllr > found.reference:
        notes.append(
            f"Badly calibrated: Cllr is above {found.reference:.4g} bits, that of scores that say nothing. Whoever "
            "takes these posteriors at their word is better off without."
        )
    notes.extend(
        f"At target prior {point.p_target:g}, actual detection decisions are worse than none (C_avg {point.c_avg:.4g}, "
        f"{min(point.p_target, 1.0 - point.p_target):.4g} without scores)."
        for point in found.points
        if point.normalized > 1.0
    )
    if found.error_rate > found.default_error_rate and not says_nothing:
        notes.append(
            "More errors than the prior alone makes: is the order of the classes that of the columns, and do larger "
            "scores favour the class?"
        )
    return (*notes, *_few(found))


def _units(loglik: ScoreArray) -> list[str]:
    """What scores look like that are not meant as log-likelihoods; never more than a remark."""
    some: AnyArray = loglik[:: max(len(loglik) // _LOOKED_AT, 1)].astype(np.float64)
    if some.min() >= 0.0 and some.max() <= 1.0 and np.allclose(some.sum(axis=1), 1.0, atol=1e-3):
        return ["Scores lie in [0, 1] and sum to 1: probabilities? Take their logarithms."]
    if np.all(some <= 1e-6) and np.allclose(logsumexp(some, axis=1), 0.0, atol=1e-3):
        words = "These look like log posteriors. They are log-likelihoods only if the prior that is in them was flat:"
        return [f"{words} otherwise name it (--posterior-prior, posterior_prior)."]
    return []


def _infinite(found: ClassEvaluation, loglik: ScoreArray, label: IntArray, weights: CountArray | None) -> list[str]:
    """What infinite scores do, and in which trials they are wrong."""
    if found.n_infinite:
        n_classes = len(found.classes)
        exact = None if weights is None else weights.astype(np.float64)
        counted = CountedTrials.of(loglik[:, None, :], label, np.full(n_classes, 1.0 / n_classes), exact)
        wrong = np.flatnonzero(ruled_out(counted.trials))
        if len(wrong):
            first = int(wrong[0]) if counted.numbers is None else int(counted.numbers[wrong[0]])
            place = f"the first at index {first} (class {found.classes[label[first]]!r})"
            return [f"Cllr is infinite: infinite scores rule out the true class of {len(wrong):,} trials, {place}."]
    if math.isinf(found.cllr):
        return ["Cllr is infinite: a true class is so far behind another that the cost does not fit a float."]
    if found.n_infinite:
        return [f"{found.n_infinite:,} trials have infinite scores; none excludes its true class."]
    return []


def _few(found: ClassEvaluation) -> list[str]:
    notes = []
    scarce = [name for name, n in zip(found.classes, found.counts.tolist(), strict=True) if n < _FEW]
    if scarce:
        shown = ", ".join(scarce[:5]) + (f" and {len(scarce) - 5} more" if len(scarce) > 5 else "")
        notes.append(f"Fewer than {_FEW} trials of {shown}: figures of such a class are rough, and weigh like others.")
    n_errors = float(found.confusion.sum() - np.trace(found.confusion))
    if n_errors < _FEW:
        notes.append(f"Rule of 30: all in all {n_errors:g} errors; the error rate is rough.")
    return notes
