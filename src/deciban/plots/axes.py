"""Common parts of all plots: the Axes, the systems with their colours and labels, and the legend."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.cbook import STEP_LOOKUP_MAP, normalize_kwargs
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.path import Path
from matplotlib.patheffects import withStroke
from matplotlib.ticker import AutoLocator, FuncFormatter
from matplotlib.transforms import ScaledTranslation

from deciban.errors import InputError
from deciban.evaluation import Curves, Evaluation, Results
from deciban.evaluation.bands import Band
from deciban.evaluation.uncertainty import Uncertainty
from deciban.plots import files
from deciban.plots.colors import system_colors
from deciban.types import FloatArray, Graphic

# Okabe and Ito's colours for all kinds of colour vision, without their black (reference lines) and their yellow
# (too light for lines on white), then three of Paul Tol's.
LABELS = {
    "Score": ("Score (log10 likelihood ratio)", 1 / math.log(10)),
    "Score (log-likelihood ratio in nats)": ("Score (log10 likelihood ratio)", 1 / math.log(10)),
    "Log-likelihood ratio after PAV (nats)": ("log10 likelihood ratio after PAV", 1 / math.log(10)),
    "Log-likelihood ratio (nats)": ("log10 likelihood ratio", 1 / math.log(10)),
    "Prior log odds (nats)": ("Prior log10 odds", 1 / math.log(10)),
    "Density (per unit of score)": ("Density (per unit of log10 likelihood ratio)", math.log(10)),
}
"""New labels of axes in log10, and the number of new units in an old one."""


class _ScaledLocator(AutoLocator):
    """Ticks at round numbers of another unit."""

    def __init__(self, scale: float) -> None:
        super().__init__()
        self._scale = scale

    def tick_values(self, vmin: float, vmax: float) -> Any:
        return np.asarray(super().tick_values(vmin * self._scale, vmax * self._scale)) / self._scale


def write_in_log10(axis: Axis, label: str) -> None:
    """Write an axis in common logarithms, if its label is about likelihood ratios or log odds."""
    if label not in LABELS:
        return
    words, scale = LABELS[label]
    axis.set_label_text(words)
    axis.set_major_locator(_ScaledLocator(scale))
    axis.set_major_formatter(FuncFormatter(lambda value, _: _written(value * scale)))


def _written(value: float) -> str:
    """Return a tick label without rounding errors of scaling.

    >>> _written(-0.30000000000000004), _written(-1e-17)
    ('−0.3', '0')
    """
    text = f"{round(value, 9):.6g}"
    return "0" if float(text) == 0.0 else text.replace("-", "\N{MINUS SIGN}")


SHAPES = ("o", "s", "^", "D", "v", "X", "<", "P", ">", "*")
"""Markers of the first ten systems, hollow to distinguish them from operating points; filled for the next ten."""


MARKED = "system"
"""Group of the markers along a curve."""


_SIZE, _EDGE = 4.2, 0.8

_FEW, _APART = 4, (0.42, 0.62)
"""Distance of markers on a curve, as a share of the sides of the Axes: for up to ``_FEW`` systems, and for more."""

_GRAIN = 1000.0
"""Width and height of Axes while paths are clipped, which leaves a margin of 1."""


def look_of(number: int, color: object) -> dict[str, Any]:
    """Return the marker of a system by its number, from 0."""
    is_hollow = (number // len(SHAPES)) % 2 == 0
    face = "white" if is_hollow else color
    shape: dict[str, Any] = {"marker": SHAPES[number % len(SHAPES)], "markersize": _SIZE, "markeredgewidth": _EDGE}
    return shape | {"markerfacecolor": face, "markeredgecolor": color}


def mark_lines(ax: Axes, lines: Iterable[Line2D], numbers: Mapping[str, int]) -> None:
    """Add markers to the visible part of each line without markers, by the system of its colour, also in the legend.

    Parameters
    ----------
    ax : Axes
        Axes with final limits.
    lines : iterable of Line2D
    numbers : mapping of str to int
        Numbers of systems, by colours as hexadecimal codes.
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
    """Return points on the visible part of a line, ``(n, 2)`` in data coordinates.

    The first point is at ``first`` times the distance. A straight line gets one point, near its beginning.
    """
    x, y = STEP_LOOKUP_MAP[line.get_drawstyle()](*np.asarray(line.get_xydata()).T)
    to_frame = line.get_transform() - ax.transAxes
    seen = _seen(Path(_GRAIN * to_frame.transform(np.column_stack((x, y))))) / _GRAIN
    steps = np.hypot(*np.diff(seen, axis=0).T)
    steps[np.isnan(steps)] = 0.0
    far = np.concatenate(([0.0], np.cumsum(steps)))
    if not far[-1]:
        return np.empty((0, 2))
    distances = np.arange(first * min(apart, far[-1]), far[-1], apart)[: 1 if len(x) == 2 else None]
    rows = np.searchsorted(far, distances, side="right") - 1
    rows = np.minimum(rows, len(steps) - 1)
    share = (distances - far[rows]) / np.where(steps[rows], steps[rows], 1.0)
    result = seen[rows] + share[:, None] * (seen[rows + 1] - seen[rows])
    return to_frame.inverted().transform(result[np.all((result >= 0.0) & (result <= 1.0), axis=1)])


