"""Markers along curves, which tell systems apart where print has no colours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cbook import STEP_LOOKUP_MAP
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D
from matplotlib.path import Path

from deciban.types import FloatArray

SHAPES = ("o", "s", "^", "D", "v", "X", "<", "P", ">", "*")
"""Of the first ten systems: hollow, so that no operating point looks like them; of the next ten the same, filled."""

MARKED = "system"
"""Group of the markers along a curve."""

_SIZE, _EDGE = 4.2, 0.8
_FEW, _APART = 4, (0.42, 0.62)
"""Distance of markers on a curve, as a share of the sides of the Axes: of so many systems, and of more."""
_GRAIN = 1000.0
"""Axes are as wide and high while paths are cut, which leaves a margin of 1."""


def look_of(number: int, color: Any) -> dict[str, Any]:
    """Return the marker of a system, from 0."""
    is_hollow = (number // len(SHAPES)) % 2 == 0
    face = "white" if is_hollow else color
    shape: dict[str, Any] = {"marker": SHAPES[number % len(SHAPES)], "markersize": _SIZE, "markeredgewidth": _EDGE}
    return shape | {"markerfacecolor": face, "markeredgecolor": color}


def mark_lines(ax: Axes, lines: Iterable[Line2D], numbers: Mapping[str, int]) -> None:
    """Put markers on what is seen of each line without some, those of its colour; legends show them as well.

    Parameters
    ----------
    ax : Axes
        Its limits are those that the picture will have.
    lines : iterable of Line2D
    numbers : mapping of str to int
        Of systems, by their colours, as hexadecimal codes.
    """
    apart = _APART[len(numbers) > _FEW]
    for line in list(lines):
        number = numbers.get(to_hex(line.get_color()).upper())
        if number is None or line.get_linestyle() == "None" or line.get_marker() != "None":
            continue
        look = look_of(number, line.get_color())
        line.set(markevery=[], **look)
        places = _places(ax, line, apart, (number % len(SHAPES) + 0.5) / len(SHAPES))
        if len(places):
            dots = look | {"linestyle": "none", "gid": MARKED, "zorder": line.get_zorder() + 0.2, "label": "_nolegend_"}
            dots["color"] = line.get_color()
            ax.add_line(Line2D(places[:, 0], places[:, 1], transform=line.get_transform(), **dots))


def _places(ax: Axes, line: Line2D, apart: float, first: float) -> FloatArray:
    """Points on the part of a line that is seen, ``(n, 2)`` in its data; ``first`` is the share of a distance.

    A straight line has one, near its beginning.
    """
    x, y = STEP_LOOKUP_MAP[line.get_drawstyle()](*np.asarray(line.get_xydata()).T)
    to_frame = line.get_transform() - ax.transAxes
    seen = _seen(Path(_GRAIN * to_frame.transform(np.column_stack((x, y))))) / _GRAIN
    steps = np.hypot(*np.diff(seen, axis=0).T)
    steps[np.isnan(steps)] = 0.0
    far = np.concatenate(([0.0], np.cumsum(steps)))
    if not far[-1]:
        return np.empty((0, 2))
    wanted = np.arange(first * min(apart, far[-1]), far[-1], apart)[: 1 if len(x) == 2 else None]
    rows = np.searchsorted(far, wanted, side="right") - 1
    rows = np.minimum(rows, len(steps) - 1)
    share = (wanted - far[rows]) / np.where(steps[rows], steps[rows], 1.0)
    found = seen[rows] + share[:, None] * (seen[rows + 1] - seen[rows])
    inside = np.all((found >= 0.0) & (found <= 1.0), axis=1)
    places: FloatArray = to_frame.inverted().transform(found[inside])
    return places


def _seen(path: Path) -> FloatArray:
    """The corners of what is left of a path inside the frame, with NaN where it begins anew."""
    cut = path.cleaned(remove_nans=True, clip=(0.0, 0.0, _GRAIN, _GRAIN), simplify=False)
    corners: list[FloatArray] = []
    for corner, code in zip(np.asarray(cut.vertices), np.asarray(cut.codes), strict=True):
        if code == Path.STOP:
            break
        if code == Path.MOVETO and corners:
            corners.append(np.full(2, np.nan))
        corners.append(corner)
    return np.array(corners).reshape(-1, 2)
