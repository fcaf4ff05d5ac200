"""Sets of results side by side: before and after calibration, training and test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from deciban.errors import InputError
from deciban.evaluation import Evaluation, Results
from deciban.report.tables import MISSING, Figure, figures_of, matched, points_of
from deciban.report.text import MINUS

_SIZES = ("PRBEP", "targets", "non-targets", "tied across classes")
"""What grows with the number of trials: a difference would say nothing."""


@dataclass(frozen=True, slots=True)
class Line:
    """One figure of one system in all sets, and the difference that matters."""

    figure: str
    cells: tuple[str, ...]
    difference: str


@dataclass(frozen=True, slots=True)
class Block:
    """All figures of one system."""

    name: str
    color: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The same systems in several sets.

    Attributes
    ----------
    title, difference : str
        What is compared, and what the last column holds.
    columns : tuple of str
        Names of the sets.
    sets : tuple of tuple of Evaluation
        The systems of each set, in the same order; the difference is that of the last one to ``base``.
    base : int
    """

    title: str
    difference: str
    columns: tuple[str, ...]
    sets: tuple[tuple[Evaluation, ...], ...]
    base: int

    def blocks(self, colors: Sequence[str]) -> list[Block]:
        """Return the rows of the table, system after system."""
        found = []
        for color, *systems in zip(colors, *self.sets, strict=True):
            points = points_of(systems)
            columns = [figures_of(system, points) for system in systems]
            lines = tuple(self._line(figures) for figures in zip(*columns, strict=True))
            found.append(Block(systems[-1].name, color, lines))
        return found

    def _line(self, figures: Sequence[Figure]) -> Line:
        base, last = figures[self.base], figures[-1]
        return Line(last.name, tuple(figure.text for figure in figures), _difference(base, last))


def compare(
    results: Results, *, before: Results | None, train: Results | None, train_before: Results | None
) -> Comparison | None:
    """Put sets of results side by side; None if there is only one.

    Raises
    ------
    InputError
        If the sets do not hold the same number of systems, or there is training before but not after calibration.
    """
    if train_before is not None and train is None:
        raise InputError("train_before: there is no train that it is before of.")
    given: dict[str, Results | None] = {
        "training, before": train_before,
        "training": train,
        "test, before": before,
        "test": results,
    }
    if train is None:
        given = {"before calibration": before, "after calibration": results}
    sets = {name: matched(one, results, name) for name, one in given.items() if one is not None}
    if len(sets) == 1:
        return None
    if train is not None:
        words = ("Training and test", "test less training", list(sets).index("training"))
    else:
        words = ("Before and after calibration", "after less before", 0)
    return Comparison(words[0], words[1], tuple(sets), tuple(sets.values()), words[2])


def _difference(base: Figure, last: Figure) -> str:
    if last.name in _SIZES or base.value is None or last.value is None:
        return ""
    change = last.value - base.value
    if math.isnan(change):
        return MISSING
    text = last.write(abs(change)).replace(" %", " pp")
    sign = "+" if change > 0 else MINUS
    return text if text == last.write(0.0).replace(" %", " pp") else sign + text
