"""Figures as files of any size: fonts and sizes for screen and print, panels, and layout."""

from __future__ import annotations

import io
import math
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import IO, Any, Literal, TypeAlias

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D

from deciban.errors import DecibanWarning, InputError
from deciban.types import Graphic

NAMED = {"column": 3.5, "page": 7.2}
"""Inches of the width of one of two columns, and of both."""

HIGHEST = 6.0
"""Inches of the height in print of Axes with equal units and their labels, which leaves room for legend and caption."""

_UNITS = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72}
_LENGTH = re.compile(r"(?P<number>\d+(\.\d*)?|\.\d+)(?P<unit>in|cm|mm|pt)")
_LEAST_WIDTH, _LEAST_HEIGHT, _MOST = 2.0, 1.5, 40.0
LABEL, TICK, LEAST = 8.0, 7.0, 6.5
"""Points in print: of axis labels, of tick labels and legends, and the minimum."""

_LETTER = 0.54
"""Width of a character, as a share of its size."""
_BEYOND = 0.35
"""Inches by which an axis label can exceed the axis."""
_SHRUNK = 0.78
"""Size of text in print, as a share of the size on a screen."""
_THINNED = 0.75
"""The same for lines and markers."""


@dataclass(frozen=True)
class Paper:
    """Size of a figure in inches; without a height, the height depends on the content."""

    width: float
    height: float | None = None


_PAPER: ContextVar[Paper | None] = ContextVar("paper", default=None)


def paper() -> Paper | None:
    """Return the size requested by `print_style`, or None."""
    return _PAPER.get()


def paper_of(size: str) -> Paper:
    """Read a size.

    Parameters
    ----------
    size : str
        ``"column"`` or ``"page"``; or a width, or width ``x`` height, each with its unit: ``"85mm"``,
        ``"85mmx60mm"``, ``"3.5inx2.5in"``.

    Returns
    -------
    Paper

    Raises
    ------
    InputError
        If a unit is missing, or the size is invalid or too small to read.

    Examples
    --------
    >>> paper_of("column"), paper_of("3inx2in")
    (Paper(width=3.5, height=None), Paper(width=3.0, height=2.0))
    """
    if size in NAMED:
        return Paper(NAMED[size])
    sides = [_LENGTH.fullmatch(side.strip()) for side in str(size).split("x")]
    if len(sides) > 2 or None in sides:
        bare = re.fullmatch(r"[\d.]+\s*(in|cm|mm|pt)?\s*(x\s*[\d.]+\s*(in|cm|mm|pt)?)?", str(size))
        why = "each number needs its unit" if bare else "this is not a size"
        raise InputError(
            f"size: got {size!r}, but {why}. Write column ({NAMED['column']:g} in wide), page ({NAMED['page']:g} in), "
            "a width such as 85mm, or width x height such as 85mmx60mm or 3.5inx2.5in (units: in, cm, mm, pt)."
        )
    width, *more = (float(side["number"]) * _UNITS[side["unit"]] for side in sides if side is not None)
    height = more[0] if more else None
    if not _LEAST_WIDTH <= width <= _MOST or not (height is None or _LEAST_HEIGHT <= height <= _MOST):
        raise InputError(
            f"size: {size} is {width:.3g} in wide" + ("" if height is None else f" and {height:.3g} in high") + "; "
            f"figures need a width of at least {_LEAST_WIDTH:g} in and a height of at least {_LEAST_HEIGHT:g} in, and "
            f"at most {_MOST:g} in."
        )
    return Paper(width, height)


