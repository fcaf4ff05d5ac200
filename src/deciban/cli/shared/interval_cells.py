"""Cells of tables that hold a figure with its interval, and how columns of them are aligned, turned and taken apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:  # tables of formats and of files need no numbers
    from deciban.evaluation.one_system import OneSystem
    from deciban.evaluation.uncertainty import Figure

PERCENT = " %"


class WithInterval(str):
    """A figure with its interval, as people read it: ``4.87 % [4.0, 6.0]``.

    Parameters
    ----------
    estimate : str
        The figure alone.
    low, high : str
        In the unit of the figure, without a sign of percent.
    """

    __slots__ = ("estimate", "high", "low")
    estimate: str
    low: str
    high: str

    def __new__(cls, estimate: str, low: str, high: str) -> Self:
        """Join the parts."""
        made = super().__new__(cls, f"{estimate} {_bracket(low, high)}")
        made.estimate, made.low, made.high = estimate, low, high
        return made

    @property
    def bracket(self) -> str:
        """The interval alone."""
        return _bracket(self.low, self.high)

    @property
    def without_percent(self) -> WithInterval:
        """The same without the sign."""
        return WithInterval(self.estimate.removesuffix(PERCENT), self.low, self.high)


def _bracket(low: str, high: str) -> str:
    return f"[{low}, {high}]"


def with_interval(text: str, one: OneSystem, figure: Figure) -> str:
    """A figure of an evaluation, written as text, with its interval if it has one."""
    from deciban.evaluation.interval_words import bounds_in_words, shown_interval

    found = shown_interval(one, figure)
    if found is None:
        return text
    return WithInterval(text, *bounds_in_words(found, in_percent=text.endswith(PERCENT)))


def written(figure: Figure, value: Callable[[Any], float], write: Callable[[float], str]) -> Callable[[Any], str]:
    """A function that writes a figure of an evaluation with its interval."""
    return lambda one: with_interval(write(value(one)), one, figure)


def has_intervals(cells: Sequence[str]) -> bool:
    """Whether some cell of a column has an interval."""
    return any(isinstance(cell, WithInterval) for cell in cells)


def estimate_of(cell: str) -> str:
    """The figure of a cell alone."""
    return cell.estimate if isinstance(cell, WithInterval) else cell


def aligned(cells: Sequence[str]) -> list[str]:
    """The cells of a column with figures above each other, and intervals above each other.

    Examples
    --------
    >>> aligned([WithInterval("12.31 %", "9.8", "15.3"), WithInterval("0.518", "0.47", "0.57"), "-"])
    ['12.31 % [9.8, 15.3]', '  0.518 [0.47, 0.57]', '      -']
    """
    if not has_intervals(cells):
        return list(cells)
    width = max(len(estimate_of(cell)) for cell in cells)
    return [
        f"{cell.estimate:>{width}} {cell.bracket}" if isinstance(cell, WithInterval) else f"{cell:>{width}}"
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
        (f"{heading} {side}", [getattr(cell, side) if isinstance(cell, WithInterval) else "" for cell in cells])
        for side in ("low", "high")
    ]
    return [(heading, list(map(estimate_of, cells))), *bounds]
