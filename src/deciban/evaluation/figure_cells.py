"""Figures with their intervals, as cells of tables show them on a terminal and on a page."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:  # tables of formats and of files need no numbers
    from deciban.evaluation.one_system import OneSystem
    from deciban.evaluation.uncertainty import Figure

PERCENT = " %"


class WithInterval(str):
    """A figure with its interval, as people read it: ``4.87 % [4.1, 5.9]``.

    Parameters
    ----------
    estimate : str
        The figure alone; empty where nothing is known but bounds.
    low, high : str
        In the unit of the figure, without a sign of percent.
    unit : str
        A sign of percent behind bounds that stand alone.
    digits : (str, str), optional
        The bounds with all the digits of their width, for programs.
    """

    __slots__ = ("digits", "estimate", "high", "low", "unit")
    digits: tuple[str, str]
    estimate: str
    low: str
    high: str
    unit: str

    def __new__(cls, estimate: str, low: str, high: str, unit: str = "", digits: tuple[str, str] | None = None) -> Self:
        """Join the parts."""
        made = super().__new__(cls, f"{estimate} {_bracket(low, high)}{unit}".lstrip())
        made.estimate, made.low, made.high, made.unit = estimate, low, high, unit
        made.digits = (low, high) if digits is None else digits
        return made

    @property
    def bracket(self) -> str:
        """The interval alone."""
        return _bracket(self.low, self.high) + self.unit

    @property
    def without_percent(self) -> WithInterval:
        """The same without the sign."""
        return WithInterval(self.estimate.removesuffix(PERCENT), self.low, self.high, digits=self.digits)


def _bracket(low: str, high: str) -> str:
    return f"[{low}, {high}]"


def with_interval(text: str, one: OneSystem, figure: Figure, typeset: Callable[[str], str] = str) -> str:
    """A figure of an evaluation, written as text, with its interval if it has one, or its bounds in place of it.

    Parameters
    ----------
    text : str
        The figure; bounds are in percent if it ends so.
    one : Evaluation or ClassEvaluation
    figure : str, or (str, place)
        Its name, as in `OneSystem.interval`.
    typeset : function
        Changes how the bounds are written.
    """
    from deciban.evaluation.interval_words import bounds_in_words, rounded_outwards, shown_interval

    if figure in one.bounds:
        unit = PERCENT if text.endswith(PERCENT) else ""
        low, high = map(typeset, rounded_outwards(*one.bounds[figure], in_percent=bool(unit)))
        return WithInterval("", low, high, unit)
    found = shown_interval(one, figure)
    if found is None:
        return text
    in_percent = text.endswith(PERCENT)
    low, high = map(typeset, bounds_in_words(found, in_percent=in_percent, beside=text))
    return WithInterval(text, low, high, digits=bounds_in_words(found, in_percent=in_percent))


def written(figure: Figure, value: Callable[[Any], float], write: Callable[[float], str]) -> Callable[[Any], str]:
    """A function that writes a figure of an evaluation with its interval."""
    return lambda one: with_interval(write(value(one)), one, figure)
