"""Scripts of a page, the policy that blocks all others, and plots as small SVG images."""

from __future__ import annotations

import base64
import hashlib
import io
import itertools
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from deciban import plots

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
    found = (line.partition(" ") for line in text.splitlines())
    return {f"{name}.js": pages for name, _, pages in found}


@cache
def scripts() -> tuple[Script, ...]:
    """Return every script of a page, in the order of execution.

    Examples
    --------
    >>> [one.name for one in scripts()][0]
    'uPlot.iife.min.js'
    """
    folder = resources.files(__package__)
    charts = folder.joinpath(*_CHARTS, "uPlot.iife.min.js")
    files = [
        ("uPlot.iife.min.js", charts),
        *((name, folder.joinpath("live_scripts", name)) for name in _pages_by_script()),
    ]
    return tuple(Script(name, _SPACE.sub("", one.read_text("utf-8")).strip()) for name, one in files)


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


_TAG = re.compile(r"<[A-Za-z][^<>]*>")


_GROUP = re.compile(r"<g>|<g [^<>]*>|</g>")


_NAME = re.compile(r' id="([^"]*)"')


_REFERENCE = re.compile(r'(xlink:href="#|url\(#)([^")]+)')


_LOOK = re.compile(r' (style|clip-path)="([^"]*)"')


_SHIFT = re.compile(r' transform="translate\((-?[\d.]+)[ ,]+(-?[\d.]+)\)"')


_DECIMALS = re.compile(r"-?\d*\.\d{3,}(?!\d)")


_NUMBERS = re.compile(r' (?:x|y|transform)="[^"]*"')


_PATH_END = "</style>"


def packed(svg: str) -> str:
    """Share repeated styles, shorten names, and remove useless groups in an SVG.

    Parameters
    ----------
    svg : str
        As written by matplotlib: ``<``, ``>`` and quotes are in no attribute value and in no text.

    Returns
    -------
    str
        SVG that looks the same, to a hundredth of a point. Text and comments are unchanged.

    Examples
    --------
    >>> look = 'style="fill: #ff0000; stroke: #ffffff"'
    >>> print(packed(f'<svg><style></style><g id="a"><path d="M0 0" {look}/><path d="M1 0" {look}/></g></svg>'))
    <svg><style>.a{fill:#ff0000;stroke:#ffffff}</style><path d="M0 0" class="a"/><path d="M1 0" class="a"/></svg>
    """
    tags = _TAG.findall(svg)
    used = Counter(name for tag in tags for _, name in _REFERENCE.findall(tag)).most_common()
    names = {name: _letters(k) for k, (name, _) in enumerate(used)}  # the most frequent names become shortest
    shared = Counter(filter(None, map(_look, tags))).most_common() if _PATH_END in svg else []
    looks = {look: _letters(k) for k, (look, n) in enumerate(shared) if n > 1}
    found = _TAG.sub(lambda tag: _packed_tag(tag[0], names, looks), svg)
    rules = "".join(f".{name}{{{_rule(look, names)}}}" for look, name in looks.items())
    found = found.replace(_PATH_END, rules + _PATH_END, 1)
    return _without_bare_groups(re.sub(r">\s*\n\s*<", "><", found))


def _letters(k: int) -> str:
    """Return the k-th short name: a to z, then ba, bb and so on.

    >>> [_letters(k) for k in (0, 25, 26, 27)]
    ['a', 'z', 'ba', 'bb']
    """
    more, last = divmod(k, 26)
    return (_letters(more) if more else "") + chr(ord("a") + last)


def _look(tag: str) -> tuple[tuple[str, str], ...]:
    return tuple(_LOOK.findall(tag))


def _rule(look: tuple[tuple[str, str], ...], names: Mapping[str, str]) -> str:
    parts = [value if name == "style" else f"{name}:{value}" for name, value in look]
    tight = re.sub(r"\s*([:;])\s*", r"\1", ";".join(parts)).strip(";")
    return _renamed(tight, names)


def _renamed(text: str, names: Mapping[str, str]) -> str:
    return _REFERENCE.sub(lambda found: found[1] + names[found[2]], text)


def _packed_tag(tag: str, names: Mapping[str, str], looks: Mapping[tuple[tuple[str, str], ...], str]) -> str:
    look = _look(tag)
    if look in looks:
        end = "/>" if tag.endswith("/>") else ">"
        tag = f'{_LOOK.sub("", tag).removesuffix(end)} class="{looks[look]}"{end}'
    tag = _NAME.sub(lambda found: f' id="{names[found[1]]}"' if found[1] in names else "", tag)
    if tag.startswith("<use") and ' x="' not in tag:
        tag = _SHIFT.sub(_as_place, tag)
    if not tag.startswith("<image"):
        tag = _NUMBERS.sub(lambda found: _rounded(found[0]), tag)
    return _renamed(tag, names)


def _as_place(shift: re.Match[str]) -> str:
    """Return the position of an element, instead of its translation."""
    return "".join(f' {axis}="{at}"' for axis, at in zip("xy", shift.groups(), strict=True) if float(at))


