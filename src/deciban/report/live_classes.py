"""What the scripts of a page of many classes know: decisions at a grid of priors, and pairs of classes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from deciban.evaluation import ClassEvaluation
from deciban.evaluation.multiclass.class_bounds import drawn_pairs
from deciban.evaluation.multiclass.decided_at import PRIORS, DecidedAt
from deciban.types import CountArray, IntArray

_MOST_NUMBERS = 250_000
"""Numbers that the decisions of all systems may take."""

_MOST_CLASSES = 20
"""Classes up to which a matrix has cells that can be read and pointed at."""


def live_class_data(systems: Sequence[ClassEvaluation], colors: Sequence[str]) -> dict[str, Any] | None:
    """What the scripts of a page of many classes get; None for more classes than a matrix has room for.

    Parameters
    ----------
    systems : sequence of ClassEvaluation
        Of the same classes.
    colors : sequence of str
        Of the systems, as hexadecimal codes.

    Examples
    --------
    >>> from deciban import evaluate_classes
    >>> data = live_class_data([evaluate_classes([[2.0, 0.0], [0.0, 1.0]], [0, 1])], ["#0072B2"])
    >>> data["systems"][0]["confusion"]
    [[1, 0], [0, 1]]
    """
    classes = systems[0].classes
    if len(classes) > _MOST_CLASSES or any(one.classes != classes for one in systems):
        return None
    kept = _places(len(systems), len(classes))
    return {
        "classes": [_text(name) for name in classes],
        "priors": PRIORS[kept].tolist(),
        "level": None,
        "systems": [_system(one, color, kept) for one, color in zip(systems, colors, strict=True)],
    }


def _places(n_systems: int, n_classes: int) -> IntArray:
    """Positions of so many priors that decisions at them have room in the page."""
    each = n_systems * n_classes**2 * (n_classes - 1)
    n = min(max(_MOST_NUMBERS // each, 3), len(PRIORS))
    return np.unique(np.linspace(0, len(PRIORS) - 1, n).round().astype(np.int64))


def _system(one: ClassEvaluation, color: str, kept: IntArray) -> dict[str, Any]:
    pairs = drawn_pairs(one)
    return {
        "name": _text(one.name),
        "color": color,
        "prior": one.prior.tolist(),
        "counts": one.counts.tolist(),
        "confusion": one.confusion.tolist(),
        "pairs": None if pairs is None else {name: _numbers(getattr(pairs, name)) for name in ("cllr", "min_cllr")},
        "decided": None if one.decided is None else _decided(one.decided, kept),
        "brier": [one.brier, None if one.decided is None else _briers(one, one.decided, kept)],
        "c_avg": [one.points[0].p_target, one.c_avg, _c_avg(one, kept)],
    }


def _decided(decided: DecidedAt, kept: IntArray) -> list[list[Any]]:
    """For each class whose prior is chosen: trials by place, class and rival, one after the other."""
    found = []
    for k, counts in enumerate(decided.counts):
        at_places: CountArray = np.add.reduceat(counts, np.concatenate(([0], kept + 1)), axis=0)
        found.append(np.delete(at_places, k, axis=2).ravel().tolist())
    return found


def _briers(one: ClassEvaluation, decided: DecidedAt, kept: IntArray) -> list[list[float | None]]:
    """Brier scores by class whose prior is chosen, and place."""
    return _numbers(np.stack([decided.brier(k, one.counts)[kept] for k in range(one.n_classes)]))


def _c_avg(one: ClassEvaluation, kept: IntArray) -> list[float | None] | None:
    """Average detection costs where the prior of every target in turn is that of a place."""
    found = one.curves.c_avg_at
    return None if found is None else _numbers(found[None, kept])[0]


def _numbers(values: Any) -> list[list[float | None]]:
    return [[float(f"{x:.7g}") if math.isfinite(x) else None for x in row] for row in values.tolist()]


def _text(name: str) -> str:
    return name.encode("utf-8", "replace").decode("utf-8")
