"""Sentences that must stand beside the numbers of many classes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from deciban.core.ranks.hull import FEW_ERRORS
from deciban.evaluation.multiclass.looks import Looks

if TYPE_CHECKING:
    from deciban.evaluation.multiclass.result import ClassEvaluation


def class_notes(found: ClassEvaluation, looks: Looks) -> tuple[str, ...]:
    """Return the notes for one system, the most serious first."""
    says_nothing = looks.alike is not None
    notes = [*_units(looks), *_infinite(found, looks)]
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
        f"{point.default_cost:.4g} without scores)."
        for point in found.points
        if point.normalized > 1.0
    )
    if found.error_rate > found.default_error_rate and not says_nothing:
        notes.append(
            "More errors than the prior alone makes: is the order of the classes that of the columns, and do larger "
            "scores favour the class?"
        )
    if math.isnan(found.min_cllr):
        notes.append("Trials were summed up in parts: what calibration would gain is not known, it needs all at once.")
    return (*notes, *_few(found))


def _units(looks: Looks) -> list[str]:
    """What scores look like that are not meant as log-likelihoods; never more than a remark."""
    if looks.are_probabilities:
        return ["Scores lie in [0, 1] and sum to 1: probabilities? Take their logarithms."]
    if looks.are_log_posteriors:
        words = "These look like log posteriors. They are log-likelihoods only if the prior that is in them was flat:"
        return [f"{words} otherwise name it (--posterior-prior, posterior_prior)."]
    return []


def _infinite(found: ClassEvaluation, looks: Looks) -> list[str]:
    """What infinite scores do, and in which trials they are wrong."""
    if looks.n_wrong:
        words = f"Cllr is infinite: infinite scores rule out the true class of {looks.n_wrong:,} trials"
        if looks.first_wrong is None:
            return [f"{words}."]
        at, k = looks.first_wrong
        return [f"{words}, the first at index {at} (class {found.classes[k]!r})."]
    if math.isinf(found.cllr):
        return ["Cllr is infinite: a true class is so far behind another that the cost does not fit a float."]
    if found.n_infinite:
        return [f"{found.n_infinite:,} trials have infinite scores; none excludes its true class."]
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