def _rounded(attribute: str) -> str:
    """Round to hundredths, but not scale factors, which multiply numbers of any size.

    >>> _rounded(' transform="translate(1.23456 2) scale(0.015625)"')
    ' transform="translate(1.23 2) scale(0.015625)"'
    """
    before, scale, factor = attribute.partition("scale")
    return _DECIMALS.sub(lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."), before) + scale + factor


def _without_bare_groups(svg: str) -> str:
    """Remove groups without attributes."""
    is_bare = list[bool]()

    def kept(found: re.Match[str]) -> str:
        tag = found[0]
        if tag.endswith("/>"):
            return ""
        if tag == "</g>":
            return "" if is_bare.pop() else tag
        is_bare.append(tag == "<g>")
        return "" if is_bare[-1] else tag

    return _GROUP.sub(kept, svg.replace("<g/>", ""))


_DATA = re.compile(r' d="([^"]*)"')


_POINT = re.compile(r"([ML]) (-?[\d.]+) (-?[\d.]+)\s*")


_STEP = re.compile(r"([MLQC])((?: -?[\d.]+)+)\s*|([zZ])\s*")


_WITHIN = 0.1


"""Distance in points of 1/72 inch up to which points of lines are removed."""


def smaller(svg: str) -> str:
    """Round the coordinates of lines and areas to a tenth of a point, and remove points without visible effect.

    Paths with curves, such as glyphs, are rounded to a hundredth; other paths are unchanged.

    Examples
    --------
    >>> smaller('<path d="M 1.234567 2 L 1.26 2.01 L 5.5 2.5 L 9.76 3 z"/>')
    '<path d="M1.2 2l8.6 1z"/>'
    """
    return _DATA.sub(_smaller_path, svg)


def _smaller_path(found: re.Match[str]) -> str:
    data = found[1].strip()
    rest = _POINT.sub("", data).strip()
    if rest not in ("", "z", "Z"):
        return found[0] if _STEP.sub("", data).strip() else f' d="{_written_curves(data)}"'
    lines: list[list[tuple[float, float]]] = []
    for command, x, y in _POINT.findall(data):
        if command == "M":
            lines.append([])
        lines[-1].append((float(x), float(y)))
    return f' d="{"".join(_written(thinned(line)) for line in lines)}{rest.lower()}"'


def thinned(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Remove corners of a line that are within a tenth of a point of the rest.

    From each kept corner, a cone contains the directions in which all following points are close enough; the last point
    inside the cone is kept next.

    Examples
    --------
    >>> thinned([(0.0, 0.0), (1.0, 0.01), (2.0, 0.0), (2.0, 3.0), (1.0, 3.0)])
    [(0.0, 0.0), (2.0, 0.0), (2.0, 3.0), (1.0, 3.0)]
    """
    kept, before = [points[0]], points[0]
    low, high, middle, farthest = -math.pi, math.pi, None, 0.0
    for x, y in points[1:]:
        away, angle = _seen(kept[-1], x, y)
        is_off = middle is not None and not (low <= _turn(angle - middle) <= high and away >= farthest - _WITHIN)
        if is_off:
            kept.append(before)
            low, high, middle, farthest = -math.pi, math.pi, None, 0.0
            away, angle = _seen(before, x, y)
        before = (x, y)
        if away > _WITHIN:
            middle = angle if middle is None else middle
            width, turn = math.asin(_WITHIN / away), _turn(angle - middle)
            low, high, farthest = max(low, turn - width), min(high, turn + width), max(farthest, away)
    return [*kept, points[-1]] if points[-1] != kept[-1] else kept


def _seen(place: tuple[float, float], x: float, y: float) -> tuple[float, float]:
    """Return the distance and direction of a point from a place."""
    return math.hypot(x - place[0], y - place[1]), math.atan2(y - place[1], x - place[0])


def _turn(angle: float) -> float:
    return math.remainder(angle, 2.0 * math.pi)


def _written(points: Sequence[tuple[float, float]]) -> str:
    """Write a line in tenths: its start, then steps, which are short and add up without rounding errors."""
    tenths = [(round(10.0 * x), round(10.0 * y)) for x, y in points]
    steps = [(x - left, y - top) for (left, top), (x, y) in itertools.pairwise(tenths)]
    text = " ".join(f"{_short(x)} {_short(y)}" for x, y in steps if (x, y) != (0, 0))
    return f"M{_short(tenths[0][0])} {_short(tenths[0][1])}" + (f"l{text}" if text else "")


def _written_curves(data: str) -> str:
    """Write curves in hundredths, as steps from the end of the previous part.

    >>> _written_curves("M 1 2 Q 3.333333 4 5.25 6 L 5.25 7 z")
    'M1 2q2.33 2 4.25 4l0 1z'
    """
    words, here, start = list[str](), (0, 0), (0, 0)
    for command, numbers, end in _STEP.findall(data):
        if end:
            words.append("z")
            here = start
            continue
        hundredths = [round(100.0 * float(x)) for x in numbers.split()]
        points = list(zip(hundredths[::2], hundredths[1::2], strict=True))
        if command == "M":
            steps, start = points, points[-1]
        else:
            steps = [(x - here[0], y - here[1]) for x, y in points]
        here = points[-1]
        written = " ".join(_short(x, 100) for step in steps for x in step)
        words.append((command if command == "M" else command.lower()) + written)
    return "".join(words).replace(" -", "-")


def _short(parts: int, of: int = 10) -> str:
    """Write a number of tenths or hundredths.

    >>> _short(120), _short(-5, 100)
    ('12', '-0.05')
    """
    return f"{parts / of:.{len(str(of)) - 1}f}".rstrip("0").rstrip(".")


def picture(drawing: Any, texts: Sequence[str], side: str, about: str) -> dict[str, str]:
    """Return a plot as a data URL with title and caption; training plots have no caption, which would be repeated."""
    drawn = io.BytesIO()
    plots.save(drawing, drawn, "svg")
    small = packed(smaller(drawn.getvalue().decode("utf-8"))).encode()
    source = "data:image/svg+xml;base64," + base64.b64encode(small).decode("ascii")
    title, caption = texts
    titled = f"{title}, {side}" if side else title
    return {
        "title": titled,
        "caption": "" if side == "training" else caption,
        "alt": f"{titled} {about}",
        "source": source,
    }
