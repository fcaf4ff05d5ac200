"""Bounds of figures where the order of some trials is not known: what they would be at best, and at worst.

Trials of both classes that share a cell of scores count as tied: then the hull of the ROC is the least that they can
make of it, and every minimum is at least as high as it is in truth. With all non-targets of such a cell below all its
targets it is at most as high. The area under the ROC counts pairs, and is as sure as the pairs within these cells.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from deciban.core.ranks.operating import detection_cost
from deciban.errors import InputError
from deciban.evaluation.information_at import UNCERTAIN, known_information
from deciban.metrics import SortedScores

if TYPE_CHECKING:
    from deciban.evaluation.results import Evaluation
    from deciban.evaluation.summary import Summary, TwoClassFigures
    from deciban.evaluation.uncertainty import Figure, Uncertainty

Bounds: TypeAlias = "Mapping[Figure, tuple[float, float]]"
"""Figures that are not known exactly, with the lowest and the highest value that they can have."""

_ULPS = 16
"""By so many steps of a float bounds that come from sums are widened: rounding must not move a figure out of them."""


_ROUNDING = 1e-12
"""By this share of them, bounds of sums of fractional weights."""


@dataclass(frozen=True, slots=True, eq=False)
class Unresolved:
    """Trials of both classes that share cells of scores.

    Attributes
    ----------
    n_pairs : int or float
        Pairs of a target and a non-target in one cell, by their weights.
    n_trials : int or float
        Trials in these cells.
    best : SortedScores or None
        All trials, with those of these cells in the best order; None if these cells touch neither hull nor curves.
    """

    n_pairs: int | float
    n_trials: int | float
    best: SortedScores | None = None


def unbounded(figures: TwoClassFigures) -> list[str]:
    """Names of what was asked for that one pass knows no bounds of."""
    return [
        name for name in ("eer_conventions", "fnmr_at", "fmr_at", "posteriors_at", "rule") if getattr(figures, name)
    ]


def require_bounded(figures: TwoClassFigures) -> None:
    """Refuse figures that have no bounds.

    Raises
    ------
    InputError
        If there is one.
    """
    if names := unbounded(figures):
        raise InputError(
            f"approximate: one pass knows no bounds of what {' and '.join(names)} asks for. Leave that out, or let all "
            "passes run (without approximate, --approximate)."
        )


def within_bounds(summary: Summary, found: Evaluation) -> Evaluation:
    """An evaluation in which what is not known has bounds, and no number of its own.

    Parameters
    ----------
    summary : Summary
        With trials that are unresolved.
    found : Evaluation
        Of the summary, with these trials as ties.
    """
    assert summary.unresolved is not None  # noqa: S101  # who calls this knows
    bounds: dict[Figure, tuple[float, float]] = dict(_of_pairs(summary, summary.unresolved))
    best = summary.unresolved.best
    is_same = best is None or _same_hull(summary, best)
    if best is not None and not is_same:
        bounds |= _of_hull(found, best)
    points = list(found.operating_points)
    if not is_same:
        places = ("min_dcf", "min_threshold", "min_p_miss", "min_p_fa")
        for k, point in enumerate(points):
            kept = () if ("min_dcf", k) in bounds else ("min_dcf",)
            points[k] = replace(point, **{name: math.nan for name in places if name not in kept})
    gone: dict[str, Any] = {name: math.nan for name in ("eer", "min_cllr", "prbep", "auc", "n_tied") if name in bounds}
    if not is_same:
        gone |= dict.fromkeys(("eer_threshold", "eer_p_miss", "eer_p_fa"), math.nan)
    if not is_same:
        gone["information_at"] = known_information(found.information_at)
        at = found.at_priors
        gone["at_priors"] = at and replace(at, min_dcf=np.full(len(at.min_dcf), np.nan))
    gone |= {"dr30": found.dr30 if is_same else (math.nan, math.nan), "operating_points": tuple(points)}
    notes = (*found.notes, _note(bounds, is_same=is_same))
    return replace(found, bounds=bounds, notes=notes, **gone)


def without_bounded(known: Uncertainty, bounds: Bounds) -> Uncertainty:
    """Intervals of the figures that are known."""
    gone = {*bounds, *((name, k) for name, k in UNCERTAIN if "min_cllr" in bounds)}
    estimates = {figure: one for figure, one in known.estimates.items() if figure not in gone}
    influences = {figure: one for figure, one in known.influences.items() if figure not in gone}
    return replace(known, estimates=estimates, influences=influences)


def _of_pairs(summary: Summary, unresolved: Unresolved) -> Bounds:
    """Area under the ROC and number of ties: whole numbers, divided once."""
    tied = summary.n_tied
    if not all(isinstance(n, int) for n in (tied, summary.n_tar, summary.n_non)):  # fractional weights
        share = unresolved.n_pairs / (2 * summary.n_tar * summary.n_non)
        low, high = summary.table.auc() - share, summary.table.auc() + share
        least, most = max(tied - unresolved.n_trials, 0.0), tied
        slack = _ROUNDING * tied
        return {"auc": (max(low - _ROUNDING, 0.0), min(high + _ROUNDING, 1.0)), "n_tied": (least - slack, most + slack)}
    right, n_pairs = summary.table.twice_right_pairs(), int(summary.n_tar) * int(summary.n_non)
    auc = tuple((right + sign * unresolved.n_pairs) / (2 * n_pairs) for sign in (-1, 1))
    return {"auc": (auc[0], auc[1]), "n_tied": (tied - unresolved.n_trials, tied)}


def _same_hull(summary: Summary, best: SortedScores) -> bool:
    one, other = summary.rocch, best.rocch
    return np.array_equal(one.n_fa, other.n_fa) and np.array_equal(one.n_miss, other.n_miss)


def _of_hull(found: Evaluation, best: SortedScores) -> Bounds:
    """Minima, which are functions of the hull alone."""
    rocch = best.rocch
    bounds: dict[Figure, tuple[float, float]] = {
        "eer": wide(rocch.eer(), found.eer, 0.5),
        "prbep": wide(rocch.prbep(), found.prbep),
        "min_cllr": wide(best.recalibrated.cllr(), found.min_cllr, 1.0),
    }
    least, most = bounds["min_cllr"]
    bounds["calibration_loss"] = max(found.cllr - most, 0.0), max(found.cllr - least, 0.0)
    costs = [_least_cost(best, point) for point in found.operating_points]
    for k, (cost, point) in enumerate(zip(costs, found.operating_points, strict=True)):
        bounds["min_dcf", k] = wide(cost, point.min_dcf, 1.0)
    bounds["mean_min_dcf"] = wide(float(np.mean(costs)), found.mean_min_dcf, 1.0)
    return {figure: ends for figure, ends in bounds.items() if ends[0] < ends[1]}


def _least_cost(best: SortedScores, point: object) -> float:
    threshold = -np.array([point.threshold])  # type: ignore[attr-defined]
    rates = best.rocch.best_rates(threshold)
    return float(detection_cost(*rates, threshold, 1.0, 1.0, normalize=True)[0])


def wide(low: float, high: float, most: float = math.inf) -> tuple[float, float]:
    """Bounds that come from sums, with both ends a little further out; equal ones stay as they are."""
    if low == high:
        return low, high
    low, high = min(low, high), max(low, high)
    room = _ULPS * float(np.spacing(high)) if math.isfinite(high) else 0.0
    return max(low - room, 0.0), max(min(high + room, most), high)


def _note(bounds: Bounds, *, is_same: bool) -> str:
    if is_same:
        low, high = bounds["auc"]
        ties = "; how many trials are tied is known within {:,.0f} and {:,.0f}.".format(*bounds["n_tied"])
        return f"AUC is known within {low:.10f} and {high:.10f}{ties}"
    return (
        "Approximate: figures in brackets are certain to lie within these bounds, and thresholds of minima are not "
        "known. Curves take scores that are nearly alike for equal ones."
    )