@contextmanager
def print_style(size: str = "column") -> Iterator[None]:
    """Draw for print: in the block, figures have this size, with text that is readable at this size.

    Parameters
    ----------
    size : str
        ``"column"`` (3.5 in wide), ``"page"`` (7.2 in); or a width, or width ``x`` height, each with its unit:
        ``"85mm"``, ``"85mmx60mm"``, ``"3.5inx2.5in"``. By default, the height depends on the content.

    Raises
    ------
    InputError
        If a unit is missing, or the size is invalid or too small to read.

    Notes
    -----
    Labels of axes have 8 points, tick labels and legends 7, all other text at least 6.5. If there are several systems,
    each has a separate marker along its curves, to distinguish them in grey print. Plots on your own Axes do not change
    the size of the figure. Save figures inside the block, too, because saving computes the layout. Insert them into
    documents without scaling.

    Examples
    --------
    >>> import deciban
    >>> with print_style("column"):
    ...     ax = deciban.plots.tippett(deciban.evaluate([1.0, 2.0], [0.0, 1.0]))
    >>> float(ax.figure.get_figwidth()), ax.xaxis.label.get_fontsize()
    (3.5, 8.0)
    """
    token = _PAPER.set(paper_of(size))
    letters_of: dict[Any, Any] = {"font.size": LABEL, "axes.labelsize": LABEL, "axes.titlesize": LABEL}
    letters_of |= {"xtick.labelsize": TICK, "ytick.labelsize": TICK, "legend.fontsize": TICK}
    letters_of |= {"axes.linewidth": 0.6, "hatch.linewidth": 0.6}
    try:
        with rc_context(letters_of):
            yield
    finally:
        _PAPER.reset(token)


def letters(points: float) -> float:
    """Return the size of text in points, for screen or print."""
    return points if paper() is None else min(max(_SHRUNK * points, LEAST), LABEL)


def line_width(points: float) -> float:
    """Return the width of a line, or the size of a marker, in points; thinner in print."""
    return points if paper() is None else _THINNED * points


def size_for(natural: tuple[float, float], *, by_rows: bool = False) -> tuple[float, float]:
    """Return width and height of a figure in inches.

    Parameters
    ----------
    natural : (float, float)
        Width and height on a screen.
    by_rows : bool
        True if the height depends on rows of text, not on the width.
    """
    request = paper()
    if request is None:
        return natural
    width, height = natural
    followed = _SHRUNK * height if by_rows else height * request.width / width
    return request.width, request.height or max(followed, _LEAST_HEIGHT)


def wrapped(label: str, inches: float) -> str:
    """Break an axis label into two lines of similar length, if it is longer than the axis in print."""
    breaks = [place for place, letter in enumerate(label) if letter == " "]
    fits = len(label) * _LETTER * LABEL <= 72 * (inches + _BEYOND)
    if paper() is None or fits or not breaks or {"$", "\n"} & {*label}:
        return label
    at = min(breaks, key=lambda place: abs(2 * place - len(label)))
    return f"{label[:at]}\n{label[at + 1 :]}"


def has_own_height() -> bool:
    """Return True if the height of figures depends on their content."""
    request = paper()
    return request is None or request.height is None


def style_ticks(ax: Graphic) -> None:
    """Set the size of tick labels of an Axes now, since ticks are created after the style of the block ends."""
    if paper() is not None:
        ax.tick_params(labelsize=TICK, width=0.6, length=2.5, pad=2.5)
        for axis in (ax.xaxis, ax.yaxis):
            axis.offsetText.set_fontsize(LEAST)


PANEL = (2.15, 1.75)
"""Inches of a panel."""

NARROWEST = 5.8
"""Inches of the legend in one line, without a band."""

_ENTRY = 1.5
"""Inches of each legend entry if there is one more; entries that do not fit go to a second line."""


