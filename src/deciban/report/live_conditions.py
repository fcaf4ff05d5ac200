"""What the scripts of a page know of conditions: figures of each for a map, and numbers of those that there is room for."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from deciban.evaluation import Evaluation
from deciban.evaluation.conditions import Condition
from deciban.evaluation.results import Results
from deciban.report.live import system_data
from deciban.types import FloatArray

ROOM = 550_000
"""Characters that the numbers of all conditions may take on a page."""

_FIGURES = ("eer", "min_cllr", "cllr")
"""Of the map, beside costs at the operating point."""

_CURVES = (41, 21)
"""Places at which corners of curves are kept: the first number that leaves room for every condition is taken."""

_DIGITS = 8


def condition_data(results: Results[Any], colors: Sequence[str], grid: FloatArray) -> dict[str, Any] | None:
    """What a page knows of its conditions; None if it has none.

    Parameters
    ----------
    results : Results
        Maybe with conditions.
    colors : sequence of str
        Of the systems.
    grid : (n_places,) array
        Log odds at which every system counted errors.

    Returns
    -------
    dict or None
        ``rows`` has for every condition its name, its trials, figures of all systems and, if there are none, why not;
        ``set`` is the place of its numbers among ``sets``, which have the same form as that of all trials but without
        bands, with fewer points of curves, and with counts as steps from place to place of the grid.

    Examples
    --------
    >>> import deciban
    >>> frame = {"score": [2.0, 1.0, -1.0, 0.5, 3.0, -2.0], "label": [1, 1, 0, 0, 1, 0], "sex": list("ffmfmm")}
    >>> found = deciban.evaluate(frame, score=["score"], by="sex")
    >>> known = condition_data(found, ["#0072B2"], found.systems[0].at_priors.log_odds)
    >>> [(row["name"], row["figures"]["eer"], row["set"]) for row in known["rows"]]
    [('sex f', [0.0], 0), ('sex m', [0.0], 1)]
    """
    rows = list(_rows(results, grid))
    if not rows:
        return None
    with_numbers = [(row, found) for row, found in rows if not row["why_none"]]
    for n_places in _CURVES:
        sets = [_packed_systems(found, colors, grid, n_places) for _, found in with_numbers]
        sizes = [len(json.dumps(one, separators=(",", ":"))) for one in sets]
        if sum(sizes) <= ROOM:
            break
    kept, room = [], ROOM
    by_trials = sorted(range(len(sets)), key=lambda k: -sum(one.n_tar + one.n_non for one in with_numbers[k][1]))
    for k in by_trials:
        room -= sizes[k]
        if room < 0:
            break
        kept.append(k)
    kept.sort()
    for k, (row, _) in enumerate(with_numbers):
        row["set"] = kept.index(k) if k in kept else None
    return {"rows": [row for row, _ in rows], "sets": [{"systems": sets[k]} for k in kept]}


def _rows(results: Results[Any], grid: FloatArray) -> Iterator[tuple[dict[str, Any], list[Evaluation]]]:
    """Every condition with the evaluations of all systems there."""
    systems = results.conditions
    for k, part in enumerate(systems[0].partitions if systems else ()):
        same: Sequence[Condition]
        for same in zip(*(one.partitions[k].conditions for one in systems), strict=True):
            found = [one.found for one in same]
            row = {
                "name": same[0].name,
                "by": part.title,
                "trials": dict(same[0].trials),
                "where": _where(same[0], part.title, part.columns),
                "why_none": _why_none(same, grid),
                "figures": {name: [_finite(getattr(one, name, None)) for one in found] for name in _FIGURES},
                "set": None,
            }
            yield row, found


def _why_none(same: Sequence[Condition], grid: FloatArray) -> str:
    """Why a condition cannot be chosen; empty if it can."""
    for one in same:
        if one.found is None:
            return one.why_none
        if one.found.at_priors is None or len(np.setdiff1d(grid, one.found.at_priors.log_odds)):
            return "errors were not counted at the priors of this page"
    return ""


def _where(one: Condition, title: str, columns: Sequence[str]) -> list[str] | None:
    """Options that choose these trials; None where no value stands for them, as for bins."""
    plain = title == " × ".join(columns) and all(name.split(" ")[0] in columns for name in one.values)
    values = list(one.values.items())
    if not plain or any(value is None or "|" in value or name not in columns for name, value in values):
        return None
    return [f"{name}={value}" for name, value in values]


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else value


def _packed_systems(
    found: Sequence[Evaluation], colors: Sequence[str], grid: FloatArray, n_places: int
) -> list[dict[str, Any]]:
    """Numbers of all systems on a page in less room: what follows from other numbers is left to the scripts."""
    return [_packed(system_data(one, color, grid, n_places), one) for one, color in zip(found, colors, strict=True)]


def _packed(data: dict[str, Any], one: Evaluation) -> dict[str, Any]:
    for name in ("name", "color", "act_dcf"):
        del data[name]
    data["min_dcf"] = [None if x is None else float(f"{x:.{_DIGITS}g}") for x in data["min_dcf"]]
    data["interval"] = {}
    if not one.is_weighted:
        for name in ("n_miss", "n_fa"):
            data[name] = np.diff(data[name], prepend=0).tolist()
    data["is_weighted"] = one.is_weighted
    return data
