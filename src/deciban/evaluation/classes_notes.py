"""Sentences that must stand beside the numbers of many classes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp

from deciban.types import AnyArray, ScoreArray

if TYPE_CHECKING:
    from deciban.evaluation.classes_result import ClassEvaluation

_FEW = 30
_LOOKED_AT = 1000
"""Trials that tell what scores look like."""


def class_notes(found: ClassEvaluation, loglik: ScoreArray) -> tuple[str, ...]:
    """Return the notes for one system, the most serious first."""
    notes = [*_units(loglik), *_infinite(found)]
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
    if found.error_rate > found.default_error_rate:
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


def _infinite(found: ClassEvaluation) -> list[str]:
    if math.isinf(found.cllr):
        return ["Cllr is infinite: at least one trial excludes its true class, or nearly so."]
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
