"""Columns of figures with intervals: how they are aligned, and taken apart into columns of numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from deciban.evaluation.figure_cells import PERCENT, WithInterval

if TYPE_CHECKING:  # tables of formats need no numbers
    from deciban.evaluation.one_system import OneSystem
    from deciban.evaluation.uncertainty import Figure

Cell: TypeAlias = Callable[[Any], str]
"""What stands in a column about an evaluation."""


def has_intervals(cells: Sequence[str]) -> bool:
    """Whether some cell of a column has an interval."""
    return any(isinstance(cell, WithInterval) for cell in cells)


def with_corrected(columns: Mapping[str, Cell], systems: Sequence[OneSystem]) -> dict[str, Cell]:
    """Return columns of figures, each minimum with a column of its corrected values behind it.

    Parameters
    ----------
    columns : mapping of str to function
        Headings, and what stands below them about an evaluation.
    systems : sequence of Evaluation or ClassEvaluation
    """
    from deciban.evaluation.interval_words import corrected_of

    minima = {name: (figure, in_percent) for name, figure, in_percent in systems[0].minima}
    found = dict[str, Cell]()
    for heading, cell in columns.items():
        found[heading] = cell
        name = heading.partition(" (")[0]
        if name in minima and any(corrected_of(one, minima[name][0]) is not None for one in systems):
            figure, in_percent = minima[name]
            digits = 4 if name == "min C_avg" else 3
            found[f"{name}, corrected"] = partial(corrected_cell, figure, in_percent=in_percent, digits=digits)
    return found


def corrected_cell(figure: Figure, one: OneSystem, *, in_percent: bool = False, digits: int = 3) -> str:
    """Return what to expect of a minimum on new units, as tables show it."""
    from deciban.evaluation.interval_words import corrected_of

    value = corrected_of(one, figure)
    if value is None:
        return "-"
    return f"{100 * value:z.2f}{PERCENT}" if in_percent else f"{value:z.{digits}f}"


def estimate_of(cell: str) -> str:
    """The figure of a cell alone."""
    return cell.estimate or cell.unit if isinstance(cell, WithInterval) else cell


def aligned(cells: Sequence[str]) -> list[str]:
    """The cells of a column with figures above each other, and intervals above each other.

    Examples
    --------
    >>> aligned([WithInterval("12.31 %", "9.8", "15.3"), WithInterval("0.518", "0.47", "0.57"), "-"])
    ['12.31 % [9.8, 15.3]', '  0.518 [0.47, 0.57]', '      -']
    """
    if not has_intervals(cells):
        return list(cells)
    width = max(len(cell.estimate if isinstance(cell, WithInterval) else cell) for cell in cells)
    return [
        f"{cell.estimate:>{width}} {cell.bracket}"[0 if width else 1 :]
        if isinstance(cell, WithInterval)
        else f"{cell:>{width}}"
        for cell in cells
    ]


def apart(heading: str, cells: Sequence[str]) -> list[tuple[str, list[str]]]:
    """A column as columns of numbers: where there are intervals, one for each bound besides.

    Examples
    --------
    >>> apart("Cllr", [WithInterval("0.518", "0.47", "0.57"), "-"])
    [('Cllr', ['0.518', '-']), ('Cllr low', ['0.47', '']), ('Cllr high', ['0.57', ''])]
    """
    if not has_intervals(cells):
        return [(heading, list(cells))]
    bounds = [
        (f"{heading} {side}", [cell.digits[k] if isinstance(cell, WithInterval) else "" for cell in cells])
        for k, side in enumerate(("low", "high"))
    ]
    return [(heading, list(map(estimate_of, cells))), *bounds]
