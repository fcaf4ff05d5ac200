"""What the scripts of a page of many classes know: decisions at a grid of priors, pairs, conditions, comparisons."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from deciban.evaluation import ClassEvaluation, ClassResults
from deciban.evaluation.multiclass.decided_at import PRIORS, DecidedAt
from deciban.plots.multiclass.simplex import triangle_of
from deciban.report.live import pair_data
from deciban.report.live_fitting import ROOM, Packing, finite, fitted, n_conditions
from deciban.types import IntArray

_ROOM_OF_DECISIONS, _MOST_ROOM, _OF_COUNT, _OF_WEIGHT = 800_000, 1_500_000, 4, 12
"""Characters that the decisions of all systems take, and may take if there would be fewer than `_FEW` priors; and those
of a count or a weight with the zeros beside it."""

_FEW = 16

MOST_CLASSES = 30
"""Classes up to which a matrix has cells that can be read and pointed at."""

_MOST_DRAWN, _LOWEST = 30_000, -99.0
"""Log-likelihoods that the segments of all systems may take, and the lowest that is told apart from others."""

_ROOM_OF_ONE = 150
"""Characters for each pair of classes of a system in a condition: with decisions at some priors, mostly."""

_FIGURES = ("cllr", "min_cllr", "calibration_loss", "error_rate", "c_avg", "brier")
"""Of the map of conditions, at the prior of the evaluation."""

_STEPS = (1, 2, 4, 8, 16, 0)
"""Of the priors of the page, conditions have one of so many; with 0 that of the evaluation alone."""


def live_class_data(
    results: ClassResults, before: Sequence[ClassEvaluation], colors: Sequence[str]
) -> dict[str, Any] | None:
    """What the scripts of a page of many classes get; None where there would be nothing to choose.

    Parameters
    ----------
    results : ClassResults
    before : sequence of ClassEvaluation
        Systems before calibration.
    colors : sequence of str
        Of those before and of the others, as hexadecimal codes.

    Returns
    -------
    dict or None
        ``sets`` holds the list of all systems, those before calibration first; there are ``n_before`` of them.

    Examples
    --------
    >>> from deciban import evaluate_classes
    >>> from deciban.evaluation import ClassResults
    >>> one = evaluate_classes([[2.0, 0.0], [0.0, 1.0]], [0, 1])
    >>> data = live_class_data(ClassResults((one,)), (), ["#0072B2"])
    >>> data["sets"][0]["systems"][0]["confusion"]
    [[1, 0], [0, 1]]
    """
    systems = [*before, *results.systems]
    classes = systems[0].classes
    has_matrix = len(classes) <= MOST_CLASSES and all(one.classes == classes for one in systems)
    if not has_matrix and not results.conditions and len(results.systems) < 2:
        return None
    kept = _places(systems if has_matrix else [])
    levels = [one.uncertainty.level for one in results.systems if one.uncertainty is not None]
    return {
        "classes": [_text(name) for name in classes] if has_matrix else [],
        "priors": PRIORS[kept].tolist(),
        "level": levels[0] if levels else None,
        "n_before": len(before),
        "corners": _corners(systems) if has_matrix else None,
        "sets": [
            {
                "name": "",
                "systems": [
                    {"name": _text(one.name), "color": color}
                    | ({**_system(one, kept), "sample": _sample(one, len(systems))} if has_matrix else _figures(one))
                    for one, color in zip(systems, colors, strict=True)
                ],
            }
        ],
        "figures": {name: [finite(getattr(one, name)) for one in results.systems] for name in _FIGURES},
        "compared": pair_data(results),
    }


def class_condition_data(results: ClassResults, known: dict[str, Any], room: int = ROOM) -> dict[str, Any] | None:
    """What a page of many classes knows of its conditions; None if it has none.

    Parameters
    ----------
    results : ClassResults
        Maybe with conditions.
    known : dict
        What `live_class_data` found.
    room : int
        Characters that the numbers of all conditions may take.

    Returns
    -------
    dict or None
        ``rows`` and ``sets`` as those of `deciban.report.live_conditions.condition_data`. Decisions of a condition
        stand at the places ``kept`` of the priors of the page; Brier and C_avg as well.
    """
    kept, has_matrix = np.searchsorted(PRIORS, known["priors"]), bool(known["classes"])

    def packed(_at: int, systems: Sequence[ClassEvaluation], step: int) -> list[dict[str, Any]]:
        if not has_matrix:
            return [_figures(one) for one in systems]
        return [_system(one, kept[_some(len(kept), step)], has_decisions=step > 0) for one in systems]

    found = fitted(results, Packing(_FIGURES, _STEPS if has_matrix else (0,), packed, lambda _one: ""), room)
    if found is None:
        return None
    return {"rows": found.rows, "sets": found.sets, "kept": _some(len(kept), found.detail).tolist()}


def class_room(results: ClassResults, n_classes: int) -> int:
    """Characters with which conditions of many classes have decisions at priors, nearly always."""
    if n_classes > MOST_CLASSES:
        return min(400 * n_conditions(results) * len(results.systems), ROOM)
    return min((_ROOM_OF_ONE * n_classes**2 + 2_000) * n_conditions(results) * len(results.systems), ROOM)


def _some(n: int, step: int) -> IntArray:
    """Places of a grid of n, one of so many, with both ends."""
    if step == 0:
        return np.zeros(0, np.int64)
    return np.unique(np.linspace(0, n - 1, max(n // step, 2)).round().astype(np.int64))


def _places(systems: Sequence[ClassEvaluation]) -> IntArray:
    """Return positions of as many priors as the page has room for decisions at them, by how many counts are not 0."""
    decided = [one.decided for one in systems if one.decided is not None]
    for n in (len(PRIORS), 36, 24, 16, 12, 9, 6, 4, 3):
        kept: IntArray = np.unique(np.linspace(0, len(PRIORS) - 1, n).round().astype(np.int64))
        some = (one.by_first(k, kept) for one in decided for k in range(len(one.counts)))
        size = sum(np.count_nonzero(one) * (_OF_COUNT if one.dtype.kind in "iu" else _OF_WEIGHT) for one in some)
        if size <= (_ROOM_OF_DECISIONS if n > _FEW else _MOST_ROOM):
            break
    return kept


def _system(one: ClassEvaluation, kept: IntArray, *, has_decisions: bool = True) -> dict[str, Any]:
    """Decisions of a system, at priors of the page where it counted them, and what is known of pairs."""
    pairs, decided = one.pairwise, one.decided if has_decisions else None
    return {
        **_figures(one),
        "prior": one.prior.tolist(),
        "counts": one.counts.tolist(),
        "confusion": one.confusion.tolist(),
        "pairs": None if pairs is None else {name: _numbers(getattr(pairs, name)) for name in ("cllr", "min_cllr")},
        "decided": None if decided is None else _decided(decided, kept),
        "brier": [one.brier, None if decided is None else _briers(one, decided, kept)],
        "c_avg": [one.points[0].p_target, one.c_avg, _c_avg(one, kept) if has_decisions else None],
    }


def _figures(one: ClassEvaluation) -> dict[str, Any]:
    """What is known of systems of any number of classes: values, and those at priors of a class, which they lack."""
    return {
        "error_rate": one.error_rate,
        "brier": [one.brier, None],
        "c_avg": [one.points[0].p_target, one.c_avg, None],
    }


def _decided(decided: DecidedAt, kept: IntArray) -> list[str]:
    """For each class whose prior is chosen: trials by place, class and rival, one after the other."""
    at_places = (np.delete(decided.by_first(k, kept), k, axis=2) for k in range(len(decided.counts)))
    return [_sparse(one.ravel().tolist()) for one in at_places]


def _corners(systems: Sequence[ClassEvaluation]) -> list[int] | None:
    """Three classes to begin with: those that one system takes for each other most; None where nothing is drawn."""
    drawable = [one for one in systems if one.curves.sample is not None]
    return list(triangle_of(drawable[0]).at) if drawable else None


def _sample(one: ClassEvaluation, n_systems: int) -> dict[str, Any] | None:
    """Log-likelihoods of some segments, below the largest of each, in a row after the other, and their classes."""
    if one.curves.sample is None:
        return None
    loglik, label = one.curves.sample
    most = max(_MOST_DRAWN // (n_systems * one.n_classes), 3 * one.n_classes)
    rows = np.unique(np.linspace(0, len(label) - 1, min(most, len(label))).round().astype(np.int64))
    below = np.maximum(loglik[rows] - loglik[rows].max(axis=1, keepdims=True), _LOWEST).astype(np.float64)
    return {"loglik": [float(f"{x:.2f}") + 0.0 for x in below.ravel().tolist()], "label": label[rows].tolist()}


def _sparse(counts: Sequence[Any]) -> str:
    """Counts between commas; of several zeros one after the other, how many behind a letter.

    >>> _sparse([3, 0, 0, 0, 0, 12, 0, 1.5])
    '3,z4,12,z1,1.5'
    """
    words = list[str]()
    for is_zero, some in itertools.groupby(counts, key=lambda n: n == 0):
        same = list(some)
        words += [f"z{len(same)}"] if is_zero else [f"{n:.9g}" if isinstance(n, float) else str(n) for n in same]
    return ",".join(words)


def _briers(one: ClassEvaluation, decided: DecidedAt, kept: IntArray) -> list[list[float | None]]:
    """Brier scores by class whose prior is chosen, and place."""
    return _numbers(np.stack([decided.brier(k, one.counts)[kept] for k in range(one.n_classes)]))


def _c_avg(one: ClassEvaluation, kept: IntArray) -> list[float | None] | None:
    """Average detection costs where the prior of every target in turn is that of a place."""
    found = one.curves.c_avg_at
    return None if found is None else _numbers(found[None, kept])[0]


def _numbers(values: Any) -> list[list[float | None]]:
    return [[None if finite(x) is None else float(f"{x:.7g}") for x in row] for row in values.tolist()]


def _text(name: str) -> str:
    return name.encode("utf-8", "replace").decode("utf-8")
