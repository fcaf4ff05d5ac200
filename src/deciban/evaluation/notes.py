"""Sentences that must stand beside the numbers: what looks wrong, what is missing, what is infinite."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import expit

from deciban.evaluation.results import Curves, PointResult
from deciban.metrics import SortedScores


def notes_on(
    scores: SortedScores, points: Sequence[PointResult], cllr: float, dr30: tuple[float, float], curves: Curves
) -> tuple[str, ...]:
    """Return the notes for one system, the most serious first."""
    auc = scores.table.auc()
    notes = []
    if auc < 0.5:
        notes.append(
            f"Scores look reversed: only {auc:.1%} of target/non-target pairs have the target on top. Larger scores "
            "must favour target; flip the sign of the scores, or check which label means target."
        )
    notes.extend(_infinite(scores, cllr))
    notes.extend(_few_errors(dr30, points))
    notes.extend(_badly_calibrated(curves))
    return tuple(notes)


def _infinite(scores: SortedScores, cllr: float) -> list[str]:
    if math.isinf(cllr):
        return ["Cllr is infinite: at least one trial has infinite evidence for the wrong class, or nearly so."]
    n_infinite = scores.tar.infinite + scores.non.infinite
    return [f"{n_infinite:,} scores are infinite; all are on the right side."] if n_infinite else []


def _few_errors(dr30: tuple[float, float], points: Sequence[PointResult]) -> list[str]:
    false_alarms, misses = dr30
    if false_alarms > misses:
        return ["Rule of 30: at no prior are there 30 misses and 30 false alarms; all figures are rough."]
    notes = []
    for point in points:
        few = {"false alarms": -point.threshold < false_alarms, "misses": -point.threshold > misses}
        short = " and ".join(what for what, is_few in few.items() if is_few)
        if short:
            notes.append(f"Rule of 30: fewer than 30 {short} at effective prior {prior_name(-point.threshold)}.")
    shown = 4
    return notes[:shown] + (
        [f"Rule of 30: the same at {len(notes) - shown} more points."] if len(notes) > shown else []
    )


def prior_name(log_odds: float) -> str:
    """Write the prior with these log odds: two digits of it, or of what it lacks to 1.

    Examples
    --------
    >>> prior_name(-7.2), prior_name(0.0), prior_name(9.0), prior_name(-800.0)
    ('0.00075', '0.5', '1 − 0.00012', 'of log odds −800')
    """
    if abs(log_odds) > 700:
        return f"of log odds {log_odds:.4g}".replace("-", "\N{MINUS SIGN}")
    share = float(expit(log_odds))
    return f"{share:.2g}" if share < 0.99 else f"1 \N{MINUS SIGN} {float(expit(-log_odds)):.2g}"


def _badly_calibrated(curves: Curves) -> list[str]:
    bad = curves.act_error > 1.0
    if not bad.any():
        return []
    good = np.flatnonzero(~bad)
    if len(good) == 0:
        return ["Badly calibrated at every prior: decisions at the Bayes threshold are worse than no recognizer."]
    places = []
    if bad[: good[0]].any():
        places.append(f"below prior {prior_name(curves.prior_log_odds[good[0]])}")
    if bad[good[-1] :].any():
        places.append(f"above prior {prior_name(curves.prior_log_odds[good[-1]])}")
    inside = bad[good[0] : good[-1]]
    if inside.any():
        places.append(f"near prior {prior_name(curves.prior_log_odds[good[0] + int(np.argmax(inside))])}")
    return [f"Badly calibrated {' and '.join(places)}: decisions there are worse than no recognizer."]
