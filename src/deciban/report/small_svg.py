"""SVG with no more digits and points than a page shows: pictures of ten systems must not make it slow to load."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence

_DATA = re.compile(r' d="([^"]*)"')
_POINT = re.compile(r"([ML]) (-?[\d.]+) (-?[\d.]+)\s*")
_STEP = re.compile(r"([MLQC])((?: -?[\d.]+)+)\s*|([zZ])\s*")
_WITHIN = 0.1
"""So far, in points of 1/72 inch, lines may lie from points that are left out."""


def smaller(svg: str) -> str:
    """Round the coordinates of lines and areas to a tenth of a point, and leave out points that no eye tells apart.

    What has curves in it, as letters have, is rounded to a hundredth; whatever else a path may hold stays as it is.

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
    """The corners of a line without those that are within a tenth of a point of what remains.

    From each corner that is kept, a cone holds the directions in which all points behind it are near enough; the last
    one before the cone is left is kept next.

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
    """How far a point is from a place, and in which direction."""
    return math.hypot(x - place[0], y - place[1]), math.atan2(y - place[1], x - place[0])


def _turn(angle: float) -> float:
    return math.remainder(angle, 2.0 * math.pi)


def _written(points: Sequence[tuple[float, float]]) -> str:
    """A line in tenths: where it begins, then steps, which are short to write and add up without rounding."""
    tenths = [(round(10.0 * x), round(10.0 * y)) for x, y in points]
    steps = [(x - left, y - top) for (left, top), (x, y) in itertools.pairwise(tenths)]
    text = " ".join(f"{_short(x)} {_short(y)}" for x, y in steps if (x, y) != (0, 0))
    return f"M{_short(tenths[0][0])} {_short(tenths[0][1])}" + (f"l{text}" if text else "")


def _written_curves(data: str) -> str:
    """Curves in hundredths, as steps from where the piece before ends.

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
    """A number of tenths or hundredths.

    >>> _short(120), _short(-5, 100)
    ('12', '-0.05')
    """
    return f"{parts / of:.{len(str(of)) - 1}f}".rstrip("0").rstrip(".")
