"""The scripts of a page: files of this package that stand in it as they are, and the policy that allows no other."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from deciban.report.live import as_script_data

_CHARTS = ("vendor", "uplot")
_OWN = (
    "numbers.js",
    "typing.js",
    "links.js",
    "exact.js",
    "point.js",
    "posteriors.js",
    "plots.js",
    "charts.js",
    "conditions.js",
    "compare.js",
    "page.js",
    "classes.js",
    "triangle.js",
    "class_page.js",
    "tables.js",
)
"""In the order in which they run."""

_OF_TWO, _OF_MANY = ("posteriors.js", "page.js"), ("classes.js", "triangle.js", "class_page.js")
"""What only pages of one kind have."""
_ALWAYS = ("tables.js",)
"""What pages have that hold nothing but tables."""


@dataclass(frozen=True, slots=True)
class Script:
    """A script with the name of its file.

    Attributes
    ----------
    name, text : str
    """

    name: str
    text: str

    @property
    def source(self) -> str:
        """What a policy calls it.

        Examples
        --------
        >>> Script("empty.js", "").source
        "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
        """
        digest = hashlib.sha256(self.text.encode()).digest()
        return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


@cache
def scripts() -> tuple[Script, ...]:
    """Every script of a page, in the order in which they run.

    Examples
    --------
    >>> [one.name for one in scripts()][0]
    'uPlot.iife.min.js'
    """
    folder = resources.files("deciban.report")
    charts = folder.joinpath(*_CHARTS, "uPlot.iife.min.js")
    files = [("uPlot.iife.min.js", charts), *((name, folder.joinpath("live_scripts", name)) for name in _OWN)]
    return tuple(Script(name, one.read_text("utf-8").strip()) for name, one in files)


@cache
def chart_style() -> str:
    """The style sheet of the charts."""
    return resources.files("deciban.report").joinpath(*_CHARTS, "uPlot.min.css").read_text("utf-8").strip()


def scripts_of_tables() -> tuple[Script, ...]:
    """The scripts of a page without charts: its tables can be sorted and copied.

    Examples
    --------
    >>> [one.name for one in scripts_of_tables()]
    ['tables.js']
    """
    return tuple(one for one in scripts() if one.name in _ALWAYS)


def policy(allowed: Sequence[Script]) -> str:
    """What the page allows: pictures within it, its own styles, and these very scripts.

    Examples
    --------
    >>> policy(())
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    >>> policy(scripts()).count("'sha256-") == len(scripts())
    True
    """
    sources = " ".join(one.source for one in allowed)
    own = f"; script-src {sources}" if sources else ""
    return f"default-src 'none'; img-src data:{own}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


@dataclass(frozen=True, slots=True)
class Live:
    """What makes a page interactive.

    Attributes
    ----------
    data : str
        JSON that can stand in a page.
    level : float or None
        Of intervals.
    is_of_classes : bool
        Of many.
    """

    data: str
    level: float | None
    is_of_classes: bool = False

    @classmethod
    def of(cls, data: dict[str, Any] | None) -> Live | None:
        """From what `deciban.report.live.live_data` or `deciban.report.live_classes.live_class_data` found."""
        return None if data is None else cls(as_script_data(data), data["level"], "classes" in data)

    @property
    def scripts(self) -> tuple[Script, ...]:
        """What runs, in order."""
        others = _OF_TWO if self.is_of_classes else _OF_MANY
        return tuple(one for one in scripts() if one.name not in others)

    @property
    def style(self) -> str:
        """Of the charts."""
        return chart_style()
