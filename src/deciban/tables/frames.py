"""Figures of results as Arrow tables and data frames: one row for each system, operating point or class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from deciban.errors import InputError
from deciban.evaluation.one_system import Tabular
from deciban.trials.frames import require_library

_INFINITE = {"inf": float("inf"), "-inf": float("-inf")}
_TEXTS = ("name", "kind", "class", "role", "trials", "part", "by", "condition")
"""Columns of texts, where `inf` would be a name."""


def arrow_of(result: Tabular, by: str = "system") -> pa.Table:
    """Make an Arrow table of figures; see `deciban.evaluation.Results.to_arrow`.

    Parameters
    ----------
    result : Results, Evaluation, ClassEvaluation or Trained
    by : {"system", "point", "class"}

    Raises
    ------
    InputError
    """
    makers = {"system": _system_rows, "point": _point_rows, "class": _class_rows}
    if by not in tuple(makers):  # which takes everything for a name
        raise InputError(f"by: got {by!r}. It is {', '.join(map(repr, makers))}.")
    rows = [
        {"name": one.name, **labels, **row}
        for labels, one in result.labelled()
        for row in makers[by](one, one.to_dict())
    ]
    names = list(dict.fromkeys(name for row in rows for name in row))
    return pa.table({name: pa.array([row.get(name) for row in rows]) for name in names})


def frame_of(result: Tabular, by: str = "system") -> Any:
    """Make a pandas data frame of figures; see `deciban.evaluation.Results.to_frame`.

    Raises
    ------
    InputError
        If pandas is not installed, or as in `arrow_of`.
    """
    require_library("pandas", "to_frame")
    return arrow_of(result, by).to_pandas()


def _system_rows(one: Any, found: Mapping[str, Any]) -> list[dict[str, Any]]:  # noqa: ARG001  # makers share a signature
    return [_scalars(found)]


def _point_rows(one: Any, found: Mapping[str, Any]) -> list[dict[str, Any]]:  # noqa: ARG001
    return [_scalars(point) for point in found["operating_points"]]


def _class_rows(one: Any, found: Mapping[str, Any]) -> list[dict[str, Any]]:
    if not getattr(one, "classes", ()):
        raise InputError(f"by: the scores of {one.name} are of two classes. Rows can be of a 'system' or a 'point'.")
    detectors = {figures["target"]: figures for figures in found["detectors"]}
    rows = zip(one.classes, found["counts"], found["class_error_rates"], strict=True)
    none = dict.fromkeys(next(iter(detectors.values()), {}))
    return [
        {"class": name, "count": n, "error_rate": rate} | _scalars(_without_target(detectors.get(name, none)))
        for name, n, rate in rows
    ]


def _without_target(figures: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in figures.items() if name != "target"}


def _scalars(found: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """The single figures of an object, and of objects in it, bounds of intervals besides; lists are left out."""
    row: dict[str, Any] = {}
    for name, value in found.items():
        if name == "intervals":
            row |= _bounds(value, before)
        elif isinstance(value, Mapping):
            row |= _scalars(value, f"{before}{name}_")
        elif not isinstance(value, list | tuple):
            is_infinite = isinstance(value, str) and name not in _TEXTS
            row[f"{before}{name}"] = _INFINITE.get(value, value) if is_infinite else value
    return row


def _bounds(intervals: Mapping[str, Any], before: str) -> dict[str, Any]:
    """Both bounds of each figure; of figures of figures by both names."""
    row: dict[str, Any] = {}
    for name, found in intervals.items():
        if "low" in found:
            row |= {f"{before}{name}_{side}": _INFINITE.get(found[side], found[side]) for side in ("low", "high")}
        else:
            row |= _bounds(found, f"{before}{name}_")
    return row
