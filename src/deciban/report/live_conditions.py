"""What the scripts of a page know of conditions: figures of each for a map, and numbers where there is room."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.special import expit

from deciban.core.ranks.operating import detection_cost
from deciban.evaluation import Evaluation
from deciban.evaluation.conditions import Condition
from deciban.evaluation.results import Results
from deciban.report.live import system_data
from deciban.types import FloatArray

ROOM = 550_000
"""Characters that the numbers of all conditions may take on a page."""

_FIGURES = ("eer", "min_cllr", "cllr")
"""Of the map, beside costs at the operating point."""

_CURVES = (41, 21, 13)
"""Places at which corners of curves are kept: the first number that leaves room for every condition is taken."""

_DIGITS = 7


def condition_data(
    results: Results[Any], colors: Sequence[str], grid: FloatArray, room: int = ROOM
) -> dict[str, Any] | None:
    """What a page knows of its conditions; None if it has none.

    Parameters
    ----------
    results : Results
        Maybe with conditions.
    colors : sequence of str
        Of the systems.
    grid : (n_places,) array
        Log odds at which every system counted errors.
    room : int
        Characters that the numbers of all conditions may take; where they do not fit, those of the smallest conditions
        are left out.

    Returns
    -------
    dict or None
        ``rows`` has for every condition its name, its trials, figures of all systems and, if there are none, why not;
        ``set`` is the place of its numbers among ``sets``, which have the same form as that of all trials but without
        bands, with fewer points of curves, and with counts as steps from place to place of the grid. ``heavy`` is the
        weight of the class that is not rare, from which scripts make costs.

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
    heavy = np.exp(np.abs(grid)).tolist()
    room -= len(json.dumps([[row for row, _ in rows], heavy]))
    with_numbers = [(row, found) for row, found in rows if not row["why_none"]]
    with_numbers.sort(key=lambda one: -sum(system.n_tar + system.n_non for system in one[1]))
    sets = list[dict[str, Any]]()
    for n_places in _CURVES:
        sets = _fitting([found for _, found in with_numbers], colors, grid, n_places, room)
        if len(sets) == len(with_numbers):
            break
    for k, (row, _) in enumerate(with_numbers[: len(sets)]):
        row["set"] = k
    return {"rows": [row for row, _ in rows], "sets": sets, "heavy": heavy}


def _fitting(
    found: Sequence[Sequence[Evaluation]], colors: Sequence[str], grid: FloatArray, n_places: int, room: int
) -> list[dict[str, Any]]:
    """Numbers of the first conditions, as many as there is room for."""
    sets = list[dict[str, Any]]()
    for systems in found:
        made = [_packed(system_data(one, x, grid, n_places), one, grid) for one, x in zip(systems, colors, strict=True)]
        room -= len(json.dumps(made, separators=(",", ":")))
        if room < 0:
            break
        sets.append({"systems": made})
    return sets


def _rows(results: Results[Any], grid: FloatArray) -> Iterator[tuple[dict[str, Any], list[Evaluation]]]:
    """Every condition with the evaluations of all systems there."""
    systems = results.conditions
    for k, part in enumerate(systems[0].partitions if systems else ()):
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
    values = list(one.values.items())
    is_plain = title == " \N{MULTIPLICATION SIGN} ".join(columns)
    if not is_plain or any(value is None or "|" in value or name not in columns for name, value in values):
        return None
    return [f"{name}={value}" for name, value in values]


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else value


def _packed(data: dict[str, Any], one: Evaluation, grid: FloatArray) -> dict[str, Any]:
    """Numbers of a system in less room: whole counts as steps, and no costs where counts give them."""
    for name in ("name", "color", "act_dcf"):
        del data[name]
    data["interval"] = {}
    data["is_weighted"] = one.is_weighted
    data["min_dcf"] = [None if x is None else float(f"{x:.{_DIGITS}g}") for x in data["min_dcf"]]
    if not one.is_weighted:
        least = _least_errors(one, grid, data["min_dcf"])
        if least is not None:
            data["least"] = least
            del data["min_dcf"]
        for name in ("n_miss", "n_fa"):
            data[name] = _steps(data[name])
    return data


def _steps(counts: Any) -> str:
    """Steps from place to place, between commas; nothing for 0.

    >>> _steps([7, 7, 5])
    '7,,-2'
    """
    return ",".join(str(step) if step else "" for step in np.diff(counts, prepend=0).tolist())


def _least_errors(one: Evaluation, grid: FloatArray, min_dcf: Sequence[float | None]) -> list[str] | None:
    """Misses and false alarms of the best threshold at every place, as steps; None where these are not known."""
    p_miss, p_fa = one.curves.hull_p_miss, one.curves.hull_p_fa
    if None in min_dcf or not len(p_miss):
        return None
    best = np.argmin(np.outer(expit(grid), p_miss) + np.outer(expit(-grid), p_fa), axis=1)
    counts = [np.rint(rates[best] * n).astype(np.int64) for rates, n in ((p_miss, one.n_tar), (p_fa, one.n_non))]
    costs = detection_cost(counts[0] / one.n_tar, counts[1] / one.n_non, grid, 1.0, 1.0, normalize=True)
    is_same = np.allclose(costs, np.array(min_dcf, np.float64), rtol=3 * 10.0 ** (1 - _DIGITS), atol=0.0)
    return [_steps(some) for some in counts] if is_same else None
