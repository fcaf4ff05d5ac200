"""What scripts need to count errors at any prior: steps of errors over thresholds, and vertices of the convex hull."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from deciban.core.ranks.hull import Rocch
from deciban.core.ranks.operating import detection_cost
from deciban.evaluation import Evaluation
from deciban.evaluation.at_priors import REACH, ErrorSteps, grid_of_thresholds
from deciban.types import CountArray, FloatArray

ROOM = 500_000
"""Characters that steps of errors of all systems may take."""

UNIT = 2.0**-26
"""Nats to which scores are told apart on the page."""

OF_SCORE, _OF_THRESHOLD = 6, 8
"""Characters that a score and a threshold of a grid take, about."""

_MOST_VERTICES = 4000


def exact_data(one: Evaluation, room: int = ROOM) -> dict[str, Any] | None:
    """What scripts need to count errors of a system at any prior; None where scores were not kept.

    Parameters
    ----------
    one : Evaluation
    room : int
        Characters that may be taken. Where scores of all trials do not fit, there are errors at a grid of thresholds.

    Returns
    -------
    dict or None
        ``steps`` has text between commas. Of scores, an item is the distance from the score before in units of 2^-26
        nats, in base 36, and what happens there: nothing follows where one non-target lies there, a minus sign where it
        is one target, or numbers of targets and of non-targets behind colons. Of a grid there are steps of misses and
        of false alarms, from threshold to threshold. ``hull`` has steps of misses and of false alarms from vertex to
        vertex, and by how much a normalized cost can be too high where vertices are left out.

    Examples
    --------
    >>> from deciban import evaluate
    >>> exact_data(evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0]))["steps"]["items"]
    '-13ydj4,13ydj4,13ydj4:1:1,13ydj4:2:0'
    """
    steps = one.error_steps
    if steps is None:
        return None
    if steps.is_exact and OF_SCORE * len(steps.thresholds) > room:
        steps = _on_grid(steps)
    if not steps.is_exact:
        steps = steps.thinned(max(1, -(-_OF_THRESHOLD * len(steps.thresholds) // room)))
    return {"steps": _packed(steps), "reach": steps.reach, "hull": _hull(one)}


def _on_grid(steps: ErrorSteps) -> ErrorSteps:
    """Errors at thresholds of a grid, from those at all scores."""
    at = grid_of_thresholds()
    place = np.searchsorted(steps.thresholds, at)
    return ErrorSteps(at[:-1], steps.n_miss[place], steps.n_fa[place], is_exact=False)


def _packed(steps: ErrorSteps) -> dict[str, Any]:
    start = {"n_miss": steps.n_miss[0].item(), "n_fa": steps.n_fa[0].item()}
    if steps.is_exact:
        return {**start, "items": ",".join(_items(steps))}
    width = float(steps.thresholds[1] - steps.thresholds[0])
    changes = {"misses": text_of_steps(np.diff(steps.n_miss)), "false_alarms": text_of_steps(np.diff(steps.n_fa))}
    return {**start, "first": float(steps.thresholds[0]), "width": width, **changes}


def _items(steps: ErrorSteps) -> Iterator[str]:
    places = np.floor(steps.thresholds / UNIT).astype(np.int64)
    distances = np.diff(places, prepend=0).tolist()
    for distance, tar, non in zip(
        distances, np.diff(steps.n_miss).tolist(), (-np.diff(steps.n_fa)).tolist(), strict=True
    ):
        what = "" if (tar, non) == (0, 1) else "-" if (tar, non) == (1, 0) else f":{_short(tar)}:{_short(non)}"
        yield ("-" if distance < 0 else "") + np.base_repr(abs(distance), 36).lower() + what


def text_of_steps(changes: CountArray) -> str:
    """Changes of counts between commas; nothing for 0.

    >>> text_of_steps(np.array([7, 0, -2]))
    '7,,-2'
    """
    return ",".join(_short(step) if step else "" for step in changes.tolist())


def _short(change: float) -> str:
    return f"{change:.12g}"


def _hull(one: Evaluation) -> dict[str, Any] | None:
    """Vertices of the convex hull as steps; None where the minimum is not known."""
    at = one.at_priors
    if at is None or not np.isfinite(at.min_dcf).all():
        return None
    rocch = Rocch.of(one.curves.pav)
    kept, excess = _vertices(rocch, _MOST_VERTICES)
    return {
        "misses": text_of_steps(np.diff(rocch.n_miss[kept], prepend=0)),
        "false_alarms": text_of_steps(np.diff(rocch.n_fa[kept], prepend=0)),
        "excess": excess,
    }


def _vertices(rocch: Rocch, most: int) -> tuple[Any, float]:
    """Return the vertices to keep, and by how much the least cost among them can exceed that among all."""
    if len(rocch.n_fa) <= most:
        return slice(None), 0.0
    ends = [0, len(rocch.n_fa) - 1]
    kept = np.unique(np.append(rocch.best_vertices(np.linspace(-REACH, REACH, most - 2)), ends))
    p_miss, p_fa = rocch.p_miss[kept], rocch.p_fa[kept]
    # Both least costs are straight between these priors: they differ most at one of them.
    with np.errstate(divide="ignore"):
        slopes = np.log(np.diff(p_miss)) - np.log(-np.diff(p_fa))
    log_odds = np.unique(np.concatenate((-rocch.llr, -slopes, [0.0])))
    log_odds = log_odds[np.abs(log_odds) <= REACH]
    best = np.searchsorted(slopes, -log_odds)
    found = detection_cost(p_miss[best], p_fa[best], log_odds, 1.0, 1.0, normalize=True)
    return kept, _excess(found, np.asarray(rocch.min_dcf(prior_log_odds=log_odds)))


def _excess(found: FloatArray, least: FloatArray) -> float:
    return float(f"{max(float((found - least).max()), 0.0):.2g}")
