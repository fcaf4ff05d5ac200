"""Scripts of a page, the policy that blocks all others, and plots as small SVG images."""

from __future__ import annotations

import base64
import hashlib
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from deciban import plots
from deciban.types import Graphic

_CHARTS = ("vendor", "uplot")


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
        """Name of the script in a content security policy.

        Examples
        --------
        >>> Script("empty.js", "").source
        "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
        """
        digest = hashlib.sha256(self.text.encode()).digest()
        return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


@cache
def _pages_by_script() -> dict[str, str]:
    """Return every own script, in the order of execution, with the pages that need it.

    Scripts are for pages of two classes ("two"), of more ("many"), with charts (""), or of tables too ("all").
    """
    text = resources.files(__package__).joinpath("live_scripts", "order.txt").read_text("utf-8")
    result = (line.partition(" ") for line in text.splitlines())
    return {f"{name}.js": pages for name, _, pages in result}


@cache
def scripts() -> tuple[Script, ...]:
    """Return every script of a page, in the order of execution.

    Examples
    --------
    >>> [one.name for one in scripts()][0]
    'uPlot.iife.min.js'
    """
    folder = resources.files(__package__)
    files = {"uPlot.iife.min.js": folder.joinpath(*_CHARTS, "uPlot.iife.min.js")}
    files |= {name: folder.joinpath("live_scripts", name) for name in _pages_by_script()}
    return tuple(Script(name, _SPACE.sub("", one.read_text("utf-8")).strip()) for name, one in files.items())


_SPACE = re.compile(r"^[ \t]+|^[ \t]*//.*\n|/\*\*(?:[^*]|\*(?!/))*\*/\s*", re.MULTILINE)
"""Comments and indentation of our scripts, which readers of a page do not need."""


_AROUND = re.compile(r"\s*([{};])\s*|([:,])\s+")
"""Spaces in a style sheet that have no meaning."""


@cache
def style() -> str:
    """Return the style sheet of all pages, without needless spaces.

    Examples
    --------
    >>> "body{margin:" in style()
    True
    """
    folder = resources.files(__package__).joinpath("templates")
    texts = (folder.joinpath(name).read_text("utf-8") for name in ("page.css", "live.css"))
    return _AROUND.sub(r"\1\2", "".join(texts)).replace(";}", "}")


@cache
def chart_style() -> str:
    """Return the style sheet of the charts."""
    return resources.files(__package__).joinpath(*_CHARTS, "uPlot.min.css").read_text("utf-8").strip()


def scripts_for(data: dict[str, Any] | None) -> tuple[Script, ...]:
    """Return the scripts of a page with these data; without data, tables can be sorted and copied, but have no charts.

    Examples
    --------
    >>> [one.name for one in scripts_for(None)]
    ['tables.js', 'tools.js']
    """
    pages = _pages_by_script()
    if data is None:
        return tuple(one for one in scripts() if pages.get(one.name) == "all")
    other = "two" if "classes" in data else "many"
    return tuple(one for one in scripts() if pages.get(one.name) != other)


def policy(allowed: Sequence[Script]) -> str:
    """Return a content security policy: embedded images, inline styles, and only these scripts.

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


def picture(drawing: Graphic, texts: Sequence[str], side: str, about: str) -> dict[str, str]:
    """Return a plot as a data URL with title and caption; training plots have no caption, which would be repeated."""
    drawn = io.BytesIO()
    plots.save(drawing, drawn, "svg")
    source = "data:image/svg+xml;base64," + base64.b64encode(drawn.getvalue()).decode("ascii")
    title, caption = texts
    titled = f"{title}, {side}" if side else title
    words = "" if side == "training" else caption
    return {"title": titled, "caption": words, "alt": f"{titled} {about}", "source": source}
