"""Numbers as pages show them: with a true minus sign, in percent, and with intervals."""

from __future__ import annotations

import math
from typing import Any

from deciban.evaluation.one_system import with_interval

MINUS = "\u2212"

MISSING = "\u2013"
"""In place of a number that is not known, or that there is not."""


def number(value: float, digits: int = 3) -> str:
    """Write a figure with fixed digits, a true minus sign, and ∞.

    >>> number(0.41234), number(-4.5951), number(float("inf")), number(-1e-17), number(12345678.0)
    ('0.412', '−4.595', '∞', '0.000', '1.23e+07')
    """
    if math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "∞" if value > 0 else MINUS + "∞"
    text = f"{value:,.{digits}f}" if abs(value) < 1e6 else f"{value:.3g}"
    if text.startswith("-"):
        text = text[1:] if float(text.replace(",", "")) == 0 else MINUS + text[1:]
    return text


def typeset(text: str) -> str:
    """Write a number that is text already with a true minus sign.

    >>> typeset("-1.5e-07")
    '−1.5e−07'
    """
    return text.replace("-", MINUS)


def sure(text: str, one: Any, figure: Any) -> str:
    """A figure of an evaluation, written as text, with its interval if it has one."""
    return with_interval(text, one, figure, lambda bound: typeset(bound).replace("inf", "∞"))


def percent(fraction: float) -> str:
    """Write a fraction in percent, with two decimals or, where that would hide it, two digits.

    >>> percent(0.0412), percent(0.0), percent(0.000012)
    ('4.12 %', '0.00 %', '0.0012 %')
    """
    value = 100 * fraction
    return f"{value:.2f} %" if value >= 0.1 or value == 0 else f"{value:.2g} %"


def count(value: float) -> str:
    """Write a number of trials; sums of fractional weights get a decimal.

    >>> count(58000), count(12.25)
    ('58,000', '12.2')
    """
    if math.isnan(value):
        return MISSING
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"
