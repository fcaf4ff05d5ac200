"""What is to be said of an evaluation of many classes: scores that are none, bad calibration, too few trials."""

from __future__ import annotations

import math

import numpy as np

from deciban._validate.probabilities import LIKE_POSTERIORS
from deciban.core.ranks.hull import FEW_ERRORS
from deciban.core.ranks.operating import WORSE_THAN_NONE
from deciban.evaluation.multiclass.result import ClassEvaluation
from deciban.evaluation.multiclass.summands import ScoreChecks
from deciban.evaluation.units import beyond, far_off, no_log_likelihoods
from deciban.messages import counted


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
        return [LIKE_POSTERIORS]
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
