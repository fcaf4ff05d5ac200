"""Figures as files, and fonts for names in any script."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, Any, Literal, TypeAlias

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font
from matplotlib.layout_engine import ConstrainedLayoutEngine

from deciban.errors import DecibanWarning, InputError
from deciban.plots.layout import lay_out


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
        If the format is another one.

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
    with rc_context(_STYLE):
        content = _drawn(figure, format)
    if isinstance(file, str | os.PathLike):
        Path(file).write_bytes(content)
    else:
        file.write(content)


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
    with _laid_out(figure) if file_format == "svg" else nullcontext():
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