def _seen(path: Path) -> FloatArray:
    """Return the corners of the path inside the frame, with NaN between separate parts."""
    cut = path.cleaned(remove_nans=True, clip=(0.0, 0.0, _GRAIN, _GRAIN), simplify=False)
    corners: list[FloatArray] = []
    for corner, code in zip(np.asarray(cut.vertices), np.asarray(cut.codes), strict=True):
        if code == Path.STOP:
            break
        if code == Path.MOVETO and corners:
            corners.append(np.full(2, np.nan))
        corners.append(corner)
    return np.array(corners).reshape(-1, 2)


Drawable: TypeAlias = Evaluation | Results | Sequence[Evaluation]

Style: TypeAlias = dict[str, Any]

Ends: TypeAlias = tuple[float, float]
"""Lower and upper end of an axis; width and height of a figure in inches."""

Outline: TypeAlias = tuple[FloatArray, FloatArray]
"""Horizontal and vertical coordinates of a line."""

Interval: TypeAlias = tuple[float, float | None, float | None]
"""A number, and the ends of its interval."""

Kind = TypeVar("Kind")
"""Properties of a line or a marker, with matplotlib's names."""


GREY = "0.35"
"""Colour of legend entries that explain styles."""

MAIN_WIDTH, THIN_WIDTH = 1.7, 1.2

BAND: Style = {"alpha": 0.22, "linewidth": 0, "zorder": 1.4}

BAND_LINE: Style = {"linewidth": 7.0, "alpha": 0.25, "solid_capstyle": "butt"}
"""Style of a band in the legend."""

POINT_MARKERS = "osD^vPX"

POINT: Style = {"color": "0.6", "linestyle": "-.", "linewidth": 0.9, "zorder": 1.5}

HALO = withStroke(linewidth=2.5, foreground="white")
"""White outline of text on dots or lines."""

_LEGEND_SIZE, _TIP = 9.0, 7.0
"""Points of text, and of the marks at the ends of intervals."""


@dataclass(frozen=True)
class Mark:
    """The style of the main line of something with a name."""

    main: Style

    @property
    def color(self) -> Graphic:
        """Colour of the main line and everything that belongs to it."""
        return self.main["color"]

    def noted(self, note: str) -> Style:
        """Return the style of the main line, with a note after the name if there is one."""
        return {**self.main, "label": f"{self.main['label']} ({note})"} if note else self.main

    def thin(self, **style: object) -> Style:
        """Return the style of a secondary line in the same colour, no thicker than the main one."""
        width = min(THIN_WIDTH, self.main.get("linewidth", THIN_WIDTH))
        return {"color": self.color, "linewidth": width, "linestyle": "--", **style}


@dataclass(frozen=True)
class System(Mark):
    """One evaluation with the style of its main line."""

    evaluation: Evaluation

    @property
    def curves(self) -> Curves:
        """Curves of the evaluation."""
        return self.evaluation.curves

    @property
    def known(self) -> Uncertainty | None:
        """Uncertainty of the evaluation."""
        return self.evaluation.uncertainty


class Explanation(Line2D):
    """A legend entry without data, which explains a style instead of naming a system."""


