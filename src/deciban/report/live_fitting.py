"""What the scripts of a page know of conditions, of either kind: a row of figures for each, and numbers as they fit."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from deciban.evaluation.conditions import Condition
from deciban.evaluation.results import Results

ROOM = 1_200_000
"""Characters that the numbers of all conditions may take on a page."""

Detail = TypeVar("Detail")
"""How much is told of every condition."""


@dataclass(frozen=True, slots=True)
class Packing(Generic[Detail]):
    """How numbers of conditions are written for a kind of results.

    Attributes
    ----------
    figures : sequence of str
        Attributes of evaluations for the map of conditions.
    details : sequence
        The first one that leaves room for every condition is taken.
    packed : callable
        Numbers of the systems of a condition: from its place among those with figures, its evaluations and a detail.
    why_none : callable
        Why an evaluation has no such numbers; empty if it has.
    shared : object
        What stands beside the numbers of all conditions, and takes room.
    """

    figures: Sequence[str]
    details: Sequence[Detail]
    packed: Callable[[int, Sequence[Any], Detail], list[dict[str, Any]]]
    why_none: Callable[[Any], str]
    shared: Any = None


@dataclass(frozen=True, slots=True)
class Fitted(Generic[Detail]):
    """Rows of all conditions, numbers of as many as there is room for, and how much is told of them."""

    rows: list[dict[str, Any]]
    sets: list[dict[str, Any]]
    detail: Detail


def fitted(results: Results[Any], packing: Packing[Detail], room: int) -> Fitted[Detail] | None:
    """Rows of all conditions, and numbers of as many as there is room for; None where there are no conditions.

    Parameters
    ----------
    results : Results
        Maybe with conditions.
    packing : Packing
    room : int
        Characters; where not all fit, those of the smallest conditions are left out.

    Returns
    -------
    Fitted or None
        A row has the name of the condition, its trials, figures of all systems and, if there are none, why not; ``set``
        is the place of its numbers among the sets.
    """
    rows = list(_rows(results, packing))
    if not rows:
        return None
    room -= len(json.dumps([[row for row, _ in rows], packing.shared]))
    with_numbers = [(row, found) for row, found in rows if not row["why_none"]]
    with_numbers.sort(key=lambda one: -sum(one[0]["trials"].values()))
    sets, detail = list[dict[str, Any]](), packing.details[0]
    for detail in packing.details:
        sets = _fitting([found for _, found in with_numbers], packing, detail, room)
        if len(sets) == len(with_numbers):
            break
    for k, (row, _) in enumerate(with_numbers[: len(sets)]):
        row["set"] = k
    return Fitted([row for row, _ in rows], sets, detail)


def n_conditions(results: Results[Any]) -> int:
    """How many conditions there are, with figures or without."""
    return sum(len(part.conditions) for part in results.conditions[0].partitions) if results.conditions else 0


def _fitting(
    found: Sequence[Sequence[Any]], packing: Packing[Detail], detail: Detail, room: int
) -> list[dict[str, Any]]:
    """Numbers of the first conditions, as many as there is room for."""
    sets = list[dict[str, Any]]()
    for at, systems in enumerate(found):
        made = packing.packed(at, systems, detail)
        room -= len(json.dumps(made, separators=(",", ":")))
        if room < 0:
            break
        sets.append({"systems": made})
    return sets


def _rows(results: Results[Any], packing: Packing[Any]) -> Iterator[tuple[dict[str, Any], list[Any]]]:
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
                "why_none": next((why for one in same if (why := _why_none(one, packing))), ""),
                "figures": {name: [_finite(getattr(one, name, None)) for one in found] for name in packing.figures},
                "set": None,
            }
            yield row, found


def _why_none(one: Condition, packing: Packing[Any]) -> str:
    """Why a condition cannot be chosen; empty if it can."""
    return one.why_none if one.found is None else packing.why_none(one.found)


def _where(one: Condition, title: str, columns: Sequence[str]) -> list[str] | None:
    """Options that choose these trials; None where no value stands for them, as for bins."""
    values = list(one.values.items())
    is_plain = title == " \N{MULTIPLICATION SIGN} ".join(columns)
    if not is_plain or any(value is None or "|" in value or name not in columns for name, value in values):
        return None
    return [f"{name}={value}" for name, value in values]


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else value


@dataclass(slots=True)
class Once:
    """What is made once for each condition, however many details are tried."""

    make: Callable[[Sequence[Any]], Any]
    known: dict[int, Any] = field(default_factory=dict)

    def of(self, at: int, systems: Sequence[Any]) -> Any:
        """That of a condition, by its place."""
        if at not in self.known:
            self.known[at] = self.make(systems)
        return self.known[at]
