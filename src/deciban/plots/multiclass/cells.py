"""What pictures of many classes draw, evaluations of one system or of several, and the cells that they draw it in."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import Colormap, LinearSegmentedColormap, Normalize

from deciban.errors import InputError
from deciban.evaluation.multiclass.result import ClassEvaluation, ClassResults
from deciban.plots.axes import new_axes, systems_of
from deciban.plots.files import families_for
from deciban.plots.panels import NAME_WIDTH, PALETTE, readable
from deciban.plots.paper import LEAST, letters, paper, style_ticks, wrapped
from deciban.types import FloatArray

ClassDrawable: TypeAlias = ClassEvaluation | ClassResults | Sequence[ClassEvaluation]


def class_systems_of(result: ClassDrawable, argument: str = "result") -> tuple[ClassEvaluation, ...]:
    """Return what is to be drawn, one after the other.

    Raises
    ------
    InputError
        If there is nothing, or something else, or the classes are not the same.
    """
    systems = systems_of(result, ClassEvaluation, argument)
    for system in systems:
        if system.classes != systems[0].classes:
            raise InputError(
                f"{argument}: {system.name!r} has the classes {', '.join(system.classes)}, {systems[0].name!r} has "
                f"{', '.join(systems[0].classes)}. Draw systems on the same classes together."
            )
    return systems


def one_system(result: ClassDrawable, argument: str = "result") -> ClassEvaluation:
    """Return the only system.

    Raises
    ------
    InputError
        If there are several, or none.
    """
    systems = class_systems_of(result, argument)
    if len(systems) > 1:
        raise InputError(f"{argument}: {len(systems)} systems, but this plot shows one. Draw them one by one.")
    return systems[0]


def systems_before(before: ClassDrawable, after: Sequence[ClassEvaluation]) -> tuple[ClassEvaluation, ...]:
    """Return systems before calibration, one for each after it.

    Raises
    ------
    InputError
        If there are not as many, or on other classes.
    """
    systems = class_systems_of(before, "before")
    if len(systems) != len(after):
        raise InputError(f"before: {len(systems)} systems, but there are {len(after)} after calibration.")
    if systems[0].classes != after[0].classes:
        raise InputError(
            f"before: the classes are {', '.join(systems[0].classes)}, those after calibration are "
            f"{', '.join(after[0].classes)}."
        )
    return systems


_NAME_SIZE, _NUMBER_SIZE, _SMALLEST = 9.0, 9.0, 4.0
_LETTER = 0.6
"""Width of a digit, as a share of the font size."""
_WIDEST, _CELL = 6.0, (0.3, 1.6)
"""Inches: what all cells together like to take, and the limits of one."""
_SCALE = 0.55
"""Inches of a scale of colours in print."""


def shades(color: str) -> Colormap:
    """From white to a colour, the infinite in near black."""
    return LinearSegmentedColormap.from_list(color, ["white", color]).with_extremes(over="0.15", bad="none")


BLUES, ORANGES = shades(PALETTE[0]), shades(PALETTE[1])
"""Two scales that all kinds of colour vision tell apart."""


class Grid:
    """Cells on an Axes, the first row at the top.

    Parameters
    ----------
    rows, columns : sequences of str
        Their names.
    ax : Axes or None
        None makes a new figure as large as the cells need.
    n_scales : int
        How many scales of colours will stand beside the cells.
    """

    def __init__(self, rows: Sequence[str], columns: Sequence[str], ax: Axes | None, *, n_scales: int = 2) -> None:
        self.shape = (len(rows), len(columns))
        rows, columns = readable(rows, width=NAME_WIDTH), readable(columns, width=NAME_WIDTH)
        own = ax is None
        self.ax = _own_axes(rows, columns, n_scales) if ax is None else ax
        self.ax.set_xlim(-0.5, self.shape[1] - 0.5)
        self.ax.set_ylim(self.shape[0] - 0.5, -0.5)
        frame, dpi = self.ax.get_window_extent(), self.ax.figure.dpi  # before names and scales take their space
        self._cell = 72 * frame.width / dpi / self.shape[1], 72 * frame.height / dpi / self.shape[0]
        if own and paper() is not None:
            self._cell = 72 * _room(rows, n_scales) / self.shape[1], 0.9 * self._cell[1]
        every = self._every(1)
        self.ax.set_yticks(
            range(0, len(rows), every), rows[::every], fontproperties=families_for(rows, self._name_size(1))
        )
        slanted = max(map(len, columns)) * _LETTER * self._name_size(0) > 0.95 * self._cell[0]
        turned: dict[str, Any] = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if slanted else {}
        font, every = families_for(columns, self._name_size(0)), self._every(0)
        self.ax.set_xticks(range(0, len(columns), every), columns[::every], fontproperties=font, **turned)
        self.ax.tick_params(length=0)
        self.ax.spines[:].set_visible(False)

    def shade(self, values: np.ma.MaskedArray[Any, Any], cmap: Colormap, top: float, **mesh_kw: Any) -> QuadMesh:
        """Colour all cells that are not masked, from 0 to ``top``; what is infinite is nearly black."""
        # Meshes leave out what is not finite.
        drawn = np.ma.masked_array(
            np.where(np.isinf(values.data), 2.0 * top, np.minimum(values.data, top)), values.mask
        )
        edges = [np.arange(n + 1) - 0.5 for n in self.shape[::-1]]
        style = {"edgecolors": "white", "linewidth": 0.8, "cmap": cmap, **mesh_kw}
        return self.ax.pcolormesh(*edges, drawn, norm=Normalize(0.0, top), **style)

    def write(self, texts: Sequence[Sequence[str]], meshes: Iterable[QuadMesh]) -> None:
        """Write into all cells, if letters that fit can be read; white where cells are dark."""
        longest = max(2, *(len(text) for row in texts for text in row))
        size = min(0.8 * self._cell[0] / (_LETTER * longest), 0.6 * self._cell[1], letters(_NUMBER_SIZE))
        if size < _smallest():
            return
        font = families_for([text for row in texts for text in row], size)
        for mesh in meshes:
            values: np.ma.MaskedArray[Any, Any] = np.ma.asarray(mesh.get_array()).reshape(self.shape)
            colors = mesh.to_rgba(values)
            for row, column in zip(*np.nonzero(~np.ma.getmaskarray(values)), strict=True):
                text = texts[row][column]
                ink = "0.6" if text == "0" else ("white" if _luminance(colors[row, column]) < 0.5 else "black")
                self.ax.text(column, row, text, ha="center", va="center", fontproperties=font, color=ink)

    def explain(self, mesh: QuadMesh, label: str, **bar_kw: Any) -> Axes:
        """Draw a scale of colours beside the cells."""
        figure = self.ax.figure
        bar = figure.colorbar(mesh, ax=self.ax, fraction=0.05, aspect=28, **{"pad": 0.02, **bar_kw})
        bar.outline.set_visible(False)
        style_ticks(bar.ax)
        bar.set_label(wrapped(label, self._cell[1] * self.shape[0] / 72))
        return bar.ax

    def _name_size(self, axis: int) -> float:
        return float(np.clip(0.75 * self._cell[axis], _smallest(), letters(_NAME_SIZE)))

    def _every(self, axis: int) -> int:
        """Of how many names one is written: in print they are no smaller than can be read."""
        return 1 if paper() is None else math.ceil(1.1 * LEAST / self._cell[axis])


def _smallest() -> float:
    return _SMALLEST if paper() is None else LEAST


def _beside(names: Sequence[str]) -> float:
    """Inches that names take, slanted ones upwards."""
    return 0.75 * _LETTER * letters(_NAME_SIZE) / 72 * max(map(len, names))


def _room(rows: Sequence[str], n_scales: int) -> float:
    """Inches of width that are left for all cells in print."""
    asked = paper()
    return 0.0 if asked is None else max(asked.width - _beside(rows) - 0.3 - n_scales * _SCALE, 0.3 * asked.width)


def _own_axes(rows: Sequence[str], columns: Sequence[str], n_scales: int) -> Axes:
    """Axes of square cells; names, axis labels and two scales stand around them."""
    asked, cell = paper(), float(np.clip(_WIDEST / max(len(rows), len(columns)), *_CELL))
    if asked is None:
        size = (cell * len(columns) + _beside(rows) + 2.2, max(cell * len(rows) + _beside(columns) + 0.8, 2.8))
    else:
        cell = min(max(_room(rows, n_scales) / len(columns), 0.22), 0.7)
        size = (asked.width, max(cell * len(rows) + _beside(columns) + 0.45, 1.5))
    return new_axes(size)


def _luminance(color: Any) -> float:
    red, green, blue = color[:3]
    return float(0.299 * red + 0.587 * green + 0.114 * blue)


def brief(value: float) -> str:
    """Write a number that is not negative in at most five letters, rounded to three digits behind the point or fewer.

    >>> [brief(value) for value in (0.0, 0.0001, 0.0338, 0.999, 1.234, 56.78, 1234.5, float("inf"))]
    ['0', '0', '.034', '.999', '1.23', '56.8', '1234', '∞']
    """
    if math.isinf(value):
        return "∞"
    if value < 0.0005:
        return "0"
    if value >= 99_999.5:
        return f"{value:.0e}".replace("e+", "e")
    n_digits = 3 if value < 0.9995 else 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{n_digits}f}".removeprefix("0")


def largest(values: FloatArray, default: float) -> float:
    """Return the largest finite value, or ``default`` where there is none above 0."""
    return float(np.max(values, where=np.isfinite(values), initial=0.0)) or default


def numbered(classes: Sequence[str] | None, n_classes: int) -> tuple[str, ...]:
    """Return the names of the classes, or their numbers where they have no names."""
    return tuple(map(str, range(n_classes))) if classes is None else tuple(classes)
