"""Figures as files: fonts for names in any script, and Axes as far out as their labels and their legend leave room."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, Any, Literal, TypeAlias

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.legend import Legend
from matplotlib.spines import Spine
from matplotlib.transforms import Bbox

from deciban.errors import DecibanWarning, InputError
from deciban.plots.paper import paper
from deciban.types import FloatArray


def families_for(text: Iterable[str], size: float) -> FontProperties:
    """Return the default font and, for characters that it lacks, the first installed fonts that have them."""
    font = FontProperties(size=size)
    missing = {ord(character) for characters in text for character in characters}
    missing -= get_font(findfont(font)).get_charmap().keys()
    families = list(font.get_family())
    for entry in fontManager.ttflist if missing else ():
        found = missing & get_font(entry.fname).get_charmap().keys()
        if found and not entry.name.startswith("Last Resort"):
            families.append(entry.name)
            missing -= found
    font.set_family(families)
    return font


Format: TypeAlias = Literal["svg", "png", "pdf"]
FORMATS: tuple[Format, ...] = ("svg", "png", "pdf")
"""What `save` writes."""

# Who drew it and when is left out: the same plot must give the same bytes.
_METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
_STYLE: Any = {"svg.hashsalt": "deciban", "svg.fonttype": "path", "pdf.fonttype": 42, "path.simplify": True}
_DPI = 200
_LEAST_ROOM = 0.5
"""Inches of Axes that can be read."""
_NO_ROOM = "collapsed to zero"
"""What matplotlib warns of where labels and legends leave nothing."""
_SVG_DPI = 72


def save(drawing: Axes | Figure, file: str | os.PathLike[str] | IO[bytes], format: Format) -> None:
    """Write a plot; the same plot gives the same bytes.

    Parameters
    ----------
    drawing : matplotlib.axes.Axes or matplotlib.figure.Figure
        What a plot function returned; of an Axes the whole figure is written.
    file : path or binary file object
    format : {"svg", "png", "pdf"}
        Letters become outlines in SVG and embedded TrueType fonts in PDF; PNG has 200 dots per inch.

    Raises
    ------
    InputError
        If the format is another one, or `print_style` asked for a size that labels and legend take all of.

    Warns
    -----
    DecibanWarning
        If no installed font has a letter of a name and the format is PNG or PDF.

    Notes
    -----
    Where no installed font has a letter of a name, SVG keeps all its letters as text for the viewer's fonts; PNG and
    PDF show a box, with a warning.

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
        f"size: {width:.3g} in x {height:.3g} in leave no room beside labels and legend. Name a larger size, give no "
        "height (it is as high as it needs then), or draw fewer systems."
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
        message = f"No installed font has all letters of the names: {file_format.upper()} shows boxes. SVG keeps text."
        warnings.warn(message, DecibanWarning, stacklevel=3)
    with warnings.catch_warnings(), rc_context({"svg.fonttype": "none"}):
        warnings.filterwarnings("ignore", message=r"(?s)Glyph.*missing")
        return _bytes(figure, file_format)


def _bytes(figure: Figure, file_format: Format) -> bytes:
    content = io.BytesIO()
    # Constrained layout starts from where the Axes stand: without this, a second file would differ from the first.
    for ax in figure.axes:
        place = ax.get_subplotspec()
        if place is not None and isinstance(figure.get_layout_engine(), ConstrainedLayoutEngine):
            ax.set_subplotspec(place)
    # Axes with equally long units, and small ones in print, need the rounds of `lay_out` in all formats.
    has_rounds = paper() is not None or any(ax.get_aspect() != "auto" for ax in figure.axes)
    with _laid_out(figure) if file_format == "svg" or has_rounds else nullcontext():
        figure.savefig(content, format=file_format, dpi=_DPI, metadata=_METADATA[file_format])
    return content.getvalue()