def panels_of(n: int, columns: int | None, x: str, y: str) -> tuple[Figure, list[Axes]]:
    """Create a figure of panels that share both axes; only panels at the edges have tick labels.

    Parameters
    ----------
    n : int
    columns : int or None
        Panels side by side; by default 2 to 6, to leave few places empty.
    x, y : str
        Common labels.

    Examples
    --------
    >>> figure, panels = panels_of(5, None, "Score", "Density")
    >>> len(panels), figure.get_supxlabel()
    (5, 'Score')
    """
    n_columns = min(n, _columns_for(n) if columns is None else columns)
    n_rows = -(-n // n_columns)
    size = (max(n_columns * PANEL[0] + 0.6, NARROWEST), n_rows * PANEL[1] + 1.0)
    figure = Figure(figsize=size_for(size, by_rows=True), layout="constrained")
    panels = list(figure.subplots(n_rows, n_columns, sharex=True, sharey=True, squeeze=False).flat)
    for spare in panels[n:]:
        spare.remove()
    for at, panel in enumerate(panels[:n]):
        panel.grid(visible=True, color="0.9", linewidth=0.6)
        panel.set_axisbelow(True)
        lowest = at + n_columns >= n
        panel.tick_params(labelsize=letters(8), labelbottom=lowest)
    figure.supxlabel(x, fontsize=letters(10))
    figure.supylabel(y, fontsize=letters(10))
    return figure, panels[:n]


def _columns_for(n: int) -> int:
    """Return the number of columns from 3 to 6 that leaves the fewest panels empty, close to a square.

    In print, panels have at least half the width.
    """
    best = 2 if n == 4 else 3
    if n > 4:
        best = min(range(3, 7), key=lambda columns: (-n % columns, abs(columns - math.sqrt(1.2 * n))))
    request = paper()
    return best if request is None else max(1, min(best, int((request.width - 0.4) / (0.5 * PANEL[0]))))


def legend_above(figure: Figure, handles: Sequence[Line2D], title: str | None, *, is_long: bool) -> None:
    """Add a legend above all panels, in several lines if necessary.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    handles : sequence of matplotlib.lines.Line2D
    title : str or None
    is_long : bool
        True if one line can be too short, which is never the case on a screen without bands.
    """
    n_rows = 1
    if is_long or paper() is not None:
        n_rows = math.ceil(len(handles) * _ENTRY * letters(9) / 9 / figure.get_figwidth())
    style: dict[str, Any] = {"loc": "outside upper center", "frameon": False, "title_fontsize": letters(8)}
    style |= {"ncols": -(-len(handles) // n_rows), "fontsize": letters(9)}
    figure.legend(handles=list(handles), title=title, **style)


LABEL_WIDTH = 30

NAME_WIDTH = 22
"""Characters of a class name on an axis; longer names are shortened in the middle."""


def shortened(name: str, width: int) -> str:
    """Shorten a long name in the middle.

    >>> shortened("a long name", 7), shortened("name", 7)
    ('a …ame', 'name')
    """
    half = width // 2
    return f"{name[: half - 1]}…{name[-half:]}" if len(name) > width else name


def readable(names: Sequence[str], used: AbstractSet[str] = frozenset(), *, width: int = LABEL_WIDTH) -> list[str]:
    """Shorten names, number repeated names, and escape special characters for matplotlib."""
    labels: list[str] = []
    for name in names:
        short = "".join(c if c.isprintable() else "\ufffd" for c in " ".join(name.split())) or "(unnamed)"
        short = shortened(short, width)
        # A dollar begins a formula; legends leave out names with a leading underscore, which a hair space hides.
        short = short.replace("$", r"\$")
        short = f"\u200a{short}" if short.startswith("_") else short
        numbered = (f"{short} #{i}" if i > 1 else short for i in count(1))
        labels.append(next(label for label in numbered if label not in used and label not in labels))
    return labels


def families_for(text: Iterable[str], size: float) -> FontProperties:
    """Return the default font, with installed fonts for characters that it lacks."""
    font = FontProperties(size=size)
    missing = {ord(character) for characters in text for character in characters}
    missing -= get_font(findfont(font)).get_charmap().keys()
    families = list(font.get_family())
    for entry in fontManager.ttflist if missing else ():
        result = missing & get_font(entry.fname).get_charmap().keys()
        if result and not entry.name.startswith("Last Resort"):
            families.append(entry.name)
            missing -= result
    font.set_family(families)
    return font


Format: TypeAlias = Literal["svg", "png", "pdf"]
FORMATS: tuple[Format, ...] = ("svg", "png", "pdf")
"""Formats of `save`."""

# Author and date are omitted, so that the same plot gives the same bytes.
_METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
_STYLE: dict[Any, Any] = {"svg.hashsalt": "deciban", "svg.fonttype": "path", "pdf.fonttype": 42}
_STYLE["path.simplify"] = True
_DPI = 200
_LEAST_ROOM = 0.5
"""Least side of readable Axes in inches."""
_NO_ROOM = "collapsed to zero"
"""Part of the warning of matplotlib if labels and legends leave no room."""


def save(drawing: Axes | Figure, file: str | os.PathLike[str] | IO[bytes], format: Format) -> None:
    """Write a plot; the same plot gives the same bytes.

    Parameters
    ----------
    drawing : matplotlib.axes.Axes or matplotlib.figure.Figure
        Return value of a plot function; for an Axes, the whole figure is written.
    file : path or binary file object
    format : {"svg", "png", "pdf"}
        Text becomes outlines in SVG and embedded TrueType fonts in PDF; PNG has 200 dots per inch.

    Raises
    ------
    InputError
        If the format is unknown, or the size of `print_style` is too small for labels and legend.

    Warns
    -----
    DecibanWarning
        If no installed font has a character of a name and the format is PNG or PDF.

    Notes
    -----
    If no installed font has a character of a name, SVG keeps all text for the fonts of the viewer; PNG and PDF show a
    box, with a warning.

    Examples
    --------
    >>> import io, deciban
    >>> page = io.BytesIO()
    >>> save(deciban.evaluate([1.0, 2.0], [0.0, 1.0]).plot.roc(), page, "svg")
    >>> page.getvalue()[:5]
    b'<?xml'
    """
    if format not in FORMATS:
        raise InputError(f"format: {format!r} is not among {', '.join(FORMATS)}.")
    figure = drawing if isinstance(drawing, Figure) else drawing.figure.figure
    with rc_context(_STYLE), warnings.catch_warnings():
        if paper() is not None:
            warnings.filterwarnings("error", message=f".*{_NO_ROOM}")
        try:
            content = _drawn(figure, format)
        except UserWarning as warning:
            if _NO_ROOM in str(warning):
                raise _too_small(figure) from warning
            raise
    sides = [float(side) / figure.dpi for ax in figure.axes[:1] for side in ax.bbox.size]
    if paper() is not None and min(sides, default=_LEAST_ROOM) < _LEAST_ROOM:
        raise _too_small(figure)
    if isinstance(file, str | os.PathLike):
        Path(file).write_bytes(content)
    else:
        file.write(content)


def _too_small(figure: Figure) -> InputError:
    width, height = figure.get_size_inches()
    return InputError(
        f"size: {width:.3g} in x {height:.3g} in leave no room next to labels and legend. Use a larger size, leave out "
        "the height, or draw fewer systems."
    )


def _drawn(figure: Figure, file_format: Format) -> bytes:
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=r"(?s)Glyph.*missing")
        try:
            return _bytes(figure, file_format)
        except UserWarning as warning:
            if "Glyph" not in str(warning):
                raise
    if file_format != "svg":
        message = f"No installed font has all characters of names: {file_format.upper()} shows boxes. SVG keeps text."
        warnings.warn(message, DecibanWarning, stacklevel=3)
    with warnings.catch_warnings(), rc_context({"svg.fonttype": "none"}):
        warnings.filterwarnings("ignore", message=r"(?s)Glyph.*missing")
        return _bytes(figure, file_format)


def _bytes(figure: Figure, file_format: Format) -> bytes:
    content = io.BytesIO()
    # Constrained layout starts from the current positions: without this, a second file would differ from the first.
    for ax in figure.axes:
        place = ax.get_subplotspec()
        if place is not None and isinstance(figure.get_layout_engine(), ConstrainedLayoutEngine):
            ax.set_subplotspec(place)
    if paper() is not None and any(ax.get_aspect() != "auto" for ax in figure.axes):
        figure.draw_without_rendering()  # one round of layout leaves Axes with equal units too high
    figure.savefig(content, format=file_format, dpi=_DPI, metadata=_METADATA[file_format])
    return content.getvalue()
