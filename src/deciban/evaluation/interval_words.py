"""Intervals as people read them: how many digits bounds have, what captions state about them, and corrected minima."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING

from deciban.core.resampling.intervals import LINEARISED, RATES, RULE_OF_THREE, Interval
from deciban.core.resampling.units import INDEPENDENT
from deciban.evaluation.uncertainty import Figure, Uncertainty
from deciban.messages import counted

if TYPE_CHECKING:
    from deciban.evaluation.one_system import OneSystem


def shown_interval(one: OneSystem, figure: Figure) -> Interval | None:
    """The interval of a figure of an evaluation; None if there is none."""
    known = one.uncertainty
    return None if known is None or figure not in known.estimates else known.interval(figure)


def bounds_in_words(found: Interval, *, in_percent: bool = False, beside: str = "") -> tuple[str, str]:
    """Write both bounds with so many digits that their difference has two, but no more than the figure beside them.

    Parameters
    ----------
    found : Interval
    in_percent : bool
        Whether the figure is written in percent; the sign is left out.
    beside : str
        The figure as it is written: bounds have its decimals at most, what is less than the last of them is written as
        less (``<0.001``), and bounds of a figure with an exponent have exponents. By default there is no such limit.

    Examples
    --------
    >>> from deciban.core.resampling.intervals import Estimate, Interval
    >>> bounds_in_words(Estimate(0.0487, 0.0048, 100, "logit").interval(), in_percent=True)
    ('4.0', '5.9')
    >>> bounds_in_words(Interval(4e-10, 1e-11, 7e-10, 2e-10, None, 0.95, 100, "by hand"), beside="0.000")
    ('<0.001', '<0.001')
    >>> bounds_in_words(Estimate(0.518, 0.026, 100).interval()), bounds_in_words(Estimate(151.0, 40.0, 100).interval())
    (('0.47', '0.57'), ('89', '255'))
    """
    scale = 100.0 if in_percent else 1.0
    low, high = scale * found.low, scale * found.high
    width = high - low
    if not 0.0 < width < math.inf or max(abs(low), abs(high)) >= 1e6:
        return f"{low:z.4g}", f"{high:z.4g}"
    if "e" in beside:
        return f"{low:.2g}", f"{high:.2g}"
    digits = max(0, 1 - math.floor(math.log10(width)))
    most = _decimals(beside)
    while digits < (_MOST_DIGITS if most is None else most) and not _holds(scale * found.estimate, low, high, digits):
        digits += 1
    if most is None or digits <= most:
        return f"{low:z.{digits}f}", f"{high:z.{digits}f}"
    return _no_false_zero(low, most), _no_false_zero(high, most)


_MOST_DIGITS = 6


def _holds(estimate: float, low: float, high: float, digits: int) -> bool:
    """Whether bounds with so many decimals contain the estimate, if the exact ones do."""
    return (low > estimate or round(low, digits) <= estimate) and (high < estimate or round(high, digits) >= estimate)


def _decimals(text: str) -> int | None:
    """Decimals of a figure as it is written; None where it is no number with decimals."""
    found = re.search(r"\d\.(\d+)", text)
    return None if found is None else len(found[1])


def _no_false_zero(value: float, digits: int) -> str:
    """A number with so many decimals; one that they would hide is written as less than the last of them."""
    text = f"{value:z.{digits}f}"
    if value == 0.0 or float(text) != 0.0:
        return text
    return f"{'<' if value > 0 else '>-'}{10.0**-digits:.{digits}f}"


def rounded_outwards(low: float, high: float, *, in_percent: bool = False) -> tuple[str, str]:
    """Write bounds that are certain: with digits as intervals have them, and none of both is moved inwards.

    Examples
    --------
    >>> rounded_outwards(0.0572084, 0.0572087, in_percent=True), rounded_outwards(106747, 71530199)
    (('5.720840', '5.720870'), ('106747', '71530199'))
    """
    scale = 100.0 if in_percent else 1.0
    width = scale * (high - low)
    if not 0.0 < width < math.inf:
        return f"{scale * low:z.6g}", f"{scale * high:z.6g}"
    digits = max(0, 1 - math.floor(math.log10(width)))
    ends = [Decimal(repr(float(end))) * int(scale) for end in (low, high)]
    step = Decimal(1).scaleb(-digits)
    return f"{ends[0].quantize(step, ROUND_FLOOR):zf}", f"{ends[1].quantize(step, ROUND_CEILING):zf}"


def caption_of(systems: Sequence[OneSystem], *, with_rates: bool = False) -> str:
    """Say what stands in brackets: intervals by their level and their units, or bounds; empty if nothing does.

    Parameters
    ----------
    systems : sequence of OneSystem
    with_rates : bool
        Whether error rates of one class are shown, too: they may have intervals where other metrics have none.

    Examples
    --------
    >>> from deciban import evaluate
    >>> units = {"tar_units": list("abcde"), "non_units": list("abcde")}
    >>> caption_of([evaluate([1.0, 2.0, 3.0, 2.0, 1.0], [0.0, 1.5, 0.5, -1.0, -2.0], **units)])
    '95 % intervals by unit, 5 units'
    """
    all_known = [one.uncertainty for one in systems if one.uncertainty is not None and one.uncertainty.estimates]
    known = [one for one in all_known if not one.too_few] or (
        all_known if with_rates or systems[0].kind == "classes" else []
    )
    certain = "certain bounds" if any(one.bounds for one in systems) else ""
    if not known:
        return certain
    levels = " and ".join(dict.fromkeys(f"{100 * one.level:.6g} %" for one in known))
    kinds = dict.fromkeys((one.noun, one.are_independent) for one in known)
    nouns = dict.fromkeys(noun for noun, _ in kinds)
    counts = ", ".join(
        _counts([one.n_units for one in known if (one.noun, one.are_independent) == (noun, alone)], noun)
        + (f" {INDEPENDENT}" if alone else "")
        for noun, alone in kinds
    )
    methods = "".join(f"; {method}" for method in dict.fromkeys(map(_method, known)) if method != LINEARISED)
    words = f"{levels} intervals by {' and '.join(nouns)}, {counts}{methods}"
    return f"{words}; alone in brackets: {certain}" if certain else words


def _counts(numbers: Sequence[int], noun: str) -> str:
    least, most = min(numbers), max(numbers)
    return counted(most, noun) if least == most else f"{least:,} to {counted(most, noun)}"


def _method(known: Uncertainty) -> str:
    """Return how intervals were found, if not all without replicates; of a bootstrap not of which kind."""
    each = (known.interval(figure).method for figure in known.estimates)
    found = next((method for method in each if method not in (RATES, RULE_OF_THREE)), LINEARISED)
    return found.partition(",")[0]


def corrected_of(one: OneSystem, figure: Figure) -> float | None:
    """Return what to expect of a minimum on new units; None if that is not known."""
    known = one.uncertainty
    return None if known is None or figure not in known.estimates else known.estimates[figure].corrected


def are_corrected(systems: Sequence[OneSystem]) -> bool:
    """Return True if a minimum of some system has a corrected value."""
    return any(corrected_of(one, figure) is not None for one in systems for _, figure, _ in one.minima)


def optimism_in_words(systems: Sequence[OneSystem], *, corrected: bool = False) -> str:
    """Return what a caption states about minima with intervals; empty if none has a corrected value.

    Parameters
    ----------
    systems : sequence of Evaluation or ClassEvaluation
    corrected : bool
        Whether the table shows the corrected values.
    """
    if not are_corrected(systems):
        return ""
    nouns = dict.fromkeys(one.uncertainty.noun for one in systems if one.uncertainty is not None)
    new = f"on new {' and '.join(f'{noun}s' for noun in nouns)}"
    if corrected:
        return f"corrected: to expect {new}"
    return f"minima are optimistic: eval --corrected shows what to expect {new}"
