"""Columns of figures with intervals: how they are aligned, and taken apart into columns of numbers."""

from __future__ import annotations

from collections.abc import Sequence

from deciban.evaluation.figure_cells import WithInterval


def has_intervals(cells: Sequence[str]) -> bool:
    """Whether some cell of a column has an interval."""
    return any(isinstance(cell, WithInterval) for cell in cells)


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
