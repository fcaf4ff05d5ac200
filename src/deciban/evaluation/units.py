"""Whether scores can be log-likelihoods or their ratios at all, where they are so far off that figures mean nothing.

Badly calibrated scores are not yet something else, and a few that are wrong and certain do not make all others so. Four
things together do: the best scale is above 4 or below 1/4, or all scores have one sign; with the best scale and offset
the scores tell most of what any increasing map could make of them; as they are they tell less than half of that; and
all that is no matter of chance, by the likelihood ratio of 30 trials or more of each class.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from deciban._validate.probabilities import LIKE_PROBABILITIES, LIKE_RATIOS, like_probabilities, like_ratios
from deciban.core.ranks.counts import SortedClass
from deciban.core.ranks.hull import FEW_ERRORS
from deciban.errors import InputError
from deciban.evaluation.summary import Summary
from deciban.messages import Note
from deciban.types import FloatArray

FARTHEST = 4.0
"""By how much scores may be multiplied, or divided, by their best calibration and still be log-likelihood ratios."""

_TOLD = 0.5
"""Share of what the scores hold that they must tell as they are."""

_CHANCE = 20.0
"""Twice the logarithm of a likelihood ratio: exceeded by chance in one of 20,000 sets (two parameters)."""

_MENDED = 0.75
"""Share of what the scores hold that the best scale and offset make them tell."""

_RIDGE = 1e-3
"""Penalty on the scale, so that there is a best one for classes that do not overlap."""

_SHOWN = 4096
"""Scores of a class that stand for all of them, at equal distances in their order."""


def remark_on_llrs(summary: Summary) -> str:
    """What is to be said of scores of two classes that are no log-likelihood ratios; empty if they may be some.

    Parameters
    ----------
    summary : Summary
        Of scores that favour targets.
    """
    if ratios := _remark_on_ratios(summary):
        return ratios
    if summary.n_infinite or summary.finite_range is None:
        return ""
    if in_range := remark_on_range(summary):
        return in_range
    lowest, highest = summary.finite_range
    n_least, least = min(summary.n_tar, summary.n_non), summary.recalibrated.cllr()
    if not far_off(summary.cllr, least, 1.0, n_least, 2):
        return ""  # no scale and offset can do better than the best increasing map
    scale, mended = _best_scale(summary.ranks.tar, summary.ranks.non)
    if 1.0 - mended < _MENDED * (1.0 - least) or not far_off(summary.cllr, mended, 1.0, n_least, 2):
        return ""
    why = beyond(scale)
    if not why and (lowest >= 0.0 or highest <= 0.0):
        why = "none is negative" if lowest >= 0.0 else "none is positive"
    return no_log_likelihoods("log-likelihood ratios", why) if why else ""


def _remark_on_ratios(summary: Summary) -> str:
    """Return the note on scores that look like likelihood ratios, with most non-targets below 1; empty if not."""
    tar, non = summary.ranks.tar, summary.ranks.non
    if summary.figures.axis == "log10" or summary.finite_range is None:
        return ""
    if any(len(one.scores) and one.scores[0] < 0.0 for one in (tar, non)):
        return ""
    positive = np.array([np.nextafter(0.0, 1.0)])
    firsts = [one.scores[int(one.positions(positive)[0]) :][:1] for one in (tar, non)]
    low = min((float(first[0]) for first in firsts if len(first)), default=math.inf)
    high, share = summary.finite_range[1], float(non.below(np.ones(1))[0]) / non.total
    is_like = share > 0.5 and like_ratios(low, high, summary.n_tar + summary.n_non, share, 0.5)
    return Note(LIKE_RATIOS.format(low=low, high=high), "ratios") if is_like else ""


def remark_on_range(summary: Summary) -> str:
    """Return the note on scores of two classes that all lie in [0, 1]; empty if they do not."""
    if summary.n_infinite or summary.finite_range is None:
        return ""
    are_alike = like_probabilities(*summary.finite_range, summary.n_tar + summary.n_non)
    return Note(LIKE_PROBABILITIES, "no-llrs") if are_alike else ""


def beyond(scale: float) -> str:
    """Why a best scale is not that of log-likelihoods; empty if it may be.

    >>> beyond(10.0), beyond(0.4)
    ('calibration would multiply them by more than 4', '')
    """
    times = "multiply" if scale > FARTHEST else "divide" if scale < 1 / FARTHEST else ""
    return f"calibration would {times} them by more than {FARTHEST:g}" if times else ""


def no_log_likelihoods(what: str, why: str) -> str:
    """The sentence on scores that are none."""
    words = f"These are no {what} ({why}): actual costs and Cllr mean nothing, calibrate first (deciban calibrate)."
    return Note(words, "no-llrs")


def far_off(cllr: float, mended: float, silent: float, n_least: float, n_classes: int) -> bool:
    """Whether scores tell less than half of what they hold, and not by chance.

    Parameters
    ----------
    cllr, mended, silent : float
        Bits of the scores as they are, after a calibration, and of scores that say nothing.
    n_least : int or float
        Trials of the rarest class.
    n_classes : int

    Examples
    --------
    >>> far_off(0.9, 0.2, 1.0, 100, 2), far_off(0.3, 0.2, 1.0, 100, 2), far_off(0.99, 0.97, 1.0, 30, 2)
    (True, False, False)
    """
    if n_least < FEW_ERRORS or not silent - cllr < _TOLD * (silent - mended):
        return False
    return 2.0 * n_classes * n_least * (cllr - mended) * math.log(2) > _CHANCE


def _best_scale(tar: SortedClass, non: SortedClass) -> tuple[float, float]:
    """The best scale of scores, with an offset, and Cllr after both; nothing is gained where there is no best one."""
    from deciban.core.training.linear_training import train  # evaluations of llrs need none of it

    (of_tar, w_tar), (of_non, w_non) = _thinned(tar), _thinned(non)
    is_target = np.arange(len(of_tar) + len(of_non)) < len(of_tar)
    rule: dict[str, Any] = {"alpha": 1.0, "beta": 1.0, "log_odds": 0.0, "ridge": _RIDGE}
    try:
        found = train([np.append(of_tar, of_non)], is_target, weights=np.append(w_tar, w_non), **rule)
    except InputError:
        return 1.0, math.inf
    return float(found.weights[0]), found.objective / math.log(2)


def _thinned(one: SortedClass) -> tuple[FloatArray, FloatArray]:
    if one.weights is not None and len(one.scores) <= _SHOWN:
        return one.scores.astype(np.float64), one.weights.astype(np.float64)
    n = min(len(one.scores), _SHOWN)
    lines = (np.arange(n) + 0.5) * one.total / n
    rows = lines.astype(np.int64)
    if one.cumulated is not None:  # the entries in which these trials are
        rows = np.searchsorted(one.cumulated, lines, side="right") - 1
    return one.scores[rows].astype(np.float64), np.ones(n)