class Canvas:
    """An Axes with the names to be drawn on it.

    Parameters
    ----------
    names : sequence of str
        Names for the legend.
    ax : Axes or None
        None makes a new figure of ``size`` inches.
    line_kw : dict
        Properties of the main line of each name; matplotlib's short names are allowed.
    width_of_many : float
        Width of main lines if there are several names.
    by_rows : bool
        True if the height depends on rows of text, not on the width.
    dots : dict, optional
        Properties of dots, for names drawn as dots or bars with a dot; in print, each gets a separate marker.
    """

    def __init__(
        self,
        names: Sequence[str],
        ax: Axes | None,
        line_kw: Style,
        *,
        size: Ends = (6.0, 4.0),
        width_of_many: float = MAIN_WIDTH,
        by_rows: bool = False,
        dots: Style | None = None,
    ) -> None:
        self._owns_figure, self._by_rows = ax is None, by_rows
        self.ax = new_axes(size, by_rows=by_rows) if ax is None else ax
        self.is_fresh = not self.ax.has_data()
        self._earlier = set(self.ax.lines)
        width = MAIN_WIDTH if len(names) == 1 else width_of_many
        style = {"linewidth": width, **(dots or {}), **normalize_kwargs(line_kw, Line2D)}
        self.marks = self._styled(names, style, has_own_marker=dots is None or "marker" in line_kw)
        if self.is_fresh:
            self.ax.grid(visible=True, color="0.9", linewidth=0.6)
            self.ax.set_axisbelow(True)

    def explain(self, label: str, **style: Graphic) -> bool:
        """Add a legend entry for a style; return whether it is new on this Axes."""
        if any(line.get_label() == label for line in self.ax.lines if isinstance(line, Explanation)):
            return False
        self.ax.add_line(Explanation([], [], label=label, **{"color": GREY, "linewidth": THIN_WIDTH, **style}))
        return True

    def shade(
        self, mark: Mark, x: FloatArray, band: Band | None, uncertainty: Uncertainty | None, **how: object
    ) -> None:
        """Shade the band around a curve of a system, and explain it once in the legend."""
        if band is None or uncertainty is None:
            return
        low, high = band
        style = {**BAND, "color": mark.color, "alpha": self._opacity}
        self.ax.fill_between(x, low, high, **{**style, **how})
        self.explain(band_label(uncertainty), **BAND_LINE)

    def shade_between(self, mark: Mark, low: Outline, high: Outline, uncertainty: Uncertainty) -> None:
        """Shade the area between two lines that have different coordinates."""
        x, y = (np.concatenate((one, other[::-1])) for one, other in zip(low, high, strict=True))
        style = {**BAND, "color": mark.color, "alpha": self._opacity}
        # A collection is excluded from the slow search for limits; callers set limits.
        self.ax.add_collection(PolyCollection([np.column_stack((x, y))], **style), autolim=False)
        self.explain(band_label(uncertainty), **BAND_LINE)

    @property
    def _opacity(self) -> float:
        """Opacity of bands, which decreases with their number."""
        return max(float(BAND["alpha"]) / math.sqrt(len(self.marks)), 0.08)

    def equalize(self, height_over_width: float) -> None:
        """Use equal units on both axes, and adjust the height of a new figure."""
        # In a corner, the layout does not reserve the free space of such axes twice.
        self.ax.set_aspect("equal", anchor="SW" if self._owns_figure else None)
        figure = self.ax.figure
        if self._owns_figure and files.has_own_height() and isinstance(figure, Figure):
            width = figure.get_figwidth()
            most = 1.3 * width if files.paper() is None else min(1.3 * width, files.HIGHEST)
            figure.set_figheight(min(max((width - 0.75) * height_over_width + 0.65, 3.0), most))

    def mark_points(self, places: Collection[float], label: str, *, across: bool = False) -> None:
        """Draw a line at each operating point, upwards or across the Axes."""
        for place in sorted(places):
            (self.ax.axhline if across else self.ax.axvline)(place, **POINT)
        if places:
            self.explain(label, **POINT)

    def keep_limits(self, x: Ends | None = None, y: Ends | None = None) -> None:
        """Set limits without cutting off systems that were drawn before."""
        for limits, get, put in ((x, self.ax.get_xlim, self.ax.set_xlim), (y, self.ax.get_ylim, self.ax.set_ylim)):
            if limits is not None:
                put(*self.wider(limits, get()))

    def wider(self, limits: Ends, drawn: Ends) -> Ends:
        """Return limits that include the old limits if the Axes was used before."""
        return limits if self.is_fresh else (min(limits[0], drawn[0]), max(limits[1], drawn[1]))

    def name_rows(self, names: Sequence[str], *, width: int = 40) -> None:
        """Write shortened names at the left of rows, starting at the top."""
        names = files.readable(names, width=width)
        font = files.families_for(names, files.letters(_LEGEND_SIZE))
        self.ax.set_yticks(range(len(names)), names, fontproperties=font)
        self.ax.set_ylim(len(names) - 0.5, -0.5)
        self.ax.grid(visible=False, axis="y")

    def draw_rows(self, marked: Sequence[Sequence[Interval | None]], spread: float) -> None:
        """Draw numbers in rows, each with its interval.

        Parameters
        ----------
        marked : sequence of sequences
            For each mark, a number for each row, with both ends of its interval if known.
        spread : float
            Share of the height of a row over which several marks are spread.
        """
        for k, (mark, rows) in enumerate(zip(self.marks, marked, strict=True)):
            shift = 0.0 if len(marked) == 1 else spread * (k / (len(marked) - 1) - 0.5)
            for row, one in enumerate(rows):
                if one is None:
                    continue
                value, ends = one[0], list[Any](one[1:])
                if None not in ends:
                    line = {**mark.main, "marker": "|", "markersize": _TIP, "label": "_nolegend_"}
                    self.ax.plot(ends, [row + shift] * 2, **line)
                self.ax.plot([value], [row + shift], **mark.main)

    def finish(self, x: str, y: str, *, has_legend: bool = True) -> Axes:
        """Label both axes, draw the legend with systems first, and return the Axes.

        Fractions on an axis whose label ends with ``(%)`` are written in percent.

        The legend is below the Axes if these are alone in a figure with constrained layout, otherwise at the best
        position inside. Lines with the same label share an entry.
        """
        for axis, label in ((self.ax.xaxis, x), (self.ax.yaxis, y)):
            if label.endswith("(%)"):
                axis.set_major_formatter(in_percent)
        width, height = (float(side) / self.ax.figure.dpi for side in self.ax.bbox.size)
        self.ax.set_xlabel(files.wrapped(x, width - self._letters_beside * files.letters(_LEGEND_SIZE) / 144))
        self.ax.set_ylabel(files.wrapped(y, height))
        self._ready_for_print()
        entries: dict[str, Any] = {}
        for handle, label in zip(*self.ax.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
        labels = sorted(entries, key=lambda label: isinstance(entries[label], Explanation))
        style: Style = {"prop": files.families_for(labels, files.letters(_LEGEND_SIZE)), "frameon": False}
        figure = self.ax.figure
        n_columns = 1
        if isinstance(figure.get_layout_engine(), ConstrainedLayoutEngine) and figure.axes == [self.ax]:
            n_columns = self._columns(labels)
            style |= {"ncols": n_columns, **self._below()}
        else:
            style |= {"loc": "best", "frameon": True}
        legend = self.ax.legend([entries[label] for label in labels], labels, **style)
        if self._owns_figure and files.has_own_height() and isinstance(figure, Figure):
            n_rows = -(-len(entries) // n_columns)
            figure.set_figheight(figure.get_figheight() + n_rows * 1.7 * files.letters(_LEGEND_SIZE) / 72)
        if not has_legend:
            legend.remove()
        return self.ax

    def _ready_for_print(self) -> None:
        """For print, make lines thinner, and add markers along curves if there are several systems."""
        if files.paper() is None:
            return
        new = [line for line in self.ax.lines if line not in self._earlier]
        for line in new:
            if line.get_gid() != MARKED:
                line.set_linewidth(files.line_width(line.get_linewidth()))
                line.set_markersize(files.line_width(line.get_markersize()))
        if max(self.numbers.values()) > 0:
            mark_lines(self.ax, new, self.numbers)

    def _columns(self, labels: list[str]) -> int:
        """Return the number of legend columns that fit; a handle takes the space of seven characters."""
        room = self.ax.figure.bbox.width / self.ax.figure.dpi * 72 / (0.56 * files.letters(_LEGEND_SIZE))
        room *= self.ax.get_position().width / 0.775
        room -= self._letters_beside
        for n_columns in (3, 2):
            columns = np.array_split(np.array([len(label) + 7 for label in labels]), n_columns)
            if sum(column.max(initial=0) for column in columns) <= room:
                return n_columns
        return 1

    @property
    def _letters_beside(self) -> int:
        """Number of characters of the longest row name, in print."""
        if files.paper() is None or not self._by_rows:
            return 0
        return max((len(text.get_text()) for text in self.ax.get_yticklabels()), default=0)

    def mark_bars(self, mark: Mark, x: FloatArray, y: FloatArray) -> None:
        """Add the bars of a system to the legend; for print, mark them if there are several systems."""
        look: Style = {"color": mark.color, "gid": MARKED, "label": "_nolegend_"}
        number = self.numbers.get(to_hex(mark.color).upper(), 0)
        if files.paper() is not None and max(self.numbers.values()) > 0:
            look |= {**look_of(number, mark.color), "markeredgecolor": "white"}
            self.ax.plot(x, y, linestyle="none", zorder=4, **look)
        self.ax.plot([], [], linewidth=files.line_width(7), **{**look, "label": mark.main["label"]})

    def _below(self) -> Style:
        """Place a legend under the tick labels and the axis label, whose heights follow the font size."""
        n_ems = 3.6 + 1.2 * self.ax.get_xlabel().count("\n")
        drop = ScaledTranslation(0.0, -n_ems * float(rcParams["font.size"]) / 72, self.ax.figure.dpi_scale_trans)
        anchor = {"bbox_to_anchor": (0.5, 0.0), "bbox_transform": self.ax.transAxes + drop}
        return {"loc": "upper center", "borderaxespad": 0.0, **anchor}

    def _styled(self, names: Sequence[str], line_kw: Style, *, has_own_marker: bool) -> list[Mark]:
        """Give every name a label and a colour that are new on the Axes."""
        drawn = [line for line in self.ax.lines if not isinstance(line, Explanation)]
        used = {to_hex(line.get_color()).upper() for line in drawn}
        known = system_colors(len(names) + len(used))
        free = [color for color in known if color not in used][: len(names)]
        labels = files.readable(names, {str(line.get_label()) for line in drawn})
        self.numbers = {color: known.index(color) for color in free}
        looks: list[Style] = [{} for _ in free]
        if not has_own_marker and files.paper() is not None and len(known) > 1:
            looks = [look_of(self.numbers[color], color) for color in free]
        return [
            Mark({"label": label, "color": color, "zorder": 2.5, **line_kw, **look})
            for label, color, look in zip(labels, free, looks, strict=True)
        ]


class Drawing(Canvas):
    """An Axes with the systems to be drawn on it.

    Parameters
    ----------
    result : Evaluation, Results or sequence of Evaluation
    ax, line_kw, how
        As in `Canvas`.
    """

    def __init__(self, result: Drawable, ax: Axes | None, line_kw: Style, **how: Graphic) -> None:
        evaluations = systems_of(result, Evaluation)
        super().__init__([one.name for one in evaluations], ax, line_kw, **how)
        self.systems = [System(mark.main, one) for mark, one in zip(self.marks, evaluations, strict=True)]
        self.curves = [one.curves for one in evaluations]
        self.thresholds = {point.threshold for one in evaluations for point in one.operating_points}
        self.in_log10 = all(one.axis == "log10" for one in evaluations)
        self.reach = max(float(curves.prior_log_odds[-1]) for curves in self.curves)

    def finish(self, x: str, y: str, *, has_legend: bool = True) -> Axes:
        """Label both axes, in log10 if the systems use it, and draw the legend; see `Canvas.finish`."""
        super().finish(x, y, has_legend=has_legend)
        for axis, label in ((self.ax.xaxis, x), (self.ax.yaxis, y)) if self.in_log10 else ():
            write_in_log10(axis, label)
        self.ax.set_ylabel(files.wrapped(self.ax.get_ylabel(), float(self.ax.bbox.height) / self.ax.figure.dpi))
        return self.ax


def new_axes(size: Ends, *, by_rows: bool = False) -> Axes:
    """Create the only Axes of a new figure, of ``size`` inches or of the print size; see `size_for`."""
    ax = Figure(figsize=files.size_for(size, by_rows=by_rows), layout="constrained").add_subplot()
    files.style_ticks(ax)
    return ax


def band_label(uncertainty: Uncertainty) -> str:
    """Return the legend label of bands."""
    by = f", {uncertainty.source}" if uncertainty.are_independent else f" by {uncertainty.noun}"
    return f"{100 * uncertainty.level:.6g} % band{by}"


def in_percent(value: float, _position: float | None = None) -> str:
    """Return the tick label of a fraction in percent, without the percent sign."""
    return f"{100 * value:.4g}"


def systems_of(result: Any, kind: type[Kind], argument: str = "result") -> tuple[Kind, ...]:
    """Return a tuple of evaluations of one kind.

    Raises
    ------
    InputError
        If there is no evaluation, or an object of another type.
    """
    if isinstance(result, kind):
        return (result,)
    systems = result.systems if isinstance(result, Results) else tuple(result)
    if not systems:
        raise InputError(
            f"{argument}: there is no system to draw. Pass Results, one {kind.__name__} or a list of them."
        )
    for system in systems:
        if not isinstance(system, kind):
            maker = "evaluate(tar, non)" if kind is Evaluation else "evaluate_classes(loglik, label)"
            raise InputError(
                f"{argument}: expected {kind.__name__}s, got {type(system).__name__}. `deciban.{maker}` makes one."
            )
    return systems