@contextmanager
def _laid_out(figure: Figure) -> Iterator[None]:
    """Lay a figure out for SVG beforehand: to do no more than that, ``savefig`` would draw all of it once more."""
    engine, canvas, dpi = figure.get_layout_engine(), figure.canvas, figure.dpi
    if not isinstance(engine, ConstrainedLayoutEngine):
        yield
        return
    FigureCanvasSVG(figure)
    figure.dpi = _SVG_DPI
    try:
        lay_out(figure, engine)
        with rc_context({"figure.autolayout": False, "figure.constrained_layout.use": False}):
            figure.set_layout_engine(None)
        yield
    finally:
        figure.set_layout_engine(engine)
        figure.set_canvas(canvas)
        figure.dpi = dpi


_SIDES = 0.6, 0.12
"""Inches that most pictures need on the left and on the right: where measuring begins."""

_ROUNDS = 6
"""How often a place may be found wanting; mostly the first one is right."""


def lay_out(figure: Figure, engine: ConstrainedLayoutEngine) -> None:
    """Do what an engine does, in half the time where there is but one Axes.

    The engine measures all labels twice, and each side of the frame as if it were one more label. Here they are
    measured again only where moving the Axes changed what they need, and sides are known to need nothing.
    """
    if not (_is_simple(figure) and _place(figure.axes[0], engine)):
        engine.execute(figure)


def _is_simple(figure: Figure) -> bool:
    """Whether all that needs room is one Axes, with what belongs to it, in a grid of one."""
    if len(figure.axes) != 1 or figure.subfigs or figure.texts or figure.legends:
        return False
    place = figure.axes[0].get_subplotspec()
    return place is not None and place.get_gridspec().get_geometry() == (1, 1) and figure.axes[0].get_in_layout()


def _place(ax: Axes, engine: ConstrainedLayoutEngine) -> bool:
    """Put an Axes to its place; False if nothing is left of it."""
    figure: Any = ax.figure
    settings, size = engine.get(), figure.bbox.size
    pads = figure.dpi * np.array([settings["w_pad"], settings["h_pad"]])
    begin = ax.get_position(original=True)
    left, right = np.minimum(np.array(_SIDES) / figure.get_figwidth(), 0.2)
    _move(ax, np.array([left, begin.y0]), np.array([1.0 - right, begin.y1]))
    measured = None
    for _ in range(_ROUNDS):
        ticks, frame = _ticks(ax), ax.bbox.width
        if measured is None or measured[0] != ticks:
            measured = ticks, _beyond(ax, _labels(ax))
        legend = _legend(ax)
        needed = np.maximum(measured[1], _beyond(ax, legend)) + pads
        low, high = needed[0] / size, 1.0 - needed[1] / size
        if min(high - low) <= 0.0:
            ax.set_position(begin)
            ax.set_in_layout(True)
            return False
        _move(ax, low, high)
        # A legend that is wider than the frame sticks out the less, the wider the frame is.
        if _ticks(ax) == ticks and (legend is None or legend.width <= min(frame, ax.bbox.width)):
            break
    return True


def _move(ax: Axes, low: FloatArray, high: FloatArray) -> None:
    left, bottom = low.tolist()
    width, height = (high - low).tolist()
    ax.set_position((left, bottom, width, height))
    ax.set_in_layout(True)  # which setting a position ends, for good
    ax.apply_aspect()


def _labels(ax: Axes) -> Bbox | None:
    """The box around an Axes with all that belongs to it, but its legend."""
    known = (Legend, Spine)
    artists = [artist for artist in ax.get_default_bbox_extra_artists() if not isinstance(artist, known)]
    return ax.get_tightbbox(for_layout_only=True, bbox_extra_artists=artists)


def _legend(ax: Axes) -> Bbox | None:
    """The box around the legend, if there is one."""
    legend = ax.get_legend()
    return None if legend is None or not legend.get_in_layout() else legend.get_tightbbox()


def _beyond(ax: Axes, box: Bbox | None) -> FloatArray:
    """How far a box reaches beyond the frame, in pixels: to the left and below, to the right and above."""
    if box is None:
        return np.zeros((2, 2))
    corners: FloatArray = np.asarray(ax.bbox.get_points()) - box.get_points()
    corners[1] *= -1.0
    return corners


def _ticks(ax: Axes) -> list[list[float]]:
    """Where tick marks stand: how many there are depends on the room for them."""
    return [axis.get_majorticklocs().tolist() for axis in (ax.xaxis, ax.yaxis)]
