"""How the page writes numbers, and the sentences that do not depend on the results."""

from __future__ import annotations

import math
import os
import platform
import re
import time
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from markupsafe import Markup, escape

from deciban._files import PathLike
from deciban._version import __version__
from deciban.core.ranks.hull import FEW_ERRORS
from deciban.core.resampling.units import number_and_source
from deciban.errors import InputError
from deciban.evaluation import Evaluation
from deciban.evaluation.linear_figures import with_interval
from deciban.evaluation.results import Results
from deciban.evaluation.two_class import prior_name
from deciban.evaluation.uncertainty import caption_of, optimism_in_words
from deciban.io.source import TwoFiles, described

MINUS = "\u2212"

MISSING = "\u2013"

"""In place of a number that is not known, or that there is not."""


_FILE = Path(__file__).with_name("templates") / "text.toml"

TEXTS: dict[str, dict[str, Any]] = tomllib.loads(_FILE.read_text("utf-8"))

"""Sentences by what they are about: titles and captions of plots, definitions, what is said of models."""


TWO_CLASS, MULTICLASS = TEXTS["two-class"], TEXTS["classes"]


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


_LONG, _LONGEST = 12, 24

"""Letters of a name that is broken at all, and of one of its words that is broken inside."""


_BREAKS = re.compile(rf"(?<=[-_./])(?=[^-_./])|(?<=[^-_./\s]{{{_LONGEST}}})(?=[^-_./\s])")


def breakable(text: str) -> Markup:
    """Return a name as HTML that a narrow column breaks after `_`, `-`, `.` and `/`, and not inside short words.

    >>> print(breakable("scores_aasist"), breakable("a<b"), breakable("sys_a.txt"))
    scores_<wbr>aasist a&lt;b sys_a.txt
    """
    if len(text) <= _LONG:
        return escape(text)
    return Markup("<wbr>").join(_BREAKS.split(text))


def capitalize_first(text: str) -> str:
    """Write a sentence's first letter large, and leave the others as they are."""
    return text[:1].upper() + text[1:]


def typeset(text: str) -> str:
    """Write a number that is text already with a true minus sign.

    >>> typeset("-1.5e-07")
    '−1.5e−07'
    """
    return text.replace("-", MINUS)


def sure(text: str, one: Any, figure: Any) -> str:
    """A figure of an evaluation, written as text, with its interval if it has one."""
    return with_interval(text, one, figure, lambda bound: typeset(bound).replace("inf", "∞"))


def about_intervals(systems: Sequence[Any]) -> str:
    """Say what stands below figures; empty where no figure has an interval."""
    words = "; ".join(filter(None, (caption_of(systems, with_rates=True), optimism_in_words(systems, corrected=True))))
    return f"In brackets: {words}." if words else ""


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


def scarce_errors(system: Evaluation) -> str:
    """Say where fewer than 30 errors remain.

    >>> from deciban.evaluation import evaluate
    >>> scarce_errors(evaluate([1.0, 2.0], [0.0, 1.5]))
    'fewer than 30 false alarms at every prior; fewer than 30 misses at every prior'
    """
    if any(map(math.isnan, system.dr30)):
        return "not known after one pass"
    parts = []
    for what, log_odds, side in zip(("false alarms", "misses"), system.dr30, ("below", "above"), strict=True):
        where = f"{side} prior {prior_name(log_odds)}" if math.isfinite(log_odds) else "at every prior"
        parts.append(f"fewer than {FEW_ERRORS} {what} {where}")
    return "; ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """What made a page.

    Attributes
    ----------
    files : tuple of dict
        Of each its ``role``, ``path``, ``size`` in bytes and ``sha256``; None where it could be read only once.
    command : str
        What was typed, or which function was called.
    written : str
        Date and time, in UTC.
    """

    files: tuple[dict[str, Any], ...]
    command: str
    written: str

    @classmethod
    def of(cls, roles: Mapping[str, Iterable[PathLike | TwoFiles | None]], command: str) -> Provenance:
        """Hash files, and look at the clock, or at ``SOURCE_DATE_EPOCH`` where builds have to be repeated to the byte.

        Parameters
        ----------
        roles : mapping of str to iterable of path, TwoFiles or None
            What was read, as in `deciban.io.source.described`.
        command : str

        Raises
        ------
        InputError
            As in `date_written`.
        OSError
            If a file cannot be read any more.
        """
        return cls(files=tuple(described(roles)), command=command, written=date_written())

    def rows(self, results: Results[Any]) -> list[tuple[str, str]]:
        """What is said beside the files, with how intervals of results were found.

        Parameters
        ----------
        results : Results
        """
        versions = {"deciban": __version__, "Python": platform.python_version()}
        versions |= {"NumPy": np.__version__, "SciPy": scipy.__version__}
        said = [("Command", self.command), ("Written", self.written)]
        said.append(("Versions", " · ".join(f"{name} {version}" for name, version in versions.items())))
        known = [one.uncertainty for one in results.systems if one.uncertainty is not None]
        if known:
            units = dict.fromkeys(number_and_source(one.n_units, one.noun, one.source) for one in known)
            said.append(("Units of intervals", "; ".join(units)))
        seeds = dict.fromkeys(str(one.bootstrap.seed) for one in known if one.bootstrap is not None)
        said.append(("Seed", ", ".join(seeds) if seeds else "none: nothing on this page was drawn at random"))
        return said


def date_written() -> str:
    """Date and time in UTC, of now or of ``SOURCE_DATE_EPOCH``.

    Raises
    ------
    InputError
        If that is no date.
    """
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(float(given or time.time())))
    except (ValueError, OverflowError, OSError) as error:
        raise InputError(
            f"SOURCE_DATE_EPOCH: {given!r} in the environment is no date in seconds since 1970. Set it to a whole "
            "number such as 1750000000, or unset it."
        ) from error


def definition_of(figure: str, terms: Iterable[str]) -> str:
    """The term under which a page defines a figure; empty if it is plain.

    Examples
    --------
    >>> terms = ["EER (ROCCH)", "Cllr", "min Cllr", "minDCF", "C_avg", "min C_avg"]
    >>> definition_of("min Cllr", terms), definition_of("mean minDCF", terms), definition_of("targets", terms)
    ('min Cllr', 'minDCF', '')
    >>> definition_of("C_avg at 0.5, minimum", terms), definition_of("EER (ROCCH)", terms)
    ('min C_avg', 'EER (ROCCH)')
    """
    words = figure.casefold()
    if words.endswith("minimum"):
        words = f"min {words}"
    found = [term for term in terms if term.casefold() in words]
    return max(found, key=len, default="")


def anchor(term: str) -> str:
    """The name of the place where a page defines a term.

    >>> anchor("EER (ROCCH)"), anchor("Miss rate, false-alarm rate")
    ('means-eer-rocch', 'means-miss-rate-false-alarm-rate')
    """
    kept = "".join(letter if letter.isalnum() or letter == "_" else " " for letter in term.casefold())
    return "-".join(["means", *kept.split()])
