"""Where the numbers of a page come from: files with their hashes, what was typed, versions, and when."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from deciban._version import __version__
from deciban.core.resampling.unit_notes import number_and_source
from deciban.errors import InputError
from deciban.evaluation.results import Results
from deciban.io.read_files import described
from deciban.io.source import PathLike, TwoFiles


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
            What was read, as in `deciban.io.read_files.described`.
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
